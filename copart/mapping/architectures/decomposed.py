"""Architectures whose domains come from a bipartition tree: subsets of others, and any weighted graph.

A bipartition tree of n processors is kept as the **order** of its leaves and, between any two neighbours in that
order, the **level** at which they are merged: the lower, the nearer.  A domain is an interval ``(low, high)`` of the
order, and is cut where its level is highest.  That is the tree of matchings with the vertices left out that take no
process, and with nodes of one son merged with it.  (Pellegrini & Lachat 2017, Inria RR-9135.)
"""

from __future__ import annotations

from copy import copy

import numpy as np
from numpy.typing import NDArray

from ...arrays import WEIGHT, frozen
from .architecture import BaseArchitecture, Domain


class Decomposed(BaseArchitecture):
    """An architecture with a bipartition tree.

    Parameters
    ----------
    order : (nprocs,) int64
        The processors in the order of the leaves.
    level : (nprocs + 1,) int64
        ``level[i]`` is where the leaves i - 1 and i are merged; in every interval between two domains the highest is
        unique.  The first and the last entry are not used.
    power : (nprocs,) int64
        Compute power of the processors.
    """

    def __init__(self, order: NDArray[np.int64], level: NDArray[np.int64], power: NDArray[np.int64]):
        self.nprocs = len(order)
        self.order, self.level = frozen(order), frozen(level)
        rank = np.empty(self.nprocs, np.int64)
        rank[order] = np.arange(self.nprocs)
        self.rank = frozen(rank)
        self._power = frozen(power)
        self._before = np.concatenate([[0], np.cumsum(power[order])])

    @property
    def weights(self) -> NDArray[np.int64]:  # type: ignore[override]
        """(nprocs,) int64 compute power of each processor."""
        return self._power

    def power(self, processors: NDArray[np.int64]) -> NDArray[np.int64]:
        """Compute power of some processors."""
        return self._power[processors]

    def of_equal_power(self) -> BaseArchitecture:
        """The same with processors of equal power."""
        made = copy(self)
        made._power = frozen(np.ones(self.nprocs, WEIGHT))
        made._before = np.arange(self.nprocs + 1)
        return made

    @property
    def root(self) -> Domain:
        """The whole order."""
        return (0, self.nprocs)

    def sons(self, domain: Domain) -> tuple[Domain, Domain]:
        """The interval cut where its two parts were merged last."""
        low, high = domain
        cut = low + 1 + int(np.argmax(self.level[low + 1:high]))
        return (low, cut), (cut, high)

    def size(self, domain: Domain) -> int:
        """Length of the interval."""
        return domain[1] - domain[0]

    def weight(self, domain: Domain) -> int:
        """Compute power of the interval."""
        return int(self._before[domain[1]] - self._before[domain[0]])

    def processor(self, domain: Domain) -> int:
        """The processor of an interval of length 1."""
        return int(self.order[domain[0]])

    def terminal(self, processor: int) -> Domain:
        """The interval of one processor."""
        at = int(self.rank[processor])
        return (at, at + 1)

    def leaf_depths(self) -> NDArray[np.int64]:
        """(nprocs,) int64 depth in the tree of each leaf of the order; the root is at depth 0."""
        depth = np.zeros(self.nprocs, np.int64)
        todo = [(self.root, 0)] if self.nprocs > 1 else []
        while todo:
            domain, at = todo.pop()
            for son in self.sons(domain):
                depth[son[0]:son[1]] = at + 1
                if self.size(son) > 1:
                    todo.append((son, at + 1))
        return depth
