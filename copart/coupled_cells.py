"""The coupled cells of all components as one problem: built from the graphs, moved by kernels, written back.

Coupled parts come first in every component (numbers ``0..ncoupled-1``); here those of all components are
numbered through, and so are the coupled cells.
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

Array = np.ndarray[Any, Any]
Parts = Mapping[str, NDArray[np.int32]]


def coupled_first(graph: Graph, cells: NDArray[np.int32], part: NDArray[np.int32], nparts: int) -> NDArray[np.int32]:
    """The same partition with parts numbered by falling weight of their coupled cells, then by their distance to them.

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
    distance = np.zeros(nparts, WEIGHT)
    if (load == 0).any():
        _, away = nearest(graph, cells)
        distance[:] = graph.nvtxs
        np.minimum.at(distance, part, np.where(away < 0, graph.nvtxs, away))
    number = np.empty(nparts, VERTEX)
    number[np.lexsort((distance, -load))] = np.arange(nparts, dtype=VERTEX)
    return number[part]


def nearest(graph: Graph, cells: NDArray[np.int32]) -> tuple[NDArray[np.int32], NDArray[np.int32]]:
    """Index in `cells` of the nearest of them to every vertex, and the edges to it; -1 where there is no way."""
    label, dist, queue = (np.full(graph.nvtxs, -1, VERTEX) for _ in range(3))
    spread_labels(graph.xadj, graph.adjncy, frozen(cells), graph.nvtxs, label, dist, queue)
    return label, dist


