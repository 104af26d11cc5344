"""From a partition to new ranks: the isomorphism that puts the ranks of a part on one node.

The slot of a rank is its node and its position among the ranks of that node, in rank order. I(r) is the slot where
process r runs, F(r) the slot that the partition gives to rank r. Process r takes the rank f(r) with F(f(r)) = I(r).
Found by a table of all slots, or, where the placement is block-cyclic, without one: then the process that runs in
slot F(r) is known from a formula, rank r writes its number to it, and everyone receives exactly one message.
(N. Tihon, Graph Partitioning and its application to MPI, 2024, Sections 5.1.1 and 5.1.2.)
"""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from ...arrays import VERTEX, integers, whole
from ...errors import MappingError


def positions(node: ArrayLike) -> NDArray[np.int32]:
    """Position of each rank among the ranks of its node, in rank order: (N,) int32.

    Examples
    --------
    >>> positions([0, 1, 1, 0, 0, 1]).tolist()
    [0, 0, 1, 1, 2, 2]
    """
    p = integers("node", node, VERTEX, MappingError, low=0)
    # by the nodes in use: their numbers may be far larger than how many there are
    _, which, sizes = np.unique(p, return_inverse=True, return_counts=True)
    order = np.argsort(p, kind="stable")
    first = np.cumsum(sizes) - sizes
    out = np.empty(len(p), VERTEX)
    out[order] = np.arange(len(p)) - first[which[order]]
    return out


def new_ranks(placement: ArrayLike, part: ArrayLike) -> NDArray[np.int32]:
    """The new rank f(r) of each process: the one whose slot in `part` is the slot of r in `placement`; (N,) int32.

    Parameters
    ----------
    placement : (N,) array_like of int
        Node on which each process runs.
    part : (N,) array_like of int
        Node on which each rank shall run.

    Raises
    ------
    MappingError
        A node does not get as many ranks as it runs processes.

    Examples
    --------
    >>> new_ranks([0, 1, 1, 0, 0, 1], [1, 0, 0, 0, 1, 1]).tolist()
    [1, 0, 4, 2, 3, 5]
    """
    initial = integers("placement", placement, VERTEX, MappingError, low=0)
    final = integers("part", part, VERTEX, MappingError, low=0, size=len(initial))
    slot, rank = np.argsort(initial, kind="stable"), np.argsort(final, kind="stable")
    wrong = initial[slot] != final[rank]
    if wrong.any():
        i = int(np.argmax(wrong))
        p = min(initial[slot[i]], final[rank[i]])
        raise MappingError(f"part: node {p} runs {(initial == p).sum()} processes and gets {(final == p).sum()} ranks")
    out = np.empty(len(initial), VERTEX)
    out[slot] = rank
    return out


def block_cyclic(nranks: int, nodes: int, block: int) -> NDArray[np.int32]:
    """The placement that deals blocks of `block` consecutive ranks to the nodes in turn: (N,) int32.

    Raises
    ------
    MappingError
        The nodes do not get equal numbers of whole blocks.
    """
    n, k, b = whole("nranks", nranks, low=1), whole("nodes", nodes, low=1), whole("block", block, low=1)
    if n % (k * b):
        raise MappingError(f"block: {n} ranks are no whole number of rounds of {k} nodes x {b} ranks")
    return (np.arange(n) // b % k).astype(VERTEX)


def block_of(placement: ArrayLike) -> int | None:
    """The block size with which `placement` is block-cyclic over nodes 0..k-1, None where it is not."""
    p = integers("placement", placement, VERTEX, MappingError, low=0)
    if len(p) == 0:
        return None
    b = int(np.argmax(p != p[0])) or len(p)
    k = int(p.max()) + 1
    return b if len(p) % (k * b) == 0 and (p == block_cyclic(len(p), k, b)).all() else None


def process_in_slot(node: Any, position: Any, nodes: int, block: int) -> Any:
    """The rank of the process that runs in a slot of a block-cyclic placement; numbers or arrays.

    Examples
    --------
    >>> process_in_slot(1, 3, nodes=3, block=2)
    9
    """
    return position // block * block * nodes + node * block + position % block


__all__ = ["block_cyclic", "block_of", "new_ranks", "positions", "process_in_slot"]
