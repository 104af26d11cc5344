"""`Sites`: a machine as placing by nodes sees it: where its hosts are, what they take, how far they are apart."""

from __future__ import annotations

from functools import cached_property

import numpy as np
from numpy.typing import NDArray

from ..arrays import VERTEX
from ..errors import MappingError
from .architectures.architecture import MATRIX_LIMIT, Architecture
from .architectures.regular import Matched
from .architectures.subset import Subset
from .architectures.tree import TreeLeaf
from .congestion.networks import FatTree, Network, network_of
from .machine import Machine


class Sites:
    """The hosts of a machine, or its processors where it names no hosts.

    Attributes
    ----------
    machine : Machine
    slots : (nsites,) int64
        Processes that each takes.
    processors : (nprocs,) int64
        All processors, site by site; ``first[s]`` is where those of site s begin.
    network : Network or None
        Routes between sites, where the machine has some.
    point : (nsites,) int64
        Point of the network of each site; empty where there is no network.
    """

    def __init__(self, machine: Machine | Architecture):
        self.machine = machine if isinstance(machine, Machine) else Machine(machine)  # type: ignore[arg-type]
        host = self.machine.host if self.machine.hosts else np.arange(self.machine.nprocs)
        self.slots = np.bincount(host, minlength=len(self.machine.hosts)).astype(np.int64)
        if not self.slots.all():
            raise MappingError(f"host {self.machine.hosts[int(np.argmin(self.slots))]} has no slots")
        self.processors = np.argsort(host, kind="stable")
        self.first = np.cumsum(self.slots) - self.slots
        self.network, self.point = _routes(self.machine, self.processors, self.first)

    @property
    def nsites(self) -> int:
        """Number of hosts."""
        return len(self.slots)

    @property
    def names(self) -> tuple[str, ...]:
        """Names of the hosts, or numbers of the processors."""
        return self.machine.hosts or tuple(map(str, range(self.nsites)))

    @cached_property
    def coordinates(self) -> NDArray[np.int64] | None:
        """(nsites, ndims) int64 coordinates where the network is a torus or mesh, else None."""
        found = getattr(self.network, "coordinates", None)
        return None if found is None else found(self.point)

    def distances(self, p: NDArray[np.int64], q: NDArray[np.int64]) -> NDArray[np.float64]:
        """Distances between sites, elementwise: hops where the machine was given a network, else the machine's own."""
        if self.machine.network is not None:
            return self.machine.network.hops(self.point[p], self.point[q])
        at = self.processors[self.first]
        return self.machine.architecture.distances(at[p], at[q])

    @cached_property
    def table(self) -> NDArray[np.float32]:
        """(nsites, nsites) float32 distances between all sites.

        Raises
        ------
        MappingError
            There are more than 4,096 sites.
        """
        n = self.nsites
        if n > MATRIX_LIMIT:
            raise MappingError(f"machine: placing by the task graph keeps the distances of all pairs of hosts, of up "
                               f"to {MATRIX_LIMIT}, there are {n}; use method geometric, or default")
        everyone = np.arange(n)
        out = np.empty((n, n), np.float32)
        for lo in range(0, n, 256):
            out[lo:lo + 256] = self.distances(everyone[lo:lo + 256, None], everyone[None, :])
        return out

    @cached_property
    def nearest(self) -> NDArray[np.int32]:
        """(nsites, nsites) int32 all sites in the order of their distance from each one, ties by number."""
        table = self.table
        narrow = table.astype(np.uint16)
        # whole numbers of 16 bits are sorted by radix, an order of magnitude faster
        keys = narrow if (narrow == table).all() else table
        out = np.empty(table.shape, VERTEX)
        for lo in range(0, len(table), 256):
            out[lo:lo + 256] = np.argsort(keys[lo:lo + 256], axis=1, kind="stable")
        return out

    def seated(self, site: NDArray[np.int64]) -> NDArray[np.int32]:
        """Processor of each task from its site: the slots of a site in the order of its tasks.

        Raises
        ------
        MappingError
            A site has more tasks than slots.
        """
        load = np.bincount(site, minlength=self.nsites)
        if (load > self.slots).any():
            s = int(np.argmax(load - self.slots))
            raise MappingError(f"host {self.names[s]} is to take {load[s]} processes but has {self.slots[s]} slots")
        order = np.argsort(site, kind="stable")
        position = np.arange(len(site)) - np.repeat(np.cumsum(load) - load, load)
        out = np.empty(len(site), VERTEX)
        out[order] = self.processors[self.first[site[order]] + position]
        return out

    def site_of(self, processor: NDArray[np.int64]) -> NDArray[np.int64]:
        """Site of each processor."""
        of = np.empty(len(self.processors), np.int64)
        of[self.processors] = np.repeat(np.arange(self.nsites), self.slots)
        return of[processor]


def _routes(machine: Machine, processors: NDArray[np.int64], first: NDArray[np.int64],
            ) -> tuple[Network | None, NDArray[np.int64]]:
    """Network, and point of each site."""
    bare = machine.architecture
    vertices = bare.vertices[processors] if isinstance(bare, Subset) else processors
    base = bare.base if isinstance(bare, Subset) else bare
    if machine.network is not None:
        return machine.network, vertices[first]
    found = network_of(base) if isinstance(base, Matched) else None
    if not isinstance(found, FatTree) or not isinstance(base, TreeLeaf):
        return found, vertices[first] if found else np.zeros(0, np.int64)
    # hosts are subtrees: switches only above the lowest level at which each host is in one piece
    leaf = base.leaf(vertices)
    depth = len(base.arities)
    while depth and _torn(leaf // base.leaves[depth], first):
        depth -= 1
    if not depth:
        return None, np.zeros(0, np.int64)
    return FatTree(base.arities[:depth]), leaf[first] // base.leaves[depth]


def _torn(block: NDArray[np.int64], first: NDArray[np.int64]) -> bool:
    """Whether the slots of some host are in several blocks."""
    return bool((np.minimum.reduceat(block, first) != np.maximum.reduceat(block, first)).any())
