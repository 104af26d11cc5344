"""MULTICONSTRAINT: every component is partitioned once, balancing all cells and coupled cells alike."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from functools import partial
from typing import Unpack

import numpy as np
from numpy.typing import NDArray

from ..arrays import WEIGHT
from ..coupling import CoPartition, CoupledProblem
from ..dynamic.adaptive_multiconstraint import adaptive_repartition_multiconstraint
from ..dynamic.coupled_subgraphs import Facing, coupling_cost
from ..dynamic.rerun import Rerun
from ..errors import PartitionError, of_component
from ..graph import Graph
from ..interface.counts import Counts, CoupledCounts, part_counts
from ..metrics import copartition_limit
from ..metrics.components import coupled_weights
from ..options import Options, Settings, Thorough
from ..partitioner.multiconstraint import partition_multiconstraint


def multiconstraint(problem: CoupledProblem, nparts: Counts, ncoupled: CoupledCounts | None = None,
                    options: Options | None = None, **settings: Unpack[Settings]) -> CoPartition:
    """MULTICONSTRAINT: one k-way partition of each component with two constraints; `ncoupled` plays no role.

    Users of partitioners with several constraints do this: both phases are balanced over all N parts, so every part
    reaches the interface, at the price of a longer cut and of many messages.  Where a part has few coupled
    cells, the limit on these is the average rounded up to whole cells, which may be far more than `eps` above it;
    where they are of unequal weight and no partition is found, it is as much higher as the heaviest cell is.

    Parameters
    ----------
    problem : CoupledProblem
        Any number of components.
    nparts : mapping, sequence or int
        Parts of each component, by name or in order.
    ncoupled : mapping, sequence, int or "paper", optional
        Plays no role: every scheme is called alike.
    options : Options, optional
        eps, seed, threads and preset (:class:`copart.options.Options`); each also by its own name, as in ``seed=2``.

    Raises
    ------
    PartitionError
        No partition within both limits was found.

    Examples
    --------
    >>> from copart import CoupledProblem, Graph, Interedges
    >>> line = Graph.from_edges(8, range(7), range(1, 8))
    >>> problem = CoupledProblem.of_two(line, line, Interedges.from_pairs(8, 8, [6, 7], [0, 1]))
    >>> made = multiconstraint(problem, 2)
    >>> sorted([int(made["a"][6]), int(made["a"][7])])
    [0, 1]
    """
    run, count = Thorough.of(options, settings), part_counts(problem, nparts)
    parts: dict[str, NDArray[np.int32]] = {}
    for name, graph in problem.components.items():
        loads = _phase_loads(problem, name)

        def within(limits: NDArray[np.int64], graph: Graph = graph, loads: NDArray[np.int64] = loads
                   ) -> NDArray[np.int32]:
            return partition_multiconstraint(graph, limits.shape[1], loads, run, limits=limits)

        with of_component(name):
            parts[name] = _balanced(within, loads, count[name], run.eps)
    return _with_owners(problem, parts, count, run.eps)


def multiconstraint_again(run: Rerun) -> CoPartition:
    """MULTICONSTRAINT from where the data is: each component repartitioned alone with both loads in balance.

    Its neighbours decide between the partitions that have been found.
    """
    problem, former, count = run.problem, run.former, run.count
    made: dict[str, NDArray[np.int32]] = {}
    for name, graph in problem.components.items():
        facing = [Facing(relation, made.get(other, former[other]),
                         count[other] if other in made else former.nparts[other], problem.components[other].sizes)
                  for other in problem.names if (relation := problem.facing(name, other)) is not None]
        loads, extra = _phase_loads(problem, name), coupling_cost(facing, count[name], graph.sizes, run.price)
        again = partial(adaptive_repartition_multiconstraint, graph, former[name], former.nparts[name], count[name],
                        loads, options=run.options, alpha=run.edge, extra=extra)
        with of_component(name):
            made[name] = _balanced(again, loads, count[name], run.options.eps)
    return _with_owners(problem, made, count, run.options.eps)


def _phase_loads(problem: CoupledProblem, name: str) -> NDArray[np.int64]:
    """(nvtxs, 2) int64 weights of the cells of a component, and coupled weights of those that are coupled."""
    graph, cells = problem.components[name], problem.coupled(name)
    loads = np.zeros((graph.nvtxs, 2), WEIGHT)
    loads[:, 0] = graph.weights
    loads[cells, 1] = problem.coupled_load(name)
    return loads


def _balanced(within: Callable[[NDArray[np.int64]], NDArray[np.int32]], loads: NDArray[np.int64], nparts: int,
             eps: float) -> NDArray[np.int32]:
    """What `within` makes under limits on both `loads`, of shape (2, nparts).

    That of coupled cells is raised where their unequal weights leave no other way.
    """
    limits = [copartition_limit(int(w), nparts, eps) for w in loads.sum(axis=0)]
    uneven = max(int(loads[:, 1].max(initial=0)) - 1, 0)
    try:
        return within(np.repeat([[limits[0]], [limits[1]]], nparts, axis=1))
    except PartitionError:
        if uneven == 0:
            raise
        return within(np.repeat([[limits[0]], [limits[1] + uneven]], nparts, axis=1))


def _with_owners(problem: CoupledProblem, parts: Mapping[str, NDArray[np.int32]], count: Mapping[str, int],
                 eps: float) -> CoPartition:
    """The co-partition of these parts, whose coupled parts are all that own coupled cells, where these share them
    evenly; else nothing is said of them.
    """
    owners: dict[str, int | None] = {}
    for name in problem.names:
        share, found = coupled_weights(problem.coupled_load(name), parts[name], count[name], problem.coupled(name))
        even = found and share.max() <= copartition_limit(int(share.sum()), found, eps)
        owners[name] = found if even else None
    return CoPartition(parts, count, owners)


__all__ = ["multiconstraint", "multiconstraint_again"]
