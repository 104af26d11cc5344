"""An order of the vertices in which neighbours are close in memory."""

from __future__ import annotations

from functools import partial
from itertools import pairwise
from typing import Any

import numpy as np

from ..kernels import Level, survey
from ..kernels.memory import pages
from ..kernels.weights import type_of
from ..parallel import Background
from .clustering import begins_with_pairs, blocks_of, heaviest_cluster, memory_for, pair_block
from .rounds import Team
from .shape import Shape

Array = np.ndarray[Any, Any]


def renumber(g: Level, shape: Shape, team: Team | None = None, stop: int = 1) -> tuple[Level, Array, Array]:
    """The graph in breadth-first order, which makes neighbours neighbours in memory.

    In a grid it begins at a vertex with fewest neighbours, a corner, from which fronts are flat.

    Parameters
    ----------
    team : Team, optional
        The search is the work of one thread.  Where clusters begin with pairs inside blocks, another makes those of
        each block as soon as that is numbered, and the team keeps them for
        :func:`copart.partitioner.clustering.cluster`.
    stop : int
        Vertices to which the graph is to be coarsened, which tells how heavy clusters may be.

    Returns
    -------
    level : Level
    order : (nvtxs,) int32
        The vertices in that order.
    place : (nvtxs,) int32
        Place of each vertex in it, so that ``values[place]`` are values of the new graph by old vertex.
    """
    n, m = len(g.vwgt), int(g.xadj[-1] - g.xadj[0])  # rows may begin anywhere
    order, place, xadj = pages(n + 1, np.int32), pages(n, np.int32), pages(n + 1, np.int64)
    adjncy, ewgt = pages(m, np.int32), pages(m if len(g.ewgt) else 0, type_of(g))
    first = int(np.diff(g.xadj).argmin()) if shape.grid and n else 0
    at = np.array([0, 0, -1])
    # mostly all are the same, which is known sooner than they are put in order
    alike = [not len(a) or not np.ptp(a) for a in (g.vwgt, g.fixed, g.origin, g.size)]
    now = g._replace(xadj=xadj, adjncy=adjncy, ewgt=ewgt)
    if team is None or team.threads == 1 or not (all(alike) and begins_with_pairs(now, shape)):
        survey.number_breadth_first(g, first, n, at, order, place, xadj, adjncy, ewgt)
    else:
        found = memory_for(n, heaviest_cluster(g, stop))
        with Background(2) as pairs:
            for lo, hi in pairwise(blocks_of(n).tolist()):
                survey.number_breadth_first(g, first, hi, at, order, place, xadj, adjncy, ewgt)
                pairs.begin(partial(pair_block, lo, hi, now, found))
            team.keep(adjncy, (found, pairs.results()))
    order = order[:n]
    vwgt, fixed, origin, size = (a if same else a[order]
                                 for a, same in zip((g.vwgt, g.fixed, g.origin, g.size), alike, strict=True))
    return now._replace(vwgt=vwgt, fixed=fixed, origin=origin, size=size), order, place
