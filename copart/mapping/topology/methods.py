"""`map_tasks`: tasks onto the slots of an allocation, one call for all methods."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from ...arrays import VERTEX, integers, whole
from ...errors import ConfigError, MappingError, NotApplicableError
from ...names import Bound, TaskMethod, known_name
from ..architectures.architecture import Architecture
from ..architectures.subset import subset
from ..congestion.figures import CongestionFigures, LinkLoads, evaluate_congestion, link_loads
from ..exchange import exchange_pairs
from ..machine import Machine
from ..mapper import map_graph
from ..one_to_one.placing import recursive_bipartitioning
from ..sites import Sites
from ..tasks import TaskGraph, as_tasks
from . import greedy
from .geometric import VARIANTS, checked_coords, map_points
from .grouping import Grouped, check_room, group_tasks

Site = NDArray[np.int64]


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

    def figures(self, site: Site) -> CongestionFigures | None:
        """What a mapping is worth, where there are routes."""
        network = self.sites.network
        return None if network is None else evaluate_congestion(self.tasks, network, self.sites.point[site], site)

    def weighted_distance(self, site: Site) -> float:
        """Sum of data times distance."""
        p, q = site[self.tasks.source], site[self.tasks.target]
        return float((self.tasks.volume * self.sites.distances(p, q)).sum())


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
    return _relieved(job, messages=False)


def _ummc(job: Job) -> Site:
    return _relieved(job, messages=True)


def _relieved(job: Job, *, messages: bool) -> Site:
    """The best of U_MC or U_MMC from each mapping of U_G."""
    found = [_spread(job, greedy.relieve(job.grouped, job.sites, start, messages=messages)) for start in job.starts]

    def worst(site: Site) -> float:
        figures = job.figures(site)
        assert figures is not None
        return float(figures.max_message_congestion if messages else figures.max_congestion)

    return min(found, key=worst)


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
        site = greedy.shorten(grouped, job.sites, start, candidates=64, enough=0.0)
        _swaps(grouped.tasks, site, code, grouped.size, job.sites.slots, 0 if len(site) <= _ALL_PAIRS else 2)
        fine = _spread(job, site).astype(VERTEX)
        _swaps(job.tasks, fine, code, np.zeros(n, np.int64), job.sites.slots, 2)
        found.append(fine.astype(np.int64))
    return min(found, key=job.weighted_distance)


def _search_mc(job: Job) -> Site:
    """Ours: the tasks that `_search` gives a site as a group, then as U_MC."""
    site = _search(job)
    used, group = np.unique(site, return_inverse=True)
    tasks, stands_for = job.tasks.grouped(group, len(used))
    size = np.bincount(group, minlength=len(used)).astype(np.int64)
    grouped = Grouped(group.astype(VERTEX), tasks, stands_for, size, job.sites.slots[used])
    found: Site = greedy.relieve(grouped, job.sites, used.astype(VERTEX))[group].astype(np.int64)
    return found


def _halved(job: Job) -> NDArray[np.int32] | None:
    """Sites of the groups by dual recursive bipartitioning; None where sites differ in size."""
    sites = job.sites
    if (sites.slots != sites.slots[0]).any():
        return None
    bare = subset(sites.machine.architecture, sites.processors[sites.first])  # type: ignore[arg-type]
    return map_graph(job.grouped.tasks.graph, bare, eps=0.0, seed=job.seed)


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
    "search-mc": _search_mc,
    **{name: _geometric(options) for name, options in VARIANTS.items()},
}
"""Methods of `map_tasks` by name, beside "auto"."""

#: What "auto" goes by: the metrics that times of runs bound by latency or by bandwidth follow, and data times hops.
BOUNDS = {"latency": "total_hops", "bandwidth": "max_congestion", "volume": "weighted_hops"}
_CANDIDATES = ("default", "uwh", "umc", "search", "search-mc", "geometric")
#: All pairs of up to so many groups are tried as swaps, else those two messages apart.
_ALL_PAIRS = 512


def map_tasks(tasks: Any, machine: Machine | Architecture, method: TaskMethod = "uwh", *,
              coords: ArrayLike | None = None, bound: Bound = "bandwidth", seed: int = 1,
              threads: int = 1) -> NDArray[np.int32]:
    """Map tasks, usually MPI ranks, onto the slots of an allocation, one each.

    Parameters
    ----------
    tasks : TaskGraph, matrix of traffic or graph-like
        Of a graph, the weight of an edge is sent each way.
    machine : Machine or Architecture
        At least as many slots as tasks.  Of a network (:func:`copart.mapping.machine.attached`, lists of coordinates)
        hops count, of other machines their own distances.
    method : str
        =====================  ========================================================================================
        default                tasks in order on the slots in order, what launchers do
        random                 any task anywhere
        ug                     groups of tasks grow from the one of most data, from several sites; the best of these
        uwh                    then, on each of them, swaps that lower data times hops, WH; the best
        umc, ummc              the same with swaps that lower the data, or messages, on the worst link (MC, MMC)
        ug-th, uwh-th          ug and uwh with a unit of data in every message: hops, TH
        search                 ours: more starts, candidates and swaps, also of single tasks between nodes, for WH
        search-mc              then as umc
        tmap, smap             recursive bisection of groups and nodes, or of tasks and slots
        geometric              geometric-shifted, then ours: nodes exchange what they hold where that saves hops
        geometric-plain        one pairing of axes by aspect ratio, not shifted, ties in any order
        geometric-rotated      the best of all pairings of axes (36 in space) by hops, not shifted
        geometric-shifted      the same, also shifted around the torus
        geometric-reflected    all pairings and reflections (288 in space), shifted
        auto                   the best of several by the metric of `bound`
        =====================  ========================================================================================
    coords : (ntasks, d) array_like of float, optional
        Coordinates of the tasks, which geometric methods need; centres of parts, say.
    bound : {"bandwidth", "latency", "volume"}
        What "auto" goes by: MC, which simulated times of large messages sent at once follow; TH, for many small ones;
        or WH.  Which one measured times follow, :func:`copart.mapping.fitting.fit_times` tells.
    seed : int
        Same seed, same mapping.
    threads : int
        For geometric methods; the result does not depend on it.

    Returns
    -------
    (ntasks,) int32
        Processor of each task, none twice.

    Raises
    ------
    MappingError
        Fewer slots than tasks, or coordinates that do not fit.
    NotApplicableError
        The method needs routes or coordinates that the machine does not have.
    ConfigError
        The method or bound is not known, or coordinates are missing.

    Examples
    --------
    >>> from copart.mapping.congestion import TorusNetwork
    >>> from copart.mapping.machine import attached
    >>> ring = TaskGraph(4, [0, 1, 2, 3], [2, 3, 1, 0])
    >>> job = attached(TorusNetwork([8]), [0, 1, 2, 3])
    >>> [evaluate_tasks(ring, job, map_tasks(ring, job, method)).total_hops for method in ("default", "uwh")]
    [8, 6]
    """
    job = _job(tasks, machine, coords, seed, threads)
    known_name("bound", bound, BOUNDS)
    known_name("method", method, ("auto", *METHODS))
    if method == "auto":
        return job.sites.seated(_auto(job, bound))
    return job.sites.seated(METHODS[method](job))


def _job(tasks: Any, machine: Machine | Architecture, coords: ArrayLike | None, seed: int, threads: int) -> Job:
    graph, sites = as_tasks(tasks), Sites(machine)
    check_room(graph.ntasks, sites)
    at = None if coords is None else checked_coords(coords, graph.ntasks)
    return Job(graph, sites, whole("seed", seed, low=0, high=2**31 - 1), at,
               whole("threads", threads, low=1, high=1024))


def candidates(tasks: Any, machine: Machine | Architecture, *, coords: ArrayLike | None = None, seed: int = 1,
               threads: int = 1) -> Iterator[tuple[str, NDArray[np.int32]]]:
    """What "auto" chooses from: names of methods, and the processor of each task by them; parameters of `map_tasks`.

    Methods that need routes or coordinates which are not there are left out.
    """
    job = _job(tasks, machine, coords, seed, threads)
    for name, site in _candidates(job):
        yield name, job.sites.seated(site)


def _candidates(job: Job) -> Iterator[tuple[str, Site]]:
    for name in _CANDIDATES:
        try:
            yield name, METHODS[name](job)
        except (NotApplicableError, ConfigError):
            continue


def _auto(job: Job, bound: str) -> Site:
    """The best of several; without routes by distances, whatever the bound."""
    if bound == "latency":
        job = job.unit()
    best: tuple[float, float] | None = None
    found = _default(job)
    for _, site in _candidates(job):
        figures = job.figures(site)
        weighted = job.weighted_distance(site)
        value = (weighted if figures is None else float(getattr(figures, BOUNDS[bound])), weighted)
        if best is None or value < best:
            best, found = value, site
    return found


def evaluate_tasks(tasks: Any, machine: Machine | Architecture, mapping: ArrayLike) -> CongestionFigures:
    """Hops, congestion and traffic of nodes of a mapping of tasks; see :func:`evaluate_congestion`.

    Parameters
    ----------
    tasks : TaskGraph or graph-like
    machine : Machine or Architecture
    mapping : (ntasks,) array_like of int
        Processor of each task.

    Raises
    ------
    NotApplicableError
        The machine has no static routes.
    MappingError
        The mapping names a processor that is not there.
    """
    graph, network, point, site = _routed(tasks, machine, mapping)
    return evaluate_congestion(graph, network, point, site)


def loads_of_links(tasks: Any, machine: Machine | Architecture, mapping: ArrayLike) -> LinkLoads:
    """What every link carries; errors as of :func:`evaluate_tasks`.

    Parameters
    ----------
    tasks : TaskGraph or graph-like
    machine : Machine or Architecture
    mapping : (ntasks,) array_like of int
        Processor of each task.
    """
    graph, network, point, site = _routed(tasks, machine, mapping)
    return link_loads(graph, network, point, site)


def _routed(tasks: Any, machine: Machine | Architecture, mapping: ArrayLike) -> tuple[TaskGraph, Any, Site, Site]:
    graph, sites = as_tasks(tasks), Sites(machine)
    where = integers("mapping", mapping, np.int64, MappingError, low=0, high=sites.machine.nprocs, size=graph.ntasks)
    if sites.network is None:
        raise NotApplicableError(f"machine: {sites.machine.architecture!r} has no static routes")
    site = sites.site_of(where)
    return graph, sites.network, sites.point[site], site


__all__ = ["BOUNDS", "METHODS", "candidates", "evaluate_tasks", "loads_of_links", "map_tasks"]
