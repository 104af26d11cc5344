"""From rows of the caller's values to those of coupled cells, and back."""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
from numpy.typing import ArrayLike, NDArray

from ..arrays import VERTEX, integers
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
        ids = integers(f"cells of {name}", cells, VERTEX, CouplingError, low=0)
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


def results_for(out: Any, count: int) -> list[NDArray[Any] | None]:
    """The arrays that so many results go into, None for those that are made.

    Raises
    ------
    ConfigError
        There are more or fewer, or one cannot be written to.
    """
    outs = list(out) if isinstance(out, list | tuple) else [None] * count if out is None else [out]
    if len(outs) != count:
        raise ConfigError(f"out: needs {count} arrays, has {len(outs)}")
    for one in outs:
        if one is not None and not (isinstance(one, np.ndarray) and one.flags.writeable):
            raise ConfigError("out: needs arrays of numpy that can be written to")
    return outs


def placed(values: NDArray[Any], rows: Rows | None, out: NDArray[Any] | None) -> NDArray[Any]:
    """Values of the coupled cells in the rows of the caller, or in `out`; without `rows` they are left as they came.

    Raises
    ------
    ConfigError
        `out` has another shape, or a type that cannot hold the values.
    """
    shape = values.shape if rows is None else (len(rows.cells), *values.shape[1:])
    if out is None:
        if rows is None or rows.all:
            return values
        out = np.zeros(shape, values.dtype)
    if out.shape != shape:
        raise ConfigError(f"out: needs shape {shape}, has {out.shape}")
    if not np.can_cast(values.dtype, out.dtype, "same_kind"):
        raise ConfigError(f"out: needs an array that can hold {values.dtype}, is of {out.dtype}")
    out[... if rows is None else rows.where] = values
    return out


__all__ = ["Rows", "placed", "results_for"]
