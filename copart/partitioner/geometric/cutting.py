"""Cutting all boxes of a level at once, exactly: threads share a box while boxes are few, and boxes when they are many.

The kernels are in :mod:`copart.kernels.sectioning`.  Sums are of whole numbers and the place of every point is decided
by its neighbours in a fixed order, so the result does not depend on how the work is shared.
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from ...arrays import OFFSET, VERTEX, WEIGHT
from ...kernels import sectioning as kernels
from ...kernels.sectioning import Cloud, Desk, Nodes
from ..rounds import Team
from .points import Points

#: Buckets of the coordinate of a box: 16 kB of counters stay in the fastest cache.
_BUCKETS = 2048
#: Boxes of a level, per thread, from which each thread takes whole boxes.
_MANY = 4


class Cut(NamedTuple):
    """What came of cutting: by section the number and weight of its points and the largest coordinate."""

    size: NDArray[np.int64]
    weight: NDArray[np.int64]
    most: NDArray[np.float64]


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


def cut_level(cloud: Cloud, nodes: Nodes, goals: NDArray[np.int64], team: Team) -> Cut:
    """Cut every box of a level into sections; `perm` is in their order afterwards.

    Parameters
    ----------
    cloud : Cloud
    nodes : Nodes
    goals : (goals,) int64
        Of all boxes, as :mod:`copart.kernels.sectioning` describes them.
    team : Team
    """
    count = len(nodes.axis)
    total = len(goals) + count
    made = Cut(np.empty(total, OFFSET), np.empty(total, WEIGHT), np.empty(total))
    cuts = int(np.diff(nodes.first).max(initial=0))
    n = len(cloud.perm)
    if team.threads == 1 or team.pieces(n) == 1:
        kernels.section_nodes(0, count, cloud, desk_for(cuts), nodes, goals, *made)
    elif count < _MANY * team.threads:
        for node in range(count):
            _cut_together(node, cloud, nodes, goals, made, team)
    else:
        # several jobs per thread, of about as many points each
        jobs = min(count, 8 * team.threads)
        ends = np.searchsorted(nodes.start, np.arange(jobs + 1) * n // jobs)
        ends[0], ends[-1] = 0, count

        def work(job: int, desk: Desk) -> None:
            kernels.section_nodes(int(ends[job]), int(ends[job + 1]), cloud, desk, nodes, goals, *made)

        team.spread(work, jobs, [desk_for(cuts) for _ in range(team.threads)])
    return made


def _cut_together(node: int, cloud: Cloud, nodes: Nodes, goals: NDArray[np.int64], made: Cut, team: Team) -> None:
    """Cut one box, all threads on it: each pass over its points is shared, what cuts run through is settled by one."""
    start, end = int(nodes.start[node]), int(nodes.start[node + 1])
    first, last = int(nodes.first[node]), int(nodes.first[node + 1])
    cuts, n = last - first, end - start
    axis, own = int(nodes.axis[node]), goals[first:last]
    ends = [start + end for end in team.cuts(n)]
    pieces = len(ends) - 1
    row = {lo: i for i, lo in enumerate(ends[:-1])}

    def share(work: Any) -> list[Any]:
        return team.run(work, n, bounds=np.array(ends))

    ranges = share(lambda lo, hi: kernels.gather(lo, hi, cloud, axis, nodes.direction[node], bool(nodes.plain[node])))
    least, most = min(low for low, _ in ranges), max(high for _, high in ranges)
    desk = desk_for(cuts)
    desk.goals[:] = own
    buckets = len(desk.count)
    scale = kernels.steps_between(least, most, buckets)
    task = np.array([start, end, 0, cuts, 0, 0, 0], np.int64)
    if scale == 0.0 or pieces == 1 or cuts == 0:
        desk.tasks[0] = task
        kernels.settle(cloud, desk, axis, 1)
    else:
        counts, weights = np.zeros((pieces, buckets), np.int64), np.zeros((pieces, buckets), np.int64)
        share(lambda lo, hi: kernels.tally(lo, hi, cloud.values, cloud.load, cloud.order, least, scale,
                                           counts[row[lo]], weights[row[lo]]))
        table, count = desk.table, counts.sum(axis=0)
        before = np.cumsum(counts, axis=0) - counts
        top, n_open = kernels.open_buckets(task, desk.goals, len(cloud.load) == 0, count, weights.sum(axis=0), table,
                                           desk.tasks, 0)
        # where a bucket is open, `count` tells where it begins; every thread goes on behind those before it
        cursor = count + before
        share(lambda lo, hi: kernels.deal(lo, hi, cloud.values, cloud.order, least, scale, table, cursor[row[lo]],
                                          cloud.other, cloud.section))
        cloud.order[start:start + n_open] = cloud.other[start:start + n_open]
        kernels.settle(cloud, desk, axis, top)
    _put_together(first + node, cuts + 1, start, cloud, made, share, row)


def _put_together(at: int, sections: int, start: int, cloud: Cloud, made: Cut, share: Any, row: dict[int, int]) -> None:
    """Measure the sections of one box and reorder its points by them."""
    pieces = len(row)
    count, weight = np.empty((pieces, sections), np.int64), np.empty((pieces, sections), np.int64)
    most = np.empty((pieces, sections))
    share(lambda lo, hi: kernels.measure(lo, hi, cloud, count[row[lo]], weight[row[lo]], most[row[lo]]))
    rows = slice(at, at + sections)
    made.size[rows], made.weight[rows], made.most[rows] = count.sum(axis=0), weight.sum(axis=0), most.max(axis=0)
    ends = np.cumsum(made.size[rows])
    cursor = start + (ends - made.size[rows]) + np.cumsum(count, axis=0) - count
    share(lambda lo, hi: kernels.update_permutation(lo, hi, cloud, cursor[row[lo]]))
    end = start + int(ends[-1])
    cloud.perm[start:end] = cloud.other[start:end]


__all__ = ["Cut", "cloud_of", "cut_level", "desk_for"]
