"""M x N repartitioning: from M parts, possibly unbalanced, to N balanced ones near where the data is.

The graph is enriched with one fixed vertex a new part j, joined to every vertex of
former part i where the migration matrix has ``C[i, j] > 0``, and partitioned in N
parts.  Those edges are never built: an affinity table of M x N numbers gives the
same gains.  (Predari & Esnard 2014, Section III.C, Fig. 5.)

Two older methods are here to compare with: *scratch-remap* partitions without
looking at the former parts and then renumbers; *diffusive* moves vertices along
the boundaries from parts that have too much to parts that have too little.
"""

from __future__ import annotations

import logging
from collections.abc import Callable
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from .arrays import VERTEX, WEIGHT, part_array, whole
from .config import Affinity, Config
from .errors import ConfigError, PartitionError
from .graph import Graph, as_graph
from .kgggp_ml import partition, refine
from .metrics import max_part_weights, part_weights, target_shares
from .metrics import migration_matrix as measured_matrix
from .migration import migration_matrix

logger = logging.getLogger(__name__)

Parts = NDArray[np.int32]

#: Rounds of boundary moves before diffusion gives up.
_SWEEPS = 200


def repartition(graph: Any, part: ArrayLike, m: int, n: int, *, method: str = "mxn", migration_cost: int | None = None,
                eps: float = 0.05, seed: int = 1, threads: int = 1, preset: str | Config = "default",
                tpwgts: ArrayLike | None = None) -> Parts:
    """Balanced `n`-way partition that moves little data away from the `m`-way partition `part`.

    Parameters
    ----------
    graph : Graph or graph-like
        ``vwgt`` is balanced, ``vsize`` is the data that moves with a vertex.
    part : (nvtxs,) array_like of int
        Former parts ``0..m-1``; may be unbalanced, and some may be empty.
    m, n : int
        Number of former and of new parts; new part j is the same process as former part j.
    method : {"mxn", "scratch-remap", "diffusive"}
        See the module.
    migration_cost : int, optional
        Edge weight that one unit of ``vsize`` costs where it goes against the migration matrix.
        Only for "mxn"; the default is :func:`default_migration_cost`.
    eps, seed, threads, preset, tpwgts
        As in :func:`copart.kgggp_ml.partition`.

    Returns
    -------
    (nvtxs,) int32
        New part of every vertex.

    Raises
    ------
    PartitionError
        The former parts are out of range, or no balanced partition exists.
    ConfigError
        Another argument is out of range.

    Examples
    --------
    >>> path = Graph.from_edges(6, range(5), range(1, 6))
    >>> repartition(path, [0, 0, 0, 0, 1, 1], 2, 2, eps=0).tolist()
    [0, 0, 0, 1, 1, 1]
    """
    graph, former, m, n = repartitioning_arguments(graph, part, m, n)
    if method not in METHODS:
        raise ConfigError(f"method: {method!r} is not known; choose one of {', '.join(METHODS)}")
    cost = default_migration_cost(graph) if migration_cost is None else whole("migration_cost", migration_cost, low=0)
    options = {"eps": eps, "seed": seed, "threads": threads, "preset": preset, "tpwgts": tpwgts}
    return METHODS[method](graph, former, m, n, cost, options)


def repartitioning_arguments(graph: Any, part: ArrayLike, m: int, n: int) -> tuple[Graph, Parts, int, int]:
    """The graph, its former parts ``0..m-1`` as int32, and both numbers of parts, checked.

    Raises
    ------
    PartitionError
        The former parts are out of range, or there are fewer vertices than new parts.
    ConfigError
        A number of parts is below 1.
    """
    graph, n = as_graph(graph), whole("n", n, low=1)
    former = part_array("part", part, graph.nvtxs, whole("m", m, low=1), PartitionError)
    if n > graph.nvtxs:
        raise PartitionError(f"n: {n} parts of {graph.nvtxs} vertices would leave parts empty; "
                             f"ask for at most {graph.nvtxs}")
    return graph, former, int(m), n


