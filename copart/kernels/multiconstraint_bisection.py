"""Recursive bisection of a small graph under several balance constraints, compiled as a whole.

Each bisection is grown from a seed and refined by FM with one queue per side and dominant constraint: where a side
holds too much of a constraint, the vertices give way that weigh most in it (Karypis & Kumar 1998, Section 4).
The growth itself is such a pass, from a side 0 that holds its seed only.
"""

from typing import Any, NamedTuple

import numpy as np

from . import Level, allocating, inlined, inner, kernel
from .fm import clear, delist, enlist, renew, row_of, ties
from .multiconstraint import LOCKED, PINNED, Loads, relief, shift, total_excess
from .recursive_bisection import load_rows, order_by_side
from .rng import mix

PASSES = 5
"""FM passes per bisection, the growth included, at most."""


class Arena(NamedTuple):
    """Memory of one thread for bisections of a graph of n vertices, m adjacency entries and ncon constraints.

    xadj : (n + 1,) int64, adjncy : (m,) int32, ewgt : (m,) integer, vwgts : (n, ncon) int64, a subgraph
    new : (n,) int32, number of each vertex in the last subgraph that held it
    side : (n,) int32, side of each vertex of the subgraph
    best : (n,) int32, the same of the best try
    other : (n,) int32, scratch
    queues : Queues of n vertices, ncon per side
    """

    xadj: Any
    adjncy: Any
    ewgt: Any
    vwgts: Any
    new: Any
    side: Any
    best: Any
    other: Any
    queues: Any


@inlined
def fullest(loads):
    """The queue of the side and constraint with the largest excess, -1 where there is none.

    loads : Loads, in
    """
    ncon = loads.limits.shape[1]
    worst = -1
    most = np.int64(0)
    for q in range(2 * ncon):
        s, c = q // ncon, q % ncon
        beyond = (loads.pwgts[s, c] - loads.limits[s, c]) * loads.scale[c]
        if beyond > most:
            worst, most = q, beyond
    return worst


