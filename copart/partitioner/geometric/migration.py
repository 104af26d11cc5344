"""CHECKANDMIGRATE: when points had better move to the processes that will cut them on, and where to.

After each level but the last, points are sent to fewer processes per part if they are too unevenly spread already, if
the sums still to come would keep too many processes waiting, or if a process would have too few points of each part.
The thresholds were measured on one machine.  (M. Deveci, Load-Balancing and Task Mapping for Exascale Systems, 2015,
Chapter 3.)
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from math import prod
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import ArrayLike, NDArray

from ...arrays import integers, whole
from ...errors import PartitionError
from .tree import futures

Array = np.ndarray[Any, Any]

#: Unevenness above which points move: 0 where each process holds the same share of every part.
IMBALANCE = 0.30
#: Searches still to come, times processes that take part in each, above which points move.
WAITING = 1_500_000
#: Points per process and part, when the last coordinate is cut, below which points move.
FEWEST = 1000


class Decision(NamedTuple):
    """Whether points move, and the figures that decide it.

    imbalance : of :func:`placement_imbalance`; waiting : searches to come times processes; points : per process and
    part in the end; migrate : whether any of them is beyond its threshold.
    """

    imbalance: float
    waiting: int
    points: float
    migrate: bool


def placement_imbalance(owned: ArrayLike) -> float:
    """How unevenly the points of each part are spread: the mean of |average - owned| / average; 0 is even.

    Parameters
    ----------
    owned : (nprocs, nparts) array_like of int
        Points of each part that each process has. Parts without points do not count.

    Examples
    --------
    >>> placement_imbalance([[5, 5], [5, 5]]), placement_imbalance([[10, 0], [0, 10]])
    (0.0, 1.0)
    >>> placement_imbalance([[10, 0], [0, 0]])
    1.0
    """
    counts = np.asarray(owned, float)
    average = counts.sum(axis=0) / len(counts)
    full = average > 0
    if not full.any():
        return 0.0
    return float((abs(average - counts)[:, full] / average[full]).sum() / (len(counts) * full.sum()))


def calls_ahead(counts: Sequence[int], level: int = 0) -> int:
    """Searches along one coordinate (1DPART) that levels from `level` on make where nothing migrates.

    Examples
    --------
    >>> calls_ahead([32, 32, 32]), calls_ahead([32, 32, 32], 1), calls_ahead([256, 256], 1)
    (1057, 1056, 256)
    """
    return sum(prod(counts[:lower]) for lower in range(level, len(counts)))


def decide(owned: ArrayLike, counts: Sequence[int], level: int) -> Decision:
    """Shall points migrate, `level` levels being done?

    Parameters
    ----------
    owned : (nprocs, nparts) array_like of int
        Points of each part so far that each process has.
    counts : sequence of int
        Sections per level.
    level : int
        At least 1 and less than the number of levels.
    """
    table = np.asarray(owned)
    return judged(placement_imbalance(table), len(table), int(table.sum()), counts, level)


def judged(imbalance: float, nprocs: int, points: int, counts: Sequence[int], level: int) -> Decision:
    """:func:`decide` where the imbalance is known, of so many points in all."""
    waiting = calls_ahead(counts, level) * nprocs
    each = points / nprocs / prod(counts[:-1])
    return Decision(imbalance, waiting, each, nprocs > 1 and (imbalance > IMBALANCE or waiting > WAITING
                                                              or each < FEWEST))


def assign(owned: ArrayLike, near: bool = False) -> list[list[int]]:
    """The processes that go on with each part.

    Fewer processes than parts take ``floor`` or ``ceil`` of nparts / nprocs parts each, and a part goes to the process
    with most of its points that still takes one, parts that one process holds most of first.  More processes are
    shared out in proportion to the points of the parts, and join the part of which they have most.

    Parameters
    ----------
    owned : (nprocs, nparts) array_like of int
        Points of each part that each process has.
    near : bool
        Give each part to processes near each other instead, whoever has its points: parts and processes meet in the
        order of their numbers, as many as otherwise. More points move now, and what follows is exchanged nearby.

    Returns
    -------
    list of nparts lists of int
        Ascending.

    Examples
    --------
    >>> assign([[9, 0], [0, 9], [9, 0], [0, 9]])
    [[0, 2], [1, 3]]
    >>> assign([[9, 0], [0, 9], [9, 0], [0, 9]], near=True)
    [[0, 1], [2, 3]]
    """
    table = np.asarray(owned, np.int64)
    nprocs, nparts = table.shape
    if nprocs < nparts:
        if near:
            return [[process] for process, each in enumerate(futures(nparts, nprocs)) for _ in range(each)]
        return _parts_to_processes(table)
    room = _processes_per_part(table.sum(axis=0), nprocs)
    if near:
        return [each.tolist() for each in np.split(np.arange(nprocs), np.cumsum(room)[:-1])]
    groups: list[list[int]] = [[] for _ in range(nparts)]
    free = np.ones(nprocs, bool)
    # the largest holdings first, those of equal size by process and part
    for flat in np.argsort(-table, axis=None, kind="stable").tolist():
        process, part = divmod(flat, nparts)
        if free[process] and len(groups[part]) < room[part]:
            groups[part].append(process)
            free[process] = False
    return [sorted(group) for group in groups]


def _parts_to_processes(table: NDArray[np.int64]) -> list[list[int]]:
    nprocs, nparts = table.shape
    each, more = divmod(nparts, nprocs)
    taken = np.zeros(nprocs, np.int64)
    groups: list[list[int]] = [[] for _ in range(nparts)]
    for part in np.argsort(-table.max(axis=0), kind="stable").tolist():
        # only `more` processes take one part more than the others
        limit = each + 1 if (taken > each).sum() < more else each
        available = np.flatnonzero(taken < limit)
        process = int(available[np.argmax(table[available, part])])
        taken[process] += 1
        groups[part] = [process]
    return groups


def _processes_per_part(points: NDArray[np.int64], nprocs: int) -> list[int]:
    """In proportion to the points, at least one each: the next goes to the part with most points per process."""
    room = [1] * len(points)
    for _ in range(nprocs - len(points)):
        room[int(np.argmax(points / room))] += 1
    return room


def by_part(part: NDArray[np.integer[Any]], nparts: int) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
    """(n,) int64 points part by part, in their order, and (nparts + 1,) int64 where those of each part begin."""
    order = np.argsort(part, kind="stable")
    return order, np.searchsorted(part[order], np.arange(nparts + 1))


def new_owners(part: NDArray[np.integer[Any]], owner: NDArray[np.integer[Any]], groups: Sequence[Sequence[int]],
               ) -> NDArray[np.int64]:
    """(n,) int64 process of every point after migration.

    Where several processes share a part, each gets as many of its points as the others, or one more, and keeps of its
    own as many as that.
    """
    out = np.empty(len(part), np.int64)
    order, ends = by_part(part, len(groups))
    for number, group in enumerate(groups):
        mine = order[ends[number]:ends[number + 1]]
        out[mine] = spread_over(owner[mine], group)
    return out


def spread_over(owner: NDArray[np.integer[Any]], group: Sequence[int]) -> NDArray[np.int64]:
    """Share points out evenly among the processes of a group; those who have them keep them as far as that goes."""
    if len(group) == 1:
        return np.full(len(owner), group[0], np.int64)
    each, more = divmod(len(owner), len(group))
    out = np.full(len(owner), -1, np.int64)
    missing = []
    for i, process in enumerate(group):
        room = each + (i < more)
        kept = np.flatnonzero(owner == process)[:room]
        out[kept] = process
        missing.append(room - len(kept))
    out[out < 0] = np.repeat(np.asarray(group, np.int64), missing)
    return out


def destinations(owned: ArrayLike, groups: Sequence[Sequence[int]], process: int, part: NDArray[np.integer[Any]],
                 ) -> NDArray[np.int64]:
    """What :func:`new_owners` gives the points of one process, where points are numbered process by process.

    Parameters
    ----------
    owned : (nprocs, nparts) array_like of int
        Points of each part that each process has.
    groups : list of lists of int
        From :func:`assign`.
    process : int
    part : (n,) int
        Part of each point of this process.
    """
    table = np.asarray(owned, np.int64)
    out = np.empty(len(part), np.int64)
    order, begin = by_part(part, len(groups))
    for number, group in enumerate(groups):
        mine = order[begin[number]:begin[number + 1]]
        if len(group) == 1:
            out[mine] = group[0]
            continue
        each, more = divmod(int(table[:, number].sum()), len(group))
        room = np.zeros(len(table), np.int64)
        room[list(group)] = each + (np.arange(len(group)) < more)
        kept = np.minimum(table[:, number], room)
        # what others cannot keep fills the room that is left, in the order of the processes
        ends = np.cumsum(room - kept)
        first = int((table[:process, number] - kept[:process]).sum())
        stay = int(kept[process])
        out[mine[:stay]] = process
        out[mine[stay:]] = np.searchsorted(ends, first + np.arange(len(mine) - stay), side="right")
    return out


@dataclass
class Trace:
    """What a simulated run on many processes did.

    Attributes
    ----------
    calls : int
        Searches in which more than one process takes part.
    participants : int
        Processes that take part in these, added up: who waits for whom.
    moved : list of int
        Points that changed their process, by migration.
    decisions : list of (int, Decision)
        Levels done and what was found, by communicator.
    work : (nprocs,) int64
        Points that each process cuts, added up over the levels.
    """

    calls: int = 0
    participants: int = 0
    moved: list[int] = field(default_factory=list)
    decisions: list[tuple[int, Decision]] = field(default_factory=list)
    work: NDArray[np.int64] = field(default_factory=lambda: np.zeros(0, np.int64))


def simulate(part: ArrayLike, counts: Sequence[int], owner: ArrayLike, nprocs: int, near: bool = False) -> Trace:
    """Multi-Jagged on many processes, as far as sums and migration go, on one.

    Parameters
    ----------
    part : (n,) array_like of int
        The parts that Multi-Jagged makes with these `counts`.
    counts : sequence of int
        Sections per level.
    owner : (n,) array_like of int
        Process of every point at first.
    nprocs : int
    near : bool
        As for :func:`assign`.
    """
    nprocs = whole("nprocs", nprocs, low=1)
    parts = integers("part", part, np.int64, PartitionError, low=0, high=prod(counts))
    owners = integers("owner", owner, np.int64, PartitionError, low=0, high=nprocs, size=len(parts))
    trace = Trace(work=np.zeros(nprocs, np.int64))
    _on_with(parts, list(counts), owners, np.arange(nprocs), 0, trace, near)
    return trace


def _on_with(part: Array, counts: list[int], owner: Array, who: Array, done: int, trace: Trace, near: bool) -> None:
    """The levels of one communicator, of the processes `who`; `part` and `owner` count from its first ones."""
    held, nprocs = prod(counts), len(who)
    for level in range(len(counts)):
        trace.work[who] += np.bincount(owner, minlength=nprocs)
        if nprocs == 1:
            continue
        boxes = prod(counts[:level])
        trace.calls += boxes
        trace.participants += boxes * nprocs
        held //= counts[level]
        if level == len(counts) - 1:
            return
        now, boxes = part // held, boxes * counts[level]
        table = np.bincount(owner * boxes + now, minlength=nprocs * boxes).reshape(nprocs, boxes)
        found = decide(table, counts, level + 1)
        trace.decisions.append((done + level + 1, found))
        if found.migrate:
            groups = assign(table, near)
            moved = new_owners(now, owner, groups)
            trace.moved.append(int((moved != owner).sum()))
            size = table.sum(axis=0)
            for box, group in enumerate(groups):
                if len(group) > 1:
                    mine = now == box
                    _on_with(part[mine] - box * held, counts[level + 1:], np.searchsorted(group, moved[mine]),
                             who[group], done + level + 1, trace, near)
                else:
                    trace.work[who[group[0]]] += int(size[box]) * (len(counts) - level - 1)
            return


def simulate_bisection(part: ArrayLike, owner: ArrayLike, nprocs: int) -> Trace:
    """Recursive bisection for as many parts as processes, which sends every point to its half at every level.

    Parameters
    ----------
    part : (npoints,) array_like of int
        Part of each point, which is the process it ends on.
    owner : (npoints,) array_like of int
        Process that has each point at first.
    nprocs : int
    """
    nprocs = whole("nprocs", nprocs, low=1)
    parts = integers("part", part, np.int64, PartitionError, low=0, high=nprocs)
    now = integers("owner", owner, np.int64, PartitionError, low=0, high=nprocs, size=len(parts)).copy()
    trace = Trace()
    groups = [(0, nprocs)]
    while groups:
        moved, halves = 0, []
        for first, end in groups:
            if end - first == 1:
                continue
            trace.calls += 1
            trace.participants += end - first
            middle = first + (end - first + 1) // 2
            inside = (parts >= first) & (parts < end)
            for (lo, hi), (other, until) in (((first, middle), (middle, end)), ((middle, end), (first, middle))):
                away = inside & (parts >= lo) & (parts < hi) & (now >= other) & (now < until)
                now[away] = lo + (now[away] - other) % (hi - lo)
                moved += int(away.sum())
            halves += [(first, middle), (middle, end)]
        groups = halves
        if halves:
            trace.moved.append(moved)
    return trace


__all__ = ["FEWEST", "IMBALANCE", "WAITING", "Decision", "Trace", "assign", "by_part", "calls_ahead", "decide",
           "destinations", "judged", "new_owners", "placement_imbalance", "simulate", "simulate_bisection",
           "spread_over"]
