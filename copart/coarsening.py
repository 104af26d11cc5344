"""Coarsening: shrink a graph level by level, keeping its shape, its fixed vertices and its balance.

Heavy-edge matching in the order of the vertices, then the vertices left over
join a neighbouring cluster, or pair up over a common neighbour (two-hop).
Contraction, on all threads, merges parallel edges.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from .kernels import Level
from .kernels import coarsening as kernels
from .rounds import Team


def cluster(g: Level, max_vwgt: int) -> tuple[np.ndarray[Any, Any], int]:
    """Clusters of at most `max_vwgt`: coarse map (nvtxs,) int32 and their number."""
    n = len(g.vwgt)
    match = np.full(n, -1, np.int32)
    kernels.match_in_order(g, max_vwgt, match)
    leader = np.where((match >= 0) & (match < np.arange(n)), match, np.arange(n)).astype(np.int32)
    cwgt = g.vwgt.copy()
    np.add.at(cwgt, leader[leader != np.arange(n)], g.vwgt[leader != np.arange(n)])
    kernels.absorb_singles(g, match, max_vwgt, leader, cwgt)
    single = int(np.count_nonzero(match < 0))
    if single > n // 8:
        kernels.pair_two_hop(g, match, max_vwgt, leader, cwgt, np.full(n + 1, -1, np.int32))
    cmap = np.empty(n, np.int32)
    count = kernels.number_clusters(leader, cmap)
    return cmap, int(count)


def contract(g: Level, cmap: np.ndarray[Any, Any], ncoarse: int, team: Team) -> Level:
    """The graph of the clusters; edge weights between two clusters are added."""
    n = len(g.vwgt)
    start = np.empty(ncoarse + 1, np.int64)
    members = np.empty(n, np.int32)
    kernels.list_members(cmap, start, members)
    begin = np.empty(ncoarse + 1, np.int64)
    kernels.row_bounds(g, start, members, begin)
    vwgt = np.empty(ncoarse, np.int64)
    fixed = np.empty(ncoarse if len(g.fixed) else 0, np.int32)
    origin = np.empty(ncoarse if len(g.origin) else 0, np.int32)
    size = np.empty(ncoarse if len(g.origin) else 0, np.int64)
    team.run(kernels.contract_vertices, ncoarse, g, start, members, vwgt, fixed, origin, size)

    # Untouched memory of these buffers is never resident: their true length is known only afterwards.
    adjncy = np.empty(len(g.adjncy), np.int32)
    ewgt = np.empty(len(g.adjncy), np.int64)
    length = np.empty(ncoarse, np.int64)
    pieces = team.pieces(ncoarse)
    bounds = (
        np.searchsorted(begin, np.arange(pieces + 1) * begin[-1] // pieces) if pieces > 1 else np.array([0, ncoarse])
    )
    bounds[-1] = ncoarse
    counts = team.run(
        kernels.contract_rows,
        ncoarse,
        g,
        cmap,
        start,
        members,
        begin,
        length,
        adjncy,
        ewgt,
        scratch=lambda: (np.empty(ncoarse, np.int64),),
        bounds=bounds,
    )
    top = counts[0]
    for i in range(1, pieces):
        at, count = begin[bounds[i]], counts[i]
        adjncy[top : top + count] = adjncy[at : at + count]
        ewgt[top : top + count] = ewgt[at : at + count]
        top += count
    xadj = np.zeros(ncoarse + 1, np.int64)
    np.cumsum(length, out=xadj[1:])
    return Level(xadj, adjncy[:top], ewgt[:top], vwgt, fixed, origin, size)
