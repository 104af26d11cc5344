"""One door to all descriptions of machines: :func:`read_machine`."""

from __future__ import annotations

import os
from collections.abc import Sequence
from typing import Any

import numpy as np

from ..arrays import whole
from ..errors import ConfigError, FormatError, MappingError
from ..mapping.architectures.deco1 import decompose
from ..mapping.architectures.deco2 import MultilevelDecomposition
from ..mapping.machine import Inside, Machine, assemble, attached, find_hosts, machine
from ..names import SlotUnit
from .coordinates import is_coordinates, read_coordinates
from .hostfile import MOST, is_file, read_hosts
from .hwloc import UNITS, read_hwloc
from .scotch_target import READERS, read_target
from .slurm import is_topology, read_topology
from .text import PathLike, read_bytes

#: Suffixes of graph files that can stand for a machine.
GRAPHS = (".graph", ".metis", ".grf", ".mtx", ".mm")
#: Up to this many processors a graph is decomposed with all its distances, beyond it multilevel.
EXACT = 2048


def read_machine(source: PathLike | Sequence[str] | None = None, *, nodes: PathLike | Sequence[str] | None = None,
                 host: PathLike | None = None, slots: int | None = None, unit: SlotUnit = "core",
                 distance: str | Sequence[float] | None = None, hierarchy: str | Sequence[int] | None = None,
                 vertices: Sequence[int] | None = None, topology: str | None = None) -> Machine:
    """The machine that files and lists describe.

    Parameters
    ----------
    source : path-like, str or sequence of str, optional
        A topology in hwloc's XML (one host), Slurm's ``topology.conf`` or ``topology.yaml``, a hostfile or node list
        (also ``"n[001-004,7]"``), a list of coordinates in a torus, mesh, dragonfly or fat tree
        (:mod:`copart.formats.coordinates`), a SCOTCH target file ``.tgt``, or a graph of the network; told apart by
        suffix and content.
    nodes : path-like, str or sequence of str, optional
        The hosts that the job has, in the order of its processes; the rest of the machine is left out.
    host : path-like, optional
        hwloc's XML of one of the hosts, which are all alike.
    slots : int, optional
        Processes a host takes where nothing else says it (default 1, or all cores of `host`).
    unit : {"core", "pu"}
        What a slot of a host in hwloc's XML is: a core, or one of its hardware threads.
    distance : str or sequence of float, optional
        Distances of processors that part at each level of a tree, innermost first, as ``"1:10:100"``.
    hierarchy : str or sequence of int, optional
        Instead of `source`: number of sons at each level, innermost first, as ``"4:8:6"``.
    vertices : sequence of int, optional
        Of a graph or target file: the vertices that may take processes, in the order of their processor numbers.
    topology : str, optional
        Which of the topologies of a ``topology.yaml``.

    Raises
    ------
    FormatError, MappingError, ConfigError
        A description is ill-formed, two of them do not fit, or an argument does not apply.

    Examples
    --------
    >>> m = read_machine("n[1-2]", slots=4)
    >>> m.nprocs, m.hosts, m.slot(5)
    (8, ('n1', 'n2'), ('n2', 1))
    """
    if unit not in UNITS:
        raise ConfigError(f"unit: must be one of {', '.join(UNITS)}, is {unit!r}")
    count = None if slots is None else whole("slots", slots, low=1, high=MOST)
    if (source is None) == (hierarchy is None):
        raise ConfigError("machine: needs either a file or node list, or a hierarchy")
    thread = None if unit == UNITS[0] else unit
    if hierarchy is not None:
        _refuse("a hierarchy", host=host, slots=slots, unit=thread, vertices=vertices, topology=topology)
        found = machine(hierarchy, distance)
        return found if nodes is None else _named(found, nodes)
    assert source is not None
    kind = _kind(source)
    if vertices is not None and kind not in ("target", "graph"):
        raise ConfigError("vertices: apply to graphs and target files; give hosts as nodes")
    if distance is not None and kind in ("target", "graph", "coordinates"):
        raise ConfigError("distance: a target file, graph or list of coordinates tells its own distances")
    if kind in ("target", "graph"):
        _refuse("a target file or graph", host=host, slots=slots, unit=thread, topology=topology)
        bare = _architecture(source, kind, vertices)  # type: ignore[arg-type]
        return bare if nodes is None else _named(bare, nodes)
    if kind == "hwloc":
        _refuse("hwloc's XML, which is of one host", host=host, slots=slots, topology=topology)
        return _of_hosts(source, nodes, unit, distance)  # type: ignore[arg-type]
    if host is None:
        _refuse("hosts without hwloc's XML of one", unit=thread)
    inside = None if host is None else _one(host, unit)
    if kind == "slurm":
        network = read_topology(source, topology)  # type: ignore[arg-type]
        listed = None if nodes is None else dict(read_hosts(nodes))
        # slots of hosts that are listed are taken from the whole tree, which hosts of other sizes share
        full = _slots(network.hosts, _by_host(network.hosts, listed), inside, count, cut=listed is None)
        found = assemble(network.hosts, network.levels, network.path, full, distance)
        return found if listed is None else found.on(list(listed), list(_kept(listed, count, inside)))
    if kind == "coordinates":
        _refuse("a list of coordinates", topology=topology)
        return _placed(source, nodes, inside, count)  # type: ignore[arg-type]
    if nodes is not None:
        raise ConfigError("nodes: the machine is a node list already; give the other one only")
    _refuse("a node list", topology=topology)
    listed = dict(read_hosts(source))
    return assemble(list(listed), ["node"], np.arange(len(listed))[:, None],
                    _slots(list(listed), listed, inside, count, cut=True), distance)