@inlined
def choose_queue(loads, least, worst, over, last, queues):
    """The queue whose first vertex moves next, -1 where none may: `worst` if it can, else the one of largest gain.

    Vertices that would raise the excess leave their queues; while there is any, only those that lower it may move.
    Ties go to the other side than the last move's.

    loads : Loads, in
    least : (2,) int64, in
    worst : int                     queue of the largest excess, or -1
    over : int                      excess
    last : int                      side of the last move
    queues : Queues, in and out
    """
    ncon = loads.limits.shape[1]
    chosen = -1
    for q in range(2 * ncon):
        s = q // ncon
        if loads.population[s] <= least[s] or (worst >= 0 and s != worst // ncon):
            continue
        while queues.size[q] > 0:
            v = queues.heap[q, 0]
            ease = relief(loads, v, s, 1 - s)
            if ease > 0 or (ease == 0 and over == 0):
                break
            delist(queues, q, v)
        if queues.size[q] == 0:
            continue
        if chosen < 0 or (chosen != worst and q == worst):
            chosen = q
        elif chosen != worst:
            a, b = queues.key[queues.heap[q, 0]], queues.key[queues.heap[chosen, 0]]
            if a > b or (a == b and s != last and chosen // ncon == last):
                chosen = q
    return chosen


@inner
def constrained_pass(g, loads, side, least, everywhere, stall, queues):
    """One pass of FM with two sides; returns (decrease of the cut kept, excess left, cut before).

    Every vertex moves at most once; the pass ends after `stall` moves beyond the best prefix, by excess and then by
    cut, to which it rolls back.  (See :mod:`copart.kernels.fm` on what it shares with the pass of one constraint.)

    g : Level, in
    loads : Loads, in and out       of the two sides
    side : (n,) int32, in and out
    least : (2,) int64, in          vertices that must stay on each side
    everywhere : bool               list all vertices from the start, else those at the border
    stall : int
    queues : Queues, in and out     clean before and after
    """
    ncon = loads.limits.shape[1]
    queues.size[:] = 0
    cut = np.int64(0)
    for v in range(len(side)):
        inside, out, _ = ties(g, side, v)
        queues.key[v] = out - inside
        cut += out
        if queues.state[v] == 0 and (out > 0 or everywhere):
            enlist(queues, row_of(queues, side[v], v), v)
    total = np.int64(0)
    best = np.int64(0)
    over = total_excess(loads)
    best_over = over
    kept = 0
    moves = 0
    last = 0
    while True:
        worst = -1
        if over > 0:
            worst = fullest(loads)
        chosen = choose_queue(loads, least, worst, over, last, queues)
        if chosen < 0:
            break
        v = queues.heap[chosen, 0]
        delist(queues, chosen, v)
        last = chosen // ncon
        over -= relief(loads, v, last, 1 - last)
        shift(loads, side, v, 1 - last)
        total += queues.key[v]
        queues.state[v] = LOCKED
        queues.log[moves] = v
        moves += 1
        if over < best_over or (over == best_over and total > best):
            best_over, best, kept = over, total, moves
        elif moves - kept > stall:
            break
        renew(g, side, v, 1, queues)
    for i in range(moves - 1, kept - 1, -1):
        v = queues.log[i]
        shift(loads, side, v, 1 - side[v])
    clear(queues, moves)
    return best, best_over, cut // 2


@inner
def _grow_and_refine(g, loads, side, least, seed, arena):
    """A bisection grown from the vertex `seed` and the vertices pinned to side 0; returns (excess, cut).

    g : Level, in
    loads : Loads, in and out       of the two sides; pwgts and population are filled
    side : (n,) int32, in and out   that of pinned vertices stays, the others are written
    least : (2,) int64, in          vertices that must stay on each side
    seed : int
    arena : Arena, in and out       only its queues, clean before and after; their `state` tells what is pinned
    """
    n = len(side)
    loads.pwgts[:] = 0
    loads.population[:] = 0
    for v in range(n):
        if arena.queues.state[v] != PINNED:
            side[v] = 0 if v == seed else 1
        s = side[v]
        loads.population[s] += 1
        for c in range(loads.limits.shape[1]):
            loads.pwgts[s, c] += loads.vwgts[v, c]
    over = total_excess(loads)
    cut = np.int64(0)
    for i in range(PASSES):
        before = over
        won, over, cut = constrained_pass(g, loads, side, least, i > 0 and over > 0, max(50, n // 20), arena.queues)
        cut -= won
        if i > 0 and won <= 0 and over >= before:
            break
    return over, cut


@inner
def _side_limits(vwgts, limits, first, middle, last, wanted):
    """Limits of the two sides: the slack left in each constraint, spread evenly over the splits still to come.

    vwgts : (n, ncon) int64, in
    limits : (nparts, ncon) int64, in
    first, middle, last : int       side 0 is for the parts from first on, side 1 from middle on, up to last - 1
    wanted : (2, ncon) int64, out
    """
    depth = np.ceil(np.log2(float(last - first)))
    for c in range(limits.shape[1]):
        weight = 0.0
        for i in range(len(vwgts)):
            weight += float(vwgts[i, c])
        mine = 0.0
        both = 0.0
        for p in range(first, last):
            both += float(limits[p, c])
            if p < middle:
                mine += float(limits[p, c])
        slack = max(both / max(weight, 1.0), 1.0) ** (1.0 / depth)
        share = mine / max(both, 1.0)
        wanted[0, c] = np.int64(min(np.ceil(slack * weight * share), mine))
        wanted[1, c] = np.int64(min(np.ceil(slack * weight * (1.0 - share)), both - mine))


@kernel
def _load(g, vwgts, scale, vertices, middle, arena):
    """The subgraph of `vertices` into the arena, with the dominant constraint and the pinned side of each.

    g : Level, in
    vwgts : (nvtxs, ncon) int64, in
    scale : (ncon,) int64, in       units of excess per unit of weight
    vertices : (n,) int32, in
    middle : int                    first part of side 1
    arena : Arena, in and out
    Returns how many adjacency entries the subgraph has.
    """
    queues = arena.queues
    for i in range(len(vertices)):
        v = vertices[i]
        queues.dominant[i] = 0
        for c in range(vwgts.shape[1]):
            arena.vwgts[i, c] = vwgts[v, c]
            most = queues.dominant[i]
            if vwgts[v, c] * scale[c] > vwgts[v, most] * scale[most]:
                queues.dominant[i] = c
        queues.state[i] = 0
        if len(g.fixed) > 0 and g.fixed[v] >= 0:
            queues.state[i] = PINNED
            arena.side[i] = 0 if g.fixed[v] < middle else 1
    return load_rows(g, vertices, arena.new, arena.xadj, arena.adjncy, arena.ewgt)


@allocating
def split(g, vwgts, limits, scale, vertices, first, last, tries, salt, arena):
    """Bisect the subgraph of `vertices` for the parts first..last - 1; returns how many of them are on side 0.

    g : Level, in
    vwgts : (nvtxs, ncon) int64, in
    limits : (nparts, ncon) int64, in
    scale : (ncon,) int64, in           units of excess per unit of weight
    vertices : (n,) int32, in and out   reordered, side 0 first
    first, last : int
    tries : int                         growths, of which the best is kept
    salt : int
    arena : Arena, scratch
    """
    n = len(vertices)
    ncon = limits.shape[1]
    middle = first + (last - first + 1) // 2
    m = _load(g, vwgts, scale, vertices, middle, arena)
    none = arena.other[:0]
    sub = Level(xadj=arena.xadj[: n + 1], adjncy=arena.adjncy[:m], ewgt=arena.ewgt[:m], vwgt=arena.xadj[:0],
                fixed=none, origin=none, size=arena.xadj[:0])
    wanted = np.zeros((2, ncon), np.int64)
    _side_limits(arena.vwgts[:n], limits, first, middle, last, wanted)
    loads = Loads(vwgts=arena.vwgts[:n], limits=wanted, scale=scale, pwgts=np.zeros((2, ncon), np.int64),
                  population=np.zeros(2, np.int64))
    least = np.array([middle - first, last - middle])
    best_over = np.int64(0)
    best_cut = np.int64(-1)
    for t in range(tries):
        seed = mix(n + first, salt + t) % n
        over, cut = _grow_and_refine(sub, loads, arena.side[:n], least, seed, arena)
        if best_cut < 0 or over < best_over or (over == best_over and cut < best_cut):
            best_over, best_cut = over, cut
            arena.best[:n] = arena.side[:n]
    return order_by_side(arena.best, vertices, arena.other)


@allocating
def bisect_recursively(g, vwgts, limits, scale, vertices, tries, salt, part, arena):
    """Partition the graph by halving the set of parts again and again.

    Parts may exceed their limits, and be empty where there are few vertices.

    g : Level, in
    vwgts : (nvtxs, ncon) int64, in
    limits : (nparts, ncon) int64, in
    scale : (ncon,) int64, in               units of excess per unit of weight
    vertices : (nvtxs,) int32, in and out   all vertices, reordered
    tries : int                             growths per bisection
    salt : int
    part : (nvtxs,) int32, out
    arena : Arena, scratch
    """
    stack = np.zeros((2 * len(limits), 4), np.int64)
    stack[0] = 0, len(vertices), 0, len(limits)
    top = 1
    while top > 0:
        top -= 1
        lo, hi, first, last = stack[top]
        if last - first == 1 or hi - lo < 2:
            for i in range(lo, hi):
                v = vertices[i]
                part[v] = g.fixed[v] if len(g.fixed) > 0 and g.fixed[v] >= 0 else first
            continue
        at = lo + split(g, vwgts, limits, scale, vertices[lo:hi], first, last, tries, salt, arena)
        middle = first + (last - first + 1) // 2
        stack[top] = lo, at, first, middle
        stack[top + 1] = at, hi, middle, last
        top += 2
