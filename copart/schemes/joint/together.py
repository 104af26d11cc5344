"""JOINT without counts: partitions of each component alone, improved together and in no figure worse for it.

1. NAIVE partitions each component.  Its figures are what the result is measured by, its parts where it begins.
2. V-cycles (:mod:`.cycle`) anneal the walls of all parts of all components together: several where that takes no
   time to speak of, the later ones inside the best partition so far; else one.  Large problems whose components share
   volumes have as many coupled cells on every level, and are annealed on that of the cells only.
3. Of the results that are in no line worse the one with the shortest step, the fewest messages, the least data of
   the busiest process and the smallest cut is kept.  Where there is none, the last one is repaired on the level of the
   cells (on large problems only where it is not far off and little is coupled); if that fails, NAIVE's walls are only
   moved where nothing gets worse, and if that fails, too, they stay where they are.
4. The busiest processes hand coupled cells on along chains of parts, a few per cent of their data at a time, as long
   as the result is better by the same measure; on large problems once, not after the last resort, and only where
   little of them is coupled.

(The problem: Predari & Esnard 2014, Section II; annealing of partitions: Johnson, Aragon, McGeoch & Schevon 1989.)
"""

from __future__ import annotations

import logging
from collections.abc import Mapping
from dataclasses import replace

import numpy as np
from numpy.typing import NDArray

from ...algorithms import naive
from ...coupling import CoPartition, CoupledProblem
from ...metrics import pieces
from ...metrics.step import StepCost, exchange_times, halo_times
from ...options import Config, Options
from ...partitioner.rounds import Team
from .alone import Alone, Figures, coarse_parts
from .cells import PartArrays
from .cycle import Cycle
from .effort import Effort
from .stack import stacked

logger = logging.getLogger(__name__)

SMALL = 50_000
"""Up to so many vertices all efforts are made."""

COARSEST = 800
"""Levels of a component end near so many vertices, or 30 for each part."""

MOST_MEETING = 6000
"""Parts at the interface for whose messages there is a table, at most."""

THOROUGH = Effort(data=0.8, sweeps=120, everywhere=True, seed=30)

EFFORTS = (Effort(messages=5.0, seed=10), Effort(messages=4.0, budget=1.04, everywhere=True, seed=20),
           replace(THOROUGH, yielding=False))
"""What is tried on small problems."""

AGAIN = tuple(Effort(messages=4.0, data=0.7, sweeps=40, few=12, heat=0.6, everywhere=True, seed=seed)
              for seed in range(110, 170, 10))
"""What is tried then, each inside the best partition so far."""

RELIEF = Effort(messages=6.0, data=0.9, mend=2, everywhere=True, seed=200)
"""How the busiest processes hand data on."""

SOME, LESS = 0.95, (0.94, 0.97, 0.99)
"""What is left of their data: before results are compared; and at the end, each as often as it pays up to `TURNS`."""

TURNS = 5

COST = StepCost()
"""What work and messages cost: a cell's sub-step, and a coupled cell, are its units."""

STEP, MESSAGES, CUT = 0.4, 0.3, 0.8
"""What the length of a step and all messages weigh in the choice; the rest is for the data of the busiest process.
Latency and bandwidth differ most by machine.  A cut that is so much larger counts besides."""

LARGE = Effort(messages=5.0, sweeps=12, few=3, mend=1, most=0.85)
"""What is tried on larger ones."""

LONG = 0.08
"""From this share of coupled cells on larger problems get fewer sweeps, and their busiest processes no relief at the
end, or these take longer than all the rest."""

FEW = 0.04
"""Up to this share of coupled cells larger problems are repaired: with more it takes a third of NAIVE's time, often in
vain."""

WIDE = 0.2
"""From this share of coupled cells on components share volumes, not surfaces: larger ones are not coarsened."""

VOLUME = Effort(messages=1.5, data=1.5, few=4, heat=0.8, mend=1, finest=True, along=True, cold=(2, 0), rare=0.15,
                excess=20.0, seed=21)
"""What is tried on these: excess is dear, as chains of parts that hand it on make more messages than it saves."""

REPAIR = Effort(messages=0.75, data=1.0, heat=0.0, mend=2, finest=True, seed=20)
"""What is tried where all efforts before are worse than NAIVE in a line: the last of them made good."""

SAFE = replace(REPAIR, messages=1.5, data=0.8, mend=1, seed=21)
"""What is tried if that fails, too: NAIVE's walls, moved where nothing gets worse."""


def together(problem: CoupledProblem, nparts: Mapping[str, int], options: Options) -> CoPartition:
    """Partitions that begin from those of each component alone; see above.

    Raises
    ------
    PartitionError
        A component has no balanced partition, or none was found.
    """
    alone = naive(problem, nparts, None, options)
    parts = dict(alone.parts)
    if any(len(relation) for relation in problem.pairs.values()):
        parts = _improved(problem, nparts, alone.parts, options)
    return CoPartition(parts, nparts, alone=alone.parts)


def _improved(problem: CoupledProblem, nparts: Mapping[str, int], parts: PartArrays, options: Options
              ) -> dict[str, NDArray[np.int32]]:
    size = sum(graph.nvtxs for graph in problem.components.values())
    share = sum(len(problem.coupled(name)) for name in problem.names) / size
    least = size if size > SMALL and share > WIDE else min(COARSEST, options.config.coarse_least)
    with Team(options.threads) as team:
        config = replace(options.config, coarse_least=least)
        stack = stacked(problem, parts, dict(nparts), config, team)
        alone = Alone(problem, nparts, parts, stack, options)
        best = Best(problem, nparts, parts, alone)
        if alone.slot.max() >= MOST_MEETING:
            logger.warning("joint: %d parts meet at the interface, more than %d: each component is partitioned alone",
                           int(alone.slot.max()) + 1, MOST_MEETING)
            return best.parts
        cycle = Cycle(stack, alone, options.seed, alone.begin)
        if size <= SMALL:
            _explore(cycle, best, config, team)
        else:
            _pass(cycle, best, share)
    return best.parts


