"""Nastran bulk data: grid points, elements with their properties, files that are included.

An entry is a name and fields: of 8 columns each, of 16 where the name ends in ``*``, or between commas.  Lines whose
first field is empty, ``+`` or ``*`` continue the one before.  (MSC Nastran, Quick Reference Guide, Bulk Data Section.)
"""

from __future__ import annotations

import os
import re
from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path
from typing import NamedTuple, NoReturn

import numpy as np

from ...errors import FormatError
from ..fields import Block
from ..value import Mesh
from .assembling import assembled
from .elsewhere import said_gone
from .mdpa_names import ORDER
from .numbered import Numbered

PROPERTIES = "nastran:ref"
"""Cell array with the number of the property of each element, 0 for none."""

# numbers of nodes that an element may have, the corners first, and its types in meshio's words
_SHAPES = {
    "line": {2: "line"}, "triangle": {3: "triangle", 6: "triangle6"},
    "quad": {4: "quad", 8: "quad8", 9: "quad9"}, "tetra": {4: "tetra", 10: "tetra10"},
    "pyramid": {5: "pyramid", 13: "pyramid13"}, "wedge": {6: "wedge", 15: "wedge15"},
    "hexahedron": {8: "hexahedron", 20: "hexahedron20"},
}
_ELEMENTS = {
    "line": "CBAR CBEAM CROD CTUBE CBUSH CBUSH1D CGAP CONROD",
    "triangle": "CTRIA3 CTRIAR CTRIA6 CTRIAX CTRIAX6 CTRAX3 CTRAX6 CPLSTN3 CPLSTN6 CPLSTS3 CPLSTS6",
    "quad": "CQUAD4 CQUADR CSHEAR CQUAD8 CQUAD9 CQUAD CQUADX CQUADX4 CQUADX8 CPLSTN4 CPLSTN8 CPLSTS4 CPLSTS8",
    "tetra": "CTETRA", "pyramid": "CPYRAM CPYRA", "wedge": "CPENTA", "hexahedron": "CHEXA",
}
_SHAPE_OF = {name: shape for shape, names in _ELEMENTS.items() for name in names.split()}
# elements whose further fields are not nodes but angles, offsets or thicknesses
_CORNERS_ONLY = ("CTRIA3", "CTRIAR", "CTRAX3", "CPLSTN3", "CPLSTS3", "CQUAD4", "CQUADR", "CSHEAR", "CQUADX4",
                 "CPLSTN4", "CPLSTS4")
_EIGHT_NODES = ("CQUAD8", "CQUADX8", "CPLSTN8", "CPLSTS8")
_OTHERS = re.compile(r"C(?:QUAD|TRI|TRA|HEX|TET|PEN|PYR|BAR|BEA|BEND|ROD|PLST|RAC|CONE|AX)\w*", re.ASCII)
"""Names of other elements that have an extent."""
_REAL = re.compile(r"([+-]?(?:\d+\.?\d*|\.\d+))(?:[eEdD]?([+-]\d+)|[eEdD](\d+))?", re.ASCII)
_BEGIN = re.compile(r"^[ \t]*BEGIN[ \t]+(?:BULK|SUPER)[^\n]*", re.IGNORECASE | re.MULTILINE)
_INCLUDE = re.compile(r"[ \t]*INCLUDE[ \t]+(.*)", re.IGNORECASE)
_DEEPEST = 10