class CoupledCells:
    """The coupled cells of all components.

    Parameters
    ----------
    problem : CoupledProblem
    ncoupled : mapping of str to int
        Number of coupled parts of each component.
    both : bool
        Count the volume of both directions, else only from the first component of each pair to the second.

    Attributes
    ----------
    cells : dict of str to (ncells,) int32
        Coupled vertices of each component, ascending.
    first, offset : dict of str to int
        Number of the first coupled cell and of the first coupled part of each component.
    n, k : int
        Number of coupled cells and of coupled parts.
    owner : (k,) int32
        Component of each coupled part.
    """

    def __init__(self, problem: CoupledProblem, ncoupled: Mapping[str, int], both: bool):
        self.problem, self.ncoupled = problem, ncoupled
        self.cells = {name: problem.coupled(name) for name in problem.names}
        count = [len(self.cells[name]) for name in problem.names]
        parts = [ncoupled[name] for name in problem.names]
        self.first = dict(zip(problem.names, np.concatenate([[0], np.cumsum(count)]).tolist(), strict=False))
        self.offset = dict(zip(problem.names, np.concatenate([[0], np.cumsum(parts)]).tolist(), strict=False))
        self.n, self.k = sum(count), sum(parts)
        self.owner = np.repeat(np.arange(len(parts), dtype=VERTEX), parts)
        graphs = problem.components
        self._rows = {name: _rows(graphs[name], self.cells[name]) for name in problem.names}
        self._inner = _compressed(self.n, *self._between())
        self._weights = np.concatenate([graphs[name].weights[self.cells[name]] for name in problem.names])
        self._inter = self._interedges(both)

    def kernel_cells(self, parts: Parts) -> Cells:
        """What kernels work on, with the edges to the cells off the interface as they are shared out in `parts`."""
        row, part, weight = [], [], []
        for name in self.problem.names:
            i, j, w, inside = self._rows[name]
            p = parts[name][j]
            use = (inside < 0) & (p < self.ncoupled[name])
            row.append(i[use] + self.first[name])
            part.append(p[use] + self.offset[name])
            weight.append(w[use])
        key, where = np.unique(np.concatenate(row) * self.k + np.concatenate(part), return_inverse=True)
        pull = sums(where, np.concatenate(weight), len(key))
        return Cells(*self._inner, *_compressed(self.n, key // self.k, (key % self.k).astype(VERTEX), pull),
                     *self._inter, self._weights)

    def shares(self, part: Array, limit: Array) -> Shares:
        """State of the partition `part` (n,) int32 of the coupled cells; `limit` (k,) int64."""
        k, m = self.k, len(self._inter[1])
        return Shares(part.copy(), np.zeros(k, WEIGHT), limit, np.zeros(k, WEIGHT), np.zeros(m, VERTEX),
                      np.zeros(m, VERTEX), np.zeros(self.n, VERTEX), np.zeros((k, k), WEIGHT), np.zeros(3, WEIGHT))

    def gather(self, parts: Parts) -> NDArray[np.int32]:
        """Parts of the coupled cells; those that are in no coupled part go to one nearby, and no part stays empty."""
        out = np.empty(self.n, VERTEX)
        for name in self.problem.names:
            graph, cells = self.problem.components[name], self.cells[name]
            local = _spread(graph, cells, parts[name][cells], self.ncoupled[name])
            _seed(graph, cells, local, parts[name], self.ncoupled[name])
            out[self.first[name]: self.first[name] + len(cells)] = local + self.offset[name]
        return out

    def scatter(self, part: Array, parts: Parts) -> dict[str, NDArray[np.int32]]:
        """`parts` with the coupled cells where `part` says."""
        out = {}
        for name in self.problem.names:
            out[name] = parts[name].copy()
            out[name][self.cells[name]] = self.of(name, part)
        return out

    def of(self, name: str, part: Array) -> NDArray[np.int32]:
        """Entries of component `name` in a partition of the coupled cells, numbered as in the component."""
        first = self.first[name]
        return np.asarray(part[first: first + len(self.cells[name])] - self.offset[name], VERTEX)

    def _between(self) -> tuple[Array, Array, Array]:
        """Edges between coupled cells: row, column, weight."""
        row, column, weight = [], [], []
        for name in self.problem.names:
            i, _, w, inside = self._rows[name]
            use = inside >= 0
            row.append(i[use] + self.first[name])
            column.append(inside[use] + self.first[name])
            weight.append(w[use])
        return np.concatenate(row), np.concatenate(column).astype(VERTEX), np.concatenate(weight)

    def _interedges(self, both: bool) -> tuple[Array, ...]:
        row, column, give, take = [], [], [], []
        for (a, b), inter in self.problem.pairs.items():
            u, v, _ = inter.pairs()
            size_a, size_b = (self.problem.components[name].sizes for name in (a, b))
            forth, back = size_a[u], size_b[v] if both else np.zeros(len(v), WEIGHT)
            u = np.searchsorted(self.cells[a], u) + self.first[a]
            v = np.searchsorted(self.cells[b], v) + self.first[b]
            row += [u, v]
            column += [v, u]
            give += [forth, back]
            take += [back, forth]
        return _compressed(self.n, np.concatenate(row), np.concatenate(column).astype(VERTEX), np.concatenate(give),
                           np.concatenate(take))


def _rows(graph: Graph, cells: Array) -> tuple[Array, Array, Array, Array]:
    """Edges from `cells`: index in cells, other vertex, weight, and the index of the other in cells or -1."""
    degree = graph.xadj[cells + 1] - graph.xadj[cells]
    row = np.repeat(np.arange(len(cells)), degree)
    entry = np.repeat(graph.xadj[cells] - (np.cumsum(degree) - degree), degree) + np.arange(len(row))
    index = np.full(graph.nvtxs, -1, VERTEX)
    index[cells] = np.arange(len(cells), dtype=VERTEX)
    other = graph.adjncy[entry]
    weight = np.ones(len(entry), WEIGHT) if graph.ewgt is None else graph.ewgt[entry]
    return row, other, weight, index[other]


def _compressed(n: int, row: Array, *columns: Array) -> tuple[Array, ...]:
    """Rows in order: offsets (n + 1,) int64, then the columns."""
    start = np.zeros(n + 1, np.int64)
    np.cumsum(np.bincount(row, minlength=n), out=start[1:])
    order = np.argsort(row, kind="stable")
    return start, *(np.ascontiguousarray(c[order]) for c in columns)


def _spread(graph: Graph, cells: Array, part: Array, k: int) -> NDArray[np.int32]:
    """Cells in parts from `k` on go to the part below `k` that is nearest in the graph."""
    lost = part >= k
    if not lost.any():
        return part.copy()
    if lost.all():
        return np.zeros(len(part), VERTEX)
    kept = np.flatnonzero(~lost)
    label, _ = nearest(graph, np.ascontiguousarray(cells[kept]))
    found = label[cells]
    return np.where(lost, part[kept[np.maximum(found, 0)]], part).astype(VERTEX)


def _seed(graph: Graph, cells: Array, local: Array, part: Array, k: int) -> None:
    """Give every empty part below `k` the coupled cell that is nearest to it, from a part with others."""
    population = np.bincount(local, minlength=k)
    if population.all():
        return
    label, away = nearest(graph, cells)
    for p in np.flatnonzero(population == 0):
        body = np.flatnonzero((part == p) & (label >= 0))
        body = body[np.argsort(away[body], kind="stable")]
        candidates = np.concatenate([label[body], np.arange(len(cells))])
        v = candidates[np.argmax(population[local[candidates]] > 1)]
        population[local[v]] -= 1
        local[v] = p
        population[p] = 1


__all__ = ["CoupledCells", "coupled_first", "kernels"]
