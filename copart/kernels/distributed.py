"""What processes that share a graph call of a round of Jet; threads of one process call it inside others."""

from . import kernel, refinement


@kernel
def propose(lo, hi, g, pull, s, now, warmth, dest, gain, live, conn, touched):
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
    refinement.propose(lo, hi, g, pull, s, now, warmth, dest, gain, live, conn, touched)


@kernel
def afterburn(lo, hi, g, pull, s, dest, gain, go):
    """As :func:`copart.kernels.refinement.afterburn`, to which all is handed on.

    lo, hi : int
    g, pull, s : Level, Pull, State, in
    dest : (nvtxs,) int32, in
    gain : (nvtxs,) int64, in
    go : (nvtxs,) uint8, out
    """
    refinement.afterburn(lo, hi, g, pull, s, dest, gain, go)
