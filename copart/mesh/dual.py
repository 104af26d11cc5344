"""The dual graph of a mesh: one vertex per cell, one edge per shared facet."""

from __future__ import annotations

import itertools
from functools import partial
from typing import TYPE_CHECKING, Any, NamedTuple
from weakref import WeakKeyDictionary

import numpy as np
from numpy.typing import ArrayLike, NDArray

from .. import arrays
from ..arrays import OFFSET, VERTEX
from ..errors import MeshError
from ..graph import Graph
from ..parallel import side_by_side
from ..partitioner.rounds import GRAIN, Team
from .groups import cell_array
from .polyhedra import Polyhedra
from .value import Mesh

if TYPE_CHECKING:
    from ..kernels.mesh_dual import Corners

MOST_NEIGHBOURS = 50
"""Neighbours across a facet on average; a mesh of volumes has one, shells that meet in an edge a few."""

#: Each piece of the cells counts its facets at all nodes.
_MOST_PIECES = 8


class Facets(NamedTuple):
    """All facets of all cells, each as often as cells have it."""

    owner: NDArray[np.int32]
    """(nfacets,) cell."""
    local: NDArray[np.int32]
    """(nfacets,) number of the facet in its cell; for polyhedra that of the face."""
    alone: NDArray[np.bool_]
    """(nfacets,) no other cell has this facet: it is on the boundary."""


def all_facets(mesh: Mesh, among: NDArray[np.bool_] | None = None) -> Facets:
    """Facets of `mesh` and which of them are on the boundary; linear in the number of cells.

    Parameters
    ----------
    mesh : Mesh
    among : (npoints,) bool, optional
        Only facets whose corners are all among these nodes are asked for; some others may be there, too, and then
        nothing is known of what is `alone`. Polyhedra have all.
    """
    from ..kernels.mesh_dual import ALONE, NO_FACET

    if mesh.polyhedra is not None:
        return _faces(mesh.polyhedra)
    corners, cells = _corners(mesh), None
    if among is not None:
        # all cells at such a facet have its corners
        near = [among[nodes[:, :shape.ncorners]].sum(axis=1) >= mesh.dimension for shape, nodes in mesh.shapes()]
        cells = np.flatnonzero(np.concatenate(near))
        corners = corners._replace(at=corners.at[cells], row=corners.row[cells],
                                   facet=_ends(np.diff(corners.facet)[cells]))
    across, _ = _matched(mesh, corners, 1)
    there = np.flatnonzero(across != NO_FACET)
    owner, local = _places(corners, there)
    return Facets(owner if cells is None else cells[owner].astype(VERTEX), local, across[there] == ALONE)


def _faces(solid: Polyhedra) -> Facets:
    """The faces of polyhedra: those of owners first, then those inside once more, of neighbours."""
    inner = np.flatnonzero(solid.neighbour >= 0)
    owner = np.concatenate([solid.owner, solid.neighbour[inner]]).astype(VERTEX)
    local = np.concatenate([np.arange(solid.nfaces), inner]).astype(VERTEX)
    return Facets(owner, local, solid.neighbour[local] < 0)


def _corners(mesh: Mesh) -> Corners:
    """The cells as kernels see them."""
    from ..kernels.mesh_dual import Corners

    if mesh.ncells >= 2**31:
        raise MeshError(f"mesh {mesh.name!r}: {mesh.ncells} cells, at most {2**31 - 1} are supported")
    shapes = mesh.shapes()
    count = [len(cells) for _, cells in shapes]
    nodes = [cells.reshape(-1) for _, cells in shapes]
    at = _begins([cells.shape[1] for _, cells in shapes], count)[:-1]
    facet = _begins([len(shape.facets) for shape, _ in shapes], count)
    if facet[-1] >= 2**31:
        raise MeshError(f"mesh {mesh.name!r}: {facet[-1]} facets, at most {2**31 - 1} are supported")
    first = _ends([len(shape.facets) for shape, _ in shapes])[:-1]
    # a single block is not copied
    return Corners(arrays.frozen(nodes[0] if len(nodes) == 1 else np.concatenate(nodes)), at, facet,
                   np.repeat(first, count).astype(VERTEX), np.concatenate([shape.facets for shape, _ in shapes]))


def _ends(sizes: ArrayLike) -> NDArray[np.int64]:
    """Where pieces of these sizes begin, and the last one ends."""
    return np.concatenate([[0], np.cumsum(sizes)])


