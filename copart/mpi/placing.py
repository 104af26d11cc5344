"""Geometric mapping on MPI: the candidates are shared out, and one reduction finds the best.

Coordinates and messages of all tasks are gathered once.  There are as many groups of ranks as all candidates go into,
one rank each, and at least one; each group tries all of them, so that every group finds the same mapping, whatever
their number: that of the fewest hops, and of several the first.  (M. Deveci, Load-Balancing and Task Mapping for
Exascale Systems, Ohio State 2015, chapter 6.)
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
from numpy.typing import ArrayLike, NDArray

from ..arrays import integers, reals, whole
from ..errors import MappingError
from ..mapping.architectures.architecture import Architecture
from ..mapping.machine import Machine
from ..mapping.sites import Sites
from ..mapping.tasks import TaskGraph
from ..mapping.topology.geometric import VARIANTS, Judged, Trials, checked_coords, each_of
from ..names import GeometricTaskMethod, known_name
from .agreement import agree, collective, together


@collective
def map_tasks(comm: Any, coords: ArrayLike, source: ArrayLike, target: ArrayLike, machine: Machine | Architecture, *,
              method: GeometricTaskMethod = "geometric", threads: int = 1) -> NDArray[np.int32]:
    """Map tasks onto the slots of an allocation by coordinates, candidates on all ranks. Collective.

    The mapping is that of :func:`copart.mapping.topology.map_tasks` for the tasks of all ranks, on any number of ranks.

    Parameters
    ----------
    comm : mpi4py.MPI.Intracomm
    coords : (n, d) array_like of float
        Of the tasks of this rank, which has one or several, or none; tasks are numbered one rank after the other.
    source, target : (m,) array_like of int
        Messages that this rank knows of: numbers of the tasks that send and receive, among those of all ranks.
    machine : Machine or Architecture
        A torus or mesh, the same on all ranks; of more tasks than slots, a slot takes several.
    method : {"geometric", "geometric-plain", "geometric-rotated", "geometric-shifted", "geometric-reflected"}
        As there.
    threads : int
        Threads of each rank.

    Returns
    -------
    (ntasks,) int32
        Processor of each task of all ranks, the same on all ranks.

    Raises
    ------
    CopartError, TypeError
        On all ranks alike: of the first rank with a wrong argument; a message names a task that is not there; or an
        argument other than `coords`, `source`, `target` and `threads` differs between ranks.
    """
    request = agree(comm, "map_tasks", lambda: _checked(coords, source, target, machine, method, threads))
    ours = comm.Dup()
    try:
        everyone = ours.allgather(request.mine)
        trials = together(ours, "candidates", lambda: _trials(everyone, request))
        return request.sites.seated(_best(ours, trials, request.threads), each_of(len(trials.coords), request.sites))
    finally:
        ours.Free()


class _Request(NamedTuple):
    """What is asked for, once it was found right on this rank; `mine` are coordinates and messages."""

    mine: tuple[NDArray[np.float64], NDArray[np.int64], NDArray[np.int64]]
    sites: Sites
    method: str
    threads: int


def _checked(coords: ArrayLike, source: ArrayLike, target: ArrayLike, machine: Machine | Architecture, method: str,
             threads: Any) -> tuple[_Request, dict[str, Any]]:
    """The request of this rank, and what must be the same on all ranks."""
    known_name("method", method, VARIANTS)
    given = reals("coords", coords, MappingError)
    at = checked_coords(given, len(given) if given.ndim else 0)
    p = integers("source", source, np.int64, MappingError, low=0)
    q = integers("target", target, np.int64, MappingError, low=0, size=len(p))
    sites = Sites(machine)
    return _Request((at, p, q), sites, method, whole("threads", threads, low=1, high=1024)), {
        "number of coordinates": at.shape[1], "method": method,
        "machine": [repr(sites.network), getattr(sites.network, "dims", ()), sites.point, sites.slots,
                    sites.processors]}


def _trials(everyone: list[tuple[Any, Any, Any]], request: _Request) -> Trials:
    """The candidates for the tasks of all ranks."""
    coords, source, target = (np.concatenate(part) for part in zip(*everyone, strict=True))
    for name, task in (("source", source), ("target", target)):
        if len(task) and task.max() >= len(coords):
            raise MappingError(f"{name}: {task.max()} is none of the {len(coords)} tasks of all ranks")
    return Trials(TaskGraph(len(coords), source, target), coords, request.sites, **VARIANTS[request.method])


def shares(size: int, count: int) -> tuple[NDArray[np.int64], list[tuple[int, int]]]:
    """How ranks share candidates.

    Parameters
    ----------
    size, count : int
        Number of ranks, and of candidates.

    Returns
    -------
    group : (size,) int64
        Group of each rank; the members of a group have numbers one after another.
    share : list of (int, int)
        Candidates of each rank: the first, and the first that is not.

    Examples
    --------
    >>> shares(5, 2)
    (array([0, 0, 0, 1, 1]), [(0, 0), (0, 1), (1, 2), (0, 1), (1, 2)])
    """
    ngroups = max(1, size // max(count, 1))
    group = np.arange(size) * ngroups // size
    members = np.bincount(group)
    rank = np.arange(size) - (np.cumsum(members) - members)[group]
    ends = [(int(r * count // m), int((r + 1) * count // m)) for r, m in zip(rank, members[group], strict=True)]
    return group, ends


def _best(comm: Any, trials: Trials, threads: int) -> NDArray[np.int64]:
    """Site of each task by the best candidate of the group."""
    from mpi4py import MPI

    group, share = shares(comm.size, len(trials))
    mine: Judged = together(comm, "trials", lambda: trials.best(range(*share[comm.rank]), threads))
    inner = comm.Split(int(group[comm.rank]), comm.rank)
    try:
        pair = np.dtype([("hops", np.float64), ("candidate", np.intc)], align=True)
        least = np.empty(1, pair)
        inner.Allreduce([np.array([(mine.hops, mine.candidate)], pair), 1, MPI.DOUBLE_INT],
                        [least, 1, MPI.DOUBLE_INT], MPI.MINLOC)
        winner = int(least["candidate"][0])
        members = np.flatnonzero(group == group[comm.rank])
        owner = next(i for i, rank in enumerate(members) if winner in range(*share[rank]))
        held = inner.rank == owner
        site = together(comm, "exchanges",
                        lambda: trials.mapping(mine) if held else np.empty(len(trials.coords), np.int64))
        inner.Bcast(site, owner)
        return site
    finally:
        inner.Free()


__all__ = ["map_tasks", "shares"]
