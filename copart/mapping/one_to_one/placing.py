"""`place_processes`: one call for all one-to-one methods, and the best of several."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from ...arrays import whole
from ...errors import MappingError
from ...graph import Graph
from ...names import PlacingMethod, known_name
from ..architectures.architecture import Architecture
from ..evaluation import architecture_of
from ..host_tree import host_tree
from ..machine import Machine
from ..mapper import check_machine, map_one_each
from .constructions import greedy, mueller_merbach, treematch
from .objective import Placement, as_placement, as_processes, objective
from .search import exchange, heider
from .sections import bottom_up, hatazaki, multisection, traeff

Method = Callable[[Graph, Architecture, int], Placement]

#: Processors up to which "best" partitions level by level.
_SECTIONS = 4096


def recursive_bipartitioning(graph: Graph, machine: Architecture, seed: int) -> Placement:
    """Dual recursive bipartitioning with room for one process per processor, then exchanges."""
    bare = Graph(graph.xadj, graph.adjncy, graph.ewgt)
    return exchange(bare, machine, map_one_each(bare, machine, seed), neighbourhood="N_2")


METHODS: dict[str, Method] = {
    "identity": lambda graph, machine, seed: np.arange(graph.nvtxs, dtype=np.int32),
    "multisection": lambda graph, machine, seed: multisection(graph, machine, seed=seed),
    "bottom-up": lambda graph, machine, seed: bottom_up(graph, machine, seed=seed),
    "drb": recursive_bipartitioning,
    "mueller-merbach": lambda graph, machine, seed: heider(graph, machine, mueller_merbach(graph, machine)),
    "greedy": lambda graph, machine, seed: greedy(graph, machine),
    "hatazaki": lambda graph, machine, seed: hatazaki(graph, machine, seed=seed),
    "traeff": lambda graph, machine, seed: traeff(graph, machine, seed=seed),
    "treematch": lambda graph, machine, seed: treematch(graph, machine),
}
"""Methods of `place_processes` by name, beside "best"."""


def place_processes(processes: Any, machine: Machine | Architecture, *, method: PlacingMethod = "best", seed: int = 1,
                    start: ArrayLike | None = None) -> Placement:
    """Give every process a processor of its own: small sum of traffic times distance.

    Parameters
    ----------
    processes : graph-like or square matrix of traffic
    machine : Machine or Architecture
        At least as many processors as processes.
    method : str
        One of `METHODS`, or "best": several of them with exchanges, never worse than process i on processor i (or
        `start`).
    seed : int
        Same seed, same placement.
    start : (nprocesses,) array_like of int, optional
        A placement that "best" is to beat.

    Raises
    ------
    MappingError
        There are fewer processors than processes, or `start` is no placement.
    ConfigError
        The method is not known.

    Examples
    --------
    >>> from copart.mapping.architectures.tree import TreeLeaf
    >>> ring = Graph.from_edges(4, [0, 2, 1, 3], [2, 1, 3, 0])
    >>> place = place_processes(ring, TreeLeaf([2, 2], [10, 1]))
    >>> objective(ring, TreeLeaf([2, 2], [10, 1]), place)
    22.0
    """
    graph, target = as_processes(processes), architecture_of(machine)
    seed = whole("seed", seed, low=0, high=2**31 - 1)
    n, k = graph.nvtxs, target.nprocs
    if n > k:
        raise MappingError(f"machine: {n} processes need a slot each, the machine has {k}; use a larger machine, or "
                           f"map several to a processor (map_graph)")
    check_machine(target)
    if method != "best":
        known_name("method", method, ("best", *METHODS))
        return METHODS[method](graph, target, seed)
    before = np.arange(n, dtype=np.int32) if start is None else as_placement("start", start, n, k)
    found = [before, exchange(graph, target, before, neighbourhood="N_2"), METHODS["drb"](graph, target, seed)]
    tree = host_tree(target).arities() if k <= _SECTIONS else None
    if tree is not None and len(tree) < np.log2(max(k, 2)):
        # a tree of some arity: distances know nothing but levels, and partitions are all that counts
        found += [multisection(graph, target, seed=(seed + i) % 2**31, preset="strong") for i in range(2)]
    else:
        found += [METHODS["drb"](graph, target, (seed + i) % 2**31) for i in range(1, 3)]
    cost = [objective(graph, target, place) for place in found]
    return found[int(np.argmin(cost))]
