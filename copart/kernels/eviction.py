"""Eviction: vertices leave overloaded parts for neighbouring parts with room, at the least loss per unit of weight."""

from typing import Any, NamedTuple

import numpy as np

from . import kernel
from .connectivity import connect_few, gather, scatter
from .heap import remove, sift_down
from .refinement import activate, log_move
from .rng import mix

BELOW_SIGN = np.iinfo(np.int64).max
"""All bits of an integer but its sign."""


class Waiting(NamedTuple):
    """The heap of evictions, of a capacity of all candidates.

    heap : (capacity,) int32, candidates by place
    pos : (capacity,) int32, place of each candidate
    tie : (capacity,) int64, the earlier of equal candidates is first
    """

    heap: Any
    pos: Any
    tie: Any


@kernel
def propose_evictions(lo, hi, g, pull, s, limit, salt, key, where, conn, touched):
    """How much it costs to move each border vertex of an overloaded part to a part with room; returns how many can.

    Written for the vertices of border[lo:hi] that have such a move, in order and densely from lo on.

    lo, hi : int
    g : Level, in
    pull : Pull, in
    s : State, in
    limit : (nparts,) int64, in
    salt : int
    key : (nborder,) float64, out   loss per unit of weight, ties broken by hash
    where : (nborder,) int32, out   place on the border list
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
        where[top] = i
        top += 1
    return top - lo


@kernel
def evict(count, rank, where, g, pull, s, limit, now, waiting, conn, touched):
    """Move border vertices out of overloaded parts, cheapest first, to the best neighbouring part with room.

    The bits of floats are in the order of the floats, so that integers lead the heap; only -0.0 is not, and no loss is.

    Everything is checked again against the current state.  Returns the decrease of the cut.

    count : int                         number of candidates
    rank : (count,) int64, in and out   bits of the loss of each; afterwards the larger the cheaper
    where : (count,) int32, in          place of each on the border list; the earlier of equal ones is first
    g : Level, in
    pull : Pull, in
    s : State, in and out
    limit : (nparts,) int64, in
    now : int                           number of the round
    waiting : Waiting, scratch
    conn : (nparts,) int64, scratch
    touched : (nparts,) int32, scratch
    """
    heap, pos, tie = waiting
    logged = s.count[2]
    over = 0
    for p in range(len(conn)):
        conn[p] = -1
        if s.pwgt[p] > limit[p]:
            over += 1
    # a heap: mostly all parts fit long before the last vertex
    for i in range(count):
        heap[i] = i
        pos[i] = i
        tie[i] = -i
        rank[i] ^= ~((rank[i] >> 63) & BELOW_SIGN)
    for i in range(count // 2 - 1, -1, -1):
        sift_down(heap, pos, rank, tie, count, i)
    total = np.int64(0)
    while count > 0 and over > 0:
        first = heap[0]
        v = s.border[where[first]]
        count = remove(heap, pos, rank, tie, count, first)
        own = s.part[v]
        if s.pwgt[own] <= limit[own] or s.population[own] <= 1:
            continue
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
        if best >= 0:
            total += most - max(conn[own], 0)
            log_move(g, s, v, best, now)
            if s.pwgt[own] <= limit[own]:
                over -= 1
        scatter(conn, touched, n)
    for i in range(logged, s.count[2]):
        activate(g, s, s.log[0, i])
    return total
