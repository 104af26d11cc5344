"""PLY files: polygons with the arrays of their faces, text or binary.

A file says of which elements it consists and of which numbers and lists each of them; vertices and faces are read, the
others passed over.  (Greg Turk, The PLY Polygon File Format.)
"""

from __future__ import annotations

import re
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, NamedTuple, NoReturn

import numpy as np
from numpy.typing import NDArray

from ...errors import CopartError, FormatError
from ..polyhedra import Ints
from ..value import Mesh
from .assembling import by_runs
from .numbers import NotANumberError, numbers

_TYPES = {"char": "i1", "int8": "i1", "uchar": "u1", "uint8": "u1", "short": "i2", "int16": "i2", "ushort": "u2",
          "uint16": "u2", "int": "i4", "int32": "i4", "uint": "u4", "uint32": "u4", "int64": "i8", "uint64": "u8",
          "float": "f4", "float32": "f4", "double": "f8", "float64": "f8"}
_FORMATS = {"ascii": "", "binary_little_endian": "<", "binary_big_endian": ">"}
_CORNERS = ("vertex_indices", "vertex_index")
_HEAD_END = re.compile(rb"^[ \t]*end_header[ \t]*\r?\n", re.MULTILINE)
_LONGEST_HEAD = 1_000_000


class _Property(NamedTuple):
    """One number of an element, or a list with its length ahead."""

    name: str
    kind: str
    length: str
    """Type of the length; empty where it is no list."""


@dataclass
class _Element:
    """Vertices, faces or others."""

    name: str
    count: int
    properties: list[_Property] = field(default_factory=list)

    @property
    def lists(self) -> bool:
        """Whether one of the properties is a list."""
        return any(p.length for p in self.properties)


class _Table(NamedTuple):
    """The numbers of all elements of a kind, and their lists one after the other."""

    columns: dict[str, NDArray[Any]]
    lists: dict[str, tuple[Ints, NDArray[Any]]]
    """Offsets and what they hold."""


def read_ply(path: Path) -> Mesh:
    """Read a PLY file.

    Raises
    ------
    FormatError
        It breaks the format, or has no polygons.
    """
    try:
        data = path.read_bytes()
    except OSError as error:
        raise FormatError(path, f"cannot be opened: {error.strerror}") from None
    end = _HEAD_END.search(data, 0, _LONGEST_HEAD)
    if not data.startswith(b"ply") or end is None:
        raise FormatError(path, "not a PLY file: needs ply in the first line, and the line end_header")
    order, elements = _head(path, data[:end.start()].decode("utf-8", "replace"))
    reader = _Binary(path, data, end.end(), order) if order else _Text(path, data[end.end():])
    tables = {element.name: reader.table(element) for element in elements}
    try:
        return _mesh(path, tables)
    except CopartError as error:
        raise error if isinstance(error, FormatError) else FormatError(path, str(error)) from None


def _head(path: Path, text: str) -> tuple[str, list[_Element]]:
    """The order of bytes, empty for texts, and the elements."""
    order, elements = None, []
    for number, line in enumerate(text.splitlines(), start=1):
        words = line.split()
        if words[:1] == ["format"] and len(words) == 3 and words[1] in _FORMATS:
            order = _FORMATS[words[1]]
        elif words[:1] == ["element"] and len(words) == 3 and re.fullmatch(r"\d{1,15}", words[2], re.ASCII):
            elements.append(_Element(words[1], int(words[2])))
        elif words[:2] == ["property", "list"] and len(words) == 5 and elements and {*words[2:4]} <= {*_TYPES}:
            elements[-1].properties.append(_Property(words[4], _TYPES[words[3]], _TYPES[words[2]]))
        elif words[:1] == ["property"] and len(words) == 3 and elements and words[1] in _TYPES:
            elements[-1].properties.append(_Property(words[2], _TYPES[words[1]], ""))
        elif words and words[0] not in ("ply", "comment", "obj_info"):
            raise FormatError(path, f"{line.strip()[:60]!r} is no line of a head", number)
    if order is None:
        raise FormatError(path, "does not say its format (format ascii 1.0)")
    return order, elements


def _mesh(path: Path, tables: dict[str, _Table]) -> Mesh:
    """Points and polygons."""
    vertices, faces = (tables.get(name, _Table({}, {})) for name in ("vertex", "face"))
    axes = [vertices.columns[k].astype(np.float64) for k in "xyz" if k in vertices.columns]
    corners = next((faces.lists[name] for name in _CORNERS if name in faces.lists), None)
    if not axes or corners is None or len(corners[0]) < 2:
        raise FormatError(path, "has no polygons (element face with a list vertex_indices)" if axes else
                          "has no points (element vertex with x, y and z)")
    start, nodes = corners
    lost = [name for name in (*vertices.columns, *vertices.lists) if name not in ("x", "y", "z")]
    return Mesh(np.column_stack(axes), by_runs(start, nodes.astype(np.int64)), faces.columns, path.stem,
                remarks=[f"arrays on points are left out: {', '.join(lost)}"] if lost else [])


