"""The five operators that co-partitioning algorithms are written in.

=========  ==================  =====================================================
``part``   Part(G, K)          balanced K-way partition
``repart`` Repart(G, P, M, N)  balanced N-way partition from an M-way P, little migration
``rest``   Rest(G, V')         induced subgraph, and its vertices in G
``ext``    Ext(G, G', P', K, L) L-way partition of G that keeps P' on G'
``proj``   Proj(G, G', I, P, K) K-way partition of G' that mirrors P through interedges
=========  ==================  =====================================================

(Predari & Esnard 2014, Section III-C.)  ``options`` of every operator are those
of :func:`copart.kgggp_ml.partition`: eps, seed, threads, preset.

Balance here is ``W_k <= (1 + eps) W / K`` where whole weights allow it, the
definition of a co-partition, and not the slightly wider limit of the partitioner.
"""

from __future__ import annotations

from fractions import Fraction
from math import floor
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from .arrays import FREE, VERTEX, WEIGHT, fraction, frozen, integers, part_array, whole
from .coupling import Interedges
from .errors import CouplingError
from .graph import Graph, as_graph
from .kernels.csr import spread_labels
from .kgggp_ml import partition
from .multiconstraint import partition_multiconstraint
from .repart import repartition

NEAR = 3
"""How many edges the surroundings of a coupled vertex reach in :func:`rest_joined`."""


def part(graph: Any, nparts: int, *, vwgt: ArrayLike | None = None, **options: Any) -> NDArray[np.int32]:
    """Part(G, K): a balanced K-way partition, (nvtxs,) int32.

    Parameters
    ----------
    graph : Graph or graph-like
        METIS' arrays ``(xadj, adjncy)``, a scipy.sparse matrix, a networkx graph; see
        :func:`copart.graph.as_graph`.
    nparts : int
    vwgt : (nvtxs,) or (nvtxs, ncon) array_like of int, optional
        Vertex weights instead of those of the graph.  Several a vertex are balanced each.
    **options
        Those of :func:`copart.kgggp_ml.partition`; with several weights a vertex, those of
        :func:`copart.multiconstraint.partition_multiconstraint`.

    Examples
    --------
    >>> part(([0, 1, 3, 5, 6], [1, 0, 2, 1, 3, 2]), 2).tolist() in ([0, 0, 1, 1], [1, 1, 0, 0])
    True
    """
    graph = as_graph(graph)
    if vwgt is not None:
        graph = graph.replace(vwgt=vwgt)
    if graph.ncon == 1:
        return partition(graph, nparts, **copartition_balance(graph, nparts, options))
    if not {"limits", "tpwgts"} & options.keys():
        totals = graph.weight_vectors.sum(axis=0)
        given = np.broadcast_to(options.get("eps", 0.05), totals.shape)
        options["eps"] = [_lowered_eps(int(w), nparts, float(eps)) for w, eps in zip(totals, given, strict=True)]
    return partition_multiconstraint(graph, nparts, **options)


def repart(
    graph: Graph,
    part: ArrayLike,
    m: int,
    n: int,
    *,
    method: str = "mxn",
    migration_cost: int | None = None,
    **options: Any,
) -> NDArray[np.int32]:
    """Repart(G, P, M, N): a balanced N-way partition that moves little data away from the M-way P.

    P may be unbalanced.  See :func:`copart.repart.repartition` for the methods.
    """
    options = copartition_balance(graph, n, options)
    return repartition(graph, part, m, n, method=method, migration_cost=migration_cost, **options)


def rest(graph: Graph, vertices: ArrayLike) -> tuple[Graph, NDArray[np.int32]]:
    """Rest(G, V'): the subgraph induced by V', and V' itself ascending, the map back to G."""
    keep = np.unique(integers("vertices", vertices, VERTEX, CouplingError, low=0, high=max(graph.nvtxs, 1)))
    return graph.subgraph(keep), keep


def rest_joined(graph: Graph, vertices: ArrayLike) -> tuple[Graph, NDArray[np.int32]]:
    """Rest(G, V') for partitioning a surface: where it falls apart, light edges join what is near.

    Tetrahedra with a facet on the interface hardly share facets with one another: their induced subgraph
    is little more than single vertices, and a partition of it would scatter.  Where there are more pieces than a
    tenth of the vertices, every vertex of G within :data:`NEAR` edges goes to its nearest vertex of V',
    and two of these are joined where their surroundings meet; true edges weigh three times as much.
    """
    sub, keep = rest(graph, vertices)
    from scipy.sparse.csgraph import connected_components

    if connected_components(sub.to_scipy(), directed=False, return_labels=False) <= len(keep) / 10:
        return sub, keep
    label, dist, queue = (np.empty(graph.nvtxs, VERTEX) for _ in range(3))
    spread_labels(graph.xadj, graph.adjncy, frozen(keep), NEAR, label, dist, queue)
    u, v, _ = graph.edges()
    a, b = label[u], label[v]
    meet = (a != b) & (a >= 0) & (b >= 0)
    p, q, w = sub.edges()
    joined = Graph.from_edges(
        sub.nvtxs,
        np.concatenate([p, a[meet]]),
        np.concatenate([q, b[meet]]),
        np.concatenate([2 * w, np.ones(int(meet.sum()), WEIGHT)]),
        vwgt=sub.vwgt,
        vsize=sub.vsize,
        coords=sub.coords,
    )
    return joined, keep


