"""Partitions bred from one another: what two good partitions agree on is kept, the rest is searched anew.

Combine operator of KaFFPaE (Sanders & Schulz 2012): coarsen without merging across any
border of either parent, start from the better one, refine on the way up; the child is never worse.
"""

from __future__ import annotations

import logging
import time

import numpy as np

from ..kernels import Level, Pull
from ..kernels.rng import mix
from ..options import Config
from .growing import affinity_gain
from .multilevel import Array, cycle, multilevel
from .refinement import cut_of, excess_of
from .rounds import Team
from .shape import Shape

logger = logging.getLogger(__name__)


def evolve(
    level: Level,
    pull: Pull,
    limit: Array,
    config: Config,
    seed: int,
    team: Team,
    shape: Shape,
    coords: Array | None = None,
    time_limit: float | None = None,
) -> Array:
    """The best partition of a population of `config.members` after `config.generations` children.

    Parameters
    ----------
    coords : (nvtxs, d) float64, optional
        Coordinates, for one more start of every member.
    time_limit : float, optional
        Seconds to spend instead of the configured number of children: no child is started that would
        probably end later.  The first member is always finished.

    Returns
    -------
    (nvtxs,) int32
        Its parts.
    """
    if config.members == 1:
        return multilevel(level, pull, limit, config, seed, team, shape, coords)
    begun = time.monotonic()
    longest = 0.0
    members: list[tuple[tuple[int, int], Array]] = []

    def join(part: Array, since: float) -> None:
        nonlocal longest
        longest = max(longest, time.monotonic() - since)
        members.append(((excess_of(level, part, limit), cut_of(level, part) - affinity_gain(level, pull, part)), part))
        members.sort(key=lambda m: m[0])

    def in_time() -> bool:
        return time_limit is None or time.monotonic() - begun + longest < time_limit

    for i in range(config.members):
        if members and not in_time():
            break
        since = time.monotonic()
        part = multilevel(level, pull, limit, config, seed + 104729 * i, team, shape, coords)
        join(part, since)
    child = 0
    while len(members) > 1 and in_time() and (time_limit is not None or child < config.generations):
        child += 1
        since = time.monotonic()
        first, second = _parents(len(members), seed + child)
        a, b = members[first][1], members[second][1]
        within = np.unique(a.astype(np.int64) * len(limit) + b, return_inverse=True)[1].astype(np.int32)
        part = cycle(level, pull, a.copy(), limit, config, seed + 7919 * child, team, shape, within)
        join(part, since)
        logger.debug("child %d of %d and %d: %s", child, first, second, members[0][0])
        # the youngest pushes out the worst; twins would stop the search
        keys = [m[0] for m in members]
        twin = next((i for i in range(1, len(keys)) if keys[i] == keys[i - 1]), len(keys) - 1)
        del members[twin]
    return members[0][1]


def _parents(count: int, salt: int) -> tuple[int, int]:
    """Two different members, the better one first; the best ones are drawn more often."""
    first = min(mix(1, salt) % count, mix(2, salt) % count)
    second = (first + 1 + mix(3, salt) % (count - 1)) % count
    return int(min(first, second)), int(max(first, second))
