"""The halo of one component: values of cells that neighbour a process' own ones, from those who own them."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ..arrays import frozen
from ..errors import ConfigError, CouplingError
from ..names import Reduction, known_name
from .agreement import together
from .fields import Fields, Layout, given
from .line import Line
from .members import Members, collective_set_up, gather_members, private
from .messages import Pending, Route, Routes
from .schedules import Schedule, schedule_of

Lists = dict[int, NDArray[np.int64]]
#: What :meth:`Halo.reduce` does with values that meet.
OPERATIONS: Mapping[str, Callable[..., Any]] = {"sum": np.add.at, "min": np.minimum.at, "max": np.maximum.at}


class Halo(Routes):
    """The halo exchange of one component of a plan, on all its processes.  Collective.

    Parameters
    ----------
    comm : mpi4py.MPI.Intracomm
        The processes of one code, or of all.  To free it ends its halos, as :meth:`close` does.
    plan : path, Plan or (CoupledProblem, CoPartition)
        The folder of a plan, of which each process reads only its share, or the values themselves.
    component : str, optional
        Which component.  Where no process says one, ranks are numbered as in the plan and each has the halo of its
        own component; in a shared pool it must be said.
    part, timeout
        As for :class:`copart.mpi.Exchange`.

    Attributes
    ----------
    component : str
    cells : (nowned + nghosts,) int32
        Own cells, ascending, then those of others that neighbour one of them, part by part and ascending in each.
        This is the order of rows in every field.
    nowned : int

    Raises
    ------
    ConfigError, FormatError, CouplingError
        On all processes alike: the plan is unreadable, its numbers of parts are not those of the processes, or its
        lists do not fit one another.

    Examples
    --------
    ::

        halo = Halo(code, "plan", "fluid")
        temperature = np.zeros(len(halo.cells))
        temperature[:halo.nowned] = ...
        halo.update(temperature)
    """

    @collective_set_up
    def __init__(self, comm: Any, plan: Any, component: str | None = None, *, part: int | None = None,
                 timeout: float | None = 600.0):
        world, tag = private(comm)

        def chosen(known: Schedule) -> tuple[str, ...]:
            if component is None and known.shared and len(known.nparts) > 1:
                raise ConfigError(f"component: must be said in a shared pool, one of {', '.join(known.nparts)}")
            return ()  # of each component there are all processes or none

        schedule, members = gather_members(comm, world, "Halo", lambda: schedule_of(plan), chosen, component, part,
                                           timeout)
        self.component = component if component is not None else next(iter(members.mine))
        self.cells, self.nowned, send, come = together(world, "Halo: its lists",
                                                       lambda: self._opened(schedule, members))
        ranks = members.ranks[self.component]
        self._line = Line(world, tag, [int(ranks[p]) for p in (*send, *come)], members.called, timeout)
        ghosts, first = {}, self.nowned
        for p, count in come.items():
            ghosts[p] = np.arange(first, first + count)
            first += count
        self._routes = {
            "update": Route(self._line, 0, [(int(ranks[p]), rows) for p, rows in send.items()],
                            [(int(ranks[p]), count) for p, count in come.items()]),
            "reduce": Route(self._line, 1, [(int(ranks[p]), rows) for p, rows in ghosts.items()],
                            [(int(ranks[p]), len(rows)) for p, rows in send.items()])}
        self._own = np.concatenate([np.zeros(0, np.int64), *send.values()])

    # ---- use
    def update(self, values: Fields) -> None:
        """Put the owners' values into the rows of the ghosts, in place.

        Parameters
        ----------
        values : (n,) or (n, ncomp) array of numbers, or list of such
            A row for each of :attr:`cells`; several fields travel in one message.

        Raises
        ------
        ConfigError
            Values have another length or no numbers.
        ExchangeError
            Processes exchange different fields, one has left, or the time is over.
        """
        self.start_update(values).wait()

    def start_update(self, values: Fields) -> Pending:
        """Begin :meth:`update` and go on: own values are on their way, ghosts are there after ``wait()``.

        Parameters
        ----------
        values : as for :meth:`update`
        """
        fields = self._checked(values)
        transfer = self._routes["update"].start(_layout("update", fields), fields)

        def finish(received: list[NDArray[Any]]) -> None:
            for field, came in zip(fields, received, strict=True):
                field[self.nowned:] = came

        return Pending(transfer, finish)

    def reduce(self, values: Fields, op: Reduction = "sum") -> None:
        """Bring the values in the rows of ghosts to their owners, who add them to their own, in place.

        Parameters
        ----------
        values : as for :meth:`update`
        op : {"sum", "min", "max"}
            What is done with an own value and those that come.
        """
        self.start_reduce(values, op).wait()

    def start_reduce(self, values: Fields, op: Reduction = "sum") -> Pending:
        """Begin :meth:`reduce` and go on.

        Parameters
        ----------
        values : as for :meth:`update`
        op : {"sum", "min", "max"}
            What is done with an own value and those that come.
        """
        known_name("op", op, OPERATIONS)
        fields = self._checked(values)
        transfer = self._routes["reduce"].start(_layout(op, fields), fields)

        def finish(received: list[NDArray[Any]]) -> None:
            for field, came in zip(fields, received, strict=True):
                OPERATIONS[op](field, self._own, came)

        return Pending(transfer, finish)

    # ---- inside
    def _opened(self, schedule: Schedule, members: Members) -> tuple[NDArray[np.int32], int, Lists, dict[int, int]]:
        """Cells, how many are owned, rows to send and numbers of cells that come, by part."""
        part = members.mine[self.component]
        halo = schedule.halo(self.component)
        own = schedule.owned(self.component).of_first(part).get(part, np.zeros(0, np.int32))
        needed = halo.of_first(part)
        if not all(np.isin(cells, own).all() for cells in needed.values()):
            raise CouplingError(f"halo of {self.component}: names cells that part {part} does not own; are the files "
                                f"in exchange/ of one plan? (copart check)")
        send = {p: np.searchsorted(own, cells) for p, cells in needed.items()}
        ghosts = halo.of_second(part)
        cells = np.concatenate([own, *ghosts.values()]).astype(np.int32)
        return frozen(cells), len(own), send, {p: len(ids) for p, ids in ghosts.items()}

    def _checked(self, values: Fields) -> list[NDArray[Any]]:
        fields, _ = given(values, len(self.cells), f"own cells and ghosts of {self.component}")
        for field, meant in zip(fields, values if isinstance(values, (list, tuple)) else [values], strict=True):
            if field is not meant or not field.flags.writeable:
                raise ConfigError("values: needs arrays that can be written to, of this machine's byte order")
        return fields


def _layout(what: str, fields: list[NDArray[Any]]) -> Layout:
    return Layout(what, tuple((field.dtype.str, field.shape[1:]) for field in fields))


__all__ = ["OPERATIONS", "Halo"]
