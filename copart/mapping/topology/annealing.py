"""What nodes hold is exchanged where that saves hops: an addition to the geometric mapping.

A cut through planes of routers that are free only in part puts two halves side by side that do not fit each other.
Boxes of tasks of the size of nodes exchange their nodes by simulated annealing, then halves and quarters of them.
The boxes are those of the partition of the tasks, so that a node keeps a box, or several.
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from ...arrays import WEIGHT, writable
from ...kernels.site_annealing import Seats, Units, anneal_sites
from ..sites import Sites
from ..tasks import TaskGraph

Array = np.ndarray[Any, Any]


class Round(NamedTuple):
    """Units of so many parts of a node; tries per unit and in all, at most; temperatures in mean messages of a pair."""

    parts: int
    tries: int
    most: int
    heat: tuple[float, float]


#: The first melts and cools; the others polish.
ROUNDS = (Round(1, 5000, 20_000_000, (1.6, 0.6)), Round(2, 600, 5_000_000, (0.6, 0.3)),
          Round(4, 300, 5_000_000, (0.6, 0.3)))
#: Points near a neighbour that are tried.
NEAREST = 8


def exchanged(tasks: TaskGraph, sites: Sites, site: NDArray[np.int64], part: NDArray[np.int32]) -> NDArray[np.int64]:
    """A mapping with fewer hops, or the same one; every site keeps as many tasks as it has.

    Parameters
    ----------
    tasks : TaskGraph
    sites : Sites
        Of a torus or mesh.
    site : (ntasks,) int64
        Site of each task.
    part : (ntasks,) int32
        Box of each task; numbers near to each other are of boxes near to each other.

    Returns
    -------
    (ntasks,) int64
        The same for the same arguments.
    """
    if not tasks.nmessages:
        return site
    places = sites.places()
    # points with tasks alone: who comes to another one has to find somebody there
    used = np.unique(site)
    _, one, number = np.unique(sites.point[used], return_index=True, return_inverse=True)
    near = _nearest(places.at[used[one]], places.dims)
    point = np.full(sites.nsites, -1)
    point[used] = number
    found, total = site, 0
    best, least = site, 0
    for salt, rule in enumerate(ROUNDS):
        size = int(sites.slots.max()) // rule.parts
        if not size:
            break
        unit = units_of(found, part, size)
        graph = TaskGraph(int(unit.max()) + 1, unit[tasks.source], unit[tasks.target]).graph
        if not graph.nedges:
            continue
        weight = np.ones(len(graph.adjncy), WEIGHT) if graph.ewgt is None else writable(graph.ewgt)
        home = np.empty(graph.nvtxs, np.int64)
        home[unit] = found
        seats = _seats(point[home], near, places.dims, places.at[home])
        units = Units(writable(graph.xadj), writable(graph.adjncy), weight, np.bincount(unit))
        tries = min(rule.tries * graph.nvtxs, rule.most)
        before = home[seats.holder]
        total += anneal_sites(units, seats, tries,
                              np.array(rule.heat) * weight.mean(), 4 * salt)
        found = before[seats.seat][unit]
        if total < least:
            best, least = found, total
    return best


def units_of(site: NDArray[np.int64], part: NDArray[np.int32], size: int) -> NDArray[np.int64]:
    """(ntasks,) int64 unit of each task: the tasks of a site in the order of their boxes, so many to a unit.

    Examples
    --------
    >>> units_of(np.array([1, 0, 1, 1, 0]), np.array([4, 0, 2, 3, 1], np.int32), 2).tolist()
    [2, 0, 1, 1, 0]
    """
    order = np.lexsort((part, site))
    load = np.bincount(site)
    place = np.arange(len(site)) - np.repeat(np.cumsum(load) - load, load)
    unit = np.empty(len(site), np.int64)
    unit[order] = np.cumsum(place % size == 0) - 1
    return unit


def _seats(point: NDArray[np.int64], near: NDArray[np.int64], dims: NDArray[np.int64], at: Array) -> Seats:
    """The seats of units at these points."""
    holder = np.argsort(point, kind="stable")
    seat = np.empty(len(point), np.int64)
    seat[holder] = np.arange(len(point))
    first = np.searchsorted(point[holder], np.arange(len(near) + 1))
    return Seats(first, near, dims, at.copy(), point, seat, holder)


def _nearest(at: NDArray[np.int64], dims: NDArray[np.int64]) -> NDArray[np.int64]:
    """(n, width) the points nearest to each, itself first, on a torus."""
    from scipy.spatial import cKDTree

    width = min(NEAREST, len(at))
    found: NDArray[np.int64] = cKDTree(at, boxsize=dims).query(at, k=width, p=1)[1].reshape(len(at), width)
    return found


__all__ = ["exchanged", "units_of"]
