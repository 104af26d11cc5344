"""Graphs onto trees by multisection: a k-way partition for the sons of the root, then one in each son.

Where all the sons of a node are equally far from one another, a bipartition of them is one choice among many, and a
k-way partition the whole task.  (VieM does so with processes: C. Schulz & J. L. Traeff 2017; with eps spread over the
levels as in KaHIP's global multisection: M. Faraj, A. van der Grinten, H. Meyerhenke, J. L. Traeff & C. Schulz 2020.)
"""

from __future__ import annotations

from collections.abc import Sequence
from functools import cache
from typing import Any

import numpy as np

from ..arrays import FREE
from ..errors import PartitionError
from ..graph import Graph
from ..kernels import Level
from ..kgggp_ml import partition
from ..names import PresetName
from ..options import Config
from .architectures.architecture import Architecture, Complete
from .architectures.regular import Grid, Hypercube
from .drb import TABLE_LIMIT, map_recursively
from .host_tree import HostTree, host_tree

Array = np.ndarray[Any, Any]

#: Vertices per processor below which parts of several levels cannot be balanced one level after the other.
_LEAST = 8


def sections_of(g: Level, machine: Architecture) -> HostTree | None:
    """The tree to work along; None where the machine is no tree of more than two sons, or the graph too small."""
    if machine.nprocs > TABLE_LIMIT or len(g.vwgt) < _LEAST * machine.nprocs or len(g.origin):
        return None
    if isinstance(machine, Grid | Hypercube):
        return None
    tree = host_tree(machine)
    return None if tree.binary() else tree


def map_by_sections(g: Level, tree: HostTree, limit: Array, presets: Sequence[PresetName | Config], seed: int, *,
                    runs: int = 0, tries: int = 4) -> Array | None:
    """Map a graph onto a tree.

    Parameters
    ----------
    g : Level
        `g.fixed`: processor of each fixed vertex, -1 for free ones, or empty.
    tree : HostTree
    limit : (nprocs,) int64
        Largest weight of each processor.
    presets : sequence of str or Config
        Of the partitions on each level, the root's first; the last one for all levels below.
    runs, tries : int
        Nodes of processors alone are shared out by :func:`copart.mapping.drb.map_recursively` with so many runs and
        tries, which is faster where they are many and small; 0 runs: by the partitioner as all others.

    Returns
    -------
    (nvtxs,) int32 or None
        Processor of each vertex, perhaps beyond the limits where vertices are heavy; None where there is no partition
        on some level.
    """
    part = np.empty(len(g.vwgt), np.int32)
    whole = Graph(g.xadj, g.adjncy, g.ewgt if len(g.ewgt) else None, g.vwgt)
    waiting = [(whole, np.arange(whole.nvtxs), tree, 0)]
    while waiting:
        some, vertices, node, level = waiting.pop()
        if not node.sons:
            part[vertices] = node.processors[0]
            continue
        if runs and node.height() == 1:
            part[vertices] = _halved(some, vertices, g.fixed, node, limit, runs, tries, seed)
            continue
        son = _partition_for_sons(some, vertices, g.fixed, node, limit, presets[min(level, len(presets) - 1)], seed)
        if son is None:
            return None
        for i, below in enumerate(node.sons):
            mine = np.flatnonzero(son == i)
            waiting.append((some.subgraph(mine), vertices[mine], below, level + 1))
    return part


def _halved(graph: Graph, vertices: Array, fixed: Array, node: HostTree, limit: Array, runs: int, tries: int,
            seed: int) -> Array:
    """Processor of each vertex in a node whose sons are processors, by recursive bipartitioning."""
    own = np.array(node.processors)
    none = np.zeros(0, np.int32)
    held = none
    if len(fixed) and (fixed[vertices] >= 0).any():
        place = np.full(len(limit) + 1, FREE, np.int32)
        place[own] = np.arange(len(own), dtype=np.int32)
        held = place[fixed[vertices]]
    level = Level(xadj=graph.xadj, adjncy=graph.adjncy, ewgt=graph.kernel_ewgt, vwgt=graph.weights, fixed=held,
                  origin=none, size=np.zeros(0, np.int64))
    # kernels are compiled for writable arrays
    level = Level._make(a if a.flags.writeable else a.copy() for a in level)
    found: Array = own[map_recursively(level, _equal(len(own)), limit[own], runs=runs, tries=tries, seed=seed)]
    return found


@cache
def _equal(nprocs: int) -> Complete:
    """Processors equally far from one another; kept, as what is known of a machine is kept with it."""
    return Complete(nprocs)


def _partition_for_sons(graph: Graph, vertices: Array, fixed: Array, node: HostTree, limit: Array,
                        preset: PresetName | Config, seed: int) -> Array | None:
    """Which son each vertex goes to; None where the partitioner refuses."""
    room = np.array([limit[list(son.processors)].sum() for son in node.sons])
    # what is left is spread evenly over the levels still to come
    slack = max(room.sum() / max(graph.total_weight, 1), 1.0) ** (1.0 / node.height())
    held = None
    if len(fixed) and (fixed[vertices] >= 0).any():
        owner = np.full(len(limit) + 1, FREE, np.int32)
        for i, son in enumerate(node.sons):
            owner[list(son.processors)] = i
        held = owner[fixed[vertices]]
    try:
        return partition(graph, len(room), eps=min(slack - 1.0, 0.99), seed=seed, preset=preset, fixed=held,
                         tpwgts=None if room.min() == room.max() else room / room.sum(), strict=False)
    except PartitionError:
        return None
