"""Recursive bisection with exact part sizes: each half gets what its parts hold together.

Two bisectors: *greedy* grows both halves and refines them, and keeps the best of several tries; *spectral* sorts by
the Fiedler vector, the eigenvector of the second smallest eigenvalue of the Laplacian, and cuts at the wanted size.
(N. Tihon, Graph Partitioning and its application to MPI, 2024, Section 4.1.2.)
"""

from __future__ import annotations

from typing import Any, get_args

import numpy as np
from numpy.typing import ArrayLike, NDArray

from ...arrays import VERTEX
from ...graph import Graph
from ...metrics import edge_cut
from ...names import Bisector, known_name
from .kgg import check_capacities, counted, grow
from .negative_cycles import refine

BISECTORS: tuple[Bisector, ...] = get_args(Bisector)
#: Tries of the greedy bisector; a single one misses the shortest line through a grid in one case of three.
TRIES = 6
#: Up to here all eigenvectors are computed.
_DENSE = 128


def recursive_bisection(graph: Graph, capacities: ArrayLike, *, bisector: Bisector = "greedy", seed: int = 1,
                        tries: int = TRIES) -> NDArray[np.int32]:
    """Partition by bisections into floor(k/2) and the other parts, down to one; (n,) int32.

    Parameters
    ----------
    graph : Graph
        All vertex weights 1.
    capacities : (k,) array_like of int
        Size of each part; any number of parts, any sizes.
    bisector : {"greedy", "spectral"}
    seed : int
    tries : int
        Of the greedy bisector.

    Raises
    ------
    ConfigError
        The bisector is unknown.
    MappingError
        The capacities do not add up to the number of vertices, or these are weighted.
    """
    known_name("bisector", bisector, BISECTORS)
    graph = counted(graph)
    cap = check_capacities(graph, capacities)
    part = np.zeros(graph.nvtxs, VERTEX)
    jobs = [(np.arange(graph.nvtxs), 0, len(cap))]
    while jobs:
        vertices, first, end = jobs.pop()
        if end - first == 1 or len(vertices) == 0:
            part[vertices] = first
            continue
        middle = first + (end - first) // 2
        sizes = [int(cap[first:middle].sum()), int(cap[middle:end].sum())]
        half = graph.subgraph(vertices) if len(vertices) < graph.nvtxs else graph
        side = _spectral(half, sizes, seed) if bisector == "spectral" else _greedy(half, sizes, seed, tries)
        jobs += [(vertices[side == 1], middle, end), (vertices[side == 0], first, middle)]
    return part


def _greedy(graph: Graph, sizes: list[int], seed: int, tries: int) -> NDArray[np.int32]:
    found = [refine(graph, grow(graph, sizes, seed=seed * 1009 + i).part, sizes, seed=seed).part for i in range(tries)]
    return min(found, key=lambda side: edge_cut(graph, side))


def _spectral(graph: Graph, sizes: list[int], seed: int) -> NDArray[np.int32]:
    side = np.ones(graph.nvtxs, VERTEX)
    side[fiedler_order(graph, seed)[:sizes[0]]] = 0
    return side


def fiedler_order(graph: Graph, seed: int = 1) -> NDArray[np.int64]:
    """The vertices by the Fiedler vector of D - A, one connected component after another, largest first; (n,) int64."""
    from scipy.sparse.csgraph import connected_components

    matrix = graph.to_scipy().astype(np.float64)
    count, label = connected_components(matrix, directed=False)
    sizes = np.bincount(label, minlength=count)
    order = []
    for component in np.argsort(-sizes, kind="stable"):
        vertices = np.flatnonzero(label == component)
        inside = matrix[vertices][:, vertices] if count > 1 else matrix
        order.append(vertices[np.argsort(_fiedler(inside, seed), kind="stable")])
    return np.concatenate(order) if order else np.zeros(0, np.int64)


def _fiedler(matrix: Any, seed: int) -> NDArray[np.float64]:
    from scipy.sparse.csgraph import laplacian
    from scipy.sparse.linalg import eigsh

    n = matrix.shape[0]
    if n < 3 or matrix.max() == 0:
        return np.arange(n, dtype=np.float64)
    scaled = laplacian(matrix / matrix.max())
    if n <= _DENSE:
        vector = np.linalg.eigh(scaled.toarray())[1][:, 1]
    else:
        # just below 0 the shifted Laplacian is definite; the start vector is given, else the result is a random one
        start = np.random.default_rng([seed, 4]).random(n)
        values, vectors = eigsh(scaled.tocsc(), k=2, sigma=-1e-3 * scaled.diagonal().mean(), which="LM", v0=start)
        vector = vectors[:, np.argsort(values)[1]]
    vector = vector.round(12)
    return np.asarray(vector if vector[np.argmax(np.abs(vector))] > 0 else -vector)


__all__ = ["BISECTORS", "fiedler_order", "recursive_bisection"]
