"""Architectures: what a machine is to the mapper, and the simplest ones.

A **processor** takes processes; processors are numbered ``0..nprocs-1``.  A
**domain** is a set of processors that the architecture can halve again and
again until one processor, a terminal domain, is left.  Domains are small tuples
of whole numbers, all of one length for one architecture, so that they can be
dictionary keys and rows of an array.  Distances between terminal domains are
exact, others are estimates that get better as domains shrink.
(The protocol of dual recursive bipartitioning: F. Pellegrini and S. Lachat, Process Mapping onto Complex Architectures
and Partitions Thereof, Inria RR-9135, 2017.)
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Sequence
from functools import cached_property
from typing import Any, Protocol, runtime_checkable

import numpy as np
from numpy.typing import ArrayLike, NDArray

from ...arrays import WEIGHT, frozen, weights, whole
from ...errors import MappingError
from ...kernels.distances import COMPLETE, TABLE, DistanceCode

Domain = tuple[int, ...]
Domains = Sequence[Domain] | NDArray[np.int64]

#: Most processors of which all distances are kept in a table (128 MiB).
MATRIX_LIMIT = 4096


@runtime_checkable
class Architecture(Protocol):
    """What dual recursive bipartitioning and refinement ask of a machine."""

    #: The word SCOTCH's files have for it: ``cmplt``, ``torus``, ``tleaf``, ...
    name: str

    @property
    def nprocs(self) -> int:
        """Number of processors."""

    @property
    def weights(self) -> NDArray[np.int64]:
        """(nprocs,) int64 compute power of each processor, at least 1."""

    @property
    def root(self) -> Domain:
        """The domain of all processors."""

    def sons(self, domain: Domain) -> tuple[Domain, Domain]:
        """The two halves of a domain of at least two processors, neither empty."""

    def size(self, domain: Domain) -> int:
        """Number of processors of a domain."""

    def weight(self, domain: Domain) -> int:
        """Compute power of a domain."""

    def processor(self, domain: Domain) -> int:
        """The processor of a terminal domain."""

    def terminal(self, processor: int) -> Domain:
        """The terminal domain of a processor."""

    def domain_distances(self, domain: Domain, domains: Domains) -> NDArray[np.float64]:
        """Distances from `domain` to each of `domains` (n of them): (n,) float64, exact between terminal ones."""

    def distances(self, p: ArrayLike, q: ArrayLike) -> NDArray[np.float64]:
        """Distances between processors, elementwise with broadcasting."""

    def matrix(self) -> NDArray[np.float64]:
        """(nprocs, nprocs) float64 distances between all processors; MappingError above 4,096 of them."""

    def code(self) -> DistanceCode:
        """The distances as kernels take them."""


def distance_code(kind: int, *, dims: ArrayLike = (), cost: ArrayLike = (), vertex: ArrayLike = (),
                  table: NDArray[np.float64] | None = None) -> DistanceCode:
    """A :class:`DistanceCode` of arrays of the agreed types, empty where not given."""
    def array(values: ArrayLike, dtype: Any) -> Any:
        return frozen(np.ascontiguousarray(values, dtype))

    return DistanceCode(kind, array(dims, np.int64), array(cost, np.float64), array(vertex, np.int64),
                        array(np.zeros((0, 0)) if table is None else table, np.float64),
                        array((), np.int32), array((), np.int64), array((), np.int32), array((), np.float64), 0)


def table_code(matrix: NDArray[np.float64]) -> DistanceCode:
    """The code of a table of distances, faster in kernels than any formula while it fits the cache."""
    return distance_code(TABLE, table=matrix)


class BaseArchitecture(ABC):
    """What most architectures do in the same way; processors of equal power unless said otherwise."""

    name: str
    nprocs: int

    @cached_property
    def weights(self) -> NDArray[np.int64]:
        """(nprocs,) int64 compute power of each processor."""
        return frozen(np.ones(self.nprocs, WEIGHT))

    def power(self, processors: NDArray[np.int64]) -> NDArray[np.int64]:
        """Compute power of some processors."""
        return np.ones(len(processors), WEIGHT)

    def of_equal_power(self) -> BaseArchitecture:
        """The same with processors of equal power, as where each takes one process."""
        return self

    @property
    @abstractmethod
    def root(self) -> Domain:
        """The domain of all processors."""

    @abstractmethod
    def sons(self, domain: Domain) -> tuple[Domain, Domain]:
        """The two halves of a domain of at least two processors, neither empty."""

    @abstractmethod
    def size(self, domain: Domain) -> int:
        """Number of processors of a domain."""

    @abstractmethod
    def processor(self, domain: Domain) -> int:
        """The processor of a terminal domain."""

    @abstractmethod
    def terminal(self, processor: int) -> Domain:
        """The terminal domain of a processor."""

    @abstractmethod
    def domain_distances(self, domain: Domain, domains: Domains) -> NDArray[np.float64]:
        """Distances from `domain` to each of `domains`."""

    def weight(self, domain: Domain) -> int:
        """Compute power of a domain: the number of its processors."""
        return self.size(domain)

    @abstractmethod
    def distances(self, p: ArrayLike, q: ArrayLike) -> NDArray[np.float64]:
        """Distances between processors, elementwise with broadcasting."""

    @abstractmethod
    def code(self) -> DistanceCode:
        """The distances as kernels take them."""

    @cached_property
    def _matrix(self) -> NDArray[np.float64]:
        everyone = np.arange(self.nprocs)
        return frozen(self.distances(everyone[:, None], everyone[None, :]))

    def matrix(self) -> NDArray[np.float64]:
        """(nprocs, nprocs) float64 distances between all processors.

        Raises
        ------
        MappingError
            There are more than 4,096 processors; :meth:`distances` gives those of pairs.
        """
        if self.nprocs > MATRIX_LIMIT:
            raise MappingError(f"distances of all pairs are kept up to {MATRIX_LIMIT} processors, {self.name} has "
                               f"{self.nprocs}; ask for pairs")
        return self._matrix

    def __repr__(self) -> str:
        return f"{type(self).__name__}({self.nprocs} processors)"


def rows(domains: Domains) -> NDArray[np.int64]:
    """Domains as an array, one row each."""
    return np.asarray(domains, np.int64)


class Complete(BaseArchitecture):
    """A complete graph (``cmplt``): any two processors are one step apart; a domain is an interval of processors.

    Parameters
    ----------
    nprocs : int
        Number of processors.

    Examples
    --------
    >>> machine = Complete(5)
    >>> machine.sons(machine.root)
    ((0, 3), (3, 5))
    """

    name = "cmplt"

    def __init__(self, nprocs: int):
        self.nprocs = whole("nprocs", nprocs, low=1)

    @property
    def root(self) -> Domain:
        """The interval of all processors, its end excluded."""
        return (0, self.nprocs)

    def sons(self, domain: Domain) -> tuple[Domain, Domain]:
        """The two halves of an interval."""
        low, high = domain
        middle = (low + high + 1) // 2
        return (low, middle), (middle, high)

    def size(self, domain: Domain) -> int:
        """Length of the interval."""
        return domain[1] - domain[0]

    def processor(self, domain: Domain) -> int:
        """The processor of an interval of length 1."""
        return domain[0]

    def terminal(self, processor: int) -> Domain:
        """The interval of one processor."""
        return (processor, processor + 1)

    def domain_distances(self, domain: Domain, domains: Domains) -> NDArray[np.float64]:
        """1, or 0 between equal domains."""
        found: NDArray[np.float64] = (rows(domains) != np.asarray(domain)).any(1).astype(np.float64)
        return found

    def distances(self, p: ArrayLike, q: ArrayLike) -> NDArray[np.float64]:
        """1 between different processors."""
        return np.asarray(np.not_equal(p, q), np.float64)

    def code(self) -> DistanceCode:
        """The distances as kernels take them."""
        return distance_code(COMPLETE)


class WeightedComplete(Complete):
    """A complete graph of processors of different compute power (``cmpltw``); intervals are halved by weight.

    Parameters
    ----------
    power : (nprocs,) array_like of int
        Compute power of each processor, at least 1.
    """

    name = "cmpltw"

    def __init__(self, power: ArrayLike):
        self._power = checked_power(power)
        super().__init__(len(self._power))
        self._before = np.concatenate([[0], np.cumsum(self._power)])

    @property
    def weights(self) -> NDArray[np.int64]:  # type: ignore[override]
        """(nprocs,) int64 compute power of each processor."""
        return self._power

    def power(self, processors: NDArray[np.int64]) -> NDArray[np.int64]:
        """Compute power of some processors."""
        return self._power[processors]

    def of_equal_power(self) -> BaseArchitecture:
        """The same with processors of equal power."""
        return Complete(self.nprocs)

    def weight(self, domain: Domain) -> int:
        """Compute power of an interval."""
        return int(self._before[domain[1]] - self._before[domain[0]])

    def sons(self, domain: Domain) -> tuple[Domain, Domain]:
        """The interval cut where both sides are most nearly of equal power."""
        low, high = domain
        twice = int(self._before[low] + self._before[high])
        middle = int(np.searchsorted(2 * self._before[low + 1:high], twice)) + low + 1
        if middle > low + 1 and (middle == high or twice - 2 * int(self._before[middle - 1])
                                 <= 2 * int(self._before[middle]) - twice):
            middle -= 1
        return (low, middle), (middle, high)


def checked_power(power: ArrayLike) -> NDArray[np.int64]:
    """Compute power as read-only int64; MappingError where a processor has none."""
    found = weights("power", power, np.size(power), MappingError)
    if not len(found):
        raise MappingError("power: a machine needs at least one processor")
    if not found.all():
        i = int(np.argmin(found))
        raise MappingError(f"power: must be at least 1, is 0 for {int((found == 0).sum())} processors, first for "
                           f"processor {i}; leave such processors out (sub)")
    return frozen(found)
