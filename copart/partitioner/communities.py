"""Coarsening graphs with hubs inside communities, which a small cut hardly ever divides.

Clusters gather around hubs there, whatever these join: inside communities they do not tie together what lies apart
(Heuer & Schlag 2017).  Communities are those of the Louvain method (Blondel et al. 2008).
"""

from __future__ import annotations

from typing import Any

import numpy as np

from ..arrays import VERTEX, WEIGHT
from ..kernels import Level
from ..kernels.communities import move_to_communities
from ..kernels.contraction import pull_down
from .coarsening import Levels, coarsen, contract, unpacked
from .rounds import Team
from .shape import Shape

Array = np.ndarray[Any, Any]

#: Visits of every vertex, at most, on each level of the Louvain method.
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
    g = unpacked(level)._replace(fixed=none, origin=none, size=np.empty(0, WEIGHT))
    volume = np.add.reduceat(np.append(g.ewgt, 0), g.xadj[:-1]) if len(g.ewgt) else np.diff(g.xadj)
    volume = np.where(np.diff(g.xadj) > 0, volume, 0)
    # those of low degree first, as they have least choice; then as contraction numbers the communities
    order = np.argsort(np.diff(g.xadj), kind="stable").astype(VERTEX)
    maps: list[Array] = []
    while True:
        n = len(g.vwgt)
        community = np.empty(n, VERTEX)
        move_to_communities(g, order, volume, _ROUNDS, community, np.empty(n, WEIGHT), np.empty(n, WEIGHT),
                            np.empty(n, VERTEX))
        names, cmap = np.unique(community, return_inverse=True)
        maps.append(cmap.astype(VERTEX))
        if len(names) > _STALLED * n:
            break
        g = contract(g, maps[-1], len(names), team)
        volume = np.bincount(cmap, weights=volume).astype(WEIGHT)
        order = np.arange(len(names), dtype=VERTEX)
    found = maps.pop()
    while maps:
        fine = np.empty(len(maps[-1]), VERTEX)
        pull_down(0, len(fine), maps.pop(), found, fine)
        found = fine
    return found


__all__ = ["coarsen_communities", "find_communities"]
