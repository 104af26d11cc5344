"""Groups of tasks, one per node, of exactly the sizes that nodes take; and the groups as kernels see them."""

from __future__ import annotations

from dataclasses import dataclass
from itertools import pairwise
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ...arrays import VERTEX
from ...errors import MappingError
from ...graph import Graph
from ...kernels.sites import Groups, Queue, Walk
from ...metrics import edge_cut
from ..architectures.architecture import Complete
from ..exchange import exchange_pairs
from ..ranks.kgg import MAX_TABLE
from ..ranks.partitioners import partition_exactly
from ..sites import Sites
from ..tasks import TaskGraph

Array = np.ndarray[Any, Any]


@dataclass(frozen=True)
class Grouped:
    """Tasks in groups that take a site each.

    Attributes
    ----------
    group : (ntasks,) int32
        Group of each task.
    tasks : TaskGraph
        The groups as tasks.
    stands_for : (nmessages,) int64
        Messages of the tasks behind each message of the groups.
    size, wanted : (ngroups,) int64
        Tasks of each group, and slots of the sites that it is made for.
    """

    group: NDArray[np.int32]
    tasks: TaskGraph
    stands_for: NDArray[np.int64]
    size: NDArray[np.int64]
    wanted: NDArray[np.int64]


def group_sizes(ntasks: int, sites: Sites) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
    """Sizes of groups, and slots of the site that each is for: the fewest sites, largest first, the last not full.

    Raises
    ------
    MappingError
        There are fewer slots than tasks.
    """
    check_room(ntasks, sites)
    slots = -np.sort(-sites.slots)
    before = np.cumsum(slots) - slots
    used = int(np.searchsorted(before, ntasks))
    return np.minimum(slots[:used], ntasks - before[:used]), slots[:used]


def check_room(ntasks: int, sites: Sites) -> None:
    """MappingError where there are fewer slots than tasks."""
    if ntasks > sites.slots.sum():
        raise MappingError(f"machine: {ntasks} tasks need a slot each, the machine has {sites.slots.sum()}; use more "
                           f"nodes, or map several to a processor (a geometric method, or map_graph)")


def group_tasks(tasks: TaskGraph, sites: Sites, seed: int = 1) -> Grouped:
    """Groups of tasks of the sizes of :func:`group_sizes`, with little data between them.

    Ranks are often numbered so that neighbours come one after another: blocks of consecutive tasks are taken where they
    are better than a partition of the task graph.  Both are improved by swaps of tasks two messages apart.
    """
    size, wanted = group_sizes(tasks.ntasks, sites)
    blocks = np.repeat(np.arange(len(size), dtype=VERTEX), size)
    found = [blocks]
    if 1 < len(size) < tasks.ntasks:
        found = [_swapped(tasks, part, len(size))
                 for part in (blocks, _partitioned(tasks.graph, size, seed))]
    group = min(found, key=lambda part: edge_cut(tasks.graph, part))
    coarse, stands_for = tasks.grouped(group, len(size))
    return Grouped(group, coarse, stands_for, size, wanted)


def _partitioned(graph: Graph, size: NDArray[np.int64], seed: int) -> NDArray[np.int32]:
    """Parts of exactly these sizes; of very many, first some of several together, then those in turn."""
    if graph.nvtxs * len(size) <= MAX_TABLE:
        return partition_exactly(graph, size, "kgggp", seed=seed)
    ends = np.linspace(0, len(size), int(np.ceil(np.sqrt(len(size)))) + 1).astype(np.int64)
    coarse = partition_exactly(graph, np.add.reduceat(size, ends[:-1]), "kgggp", seed=seed)
    out = np.empty(graph.nvtxs, VERTEX)
    for i, (lo, hi) in enumerate(pairwise(ends.tolist())):
        mine = np.flatnonzero(coarse == i)
        out[mine] = lo + _partitioned(graph.subgraph(mine), size[lo:hi], seed)
    return out


def _swapped(tasks: TaskGraph, part: NDArray[np.int32], ngroups: int) -> NDArray[np.int32]:
    """Groups after swaps of tasks that lower the data between groups."""
    graph, out = tasks.graph, part.copy()
    n = tasks.ntasks
    exchange_pairs(graph.xadj.copy(), graph.adjncy.copy(), graph.kernel_ewgt.copy(), Complete(ngroups).code(), out,
                   np.zeros(n, np.int64), np.zeros(ngroups, np.int64), np.zeros(n, np.uint8), reach=2)
    return out


def as_groups(grouped: Grouped, *, messages: bool = False) -> Groups:
    """Groups as kernels see them; with `messages`, the number of messages for the data."""
    tasks, n = grouped.tasks, grouped.tasks.ntasks
    weight = grouped.stands_for if messages else tasks.volume
    p, q = tasks.source.astype(np.int64), tasks.target.astype(np.int64)
    # every message is an entry of the row of its sender, sent, and of its receiver, got
    key, entry = np.unique(np.concatenate([p * n + q, q * n + p]), return_inverse=True)
    out, into = np.zeros(len(key), np.int64), np.zeros(len(key), np.int64)
    out[entry[:len(p)]] = weight
    into[entry[len(p):]] = weight
    xadj = np.concatenate([[0], np.cumsum(np.bincount(key // max(n, 1), minlength=n))])
    return Groups(xadj.astype(np.int64), (key % max(n, 1)).astype(VERTEX), out, into, grouped.size.astype(np.int64))


def walk_for(groups: Groups, nsites: int) -> Walk:
    """Scratch of walks."""
    most = int(np.diff(groups.xadj).max(initial=0)) + 1
    return Walk(np.empty(most, np.int64), np.empty(most, np.int64), np.empty(nsites, np.int64))


def queue_for(groups: Groups) -> Queue:
    """Scratch of heaps; ties by the data of all messages."""
    n = len(groups.size)
    row = np.repeat(np.arange(n), np.diff(groups.xadj))
    volume = np.zeros(n, np.int64)
    np.add.at(volume, row, groups.out + groups.into)
    return Queue(np.zeros(n, np.int64), volume, np.empty(n, VERTEX), np.full(n, -1, VERTEX))
