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
    """Whether two vertices may share a cluster: same origin, and both free or both fixed to one part."""
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
    random ties).  match (nvtxs,) int32 is -1 on entry.
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
    """A matching as clusters: cluster[v] is the smaller of a pair, cwgt the weight by leader, 0 elsewhere."""
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
    """A cheap hash to break ties between clusters."""
    return (np.int64(c ^ v) * 0x9E3779B1) & 0xFFFFFFFF


@kernel
def propagate_labels(lo, hi, g, max_vwgt, rounds, scattered, match, cluster, cwgt, conn, touched, members):
    """Size-constrained label propagation inside the range lo..hi (Meyerhenke, Sanders & Schulz 2014).

    Every vertex in turn joins the neighbouring cluster of best rate, conn^2 / sqrt(weight): heavy ties, and
    small clusters first, which keeps them round (cut of a dual graph of 490,000 tetrahedra 3 % lower than by
    the tie alone).  Visits vertices in order, or scattered inside windows: where neighbours have neighbours in
    common, clusters would stretch along the numbering.  Writes cluster: the smallest member of each vertex'
    cluster, cwgt (nvtxs,) int64 by leader,
    and match: -1 where a vertex stays alone.  conn int64, touched, members int32 (hi - lo,) are scratch.
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
    """Let every unmatched vertex join the neighbouring cluster it is tied to most.

    cluster (nvtxs,) int32 holds the leader of each vertex' cluster, cwgt (nvtxs,) int64 the
    weight by leader; both are updated.  Sequential over the few unmatched vertices.  Returns how many joined.
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

    waiting (nvtxs + 1,) int32 is scratch, -1 everywhere on entry and afterwards; its last entry
    collects vertices without neighbours.  Returns how many joined.
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

    cluster[v] is a leader (cluster[leader] == leader); cmap is written, scratch-free.
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
    """Members of every cluster, ascending: start (ncoarse + 1,) int64, members (nvtxs,) int32."""
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
    """Weights, fixed parts, origins and sizes of the coarse vertices lo..hi, and their fine entries: degree[c]."""
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
    """Rows of the coarse vertices lo..hi, parallel edges merged, inner edges dropped.

    Writes adjncy, ewgt from offset begin[lo] on, densely, and length[c] by row.  mark
    (ncoarse,) int64 is scratch: where a neighbour stands in the row being written.  Returns the
    number of entries written.
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
    """Carry values of coarse vertices to their members."""
    for v in range(lo, hi):
        fine[v] = coarse[cmap[v]]


@kernel
def centre(cmap, vwgt, coords, total, centres):
    """Centres of gravity of the coarse vertices: centres (ncoarse, d) float64 from coords (nvtxs, d) of their members.

    Vertices without weight count as 1.  Writes total (ncoarse,) float64, too: what the members weigh together.
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
    """What kind of graph it is, from `samples` edges: result[0] triangles, [1] squares, [2] squares on a grid, [3] far.

    Squares are cycles of four through the edge; on a grid they are deg - 2 an edge, in any dimension.  `far` counts
    edges whose ends are numbered more than 1 / 64 of the vertices apart.  Vertices of degree over 40 are skipped.
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
    """All vertices in breadth-first order, piece by piece: order (nvtxs,) int32; seen (nvtxs,) uint8 is 0 on entry."""
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
    """Rows of the graph in the order given: row i is that of vertex order[i], neighbours by their new numbers."""
    for i in range(lo, hi):
        at = xadj[i]
        v = order[i]
        for e in range(g.xadj[v], g.xadj[v + 1]):
            adjncy[at] = new[g.adjncy[e]]
            if len(ewgt) > 0:
                ewgt[at] = g.ewgt[e]
            at += 1
