"""Gmsh meshes with partition tags, in the format MSH 2.2 that every reader of gmsh files knows.

MSH 4.1 groups elements by partitioned entity and loses their order; in 2.2 the
parts are tags of the element lines, so that the cells keep order and number:
element i + 1 is cell i.  The facets of named boundaries follow, tagged with the
part of their cell.  gmsh counts parts from 1.  (Gmsh reference manual, MSH file
format version 2.)
"""

from __future__ import annotations

import os
from collections.abc import Iterator, Mapping

import numpy as np
from numpy.typing import ArrayLike, NDArray

from ...arrays import VERTEX, integers
from ...errors import MeshError
from ...formats.output import write_text_atomic
from ..value import Mesh

#: Gmsh's numbers of the cell types.
_TYPES = {"line": 1, "triangle": 2, "quad": 3, "tetra": 4, "hexahedron": 5, "wedge": 6, "pyramid": 7, "line3": 8,
          "triangle6": 9, "quad9": 10, "tetra10": 11, "quad8": 16, "hexahedron20": 17, "wedge15": 18, "pyramid13": 19}
#: Edges whose middles second-order cells list after their corners: VTK's order, then gmsh's.
_EDGES = {
    "tetra10": ("01 12 20 03 13 23", "01 12 20 03 23 13"),
    "hexahedron20": ("01 12 23 30 45 56 67 74 04 15 26 37", "01 03 04 12 15 23 26 37 45 47 56 67"),
    "wedge15": ("01 12 20 34 45 53 03 14 25", "01 02 03 12 14 25 34 35 45"),
    "pyramid13": ("01 12 23 30 04 14 24 34", "01 03 04 12 14 23 24 34"),
}
_FACETS = {(1, 2): "line", (2, 3): "triangle", (2, 4): "quad"}
_ROWS = 50_000


def gmsh_holds(mesh: Mesh) -> bool:
    """Whether gmsh knows all types of cells of `mesh`, as far as they can be written."""
    return mesh.polyhedra is None and all(name in _TYPES for name, _ in mesh.blocks)


def write_gmsh(path: str | os.PathLike[str], mesh: Mesh, part: ArrayLike) -> None:
    """Write `mesh` with the part of each cell as its partition tag, atomically.

    Physical groups are the cell groups and the facet groups; of a cell in several groups the first counts.

    Parameters
    ----------
    path : path-like
        Ends in ``.msh``.
    mesh : Mesh
    part : (ncells,) array_like of int

    Raises
    ------
    MeshError
        Gmsh has no such cells, a part number is negative, or `part` has another length.
    FormatError
        The file cannot be written.
    """
    numbers = integers("part", part, VERTEX, MeshError, low=0, high=2**31 - 1, size=mesh.ncells)
    write_text_atomic(path, "".join(_text(mesh, numbers)))


def _text(mesh: Mesh, part: NDArray[np.int32]) -> Iterator[str]:
    if mesh.polyhedra is not None:
        raise MeshError(f"mesh {mesh.name!r}: gmsh has no polyhedra")
    unknown = [name for name, _ in mesh.blocks if name not in _TYPES]
    if unknown:
        raise MeshError(f"cells {unknown[0]}: cannot be written for gmsh")
    cell_tags = _numbers(mesh.cell_groups)
    facets = {name: rows for name, rows in mesh.facet_groups.items() if mesh.dimension > 1}
    facet_tags = _numbers(facets)
    named = [(mesh.dimension - 1, tag, name) for name, tag in facet_tags.items() if not name.isdecimal()]
    named += [(mesh.dimension, tag, name) for name, tag in cell_tags.items() if not name.isdecimal()]
    yield "$MeshFormat\n2.2 0 8\n$EndMeshFormat\n"
    if named:
        lines = "".join(f"{dimension} {tag} {_quoted(name)}\n" for dimension, tag, name in named)
        yield f"$PhysicalNames\n{len(named)}\n{lines}$EndPhysicalNames\n"
    yield f"$Nodes\n{mesh.npoints}\n"
    for first in range(0, mesh.npoints, _ROWS):
        rows = np.column_stack([np.arange(first, min(first + _ROWS, mesh.npoints)) + 1.0,
                                mesh.points[first:first + _ROWS]])
        yield ("%d %.17g %.17g %.17g\n" * len(rows)) % tuple(rows.ravel().tolist())
    yield "$EndNodes\n"
    bounds = list(_boundary(mesh, facets, facet_tags, part))
    yield f"$Elements\n{mesh.ncells + sum(len(rows) for rows in bounds)}\n"
    physical, entity = _regions(mesh, cell_tags)
    at = 0
    for name, cells in mesh.blocks:
        here = slice(at, at + len(cells))
        yield from _lines(at, np.column_stack([
            np.full(len(cells), _TYPES[name]), np.full(len(cells), 4), physical[here], entity[here],
            np.ones(len(cells), np.int64), part[here] + 1, _in_gmsh_order(name, cells) + 1]))
        at += len(cells)
    for rows in bounds:
        yield from _lines(at, rows)
        at += len(rows)
    yield "$EndElements\n"