def default_migration_cost(graph: Graph) -> int:
    """Migration cost of one unit of data: the mean weight of an edge over the mean size of a vertex, at least 1.

    Then a vertex that goes against the migration matrix costs as much as one more cut edge.  Measured on the
    10 x 10 grid from 5 to 7 parts, mean of 8 seeds: 10.8 non-zeros of 11 planned and a volume of 31 (from
    scratch: 13.6 and 41) for 8 % more cut; twice or three times the cost brings no fewer messages.
    """
    edge = float(graph.edge_weights.mean()) if graph.nedges else 1.0
    size = float(graph.sizes.mean()) if graph.nvtxs else 1.0
    return max(1, round(edge / size)) if size > 0 else 1


def migration_plan(graph: Graph, part: ArrayLike, m: int, n: int, *, eps: float = 0.05,
                   tpwgts: ArrayLike | None = None) -> NDArray[np.int64]:
    """The migration matrix (m, n) that M x N repartitioning aims at for this graph."""
    return migration_matrix(part_weights(graph, part, m), n, adjacency=graph.quotient(part, m), eps=eps, tpwgts=tpwgts)


# ---- the methods
def _mxn(graph: Graph, former: Parts, m: int, n: int, cost: int, options: dict[str, Any]) -> Parts:
    """Partition with an affinity for the pattern of the migration matrix."""
    if m == n and _balanced(graph, former, n, options):
        return former.copy()
    plan = migration_plan(graph, former, m, n, eps=options["eps"], tpwgts=options["tpwgts"])
    return partition(graph, n, affinity=Affinity(former, np.where(plan > 0, cost, 0)), **options)


def _scratch_remap(graph: Graph, former: Parts, m: int, n: int, cost: int, options: dict[str, Any]) -> Parts:
    """Partition from scratch, then give the new parts the numbers that keep most data in place."""
    from scipy.optimize import linear_sum_assignment

    new = partition(graph, n, **options)
    stays = np.zeros((max(m, n), n))
    stays[:m] = measured_matrix(former, new, m, n, graph.sizes).toarray()
    benefit = stays[:n]
    share = target_shares(options["tpwgts"], n)
    benefit[share[:, None] != share[None, :]] = -2.0 * float(graph.sizes.sum()) - 1.0
    number, column = linear_sum_assignment(benefit, maximize=True)
    renumbered = np.empty(n, VERTEX)
    renumbered[column] = number
    return renumbered[new]


def _diffusive(graph: Graph, former: Parts, m: int, n: int, cost: int, options: dict[str, Any]) -> Parts:
    """Same number of parts first, then flow between neighbours, then boundary refinement.

    Where both end short of balance, a partition that is drawn to where the vertices now are.
    """
    part = _dissolved(graph, former, m, n) if n < m else _split(graph, former, m, n, options)
    part = _diffused(graph, part, n, options)
    try:
        return refine(graph, part, n, **options)
    except PartitionError:
        logger.info("diffusion did not reach balance, partitioning again near the parts it left")
        return partition(graph, n, affinity=Affinity(part, cost * np.eye(n, dtype=WEIGHT)), **options)


METHODS: dict[str, Callable[[Graph, Parts, int, int, int, dict[str, Any]], Parts]] = {
    "mxn": _mxn, "scratch-remap": _scratch_remap, "diffusive": _diffusive}


def _balanced(graph: Graph, part: Parts, n: int, options: dict[str, Any]) -> bool:
    """Is this a balanced partition without an empty part?"""
    limit = max_part_weights(graph.total_weight, n, options["eps"], options["tpwgts"])
    return bool((part_weights(graph, part, n) <= limit).all() and (np.bincount(part, minlength=n) > 0).all())


# ---- diffusion
def _split(graph: Graph, former: Parts, m: int, n: int, options: dict[str, Any]) -> Parts:
    """Give every new part ``m..n-1`` half of the heaviest part there is at that moment."""
    part = former.copy()
    for j in range(m, n):
        count = np.bincount(part, minlength=n)
        load = np.where(count > 1, part_weights(graph, part, n), -1)
        vertices = np.flatnonzero(part == int(load.argmax())).astype(VERTEX)
        if len(vertices) < 2:
            break
        halves = partition(graph.subgraph(vertices), 2, **{**options, "tpwgts": None, "eps": 0.1, "strict": False})
        part[vertices[halves == 1]] = j
    return part


