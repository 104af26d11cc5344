"""Clusters of a level: matching, label propagation, absorption of leftovers, two-hop pairs.

A cluster never holds two different fixed parts or two origins.
"""

import numpy as np

from . import inlined, inner, kernel

WINDOW, STRIDE = 4096, 2531
"""Label propagation may visit every so many vertices in steps of an odd stride."""

HEAVIEST = 1.5
"""No coarse vertex may be heavier than this times the average of the coarsest graph, or balance is out of reach there.
"""


@inlined
def may_merge(g, u, v):
    """Whether two vertices may share a cluster: same origin, and both free or both fixed to one part.

    g : Level, in
    u, v : int
    """
    if len(g.fixed) > 0 and g.fixed[u] != g.fixed[v]:
        return False
    return not (len(g.origin) > 0 and g.origin[u] != g.origin[v])


@inlined
def _partner(lo, hi, upto, g, v, max_vwgt, match):
    """The unmatched neighbour that v rates highest, -1 for none; arguments as for `match_in_order`.

    lo, hi, upto : int
    g : Level, in
    v, max_vwgt : int
    match : (nvtxs,) int32, in
    """
    unit = len(g.ewgt) == 0
    best = -1
    tie = 0.0
    weight = 1.0
    wv = g.vwgt[v]
    for e in range(g.xadj[v], g.xadj[v + 1]):
        u = g.adjncy[e]
        if u < lo or u >= upto or (u < hi and match[u] >= 0):
            continue
        wu = g.vwgt[u]
        if wv + wu > max_vwgt or not may_merge(g, u, v):
            continue
        if unit:
            w = 1.0
        else:
            w = float(g.ewgt[e])
        # rates compared without quotients; that of v itself is in all of them
        w *= w
        other = float(max(wu, 1))
        here, there = tie * other, w * weight
        if best < 0 or there > here or (there == here and u < best):
            best, tie, weight = u, w, other
    return best


@kernel
def match_in_order(lo, hi, upto, g, max_vwgt, match):
    """Greedy heavy-edge matching of the vertices lo..hi, visited in order, up to a pair that lies across hi.

    Every unmatched vertex takes the unmatched neighbour it rates highest: w(e)^2 / (w(u) w(v))
    (expansion*2 of Holtgrewe, Sanders & Schulz 2010).  Ties go to the smaller number, which keeps the
    grain of a mesh that is numbered along its shape: on a regular grid clusters stay boxes and
    cuts stay smooth on every level (cut of a 100^3 grid in 32 parts: 73,000 against 83,000 with
    random ties).

    Returns the first vertex whose partner would lie behind hi, which is left out as all after it, or hi.

    lo, hi : int
    upto : int                          partners are in lo..upto; from hi on all are taken for unmatched
    g : Level, in
    max_vwgt : int                      most that a pair may weigh
    match : (nvtxs,) int32, in and out  partner of each vertex, -1 for none; -1 everywhere before
    """
    for v in range(lo, hi):
        if match[v] >= 0:
            continue
        best = _partner(lo, hi, upto, g, v, max_vwgt, match)
        if best >= hi:
            return np.int64(v)
        if best >= 0:
            match[v] = best
            match[best] = v
    return np.int64(hi)


@kernel
def lead_pairs(lo, hi, g, match, cluster, cwgt):
    """A matching as clusters, each led by the smaller vertex of its pair.

    lo, hi : int
    g : Level, in
    match : (nvtxs,) int32, in      partner of each vertex, -1 for none
    cluster : (nvtxs,) int32, out   leader of the cluster of each vertex
    cwgt : (nvtxs,) int64, out      weight of each cluster by leader, 0 elsewhere
    """
    for v in range(lo, hi):
        u = match[v]
        if u < 0:
            cluster[v], cwgt[v] = v, g.vwgt[v]
        elif u > v:
            cluster[v], cwgt[v] = v, g.vwgt[v] + g.vwgt[u]
        else:
            cluster[v], cwgt[v] = u, 0


