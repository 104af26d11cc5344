"""All figures of a co-partition.

One entry per component and one per coupled pair, what the busiest process exchanges over all pairs, and what a coupled
step costs.  Everything is computed from the problem and the part arrays; no figure of an optimiser is taken over.
(Predari & Esnard 2014, Section III.)
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from functools import partial
from types import MappingProxyType
from typing import Any, get_args

import numpy as np

from ..arrays import whole
from ..coupling import CoPartition, CoupledProblem
from ..errors import ConfigError, CouplingError
from ..graph import Graph
from ..names import FigureTable, known_name
from .columns import COMPONENT_COLUMNS, PAIR_COLUMNS, STEP_COLUMNS, html_table
from .components import ComponentMetrics, component_metrics, imbalance_of, part_weights
from .pairs import PairMetrics, check_fits, pair_metrics
from .step import StepCost, StepFigures, step_cost
from .traffic import Halo, coupling_traffic, halo_cells


@dataclass(frozen=True, eq=False, repr=False)
class CoupledMetrics:
    """Figures of a co-partition: one entry per component and one per coupled pair, in their order."""

    components: Mapping[str, ComponentMetrics]
    pairs: Mapping[tuple[str, str], PairMetrics]
    maxV: int
    """Most data that one process sends in a coupling phase, or that one receives, over all pairs and both ways."""
    maxZ: int
    """Most messages that one process sends in a coupling phase, or that one receives."""
    step: StepFigures
    """What a coupled step costs."""
    pool_ub: float | None = None
    """Imbalance of a pool of processes that all components share, by the load of all; None where none is shared."""

    @property
    def a(self) -> ComponentMetrics:
        """The first component."""
        return next(iter(self.components.values()))

    @property
    def b(self) -> ComponentMetrics:
        """The second component."""
        return list(self.components.values())[1]

    @property
    def pair(self) -> PairMetrics:
        """The only coupled pair."""
        if len(self.pairs) != 1:
            raise CouplingError(f"metrics.pair: there are {len(self.pairs)} coupled pairs, use metrics.pairs")
        return next(iter(self.pairs.values()))

    def to_dict(self) -> dict[str, Any]:
        """Plain JSON types: ``components`` by name, a list of ``pairs``, ``maxV``, ``maxZ`` and ``step`` with its
        constants; of a shared pool ``pool_ub``."""
        out: dict[str, Any] = {
            "components": {name: c.to_dict() for name, c in self.components.items()},
            "pairs": [p.to_dict() for p in self.pairs.values()],
            "maxV": self.maxV, "maxZ": self.maxZ, "step": self.step.to_dict(),
        }
        return out if self.pool_ub is None else {**out, "pool_ub": self.pool_ub}

    def to_dicts(self, of: FigureTable = "components") -> list[dict[str, Any]]:
        """One row per component, one per coupled pair, or one of the whole step: ready for ``pandas.DataFrame``.

        Parameters
        ----------
        of : {"components", "pairs", "step"}
        """
        if of == "components":
            return [c.to_dict() for c in self.components.values()]
        if of == "pairs":
            return [{"pair": f"{p.a} - {p.b}", **p.to_dict()} for p in self.pairs.values()]
        known_name("of", of, get_args(FigureTable))
        return [{**self.step.row(), "maxV": self.maxV, "maxZ": self.maxZ}]

    def _repr_html_(self) -> str:
        """Three tables, for notebooks."""
        tables = [html_table(COMPONENT_COLUMNS, self.to_dicts())]
        tables += [html_table(PAIR_COLUMNS, self.to_dicts("pairs"))] if self.pairs else []
        return "".join([*tables, html_table(STEP_COLUMNS, self.to_dicts("step"), caption=str(self.step.cost))])

    def __repr__(self) -> str:
        lines = [repr(entry) for entry in (*self.components.values(), *self.pairs.values())]
        lines += [] if self.pool_ub is None else [f"shared pool: ub {self.pool_ub:.2%} by the load of all"]
        return "\n".join([*lines, f"coupled step: {self.step}"])


def evaluate(problem: CoupledProblem, copartition: CoPartition, cost: StepCost | None = None, *,
             threads: int = 1) -> CoupledMetrics:
    """Every figure of `copartition`, computed from scratch.

    Parameters
    ----------
    problem : CoupledProblem
    copartition : CoPartition
    cost : StepCost, optional
        What work and messages cost, for the figures of a coupled step; the default constants where not given.
    threads : int
        Threads, of which each looks at other components, or at other pairs of them.

    Raises
    ------
    CouplingError
        The co-partition has other components than the problem, or part arrays of another length, or something else is
        given for one of the two.
    ConfigError
        `cost` is no StepCost or names a component that the problem has not, or there is no thread.
    """
    from ..parallel import side_by_side

    threads = whole("threads", threads, low=1)
    check_fits(problem, copartition)
    if not isinstance(cost, StepCost | None):
        raise ConfigError(f"cost: needs a StepCost, got {type(cost).__name__}")

    def of(name: str, graph: Graph) -> tuple[ComponentMetrics, Halo]:
        halo = halo_cells(graph, copartition[name])
        return component_metrics(
            name, graph, copartition[name], copartition.nparts[name], problem.coupled(name), copartition.ncoupled[name],
            problem.coupled_load(name), halo,
        ), halo

    work: list[Any] = [partial(of, name, graph) for name, graph in problem.components.items()]
    work += [partial(pair_metrics, a, b, problem, copartition) for a, b in problem.ordered_pairs]
    found = side_by_side(work, threads)
    figures, listed = zip(*found[:len(problem.names)], strict=True)
    components = dict(zip(problem.names, figures, strict=True))
    halos = dict(zip(problem.names, listed, strict=True))
    pairs = dict(zip(problem.ordered_pairs, found[len(problem.names):], strict=True))
    traffic = coupling_traffic(copartition, {pair: (m.matrix, m.matrix_ba) for pair, m in pairs.items()})
    pool_ub = None
    if copartition.shared:
        load = sum(part_weights(graph, copartition[name], copartition.nprocs)
                   for name, graph in problem.components.items())
        pool_ub = imbalance_of(np.asarray(load), copartition.nprocs)
    return CoupledMetrics(MappingProxyType(components), MappingProxyType(pairs), traffic.maxV, traffic.maxZ,
                          step_cost(problem, copartition, cost, traffic, halos), pool_ub)


__all__ = ["CoupledMetrics", "evaluate"]
