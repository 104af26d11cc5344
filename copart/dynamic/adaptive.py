"""Adaptive repartitioning: new weights, the same processes, as little data moved as pays.

What is minimised is ``alpha * cut + migration``: `alpha` is how often the edges are
paid for (iterations until the next repartitioning) beside the one time that data moves.

The graph is coarsened inside the former parts, so that the coarsest graph still is
the former partition; on the way back up vertices move that gain in both terms
together.  Other starts are refined alike: the former partition improved for its cut
alone; one from scratch whose parts get the numbers that keep most data in place; where the
number of parts changes, an M x N partition and a diffusive one.  The best of them is taken, so that after a
moderate change little moves, and after a violent one the result is as good as from scratch.
(Schloegel, Karypis & Kumar 2000, the unified repartitioning algorithm.)
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from contextlib import suppress
from fractions import Fraction
from typing import Any, Unpack

import numpy as np
from numpy.typing import ArrayLike, NDArray

from ..arrays import FREE, MAX_TOTAL, VERTEX, WEIGHT, PartArray, fraction, integers, part_array
from ..errors import ConfigError, PartitionError
from ..graph import Graph
from ..kgggp_ml import partition
from ..metrics import copartition_limit, edge_cut, migration_matrix, migration_volume
from ..options import Options, Settings
from ..partitioner.affinity import Affinity, finest
from ..partitioner.feasibility import feasible_limits, overweight
from ..partitioner.multilevel import cycle
from ..partitioner.rounds import Team
from ..partitioner.settling import settle
from ..partitioner.shape import known_shape
from ..repart import migration_plan, repartition, repartitioning_arguments

#: Edges and sizes are scaled to whole numbers whose ratio is `alpha`; no number is larger than this.
_FINEST_RATIO = 64

#: A unit of data weighs at most 10^15 edges.
_LEAST_ALPHA = 1e-15


def adaptive_repartition(graph: Any, part: ArrayLike, m: int, n: int, options: Options | None = None, *,
                         alpha: float = 5.0, fixed: ArrayLike | None = None, starts: Sequence[PartArray] = (),
                         extra: Callable[[PartArray], float] | None = None, **settings: Unpack[Settings]) -> PartArray:
    """Balanced `n`-way partition of small ``alpha * cut + migration``, seen from the `m`-way partition `part`.

    Parameters
    ----------
    graph : Graph or graph-like
        ``vwgt`` is balanced, ``vsize`` is the data that moves with a vertex.
    part : (nvtxs,) array_like of int
        Former parts ``0..m-1``; may be unbalanced, and some may be empty.
    m, n : int
        Number of former and of new parts; new part j is the same process as former part j.
    options : Options, optional
        eps, seed, threads and preset (:class:`copart.options.Options`); each also by its own name, as in ``seed=2``.
        No part weighs more than ``(1 + eps) * W / n``, where whole weights allow it; with preset "fast" and n = m
        only the former parts and `starts` are refined.
    alpha : float
        What a cut edge of weight 1 costs until the next repartitioning, beside 1 for a unit of
        ``vsize`` that moves; positive.
    fixed : (nvtxs,) array_like of int, optional
        New part of each pinned vertex, -1 elsewhere.
    starts : sequence of (nvtxs,) int32, optional
        Further `n`-way partitions to begin with.
    extra : callable, optional
        Cost of a partition beside its cut and in the same unit; it decides between the refined starts.

    Returns
    -------
    (nvtxs,) int32
        New part of every vertex.

    Raises
    ------
    PartitionError
        The former parts are out of range, there are fewer vertices than new parts, or no balanced partition exists.
    ConfigError
        Another argument is out of range.

    Examples
    --------
    >>> path = Graph.from_edges(6, range(5), range(1, 6), vwgt=[1, 1, 1, 1, 1, 3])
    >>> adaptive_repartition(path, [0, 0, 0, 1, 1, 1], 2, 2, eps=0).tolist()
    [0, 0, 0, 0, 1, 1]
    """
    run = Options.of(options, settings)
    graph, former, m, n = repartitioning_arguments(graph, part, m, n)
    pinned = None if fixed is None else integers("fixed", fixed, VERTEX, PartitionError, low=-1, high=n,
                                                 size=graph.nvtxs)
    limit = np.full(n, copartition_limit(graph.total_weight, n, run.eps), WEIGHT)
    limit = feasible_limits(graph, np.minimum(limit, max(graph.total_weight, 1)), pinned, True)
    if pinned is not None and (pinned >= 0).all():
        return pinned.copy()
    if n == 1:
        return np.zeros(graph.nvtxs, VERTEX)
    edge, data = whole_ratio(alpha)
    scaled = scaled_edges(graph, edge)
    if data * float(graph.sizes.sum(dtype=np.float64)) >= MAX_TOTAL:
        raise ConfigError(f"alpha: {alpha!r} makes a unit of data weigh as much as {data} edges, which overflows; give "
                          f"a larger one, or scale the sizes of the vertices down")
    affinity = Affinity(former, data * np.eye(m, n, dtype=WEIGHT))
    config = run.config
    begin = [*starts]
    if m == n:
        begin.append(former)
    else:
        pattern = np.where(migration_plan(graph, former, m, n, eps=run.eps) > 0, data, 0)
        begin.append(partition(scaled, n, run, fixed=pinned, affinity=Affinity(former, pattern), strict=False))
        with suppress(PartitionError):  # it stops where it finds no balance; here that is found later
            begin.append(repartition(graph, former, m, n, run, method="diffusive"))
    if config.patience > 1:  # all presets but "fast"
        if m == n:
            free = former.copy()
            _refined(graph, free, n, limit, None, pinned, run)
            begin.append(free)
        fresh = partition(graph, n, run, fixed=pinned, strict=False)
        begin.append(keep_numbers(fresh, former, m, n, graph.sizes, pinned))
    best: tuple[tuple[int, float], PartArray] | None = None
    for start in begin:
        new = part_array("starts", start, graph.nvtxs, n, PartitionError).copy()
        excess = _refined(scaled, new, n, limit, affinity, pinned, run)
        regular = edge_cut(graph, new) + (0.0 if extra is None else extra(new))
        key = (excess, edge * regular + data * _moved(graph, former, new, m, n))
        if best is None or key < best[0]:
            best = key, new
    assert best is not None
    if best[0][0]:
        raise PartitionError(f"{overweight(best[1], graph, limit)}; raise eps")
    return best[1]


def keep_numbers(new: PartArray, former: PartArray, m: int, n: int, sizes: ArrayLike | None = None,
                 fixed: PartArray | None = None) -> PartArray:
    """Renumber the parts ``0..n-1`` of `new` so that most data keeps the number of its former part.

    A maximum-weight matching (Oliker & Biswas 1998); parts that hold fixed vertices keep their number.

    Parameters
    ----------
    new : (nvtxs,) int32
        New parts, ``0..n-1``.
    former : (nvtxs,) int32
        Former parts, ``0..m-1``.
    m, n : int
        Number of former and of new parts.
    sizes : (nvtxs,) array_like of int, optional
        Data that moves with each vertex; 1 each where not given.
    fixed : (nvtxs,) int32, optional
        Part of vertices that have to keep it, -1 for the others.
    """
    from scipy.optimize import linear_sum_assignment

    stays = np.zeros((n, n))
    both = min(m, n)
    stays[:both] = migration_matrix(former, new, m, n, sizes).toarray()[:both]
    if fixed is not None:
        held = np.unique(fixed[fixed != FREE])
        stays[held, held] = 2.0 * float(stays.sum()) + 1.0
    number, column = linear_sum_assignment(stays, maximize=True)
    renumbered = np.empty(n, VERTEX)
    renumbered[column] = number
    return renumbered[new]


def _refined(graph: Graph, part: PartArray, n: int, limit: NDArray[np.int64], affinity: Affinity | None,
             pinned: PartArray | None, run: Options) -> int:
    """One V-cycle inside the parts of `part`, in place; returns the weight left above the limits."""
    if pinned is not None:
        np.copyto(part, pinned, where=pinned >= 0)
    level, pull = finest(graph, n, pinned, affinity)
    with Team(run.threads) as team:
        part[:] = cycle(level, pull, part.copy(), limit, run.config, run.seed, team, known_shape(graph, level))
        return settle(level, pull, part, limit, team, run.seed)


def _moved(graph: Graph, former: PartArray, new: PartArray, m: int, n: int) -> int:
    return migration_volume(migration_matrix(former, new, m, n, graph.sizes))


def whole_ratio(alpha: float) -> tuple[int, int]:
    """Whole numbers whose ratio is about `alpha`: weight of an edge, and of a unit of data.

    Raises
    ------
    ConfigError
        `alpha` is not a number above 0.
    """
    value = fraction("alpha", alpha)
    if value == 0:
        raise ConfigError("alpha: must be above 0; small values leave everything where it is")
    if value >= _FINEST_RATIO:
        return round(value), 1
    if value < _LEAST_ALPHA:
        raise ConfigError(f"alpha: must be at least {_LEAST_ALPHA:g}, got {alpha!r}; with that, too, nothing moves "
                          f"that need not")
    ratio = Fraction(value).limit_denominator(_FINEST_RATIO)
    return (ratio.numerator, ratio.denominator) if ratio else (1, round(1 / value))


def scaled_edges(graph: Graph, factor: int) -> Graph:
    """The graph with edges that weigh `factor` times as much; ConfigError where their sum overflows."""
    if factor == 1:
        return graph
    if float(graph.edge_weights.sum(dtype=np.float64)) * factor >= MAX_TOTAL:
        raise ConfigError(f"alpha: {factor} times the edge weights overflows; scale it down")
    return graph.replace(ewgt=graph.edge_weights * factor)


__all__ = ["adaptive_repartition", "keep_numbers", "scaled_edges", "whole_ratio"]
