"""Cutting all boxes of a level at once, exactly: threads share a box while boxes are few, and boxes when they are many.

The kernels are in :mod:`copart.kernels.sectioning`.  Sums are of whole numbers and the place of every point is decided
by its neighbours in a fixed order, so the result does not depend on how the work is shared.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from ...arrays import OFFSET, VERTEX, WEIGHT
from ...kernels import clouds
from ...kernels import sectioning as kernels
from ...kernels.clouds import Cloud, Nodes
from ...kernels.sectioning import Desk
from ..rounds import Team
from .points import Points
from .result import Counters

#: Buckets of the coordinate of a box: 16 kB of counters stay in the fastest cache.
_BUCKETS = 2048
#: Boxes of a level, per thread, from which each thread takes whole boxes.
_MANY = 4


class Cut(NamedTuple):
    """What came of cutting, by section: number of points here, weight, largest coordinate, number of points in all."""

    size: NDArray[np.int64]
    weight: NDArray[np.int64]
    most: NDArray[np.float64]
    total: NDArray[np.int64]

    @classmethod
    def empty(cls, sections: int) -> Cut:
        """Room for so many sections; all points are here."""
        size = np.empty(sections, OFFSET)
        return cls(size, np.empty(sections, WEIGHT), np.empty(sections), size)


class Share:
    """The points of one box, shared out to threads: a pass over them is a call per thread."""

    def __init__(self, start: int, end: int, team: Team):
        self.start, self.end, self._team = start, end, team
        self._ends = np.array([start + at for at in team.cuts(end - start)])
        self.pieces = len(self._ends) - 1
        #: Number of the piece that begins there.
        self.row = {int(lo): i for i, lo in enumerate(self._ends[:-1])}

    def __call__(self, work: Callable[[int, int], Any]) -> list[Any]:
        """``work(lo, hi)`` for every piece."""
        return self._team.run(work, self.end - self.start, bounds=self._ends)


def cloud_of(points: Points) -> Cloud:
    """Points in their first order, with the arrays that cutting needs."""
    n = len(points.coords)
    return Cloud(points.coords, points.weights, np.arange(n, dtype=VERTEX), np.empty(n),
                 np.empty(len(points.weights), WEIGHT), np.empty(n), np.empty(n, VERTEX), np.empty(n, VERTEX),
                 np.empty(n, VERTEX))


def desk_for(cuts: int) -> Desk:
    """Scratch for boxes of so many cuts at most."""
    buckets = max(_BUCKETS, 4 * cuts + 4)
    return Desk(np.empty((cuts + 1, kernels.COLUMNS), np.int64), np.empty(kernels.COLUMNS, np.int64),
                np.empty(buckets, np.int64), np.empty(buckets, np.int64), np.empty(buckets, VERTEX),
                np.empty(cuts, WEIGHT))


class Selecting:
    """Cuts the boxes of a level exactly, by histograms that are made finer around the cuts alone.

    Attributes
    ----------
    counters : Counters
        What was done so far.
    """

    def __init__(self) -> None:
        self.counters = Counters()

    def __call__(self, cloud: Cloud, nodes: Nodes, goals: NDArray[np.int64], team: Team) -> Cut:
        count = len(nodes.axis)
        made = Cut.empty(len(goals) + count)
        each = np.diff(nodes.first)
        self.counters = self.counters.plus(calls=int((each > 0).sum()))
        if team.pieces(len(cloud.perm)) == 1 or count >= _MANY * team.threads:
            def work(lo: int, hi: int, desk: Desk) -> None:
                kernels.section_nodes(lo, hi, cloud, desk, nodes, goals, made.size, made.weight, made.most)

            for_nodes(work, nodes.start, team, lambda: desk_for(int(each.max(initial=0))))
        else:
            for node in range(count):
                _cut_together(node, cloud, nodes, goals, made, team)
        return made


def for_nodes(work: Callable[..., Any], start: NDArray[np.int64], team: Team, workspace: Callable[[], Any]) -> None:
    """Call ``work(lo, hi, workspace)`` on ranges of nodes of about as many points each, as threads get free.

    Parameters
    ----------
    work : callable
    start : (nodes + 1,) int64
        Where the points of each node begin.
    team : Team
    workspace : callable
        Makes one for each thread.
    """
    nodes, n = len(start) - 1, int(start[-1] - start[0])
    threads = team.pieces(n)
    jobs = 1 if threads == 1 else min(nodes, 8 * threads)
    ends = np.searchsorted(start, start[0] + np.arange(jobs + 1) * n // jobs)
    ends[0], ends[-1] = 0, nodes
    team.spread(lambda job, space: work(int(ends[job]), int(ends[job + 1]), space), jobs,
                [workspace() for _ in range(team.threads)])


def gather(node: int, cloud: Cloud, nodes: Nodes, share: Share) -> tuple[float, float]:
    """Put the coordinates of one box side by side; the least and the largest."""
    axis, direction, plain = int(nodes.axis[node]), nodes.direction[node], bool(nodes.plain[node])
    ranges = share(lambda lo, hi: clouds.gather(lo, hi, cloud, axis, direction, plain))
    return min(low for low, _ in ranges), max(high for _, high in ranges)


def _cut_together(node: int, cloud: Cloud, nodes: Nodes, goals: NDArray[np.int64], made: Cut, team: Team) -> None:
    """Cut one box, all threads on it: each pass over its points is shared, what cuts run through is settled by one."""
    share = Share(int(nodes.start[node]), int(nodes.start[node + 1]), team)
    first, last = int(nodes.first[node]), int(nodes.first[node + 1])
    cuts, start, row = last - first, share.start, share.row
    least, most = gather(node, cloud, nodes, share)
    desk = desk_for(cuts)
    desk.goals[:] = goals[first:last]
    buckets = len(desk.count)
    scale = kernels.steps_between(least, most, buckets)
    task = np.array([start, share.end, 0, cuts, 0, 0, 0], np.int64)
    if scale == 0.0 or share.pieces == 1 or cuts == 0:
        desk.tasks[0] = task
        kernels.settle(cloud, desk, int(nodes.axis[node]), 1)
    else:
        counts, weights = np.zeros((2, share.pieces, buckets), np.int64)
        share(lambda lo, hi: kernels.tally(lo, hi, cloud.values, cloud.load, cloud.order, least, scale,
                                           counts[row[lo]], weights[row[lo]]))
        table, count = desk.table, counts.sum(axis=0)
        before = np.cumsum(counts, axis=0) - counts
        top, opened = kernels.open_buckets(task, desk.goals, len(cloud.load) == 0, count, weights.sum(axis=0), table,
                                           desk.tasks, 0)
        # where a bucket is open, `count` tells where it begins; every thread goes on behind those before it
        cursor = count + before
        share(lambda lo, hi: kernels.deal(lo, hi, cloud.values, cloud.order, least, scale, table, cursor[row[lo]],
                                          cloud.other, cloud.section))
        cloud.order[start:start + opened] = cloud.other[start:start + opened]
        kernels.settle(cloud, desk, int(nodes.axis[node]), top)
    put_together(first + node, cuts + 1, cloud, made, share)


def put_together(at: int, sections: int, cloud: Cloud, made: Cut, share: Share) -> None:
    """Measure the sections of one box, from `at` on, and reorder its points by them."""
    row = share.row
    size, weight = np.empty((2, share.pieces, sections), np.int64)
    most = np.empty((share.pieces, sections))
    share(lambda lo, hi: clouds.measure(lo, hi, cloud, size[row[lo]], weight[row[lo]], most[row[lo]]))
    rows = slice(at, at + sections)
    made.size[rows], made.weight[rows], made.most[rows] = size.sum(axis=0), weight.sum(axis=0), most.max(axis=0)
    before = np.cumsum(made.size[rows]) - made.size[rows]
    cursor = share.start + before + np.cumsum(size, axis=0) - size
    share(lambda lo, hi: clouds.update_permutation(lo, hi, cloud, cursor[row[lo]]))
    cloud.perm[share.start:share.end] = cloud.other[share.start:share.end]


__all__ = ["Cut", "Selecting", "Share", "cloud_of", "desk_for", "for_nodes", "gather", "put_together"]
