"""Clusters of a level by size-constrained label propagation (Meyerhenke, Sanders & Schulz 2014).

In ranges of vertices, in whole graphs with hubs, or as in the source.
"""

import numpy as np

from . import inlined, inner, kernel
from .coarsening import may_merge
from .rng import mix

WINDOW, STRIDE = 4096, 2531
"""Vertices may be visited in steps of an odd stride, so many after so many."""


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
def propagate_in_order(g, order, salt, max_vwgt, rounds, cluster, cwgt, conn, touched, members):
    """Label propagation as in the source: every vertex in turn joins the cluster that it has most weight to.

    Of clusters that it has as much to, all prefer the same, so that these grow; nobody leaves its own for one that is
    no better, or it might never end.

    g : Level, in
    order : (nvtxs,) int32, in
    salt : int                              what they prefer differs by it
    max_vwgt : int                          most that a cluster may weigh
    rounds : int                            visits of every vertex at most; it ends where none moves
    cluster : (nvtxs,) int32, in and out    label of each vertex
    cwgt : (nvtxs,) int64, in and out       weight of each cluster, by label
    conn : (nvtxs,) int64, scratch          0 everywhere
    touched : (nvtxs,) int32, scratch
    members : (nvtxs,) int32, in and out    vertices of each cluster, by label
    """
    n = len(order)
    for _ in range(rounds):
        moved = 0
        for i in range(n):
            v = order[i]
            own = cluster[v]
            count = _tie_up(0, n, g, v, cluster, conn, touched)
            best = own
            most = conn[own]
            for j in range(count):
                c = touched[j]
                tie = conn[c]
                conn[c] = 0
                if c == own or cwgt[c] + g.vwgt[v] > max_vwgt:
                    continue
                if tie > most or (tie == most and best != own and mix(c, salt) > mix(best, salt)):
                    best, most = c, tie
            if best != own:
                _join(0, g, v, best, cluster, cwgt, members)
                moved += 1
        if moved == 0:
            break
