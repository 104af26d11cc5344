"""Coarsening graphs with hubs inside communities, which a small cut hardly ever divides.

Clusters gather around hubs there, whatever these join: inside communities they do not tie together what lies apart
(Heuer & Schlag 2017).  Communities are those of the Louvain method (Blondel et al. 2008).
"""

from __future__ import annotations

from typing import Any

import numpy as np

from ..arrays import VERTEX, WEIGHT, frozen, sums
from ..kernels import Level
from ..kernels.clustering import Clusters, louvain_queue
from ..kernels.weights import EDGE_WEIGHT
from .coarsening import Levels, carry_down, coarsen, contract, unpacked
from .rounds import Team
from .shape import Shape

Array = np.ndarray[Any, Any]

#: Visits of every vertex, on average and at most, on each level of the Louvain method.
_ROUNDS = 5

#: The method ends where so large a share of the communities stays apart.
_STALLED = 0.95


def coarsen_communities(level: Level, stop: int, shape: Shape, team: Team, least: int) -> Levels:
    """Levels by :func:`coarsen`, packed: inside communities as long as these shrink, and then of the whole graph."""
    inside = coarsen(level, stop, shape, team, least=least, within=find_communities(level, team), pack=True)
    if len(inside.levels[-1].vwgt) <= stop:
        return inside
    whole = coarsen(inside.levels[-1], stop, shape, team, least=least, pack=True)
    return Levels(inside.levels[:-1] + whole.levels, inside.maps + whole.maps, [])


def find_communities(level: Level, team: Team) -> Array:
    """The community of each vertex, (nvtxs,) int32 from 0 on."""
    none = np.empty(0, VERTEX)
    g = unpacked(level, team)._replace(fixed=none, origin=none, size=np.empty(0, WEIGHT))
    if not len(g.ewgt):
        g = g._replace(ewgt=np.ones(len(g.adjncy), EDGE_WEIGHT))
    ends = np.concatenate([[0], np.cumsum(g.ewgt)])[g.xadj]
    degree, whole = np.diff(ends), int(g.vwgt.sum())
    # those of few edges first, as they have least choice; then as contraction numbers the communities
    order = np.argsort(np.diff(g.xadj), kind="stable").astype(VERTEX)
    maps: list[Array] = []
    while True:
        n, found = len(g.vwgt), alone(degree, g.vwgt)
        # the kernel is compiled for graphs that nothing changes
        seen = g._replace(xadj=frozen(g.xadj), adjncy=frozen(g.adjncy), ewgt=frozen(g.ewgt), vwgt=frozen(g.vwgt))
        louvain_queue(seen, max(int(ends[-1]), 1), whole, _ROUNDS, order, np.ones(n, np.bool_), found)
        names, cmap = np.unique(found.cluster, return_inverse=True)
        maps.append(cmap.astype(VERTEX))
        if len(names) > _STALLED * n:
            break
        g = contract(g, maps[-1], len(names), team)
        degree = sums(cmap, degree, len(names))
        order = np.arange(len(names), dtype=VERTEX)
    community = maps.pop()
    while maps:
        community = carry_down(community, maps.pop())
    return community


def alone(degree: Array, vwgt: Array) -> Clusters:
    """Every vertex a cluster of its own, from weighted degrees and weights (nvtxs,) int64."""
    n = len(degree)
    return Clusters(cluster=np.arange(n, dtype=VERTEX), degree=degree, weight=vwgt.copy(), total=degree.copy(),
                    link=np.zeros(n, WEIGHT), touched=np.empty(n, VERTEX))


__all__ = ["alone", "coarsen_communities", "find_communities"]
