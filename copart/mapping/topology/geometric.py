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

from ...arrays import VERTEX, reals, whole
from ...errors import ConfigError, MappingError
from ...kernels.sites import total_distance
from ...names import known_name
from ...partitioner.multijagged import multijagged
from ...partitioner.rounds import Team
from ..congestion.networks import TorusNetwork
from ..sites import Sites
from ..tasks import TaskGraph
from .annealing import exchanged

Array = np.ndarray[Any, Any]

ROTATIONS = ("all", "aspect")
#: Geometric methods by name: arguments of :func:`map_points`.
VARIANTS: dict[str, dict[str, Any]] = {
    "geometric-plain": {"rotations": "aspect", "shift": False, "ordered": False},
    "geometric-rotated": {"shift": False},
    "geometric-shifted": {},
    "geometric": {"exchanges": True},
    "geometric-reflected": {"reflections": True},
}
#: Rounds of the search for the cores around one centre, at most.
_ROUNDS = 50
#: Ties in any order are made by moving cores by less than this; routers are 1 apart.
_JITTER = 1e-3


class Side(NamedTuple):
    """One way to cut one side: axes in the order of the cuts, axes that run backwards, and whether it is shifted."""

    axes: tuple[int, ...]
    flipped: tuple[int, ...] = ()
    shifted: bool = False


class Judged(NamedTuple):
    """The best of some candidates: the hops of all messages, which candidate it is, and the site of each task."""

    hops: float
    candidate: int
    site: NDArray[np.int64]


