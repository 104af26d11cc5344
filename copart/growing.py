"""Initial partitions of the coarsest graph: bisected or grown (KGGGP), best kept after refinement.

Each try grows all parts at once from their seeds: the fixed vertices of a part,
else a vertex far from all others on the first try, and on later tries the
deepest vertex of the part in the try before, which rounds the parts off.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from .bisection import recursive_bisection
from .config import Config
from .kernels import Level, Pull
from .kernels import growing as kernels
from .refinement import Refiner, cut_of
from .rounds import Team

Array = np.ndarray[Any, Any]

#: Every so many tries the seeds are drawn anew instead of taken from the centres of the last try.
_RESEED = 4


def grow_kgggp(g: Level, pull: Pull, room: Array, seeds: Array | None, salt: int) -> Array:
    """One k-way greedy graph growing.

    Parameters
    ----------
    room : (nparts,) int64
        Weight up to which a part grows.
    seeds : (nparts,) int32, optional
        A vertex for each part that has no fixed one, -1 for none.
    salt : int

    Returns
    -------
    (nvtxs,) int32
        Parts; all vertices have one.
    """
    n, k = len(g.vwgt), len(room)
    part = g.fixed.copy() if len(g.fixed) else np.full(n, -1, np.int32)
    held = part >= 0
    population = np.bincount(part[held], minlength=k).astype(np.int64)
    if seeds is not None:
        for p in np.flatnonzero((population == 0) & (seeds >= 0)):
            if part[seeds[p]] < 0:
                part[seeds[p]] = p
                population[p] = 1
    pwgt = np.zeros(k, np.int64)
    held = part >= 0
    np.add.at(pwgt, part[held], g.vwgt[held])
    dist, queue = np.empty(n, np.int32), np.empty(n, np.int32)
    kernels.spread_seeds(g, part, pwgt, population, dist, queue, salt)
    rows = int(np.diff(pull.ptr)[g.origin].sum()) if len(g.origin) else 0
    entries = len(g.adjncy) + n + rows + 1
    kernels.grow(g, pull, part, pwgt, room, salt, np.empty(entries, np.int64), np.empty(entries, np.int64),
                 np.empty(entries, np.int32), np.empty(entries, np.int32))
    return part


def best_growth(g: Level, pull: Pull, limit: Array, config: Config, salt: int, team: Team) -> Array:
    """The best of several bisected or grown, and refined, partitions: least excess, then least cut, then first."""
    n, k = len(g.vwgt), len(limit)
    best: tuple[int, int] | None = None
    kept = seeds = None
    # recursive bisection knows neither affinities nor which fixed part needs which of unequal limits
    bisections = 0 if len(g.origin) or (len(g.fixed) and limit.min() < limit.max()) else config.bisections
    # growing all parts at once pays where fixed vertices or affinities guide it
    tries = config.tries if len(g.origin) or len(g.fixed) or not bisections else 0
    for t in range(bisections + tries):
        if t < bisections:
            part = recursive_bisection(g, pull, limit, salt + t)
        else:
            part = grow_kgggp(g, pull, limit, seeds if (t - bisections) % _RESEED else None, salt + t)
        refiner = Refiner(g, pull, part, limit, team, salt + t)
        refiner.improve(config.patience, config.warmth, cut_of(g, part))
        key = (refiner.excess, cut_of(g, part) - affinity_gain(g, pull, part))
        if best is None or key < best:
            best, kept = key, part
        seeds = np.empty(k, np.int32)
        kernels.find_centres(g, part, seeds, np.empty(n, np.int32), np.empty(n, np.int32))
    assert kept is not None
    return kept


def affinity_gain(g: Level, pull: Pull, part: Array) -> int:
    """What the partition gains from the affinity table."""
    if not len(g.origin):
        return 0
    rows = np.zeros((len(pull.ptr) - 1, int(max(part.max(), pull.idx.max(initial=0))) + 1), np.int64)
    rows[np.repeat(np.arange(len(pull.ptr) - 1), np.diff(pull.ptr)), pull.idx] = pull.val
    return int((rows[g.origin, part] * g.size).sum())