def _explore(cycle: Cycle, best: Best, config: Config, team: Team) -> None:
    """All efforts on a small problem, the later ones inside the best partition so far."""
    for effort in EFFORTS:
        tried = cycle.run(effort)
        best.take(tried)
    for effort in AGAIN if best.paid < np.inf else ():
        stack = stacked(best.problem, best.parts, dict(best.nparts), config, team)
        inside = Cycle(stack, best.alone, cycle.seed, coarse_parts(stack, best.part))
        part, reached = inside.run(effort)
        best.take((part, reached))
        if not best.alone.broken(reached):
            best.take(inside.lower(RELIEF, part, reached.cut, SOME))
    for effort in (REPAIR, SAFE):
        if best.paid < np.inf:
            break
        tried = cycle.run(effort, tried if effort is REPAIR else None)
        best.take(tried)
    for by in LESS if best.paid < np.inf else ():
        for _ in range(TURNS):
            if not best.take(cycle.lower(RELIEF, best.part, best.cut, by)):
                break


def _pass(cycle: Cycle, best: Best, share: float) -> None:
    """One effort on a large problem of such a share of coupled cells, and those that make it good if it is worse."""
    large = replace(LARGE, sweeps=round(LARGE.sweeps * min(1.0, (LONG / share) ** 0.5)))
    tried = cycle.run(VOLUME if share > WIDE else large)
    if _taken(cycle, best, tried, share <= LONG) or share > WIDE:
        return
    if share <= FEW and best.alone.mendable(tried[1]) and _taken(cycle, best, cycle.run(REPAIR, tried), True):
        return
    _taken(cycle, best, cycle.run(SAFE), False)


def _taken(cycle: Cycle, best: Best, tried: tuple[NDArray[np.int32], Figures], relieve: bool) -> bool:
    """Keep `tried`, or what it is once its busiest processes have handed data on, if it is better than NAIVE."""
    if best.alone.broken(tried[1]):
        return False
    found = [tried]
    if relieve:  # once: it takes a tenth of the time
        found.append(cycle.lower(RELIEF, tried[0], tried[1].cut, LESS[0]))
    return best.take(*found)


class Best:
    """The best partition so far, of those that are worse than alone in no line.

    Attributes
    ----------
    parts : dict of arrays
        Of each component; those of each alone in the beginning.
    part : (n,) int32
        The same numbered through.
    cut : (C,) int64
        Its cuts.
    paid : float
        What it costs; infinite where there is none.
    """

    def __init__(self, problem: CoupledProblem, nparts: Mapping[str, int], parts: PartArrays, alone: Alone):
        self.problem, self.nparts, self.alone, self.before = problem, nparts, alone, parts
        self.parts = {name: parts[name] for name in problem.names}
        self.part, self.cut, self.paid = alone.part, alone.figures.cut, np.inf
        self._pieces: dict[str, int] = {}
        self._halo = self._halo_of(self.parts)
        self._step = self._step_of(alone.part, alone.figures) or 1.0

    def take(self, *found: tuple[NDArray[np.int32], Figures]) -> bool:
        """Keep the best of some partitions with their figures if it is better than what there is; whether it is."""
        priced = sorted((self._price(*each), i) for i, each in enumerate(found))
        for worse, i in priced:  # pieces are counted last, as that takes longest
            if worse >= self.paid:
                return False
            part, reached = found[i]
            made = self.alone.split(part, self.problem.names)
            if not self._falls_apart(made):
                self.paid, self.parts, self.part, self.cut = worse, made, part, reached.cut
                return True
        return False

    def _halo_of(self, parts: PartArrays) -> NDArray[np.float64]:
        """What every part takes to exchange its halo."""
        return np.concatenate([halo_times(graph, parts[name], self.nparts[name], COST)
                               for name, graph in self.problem.components.items()])

    def _step_of(self, part: NDArray[np.int32], reached: Figures) -> float:
        """T_step; on large problems with halos as they are alone, as walls move little and halos take long to count."""
        halo = self._halo if len(part) > SMALL else self._halo_of(self.alone.split(part, self.problem.names))
        return float((reached.load + halo).max() + (reached.share + exchange_times(reached.traffic, COST)).max())

    def _price(self, part: NDArray[np.int32], reached: Figures) -> float:
        """What a partition costs; infinite where it is worse than alone in a line, or in all."""
        alone = self.alone
        if alone.broken(reached):
            return np.inf
        step = self._step_of(part, reached) / self._step
        busiest = float(reached.process[:2].max()) / max(1, int(alone.figures.process[:2].max()))
        paid = (STEP * step + MESSAGES * reached.messages / max(1, alone.figures.messages)
                + (1 - STEP - MESSAGES) * busiest)  # 1 for the components alone
        worse = paid + CUT * float(((reached.cut + 1) / (alone.figures.cut + 1) - 1).mean())
        return worse if paid < 1.0 else np.inf

    def _falls_apart(self, made: PartArrays) -> bool:
        """Whether the parts of a component are in more pieces than before."""
        for name, graph in self.problem.components.items():
            found = pieces(graph, made[name], self.nparts[name])
            if (found <= 1).all():  # connected parts need no comparison
                continue
            if name not in self._pieces:
                self._pieces[name] = int(pieces(graph, self.before[name], self.nparts[name]).sum())
            if found.sum() > self._pieces[name]:
                return True
        return False


__all__ = ["together"]
