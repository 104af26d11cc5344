"""KGGGP-ML: multilevel direct k-way partitioning with fixed vertices.

1. *Coarsen* (`copart.coarsening`): heavy-edge matching in rounds, contraction; a
   cluster never holds two different fixed parts.
2. *Initial partition* (`copart.growing`) of the coarsest graph: k-way greedy graph
   growing, all parts at once from their seeds, and recursive bisection
   (`copart.bisection`), itself multilevel with KGGGP of two parts; best of several.
3. *Uncoarsen and refine* (`copart.refinement`): unconstrained local search in
   synchronous rounds with rebalancing, best balanced state kept; then, level by
   level, down to the input graph.
4. *Settle* (`copart.settling`): hard promises made good.

What always holds for a partition that is returned: every part weighs at most
``floor((1 + eps) * ceil(W * share))``, fixed vertices are in their parts, no part
is empty, and the same arguments give the same bytes on any number of threads.
(Predari & Esnard 2014, Section III-D; Gilbert et al. 2023 for the refinement.)
"""

from __future__ import annotations

import logging
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from .arrays import MAX_TOTAL, VERTEX, integers, part_array, whole
from .coarsening import Shape, cluster, contract, look_at, renumber
from .config import Affinity, Config
from .config import preset as settings
from .errors import ConfigError, PartitionError
from .flows import refine_pairs
from .graph import Graph, as_graph
from .growing import best_growth
from .kernels import Level, Pull
from .kernels.coarsening import pull_down
from .metrics import max_part_weights
from .refinement import Refiner, cut_of
from .rounds import Team
from .settling import settle

logger = logging.getLogger(__name__)

Array = np.ndarray[Any, Any]

#: Coarsening stops when a level keeps more than this share of its vertices.
_STALLED = 0.95


def partition(
    graph: Any,
    nparts: int,
    *,
    eps: float = 0.05,
    seed: int = 1,
    threads: int = 1,
    preset: str | Config = "default",
    fixed: ArrayLike | None = None,
    tpwgts: ArrayLike | None = None,
    affinity: Affinity | None = None,
    strict: bool = True,
) -> NDArray[np.int32]:
    """Partition a graph into `nparts` balanced parts of small edge cut.

    Parameters
    ----------
    graph : Graph or graph-like
        See :func:`copart.graph.as_graph`.
    nparts : int
        Number of parts, 1 to nvtxs.
    eps : float
        Imbalance tolerance, a fraction: no part weighs more than
        ``floor((1 + eps) * ceil(W / nparts))``.
    seed : int
        Source of all pseudo-random choices.
    threads : int
        Threads to use; the result does not depend on it.
    preset : {"fast", "default", "strong"} or Config
        How much time to spend on the cut.
    fixed : (nvtxs,) array_like of int, optional
        Part of each pinned vertex, -1 (``FREE``) elsewhere.
    tpwgts : (nparts,) array_like of float, optional
        Target share of each part; equal where not given.
    affinity : Affinity, optional
        What vertices gain by being in certain parts, beside the cut.
    strict : bool
        Raise where no balanced partition is found. False returns the best
        balance found and logs a warning.

    Returns
    -------
    (nvtxs,) int32
        Part of every vertex.

    Raises
    ------
    PartitionError
        No such partition exists (more parts than vertices, a vertex heavier than
        a part may be, fixed vertices that overfill a part or leave others empty),
        or none was found.
    ConfigError, GraphError
        An argument is out of range, or the graph is not one.

    Examples
    --------
    >>> from copart.graph import Graph
    >>> path = Graph.from_edges(4, [0, 1, 2], [1, 2, 3])
    >>> part = partition(path, 2, eps=0.0)
    >>> bool(part[0] == part[1] != part[2] == part[3])
    True
    """
    graph, config, k = _arguments(graph, nparts, seed, threads, preset)
    n = graph.nvtxs
    limit = np.minimum(max_part_weights(graph.total_weight, k, eps, tpwgts), graph.total_weight)
    pinned = None if fixed is None else integers("fixed", fixed, VERTEX, PartitionError, low=-1, high=k, size=n)
    limit = _feasible_limits(graph, limit, pinned, strict)
    if k == 1:
        return np.zeros(n, VERTEX)
    if pinned is not None and (pinned >= 0).all():
        return pinned.copy()

    level, pull = _finest(graph, k, pinned, affinity)
    with Team(threads) as team:
        shape = look_at(level)
        if shape.far:
            level, order = renumber(level, team)
        part = _multilevel(level, pull, limit, config, seed, team, shape)
        for cycle in range(config.cycles):
            part = _cycle(level, pull, part, limit, config, seed + 7919 * (cycle + 1), team, shape)
        excess = settle(level, pull, part, limit, team, seed)
    if shape.far:
        renumbered, part = part, np.empty_like(part)
        part[order] = renumbered
    if excess:
        message = _overweight(part, graph, limit)
        if strict:
            raise PartitionError(f"{message}; raise eps, or pass strict=False to take it")
        logger.warning("%s", message)
    return part


