"""Cells cut into segments, triangles or tetrahedra."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from ..polyhedra import spans
from ..value import Mesh

_CLOSED = 1e-6
"""Faces close round a cell, all turned outwards, where their areas as vectors add up to less than this part of them."""


class Simplices(NamedTuple):
    """Cells as what simplices hold together, those that fold back over others taken off."""

    first: NDArray[np.int64]
    """(ncells + 1,) first simplex of each cell."""
    corners: NDArray[np.float64]
    """(n, dimension + 1, 3)."""
    sign: NDArray[np.float64]
    """(n,) 1, or -1 for what has to be taken off: a concave cell seen from a corner, or from its middle."""

    @property
    def low(self) -> NDArray[np.float64]:
        return np.asarray(self.corners.min(axis=1))

    @property
    def high(self) -> NDArray[np.float64]:
        return np.asarray(self.corners.max(axis=1))

    def cell_sizes(self) -> NDArray[np.float64]:
        """(ncells,) length, area or volume."""
        edges = self.corners[:, 1:] - self.corners[:, :1]
        gram = np.linalg.det(edges @ edges.transpose(0, 2, 1))
        each = self.sign * np.sqrt(np.maximum(gram, 0.0)) / {1: 1, 2: 2, 3: 6}[edges.shape[1]]
        return np.asarray(np.add.reduceat(each, self.first[:-1]))

    def of(self, cells: NDArray[np.int64]) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
        """Numbers of the simplices of some cells, and the cell of each."""
        count = np.diff(self.first)[cells]
        return spans(self.first[cells], count), np.repeat(cells, count)


def simplices(mesh: Mesh) -> Simplices:
    """The cells of a mesh as simplices, in cell order."""
    if mesh.dimension == 1:
        return _as_they_are(mesh, 2)
    if mesh.dimension == 2:
        start, nodes = mesh.corners
        cell, fans = _fans(start, nodes)
        corners = mesh.points[fans]
        area = np.cross(corners[:, 1] - corners[:, 0], corners[:, 2] - corners[:, 0])
        first = offsets_of(cell, mesh.ncells)
        whole = np.add.reduceat(area, first[:-1])
        return Simplices(first, corners, _sign(np.einsum("td,td->t", area, whole[cell])))
    if mesh.polyhedra is None and all(shape.ncorners == 4 for shape, _ in mesh.shapes()):
        return _as_they_are(mesh, 4)
    return _round_centres(mesh)


def _as_they_are(mesh: Mesh, ncorners: int) -> Simplices:
    """Segments or tetrahedra."""
    nodes = np.concatenate([cells[:, :ncorners] for _, cells in mesh.shapes()])
    return Simplices(np.arange(mesh.ncells + 1), mesh.points[nodes], np.ones(mesh.ncells))


def _round_centres(mesh: Mesh) -> Simplices:
    """The faces of each cell, each a fan of triangles, with the cell's centre."""
    start, nodes, owner, outward = faces(mesh)
    face, fans = _fans(start, nodes)
    cell = owner[face]
    order = np.argsort(cell, kind="stable")
    face, cell, fans = face[order], cell[order], fans[order]
    first = offsets_of(cell, mesh.ncells)
    base = mesh.points[fans]
    corners = np.concatenate([base, mesh.centres()[cell][:, None]], axis=1)
    area = np.cross(base[:, 1] - base[:, 0], base[:, 2] - base[:, 0]) * outward[face][:, None]
    volume = np.einsum("td,td->t", area, base[:, 0] - corners[:, 3])
    open_by = np.linalg.norm(np.add.reduceat(area, first[:-1]), axis=1)
    closed = open_by <= _CLOSED * np.add.reduceat(np.linalg.norm(area, axis=1), first[:-1])
    # cells may be numbered inside out; where faces are not turned one way, no simplex is known to fold back
    turned = np.add.reduceat(volume, first[:-1])
    return Simplices(first, corners, np.where(closed[cell], _sign(volume * turned[cell]), 1.0))


def _sign(x: NDArray[np.float64]) -> NDArray[np.float64]:
    return np.where(x < 0, -1.0, 1.0)


Faces = tuple[NDArray[np.int64], NDArray[np.int64], NDArray[np.int64], NDArray[np.float64]]


def faces(mesh: Mesh) -> Faces:
    """Faces of each cell of a volume, those between two cells twice.

    Offsets, nodes in cyclic order, cell of each, and -1 for those that turn to the middle of it where others turn away.
    """
    if mesh.polyhedra is not None:
        solid = mesh.polyhedra
        inner = np.flatnonzero(solid.neighbour >= 0)
        face = np.concatenate([np.arange(solid.nfaces), inner])
        size = np.diff(solid.start)[face]
        nodes = solid.nodes[spans(solid.start[face], size)]
        return (np.concatenate([[0], np.cumsum(size)]), nodes, np.concatenate([solid.owner, solid.neighbour[inner]]),
                np.repeat([1.0, -1.0], [solid.nfaces, len(inner)]))
    lengths, rings, owner = [], [], []
    first = 0
    for shape, cells in mesh.shapes():
        for row in shape.facets:
            used = row[row >= 0]
            rings.append(cells[:, used].ravel())
            lengths.append(np.full(len(cells), len(used)))
            owner.append(np.arange(first, first + len(cells)))
        first += len(cells)
    start = np.concatenate([[0], np.cumsum(np.concatenate(lengths))])
    return start, np.concatenate(rings), np.concatenate(owner), np.ones(len(start) - 1)


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


def offsets_of(cell: NDArray[np.int64], ncells: int) -> NDArray[np.int64]:
    """(ncells + 1,) where each cell begins in a list in cell order."""
    return np.concatenate([[0], np.cumsum(np.bincount(cell, minlength=ncells))])


__all__ = ["Simplices", "faces", "offsets_of", "simplices"]