class _Entry(NamedTuple):
    """One entry of the bulk data, with the lines that continue it."""

    path: Path
    line: int
    name: str
    fields: list[str]

    def fail(self, rule: str) -> NoReturn:
        """Raise a `FormatError` at the entry."""
        raise FormatError(self.path, f"{self.name}: {rule}", self.line)

    def text(self, place: int) -> str:
        """A field; those that are left out are empty."""
        return self.fields[place] if place < len(self.fields) else ""

    def whole(self, place: int) -> int:
        """A whole number, 0 where the field is empty."""
        text = self.text(place)
        if not text:
            return 0
        if not re.fullmatch(r"\+?\d{1,18}", text, re.ASCII):
            self.fail(f"field {place + 2} must be a whole number, is {text[:40]!r}")
        return int(text)

    def real(self, place: int) -> float:
        """A number, 0 where the field is empty; the letter of an exponent may be left out."""
        text = self.text(place)
        if not text:
            return 0.0
        found = _REAL.fullmatch(text)
        if found is None:
            self.fail(f"field {place + 2} must be a number, is {text[:40]!r}")
        return float(f"{found[1]}e{found[2] or found[3] or 0}")


@dataclass
class _Deck:
    """What the entries say of the mesh."""

    numbers: list[int] = field(default_factory=list)
    points: list[tuple[float, float, float]] = field(default_factory=list)
    runs: list[tuple[str, list[list[int]]]] = field(default_factory=list)
    """Elements of one type that follow each other."""
    properties: list[int] = field(default_factory=list)
    skipped: dict[str, int] = field(default_factory=dict)
    shortened: int = 0
    """Elements of second order without some of the nodes between their corners."""
    gone: dict[str, None] = field(default_factory=dict)
    """Files that are included and not there."""


def read_nastran(path: Path) -> Mesh:
    """Read Nastran bulk data.

    Raises
    ------
    FormatError
        With the file and line where it breaks the format, or uses what copart does not read.
    """
    deck = _Deck()
    for entry in _entries(path, deck):
        _take(entry, deck)
    gone = said_gone(deck.gone) if deck.gone else ""
    if not deck.numbers or not deck.runs:
        raise FormatError(path, f"holds no {'elements' if deck.numbers else 'grid points (GRID)'}"
                                f"{f'; {gone}' if gone else ''}")
    remarks = [f"{gone}: left out"] if gone else []
    if deck.skipped:
        remarks.append("elements that are not known are left out: "
                       + ", ".join(f"{n} {kind}" for kind, n in deck.skipped.items()))
    if deck.shortened:
        many = "s lack" if deck.shortened > 1 else " lacks"
        remarks.append(f"{deck.shortened} element{many} nodes between corners: the corners are kept")
    return _mesh(path, deck, remarks)


def _mesh(path: Path, deck: _Deck, remarks: list[str]) -> Mesh:
    """Nodes by number."""
    known = Numbered(path, "grid point", np.array(deck.numbers, np.int64))
    blocks: list[Block] = []
    for kind, rows in deck.runs:
        nodes = np.array(rows, np.int64)
        nodes = known.places(nodes.ravel(), f"a {kind}").reshape(nodes.shape)
        blocks.append((kind, nodes[:, ORDER[kind]] if kind in ORDER else nodes))
    data = {PROPERTIES: np.array(deck.properties, np.int64)} if any(deck.properties) else {}
    return assembled(np.array(deck.points), blocks, path.stem, cell_data=data, remarks=remarks)


# ---- entries
def _entries(path: Path, deck: _Deck) -> Iterator[_Entry]:
    """The entries of a file and of those that it includes."""
    entry: _Entry | None = None
    for where, number, line in _lines(path, deck, 0):
        name, fields = _fields(line)
        if entry is not None and (not name or name[0] in "+*"):
            entry.fields.extend(fields)
            continue
        if entry is not None:
            yield entry
        # meshio writes solids of second order as CTETRA_
        entry = _Entry(where, number, name.rstrip("*_ ").upper(), fields)
        if entry.name == "ENDDATA":
            return
    if entry is not None:
        yield entry


