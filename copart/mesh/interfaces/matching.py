"""Facets of two meshes that lie on one another.

What a mesh offers for coupling is its boundary, or the group of facets that was
named.  A mesh of one dimension less lies on the other as a shell; a flat mesh
beside a thick one (a 2D fluid, a solid one cell thick) meets it along edges,
once the thick one is projected onto the plane.
"""

from __future__ import annotations

from dataclasses import replace
from functools import partial
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from ...errors import MeshError
from ...parallel import side_by_side
from ...partitioner.rounds import Team
from ..search import overlapping_pairs
from ..value import Mesh
from .surface import Surface, boundary_surface, cell_surface

MIN_COSINE = 0.7
"""Facets at more than about 45 degrees to one another face different things."""
FLAT = 1e-9
"""A mesh is flat when its points leave the plane by less than this fraction of its size."""
_UPRIGHT = 1e-3
"""A face of an extruded mesh is upright, or parallel to the plane, but for this cosine."""


class Reach(NamedTuple):
    """How far apart two things may be."""

    fraction: float
    """Of their size, where there is no `length`."""
    length: float | None = None
    """In the unit of the coordinates."""

    def of(self, sizes: NDArray[np.float64]) -> NDArray[np.float64]:
        """The largest gap of each thing, (n,) float64."""
        return np.full(len(sizes), self.length) if self.length is not None else np.asarray(self.fraction * sizes)

    def __str__(self) -> str:
        return f"tolerance ({self.fraction:g} now)" if self.length is None else f"gap ({self.length:g} now)"


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


class Match(NamedTuple):
    """Pairs of facets that lie on one another."""

    offer: Offer
    i: NDArray[np.int64]
    """(npairs,) facet of A, counted over all facets offered."""
    j: NDArray[np.int64]
    """(npairs,) facet of B."""
    overlap: NDArray[np.float64]
    """(npairs,) area, length, or 1 for points."""
    gap: NDArray[np.float64]
    """(npairs,) how far apart they are."""
    same_way: bool = False
    """No facet faces its counterpart: the two bodies are on the same side."""
    both: tuple[NDArray[np.bool_], NDArray[np.bool_]] = (np.zeros(0, bool), np.zeros(0, bool))
    """(nfacets,) each, of A and of B: whether a facet that is its cell, of a shell, has counterparts on both sides."""

    def taken(self, keep: NDArray[np.bool_]) -> Match:
        """The pairs where `keep` is true."""
        return self._replace(i=self.i[keep], j=self.j[keep], overlap=self.overlap[keep], gap=self.gap[keep])


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


def match(offer: Offer, reach: Reach, offsets: NDArray[np.float64], threads: int = 1) -> Match:
    """Pairs of facets of an offer that overlap.

    Parameters
    ----------
    offer : Offer
    reach : Reach
        As a fraction: of the larger facet's diameter; for points of the shortest cell.
    offsets : (ncopies, 3) float64
        Where the copies of B are; usually one row of zeros.
    threads : int
    """
    parts = [_one_copy(offer, reach, offset, threads) for offset in offsets]
    i, j, overlap, gap, facing, behind = (np.concatenate(x) for x in zip(*parts, strict=True))
    if behind.any():
        keep = ~(behind & _other_side(offer, i, j, behind))
        i, j, overlap, gap, facing = i[keep], j[keep], overlap[keep], gap[keep], facing[keep]
    for share, index in ((offer.share_a, i), (offer.share_b, j)):
        if share is not None:
            overlap *= share[index]
    # Two bodies in contact face one another.  Their facets that face the same way only graze: the end rings
    # of a pipe and of the fluid in it, the far side of a thin plate.  They count where no two face one another.
    found = Match(offer, i, j, overlap, gap, same_way=not facing.any())
    found = found if found.same_way else found.taken(facing)
    return found._replace(both=(_both_sides(offer.a, found.i, offer.b, found.j),
                                _both_sides(offer.b, found.j, offer.a, found.i)))


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
    relative = points - points.mean(axis=0)
    size = float(np.abs(relative).max())
    normal = np.asarray(np.linalg.eigh(relative.T @ relative)[1][:, 0])
    # rounding leaves the normal of a coordinate plane a hair off it
    normal = np.where(np.abs(normal) < 1e-7, 0.0, normal)
    normal /= np.linalg.norm(normal)
    if size == 0 or float(np.abs(relative @ normal).max()) > FLAT * size:
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


# ---- thin bodies
def _behind(a: Surface, b: Surface, i: NDArray[np.int64], j: NDArray[np.int64]) -> NDArray[np.bool_]:
    """(npairs,) the facets face one another through both their cells, each behind the centre of the other's cell."""
    out_a, out_b = a.outside[i], b.outside[j]
    apart = b.centre[j] - a.centre[i]
    depth_a, depth_b = (np.einsum("pd,pd->p", apart, out) for out in (out_a, -out_b))
    high_a, high_b = (np.einsum("pd,pd->p", s.outward[k], out) for s, k, out in ((a, i, out_a), (b, j, out_b)))
    return np.asarray((depth_a < -high_a) & (depth_b < -high_b) & (high_a > 0) & (high_b > 0))


