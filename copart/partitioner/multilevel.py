"""The three stages of KGGGP-ML on kernel levels: coarsen, partition the coarsest graph, uncoarsen and refine."""

from __future__ import annotations

import logging
from typing import Any

import numpy as np

from ..arrays import VERTEX
from ..kernels import Level, Pull
from ..kernels.contraction import pull_down
from ..options import Config
from .coarsening import Shape, carry, coarsen, coarsen_planar, coarsest_size, first_size, unpacked
from .coordinates import centroids
from .flows import refine_pairs
from .growing import best_growth
from .refinement import Refiner, cut_of
from .rounds import Team

logger = logging.getLogger(__name__)

Array = np.ndarray[Any, Any]

#: The finest levels, which are not warmed where minimum cuts follow.
_FINE = 3

#: On grids vertices may have that share of the neighbours up to which minimum cuts are sought: between hexahedra,
#: unlike quadrilaterals, warm rounds find the same walls in less time.
_ON_GRIDS = 0.6


def multilevel(
    level: Level,
    pull: Pull,
    limit: Array,
    config: Config,
    seed: int,
    team: Team,
    shape: Shape,
    coords: Array | None = None,
) -> Array:
    """Coarsen, partition the coarsest graph, uncoarsen and refine; `coords` (nvtxs, d) give one more start."""
    k = len(limit)
    found = coarsen(level, first_size(config, len(level.vwgt), k, shape), shape, team, least=k, pack=True)
    levels, maps, _ = coarsen_planar(found, config, k, shape, team)
    del found
    centres = None if coords is None else centroids(coords, levels, maps)
    room = loosened(limit, levels[-1].vwgt) if maps else limit
    part = best_growth(unpacked(levels[-1]), pull, room, config, len(level.vwgt), seed * 64, team, centres, shape)
    return _uncoarsen(levels, maps, pull, part, limit, config, seed, team, shape)


def cycle(
    level: Level,
    pull: Pull,
    part: Array,
    limit: Array,
    config: Config,
    seed: int,
    team: Team,
    shape: Shape,
    within: Array | None = None,
) -> Array:
    """One V-cycle: coarsen inside the parts, or inside the finer classes `within`; refine on the way back up."""
    k = len(limit)
    levels, maps, _ = coarsen(level, coarsest_size(config, k), shape, team, least=k,
                              within=part if within is None else within, pack=True)
    for cmap in maps:
        part = carry(part, cmap, int(cmap.max()) + 1)
    return _uncoarsen(levels, maps, pull, part, limit, config, seed, team, shape)


def loosened(limit: Array, vwgt: Array) -> Array:
    """Limits for a coarse level: room for one of its vertices at least, or balance would be bought there with cut."""
    slack = (int(limit.sum()) - int(vwgt.sum())) // len(limit)
    return limit + max(0, int(vwgt.max()) - slack)


def flow_levels(finest: Level, config: Config, shape: Shape) -> int:
    """On how many of the finest levels minimum cuts are sought; `finest` is the input graph."""
    most = config.flow_degree * (_ON_GRIDS if shape.grid else 1.0)
    crowded = len(finest.adjncy) > most * len(finest.vwgt)
    # the networks know nothing of affinities, and would trade them for cut
    return config.flow_levels if config.reach and not crowded and not len(finest.origin) else 0


def _uncoarsen(
    levels: list[Level], maps: list[Array], pull: Pull, part: Array, limit: Array, config: Config, seed: int,
    team: Team, shape: Shape,
) -> Array:
    """Refine on every level from the coarsest to the input graph; frees each level once left."""
    cut = cut_of(levels[-1], part)
    reached = flow_levels(levels[0], config, shape)
    while True:
        depth = len(levels) - 1
        g = unpacked(levels[-1])
        team.tell("refining", len(part))
        room = loosened(limit, g.vwgt) if depth else limit
        refiner = Refiner(g, pull, part, room, team, seed + depth, shape.skewed)
        cut -= refiner.improve(config, cut, config.cooling_fine if reached and depth < _FINE else None)
        if depth < reached and refiner.excess == 0:
            cut -= refine_pairs(g, part, room, team, config.rounds, config.reach, config.share)
        logger.debug("level %d: %d vertices, cut %d after %d rounds", depth, len(part), cut, refiner.now)
        if depth == 0:
            return part
        levels.pop()
        del g, refiner  # which have the level, too
        cmap = maps.pop()
        fine = np.empty(len(cmap), VERTEX)
        team.run(pull_down, len(cmap), cmap, part, fine)
        part = fine
