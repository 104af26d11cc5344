"""The hypergraph as kernels see it, and its coarser levels."""

from __future__ import annotations

from typing import Any

import numpy as np

from ...arrays import OFFSET, VERTEX, WEIGHT, writable
from ...hypergraph import Hypergraph
from ...kernels import umpa_coarsening as kernels
from ...kernels.rng import mix_each
from ...kernels.umpa_state import Nets
from ..coarsening import carry

Array = np.ndarray[Any, Any]

#: Coarsening stops when a level keeps more than this share of its vertices.
_STALLED = 0.9


def finest(hypergraph: Hypergraph, pinned: Array | None) -> Nets:
    """The input as kernels see it, without the nets that can never be cut or cost nothing."""
    fixed = np.zeros(0, VERTEX) if pinned is None or (pinned < 0).all() else pinned
    h = hypergraph
    nets = Nets(h.xpins, h.pins, h.xnets, h.nets, h.cost, h.weights, fixed)
    nets = Nets._make(writable(a) for a in nets)
    if (h.sizes > 1).all() and (h.cost > 0).all():
        return nets
    return contract(nets, np.arange(h.nvtxs, dtype=VERTEX), nets.vwgt, fixed, merge=False)


def contract(h: Nets, cmap: Array, vwgt: Array, fixed: Array, *, merge: bool = True) -> Nets:
    """The hypergraph of clusters.

    Parameters
    ----------
    cmap : (nvtxs,) int32
        Cluster of each vertex.
    vwgt : (nclusters,) int64
    fixed : (nclusters,) int32 or empty
    merge : bool
        Whether nets with the same pins and the same source become one.
    """
    m, count = len(h.cost), len(vwgt)
    mark = np.full(count, -1, OFFSET)
    xpins, pins = np.empty(m + 1, OFFSET), np.empty(len(h.pins), VERTEX)
    cost, checksum = np.empty(m, WEIGHT), np.empty(m, OFFSET)
    m = int(kernels.contract_nets(h, cmap, mark, xpins, pins, cost, checksum))
    xpins, cost = xpins[:m + 1].copy(), cost[:m].copy()
    pins = pins[:xpins[-1]].copy()
    if merge:
        kept = np.empty(m, np.bool_)
        mark[:] = -1
        kernels.merge_nets(xpins, pins, cost, checksum, np.argsort(checksum[:m], kind="stable"), mark, kept)
        new_xpins = np.empty(int(kept.sum()) + 1, OFFSET)
        new_pins = np.empty(len(pins), VERTEX)
        kernels.gather_nets(xpins, pins, kept, new_xpins, new_pins)
        xpins, pins, cost = new_xpins, new_pins[:new_xpins[-1]].copy(), cost[kept]
    xnets, nets = np.empty(count + 1, OFFSET), np.empty(len(pins), VERTEX)
    kernels.transpose(xpins, pins, xnets, nets)
    return Nets(xpins, pins, xnets, nets, cost, vwgt, fixed)


def visiting_order(n: int, salt: int) -> Array:
    """(n,) int32: 0 to n - 1, shuffled by a hash."""
    rank = np.empty(n, np.int64)
    mix_each(np.arange(n, dtype=VERTEX), salt, rank)
    return np.argsort(rank, kind="stable").astype(VERTEX)


def cluster(h: Nets, bound: int, salt: int, within: Array | None = None) -> tuple[Array, Array, Array]:
    """Clusters by absorption: the cluster of each vertex, and the weight and the fixed part of each cluster.

    Parameters
    ----------
    bound : int
        Most that a cluster may weigh; a vertex alone may weigh more.
    within : (nvtxs,) int32, optional
        Classes that clusters stay inside.
    """
    n = len(h.vwgt)
    rep, weight, pinned = np.empty(n, VERTEX), np.empty(n, WEIGHT), np.empty(len(h.fixed), VERTEX)
    classes = np.zeros(0, VERTEX) if within is None else within
    kernels.join_clusters(h, visiting_order(n, salt), classes, bound, rep, weight, pinned, np.zeros(n),
                          np.empty(n, VERTEX))
    heads = np.flatnonzero(rep == np.arange(n))
    number = np.empty(n, VERTEX)
    number[heads] = np.arange(len(heads), dtype=VERTEX)
    return number[rep], weight[heads], pinned[heads] if len(pinned) else pinned


def coarsen(h: Nets, stop: int, nparts: int, salt: int, within: Array | None = None) -> tuple[list[Nets], list[Array]]:
    """Levels from fine to coarse and the maps between them, down to about `stop` vertices.

    Parameters
    ----------
    within : (nvtxs,) int32, optional
        Classes that clusters stay inside.
    """
    levels, maps = [h], list[Array]()
    # no coarse vertex may be much heavier than the average of the coarsest level, or balance is out of reach there
    heaviest = max(1, int(1.5 * int(h.vwgt.sum()) / stop))
    while len(levels[-1].vwgt) > stop:
        now = levels[-1]
        n = len(now.vwgt)
        # clusters of any size would skip the levels between
        bound = min(heaviest, max(3 * int(now.vwgt.sum()) // n, 2 * int(np.median(now.vwgt))))
        cmap, weight, fixed = cluster(now, bound, salt + len(maps), within)
        if len(weight) > _STALLED * n or len(weight) < nparts:
            break
        levels.append(contract(now, cmap, weight, fixed))
        maps.append(cmap)
        if within is not None:
            within = carry(within, cmap, len(weight))
    return levels, maps


__all__ = ["cluster", "coarsen", "contract", "finest", "visiting_order"]
