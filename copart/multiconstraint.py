"""Partitioning under several balance constraints: every vertex has ``ncon`` weights, and each is balanced.

Multilevel, as :mod:`copart.kgggp_ml`, on vectors of weights (Karypis & Kumar 1998, *Multilevel algorithms for
multi-constraint graph partitioning*): coarsening on the sum of the normalised weights, recursive bisection with one
queue a side and constraint, k-way FM with rollback under a matrix of limits, one a constraint and part.

Whether a feasible partition exists at all is NP-hard to tell with one constraint already, and with several weights
a vertex there may be none where every single constraint has one.  What is returned is feasible; else an error says
which limit the best partition found breaks.
"""

from __future__ import annotations

import logging
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from .arrays import FREE, MAX_TOTAL, VERTEX, WEIGHT, integers, part_array, weights
from .errors import GraphError, PartitionError
from .graph import Graph, as_graph
from .kernels import Level
from .kernels import multiconstraint as kernels
from .kernels.multiconstraint import Loads, Scratch

logger = logging.getLogger(__name__)

Array = np.ndarray[Any, Any]

#: FM passes a level, at most; a pass that wins less than this share of the cut is the last.
_PASSES, _LEAST_GAIN = 8, 0.001

#: Excess is counted in units of the total of each constraint over this, so that constraints count alike.
_UNITS = 2**40

#: Pairs of vertices that the exchange of last resort looks at.
_PAIRS = 5_000_000


def refine_multiconstraint(
    graph: Any,
    part: ArrayLike,
    vwgts: ArrayLike,
    limits: ArrayLike,
    *,
    fixed: ArrayLike | None = None,
    strict: bool = True,
) -> NDArray[np.int32]:
    """Improve the cut of a partition under limits on several weights, bringing it below them first.

    Parameters
    ----------
    graph : Graph or graph-like
        See :func:`copart.graph.as_graph`; its own vertex weights play no role.
    part : (nvtxs,) array_like of int
        The partition to start from; it may break the limits and leave parts empty.
    vwgts : (nvtxs, ncon) array_like of int
        Weights of each vertex, not negative.
    limits : (ncon, nparts) array_like of int
        Largest weight of each constraint in each part. 0 keeps vertices that have the weight out of a part.
    fixed : (nvtxs,) array_like of int, optional
        Part of each pinned vertex, -1 (``FREE``) elsewhere; these are put, and stay, there.
    strict : bool
        Raise where the limits are not reached; False returns the best found and logs a warning.

    Returns
    -------
    (nvtxs,) int32
        Parts, none empty; the same for the same arguments.

    Raises
    ------
    PartitionError
        A limit cannot be met (a vertex fits in no part, fixed vertices overfill one, a constraint
        outweighs its limits), or no partition within the limits was found.
    GraphError
        The graph or the weights break a rule.

    Examples
    --------
    >>> path = Graph.from_edges(4, [0, 1, 2], [1, 2, 3])
    >>> both = [[1, 1], [1, 0], [1, 1], [1, 0]]
    >>> refine_multiconstraint(path, [0, 1, 0, 1], both, [[2, 2], [1, 1]]).tolist()
    [0, 0, 1, 1]
    """
    graph = as_graph(graph)
    vectors = weight_vectors(vwgts, graph.nvtxs)
    bounds = _limits(limits, vectors)
    k = len(bounds)
    start = part_array("part", part, graph.nvtxs, k, PartitionError).copy()
    pinned = pinned_parts(fixed, graph.nvtxs, k)
    if len(pinned):
        start = np.where(pinned >= 0, pinned, start).astype(VERTEX)
    check_limits(vectors, bounds, pinned, strict)
    refiner = Refiner(finest(graph, pinned), vectors, bounds, start)
    refiner.settle()
    refiner.improve()
    if refiner.settle():
        complain(refiner, strict)
    return start


