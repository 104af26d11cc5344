"""Placing the processes of a coupled run on a machine: codes on shared hosts, on hosts of their own, or in order."""

from __future__ import annotations

from itertools import pairwise
from typing import get_args

import numpy as np
from numpy.typing import NDArray

from ...arrays import fraction
from ...errors import ConfigError, MappingError
from ...graph import Graph
from ...metrics import edge_cut
from ...metrics.columns import plural
from ...names import Bound, PhaseWeights, PlacementName, PlacingMethod, TaskMethod, check_method, known_name
from ..architectures.architecture import MATRIX_LIMIT
from ..architectures.subset import subset
from ..evaluation import architecture_of
from ..exchange import exchange_pairs
from ..kway import code_of
from ..machine import Machine
from ..one_to_one import objective, place_processes
from .methods import best_placed, map_processes
from .placed import Placed, check_room, placed
from .processes import Processes

PLACEMENTS: tuple[PlacementName, ...] = get_args(PlacementName)
"""``linear``: rank r on slot r, what launchers do by default; ``disjoint``: every code on hosts of its own;
``shared``: all processes placed together, so that coupled parts meet on a host."""


def place(processes: Processes, machine: Machine, placement: PlacementName = "shared", *,
          method: TaskMethod | None = None, bound: Bound = "bandwidth",
          phase_weights: PhaseWeights | tuple[float, float] = "equal", seed: int = 1, threads: int = 1) -> Placed:
    """Place the processes of a coupled run one to one: small sum of data times distance, both phases together.

    Parameters
    ----------
    processes : Processes
        From :func:`copart.mapping.coupled.processes.process_graph`.
    machine : Machine
        At least as many slots as processes.
    placement : {"shared", "disjoint", "linear"}
        ``shared`` is, unless a method is named, never worse than the others that apply, in the weighted sum.
    method : str, optional
        As of :func:`copart.mapping.topology.map_tasks`: how ``shared`` is made, of all processes and both phases
        together; "auto" is the best of several and of the other placements.  See
        :mod:`copart.mapping.coupled.methods`.
    bound : {"bandwidth", "latency", "volume"}
        What "auto" goes by.
    phase_weights : {"equal", "traffic"} or (float, float)
        What data of the regular and of the coupling phase weighs: ``traffic``, 1 and 1, so that the phase that sends
        most decides; ``equal``, so that each phase counts the same in sum, since one waits for the other.
    seed : int
    threads : int
        For geometric methods; the result does not depend on it.

    Raises
    ------
    MappingError
        Fewer slots than processes; or too few hosts for ``disjoint``, no named hosts, or a shared pool.
    NotApplicableError
        The method needs routes or coordinates that the machine does not have.
    ConfigError
        The placement, the method or the weights of the phases are not known, or cells have no coordinates.
    """
    known_name("placement", placement, PLACEMENTS)
    check_method(method, bound)
    if placement == "linear":
        return placed(processes, machine, np.arange(processes.nprocs), placement)
    if placement == "disjoint" and _apart(processes, machine) is None:
        check_room(processes.nprocs, machine)
        raise MappingError(f"placement: {_why_together(processes, machine)}, or use placement shared")
    made = placements(processes, machine, method=method, bound=bound, phase_weights=phase_weights, seed=seed,
                      threads=threads)
    return next(one for one in made if one.name == placement)


def placements(processes: Processes, machine: Machine, *, method: TaskMethod | None = None, bound: Bound = "bandwidth",
               phase_weights: PhaseWeights | tuple[float, float] = "equal", seed: int = 1,
               threads: int = 1) -> tuple[Placed, ...]:
    """Every placement that applies, in the order of :data:`PLACEMENTS`.

    Parameters
    ----------
    processes : Processes
        From :func:`copart.mapping.coupled.processes.process_graph`.
    machine : Machine
        At least as many slots as processes.
    method : str, optional
        How ``shared`` is made; see :func:`place`, as for `bound`.
    bound : {"bandwidth", "latency", "volume"}
    phase_weights : {"equal", "traffic"} or (float, float)
        What data of the regular and of the coupling phase weigh; see :func:`place`.
    seed : int
        Same seed, same placements.
    threads : int
        For geometric methods; the result does not depend on it.
    """
    check_method(method, bound)
    graph = processes.graph(_weights(processes, phase_weights))
    check_room(processes.nprocs, machine)
    made = {"linear": np.arange(processes.nprocs, dtype=np.int32)}
    apart = _apart(processes, machine)
    if apart is not None:
        made["disjoint"] = _disjoint(processes, graph, machine, apart, seed)
    others = tuple(placed(processes, machine, where, name) for name, where in made.items())
    if method is not None and method != "auto":
        weights = _weights(processes, phase_weights)
        where = map_processes(processes, machine, method, weights, seed=seed, threads=threads)
        return (*others, placed(processes, machine, where, "shared", method))
    together = [place_processes(graph, machine, method=_method(machine), seed=seed)]
    if machine.network is not None and len(machine.hosts) <= MATRIX_LIMIT:
        # nodes at coordinates: better by a tenth and more than along the tree of hosts
        weights = _weights(processes, phase_weights)
        together.append(map_processes(processes, machine, "search", weights, seed=seed, threads=threads))
    # hosts of one router are no hop apart, so that what goes between them tells placements apart
    usual = min((*made.values(), *together),
                key=lambda where: (objective(graph, machine, where), edge_cut(graph, _host(machine, where))))
    shared = placed(processes, machine, usual, "shared")
    if method is None:
        return (*others, shared)
    unit = bound == "latency"
    return (*others, best_placed((shared, *others), bound, _weights(processes, phase_weights, unit=unit), seed=seed,
                                 threads=threads))


