"""`Machine`: an architecture whose processors are slots of named hosts, as launchers know them."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import pairwise

import numpy as np
from numpy.typing import ArrayLike, NDArray

from ..arrays import VERTEX, fraction, frozen, integers, whole
from ..errors import ConfigError, MappingError
from .architectures.architecture import BaseArchitecture
from .architectures.subset import seats, subset
from .architectures.tree import TreeLeaf
from .congestion.networks import Network

#: Processors of a machine with hosts: their numbers are kept in 32 bits.
MOST = 2**31 - 1
#: How much farther a processor of another host is than one of the same, where nobody says.
NETWORK = 10


@dataclass(frozen=True, eq=False, repr=False)
class Machine:
    """A machine: processors, each a slot of a host that takes one process.

    Parameters
    ----------
    architecture : BaseArchitecture
        Distances and domains of the processors.
    hosts : sequence of str
        Names of the hosts; empty where the machine is a bare architecture.
    host : (nprocs,) array_like of int
        Host of each processor.
    levels : sequence of str
        What the sons are at each level of a tree, root first: ``("switch", "node", "package", "core")``.
    unit : (nprocs,) array_like of int, optional
        Number of the core or hardware thread by the operating system, -1 where not known.
    unit_name : str
        What `unit` counts: ``core`` or ``pu``.
    network : Network, optional
        Static routes between the vertices of the architecture (of the whole, if it is a subset), with bandwidths.
    """

    architecture: BaseArchitecture
    hosts: tuple[str, ...]
    host: NDArray[np.int32]
    levels: tuple[str, ...]
    unit: NDArray[np.int32]
    unit_name: str
    network: Network | None

    def __init__(self, architecture: BaseArchitecture, hosts: Sequence[str] = (), host: ArrayLike | None = None, *,
                 levels: Sequence[str] = (), unit: ArrayLike | None = None, unit_name: str = "core",
                 network: Network | None = None):
        n = architecture.nprocs
        where = np.zeros(n if hosts else 0, VERTEX) if host is None else np.array(host, VERTEX)
        if len(where) != (n if hosts else 0) or (len(where) and not 0 <= where.min() <= where.max() < len(hosts)):
            raise MappingError(f"host: needs one of the {len(hosts)} hosts for each of {n} processors")
        if len(set(hosts)) < len(hosts):
            ranked = sorted(hosts)
            twice = next(a for a, b in pairwise(ranked) if a == b)
            raise MappingError(f"hosts: {twice} is named more than once")
        number = np.full(len(where), -1, VERTEX) if unit is None else np.array(unit, VERTEX)
        for name, value in (("architecture", architecture), ("hosts", tuple(hosts)), ("host", frozen(where)),
                            ("levels", tuple(levels)), ("unit", frozen(number)), ("unit_name", unit_name),
                            ("network", network)):
            object.__setattr__(self, name, value)

    @property
    def nprocs(self) -> int:
        """Number of processors, which is the number of slots."""
        return self.architecture.nprocs

    @property
    def slots(self) -> NDArray[np.int64]:
        """(nhosts,) int64 how many processes each host takes."""
        return np.bincount(self.host, minlength=len(self.hosts))

    @property
    def local(self) -> NDArray[np.int32]:
        """(nprocs,) int32 number of each processor among those of its host, in their order."""
        order = np.argsort(self.host, kind="stable")
        first = np.cumsum(self.slots) - self.slots
        out = np.empty(len(self.host), VERTEX)
        out[order] = np.arange(len(self.host)) - np.repeat(first, self.slots)
        return out

    def slot(self, processor: int) -> tuple[str, int]:
        """Host name and number among its slots of a processor."""
        if not self.hosts:
            raise MappingError("this machine has no named hosts; give a node list with it (nodes=)")
        return self.hosts[self.host[processor]], int(self.local[processor])

    def on(self, names: Sequence[str], slots: Sequence[int | None] | None = None) -> Machine:
        """The machine restricted to some hosts; processors are renumbered in the order of the list.

        Parameters
        ----------
        names : sequence of str
            Each host once, by its name or the part of it before the first dot.
        slots : sequence of int, optional
            How many processors of each host to keep, from the first; all where None.

        Raises
        ------
        MappingError
            The machine does not know a host, or a host has fewer slots than asked for.
        """
        found = find_hosts(self.hosts, names)
        unknown = [name for name, i in zip(names, found, strict=True) if i < 0]
        if unknown:
            raise MappingError(f"{len(unknown)} of {len(names)} hosts of the node list are not part of the machine, "
                               f"first {unknown[0]!r}; it has {_some(self.hosts)}")
        order = np.argsort(self.host, kind="stable")
        first = np.concatenate([[0], np.cumsum(self.slots)])
        kept = []
        for name, i, most in zip(names, found, slots or [None] * len(names), strict=True):
            mine = order[first[i]:first[i + 1]]
            if most is not None and most > len(mine):
                raise MappingError(f"host {name} is to take {most} processes but has {len(mine)} slots in the "
                                   f"machine's description")
            kept.append(mine[:most])
        chosen = np.concatenate(kept) if kept else np.zeros(0, np.int64)
        host = np.repeat(np.arange(len(names)), [len(k) for k in kept])
        return Machine(subset(self.architecture, chosen), names, host, levels=self.levels, unit=self.unit[chosen],
                       unit_name=self.unit_name, network=self.network)

    def __repr__(self) -> str:
        return f"Machine({self.architecture!r}, {len(self.hosts)} hosts)"


def find_hosts(hosts: Sequence[str], names: Sequence[str]) -> list[int]:
    """Which of the `hosts` each name means, by itself or by its part before the first dot; -1 where none or several.

    Examples
    --------
    >>> find_hosts(["n1", "n2.org", "n3.a", "n3.b"], ["n1.org", "n2", "n3", "n3.b", "n4"])
    [0, 1, -1, 3, -1]
    """
    number = {name: i for i, name in enumerate(hosts)}
    short: dict[str, list[int]] = {}
    for name, i in number.items():
        short.setdefault(name.split(".")[0], []).append(i)
    found = []
    for name in names:
        alike = short.get(name.split(".")[0], [])
        found.append(number.get(name, alike[0] if len(alike) == 1 else -1))
    return found


def _some(names: Sequence[str], most: int = 4) -> str:
    return ", ".join(names[:most]) + (f" and {len(names) - most} more" if len(names) > most else "")


@dataclass(frozen=True)
class Inside:
    """The slots of one host as leaves of a tree.

    Parameters
    ----------
    levels : tuple of str
        What the sons are at each level, outermost first.
    path : (nslots, nlevels) int64
        Which son of its father each slot is below, level by level.
    unit : (nslots,) int64
        Number of each slot by the operating system, -1 where not known.
    unit_name : str
        ``core`` or ``pu``.
    """

    levels: tuple[str, ...]
    path: NDArray[np.int64]
    unit: NDArray[np.int64]
    unit_name: str = "core"

    @staticmethod
    def plain(nslots: int) -> Inside:
        """So many slots side by side."""
        return Inside(("slot",), np.arange(nslots)[:, None], np.full(nslots, -1))


def assemble(hosts: Sequence[str], levels: Sequence[str], path: NDArray[np.int64], inside: Sequence[Inside],
             distance: str | Sequence[float] | None = None) -> Machine:
    """A machine of hosts in a tree of switches, and of slots in a tree inside each host.

    Parameters
    ----------
    hosts : sequence of str
    levels : sequence of str
        What the sons are at each level of the network, root first; the last one is the hosts themselves.
    path : (nhosts, nlevels) int64
        Which son of its father each host is below, level by level.
    inside : sequence of Inside
        The slots of each host, all of the same levels.
    distance : str or sequence of float, optional
        Distances of processors that part at each level with more than one son somewhere, **innermost first**, as
        ``"1:10:100"``.  Where not given: 1, 2, 3, ... inside a host, 10, 20, 30, ... between hosts.

    Returns
    -------
    Machine
        Processors numbered host by host.
    """
    if not hosts:
        raise MappingError("a machine needs at least one host")
    count = np.array([len(tree.path) for tree in inside])
    if not count.all():
        raise MappingError(f"host {hosts[int(np.argmin(count))]} has no slots")
    leaves = np.hstack([np.repeat(path, count, axis=0), np.vstack([tree.path for tree in inside])])
    names, nouter = [*levels, *inside[0].levels], len(levels)
    arity = leaves.max(0) + 1
    kept = [d for d in range(len(names)) if arity[d] > 1]
    # a level of one son everywhere is left out; of the names that then mean the same, the best known is taken
    shown = [_best_known(names[d:end]) for d, end in zip(kept, [*kept, len(names)][1:], strict=True)]
    costs = _costs(shown, sum(d < nouter for d in kept), distance)
    tree = TreeLeaf([int(arity[d]) for d in kept], costs)
    leaf = leaves[:, kept] @ tree.leaves[1:]
    regular = len(leaf) == tree.nprocs and bool((leaf == np.arange(len(leaf))).all())
    return Machine(tree if regular else subset(tree, leaf), hosts, np.repeat(np.arange(len(hosts)), count),
                   levels=shown, unit=np.concatenate([tree.unit for tree in inside]),
                   unit_name=inside[0].unit_name)


def _best_known(names: Sequence[str]) -> str:
    return next((name for name in ("node", "package", "NUMA node", "core") if name in names), names[0])


def _costs(names: Sequence[str], nouter: int, distance: str | Sequence[float] | None) -> list[float]:
    """Distances of a tree's levels, root first."""
    if distance is None:
        ninner = len(names) - nouter
        return [*(NETWORK * float(d) for d in range(nouter, 0, -1)), *(float(d) for d in range(ninner, 0, -1))]
    found = numbers("distance", distance)[::-1]
    if len(found) != len(names):
        shown = ":".join(reversed(names)) or "none"
        raise ConfigError(f"distance: needs one number per level, innermost first, here {len(names)} ({shown}), "
                          f"has {len(found)}")
    return found


