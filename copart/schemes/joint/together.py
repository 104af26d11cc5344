"""JOINT without counts: partitions of each component alone, improved together and in no figure worse for it.

1. NAIVE partitions each component.  Its figures are what the result is measured by, its parts where it begins.
2. A V-cycle (:mod:`.cycle`) anneals the walls of all parts of all components together.  Where components share volumes,
   as many cells are coupled on every level, and only that of the cells is annealed.  If the result is in no line worse
   than alone, and little is coupled, the busiest processes hand coupled cells on along chains of parts.  Else it is
   repaired on the level of the cells, if it is not far off and little is coupled; if that fails, NAIVE's walls are only
   moved where nothing gets worse, and if that fails, too, they stay where they are.
3. On problems that are not too large for the preset, more V-cycles follow, the later ones inside the best partition so
   far.  Of the results that are in no line worse, and whose step takes no longer, the one with the shortest step, the
   fewest messages, the least data of the busiest process, the smallest cut and the most even coupled weight is kept;
   and the busiest processes hand on a few per cent of their data and coupled weight at a time, as long as the result
   is better by the same measure.

(The problem: Predari & Esnard 2014, Section II; annealing of partitions: Johnson, Aragon, McGeoch & Schevon 1989.)
"""

from __future__ import annotations

import logging
from collections.abc import Mapping
from dataclasses import replace
from functools import partial

import numpy as np
from numpy.typing import NDArray

from ...algorithms import naive
from ...coupling import CoPartition, CoupledProblem
from ...metrics import loose_pieces, pieces
from ...metrics.promise import PromiseFigures, promised
from ...metrics.step import StepCost, exchange_times, halo_times
from ...options import Config, Options
from ...parallel import side_by_side
from ...partitioner.rounds import Team
from ..contiguous import contiguous as connected
from .alone import Alone, Figures, coarse_parts
from .cells import PartArrays
from .cycle import Cycle, Result
from .effort import Effort
from .stack import stacked

logger = logging.getLogger(__name__)

COARSEST = 800
"""Levels of a component end near so many vertices, or 30 for each part."""

MOST_MEETING = 6000
"""Parts at the interface for whose messages there is a table, at most."""

EFFORTS = (Effort(data=0.8, sweeps=120, everywhere=True, seed=30, yielding=False), Effort(messages=5.0, seed=10),
           Effort(messages=4.0, budget=1.04, everywhere=True, seed=20))
"""What is tried next where the problem is not too large; the longest first, for the sake of threads."""

AGAIN = tuple(tuple(Effort(messages=4.0, data=0.7, sweeps=40, few=12, heat=0.6, everywhere=True, seed=seed)
                    for seed in two)
              for two in ((110, 120), (130, 140), (150, 160), (170, 180), (190, 210), (220, 230)))
"""What is tried then, two at a time inside the best partition so far."""

RELIEF = Effort(messages=2.0, data=0.3, mend=2, everywhere=True, seed=200)
"""How the busiest processes hand coupled cells on."""

SOME, LESS = 0.95, (0.94, 0.97, 0.99)
"""What is left of their data, and of uneven coupled weight: before results are compared; and at the end, each as often
as it pays up to `TURNS`."""

ONCE = 0.9
"""The same for what is tried first: once, as it takes a tenth of NAIVE's time."""

TURNS = 5

COST = StepCost()
"""What work and messages cost: a cell's sub-step, and a coupled cell, are its units."""

STEP, MESSAGES = 0.4, 0.4
"""What the length of a step and all messages weigh in the choice; the rest is for the data of the busiest process.
Latency and bandwidth differ most by machine."""

CUT, EXCESS, UNEVEN = 1.5, 0.25, 0.03
"""What counts besides: a cut that is so much larger; coupled weight of the busiest process that is so much above an
even share; and that there is any."""

FIRST = Effort(messages=5.0, sweeps=12, few=3, mend=1, most=0.85)
"""What is tried first."""

LONG = 0.08
"""From this share of coupled cells on there are fewer sweeps then, and no relief of the busiest processes, or these
take longer than all the rest."""

FEW = 0.04
"""Up to this share of coupled cells what comes of it is repaired: with more it takes a third of NAIVE's time, often in
vain."""

WIDE = 0.2
"""From this share of coupled cells on components share volumes, not surfaces."""

VOLUME = Effort(data=1.5, few=4, heat=0.8, mend=2, most=0.9, finest=True, along=True, rare=0.15, excess=20.0, seed=21)
"""What is tried first on these: excess is dear, as chains of parts that hand it on make more messages than it saves."""

REPAIR = Effort(messages=0.75, data=1.0, heat=0.0, mend=2, finest=True, seed=20)
"""What is tried where all efforts before are worse than NAIVE in a line: the last of them made good."""

