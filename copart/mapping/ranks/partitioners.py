"""The partitioners that rank reordering can be given, each with parts of exactly the sizes asked for.

A partitioner that treats balance as soft is repaired by :func:`copart.mapping.ranks.negative_cycles.refine`.

================= ====================================================================
greedy            k-way greedy growing and negative cycles, no coarsening
greedy-seeds      the same from k random vertices
rhem              the same on graphs coarsened by randomized heavy-edge matching
louvain           the same on graphs coarsened by Louvain's method
louvain-queue     Louvain with a queue and a bounded number of rounds
label-propagation clusters of bounded size by label propagation
bisection         recursive bisection by growing, the best of a few tries each
spectral          recursive bisection by Fiedler vectors
kgggp             :func:`copart.kgggp_ml.partition`
metis             METIS by pymetis (``copart[metis]``)
best              the best of greedy, bisection, kgggp, and the start refined
================= ====================================================================
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import partial
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from ...arrays import VERTEX, WEIGHT, frozen, part_array, whole
from ...errors import ConfigError, MappingError
from ...graph import Graph
from ...metrics import edge_cut
from ...names import Bisector, RankMethod, known_name
from .bisection import recursive_bisection
from .kgg import check_capacities, counted, grow
from .multilevel import multilevel
from .negative_cycles import refine

#: ``(graph, capacities, seed)`` to a part of every vertex; the sizes may be missed.
Partitioner = Callable[[Graph, NDArray[np.int64], int], Any]

#: What edge weights add up to at most that kernels take in 32 bits.
_LIGHT = 2**31 - 1


def _grown(graph: Graph, capacities: NDArray[np.int64], seed: int, seeds: str = "all") -> NDArray[np.int32]:
    return grow(graph, capacities, seeds=seeds, seed=seed).part


def _multilevel(graph: Graph, capacities: NDArray[np.int64], seed: int, coarsener: str) -> NDArray[np.int32]:
    return multilevel(graph, capacities, coarsener=coarsener, seed=seed)


def _bisected(graph: Graph, capacities: NDArray[np.int64], seed: int, bisector: Bisector) -> NDArray[np.int32]:
    return recursive_bisection(graph, capacities, bisector=bisector, seed=seed)


def _kgggp(graph: Graph, capacities: NDArray[np.int64], seed: int) -> NDArray[np.int32]:
    from ...kgggp_ml import partition

    equal = capacities.min() == capacities.max()
    return partition(_of_light_edges(graph), len(capacities), eps=0.0, seed=seed, strict=False,
                     tpwgts=None if equal else capacities / capacities.sum())


def _of_light_edges(graph: Graph) -> Graph:
    """The same graph with edge weights that add up to what 32 bits hold: for others kernels are compiled once more.

    Times in picoseconds do not.  Rounded to a billionth of their sum they lead to parts as good, which are refined by
    the true ones.
    """
    total = graph.edge_weights.sum() / 2
    if total <= _LIGHT:
        return graph
    rounded = np.floor(graph.edge_weights * ((_LIGHT - graph.nedges) / total)).astype(WEIGHT)
    return graph.replace(ewgt=np.where(graph.edge_weights > 0, np.maximum(rounded, 1), 0))


def _metis(graph: Graph, capacities: NDArray[np.int64], seed: int) -> NDArray[np.int32]:
    try:
        import pymetis  # type: ignore[import-not-found, unused-ignore]
    except ImportError:
        raise ConfigError("method metis: needs the package pymetis; pip install 'copart[metis]'") from None
    adjacency = pymetis.CSRAdjacency(graph.xadj.astype(np.int64), graph.adjncy.astype(np.int64))
    _, part = pymetis.part_graph(len(capacities), adjacency, eweights=graph.edge_weights,
                                 tpwgts=(capacities / capacities.sum()).tolist(),
                                 options=pymetis.Options(seed=seed, ufactor=1))
    return np.asarray(part, VERTEX)


PARTITIONERS: dict[RankMethod, Partitioner] = {
    "greedy": _grown,
    "greedy-seeds": partial(_grown, seeds="random"),
    "rhem": partial(_multilevel, coarsener="rhem"),
    "louvain": partial(_multilevel, coarsener="louvain"),
    "louvain-queue": partial(_multilevel, coarsener="louvain-queue"),
    "label-propagation": partial(_multilevel, coarsener="label-propagation"),
    "bisection": partial(_bisected, bisector="greedy"),
    "spectral": partial(_bisected, bisector="spectral"),
    "kgggp": _kgggp,
    "metis": _metis,
}
#: What method "best" compares; of equal cuts the first is kept.
PORTFOLIO: tuple[RankMethod, ...] = ("greedy", "bisection", "kgggp")
METHODS: tuple[RankMethod, ...] = (*PARTITIONERS, "best")


def partition_exactly(graph: Graph, capacities: ArrayLike, method: RankMethod | Partitioner = "best", *, seed: int = 1,
                      start: ArrayLike | None = None) -> NDArray[np.int32]:
    """Partition a graph into parts of exactly the given sizes with a small edge cut.

    Parameters
    ----------
    graph : Graph
        All vertex weights 1.
    capacities : (k,) array_like of int
        Size of each part; they add up to the number of vertices, and may be 0.
    method : str or callable
        One of :data:`METHODS`, or a function of graph, capacities and seed that
        gives a part to every vertex; its sizes are repaired.
    seed : int
        Same seed, same parts.
    start : (n,) array_like of int, optional
        A partition that "best" refines and compares, too.

    Returns
    -------
    (n,) int32

    Raises
    ------
    MappingError
        The capacities do not add up, or vertices are weighted.
    ConfigError
        The method is unknown, or its package is not installed; or the seed is none.
    """
    plain, seed = counted(graph), whole("seed", seed, low=0, high=2**31 - 1)
    if not callable(method):
        known_name("method", method, METHODS)
    cap = check_capacities(plain, capacities)
    used = np.flatnonzero(cap)
    sizes = frozen(cap[used].astype(WEIGHT))
    if len(used) < 2:
        return np.full(plain.nvtxs, used[0] if len(used) else 0, VERTEX)
    names: Sequence[RankMethod | Partitioner] = PORTFOLIO if method == "best" else (method,)
    makers = [name if callable(name) else PARTITIONERS[name] for name in names]
    found = [make(plain, sizes, seed) for make in makers]
    if method == "best" and start is not None:
        given = part_array("start", start, plain.nvtxs, len(cap), MappingError)
        found.append(np.maximum(np.searchsorted(used, given, "right") - 1, 0))
    exact = [refine(plain, part, sizes, seed=seed).part for part in found]
    best = exact[0] if len(exact) == 1 else min(exact, key=lambda p: edge_cut(plain, p))
    part = used[best].astype(VERTEX)
    if (np.bincount(part, minlength=len(cap)) != cap).any():
        raise AssertionError("parts miss their capacities")
    return part


__all__ = ["METHODS", "PARTITIONERS", "PORTFOLIO", "Partitioner", "partition_exactly"]
