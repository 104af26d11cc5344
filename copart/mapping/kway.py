"""Multilevel k-way mapping: coarsen, map the coarsest graph by DRB, refine with distances in the gains.

Coarsening is the partitioner's.  On every level `kernels.mapping.improve` moves vertices, best gain first,
where a gain is what the sum of weight times distance falls by; on the coarsest, whole loads of processors are
exchanged, too.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from ..arrays import sums
from ..kernels import Level
from ..kernels import mapping as kernels
from ..kernels.contraction import pull_down
from ..kernels.distances import DistanceCode
from ..names import BipartitioningOrder, MappingPresetName, known_name
from ..partitioner.coarsening import coarsen, contract, look_at, renumber
from ..partitioner.refinement import scratch_for
from ..partitioner.rounds import Team
from .architectures.architecture import Architecture, table_code
from .drb import TABLE_LIMIT, map_recursively
from .exchange import exchange_pairs

Array = np.ndarray[Any, Any]

#: Loads of all pairs of so many processors are compared; else of pairs two edges apart, or one.
_ALL_PAIRS, _NEAR_PAIRS = 64, 256

#: Times that all loads are looked at.
_CYCLES = 8


@dataclass(frozen=True, slots=True)
class MappingConfig:
    """How the mapper works.

    Attributes
    ----------
    coarse_per_processor, coarse_least : int
        Coarsening stops near ``max(coarse_per_processor * nprocs, coarse_least)`` vertices.
    starts, start_budget : int
        Mappings of the coarsest graph, at most `starts` and about ``start_budget / nprocs``; the best after
        refinement is kept.
    tries : int
        Bipartitions grown in every job, best kept.
    passes : int
        Passes of refinement per level, at most.
    stall : float
        Moves without improvement after which a pass ends, as a share of the level's vertices.
    policy : str
        Order of the jobs: "largest", "breadth-first" or "depth-first".
    partial_cost : bool
        Whether edges that leave a job's subgraph count.
    """

    coarse_per_processor: int = 25
    coarse_least: int = 16000
    starts: int = 2
    start_budget: int = 200
    tries: int = 4
    passes: int = 3
    stall: float = 0.02
    policy: BipartitioningOrder = "largest"
    partial_cost: bool = True


_DEFAULT = MappingConfig()
PRESETS: dict[MappingPresetName, MappingConfig] = {
    "fast": replace(_DEFAULT, coarse_per_processor=12, coarse_least=1500, starts=1, tries=2, passes=1, stall=0.005),
    "default": _DEFAULT,
    "strong": replace(_DEFAULT, starts=8, start_budget=8000, tries=8, passes=10, stall=0.1),
}


def settings(preset: MappingPresetName | MappingConfig) -> MappingConfig:
    """The settings of a preset, or `preset` itself when it is a `MappingConfig`."""
    if isinstance(preset, MappingConfig):
        return preset
    known_name("preset", preset, PRESETS)
    return PRESETS[preset]


def code_of(machine: Architecture) -> DistanceCode:
    """Distances as kernels are fastest with: a table while it is small."""
    return table_code(machine.matrix()) if machine.nprocs <= TABLE_LIMIT else machine.code()


def map_level(g: Level, machine: Architecture, limit: Array, config: MappingConfig, seed: int) -> Array:
    """Map a graph onto a machine; parts may exceed `limit` where vertices are heavy.  Returns (nvtxs,) int32."""
    code = code_of(machine)
    with Team(1) as team:
        shape = look_at(g)
        order = None
        if shape.far:
            g, order = renumber(g, team)
        stop = max(config.coarse_per_processor * machine.nprocs, config.coarse_least)
        levels, maps, _ = coarsen(g, stop, shape, team)
        best: tuple[int, float] | None = None
        for start in range(max(1, min(config.starts, config.start_budget // machine.nprocs))):
            found = map_recursively(levels[-1], machine, limit, policy=config.policy,
                                    partial_cost=config.partial_cost, tries=config.tries, seed=seed + 977 * start)
            over, cost = refine_level(levels[-1], code, found, limit, config)
            if exchange_loads(levels[-1], code, found, limit, team) > 0:
                over, cost = refine_level(levels[-1], code, found, limit, config)
            if best is None or (over, cost) < best:
                best, part = (over, cost), found
        if len(g.origin):
            # the old mapping itself, mended
            found = levels[-1].origin.copy()
            if len(g.fixed):
                found = np.where(levels[-1].fixed >= 0, levels[-1].fixed, found)
            if best is None or refine_level(levels[-1], code, found, limit, config) < best:
                part = found
        while maps:
            levels.pop()
            cmap = maps.pop()
            fine = np.empty(len(cmap), np.int32)
            team.run(pull_down, len(cmap), cmap, part, fine)
            part = fine
            refine_level(levels[-1], code, part, limit, config)
    if order is not None:
        renumbered, part = part, np.empty_like(part)
        part[order] = renumbered
    return part


def exchange_loads(g: Level, code: DistanceCode, part: Array, limit: Array, team: Team) -> float:
    """Exchange the whole loads of processors, in place, while that lowers the cost; returns by how much."""
    if len(g.origin):
        return 0.0
    used, label = np.unique(part, return_inverse=True)
    k, label = len(used), label.astype(np.int32)
    quotient = contract(g._replace(fixed=np.zeros(0, np.int32)), label, k, team)
    pinned = np.zeros(k, np.uint8)
    if len(g.fixed):
        pinned[label[g.fixed >= 0]] = 1
    place = used.astype(np.int32)
    won = float(exchange_pairs(quotient.xadj, quotient.adjncy, quotient.ewgt, code, place, quotient.vwgt, limit, pinned,
                               reach=0 if k <= _ALL_PAIRS else 2 if k <= _NEAR_PAIRS else 1, cycles=_CYCLES))
    if won > 0:
        part[:] = place[label]
    return won


def refine_level(g: Level, code: DistanceCode, part: Array, limit: Array, config: MappingConfig) -> tuple[int, float]:
    """Refine a mapping in place; returns (excess, cost)."""
    n, k = len(part), len(limit)
    pwgt = sums(part, g.vwgt, k)
    scratch = scratch_for(n, k)
    scale = 1024.0
    over = int(np.maximum(pwgt - limit, 0).sum())
    for anywhere in (False, False, True):
        if over:
            over = kernels.relieve(g, code, scale, part, pwgt, limit, anywhere, scratch)
    stall = max(50, int(config.stall * n))
    for _ in range(config.passes):
        won = kernels.improve(g, code, scale, part, pwgt, limit, stall, scratch)
        if won <= 0:
            break
    return int(over), float(kernels.mapping_cost(g, code, part))
