"""From rows of the caller's values to those of coupled cells, and back."""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
from numpy.typing import ArrayLike, NDArray

from ..arrays import VERTEX, integers
from ..errors import ConfigError, CouplingError
from .device import DeviceField
from .fields import Fields
from .messages import Transfer
from .sides import Side


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


class Pending:
    """An exchange under way."""

    def __init__(self, transfer: Transfer, side: Side | None, rows: Rows | None, mapping: str, listed: bool,
                 out: Fields, device: DeviceField | None = None):
        self._transfer, self._side, self._rows = transfer, side, rows
        self._mapping, self._listed, self._out = mapping, listed, out
        self._done, self._device = False, device

    def wait(self) -> Any:
        """Until it is complete; the result, as :meth:`Exchange.forward` describes it."""
        if self._done:
            raise ConfigError("wait: this exchange is complete, its result was returned")
        received = self._transfer.wait()
        self._done = True
        if self._side is None or self._rows is None:
            return None
        if self._device is not None:
            came = received[0]
            return came if self._mapping == "raw" else self._device.rows(came, self._side.nearest)
        outs = self._out if isinstance(self._out, (list, tuple)) else [self._out] * len(received)
        if len(outs) != len(received):
            raise ConfigError(f"out: needs {len(received)} arrays, has {len(outs)}")
        results = [self._placed(self._side.mapped(self._mapping, field), out)
                   for field, out in zip(received, outs, strict=True)]
        return results if self._listed else results[0]

    def _placed(self, values: NDArray[Any], out: NDArray[Any] | None) -> NDArray[Any]:
        rows = self._rows
        if rows is None or self._mapping == "raw":
            if out is None:
                return values
            out[...] = values
            return out
        shape = (len(rows.cells), *values.shape[1:])
        if out is None:
            if rows.all:
                return values
            out = np.zeros(shape, values.dtype)
        if out.shape != shape:
            raise ConfigError(f"out: needs shape {shape}, has {out.shape}")
        out[rows.where] = values
        return out


__all__ = ["Pending", "Rows"]
