"""`map_graph`: the vertices of a graph onto the processors of a machine, in one call."""

from __future__ import annotations

import logging
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from ..arrays import VERTEX, WEIGHT, integers, sums, tolerance, whole
from ..errors import MappingError
from ..graph import Graph, as_graph
from ..kernels import Level, Pull
from ..metrics import max_part_weights
from ..names import MappingPresetName
from ..partitioner.rounds import Team
from ..partitioner.settling import settle
from .architectures.architecture import Architecture, BaseArchitecture
from .architectures.deco2 import MultilevelDecomposition
from .architectures.subset import Subset
from .evaluation import architecture_of
from .kway import MappingConfig, code_of, map_level, refine_level, settings
from .machine import Machine

logger = logging.getLogger(__name__)

Array = np.ndarray[Any, Any]


#: Parts and processors are counted in 32 bits.
MOST = 2**31 - 1


def map_graph(
    graph: Any,
    machine: Machine | Architecture,
    *,
    eps: float = 0.05,
    seed: int = 1,
    preset: MappingPresetName | MappingConfig = "default",
    fixed: ArrayLike | None = None,
    old: ArrayLike | None = None,
    migration_cost: int = 1,
    strict: bool = True,
) -> NDArray[np.int32]:
    """Map a graph onto a machine: small sum of edge weight times distance, load in proportion to compute power.

    Parameters
    ----------
    graph : Graph or graph-like
        Vertex weights are loads, edge weights communication.
    machine : Machine or Architecture
    eps : float
        Imbalance tolerance, a fraction: processor p takes at most ``floor((1 + eps) * ceil(W * share_p))``.
    seed : int
        Same seed, same mapping.
    preset : {"fast", "default", "strong"} or MappingConfig
        How much time to spend.
    fixed : (nvtxs,) array_like of int, optional
        Processor of each vertex that may not move, -1 elsewhere.
    old : (nvtxs,) array_like of int, optional
        An earlier mapping to start from, -1 for new vertices.
    migration_cost : int
        With `old`: a moved vertex costs this, times its `vsize`, times the distance from its old processor.
    strict : bool
        Raise where no balanced mapping is found; False returns the best balance found and logs a warning.

    Returns
    -------
    (nvtxs,) int32
        Processor of every vertex; processors may stay idle.

    Raises
    ------
    MappingError
        A processor has no compute power, the machine falls into pieces, fixed vertices or a single vertex are heavier
        than a processor may be loaded, or no balanced mapping was found.

    Examples
    --------
    >>> from copart.mapping.architectures.regular import Grid
    >>> path = Graph.from_edges(4, [0, 1, 2], [1, 2, 3])
    >>> place = map_graph(path, Grid([4, 1]))
    >>> [abs(int(a) - int(b)) for a, b in zip(place[1:], place[:-1])]
    [1, 1, 1]
    """
    graph, target, config = as_graph(graph), architecture_of(machine), settings(preset)
    seed = whole("seed", seed, low=0, high=2**31 - 1)
    n, k = graph.nvtxs, target.nprocs
    check_machine(target)
    pinned = None if fixed is None else integers("fixed", fixed, VERTEX, MappingError, low=-1, high=k, size=n)
    limit = _limits(graph, target, tolerance("eps", eps), pinned, strict)
    if n == 0 or k == 1:
        return np.zeros(n, VERTEX)
    level = _level(graph, pinned, old, k, migration_cost)
    part = map_level(level, target, limit, config, seed)
    over = np.maximum(sums(part, level.vwgt, k) - limit, 0)
    if over.any() and n >= k:
        # the partitioner leaves no part empty, which takes as many vertices as processors
        part = _settled(level, target, part, limit, config, seed)
    load = sums(part, level.vwgt, k)
    over = np.maximum(load - limit, 0)
    if over.any():
        p = int(np.argmax(over))
        message = (f"balance: no mapping within the limits was found; processor {p} has load {load[p]} where "
                   f"{limit[p]} is allowed")
        if strict:
            raise MappingError(f"{message}; raise eps, or take the best balance (strict=False, "
                               "--best-balance)")
        logger.warning("%s", message)
    return part


