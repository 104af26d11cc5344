"""Greedy orders: compute nodes filled one vertex at a time, for any stencil.

Central: one process fills node after node.  Distributed: as many processes as there are nodes each fill one,
from vertices far apart and without knowing of one another; vertices that several took, or none, are mended afterwards
(von Kirchbach 2019, chapter 4).  Orders hold the vertex of every slot; slots are counted node by node.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, get_args

import numpy as np
from numpy.typing import NDArray

from ...arrays import VERTEX, WEIGHT, integers, whole
from ...errors import MappingError
from ...names import EdgeCounting, known_name
from .grid import Grid
from .placements import blocked, node_sizes
from .stencils import Stencil

#: How edges count towards the priority of a vertex; see :func:`central_greedy`.
COUNTING: tuple[EdgeCounting, ...] = get_args(EdgeCounting)


def central_greedy(grid: Grid, stencil: Stencil, nodes: int | Sequence[int],
                   counting: EdgeCounting = "source") -> NDArray[np.int32]:
    """Fill one node after the other with the vertices that touch it, and the queue behind it, most.

    Parameters
    ----------
    grid : Grid
    stencil : Stencil
    nodes : int or sequence of int
        Number of compute nodes, or the processes of each.
    counting : {"source", "once"}
        What makes the priority of a vertex.  ``source``: an edge counts when its second end enters the queue, twice
        where both ends enter together.  ``once``: each edge to a queued vertex once, each to a vertex on the node
        twice, which leaves fewer edges between nodes in most grids.

    Returns
    -------
    (size,) int32
        Vertex of every slot.

    Examples
    --------
    >>> from copart.mapping.cartesian import stencil
    >>> central_greedy(Grid((4, 4)), stencil("five-point", 2), 4).tolist()
    [0, 1, 4, 5, 2, 3, 6, 7, 8, 9, 12, 13, 10, 11, 14, 15]
    """
    from ...kernels.cartesian import fill_nodes

    sizes = node_sizes(grid.size, nodes)
    targets, weights = _table(grid, stencil)
    order = np.empty(grid.size, VERTEX)
    fill_nodes(targets, weights, _first(sizes), _once(counting), _queue(grid.size), order)
    return order


def distributed_greedy(grid: Grid, stencil: Stencil, nodes: int | Sequence[int],
                       counting: EdgeCounting = "source") -> NDArray[np.int32]:
    """The order that the distributed algorithm finds, computed by one process.

    Parameters and result as of :func:`central_greedy`; :func:`copart.mpi.cart_create` runs it distributed.

    Parameters
    ----------
    grid : Grid
    stencil : Stencil
    nodes : int or sequence of int
        Number of compute nodes, or the processes of each.
    counting : {"source", "once"}
        What makes the priority of a vertex.
    """
    from ...kernels.cartesian import FREE, fill_node

    sizes = node_sizes(grid.size, nodes)
    targets, weights = _table(grid, stencil)
    once, queue, first = _once(counting), _queue(grid.size), _first(sizes).tolist()
    order = np.empty(grid.size, VERTEX)
    for node, seed in enumerate(greedy_seeds(grid, stencil, len(sizes)).tolist()):
        own = order[first[node]:first[node + 1]]
        fill_node(targets, weights, seed, once, 0, queue, own)
        # the next one knows nothing of it
        queue.state[own] = FREE
    return check_up(grid, stencil, sizes, order)


def greedy_seeds(grid: Grid, stencil: Stencil, count: int) -> NDArray[np.int32]:
    """Vertices to start nodes from: 0, then always the one that a breadth-first search from all so far finds last.

    Parameters
    ----------
    grid : Grid
    stencil : Stencil
    count : int
        How many, 1 to the size of the grid.

    Returns
    -------
    (count,) int32

    Notes
    -----
    The search goes along the edges, from the seeds in their order, neighbours in the order of the stencil.  Where it
    does not reach all vertices (the graph falls apart, or is directed), the smallest that is left is next.
    """
    from ...kernels.cartesian import find_seeds

    targets, _ = _table(grid, stencil)
    seeds = np.empty(whole("count", count, low=1, high=grid.size), VERTEX)
    find_seeds(targets, np.empty(grid.size, np.uint8), np.empty(grid.size, VERTEX), seeds)
    return seeds


def greedy_fill(grid: Grid, stencil: Stencil, seed: int, size: int,
                counting: EdgeCounting = "source") -> NDArray[np.int32]:
    """What one process finds for its node from its seed, without knowing of the others.

    Parameters
    ----------
    grid : Grid
    stencil : Stencil
    seed : int
        Vertex to start from.
    size : int
        Processes of the node.
    counting : {"source", "once"}
        See :func:`central_greedy`.

    Returns
    -------
    (size,) int32
        Vertices, in the order in which they were taken.
    """
    from ...kernels.cartesian import fill_node

    targets, weights = _table(grid, stencil)
    out = np.empty(whole("size", size, low=1, high=grid.size), VERTEX)
    start = whole("seed", seed, low=0, high=grid.size - 1)
    fill_node(targets, weights, start, _once(counting), 0, _queue(grid.size), out)
    return out


def check_up(grid: Grid, stencil: Stencil, nodes: int | Sequence[int], order: NDArray[np.int32]) -> NDArray[np.int32]:
    """Mend an order in which some vertices repeat and others are missing.

    Every missing vertex, ascending, replaces the copy of a repeated one whose node then sends least to others, compared
    with before.

    Parameters
    ----------
    grid : Grid
    stencil : Stencil
    nodes : int or sequence of int
    order : (size,) int32
        Vertices of the nodes, one node after the other.

    Returns
    -------
    (size,) int32
        A permutation.
    """
    from ...kernels.cartesian import Mending, mend

    sizes = node_sizes(grid.size, nodes)
    given = integers("order", order, VERTEX, MappingError, low=0, high=grid.size, size=grid.size).copy()
    targets, weights = _table(grid, stencil)
    n = grid.size
    scratch = Mending(top=np.empty(n, VERTEX), below=np.empty(n, VERTEX), copies=np.empty(n, VERTEX),
                      here=np.empty(n, VERTEX), leaves=np.empty(n, WEIGHT), best=np.empty(len(sizes), VERTEX),
                      near=np.empty(len(sizes), WEIGHT))
    mend(targets, weights, _first(sizes), blocked(sizes), given, scratch)
    return given


def _table(grid: Grid, stencil: Stencil) -> tuple[NDArray[np.int32], NDArray[np.int64]]:
    targets, weights = grid.neighbours(stencil)
    # the priority of a vertex adds up at most four times the weights of its edges
    if int(weights.sum()) >= 2**60:
        raise MappingError("stencil weights: too large to be added up; scale them down")
    return targets, weights


def _first(sizes: Sequence[int]) -> NDArray[np.int64]:
    """(nnodes + 1,) first slot of every node, and the number of slots."""
    return np.concatenate([[0], np.cumsum(sizes)]).astype(WEIGHT, copy=False)


def _once(counting: str) -> bool:
    known_name("counting", counting, COUNTING)
    return counting == "once"


def _queue(n: int) -> Any:
    """The queue of the kernels for a grid of n vertices, each of which is queued or touched once at most."""
    from ...kernels.cartesian import Queue

    return Queue(
        state=np.zeros(n, np.uint8),
        prio=np.zeros(n, WEIGHT),
        tie=-np.arange(n, dtype=WEIGHT),
        heap=np.empty(n, VERTEX),
        place=np.empty(n, VERTEX),
        touched=np.empty(n, VERTEX),
    )


__all__ = ["COUNTING", "central_greedy", "check_up", "distributed_greedy", "greedy_fill", "greedy_seeds"]
