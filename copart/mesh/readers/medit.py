"""Medit files of text, as INRIA's programs, mmg and gmsh write them: numbers after keywords.

Binary ones (``.meshb``) are read by meshio, which of texts knows fewer keywords, rounds the coordinates of version 1
and wants counts on lines of their own.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from pathlib import Path
from types import SimpleNamespace
from typing import NamedTuple, NoReturn

import numpy as np
from numpy.typing import NDArray

from ...errors import CopartError, FormatError
from ..value import Mesh
from .foreign import from_meshio
from .numbers import NotANumberError, numbers

REFERENCES = "medit:ref"
"""Cell array with the reference of each cell, which names regions and boundaries."""

_CELLS = {"edges": ("line", 2), "triangles": ("triangle", 3), "quadrilaterals": ("quad", 4), "tetrahedra": ("tetra", 4),
          "prisms": ("wedge", 6), "pyramids": ("pyramid", 5), "hexahedra": ("hexahedron", 8),
          "hexaedra": ("hexahedron", 8)}
_HIGHER = re.compile(r"(?:edges|triangles|quadrilaterals|tetrahedra|prisms|pyramids|hexahedra)[pq]\d", re.ASCII)
_COMMENT = re.compile(rb"#[^\n]*")
_KEYWORD = re.compile(rb"^[ \t]*([A-Za-z]\w*)", re.MULTILINE)


class _Part(NamedTuple):
    """A keyword and what follows it."""

    path: Path
    name: str
    line: int
    data: bytes

    def fail(self, rule: str) -> NoReturn:
        """Raise a `FormatError` at the keyword."""
        raise FormatError(self.path, f"{self.name}: {rule}", self.line)

    def values(self) -> NDArray[np.float64]:
        """All numbers."""
        try:
            return numbers(self.data, np.float64)
        except NotANumberError as error:
            line = self.line + self.data.count(b"\n", 0, error.at)
            raise FormatError(self.path, f"{self.name}: not a number: {error.word!r}", line) from None

    def table(self, width: int) -> NDArray[np.float64]:
        """So many rows as the first number says."""
        flat = self.values()
        if len(flat) == 0 or not 0 <= flat[0] == np.floor(flat[0]):
            self.fail("needs how many there are")
        if len(flat) - 1 != flat[0] * width:
            self.fail(f"{int(flat[0])} announced of {width} numbers each, {len(flat) - 1} numbers found")
        return flat[1:].reshape(-1, width)

    def whole(self, width: int) -> NDArray[np.int64]:
        """Rows of whole numbers."""
        table = self.table(width)
        if not ((np.abs(table) < 2.0**53) & (table == np.floor(table))).all():
            self.fail("needs whole numbers")
        return table.astype(np.int64)


def read_medit(path: Path) -> Mesh:
    """Read a Medit file of text; references are its groups.

    Raises
    ------
    FormatError
        With the line where it breaks the format.
    """
    dimension, points, cells, references = 3, None, [], []
    for part in _parts(path):
        name = part.name.lower()
        if name == "dimension":
            values = part.values()
            if values.tolist() not in ([2.0], [3.0]):
                part.fail("must be 2 or 3")
            dimension = int(values[0])
        elif name == "vertices":
            points = part.table(dimension + 1)[:, :dimension]
        elif name in _CELLS:
            kind, size = _CELLS[name]
            table = part.whole(size + 1)
            cells.append(SimpleNamespace(type=kind, data=table[:, :size] - 1))
            references.append(table[:, size])
        elif _HIGHER.fullmatch(name) and part.values()[:1].any():
            part.fail("cells of higher order are not read; write them of first order")
        elif name == "end":
            break
    if points is None:
        raise FormatError(path, "has no Vertices")
    try:
        return from_meshio(SimpleNamespace(points=points, cells=cells, cell_data={REFERENCES: references}), path.stem)
    except CopartError as error:
        raise FormatError(path, str(error)) from None


def _parts(path: Path) -> Iterator[_Part]:
    """The keywords in their order; those that no reader needs are among them."""
    try:
        text = _COMMENT.sub(b"", path.read_bytes().replace(b"\r\n", b"\n"))
    except OSError as error:
        raise FormatError(path, f"cannot be opened: {error.strerror}") from None
    found = list(_KEYWORD.finditer(text))
    if not found or found[0][1].lower() != b"meshversionformatted" or text[:found[0].start()].strip():
        raise FormatError(path, "not a Medit file: expected MeshVersionFormatted first")
    line = at = 0
    for keyword, after in zip(found, [*found[1:], None], strict=True):
        line += text.count(b"\n", at, keyword.start())
        at = keyword.start()
        yield _Part(path, keyword[1].decode("latin-1"), line + 1,
                    text[keyword.end():len(text) if after is None else after.start()])


__all__ = ["read_medit"]
