"""VTU files: unstructured grids in VTK's XML, all of their pieces and kinds of cells, in the order of the file.

Pieces, in one file or in those that a PVTU file lists, are one mesh: ghost cells are left out, and points of several
pieces at the same place are one.

meshio 5.3 takes the cells of the last piece alone, puts polyhedra into another order, passes over types that it does
not know, refuses the versions 2 of the format, and needs minutes for large arrays that are appended as bytes.
"""

from __future__ import annotations

import binascii
import contextlib
import re
import zlib
from collections.abc import Iterator
from pathlib import Path
from types import SimpleNamespace
from typing import Any
from xml.etree import ElementTree
from xml.etree.ElementTree import Element

import numpy as np
from numpy.typing import NDArray

from ...errors import CopartError, FormatError, MeshError
from ...formats.vtu import DUPLICATE, GHOST
from ..polyhedra import Ints, Polyhedra, spans
from ..value import Mesh
from ..vtk_cells import POLYHEDRON, blocks_of_types
from .foreign import Solid, from_meshio
from .polydata import as_grid
from .same_places import without_twins
from .vtu_arrays import Encoding
from .vtu_polyhedra import solid_of
from .vtu_texts import Stretch, parsed, text_of

_TRIANGLE, _POLYGON, _QUAD = 5, 7, 9

_TAIL = 1 << 16
"""Bytes at the end of a file in which appended arrays end: they are the last there, and looking for them in all of it
takes as long as reading it."""


def read_vtu(path: Path, threads: int = 1) -> Mesh:
    """Read a VTU file, all files that a PVTU file lists, or the polygons of a VTP file.

    Parameters
    ----------
    path : Path
    threads : int
        Threads that unpack arrays.

    Raises
    ------
    FormatError
        It is no such file, or a part of it is not as another part says.
    """
    kind = "PUnstructuredGrid" if path.suffix.lower() == ".pvtu" else "UnstructuredGrid"
    with _named(path):
        root, encoding = _encoded(as_grid(path) if path.suffix.lower() == ".vtp" else path.read_bytes(), threads)
        grid = _grid(root, kind)
        if kind == "UnstructuredGrid":
            pieces = [_Piece(piece, encoding) for piece in grid.findall("Piece")]
            fields = _fields(grid.find("FieldData"), encoding)
        else:
            pieces, fields = [], {}
            for piece in grid.findall("Piece"):
                pieces += _pieces_of(path.parent / piece.get("Source", ""), threads)
        return _mesh(path, pieces, fields)


def _pieces_of(path: Path, threads: int) -> list[_Piece]:
    """The pieces of one of several files."""
    if not path.is_file():
        raise FormatError(path, "no such file")
    with _named(path):
        root, encoding = _encoded(path.read_bytes(), threads)
        return [_Piece(piece, encoding) for piece in _grid(root, "UnstructuredGrid").findall("Piece")]


@contextlib.contextmanager
def _named(path: Path) -> Iterator[None]:
    """Whatever goes wrong is an error of this file."""
    try:
        yield
    except CopartError as error:
        raise error if isinstance(error, FormatError) else FormatError(path, str(error)) from None
    except ElementTree.ParseError as error:
        raise FormatError(path, f"cannot be read: no well-formed XML ({error})") from None
    except OSError as error:
        raise FormatError(path, f"cannot be opened: {error.strerror}") from None
    except (ValueError, TypeError, IndexError, OverflowError, RuntimeError, binascii.Error, zlib.error,
            ImportError) as error:
        raise FormatError(path, f"cannot be read: {' '.join(str(error).split())}") from None


def _grid(root: Element, kind: str) -> Element:
    """The grid, or the list of files, in the root of a file."""
    found = root.get("type", "nothing") if root.tag == "VTKFile" else f"<{root.tag}>"
    if found != kind:
        raise MeshError(f"holds {found:.40}, and no {kind} of VTK")
    grid = root.find(kind)
    if grid is None or grid.find("Piece") is None:
        raise MeshError("has no piece of an unstructured grid")
    return grid


def _encoded(raw: bytes, threads: int) -> tuple[Element, Encoding]:
    """The XML of a file, and how its arrays are written; those that others refer to by offsets may be no XML."""
    end = raw.rfind(b"</AppendedData", max(0, len(raw) - _TAIL))
    begin = None if end < 0 else re.search(rb"<AppendedData\s[^>]*encoding\s*=\s*[\"']raw[\"'][^>]*>\s*_", raw)
    if begin is not None and end >= begin.end():
        root, texts = parsed(raw[:begin.end()] + raw[end:])
        return root, Encoding.of(root, texts, Stretch(raw, begin.end(), end), True, threads)
    root, texts = parsed(raw)
    element = root.find("AppendedData")
    appended = Stretch(b"", 0, 0) if element is None else text_of(element, texts).stripped().after(b"_")
    return root, Encoding.of(root, texts, appended, False, threads)


def _fields(data: Element | None, encoding: Encoding) -> dict[str, NDArray[Any]]:
    """Arrays by name, but for those of text."""
    found = {} if data is None else {one.get("Name", ""): one for one in data.findall("DataArray")}
    return {name: encoding.values(one) for name, one in found.items() if one.get("type") not in ("String", "Bit")}


