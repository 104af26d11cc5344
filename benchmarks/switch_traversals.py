"""Mapping by switch traversals: a binary tree of nodes that are few switches apart, and the processes split along it.

Hop counts between all compute nodes, as the tools of the network print them, become a tree by joining what is close;
the process graph is bisected from the root of the tree down, each time into parts that fill the two subtrees
(Subramoni et al. 2012).
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from numpy.typing import ArrayLike, NDArray

from copart.arrays import VERTEX, whole
from copart.errors import ConfigError, MappingError
from copart.graph import Graph
from copart.mapping.cartesian.placements import node_sizes

RULES = ("neighbor-joining", "closest")


def join_nodes(hops: ArrayLike, rule: str = "neighbor-joining") -> NDArray[np.int32]:
    """A binary tree of compute nodes.

    Parameters
    ----------
    hops : (nnodes, nnodes) array_like of float
        Switches between two nodes; symmetric, zero on the diagonal.
    rule : {"neighbor-joining", "closest"}
        Joins the pair that is close to one another and far from the rest (Saitou & Nei), or the closest pair, whose
        distances to the others are averaged.  Ties go to the first pair.

    Returns
    -------
    (nnodes - 1, 2) int32
        The two ends of each join: nodes below nnodes, and nnodes + i for the i-th join.  The last one is the root.
    """
    distance = np.array(hops, dtype=float)
    if distance.ndim != 2 or distance.shape[0] != distance.shape[1] or not len(distance):
        raise MappingError(f"hops: needs a square matrix, has shape {distance.shape}")
    if not np.isfinite(distance).all() or (distance < 0).any() or distance.diagonal().any():
        raise MappingError("hops: needs finite numbers from 0, and zeros on the diagonal")
    skew = np.argwhere(distance != distance.T)
    if len(skew):
        i, j = skew[0]
        raise MappingError(f"hops: not symmetric, {distance[i, j]:g} from {i} to {j} but {distance[j, i]:g} back")
    if rule not in RULES:
        raise ConfigError(f"rule: {rule!r} is none of {', '.join(RULES)}")
    nnodes = len(distance)
    names = list(range(nnodes))
    joins = []
    while len(names) > 1:
        n = len(names)
        cost = distance
        if rule == "neighbor-joining":
            far = distance.sum(axis=1)
            cost = (n - 2) * distance - far[:, None] - far[None, :]
        first, second = np.triu_indices(n, 1)
        # rounding must not decide between equal pairs
        best = int(np.argmin(np.round(cost[first, second], 9)))
        i, j = int(first[best]), int(second[best])
        joins.append((names[i], names[j]))
        new = (distance[i] + distance[j]) / 2
        if rule == "neighbor-joining":
            new -= distance[i, j] / 2
        # the joined pair takes the place of its first end
        distance[i], distance[:, i] = new, new
        distance[i, i] = 0
        distance = np.delete(np.delete(distance, j, 0), j, 1)
        names[i] = nnodes + len(joins) - 1
        del names[j]
    return np.array(joins, VERTEX).reshape(-1, 2)


def map_by_switches(graph: Graph, nodes: int | Sequence[int], hops: ArrayLike, *, rule: str = "neighbor-joining",
                    tries: int = 4, seed: int = 1) -> NDArray[np.int32]:
    """Compute node of every process.

    Parameters
    ----------
    graph : Graph
        Processes and what they exchange; vertex weights play no role.
    nodes : int or sequence of int
        Number of compute nodes that share the processes equally, or the processes of each.
    hops : (nnodes, nnodes) array_like of float
        See :func:`join_nodes`.
    rule : str
        See :func:`join_nodes`.
    tries : int
        Bisections made each time, of which the one with the least cut is kept.
    seed : int
        Of the first; the others follow.

    Returns
    -------
    (nvtxs,) int32
        Every node has exactly its number of processes.
    """
    sizes = node_sizes(graph.nvtxs, nodes)
    joins = join_nodes(hops, rule)
    if len(joins) + 1 != len(sizes):
        raise MappingError(f"hops: of {len(joins) + 1} nodes, but there are {len(sizes)}")
    whole("tries", tries, low=1)
    held = [*sizes, *([0] * len(joins))]
    for i, (a, b) in enumerate(joins.tolist()):
        held[len(sizes) + i] = held[a] + held[b]
    unit = Graph(graph.xadj, graph.adjncy, graph.ewgt)
    node = np.empty(graph.nvtxs, VERTEX)
    todo = [(len(held) - 1, np.arange(graph.nvtxs))]
    while todo:
        top, who = todo.pop()
        if top < len(sizes):
            node[who] = top
            continue
        a, b = joins[top - len(sizes)].tolist()
        first = bisect(unit.subgraph(who), held[a], tries, seed)
        todo += [(a, who[first]), (b, who[~first])]
    return node


def bisect(graph: Graph, size: int, tries: int, seed: int) -> NDArray[np.bool_]:
    """Exactly `size` vertices with a small cut to the others: (nvtxs,) bool."""
    # here, because the partitioner is compiled and the rest of this package needs no compiler
    from copart.kgggp_ml import partition
    from copart.metrics import edge_cut

    shares = [size / graph.nvtxs, 1 - size / graph.nvtxs]
    parts = [partition(graph, 2, eps=0.0, seed=seed + i, tpwgts=shares) for i in range(tries)]
    return np.asarray(min(parts, key=lambda part: edge_cut(graph, part)) == 0)


__all__ = ["RULES", "bisect", "join_nodes", "map_by_switches"]
