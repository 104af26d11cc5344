"""`map_tasks`: tasks onto the slots of an allocation, one call for all methods; and which of them "auto" chooses."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from ...arrays import integers
from ...errors import ConfigError, MappingError, NotApplicableError
from ...names import Bound, TaskMethod, known_name
from ..architectures.architecture import Architecture
from ..congestion.figures import CongestionFigures, LinkLoads, evaluate_congestion, link_loads
from ..machine import Machine
from ..sites import Sites
from ..tasks import TaskGraph, as_tasks
from .geometric import VARIANTS, each_of
from .methods import METHODS, Job, Site, job_of, relieved

#: What "auto" goes by: the metrics that times of runs bound by latency or by bandwidth follow, and data times hops.
BOUNDS = {"latency": "total_hops", "bandwidth": "max_congestion", "volume": "weighted_hops"}
#: What "auto" tries; by links also these, and of each of all these the mapping that `relieved` makes of it.
_TRIED = ("default", "uwh", "search", "smap", "geometric")
_TRIED_BY_LINKS = ("umc", "ummc", "geometric-shifted")
#: Tasks up to which it tries smap, which halves down to single slots: with more, the others are faster and as good.
_FEW = 2048
#: By bandwidth, mappings count as equal up to this ratio, and the one of the least data times hops is taken.
_EQUAL = 1.02


def map_tasks(tasks: Any, machine: Machine | Architecture, method: TaskMethod = "uwh", *,
              coords: ArrayLike | None = None, bound: Bound = "bandwidth", seed: int = 1,
              threads: int = 1) -> NDArray[np.int32]:
    """Map tasks, usually MPI ranks, onto the slots of an allocation, one each, or by coordinates also several each.

    Parameters
    ----------
    tasks : TaskGraph, matrix of traffic or graph-like
        Of a graph, the weight of an edge is sent each way.
    machine : Machine or Architecture
        At least as many slots as tasks, but for geometric methods.  Of a network
        (:func:`copart.mapping.machine.attached`, lists of coordinates) hops count, of others their own distances.
    method : str
        =====================  ========================================================================================
        default                tasks in order on the slots in order, what launchers do
        random                 any task anywhere
        ug                     groups of tasks grow from the one of most data, from several sites; the best of these
        uwh                    then, on each of them, swaps that lower data times hops, WH; the best
        umc, ummc              the same with swaps that lower the data, or messages, on the worst link (MC, MMC)
        ug-th, uwh-th          ug and uwh with a unit of data in every message: hops, TH
        search                 ours: more starts, candidates and swaps, also of single tasks between nodes, for WH
        search-mc              then as umc, or as ummc and umc, whichever is better: nodes exchange all they hold
        tmap, smap             recursive bisection of groups and nodes, or of tasks and slots
        geometric              geometric-shifted, then ours: nodes exchange what they hold where that saves hops
        geometric-plain        one pairing of axes by aspect ratio, not shifted, ties in any order
        geometric-rotated      the best of all pairings of axes (36 in space) by hops, not shifted
        geometric-shifted      the same, also shifted around the torus
        geometric-reflected    all pairings and reflections (288 in space), shifted
        auto                   the best of default, uwh, search, smap (up to 2,048 tasks) and geometric by the metric
                               of `bound`; for bandwidth also of umc, ummc, geometric-shifted, and each as in search-mc
        =====================  ========================================================================================
    coords : (ntasks, d) array_like of float, optional
        Coordinates of the tasks, which geometric methods need; centres of parts, say.
    bound : {"bandwidth", "latency", "volume"}
        What "auto" goes by: MC, which simulated times of large messages sent at once follow, times the root of the data
        of the node that receives most, and WH where that differs by no more than 2 %; TH, for many small messages; or
        WH.  Which metric measured times follow, :func:`copart.mapping.fitting.fit_times` tells.
    seed : int
        Same seed, same mapping.
    threads : int
        For geometric methods; the result does not depend on it.

    Returns
    -------
    (ntasks,) int32
        Processor of each task; none twice, or, where geometric methods are given more tasks than slots, as equally many
        on each as can be.

    Raises
    ------
    MappingError
        Fewer slots than tasks and no geometric method, or coordinates that do not fit.
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
    several = method in VARIANTS
    job = job_of(tasks, machine, coords, seed, threads, several=several)
    known_name("bound", bound, BOUNDS)
    known_name("method", method, ("auto", *METHODS))
    if method == "auto":
        return job.sites.seated(_auto(job, bound))
    return job.sites.seated(job.mapping(method), each_of(job.tasks.ntasks, job.sites) if several else 1)


def candidates(tasks: Any, machine: Machine | Architecture, bound: Bound, *, coords: ArrayLike | None = None,
               seed: int = 1, threads: int = 1) -> Iterator[tuple[str, NDArray[np.int32]]]:
    """What "auto" chooses from: names of methods, and the processor of each task by them; parameters of `map_tasks`.

    A name that ends in ``-mc`` is of the method before it, whose nodes then exchange all they hold to relieve links.
    Methods that need routes or coordinates which are not there are left out.
    """
    job = job_of(tasks, machine, coords, seed, threads)
    for name, site in _candidates(job, bound):
        yield name, job.sites.seated(site)


def _candidates(job: Job, bound: str) -> Iterator[tuple[str, Site]]:
    by_links = bound == "bandwidth" and job.sites.network is not None
    for name in (*_TRIED, *(_TRIED_BY_LINKS if by_links else ())):
        if name == "smap" and job.tasks.ntasks > _FEW:
            continue
        try:
            site = job.mapping(name)
        except (NotApplicableError, ConfigError):
            continue
        yield name, site
        if by_links:
            yield f"{name}-mc", relieved(job, site)


def _auto(job: Job, bound: str) -> Site:
    """The best of several; without routes by distances, whatever the bound."""
    if bound == "latency":
        job = job.unit()
    tried = [site for _, site in _candidates(job, bound)]
    worth = [_worth(job, site, bound) for site in tried]
    most = min(worth) * (_EQUAL if bound == "bandwidth" else 1.0)
    # nodes of one router are no hop apart, so that what goes between them tells mappings apart
    return min((site for site, value in zip(tried, worth, strict=True) if value <= most),
               key=lambda site: (job.weighted_distance(site), job.leaving(site)))


def _worth(job: Job, site: Site, bound: str) -> float:
    """What a mapping is judged by, the less the better."""
    figures = job.figures(site)
    if figures is None:
        return job.weighted_distance(site)
    value = float(getattr(figures, BOUNDS[bound]))
    # a node's own way to the network, of which nothing is known, may be what takes longest
    return value * figures.max_received_volume**0.5 if bound == "bandwidth" else value


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
        raise NotApplicableError(f"machine: {sites.no_routes}")
    site = sites.site_of(where)
    return graph, sites.network, sites.point[site], site


__all__ = ["BOUNDS", "METHODS", "candidates", "evaluate_tasks", "loads_of_links", "map_tasks"]
