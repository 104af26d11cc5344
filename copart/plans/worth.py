"""Whether a plan is worth more than partitioning each component alone, and what it says where it is not."""

from __future__ import annotations

from collections.abc import Sequence

from ..coupling import CoPartition, CoupledProblem
from ..errors import CopartError
from ..metrics import CoupledMetrics
from ..metrics.promise import PromiseFigures, promised, remarks_on
from ..names import SchemeName
from ..options import Options
from ..schemes import registry

#: The scheme that partitions each component alone.
ALONE: SchemeName = "naive"


def figures_alone(problem: CoupledProblem, copartition: CoPartition, scheme: str, parts: Sequence[int], run: Options,
                  contiguous: bool = False) -> PromiseFigures | None:
    """What partitioning each component alone comes to; None where that is no measure, or finds no partition.

    Parameters
    ----------
    problem : CoupledProblem
    copartition : CoPartition
        What `scheme` made.
    scheme : str
    parts : sequence of int
        Number of parts of each component.
    run : Options
        As for `copartition`.
    contiguous : bool
        Parts alone are connected, too.
    """
    if scheme == ALONE or copartition.shared:
        return None
    if copartition.alone is not None:
        return promised(problem, CoPartition(copartition.alone, copartition.nparts))
    try:
        return promised(problem, registry.run_scheme(ALONE, problem, list(parts), None, run,
                                                     contiguous=contiguous))
    except CopartError:
        return None


def worth_remarks(problem: CoupledProblem, copartition: CoPartition, metrics: CoupledMetrics,
                  alone: PromiseFigures | None, eps: float) -> list[str]:
    """A remark where the plan is worse than partitioning each component alone; nothing of what is no promise.

    Parameters
    ----------
    problem : CoupledProblem
    copartition : CoPartition
    metrics : CoupledMetrics
        Of these two.
    alone : PromiseFigures or None
        By :func:`figures_alone`.
    eps : float
        Imbalance tolerance.
    """
    return [] if alone is None else remarks_on(promised(problem, copartition, metrics), alone, eps)


__all__ = ["ALONE", "figures_alone", "worth_remarks"]
