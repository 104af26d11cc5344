"""Clusters of a level, which become the vertices of the next.

Grids are matched in the order of their vertices, which keeps boxes; all other graphs are
clustered by size-constrained label propagation: in blocks, or in the whole graph where it has hubs
(:mod:`copart.partitioner.communities`).  Only the first step from triangles or tetrahedra is a matching,
in a tenth of the time: labels hardly make more than pairs there.
Vertices left over join a neighbouring cluster, or pair up over a common neighbour (two-hop).
All runs on all threads but for leftovers, and graphs with hubs.
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np

from ..kernels import Level, contraction, label_propagation
from ..kernels import coarsening as kernels
from ..kernels.memory import pages
from .rounds import Team
from .shape import Shape

Array = np.ndarray[Any, Any]

#: Vertices a block, at least, and blocks at most: clusters form inside blocks, whatever the number of threads.
_BLOCK, _BLOCKS = 16384, 16

#: Rounds of label propagation: in blocks (two cut no less), there where neighbours have neighbours in common, and
#: around hubs.
_ROUNDS, _DENSE_ROUNDS, _HUB_ROUNDS = 1, 3, 3

#: Graphs without edge weights are matched where vertices have so many neighbours at most, on average.
_FEW = 4.5


class Clusters(NamedTuple):
    """Clusters in the making, none heavier than `heaviest`.

    match : (nvtxs,) int32, -1 where a vertex is alone
    leader : (nvtxs,) int32, leader of the cluster of each vertex
    cwgt : (nvtxs,) int64, weight of each cluster by leader
    cmap : (nvtxs,) int32, the vertices of each block that are left over, from its first place on; in the end the number
        of the cluster of each vertex
    """

    match: Array
    leader: Array
    cwgt: Array
    cmap: Array
    heaviest: int


def heaviest_cluster(g: Level, stop: int) -> int:
    """What a cluster may weigh where a graph is to be coarsened to `stop` vertices."""
    return max(1, int(kernels.HEAVIEST * int(g.vwgt.sum()) / stop))


def memory_for(nvtxs: int, heaviest: int) -> Clusters:
    """Memory of clusters."""
    cmap = pages(nvtxs, np.int32)  # first, as it stays
    return Clusters(pages(nvtxs, np.int32), pages(nvtxs, np.int32), pages(nvtxs, np.int64), cmap, heaviest)


def cluster(g: Level, max_vwgt: int, shape: Shape, team: Team) -> tuple[Array, int]:
    """Clusters of at most `max_vwgt`: coarse map (nvtxs,) int32 and their number."""
    n = len(g.vwgt)
    ahead = team.take(g.adjncy)
    if ahead is not None and ahead[0].heaviest == max_vwgt and not len(g.origin):
        found, left = ahead
    else:
        found = memory_for(n, max_vwgt)
        left = _clusters(g, found, shape, team)
    match, leader, cwgt, cmap, _ = found
    if kernels.absorb_singles(0, n, np.concatenate(left), g, match, max_vwgt, leader, cwgt) > n // 8:
        kernels.pair_two_hop(g, match, max_vwgt, leader, cwgt, np.full(n + 1, -1, np.int32))
    return cmap, int(contraction.number_clusters(leader, cmap))


def _clusters(g: Level, found: Clusters, shape: Shape, team: Team) -> list[Array]:
    """Make clusters of the kind that suits the graph; the vertices that are left over, by block, ascending."""
    n = len(g.vwgt)
    if shape.grid:
        match_layers(g, found.heaviest, found.match, team)
        return team.run(_lead, n, g, found)
    if shape.skewed:
        order = np.argsort(np.diff(g.xadj), kind="stable").astype(np.int32)
        label_propagation.propagate_around_hubs(g, order, found.heaviest, _HUB_ROUNDS, *found[:3],
                                                np.empty(n, np.int64), np.empty(n, np.int32), np.empty(n, np.int32))
        return [_singles(0, n, found)]
    blocks = blocks_of(n)
    if begins_with_pairs(g, shape):
        return team.run(pair_block, n, g, found, bounds=blocks)
    size = int(np.diff(blocks).max())

    def scratch() -> tuple[Array, ...]:
        return pages(size, np.int64), pages(size, np.int32), pages(size, np.int32)

    return team.run(_label_block, n, g, found, shape.dense, scratch=scratch, bounds=blocks)


def blocks_of(nvtxs: int) -> Array:
    """Where vertices are cut into blocks, (nblocks + 1,) int64."""
    count = int(np.clip(nvtxs // _BLOCK, 1, _BLOCKS))
    return np.arange(count + 1) * nvtxs // count


def begins_with_pairs(g: Level, shape: Shape) -> bool:
    """Whether clusters of a graph begin with pairs inside blocks."""
    usual = not (shape.grid or shape.skewed or shape.dense)
    return usual and not len(g.ewgt) and len(g.adjncy) <= _FEW * len(g.vwgt)


def pair_block(lo: int, hi: int, g: Level, found: Clusters) -> Array:
    """Pairs inside the block lo..hi, and who is left over there with them; those who still are."""
    _match(lo, hi, g, found.heaviest, found.match)
    return _absorb(lo, hi, g, found, _lead(lo, hi, g, found))


def _label_block(lo: int, hi: int, g: Level, found: Clusters, dense: bool, *scratch: Array) -> Array:
    """Clusters by label propagation inside the block lo..hi, and who is left over there; those who still are."""
    label_propagation.propagate_labels(lo, hi, g, found.heaviest, _DENSE_ROUNDS if dense else _ROUNDS, dense,
                                       *found[:3], *scratch)
    return _absorb(lo, hi, g, found, _singles(lo, hi, found))


def _lead(lo: int, hi: int, g: Level, found: Clusters) -> Array:
    """Clusters of the pairs in lo..hi; those who are alone."""
    kernels.lead_pairs(lo, hi, g, *found[:3])
    return _singles(lo, hi, found)


def _absorb(lo: int, hi: int, g: Level, found: Clusters, singles: Array) -> Array:
    """Let those in the block lo..hi that are alone join a cluster there, as most can; those who still are.  A lone
    block is left for later.
    """
    match, leader, cwgt, _, heaviest = found
    if hi - lo == len(match):
        return singles
    left: Array = singles[: kernels.absorb_singles(lo, hi, singles, g, match, heaviest, leader, cwgt)]
    return left


def _match(lo: int, hi: int, g: Level, max_vwgt: int, match: Array, upto: int | None = None) -> int:
    """Match the vertices lo..hi in order, with partners in lo..upto, or lo..hi; the first that is not visited."""
    match[lo:hi] = -1
    return int(kernels.match_in_order(lo, hi, hi if upto is None else upto, g, max_vwgt, match))


def _singles(lo: int, hi: int, found: Clusters) -> Array:
    """Vertices in lo..hi that are alone, (nsingles,) int32; in the memory of `cmap`."""
    return found.cmap[lo : lo + int(kernels.list_singles(lo, hi, found.match, found.cmap))]


def match_layers(g: Level, max_vwgt: int, match: Array, team: Team) -> None:
    """Matching in the order of the vertices, by all threads where no pair lies between their pieces.

    In a grid that is numbered along its rows a cell has its neighbour in the next layer behind all others.  Layers are
    matched two by two, if not each by itself: pieces of an even number of them need not know of each other.  No vertex
    takes one before its piece, which would have taken it.
    """
    n, pieces = len(match), team.pieces(len(match))
    layers = 2 * int(g.adjncy[: g.xadj[min(1, n)]].max(initial=0)) or max(n, 1)
    bounds = np.unique(np.append(np.arange(pieces) * n // pieces // layers * layers, n))
    reached = team.run(_match, n, g, max_vwgt, match, n, bounds=bounds)
    for end, at in zip(bounds[1:], reached, strict=True):
        if at < end:
            # what lies behind depends on it
            match[end:] = -1
            kernels.match_in_order(at, n, n, g, max_vwgt, match)
            return
