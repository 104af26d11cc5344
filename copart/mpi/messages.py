"""Messages between fixed partners: set up once, then started and awaited again and again.

A :class:`Route` knows who sends values of which cells to whom; each exchange on it is a :class:`Transfer`, and several
may be under way.  Receives and sends without blocking measured as fast as persistent requests and neighbourhood
collectives (``benchmarks/exchange.py``), and let a wait have an end (:mod:`copart.mpi.line`).
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from itertools import accumulate
from types import MappingProxyType
from typing import Any, NamedTuple, Self

import numpy as np
from numpy.typing import NDArray

from ..errors import ConfigError
from .device import DeviceField
from .fields import Layout, told
from .line import Line

#: Layouts of fields on a route that have tags of their own.
LAYOUTS = 30
#: Tags of a line: to leave, to announce a layout on each of two routes, and to send data of each layout.
TAGS = 3 + 2 * LAYOUTS


class Sent(NamedTuple):
    """What this process has sent to others: messages, values (cells, whatever their fields) and bytes of fields."""

    messages: int = 0
    values: int = 0
    bytes: int = 0


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
        # of new ones, the names that come and all requests
        self._named: dict[Layout, tuple[list[NDArray[np.uint8]], list[Any]]] = {}

    def start(self, layout: Layout, fields: Sequence[Any] | None, arrays: DeviceField | None = None) -> Transfer:
        """Send `fields` and expect those of others, all of this layout; processes that send nothing give None.

        Fields on a device are packed and received by `arrays`.
        """
        self.line.check()
        try:
            known = self._known.get(layout)
            if known is None:
                known = self._data + len(self._known) % LAYOUTS, self._values * layout.width
                self._known[layout] = known
                self._tell(layout)
            tag, size = known
            self._started[0] += 1
            self._started[1] += size
            return Transfer(self, layout, tag, fields, arrays or layout)
        except BaseException as error:
            self.line.abandon(error, self)
            raise

    def _tell(self, layout: Layout) -> None:
        """Send the name of a layout ahead of its first data, and expect those of others."""
        comm, byte = self.line.comm, self.line.byte
        names, requests = self._named[layout] = [np.zeros_like(layout.name) for _ in self.receives], []
        for name, (rank, _, _) in zip(names, self.receives, strict=True):
            requests.append(comm.Irecv([name, byte], rank, self._announce))
        for rank, _, _ in self.sends:
            requests.append(comm.Isend([layout.name, byte], rank, self._announce))

    def confirm(self, layout: Layout, wait: bool = True) -> bool:
        """Whether the names of this layout have come, which is seen once; a wait makes sure of it.

        Raises
        ------
        ExchangeError
            Others sent another one, or nothing.
        """
        if layout not in self._named:
            return True
        names, requests = self._named[layout]
        if not wait and not self.line.complete(requests):
            return False
        self.line.wait(requests, self.ranks)
        for name, rank in zip(names, self.ranks, strict=False):
            if not np.array_equal(name, layout.name):
                raise self.line.fail(f"exchange: {self.line.called(rank)} sends {told(name)}, expected is "
                                     f"{layout.said}")
        del self._named[layout]
        return True

    def named(self, layout: Layout) -> list[Any]:
        """The requests of its names, those to receive first."""
        return self._named[layout][1] if layout in self._named else []

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
    are slices of one array.  The line holds the transfer until it is complete.
    """

    def __init__(self, route: Route, layout: Layout, tag: int, fields: Sequence[Any] | None,
                 arrays: Layout | DeviceField):
        comm, byte = route.line.comm, route.line.byte
        self._route, self._layout, self._tag, self._arrays = route, layout, tag, arrays
        self._came = came = arrays.empty(route.nreceived)
        self._packed: list[Any] = []  # kept until it is sent
        route.line.hold(self)
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
        line = self._route.line
        line.check_whole()
        try:
            self._route.confirm(self._layout)
            line.wait(self._requests, self._route.ranks, self._instead)
        except BaseException as error:  # a signal, too
            line.abandon(error, self)
            raise
        line.release(self)
        return self._arrays.unpacked(self._came)

    def complete(self) -> bool:
        """Whether all has come and gone, without a wait."""
        return self._route.confirm(self._layout, wait=False) and self._route.line.complete(self._requests)

    def cancel(self) -> list[Any]:
        """Expect nothing more; the requests that are to be completed."""
        count = len(self._route.receives)
        both = [self._requests, self._route.named(self._layout)]
        for requests in both:
            for request in requests[:count]:
                if request:
                    request.Cancel()
        return [request for requests in both for request in requests]

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
        """Until it is complete; what the blocking call would have returned.

        Where it is not called, what came is lost and later exchanges get their own values.  Where a signal ends it
        with an error of its own (as Ctrl-C), nothing more can be exchanged.
        """
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


__all__ = ["LAYOUTS", "TAGS", "Pending", "Route", "Routes", "Sent", "Transfer"]
