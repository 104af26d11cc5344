"""Recursive multilevel bisection of a small graph, compiled as a whole.

One call halves a set of parts again and again: the subgraph of the set is coarsened
by matching, cut in two on a tiny graph (KGGGP with two parts, best of several tries), and
refined by FM on the way back.  All graphs live in one `Arena`, so nothing is allocated.
"""

from typing import Any, NamedTuple

import numpy as np

from . import Level, Pull, allocating, kernel
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
from .fm import two_way_pass
from .growing import grow, spread_seeds

TINY, TRIES, PASSES, LEVELS = 80, 6, 4, 40
"""Vertices at which coarsening stops, growths tried there, FM passes a level, levels at most."""


class Arena(NamedTuple):
    """Memory of one thread: the levels of a bisection one after the other, and scratch.

    For a graph of n vertices and m adjacency entries: xadj, vwgt (4 n + LEVELS,) int64, adjncy (4 m,) int32 and
    ewgt (4 m,) int64 hold the levels, cmap (4 n,) int32 the maps between them; new, side, tried, match, leader,
    members, state uint8 (n,) and cwgt, key, start, mark (n + 1,) are scratch; heap, log (2, n) int32; pos (n,) int32,
    -1 everywhere between calls; state (n,) uint8, 0 everywhere between calls; gain, tie int64 and who, where int32
    (m + n + 1,) are the heap of KGGGP.
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
    key: Any
    start: Any
    mark: Any
    heap: Any
    log: Any
    pos: Any
    state: Any
    gain: Any
    tie: Any
    who: Any
    where: Any


@allocating
def fm_two(g, side, pwgt, limit, arena):
    """FM passes until one brings nothing; returns (excess, cut)."""
    n = len(g.vwgt)
    population, size = np.zeros(2, np.int64), np.zeros(2, np.int64)
    pwgt[0] = 0
    pwgt[1] = 0
    for v in range(n):
        pwgt[side[v]] += g.vwgt[v]
        population[side[v]] += 1
    cut = np.int64(0)
    over = np.int64(0)
    for _ in range(PASSES):
        before = max(pwgt[0] - limit[0], 0) + max(pwgt[1] - limit[1], 0)
        won, over, cut = two_way_pass(
            g, side, pwgt, population, limit, max(50, n // 10), arena.key, arena.heap, size, arena.pos, arena.state,
            arena.log,
        )
        cut -= won
        if won <= 0 and over >= before:
            break
    return over, cut


@allocating
def level_at(arena, x, n, a):
    """The level of n vertices whose xadj and vwgt start at x and whose rows start at a of the arena."""
    none = arena.cmap[:0]
    m = arena.xadj[x + n]
    return Level(
        arena.xadj[x : x + n + 1],
        arena.adjncy[a : a + m],
        arena.ewgt[a : a + m],
        arena.vwgt[x : x + n],
        none,
        none,
        arena.ewgt[:0],
    )


@allocating
def shrink(arena, x, n, a, heaviest):
    """Coarsen the level at (x, a) into the next place of the arena; returns how many vertices are left, 0 if stuck."""
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
    contract_rows(
        0,
        count,
        g,
        cmap,
        start,
        members,
        np.zeros(1, np.int64),
        xadj[1:],
        arena.adjncy[at:],
        arena.ewgt[at:],
        arena.mark[:count],
    )
    xadj[0] = 0
    for c in range(count):
        xadj[c + 1] += xadj[c]
    return count


@allocating
def bisect(arena, n, limit, salt):
    """Bisect the first level of the arena, of n vertices; writes arena.side[:n]."""
    x, a, depth = 0, 0, 0
    at = np.zeros((3, LEVELS), np.int64)
    at[1, 0] = n
    pwgt = np.zeros(2, np.int64)
    heaviest = np.int64(1)
    total = np.int64(0)
    for v in range(n):
        heaviest = max(heaviest, arena.vwgt[v])
        total += arena.vwgt[v]
    heaviest = max(heaviest, np.int64(1.5 * float(total) / TINY))
    while n > TINY and depth + 1 < LEVELS:
        count = shrink(arena, x, n, a, heaviest)
        if count == 0:
            break
        depth += 1
        a += arena.xadj[x + n]
        x += n + 1
        n = count
        at[0, depth], at[1, depth], at[2, depth] = x, n, a
    g = level_at(arena, x, n, a)
    none = Pull(arena.start[:1], arena.cmap[:0], arena.ewgt[:0])
    population = np.zeros(2, np.int64)
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
        grow(g, none, side, pwgt, limit, salt + t, arena.gain, arena.tie, arena.who, arena.where)
        over, cut = fm_two(g, side, pwgt, limit, arena)
        if best_cut < 0 or over < best_over or (over == best_over and cut < best_cut):
            best_over, best_cut = over, cut
            arena.side[:n] = side
    while depth > 0:
        depth -= 1
        coarse = arena.tried[:n]
        coarse[:] = arena.side[:n]
        x, n, a = at[0, depth], at[1, depth], at[2, depth]
        for v in range(n):
            arena.side[v] = coarse[arena.cmap[x + v]]
        fm_two(level_at(arena, x, n, a), arena.side[:n], pwgt, limit, arena)


@kernel
def _side_limits(weight, limit, labels, left, wanted):
    """Limits of the two sides: the slack left, spread evenly over the splits still to come."""
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
def load_subgraph(g, vertices, arena):
    """The subgraph of `vertices` as the first level of the arena."""
    n = len(vertices)
    unit = len(g.ewgt) == 0
    for i in range(n):
        arena.new[vertices[i]] = i
    m = 0
    arena.xadj[0] = 0
    for i in range(n):
        v = vertices[i]
        arena.vwgt[i] = g.vwgt[v]
        for e in range(g.xadj[v], g.xadj[v + 1]):
            j = arena.new[g.adjncy[e]]
            # entries of `new` are left from earlier calls: only those that point back count
            if 0 <= j < n and vertices[j] == g.adjncy[e]:
                arena.adjncy[m] = j
                if unit:
                    arena.ewgt[m] = 1
                else:
                    arena.ewgt[m] = g.ewgt[e]
                m += 1
        arena.xadj[i + 1] = m


@kernel
def _split_labels(side, held, labels, left, taken):
    """Share the parts out among the sides: each keeps those of its fixed vertices.

    `held` (n,) int32 is the part that a vertex stands for, or -1.  Reorders `labels`, those of side 0 first, and
    returns how many.  taken (nlabels,) int32 is scratch.
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


