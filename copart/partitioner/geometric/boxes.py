"""The partition graph of boxes: which of them share a part of a face, and so will exchange messages."""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
from numpy.typing import ArrayLike, NDArray

from ...arrays import VERTEX, frozen, whole
from ...errors import ConfigError, PartitionError
from ...graph import Graph
from ...kernels.boxes import facing

Array = np.ndarray[Any, Any]


class Messages(NamedTuple):
    """What parts that are boxes will send: the most messages of a part, and those of all parts, both ways counted."""

    most: int
    total: int


def box_graph(boxes: ArrayLike) -> Graph:
    """The graph of boxes that touch: along a segment in 2D, a piece of a face in 3D, in a point in 1D.

    Parameters
    ----------
    boxes : (k, 2, d) array_like of float
        Lower and upper corners; faces match where their coordinates are equal.

    Returns
    -------
    Graph
        One vertex per box.

    Raises
    ------
    PartitionError
        The shape is another, a coordinate is not finite, or a box ends before it begins.

    Examples
    --------
    >>> import numpy as np
    >>> halves = np.array([[[0, 0], [1, 2]], [[1, 0], [2, 1]], [[1, 1], [2, 2.0]]])
    >>> box_graph(halves).nedges
    3
    """
    given = frozen(np.ascontiguousarray(boxes, np.float64))
    if given.ndim != 3 or given.shape[1] != 2 or given.shape[2] == 0:
        raise PartitionError(f"boxes: needs shape (k, 2, d), has {given.shape}")
    bad = ~(np.isfinite(given).all(axis=(1, 2)) & (given[:, 0] <= given[:, 1]).all(axis=1))
    if bad.any():
        raise PartitionError(f"boxes: {int(bad.sum())} end before they begin or are not finite, first at index "
                             f"{int(np.argmax(bad))}")
    pairs = [_facing(given, axis) for axis in range(given.shape[2])]
    u, v = np.concatenate(pairs).T
    # boxes without width may face each other on two sides; it is one pair
    ends = np.unique(np.stack([np.minimum(u, v), np.maximum(u, v)]), axis=1)
    return Graph.from_edges(len(given), *ends)


def _facing(boxes: NDArray[np.float64], axis: int) -> Array:
    """(m, 2) pairs of boxes of which one ends where the other begins along an axis."""
    dim = boxes.shape[2]
    order = (axis + 1) % dim
    begin, end = boxes[:, 0, axis], boxes[:, 1, axis]
    at = np.intersect1d(begin, end)
    low = _by_plane(begin, at, boxes[:, 0, order])
    high = _by_plane(end, at, boxes[:, 0, order])
    found = [np.empty((0, 2), VERTEX)]
    for here, there in zip(low, high, strict=True):
        reach = np.maximum.accumulate(boxes[there, 1, order]) if order != axis else np.full(len(there), np.inf)
        pairs = np.empty((4 * (len(here) + len(there)), 2), VERTEX)
        count = facing(0, len(here), here, there, order, axis, reach, boxes, pairs)
        if count > len(pairs):
            pairs = np.empty((count, 2), VERTEX)
            facing(0, len(here), here, there, order, axis, reach, boxes, pairs)
        found.append(pairs[:count])
    return np.concatenate(found)


def _by_plane(value: Array, at: Array, then: Array) -> list[Array]:
    """The boxes on each of the planes, sorted by where they begin along another axis."""
    order = np.lexsort([then, value])
    first, last = np.searchsorted(value[order], at, "left"), np.searchsorted(value[order], at, "right")
    return [order[i:j].astype(VERTEX) for i, j in zip(first, last, strict=True)]


def messages(graph: Graph) -> Messages:
    """The most messages of a part, and all of them: each neighbour gets one from each side.

    Parameters
    ----------
    graph : Graph
        Of the parts, as :func:`box_graph` gives it.
    """
    degree = np.diff(graph.xadj)
    return Messages(int(degree.max(initial=0)), int(degree.sum()))


def jagged_messages(*counts: int) -> int:
    """Messages of boxes in general position, by the sections per level, where each level cuts another coordinate.

    Parameters
    ----------
    *counts : int
        Sections of every box of each level, of one to three levels.

    Raises
    ------
    ConfigError
        There are no levels, or more than three, whose messages depend on the points; or a number is below 1.

    Examples
    --------
    >>> jagged_messages(16, 16), jagged_messages(8, 8, 8)
    (1410, 5726)
    """
    if not 1 <= len(counts) <= 3:
        raise ConfigError(f"counts: needs the sections of one to three levels, got {len(counts)}")
    p, q, r = (*(whole("counts", count, low=1) for count in counts), 1, 1)[:3]
    flat = p * (q - 1) + (p - 1) * (2 * q - 1)
    return 2 * (p * q * (r - 1) + flat * (2 * r - 1))


__all__ = ["Messages", "box_graph", "jagged_messages", "messages"]
