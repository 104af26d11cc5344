"""Recursive bisection of a small graph under several balance constraints, compiled as a whole.

Each bisection is grown from a seed and refined by FM with one queue a side and dominant constraint: where a side
holds too much of a constraint, the vertices give way that weigh most in it (Karypis & Kumar 1998, Section 4).
The growth itself is such a pass, from a side 0 that holds its seed only.
"""

from typing import Any, NamedTuple

import numpy as np

from . import Level, allocating, kernel
from .fm import remove, sift_down, sift_up
from .multiconstraint import LOCKED, PINNED, Loads, relief, shift, total_excess
from .rng import mix

PASSES = 5
"""FM passes a bisection, the growth included, at most."""


class Arena(NamedTuple):
    """Memory of one thread for bisections of a graph of n vertices, m adjacency entries and ncon constraints.

    xadj (n + 1,) int64, adjncy (m,) int32, ewgt (m,) int64 and vwgts (n, ncon) int64 hold a subgraph; new, side, best,
    other (n,) int32, key (n,) int64, dominant (n,) uint8, log (n,) int32 are scratch; heap (2 * ncon, n) int32;
    pos (n,) int32, -1 everywhere between calls; state (n,) uint8.
    """

    xadj: Any
    adjncy: Any
    ewgt: Any
    vwgts: Any
    new: Any
    side: Any
    best: Any
    other: Any
    key: Any
    dominant: Any
    log: Any
    heap: Any
    pos: Any
    state: Any


