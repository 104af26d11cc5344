"""Orders of vertices that a salt tells, as kernels draw from no generator."""

from __future__ import annotations

from typing import Any

import numpy as np

from ..arrays import VERTEX
from ..kernels.rng import mix_each

Array = np.ndarray[Any, Any]

#: Bits of the number of a vertex.
_BITS = 31


def visiting_order(n: int, salt: int, bits: int = _BITS) -> Array:
    """(n,) int32: 0 to n - 1, shuffled by a hash; with `bits`, each block of 2^bits by itself."""
    rank = np.empty(n, np.int64)
    mix_each(np.arange(n, dtype=VERTEX), salt, rank)
    number, low = np.arange(n), (1 << bits) - 1
    # numbers behind their ranks: sorted several times faster than looked up by them
    key = np.sort((number >> bits << 32 + bits) | (rank << bits) | (number & low))
    return ((key >> 32 + bits << bits) | (key & low)).astype(VERTEX)


__all__ = ["visiting_order"]
