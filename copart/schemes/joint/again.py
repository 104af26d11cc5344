"""The coupled cells of all components annealed together, drawn to where their data is.

What a cell costs to move is one more edge to its former part, so that the annealing of :mod:`copart.schemes.joint`
weighs ``alpha * (cut, totV, totZ) + migration`` exactly.  It begins hot: messages are few and dear, and hardly one can
be saved by a step downhill; those edges bring back the cells that nothing holds elsewhere.
(Gain rules: Catalyurek, Deveci, Kaya & Ucar 2013, UMPa; edges to former parts: the enriched graph of Predari &
Esnard 2014, Section III-C, Fig. 5.)
"""

from __future__ import annotations

import logging
from collections.abc import Callable
from dataclasses import replace

import numpy as np

from ...arrays import VERTEX, PartArray, sums
from ...coupling import CoPartition, CoupledProblem
from ...dynamic.adaptive import whole_ratio
from ...dynamic.published import naive_again, projrepart_again
from ...dynamic.rerun import Rerun
from ...errors import CouplingError, PartitionError
from ...kernels.coupled import Cells, relieve
from ...kernels.coupled_annealing import list_border
from .annealing import Annealing, Schedule
from .cells import CoupledCells, offsets

logger = logging.getLogger(__name__)

SCHEDULE = Schedule(100, (30.0, 0.5), (10.0, 0.05), (5.0, 20.0))

SLOWEST, DRAWS = 16, 1_000_000
"""At most so many times its sweeps are made, as long as no more cells than that are drawn."""


def joint_again(run: Rerun) -> CoPartition:
    """JOINT from where the data is: PROJREPART's coupled cells annealed together, where that costs less.

    Where nobody asked for a number of coupled parts, now or before, each component from where it is costs less yet as
    long as little has changed, or a component has no coupled cells any more.
    """
    loose = not all(len(run.problem.coupled(name)) for name in run.problem.names)
    free = run.ncoupled is None and (loose or not any(run.former.ncoupled.values()))
    made = _cheaper(run, [projrepart_again, naive_again] if free else [projrepart_again])
    coupled = reanneal(run, made)
    if coupled is None:
        return made
    try:
        other = CoPartition(run.extended(coupled, made.parts), made.nparts, made.ncoupled)
    except PartitionError as error:
        logger.info("%s", error)
        return made
    return min(made, other, key=run.cost)


def _cheaper(run: Rerun, ways: list[Callable[[Rerun], CoPartition]]) -> CoPartition:
    """The cheapest of what there is; what the last way raises where none finds a partition."""
    made = []
    for again in ways:
        try:
            made.append(again(run))
        except (CouplingError, PartitionError) as error:
            if again is ways[-1] and not made:
                raise
            logger.info("%s", error)
    return min(made, key=run.cost)


def reanneal(run: Rerun, made: CoPartition) -> dict[str, PartArray] | None:
    """Coupled parts of small ``alpha * price . (cut, totV, totZ) + migration``, from those of `made`.

    Parameters
    ----------
    run : Rerun
    made : CoPartition
        Where to begin, in balance; the parts that own coupled cells go on to.

    Returns
    -------
    dict of str to (ncells,) int32 or None
        New part of the coupled cells of each component, in the order of
        :meth:`copart.coupling.CoupledProblem.coupled`, without those that have none; None where heavy cells stay above
        the limits, or nothing is coupled.
    """
    problem, former, price = _met(run.problem), run.former, run.price
    if problem is None:
        return None
    number = {name: np.unique(made[name][problem.coupled(name)]) for name in problem.names}
    ncoupled = {name: len(found) for name, found in number.items()}
    # coupled parts in front, as `CoupledCells` counts them; all others are one
    place = {}
    for name, found in number.items():
        place[name] = np.full(max(former.nparts[name], made.nparts[name]), ncoupled[name], VERTEX)
        place[name][found] = np.arange(ncoupled[name])
    cells = CoupledCells(problem, {name: place[name][made[name]] for name in problem.names}, ncoupled, True)
    edge, datum = whole_ratio(run.edge)
    g = _drawn(cells, {name: place[name][former[name]] for name in problem.names}, edge, datum)
    s = cells.shares(cells.start(), cells.limits(made.nparts, run.options.eps), g)
    costs = np.array([price[0] / edge, price[1] / 2, price[2]])
    border = int(list_border(g, s, np.empty(cells.n, VERTEX)))
    slower = min(max(DRAWS // (SCHEDULE.sweeps * max(1, border)), 1), SLOWEST)
    annealing = Annealing(problem, made.nparts, ncoupled, True, np.array([*price, 0.0, 0.0]), run.options)
    annealing.cool(g, s, replace(SCHEDULE, sweeps=slower * SCHEDULE.sweeps), price=costs)
    if relieve(g, s, cells.owner, costs):
        return None
    return {name: number[name][s.part[cells.span(name)] - cells.offset[name]] for name in problem.names}


def _met(problem: CoupledProblem) -> CoupledProblem | None:
    """Of the components those that meet another one; None where none does."""
    pairs = {pair: relation for pair, relation in problem.pairs.items() if len(relation)}
    names = [name for name in problem.names if any(name in pair for pair in pairs)]
    if len(names) == len(problem.names):
        return problem
    own = {name: values for name, values in (problem.coupled_weights or {}).items() if name in names}
    return CoupledProblem({name: problem.components[name] for name in names}, pairs, own) if names else None


def _drawn(cells: CoupledCells, former: dict[str, PartArray], edge: int, datum: int) -> Cells:
    """The cells with edges that weigh `edge` times as much, and one more to their former part where it is coupled."""
    g, row, part, pull = cells.cells, [], [], []
    for name, members in cells.members.items():
        held, size = former[name][members], cells.problem.components[name].sizes[members]
        use = np.flatnonzero((held < cells.ncoupled[name]) & (size > 0))
        row.append(use + cells.first[name])
        part.append(held[use] + cells.offset[name])
        pull.append(datum * size[use])
    rows = np.concatenate([np.repeat(np.arange(cells.n), np.diff(g.bptr)), *row])
    key, where = np.unique(rows * cells.k + np.concatenate([g.bidx, *part]), return_inverse=True)
    return g._replace(ewgt=edge * g.ewgt, bptr=offsets(cells.n, key // cells.k), bidx=(key % cells.k).astype(VERTEX),
                      bval=sums(where, np.concatenate([edge * g.bval, *pull]), len(key)))


__all__ = ["joint_again", "reanneal"]
