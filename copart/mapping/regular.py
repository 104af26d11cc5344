"""Architectures given by a formula: grids, tori, hypercubes and trees of any size, in a few numbers each."""

from __future__ import annotations

from collections.abc import Sequence
from math import prod

import numpy as np
from numpy.typing import ArrayLike, NDArray

from ..arrays import whole
from ..errors import MappingError
from ..kernels.distances import GRID, TORUS, DistanceCode
from .architecture import BaseArchitecture, Domain, Domains, distance_code, rows

#: Vertices of an architecture are counted in int64.
MOST = 2**62


class Grid(BaseArchitecture):
    """A d-dimensional mesh of processors (``mesh2D``, ``mesh3D``, ``meshXD``): Manhattan distance.

    A domain is a box, ``(min_0, max_0, min_1, max_1, ...)`` with both ends included.

    Parameters
    ----------
    dims : sequence of int
        Extent of each dimension; processor numbers run fastest along the first.

    Examples
    --------
    >>> machine = Grid([4, 2])
    >>> machine.sons(machine.root)
    ((0, 1, 0, 1), (2, 3, 0, 1))
    >>> float(machine.distances(0, 7))
    4.0
    """

    name = "mesh"
    around = False

    def __init__(self, dims: Sequence[int]):
        self.dims = tuple(whole("dims", d, low=1) for d in dims)
        if not self.dims:
            raise MappingError(f"dims: a {self.name} needs at least one dimension")
        self.nprocs = checked_count(prod(self.dims))
        self._dims = np.array(self.dims, np.int64)
        self._stride = np.concatenate([[1], np.cumprod(self._dims)[:-1]])

    @property
    def root(self) -> Domain:
        """The whole box."""
        return tuple(end for d in self.dims for end in (0, d - 1))

    def sons(self, domain: Domain) -> tuple[Domain, Domain]:
        """The box cut in half across its longest dimension, the last of them where several are longest."""
        extent = [domain[i + 1] - domain[i] for i in range(0, len(domain), 2)]
        axis = max(range(len(extent)), key=lambda k: (extent[k], k))
        low, high = domain[2 * axis], domain[2 * axis + 1]
        middle = (low + high) // 2
        head, tail = domain[:2 * axis], domain[2 * axis + 2:]
        return (*head, low, middle, *tail), (*head, middle + 1, high, *tail)

    def size(self, domain: Domain) -> int:
        """Number of processors in the box."""
        return prod(domain[i + 1] - domain[i] + 1 for i in range(0, len(domain), 2))

    def processor(self, domain: Domain) -> int:
        """The processor of a box of one."""
        return int(np.dot(domain[::2], self._stride))

    def terminal(self, processor: int) -> Domain:
        """The box of one processor."""
        out = []
        for d in self.dims:
            processor, at = divmod(int(processor), d)
            out += [at, at]
        return tuple(out)

    def coordinates(self, vertices: ArrayLike) -> NDArray[np.int64]:
        """(..., d) int64 coordinates of processors."""
        found: NDArray[np.int64] = np.asarray(vertices, np.int64)[..., None] // self._stride % self._dims
        return found

    def domain_distances(self, domain: Domain, domains: Domains) -> NDArray[np.float64]:
        """Manhattan distance of the centres."""
        boxes = rows(domains)
        centres = (boxes[:, ::2] + boxes[:, 1::2]) / 2
        return self._apart(np.add(domain[::2], domain[1::2]) / 2, centres)

    def distances(self, p: ArrayLike, q: ArrayLike) -> NDArray[np.float64]:
        """Manhattan distance."""
        return self._apart(self.coordinates(p), self.coordinates(q)).astype(np.float64)

    def _apart(self, a: NDArray[np.generic], b: NDArray[np.generic]) -> NDArray[np.float64]:
        apart = np.abs(np.subtract(a, b))
        if self.around:
            apart = np.minimum(apart, self._dims - apart)
        total: NDArray[np.float64] = apart.sum(-1)
        return total

    def code(self) -> DistanceCode:
        """The distances as kernels take them."""
        return distance_code(TORUS if self.around else GRID, dims=self.dims)

    def __repr__(self) -> str:
        return f"{type(self).__name__}({' x '.join(map(str, self.dims))})"


class Torus(Grid):
    """A d-dimensional torus (``torus2D``, ``torus3D``, ``torusXD``): a :class:`Grid` whose ends are linked."""

    name = "torus"
    around = True


def checked_count(count: int) -> int:
    """The number of processors; MappingError where they cannot be counted in 64 bits."""
    if count > MOST:
        raise MappingError(f"a machine has at most 2^62 processors, this one {count:.3g}")
    return count