@inlined
def _tie(c, v):
    """A cheap hash to break ties between clusters.

    c, v : int
    """
    return (np.int64(c ^ v) * 0x9E3779B1) & 0xFFFFFFFF


@inlined
def _start_alone(lo, hi, g, match, cluster, cwgt, conn, members):
    """Every vertex of lo..hi is a cluster of its own; arguments as for `propagate_labels`.

    lo, hi : int
    g : Level, in
    match : (nvtxs,) int32, out
    cluster : (nvtxs,) int32, out
    cwgt : (nvtxs,) int64, out
    conn : (nblock,) int64, out
    members : (nblock,) int32, out
    """
    for v in range(lo, hi):
        cluster[v] = v
        cwgt[v] = g.vwgt[v]
        conn[v - lo] = 0
        members[v - lo] = 1
        match[v] = 0


@inlined
def _tie_up(lo, hi, g, v, cluster, conn, touched):
    """Add up the edges of v to each cluster in lo..hi that it may join; returns how many clusters.

    lo, hi : int
    g : Level, in
    v : int
    cluster : (nvtxs,) int32, in
    conn : (nblock,) int64, in and out      0 everywhere before; whoever calls puts it back
    touched : (nblock,) int32, out          the clusters, less lo
    """
    unit = len(g.ewgt) == 0
    kinds = len(g.fixed) > 0 or len(g.origin) > 0
    count = 0
    for e in range(g.xadj[v], g.xadj[v + 1]):
        u = g.adjncy[e]
        if u < lo or u >= hi or (kinds and not may_merge(g, u, v)):
            continue
        c = cluster[u] - lo
        # written in any case and kept where it is new: a branch here could not be predicted
        touched[count] = c
        before = conn[c]
        count += np.int64(before == 0)
        if unit:
            conn[c] = before + 1
        else:
            conn[c] = before + g.ewgt[e]
    return count


@inlined
def _join(lo, g, v, best, cluster, cwgt, members):
    """Move v from its cluster to another.

    lo : int
    g : Level, in
    v, best : int
    cluster : (nvtxs,) int32, in and out
    cwgt : (nvtxs,) int64, in and out
    members : (nblock,) int32, in and out
    """
    own = cluster[v]
    cwgt[own] -= g.vwgt[v]
    cwgt[best] += g.vwgt[v]
    members[own - lo] -= 1
    members[best - lo] += 1
    cluster[v] = best


@kernel
def propagate_labels(lo, hi, g, max_vwgt, rounds, scattered, match, cluster, cwgt, conn, touched, members):
    """Size-constrained label propagation inside the range lo..hi (Meyerhenke, Sanders & Schulz 2014).

    Every vertex in turn joins the neighbouring cluster of best rate, conn^2 / sqrt(weight): heavy ties, and
    small clusters first, which keeps them round (cut of a dual graph of 490,000 tetrahedra 3 % lower than by
    the tie alone).  Visits vertices in order, or scattered inside windows: where neighbours have neighbours in
    common, clusters would stretch along the numbering.

    lo, hi : int
    g : Level, in
    max_vwgt : int                      most that a cluster may weigh
    rounds : int                        visits of every vertex at most
    scattered : bool
    match : (nvtxs,) int32, out         -1 where a vertex stays alone, else the vertex itself
    cluster : (nvtxs,) int32, out       smallest member of the cluster of each vertex
    cwgt : (nvtxs,) int64, out          weight of each cluster by smallest member, 0 elsewhere
    conn : (nblock,) int64, scratch     nblock is at least hi - lo
    touched, members : (nblock,) int32, scratch
    """
    _start_alone(lo, hi, g, match, cluster, cwgt, conn, members)
    for _ in range(rounds):
        moved = 0
        for i in range(hi - lo):
            v = lo + i
            if scattered and (i | (WINDOW - 1)) < hi - lo:
                v = lo + (i & -WINDOW) + ((i * STRIDE) & (WINDOW - 1))
            if match[v]:
                continue
            own = cluster[v]
            count = _tie_up(lo, hi, g, v, cluster, conn, touched)
            w = g.vwgt[v]
            best = own
            most = 0.0
            weight = 1.0
            if members[own - lo] > 1:
                # deep inside its cluster: not looked at again
                match[v] = count == 1 and touched[0] == own - lo
                most = float(conn[own - lo])
                most *= most
                most *= most
                weight = float(max(cwgt[own] - w, 1))
            for j in range(count):
                c = touched[j]
                tie = float(conn[c])
                conn[c] = 0
                c += lo
                if c == own or cwgt[c] + w > max_vwgt:
                    continue
                # conn^2 / sqrt(weight) compared without roots and quotients
                tie *= tie
                tie *= tie
                other = float(max(cwgt[c], 1))
                here, there = most * other, tie * weight
                # chosen without branches, which could not be predicted
                better = (there > here) | ((there == here) & (best != own) & (_tie(c, v) > _tie(best, v)))
                best = c if better else best
                most = tie if better else most
                weight = other if better else weight
            if best != own:
                _join(lo, g, v, best, cluster, cwgt, members)
                moved += 1
        if moved * 50 < hi - lo:
            break
    _let_smallest_lead(lo, hi, match, cluster, cwgt, conn, touched, members)


