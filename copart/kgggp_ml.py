"""KGGGP-ML: multilevel direct k-way partitioning with fixed vertices.

1. *Coarsen* (`copart.partitioner.coarsening`): matching or label propagation, contraction; a
   cluster never holds two different fixed parts.  Where the graph has hubs, clusters stay inside its
   communities (`copart.partitioner.communities`) as long as these shrink.
2. *Initial partition* (`copart.partitioner.growing`) of the coarsest graph: k-way greedy graph
   growing, all parts at once from their seeds, and recursive bisection
   (`copart.partitioner.bisection`), itself multilevel with KGGGP of two parts; best of several.
3. *Uncoarsen and refine* (`copart.partitioner.refinement`): unconstrained local search in
   synchronous rounds with rebalancing, best balanced state kept, and minimum cuts between pairs
   of parts (`copart.partitioner.flows`); level by level, down to the input graph.  Graphs with hubs
   are partitioned around their core, too (`copart.partitioner.cores`), and refined by k-way FM, on every level a
   little and most at last.
4. *Settle* (`copart.partitioner.settling`): hard promises made good.

What always holds for a partition that is returned: every part weighs at most
``floor((1 + eps) * ceil(W * share))``, fixed vertices are in their parts, no part
is empty, and the same arguments give the same bytes on any number of threads.
(Predari & Esnard 2014, Section III-D; Gilbert et al. 2023 for the refinement.)
"""

from __future__ import annotations

import logging
from typing import Any, Unpack

import numpy as np
from numpy.typing import ArrayLike, NDArray

from .arrays import VERTEX, fraction, integers, part_array, whole
from .errors import ConfigError, PartitionError
from .graph import Graph, as_graph
from .kernels import Level, Pull
from .kernels.contraction import pull_down
from .kernels.stages import stage
from .metrics import edge_cut, max_part_weights
from .options import Config, Options, Settings
from .partitioner.affinity import Affinity, finest
from .partitioner.coarsening import first_size, fitted, fitted_to_small, pays_to_pack, unpacked
from .partitioner.contiguity import Pieces, make_contiguous
from .partitioner.corridors import with_corridors
from .partitioner.evolution import evolve
from .partitioner.feasibility import feasible_limits, overweight
from .partitioner.multilevel import cycle
from .partitioner.numbering import renumber
from .partitioner.refinement import Refiner, cut_of
from .partitioner.rounds import Progress, Team
from .partitioner.settling import settle
from .partitioner.shape import Shape, known_shape

logger = logging.getLogger(__name__)

Array = np.ndarray[Any, Any]

#: Around fixed vertices loose pieces join neighbouring parts where all of them weigh at most so many parts, or else
#: those of at most this share of a part; and where the cut grows by no more than this.
_FEW, _LIGHT, _DEARER = 2, 0.25, 0.03

#: Graphs of fewer vertices are small: memory that is left from stage to stage is a few MB, and saves 2 % of the time.
_SMALL = 1 << 18

#: V-cycles, at most, after parts were made contiguous.
_WIN_BACK = 3


