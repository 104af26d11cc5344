"""The core of a graph with hubs: as many vertices as a part holds with as many edges between them as can be found.

Greedy peeling (Charikar 2000): the vertex with the least degree in what is left goes, again and again.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from ..arrays import VERTEX, WEIGHT
from ..graph.rows import induced_rows
from ..kernels import Level
from ..kernels.cores import peel

Array = np.ndarray[Any, Any]


def find_core(g: Level, most: int, least: float) -> Array | None:
    """The core that weighs `most` at the most.

    Parameters
    ----------
    g : Level
    most : int
    least : float
        Weight of edges that it must hold.

    Returns
    -------
    (nvtxs,) bool or None
        Whether a vertex is in it; none where it holds fewer edges.
    """
    n = len(g.vwgt)
    inside = np.empty(n, np.uint8)
    edges = peel(g, most, inside, np.empty(n, WEIGHT), np.empty(n, WEIGHT), np.empty(n, VERTEX), np.empty(n, VERTEX))
    return inside.view(bool) if edges >= least else None


def induced(g: Level, vertices: Array) -> Level:
    """The subgraph of ascending `vertices` (nsub,) int32, without fixed vertices and affinities."""
    xadj, adjncy, ewgt = induced_rows(g.xadj, g.adjncy, g.ewgt, vertices)
    none = np.empty(0, VERTEX)
    return Level(xadj=xadj, adjncy=adjncy, ewgt=ewgt, vwgt=g.vwgt[vertices], fixed=none, origin=none,
                 size=np.empty(0, WEIGHT))
