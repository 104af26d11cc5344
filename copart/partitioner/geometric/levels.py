"""Boxes cut into sections level by level: what Multi-Jagged and recursive bisection have in common."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any, NamedTuple, Protocol

import numpy as np

from ...arrays import OFFSET, VERTEX, WEIGHT, frozen
from ...kernels import clouds
from ...kernels.clouds import Cloud, Nodes
from ..rounds import Team
from .cutting import Cut, cloud_of, for_nodes
from .points import Points
from .result import Counters, GeometricPartition
from .tree import next_level

Array = np.ndarray[Any, Any]


class Cutter(Protocol):
    """Cuts the boxes of a level and reorders their points."""

    counters: Counters

    def __call__(self, cloud: Cloud, nodes: Nodes, goals: Array, team: Team) -> Cut: ...


class Axes(NamedTuple):
    """Along what each box of a level is cut: coordinates (nodes,), -1 for the directions (nodes, d)."""

    axis: Array
    direction: Array


#: Chooses the axes, given the number of the level and where the points of each box begin.
AxisRule = Callable[[int, Cloud, Array, Team], Axes]


class Level(NamedTuple):
    """The boxes between two levels.

    parts, start (nodes + 1,) int64 first part and first point here of each; size, weight (nodes,) int64 of the points
    of all processes; boxes (nodes, 2, d) float64 corners; before : int, weight of the points before the first of them.
    """

    parts: Array
    start: Array
    size: Array
    weight: Array
    boxes: Array
    before: int = 0


def whole_box(points: Points, cloud: Cloud, nparts: int, team: Team) -> Level:
    """One box with all points."""
    n = len(points.coords)
    start = np.array(team.cuts(n), OFFSET)
    each = extents(cloud, start, team)
    corners = np.stack([each[:, 0].min(axis=0), each[:, 1].max(axis=0)])[None]
    return Level(np.array([0, nparts], OFFSET), np.array([0, n], OFFSET), np.array([n], OFFSET),
                 np.array([points.total], WEIGHT), corners)


def extents(cloud: Cloud, start: Array, team: Team) -> Array:
    """(nodes, 2, d) float64 corners of the smallest boxes around the points of each node."""
    nodes = len(start) - 1
    corners = np.empty((nodes, 2, cloud.coords.shape[1]))
    for_nodes(lambda lo, hi, _: clouds.extents(lo, hi, cloud.coords, cloud.perm, start, corners), start, team,
              lambda: None)
    return corners


def cut(level: Level, made: Array, parts: Array, wanted: Array, axes: Axes, cloud: Cloud, team: Team,
        cutter: Cutter) -> Level:
    """The boxes of the next level.

    Parameters
    ----------
    level : Level
    made : (nodes,) int64
        Sections of each box.
    parts : (sections + 1,) int64
        First part of each section.
    wanted : (nparts + 1,) int64
        :func:`copart.partitioner.geometric.points.goals`.
    axes : Axes
    cloud, team, cutter
        The points, in the order of the boxes; who works on them and how.

    Notes
    -----
    A cut is wanted where the weight of *all* points before it is, those of other boxes included: what one level had to
    round is not added to by the next.  So each part weighs at most one heaviest point more or less than is wanted.
    A box without weight is cut by the number of its points.
    """
    nodes = len(made)
    before = level.before + np.cumsum(level.weight) - level.weight
    node = np.repeat(np.arange(nodes), made)
    inner = np.ones(len(node), bool)
    inner[np.cumsum(made) - made] = False
    box, part = node[inner], parts[:-1][inner]
    goals = wanted[part] - 2 * before[box]
    plain = (level.weight == 0) & (level.size > 0)
    if plain.any():
        count = plain[box]
        first, held = level.parts[:-1][box[count]], np.diff(level.parts)[box[count]]
        goals[count] = 2 * level.size[box[count]] * (part[count] - first) // held
    first = np.zeros(nodes + 1, OFFSET)
    np.cumsum(made - 1, out=first[1:])
    found = cutter(cloud, Nodes(level.start, first, axes.axis, axes.direction, plain), goals, team)
    return Level(parts, np.concatenate([[0], np.cumsum(found.size)]), found.total,
                 np.where(plain[node], 0, found.weight), _corners(level.boxes, node, inner, axes.axis, found.most),
                 level.before)


def _corners(boxes: Array, node: Array, inner: Array, axis: Array, most: Array) -> Array:
    """Corners of the sections: each ends at its largest coordinate, the next one begins there."""
    made = boxes[node]
    along = axis[node]
    rows = np.flatnonzero(along >= 0)
    last = np.append(~inner[1:], True)
    lower = made[np.arange(len(node)), 0, np.maximum(along, 0)]
    # a section without points has no width: it ends where the one before it does
    upto = np.where(np.isfinite(most), most, lower)
    for i in np.flatnonzero(~np.isfinite(most) & inner):
        upto[i] = upto[i - 1]
    ends = rows[~last[rows]]
    made[ends, 1, along[ends]] = upto[ends]
    made[ends + 1, 0, along[ends]] = upto[ends]
    return made


def partition_in_levels(points: Points, nparts: int, wanted: Array, counts: Iterator[tuple[int, int | None]],
                        rule: AxisRule, team: Team, cutter: Cutter, method: str, *,
                        boxed: bool = True) -> GeometricPartition:
    """Algorithm 1 of Multi-Jagged on one process, whatever cuts and along whatever axes.

    Parameters
    ----------
    points : Points
    nparts : int
    wanted : (nparts + 1,) int64
    counts : iterator of (int, int or None)
        By level: how many are left, and the sections of every box if that is given.
    rule, team, cutter
        How to cut.
    method : str
        For the result.
    boxed : bool
        The parts are boxes.
    """
    cloud = cloud_of(points)
    level = whole_box(points, cloud, nparts, team)
    for number, (left, count) in enumerate(counts):
        made, parts = next_level(level.parts, left, count)
        if (made == 1).all():
            continue
        level = cut(level, made, parts, wanted, rule(number, cloud, level.start, team), cloud, team, cutter)
    part = np.empty(len(cloud.perm), VERTEX)
    part[cloud.perm] = np.repeat(np.arange(nparts, dtype=VERTEX), np.diff(level.start))
    return GeometricPartition(frozen(part), nparts, frozen(level.weight * points.unit),
                              frozen(level.boxes) if boxed else None, method, cutter.counters)


__all__ = ["Axes", "AxisRule", "Cutter", "Level", "cut", "extents", "partition_in_levels", "whole_box"]
