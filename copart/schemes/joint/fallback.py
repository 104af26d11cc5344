"""Where the coupling phase stays uneven: another scheme's co-partition, if that is even and takes no longer a step.

JOINT improves what NAIVE makes, and keeps some of its walls.  AWARE, PROJREPART and multiconstraint share the interface
evenly from the beginning, nearly always with a larger cut or more pieces than are allowed; but not always.
"""

from __future__ import annotations

import logging
from collections.abc import Callable

from ...algorithms import aware, projrepart
from ...coupling import CoPartition, CoupledProblem
from ...errors import CopartError
from ...metrics.promise import broken, promised
from ...metrics.step import StepCost, step_cost
from ...options import Options
from ..multiconstraint import multiconstraint

logger = logging.getLogger(__name__)

SCHEMES: tuple[Callable[..., CoPartition], ...] = (aware, projrepart, multiconstraint)


def even_or_other(problem: CoupledProblem, made: CoPartition, options: Options, cost: StepCost) -> CoPartition:
    """`made`, or if a component has a process with more than an even share of the coupled weight, the shortest step of
    the other schemes in which none has, which is in no line worse than the components alone, and takes no longer.

    Parameters
    ----------
    problem : CoupledProblem
    made : CoPartition
        With what it began with, `alone`.
    options : Options
    cost : StepCost
        What work and messages cost.
    """
    def of(parts: CoPartition) -> CoPartition:
        return CoPartition(parts.parts, made.nparts, alone=made.alone)

    assert made.alone is not None
    before = promised(problem, CoPartition(made.alone, made.nparts, alone=made.alone))
    if not broken(promised(problem, made), before, options.eps):
        return made
    step = step_cost(problem, made, cost).T_step
    even: list[tuple[float, int, CoPartition]] = []
    for i, scheme in enumerate(SCHEMES):
        try:
            other = of(scheme(problem, made.nparts, None, options))
        except CopartError as error:
            logger.info("joint: %s", error)
            continue
        if not broken(promised(problem, other), before, options.eps):
            even.append((step_cost(problem, other, cost).T_step, i, other))
    took, _, other = min(even, default=(step + 1, 0, made))
    return other if took <= step else made


__all__ = ["even_or_other"]