def _arguments(graph: Any, nparts: int, seed: int, threads: int, preset: str | Config) -> tuple[Graph, Config, int]:
    """What both entry points check first: the graph, the settings and the number of parts."""
    graph = as_graph(graph)
    k = whole("nparts", nparts, low=1)
    whole("seed", seed, low=0, high=2**31 - 1)
    whole("threads", threads, low=1, high=1024)
    if k > graph.nvtxs:
        raise PartitionError(
            f"nparts: {k} parts of {graph.nvtxs} vertices would leave parts empty; ask for at most {graph.nvtxs}"
        )
    return graph, settings(preset), k


def refine(
    graph: Any,
    part: ArrayLike,
    nparts: int,
    *,
    eps: float = 0.05,
    seed: int = 1,
    threads: int = 1,
    preset: str | Config = "default",
    fixed: ArrayLike | None = None,
    tpwgts: ArrayLike | None = None,
    affinity: Affinity | None = None,
) -> NDArray[np.int32]:
    """Improve a given partition in place of making one: the last stage of :func:`partition` alone.

    `part` may be unbalanced or leave parts empty; vertices in `fixed` must be in their parts.
    Parameters, result and errors as in :func:`partition`.
    """
    graph, config, k = _arguments(graph, nparts, seed, threads, preset)
    start = part_array("part", part, graph.nvtxs, k, PartitionError).copy()
    pinned = (
        None if fixed is None else integers("fixed", fixed, VERTEX, PartitionError, low=-1, high=k, size=graph.nvtxs)
    )
    if pinned is not None:
        start = np.where(pinned >= 0, pinned, start).astype(VERTEX)
    limit = _feasible_limits(graph, max_part_weights(graph.total_weight, k, eps, tpwgts), pinned, True)
    level, pull = _finest(graph, k, pinned, affinity)
    with Team(threads) as team:
        settle(level, pull, start, limit, team, seed)
        Refiner(level, pull, start, limit, team, seed).improve(config, cut_of(level, start), rounds=0)
        excess = settle(level, pull, start, limit, team, seed)
    if excess:
        raise PartitionError(f"{_overweight(start, graph, limit)}; raise eps")
    return start


# ---- the three stages
def _multilevel(level: Level, pull: Pull, limit: Array, config: Config, seed: int, team: Team, shape: Shape) -> Array:
    """Coarsen, partition the coarsest graph, uncoarsen and refine."""
    k = len(limit)
    levels, maps = _coarsen(level, k, config, team, None, shape)
    part = best_growth(levels[-1], pull, limit, config, len(level.vwgt), seed * 64, team)
    return _uncoarsen(levels, maps, pull, part, limit, config, seed, team)


def _cycle(level: Level, pull: Pull, part: Array, limit: Array, config: Config, seed: int, team: Team, shape: Shape) -> Array:
    """One V-cycle: coarsen inside the parts, refine on the way back up; never worse."""
    levels, maps = _coarsen(level, len(limit), config, team, part, shape)
    for cmap in maps:
        coarse = np.empty(int(cmap.max()) + 1, VERTEX)
        coarse[cmap] = part
        part = coarse
    return _uncoarsen(levels, maps, pull, part, limit, config, seed, team)


def _coarsen(
    level: Level, k: int, config: Config, team: Team, within: Array | None, shape: Shape
) -> tuple[list[Level], list[Array]]:
    """Levels from fine to coarse and the maps between them; clusters stay inside the parts `within`."""
    stop = max(config.coarse_per_part * k, config.coarse_least)
    # no coarse vertex may be heavier than 1.5 x the average of the coarsest graph, or balance is out of reach there
    heaviest = max(1, int(1.5 * int(level.vwgt.sum()) / stop))
    levels, maps = [level], []
    while len(levels[-1].vwgt) > stop:
        g = levels[-1]
        cmap, count = cluster(_apart(g, within), heaviest, shape, team)
        if count > _STALLED * len(cmap) or count < k:
            break
        levels.append(contract(g, cmap, count, team))
        maps.append(cmap)
        if within is not None:
            coarse = np.empty(count, VERTEX)
            coarse[cmap] = within
            within = coarse
    return levels, maps


def _apart(g: Level, within: Array | None) -> Level:
    """`g` with origins that also tell parts apart, so that clusters stay inside one part."""
    if within is None:
        return g
    if not len(g.origin):
        return g._replace(origin=within)
    return g._replace(origin=(g.origin * (int(within.max()) + 1) + within).astype(VERTEX))


