"""Pieces of work that do not depend on each other, such as one per component, on several threads.

Kernels, numpy and zlib release the interpreter lock, so plain threads suffice.  What a piece does is the same on any
number of threads.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from concurrent.futures import Future, ThreadPoolExecutor
from contextvars import ContextVar, copy_context
from functools import partial
from itertools import count
from threading import Lock
from types import TracebackType
from typing import Any, TypeVar

T = TypeVar("T")


class Idle:
    """Threads that pieces of work have left, and nobody has taken yet."""

    def __init__(self) -> None:
        self._free, self._one = 0, Lock()

    def leave(self, threads: int) -> None:
        """Have so many threads for others."""
        with self._one:
            self._free += threads

    def take(self) -> int:
        """How many there are; they are the caller's now, to leave them again."""
        with self._one:
            taken, self._free = self._free, 0
        return taken


#: The threads that the others have left, in a piece of work of :func:`side_by_side`; None elsewhere.
IDLE: ContextVar[Idle | None] = ContextVar("idle", default=None)


def side_by_side(work: Sequence[Callable[[], T]], threads: int, each: int = 1) -> list[T]:
    """The results of all pieces of work, in their order, from at most `threads` of them at once.

    Parameters
    ----------
    work : sequence of callable
    threads : int
        With 1, one piece is done after the other, and none after one that fails.
    each : int
        Threads that every piece has for itself.  Those of pieces that end when no other waits are left to the rest
        (:data:`IDLE`), as the largest ends last.

    Raises
    ------
    Exception
        What the first piece that failed raised.
    """
    idle, begun = Idle(), count(1)

    def done(piece: Callable[[], T]) -> T:
        before = IDLE.set(idle)
        last = next(begun) > len(work) - threads
        try:
            return piece()
        finally:
            IDLE.reset(before)
            if last:
                idle.leave(each)

    with Background(min(threads, len(work))) as pieces:
        for piece in work:
            pieces.begin(partial(done, piece))
        return pieces.results()


class Background:
    """Pieces of work that are begun while the caller does something else.

    Parameters
    ----------
    threads : int
        Of which the caller is one; with 1, nothing is begun before the results are asked for.

    Examples
    --------
    >>> with Background(2) as pieces:
    ...     pieces.begin(lambda: 1 + 1)
    ...     pieces.results()
    [2]
    """

    def __init__(self, threads: int):
        self._pool = ThreadPoolExecutor(threads - 1) if threads > 1 else None
        self._pieces: list[tuple[Callable[[], Any], Future[Any] | None]] = []

    def __enter__(self) -> Background:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, value: BaseException | None, trace: TracebackType | None
    ) -> None:
        if self._pool is not None:
            self._pool.shutdown(cancel_futures=True)

    def begin(self, piece: Callable[[], Any]) -> None:
        """Do this piece of work as soon as a thread is free."""
        # in the caller's context, as on one thread
        self._pieces.append((piece, self._pool.submit(copy_context().run, piece) if self._pool else None))

    def results(self) -> list[Any]:
        """The results of all pieces, in their order; the caller does those that have not begun.

        Raises
        ------
        Exception
            What the first piece that failed raised.
        """
        made = []
        for piece, begun in self._pieces:
            made.append(_done(piece) if begun is None or begun.cancel() else begun)
            if made[-1].done() and made[-1].exception() is not None:
                break
        return [one.result() for one in made]


def _done(piece: Callable[[], Any]) -> Future[Any]:
    """A piece of work, done here and now."""
    made: Future[Any] = Future()
    try:
        made.set_result(piece())
    except Exception as error:
        made.set_exception(error)
    return made


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

__all__ = ["IDLE", "Background", "Idle", "shares", "side_by_side"]
