"""Large arrays on pages of their own."""

from __future__ import annotations

import mmap
from contextlib import suppress
from typing import Any

import numpy as np
from numpy.typing import DTypeLike

Array = np.ndarray[Any, Any]

#: Bytes of a large page, and from which on an array gets pages of its own.
_LARGE = 1 << 21


def pages(count: int, dtype: DTypeLike, *, filled: bool = True) -> Array:
    """An array as from ``np.empty``, whose memory goes back to the system as soon as nothing refers to it.

    The C library keeps what it can, up to 32 MB an array, for later arrays that fit there; others come on top of it.
    What it hands out new consists of small pages, whose first touch takes five times as long as that of large ones,
    and longer where several threads touch some.

    Parameters
    ----------
    filled : bool
        Most of it will be used.  Else its pages are small: a large one is cleared as a whole, 2 MB for one entry.
    """
    size = int(count) * np.dtype(dtype).itemsize
    if size < _LARGE or not hasattr(mmap, "MAP_ANONYMOUS"):
        return np.empty(count, dtype)
    try:
        own = mmap.mmap(-1, size + 2 * _LARGE, flags=mmap.MAP_PRIVATE | mmap.MAP_ANONYMOUS)
    except OSError:
        # says that there is not enough
        return np.empty(count, dtype)
    whole = np.frombuffer(own, np.uint8)
    # large pages begin at multiples of their size; the rest of the last one is never touched, and small
    first = -whole.ctypes.data % _LARGE
    with suppress(AttributeError, OSError):
        if filled:
            own.madvise(mmap.MADV_HUGEPAGE, first, (size + _LARGE // 2) // _LARGE * _LARGE)
        else:
            own.madvise(mmap.MADV_NOHUGEPAGE)
    return whole[first : first + size].view(dtype)


def shortened(values: Array, count: int) -> Array:
    """The first `count` entries of an array from :func:`pages`, which nothing else refers to; frees what is behind."""
    whole: Any = values.base
    if whole is None:
        values.resize(count, refcheck=False)
        return values
    end = values.ctypes.data + count * values.itemsize - whole.ctypes.data
    end += -end % mmap.PAGESIZE
    with suppress(AttributeError, OSError):
        whole.base.obj.madvise(mmap.MADV_DONTNEED, end, len(whole) - end)
    return values[:count]


def seldom_filled(count: int, dtype: DTypeLike) -> Array:
    """An array with room for the worst case, of which mostly little is used."""
    return pages(count, dtype, filled=False)


__all__ = ["pages", "seldom_filled", "shortened"]
