"""The 331 grids that the algorithms were compared on."""

from __future__ import annotations

from typing import NamedTuple

from copart.mapping.cartesian.dims import dims_create, prime_factors
from copart.mapping.cartesian.grid import Grid


class Instance(NamedTuple):
    """A grid, and how many compute nodes of how many processes hold it."""

    grid: Grid
    nodes: int
    size: int


def instances(nodes: range = range(6, 37, 3), sizes: range = range(8, 33, 4)) -> list[Instance]:
    """Grids for all numbers of nodes and of processes per node, in 2 dimensions and more.

    Parameters
    ----------
    nodes, sizes : range
        Numbers of nodes, and of processes on each.

    Returns
    -------
    list of Instance
        For each pair the dimensions go up to the number of prime factors of the processes less one; sizes by
        the rule of Open MPI, no dimension periodic.

    Examples
    --------
    >>> len(instances())
    331
    """
    return [Instance(Grid(dims_create(n * p, d)), n, p)
            for n in nodes for p in sizes for d in range(2, len(prime_factors(n * p)))]


__all__ = ["Instance", "instances"]
