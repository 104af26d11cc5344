"""The facets through which a mesh can be coupled, as plain geometry."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from ..arrays import OFFSET, VERTEX
from .dual import all_facets
from .value import Mesh


class Surface(NamedTuple):
    """Facets as corner points in cyclic order, with the cell each belongs to."""

    corners: NDArray[np.float64]
    """(nfacets, width, 3); rows beyond `size` repeat the first corner."""
    size: NDArray[np.int64]
    """(nfacets,) corners."""
    cell: NDArray[np.int32]
    """(nfacets,) cell of the mesh."""
    outward: NDArray[np.float64]
    """(nfacets, 3) from the cell's centre to the facet's; zero where the facet is the cell."""

    def taken(self, keep: NDArray[np.bool_]) -> Surface:
        """The facets where `keep` is true."""
        return Surface(self.corners[keep], self.size[keep], self.cell[keep], self.outward[keep])

    @property
    def low(self) -> NDArray[np.float64]:
        """(nfacets, 3) smallest coordinates."""
        return np.asarray(self.corners.min(axis=1))

    @property
    def high(self) -> NDArray[np.float64]:
        """(nfacets, 3) largest coordinates."""
        return np.asarray(self.corners.max(axis=1))

    @property
    def centre(self) -> NDArray[np.float64]:
        """(nfacets, 3) mean of the corners."""
        inside = np.arange(self.corners.shape[1]) < self.size[:, None]
        total: NDArray[np.float64] = np.einsum("fcd,fc->fd", self.corners, inside.astype(float))
        return total / self.size[:, None]

    @property
    def diameter(self) -> NDArray[np.float64]:
        """(nfacets,) largest distance of two corners."""
        width = self.corners.shape[1]
        best = np.zeros(len(self.corners))
        for i in range(width):
            for j in range(i):
                np.maximum(best, np.linalg.norm(self.corners[:, i] - self.corners[:, j], axis=1), out=best)
        return best

    @property
    def normal(self) -> NDArray[np.float64]:
        """(nfacets, 3) unit normals, pointing out of the cell where there is an outside.

        The normal of a warped face is that of its projected area.
        """
        origin = self.corners[:, :1]
        relative = self.corners - origin
        area = np.zeros((len(self.corners), 3))
        for i in range(1, self.corners.shape[1] - 1):
            area += np.cross(relative[:, i], relative[:, i + 1])
        length = np.linalg.norm(area, axis=1)
        area /= np.where(length > 0, length, 1.0)[:, None]
        out: NDArray[np.float64] = np.einsum("fd,fd->f", area, self.outward)
        area *= np.where(out < 0, -1.0, 1.0)[:, None]
        return area

    @property
    def outside(self) -> NDArray[np.float64]:
        """(nfacets, 3) direction square to the facet and out of the cell; zero where there is no outside."""
        if self.corners.shape[1] == 1:
            return self.outward
        if self.corners.shape[1] == 2:
            along = self.corners[:, 1] - self.corners[:, 0]
            squared = np.einsum("fd,fd->f", along, along)
            share = np.einsum("fd,fd->f", along, self.outward) / np.where(squared > 0, squared, 1.0)
            return np.asarray(self.outward - share[:, None] * along)
        return self.normal * np.asarray(self.outward.any(axis=1))[:, None]


def boundary_surface(mesh: Mesh) -> Surface:
    """The facets of `mesh` that only one cell has."""
    facets = all_facets(mesh)
    owner, local = facets.owner[facets.alone], facets.local[facets.alone]
    width = {1: 1, 2: 2, 3: 4}[mesh.dimension]
    corners, sizes = np.empty((len(owner), width, 3)), np.empty(len(owner), OFFSET)
    first = 0
    for shape, cells in mesh.shapes():
        mine = np.flatnonzero((owner >= first) & (owner < first + len(cells)))
        table = shape.facets[local[mine]][:, :width]
        sizes[mine] = (table >= 0).sum(axis=1)
        nodes = np.take_along_axis(cells[owner[mine] - first], np.where(table >= 0, table, table[:, :1]), axis=1)
        corners[mine] = mesh.points[nodes]
        first += len(cells)
    surface = Surface(corners, sizes, owner, np.zeros((len(owner), 3)))
    return surface._replace(outward=surface.centre - mesh.centres()[owner])


def cell_surface(mesh: Mesh) -> Surface:
    """The cells of `mesh` themselves as facets: a shell that lies on a volume's surface."""
    width = max(shape.ncorners for shape, _ in mesh.shapes())
    corners, sizes = np.empty((mesh.ncells, width, 3)), np.empty(mesh.ncells, OFFSET)
    first = 0
    for shape, cells in mesh.shapes():
        rows = slice(first, first + len(cells))
        local = np.minimum(np.arange(width), shape.ncorners)
        local[local == shape.ncorners] = 0
        corners[rows] = mesh.points[cells[:, local]]
        sizes[rows] = shape.ncorners
        first += len(cells)
    return Surface(corners, sizes, np.arange(mesh.ncells, dtype=VERTEX), np.zeros((mesh.ncells, 3)))
