"""The line between partners of an exchange: waits that have an end, farewells, and what is under way.

Partners that leave say so, and what does not come within the time limit is an error that names who did not send.  MPI
goes on with messages that nobody waits for any more, so that their arrays are kept here.
"""

from __future__ import annotations

import atexit
import ctypes
import os
import time
from collections.abc import Callable, Sequence
from contextlib import suppress
from typing import Any, Protocol

import numpy as np

from ..errors import ExchangeError

#: Seconds of polling without a break, then with one of so many seconds each time.
_EAGER, _NAP = 0.02, 2e-4
#: Seconds that data of a partner may still need after its farewell has come.
_LATE = 2.0
#: Seconds that partners may need to free a communicator, too.
_FREED = 10.0


class Held(Protocol):
    """Messages under way, with their arrays."""

    def complete(self) -> bool:
        """Whether all has come and gone, without a wait."""

    def cancel(self) -> list[Any]:
        """Expect nothing more; the requests that are to be completed."""


class Line:
    """The partners of an exchange, and what is to be known of them.

    Parameters
    ----------
    comm : mpi4py.MPI.Intracomm
    tag : int
        Of the message with which a partner leaves; those that follow are for the routes.
    partners : sequence of int
        Ranks that this one exchanges with.
    called : callable
        What a rank is called in errors.
    timeout : float or None
        Seconds that a wait may take; None for no limit.
    """

    def __init__(self, comm: Any, tag: int, partners: Sequence[int], called: Callable[[int], str],
                 timeout: float | None):
        from mpi4py import MPI

        self.comm, self.tag, self.called = comm, tag, called
        self.timeout = None if timeout is None else float(timeout)
        self.byte, self._complete = MPI.BYTE, MPI.Request.Testall
        self.partners = sorted(set(partners) - {comm.rank})
        self.broken: str | None = None
        # MPI writes to and reads from their arrays, whether or not anybody waits for them
        self.under_way: list[Held] = []
        self._abandoned: object = None
        self.gone: set[int] = set()
        self.left = self.freed = False
        _lines.difference_update([other for other in _lines if other.ended()])
        _lines.add(self)

    def check(self) -> None:
        """Raise where nothing can be exchanged any more."""
        self.check_whole()
        if self.left:
            raise ExchangeError("exchange: is closed")

    def check_whole(self) -> None:
        """Raise after an error; what was begun before the end can still be awaited."""
        if self.freed:
            raise ExchangeError("exchange: its communicator was freed")
        if self.broken is not None:
            raise ExchangeError(f"exchange: is of no use after an error: {self.broken}")

    def fail(self, text: str) -> ExchangeError:
        """The error to raise; all that follows is refused."""
        self.broken = text
        return ExchangeError(text)

    def abandon(self, error: BaseException, arrays: object) -> None:
        """Refuse all that follows, since an error has left messages that would be taken for later ones.

        What has the `arrays` of these is kept.
        """
        self._abandoned = arrays
        if self.broken is None:
            self.broken = f"{type(error).__name__} ended an exchange that was not complete"

    def hold(self, transfer: Held) -> None:
        """Keep the arrays of a transfer until it is complete, looked at here where nobody waits for it."""
        for other in [other for other in self.under_way if other.complete()]:
            self.release(other)
        self.under_way.append(transfer)

    def release(self, transfer: Held) -> None:
        """MPI is done with the arrays."""
        if transfer in self.under_way:
            self.under_way.remove(transfer)

    def complete(self, requests: list[Any]) -> bool:
        """Whether all are, without a wait."""
        return bool(self._complete(requests))

    def leave(self) -> None:
        """Tell the partners that nothing more comes from here; no wait."""
        from mpi4py import MPI

        if not self.left:
            self.left = True
            if MPI.Is_finalized():  # the program has ended MPI itself
                return
            farewells = [self.comm.Isend([np.zeros(0, np.uint8), self.byte], rank, self.tag) for rank in self.partners]
            _poll(farewells, 0.05)

    def ended(self) -> bool:
        """Whether nothing comes or goes any more, so that it need not be kept."""
        if not self.left or self.freed or self.broken is not None or self.under_way:
            return False
        self._look_for_farewells()
        return self.gone.issuperset(self.partners)

    def wait(self, requests: list[Any], ranks: list[int], other: Callable[[int], str | None] | None = None) -> None:
        """Until all requests are complete.

        Parameters
        ----------
        requests : list of mpi4py.MPI.Request
        ranks : list of int
            Their partners.
        other : callable, optional
            From a rank, what else came from it.  It may belong to the next exchange, so that it is told only
            where the time is over.

        Raises
        ------
        ExchangeError
            A partner has left, or the time is over.
        """
        begin = time.perf_counter()
        late: float | None = None
        while not self._complete(requests):
            now = time.perf_counter()
            if now - begin < _EAGER:
                os.sched_yield()
                continue
            time.sleep(_NAP)
            self._look_for_farewells()
            open_ = sorted({rank for request, rank in zip(requests, ranks, strict=True) if not request.Test()})
            left = [rank for rank in open_ if rank in self.gone]
            late = (late or now) if left else None
            if late is not None and now - late > _LATE:
                raise self.fail(f"exchange: {self._names(left)} left before this exchange was complete")
            if self.timeout is not None and now - begin > self.timeout and open_:
                came = [f", {self.called(rank)} sends {what} instead" for rank in open_
                        if other is not None and (what := other(rank)) is not None]
                more = came[0] if came else ""
                raise self.fail(f"exchange: nothing for {self.timeout:g} s from {self._names(open_)}{more}; do all "
                                f"processes start the same exchanges in the same order? (a longer limit: timeout=)")

    def _look_for_farewells(self) -> None:
        for rank in self.partners:
            if rank not in self.gone and self.comm.Iprobe(rank, self.tag):
                self.comm.Recv([np.zeros(0, np.uint8), self.byte], rank, self.tag)
                self.gone.add(rank)

    def _names(self, ranks: list[int]) -> str:
        shown = ", ".join(self.called(rank) for rank in ranks[:3])
        return shown + (f" and {len(ranks) - 3} more" if len(ranks) > 3 else "")


