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
:class:`copart.partitioner.rounds.Team` cuts the range.
"""

from collections.abc import Callable
from typing import Any, NamedTuple

from numba import njit
from numba.core.options import DefaultOptions

from .cache import checked
from .clock import timed as timed
from .entries import without_entry
from .linking import linked
from .signatures import settled

try:
    from .compiling import COMPILED_BY
except (AttributeError, ImportError, TypeError):
    # another numba, whose inner parts are other ones: it compiles as it does by itself
    COMPILED_BY: dict[str, Any] = {}  # type: ignore[no-redef]

# numba counts references to every array when a name is bound and when it goes out of scope, by atomic instructions.  It
# drops most of that, but not where branches use different fields of a tuple or rows of a table are passed on: there it
# took up to nine tenths of the time.  What a kernel is handed outlives the call, so nothing needs to be counted.
# The option is none of numba's public ones: where it is gone, kernels are as right, and slower.
_OPTIONS: dict[str, Any] = {"cache": True, "nogil": True, **COMPILED_BY}
_COUNTED, _UNCOUNTED = ({"_nrt": count} if hasattr(DefaultOptions, "_nrt") else {} for count in (True, False))
# Nothing calls a kernel as a C function, and an entry for that takes an eighth of the time to compile.
if hasattr(DefaultOptions, "no_cfunc_wrapper"):
    _OPTIONS["no_cfunc_wrapper"] = True
_WITHOUT_ENTRY = {"no_cpython_wrapper": True} if hasattr(DefaultOptions, "no_cpython_wrapper") else {}


def _decorator(**options: Any) -> Callable[[Any], Any]:
    def made(function: Any, options: dict[str, Any]) -> Any:
        kernel = checked(njit(**options)(function))
        if "no_cpython_wrapper" in options:
            kernel = without_entry(kernel)
        return settled(linked(kernel))

    def decorate(function: Any) -> Any:
        try:
            return made(function, {**_OPTIONS, **options})
        except RuntimeError:
            # there is no folder to keep it in, neither here nor at home
            return made(function, {**_OPTIONS, **options, "cache": False})
    return decorate


kernel = _decorator(**_UNCOUNTED)
"""The decorator of kernels.  No references are counted: they cannot make arrays or return them, which numba refuses."""

inner = _decorator(**_UNCOUNTED, **_WITHOUT_ENTRY)
"""For kernels of many arrays that only other kernels call: nothing is compiled for calls from Python."""

allocating = _decorator(**_COUNTED)
"""For the few kernels that make arrays of their own or return some; inner loops are in the kernels they call.

That has to be said, or they would take on the option of a kernel that calls them.
"""

inlined = _decorator(**_UNCOUNTED, inline="always")
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
