"""What a coupled step costs, and what the busiest process exchanges: process by process, message by message."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from math import isfinite
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ..coupling import CoPartition, CoupledProblem
from .single import loads

#: The constants where none are named: a sub-step of a cell is the unit of time.
_USUAL = {"t": 1.0, "t_m": 1.0, "alpha": 5.0, "beta": 0.01, "substeps": 1.0}
_EACH = ("t", "t_m", "substeps")

Sent = Mapping[tuple[str, str], Mapping[str, Mapping[tuple[int, int], int]]]
"""By pair, the entries of both its coupling matrices."""


def constants(told: Any, names: Sequence[str]) -> dict[str, Any]:
    """The constants that somebody names, where they are complete and can be used; the usual ones otherwise."""
    usual = {key: dict.fromkeys(names, x) if key in _EACH else x for key, x in _USUAL.items()}
    if not isinstance(told, Mapping) or set(told) != set(usual):
        return usual
    for key, value in told.items():
        if key in _EACH and (not isinstance(value, Mapping) or set(value) != set(names)):
            return usual
        if not all(map(_usable, value.values() if key in _EACH else [value])):
            return usual
    return {key: {name: float(value[name]) for name in names} if key in _EACH else float(value)
            for key, value in told.items()}


def _usable(value: Any) -> bool:
    return isinstance(value, int | float) and not isinstance(value, bool) and 0 <= value <= 1e300 and isfinite(value)


def step(problem: CoupledProblem, copartition: CoPartition, touching: Mapping[str, NDArray[np.bool_]], sent: Sent,
         cost: Mapping[str, Any]) -> dict[str, Any]:
    """``maxV``, ``maxZ`` and ``step``, in the form of ``metrics.json``."""
    where, first = {}, 0
    for name, n in copartition.nparts.items():
        where[name] = 0 if copartition.shared else first
        first += n
    out_data, in_data, out_messages, in_messages = Counter[int](), Counter[int](), Counter[int](), Counter[int]()
    for (a, b), matrices in sent.items():
        for one, two, key in ((a, b, "matrix_ab"), (b, a, "matrix_ba")):
            for (p, q), volume in matrices[key].items():
                sender, receiver = where[one] + p, where[two] + q
                out_data[sender] += volume
                in_data[receiver] += volume
                out_messages[sender] += 1
                in_messages[receiver] += 1
    processes = range(first if not copartition.shared else copartition.nprocs)
    alpha, beta = cost["alpha"], cost["beta"]
    coupling = [alpha * (out_messages[k] + in_messages[k]) + beta * (out_data[k] + in_data[k]) for k in processes]
    busy = [0.0 for _ in processes]
    longest = {}
    for name, graph in problem.components.items():
        part, n = copartition.parts[name].astype(np.int64), copartition.nparts[name]
        coupled = coupled_loads(name, problem, np.flatnonzero(touching[name]).tolist(), part, n)
        own = []
        for k, (work, (neighbours, data)) in enumerate(zip(loads(graph, range(graph.nvtxs), part, n),
                                                           _halos(graph, part, n), strict=True)):
            own.append(cost["substeps"][name] * (cost["t"][name] * work + alpha * neighbours + beta * data))
            coupling[where[name] + k] += cost["t_m"][name] * coupled[k]
            busy[where[name] + k] += own[-1]
        longest[name] = max(own)
    most = max(coupling)
    whole = (sum(longest.values()) if copartition.shared else max(longest.values())) + most
    waits = 1 - (sum(busy) + sum(coupling)) / len(busy) / whole if whole else 0.0
    return {"maxV": max([0, *out_data.values(), *in_data.values()]),
            "maxZ": max([0, *out_messages.values(), *in_messages.values()]),
            "step": {"T_step": float(whole), "T_reg": {name: float(x) for name, x in longest.items()},
                     "T_cpl": float(most), "waits": float(waits), "pool": copartition.shared, "cost": dict(cost)}}


def coupled_loads(name: str, problem: CoupledProblem, cells: Sequence[int], part: NDArray[np.int64],
                  n: int) -> list[int]:
    """Coupled weight of each part: of the coupled weights that were given, else of the weights of the cells."""
    own = (problem.coupled_weights or {}).get(name)
    if own is None:
        return loads(problem.components[name], cells, part, n)
    load = [0] * n
    for v in cells:
        load[int(part[v])] += int(own[v])
    return load


def halo_figures(graph: Any, part: NDArray[np.int64], n: int) -> dict[str, int]:
    """``MSV``, ``TM`` and ``MSM`` of a halo exchange of one component."""
    data, met = [0] * n, [set[int]() for _ in range(n)]
    for cell, there in _sends(graph, part):
        here = int(part[cell])
        data[here] += int(graph.sizes[cell])
        met[here].add(there)
    return {"MSV": max(data), "TM": sum(map(len, met)), "MSM": max(map(len, met))}


def _sends(graph: Any, part: NDArray[np.int64]) -> set[tuple[int, int]]:
    """Every cell that has neighbours in another part, with that part."""
    tail = np.repeat(np.arange(graph.nvtxs), np.diff(graph.xadj))
    across = part[tail] != part[graph.adjncy]
    # a datum goes to a part once, however many neighbours its cell has there
    return set(zip(tail[across].tolist(), part[graph.adjncy[across]].tolist(), strict=True))


def _halos(graph: Any, part: NDArray[np.int64], n: int) -> list[tuple[int, int]]:
    """Of each part its number of neighbouring parts, and the data that it sends them and receives from them."""
    met: list[set[int]] = [set() for _ in range(n)]
    data = [0] * n
    sizes = graph.sizes
    for cell, there in _sends(graph, part):
        here = int(part[cell])
        met[here].add(there)
        data[here] += int(sizes[cell])
        data[there] += int(sizes[cell])
    return [(len(neighbours), volume) for neighbours, volume in zip(met, data, strict=True)]
