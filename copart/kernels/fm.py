"""Two-way FM with rollback (Fiduccia & Mattheyses 1982): one pass with weights and biases, and its pieces.

The pass under several balance constraints (`multiconstraint_bisection.constrained_pass`) is built from the same pieces
(`ties`, `renew`, `clear`), and has a body of its own: there a move is chosen among ``2 ncon`` queues, by the
constraint that is exceeded most, and a vertex stays listed while it lowers the excess; here a side over its limit
gives whatever leads its queue.  Under one constraint the two rules differ as well, so neither can stand for the other.
"""

from typing import Any, NamedTuple

import numpy as np

from . import inlined, inner
from .heap import push, remove, sift_down, sift_up

UNIT = 16
"""Unit of gains where vertices have biases: an edge of weight 1 counts so much."""


class Queues(NamedTuple):
    """The queues of a pass over at most n vertices, and its log.

    key : (n,) int64, gain of each vertex
    degree : (n,) int64, weight of the edges of each vertex; empty where there is more than one queue per side
    heap : (nqueues, n) int32, the queues: one per side, or ncon per side
    size : (nqueues,) int64, their lengths
    pos : (n,) int32, place of each vertex in its queue; -1 everywhere between calls
    state : (n,) uint8, not 0 where a vertex must not move; 0 or pinned between calls
    log : (n,) int32, the vertices moved
    dominant : (n,) uint8, queue of a vertex among those of its side; empty where there is one per side
    """

    key: Any
    degree: Any
    heap: Any
    size: Any
    pos: Any
    state: Any
    log: Any
    dominant: Any


@inlined
def ties(g, side, v):
    """Weight of the edges of v to its own side and to the other one, and whether there is any of the latter.

    g : Level, in
    side : (n,) int32, in
    v : int
    """
    unit = len(g.ewgt) == 0
    own = side[v]
    inside = np.int64(0)
    out = np.int64(0)
    border = False
    for e in range(g.xadj[v], g.xadj[v + 1]):
        if unit:
            w = np.int64(1)
        else:
            w = g.ewgt[e]
        if side[g.adjncy[e]] == own:
            inside += w
        else:
            out += w
            border = True
    return inside, out, border


@inlined
def row_of(queues, s, v):
    """The queue of vertex v on side s.

    queues : Queues, in
    s, v : int
    """
    if len(queues.dominant) == 0:
        return s
    return s * (len(queues.size) >> 1) + queues.dominant[v]


@inlined
def enlist(queues, row, v):
    """Put vertex v into a queue.

    queues : Queues, in and out
    row, v : int
    """
    queues.size[row] = push(queues.heap[row], queues.pos, queues.key, queues.key, queues.size[row], v)


@inlined
def delist(queues, row, v):
    """Take vertex v out of its queue.

    queues : Queues, in and out
    row, v : int
    """
    queues.size[row] = remove(queues.heap[row], queues.pos, queues.key, queues.key, queues.size[row], v)


@inlined
def renew(g, side, v, unit_gain, queues):
    """Renew the gains of the neighbours of v, which has just changed sides, and list those now at the border.

    g : Level, in
    side : (n,) int32, in
    v : int
    unit_gain : int                 what an edge of weight 1 counts
    queues : Queues, in and out
    """
    unit = len(g.ewgt) == 0
    to = side[v]
    for e in range(g.xadj[v], g.xadj[v + 1]):
        u = g.adjncy[e]
        if unit:
            w = 2 * unit_gain
        else:
            w = 2 * unit_gain * g.ewgt[e]
        row = row_of(queues, side[u], u)
        if side[u] == to:
            queues.key[u] -= w
            if queues.pos[u] >= 0:
                sift_down(queues.heap[row], queues.pos, queues.key, queues.key, queues.size[row], queues.pos[u])
        else:
            queues.key[u] += w
            if queues.pos[u] >= 0:
                sift_up(queues.heap[row], queues.pos, queues.key, queues.key, queues.pos[u])
            elif queues.state[u] == 0:
                enlist(queues, row, u)


@inlined
def drain(queues, row):
    """Take all vertices out of a queue.

    queues : Queues, in and out
    row : int
    """
    for i in range(queues.size[row]):
        queues.pos[queues.heap[row, i]] = -1
    queues.size[row] = 0


@inlined
def clear(queues, moves):
    """Leave the queues and the state as the next pass expects them.

    queues : Queues, in and out
    moves : int                     how many vertices are logged
    """
    for i in range(moves):
        queues.state[queues.log[i]] = 0
    for row in range(len(queues.size)):
        drain(queues, row)


@inlined
def excess_of(pwgt, limit):
    """Weight above the limits of both sides.

    pwgt, limit : (2,) int64, in
    """
    return max(pwgt[0] - limit[0], 0) + max(pwgt[1] - limit[1], 0)


@inlined
def flip(g, side, pwgt, population, v):
    """Move vertex v to the other side.

    g : Level, in
    side : (n,) int32, in and out
    pwgt, population : (2,) int64, in and out
    v : int
    """
    own = side[v]
    side[v] = 1 - own
    pwgt[own] -= g.vwgt[v]
    pwgt[1 - own] += g.vwgt[v]
    population[own] -= 1
    population[1 - own] += 1


@inlined
def giving_side(pwgt, limit, queues):
    """The side whose best vertex moves next: one over its limit, else the one of larger gain, else the fuller one.

    pwgt, limit : (2,) int64, in
    queues : Queues, in
    """
    if pwgt[0] > limit[0]:
        return 0
    if pwgt[1] > limit[1] or queues.size[0] == 0:
        return 1
    if queues.size[1] == 0:
        return 0
    a = queues.key[queues.heap[0, 0]]
    b = queues.key[queues.heap[1, 0]]
    return 0 if a > b or (a == b and pwgt[0] * limit[1] >= pwgt[1] * limit[0]) else 1


