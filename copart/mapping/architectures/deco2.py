"""Decomposition of any weighted graph by matchings (``deco 2``): linear memory, for a million processors.

The target graph is coarsened by matchings until one vertex is left; the tree of the matchings is the bipartition
tree.  All coarse graphs are kept with traversal weights, and the distance of two domains is that of a search of a few
steps in the finest of them where both are one vertex, or else between their fathers, and so on: accurate near,
approximate far.  (Pellegrini & Lachat 2017, Inria RR-9135: deco 2.)
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from ...arrays import OFFSET, VERTEX, frozen, integers, sums
from ...errors import MappingError
from ...graph import Graph, as_graph
from ...kernels.decomposition import (
    Arcs,
    ancestors,
    contract,
    interval_maxima,
    match_nearest,
    multilevel_pairs,
    number_coarse,
    swallow,
)
from ...kernels.distances import MULTILEVEL, DistanceCode
from .architecture import Domain, Domains, distance_code, rows
from .decomposed import Decomposed

#: Vertices that one search settles: enough for all pairs two steps apart in a 3D torus.
SETTLED = 32
#: How finely link costs are told apart when vertices are matched.
FINENESS = 2**20


@dataclass(frozen=True)
class Levels:
    """All coarse graphs in one numbering, the target graph first: arrays of :class:`DistanceCode`."""

    #: (nlevels + 1,) int64 first vertex of each level
    first: NDArray[np.int64]
    father: NDArray[np.int32]
    xadj: NDArray[np.int64]
    adjncy: NDArray[np.int32]
    edge: NDArray[np.float64]


class MultilevelDecomposition(Decomposed):
    """A machine given by any connected graph, of which a list of vertices may take processes.

    Parameters
    ----------
    graph : Graph
        Vertex weight: compute power; edge weight: cost of the link, at least 1.
    vertices : (nprocs,) array_like of int, optional
        The vertices that take processes, in the order of their processor numbers; the others (switches, nodes of other
        jobs) are passage.  All where not given.

    Raises
    ------
    MappingError
        The graph is not connected, a link costs nothing, a processor has no compute power, or the list is unusable.

    Notes
    -----
    Memory is linear in the graph: about 60 bytes a link of a 3D torus, all levels included.

    Two things differ from the source.  Who is left alone by a matching is matched below a common neighbour, so that
    stars shrink.  And a coarse edge that both halves of a coarse vertex have does not pay for crossing it: with a grid
    of 32 x 32, where most edges run beside the swallowed ones, all would add up to four times the distance.
    """

    name = "deco2"

    def __init__(self, graph: Graph, vertices: ArrayLike | None = None):
        self.graph, self.vertices = as_graph(graph), target_vertices(graph, vertices)
        self.levels = coarsened(self.graph)
        takes = np.zeros(self.graph.nvtxs, np.int64)
        takes[self.vertices] = 1
        order, level = matching_tree(self.levels, takes)
        number = np.full(self.graph.nvtxs, -1, np.int64)
        number[self.vertices] = np.arange(len(self.vertices))
        super().__init__(number[order], level, self.graph.weights[self.vertices])

    def domain_distances(self, domain: Domain, domains: Domains) -> NDArray[np.float64]:
        """Distances between coarse vertices of the finest level where both domains are one vertex."""
        low, high = np.ascontiguousarray(rows([domain, *map(tuple, domains)]).T)
        at = self.vertices[self.order[low]]
        level = np.empty(len(low), np.int64)
        interval_maxima(self.level, low, high, level)
        meet = np.maximum(level[0], level[1:])
        p, q = np.empty(len(meet), np.int64), np.empty(len(meet), np.int64)
        ancestors(self.levels.father, np.full(len(meet), at[0]), meet, p)
        ancestors(self.levels.father, np.ascontiguousarray(at[1:]), meet, q)
        return self._between(p, q)

    def distances(self, p: ArrayLike, q: ArrayLike) -> NDArray[np.float64]:
        """Distances by bounded searches: exact for neighbours and near pairs, approximate for others."""
        u, v = np.broadcast_arrays(self.vertices[np.asarray(p)], self.vertices[np.asarray(q)])
        return self._between(np.ascontiguousarray(u).ravel(), np.ascontiguousarray(v).ravel()).reshape(u.shape)

    def _between(self, u: NDArray[np.int64], v: NDArray[np.int64]) -> NDArray[np.float64]:
        out = np.empty(len(u))
        fields = self.levels
        multilevel_pairs(fields.father, fields.xadj, fields.adjncy, fields.edge, SETTLED, u, v, out)
        return out

    def code(self) -> DistanceCode:
        """The distances as kernels take them."""
        fields = self.levels
        return distance_code(MULTILEVEL, vertex=self.vertices)._replace(
            father=fields.father, xadj=fields.xadj, adjncy=fields.adjncy, edge=fields.edge, limit=SETTLED)


def target_vertices(graph: Graph, vertices: ArrayLike | None) -> NDArray[np.int64]:
    """The vertices of a target graph that take processes; MappingError where they or the graph are unusable."""
    g = as_graph(graph)
    if not g.nvtxs:
        raise MappingError("target graph: a machine needs at least one processor, the graph is empty")
    if vertices is None:
        chosen = np.arange(g.nvtxs, dtype=np.int64)
    else:
        chosen = integers("vertices", vertices, np.int64, MappingError, low=0, high=g.nvtxs)
        if not len(chosen):
            raise MappingError("vertices: a machine needs at least one processor, the list is empty")
        times = sums(chosen, np.ones(len(chosen), np.int64), g.nvtxs)
        if times.max() > 1:
            raise MappingError(f"vertices: vertex {int(np.argmax(times > 1))} is listed more than once")
    if not (power := g.weights[chosen]).all():
        i = int(np.argmin(power))
        raise MappingError(f"target graph: {int((power == 0).sum())} processors have compute power 0, first vertex "
                           f"{chosen[i]}; list only the vertices that take processes")
    if g.ewgt is not None and len(g.ewgt) and int(g.ewgt.min()) < 1:
        raise MappingError("target graph: a link must cost at least 1, one costs 0")
    from scipy.sparse.csgraph import connected_components

    pieces, piece = connected_components(g.to_scipy(), directed=False)
    if pieces > 1:
        raise MappingError(f"target graph: is not connected ({pieces} pieces; vertices 0 and "
                           f"{int(np.argmax(piece != piece[0]))} are in different ones), so that distances are unknown")
    return frozen(chosen)


def coarsened(graph: Graph) -> Levels:
    """All levels of a connected graph, down to one vertex."""
    cost = graph.edge_weights
    xadj, adjncy, edge = graph.xadj.copy(), graph.adjncy.copy(), cost.astype(np.float64)
    near: NDArray[np.int64]
    # a cheap link is a heavy edge: its ends are near each other
    near = np.maximum(FINENESS * int(cost.min()) // np.maximum(cost, 1), 1) if len(cost) else cost
    levels = []
    while True:
        n, narcs = len(xadj) - 1, len(adjncy)
        father = np.zeros(n, VERTEX)
        levels.append((father, xadj, adjncy, edge))
        if n == 1:
            break
        mate = np.empty(n, VERTEX)
        ncoarse = match_nearest(xadj, adjncy, near, mate, np.empty(n, VERTEX))
        number_coarse(mate, father)
        swallowed = np.empty(ncoarse)
        swallow(xadj, adjncy, edge, mate, father, swallowed)
        # merging arcs makes no new ones
        coarse = Arcs(xadj=np.empty(ncoarse + 1, OFFSET), adjncy=np.empty(narcs, VERTEX),
                      near=np.empty(narcs, np.int64), edge=np.empty(narcs))
        count = contract(Arcs(xadj=xadj, adjncy=adjncy, near=near, edge=edge), mate, father, swallowed, coarse,
                         np.empty(ncoarse, OFFSET), np.empty(narcs, VERTEX), np.empty(narcs, VERTEX))
        xadj = coarse.xadj
        adjncy, near, edge = (a[:count].copy() for a in coarse[1:])
    first = np.concatenate([[0], np.cumsum([len(level[0]) for level in levels])])
    arcs = np.concatenate([[0], np.cumsum([len(level[2]) for level in levels])])

    def joined(field: int, offsets: NDArray[np.int64], dtype: type) -> NDArray[Any]:
        parts = [level[field].astype(dtype) + dtype(at) for level, at in zip(levels, offsets, strict=False)]
        return np.concatenate(parts)

    father = joined(0, first[1:], VERTEX)
    father[-1] = len(father) - 1
    ends = [level[1][1:] + at for level, at in zip(levels, arcs, strict=False)]
    return Levels(frozen(first), frozen(father), frozen(np.concatenate([[0], *ends])), frozen(joined(2, first, VERTEX)),
                  frozen(np.concatenate([level[3] for level in levels])))


def matching_tree(levels: Levels, takes: NDArray[np.int64]) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
    """The tree of the matchings over the vertices that take processes: leaves in order, and their levels.

    Parameters
    ----------
    levels : Levels
    takes : (n,) int64
        1 for the vertices that take processes, 0 for the others.

    Returns
    -------
    order : (nprocs,) int64
        Vertices of the target graph.
    level : (nprocs + 1,) int64
        As :class:`Decomposed` has it.
    """
    nlevels = len(levels.first) - 1
    label = [takes]
    for i in range(nlevels - 1):
        here, above = slice(levels.first[i], levels.first[i + 1]), levels.first[i + 1]
        label.append(sums(levels.father[here] - above, label[i], int(levels.first[i + 2] - above)))
    total = int(takes.sum())
    level = np.zeros(total + 1, np.int64)
    start = np.zeros(1, np.int64)
    for i in range(nlevels - 2, -1, -1):
        father = levels.father[levels.first[i]:levels.first[i + 1]] - levels.first[i + 1]
        # two sons at most: the second one starts where the first one ends
        order = np.argsort(father, kind="stable")
        second = np.zeros(len(father), np.bool_)
        second[order[1:]] = father[order[1:]] == father[order[:-1]]
        begin = start[father]
        later = np.flatnonzero(second)
        brother = order[np.searchsorted(father[order], father[later])]
        begin[later] += label[i][brother]
        both = (label[i][later] > 0) & (label[i][brother] > 0)
        level[begin[later[both]]] = i + 1
        start = begin
    order = np.empty(total, np.int64)
    taking = np.flatnonzero(takes)
    order[start[taking]] = taking
    return order, level
