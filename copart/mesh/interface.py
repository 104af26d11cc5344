"""Interedges from geometry: which cells of two meshes exchange data.

Two relations.  ``facet``: boundary facets of A and B that lie on one another,
weighted by the overlap.  ``touch``: cells that share at least a point, be it
that surfaces touch or volumes overlap (the relation of Predari & Esnard 2014).
Neither needs matching meshes.
"""

from __future__ import annotations

import math
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ..arrays import OFFSET, VERTEX, fraction
from ..coupling import Interedges
from ..errors import ConfigError, MeshError
from .search import overlapping_pairs
from .surface import Surface, boundary_surface, cell_surface
from .value import Mesh

TOLERANCE = {"facet": 0.1, "touch": 1e-3}
"""Where no tolerance is given.

Facets of two meshes of one curved wall are chords of different lengths: with n
facets round a circle they are up to pi / (4 n) of a facet apart, 0.1 for n = 8.
"""
MIN_COSINE = 0.7
"""Facets at more than about 45 degrees to one another face different things."""
_ROUNDING = 1e-9


def find_interedges(mesh_a: Mesh, mesh_b: Mesh, kind: str = "facet", tolerance: float | None = None) -> Interedges:
    """Find the pairs of cells of A and B that meet.

    Parameters
    ----------
    mesh_a, mesh_b : Mesh
        In one coordinate system and unit.
    kind : {"facet", "touch"}
        ``facet``: boundary facets that overlap, weighted by the area (3D meshes) or
        length (2D meshes) of the overlap, summed a pair of cells.  Facets overlap when they are at most
        45 degrees from parallel and their gap is within the tolerance.  Facets that face the
        same way count only where no two face one another.  Where one mesh has a dimension more,
        the cells of the other (a shell) are the facets.
        ``touch``: the convex hulls of the cells' corners share at least a point; weight 1.
    tolerance : float, optional
        Largest gap.  ``facet``: as a fraction of the larger facet's diameter, 0.1 where not given.
        ``touch``: as a fraction of the shorter of the two cells' shortest edges, 0.001 where not given.

    Returns
    -------
    Interedges
        Of shape (cells of A, cells of B).

    Raises
    ------
    MeshError
        The meshes do not meet; the message says how far apart they are.
    ConfigError
        An unknown kind or a tolerance below 0.

    Examples
    --------
    >>> from copart.mesh import cube
    >>> find_interedges(cube("hexa", 2), cube("hexa", 3, offset=(1, 0, 0)))
    Interedges(16 between 4 of 8 and 9 of 27 cells)
    """
    if kind not in TOLERANCE:
        raise ConfigError(f"interedges: must be one of {', '.join(TOLERANCE)}, got {kind!r}")
    tol = max(_ROUNDING, TOLERANCE[kind] if tolerance is None else fraction("tolerance", tolerance))
    a, b, w = (_facet_pairs if kind == "facet" else _touch_pairs)(mesh_a, mesh_b, tol)
    if len(a) == 0:
        raise MeshError(_nothing_found(mesh_a, mesh_b, kind, tol))
    return Interedges.from_pairs(mesh_a.ncells, mesh_b.ncells, a, b, w)


# ---- overlapping facets
Pairs = tuple[NDArray[np.int32], NDArray[np.int32], NDArray[np.float64] | None]