@inlined
def is_stuck(pwgt, limit, lightest, s):
    """Whether no vertex of side s may move: it is not over its limit, and the other side has no room for any.

    pwgt, limit : (2,) int64, in
    lightest : int                  least weight of a vertex
    s : int
    """
    return pwgt[s] <= limit[s] and pwgt[1 - s] + lightest > limit[1 - s]


@inlined
def take_back(g, side, pwgt, population, v, renewed, key):
    """Move vertex v back; if `renewed`, its gain and those of its neighbours as well.

    g : Level, in
    side : (n,) int32, in and out
    pwgt, population : (2,) int64, in and out
    v : int
    renewed : bool
    key : (n,) int64, in and out
    """
    flip(g, side, pwgt, population, v)
    if renewed:
        key[v] = -key[v]
        unit = len(g.ewgt) == 0
        for e in range(g.xadj[v], g.xadj[v + 1]):
            u = g.adjncy[e]
            if unit:
                w = np.int64(2)
            else:
                w = 2 * g.ewgt[e]
            key[u] += w if side[u] != side[v] else -w


@inner
def value_vertices(g, side, key, degree):
    """Gains of all vertices, without biases, and the weights of their edges.

    Apart from the pass, whose many arrays leave no registers to a loop over edges.

    g : Level, in
    side : (n,) int32, in
    key, degree : (n,) int64, out
    """
    unit = len(g.ewgt) == 0
    for v in range(len(side)):
        own = side[v]
        total = np.int64(0)
        out = np.int64(0)
        for e in range(g.xadj[v], g.xadj[v + 1]):
            if unit:
                w = np.int64(1)
            else:
                w = g.ewgt[e]
            total += w
            out += w if side[g.adjncy[e]] != own else 0
        key[v], degree[v] = 2 * out - total, total


@inner
def two_way_pass(g, bias, side, pwgt, population, least, limit, stall, known, queues):
    """One pass of FM with two sides; returns (decrease of the cost kept, excess left, cost before).

    The cost is the cut; with biases it is in units of 1 / `UNIT` and includes half the bias of each vertex that is on
    the side it is not drawn to, less half of those that are.  Every vertex moves at most once; the pass ends after
    `stall` moves beyond the best prefix, to which it rolls back.  A side over its limit gives first.  Gains are
    kept up to date by edge.

    g : Level, in
    bias : (n,) int64, in           how much more vertex v is drawn to side 0, in UNITs; empty for none
    side : (n,) int32, in and out
    pwgt : (2,) int64, in and out   weight of each side
    population : (2,) int64, in and out
    least : int                     vertices that must stay on each side
    limit : (2,) int64, in          largest weight of each side
    stall : int
    known : bool                    there are no biases, and the last pass, which kept moves, left the gains behind
    queues : Queues, in and out     two queues; clean before and after; `state` is not 0 where a vertex stays
    """
    n = len(g.vwgt)
    biased = len(bias) > 0
    unit_gain = np.int64(UNIT) if biased else np.int64(1)
    heap, size, key, degree = queues.heap, queues.size, queues.key, queues.degree
    size[:] = 0
    over = excess_of(pwgt, limit)
    heavy = over > 0
    if not known:
        value_vertices(g, side, key, degree)
    lightest = np.int64(0) if n == 0 else g.vwgt[0]
    cost = np.int64(0)
    for v in range(n):
        lightest = min(lightest, g.vwgt[v])
        cost += (key[v] + degree[v]) >> 1
    if biased:
        cost *= UNIT
        for v in range(n):
            drawn = bias[v] if side[v] == 1 else -bias[v]
            key[v] = UNIT * key[v] + drawn
            cost += drawn
    # the sides that vertices may leave
    first, last = is_stuck(pwgt, limit, lightest, 0), not is_stuck(pwgt, limit, lightest, 1)
    for v in range(n):
        # a bias may outweigh the edges anywhere; edges of weight 0 lead nowhere without one
        listed = heavy or key[v] > -degree[v]
        if biased:
            listed = heavy or key[v] >= 0 or ties(g, side, v)[2]
        if listed and queues.state[v] == 0 and first <= side[v] <= last:
            enlist(queues, side[v], v)
    total = np.int64(0)
    best = np.int64(0)
    best_over = over
    kept = 0
    moves = 0
    while True:
        for s in range(2):
            if is_stuck(pwgt, limit, lightest, s):
                drain(queues, s)
            # the best of each side that the other side has room for
            while size[s] > 0 and pwgt[s] <= limit[s]:
                v = heap[s, 0]
                if pwgt[1 - s] + g.vwgt[v] <= limit[1 - s]:
                    break
                delist(queues, s, v)
        own = giving_side(pwgt, limit, queues)
        if size[own] == 0 or population[own] <= least:
            break
        v = heap[own, 0]
        delist(queues, own, v)
        total += key[v]
        flip(g, side, pwgt, population, v)
        queues.state[v] = 1
        queues.log[moves] = v
        moves += 1
        over = excess_of(pwgt, limit)
        if over < best_over or (over == best_over and total > best):
            best, best_over, kept = total, over, moves
        elif moves - kept > stall:
            # its neighbours do not know yet
            take_back(g, side, pwgt, population, v, False, key)
            queues.state[v] = 0
            moves -= 1
            break
        key[v] = -key[v]
        renew(g, side, v, unit_gain, queues)
    for i in range(moves - 1, kept - 1, -1):
        # where nothing was won no other pass follows, and with biases it does not know the gains
        take_back(g, side, pwgt, population, queues.log[i], kept > 0 and not biased, key)
    clear(queues, moves)
    return best, best_over, cost // 2
