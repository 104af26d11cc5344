"""SCOTCH mappings (``.map``) and coordinates (``.xyz``).

``.map``: the number of lines, then a vertex and its processor per line, in any order; vertices of a graph with labels
go by these.  ``.xyz``: the number of dimensions (1, 2 or 3), the number of vertices, then a vertex and its coordinates
per line.  (SCOTCH user's guide, chapter on files.)
"""

from __future__ import annotations

import numpy as np
from numpy.typing import ArrayLike, NDArray

from ..arrays import VERTEX
from ..errors import FormatError
from .output import write_text_atomic
from .text import Numbers, PathLike, read_bytes, read_numbers


def read_map(path: PathLike, nvtxs: int | None = None, nprocs: int | None = None, *,
             free: bool = False, labels: NDArray[np.int64] | None = None) -> NDArray[np.int32]:
    """Read a mapping; vertices may be counted from 0 or 1, and lines be in any order.

    Parameters
    ----------
    nvtxs, nprocs : int, optional
        How many vertices the mapping must have, and processors there are.
    free : bool
        Also take -1, the mark of a vertex without a processor.
    labels : (nvtxs,) int64, optional
        What the vertices are called (:func:`copart.formats.scotch.read_labelled`), where they are not just counted.

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
    vertex, place = _vertices(numbers, count, labels), values[2::2]
    out = np.full(count, -2, VERTEX)
    low, high = -1 if free else 0, 2**31 - 1 if nprocs is None else nprocs
    wrong = (place < low) | (place >= high)
    if wrong.any():
        i = int(np.argmax(wrong))
        raise numbers.error(f"processor {place[i]} is outside {low}..{high - 1}", token=2 + 2 * i)
    order = np.argsort(vertex, kind="stable")
    twice = np.flatnonzero(np.diff(vertex[order]) == 0)
    if len(twice):
        i = int(order[twice + 1].min())
        raise numbers.error(f"vertex {values[1 + 2 * i]} is given twice", token=1 + 2 * i)
    out[vertex] = place
    return out


def _vertices(numbers: Numbers, count: int, labels: NDArray[np.int64] | None) -> NDArray[np.int64]:
    """Vertex of each line, counted from 0; FormatError where a name is none of the graph's."""
    name = numbers.values[1::2]
    if labels is not None and len(labels) == count and not _counted(labels):
        order = np.argsort(labels)
        at = np.minimum(np.searchsorted(labels[order], name), count - 1)
        outside = labels[order[at]] != name
        vertex, among = order[at], "no label of the graph"
    else:
        base = 0 if count == 0 or name.min() == 0 else 1
        vertex, among = name - base, f"outside {base}..{base + count - 1}"
        outside = (vertex < 0) | (vertex >= count)
    if outside.any():
        i = int(np.argmax(outside))
        raise numbers.error(f"vertex {name[i]} is {among}", token=1 + 2 * i)
    return vertex


def _counted(labels: NDArray[np.int64]) -> bool:
    """Whether vertices are just counted, from 0 or 1; mappings are then read from either, whatever the graph does."""
    return not len(labels) or (0 <= labels[0] <= 1 and bool((np.diff(labels) == 1).all()))


def write_map(path: PathLike, mapping: ArrayLike, labels: NDArray[np.int64] | None = None) -> None:
    """Write a mapping, atomically.

    Parameters
    ----------
    path : path-like
    mapping : (nvtxs,) array_like of int
        Processor of each vertex.
    labels : (nvtxs,) int64, optional
        What the vertices are called; counted from 0 where not given.
    """
    place = np.asarray(mapping).tolist()
    names = range(len(place)) if labels is None else labels.tolist()
    write_text_atomic(path, "".join([f"{len(place)}\n", *(f"{v}\t{p}\n" for v, p in zip(names, place, strict=True))]))


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
