"""Rounds of Jet one after the other, compiled as a whole: calls and handing out work would cost more than rounds."""

import numpy as np

from . import inlined, kernel
from .crew import await_others, await_work, give_out, send_home
from .eviction import evict
from .jet_pieces import (
    AFTERBURN,
    ALONE,
    BEST,
    BIT,
    DONE,
    EVICT,
    EXCESS,
    IN_ORDER,
    LIST,
    LISTED,
    LOGGED,
    MARK,
    MOVE,
    NOTHING,
    NOW,
    PROPOSE,
    RESET,
    STAGE,
    TALLY,
    TOTAL,
    WAITED,
    Memory,
    do_pieces,
    items_of,
)
from .moves import excess_above, transfer
from .refinement import ACTIVE, BORDER

ROUND, BALANCE, WALLED, JUDGE, OVER = 0, 1, 2, 3, 4
"""What comes next: a round of moves; restoring balance, or where no eviction does any more; comparing with the best;
nothing."""

LONG, GROWN = 8192, 1.1
"""Longer lists are put in the order of the vertices, the border when it has grown by this factor: neighbours in the
graph are neighbours in memory then, and proposals of a million tetrahedra take a third less time."""

REBALANCE = 2
"""While it cools, balance is restored every so many rounds only: a vertex pushed back at once wins nothing."""

LITTLE = 500
"""What is next to nothing: less than one in so many edges of the cut."""

ABOVE = 0.2
"""Where a round may not overload parts at will: how far they may be filled above their limits in the first round, as a
share of them."""


@inlined
def _sum_up(m, pieces):
    """Where each piece begins and ends on the list.

    m : Memory, in and out
    pieces : int
    """
    end = np.int64(0)
    for i in range(pieces):
        more = m.found[i, 0]
        m.found[i, 0] = end
        end += more
        m.found[i, 1] = end


@inlined
def _weigh_again(g, s, m):
    """Bring the books of the parts up to date after moves by all threads, or take these back if one is empty now.

    Returns whether all have a vertex left.

    g : Level, in
    s : State, in and out
    m : Memory, in and out
    """
    emptied = False
    for me in range(len(m.change)):
        for p in range(len(s.pwgt)):
            s.pwgt[p] += m.change[me, 0, p]
            s.population[p] += m.change[me, 1, p]
            m.change[me, 0, p] = m.change[me, 1, p] = 0
    for p in range(len(s.pwgt)):
        emptied |= s.population[p] == 0
    if not emptied:
        return True
    for i in range(m.at[LOGGED], s.count[2]):
        v, own = s.log[0, i], s.log[1, i]
        m.dest[v] = s.part[v]
        s.moved_in[v] = 0
        transfer(g, s.part, s.pwgt, s.population, v, own)
    s.count[2] = m.at[LOGGED]
    return False


@inlined
def _gather_evictions(s, m, pieces):
    """Put the candidates of all pieces together; returns how many there are.

    s : State, in
    m : Memory, in and out
    pieces : int
    """
    top = m.found[0, 0]
    for i in range(1, pieces):
        first = i * s.count[1] // pieces
        for j in range(first, first + m.found[i, 0]):
            m.key[top], m.vertex[top] = m.key[j], m.vertex[j]
            top += 1
    return top


@inlined
def _judge(s, m, excess, cut):
    """Compare with the best state, which begins a log of its own.

    s : State, in and out
    m : Memory, in and out
    excess : int
    cut : int                           before the first round
    """
    at = m.at
    at[STAGE] = ROUND
    at[WAITED] += 1
    if excess < at[EXCESS] or (excess == at[EXCESS] and at[TOTAL] > at[BEST]):
        if excess < at[EXCESS] or (at[TOTAL] - at[BEST]) * LITTLE > cut - at[BEST]:
            at[WAITED] = 0
        at[BEST], at[EXCESS] = at[TOTAL], excess
        s.count[2] = 0


@inlined
def _begin(s, limit, patience, cooling, m):
    """Whether there is one more round, with room for it in the log; then it has begun.

    s : State, in and out
    limit : (nparts,) int64, in
    patience, cooling : int
    m : Memory, in and out
    """
    at = m.at
    if at[WAITED] >= patience and at[DONE] >= cooling:
        at[STAGE] = OVER
        return False
    if s.count[2] + s.count[0] > s.log.shape[1]:
        return False
    if len(s.room) > 0:
        above = 0.0
        if cooling > 0:
            above = ABOVE * max(0.0, 1.0 - at[DONE] / cooling)
        for p in range(len(limit)):
            s.room[p] = limit[p] + np.int64(limit[p] * above)
    at[LOGGED] = s.count[2]
    at[NOW] += 1
    return True


