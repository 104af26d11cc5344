"""Matching, label propagation, absorption of leftovers, two-hop pairs, contraction; and a look at the graph first.

A cluster never holds two different fixed parts or two origins.
"""

import numpy as np

from . import inlined, kernel
from .rng import mix

WINDOW, STRIDE = 4096, 2531
"""Label propagation may visit every so many vertices in steps of an odd stride."""


@inlined
def may_merge(g, u, v):
    """Whether two vertices may share a cluster: same origin, and both free or both fixed to one part.

    g : Level, in
    u, v : int
    """
    if len(g.fixed) > 0 and g.fixed[u] != g.fixed[v]:
        return False
    return not (len(g.origin) > 0 and g.origin[u] != g.origin[v])


@kernel
def match_in_order(lo, hi, g, max_vwgt, match):
    """Greedy heavy-edge matching inside the range lo..hi, vertices visited in order; returns how many were matched.

    Every unmatched vertex takes the unmatched neighbour it rates highest: w(e)^2 / (w(u) w(v))
    (expansion*2 of Holtgrewe, Sanders & Schulz 2010).  Ties go to the smaller number, which keeps the
    grain of a mesh that is numbered along its shape: on a regular grid clusters stay boxes and
    cuts stay smooth on every level (cut of a 100^3 grid in 32 parts: 73,000 against 83,000 with
    random ties).

    lo, hi : int
    g : Level, in
    max_vwgt : int                      most that a pair may weigh
    match : (nvtxs,) int32, in and out  partner of each vertex, -1 for none; -1 everywhere before
    """
    unit = len(g.ewgt) == 0
    count = 0
    for v in range(lo, hi):
        if match[v] >= 0:
            continue
        best = -1
        best_rate = -1.0
        wv = g.vwgt[v]
        for e in range(g.xadj[v], g.xadj[v + 1]):
            u = g.adjncy[e]
            if u < lo or u >= hi or match[u] >= 0:
                continue
            wu = g.vwgt[u]
            if wv + wu > max_vwgt or not may_merge(g, u, v):
                continue
            if unit:
                w = 1.0
            else:
                w = float(g.ewgt[e])
            rate = w * w / (float(max(wu, 1)) * float(max(wv, 1)))
            if rate > best_rate or (rate == best_rate and u < best):
                best, best_rate = u, rate
        if best >= 0:
            match[v] = best
            match[best] = v
            count += 2
    return count


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
    unit = len(g.ewgt) == 0
    kinds = len(g.fixed) > 0 or len(g.origin) > 0
    for v in range(lo, hi):
        cluster[v] = v
        cwgt[v] = g.vwgt[v]
        conn[v - lo] = 0
        members[v - lo] = 1
        match[v] = 0
    for _ in range(rounds):
        moved = 0
        for i in range(hi - lo):
            v = lo + i
            if scattered and (i | (WINDOW - 1)) < hi - lo:
                v = lo + (i & -WINDOW) + ((i * STRIDE) & (WINDOW - 1))
            if match[v]:
                continue
            own = cluster[v]
            count = 0
            for e in range(g.xadj[v], g.xadj[v + 1]):
                u = g.adjncy[e]
                if u < lo or u >= hi or (kinds and not may_merge(g, u, v)):
                    continue
                c = cluster[u] - lo
                if conn[c] == 0:
                    touched[count] = c
                    count += 1
                if unit:
                    conn[c] += 1
                else:
                    conn[c] += g.ewgt[e]
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
                if there > here or (there == here and best != own and _tie(c, v) > _tie(best, v)):
                    best, most, weight = c, tie, other
            if best != own:
                cwgt[own] -= w
                cwgt[best] += w
                members[own - lo] -= 1
                members[best - lo] += 1
                cluster[v] = best
                moved += 1
        if moved * 50 < hi - lo:
            break
    # the smallest member leads; touched holds it by old label
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
def absorb_singles(g, match, max_vwgt, cluster, cwgt):
    """Let every unmatched vertex join the neighbouring cluster it is tied to most; returns how many joined.

    Sequential over the few unmatched vertices.

    g : Level, in
    match : (nvtxs,) int32, in and out      -1 where a vertex is alone
    max_vwgt : int                          most that a cluster may weigh
    cluster : (nvtxs,) int32, in and out    leader of the cluster of each vertex
    cwgt : (nvtxs,) int64, in and out       weight of each cluster by leader
    """
    unit = len(g.ewgt) == 0
    joined = 0
    for v in range(len(match)):
        if match[v] >= 0:
            continue
        best = -1
        best_rate = -1.0
        for e in range(g.xadj[v], g.xadj[v + 1]):
            u = g.adjncy[e]
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