def ext(graph: Graph, vertices: ArrayLike, sub_part: ArrayLike, k: int, l: int, **options: Any) -> NDArray[np.int32]:
    """Ext(G, G', P', K, L): an L-way partition in which the vertices of G' keep their parts.

    Parameters
    ----------
    vertices : (nsub,) array_like of int
        The vertices of G', as :func:`rest` returns them.
    sub_part : (nsub,) array_like of int
        P', parts ``0..k-1``; parts ``k..l-1`` are free to grow in the rest of G.
    k, l : int
        L >= K.

    Raises
    ------
    PartitionError
        A part of P' alone already outweighs its share of G: no balanced extension exists.
    """
    whole("l", l, low=whole("k", k, low=1))
    where = integers("vertices", vertices, VERTEX, CouplingError, low=0, high=max(graph.nvtxs, 1))
    fixed = np.full(graph.nvtxs, FREE, VERTEX)
    fixed[where] = part_array("sub_part", sub_part, len(where), k, CouplingError)
    return partition(graph, l, fixed=fixed, **copartition_balance(graph, l, options))


def proj(
    graph: Graph, other: Graph, interedges: Interedges, part: ArrayLike, k: int, **options: Any
) -> NDArray[np.int32]:
    """Proj(G, G', I, P, K): the K-way partition of G' = `other` that mirrors P, possibly unbalanced.

    A vertex of G' whose interedges all lead to one part takes it.  The others minimise the edge
    cut of G' with one fixed super-vertex a part, joined through the interedges, without balance.

    Parameters
    ----------
    interedges : Interedges
        Between G (rows) and G' (columns).
    part : (graph.nvtxs,) array_like of int
        P, a K-way partition of G.
    """
    whole("k", k, low=1)
    p = part_array("part", part, graph.nvtxs, k, CouplingError)
    if interedges.shape != (graph.nvtxs, other.nvtxs):
        raise CouplingError(
            f"interedges: have shape {interedges.shape}, the graphs have ({graph.nvtxs}, {other.nvtxs}) vertices"
        )
    u, v, _ = interedges.pairs()
    n = other.nvtxs
    # votes: how many interedges lead from each vertex of G' to each part
    key, votes = np.unique(v.astype(np.int64) * k + p[u], return_counts=True)
    voter, choice = key // k, (key % k).astype(VERTEX)
    fixed = np.full(n + k, FREE, VERTEX)
    one_choice = np.bincount(voter, minlength=n) == 1
    alone = one_choice[voter]
    fixed[voter[alone]] = choice[alone]
    fixed[n:] = np.arange(k)
    if (fixed >= 0).all():
        return fixed[:n].copy()
    a, b, w = other.edges()
    enriched = Graph.from_edges(
        n + k,
        np.concatenate([a, voter]),
        np.concatenate([b, n + choice]),
        np.concatenate([w, votes]),
        vwgt=np.zeros(n + k, np.int64),
    )
    return partition(enriched, k, fixed=fixed, **{**options, "eps": 0.0})[:n].copy()


def copartition_balance(graph: Graph, nparts: int, options: dict[str, Any]) -> dict[str, Any]:
    """Options of the partitioner that make its parts as even as those of a co-partition have to be.

    A co-partition wants ``W_k <= (1 + eps) W / K``; the limit of the partitioner counts on ``ceil(W / K)``, which on
    small graphs is visibly more.  (Predari & Esnard 2014, Section III.)

    Parameters
    ----------
    graph : Graph
        With one weight a vertex.
    nparts : int
        K.
    options : dict
        Those of :func:`copart.kgggp_ml.partition`; not changed.

    Returns
    -------
    dict
        The same with `eps` lowered as far as whole weights can follow; as they are where they hold ``tpwgts``.

    Raises
    ------
    ConfigError
        `nparts` is not a positive integer, or `eps` no number from 0 up.
    """
    if options.get("tpwgts") is not None:
        return options
    return {**options, "eps": _lowered_eps(graph.total_weight, nparts, options.get("eps", 0.05))}


def _lowered_eps(total: int, nparts: int, eps: float) -> float:
    """The tolerance of the partitioner that allows ``(1 + eps) total / nparts``, or the next whole share."""
    k = whole("nparts", nparts, low=1)
    eps = fraction("eps", eps)
    average = -(-total // k)
    if average == 0:
        return eps
    limit = max(average, floor((1 + Fraction(repr(eps))) * total / k))
    return max(0.0, min(eps, (limit + 0.5) / average - 1))
