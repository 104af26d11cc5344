"""Pairs of overlapping boxes: the spatial index behind the interface search."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from ..arrays import OFFSET, VERTEX, spanned
from ..errors import MeshError

MAX_PAIRS = 300_000_000
"""More than this hardly fits in memory, and comes from a tolerance that is out of all proportion."""
_LEAF = 4
_BITS = 20


def overlapping_pairs(low_a: NDArray[np.float64], high_a: NDArray[np.float64], low_b: NDArray[np.float64],
                      high_b: NDArray[np.float64]) -> tuple[NDArray[np.int32], NDArray[np.int32]]:
    """All pairs of axis-parallel boxes of A and B that share at least a point.

    Parameters
    ----------
    low_a, high_a : (na, 3) float64
        Smallest and largest coordinates of each box of A.
    low_b, high_b : (nb, 3) float64
        The same for B.

    Returns
    -------
    a, b : (npairs,) int32
        Box numbers, a ascending.  O((na + npairs) log nb) for boxes of similar sizes.

    Raises
    ------
    MeshError
        More than `MAX_PAIRS` pairs.
    """
    from ..kernels.mesh_search import box_pairs, build_tree

    if len(low_a) == 0 or len(low_b) == 0:
        return np.zeros(0, VERTEX), np.zeros(0, VERTEX)
    low_a, high_a, low_b, high_b = (np.ascontiguousarray(x, np.float64) for x in (low_a, high_a, low_b, high_b))
    order = np.argsort(morton(0.5 * (low_b + high_b)), kind="stable").astype(OFFSET)
    nleaves = 1 << (-(-len(order) // _LEAF) - 1).bit_length()
    tree_low, tree_high = np.empty((2 * nleaves, 3)), np.empty((2 * nleaves, 3))
    build_tree(order, low_b, high_b, _LEAF, tree_low, tree_high)
    room = 16 * max(len(low_a), len(low_b))
    while True:
        a, b = np.empty(room, VERTEX), np.empty(room, VERTEX)
        count = box_pairs(low_a, high_a, low_b, high_b, order, _LEAF, tree_low, tree_high, MAX_PAIRS,
                          np.empty(64, OFFSET), a, b)
        if count > MAX_PAIRS:
            raise MeshError(f"interedges: more than {MAX_PAIRS} pairs of cells or facets are near enough to meet; "
                            f"use a smaller tolerance or gap")
        if count <= room:
            return a[:count], b[:count]
        room = count


def morton(points: NDArray[np.float64]) -> NDArray[np.uint64]:
    """Position of each point along a space-filling curve through the bounding box of all."""
    low, high = spanned(points)
    extent = float((high - low).max()) or 1.0
    cells = np.minimum((points - low) / extent * (1 << _BITS), (1 << _BITS) - 1).astype(np.uint64)
    code = np.zeros(len(points), np.uint64)
    for axis in range(3):
        x = cells[:, axis]
        # spread the bits three apart
        for shift, mask in ((32, 0x1F00000000FFFF), (16, 0x1F0000FF0000FF), (8, 0x100F00F00F00F00F),
                            (4, 0x10C30C30C30C30C3), (2, 0x1249249249249249)):
            x = (x | (x << np.uint64(shift))) & np.uint64(mask)
        code |= x << np.uint64(axis)
    return code
