"""A component of a coupled problem on the levels of its coarsening, and one partition of the current level.

A coarse vertex is coupled where one of its cells is; it stands for a block of cells behind the interface, so that
borders of parts on the interface move together with the walls behind them.
"""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ...arrays import VERTEX, WEIGHT, sums
from ...errors import PartitionError
from ...graph import Graph
from ...kernels import Level
from ...kernels.contraction import pull_down
from ...metrics import max_part_weights
from ...operators import copartition_balance
from ...options import Options
from ...partitioner.affinity import finest
from ...partitioner.coarsening import carry, coarsen, coarsest_size, first_size
from ...partitioner.coordinates import centroids
from ...partitioner.feasibility import feasible_limits, overweight
from ...partitioner.growing import best_growth
from ...partitioner.multilevel import multilevel
from ...partitioner.numbering import renumber
from ...partitioner.refinement import Refiner, cut_of, loosened
from ...partitioner.rounds import Team
from ...partitioner.settling import settle
from ...partitioner.shape import known_shape
from .columns import columns
from .finish import finish, held
from .first import coupled_first, misplaced, spread

Array = np.ndarray[Any, Any]


FLAT = 0.002
"""Share of the cut up to which misplaced coupled cells are no reason to look at columns behind the interface."""

MOVED = 1.5
"""Edges that are cut in the end for each misplaced cell, about: it takes what lies behind it along."""

STRAIGHT = 12
"""Coupled vertices of each coupled part, at least, for borders between columns; on coarser levels they have steps."""


