"""VTKHDF files: unstructured grids and surfaces, in one piece or several, which are joined as those of VTU files."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ...errors import FormatError, MeshError
from ...formats.vtu import DUPLICATE, GHOST
from ..polyhedra import Ints, spans
from ..value import Mesh
from ..vtk_cells import blocks_of_types
from .hdf5 import read_hdf5
from .same_places import without_twins

_SURFACE = (("Vertices", 1), ("Lines", 3), ("Polygons", 7), ("Strips", 0))
"""Kinds of cells of surfaces, in the order of their values, with the type of VTK that stands for them."""


def read_vtkhdf(path: Path) -> Mesh:
    """Read a VTKHDF file; of a series in time the first state.

    Raises
    ------
    FormatError
        The package h5py is missing, or the file is not a usable mesh.
    """
    return read_hdf5(path, "VTKHDF", lambda data: _mesh(path, data))


def _mesh(path: Path, data: Any) -> Mesh:
    """The whole mesh."""
    if "VTKHDF" not in data:
        raise FormatError(path, "has no group VTKHDF")
    root = data["VTKHDF"]
    said = root.attrs.get("Type", b"")
    kind = said.decode("latin-1") if isinstance(said, bytes) else str(said)
    if kind not in ("UnstructuredGrid", "PolyData"):
        raise FormatError(path, f"is VTKHDF of type {kind!r:.40}, only UnstructuredGrid and PolyData are read; "
                                f"ParaView's filters Merge Blocks or Append Datasets make an unstructured grid")
    pieces = len(root["NumberOfPoints"])
    remarks = []
    if "Steps" in root:
        parts = _numbers(root["Steps/NumberOfParts"]) if "NumberOfParts" in root["Steps"] else np.array([pieces])
        pieces = int(parts[0])
        if len(parts) > 1:
            remarks.append(f"{len(parts) - 1} later states are left out")
    groups = [(root, 0)] if kind == "UnstructuredGrid" else [(root[name], code) for name, code in _SURFACE
                                                              if name in root]
    npoints = _numbers(root["NumberOfPoints"])[:pieces]
    starts, nodes, types, counts = [np.zeros(1, np.int64)], [np.zeros(0, np.int64)], [], []
    for group, stands in groups:
        start, listed = _cells(group, npoints)
        counts.append(_numbers(group["NumberOfCells"])[:pieces])
        if not stands and kind == "PolyData" and len(start) > 1:
            raise FormatError(path, "has strips of triangles, which are not read; ParaView's filter Triangulate makes "
                                    "triangles of them")
        types.append(_numbers(root["Types"])[:len(start) - 1] if kind == "UnstructuredGrid"
                     else np.full(len(start) - 1, stands))
        starts.append(start[1:] + sum(len(n) for n in nodes))
        nodes.append(listed)
    code, start, flat = np.concatenate(types), np.concatenate(starts), np.concatenate(nodes)
    if len(code) != len(start) - 1:
        raise MeshError(f"cells: {len(start) - 1} cells, but {len(code)} types")
    # polygons of three and four corners
    size = np.diff(start)
    code = np.where((code == 7) & (size == 3), 5, np.where((code == 7) & (size == 4), 9, code))
    order = _order(np.array(counts))
    values = {str(name): np.asarray(item[()])[order] for name, item in root.get("CellData", {}).items()}
    lost = [str(name) for name in root.get("PointData", {})]
    if lost:
        remarks.append(f"arrays on points are left out: {', '.join(lost)}")
    points = np.asarray(root["Points"][:int(npoints.sum())], np.float64)
    if pieces > 1:
        points, same = without_twins(points, np.repeat(np.arange(pieces), npoints))
        flat = same[flat]
        ghost = values.pop(GHOST, None)
        if ghost is not None:
            own = ghost & DUPLICATE == 0
            code, values = code[own], {name: array[own] for name, array in values.items()}
            flat, start = flat[np.repeat(own, size)], np.append(0, np.cumsum(size[own]))
    return Mesh(points, blocks_of_types(code, start, flat), values, path.stem, remarks=remarks)


def _order(counts: Ints) -> Ints:
    """Where the values of cells stand that are listed by kind and then by piece; values are by piece and then by kind.

    `counts` (nkinds, npieces) are the numbers of cells.

    >>> _order(np.array([[2, 1], [1, 1]])).tolist()
    [0, 1, 3, 2, 4]
    """
    by_piece = counts.T.ravel()
    begins = (np.cumsum(by_piece) - by_piece).reshape(counts.T.shape).T.ravel()
    return spans(begins, counts.ravel())


def _cells(group: Any, npoints: Ints) -> tuple[Ints, Ints]:
    """Offsets and nodes of the cells of all pieces, which have so many points."""
    first = np.cumsum(npoints) - npoints
    ncells, nids = (_numbers(group[name])[:len(first)] for name in ("NumberOfCells", "NumberOfConnectivityIds"))
    if not ncells.any():
        return np.zeros(1, np.int64), np.zeros(0, np.int64)
    offsets, flat = _numbers(group["Offsets"]), _numbers(group["Connectivity"])
    if len(ncells) != len(first) or len(nids) != len(first) or (ncells < 0).any() or (nids < 0).any() \
            or int(nids.sum()) > len(flat) or int(ncells.sum()) + len(first) > len(offsets):
        raise MeshError("pieces: the numbers of cells and nodes do not fit the arrays Offsets and Connectivity")
    starts, nodes, at, begin = [np.zeros(1, np.int64)], [], 0, 0
    for n, size, point, most in zip(*(x.tolist() for x in (ncells, nids, first, npoints)), strict=True):
        own = offsets[at:at + n + 1]
        if own[0] != 0 or own[-1] != size or (np.diff(own) < 1).any():
            raise MeshError(f"cells: Offsets of a piece must rise from 0 to its {size} entries of Connectivity")
        starts.append(own[1:] + begin)
        mine = flat[begin:begin + size]
        if size and not 0 <= mine.min() <= mine.max() < most:
            raise MeshError(f"cells point outside the {most} points of their piece")
        nodes.append(mine + point)
        at, begin = at + n + 1, begin + size
    return np.concatenate(starts), np.concatenate(nodes)


def _numbers(item: Any) -> NDArray[np.int64]:
    values = np.asarray(item[()]).ravel()
    if values.dtype.kind not in "iu":
        raise TypeError(f"{item.name}: needs whole numbers, has {values.dtype}")
    return values.astype(np.int64)


__all__ = ["read_vtkhdf"]