def map_one_each(graph: Graph, machine: Machine | Architecture, seed: int) -> NDArray[np.int32]:
    """A mapping with at most one vertex on each processor, whatever its compute power.

    Parameters
    ----------
    graph : Graph
        Without vertex weights.
    machine : Machine or Architecture
    seed : int
    """
    target = architecture_of(machine)
    if isinstance(target, BaseArchitecture):
        check_machine(target)
        target = target.of_equal_power()
    return map_graph(graph, target, eps=0.0, seed=seed)


def check_machine(target: Architecture) -> None:
    """MappingError where a processor has no compute power or cannot be reached, or where there are too many."""
    if target.nprocs > MOST:
        raise MappingError(f"machine: graphs are mapped onto at most {MOST} processors, it has {target.nprocs}; "
                           f"leave some out")
    weak = np.flatnonzero(np.asarray(target.weights) <= 0)
    if len(weak):
        raise MappingError(f"machine: {len(weak)} processors have no compute power, first processor {weak[0]}; leave "
                           f"them out")
    base = target.base if isinstance(target, Subset) else target
    if isinstance(base, MultilevelDecomposition):
        # connected as it is made, and a search for each of a million processors takes minutes
        return
    apart = target.distances(0, np.arange(target.nprocs))
    lost = np.flatnonzero(~np.isfinite(apart))
    if len(lost):
        raise MappingError(f"machine: {len(lost)} processors cannot be reached from processor 0, first processor "
                           f"{lost[0]}; map onto one connected piece")


def _limits(graph: Graph, target: Architecture, eps: float, pinned: Array | None, strict: bool) -> Array:
    """Largest load of each processor."""
    k, power = target.nprocs, np.asarray(target.weights)
    equal = power.min() == power.max()
    limit = max_part_weights(graph.total_weight, k, eps, None if equal else power)
    limit = np.minimum(limit, max(graph.total_weight, 1))
    heaviest = int(graph.weights.max(initial=0))
    if heaviest > limit.max():
        if strict:
            raise MappingError(f"vwgt: vertex {int(np.argmax(graph.weights))} weighs {heaviest}, more than a processor "
                               f"may be loaded with ({limit.max()}); raise eps, or take the best balance "
                               f"(strict=False, --best-balance)")
        limit = np.maximum(limit, heaviest)
    if pinned is not None:
        held = pinned >= 0
        need = sums(pinned[held], graph.weights[held], k)
        over = np.flatnonzero(need > limit)
        if len(over) and strict:
            p = int(over[0])
            raise MappingError(f"fixed: the vertices fixed to processor {p} weigh {need[p]}, more than its limit "
                               f"{limit[p]}; free some of them or raise eps")
        limit = np.maximum(limit, need)
    return limit.astype(WEIGHT)


def _level(graph: Graph, pinned: Array | None, old: ArrayLike | None, nprocs: int, cost: int) -> Level:
    """The graph as kernels see it."""
    none = np.zeros(0, VERTEX)
    origin, size = none, np.zeros(0, WEIGHT)
    price = whole("migration_cost", cost, low=0, high=MOST)
    if old is not None:
        before = integers("old", old, VERTEX, MappingError, low=-1, high=nprocs, size=graph.nvtxs)
        if price:
            # a new vertex may go anywhere: size 0
            origin, size = np.maximum(before, 0).astype(VERTEX), np.where(before >= 0, price * graph.sizes, 0)
    fixed = none if pinned is None or (pinned < 0).all() else pinned
    level = Level(xadj=graph.xadj, adjncy=graph.adjncy, ewgt=graph.kernel_ewgt, vwgt=graph.weights, fixed=fixed,
                  origin=origin, size=size.astype(WEIGHT))
    # kernels are compiled for writable arrays
    return Level._make(a if a.flags.writeable else a.copy() for a in level)


def _settled(g: Level, target: Architecture, part: Array, limit: Array, config: MappingConfig, seed: int) -> Array:
    """Balance by the means of the partitioner, which look at nothing else, then refinement."""
    none = np.zeros(0, VERTEX)
    plain = g._replace(origin=none, size=np.zeros(0, WEIGHT))
    with Team(1) as team:
        settle(plain, Pull(ptr=np.zeros(1, np.int64), idx=none, val=np.zeros(0, np.int64)), part, limit, team, seed)
    refine_level(g, code_of(target), part, limit, config)
    return part