def numbers(name: str, text: str | Sequence[float]) -> list[float]:
    """Numbers separated by colons, or a sequence of them; ConfigError where one is none."""
    return [fraction(name, word) for word in (text.split(":") if isinstance(text, str) else text)]


def attached(network: Network, point: ArrayLike, slots: int | ArrayLike = 1, hosts: Sequence[str] | None = None,
             ) -> Machine:
    """Hosts at points of a network: any allocation, however scattered.

    Parameters
    ----------
    network : Network
        Tells distances (in hops) and routes.
    point : (nhosts,) array_like of int
        Where each host is, in the order of the scheduler; several hosts may share a point.
    slots : int or (nhosts,) array_like of int
        Processes that each host takes.
    hosts : sequence of str, optional
        Their names; ``node0``, ``node1``, ... where not given.

    Returns
    -------
    Machine
        Processors numbered host by host.

    Raises
    ------
    MappingError
        A point is not there, a host has no slots, or arrays differ in length.

    Examples
    --------
    >>> from copart.mapping.congestion import TorusNetwork
    >>> m = attached(TorusNetwork([8, 8]), [3, 3, 60], 2)
    >>> m.nprocs, m.architecture.distances(0, [1, 2, 4]).tolist()
    (6, [0.0, 0.0, 2.0])
    """
    at = integers("point", point, np.int64, MappingError, low=0, high=network.npoints)
    count = integers("slots", np.full(len(at), slots) if np.ndim(slots) == 0 else slots, np.int64, MappingError, low=1,
                     size=len(at))
    names = [f"node{i}" for i in range(len(at))] if hosts is None else list(hosts)
    if len(names) != len(at):
        raise MappingError(f"hosts: needs {len(at)} names, one per point, has {len(names)}")
    return Machine(seats(network.architecture, np.repeat(at, count)), names, np.repeat(np.arange(len(at)), count),
                   network=network)


