"""The files of an OpenFOAM mesh: header, lists of numbers, faces and dictionaries; ascii, binary and gzip.

A list is a count and its entries in parentheses, ``3(0 4 7)``; where all are equal also ``3{0}``.  In binary
files the entries are raw, of the widths and the byte order that the header's ``arch`` names.
"""

from __future__ import annotations

import gzip
import re
import zlib
from pathlib import Path
from typing import Any, NoReturn

import numpy as np
from numpy.typing import NDArray

from ...errors import FormatError
from ..polyhedra import Ints, Rows
from .numbers import NotANumberError, numbers

_BLANK = re.compile(rb"(?:\s+|//[^\n]*|/\*.*?\*/)*", re.DOTALL)
_COMMENT = re.compile(rb"//[^\n]*|/\*.*?(?:\*/|\Z)", re.DOTALL)
_HEADER = re.compile(rb'FoamFile\s*+\{((?>[^}/"]+|//[^\n]*|/\*.*?\*/|"[^"]*"|/)*+)\}', re.DOTALL)
_LONGEST = 20_000
# a word may have pairs of parentheses in it, as wall(1), but a number before them is the length of a list
_TOKEN = re.compile(r'"[^"]*"|[{}();]|(?!\d+\()[^\s{}();"]+(?:\([^\s{}();"]{0,200}\)[^\s{}();"]*)*|[^\s{}();"]+')
_PARENTHESES = bytes.maketrans(b"()", b"  ")


def find(folder: Path, name: str) -> Path | None:
    """The file of that name, or its compressed twin, if there is one."""
    for path in (folder / name, folder / f"{name}.gz"):
        if path.is_file():
            return path
    return None


