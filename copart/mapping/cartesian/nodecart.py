"""Gropp's Nodecart: the grid as a grid of compute nodes, each of them a small grid of processes.

The prime factors of the processes per node are dealt to the dimensions, so that every node holds a box
as wide as it can be where the grid is widest.  The stencil plays no role, and neither do other processes: a
rank computes its own position.
"""

from __future__ import annotations

import math
from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from ...arrays import VERTEX, whole
from ...errors import MappingError
from .dims import prime_factors
from .grid import Grid


def encode(coordinates: Sequence[int], dims: Sequence[int]) -> int:
    """Row-major number of coordinates."""
    number = 0
    for x, d in zip(coordinates, dims, strict=True):
        number = number * d + x
    return number


def decode(number: int, dims: Sequence[int]) -> list[int]:
    """Coordinates of a row-major number."""
    out = [0] * len(dims)
    for i in range(len(dims) - 1, -1, -1):
        number, out[i] = divmod(number, dims[i])
    return out


class Nodecart:
    """Positions of all processes; every method costs no more than the number of dimensions.

    Parameters
    ----------
    grid : Grid
    size : int
        Processes of each compute node; divides the size of the grid.

    Attributes
    ----------
    intra, inter : tuple of int
        Sizes of the box of processes inside a node, and of the grid of nodes; their products per dimension
        are the sizes of the grid.

    Examples
    --------
    >>> Nodecart(Grid((12, 11, 8)), 32).intra
    (4, 1, 8)
    """

    def __init__(self, grid: Grid, size: int):
        p = whole("processes per node", size, low=1)
        if grid.size % p:
            raise MappingError(f"nodecart: {grid.size} positions are no multiple of {p} processes per node")
        self.grid = grid
        self.intra, self.inter = decompose(grid.dims, p)

    def vertex(self, slot: int) -> int:
        """Vertex of the process in `slot`."""
        node, place = divmod(whole("slot", slot, low=0, high=self.grid.size - 1), math.prod(self.intra))
        outer, inner = decode(node, self.inter), decode(place, self.intra)
        return encode([x + y * width for x, y, width in zip(inner, outer, self.intra, strict=True)], self.grid.dims)

    def slot(self, vertex: int) -> int:
        """Slot of the process at `vertex`."""
        x = decode(whole("vertex", vertex, low=0, high=self.grid.size - 1), self.grid.dims)
        node = encode([c // width for c, width in zip(x, self.intra, strict=True)], self.inter)
        place = encode([c % width for c, width in zip(x, self.intra, strict=True)], self.intra)
        return node * math.prod(self.intra) + place

    def order(self) -> NDArray[np.int32]:
        """(size,) int32 vertex of every slot."""
        ids = np.arange(self.grid.size, dtype=VERTEX)
        # one pair of axes per dimension: which node, where in it; not of single layers, as numpy has at most 64 axes
        wide = [two for two in zip(self.inter, self.intra, strict=True) if two != (1, 1)]
        axes = [*range(0, 2 * len(wide), 2), *range(1, 2 * len(wide), 2)]
        return ids.reshape([n for two in wide for n in two]).transpose(axes).ravel()


def decompose(dims: Sequence[int], size: int) -> tuple[tuple[int, ...], tuple[int, ...]]:
    """Sizes inside the nodes and of the grid of nodes (Gropp 2018).

    The prime factors of `size`, largest first, each go to the dimension with most left that it divides, the first of
    equal ones.
    """
    intra, rest = [1] * len(dims), list(dims)
    for factor in prime_factors(size):
        fits = [i for i, r in enumerate(rest) if r % factor == 0]
        j = max(fits, key=lambda i: (rest[i], -i))
        intra[j] *= factor
        rest[j] //= factor
    return tuple(intra), tuple(rest)


__all__ = ["Nodecart", "decode", "decompose", "encode"]
