"""Edge weights as kernels take them: 32 bits where they fit, half the memory to read in every round.

Kernels add them up in 64 bits.  For weights that do not fit they are compiled once more, on first use.
"""

from typing import Any

import numba
import numpy as np

#: Without compilation numpy would add 32-bit weights up in 32 bits.
EDGE_WEIGHT: Any = np.int64 if numba.config.DISABLE_JIT else np.int32  # type: ignore[attr-defined]

HEAVIEST = int(np.iinfo(EDGE_WEIGHT).max)


def narrowed(ewgt: Any) -> Any:
    """The weights (nentries,) int64 in the smallest type that kernels take and that holds each of them."""
    return ewgt.astype(EDGE_WEIGHT if ewgt.max(initial=0) <= HEAVIEST else np.int64, copy=False)


def type_for_sums(g: Any) -> Any:
    """The smallest type that holds the weight of any cut of a :class:`copart.kernels.Level`."""
    total = g.ewgt.sum(dtype=np.int64) if len(g.ewgt) else len(g.adjncy)
    return EDGE_WEIGHT if int(total) // 2 <= HEAVIEST else np.int64


def type_of(*levels: Any) -> Any:
    """The type that kernels take which holds the edge weights of all these levels, packed or not, if they have any."""
    return np.result_type(EDGE_WEIGHT, *(type_unpacked(g.ewgt.dtype) for g in levels if len(g.ewgt)))


def type_unpacked(kind: Any) -> Any:
    """The type that weights had before they were stored in the smallest unsigned type that holds them, `kind`."""
    if kind.kind != "u":
        return kind
    return EDGE_WEIGHT if kind.itemsize < EDGE_WEIGHT().itemsize else np.int64
