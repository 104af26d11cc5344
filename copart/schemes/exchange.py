"""Parts that send little to one another, whatever the scheme: what is not coupled is laid out anew for an objective.

A scheme keeps the edge cut of each component small. What the parts of a component exchange between coupling phases are
halos of whole cells, so that the data sent, the messages, or those of the busiest part may count for more. Coupled
cells stay where the scheme has put them: every figure of the coupling, and the balance of its work, is as it was.
"""

from __future__ import annotations

from dataclasses import replace

import numpy as np

from ..coupling import CoPartition, CoupledProblem
from ..errors import NotApplicableError, of_component
from ..hypergraph import Hypergraph
from ..metrics import copartition_limit
from ..names import ExchangeObjective
from ..options import Options
from ..partitioner.umpa.again import improve_partition


def less_exchange(problem: CoupledProblem, made: CoPartition, objective: ExchangeObjective,
                  options: Options) -> CoPartition:
    """The co-partition with uncoupled cells moved such that the parts of each component exchange little.

    Parameters
    ----------
    problem : CoupledProblem
    made : CoPartition
        Components on processes of their own.
    objective : {"volume", "max-volume", "messages", "max-messages"}
        What to have least of; see :func:`copart.partitioner.umpa.partition_hypergraph`. Every vertex sends itself to
        all parts that hold a neighbour of it, as much as its `vsize` says.
    options : Options
        eps, seed, threads and preset, as `made` was made with.

    Returns
    -------
    CoPartition
        Coupled cells are where they were, no component has more of what is asked for, and no part above its limit has
        become heavier.

    Raises
    ------
    NotApplicableError
        The components share one pool of processes.
    ConfigError
        There is no such objective, or the preset has no name.

    Examples
    --------
    >>> from copart import Graph, Interedges
    >>> line = Graph.from_edges(4, [0, 1, 2], [1, 2, 3])
    >>> problem = CoupledProblem.of_two(line, line, Interedges.from_pairs(4, 4, [3], [0]))
    >>> scattered = CoPartition({"a": [0, 1, 0, 1], "b": [0, 0, 1, 1]}, {"a": 2, "b": 2})
    >>> less_exchange(problem, scattered, "volume", Options()).a.tolist()
    [0, 0, 1, 1]
    """
    if made.shared:
        raise NotApplicableError("objective: is for components on processes of their own, not for a shared pool; "
                                 "leave it out, or take another scheme")
    parts = {}
    for name, graph in problem.components.items():
        coupled = np.zeros(graph.nvtxs, bool)
        coupled[problem.coupled(name)] = True
        limit = copartition_limit(graph.total_weight, made.nparts[name], options.eps)
        with of_component(name):
            parts[name] = improve_partition(
                Hypergraph.column_net(graph), made[name], made.nparts[name], limits=limit, objective=objective,
                held=coupled, seed=options.seed, threads=options.threads, preset=options.preset)
    return replace(made, parts=parts)


__all__ = ["less_exchange"]
