"""The dual graph of a mesh: one vertex per cell, one edge per shared facet."""

from __future__ import annotations

from typing import Any, NamedTuple
from weakref import WeakKeyDictionary

import numpy as np
from numpy.typing import NDArray

from .. import arrays
from ..arrays import OFFSET, VERTEX
from ..errors import MeshError
from ..graph import Graph
from .cells import CellShape
from .groups import cell_array
from .polyhedra import Polyhedra
from .value import Mesh

MOST_NEIGHBOURS = 50
"""Neighbours across a facet on average; a mesh of volumes has one, shells that meet in an edge a few."""


class Facets(NamedTuple):
    """All facets of all cells, each as often as cells have it."""

    keys: NDArray[np.int32]
    """(nfacets, 4) sorted distinct corner nodes, padded with -1; none for polyhedra."""
    owner: NDArray[np.int32]
    """(nfacets,) cell."""
    local: NDArray[np.int32]
    """(nfacets,) number of the facet in its cell; for polyhedra that of the face."""
    link: NDArray[np.int32]
    """(nfacets,) an earlier facet with the same key, or -1."""
    alone: NDArray[np.bool_]
    """(nfacets,) no other cell has this facet: it is on the boundary."""


def all_facets(mesh: Mesh, among: NDArray[np.bool_] | None = None) -> Facets:
    """Facets of `mesh` and which of them coincide; linear in the number of cells.

    Parameters
    ----------
    mesh : Mesh
    among : (npoints,) bool, optional
        Only facets whose corners are all among these nodes are asked for; some others may be there, too, and then
        nothing is known of their `link` and `alone`. Polyhedra have all.
    """
    from ..kernels.mesh_dual import facet_keys, link_facets

    if mesh.polyhedra is not None:
        return _faces(mesh.polyhedra)
    if mesh.ncells >= 2**31:
        raise MeshError(f"mesh {mesh.name!r}: {mesh.ncells} cells, at most {2**31 - 1} are supported")
    blocks: list[tuple[CellShape, NDArray[np.int64], NDArray[np.int32] | None]] = []
    first = 0
    for shape, cells in mesh.shapes():
        if among is None:
            blocks.append((shape, cells, None))
        else:
            # all cells at such a facet have its corners
            near = np.flatnonzero(among[cells[:, :shape.ncorners]].sum(axis=1) >= mesh.dimension)
            blocks.append((shape, cells[near], (near + first).astype(VERTEX)))
        first += len(cells)
    room = sum(len(cells) * len(shape.facets) for shape, cells, _ in blocks)
    if room >= 2**31:
        raise MeshError(f"mesh {mesh.name!r}: {room} facets, at most {2**31 - 1} are supported")
    keys = np.empty((room, 4), VERTEX)
    owner, local = np.empty(room, VERTEX), np.empty(room, VERTEX)
    count = first = 0
    for shape, cells, numbers in blocks:
        # a facet of a cell of dimension d has at least d distinct corners, unless it has collapsed
        upto = facet_keys(cells, shape.facets, first, mesh.dimension, count, keys, owner, local)
        if numbers is not None:
            owner[count:upto] = numbers[owner[count:upto] - first]
        count = upto
        first += len(cells)
    keys, owner, local = keys[:count], owner[:count], local[:count]
    table = np.full(1 << (int(1.25 * count) + 1).bit_length(), -1, VERTEX)
    link, alone = np.empty(count, VERTEX), np.empty(count, np.bool_)
    link_facets(keys, count, max(1, len(table) // max(1, mesh.npoints)), owner, table, link, alone)
    return Facets(keys, owner, local, link, alone)


def _faces(solid: Polyhedra) -> Facets:
    """The faces of polyhedra: those of owners first, then those inside once more, of neighbours."""
    inner = np.flatnonzero(solid.neighbour >= 0)
    owner = np.concatenate([solid.owner, solid.neighbour[inner]]).astype(VERTEX)
    local = np.concatenate([np.arange(solid.nfaces), inner]).astype(VERTEX)
    link = np.concatenate([np.full(solid.nfaces, -1), inner]).astype(VERTEX)
    return Facets(np.empty((0, 4), VERTEX), owner, local, link, solid.neighbour[local] < 0)


#: Cell and number in it of the facets on the boundary, of meshes that have a graph: the search for interfaces is next.
_BOUNDARY: WeakKeyDictionary[Mesh, tuple[NDArray[np.int32], NDArray[np.int32]]] = WeakKeyDictionary()


def boundary_facets(mesh: Mesh) -> tuple[NDArray[np.int32], NDArray[np.int32]]:
    """Cell, and number in the cell, of each facet that no other cell has; looked for once per mesh."""
    if mesh not in _BOUNDARY:
        _keep_boundary(mesh, all_facets(mesh))
    return _BOUNDARY[mesh]


def _keep_boundary(mesh: Mesh, facets: Facets) -> None:
    _BOUNDARY[mesh] = arrays.frozen(facets.owner[facets.alone]), arrays.frozen(facets.local[facets.alone])


def dual_graph(mesh: Mesh, load: Any = None) -> Graph:
    """The graph of cells joined by shared facets.

    Two cells are neighbours when a face (3D), an edge (2D) or a point (1D) of
    both has the same corner nodes.  Where more than two cells meet in one facet,
    each pair of them is joined; two cells that share several facets are joined once.

    Parameters
    ----------
    mesh : Mesh
    load : str or (ncells,) array_like of int, optional
        Load of each cell: the name of a cell array of `mesh`, or the numbers. 1 where not given.

    Returns
    -------
    Graph
        With the cell centres as `coords`.

    Raises
    ------
    MeshError
        Several cells but no shared facet, or far too many at one; no such cell array; unusable weights.

    Examples
    --------
    >>> from copart.mesh import cube
    >>> dual_graph(cube("hexa", 3))
    Graph(27 vertices, 54 edges, coords)
    """
    from ..kernels.mesh_dual import count_neighbours, fill_neighbours, sort_rows

    vwgt = None if load is None else cell_loads(mesh, load)
    facets = all_facets(mesh)
    _keep_boundary(mesh, facets)
    n = mesh.ncells
    xadj = np.empty(n + 1, OFFSET)
    room = count_neighbours(facets.link, facets.owner, MOST_NEIGHBOURS * len(facets.link) + 1_000_000, xadj)
    if room < 0:
        raise MeshError(f"mesh {mesh.name!r}: so many cells share a facet that the graph would have more than "
                        f"{MOST_NEIGHBOURS} neighbours per facet; perhaps cells are listed again and again")
    adjncy = np.empty(room, VERTEX)
    fill_neighbours(facets.link, facets.owner, xadj, np.empty(n, OFFSET), adjncy)
    entries = sort_rows(xadj, adjncy)
    if entries == 0 and n > 1:
        raise MeshError(f"mesh {mesh.name!r}: no two of its {n} cells share a facet; "
                        f"perhaps each cell has its own copies of the points: merge coincident points first")
    coords = mesh.centres()
    if mesh.dimension < 3 and not coords[:, 2].any():
        coords = coords[:, :2]
    return Graph(xadj, adjncy[:entries], vwgt=vwgt, coords=coords)


def cell_loads(mesh: Mesh, given: Any) -> NDArray[np.int64]:
    """(ncells,) int64 loads from a cell array of `mesh`, by name, or from numbers."""
    if isinstance(given, str):
        return arrays.weights(f"cell array {given!r}", cell_array(mesh, given, "load"), mesh.ncells, MeshError)
    return arrays.weights("load", given, mesh.ncells, MeshError)
