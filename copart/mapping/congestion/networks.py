"""Networks with static routes: tori and meshes (dimension-ordered), fat trees (D-mod-k), dragonflies (minimal).

A network has **points**, to which hosts are attached, several to one point where routers serve several nodes, and
**links**.  One route leads from each point to each other one; messages are not split.  Hops are the links of a route:
two hosts of one router of a torus or dragonfly are no hop apart, two hosts below one switch of a fat tree, whose
points are the hosts themselves, are two.  (Static routing as in M. Deveci, Load-Balancing and Task Mapping for Exascale
Systems, Ohio State 2015; D-mod-k: E. Zahavi 2010; dragonflies: J. Kim et al. 2008.)
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Sequence
from itertools import accumulate
from math import prod
from operator import mul
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from ...arrays import frozen, whole
from ...errors import MappingError
from ...kernels.routes import DRAGONFLY, FAT_TREE, MESH, TORUS, RouteCode, count_hops, route
from ..architectures.architecture import BaseArchitecture
from ..architectures.regular import Grid, Matched, Torus
from ..architectures.subset import Subset
from ..architectures.tree import TreeLeaf

#: Vertices of an architecture up to which it is taken for a network.
MOST_POINTS = 2**24
#: Links that are counted one by one.
MOST_LINKS = 2**28


class Network(ABC):
    """What all networks can do; made by its subclasses.

    Attributes
    ----------
    name : str
    npoints, nlinks : int
        Points, and numbers of links; at the rim of a mesh some numbers belong to no link.
    longest : int
        Links on the longest route.
    directed : bool
        Whether the two directions of a cable are two links.
    """

    name: str
    npoints: int
    nlinks: int
    longest: int
    directed: bool
    code: RouteCode

    def _set(self, kind: int, dims: Sequence[int], bandwidth: NDArray[np.float64], *, ways: Sequence[int] = (),
             first: Sequence[int] = ()) -> None:
        bad = ~(np.isfinite(bandwidth) & (bandwidth > 0))
        if bad.any():
            raise MappingError(f"bandwidth: must be positive and finite, is {bandwidth[bad][0]:g} for a link of the "
                               f"{self.name}")
        def array(values: Sequence[int]) -> NDArray[np.int64]:
            return frozen(np.array(values, np.int64))

        self.code = RouteCode(kind, array(dims), array(ways), array(first), self.directed,
                              frozen(np.ascontiguousarray(bandwidth, np.float64)))

    def _bandwidths(self, given: ArrayLike, kinds: Sequence[str], count: Sequence[int]) -> NDArray[np.float64]:
        """Bandwidth of every link from one number, one per kind of link, or one per link."""
        if self.nlinks > MOST_LINKS:
            raise MappingError(f"{self.name}: {self.nlinks} links are more than {MOST_LINKS}, which are counted one by "
                               f"one")
        found = np.asarray(given, np.float64)
        if found.shape == (self.nlinks,):
            return found
        if found.ndim == 0:
            found = np.full(len(kinds), float(found))
        if found.shape != (len(kinds),):
            raise MappingError(f"bandwidth: needs one number, {len(kinds)} ({', '.join(kinds)}) or one for each of "
                               f"{self.nlinks} links, has shape {found.shape}")
        return self._spread(found, count)

    def _spread(self, per_kind: NDArray[np.float64], count: Sequence[int]) -> NDArray[np.float64]:
        return np.repeat(per_kind, count)

    @property
    def bandwidth(self) -> NDArray[np.float64]:
        """(nlinks,) float64 bandwidth of each link."""
        bandwidth: NDArray[np.float64] = self.code.bandwidth
        return bandwidth

    def hops(self, p: ArrayLike, q: ArrayLike) -> NDArray[np.float64]:
        """Links on the route from p to q, elementwise with broadcasting."""
        a, b = np.broadcast_arrays(np.asarray(p, np.int64), np.asarray(q, np.int64))
        out = np.empty(a.size)
        # copies: what is broadcast cannot be written, and kernels would be compiled once more for it
        count_hops(self.code, a.flatten(), b.flatten(), out, self.scratch())
        return out.reshape(a.shape)

    def route(self, p: int, q: int) -> NDArray[np.int64]:
        """Numbers of the links from point p to point q, in order."""
        for point in (p, q):
            if not 0 <= point < self.npoints:
                raise MappingError(f"point: {point} is none of the {self.npoints} of the {self.name}")
        links = self.scratch()
        return links[:route(self.code, int(p), int(q), links)]

    def scratch(self) -> NDArray[np.int64]:
        """Room for the longest route."""
        return np.empty(max(self.longest, 1), np.int64)

    @property
    @abstractmethod
    def architecture(self) -> Matched:
        """The points as an architecture, whose domains are halved by the rules of their kind."""

    @abstractmethod
    def link_name(self, link: int) -> str:
        """What a link joins, for people."""

    def __repr__(self) -> str:
        return f"{type(self).__name__}({self.npoints} points, {self.nlinks} links)"


class TorusNetwork(Network):
    """Routers in a torus; routes walk one dimension after the other, each the shorter way round, at a tie upwards.

    Parameters
    ----------
    dims : sequence of int
        Routers in each dimension; numbers run fastest along the first.
    bandwidth : float, (ndims,) or (nlinks,) array_like
        Of all links, of those of each dimension, or of each link.
    directed : bool
        True: link ``(point * ndims + axis) * 2 + down`` leaves a point up or down an axis.  False: both directions
        share link ``point * ndims + axis``, the cable upwards of the point.  In a dimension of 2 there are two cables.

    Examples
    --------
    >>> network = TorusNetwork([4, 4, 4])
    >>> float(network.hops(0, 1 + 4 + 16)), network.route(0, 3).tolist()
    (3.0, [1])
    """

    name = "torus"
    around = True

    def __init__(self, dims: Sequence[int], bandwidth: ArrayLike = 1.0, *, directed: bool = True):
        self._grid = (Torus if self.around else Grid)(dims)
        self.dims, self.npoints, self.directed = self._grid.dims, self._grid.nprocs, bool(directed)
        n = len(self.dims)
        self.nlinks = self.npoints * n * (2 if directed else 1)
        self.longest = sum(d // 2 if self.around else d - 1 for d in self.dims)
        self._set(TORUS if self.around else MESH, self.dims,
                  self._bandwidths(bandwidth, [f"dimension {i}" for i in range(n)], ()))

    def _spread(self, per_kind: NDArray[np.float64], count: Sequence[int]) -> NDArray[np.float64]:
        return np.tile(np.repeat(per_kind, 2 if self.directed else 1), self.npoints)

    @property
    def architecture(self) -> Matched:
        """The routers as a torus or grid."""
        return self._grid

    def link_name(self, link: int) -> str:
        """Router, dimension and direction."""
        at, down = divmod(link, 2) if self.directed else (link, 0)
        router, axis = divmod(at, len(self.dims))
        where = ",".join(map(str, self.coordinates(router).tolist()))
        return f"router ({where}) {'down' if down else 'up'} dimension {axis}"

    def coordinates(self, points: ArrayLike) -> NDArray[np.int64]:
        """(..., ndims) int64 coordinates of points."""
        return self._grid.coordinates(points)

    def point(self, coordinates: ArrayLike) -> NDArray[np.int64]:
        """(...,) int64 points at coordinates (..., ndims)."""
        at = np.asarray(coordinates, np.int64)
        found: NDArray[np.int64] = at @ np.concatenate([[1], np.cumprod(self.dims)[:-1]])
        return found


class MeshNetwork(TorusNetwork):
    """Routers in a mesh: a :class:`TorusNetwork` whose ends are not linked."""

    name = "mesh"
    around = False


class FatTree(Network):
    """Hosts below levels of switches, each of which may have several above it; routes lead up and down again.

    The way up is chosen by the host that a message goes to (D-mod-k): messages to one host come down one way, those to
    hosts side by side take ways side by side.

    Parameters
    ----------
    arities : sequence of int
        Switches or hosts below a switch at each level, **root first** as in
        :class:`~copart.mapping.architectures.tree.TreeLeaf`.
    uplinks : sequence of int, optional
        Switches above each one of them, root first: ``[1, ..., 1]`` is a plain tree, and is taken where not given; the
        last entry is how many leaf switches a host is attached to.
    bandwidth : float, (nlevels,) or (nlinks,) array_like
        Of all links, of those below each level of switches, root first, or of each link.
    directed : bool
        Whether up and down are two links of a cable.

    Examples
    --------
    >>> network = FatTree([2, 4], [2, 1])
    >>> [float(h) for h in network.hops(0, [0, 1, 4])]
    [0.0, 2.0, 4.0]
    """

    name = "fat tree"

    def __init__(self, arities: Sequence[int], uplinks: Sequence[int] | None = None, bandwidth: ArrayLike = 1.0, *,
                 directed: bool = True):
        self.arities = tuple(whole("arities", a, low=1) for a in arities)
        several = [1] * len(self.arities) if uplinks is None else [whole("uplinks", u, low=1) for u in uplinks]
        if not self.arities or len(several) != len(self.arities):
            raise MappingError(f"uplinks: needs one per level of the fat tree, {len(self.arities)} and at least 1, has "
                               f"{len(several)}")
        self.uplinks, self.directed, self.npoints = tuple(several), bool(directed), prod(self.arities)
        below = [1, *accumulate(reversed(self.arities), mul)]
        ways = [1, *accumulate(reversed(self.uplinks), mul)]
        cables = [self.npoints // b * w for b, w in zip(below[:-1], ways[1:], strict=True)]
        each = 2 if directed else 1
        self.nlinks, self.longest = each * sum(cables), 2 * len(self.arities)
        spread = self._bandwidths(bandwidth, [f"level {i}" for i in range(len(cables))],
                                  [each * c for c in reversed(cables)])
        self._set(FAT_TREE, below, spread, ways=ways, first=[0, *accumulate(cables)][:-1])

    def _spread(self, per_kind: NDArray[np.float64], count: Sequence[int]) -> NDArray[np.float64]:
        # links are numbered from the hosts up
        return np.repeat(per_kind[::-1], count[::-1])

    def link_name(self, link: int) -> str:
        """Level, number of the switch or host below, way and direction."""
        cable, down = divmod(link, 2) if self.directed else (link, 0)
        level = int(np.searchsorted(self.code.first, cable, "right")) - 1
        block, way = divmod(cable - int(self.code.first[level]), int(self.code.ways[level + 1]))
        below = f"switches {block} of level {level}" if level else f"host {block}"
        return f"{'down to' if down else 'up from'} {below}, way {way}"

    @property
    def architecture(self) -> Matched:
        """The hosts as leaves of a tree."""
        return TreeLeaf(self.arities, [2.0 * level for level in range(len(self.arities), 0, -1)])


class Dragonfly(Network):
    """Groups of routers, all linked in pairs, with one link between any two groups; routes are minimal.

    A route takes a local link to the router with the link to the other group, that link, and a local one: up to three.

    Parameters
    ----------
    groups : int
    routers : int
        Routers of a group.
    ports : int
        Links of a router to other groups; ``routers * ports`` is at least ``groups - 1``, what is more stays unused.
        The c-th of a group leads to the group that is c + 1 groups on.
    bandwidth : float, (2,) or (nlinks,) array_like
        Of all links, of local and of global ones, or of each link.
    directed : bool
        Whether the two directions of a cable are two links.

    Examples
    --------
    >>> network = Dragonfly(9, 4, 2)
    >>> float(network.hops(0, [1]).max()), float(network.hops(0, np.arange(36)).max())
    (1.0, 3.0)
    """

    name = "dragonfly"

    def __init__(self, groups: int, routers: int, ports: int, bandwidth: ArrayLike = 1.0, *, directed: bool = True):
        self.groups, self.routers = whole("groups", groups, low=1), whole("routers", routers, low=1)
        self.ports, self.directed = whole("ports", ports, low=1), bool(directed)
        if self.routers * self.ports < self.groups - 1:
            raise MappingError(f"ports: {self.routers} routers of {self.ports} ports reach {self.routers * self.ports} "
                               f"groups of a dragonfly, there are {self.groups - 1} others")
        self.npoints, self.longest = self.groups * self.routers, 3
        kinds = [self.npoints * self.routers, self.groups * (self.groups - 1)]
        self.nlinks = sum(kinds)
        self._set(DRAGONFLY, [self.routers, self.ports, self.groups],
                  self._bandwidths(bandwidth, ["local", "global"], kinds))

    def link_name(self, link: int) -> str:
        """The routers or groups that it joins."""
        nlocal = self.npoints * self.routers
        if link < nlocal:
            router, position = divmod(link, self.routers)
            return f"router {router} to {router - router % self.routers + position}"
        group, channel = divmod(link - nlocal, self.groups - 1)
        return f"group {group} to {(group + channel + 1) % self.groups}"

    @property
    def architecture(self) -> Matched:
        """Routers below groups; three steps between groups, which is the most there may be."""
        return TreeLeaf([self.groups, self.routers], [3.0, 1.0])


def network_of(architecture: Any, bandwidth: ArrayLike = 1.0, *, directed: bool = True) -> Network | None:
    """The network of the vertices of an architecture, where its kind has routes; None where it has none.

    Tori and grids have routers in that form; the leaves of a tree are taken for hosts of a plain tree of switches.  A
    subset has the network of the whole.  Beyond 16 million vertices there is none.

    Parameters
    ----------
    architecture : Architecture
    bandwidth : float or array_like of float
        Of every link, of each kind of links, or of each link.
    directed : bool
        Whether both directions of a link carry what they carry apart.
    """
    base: BaseArchitecture = architecture.base if isinstance(architecture, Subset) else architecture
    if base.nprocs > MOST_POINTS:
        return None
    if isinstance(base, Torus):
        return TorusNetwork(base.dims, bandwidth, directed=directed)
    if isinstance(base, Grid):
        return MeshNetwork(base.dims, bandwidth, directed=directed)
    if isinstance(base, TreeLeaf) and base.arities:
        return FatTree(base.arities, bandwidth=bandwidth, directed=directed)
    return None