class Refiner:
    """Working state of one level: `part` is refined in place.

    Parameters
    ----------
    g : Level
    vwgts : (nvtxs, ncon) int64
    limits : (nparts, ncon) int64
    part : (nvtxs,) int32
    """

    def __init__(self, g: Level, vwgts: Array, limits: Array, part: Array):
        n, k = len(part), len(limits)
        self.g, self.part = g, part
        self.loads = Loads(vwgts, limits, excess_units(vwgts), np.empty_like(limits), np.empty(k, WEIGHT))
        state = np.zeros(n, np.uint8)
        if len(g.fixed):
            state[g.fixed >= 0] = kernels.PINNED
        self.scratch = Scratch(
            np.empty(n, WEIGHT), np.empty(n, VERTEX), np.full(n, -1, VERTEX), state, np.empty((2, n), VERTEX),
            np.full(k, -1, WEIGHT), np.empty(k, VERTEX),
        )
        kernels.weigh(part, self.loads)

    @property
    def excess(self) -> int:
        """What the parts hold above their limits, in units of :func:`excess_units`."""
        return int(kernels.total_excess(self.loads))

    def rebalance(self, anywhere: bool = False) -> int:
        """Move vertices out of parts with excess, to neighbouring parts or to any; returns the excess left."""
        before = self.excess
        while before > 0:
            after = int(kernels.rebalance(self.g, self.loads, self.part, anywhere, self.scratch))
            if after == before:
                break
            before = after
        return before

    def improve(self) -> int:
        """Rebalance, then FM passes until one brings next to nothing; returns the decrease of the cut by FM."""
        self.rebalance()
        n = len(self.part)
        total = 0
        for _ in range(_PASSES):
            before = self.excess
            won = int(kernels.kway_pass(self.g, self.loads, self.part, max(100, n // 20), self.scratch))
            total += won
            after = self.excess
            if after > 0:
                after = self.rebalance()
            if after >= before and (won <= 0 or (total > won and won < _LEAST_GAIN * total)):
                break
        return total

    def settle(self) -> int:
        """Fill empty parts and remove excess by whatever helps, at any cut; returns the excess left."""
        self._fill_empty()
        if self.rebalance() == 0 or self.rebalance(anywhere=True) == 0:
            return 0
        free = np.flatnonzero(self.scratch.state != kernels.PINNED)
        load = (self.loads.vwgts[free] * self.loads.scale.astype(np.float64)).max(axis=1)
        order = free[np.argsort(-load, kind="stable")].astype(VERTEX)
        before = self.excess
        after = int(kernels.swap_excess(self.loads, self.part, order, _PAIRS))
        while 0 < after < before:
            before = after
            self.rebalance(anywhere=True)
            after = int(kernels.swap_excess(self.loads, self.part, order, _PAIRS))
        if after:
            packed = self.part.copy()
            left = int(kernels.pack(self.loads, packed, order))
            if left < after:
                self.part[:] = packed
                after = left
            else:
                kernels.weigh(self.part, self.loads)
        return after

    def _fill_empty(self) -> None:
        """Give every empty part a free vertex of a part that has others: what adds least excess, then the lightest."""
        population = self.loads.population
        if population.all():
            return
        scale = self.loads.scale.astype(np.float64)
        movable = self.scratch.state != kernels.PINNED
        for p in np.flatnonzero(population == 0):
            rest = np.flatnonzero(movable & (population[self.part] > 1))
            vectors = self.loads.vwgts[rest]
            over = np.maximum(vectors - self.loads.limits[p], 0) @ scale
            lightest = rest[np.lexsort((vectors @ scale, over))[0]]
            self.part[lightest] = p
            kernels.weigh(self.part, self.loads)


# ---- what the functions here share
def weight_vectors(vwgts: ArrayLike, nvtxs: int) -> NDArray[np.int64]:
    """(nvtxs, ncon) int64 weights, C-ordered, from numbers of that shape or (nvtxs,)."""
    given = np.asarray(vwgts)
    if given.ndim == 1:
        given = given[:, None]
    if given.ndim != 2 or len(given) != nvtxs or given.shape[1] < 1:
        raise GraphError(f"vwgt: needs shape ({nvtxs}, ncon), has {np.shape(vwgts)}")
    columns = [weights(f"vwgt of constraint {c}", given[:, c], nvtxs, GraphError) for c in range(given.shape[1])]
    if sum(float(column.sum()) for column in columns) >= MAX_TOTAL:
        raise GraphError("vwgt: the sum of all weights overflows; scale them to below 2^61 in total")
    out: NDArray[np.int64] = np.ascontiguousarray(np.stack(columns, axis=1))
    return out


def excess_units(vwgts: Array) -> NDArray[np.int64]:
    """(ncon,) int64 units of excess a unit of weight, so that the total of every constraint counts about alike."""
    totals = np.maximum(vwgts.sum(axis=0), 1)
    out: NDArray[np.int64] = max(_UNITS, int(totals.max())) // totals
    return out


def pinned_parts(fixed: ArrayLike | None, nvtxs: int, nparts: int) -> NDArray[np.int32]:
    """(nvtxs,) int32 parts of the fixed vertices, or an empty array where none is."""
    if fixed is None:
        return np.zeros(0, VERTEX)
    pinned = integers("fixed", fixed, VERTEX, PartitionError, low=FREE, high=nparts, size=nvtxs)
    return pinned if (pinned >= 0).any() else np.zeros(0, VERTEX)


def finest(graph: Graph, pinned: Array) -> Level:
    """The input as kernels see it, without vertex weights."""
    none = np.zeros(0, WEIGHT)
    arrays = (graph.xadj, graph.adjncy, graph.kernel_ewgt, none, pinned, np.zeros(0, VERTEX), none)
    return Level(*(_writable(a) for a in arrays))


def _writable(array: Array) -> Array:
    """The same memory without the read-only mark, which would make a second signature of every kernel."""
    view = array.view()
    try:
        view.flags.writeable = True
    except ValueError:  # the caller's own memory is read-only
        return array.copy()
    return view


def _limits(limits: ArrayLike, vwgts: Array) -> NDArray[np.int64]:
    """(nparts, ncon) int64 from limits of shape (ncon, nparts); never above the total of a constraint."""
    given = np.asarray(limits)
    if given.ndim != 2 or given.shape[0] != vwgts.shape[1] or given.shape[1] < 1:
        raise PartitionError(f"limits: needs shape ({vwgts.shape[1]}, nparts), has {given.shape}")
    rows = [integers(f"limits of constraint {c}", row, WEIGHT, PartitionError, low=0) for c, row in enumerate(given)]
    out: NDArray[np.int64] = np.ascontiguousarray(np.minimum(np.stack(rows, axis=1), vwgts.sum(axis=0)))
    return out


def check_limits(vwgts: Array, limits: Array, pinned: Array, strict: bool) -> None:
    """Raise PartitionError for what no partition can meet; balance is forgiven where not `strict`."""
    n, k = len(vwgts), len(limits)
    if k > n:
        raise PartitionError(f"nparts: {k} parts of {n} vertices would leave parts empty; ask for at most {n}")
    free = np.ones(n, np.bool_)
    if len(pinned):
        free = pinned < 0
        empty = k - len(np.unique(pinned[~free]))
        if empty > int(free.sum()):
            raise PartitionError(f"fixed: {empty} parts have no fixed vertex and only {int(free.sum())} vertices are "
                                 f"free, so parts would be empty")
    if not strict:
        return
    held = np.zeros_like(limits)
    if len(pinned):
        np.add.at(held, pinned[~free], vwgts[~free])
    over = np.argwhere(held > limits)
    if len(over):
        p, c = over[0]
        raise PartitionError(f"fixed: the vertices fixed to part {p} weigh {held[p, c]} in constraint {c}, more than "
                             f"its limit {limits[p, c]}; free some of them or raise the limit")
    total, room = vwgts.sum(axis=0), limits.astype(object).sum(axis=0)
    for c in range(vwgts.shape[1]):
        if total[c] > room[c]:
            raise PartitionError(f"limits: constraint {c} weighs {total[c]} in all, its limits allow {room[c]}; "
                                 f"raise them")
    # a vertex larger than the largest limit of one constraint fits nowhere; the others are tried one by one
    largest = limits.max(axis=0)
    suspect = np.flatnonzero(free & (vwgts > limits.min(axis=0)).any(axis=1))
    for v in suspect[(vwgts[suspect] > largest).any(axis=1)][:1]:
        c = int(np.argmax(vwgts[v] > largest))
        raise PartitionError(f"vwgt: vertex {v} weighs {vwgts[v, c]} in constraint {c}, more than any part may "
                             f"({largest[c]}); raise eps, use fewer parts, or pass strict=False")
    for v in _without_part(vwgts, limits, suspect)[:1]:
        raise PartitionError(f"vwgt: vertex {v} with weights {vwgts[v].tolist()} fits in no part; raise the limits, "
                             f"or pass strict=False")


def _without_part(vwgts: Array, limits: Array, vertices: Array) -> Array:
    """Those of `vertices` whose weights are below the limits of no part."""
    kinds = np.unique(limits, axis=0)
    fits = np.zeros(len(vertices), np.bool_)
    for row in kinds:
        fits |= (vwgts[vertices] <= row).all(axis=1)
    out: Array = vertices[~fits]
    return out


def complain(refiner: Refiner, strict: bool) -> None:
    """Raise, or log where not `strict`, which limit the best partition found breaks most."""
    loads = refiner.loads
    over = (loads.pwgts - loads.limits) * loads.scale.astype(np.float64)
    p, c = (int(i) for i in np.unravel_index(np.argmax(over), over.shape))
    others = int((over > 0).sum()) - 1
    more = "" if others == 0 else f" (and {others} more limits are broken)"
    message = (f"balance: no partition within the limits was found; part {p} weighs {loads.pwgts[p, c]} in constraint "
               f"{c} where {loads.limits[p, c]} is allowed{more}")
    if strict:
        raise PartitionError(f"{message}; raise eps, or pass strict=False to take it")
    logger.warning("%s", message)


__all__ = ["refine_multiconstraint"]
