"""Tree-leaf architectures: switches of nodes of sockets of cores, all of one shape (``tleaf``, ``ltleaf``)."""

from __future__ import annotations

from collections.abc import Sequence
from math import prod
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from ...arrays import fraction, frozen, integers, whole
from ...errors import MappingError
from ...kernels.distances import TREE, DistanceCode
from .architecture import Domain, Domains, distance_code, rows
from .regular import Matched, checked_count, checked_stages, merged_in_turn, stages


class TreeLeaf(Matched):
    """The leaves of a tree (``tleaf``), as in a cluster of nodes of sockets of cores.

    The distance of two leaves is the cost of the lowest node above both.  A domain ``(depth, first, end)`` is an
    interval of sons of one node, counted at their depth; the root is at depth 0.

    Parameters
    ----------
    arities : sequence of int
        Sons of a node at each depth, **root first**; a depth with one son is left out.
    costs : sequence of float
        Distance of two leaves that part below a node at this depth, not negative.
    labels : sequence of int, optional
        A permutation of 0..m-1 (``ltleaf``): leaf i is processor ``labels[i]``; leaves m + i likewise ``m + labels[i]``
        and so on, m being a divisor of the number of leaves.

    Examples
    --------
    >>> machine = TreeLeaf([6, 8, 4], [100, 10, 1])
    >>> machine.distances(0, [0, 3, 4, 32])
    array([  0.,   1.,  10., 100.])
    >>> machine.sons(machine.root)
    ((1, 0, 3), (1, 3, 6))
    """

    name = "tleaf"

    def __init__(self, arities: Sequence[int], costs: Sequence[float], labels: ArrayLike | None = None):
        several = [whole("arities", a, low=1) for a in arities]
        if len(costs) != len(several):
            raise MappingError(f"costs: needs one per level of the tree, {len(several)}, has {len(costs)}")
        cost = [fraction("costs", c) for c in costs]
        self.arities = tuple(a for a in several if a > 1)
        self.costs = tuple(c for a, c in zip(several, cost, strict=True) if a > 1)
        self.nprocs = checked_count(prod(self.arities))
        #: (depth + 1,) leaves below a node of each depth
        self.leaves = np.array([prod(self.arities[d:]) for d in range(len(self.arities) + 1)], np.int64)
        self._cost = np.array(self.costs, np.float64)
        self.labels = self._leaf_of = None
        if labels is not None:
            self.name = "ltleaf"
            self.labels = checked_permutation("labels", labels)
            if self.nprocs % len(self.labels):
                raise MappingError(f"labels: {len(self.labels)} of them do not divide the {self.nprocs} leaves")
            self._leaf_of = np.argsort(self.labels)

    @property
    def root(self) -> Domain:
        """The root alone."""
        return (0, 0, 1)

    def sons(self, domain: Domain) -> tuple[Domain, Domain]:
        """Half of the interval each; of one node, half of its sons each."""
        depth, first, end = domain
        if end - first == 1:
            first, end = first * self.arities[depth], end * self.arities[depth]
            depth += 1
        middle = (first + end + 1) // 2
        return (depth, first, middle), (depth, middle, end)

    def size(self, domain: Domain) -> int:
        """Number of leaves below the interval."""
        return (domain[2] - domain[1]) * int(self.leaves[domain[0]])

    def processor(self, domain: Domain) -> int:
        """The processor of a leaf."""
        return int(self._relabelled(self.labels, domain[1]))

    def terminal(self, processor: int) -> Domain:
        """The leaf of a processor."""
        leaf = int(self._relabelled(self._leaf_of, processor))
        return (len(self.arities), leaf, leaf + 1)

    def leaf(self, processors: ArrayLike) -> NDArray[np.int64]:
        """The leaves of processors, int64."""
        return np.asarray(self._relabelled(self._leaf_of, np.asarray(processors, np.int64)))

    @staticmethod
    def _relabelled(labels: NDArray[np.int64] | None, number: Any) -> Any:
        return number if labels is None else number - number % len(labels) + labels[number % len(labels)]

    def domain_distances(self, domain: Domain, domains: Domains) -> NDArray[np.float64]:
        """Cost of the lowest node above both."""
        depth, first, end = rows(domains).T
        below, own = self.leaves[depth], int(self.leaves[domain[0]])
        low = np.minimum(first * below, domain[1] * own)
        high = np.maximum(end * below, domain[2] * own) - 1
        return self._parting(low, high)

    def distances(self, p: ArrayLike, q: ArrayLike) -> NDArray[np.float64]:
        """Cost of the lowest node above both leaves."""
        return self._parting(*np.broadcast_arrays(self.leaf(p), self.leaf(q)))

    def _parting(self, u: NDArray[np.int64], v: NDArray[np.int64]) -> NDArray[np.float64]:
        out = np.zeros(u.shape)
        # from the leaves to the root: the highest level at which they differ stays
        for depth in range(len(self.arities), 0, -1):
            out = np.where(u // self.leaves[depth] != v // self.leaves[depth], self._cost[depth - 1], out)
        return out

    def sides(self, vertices: NDArray[np.int64]) -> NDArray[np.int64]:
        """The sons of a father pairwise, as a line of the grid is, then the fathers."""
        leaf = self.leaf(vertices)
        out, shift = np.zeros(len(leaf), np.int64), 0
        for depth in range(len(self.arities) - 1, -1, -1):
            arity = self.arities[depth]
            son = leaf // self.leaves[depth + 1] % arity
            out |= merged_in_turn(son[:, None], np.array([arity])) << shift
            shift = checked_stages(shift + stages(arity))
        return out

    def code(self) -> DistanceCode:
        """The distances as kernels take them."""
        return distance_code(TREE, dims=self.leaves, cost=self._cost,
                             vertex=() if self._leaf_of is None else self._leaf_of)

    def __repr__(self) -> str:
        arities = ":".join(map(str, reversed(self.arities)))
        return f"TreeLeaf({arities}, {':'.join(f'{c:g}' for c in reversed(self.costs))})"


def checked_permutation(name: str, values: ArrayLike) -> NDArray[np.int64]:
    """A permutation of 0..m-1 as read-only int64."""
    found = integers(name, values, np.int64, MappingError, low=0, high=max(np.size(values), 1))
    if not len(found) or len(np.unique(found)) < len(found):
        raise MappingError(f"{name}: needs every number of 0..{len(found) - 1} once")
    return frozen(found)
