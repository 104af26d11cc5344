"""The coupled cells of all components as one problem: built from the graphs, moved by kernels, written back.

Coupled parts come first in every component (numbers ``0..ncoupled-1``); here those of all components are
numbered through, and so are the cells.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np
from numpy.typing import NDArray

from .arrays import VERTEX, WEIGHT, frozen, sums
from .coupling import CoupledProblem
from .graph import Graph
from .kernels import coupled as kernels
from .kernels.coupled import Cells, Shares
from .kernels.csr import spread_labels
from .operators import rest_joined

Array = np.ndarray[Any, Any]
Parts = Mapping[str, NDArray[np.int32]]


def nearest(graph: Graph, cells: NDArray[np.int32], hops: int) -> tuple[NDArray[np.int32], NDArray[np.int32]]:
    """Index in `cells` of the nearest of them to every vertex, and the edges to it; -1 beyond `hops` edges."""
    label, dist, queue = (np.empty(graph.nvtxs, VERTEX) for _ in range(3))
    spread_labels(graph.xadj, graph.adjncy, frozen(cells), hops, label, dist, queue)
    return label, dist


class CoupledCells:
    """The coupled cells of all components.

    Parameters
    ----------
    problem : CoupledProblem
    parts : mapping of str to (nvtxs,) int32
        Part of every vertex of each component; those of coupled cells are below `ncoupled`.
    ncoupled : mapping of str to int
        Number of coupled parts of each component.
    both : bool
        Count the volume of both directions, else only from the first component of each pair to the second.

    Attributes
    ----------
    members : dict of str to (ncells,) int32
        Coupled vertices of each component, ascending.
    first, offset : dict of str to int
        Number here of the first cell and of the first part of each component.
    n, k : int
        Numbers of cells and parts.
    owner : (k,) int32
        Component of each part.
    cells : Cells
        What kernels work on.
    """

    def __init__(self, problem: CoupledProblem, parts: Parts, ncoupled: Mapping[str, int], both: bool):
        self.problem, self.ncoupled, self.parts = problem, ncoupled, parts
        names, graphs = problem.names, problem.components
        self.members = {name: problem.coupled(name) for name in names}
        self.first = _starts(names, [len(self.members[name]) for name in names])
        self.offset = _starts(names, [ncoupled[name] for name in names])
        self.n = sum(len(m) for m in self.members.values())
        self.k = sum(ncoupled.values())
        self.owner = np.repeat(np.arange(len(names), dtype=VERTEX), [ncoupled[name] for name in names])
        weight = np.concatenate([graphs[name].weights[self.members[name]] for name in names])
        edges, pulls, across = self._edges(), self._pulls(), self._interedges(both)
        self.cells = Cells(*edges, *pulls, *across, weight)

    def span(self, name: str) -> slice:
        """Where the cells of component `name` are."""
        return slice(self.first[name], self.first[name] + len(self.members[name]))

    def start(self) -> NDArray[np.int32]:
        """The cells as they are in `parts`."""
        return np.concatenate([self.parts[name][m] + self.offset[name] for name, m in self.members.items()])

    def shares(self, part: Array, limit: Array, clusters: Cells | None = None) -> Shares:
        """State of the partition `part` int32 of the cells or of clusters; `limit` (k,) int64."""
        g = self.cells if clusters is None else clusters
        k, m = self.k, len(g.iadj)
        s = Shares(part.copy(), np.zeros(k, WEIGHT), limit, np.zeros(k, WEIGHT), np.zeros(m, VERTEX),
                   np.zeros(m, VERTEX), np.zeros(len(part), VERTEX), np.zeros((k, k), WEIGHT), np.zeros(3, WEIGHT))
        kernels.share_out(g, s)
        return s

    def scatter(self, part: Array) -> dict[str, NDArray[np.int32]]:
        """`parts` with the cells here where `part` says."""
        out = {}
        for name, members in self.members.items():
            out[name] = self.parts[name].copy()
            out[name][members] = part[self.span(name)] - self.offset[name]
        return out

    def _edges(self) -> tuple[Array, Array, Array]:
        """Edges between the cells of each component, as CSR."""
        row, column, weight = [], [], []
        for name, members in self.members.items():
            graph, first = self.problem.components[name], self.first[name]
            sub, _ = rest_joined(graph, members)
            row.append(np.repeat(np.arange(len(members)), np.diff(sub.xadj)) + first)
            column.append(np.asarray(sub.adjncy + first, VERTEX))
            weight.append(_true_weights(graph, members, sub))
        return _offsets(self.n, np.concatenate(row)), np.concatenate(column), np.concatenate(weight)

    def _pulls(self) -> tuple[Array, Array, Array]:
        """Edges from the cells to others of their component, summed up by coupled part, as CSR."""
        key, weight = [], []
        for name, members in self.members.items():
            graph = self.problem.components[name]
            i, other, w = _rows(graph, members)
            inside = np.zeros(graph.nvtxs, np.bool_)
            inside[members] = True
            p = self.parts[name][other]
            use = ~inside[other] & (p < self.ncoupled[name])
            key.append((i[use] + self.first[name]) * self.k + p[use] + self.offset[name])
            weight.append(w[use])
        keys, where = np.unique(np.concatenate(key), return_inverse=True)
        pull = sums(where, np.concatenate(weight), len(keys))
        return _offsets(self.n, keys // self.k), (keys % self.k).astype(VERTEX), pull

    def _interedges(self, both: bool) -> tuple[Array, Array, Array, Array, Array]:
        row, column, give, take = [], [], [], []
        for (a, b), inter in self.problem.pairs.items():
            u, v, _ = inter.pairs()
            size_a, size_b = (self.problem.components[name].sizes for name in (a, b))
            forth, back = size_a[u], size_b[v] if both else np.zeros(len(v), WEIGHT)
            i = np.searchsorted(self.members[a], u) + self.first[a]
            j = np.searchsorted(self.members[b], v) + self.first[b]
            row += [i, j]
            column += [j, i]
            give += [forth, back]
            take += [back, forth]
        rows = np.concatenate(row)
        order = np.argsort(rows, kind="stable")
        columns = np.concatenate(column).astype(VERTEX)[order]
        return (_offsets(self.n, rows), columns, np.ones(len(rows), VERTEX), np.concatenate(give)[order],
                np.concatenate(take)[order])


def merged_by_partner(g: Cells) -> tuple[Cells, NDArray[np.int32]]:
    """Clusters of the cells that share their main partner across the interface, where that has more interedges.

    The main partner of a cell is the one with the most interedges, of equal ones the first.  Borders between clusters
    follow the borders of the coarser mesh, so parts made of whole clusters cut next to none of its data.

    Returns
    -------
    Cells
        The clusters; the datum of a cluster is that of all its cells.
    (n,) int32
        Cluster of each cell.
    """
    n = len(g.weight)
    degree = np.diff(g.iptr)
    row = np.repeat(np.arange(n), degree)
    order = np.lexsort((g.iadj, -degree[g.iadj], row))
    where = g.iptr[:-1][degree > 0]
    partner = np.arange(n)
    coupled = np.flatnonzero(degree)
    best = g.iadj[order][where]
    finer = degree[best] > degree[coupled]
    partner[coupled[finer]] = best[finer] + n
    cluster = np.unique(partner, return_inverse=True)[1].astype(VERTEX)
    return _contracted(g, cluster), cluster


def _contracted(g: Cells, cluster: Array) -> Cells:
    n, m = len(g.weight), int(cluster.max()) + 1
    weight = sums(cluster, g.weight, m)

    def joined(start: Array, other: Array, count: int, *values: Array) -> tuple[Array, ...]:
        row = cluster[np.repeat(np.arange(n), np.diff(start))]
        use = np.flatnonzero(row != other) if other is inner else np.arange(len(row))
        key, where = np.unique(row[use].astype(np.int64) * count + other[use], return_inverse=True)
        added = (sums(where, v[use], len(key)) for v in values)
        return _offsets(m, key // count), (key % count).astype(VERTEX), *added

    inner = cluster[g.adjncy]
    across = cluster[g.iadj]
    k = int(g.bidx.max(initial=0)) + 1
    xadj, adjncy, ewgt = joined(g.xadj, inner, m, g.ewgt)
    bptr, bidx, bval = joined(g.bptr, g.bidx, k, g.bval)
    iptr, iadj, imul = joined(g.iptr, across, m, g.imul.astype(WEIGHT))
    # what a cell's datum costs is the same along all its interedges to one component
    size = np.zeros(n, WEIGHT)
    np.maximum.at(size, np.repeat(np.arange(n), np.diff(g.iptr)), g.give)
    size = sums(cluster, size, m)
    row = np.repeat(np.arange(m), np.diff(iptr))
    return Cells(xadj, adjncy, ewgt, bptr, bidx, bval, iptr, iadj, imul.astype(VERTEX), size[row], size[iadj], weight)


def _starts(names: tuple[str, ...], counts: list[int]) -> dict[str, int]:
    return dict(zip(names, np.concatenate([[0], np.cumsum(counts)]).tolist(), strict=False))


def _true_weights(graph: Graph, vertices: Array, joined: Graph) -> NDArray[np.int64]:
    """Weights of the edges of `joined` in `graph`, 0 for those that are none there: a way to go, at no cost."""
    plain = graph.subgraph(vertices)
    if len(plain.adjncy) == len(joined.adjncy):
        return plain.edge_weights
    n = len(vertices)
    key, wanted = (np.repeat(np.arange(n), np.diff(g.xadj)) * n + g.adjncy for g in (plain, joined))
    out = np.zeros(len(wanted), WEIGHT)
    out[np.searchsorted(wanted, key)] = plain.edge_weights
    return out


def _rows(graph: Graph, vertices: Array) -> tuple[Array, Array, Array]:
    """Edges from `vertices`: index in them, other vertex, weight."""
    degree = graph.xadj[vertices + 1] - graph.xadj[vertices]
    row = np.repeat(np.arange(len(vertices)), degree)
    entry = np.repeat(graph.xadj[vertices] - (np.cumsum(degree) - degree), degree) + np.arange(len(row))
    weight = np.ones(len(entry), WEIGHT) if graph.ewgt is None else graph.ewgt[entry]
    return row, graph.adjncy[entry], weight


def _offsets(n: int, row: Array) -> NDArray[np.int64]:
    start = np.zeros(n + 1, np.int64)
    np.cumsum(np.bincount(row, minlength=n), out=start[1:])
    return start


# ---- which parts are coupled
def coupled_first(graph: Graph, cells: NDArray[np.int32], part: NDArray[np.int32], nparts: int,
                  k: int) -> NDArray[np.int32]:
    """The same partition with `k` parts that own all coupled cells in front, changed where it has to be.

    The parts with the most coupled weight are chosen, then those nearest to the interface.  Other parts give their
    coupled cells up to the nearest chosen one, and a chosen one without any gets the coupled cell nearest to it.

    Parameters
    ----------
    cells : (ncells,) int32
        Coupled vertices, ascending.
    part : (nvtxs,) int32

    Returns
    -------
    (nvtxs,) int32
    """
    load = sums(part[cells], graph.weights[cells], nparts)
    found = np.bincount(part[cells], minlength=nparts)
    distance = np.zeros(nparts, WEIGHT)
    missing = np.count_nonzero(found) < k
    label = away = np.zeros(0, VERTEX)
    if missing:
        label, away = _until(graph, cells, part, nparts, k)
        distance[:] = graph.nvtxs
        there = np.flatnonzero(label >= 0)
        np.minimum.at(distance, part[there], away[there])
    number = np.empty(nparts, VERTEX)
    number[np.lexsort((distance, -load, found == 0))] = np.arange(nparts, dtype=VERTEX)
    out = number[part]
    local = _spread(graph, cells, out[cells], k)
    if missing:
        _seed(cells, local, out, k, label, away)
    out[cells] = local
    return out


def _until(graph: Graph, cells: Array, part: Array, nparts: int, k: int) -> tuple[Array, Array]:
    """Nearest coupled cell of the vertices, as far away as `k` parts have been met."""
    hops = 8
    while True:
        label, away = nearest(graph, cells, hops)
        met = np.count_nonzero(np.bincount(part[label >= 0], minlength=nparts))
        if met >= k or hops >= graph.nvtxs:
            return label, away
        hops *= 2


def _spread(graph: Graph, cells: Array, part: Array, k: int) -> NDArray[np.int32]:
    """Cells in parts from `k` on go to the part below `k` that is nearest in the graph."""
    lost = part >= k
    if not lost.any():
        return part.copy()
    kept = np.flatnonzero(~lost)
    label, _ = nearest(graph, np.ascontiguousarray(cells[kept]), graph.nvtxs)
    return np.where(lost, part[kept[np.maximum(label[cells], 0)]], part).astype(VERTEX)


def _seed(cells: Array, local: Array, part: Array, k: int, label: Array, away: Array) -> None:
    """Give every empty part below `k` the coupled cell that is nearest to it, from a part with others."""
    population = np.bincount(local, minlength=k)
    for p in np.flatnonzero(population == 0):
        body = np.flatnonzero((part == p) & (label >= 0))
        body = body[np.argsort(away[body], kind="stable")]
        candidates = np.concatenate([label[body], np.arange(len(cells))])
        v = candidates[np.argmax(population[local[candidates]] > 1)]
        population[local[v]] -= 1
        local[v] = p
        population[p] = 1


__all__ = ["CoupledCells", "coupled_first", "merged_by_partner"]
