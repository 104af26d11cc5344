"""How many of a component's processes own coupled cells: N^cpl from what an interface costs.

Few coupled processes have long coupling phases, and each much of the interface; with many,
the parts at the interface become flat, and exchange more in every iteration of the
regular phase.  For k of N processes at an interface with C coupled cells of n, against k' on
the other side, the model of one step of a coupled process is

    compute    cost * C / k
    messages   latency * (1 + sqrt(k' / k))^2
    volume     datum * (C / k + C' / k)
    halo       datum * iterations * (C / k + 4 sqrt(C / k) * k n / (N C))

*Messages*: two partitions of one surface into k and k' compact parts that know nothing of
each other meet in about (sqrt(k) + sqrt(k'))^2 pairs; the published experiments have
20 to 58 for 6 parts against 6 to 25, the model 24 to 55.  Where the meshes and parts are aligned,
k + k' - gcd(k, k').  *Halo*: the part of n / N cells that stands on C / k of the interface as a
box exchanges through the face opposite and four sides.  This alone is least where the box is half a
cube, at k = C (N / 2n)^(2/3); all other terms ask for more coupled processes.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from types import MappingProxyType

import numpy as np
from numpy.typing import ArrayLike, NDArray

from ..arrays import fraction, whole
from ..errors import ConfigError
from ..metrics.step import UNITS, StepCost

#: Seconds for a message and for a datum where they are not given: the constants of a coupled step.
LATENCY, DATUM = StepCost.alpha / UNITS, StepCost.beta / UNITS

TERMS = ("compute", "messages", "volume", "halo")

#: Rounds over the components until no count changes; each lowers the cost, so that few are needed.
_ROUNDS = 50


@dataclass(frozen=True)
class CouplingCost:
    """One component at its interface.

    Parameters
    ----------
    name : str
    processes : int
        N.
    cells, coupled_cells : int
        n and C; C at most n.
    cost : float
        Seconds that a process computes for a coupled cell in a coupling phase.
    iterations : float
        Iterations of the regular phase between two coupling phases.
    latency, datum : float
        Seconds for a message, and for the data of one cell.
    least, most : int
        Fewest and most coupled processes; 0 is N for `most`.
    """

    name: str
    processes: int
    cells: int
    coupled_cells: int
    cost: float = 0.0
    iterations: float = 1.0
    latency: float = LATENCY
    datum: float = DATUM
    least: int = 1
    most: int = 0

    def __post_init__(self) -> None:
        n = whole(f"processes of {self.name}", self.processes, low=1)
        cells = whole(f"cells of {self.name}", self.cells, low=1)
        whole(f"coupled_cells of {self.name}", self.coupled_cells, low=1, high=cells)
        for label in ("cost", "iterations", "latency", "datum"):
            fraction(f"{label} of {self.name}", getattr(self, label))
        if not 1 <= self.least <= self.last <= n:
            raise ConfigError(f"{self.name}: {self.least} to {self.last} coupled processes of {n} are not possible")

    @property
    def last(self) -> int:
        """Most coupled processes."""
        return min(self.most or self.processes, self.processes, self.coupled_cells)

    def terms(self, k: ArrayLike, others: Sequence[tuple[ArrayLike, int]], aligned: bool = False
              ) -> dict[str, NDArray[np.float64]]:
        """The costs of the model in seconds, by name (:data:`TERMS`), for each number `k` of coupled processes.

        Parameters
        ----------
        k : (m,) array_like of int
        others : sequence of (int or (m,) array_like of int, int)
            Coupled processes and coupled cells of each component on the other side.
        aligned : bool
            Whether the borders of the parts on both sides coincide.
        """
        count = np.atleast_1d(np.asarray(k, np.float64))
        share = self.coupled_cells / count
        height = self.cells / self.processes / share
        messages, volume = np.zeros(len(count)), np.zeros(len(count))
        for processes, cells in others:
            theirs = np.asarray(processes, np.int64)
            if aligned:
                common = np.gcd(count.astype(np.int64), theirs)
                messages = messages + np.ceil((count + theirs - common) / count)
            else:
                messages = messages + (1 + np.sqrt(theirs / count)) ** 2
            volume += share + cells / count
        return {"compute": self.cost * share, "messages": self.latency * messages, "volume": self.datum * volume,
                "halo": self.datum * self.iterations * (share + 4 * np.sqrt(share) * height)}


@dataclass(frozen=True)
class InterfaceChoice:
    """N^cpl of every component, and the curves that it was chosen from.

    Attributes
    ----------
    ncoupled : mapping of str to int
    curves : mapping of str to list of dict
        By component: one entry a number `k` of coupled processes, ascending, with the terms of the model and their
        sum `total` in seconds, while the other components keep the numbers chosen.
    """

    ncoupled: Mapping[str, int]
    curves: Mapping[str, list[dict[str, float]]]

    def to_dict(self) -> dict[str, object]:
        """Plain JSON types."""
        return {"ncoupled": dict(self.ncoupled), "curves": {name: list(c) for name, c in self.curves.items()}}


def coupled_processes(components: Sequence[CouplingCost], pairs: Sequence[tuple[str, str]] | None = None,
                      aligned: bool = False) -> InterfaceChoice:
    """The numbers of coupled processes of least cost, summed over the components.

    Parameters
    ----------
    components : sequence of CouplingCost
    pairs : sequence of (str, str), optional
        Which are coupled with each other; all where not given.
    aligned : bool
        See :meth:`CouplingCost.terms`.

    Returns
    -------
    InterfaceChoice
        No other number for one component alone costs less.

    Examples
    --------
    >>> one = CouplingCost("a", 64, 64**3, 64**2, latency=0.0)
    >>> coupled_processes([one, CouplingCost("b", 64, 64**3, 64**2, latency=0.0, iterations=100)]).ncoupled["b"]
    10
    """
    by_name = {c.name: c for c in components}
    if len(by_name) < len(components):
        raise ConfigError(f"components: need different names, got {', '.join(c.name for c in components)}")
    links = pairs if pairs is not None else [(p, q) for i, p in enumerate(by_name) for q in list(by_name)[i + 1:]]
    facing: dict[str, list[str]] = {name: [] for name in by_name}
    for p, q in links:
        if p not in by_name or q not in by_name:
            raise ConfigError(f"pairs: ({p}, {q}) names no component; known: {', '.join(by_name)}")
        facing[p].append(q)
        facing[q].append(p)
    chosen = {c.name: min(max(round(c.processes ** (2 / 3)), c.least), c.last) for c in components}

    def total(name: str, k: NDArray[np.int64]) -> NDArray[np.float64]:
        """Cost of this component and its neighbours if it has `k` coupled processes."""
        own = by_name[name]
        out = _sum(own.terms(k, [(chosen[o], by_name[o].coupled_cells) for o in facing[name]], aligned))
        for other in facing[name]:
            rest = [(chosen[o], by_name[o].coupled_cells) for o in facing[other] if o != name]
            out = out + _sum(by_name[other].terms(chosen[other], [*rest, (k, own.coupled_cells)], aligned))
        return np.asarray(out)

    for _ in range(_ROUNDS):
        before = dict(chosen)
        for c in components:
            k = np.arange(c.least, c.last + 1, dtype=np.int64)
            cost = total(c.name, k)
            best = int(k[cost.argmin()])
            if cost.min() < cost[np.flatnonzero(k == chosen[c.name])[0]]:
                chosen[c.name] = best
        if chosen == before:
            break
    curves = {}
    for c in components:
        k = np.unique(np.concatenate([_spread(c.least, c.last), [chosen[c.name]]]))
        terms = c.terms(k, [(chosen[o], by_name[o].coupled_cells) for o in facing[c.name]], aligned)
        curves[c.name] = [{"k": int(x), **{t: float(terms[t][i]) for t in TERMS},
                           "total": float(_sum(terms)[i])} for i, x in enumerate(k)]
    return InterfaceChoice(MappingProxyType(chosen), MappingProxyType(curves))


def _sum(terms: Mapping[str, NDArray[np.float64]]) -> NDArray[np.float64]:
    return np.sum(np.broadcast_arrays(*(terms[t] for t in TERMS)), axis=0)  # type: ignore[no-any-return]


def _spread(first: int, last: int) -> NDArray[np.int64]:
    """Some numbers from first to last, about four a doubling."""
    count = int(4 * np.log2(last / first)) + 2
    return np.unique(np.round(np.geomspace(first, last, count)).astype(np.int64))


__all__ = ["DATUM", "LATENCY", "TERMS", "CouplingCost", "InterfaceChoice", "coupled_processes"]
