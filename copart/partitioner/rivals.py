"""Several partitions refined beside one another: which is best tells only on finer levels.

What the coarsest graph cuts least is not what its levels cut least: of partitions in few parts the best may be several
per cent apart in the end, and are hardly so at first.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, NamedTuple

import numpy as np

from ..arrays import VERTEX
from ..kernels import Level, Pull
from ..kernels.contraction import pull_down
from ..kernels.memory import reuse
from ..options import Config
from .coarsening import unpacked
from .flows import cooling_at
from .refinement import Refiner, cut_of, loosened
from .rounds import Team

Array = np.ndarray[Any, Any]

#: On a level there are as many rivals as have, together, this share of the vertices of the input graph.  Half of it
#: would take a twentieth less time for a quarter of the gain, twice as much a twentieth more for next to nothing.
_SHARE = 0.25


class Rival(NamedTuple):
    """A partition and what it costs; the least is best, of equals the one found first."""

    excess: int
    """Weight above the limits."""
    cost: int
    """Its cut, less what it gains by affinity."""
    found: int
    """Its place in the order in which partitions were found."""
    part: Array
    """(nvtxs,) int32"""


def refine_rivals(
    rivals: list[Rival], g: Level, pull: Pull, room: Array, config: Config, cooling: int, salts: list[int], team: Team,
    skewed: bool = False,
) -> list[Rival]:
    """The rivals, refined in place, the best first.

    Parameters
    ----------
    rivals : list of Rival
        Their costs are those before; `excess` is not looked at.
    room : (nparts,) int64
        Largest weight of each part.
    cooling : int
        Rounds of it (:meth:`Refiner.improve`).
    salts : list of int
        Seed of the hashes of each.
    """

    def refine(i: int, members: Team) -> Rival:
        one = rivals[i]
        refiner = Refiner(g, pull, one.part, room, members, salts[i], skewed)
        cost = one.cost - refiner.improve(config, cut_of(g, one.part), cooling)
        return one._replace(excess=refiner.excess, cost=cost)

    return sorted(_each(refine, len(rivals), len(g.vwgt), team), key=lambda one: one[:3])


def _each(work: Callable[[int, Team], Rival], count: int, nvtxs: int, team: Team) -> list[Rival]:
    """``[work(0, members), ...]``: by all threads, one after the other, or, on small levels, side by side."""
    if team.threads == 1 or count == 1 or team.crew_size(nvtxs) > 1:
        return [work(i, team) for i in range(count)]
    with Team(1) as alone:
        return team.spread(work, count, [alone] * team.threads)


@reuse
def contest(
    rivals: list[Rival], levels: list[Level], maps: list[Array], pull: Pull, limit: Array, config: Config, seed: int,
    team: Team,
) -> Array:
    """The best of several partitions of the coarsest graph, on the first level where one is left.

    They are refined on every level, and those that cut most are given up, level by level, as levels grow.  Takes the
    coarser levels off `levels` and `maps`.

    Parameters
    ----------
    rivals : list of Rival
        Of the last level, refined unless there is one; the best first.
    config : Config
        What :func:`copart.partitioner.flows.flow_settings` made of it.
    """
    nvtxs = len(levels[0].vwgt)
    while len(rivals) > 1 and maps:
        depth, finer = len(levels) - 2, levels[-2]
        # minimum cuts take longest, and follow where one is left
        few = 1 if depth < config.flow_levels else max(1, int(_SHARE * nvtxs / len(finer.vwgt)))
        rivals = rivals[:few]
        if few == 1:
            break
        levels.pop()
        cmap = maps.pop()
        for i, one in enumerate(rivals):
            fine = np.empty(len(cmap), VERTEX)
            team.run(pull_down, len(cmap), cmap, one.part, fine)
            rivals[i] = one._replace(part=fine)
        g = unpacked(finer, team)
        rivals = refine_rivals(rivals, g, pull, loosened(limit, g.vwgt), config, cooling_at(depth, config),
                         [seed + depth] * len(rivals), team)
    return rivals[0].part
