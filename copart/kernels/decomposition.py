"""Multilevel decomposition of a target graph: matching, coarse graphs with traversal weights, bounded distances.

(Pellegrini & Lachat 2017, Inria RR-9135: decomposition-defined architectures, deco 2.)
"""

from typing import Any, NamedTuple

import numpy as np

from . import allocating, inlined, kernel

#: Vertices that one search may find, the start included; from then on it only looks for its end, so that a switch of
#: many links costs one look at each.
FOUND = 64


@kernel
def match_nearest(xadj, adjncy, near, mate, waiting):
    """Match each vertex in turn with its free neighbour of greatest `near`, ties to the smaller number.

    Those left alone are matched with one another below the neighbour nearest to both, so that stars shrink, too.
    Returns the number of pairs and singletons.

    xadj : (n + 1,) int64, in
    adjncy : (narcs,) int32, in
    near : (narcs,) int64, in       how much the ends of each arc belong together
    mate : (n,) int32, out          partner of each vertex, or itself
    waiting : (n,) int32, scratch
    """
    n = len(xadj) - 1
    count = n
    for v in range(n):
        mate[v] = -1
        waiting[v] = -1
    for v in range(n):
        if mate[v] < 0:
            best = -1
            most = np.int64(-1)
            for e in range(xadj[v], xadj[v + 1]):
                u = adjncy[e]
                if mate[u] < 0 and (near[e] > most or (near[e] == most and u < best)):
                    best, most = u, near[e]
            if best >= 0:
                mate[v], mate[best] = best, v
                count -= 1
    for v in range(n):
        if mate[v] < 0:
            mate[v] = v
            hub = -1
            most = np.int64(-1)
            for e in range(xadj[v], xadj[v + 1]):
                u = adjncy[e]
                if near[e] > most or (near[e] == most and u < hub):
                    hub, most = u, near[e]
            if hub >= 0:
                other = waiting[hub]
                if other >= 0:
                    mate[v], mate[other] = other, v
                    waiting[hub] = -1
                    count -= 1
                else:
                    waiting[hub] = v
    return count


@kernel
def number_coarse(mate, father):
    """Number pairs and singletons by their smaller vertex.

    mate : (n,) int32, in           partner of each vertex, or itself
    father : (n,) int32, out        number of the pair or singleton of each vertex
    """
    count = 0
    for v in range(len(mate)):
        if mate[v] >= v:
            father[v] = count
            father[mate[v]] = count
            count += 1


@inlined
def path_over_one(xadj, adjncy, edge, u, v):
    """Least cost of a path from u to v over one vertex between them, infinite where there is none.

    xadj : (n + 1,) int64, in
    adjncy : (narcs,) int32, in
    edge : (narcs,) float64, in     length of each arc
    u, v : int
    """
    best = np.inf
    for e in range(xadj[u], xadj[u + 1]):
        for f in range(xadj[v], xadj[v + 1]):
            if adjncy[f] == adjncy[e]:
                best = min(best, edge[e] + edge[f])
    return best


@kernel
def swallow(xadj, adjncy, edge, mate, father, swallowed):
    """Cost of the edge inside each pair, or of the path over a common neighbour where there is none; 0 for one alone.

    xadj : (n + 1,) int64, in
    adjncy : (narcs,) int32, in
    edge : (narcs,) float64, in     length of each arc
    mate, father : (n,) int32, in
    swallowed : (ncoarse,) float64, out
    """
    for v in range(len(mate)):
        u = mate[v]
        if u == v:
            swallowed[father[v]] = 0.0
        elif u > v:
            best = np.inf
            for e in range(xadj[v], xadj[v + 1]):
                if adjncy[e] == u:
                    best = edge[e]
            swallowed[father[v]] = best if best < np.inf else path_over_one(xadj, adjncy, edge, v, u)


class Arcs(NamedTuple):
    """A graph of n vertices and narcs arcs with two values of each arc.

    xadj : (n + 1,) int64, adjncy : (narcs,) int32
    near : (narcs,) int64, how much the ends belong together; edge : (narcs,) float64, length
    """

    xadj: Any
    adjncy: Any
    near: Any
    edge: Any


