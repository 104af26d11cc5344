"""Well-known text: triangulated surfaces, ``TIN (((0 0 0, 1 0 0, 0 1 0, 0 0 0)), ...)``.

meshio's reader takes exponentially long for a file that ends too early, and
does not know numbers such as 1e-5.
"""

from __future__ import annotations

import re
from pathlib import Path

import numpy as np

from ...errors import FormatError
from ..value import Mesh
from .numbers import NotANumberError, numbers

_START = re.compile(rb"\s*TIN\s*(?:Z\s*)?\(", re.IGNORECASE)
_TRIANGLE = re.compile(rb"\(\s*+\(([^()]*+)\)\s*+\)")


def read_wkt(path: Path) -> Mesh:
    """Read the triangles of a ``TIN``; corners with the same coordinates are one point.

    Raises
    ------
    FormatError
        The file is no TIN, or its triangles are not four points of which the last is the first.
    """
    try:
        data = path.read_bytes()
    except OSError as error:
        raise FormatError(path, f"cannot be read: {error.strerror}") from None
    start = _START.match(data)
    if start is None:
        raise FormatError(path, "needs TIN (((x y z, ...)), ...); no other kind of well-known text is a mesh")
    found = list(_TRIANGLE.finditer(data, start.end()))
    end = start.end()
    for i, triangle in enumerate(found):
        between = data[end:triangle.start()].strip()
        if between != (b"," if i else b""):
            raise FormatError(path, f"expected the next triangle, found {between[:40].decode('latin-1')!r}",
                              data.count(b"\n", 0, end) + 1)
        end = triangle.end()
    if not found or data[end:].strip() != b")":
        raise FormatError(path, "the list of triangles is not closed: the file is truncated or damaged",
                          data.count(b"\n", 0, end) + 1)
    corners = np.concatenate([_corners(path, triangle[1], i) for i, triangle in enumerate(found)])
    points, index = np.unique(corners, axis=0, return_inverse=True)
    return Mesh(points, [("triangle", index.reshape(-1, 3))], name=path.stem)


def _corners(path: Path, text: bytes, number: int) -> np.ndarray[tuple[int, ...], np.dtype[np.float64]]:
    """(3, 3) the corners of a triangle."""
    words = text.split(b",")
    try:
        rows = [numbers(word, np.float64) for word in words]
    except NotANumberError as error:
        raise FormatError(path, f"triangle {number}: not a number: {error.word!r}") from None
    if len(rows) != 4 or any(len(row) not in (2, 3) or len(row) != len(rows[0]) for row in rows):
        raise FormatError(path, f"triangle {number}: needs four points of 2 or 3 coordinates each")
    if not np.array_equal(rows[0], rows[3]):
        raise FormatError(path, f"triangle {number}: its last point must be its first")
    out = np.zeros((3, 3))
    out[:, :len(rows[0])] = rows[:3]
    return out