def _refuse(what: str, **given: Any) -> None:
    """Refuse what has no effect on a description of this kind."""
    idle = [name for name, value in given.items() if value is not None]
    if idle:
        raise ConfigError(f"{', '.join(idle)}: {'has' if len(idle) == 1 else 'have'} no effect on {what}")


def _kind(source: PathLike | Sequence[str]) -> str:
    """What a description is: by its suffix, else by how it begins."""
    if not is_file(source):
        return "hosts"
    name = os.path.basename(os.fspath(source)).lower().removesuffix(".gz")  # type: ignore[arg-type]
    for suffix, kind in ((".csv", "coordinates"), (".xml", "hwloc"), (".yaml", "slurm"), (".yml", "slurm"),
                         (".tgt", "target"), *((suffix, "graph") for suffix in GRAPHS)):
        if name.endswith(suffix):
            return kind
    data = read_bytes(source)  # type: ignore[arg-type]
    if data.lstrip().startswith(b"<"):
        return "hwloc"
    if is_topology(data):
        return "slurm"
    if is_coordinates(data):
        return "coordinates"
    words = data[:64].split()
    return "target" if words and words[0].decode("latin-1") in READERS else "hosts"


def _architecture(path: PathLike, kind: str, vertices: Sequence[int] | None) -> Machine:
    """A bare architecture, without hosts."""
    from ..mapping.architectures.subset import subset

    if kind == "target":
        found = read_target(path)
        return Machine(found if vertices is None else subset(found, vertices))
    from . import read_graph

    graph = read_graph(path)
    try:
        if len(vertices) > EXACT if vertices is not None else graph.nvtxs > EXACT:
            return Machine(MultilevelDecomposition(graph, vertices))
        return Machine(decompose(graph, vertices))
    except MappingError as error:
        if str(error).startswith("vertices:"):
            raise  # the file is not to blame
        raise FormatError(path, str(error)) from None


