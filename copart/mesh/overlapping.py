"""Cells of two meshes that cover the same space: a mesh that covers part of another, a surface inside a volume."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from ..arrays import OFFSET, VERTEX
from .matching import Offer, Reach, match
from .polyhedra import spans
from .search import overlapping_pairs
from .surface import cell_surface
from .value import Mesh

LEAST = 1e-6
"""An overlap smaller than this fraction of the smaller cell comes from rounding."""
_PUSH = 1e-9
"""Cells of a volume are this fraction of their size larger for a surface that lies exactly between two of them."""


class Cover(NamedTuple):
    """What cells have in common."""

    a: NDArray[np.int32]
    b: NDArray[np.int32]
    """(npairs,) cells."""
    size: NDArray[np.float64]
    """(npairs,) volume, area or length that they share, after the smaller of the two dimensions."""
    sizes_a: NDArray[np.float64]
    sizes_b: NDArray[np.float64]
    """(ncells,) what each cell has in all, in its own dimension."""


class _Simplices(NamedTuple):
    """Cells cut into segments, triangles or tetrahedra."""

    first: NDArray[np.int64]
    """(ncells + 1,) first simplex of each cell."""
    corners: NDArray[np.float64]
    """(n, dimension + 1, 3)."""

    @property
    def low(self) -> NDArray[np.float64]:
        return np.asarray(self.corners.min(axis=1))

    @property
    def high(self) -> NDArray[np.float64]:
        return np.asarray(self.corners.max(axis=1))

    def sizes(self) -> NDArray[np.float64]:
        """(n,) length, area or volume."""
        edges = self.corners[:, 1:] - self.corners[:, :1]
        gram = np.linalg.det(edges @ edges.transpose(0, 2, 1))
        return np.asarray(np.sqrt(np.maximum(gram, 0.0))) / {1: 1, 2: 2, 3: 6}[edges.shape[1]]


def overlapping_cells(mesh_a: Mesh, mesh_b: Mesh, reach: Reach, offsets: NDArray[np.float64]) -> Cover:
    """Pairs of cells that overlap, with the size of the overlap.

    Meshes of the same dimension share volume, area or length; of a surface and a
    volume the area inside each cell counts, of a line the length.

    Parameters
    ----------
    mesh_a, mesh_b : Mesh
    reach : Reach
        How far two surfaces, two lines, or a line and a surface may be apart.
    offsets : (ncopies, 3) float64
        Where the copies of B are.
    """
    if mesh_a.dimension == mesh_b.dimension < 3:
        found = match(Offer(cell_surface(mesh_a), cell_surface(mesh_b), mesh_a.dimension), reach, offsets)
        a, b = found.i.astype(VERTEX), found.j.astype(VERTEX)
        return Cover(a, b, found.overlap, _cell_sizes(_cut(mesh_a)), _cell_sizes(_cut(mesh_b)))
    if mesh_a.dimension > mesh_b.dimension:
        back = overlapping_cells(mesh_b, mesh_a, reach, -offsets)
        return Cover(back.b, back.a, back.size, back.sizes_b, back.sizes_a)
    cut_a, cut_b = _cut(mesh_a), _cut(mesh_b)
    sizes_a, sizes_b = _cell_sizes(cut_a), _cell_sizes(cut_b)
    parts = [_one_copy(mesh_a, mesh_b, cut_a, cut_b._replace(corners=cut_b.corners + offset), reach)
             for offset in offsets]
    a, b, size = (np.concatenate(x) for x in zip(*parts, strict=True))
    least = sizes_a[a]
    if mesh_a.dimension == mesh_b.dimension:
        least = np.minimum(least, sizes_b[b])
    keep = size > LEAST * least
    return Cover(a[keep], b[keep], size[keep], sizes_a, sizes_b)


def _one_copy(mesh_a: Mesh, mesh_b: Mesh, a: _Simplices, b: _Simplices, reach: Reach,
              ) -> tuple[NDArray[np.int32], NDArray[np.int32], NDArray[np.float64]]:
    """Pairs of cells of A and of one copy of B, and what they share."""
    from ..kernels.mesh_clip import common_sizes

    extent = np.linalg.norm(b.high - b.low, axis=1)
    if mesh_b.dimension == 3:
        thick = np.full(len(extent), 0.0) if mesh_a.dimension == 3 else _PUSH * extent
        planes = _tetra_planes(b.corners, thick)
    else:
        thick = reach.of(extent)
        planes = _prism_planes(b.corners, thick)
    low_b, high_b = b.low - thick[:, None], b.high + thick[:, None]
    # coordinates relative to one of the points, so that a far origin costs no digits
    origin = a.low.min(axis=0)
    planes[:, :, 3] -= planes[:, :, :3] @ origin
    i, j = overlapping_pairs(*_cell_boxes(a.first, a.low, a.high), *_cell_boxes(b.first, low_b, high_b))
    size = np.zeros(len(i))
    room = 3 ** planes.shape[1]
    common_sizes(i, j, a.first, np.ascontiguousarray(a.corners - origin), a.low - origin, a.high - origin, b.first,
                 planes, low_b - origin, high_b - origin, np.empty((room, 4, 3)), np.empty((room, 4, 3)), np.empty(4),
                 np.empty(4, OFFSET), size)
    hit = size > 0
    return i[hit], j[hit], size[hit]


def _cell_boxes(first: NDArray[np.int64], low: NDArray[np.float64], high: NDArray[np.float64],
                ) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
    return np.minimum.reduceat(low, first[:-1]), np.maximum.reduceat(high, first[:-1])


def _cell_sizes(cut: _Simplices) -> NDArray[np.float64]:
    """(ncells,) length, area or volume."""
    return np.asarray(np.add.reduceat(cut.sizes(), cut.first[:-1]))


# ---- cells into simplices
def _cut(mesh: Mesh) -> _Simplices:
    """The cells of a mesh as simplices, in cell order."""
    if mesh.dimension == 1:
        nodes = np.concatenate([cells[:, :2] for _, cells in mesh.shapes()])
        return _Simplices(np.arange(mesh.ncells + 1), mesh.points[nodes])
    if mesh.dimension == 2:
        start, nodes = mesh.corners
        cell, fans = _fans(start, nodes)
        return _Simplices(_offsets(cell, mesh.ncells), mesh.points[fans])
    if all(shape.ncorners == 4 for shape, _ in ([] if mesh.polyhedra else mesh.shapes())) and not mesh.polyhedra:
        nodes = np.concatenate([cells[:, :4] for _, cells in mesh.shapes()])
        return _Simplices(np.arange(mesh.ncells + 1), mesh.points[nodes])
    # the faces of a cell, each a fan of triangles, with the cell's centre
    start, nodes, owner = _faces(mesh)
    face, fans = _fans(start, nodes)
    cell = owner[face]
    order = np.argsort(cell, kind="stable")
    cell, fans = cell[order], fans[order]
    corners = np.concatenate([mesh.points[fans], mesh.centres()[cell][:, None]], axis=1)
    return _Simplices(_offsets(cell, mesh.ncells), corners)


def _faces(mesh: Mesh) -> tuple[NDArray[np.int64], NDArray[np.int64], NDArray[np.int64]]:
    """Faces of each cell, those between two cells twice: offsets, nodes in cyclic order, cell of each."""
    if mesh.polyhedra is not None:
        solid = mesh.polyhedra
        inner = np.flatnonzero(solid.neighbour >= 0)
        face = np.concatenate([np.arange(solid.nfaces), inner])
        size = np.diff(solid.start)[face]
        nodes = solid.nodes[spans(solid.start[face], size)]
        return np.concatenate([[0], np.cumsum(size)]), nodes, np.concatenate([solid.owner, solid.neighbour[inner]])
    lengths, rings, owner = [], [], []
    first = 0
    for shape, cells in mesh.shapes():
        for row in shape.facets:
            used = row[row >= 0]
            rings.append(cells[:, used].ravel())
            lengths.append(np.full(len(cells), len(used)))
            owner.append(np.arange(first, first + len(cells)))
        first += len(cells)
    return np.concatenate([[0], np.cumsum(np.concatenate(lengths))]), np.concatenate(rings), np.concatenate(owner)


def _fans(start: NDArray[np.int64], nodes: NDArray[np.int64]) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
    """Polygons as triangles round the corner of the least number, so that both cells of a face cut it alike.

    Returns the polygon of each triangle and its (n, 3) nodes; polygons in order.
    """
    size = np.diff(start)
    polygon = np.repeat(np.arange(len(size)), size - 2)
    out = np.empty((len(polygon), 3), np.int64)
    before = np.cumsum(size - 2) - (size - 2)
    for k in np.unique(size):
        mine = np.flatnonzero(size == k)
        ring = nodes[start[mine][:, None] + np.arange(k)]
        turn = (ring.argmin(axis=1)[:, None] + np.arange(k)) % k
        ring = np.take_along_axis(ring, turn, axis=1)
        for t in range(k - 2):
            out[before[mine] + t] = ring[:, [0, t + 1, t + 2]]
    return polygon, out


def _offsets(cell: NDArray[np.int64], ncells: int) -> NDArray[np.int64]:
    return np.concatenate([[0], np.cumsum(np.bincount(cell, minlength=ncells))])


# ---- simplices as half-spaces
def _tetra_planes(corners: NDArray[np.float64], push: NDArray[np.float64]) -> NDArray[np.float64]:
    """(n, 4, 4) normal and offset of each side, moved outwards by `push`; a flat one holds nothing."""
    out = np.empty((len(corners), 4, 4))
    for side in range(4):
        i, j, k = (c for c in range(4) if c != side)
        normal = np.cross(corners[:, j] - corners[:, i], corners[:, k] - corners[:, i])
        length = np.linalg.norm(normal, axis=1)
        height = np.einsum("nd,nd->n", normal, corners[:, side] - corners[:, i])
        normal *= np.where(height > 0, -1.0, 1.0)[:, None] / np.where(length > 0, length, 1.0)[:, None]
        out[:, side, :3] = normal
        out[:, side, 3] = np.einsum("nd,nd->n", normal, corners[:, i]) + push
        out[height == 0, side] = (0.0, 0.0, 0.0, -1.0)
    return out


def _prism_planes(corners: NDArray[np.float64], thick: NDArray[np.float64]) -> NDArray[np.float64]:
    """(n, 5, 4) half-spaces of triangles that are `thick` to either side; one without area holds nothing."""
    out = np.empty((len(corners), 5, 4))
    normal = np.cross(corners[:, 1] - corners[:, 0], corners[:, 2] - corners[:, 0])
    length = np.linalg.norm(normal, axis=1)
    normal /= np.where(length > 0, length, 1.0)[:, None]
    for side in range(3):
        a, b, opposite = (corners[:, (side + k) % 3] for k in range(3))
        across = np.cross(b - a, normal)
        across /= np.where(length > 0, np.linalg.norm(across, axis=1), 1.0)[:, None]
        across *= np.where(np.einsum("nd,nd->n", across, opposite - a) > 0, -1.0, 1.0)[:, None]
        out[:, side, :3] = across
        out[:, side, 3] = np.einsum("nd,nd->n", across, a) + _PUSH * np.sqrt(length)
    height = np.einsum("nd,nd->n", normal, corners[:, 0])
    out[:, 3, :3], out[:, 3, 3] = normal, height + thick
    out[:, 4, :3], out[:, 4, 3] = -normal, thick - height
    out[length == 0] = (0.0, 0.0, 0.0, -1.0)
    return out


__all__ = ["Cover", "overlapping_cells"]
