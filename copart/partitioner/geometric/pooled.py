"""Cutting all boxes of a level exactly on many processes: buckets are added up once, and few points settled by all.

One sum of the points per bucket over all processes serves all cuts of all boxes.  Points in buckets that no cut runs
through have their section then; the others are so few that every process gets all of them and settles them as one
process alone would.  Where they are not (many lie in one place, or processes have few points each), their sections are
searched by :func:`copart.partitioner.geometric.search.one_d_part`, box by box and with more sums.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, NamedTuple, Protocol

import numpy as np

from ...arrays import OFFSET, VERTEX, WEIGHT, frozen
from ...kernels import pooling as kernels
from ...kernels.clouds import Cloud, Nodes
from ...kernels.multisection import Found
from ...kernels.pooling import Grid
from ...kernels.sectioning import COLUMNS, steps_between
from ..rounds import Team
from .cutting import Cut, desk_for
from .result import Counters
from .search import Reduction, line_of, one_d_part

Array = np.ndarray[Any, Any]

#: Most buckets of a box, and points in each on average if there are few.
_BUCKETS, _EACH = 2048, 16
#: Points that every process settles, as a share of those that it has on average, at most.
_SHARE = 0.5


class Peers(Protocol):
    """What the processes that hold the points tell one another; every call is one of all of them."""

    @property
    def size(self) -> int:
        """How many there are."""
        ...

    @property
    def rank(self) -> int:
        """Which of them this is."""
        ...

    @property
    def reduce(self) -> Reduction:
        """Joins what a search found."""
        ...

    def add_up(self, mine: Array) -> None:
        """The sum of (n,) int64 over all processes, in place."""
        ...

    def least(self, mine: Array) -> None:
        """The least of each of (n,) float64 over all processes, in place."""
        ...

    def gathered(self, mine: Array) -> list[Array]:
        """The rows of every process, of one type and width."""
        ...


class _Passes:
    """Passes over all points of this process, one call per thread."""

    def __init__(self, n: int, team: Team):
        self._ends, self._n, self._team = np.array(team.cuts(n)), n, team
        self.pieces = len(self._ends) - 1
        self._row = {int(lo): i for i, lo in enumerate(self._ends[:-1])}

    def __call__(self, work: Callable[[int, int, int], Any]) -> None:
        """``work(lo, hi, i)`` for every piece i."""
        self._team.run(lambda lo, hi: work(lo, hi, self._row[lo]), self._n, bounds=self._ends)


class _Opened(NamedTuple):
    """The buckets that cuts run through.

    tasks, tops of :func:`copart.kernels.pooling.open_boxes`; counts (buckets with a task,) int64 points of this process
    in each; node (buckets with a task,) int64 box of each; points, all : int, in all boxes, of all processes in these
    buckets and in all; goals (goals,) int64 if there were no points but these.
    """

    tasks: Array
    tops: Array
    counts: Array
    node: Array
    points: int
    all: int
    goals: Array


class Pooling:
    """Cuts the boxes of a level exactly, all processes together.

    Parameters
    ----------
    ids : (n,) int64
        Numbers of the points among those of all processes, which order points in one place.
    peers : Peers
    weighted : bool
        Points have weights; a process without points cannot tell.

    Attributes
    ----------
    counters : Counters
        What was done so far.
    """

    def __init__(self, ids: Array, peers: Peers, weighted: bool):
        self.ids, self.peers, self.weighted = ids, peers, weighted
        self.counters = Counters()

    def __call__(self, cloud: Cloud, nodes: Nodes, goals: Array, team: Team) -> Cut:
        passes = _Passes(len(cloud.perm), team)
        self._count(calls=int((np.diff(nodes.first) > 0).sum()))
        opened = self._deal(cloud, nodes, goals, passes)
        if opened.points * self.peers.size <= _SHARE * opened.all:
            self._settle(cloud, nodes, goals, opened)
        else:
            self._search(cloud, nodes, opened, team)
        return self._measured(cloud, nodes, passes)

    def _count(self, **more: int) -> None:
        self.counters = self.counters.plus(**more)

    def _grid(self, cloud: Cloud, nodes: Nodes, passes: _Passes) -> Grid:
        """Buckets between the least and the largest coordinate of each box, the same on all processes."""
        boxes = len(nodes.axis)
        each = np.empty((passes.pieces, boxes, 2))
        passes(lambda lo, hi, i: kernels.gather_boxes(lo, hi, cloud, nodes, each[i]))
        # where the sign is changed, the least of all is the largest of all
        known = np.concatenate([each.min(axis=0).ravel(), -np.diff(nodes.start).astype(np.float64), [-len(cloud.perm)]])
        self.peers.least(known)
        self._count(reductions=1)
        ends, size, most = known[:2 * boxes].reshape(boxes, 2), -known[2 * boxes:-1], -known[-1]
        wanted = np.minimum(_BUCKETS, size * self.peers.size / _EACH)
        # no more in all than a process has points
        wanted *= min(1.0, most / max(wanted.sum(), 1.0))
        buckets = np.maximum(wanted.astype(OFFSET), 4 * np.diff(nodes.first) + 4)
        scale = np.array([steps_between(low, -high, count) for (low, high), count in zip(ends, buckets, strict=True)])
        # where all go into the first bucket: differences might overflow
        least = np.where(scale == 0, 0.0, ends[:, 0])
        return Grid(np.concatenate([[0], np.cumsum(buckets)]), least, scale)

    def _deal(self, cloud: Cloud, nodes: Nodes, goals: Array, passes: _Passes) -> _Opened:
        """Sections of all points in whole buckets; positions of the others are put into ``cloud.other``."""
        grid = self._grid(cloud, nodes, passes)
        buckets, boxes = int(grid.at[-1]), len(nodes.axis)
        # points, and their weights where these are given
        mine = np.zeros((passes.pieces, 1 + self.weighted, buckets), np.int64)
        passes(lambda lo, hi, i: kernels.tally_boxes(lo, hi, cloud, nodes, grid, mine[i, 0], mine[i, -1]))
        total = mine.sum(axis=0)
        self.peers.add_up(total.ravel())
        self._count(reductions=1)
        weight, table = total[-1].copy(), np.empty(buckets, VERTEX)
        every = int(total[0].sum())
        tasks, tops = np.empty((len(goals) + boxes, COLUMNS), np.int64), np.empty(boxes, np.int64)
        points = int(kernels.open_boxes(nodes, goals, grid, total[0], weight, table, tasks, tops))
        opened = np.flatnonzero(table < 0)
        counts = mine[:, 0, opened]
        # pieces fill the room of a bucket one after the other
        cursor = np.zeros((passes.pieces, buckets), np.int64)
        cursor[:, opened] = (np.cumsum(counts.T).reshape(counts.T.shape) - counts.T).T
        passes(lambda lo, hi, i: kernels.deal_boxes(lo, hi, cloud, nodes, grid, table, cursor[i]))
        return _Opened(tasks, tops, counts.sum(axis=0), np.searchsorted(grid.at, opened, side="right") - 1, points,
                       every, _without_whole(nodes, goals, grid.at, weight, table))

    def _settle(self, cloud: Cloud, nodes: Nodes, goals: Array, opened: _Opened) -> None:
        """Give every process all points in opened buckets, and their sections."""
        where = cloud.other[:opened.counts.sum()].copy()
        point = cloud.perm[where]
        # numbers and weights are below 2^53, so all of it is exact
        columns = [self.ids[point], cloud.values[where], *cloud.coords[point].T]
        if self.weighted:
            columns.append(cloud.load[where])
        columns.append(np.repeat(np.arange(len(opened.counts)), opened.counts))
        rows = self.peers.gathered(np.column_stack(columns).astype(np.float64, copy=False))
        self._count(reductions=1)
        pooled = np.concatenate(rows)
        order = np.lexsort((pooled[:, 0], pooled[:, -1]))
        pooled = pooled[order]
        count, dim = len(pooled), cloud.coords.shape[1]
        load = pooled[:, 2 + dim].astype(WEIGHT) if self.weighted else cloud.load
        pool = Cloud(frozen(np.ascontiguousarray(pooled[:, 2:2 + dim])), load, np.arange(count, dtype=VERTEX),
                     pooled[:, 1].copy(), load, np.empty(count), np.arange(count, dtype=VERTEX),
                     np.empty(count, VERTEX), np.empty(count, VERTEX))
        kernels.settle_boxes(pool, desk_for(int(np.diff(nodes.first).max(initial=0))), nodes, goals, opened.tasks,
                             opened.tops)
        section = np.empty(count, VERTEX)
        section[order] = pool.section
        before = sum(map(len, rows[:self.peers.rank]))
        cloud.section[where] = section[before:before + len(where)]

    def _search(self, cloud: Cloud, nodes: Nodes, opened: _Opened, team: Team) -> None:
        """Search the sections of the points in opened buckets, box by box."""
        ends = np.concatenate([[0], np.cumsum(np.bincount(opened.node, opened.counts, len(nodes.axis)))]).astype(OFFSET)
        mine = cloud.other[:ends[-1]].copy()
        for node in np.flatnonzero(opened.tops):
            where = mine[ends[node]:ends[node + 1]]
            line = line_of(cloud, self.ids, where, int(nodes.axis[node]))
            found = one_d_part(line, opened.goals[nodes.first[node]:nodes.first[node + 1]], 0, self.peers.reduce, team)
            cloud.section[where] = found.section
            done = found.trace.counters
            self._count(tied=done.tied, iterations=done.iterations, reductions=done.reductions,
                        comparisons=done.comparisons)

    def _measured(self, cloud: Cloud, nodes: Nodes, passes: _Passes) -> Cut:
        """What each section has here and in all, the points put in the order of the sections."""
        sections = int(nodes.first[-1]) + len(nodes.axis)
        size, weight = np.empty((2, passes.pieces, sections), np.int64)
        most = np.empty((passes.pieces, sections))
        passes(lambda lo, hi, i: kernels.measure_boxes(lo, hi, cloud, nodes, size[i], weight[i], most[i]))
        # those of a section one piece after the other
        cursor = (np.cumsum(size.T).reshape(size.T.shape) - size.T).T.copy()
        passes(lambda lo, hi, i: kernels.reorder_boxes(lo, hi, cloud, nodes, cursor[i]))
        cloud.perm[:] = cloud.other
        everywhere = Found(weight.sum(axis=0), size.sum(axis=0), np.full(sections, np.inf), most.max(axis=0))
        self.peers.reduce(everywhere)
        self._count(reductions=1)
        return Cut(size.sum(axis=0), everywhere.weight, everywhere.most, everywhere.count)


def _without_whole(nodes: Nodes, goals: Array, at: Array, weight: Array, table: Array) -> Array:
    """(goals,) int64 goals among the points in opened buckets alone: without the weight of whole buckets before."""
    less = goals.copy()
    for node in range(len(nodes.axis)):
        rows, mine = slice(at[node], at[node + 1]), slice(nodes.first[node], nodes.first[node + 1])
        upto = np.cumsum(weight[rows])
        whole = np.concatenate([[0], np.cumsum(np.where(table[rows] < 0, 0, weight[rows]))])
        less[mine] -= 2 * whole[np.searchsorted(2 * upto, goals[mine], side="right")]
    return less


__all__ = ["Peers", "Pooling"]
