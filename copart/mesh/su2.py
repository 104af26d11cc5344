"""SU2 meshes, with several zones and the names of their boundary markers.

Of a file with several zones meshio keeps the points of the last only, and it
replaces marker names by numbers; names and zones are what coupling needs.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from ..errors import FormatError
from .assembling import stacked
from .fields import Block
from .value import Mesh

ZONE = "zone"
"""Cell array with the zone of each cell, from 1, where a file has several."""

# VTK's cell codes: meshio's name, number of nodes
_TYPES = {3: ("line", 2), 5: ("triangle", 3), 9: ("quad", 4), 10: ("tetra", 4), 12: ("hexahedron", 8),
          13: ("wedge", 6), 14: ("pyramid", 5)}


@dataclass
class _Zone:
    """One zone as the file has it; node numbers count from 0 in the zone."""

    dim: int = 0
    points: NDArray[np.float64] = field(default_factory=lambda: np.zeros((0, 3)))
    cells: list[Block] | None = None
    markers: list[tuple[str, list[Block]]] = field(default_factory=list)


def read_su2(path: Path) -> Mesh:
    """Read an SU2 file as one mesh; zones share no points.

    Raises
    ------
    FormatError
        With the line where the file breaks the format.
    """
    try:
        with open(path, encoding="utf-8", errors="replace") as stream:
            lines = stream.read().splitlines()
    except OSError as error:
        raise FormatError(path, f"cannot be opened: {error.strerror}") from None
    zones = _Parser(path, lines).zones()
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
    return Mesh(np.concatenate([z.points for z in zones]), blocks, data, name,
                {marker: stacked(parts) for marker, parts in markers.items()})


class _Parser:
    """Walks the lines of the file once."""

    def __init__(self, path: Path, lines: list[str]) -> None:
        self.path, self.lines, self.at = path, lines, 0

    def zones(self) -> list[_Zone]:
        """All zones of the file; one where it does not say."""
        out: list[_Zone] = []
        zone = _Zone()
        announced, tag = None, ""
        while self.at < len(self.lines):
            text = self.lines[self.at].split("%")[0].strip()
            self.at += 1
            if not text:
                continue
            if "=" not in text:
                raise FormatError(self.path, f"expected KEYWORD= value, found {text[:40]!r}", self.at)
            key, _, value = (part.strip() for part in text.partition("="))
            key = key.upper()
            if key == "NZONE":
                announced = self._number(key, value)
            elif key == "IZONE":
                if zone.cells is not None or len(zone.points):
                    out.append(self._checked(zone, len(out) + 1))
                zone = _Zone()
            elif key == "NDIME":
                zone.dim = self._number(key, value)
                if zone.dim not in (2, 3):
                    raise FormatError(self.path, f"NDIME must be 2 or 3, is {zone.dim}", self.at)
            elif key == "NELEM":
                zone.cells = self._elements(self._number(key, value))
            elif key == "NPOIN":
                zone.points = self._points(self._number(key, value.split()[0] if value else ""), zone.dim)
            elif key == "MARKER_TAG":
                tag = value
            elif key == "MARKER_ELEMS":
                zone.markers.append((tag, self._elements(self._number(key, value))))
        out.append(self._checked(zone, len(out) + 1))
        if announced is not None and announced != len(out):
            raise FormatError(self.path, f"NZONE announces {announced} zones, the file has {len(out)}")
        return out

    def _checked(self, zone: _Zone, number: int) -> _Zone:
        """The zone, if it has elements and points and its cells stay inside them."""
        if zone.cells is None:
            raise FormatError(self.path, f"zone {number}: no elements (NELEM=)", self.at)
        if len(zone.points) == 0:
            raise FormatError(self.path, f"zone {number}: no points (NPOIN=)", self.at)
        self._check_nodes(zone.cells, len(zone.points), f"zone {number}")
        for label, parts in zone.markers:
            self._check_nodes(parts, len(zone.points), f"marker {label}")
        return zone

    def _number(self, key: str, value: str) -> int:
        """A count after a keyword."""
        try:
            number = int(value)
        except ValueError:
            number = -1
        if number < 0:
            raise FormatError(self.path, f"{key} needs a whole number, has {value!r}", self.at)
        return number

    def _rows(self, count: int) -> list[list[str]]:
        """The next `count` lines that are not empty or comments, as words."""
        rows: list[list[str]] = []
        while len(rows) < count:
            if self.at >= len(self.lines):
                raise FormatError(self.path, f"the file ends {count - len(rows)} lines too early", self.at)
            text = self.lines[self.at].split("%")[0]
            if "=" in text:
                raise FormatError(self.path, f"{count} lines announced, {len(rows)} found", self.at + 1)
            self.at += 1
            words = text.split()
            if words:
                rows.append(words)
        return rows

    def _elements(self, count: int) -> list[Block]:
        """Cells as blocks of one type each, in the order of the file."""
        start = self.at
        blocks: list[tuple[str, list[list[str]]]] = []
        for i, words in enumerate(self._rows(count)):
            code = int(words[0]) if words[0].isdigit() else -1
            if code not in _TYPES:
                raise FormatError(self.path, f"unknown element type {words[0]!r}", start + i + 1)
            kind, size = _TYPES[code]
            if len(words) < size + 1:
                raise FormatError(self.path, f"{kind} needs {size} nodes, has {len(words) - 1}", start + i + 1)
            if not blocks or blocks[-1][0] != kind:
                blocks.append((kind, []))
            blocks[-1][1].append(words[1:size + 1])
        out = []
        for kind, nodes in blocks:
            try:
                out.append((kind, np.array(nodes, dtype=np.int64)))
            except (ValueError, OverflowError):
                raise FormatError(self.path, f"a {kind} has a node that is not a whole number", start + 1) from None
        return out

    def _points(self, count: int, dim: int) -> NDArray[np.float64]:
        """Coordinates with three columns; an index at the end of a line is ignored, points are in order."""
        if dim == 0:
            raise FormatError(self.path, "NDIME= must come before NPOIN=", self.at)
        start = self.at
        rows = self._rows(count)
        out = np.zeros((count, 3))
        for i, words in enumerate(rows):
            if len(words) < dim:
                raise FormatError(self.path, f"a point needs {dim} coordinates, has {len(words)}", start + i + 1)
        try:
            out[:, :dim] = np.array([words[:dim] for words in rows], dtype=np.float64).reshape(count, dim)
        except ValueError:
            raise FormatError(self.path, "a point has a coordinate that is not a number", start + 1) from None
        return out

    def _check_nodes(self, blocks: list[Block], npoints: int, where: str) -> None:
        """No cell points outside the points of its zone."""
        for kind, nodes in blocks:
            if nodes.size and (nodes.min() < 0 or nodes.max() >= npoints):
                row = int(np.argmax(((nodes < 0) | (nodes >= npoints)).any(axis=1)))
                raise FormatError(self.path, f"{where}: cells {kind} point outside its {npoints} points, "
                                             f"first cell {row}: nodes {nodes[row].tolist()}")
