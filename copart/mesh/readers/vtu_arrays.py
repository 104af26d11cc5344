"""Arrays of VTK's XML files in all the ways that they are written: as text, base64 or bytes, packed or not.

(The format: VTK XML formats, https://docs.vtk.org.)
"""

from __future__ import annotations

import base64
import zlib
from collections.abc import Callable
from functools import partial
from typing import Any, NamedTuple
from xml.etree.ElementTree import Element

import numpy as np
from numpy.typing import NDArray

from ...errors import MeshError
from ...partitioner.parallel import side_by_side

_TYPES = {f"{kind}{8 * size}": f"{kind[0].lower()}{size}" for kind in ("Int", "UInt", "Float") for size in (1, 2, 4, 8)
          if kind != "Float" or size > 2}

#: Pieces of work per thread: blocks are packed more or less well.
_PIECES = 4


def _lzma(packed: memoryview, _: int) -> bytes:
    # some Pythons are built without it
    from lzma import LZMAError, decompress

    try:
        return decompress(packed)
    except LZMAError as error:
        raise ValueError(str(error)) from None


def _lz4(packed: memoryview, size: int) -> bytes:
    try:
        from lz4.block import LZ4BlockError, decompress
    except ImportError:
        raise MeshError("arrays are packed by LZ4, which needs the package lz4: pip install 'copart[mesh]'") from None
    try:
        found: bytes = decompress(packed, uncompressed_size=size)
    except LZ4BlockError as error:
        raise ValueError(str(error)) from None
    return found


_UNPACK: dict[str, Callable[[Any, int], bytes]] = {
    "vtkZLibDataCompressor": lambda packed, size: zlib.decompress(packed, bufsize=size),
    "vtkLZMADataCompressor": _lzma, "vtkLZ4DataCompressor": _lz4}


class _Odd(Exception):
    """Blocks have other sizes than their head says."""


class Encoding(NamedTuple):
    """What the head of a file says of its arrays."""

    order: str
    """Of bytes: ``<`` or ``>``."""
    header: np.dtype[Any]
    """Type of the sizes before the values."""
    unpack: Callable[[Any, int], bytes] | None
    """From packed bytes, and the number of bytes that come of them; None where nothing is packed."""
    appended: str | memoryview
    """What elements refer to by an offset: base64, or bytes."""
    threads: int

    @classmethod
    def of(cls, root: Element, appended: str | memoryview, threads: int) -> Encoding:
        """From the root of the file.

        Raises
        ------
        MeshError
            The file is packed in a way that is not known.
        """
        order = ">" if root.get("byte_order") == "BigEndian" else "<"
        method = root.get("compressor")
        if method is not None and method not in _UNPACK:
            raise MeshError(f"arrays are packed by {method}; known: {', '.join(_UNPACK)}")
        header = np.dtype(order + _TYPES.get(root.get("header_type", "UInt32"), "u4"))
        return cls(order, header, None if method is None else _UNPACK[method], appended, threads)

    def values(self, element: Element) -> NDArray[Any]:
        """The array of an element: (n,), or (n, NumberOfComponents) where these are several.

        Raises
        ------
        ValueError
            It is not as its head says.
        """
        kind, form, name = (element.get(key, "") for key in ("type", "format", "Name"))
        if kind not in _TYPES:
            raise ValueError(f"array {name!r} has type {kind!r}")
        native = np.dtype(_TYPES[kind])
        dtype = np.dtype(self.order + _TYPES[kind])
        text = "" if form == "appended" else (element.text or "").strip()
        if form == "appended":
            made = self._binary(self.appended, int(element.get("offset", "0")), dtype)
        elif form == "binary":
            made = self._binary("".join(text.split()) if "\n" in text or " " in text else text, 0, dtype)
        else:
            made = np.fromstring(text, native, sep=" ") if text else np.empty(0, native)
        width = int(element.get("NumberOfComponents") or 1)
        made = np.require(made, native, "A")
        return made.reshape(-1, width) if width > 1 else made

    def _binary(self, data: str | memoryview, at: int, dtype: np.dtype[Any]) -> NDArray[Any]:
        """The array that begins at this place of base64 or bytes."""
        item = self.header.itemsize
        if not 0 <= at <= len(data):
            raise ValueError(f"an array begins at {at}, the data end at {len(data)}")
        if at == len(data):
            return np.empty(0, dtype)
        first = int(np.frombuffer(_decoded(data, at, item), self.header)[0])
        if self.unpack is None:
            # the size is either encoded with the values, or before them and filled up
            apart = isinstance(data, str) and data[at + _chars(item) - 1] == "="
            raw = _decoded(data, at + _chars(item), first) if apart else _decoded(data, at, item + first)[item:]
            return np.frombuffer(raw, dtype)
        if first == 0:
            return np.empty(0, dtype)
        sizes = np.frombuffer(_decoded(data, at, (3 + first) * item), self.header)
        ends = np.concatenate([[0], np.cumsum(sizes[3:], dtype=np.int64)])
        start = at + (_chars(sizes.nbytes) if isinstance(data, str) else sizes.nbytes)
        packed = memoryview(_decoded(data, start, int(ends[-1])))
        return self._unpacked(packed, ends.tolist(), *(int(one) for one in sizes[1:3])).view(dtype)

    def _unpacked(self, data: memoryview, ends: list[int], size: int, last: int) -> NDArray[np.uint8]:
        """Packed blocks, each unpacked into its place; `last` is the size of the last one where that is smaller.

        Some programs write other sizes than those of their blocks: these are put together as they come.
        """
        unpack, count = self.unpack, len(ends) - 1
        assert unpack is not None
        try:
            return self._in_place(data, ends, size, last, unpack)
        except (_Odd, MemoryError):
            return np.frombuffer(b"".join(unpack(data[ends[k]:ends[k + 1]], size) for k in range(count)), np.uint8)

    def _in_place(self, data: memoryview, ends: list[int], size: int, last: int,
                  unpack: Callable[[Any, int], bytes]) -> NDArray[np.uint8]:
        count = len(ends) - 1
        if size < 1 or last > size:
            raise _Odd
        out = np.empty((count - 1) * size + (last or size), np.uint8)

        def fill(first: int, upto: int) -> None:
            for k in range(first, upto):
                mine = out[k * size:(k + 1) * size]
                made = unpack(data[ends[k]:ends[k + 1]], len(mine))
                if len(made) != len(mine):
                    raise _Odd
                mine[:] = np.frombuffer(made, np.uint8)

        pieces = min(count, 1 if self.threads == 1 else _PIECES * self.threads)
        cuts = [count * i // pieces for i in range(pieces + 1)]
        side_by_side([partial(fill, *cuts[i:i + 2]) for i in range(pieces)], self.threads)
        return out


def _chars(size: int) -> int:
    """Letters that stand for so many bytes in base64."""
    return -(-size // 3) * 4


def _decoded(data: str | memoryview, start: int, size: int) -> bytes | memoryview:
    """So many bytes of what stands in base64 or bytes from `start` on."""
    found: bytes | memoryview
    if isinstance(data, str):
        found = base64.b64decode(data[start:start + _chars(size)])[:size]
    else:
        found = data[start:start + size]
    if len(found) < size:
        raise ValueError(f"an array announces {size} bytes, {len(found)} are left")
    return found


__all__ = ["Encoding"]
