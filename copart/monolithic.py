"""MONOLITHIC: all components as one graph on one pool of processes that they share.

Some users of multi-region solvers decompose so: every process may own cells of several components, which
run one after another on the same processes.  No part of the coupling is a message where both ends
are on one process; but the load of a single component, and of its interface, is left to chance.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from .arrays import WEIGHT, whole
from .counts import Counts, part_counts
from .coupling import CoPartition, CoupledProblem
from .errors import ConfigError
from .graph import Graph
from .operators import part


def monolithic(problem: CoupledProblem, nparts: Counts | None = None, ncoupled: Counts | None = None, *,
               processes: int | None = None, balance: str = "total", **options: Any) -> CoPartition:
    """MONOLITHIC: one partition of all components and interedges together; `ncoupled` plays no role.

    Parameters
    ----------
    problem : CoupledProblem
    nparts : mapping, sequence or int, optional
        Parts of each component; their sum is the size of the pool where `processes` is not given.
    processes : int, optional
        Size of the pool.
    balance : {"total", "each"}
        What is balanced over the pool: the load of all components together, or that of each component (one
        constraint a component), which keeps processes busy while components run one after another.
    **options
        eps, seed, threads, preset.

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
    if balance not in ("total", "each"):
        raise ConfigError(f"balance: {balance!r} is not known; choose total or each")
    if processes is None:
        if nparts is None:
            raise ConfigError("processes: needs the size of the pool, or nparts of each component")
        processes = sum(part_counts(problem, nparts).values())
    pool = whole("processes", processes, low=1)
    graph, first = joined_graph(problem)
    if balance == "total":
        made = part(graph, pool, **options)
    else:
        from .multiconstraint import partition_multiconstraint

        loads = np.zeros((graph.nvtxs, len(problem.names)), WEIGHT)
        for column, (name, component) in enumerate(problem.components.items()):
            loads[first[name]:first[name] + component.nvtxs, column] = component.weights
        made = partition_multiconstraint(graph, pool, loads, **options)
    parts = {name: made[first[name]:first[name] + g.nvtxs] for name, g in problem.components.items()}
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
    weights = np.concatenate([graph.weights for graph in problem.components.values()])
    return Graph.from_edges(nvtxs, u, v, w, vwgt=weights), first


__all__ = ["joined_graph", "monolithic"]
