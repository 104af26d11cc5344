"""Recursive multilevel bisection of a small graph, compiled as a whole.

One call halves a set of parts again and again: the subgraph of the set is coarsened
by matching, cut in two on a tiny graph (KGGGP with two parts, best of several tries), and
refined by FM on the way back.  All graphs live in one `Arena`, so nothing is allocated.
"""

from typing import Any, NamedTuple

import numpy as np

from . import Level, Pull, inlined, kernel
from .coarsening import (
    absorb_singles,
    contract_rows,
    contract_vertices,
    lead_pairs,
    list_members,
    match_in_order,
    number_clusters,
    pair_two_hop,
)
from .fm import excess_of, two_way_pass
from .growing import grow, spread_seeds

TINY, TRIES, PASSES, LEVELS = 80, 6, 4, 40
"""Vertices at which coarsening stops, growths tried there, FM passes per level, levels at most."""


class Arena(NamedTuple):
    """Memory of one thread: the levels of a bisection one after the other, and scratch.

    For a graph of n vertices and m adjacency entries, whose levels have `rows` offsets and `entries` entries in all:

    xadj, vwgt : (rows,) int64, adjncy : (entries,) int32, ewgt : (entries,) int64, the levels
    cmap : (rows,) int32, the maps between them
    new : (n + 1,) int32, number of each vertex in a subgraph; waiting list of two-hop matching
    side : (n + 1,) int32, side of each vertex of the present level
    tried : (n + 1,) int32, the same of one try, or of the coarser level
    match : (n + 1,) int32, partner of each vertex, or the part it stands for; scratch
    leader : (n + 1,) int32, leader of the cluster of each vertex; scratch
    members : (n + 1,) int32, the vertices by cluster; scratch
    cwgt : (n + 1,) int64, weight of each cluster, by leader
    start : (n + 1,) int64, where the members of each cluster begin
    mark : (n + 1,) int64, scratch of contraction
    at : (3, LEVELS) int64, of each level: first offset, number of vertices, first entry
    load : (3, 2) int64, of each side: weight, number of vertices, largest weight
    labels : (nlabels,) int32, scratch to share out the parts
    stack : (64 + 2 nlabels, 4) int64, the sets of vertices and labels still to be split
    queues : Queues of n vertices, one per side
    frontier : Frontier of m pairs, the memory of KGGGP
    """

    xadj: Any
    vwgt: Any
    adjncy: Any
    ewgt: Any
    cmap: Any
    new: Any
    side: Any
    tried: Any
    match: Any
    leader: Any
    members: Any
    cwgt: Any
    start: Any
    mark: Any
    at: Any
    load: Any
    labels: Any
    stack: Any
    queues: Any
    frontier: Any