def _lines(path: Path, deck: _Deck, depth: int) -> Iterator[tuple[Path, int, str]]:
    """The lines that say something, without comments; what comes before the bulk data is passed over."""
    if depth > _DEEPEST:
        raise FormatError(path, f"includes files more than {_DEEPEST} deep, perhaps itself")
    try:
        text = path.read_bytes().decode("utf-8", "replace").replace("\r\n", "\n").replace("\r", "\n")
    except OSError as error:
        raise FormatError(path, f"cannot be opened: {error.strerror}") from None
    begin = _BEGIN.search(text)
    start = begin.end() if begin is not None and depth == 0 else 0
    lines = iter(enumerate(text[start:].split("\n"), start=1 + text.count("\n", 0, start)))
    for number, raw in lines:
        line = raw.partition("$")[0].rstrip()
        if not line or line.startswith(("//", "#")):
            continue
        found = _INCLUDE.fullmatch(line)
        if found is None:
            yield path, number, line
            continue
        name = found[1].strip()
        while name[:1] in ("'", '"') and name.count(name[0]) < 2 and (more := next(lines, None)) is not None:
            name += more[1].strip()
        name = name.strip("'\"")
        # a damaged name may be longer than the system takes, which isfile passes over
        if name and os.path.isfile(path.parent / name):
            yield from _lines(path.parent / name, deck, depth + 1)
        else:
            deck.gone.setdefault(name or "(no name)")


def _fields(line: str) -> tuple[str, list[str]]:
    """The first field of a line, and those with data, as many as fit: what comes after them says how it goes on."""
    if "," in line:
        name, *fields = (word.strip() for word in line.split(","))
        most = 4 if "*" in name else 8
        if len(fields) > most and (not fields[most] or fields[most][0] in "+*"):
            del fields[most:]
        return name, fields + [""] * (most - len(fields))
    line = line.expandtabs(8)
    name = line[:8].strip()
    width, most = (16, 4) if "*" in name else (8, 8)
    return name, [line[at:at + width].strip() for at in range(8, 8 + width * most, width)]


def _take(entry: _Entry, deck: _Deck) -> None:
    """Take what an entry says of the mesh."""
    if entry.name in ("GRID", "GRDSET"):
        if entry.whole(1):
            entry.fail(f"the coordinates are in coordinate system {entry.whole(1)}, only those in the basic system (0) "
                       f"are read; write them so")
        if entry.name == "GRID":
            deck.numbers.append(entry.whole(0))
            deck.points.append((entry.real(2), entry.real(3), entry.real(4)))
    elif entry.name in _SHAPE_OF:
        _element(entry, deck)
    elif _OTHERS.fullmatch(entry.name):
        deck.skipped[entry.name] = deck.skipped.get(entry.name, 0) + 1


def _element(entry: _Entry, deck: _Deck) -> None:
    """Take an element; one of second order that lacks nodes has its corners only."""
    kinds = _SHAPES[_SHAPE_OF[entry.name]]
    corners, most = min(kinds), max(kinds)
    if entry.name in _CORNERS_ONLY:
        most = corners
    elif entry.name in _EIGHT_NODES:
        most = 8
    first = 1 if entry.name == "CONROD" else 2
    places = [*range(first, first + most)]
    if entry.name == "CTRIAX6":
        places = [first + i for i in (0, 2, 4, 1, 3, 5)]  # around the triangle
    texts = [entry.text(place) for place in places]
    if "" in texts[:corners] and corners == 2:
        deck.skipped[entry.name] = deck.skipped.get(entry.name, 0) + 1  # held at one end
        return
    nodes = [entry.whole(place) for place, text in zip(places, texts, strict=True) if text]
    if "" in texts[:corners]:
        entry.fail(f"needs {corners} grid points at least, has {len(nodes)}")
    there = next((i for i, text in enumerate(texts) if text in ("", "0")), most)
    size = max((n for n in kinds if n <= there), default=corners)
    deck.shortened += any(text not in ("", "0") for text in texts[size:])
    if not deck.runs or deck.runs[-1][0] != kinds[size]:
        deck.runs.append((kinds[size], []))
    deck.runs[-1][1].append(nodes[:size])
    deck.properties.append(0 if entry.name == "CONROD" else entry.whole(1))


__all__ = ["read_nastran"]
