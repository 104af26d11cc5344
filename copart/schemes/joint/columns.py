"""A partition whose coupled parts are columns of vertices behind the interface.

Walls that run back from the borders on the interface leave every coupled part with the same depth, and so with coupled
weight in proportion to its weight: both are in balance at once, for any number of coupled parts.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from ...arrays import VERTEX
from ...graph import Graph
from ...kernels import Level
from ...metrics import edge_cut
from ...options import Config
from ...partitioner.affinity import finest
from ...partitioner.bisection import recursive_bisection
from ...partitioner.coordinates import recursive_coordinate_bisection
from ...partitioner.multilevel import multilevel
from ...partitioner.refinement import loosened
from ...partitioner.rounds import Team
from ...partitioner.shape import Shape, look_at
from .first import nearest

Array = np.ndarray[Any, Any]

FACES = 3
"""Partitions of the interface, of which the best is kept: a few per cent of the time of all the rest."""


def columns(g: Level, cells: Array, load: Array, limit: Array, bound: Array, config: Config, seed: int, team: Team,
            shape: Shape, coords: Array | None) -> Array:
    """The coupled vertices in the first parts, with them what lies behind, and all that is farther away in the rest.

    Parameters
    ----------
    g : Level
        Without fixed vertices.
    cells : (n,) int32
        The coupled vertices.
    load : (n,) int64
        Their coupled weights.
    limit : (nparts,) int64
        Largest weight of each part, aimed at.
    bound : (ncoupled,) int64
        Largest coupled weight of each part that has any, aimed at.
    config : Config
    seed : int
    team : Team
    shape : Shape
        Of the input graph.
    coords : (nvtxs, d) float64, optional
        What is far away is bisected by them: on cubes of hexahedra that is as good as by edges, in half the time.

    Returns
    -------
    (nvtxs,) int32
    """
    nparts, ncoupled = len(limit), len(bound)
    graph = Graph(g.xadj, g.adjncy, ewgt=g.ewgt if len(g.ewgt) else None, vwgt=g.vwgt)
    order = np.argsort(cells)
    cells = cells[order]
    sheet = _partitioned(graph.subgraph(cells), load[order], bound, config, seed, team)
    label, away = nearest(graph, cells, graph.nvtxs)
    front = _in_front(np.where(label < 0, graph.nvtxs, away), g.vwgt, ncoupled, limit)
    part = sheet[label]
    back = np.flatnonzero(~front)
    if nparts > ncoupled:
        part[back] = ncoupled
    if nparts > ncoupled + 1:
        level, _ = finest(graph.subgraph(back), nparts - ncoupled, None, None)
        if coords is not None:
            rest = recursive_coordinate_bisection(coords[back], level.vwgt, limit[ncoupled:])
        else:
            rest = recursive_bisection(level, limit[ncoupled:], [seed], team, shape=shape)[0]
        part[back] += rest
    return part.astype(VERTEX)


def _partitioned(sheet: Graph, load: Array, bound: Array, config: Config, seed: int, team: Team) -> Array:
    """The best of some partitions of the interface."""
    if len(bound) == 1:
        return np.zeros(sheet.nvtxs, VERTEX)
    level, pull = finest(Graph(sheet.xadj, sheet.adjncy, ewgt=sheet.ewgt, vwgt=load), len(bound), None, None)
    room, shape = loosened(bound, load), look_at(level)
    tries = [multilevel(level, pull, room, config, seed + t, team, shape) for t in range(FACES)]
    return min(tries, key=lambda one: edge_cut(sheet, one))


def _in_front(away: Array, weight: Array, ncoupled: int, limit: Array) -> Array:
    """(nvtxs,) bool what `ncoupled` parts hold of the vertices nearest to the interface: whole layers, if they fit."""
    total = int(weight.sum())
    goal = total * ncoupled / len(limit)
    depth = np.cumsum(np.bincount(away, weights=weight))
    last = int(np.argmin(np.abs(depth - goal)))
    if total - limit[ncoupled:].sum() <= depth[last] <= limit[:ncoupled].sum():
        return np.asarray(away <= last)
    order = np.argsort(away, kind="stable")
    front = np.zeros(len(away), np.bool_)
    front[order[:np.searchsorted(np.cumsum(weight[order]), goal, side="right")]] = True
    return front


__all__ = ["columns"]
