"""MONOLITHIC: all components as one graph on one pool of processes that they share.

Some users of multi-region solvers decompose so: every process may own cells of several components, which
run one after another on the same processes.  No part of the coupling is a message where both ends
are on one process; but the load of a single component, and of its interface, is left to chance.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any, Unpack, get_args

import numpy as np
from numpy.typing import NDArray

from ..algorithms import naive
from ..arrays import WEIGHT, PartArray, whole
from ..coupling import CoPartition, CoupledProblem
from ..dynamic.adaptive import adaptive_repartition
from ..dynamic.adaptive_multiconstraint import adaptive_repartition_multiconstraint
from ..dynamic.rerun import Rerun
from ..errors import ConfigError, PartitionError, of_pool
from ..graph import Graph
from ..interface.counts import Counts, CoupledCounts, part_counts
from ..interface.price import Price
from ..metrics import StepCost, copartition_limit, pair_metrics, step_cost
from ..names import Balance, known_name
from ..operators import part
from ..options import Options, Settings, Thorough
from ..partitioner.multiconstraint import partition_multiconstraint
from .facing import facing_numbers

BALANCES: tuple[Balance, ...] = get_args(Balance)
"""What is balanced over the pool."""

SWEEPS = StepCost(substeps=10)
"""What decides between two ways to balance each component: solvers sweep their cells many times between exchanges."""

CLEARLY = 0.98
"""How much shorter a step has to be for parts of larger cut: solvers that iterate pay more for it than is estimated."""


def monolithic(problem: CoupledProblem, nparts: Counts | None = None, ncoupled: CoupledCounts | None = None,
               options: Options | None = None, *, processes: int | None = None, balance: Balance = "total",
               **settings: Unpack[Settings]) -> CoPartition:
    """MONOLITHIC: one partition of all components and interedges together; `ncoupled` plays no role.

    Parameters
    ----------
    problem : CoupledProblem
    nparts : mapping, sequence or int, optional
        Parts of each component; their sum is the size of the pool where `processes` is not given.
    ncoupled : mapping, sequence, int or "paper", optional
        Plays no role: every scheme is called alike.
    options : Options, optional
        eps, seed, threads and preset (:class:`copart.options.Options`); each also by its own name, as in ``seed=2``.
    processes : int, optional
        Size of the pool.
    balance : {"total", "each"}
        What is balanced over the pool: the load of all components together, or that of each component, which keeps
        processes busy while components run one after another, as in multi-region solvers.  "each" takes the
        components partitioned alone, with parts that face one another on the same process, or one partition of the
        whole with a constraint per component where that has a clearly shorter step (``T_step``).

    Returns
    -------
    CoPartition
        Shared: part k of every component is process k.

    Examples
    --------
    >>> from copart import Graph, Interedges
    >>> line = Graph.from_edges(4, [0, 1, 2], [1, 2, 3])
    >>> ends = CoupledProblem.of_two(line, line, Interedges.from_pairs(4, 4, [3], [0]))
    >>> made = monolithic(ends, processes=2)
    >>> made.shared, sorted(np.bincount(np.concatenate([made.a, made.b])).tolist())
    (True, [4, 4])
    """
    known_name("balance", balance, BALANCES)
    run = Thorough.of(options, settings)
    if processes is None:
        if nparts is None:
            raise ConfigError("processes: needs the size of the pool, or nparts of each component")
        processes = sum(part_counts(problem, nparts).values())
    pool = whole("processes", processes, low=1)
    graph, first = joined_graph(problem)
    if balance == "total":
        with of_pool(_cells(first)):
            return _in_pool(problem, part(graph, pool, run), first, pool)
    apart = _facing(problem, pool, run)
    try:
        made = partition_multiconstraint(graph, pool, _loads_of_each(problem), run)
    except PartitionError:
        if isinstance(apart, PartitionError):
            raise apart from None  # it names the component
        return apart
    together = _in_pool(problem, made, first, pool)
    if isinstance(apart, PartitionError):
        return together
    steps = [step_cost(problem, one, SWEEPS).T_step for one in (together, apart)]
    return together if steps[0] < CLEARLY * steps[1] else apart


def _facing(problem: CoupledProblem, pool: int, run: Options) -> CoPartition | PartitionError:
    """Components partitioned alone, parts that face one another on one process; or why that cannot be balanced."""
    try:
        alone = naive(problem, [min(pool, graph.nvtxs) for graph in problem.components.values()], None, run)
    except PartitionError as error:
        return error
    parts = facing_numbers(problem, alone.parts, pool)
    return CoPartition(parts, dict.fromkeys(problem.names, pool), shared=True)


def monolithic_again(run: Rerun, balance: Balance = "total") -> CoPartition:
    """MONOLITHIC from where the data is: ``alpha * price . (cut, totV, totZ) + migration`` is small.

    Interedges count as cut while cells move; volume and messages decide between the partitions that have been found.

    Parameters
    ----------
    run : Rerun
        Whose former co-partition is in a shared pool; one number in `nparts` is its size from now on, several add up
        to it.
    balance : {"total", "each"}
        As in :func:`monolithic`.
    """
    known_name("balance", balance, BALANCES)
    problem, former, options = run.problem, run.former, run.options
    pool, m = former.nprocs if run.nparts is None else _pool_size(problem, run.nparts), former.nprocs
    graph, first = joined_graph(problem)
    old = np.concatenate([former[name] for name in problem.names])
    extra = _beside_cut(problem, first, pool, run.price)
    with of_pool(_cells(first)):
        if balance == "total":
            made = adaptive_repartition(graph, old, m, pool, options, alpha=run.edge, extra=extra)
        else:
            made = _each_again(run, graph, old, pool, extra)
    return _in_pool(problem, made, first, pool)


def _each_again(run: Rerun, graph: Graph, old: PartArray, pool: int, extra: Callable[[PartArray], float]) -> PartArray:
    """Each component in balance over the pool, from where the data is.

    Where that cannot be, one of fewer cells than processes is in balance over as many as it has cells, as alone.
    """
    loads = _loads_of_each(run.problem)

    def over(processes: list[int]) -> PartArray:
        limits = [[copartition_limit(int(w), n, run.options.eps)] for w, n in
                  zip(loads.sum(axis=0), processes, strict=True)]
        return adaptive_repartition_multiconstraint(graph, old, run.former.nprocs, pool, loads,
                                                    np.repeat(limits, pool, axis=1), run.options, alpha=run.edge,
                                                    extra=extra)

    fewer = [min(pool, one.nvtxs) for one in run.problem.components.values()]
    try:
        return over([pool] * len(fewer))
    except PartitionError:
        if min(fewer) == pool:
            raise
        return over(fewer)


def _pool_size(problem: CoupledProblem, nparts: Counts) -> int:
    """Size of the pool that `nparts` stands for: one number is the size, several are the parts of each component."""
    if isinstance(nparts, int) or (isinstance(nparts, Sequence) and len(nparts) == 1):
        return whole("nparts", nparts if isinstance(nparts, int) else nparts[0], low=1)
    return sum(part_counts(problem, nparts).values())


def _beside_cut(problem: CoupledProblem, first: dict[str, int], pool: int, price: Price
                 ) -> Callable[[PartArray], float]:
    """Volume and messages between processes in units of the cut, less the interedges that are cut instead of them."""

    def cost(made: PartArray) -> float:
        one, total = _in_pool(problem, made, first, pool), 0.0
        for (a, b), interedges in problem.pairs.items():
            found, (u, v, _) = pair_metrics(a, b, problem, one), interedges.pairs()
            total += price[1] * (found.totV_ab + found.totV_ba) / 2 + price[2] * found.totZ
            total -= price[0] * int((one[a][u] != one[b][v]).sum())
        return total / price[0]

    return cost


def _loads_of_each(problem: CoupledProblem) -> NDArray[np.int64]:
    """(cells, components) int64 weights of the cells of all components, one column for each component."""
    columns = [graph.weights[:, None] * (np.arange(len(problem.names)) == i)
               for i, graph in enumerate(problem.components.values())]
    return np.concatenate(columns)


def _cells(first: dict[str, int]) -> Callable[[int], str]:
    """What a vertex of the joined graph is called: a cell of its component."""

    def called(vertex: int) -> str:
        name = next(name for name in reversed(first) if first[name] <= vertex)
        return f"cell {vertex - first[name]} of {name}"

    return called


def _in_pool(problem: CoupledProblem, made: PartArray, first: dict[str, int], pool: int) -> CoPartition:
    parts = {name: made[first[name]:first[name] + graph.nvtxs] for name, graph in problem.components.items()}
    return CoPartition(parts, dict.fromkeys(problem.names, pool), shared=True)


def joined_graph(problem: CoupledProblem) -> tuple[Graph, dict[str, int]]:
    """All components as one graph, whose edges are theirs and the interedges, each of weight 1.

    Returns
    -------
    Graph
    dict of str to int
        Number of the first vertex of each component.
    """
    first, nvtxs = {}, 0
    ends: list[tuple[Any, Any, Any]] = []
    for name, graph in problem.components.items():
        first[name] = nvtxs
        u, v, w = graph.edges()
        ends.append((u.astype(np.int64) + nvtxs, v.astype(np.int64) + nvtxs, w))
        nvtxs += graph.nvtxs
    for (a, b), interedges in problem.pairs.items():
        u, v, _ = interedges.pairs()
        ends.append((u.astype(np.int64) + first[a], v.astype(np.int64) + first[b], np.ones(len(u), WEIGHT)))
    u, v, w = (np.concatenate(column) for column in zip(*ends, strict=True))
    weights, sizes = (np.concatenate(column) for column in
                      zip(*((graph.weights, graph.sizes) for graph in problem.components.values()), strict=True))
    return Graph.from_edges(nvtxs, u, v, w, vwgt=weights, vsize=sizes), first


__all__ = ["BALANCES", "joined_graph", "monolithic", "monolithic_again"]
