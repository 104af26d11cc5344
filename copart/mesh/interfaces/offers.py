"""What two meshes offer for coupling.

That is their boundaries, or the groups of facets that were named.  A mesh of one dimension less lies on the other as a
shell; a flat mesh beside a thick one (a 2D fluid, a solid one cell thick) meets it along edges, once the thick one is
projected onto the plane.
"""

from __future__ import annotations

from functools import partial
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from ...errors import MeshError
from ...parallel import side_by_side
from ..value import Mesh
from .surface import Surface, boundary_surface, cell_surface

MIN_COSINE = 0.7
"""Facets at more than about 45 degrees to one another face different things."""
FLAT = 1e-6
"""A mesh is flat when its points leave the plane by less than this fraction of its size, as those of few digits do."""
_UPRIGHT = 1e-3
"""A face of an extruded mesh is upright, or parallel to the plane, but for this cosine."""


class Offer(NamedTuple):
    """The facets of two meshes that are to be compared."""

    a: Surface
    b: Surface
    dimension: int
    """Of the facets: 2 faces, 1 edges, 0 points."""
    share_a: NDArray[np.float64] | None = None
    share_b: NDArray[np.float64] | None = None
    """(nfacets,) what a unit of overlap counts: the part of the thickness that a flattened facet covers."""
    remark: str = ""
    extruded: bool = False
    """A mesh is flattened that has the same outline in every layer."""


def offers(mesh_a: Mesh, mesh_b: Mesh, threads: int = 1) -> list[Offer]:
    """What can be compared, the likeliest first.

    Raises
    ------
    MeshError
        Dimensions too far apart, or a mesh without a boundary.
    """
    if abs(mesh_a.dimension - mesh_b.dimension) > 1:
        raise MeshError(f"interedges: facets of a {mesh_a.dimension}D and a {mesh_b.dimension}D mesh cannot overlap; "
                        f"use --interedges touch or overlap")
    top = max(mesh_a.dimension, mesh_b.dimension)
    meshes = (mesh_a, mesh_b)
    low = next((m for m in meshes if m.dimension < top), None)
    found = []
    if low is None or low.interface is None:
        a, b = side_by_side([partial(boundary_surface if m.dimension == top else cell_surface, m) for m in meshes],
                            threads)
        for mesh, surface in zip(meshes, (a, b), strict=True):
            if len(surface.cell) == 0:
                raise MeshError(f"interedges: mesh {mesh.name!r} has no boundary facet; "
                                f"use --interedges overlap, as for an ocean and an atmosphere, or touch")
        remark = "" if low is None else f"the cells of {low.name!r} are taken as facets, as of a shell"
        found.append(Offer(a, b, top - 1, remark=remark))
    if low is not None and low.dimension == 2:
        flat = _flattened(mesh_a, mesh_b)
        found += [flat] if flat is not None else []
    if not found:
        raise MeshError(f"interedges: {low.boundary!r} of mesh {low.name!r} is a line, and the other mesh a volume; "  # type: ignore[union-attr]
                        f"they meet along edges only where the mesh is flat")
    return found


def sizes(surface: Surface, dimension: int) -> NDArray[np.float64]:
    """(nfacets,) area of each face, length of each edge, 1 for each point."""
    if dimension == 0:
        return np.ones(len(surface.cell))
    if dimension == 1:
        return np.asarray(np.linalg.norm(surface.corners[:, 1] - surface.corners[:, 0], axis=1))
    relative = surface.corners - surface.corners[:, :1]
    area = np.zeros((len(surface.cell), 3))
    for k in range(1, surface.corners.shape[1] - 1):
        area += np.cross(relative[:, k], relative[:, k + 1])
    return np.asarray(0.5 * np.linalg.norm(area, axis=1))


