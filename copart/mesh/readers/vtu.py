"""VTU files: unstructured grids in VTK's XML, all of their pieces and kinds of cells, in the order of the file.

meshio 5.3 takes the cells of the last piece alone, puts polyhedra into another order, passes over types that it does
not know, refuses the versions 2 of the format, and needs minutes for large arrays that are appended as bytes.
"""

from __future__ import annotations

import binascii
import lzma
import re
import zlib
from pathlib import Path
from types import SimpleNamespace
from typing import Any
from xml.etree import ElementTree
from xml.etree.ElementTree import Element

import numpy as np
from numpy.typing import NDArray

from ...errors import CopartError, FormatError
from ..polyhedra import Ints, Polyhedra
from ..value import Mesh
from ..vtk_cells import POLYHEDRON, blocks_of_types
from .foreign import Solid, from_meshio
from .polydata import as_grid
from .vtu_arrays import Encoding
from .vtu_polyhedra import solid_of

_TRIANGLE, _POLYGON, _QUAD, _WEDGE = 5, 7, 9, 13


def read_vtu(path: Path, threads: int = 1) -> Mesh:
    """Read a VTU file, or the polygons of a VTP file.

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
    try:
        root, appended = _parted(as_grid(path) if path.suffix.lower() == ".vtp" else path.read_bytes())
        kind = root.get("type", "nothing") if root.tag == "VTKFile" else f"<{root.tag}>"
        if kind != "UnstructuredGrid":
            raise FormatError(path, f"holds {kind:.40}, and no UnstructuredGrid of VTK")
        grid = root.find("UnstructuredGrid")
        pieces = [] if grid is None else grid.findall("Piece")
        if grid is None or not pieces:
            raise FormatError(path, "has no piece of an unstructured grid")
        encoding = Encoding.of(root, appended, threads)
        return _mesh(path, [_Piece(piece, encoding) for piece in pieces], _fields(grid.find("FieldData"), encoding))
    except CopartError as error:
        raise error if isinstance(error, FormatError) else FormatError(path, str(error)) from None
    except ElementTree.ParseError as error:
        raise FormatError(path, f"cannot be read: no well-formed XML ({error})") from None
    except (ValueError, TypeError, IndexError, OverflowError, binascii.Error, zlib.error, lzma.LZMAError,
            RuntimeError) as error:
        raise FormatError(path, f"cannot be read: {' '.join(str(error).split())}") from None


def _parted(raw: bytes) -> tuple[Element, str | memoryview]:
    """The XML of a file, and what its arrays refer to by offsets: base64, or bytes, which are no XML."""
    begin = re.search(rb"<AppendedData\s[^>]*encoding\s*=\s*[\"']raw[\"'][^>]*>\s*_", raw)
    end = raw.rfind(b"</AppendedData")
    if begin is not None and end >= begin.end():
        return ElementTree.fromstring(raw[:begin.end()] + raw[end:]), memoryview(raw)[begin.end():end]
    root = ElementTree.fromstring(raw)
    text = (root.findtext("AppendedData") or "").strip()
    return root, "".join(text.removeprefix("_").split())


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
        self.start = np.concatenate([[0], ends.astype(np.int64)])
        if (np.diff(self.start) < 0).any() or self.start[-1] > len(nodes):
            raise ValueError(f"offsets of cells must rise to the {len(nodes)} entries of their connectivity")
        self.types: Ints = types.astype(np.int64)
        self.cells = cells
        self.data = _fields(piece.find("CellData"), encoding)
        self.on_points = [one.get("Name", "") for one in piece.findall("PointData/DataArray")]


def _mesh(path: Path, pieces: list[_Piece], fields: dict[str, NDArray[Any]]) -> Mesh:
    """The pieces, one after the other."""
    first = np.cumsum([0] + [len(piece.points) for piece in pieces]).tolist()
    blocks: list[SimpleNamespace] = []
    if any((piece.types == POLYHEDRON).any() for piece in pieces):
        solid = Polyhedra.side_by_side([(solid_of(*_plain(piece), piece.cells), at)
                                        for piece, at in zip(pieces, first, strict=False) if len(piece.types)])
        blocks.append(SimpleNamespace(type="polyhedron", data=Solid(solid)))
    else:
        for piece, at in zip(pieces, first, strict=False):
            for kind, nodes in blocks_of_types(*_plain(piece)):
                # wedges as meshio has them
                rows = nodes[:, [0, 2, 1, 3, 5, 4]] if kind == "wedge" else nodes
                blocks.append(SimpleNamespace(type=kind, data=rows + at if at else rows))
    ends = np.cumsum([len(one.data) for one in blocks])[:-1]
    names = [name for name in pieces[0].data if all(name in piece.data for piece in pieces)]
    data = {name: np.split(_joined([piece.data[name] for piece in pieces]), ends) for name in names}
    points = _joined([piece.points for piece in pieces])
    return from_meshio(SimpleNamespace(points=points, cells=blocks, cell_data=data, field_data=fields,
                                       point_data=dict.fromkeys(pieces[0].on_points)), path.stem)


def _joined(arrays: list[NDArray[Any]]) -> NDArray[Any]:
    return arrays[0] if len(arrays) == 1 else np.concatenate(arrays)


def _plain(piece: _Piece) -> tuple[Ints, Ints, Ints]:
    """Types, offsets and nodes of the cells; polygons of three and four corners are triangles and quadrilaterals."""
    size = np.diff(piece.start)
    types = np.where((piece.types == _POLYGON) & (size == 3), _TRIANGLE, piece.types)
    return np.where((types == _POLYGON) & (size == 4), _QUAD, types), piece.start, piece.nodes


__all__ = ["read_vtu"]
