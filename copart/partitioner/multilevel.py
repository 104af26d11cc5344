"""The three stages of KGGGP-ML on kernel levels: coarsen, partition the coarsest graph, uncoarsen and refine.

Graphs with hubs are partitioned around their core, too, where no communities hold their edges, and refined by k-way FM,
a little on coarse levels and most at last.
"""

from __future__ import annotations

import logging
from dataclasses import replace
from typing import Any

import numpy as np

from ..arrays import VERTEX
from ..kernels import Level, Pull
from ..kernels.contraction import pull_down
from ..kernels.memory import pages, reuse
from ..kernels.stages import stage
from ..options import Config
from .coarsening import carry, coarsen, coarsen_planar, coarsest_size, first_size, unpacked
from .communities import coarsen_communities
from .coordinates import centroids
from .cores import find_core, induced
from .flows import cooling_at, flow_settings, refine_pairs
from .growing import best_growth
from .multiconstraint.refinement import Refiner as KwayRefiner
from .refinement import Refiner, cut_of, excess_of, loosened
from .rounds import Team
from .shape import Shape, look_at

logger = logging.getLogger(__name__)

Array = np.ndarray[Any, Any]

#: Coarsest graphs around hubs may be so many times smaller: the same cut in a tenth less time.  Those within bisections
#: have so many vertices, at most: lower cuts than with twice as many.
_SMALLER, _HALVED = 2, 20

#: On the coarse levels of skewed graphs k-way FM makes so many times fewer rounds than at the end.
_LESS = 4

#: On skewed graphs a part is made of the core where that holds this many times the edges of a part on average, and
#: where this share of the edges is cut otherwise, as in networks at random.  Communities hold them in those of people,
#: pages and routers, and the core belongs to many of these.
_DENSER, _CUT_APART = 4, 0.55

#: K-way FM around hubs: a pass ends after so many moves without success, the vertices over this; and how much looser
#: limits are in the first round, as a share of them.
_STALL, _LOOSE = 200, 0.05


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
    part = _once(level, pull, limit, config, seed, team, shape, coords)
    if _has_hubs(level, shape):
        level = unpacked(level, team)
        if not len(level.fixed):
            part = _better_around_core(level, pull, part, limit, config, seed, team)
        _refine_around_hubs(level, part, limit, config.hub_rounds)
        for turn in range(config.hub_cycles):
            again = cycle(level, pull, part.copy(), limit, config, seed + 7919 * (turn + 1), team, shape)
            part = _better(level, limit, part, again)
    return part


def _has_hubs(level: Level, shape: Shape) -> bool:
    """Whether a graph is refined by k-way FM, which knows nothing of affinities."""
    return shape.skewed and not len(level.origin)


def _better(level: Level, limit: Array, *parts: Array) -> Array:
    """The partition with least weight above the limits, then least cut."""
    return min(parts, key=lambda part: (excess_of(level, part, limit), cut_of(level, part)))


@stage("refining around hubs")
def _refine_around_hubs(level: Level, part: Array, limit: Array, rounds: int) -> None:
    """Lower the cut by k-way FM, in place; of affinities that knows nothing."""
    if rounds:
        KwayRefiner(level, level.vwgt[:, None], limit[:, None], part, _STALL).improve(rounds, _LOOSE)


def _tightened(level: Level, part: Array, limit: Array, anywhere: bool = False) -> Array:
    """Move vertices out of parts over their limits, in place, and return the limits that hold then.

    Around hubs weights differ, and most parts have light vertices to give away: room for the heaviest, as in
    :func:`loosened`, would be filled, and emptied only where cuts are dear.  They go one after the other, as many
    follow each.
    """
    balanced = KwayRefiner(level, level.vwgt[:, None], limit[:, None], part)
    balanced.rebalance(anywhere)
    held: Array = np.maximum(limit, balanced.loads.pwgts[:, 0])
    return held


def _better_around_core(
    level: Level, pull: Pull, part: Array, limit: Array, config: Config, seed: int, team: Team
) -> Array:
    """`part`, or a partition around the core of the graph that is better: less weight above the limits, or less cut."""
    cut = cut_of(level, part)
    whole = (int(level.ewgt.sum()) if len(level.ewgt) else len(level.adjncy)) // 2
    if cut < _CUT_APART * whole:
        return part
    other = _around_core(level, pull, limit, config, seed, team, whole - cut)
    if other is None:
        return part
    # without the core many vertices have no neighbours left
    _tightened(level, other, limit, anywhere=True)
    return _better(level, limit, part, other)


