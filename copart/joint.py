"""JOINT: both sides of every interface are refined together, in the partitions that NAIVE makes.

1. *Start* from partitions of small cut, each component alone.  The parts with most of the interface become the
   coupled ones; others give up their coupled cells, and a part that is missing gets the nearest coupled cell.
2. *Anneal* the coupled cells of all components as one problem (`copart.kernels.coupled`): cut in the whole
   graphs, volume and messages of a move are known exactly, weight above the limits of the coupled parts has a price.
3. *Refine* every component with its coupled cells where they are.

(The problem: Predari & Esnard 2014, Section II; gain rules: Catalyurek et al. 2013, UMPa.)
"""

from __future__ import annotations

import logging
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from fractions import Fraction
from math import floor
from typing import Any

import numpy as np
from numpy.typing import NDArray

from .arrays import FREE, VERTEX, WEIGHT, fraction, sums
from .counts import Counts, coupled_counts, part_counts, part_room
from .coupled_cells import CoupledCells, Parts, coupled_first
from .coupling import CoPartition, CoupledProblem
from .errors import ConfigError, PartitionError
from .graph import Graph
from .kernels import coupled as kernels
from .kernels.coupled import Cells, Shares
from .kgggp_ml import refine
from .operators import _tight, ext, part, rest_joined

logger = logging.getLogger(__name__)

WEIGHTS = (1.0, 3.0, 60.0)
"""Cost of a cut edge, of a datum sent and of a message (its latency in units of one cell's datum) by default."""

DIRECTIONS = ("both", "forward")
"""Which volume counts: both ways, or from the first component of each pair to the second only."""


@dataclass(frozen=True)
class Schedule:
    """How annealing cools down: number of sweeps; temperature, blur of the messages and price of excess at both ends.

    Prices and temperatures are in units of one cut edge.
    """

    sweeps: int
    heat: tuple[float, float]
    blur: tuple[float, float]
    press: tuple[float, float]


SCHEDULE = Schedule(150, (10.0, 0.1), (50.0, 0.05), (5.0, 50.0))


def joint(
    problem: CoupledProblem,
    nparts: Counts,
    ncoupled: Counts | None = None,
    *,
    interface: str = "spread",
    weights: Sequence[float] = WEIGHTS,
    directions: str = "both",
    **options: Any,
) -> CoPartition:
    """JOINT: partitions of small cut whose interfaces are refined together for cut, volume and messages.

    Parameters
    ----------
    problem : CoupledProblem
        Any number of components.
    nparts : mapping, sequence or int
        Parts of each component, by name or in order.
    ncoupled : mapping, sequence or int, optional
        Parts of each component that may own coupled cells; see :func:`copart.counts.coupled_counts`.
    interface : {"spread", "gather"}
        Over how many parts the coupled cells go where `ncoupled` does not say.
    weights : (float, float, float)
        What a cut edge, a datum sent and a message cost.  A message costs its latency, in units of the time
        that one cell's datum takes.
    directions : {"both", "forward"}
        Whose data count: of both components of a pair, or of the first only.
    **options
        eps, seed, threads, preset.

    Returns
    -------
    CoPartition
        Parts ``0..ncoupled-1`` of each component own its coupled cells.

    Raises
    ------
    ConfigError
        `weights` or `directions` are out of range.
    CouplingError, PartitionError
        No balanced partition exists with the `ncoupled` that was asked for.
    """
    price = _prices(weights)
    if directions not in DIRECTIONS:
        raise ConfigError(f"directions: {directions!r} is not known; choose one of {', '.join(DIRECTIONS)}")
    count = part_counts(problem, nparts)
    coupled = coupled_counts(problem, count, ncoupled, interface=interface, **options)
    parts: Parts = {
        name: coupled_first(graph, problem.coupled(name), part(graph, count[name], **options), count[name])
        for name, graph in problem.components.items()
    }
    cells = CoupledCells(problem, coupled, both=directions == "both")
    limit = _limits(cells, count, fraction("eps", options.get("eps", 0.05)))
    found = _annealed(cells, cells.kernel_cells(parts), cells.gather(parts), limit, price, options)
    moved = cells.scatter(found, parts)
    done = {
        name: _refined(graph, cells.cells[name], moved[name], coupled[name], count[name], options)
        for name, graph in problem.components.items()
    }
    return CoPartition(done, count, coupled)


