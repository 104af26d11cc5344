"""Everything compiled, nothing else.

The contract of a kernel: arguments are ranges, graph arrays, per-vertex inputs,
outputs, scratch, scalars; arrays, named tuples of arrays, numbers and booleans
only.  Outputs and scratch come from the caller, nothing is allocated in a loop
over vertices, the return value is a count or a status.  Every kernel is also
correct as plain Python (``NUMBA_DISABLE_JIT=1``), and never draws from a hidden
generator: pseudo-random decisions hash the vertex number with a salt.

Threads: kernels release the interpreter lock.  A stage that is linear in the
graph takes a range ``lo, hi`` as its first arguments, and every vertex decides
from the frozen state of the round before, so the result does not depend on how
:class:`copart.rounds.Team` cuts the range.
"""

from typing import Any, NamedTuple

from numba import njit

kernel = njit(cache=True, nogil=True)
"""The one decorator of all kernels."""

inlined = njit(cache=True, nogil=True, inline="always")
"""For small kernels called in inner loops of others: passing a named tuple on costs more than their work."""


class Level(NamedTuple):
    """The graph of one level as kernels see it.

    xadj (nvtxs+1,) int64, adjncy (2 nedges,) int32, ewgt (2 nedges,) int64 or empty
    where every edge weighs 1, vwgt (nvtxs,) int64, fixed (nvtxs,) int32 or empty
    where all vertices are free, origin (nvtxs,) int32 or empty and size (nvtxs,)
    int64 or empty: row of the affinity table and its factor for each vertex.
    """

    xadj: Any
    adjncy: Any
    ewgt: Any
    vwgt: Any
    fixed: Any
    origin: Any
    size: Any


class Pull(NamedTuple):
    """The affinity table by rows: parts idx[ptr[i]:ptr[i+1]] pull a vertex of origin i with val."""

    ptr: Any
    idx: Any
    val: Any
