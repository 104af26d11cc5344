"""Initial partitions of the coarsest graph: bisected or grown (KGGGP), best kept after refinement.

Each try grows all parts at once from their seeds: the fixed vertices of a part,
else a vertex far from all others on the first try, and on later tries the
deepest vertex of the part in the try before, which rounds the parts off.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any

import numpy as np

from ..kernels import Level, Pull
from ..kernels import growing as kernels
from ..options import Config
from .arenas import frontier_for
from .bisection import recursive_bisection
from .coordinates import recursive_coordinate_bisection
from .refinement import Refiner, cut_of
from .rounds import Team
from .shape import Shape, look_at

Array = np.ndarray[Any, Any]

#: Every so many tries the seeds are drawn anew instead of taken from the centres of the last try.
_RESEED = 4

#: On skewed graphs: bisections started from one vertex, and how much larger limits are for them, as a share.  Far seeds
#: are the ends of chains there, which both grow into the same core, and tight limits of every split forbid most moves.
_STARTS, _LOOSER = 6, 0.1

#: Bisections run so many times a preset's number, at most, and for this share of the time of the levels above, about:
#: each finds other cuts, and of 2 to 8 parts the best of them is up to 6 % lower.  Fewer are
#: enough in the plane and around hubs, where they take longer; more are needed where rows of hexahedra end inside.
_MOST, _FEWER = 8, 4
_SHARE, _SHARE_UNEVEN, _SHARE_AROUND_HUBS = 0.05, 0.2, 0.025

#: The coarsest graph has more than one in so many vertices of the input graph where refining it takes time.
_TO_REFINE = 100


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
    kernels.grow(g, pull, part, pwgt, room, salt, np.zeros(0, np.int64), frontier_for(len(g.adjncy) + rows))
    return part


def best_growth(
    g: Level, pull: Pull, limit: Array, config: Config, nvtxs: int, salt: int, team: Team, coords: Array | None,
    shape: Shape | None = None, dearer: Callable[[Array], int] | None = None, refined: bool = True,
) -> Array:
    """The best of several bisected or grown, and refined, partitions: least excess, then least cut.

    Recursive bisection serves where it applies: it knows neither affinities nor which fixed part
    needs which of unequal limits.  Where it does not, all parts are grown at once.  Where `coords` (n, d) are
    known and no vertex is fixed, recursive coordinate bisection is one candidate more.  `nvtxs` is the size of
    the input graph, to which the effort is fitted; `shape` is that of the input graph; without it, `g` is looked at.
    `dearer` tells what else a partition costs, beside its cut.  Whoever refines what is returned in any case says so
    by `refined`: where there is one candidate, without fixed vertices, and refining it is a good part of the work,
    that is not done twice.
    """
    made = []
    # what stands for many fixed vertices is no hub
    shape = shape or look_at(g)._replace(skewed=False)
    bisected = _bisected(g, limit, config, nvtxs, salt, team, coords, shape)
    if not refined and len(bisected) == 1 and not len(g.fixed) and len(g.vwgt) * _TO_REFINE > nvtxs:
        return bisected[0]
    for t, part in enumerate(bisected or _grown(g, pull, limit, config, salt)):
        refiner = Refiner(g, pull, part, limit, team, salt + t, shape.skewed)
        cut = cut_of(g, part)
        cost = cut - affinity_gain(g, pull, part) - refiner.improve(config, cut) + (dearer(part) if dearer else 0)
        made.append((refiner.excess, cost, t, part))
    return min(made, key=lambda one: one[:3])[-1]


def _bisected(
    g: Level, limit: Array, config: Config, nvtxs: int, salt: int, team: Team, coords: Array | None, shape: Shape,
) -> list[Array]:
    """Initial partitions by recursive bisection, unrefined; none where it does not apply."""
    n, k = len(g.vwgt), len(limit)
    if len(g.origin) or (len(g.fixed) and limit.min() < limit.max()):
        return []
    runs, looser, starts = _runs(n, k, nvtxs, shape) * config.bisections, limit, 0
    if shape.skewed:
        runs, starts = 2 * runs, _STARTS  # of very different cuts
        looser = limit + (_LOOSER * limit).astype(np.int64)
    found = recursive_bisection(g, looser, [salt + t for t in range(runs)], team, starts, shape=shape, config=config)
    if coords is not None and not len(g.fixed):
        found.append(recursive_coordinate_bisection(coords, g.vwgt, limit))
    return found


def _runs(n: int, nparts: int, nvtxs: int, shape: Shape) -> int:
    """How often a coarsest graph of n vertices is bisected: for a share of the time that the levels above take.

    A bisection into all parts takes as long as about n log k of their vertices.
    """
    most = _FEWER if shape.skewed or shape.flat else _MOST
    share = _SHARE_AROUND_HUBS if shape.skewed else _SHARE_UNEVEN if shape.grid and shape.uneven else _SHARE
    return int(np.clip(share * nvtxs / (n * max(np.log2(nparts), 1)), 1, most))


def _grown(g: Level, pull: Pull, limit: Array, config: Config, salt: int) -> Iterator[Array]:
    """Initial partitions grown one after the other, unrefined; the next begins with the last as it has been refined."""
    n, k = len(g.vwgt), len(limit)
    seeds = None
    for t in range(config.tries):
        part = grow_kgggp(g, pull, limit, seeds if t % _RESEED else None, salt + t)
        yield part
        seeds = np.empty(k, np.int32)
        kernels.find_centres(g, part, seeds, np.empty(n, np.int32), np.empty(n, np.int32))


def affinity_gain(g: Level, pull: Pull, part: Array) -> int:
    """What the partition gains from the affinity table."""
    if not len(g.origin):
        return 0
    rows = np.zeros((len(pull.ptr) - 1, int(max(part.max(), pull.idx.max(initial=0))) + 1), np.int64)
    rows[np.repeat(np.arange(len(pull.ptr) - 1), np.diff(pull.ptr)), pull.idx] = pull.val
    return int((rows[g.origin, part] * g.size).sum())
