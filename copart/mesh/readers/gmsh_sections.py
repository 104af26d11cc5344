"""The sections of gmsh files, and numbers out of them, be they text or binary."""

from __future__ import annotations

import re
from pathlib import Path
from typing import Any, NamedTuple, NoReturn

import numpy as np
from numpy.typing import NDArray

from ...errors import FormatError
from ..polyhedra import Ints
from .numbers import NotANumberError, numbers

_BEGIN = re.compile(rb"^[ \t]*\$(\w+)[ \t]*\r?\n", re.MULTILINE)


class Section(NamedTuple):
    """What is between ``$Name`` and ``$EndName``."""

    path: Path
    name: str
    data: bytes
    first: int
    """Where it begins in the file, for messages."""
    line: int

    def fail(self, rule: str, at: int | None = None) -> NoReturn:
        """Raise a `FormatError` with the line where the section begins, or of a place in its text."""
        raise FormatError(self.path, f"${self.name}: {rule}",
                          self.line if at is None else self.line + 1 + self.data.count(b"\n", 0, at))


class Form(NamedTuple):
    """How numbers are written."""

    version: str
    binary: bool
    size: int
    """Bytes of a size_t."""
    order: str
    """Byte order, ``<`` or ``>``."""


def sections(path: Path) -> list[Section]:
    """All sections of a file in their order.

    Raises
    ------
    FormatError
        One is not closed.
    """
    try:
        data = path.read_bytes()
    except OSError as error:
        raise FormatError(path, f"cannot be opened: {error.strerror}") from None
    out: list[Section] = []
    at, line, counted = 0, 1, 0
    while found := _BEGIN.search(data, at):
        name = found[1].decode("latin-1")
        line += data.count(b"\n", counted, found.start())
        counted = found.start()
        if not out and name != "MeshFormat" and name != "Comments":
            raise FormatError(path, f"expected $MeshFormat first, found ${name}", line)
        stop = data.find(b"$End" + found[1], found.end())
        if stop < 0:
            raise FormatError(path, f"${name} is not closed by $End{name}: the file is truncated", line)
        out.append(Section(path, name, data[found.end():stop], found.end(), line))
        at = stop + len(name) + 4
    return out


def form_of(section: Section) -> Form:
    """Version, kind and widths from ``$MeshFormat``."""
    head, _, rest = section.data.partition(b"\n")
    words = head.decode("latin-1").split()
    if len(words) < 3 or words[1] not in ("0", "1") or words[2] not in ("4", "8"):
        section.fail(f"needs a version, 0 or 1, and the size of a number (4 or 8), has {' '.join(words)[:40]!r}")
    order = "<"
    if words[1] == "1":
        if rest[:4] == b"\x00\x00\x00\x01":
            order = ">"
        elif rest[:4] != b"\x01\x00\x00\x00":
            section.fail("a binary file needs the number 1 after the first line, to tell the order of bytes")
    return Form(words[0], words[1] == "1", int(words[2]), order)


class Cursor:
    """Walks through the numbers of a section; never past its end."""

    def __init__(self, section: Section, form: Form, start: int = 0) -> None:
        self.section, self.form, self.at = section, form, start
        self.flat: NDArray[np.float64] = np.zeros(0)
        self.end = len(section.data)
        if not form.binary:
            try:
                self.flat = numbers(section.data[start:], np.float64)
            except NotANumberError as error:
                section.fail(f"not a number: {error.word!r}", start + error.at)
            self.at, self.end = 0, len(self.flat)

    def _raw(self, count: int, kind: str, size: int) -> NDArray[Any]:
        step = size if self.form.binary else 1
        if count < 0 or count > (self.end - self.at) // step:
            self.section.fail(f"{count} numbers announced, {(self.end - self.at) // step} are left: the section is "
                              f"truncated or a count wrong")
        first, self.at = self.at, self.at + count * step
        if self.form.binary:
            dtype = np.dtype(f"{self.form.order}{kind}{size}")
            return np.frombuffer(self.section.data, dtype, count, first).astype(np.float64 if kind == "f" else np.int64)
        out = self.flat[first:self.at]
        return out if kind == "f" else self.whole(out)

    def whole(self, values: NDArray[np.float64]) -> Ints:
        """Numbers of a text that must be whole."""
        if not (np.abs(values) < 2.0**53).all() or (values != np.floor(values)).any():
            self.section.fail(f"a number must be whole, is {float(values[np.argmax(values != np.floor(values))]):g}")
        return values.astype(np.int64)

    def ints(self, count: int) -> Ints:
        """32-bit whole numbers."""
        return self._raw(count, "i", 4).astype(np.int64)

    def sizes(self, count: int) -> Ints:
        """Whole numbers of the width of a size_t."""
        return self._raw(count, "i", self.form.size).astype(np.int64)

    def doubles(self, count: int) -> NDArray[np.float64]:
        """Floating-point numbers."""
        return self._raw(count, "f", 8).astype(np.float64)

    def done(self) -> bool:
        """Whether nothing is left."""
        return self.at >= self.end