class FoamFile:
    """One file, read from front to back.

    Parameters
    ----------
    path : Path

    Raises
    ------
    FormatError
        The file cannot be read, or has no header.
    """

    def __init__(self, path: Path) -> None:
        self.path = path
        try:
            data = path.read_bytes()
            self.data = gzip.decompress(data) if data[:2] == b"\x1f\x8b" else data
        except OSError as error:
            raise FormatError(path, f"cannot be read: {error.strerror or error}") from None
        except (EOFError, zlib.error) as error:
            raise FormatError(path, f"the compressed data are damaged: {error}") from None
        except MemoryError:
            raise FormatError(path, "the compressed data do not fit in memory") from None
        self.at = 0
        self.binary = False
        self.header = self._header()
        self.binary = self.header.get("format") == "binary"
        if self.header.get("format", "ascii") not in ("ascii", "binary"):
            self.fail(f"format must be ascii or binary, is {self.header['format']!r}")
        arch = self.header.get("arch", "")
        self.order = ">" if arch.startswith("MSB") else "<"
        self.widths = {kind: [int(w)] for kind, w in re.findall(r"(label|scalar)=(32|64)\b", arch)}
        if not self.binary and (b"//" in self.data or b"/*" in self.data):
            self.data = _COMMENT.sub(lambda m: b" " + b"\n" * m[0].count(b"\n"), self.data)
            self.at = 0
            self._header()

    def fail(self, rule: str, at: int | None = None) -> NoReturn:
        """Raise a `FormatError` that says where: the line, or the byte of a binary file."""
        place = self.at if at is None else at
        if self.binary:
            raise FormatError(self.path, f"{rule} (at byte {place})")
        raise FormatError(self.path, rule, self.data.count(b"\n", 0, place) + 1)

    def _header(self) -> dict[str, str]:
        """The entries of the FoamFile dictionary; ``$name`` stands for an entry before."""
        self._blank()
        found = _HEADER.match(self.data, self.at, self.at + _LONGEST)
        if found is None:
            self.fail("not an OpenFOAM file: expected FoamFile { ... }")
        text = _COMMENT.sub(b" ", found[1]).decode("utf-8", "replace")
        entries: dict[str, str] = {}
        for key, value in re.findall(r'(\w++)\s++("[^"]*"|[^;"]*);', text):
            entries[key] = self._expanded(value.strip(), entries).strip('"')
        self.at = found.end()
        return entries

    def _expanded(self, value: str, known: dict[str, str]) -> str:
        """`value`, or what ``$name`` stands for."""
        found = re.fullmatch(r"\$\{?:?(\w+)\}?", value)
        if found is None:
            return value
        if found[1] not in known:
            self.fail(f"the macro {value} is not defined in this file")
        return known[found[1]]

    def _blank(self) -> None:
        """Go past white space and comments."""
        found = _BLANK.match(self.data, self.at)
        self.at = found.end() if found else self.at

    def _count(self) -> int | None:
        """The number of entries before a list, None where it is left out."""
        self._blank()
        found = re.compile(rb"\d{1,18}").match(self.data, self.at)
        if found is None:
            if self.binary or self.data[self.at:self.at + 1] != b"(":
                self.fail("expected the number of entries of a list" + self._found())
            return None
        start, self.at = self.at, found.end()
        count = int(found[0])
        if count > len(self.data) and not self._uniform():
            self.fail(f"{count} entries announced, which a file of {len(self.data)} bytes cannot hold", start)
        self._blank()
        return count

    def _uniform(self) -> bool:
        """Whether the list follows as ``{value}``."""
        return self.data[self.at:self.at + 1] == b"{"

    def _found(self) -> str:
        some = self.data[self.at:self.at + 20].split(b"\n")[0]
        return f", found {some.decode('utf-8', 'replace')!r}" if some else ", the file ends"

    def labels(self, most: int | None = None) -> Ints:
        """A list of whole numbers, from the current place; of equal ones, written as one, at most `most`."""
        count = self._count()
        if count is not None and self._uniform():
            return self._repeated(count, len(self.data) if most is None else most)
        if self.binary:
            return self._raw("label", count or 0, 1).astype(np.int64)
        if self.data[self.at:self.at + 1] != b"(":
            if count == 0:
                return np.zeros(0, np.int64)
            self.fail("expected ( before the entries of the list" + self._found())
        stop = self.data.find(b")", self.at)
        if stop < 0:
            self.fail("the list is not closed: the file is truncated")
        start, self.at = self.at + 1, stop + 1
        return self._numbers(start, stop, np.int64, count, "whole number")

    def vectors(self) -> NDArray[np.float64]:
        """(n, 3) the only list of the file, of points."""
        count = self._count()
        if self.binary:
            return self._raw("scalar", count or 0, 3).reshape(-1, 3).astype(np.float64)
        start, stop = self._nested(count)
        count = self.data.count(b"(", start, stop)
        return self._numbers(start, stop, np.float64, 3 * count, "number").reshape(-1, 3)

    def faces(self) -> Rows:
        """The only list of the file, of faces: offsets and nodes."""
        if self.header.get("class") == "faceCompactList":
            start = self.labels()
            return start, self.labels()
        count = self._count()
        if self.binary:
            return self._raw_faces(count or 0)
        first, stop = self._nested(count)
        flat = self._numbers(first, stop, np.int64, None, "whole number")
        total = self.data.count(b"(", first, stop)
        if total and len(flat) % total == 0 and (flat[::len(flat) // total] == len(flat) // total - 1).all():
            width = len(flat) // total  # all of one size
            return np.arange(total + 1) * (width - 1), flat.reshape(total, width)[:, 1:].ravel()
        sizes: list[int] = []
        at, values = 0, flat.tolist()
        while at < len(values) and len(sizes) <= total:
            sizes.append(values[at])
            at += 1 + max(values[at], 0)
        if at != len(values) or len(sizes) != total:
            self.fail(f"faces: the numbers of nodes do not add up, from face {max(len(sizes) - 1, 0)} on", first)
        start = np.concatenate([[0], np.cumsum(np.array(sizes, np.int64))])
        keep = np.ones(len(flat), bool)
        keep[start[:-1] + np.arange(total)] = False
        return start, flat[keep]

    def _nested(self, count: int | None) -> tuple[int, int]:
        """Where a list of lists begins and ends, the last of the file; its parentheses have gone from there."""
        if self.data[self.at:self.at + 1] != b"(":
            if count == 0:
                return self.at, self.at
            self.fail("expected ( before the entries of the list" + self._found())
        start, stop = self.at + 1, self.data.rfind(b")")
        total = self.data.count(b"(", start, stop)
        if total != self.data.count(b")", start, stop) or (count is not None and total != count):
            self.fail(f"{'a list' if count is None else count} announced, {total} entries found: "
                      f"the file is truncated or damaged")
        if self.data[stop + 1:].strip():
            self.fail("more text after the list", stop + 1)
        return start, stop

    def _numbers(self, start: int, stop: int, dtype: Any, count: int | None, what: str) -> NDArray[Any]:
        """The numbers between two places, parentheses between them passed over."""
        try:
            out = numbers(self.data[start:stop].translate(_PARENTHESES), dtype)
        except NotANumberError as error:
            self.fail(f"an entry is not a {what}: {error.word!r}", start + error.at)
        if count is not None and len(out) != count:
            self.fail(f"{count} numbers announced, {len(out)} found", start)
        return out

    def _repeated(self, count: int, most: int) -> Ints:
        """A list ``count{value}``."""
        found = re.compile(rb"\{\s*(-?\d{1,18})\s*\}").match(self.data, self.at)
        if found is None:
            self.fail("expected {number}" + self._found())
        if count > most:
            self.fail(f"{count} equal entries announced, at most {most} can be meant")
        self.at = found.end()
        return np.broadcast_to(np.int64(int(found[1])), (count,))

    def _raw(self, kind: str, count: int, width: int) -> NDArray[Any]:
        """`count` raw entries of `width` numbers, in parentheses."""
        if count == 0:
            found = re.compile(rb"\(\s*\)").match(self.data, self.at)
            self.at = found.end() if found else self.at
            return np.zeros(0, np.int64)
        if self.data[self.at:self.at + 1] != b"(":
            self.fail("expected ( before the entries of the list" + self._found())
        letter = "i" if kind == "label" else "f"
        for bits in self.widths.get(kind, [32, 64] if kind == "label" else [64, 32]):
            stop = self.at + 1 + count * width * bits // 8
            if self.data[stop:stop + 1] == b")":
                out = np.frombuffer(self.data, f"{self.order}{letter}{bits // 8}", count * width, self.at + 1)
                self.at, self.widths[kind] = stop + 1, [bits]
                return out
        self.fail(f"a list of {count} entries does not end where its {kind}s of "
                  f"{' or '.join(map(str, self.widths.get(kind, [32, 64])))} bits do: the file is truncated, "
                  f"or was written on a machine of another arch")

    def _raw_faces(self, count: int) -> Rows:
        """A binary list of faces, each a list of its own."""
        if count and self.data[self.at:self.at + 1] != b"(":
            self.fail("expected ( before the entries of the list" + self._found())
        self.at += 1
        faces = [self.labels() for _ in range(count)]
        start = np.concatenate([[0], np.cumsum([len(f) for f in faces], dtype=np.int64)])
        return start, np.concatenate(faces) if faces else np.zeros(0, np.int64)

    def tokens(self) -> list[tuple[str, int]]:
        """The words and signs of the rest of a dictionary file, each with its place; comments are gone."""
        text = _COMMENT.sub(lambda m: b" " * len(m[0]), self.data[self.at:]).decode("latin-1")
        out = []
        for found in _TOKEN.finditer(text):
            if found[0].startswith("#"):
                self.fail(f"the directive {found[0]} is not supported; write out what it stands for",
                          self.at + found.start())
            # one letter for each byte, so that places are those in the file
            word = found[0].strip('"').encode("latin-1").decode("utf-8", "replace")
            out.append((word, self.at + found.start()))
        return out


def count_cells(folder: Path) -> int | None:
    """How many cells a polyMesh has, by the note in its ``owner`` or else by its lists; None if it cannot be read."""
    most = -1
    try:
        for path in (find(folder, "owner"), find(folder, "neighbour")):
            if path is not None:
                file = FoamFile(path)
                told = re.search(r"nCells:\s*(\d+)", file.header.get("note", ""))
                if told:
                    return int(told[1])
                most = max(most, int(file.labels().max(initial=-1)))
    except FormatError:
        return None
    return most + 1
