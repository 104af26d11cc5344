"""What no partition can meet: told before any work is done, or said of the best that was found."""

from __future__ import annotations

from fractions import Fraction
from math import ceil
from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from ..arrays import WEIGHT
from ..errors import PartitionError
from ..graph import Graph
from ..hypergraph import Hypergraph
from ..metrics import target_shares

Array = np.ndarray[Any, Any]


def feasible_limits(graph: Graph | Hypergraph, limit: Array, pinned: Array | None, strict: bool,
                    tpwgts: ArrayLike | None = None) -> Array:
    """Check that single vertices and fixed vertices fit; raise, or lift the limits where not `strict`.

    `tpwgts` are the shares that the limits were made of, where they were not equal.
    """
    k = len(limit)
    need = np.zeros(k, np.int64)
    # weights that are all 1 need not be there for it
    weights = np.broadcast_to(WEIGHT(1), graph.nvtxs) if graph.vwgt is None else graph.weights
    free = weights
    if pinned is not None:
        held = pinned >= 0
        np.add.at(need, pinned[held], weights[held])
        free = weights[~held]
        over = np.flatnonzero(need > limit)
        if len(over) and strict:
            p = int(over[0])
            raise PartitionError(
                f"fixed: the vertices fixed to part {p} weigh {need[p]}, more than its limit {limit[p]}"
                f"{_more(len(over) - 1, 'part')}", ways=["free some of them", "raise eps"]
            )
        empty = k - len(np.unique(pinned[held]))
        if empty > len(free):
            raise PartitionError(
                f"fixed: {empty} parts have no fixed vertex and only {len(free)} vertices are free, "
                f"so parts would be empty"
            )
    heaviest = int(free.max(initial=0))
    if heaviest > limit.max() and strict:
        v = int(
            np.flatnonzero(weights == heaviest)[0]
            if pinned is None
            else np.flatnonzero((weights == heaviest) & (pinned < 0))[0]
        )
        share = Fraction(1, k) if tpwgts is None else Fraction(float(target_shares(tpwgts, k).max()))
        # in tenths of a per cent, rounded up: the number is taken for eps
        above = ceil(1000 * (heaviest / (int(graph.total_weight) * share) - 1))
        raise PartitionError(
            f"vwgt: {{vertex}} weighs {heaviest}, more than a part may ({limit.max()}); no balance is better than "
            f"{above / 10:g} % over the {'average' if tpwgts is None else 'largest share'}", vertex=v, best=True,
            ways=["raise eps to at least that"] * (above < 1000) + ["use fewer parts"],
        )
    return np.maximum(limit, np.maximum(need, heaviest)) if not strict else limit


def _more(count: int, what: str) -> str:
    return "" if count <= 0 else f" (and {count} more {what}{'s' if count > 1 else ''})"


def overweight(part: Array, graph: Graph | Hypergraph, limit: Array) -> str:
    """Say which part stays over its limit in the best partition found."""
    pwgt = np.zeros(len(limit), np.int64)
    np.add.at(pwgt, part, graph.weights)
    over = np.flatnonzero(pwgt > limit)
    p = int(over[np.argmax((pwgt - limit)[over])])
    return (
        f"balance: no partition within the limits was found; part {p} weighs {pwgt[p]} where {limit[p]} is allowed"
        f"{_more(len(over) - 1, 'part')}"
    )
