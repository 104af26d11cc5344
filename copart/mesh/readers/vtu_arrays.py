"""Arrays of VTU files for meshio, each unpacked into its place, block by block on all threads.

meshio 5.3 keeps all blocks and copies them into one array, and then every corner once more.  Arrays that are appended
to the file as bytes, as ParaView writes them, it puts into base64 first, in time that grows with the square of their
size.  What looks odd in any way is left to meshio.  (The format: VTK XML formats, https://docs.vtk.org.)
"""

from __future__ import annotations

import base64
import contextlib
import lzma
import re
import zlib
from collections.abc import Callable, Iterator
from functools import partial
from typing import Any
from xml.etree import ElementTree

import numpy as np
from numpy.typing import NDArray

from ...partitioner.parallel import side_by_side

_UNPACK: dict[str, Callable[[Any, int], bytes]] = {
    "vtkZLibDataCompressor": lambda packed, size: zlib.decompress(packed, bufsize=size),
    "vtkLZMADataCompressor": lambda packed, _: lzma.decompress(packed)}

#: Pieces of work per thread: blocks are packed more or less well.
_PIECES = 4


class _Odd(Exception):
    """Not as such arrays usually are."""


@contextlib.contextmanager
def arrays_in_place(threads: int) -> Iterator[None]:
    """Lets meshio's reader of VTU take packed arrays, and those that are appended as bytes, from here."""
    from meshio.vtu import _vtu

    reader = _vtu.VtuReader
    packed, plain = reader.read_compressed_binary, reader.read_uncompressed_binary
    parse, get_grid = _vtu._parse_raw_binary, _vtu.get_grid
    appended: list[memoryview] = []

    def read_packed(self: Any, data: str | memoryview, dtype: np.dtype[Any]) -> NDArray[Any]:
        kinds = _header_type(self), _in_order(self, dtype)
        if not isinstance(data, str):
            return _packed_bytes(data, *kinds, self.compression, threads)
        try:
            return _packed_text(data, *kinds, self.compression, threads)
        except (_Odd, ValueError, MemoryError, zlib.error, lzma.LZMAError):
            found: NDArray[Any] = packed(self, data, dtype)
            return found

    def read_plain(self: Any, data: str | memoryview, dtype: np.dtype[Any]) -> NDArray[Any]:
        if not isinstance(data, str):
            return _plain_bytes(data, _header_type(self), _in_order(self, dtype))
        found: NDArray[Any] = plain(self, data, dtype)
        return found

    def parted(filename: str) -> Any:
        found = _parted(filename)
        if found is None:
            return parse(filename)
        appended[:] = found[1:]
        return found[0]

    def grid_and_appended(root: Any) -> tuple[Any, Any]:
        grid, text = get_grid(root)
        return grid, appended[0] if appended else text

    reader.read_compressed_binary, reader.read_uncompressed_binary = read_packed, read_plain
    _vtu._parse_raw_binary, _vtu.get_grid = parted, grid_and_appended
    try:
        yield
    finally:
        reader.read_compressed_binary, reader.read_uncompressed_binary = packed, plain
        _vtu._parse_raw_binary, _vtu.get_grid = parse, get_grid


def _in_order(reader: Any, dtype: np.dtype[Any]) -> np.dtype[Any]:
    """The type with the file's order of bytes."""
    return dtype if reader.byte_order is None else dtype.newbyteorder("<" if reader.byte_order[0] == "L" else ">")


def _header_type(reader: Any) -> np.dtype[Any]:
    from meshio.vtu import _vtu

    return _in_order(reader, _vtu.vtu_to_numpy_type[reader.header_type])


def _parted(filename: str) -> tuple[Any, memoryview] | None:
    """The XML of a file without the bytes that are appended to it, and these; None where it is not such a file."""
    with open(filename, "rb") as stream:
        raw = stream.read()
    begin, end = re.search(rb'<AppendedData\s+encoding="raw"\s*>\s*_', raw), raw.rfind(b"</AppendedData>")
    if begin is None or end < begin.end():
        return None
    try:
        root = ElementTree.fromstring(raw[:begin.end()] + raw[end:])
    except ElementTree.ParseError:
        return None
    # meshio takes no other encoding, and never looks at it
    root.find("AppendedData").set("encoding", "base64")  # type: ignore[union-attr]
    return root, memoryview(raw)[begin.end():end]


def _plain_bytes(data: memoryview, header: np.dtype[Any], dtype: np.dtype[Any]) -> NDArray[Any]:
    """The array that begins where the bytes do: their number comes first."""
    size = int(np.frombuffer(data, header, 1)[0])
    if size > len(data) - header.itemsize:
        raise ValueError(f"an array of {size} bytes ends behind the file")
    return np.require(np.frombuffer(data[header.itemsize:header.itemsize + size], dtype), requirements="A")


def _packed_bytes(data: memoryview, header: np.dtype[Any], dtype: np.dtype[Any], method: str,
                  threads: int) -> NDArray[Any]:
    """The array that begins where the bytes do: the sizes of packed blocks, and then the blocks."""
    sizes = np.frombuffer(data, header, 3 + int(np.frombuffer(data, header, 1)[0]))
    if sizes[0] == 0:
        return np.empty(0, dtype)
    try:
        return _unpacked(data[sizes.nbytes:], sizes, dtype, method, threads)
    except _Odd:
        raise ValueError("blocks of an array have other sizes than its head says") from None


def _packed_text(text: str, header: np.dtype[Any], dtype: np.dtype[Any], method: str, threads: int) -> NDArray[Any]:
    """The array of base64 text: the sizes of packed blocks, and then, anew, the blocks."""
    count = int(np.frombuffer(_decoded(text, 0, header.itemsize), header)[0])
    first = (3 + count) * header.itemsize
    if 4 * first > 3 * len(text):
        raise _Odd
    sizes = np.frombuffer(_decoded(text, 0, first), header)
    data = _decoded(text, -(-first // 3) * 4, int(sizes[3:].sum()))
    return _unpacked(memoryview(data), sizes, dtype, method, threads)


def _decoded(text: str, start: int, size: int) -> bytes:
    """So many bytes of what the text from `start` on stands for."""
    return base64.b64decode(text[start:start + -(-size // 3) * 4])[:size]


def _unpacked(data: memoryview, sizes: NDArray[Any], dtype: np.dtype[Any], method: str, threads: int) -> NDArray[Any]:
    """The array of packed blocks one after the other.

    sizes : how many blocks there are, size of one, that of the last if it is another, and packed size of each.
    """
    count, block, last = (int(one) for one in sizes[:3])
    ends = np.concatenate([[0], np.cumsum(sizes[3:], dtype=np.int64)]).tolist()
    total = (count - 1) * block + (last or block)
    if min(count, block) < 1 or last > block or ends[-1] > len(data) or total % dtype.itemsize or method not in _UNPACK:
        raise _Odd
    out = np.empty(total, np.uint8)

    def unpack(first: int, upto: int) -> None:
        for k in range(first, upto):
            mine = out[k * block:(k + 1) * block]
            made = _UNPACK[method](data[ends[k]:ends[k + 1]], len(mine))
            if len(made) != len(mine):
                raise _Odd
            mine[:] = np.frombuffer(made, np.uint8)

    pieces = min(count, 1 if threads == 1 else _PIECES * threads)
    cuts = [count * i // pieces for i in range(pieces + 1)]
    side_by_side([partial(unpack, *cuts[i:i + 2]) for i in range(pieces)], threads)
    return out.view(dtype)


__all__ = ["arrays_in_place"]