@inner
def _let_smallest_lead(lo, hi, match, cluster, cwgt, conn, touched, members):
    """Name every cluster of label propagation in the range lo..hi by its smallest member.

    lo, hi : int
    match : (nvtxs,) int32, out             -1 where a vertex is alone, else the vertex itself
    cluster : (nvtxs,) int32, in and out    label of each vertex
    cwgt : (nvtxs,) int64, in and out       weight of each cluster, by label and then by smallest member
    conn : (nblock,) int64, scratch
    touched : (nblock,) int32, scratch
    members : (nblock,) int32, in           by label, less lo
    """
    # touched holds the smallest member by old label
    for i in range(hi - lo):
        touched[i] = -1
    for v in range(lo, hi):
        c = cluster[v] - lo
        match[v] = -1 if members[c] == 1 else v
        if touched[c] < 0:
            touched[c] = v
            conn[c] = cwgt[c + lo]
    for v in range(lo, hi):
        cluster[v], cwgt[v] = touched[cluster[v] - lo], 0
    for i in range(hi - lo):
        if touched[i] >= 0:
            cwgt[touched[i]] = conn[i]


@kernel
def propagate_around_hubs(g, order, max_vwgt, rounds, match, cluster, cwgt, conn, touched, members):
    """Label propagation in the whole graph, in the given order, for graphs with hubs.

    Neighbours of a hub are anywhere: blocks would hide most edges.  Every vertex in turn joins the neighbouring cluster
    of best rate, conn^2 / weight.  Where vertices of low degree come first, they find clusters of their own
    before those of the hubs have taken all.

    g : Level, in
    order : (nvtxs,) int32, in
    max_vwgt : int                      most that a cluster may weigh
    rounds : int                        visits of every vertex at most
    match : (nvtxs,) int32, out         -1 where a vertex stays alone, else the vertex itself
    cluster : (nvtxs,) int32, out       smallest member of the cluster of each vertex
    cwgt : (nvtxs,) int64, out          weight of each cluster by smallest member, 0 elsewhere
    conn : (nvtxs,) int64, scratch
    touched, members : (nvtxs,) int32, scratch
    """
    n = len(order)
    _start_alone(0, n, g, match, cluster, cwgt, conn, members)
    for _ in range(rounds):
        moved = 0
        for i in range(n):
            v = order[i]
            if match[v]:
                continue
            own = cluster[v]
            count = _tie_up(0, n, g, v, cluster, conn, touched)
            w = g.vwgt[v]
            best = own
            most = 0.0
            weight = 1.0
            if members[own] > 1:
                # deep inside its cluster: not looked at again
                match[v] = count == 1 and touched[0] == own
                most = float(conn[own]) ** 2
                weight = float(max(cwgt[own] - w, 1))
            for j in range(count):
                c = touched[j]
                tie = float(conn[c]) ** 2
                conn[c] = 0
                if c == own or cwgt[c] + w > max_vwgt:
                    continue
                # compared without quotients
                other = float(max(cwgt[c], 1))
                here, there = most * other, tie * weight
                if there > here or (there == here and best != own and _tie(c, v) > _tie(best, v)):
                    best, most, weight = c, tie, other
            if best != own:
                _join(0, g, v, best, cluster, cwgt, members)
                moved += 1
        if moved * 50 < n:
            break
    _let_smallest_lead(0, n, match, cluster, cwgt, conn, touched, members)


