"""Part files: one part number per line, line i for vertex i - 1; by custom named ``NAME.part.K``."""

from __future__ import annotations

import os
import re

import numpy as np
from numpy.typing import ArrayLike, NDArray

from ..arrays import VERTEX, part_array
from ..errors import PartitionError
from .output import write_text_atomic
from .text import PathLike, read_numbers


def read_part(path: PathLike, nvtxs: int | None = None, nparts: int | None = None, *,
              free: bool = False) -> NDArray[np.int32]:
    """Read a part file (or a file of fixed vertices).

    Parameters
    ----------
    path : path-like
    nvtxs : int, optional
        Number of vertices that the file must have.
    nparts : int, optional
        Parts are ``0..nparts-1``; default the number in the file's name, or no limit.
    free : bool
        Also take -1, the mark of a vertex that is not fixed.

    Returns
    -------
    (nvtxs,) int32

    Raises
    ------
    FormatError
        A line holds not exactly one number in range, or there are too few or too many.
    """
    numbers = read_numbers(path)
    count = np.diff(numbers.first)
    used = int(np.flatnonzero(count)[-1]) + 1 if count.any() else 0  # empty lines at the end are no entries
    wrong = count[:used] != 1
    if wrong.any():
        i = int(np.argmax(wrong))
        raise numbers.error(f"needs one part number per line, found {count[i]}", line=int(numbers.number[i]))
    if nvtxs is not None and used != nvtxs:
        line = int(numbers.number[nvtxs]) if used > nvtxs else numbers.last_line()
        raise numbers.error(f"needs {nvtxs} part numbers, one per vertex, has {used}", line=line)
    limit = nparts if nparts is not None else count_in_name(path)
    low, high = -1 if free else 0, limit if limit is not None else 2**31 - 1
    outside = (numbers.values < low) | (numbers.values >= high)
    if outside.any():
        i = int(np.argmax(outside))
        raise numbers.error(f"part {numbers.values[i]} is outside {low}..{high - 1}", token=i)
    return numbers.values.astype(VERTEX)


def write_part(path: PathLike, part: ArrayLike) -> None:
    """Write a part array, one number per line, atomically.

    Parameters
    ----------
    path : path-like
    part : (nvtxs,) array_like of int
    """
    checked = part_array("part", part, np.size(part), 2**31 - 1, PartitionError)
    write_text_atomic(path, _lines(checked))


def _lines(part: NDArray[np.int32]) -> str:
    """The text of a part file."""
    count = int(part.max(initial=-1)) + 1
    if count > len(part):  # a table of all numbers would be the longer one
        return "\n".join([*map(str, part.tolist()), ""])
    # numpy leaves other threads their turn, which a million small texts do not
    table = np.array([f"{i}\n".encode() for i in range(count)], np.bytes_)
    width = table.itemsize
    letters = table[part].view(np.uint8).reshape(-1, max(1, width))
    return bytes(letters[letters != 0]).decode()


def count_in_name(path: PathLike) -> int | None:
    """The K of a name that ends in ``.part.K`` (or ``.part.K.gz``), None where there is none."""
    match = re.search(r"\.part\.(\d{1,9})(\.gz)?$", os.fspath(path))
    return int(match[1]) if match and int(match[1]) > 0 else None
