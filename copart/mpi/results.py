"""From rows of the caller's values to those of coupled cells, and back."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import ArrayLike, NDArray

from ..arrays import VERTEX, places
from ..errors import ConfigError, CouplingError


class Rows(NamedTuple):
    """Which rows of the caller's values belong to coupled cells: `where` (ncoupled,) of `cells` (n,), maybe `all`."""

    cells: NDArray[np.int32]
    where: NDArray[np.int64]
    all: bool

    @classmethod
    def of(cls, name: str, coupled: NDArray[np.int32], cells: ArrayLike | None) -> Rows:
        """From the coupled cells, ascending, and those of the caller."""
        if cells is None:
            return cls(coupled, np.arange(len(coupled)), True)
        ids = places(f"cells of {name}", cells, VERTEX, CouplingError, high=2**31)
        order = np.argsort(ids, kind="stable")
        twice = np.flatnonzero(np.diff(ids[order]) == 0)
        if len(twice):
            raise CouplingError(f"cells of {name}: {ids[order][twice[0]]} stands there twice")
        at = np.searchsorted(ids[order], coupled)
        lost = at >= len(ids)
        lost[~lost] = ids[order][at[~lost]] != coupled[~lost]
        if lost.any():
            raise CouplingError(f"cells of {name}: {int(lost.sum())} coupled cells of this part are not among them, "
                                f"the first is {coupled[lost][0]}")
        return cls(ids, order[at], np.array_equal(ids, coupled))


def results_for(out: Any, results: Sequence[tuple[np.dtype[Any], tuple[int, ...]]]) -> list[NDArray[Any] | None]:
    """The arrays that results of these types and shapes go into, None for those that are made.

    Raises
    ------
    ConfigError
        There are more or fewer, or one cannot be written to, has another shape or a type that cannot hold the values.
    """
    outs = list(out) if isinstance(out, list | tuple) else [None] * len(results) if out is None else [out]
    if len(outs) != len(results):
        raise ConfigError(f"out: needs {len(results)} arrays, has {len(outs)}")
    for one, (dtype, shape) in zip(outs, results, strict=True):
        if one is None:
            continue
        if not (isinstance(one, np.ndarray) and one.flags.writeable):
            raise ConfigError("out: needs arrays of numpy that can be written to")
        if one.shape != shape:
            raise ConfigError(f"out: needs shape {shape}, has {one.shape}")
        if not np.can_cast(dtype, one.dtype, "same_kind"):
            raise ConfigError(f"out: needs an array that can hold {dtype}, is of {one.dtype}")
    return outs


def placed(values: NDArray[Any], rows: Rows | None, out: NDArray[Any] | None) -> NDArray[Any]:
    """Values of the coupled cells in the rows of the caller, or in `out`; without `rows` they are left as they came."""
    if out is None:
        if rows is None or rows.all:
            return values
        out = np.zeros((len(rows.cells), *values.shape[1:]), values.dtype)
    out[... if rows is None else rows.where] = values
    return out


__all__ = ["Rows", "placed", "results_for"]
