"""Multilevel k-way mapping: coarsen, map the coarsest graph by DRB, refine with distances in the gains.

Coarsening is the partitioner's.  On every level `kernels.mapping.improve` moves vertices, best gain first,
where a gain is what the sum of weight times distance falls by; on the coarsest, whole loads of processors are
exchanged, too.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Any, NamedTuple

import numpy as np

from ..arrays import sums
from ..kernels import Level
from ..kernels import mapping as kernels
from ..kernels.contraction import pull_down
from ..kernels.distances import DistanceCode
from ..kernels.levelling import level_loads
from ..names import BipartitioningOrder, MappingPresetName, PresetName, known_name
from ..options import QUICK, Config
from ..partitioner.coarsening import Levels, carry, coarsen, contract
from ..partitioner.numbering import renumber
from ..partitioner.refinement import scratch_for
from ..partitioner.rounds import Team
from ..partitioner.shape import Shape, look_at
from .architectures.architecture import Architecture, table_code
from .architectures.regular import Hypercube, Torus
from .architectures.tree import TreeLeaf
from .drb import TABLE_LIMIT, map_recursively
from .exchange import exchange_pairs
from .multisection import map_by_sections, sections_of

Array = np.ndarray[Any, Any]

#: Loads of all pairs of so many processors are compared; else of pairs two edges apart, or one.
_ALL_PAIRS, _NEAR_PAIRS = 64, 256

#: Mean distance between the numbers of neighbours, as a share of all numbers; a random order has a third.
_SCATTERED = 0.1

#: Times that all loads are looked at.
_CYCLES = 8

#: Rounds in which border vertices go to lighter processors at no cost.
_LEVELLING = 10


@dataclass(frozen=True, slots=True)
class MappingConfig:
    """How the mapper works.

    Attributes
    ----------
    coarse_per_processor, coarse_least : int
        Coarsening stops near ``max(coarse_per_processor * nprocs, coarse_least)`` vertices.
    tree_least : int
        On trees (:class:`copart.mapping.architectures.tree.TreeLeaf`) coarsening stops near so many vertices already,
        for one start with bipartitions of `tree_runs` runs: what the first cuts leave ragged is not mended later where
        all processors behind them are far away, as it is on a grid, where the next one is near. 0: as elsewhere.
    starts, whole, start_budget : int
        Mappings of the coarsest graph and of the graph itself, at most `starts` and `whole`, and of each at most
        ``start_budget / nprocs``; the best after refinement is kept.
    torus_starts : int
        On whole tori and hypercubes at most so many `starts`: the third hardly gains anything there.
    sections : tuple of str or Config
        Presets of the partitioner on the levels of a tree from the root on: one more start for trees, by multisection;
        with `tree_least`, of graphs of no more vertices.  Empty: none.
    section_runs : int
        Bipartitions of every job in the nodes of processors alone; 0: by the partitioner there, too.
    cycles : int
        V-cycles with the best of several mappings.
    runs, tree_runs, tries : int
        Multilevel bipartitions of every job, and growths on the coarsest graph of each; best kept.
    few, few_runs : int
        On tori that have fewer than `few` vertices for each processor, the runs: what the first cuts decide depends on
        luck there, and every run takes little time.
    passes : int
        Passes of refinement per level, at most.
    stall : float
        Moves without improvement after which a pass ends, as a share of the level's vertices.
    policies : tuple of {"largest", "breadth-first", "depth-first"}
        Order of the jobs in each start, in turn: "largest", "breadth-first" or "depth-first".
    partial_cost : bool
        Whether edges that leave a job's subgraph count.
    """

    coarse_per_processor: int = 25
    coarse_least: int = 6000
    tree_least: int = 30000
    starts: int = 3
    whole: int = 0
    start_budget: int = 384
    torus_starts: int = 2
    sections: tuple[PresetName | Config, ...] = ("default", QUICK)
    section_runs: int = 2
    cycles: int = 1
    runs: int = 5
    tree_runs: int = 3
    few: int = 80
    few_runs: int = 8
    tries: int = 4
    passes: int = 3
    stall: float = 0.02
    policies: tuple[BipartitioningOrder, ...] = ("breadth-first", "depth-first")
    partial_cost: bool = True


_DEFAULT = MappingConfig()
PRESETS: dict[MappingPresetName, MappingConfig] = {
    "fast": replace(_DEFAULT, coarse_per_processor=12, coarse_least=1500, tree_least=0, sections=(), starts=1, cycles=0,
                    runs=1, few=0, passes=1, stall=0.005),
    "default": _DEFAULT,
    "strong": replace(_DEFAULT, tree_least=0, starts=8, whole=2, start_budget=2000, torus_starts=8,
                      sections=("strong",), section_runs=0, cycles=4, runs=12, tries=8, passes=10, stall=0.1),
}


def fitted(config: MappingConfig, machine: Architecture, nvtxs: int) -> MappingConfig:
    """The settings for a machine and a graph of so many vertices."""
    if isinstance(machine, Torus | Hypercube):
        config = replace(config, starts=min(config.starts, config.torus_starts))
    if isinstance(machine, Torus) and nvtxs < config.few * machine.nprocs:
        config = replace(config, runs=max(config.runs, config.few_runs))
    if config.tree_least == 0:
        return config
    if not isinstance(machine, TreeLeaf):
        return replace(config, sections=())
    sections = config.sections if nvtxs <= config.tree_least else ()
    return replace(config, coarse_least=config.tree_least, starts=1, runs=config.tree_runs, sections=sections)


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
    with Team(1) as team:
        shape = look_at(g)
        place = None
        if shape.far and _scattered(g):
            g, _, place = renumber(g, shape)
        search = Search(g, machine, limit, fitted(config, machine, len(g.vwgt)), seed, shape, team)
        part = search.best()
        level_parts(g, code_of(machine), part, limit)
    return part if place is None else part[place]


def _scattered(g: Level) -> bool:
    """Whether neighbours have numbers far apart in the mean, as in no particular order; meshes come in a better one
    for bisection than breadth-first."""
    n = len(g.vwgt)
    owner = np.repeat(np.arange(n, dtype=np.int32), np.diff(g.xadj))
    return bool(np.abs(owner - g.adjncy).mean(dtype=np.float64) > _SCATTERED * n)


@dataclass(frozen=True, eq=False)
class Search:
    """Mappings of one graph from several starts, the best of which is refined again."""

    g: Level
    machine: Architecture
    limit: Array
    config: MappingConfig
    seed: int
    shape: Shape
    team: Team

    def best(self) -> Array:
        """The best mapping: of least excess, then of least cost."""
        config, k = self.config, self.machine.nprocs
        tree = sections_of(self.g, self.machine) if config.sections else None
        placed = None if tree is None else map_by_sections(self.g, tree, self.limit, config.sections, self.seed,
                                                           runs=config.section_runs, tries=config.tries)
        found = [] if placed is None else [self.settled(self.g, placed)]
        hierarchy = coarsen(self.g, self.stop(), self.shape, self.team)
        found.append(self.refined_up(hierarchy, self.from_coarse(hierarchy.levels[-1])))
        if hierarchy.maps:
            found += [self.settled(self.g, self.recursively(self.g, config.starts + i))
                      for i in range(min(config.whole, config.start_budget // k))]
        best = min(found, key=lambda one: one.worth)
        for _ in range(config.cycles):
            best = self.cycle(best)
        return best.part

    def stop(self) -> int:
        """Vertices at which coarsening stops."""
        return max(self.config.coarse_per_processor * self.machine.nprocs, self.config.coarse_least)

    def from_coarse(self, coarse: Level) -> Mapped:
        """The best of several mappings of the coarsest graph."""
        config = self.config
        found = [self.settled(coarse, self.recursively(coarse, start))
                 for start in range(max(1, min(config.starts, config.start_budget // self.machine.nprocs)))]
        if len(coarse.origin):
            # the old mapping itself, mended
            held = coarse.fixed if len(coarse.fixed) else np.full(len(coarse.origin), -1, np.int32)
            old = np.where(held >= 0, held, coarse.origin)
            found.append(self.refined(coarse, old))
        return min(found, key=lambda one: one.worth)

    def recursively(self, g: Level, start: int) -> Array:
        """One mapping by dual recursive bipartitioning, of other jobs first than the one before."""
        config = self.config
        return map_recursively(g, self.machine, self.limit, policy=config.policies[start % len(config.policies)],
                               partial_cost=config.partial_cost, runs=config.runs, tries=config.tries,
                               seed=self.seed + 977 * start)

    def refined(self, g: Level, part: Array) -> Mapped:
        """`part`, refined in place."""
        return Mapped(refine_level(g, code_of(self.machine), part, self.limit, self.config), part)

    def settled(self, g: Level, part: Array) -> Mapped:
        """`part`, refined in place, with whole loads exchanged."""
        found = self.refined(g, part)
        if exchange_loads(g, code_of(self.machine), part, self.limit, self.team) > 0:
            found = self.refined(g, part)
        return found

    def refined_up(self, hierarchy: Levels, found: Mapped) -> Mapped:
        """A mapping of the coarsest graph, refined on every level up to the finest."""
        for g, cmap in zip(hierarchy.levels[-2::-1], hierarchy.maps[::-1], strict=True):
            fine = np.empty(len(cmap), np.int32)
            self.team.run(pull_down, len(cmap), cmap, found.part, fine)
            found = self.refined(g, fine)
        return found

    def cycle(self, best: Mapped) -> Mapped:
        """A V-cycle: coarsened inside the loads of a mapping, which is refined from there; never worse."""
        hierarchy = coarsen(self.g, self.stop(), self.shape, self.team, within=best.part)
        part = best.part
        for cmap, g in zip(hierarchy.maps, hierarchy.levels[1:], strict=True):
            part = carry(part, cmap, len(g.vwgt))
        again = self.refined_up(hierarchy, self.settled(hierarchy.levels[-1], part.copy()))
        return min(best, again, key=lambda one: one.worth)


class Mapped(NamedTuple):
    """A mapping and what it is worth: excess over the limits, then cost."""

    worth: tuple[int, float]
    part: Array


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


def level_parts(g: Level, code: DistanceCode, part: Array, limit: Array) -> int:
    """Move border vertices to lighter processors where that costs nothing, in place; returns how many moves."""
    k = len(limit)
    return int(level_loads(g, code, part, sums(part, g.vwgt, k), limit, _LEVELLING, np.full(k, -1, np.int64),
                           np.empty(k + 1, np.int32)))


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
