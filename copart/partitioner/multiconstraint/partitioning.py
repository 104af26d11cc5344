"""Multilevel partitioning under several balance constraints, and its last stage alone."""

from __future__ import annotations

import logging
from typing import Any, Unpack

import numpy as np
from numpy.typing import ArrayLike, NDArray

from ...arrays import VERTEX, WEIGHT, part_array, tolerance, whole, writable
from ...errors import ConfigError, PartitionError
from ...graph import Graph, as_graph
from ...kernels import Level
from ...kernels.multiconstraint_bisection import Arena, bisect_recursively
from ...kernels.weights import type_of
from ...metrics import max_part_weights
from ...options import Config, Effort, Options
from ..arenas import queues_for
from ..coarsening import coarsen, coarsest_size
from ..numbering import renumber
from ..refinement import cut_of
from ..rounds import Team
from ..shape import known_shape
from .limits import check_count, check_limits, excess_units, limits_matrix, pinned_parts, weight_vectors
from .refinement import Refiner

logger = logging.getLogger(__name__)

Array = np.ndarray[Any, Any]

#: Growths of each bisection: one for so many vertices of the input, within bounds.
_VERTICES_A_TRY, _TRIES = 1500, (8, 16)

#: Below this many vertices there is time for more initial partitions, up to three times as many.
_SMALL = 3000

#: Coarsening stops at so many vertices at least: with half of them balance costs 4 % more cut in up to 16 parts.
_LEAST = 1500

#: One round of refinement under looser limits for so many rounds of cooling.
_COOLING = 3


