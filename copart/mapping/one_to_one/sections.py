"""Hierarchical multisection: exactly balanced partitions along the levels of the machine.

Top-down the processes are split among the sons of the root, and so on in each; bottom-up groups of the lowest
level are formed first and then merged.  (VieM: C. Schulz & J. L. Traeff 2017; T. Hatazaki 1998; J. L. Traeff 2002.)
"""

from __future__ import annotations

from typing import Any

import numpy as np

from ...graph import Graph
from ...kgggp_ml import partition
from ...names import PresetName
from ...options import QUICK, Config
from ..architectures.architecture import Architecture
from ..evaluation import architecture_of
from ..host_tree import HostTree, host_tree
from ..machine import Machine
from .objective import Placement, as_processes
from .search import exchange

Array = np.ndarray[Any, Any]

#: Swaps of a pass of Traeff's refinement, at most.
_SWAPS = 60


def multisection(processes: Any, machine: Machine | Architecture, *, seed: int = 1,
                 preset: PresetName = "default", neighbourhood: str | None = "N_2") -> Placement:
    """VieM's top-down construction: partition for the sons of the root, then in every son; then pair exchanges.

    Parameters
    ----------
    processes : graph-like or square matrix of traffic
        At most as many as there are processors.
    machine : Machine or Architecture
    seed : int
        Same seed, same placement.
    preset : {"fast", "default", "strong", "best"}
        Of the partitioner.
    neighbourhood : str, optional
        Of the exchanges that follow (:func:`exchange`); None for none.

    Returns
    -------
    (nprocesses,) int32
        Processor of each process, no processor twice.
    """
    graph, target = as_processes(processes), architecture_of(machine)
    place = _descend(padded(graph, target.nprocs), host_tree(target), seed, preset)[:graph.nvtxs]
    return place if neighbourhood is None else exchange(graph, target, place, neighbourhood=neighbourhood)


def hatazaki(processes: Any, machine: Machine | Architecture, *, seed: int = 1) -> Placement:
    """Recursive partitioning over the host tree, edges unweighted, no search across blocks afterwards.

    Parameters
    ----------
    processes : graph-like or square matrix of traffic
        At most as many as there are processors.
    machine : Machine or Architecture
    seed : int
        Same seed, same placement.
    """
    graph, target = as_processes(processes), architecture_of(machine)
    bare = Graph(graph.xadj, graph.adjncy)
    return _descend(padded(bare, target.nprocs), host_tree(target), seed, QUICK)[:graph.nvtxs]


def traeff(processes: Any, machine: Machine | Architecture, *, seed: int = 1) -> Placement:
    """Recursive partitioning of the weighted graph; swaps lower the total cut, and the largest cut may only fall.

    Parameters
    ----------
    processes : graph-like or square matrix of traffic
        At most as many as there are processors.
    machine : Machine or Architecture
    seed : int
        Same seed, same placement.
    """
    graph, target = as_processes(processes), architecture_of(machine)
    return _descend(padded(graph, target.nprocs), host_tree(target), seed, QUICK, bottleneck=True)[:graph.nvtxs]


def bottom_up(processes: Any, machine: Machine | Architecture, *, seed: int = 1, preset: PresetName = "default",
              neighbourhood: str | None = "N_2") -> Placement:
    """VieM's bottom-up construction: exactly balanced groups of the lowest arity, contracted, and so on upward.

    Machines whose levels have no equal arities are treated top-down.

    Parameters
    ----------
    processes : graph-like or square matrix of traffic
        At most as many as there are processors.
    machine : Machine or Architecture
    seed : int
        Same seed, same placement.
    preset : {"fast", "default", "strong", "best"}
        Of the partitioner.
    neighbourhood : str, optional
        Of the exchanges that follow (:func:`exchange`); None for none.
    """
    graph, target = as_processes(processes), architecture_of(machine)
    tree = host_tree(target)
    arities = tree.arities()
    if arities is None:
        return multisection(graph, target, seed=seed, preset=preset, neighbourhood=neighbourhood)
    coarse = padded(graph, target.nprocs)
    members = [[v] for v in range(target.nprocs)]
    for arity in reversed(arities):
        count = len(members) // arity
        part = exact_partition(coarse, [arity] * count, seed, preset)
        members = [[v for g in np.flatnonzero(part == p) for v in members[g]] for p in range(count)]
        coarse = coarse.quotient(part, count).replace(vwgt=None)
    place = np.empty(target.nprocs, np.int32)
    place[members[0]] = tree.processors
    found = place[:graph.nvtxs]
    return found if neighbourhood is None else exchange(graph, target, found, neighbourhood=neighbourhood)


