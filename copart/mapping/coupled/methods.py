"""All codes of a coupled run mapped together onto the nodes of a job, by the methods of `copart.mapping.topology`.

Methods see the messages of both phases at once, each phase weighed.  They are judged by phase: the phases of a coupling
step follow one another, so that what the busiest link of one takes adds to what that of the other takes.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence

import numpy as np
from numpy.typing import NDArray

from ...errors import ConfigError
from ...graph import Graph
from ...names import Bound, TaskMethod
from ..architectures.subset import subset
from ..machine import Machine
from ..one_to_one import place_processes
from ..topology.choosing import BOUNDS, candidates, map_tasks
from .placed import Placed, placed
from .processes import PHASES, Processes

#: Methods that say which slot of a host a process gets; the others say which host.
AS_THEY_ARE = ("default", "random", "smap")


def map_processes(processes: Processes, machine: Machine, method: TaskMethod, weights: tuple[float, float], *,
                  seed: int = 1, threads: int = 1) -> NDArray[np.int32]:
    """Processor of each process by one method, for the messages of both phases times their weights.

    Parameters
    ----------
    processes : Processes
    machine : Machine
    method : str
        As of :func:`copart.mapping.topology.map_tasks`.
    weights : (float, float)
        What data of the regular and of the coupling phase weigh.
    seed, threads : int

    Raises
    ------
    ConfigError
        A geometric method, and some component has no coordinates.
    """
    if method.startswith("geometric") and processes.centres is None:
        raise ConfigError(f"method: {method} needs coordinates of the cells of every component, which meshes have and "
                          f"graphs may bring (coords); use uwh, or auto")
    tasks = processes.all_tasks(weights)
    where = map_tasks(tasks, machine, method, coords=processes.centres, seed=seed, threads=threads)
    return where if method in AS_THEY_ARE else _settled(tasks.graph, machine, where, seed)


def _settled(graph: Graph, machine: Machine, where: NDArray[np.int32], seed: int) -> NDArray[np.int32]:
    """The same hosts, on each of which processes are placed on its slots where some are nearer to one another."""
    if not machine.hosts:
        return where
    out, host = where.copy(), machine.host[where]
    order = np.argsort(host, kind="stable")
    for mine in np.split(order, np.flatnonzero(np.diff(host[order])) + 1):
        slots = np.flatnonzero(machine.host == host[mine[0]])
        apart = machine.architecture.distances(slots[:, None], slots[None, :])[~np.eye(len(slots), dtype=bool)]
        if len(mine) > 1 and np.ptp(apart) > 0:
            inside = subset(machine.architecture, slots)
            out[mine] = slots[place_processes(graph.subgraph(mine), inside, method="multisection", seed=seed)]
    return out


def best_placed(known: Sequence[Placed], bound: Bound, weights: tuple[float, float], *, seed: int = 1,
                threads: int = 1) -> Placed:
    """The best placement of those known and of those by the methods that "auto" chooses from.

    Parameters
    ----------
    known : sequence of Placed
        At least one; the first wins where others are as good.
    bound : {"bandwidth", "latency", "volume"}
        MC, TH or WH decides: the sum over the phases of the figure times the weight of the phase, then WH.  Without
        routes, data or messages times distance.
    weights : (float, float)
        Of the phases; with "latency", of a message of each.
    seed, threads : int

    Returns
    -------
    Placed
        ``shared``; its method is the one that won, or empty where one of `known` did.
    """
    processes, machine = known[0].processes, known[0].machine
    found = min((*known, *_by_methods(processes, machine, bound, weights, seed, threads)),
                key=lambda one: score(one, bound, weights))
    return placed(processes, machine, found.processor, "shared", found.method or found.name.removesuffix("shared"))


def score(one: Placed, bound: Bound, weights: tuple[float, float]) -> tuple[float, float, float]:
    """What a placement is judged by, the less the better: the figure of `bound`, data x distance, data between hosts.

    Parameters
    ----------
    one : Placed
    bound : {"bandwidth", "latency", "volume"}
    weights : (float, float)
        Of the phases.
    """
    hops, between = (float(sum(w * getattr(one.phases[phase], name) for phase, w in zip(PHASES, weights, strict=True)))
                     for name in ("hops", "inter_node_volume"))
    if one.routes is not None:
        figures = [float(getattr(one.routes[phase], BOUNDS[bound])) for phase in PHASES]
    elif bound == "latency":
        figures = [_far(one, phase) for phase in PHASES]
    else:
        return hops, hops, between
    return sum(w * figure for figure, w in zip(figures, weights, strict=True)), hops, between


def _far(one: Placed, phase: str) -> float:
    """Sum of the distances of all messages."""
    m = one.processes.traffic[phase].tocoo()
    return float(one.machine.architecture.distances(one.processor[m.row], one.processor[m.col]).sum()) if m.nnz else 0.0


def _by_methods(processes: Processes, machine: Machine, bound: Bound, weights: tuple[float, float], seed: int,
                threads: int) -> Iterator[Placed]:
    tasks = processes.all_tasks(weights, unit=bound == "latency")
    for name, where in candidates(tasks, machine, bound, coords=processes.centres, seed=seed, threads=threads):
        if name not in AS_THEY_ARE:
            where = _settled(tasks.graph, machine, where, seed)
        yield placed(processes, machine, where, "shared", name)


__all__ = ["best_placed", "map_processes", "score"]