def plane_of(mesh: Mesh) -> NDArray[np.float64] | None:
    """Unit normal of the plane in which a mesh lies, its largest component positive; None where it is not flat."""
    points = cell_surface(mesh).corners.reshape(-1, 3)
    # far from the origin coordinates have few digits left
    digits = 8 * np.finfo(float).eps * float(np.abs(points).max())
    relative = points - points.mean(axis=0)
    size = float(np.ptp(relative, axis=0).max())
    normal = np.asarray(np.linalg.eigh(relative.T @ relative)[1][:, 0])
    # rounding leaves the normal of a coordinate plane a hair off it
    normal = np.where(np.abs(normal) < 1e-7, 0.0, normal)
    normal /= np.linalg.norm(normal)
    if size == 0 or float(np.abs(relative @ normal).max()) > max(FLAT * size, digits):
        return None
    return np.asarray(normal * np.sign(normal[np.argmax(np.abs(normal))]))


def onto_plane(points: NDArray[np.float64], normal: NDArray[np.float64], height: float) -> NDArray[np.float64]:
    """Points moved along `normal` to the plane at `height` along it."""
    return np.asarray(points - (points @ normal - height)[..., None] * normal)


def direction(normal: NDArray[np.float64]) -> str:
    """A direction in words."""
    axis = int(np.argmax(np.abs(normal)))
    return "xyz"[axis] if abs(normal[axis]) == 1 else "({:.3g}, {:.3g}, {:.3g})".format(*normal)


# ---- a flat mesh and a thick one
def _flattened(mesh_a: Mesh, mesh_b: Mesh) -> Offer | None:
    """Edges of the flat mesh, and the sides of the thick one seen along the normal of the plane."""
    thin, thick = (mesh_a, mesh_b) if mesh_a.dimension == 2 else (mesh_b, mesh_a)
    normal = plane_of(thin)
    if normal is None:
        return None
    edges, faces = boundary_surface(thin), boundary_surface(thick)
    if len(edges.cell) == 0 or len(faces.cell) == 0:
        return None
    height = float(edges.corners[0, 0] @ normal)
    along = faces.corners @ normal
    low, high = float(along.min()), float(along.max())
    cosine = np.abs(faces.normal @ normal)
    extruded = bool(((cosine < _UPRIGHT) | (cosine > 1 - _UPRIGHT)).all())
    sides, share = _sides(faces, normal, height, max(high - low, np.finfo(float).tiny))
    remark = f"{thick.name!r} is flattened along {direction(normal)}, where it spans [{low:.4g}, {high:.4g}]"
    if thin is mesh_a:
        return Offer(edges, sides, 1, share_b=share, remark=remark, extruded=extruded)
    return Offer(sides, edges, 1, share_a=share, remark=remark, extruded=extruded)


def _sides(faces: Surface, normal: NDArray[np.float64], height: float, thickness: float,
           ) -> tuple[Surface, NDArray[np.float64]]:
    """The faces along `normal` as the segments that they are in the plane, and the share of the thickness each has."""
    tangent = np.cross(normal, faces.normal)
    sine = np.linalg.norm(tangent, axis=1)
    upright = sine > np.sqrt(1 - MIN_COSINE**2)
    faces, tangent = faces.taken(upright), tangent[upright] / sine[upright, None]
    centre = onto_plane(faces.centre, normal, height)
    position = np.einsum("fcd,fd->fc", faces.corners - centre[:, None], tangent)
    low, high = position.min(axis=1), position.max(axis=1)
    ends = centre[:, None] + np.stack([low, high], axis=1)[:, :, None] * tangent[:, None]
    length = high - low
    outward = faces.outward - (faces.outward @ normal)[:, None] * normal
    share = sizes(faces, 2) / np.where(length > 0, length, 1.0) / thickness
    return Surface(ends, np.full(len(ends), 2, np.int64), faces.cell, outward), share


__all__ = ["FLAT", "MIN_COSINE", "Offer", "direction", "offers", "onto_plane", "plane_of", "sizes"]
