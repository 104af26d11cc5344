"""Tetrahedra, pyramids, wedges and hexahedra among polyhedra, as ordinary blocks."""

from __future__ import annotations

from itertools import pairwise

import numpy as np
from numpy.typing import NDArray

from ..fields import Block
from ..polyhedra import Ints, Polyhedra, spans

MAX_BLOCKS = 32
"""A mesh whose types alternate more often stays polyhedra: blocks keep the order of the cells."""
_CHUNK = 100_000
# (faces with 3 nodes, faces with 4): type, corners of the base
_KINDS = {(4, 0): ("tetra", 3), (4, 1): ("pyramid", 4), (2, 3): ("wedge", 3), (0, 6): ("hexahedron", 4)}


def plain_blocks(solid: Polyhedra) -> list[Block] | None:
    """The cells as blocks in their order, or None where some are of other shapes or types alternate too often."""
    start, faces = solid.sides
    size = np.diff(solid.start)
    if not np.isin(size, (3, 4)).all():
        return None
    cell = np.repeat(np.arange(solid.ncells), np.diff(start))
    triangles = np.bincount(cell[size[faces] == 3], minlength=solid.ncells)
    quads = np.diff(start) - triangles
    kind = np.minimum(triangles, 9) * 10 + np.minimum(quads, 9)
    change = np.flatnonzero(np.diff(kind)) + 1
    if len(change) >= MAX_BLOCKS or not {int(k) for k in np.unique(kind)} <= {a * 10 + b for a, b in _KINDS}:
        return None
    blocks: list[Block] = []
    runs = [0, *change.tolist(), solid.ncells]
    for first, last in pairwise(runs):
        tri, quad = divmod(int(kind[first]), 10)
        name, base = _KINDS[tri, quad]
        parts = []
        for at in range(first, last, _CHUNK):
            cells = np.arange(at, min(at + _CHUNK, last))
            nodes = _corners(solid, cells, faces[start[at]:start[cells[-1] + 1]].reshape(len(cells), tri + quad), base)
            if nodes is None:
                return None
            parts.append(nodes)
        nodes = np.concatenate(parts)
        blocks.append((name, nodes))
    return blocks


def _corners(solid: Polyhedra, cells: Ints, faces: Ints, base_size: int) -> Ints | None:
    """Corners of cells of one type, from (ncells, nfaces) faces; None where some are not what their faces count as.

    The base comes first, turned so that it faces into the cell.
    """
    n, nfaces = faces.shape
    size = np.diff(solid.start)[faces]
    # a face of the base's size comes first, the others keep their order
    order = np.argsort(size != base_size, axis=1, kind="stable")
    faces, size = np.take_along_axis(faces, order, 1), np.take_along_axis(size, order, 1)
    base = solid.nodes[spans(solid.start[faces[:, 0]], np.full(n, base_size))].reshape(n, base_size)
    own = solid.owner[faces[:, 0]] == cells
    base = np.where(own[:, None], base[:, ::-1], base)
    side = np.full((n, nfaces - 1, 4), -1, np.int64)
    side[np.arange(4) < size[:, 1:, None]] = solid.nodes[
        spans(solid.start[faces[:, 1:]].ravel(), size[:, 1:].ravel())]
    low = (side[..., None] == base[:, None, None, :]).any(-1)
    if (np.diff(np.sort(base, axis=1), axis=1) == 0).any():
        return None
    if nfaces == 4 or (base_size == 4 and nfaces == 5):
        above = np.where(low | (side < 0), -1, side).reshape(n, -1)
        apex = above.max(axis=1)
        if (apex < 0).any() or ((above >= 0) & (above != apex[:, None])).any():
            return None
        return np.column_stack([base, apex])
    return _two_layers(base, side, low, size[:, 1:])


def _two_layers(base: Ints, side: Ints, low: NDArray[np.bool_], size: Ints) -> Ints | None:
    """Wedges and hexahedra: over each corner of the base is the node that an edge of a side leads to."""
    quad = (size == 4)[..., None]
    after, before = np.roll(side, -1, axis=2), np.roll(side, 1, axis=2)
    up = np.where(np.roll(low, -1, axis=2), before, after)
    top = np.empty_like(base)
    for i in range(base.shape[1]):
        here = (side == base[:, i, None, None]) & quad
        ends = np.where(here, up, -1)
        top[:, i] = ends.max(axis=(1, 2))
        # two sides meet over a corner, and agree
        if (here.sum(axis=(1, 2)) != 2).any() or (here & (ends != top[:, i, None, None])).any():
            return None
    both = np.sort(np.concatenate([base, top], axis=1), axis=1)
    if (both[:, 0] < 0).any() or (np.diff(both, axis=1) == 0).any():
        return None
    # nothing else on the cell: the lid has the nodes above, and no other
    lid = np.where((side >= 0) & ~low, side, top[:, :1, None])
    return np.concatenate([base, top], axis=1) if (lid[..., None] == top[:, None, None, :]).any(-1).all() else None