@kernel
def refine_sides(g, bias, side, limit, arena):
    """FM passes until one brings nothing; returns (excess, cost), the cost that of `fm.two_way_pass`.

    With biases a side may become empty: it stands for processors, and not for parts that must not be.

    g : Level, in
    bias : (n,) int64, in           or empty
    side : (n,) int32, in and out
    limit : (2,) int64, in
    arena : Arena, in and out       its `load` are those of the sides afterwards
    """
    n = len(g.vwgt)
    pwgt, population = arena.load[0], arena.load[1]
    for s in range(2):
        pwgt[s] = 0
        population[s] = 0
    for v in range(n):
        pwgt[side[v]] += g.vwgt[v]
        population[side[v]] += 1
    least, stall = 1, max(50, n // 10)
    if len(bias) > 0:
        least, stall = 0, max(30, n // 10)
    cost = np.int64(0)
    over = np.int64(0)
    for _ in range(PASSES):
        before = excess_of(pwgt, limit)
        won, over, cost = two_way_pass(g, bias, side, pwgt, population, least, limit, stall, arena.queues)
        cost -= won
        if won <= 0 and over >= before:
            break
    return over, cost


@inlined
def level_at(arena, x, n, a):
    """The level of n vertices whose xadj and vwgt start at x and whose rows start at a of the arena.

    arena : Arena, in
    x, n, a : int
    Returns a Level, with weights of edges; nothing fixed.
    """
    none = arena.cmap[:0]
    m = arena.xadj[x + n]
    return Level(
        xadj=arena.xadj[x : x + n + 1],
        adjncy=arena.adjncy[a : a + m],
        ewgt=arena.ewgt[a : a + m],
        vwgt=arena.vwgt[x : x + n],
        fixed=none,
        origin=none,
        size=arena.ewgt[:0],
    )


@kernel
def shrink(arena, x, n, a, heaviest):
    """Coarsen the level at (x, a) into the next place of the arena; returns how many vertices are left, 0 if stuck.

    arena : Arena, in and out
    x, n, a : int                   first offset, number of vertices and first entry of the level
    heaviest : int                  most that a coarse vertex may weigh
    """
    g = level_at(arena, x, n, a)
    match, leader, cwgt = arena.match[:n], arena.leader[:n], arena.cwgt[:n]
    for v in range(n):
        match[v] = -1
    matched = match_in_order(0, n, g, heaviest, match)
    lead_pairs(0, n, g, match, leader, cwgt)
    matched += absorb_singles(g, match, heaviest, leader, cwgt)
    if n - matched > n // 8:
        waiting = arena.new[: n + 1]
        for v in range(n + 1):
            waiting[v] = -1
        pair_two_hop(g, match, heaviest, leader, cwgt, waiting)
    cmap = arena.cmap[x : x + n]
    count = number_clusters(leader, cmap)
    m = arena.xadj[x + n]
    to, at = x + n + 1, a + m
    if count * 10 > n * 9 or to + count + 1 > len(arena.xadj) or at + m > len(arena.adjncy):
        return 0
    start, members = arena.start[: count + 1], arena.members[:n]
    list_members(cmap, start, members)
    none = arena.cmap[:0]
    vwgt = arena.vwgt[to : to + count]
    contract_vertices(0, count, g, start, members, arena.mark, vwgt, none, none, arena.ewgt[:0])
    # the lengths of the rows go where the offsets will be
    xadj = arena.xadj[to : to + count + 1]
    xadj[0] = 0
    contract_rows(0, count, g, cmap, start, members, xadj, xadj[1:], arena.adjncy[at:], arena.ewgt[at:],
                  arena.mark[:count])
    for c in range(count):
        xadj[c + 1] += xadj[c]
    return count


@kernel
def coarsen(arena, bias, n):
    """Coarsen the first level of the arena, of n vertices; returns the number of the coarsest level.

    arena : Arena, in and out
    bias : (rows,) int64, in and out    biases of the first level, to be summed up for the others; empty for none
    n : int
    """
    at = arena.at
    heaviest = np.int64(1)
    total = np.int64(0)
    for v in range(n):
        heaviest = max(heaviest, arena.vwgt[v])
        total += arena.vwgt[v]
    heaviest = max(heaviest, np.int64(1.5 * float(total) / TINY))
    # not literals, for which all that is called would be compiled once more
    x, a, depth = np.int64(0), np.int64(0), 0
    at[0, 0], at[1, 0], at[2, 0] = x, n, a
    while n > TINY and depth + 1 < LEVELS:
        count = shrink(arena, x, n, a, heaviest)
        if count == 0:
            break
        to = x + n + 1
        if len(bias) > 0:
            for c in range(count):
                bias[to + c] = 0
            for v in range(n):
                bias[to + arena.cmap[x + v]] += bias[x + v]
        depth += 1
        a += arena.xadj[x + n]
        x, n = to, count
        at[0, depth], at[1, depth], at[2, depth] = x, n, a
    return depth


@kernel
def uncoarsen(arena, bias, depth, limit):
    """Carry arena.side from the coarsest level back to the first, refined on each.

    arena : Arena, in and out
    bias : (rows,) int64, in            or empty
    depth : int                         number of the coarsest level
    limit : (2,) int64, in
    """
    at = arena.at
    n = at[1, depth]
    while depth > 0:
        depth -= 1
        coarse = arena.tried
        for v in range(n):
            coarse[v] = arena.side[v]
        x, n, a = at[0, depth], at[1, depth], at[2, depth]
        for v in range(n):
            arena.side[v] = coarse[arena.cmap[x + v]]
        refine_sides(level_at(arena, x, n, a), bias[x : x + n], arena.side[:n], limit, arena)


@kernel
def bisect(arena, n, limit, salt):
    """Bisect the first level of the arena, of n vertices; writes arena.side[:n].

    arena : Arena, in and out
    n : int
    limit : (2,) int64, in
    salt : int
    """
    unbiased = arena.ewgt[:0]
    at, pwgt, population = arena.at, arena.load[0], arena.load[1]
    depth = coarsen(arena, unbiased, n)
    x, n, a = at[0, depth], at[1, depth], at[2, depth]
    g = level_at(arena, x, n, a)
    none = Pull(ptr=arena.start[:1], idx=arena.cmap[:0], val=arena.ewgt[:0])
    best_over = np.int64(0)
    best_cut = np.int64(-1)
    for t in range(TRIES):
        side = arena.tried[:n]
        for v in range(n):
            side[v] = -1
        for s in range(2):
            pwgt[s] = 0
            population[s] = 0
        spread_seeds(g, side, pwgt, population, arena.match[:n], arena.leader[:n], salt + t)
        grow(g, none, side, pwgt, limit, salt + t, arena.frontier)
        over, cut = refine_sides(g, unbiased, side, limit, arena)
        if best_cut < 0 or over < best_over or (over == best_over and cut < best_cut):
            best_over, best_cut = over, cut
            for v in range(n):
                arena.side[v] = side[v]
    uncoarsen(arena, unbiased, depth, limit)


@kernel
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


@kernel
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


@kernel
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


@kernel
def _split_labels(side, held, labels, left, taken):
    """Share the parts out among the sides: each keeps those of its fixed vertices; returns how many side 0 has.

    side : (n,) int32, in and out           one fixed vertex changes sides where a side would be left without a part
    held : (n,) int32, in                   the part that each vertex stands for, or -1
    labels : (nlabels,) int32, in and out   reordered, those of side 0 first
    left : int                              how many side 0 has if fixed vertices allow it
    taken : (nlabels,) int32, scratch       or longer
    """
    n = len(side)
    nlabels = len(labels)
    mine = 0
    yours = 0
    last = -1
    for i in range(n):
        if held[i] >= 0:
            last = i
            if side[i] == 0:
                mine += 1
            else:
                yours += 1
    if last >= 0 and (mine == nlabels or yours == nlabels):
        # all parts are fixed and on one side: one of them has to go
        if mine == nlabels:
            mine, yours = mine - 1, 1
        else:
            mine, yours = 1, yours - 1
        side[last] = 1 - side[last]
    # each side needs as many parts as it holds fixed ones, and at least one
    left = min(max(left, mine, 1), nlabels - max(yours, 1))
    count = 0
    for i in range(n):
        if held[i] >= 0 and side[i] == 0:
            taken[count] = held[i]
            count += 1
    back = nlabels
    for i in range(n):
        if held[i] >= 0 and side[i] == 1:
            back -= 1
            taken[back] = held[i]
    for j in range(nlabels):
        label = labels[j]
        free = True
        if last >= 0:
            for i in range(nlabels):
                if (i < count or i >= back) and taken[i] == label:
                    free = False
                    break
        if free:
            # free parts keep their order: first the left side is filled, then the right one
            labels[j] = -1 - label
    for j in range(nlabels):
        if labels[j] < 0:
            label = -1 - labels[j]
            if count < left:
                taken[count] = label
                count += 1
            else:
                back -= 1
                taken[back] = label
    for j in range(nlabels):
        labels[j] = taken[j]
    return left


@kernel
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


@kernel
def split(g, limit, vertices, labels, salt, arena):
    """Bisect the subgraph of `vertices` for the parts `labels`; both are reordered, side 0 first.

    g : Level, in                   its `fixed`, if any, tells the part that a vertex stands for
    limit : (nparts,) int64, in
    vertices : (n,) int32, in and out
    labels : (nlabels,) int32, in and out
    salt : int
    arena : Arena, scratch
    Returns how many vertices and how many labels are on side 0.
    """
    n = len(vertices)
    left = len(labels) // 2
    weight = load_subgraph(g, vertices, arena)
    wanted = arena.load[2]
    _side_limits(weight, limit, labels, left, wanted)
    bisect(arena, n, wanted, salt * 8191 + np.int64(labels[0]) * 64 + len(labels))
    side, held = arena.side[:n], arena.match[:n]
    for i in range(n):
        held[i] = -1
        if len(g.fixed) > 0:
            held[i] = g.fixed[vertices[i]]
    left = _split_labels(side, held, labels, left, arena.labels)
    zeros = order_by_side(side, vertices, arena.members)
    return zeros, left


@kernel
def bisect_recursively(g, limit, vertices, labels, salt, part, arena):
    """Share `vertices` out among the parts `labels`, by halving again and again.

    g : Level, in                           its `fixed`, if any, tells the part that a vertex stands for
    limit : (nparts,) int64, in
    vertices : (n,) int32, in and out       reordered
    labels : (nlabels,) int32, in and out   reordered
    salt : int
    part : (nvtxs,) int32, out              written for `vertices` only
    arena : Arena, scratch
    """
    stack = arena.stack
    stack[0, 0], stack[0, 1], stack[0, 2], stack[0, 3] = 0, len(vertices), 0, len(labels)
    top = 1
    while top > 0:
        top -= 1
        lo, hi, first, last = stack[top, 0], stack[top, 1], stack[top, 2], stack[top, 3]
        if last - first == 1 or hi - lo < 2:
            for i in range(lo, hi):
                v = vertices[i]
                # a lone vertex may stand for any of several labels
                part[v] = g.fixed[v] if len(g.fixed) > 0 and g.fixed[v] >= 0 else labels[first]
            continue
        middle, left = split(g, limit, vertices[lo:hi], labels[first:last], salt, arena)
        stack[top, 1], stack[top, 3] = lo + middle, first + left
        stack[top + 1, 0], stack[top + 1, 1] = lo + middle, hi
        stack[top + 1, 2], stack[top + 1, 3] = first + left, last
        top += 2
