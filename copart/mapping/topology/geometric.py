"""Geometric mapping: tasks and cores are partitioned alike by their coordinates, and equal parts belong together.

Both sides are cut by Multi-Jagged into as many parts, along their axes in some order.  Which axis of the tasks goes
with which of the machine is tried in all ways and judged by the hops of all messages; on a torus, coordinates are
shifted first so that the largest gap in the allocation is at the end of each dimension.
(M. Deveci, Load-Balancing and Task Mapping for Exascale Systems, Ohio State 2015, chapter 6, algorithm 22.)
"""

from __future__ import annotations

from collections.abc import Sequence
from itertools import permutations, product
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import ArrayLike, NDArray

from ...arrays import VERTEX, whole
from ...errors import ConfigError, MappingError
from ...names import known_name
from ...partitioner.multijagged import multijagged
from ...partitioner.rounds import Team
from ..congestion.networks import TorusNetwork
from ..sites import Sites
from ..tasks import TaskGraph

Array = np.ndarray[Any, Any]

ROTATIONS = ("all", "aspect")
#: Rounds of the search for the cores around one centre, at most.
_ROUNDS = 50
#: Ties in any order are made by moving cores by less than this; routers are 1 apart.
_JITTER = 1e-3


class Side(NamedTuple):
    """One way to cut one side: axes in the order of the cuts, axes that run backwards, and whether it is shifted."""

    axes: tuple[int, ...]
    flipped: tuple[int, ...] = ()
    shifted: bool = False


def map_points(tasks: TaskGraph, coords: ArrayLike, sites: Sites, *, rotations: str = "all", shift: bool = True,
               reflections: bool = False, ordered: bool = True, threads: int = 1) -> NDArray[np.int64]:
    """Tasks onto the cores of an allocation in a torus or mesh, by coordinates.

    Parameters
    ----------
    tasks : TaskGraph
    coords : (ntasks, d) array_like of float
    sites : Sites
        Each slot is a core at the coordinates of its site.
    rotations : {"all", "aspect"}
        All pairings of axes, or the one that pairs them in the order of their extents.
    shift : bool
        On a torus, also try coordinates shifted by :func:`shifted`.
    reflections : bool
        Also try all axes of the tasks that count backwards.
    ordered : bool
        Cores of equal coordinate are divided by their other coordinates, then by number; False: in any order.
    threads : int
        Candidates are tried side by side; the result does not depend on how many are.

    Returns
    -------
    (ntasks,) int64
        Site of each task.  Of candidates with equally many hops the first wins.
    """
    at = np.asarray(coords, np.float64)
    network = sites.network
    if not isinstance(network, TorusNetwork):
        raise MappingError(f"machine: needs coordinates of the nodes, as tori and meshes have, has {network!r}")
    known_name("rotations", rotations, ROTATIONS)
    host = np.repeat(np.arange(sites.nsites), sites.slots)
    place = network.coordinates(sites.point).astype(np.float64)
    moved = shifted(place, network.dims) if shift and network.around else place
    # which cores are taken, where there are more than tasks, also depends on the shift
    taken = [host[nearest_cores(one[host], len(at))] for one in (place, moved)]
    machines = [one[cores] for one, cores in zip((place, moved), taken, strict=True)]
    if not ordered:
        rng = np.random.default_rng(1)
        machines = [one + _JITTER * rng.random(one.shape) for one in machines]
    left, right = candidates(at, machines[0], rotations, reflections, not np.array_equal(place, moved))
    with Team(whole("threads", threads, low=1, high=1024)) as team:
        free = [None] * team.threads
        parts = min(len(at), len(host))
        mine = team.spread(lambda i, _: _cut(at, left[i], parts), len(left), free)
        theirs = team.spread(lambda i, _: _cut(machines[right[i].shifted], right[i], parts), len(right), free)
        pairs = list(product(range(len(left)), range(len(right))))

        def site(i: int) -> NDArray[np.int64]:
            a, b = pairs[i]
            return taken[right[b].shifted][matched(mine[a], theirs[b])]

        def hops(i: int, _: None) -> float:
            point = sites.point[site(i)]
            return float(network.hops(point[tasks.source], point[tasks.target]).sum())

        score = team.spread(hops, len(pairs), free) if len(pairs) > 1 else [0.0]
    return site(int(np.argmin(score)))