def _begins(sizes: list[int], count: list[int]) -> NDArray[np.int64]:
    """The same for so many pieces of each size: large arrays, written once."""
    out = np.zeros(sum(count) + 1, np.int64)
    upto = 0
    for size, many in zip(sizes, count, strict=True):
        first, upto = upto, upto + many
        out[first + 1:upto + 1] = out[first] + size * np.arange(1, many + 1)
    return out


def _places(corners: Corners, facets: NDArray[np.int64]) -> tuple[NDArray[np.int32], NDArray[np.int32]]:
    """Cell, and number in the cell, of some facets."""
    owner = np.searchsorted(corners.facet, facets, "right") - 1
    return owner.astype(VERTEX), (facets - corners.facet[owner]).astype(VERTEX)


def _matched(mesh: Mesh, corners: Corners, threads: int, most: int | None = None
             ) -> tuple[NDArray[np.int32], NDArray[np.int32]]:
    """What is across each facet; where that are several cells, the (2, npairs) cells that meet there.

    The pairs are listed where there may be `most` of them.

    Raises
    ------
    MeshError
        There are more.
    """
    from ..kernels.mesh_dual import NO_FACET, list_facets, match_facets

    # a facet of a cell of dimension d has at least d distinct corners, unless it has collapsed
    n, least = len(corners.at), mesh.dimension
    pieces = max(1, min(threads, _MOST_PIECES, n // GRAIN))
    cuts = [i * n // pieces for i in range(pieces + 1)]
    place = np.zeros((pieces, mesh.npoints), VERTEX)

    def facets(cell: NDArray[np.int32], local: NDArray[np.int32]) -> None:
        side_by_side([partial(list_facets, lo, hi, corners, least, mine, cell, local)
                      for lo, hi, mine in zip(cuts, cuts[1:], place, strict=False)], threads)

    facets(*np.empty((2, 0), VERTEX))
    start = _ends(place.sum(axis=0)).astype(VERTEX)
    # those of a node stand piece by piece
    place[:] = np.cumsum(place, axis=0, dtype=VERTEX) - place + start[:-1]
    cell, local = np.empty((2, start[-1]), VERTEX)
    facets(cell, local)
    across = np.empty(corners.facet[-1], VERTEX)
    side_by_side([partial(part.fill, NO_FACET) for part in np.array_split(across, pieces)], threads)
    longest = int(np.diff(start).max())
    slots = 1 << (2 * longest).bit_length()

    def match(lo: int, hi: int, pairs: NDArray[np.int32]) -> int:
        return int(match_facets(lo, hi, corners, start, cell, local, across, pairs, np.empty((longest, 3), np.int64),
                                np.empty((3, longest), VERTEX), np.empty(slots, VERTEX)))

    none = np.empty((2, 0), VERTEX)
    ends = np.searchsorted(start, np.arange(1, pieces) * int(start[-1]) // pieces)
    ranges = [0, *ends.tolist(), mesh.npoints]
    count = sum(side_by_side([partial(match, lo, hi, none) for lo, hi in itertools.pairwise(ranges)], threads))
    if most is None or count == 0:
        return across, none
    if count > most:
        raise MeshError(f"mesh {mesh.name!r}: so many cells share a facet that the graph would have more than "
                        f"{MOST_NEIGHBOURS} neighbours per facet; perhaps cells are listed again and again")
    pairs = np.empty((2, count), VERTEX)
    return across, pairs[:, :match(0, mesh.npoints, pairs)]


#: Cell and number in it of the facets on the boundary, of meshes that have a graph: the search for interfaces is next.
_BOUNDARY: WeakKeyDictionary[Mesh, tuple[NDArray[np.int32], NDArray[np.int32]]] = WeakKeyDictionary()


def boundary_facets(mesh: Mesh) -> tuple[NDArray[np.int32], NDArray[np.int32]]:
    """Cell, and number in the cell, of each facet that no other cell has; looked for once per mesh."""
    if mesh not in _BOUNDARY:
        facets = all_facets(mesh)
        _keep_boundary(mesh, facets.owner[facets.alone], facets.local[facets.alone])
    return _BOUNDARY[mesh]


def called(mesh: Mesh, name: str) -> Mesh:
    """The same mesh by another name; nothing of it is copied or worked out again.

    Parameters
    ----------
    mesh : Mesh
    name : str
        What messages call it.
    """
    if mesh.name == name:
        return mesh
    other = object.__new__(Mesh)
    other.__dict__.update(mesh.__dict__, name=name)
    if mesh in _BOUNDARY:
        _BOUNDARY[other] = _BOUNDARY[mesh]
    return other


def _keep_boundary(mesh: Mesh, owner: NDArray[np.int32], local: NDArray[np.int32]) -> None:
    _BOUNDARY[mesh] = arrays.frozen(owner), arrays.frozen(local)


def dual_graph(mesh: Mesh, load: Any = None, threads: int = 1) -> Graph:
    """The graph of cells joined by shared facets.

    Two cells are neighbours when a face (3D), an edge (2D) or a point (1D) of
    both has the same corner nodes.  Where more than two cells meet in one facet,
    each pair of them is joined; two cells that share several facets are joined once.

    Parameters
    ----------
    mesh : Mesh
    load : str or (ncells,) array_like of int, optional
        Load of each cell: the name of a cell array of `mesh`, or the numbers. 1 where not given.
    threads : int
        The graph is the same on any number of them.

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
    vwgt = None if load is None else cell_loads(mesh, load)
    xadj, adjncy = _rows(mesh, threads) if mesh.polyhedra is None else _rows_of_polyhedra(mesh, mesh.polyhedra)
    if len(adjncy) == 0 and mesh.ncells > 1:
        raise MeshError(f"mesh {mesh.name!r}: no two of its {mesh.ncells} cells share a facet; "
                        f"perhaps each cell has its own copies of the points: merge coincident points first")
    coords = mesh.centres(threads=threads)
    if mesh.dimension < 3 and not coords[:, 2].any():
        coords = coords[:, :2]
    return Graph(arrays.frozen(xadj), arrays.frozen(adjncy), vwgt=vwgt, coords=arrays.frozen(coords), threads=threads)


def _rows(mesh: Mesh, threads: int) -> tuple[NDArray[np.int64], NDArray[np.int32]]:
    """Neighbours of each cell; the boundary is kept on the way."""
    from ..kernels.mesh_dual import ALONE, fill_rows, sort_across

    corners = _corners(mesh)
    across, pairs = _matched(mesh, corners, threads, MOST_NEIGHBOURS * int(corners.facet[-1]) + 1_000_000)
    _keep_boundary(mesh, *_places(corners, np.flatnonzero(across == ALONE)))
    if pairs.shape[1]:
        met = np.flatnonzero(across >= 0)
        return _rows_of_pairs(mesh.ncells, np.concatenate([_places(corners, met)[0], pairs[0]]),
                              np.concatenate([across[met], pairs[1]]))
    xadj = np.zeros(mesh.ncells + 1, OFFSET)
    with Team(threads) as team:
        team.run(sort_across, mesh.ncells, corners.facet, across, xadj[1:])
        np.cumsum(xadj, out=xadj)
        adjncy = np.empty(xadj[-1], VERTEX)
        team.run(fill_rows, mesh.ncells, corners.facet, across, xadj, adjncy)
    return xadj, adjncy


def _rows_of_polyhedra(mesh: Mesh, solid: Polyhedra) -> tuple[NDArray[np.int64], NDArray[np.int32]]:
    """The same of cells that are known by their faces."""
    outer, inner = np.flatnonzero(solid.neighbour < 0), np.flatnonzero(solid.neighbour >= 0)
    _keep_boundary(mesh, solid.owner[outer].astype(VERTEX), outer.astype(VERTEX))
    a, b = solid.owner[inner], solid.neighbour[inner]
    return _rows_of_pairs(mesh.ncells, np.concatenate([a, b]), np.concatenate([b, a]))


def _rows_of_pairs(n: int, a: NDArray[Any], b: NDArray[Any]) -> tuple[NDArray[np.int64], NDArray[np.int32]]:
    """Every b of each a, ascending and once."""
    from scipy.sparse import coo_array

    matrix = coo_array((np.ones(len(a), bool), (a, b)), shape=(n, n)).tocsr()
    return matrix.indptr.astype(OFFSET), matrix.indices.astype(VERTEX)


def cell_loads(mesh: Mesh, given: Any) -> NDArray[np.int64]:
    """(ncells,) int64 loads from a cell array of `mesh`, by name, or from numbers."""
    if isinstance(given, str):
        return arrays.weights(f"cell array {given!r}", cell_array(mesh, given, "load"), mesh.ncells, MeshError)
    return arrays.weights("load", given, mesh.ncells, MeshError)
