"""MULTICONSTRAINT: every component is partitioned once, balancing all cells and coupled cells alike."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ..arrays import WEIGHT, fraction
from ..counts import Counts, part_counts, part_room
from ..coupling import CoPartition, CoupledProblem
from ..errors import PartitionError
from ..graph import Graph
from .partitioning import partition_multiconstraint


def multiconstraint(problem: CoupledProblem, nparts: Counts, ncoupled: Counts | None = None, **options: Any
                    ) -> CoPartition:
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
    **options
        eps, seed, threads, preset.

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
    count = part_counts(problem, nparts)
    eps = fraction("eps", options.pop("eps", 0.05))
    parts: dict[str, NDArray[np.int32]] = {}
    for name, graph in problem.components.items():
        loads = phase_loads(problem, name)

        def within(limits: NDArray[np.int64], graph: Graph = graph, loads: NDArray[np.int64] = loads
                   ) -> NDArray[np.int32]:
            return partition_multiconstraint(graph, limits.shape[1], loads, limits=limits, **options)

        parts[name] = balanced(within, loads, count[name], eps)
    return with_owners(problem, parts, count)


def phase_loads(problem: CoupledProblem, name: str) -> NDArray[np.int64]:
    """(nvtxs, 2) int64 weights of the cells of a component: of all of them, and of those that are coupled."""
    graph, cells = problem.components[name], problem.coupled(name)
    loads = np.zeros((graph.nvtxs, 2), WEIGHT)
    loads[:, 0] = graph.weights
    loads[cells, 1] = graph.weights[cells]
    return loads


def balanced(within: Callable[[NDArray[np.int64]], NDArray[np.int32]], loads: NDArray[np.int64], nparts: int,
             eps: float) -> NDArray[np.int32]:
    """What `within` makes under limits on both `loads`, of shape (2, nparts).

    That of coupled cells is raised where their unequal weights leave no other way.
    """
    limits = [max(part_room(int(w), nparts, eps), -(-int(w) // nparts)) for w in loads.sum(axis=0)]
    uneven = max(int(loads[:, 1].max(initial=0)) - 1, 0)
    try:
        return within(np.repeat([[limits[0]], [limits[1]]], nparts, axis=1))
    except PartitionError:
        if uneven == 0:
            raise
        return within(np.repeat([[limits[0]], [limits[1] + uneven]], nparts, axis=1))


def with_owners(problem: CoupledProblem, parts: Mapping[str, NDArray[np.int32]], count: Mapping[str, int]
                ) -> CoPartition:
    """The co-partition of these parts, whose coupled parts are all that own coupled cells."""
    owners = {name: len(np.unique(parts[name][problem.coupled(name)])) or None for name in problem.names}
    return CoPartition(parts, count, owners)


__all__ = ["balanced", "multiconstraint", "phase_loads", "with_owners"]
