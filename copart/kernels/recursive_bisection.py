"""Recursive bisection of a graph on its own memory: limits of both sides, subgraphs, the parts that each side gets."""

import numpy as np

from . import inner, kernel
from .bisection import bisect


@inner
def _side_limits(weight, limit, labels, left, wanted):
    """Limits of the two sides: the slack left, spread evenly over the splits still to come.

    weight : int                    of all vertices to be split
    limit : (nparts,) int64, in
    labels : (nlabels,) int32, in   the parts, those of side 0 first
    left : int                      how many are of side 0
    wanted : (2,) int64, out
    """
    # in floats: limits from a huge eps may add up to more than int64 holds
    mine = 0.0
    both = 0.0
    for i in range(len(labels)):
        both += float(limit[labels[i]])
        if i < left:
            mine += float(limit[labels[i]])
    slack = max(both / max(float(weight), 1.0), 1.0) ** (1.0 / np.ceil(np.log2(float(len(labels)))))
    share = mine / max(both, 1.0)
    wanted[0] = np.int64(min(np.ceil(slack * weight * share), mine, float(weight)))
    wanted[1] = np.int64(min(np.ceil(slack * weight * (1.0 - share)), both - mine, float(weight)))


@inner
def load_rows(g, vertices, new, xadj, adjncy, ewgt):
    """The rows of the subgraph of `vertices`; returns how many entries they have.

    g : Level, in
    vertices : (n,) int32, in
    new : (nvtxs,) int32, in and out    or longer; numbers from earlier calls, those of `vertices` are written
    xadj : (n + 1,) int64, out
    adjncy : (2 nedges,) int32, out     or longer; filled from the front
    ewgt : (2 nedges,) int64, out       or longer; filled from the front
    """
    n = len(vertices)
    unit = len(g.ewgt) == 0
    for i in range(n):
        new[vertices[i]] = i
    m = 0
    xadj[0] = 0
    for i in range(n):
        v = vertices[i]
        for e in range(g.xadj[v], g.xadj[v + 1]):
            j = new[g.adjncy[e]]
            # entries of `new` are left from earlier calls: only those that point back count
            if 0 <= j < n and vertices[j] == g.adjncy[e]:
                adjncy[m] = j
                if unit:
                    ewgt[m] = 1
                else:
                    ewgt[m] = g.ewgt[e]
                m += 1
        xadj[i + 1] = m
    return m


@inner
def load_subgraph(g, vertices, arena):
    """The subgraph of `vertices` as the first level of the arena; returns its weight.

    g : Level, in
    vertices : (n,) int32, in
    arena : Arena, in and out
    """
    weight = np.int64(0)
    for i in range(len(vertices)):
        arena.vwgt[i] = g.vwgt[vertices[i]]
        weight += arena.vwgt[i]
    load_rows(g, vertices, arena.new, arena.xadj, arena.adjncy, arena.ewgt)
    return weight


@inner
def _pin_sides(side, held, left, nlabels, arena):
    """Pin what stands for a part to its side, and the nearest to the other side there where its own has no part left.

    Returns whether anything has to change sides.

    side : (n,) int32, in
    held : (n,) int32, in           the part that each vertex stands for, or -1
    left, nlabels : int             how many parts side 0 has, and both
    arena : Arena, in and out       its first level is the graph; its `pin` is written
    """
    n = len(side)
    pin = arena.pin
    count = 0
    mine = 0
    for i in range(n):
        pin[i] = -1
        if held[i] >= 0:
            pin[i] = side[i]
            count += 1
            mine += 1 - side[i]
    giver, surplus = 0, mine - left
    if surplus <= 0:
        giver, surplus = 1, count - mine - (nlabels - left)
    for _ in range(surplus):
        nearest = -1
        most = np.int64(0)
        for i in range(n):
            if pin[i] != giver:
                continue
            gain = np.int64(0)
            for e in range(arena.xadj[i], arena.xadj[i + 1]):
                gain += arena.ewgt[e] if side[arena.adjncy[e]] != giver else -arena.ewgt[e]
            if nearest < 0 or gain > most:
                nearest, most = i, gain
        pin[nearest] = 1 - giver
    return surplus > 0


