"""Initial partitions of the coarsest hypergraph: recursive bisection of a graph that stands for it, best of several."""

from __future__ import annotations

from typing import Any

import numpy as np

from ...arrays import OFFSET, VERTEX, WEIGHT
from ...kernels import Level, Pull
from ...kernels import umpa_coarsening as kernels
from ...kernels.umpa_state import Nets
from ...kernels.weights import narrowed
from ...options import QUICK
from ..bisection import recursive_bisection
from ..growing import best_growth
from ..rounds import Team
from ..shape import Shape
from .objectives import Objective
from .search import Search

Array = np.ndarray[Any, Any]

#: What bisections are told of a graph of nets.
_NO_GRID = Shape(grid=False, dense=False, far=False)

#: Nets of more pins become stars around their sources.
_CLIQUE = 40

#: Weight of an edge of a net of median cost and two pins, unless all would weigh more than this.
_UNIT, _TOTAL = 60.0, 2.0**58


def graph_of(h: Nets, longest: int = _CLIQUE) -> Level:
    """A graph whose cut stands for the volume: nets of up to `longest` pins as cliques, others as stars."""
    n = len(h.vwgt)
    conn, near, xadj = np.zeros(n), np.empty(n, VERTEX), np.empty(n + 1, OFFSET)
    kernels.clique_degrees(h, longest, conn, near, xadj)
    adjncy, ewgt = np.empty(xadj[-1], VERTEX), np.empty(xadj[-1], WEIGHT)
    unit = 1.0
    if len(h.cost):
        # a net adds at most four times its cost per pin
        unit = min(_UNIT / float(np.median(h.cost)), _TOTAL / float((h.cost * np.diff(h.xpins)).sum(dtype=np.float64)))
    kernels.clique_edges(h, longest, conn, near, unit, adjncy, ewgt)
    return Level(xadj=xadj, adjncy=adjncy, ewgt=narrowed(ewgt), vwgt=h.vwgt, fixed=h.fixed, origin=np.zeros(0, VERTEX),
                 size=np.zeros(0, WEIGHT))


def no_pull() -> Pull:
    """No vertex is drawn to any part."""
    return Pull(ptr=np.zeros(1, OFFSET), idx=np.zeros(0, VERTEX), val=np.zeros(0, WEIGHT))


def best_start(
    h: Nets, limit: Array, objective: Objective, depth: int, starts: int, seed: int, team: Team
) -> Search:
    """The best of several partitions after UMPa's passes: least excess, then the metrics of the objective.

    Parameters
    ----------
    limit : (nparts,) int64
    depth : int
        Number of the level.
    starts : int
        Partitions made.
    """
    graph = graph_of(h)
    salts = [seed * 64 + t for t in range(starts)]
    if len(graph.fixed) and limit.min() < limit.max():
        # recursive bisection does not know which fixed part needs which of the limits
        made = [best_growth(graph, no_pull(), limit, QUICK, len(h.vwgt), salt, team, None) for salt in salts]
    else:
        made = recursive_bisection(graph, limit, salts, team, shape=_NO_GRID)

    def refined(t: int, part: Array) -> Search:
        search = Search(h, part, limit, objective, salts[t])
        search.passes(2**depth)
        return search

    found: list[Search] = team.spread(lambda t, _: refined(t, made[t]), len(made), [None] * team.threads)
    return min(found, key=lambda one: (one.excess, *one.values()))


__all__ = ["best_start", "graph_of", "no_pull"]