def _uncoarsen(
    levels: list[Level], maps: list[Array], pull: Pull, part: Array, limit: Array, config: Config, seed: int, team: Team
) -> Array:
    """Refine on every level from the coarsest to the input graph; frees each level once left."""
    cut = cut_of(levels[-1], part)
    while True:
        depth = len(levels) - 1
        refiner = Refiner(levels[-1], pull, part, limit, team, seed + depth)
        cut -= refiner.improve(config, cut)
        if config.reach and refiner.excess == 0:
            cut -= refine_pairs(levels[-1], part, limit, team, config.rounds, config.reach, config.share)
        logger.debug("level %d: %d vertices, cut %d after %d rounds", depth, len(part), cut, refiner.now)
        if depth == 0:
            return part
        levels.pop()
        cmap = maps.pop()
        fine = np.empty(len(cmap), VERTEX)
        team.run(pull_down, len(cmap), cmap, part, fine)
        part = fine


def _finest(graph: Graph, nparts: int, pinned: Array | None, affinity: Affinity | None) -> tuple[Level, Pull]:
    """The input as kernels see it."""
    if affinity is not None:
        _check_affinity(affinity, graph, nparts)
    none = np.zeros(0, VERTEX)
    if affinity is None:
        origin, size, pull = none, np.zeros(0, np.int64), Pull(np.zeros(1, np.int64), none, np.zeros(0, np.int64))
    else:
        origin, size, pull = affinity.origin, graph.sizes, Pull(*affinity.rows())
    fixed = none if pinned is None or (pinned < 0).all() else pinned
    arrays = (graph.xadj, graph.adjncy, graph.kernel_ewgt, graph.weights, fixed, origin, size)
    return Level(*(_writable(a) for a in arrays)), pull


def _check_affinity(affinity: Affinity, graph: Graph, nparts: int) -> None:
    if affinity.table.shape[1] != nparts:
        raise ConfigError(f"affinity table: needs {nparts} columns, has {affinity.table.shape[1]}")
    if len(affinity.origin) != graph.nvtxs:
        raise ConfigError(f"affinity origin: needs {graph.nvtxs} entries, has {len(affinity.origin)}")
    if (
        float(affinity.table.sum(axis=1, dtype=np.float64).max(initial=0)) * float(graph.sizes.sum(dtype=np.float64))
        >= MAX_TOTAL
    ):
        raise ConfigError(
            f"affinity table: its entries (up to {affinity.table.max()}) times the vertex sizes "
            f"overflow; scale them down"
        )


def _writable(array: Array) -> Array:
    """The same memory without the read-only mark, which would make a second signature of every kernel."""
    view = array.view()
    try:
        view.flags.writeable = True
    except ValueError:  # the caller's own memory is read-only
        return array.copy()
    return view


# ---- what cannot be had
def _feasible_limits(graph: Graph, limit: Array, pinned: Array | None, strict: bool) -> Array:
    """Check that single vertices and fixed vertices fit; raise, or lift the limits where not `strict`."""
    k = len(limit)
    need = np.zeros(k, np.int64)
    free = graph.weights
    if pinned is not None:
        held = pinned >= 0
        np.add.at(need, pinned[held], graph.weights[held])
        free = graph.weights[~held]
        over = np.flatnonzero(need > limit)
        if len(over) and strict:
            p = int(over[0])
            raise PartitionError(
                f"fixed: the vertices fixed to part {p} weigh {need[p]}, more than its limit {limit[p]}"
                f"{_more(len(over) - 1, 'part')}; free some of them or raise eps"
            )
        empty = k - len(np.unique(pinned[held]))
        if empty > len(free):
            raise PartitionError(
                f"fixed: {empty} parts have no fixed vertex and only {len(free)} vertices are free, "
                f"so parts would be empty"
            )
    heaviest = int(free.max(initial=0))
    if heaviest > limit.max() and strict:
        v = int(
            np.flatnonzero(graph.weights == heaviest)[0]
            if pinned is None
            else np.flatnonzero((graph.weights == heaviest) & (pinned < 0))[0]
        )
        average = graph.total_weight / k
        raise PartitionError(
            f"vwgt: vertex {v} weighs {heaviest}, more than a part may ({limit.max()}); the best balance "
            f"is {100 * (heaviest / average - 1):.0f} % over the average: raise eps to at least that, "
            f"use fewer parts, or pass strict=False"
        )
    return np.maximum(limit, np.maximum(need, heaviest)) if not strict else limit


def _more(count: int, what: str) -> str:
    return "" if count <= 0 else f" (and {count} more {what}{'s' if count > 1 else ''})"


def _overweight(part: Array, graph: Graph, limit: Array) -> str:
    """Say which part stays over its limit in the best partition found."""
    pwgt = np.zeros(len(limit), np.int64)
    np.add.at(pwgt, part, graph.weights)
    over = np.flatnonzero(pwgt > limit)
    p = int(over[np.argmax((pwgt - limit)[over])])
    return (
        f"balance: no partition within the limits was found; part {p} weighs {pwgt[p]} where {limit[p]} is allowed"
        f"{_more(len(over) - 1, 'part')}"
    )
