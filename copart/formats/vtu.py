"""VTU files from plain arrays, and the PVTU file that lists the pieces of one mesh.

meshio writes most meshes; what it cannot write is a piece without cells,
polyhedra beside other cells, and ghosts, which is what solvers' pieces need.
Arrays are stored inside the XML, packed with zlib and in base64, the form that
every reader of VTU files takes.  (VTK file formats, XML unstructured grids.)
"""

from __future__ import annotations

import base64
import sys
import zlib
from collections.abc import Iterator, Mapping
from functools import partial
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import ArrayLike, NDArray

from ..errors import FormatError
from ..parallel import side_by_side
from .output import attribute, write_text_atomic
from .text import PathLike

GHOST = "vtkGhostType"
"""Name of the array that marks what another piece owns: 1 for a copy, 0 for one's own."""
DUPLICATE = 1
"""The bit of it that says so."""
POINT_IDS, CELL_IDS = "GlobalPointIds", "GlobalCellIds"
"""Names of the arrays with the numbers in the whole mesh."""
POLYHEDRON = 42
"""VTK's number of a cell that is given by its faces."""
_BLOCK = 1 << 20
_TYPES = {"i1": "Int8", "u1": "UInt8", "i2": "Int16", "u2": "UInt16", "i4": "Int32", "u4": "UInt32", "i8": "Int64",
          "u8": "UInt64", "f4": "Float32", "f8": "Float64"}
_HEAD = (f'version="1.0" byte_order="{"Little" if sys.byteorder == "little" else "Big"}Endian" header_type="UInt64" '
         f'compressor="vtkZLibDataCompressor"')


class Grid(NamedTuple):
    """Cells as VTK has them: nodes in one list, each cell with its type number."""

    points: NDArray[np.float64]
    """(npoints, 3)."""
    start: NDArray[np.int64]
    """(ncells + 1,) cell i has ``nodes[start[i]:start[i + 1]]``."""
    nodes: NDArray[np.int64]
    """Nodes of all cells, in VTK's order; of a polyhedron each once."""
    types: NDArray[np.uint8]
    """(ncells,) VTK's number of each cell's type."""
    faces: Faces | None = None
    """Where there are polyhedra."""

    def taken(self, cells: NDArray[np.int64]) -> tuple[Grid, NDArray[np.int64]]:
        """The grid of some cells, in the order given, and which points it keeps (ascending)."""
        start, nodes = _rows(self.start, self.nodes, cells)
        faces = None if self.faces is None else self.faces.taken(cells)
        used = np.unique(nodes)
        new = np.empty(len(self.points), np.int64)
        new[used] = np.arange(len(used))
        if faces is not None:
            faces = faces._replace(nodes=new[faces.nodes])
        return Grid(self.points[used], start, new[nodes], self.types[cells], faces), used


class Faces(NamedTuple):
    """The faces of polyhedra, each as often as cells have it."""

    first: NDArray[np.int64]
    """(ncells + 1,) cell i has the faces ``first[i]`` to ``first[i + 1]``; cells of other types have none."""
    start: NDArray[np.int64]
    """(nfaces + 1,) face f has ``nodes[start[f]:start[f + 1]]``, in cyclic order."""
    nodes: NDArray[np.int64]

    def taken(self, cells: NDArray[np.int64]) -> Faces:
        """The faces of some cells."""
        first, which = _rows(self.first, np.arange(len(self.start) - 1), cells)
        start, nodes = _rows(self.start, self.nodes, which)
        return Faces(first, start, nodes)

    def stream(self) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
        """VTK's form: for each polyhedron the number of faces, then each face's number of nodes and its nodes.

        Returns
        -------
        faces, offsets : int64 arrays
            Cell i's numbers end before ``offsets[i]``; -1 for cells of other types.
        """
        size, has = np.diff(self.start), np.diff(self.first) > 0
        cell_of = np.repeat(np.arange(len(has)), np.diff(self.first))
        # a cell's count stands before its first face, a face's count before its first node
        before = np.cumsum(has)[cell_of] + np.arange(len(size))
        at = self.start[:-1] + before
        out = np.empty(len(self.nodes) + len(size) + int(has.sum()), np.int64)
        out[at] = size
        out[np.arange(len(self.nodes)) + np.repeat(before + 1, size)] = self.nodes
        heads = self.first[:-1][has]
        out[at[heads] - 1] = np.diff(self.first)[has]
        ends = np.full(len(has), -1, np.int64)
        ends[has] = np.append(at[heads[1:]] - 1, len(out))
        return out, ends


def _rows(start: NDArray[np.int64], values: NDArray[np.int64],
          rows: NDArray[np.int64]) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
    """Some rows of a CSR structure."""
    size = np.diff(start)[rows]
    out = np.concatenate([[0], np.cumsum(size)])
    return out, values[np.repeat(start[rows] - out[:-1], size) + np.arange(out[-1])]


