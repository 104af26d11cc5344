"""Ranks grouped for what nodes send, in place of the cut: the busiest node, or the nodes that each one talks to.

Every message between two ranks is a net whose first pin sends, and costs its time. Parts are made by UMPa, or by the
partitioners that lower the cut, and then improved by ranks that change places, so that every node has exactly as many
as it runs (M. Deveci, Load-Balancing and Task Mapping for Exascale Systems, 2015, chapter 4, for the metrics and
for partitions into nodes by them).
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import ArrayLike, NDArray

from ...arrays import VERTEX, WEIGHT
from ...graph import Graph
from ...hypergraph import Hypergraph
from ...metrics import evaluate_hypergraph
from ...names import ExchangeObjective
from ...partitioner.umpa import OBJECTIVES, partition_hypergraph
from ...partitioner.umpa.driver import PACES
from ...partitioner.umpa.levels import finest
from ...partitioner.umpa.search import Search
from ...partitioner.umpa.swaps import swap
from .communication import Times
from .negative_cycles import refine


class NodeTraffic(NamedTuple):
    """What nodes send to one another.

    total, largest : float, microseconds of the messages of all nodes one after another, and of those that the node
        sends which sends longest
    pairs, most : int, how often one node sends anything to another, and to how many others one does at most
    """

    total: float
    largest: float
    pairs: int
    most: int


def message_nets(nranks: int, times: Times, resolution: float) -> Hypergraph:
    """One net of sender and receiver per directed pair that talks, of its time in units of `resolution` microseconds.

    Parameters
    ----------
    nranks : int
    times : Times
    resolution : float
    """
    pins = np.stack([times.source, times.target], 1).ravel().astype(VERTEX)
    cost = np.maximum(np.rint(times.time / resolution), 1).astype(WEIGHT)
    return Hypergraph(nranks, 2 * np.arange(len(cost) + 1, dtype=np.int64), pins, cost)


def node_traffic(nets: Hypergraph, node: ArrayLike, resolution: float) -> NodeTraffic:
    """The figures of a placement of ranks on nodes.

    Parameters
    ----------
    nets : Hypergraph
        As of :func:`message_nets`.
    node : (nranks,) array_like of int
    resolution : float
        Microseconds.
    """
    on = np.asarray(node)
    found = evaluate_hypergraph(nets, on, int(on.max(initial=0)) + 1)
    return NodeTraffic(found.total_volume * resolution, found.max_send * resolution, found.total_messages,
                       found.max_messages)


def partition_by_objective(nets: Hypergraph, graph: Graph, start: NDArray[np.int32], objective: ExchangeObjective,
                           seed: int = 1) -> NDArray[np.int32]:
    """Parts with as many ranks each as in `start`, and by the objective no worse than it.

    Parameters
    ----------
    nets : Hypergraph
        As of :func:`message_nets`.
    graph : Graph
        Of the ranks, for balance to be restored along it.
    start : (nranks,) int32
        A partition with as many ranks in each part as it is to have, of low cut.
    objective : {"volume", "max-volume", "messages", "max-messages"}
    seed : int

    Returns
    -------
    (nranks,) int32
    """
    size = np.bincount(start)
    aim, used = OBJECTIVES[objective], np.flatnonzero(size)
    h = finest(nets, None)
    if len(used) < 2 or not len(h.cost):
        return start

    def state(part: NDArray[np.int32]) -> Search:
        return Search(h, part.copy(), size.astype(WEIGHT), aim, seed)

    made = partition_hypergraph(nets, len(used), objective=objective, eps=0.0, seed=seed, strict=False,
                                tpwgts=size[used] / size.sum())
    own = used[refine(graph, made, size[used].astype(WEIGHT), seed=seed).part].astype(VERTEX)
    found = [state(start), state(own)]
    for one in [state(start), state(own)]:
        swap(one, PACES["default"].fine)
        found.append(one)
    best: NDArray[np.int32] = min(found, key=lambda one: one.values()).state.part
    return best


__all__ = ["NodeTraffic", "message_nets", "node_traffic", "partition_by_objective"]
