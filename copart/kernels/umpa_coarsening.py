"""Coarsening of directed hypergraphs: agglomerative clusters by absorption; their graphs of cliques and stars."""

from . import inner, kernel

LONG_NET = 400
"""Nets of more pins say little about which of them belong together, and cost the square of their size."""


@kernel
def join_clusters(h, order, bound, tie, rep, weight, pinned, conn, near):
    """Let each lone vertex join the cluster that it shares most nets with (HCC by absorption); returns the clusters.

    A net counts its cost over its pins but one.  No cluster holds vertices of two fixed parts.

    h : Nets, in
    order : (n,) int32, in
    bound : (2,) int64, in          most that a cluster may weigh, and where a vertex is tied to it by more than `tie`
    tie : float
    rep : (n,) int32, out           a vertex of the cluster that stands for it
    weight : (n,) int64, out        of the cluster, at that vertex
    pinned : (n,) int32, out        fixed part of the cluster or -1, at that vertex; empty where none is fixed
    conn : (n,) float64, scratch    0
    near : (n,) int32, scratch
    """
    n = len(order)
    for v in range(n):
        rep[v] = -1
        weight[v] = h.vwgt[v]
        if len(pinned):
            pinned[v] = h.fixed[v]
    clusters = n
    for u in order:
        if rep[u] >= 0:
            continue
        count = 0
        for e in range(h.xnets[u], h.xnets[u + 1]):
            i = h.nets[e]
            size = h.xpins[i + 1] - h.xpins[i]
            if size == 1 or size > LONG_NET:
                continue
            share = h.cost[i] / (size - 1)
            for f in range(h.xpins[i], h.xpins[i + 1]):
                v = h.pins[f]
                if v == u:
                    continue
                r = rep[v] if rep[v] >= 0 else v
                if conn[r] == 0.0:
                    near[count] = r
                    count += 1
                conn[r] += share
        best = -1
        most = 0.0
        for j in range(count):
            r = near[j]
            apart = len(pinned) > 0 and pinned[u] != pinned[r] and pinned[u] >= 0 and pinned[r] >= 0
            if conn[r] > most and weight[u] + weight[r] <= bound[1 if conn[r] > tie else 0] and not apart:
                most = conn[r]
                best = r
            conn[r] = 0.0
        if best >= 0:
            rep[best] = best
            rep[u] = best
            weight[best] += weight[u]
            if len(pinned):
                pinned[best] = max(pinned[best], pinned[u])
            clusters -= 1
    for v in range(n):
        if rep[v] < 0:
            rep[v] = v
    return clusters


@inner
def clique_rows(h, u, longest, conn, near, unit):
    """Neighbours of u that share a net of at most `longest` pins, its source only for longer ones; returns how many.

    A net counts `unit` times its cost over its pins but one between two of its pins, in a star twice that.

    h : Nets, in
    u, longest : int
    conn : (n,) float64, in and out     0 before; the weights
    near : (n,) int32, out
    unit : float
    """
    count = 0
    for e in range(h.xnets[u], h.xnets[u + 1]):
        i = h.nets[e]
        first = h.xpins[i]
        size = h.xpins[i + 1] - first
        # what holds most vertices is cut by any partition, and would pull at all of them
        if size == 1 or (0 < longest < size and 2 * size > len(h.vwgt)):
            continue
        share = unit * h.cost[i] / (size - 1)
        last = h.xpins[i + 1]
        if size > longest:
            share *= 2.0
            if h.pins[first] != u:
                last = first + 1
        for f in range(first, last):
            v = h.pins[f]
            if v == u:
                continue
            if conn[v] == 0.0:
                near[count] = v
                count += 1
            conn[v] += share
    return count


@kernel
def clique_degrees(h, longest, conn, near, xadj):
    """Number of neighbours of each vertex in the graph of :func:`clique_edges`, summed up.

    h : Nets, in
    longest : int
    conn : (n,) float64, scratch    0
    near : (n,) int32, scratch
    xadj : (n + 1,) int64, out
    """
    xadj[0] = 0
    for u in range(len(h.vwgt)):
        count = clique_rows(h, u, longest, conn, near, 1.0)
        for j in range(count):
            conn[near[j]] = 0.0
        xadj[u + 1] = xadj[u] + count


@kernel
def clique_edges(h, longest, conn, near, unit, adjncy, ewgt):
    """The graph of a hypergraph: nets as cliques, longer ones as stars around their sources.

    h : Nets, in
    longest : int                   pins of the largest clique
    conn : (n,) float64, scratch    0
    near : (n,) int32, scratch
    unit : float                    weight of an edge of a net of cost 1 and two pins
    adjncy : (2 nedges,) int32, out
    ewgt : (2 nedges,) int64, out
    """
    at = 0
    for u in range(len(h.vwgt)):
        count = clique_rows(h, u, longest, conn, near, unit)
        for j in range(count):
            v = near[j]
            adjncy[at] = v
            ewgt[at] = max(int(conn[v] + 0.5), 1)
            conn[v] = 0.0
            at += 1
