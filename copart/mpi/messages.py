"""Messages between fixed partners: set up once, then started and awaited again and again.

A :class:`Route` knows who sends values of which cells to whom; each exchange on it is a :class:`Transfer`, and several
may be under way.  Receives and sends without blocking measured as fast as persistent requests and neighbourhood
collectives (``benchmarks/exchange.py``), and let a wait have an end: partners that leave say so, and what does not come
within the time limit is an error that names who did not send.
"""

from __future__ import annotations

import atexit
import os
import time
import weakref
from collections.abc import Callable, Mapping, Sequence
from contextlib import suppress
from itertools import accumulate
from types import MappingProxyType
from typing import Any, NamedTuple, Self

import numpy as np
from numpy.typing import NDArray

from ..errors import ConfigError, ExchangeError
from .device import DeviceField
from .fields import Layout, told

#: Seconds of polling without a break, then with one of so many seconds each time.
_EAGER, _NAP = 0.02, 2e-4
#: Seconds that data of a partner may still need after its farewell has come.
_LATE = 2.0
#: So many transfers of a line are kept before those are looked for that are complete, and that nobody waits for.
_HELD = 8
#: Layouts of fields on a route that have tags of their own.
LAYOUTS = 30
#: Tags of a line: to leave, to announce a layout on each of two routes, and to send data of each layout.
TAGS = 3 + 2 * LAYOUTS


class Sent(NamedTuple):
    """What this process has sent to others: messages, values (cells, whatever their fields) and bytes of fields."""

    messages: int = 0
    values: int = 0
    bytes: int = 0


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
        self.byte, self.all_complete = MPI.BYTE, MPI.Request.Testall
        self.partners = sorted(set(partners) - {comm.rank})
        self.broken: str | None = None
        self._under_way: list[Transfer] = []
        self.gone: set[int] = set()
        self.left = False
        _open.add(self)

    def check(self) -> None:
        """Raise where nothing can be exchanged any more."""
        if self.left:
            raise ExchangeError("exchange: is closed")
        if self._freed():
            raise ExchangeError("exchange: its communicator was freed")
        if self.broken is not None:
            raise ExchangeError(f"exchange: is of no use after an error: {self.broken}")

    def fail(self, text: str) -> ExchangeError:
        """The error to raise; all that follows is refused."""
        self.broken = text
        return ExchangeError(text)

    def hold(self, transfer: Transfer) -> Transfer:
        """Keep a transfer, whose memory MPI reads and writes, until it is complete, whoever forgets it."""
        if len(self._under_way) >= _HELD:
            self._under_way = [one for one in self._under_way if not one.complete()]
        self._under_way.append(transfer)
        return transfer

    def let_go(self, transfer: Transfer) -> None:
        """It is complete."""
        with suppress(ValueError):
            self._under_way.remove(transfer)

    def _freed(self) -> bool:
        from mpi4py import MPI

        return bool(self.comm == MPI.COMM_NULL)

    def leave(self) -> None:
        """Tell the partners that nothing more comes from here; no wait."""
        from mpi4py import MPI

        if not self.left:
            self.left = True
            _open.discard(self)
            if MPI.Is_finalized() or self._freed():  # the program has ended MPI itself, or all that is on this
                return
            farewells = [self.comm.Isend([np.zeros(0, np.uint8), self.byte], rank, self.tag) for rank in self.partners]
            _poll(farewells, 0.05)

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
        while not self.all_complete(requests):
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


_open: weakref.WeakSet[Line] = weakref.WeakSet()


@atexit.register
def _leave_all() -> None:
    """Programs that end, with an error or without, tell their partners."""
    for line in list(_open):
        with suppress(Exception):
            line.leave()


class Route:
    """One direction: the values of which cells go to whom, and how many come from whom.

    Parameters
    ----------
    line : Line
    number : {0, 1}
        A different one for each route of a line.
    targets : sequence of (rank, (n,) int array)
        Where values are sent, and which entries of a field.
    sources : sequence of (rank, int)
        From where values come, and how many.
    """

    def __init__(self, line: Line, number: int, targets: Sequence[tuple[int, NDArray[Any]]],
                 sources: Sequence[tuple[int, int]]):
        self.line, self._started = line, [0, 0]  # exchanges, and bytes sent in them
        self._announce, self._data = line.tag + 1 + number, line.tag + 3 + LAYOUTS * number
        self.index = np.concatenate([np.zeros(0, np.int64), *(index for _, index in targets)])
        self.nreceived, own = sum(count for _, count in sources), line.comm.rank
        out, come = _slices([(rank, len(index)) for rank, index in targets]), _slices(sources)
        self.stays = [(out[own], come[own])] if own in out else []
        self.sends, self.receives = ([(rank, lo, hi) for rank, (lo, hi) in side.items() if rank != own]
                                     for side in (out, come))
        self.ranks = [rank for rank, _, _ in (*self.receives, *self.sends)]
        self._values = sum(hi - lo for _, lo, hi in self.sends)
        # tag and bytes to send of each layout
        self._known: dict[Layout, tuple[int, int]] = {}

    def start(self, layout: Layout, fields: Sequence[Any] | None, arrays: DeviceField | None = None) -> Transfer:
        """Send `fields` and expect those of others, all of this layout; processes that send nothing give None.

        Fields on a device are packed and received by `arrays`.
        """
        self.line.check()
        known, announce = self._known.get(layout), None
        if known is None:
            known = self._data + len(self._known) % LAYOUTS, self._values * layout.width
            self._known[layout], announce = known, self._announce
        tag, size = known
        self._started[0] += 1
        self._started[1] += size
        return self.line.hold(Transfer(self, layout, tag, announce, fields, arrays or layout))

    @property
    def sent(self) -> Sent:
        """What this process has sent to others on the route."""
        exchanges, size = self._started
        return Sent(exchanges * len(self.sends), exchanges * self._values, size)

    def forget(self) -> None:
        """Count from here on."""
        self._started = [0, 0]

    def instead(self, rank: int, tag: int) -> str | None:
        """What has come from a rank with another tag than this and is not waited for; None for nothing."""
        if self.line.comm.Iprobe(rank, self._announce):
            return "other fields for the first time"
        for layout, (other, _) in self._known.items():
            if other != tag and self.line.comm.Iprobe(rank, other):
                return layout.said
        return None