def _prices(weights: Sequence[float]) -> NDArray[np.float64]:
    """Cost of a cut edge, a datum and a message; checked."""
    try:
        price = np.array(weights, np.float64)
    except (TypeError, ValueError):
        price = np.zeros(0)
    if price.shape != (3,) or not np.isfinite(price).all() or (price < 0).any():
        raise ConfigError(f"weights: needs three numbers from 0 on, for cut, volume and messages; got {weights!r}")
    return price


def _limits(cells: CoupledCells, count: Mapping[str, int], eps: float) -> NDArray[np.int64]:
    """(k,) int64 largest coupled weight of each coupled part: (1 + eps) of the mean, and no more than a part may weigh."""
    limit = np.empty(cells.k, WEIGHT)
    for name, graph in cells.problem.components.items():
        k, load = cells.ncoupled[name], int(graph.weights[cells.cells[name]].sum())
        most = max(-(-load // k), floor((1 + Fraction(repr(eps))) * load / k)) if k else 0
        most = min(most, max(part_room(graph.total_weight, count[name], eps), -(-load // max(k, 1))))
        limit[cells.offset[name] : cells.offset[name] + k] = most
    return limit


def _annealed(
    cells: CoupledCells, g: Cells, start: NDArray[np.int32], limit: NDArray[np.int64], price: NDArray[np.float64],
    options: Mapping[str, Any],
) -> NDArray[np.int32]:
    """The coupled cells annealed from `start`, below their limits."""
    s = cells.shares(start, limit)
    kernels.share_out(g, s)
    _cool(g, s, SCHEDULE, price, int(options.get("seed", 1)))
    if kernels.relieve(g, s, cells.owner, price):
        s = _packed(cells, g, s, price, options)
    return np.asarray(s.part, VERTEX)


def _cool(g: Cells, s: Shares, schedule: Schedule, price: NDArray[np.float64], seed: int) -> None:
    unit = float(price[0]) or 1.0
    kernels.anneal(
        g, s, schedule.sweeps, price, unit * np.array(schedule.heat), np.array(schedule.blur),
        unit * np.array(schedule.press), seed,
    )


def _packed(cells: CoupledCells, g: Cells, s: Shares, price: NDArray[np.float64], options: Mapping[str, Any]) -> Shares:
    """Where heavy cells kept a component above its limits: its coupled subgraph partitioned alone, the rest as it is."""
    part_now, limit = s.part.copy(), s.limit.copy()
    for name, graph in cells.problem.components.items():
        first, k = cells.offset[name], cells.ncoupled[name]
        own = slice(first, first + k)
        if (s.load[own] <= limit[own]).all():
            continue
        sub, where = rest_joined(graph, cells.cells[name])
        alone = part(sub, k, **options)
        part_now[cells.first[name] : cells.first[name] + len(where)] = alone + first
        limit[own] = np.maximum(limit[own], sums(alone, sub.weights, k))
    s = cells.shares(part_now, limit)
    kernels.share_out(g, s)
    return s


def _refined(
    graph: Graph, cells: NDArray[np.int32], start: NDArray[np.int32], k: int, nparts: int, options: Mapping[str, Any]
) -> NDArray[np.int32]:
    """The component refined with its coupled cells where they are; extended anew where that fails to balance it."""
    fixed = np.full(graph.nvtxs, FREE, VERTEX)
    fixed[cells] = start[cells]
    try:
        return refine(graph, start, nparts, fixed=fixed, **_tight(graph, nparts, dict(options)))
    except PartitionError:
        logger.info("refinement did not reach balance, extending anew")
        return ext(graph, cells, start[cells], k, nparts, **options)


__all__ = ["DIRECTIONS", "WEIGHTS", "joint"]
