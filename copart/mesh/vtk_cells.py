"""Cells as VTK and pyvista number them."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from ..errors import MeshError
from .fields import Block

TYPES = {1: "vertex", 3: "line", 5: "triangle", 7: "polygon", 8: "quad", 9: "quad", 10: "tetra", 11: "hexahedron",
         12: "hexahedron", 13: "wedge", 14: "pyramid", 21: "line3", 22: "triangle6", 23: "quad8", 24: "tetra10",
         25: "hexahedron20", 26: "wedge15", 27: "pyramid13", 28: "quad9", 29: "hexahedron27", 30: "quad6",
         31: "wedge12", 32: "wedge18", 33: "hexahedron24", 34: "triangle7", 68: "VTK_LAGRANGE_CURVE",
         69: "VTK_LAGRANGE_TRIANGLE", 70: "VTK_LAGRANGE_QUADRILATERAL", 71: "VTK_LAGRANGE_TETRAHEDRON",
         72: "VTK_LAGRANGE_HEXAHEDRON", 73: "VTK_LAGRANGE_WEDGE", 74: "VTK_LAGRANGE_PYRAMID"}
POLYHEDRON = 42
BY_ROWS = {8: [0, 1, 3, 2], 11: [0, 1, 3, 2, 4, 5, 7, 6]}
"""Pixels and voxels list their corners row by row, not round."""


def blocks_of_grid(grid: Any) -> list[Block]:
    """Blocks of an unstructured grid: its ``celltypes``, and ``cells`` with the number of nodes before each.

    A run of cells of one type is a block, so that cells keep their order.

    Raises
    ------
    MeshError
        The arrays do not fit together, or a type is unknown.
    """
    types = np.asarray(grid.celltypes).reshape(-1)
    start, nodes = _rows(np.asarray(grid.cells).reshape(-1))
    if len(start) - 1 != len(types):
        raise MeshError(f"cells: {len(start) - 1} cells, but celltypes has {len(types)} entries")
    return _runs(types, start, nodes)


def blocks_of_faces(surface: Any) -> list[Block]:
    """Blocks of a surface: its ``faces``, with the number of nodes before each; lines where it has no faces."""
    faces = np.asarray(surface.faces).reshape(-1)
    if len(faces):
        start, nodes = _rows(faces)
        size = np.diff(start)
        return _runs(np.where(size == 3, 5, np.where(size == 4, 9, 7)), start, nodes)
    start, nodes = _rows(np.asarray(getattr(surface, "lines", ())).reshape(-1).astype(np.int64))
    if (np.diff(start) != 2).any():
        # a line through many points is that many segments less one
        inner = np.ones(len(nodes), bool)
        inner[start[1:] - 1] = False
        at = np.flatnonzero(inner)
        return [("line", np.stack([nodes[at], nodes[at + 1]], axis=1))]
    return [("line", nodes.reshape(-1, 2))]


def _rows(flat: NDArray[np.int64]) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
    """Offsets and nodes of cells that are each preceded by their number of nodes."""
    start, at = [0], 0
    keep = np.ones(len(flat), bool)
    while at < len(flat):
        count = int(flat[at])
        if count < 0 or at + 1 + count > len(flat):
            raise MeshError(f"cells: the entry at index {at} announces {count} nodes, {len(flat) - at - 1} are left")
        keep[at] = False
        start.append(start[-1] + count)
        at += 1 + count
    return np.array(start), flat[keep]


def blocks_of_types(types: NDArray[np.int64], start: NDArray[np.int64], nodes: NDArray[np.int64]) -> list[Block]:
    """Blocks of cells with VTK's types; cell i has the nodes ``nodes[start[i]:start[i + 1]]``.

    Raises
    ------
    MeshError
        A type is unknown.
    """
    return _runs(types, start, nodes)


def _runs(types: NDArray[np.int64], start: NDArray[np.int64], nodes: NDArray[np.int64]) -> list[Block]:
    """One block for each run of cells of the same type and number of nodes."""
    if len(types) == 0:
        return []
    size = np.diff(start)
    turns = np.flatnonzero((types[1:] != types[:-1]) | (size[1:] != size[:-1])) + 1
    out = []
    for first, last in zip([0, *turns], [*turns, len(types)], strict=True):
        code = int(types[first])
        if code not in TYPES:
            raise MeshError(f"cells: VTK type {code} is not supported, first at cell {first}")
        rows = nodes[start[first]:start[last]].reshape(last - first, int(size[first]))
        out.append((TYPES[code], rows[:, BY_ROWS[code]] if code in BY_ROWS else rows))
    return out


__all__ = ["blocks_of_faces", "blocks_of_grid", "blocks_of_types"]
