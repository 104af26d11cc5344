"""The work of a round of Jet in pieces, which the threads of a crew share.

Moves of a round on a long list are applied by all threads, too: first every vertex goes, then each looks at what has
changed around it.  Neither the partition nor the books depend on the order.
"""

from typing import Any, NamedTuple

import numpy as np

from . import inlined, inner
from .atomic import add
from .connectivity import pull_of
from .crew import COUNT, PIECES, WORK, finish, take
from .eviction import propose_evictions
from .refinement import ACTIVE, BORDER, EIGHT, PINNED, afterburn, propose

PROPOSE, AFTERBURN, MOVE, MARK, RESET, TALLY, LIST, EVICT, NOTHING = 0, 1, 2, 3, 4, 5, 6, 7, 8
"""Work, but for the last."""

STAGE, NOW, DONE, WAITED, TOTAL, BEST, EXCESS, IN_ORDER, LISTED, LOGGED, ALONE, BIT = range(12)
"""Places of `Memory.at`."""


class Memory(NamedTuple):
    """Memory of the rounds on one level, for evictions from a border up to a capacity.

    dest : (nvtxs,) int32, part proposed to each vertex; -1 everywhere between rounds
    gain : (nvtxs,) int64, decrease of the cut by its move
    live, go : (nvtxs,) uint8, by place on the active list
    key : (capacity,) float64, loss of each eviction
    vertex : (capacity,) int32, candidates of evictions
    words : (nvtxs // 8,) int64, the memory of `State.listed`
    conn : (nthreads, nparts) int64, touched : (nthreads, nparts) int32, scratch
    change : (nthreads, 2, nparts) int64, what the moves of each thread change of the weights and numbers of vertices of
        the parts; 0 between rounds
    found : (npieces, 2) int64, what each piece of work has found
    at : (12,) int64, the stage, number of the round, rounds done, rounds without improvement, decrease of the cut so
        far and when it was best, excess then, border vertices when they were listed in order, -1 if some are on no
        list, active ones when those were, length of the log before the round, whether one thread applies its moves,
        which vertices are listed
    long : int, longer lists are long: they are put in order, and moves are applied together, by all threads
    """

    dest: Any
    gain: Any
    live: Any
    go: Any
    key: Any
    vertex: Any
    words: Any
    conn: Any
    touched: Any
    change: Any
    found: Any
    at: Any
    long: Any


@inlined
def move(lo, hi, alone, g, s, dest, go, live, now, change):
    """Move the vertices of active[lo:hi] that survive, and log that; their old parts are in `dest` then.

    What is not live leaves the active list.

    lo, hi : int
    alone : bool                        one after the other: none leaves a part empty, or goes above the room of one,
                                        the active list is closed up, and the books of the parts are kept
    g : Level, in
    s : State, in and out
    dest : (nvtxs,) int32, in and out   part proposed to each vertex; -1 for those that stay
    go, live : (nvtxs,) uint8, in       by place on the active list: whether it is to move, and to stay listed
    now : int                           number of the round
    change : (2, nparts) int64, in and out, of the books where not alone
    """
    pwgt, population = s.pwgt, s.population
    top, kept = s.count[2], lo
    if not alone:
        pwgt, population = change[0], change[1]
        count = 0
        for i in range(lo, hi):
            count += live[i] == 1 and go[i] == 1
        top = add(s.count, 2, count)
    for i in range(lo, hi):
        v = s.active[i]
        if live[i] == 0:
            s.listed[v] &= 255 - ACTIVE
            continue
        if alone:
            s.active[kept] = v
            kept += 1
        if go[i] == 0:
            dest[v] = -1
            continue
        own, to, weight = s.part[v], dest[v], g.vwgt[v]
        if alone and (population[own] == 1 or (len(s.room) > 0 and pwgt[to] + weight > s.room[to])):
            dest[v] = -1
            continue
        s.log[0, top], s.log[1, top] = v, own
        top += 1
        s.moved_in[v] = now + 1
        s.part[v] = to
        dest[v] = own
        pwgt[own] -= weight
        population[own] -= 1
        pwgt[to] += weight
        population[to] += 1
    if alone:
        s.count[0], s.count[2] = kept, top


@inlined
def mark(lo, hi, alone, g, pull, s, dest):
    """Mark the vertices moved in log[lo:hi] and their neighbours, which are to be on both lists; returns how much less
    is cut.

    lo, hi : int
    alone : bool                        put them on the lists
    g : Level, in
    pull : Pull, in
    s : State, in and out               writes `listed`; threads write the same
    dest : (nvtxs,) int32, in           old part of what was moved, else -1
    """
    unit = len(g.ewgt) == 0
    total = np.int64(0)
    for j in range(lo, hi):
        v, own = s.log[0, j], s.log[1, j]
        to = s.part[v]
        total += pull_of(g, pull, v, to) - pull_of(g, pull, v, own)
        for e in range(g.xadj[v] - 1, g.xadj[v + 1]):
            u = v
            if e >= g.xadj[v]:
                u = g.adjncy[e]
                p = s.part[u]
                # only what was moved has one
                was = dest[u]
                if was < 0:
                    was = p
                # an edge between two that were moved counts once
                if was == p or u > v:
                    if unit:
                        w = np.int64(1)
                    else:
                        w = g.ewgt[e]
                    if was != own:
                        total += w
                    if p != to:
                        total -= w
            flags = s.listed[u]
            if flags & PINNED or flags & (ACTIVE | BORDER) == ACTIVE | BORDER:
                continue
            s.listed[u] = flags | ACTIVE | BORDER
            if alone and not flags & ACTIVE:
                s.active[s.count[0]] = u
                s.count[0] += 1
            if alone and not flags & BORDER:
                s.border[s.count[1]] = u
                s.count[1] += 1
    return total


