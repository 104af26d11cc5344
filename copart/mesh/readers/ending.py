"""What meshio's readers have to be kept from: looking for ever for the next line, filling the memory, rounding."""

from __future__ import annotations

import contextlib
import io
import mmap
import re
import struct
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from ...errors import FormatError

TEXT = ("avsucd", "permas", "tecplot")
BYTES = ("ansys",)
"""Formats whose readers take an open file, of text or of bytes, and may loop at its end."""
_PATIENCE = 1000
_ZONE = re.compile(rb"^[ \t]*ZONE\b", re.IGNORECASE | re.MULTILINE)
_LONGEST, _MESSAGES = 300, 5
_HEAP = b"GCOL\1\0\0\0"
_LENGTH, _OBJECT = struct.Struct("<Q"), struct.Struct("<H6xQ")


class _Lines:
    """Counts the empty lines and pieces that come after the end."""

    empty = 0

    def counted(self, line: Any) -> Any:
        """A line or piece, or an EOFError when there has been none for long."""
        self.empty = 0 if line else self.empty + 1
        if self.empty > _PATIENCE:
            raise EOFError("the file ends too early")
        return line


class _Bytes(io.BufferedReader, _Lines):
    def read(self, size: int | None = -1, /) -> bytes:
        out: bytes = self.counted(super().read(size))
        return out

    def readline(self, size: int | None = -1, /) -> bytes:
        out: bytes = self.counted(super().readline(size))
        return out


class _Text(io.TextIOWrapper, _Lines):
    def readline(self, size: int = -1, /) -> str:  # type: ignore[override]
        out: str = self.counted(super().readline(size))
        return out


class _Plain:
    """Writes the first messages as they are: rich takes its time for each, and for what looks like markup in a file."""

    left = 0

    def __init__(self, **_: Any) -> None:
        _Plain.left -= 1

    def print(self, message: str, **_: Any) -> None:
        if self.left >= 0:
            sys.stderr.write(re.sub(r"\[/?(bold|yellow|red)\]", "", message[:_LONGEST]) + "\n")


@contextlib.contextmanager
def plain_messages() -> Iterator[None]:
    """Lets meshio's messages end, however many they are and however much of a file they quote."""
    from meshio import _common

    before = getattr(_common, "Console", None)
    _common.Console, _Plain.left = _Plain, _MESSAGES
    try:
        yield
    finally:
        _common.Console = before


@contextlib.contextmanager
def mended() -> Iterator[None]:
    """Lets meshio keep the coordinates of UGRID files of text, which it rounds to single precision, and read values on
    the cells of AVS files, for which it takes blocks of cells for pairs.
    """
    from meshio._mesh import CellBlock
    from meshio.ugrid import _ugrid

    text = _ugrid.file_types["ascii"]
    before = text["float_type"]
    text["float_type"] = "f8"
    needed = not hasattr(CellBlock, "__getitem__")
    if needed:
        CellBlock.__getitem__ = lambda block, i: (block.type, block.data)[i]
    try:
        yield
    finally:
        text["float_type"] = before
        if needed:
            with contextlib.suppress(AttributeError):  # another thread was faster
                del CellBlock.__getitem__


def check_stl(path: Path) -> None:
    """Refuse a binary STL file that is not as long as it says, which meshio takes for a text without triangles.

    Raises
    ------
    FormatError
        Says how many triangles there should be.
    """
    with open(path, "rb") as stream:
        head = stream.read(4096)
    size = path.stat().st_size
    if size < 84 or (b"facet" in head.lower() and head.lstrip()[:5].lower() == b"solid"):
        return
    count = int.from_bytes(head[80:84], "little")
    if (whole := 84 + 50 * count) != size:
        raise FormatError(path, f"neither a text (solid ... facet) nor binary: {count} triangles take {whole} bytes, "
                                f"the file has {size}; it is truncated or damaged")


def zones_left(path: Path) -> int:
    """How many zones of a Tecplot file follow the first, which is the only one that meshio reads."""
    return max(len(_ZONE.findall(path.read_bytes())) - 1, 0)


def opened(path: Path, file_format: str) -> Any:
    """What to hand to meshio for a file: an open file that ends, or None where the path will do."""
    if file_format not in TEXT and file_format not in BYTES:
        return None
    raw = io.FileIO(path)
    if file_format in BYTES:
        return _Bytes(raw)
    return _Text(io.BufferedReader(raw), encoding="utf-8", errors="replace")


def says_something(path: Path) -> bool:
    """Whether a TetGen file has a line that is no comment; meshio looks for one without end."""
    with open(path, encoding="utf-8", errors="replace") as stream:
        return any(line.strip() and not line.lstrip().startswith("#") for line in stream)


def check_heaps(path: Path) -> None:
    """Refuse an HDF5 file with a damaged heap of strings, in which the HDF5 library would go round for ever.

    A heap is ``GCOL``, a version, its size, and objects one after the other, each with its number and size; what
    has number 0 is the free rest, which includes its own head and so is never empty.

    Raises
    ------
    FormatError
        Says where in the file.
    """
    size = path.stat().st_size
    with open(path, "rb") as stream:
        if stream.read(8) != b"\x89HDF\r\n\x1a\n":
            return
        with mmap.mmap(stream.fileno(), 0, access=mmap.ACCESS_READ) as data:
            start = data.find(_HEAP)
            while start >= 0:
                (total,) = _LENGTH.unpack_from(data, start + 8) if start + 16 <= size else (0,)
                # anything else is a text that happens to look like a heap
                if 4096 <= total <= size - start:
                    at, end = start + 16, start + total
                    while at + _OBJECT.size <= end:
                        number, length = _OBJECT.unpack_from(data, at)
                        if number == 0:
                            if length < _OBJECT.size:
                                raise FormatError(path, f"the file is damaged: its heap of strings at byte {start} has "
                                                        f"an object without a size at byte {at}")
                            at += length
                        else:
                            at += _OBJECT.size + (length + 7) // 8 * 8
                start = data.find(_HEAP, start + 4)


def check_hdf5(path: Path) -> None:
    """Refuse an HDF5 file with an array that it cannot hold: reading would fill the memory with zeros.

    Raises
    ------
    FormatError
        Names the array, or the damaged heap.
    ImportError
        The package h5py is missing.
    """
    import h5py

    check_heaps(path)
    limit = 1000 * path.stat().st_size + 1_000_000

    def check(name: str, item: Any) -> None:
        if isinstance(item, h5py.Dataset) and item.size is not None and item.size > limit:
            raise FormatError(path, f"array {name} of shape {item.shape} is larger than the file can hold")

    with h5py.File(path, "r") as data:
        data.visititems(check)
