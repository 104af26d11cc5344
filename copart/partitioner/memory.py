"""Large arrays on pages of their own."""

from __future__ import annotations

import mmap
from contextlib import suppress
from typing import Any

import numpy as np
from numpy.typing import DTypeLike

Array = np.ndarray[Any, Any]

#: Bytes from which on an array gets pages of its own, and large ones where there are any, as numpy asks for.
_LARGE = 1 << 22


def pages(count: int, dtype: DTypeLike, *, filled: bool = True) -> Array:
    """An array as from ``np.empty``, whose memory goes back to the system as soon as nothing refers to it.

    The C library keeps what it can, up to 32 MB an array, for later arrays that fit there; others come on top of it.

    Parameters
    ----------
    filled : bool
        Most of it will be used.  Else its pages are small: a large one is cleared as a whole, 2 MB for one entry.
    """
    size = int(count) * np.dtype(dtype).itemsize
    if size < _LARGE or not hasattr(mmap, "MAP_ANONYMOUS"):
        return np.empty(count, dtype)
    try:
        own = mmap.mmap(-1, size, flags=mmap.MAP_PRIVATE | mmap.MAP_ANONYMOUS)
    except OSError:
        # says that there is not enough
        return np.empty(count, dtype)
    with suppress(AttributeError, OSError):
        own.madvise(mmap.MADV_HUGEPAGE if filled else mmap.MADV_NOHUGEPAGE)
    return np.frombuffer(own, dtype)


def seldom_filled(count: int, dtype: DTypeLike) -> Array:
    """An array with room for the worst case, of which mostly little is used."""
    return pages(count, dtype, filled=False)


__all__ = ["pages", "seldom_filled"]
