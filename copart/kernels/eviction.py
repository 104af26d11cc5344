"""Eviction: vertices leave overloaded parts for neighbouring parts with room, at the least loss per unit of weight."""

from typing import Any, NamedTuple

import numpy as np

from . import inlined, inner
from .connectivity import connect_few, gather, scatter
from .heap import push, remove, sift_down
from .moves import activate, log_move
from .rng import mix

BELOW_SIGN = np.iinfo(np.int64).max
"""All bits of an integer but its sign."""


class Waiting(NamedTuple):
    """Who waits to be evicted, a heap for each overloaded part, and a heap of those parts.

    rank : (capacity,) int64, bits of the loss of each candidate; while they wait, the larger is first
    heap : (capacity,) int32, candidates by place, those of a part together
    pos : (capacity,) int32, place of each candidate among those of its part
    tie : (capacity,) int64, the smaller of equal vertices is first
    start : (nparts + 1,) int64, where the heap of each part begins
    size : (nparts,) int64, how many wait in it
    parts, place : (nparts,) int32, the parts by place, and the place of each
    best, best_tie : (nparts,) int64, rank and tie of the first candidate of each
    """

    rank: Any
    heap: Any
    pos: Any
    tie: Any
    start: Any
    size: Any
    parts: Any
    place: Any
    best: Any
    best_tie: Any


@inner
def propose_evictions(lo, hi, g, pull, s, limit, salt, key, vertex, conn, touched):
    """How much it costs to move each border vertex of an overloaded part to a part with room; returns how many can.

    Written for the vertices of border[lo:hi] that have such a move, in order and densely from lo on.

    lo, hi : int
    g : Level, in
    pull : Pull, in
    s : State, in
    limit : (nparts,) int64, in
    salt : int
    key : (nborder,) float64, out   loss per unit of weight, ties broken by hash
    vertex : (nborder,) int32, out
    conn : (nparts,) int64, scratch
    touched : (nparts,) int32, scratch
    """
    for p in range(len(conn)):
        conn[p] = -1
    top = lo
    for i in range(lo, hi):
        v = s.border[i]
        own = s.part[v]
        weight = g.vwgt[v]
        if s.pwgt[own] <= limit[own] or weight == 0:
            continue
        mine, _, most, count = connect_few(g, pull, s, v, True, limit, conn, touched)
        for j in range(count):
            p = touched[j]
            if p != own and conn[p] > most and s.pwgt[p] + weight <= limit[p]:
                most = conn[p]
            conn[p] = -1
        if most < 0:
            continue
        loss = float(mine - most)
        if loss > 0:
            key[top] = loss / float(weight)
        else:
            key[top] = loss * float(weight)
        key[top] += float(mix(v, salt)) * 1e-16
        vertex[top] = v
        top += 1
    return top - lo


@inlined
def _group(count, vertex, s, waiting):
    """Make the heaps; returns how many parts have one.

    count : int                             number of candidates
    vertex : (count,) int32, in
    s : State, in
    waiting : Waiting, in and out           `rank` is given
    """
    rank, heap, pos, tie, start, size, parts, place, best, best_tie = waiting
    for p in range(len(start)):
        start[p] = 0
    for i in range(count):
        start[s.part[vertex[i]] + 1] += 1
    for p in range(len(size)):
        size[p] = 0
        start[p + 1] += start[p]
    for i in range(count):
        p = s.part[vertex[i]]
        heap[start[p] + size[p]] = i
        pos[i] = size[p]
        tie[i] = -vertex[i]
        size[p] += 1
    over = 0
    for p in range(len(size)):
        if size[p] == 0:
            continue
        own = heap[start[p] : start[p + 1]]
        for i in range(size[p] // 2 - 1, -1, -1):
            sift_down(own, pos, rank, tie, size[p], i)
        best[p], best_tie[p] = rank[own[0]], tie[own[0]]
        over = push(parts, place, best, best_tie, over, p)
    return over


@inner
def evict(count, vertex, g, pull, s, limit, now, waiting, conn, touched):
    """Move border vertices out of overloaded parts, cheapest first, to the best neighbouring part with room.

    Each part has a heap of its own, which is given up as soon as the part fits: mostly long before its last vertex.
    The bits of floats are in the order of the floats, so that integers lead the heaps; only -0.0 is not, and no loss
    is.

    Everything is checked again against the current state.  Returns the decrease of the cut.

    count : int                         number of candidates
    vertex : (count,) int32, in
    g : Level, in
    pull : Pull, in
    s : State, in and out
    limit : (nparts,) int64, in
    now : int                           number of the round
    waiting : Waiting, in and out       `rank` is given
    conn : (nparts,) int64, scratch
    touched : (nparts,) int32, scratch
    """
    rank, heap, pos, tie, start, size, parts, place, best_rank, best_tie = waiting
    logged = s.count[2]
    for p in range(len(conn)):
        conn[p] = -1
    for i in range(count):
        rank[i] ^= ~((rank[i] >> 63) & BELOW_SIGN)
    over = _group(count, vertex, s, waiting)
    total = np.int64(0)
    while over > 0:
        own = parts[0]
        mine = heap[start[own] : start[own + 1]]
        first = mine[0]
        v = vertex[first]
        size[own] = remove(mine, pos, rank, tie, size[own], first)
        n = gather(g, pull, s.part, v, conn, touched)
        best = -1
        most = np.int64(-1)
        for j in range(n):
            p = touched[j]
            if p == own or s.pwgt[p] + g.vwgt[v] > limit[p]:
                continue
            if conn[p] > most or (
                conn[p] == most and (s.pwgt[p] < s.pwgt[best] or (s.pwgt[p] == s.pwgt[best] and p < best))
            ):
                best, most = p, conn[p]
        # what it loses is known already
        if best >= 0 and s.population[own] > 1:
            total += most - max(conn[own], 0)
            log_move(g, s, v, best, now)
        scatter(conn, touched, n)
        if size[own] == 0 or s.pwgt[own] <= limit[own] or s.population[own] <= 1:
            over = remove(parts, place, best_rank, best_tie, over, own)
        else:
            best_rank[own], best_tie[own] = rank[mine[0]], tie[mine[0]]
            sift_down(parts, place, best_rank, best_tie, over, 0)
    for i in range(logged, s.count[2]):
        activate(g, s, s.log[0, i])
    return total
