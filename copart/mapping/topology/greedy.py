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
#: Swaps that relieve links, at most, for each group.
RELIEFS = 64


def weighted_distance(grouped: Grouped, sites: Sites, site: NDArray[np.int32]) -> float:
    """Sum over the messages between groups of data times distance, WH."""
    tasks = grouped.tasks
    return float((tasks.volume * sites.distances(site[tasks.source], site[tasks.target])).sum())


def grow(grouped: Grouped, sites: Sites, seeds: int = 0) -> NDArray[np.int32]:
    """U_G: the group most tied to those placed takes, of the nearest free sites, the one where it pays least.

    Groups made for sites of a rare size are placed first.  The first group, of most data, takes the site nearest to all
    others (the source leaves it open).

    Parameters
    ----------
    seeds : int
        Groups after the first that are placed far from all others (the source's N_BFS).

    Returns
    -------
    (ngroups,) int32
        Site of each group.
    """
    groups, places = as_groups(grouped), sites.places()
    n, nsites = len(groups.size), sites.nsites
    if not n:
        return np.zeros(0, VERTEX)
    kinds = np.unique(grouped.wanted)
    there = np.array([(sites.slots == slots).sum() for slots in kinds])
    classes = kinds[np.lexsort((kinds, there))].astype(np.int64)
    fitting = np.flatnonzero(sites.slots == classes[0])
    first = int(fitting[np.argmin(sites.remoteness()[fitting])])
    site, owner = np.empty(n, VERTEX), np.empty(nsites, VERTEX)
    site_growing.grow(groups, places, np.ascontiguousarray(grouped.wanted, np.int64), classes, seeds, first, site,
                      owner, walk_for(groups, nsites), queue_for(groups), np.empty(nsites), np.empty((3, n), VERTEX))
    return site


def grow_best(grouped: Grouped, sites: Sites) -> NDArray[np.int32]:
    """U_G with no seed and with one, whichever has the lower WH."""
    found = [grow(grouped, sites, seeds) for seeds in (0, 1)]
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
                                 f"tori, meshes, trees and dragonflies, not of {sites.machine.architecture!r}; use uwh")
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