class _Piece:
    """Points, cells and their data of one piece."""

    def __init__(self, piece: Element, encoding: Encoding):
        npoints, ncells = (int(piece.get(f"NumberOf{what}", "0")) for what in ("Points", "Cells"))
        where = piece.find("Points/DataArray")
        points = np.zeros((0, 3)) if where is None else encoding.values(where)
        self.points = np.asarray(points, np.float64).reshape(npoints, -1 if npoints else 3)
        cells = _fields(piece.find("Cells"), encoding)
        nodes, ends, types = (cells.get(name, np.zeros(0, np.int64)).reshape(-1)
                              for name in ("connectivity", "offsets", "types"))
        if not len(types) == len(ends) == ncells:
            raise ValueError(f"{ncells} cells, but {len(ends)} offsets and {len(types)} types")
        self.nodes: Ints = nodes.astype(np.int64, copy=False)
        self.start = np.zeros(ncells + 1, np.int64)
        self.start[1:] = ends
        if (self.start[1:] < self.start[:-1]).any() or self.start[-1] > len(nodes):
            raise ValueError(f"offsets of cells must rise to the {len(nodes)} entries of their connectivity")
        self.types: Ints = types if types.dtype.kind in "iu" else types.astype(np.int64)
        self.cells = cells
        self.data = _fields(piece.find("CellData"), encoding)
        ghost = self.data.get(GHOST, np.zeros(ncells, np.uint8)).reshape(-1)
        if len(ghost) != ncells or ghost.dtype.kind not in "iu":
            raise ValueError(f"array {GHOST} must have a whole number for each of the {ncells} cells")
        self.own = ghost & DUPLICATE == 0
        self.on_points = [one.get("Name", "") for one in piece.findall("PointData/DataArray")]


def _mesh(path: Path, pieces: list[_Piece], fields: dict[str, NDArray[Any]]) -> Mesh:
    """The pieces as one mesh."""
    first = np.cumsum([0] + [len(piece.points) for piece in pieces]).tolist()
    points = _joined([piece.points for piece in pieces])
    several = len(pieces) > 1
    new = None
    if several:
        points, new = without_twins(points, np.repeat(np.arange(len(pieces)), np.diff(first)))
    blocks: list[SimpleNamespace] = []
    if any((piece.types == POLYHEDRON).any() for piece in pieces):
        solids = [(solid_of(*_plain(piece), piece.cells), piece, at) for piece, at in zip(pieces, first, strict=False)
                  if len(piece.types)]
        for solid, piece, _ in solids:
            _check_nodes(solid.nodes, piece)
        if several:
            solids = [(solid.taken(piece.own, np.arange(len(piece.points))), piece, at) for solid, piece, at in solids
                      if piece.own.any()]
        solid = Polyhedra.side_by_side([(solid, at) for solid, _, at in solids])
        blocks.append(SimpleNamespace(type="polyhedron", data=Solid(solid if new is None else solid.renumbered(new))))
    else:
        for piece, at in zip(pieces, first, strict=False):
            for kind, nodes in blocks_of_types(*_plain(piece, several)):
                # wedges as meshio has them
                rows = nodes[:, [0, 2, 1, 3, 5, 4]] if kind == "wedge" else nodes
                if new is not None:
                    _check_nodes(rows, piece)
                    rows = new[rows + at]
                blocks.append(SimpleNamespace(type=kind, data=rows))
    ends = np.cumsum([len(one.data) for one in blocks])[:-1]
    full = [piece for piece in pieces if len(piece.types)] or pieces
    names = [name for name in full[0].data if all(name in piece.data for piece in full)]
    data = {name: np.split(_joined([piece.data[name][piece.own] if several else piece.data[name] for piece in full]),
                           ends) for name in names if not several or name != GHOST}
    return from_meshio(SimpleNamespace(points=points, cells=blocks, cell_data=data, field_data=fields,
                                       point_data=dict.fromkeys(pieces[0].on_points)), path.stem)


def _check_nodes(nodes: Ints, piece: _Piece) -> None:
    """Refuse nodes that would be points of another piece."""
    if nodes.size and not 0 <= nodes.min() <= nodes.max() < len(piece.points):
        raise ValueError(f"cells point outside the {len(piece.points)} points of their piece")


def _joined(arrays: list[NDArray[Any]]) -> NDArray[Any]:
    return arrays[0] if len(arrays) == 1 else np.concatenate(arrays)


def _plain(piece: _Piece, own: bool = False) -> tuple[Ints, Ints, Ints]:
    """Types, offsets and nodes of the cells, or of those that are no ghosts.

    Polygons of three and four corners are triangles and quadrilaterals.
    """
    types, start, nodes = piece.types, piece.start, piece.nodes
    if own and not piece.own.all():
        size = np.diff(start)[piece.own]
        types, nodes = types[piece.own], nodes[spans(start[:-1][piece.own], size)]
        start = np.concatenate([[0], np.cumsum(size)])
    polygons = types == _POLYGON
    if polygons.any():
        size = np.diff(start)
        types = np.where(polygons & (size == 3), _TRIANGLE, np.where(polygons & (size == 4), _QUAD, types))
    return types, start, nodes


__all__ = ["read_vtu"]
