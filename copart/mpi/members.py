"""Who is who: which process of a communicator has which part of which component."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from functools import cache
from typing import Any, NamedTuple, ParamSpec, TypeVar

import numpy as np
from numpy.typing import NDArray

from ..arrays import fraction, whole
from ..errors import ConfigError
from .agreement import agree, collective
from .arguments import check_communicator
from .line import end_all
from .messages import TAGS
from .schedules import Schedule

T = TypeVar("T")
P = ParamSpec("P")


class Members(NamedTuple):
    """The processes of a coupled run.

    comm : intra-communicator of them all; mine : by component the part of this process; ranks : by component
    (nparts,) int32 rank of each part.
    """

    comm: Any
    mine: Mapping[str, int]
    ranks: Mapping[str, NDArray[np.int32]]

    def called(self, rank: int) -> str:
        """What a rank is called in errors."""
        parts = [f"{name} part {int(np.flatnonzero(ranks == rank)[0])}" for name, ranks in self.ranks.items()
                 if rank in ranks]
        return f"rank {rank} ({', '.join(parts)})" if parts else f"rank {rank}"


class _Private:
    """The private communicator of another one."""

    #: Exchanges of this process so far, on whatever communicator.
    made = 0

    def __init__(self, comm: Any):
        from mpi4py import MPI

        self.comm = comm.Merge() if isinstance(comm, MPI.Intercomm) else comm.Dup()
        # messages that nobody took, as farewells, outlive a communicator, and MPI gives its number to a later one: tags
        # go on where those of all processes have ended
        self._next = self.comm.allreduce(_Private.made, MPI.MAX)

    def tag(self) -> int:
        """The first tag of one more exchange."""
        from mpi4py import MPI

        most: Any = MPI.COMM_WORLD.Get_attr(MPI.TAG_UB)
        number = self._next
        self._next += 1
        _Private.made = max(_Private.made, self._next)
        return int(TAGS * (number % (most // TAGS)))


@cache
def _keyval() -> int:
    """Under which a communicator keeps its private one."""
    from mpi4py import MPI

    def freed(comm: Any, _: int, kept: _Private) -> None:
        if comm in (MPI.COMM_WORLD, MPI.COMM_SELF):  # MPI itself ends, and frees all there is
            return
        if end_all(kept.comm):
            kept.comm.Free()

    return MPI.Comm.Create_keyval(delete_fn=freed)


def private(comm: Any) -> tuple[Any, int]:
    """A communicator of all processes of `comm` that nobody else sends on, and the first of :data:`TAGS` free tags.

    Of an inter-communicator it has both groups.  It is made once and kept with `comm`, as PETSc does, since
    communicators are scarce and exchanges may be made again and again; it is freed with `comm`.  Collective.

    Raises
    ------
    ConfigError, TypeError
        There is nothing to communicate with.
    """
    from mpi4py import MPI

    if not isinstance(comm, MPI.Intercomm):
        check_communicator(comm)
    elif comm == MPI.COMM_NULL:
        raise ConfigError("comm: is the null communicator, or was freed")
    kept: _Private | None = comm.Get_attr(_keyval())
    if kept is None:
        kept = _Private(comm)
        comm.Set_attr(_keyval(), kept)
    return kept.comm, kept.tag()


def collective_set_up(function: Callable[P, T]) -> Callable[P, T]:
    """Decorator of ``__init__(self, comm, ...)`` that begins with :func:`private`; see :func:`collective`."""
    return collective(function, at=1, world=lambda comm: private(comm)[0])


def gather_members(comm: Any, world: Any, step: str, schedule: Callable[[], Schedule],
                   chosen: Callable[[Schedule], tuple[str, ...]], component: str | None,
                   part: int | None, timeout: float | None = None) -> tuple[Schedule, Members]:
    """Agree on a plan, and find out who has which part.  Collective over `world`.

    Parameters
    ----------
    comm : mpi4py.MPI.Comm
        What the caller gave: ranks in it are parts where nothing else is said.
    world : mpi4py.MPI.Intracomm
        From :func:`private`.
    step : str
        What the processes are about to do.
    schedule : callable
        Gives the :class:`Schedule` of this process; may raise.
    chosen : callable
        Of the schedule, gives the components all of whose parts are needed, the same on all processes; may raise.
    component, part, timeout
        As said by the caller.

    Returns
    -------
    (Schedule, Members)

    Raises
    ------
    CopartError, TypeError
        On all processes alike.
    """
    from mpi4py import MPI

    def work() -> tuple[tuple[Schedule, tuple[str, ...], dict[str, int]], dict[str, Any]]:
        plan = schedule()
        names = chosen(plan)
        if timeout is not None:
            fraction("timeout", timeout)
        same = {"component (given or not)": "left out" if component is None else "given",
                "components": list(plan.nparts), "parts": list(plan.nparts.values()), "plan (its checksum)": plan.mark,
                "pair": list(names)}
        return (plan, names, _said(comm, plan, component, part)), same

    plan, names, mine = agree(world, step, work)
    table = np.full((world.size, len(plan.nparts)), -2, np.int32)
    row = np.array([mine.get(name, -2) for name in plan.nparts], np.int32)
    world.Allgather([row, MPI.INT32_T], [table, MPI.INT32_T])
    ranks = {name: _ranks(name, table[:, i], plan.nparts[name], name in names) for i, name in enumerate(plan.nparts)}
    mine = {name: int(np.flatnonzero(of == world.rank)[0]) for name, of in ranks.items() if world.rank in of}
    return plan, Members(world, mine, ranks)


def _said(comm: Any, plan: Schedule, component: str | None, part: int | None) -> dict[str, int]:
    """What a process knows of itself: its part by component, -1 where that follows from its rank among others."""
    from mpi4py import MPI

    each = ", ".join(f"{name} {count}" for name, count in plan.nparts.items())
    if component is None:
        if part is not None:
            raise ConfigError("part: needs a component, too")
        if isinstance(comm, MPI.Intercomm):
            raise ConfigError(f"component: must be said with an inter-communicator, one of {', '.join(plan.nparts)}")
        if comm.size != plan.nprocs:
            raise ConfigError(f"comm: has {comm.size} processes, the plan has {plan.nprocs} ({each}"
                              f"{', shared' if plan.shared else ''}); for other communicators say which component "
                              f"each process belongs to (component=)")
        return plan.seats(comm.rank)
    if not isinstance(component, str) or component not in plan.nparts:
        raise ConfigError(f"component: {component!r:.60} is none of the plan, which has {', '.join(plan.nparts)}")
    if part is None:
        return {component: -1}
    return {component: whole("part", part, low=0, high=plan.nparts[component] - 1)}


def _ranks(name: str, said: NDArray[np.int32], count: int, needed: bool) -> NDArray[np.int32]:
    """(count,) rank of each part of a component from what all processes said; -1 where nobody has it."""
    there = np.flatnonzero(said >= -1)
    if not needed and not len(there):
        return np.full(count, -1, np.int32)
    if len(there) != count:
        raise ConfigError(f"comm: {len(there)} processes are {name}, which has {count} parts in the plan")
    if (said[there] == -1).all():
        return there.astype(np.int32)
    out = np.full(count, -1, np.int32)
    for rank in there.tolist():
        part = int(said[rank])
        if part < 0:
            raise ConfigError(f"part: said by some processes of {name}, left out by rank {rank}")
        if out[part] >= 0:
            raise ConfigError(f"part: ranks {out[part]} and {rank} are both part {part} of {name}")
        out[part] = rank
    return out


__all__ = ["Members", "collective_set_up", "gather_members", "private"]
