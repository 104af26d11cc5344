"""MPI rank reordering: number the running processes anew so that ranks which talk much share a node.

Processes stay where they are; only their numbers change. The graph of communication times is partitioned into one
part per node, with exactly as many ranks as it runs processes, and the ranks of a part are given to the processes of
its node. Where that would not lower the time between nodes, everybody keeps its number.
(N. Tihon, Graph Partitioning and its application to MPI, 2024.)
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import get_args

import numpy as np
from numpy.typing import ArrayLike, NDArray

from ...arrays import VERTEX, frozen, integers, whole
from ...errors import ConfigError, MappingError
from ...hypergraph import Hypergraph
from ...metrics import evaluate_hypergraph
from ...names import RankMethod, RankObjective, known_name
from ...partitioner.umpa import OBJECTIVES as EXCHANGE
from .communication import CommunicationGraph
from .isomorphism import new_ranks
from .objectives import NodeTraffic, message_nets, node_traffic, partition_by_objective
from .partitioners import METHODS, Partitioner, partition_exactly

#: What ranks are grouped for.
OBJECTIVES: tuple[RankObjective, ...] = get_args(RankObjective)


@dataclass(frozen=True, eq=False)
class Reordering:
    """New numbers for running processes.

    Parameters
    ----------
    rank : (N,) int32
        New rank of each process, by old rank: f.
    node : (N,) int32
        Node of each new rank.
    cut_before, cut_after : float
        Time of all messages between nodes, microseconds.
    before, after : NodeTraffic, optional
        What the nodes send, where the times of each direction are known.
    """

    rank: NDArray[np.int32]
    node: NDArray[np.int32]
    cut_before: float
    cut_after: float
    before: NodeTraffic | None = None
    after: NodeTraffic | None = None

    @property
    def process(self) -> NDArray[np.int32]:
        """(N,) int32 old rank of each new rank: the inverse of `rank`."""
        return np.argsort(self.rank).astype(VERTEX)

    @property
    def kept(self) -> bool:
        """Whether every process keeps its rank."""
        return bool((self.rank == np.arange(len(self.rank))).all())


def reorder_ranks(communication: CommunicationGraph, placement: ArrayLike, *, method: RankMethod | Partitioner = "best",
                  objective: RankObjective = "time", seed: int = 1) -> Reordering:
    """New ranks for processes that run on nodes already, never worse than the old ones.

    Parameters
    ----------
    communication : CommunicationGraph
        Of the ranks, see :func:`copart.mapping.ranks.communication.communication_graph`.
    placement : (N,) array_like of int
        Node on which each process runs, by any numbers from 0; nodes may run different numbers of processes.
    method : str or callable
        One of :data:`copart.mapping.ranks.partitioners.METHODS`, or a function; see
        :func:`copart.mapping.ranks.partitioners.partition_exactly`.
    objective : {"time", "volume", "max-volume", "messages", "max-messages"}
        What to have least of: "time" of all messages between nodes, by duplex; the times of both directions added
        ("volume"); the time that the node sends which sends longest; how often one node sends to another; to how many
        others one node sends at most. All but the first begin with what `method` finds for the time.
    seed : int
        0 to 2^31 - 1.

    Raises
    ------
    MappingError
        The placement does not fit the graph.
    ConfigError
        There is no such objective, or the times of each direction are not known, which all but "time" need.

    Examples
    --------
    Two nodes of two ranks; the ranks that talk to one another run on different nodes:

    >>> from copart.mapping.ranks.communication import Messages, communication_graph
    >>> talk = Messages(4, [0, 1, 2, 3], [2, 3, 0, 1], np.full(4, 2.0**22), np.ones(4, int))
    >>> pairs = communication_graph(talk, "meluxina-network")
    >>> found = reorder_ranks(pairs, [0, 0, 1, 1])
    >>> round(found.cut_before, 4), found.cut_after
    (706.0741, 0.0)
    """
    seed = whole("seed", seed, low=0, high=2**31 - 1)
    graph = communication.graph
    given = integers("placement", placement, VERTEX, MappingError, low=0, size=graph.nvtxs)
    k = int(given.max(initial=0)) + 1
    # tables grow with the numbers of nodes, so that those not in use are passed over where there are many
    used = np.arange(k, dtype=VERTEX) if k <= max(graph.nvtxs, 1) else np.unique(given)
    initial, k = np.searchsorted(used, given).astype(VERTEX), len(used)
    known_name("objective", objective, OBJECTIVES)
    times, unit = communication.times, communication.resolution
    if objective != "time" and times is None:
        raise ConfigError(f"objective: {objective} needs the time of each direction; make the communication graph "
                          f"from messages")
    if not callable(method):
        known_name("method", method, METHODS)
    sizes = np.bincount(initial, minlength=k)
    # of nodes with one process each, none of which keeps anything inside, every order is as good
    settled = sizes.max(initial=0) < 2
    part = initial if settled else partition_exactly(graph, sizes, method, seed=seed, start=initial)
    nets = None if times is None else message_nets(graph.nvtxs, times, unit)
    if settled:
        better = False
    elif objective == "time":
        better = communication.cut(part) < communication.cut(initial)
    else:
        assert nets is not None
        part = partition_by_objective(nets, graph, part, objective, seed)
        better = _key(nets, part, objective) < _key(nets, initial, objective)
    rank = np.arange(graph.nvtxs, dtype=VERTEX)
    if better:
        part = keep_most(part, initial)
        rank = new_ranks(initial, part)
    else:
        part = initial.copy()
    before, after = (None if nets is None else node_traffic(nets, node, unit) for node in (initial, part))
    node = frozen(used[part])
    return Reordering(frozen(rank), node, communication.cut(initial), communication.cut(part), before, after)


def _key(nets: Hypergraph, node: NDArray[np.int32], objective: str) -> tuple[int, ...]:
    """The metrics of an objective, first things first."""
    found = evaluate_hypergraph(nets, node, int(node.max(initial=0)) + 1).to_dict()
    return tuple(int(found[name]) for name in EXCHANGE[objective].metrics)


def keep_most(part: NDArray[np.int32], placement: NDArray[np.int32]) -> NDArray[np.int32]:
    """The same parts with other numbers: as many ranks as possible on the node where they run, sizes of parts kept.

    An assignment problem on the overlaps, among the parts of one size at a time.
    """
    from scipy.optimize import linear_sum_assignment

    k = int(placement.max(initial=0)) + 1
    overlap = np.bincount(part.astype(np.int64) * k + placement, minlength=k * k).reshape(k, k)
    size, new = np.bincount(part, minlength=k), np.arange(k)
    for s in np.unique(size):
        same = np.flatnonzero(size == s)
        rows, columns = linear_sum_assignment(overlap[np.ix_(same, same)], maximize=True)
        new[same[rows]] = same[columns]
    return new[part].astype(VERTEX)


__all__ = ["OBJECTIVES", "Reordering", "keep_most", "reorder_ranks"]