class CoupledLevels:
    """Levels of one component, its coupled vertices on each, and a partition of the current level.

    Parameters
    ----------
    graph : Graph
    cells : (ncells,) int32
        Coupled vertices, ascending.
    nparts, ncoupled : int
        Number of parts, and of those that own coupled cells: the first ones.
    team : Team
    options : Options
    load : (ncells,) int64, optional
        Coupled weight of each of `cells`; their weights where not given.
    led : bool
        Grown from labels of its coupled vertices (`grow`) instead of partitioned by itself (`start`).

    Attributes
    ----------
    coupled : list of (ncoupled vertices,) int32
        Coupled vertices of each level, from fine to coarse.
    loads : list of (ncoupled vertices,) int64
        Coupled weight of the coupled cells in each of them.
    up : list of (ncoupled vertices,) int32
        Index in ``coupled[l + 1]`` of each of ``coupled[l]``.
    at : int
        The current level; 0 is the component itself.
    part : (nvtxs of the level,) int32
        Parts of the vertices of the current level; changed through `labels` and the methods, or set as a whole.
    cut : int
        Edge cut, the same on all levels; kept up to date, since counting anew costs as much as a round of refinement.

    Raises
    ------
    PartitionError
        A vertex is heavier than a part may be.
    """

    def __init__(self, graph: Graph, cells: NDArray[np.int32], nparts: int, ncoupled: int, team: Team,
                 options: Options, load: NDArray[np.int64] | None = None, led: bool = False):
        self.graph, self.nparts, self.ncoupled, self.team = graph, nparts, ncoupled, team
        self.config, self.seed = options.config, options.seed
        load = graph.weights[cells] if load is None else load
        eps = copartition_balance(graph, nparts, options).eps
        limit = np.minimum(max_part_weights(graph.total_weight, nparts, eps), graph.total_weight)
        self.eps = options.eps
        self.limit = feasible_limits(graph, limit, None, True)
        level, self.pull = finest(graph, nparts, None, None)
        self.shape = known_shape(graph, level)
        coords, self.place = graph.coords, None
        first = first_size(self.config, graph.nvtxs, nparts, self.shape)
        if self.shape.far:
            level, order, self.place = renumber(level, self.shape, team, first)
            coords = None if coords is None else coords[order]
            cells = self.place[cells]
        self.levels: list[Level] = [level]
        self.maps: list[Array] = []
        self.coupled, self.up, self.loads = [cells], list[Array](), [load]
        self._first: Array | None = None  # a partition of the coarsest level, once there is one
        self._coarsen(first)
        self.centres = None if coords is None else centroids(coords, self.levels, self.maps)
        stop = coarsest_size(self.config, nparts)
        if len(self.level.vwgt) > stop:
            if nparts > 1 and not led:
                self._first = self._begun()
            self._coarsen(stop, self._first)
        self.at = len(self.maps)
        self._part = np.zeros(len(self.levels[-1].vwgt), VERTEX)
        self._cut: int | None = 0
        self._edges: tuple[Array, Array, Array, Array] | None = None  # of the coupled vertices of the current level

    def _coarsen(self, stop: int, within: Array | None = None) -> None:
        """More levels, until one has `stop` vertices; clusters stay inside the parts `within` of the last level."""
        found = coarsen(self.level, stop, self.shape, self.team, least=self.nparts, within=within)
        self.levels, self.maps = self.levels[:-1] + found.levels, self.maps + found.maps
        for cmap in found.maps:
            blocks, up = np.unique(cmap[self.coupled[-1]], return_inverse=True)
            self.coupled.append(blocks.astype(VERTEX))
            self.up.append(up.astype(VERTEX))
            self.loads.append(sums(up, self.loads[-1], len(blocks)))
            if self._first is not None:
                self._first = carry(self._first, cmap, int(cmap.max()) + 1)

    @property
    def level(self) -> Level:
        """The current level."""
        return self.levels[-1]

    @property
    def cells(self) -> NDArray[np.int32]:
        """Coupled vertices of the current level."""
        return self.coupled[self.at]

    @property
    def part(self) -> NDArray[np.int32]:
        return self._part

    @part.setter
    def part(self, part: NDArray[np.int32]) -> None:
        self._part, self._cut = part, None

    @property
    def labels(self) -> NDArray[np.int32]:
        """Parts of the coupled vertices of the current level."""
        return np.asarray(self.part[self.cells])

    @labels.setter
    def labels(self, labels: NDArray[np.int32]) -> None:
        before = self._cut_at_interface()
        self._part[self.cells] = labels
        if self._cut is not None:
            self._cut += self._cut_at_interface() - before

    @property
    def cut(self) -> int:
        if self._cut is None:
            self._cut = cut_of(self.level, self.part)
        return self._cut

    @property
    def coupled_load(self) -> NDArray[np.int64]:
        """(ncoupled,) int64 coupled weight of the coupled parts."""
        return sums(self.labels, self.loads[self.at], self.ncoupled)

    def _cut_at_interface(self) -> int:
        """Cut edges with a coupled vertex at one end or both; 0 while `cut` is not kept up to date."""
        if self._cut is None:
            return 0
        row, other, weight, index = self._entries()
        apart = self.part[other] != self.labels[row]
        # edges between two coupled vertices are listed twice
        return int(weight[apart].sum()) - int(weight[apart & (index >= 0)].sum()) // 2

    # ---- the coarsest level
    def start(self) -> None:
        """Partition the coarsest level, and let those parts with most of the interface be the coupled ones."""
        if self.nparts == 1:
            return
        g = self.level
        load = np.zeros(len(g.vwgt), WEIGHT)
        load[self.cells] = self.loads[self.at]
        graph = Graph(g.xadj, g.adjncy, ewgt=g.ewgt if len(g.ewgt) else None, vwgt=load)
        part = self._begun() if self._first is None else self._first
        self.part = coupled_first(graph, self.cells, part, self.nparts, self.ncoupled)

    def _begun(self) -> Array:
        """A partition of the last level: the best that is grown, or columns behind the interface where that costs less.

        Walls that cut least are flat, and may meet the interface with other numbers of parts than are asked for.
        Columns meet it with these.
        """
        g, room, grid = self.level, self._room(), self.shape.grid
        # bisection by coordinates seldom wins on grids, and the columns have it
        grown = best_growth(g, self.pull, room, self.config, self.graph.nvtxs, self.seed * 64, self.team,
                            None if grid else self.centres, self.shape, self._misplaced)
        cells = self.coupled[-1]
        if self._misplaced(grown) <= FLAT * cut_of(g, grown) or len(cells) < STRAIGHT * self.ncoupled:
            return grown
        load = self.loads[-1]
        bound = max_part_weights(int(load.sum()), self.ncoupled, self.eps)
        other = columns(g, cells, load, room, bound, self.config, self.seed * 64, self.team, self.shape,
                        self.centres if grid else None)
        Refiner(g, self.pull, other, room, self.team, self.seed).improve(self.config, cut_of(g, other))

        def cost(part: Array) -> tuple[int, float]:
            excess = int(np.maximum(sums(part, g.vwgt, self.nparts) - room, 0).sum())
            return excess, cut_of(g, part) + MOVED * self._misplaced(part)

        return min((grown, other), key=cost)

    def _misplaced(self, part: Array) -> int:
        """What coupled cells that have to change their parts cost: each is cut from the cell behind it."""
        load = sums(part[self.coupled[-1]], self.loads[-1], self.nparts)
        edges = self.graph.ewgt
        unit = 1.0 if edges is None or not len(edges) else float(edges.mean())
        return int(misplaced(load, self.ncoupled, self.eps) * len(self.coupled[0]) * unit)

    def grow(self, labels: NDArray[np.int32]) -> None:
        """Partition the coarsest level with the coupled vertices in the parts `labels`."""
        if self.nparts == 1:
            self.part = np.zeros(len(self.level.vwgt), VERTEX)
            return
        g = held(self.level, self.cells, labels)
        few = replace(self.config, bisections=1)
        self.part = best_growth(g, self.pull, self._room(), few, self.graph.nvtxs, self.seed * 64, self.team, None)

    # ---- from level to level
    def finer(self) -> None:
        """Go to the next finer level with the partition."""
        cmap = self.maps.pop()
        self.levels.pop()
        self.at -= 1
        self._edges = None
        fine = np.empty(len(cmap), VERTEX)
        self.team.run(pull_down, len(cmap), cmap, self.part, fine)
        self._part = fine

    def refine(self, hold: bool) -> None:
        """Refine on the current level; hold the coupled vertices, or let them move to other coupled parts."""
        g, cut = self.level, self.cut
        free = held(g, self.cells, self.labels) if hold else g
        refiner = Refiner(free, self.pull, self.part, self._room(), self.team, self.seed + self.at)
        self._cut = cut - refiner.improve(self.config, cut)
        if not hold and (self.labels >= self.ncoupled).any():
            self.labels = spread(g, self.cells, self.labels, self.ncoupled)
        if not hold:
            self.labels = filled(self.labels, self.ncoupled)

    def extend(self) -> None:
        """Partition the component anew with its coupled cells where they are; on the finest level only."""
        if self.nparts == 1:
            return
        g = held(self.level, self.cells, self.labels)
        self.part = multilevel(g, self.pull, self.limit, self.config, self.seed, self.team, self.shape)

    def finish(self) -> None:
        """Refine the component with its coupled cells where they are, or partition it anew where balance needs it."""
        if self.nparts == 1:
            return
        g = held(self.level, self.cells, self.labels)
        if finish(g, self.pull, self.part, self.limit, self.cut, self.config, self.seed, self.team,
                  self.shape):
            self.extend()
            if settle(g, self.pull, self.part, self.limit, self.team, self.seed):
                said = overweight(self.result(), self.graph, self.limit)
                raise PartitionError(said, ways=["raise eps", "ask for other counts"])
        self._cut = None

    def result(self) -> NDArray[np.int32]:
        """The partition of the component, in its own numbering."""
        return self.part if self.place is None else self.part[self.place]

    # ---- what surrounds the coupled vertices
    def edges(self) -> tuple[Array, Array, Array]:
        """Edges between coupled vertices of the current level: index of both ends in `cells`, and weight."""
        row, _, weight, index = self._entries()
        use = index >= 0
        return row[use], index[use], weight[use]

    def pulls(self) -> tuple[Array, Array, Array]:
        """Edges from coupled vertices to others in coupled parts: index in `cells`, part and weight."""
        row, other, weight, index = self._entries()
        part = self.part[other]
        use = (index < 0) & (part < self.ncoupled)
        return row[use], part[use], weight[use]

    def _entries(self) -> tuple[Array, Array, Array, Array]:
        """Edges of the coupled vertices: index in `cells`, other vertex, weight, and its index in `cells` or -1."""
        if self._edges is not None:
            return self._edges
        g, cells = self.level, self.cells
        degree = g.xadj[cells + 1] - g.xadj[cells]
        row = np.repeat(np.arange(len(cells)), degree)
        entry = np.repeat(g.xadj[cells] - (np.cumsum(degree) - degree), degree) + np.arange(len(row))
        other = g.adjncy[entry]
        weight = g.ewgt[entry].astype(WEIGHT) if len(g.ewgt) else np.ones(len(entry), WEIGHT)
        index = np.full(len(g.vwgt), -1, VERTEX)
        index[cells] = np.arange(len(cells))
        self._edges = row, other, weight, index[other]
        return self._edges

    def _room(self) -> NDArray[np.int64]:
        return loosened(self.limit, self.level.vwgt) if self.maps else self.limit


def filled(labels: NDArray[np.int32], k: int) -> NDArray[np.int32]:
    """`labels` with one vertex, of a part with others, in every part below `k` that was empty."""
    population = np.bincount(labels, minlength=k)
    empty = np.flatnonzero(population[:k] == 0)
    if not len(empty):
        return labels
    labels = labels.copy()
    for p in empty:
        v = int(np.argmax(population[labels] > 1))
        population[labels[v]] -= 1
        labels[v] = p
        population[p] = 1
    return labels


__all__ = ["CoupledLevels", "filled"]
