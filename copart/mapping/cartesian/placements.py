"""How ranks lie on compute nodes before they are reordered.

The algorithms think of *slots*: places for processes, counted node by node.  Slot i belongs to node
``i // p`` where all nodes have p processes, else the sizes of the nodes are added up.  Ranks that a launcher has
spread otherwise are sorted into slots first (:func:`slots`), so that no result depends on how they lay.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from numpy.typing import ArrayLike, NDArray

from ...arrays import VERTEX, integers, whole
from ...errors import MappingError


def node_sizes(nprocs: int, nodes: int | Sequence[int]) -> tuple[int, ...]:
    """Processes of each compute node.

    Parameters
    ----------
    nprocs : int
        Number of processes.
    nodes : int or sequence of int
        Number of nodes that share the processes equally, or the processes of each.

    Raises
    ------
    MappingError
        `nprocs` is no multiple of the number of nodes, or not the sum of the sizes.
    """
    if isinstance(nodes, int | np.integer):
        count = whole("nodes", nodes, low=1)
        if nprocs % count:
            raise MappingError(f"nodes: {nprocs} processes are no multiple of {count} nodes; "
                               f"give the processes of each node where they differ")
        return (nprocs // count,) * count
    sizes = tuple(whole("nodes", s, low=1) for s in nodes)
    if sum(sizes) != nprocs:
        raise MappingError(f"nodes: sizes add up to {sum(sizes)} processes, the grid has {nprocs} positions")
    return sizes


def equal_size(sizes: Sequence[int], who: str) -> int:
    """The one size of all nodes; raises where there are several."""
    if len(set(sizes)) != 1:
        raise MappingError(f"{who}: needs nodes of one size, has {min(sizes)} to {max(sizes)} processes")
    return sizes[0]


def blocked(sizes: Sequence[int]) -> NDArray[np.int32]:
    """(nprocs,) int32 node of each rank, node after node: what MPI launchers do by default.

    Parameters
    ----------
    sizes : sequence of int
        Processes of each node.
    """
    return np.repeat(np.arange(len(sizes), dtype=VERTEX), sizes)


def round_robin(sizes: Sequence[int]) -> NDArray[np.int32]:
    """(nprocs,) int32 node of each rank, one rank per node in turn; full nodes are passed over.

    Parameters
    ----------
    sizes : sequence of int
        Processes of each node.
    """
    turn = np.concatenate([np.arange(s) for s in sizes])
    return blocked(sizes)[np.argsort(turn, kind="stable")]


def random(sizes: Sequence[int], seed: int = 1) -> NDArray[np.int32]:
    """(nprocs,) int32 node of each rank, in an order drawn from `seed`.

    Parameters
    ----------
    sizes : sequence of int
        Processes of each node.
    seed : int
        Same seed, same order.
    """
    return np.random.default_rng(whole("seed", seed, low=0)).permutation(blocked(sizes))


#: Base placements by name.
BASES = {"blocked": blocked, "round-robin": round_robin, "random": random}


def block_cyclic(nodes: int, sockets: int, cores: int, *, over_nodes: str = "block",
                 over_sockets: str = "block") -> NDArray[np.int32]:
    """Place of each rank where the two ways to deal ranks are combined (Mirsadeghi & Afsahi).

    Parameters
    ----------
    nodes, sockets, cores : int
        Compute nodes, sockets of each, cores of each socket.
    over_nodes, over_sockets : {"block", "cyclic"}
        Fill one after the other, or one rank each in turn.

    Returns
    -------
    (nodes * sockets * cores,) int32
        Core of each rank, counted node by node and socket by socket.

    Examples
    --------
    >>> block_cyclic(2, 2, 1, over_nodes="cyclic").tolist()
    [0, 2, 1, 3]
    """
    inside = whole("sockets", sockets, low=1) * whole("cores", cores, low=1)
    rank = np.arange(whole("nodes", nodes, low=1) * inside)
    node, place = _deal(rank, nodes, inside, over_nodes, "over_nodes")
    socket, core = _deal(place, sockets, cores, over_sockets, "over_sockets")
    return (node * inside + socket * cores + core).astype(VERTEX)


def _deal(number: NDArray[np.int64], count: int, each: int, how: str,
          name: str) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
    if how not in ("block", "cyclic"):
        raise MappingError(f"{name}: {how!r} is none of block, cyclic")
    return (number // each, number % each) if how == "block" else (number % count, number // count)


def slots(node_of_rank: ArrayLike) -> NDArray[np.int32]:
    """Slot of each rank: ranks sorted by node, and by rank inside a node.

    Parameters
    ----------
    node_of_rank : (nprocs,) array_like of int

    Returns
    -------
    (nprocs,) int32
        A permutation; consecutive slots are on the same node.

    Examples
    --------
    >>> slots([1, 0, 1, 0]).tolist()
    [2, 0, 3, 1]
    """
    node = integers("node_of_rank", node_of_rank, VERTEX, MappingError, low=0)
    slot = np.empty(len(node), VERTEX)
    slot[np.argsort(node, kind="stable")] = np.arange(len(node), dtype=VERTEX)
    return slot


__all__ = ["BASES", "block_cyclic", "blocked", "equal_size", "node_sizes", "random", "round_robin", "slots"]
