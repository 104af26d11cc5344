"""AUTO: every scheme that applies, and of those that keep the promise the one with the cheapest step.

Those share the coupled weight evenly and are in no figure worse than NAIVE; where none is both, the latter decides.
"""

from __future__ import annotations

import logging
from collections.abc import Callable
from dataclasses import replace
from typing import Any, Unpack

from ..algorithms import aware, naive, projrepart
from ..coupling import CoPartition, CoupledProblem
from ..errors import CopartError, PartitionError
from ..interface.counts import Counts, CoupledCounts, part_counts
from ..metrics.promise import broken, promised
from ..metrics.step import StepCost, step_cost
from ..names import InterfaceRule
from ..options import Options, Settings, Thorough
from .contiguous import contiguous as connected
from .joint import joint
from .multiconstraint import multiconstraint

logger = logging.getLogger(__name__)

CHOICES: dict[str, Callable[..., CoPartition]] = {"joint": joint, "aware": aware, "projrepart": projrepart,
                                                  "multiconstraint": multiconstraint}
"""The schemes that are tried; of equal ones the first is taken."""


def auto(problem: CoupledProblem, nparts: Counts, ncoupled: CoupledCounts | None = None,
         options: Options | None = None, *, interface: InterfaceRule = "spread", cost: StepCost | None = None,
         contiguous: bool = False, **settings: Unpack[Settings]) -> CoPartition:
    """AUTO: the co-partition with the lowest ``T_step`` among those of the schemes that keep the promise.

    Where all of these have a busiest coupled process that is more than `eps` above the mean, this line is left out.

    Parameters
    ----------
    problem, nparts, ncoupled, options, interface
        As in :func:`copart.algorithms.aware`.
    cost : StepCost, optional
        What work and messages cost; see :mod:`copart.metrics.step`.
    contiguous : bool
        Connected parts, of all that is tried (:mod:`copart.schemes.contiguous`).

    Returns
    -------
    CoPartition
        Its `scheme` says who made it: ``"naive"`` where no other is in every figure at most as bad.

    Raises
    ------
    PartitionError
        No scheme finds a balanced partition.
    """
    run, count = Thorough.of(options, settings), part_counts(problem, nparts)
    failed: CopartError | None = None
    found: list[tuple[bool, float, int, CoPartition]] = []
    tried: dict[str, CoPartition] = {}
    for name, scheme in CHOICES.items():
        keeps: dict[str, Any] = {} if name == "multiconstraint" else {"interface": interface}
        if name == "joint":
            keeps["contiguous"] = contiguous
        try:
            made = scheme(problem, count, ncoupled, run, **keeps)
            tried[name] = connected(problem, made, run) if contiguous and name != "joint" else made
        except CopartError as error:
            logger.info("auto: %s is left out: %s", name, error)
            failed = failed or error
    before = tried["joint"].alone if "joint" in tried else None
    try:
        if before is None:
            made = naive(problem, count, None, run)
            before = (connected(problem, made, run) if contiguous else made).parts
        tried["naive"] = CoPartition(before, count, alone=before)
    except PartitionError as error:
        failed = failed or error
    against = promised(problem, tried["naive"]) if "naive" in tried else None
    for i, (name, made) in enumerate(tried.items()):
        lines = [] if against is None else broken(promised(problem, made), against, run.eps)
        if all(line.measure != "naive" for line in lines):
            found.append((bool(lines), step_cost(problem, made, cost).T_step, i, replace(made, scheme=name)))
    if not found:
        assert failed is not None
        raise failed
    return min(found, key=lambda one: one[:3])[3]


__all__ = ["CHOICES", "auto"]