@kernel
def contract(fine, mate, father, swallowed, coarse, last, merged, touched):
    """The coarse graph: merged edges add up in `cnear` and are averaged in `cedge`; returns its number of arcs.

    To cross a pair costs the edge it swallowed, half of it at either end of the way.  A coarse edge pays that half
    where it leaves from one of the two only: one that both have runs beside the swallowed edge and not along it.

    fine : Arcs, in
    mate, father : (n,) int32, in
    swallowed : (ncoarse,) float64, in
    coarse : Arcs, out              of ncoarse vertices, with room for as many arcs; filled from the front
    last : (ncoarse,) int64, scratch
    merged, touched : (narcs,) int32, scratch
    """
    xadj, adjncy, near, edge = fine
    cxadj, cadjncy, cnear, cedge = coarse
    for c in range(len(last)):
        last[c] = -1
    count = np.int64(0)
    cxadj[0] = 0
    for v in range(len(mate)):
        if mate[v] >= v:
            c = father[v]
            start = count
            for i in range(2 if mate[v] != v else 1):
                u = v if i == 0 else mate[v]
                for e in range(xadj[u], xadj[u + 1]):
                    w = adjncy[e]
                    d = father[w]
                    # which ones of both pairs have the edge: bits 0 and 1 here, bits 2 and 3 there
                    side = (1 << i) | (4 if mate[w] >= w else 8)
                    if d == c:
                        continue
                    if last[d] >= start:
                        at = last[d]
                        cnear[at] += near[e]
                        cedge[at] += edge[e]
                        merged[at] += 1
                        touched[at] |= side
                    else:
                        last[d] = count
                        cadjncy[count] = d
                        cnear[count] = near[e]
                        cedge[count] = edge[e]
                        merged[count] = 1
                        touched[count] = side
                        count += 1
            for at in range(start, count):
                cedge[at] /= merged[at]
                if touched[at] & 3 != 3:
                    cedge[at] += 0.5 * swallowed[c]
                if touched[at] & 12 != 12:
                    cedge[at] += 0.5 * swallowed[cadjncy[at]]
            cxadj[c + 1] = count
    return count


@allocating
def level_distance(father, xadj, adjncy, edge, limit, u, v):
    """Distance of two vertices of one level.

    A shortest-path search from the smaller of the two settles up to `limit` vertices; where it does not meet the
    other, it goes on between their fathers.  A path to a vertex found but not settled counts when the search ends.
    All levels, of n vertices and narcs arcs in all, are in one numbering; two vertices of one father have an edge or a
    common neighbour.

    father : (n,) int32, in
    xadj : (n + 1,) int64, in
    adjncy : (narcs,) int32, in
    edge : (narcs,) float64, in     length of each arc
    limit : int
    u, v : int
    """
    found = np.empty(FOUND, np.int32)
    length = np.empty(FOUND, np.float64)
    settled = np.empty(FOUND, np.bool_)
    best = np.inf
    while best == np.inf:
        if u > v:
            u, v = v, u
        found[0], length[0], settled[0] = u, 0.0, False
        count = 1
        for _ in range(limit):
            at = -1
            for i in range(count):
                if not settled[i] and (at < 0 or length[i] < length[at]):
                    at = i
            if at < 0 or length[at] >= best:
                break
            settled[at] = True
            for e in range(xadj[found[at]], xadj[found[at] + 1]):
                w = adjncy[e]
                reached = length[at] + edge[e]
                if w == v:
                    best = min(best, reached)
                elif count < FOUND:
                    i = 0
                    while i < count and found[i] != w:
                        i += 1
                    if i < count:
                        length[i] = min(length[i], reached)
                    else:
                        found[i], length[i], settled[i] = w, reached, False
                        count += 1
        if best == np.inf and father[u] == father[v]:
            best = path_over_one(xadj, adjncy, edge, u, v)
        u, v = father[u], father[v]
    return best


@kernel
def multilevel_pairs(father, xadj, adjncy, edge, limit, p, q, out):
    """Distances of pairs of vertices of one level each; see `level_distance`.

    father : (n,) int32, in
    xadj : (n + 1,) int64, in
    adjncy : (narcs,) int32, in
    edge : (narcs,) float64, in     length of each arc
    limit : int                     vertices that a search settles, at most
    p, q : (npairs,) int64, in
    out : (npairs,) float64, out
    """
    for i in range(len(out)):
        out[i] = 0.0 if p[i] == q[i] else level_distance(father, xadj, adjncy, edge, limit, p[i], q[i])


@kernel
def ancestors(father, vertex, up, out):
    """The ancestor of each of some vertices, up[i] levels above vertex[i].

    father : (n,) int32, in         of each vertex of all levels
    vertex : (nvertices,) int64, in
    up : (nvertices,) int64, in
    out : (nvertices,) int64, out
    """
    for i in range(len(out)):
        v = vertex[i]
        for _ in range(up[i]):
            v = father[v]
        out[i] = v


@kernel
def interval_maxima(level, low, high, out):
    """The greatest of level[low[i] + 1:high[i]], or 0 where that is empty.

    level : (nprocs + 1,) int64, in
    low, high : (nintervals,) int64, in
    out : (nintervals,) int64, out
    """
    for i in range(len(out)):
        most = np.int64(0)
        for j in range(low[i] + 1, high[i]):
            most = max(most, level[j])
        out[i] = most