class _Binary:
    """Elements in raw bytes."""

    def __init__(self, path: Path, data: bytes, at: int, order: str) -> None:
        self.path, self.data, self.at, self.order = path, data, at, order

    def fail(self, element: _Element) -> NoReturn:
        """Raise a `FormatError`: the file ends."""
        raise FormatError(self.path, f"{element.count} elements {element.name} announced, the file ends too early")

    def table(self, element: _Element) -> _Table:
        """The next elements."""
        at = self.at
        if element.lists and element.count:
            # where all are as long as the first, they are rows of one kind
            sizes = [len(self._one(element)[i]) if p.length else 0 for i, p in enumerate(element.properties)]
            self.at = at
            rows = self._rows(element, sizes, certain=False)
            if rows is not None:
                return rows
            return self._walked(element)
        rows = self._rows(element, [0] * len(element.properties), certain=True)
        return rows if rows is not None else self.fail(element)

    def _rows(self, element: _Element, sizes: list[int], certain: bool) -> _Table | None:
        """Elements whose lists have these lengths; None where they have others."""
        parts: list[Any] = []
        for i, (p, size) in enumerate(zip(element.properties, sizes, strict=True)):
            if p.length:
                parts.append((f"n{i}", self.order + p.length))
            parts.append((f"v{i}", self.order + p.kind, *([(size,)] if p.length else [])))
        kind = np.dtype(parts)
        if element.count * kind.itemsize > len(self.data) - self.at:
            if certain:
                self.fail(element)
            return None
        rows = np.frombuffer(self.data, kind, element.count, self.at)
        columns, lists = {}, {}
        for i, (p, size) in enumerate(zip(element.properties, sizes, strict=True)):
            if p.length and (rows[f"n{i}"] != size).any():
                return None
            if p.length:
                lists[p.name] = np.arange(element.count + 1) * size, rows[f"v{i}"].ravel()
            else:
                columns[p.name] = rows[f"v{i}"].astype(p.kind)
        self.at += element.count * kind.itemsize
        return _Table(columns, lists)

    def _one(self, element: _Element) -> list[NDArray[Any]]:
        """The next element: the values of each property."""
        out = []
        for p in element.properties:
            size = int(self._take(element, p.length, 1)[0]) if p.length else 1
            out.append(self._take(element, p.kind, size))
        return out

    def _take(self, element: _Element, kind: str, count: int) -> NDArray[Any]:
        width = int(kind[1:]) * count
        if count < 0 or width > len(self.data) - self.at:
            self.fail(element)
        out = np.frombuffer(self.data, self.order + kind, count, self.at)
        self.at += width
        return out

    def _walked(self, element: _Element) -> _Table:
        """Elements one by one."""
        if element.count > len(self.data):
            self.fail(element)
        return _tabled(element, [self._one(element) for _ in range(element.count)])


class _Text:
    """Elements in words, each on a line of its own."""

    def __init__(self, path: Path, text: bytes) -> None:
        self.path = path
        try:
            self.words = numbers(text, np.float64)
        except NotANumberError as error:
            raise FormatError(path, f"not a number: {error.word!r}") from None
        self.at = 0

    def table(self, element: _Element) -> _Table:
        """The next elements."""
        width = len(element.properties)
        if not element.lists:
            flat = self._take(element, element.count * width).reshape(element.count, width)
            # numbers of text keep the digits that they have
            return _Table({p.name: flat[:, i] if p.kind[0] == "f" else flat[:, i].astype(p.kind)
                           for i, p in enumerate(element.properties)}, {})
        if element.count > len(self.words):
            self._take(element, element.count)
        return _tabled(element, [[self._take(element, int(self._take(element, 1)[0]) if p.length else 1)
                                  for p in element.properties] for _ in range(element.count)])

    def _take(self, element: _Element, count: int) -> NDArray[np.float64]:
        if not 0 <= count <= len(self.words) - self.at:
            raise FormatError(self.path, f"{element.count} elements {element.name} announced, the file ends too early")
        self.at += count
        return self.words[self.at - count:self.at]


def _tabled(element: _Element, rows: list[list[NDArray[Any]]]) -> _Table:
    """Elements read one by one as a table."""
    columns, lists = {}, {}
    for i, p in enumerate(element.properties):
        values = [row[i] for row in rows]
        flat = (np.concatenate(values) if values else np.zeros(0)).astype(p.kind)
        if p.length:
            lists[p.name] = np.concatenate([[0], np.cumsum([len(v) for v in values], dtype=np.int64)]), flat
        else:
            columns[p.name] = flat
    return _Table(columns, lists)


__all__ = ["read_ply"]
