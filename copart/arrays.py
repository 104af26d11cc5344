"""Dtype policy, sentinels and the casts every public function starts with.

Vertex ids and part numbers are int32, offsets and weights int64
(:data:`VERTEX`, :data:`OFFSET`, :data:`WEIGHT`).  Nothing given by a caller is
modified: arrays are copied when they must change type, or when they are kept and
the caller could still write to them (:func:`own`), and frozen where they are kept.
"""

from __future__ import annotations

import copyreg
from collections.abc import Mapping
from decimal import Decimal
from types import MappingProxyType
from typing import Any

import numpy as np
from numpy.typing import NDArray

from .errors import ConfigError, CopartError

VERTEX = np.int32
OFFSET = np.int64
WEIGHT = np.int64
FREE = -1
"""In a ``fixed`` array: this vertex may go to any part."""

#: No sum of weights may exceed this, so that gains, which add and subtract sums, never overflow.
MAX_TOTAL = 2**61

PartArray = NDArray[np.int32]
"""Part of each vertex."""

Error = type[CopartError]


def integers(name: str, values: Any, dtype: Any, error: Error, *, low: int | None = None,
             high: int | None = None, size: int | None = None) -> NDArray[Any]:
    """Cast `values` to a contiguous one-dimensional integer array, or raise.

    Parameters
    ----------
    name : str
        What to call the array in messages.
    values : array_like
        Integers, or floats that are all whole numbers.
    dtype : numpy dtype
        Target integer type.
    error : type
        The :class:`CopartError` subclass to raise.
    low, high : int, optional
        Smallest value allowed, and the first that is not (half-open range).
    size : int, optional
        Required length.
    """
    array = plain(name, values, error)
    if array.size == 0 and array.ndim <= 1:
        array = array.astype(dtype).reshape(-1)
    if array.ndim != 1:
        raise error(f"{name}: needs one dimension, has shape {array.shape}")
    if array.dtype == np.float16:  # cannot be compared with the ends of any range
        array = array.astype(np.float32)
    if size is not None and len(array) != size:
        raise error(f"{name}: needs {size} entries, has {len(array)}")
    if array.dtype.kind == "f":
        bad = ~np.isfinite(array) | (array != np.floor(array))
        _first(name, array, bad, "are not whole numbers", error)
        bad = np.abs(array) >= 2.0**63
        _first(name, array, bad, "do not fit in 64 bits", error)
    elif array.dtype.kind == "u":
        info = np.iinfo(np.int64)
        _first(name, array, array > info.max, "do not fit in 64 bits", error)
    elif array.dtype.kind not in "ib":
        raise error(f"{name}: needs integers, has dtype {array.dtype}")
    info = np.iinfo(dtype)
    lo = info.min if low is None else low
    hi = info.max + 1 if high is None else high
    if len(array) and not (_holds_all(dtype, array.dtype, low, high) or surely_within(array, lo, hi)):
        smallest, largest = int(array.min()), int(array.max())
        if smallest < lo or largest >= hi:
            outside = (array < lo) | (array >= hi)
            if high is None and smallest >= lo:
                what = f"do not fit in {info.bits} bits"
            elif high is None:
                what = "are negative" if lo == 0 else f"are below {lo}"
            else:
                what = f"are outside {lo}..{hi - 1}"
            _first(name, array, outside, what, error)
    return np.ascontiguousarray(array, dtype=dtype)


def places(name: str, values: Any, dtype: Any, error: Error, *, high: int, size: int | None = None) -> NDArray[Any]:
    """Cast to :func:`integers` in ``0..high-1`` that number something, or raise.

    A mask is refused: True and False would be the numbers 1 and 0.
    """
    array = plain(name, values, error)
    if array.dtype.kind == "b" and array.size:
        raise error(f"{name}: needs numbers, has a mask of {array.size} entries; numpy.flatnonzero gives the numbers "
                    f"where it is True")
    return integers(name, array, dtype, error, low=0, high=high, size=size)


def plain(name: str, values: Any, error: Error) -> NDArray[Any]:
    """`values` as they are, as an array; or raise where entries are masked, or nothing is like an array.

    Parameters
    ----------
    name : str
        What to call the array in messages.
    values : array_like
    error : type
        The :class:`CopartError` subclass to raise.
    """
    if isinstance(values, np.ma.MaskedArray) and (hidden := int(np.ma.getmaskarray(values).sum())):
        # numpy would give what lies below the mask
        raise error(f"{name}: {hidden} of {values.size} entries are masked; fill them in (numpy.ma.filled), or leave "
                    f"them out")
    try:
        array = np.asarray(values)
    except ValueError as e:
        what = "its rows have different lengths" if "inhomogeneous" in str(e) else str(e)
        raise error(f"{name}: is no array: {what}") from None
    if array.ndim == 0 and array.dtype.kind not in "biufc":
        raise error(f"{name}: needs an array or a list, got {type(values).__name__}")
    return array


