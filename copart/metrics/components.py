"""The figures of one component, each defined once.

Part weights, imbalance ``ub``, edge cut, boundary, connected pieces; the same over its coupled subgraph (``ub_cpl``,
``cut_cpl``) and ``ncoupled``, the number of parts that own a coupled cell.  An undirected edge counts once.
(Predari & Esnard 2014, Section III.)
"""

from __future__ import annotations

from dataclasses import dataclass, fields
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from ..arrays import OFFSET, VERTEX, WEIGHT, frozen, part_array, whole, writable
from ..errors import GraphError
from ..graph import Graph
from .balance import target_shares
from .columns import COMPONENT_COLUMNS, html_table
from .traffic import Halo, halo_cells, halo_volumes


def part_weights(graph: Graph, part: ArrayLike, nparts: int) -> NDArray[np.int64]:
    """(nparts,) int64 sum of the vertex weights of each part.

    Parameters
    ----------
    graph : Graph
    part : (nvtxs,) array_like of int
        Part of every vertex, ``0..nparts-1``.
    nparts : int
        Number of parts.
    """
    k = whole("nparts", nparts, low=1)
    return _sums(part_array("part", part, graph.nvtxs, k, GraphError), graph.vwgt, k)


def imbalance(graph: Graph, part: ArrayLike, nparts: int, tpwgts: ArrayLike | None = None) -> float:
    """``ub``: ``max_k W_k / W_avg - 1`` with ``W_avg = W / nparts``; 0 for a graph without weight.

    With `tpwgts` each part is compared with its own share of the weight.

    Parameters
    ----------
    graph : Graph
    part : (nvtxs,) array_like of int
        Part of every vertex, ``0..nparts-1``.
    nparts : int
        Number of parts.
    tpwgts : (nparts,) array_like of float, optional
        Target share of each part; equal where not given.

    Examples
    --------
    >>> imbalance(Graph.from_edges(4, [], []), [0, 0, 0, 1], 2)
    0.5
    """
    load = part_weights(graph, part, nparts)
    total = int(load.sum())
    if tpwgts is None or total == 0:
        return imbalance_of(load, len(load))
    return float((load / (total * target_shares(tpwgts, len(load)))).max()) - 1.0


def imbalance_of(load: NDArray[np.int64], over: int) -> float:
    """Imbalance of `load` against its sum spread over `over` parts, exactly 0 where they are equal."""
    total = int(load.sum())
    return 0.0 if total == 0 or over == 0 else (int(load.max()) * over - total) / total


def _sums(group: NDArray[np.int32], values: NDArray[np.int64] | None, count: int) -> NDArray[np.int64]:
    """Exact int64 sums of `values` (None: ones) by group; ``bincount`` alone would sum in floats."""
    if values is None:
        return np.bincount(group, minlength=count).astype(WEIGHT)
    if float(values.sum(dtype=np.float64)) < 2.0**52:
        return np.bincount(group, values, count).astype(WEIGHT)
    out = np.zeros(count, WEIGHT)
    np.add.at(out, group, values)
    return out


def coupled_weights(load: NDArray[np.int64], part: NDArray[np.int32], nparts: int,
                    coupled: NDArray[np.int32]) -> tuple[NDArray[np.int64], int]:
    """(nparts,) int64 coupled weight of each part, and how many parts own some of the cells `coupled`.

    `load` (ncoupled cells,) are their coupled weights, from :meth:`copart.coupling.CoupledProblem.coupled_load`.
    """
    own = part[coupled]
    return _sums(own, load, nparts), int(np.count_nonzero(np.bincount(own, minlength=nparts)))


# ---- cut and shape


def edge_cut(graph: Graph, part: ArrayLike) -> int:
    """Weight of the edges whose ends lie in different parts, each edge counted once.

    Parameters
    ----------
    graph : Graph
    part : (nvtxs,) array_like of int
        Part of every vertex, ``0..nparts-1``.

    Examples
    --------
    >>> path = Graph.from_edges(4, [0, 1, 2], [1, 2, 3], [5, 6, 7])
    >>> edge_cut(path, [0, 0, 1, 1]), edge_cut(path, [0, 1, 0, 1])
    (6, 18)
    """
    from ..kernels.csr import edge_cut as kernel

    return int(kernel(graph.xadj, graph.adjncy, graph.kernel_ewgt, _parts(graph, part)))


