"""SU2 meshes, with several zones and the names of their boundary markers.

Of a file with several zones meshio keeps the points of the last only, and it
replaces marker names by numbers; names and zones are what coupling needs.
"""

from __future__ import annotations

import re
from dataclasses import dataclass, field
from itertools import pairwise
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from ...errors import FormatError
from ..fields import Block
from ..value import Mesh
from .assembling import stacked
from .numbers import NotANumberError, numbers

ZONE = "zone"
"""Cell array with the zone of each cell, from 1, where a file has several."""

# VTK's cell codes: meshio's name, number of nodes
_TYPES = {3: ("line", 2), 5: ("triangle", 3), 9: ("quad", 4), 10: ("tetra", 4), 12: ("hexahedron", 8),
          13: ("wedge", 6), 14: ("pyramid", 5)}
_COPIES = "SEND_RECEIVE"
"""Marker of old files for points that are copies across a periodic boundary; there may be many of it."""


_COMMENT = re.compile(rb"%[^\n]*")


@dataclass
class _Zone:
    """One zone as the file has it; node numbers count from 0 in the zone."""

    dim: int = 0
    points: NDArray[np.float64] = field(default_factory=lambda: np.zeros((0, 3)))
    cells: list[Block] | None = None
    markers: list[tuple[str, list[Block]]] = field(default_factory=list)
    copies: int | None = None
    """Points that an old header counts as copies (``NPOIN= all own``); None without markers of such."""
    lacking: int = 0
    """Markers that are announced (``NMARK=``) and do not follow."""


def read_su2(path: Path) -> Mesh:
    """Read an SU2 file as one mesh; zones share no points.

    Raises
    ------
    FormatError
        With the line where the file breaks the format.
    """
    try:
        text = path.read_bytes().removeprefix(b"\xef\xbb\xbf")  # as editors of Windows begin files
    except OSError as error:
        raise FormatError(path, f"cannot be opened: {error.strerror}") from None
    text = _COMMENT.sub(b"", text.replace(b"\r\n", b"\n").replace(b"\r", b"\n"))
    zones = _Parser(path, text).zones()
    return _joined(zones, path.stem)


def _joined(zones: list[_Zone], name: str) -> Mesh:
    """All zones in one mesh, with a zone array where there are several."""
    blocks: list[Block] = []
    zone_of: list[NDArray[np.int64]] = []
    markers: dict[str, list[NDArray[np.int64]]] = {}
    first = 0
    for number, zone in enumerate(zones, start=1):
        for kind, nodes in zone.cells or []:
            blocks.append((kind, nodes + first))
            zone_of.append(np.full(len(nodes), number))
        for marker, parts in zone.markers:
            markers.setdefault(marker, []).extend(nodes + first for _, nodes in parts)
        first += len(zone.points)
    data = {ZONE: np.concatenate(zone_of)} if len(zones) > 1 and zone_of else {}
    copies = [zone.copies for zone in zones if zone.copies is not None]
    said = f"markers {_COPIES} are left out"
    if sum(copies):
        said += f", and the cells at {sum(copies)} copied points kept: copies across old periodic boundaries"
    lacking = sum(max(zone.lacking, 0) for zone in zones)
    cut = f"markers are announced (NMARK=) that do not follow: {lacking}; is all of the file there?"
    return Mesh(np.concatenate([z.points for z in zones]), blocks, data, name,
                {marker: stacked(parts) for marker, parts in markers.items()},
                remarks=[*([said] if copies else []), *([cut] if lacking else [])])


def _keywords(text: bytes) -> list[tuple[int, int]]:
    """Where the lines with a keyword begin and end."""
    out, stop = [], 0
    while (sign := text.find(b"=", stop)) >= 0:
        start = text.rfind(b"\n", stop, sign) + 1 or stop
        stop = text.find(b"\n", sign)
        stop = len(text) if stop < 0 else stop
        out.append((start, stop))
    return out