@kernel
def jet_rounds(me, crew, g, pull, s, limit, salt, cut, warmth, patience, m, waiting):
    """Rounds of moves and evictions until they bring next to nothing, or the caller has to make room.

    Returns the stage, which is kept in `m.at`, too: `OVER`; `WALLED`; or `ROUND` or `BALANCE` where the log is short,
    or memory for evictions.  The caller makes room, or hands weight on and sets the next stage, and calls again.

    All work is given out at one place: what takes time to compile is passing so many arrays on.

    me : int                            number of the thread; all but the first help until that returns
    crew : Crew, in and out
    g : Level, in
    pull : Pull, in
    s : State, in and out
    limit : (nparts,) int64, in
    salt : int                          seed of the hashes
    cut : int                           before the first round, to tell what is next to nothing
    warmth : (cooling + 1,) float64, in of each round, the last for all later ones
    patience : int                      rounds without improvement, at most
    m : Memory, in and out
    waiting : Waiting, scratch          of the same capacity; its `rank` is the memory of `m.key`
    """
    at, cooling = m.at, len(warmth) - 1
    excess = excess_above(s.pwgt, limit)
    work = NOTHING
    moved = False
    while True:
        if me > 0:
            if not await_work(crew):
                return OVER
        elif work == NOTHING:
            if at[STAGE] == BALANCE and excess > 0:
                if at[IN_ORDER] < 0 or s.count[1] > max(m.long, GROWN * at[IN_ORDER]):
                    at[BIT] = BORDER
                    work = TALLY
                elif s.count[1] > len(m.vertex) or s.count[2] + s.count[1] > s.log.shape[1]:
                    break
                else:
                    at[NOW] += 1
                    work = EVICT
            else:
                if at[STAGE] != ROUND:
                    _judge(s, m, excess, cut)
                if s.count[0] > m.long and s.count[0] != at[LISTED]:
                    at[BIT] = ACTIVE
                    work = TALLY
                elif _begin(s, limit, patience, cooling, m):
                    work = PROPOSE
                else:
                    break
        pieces = np.int64(0)
        if me == 0:
            if work == TALLY and crew.threads == 1:
                # it is known where the only piece begins
                m.found[0, 0], m.found[0, 1] = 0, len(s.active)
                work = LIST
            pieces = give_out(crew, work, items_of(work, s, m))
        do_pieces(me, crew, g, pull, s, limit, salt, warmth, m)
        if me > 0:
            continue
        await_others(crew)

        if work == TALLY:
            _sum_up(m, pieces)
            work = LIST
        elif work == LIST:
            count = m.found[pieces - 1, 1]
            if at[BIT] == BORDER:
                s.count[1] = at[IN_ORDER] = count
            else:
                s.count[0] = at[LISTED] = count
            work = NOTHING
        elif work == PROPOSE:
            work = AFTERBURN
        elif work == AFTERBURN:
            work = MOVE
            # never by the number of threads: whether all may leave a part, and who is its last, depends on this
            at[ALONE] = s.count[0] <= m.long or len(s.room) > 0
        elif work == MOVE:
            # the last vertex of a part stays where they go one after the other
            if at[ALONE] or _weigh_again(g, s, m):
                work = MARK
            else:
                at[ALONE] = 1
        elif work == MARK:
            for i in range(pieces):
                at[TOTAL] += m.found[i, 0]
            work = RESET
        elif work == RESET:
            at[LISTED] = -1
            work = NOTHING
            moved = True
            if not at[ALONE]:
                # what was marked is on no list yet; the border is listed when evictions need it
                at[IN_ORDER] = -1
                at[BIT] = ACTIVE
                work = TALLY
        elif work == EVICT:
            before = excess
            at[TOTAL] += evict(_gather_evictions(s, m, pieces), m.vertex, g, pull, s, limit, at[NOW],
                               waiting, m.conn[0], m.touched[0])
            excess = excess_above(s.pwgt, limit)
            work = NOTHING
            if excess == before:
                at[STAGE] = WALLED
                break
        if moved and work == NOTHING:
            moved = False
            at[DONE] += 1
            if s.count[2] == at[LOGGED] and s.count[0] == 0:
                at[STAGE] = OVER
                break
            if at[DONE] >= cooling or at[DONE] % REBALANCE == 0:
                at[STAGE] = BALANCE
                excess = excess_above(s.pwgt, limit)
    send_home(crew)
    return at[STAGE]


__all__ = ["BALANCE", "BEST", "DONE", "IN_ORDER", "JUDGE", "LISTED", "LONG", "NOW", "OVER", "ROUND", "STAGE",
           "TOTAL", "WALLED", "Memory", "jet_rounds"]