@kernel
def number_clusters(cluster, cmap):
    """Number clusters in the order of their first member; returns how many.

    cluster : (nvtxs,) int32, in    leader of the cluster of each vertex; a leader leads itself
    cmap : (nvtxs,) int32, out      number of the cluster of each vertex
    """
    n = len(cluster)
    for v in range(n):
        cmap[v] = -1
    nc = 0
    for v in range(n):
        leader = cluster[v]
        if cmap[leader] < 0:
            cmap[leader] = nc
            nc += 1
        cmap[v] = cmap[leader]
    return nc


@kernel
def list_members(cmap, start, members):
    """Members of every cluster, ascending.

    cmap : (nvtxs,) int32, in           cluster of each vertex
    start : (ncoarse + 1,) int64, out   where the members of each cluster begin
    members : (nvtxs,) int32, out
    """
    n = len(cmap)
    nc = len(start) - 1
    for c in range(nc + 1):
        start[c] = 0
    for v in range(n):
        start[cmap[v] + 1] += 1
    for c in range(nc):
        start[c + 1] += start[c]
    for v in range(n):
        c = cmap[v]
        members[start[c]] = v
        start[c] += 1
    for c in range(nc, 0, -1):
        start[c] = start[c - 1]
    start[0] = 0


@kernel
def contract_vertices(lo, hi, g, start, members, degree, vwgt, fixed, origin, size):
    """Weights, fixed parts, origins and sizes of the coarse vertices lo..hi, and how many entries their members have.

    lo, hi : int
    g : Level, in
    start : (ncoarse + 1,) int64, in    where the members of each coarse vertex begin
    members : (nvtxs,) int32, in
    degree : (ncoarse,) int64, out      entries in the rows of the members; may be longer
    vwgt : (ncoarse,) int64, out
    fixed : (ncoarse,) int32, out       or empty where all vertices are free
    origin : (ncoarse,) int32, out      or empty where there are no affinities
    size : (ncoarse,) int64, out        empty where `origin` is
    """
    for c in range(lo, hi):
        w = np.int64(0)
        s = np.int64(0)
        d = np.int64(0)
        for i in range(start[c], start[c + 1]):
            v = members[i]
            w += g.vwgt[v]
            d += g.xadj[v + 1] - g.xadj[v]
            if len(size) > 0:
                s += g.size[v]
        vwgt[c] = w
        degree[c] = d
        first = members[start[c]]
        if len(fixed) > 0:
            fixed[c] = g.fixed[first]
        if len(origin) > 0:
            origin[c] = g.origin[first]
            size[c] = s


@kernel
def contract_rows(lo, hi, g, cmap, start, members, begin, length, adjncy, ewgt, mark):
    """Rows of the coarse vertices lo..hi, parallel edges merged, inner edges dropped; returns the number of entries.

    The rows are written from offset begin[lo] on, densely.

    lo, hi : int
    g : Level, in
    cmap : (nvtxs,) int32, in           coarse vertex of each vertex
    start : (ncoarse + 1,) int64, in    where the members of each coarse vertex begin
    members : (nvtxs,) int32, in
    begin : (ncoarse + 1,) int64, in    sums of the entries of the members; only begin[lo] is read
    length : (ncoarse,) int64, out      of each row
    adjncy : (nentries,) int32, out     nentries is at least the number of entries of g
    ewgt : (nentries,) int64, out
    mark : (ncoarse,) int64, scratch    where a neighbour stands in the row being written
    """
    unit = len(g.ewgt) == 0
    for c in range(len(mark)):
        mark[c] = -1
    base = begin[lo]
    top = base
    for c in range(lo, hi):
        row = top
        for i in range(start[c], start[c + 1]):
            v = members[i]
            for e in range(g.xadj[v], g.xadj[v + 1]):
                d = cmap[g.adjncy[e]]
                if d == c:
                    continue
                if unit:
                    w = np.int64(1)
                else:
                    w = g.ewgt[e]
                at = mark[d]
                if at >= row:
                    ewgt[at] += w
                else:
                    mark[d] = top
                    adjncy[top] = d
                    ewgt[top] = w
                    top += 1
        length[c] = top - row
    return top - base


