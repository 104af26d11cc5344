"""Arrays of VTK's XML files in all the ways that they are written: as text, base64 or bytes, packed or not.

(The format: VTK XML formats, https://docs.vtk.org.)
"""

from __future__ import annotations

import zlib
from binascii import a2b_base64
from collections.abc import Callable
from functools import partial
from typing import Any, NamedTuple
from xml.etree.ElementTree import Element

import numpy as np
from numpy.typing import NDArray

from ...errors import MeshError
from ...parallel import side_by_side
from .vtu_texts import Stretch, Texts, encoded_size, text_of

_TYPES = {f"{kind}{8 * size}": f"{kind[0].lower()}{size}" for kind in ("Int", "UInt", "Float") for size in (1, 2, 4, 8)
          if kind != "Float" or size > 2}

#: Pieces of work per thread, at least: blocks are packed more or less well; and packed bytes of one, at most.
_PIECES, _AT_ONCE = 4, 1 << 20


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
    texts: Texts
    """Long texts of elements, by element."""
    appended: Stretch
    """What elements refer to by an offset."""
    plain: bool
    """Whether that is bytes, and no base64."""
    threads: int

    @classmethod
    def of(cls, root: Element, texts: Texts, appended: Stretch, plain: bool, threads: int) -> Encoding:
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
        return cls(order, header, None if method is None else _UNPACK[method], texts, appended, plain, threads)

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
        if form == "appended":
            made = self._binary(_Data(self.appended, self.plain), int(element.get("offset", "0")), dtype)
        elif form == "binary":
            made = self._binary(_Data(text_of(element, self.texts).stripped(), False), 0, dtype)
        else:
            text = text_of(element, self.texts).text().strip()
            made = np.fromstring(text, native, sep=" ") if text else np.empty(0, native)
        width = int(element.get("NumberOfComponents") or 1)
        made = np.require(made, native, "A")
        return made.reshape(-1, width) if width > 1 else made

    def _binary(self, data: _Data, at: int, dtype: np.dtype[Any]) -> NDArray[Any]:
        """The array that begins at this place of base64 or bytes."""
        item = self.header.itemsize
        if not 0 <= at <= data.stretch.size:
            raise ValueError(f"an array begins at {at}, the data end at {data.stretch.size}")
        if at == data.stretch.size:
            return np.empty(0, dtype)
        first = int(np.frombuffer(data.at(at, item), self.header)[0])
        if self.unpack is None:
            # the size is either encoded with the values, or before them and filled up
            apart = not data.plain and len(a2b_base64(data.stretch.bytes_from(at, encoded_size(item)))) == item
            raw = data.at(at + encoded_size(item), first) if apart else data.at(at, item + first)[item:]
            return np.frombuffer(raw, dtype)
        if first == 0:
            return np.empty(0, dtype)
        sizes = np.frombuffer(data.at(at, (3 + first) * item), self.header)
        ends = np.concatenate([[0], np.cumsum(sizes[3:], dtype=np.int64)]).tolist()
        start = at + (sizes.nbytes if data.plain else encoded_size(sizes.nbytes))
        # what is not there is found before anything is unpacked
        if sizes[3:].max() > data.stretch.size:
            raise ValueError(f"a block of {sizes[3:].max()} bytes is announced, {data.stretch.size} are there in all")
        data.within(start, ends[-2], ends[-1])
        return self._unpacked(partial(data.within, start), ends, *(int(one) for one in sizes[1:3])).view(dtype)

    def _unpacked(self, packed: Callable[[int, int], memoryview], ends: list[int], size: int, last: int
                  ) -> NDArray[np.uint8]:
        """Packed blocks, each unpacked into its place; `last` is the size of the last one where that is smaller.

        Some programs write other sizes than those of their blocks: these are put together as they come.
        """
        unpack, count = self.unpack, len(ends) - 1
        assert unpack is not None
        try:
            return self._in_place(packed, ends, size, last, unpack)
        except (_Odd, MemoryError):
            data = packed(0, ends[-1])
            return np.frombuffer(b"".join(unpack(data[ends[k]:ends[k + 1]], size) for k in range(count)), np.uint8)

    def _in_place(self, packed: Callable[[int, int], memoryview], ends: list[int], size: int, last: int,
                  unpack: Callable[[Any, int], bytes]) -> NDArray[np.uint8]:
        count = len(ends) - 1
        if size < 1 or last > size:
            raise _Odd
        out = np.empty((count - 1) * size + (last or size), np.uint8)

        def fill(first: int, upto: int) -> None:
            begin = ends[first]
            data = packed(begin, ends[upto])
            for k in range(first, upto):
                mine = out[k * size:(k + 1) * size]
                made = unpack(data[ends[k] - begin:ends[k + 1] - begin], len(mine))
                if len(made) != len(mine):
                    raise _Odd
                mine[:] = np.frombuffer(made, np.uint8)

        # base64 is decoded by one thread while others unpack
        pieces = min(count, max(_PIECES * self.threads, -(-ends[-1] // _AT_ONCE)))
        cuts = [count * i // pieces for i in range(pieces + 1)]
        side_by_side([partial(fill, *cuts[i:i + 2]) for i in range(pieces)], self.threads)
        return out


class _Data(NamedTuple):
    """Where arrays are written one after the other."""

    stretch: Stretch
    plain: bool
    """Whether as bytes, and not in base64."""

    def at(self, start: int, size: int) -> memoryview:
        """So many bytes of what stands in base64 or bytes from `start` on."""
        found = (self.stretch.bytes_from if self.plain else self.stretch.decoded)(start, size)
        if len(found) < size:
            raise ValueError(f"an array announces {size} bytes, {len(found)} are left")
        return found

    def within(self, start: int, first: int, last: int) -> memoryview:
        """The bytes from `first` to `last` of what begins at `start`."""
        if self.plain:
            return self.at(start + first, last - first)
        # four letters for three bytes
        whole = first // 3 * 3
        return self.at(start + encoded_size(whole), last - whole)[first - whole:]


__all__ = ["Encoding"]
