"""Stencils: with which positions, relative to its own, every process of a grid exchanges data.

All processes have the same stencil.  The process itself, the zero vector, never
belongs to it: that is no communication.
"""

from __future__ import annotations

import itertools
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from ...arrays import WEIGHT, frozen, integers, own, plain, weights, whole
from ...errors import ConfigError, MappingError, did_you_mean

Offset = tuple[int, ...]


@dataclass(frozen=True, eq=False)
class Stencil:
    """Offsets to the neighbours, and how much is sent to each.

    Parameters
    ----------
    offsets : (k, ndims) array_like of int
        None of them zero, none twice.
    weights : (k,) array_like of int, optional
        Data sent along each offset in one exchange, or exchanges times data; 1 each where not given.
    name : str
        For tables and messages.

    Raises
    ------
    MappingError
        A rule is broken; the first place is named.
    """

    offsets: NDArray[np.int64]
    weights: NDArray[np.int64]
    name: str = "user"

    def __init__(self, offsets: ArrayLike, weights: ArrayLike | None = None, name: str = "user"):
        rows = plain("stencil", offsets, MappingError)
        if rows.ndim != 2 or rows.shape[1] == 0:
            raise MappingError(f"stencil: needs one row per offset, has shape {rows.shape}")
        flat = integers("stencil", rows.reshape(-1), np.int64, MappingError, low=-2**31, high=2**31)
        rows = own(flat, offsets).reshape(rows.shape)
        zero = np.flatnonzero(~rows.any(axis=1))
        if len(zero):
            raise MappingError(f"stencil: offset {zero[0]} is zero: the process itself is no neighbour; leave it out")
        first: dict[Offset, int] = {}
        for i, row in enumerate(rows.tolist()):
            if first.setdefault(tuple(row), i) != i:
                raise MappingError(f"stencil: offset {i} {tuple(row)} repeats offset {first[tuple(row)]}; "
                                   f"give it a larger weight instead")
        object.__setattr__(self, "offsets", frozen(rows))
        object.__setattr__(self, "weights", own(_weights(weights, len(rows)), weights))
        object.__setattr__(self, "name", name)

    @property
    def ndims(self) -> int:
        """Number of dimensions."""
        return int(self.offsets.shape[1])

    def __len__(self) -> int:
        return len(self.offsets)

    def __repr__(self) -> str:
        return f"Stencil({self.name}, {len(self)} offsets in {self.ndims} dimensions)"


def _weights(values: ArrayLike | None, size: int) -> NDArray[np.int64]:
    if values is None:
        return np.ones(size, WEIGHT)
    return weights("stencil weights", values, size, MappingError)


def _unit(ndims: int, axis: int, length: int) -> Offset:
    return tuple(length if i == axis else 0 for i in range(ndims))


def _both_ways(ndims: int, axes: range, lengths: range = range(1, 2)) -> list[Offset]:
    return [_unit(ndims, axis, sign * length) for axis in axes for length in lengths for sign in (-1, 1)]


def _five_point(d: int, hops: int) -> list[Offset]:
    return _both_ways(d, range(d))


def _nine_point(d: int, hops: int) -> list[Offset]:
    return [r for r in itertools.product((-1, 0, 1), repeat=d) if any(r)]


def _component(d: int, hops: int) -> list[Offset]:
    return _both_ways(d, range(d - 1))


def _diagonal(d: int, hops: int) -> list[Offset]:
    return list(itertools.product((-1, 1), repeat=d))


def _crank_nicolson(d: int, hops: int) -> list[Offset]:
    flat = _component(d, hops)
    # the last dimension is time: every neighbour, and the point itself, once more one step ahead
    return flat + [(*r[:-1], 1) for r in flat] + [_unit(d, d - 1, 1)]


def _hops_first(d: int, hops: int) -> list[Offset]:
    return _both_ways(d, range(d)) + _both_ways(d, range(1), range(2, hops + 1))


