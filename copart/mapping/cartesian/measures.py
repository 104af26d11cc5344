"""What a placement costs: data between compute nodes, in total and of the busiest one.

Two levels count: inside a compute node (free) and between nodes.  Edges are directed: what a process
sends.  With the flow matrix C of the Cartesian graph and distances D of 0 inside a node and 1 between nodes,
`total` is the objective of the quadratic assignment problem.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Sequence
from typing import NamedTuple

import numpy as np
from numpy.typing import ArrayLike, NDArray

from ...arrays import integers, whole
from ...errors import MappingError
from .grid import Grid
from .stencils import Stencil


class InterNode(NamedTuple):
    """Weight of the directed edges that leave compute nodes.

    total : int, of all nodes; max : int, of the busiest one; out : (nnodes,) int64, of each.
    """

    total: int
    max: int
    out: NDArray[np.int64]


def internode(grid: Grid, stencil: Stencil, node_of_vertex: ArrayLike, nnodes: int | None = None) -> InterNode:
    """Data that leaves each compute node in one exchange.

    Parameters
    ----------
    grid : Grid
    stencil : Stencil
    node_of_vertex : (size,) array_like of int
        Compute node of the process at each vertex.
    nnodes : int, optional
        Number of compute nodes; the largest number + 1 where not given.

    Returns
    -------
    InterNode

    Raises
    ------
    MappingError
        There is no node for each vertex, or all that is sent together does not fit in 64 bits.

    Examples
    --------
    Two nodes of four processes in a 4 x 2 grid, in order: two processes of either talk to the other.

    >>> from copart.mapping.cartesian import stencil
    >>> internode(Grid((4, 2)), stencil("five-point", 2), [0, 0, 0, 0, 1, 1, 1, 1])[:2]
    (4, 2)
    """
    nnodes = None if nnodes is None else whole("nnodes", nnodes, low=1)
    node = integers("node_of_vertex", node_of_vertex, np.int32, MappingError, low=0, high=nnodes, size=grid.size)
    count = int(node.max()) + 1 if nnodes is None else nnodes
    check_total(grid, stencil)
    rows, weight = grid.reduced(stencil)
    opposite = np.where(np.array(grid.periods), -rows % np.array(grid.dims), -rows)
    left = dict(zip(map(tuple, rows.tolist()), weight.tolist(), strict=True))
    box = node.reshape(grid.dims)
    leaves = np.zeros(grid.dims, np.int64)
    for row, other in zip(map(tuple, rows.tolist()), map(tuple, opposite.tolist()), strict=True):
        if row not in left:
            continue
        # both directions at once
        forth, back = left.pop(row), left.pop(other, 0)
        for source, target in grid.shifts(row):
            apart = box[source] != box[target]
            leaves[source] += forth * apart
            if back:
                leaves[target] += back * apart
    out = np.zeros(count, np.int64)
    np.add.at(out, node, leaves.ravel())
    return InterNode(int(out.sum()), int(out.max()), out)


def check_total(grid: Grid, stencil: Stencil) -> None:
    """Raise where all that is sent in one exchange is too much to be added up."""
    total = grid.edge_weight(stencil)
    if total >= 2**63:
        raise MappingError(f"stencil weights: {total:.3g} sent in one exchange do not fit in 64 bits; scale the "
                           f"weights down")


def improvement(base: int, found: int) -> float | None:
    """How many times less: `base` / `found`; None where nothing is left (`found` is 0), 0 where nothing was before.

    Parameters
    ----------
    base, found : int
        Inter-node traffic before and after.
    """
    return base / found if found else None


class Mean(NamedTuple):
    """A geometric mean, and of how many instances it leaves out because nothing was left there."""

    mean: float
    zeros: int


def mean_improvement(factors: Iterable[float | None]) -> Mean:
    """Geometric mean of improvements; those without a value (no inter-node edges left) are counted instead.

    Parameters
    ----------
    factors : iterable of float or None
        Of :func:`improvement`.  With one that is 0 (edges where there were none) the mean is.

    Examples
    --------
    >>> mean_improvement([2.0, 8.0, None])
    Mean(mean=4.0, zeros=1)
    """
    values = list(factors)
    known = [f for f in values if f is not None]
    if not known:
        mean = math.nan
    elif 0 in known:
        mean = 0.0
    else:
        # powers of two stay exact
        mean = 2.0 ** (math.fsum(map(math.log, known)) / math.log(2.0) / len(known))
    return Mean(mean, len(values) - len(known))


def expected_random_total(grid: Grid, stencil: Stencil, sizes: Sequence[int]) -> float:
    """Mean total of a random placement: each edge stays inside a node as often as any pair of positions.

    Parameters
    ----------
    grid : Grid
    stencil : Stencil
    sizes : sequence of int
        Processes of each node.
    """
    n = grid.size
    if n == 1:
        return 0.0
    inside = sum(s * (s - 1) for s in sizes) / (n * (n - 1))
    return grid.edge_weight(stencil) * (1.0 - inside)


__all__ = ["InterNode", "Mean", "check_total", "expected_random_total", "improvement", "internode", "mean_improvement"]
