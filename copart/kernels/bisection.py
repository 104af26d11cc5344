"""Multilevel bisection of a small graph, compiled as a whole.

The graph is coarsened by matching, cut in two on a tiny graph (KGGGP with two parts, best of several tries), and
refined by FM on the way back; :mod:`copart.kernels.recursive_bisection` halves a set of parts so again and again.
All graphs live in one `Arena`, so nothing is allocated.

Limits are loosened on coarse levels.  A flat wall through a grid lies between two layers of vertices, and on a graph of
80 a layer is a fifth of the weight: under tight limits walls get steps there, which no refinement of finer levels
removes, since a step moved costs as much as before.  A flat wall in the wrong place, though, is shifted there layer by
layer (cut of a 70^3 grid in two parts: 4900 against 5364).
"""

from typing import Any, NamedTuple

import numpy as np

from . import Level, Pull, inlined, inner
from .coarsening import HEAVIEST, absorb_singles, lead_pairs, list_singles, match_in_order, pair_two_hop
from .contraction import Members, contract_rows, contract_vertices, link_members, number_clusters
from .fm import excess_of, two_way_pass
from .growing import grow, spread_seeds
from .rng import mix

TRIES, LEVELS = 6, 40
"""Growths tried on the coarsest level, levels at most."""

CARRIED = 640
"""All tries are refined up to the finest level of at most so many vertices, where the best of them is clear: on a graph
of 80 a layer less or more hides which it is.  1 to 7 % less cut of hexahedra, .3 % of others, for 2 to 10 % more time.
"""

LAYERS = 0.5
"""What a side may weigh above its limit on a coarse level, in layers of a cube of as many vertices."""

STALL = 0.5
"""Moves beyond the best after which a pass of FM ends on larger graphs, in such layers."""


class Arena(NamedTuple):
    """Memory of one bisection: its levels one after the other, and scratch.

    For a graph of n vertices and m adjacency entries, whose levels have `rows` offsets and `entries` entries in all:

    xadj, vwgt : (rows,) int64, adjncy : (entries,) int32, ewgt : (entries,) integer, the levels
    cmap : (rows,) int32, the maps between them
    pin : (rows,) int32, the side that each vertex of them has to be on, or -1; empty where all are free
    new : (nvtxs,) int32, number of each vertex of the whole graph in a subgraph
    side : (n + 1,) int32, side of each vertex of the present level
    tried : (n + 1,) int32, the same of one try, or of the coarser level; waiting list of two-hop matching
    match : (n + 1,) int32, partner of each vertex, or the part it stands for; scratch
    leader : (n + 1,) int32, leader of the cluster of each vertex; scratch
    following : (n + 1,) int32, next member of the same cluster after each vertex; scratch
    cwgt : (n + 1,) int64, weight of each cluster, by leader
    first : (n + 1,) int32, first member of each cluster
    mark : (n + 1,) int64, scratch of contraction
    gains : (2 n,) int64, scratch of KGGGP
    at : (3, LEVELS) int64, of each level: first offset, number of vertices, first entry
    load : (3, 2) int64, of each side: weight, number of vertices, largest weight
    labels : (nlabels,) int32, scratch to share out the parts
    stack : (64 + 2 nlabels, 4) int64, the sets of vertices and labels still to be split
    queues : Queues of n + 1 vertices, one per side
    frontier : Frontier of m pairs, the memory of KGGGP
    least : int, vertices at which coarsening stops
    passes : int, passes of FM per level, at most
    seen : (TRIES, 2) int64, scratch: excess and cut of each growth on the coarsest level
    """

    xadj: Any
    vwgt: Any
    adjncy: Any
    ewgt: Any
    cmap: Any
    pin: Any
    new: Any
    side: Any
    tried: Any
    match: Any
    leader: Any
    following: Any
    cwgt: Any
    first: Any
    mark: Any
    gains: Any
    at: Any
    load: Any
    labels: Any
    stack: Any
    queues: Any
    frontier: Any
    least: Any
    passes: Any
    seen: Any