def _facet_pairs(mesh_a: Mesh, mesh_b: Mesh, tolerance: float) -> Pairs:
    """Cells and overlap of each pair of facets that lie on one another."""
    if abs(mesh_a.dimension - mesh_b.dimension) > 1:
        raise MeshError(f"interedges: facets of a {mesh_a.dimension}D and a {mesh_b.dimension}D mesh cannot overlap; "
                        f"use kind touch")
    top = max(mesh_a.dimension, mesh_b.dimension)
    a, b = (boundary_surface(m) if m.dimension == top else cell_surface(m) for m in (mesh_a, mesh_b))
    if len(a.cell) == 0 or len(b.cell) == 0:
        closed = mesh_a if len(a.cell) == 0 else mesh_b
        raise MeshError(f"interedges: mesh {closed.name!r} has no boundary facet; use kind touch")
    reach = tolerance * max(float(a.diameter.max()), float(b.diameter.max()))
    a, b = _near(a, b, reach), _near(b, a, reach)
    if len(a.cell) == 0 or len(b.cell) == 0:
        return a.cell, b.cell, None
    if top == 1:
        reach_a, reach_b = (np.full(len(s.cell), tolerance * _shortest(m)) for s, m in ((a, mesh_a), (b, mesh_b)))
    else:
        reach_a, reach_b = tolerance * a.diameter, tolerance * b.diameter
    i, j = overlapping_pairs(a.low - reach_a[:, None], a.high + reach_a[:, None],
                             b.low - reach_b[:, None], b.high + reach_b[:, None])
    overlap = _overlaps(a, b, i, j, tolerance, top)
    hit = overlap > 0
    i, j, overlap = i[hit], j[hit], overlap[hit]
    keep = _facing_first(a, b, i, j)
    return a.cell[i[keep]], b.cell[j[keep]], overlap[keep]


def _near(surface: Surface, other: Surface, reach: float) -> Surface:
    """The facets within `reach` of the bounding box of `other`."""
    if len(other.cell) == 0:
        return surface
    low, high = other.low.min(axis=0) - 2 * reach, other.high.max(axis=0) + 2 * reach
    return surface.taken(((surface.high >= low) & (surface.low <= high)).all(axis=1))


def _overlaps(a: Surface, b: Surface, i: NDArray[np.int32], j: NDArray[np.int32], tolerance: float,
              top: int) -> NDArray[np.float64]:
    """Overlap of each pair of facets: area, length, or 1 for points that coincide."""
    out = np.ones(len(i))
    if top == 2:
        from ..kernels.mesh_overlap import edge_overlaps

        ends_a, ends_b = (np.ascontiguousarray(s.corners[:, :2]) for s in (a, b))
        edge_overlaps(i, j, ends_a, ends_b, tolerance, MIN_COSINE, out)
    elif top == 3:
        from ..kernels.mesh_overlap import face_overlaps

        width = a.corners.shape[1] + b.corners.shape[1]
        face_overlaps(i, j, a.corners, a.size, a.normal, a.centre, a.diameter, b.corners, b.size, b.normal, b.centre,
                      b.diameter, tolerance, MIN_COSINE, np.empty((3, 3)), np.empty((width, 2)), np.empty((width, 2)),
                      np.empty((width, 2)), np.empty(3), out)
    return out


def _facing_first(a: Surface, b: Surface, i: NDArray[np.int32], j: NDArray[np.int32]) -> NDArray[np.bool_]:
    """Which pairs to keep: those that face one another, or all when none does.

    Two bodies in contact face one another.  Their facets that face the same way only
    graze: the end rings of a pipe and of the fluid in it, the far side of a thin plate.
    """
    facing = np.einsum("pd,pd->p", a.outside[i], b.outside[j]) <= 0
    return facing if facing.any() else np.ones(len(i), bool)


# ---- touching cells
def _touch_pairs(mesh_a: Mesh, mesh_b: Mesh, tolerance: float) -> Pairs:
    """Pairs of cells whose hulls share a point."""
    from ..kernels.mesh_touch import touching

    reach = 2 * tolerance * max(_longest(mesh_a), _longest(mesh_b))
    a, b = _Cells(mesh_a, mesh_b.bounds, reach, tolerance), _Cells(mesh_b, mesh_a.bounds, reach, tolerance)
    i, j = overlapping_pairs(a.low - a.limit[:, None], a.high + a.limit[:, None],
                             b.low - b.limit[:, None], b.high + b.limit[:, None])
    touch = np.empty(len(i), np.bool_)
    # coordinates relative to one of the points, so that a far origin costs no digits
    origin = mesh_a.bounds[0]
    touching(i, j, mesh_a.points - origin, a.nodes, a.start, mesh_b.points - origin, b.nodes, b.start,
             a.limit, b.limit, np.empty((4, 3)), np.empty(3), touch)
    return a.cell[i[touch]], b.cell[j[touch]], None


