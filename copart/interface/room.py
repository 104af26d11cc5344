"""Coupled weights that are not those of the cells: parts in balance by the one, with room by the other.

Work in a coupling phase is shared out by coupled weight; what a part may hold of its component is a matter of the
weights of the cells.  Where the two are the same, a smaller eps sees to both
(:func:`copart.interface.counts.within_parts`).
"""

from __future__ import annotations

import logging

import numpy as np
from numpy.typing import NDArray

from ..arrays import sums
from ..coupling import CoupledProblem
from ..errors import PartitionError
from ..graph import Graph
from ..metrics import copartition_limit
from ..options import Options
from ..partitioner.multiconstraint import partition_multiconstraint, refine_multiconstraint

logger = logging.getLogger(__name__)


def loaded(problem: CoupledProblem, name: str, graph_cpl: Graph) -> Graph:
    """The coupled subgraph of component `name` with its coupled weights, where they are not those of the cells."""
    return graph_cpl.replace(vwgt=problem.coupled_load(name)) if problem.own_weights(name) else graph_cpl


def within_room(problem: CoupledProblem, name: str, graph_cpl: Graph, part: NDArray[np.int32], k: int, nparts: int,
                options: Options) -> NDArray[np.int32]:
    """A partition of the coupled cells whose parts do not outweigh a part of the component: `part` where that is one.

    Parameters
    ----------
    problem : CoupledProblem
    name : str
        The component.
    graph_cpl : Graph
        Its coupled subgraph; the weights in it play no role.
    part : (ncoupled cells,) int32
        In balance by coupled weight.
    k, nparts : int
        Parts that own coupled cells, and all parts of the component.
    options : Options

    Raises
    ------
    PartitionError
        No partition was found that is in balance by coupled weight and has room for the cells.
    """
    if not problem.own_weights(name):
        return part
    graph, load = problem.components[name], problem.coupled_load(name)
    weights = graph.weights[problem.coupled(name)]
    room = copartition_limit(graph.total_weight, nparts, options.eps)
    if int(sums(part, weights, k).max()) <= room:
        return part
    both = np.stack([load, weights], axis=1)
    limits = np.repeat([[copartition_limit(int(load.sum()), k, options.eps)], [room]], k, axis=1)
    try:
        return refine_multiconstraint(graph_cpl, part, both, limits)
    except PartitionError as error:
        logger.info("%s; the coupled cells are partitioned anew under both limits", error)
    try:
        return partition_multiconstraint(graph_cpl, k, both, options, limits=limits)
    except PartitionError as error:
        raise PartitionError(f"{k} parts cannot share the coupled weight evenly and have room for the cells, of which "
                             f"a part may hold a weight of {room}: {error.rule}", ways=error.ways,
                             vertex=error.vertex) from None


__all__ = ["loaded", "within_room"]
