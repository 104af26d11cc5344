"""The hypergraph as kernels see it, and its coarser levels."""

from __future__ import annotations

from typing import Any, cast

import numpy as np

from ...arrays import OFFSET, VERTEX, WEIGHT, sums, writable
from ...hypergraph import Hypergraph
from ...kernels import umpa_coarsening as kernels
from ...kernels.umpa_state import Nets
from ...names import ClusteringMethod
from ..hypergraphs import METHODS
from ..hypergraphs import cluster as cluster_by
from ..hypergraphs.sparsification import rows
from ..shuffling import visiting_order

Array = np.ndarray[Any, Any]

#: How vertices become clusters: as UMPa does, or by one of the kernels of chapter 5.
COARSENINGS = ("absorption", *METHODS)

#: Costs are uneven where the largest is so many times the mean. Vertices that are tied by so many times what a net of
#: mean cost ties may then be in a cluster that weighs so many times the average of the coarsest level at once: what
#: is never to be cut has to be in one cluster before anything else is.
_UNEVEN, _TIED, _WHOLE = 4.0, 3.0, 4.0

#: Bits of the numbers in a block of vertices that look for a cluster one after another.  Neighbours mostly have numbers
#: near each other, and a shuffle of all takes twice as long in memory.
_BLOCK = 6

#: Coarsening stops when a level keeps more than this share of its vertices.
_STALLED = 0.9

#: Average vertices of a level that the largest cluster of the next one weighs.
GROWTH = 3


def finest(hypergraph: Hypergraph, pinned: Array | None) -> Nets:
    """The input as kernels see it, without the nets that can never be cut or cost nothing."""
    h = hypergraph
    fixed = np.zeros(0, VERTEX) if pinned is None or (pinned < 0).all() else pinned
    counting = (h.sizes > 1) & (h.cost > 0)
    if not counting.all():
        xpins, pins = rows(h.xpins, h.pins, np.flatnonzero(counting).astype(VERTEX))
        h = Hypergraph(h.nvtxs, xpins, pins, h.cost[counting], h.weights)
    return _as_nets(h, h.weights, fixed)


def contract(h: Nets, cmap: Array, vwgt: Array, fixed: Array) -> Nets:
    """The hypergraph of clusters: nets with the same pins and the same source become one.

    Parameters
    ----------
    cmap : (nvtxs,) int32
        Cluster of each vertex.
    vwgt : (nclusters,) int64
    fixed : (nclusters,) int32 or empty
    """
    m, n = len(h.cost), len(vwgt)
    pins = kernels.Rows(np.empty(m + 1, OFFSET), np.empty(len(h.pins), VERTEX))
    cost = np.empty(m, WEIGHT)
    count = int(kernels.merge_nets(h, cmap, np.full(n, -1, OFFSET), np.full(n, -1, VERTEX), np.empty(m, VERTEX),
                                   np.empty(m, OFFSET), pins, cost))
    pins = kernels.Rows(pins.start[: count + 1].copy(), pins.entry[: pins.start[count]].copy())
    nets = kernels.Rows(np.empty(n + 1, OFFSET), np.empty(len(pins.entry), VERTEX))
    kernels.transpose(pins, nets)
    return Nets(*pins, *nets, cost[:count].copy(), writable(vwgt), fixed)


def _as_nets(h: Hypergraph, vwgt: Array, fixed: Array) -> Nets:
    return Nets._make(writable(a) for a in (h.xpins, h.pins, h.xnets, h.nets, h.cost, vwgt, fixed))


