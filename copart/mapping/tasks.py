"""`TaskGraph`: which tasks of a run send messages to which, and how much."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from ..arrays import VERTEX, WEIGHT, Frozen, frozen, integers, part_array, sums, weights, whole
from ..errors import MappingError
from ..graph import Graph, as_graph
from ..hypergraph import Hypergraph
from ..metrics.traffic import halo_volumes


@dataclass(frozen=True, eq=False, repr=False, init=False)
class TaskGraph(Frozen):
    """Tasks, usually processes or the parts of a partition, and one message for each ordered pair that communicates.

    Messages of a pair that is given more than once are added; those to oneself and empty ones are left out.

    Parameters
    ----------
    ntasks : int
    source, target : (m,) array_like of int
        Task that sends, and that receives.
    volume : (m,) array_like of int, optional
        Data sent; 1 each where not given.

    Attributes
    ----------
    source, target : (nmessages,) int32
        In ascending order of the pairs.
    volume : (nmessages,) int64
        At least 1.

    Raises
    ------
    MappingError
        A task does not exist, a volume is negative or no whole number, or the arrays differ in length.

    Examples
    --------
    >>> tasks = TaskGraph(3, [0, 1, 0, 2], [1, 0, 1, 2], [4, 1, 2, 9])
    >>> tasks.nmessages, tasks.volume.tolist(), tasks.total_volume
    (2, [6, 1], 7)
    """

    ntasks: int
    source: NDArray[np.int32]
    target: NDArray[np.int32]
    volume: NDArray[np.int64]

    def __init__(self, ntasks: int, source: ArrayLike, target: ArrayLike, volume: ArrayLike | None = None):
        n = whole("ntasks", ntasks, low=0, high=2**31 - 1)
        p = integers("source", source, np.int64, MappingError, low=0, high=n)
        q = integers("target", target, np.int64, MappingError, low=0, high=n, size=len(p))
        c = np.ones(len(p), WEIGHT) if volume is None else weights("volume", volume, len(p), MappingError)
        kept = (p != q) & (c > 0)
        key, pair = np.unique(p[kept] * n + q[kept], return_inverse=True)
        for name, value in (("ntasks", n), ("source", frozen((key // max(n, 1)).astype(VERTEX))),
                            ("target", frozen((key % max(n, 1)).astype(VERTEX))),
                            ("volume", frozen(sums(pair, c[kept], len(key))))):
            object.__setattr__(self, name, value)

    @staticmethod
    def from_graph(graph: Any) -> TaskGraph:
        """The vertices of a graph as tasks: the weight of an edge is sent each way."""
        found = as_graph(graph)
        u, v, w = found.edges()
        return TaskGraph(found.nvtxs, np.concatenate([u, v]), np.concatenate([v, u]), np.concatenate([w, w]))

    @staticmethod
    def from_matrix(matrix: Any) -> TaskGraph:
        """Of a square matrix of traffic, dense or sparse: the row sends to the column."""
        from scipy.sparse import coo_array

        found = coo_array(matrix)
        if len(found.shape) != 2 or found.shape[0] != found.shape[1]:
            raise MappingError(f"tasks: the matrix of traffic must be square, has shape {found.shape}")
        return TaskGraph(found.shape[0], found.row, found.col, found.data)

    @staticmethod
    def from_partition(graph: Graph | Hypergraph, part: ArrayLike, nparts: int) -> TaskGraph:
        """The parts of a partition as tasks: what each part needs of another one's vertices, by their `vsize`.

        Of a hypergraph, a net carries its cost from the part of its source to each other part that it reaches: there
        are TM messages, and TV data in all, of :func:`copart.metrics.hypergraph.evaluate_hypergraph`.

        Parameters
        ----------
        graph : Graph or Hypergraph
        part : (nvtxs,) array_like of int
        nparts : int

        Examples
        --------
        >>> nets = Hypergraph.from_nets(4, [[0, 1, 2, 3], [2, 3]], cost=[5, 1])
        >>> TaskGraph.from_partition(nets, [0, 0, 1, 1], 2)
        TaskGraph(2 tasks, 1 messages of 5 in all)
        """
        if isinstance(graph, Hypergraph):
            of = part_array("part", part, graph.nvtxs, whole("nparts", nparts, low=1), MappingError).astype(np.int64)
            net, there = np.divmod(np.unique(np.repeat(np.arange(graph.nnets), graph.sizes) * nparts + of[graph.pins]),
                                   nparts)
            return TaskGraph(nparts, of[graph.source[net]], there, graph.cost[net])
        p, q, volume = halo_volumes(graph, np.asarray(part, VERTEX), nparts)
        return TaskGraph(nparts, p, q, volume)

    @property
    def nmessages(self) -> int:
        """Number of messages, TM."""
        return len(self.source)

    @property
    def total_volume(self) -> int:
        """Data sent in all, TV."""
        return int(self.volume.sum())

    def unit(self) -> TaskGraph:
        """The same messages, a unit of data each."""
        return TaskGraph(self.ntasks, self.source, self.target)

    def grouped(self, group: ArrayLike, ngroups: int) -> tuple[TaskGraph, NDArray[np.int64]]:
        """Groups of tasks as tasks, and how many messages each of theirs stands for, (nmessages,) int64."""
        of = integers("group", group, np.int64, MappingError, low=0, high=ngroups, size=self.ntasks)
        p, q = of[self.source], of[self.target]
        return TaskGraph(ngroups, p, q, self.volume), TaskGraph(ngroups, p, q).volume

    @cached_property
    def graph(self) -> Graph:
        """Both directions added: an undirected graph, a vertex for each task."""
        return Graph.from_edges(self.ntasks, *_pairs(self))

    def __repr__(self) -> str:
        return f"TaskGraph({self.ntasks} tasks, {self.nmessages} messages of {self.total_volume} in all)"


def _pairs(tasks: TaskGraph) -> tuple[NDArray[Any], NDArray[Any], NDArray[Any]]:
    """Unordered pairs that communicate, and the sum of both directions."""
    low, high = np.minimum(tasks.source, tasks.target), np.maximum(tasks.source, tasks.target)
    key, pair = np.unique(low.astype(np.int64) * tasks.ntasks + high, return_inverse=True)
    return key // max(tasks.ntasks, 1), key % max(tasks.ntasks, 1), sums(pair, tasks.volume, len(key))


def as_tasks(tasks: Any) -> TaskGraph:
    """`tasks` itself, or the task graph of a matrix of traffic or of a graph."""
    if isinstance(tasks, TaskGraph):
        return tasks
    if (isinstance(tasks, np.ndarray) and tasks.ndim == 2) or hasattr(tasks, "tocoo"):
        return TaskGraph.from_matrix(tasks)
    return TaskGraph.from_graph(tasks)