@inner
def _split_labels(side, held, labels, left, taken):
    """Share the parts out among the sides: each keeps those of its fixed vertices.

    side : (n,) int32, in
    held : (n,) int32, in                   the part that each vertex stands for, or -1
    labels : (nlabels,) int32, in and out   reordered, those of side 0 first
    left : int                              how many side 0 has
    taken : (nlabels,) int32, scratch       or longer
    """
    nlabels = len(labels)
    count = 0
    back = nlabels
    for i in range(len(side)):
        if held[i] >= 0 and side[i] == 0:
            taken[count] = held[i]
            count += 1
        elif held[i] >= 0:
            back -= 1
            taken[back] = held[i]
    mine, yours = count, back
    for j in range(nlabels):
        label = labels[j]
        free = True
        for i in range(nlabels):
            if (i < mine or i >= yours) and taken[i] == label:
                free = False
                break
        if free:
            # free parts keep their order: first the left side is filled, then the right one
            if count < left:
                taken[count] = label
                count += 1
            else:
                back -= 1
                taken[back] = label
    for j in range(nlabels):
        labels[j] = taken[j]


@inner
def order_by_side(side, vertices, back):
    """Put the vertices of side 0 first, each side in its order; returns how many those are.

    side : (n,) int32, in           or longer
    vertices : (n,) int32, in and out
    back : (n,) int32, scratch      or longer
    """
    zeros = 0
    ones = 0
    for i in range(len(vertices)):
        if side[i] == 0:
            vertices[zeros] = vertices[i]
            zeros += 1
        else:
            back[ones] = vertices[i]
            ones += 1
    for i in range(ones):
        vertices[zeros + i] = back[i]
    return zeros


@inner
def split(g, limit, vertices, labels, salt, starts, grid, arena):
    """Bisect the subgraph of `vertices` for the parts `labels`; both are reordered, side 0 first.

    g : Level, in                   its `fixed`, if any, tells the part that a vertex stands for
    limit : (nparts,) int64, in
    vertices : (n,) int32, in and out
    labels : (nlabels,) int32, in and out
    salt : int
    starts : int                    as for `bisect`
    grid : bool                     as for `bisect`
    arena : Arena, scratch
    Returns how many vertices and how many labels are on side 0.
    """
    n = len(vertices)
    left = len(labels) // 2
    weight = load_subgraph(g, vertices, arena)
    wanted = arena.load[2]
    _side_limits(weight, limit, labels, left, wanted)
    mixed = salt * 8191 + np.int64(labels[0]) * 64 + len(labels)
    for i in range(min(n, len(arena.pin))):
        arena.pin[i] = -1
    bisect(arena, n, wanted, mixed, starts, grid)
    side, held = arena.side[:n], arena.match[:n]
    for i in range(n):
        held[i] = -1
        if len(g.fixed) > 0:
            held[i] = g.fixed[vertices[i]]
    if len(g.fixed) > 0 and _pin_sides(side, held, left, len(labels), arena):
        bisect(arena, n, wanted, mixed, starts, grid)
        for i in range(n):
            held[i] = g.fixed[vertices[i]]
    _split_labels(side, held, labels, left, arena.labels)
    zeros = order_by_side(side, vertices, arena.following)
    return zeros, left


@kernel
def bisect_recursively(g, limit, vertices, labels, salt, starts, grid, once, part, arena):
    """Share `vertices` out among the parts `labels`, by halving again and again.

    Returns how many vertices and labels are on side 0 of the whole set where it is halved once, else zeros.

    g : Level, in                           its `fixed`, if any, tells the part that a vertex stands for
    limit : (nparts,) int64, in
    vertices : (n,) int32, in and out       reordered
    labels : (nlabels,) int32, in and out   reordered
    salt : int
    starts : int                            as for `bisect`
    grid : bool                             as for `bisect`
    once : bool                             halve the whole set alone; no parts are written
    part : (nvtxs,) int32, out              written for `vertices` only
    arena : Arena, scratch
    """
    stack = arena.stack
    stack[0, 0], stack[0, 1], stack[0, 2], stack[0, 3] = 0, len(vertices), 0, len(labels)
    top = 1
    while top > 0:
        top -= 1
        lo, hi, first, last = stack[top, 0], stack[top, 1], stack[top, 2], stack[top, 3]
        if not once and (last - first == 1 or hi - lo < 2):
            for i in range(lo, hi):
                v = vertices[i]
                # a lone vertex may stand for any of several labels
                part[v] = g.fixed[v] if len(g.fixed) > 0 and g.fixed[v] >= 0 else labels[first]
            continue
        middle, left = split(g, limit, vertices[lo:hi], labels[first:last], salt, starts, grid, arena)
        if once:
            return middle, left
        stack[top, 1], stack[top, 3] = lo + middle, first + left
        stack[top + 1, 0], stack[top + 1, 1] = lo + middle, hi
        stack[top + 1, 2], stack[top + 1, 3] = first + left, last
        top += 2
    return 0, 0
