"""Multilevel decomposition of a target graph: matching, coarse graphs with traversal weights, bounded distances.

(``spec/architecture-mapping``, section 3, deco 2.)
"""

import numpy as np

from . import kernel

#: Vertices that one search may find, the start included; a search settles fewer.
FOUND = 64


@kernel
def match_nearest(xadj, adjncy, near, mate, waiting):
    """Match each vertex in turn with its free neighbour of greatest `near`, ties to the smaller number.

    Those left alone are matched with one another below the neighbour nearest to both, so that stars shrink, too.
    mate (n,) int32 out: partner, or itself.  waiting (n,) int32: scratch.  Returns the number of pairs and singletons.
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
    """Number pairs and singletons by their smaller vertex: father (n,) int32 out."""
    count = 0
    for v in range(len(mate)):
        if mate[v] >= v:
            father[v] = count
            father[mate[v]] = count
            count += 1


@kernel
def contract(xadj, adjncy, near, edge, inner, mate, father, last, cxadj, cadjncy, cnear, cedge, cinner, merged):
    """The coarse graph: merged edges add up in `cnear` and are averaged in `cedge`; returns its number of arcs.

    A coarse vertex of one keeps its traversal weight; one of two costs the mean of theirs and half of the edge it
    swallowed, or of the path over the common neighbour where there is no edge: about half of the paths across use it.
    With the whole edge, distances in a torus of 16 x 16 x 16 come out 76 % too long on average, with nothing but the
    edge 40 % too short, so 4 % too long.  last (ncoarse,) int64 and merged (narcs,) int32:
    scratch; cadjncy, cnear, cedge (narcs,) are filled from the front.
    """
    for c in range(len(last)):
        last[c] = -1
    count = np.int64(0)
    cxadj[0] = 0
    for v in range(len(mate)):
        if mate[v] >= v:
            c = father[v]
            start = count
            swallowed = np.inf
            for i in range(2 if mate[v] != v else 1):
                u = v if i == 0 else mate[v]
                for e in range(xadj[u], xadj[u + 1]):
                    d = father[adjncy[e]]
                    if d == c:
                        swallowed = min(swallowed, edge[e])
                    elif last[d] >= start:
                        at = last[d]
                        cnear[at] += near[e]
                        cedge[at] += edge[e]
                        merged[at] += 1
                    else:
                        last[d] = count
                        cadjncy[count] = d
                        cnear[count] = near[e]
                        cedge[count] = edge[e]
                        merged[count] = 1
                        count += 1
            for at in range(start, count):
                cedge[at] /= merged[at]
            cxadj[c + 1] = count
            if mate[v] == v:
                cinner[c] = inner[v]
            else:
                if swallowed == np.inf:
                    swallowed = path_over_hub(xadj, adjncy, edge, inner, v, mate[v])
                cinner[c] = 0.5 * (swallowed + inner[v] + inner[mate[v]])
    return count


@kernel
def path_over_hub(xadj, adjncy, edge, inner, u, v):
    """Least cost of a path from u to v over one vertex between them, 0 where there is none."""
    best = np.inf
    for e in range(xadj[u], xadj[u + 1]):
        hub = adjncy[e]
        for f in range(xadj[v], xadj[v + 1]):
            if adjncy[f] == hub:
                best = min(best, edge[e] + inner[hub] + edge[f])
    return best if best < np.inf else 0.0


@kernel
def level_distance(father, xadj, adjncy, edge, inner, limit, u, v):
    """Distance of two vertices of one level: edges, inner vertices, and half of both ends.

    A shortest-path search from the smaller of the two settles up to `limit` vertices; where it does not meet the
    other, it goes on between their fathers.  A path to a vertex found but not settled counts when the search ends.
    All levels are in one numbering; the father of the last vertex is itself.
    """
    found = np.empty(FOUND, np.int32)
    length = np.empty(FOUND, np.float64)
    settled = np.empty(FOUND, np.bool_)
    while u != v:
        if u > v:
            u, v = v, u
        ends = 0.5 * (inner[u] + inner[v])
        found[0], length[0], settled[0] = u, 0.0, False
        count = 1
        best = np.inf
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
                else:
                    # through w, which is crossed in full
                    reached += inner[w]
                    i = 0
                    while i < count and found[i] != w:
                        i += 1
                    if i < count:
                        length[i] = min(length[i], reached)
                    elif count < FOUND:
                        found[i], length[i], settled[i] = w, reached, False
                        count += 1
        if best < np.inf:
            return best + ends
        u, v = father[u], father[v]
    return inner[u]


@kernel
def multilevel_pairs(father, xadj, adjncy, edge, inner, limit, p, q, out):
    """Distances of pairs of vertices p[i], q[i] (int64) of one level each into out."""
    for i in range(len(out)):
        out[i] = 0.0 if p[i] == q[i] else level_distance(father, xadj, adjncy, edge, inner, limit, p[i], q[i])


@kernel
def ancestors(father, vertex, up, out):
    """The ancestor of vertex[i], up[i] levels above it (all int64)."""
    for i in range(len(out)):
        v = vertex[i]
        for _ in range(up[i]):
            v = father[v]
        out[i] = v


@kernel
def interval_maxima(level, low, high, out):
    """The greatest of level[low[i] + 1:high[i]], or 0 where that is empty, into out (all int64)."""
    for i in range(len(out)):
        most = np.int64(0)
        for j in range(low[i] + 1, high[i]):
            most = max(most, level[j])
        out[i] = most
