"""The five operators that co-partitioning algorithms are written in.

=========  ==================  =====================================================
``part``   Part(G, K)          balanced K-way partition
``repart`` Repart(G, P, M, N)  balanced N-way partition from an M-way P, little migration
``rest``   Rest(G, V')         induced subgraph, and its vertices in G
``ext``    Ext(G, G', P', K, L) L-way partition of G that keeps P' on G'
``proj``   Proj(G, G', I, P, K) K-way partition of G' that mirrors P through interedges
=========  ==================  =====================================================

(Predari & Esnard 2014, Section III-C.)  Every operator but Rest takes `options`: eps, seed, threads and preset,
as one :class:`copart.options.Options` or each by its own name.

Balance here is ``W_k <= (1 + eps) W / K`` where whole weights allow it, the
definition of a co-partition, and not the slightly wider limit of the partitioner.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, Unpack

import numpy as np
from numpy.typing import ArrayLike, NDArray

from .arrays import FREE, MAX_TOTAL, VERTEX, WEIGHT, frozen, part_array, places, tolerance, whole
from .coupling import Interedges
from .errors import ConfigError, CouplingError
from .graph import Graph, as_graph
from .kernels.csr import spread_labels
from .kgggp_ml import extend, joined_pieces, partition
from .metrics import copartition_limit, graph_pieces, max_part_weights, pieces
from .names import RepartMethod
from .options import Effort, Options, Settings
from .partitioner.multiconstraint import partition_multiconstraint
from .repart import repartition

NEAR = 3
"""How many edges the surroundings of a coupled vertex reach in :func:`rest_joined`."""


def part(graph: Any, nparts: int, options: Options | None = None, *, vwgt: ArrayLike | None = None,
         eps: float | Sequence[float] | None = None, fixed: ArrayLike | None = None, tpwgts: ArrayLike | None = None,
         limits: ArrayLike | None = None, strict: bool = True, contiguous: bool = False,
         time_limit: float | None = None, **settings: Unpack[Effort]) -> NDArray[np.int32]:
    """Part(G, K): a balanced K-way partition, (nvtxs,) int32.

    Parameters
    ----------
    graph : Graph or graph-like
        METIS' arrays ``(xadj, adjncy)``, a scipy.sparse matrix, a networkx graph; see
        :func:`copart.graph.as_graph`.
    nparts : int
    options : Options, optional
        eps, seed, threads and preset (:class:`copart.options.Options`); each also by its own name, as in ``seed=2``.
    vwgt : (nvtxs,) or (nvtxs, ncon) array_like of int, optional
        Vertex weights instead of those of the graph.  Where a vertex has several, each is balanced.
    eps : float or (ncon,) sequence of float, optional
        Imbalance tolerance; where a vertex has several weights one for all of them, or one for each.
    fixed, tpwgts, strict
        As in :func:`copart.kgggp_ml.partition`.
    limits : (ncon, nparts) array_like of int, optional
        With several weights per vertex: their largest sums in each part, instead of `eps` and `tpwgts`.
    contiguous, time_limit
        Every part in one piece, and seconds for preset "best", with one weight per vertex only; as in
        :func:`copart.kgggp_ml.partition`.

    Raises
    ------
    PartitionError
        No such partition exists, or none was found.
    ConfigError, GraphError
        An argument is out of range or does not apply, or the graph is not one.

    Examples
    --------
    >>> part(([0, 1, 3, 5, 6], [1, 0, 2, 1, 3, 2]), 2).tolist() in ([0, 0, 1, 1], [1, 1, 0, 0])
    True
    """
    graph = as_graph(graph)
    if vwgt is not None:
        graph = graph.replace(vwgt=vwgt)
    run = Options.of(options, settings)
    if graph.ncon == 1:
        if limits is not None:
            raise ConfigError("limits: are for several weights per vertex; give eps or tpwgts")
        run = run if eps is None else run.replace(eps=eps)  # type: ignore[arg-type]
        if tpwgts is None:
            run = copartition_balance(graph, nparts, run)
        return partition(graph, nparts, run, fixed=fixed, tpwgts=tpwgts, strict=strict, contiguous=contiguous,
                         time_limit=time_limit)
    if contiguous or time_limit is not None:
        raise ConfigError(f"{'contiguous' if contiguous else 'time_limit'}: needs one weight per vertex, several are "
                          f"balanced without it")
    each: Any = run.eps if eps is None else eps
    if np.ndim(each) and np.shape(each) not in ((1,), (graph.ncon,)):
        raise ConfigError(f"eps: needs one number, or one for each of {graph.ncon} weights per vertex, got "
                          f"{each!r:.60}")
    if limits is None and tpwgts is None:
        totals = graph.weight_vectors.sum(axis=0)
        each = [_lowered_eps(int(w), nparts, e) for w, e in zip(totals, np.broadcast_to(each, totals.shape).tolist(),
                                                                       strict=True)]
    return partition_multiconstraint(graph, nparts, options=run, eps=each, limits=limits, tpwgts=tpwgts, fixed=fixed,
                                     strict=strict)


def repart(graph: Any, part: ArrayLike, m: int, n: int, options: Options | None = None, *,
           method: RepartMethod = "mxn", migration_cost: int | None = None,
           **settings: Unpack[Settings]) -> NDArray[np.int32]:
    """Repart(G, P, M, N): a balanced N-way partition that moves little data away from the M-way P.

    P may be unbalanced.  See :func:`copart.repart.repartition` for the methods, and :func:`part` for `options`.

    Parameters
    ----------
    graph : Graph or graph-like
        As for :func:`part`.
    part : (nvtxs,) array_like of int
        P, parts ``0..m-1``.
    m, n : int
        Number of former and of new parts.
    options : Options, optional
        eps, seed, threads and preset (:class:`copart.options.Options`); each also by its own name, as in ``seed=2``.
    method : {"mxn", "scratch-remap", "diffusive"}
        How; see :mod:`copart.repart`.
    migration_cost : int, optional
        Edge weight that one unit of ``vsize`` costs where it goes against the migration matrix; only for "mxn".
    """
    graph, n = as_graph(graph), whole("n", n, low=1)
    run = copartition_balance(graph, n, Options.of(options, settings))
    return repartition(graph, part, m, n, run, method=method, migration_cost=migration_cost)


def rest(graph: Graph, vertices: ArrayLike) -> tuple[Graph, NDArray[np.int32]]:
    """Rest(G, V'): the subgraph induced by V', and V' itself ascending, the map back to G.

    Parameters
    ----------
    graph : Graph
        G.
    vertices : (n,) array_like of int
        V', in any order.
    """
    keep = np.unique(places("vertices", vertices, VERTEX, CouplingError, high=graph.nvtxs))
    return graph.subgraph(keep), keep


def rest_joined(graph: Graph, vertices: ArrayLike, *, far: bool = False) -> tuple[Graph, NDArray[np.int32]]:
    """Rest(G, V') for partitioning a surface: where it falls apart, light edges join what is near.

    Tetrahedra with a facet on the interface hardly share facets with one another: their induced subgraph
    is little more than single vertices, and a partition of it would scatter.  Where there are more pieces than a
    tenth of the vertices, every vertex of G within :data:`NEAR` edges goes to its nearest vertex of V',
    and two of these are joined where their surroundings meet; true edges weigh three times as much.
    With `far`, what is in several pieces after that is joined over any distance, as far as G is connected.

    Parameters
    ----------
    graph : Graph
        G.
    vertices : (n,) array_like of int
        V', in any order.
    far : bool
        Join pieces however far apart.
    """
    sub, keep = rest(graph, vertices)
    many = graph_pieces(sub)[0]
    joined = _joined(graph, sub, keep, NEAR) if many > len(keep) / 10 else sub
    if far and many > 1 and graph_pieces(joined)[0] > 1:
        joined = _joined(graph, sub, keep, graph.nvtxs)
    return joined, keep


def _joined(graph: Graph, sub: Graph, keep: NDArray[np.int32], reach: int) -> Graph:
    """The subgraph with edges between vertices whose surroundings within `reach` meet."""
    label, dist, queue = (np.empty(graph.nvtxs, VERTEX) for _ in range(3))
    spread_labels(graph.xadj, graph.adjncy, frozen(keep), reach, label, dist, queue)
    u, v, _ = graph.edges()
    a, b = label[u], label[v]
    meet = (a != b) & (a >= 0) & (b >= 0)
    p, q, w = sub.edges()
    # weights near the limit of sums stay as they are: what is light beside them is so in any case
    twice = 2 if 4.0 * float(w.sum(dtype=np.float64)) + 2.0 * len(meet) < MAX_TOTAL else 1
    return Graph.from_edges(
        sub.nvtxs,
        np.concatenate([p, a[meet]]),
        np.concatenate([q, b[meet]]),
        np.concatenate([twice * w, np.ones(int(meet.sum()), WEIGHT)]),
        vwgt=sub.vwgt,
        vsize=sub.vsize,
        coords=sub.coords,
    )


def ext(graph: Graph, vertices: ArrayLike, sub_part: ArrayLike, k: int, l: int, options: Options | None = None,
        **settings: Unpack[Settings]) -> NDArray[np.int32]:
    """Ext(G, G', P', K, L): an L-way partition in which the vertices of G' keep their parts.

    Parts are in as few pieces as that, balance and a cut no longer than needed allow: see
    :func:`copart.kgggp_ml.extend`.

    Parameters
    ----------
    graph : Graph
        G.
    vertices : (nsub,) array_like of int
        The vertices of G', as :func:`rest` returns them.
    sub_part : (nsub,) array_like of int
        P', parts ``0..k-1``; parts ``k..l-1`` are free to grow in the rest of G.
    k, l : int
        L >= K.
    options : Options, optional
        As for :func:`part`.

    Raises
    ------
    PartitionError
        A part of P' alone already outweighs its share of G: no balanced extension exists.
    """
    k = whole("k", k, low=1)
    l = whole("l", l, low=k)
    where = places("vertices", vertices, VERTEX, CouplingError, high=graph.nvtxs)
    if len(np.unique(where)) < len(where):
        v, times = np.unique(where, return_counts=True)
        raise CouplingError(f"vertices: {v[times > 1][0]} stands there more than once")
    fixed = np.full(graph.nvtxs, FREE, VERTEX)
    fixed[where] = part_array("sub_part", sub_part, len(where), k, CouplingError)
    return extend(graph, l, fixed, copartition_balance(graph, l, Options.of(options, settings)))


def connected(graph: Graph, part: NDArray[np.int32], nparts: int, options: Options) -> NDArray[np.int32]:
    """The partition with loose pieces joined to neighbouring parts, as far as balance allows.

    Parameters
    ----------
    graph : Graph
        With one weight per vertex.
    part : (nvtxs,) int32
    nparts : int
    options : Options
        eps, as for :func:`part`.
    """
    run = copartition_balance(graph, nparts, options)
    limit = max_part_weights(graph.total_weight, nparts, run.eps)
    if int(pieces(graph, part, nparts).sum()) == len(np.unique(part)):
        return part
    _, home = graph_pieces(graph)
    # in one piece, or in one of each piece of the graph, or as far as there is room
    for group, most in ((None, 1.0), (home, 1.0), (None, 0.0)):
        made, excess = joined_pieces(graph, part, limit, run, group=group, most=most)
        if not excess:
            return made
    return part


def proj(graph: Graph, other: Graph, interedges: Interedges, part: ArrayLike, k: int, options: Options | None = None,
         **settings: Unpack[Settings]) -> NDArray[np.int32]:
    """Proj(G, G', I, P, K): the K-way partition of G' = `other` that mirrors P, possibly unbalanced.

    A vertex of G' whose interedges all lead to one part takes it.  The others minimise the edge
    cut of G' with one fixed super-vertex per part, joined through the interedges, without balance.
    An interedge counts as an edge of weight 1 there: overlap areas are in no unit of the cut.

    Parameters
    ----------
    graph, other : Graph
        G and G'.
    interedges : Interedges
        Between G (rows) and G' (columns).
    part : (graph.nvtxs,) array_like of int
        P, a K-way partition of G.
    k : int
        K.
    options : Options, optional
        As for :func:`part`; eps plays no role.
    """
    run = Options.of(options, settings).replace(eps=0.0)
    k = whole("k", k, low=1)
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
    return partition(enriched, k, run, fixed=fixed)[:n].copy()


def copartition_balance(graph: Graph, nparts: int, options: Options) -> Options:
    """Options of the partitioner that make its parts as even as those of a co-partition have to be.

    A co-partition wants ``W_k <= (1 + eps) W / K``; the limit of the partitioner counts on ``ceil(W / K)``, which on
    small graphs is visibly more.  (Predari & Esnard 2014, Section III.)

    Parameters
    ----------
    graph : Graph
        With one weight per vertex.
    nparts : int
        K.
    options : Options

    Returns
    -------
    Options
        The same with `eps` lowered as far as whole weights can follow.

    Raises
    ------
    ConfigError
        `nparts` is not a positive integer.
    """
    return options.replace(eps=_lowered_eps(graph.total_weight, nparts, options.eps))


def _lowered_eps(total: int, nparts: int, eps: float) -> float:
    """The tolerance of the partitioner that allows ``(1 + eps) total / nparts``, or the next whole share."""
    k = whole("nparts", nparts, low=1)
    eps = tolerance("eps", eps)
    average = -(-total // k)
    if average == 0:
        return eps
    return max(0.0, min(eps, (copartition_limit(total, k, eps) + 0.5) / average - 1))


__all__ = ["NEAR", "copartition_balance", "ext", "part", "proj", "repart", "rest", "rest_joined"]