def _quoted(name: str) -> str:
    """A name in the quotation marks that it may not hold itself."""
    return '"' + " ".join(name.replace('"', "'").split()) + '"'


def _lines(first: int, rows: NDArray[np.int64]) -> Iterator[str]:
    """Element lines, numbered from `first` + 1."""
    row = "%d " + " ".join(["%d"] * rows.shape[1]) + "\n"
    for at in range(0, len(rows), _ROWS):
        some = rows[at:at + _ROWS]
        numbered = np.column_stack([np.arange(len(some)) + first + at + 1, some])
        yield (row * len(some)) % tuple(numbered.ravel().tolist())


def _numbers(groups: Mapping[str, NDArray[np.int64]]) -> dict[str, int]:
    """A number for each group: its name where that is one, as where the file has no name for it, else a free one."""
    out = {name: int(name) for name in groups if name.isdecimal() and 0 < int(name) < 2**31}
    free = iter(sorted(set(range(1, len(groups) + len(out) + 1)) - set(out.values())))
    return {name: out[name] if name in out else next(free) for name in groups}


def _regions(mesh: Mesh, tags: Mapping[str, int]) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
    """Physical and elementary number of each cell; cells of one elementary number have one physical number."""
    physical = np.zeros(mesh.ncells, np.int64)
    for name in reversed(list(mesh.cell_groups)):
        physical[mesh.cell_groups[name]] = tags[name]
    entity = np.asarray(mesh.cell_data.get("gmsh:geometrical", np.zeros(mesh.ncells)))
    if entity.shape != (mesh.ncells,) or entity.dtype.kind not in "iu":
        entity = np.zeros(mesh.ncells, np.int64)
    number = np.unique(np.column_stack([entity, physical]), axis=0, return_inverse=True)[1].reshape(-1) + 1
    # the file's own numbers where each of them stands for one region
    same = len(np.unique(entity)) == number.max() and entity.min() > 0
    return physical, entity.astype(np.int64) if same else number.astype(np.int64)


def _boundary(mesh: Mesh, groups: Mapping[str, NDArray[np.int64]], tags: Mapping[str, int],
              part: NDArray[np.int32]) -> Iterator[NDArray[np.int64]]:
    """Element rows, without their numbers, of the facets of each group."""
    for entity, (name, facets) in enumerate(groups.items(), start=1):
        cell = _cell_of(mesh, facets)
        size = (facets >= 0).sum(axis=1)
        for width in np.unique(size).tolist():
            if (mesh.dimension - 1, width) not in _FACETS:
                continue
            mine = np.flatnonzero(size == width)
            kind = np.full(len(mine), _TYPES[_FACETS[mesh.dimension - 1, width]])
            head = [kind, np.full(len(mine), 4), np.full(len(mine), tags[name]), np.full(len(mine), entity),
                    np.ones(len(mine), np.int64), part[cell[mine]] + 1]
            yield np.column_stack([*head, facets[mine, :width] + 1])


def _cell_of(mesh: Mesh, facets: NDArray[np.int64]) -> NDArray[np.int64]:
    """(n,) the smallest cell that has all corners of each facet; 0 where none has."""
    from scipy.sparse import csr_array

    start, nodes = mesh.corners
    size = (facets >= 0).sum(axis=1)
    row = np.repeat(np.arange(len(facets)), size)
    mine = csr_array((np.ones(len(row), np.int32), (row, facets[facets >= 0])), shape=(len(facets), mesh.npoints))
    cells = csr_array((np.ones(len(nodes), np.int32), nodes, start), shape=(mesh.ncells, mesh.npoints))
    shared = (mine @ cells.T).tocoo()
    whole = shared.data == size[shared.row]
    out = np.full(len(facets), mesh.ncells, np.int64)
    np.minimum.at(out, shared.row[whole], shared.col[whole])
    return np.where(out < mesh.ncells, out, 0)


def _in_gmsh_order(name: str, cells: NDArray[np.int64]) -> NDArray[np.int64]:
    """The nodes of each cell in gmsh's order."""
    if name not in _EDGES:
        return cells
    ours, theirs = ([frozenset(edge) for edge in text.split()] for text in _EDGES[name])
    corners = cells.shape[1] - len(ours)
    return cells[:, [*range(corners), *(corners + ours.index(edge) for edge in theirs)]]


__all__ = ["gmsh_holds", "write_gmsh"]
