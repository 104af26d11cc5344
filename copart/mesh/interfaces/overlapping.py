"""Cells of two meshes that cover the same space: a mesh that covers part of another, a surface inside a volume."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from ...arrays import OFFSET, VERTEX
from ...errors import MeshError
from ..search import overlapping_pairs
from ..value import Mesh
from .matching import Reach, match
from .offers import Offer, sizes
from .simplices import Simplices, faces, offsets_of, simplices
from .surface import cell_surface

LEAST = 1e-6
"""An overlap smaller than this fraction of the smaller cell comes from rounding."""
_FLAT = 1e-12
"""A cell this much thinner than wide is flat."""
_ROOM = 8192
"""Pieces into which a cell may fall when another cuts it; a few dozen are usual."""
_PUSH = 1e-9
"""Cells of a volume are this fraction of their size larger for a surface that lies exactly between two of them."""
_BULGE = 1e-3
"""A cell is concave where a corner is beyond a face by more than this fraction of its size; less is taken as warped."""


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
        one, other = cell_surface(mesh_a), cell_surface(mesh_b)
        found = match(Offer(one, other, mesh_a.dimension), reach, offsets)
        a, b = found.i.astype(VERTEX), found.j.astype(VERTEX)
        # not those of triangles, some of which are outside a concave cell
        return Cover(a, b, found.overlap, sizes(one, mesh_a.dimension), sizes(other, mesh_a.dimension))
    if mesh_a.dimension > mesh_b.dimension:
        back = overlapping_cells(mesh_b, mesh_a, reach, -offsets)
        return Cover(back.b, back.a, back.size, back.sizes_b, back.sizes_a)
    cut_a, cut_b = simplices(mesh_a), simplices(mesh_b)
    sizes_a, sizes_b = cut_a.cell_sizes(), cut_b.cell_sizes()
    spaces = _spaces(mesh_b, cut_b, sizes_b, reach, 0.0 if mesh_a.dimension == 3 else _PUSH)
    parts = [_one_copy(cut_a, sizes_a, spaces.moved(offset)) for offset in offsets]
    a, b, size = (np.concatenate(x) for x in zip(*parts, strict=True))
    least = sizes_a[a]
    if mesh_a.dimension == mesh_b.dimension:
        least = np.minimum(least, sizes_b[b])
    keep = size > LEAST * least
    return Cover(a[keep], b[keep], size[keep], sizes_a, sizes_b)


def _one_copy(a: Simplices, sizes_a: NDArray[np.float64], b: _Spaces,
              ) -> tuple[NDArray[np.int32], NDArray[np.int32], NDArray[np.float64]]:
    """Pairs of cells of A and of one copy of B, and what they share."""
    from ...kernels import mesh_clip

    # coordinates relative to one of the points, so that a far origin costs no digits
    origin = a.low.min(axis=0)
    planes = np.column_stack([b.planes[:, :3], b.planes[:, 3] - b.planes[:, :3] @ origin])
    i, piece = overlapping_pairs(np.minimum.reduceat(a.low, a.first[:-1]), np.maximum.reduceat(a.high, a.first[:-1]),
                                 b.low, b.high)
    size = np.zeros(len(i))
    cut = mesh_clip.Simplices(first=a.first, corners=np.ascontiguousarray(a.corners - origin), sign=a.sign,
                              low=a.low - origin, high=a.high - origin)
    spaces = mesh_clip.Spaces(first=b.first, planes=planes, low=b.low - origin, high=b.high - origin)
    memory = mesh_clip.Pieces(current=np.empty((_ROOM, 4, 3)), spare=np.empty((_ROOM, 4, 3)), side=np.empty(4),
                              place=np.empty(4, OFFSET))
    stuck = mesh_clip.common_sizes(i, piece, cut, spaces, memory, size)
    if stuck >= 0:
        raise MeshError(f"interedges: the overlap of cells {int(i[stuck])} and {int(b.cell[piece[stuck]])} falls into "
                        f"too many pieces; their shapes are too involved for --interedges overlap")
    j = b.cell[piece]
    if len(b.cell) > len(np.unique(b.cell)):
        ncells = int(b.cell.max()) + 1
        pair, at = np.unique(i.astype(OFFSET) * ncells + j, return_inverse=True)
        i, j = (pair // ncells).astype(VERTEX), (pair % ncells).astype(VERTEX)
        # a surface in the plane between two pieces counts in both
        size = np.minimum(np.bincount(at, size * b.sign[piece]), sizes_a[i])
    hit = size > 0
    return i[hit], j[hit], size[hit]


# ---- cells as pieces of space between planes
class _Spaces(NamedTuple):
    """Cells, or surfaces with a thickness, as what lies below planes; those that are concave in several pieces."""

    first: NDArray[np.int64]
    """(npieces + 1,) first plane of each piece."""
    planes: NDArray[np.float64]
    """(n, 4) outward unit normal, and its product with the points of the plane."""
    low: NDArray[np.float64]
    high: NDArray[np.float64]
    """(npieces, 3)."""
    cell: NDArray[np.int32]
    """(npieces,) cell that each is of."""
    sign: NDArray[np.float64]
    """(npieces,) -1 for what has to be taken off."""

    def moved(self, offset: NDArray[np.float64]) -> _Spaces:
        """The same elsewhere."""
        planes = np.column_stack([self.planes[:, :3], self.planes[:, 3] + self.planes[:, :3] @ offset])
        return self._replace(planes=planes, low=self.low + offset, high=self.high + offset)

    def without(self, cells: NDArray[np.int64]) -> _Spaces:
        """All but some cells, where each is one piece."""
        keep = np.ones(len(self.cell), bool)
        keep[cells] = False
        count = np.diff(self.first)
        return _Spaces(np.concatenate([[0], np.cumsum(count[keep])]), self.planes[np.repeat(keep, count)],
                       self.low[keep], self.high[keep], self.cell[keep], self.sign[keep])

    def beside(self, other: _Spaces) -> _Spaces:
        """Both."""
        rest = {name: np.concatenate([getattr(self, name), getattr(other, name)]) for name in self._fields[1:]}
        return _Spaces(first=np.concatenate([self.first, self.first[-1] + other.first[1:]]), **rest)


def _spaces(mesh: Mesh, cut: Simplices, sizes: NDArray[np.float64], reach: Reach, push: float) -> _Spaces:
    """The cells of a mesh, `push` times their size larger; those of a surface as thick as `reach` to either side."""
    from ...kernels.mesh_clip import bulges

    start, nodes = mesh.corners
    points = mesh.points[nodes]
    extent = np.linalg.norm(np.maximum.reduceat(points, start[:-1]) - np.minimum.reduceat(points, start[:-1]), axis=1)
    push_by = push * extent
    thick = push_by if mesh.dimension == 3 else reach.of(extent)
    whole = _convex(mesh, sizes, thick, push_by)
    out = np.empty(mesh.ncells)
    bulges(start, points, whole.first, whole.planes, out)
    concave = np.flatnonzero(out > push_by + _BULGE * extent)
    if len(concave) == 0:
        return whole
    simplex, cell = cut.of(concave)
    corners = cut.corners[simplex]
    kind = {3: "triangle", 4: "tetra"}[corners.shape[1]]
    alone = Mesh(corners.reshape(-1, 3), [(kind, np.arange(corners[..., 0].size).reshape(corners.shape[:2]))])
    pieces = _convex(alone, simplices(alone).cell_sizes(), thick[cell], push_by[cell])
    return whole.without(concave).beside(pieces._replace(cell=cell.astype(VERTEX), sign=cut.sign[simplex]))


def _convex(mesh: Mesh, sizes: NDArray[np.float64], thick: NDArray[np.float64], push: NDArray[np.float64]) -> _Spaces:
    """Cells that are convex, each `push` larger; those of a surface `thick` to either side."""
    start, nodes = mesh.corners
    points = mesh.points[nodes]
    low, high = np.minimum.reduceat(points, start[:-1]), np.maximum.reduceat(points, start[:-1])
    normal, level, cell = _sides_of_volumes(mesh) if mesh.dimension == 3 else _sides_of_surfaces(mesh, thick)
    # a cell collapsed to a plane, a line or a point holds nothing
    empty = sizes <= _FLAT * np.linalg.norm(high - low, axis=1)**mesh.dimension
    level = np.where(empty[cell], -np.inf, level + push[cell])
    order = np.argsort(cell, kind="stable")
    return _Spaces(offsets_of(cell, mesh.ncells), np.column_stack([normal, level])[order], low - thick[:, None],
                   high + thick[:, None], np.arange(mesh.ncells, dtype=VERTEX), np.ones(mesh.ncells))


Planes = tuple[NDArray[np.float64], NDArray[np.float64], NDArray[np.int64]]


def _sides_of_volumes(mesh: Mesh) -> Planes:
    """Normal, level and cell of each face; the plane of a warped face is the mean one, the same for both its cells."""
    start, nodes, cell, _ = faces(mesh)
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
