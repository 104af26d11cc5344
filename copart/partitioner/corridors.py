"""Corridors: free vertices that join the fixed vertices of a part where these lie apart.

Tetrahedra with a facet on a surface hardly share facets with one another.  Where only they are fixed, a partition
leaves many of them alone among cells of other parts.  So every free vertex is first given to its nearest fixed one;
where the surroundings of two fixed vertices of one part meet, a way joins them that crosses no other part's
surroundings.  A spanning forest of the shortest of these ways is fixed, too.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from ..arrays import VERTEX, frozen, sums
from ..kernels import Level
from ..kernels.corridors import Search, dig
from ..kernels.csr import part_pieces, spread_labels

Array = np.ndarray[Any, Any]


def with_corridors(g: Level, limit: Array) -> Array:
    """The fixed vertices and those on corridors between them, shortest first and as far as a part has room.

    Parameters
    ----------
    g : Level
        With fixed vertices.
    limit : (nparts,) int64
        Weight that a part may have.

    Returns
    -------
    (nvtxs,) int32
        Part of each fixed vertex, -1 elsewhere.
    """
    n = len(g.vwgt)
    sources = np.flatnonzero(g.fixed >= 0).astype(VERTEX)
    home = g.fixed[sources]
    piece, label, dist, queue = (np.empty(n, VERTEX) for _ in range(4))
    part_pieces(frozen(g.xadj), frozen(g.adjncy), frozen(g.fixed), piece, queue)
    here, piece_of = np.unique(piece[sources], return_inverse=True)
    part: Array = g.fixed.copy()
    if len(here) == len(np.unique(home)):
        return part
    search = Search(label, dist, home, piece_of.astype(VERTEX))
    spread_labels(frozen(g.xadj), frozen(g.adjncy), frozen(sources), n, label, dist, queue)
    u = np.repeat(np.arange(n, dtype=VERTEX), np.diff(g.xadj))
    v = g.adjncy
    # a vertex without a label is in a piece of the graph without fixed vertices, and so are its neighbours
    meet = np.flatnonzero((u < v) & (label[u] != label[v]))
    u, v = u[meet], v[meet]
    meet = np.flatnonzero((home[label[u]] == home[label[v]]) & (search.piece[label[u]] != search.piece[label[v]]))
    u, v = u[meet], v[meet]
    order = np.argsort(dist[u] + dist[v], kind="stable")
    dig(u[order], v[order], g, search, limit - sums(home, g.vwgt[sources], len(limit)),
        np.arange(len(here), dtype=VERTEX), part)
    return part


__all__ = ["with_corridors"]