@inlined
def tally(lo, hi, bit, s, words):
    """How many of the vertices in words lo..hi have this bit.

    lo, hi : int
    bit : int                           `ACTIVE` or `BORDER`
    s : State, in
    words : (nvtxs // 8,) int64, in
    """
    count = np.int64(0)
    for i in range(lo, hi):
        word = words[i] & (EIGHT * bit)
        if word:
            word >>= bit >> 1
            # the eight bytes are added up by halves
            word += word >> 32
            word += word >> 16
            word += word >> 8
            count += word & 15
    if hi == len(words):
        for v in range(8 * hi, len(s.listed)):
            count += s.listed[v] & bit != 0
    return count


@inlined
def list_in_order(lo, hi, bit, s, words, vertices, at, end):
    """List the vertices in words lo..hi that have this bit, ascending; returns the place behind.

    lo, hi : int
    bit : int                           `ACTIVE` or `BORDER`
    s : State, in
    words : (nvtxs // 8,) int64, in
    vertices : (nvtxs,) int32, out      written from `at` to `end` at the most: what is behind is another thread's
    at, end : int
    """
    for i in range(lo, hi):
        if words[i] & (EIGHT * bit):
            for v in range(8 * i, 8 * i + 8):
                # without a branch, which could not be predicted, as long as there is room for all of them
                if at + 8 <= end or s.listed[v] & bit:
                    vertices[at] = v
                at += s.listed[v] & bit != 0
    if hi == len(words):
        for v in range(8 * hi, len(s.listed)):
            if s.listed[v] & bit:
                vertices[at] = v
                at += 1
    return at


@inner
def do_pieces(me, crew, g, pull, s, limit, salt, warmth, m):
    """Do pieces of the work that is given out until none is left.

    me, crew, g, pull, s, limit, salt, warmth, m : as for :func:`copart.kernels.jet.jet_rounds`
    """
    conn, touched, change, found = m.conn[me], m.touched[me], m.change[me], m.found
    i = take(crew, me)
    while i >= 0:
        work, count, pieces = crew.at[WORK], crew.at[COUNT], crew.at[PIECES]
        lo, hi = i * count // pieces, (i + 1) * count // pieces
        if work == PROPOSE:
            warm = warmth[min(m.at[DONE], len(warmth) - 1)]
            propose(lo, hi, g, pull, s, m.at[NOW], warm, m.dest, m.gain, m.live, conn, touched)
        elif work == AFTERBURN:
            afterburn(lo, hi, g, pull, s, m.dest, m.gain, m.go)
        elif work == MOVE:
            if m.at[ALONE]:
                hi = s.count[0]
            move(lo, hi, m.at[ALONE] > 0, g, s, m.dest, m.go, m.live, m.at[NOW], change)
        elif work == MARK or work == RESET:
            lo, hi = m.at[LOGGED] + lo, m.at[LOGGED] + hi
            if work == MARK:
                if m.at[ALONE]:
                    hi = s.count[2]
                found[i, 0] = mark(lo, hi, m.at[ALONE] > 0, g, pull, s, m.dest)
            else:
                for j in range(lo, hi):
                    m.dest[s.log[0, j]] = -1
        elif work == TALLY:
            found[i, 0] = tally(lo, hi, m.at[BIT], s, m.words)
        elif work == LIST:
            vertices = s.border if m.at[BIT] == BORDER else s.active
            found[i, 1] = list_in_order(lo, hi, m.at[BIT], s, m.words, vertices, found[i, 0], found[i, 1])
        elif work == EVICT:
            found[i, 0] = propose_evictions(lo, hi, g, pull, s, limit, salt + m.at[NOW], m.key, m.vertex, conn, touched)
        finish(crew)
        i = take(crew, me)


@inlined
def items_of(work, s, m):
    """On how many items such work is done.

    work : int
    s : State, in
    m : Memory, in
    """
    if work == TALLY or work == LIST:
        return len(m.words)
    if m.at[ALONE] and (work == MOVE or work == MARK):
        return 1
    if work == MARK or work == RESET:
        return s.count[2] - m.at[LOGGED]
    return s.count[1 if work == EVICT else 0]


__all__ = ["AFTERBURN", "ALONE", "BEST", "BIT", "DONE", "EVICT", "EXCESS", "IN_ORDER", "LIST", "LISTED", "LOGGED",
           "MARK", "MOVE", "NOTHING", "NOW", "PROPOSE", "RESET", "STAGE", "TALLY", "TOTAL", "WAITED", "Memory",
           "do_pieces", "items_of"]
