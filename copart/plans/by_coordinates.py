"""Parts by coordinates: of points, or of the cells of a mesh, alone or as the start of the graph partitioner."""

from __future__ import annotations

import logging
from typing import TYPE_CHECKING, Any, cast

import numpy as np
from numpy.typing import ArrayLike, NDArray

from ..errors import ConfigError, PartitionError
from ..kgggp_ml import refine
from ..metrics import max_part_weights
from ..names import GeometricMethod
from ..options import Options
from ..partitioner.geometric.boxes import box_graph, messages
from ..partitioner.geometric.methods import METHODS, partition_points
from ..partitioner.geometric.result import GeometricPartition

if TYPE_CHECKING:
    from ..graph import Graph

_log = logging.getLogger(__name__)

REFINED = "multijagged+refine"
"""Multi-Jagged, refined by the graph partitioner."""


def needs_graph(method: str) -> bool:
    """Does a method of ``copart part`` use who is whose neighbour?"""
    return method not in METHODS


def partition_graph_by_coordinates(graph: Graph, nparts: int, method: str, options: Options, *, source: str = "graph",
                                   fixed: ArrayLike | None = None, tpwgts: ArrayLike | None = None,
                                   strict: bool = True) -> NDArray[np.int32]:
    """Partition the vertices of a graph by their coordinates.

    Parameters
    ----------
    graph : Graph
        With coordinates, and one weight per vertex.
    nparts : int
    method : str
        One of :data:`copart.partitioner.geometric.methods.METHODS`, or ``multijagged+refine``.
    options : Options
        Of these, seed and preset mean something where parts are refined only.
    source : str
        What to call the graph in errors.
    fixed : (nvtxs,) array_like of int, optional
        Part of each pinned vertex, -1 elsewhere; where parts are refined.
    tpwgts : (nparts,) array_like of float, optional
    strict : bool
        Raise where a part is heavier than `options.eps` allows.

    Raises
    ------
    ConfigError
        The graph has no coordinates, or several weights per vertex.
    PartitionError
        As :func:`copart.partitioner.multijagged.multijagged` and :func:`copart.kgggp_ml.refine`; the parts are out of
        balance.
    """
    if graph.coords is None:
        raise ConfigError(f"method: {method} needs coordinates, which {source} has not; take a mesh, a file of points, "
                          f"or another method")
    if graph.ncon > 1:
        raise ConfigError(f"method: {method} balances one weight per vertex, {source} has {graph.ncon}")
    refined = method == REFINED
    by = "multijagged" if refined else cast(GeometricMethod, method)
    start = partition_points(graph.coords, nparts, by, weights=graph.vwgt, tpwgts=tpwgts, threads=options.threads)
    if refined:
        try:
            return refine(graph, start.part, nparts, options, fixed=fixed, tpwgts=tpwgts)
        except PartitionError as error:
            if strict or fixed is not None:
                raise
            _log.warning("%s", error)
            return start.part
    check_balance(start, options.eps, tpwgts, strict, graph.vwgt)
    return start.part


def check_balance(made: GeometricPartition, eps: float, tpwgts: ArrayLike | None, strict: bool,
                  weights: ArrayLike | None = None) -> None:
    """Refuse parts that are heavier than allowed, and empty ones, or log a warning.

    Parameters
    ----------
    made : GeometricPartition
    eps : float
    tpwgts : (nparts,) array_like of float, optional
    strict : bool
        Refuse, and do not warn.
    weights : (n,) array_like of float, optional
        Of the points; 1 each unless given.

    Raises
    ------
    PartitionError
        Names the heaviest of them, or one that is empty.
    """
    limit = _limits(made, eps, tpwgts, weights)
    over = made.weights - limit
    p = int(np.argmax(over))
    if over[p] > 1e-9 * limit[p]:
        message, help_ = (f"balance: part {p} weighs {made.weights[p]:.10g} where {limit[p]:.10g} is allowed; single "
                          f"points are too heavy for boxes of so little difference"), "raise eps"
    elif not made.sizes.all():
        message, help_ = (f"part {int(np.argmin(made.sizes))} has no point: weights are so unequal that one point "
                          f"fills the place of several parts"), "take fewer parts"
    else:
        return
    if strict:
        raise PartitionError(f"{message}; {help_}, or take the best balance (--best-balance)")
    _log.warning("%s", message)


def _limits(made: GeometricPartition, eps: float, tpwgts: ArrayLike | None, weights: ArrayLike | None
            ) -> NDArray[np.float64]:
    """Largest weight of each part: rounded up to whole points where all weigh alike or whole numbers, as for graphs."""
    given = np.ones(1) if weights is None else np.asarray(weights, float)
    total = float(made.weights.sum())
    some = given[given > 0]
    grain = 1.0 if (given == np.floor(given)).all() or not len(some) else float(some.min())
    counts = some / grain
    if np.allclose(counts, np.rint(counts), rtol=1e-9, atol=0):
        return grain * max_part_weights(round(total / grain), made.nparts, eps, tpwgts).astype(np.float64)
    shares = np.full(made.nparts, 1 / made.nparts) if tpwgts is None else np.asarray(tpwgts) / np.sum(tpwgts)
    return np.asarray((1 + eps) * total * shares)


def describe_points(made: GeometricPartition, tpwgts: ArrayLike | None) -> dict[str, Any]:
    """The figures of parts of points; messages where the parts are boxes."""
    shares = np.full(made.nparts, 1 / made.nparts) if tpwgts is None else np.asarray(tpwgts) / np.sum(tpwgts)
    wanted = made.weights.sum() * shares
    # as of a graph without weight
    ub = float((made.weights / wanted).max()) - 1 if wanted.all() else 0.0
    found: dict[str, Any] = {"points": len(made.part), "parts": made.nparts, "method": made.method, "ub": ub,
                             "empty": int((made.sizes == 0).sum())}
    if made.boxes is not None:
        found["max_messages"], found["messages"] = messages(box_graph(made.boxes))
    return found


__all__ = ["REFINED", "check_balance", "describe_points", "needs_graph", "partition_graph_by_coordinates"]
