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


def pages(count: int, dtype: DTypeLike) -> Array:
    """An array as from ``np.empty``, whose memory goes back to the system as soon as nothing refers to it.

    The C library keeps what it can, up to 32 MB an array, for later arrays that fit there; others come on top of it.
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
        own.madvise(mmap.MADV_HUGEPAGE)
    return np.frombuffer(own, dtype)


__all__ = ["pages"]
