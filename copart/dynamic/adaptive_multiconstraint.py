"""Adaptive repartitioning under several balance constraints.

The graph is enriched with one fixed vertex per former part, which all vertices of that part are joined to by what they
cost to move; its cut is ``alpha * cut + migration`` but for a constant, and any partitioner that keeps fixed vertices
minimises it.  Starts are refined on it: the former parts, a partition of it, and one of the graph alone whose
parts get the numbers that keep most data in place.
(Predari & Esnard 2014, Section III-C, Fig. 5; Schloegel, Karypis & Kumar 2000; :mod:`copart.dynamic.adaptive`.)
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any, Unpack

import numpy as np
from numpy.typing import ArrayLike, NDArray

from ..arrays import FREE, VERTEX, WEIGHT, PartArray
from ..errors import PartitionError
from ..graph import Graph
from ..metrics import edge_cut, migration_matrix, migration_volume
from ..options import Effort, Options
from ..partitioner.coarsening import carry, coarsen, coarsest_size
from ..partitioner.multiconstraint import partition_multiconstraint, refine_multiconstraint
from ..partitioner.multiconstraint.limits import limits_matrix, weight_vectors
from ..partitioner.multiconstraint.partitioning import finest
from ..partitioner.multiconstraint.refinement import Refiner
from ..partitioner.rounds import Team
from ..partitioner.shape import known_shape
from ..repart import repartitioning_arguments
from .adaptive import keep_numbers, scaled_edges, whole_ratio


def adaptive_repartition_multiconstraint(
    graph: Any, part: ArrayLike, m: int, n: int, vwgts: ArrayLike, limits: ArrayLike, options: Options | None = None,
    *, alpha: float = 5.0, extra: Callable[[PartArray], float] | None = None, **settings: Unpack[Effort],
) -> PartArray:
    """`n`-way partition within several limits, of small ``alpha * cut + migration`` from the `m`-way partition `part`.

    Parameters
    ----------
    graph : Graph or graph-like
        ``vsize`` is the data that moves with a vertex; its own vertex weights play no role.
    part : (nvtxs,) array_like of int
        Former parts ``0..m-1``; may be unbalanced, and some may be empty.
    m, n : int
        Number of former and of new parts; new part j is the same process as former part j.
    vwgts : (nvtxs, ncon) array_like of int
        Weights of each vertex, not negative.
    limits : (ncon, n) array_like of int
        Largest weight of each constraint in each part.
    options : Options, optional
        seed, threads and preset; each also by its own name.  `limits` stand for eps.
    alpha : float
        What a cut edge of weight 1 costs, beside 1 for a unit of ``vsize`` that moves; positive.
    extra : callable, optional
        Cost of a partition beside its cut and in the same unit; it decides between the refined starts.

    Returns
    -------
    (nvtxs,) int32
        New part of every vertex; none is empty.

    Raises
    ------
    PartitionError
        The former parts are out of range, or no partition within the limits was found.
    ConfigError, GraphError
        Another argument is out of range.

    Examples
    --------
    >>> path = Graph.from_edges(6, range(5), range(1, 6))
    >>> both = [[1, 1], [1, 1], [1, 0], [1, 0], [1, 0], [1, 0]]
    >>> adaptive_repartition_multiconstraint(path, [0, 0, 0, 1, 1, 1], 2, 2, both, [[3, 3], [1, 1]]).tolist()
    [1, 0, 0, 0, 1, 1]
    """
    run = Options.of(options, settings)
    graph, former, m, n = repartitioning_arguments(graph, part, m, n)
    edge, data = whole_ratio(alpha)
    enriched, fixed = _enriched(scaled_edges(graph, edge), former, min(m, n), data)
    nodes = len(fixed) - graph.nvtxs
    rows = weight_vectors(vwgts, graph.nvtxs)
    loads = np.concatenate([rows, np.zeros((nodes, rows.shape[1]), WEIGHT)])

    def starts() -> Iterator[Callable[[], PartArray]]:
        if m == n:
            yield lambda: former
        yield lambda: partition_multiconstraint(enriched, n, loads, run, limits=limits, fixed=fixed)[:graph.nvtxs]
        if run.config.patience > 1:  # all presets but "fast"
            yield lambda: keep_numbers(partition_multiconstraint(graph, n, rows, run, limits=limits), former, m, n,
                                       graph.sizes)

    best: tuple[float, PartArray] | None = None
    failed: PartitionError | None = None
    for start in starts():
        try:
            begin = np.concatenate([start(), fixed[graph.nvtxs:]])
            refined = refine_multiconstraint(enriched, begin, loads, limits, fixed=fixed)
            refined = _cycle(enriched, refined, loads, limits, fixed, run)
            new = refined[:graph.nvtxs]
            if len(np.unique(new)) < n:  # a part that holds its fixed vertex alone
                new = refine_multiconstraint(graph, new, rows, limits)
        except PartitionError as error:
            failed = error
            continue
        regular = edge_cut(graph, new) + (0.0 if extra is None else extra(new))
        cost = edge * regular + data * migration_volume(migration_matrix(former, new, m, n, graph.sizes))
        if best is None or cost < best[0]:
            best = cost, new
    if best is None:
        assert failed is not None
        raise failed
    return best[1]


def _cycle(graph: Graph, part: PartArray, vwgts: NDArray[np.int64], limits: ArrayLike, fixed: PartArray,
           run: Options) -> PartArray:
    """One V-cycle inside the parts of `part`, which is within the limits; `part` itself where that wins nothing."""
    bounds = limits_matrix(limits, vwgts)
    level = finest(graph, fixed, vwgts)
    with Team(run.threads) as team:
        levels, maps, rows = coarsen(level, coarsest_size(run.config, len(bounds)), known_shape(graph, level), team,
                                     within=part, rows=vwgts)
    new = part.copy()
    for cmap in maps:
        new = carry(new, cmap, int(cmap.max()) + 1)
    while True:
        refiner = Refiner(levels.pop(), rows.pop(), bounds, new)
        refiner.improve(rounds=1)
        if not maps:
            break
        new = new[maps.pop()]
    if refiner.settle() or edge_cut(graph, new) >= edge_cut(graph, part):
        return part
    return new


def _enriched(graph: Graph, former: PartArray, nodes: int, data: int) -> tuple[Graph, PartArray]:
    """The graph with a fixed vertex for each of the parts ``0..nodes-1``, and the fixed parts of all vertices."""
    u, v, w = graph.edges()
    cells = np.flatnonzero((former < nodes) & (graph.sizes > 0)).astype(VERTEX)
    total = graph.nvtxs + nodes
    enriched = Graph.from_edges(
        total, np.concatenate([u, cells]), np.concatenate([v, graph.nvtxs + former[cells]]),
        np.concatenate([w, (data * graph.sizes[cells]).astype(WEIGHT)]))
    fixed = np.full(total, FREE, VERTEX)
    fixed[graph.nvtxs:] = np.arange(nodes)
    return enriched, fixed


__all__ = ["adaptive_repartition_multiconstraint"]