def _dissolved(graph: Graph, former: Parts, m: int, n: int) -> Parts:
    """Give the vertices of the parts ``n..m-1``, layer by layer, to the part they are joined to most."""
    part = np.where(former < n, former, -1).astype(VERTEX)
    while (part < 0).any():
        to, _ = _strongest(graph, part, np.flatnonzero(part < 0), n)
        reached = np.flatnonzero(to >= 0)
        if len(reached) == 0:  # nothing left has a neighbour in a part: the lightest part takes it
            part[part < 0] = int(part_weights(graph, np.maximum(part, 0), n).argmin()) if (part >= 0).any() else 0
        else:
            part[reached] = to[reached]
    return part


def _strongest(graph: Graph, part: Parts, vertices: NDArray[np.int64], n: int) -> tuple[Parts, NDArray[np.int64]]:
    """For `vertices`, the other part they have the heaviest edges to (-1: none) and that weight, by vertex."""
    chosen = np.zeros(graph.nvtxs, np.bool_)
    chosen[vertices] = True
    row = np.repeat(np.arange(graph.nvtxs), np.diff(graph.xadj))
    other = part[graph.adjncy]
    use = chosen[row] & (other >= 0) & (other != part[row])
    key, where = np.unique(row[use] * n + other[use], return_inverse=True)
    joined = np.zeros(len(key), WEIGHT)
    np.add.at(joined, where, graph.edge_weights[use])
    order = np.lexsort((-key, joined))  # heaviest last, smallest part on ties
    to, weight = np.full(graph.nvtxs, -1, VERTEX), np.zeros(graph.nvtxs, WEIGHT)
    to[key[order] // n] = (key[order] % n).astype(VERTEX)
    weight[key[order] // n] = joined[order]
    return to, weight


def _diffused(graph: Graph, part: Parts, n: int, options: dict[str, Any]) -> Parts:
    """Move boundary vertices, best gain first, until the optimal diffusive flow has passed.

    The flow between neighbouring parts is the one of least squares (Hu & Blake 1999): the
    difference of the potentials x that solve ``L x = load - target``, L the Laplacian of
    the quotient graph.
    """
    part = part.copy()
    target = graph.total_weight * target_shares(options["tpwgts"], n)
    for _ in range(_SWEEPS):
        if _balanced(graph, part, n, options):
            break
        flow = _flow(graph.quotient(part, n), target)
        if not _move_layer(graph, part, flow):
            break
    return part


def _flow(quotient: Graph, target: NDArray[np.float64]) -> NDArray[np.float64]:
    """(n, n) weight to move from each part to each neighbour; 0 where it would be negative."""
    a, b, _ = quotient.edges()
    n = quotient.nvtxs
    laplacian = np.zeros((n, n))
    np.add.at(laplacian, (a, a), 1.0)
    np.add.at(laplacian, (b, b), 1.0)
    laplacian[a, b] = laplacian[b, a] = -1.0
    x = np.linalg.lstsq(laplacian, quotient.weights - target, rcond=None)[0]
    flow = np.zeros((n, n))
    flow[a, b] = np.maximum(x[a] - x[b], 0)
    flow[b, a] = np.maximum(x[b] - x[a], 0)
    return flow


def _move_layer(graph: Graph, part: Parts, flow: NDArray[np.float64]) -> bool:
    """Move one layer of boundary vertices in place, as far as the flow asks for; did any move?"""
    n = len(flow)
    row = np.repeat(np.arange(graph.nvtxs), np.diff(graph.xadj))
    source, sink = part[row], part[graph.adjncy]
    inner = np.zeros(graph.nvtxs, WEIGHT)
    np.add.at(inner, row, np.where(source == sink, graph.edge_weights, 0))
    use = flow[source, sink] > 0
    key, where = np.unique(row[use] * n + sink[use], return_inverse=True)
    joined = np.zeros(len(key), WEIGHT)
    np.add.at(joined, where, graph.edge_weights[use])
    vertex, to = key // n, key % n
    left, count = flow.copy(), np.bincount(part, minlength=n)
    moved = np.zeros(graph.nvtxs, np.bool_)
    for i in np.lexsort((key, inner[vertex] - joined)).tolist():
        v, k, j = int(vertex[i]), int(part[vertex[i]]), int(to[i])
        w = int(graph.weights[v])
        if not moved[v] and count[k] > 1 and 2 * left[k, j] >= max(w, 1):
            left[k, j] -= w
            count[k] -= 1
            count[j] += 1
            part[v] = j
            moved[v] = True
    return bool(moved.any())
