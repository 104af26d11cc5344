"""Decomposition of any weighted graph by recursive bipartition (``deco 1``): exact, in quadratic memory.

All distances between processors are kept; the distance of two larger domains is the mean over their sons, again and
again, and so a weighted mean over their processors, which a table of sums gives at once.
(Pellegrini & Lachat 2017, Inria RR-9135: deco 1.)
"""

from __future__ import annotations

from collections.abc import Sequence
from functools import cached_property

import numpy as np
from numpy.typing import ArrayLike, NDArray

from ...arrays import frozen
from ...errors import MappingError
from ...graph import Graph, as_graph
from ...kernels.distances import DistanceCode
from .architecture import MATRIX_LIMIT, Domain, Domains, rows, table_code
from .deco2 import FINENESS, target_vertices
from .decomposed import Decomposed


class Decomposition(Decomposed):
    """A machine of a few thousand processors with all distances; built by :func:`decompose` or read from a file.

    Parameters
    ----------
    numbers : sequence of int
        Number of the terminal domain of each processor in the binary tree of domains: the root is 1, the sons of i
        are 2 i and 2 i + 1.
    table : (nprocs, nprocs) float64
        Distances between processors.
    power : (nprocs,) int64
        Compute power.

    Raises
    ------
    MappingError
        A terminal domain contains another, or the table is no table of distances.
    """

    name = "deco"

    def __init__(self, numbers: Sequence[int], table: ArrayLike, power: NDArray[np.int64]):
        if len(numbers) > MATRIX_LIMIT:
            raise MappingError(f"a decomposition keeps all distances, up to {MATRIX_LIMIT} processors, the target has "
                               f"{len(numbers)}; use the multilevel one (deco 2)")
        self.table = frozen(checked_distances(table, len(numbers)))
        order, level = _tree(numbers)
        super().__init__(order, level, power)

    @cached_property
    def _sums(self) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
        """Share of each leaf in the mean of its domain, summed up, and the shared distances summed over rectangles."""
        share = 0.5**self.leaf_depths()
        total = np.zeros((self.nprocs + 1, self.nprocs + 1))
        shared = share[:, None] * share[None, :] * self.table[np.ix_(self.order, self.order)]
        total[1:, 1:] = shared.cumsum(0).cumsum(1)
        return np.concatenate([[0], np.cumsum(share)]), total

    def domain_distances(self, domain: Domain, domains: Domains) -> NDArray[np.float64]:
        """Mean over the sons of both, down to the processors."""
        share, total = self._sums
        (a, b), (low, high) = domain, rows(domains).T
        found: NDArray[np.float64] = (total[b, high] - total[a, high] - total[b, low] + total[a, low]) / (
            (share[b] - share[a]) * (share[high] - share[low]))
        if b - a == 1:
            alone = high - low == 1
            found[alone] = self.table[self.order[a], self.order[low[alone]]]
        return found

    def distances(self, p: ArrayLike, q: ArrayLike) -> NDArray[np.float64]:
        """Distances from the table."""
        found: NDArray[np.float64] = self.table[np.asarray(p), np.asarray(q)]
        return found

    def matrix(self) -> NDArray[np.float64]:
        """(nprocs, nprocs) float64 distances between all processors."""
        return self.table

    def code(self) -> DistanceCode:
        """The distances as kernels take them."""
        return table_code(self.table)


def decompose(graph: Graph, vertices: ArrayLike | None = None, *, seed: int = 1) -> Decomposition:
    """Decompose a target graph by recursive bipartition, both halves as even as possible.

    Parameters
    ----------
    graph : Graph
        Vertex weight: compute power; edge weight: cost of the link, at least 1.
    vertices : (nprocs,) array_like of int, optional
        The vertices that take processes, in the order of their processor numbers; the others are passage.
    seed : int

    Raises
    ------
    MappingError
        The graph is not connected or has more than 4,096 processors, a link costs nothing, a processor has no compute
        power, or the list is unusable.

    Examples
    --------
    A ring of four:

    >>> machine = decompose(Graph.from_edges(4, [0, 1, 2, 3], [1, 2, 3, 0]))
    >>> machine.distances(0, [1, 2, 3])
    array([1., 2., 1.])
    >>> [machine.size(son) for son in machine.sons(machine.root)]
    [2, 2]
    """
    from scipy.sparse.csgraph import dijkstra

    g = as_graph(graph)
    chosen = target_vertices(g, vertices)
    if len(chosen) > MATRIX_LIMIT:
        raise MappingError(f"a decomposition keeps all distances, up to {MATRIX_LIMIT} processors, the target has "
                           f"{len(chosen)}; use the multilevel one (deco 2)")
    table = dijkstra(g.to_scipy().astype(np.float64), indices=chosen)[:, chosen]
    number = np.full(g.nvtxs, -1, np.int64)
    number[chosen] = np.arange(len(chosen))
    return Decomposition(_bipartitioned(g, number, seed), table, g.weights[chosen])