def boundary(graph: Graph, part: ArrayLike) -> NDArray[np.bool_]:
    """(nvtxs,) bool: has a neighbour in another part.

    Parameters
    ----------
    graph : Graph
    part : (nvtxs,) array_like of int
        Part of every vertex, ``0..nparts-1``.
    """
    out = np.zeros(graph.nvtxs, np.bool_)
    out[halo_cells(graph, _parts(graph, part))[2]] = True
    return out


def pieces(graph: Graph, part: ArrayLike, nparts: int) -> NDArray[np.int64]:
    """(nparts,) int64 number of connected pieces of each part; 0 for an empty one.

    Parameters
    ----------
    graph : Graph
    part : (nvtxs,) array_like of int
        Part of every vertex, ``0..nparts-1``.
    nparts : int
        Number of parts.
    """
    from ..kernels.contraction import push_up
    from ..kernels.csr import part_pieces

    k = whole("nparts", nparts, low=1)
    p = frozen(part_array("part", part, graph.nvtxs, k, GraphError))
    piece = np.empty(graph.nvtxs, VERTEX)
    count = part_pieces(graph.xadj, graph.adjncy, p, piece, np.empty(graph.nvtxs, VERTEX))
    owner = np.zeros(count, VERTEX)
    push_up(piece, writable(p), owner)
    return np.bincount(owner, minlength=k).astype(OFFSET)


def loose_pieces(graph: Graph, part: ArrayLike, nparts: int) -> NDArray[np.int64]:
    """(nparts,) int64 connected pieces of each part beyond one in each connected piece of the graph.

    All 0 where every part is connected, as far as the graph is.

    Examples
    --------
    >>> two_paths = Graph.from_edges(6, [0, 1, 3, 4], [1, 2, 4, 5])
    >>> loose_pieces(two_paths, [0, 1, 0, 1, 1, 1], 2).tolist()
    [1, 0]
    """
    k = whole("nparts", nparts, low=1)
    return pieces(graph, part, k) - bodies(graph, part, k)


def bodies(graph: Graph, part: ArrayLike, nparts: int) -> NDArray[np.int64]:
    """(nparts,) int64 connected pieces of the graph that each part has vertices of."""
    count, home = graph_pieces(graph)
    k = whole("nparts", nparts, low=1)
    p = part_array("part", part, graph.nvtxs, k, GraphError)
    met = np.unique(p.astype(OFFSET) * max(count, 1) + home) // max(count, 1)
    return np.bincount(met, minlength=k)


def graph_pieces(graph: Graph) -> tuple[int, NDArray[np.int32]]:
    """How many connected pieces a graph has, and (nvtxs,) int32 the piece of each vertex."""
    from ..kernels.csr import part_pieces

    piece, scratch = np.empty(graph.nvtxs, VERTEX), np.empty(graph.nvtxs, VERTEX)
    same = frozen(np.zeros(graph.nvtxs, VERTEX))
    return int(part_pieces(graph.xadj, graph.adjncy, same, piece, scratch)), piece


def _parts(graph: Graph, part: ArrayLike) -> NDArray[np.int32]:
    # always read-only, so that kernels are compiled once and not for both kinds of arrays
    return frozen(part_array("part", part, graph.nvtxs, 2**31 - 1, GraphError))


# ---- together


