"""A mesh cut into the files of its parts: PVTU pieces with ghosts, and the pieces of preCICE's ASTE.

**PVTU.** Each part's file holds its own cells, in their order, and after them one
layer of ghosts, the cells of other parts that share a point with them.
``GlobalCellIds`` and ``GlobalPointIds`` are numbers in the whole mesh,
``vtkGhostType`` is 1 on what another part owns; a point belongs to the smallest
part with a cell at it.

**ASTE** replays the data mapping of a coupled run without the solvers.  Its
pieces hold the coupling surface alone: every point once, with the part that has
most facets at it, and the facets whose points are all there; the recovery file
has the facets in between.  (preCICE, tooling: ASTE.)
"""

from __future__ import annotations

import os
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from ...arrays import part_array, whole
from ...errors import MeshError
from ...formats.output import write_json
from ...formats.vtu import CELL_IDS, GHOST, POINT_IDS, Grid, write_grid, write_pvtu
from ..interfaces.surface import offered_facets
from ..polyhedra import grouped, spans
from ..value import Mesh
from .vtu import cell_arrays, vtk_grid

_FACET_TYPES = {2: 3, 3: 5, 4: 9}
"""VTK's line, triangle and quadrilateral, by their number of nodes."""


def write_pieces(path: str | os.PathLike[str], mesh: Mesh, part: ArrayLike, nparts: int,
                 cell_data: Mapping[str, Any] | None = None) -> list[str]:
    """Write one VTU file per part, and the PVTU file that lists them.

    Parameters
    ----------
    path : path-like
        ``NAME.pvtu``; the pieces are ``NAME/NAME_0.vtu`` and so on beside it.
    mesh : Mesh
    part : (ncells,) array_like of int
        ``0..nparts-1``.
    nparts : int
    cell_data : mapping of str to (ncells,) array, optional
        More cell arrays; those of the mesh are written in any case.

    Returns
    -------
    list of str
        The files relative to the folder of `path`, the PVTU file first.

    Raises
    ------
    MeshError
        A part number is out of range, or `part` has another length.
    """
    path, nparts = Path(path), whole("nparts", nparts, low=1)
    part = part_array("part", part, mesh.ncells, nparts, MeshError)
    grid, arrays = vtk_grid(mesh), cell_arrays(mesh, cell_data)
    name = path.name.removesuffix(".pvtu")
    own_start, own = grouped(part.astype(np.int64), np.arange(mesh.ncells), nparts)
    start, nodes = mesh.corners
    at_start, at = grouped(nodes, np.repeat(np.arange(mesh.ncells), np.diff(start)), mesh.npoints)
    owner = np.full(mesh.npoints, nparts, np.int64)
    np.minimum.at(owner, grid.nodes, np.repeat(part, np.diff(grid.start)))
    pieces = [f"{name}/{name}_{p}.vtu" for p in range(nparts)]
    cells: dict[str, NDArray[Any]] = {}
    points: dict[str, NDArray[Any]] = {}
    for p, file in enumerate(pieces):
        mine = own[own_start[p]:own_start[p + 1]]
        touched = np.unique(nodes[spans(start[mine], np.diff(start)[mine])])
        near = np.unique(at[spans(at_start[touched], np.diff(at_start)[touched])])
        here = np.concatenate([mine, near[part[near] != p]])
        piece, used = grid.taken(here)
        cells = {**{key: values[here] for key, values in arrays.items()}, CELL_IDS: here,
                 GHOST: (part[here] != p).astype(np.uint8)}
        points = {POINT_IDS: used, GHOST: (owner[used] != p).astype(np.uint8)}
        write_grid(path.parent / file, piece, cells, points)
    write_pvtu(path, pieces, cells, points)
    return [path.name, *pieces]


# ---- ASTE
def write_aste(folder: str | os.PathLike[str], name: str, mesh: Mesh, part: ArrayLike, nparts: int,
               coupled: NDArray[np.int32], others: Sequence[Mesh],
               search: Mapping[str, Any] | None = None) -> list[str]:
    """Write the coupling surface of a mesh in pieces for preCICE's ASTE.

    Parameters
    ----------
    folder : path-like
    name : str
        Prefix of the files: ``name.vtu`` (the whole surface, for a serial run), ``name_RANK.vtu``,
        ``name_recovery.json``.
    mesh : Mesh
    part : (ncells,) array_like of int
        ``0..nparts-1``.
    nparts : int
    coupled : (n,) int32
        The coupled cells.
    others : sequence of Mesh
        The meshes on the other side.
    search : mapping, optional
        See :func:`coupling_surface`.

    Returns
    -------
    list of str
        The files relative to `folder`.

    Raises
    ------
    MeshError
        There are no facets to couple through, a part number is out of range, or `part` has another length.
    """
    folder, nparts = Path(folder), whole("nparts", nparts, low=1)
    part = part_array("part", part, mesh.ncells, nparts, MeshError)
    owner, facets = triangulated(*coupling_surface(mesh, coupled, others, search))
    used = np.unique(facets[facets >= 0])
    local = np.where(facets >= 0, np.searchsorted(used, facets), -1)
    size = (local >= 0).sum(axis=1)
    types = np.array([_FACET_TYPES[w] for w in range(2, 5)], np.uint8)[size - 2]
    surface = Grid(mesh.points[used], np.concatenate([[0], np.cumsum(size)]), local[local >= 0], types)
    mine = part[owner].astype(np.int64)
    of_point = _most_frequent(surface.nodes, np.repeat(mine, size), len(used))
    low = np.minimum.reduceat(of_point[surface.nodes], surface.start[:-1])
    high = np.maximum.reduceat(of_point[surface.nodes], surface.start[:-1])
    inside = np.where(low == high, low, -1)
    files = [f"{name}.vtu", *(f"{name}_{p}.vtu" for p in range(nparts)), f"{name}_recovery.json"]
    ids = np.arange(len(used), dtype=np.float64)
    write_grid(folder / files[0], surface, {"part": mine.astype(np.int32), CELL_IDS: owner.astype(np.int64)},
               {"GlobalIDs": ids, POINT_IDS: used, "part": of_point.astype(np.int32)})
    for p in range(nparts):
        points = np.flatnonzero(of_point == p)
        rows = np.flatnonzero(inside == p)
        new = np.searchsorted(points, local[rows][local[rows] >= 0])
        piece = Grid(surface.points[points], np.concatenate([[0], np.cumsum(size[rows])]), new, types[rows])
        write_grid(folder / files[1 + p], piece, {}, {"GlobalIDs": ids[points]})
    between = np.flatnonzero(inside < 0)
    write_json(folder / files[-1], {"size": len(used), "cells": [row[row >= 0].tolist() for row in local[between]],
                                    "cell_types": types[between].tolist()})
    return files


