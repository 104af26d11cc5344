"""Vertices of a hypergraph that share much, joined: what a multilevel partitioner contracts.

========================  ==========================================================================
``"hcm"``                 matching, one vertex after the other; matched pins leave their nets
``"hcc"``                 clusters, one vertex after the other
``"locks"``               matching by threads that lock both ends of a pair
``"resolution"``          matching by threads that race; who is not named back stays alone
``"parallel-hcc"``        clusters by threads that lock the vertex that names a cluster
========================  ==========================================================================

The last three are not deterministic on more than one thread: who comes first takes the vertex.  On one thread they
are.  Clusters are valid in any case.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ...arrays import OFFSET, VERTEX, Frozen, frozen, integers, whole
from ...errors import ConfigError, GraphError
from ...hypergraph import Hypergraph
from ...kernels import hypergraph_clustering as kernels
from ...names import ClusteringMethod, known_name
from ..rounds import Team

METHODS = ("hcm", "hcc", "locks", "resolution", "parallel-hcc")
SIMILARITIES = ("heavy", "absorption", "absorption-per-weight")
ORDERS = ("random", "natural", "degree")

#: Vertices that a thread takes at a time: small enough that none waits long for the last.
_PIECE = 1024


@dataclass(frozen=True, eq=False)
class Clustering(Frozen):
    """Clusters of the vertices of a hypergraph.

    Attributes
    ----------
    rep : (nvtxs,) int32
        The vertex that names the cluster of each vertex, itself for that one; -1 where a vertex is alone.
    looked : int
        Pins that were looked at, at most the sum of the squared sizes of the nets.
    conflicts : int
        Pairs that threads made and that came apart again (``"resolution"``).
    """

    rep: NDArray[np.int32]
    looked: int
    conflicts: int = 0

    @property
    def cardinality(self) -> int:
        """Number of vertices that a contraction removes."""
        return int(np.count_nonzero((self.rep >= 0) & (self.rep != np.arange(len(self.rep)))))

    def quality(self, hypergraph: Hypergraph) -> int:
        """Sum of the costs of the nets that two vertices of a cluster share, over all such pairs."""
        h = hypergraph
        return int(kernels.clustering_quality(h.xpins, h.pins, h.cost, self.rep, np.zeros(h.nvtxs, OFFSET)))


def cluster(hypergraph: Hypergraph, method: ClusteringMethod = "hcc", *, similarity: str = "absorption",
            order: str | NDArray[Any] = "random", max_weight: int | None = None, seed: int = 0,
            threads: int = 1) -> Clustering:
    """Cluster the vertices of a hypergraph.

    Parameters
    ----------
    hypergraph : Hypergraph
        With one weight per vertex.
    method : str
        ``"hcm"``, ``"hcc"``, ``"locks"``, ``"resolution"`` or ``"parallel-hcc"``, see the head of this module.
    similarity : str
        What a net of cost c and s pins adds to two of them: ``"heavy"`` c, ``"absorption"`` c / (s - 1),
        ``"absorption-per-weight"`` c / s, and the sum is divided by the weight of the cluster that would result (of
        clusters only).  Nets of cost 0 join nobody.
    order : str or (nvtxs,) array_like of int
        In which the vertices choose: ``"random"``, ``"natural"``, by ``"degree"`` from few nets to many, or this one.
    max_weight : int, optional
        Clusters stay lighter (``"hcc"``, ``"parallel-hcc"``); not limited where not given.
    seed : int
        Of the random order.
    threads : int
        Of the last three methods; the first two use one.

    Raises
    ------
    ConfigError
        A name is unknown, or the method has no use for an option.
    GraphError
        The order is no permutation, or vertices have several weights.

    Examples
    --------
    >>> h = Hypergraph.from_nets(4, [[0, 1], [0, 1, 2], [2, 3]])
    >>> found = cluster(h, "hcm", order="natural")
    >>> found.rep.tolist(), found.cardinality, found.quality(h)
    ([0, 0, 2, 2], 2, 3)
    """
    h = hypergraph
    known_name("method", method, METHODS)
    known_name("similarity", similarity, SIMILARITIES)
    clusters = method in ("hcc", "parallel-hcc")
    if not clusters and (max_weight is not None or similarity == "absorption-per-weight"):
        what = "max_weight" if max_weight is not None else "a similarity per weight"
        raise ConfigError(f"{what}: has no meaning for {method!r}, which joins two vertices at most")
    bound = h.total_weight + 1
    if max_weight is not None:
        bound = min(bound, whole("max_weight", max_weight, low=0))
    nets = kernels.Incidence(h.xpins, h.pins, h.xnets, h.nets, _scores(h, similarity))
    visit = _visits(h, order, whole("seed", seed, low=0))
    n, rep = h.nvtxs, np.full(h.nvtxs, -1, VERTEX)

    def scratch() -> tuple[NDArray[Any], ...]:
        return np.zeros(n), np.empty(n + 1, VERTEX)

    if method == "hcm":
        looked = kernels.match_in_sequence(nets, visit, h.pins.copy(), h.xpins[1:].copy(), rep, *scratch())
        return Clustering(frozen(rep), int(looked))
    per_weight = similarity == "absorption-per-weight"
    weight = h.weights.copy()
    if method == "hcc":
        looked = kernels.cluster_in_sequence(nets, visit, bound, per_weight, weight, rep, *scratch())
        return Clustering(frozen(rep), int(looked))
    locks = np.zeros(n, np.uint8)
    with Team(whole("threads", threads, low=1)) as team:
        pieces = np.append(np.arange(0, n, n if threads == 1 else _PIECE), n) if n else np.zeros(2, OFFSET)
        if method == "locks":
            done = team.run(kernels.match_with_locks, n, nets, visit, locks, rep, scratch=scratch, bounds=pieces)
        elif method == "resolution":
            done = team.run(kernels.propose_pairs, n, nets, visit, rep, scratch=scratch, bounds=pieces)
        else:
            done = team.run(kernels.cluster_with_locks, n, nets, visit, bound, per_weight, locks, weight, rep,
                            scratch=scratch, bounds=pieces)
    conflicts = 0
    if method == "resolution":
        rep, conflicts = resolved(rep)
    return Clustering(frozen(rep), int(sum(done)), conflicts)


def resolved(partner: NDArray[np.int32]) -> tuple[NDArray[np.int32], int]:
    """Clusters of the pairs that name each other, by the smaller of the two; how many others named somebody."""
    me = np.arange(len(partner), dtype=VERTEX)
    named = partner >= 0
    mutual = named & (partner[np.where(named, partner, 0)] == me)
    return np.where(mutual, np.minimum(partner, me), VERTEX(-1)), int(np.count_nonzero(named & ~mutual))


def _scores(h: Hypergraph, similarity: str) -> NDArray[np.float64]:
    """(nnets,) float64 of what a net adds to two of its pins; 0 for nets of one pin."""
    score = h.cost.astype(np.float64)
    if similarity == "absorption":
        score /= np.maximum(h.sizes - 1, 1)
    elif similarity == "absorption-per-weight":
        score /= h.sizes
    score[h.sizes < 2] = 0
    return frozen(score)


def _visits(h: Hypergraph, order: str | NDArray[Any], seed: int) -> NDArray[np.int32]:
    """(nvtxs,) int32 in which order the vertices choose."""
    natural = np.arange(h.nvtxs, dtype=VERTEX)
    if not isinstance(order, str):
        given = integers("order", order, VERTEX, GraphError, low=0, high=max(h.nvtxs, 1), size=h.nvtxs)
        if len(given) and np.bincount(given).max() > 1:
            raise GraphError("order: must hold every vertex once")
        return frozen(given)
    known_name("order", order, ORDERS)
    if order == "natural":
        return frozen(natural)
    random = np.random.default_rng(seed).permutation(natural)
    if order == "degree":
        random = random[np.argsort(np.diff(h.xnets)[random], kind="stable")]
    return frozen(random)


__all__ = ["METHODS", "ORDERS", "SIMILARITIES", "Clustering", "cluster", "resolved"]