class Transfer:
    """One exchange on a route, under way.

    Each message is packed right before it is sent, so that its receiver copies while the next one is packed; what comes
    are slices of one array.  The first time that a layout is used, its name goes ahead of the data.
    """

    def __init__(self, route: Route, layout: Layout, tag: int, announce: int | None,
                 fields: Sequence[Any] | None, arrays: Layout | DeviceField):
        comm, byte = route.line.comm, route.line.byte
        self._route, self._layout, self._tag, self._arrays = route, layout, tag, arrays
        self._came = came = arrays.empty(route.nreceived)
        self._packed: list[Any] = []  # kept until it is sent
        self._names: list[NDArray[np.uint8]] = []
        self._named: list[Any] = []
        if announce is not None:
            self._names = [np.zeros_like(layout.name) for _ in route.receives]
            self._named = [comm.Irecv([name, byte], rank, announce)
                           for name, (rank, _, _) in zip(self._names, route.receives, strict=True)]
            self._named += [comm.Isend([layout.name, byte], rank, announce) for rank, _, _ in route.sends]
        self._requests = [comm.Irecv([came[lo:hi], byte], rank, tag) for rank, lo, hi in route.receives]
        fields = fields or ()  # where nothing is sent
        for rank, lo, hi in route.sends:
            self._packed.append(arrays.packed(fields, route.index[lo:hi]))
            self._requests.append(comm.Isend([self._packed[-1], byte], rank, tag))
        for (lo, hi), come in route.stays:
            came[slice(*come)] = arrays.packed(fields, route.index[lo:hi])

    def wait(self) -> list[Any]:
        """Until all has come and gone: the values that came, source after source, in an array per field.

        Raises
        ------
        ExchangeError
            Other fields came than were expected, or nothing.
        """
        line, ranks = self._route.line, self._route.ranks
        try:
            if self._named:
                line.wait(self._named, ranks)
                for name, rank in zip(self._names, ranks, strict=False):
                    if not np.array_equal(name, self._layout.name):
                        raise line.fail(f"exchange: {line.called(rank)} sends {told(name)}, expected is "
                                        f"{self._layout.said}")
            line.wait(self._requests, ranks, self._instead)
        except ExchangeError:
            raise
        except BaseException as error:  # such as Ctrl-C
            line.fail(f"exchange: a wait was interrupted ({type(error).__name__})")
            raise
        line.let_go(self)
        return self._arrays.unpacked(self._came)

    def complete(self) -> bool:
        """Whether all has come and gone."""
        return bool(self._route.line.all_complete([*self._named, *self._requests]))

    def _instead(self, rank: int) -> str | None:
        """What else came from a rank, that nothing waits for."""
        return self._route.instead(rank, self._tag)


class Pending:
    """An exchange under way.

    Parameters
    ----------
    transfer : Transfer
    finish : callable
        What is made of the fields that came.
    """

    def __init__(self, transfer: Transfer, finish: Callable[[list[Any]], Any]):
        self._transfer, self._finish, self._done = transfer, finish, False

    def wait(self) -> Any:
        """Until it is complete; what the blocking call would have returned."""
        if self._done:
            raise ConfigError("wait: this exchange is complete, its result was returned")
        received = self._transfer.wait()
        self._done = True
        return self._finish(received)


class Routes:
    """Routes over one line, with their counters and an end."""

    _line: Line
    _routes: dict[str, Route]

    @property
    def sent(self) -> Mapping[str, Sent]:
        """What this process has sent to others since set-up, by direction."""
        return MappingProxyType({name: route.sent for name, route in self._routes.items()})

    def close(self) -> None:
        """Tell the partners that this process exchanges nothing more; also done when the program ends."""
        self._line.leave()

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()


def _slices(counts: Sequence[tuple[int, int]]) -> dict[int, tuple[int, int]]:
    """By rank begin and end of its message in the array of all."""
    ends = accumulate(count for _, count in counts)
    return {rank: (end - count, end) for (rank, count), end in zip(counts, ends, strict=True)}


def _poll(requests: list[Any], seconds: float) -> None:
    """Give requests some time; what is not complete then is left alone."""
    from mpi4py import MPI

    end = time.perf_counter() + seconds
    while not MPI.Request.Testall(requests) and time.perf_counter() < end:
        time.sleep(_NAP)


__all__ = ["LAYOUTS", "TAGS", "Line", "Pending", "Route", "Routes", "Sent", "Transfer"]
