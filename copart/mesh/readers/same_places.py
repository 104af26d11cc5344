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


def _pairs(points: NDArray[np.float64], near: float) -> Ints:
    from scipy.spatial import cKDTree

    return np.asarray(cKDTree(points).query_pairs(near, p=np.inf, output_type="ndarray"), np.int64)


__all__ = ["same_places"]
