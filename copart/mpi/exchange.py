"""The exchange of a coupled run: values of one code's cells go to the other code's processes as a plan says.

Set up once, used in every coupling step, as PETSc's star forest or a mesh of preCICE: the graph is given by cell ids at
set-up, fields come and go afterwards.  Every cell's value travels once to each process that needs it, so a step sends
exactly the messages (totZ) and values (totV) that the metrics of the plan state.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from types import MappingProxyType
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from ..arrays import frozen
from ..errors import ConfigError, ExchangeError
from ..names import FieldMapping, known_name
from .agreement import together
from .device import DeviceField, on_device
from .fields import Fields, Layout, expected, given
from .line import Line
from .members import collective_set_up, gather_members, private
from .messages import Pending, Route, Routes
from .results import Rows, placed, results_for
from .schedules import Pair, Schedule, schedule_of
from .sides import MAPPINGS, Overlaps, Side, made_of


class Exchange(Routes):
    """The exchange of one pair of components of a plan, on all processes of both.  Collective.

    Parameters
    ----------
    comm : mpi4py.MPI.Comm
        All processes of both codes in one communicator, or an inter-communicator between them.  To free it ends its
        exchanges, as :meth:`close` does.
    plan : path, Plan or (CoupledProblem, CoPartition)
        The folder of a plan, of which each process reads only its share, or the values themselves.
    pair : (str, str), optional
        The components that exchange, in the order of the plan; needed where it has several pairs.
    component : str, optional
        The component of this process.  Where no process says one, ranks are numbered as in the plan: component by
        component, or all components on each rank of a shared pool.
    part : int, optional
        Its part; the ranks of a component in `comm` in their order where not given.
    cells : (n,) array_like of int or mapping of str to such, optional
        The cells whose values the caller's arrays hold, in any order: all coupled ones of this part and whatever others
        there are.  The coupled ones, ascending (:attr:`cells`), where not given.  In a shared pool by component.
    timeout : float, optional
        Seconds that one exchange may wait for others, None for no limit.  Partners that end are noticed at once.

    Attributes
    ----------
    pair : (str, str)
        A and B: ``forward`` goes from A to B, ``backward`` from B to A.
    cells : mapping of str to (n,) int32
        By component that this process has a part of, the cells of one row of values each.
    ghosts : mapping of str to (n,) int32
        By the same, the cells of the other component whose values come here: the rows of a ``raw`` result.

    overlaps : mapping of str to Overlaps
        By the same, the interedges of this process, for mappings of one's own: rows of `cells`, of `ghosts`, weights.

    Raises
    ------
    ConfigError, FormatError, CouplingError, ExchangeError
        On all processes alike: the plan is unreadable, its numbers of parts are not those of the processes, plans
        differ between processes, or `cells` are not those of the part.

    Examples
    --------
    A heat flux goes from the solid to the fluid, temperatures come back::

        with Exchange(MPI.COMM_WORLD, "plan") as exchange:
            if "fluid" in exchange.cells:
                flux = exchange.backward(mapping="conservative")
            else:
                exchange.backward(flux, mapping="conservative")
    """

    @collective_set_up
    def __init__(self, comm: Any, plan: Any, pair: Pair | None = None, *, component: str | None = None,
                 part: int | None = None, cells: ArrayLike | Mapping[str, ArrayLike] | None = None,
                 timeout: float | None = 600.0):
        world, tag = private(comm)

        schedule, members = gather_members(comm, world, "Exchange", lambda: schedule_of(plan),
                                           lambda known: known.pair_of(pair), component, part, timeout)
        self.pair = schedule.pair_of(pair)
        self._sides, self._rows = together(world, "Exchange: its lists",
                                           lambda: self._opened(schedule, members.mine, cells))
        _compare(world, self.pair, self._sides)
        self._line = Line(world, tag, _partners(self._sides, self.pair, members.ranks), members.called, timeout)
        a, b = self.pair
        self._routes = {"forward": self._route(0, a, b, members.ranks), "backward": self._route(1, b, a, members.ranks)}
        self._tell_totals()
        self.cells: Mapping[str, NDArray[np.int32]] = MappingProxyType(
            {name: frozen(rows.cells) for name, rows in self._rows.items()})
        self.ghosts: Mapping[str, NDArray[np.int32]] = MappingProxyType(
            {name: frozen(side.ghosts) for name, side in self._sides.items()})
        self.overlaps: Mapping[str, Overlaps] = MappingProxyType(
            {name: side.overlaps._replace(cell=self._rows[name].where[side.overlaps.cell])
             for name, side in self._sides.items()})

    # ---- use
    def forward(self, values: Fields = None, *, like: Any = None, mapping: FieldMapping = "consistent",
                out: Fields = None) -> Any:
        """Bring values of the first component's cells to those of the second.

        Parameters
        ----------
        values : (n,) or (n, ncomp) array of numbers, or list of such
            On processes of the sending component: one row for each of its :attr:`cells`; several fields travel in
            one message.  NaN passes unchanged.
        like : array, data type or list of such, optional
            On processes of the receiving component: what to expect, as ``"f8"`` (the default), ``"3f8"`` for vectors.
        mapping : {"consistent", "nearest", "conservative", "raw"}
            ``consistent``: average of the cells that overlap, weighted by overlap; a constant stays that constant.
            ``nearest``: the value of the cell with the largest overlap.  ``conservative``: every value is shared out
            by overlap, sums are kept.  ``raw``: the values as they are, for the cells :attr:`ghosts`.
        out : array or list of arrays, optional
            Where to put the results: rows of cells without a partner are left alone (elsewhere they are 0).

        Returns
        -------
        array or list of arrays, or None on processes that only send
            One row for each of the receiver's :attr:`cells`, of the type that came; where integers are averaged or
            shared out, float64.  Of a field on a device (``__cuda_array_interface__``, with an MPI that can; ``raw`` or
            ``nearest``) an array there, one row for each coupled cell.

        Raises
        ------
        ConfigError
            Values have another length or no numbers, or `out` cannot hold the results.
        ExchangeError
            Processes exchange different fields, one has left, or the time is over.
        """
        return self.start_forward(values, like=like, mapping=mapping, out=out).wait()

    def backward(self, values: Fields = None, *, like: Any = None, mapping: FieldMapping = "conservative",
                 out: Fields = None) -> Any:
        """Bring values of the second component's cells to those of the first; see :meth:`forward`.

        Parameters
        ----------
        values : (n,) or (n, ncomp) array of numbers, or list of such
            As for :meth:`forward`.
        like : array, data type or list of such, optional
            What to expect on processes that receive.
        mapping : {"consistent", "nearest", "conservative", "raw"}
            As for :meth:`forward`; by default sums are kept.
        out : array or list of arrays, optional
            Where to put the results.
        """
        return self.start_backward(values, like=like, mapping=mapping, out=out).wait()

    def start_forward(self, values: Fields = None, *, like: Any = None, mapping: FieldMapping = "consistent",
                      out: Fields = None) -> Pending:
        """Begin :meth:`forward` and go on; what it gives has ``wait()``.  All processes start in the same order.

        Parameters
        ----------
        values : (n,) or (n, ncomp) array of numbers, or list of such
            As for :meth:`forward`.
        like : array, data type or list of such, optional
            What to expect on processes that receive.
        mapping : {"consistent", "nearest", "conservative", "raw"}
            As for :meth:`forward`; by default constants are kept.
        out : array or list of arrays, optional
            Where to put the results.
        """
        return self._start("forward", values, like, mapping, out)

    def start_backward(self, values: Fields = None, *, like: Any = None, mapping: FieldMapping = "conservative",
                       out: Fields = None) -> Pending:
        """Begin :meth:`backward` and go on; what it gives has ``wait()``.  All processes start in the same order.

        Parameters
        ----------
        values : (n,) or (n, ncomp) array of numbers, or list of such
            As for :meth:`backward`.
        like : array, data type or list of such, optional
            What to expect on processes that receive.
        mapping : {"consistent", "nearest", "conservative", "raw"}
            As for :meth:`forward`; by default sums are kept.
        out : array or list of arrays, optional
            Where to put the results.
        """
        return self._start("backward", values, like, mapping, out)

    # ---- set-up
    def _opened(self, schedule: Schedule, mine: Mapping[str, int],
                cells: Any) -> tuple[dict[str, Side], dict[str, Rows]]:
        """The ends on this process, and which rows of values they use."""
        a, b = self.pair
        lists = schedule.interedges(self.pair)
        sides = {name: Side(of(mine[name]), *columns)
                 for name, of, columns in ((a, lists.of_first, "ab"), (b, lists.of_second, "ba")) if name in mine}
        here = cells if isinstance(cells, Mapping) else dict.fromkeys(sides, cells)
        strangers = sorted(set(here) - set(sides))
        if strangers:
            raise ConfigError(f"cells: this process has no part of {strangers[0]!r:.60}")
        if cells is not None and not isinstance(cells, Mapping) and len(sides) > 1:
            raise ConfigError(f"cells: this process has parts of {a} and of {b}, give a mapping from components")
        return sides, {name: Rows.of(name, side.cells, here.get(name)) for name, side in sides.items()}

    def _route(self, number: int, sender: str, receiver: str, ranks: Mapping[str, NDArray[np.int32]]) -> Route:
        out, come = self._sides.get(sender), self._sides.get(receiver)
        targets = [] if out is None else [(int(ranks[receiver][part]), self._rows[sender].where[index])
                                          for part, index in out.send.items()]
        sources = [] if come is None else [(int(ranks[sender][part]), n) for part, n in come.counts.items()]
        return Route(self._line, number, targets, sources)

    def _tell_totals(self) -> None:
        """Tell the other end the totals of each cell."""
        a, b = self.pair
        layout = Layout("set-up", (("<f8", ()), ("<i8", ())))
        under_way = []
        for direction, sender, receiver in (("forward", a, b), ("backward", b, a)):
            fields = None
            if sender in self._sides:
                side, rows = self._sides[sender], self._rows[sender]
                totals = [np.zeros(len(rows.cells), dtype) for dtype in ("f8", "i8")]
                totals[0][rows.where], totals[1][rows.where] = side.totals
                fields = totals
            under_way.append((receiver, self._routes[direction].start(layout, fields)))
        for receiver, transfer in under_way:
            sums, numbers = transfer.wait()
            if receiver in self._sides:
                self._sides[receiver].learn(sums, numbers)
        for route in self._routes.values():
            route.forget()

    # ---- exchange
    def _start(self, direction: str, values: Fields, like: Any, mapping: FieldMapping, out: Fields) -> Pending:
        known_name("mapping", mapping, MAPPINGS)
        sender, receiver = self.pair if direction == "forward" else self.pair[::-1]
        sends, receives = sender in self._sides, receiver in self._sides
        if not sends and not receives:
            raise ConfigError(f"{direction}: this process has no part of {sender} or {receiver}")
        if on_device(values) or on_device(like):
            return self._start_on_device(direction, values, like, mapping, out)
        fields, listed, known = None, False, None
        if sends:
            rows = self._rows[sender]
            if values is None and len(rows.where):
                raise ConfigError(f"{direction}: needs the values of {len(rows.cells)} cells of {sender}")
            if values is not None:
                fields, listed = given(values, len(rows.cells), f"cells of {sender}")
                known = [(field.dtype.str, field.shape[1:]) for field in fields]
        elif values is not None:
            raise ConfigError(f"{direction}: values come from {sender}, this process has none of it")
        if receives and (like is not None or known is None):
            wanted, listed = expected(like)
            if known is not None and known != wanted:
                raise ConfigError(f"{direction}: like says other fields than the values have")
            known = wanted
        # a sender without coupled cells may know nothing of the fields, and sends none
        layout = Layout(mapping, tuple(known or [("f8", ())]))
        side, into = self._sides.get(receiver), None if mapping == "raw" else self._rows.get(receiver)
        outs: list[NDArray[Any] | None] = []
        if side is not None:
            count = len(side.ghosts if into is None else into.cells)
            outs = results_for(out, [(made_of(mapping, np.dtype(dtype)), (count, *shape))
                                     for dtype, shape in layout.fields])
        transfer = self._routes[direction].start(layout, fields)

        def finish(received: list[NDArray[Any]]) -> Any:
            if side is None:
                return None
            results = [placed(side.mapped(mapping, field), into, one)
                       for field, one in zip(received, outs, strict=True)]
            return results if listed else results[0]

        return Pending(transfer, finish)

    def _start_on_device(self, direction: str, values: Any, like: Any, mapping: FieldMapping, out: Any) -> Pending:
        """The same for one field on a device: what came, or rows of it."""
        sender, receiver = self.pair if direction == "forward" else self.pair[::-1]
        if sender not in self._sides and values is not None:
            raise ConfigError(f"{direction}: values come from {sender}, this process has none of it")
        count = len(self._rows[sender].cells) if values is not None else None
        arrays = DeviceField.of(mapping, like if values is None else values, count)
        if out is not None:
            raise ConfigError("out: is for values on the host")
        transfer = self._routes[direction].start(arrays.layout, None if values is None else [values], arrays)

        def finish(received: list[Any]) -> Any:
            if receiver not in self._sides:
                return None
            came = received[0]
            return came if mapping == "raw" else arrays.rows(came, self._sides[receiver].nearest)

        return Pending(transfer, finish)


def _compare(world: Any, pair: Pair, sides: Mapping[str, Side]) -> None:
    """See that the processes of both components have read the same lists.  Collective."""
    from mpi4py import MPI

    sums = np.zeros(2, np.uint64)
    for i, name in enumerate(pair):
        if name in sides:
            sums[i] = sides[name].checksum
    world.Allreduce(MPI.IN_PLACE, sums, MPI.SUM)
    if sums[0] != sums[1]:
        raise ExchangeError(f"plan: the processes of {pair[0]} and of {pair[1]} have read different interedges; are "
                            f"the files on both sides the same? (copart check)")


def _partners(sides: Mapping[str, Side], pair: Pair, ranks: Mapping[str, NDArray[np.int32]]) -> Sequence[int]:
    """Ranks of all parts that the sides exchange with."""
    other = dict(zip(pair, pair[::-1], strict=True))
    return [int(ranks[other[name]][part]) for name, side in sides.items() for part in side.counts]


__all__ = ["Exchange"]
