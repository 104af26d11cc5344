"""Weights and limits of several constraints: what is accepted, and what no partition can meet."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from ...arrays import FREE, MAX_TOTAL, VERTEX, WEIGHT, integers, plain, weights
from ...errors import GraphError, PartitionError

Array = np.ndarray[Any, Any]

#: Excess is counted in units of the total of each constraint over this, so that constraints count alike.
_UNITS = 2**40


def weight_vectors(vwgts: ArrayLike, nvtxs: int) -> NDArray[np.int64]:
    """(nvtxs, ncon) int64 weights, C-ordered, from numbers of that shape or (nvtxs,)."""
    given = np.asarray(vwgts)
    if given.ndim == 1:
        given = given[:, None]
    if given.ndim != 2 or len(given) != nvtxs or given.shape[1] < 1:
        raise GraphError(f"vwgt: needs shape ({nvtxs}, ncon), has {np.shape(vwgts)}")
    columns = [weights(f"vwgt of constraint {c}", given[:, c], nvtxs, GraphError) for c in range(given.shape[1])]
    if len(columns) * max(float(column.sum()) for column in columns) >= MAX_TOTAL:
        raise GraphError(f"vwgt: the sums of the weights overflow; scale them to below 2^61 / {len(columns)} each")
    out: NDArray[np.int64] = np.ascontiguousarray(np.stack(columns, axis=1))
    return out


def excess_units(vwgts: Array) -> NDArray[np.int64]:
    """(ncon,) int64 units of excess a unit of weight, so that the total of every constraint counts about alike."""
    totals = np.maximum(vwgts.sum(axis=0), 1)
    out: NDArray[np.int64] = max(_UNITS, int(totals.max())) // totals
    return out


def pinned_parts(fixed: ArrayLike | None, nvtxs: int, nparts: int) -> NDArray[np.int32]:
    """(nvtxs,) int32 parts of the fixed vertices, or an empty array where none is."""
    if fixed is None:
        return np.zeros(0, VERTEX)
    pinned = integers("fixed", fixed, VERTEX, PartitionError, low=FREE, high=nparts, size=nvtxs)
    return pinned if (pinned >= 0).any() else np.zeros(0, VERTEX)


def limits_matrix(limits: ArrayLike, vwgts: Array) -> NDArray[np.int64]:
    """(nparts, ncon) int64 from limits of shape (ncon, nparts); never above the total of a constraint."""
    given = plain("limits", limits, PartitionError)
    if given.ndim != 2 or given.shape[0] != vwgts.shape[1] or given.shape[1] < 1:
        raise PartitionError(f"limits: needs shape ({vwgts.shape[1]}, nparts), has {given.shape}")
    rows = [integers(f"limits of constraint {c}", row, WEIGHT, PartitionError, low=0) for c, row in enumerate(given)]
    out: NDArray[np.int64] = np.ascontiguousarray(np.minimum(np.stack(rows, axis=1), vwgts.sum(axis=0)))
    return out


def check_count(nvtxs: int, nparts: int) -> None:
    """Raise PartitionError where parts would be empty."""
    if nparts > nvtxs:
        raise PartitionError(f"nparts: {nparts} parts of {nvtxs} vertices would leave parts empty; ask for at most "
                             f"{nvtxs}")


def check_limits(vwgts: Array, limits: Array, pinned: Array, strict: bool) -> None:
    """Raise PartitionError for what no partition can meet; balance is forgiven where not `strict`."""
    n, k = len(vwgts), len(limits)
    check_count(n, k)
    free = np.ones(n, np.bool_)
    if len(pinned):
        free = pinned < 0
        empty = k - len(np.unique(pinned[~free]))
        if empty > int(free.sum()):
            raise PartitionError(f"fixed: {empty} parts have no fixed vertex and only {int(free.sum())} vertices are "
                                 f"free, so parts would be empty")
    if not strict:
        return
    held = np.zeros_like(limits)
    if len(pinned):
        np.add.at(held, pinned[~free], vwgts[~free])
    over = np.argwhere(held > limits)
    if len(over):
        p, c = over[0]
        raise PartitionError(f"fixed: the vertices fixed to part {p} weigh {held[p, c]} in constraint {c}, more than "
                             f"its limit {limits[p, c]}", ways=["free some of them", "raise the limit"])
    total, room = vwgts.sum(axis=0), limits.astype(object).sum(axis=0)
    for c in range(vwgts.shape[1]):
        if total[c] > room[c]:
            raise PartitionError(f"limits: constraint {c} weighs {total[c]} in all, its limits allow {room[c]}; "
                                 f"raise them")
    # a vertex larger than the largest limit of one constraint fits nowhere; the others are tried one by one
    largest = limits.max(axis=0)
    suspect = np.flatnonzero(free & (vwgts > limits.min(axis=0)).any(axis=1))
    for v in suspect[(vwgts[suspect] > largest).any(axis=1)][:1]:
        c = int(np.argmax(vwgts[v] > largest))
        raise PartitionError(f"vwgt: {{vertex}} weighs {vwgts[v, c]} in constraint {c}, more than any part may "
                             f"({largest[c]})", vertex=int(v), ways=["raise eps", "use fewer parts"], best=True)
    for v in _without_part(vwgts, limits, suspect)[:1]:
        raise PartitionError(f"vwgt: {{vertex}} with weights {vwgts[v].tolist()} fits in no part", vertex=int(v),
                             ways=["raise the limits"], best=True)


def _without_part(vwgts: Array, limits: Array, vertices: Array) -> Array:
    """Those of `vertices` whose weights are below the limits of no part."""
    kinds = np.unique(limits, axis=0)
    fits = np.zeros(len(vertices), np.bool_)
    for row in kinds:
        fits |= (vwgts[vertices] <= row).all(axis=1)
    out: Array = vertices[~fits]
    return out