class _Cells:
    """Corners, boxes and gap limits of the cells of a mesh near a bounding box."""

    def __init__(self, mesh: Mesh, bounds: NDArray[np.float64], reach: float, tolerance: float) -> None:
        cell, nodes, sizes, low, high, limit = [], [], [], [], [], []
        first = 0
        for shape, cells in mesh.shapes():
            corners = cells[:, :shape.ncorners]
            lo, hi = mesh.points[corners[:, 0]], mesh.points[corners[:, 0]]
            for k in range(1, shape.ncorners):
                p = mesh.points[corners[:, k]]
                lo, hi = np.minimum(lo, p), np.maximum(hi, p)
            near = np.flatnonzero(((hi >= bounds[0] - reach) & (lo <= bounds[1] + reach)).all(axis=1))
            cell.append(near + first)
            nodes.append(corners[near].ravel())
            sizes.append(np.full(len(near), shape.ncorners))
            low.append(lo[near])
            high.append(hi[near])
            limit.append(tolerance * _shortest_edges(mesh.points[corners[near]]))
            first += len(cells)
        self.cell = np.concatenate(cell).astype(VERTEX)
        self.nodes = np.concatenate(nodes).astype(OFFSET)
        self.start = np.concatenate([[0], np.cumsum(np.concatenate(sizes))]).astype(OFFSET)
        self.low, self.high, self.limit = np.concatenate(low), np.concatenate(high), np.concatenate(limit)


def _shortest_edges(corners: NDArray[np.float64]) -> NDArray[np.float64]:
    """(ncells,) smallest distance of two different corners of each cell (ncells, ncorners, 3)."""
    best = np.full(len(corners), np.inf)
    for i in range(corners.shape[1]):
        for j in range(i):
            d = np.linalg.norm(corners[:, i] - corners[:, j], axis=1)
            np.minimum(best, np.where(d > 0, d, np.inf), out=best)
    return np.where(np.isfinite(best), best, 0.0)


def _shortest(mesh: Mesh) -> float:
    """Shortest edge of the mesh."""
    return min(float(_shortest_edges(mesh.points[c[:, :s.ncorners]]).min()) for s, c in mesh.shapes())


def _longest(mesh: Mesh) -> float:
    """An upper bound of the shortest edge of any cell."""
    return float(np.linalg.norm(mesh.bounds[1] - mesh.bounds[0]))


# ---- no interface
def _nothing_found(mesh_a: Mesh, mesh_b: Mesh, kind: str, tolerance: float) -> str:
    """How far apart the meshes are, and what to set."""
    from scipy.spatial import cKDTree

    used: list[Any] = []
    for mesh in (mesh_a, mesh_b):
        nodes = np.unique(np.concatenate([c[:, :s.ncorners].ravel() for s, c in mesh.shapes()]))
        used.append(mesh.points[nodes])
    box = np.maximum(0, np.maximum(mesh_a.bounds[0] - mesh_b.bounds[1], mesh_b.bounds[0] - mesh_a.bounds[1]))
    distance, _ = cKDTree(used[0]).query(used[1])
    nearest = float(distance.min())
    sizes = [float(np.linalg.norm(m.bounds[1] - m.bounds[0])) for m in (mesh_a, mesh_b)]
    where = " and ".join(f"{m.name!r} spans {_box(m.bounds)}" for m in (mesh_a, mesh_b))
    advice = [f"raise tolerance ({tolerance:g} now)", f"try kind {'touch' if kind == 'facet' else 'facet'}"]
    ratio = max(sizes) / min(sizes) if min(sizes) > 0 else math.inf
    if ratio > 50:
        advice.insert(0, f"check the units, one mesh is {ratio:.3g} times the other")
    elif nearest > 0.1 * min(sizes):
        advice.insert(0, "move or scale one mesh")
    return (f"interedges: no cells meet (kind {kind}); bounding boxes are {float(np.linalg.norm(box)):.3g} apart, "
            f"the nearest points {nearest:.3g}; {where}; {', or '.join(advice)}")


def _box(bounds: NDArray[np.float64]) -> str:
    """A bounding box in words."""
    return " x ".join(f"[{lo:.4g}, {hi:.4g}]" for lo, hi in bounds.T)