SAFE = replace(REPAIR, messages=1.5, data=0.8, mend=1, seed=21)
"""What is tried if that fails, too: NAIVE's walls, moved where nothing gets worse."""


def together(problem: CoupledProblem, nparts: Mapping[str, int], options: Options, contiguous: bool = False
             ) -> CoPartition:
    """Partitions that begin from those of each component alone, and have connected parts where `contiguous`; see above.

    Raises
    ------
    PartitionError
        A component has no balanced partition, or none was found.
    """
    alone = naive(problem, nparts, None, options)
    if contiguous:
        alone = connected(problem, alone, options)
    parts = dict(alone.parts)
    if any(len(relation) for relation in problem.pairs.values()):
        parts = _improved(problem, nparts, alone.parts, options)
    # there may be as many pieces as before, but others: a part left a body, and another one fell apart
    if contiguous and any(loose_pieces(graph, parts[name], nparts[name]).any()
                          for name, graph in problem.components.items()):
        parts = dict(alone.parts)
    return CoPartition(parts, nparts, alone=alone.parts)


def _improved(problem: CoupledProblem, nparts: Mapping[str, int], parts: PartArrays, options: Options
              ) -> dict[str, NDArray[np.int32]]:
    size = sum(graph.nvtxs for graph in problem.components.values())
    share = sum(len(problem.coupled(name)) for name in problem.names) / size
    thorough = size < options.config.explore_below
    least = COARSEST if thorough or share <= WIDE else size  # VOLUME needs no levels
    with Team(options.threads) as team:
        config = replace(options.config, coarse_least=least)
        halo: dict[str, NDArray[np.float64]] = {}

        def measure(name: str) -> None:
            halo[name] = halo_times(problem.components[name], parts[name], nparts[name], COST)

        stack = stacked(problem, parts, dict(nparts), config, team, [partial(measure, name) for name in problem.names])
        alone = Alone(problem, nparts, parts, stack, options)
        best = Best(problem, nparts, parts, alone, halo, thorough, options.threads)
        if alone.slot.max() >= MOST_MEETING:
            logger.warning("joint: %d parts meet at the interface, more than %d: each component is partitioned alone",
                           int(alone.slot.max()) + 1, MOST_MEETING)
            return best.parts
        cycle = Cycle(stack, alone, options.seed, alone.begin, team)
        _try_first(cycle, best, share)
        if thorough:
            _explore(cycle, best, config, team)
    return best.parts


def _explore(cycle: Cycle, best: Best, config: Config, team: Team) -> None:
    """All efforts, the later ones inside the best partition so far."""
    found = side_by_side([partial(cycle.another().run, effort) for effort in EFFORTS], team.threads)
    for one in found:
        best.take(one)
    for two in AGAIN if best.paid < np.inf else ():
        stack = stacked(best.problem, best.parts, dict(best.nparts), config, team)
        begin = coarse_parts(stack, best.part)
        cycles = [Cycle(stack, best.alone, cycle.seed, begin) for _ in two]
        for results in side_by_side([partial(_relieved, *one) for one in zip(cycles, two, strict=True)], team.threads):
            for result in results:
                best.take(result)
    tried = found[-1]
    for effort in (REPAIR, SAFE):
        if best.paid < np.inf:
            break
        tried = cycle.run(effort, tried if effort is REPAIR else None)
        best.take(tried)
    for by in LESS if best.paid < np.inf else ():
        for _ in range(TURNS):
            if not best.take(cycle.lower(RELIEF, best.part, best.cut, by)):
                break


def _relieved(cycle: Cycle, effort: Effort) -> list[Result]:
    """What comes of an effort; and, if that is in no line worse than alone, of less data for the busiest processes."""
    part, reached = cycle.run(effort)
    if cycle.alone.broken(reached):
        return [(part, reached)]
    return [(part, reached), cycle.lower(RELIEF, part, reached.cut, SOME)]


def _try_first(cycle: Cycle, best: Best, share: float) -> None:
    """One effort on a problem of such a share of coupled cells, and those that make it good if it is worse."""
    first = replace(FIRST, sweeps=round(FIRST.sweeps * min(1.0, (LONG / share) ** 0.5)))
    tried = cycle.run(VOLUME if share > WIDE else first)
    if _taken(cycle, best, tried, share <= LONG) or share > WIDE:
        return
    if share <= FEW and best.alone.mendable(tried[1]) and _taken(cycle, best, cycle.run(REPAIR, tried), True):
        return
    _taken(cycle, best, cycle.run(SAFE), False)


def _taken(cycle: Cycle, best: Best, tried: Result, relieve: bool) -> bool:
    """Keep `tried`, or what it is once its busiest processes have handed data on, if it is better than NAIVE."""
    if best.alone.broken(tried[1]):
        return False
    found = [tried]
    if relieve:
        found.append(cycle.lower(RELIEF, tried[0], tried[1].cut, ONCE))
    return best.take(*found)