@dataclass(frozen=True, repr=False)
class ComponentMetrics:
    """Figures of one component; the fields are the keys of :meth:`to_dict`."""

    name: str
    cells: int
    """Number of vertices."""
    parts: int
    """Number of parts."""
    ub: float
    """Imbalance of the component, a fraction."""
    cut: int
    """Edge cut."""
    ncoupled: int
    """Number of parts that own at least one coupled cell."""
    ncoupled_requested: int | None
    """Number of parts that were to own coupled cells, None where nobody asked."""
    ub_cpl: float
    """Imbalance of the coupled subgraph over the requested number of parts, else over those that own
    coupled cells.  Below 0 where more parts than requested share the load."""
    cut_cpl: int
    """Edge cut of the coupled subgraph."""
    coupled_cells: int
    """Number of coupled cells."""
    max_coupled: int
    """Coupled weight of the part that has most of it."""
    max_weight: int
    """Weight of the heaviest part."""
    min_weight: int
    """Weight of the lightest part."""
    empty: int
    """Number of parts without a cell."""
    boundary: int
    """Number of cells with a neighbour in another part."""
    pieces: int
    """Connected pieces of all parts together; equals `parts` where every part is connected."""
    max_pieces: int
    """Connected pieces of the most scattered part."""
    MSV: int
    """Data that the part sends which sends most in a halo exchange: each cell once per part that has a neighbour."""
    TM: int
    """Messages of a halo exchange, of all parts together."""
    MSM: int
    """Messages of the part that sends most of them in a halo exchange."""

    def to_dict(self) -> dict[str, Any]:
        """The figures as plain JSON types."""
        return {f.name: getattr(self, f.name) for f in fields(self)}

    def __repr__(self) -> str:
        return (f"{self.name}: {self.cells} cells in {self.parts} parts, ub {self.ub:.2%}, cut {self.cut}; "
                f"coupled {self.coupled_cells} cells in {self.ncoupled} parts, ub {self.ub_cpl:.2%}, "
                f"cut {self.cut_cpl}")

    def _repr_html_(self) -> str:
        """A table of one row, for notebooks."""
        return html_table(COMPONENT_COLUMNS, [self.to_dict()])


def component_metrics(
    name: str,
    graph: Graph,
    part: NDArray[np.int32],
    nparts: int,
    coupled: NDArray[np.int32],
    ncoupled: int | None = None,
    coupled_load: NDArray[np.int64] | None = None,
    halo: Halo | None = None,
) -> ComponentMetrics:
    """Figures of one component, whose cells `coupled` (ascending) are on an interface.

    Their coupled weights are `coupled_load`, those of the cells where not given.

    Parameters
    ----------
    name : str
        Of the component.
    graph : Graph
    part : (nvtxs,) array_like of int
        Part of every vertex, ``0..nparts-1``.
    nparts : int
        Number of parts.
    coupled : (ncoupled cells,) int32
        Cells on an interface, ascending.
    ncoupled : int, optional
        Number of parts that may own them, where it was asked for.
    coupled_load : (ncoupled cells,) int64, optional
        Their weights in a coupling phase.
    halo : three arrays, optional
        By :func:`~copart.metrics.traffic.halo_cells`, where they are known.

    Raises
    ------
    GraphError
        A part number is out of range, or `part` has another length.
    """
    nparts = whole("nparts", nparts, low=1)
    part = part_array("part", part, graph.nvtxs, nparts, GraphError)
    load = part_weights(graph, part, nparts)
    own = graph.weights[coupled] if coupled_load is None else coupled_load
    cpl_load, owners = coupled_weights(own, part, nparts, coupled)
    # over the parts that own coupled cells, or over as many as were asked for
    over = owners if ncoupled is None else int(ncoupled)
    cpl = graph.subgraph(coupled)
    found = pieces(graph, part, nparts)
    halo = halo or halo_cells(graph, part)
    sender, _, volume = halo_volumes(graph, part, nparts, halo)
    sent = np.zeros(nparts, WEIGHT)
    np.add.at(sent, sender, volume)
    return ComponentMetrics(
        name=name,
        cells=graph.nvtxs,
        parts=nparts,
        ub=imbalance_of(load, nparts),
        cut=edge_cut(graph, part),
        ncoupled=owners,
        ncoupled_requested=ncoupled,
        ub_cpl=imbalance_of(cpl_load, over),
        cut_cpl=edge_cut(cpl, part[coupled]),
        coupled_cells=len(coupled),
        max_coupled=int(cpl_load.max()),
        max_weight=int(load.max()),
        min_weight=int(load.min()),
        empty=int(np.count_nonzero(found == 0)),
        boundary=int(np.count_nonzero(np.diff(halo[2], prepend=-1))),
        pieces=int(found.sum()),
        max_pieces=int(found.max()),
        MSV=int(sent.max()),
        TM=len(sender),
        MSM=int(np.bincount(sender, minlength=nparts).max()),
    )


__all__ = [
    "ComponentMetrics",
    "bodies",
    "boundary",
    "component_metrics",
    "coupled_weights",
    "edge_cut",
    "graph_pieces",
    "imbalance",
    "imbalance_of",
    "loose_pieces",
    "part_weights",
    "pieces",
]