def candidates(tasks: Array, cores: Array, rotations: str = "all", reflections: bool = False, shift: bool = False,
               ) -> tuple[list[Side], list[Side]]:
    """Ways to cut the tasks and the cores, each of which goes with each: as many axes as both sides have.

    Of three dimensions each these are 6 x 6, with reflections 48 x 6.  Shifted coordinates are one more way each.
    """
    ndims = min(tasks.shape[1], cores.shape[1])
    if rotations == "aspect":
        orders = [[tuple(np.argsort(-np.ptp(side, axis=0), kind="stable")[:ndims].tolist())] for side in (tasks, cores)]
    else:
        orders = [list(permutations(range(side.shape[1]), ndims)) for side in (tasks, cores)]
    flips = [tuple(np.flatnonzero(f).tolist()) for f in product((False, True), repeat=tasks.shape[1])] \
        if reflections else [()]
    left = list(dict.fromkeys(Side(axes, tuple(f for f in flip if f in axes)) for flip in flips for axes in orders[0]))
    right = [Side(axes, (), moved) for moved in ((False, True) if shift else (False,)) for axes in orders[1]]
    return left, right


def shifted(place: NDArray[np.float64], dims: Sequence[int]) -> NDArray[np.float64]:
    """Coordinates in a torus moved around it so that, in each dimension, the largest gap is between last and first.

    What lies below the gap gets the length of the torus added.  Of equal gaps the one is taken that has most equally
    many points on both sides, then the lower one; where the gap around the end is as large as any, nothing moves.

    Parameters
    ----------
    place : (n, ndims) float64
        Whole numbers from 0.
    dims : sequence of int
        Lengths of the torus.

    Examples
    --------
    >>> shifted(np.array([[0.], [3.], [14.], [16.]]), [17]).T.tolist()
    [[17.0, 20.0, 14.0, 16.0]]
    """
    out = place.copy()
    for axis, length in enumerate(dims):
        values, count = np.unique(place[:, axis], return_counts=True)
        gaps = np.diff(values)
        if not len(gaps) or gaps.max() <= 1 or values[0] + length - values[-1] >= gaps.max():
            continue
        below = np.cumsum(count)[:-1]
        widest = np.flatnonzero(gaps == gaps.max())
        best = widest[np.argmin(np.abs(2 * below[widest] - len(place)))]
        out[place[:, axis] <= values[best], axis] += length
    return out


def nearest_cores(place: NDArray[np.float64], count: int) -> NDArray[np.int64]:
    """The cores that take tasks where there are more of them: the nearest to one centre, which moves to their middle.

    (Modified k-means with one centre; it ends when the same cores are chosen again.)
    """
    n = len(place)
    if count >= n:
        return np.arange(n)
    centre = place.mean(0)
    chosen: NDArray[np.int64] = np.zeros(0, np.int64)
    for _ in range(_ROUNDS):
        far = ((place - centre) ** 2).sum(1)
        again = np.sort(np.argsort(far, kind="stable")[:count])
        if np.array_equal(again, chosen):
            break
        chosen = again
        centre = place[chosen].mean(0)
    return chosen


def matched(task_part: NDArray[np.int32], core_part: NDArray[np.int32]) -> NDArray[np.int64]:
    """Core of each task: the one of the part with the same number."""
    core = np.empty(len(core_part), np.int64)
    core[core_part] = np.arange(len(core_part))
    found: NDArray[np.int64] = core[task_part]
    return found


def _cut(place: Array, side: Side, parts: int) -> NDArray[np.int32]:
    """Parts of one side, halved along its axes in turn."""
    axes = list(side.axes)
    at = place[:, axes]
    at = at * np.array([-1.0 if axis in side.flipped else 1.0 for axis in axes])
    if parts == 1:
        return np.zeros(len(at), VERTEX)
    return multijagged(at, parts, depth=(parts - 1).bit_length()).part


def blocks(dims: Sequence[int], block: Sequence[int] = (2, 2, 4)) -> NDArray[np.int32]:
    """Slots of a grid of tasks where consecutive ones take a block each: the method Group.

    It does not look at where nodes are; 2 x 2 x 4 is for nodes of 16 slots.

    Parameters
    ----------
    dims : sequence of int
        Tasks in each dimension; they are numbered fastest along the first.
    block : sequence of int
        Extent of a block; at the rim they are smaller where it does not divide `dims`.

    Returns
    -------
    (ntasks,) int32
        Processor of each task.

    Examples
    --------
    >>> blocks([4, 2], [2, 2]).tolist()
    [0, 1, 4, 5, 2, 3, 6, 7]
    """
    extent = [whole("dims", d, low=1) for d in dims]
    size = [whole("block", b, low=1) for b in block]
    if len(size) != len(extent):
        raise ConfigError(f"block: needs {len(extent)} extents, one per dimension, has {len(size)}")
    at = np.stack(np.unravel_index(np.arange(int(np.prod(extent))), extent, order="F"))
    keys = [*(x % b for x, b in zip(at, size, strict=True)), *(x // b for x, b in zip(at, size, strict=True))]
    order = np.lexsort(keys)
    out = np.empty(len(order), VERTEX)
    out[order] = np.arange(len(order))
    return out