def partition_multiconstraint(
    graph: Any,
    nparts: int,
    vwgts: ArrayLike | None = None,
    options: Options | None = None,
    *,
    eps: float | ArrayLike | None = None,
    limits: ArrayLike | None = None,
    tpwgts: ArrayLike | None = None,
    fixed: ArrayLike | None = None,
    strict: bool = True,
    **settings: Unpack[Effort],
) -> NDArray[np.int32]:
    """Partition a graph into `nparts` parts of small edge cut that balance several weights at once.

    Parameters
    ----------
    graph : Graph or graph-like
        See :func:`copart.graph.as_graph`.
    nparts : int
        Number of parts, 1 to nvtxs.
    vwgts : (nvtxs, ncon) array_like of int, optional
        Weights of each vertex, not negative; those of the graph where not given.
    options : Options, optional
        eps, seed, threads and preset (:class:`copart.options.Options`); each also by its own name, as in ``seed=2``.
    eps : float or (ncon,) array_like of float, optional
        Imbalance tolerance of all constraints, or of each; that of `options` where not given.  No part weighs more
        than ``floor((1 + eps) * ceil(W_c / nparts))`` in constraint c.
    limits : (ncon, nparts) array_like of int, optional
        Largest weight of each constraint in each part, instead of `eps` and `tpwgts`.
    tpwgts : (nparts,) or (ncon, nparts) array_like of float, optional
        Target share of each part, of all constraints or of each; equal where not given.
    fixed : (nvtxs,) array_like of int, optional
        Part of each pinned vertex, -1 (``FREE``) elsewhere.
    strict : bool
        Raise where the limits are not reached; False returns the best found and logs a warning.

    Returns
    -------
    (nvtxs,) int32
        Part of every vertex; none is empty.

    Raises
    ------
    PartitionError
        No such partition exists, or none was found: feasibility is NP-hard to tell.
    ConfigError, GraphError
        An argument is out of range, or the graph is not one.

    Examples
    --------
    >>> path = Graph.from_edges(4, [0, 1, 2], [1, 2, 3])
    >>> part = partition_multiconstraint(path, 2, [[1, 1], [1, 1], [1, 0], [1, 0]], eps=0)
    >>> sorted(part[:2].tolist()), sorted(part[2:].tolist())
    ([0, 1], [0, 1])
    """
    options = Options.of(options, settings)
    config, seed = options.config, options.seed
    graph = as_graph(graph, options.threads)
    k = whole("nparts", nparts, low=1)
    check_count(graph.nvtxs, k)  # before limits are made for all of them
    vectors = weight_vectors(graph.weight_vectors if vwgts is None else vwgts, graph.nvtxs)
    if limits is None:
        limits = even_limits(vectors, k, options.eps if eps is None else _tolerances(eps), tpwgts)
    bounds = limits_matrix(limits, vectors)
    if len(bounds) != k:
        raise PartitionError(f"limits: are of {len(bounds)} parts, nparts is {k}")
    pinned = pinned_parts(fixed, graph.nvtxs, k)
    check_limits(vectors, bounds, pinned, strict)
    if k == 1:
        return np.zeros(graph.nvtxs, VERTEX)
    level, place = finest(graph, pinned, vectors), None
    with Team(options.threads) as team:
        shape, stop = known_shape(graph, level), max(coarsest_size(config, k), _LEAST)
        if shape.far:
            level, order, place = renumber(level, shape, team, stop)
            vectors = vectors[order]
        levels, maps, rows = coarsen(level, stop, shape, team, least=k, rows=vectors)
        part = _initial(levels[-1], rows[-1], bounds, config, graph.nvtxs, seed * 256, team)
    while maps:
        levels.pop()
        rows.pop()
        part = part[maps.pop()]
        refiner = Refiner(levels[-1], rows[-1], bounds, part)
        refiner.improve(config.cooling // _COOLING if len(part) <= 2 * stop else 1)
    refiner = Refiner(level, vectors, bounds, part)
    if refiner.settle():
        refiner.complain(strict)
    return part if place is None else part[place]


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
    bounds = limits_matrix(limits, vectors)
    k = len(bounds)
    start = part_array("part", part, graph.nvtxs, k, PartitionError).copy()
    pinned = pinned_parts(fixed, graph.nvtxs, k)
    if len(pinned):
        start = np.where(pinned >= 0, pinned, start).astype(VERTEX)
    check_limits(vectors, bounds, pinned, strict)
    refiner = Refiner(finest(graph, pinned, vectors), vectors, bounds, start)
    refiner.settle()
    refiner.improve(rounds=1)
    if refiner.settle():
        refiner.complain(strict)
    return start


def _tolerances(eps: float | ArrayLike) -> float | list[float]:
    """One tolerance, or one per constraint, checked."""
    if np.ndim(eps) == 0:
        return tolerance("eps", eps)
    return [tolerance("eps", one) for one in np.ravel(np.asarray(eps))]


def even_limits(vwgts: Array, nparts: int, eps: float | ArrayLike, tpwgts: ArrayLike | None) -> NDArray[np.int64]:
    """(ncon, nparts) int64 limits from a tolerance and shares, for all constraints or for each."""
    ncon = vwgts.shape[1]
    slack = np.asarray(eps)
    if slack.shape not in ((), (ncon,)):
        raise ConfigError(f"eps: needs one number, or {ncon}, one per constraint; has shape {slack.shape}")
    shares = [tpwgts] * ncon
    if tpwgts is not None and np.ndim(tpwgts) == 2:
        shares = list(np.asarray(tpwgts))
        if len(shares) != ncon:
            raise ConfigError(f"tpwgts: needs {ncon} rows, one per constraint, has {len(shares)}")
    totals = vwgts.sum(axis=0)
    return np.array([max_part_weights(int(totals[c]), nparts, slack.tolist() if slack.ndim == 0 else slack[c].item(),
                                      shares[c]) for c in range(ncon)])


def _initial(g: Level, vwgts: Array, limits: Array, config: Config, nvtxs: int, salt: int, team: Team) -> Array:
    """The best of several recursive bisections of the coarsest graph, refined: least excess, then least cut."""
    # balance of several weights is harder to find: twice the tries
    n, runs = len(vwgts), 2 * max(1, config.tries // 4) * int(np.clip(_SMALL // nvtxs, 1, 3))
    tries = int(np.clip(nvtxs // _VERTICES_A_TRY, *_TRIES))
    scale = excess_units(vwgts)

    def run(job: int, arena: Arena) -> tuple[int, int, int, Array]:
        part, vertices = np.zeros(n, VERTEX), np.arange(n, dtype=VERTEX)
        bisect_recursively(g, vwgts, limits, scale, vertices, tries, salt + _TRIES[1] * job, part, arena)
        refiner = Refiner(g, vwgts, limits, part)
        refiner.settle()
        refiner.improve(config.cooling // _COOLING)
        return refiner.excess, cut_of(g, part), job, part

    arenas = [_arena(g, vwgts.shape[1]) for _ in range(min(team.threads, runs))]
    best: Array = min(team.spread(run, runs, arenas), key=lambda found: found[:3])[3]
    return best


def _arena(g: Level, ncon: int) -> Arena:
    """Memory for one bisection after the other, sized for the whole graph."""
    n, m = len(g.vwgt), len(g.adjncy)
    return Arena(
        xadj=np.empty(n + 1, WEIGHT),
        adjncy=np.empty(m, VERTEX),
        ewgt=np.empty(m, type_of(g)),
        vwgts=np.empty((n, ncon), WEIGHT),
        new=np.full(n, -1, VERTEX),
        side=np.empty(n, VERTEX),
        best=np.empty(n, VERTEX),
        other=np.empty(n, VERTEX),
        queues=queues_for(n, ncon),
    )


def finest(graph: Graph, pinned: Array, vwgts: Array) -> Level:
    """The input as kernels see it; a vertex weighs the sum of its weights in units of :func:`excess_units`."""
    scalar = vwgts @ excess_units(vwgts)
    level = Level(xadj=graph.xadj, adjncy=graph.adjncy, ewgt=graph.kernel_ewgt, vwgt=scalar, fixed=pinned,
                  origin=np.zeros(0, VERTEX), size=np.zeros(0, WEIGHT))
    return Level._make(writable(a) for a in level)
