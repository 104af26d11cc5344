"""Everything at once: processes of each component, N^cpl, and what the neighbouring choices cost."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

from ..arrays import fraction
from ..errors import ConfigError
from ..names import CouplingOrder
from .distribution import Distribution, distribute, neighbours, priced
from .interface import DATUM, LATENCY, CouplingCost, InterfaceChoice, coupled_processes
from .workload import Workload

#: Neighbouring choices that are shown.
_SHOWN = 6


@dataclass(frozen=True, eq=False, repr=False)
class Advice:
    """How many processes for whom.

    Attributes
    ----------
    workloads : tuple of Workload
    chosen : Distribution
        The shortest step.
    others : tuple of (str, Distribution)
        Other choices and what they are: one unit moved from one component to another, an equal split.
    interface : InterfaceChoice or None
        N^cpl, where the coupled cells are known.
    remarks : tuple of str
        Times outside what was measured, poor fits, processes that are not used.
    """

    workloads: tuple[Workload, ...]
    chosen: Distribution
    others: tuple[tuple[str, Distribution], ...]
    interface: InterfaceChoice | None
    remarks: tuple[str, ...]

    @property
    def parts(self) -> dict[str, int]:
        """Number of processes of each component."""
        return dict(self.chosen.processes)

    @property
    def ncoupled(self) -> dict[str, int] | None:
        """N^cpl of each component, None where it was left open."""
        return None if self.interface is None else dict(self.interface.ncoupled)

    def rows(self) -> list[dict[str, Any]]:
        """One row a choice, the chosen one first: what it is, processes and times by component, step, idle share."""
        return [{"choice": what, **d.to_dict()} for what, d in (("chosen", self.chosen), *self.others)]

    def to_dict(self) -> dict[str, Any]:
        """Plain JSON types."""
        return {"total": self.chosen.total, "coupling": self.chosen.coupling, **self.chosen.to_dict(),
                "model": {w.name: {"a": w.scaling.a, "b": w.scaling.b, "c": w.scaling.c, "low": w.scaling.low,
                                   "high": w.scaling.high, "error": w.scaling.error} for w in self.workloads},
                "choices": self.rows(), "interface": self.interface and self.interface.to_dict(),
                "remarks": list(self.remarks)}

    def __repr__(self) -> str:
        counts = ", ".join(f"{name}: {n}" for name, n in self.chosen.processes.items())
        return f"Advice({counts}; step {self.chosen.step:.4g} s, {self.chosen.idle:.1%} idle)"


def advise(workloads: Sequence[Workload], total: int, coupling: CouplingOrder = "concurrent", *,
           coupled_cells: Mapping[str, int] | None = None, iterations: Mapping[str, float] | None = None,
           latency: float = LATENCY, datum: float = DATUM, coupled_cost: Mapping[str, float] | None = None,
           least_coupled: Mapping[str, int] | None = None, pairs: Sequence[tuple[str, str]] | None = None,
           aligned: bool = False) -> Advice:
    """Choose N_i, and N_i^cpl where `coupled_cells` are given.

    Parameters
    ----------
    workloads : sequence of Workload
    total : int
        Processes in all.
    coupling : {"concurrent", "serial"}
        See :func:`copart.resources.distribute`.
    coupled_cells : mapping of str to int, optional
        Coupled cells of every component; the workloads then need their number of cells.
    iterations : mapping of str to float, optional
        Iterations between two coupling phases; where not given those of the workload, else 1.
    latency, datum : float
        Seconds for a message and for the data of one cell (bytes per cell over bandwidth); where not given, those of
        :class:`copart.metrics.StepCost`.
    coupled_cost : mapping of str to float, optional
        Seconds for a coupled cell in a coupling phase; where not given, what a cell costs in one iteration.
    least_coupled : mapping of str to int, optional
        Fewest coupled processes, 1 where not given.
    pairs, aligned
        See :func:`copart.resources.coupled_processes`.

    Raises
    ------
    ConfigError
        No distribution is possible, or an argument is out of range.

    Examples
    --------
    >>> advise([Workload.of_cells("a", 900, 1.0), Workload.of_cells("b", 300, 1.0)], 8)
    Advice(a: 6, b: 2; step 150 s, 0.0% idle)
    """
    loads = tuple(workloads)
    chosen = distribute(loads, total, coupling)
    others = [(_difference(chosen, d), d) for d in neighbours(loads, chosen)[:_SHOWN]]
    equal = total // len(loads)
    if all(equal in w.choices(total) for w in loads) and set(chosen.processes.values()) != {equal}:
        others.append(("equal", priced(loads, dict.fromkeys(chosen.processes, equal), total, coupling)))
    interface = None
    if coupled_cells is not None:
        costs = [_coupling_cost(w, chosen.processes[w.name], coupled_cells, iterations or {}, latency, datum,
                                coupled_cost or {}) for w in loads]
        interface = coupled_processes([replace(c, least=(least_coupled or {}).get(c.name, 1)) for c in costs], pairs,
                                      aligned)
    return Advice(loads, chosen, tuple(others), interface, tuple(_remarks(loads, chosen)))


def _difference(chosen: Distribution, other: Distribution) -> str:
    """Who gave how many processes to whom."""
    moved = {name: n - chosen.processes[name] for name, n in other.processes.items()}
    giver, taker = min(moved, key=moved.__getitem__), max(moved, key=moved.__getitem__)
    return f"{moved[taker]} from {giver} to {taker}"


def _coupling_cost(w: Workload, n: int, coupled_cells: Mapping[str, int], iterations: Mapping[str, float],
                   latency: float, datum: float, coupled_cost: Mapping[str, float]) -> CouplingCost:
    if w.cells is None:
        raise ConfigError(f"coupled_cells: the number of cells of {w.name} is needed, too; give it (--cells)")
    if w.name not in coupled_cells:
        raise ConfigError(f"coupled_cells: {w.name} is missing")
    own = 1.0 if w.iterations is None else w.iterations
    rounds = fraction(f"iterations of {w.name}", iterations.get(w.name, own))
    # those that the time was computed of, which may be others
    times = rounds if w.iterations is None else own
    cost = coupled_cost.get(w.name, w.scaling.b / w.cells / times if times else 0.0)
    return CouplingCost(w.name, n, w.cells, coupled_cells[w.name], cost, rounds, latency, datum)


def _remarks(workloads: Sequence[Workload], chosen: Distribution) -> list[str]:
    out: list[str] = []
    for w in workloads:
        out += w.remarks
        n = chosen.processes[w.name]
        if w.scaling.extrapolates(n):
            out.append(f"{w.name}: {n} processes are outside what was measured ({w.scaling.low} to {w.scaling.high}), "
                       f"its time there is extrapolated from {w.scaling}")
    if chosen.unused:
        out.append(f"{chosen.unused} of {chosen.total} processes are not used: they would make no component faster, or "
                   f"a limit forbids them")
    return out


__all__ = ["Advice", "advise"]
