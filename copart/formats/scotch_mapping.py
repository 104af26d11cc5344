"""SCOTCH mappings (``.map``) and coordinates (``.xyz``).

``.map``: the number of lines, then a vertex and its processor per line, in any order.  ``.xyz``: the number of
dimensions (1, 2 or 3), the number of vertices, then a vertex and its coordinates per line.
(SCOTCH user's guide, chapter on files.)
"""

from __future__ import annotations

import numpy as np
from numpy.typing import ArrayLike, NDArray

from ..arrays import VERTEX
from ..errors import FormatError
from .output import write_text_atomic
from .text import PathLike, read_bytes, read_numbers


def read_map(path: PathLike, nvtxs: int | None = None, nprocs: int | None = None, *,
             free: bool = False) -> NDArray[np.int32]:
    """Read a mapping; vertices may be counted from 0 or 1, and lines be in any order.

    Parameters
    ----------
    nvtxs, nprocs : int, optional
        How many vertices the mapping must have, and processors there are.
    free : bool
        Also take -1, the mark of a vertex without a processor.

    Returns
    -------
    (nvtxs,) int32
        Processor of each vertex.

    Raises
    ------
    FormatError
        The first rule the file breaks, with its line.
    """
    numbers = read_numbers(path, comment="")
    values = numbers.values
    if not len(values):
        raise FormatError(path, "is empty, needs the number of lines and a vertex and its processor per line")
    count = int(values[0])
    if len(values) != 1 + 2 * count:
        raise numbers.error(f"{count} lines of two numbers are announced, the file has {len(values) - 1} numbers after "
                            f"that", line=numbers.last_line())
    if nvtxs is not None and count != nvtxs:
        raise numbers.error(f"needs {nvtxs} vertices, has {count}", token=0)
    vertex, place = values[1::2], values[2::2]
    base = int(vertex.min(initial=0)) if count == 0 or vertex.min() == 0 else 1
    out = np.full(count, -2, VERTEX)
    outside = (vertex < base) | (vertex >= base + count)
    if outside.any():
        i = int(np.argmax(outside))
        raise numbers.error(f"vertex {vertex[i]} is outside {base}..{base + count - 1}", token=1 + 2 * i)
    low, high = -1 if free else 0, 2**31 - 1 if nprocs is None else nprocs
    wrong = (place < low) | (place >= high)
    if wrong.any():
        i = int(np.argmax(wrong))
        raise numbers.error(f"processor {place[i]} is outside {low}..{high - 1}", token=2 + 2 * i)
    order = np.argsort(vertex, kind="stable")
    twice = np.flatnonzero(np.diff(vertex[order]) == 0)
    if len(twice):
        i = int(order[twice + 1].min())
        raise numbers.error(f"vertex {vertex[i]} is given twice", token=1 + 2 * i)
    out[vertex - base] = place
    return out


def write_map(path: PathLike, mapping: ArrayLike) -> None:
    """Write a mapping, vertices counted from 0, atomically."""
    place = np.asarray(mapping).tolist()
    write_text_atomic(path, "".join([f"{len(place)}\n", *(f"{v}\t{p}\n" for v, p in enumerate(place))]))


def read_xyz(path: PathLike, nvtxs: int | None = None) -> NDArray[np.float64]:
    """Read coordinates, also packed with gzip: (nvtxs, d) float64 with d = 1, 2 or 3.

    Raises
    ------
    FormatError
        The file is no coordinate file, or has another number of vertices than `nvtxs`.
    """
    words = read_bytes(path).split()
    try:
        dims, count = int(words[0]), int(words[1])
        values = np.array(words[2:], np.float64)
    except (IndexError, ValueError):
        raise FormatError(path, "needs the number of dimensions, of vertices, and numbers only") from None
    if dims not in (1, 2, 3):
        raise FormatError(path, f"coordinates have 1, 2 or 3 dimensions, not {dims}", 1)
    if len(values) != count * (dims + 1):
        raise FormatError(path, f"{count} vertices of {dims} coordinates are announced, the file has {len(values)} "
                                f"numbers after that where {count * (dims + 1)} are needed")
    if nvtxs is not None and count != nvtxs:
        raise FormatError(path, f"needs {nvtxs} vertices, has {count}", 2)
    rows = values.reshape(count, dims + 1)
    order = np.argsort(rows[:, 0], kind="stable")
    label = rows[order, 0]
    if count and ((label != np.arange(count) + label[0]).any() or label[0] not in (0, 1)):
        raise FormatError(path, "vertices must be numbered without gaps from 0 or 1")
    found: NDArray[np.float64] = rows[order, 1:]
    if not np.isfinite(found).all():
        raise FormatError(path, "coordinates must be finite")
    return np.ascontiguousarray(found)


def write_xyz(path: PathLike, coords: ArrayLike) -> None:
    """Write coordinates (nvtxs, d), vertices counted from 0, atomically; numbers are read back as written."""
    points = np.asarray(coords, np.float64)
    lines = [f"{points.shape[1]}\n{len(points)}\n"]
    lines += [f"{v}\t" + "\t".join(repr(x) for x in row) + "\n" for v, row in enumerate(points.tolist())]
    write_text_atomic(path, "".join(lines))
