"""VTU files of the most common form, without meshio: it parses and copies whole arrays as text.

One piece, arrays inline in base64, packed by zlib or not, cells of the types in :data:`WIDTH`. A file of any other
form, and one with a mistake in it, is left to meshio, which reads it or says what is wrong.
"""

from __future__ import annotations

import binascii
import re
import zlib
from pathlib import Path
from types import SimpleNamespace
from typing import Any, NamedTuple
from xml.etree import ElementTree

import numpy as np
from numpy.typing import NDArray

from ...errors import MeshError
from ..vtk_cells import blocks_of_types

#: Nodes of a cell by VTK's number of its type; of these meshio's order is VTK's.
WIDTH = {3: 2, 5: 3, 9: 4, 10: 4, 12: 8, 14: 5}
_KINDS = {f"{kind}{8 * size}": f"{letter}{size}" for kind, letter in (("Int", "<i"), ("UInt", "<u"))
          for size in (1, 2, 4, 8)} | {"Float32": "<f4", "Float64": "<f8"}
_SPACE = re.compile(rb"\s*")
_MOST = 1100
"""Times that zlib can shorten anything."""


class _File(NamedTuple):
    """What all arrays of a file have in common."""

    spans: list[memoryview]
    """The contents of the elements that hold arrays, which their text in the tree counts."""
    header: np.dtype[Any]
    packed: bool


def plain_vtu(path: Path) -> Any | None:
    """The mesh in a VTU file as an object with the fields of a ``meshio.Mesh``, None where meshio is to be asked.

    Arrays on points are named but not read.

    Parameters
    ----------
    path : Path
        A file that can be opened.
    """
    try:
        return _mesh(path.read_bytes())
    except (ElementTree.ParseError, MeshError, ValueError, KeyError, IndexError, AttributeError, zlib.error):
        return None


def _mesh(raw: bytes) -> Any | None:
    skeleton, spans = _skeleton(raw)
    root = ElementTree.fromstring(skeleton)
    said = root.attrib
    if root.tag != "VTKFile" or said["type"] != "UnstructuredGrid" or said["byte_order"] != "LittleEndian" \
            or said.get("version") not in ("0.1", "1.0") or len(root) != 1 \
            or said.get("compressor", "vtkZLibDataCompressor") != "vtkZLibDataCompressor":
        return None
    file = _File(spans, np.dtype(_KINDS[said.get("header_type", "UInt32")]), "compressor" in said)
    grid = root[0]
    pieces = grid.findall("Piece")
    if grid.tag != "UnstructuredGrid" or len(pieces) != 1 or {child.tag for child in grid} - {"Piece", "FieldData"}:
        return None
    sections = {child.tag: list(child) for child in pieces[0]}
    if len(sections) != len(pieces[0]) or not {"Points", "Cells"} <= set(sections) \
            or not set(sections) <= {"Points", "Cells", "PointData", "CellData"}:
        return None
    arrays = {tag: {one.attrib["Name"]: one for one in section} for tag, section in sections.items() if tag != "Points"}
    npoints, ncells = (int(pieces[0].attrib[f"NumberOf{what}"]) for what in ("Points", "Cells"))
    (coordinates,) = sections["Points"]
    points = _array(file, coordinates, npoints).reshape(npoints, -1)
    types = _array(file, arrays["Cells"]["types"], ncells).reshape(ncells)
    ends = _array(file, arrays["Cells"]["offsets"], ncells).reshape(ncells).astype(np.int64)
    nodes = _array(file, arrays["Cells"]["connectivity"]).reshape(-1)
    width = np.zeros(256, np.int64)
    width[list(WIDTH)] = list(WIDTH.values())
    start = np.concatenate([[0], np.cumsum(width[types])])
    if ncells == 0 or not (width[types] > 0).all() or not np.array_equal(start[1:], ends) or len(nodes) != start[-1]:
        return None
    blocks = blocks_of_types(types, start, nodes)
    upto = np.cumsum([len(cells) for _, cells in blocks])[:-1]
    data = {name: np.split(_array(file, one, ncells), upto) for name, one in arrays.get("CellData", {}).items()}
    fields = {one.attrib["Name"]: _array(file, one) for child in grid if child.tag == "FieldData" for one in child}
    return SimpleNamespace(points=points, cells=[SimpleNamespace(type=kind, data=cells) for kind, cells in blocks],
                           cell_data=data, point_data=arrays.get("PointData", {}), field_data=fields)


def _skeleton(raw: bytes) -> tuple[bytes, list[memoryview]]:
    """The file with a number in place of each array, and the arrays."""
    view = memoryview(raw)
    out: list[bytes] = []
    spans: list[memoryview] = []
    at = 0
    while (opening := raw.find(b"<DataArray", at)) >= 0:
        closing = raw.find(b">", opening)
        end = raw.find(b"<", closing)
        if closing < 0 or end < 0:
            break
        begin = _SPACE.match(raw, closing + 1).end()  # type: ignore[union-attr]
        out += [raw[at:begin], b"%d" % len(spans)]
        spans.append(view[begin:end])
        at = end
    return b"".join([*out, raw[at:]]), spans


def _array(file: _File, element: Any, rows: int | None = None) -> NDArray[Any]:
    """The numbers of an element, one row for each of its components where it tells how many.

    Raises
    ------
    ValueError
        The array is not inline in base64, or not of the size that it or the piece announces.
    """
    if element.tag != "DataArray" or element.attrib.get("format") != "binary" or len(element):
        raise ValueError("no array inline in base64")
    text = file.spans[int(element.text)]
    array = (_unpacked if file.packed else _unwrapped)(text, file.header).view(_KINDS[element.attrib["type"]])
    components = element.attrib.get("NumberOfComponents")
    out = array.reshape(-1, int(components)) if components else array
    if rows is not None and len(out) != rows:
        raise ValueError("not one row for each point or cell")
    return out


def _unwrapped(text: memoryview, header: np.dtype[Any]) -> NDArray[np.uint8]:
    """The bytes of an array that is not packed: their number comes before them."""
    both = np.frombuffer(binascii.a2b_base64(text), np.uint8)
    size = int(both[:header.itemsize].view(header)[0])
    if size != len(both) - header.itemsize:
        raise ValueError("not as long as it says")
    return both[header.itemsize:].copy()  # aligned


def _unpacked(text: memoryview, header: np.dtype[Any]) -> NDArray[np.uint8]:
    """The bytes of an array in packed blocks, whose sizes come before them in base64 of their own."""
    (count,) = np.frombuffer(binascii.a2b_base64(text[:_letters(header.itemsize)])[:header.itemsize], header).tolist()
    letters = _letters((3 + count) * header.itemsize)
    (_, full, last, *sizes) = np.frombuffer(binascii.a2b_base64(text[:letters]), header).tolist()
    packed = memoryview(binascii.a2b_base64(text[letters:]))
    total = (count - (last > 0)) * full + last
    if len(sizes) != count or not 0 <= total <= _MOST * len(packed):
        raise ValueError("not as many blocks as it says")
    out = np.empty(total, np.uint8)
    at = first = 0
    for size in sizes:
        # of the size that is known, so that it need not grow
        block = zlib.decompress(packed[first:first + size], bufsize=max(1, min(full, total - at)))
        out[at:at + len(block)] = np.frombuffer(block, np.uint8)
        at, first = at + len(block), first + size
    if at != total or first != len(packed):
        raise ValueError("not as long as it says")
    return out


def _letters(size: int) -> int:
    """Letters of base64 for so many bytes."""
    return -(-size // 3) * 4


__all__ = ["WIDTH", "plain_vtu"]
