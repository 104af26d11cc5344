"""A smaller hypergraph that stands for another one, and the contraction of clusters to vertices."""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import ArrayLike, NDArray

from ...arrays import OFFSET, VERTEX, WEIGHT, Frozen, frozen, integers, sums
from ...errors import GraphError
from ...hypergraph import Hypergraph
from ...kernels.hypergraph import contract_nets


@dataclass(frozen=True, eq=False)
class Reduction(Frozen):
    """A smaller hypergraph, and where the vertices and nets of the former one are in it.

    Attributes
    ----------
    hypergraph : Hypergraph
        The smaller one.
    of_vertex : (nvtxs,) int32
        Its vertex for each vertex of the former one.
    of_net : (nnets,) int32
        Its net for each net of the former one, -1 where none is left: such nets never communicate.
    occupancy : float
        Classes of identical rows that share a checksum, on average: 1 is best; 1 where none were made.
    false_positives : int
        Comparisons of rows that share a checksum and are not identical.
    links : int
        Further entries looked at in the chains of the hash table.
    """

    hypergraph: Hypergraph
    of_vertex: NDArray[np.int32]
    of_net: NDArray[np.int32]
    occupancy: float = 1.0
    false_positives: int = 0
    links: int = 0

    def lift(self, part: ArrayLike) -> NDArray[np.int32]:
        """(nvtxs,) int32 part of each former vertex, from the (coarse nvtxs,) parts of those that stand for them."""
        return integers("part", part, VERTEX, GraphError, size=self.hypergraph.nvtxs)[self.of_vertex]

    def after(self, former: Reduction) -> Reduction:
        """This reduction of what `former` has made, as one reduction of what `former` began with."""
        of_net = np.where(former.of_net < 0, VERTEX(-1), self.of_net[former.of_net]) if len(self.of_net) \
            else np.full(len(former.of_net), -1, VERTEX)
        return replace(self, of_vertex=frozen(self.of_vertex[former.of_vertex]), of_net=frozen(of_net))


def contract(hypergraph: Hypergraph, rep: ArrayLike) -> Reduction:
    """Make one vertex of each cluster, with the sum of its weights; its nets are those of all members.

    The vertices are numbered by those that name the clusters.  A net whose source is in a cluster has that in front.
    Nets within one cluster are left out, and those that had one pin before.  Of every partition, what parts send to
    one another is the same before and after.

    Parameters
    ----------
    hypergraph : Hypergraph
    rep : (nvtxs,) array_like of int
        The vertex that names the cluster of each vertex, -1 (or itself) where it stays alone.

    Raises
    ------
    GraphError
        A vertex names one that is out of range, or does not name itself.
    """
    h, n = hypergraph, hypergraph.nvtxs
    given = integers("rep", rep, VERTEX, GraphError, low=-1, high=max(n, 1), size=n)
    name = np.where(given < 0, np.arange(n, dtype=VERTEX), given)
    lost = name[name] != name
    if lost.any():
        v = int(np.argmax(lost))
        raise GraphError(f"rep: vertex {v} is in the cluster of {name[v]}, which is in that of {name[name[v]]}")
    number = np.cumsum(name == np.arange(n)) - 1
    cmap = number[name].astype(VERTEX)
    count = int(number[-1]) + 1 if n else 0
    return merged(h, cmap, count)


def merged(hypergraph: Hypergraph, of_vertex: NDArray[np.int32], count: int) -> Reduction:
    """The hypergraph of `count` vertices that `of_vertex` sends the vertices to."""
    h = hypergraph
    xpins, pins, kept = np.empty(h.nnets + 1, OFFSET), np.empty(h.npins, VERTEX), np.empty(h.nnets, VERTEX)
    nets = contract_nets(h.xpins, h.pins, frozen(of_vertex), np.full(count, -1, OFFSET), xpins, pins, kept)
    kept = kept[:nets]
    of_net = np.full(h.nnets, -1, VERTEX)
    of_net[kept] = np.arange(nets, dtype=VERTEX)
    small = Hypergraph(count, xpins[:nets + 1], pins[:xpins[nets]], h.cost[kept],
                       summed_weights(h, of_vertex, count))
    return Reduction(small, frozen(of_vertex), frozen(of_net))


def summed_weights(hypergraph: Hypergraph, of_vertex: NDArray[np.int32], count: int) -> NDArray[np.int64]:
    """(count,) or (count, ncon) int64 weights of the vertices that `of_vertex` sends the vertices to."""
    if hypergraph.ncon == 1:
        return sums(of_vertex, hypergraph.vwgt, count)
    out = np.zeros((count, hypergraph.ncon), WEIGHT)
    np.add.at(out, of_vertex, hypergraph.vwgt)
    return out


__all__ = ["Reduction", "contract", "merged"]