@kernel
def two_way_pass(g, loads, side, least, everywhere, stall, size, arena):
    """One pass of FM with two sides; returns (decrease of the cut kept, excess left, cut before).

    Every vertex moves at most once; the pass ends after `stall` moves beyond the best prefix, by excess and then by
    cut, to which it rolls back.  least (2,) int64: vertices that must stay on each side.  `everywhere` lists all
    vertices from the start, else those at the border.
    """
    n = len(side)
    ncon = loads.limits.shape[1]
    key, pos, state = arena.key, arena.pos, arena.state
    size[:] = 0
    cut = np.int64(0)
    for v in range(n):
        own = side[v]
        out = np.int64(0)
        inside = np.int64(0)
        for e in range(g.xadj[v], g.xadj[v + 1]):
            if side[g.adjncy[e]] == own:
                inside += g.ewgt[e]
            else:
                out += g.ewgt[e]
        key[v] = out - inside
        cut += out
        if state[v] == 0 and (out > 0 or everywhere):
            q = own * ncon + arena.dominant[v]
            arena.heap[q, size[q]] = v
            pos[v] = size[q]
            size[q] += 1
            sift_up(arena.heap[q], pos, key, size[q] - 1)
    total = np.int64(0)
    best = np.int64(0)
    over = total_excess(loads)
    best_over = over
    kept = 0
    moves = 0
    last = 0
    while True:
        # the fullest constraint of the sides, where one is over its limit
        worst = -1
        most = np.int64(0)
        if over > 0:
            for q in range(2 * ncon):
                s, c = q // ncon, q % ncon
                beyond = (loads.pwgts[s, c] - loads.limits[s, c]) * loads.scale[c]
                if beyond > most:
                    worst, most = q, beyond
        chosen = -1
        for q in range(2 * ncon):
            s = q // ncon
            if loads.population[s] <= least[s] or (worst >= 0 and s != worst // ncon):
                continue
            while size[q] > 0:
                v = arena.heap[q, 0]
                ease = relief(loads, v, s, 1 - s)
                if ease > 0 or (ease == 0 and over == 0):
                    break
                size[q] = remove(arena.heap[q], pos, key, size[q], v)
            if size[q] == 0:
                continue
            if chosen < 0 or (chosen != worst and q == worst):
                chosen = q
            elif chosen != worst:
                a, b = key[arena.heap[q, 0]], key[arena.heap[chosen, 0]]
                if a > b or (a == b and s != last and chosen // ncon == last):
                    chosen = q
        if chosen < 0:
            break
        own = chosen // ncon
        to = 1 - own
        v = arena.heap[chosen, 0]
        size[chosen] = remove(arena.heap[chosen], pos, key, size[chosen], v)
        over -= relief(loads, v, own, to)
        shift(loads, side, v, to)
        total += key[v]
        state[v] = LOCKED
        last = own
        arena.log[moves] = v
        moves += 1
        if over < best_over or (over == best_over and total > best):
            best_over, best, kept = over, total, moves
        elif moves - kept > stall:
            break
        for e in range(g.xadj[v], g.xadj[v + 1]):
            u = g.adjncy[e]
            w = 2 * g.ewgt[e]
            s = side[u]
            q = s * ncon + arena.dominant[u]
            if s == to:
                key[u] -= w
                if pos[u] >= 0:
                    sift_down(arena.heap[q], pos, key, size[q], pos[u])
            else:
                key[u] += w
                if pos[u] >= 0:
                    sift_up(arena.heap[q], pos, key, pos[u])
                elif state[u] == 0:
                    arena.heap[q, size[q]] = u
                    pos[u] = size[q]
                    size[q] += 1
                    sift_up(arena.heap[q], pos, key, size[q] - 1)
    for q in range(2 * ncon):
        for i in range(size[q]):
            pos[arena.heap[q, i]] = -1
    for i in range(moves - 1, -1, -1):
        v = arena.log[i]
        state[v] = 0
        if i >= kept:
            shift(loads, side, v, 1 - side[v])
    return best, best_over, cut // 2


@allocating
def _grow_and_refine(g, loads, side, least, seed, arena):
    """A bisection grown from the vertex `seed` and the vertices pinned to side 0; returns (excess, cut)."""
    n = len(side)
    loads.pwgts[:] = 0
    loads.population[:] = 0
    for v in range(n):
        if arena.state[v] != PINNED:
            side[v] = 0 if v == seed else 1
        s = side[v]
        loads.population[s] += 1
        for c in range(loads.limits.shape[1]):
            loads.pwgts[s, c] += loads.vwgts[v, c]
    over = total_excess(loads)
    size = np.zeros(2 * loads.limits.shape[1], np.int64)
    cut = np.int64(0)
    for i in range(PASSES):
        before = over
        won, over, cut = two_way_pass(g, loads, side, least, i > 0 and over > 0, max(50, n // 20), size, arena)
        cut -= won
        if i > 0 and won <= 0 and over >= before:
            break
    return over, cut


@kernel
def _side_limits(vwgts, limits, first, middle, last, wanted):
    """Limits of the two sides: the slack left in each constraint, spread evenly over the splits still to come."""
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
def _load(g, vwgts, scale, vertices, first, middle, arena):
    """The subgraph of `vertices` into the arena, with the dominant constraint and the pinned side of each."""
    n = len(vertices)
    unit = len(g.ewgt) == 0
    for i in range(n):
        arena.new[vertices[i]] = i
    m = 0
    arena.xadj[0] = 0
    for i in range(n):
        v = vertices[i]
        arena.dominant[i] = 0
        for c in range(vwgts.shape[1]):
            arena.vwgts[i, c] = vwgts[v, c]
            if vwgts[v, c] * scale[c] > vwgts[v, arena.dominant[i]] * scale[arena.dominant[i]]:
                arena.dominant[i] = c
        arena.state[i] = 0
        if len(g.fixed) > 0 and g.fixed[v] >= 0:
            arena.state[i] = PINNED
            arena.side[i] = 0 if g.fixed[v] < middle else 1
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
    return m


@allocating
def split(g, vwgts, limits, scale, vertices, first, last, tries, salt, arena):
    """Bisect the subgraph of `vertices` for the parts first..last; reorders them, side 0 first, and counts those."""
    n = len(vertices)
    ncon = limits.shape[1]
    middle = first + (last - first + 1) // 2
    m = _load(g, vwgts, scale, vertices, first, middle, arena)
    none = arena.other[:0]
    sub = Level(arena.xadj[: n + 1], arena.adjncy[:m], arena.ewgt[:m], arena.ewgt[:0], none, none, arena.ewgt[:0])
    wanted = np.zeros((2, ncon), np.int64)
    _side_limits(arena.vwgts[:n], limits, first, middle, last, wanted)
    loads = Loads(arena.vwgts[:n], wanted, scale, np.zeros((2, ncon), np.int64), np.zeros(2, np.int64))
    least = np.array([middle - first, last - middle])
    best_over = np.int64(0)
    best_cut = np.int64(-1)
    for t in range(tries):
        seed = mix(n + first, salt + t) % n
        over, cut = _grow_and_refine(sub, loads, arena.side[:n], least, seed, arena)
        if best_cut < 0 or over < best_over or (over == best_over and cut < best_cut):
            best_over, best_cut = over, cut
            arena.best[:n] = arena.side[:n]
    count = 0
    for i in range(n):
        if arena.best[i] == 0:
            arena.other[count] = vertices[i]
            count += 1
    at = count
    for i in range(n):
        if arena.best[i] == 1:
            arena.other[at] = vertices[i]
            at += 1
    vertices[:] = arena.other[:n]
    return count


@allocating
def bisect_recursively(g, vwgts, limits, scale, vertices, tries, salt, part, arena):
    """Partition the graph by halving the set of parts again and again; writes `part`.

    vertices (nvtxs,) int32: all vertices, reordered.  Parts may exceed their limits, and be empty where
    there are few vertices.
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