#: Kept where their exchange is gone, for farewells and arrays of messages under way.
_lines: set[Line] = set()


def end_all(comm: Any) -> bool:
    """End all exchanges on a communicator, and take what is left of their messages; whether all has come.

    MPI gives the number of a communicator that is freed to a later one, which would get those messages.
    """
    from mpi4py import MPI

    lines, end, status = [line for line in _lines if line.comm is comm], time.perf_counter() + _FREED, MPI.Status()
    for line in lines:
        line.leave()
        line.freed = True
    while not all(line.gone.issuperset(line.partners) for line in lines):
        for line in lines:
            line._look_for_farewells()
        if time.perf_counter() > end:
            return False
        os.sched_yield()
    # nothing comes after a farewell
    while (message := comm.Improbe(MPI.ANY_SOURCE, MPI.ANY_TAG, status)) is not None:
        message.Recv([np.empty(status.Get_count(MPI.BYTE), np.uint8), MPI.BYTE])
    requests = [request for line in lines for transfer in line.under_way for request in transfer.cancel()]
    if not _poll(requests, _FREED):
        return False
    _lines.difference_update([line for line in lines if line.broken is None])
    return True


@atexit.register
def _leave_all() -> None:
    """Programs that end, with an error or without, tell their partners."""
    for line in list(_lines):
        with suppress(Exception):
            line.leave()
    # MPI ends after Python has freed its objects, and may still write to these
    ctypes.pythonapi.Py_IncRef(ctypes.py_object(_lines))


def _poll(requests: list[Any], seconds: float) -> bool:
    """Give requests some time, and say whether all are complete; what is not is left alone."""
    from mpi4py import MPI

    end = time.perf_counter() + seconds
    while not (done := MPI.Request.Testall(requests)) and time.perf_counter() < end:
        time.sleep(_NAP)
    return bool(done)


__all__ = ["Held", "Line", "end_all"]