@inner
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
    pwgt, population, state = arena.load[0], arena.load[1], arena.queues.state
    for s in range(2):
        pwgt[s] = 0
        population[s] = 0
    for v in range(n):
        pwgt[side[v]] += g.vwgt[v]
        population[side[v]] += 1
    for v in range(len(g.fixed)):
        state[v] = g.fixed[v] >= 0
    least, stall = 1, min(max(50, n // 10), 50 + np.int64(STALL * float(n) ** (2.0 / 3.0)))
    if len(bias) > 0:
        least, stall = 0, max(30, n // 10)
    cost = np.int64(0)
    over = np.int64(0)
    for turn in range(arena.passes):
        before = excess_of(pwgt, limit)
        known = turn > 0 and len(bias) == 0
        won, over, cost = two_way_pass(g, bias, side, pwgt, population, least, limit, stall, known, arena.queues)
        cost -= won
        if won <= 0 and over >= before:
            break
    for v in range(len(g.fixed)):
        state[v] = 0
    return over, cost


@inlined
def level_at(arena, x, n, a):
    """The level of n vertices whose xadj and vwgt start at x and whose rows start at a of the arena.

    arena : Arena, in
    x, n, a : int
    Returns a Level, with weights of edges; what is pinned to a side is fixed.
    """
    m = arena.xadj[x + n]
    return Level(
        xadj=arena.xadj[x : x + n + 1],
        adjncy=arena.adjncy[a : a + m],
        ewgt=arena.ewgt[a : a + m],
        vwgt=arena.vwgt[x : x + n],
        fixed=arena.pin[x : x + n],
        origin=arena.cmap[:0],
        size=arena.vwgt[:0],
    )


@inner
def shrink(arena, x, n, a, heaviest, hubs, grid):
    """Coarsen the level at (x, a) into the next place of the arena; returns how many vertices are left, 0 if stuck.

    arena : Arena, in and out
    x, n, a : int                   first offset, number of vertices and first entry of the level
    heaviest : int                  most that a coarse vertex may weigh
    hubs : bool                     no pairs: every vertex joins the cluster it is tied to most
    grid : bool                     as for `bisect`
    """
    g = level_at(arena, x, n, a)
    match, leader, cwgt = arena.match[:n], arena.leader[:n], arena.cwgt[:n]
    for v in range(n):
        match[v] = -1
    if not hubs:
        match_in_order(0, n, n, g, heaviest, match)
    lead_pairs(0, n, g, match, leader, cwgt)
    single = list_singles(0, n, match, arena.tried)
    single = absorb_singles(0, n, arena.tried[:single], g, match, heaviest, leader, cwgt)
    if single > n // 8:
        waiting = arena.tried[: n + 1]  # nothing is tried yet
        for v in range(n + 1):
            waiting[v] = -1
        pair_two_hop(g, match, heaviest, leader, cwgt, waiting)
    cmap = arena.cmap[x : x + n]
    count = number_clusters(leader, cmap)
    m = arena.xadj[x + n]
    to, at = x + n + 1, a + m
    if count * 10 > n * 9 or to + count + 1 > len(arena.xadj) or at + m > len(arena.adjncy):
        return 0
    members = Members(arena.first[:count], arena.following[:n])
    link_members(cmap, members)
    vwgt = arena.vwgt[to : to + count]
    pin = arena.pin[to : to + count]
    most, _ = contract_vertices(0, count, g, members, vwgt, pin, arena.cmap[:0], arena.vwgt[:0])
    xadj = arena.xadj[to : to + count + 1]
    xadj[0] = 0
    contract_rows(0, count, np.int64(0), g, cmap, members, grid, xadj[1:], arena.adjncy[at:], arena.ewgt[at:], most,
                  arena.mark)
    return count


@inner
def coarsen(arena, bias, n, hubs, grid):
    """Coarsen the first level of the arena, of n vertices; returns the number of the coarsest level.

    arena : Arena, in and out
    bias : (rows,) int64, in and out    biases of the first level, to be summed up for the others; empty for none
    n : int
    hubs, grid : bool               as for `shrink`
    """
    at = arena.at
    heaviest = np.int64(1)
    total = np.int64(0)
    for v in range(n):
        heaviest = max(heaviest, arena.vwgt[v])
        total += arena.vwgt[v]
    heaviest = max(heaviest, np.int64(HEAVIEST * float(total) / arena.least))
    at[0, 0], at[1, 0], at[2, 0] = 0, n, 0
    depth, x, a = np.int64(0), np.int64(0), np.int64(0)
    while n > arena.least and depth + 1 < LEVELS:
        count = shrink(arena, x, n, a, heaviest, hubs, grid)
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


@inner
def loosened(arena, depth):
    """What limits are loosened by on a level of a bisection with biases: the heaviest vertex; nothing on the first.

    arena : Arena, in
    depth : int                         number of the level
    """
    most = np.int64(0)
    if depth > 0:
        x, n = arena.at[0, depth], arena.at[1, depth]
        for v in range(x, x + n):
            most = max(most, arena.vwgt[v])
    return most


@inlined
def layer_room(depth, n, weight):
    """What limits are loosened by on a level of a bisection without biases; nothing on the first.

    depth : int                         number of the level
    n : int                             its vertices
    weight : int                        of all of them
    """
    if depth == 0:
        return np.int64(0)
    return np.int64(LAYERS * float(weight) * float(n) ** (-1.0 / 3.0))


@inner
def uncoarsen(arena, bias, depth, last, limit, weight):
    """Carry arena.side from a coarse level back to a finer one, refined on each; returns (excess, cost) there.

    On coarse levels limits are loosened, without biases as `layer_room` says.

    arena : Arena, in and out
    bias : (rows,) int64, in            or empty
    depth, last : int                   numbers of both levels; returns zeros where they are the same
    limit : (2,) int64, in              changed in between
    weight : int                        of all vertices, 0 for limits as they are; not needed with biases
    """
    at = arena.at
    n = at[1, depth]
    over = np.int64(0)
    cost = np.int64(0)
    while depth > last:
        depth -= 1
        coarse = arena.tried
        for v in range(n):
            coarse[v] = arena.side[v]
        x, n, a = at[0, depth], at[1, depth], at[2, depth]
        for v in range(n):
            arena.side[v] = coarse[arena.cmap[x + v]]
        room = loosened(arena, depth) if len(bias) > 0 else layer_room(depth, n, weight)
        limit[0] += room
        limit[1] += room
        over, cost = refine_sides(level_at(arena, x, n, a), bias[x : x + n], arena.side[:n], limit, arena)
        limit[0] -= room
        limit[1] -= room
    return over, cost


@inner
def grow_sides(g, limit, salt, t, arena):
    """Bisect the coarsest level by one growth, refined; writes arena.side[:n] and returns (excess, cut).

    g : Level, in                   of n vertices
    limit : (2,) int64, in
    salt : int
    t : int                         number of the growth: the first `TRIES` are from a pair, others from one vertex
    arena : Arena, in and out
    """
    n = len(g.vwgt)
    side = arena.side[:n]
    if t >= TRIES:
        # FM grows the side of one vertex: the other one gives until it is within its limit
        for v in range(n):
            side[v] = 1 - (t & 1)
        side[mix(t, salt) % n] = t & 1
        for v in range(len(g.fixed)):
            if g.fixed[v] >= 0:
                side[v] = g.fixed[v]
        return refine_sides(g, arena.vwgt[:0], side, limit, arena)
    pwgt, population, gains = arena.load[0], arena.load[1], arena.gains
    none = Pull(ptr=arena.mark[:1], idx=arena.cmap[:0], val=arena.vwgt[:0])
    for s in range(2):
        pwgt[s] = 0
        population[s] = 0
    for v in range(n):
        degree = np.int64(0)
        for e in range(g.xadj[v], g.xadj[v + 1]):
            degree += g.ewgt[e]
        gains[v] = gains[n + v] = -degree
        side[v] = -1
        if len(g.fixed) > 0 and g.fixed[v] >= 0:
            s = g.fixed[v]
            side[v] = s
            pwgt[s] += g.vwgt[v]
            population[s] += 1
    spread_seeds(g, side, pwgt, population, arena.match[:n], arena.leader[:n], salt + t)
    grow(g, none, side, pwgt, limit, salt + t, gains, arena.frontier)
    return refine_sides(g, arena.vwgt[:0], side, limit, arena)


@inner
def _seen_before(seen, t, over, cut):
    """Whether one of the first growths has led to the same figures, most likely the same sides; they are noted.

    seen : (TRIES, 2) int64, in and out
    t : int                         number of the growth
    over, cut : int
    """
    if t < TRIES:
        seen[t, 0], seen[t, 1] = over, cut
    known = False
    for i in range(min(t, TRIES)):
        known = known or (seen[i, 0] == over and seen[i, 1] == cut)
    return known


@inner
def bisect(arena, n, limit, salt, starts, grid):
    """Bisect the first level of the arena, of n vertices; writes arena.side[:n].

    arena : Arena, in and out
    n : int
    limit : (2,) int64, in          changed in between
    salt : int
    starts : int                    sides grown from one vertex, beside those from a pair: above 0 where there are hubs
    grid : bool                     it has layers: on other graphs loose limits lead astray
    """
    unbiased = arena.vwgt[:0]
    weight = np.int64(0)
    if grid:
        for v in range(n):
            weight += arena.vwgt[v]
    at, seen, best = arena.at, arena.seen, arena.following
    depth = coarsen(arena, unbiased, n, starts > 0, grid)
    last = depth
    while last > 0 and at[1, last - 1] <= CARRIED:
        last -= 1
    g = level_at(arena, at[0, depth], at[1, depth], at[2, depth])
    room = layer_room(depth, at[1, depth], weight)
    best_over = np.int64(0)
    best_cut = np.int64(-1)
    for t in range(TRIES + starts):
        limit[0] += room
        limit[1] += room
        over, cut = grow_sides(g, limit, salt, t, arena)
        limit[0] -= room
        limit[1] -= room
        if _seen_before(seen, t, over, cut):
            continue
        if last < depth:
            over, cut = uncoarsen(arena, unbiased, depth, last, limit, weight)
        if best_cut < 0 or over < best_over or (over == best_over and cut < best_cut):
            best_over, best_cut = over, cut
            for v in range(at[1, last]):
                best[v] = arena.side[v]
    for v in range(at[1, last]):
        arena.side[v] = best[v]
    uncoarsen(arena, unbiased, last, np.int64(0), limit, weight)