def partition(
    graph: Any,
    nparts: int,
    options: Options | None = None,
    *,
    fixed: ArrayLike | None = None,
    tpwgts: ArrayLike | None = None,
    affinity: Affinity | None = None,
    strict: bool = True,
    contiguous: bool = False,
    time_limit: float | None = None,
    progress: Progress | None = None,
    **settings: Unpack[Settings],
) -> NDArray[np.int32]:
    """Partition a graph into `nparts` balanced parts of small edge cut.

    Parameters
    ----------
    graph : Graph or graph-like
        See :func:`copart.graph.as_graph`.
    nparts : int
        Number of parts, 1 to nvtxs.
    options : Options, optional
        eps, seed, threads and preset (:class:`copart.options.Options`); each also by its own name, as in ``seed=2``.
        No part weighs more than ``floor((1 + eps) * ceil(W / nparts))``.
    fixed : (nvtxs,) array_like of int, optional
        Part of each pinned vertex, -1 (``FREE``) elsewhere.
    tpwgts : (nparts,) array_like of float, optional
        Target share of each part; equal where not given.
    affinity : Affinity, optional
        What vertices gain by being in certain parts, beside the cut.
    strict : bool
        Raise where no balanced partition is found. False returns the best
        balance found and logs a warning.
    contiguous : bool
        Every part in one piece where the graph is: loose pieces join neighbouring parts. Pieces of a part
        that hold fixed vertices, or are whole components of the graph, stay.
    time_limit : float, optional
        Seconds that preset "best" may take, about; without it, it makes a fixed number of
        partitions.  With it, the result depends on the speed of the machine.
    progress : callable, optional
        Called as ``progress(step, 0, 0)`` whenever work on a level of half a million vertices or more begins.

    Returns
    -------
    (nvtxs,) int32
        Part of every vertex.

    Raises
    ------
    PartitionError
        No such partition exists (more parts than vertices, a vertex heavier than
        a part may be, fixed vertices that overfill a part or leave others empty),
        or none was found.
    ConfigError, GraphError
        An argument is out of range, or the graph is not one.

    Examples
    --------
    >>> from copart.graph import Graph
    >>> path = Graph.from_edges(4, [0, 1, 2], [1, 2, 3])
    >>> part = partition(path, 2, eps=0.0)
    >>> bool(part[0] == part[1] != part[2] == part[3])
    True
    """
    options = Options.of(options, settings)
    graph, k = _arguments(graph, nparts, options.threads)
    # without an end, preset "best" would never have one
    if time_limit is not None and fraction("time_limit", time_limit) == 0:
        raise ConfigError(f"time_limit: must be above 0 seconds, got {time_limit}")
    n = graph.nvtxs
    limit = np.minimum(max_part_weights(graph.total_weight, k, options.eps, tpwgts), graph.total_weight)
    pinned = None if fixed is None else integers("fixed", fixed, VERTEX, PartitionError, low=-1, high=k, size=n)
    limit = feasible_limits(graph, limit, pinned, strict, tpwgts)
    if k == 1:
        return np.zeros(n, VERTEX)
    if pinned is not None and (pinned >= 0).all():
        return pinned.copy()

    config, seed = fitted(options.config, n, k), options.seed
    with Team(options.threads, progress, small=n < _SMALL) as team:
        with stage("numbering"):
            level, pull = finest(graph, k, pinned, affinity, own=True)
            shape = known_shape(graph, level)
            if pinned is None and affinity is None:
                config = fitted_to_small(config, n, k, shape)
            coords = graph.coords
            if shape.far:
                level, order, place = renumber(level, shape, team, first_size(config, n, k, shape))
                coords = None if coords is None else coords[order]
        if graph.vwgt is None and pays_to_pack(len(level.adjncy), team):
            # while coarser levels are at work, a byte each instead of eight
            level = level._replace(vwgt=level.vwgt.astype(np.uint8))
        part = evolve(level, pull, limit, config, seed, team, shape, coords, time_limit)
        level = unpacked(level, team)
        with stage("balance"):
            excess = settle(level, pull, part, limit, team, seed)
        if contiguous:
            with stage("joining pieces"):
                part, excess = _in_one_piece(level, pull, part, limit, config, team, shape, seed)
        if shape.far:
            renumbered, part = part, np.empty_like(part)
            team.run(pull_down, n, place, renumbered, part)
    if excess:
        message = overweight(part, graph, limit)
        if strict:
            raise PartitionError(message, ways=["raise eps"], best=True)
        logger.warning("%s", message)
    return part


def _in_one_piece(
    level: Level, pull: Pull, part: Array, limit: Array, config: Config, team: Team, shape: Shape, seed: int
) -> tuple[Array, int]:
    """Contiguous parts and the weight left above the limits; V-cycles win back what joining pieces cost."""
    free = cut_of(level, part)
    excess = make_contiguous(level, pull, part, limit, config, team, seed)
    for turn in range(_WIN_BACK):
        key = (excess, cut_of(level, part))
        if key <= (0, free):
            break
        again = cycle(level, pull, part.copy(), limit, config, seed + 7919 * (turn + 1), team, shape)
        settle(level, pull, again, limit, team, seed)
        left = make_contiguous(level, pull, again, limit, config, team, seed)
        if (left, cut_of(level, again)) < key:
            part, excess = again, left
    return part, excess


def extend(graph: Graph, nparts: int, fixed: NDArray[np.int32], options: Options) -> NDArray[np.int32]:
    """A partition of a graph around fixed vertices, in as few pieces as these allow.

    Where fixed vertices of one part lie apart, free ones that join them are fixed, too
    (:mod:`copart.partitioner.corridors`), as long as balance allows; pieces without fixed vertices join
    neighbouring parts.

    Parameters and errors as in :func:`partition`; a piece that balance needs stays.
    """
    graph, nparts = _arguments(graph, nparts)
    limit = np.minimum(max_part_weights(graph.total_weight, nparts, options.eps), graph.total_weight)
    level, _ = finest(graph, nparts, fixed, None)
    ways = with_corridors(level, limit) if len(level.fixed) else fixed
    dug = bool((ways != fixed).any())
    try:
        part = partition(graph, nparts, options, fixed=ways)
    except PartitionError:
        if not dug:
            raise
        part, ways, dug = partition(graph, nparts, options, fixed=fixed), fixed, False
    found = Pieces.of(level, part, nparts)
    loose = int(found.weight[found.loose].sum())
    if not found.loose.any() and not dug:
        return part
    cut = edge_cut(graph, part)
    for most in (1.0, _LIGHT, 0.0) if loose <= _FEW * limit.max() else (_LIGHT, 0.0):
        joined, excess = joined_pieces(graph, part, limit, options, fixed=fixed, ways=ways, most=most, turns=2)
        if not excess and edge_cut(graph, joined) <= (1 + _DEARER) * cut:
            return joined
    return part


