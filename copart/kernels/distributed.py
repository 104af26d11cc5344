"""Rounds of Jet by processes that share a graph: what they call; threads of one process do the same inside one call."""

import numpy as np

from . import inlined, kernel
from .moves import move_and_log
from .refinement import ACTIVE, afterburn, propose


@kernel
def propose_among_processes(lo, hi, g, pull, s, now, warmth, dest, gain, live, conn, touched):
    """As :func:`copart.kernels.refinement.propose`, to which all is handed on.

    lo, hi : int
    g, pull, s : Level, Pull, State, in
    now : int
    warmth : float
    dest : (nvtxs,) int32, out
    gain : (nvtxs,) int64, out
    live : (nvtxs,) uint8, out
    conn : (nparts,) int64, scratch
    touched : (nparts,) int32, scratch
    """
    propose(lo, hi, g, pull, s, now, warmth, dest, gain, live, conn, touched)


@kernel
def afterburn_among_processes(lo, hi, g, pull, s, dest, gain, go):
    """As :func:`copart.kernels.refinement.afterburn`, to which all is handed on.

    lo, hi : int
    g, pull, s : Level, Pull, State, in
    dest : (nvtxs,) int32, in
    gain : (nvtxs,) int64, in
    go : (nvtxs,) uint8, out
    """
    afterburn(lo, hi, g, pull, s, dest, gain, go)


@inlined
def _has_room(s, p, weight):
    """Whether so much more may go into part p in a round.

    s : State, in
    p, weight : int
    """
    return len(s.room) == 0 or s.pwgt[p] + weight <= s.room[p]


@kernel
def apply_moves(g, pull, s, dest, go, live, now):
    """Apply the surviving moves in list order, never emptying a part, none above its room, and renew the active list.

    Kept on it are live entries and the neighbours of moved vertices.  Returns the decrease of the cut.

    g : Level, in
    pull : Pull, in
    s : State, in and out               the log has room for all moves
    dest : (nvtxs,) int32, in and out   part proposed to each vertex; -1 everywhere afterwards
    go : (nvtxs,) uint8, in and out     by place on the active list, 1 for moves to apply; overwritten
    live : (nvtxs,) uint8, in           by place on the active list, 0 for what leaves it
    now : int                           number of the round
    """
    # the list shrinks before the moves, which put back whatever they touch
    kept = 0
    for i in range(s.count[0]):
        v = s.active[i]
        if live[i] == 1:
            s.active[kept] = v
            go[kept] = go[i]
            kept += 1
        else:
            s.listed[v] &= 255 - ACTIVE
    s.count[0] = kept
    total = np.int64(0)
    for i in range(kept):
        v = s.active[i]
        if go[i] == 1 and s.population[s.part[v]] > 1 and _has_room(s, dest[v], g.vwgt[v]):
            total += move_and_log(g, pull, s, v, dest[v], now)
    for i in range(kept):
        dest[s.active[i]] = -1
    return total
