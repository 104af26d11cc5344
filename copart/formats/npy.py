"""Files of NumPy's format, none of which may announce more than it holds."""

from __future__ import annotations

import warnings
from pathlib import Path
from tokenize import TokenError
from typing import Any, BinaryIO

import numpy as np
from numpy.lib import format as npy
from numpy.typing import NDArray

from ..errors import FormatError
from .text import PathLike

#: What numpy's reader of heads, which are Python's literals, raises for damaged ones.
_DAMAGED = (ValueError, SyntaxError, TokenError, TypeError, KeyError, MemoryError, RecursionError, OverflowError)
_HEADERS = {(1, 0): npy.read_array_header_1_0, (2, 0): npy.read_array_header_2_0}


def read_npy(path: PathLike, *, mapped: bool = False) -> NDArray[Any]:
    """The array of a file.

    Parameters
    ----------
    path : path-like
    mapped : bool
        Leave a large one on disk, read-only.

    Raises
    ------
    FormatError
        The file cannot be read, is of another format, holds objects, or is shorter than its head says.
    """
    path = Path(path)
    try:
        with open(path, "rb") as stream, warnings.catch_warnings():
            # of heads that Python 2 has written: they are read
            warnings.simplefilter("ignore", UserWarning)
            need, found = _announced(stream), path.stat().st_size - stream.tell()
            if need > found:
                raise ValueError(f"{need} bytes are announced, {found} are there")
            # an empty array cannot be mapped, and a small one is sooner read
            out: NDArray[Any] = np.load(path, mmap_mode="r" if mapped and need > 4096 else None, allow_pickle=False)
    except OSError as error:
        raise FormatError(path, f"cannot be read: {(error.strerror or str(error)).lower()}") from None
    except (ValueError, EOFError) as error:
        raise FormatError(path, f"is no array in NumPy's format: {' '.join(str(error).split())}") from None
    return out


def _announced(stream: BinaryIO) -> int:
    """Bytes that the array of a file takes by its head, behind which the stream is then."""
    version = npy.read_magic(stream)
    if version not in _HEADERS:
        raise ValueError(f"version {version[0]}.{version[1]} is not known")
    try:
        shape, _, dtype = _HEADERS[version](stream)
    except _DAMAGED:
        raise ValueError("its head is damaged") from None
    if dtype.hasobject or min(shape, default=0) < 0:
        raise ValueError("it holds objects, or less than nothing")
    # Python's integers: a damaged head may announce any number
    need: int = dtype.itemsize
    for length in shape:
        need *= length
    return need


__all__ = ["read_npy"]
