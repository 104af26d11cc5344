"""Distances between processors of any architecture, for inner loops of mapping kernels.

:class:`DistanceCode` holds an architecture as a tuple of plain arrays, of the
same types whatever the architecture, so that a kernel that takes one is
compiled once.
"""

from typing import Any, NamedTuple

import numpy as np

from . import inlined, inner, kernel
from .decomposition import level_distance

COMPLETE, HYPERCUBE, GRID, TORUS, TREE, TABLE, MULTILEVEL = range(7)


class DistanceCode(NamedTuple):
    """An architecture as kernels see it; all arrays read-only, empty where they say nothing.

    kind : int, one of the constants above
    dims : int64, extents of a grid or torus, first fastest; of a tree, leaves below a node of each depth, root first
    cost : (depth,) float64, of a tree: cost between leaves that part below a node of each depth, root first
    vertex : int64, vertex of each processor of a subset, or the first turn of a periodic numbering; empty: the same
    table : (n, n) float64, distances between all vertices
    father : (nvtxs,) int32, of a multilevel decomposition, all of whose levels are in one numbering
        (:func:`copart.kernels.decomposition.level_distance`)
    xadj : (nvtxs + 1,) int64, of its edges
    adjncy : (narcs,) int32
    edge : (narcs,) float64, their lengths
    limit : int, vertices that a search in one level may settle
    """

    kind: int
    dims: Any
    cost: Any
    vertex: Any
    table: Any
    father: Any
    xadj: Any
    adjncy: Any
    edge: Any
    limit: int


@kernel
def set_bits(x):
    """Number of one bits of a number that is not negative.

    x : int
    """
    count = 0
    while x:
        x &= x - 1
        count += 1
    return count


@inner
def grid_distance(dims, u, v, around):
    """Manhattan distance in a grid, or in a torus where `around`.

    dims : (naxes,) int64, in       extents, first fastest
    u, v : int
    around : bool
    """
    total = 0
    for axis in range(len(dims)):
        size = dims[axis]
        apart = abs(u % size - v % size)
        if around and size - apart < apart:
            apart = size - apart
        total += apart
        u //= size
        v //= size
    return float(total)


@inner
def tree_distance(leaves, cost, u, v):
    """Cost of the lowest level at which two leaves are below one node.

    leaves : (depth + 1,) int64, in     leaves below a node of each depth, root first
    cost : (depth,) float64, in         between leaves that part below a node of each depth, root first
    u, v : int
    """
    for depth in range(len(cost)):
        if u // leaves[depth + 1] != v // leaves[depth + 1]:
            return cost[depth]
    return 0.0


@inlined
def processor_distance(code, p, q):
    """Distance between two processors, as a float.

    code : DistanceCode, in
    p, q : int
    """
    u, v = np.int64(p), np.int64(q)
    turn = len(code.vertex)
    if turn > 0:
        u = code.vertex[u] if u < turn else u - u % turn + code.vertex[u % turn]
        v = code.vertex[v] if v < turn else v - v % turn + code.vertex[v % turn]
    distance = 0.0
    if u != v:
        if code.kind == COMPLETE:
            distance = 1.0
        elif code.kind == TREE:
            distance = tree_distance(code.dims, code.cost, u, v)
        elif code.kind == TABLE:
            distance = code.table[u, v]
        elif code.kind == HYPERCUBE:
            distance = float(set_bits(u ^ v))
        elif code.kind == MULTILEVEL:
            distance = level_distance(code.father, code.xadj, code.adjncy, code.edge, code.limit, u, v)
        else:
            distance = grid_distance(code.dims, u, v, code.kind == TORUS)
    return distance
