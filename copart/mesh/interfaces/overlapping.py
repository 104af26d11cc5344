"""Cells of two meshes that cover the same space: a mesh that covers part of another, a surface inside a volume."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from ...arrays import OFFSET, VERTEX
from ...errors import MeshError
from ..polyhedra import spans
from ..search import overlapping_pairs
from ..value import Mesh
from .matching import Reach, match
from .offers import Offer, sizes
from .surface import cell_surface

LEAST = 1e-6
"""An overlap smaller than this fraction of the smaller cell comes from rounding."""
_FLAT = 1e-12
"""A cell this much thinner than wide is flat."""
_ROOM = 8192
"""Pieces into which a cell may fall when another cuts it; a few dozen are usual."""
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
    volume the area inside each cell counts, of a line the length.  Volumes of the
    second mesh, and cells of the mesh of larger dimension, are taken as convex.

    Parameters
    ----------
    mesh_a, mesh_b : Mesh
    reach : Reach
        How far two surfaces, two lines, or a line and a surface may be apart.
    offsets : (ncopies, 3) float64
        Where the copies of B are.
    """
    if mesh_a.dimension == mesh_b.dimension < 3:
        one, other = cell_surface(mesh_a), cell_surface(mesh_b)
        found = match(Offer(one, other, mesh_a.dimension), reach, offsets)
        a, b = found.i.astype(VERTEX), found.j.astype(VERTEX)
        # not those of triangles, some of which are outside a concave cell
        return Cover(a, b, found.overlap, sizes(one, mesh_a.dimension), sizes(other, mesh_a.dimension))
    if mesh_a.dimension > mesh_b.dimension:
        back = overlapping_cells(mesh_b, mesh_a, reach, -offsets)
        return Cover(back.b, back.a, back.size, back.sizes_b, back.sizes_a)
    simplices = _cut(mesh_a)
    spaces = _spaces(mesh_b, reach, 0.0 if mesh_a.dimension == 3 else _PUSH)
    sizes_a, sizes_b = _cell_sizes(simplices), _cell_sizes(_cut(mesh_b))
    parts = [_one_copy(simplices, spaces.moved(offset)) for offset in offsets]
    a, b, size = (np.concatenate(x) for x in zip(*parts, strict=True))
    least = sizes_a[a]
    if mesh_a.dimension == mesh_b.dimension:
        least = np.minimum(least, sizes_b[b])
    keep = size > LEAST * least
    return Cover(a[keep], b[keep], size[keep], sizes_a, sizes_b)


def _one_copy(a: _Simplices, b: _Spaces) -> tuple[NDArray[np.int32], NDArray[np.int32], NDArray[np.float64]]:
    """Pairs of cells of A and of one copy of B, and what they share."""
    from ...kernels.mesh_clip import Pieces, Simplices, Spaces, common_sizes

    # coordinates relative to one of the points, so that a far origin costs no digits
    origin = a.low.min(axis=0)
    planes = np.column_stack([b.planes[:, :3], b.planes[:, 3] - b.planes[:, :3] @ origin])
    i, j = overlapping_pairs(*_cell_boxes(a.first, a.low, a.high), b.low, b.high)
    size = np.zeros(len(i))
    simplices = Simplices(first=a.first, corners=np.ascontiguousarray(a.corners - origin), low=a.low - origin,
                          high=a.high - origin)
    spaces = Spaces(first=b.first, planes=planes, low=b.low - origin, high=b.high - origin)
    pieces = Pieces(current=np.empty((_ROOM, 4, 3)), spare=np.empty((_ROOM, 4, 3)), side=np.empty(4),
                    place=np.empty(4, OFFSET))
    stuck = common_sizes(i, j, simplices, spaces, pieces, size)
    if stuck >= 0:
        raise MeshError(f"interedges: the overlap of cells {int(i[stuck])} and {int(j[stuck])} falls into too many "
                        f"pieces; their shapes are too involved for --interedges overlap")
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


