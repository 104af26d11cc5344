"""Pieces of work that do not depend on each other, such as one per component, on several threads.

Kernels, numpy and zlib release the interpreter lock, so plain threads suffice.  What a piece does is the same on any
number of threads.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextvars import copy_context
from typing import TypeVar

T = TypeVar("T")


def side_by_side(work: Sequence[Callable[[], T]], threads: int) -> list[T]:
    """The results of all pieces of work, in their order, from at most `threads` of them at once.

    Parameters
    ----------
    work : sequence of callable
    threads : int
        With 1, one piece is done after the other, and none after one that fails.

    Raises
    ------
    Exception
        What the first piece that failed raised.
    """
    if threads < 2 or len(work) < 2:
        return [piece() for piece in work]
    with ThreadPoolExecutor(min(threads, len(work))) as pool:
        # in the caller's context, as on one thread
        begun = [pool.submit(copy_context().run, piece) for piece in work]
    return [one.result() for one in begun]


def shares(sizes: Sequence[int], threads: int) -> tuple[int, int]:
    """Pieces of work of these sizes: how many at once, and how many threads each has.

    Several at once need no waiting for each other, but the largest alone decides how long it takes.

    Examples
    --------
    >>> shares([1000, 900], 2), shares([1000, 90], 2), shares([1000, 900], 4)
    ((2, 1), (1, 2), (2, 2))
    """
    most = min(len(sizes), threads)
    if most < 2 or max(sizes) > _MOST * sum(sizes):
        return 1, threads
    return most, threads // most


#: Above this share of the whole, the largest piece is better done alone by all threads: they bring about 1.4.
_MOST = 0.7

__all__ = ["shares", "side_by_side"]
