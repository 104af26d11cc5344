"""Balance under several constraints: moves that lower the excess, swaps, and packing by weight alone."""

import numpy as np

from . import inlined, kernel
from .connectivity import connect
from .heap import push, put, remove, sift_down
from .multiconstraint import PINNED, relief, shift, total_excess

BEST_SCORE = np.int64(2**60)
"""Score of a rebalancing move that costs nothing."""


@inlined
def score_of(gain, ease):
    """Rank of a rebalancing move: what costs nothing first, then the least cut per unit of excess taken away.

    gain : int                      decrease of the cut
    ease : int                      decrease of the excess, above 0
    """
    if gain >= 0:
        return BEST_SCORE + min(gain, BEST_SCORE)
    return -np.int64(min(-float(gain) / float(ease) * 2.0**40, 2.0**60))


@inlined
def best_relief(g, loads, part, v, anywhere, conn, touched):
    """The part for v that takes excess away at least cost: (part or -1, score).

    g : Level, in
    loads : Loads, in
    part : (n,) int32, in
    v : int
    anywhere : bool                     among all parts, else among those that v touches
    conn : (nparts,) int64, scratch     -1 everywhere before and after
    touched : (nparts,) int32, scratch
    """
    own = part[v]
    best = -1
    rank = np.int64(0)
    needed = False
    for c in range(loads.limits.shape[1]):
        if loads.vwgts[v, c] > 0 and loads.pwgts[own, c] > loads.limits[own, c]:
            needed = True
    if needed and loads.population[own] > 1:
        count = connect(g, part, v, conn, touched)
        mine = max(conn[own], 0)
        for i in range(loads.limits.shape[0] if anywhere else count):
            p = i if anywhere else touched[i]
            if p == own:
                continue
            ease = relief(loads, v, own, p)
            if ease > 0:
                here = score_of(max(conn[p], 0) - mine, ease)
                if best < 0 or here > rank:
                    best, rank = p, here
        for i in range(count):
            conn[touched[i]] = -1
    return best, rank


@kernel
def rebalance(g, loads, part, anywhere, s):
    """Move vertices out of parts with excess, cheapest first, until none helps; returns the excess left.

    Every move lowers the excess.

    g : Level, in
    loads : Loads, in and out
    part : (n,) int32, in and out
    anywhere : bool                 moves lead to any part, else to neighbouring ones
    s : Scratch, in and out         clean before and after
    """
    n = len(part)
    size = np.int64(0)
    over = total_excess(loads)
    if over == 0:
        return over
    for v in range(n):
        if s.state[v] == PINNED:
            continue
        to, rank = best_relief(g, loads, part, v, anywhere, s.conn, s.touched)
        if to >= 0:
            s.key[v] = rank
            size = push(s.heap, s.pos, s.key, s.key, size, v)
    while size > 0:
        v = s.heap[0]
        own = part[v]
        to, rank = best_relief(g, loads, part, v, anywhere, s.conn, s.touched)
        if to >= 0 and rank < s.key[v]:
            s.key[v] = rank
            sift_down(s.heap, s.pos, s.key, s.key, size, 0)
            continue
        size = remove(s.heap, s.pos, s.key, s.key, size, v)
        if to < 0:
            continue
        over -= relief(loads, v, own, to)
        shift(loads, part, v, to)
        if over == 0:
            break
        for e in range(g.xadj[v], g.xadj[v + 1]):
            u = g.adjncy[e]
            if s.state[u] == PINNED:
                continue
            to, rank = best_relief(g, loads, part, u, anywhere, s.conn, s.touched)
            if to < 0:
                continue
            size = put(s.heap, s.pos, s.key, s.key, size, u, rank)
    for i in range(size):
        s.pos[s.heap[i]] = -1
    return over


@kernel
def swap_excess(loads, part, order, budget):
    """Exchange a vertex of a part with excess for one elsewhere where that lowers the excess; returns the excess left.

    A last resort.

    loads : Loads, in and out
    part : (n,) int32, in and out
    order : (nfree,) int32, in      free vertices, heaviest first
    budget : int                    pairs looked at, at most
    """
    over = total_excess(loads)
    looked = 0
    for i in range(len(order)):
        v = order[i]
        p = part[v]
        for j in range(len(order) - 1, -1, -1):
            if over == 0 or looked >= budget:
                return over
            excess = False
            for c in range(loads.limits.shape[1]):
                if loads.vwgts[v, c] > 0 and loads.pwgts[p, c] > loads.limits[p, c]:
                    excess = True
            if not excess:
                break
            u = order[j]
            q = part[u]
            if q == p:
                continue
            looked += 1
            first = relief(loads, v, p, q)
            shift(loads, part, v, q)
            won = first + relief(loads, u, q, p)
            if won > 0:
                shift(loads, part, u, p)
                over -= won
                p = q
            else:
                shift(loads, part, v, p)
    return over


@kernel
def pack(loads, part, order):
    """Vector packing without regard to the cut: each of `order` goes where it fits with the lowest fullest constraint.

    Empty parts come first while as few vertices are left as there are empty parts.  Returns the excess left.

    loads : Loads, in and out
    part : (n,) int32, in and out
    order : (nfree,) int32, in      free vertices, heaviest first
    """
    nparts, ncon = loads.limits.shape
    for i in range(len(order)):
        p = part[order[i]]
        loads.population[p] -= 1
        for c in range(ncon):
            loads.pwgts[p, c] -= loads.vwgts[order[i], c]
    empty = 0
    for p in range(nparts):
        if loads.population[p] == 0:
            empty += 1
    for i in range(len(order)):
        v = order[i]
        best = -1
        low = 0.0
        for p in range(nparts):
            if empty >= len(order) - i and loads.population[p] > 0:
                continue
            full = 0.0
            for c in range(ncon):
                w = loads.vwgts[v, c]
                after = float(loads.pwgts[p, c] + w)
                if w > 0:
                    top = float(loads.limits[p, c])
                    # beyond the limit only where nothing else is left
                    full = max(full, after / top if after <= top else 2.0 + (after - top) * float(loads.scale[c]))
            if best < 0 or full < low or (full == low and loads.population[p] < loads.population[best]):
                best, low = p, full
        if loads.population[best] == 0:
            empty -= 1
        part[v] = best
        loads.population[best] += 1
        for c in range(ncon):
            loads.pwgts[best, c] += loads.vwgts[v, c]
    return total_excess(loads)
