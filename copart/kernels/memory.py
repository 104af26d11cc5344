"""Large arrays: on large pages, and in memory that earlier ones have left.

The first touch of memory from the system takes as long as much of the work on it does, longer where several threads
touch some, and five times as long on small pages as on large ones.  One after the other, the arrays of a partition need
four times as much as at any one time.
"""

from __future__ import annotations

import mmap
from bisect import insort
from collections import deque
from contextlib import ContextDecorator, suppress
from threading import Lock
from types import TracebackType
from typing import Any

import numpy as np
from numpy.typing import DTypeLike

Array = np.ndarray[Any, Any]

#: Bytes of a large page, and from which on an array gets pages of its own.
_LARGE = 1 << 21

#: Bytes from which on an array is in memory that is used again, and of a mapping for such arrays, at least.
_SHARED, _MAPPED = 1 << 16, 1 << 28


class _Mapping:
    """Memory from the system, in which arrays have blocks.

    Parameters
    ----------
    size : int
        Bytes.
    large : bool
        On large pages.  One that begins within the last half of it is small: most of it would not be used.
    """

    def __init__(self, size: int, *, large: bool = True):
        self._own = mmap.mmap(-1, size + 2 * _LARGE, flags=mmap.MAP_PRIVATE | mmap.MAP_ANONYMOUS)
        start = np.frombuffer(self._own, np.uint8).ctypes.data
        # large pages begin at multiples of their size
        self._skipped = -start % _LARGE
        self.start, self.size = start + self._skipped, size
        self.kept = False
        #: What no array uses, in order; and what was left since, by any thread at any time, even in the midst of
        #: `take`, as garbage is collected there as everywhere.
        self._free, self._left = [(0, size)], deque[tuple[int, int]]()
        with suppress(AttributeError, OSError):
            if large:
                self._own.madvise(mmap.MADV_HUGEPAGE, self._skipped, (size + _LARGE // 2) // _LARGE * _LARGE)
            else:
                self._own.madvise(mmap.MADV_NOHUGEPAGE)

    def take(self, size: int) -> _Block | None:
        """A block of `size` bytes, as far in front as one is free; none where none is.  One thread at a time."""
        while self._left:
            insort(self._free, self._left.popleft())
        free: list[tuple[int, int]] = []
        for first, end in self._free:
            if free and free[-1][1] == first:
                first = free.pop()[0]
            free.append((first, end))
        self._free = free
        for i, (first, end) in enumerate(free):
            if end - first >= size:
                middle = first + _whole_pages(size)
                free[i : i + 1] = [(middle, end)] if middle < end else []
                return _Block(self, first, middle, size)
        return None

    def leave(self, first: int, end: int) -> None:
        """Have bytes back that were taken."""
        if not self.kept:
            self._give_back(first, end)
        self._left.append((first, end))

    def give_back(self) -> None:
        """Give back to the system what is free, and what is left from now on."""
        self.kept = False
        for first, end in [*self._free, *self._left]:
            self._give_back(first, end)

    def _give_back(self, first: int, end: int) -> None:
        with suppress(AttributeError, OSError):
            self._own.madvise(mmap.MADV_DONTNEED, self._skipped + first, end - first)


class _Block:
    """Bytes first..end of a mapping, of which an array takes so many; they are left when nothing refers to it."""

    def __init__(self, mapping: _Mapping, first: int, end: int, size: int):
        self._mapping, self._first, self._end = mapping, first, end
        self.__array_interface__ = {"data": (mapping.start + first, False), "shape": (size,), "typestr": "|u1",
                                    "version": 3}

    def shorten(self, size: int) -> None:
        """Leave what is behind `size` bytes."""
        end = self._first + _whole_pages(size)
        if end < self._end:
            self._mapping.leave(end, self._end)
            self._end = end

    def __del__(self) -> None:
        if self._first < self._end:
            self._mapping.leave(self._first, self._end)


def _whole_pages(size: int) -> int:
    """`size`, rounded up to pages."""
    return size + -size % mmap.PAGESIZE


class _Reuse(ContextDecorator):
    """Mappings whose blocks are used again, as long as anybody is inside."""

    def __init__(self) -> None:
        self._inside = 0
        self._mappings: list[_Mapping] = []
        self._one = Lock()

    def __enter__(self) -> None:
        with self._one:
            self._inside += 1

    def __exit__(
        self, kind: type[BaseException] | None, value: BaseException | None, trace: TracebackType | None
    ) -> None:
        with self._one:
            self._inside -= 1
            if self._inside:
                return
            unused, self._mappings = self._mappings, []
        for one in unused:
            one.give_back()

    def take(self, size: int) -> _Block | None:
        """A block of `size` bytes; none where nobody is inside."""
        with self._one:
            if not self._inside:
                return None
            for one in self._mappings:
                block = one.take(size)
                if block is not None:
                    return block
            # each as large as all before together, so that there are few; what is not touched costs nothing
            more = max(size + -size % _LARGE, sum(one.size for one in self._mappings), _MAPPED)
            self._mappings.append(_Mapping(more))
            self._mappings[-1].kept = True
            return self._mappings[-1].take(size)


#: ``with reuse``, or in functions that are decorated with it, memory that arrays from :func:`pages` leave is for later
#: ones, in all threads.  Once nobody is inside, what is free goes back to the system: arrays of other sizes follow,
#: which would not fit into its pieces.
reuse = _Reuse()


def pages(count: int, dtype: DTypeLike) -> Array:
    """An array as from ``np.empty``, whose memory goes back to the system, or to others, when nothing refers to it.

    The C library keeps what it can, up to 32 MB an array, for later arrays that fit there; others come on top of it.
    Of those that outlive :data:`reuse`, each keeps addresses reserved for all that were made there: what users get is
    better made by numpy.
    """
    size = int(count) * np.dtype(dtype).itemsize
    if size < _SHARED or not hasattr(mmap, "MAP_ANONYMOUS"):
        return np.empty(count, dtype)
    try:
        block = reuse.take(size) or (_Mapping(_whole_pages(size)).take(size) if size >= _LARGE else None)
    except OSError:
        block = None  # numpy says that there is not enough
    return np.empty(count, dtype) if block is None else np.asarray(block).view(dtype)


def shortened(values: Array, count: int) -> Array:
    """The first `count` entries of an array from :func:`pages`, which nothing else refers to; frees what is behind."""
    whole: Any = values.base
    if whole is None:
        values.resize(count, refcheck=False)
        return values
    whole.base.shorten(int(count) * values.itemsize)
    return values[:count]


def seldom_filled(count: int, dtype: DTypeLike) -> Array:
    """An array with room for the worst case, of which mostly little is used.

    Its pages are small: a large one is cleared as a whole, 2 MB for one entry.
    """
    size = int(count) * np.dtype(dtype).itemsize
    with suppress(OSError):
        if size >= _LARGE and hasattr(mmap, "MAP_ANONYMOUS"):
            return np.asarray(_Mapping(_whole_pages(size), large=False).take(size)).view(dtype)
    return np.empty(count, dtype)


__all__ = ["pages", "reuse", "seldom_filled", "shortened"]
