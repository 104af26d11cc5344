"""Rounds of Jet one after the other, compiled as a whole: on short borders calls cost more than rounds."""

from typing import Any, NamedTuple

from . import inlined, kernel
from .eviction import evict, propose_evictions
from .moves import apply_moves, excess_above
from .refinement import ACTIVE, BORDER, afterburn, list_marked, propose

ROUND, COUNT, BALANCE, WALLED, JUDGE, OVER = 0, 1, 2, 3, 4, 5
"""What comes next: a round of moves; counting it; restoring balance, or where no eviction does any more; comparing with
the best; nothing."""

STAGE, NOW, DONE, WAITED, TOTAL, BEST, EXCESS, IN_ORDER = 0, 1, 2, 3, 4, 5, 6, 7
"""Places of `Memory.at`."""

LONG, GROWN = 8192, 1.1
"""Longer lists are put in the order of the vertices, the border when it has grown by this factor: neighbours in the
graph are neighbours in memory then, and proposals of a million tetrahedra take a third less time."""

REBALANCE = 2
"""While it cools, balance is restored every so many rounds only: a vertex pushed back at once wins nothing."""

NOTHING = 500
"""What is next to nothing: less than one in so many edges of the cut."""


class Memory(NamedTuple):
    """Memory of the rounds on one level, for lists up to a capacity.

    dest : (nvtxs,) int32, part proposed to each vertex; -1 everywhere between rounds
    gain : (nvtxs,) int64, decrease of the cut by its move
    live, go : (nvtxs,) uint8, by place on the active list
    key : (capacity,) float64, loss of each eviction
    rank : (capacity,) int64, the same memory
    vertex : (capacity,) int32, candidates of evictions
    words : (nvtxs // 8,) int64, the memory of `State.listed`
    waiting : Waiting of that capacity
    conn : (nparts,) int64, touched : (nparts,) int32, scratch
    at : (8,) int64, the stage, number of the round, rounds done, rounds without improvement, decrease of the cut so far
        and when it was best, excess then, border vertices when they were put in order
    """

    dest: Any
    gain: Any
    live: Any
    go: Any
    key: Any
    rank: Any
    vertex: Any
    words: Any
    waiting: Any
    conn: Any
    touched: Any
    at: Any


@inlined
def _short(s, which, m):
    """Whether a list is short enough, and the log has room for moves of all of it.

    s : State, in
    which : int                     0 for the active list, 1 for the border
    m : Memory, in
    """
    return s.count[which] <= len(m.vertex) and s.count[2] + s.count[which] <= s.log.shape[1]


@kernel
def jet_rounds(g, pull, s, limit, salt, cut, warmth, patience, m):
    """Rounds of moves and evictions until they bring next to nothing, or one has to be done by the caller.

    Returns the stage, which is kept in `m.at`, too: `OVER`; `WALLED`; or `ROUND` or `BALANCE` where a list is long or
    the log short.  The caller does that part, or makes room, sets the next stage, and calls again.

    g : Level, in
    pull : Pull, in
    s : State, in and out
    limit : (nparts,) int64, in
    salt : int                          seed of the hashes
    cut : int                           before the first round, to tell what is next to nothing
    warmth : (cooling + 1,) float64, in of each round, the last for all later ones
    patience : int                      rounds without improvement, at most
    m : Memory, in and out
    """
    at, cooling = m.at, len(warmth) - 1
    moved = True
    while at[STAGE] != OVER:
        if at[STAGE] == ROUND:
            if at[WAITED] >= patience and at[DONE] >= cooling:
                at[STAGE] = OVER
                break
            if len(s.room) > 0 or not _short(s, 0, m):
                break
            at[NOW] += 1
            now, count, before = at[NOW], s.count[0], s.count[2]
            warm = warmth[min(at[DONE], cooling)]
            if count > LONG:
                list_marked(s.listed, m.words, ACTIVE, s.active)
            propose(0, count, g, pull, s, now, warm, m.dest, m.gain, m.live, m.conn, m.touched)
            afterburn(0, count, g, pull, s, m.dest, m.gain, m.go)
            at[TOTAL] += apply_moves(g, pull, s, m.dest, m.go, m.live, now)
            moved = s.count[2] > before or s.count[0] > 0
            at[STAGE] = COUNT
        if at[STAGE] == COUNT:
            at[DONE] += 1
            if not moved:
                at[STAGE] = OVER
                break
            if at[DONE] < cooling and at[DONE] % REBALANCE:
                at[STAGE] = ROUND
                continue
            at[STAGE] = BALANCE
        excess = excess_above(s.pwgt, limit)
        while at[STAGE] == BALANCE and excess > 0:
            if not _short(s, 1, m):
                return at[STAGE]
            at[NOW] += 1
            if s.count[1] > max(LONG, GROWN * at[IN_ORDER]):
                list_marked(s.listed, m.words, BORDER, s.border)
                at[IN_ORDER] = s.count[1]
            top = propose_evictions(0, s.count[1], g, pull, s, limit, salt + at[NOW], m.key, m.vertex, m.conn,
                                    m.touched)
            at[TOTAL] += evict(top, m.rank[:top], m.vertex, g, pull, s, limit, at[NOW], m.waiting, m.conn, m.touched)
            before = excess
            excess = excess_above(s.pwgt, limit)
            if excess == before:
                at[STAGE] = WALLED
                return at[STAGE]
        at[STAGE] = ROUND
        at[WAITED] += 1
        if excess < at[EXCESS] or (excess == at[EXCESS] and at[TOTAL] > at[BEST]):
            if excess < at[EXCESS] or (at[TOTAL] - at[BEST]) * NOTHING > cut - at[BEST]:
                at[WAITED] = 0
            at[BEST], at[EXCESS] = at[TOTAL], excess
            s.count[2] = 0
    return at[STAGE]