def _host(machine: Machine, where: NDArray[np.int32]) -> NDArray[np.int32]:
    """Host of each process, its processor where hosts have no names."""
    return machine.host[where] if machine.hosts else where


def _method(machine: Machine) -> PlacingMethod:
    """How to place one to one: along the tree of hosts where there is one, which is as good as the best and fast."""
    return "multisection" if machine.hosts else "drb"


def _weights(processes: Processes, given: PhaseWeights | tuple[float, float], *,
             unit: bool = False) -> tuple[float, float]:
    if not isinstance(given, str):
        if np.shape(given) != (2,):
            raise ConfigError(f"phase_weights: needs one of {', '.join(get_args(PhaseWeights))} or two numbers, "
                              f"got {given!r:.60}")
        regular, coupling = (fraction("phase_weights", one, low=-np.inf) for one in given)
        return regular, coupling
    known_name("phase_weights", given, get_args(PhaseWeights), ", or two numbers")
    return processes.equal_weights(unit=unit) if given == "equal" else (1, 1)


def _pooled(processes: Processes) -> bool:
    """Whether codes share processes."""
    return any(a[1] > b[0] for a, b in pairwise(processes.ranges.values()))


def _apart(processes: Processes, machine: Machine) -> list[NDArray[np.int64]] | None:
    """Processors of whole hosts for each code, in order; None where there are too few."""
    ranges = list(processes.ranges.values())
    if len(machine.hosts) < 2 or _pooled(processes):
        return None
    order = np.argsort(machine.host, kind="stable")
    first = np.concatenate([[0], np.cumsum(machine.slots)])
    mine, host = [], 0
    for lo, hi in ranges:
        begin = host
        while host < len(machine.hosts) and first[host] - first[begin] < hi - lo:
            host += 1
        if first[host] - first[begin] < hi - lo:
            return None
        mine.append(order[first[begin]:first[host]])
    return mine


def _why_together(processes: Processes, machine: Machine) -> str:
    """Why the codes cannot have hosts of their own, for messages."""
    if _pooled(processes):
        return "codes that take turns on the same processes cannot have hosts of their own; give each its own processes"
    if not machine.hosts:
        return "the machine names no hosts that every code could have for itself; give a node list with it"
    count = len(machine.hosts)
    return f"{count} {plural(count, 'host')} cannot give every code hosts of its own; name more of them"


def _disjoint(processes: Processes, graph: Graph, machine: Machine, mine: list[NDArray[np.int64]],
              seed: int) -> NDArray[np.int32]:
    """Each code on its own slots by its own traffic; then exchanges inside the codes that also see the coupling."""
    where = np.empty(processes.nprocs, np.int32)
    for (lo, hi), slots in zip(processes.ranges.values(), mine, strict=True):
        inside = place_processes(graph.subgraph(np.arange(lo, hi)), subset(machine.architecture, slots),
                                 method=_method(machine), seed=seed)
        where[lo:hi] = slots[inside]
    load, limit = np.zeros(processes.nprocs, np.int64), np.zeros(machine.nprocs, np.int64)
    for lo, hi in processes.ranges.values():
        pinned = np.ones(processes.nprocs, np.uint8)
        pinned[lo:hi] = 0
        exchange_pairs(graph.xadj.copy(), graph.adjncy.copy(), graph.kernel_ewgt.copy(),
                       code_of(architecture_of(machine)), where, load, limit, pinned, reach=2)
    return where


__all__ = ["PLACEMENTS", "place", "placements"]
