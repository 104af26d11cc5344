"""MULTICONSTRAINT: every component is partitioned once, balancing all cells and coupled cells alike."""

from __future__ import annotations

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
    owners: dict[str, int | None] = {}
    for name, graph in problem.components.items():
        cells = problem.coupled(name)
        loads = np.zeros((graph.nvtxs, 2), WEIGHT)
        loads[:, 0] = graph.weights
        loads[cells, 1] = graph.weights[cells]
        parts[name] = _balanced(graph, loads, count[name], eps, options)
        owners[name] = len(np.unique(parts[name][cells])) or None
    return CoPartition(parts, count, owners)


def _balanced(graph: Graph, loads: NDArray[np.int64], nparts: int, eps: float, options: dict[str, Any]
              ) -> NDArray[np.int32]:
    """A partition under both limits; that of coupled cells is raised where their unequal weights leave no other way."""
    limits = [max(part_room(int(w), nparts, eps), -(-int(w) // nparts)) for w in loads.sum(axis=0)]
    uneven = max(int(loads[:, 1].max(initial=0)) - 1, 0)

    def within(extra: int) -> NDArray[np.int32]:
        bounds = np.repeat([[limits[0]], [limits[1] + extra]], nparts, axis=1)
        return partition_multiconstraint(graph, nparts, loads, limits=bounds, **options)

    try:
        return within(0)
    except PartitionError:
        if uneven == 0:
            raise
        return within(uneven)


__all__ = ["multiconstraint"]
