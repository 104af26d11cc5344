"""Fields: what goes through an exchange for each cell, and how it lies in a message."""

from __future__ import annotations

import hashlib
import math
from collections.abc import Sequence
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import DTypeLike, NDArray

from ..arrays import plain
from ..errors import ConfigError

_KINDS = "biufc"
#: Characters of the name of a layout that are shown, and bytes of its checksum.
_SHOWN, _SUM = 112, 16


class Layout(NamedTuple):
    """What one cell contributes to a message: a word for what is done with it, and type and shape of each field."""

    what: str
    fields: tuple[tuple[str, tuple[int, ...]], ...]

    def empty(self, count: int) -> NDArray[Any]:
        """An array for so many cells: of one field as it is, else of records."""
        if len(self.fields) == 1:
            dtype, shape = self.fields[0]
            return np.empty((count, *shape), dtype)
        return np.empty(count, np.dtype([(f"f{i}", *field) for i, field in enumerate(self.fields)], align=True))

    def packed(self, fields: Sequence[NDArray[Any]], index: NDArray[np.int64]) -> NDArray[Any]:
        """The entries `index` of fields, as in a message."""
        if len(self.fields) == 1:
            return fields[0].take(index, axis=0)
        out = self.empty(len(index))
        for i, field in enumerate(fields):
            out[f"f{i}"] = field[index]
        return out

    def unpacked(self, came: NDArray[Any]) -> list[NDArray[Any]]:
        """The fields of what came."""
        if len(self.fields) == 1:
            return [came]
        return [np.ascontiguousarray(came[f"f{i}"]) for i in range(len(self.fields))]

    @property
    def width(self) -> int:
        """Bytes of the fields of a cell."""
        return sum(np.dtype(dtype).itemsize * math.prod(shape) for dtype, shape in self.fields)

    @property
    def said(self) -> str:
        """In words."""
        each = [f"{np.dtype(dtype).name}{list(shape) if shape else ''}" for dtype, shape in self.fields]
        return f"{self.what} {', '.join(each)}"

    @property
    def name(self) -> NDArray[np.uint8]:
        """(128,) uint8 what goes ahead of the first data: :attr:`said` as far as it goes, and its checksum."""
        text = self.said.encode()
        return np.frombuffer(text[:_SHOWN].ljust(_SHOWN) + hashlib.blake2b(text, digest_size=_SUM).digest(), np.uint8)


def told(name: NDArray[np.uint8]) -> str:
    """What the name of a layout says."""
    return name[:_SHOWN].tobytes().decode(errors="replace").rstrip()


Fields = Any
"""An array or a list of arrays: (n,) or (n, ncomp), of any numeric type."""


def several(values: Fields) -> tuple[list[Any], bool]:
    """Fields as a list, and whether they came as one."""
    if isinstance(values, (list, tuple)):
        return list(values), True
    return [values], False


def given(values: Fields, count: int, names: str) -> tuple[list[NDArray[Any]], bool]:
    """Check the fields of a sender; `count` values each, of the cells called `names`.

    Raises
    ------
    ConfigError
        A field has another length, more than two dimensions or no numbers.
    """
    fields, listed = several(values)
    if not fields:
        raise ConfigError("values: needs at least one field")
    out = []
    for i, field in enumerate(fields):
        where = f"values[{i}]" if listed else "values"
        array = plain(where, field, ConfigError)
        if array.dtype.kind not in _KINDS:
            raise ConfigError(f"{where}: needs numbers, has dtype {array.dtype}")
        if array.ndim not in (1, 2) or len(array) != count or 0 in array.shape[1:]:
            raise ConfigError(f"{where}: needs shape ({count},) or ({count}, ncomp), one row for each of the {names}, "
                              f"has shape {array.shape}")
        out.append(array if array.dtype.isnative else array.astype(array.dtype.newbyteorder("=")))
    return out, listed


def expected(like: DTypeLike | NDArray[Any] | Sequence[Any] | None) -> tuple[list[tuple[str, tuple[int, ...]]], bool]:
    """Type and shape of each field that a receiver says to expect: arrays, or data types such as ``"3f8"``.

    Raises
    ------
    ConfigError
        It is no type of numbers, or has more than one dimension per cell.
    """
    fields, listed = several("f8" if like is None else like)
    if not fields:
        raise ConfigError("like: needs at least one field")
    out = []
    for i, field in enumerate(fields):
        where = f"like[{i}]" if listed else "like"
        if hasattr(field, "dtype") and hasattr(field, "shape") and not isinstance(field, np.dtype):
            base, shape = np.dtype(field.dtype), tuple(field.shape[1:])
        else:
            try:
                dtype = np.dtype(field)
            except TypeError as e:
                raise ConfigError(f"{where}: {str(e).lower()}") from None
            base, shape = dtype.base, dtype.shape
        if base.kind not in _KINDS or len(shape) > 1 or 0 in shape:
            raise ConfigError(f"{where}: needs a type of numbers or a vector of such, like 'f8' or '3f8', got "
                              f"{field!r:.60}")
        out.append((base.newbyteorder("=").str, shape))
    return out, listed


__all__ = ["Fields", "Layout", "expected", "given", "several", "told"]
