"""`Sites`: a machine as placing by nodes sees it: where its hosts are, what they take, how far they are apart."""

from __future__ import annotations

from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ..arrays import VERTEX, writable
from ..errors import MappingError
from ..kernels.distances import GRID, HYPERCUBE, TORUS, TREE, DistanceCode
from ..kernels.sites import Places, sum_distances, tabulate_distances
from .architectures.architecture import MATRIX_LIMIT, Architecture, table_code
from .architectures.regular import Matched
from .architectures.subset import Subset
from .architectures.tree import TreeLeaf
from .congestion.networks import Dragonfly, FatTree, Network, network_of
from .machine import Machine

#: Sites of which each one keeps a list, nearest first.
NEAR = 64


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
        self._near: dict[int, tuple[NDArray[np.int32], NDArray[np.float64], NDArray[np.int64]]] = {}

    @property
    def nsites(self) -> int:
        """Number of hosts."""
        return len(self.slots)

    @property
    def names(self) -> tuple[str, ...]:
        """Names of the hosts, or numbers of the processors."""
        return self.machine.hosts or tuple(map(str, range(self.nsites)))

    @property
    def no_routes(self) -> str:
        """Why there is no network, for messages."""
        return f"{self.machine.architecture!r} has no static routes" if self.nsites > 1 else "one host has no links"

    @cached_property
    def coordinates(self) -> NDArray[np.int64] | None:
        """(nsites, ndims) int64 coordinates where the network is a torus or mesh, else None."""
        found = getattr(self.network, "coordinates", None)
        return None if found is None else found(self.point)

    def distances(self, p: NDArray[Any], q: NDArray[Any]) -> NDArray[np.float64]:
        """Distances between sites, elementwise: hops where the machine was given a network, else the machine's own."""
        if self.machine.network is not None:
            return self.machine.network.hops(self.point[p], self.point[q])
        at = self.processors[self.first]
        return self.machine.architecture.distances(at[p], at[q])

    def places(self, width: int = NEAR) -> Places:
        """The sites as kernels see them, which list the nearest `width` of a site when they first ask for them.

        Raises
        ------
        MappingError
            There is no formula for the distances, and more than 4,096 sites.
        """
        n = self.nsites
        if width not in self._near:
            most = min(width, n)
            self._near[width] = np.empty((n, most), VERTEX), np.empty((n, most)), np.zeros(n, np.int64)
        point = self.point if self.network is not None else np.zeros(n, np.int64)
        return Places(*self._layout, writable(self.slots), np.ascontiguousarray(point, np.int64), *self._near[width])

    @cached_property
    def _layout(self) -> tuple[NDArray[np.int64], NDArray[np.int64], NDArray[np.float64], NDArray[np.float32]]:
        """The first fields of :class:`Places`: a formula for the distances, or a table of them."""
        n, network, bare = self.nsites, self.machine.network, self.machine.architecture
        none, free, apart = np.zeros(0, np.int64), np.zeros(0), np.zeros((0, 0), np.float32)
        code, vertex = bare.code(), self.processors[self.first]
        if turn := len(code.vertex):
            vertex = vertex - vertex % turn + code.vertex[vertex % turn]
        if network is not None:
            code, vertex = network.architecture.code(), self.point
        if isinstance(network, Dragonfly) or code.kind not in (GRID, TORUS, HYPERCUBE, TREE):
            if n > MATRIX_LIMIT:
                raise MappingError(f"machine: placing by the task graph keeps the distances of all pairs of hosts of "
                                   f"{network or bare!r}, of up to {MATRIX_LIMIT}, there are {n}; use method default")
            everyone = np.arange(n)
            apart = self.distances(everyone[:, None], everyone).astype(np.float32)
            return np.zeros((n, 0), np.int64), none, free, apart
        if code.kind == TREE and not len(code.cost):  # all at one point
            return np.zeros((n, 1), np.int64), none, np.zeros(1), apart
        if code.kind == TREE:
            return vertex[:, None] // code.dims[1:], none, writable(code.cost), apart
        dims = np.array([2] * max(int(vertex.max()).bit_length(), 1) if code.kind == HYPERCUBE else code.dims, np.int64)
        at = vertex[:, None] // (np.cumprod(dims) // dims) % dims
        # twice as long, no way round a mesh is the shorter one
        return at, dims * (2 if code.kind == GRID else 1), free, apart

    def remoteness(self) -> NDArray[np.float64]:
        """(nsites,) float64 sum of the distances of each site to all others."""
        places, total = self.places(), np.zeros(self.nsites)
        if not len(places.dims):
            sum_distances(places, total)
        for at, size in zip(places.at.T, places.dims, strict=False):
            count = np.bincount(at)
            apart = np.abs(np.subtract.outer(np.arange(len(count)), np.arange(len(count))))
            total += (np.minimum(apart, size - apart) @ count)[at]
        return total

    def diameter(self) -> float:
        """No two sites are farther apart."""
        _, dims, cost, table = self._layout
        return float((dims // 2).sum() + cost.max(initial=0) + table.max(initial=0))

    def code(self) -> DistanceCode:
        """The distances as kernels that exchange pairs take them, a table.

        Raises
        ------
        MappingError
            There are more than 4,096 sites.
        """
        n = self.nsites
        if n > MATRIX_LIMIT:
            raise MappingError(f"machine: exchanging pairs keeps the distances of all pairs of hosts, of up to "
                               f"{MATRIX_LIMIT}, there are {n}; use method uwh")
        table = np.empty((n, n))
        tabulate_distances(self.places(), table)
        return table_code(table)

    def seated(self, site: NDArray[np.int64], each: int = 1) -> NDArray[np.int32]:
        """Processor of each task from its site: the slots of a site in the order of its tasks.

        Parameters
        ----------
        site : (ntasks,) int64
        each : int
            Tasks that a slot may take, whose numbers follow one another; no more than the site's tasks need.

        Raises
        ------
        MappingError
            A site has more tasks than slots.
        """
        load = np.bincount(site, minlength=self.nsites)
        if (load > each * self.slots).any():
            s = int(np.argmax(load - each * self.slots))
            raise MappingError(f"host {self.names[s]} is to take {load[s]} processes but has {self.slots[s]} slots")
        order = np.argsort(site, kind="stable")
        position = np.arange(len(site)) - np.repeat(np.cumsum(load) - load, load)
        out = np.empty(len(site), VERTEX)
        slots = self.slots[site[order]]
        turn = position * slots // np.maximum(load[site[order]], slots)
        out[order] = self.processors[self.first[site[order]] + turn]
        return out

    def site_of(self, processor: NDArray[Any]) -> NDArray[np.int64]:
        """Site of each processor."""
        of = np.empty(len(self.processors), np.int64)
        of[self.processors] = np.repeat(np.arange(self.nsites), self.slots)
        site: NDArray[np.int64] = of[processor]
        return site


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