def padded(graph: Graph, nprocs: int) -> Graph:
    """The bare communication graph, with processes that talk to nobody for the processors that stay idle."""
    more = nprocs - graph.nvtxs
    xadj = np.concatenate([graph.xadj, np.full(more, graph.xadj[-1])])
    return Graph(xadj, graph.adjncy, graph.ewgt)


def _descend(graph: Graph, tree: HostTree, seed: int, preset: PresetName | Config,
             bottleneck: bool = False) -> Placement:
    """Place as many processes as the tree has processors."""
    place = np.empty(graph.nvtxs, np.int32)
    waiting = [(graph, np.arange(graph.nvtxs), tree)]
    while waiting:
        some, vertices, node = waiting.pop()
        if len(node.processors) == len(node.sons) or not node.sons:
            place[vertices] = node.processors
            continue
        sizes = [len(s.processors) for s in node.sons]
        part = exact_partition(some, sizes, seed, preset)
        if bottleneck:
            part = lower_bottleneck(some, part, len(sizes))
        for i, son in enumerate(node.sons):
            mine = np.flatnonzero(part == i)
            waiting.append((some.subgraph(mine), vertices[mine], son))
    return place


def exact_partition(graph: Graph, sizes: list[int], seed: int, preset: PresetName | Config) -> Array:
    """Parts of exactly `sizes` vertices, which add up to all; vertex weights do not count."""
    k, n = len(sizes), graph.nvtxs
    bare = Graph(graph.xadj, graph.adjncy, graph.ewgt)
    if k == 1 or max(sizes) == 1:
        return np.arange(n) % k
    shares = None if min(sizes) == max(sizes) else sizes
    part = partition(bare, k, eps=0.0, seed=seed, preset=preset, tpwgts=shares, strict=False)
    room = np.array(sizes) - np.bincount(part, minlength=k)
    # limits are met but in rare cases; what is left moves at least loss
    while room.any():
        u, v, w = bare.edges()
        tie = np.zeros((n, k))
        np.add.at(tie, (u, part[v]), w)
        np.add.at(tie, (v, part[u]), w)
        loss = tie[np.arange(n), part][:, None] - np.where(room > 0, tie, -np.inf)
        loss[room[part] >= 0] = np.inf
        x, p = np.unravel_index(int(np.argmin(loss)), loss.shape)
        room[part[x]] += 1
        room[p] -= 1
        part[x] = p
    return part


def lower_bottleneck(graph: Graph, part: Array, nparts: int) -> Array:
    """Passes of pair swaps: best first, every vertex at most once, rolled back to the best prefix.

    A prefix counts only where the largest cut of a part has not grown.
    """
    u, v, w = graph.edges()
    part = part.copy()

    def largest(where: Array) -> int:
        apart = where[u] != where[v]
        cut = np.bincount(where[u][apart], w[apart], nparts) + np.bincount(where[v][apart], w[apart], nparts)
        return int(cut.max())

    improved = True
    while improved:
        improved = False
        bound, trial, locked = largest(part), part.copy(), np.zeros(graph.nvtxs, bool)
        total = best = 0
        for _ in range(_SWAPS):
            tie = np.zeros((graph.nvtxs, nparts), np.int64)
            np.add.at(tie, (u, trial[v]), w)
            np.add.at(tie, (v, trial[u]), w)
            own = tie[np.arange(graph.nvtxs), trial]
            gain = tie[u, trial[v]] - own[u] + tie[v, trial[u]] - own[v] - 2 * w
            gain[(trial[u] == trial[v]) | locked[u] | locked[v]] = np.iinfo(np.int64).min
            e = int(np.argmax(gain)) if len(gain) else -1
            if e < 0 or gain[e] == np.iinfo(np.int64).min:
                break
            a, b = u[e], v[e]
            trial[a], trial[b] = trial[b], trial[a]
            locked[a] = locked[b] = True
            total += int(gain[e])
            if total > best and largest(trial) <= bound:
                best, part, improved = total, trial.copy(), True
    return part
