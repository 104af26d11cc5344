"""Multilevel annealing of a coupled problem: stages 1 to 4 of :mod:`copart.schemes.joint`."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from ...arrays import VERTEX, WEIGHT, sums
from ...errors import of_component
from ...graph import Graph
from ...kernels.coupled import Cells, Shares
from ...kgggp_ml import partition
from ...options import Loose
from ...partitioner.rounds import Team
from .annealing import Annealing, Schedule
from .cells import CoupledCells, by_partner, contracted
from .levels import CoupledLevels, filled
from .stages import Stage, stages

Array = NDArray[np.int32]

# Chosen on the four published experiments (two cubes, 16 parts against 16 to 128, means of five seeds).  Half as many
# sweeps in HOT and SINGLE save 0.03 to 0.08 of the time of NAIVE, and lose volume and messages in proportion.
LEADERS = Schedule(40, (5.0, 0.5), (5.0, 5.0), (2.0, 20.0))
HOT = Schedule(300, (3.0, 0.3), (5.0, 0.05), (2.0, 20.0))
WARM = Schedule(80, (1.0, 0.2), (1.0, 0.05), (5.0, 20.0))
MIDDLE = Schedule(60, (1.0, 0.1), (3.0, 0.05), (5.0, 20.0))
CLUSTERS = Schedule(50, (6.0, 0.3), (4.0, 0.05), (5.0, 20.0))
SINGLE = Schedule(60, (2.0, 0.1), (1.0, 0.05), (5.0, 20.0))

HELD = 2
"""On so many of the finest levels coupled vertices are held while the rest is refined."""

STARVED = 0.3
"""They are held, too, where a coupled part would be left with less than this share of the mean."""

LED = 4
"""A component with less than one in so many of all vertices is led."""


class Descent:
    """From the coarsest levels of all components down to their cells.

    Parameters
    ----------
    task : Annealing
    team : Team

    Raises
    ------
    PartitionError
        A vertex is heavier than a part may be, or no balance is found.
    """

    def __init__(self, task: Annealing, team: Team):
        problem = task.problem
        self.task, self.team = task, team
        nowhere = {name: np.full(g.nvtxs, task.ncoupled[name], VERTEX) for name, g in problem.components.items()}
        self.base = CoupledCells(problem, nowhere, task.ncoupled, task.both)
        self.limit = self.base.limits(task.nparts, task.options.eps)
        self.led = self._led()
        self.components: dict[str, CoupledLevels] = {}
        for name, graph in problem.components.items():
            with of_component(name):
                self.components[name] = CoupledLevels(graph, self.base.members[name], task.nparts[name],
                                                      task.ncoupled[name], team, task.options,
                                                      problem.coupled_load(name), name in self.led)
        self.way, self.stages = stages(self.base, self.components)

    def _led(self) -> dict[str, str]:
        """Who is led by whom: small components by large ones with as many parts on the interface at least."""
        problem, coupled = self.task.problem, self.task.ncoupled
        size = {name: graph.nvtxs for name, graph in problem.components.items()}
        meeting = {frozenset(pair): len(relation) for pair, relation in problem.pairs.items() if len(relation)}
        led: dict[str, str] = {}
        leaders: list[str] = []
        for name in sorted(problem.names, key=lambda name: -size[name]):
            met = {other: meeting[frozenset((other, name))] for other in leaders
                   if frozenset((other, name)) in meeting and coupled[other] >= coupled[name]}
            if met and LED * size[name] < sum(size.values()):
                led[name] = max(met, key=met.__getitem__)
            else:
                leaders.append(name)
        return led

    def parts(self) -> dict[str, Array]:
        """Balanced partitions with balanced coupled parts, in the numbering of the components."""
        self._begin()
        at = {name: component.at for name, component in self.components.items()}
        for name in self.way:
            component = self.components[name]
            component.finer()
            at[name] -= 1
            if component.at:
                self._refine(name)
            stage = self.stages.get(tuple(at.values()))
            if stage is not None and any(at.values()):
                self._anneal(stage, MIDDLE)
        self._settle()
        for name, component in self.components.items():
            with of_component(name):
                component.finish()
        return {name: component.result() for name, component in self.components.items()}

    def _refine(self, name: str) -> None:
        """Refine a component, free to move its interface unless that leaves a coupled part with too little of it."""
        component = self.components[name]
        free = component.at > HELD
        if free:
            before = component.part.copy()
            component.refine(hold=False)
            load = component.coupled_load
            free = load.min() >= STARVED * load.mean()
            if not free:
                component.part = before
        if not free:
            component.refine(hold=True)

    def _anneal(self, stage: Stage, schedule: Schedule) -> None:
        g = stage.cells(self.components)
        s = self.base.shares(stage.parts(self.components), stage.loosened(self.limit), g)
        self.task.cool(g, s, schedule, stage.size)
        stage.give_back(self.components, s.part)

    # ---- the coarsest level
    def _begin(self) -> None:
        """Partitions of small cut, annealed and refined until they agree."""
        stage = next(iter(self.stages.values()))
        for name, component in self.components.items():
            if name not in self.led:
                component.start()
        self._follow_leaders(stage)
        for schedule in (HOT, WARM):
            self._anneal(stage, schedule)
            for component in self.components.values():
                component.refine(hold=True)

    def _follow_leaders(self, stage: Stage) -> None:
        """Bring the leaders into balance, and grow those that are led from the groups of parts that they face."""
        if not self.led:
            return
        for name in self.led:
            component = self.components[name]
            component.part = np.full(len(component.part), component.ncoupled, VERTEX)
            spread_evenly = np.arange(len(component.cells)) * component.ncoupled // len(component.cells)
            component.labels = spread_evenly.astype(VERTEX)
        g = stage.cells(self.components, self.led)
        s = self.base.shares(stage.parts(self.components), stage.loosened(self.limit), g)
        self.task.cool(g, s, LEADERS, stage.size, self.task.price[:3] * (1, 0, 0))
        stage.give_back(self.components, s.part, [name for name in self.components if name not in self.led])
        for name, leader in self.led.items():
            self.components[name].grow(_following(stage, s.part, name, leader, self.task.options.seed))

    # ---- the cells
    def _settle(self) -> None:
        """Anneal clusters of cells; take other parts for those components that are led if that is cheaper; anneal."""
        task, base, components = self.task, self.base, self.components
        stage = self.stages[(0,) * len(components)]
        g = stage.cells(components)
        cluster = by_partner(g, base.kind)
        now = self._clusters_annealed(g, cluster, stage.parts(components))
        stage.give_back(components, now.part)
        if self.led and self._followed(stage, cluster, now):
            g = stage.cells(components)
        s = base.shares(stage.parts(components), self.limit, g)
        task.cool(g, s, SINGLE, fair=True)
        stage.give_back(components, task.relieved(base, g, s))

    def _followed(self, stage: Stage, cluster: Array, now: Shares) -> bool:
        """Whether those that are led follow anew: where that is cheaper, the partition of them included."""
        task, base, components = self.task, self.base, self.components
        anew = now.part.copy()
        for name, leader in self.led.items():
            anew[stage.span(name)] = _following(stage, anew, name, leader, task.options.seed) + base.offset[name]
        loose = stage.cells(components, self.led)
        # most often a glance tells that messages would not become fewer
        if base.shares(anew, self.limit, loose).total[2] > now.total[2]:
            return False
        other = self._clusters_annealed(loose, cluster, anew)
        won = float(task.price[1:3] @ (now.total[1:] - other.total[1:]))
        if won <= 0:
            return False
        kept = {name: component.part.copy() for name, component in components.items()}
        cut = sum(component.cut for component in components.values())
        stage.give_back(components, other.part)
        for name in self.led:
            components[name].extend()
        if task.price[0] * (sum(component.cut for component in components.values()) - cut) <= won:
            return True
        for name, component in components.items():
            component.part = kept[name]
        return False

    def _clusters_annealed(self, g: Cells, cluster: Array, part: Array) -> Shares:
        """The cells after annealing of clusters of them, which may end a little above the limits."""
        base, rough = self.base, contracted(g, cluster)
        votes = np.bincount(cluster.astype(np.int64) * base.k + part, minlength=len(rough.weight) * base.k)
        kind = np.empty(len(rough.weight), VERTEX)
        kind[cluster] = base.kind
        s = base.shares(_majority(votes.reshape(-1, base.k)), base.loosened(self.limit, rough, kind), rough)
        if s.population.all():
            self.task.cool(rough, s, CLUSTERS, float(np.sqrt(len(g.weight) / len(rough.weight))))
            part = s.part[cluster]
        return base.shares(part, self.limit, g)


def _majority(votes: NDArray[np.int64]) -> NDArray[np.int32]:
    """The part with most votes in each row; one with most in none gets a row where it has some, if it can be had."""
    choice = np.asarray(votes.argmax(axis=1), VERTEX)
    population = np.bincount(choice, minlength=votes.shape[1])
    for p in np.flatnonzero(population == 0):
        rows = np.flatnonzero((votes[:, p] > 0) & (population[choice] > 1))
        if len(rows):
            v = rows[np.argmax(votes[rows, p] - votes[rows].max(axis=1))]
            population[choice[v]] -= 1
            choice[v] = p
            population[p] = 1
    return choice


def _following(stage: Stage, part: Array, name: str, leader: str, seed: int) -> Array:
    """Parts for the blocks of component `name`: groups of neighbouring parts of its leader, as far as they meet.

    A block goes with the leader's part that most of its interedges lead to.
    """
    g, base = stage.blocks, stage.base
    k, groups = base.ncoupled[leader], base.ncoupled[name]
    own, lead, low = stage.span(name), stage.span(leader), base.offset[leader]
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
    load = sums(choice, g.weight[own], k)
    quotient = Graph.from_edges(k, p[between], q[between], g.ewgt[between], vwgt=load)
    # what is out of balance by less than one part is left to annealing
    eps = max(0.05, groups * int(load.max()) / int(load.sum())) if load.any() else 0.05
    group = partition(quotient, groups, Loose(eps, seed), strict=False)
    return filled(np.asarray(group[choice], VERTEX), groups)


__all__ = ["Descent"]