def _placed(path: PathLike, nodes: PathLike | Sequence[str] | None, inside: Inside | None,
            count: int | None) -> Machine:
    """Nodes at coordinates, those of the job alone where it is told."""
    places = read_coordinates(path)
    said = {name: n for name, n in zip(places.hosts, places.slots, strict=True) if n is not None}
    listed = None if nodes is None else dict(read_hosts(nodes))
    full = _slots(places.hosts, {**_by_host(places.hosts, listed), **said}, inside, count, cut=True)
    found = attached(places.network, places.point, [len(tree.path) for tree in full], places.hosts)
    if inside is not None:
        found = Machine(found.architecture, found.hosts, found.host, unit=np.concatenate([tree.unit for tree in full]),
                        unit_name=inside.unit_name, network=found.network)
    return found if listed is None else found.on(list(listed), list(listed.values()))


def _named(bare: Machine, nodes: PathLike | Sequence[str]) -> Machine:
    """A machine whose hosts get the names of a list, in its order."""
    listed = read_hosts(nodes)
    names = [name for name, _ in listed]
    if bare.hosts and len(names) == len(bare.hosts) and all(n is None for _, n in listed):
        return Machine(bare.architecture, names, bare.host, levels=bare.levels, unit=bare.unit)
    count = np.array([n or 1 for _, n in listed])
    if count.sum() != bare.nprocs:
        raise MappingError(f"node list: offers {count.sum()} slots, the machine has {bare.nprocs} processors; it takes "
                           f"one slot per processor, in their order")
    return Machine(bare.architecture, names, np.repeat(np.arange(len(names)), count), levels=bare.levels)


def _of_hosts(path: PathLike, nodes: PathLike | Sequence[str] | None, unit: SlotUnit,
              distance: str | Sequence[float] | None) -> Machine:
    """The hosts of a topology file, or those of a list that are all like the one in it."""
    names, inside = read_hwloc(path, unit)
    if nodes is None:
        return assemble(names, ["node"], np.arange(len(names))[:, None], inside, distance)
    listed = dict(read_hosts(nodes))
    trees = _slots(list(listed), listed, _one(path, unit), None, cut=True)
    return assemble(list(listed), ["node"], np.arange(len(listed))[:, None], trees, distance)


def _one(path: PathLike, unit: SlotUnit) -> Inside:
    """The only host of a topology file."""
    names, inside = read_hwloc(path, unit)
    if len(inside) > 1:
        raise FormatError(path, f"holds {len(names)} machines, one that all hosts are like is needed")
    return inside[0]


def _slots(hosts: Sequence[str], listed: dict[str, int | None], inside: Inside | None, count: int | None, *,
           cut: bool = False) -> list[Inside]:
    """The slots of each host: as many as the list says, and where the topology of a host says.

    Raises
    ------
    MappingError
        `count` where every host has a number of its own, or more slots than the topology of a host has.
    """
    if count is not None and all(listed.get(name) for name in hosts):
        raise MappingError("slots: has no effect where every host says how many slots it has")
    if inside is None:
        return [Inside.plain(listed.get(name) or count or 1) for name in hosts]
    if not cut:
        return [inside] * len(hosts)
    out = []
    for name in hosts:
        most = listed.get(name) or count or len(inside.path)
        if most > len(inside.path):
            raise MappingError(f"host {name} is to take {most} processes but has {len(inside.path)} slots in the "
                               f"machine's description")
        out.append(Inside(inside.levels, inside.path[:most], inside.unit[:most], inside.unit_name))
    return out


def _by_host(hosts: Sequence[str], listed: dict[str, int | None] | None) -> dict[str, int | None]:
    """The slots of a list by the names that the machine has for its hosts."""
    numbers = list((listed or {}).values())
    found = find_hosts(hosts, list(listed or {}))
    return {hosts[i]: n for i, n in zip(found, numbers, strict=True) if i >= 0}


def _kept(listed: dict[str, int | None], count: int | None, inside: Inside | None) -> Sequence[int | None]:
    """How many slots of each listed host the job has, None for all."""
    return [n or (count if inside is not None else None) for n in listed.values()]