def _other_side(offer: Offer, i: NDArray[np.int64], j: NDArray[np.int64],
                behind: NDArray[np.bool_]) -> NDArray[np.bool_]:
    """(npairs,) a cell of the pair meets the other mesh with a facet on its other side, not through itself.

    Of two thin plates that lie on one another the far sides are within reach, too.
    """
    out = np.zeros(len(i), bool)
    for surface, mine in ((offer.a, i), (offer.b, j)):
        directions: dict[int, list[int]] = {}
        wanted = np.unique(surface.cell[mine[behind]])
        for facet in np.unique(mine[~behind & np.isin(surface.cell[mine], wanted)]).tolist():
            directions.setdefault(int(surface.cell[facet]), []).append(facet)
        outside = surface.outside
        for pair in np.flatnonzero(behind & ~out).tolist():
            there = directions.get(int(surface.cell[mine[pair]]), [])
            out[pair] = bool(there) and bool((outside[there] @ outside[mine[pair]] < 0).any())
    return out


def _both_sides(surface: Surface, mine: NDArray[np.int64], other: Surface,
                theirs: NDArray[np.int64]) -> NDArray[np.bool_]:
    """(nfacets,) which facets that are cells have counterparts on either side."""
    above, below = np.zeros((2, len(surface.cell)), bool)
    if not surface.outward.any() and surface.corners.shape[1] > 2:
        side = np.einsum("pd,pd->p", surface.normal[mine], other.outside[theirs])
        above[mine[side > 0]], below[mine[side < 0]] = True, True
    return np.asarray(above & below)


# ---- the search
Found = tuple[NDArray[np.int64], NDArray[np.int64], NDArray[np.float64], NDArray[np.float64], NDArray[np.bool_],
              NDArray[np.bool_]]


def _one_copy(offer: Offer, reach: Reach, offset: NDArray[np.float64], threads: int) -> Found:
    """Pairs of facets of A and of one copy of B, their overlap and gap, which face one another, and which do so
    through both their cells.
    """
    a, b = offer.a, offer.b
    if offset.any():
        b = replace(b, corners=b.corners + offset)
    size_a, size_b = side_by_side([partial(_scale, s, offer.dimension) for s in (a, b)], threads)
    reach_a, reach_b = reach.of(size_a), reach.of(size_b)
    largest = float(max(reach_a.max(initial=0), reach_b.max(initial=0)))
    near_a = _near(a, b, largest)
    a, reach_a = a.taken(near_a), reach_a[near_a]
    near_b = _near(b, a, largest)
    b, reach_b = b.taken(near_b), reach_b[near_b]
    i, j = overlapping_pairs(a.low - reach_a[:, None], a.high + reach_a[:, None],
                             b.low - reach_b[:, None], b.high + reach_b[:, None])
    overlap, gap = _overlaps(a, b, i, j, reach_a, reach_b, offer.dimension, threads)
    hit = overlap > 0
    at_a, at_b = i[hit].astype(np.int64), j[hit].astype(np.int64)
    out_a, out_b = a.outside[at_a], b.outside[at_b]
    facing = np.einsum("pd,pd->p", out_a, out_b) <= 0
    return (np.flatnonzero(near_a)[at_a], np.flatnonzero(near_b)[at_b], overlap[hit], gap[hit], facing,
            _behind(a, b, at_a, at_b))


def _scale(surface: Surface, dimension: int) -> NDArray[np.float64]:
    """What a tolerance is a fraction of: the diameter; for points the shortest way to a cell's centre, twice."""
    if dimension > 0:
        return surface.diameter
    return np.full(len(surface.cell), 2 * float(np.linalg.norm(surface.outward, axis=1).min(initial=np.inf)))


def _near(surface: Surface, other: Surface, reach: float) -> NDArray[np.bool_]:
    """Which facets are within `reach` of the bounding box of `other`."""
    if len(other.cell) == 0:
        return np.zeros(len(surface.cell), bool)
    low, high = other.low.min(axis=0) - 2 * reach, other.high.max(axis=0) + 2 * reach
    return np.asarray(((surface.high >= low) & (surface.low <= high)).all(axis=1))


def _overlaps(a: Surface, b: Surface, i: NDArray[np.int32], j: NDArray[np.int32], reach_a: NDArray[np.float64],
              reach_b: NDArray[np.float64], dimension: int, threads: int,
              ) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
    """Overlap and gap of each pair of facets."""
    if dimension == 0:
        gap = np.linalg.norm(a.corners[i, 0] - b.corners[j, 0], axis=1)
        return (gap <= np.maximum(reach_a[i], reach_b[j])).astype(float), gap
    out, gap = np.zeros(len(i)), np.zeros(len(i))
    if len(i) == 0:
        return out, gap
    if dimension == 1:
        from ...kernels.mesh_overlap import edge_overlaps

        ends_a, ends_b = (np.ascontiguousarray(s.corners[:, :2]) for s in (a, b))
        edge_overlaps(i, j, ends_a, ends_b, reach_a, reach_b, MIN_COSINE, out, gap)
    else:
        from ...kernels.mesh_overlap import Faces, Polygons, face_overlaps

        # more than convex faces need: those of polyhedra may not be
        width = 4 * (a.corners.shape[1] + b.corners.shape[1]) + 16
        one, other = (Faces(corners=s.corners, size=s.size, normal=s.normal, centre=s.centre, diameter=s.diameter,
                            reach=reach) for s, reach in ((a, reach_a), (b, reach_b)))

        def some(lo: int, hi: int) -> None:
            polygons = Polygons(frame=np.empty((3, 3)), measure=np.empty(3), first=np.empty((width, 2)),
                                second=np.empty((width, 2)), spare=np.empty((width, 2)))
            face_overlaps(i[lo:hi], j[lo:hi], one, other, MIN_COSINE, polygons, out[lo:hi], gap[lo:hi])

        with Team(threads) as team:
            team.run(some, len(i))
    return out, gap


__all__ = ["FLAT", "MIN_COSINE", "Match", "Offer", "Reach", "direction", "match", "offers", "onto_plane", "plane_of",
           "sizes"]
