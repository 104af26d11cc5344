"""A plane through the cells of a 3D mesh: the polygons that it cuts out of them."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from ..mesh import Mesh
from ..mesh.surface import Surface

Points = NDArray[np.float64]


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
    found, first = [], 0
    for edges, cells in _edges(mesh):
        side = height[cells]
        cut = np.flatnonzero((side.min(axis=1) < 0) & (side.max(axis=1) > 0))
        if len(cut):
            found.append((_polygons(mesh.points, cells[cut], side[cut], edges, normal), first + cut))
        first += len(cells)
    width = max((p.shape[1] for (p, _), _ in found), default=3)
    corners = [np.concatenate([p, np.repeat(p[:, :1], width - p.shape[1], axis=1)], axis=1) for (p, _), _ in found]
    size = [s for (_, s), _ in found]
    cell = [c for _, c in found]
    if not found:
        return Surface(np.empty((0, width, 3)), np.empty(0, np.int64), np.empty(0, np.int32), np.empty((0, 3)))
    number = np.concatenate(cell).astype(np.int32)
    return Surface(np.concatenate(corners), np.concatenate(size), number, np.tile(normal, (len(number), 1)))


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


def _polygons(points: Points, cells: NDArray[np.int64], side: Points, edges: NDArray[np.int64],
              normal: Points) -> tuple[Points, NDArray[np.int64]]:
    """Corners (n, width, 3), in cyclic order and padded with the first, and their number."""
    p, q = edges.T
    crossed = (side[:, p] > 0) != (side[:, q] > 0)
    share = np.where(crossed, side[:, p] / np.where(crossed, side[:, p] - side[:, q], 1.0), 0.0)
    at = points[cells[:, p]] + share[..., None] * (points[cells[:, q]] - points[cells[:, p]])
    size = crossed.sum(axis=1)
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