def machine(hierarchy: str | Sequence[int], distance: str | Sequence[float] | None = None, *,
            hosts: Sequence[str] | None = None) -> Machine:
    """A regular machine by the number of sons at each level, **innermost first**, as ``"4:8:6"``.

    Parameters
    ----------
    hierarchy : str or sequence of int
        ``"4:8:6"``: 6 hosts of 8 packages of 4 cores.  The outermost level is the hosts, unless it is the only one.
    distance : str or sequence of float, optional
        Distances of processors that part at each level, innermost first, as ``"1:10:100"``.
    hosts : sequence of str, optional
        Their names, also those of hosts further inside (a divisor of the number of processors);
        ``node0``, ``node1``, ... where not given.

    Raises
    ------
    ConfigError, MappingError
        Numbers are missing, out of range or do not fit one another.

    Examples
    --------
    >>> m = machine("4:8:6", "1:10:100")
    >>> m.nprocs, len(m.hosts), m.slot(33)
    (192, 6, ('node1', 1))
    >>> m.architecture.distances(0, [1, 4, 32])
    array([  1.,  10., 100.])
    """
    words = hierarchy.split(":") if isinstance(hierarchy, str) else list(hierarchy)
    try:
        arities = [whole("hierarchy", int(word), low=1) for word in words]
    except ValueError as error:
        if isinstance(error, ConfigError):
            raise
        raise ConfigError(f"hierarchy: needs whole numbers separated by colons, got {hierarchy!r}") from None
    if distance is not None and len(found := numbers("distance", distance)) != len(arities):
        raise ConfigError(f"distance: needs one number per level of the hierarchy, {len(arities)}, has {len(found)}")
    nouter = 1 if len(arities) > 1 else 0
    costs = _costs([str(a) for a in arities], nouter, distance)
    tree = TreeLeaf(arities[::-1], costs)
    if tree.nprocs > MOST:
        raise MappingError(f"hierarchy: {tree.nprocs} processors are more than the {MOST} that are numbered")
    count = len(hosts) if hosts is not None else arities[-1] if nouter else 1
    if tree.nprocs % count:
        raise MappingError(f"hosts: {count} of them do not divide the {tree.nprocs} processors")
    names = hosts if hosts is not None else [f"node{i}" for i in range(count)]
    kept = [f"level {d}" for d in range(len(arities), 0, -1) if arities[d - 1] > 1]
    return Machine(tree, names, np.arange(tree.nprocs) // (tree.nprocs // count), levels=kept)