def reals(name: str, values: Any, error: Error) -> NDArray[np.float64]:
    """Cast to a contiguous float64 array of any shape, or raise where that is no array of real numbers.

    Parameters as of :func:`plain`.
    """
    array = plain(name, values, error)
    if array.dtype.kind in "cmM":  # numpy would drop the imaginary part, and count days or seconds
        raise error(f"{name}: needs real numbers, has dtype {array.dtype}")
    try:
        # not ascontiguousarray, which makes a list of a number
        return np.asarray(array, np.float64, order="C")
    except (TypeError, ValueError):
        raise error(f"{name}: needs numbers, has dtype {array.dtype}") from None


def _holds_all(dtype: Any, given: Any, low: int | None, high: int | None) -> bool:
    """Whether a type holds whatever is given, so that no value need be looked at where none is asked for."""
    return low is None and high is None and given.kind in "iu" and np.can_cast(given, dtype)


def surely_within(array: NDArray[Any], low: int, high: int) -> bool:
    """Whether one look at an array tells that it is in the range: negative numbers are huge ones without a sign.

    Only ranges from 0 on and signed integers are looked at so; False says nothing of others.
    """
    if low != 0 or array.dtype.kind != "i" or not array.dtype.isnative:
        return False
    bits = 8 * array.itemsize
    largest = int(array.view(f"u{array.itemsize}").max())
    return bool(largest < min(high, 2 ** (bits - 1)))


def _first(name: str, array: NDArray[Any], bad: NDArray[np.bool_], what: str, error: Error) -> None:
    """Raise `error` naming the first offender and how many more there are."""
    count = int(np.count_nonzero(bad))
    if count:
        i = int(np.argmax(bad))
        raise error(f"{name}: {count} of {len(array)} entries {what}, first at index {i}: {array[i]}")


def weights(name: str, values: Any, size: int, error: Error) -> NDArray[np.int64]:
    """Cast to non-negative int64 weights whose sum stays below :data:`MAX_TOTAL`."""
    array = integers(name, values, WEIGHT, error, low=0, size=size)
    if len(array) and float(array.sum(dtype=np.float64)) >= MAX_TOTAL:
        raise error(f"{name}: the sum of the weights overflows, about {array.sum(dtype=np.float64):.3g}; "
                    f"scale the weights to below 2^61 in total")
    return array


def vertex_weights(name: str, values: Any, nvtxs: int, error: Error) -> NDArray[np.int64]:
    """Cast to (nvtxs,) int64 :func:`weights`, or to (nvtxs, ncon) where there are several per vertex."""
    given = plain(name, values, error)
    if given.ndim != 2 or given.shape[1] == 0:
        return weights(name, given, nvtxs, error)
    if given.shape[1] == 1:
        return weights(name, given[:, 0], nvtxs, error)
    columns = [weights(f"{name}[:, {c}]", given[:, c], nvtxs, error) for c in range(given.shape[1])]
    return np.ascontiguousarray(np.stack(columns, axis=1))


def part_array(name: str, values: Any, size: int, nparts: int, error: Error) -> NDArray[np.int32]:
    """Cast to a part array: `size` int32 numbers in ``0..nparts-1``."""
    return integers(name, values, VERTEX, error, low=0, high=nparts, size=size)


def frozen(array: NDArray[Any]) -> NDArray[Any]:
    """A read-only view of `array`."""
    view = array.view()
    view.flags.writeable = False
    return view


def one_of(name: str, number: int, count: int, what: str) -> None:
    """Raise an IndexError where `number` is none of so many vertices or nets: below 0 it would count from the end."""
    if not 0 <= number < count:
        raise IndexError(f"{name}: {number} is none of the {count} {what}")


def own(array: NDArray[Any], given: Any) -> NDArray[Any]:
    """`array`, made of what a caller has `given`, read-only: a copy where the caller could still write to it.

    Who passes on an array made for the purpose freezes it first, and no copy is made.
    """
    lent = array.flags.writeable and (array is given or array.base is not None)
    return frozen(array.copy() if lent else array)


