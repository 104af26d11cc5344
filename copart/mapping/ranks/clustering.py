"""Coarsening of communication graphs: heavy-edge matching, Louvain, labels, and the contraction of clusters.

A level keeps the weight of the edges inside its vertices, which modularity needs and the cut does not.
(N. Tihon, Graph Partitioning and its application to MPI, 2024, Section 4.1.1; G. Karypis and V. Kumar 1998 for the
matching, V. Blondel et al. 2008 for Louvain, H. Meyerhenke, P. Sanders and C. Schulz 2014 for label propagation.)
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ...arrays import VERTEX, WEIGHT, frozen, integers, sums
from ...errors import MappingError
from ...graph import Graph
from ...names import known_name
from .kgg import kernel_level

#: Rounds of the queue; more make larger clusters.
ROUNDS = 2
#: Rounds of label propagation, at most.
LABEL_ROUNDS = 10


@dataclass(frozen=True, eq=False)
class CoarseLevel:
    """A graph, and the weight of the edges that contraction has put inside each of its vertices, (n,) int64."""

    graph: Graph
    inner: NDArray[np.int64]

    @classmethod
    def finest(cls, graph: Graph) -> CoarseLevel:
        """The graph itself, with nothing inside its vertices."""
        return cls(graph, np.zeros(graph.nvtxs, WEIGHT))

    @property
    def degrees(self) -> NDArray[np.int64]:
        """(n,) int64 weighted degrees, an edge inside a vertex counted with both ends."""
        graph = self.graph
        row = np.repeat(np.arange(graph.nvtxs), np.diff(graph.xadj))
        return sums(row, graph.edge_weights, graph.nvtxs) + 2 * self.inner

    def contract(self, cluster: NDArray[np.int32]) -> CoarseLevel:
        """The level with one vertex per cluster, clusters numbered 0, 1, ...; all weights add up."""
        k = int(cluster.max(initial=-1)) + 1
        u, v, w = self.graph.edges()
        within = cluster[u] == cluster[v]
        inner = sums(cluster, self.inner, k) + sums(cluster[u[within]], w[within], k)
        return CoarseLevel(self.graph.quotient(cluster, k), inner)


#: ``(level, bound, seed)`` to a cluster of every vertex; those above the bound come apart again.
Coarsener = Callable[[CoarseLevel, int, int], Any]


def heavy_edge_matching(level: CoarseLevel, bound: int, seed: int) -> NDArray[np.int32]:
    """Clusters of one or two vertices by randomized heavy-edge matching, none above weight `bound`; (n,) int32."""
    from ...kernels.clustering import match_heavy_edges
    from ...kernels.weights import narrowed

    graph = level.graph
    match = np.full(graph.nvtxs, -1, VERTEX)
    match_heavy_edges(graph.xadj, graph.adjncy, frozen(narrowed(graph.edge_weights)), graph.weights,
                      _order(graph, seed), bound, match)
    return _numbered(np.minimum(match, np.arange(graph.nvtxs)))


def louvain(level: CoarseLevel, bound: int, seed: int) -> NDArray[np.int32]:
    """Clusters of large modularity by sweeps over all vertices until none moves, none above `bound`; (n,) int32."""
    from ...kernels.clustering import louvain_sweeps
    from ...partitioner.communities import alone

    graph, clusters = level.graph, alone(level.degrees, level.graph.weights)
    louvain_sweeps(kernel_level(graph), _twice(level), bound, _order(graph, seed), clusters)
    return _numbered(clusters.cluster)


def louvain_queued(level: CoarseLevel, bound: int, seed: int, rounds: int = ROUNDS) -> NDArray[np.int32]:
    """Clusters by Louvain moves from a queue, at most `rounds` times its length, none above `bound`; (n,) int32."""
    from ...kernels.clustering import louvain_queue
    from ...partitioner.communities import alone

    graph, clusters = level.graph, alone(level.degrees, level.graph.weights)
    louvain_queue(kernel_level(graph), _twice(level), bound, rounds, _order(graph, seed),
                  np.ones(graph.nvtxs, np.bool_), clusters)
    return _numbered(clusters.cluster)


def label_propagation(level: CoarseLevel, bound: int, seed: int, rounds: int = LABEL_ROUNDS) -> NDArray[np.int32]:
    """Clusters by size-constrained label propagation, at most `rounds` visits each, none above `bound`; (n,) int32."""
    from ...kernels.label_propagation import propagate_in_order

    graph, n = level.graph, level.graph.nvtxs
    cluster = np.arange(n, dtype=VERTEX)
    propagate_in_order(kernel_level(graph), _order(graph, seed), seed, bound, rounds, cluster, graph.weights.copy(),
                       np.zeros(n, WEIGHT), np.empty(n, VERTEX), np.ones(n, VERTEX))
    return _numbered(cluster)


COARSENERS: dict[str, Coarsener] = {"rhem": heavy_edge_matching, "louvain": louvain, "louvain-queue": louvain_queued,
                                    "label-propagation": label_propagation}


def coarsener_of(coarsener: str | Coarsener) -> Coarsener:
    """The coarsener of that name; or the function itself, its clusters numbered anew and kept below the bound.

    Raises
    ------
    ConfigError
        There is no coarsener of that name.
    """
    if isinstance(coarsener, str) or not callable(coarsener):
        known_name("coarsener", coarsener, COARSENERS)
        return COARSENERS[coarsener]

    def checked(level: CoarseLevel, bound: int, seed: int) -> NDArray[np.int32]:
        n = level.graph.nvtxs
        cluster = _numbered(integers("coarsener", coarsener(level, bound, seed), VERTEX, MappingError, low=0, size=n))
        # other libraries know no bound; above it coarse vertices cannot be packed
        heavy = sums(cluster, level.graph.weights, n)[cluster] > bound
        return _numbered(np.where(heavy, n + np.arange(n), cluster))

    return checked


def modularity(level: CoarseLevel, cluster: NDArray[np.int32]) -> float:
    """Modularity of clusters: the share of the edge weight inside them, less that expected; 0 without edges."""
    degree = level.degrees
    twice = float(_twice(level))
    inside = level.contract(_numbered(cluster)).inner.sum()
    return float(2 * inside / twice - ((sums(cluster, degree, level.graph.nvtxs) / twice) ** 2).sum())


def _twice(level: CoarseLevel) -> int:
    """Sum of the weighted degrees; 1 where ranks talk to nobody, since shares of it are taken."""
    return max(int(level.degrees.sum()), 1)


def _order(graph: Graph, seed: int) -> NDArray[np.int32]:
    return np.random.default_rng([seed, 3]).permutation(graph.nvtxs).astype(VERTEX)


def _numbered(cluster: NDArray[Any]) -> NDArray[np.int32]:
    return np.unique(cluster, return_inverse=True)[1].astype(VERTEX)


__all__ = ["COARSENERS", "CoarseLevel", "Coarsener", "coarsener_of", "heavy_edge_matching", "label_propagation",
           "louvain", "louvain_queued", "modularity"]
