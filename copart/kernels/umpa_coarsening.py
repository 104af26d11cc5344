"""Coarsening of directed hypergraphs: agglomerative clusters by absorption, their nets, their graphs of cliques and
stars."""

from typing import Any, NamedTuple

import numpy as np

from . import inner, kernel

LONG_NET = 400
"""Nets of more pins say little about which of them belong together, and cost the square of their size."""


class Rows(NamedTuple):
    """Rows of numbers: start (m+1,) int64, entry (start[m],) int32."""

    start: Any
    entry: Any


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


@kernel
def merge_nets(h, cmap, stamp, head, after, key, coarse, cost):
    """Nets of clusters, the source in front: those within a cluster left out, those alike made one; returns how many.

    Nets are alike where they have the same source and the same pins: of those with a source, which are chained, the
    ones with the same sum and number of pins are compared pin by pin.

    h : Nets, in
    cmap : (n,) int32, in               cluster of each vertex
    stamp : (nclusters,) int64, scratch -1
    head : (nclusters,) int32, scratch  -1; the last net of each source
    after, key : (m,) int32, scratch; (m,) int64, scratch
    coarse : Rows, out                  pins of each net, as far as there are nets
    cost : (m,) int64, out
    """
    xpins, pins = coarse.start, coarse.entry
    count = 0
    top = np.int64(0)
    xpins[0] = 0
    for i in range(len(h.cost)):
        first = top
        total = np.int64(0)
        for f in range(h.xpins[i], h.xpins[i + 1]):
            c = cmap[h.pins[f]]
            if stamp[c] != i:
                stamp[c] = i
                total += np.int64(c) * c
                # behind the source in ascending order
                at = top
                while at > first + 1 and pins[at - 1] > c:
                    pins[at] = pins[at - 1]
                    at -= 1
                pins[at] = c
                top += 1
        if top - first == 1:
            top = first
            continue
        source = pins[first]
        e = head[source]
        while e >= 0:
            if key[e] == total and xpins[e + 1] - xpins[e] == top - first:
                f = xpins[e]
                while f < xpins[e + 1] and stamp[pins[f]] == i:
                    f += 1
                if f == xpins[e + 1]:
                    break
            e = after[e]
        if e >= 0:
            cost[e] += h.cost[i]
            top = first
            continue
        after[count] = head[source]
        head[source] = count
        key[count] = total
        cost[count] = h.cost[i]
        count += 1
        xpins[count] = top
    return count


@kernel
def transpose(rows, columns):
    """The rows of each entry, in their order; returns their number.

    rows : Rows, in
    columns : Rows, out
    """
    start = columns.start
    start[:] = 0
    for f in range(rows.start[len(rows.start) - 1]):
        start[rows.entry[f] + 1] += 1
    for v in range(1, len(start)):
        start[v] += start[v - 1]
    # each start moves to the end of its column, which is where the next one starts
    for i in range(len(rows.start) - 1):
        for f in range(rows.start[i], rows.start[i + 1]):
            v = rows.entry[f]
            columns.entry[start[v]] = i
            start[v] += 1
    for v in range(len(start) - 1, 0, -1):
        start[v] = start[v - 1]
    start[0] = 0
    return start[len(start) - 1]


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
