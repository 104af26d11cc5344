"""Geometric methods under one call: Multi-Jagged, recursive bisection, and space-filling curves."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from ...arrays import VERTEX, whole
from ...kernels import clouds
from ...kernels.clouds import Cloud
from ...kernels.space_curves import places
from ...names import GeometricMethod, known_name
from ..multijagged import multijagged
from ..rounds import Team
from .cutting import Selecting, for_nodes
from .levels import Axes, AxisRule, extents, partition_in_levels
from .points import Points, checked_nparts, checked_points, goals
from .result import GeometricPartition
from .tree import bisection_depth

Array = np.ndarray[Any, Any]

#: Bits of a place on a curve, so that it is exact as a double.
_BITS = 52


def longest_side(level: int, cloud: Cloud, start: Array, team: Team) -> Axes:
    """Cut every box across the longest side of what it holds."""
    corners = extents(cloud, start, team)
    # by halves, or the distance of huge numbers would overflow; boxes without points have sides of -inf
    axis = np.argmax(0.5 * corners[:, 1] - 0.5 * corners[:, 0], axis=1)
    return Axes(axis.astype(VERTEX), np.zeros((len(axis), cloud.coords.shape[1])))


def principal_axis(level: int, cloud: Cloud, start: Array, team: Team) -> Axes:
    """Cut every group of points across the axis of its largest moment of inertia."""
    nodes, dim = len(start) - 1, cloud.coords.shape[1]
    corners = extents(cloud, start, team)
    sums = np.empty((nodes, 1 + dim, 1 + dim))
    for_nodes(lambda lo, hi, _: clouds.moments(lo, hi, cloud, start, corners, sums), start, team, lambda: None)
    weight = np.maximum(sums[:, 0, 0], 1)[:, None]
    mean = sums[:, 1:, 0] / weight
    spread = sums[:, 1:, 1:] / weight[:, :, None] - mean[:, :, None] * mean[:, None, :]
    _, vectors = np.linalg.eigh(spread, UPLO="L")
    direction = vectors[:, :, -1]
    # a direction and its opposite are one axis: the largest component is positive
    largest = np.take_along_axis(direction, np.argmax(abs(direction), axis=1)[:, None], axis=1)
    return Axes(np.full(nodes, -1, VERTEX), np.ascontiguousarray(direction * np.where(largest < 0, -1.0, 1.0)))


def along_curve(hilbert: bool) -> AxisRule:
    """Order points by their places on a curve through the box around all of them."""
    def rule(level: int, cloud: Cloud, start: Array, team: Team) -> Axes:
        n, dim = cloud.coords.shape
        corners = extents(cloud, start, team)[0]
        team.run(lambda lo, hi: places(lo, hi, cloud.coords, corners, _BITS // dim, hilbert, np.empty(dim, np.int64),
                                       cloud.values), n)
        return Axes(np.full(1, -2, VERTEX), np.zeros((1, dim)))
    return rule


def _bisected(points: Points, k: int, wanted: Array, team: Team, rule: AxisRule, method: str) -> GeometricPartition:
    depth = bisection_depth(k)
    return partition_in_levels(points, k, wanted, ((depth - level, None) for level in range(depth)), rule, team,
                               Selecting(), method, boxed=method == "rcb")


def _ordered(points: Points, k: int, wanted: Array, team: Team, rule: AxisRule, method: str) -> GeometricPartition:
    return partition_in_levels(points, k, wanted, iter([(1, None)]), rule, team, Selecting(), method, boxed=False)


_Made = Callable[[Points, int, Array, Team, AxisRule, str], GeometricPartition]
_OTHERS: dict[str, tuple[_Made, AxisRule]] = {
    "rcb": (_bisected, longest_side),
    "rib": (_bisected, principal_axis),
    "hsfc": (_ordered, along_curve(True)),
    "morton": (_ordered, along_curve(False)),
}

METHODS = ("multijagged", *_OTHERS)
"""Multi-Jagged; recursive coordinate and inertial bisection; Hilbert's and Morton's curve."""


def partition_points(points: ArrayLike, nparts: int, method: GeometricMethod = "multijagged", *,
                     weights: ArrayLike | None = None, tpwgts: ArrayLike | None = None,
                     threads: int = 1) -> GeometricPartition:
    """Partition points by their coordinates alone.

    Parameters
    ----------
    points : (n, d) array_like of float
        Finite coordinates.
    nparts : int
        Number of parts, 1 to n.
    method : {"multijagged", "rcb", "rib", "hsfc", "morton"}
        Multi-Jagged with as many levels as coordinates; recursive bisection across the longest side (rcb) or the
        principal axis (rib) of what is cut; pieces of Hilbert's or Morton's space-filling curve.
    weights : (n,) array_like of float, optional
    tpwgts : (nparts,) array_like of float, optional
        Target share of each part; equal where not given.
    threads : int
        Threads to use; the result does not depend on it.

    Returns
    -------
    GeometricPartition

    Raises
    ------
    PartitionError, ConfigError
        As :func:`copart.partitioner.multijagged.multijagged`; the method is unknown.

    Notes
    -----
    Balance is that of Multi-Jagged: unit weights and equal targets give parts of ``floor(n / nparts)`` or ``ceil(n /
    nparts)`` points with every method.

    Examples
    --------
    >>> import numpy as np
    >>> corners = np.array([[0, 0], [0, 1], [1, 0], [1, 1.0]])
    >>> partition_points(corners, 4, "hsfc").part.tolist()
    [0, 1, 3, 2]
    """
    known_name("method", method, METHODS)
    if method == "multijagged":
        return multijagged(points, whole("nparts", nparts), weights=weights, tpwgts=tpwgts, threads=threads)
    given = checked_points(points, weights)
    k = checked_nparts(nparts, len(given.coords))
    made, rule = _OTHERS[method]
    with Team(whole("threads", threads, low=1, high=1024)) as team:
        return made(given, k, goals(given.total, k, tpwgts), team, rule, method)


__all__ = ["METHODS", "along_curve", "longest_side", "partition_points", "principal_axis"]