class Trials:
    """All candidates of one mapping, any of which can be judged apart from the others.

    Parameters
    ----------
    tasks, coords, sites, rotations, shift, reflections, ordered, exchanges
        As of :func:`map_points`.
    """

    def __init__(self, tasks: TaskGraph, coords: NDArray[np.float64], sites: Sites, *, rotations: str = "all",
                 shift: bool = True, reflections: bool = False, ordered: bool = True,
                 exchanges: bool = False):
        network = sites.network
        if not isinstance(network, TorusNetwork):
            raise MappingError(f"machine: needs coordinates of the nodes, as tori and meshes have, has {network!r}")
        known_name("rotations", rotations, ROTATIONS)
        self.tasks, self.coords, self.sites, self.places = tasks, coords, sites, sites.places()
        self.exchanges = exchanges
        host = np.repeat(np.arange(sites.nsites), sites.slots)
        place = network.coordinates(sites.point).astype(np.float64)
        moved = shifted(place, network.dims) if shift and network.around else place
        # which cores are taken, where there are more than tasks, also depends on the shift
        self.taken = [host[nearest_cores(one[host], len(coords))] for one in (place, moved)]
        self.machines = [one[cores] for one, cores in zip((place, moved), self.taken, strict=True)]
        if not ordered:
            rng = np.random.default_rng(1)
            self.machines = [one + _JITTER * rng.random(one.shape) for one in self.machines]
        self.left, self.right = candidates(coords, self.machines[0], rotations, reflections,
                                           not np.array_equal(place, moved))
        self.parts = min(len(coords), len(host))

    def __len__(self) -> int:
        return len(self.left) * len(self.right)

    def best(self, numbers: range, threads: int = 1) -> Judged:
        """The candidate of the fewest hops among those of some numbers, the first of several; infinite of none."""
        if not numbers:
            return Judged(float("inf"), len(self), np.zeros(0, np.int64))
        with Team(whole("threads", threads, low=1, high=1024)) as team:
            free = [None] * team.threads
            pairs = [divmod(i, len(self.right)) for i in numbers]
            ours, theirs = (sorted(set(side)) for side in zip(*pairs, strict=True))
            tasks = team.spread(lambda i, _: self._cut(self.coords, self.left[ours[i]]), len(ours), free)
            cores = team.spread(lambda i, _: self._cut(self.machines[self.right[theirs[i]].shifted],
                                                       self.right[theirs[i]]), len(theirs), free)
            task_part, core_part = dict(zip(ours, tasks, strict=True)), dict(zip(theirs, cores, strict=True))

            def site(i: int) -> NDArray[np.int64]:
                a, b = pairs[i]
                return self.taken[self.right[b].shifted][matched(task_part[a], core_part[b])]

            score = team.spread(lambda i, _: total_distance(self.places, self.tasks.source, self.tasks.target, site(i)),
                                len(pairs), free)
        first = int(np.argmin(score))
        return Judged(float(score[first]), numbers[first], site(first))

    def mapping(self, found: Judged) -> NDArray[np.int64]:
        """Site of each task by a candidate, once exchanges have lowered its hops where they are asked for."""
        if not self.exchanges:
            return found.site
        side = self.left[found.candidate // len(self.right)]
        return exchanged(self.tasks, self.sites, found.site, self._cut(self.coords, side))

    def _cut(self, place: Array, side: Side) -> NDArray[np.int32]:
        """Parts of one side, halved along its axes in turn."""
        axes = list(side.axes)
        at = place[:, axes] * np.array([-1.0 if axis in side.flipped else 1.0 for axis in axes])
        if self.parts < 2:
            return np.zeros(len(at), VERTEX)
        return multijagged(at, self.parts, depth=(self.parts - 1).bit_length()).part


def map_points(tasks: TaskGraph, coords: ArrayLike, sites: Sites, *, rotations: str = "all", shift: bool = True,
               reflections: bool = False, ordered: bool = True, exchanges: bool = False,
               threads: int = 1) -> NDArray[np.int64]:
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
    exchanges : bool
        Ours: what nodes hold changes places afterwards where that saves hops (:func:`~.annealing.exchanged`).
    threads : int
        Candidates are tried side by side; the result does not depend on how many are.

    Returns
    -------
    (ntasks,) int64
        Site of each task; of more tasks than cores, as equally many to a core as can be.  Of candidates with equally
        many hops the first wins, whatever exchanges make of it.
    """
    trials = Trials(tasks, np.asarray(coords, np.float64), sites, rotations=rotations, shift=shift,
                    reflections=reflections, ordered=ordered, exchanges=exchanges)
    return trials.mapping(trials.best(range(len(trials)), threads))


def each_of(ntasks: int, sites: Sites) -> int:
    """Tasks that a core takes, at most, where so many are mapped by coordinates."""
    return max(1, -(-ntasks // int(sites.slots.sum())))


def checked_coords(coords: ArrayLike, ntasks: int) -> NDArray[np.float64]:
    """Coordinates of so many tasks, or MappingError."""
    at = reals("coords", coords, MappingError)
    if at.ndim != 2 or at.shape[0] != ntasks or not at.shape[1] or not np.isfinite(at).all():
        raise MappingError(f"coords: needs finite numbers, a row for each of {ntasks} tasks, has shape {at.shape}")
    return at


def candidates(tasks: Array, cores: Array, rotations: str = "all", reflections: bool = False, shift: bool = False,
               ) -> tuple[list[Side], list[Side]]:
    """Ways to cut the tasks and the cores, each of which goes with each: as many axes as both sides have.

    Of three dimensions each these are 6 x 6, with reflections 48 x 6.  Shifted coordinates are one more way each.
    """
    ndims = min(tasks.shape[1], cores.shape[1])
    if rotations == "aspect":
        orders = [[tuple(np.argsort(-_extents(side), kind="stable")[:ndims].tolist())] for side in (tasks, cores)]
    else:
        orders = [list(permutations(range(side.shape[1]), ndims)) for side in (tasks, cores)]
    flips = [tuple(np.flatnonzero(f).tolist()) for f in product((False, True), repeat=tasks.shape[1])] \
        if reflections else [()]
    left = list(dict.fromkeys(Side(axes, tuple(f for f in flip if f in axes)) for flip in flips for axes in orders[0]))
    right = [Side(axes, (), moved) for moved in ((False, True) if shift else (False,)) for axes in orders[1]]
    return left, right


def _extents(points: Array) -> Array:
    extents: Array = np.ptp(points, axis=0) if len(points) else np.zeros(points.shape[1])
    return extents


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