def _around_core(
    level: Level, pull: Pull, limit: Array, config: Config, seed: int, team: Team, inside: int
) -> Array | None:
    """A partition whose largest part is the core of the graph; none where that is hardly denser than parts that hold
    edges of the weight `inside`.

    Where hubs know one another, as in networks of people, pages and routers, most edges may lie among the vertices of
    one part.  Clusters gather around hubs, each with its neighbours, and keep them apart for good.
    """
    k, largest = len(limit), int(limit.argmax())
    core = find_core(level, int(limit[largest]), _DENSER * inside / k)
    if core is None:
        return None
    rest = np.flatnonzero(~core).astype(VERTEX)
    others = np.delete(np.arange(k, dtype=VERTEX), largest)
    if len(rest) < k - 1 or int(level.vwgt[rest].sum()) > int(limit[others].sum()):
        return None
    g = induced(level, rest)
    part = np.full(len(core), largest, VERTEX)
    part[rest] = others[_once(g, pull, limit[others], config, seed, team, look_at(g))] if k > 2 else others[0]
    return part


def _once(
    level: Level, pull: Pull, limit: Array, config: Config, seed: int, team: Team, shape: Shape,
    coords: Array | None = None,
) -> Array:
    """One multilevel partition."""
    k = len(limit)
    if shape.skewed:
        config = replace(config, coarse_per_part=-(-config.coarse_per_part // _SMALLER),
                         coarse_least=-(-config.coarse_least // _SMALLER),
                         halving_least=min(config.halving_least, _HALVED))
    stop = first_size(config, len(level.vwgt), k, shape)
    with stage("coarsening"):
        found = (coarsen_communities(level, stop, shape, team, k) if shape.skewed
                 else coarsen(level, stop, shape, team, least=k, pack=True))
        levels, maps, _ = coarsen_planar(found, config, k, shape, team)
        del found
        centres = None if coords is None else centroids(coords, levels, maps)
    room = loosened(limit, levels[-1].vwgt) if maps else limit
    with stage("first partition"):
        part = best_growth(unpacked(levels[-1], team), pull, room, config, len(level.vwgt), seed * 64, team, centres,
                           shape, refined=False)
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
    with stage("coarsening"):
        levels, maps, _ = coarsen(level, coarsest_size(config, k), shape, team, least=k,
                                  within=part if within is None else within, pack=True)
        for cmap in maps:
            part = carry(part, cmap, int(cmap.max()) + 1)
    part = _uncoarsen(levels, maps, pull, part, limit, config, seed, team, shape)
    if _has_hubs(level, shape):
        _refine_around_hubs(unpacked(level, team), part, limit, config.hub_rounds)
    return part


@stage("refining")
@reuse
def _uncoarsen(
    levels: list[Level], maps: list[Array], pull: Pull, part: Array, limit: Array, config: Config, seed: int,
    team: Team, shape: Shape,
) -> Array:
    """Refine on every level from the coarsest to the input graph; frees each level once left."""
    cut = cut_of(levels[-1], part)
    config = flow_settings(levels[0], config, shape, len(limit))
    reached, hubs = config.flow_levels, _has_hubs(levels[0], shape)
    above = None
    while True:
        depth = len(levels) - 1
        team.grow()
        g = unpacked(levels[-1], team)
        team.tell("refining", len(part))
        room = loosened(limit, g.vwgt) if depth else limit
        if hubs:
            tight = _tightened(g, part, limit)
            room, cut = tight if depth else limit, cut_of(g, part)
        refiner = Refiner(g, pull, part, room, team, seed + depth, shape.skewed, above)
        cut -= refiner.improve(config, cut, cooling_at(depth, config))
        # only what Jet moves is listed
        listed = None if hubs else refiner.state.listed
        if hubs and depth and refiner.excess == 0 and config.hub_rounds >= _LESS:
            _refine_around_hubs(g, part, room, config.hub_rounds // _LESS)
            cut = cut_of(g, part)
        if depth < reached and refiner.excess == 0:
            known = None if hubs else refiner.state
            with stage("minimum cuts"):
                cut -= refine_pairs(g, part, room, team, config.rounds, config.reach, config.share, known)
            listed = None
        logger.debug("level %d: %d vertices, cut %d after %d rounds", depth, len(part), cut, refiner.now)
        if depth == 0:
            return part
        levels.pop()
        cmap = maps.pop()
        above = None if listed is None else (cmap, listed)
        del g, refiner  # which have the level, too
        # what is left in the end outlives the memory of levels
        fine = pages(len(cmap), VERTEX) if maps else np.empty(len(cmap), VERTEX)
        team.run(pull_down, len(cmap), cmap, part, fine)
        part = fine
