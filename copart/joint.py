"""JOINT: both sides of every interface are refined together, in partitions of small cut.

1. *Start*: a large component begins as NAIVE's partition; the parts with most of the interface become the coupled
   ones.  A small component is led by the large one that it meets most: the groups of parts that it faces are its own.
2. *Anneal* the coupled cells of all components as one problem (`copart.kernels.coupled`), first clusters of the
   cells that share a cell of the coarser mesh, then single cells.  Cut, volume and messages of a move are exact, weight
   above the limits of the coupled parts has a price.
3. *Refine* large components with their coupled cells where they are, and extend those that were led.

(The problem: Predari & Esnard 2014, Section II; gain rules: Catalyurek, Deveci, Kaya & Ucar 2013, UMPa.)
"""

from __future__ import annotations

import logging
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from .arrays import FREE, VERTEX, WEIGHT, fraction, sums
from .counts import Counts, coupled_counts, part_counts, part_room
from .coupled_cells import CoupledCells, Parts, coupled_first, merged_by_partner
from .coupling import CoPartition, CoupledProblem
from .errors import ConfigError, PartitionError
from .graph import Graph
from .kernels import coupled as kernels
from .kernels.coupled import Cells, Shares
from .kernels.multiconstraint import kway_pass
from .kgggp_ml import partition, refine
from .metrics import edge_cut
from .multiconstraint.partitioning import finest
from .multiconstraint.refinement import Refiner
from .operators import copartition_balance, ext, part, rest_joined

logger = logging.getLogger(__name__)

WEIGHTS = (1.0, 4.0, 100.0)
"""Cost of a cut edge, of a datum sent and of a message (its latency in units of one cell's datum) by default."""

DIRECTIONS = ("forward", "both")
"""Whose volume counts: data from the first component of each pair to the second, as in totV, or both ways."""

FIXES = ("hard", "soft")
"""Whether the coupled cells stay when the components are refined, or are annealed once more thereafter."""


@dataclass(frozen=True)
class Schedule:
    """How annealing cools down: number of sweeps; temperature, blur of the messages, price of excess at both ends.

    Prices and temperatures are in units of one cut edge.
    """

    sweeps: int
    heat: tuple[float, float]
    blur: tuple[float, float]
    press: tuple[float, float]


LEADERS = Schedule(40, (10.0, 0.5), (5.0, 5.0), (2.0, 20.0))
CLUSTERS = Schedule(100, (3.0, 0.5), (5.0, 0.05), (2.0, 5.0))
SINGLE = Schedule(60, (1.0, 0.1), (50.0, 0.05), (2.0, 20.0))
AGAIN = Schedule(50, (0.5, 0.1), (1.0, 0.05), (5.0, 20.0))

DRAWS, SLOWEST = 100_000, 8
"""Draws of cells an annealing makes at least, as long as that is no more than so many times its sweeps."""

SMALL = 100_000
"""Problems of up to so many vertices also start from AWARE's and PROJREPART's partitions, and never fall behind."""

LED = 4
"""A component with less than one in so many of all vertices is led."""

PASSES, STALL = 2, 100
"""Passes of FM over a component, and of how many of its vertices one may be moved in vain before a pass ends."""


