"""What processes that share a graph call of a round of Jet; threads of one process call it inside others."""

from . import kernel, refinement


@kernel
def propose(lo, hi, g, pull, s, now, warmth, dest, gain, live, conn, touched):
    """As :func:`copart.kernels.refinement.propose`."""
    refinement.propose(lo, hi, g, pull, s, now, warmth, dest, gain, live, conn, touched)


@kernel
def afterburn(lo, hi, g, pull, s, dest, gain, go):
    """As :func:`copart.kernels.refinement.afterburn`."""
    refinement.afterburn(lo, hi, g, pull, s, dest, gain, go)
