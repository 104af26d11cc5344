"""Threads inside one kernel: the first gives out work in pieces, and those that wait inside it, too, help.

To hand a kernel to another thread through Python takes 50 to 100 us, so that it pays for large pieces only, and all
that lies between two of them is the work of one thread.  Giving out a piece here takes less than one.

A thread that comes late helps from then on, and one that never comes is not missed: the first does whatever nobody
else has taken.  So the results must not depend on who does a piece, nor on how many pieces there are.
"""

from typing import Any, NamedTuple

import numpy as np
from numba.core import config

from . import inlined
from .atomic import add, exchange, give_way, peek, publish

LEFT, FINISHED, WORK, COUNT, PIECES, AT = 0, 8, 16, 17, 18, 24
"""Places of `Crew.at`: the pieces that nobody has taken, or `OVER`; how many are finished; what the work is, on how
many items, in how many pieces; and how long `Crew.at` is.  Places that threads write at the same time are in different
lines of the cache."""

_MOST, OVER = 1 << 10, -1
"""More pieces than there ever are; and in place of those that nobody has taken, that there is no more work.

Those are the number of the work, the first piece and the end in one number, so that no piece of other work is taken.
"""

LEAST, PER_THREAD = 512, 6
"""A piece has so many items, at least; and there are so many pieces per thread, at most: whoever is held up by others
on the machine does fewer."""

COMPILED = not config.DISABLE_JIT  # type: ignore[attr-defined]
"""As plain Python, threads that wait would keep the others from work."""

_PATIENCE = 2000
"""So often a thread looks for work before it lets others have the core."""


class Crew(NamedTuple):
    """The threads in a kernel.

    threads : int, of which there may be so many
    at : (AT,) int64, 0 before
    """

    threads: Any
    at: Any


@inlined
def give_out(crew, work, count):
    """Give out work on so many items, which is to be finished before more is given out; returns in how many pieces.

    crew : Crew, in and out
    work, count : int
    """
    at = crew.at
    pieces = np.int64(1)
    if crew.threads > 1:
        pieces = max(1, min(crew.threads * PER_THREAD, _MOST - 1, count // LEAST))
    at[WORK], at[COUNT], at[PIECES], at[FINISHED] = work, count, pieces, 0
    publish(at, LEFT, (at[LEFT] // _MOST // _MOST + 1) * _MOST * _MOST + pieces)
    return pieces


@inlined
def _are_left(left):
    """Whether there are pieces that nobody has taken.

    left : int                          all of them in one number
    """
    return left >= 0 and left // _MOST % _MOST < left % _MOST


@inlined
def take(crew, me):
    """The number of a piece that nobody has taken; -1 where none is left.

    The first thread takes the first, others the last: with two, each has about the same vertices all the time.

    crew : Crew, in and out
    me : int                            number of the thread
    """
    left = peek(crew.at, LEFT)
    while _are_left(left):
        first, end = left // _MOST % _MOST, left % _MOST
        if me == 0:
            if exchange(crew.at, LEFT, left, left + _MOST):
                return first
        elif exchange(crew.at, LEFT, left, left - 1):
            return end - 1
        left = peek(crew.at, LEFT)
    return -1


@inlined
def finish(crew):
    """Say that a piece is finished.

    crew : Crew, in and out
    """
    add(crew.at, FINISHED, 1)


@inlined
def await_others(crew):
    """Wait until the pieces that others have taken are finished.

    crew : Crew, in
    """
    looked = 0
    while peek(crew.at, FINISHED) < crew.at[PIECES]:
        looked += 1
        if looked > _PATIENCE:
            give_way()


@inlined
def await_work(crew):
    """Wait for work; whether there is any, or it is over.

    crew : Crew, in
    """
    looked = 0
    left = peek(crew.at, LEFT)
    while left >= 0 and not _are_left(left):
        looked += 1
        if looked > _PATIENCE:
            give_way()
        left = peek(crew.at, LEFT)
    return left >= 0


@inlined
def send_home(crew):
    """Say that it is over.

    crew : Crew, in and out
    """
    publish(crew.at, LEFT, OVER)


__all__ = ["AT", "COMPILED", "COUNT", "LEAST", "LEFT", "OVER", "PER_THREAD", "PIECES", "WORK", "Crew", "await_others",
           "await_work", "finish", "give_out", "send_home", "take"]
