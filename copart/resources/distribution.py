"""The processes of each component: the slowest regular phase as short as possible.

*Concurrent* coupling: all components compute at once and wait for the slowest, so
``max_i T_i(N_i)`` is minimised over all splits of N, and with it the time that
processes idle.  The shortest step is one of the times T_i(n); a step of length t is
possible if the fewest processes on which each component needs no longer than t
fit into N.  That is searched for by bisection over the sorted times, which is exact for
any times, also for those that grow again.

*Serial* coupling: one component computes after the other, each on its own processes, so
the sum of the times is minimised, exactly, by dynamic programming over the components.
(The resource distribution problem of Predari & Esnard 2014, Section V.)
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from math import gcd, lcm
from types import MappingProxyType
from typing import get_args

import numpy as np
from numpy.typing import NDArray

from ..arrays import whole
from ..errors import ConfigError
from ..names import CouplingOrder, known_name
from .workload import Workload

COUPLINGS: tuple[CouplingOrder, ...] = get_args(CouplingOrder)

#: More processes than any machine has.
_MOST = 10**7

#: Serial coupling compares all pairs of so many numbers of processes: some seconds.
_MOST_STATES = 20_000


@dataclass(frozen=True)
class Distribution:
    """Numbers of processes, and what they cost.

    Attributes
    ----------
    total : int
        Processes there are; those that no component has stay unused.
    coupling : {"concurrent", "serial"}
    processes : mapping of str to int
    seconds : mapping of str to float
        Time of the regular phase of each component in one coupling step.
    """

    total: int
    coupling: str
    processes: Mapping[str, int]
    seconds: Mapping[str, float]

    @property
    def step(self) -> float:
        """Time of the regular phases of one coupling step."""
        times = self.seconds.values()
        return max(times) if self.coupling == "concurrent" else sum(times)

    @property
    def idle(self) -> float:
        """Share of the time of all processes, also the unused ones, in which they wait (T_idle)."""
        busy = sum(n * self.seconds[name] for name, n in self.processes.items())
        return 1.0 - busy / (self.total * self.step)

    @property
    def unused(self) -> int:
        """Processes that no component has."""
        return self.total - sum(self.processes.values())

    def to_dict(self) -> dict[str, object]:
        """Plain JSON types."""
        return {"processes": dict(self.processes), "seconds": dict(self.seconds), "step": self.step,
                "idle": self.idle, "unused": self.unused}


def distribute(workloads: Sequence[Workload], total: int, coupling: CouplingOrder = "concurrent") -> Distribution:
    """Share out `total` processes so that a step is as short as possible.

    Parameters
    ----------
    workloads : sequence of Workload
    total : int
        Processes in all.
    coupling : {"concurrent", "serial"}
        Whether components compute at once or one after the other, each on its own processes.

    Returns
    -------
    Distribution
        Of the shortest step there is.  Processes that cannot shorten it go to the next slowest component;
        a component never gets more than where its time is shortest.

    Raises
    ------
    ConfigError
        `total` is not enough, or an argument is out of range.

    Examples
    --------
    >>> loads = [Workload.of_cells("fluid", 3000, 1.0), Workload.of_cells("solid", 1000, 1.0)]
    >>> dict(distribute(loads, 16).processes)
    {'fluid': 12, 'solid': 4}
    """
    known_name("coupling", coupling, COUPLINGS)
    names = [w.name for w in workloads]
    if not names or len(set(names)) < len(names):
        raise ConfigError(f"components: need different names, at least one, got {', '.join(names) or 'none'}")
    n = whole("total", total, low=1, high=_MOST)
    need = sum(w.least for w in workloads)
    if need > n:
        each = ", ".join(f"{w.name} {w.least}" for w in workloads)
        raise ConfigError(f"total: {n} processes are not enough, at least {need} are needed ({each})")
    tables = [_useful(w, n - need + w.least) for w in workloads]
    counts = _concurrent(tables, n) if coupling == "concurrent" else _serial(tables, n)
    return priced(workloads, dict(zip(names, counts, strict=True)), n, coupling)


def priced(workloads: Sequence[Workload], processes: Mapping[str, int], total: int, coupling: str) -> Distribution:
    """What given numbers of processes cost."""
    seconds = {w.name: float(w.scaling.seconds(processes[w.name])) for w in workloads}
    return Distribution(total, coupling, MappingProxyType(dict(processes)), MappingProxyType(seconds))


def neighbours(workloads: Sequence[Workload], chosen: Distribution) -> list[Distribution]:
    """What moving one unit (what both can give and take) of processes to another component costs, cheapest first.

    Parameters
    ----------
    workloads : sequence of Workload
    chosen : Distribution
        Of these workloads.
    """
    out = []
    for giver in workloads:
        for taker in workloads:
            step = lcm(giver.granularity, taker.granularity)
            counts = dict(chosen.processes)
            counts[giver.name] -= step
            counts[taker.name] += step
            legal = giver is not taker and all(
                w.least <= counts[w.name] <= (w.most or chosen.total) and counts[w.name] % w.granularity == 0
                for w in (giver, taker))
            if legal:
                out.append(priced(workloads, counts, chosen.total, chosen.coupling))
    return sorted(out, key=lambda d: (d.step, tuple(d.processes.values())))


Table = tuple[NDArray[np.int64], NDArray[np.float64]]
"""Numbers of processes, ascending, and the times on them, strictly falling."""


def _useful(workload: Workload, most: int) -> Table:
    """The numbers of processes on which the component is faster than on any fewer."""
    counts = workload.choices(most)
    times = workload.scaling.seconds(counts)
    shortest = np.minimum.accumulate(times)
    keep = np.concatenate([[True], times[1:] < shortest[:-1]])
    return counts[keep], times[keep]


def _fewest(table: Table, limit: float) -> int | None:
    """Where in the table the smallest number of processes is on which the time is at most `limit`."""
    i = int(np.searchsorted(-table[1], -limit))  # times fall
    return i if i < len(table[0]) else None


def _concurrent(tables: Sequence[Table], total: int) -> list[int]:
    """Exact minimum of the maximum, component by component from the slowest."""
    fixed: dict[int, int] = {}
    free = list(range(len(tables)))
    while free:
        left = total - sum(fixed.values())
        times = np.unique(np.concatenate([tables[i][1] for i in free]))
        low, high = 0, len(times) - 1  # the longest time needs the fewest processes, which are there
        while low < high:
            middle = (low + high) // 2
            if _needed(tables, free, float(times[middle])) > left:
                low = middle + 1
            else:
                high = middle
        limit = float(times[high])
        spare = left - int(_needed(tables, free, limit))
        at = {i: _fewest(tables[i], limit) or 0 for i in free}
        slow = [i for i in free if tables[i][1][at[i]] == limit]
        # those that what is left cannot help; where it could help each of them, the first goes without
        stuck = [i for i in slow if not _improves(tables[i], at[i], spare)] or slow[:1]
        for i in stuck:
            fixed[i] = int(tables[i][0][at[i]])
            free.remove(i)
    return [fixed[i] for i in range(len(tables))]


def _needed(tables: Sequence[Table], free: Sequence[int], limit: float) -> float:
    """Fewest processes on which none of the components takes longer than `limit`; infinite where one always does."""
    at = {i: _fewest(tables[i], limit) for i in free}
    return sum(float("inf") if k is None else int(tables[i][0][k]) for i, k in at.items())


def _improves(table: Table, at: int, spare: int) -> bool:
    """Whether `spare` more processes make the component faster."""
    return at + 1 < len(table[0]) and int(table[0][at + 1] - table[0][at]) <= spare


def _serial(tables: Sequence[Table], total: int) -> list[int]:
    """Exact minimum of the sum: the best times of the first i components on at most n processes, i by i."""
    unit = gcd(*(int(c) for counts, _ in tables for c in counts))
    states = total // unit
    if states > _MOST_STATES:
        raise ConfigError(f"total: serial coupling compares at most {_MOST_STATES} numbers of processes, {states} are "
                          f"possible; raise the granularity")
    best, taken = np.zeros(states + 1), []
    for counts, times in tables:
        new, choice = np.full(states + 1, np.inf), np.zeros(states + 1, np.int64)
        for count, time in zip((counts // unit).tolist(), times.tolist(), strict=True):
            sums = best[:states + 1 - count] + time
            better = np.flatnonzero(sums < new[count:]) + count
            new[better], choice[better] = sums[better - count], count
        best = new
        taken.append(choice)
    out, n = [], states
    for choice in reversed(taken):
        out.append(int(choice[n]) * unit)
        n -= int(choice[n])
    return out[::-1]


__all__ = ["COUPLINGS", "Distribution", "distribute", "neighbours", "priced"]
