"""Points that are meant to be one."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from ..polyhedra import Ints


def same_places(points: NDArray[np.float64], near: float) -> tuple[NDArray[np.float64], Ints]:
    """Points without those that lie within `near` of another one in every coordinate, or of others in a row.

    Parameters
    ----------
    points : (n, 3) float64
    near : float
        In the unit of the points; where these lie farther out than doubles resolve that, what they do.

    Returns
    -------
    (m, 3) float64, (n,) int64
        The points that are left, and which of them each point is.

    Raises
    ------
    ValueError
        Coordinates are not finite.
    """
    if not np.isfinite(points).all():
        raise ValueError("coordinates are not finite")
    near = max(near, 1e-15 * float(np.abs(points).max(initial=0.0)))
    # those in one box of a grid first, as most are: neighbours in different boxes are far fewer
    box = np.round(points / near).astype(np.int64)
    order = np.lexsort(box.T)
    begins = np.append(True, (np.diff(box[order], axis=0) != 0).any(axis=1))[:len(points)]
    number = np.empty(len(points), np.int64)
    number[order] = np.cumsum(begins) - 1
    kept = points[order[begins]]
    pairs = _pairs(kept, near)
    if len(pairs):
        from scipy.sparse import coo_array
        from scipy.sparse.csgraph import connected_components

        apart = coo_array((np.ones(len(pairs), np.int8), tuple(pairs.T)), shape=(len(kept), len(kept)))
        label = connected_components(apart, directed=False)[1].astype(np.int64)
        first = np.unique(label, return_index=True)[1]
        kept, number = kept[first], label[number]
    return kept, number


def without_twins(points: NDArray[np.float64], piece: Ints) -> tuple[NDArray[np.float64], Ints]:
    """Points of several pieces without those at the very place of an earlier one, where no piece has two: these are
    apart on purpose.

    Parameters
    ----------
    points : (n, 3) float64
    piece : (n,) int64
        The piece that each point is of.

    Returns
    -------
    (m, 3) float64, (n,) int64
        The points that are left, and which of them each point is.
    """
    order = np.lexsort((piece, *points.T))
    there, whose = points[order], piece[order]
    begins = np.append(True, (there[1:] != there[:-1]).any(axis=1))[:len(points)]
    place = np.cumsum(begins) - 1
    twice = ~begins & np.append(False, whose[1:] == whose[:-1])[:len(points)]
    apart = np.bincount(place, twice)[place] > 0
    same = np.arange(len(points))
    same[order] = np.where(apart, order, order[np.flatnonzero(begins)][place])
    kept = same == np.arange(len(points))
    return points[kept], (np.cumsum(kept) - 1)[same]


def _pairs(points: NDArray[np.float64], near: float) -> Ints:
    from scipy.spatial import cKDTree

    return np.asarray(cKDTree(points).query_pairs(near, p=np.inf, output_type="ndarray"), np.int64)


__all__ = ["same_places", "without_twins"]