def _bipartitioned(graph: Graph, number: NDArray[np.int64], seed: int) -> list[int]:
    """Tree numbers of the processors, `number` being -1 for vertices that are passage."""
    takes = number >= 0
    load = np.where(takes, graph.weights, 0)
    cost = graph.edge_weights
    near = np.maximum(FINENESS * int(cost.min()) // np.maximum(cost, 1), 1) if len(cost) else None
    whole = Graph(graph.xadj, graph.adjncy, near, vwgt=load)
    out = [0] * int(takes.sum())
    todo = [(1, np.arange(graph.nvtxs))]
    while todo:
        node, piece = todo.pop()
        mine = piece[takes[piece]]
        if len(mine) == 1:
            out[number[mine[0]]] = node
            continue
        second = _halved(whole, piece, takes, seed)
        todo += [(2 * node, piece[~second]), (2 * node + 1, piece[second])]
    return out


def _halved(graph: Graph, piece: NDArray[np.int64], takes: NDArray[np.bool_], seed: int) -> NDArray[np.bool_]:
    """Which vertices of a piece of at least two processors go into its second half."""
    from ...kgggp_ml import partition

    taking = takes[piece]
    if taking.sum() > 2:
        second: NDArray[np.bool_] = partition(graph.subgraph(piece), 2, eps=0.0, strict=False, seed=seed) == 1
        if 0 < int(second[taking].sum()) < int(taking.sum()):
            return second
    # two processors, or powers so unequal that all went to one side
    rest: NDArray[np.bool_] = np.cumsum(taking) > (int(taking.sum()) + 1) // 2
    return rest


def _tree(numbers: Sequence[int]) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
    """Order and level of terminal domains by their numbers in the binary tree."""
    if not len(numbers):
        raise MappingError("a machine needs at least one processor, there is no terminal domain")
    if min(numbers) < 1:
        raise MappingError(f"terminal domains are numbered from 1, one has number {min(numbers)}")
    depth = max(number.bit_length() for number in numbers)
    aligned = [number << depth - number.bit_length() for number in numbers]
    order = sorted(range(len(numbers)), key=lambda p: (aligned[p], numbers[p]))
    level = np.zeros(len(numbers) + 1, np.int64)
    for i in range(1, len(order)):
        a, b = order[i - 1], order[i]
        apart = (aligned[a] ^ aligned[b]).bit_length()
        if apart <= depth - numbers[a].bit_length():
            raise MappingError(f"terminal domain {numbers[b]} is part of terminal domain {numbers[a]}")
        level[i] = apart
    return np.array(order, np.int64), level


def checked_distances(table: ArrayLike, nprocs: int) -> NDArray[np.float64]:
    """A table of distances as float64; MappingError where it is none."""
    found = np.ascontiguousarray(table, np.float64)
    if found.shape != (nprocs, nprocs):
        raise MappingError(f"distances: needs a table of {nprocs} x {nprocs}, has shape {found.shape}")
    bad = ~np.isfinite(found) | (found < 0) | (found != found.T) | (np.eye(nprocs, dtype=np.bool_) & (found != 0))
    if bad.any():
        p, q = np.argwhere(bad)[0]
        raise MappingError(f"distances: must be finite, symmetric, not negative, and 0 from a processor to itself; "
                           f"{p} to {q} is {found[p, q]:g}")
    return found


def tree_numbers(machine: Decomposed) -> list[int]:
    """Number of the terminal domain of each processor in the binary tree of domains: root 1, sons 2 i and 2 i + 1."""
    out = [0] * machine.nprocs
    todo = [(1, machine.root)]
    while todo:
        number, domain = todo.pop()
        if machine.size(domain) == 1:
            out[machine.processor(domain)] = number
        else:
            first, second = machine.sons(domain)
            todo += [(2 * number, first), (2 * number + 1, second)]
    return out
