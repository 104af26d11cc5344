"""Architectures given by a formula: grids, tori and hypercubes of any size, in a few numbers each.

Each also says how its vertices are merged pairwise, stage by stage, until one is left
(:meth:`Matched.sides`): that is the bipartition tree of any subset of it.  (Pellegrini & Lachat 2017, Inria RR-9135.)
"""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Sequence
from math import prod

import numpy as np
from numpy.typing import ArrayLike, NDArray

from ...arrays import whole
from ...errors import MappingError
from ...kernels.distances import GRID, HYPERCUBE, TORUS, DistanceCode
from .architecture import BaseArchitecture, Domain, Domains, distance_code, rows

#: Vertices of an architecture are counted in int64.
MOST = 2**62


class Matched(BaseArchitecture):
    """An architecture whose vertices are merged in pairs, stage by stage, by a fixed rule."""

    @abstractmethod
    def sides(self, vertices: NDArray[np.int64]) -> NDArray[np.int64]:
        """The side each vertex takes at every stage, as the bits of a number, the first stage lowest.

        Vertices whose numbers agree from a bit upwards are merged before that stage; equal numbers are equal vertices.
        """


class Grid(Matched):
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

    def sides(self, vertices: NDArray[np.int64]) -> NDArray[np.int64]:
        """One dimension after the other in turn, within the bounding box of the vertices.

        Where a dimension is of odd size, one line stays alone: the last at the first such visit, then the first, and
        so on, so that both halves stay about equal.
        """
        at = self.coordinates(vertices)
        at -= at.min(0)
        return merged_in_turn(at, at.max(0) + 1)

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


class Hypercube(Matched):
    """A hypercube (``hcub``) of 2^d processors: Hamming distance.

    A domain is ``(fixed, free)``: the leading bits of its processors and the number of bits that are free.

    Parameters
    ----------
    dimension : int
        At least 0.

    Examples
    --------
    >>> machine = Hypercube(3)
    >>> machine.sons((1, 2))
    ((2, 1), (3, 1))
    >>> machine.domain_distances((0, 2), [(1, 2), (7, 0)])
    array([2., 2.])
    """

    name = "hcub"

    def __init__(self, dimension: int):
        self.dimension = whole("dimension", dimension, low=0, high=62)
        self.nprocs = 2**self.dimension

    @property
    def root(self) -> Domain:
        """No bit fixed."""
        return (0, self.dimension)

    def sons(self, domain: Domain) -> tuple[Domain, Domain]:
        """The next bit fixed to 0 and to 1."""
        fixed, free = domain
        return (2 * fixed, free - 1), (2 * fixed + 1, free - 1)

    def size(self, domain: Domain) -> int:
        """2 to the number of free bits."""
        return 1 << domain[1]

    def processor(self, domain: Domain) -> int:
        """The processor whose bits are all fixed."""
        return domain[0]

    def terminal(self, processor: int) -> Domain:
        """All bits fixed."""
        return (int(processor), 0)

    def domain_distances(self, domain: Domain, domains: Domains) -> NDArray[np.float64]:
        """Hamming distance of the bits that both fix, and half the number of the others."""
        fixed, free = rows(domains).T
        most = np.maximum(free, domain[1])
        found: NDArray[np.float64] = set_bits((fixed >> (most - free)) ^ (domain[0] >> (most - domain[1]))) + most / 2
        return found

    def distances(self, p: ArrayLike, q: ArrayLike) -> NDArray[np.float64]:
        """Hamming distance."""
        return set_bits(np.bitwise_xor(p, q, dtype=np.int64))

    def sides(self, vertices: NDArray[np.int64]) -> NDArray[np.int64]:
        """Merged along bit i at stage i: the number itself."""
        return vertices

    def code(self) -> DistanceCode:
        """The distances as kernels take them."""
        return distance_code(HYPERCUBE)


def set_bits(numbers: NDArray[np.int64]) -> NDArray[np.float64]:
    """How many bits of each number, not negative, are set, by halving the width of the sums."""
    x = np.asarray(numbers).astype(np.uint64)
    for width, mask in ((1, 0x5555555555555555), (2, 0x3333333333333333), (4, 0x0F0F0F0F0F0F0F0F),
                        (8, 0x00FF00FF00FF00FF), (16, 0x0000FFFF0000FFFF), (32, 0x00000000FFFFFFFF)):
        x = (x & np.uint64(mask)) + ((x >> np.uint64(width)) & np.uint64(mask))
    return x.astype(np.float64)


def merged_in_turn(at: NDArray[np.int64], dims: NDArray[np.int64]) -> NDArray[np.int64]:
    """The sides of points (n, d) of a box, its dimensions halved in turn until each has size 1: (n,) int64."""
    at, size = at.copy(), dims.tolist()
    shifted = [0] * len(size)
    out, stage = np.zeros(len(at), np.int64), 0
    checked_stages(sum(stages(s) for s in size))
    while max(size) > 1:
        for axis in range(len(size)):
            if size[axis] > 1:
                odd = size[axis] % 2
                at[:, axis] += shifted[axis] if odd else 0
                out |= (at[:, axis] & 1) << stage
                at[:, axis] >>= 1
                size[axis] = (size[axis] + 1) // 2
                shifted[axis] ^= odd
                stage += 1
    return out


def stages(size: int) -> int:
    """How often a line of `size` is halved until one is left."""
    return (int(size) - 1).bit_length()


def checked_stages(count: int) -> int:
    """The number of stages; MappingError where their sides do not fit in one number."""
    if count > 62:
        raise MappingError(f"a subset takes a machine of at most 62 halvings, this one has {count}")
    return count


def checked_count(count: int) -> int:
    """The number of processors; MappingError where they cannot be counted in 64 bits."""
    if count > MOST:
        raise MappingError(f"a machine has at most 2^62 processors, this one {count:.3g}")
    return count