def cluster(h: Nets, bound: int, salt: int, method: str = "absorption", threads: int = 1, *,
            most: int = 0, tie: float = np.inf) -> tuple[Array, Array, Array]:
    """Clusters: that of each vertex, and the weight and the fixed part of each cluster.

    Parameters
    ----------
    bound : int
        Most that a cluster may weigh, but a pair of a matching; a vertex alone may weigh more.
    method : str
        One of :data:`COARSENINGS`.
    threads : int
        Of the methods that know any.
    most : int
        Most that a cluster may weigh instead of `bound` where a vertex is tied to it by more than `tie`: by its nets in
        common, each with its cost over its pins but one. By absorption only.
    tie : float
    """
    n = len(h.vwgt)
    if method != "absorption":
        return _cluster_by(h, bound, salt, cast(ClusteringMethod, method), threads)
    rep, weight, pinned = np.empty(n, VERTEX), np.empty(n, WEIGHT), np.empty(len(h.fixed), VERTEX)
    bounds = np.array([bound, max(bound, most)])
    kernels.join_clusters(h, visiting_order(n, salt, _BLOCK), bounds, tie, rep, weight, pinned, np.zeros(n),
                          np.empty(n, VERTEX))
    heads = np.flatnonzero(rep == np.arange(n))
    number = np.empty(n, VERTEX)
    number[heads] = np.arange(len(heads), dtype=VERTEX)
    return number[rep], weight[heads], pinned[heads] if len(pinned) else pinned


def _cluster_by(h: Nets, bound: int, salt: int, method: ClusteringMethod, threads: int) -> tuple[Array, Array, Array]:
    """As :func:`cluster`, by a kernel that knows nothing of fixed vertices: those of a second part leave a cluster."""
    n = len(h.vwgt)
    made = Hypergraph(n, h.xpins, h.pins, h.cost, h.vwgt)
    most = None if method in ("hcm", "locks", "resolution") else bound + 1
    rep = cluster_by(made, method, max_weight=most, seed=salt, threads=threads).rep
    rep = np.where(rep < 0, np.arange(n), rep)
    if len(h.fixed):
        first = np.full(n, -1, VERTEX)
        np.maximum.at(first, rep, h.fixed)
        rep = np.where((h.fixed >= 0) & (h.fixed != first[rep]), np.arange(n) + n, rep)
    heads, number = np.unique(rep, return_inverse=True)
    pinned = np.full(len(heads) if len(h.fixed) else 0, -1, VERTEX)
    if len(h.fixed):
        np.maximum.at(pinned, number, h.fixed)
    return number.astype(VERTEX), sums(number, h.vwgt, len(heads)), pinned


def strong_ties(h: Nets, stop: int) -> tuple[int, float]:
    """Most that a cluster with strong ties may weigh, and what a strong tie is: none where costs are even."""
    if not len(h.cost) or h.cost.max() <= _UNEVEN * h.cost.mean():
        return 0, np.inf
    return int(_WHOLE * int(h.vwgt.sum()) / stop), _TIED * float((h.cost / (np.diff(h.xpins) - 1)).mean())


def coarsen(
    h: Nets, stop: int, nparts: int, salt: int, method: str = "absorption", threads: int = 1, *,
    growth: int = GROWTH,
) -> tuple[list[Nets], list[Array]]:
    """Levels from fine to coarse and the maps between them, down to about `stop` vertices.

    `method` and `threads` as for :func:`cluster`; `growth` is what the largest cluster weighs, in average vertices.
    """
    levels, maps = [h], list[Array]()
    # no coarse vertex may be much heavier than the average of the coarsest level, or balance is out of reach there
    heaviest = max(1, int(1.5 * int(h.vwgt.sum()) / stop))
    most, tie = strong_ties(h, stop)
    while len(levels[-1].vwgt) > stop:
        now = levels[-1]
        n = len(now.vwgt)
        # clusters of any size would skip the levels between
        bound = min(heaviest, max(growth * int(now.vwgt.sum()) // n, 2 * int(np.median(now.vwgt))))
        cmap, weight, fixed = cluster(now, bound, salt + len(maps), method, threads, most=most, tie=tie)
        if len(weight) > _STALLED * n or len(weight) < nparts:
            break
        levels.append(contract(now, cmap, weight, fixed))
        maps.append(cmap)
    return levels, maps


__all__ = ["COARSENINGS", "GROWTH", "cluster", "coarsen", "contract", "finest"]
