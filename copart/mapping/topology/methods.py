"""Methods of `map_tasks` by name, each of which gives every task of a job a site."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from ...arrays import VERTEX, whole
from ...errors import ConfigError, NotApplicableError
from ..architectures.architecture import Architecture
from ..architectures.subset import subset
from ..congestion.figures import CongestionFigures, evaluate_congestion
from ..exchange import exchange_pairs
from ..machine import Machine
from ..mapper import map_one_each
from ..one_to_one.placing import recursive_bipartitioning
from ..sites import Sites
from ..tasks import TaskGraph, as_tasks
from . import greedy
from .geometric import VARIANTS, checked_coords, map_points
from .grouping import Grouped, check_room, group_tasks

Site = NDArray[np.int64]
#: All pairs of up to so many groups are tried as swaps, else those two messages apart.
_ALL_PAIRS = 512

#: Passes end when they bring no larger share of the distances: less is rounding.
_ENOUGH = 1e-12


@dataclass(frozen=True)
class Job:
    """What is to be mapped, and what methods share."""

    tasks: TaskGraph
    sites: Sites
    seed: int
    coords: NDArray[np.float64] | None
    threads: int

    @cached_property
    def grouped(self) -> Grouped:
        """Groups of tasks, one per site."""
        return group_tasks(self.tasks, self.sites, self.seed)

    @cached_property
    def starts(self) -> list[NDArray[np.int32]]:
        """Mappings of the groups by U_G."""
        return greedy.grow_several(self.grouped, self.sites)

    @cached_property
    def grown(self) -> NDArray[np.int32]:
        """U_G of the groups."""
        return greedy.shortest(self.grouped, self.sites, self.starts)

    def unit(self) -> Job:
        """The same with a unit of data in every message."""
        return Job(self.tasks.unit(), self.sites, self.seed, self.coords, self.threads)

    @cached_property
    def _made(self) -> dict[str, Site]:
        return {}

    def mapping(self, method: str) -> Site:
        """Site of each task by a method, which is asked once."""
        if method not in self._made:
            self._made[method] = METHODS[method](self)
        return self._made[method]

    def figures(self, site: Site) -> CongestionFigures | None:
        """What a mapping is worth, where there are routes."""
        network = self.sites.network
        return None if network is None else evaluate_congestion(self.tasks, network, self.sites.point[site], site)

    def weighted_distance(self, site: Site) -> float:
        """Sum of data times distance."""
        p, q = site[self.tasks.source], site[self.tasks.target]
        return float((self.tasks.volume * self.sites.distances(p, q)).sum())

    def leaving(self, site: Site) -> int:
        """Data that leaves its site."""
        return int(self.tasks.volume[site[self.tasks.source] != site[self.tasks.target]].sum())


def _default(job: Job) -> Site:
    """DEF: fill a site with consecutive tasks, then the next."""
    return np.repeat(np.arange(job.sites.nsites), job.sites.slots)[:job.tasks.ntasks]


def _random(job: Job) -> Site:
    return np.random.default_rng(job.seed).permutation(np.repeat(np.arange(job.sites.nsites),
                                                                 job.sites.slots))[:job.tasks.ntasks]


def _spread(job: Job, site: NDArray[np.int32]) -> Site:
    found: Site = site[job.grouped.group].astype(np.int64)
    return found


def _ug(job: Job) -> Site:
    return _spread(job, job.grown)


def _uwh(job: Job) -> Site:
    found = [greedy.shorten(job.grouped, job.sites, start) for start in job.starts]
    return _spread(job, greedy.shortest(job.grouped, job.sites, found))


def _umc(job: Job) -> Site:
    return _least(_by_links(job, messages=False), job)


def _ummc(job: Job) -> Site:
    return _least(_by_links(job, messages=True), job, "max_message_congestion")


def _by_links(job: Job, *, messages: bool) -> list[Site]:
    """U_MC or U_MMC from each mapping of U_G."""
    return [_spread(job, greedy.relieve(job.grouped, job.sites, start, messages=messages)) for start in job.starts]


def _least(found: list[Site], job: Job, figure: str = "max_congestion") -> Site:
    """Of several mappings on a machine with routes the one with the lowest figure, the first of equal ones."""
    return min(found, key=lambda site: float(getattr(job.figures(site), figure)))


def _search(job: Job) -> Site:
    """Ours: several starts, swaps of groups, then of single tasks; the mapping of the lowest WH.

    Starts are U_G, DEF's order of groups, and dual recursive bipartitioning of groups and sites.  Single tasks are
    swapped with the distances of the sites in view, so that a task may leave its group where the sum of data times
    distance falls.
    """
    code = job.sites.code()
    grouped, n = job.grouped, job.tasks.ntasks
    order = np.argsort(-job.sites.slots, kind="stable")[:len(grouped.size)].astype(VERTEX)
    starts = [job.grown, order, *([] if (halved := _halved(job)) is None else [halved])]
    found = []
    for start in starts:
        site = greedy.shorten(grouped, job.sites, start, candidates=64, enough=_ENOUGH)
        _swaps(grouped.tasks, site, code, grouped.size, job.sites.slots, 0 if len(site) <= _ALL_PAIRS else 2)
        fine = _spread(job, site).astype(VERTEX)
        _swaps(job.tasks, fine, code, np.zeros(n, np.int64), job.sites.slots, 2)
        found.append(fine.astype(np.int64))
    return min(found, key=job.weighted_distance)


def relieved(job: Job, site: Site) -> Site:
    """Ours: sites exchange all they hold as in U_MC, at once or after U_MMC; what has the lower MC."""
    used, group = np.unique(site, return_inverse=True)
    tasks, stands_for = job.tasks.grouped(group, len(used))
    size = np.bincount(group, minlength=len(used)).astype(np.int64)
    grouped = Grouped(group.astype(VERTEX), tasks, stands_for, size, job.sites.slots[used])
    start = used.astype(VERTEX)
    fewer = greedy.relieve(grouped, job.sites, start, messages=True)
    return _least([greedy.relieve(grouped, job.sites, one)[group].astype(np.int64) for one in (start, fewer)], job)


def _halved(job: Job) -> NDArray[np.int32] | None:
    """Sites of the groups by dual recursive bipartitioning; None where sites differ in size."""
    sites = job.sites
    if (sites.slots != sites.slots[0]).any():
        return None
    bare = subset(sites.machine.architecture, sites.processors[sites.first])  # type: ignore[arg-type]
    return map_one_each(job.grouped.tasks.graph, bare, job.seed)


def _swaps(tasks: TaskGraph, site: NDArray[np.int32], code: Any, load: Any, limit: Any, reach: int) -> None:
    graph = tasks.graph
    exchange_pairs(graph.xadj.copy(), graph.adjncy.copy(), graph.kernel_ewgt.copy(), code, site, load, limit.copy(),
                   np.zeros(len(site), np.uint8), reach=reach)


def _smap(job: Job) -> Site:
    """Dual recursive bipartitioning of tasks and slots, with exchanges, as SCOTCH maps."""
    place = recursive_bipartitioning(job.tasks.graph, job.sites.machine.architecture, job.seed)
    return job.sites.site_of(place.astype(np.int64))


def _tmap(job: Job) -> Site:
    """Recursive bisection of groups and sites; DEF where its congestion is not higher, as LibTopoMap does."""
    halved = _halved(job)
    found = _smap(job) if halved is None else _spread(job, halved)
    default = _default(job)
    before, after = job.figures(default), job.figures(found)
    if before is None or after is None:
        return min(default, found, key=job.weighted_distance)
    return found if after.max_congestion < before.max_congestion else default


def _geometric(options: dict[str, Any]) -> Callable[[Job], Site]:
    def method(job: Job) -> Site:
        at = job.sites.coordinates
        if at is None:
            raise NotApplicableError(f"method: geometric needs coordinates of the nodes, which tori and meshes have, "
                                     f"not {job.sites.machine.architecture!r}; use uwh")
        if job.coords is None:
            raise ConfigError("coords: method geometric needs the coordinates of the tasks")
        return map_points(job.tasks, job.coords, job.sites, threads=job.threads, **options)
    return method


METHODS: dict[str, Callable[[Job], Site]] = {
    "default": _default,
    "random": _random,
    "smap": _smap,
    "tmap": _tmap,
    "ug": _ug,
    "uwh": _uwh,
    "umc": _umc,
    "ummc": _ummc,
    "ug-th": lambda job: _ug(job.unit()),
    "uwh-th": lambda job: _uwh(job.unit()),
    "search": _search,
    "search-mc": lambda job: relieved(job, job.mapping("search")),
    **{name: _geometric(options) for name, options in VARIANTS.items()},
}
"""Methods by name, beside "auto"."""


def job_of(tasks: Any, machine: Machine | Architecture, coords: ArrayLike | None, seed: int, threads: int, *,
           several: bool = False) -> Job:
    """A job of checked arguments, those of `map_tasks`; with `several`, there may be more tasks than slots."""
    graph, sites = as_tasks(tasks), Sites(machine)
    if not several:
        check_room(graph.ntasks, sites)
    at = None if coords is None else checked_coords(coords, graph.ntasks)
    return Job(graph, sites, whole("seed", seed, low=0, high=2**31 - 1), at,
               whole("threads", threads, low=1, high=1024))


__all__ = ["METHODS", "Job", "Site", "job_of", "relieved"]
