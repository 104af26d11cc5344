"""Everything compiled, nothing else.

The contract of a kernel: arguments are sizes, graph arrays, per-vertex inputs,
outputs, scratch, scalars; arrays, numbers and booleans only.  Outputs and
scratch come from the caller, nothing is allocated in a loop over vertices, the
return value is a count or a status.  Every kernel is also correct as plain
Python (``NUMBA_DISABLE_JIT=1``), and never draws from a hidden generator:
pseudo-random decisions hash the vertex number with a salt.

Edge weights: an empty ``ewgt`` means that every edge weighs 1.

Threads: kernels release the interpreter lock; a stage cuts its vertices into
ranges (:mod:`copart.kernels.parallel`) and every vertex decides from the frozen
state of the round before, so the result never depends on the cut.
"""

from numba import njit

kernel = njit(cache=True, nogil=True)
"""The one decorator of all kernels."""