def _hops_last(d: int, hops: int) -> list[Offset]:
    return _both_ways(d, range(d)) + _both_ways(d, range(d - 1, d), range(2, hops + 1))


#: More steps than these are a mistake: the work grows with the number of neighbours.
_FARTHEST = 4096
#: The seven kinds: offsets for a number of dimensions and of hops.
STENCILS: dict[str, Callable[[int, int], list[Offset]]] = {
    "five-point": _five_point, "nine-point": _nine_point, "component": _component, "diagonal": _diagonal,
    "crank-nicolson": _crank_nicolson, "hops-first": _hops_first, "hops-last": _hops_last,
}


def stencil(kind: str, ndims: int, *, hops: int = 3, weights: ArrayLike | None = None) -> Stencil:
    """One of the seven usual kinds, for any number of dimensions.

    Parameters
    ----------
    kind : str
        ``five-point``: one step along every dimension, both ways (2d offsets).  ``nine-point``: all that is at
        most one step away in every dimension (3^d - 1).  ``component``: one step along all dimensions but
        the last (2(d - 1)).  ``diagonal``: one step in every dimension at once (2^d).  ``crank-nicolson``: those
        of component, the same one step ahead in the last dimension, and one step ahead (4(d - 1) + 1).
        ``hops-first``, ``hops-last``: five-point, and 2 to `hops` steps along the first or the last dimension.
    ndims : int
        Number of dimensions, 1 to 16.
    hops : int
        Farthest neighbour of the kinds with hops, 1 to 4096.
    weights : (k,) array_like of int, optional
        See :class:`Stencil`.

    Returns
    -------
    Stencil

    Examples
    --------
    >>> stencil("five-point", 2).offsets.tolist()
    [[-1, 0], [1, 0], [0, -1], [0, 1]]
    """
    if kind not in STENCILS:
        raise ConfigError(f"stencil: {kind!r} is none of {', '.join(STENCILS)}, and no list of offsets"
                          + did_you_mean(str(kind), STENCILS))
    d = whole("ndims", ndims, low=1, high=16)
    offsets = STENCILS[kind](d, whole("hops", hops, low=1, high=_FARTHEST))
    if not offsets:
        raise MappingError(f"stencil: {kind} has no offsets in {d} dimension")
    return Stencil(offsets, weights, kind)


def as_stencil(value: Any, ndims: int, weights: ArrayLike | None = None) -> Stencil:
    """A stencil from a kind, a flat list or rows of offsets.

    Parameters
    ----------
    value : Stencil, str or array_like of int
        One of :data:`STENCILS`; or k rows of `ndims` numbers; or the same in one flat list of k * `ndims` numbers.
    ndims : int
        Dimensions of the grid.
    weights : (k,) array_like of int, optional
        See :class:`Stencil`; not with a `Stencil`, which has its own.

    Examples
    --------
    >>> as_stencil([1, 0, -1, 0, 1, 1], 2).offsets.tolist()
    [[1, 0], [-1, 0], [1, 1]]
    """
    if isinstance(value, Stencil):
        if value.ndims != ndims:
            raise MappingError(f"stencil: has {value.ndims} dimensions, the grid has {ndims}")
        if weights is not None:
            raise MappingError("stencil weights: given twice, in the stencil and beside it")
        return value
    if isinstance(value, str):
        return stencil(value, ndims, weights=weights)
    rows = plain("stencil", value, MappingError)
    if rows.ndim == 1:
        if rows.size == 0 or rows.size % ndims:
            raise MappingError(f"stencil: a flat list needs a multiple of {ndims} numbers, one offset after the other, "
                               f"has {rows.size}")
        rows = rows.reshape(-1, ndims)
    if rows.ndim == 2 and rows.shape[1] != ndims:
        raise MappingError(f"stencil: offsets have {rows.shape[1]} numbers, the grid has {ndims} dimensions")
    return Stencil(rows, weights)


__all__ = ["STENCILS", "Stencil", "as_stencil", "stencil"]
