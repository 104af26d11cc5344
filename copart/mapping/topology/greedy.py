"""Groups onto sites by the task graph: U_G grows, U_WH shortens distances, U_MC and U_MMC relieve links.

(M. Deveci, Load-Balancing and Task Mapping for Exascale Systems, Ohio State 2015, chapter 7.)
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from ...arrays import VERTEX
from ...errors import NotApplicableError
from ...kernels import congestion as links_kernels
from ...kernels import site_growing, site_swapping
from ...kernels.routes import RouteCode
from ..sites import NEAR, Sites
from .grouping import Grouped, as_groups, queue_for, walk_for

#: Sites that are tried for each group (the source's Delta).
CANDIDATES = 8
#: A pass that lowers the sum by no more than this share is the last one.
ENOUGH = 0.005
#: Sites from which groups grow, at most, and sites of all of these together.
STARTS, STARTED = 8, 2048
#: Swaps that relieve links, at most, for each group.
RELIEFS = 64


def weighted_distance(grouped: Grouped, sites: Sites, site: NDArray[np.int32]) -> float:
    """Sum over the messages between groups of data times distance, WH."""
    tasks = grouped.tasks
    return float((tasks.volume * sites.distances(site[tasks.source], site[tasks.target])).sum())


def grow(grouped: Grouped, sites: Sites, seeds: int = 0, first: int | None = None) -> NDArray[np.int32]:
    """U_G: the group most tied to those placed takes, of the nearest free sites, the one where it pays least.

    Groups made for sites of a rare size are placed first, and the first of all is the one of most data.

    Parameters
    ----------
    seeds : int
        Groups after the first that are placed far from all others (the source's N_BFS).
    first : int, optional
        Site of the first group; the first of :func:`first_sites` where not given.

    Returns
    -------
    (ngroups,) int32
        Site of each group.
    """
    groups, places = as_groups(grouped), sites.places()
    n, nsites = len(groups.size), sites.nsites
    if not n:
        return np.zeros(0, VERTEX)
    if first is None:
        first = first_sites(grouped, sites, 1)[0]
    site, owner = np.empty(n, VERTEX), np.empty(nsites, VERTEX)
    site_growing.grow(groups, places, np.ascontiguousarray(grouped.wanted, np.int64), _classes(grouped, sites), seeds,
                      first, site, owner, walk_for(groups, nsites), queue_for(groups), np.empty(nsites),
                      np.empty((3, n), VERTEX))
    return site


def _classes(grouped: Grouped, sites: Sites) -> NDArray[np.int64]:
    """Sizes of sites for which there are groups, the rarest first."""
    kinds = np.unique(grouped.wanted)
    there = np.array([(sites.slots == slots).sum() for slots in kinds])
    return kinds[np.lexsort((kinds, there))].astype(np.int64)


def first_sites(grouped: Grouped, sites: Sites, count: int) -> list[int]:
    """Sites from which to grow: the nearest to all others, and more of those farther and farther out.

    The source leaves it open where growing starts.
    """
    fitting = np.flatnonzero(sites.slots == _classes(grouped, sites)[0])
    outward = fitting[np.argsort(sites.remoteness()[fitting], kind="stable")]
    return [int(site) for site in outward[np.unique(np.linspace(0, len(outward) - 1, count).astype(int))]]


def grow_several(grouped: Grouped, sites: Sites) -> list[NDArray[np.int32]]:
    """U_G with no seed and with one, from several sites where there are not too many."""
    if not len(grouped.size):
        return [grow(grouped, sites)]
    firsts = first_sites(grouped, sites, max(1, min(STARTS, STARTED // sites.nsites)))
    return [grow(grouped, sites, seeds, first) for seeds in (0, 1) for first in firsts]


def shortest(grouped: Grouped, sites: Sites, found: list[NDArray[np.int32]]) -> NDArray[np.int32]:
    """Of several mappings the one with the lowest WH, the first of equal ones."""
    return min(found, key=lambda site: weighted_distance(grouped, sites, site))


def shorten(grouped: Grouped, sites: Sites, site: NDArray[np.int32], *, candidates: int = CANDIDATES,
            enough: float = ENOUGH) -> NDArray[np.int32]:
    """U_WH: swaps of groups with ones near their neighbours, most expensive first, each of which lowers WH."""
    groups, places = as_groups(grouped), sites.places(max(NEAR, 4 * candidates))
    out, owner = site.copy(), owners(site, sites)
    most = float(groups.out.sum()) * 2 * sites.diameter() or 1.0
    site_swapping.improve_distances(groups, places, min(1024.0, 2.0**60 / most), candidates, enough, out, owner,
                                    walk_for(groups, sites.nsites), queue_for(groups))
    return out


def relieve(grouped: Grouped, sites: Sites, site: NDArray[np.int32], *, messages: bool = False,
            candidates: int = CANDIDATES) -> NDArray[np.int32]:
    """U_MC: swaps that lower the congestion of the worst link; U_MMC with `messages`: their number on it.

    Raises
    ------
    NotApplicableError
        The machine has no static routes.
    """
    network = sites.network
    if network is None:
        raise NotApplicableError(f"method: {'ummc' if messages else 'umc'} needs static routes, which are known of "
                                 f"tori, meshes, trees and dragonflies; {sites.no_routes}; use uwh")
    if not len(site):
        return site.copy()
    groups, places = as_groups(grouped, messages=messages), sites.places(max(NEAR, 4 * candidates))
    code: RouteCode = network.code
    if messages:
        bandwidth = np.ones(network.nlinks)
        bandwidth.flags.writeable = False
        code = code._replace(bandwidth=bandwidth)
    links = links_kernels.Links(np.zeros(network.nlinks, np.int64), network.scratch(), np.zeros(4),
                                np.zeros(len(groups.size), np.int64))
    out, owner = site.copy(), owners(site, sites)
    links_kernels.relieve_links(code, links, groups, places, candidates, RELIEFS * len(out), out, owner,
                                walk_for(groups, sites.nsites))
    return out


def owners(site: NDArray[np.int32], sites: Sites) -> NDArray[np.int32]:
    """(nsites,) int32 group of each site, -1 where none is."""
    owner = np.full(sites.nsites, -1, VERTEX)
    owner[site] = np.arange(len(site))
    return owner
