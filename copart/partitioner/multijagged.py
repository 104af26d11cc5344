"""Multi-Jagged: points partitioned into boxes by cutting along one coordinate after another into many sections."""

from __future__ import annotations

from collections.abc import Sequence
from math import floor
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from ..arrays import VERTEX, tolerance, whole
from ..metrics import target_shares
from .geometric.cutting import Selecting
from .geometric.levels import Axes, AxisRule, partition_in_levels
from .geometric.points import checked_nparts, checked_points, goals
from .geometric.result import GeometricPartition
from .geometric.search import Searching
from .geometric.tree import shape
from .rounds import Team


def round_robin(dim: int) -> AxisRule:
    """Every level cuts along the next coordinate."""
    def rule(level: int, cloud: Any, start: Any, team: Team) -> Axes:
        nodes = len(start) - 1
        return Axes(np.full(nodes, level % dim, VERTEX), np.zeros((nodes, dim)))
    return rule


def multijagged(points: ArrayLike, nparts: int | None = None, *, weights: ArrayLike | None = None,
                tpwgts: ArrayLike | None = None, depth: int | None = None, counts: Sequence[int] | None = None,
                eps: float | str | None = None, threads: int = 1) -> GeometricPartition:
    """Partition points into boxes of equal weight.

    Parameters
    ----------
    points : (n, d) array_like of float
        Finite coordinates.
    nparts : int, optional
        Number of parts, 1 to n, primes as well; the product of `counts` where these are given.
    weights : (n,) array_like of float, optional
        Not negative; 1 each where not given. Whole numbers count exactly, others are rounded to a unit that makes
        their sum about 2^52.
    tpwgts : (nparts,) array_like of float, optional
        Target share of each part; equal where not given. Parts are numbered by their boxes: in the order of the first
        coordinate, then of the second, and so on.
    depth : int, optional
        Levels of recursion: each cuts along the next coordinate, in turn. The number of coordinates where not given;
        ``ceil(log2(nparts))`` halves boxes again and again.
    counts : sequence of int, optional
        Sections of every box by level, instead of `nparts` and `depth`.
    eps : float, optional
        How far above its target a part may be, as a fraction or in per cent: cuts are searched by trial and correction
        until that is met, or cannot be with the weights there are; 0 for the best. Where not given, cuts are
        selected, which gives the same parts as 0 in less time.
    threads : int
        Threads to use; the result does not depend on it.

    Returns
    -------
    GeometricPartition

    Raises
    ------
    PartitionError
        Coordinates are not finite, weights are negative or add up to 2^53 or more, a shape is wrong, or there are
        more parts than points.
    ConfigError
        The numbers of parts and levels do not fit together, or another argument is out of range.

    Notes
    -----
    A cut is where the weight at its left is nearest to what is wanted. Points on a cut are shared out in the order of
    their other coordinates, then of their numbers. So unit weights and equal targets give parts of ``floor(n /
    nparts)`` or ``ceil(n / nparts)`` points, and any weights parts that weigh at most one heaviest point more than
    their target. A box whose points weigh nothing is cut by their number.

    Examples
    --------
    >>> import numpy as np
    >>> line = np.arange(8.0)[:, None]
    >>> multijagged(line, 3).part.tolist()
    [0, 0, 0, 1, 1, 2, 2, 2]
    """
    given = checked_points(points, weights)
    n, dim = given.coords.shape
    k, depth, each = shape(nparts, depth, counts, dim)
    checked_nparts(k, n)
    wanted = goals(given.total, k, tpwgts)
    levels = ((depth - level, None if each is None else each[level]) for level in range(depth))
    with Team(whole("threads", threads, low=1, high=1024)) as team:
        cutter = Selecting() if eps is None else Searching(slack(wanted, tolerance("eps", eps), tpwgts), np.arange(n))
        return partition_in_levels(given, k, wanted, levels, round_robin(dim), team, cutter, "multijagged")


def slack(wanted: NDArray[np.int64], eps: float, tpwgts: ArrayLike | None = None) -> int:
    """By how much twice the weight left of a cut may miss its goal, so that parts are within `eps` of their targets.

    Both cuts of a part may err: each gets half of the room of the part with least. The goals are whole numbers, of
    which a part may be one above twice its target: that comes out of its room.

    Parameters
    ----------
    wanted : (nparts + 1,) int64
        :func:`copart.partitioner.geometric.points.goals`.
    eps : float
    tpwgts : (nparts,) array_like of float, optional
        As for these.
    """
    nparts = len(wanted) - 1
    twice = int(wanted[-1]) / nparts if tpwgts is None else int(wanted[-1]) * target_shares(tpwgts, nparts)
    room = eps * twice + (twice - np.diff(wanted))
    # shares are rounded: what they lack by that is no reason to search on
    return max(0, floor(float(room.min()) / 2 + 1e-9))


__all__ = ["multijagged", "round_robin", "slack"]