@allocating
def split(g, limit, vertices, labels, salt, arena):
    """Bisect the subgraph of `vertices` for the parts `labels`; both are reordered, side 0 first.

    g.fixed, if any, tells the part that a vertex stands for.  Returns how many vertices and how many
    labels are on side 0.
    """
    n = len(vertices)
    left = len(labels) // 2
    load_subgraph(g, vertices, arena)
    weight = np.int64(0)
    for i in range(n):
        weight += g.vwgt[vertices[i]]
    wanted = np.zeros(2, np.int64)
    _side_limits(weight, limit, labels, left, wanted)
    bisect(arena, n, wanted, salt * 8191 + np.int64(labels[0]) * 64 + len(labels))
    side, held = arena.side[:n], arena.match[:n]
    for i in range(n):
        held[i] = -1
        if len(g.fixed) > 0:
            held[i] = g.fixed[vertices[i]]
    # more parts than vertices where fixed vertices hold most of the weight: no row of the arena is sure to do
    left = _split_labels(side, held, labels, left, np.empty(len(labels), np.int32))
    # a stable partition of the vertices
    zeros = 0
    ones = 0
    for i in range(n):
        if side[i] == 0:
            vertices[zeros] = vertices[i]
            zeros += 1
        else:
            arena.members[ones] = vertices[i]
            ones += 1
    vertices[zeros:] = arena.members[:ones]
    return zeros, left


@allocating
def bisect_recursively(g, limit, vertices, labels, salt, part, arena):
    """Share `vertices` out among the parts `labels`, by halving again and again; writes part[vertices]."""
    stack = np.zeros((64 + 2 * len(labels), 4), np.int64)
    stack[0, 1], stack[0, 3] = len(vertices), len(labels)
    top = 1
    while top > 0:
        top -= 1
        lo, hi, first, last = stack[top]
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