def joint(
    problem: CoupledProblem,
    nparts: Counts,
    ncoupled: Counts | None = None,
    *,
    interface: str = "spread",
    weights: Sequence[float] = WEIGHTS,
    directions: str = "forward",
    fix: str = "hard",
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
        Parts of each component that own its coupled cells; see :func:`copart.counts.coupled_counts`.
    interface : {"spread", "gather"}
        Over how many parts the coupled cells go where `ncoupled` does not say.
    weights : (float, float, float)
        What a cut edge, a datum sent and a message cost.  A message costs its latency, in units of the time
        that one cell's datum takes.
    directions : {"forward", "both"}
        Whose data count: from the first component of each pair to the second, or both ways.
    fix : {"hard", "soft"}
        With "soft" the coupled cells are annealed once more in the refined components, which are then
        refined again: a little less cut for more time.
    **options
        eps, seed, threads, preset.

    Returns
    -------
    CoPartition
        Parts ``0..ncoupled-1`` of each component own its coupled cells.

    Raises
    ------
    ConfigError
        `weights`, `directions` or `fix` are out of range.
    CouplingError, PartitionError
        No balanced partition exists with the `ncoupled` that was asked for.

    Examples
    --------
    >>> from copart import Interedges
    >>> line = Graph.from_edges(4, [0, 1, 2], [1, 2, 3])
    >>> facing = CoupledProblem.of_two(line, line, Interedges.from_pairs(4, 4, range(4), range(4)))
    >>> made = joint(facing, 2, 2)
    >>> bool((made.a == made.a[::-1]).any()), sorted(set(made.a.tolist()))
    (False, [0, 1])
    """
    price = _prices(weights)
    for name, value, known in (("directions", directions, DIRECTIONS), ("fix", fix, FIXES)):
        if value not in known:
            raise ConfigError(f"{name}: {value!r} is not known; choose one of {', '.join(known)}")
    count = part_counts(problem, nparts)
    coupled = coupled_counts(problem, count, ncoupled, interface=interface, **options)
    run = _Run(problem, count, coupled, directions == "both", price, options)
    parts, led = run.started()
    parts = run.finished(run.annealed(parts, led), led)
    if fix == "soft":
        parts = run.finished(run.annealed_again(parts), {})
    if sum(graph.nvtxs for graph in problem.components.values()) <= SMALL:
        parts = run.best_of(parts, run.published())
    return CoPartition(parts, count, coupled)


def _prices(weights: Sequence[float]) -> NDArray[np.float64]:
    """Cost of a cut edge, a datum and a message; checked."""
    try:
        price = np.array(weights, np.float64)
    except (TypeError, ValueError):
        price = np.zeros(0)
    if price.shape != (3,) or not np.isfinite(price).all() or (price < 0).any():
        raise ConfigError(f"weights: needs three numbers from 0 on, for cut, volume and messages; got {weights!r}")
    return price


@dataclass(frozen=True)
class _Run:
    """What all stages know."""

    problem: CoupledProblem
    count: Mapping[str, int]
    coupled: Mapping[str, int]
    both: bool
    price: NDArray[np.float64]
    options: Mapping[str, Any]

    @property
    def seed(self) -> int:
        return int(self.options.get("seed", 1))

    @property
    def eps(self) -> float:
        return fraction("eps", self.options.get("eps", 0.05))

    # ---- where to begin
    def started(self) -> tuple[dict[str, NDArray[np.int32]], dict[str, str]]:
        """Partitions whose first parts own the coupled cells, balanced or not; and who is led by whom.

        A component is led if it is small, the other has as many parts on the interface, and is not led itself.  Its
        cells off the interface are in a part of their own here.
        """
        graphs = self.problem.components
        total = sum(graph.nvtxs for graph in graphs.values())
        parts: dict[str, NDArray[np.int32]] = {}
        led: dict[str, str] = {}
        for name in sorted(self.problem.names, key=lambda name: -graphs[name].nvtxs):
            graph, cells, k = graphs[name], self.problem.coupled(name), self.coupled[name]
            met = self._leaders(name, [other for other in parts if other not in led])
            if met and LED * graph.nvtxs < total:
                led[name] = max(met, key=lambda other: met[other])
                parts[name] = np.full(graph.nvtxs, k, VERTEX)
                parts[name][cells] = np.arange(len(cells)) * k // len(cells)
            else:
                alone = part(graph, self.count[name], **self.options)
                parts[name] = coupled_first(graph, cells, alone, self.count[name], k)
        return parts, led

    def published(self) -> list[Parts]:
        """What AWARE and PROJREPART make of the problem, where they find a partition."""
        from .algorithms import aware, projrepart  # they stand beside this scheme in the list of all

        found: list[Parts] = []
        for scheme in (aware, projrepart):
            try:
                found.append(scheme(self.problem, self.count, self.coupled, **self.options).parts)
            except PartitionError as error:
                logger.info("%s", error)
        return found

    def best_of(self, parts: Parts, others: list[Parts]) -> dict[str, NDArray[np.int32]]:
        """The cheapest of `parts`, the others and these annealed again, none with more traffic than any other has."""
        again = [self.finished(self.annealed_again(other), {}) for other in others]
        made = [(*self._figures(one), one) for one in (parts, *again, *others)]
        bound = min((traffic for traffic, _, _ in made[1 + len(again):]), default=np.inf)
        return dict(min((m for m in made if m[0] <= bound), key=lambda m: m[1])[2])

    def _figures(self, parts: Parts) -> tuple[int, float]:
        """Volume and messages added up, and all three at their prices."""
        cells = CoupledCells(self.problem, parts, self.coupled, self.both)
        s = cells.shares(cells.start(), self._limits(cells))
        cut = sum(edge_cut(graph, parts[name]) for name, graph in self.problem.components.items())
        return int(s.total[1] + s.total[2]), float(self.price @ (cut, s.total[1], s.total[2]))

    def _leaders(self, name: str, others: list[str]) -> dict[str, int]:
        """Of `others`, those that can lead component `name`, with the number of interedges."""
        out = {}
        for other in others:
            relation = self.problem.facing(other, name)
            if relation is not None and self.coupled[other] >= self.coupled[name]:
                out[other] = len(relation)
        return out

    # ---- the interface
    def annealed(self, parts: Parts, led: Mapping[str, str]) -> dict[str, NDArray[np.int32]]:
        """`parts` with the coupled cells annealed, below their limits."""
        cells = CoupledCells(self.problem, parts, self.coupled, self.both)
        limit = self._limits(cells)
        rough, cluster = merged_by_partner(cells.cells)
        start = cells.start()
        if led:
            # the leaders alone first, so that those led follow balanced ones
            s = self._clustered(cells, rough, cluster, start, limit)
            self._cool(rough, s, LEADERS, self.price * (1, 0, 0))
            start = s.part[cluster]
            for name, leader in led.items():
                start[cells.span(name)] = _following(cells, start, name, leader, self.seed)
        s = self._clustered(cells, rough, cluster, start, limit)
        self._cool(rough, s, CLUSTERS, self.price)
        s = cells.shares(s.part[cluster], limit)
        self._cool(cells.cells, s, SINGLE, self.price)
        return self._relieved(cells, s)

    def annealed_again(self, parts: Parts) -> dict[str, NDArray[np.int32]]:
        """`parts`, which are balanced, with the coupled cells annealed at a low temperature."""
        cells = CoupledCells(self.problem, parts, self.coupled, self.both)
        s = cells.shares(cells.start(), self._limits(cells))
        self._cool(cells.cells, s, AGAIN, self.price)
        return self._relieved(cells, s)

    def _limits(self, cells: CoupledCells) -> NDArray[np.int64]:
        """(k,) int64 largest coupled weight of each coupled part, within what a part may weigh."""
        limit = np.empty(cells.k, WEIGHT)
        for name, graph in self.problem.components.items():
            k, load = self.coupled[name], int(cells.cells.weight[cells.span(name)].sum())
            room = part_room(graph.total_weight, self.count[name], self.eps)
            rows = slice(cells.offset[name], cells.offset[name] + k)
            limit[rows] = max(-(-load // k), min(part_room(load, k, self.eps), room))
        return limit

    def _clustered(
        self, cells: CoupledCells, rough: Cells, cluster: NDArray[np.int32], part: NDArray[np.int32],
        limit: NDArray[np.int64],
    ) -> Shares:
        """Clusters in the part that most of their cells are in; a part that would be empty gets one of its clusters."""
        votes = np.zeros((len(rough.weight), cells.k), WEIGHT)
        np.add.at(votes, (cluster, part), 1)
        out = votes.argmax(axis=1)
        for p in np.flatnonzero(np.bincount(out, minlength=cells.k) == 0):
            others = np.bincount(out, minlength=cells.k)[out] > 1
            out[np.where(others, votes[:, p], -1).argmax()] = p
        return cells.shares(out.astype(VERTEX), limit, rough)

    def _cool(self, g: Cells, s: Shares, schedule: Schedule, price: NDArray[np.float64]) -> None:
        unit = float(price[0]) or 1.0
        border = np.empty(len(g.weight), VERTEX)
        # small interfaces cool down more slowly, which costs next to nothing
        slower = DRAWS // (schedule.sweeps * max(1, int(kernels.list_border(g, s, border))))
        sweeps = schedule.sweeps * int(np.clip(slower, 1, SLOWEST))
        kernels.anneal(
            g, s, sweeps, price, unit * np.array(schedule.heat), np.array(schedule.blur),
            unit * np.array(schedule.press), self.seed, border,
        )

    def _relieved(self, cells: CoupledCells, s: Shares) -> dict[str, NDArray[np.int32]]:
        """The partitions with all coupled parts below their limits.

        Where heavy cells keep a component above them, its coupled subgraph is partitioned alone.
        """
        if kernels.relieve(cells.cells, s, cells.owner, self.price) == 0:
            return cells.scatter(s.part)
        now = s.part.copy()
        for name, graph in self.problem.components.items():
            first, k = cells.offset[name], self.coupled[name]
            rows = slice(first, first + k)
            if (s.load[rows] > s.limit[rows]).any():
                sub, _ = rest_joined(graph, cells.members[name])
                now[cells.span(name)] = part(sub, k, **self.options) + first
        return cells.scatter(now)

    # ---- the components
    def finished(self, parts: Parts, led: Mapping[str, str]) -> dict[str, NDArray[np.int32]]:
        """The components with their coupled cells where they are: extended if they were led, else refined."""
        return {name: self._extended(name, parts[name]) if name in led else self._refined(name, parts[name])
                for name in self.problem.names}

    def _extended(self, name: str, start: NDArray[np.int32]) -> NDArray[np.int32]:
        graph, cells = self.problem.components[name], self.problem.coupled(name)
        return ext(graph, cells, start[cells], self.coupled[name], self.count[name], **self.options)

    def _refined(self, name: str, start: NDArray[np.int32]) -> NDArray[np.int32]:
        """Balanced and refined by rounds, then by FM, which finds its way out of more; extended where that fails."""
        graph, nparts = self.problem.components[name], self.count[name]
        cells = self.problem.coupled(name)
        fixed = np.full(graph.nvtxs, FREE, VERTEX)
        fixed[cells] = start[cells]
        try:
            out = refine(graph, start, nparts, fixed=fixed, **copartition_balance(graph, nparts, dict(self.options)))
        except PartitionError:
            logger.info("%s: refinement did not reach balance, extending anew", name)
            return self._extended(name, start)
        weight = graph.weights[:, None].copy()
        limit = np.maximum(sums(out, graph.weights, nparts), part_room(graph.total_weight, nparts, self.eps))
        fm = Refiner(finest(graph, fixed, weight), weight, limit[:, None], out)
        least = edge_cut(graph, out) // 2000
        for _ in range(PASSES):
            if kway_pass(fm.g, fm.loads, out, max(100, graph.nvtxs // STALL), fm.scratch) <= least:
                break
        return out


def _following(
    cells: CoupledCells, part: NDArray[np.int32], name: str, leader: str, seed: int
) -> NDArray[np.int32]:
    """Parts for the cells of component `name`: groups of neighbouring parts of its leader, as far as they meet.

    A cell goes with the leader's part that most of its interedges lead to.
    """
    g, k = cells.cells, cells.ncoupled[leader]
    own, lead, low = cells.span(name), cells.span(leader), cells.offset[leader]
    n = own.stop - own.start
    entries = slice(g.iptr[own.start], g.iptr[own.stop])
    row = np.repeat(np.arange(n), np.diff(g.iptr[own.start : own.stop + 1]))
    met = part[g.iadj[entries]] - low
    use = (met >= 0) & (met < k)
    votes = np.zeros((n, k), WEIGHT)
    np.add.at(votes, (row[use], met[use]), g.imul[entries][use])
    choice = votes.argmax(axis=1)
    u = np.repeat(np.arange(len(g.weight)), np.diff(g.xadj))
    p, q = part[u] - low, part[g.adjncy] - low
    between = (u >= lead.start) & (u < lead.stop) & (p < q)
    load, groups = sums(choice, g.weight[own], k), cells.ncoupled[name]
    quotient = Graph.from_edges(k, p[between], q[between], g.ewgt[between], vwgt=load)
    # what is out of balance by less than one part is left to annealing
    eps = max(0.05, groups * int(load.max()) / int(load.sum())) if load.any() else 0.05
    group = partition(quotient, groups, eps=eps, seed=seed, strict=False)
    return np.asarray(group[choice] + cells.offset[name], VERTEX)


__all__ = ["DIRECTIONS", "FIXES", "WEIGHTS", "joint"]