def writable(array: NDArray[Any]) -> NDArray[Any]:
    """The same memory without the read-only mark, which would make a second signature of every kernel."""
    view = array.view()
    try:
        view.flags.writeable = True
    except ValueError:  # the caller's own memory is read-only
        return array.copy()
    return view


def proxied(entries: dict[Any, Any]) -> MappingProxyType[Any, Any]:
    """A read-only mapping, made anew in the process that reads it."""
    return MappingProxyType(entries)


# pickle does not know the read-only mappings that many values hold
copyreg.pickle(MappingProxyType, lambda mapping: (proxied, (dict(mapping),)))


class Frozen:
    """Values whose arrays are read-only, also after pickling; kernels would be compiled once more for others."""

    def __setstate__(self, state: dict[str, Any]) -> None:
        for key, value in state.items():
            object.__setattr__(self, key, _frozen(value))


def _frozen(value: Any) -> Any:
    """Arrays read-only, also those in tuples and mappings."""
    if isinstance(value, np.ndarray):
        return frozen(value)
    if type(value) is tuple:
        return tuple(_frozen(one) for one in value)
    if isinstance(value, Mapping):
        made = {key: _frozen(one) for key, one in value.items()}
        return MappingProxyType(made) if isinstance(value, MappingProxyType) else made
    return value


def whole(name: str, value: Any, *, low: int | None = None, high: int | None = None) -> int:
    """Check that `value` is an integer in ``low..high`` (both included)."""
    try:
        number = int(value)
        same = number == value
    except (TypeError, ValueError, OverflowError):
        same = False
    if not same or isinstance(value, (bool, np.bool_)):
        raise ConfigError(f"{name}: needs an integer, got {value!r}")
    if low is not None and number < low:
        raise ConfigError(f"{name}: must be at least {low}, got {number}")
    if high is not None and number > high:
        raise ConfigError(f"{name}: must be at most {high}, got {number}")
    return number


def fraction(name: str, value: Any, *, low: float = 0.0, high: float = np.inf) -> float:
    """Check that `value` is a finite number in ``low..high`` (both included)."""
    try:
        number = float(value)
    except (TypeError, ValueError):
        raise ConfigError(f"{name}: needs a number, got {value!r:.40}") from None
    except OverflowError:
        raise ConfigError(f"{name}: is too large for a number") from None
    if number == np.inf:
        raise ConfigError(f"{name}: must be finite, got {value!r}")
    if not np.isfinite(number) or not low <= number <= high:
        top = "" if high == np.inf else f" and at most {high:g}"
        raise ConfigError(f"{name}: must be at least {low:g}{top}, got {value!r}")
    return number


def tolerance(name: str, value: Any) -> float:
    """Check an imbalance that is allowed: a fraction from 0 up and below 1, or text in per cent as ``"5%"``.

    Who gives 5 thinks in per cent, and parts five times too heavy are no partition that anyone asks for: it is refused
    with what was probably meant.

    Raises
    ------
    ConfigError
        It is no number, negative, or 1 and more.
    """
    percent = isinstance(value, str) and value.strip().endswith("%")
    number = fraction(name, value.strip()[:-1] if percent else value)
    if percent:
        # as the fraction is written: 5% is 0.05, which 5 / 100 would miss for other numbers
        number = float(Decimal(value.strip()[:-1]) / 100)
    if number >= 1:
        meant = "" if percent or not number < 100 else f"; did you mean {number / 100:.6g}, which is {number:.6g}%?"
        if not percent and 1 < number < 2:
            meant = f"; did you mean {number - 1:.6g} (parts up to {number:.6g} times the average), or {number:.6g}%?"
        raise ConfigError(f"{name}: must be below 1, a fraction or in per cent (0.05 or 5%), got {value!s:.40}{meant}")
    return number


def sums(index: NDArray[Any], values: NDArray[np.int64], size: int) -> NDArray[np.int64]:
    """Exact sums of int64 `values` by `index`: (size,) int64 (``np.bincount`` would go through floats)."""
    total = np.zeros(size, WEIGHT)
    np.add.at(total, index, values)
    return total


def exact_sum(values: NDArray[np.int64]) -> int:
    """Sum of int64 values at least 0, also where it does not fit in 64 bits: both halves of them by themselves."""
    return (int((values >> 32).sum()) << 32) + int((values & 0xFFFFFFFF).sum())


def spanned(points: NDArray[np.float64]) -> NDArray[np.float64]:
    """(2, d) smallest and largest entry of each column; numpy is slow along rows as short as these."""
    columns = points.T
    return np.array([[c.min() for c in columns], [c.max() for c in columns]])