# ---- cells as pieces of space between planes
class _Spaces(NamedTuple):
    """Cells, or surfaces with a thickness, as what lies below planes."""

    first: NDArray[np.int64]
    """(ncells + 1,) first plane of each cell."""
    planes: NDArray[np.float64]
    """(n, 4) outward unit normal, and its product with the points of the plane."""
    low: NDArray[np.float64]
    high: NDArray[np.float64]
    """(ncells, 3)."""

    def moved(self, offset: NDArray[np.float64]) -> _Spaces:
        """The same elsewhere."""
        planes = np.column_stack([self.planes[:, :3], self.planes[:, 3] + self.planes[:, :3] @ offset])
        return self._replace(planes=planes, low=self.low + offset, high=self.high + offset)


def _spaces(mesh: Mesh, reach: Reach, push: float) -> _Spaces:
    """The cells of a mesh, `push` times their size larger; those of a surface as thick as `reach` to either side."""
    start, nodes = mesh.corners
    points = mesh.points[nodes]
    low, high = np.minimum.reduceat(points, start[:-1]), np.maximum.reduceat(points, start[:-1])
    extent = np.linalg.norm(high - low, axis=1)
    thick = push * extent if mesh.dimension == 3 else reach.of(extent)
    normal, level, cell = _sides_of_volumes(mesh) if mesh.dimension == 3 else _sides_of_surfaces(mesh, thick)
    # a cell collapsed to a plane, a line or a point holds nothing
    empty = _cell_sizes(_cut(mesh)) <= _FLAT * extent**mesh.dimension
    level = np.where(empty[cell], -np.inf, level + push * extent[cell])
    order = np.argsort(cell, kind="stable")
    return _Spaces(_offsets(cell, mesh.ncells), np.column_stack([normal, level])[order], low - thick[:, None],
                   high + thick[:, None])


Planes = tuple[NDArray[np.float64], NDArray[np.float64], NDArray[np.int64]]


def _sides_of_volumes(mesh: Mesh) -> Planes:
    """Normal, level and cell of each face; the plane of a warped face is the mean one, the same for both its cells."""
    start, nodes, cell = _faces(mesh)
    size = np.diff(start)
    face = np.repeat(np.arange(len(size)), size)
    points = mesh.points[nodes]
    middle = np.add.reduceat(points, start[:-1]) / size[:, None]
    after = np.arange(len(nodes)) + 1
    after[start[1:] - 1] = start[:-1]
    relative = points - middle[face]
    normal = np.add.reduceat(np.cross(relative, relative[after]), start[:-1])
    length = np.linalg.norm(normal, axis=1)
    normal /= np.where(length > 0, length, 1.0)[:, None]
    height = np.einsum("fd,fd->f", normal, mesh.centres()[cell] - middle)
    normal *= np.where(height > 0, -1.0, 1.0)[:, None]
    level = np.einsum("fd,fd->f", normal, middle)
    # a face of no area bounds nothing
    return normal, np.where(length > 0, level, np.inf), cell


def _sides_of_surfaces(mesh: Mesh, thick: NDArray[np.float64]) -> Planes:
    """Normal, level and cell of the edges of polygons, upright on them, and of both their sides."""
    start, nodes = mesh.corners
    size = np.diff(start)
    cell = np.repeat(np.arange(mesh.ncells), size)
    points = mesh.points[nodes]
    after = np.arange(len(nodes)) + 1
    after[start[1:] - 1] = start[:-1]
    middle = mesh.centres()
    relative = points - middle[cell]
    normal = np.add.reduceat(np.cross(relative, relative[after]), start[:-1])
    length = np.linalg.norm(normal, axis=1)
    normal /= np.where(length > 0, length, 1.0)[:, None]
    across = np.cross(points[after] - points, normal[cell])
    long = np.linalg.norm(across, axis=1)
    across /= np.where(long > 0, long, 1.0)[:, None]
    across *= np.where(np.einsum("fd,fd->f", across, relative) < 0, -1.0, 1.0)[:, None]
    level = np.where(long > 0, np.einsum("fd,fd->f", across, points), np.inf)
    height = np.einsum("fd,fd->f", normal, middle)
    every = np.arange(mesh.ncells)
    return (np.concatenate([across, normal, -normal]), np.concatenate([level, height + thick, thick - height]),
            np.concatenate([cell, every, every]))


__all__ = ["Cover", "overlapping_cells"]
