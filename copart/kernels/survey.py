"""A look at the graph before it is coarsened: what shape it has, and an order in which neighbours are close."""

import numpy as np

from . import inlined, kernel
from .prefetching import prefetch
from .rng import mix

OFFSET_AHEAD, ROW_AHEAD, NUMBERS_AHEAD = 20, 10, 5
"""So many vertices ahead of a breadth-first search offsets, rows, and the numbers of what is in them are asked for: it
takes half the time."""


@inlined
def _differ(a, b):
    """Whether one of two weights is more than one and a half times the other.

    a, b : int
    """
    # in this form nothing can overflow
    return max(a, b) - min(a, b) > min(a, b) // 2


@kernel
def sample_shape(g, samples, result):
    """What kind of graph it is, from a sample of its edges.

    Squares are cycles of four through the edge; on a grid they are deg - 2 per edge, in any dimension.  Far are
    edges whose ends are numbered more than 1 / 64 of the vertices apart.  Vertices of degree over 40 are skipped.
    Opposite sides of a square lie in the same direction, also where a grid is stretched.

    g : Level, in
    samples : int                   edges looked at
    result : (6,) int64, out        [0] triangles, [1] squares, [2] squares on a grid, [3] far, [4] squares of which
                                    opposite sides differ in weight, [5] edges whose ends do
    """
    n = len(g.vwgt)
    unit = len(g.ewgt) == 0
    for i in range(len(result)):
        result[i] = 0
    for i in range(samples):
        v = mix(i, 5) % n
        d = g.xadj[v + 1] - g.xadj[v]
        if d == 0 or d > 40:
            continue
        side = g.xadj[v] + mix(i, 6) % d
        u = g.adjncy[side]
        if abs(u - v) * 64 > n:
            result[3] += 1
        if _differ(g.vwgt[u], g.vwgt[v]):
            result[5] += 1
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
                            if not unit and (_differ(g.ewgt[side], g.ewgt[f]) or _differ(g.ewgt[e], g.ewgt[h])):
                                result[4] += 1
                            break


@kernel
def count_degrees(g, result):
    """How many neighbours vertices have; those that are fixed are passed over.

    g : Level, in
    result : (7,) int64, out        [0] vertices with 2 neighbours or fewer, [1] with 3 or fewer, [2] with more than 4,
                                    [3] with more than 6, [4] vertices, [5] sum of degrees, [6] sum of their squares
    """
    few, less, more, many, count, entries, squares = 0, 0, 0, 0, 0, 0, 0
    for v in range(len(g.xadj) - 1):
        d = g.xadj[v + 1] - g.xadj[v]
        if len(g.fixed) > 0 and g.fixed[v] >= 0:
            continue
        few += d <= 2
        less += d <= 3
        more += d > 4
        many += d > 6
        count += 1
        entries += d
        squares += d * d
    result[0], result[1], result[2], result[3] = few, less, more, many
    result[4], result[5], result[6] = count, entries, squares


@kernel
def breadth_first(g, first, order, seen, within):
    """Vertices in breadth-first order, piece by piece, until the order is full.

    g : Level, in
    first : int                     where the search begins; other pieces are searched from their first vertex
    order : (most,) int32, out
    seen : (nvtxs,) uint8, scratch  0 before, 1 afterwards for the vertices in the order
    within : (nradii,) int64, out   how many vertices are within 0, 1, 2, ... edges of the first; no more than `most`
    """
    tail = 0
    for i in range(-1, len(order)):
        root = first if i < 0 else np.int64(i)
        if tail == len(order) or seen[root]:
            continue
        seen[root] = 1
        order[tail] = root
        head = tail
        tail += 1
        edge = tail
        radius = 0
        while head < tail:
            if head == edge and i < 0 and radius < len(within):
                within[radius] = edge
                radius += 1
                edge = tail
            v = order[head]
            head += 1
            for e in range(g.xadj[v], g.xadj[v + 1]):
                u = g.adjncy[e]
                if not seen[u] and tail < len(order):
                    seen[u] = 1
                    order[tail] = u
                    tail += 1
        if i < 0:
            for r in range(radius, len(within)):
                within[r] = tail


@kernel
def number_breadth_first(g, first, upto, at, order, place, xadj, adjncy, ewgt):
    """Number vertices in breadth-first order, piece by piece, and write the rows of the graph in that order.

    A row is written where it is searched: its neighbours have their numbers then.  Neighbours appear in the order of
    the old row.  Calls with more and more of the rows go on where the one before has ended.

    g : Level, in
    first : int                         where the search begins; other pieces are searched from their first vertex
    upto : int                          rows that there are to be
    at : (3,) int64, in and out         rows that there are; vertices that are numbered; the next one where a search may
                                        begin, -1 for `first`; 0, 0 and -1 at first
    order : (nvtxs + 1,) int32, out     old number by new one; the last entry is scratch
    place : (nvtxs,) int32, out         new number by old one
    xadj : (nvtxs + 1,) int64, out      offsets of the new rows
    adjncy : (2 nedges,) int32, out
    ewgt : (2 nedges,) int64, out       or empty where every edge weighs 1
    """
    head, tail, root = at[0], at[1], at[2]
    if root < 0:
        for v in range(len(place)):
            place[v] = -1
        xadj[0] = 0
    while head < upto:
        if head == tail:
            v = first if root < 0 else root
            root += 1
            if place[v] >= 0:
                continue
            order[tail] = v
            place[v] = tail
            tail += 1
        top = xadj[head]
        while head < tail and head < upto:
            # rows are anywhere: what is needed of them is on the way before it is needed
            if head + OFFSET_AHEAD < tail:
                prefetch(g.xadj, order[head + OFFSET_AHEAD])
            if head + ROW_AHEAD < tail:
                prefetch(g.adjncy, g.xadj[order[head + ROW_AHEAD]])
            if head + NUMBERS_AHEAD < tail:
                v = order[head + NUMBERS_AHEAD]
                for e in range(g.xadj[v], g.xadj[v + 1]):
                    prefetch(place, g.adjncy[e])
            v = order[head]
            head += 1
            for e in range(g.xadj[v], g.xadj[v + 1]):
                u = g.adjncy[e]
                # without branches, which could not be predicted
                fresh = place[u] < 0
                p = tail if fresh else place[u]
                place[u] = p
                order[tail] = u
                tail += fresh
                adjncy[top] = p
                if len(ewgt) > 0:
                    ewgt[top] = g.ewgt[e]
                top += 1
            xadj[head] = top
    at[0], at[1], at[2] = head, tail, root
