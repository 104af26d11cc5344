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
from dataclasses import dataclass
from typing import Any, Unpack

import numpy as np
from numpy.typing import ArrayLike, NDArray

from .arrays import VERTEX, WEIGHT, PartArray, part_array, whole
from .errors import PartitionError
from .graph import Graph, as_graph
from .kgggp_ml import partition, refine
from .metrics import max_part_weights, part_weights, target_shares
from .metrics import migration_matrix as measured_matrix
from .migration.matrix import migration_matrix
from .names import RepartMethod, known_name
from .options import Options, Settings
from .partitioner.affinity import Affinity

logger = logging.getLogger(__name__)

#: Rounds of boundary moves before diffusion gives up.
_SWEEPS = 200


def repartition(graph: Any, part: ArrayLike, m: int, n: int, options: Options | None = None, *,
                method: RepartMethod = "mxn", migration_cost: int | None = None, tpwgts: ArrayLike | None = None,
                **settings: Unpack[Settings]) -> PartArray:
    """Balanced `n`-way partition that moves little data away from the `m`-way partition `part`.

    Parameters
    ----------
    graph : Graph or graph-like
        ``vwgt`` is balanced, ``vsize`` is the data that moves with a vertex.
    part : (nvtxs,) array_like of int
        Former parts ``0..m-1``; may be unbalanced, and some may be empty.
    m, n : int
        Number of former and of new parts; new part j is the same process as former part j.
    options : Options, optional
        eps, seed, threads and preset (:class:`copart.options.Options`); each also by its own name, as in ``seed=2``.
    method : {"mxn", "scratch-remap", "diffusive"}
        See the module.
    migration_cost : int, optional
        Edge weight that one unit of ``vsize`` costs where it goes against the migration matrix.
        Only for "mxn"; the default is :func:`default_migration_cost`.
    tpwgts : (n,) array_like of float, optional
        Target share of each part; equal where not given.

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
    options = Options.of(options, settings)
    graph, former, m, n = repartitioning_arguments(graph, part, m, n)
    known_name("method", method, METHODS)
    cost = default_migration_cost(graph) if migration_cost is None else \
        whole("migration_cost", migration_cost, low=0, high=MOST_COST)
    return METHODS[method](_Task(graph, former, m, n, cost, options, tpwgts))


#: So many former parts may be empty in any case: their tables are small.
_EMPTY = 1000

#: What a vertex that moves costs beside cut edges, in sums that fit in 64 bits.
MOST_COST = 2**31 - 1


def repartitioning_arguments(graph: Any, part: ArrayLike, m: int, n: int) -> tuple[Graph, PartArray, int, int]:
    """The graph, its former parts ``0..m-1`` as int32, and both numbers of parts, checked.

    Raises
    ------
    PartitionError
        The former parts are out of range, or there are fewer vertices than new parts.
    ConfigError
        A number of parts is below 1.
    """
    graph, n = as_graph(graph), whole("n", n, low=1, high=2**31 - 1)
    former = part_array("part", part, graph.nvtxs, whole("m", m, low=1, high=2**31 - 1), PartitionError)
    if m > max(graph.nvtxs + n, _EMPTY):
        raise PartitionError(f"m: {m} former parts of {graph.nvtxs} vertices are nearly all empty; number the others "
                             f"from 0 on")
    if n > graph.nvtxs:
        raise PartitionError(f"n: {n} parts of {graph.nvtxs} vertices would leave parts empty; "
                             f"ask for at most {graph.nvtxs}")
    return graph, former, int(m), n


def default_migration_cost(graph: Graph) -> int:
    """Migration cost of one unit of data: the mean weight of an edge over the mean size of a vertex, at least 1.

    Then a vertex that goes against the migration matrix costs as much as one more cut edge.  Measured on the
    10 x 10 grid from 5 to 7 parts, mean of 8 seeds: 10.8 non-zeros of 11 planned and a volume of 31 (from
    scratch: 13.6 and 41) for 8 % more cut; twice or three times the cost brings no fewer messages.

    Parameters
    ----------
    graph : Graph
    """
    edge = float(graph.edge_weights.mean()) if graph.nedges else 1.0
    size = float(graph.sizes.mean()) if graph.nvtxs else 1.0
    return max(1, round(edge / size)) if size > 0 else 1


def migration_plan(graph: Graph, part: ArrayLike, m: int, n: int, *, eps: float = 0.05,
                   tpwgts: ArrayLike | None = None) -> NDArray[np.int64]:
    """The migration matrix (m, n) that M x N repartitioning aims at for this graph.

    Parameters
    ----------
    graph : Graph
    part : (nvtxs,) array_like of int
        Former parts, ``0..m-1``.
    m, n : int
        Number of former and of new parts.
    eps : float
        Tolerance, a fraction.
    tpwgts : (n,) array_like of float, optional
        Target share of each new part; equal where not given.
    """
    return migration_matrix(part_weights(graph, part, m), n, adjacency=graph.quotient(part, m), eps=eps, tpwgts=tpwgts)


# ---- the methods
@dataclass(frozen=True, eq=False)
class _Task:
    """What every method is given: where the data is, and what is asked for."""

    graph: Graph
    former: PartArray
    m: int
    n: int
    cost: int
    options: Options
    tpwgts: ArrayLike | None

    def partition(self, affinity: Affinity | None = None) -> PartArray:
        """An `n`-way partition of the graph."""
        return partition(self.graph, self.n, self.options, tpwgts=self.tpwgts, affinity=affinity)

    def balanced(self, part: PartArray) -> bool:
        """Is this a balanced partition without an empty part?"""
        limit = max_part_weights(self.graph.total_weight, self.n, self.options.eps, self.tpwgts)
        return bool((part_weights(self.graph, part, self.n) <= limit).all()
                    and (np.bincount(part, minlength=self.n) > 0).all())


def _mxn(task: _Task) -> PartArray:
    """Partition with an affinity for the pattern of the migration matrix."""
    if task.m == task.n and task.balanced(task.former):
        return task.former.copy()
    if task.n == 1:
        return np.zeros_like(task.former)
    if task.m == 1:  # every new part takes of the one that there was
        return task.partition()
    plan = migration_plan(task.graph, task.former, task.m, task.n, eps=task.options.eps, tpwgts=task.tpwgts)
    return task.partition(Affinity(task.former, np.where(plan > 0, task.cost, 0)))


def _scratch_remap(task: _Task) -> PartArray:
    """Partition from scratch, then give the new parts the numbers that keep most data in place."""
    from scipy.optimize import linear_sum_assignment

    new, m, n, sizes = task.partition(), task.m, task.n, task.graph.sizes
    stays = np.zeros((max(m, n), n))
    stays[:m] = measured_matrix(task.former, new, m, n, sizes).toarray()
    benefit = stays[:n]
    share = target_shares(task.tpwgts, n)
    benefit[share[:, None] != share[None, :]] = -2.0 * float(sizes.sum()) - 1.0
    number, column = linear_sum_assignment(benefit, maximize=True)
    renumbered = np.empty(n, VERTEX)
    renumbered[column] = number
    return renumbered[new]


def _diffusive(task: _Task) -> PartArray:
    """Same number of parts first, then flow between neighbours, then boundary refinement.

    Where both end short of balance, a partition that is drawn to where the vertices now are.
    """
    part = _diffused(task, _dissolved(task) if task.n < task.m else _split(task))
    try:
        return refine(task.graph, part, task.n, task.options, tpwgts=task.tpwgts)
    except PartitionError:
        logger.info("diffusion did not reach balance, partitioning again near the parts it left")
        return task.partition(Affinity(part, task.cost * np.eye(task.n, dtype=WEIGHT)))


METHODS: dict[str, Callable[[_Task], PartArray]] = {
    "mxn": _mxn, "scratch-remap": _scratch_remap, "diffusive": _diffusive}


# ---- diffusion
def _split(task: _Task) -> PartArray:
    """Give every new part ``m..n-1`` half of the heaviest part there is at that moment."""
    graph, n, part = task.graph, task.n, task.former.copy()
    for j in range(task.m, n):
        count = np.bincount(part, minlength=n)
        load = np.where(count > 1, part_weights(graph, part, n), -1)
        vertices = np.flatnonzero(part == int(load.argmax())).astype(VERTEX)
        if len(vertices) < 2:
            break
        halves = partition(graph.subgraph(vertices), 2, task.options.replace(eps=0.1), strict=False)
        part[vertices[halves == 1]] = j
    return part


def _dissolved(task: _Task) -> PartArray:
    """Give the vertices of the parts ``n..m-1``, layer by layer, to the part they are joined to most."""
    graph, n = task.graph, task.n
    part = np.where(task.former < n, task.former, -1).astype(VERTEX)
    while (part < 0).any():
        to, _ = _strongest(graph, part, np.flatnonzero(part < 0), n)
        reached = np.flatnonzero(to >= 0)
        if len(reached) == 0:  # nothing left has a neighbour in a part: the lightest part takes it
            part[part < 0] = int(part_weights(graph, np.maximum(part, 0), n).argmin()) if (part >= 0).any() else 0
        else:
            part[reached] = to[reached]
    return part


def _strongest(graph: Graph, part: PartArray, vertices: NDArray[np.int64], n: int
               ) -> tuple[PartArray, NDArray[np.int64]]:
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


def _diffused(task: _Task, part: PartArray) -> PartArray:
    """Move boundary vertices, best gain first, until the optimal diffusive flow has passed.

    The flow between neighbouring parts is the one of least squares (Hu & Blake 1999): the
    difference of the potentials x that solve ``L x = load - target``, L the Laplacian of
    the quotient graph.
    """
    graph, n, part = task.graph, task.n, part.copy()
    target = graph.total_weight * target_shares(task.tpwgts, n)
    for _ in range(_SWEEPS):
        if task.balanced(part):
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


def _move_layer(graph: Graph, part: PartArray, flow: NDArray[np.float64]) -> bool:
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
