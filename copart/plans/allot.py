"""Processes for the components of a problem: `copart.resources` with loads and interfaces taken from it."""

from __future__ import annotations

import math
import os
from collections.abc import Mapping
from typing import Any, Literal, NamedTuple

from ..coupling import CoupledProblem
from ..errors import ConfigError, CouplingError
from ..formats.costs_file import read_costs
from ..interface.counts import Counts, CoupledCounts, coupled_counts
from ..names import CouplingOrder
from ..options import Options
from ..resources import Advice, Workload, advise
from .requests import Costs, Sharing, check_fit, counts


def allot(problem: CoupledProblem, total: int, costs: Costs | None = None, coupling: CouplingOrder = "concurrent",
          eps: float = 0.05, unit: Mapping[str, float] | None = None) -> Advice:
    """Share out `total` processes among the components of a problem.

    Parameters
    ----------
    problem : CoupledProblem
        The sum of the vertex weights of a component is its number of cells.
    total : int
        Processes in all.
    costs : path, sequence of float or mapping of str to float, optional
        Where not given, a unit of weight costs the same everywhere.  A table that has ``coupled_cost`` for every
        component also chooses N^cpl.
    coupling : {"concurrent", "serial"}
        See :func:`copart.resources.distribute`.
    eps : float
        Imbalance allowed; no fewer parts are coupled than can hold the coupled cells within it.
    unit : mapping of str to float, optional
        Coupled weight of a cell that costs what the table says of a coupled one; 1 where not given.

    Raises
    ------
    ConfigError, FormatError
        `total` is not enough, or the costs name other components than the problem.
    """
    cells = {name: graph.total_weight for name, graph in problem.components.items()}
    phase: dict[str, float] = {}
    iterations: dict[str, float] = {}
    if isinstance(costs, str | os.PathLike):
        table = read_costs(costs, cells)
        found = {w.name: w for w in table.workloads}
        phase, iterations = table.coupled_cost, table.iterations
        what = f"costs {os.fspath(costs)}"
    else:
        each = _by_name(problem, costs)
        found = {name: Workload.of_cells(name, cells[name], cost) for name, cost in each.items()}
        what = "costs"
    if set(found) != set(problem.names):
        raise ConfigError(f"{what}: are of {', '.join(found)}, the components are {', '.join(problem.names)}; give "
                          f"these names")
    # no part may be empty
    loads = [found[name].limited(most=graph.nvtxs) for name, graph in problem.components.items()]
    coupled = {name: math.ceil(int(problem.coupled_load(name).sum()) / (unit or {}).get(name, 1))
               for name in problem.names}
    if set(phase) != set(problem.names) or min(coupled.values()) == 0:
        return advise(loads, total, coupling)
    chosen = advise(loads, total, coupling).parts
    try:
        least = coupled_counts(problem, chosen, None, Options(eps=eps), interface="gather")
    except CouplingError:  # said again, and better, where the scheme asks for the counts
        least = {}
    return advise(loads, total, coupling, coupled_cells=coupled, iterations=iterations, coupled_cost=phase,
                  least_coupled=least, pairs=[pair for pair in problem.pairs if len(problem.pairs[pair])])


def _by_name(problem: CoupledProblem, costs: Any) -> dict[str, float]:
    if costs is None:
        return dict.fromkeys(problem.names, 1.0)
    if isinstance(costs, Mapping):
        return dict(costs)
    values = list(costs)
    if len(values) != len(problem.names):
        raise ConfigError(f"costs: need {len(problem.names)} numbers, one per component, got {len(values)}")
    return dict(zip(problem.names, values, strict=True))


class Counted(NamedTuple):
    """How many parts there are, in the order of the components, and how many may own coupled cells."""

    parts: list[int]
    coupled: list[int] | Literal["paper"] | None
    rule: str
    """By which of :data:`copart.interface.counts.COUPLED_RULES` the latter are chosen."""
    advice: Advice | None
    """Where processes were shared out."""


def counted(problem: CoupledProblem, parts: Counts | None, sharing: Sharing | None, coupled: CoupledCounts | None,
            rule: str, pool: bool, eps: float,
            unit: Mapping[str, float] | None = None) -> Counted:
    """The numbers of parts as given, or as they follow from what is to be shared out.

    Parameters
    ----------
    problem : CoupledProblem
    parts, sharing
        One of them, as :func:`copart.plans.requests.parts_or_total` gives them.
    coupled : mapping, sequence, int or "paper", optional
        Parts of each component that may own coupled cells; as advised, or by the scheme, where not given.
    rule : str
        What they are chosen by where nothing is advised (:func:`copart.interface.counts.coupled_rule`).
    pool : bool
        Whether one number alone is accepted, for the size of a pool that all share.
    eps : float
        Imbalance allowed.
    unit : mapping of str to float, optional
        See :func:`allot`.

    Raises
    ------
    ConfigError, PartitionError
        The counts do not fit the components.
    """
    advice = None
    if sharing is not None:
        advice = allot(problem, sharing.total, sharing.costs, sharing.coupling, eps, unit)
        parts = advice.parts
        if coupled is None and advice.ncoupled is not None:
            coupled, rule = advice.ncoupled, "advised"
    assert parts is not None
    found = counts("parts", parts, problem.names, pool)
    limits = coupled if coupled is None or isinstance(coupled, str) else counts("coupled", coupled, problem.names)
    check_fit(problem, found)
    return Counted(found, limits, rule, advice)


__all__ = ["Counted", "allot", "counted"]
