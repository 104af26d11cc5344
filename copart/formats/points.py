"""Files of points: NumPy's ``.npy``, or text with the coordinates of one point per line."""

from __future__ import annotations

import os

import numpy as np
from numpy.typing import NDArray

from ..errors import FormatError
from .npy import read_npy
from .text import PathLike

#: Suffixes of files that hold points.
POINT_SUFFIXES = (".npy", ".csv", ".txt", ".xyz")


def is_points(path: PathLike) -> bool:
    """Does the suffix say that the file holds points?"""
    return os.fspath(path).lower().endswith(POINT_SUFFIXES)


def read_points(path: PathLike) -> NDArray[np.float64]:
    """Read points.

    Parameters
    ----------
    path : path-like
        ``.npy`` with an array of shape (n, d), or (n,) for points on a line; or text with the same number of
        coordinates on every line, between them blanks, commas or semicolons. A first line that is no numbers is taken
        for a heading; what follows a ``#`` and empty lines are skipped.

    Returns
    -------
    (n, d) float64

    Raises
    ------
    FormatError
        The file is unreadable or holds something else.
    """
    if os.fspath(path).lower().endswith(".npy"):
        return _array(path)
    try:
        with open(path, encoding="utf-8-sig") as stream:
            text = stream.read()
    except (OSError, UnicodeDecodeError) as error:
        raise FormatError(path, f"cannot be read: {getattr(error, 'strerror', None) or 'is no text file'}") from None
    rows: list[list[float]] = []
    begun = False
    for number, line in enumerate(text.splitlines(), 1):
        words = line.partition("#")[0].replace(",", " ").replace(";", " ").split()
        if not words:
            continue
        try:
            row = [float(word) for word in words]
        except ValueError:
            if begun:
                raise FormatError(path, f"needs numbers, found {line.strip()!r:.60}", number) from None
            begun = True
            continue
        begun = True
        if rows and len(row) != len(rows[0]):
            raise FormatError(path, f"needs {len(rows[0])} coordinates as on the lines before, found {len(row)}",
                              number)
        rows.append(row)
    if not rows:
        raise FormatError(path, "holds no points")
    return np.array(rows)


def _array(path: PathLike) -> NDArray[np.float64]:
    array = read_npy(path)
    if array.dtype.kind not in "fiub":
        raise FormatError(path, "holds no array of numbers")
    if array.ndim == 1:
        array = array[:, None]
    if array.ndim != 2:
        raise FormatError(path, f"needs one row per point, has shape {array.shape}")
    return np.ascontiguousarray(array, np.float64)


__all__ = ["POINT_SUFFIXES", "is_points", "read_points"]
