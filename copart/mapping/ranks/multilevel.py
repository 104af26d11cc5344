"""Multilevel k-way partitioning with exact part sizes: coarsen, grow, then refine level by level.

The weight of clusters is bounded by a fraction of the smallest capacity, so that coarse vertices can be packed; sizes
may be exceeded by one coarse vertex on the way, and are exact on the input graph.  With parts of a hundred processes
there is little to gain: the coarsest graph must keep many vertices per part.
(N. Tihon, Graph Partitioning and its application to MPI, 2024, Section 4.1.)
"""

from __future__ import annotations

import numpy as np
from numpy.typing import ArrayLike, NDArray

from ...graph import Graph
from .clustering import CoarseLevel, Coarsener, coarsener_of
from .kgg import check_capacities, counted, grow
from .negative_cycles import refine

#: Coarsening ends at this many vertices per part, or when a level shrinks by less than a twentieth.
VERTICES_PER_PART = 64
#: Smallest capacity over the largest weight of a cluster.
CLUSTERS_PER_PART = 8


def coarsen(graph: Graph, coarsener: str | Coarsener, threshold: int, bound: int, seed: int = 1,
            ) -> tuple[list[CoarseLevel], list[NDArray[np.int32]]]:
    """Levels from the input to the coarsest, and the cluster of every vertex of each level but the last.

    Parameters
    ----------
    graph : Graph
    coarsener : {"rhem", "louvain", "louvain-queue", "label-propagation"} or callable
        Or a function of a :class:`~copart.mapping.ranks.clustering.CoarseLevel`, `bound` and a seed, which gives a
        number from 0 to each vertex, those of a cluster the same. Clusters above `bound` come apart again.
    threshold : int
        A level with at most so many vertices is the last one.
    bound : int
        Largest weight of a cluster.
    seed : int

    Raises
    ------
    ConfigError
        The coarsener is unknown.
    MappingError
        The function gives no clusters.
    """
    clusters_of = coarsener_of(coarsener)
    levels, clusters = [CoarseLevel.finest(graph)], []
    while (n := levels[-1].graph.nvtxs) > threshold:
        cluster = clusters_of(levels[-1], bound, seed + len(levels))
        if int(cluster.max()) + 1 > 0.95 * n:
            break
        clusters.append(cluster)
        levels.append(levels[-1].contract(cluster))
    return levels, clusters


def multilevel(graph: Graph, capacities: ArrayLike, *, coarsener: str | Coarsener = "rhem", seed: int = 1,
               per_part: int = VERTICES_PER_PART) -> NDArray[np.int32]:
    """Partition into parts of exactly the given sizes through coarser graphs; (n,) int32.

    Parameters
    ----------
    graph : Graph
        All vertex weights 1.
    capacities : (k,) array_like of int
    coarsener : str or callable
        See :func:`coarsen`.
    seed : int
    per_part : int
        Coarsening ends at `per_part` vertices per part.

    Raises
    ------
    MappingError
        The capacities do not add up, or vertices are weighted.
    """
    graph = counted(graph)
    cap = check_capacities(graph, capacities)
    bound = max(int(cap.min(where=cap > 0, initial=graph.nvtxs)) // CLUSTERS_PER_PART, 1)
    levels, clusters = coarsen(graph, coarsener, per_part * len(cap), bound, seed)
    slack = int(levels[-1].graph.weights.max(initial=1)) if clusters else 0
    part = grow(levels[-1].graph, cap + slack * (cap > 0), seed=seed).part
    for level, cluster in zip(levels[:0:-1], clusters[::-1], strict=True):
        part = refine(level.graph, part, cap, seed=seed).part[cluster]
    return refine(graph, part, cap, seed=seed).part


__all__ = ["coarsen", "multilevel"]