class _Rows(NamedTuple):
    """The numbers of the lines between two keywords."""

    values: NDArray[Any]
    first: NDArray[np.int64]
    """Where each line begins in `values`."""
    size: NDArray[np.int64]
    """Numbers on each line."""
    line: NDArray[np.int64]
    """Number of each line in the file; empty lines are not there."""


class _Parser:
    """Walks from keyword to keyword; what is between two is read at once."""

    def __init__(self, path: Path, text: bytes) -> None:
        self.path, self.text = path, text
        self.line = 1
        """Of the current keyword."""
        self.data = (0, 0)
        """Where the lines after the current keyword begin and end."""

    def zones(self) -> list[_Zone]:
        """All zones of the file; one where it does not say."""
        out: list[_Zone] = []
        zone = _Zone()
        announced, tag, sent, copied = None, "", 0, 0
        found = _keywords(self.text)
        self.data = (0, found[0][0] if found else len(self.text))
        self._nothing()
        at = 0
        for i, (start, stop) in enumerate(found):
            self.line += self.text.count(b"\n", at, start)
            at = start
            self.data = (stop, found[i + 1][0] if i + 1 < len(found) else len(self.text))
            key, _, value = (part.strip() for part in self.text[start:stop].decode("utf-8", "replace").partition("="))
            key = key.upper()
            if key == "NELEM":
                zone.cells = self._elements(self._number(key, value))
            elif key == "NPOIN":
                zone.points = self._points(self._number(key, value), zone.dim)
                own = value.split()[1:2]
                copied = max(len(zone.points) - int(own[0]), 0) if own else 0
            elif key == "MARKER_ELEMS" and tag == _COPIES:
                sent, zone.copies = self._number(key, value), copied
                self._nothing()
            elif key == "SEND_TO":
                self._rows(sent, np.int64, "whole number")
                sent = 0
            elif key == "MARKER_ELEMS":
                zone.markers.append((tag, self._elements(self._number(key, value))))
            elif key in ("NZONE", "IZONE", "NDIME", "MARKER_TAG"):
                self._nothing()
            if key == "NZONE":
                announced = self._number(key, value)
            elif key == "IZONE":
                if zone.cells is not None or len(zone.points):
                    out.append(self._checked(zone, len(out) + 1))
                zone, copied = _Zone(), 0
            elif key == "NDIME":
                zone.dim = self._number(key, value)
                if zone.dim not in (2, 3):
                    raise FormatError(self.path, f"NDIME must be 2 or 3, is {zone.dim}", self.line)
            elif key == "NMARK":
                zone.lacking += int(value) if value.isdecimal() and len(value) < 9 else 0
            elif key == "MARKER_TAG":
                tag, zone.lacking = value, zone.lacking - 1
        out.append(self._checked(zone, len(out) + 1))
        if announced is not None and announced != len(out):
            raise FormatError(self.path, f"NZONE announces {announced} zones, the file has {len(out)}")
        return out

    def _nothing(self) -> None:
        """No text follows until the next keyword."""
        text = self.text[slice(*self.data)]
        if text.strip():
            before = text[:len(text) - len(text.lstrip())].count(b"\n")
            raise FormatError(self.path, f"expected KEYWORD= value, found {text.split()[0][:40].decode('latin-1')!r}",
                              self.line + before)

    def _checked(self, zone: _Zone, number: int) -> _Zone:
        """The zone, if it has elements and points and its cells stay inside them."""
        if zone.cells is None:
            raise FormatError(self.path, f"zone {number}: no elements (NELEM=)", self.line)
        if len(zone.points) == 0:
            raise FormatError(self.path, f"zone {number}: no points (NPOIN=)", self.line)
        self._check_nodes(zone.cells, len(zone.points), f"zone {number}")
        for label, parts in zone.markers:
            self._check_nodes(parts, len(zone.points), f"marker {label}")
        return zone

    def _number(self, key: str, value: str) -> int:
        """A count after a keyword; of several, as in old headers, the first."""
        words = value.split()
        if not words or not all(word.isdecimal() and len(word) <= 18 for word in words):
            raise FormatError(self.path, f"{key} needs a whole number, has {value[:40]!r}", self.line)
        return int(words[0])

    def _rows(self, count: int, dtype: Any, what: str) -> _Rows:
        """The lines after the keyword, which must be `count`."""
        start, stop = self.data
        text = self.text[start:stop]
        raw = np.frombuffer(text, np.uint8)
        full = raw > 32
        begin = np.flatnonzero(full & ~np.concatenate([[False], full[:-1]]))
        line_of = np.searchsorted(np.flatnonzero(raw == 10), begin) + self.line
        first = np.flatnonzero(np.diff(line_of, prepend=-1))
        if len(first) < count:
            missing = count - len(first)
            if stop == len(self.text):
                raise FormatError(self.path, f"the file ends {missing} lines too early",
                                  self.line + self.text.count(b"\n", start))
            raise FormatError(self.path, f"{count} lines announced, {len(first)} found", self.line + text.count(b"\n"))
        if len(first) > count:
            word = text[begin[first[count]]:].split(b"\n")[0][:40].decode("latin-1").strip()
            raise FormatError(self.path, f"expected KEYWORD= value, found {word!r}", int(line_of[first[count]]))
        try:
            values = numbers(text, dtype)
        except NotANumberError as error:
            raise FormatError(self.path, f"not a {what}: {error.word!r}",
                              self.line + text.count(b"\n", 0, error.at)) from None
        if len(values) != len(begin):
            raise FormatError(self.path, f"{len(begin)} words are only {len(values)} numbers", self.line + 1)
        return _Rows(values, first, np.diff(first, append=len(begin)), line_of[first])

    def _elements(self, count: int) -> list[Block]:
        """Cells as blocks of one type each, in the order of the file."""
        rows = self._rows(count, np.int64, "whole number")
        if count == 0:
            return []
        code = rows.values[rows.first]
        blocks: list[Block] = []
        change = [0, *(np.flatnonzero(np.diff(code)) + 1).tolist(), count]
        for low, high in pairwise(change):
            if int(code[low]) not in _TYPES:
                degree, plain = divmod(int(code[low]), 100)
                if degree and plain in _TYPES:
                    raise FormatError(self.path, f"element type {int(code[low])} is a {_TYPES[plain][0]} of degree "
                                                 f"{degree + 1}: a mesh for SU2's high-order (DG) solver, which is not "
                                                 f"supported; give the first-order mesh it was made from",
                                      int(rows.line[low]))
                raise FormatError(self.path, f"unknown element type '{int(code[low])}'", int(rows.line[low]))
            kind, size = _TYPES[int(code[low])]
            short = rows.size[low:high] < size + 1
            if short.any():
                i = low + int(np.argmax(short))
                raise FormatError(self.path, f"{kind} needs {size} nodes, has {int(rows.size[i]) - 1}",
                                  int(rows.line[i]))
            # an index of the element may follow
            blocks.append((kind, rows.values[rows.first[low:high, None] + np.arange(1, size + 1)]))
        return blocks

    def _points(self, count: int, dim: int) -> NDArray[np.float64]:
        """Coordinates with three columns; an index at the end of a line is ignored, points are in order."""
        if dim == 0:
            raise FormatError(self.path, "NDIME= must come before NPOIN=", self.line)
        rows = self._rows(count, np.float64, "number")
        short = rows.size < dim
        if short.any():
            i = int(np.argmax(short))
            raise FormatError(self.path, f"a point needs {dim} coordinates, has {int(rows.size[i])}", int(rows.line[i]))
        out = np.zeros((count, 3))
        out[:, :dim] = rows.values[rows.first[:, None] + np.arange(dim)]
        return out

    def _check_nodes(self, blocks: list[Block], npoints: int, where: str) -> None:
        """No cell points outside the points of its zone."""
        for kind, nodes in blocks:
            if nodes.size and (nodes.min() < 0 or nodes.max() >= npoints):
                row = int(np.argmax(((nodes < 0) | (nodes >= npoints)).any(axis=1)))
                raise FormatError(self.path, f"{where}: cells {kind} point outside its {npoints} points, "
                                             f"first cell {row}: nodes {nodes[row].tolist()}")
