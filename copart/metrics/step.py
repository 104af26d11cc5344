r"""What a coupled step costs, as one figure that ranks co-partitions.

::

    T_reg(c) = max_k  r_c (t_c w_k + alpha Zhalo_k + beta Vhalo_k)        own phase of component c, all its sub-steps
    T_cpl    = max_k  t_m w^cpl_k + alpha Z_k + beta V_k                  coupling phase, over all processes and pairs
    T_step   = max_c T_reg(c) + T_cpl                                     sum_c T_reg(c) + T_cpl in a shared pool

Part k has weight w_k, coupled weight w^cpl_k, and Zhalo_k neighbouring parts in its component; Vhalo_k are
the data that it sends and receives in one halo exchange, each cell once per neighbouring part; Z_k and V_k are
messages and data that it sends and receives in a coupling phase.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, fields, replace
from types import MappingProxyType
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ..arrays import fraction
from ..coupling import CoPartition, CoupledProblem
from ..errors import ConfigError, did_you_mean
from .columns import letter_of
from .components import coupled_weights, part_weights
from .pairs import check_fits
from .traffic import CouplingTraffic, Halo, all_matrices, coupling_traffic, halo_volumes

#: Of the unit of the constants below, microseconds, so many are a second.
UNITS = 1e6

ByComponent = float | Mapping[str, float]
"""One number for all components, or one each; a component that is not named has the default."""


@dataclass(frozen=True)
class StepCost:
    """What work and messages cost, in microseconds: the time of a cell's sub-step where nothing is known of it.

    Parameters
    ----------
    t : float or mapping of str to float
        A sub-step of a cell, per unit of its weight.
    t_m : float or mapping of str to float
        A coupled cell in a coupling phase, per unit of its coupled weight.
    alpha : float
        A message.
    beta : float
        A datum.
    substeps : float or mapping of str to float
        Sub-steps of a component in a coupling step, each with one halo exchange.

    Raises
    ------
    ConfigError
        A constant is no finite number from 0 up.

    Examples
    --------
    >>> StepCost(t={"fluid": 2}).named(["fluid", "solid"]).t
    {'fluid': 2.0, 'solid': 1.0}
    """

    t: ByComponent = 1.0
    t_m: ByComponent = 1.0
    alpha: float = 5.0
    beta: float = 0.01
    substeps: ByComponent = 1.0

    def __post_init__(self) -> None:
        for field in fields(self):
            value = getattr(self, field.name)
            if isinstance(value, Mapping) and field.name not in _EACH:
                raise ConfigError(f"step cost: {field.name} is one number for all components, got {value!r:.60}")
            for name, one in value.items() if isinstance(value, Mapping) else [("", value)]:
                what = f"step cost: {field.name}{name and f' of {name}'}"
                if isinstance(one, str):
                    raise ConfigError(f"{what}: needs a number, got {one!r:.40}")
                fraction(what, one)

    def named(self, names: Iterable[str]) -> StepCost:
        """The same with a number for each of these components, which may have been meant by their letters: a, b, c.

        Raises
        ------
        ConfigError
            A component is named that is none of these.
        """
        known = list(names)
        out: dict[str, dict[str, float]] = {}
        for key in _EACH:
            value = getattr(self, key)
            given = dict(value) if isinstance(value, Mapping) else dict.fromkeys(known, value)
            for i, name in enumerate(known):
                if letter_of(i) in set(given) - set(known) and name not in given:
                    given[name] = given.pop(letter_of(i))
            strangers = [name for name in given if name not in known]
            if strangers:
                raise ConfigError(f"step cost: {key}: no component {strangers[0]!r}; known: {', '.join(known)}"
                                  + did_you_mean(strangers[0], known))
            out[key] = {name: float(given.get(name, 1.0)) for name in known}
        return replace(self, **out, alpha=float(self.alpha), beta=float(self.beta))

    @classmethod
    def of_dict(cls, told: Any) -> StepCost:
        """From :meth:`to_dict`.

        Raises
        ------
        ConfigError
            It is no mapping of constants.
        """
        if not isinstance(told, Mapping) or not set(told) <= {f.name for f in fields(cls)}:
            raise ConfigError(f"step cost: needs constants by their names, got {told!r:.60}")
        return cls(**told)

    def to_dict(self) -> dict[str, Any]:
        """The constants as plain JSON types, by their names."""
        values = {f.name: getattr(self, f.name) for f in fields(self)}
        return {key: dict(x) if isinstance(x, Mapping) else x for key, x in values.items()}

    def __str__(self) -> str:
        return ", ".join(f"{f.name} {_said(getattr(self, f.name))}" for f in fields(self))


#: Constants that each component may have its own of.
_EACH = ("t", "t_m", "substeps")


def _said(value: Any) -> str:
    """A constant in words: one number where all components have the same."""
    if not isinstance(value, Mapping):
        return f"{value:g}"
    if len(set(value.values())) == 1:
        return f"{next(iter(value.values())):g}"
    return " ".join(f"{x:g} ({name})" for name, x in value.items())


@dataclass(frozen=True)
class StepFigures:
    """What a coupled step costs, in the unit of `cost`: microseconds."""

    T_step: float
    """The whole step."""
    T_reg: Mapping[str, float]
    """Own phase of each component: its slowest process, all sub-steps."""
    T_cpl: float
    """Coupling phase: its slowest process."""
    waits: float
    """Share of the time of all processes in which they wait: 1 - (mean over the processes of own work and own
    messages) / T_step."""
    pool: bool
    """Whether all components share the processes and so compute one after the other."""
    cost: StepCost
    """The constants, by component."""

    @property
    def regular(self) -> float:
        """All own phases: the longest where components compute at once, their sum in a pool."""
        return sum(self.T_reg.values()) if self.pool else max(self.T_reg.values(), default=0.0)

    def to_dict(self) -> dict[str, Any]:
        """Figures and constants as plain JSON types."""
        return {"T_step": self.T_step, "T_reg": dict(self.T_reg), "T_cpl": self.T_cpl, "waits": self.waits,
                "pool": self.pool, "cost": self.cost.to_dict()}

    def __str__(self) -> str:
        return (f"T_step {self.T_step:.4g}, own phases {self.regular:.4g} and coupling {self.T_cpl:.4g}, "
                f"waiting {self.waits:.1%}")

    def row(self) -> dict[str, float]:
        """The figures of a table: both phases as one number each."""
        return {"T_step": self.T_step, "T_reg": self.regular, "T_cpl": self.T_cpl, "waits": self.waits}


def step_cost(problem: CoupledProblem, copartition: CoPartition, cost: StepCost | None = None,
              traffic: CouplingTraffic | None = None, halos: Mapping[str, Halo] | None = None) -> StepFigures:
    """What a coupled step of `copartition` costs; some hundredths of a second for 400,000 cells.

    Parameters
    ----------
    problem : CoupledProblem
    copartition : CoPartition
        In a shared pool part k of all components is one process: its coupled work adds up, and what stays on it is
        no message.
    cost : StepCost, optional
        The default constants where not given.
    traffic : CouplingTraffic, optional
        What processes exchange in a coupling phase, where that is known.
    halos : mapping of str to three arrays, optional
        By :func:`~copart.metrics.traffic.halo_cells` for each component, where they are known.

    Raises
    ------
    ConfigError
        `cost` names a component that the problem has not.

    Examples
    --------
    Two parts each, of two cells and one; only cells 0 are coupled:

    >>> from copart import Graph, Interedges
    >>> line = Graph.from_edges(3, [0, 1], [1, 2])
    >>> problem = CoupledProblem.of_two(line, line, Interedges.from_pairs(3, 3, [0], [0]))
    >>> made = CoPartition({"a": [0, 0, 1], "b": [0, 0, 1]}, {"a": 2, "b": 2})
    >>> figures = step_cost(problem, made, StepCost(beta=0.5, substeps={"a": 10}))
    >>> dict(figures.T_reg), figures.T_cpl, figures.T_step
    ({'a': 80.0, 'b': 8.0}, 12.0, 92.0)
    """
    check_fits(problem, copartition)
    at = (cost or StepCost()).named(problem.names)
    if traffic is None:
        traffic = coupling_traffic(copartition, all_matrices(problem, copartition))
    coupling = exchange_times(traffic, at)
    busy = np.zeros(copartition.nprocs)
    longest = {}
    for name, graph in problem.components.items():
        part, n, first = copartition[name], copartition.nparts[name], copartition.offset(name)
        own = _own_phase(graph, part, n, at, name, halos[name] if halos else None)
        longest[name] = float(own.max())
        busy[first:first + n] += own
        coupled, _ = coupled_weights(problem.coupled_load(name), part, n, problem.coupled(name))
        coupling[first:first + n] += at.t_m[name] * coupled  # type: ignore[index]
    T_cpl = float(coupling.max())
    T_step = (sum if copartition.shared else max)(longest.values()) + T_cpl
    waits = 1.0 - float((busy + coupling).mean()) / T_step if T_step > 0 else 0.0
    return StepFigures(T_step, MappingProxyType(longest), T_cpl, waits, copartition.shared, at)


def _own_phase(graph: Any, part: NDArray[np.int32], n: int, at: StepCost, name: str, halo: Halo | None
               ) -> NDArray[np.float64]:
    """(n,) float64 time of each part in the own phase of its component."""
    out = at.t[name] * part_weights(graph, part, n) + halo_times(graph, part, n, at, halo)  # type: ignore[index]
    return np.asarray(at.substeps[name] * out)  # type: ignore[index]


def exchange_times(traffic: CouplingTraffic, cost: StepCost) -> NDArray[np.float64]:
    """(nprocs,) float64 time that the messages of a coupling phase take each process."""
    return np.asarray(cost.alpha * (traffic.messages_sent + traffic.messages_received)
                      + cost.beta * (traffic.sent + traffic.received))


def halo_times(graph: Any, part: NDArray[np.int32], nparts: int, cost: StepCost, halo: Halo | None = None
               ) -> NDArray[np.float64]:
    """(nparts,) float64 time that each part takes to exchange its halo once."""
    sender, receiver, volume = halo_volumes(graph, part, nparts, halo)
    data = np.bincount(sender, volume, nparts) + np.bincount(receiver, volume, nparts)
    return np.asarray(cost.alpha * np.bincount(sender, minlength=nparts) + cost.beta * data)


__all__ = ["UNITS", "StepCost", "StepFigures", "exchange_times", "halo_times", "step_cost"]
