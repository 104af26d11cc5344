"""MPI rank reordering: number the running processes anew so that ranks which talk much share a node.

Processes stay where they are; only their numbers change. The graph of communication times is partitioned into one
part per node, with exactly as many ranks as it runs processes, and the ranks of a part are given to the processes of
its node. Where that would not lower the time between nodes, everybody keeps its number.
(N. Tihon, Graph Partitioning and its application to MPI, 2024.)
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike, NDArray

from ...arrays import VERTEX, frozen, integers, whole
from ...errors import MappingError
from ...names import RankMethod
from .communication import CommunicationGraph
from .isomorphism import new_ranks
from .partitioners import Partitioner, partition_exactly


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
    """

    rank: NDArray[np.int32]
    node: NDArray[np.int32]
    cut_before: float
    cut_after: float

    @property
    def process(self) -> NDArray[np.int32]:
        """(N,) int32 old rank of each new rank: the inverse of `rank`."""
        return np.argsort(self.rank).astype(VERTEX)

    @property
    def kept(self) -> bool:
        """Whether every process keeps its rank."""
        return bool((self.rank == np.arange(len(self.rank))).all())


def reorder_ranks(communication: CommunicationGraph, placement: ArrayLike, *, method: RankMethod | Partitioner = "best",
                  seed: int = 1) -> Reordering:
    """New ranks for processes that run on nodes already, never worse than the old ones.

    Parameters
    ----------
    communication : CommunicationGraph
        Of the ranks, see :func:`copart.mapping.ranks.communication.communication_graph`.
    placement : (N,) array_like of int
        Node on which each process runs, from 0; nodes may run different numbers of processes.
    method : str or callable
        One of :data:`copart.mapping.ranks.partitioners.METHODS`, or a function; see
        :func:`copart.mapping.ranks.partitioners.partition_exactly`.
    seed : int
        0 to 2^31 - 1.

    Raises
    ------
    MappingError
        The placement does not fit the graph.

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
    whole("seed", seed, low=0, high=2**31 - 1)
    graph = communication.graph
    initial = integers("placement", placement, VERTEX, MappingError, low=0, size=graph.nvtxs)
    k = int(initial.max(initial=0)) + 1
    if k > max(graph.nvtxs, 1):
        raise MappingError(f"placement: node {k - 1} with {graph.nvtxs} processes; number the nodes in use from 0")
    before = communication.cut(initial)
    part = partition_exactly(graph, np.bincount(initial, minlength=k), method, seed=seed, start=initial)
    after = communication.cut(part)
    if after >= before:
        return Reordering(frozen(np.arange(graph.nvtxs, dtype=VERTEX)), frozen(initial.copy()), before, before)
    part = keep_most(part, initial)
    return Reordering(frozen(new_ranks(initial, part)), frozen(part), before, after)


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


__all__ = ["Reordering", "keep_most", "reorder_ranks"]
