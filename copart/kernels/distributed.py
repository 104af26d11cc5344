"""Rounds of Jet by processes that share a graph: what they call; threads of one process do the same inside one call."""

from . import kernel
from .jet_pieces import mark, move
from .refinement import afterburn, propose


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


@kernel
def apply_moves(g, pull, s, dest, go, live, now, none):
    """Apply the surviving moves in list order, never emptying a part, none above its room, and renew the active list.

    Kept on it are live entries and the neighbours of moved vertices.  Returns the decrease of the cut.

    g : Level, in
    pull : Pull, in
    s : State, in and out               the log has room for all moves
    dest : (nvtxs,) int32, in and out   part proposed to each vertex; -1 everywhere afterwards
    go : (nvtxs,) uint8, in             by place on the active list, 1 for moves to apply
    live : (nvtxs,) uint8, in           by place on the active list, 0 for what leaves it
    now : int                           number of the round
    none : (2, 0) int64                 not used
    """
    logged = s.count[2]
    move(0, s.count[0], True, g, s, dest, go, live, now, none)
    won = mark(logged, s.count[2], True, g, pull, s, dest)
    for j in range(logged, s.count[2]):
        dest[s.log[0, j]] = -1
    return won