def write_grid(path: PathLike, grid: Grid, cell_data: Mapping[str, ArrayLike], point_data: Mapping[str, ArrayLike],
               field_data: Mapping[str, ArrayLike] | None = None, threads: int = 1) -> None:
    """Write one VTU file, atomically.

    Parameters
    ----------
    path : path-like
    grid : Grid
        May be empty.
    cell_data, point_data : mapping of str to (n, ...) array
        Whole numbers, booleans or floats; all but the first dimension are components.
    field_data : mapping of str to (n, ...) array, optional
        Arrays that belong to the whole file.
    threads : int
        With 2 or more, so many blocks are packed at once; the file is the same.

    Raises
    ------
    FormatError
        An array is of another kind, or the file cannot be written.
    """
    write_text_atomic(path, "".join(_grid_text(path, grid, cell_data, point_data, field_data or {}, threads)))


def _grid_text(path: PathLike, grid: Grid, cell_data: Mapping[str, ArrayLike], point_data: Mapping[str, ArrayLike],
               field_data: Mapping[str, ArrayLike], threads: int) -> Iterator[str]:
    def array(name: str, values: ArrayLike, more: str = "") -> str:
        return _array(path, name, np.asarray(values), threads, more)

    yield f'<?xml version="1.0"?>\n<VTKFile type="UnstructuredGrid" {_HEAD}>\n<UnstructuredGrid>\n'
    if field_data:
        yield "<FieldData>\n"
        for name, values in field_data.items():
            yield array(name, values, f' NumberOfTuples="{len(np.asarray(values))}"')
        yield "</FieldData>\n"
    yield f'<Piece NumberOfPoints="{len(grid.points)}" NumberOfCells="{len(grid.types)}">\n'
    for tag, ids, data in (("PointData", POINT_IDS, point_data), ("CellData", CELL_IDS, cell_data)):
        yield f"<{tag}{_global_ids(ids, data)}>\n"
        for name, values in data.items():
            yield array(name, values)
        yield f"</{tag}>\n"
    yield "<Points>\n" + array("Points", grid.points) + "</Points>\n<Cells>\n"
    yield array("connectivity", grid.nodes) + array("offsets", grid.start[1:])
    yield array("types", grid.types)
    if grid.faces is not None:
        faces, ends = grid.faces.stream()
        yield array("faces", faces) + array("faceoffsets", ends)
    yield "</Cells>\n</Piece>\n</UnstructuredGrid>\n</VTKFile>\n"


def write_pvtu(path: PathLike, pieces: list[str], cell_data: Mapping[str, ArrayLike],
               point_data: Mapping[str, ArrayLike]) -> None:
    """Write the PVTU file over some VTU files, atomically.

    Parameters
    ----------
    path : path-like
    pieces : list of str
        The files, as seen from the folder of `path`, with forward slashes.
    cell_data, point_data : mapping of str to array
        The arrays that every piece has; only their types and components count.
    """
    ghosts = int(GHOST in cell_data)
    out = [f'<?xml version="1.0"?>\n<VTKFile type="PUnstructuredGrid" {_HEAD}>\n'
           f'<PUnstructuredGrid GhostLevel="{ghosts}">\n']
    for tag, ids, data in (("PPointData", POINT_IDS, point_data), ("PCellData", CELL_IDS, cell_data)):
        out.append(f"<{tag}{_global_ids(ids, data)}>\n")
        out += [f"<PDataArray {_described(path, name, np.asarray(values))}/>\n" for name, values in data.items()]
        out.append(f"</{tag}>\n")
    out.append('<PPoints>\n<PDataArray type="Float64" Name="Points" NumberOfComponents="3"/>\n</PPoints>\n')
    out += [f"<Piece Source={attribute(piece)}/>\n" for piece in pieces]
    write_text_atomic(path, "".join(out) + "</PUnstructuredGrid>\n</VTKFile>\n")


def _global_ids(name: str, data: Mapping[str, ArrayLike]) -> str:
    """The attribute that tells VTK which array holds the numbers in the whole mesh."""
    return f' GlobalIds="{name}"' if name in data else ""


def _described(path: PathLike, name: str, array: NDArray[Any]) -> str:
    """Type, name and number of components of an array as XML attributes."""
    kind = "i1" if array.dtype == bool else array.dtype.str[1:]
    if kind not in _TYPES:
        raise FormatError(path, f"array {name!r}: VTU files hold whole numbers and floats, not {array.dtype}")
    components = f' NumberOfComponents="{int(np.prod(array.shape[1:]))}"' if array.ndim > 1 else ""
    return f'type="{_TYPES[kind]}" Name={attribute(name)}{components}'


def _array(path: PathLike, name: str, array: NDArray[Any], threads: int, more: str) -> str:
    """One array as an XML element: the sizes of the packed blocks, then the blocks."""
    what = _described(path, name, array) + more
    data = np.ascontiguousarray(array, array.dtype.newbyteorder("=")).reshape(-1).view(np.uint8).data
    blocks = side_by_side([partial(zlib.compress, data[i:i + _BLOCK], 1) for i in range(0, len(data), _BLOCK)], threads)
    head = np.array([len(blocks), _BLOCK, len(data) % _BLOCK, *map(len, blocks)], np.uint64)
    text = base64.b64encode(head.tobytes()) + base64.b64encode(b"".join(blocks))
    return f'<DataArray {what} format="binary">\n{text.decode()}\n</DataArray>\n'


__all__ = ["CELL_IDS", "DUPLICATE", "GHOST", "POINT_IDS", "POLYHEDRON", "Faces", "Grid", "write_grid", "write_pvtu"]
