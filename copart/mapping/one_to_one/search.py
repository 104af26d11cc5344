"""Local search by pair exchanges: Heider's cyclic one, and VieM's neighbourhoods."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from ...arrays import whole
from ...errors import MappingError
from ...graph import Graph
from ...kernels.placement import gain_of_swap
from ..architectures.architecture import Architecture
from ..evaluation import architecture_of
from ..exchange import exchange_pairs
from ..kway import code_of
from ..machine import Machine
from .objective import Placement, as_placement, as_processes, objective


def swap_gain(processes: Any, machine: Machine | Architecture, place: ArrayLike, u: int, v: int) -> float:
    """What the objective falls by when processes u and v exchange their processors.

    Parameters
    ----------
    processes : graph-like or square matrix of traffic
        At most as many as there are processors.
    machine : Machine or Architecture
    place : (nprocesses,) array_like of int
        Processor of each process.
    u, v : int
        Processes.
    """
    graph, target = as_processes(processes), architecture_of(machine)
    where = as_placement("place", place, graph.nvtxs, target.nprocs)
    # the kernel would read beyond its arrays
    first, second = (whole(name, x, low=0, high=graph.nvtxs - 1) for name, x in (("u", u), ("v", v)))
    xadj, adjncy, ewgt = _arrays(graph)
    return float(gain_of_swap(xadj, adjncy, ewgt, code_of(target), where.copy(), first, second))


def exchange(processes: Any, machine: Machine | Architecture, place: ArrayLike, *, neighbourhood: str = "N_10",
             cycles: int = 1000) -> Placement:
    """Exchange pairs of processes until none of the neighbourhood improves the placement.

    Parameters
    ----------
    processes : graph-like or square matrix of traffic
        At most as many as there are processors.
    machine : Machine or Architecture
    place : (nprocesses,) array_like of int
        Processor of each process, to begin with.
    neighbourhood : str
        ``"N^2"``: all pairs; ``"N_p:B"``: pairs within blocks of B consecutive processes (Brandfass, Alrutz &
        Gerhold 2013); ``"N_d"`` with a number d: pairs at most d edges apart in the communication graph, of each
        process with the 256 nearest at most, so that pairs farther apart may be left that improve.
    cycles : int
        Times that all processes are looked at, at most.

    Returns
    -------
    (nprocesses,) int32
        Never worse than `place`.
    """
    graph, target = as_processes(processes), architecture_of(machine)
    n = graph.nvtxs
    where = as_placement("place", place, n, target.nprocs).copy()
    reach, block = _neighbourhood(neighbourhood)
    xadj, adjncy, ewgt = _arrays(graph)
    zero = np.zeros(target.nprocs, np.int64)
    exchange_pairs(xadj, adjncy, ewgt, code_of(target), where, np.zeros(n, np.int64), zero, np.zeros(n, np.uint8),
                   reach=reach, block=block, cycles=cycles)
    return where


def _neighbourhood(name: str) -> tuple[int, int]:
    """(reach, block) of a neighbourhood's name."""
    if name == "N^2":
        return 0, 0
    kind, _, number = name.partition(":") if ":" in name else name.partition("_")
    if kind == "N_p" and number.isdecimal():
        return 0, whole("neighbourhood", int(number), low=2)
    if kind == "N" and number.isdecimal():
        return whole("neighbourhood", int(number), low=1), 0
    raise MappingError(f"neighbourhood: {name!r} is not known; choose N^2, N_p:B with a block size, or N_d with a "
                       f"number of edges, as N_10")


def heider(processes: Any, machine: Machine | Architecture, place: ArrayLike) -> Placement:
    """Heider's local search: try to exchange processes i and i + 1, cyclically, until a full cycle brings nothing.

    Parameters
    ----------
    processes : graph-like or square matrix of traffic
        At most as many as there are processors.
    machine : Machine or Architecture
    place : (nprocesses,) array_like of int
        Processor of each process, to begin with.
    """
    graph, target = as_processes(processes), architecture_of(machine)
    n = graph.nvtxs
    where = as_placement("place", place, n, target.nprocs).copy()
    xadj, adjncy, ewgt = _arrays(graph)
    code = code_of(target)
    least = max(1e-9, 1e-12 * objective(graph, target, where))  # less is rounding
    i = waited = 0
    while n > 1 and waited < n:
        j = (i + 1) % n
        waited += 1
        if gain_of_swap(xadj, adjncy, ewgt, code, where, i, j) > least:
            where[i], where[j] = where[j], where[i]
            waited = 0
        i = j
    return where


def _arrays(graph: Graph) -> tuple[Any, Any, Any]:
    """Rows as kernels take them: writable."""
    return graph.xadj.copy(), graph.adjncy.copy(), graph.kernel_ewgt.copy()