@kernel
def pull_down(lo, hi, cmap, coarse, fine):
    """Carry values of coarse vertices to their members.

    lo, hi : int
    cmap : (nvtxs,) int32, in       coarse vertex of each vertex
    coarse : (ncoarse,) int32, in
    fine : (nvtxs,) int32, out
    """
    for v in range(lo, hi):
        fine[v] = coarse[cmap[v]]


@kernel
def centre(cmap, vwgt, coords, total, centres):
    """Centres of gravity of the coarse vertices; vertices without weight count as 1.

    cmap : (nvtxs,) int32, in           coarse vertex of each vertex
    vwgt : (nvtxs,) int64, in
    coords : (nvtxs, d) float64, in
    total : (ncoarse,) float64, out     what the members weigh together
    centres : (ncoarse, d) float64, out
    """
    d = coords.shape[1]
    for c in range(len(total)):
        total[c] = 0.0
        for j in range(d):
            centres[c, j] = 0.0
    for v in range(len(cmap)):
        c = cmap[v]
        w = float(max(vwgt[v], 1))
        total[c] += w
        for j in range(d):
            centres[c, j] += w * coords[v, j]
    for c in range(len(total)):
        for j in range(d):
            centres[c, j] /= total[c]


@kernel
def sample_shape(g, samples, result):
    """What kind of graph it is, from a sample of its edges.

    Squares are cycles of four through the edge; on a grid they are deg - 2 per edge, in any dimension.  Far are
    edges whose ends are numbered more than 1 / 64 of the vertices apart.  Vertices of degree over 40 are skipped.

    g : Level, in
    samples : int                   edges looked at
    result : (4,) int64, out        [0] triangles, [1] squares, [2] squares on a grid, [3] far
    """
    n = len(g.vwgt)
    for i in range(4):
        result[i] = 0
    for i in range(samples):
        v = mix(i, 5) % n
        d = g.xadj[v + 1] - g.xadj[v]
        if d == 0 or d > 40:
            continue
        u = g.adjncy[g.xadj[v] + mix(i, 6) % d]
        if abs(u - v) * 64 > n:
            result[3] += 1
        du = g.xadj[u + 1] - g.xadj[u]
        if du > 40:
            continue
        result[2] += max(min(d, du) - 2, 0)
        for e in range(g.xadj[v], g.xadj[v + 1]):
            x = g.adjncy[e]
            if x == u or g.xadj[x + 1] - g.xadj[x] > 40:
                continue
            for f in range(g.xadj[x], g.xadj[x + 1]):
                y = g.adjncy[f]
                if y == u:
                    result[0] += 1
                elif y != v:
                    for h in range(g.xadj[u], g.xadj[u + 1]):
                        if g.adjncy[h] == y:
                            result[1] += 1
                            break


@kernel
def breadth_first(g, order, seen):
    """All vertices in breadth-first order, piece by piece.

    g : Level, in
    order : (nvtxs,) int32, out
    seen : (nvtxs,) uint8, scratch  0 before, 1 afterwards
    """
    tail = 0
    for root in range(len(order)):
        if seen[root]:
            continue
        seen[root] = 1
        order[tail] = root
        head = tail
        tail += 1
        while head < tail:
            v = order[head]
            head += 1
            for e in range(g.xadj[v], g.xadj[v + 1]):
                u = g.adjncy[e]
                if not seen[u]:
                    seen[u] = 1
                    order[tail] = u
                    tail += 1


@kernel
def permute_rows(lo, hi, g, order, new, xadj, adjncy, ewgt):
    """Rows lo..hi of the graph in the order given: row i is that of vertex order[i], neighbours by their new numbers.

    lo, hi : int
    g : Level, in
    order : (nvtxs,) int32, in
    new : (nvtxs,) int32, in        place of each vertex in `order`
    xadj : (nvtxs + 1,) int64, in   offsets of the new rows
    adjncy : (2 nedges,) int32, out
    ewgt : (2 nedges,) int64, out   or empty where every edge weighs 1
    """
    for i in range(lo, hi):
        at = xadj[i]
        v = order[i]
        for e in range(g.xadj[v], g.xadj[v + 1]):
            adjncy[at] = new[g.adjncy[e]]
            if len(ewgt) > 0:
                ewgt[at] = g.ewgt[e]
            at += 1
