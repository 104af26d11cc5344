"""The facets through which a mesh can be coupled, as plain geometry."""

from __future__ import annotations

from dataclasses import dataclass, replace
from functools import cached_property, reduce

import numpy as np
from numpy.typing import NDArray

from ...arrays import VERTEX
from ...errors import MeshError
from ..dual import Facets, all_facets, boundary_facets
from ..value import Mesh


@dataclass(frozen=True, eq=False)
class Surface:
    """Facets as corner points in cyclic order, with the cell each belongs to.

    What is worked out of them is kept with them, and goes on to those that are taken.
    """

    corners: NDArray[np.float64]
    """(nfacets, width, 3); rows beyond `size` repeat the first corner."""
    size: NDArray[np.int64]
    """(nfacets,) corners."""
    cell: NDArray[np.int32]
    """(nfacets,) cell of the mesh."""
    outward: NDArray[np.float64]
    """(nfacets, 3) from the cell's centre to the facet's; zero where the facet is the cell."""

    def taken(self, keep: NDArray[np.bool_] | NDArray[np.int64] | slice) -> Surface:
        """The facets where `keep` is true, or those whose numbers it has."""
        some = Surface(self.corners[keep], self.size[keep], self.cell[keep], self.outward[keep])
        for name in _KEPT & vars(self).keys():
            vars(some)[name] = vars(self)[name][keep]
        return some

    @cached_property
    def low(self) -> NDArray[np.float64]:
        """(nfacets, 3) smallest coordinates."""
        return reduce(np.minimum, self._corner)

    @cached_property
    def high(self) -> NDArray[np.float64]:
        """(nfacets, 3) largest coordinates."""
        return reduce(np.maximum, self._corner)

    @property
    def _corner(self) -> list[NDArray[np.float64]]:
        """The first corners of all facets, the second ones, and so on: numpy is slow along rows as short as these."""
        return [self.corners[:, c] for c in range(self.corners.shape[1])]

    @cached_property
    def centre(self) -> NDArray[np.float64]:
        """(nfacets, 3) mean of the corners."""
        inside = np.arange(self.corners.shape[1]) < self.size[:, None]
        total: NDArray[np.float64] = np.einsum("fcd,fc->fd", self.corners, inside.astype(float))
        return total / self.size[:, None]

    @cached_property
    def diameter(self) -> NDArray[np.float64]:
        """(nfacets,) largest distance of two corners."""
        corner, best = self._corner, np.zeros(len(self.corners))
        for i in range(len(corner)):
            for j in range(i):
                x, y, z = (corner[i] - corner[j]).T
                np.maximum(best, x * x + y * y + z * z, out=best)
        return np.sqrt(best)

    @cached_property
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

    @cached_property
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


#: What of a surface is kept with it.
_KEPT = {name for name, kind in vars(Surface).items() if isinstance(kind, cached_property)}


def boundary_surface(mesh: Mesh) -> Surface:
    """The facets of `mesh` through which it can be coupled.

    Those that only one cell has; or, where `mesh.interface` names groups, the facets of these, be they on
    the boundary or inside, where the cells on both sides have one.

    Raises
    ------
    MeshError
        No facet of a cell belongs to the group.
    """
    owner, nodes = offered_facets(mesh)
    size = (nodes >= 0).sum(axis=1)
    corners = mesh.points[np.where(nodes >= 0, nodes, nodes[:, :1])]
    surface = Surface(corners, size, owner, np.zeros((len(owner), 3)))
    return replace(surface, outward=surface.centre - mesh.centres(owner))


def offered_facets(mesh: Mesh) -> tuple[NDArray[np.int32], NDArray[np.int64]]:
    """Cell and (n, w) corner nodes, padded with -1, of each facet of :func:`boundary_surface`."""
    if mesh.interface is None:
        owner, local = boundary_facets(mesh)
        return owner, _nodes(mesh, owner, local)
    groups = [(mesh.facet_groups if name in mesh.facet_groups else mesh.point_groups)[name] for name in mesh.offered]
    facets = all_facets(mesh, _inside(mesh, np.concatenate([nodes.ravel() for nodes in groups]))[:-1])
    keep = np.unique(np.concatenate([_of_group(mesh, facets, name) for name in mesh.offered]))
    return facets.owner[keep], _nodes(mesh, facets.owner[keep], facets.local[keep])