class Best:
    """The best partition so far, of those that are worse than alone in no line.

    Where not `exact`, halos take what they take alone, `halo`: walls move little, and halos take long to count.

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

    def __init__(self, problem: CoupledProblem, nparts: Mapping[str, int], parts: PartArrays, alone: Alone,
                 halo: Mapping[str, NDArray[np.float64]], exact: bool, threads: int):
        self.threads = 1 if exact else threads  # what is small enough for that takes less time than threads to start
        self.problem, self.nparts, self.alone, self.before, self.exact = problem, nparts, alone, parts, exact
        self.parts = {name: parts[name] for name in problem.names}
        self.part, self.cut, self.paid = alone.part, alone.figures.cut, np.inf
        self._pieces: dict[str, int] = {}
        # walls count a message wherever cells meet, also where those that send it have no data
        mute = any((graph.sizes[problem.coupled(name)] == 0).any() for name, graph in problem.components.items())
        self._before = self._figures(parts) if mute else None
        self._halo = np.concatenate([halo[name] for name in problem.names])
        self._step = self._step_of(alone.part, alone.figures) or 1.0

    def take(self, *found: Result) -> bool:
        """Keep the best of some partitions with their figures if it is better than what there is; whether it is."""
        priced = sorted((self._price(*each), i) for i, each in enumerate(found))
        for worse, i in priced:  # pieces are counted last, as that takes longest
            if worse >= self.paid:
                return False
            part, reached = found[i]
            made = self.alone.split(part, self.problem.names)
            if not (self._falls_apart(made) or self._says_more(made) or self._takes_longer(made, reached)):
                self.paid, self.parts, self.part, self.cut = worse, made, part, reached.cut
                return True
        return False

    def _halo_of(self, parts: PartArrays) -> NDArray[np.float64]:
        """What every part takes to exchange its halo."""
        return np.concatenate(side_by_side([partial(halo_times, graph, parts[name], self.nparts[name], COST)
                                            for name, graph in self.problem.components.items()], self.threads))

    def _step_of(self, part: NDArray[np.int32], reached: Figures) -> float:
        """T_step."""
        return _step(reached, self._halo_of(self.alone.split(part, self.problem.names)) if self.exact else self._halo)

    def _price(self, part: NDArray[np.int32], reached: Figures) -> float:
        """What a partition costs; infinite where it is worse than alone in a line, or in all."""
        alone = self.alone
        if alone.broken(reached):
            return np.inf
        step = self._step_of(part, reached) / self._step
        busiest = float(reached.process[:2].max()) / max(1, int(alone.figures.process[:2].max()))
        paid = (STEP * step + MESSAGES * reached.messages / max(1, alone.figures.messages)
                + (1 - STEP - MESSAGES) * busiest)  # 1 for the components alone
        above = np.maximum(reached.busiest / np.maximum(alone.bound, 1) - 1, 0)
        besides = (CUT * ((reached.cut + 1) / (alone.figures.cut + 1) - 1).mean() + EXCESS * above.mean()
                   + UNEVEN * above.any())
        return paid + float(besides) if paid < 1.0 and step <= 1.0 else np.inf

    def _figures(self, parts: PartArrays) -> PromiseFigures:
        return promised(self.problem, CoPartition(parts, self.nparts))

    def _says_more(self, parts: PartArrays) -> bool:
        """Whether there are more messages with data than before, where some have none."""
        if self._before is None:
            return False
        found = self._figures(parts)
        return found.totZ > self._before.totZ or found.maxZ > self._before.maxZ

    def _takes_longer(self, made: PartArrays, reached: Figures) -> bool:
        """Whether a step takes longer than alone by the halos of these parts, where those of before stood for them."""
        return not self.exact and _step(reached, self._halo_of(made)) > self._step

    def _falls_apart(self, made: PartArrays) -> bool:
        """Whether the parts of a component are in more pieces than before."""
        def one(name: str) -> bool:
            graph = self.problem.components[name]
            found = pieces(graph, made[name], self.nparts[name])
            if (found <= 1).all():  # connected parts need no comparison
                return False
            if name not in self._pieces:
                self._pieces[name] = int(pieces(graph, self.before[name], self.nparts[name]).sum())
            return bool(found.sum() > self._pieces[name])

        return any(side_by_side([partial(one, name) for name in self.problem.names], self.threads))


def _step(reached: Figures, halo: NDArray[np.float64]) -> float:
    """T_step, with what every part takes to exchange its halo."""
    return float((reached.load + halo).max() + (reached.share + exchange_times(reached.traffic, COST)).max())


__all__ = ["together"]
