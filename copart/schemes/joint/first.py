"""Which parts of a component own its coupled cells: numbered first, and changed where they have to be."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from ...arrays import VERTEX, WEIGHT, frozen, sums
from ...graph import Graph
from ...kernels import Level
from ...kernels.csr import spread_labels

Array = np.ndarray[Any, Any]


def nearest(g: Graph | Level, cells: NDArray[np.int32], hops: int) -> tuple[NDArray[np.int32], NDArray[np.int32]]:
    """Index in `cells` of the nearest of them to every vertex, and the edges to it; -1 beyond `hops` edges."""
    label, dist, queue = (np.empty(len(g.xadj) - 1, VERTEX) for _ in range(3))
    spread_labels(frozen(g.xadj), frozen(g.adjncy), frozen(cells), hops, label, dist, queue)
    return label, dist


def misplaced(load: NDArray[np.int64], k: int, eps: float) -> float:
    """Share of the coupled weight that has to change parts before `k` parts own all of it, within `eps` of the mean.

    Parameters
    ----------
    load : (nparts,) int64
        Coupled weight of each part.
    k : int
    eps : float

    Returns
    -------
    float
        0 to 1; 0 where there is no coupled weight.

    Examples
    --------
    >>> misplaced(np.array([2, 2, 4, 0]), 2, 0.0), misplaced(np.array([4, 0, 4]), 2, 0.0)
    (0.25, 0.0)
    """
    total = int(load.sum())
    if total == 0:
        return 0.0
    heaviest = np.sort(load)[::-1]
    above = np.maximum(heaviest[:k] - (1 + eps) * total / k, 0)
    return float(above.sum() + heaviest[k:].sum()) / total


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
    local = spread(graph, cells, out[cells], k)
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


def spread(g: Graph | Level, cells: Array, part: Array, k: int) -> NDArray[np.int32]:
    """Cells in parts from `k` on go to the part below `k` that is nearest in the graph."""
    lost = part >= k
    if not lost.any():
        return part.copy()
    kept = np.flatnonzero(~lost)
    label, _ = nearest(g, np.ascontiguousarray(cells[kept]), len(g.xadj))
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


__all__ = ["coupled_first", "misplaced", "nearest", "spread"]
