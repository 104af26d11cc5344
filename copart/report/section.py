"""A plane through the cells of a 3D mesh: the polygons that it cuts out of them."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from ..mesh import Mesh
from ..mesh.interfaces.surface import Surface

Points = NDArray[np.float64]
Crossings = tuple[Points, NDArray[np.bool_], NDArray[np.int64]]
"""(n, width, 3) points, which of them are meant, and the cell of each row."""


def section(mesh: Mesh, origin: Points, normal: Points) -> Surface:
    """The polygons in which the plane meets the cells.

    Parameters
    ----------
    mesh : Mesh
        3D; its cells are taken as convex, with straight edges.
    origin, normal : (3,) float
        A point of the plane and its direction.

    Returns
    -------
    Surface
        Of planar polygons; `outward` is the plane's normal.
    """
    height = (mesh.points - origin) @ normal
    # a plane exactly through nodes would meet cells in edges only
    height[np.abs(height) < 1e-9 * max(float(np.ptp(height)), 1e-300)] = 1e-9 * float(np.ptp(height))
    at, crossed, cell = _through_faces(mesh, height) if mesh.polyhedra is not None else _through_cells(mesh, height)
    corners, size = _in_cyclic_order(at, crossed, normal)
    return Surface(corners, size, cell.astype(np.int32), np.tile(normal, (len(cell), 1)))


def _through_cells(mesh: Mesh, height: Points) -> Crossings:
    """Where edges of cells of known shape go through the plane."""
    found: list[Crossings] = []
    first = 0
    for edges, cells in _edges(mesh):
        side = height[cells]
        cut = np.flatnonzero((side.min(axis=1) < 0) & (side.max(axis=1) > 0))
        p, q = edges.T
        side, nodes = side[cut], cells[cut]
        crossed = (side[:, p] > 0) != (side[:, q] > 0)
        found.append((_between(mesh.points, nodes[:, p], nodes[:, q], height), crossed, first + cut))
        first += len(cells)
    width = max(at.shape[1] for at, _, _ in found)
    room = [((0, 0), (0, width - at.shape[1])) for at, _, _ in found]
    return (np.concatenate([np.pad(at, (*r, (0, 0))) for (at, _, _), r in zip(found, room, strict=True)]),
            np.concatenate([np.pad(crossed, r) for (_, crossed, _), r in zip(found, room, strict=True)]),
            np.concatenate([cell for _, _, cell in found]))


def _through_faces(mesh: Mesh, height: Points) -> Crossings:
    """The same for polyhedra, whose edges are those of their faces."""
    solid = mesh.polyhedra
    assert solid is not None
    p, q = solid.nodes, np.roll(solid.nodes, -1)
    q[solid.start[1:] - 1] = solid.nodes[solid.start[:-1]]
    face = np.repeat(np.arange(solid.nfaces), np.diff(solid.start))
    cut = np.flatnonzero((height[p] > 0) != (height[q] > 0))
    p, q, face = np.minimum(p[cut], q[cut]), np.maximum(p[cut], q[cut]), face[cut]
    other = solid.neighbour[face]
    inner = other >= 0
    # each edge of a cell is in two of its faces
    rows = np.stack([np.concatenate([solid.owner[face], other[inner]]), np.concatenate([p, p[inner]]),
                     np.concatenate([q, q[inner]])], axis=1)
    rows = np.unique(rows, axis=0)
    cell, first, size = np.unique(rows[:, 0], return_index=True, return_counts=True)
    place = np.arange(len(rows)) - np.repeat(first, size)
    row = np.repeat(np.arange(len(cell)), size)
    crossed = np.arange(int(size.max(initial=3))) < size[:, None]
    at = np.zeros((*crossed.shape, 3))
    at[row, place] = _between(mesh.points, rows[:, 1], rows[:, 2], height)
    return at, crossed, cell


def _between(points: Points, p: NDArray[np.int64], q: NDArray[np.int64], height: Points) -> Points:
    """(..., 3) where the edges from p to q meet the plane; without meaning where they do not."""
    drop = height[p] - height[q]
    share = height[p] / np.where(drop == 0, 1.0, drop)
    return np.asarray(points[p] + share[..., None] * (points[q] - points[p]))


def _edges(mesh: Mesh) -> list[tuple[NDArray[np.int64], NDArray[np.int64]]]:
    """By block: pairs of local corners joined by an edge, and the corner nodes of the cells."""
    out = []
    for shape, cells in mesh.shapes():
        pairs = set()
        for facet in shape.facets:
            corner = facet[facet >= 0].tolist()
            pairs |= {tuple(sorted(e)) for e in zip(corner, corner[1:] + corner[:1], strict=True)}
        out.append((np.array(sorted(pairs), np.int64), cells[:, :shape.ncorners]))
    return out


def _in_cyclic_order(at: Points, crossed: NDArray[np.bool_], normal: Points) -> tuple[Points, NDArray[np.int64]]:
    """Corners (n, width, 3) of convex polygons, padded with the first, and their number."""
    size = crossed.sum(axis=1)
    if len(size) == 0:
        return np.empty((0, 3, 3)), size
    centre = np.einsum("nkd,nk->nd", at, crossed.astype(float)) / size[:, None]
    right = np.cross(normal, np.eye(3)[np.argmin(np.abs(normal))])
    right /= np.linalg.norm(right)
    reach = at - centre[:, None]
    angle = np.where(crossed, np.arctan2(reach @ np.cross(normal, right), reach @ right), np.inf)
    order = np.argsort(angle, axis=1, kind="stable")[:, :int(size.max())]
    corners = np.take_along_axis(at, order[..., None], axis=1)
    beyond = np.arange(corners.shape[1]) >= size[:, None]
    return np.where(beyond[..., None], corners[:, :1], corners), size


__all__ = ["section"]
