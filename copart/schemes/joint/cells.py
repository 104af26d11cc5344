"""The coupled cells of all components as one problem: built from the graphs, moved by kernels, written back.

Coupled parts come first in every component (numbers ``0..ncoupled-1``); here those of all components are
numbered through, and so are the cells.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any
from weakref import WeakKeyDictionary

import numpy as np
from numpy.typing import NDArray

from ...arrays import VERTEX, WEIGHT, PartArray, sums
from ...coupling import CoupledProblem
from ...graph import Graph
from ...kernels import coupled as kernels
from ...kernels.coupled import Cells, Shares
from ...metrics import copartition_limit
from ...operators import rest_joined

Array = np.ndarray[Any, Any]
PartArrays = Mapping[str, PartArray]
"""Part of each vertex, by component."""

_INTEREDGES: WeakKeyDictionary[CoupledProblem, dict[bool, tuple[Any, ...]]] = WeakKeyDictionary()
"""As kernels read them, of the problems that are being worked on."""


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
    owner, kind : (k,) int32, (n,) int32
        Component of each part and of each cell.
    cells : Cells
        What kernels work on.
    """

    def __init__(self, problem: CoupledProblem, parts: PartArrays, ncoupled: Mapping[str, int], both: bool):
        self.problem, self.ncoupled, self.parts = problem, ncoupled, parts
        names = problem.names
        self.members = {name: problem.coupled(name) for name in names}
        self.first = _starts(names, [len(self.members[name]) for name in names])
        self.offset = _starts(names, [ncoupled[name] for name in names])
        self.n = sum(len(m) for m in self.members.values())
        self.k = sum(ncoupled.values())
        self.owner = np.repeat(np.arange(len(names), dtype=VERTEX), [ncoupled[name] for name in names])
        self.kind = np.repeat(np.arange(len(names), dtype=VERTEX), [len(self.members[name]) for name in names])
        weight = np.concatenate([problem.coupled_load(name) for name in names])
        xadj, adjncy, ewgt = self._edges()
        bptr, bidx, bval = self._pulls()
        iptr, iadj, imul, give, take = self._interedges_once(both)
        self.cells = Cells(xadj=xadj, adjncy=adjncy, ewgt=ewgt, bptr=bptr, bidx=bidx, bval=bval,
                           iptr=iptr, iadj=iadj, imul=imul, give=give, take=take, weight=weight)

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
        # a cell leads to at most as many parts as it has interedges
        s = Shares(part=part.copy(), load=np.zeros(k, WEIGHT), limit=limit, population=np.zeros(k, WEIGHT),
                   where=np.zeros(m, VERTEX), many=np.zeros(m, VERTEX), used=np.zeros(len(part), VERTEX),
                   pairs=np.zeros((k, k), WEIGHT), total=np.zeros(3, WEIGHT))
        kernels.share_out(g, s)
        return s

    def limits(self, nparts: Mapping[str, int], eps: float) -> NDArray[np.int64]:
        """(k,) int64 largest coupled weight of each coupled part, within what a part of `nparts` may weigh."""
        limit = np.empty(self.k, WEIGHT)
        for name, graph in self.problem.components.items():
            k, load = self.ncoupled[name], int(self.cells.weight[self.span(name)].sum())
            room = copartition_limit(graph.total_weight, nparts[name], eps)
            most = copartition_limit(load, k, eps)
            # other weights than those of the cells say nothing of the room that cells need
            limit[self.offset[name] : self.offset[name] + k] = most if self.problem.own_weights(name) else min(
                most, max(room, -(-load // k)))
        return limit

    def loosened(self, limit: Array, g: Cells, kind: Array) -> NDArray[np.int64]:
        """`limit` with room for half a block more where the heaviest does not fit in what is spare.

        Else balance would be bought with cut.  `kind` is the component of each block.
        """
        out = limit.copy()
        for i in range(len(self.members)):
            rows, mine = self.owner == i, g.weight[kind == i]
            spare = (int(limit[rows].sum()) - int(mine.sum())) // max(1, int(np.count_nonzero(rows)))
            heaviest = int(mine.max(initial=0))
            if heaviest > spare:
                out[rows] += heaviest // 2
        return out

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
        return offsets(self.n, np.concatenate(row)), np.concatenate(column), np.concatenate(weight)

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
        return offsets(self.n, keys // self.k), (keys % self.k).astype(VERTEX), pull

    def _interedges_once(self, both: bool) -> tuple[Array, Array, Array, Array, Array]:
        """The interedges, which no partition changes; a run asks for them again and again."""
        known = _INTEREDGES.setdefault(self.problem, {})
        if both not in known:
            known[both] = self._interedges(both)
        return known[both]

    def _interedges(self, both: bool) -> tuple[Array, Array, Array, Array, Array]:
        row, column, give, take = [], [], [], []
        here = {}
        for name, members in self.members.items():
            here[name] = np.zeros(self.problem.components[name].nvtxs, np.int64)
            here[name][members] = np.arange(len(members)) + self.first[name]
        for (a, b), inter in self.problem.pairs.items():
            u, v, _ = inter.pairs()
            size_a, size_b = (self.problem.components[name].sizes for name in (a, b))
            forth, back = size_a[u], size_b[v] if both else np.zeros(len(v), WEIGHT)
            i, j = here[a][u], here[b][v]
            row += [i, j]
            column += [j, i]
            give += [forth, back]
            take += [back, forth]
        rows = np.concatenate(row)
        # numbers of 16 bits are sorted by their digits
        order = np.argsort(rows.astype(np.min_scalar_type(self.n)), kind="stable")
        columns = np.concatenate(column).astype(VERTEX)[order]
        return (offsets(self.n, rows), columns, np.ones(len(rows), VERTEX), np.concatenate(give)[order],
                np.concatenate(take)[order])


def by_partner(g: Cells, kind: Array) -> NDArray[np.int32]:
    """Clusters of the cells of a component that share their main partner, where that has more interedges.

    The main partner of a cell is the one with the most interedges, of equal ones the first.  Borders between clusters
    follow the borders of the coarser mesh, so parts made of whole clusters cut next to none of its data.

    Parameters
    ----------
    g : Cells
    kind : (n,) int
        Component of each cell.

    Returns
    -------
    (n,) int32
        Cluster of each cell.
    """
    n = len(g.weight)
    degree = np.diff(g.iptr)
    best = main_partners(g, degree[g.iadj])
    finer = (best >= 0) & (degree[best] > degree)
    partner = np.where(finer, best + n * (1 + kind.astype(np.int64)), np.arange(n))
    return np.unique(partner, return_inverse=True)[1].astype(VERTEX)


def main_partners(g: Cells, value: Array) -> NDArray[np.int32]:
    """(n,) int32 partner of each cell with the largest `value` (one an interedge), the first of equal ones; or -1."""
    n = len(g.weight)
    best = np.full(n, -1, VERTEX)
    coupled = np.flatnonzero(np.diff(g.iptr))
    if len(coupled):
        rank = value.astype(np.int64) * n + (n - 1 - g.iadj)  # orders by value, then by number
        best[coupled] = n - 1 - np.maximum.reduceat(rank, g.iptr[coupled]) % n
    return best


def contracted(g: Cells, cluster: Array) -> Cells:
    """The clusters as cells: weights, edges, interedges and data added up; `cluster` (n,) int32."""
    n, m = len(g.weight), int(cluster.max()) + 1
    weight = sums(cluster, g.weight, m)

    def joined(start: Array, other: Array, count: int, *values: Array) -> tuple[Array, ...]:
        row = cluster[np.repeat(np.arange(n), np.diff(start))]
        use = np.flatnonzero(row != other) if other is inner else np.arange(len(row))
        key, where = np.unique(row[use].astype(np.int64) * count + other[use], return_inverse=True)
        added = (sums(where, v[use], len(key)) for v in values)
        return offsets(m, key // count), (key % count).astype(VERTEX), *added

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


def offsets(n: int, row: Array) -> NDArray[np.int64]:
    """(n + 1,) int64 where the entries of each row begin, `row` ascending."""
    start = np.zeros(n + 1, np.int64)
    np.cumsum(np.bincount(row, minlength=n), out=start[1:])
    return start


__all__ = ["CoupledCells", "by_partner", "contracted", "main_partners", "offsets"]