def _of_group(mesh: Mesh, facets: Facets, name: str) -> NDArray[np.int64]:
    """The facets of one group, ascending."""
    if name in mesh.facet_groups:
        keep = _candidates(mesh, facets, mesh.facet_groups[name].ravel())
        keep = keep[_among(_nodes(mesh, facets.owner[keep], facets.local[keep]), mesh.facet_groups[name])]
    else:
        keep = _candidates(mesh, facets, mesh.point_groups[name])
        keep = keep[facets.alone[keep]]
    if len(keep) == 0:
        raise MeshError(f"interface: no cell of mesh {mesh.name!r} has a facet in the group {name!r}")
    return keep


def _candidates(mesh: Mesh, facets: Facets, allowed: NDArray[np.int64]) -> NDArray[np.int64]:
    """The facets whose corners are all among the `allowed` nodes; -1 is passed over."""
    inside = _inside(mesh, allowed)
    if mesh.polyhedra is None:
        return np.flatnonzero(inside[_nodes(mesh, facets.owner, facets.local)].all(axis=1))
    solid = mesh.polyhedra
    whole = np.logical_and.reduceat(inside[solid.nodes], solid.start[:-1])
    return np.flatnonzero(whole[facets.local])


def _inside(mesh: Mesh, allowed: NDArray[np.int64]) -> NDArray[np.bool_]:
    """(npoints + 1,) bool: which nodes are `allowed`, and -1, with which keys are padded."""
    inside = np.zeros(mesh.npoints + 1, bool)
    inside[allowed[allowed >= 0]] = True
    inside[-1] = True
    return inside


def _nodes(mesh: Mesh, owner: NDArray[np.int32], local: NDArray[np.int32]) -> NDArray[np.int64]:
    """(n, w) corner nodes of some facets in cyclic order, padded with -1."""
    if mesh.polyhedra is not None:
        return mesh.polyhedra.padded(local)
    out = np.full((len(owner), {1: 1, 2: 2, 3: 4}[mesh.dimension]), -1, np.int64)
    first = 0
    for shape, cells in mesh.shapes():
        mine = np.flatnonzero((owner >= first) & (owner < first + len(cells)))
        table = shape.facets[local[mine]][:, :out.shape[1]]
        nodes = np.take_along_axis(cells[owner[mine] - first], np.where(table >= 0, table, 0), axis=1)
        out[mine] = np.where(table >= 0, nodes, -1)
        first += len(cells)
    return out


def _among(nodes: NDArray[np.int64], group: NDArray[np.int64]) -> NDArray[np.bool_]:
    """Which rows of `nodes` have, in any order, the nodes of a row of `group`; both padded with -1."""
    width = max(nodes.shape[1], group.shape[1])
    both = np.full((len(nodes) + len(group), width), -1, np.int64)
    both[:len(nodes), :nodes.shape[1]] = nodes
    both[len(nodes):, :group.shape[1]] = group
    both.sort(axis=1)
    number = np.unique(both, axis=0, return_inverse=True)[1].reshape(-1)
    return np.isin(number[:len(nodes)], number[len(nodes):])


def cell_surface(mesh: Mesh) -> Surface:
    """The cells of `mesh` themselves as facets: a shell that lies on a volume's surface.

    Where `mesh.interface` names point groups, only the cells all of whose corners belong to one of them.
    """
    start, corner = mesh.corners
    size = np.diff(start)
    width = int(size.max())
    nodes = np.repeat(corner[start[:-1]], width).reshape(-1, width)
    nodes[np.arange(width) < size[:, None]] = corner
    surface = Surface(mesh.points[nodes], size, np.arange(mesh.ncells, dtype=VERTEX), np.zeros((mesh.ncells, 3)))
    if mesh.interface is None or any(name in mesh.facet_groups for name in mesh.offered):
        return surface
    keep = np.zeros(mesh.ncells, bool)
    for name in mesh.offered:
        mine = np.asarray(np.isin(nodes, mesh.point_groups[name]).all(axis=1))
        if not mine.any():
            raise MeshError(f"interface: no cell of mesh {mesh.name!r} is in the group {name!r}")
        keep |= mine
    return surface.taken(keep)