def joined_pieces(
    graph: Graph,
    part: NDArray[np.int32],
    limit: NDArray[np.int64],
    options: Options,
    *,
    fixed: NDArray[np.int32] | None = None,
    ways: NDArray[np.int32] | None = None,
    group: NDArray[np.int32] | None = None,
    most: float = 1.0,
    turns: int = 6,
) -> tuple[NDArray[np.int32], int]:
    """A partition whose loose pieces have joined neighbouring parts, and the weight left above the limits.

    Parameters
    ----------
    graph : Graph
        With one weight per vertex.
    part : (nvtxs,) int32
    limit : (nparts,) int64
    options : Options
    fixed, ways, group : (nvtxs,) int32, optional
        As for :func:`copart.partitioner.contiguity.make_contiguous`; -1 where a vertex is free.
    """
    made = part.copy()
    level, pull = finest(graph, len(limit), fixed, None)
    with Team(options.threads) as team:
        config = fitted(options.config, graph.nvtxs, len(limit))
        excess = make_contiguous(level, pull, made, limit, config, team, options.seed, ways=ways, group=group,
                                 most=most, turns=turns)
    return made, excess


def _arguments(graph: Any, nparts: int, threads: int = 1) -> tuple[Graph, int]:
    """What both entry points check first: the graph and the number of parts."""
    graph = as_graph(graph, threads)
    k = whole("nparts", nparts, low=1)
    if k > graph.nvtxs:
        raise PartitionError(
            f"nparts: {k} parts of {graph.nvtxs} vertices would leave parts empty; ask for at most {graph.nvtxs}"
        )
    return graph, k


def refine(
    graph: Any,
    part: ArrayLike,
    nparts: int,
    options: Options | None = None,
    *,
    fixed: ArrayLike | None = None,
    tpwgts: ArrayLike | None = None,
    affinity: Affinity | None = None,
    **settings: Unpack[Settings],
) -> NDArray[np.int32]:
    """Improve a given partition in place of making one: the last stage of :func:`partition` alone.

    `part` may be unbalanced or leave parts empty; vertices in `fixed` must be in their parts.
    Parameters, result and errors as in :func:`partition`.

    Parameters
    ----------
    graph : Graph
    part : (nvtxs,) array_like of int
        Part of every vertex, ``0..nparts-1``.
    nparts : int
        Number of parts.
    options : Options, optional
        eps, seed, threads and preset (:class:`copart.options.Options`); each also by its own name, as in ``seed=2``.
    fixed : (nvtxs,) array_like of int, optional
        Part of vertices that have to keep it, -1 for the others.
    tpwgts : (nparts,) array_like of float, optional
        Target share of each part; equal where not given.
    affinity : Affinity, optional
        What each vertex gains by being in each part, beside cut edges.
    """
    options = Options.of(options, settings)
    graph, k = _arguments(graph, nparts)
    start = part_array("part", part, graph.nvtxs, k, PartitionError).copy()
    pinned = (
        None if fixed is None else integers("fixed", fixed, VERTEX, PartitionError, low=-1, high=k, size=graph.nvtxs)
    )
    if pinned is not None:
        start = np.where(pinned >= 0, pinned, start).astype(VERTEX)
    limit = feasible_limits(graph, max_part_weights(graph.total_weight, k, options.eps, tpwgts), pinned, True, tpwgts)
    level, pull = finest(graph, k, pinned, affinity)
    seed = options.seed
    with Team(options.threads) as team:
        settle(level, pull, start, limit, team, seed)
        refiner = Refiner(level, pull, start, limit, team, seed, known_shape(graph, level).skewed)
        refiner.improve(options.config, cut_of(level, start), rounds=0)
        excess = settle(level, pull, start, limit, team, seed)
    if excess:
        raise PartitionError(overweight(start, graph, limit), ways=["raise eps"])
    return start


__all__ = ["extend", "joined_pieces", "partition", "refine"]
