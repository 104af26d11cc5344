"""Moves of vertices between parts, with all that follows from one."""

import numpy as np

from . import inlined, kernel
from .connectivity import pull_of
from .refinement import ACTIVE, BORDER, PINNED


@inlined
def excess_above(pwgt, limit):
    """Weight above the limits, summed over the parts.

    pwgt, limit : (nparts,) int64, in
    """
    total = np.int64(0)
    for p in range(len(limit)):
        total += max(pwgt[p] - limit[p], 0)
    return total


@inlined
def transfer(g, part, pwgt, population, v, to):
    """Move v to part `to`.

    g : Level, in
    part : (nvtxs,) int32, in and out
    pwgt, population : (nparts,) int64, in and out
    v, to : int
    """
    own = part[v]
    part[v] = to
    pwgt[own] -= g.vwgt[v]
    pwgt[to] += g.vwgt[v]
    population[own] -= 1
    population[to] += 1


@inlined
def activate(g, s, v):
    """Put v and its neighbours on both lists where they are not yet.

    g : Level, in
    s : State, in and out
    v : int
    """
    for e in range(g.xadj[v] - 1, g.xadj[v + 1]):
        u = v
        if e >= g.xadj[v]:
            u = g.adjncy[e]
        flags = s.listed[u]
        if flags & PINNED:
            continue
        if not flags & ACTIVE:
            s.active[s.count[0]] = u
            s.count[0] += 1
        if not flags & BORDER:
            s.border[s.count[1]] = u
            s.count[1] += 1
        s.listed[u] = flags | ACTIVE | BORDER


@inlined
def log_move(g, s, v, to, now):
    """Move v and log it; what it touches is still to be listed.

    g : Level, in
    s : State, in and out           the log has room
    v, to : int
    now : int                       number of the round
    """
    s.log[0, s.count[2]] = v
    s.log[1, s.count[2]] = s.part[v]
    s.count[2] += 1
    s.moved_in[v] = now + 1
    transfer(g, s.part, s.pwgt, s.population, v, to)


@inlined
def gain_of(g, pull, part, v, to):
    """Decrease of the cut when v moves to part `to`, affinities included.

    g : Level, in
    pull : Pull, in
    part : (nvtxs,) int32, in
    v, to : int
    """
    own = part[v]
    unit = len(g.ewgt) == 0
    total = pull_of(g, pull, v, to) - pull_of(g, pull, v, own)
    for e in range(g.xadj[v], g.xadj[v + 1]):
        p = part[g.adjncy[e]]
        if p == to or p == own:
            if unit:
                w = np.int64(1)
            else:
                w = g.ewgt[e]
            if p == to:
                total += w
            else:
                total -= w
    return total


@inlined
def move_and_log(g, pull, s, v, to, now):
    """Move v, log it, list what it touches; returns the decrease of the cut.

    g : Level, in
    pull : Pull, in
    s : State, in and out           the log has room
    v, to : int
    now : int                       number of the round
    """
    won = gain_of(g, pull, s.part, v, to)
    log_move(g, s, v, to, now)
    activate(g, s, v)
    return won


@kernel
def undo_moves(g, s):
    """Take back the logged moves, newest first, and empty the log.

    g : Level, in
    s : State, in and out           the lists stay as they are
    """
    for i in range(s.count[2] - 1, -1, -1):
        transfer(g, s.part, s.pwgt, s.population, s.log[0, i], s.log[1, i])
    s.count[2] = 0
