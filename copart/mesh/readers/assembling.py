"""From what files list side by side, cells of all dimensions and named sets of them, to a `Mesh` with groups."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from itertools import pairwise
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ...errors import MeshError
from ..cells import shape_of
from ..fields import Block, block_of, points_of
from ..polyhedra import Polyhedra
from ..value import Mesh
from .plain_cells import plain_blocks

Members = Mapping[int, NDArray[np.int64]]
"""Which cells of each block, by the number of the block; of the polyhedra under `SOLID`."""
SOLID = -1


def assembled(points: Any, blocks: Sequence[tuple[str, Any]], name: str,
              sets: Iterable[tuple[str, Members]] = (), *, cell_data: Mapping[str, NDArray[Any]] | None = None,
              facets: Mapping[str, Sequence[Any]] | None = None, nodes: Mapping[str, Any] | None = None,
              remarks: Sequence[str] = (), polyhedra: Polyhedra | None = None) -> Mesh:
    """A mesh whose groups come from sets of cells of any dimension.

    Members of the largest dimension become cell groups, those of one less facet groups, and the nodes of
    those of still less point groups.

    Parameters
    ----------
    points, blocks, cell_data, remarks
        As for :class:`Mesh`; the blocks mix dimensions.
    sets : iterable of (str, members)
        Named sets of cells; a name may come several times.
    facets : mapping of str to list of (n, w) arrays, optional
        More facets by name, padded with -1.
    nodes : mapping of str to (n,) array, optional
        Named sets of nodes.
    polyhedra : Polyhedra, optional
        More cells, which come after those of the blocks; all become polyhedra where these are of no ordinary shape.

    Raises
    ------
    MeshError
        As for :class:`Mesh`.
    """
    points = points_of(points)
    checked: list[Block] = [block_of(t, c, len(points)) for t, c in blocks]
    shapes = [shape_of(t, c.shape[1]) if len(c) else None for t, c in checked]
    top = 3 if polyhedra is not None else max((s.dimension for s in shapes if s is not None), default=0)
    first, at = [], 0
    for shape, (_, cells) in zip(shapes, checked, strict=True):
        first.append(at)
        at += len(cells) if shape is not None and shape.dimension == top else 0
    cell_groups: dict[str, list[Any]] = {}
    facet_groups: dict[str, list[Any]] = {k: list(v) for k, v in (facets or {}).items()}
    point_groups: dict[str, list[Any]] = {k: [np.asarray(v)] for k, v in (nodes or {}).items()}
    named = [np.zeros(len(c), bool) for _, c in checked]
    for label, members in sets:
        for i, index in members.items():
            if i == SOLID:
                cell_groups.setdefault(label, []).append(index + at)
                continue
            shape = shapes[i]
            if shape is None or len(index) == 0:
                continue
            named[i][index] = True
            if shape.dimension == top:
                cell_groups.setdefault(label, []).append(index + first[i])
            elif shape.dimension == top - 1:
                facet_groups.setdefault(label, []).append(checked[i][1][index, :shape.ncorners])
            else:
                point_groups.setdefault(label, []).append(checked[i][1][index].ravel())
    said = [*remarks, *_left_out(checked, shapes, named, top)]
    cell_data = dict(cell_data or {})
    if polyhedra is not None:
        solid = np.concatenate([*(np.full(len(c), s is not None and s.dimension == 3)
                                  for (_, c), s in zip(checked, shapes, strict=True)), np.ones(polyhedra.ncells, bool)])
        cell_data = {k: v[solid] if len(v) == len(solid) else v for k, v in cell_data.items()}
        checked, polyhedra = _alike(points, [b for b, s in zip(checked, shapes, strict=True) if s and s.dimension == 3],
                                    polyhedra)
    return Mesh(points, checked, cell_data, name, {k: stacked(v) for k, v in facet_groups.items()},
                {k: np.unique(np.concatenate(v)) for k, v in point_groups.items()},
                {k: np.unique(np.concatenate(v)) for k, v in cell_groups.items()}, remarks=said, polyhedra=polyhedra)


def _alike(points: NDArray[np.float64], blocks: list[Block],
           polyhedra: Polyhedra) -> tuple[list[Block], Polyhedra | None]:
    """Cells of blocks and polyhedra, all as blocks where that can be, else all as polyhedra."""
    if int(polyhedra.nodes.max()) >= len(points):
        raise MeshError(f"faces point outside the {len(points)} points, first at node {int(polyhedra.nodes.max())}")
    plain = plain_blocks(polyhedra)
    if plain is not None:
        return [*blocks, *plain], None
    return [], Polyhedra.beside(blocks, polyhedra) if blocks else polyhedra


def stacked(parts: Sequence[NDArray[np.int64]]) -> NDArray[np.int64]:
    """Rows of differing width as one array, padded with -1."""
    width = max((p.shape[1] for p in parts if p.ndim == 2), default=1)
    out = np.full((sum(len(p) for p in parts), width), -1, np.int64)
    at = 0
    for part in parts:
        if len(part):
            out[at:at + len(part), :part.shape[1]] = part
        at += len(part)
    return out


def by_size(start: NDArray[np.int64], nodes: NDArray[np.int64]) -> list[tuple[str, NDArray[np.int64],
                                                                          NDArray[np.int64]]]:
    """Polygons by their number of corners: type, nodes of each, and which they are among all.

    Parameters
    ----------
    start, nodes : NDArray of int64
        Polygon i has the nodes ``nodes[start[i]:start[i + 1]]``.
    """
    size = np.diff(start)
    out = []
    for n in np.unique(size).tolist():
        rows = np.flatnonzero(size == n)
        out.append(({3: "triangle", 4: "quad"}.get(n, "polygon"), nodes[start[rows, None] + np.arange(n)], rows))
    return out


def by_runs(start: NDArray[np.int64], nodes: NDArray[np.int64]) -> list[Block]:
    """Polygons, edges and points in their order: a block for those of one size that follow each other.

    Parameters
    ----------
    start, nodes : NDArray of int64
        Cell i has the nodes ``nodes[start[i]:start[i + 1]]``.

    Raises
    ------
    MeshError
        A cell has no nodes.
    """
    size = np.diff(start)
    if (size == 0).any():
        raise MeshError(f"face {int(np.argmin(size))} has no corners")
    change = [0, *(np.flatnonzero(np.diff(size)) + 1).tolist(), len(size)]
    kinds = {1: "vertex", 2: "line", 3: "triangle", 4: "quad"}
    return [(kinds.get(n := int(size[a]), "polygon"), nodes[start[a]:start[b]].reshape(-1, n))
            for a, b in pairwise(change) if a < b]


def _left_out(blocks: Sequence[Block], shapes: Sequence[Any], named: Sequence[NDArray[np.bool_]],
              top: int) -> list[str]:
    """A remark on the cells of lower dimension that no group names; single points pass."""
    lost: dict[str, int] = {}
    for (kind, _), shape, mine in zip(blocks, shapes, named, strict=True):
        if shape is not None and 0 < shape.dimension < top and not mine.all():
            lost[kind] = lost.get(kind, 0) + int((~mine).sum())
    what = ", ".join(f"{n} {kind}" for kind, n in lost.items())
    return [f"cells of lower dimension that belong to no named group are left out: {what}"] if what else []