def coupling_surface(mesh: Mesh, coupled: NDArray[np.int32], others: Sequence[Mesh],
                     search: Mapping[str, Any] | None = None) -> tuple[NDArray[np.int32], NDArray[np.int64]]:
    """The facets through which `mesh` is coupled with `others`.

    The facets of the coupled cells that lie on a surface of one of the others, or on the named interface; where
    the surfaces do not lie on one another, all that the coupled cells offer.  A shell on a body, a mesh of lower
    dimension than all others with coupled cells away from its rim, is coupled through its cells.

    Parameters
    ----------
    mesh : Mesh
    coupled : (n,) int32
        The coupled cells.
    others : sequence of Mesh
    search : mapping, optional
        Tolerance or gap with which facets were found to couple the cells; every cell then has a facet in the result.

    Returns
    -------
    owner : (n,) int32
        Cell that each facet belongs to.
    nodes : (n, w) int64
        Its corners in cyclic order, padded with -1.

    Raises
    ------
    MeshError
        No coupled cell has a facet on the boundary.
    """
    owner, facets = offered_facets(mesh)
    if others and mesh.dimension < min(other.dimension for other in others) and not np.isin(coupled, owner).all():
        start, nodes = mesh.corners
        size = np.diff(start)[coupled]
        out = np.full((len(coupled), int(size.max(initial=0))), -1, np.int64)
        out[np.arange(out.shape[1]) < size[:, None]] = nodes[spans(start[coupled], size)]
        return coupled, out
    keep = np.isin(owner, coupled)
    owner, facets = owner[keep], facets[keep]
    if len(owner) == 0 or mesh.dimension == 1:
        raise MeshError(f"mesh {mesh.name!r}: no coupled cell has a facet on the boundary, "
                        f"so there is no coupling surface to write for ASTE")
    if mesh.interface is None:
        met = _on_others(mesh, facets, others, search or {})
        if search is not None:
            # what meets a copy of the other mesh, say
            met |= ~np.isin(owner, owner[met])
        if met.any():
            return owner[met], facets[met]
    return owner, facets


def _on_others(mesh: Mesh, facets: NDArray[np.int64], others: Sequence[Mesh],
               search: Mapping[str, Any]) -> NDArray[np.bool_]:
    """Which facets lie on a surface of another mesh."""
    from ..interfaces.interface import find_interedges

    size = (facets >= 0).sum(axis=1)
    widths = np.unique(size)
    order = np.concatenate([np.flatnonzero(size == w) for w in widths])
    kinds = {2: "line", 3: "triangle", 4: "quad"}
    skin = Mesh(mesh.points, [(kinds.get(w, f"polygon{w}"), facets[size == w][:, :w]) for w in widths.tolist()])
    met = np.zeros(len(facets), bool)
    for other in others:
        if other.dimension != mesh.dimension:
            continue
        try:
            met[order[find_interedges(skin, other, "facet", **search).coupled_a]] = True
        except MeshError:
            continue  # this one is met at points only, or not at all
    return met


def triangulated(owner: NDArray[np.int32],
                 facets: NDArray[np.int64]) -> tuple[NDArray[np.int32], NDArray[np.int64]]:
    """Facets of more than four corners cut into triangles from their first corner; the others as they are."""
    size = (facets >= 0).sum(axis=1)
    if facets.shape[1] <= 4:
        return owner, facets
    out = np.full((len(facets), facets.shape[1] - 2, 4), -1, np.int64)
    out[:, 0] = np.where((size <= 4)[:, None], facets[:, :4], -1)
    for k in range(facets.shape[1] - 2):
        cut = (size > 4) & (size > k + 2)
        out[cut, k, 0], out[cut, k, 1:3] = facets[cut, 0], facets[cut, k + 1:k + 3]
    there = out[:, :, 0] >= 0
    return np.repeat(owner, there.sum(axis=1)), out[there]


def _most_frequent(group: NDArray[np.int64], value: NDArray[np.int64], ngroups: int) -> NDArray[np.int64]:
    """(ngroups,) the value that stands most often in each group, the smallest of several."""
    width = int(value.max(initial=0)) + 1
    pair, count = np.unique(group * width + value, return_counts=True)
    of, what = np.divmod(pair, width)
    order = np.lexsort((what, -count, of))
    best = np.full(ngroups, -1, np.int64)
    first = order[np.unique(of[order], return_index=True)[1]]
    best[of[first]] = what[first]
    return best


__all__ = ["coupling_surface", "triangulated", "write_aste", "write_pieces"]