@kernel
def absorb_singles(lo, hi, singles, g, match, max_vwgt, cluster, cwgt):
    """Let every vertex that is alone join the cluster of a neighbour in lo..hi that it is tied to most.

    One after the other; returns how many joined.

    lo, hi : int                            leaders of the vertices there are there
    singles : (nsingles,) int32, in         those that are alone, ascending
    g : Level, in
    match : (nvtxs,) int32, in and out      -1 where a vertex is alone
    max_vwgt : int                          most that a cluster may weigh
    cluster : (nvtxs,) int32, in and out    leader of the cluster of each vertex
    cwgt : (nvtxs,) int64, in and out       weight of each cluster by leader
    """
    unit = len(g.ewgt) == 0
    joined = 0
    for v in singles:
        best = -1
        best_rate = -1.0
        for e in range(g.xadj[v], g.xadj[v + 1]):
            u = g.adjncy[e]
            if u < lo or u >= hi:
                continue
            c = cluster[u]
            if c == v or c == cluster[v] or cwgt[c] + cwgt[cluster[v]] > max_vwgt or not may_merge(g, u, v):
                continue
            if unit:
                w = 1.0
            else:
                w = float(g.ewgt[e])
            rate = w * w / float(max(cwgt[c], 1))
            if rate > best_rate:
                best, best_rate = c, rate
        # a vertex that others have joined keeps its cluster
        if best >= 0 and cluster[v] == v and cwgt[v] == g.vwgt[v]:
            cluster[v] = best
            cwgt[best] += g.vwgt[v]
            match[v] = best
            joined += 1
    return joined


@inlined
def list_singles(match, singles):
    """Unmatched vertices, ascending; returns how many.

    match : (n,) int32, in
    singles : (n,) int32, out       or longer
    """
    count = 0
    for v in range(len(match)):
        # without a branch, which could not be predicted
        singles[count] = v
        count += match[v] < 0
    return count


@kernel
def pair_two_hop(g, match, max_vwgt, cluster, cwgt, waiting):
    """Pair single vertices that hang on the same neighbour (leaves of a star), and isolated ones.

    Returns how many joined.

    g : Level, in
    match : (nvtxs,) int32, in and out      -1 where a vertex is alone
    max_vwgt : int                          most that a cluster may weigh
    cluster : (nvtxs,) int32, in and out    leader of the cluster of each vertex
    cwgt : (nvtxs,) int64, in and out       weight of each cluster by leader
    waiting : (nvtxs + 1,) int32, scratch   by neighbour, the last for vertices without; -1 before and after
    """
    n = len(match)
    joined = 0
    for v in range(n):
        if match[v] >= 0 or cluster[v] != v or cwgt[v] != g.vwgt[v]:
            continue
        hub = n
        best = np.int64(-1)
        for e in range(g.xadj[v], g.xadj[v + 1]):
            if len(g.ewgt) == 0:
                w = np.int64(1)
            else:
                w = g.ewgt[e]
            if w > best:
                hub, best = g.adjncy[e], w
        other = waiting[hub]
        if other >= 0 and cwgt[other] + g.vwgt[v] <= max_vwgt and may_merge(g, other, v):
            cluster[v] = other
            cwgt[other] += g.vwgt[v]
            match[v] = other
            joined += 1
            if cwgt[other] * 2 > max_vwgt:
                waiting[hub] = -1
        else:
            waiting[hub] = v
    for v in range(n + 1):
        waiting[v] = -1
    return joined
