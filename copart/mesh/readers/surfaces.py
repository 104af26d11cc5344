"""Surfaces as OBJ and OFF files have them: points, and polygons line by line."""

from __future__ import annotations

import re
from collections.abc import Iterator
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from ...errors import CopartError, FormatError
from ..polyhedra import Ints
from ..value import Mesh
from .assembling import by_runs

GROUPS = "obj:group_ids"
"""Cell array with the group of each polygon of an OBJ file, counted from 0; -1 before the first."""
_OFF = re.compile(r"(ST)?(C)?(N)?OFF\b[ \t]*", re.ASCII)
_WHOLE = re.compile(r"[+-]?\d{1,18}", re.ASCII)


def read_obj(path: Path) -> Mesh:
    """Read the polygons of an OBJ file; numbers below 0 count back from the last point before.

    Raises
    ------
    FormatError
        With the line where it breaks the format.
    """
    points: list[list[float]] = []
    corners: list[int] = []
    sizes: list[int] = []
    groups: list[int] = []
    group = -1
    lost: dict[str, None] = {}
    for number, line in _lines(path, continued=True):
        key, *words = line.split()
        if key == "v":
            # a weight or a colour may follow
            points.append(_reals(path, number, words[:3], 3))
        elif key == "f":
            for word in words:
                node = _whole(path, number, word.partition("/")[0])
                corners.append(node - 1 if node > 0 else len(points) + node)
            sizes.append(len(words))
            groups.append(group)
        elif key == "g":
            group += 1
        elif key in ("vt", "vn", "l", "p", "curv", "surf"):
            lost.setdefault(key)
    said = [f"lines that begin with {', '.join(lost)} are left out"] if lost else []
    return _mesh(path, np.array(points).reshape(-1, 3), np.array(sizes, np.int64), np.array(corners, np.int64),
                 {GROUPS: np.array(groups, np.int64)}, said)


def read_off(path: Path) -> Mesh:
    """Read an OFF file; colours and normals are passed over.

    Raises
    ------
    FormatError
        With the line where it breaks the format.
    """
    lines = list(_lines(path))
    head = _OFF.match(lines[0][1]) if lines else None
    if head is None:
        raise FormatError(path, "not an OFF file: the first line must begin with OFF")
    lines[0] = lines[0][0], lines[0][1][head.end():]
    lines = [(number, line) for number, line in lines if line]
    if not lines:
        raise FormatError(path, "the file ends before the numbers of points and faces")
    number, line = lines[0]
    counts = [_whole(path, number, word) for word in line.split()[:2]]
    if len(counts) < 2 or min(counts) < 0:
        raise FormatError(path, f"expected the numbers of points and faces, found {line[:40]!r}", number)
    npoints, nfaces = counts
    if len(lines) <= npoints + nfaces:
        raise FormatError(path, f"{npoints} points and {nfaces} faces announced, {len(lines) - 1} lines found")
    points = [_reals(path, at, text.split()[:3], 3) for at, text in lines[1:1 + npoints]]
    corners: list[int] = []
    sizes = []
    for at, text in lines[1 + npoints:1 + npoints + nfaces]:
        words = text.split()
        size = _whole(path, at, words[0])
        if not 0 < size < len(words):
            raise FormatError(path, f"a face of {size} corners has {len(words) - 1} numbers", at)
        corners += [_whole(path, at, word) for word in words[1:1 + size]]
        sizes.append(size)
    return _mesh(path, np.array(points).reshape(-1, 3), np.array(sizes, np.int64), np.array(corners, np.int64), {}, [])


def _lines(path: Path, continued: bool = False) -> Iterator[tuple[int, str]]:
    """The lines that say something, by their numbers; comments have gone, and where lines may be `continued` by a
    backslash they are one.
    """
    try:
        text = path.read_bytes().decode("utf-8", "replace")
    except OSError as error:
        raise FormatError(path, f"cannot be opened: {error.strerror}") from None
    ahead = ""
    for number, raw in enumerate(text.replace("\r\n", "\n").replace("\r", "\n").split("\n"), start=1):
        line = ahead + raw.partition("#")[0].strip()
        ahead = ""
        if continued and line.endswith("\\"):
            ahead = line[:-1] + " "
        elif line.strip():
            yield number, line


def _reals(path: Path, number: int, words: list[str], count: int) -> list[float]:
    """So many numbers."""
    found = []
    for word in words:
        try:
            found.append(float(word))
        except ValueError:
            raise FormatError(path, f"not a number: {word[:40]!r}", number) from None
    if len(found) != count:
        raise FormatError(path, f"a point needs {count} coordinates, has {len(found)}", number)
    return found


def _whole(path: Path, number: int, word: str) -> int:
    """A whole number."""
    if not _WHOLE.fullmatch(word):
        raise FormatError(path, f"not a whole number: {word[:40]!r}", number)
    return int(word)


def _mesh(path: Path, points: NDArray[np.float64], sizes: Ints, corners: Ints, data: dict[str, Ints],
          remarks: list[str]) -> Mesh:
    """The polygons in their order."""
    if len(sizes) == 0:
        raise FormatError(path, "has no faces")
    try:
        return Mesh(points, by_runs(np.concatenate([[0], np.cumsum(sizes)]), corners), data, path.stem, remarks=remarks)
    except CopartError as error:
        raise FormatError(path, str(error)) from None


__all__ = ["read_obj", "read_off"]
