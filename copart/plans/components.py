"""Components and their interedges, from whatever a caller has.

A component is a mesh (a file, ``FILE:ARRAY=VALUE`` or ``FILE:NAME`` for a
region or boundary of it, arrays, a mesh of another package, a `Mesh`; see
:mod:`copart.plans.sources`) or a graph (a graph file, a `Graph`, a scipy.sparse matrix,
a networkx graph, ``(xadj, adjncy)``).  A single file with several zones stands for all of them.
"""

from __future__ import annotations

import logging
import math
import os
from collections.abc import Mapping, Sequence
from dataclasses import replace
from itertools import combinations
from typing import TYPE_CHECKING, Any, NamedTuple, get_args

from ..coupling import CoupledProblem, Interedges
from ..errors import ConfigError, CouplingError, MeshError, NoInterfaceError
from ..metrics.columns import letter_of
from ..names import NAMELESS, InteredgeKind, known_name
from ..partitioner.rounds import Progress
from .folder import WRITTEN
from .opening import all_opened, all_zones
from .requests import Meeting
from .sources import Opened, others
from .weighing import ARRAY, CoupledWeights, weighed

if TYPE_CHECKING:
    from ..mesh import Mesh
    from ..mesh.interfaces.detection import Interface
    from ..mesh.transform import Transform

_log = logging.getLogger(__name__)

INTEREDGES: tuple[InteredgeKind, ...] = get_args(InteredgeKind)

Pair = tuple[str, str]


class Coupled(NamedTuple):
    """Components, ready to be partitioned."""

    problem: CoupledProblem
    meshes: dict[str, Mesh]
    """The components that came as meshes, by name."""
    interfaces: dict[Pair, Interface]
    """Where each pair meets; empty where the interedges were given."""
    remarks: tuple[str, ...] = ()
    """What else the files hold, what they lost when they were read, and which interedges were left out."""
    sources: Mapping[str, str] = {}
    """What each component was read from, where that was a file."""
    meeting: Meeting = Meeting()
    """How they meet, components by their names."""
    coupled_weights: str | None = None
    """Where the coupled weights are from, if they are not the weights of the cells (:mod:`.weighing`)."""
    unit: Mapping[str, float] = {}
    """Coupled weight of a usual coupled cell by component, where that is not 1."""

    @property
    def settings(self) -> dict[str, Any]:
        """What is kept of how they meet and of the coupled weights, as JSON types."""
        more = {} if self.coupled_weights is None else {"coupled_weights": self.coupled_weights}
        return {**self.meeting.to_dict(), **more}


def silent(step: str, done: int, total: int) -> None:
    """The progress of a caller who does not want to hear any."""


def coupled_problem(*sources: Any, interedges: InteredgeKind | Interedges | Mapping[Pair, Any] = "facet",
                    names: Sequence[str] | None = None, load: str | None = None, meeting: Meeting | None = None,
                    progress: Progress | None = None, coupled_weights: CoupledWeights | None = None,
                    threads: int = 1) -> Coupled:
    """The components with their interedges, and where they meet.

    Parameters are those of :func:`plan`.
    """
    if isinstance(interedges, str):
        known_name("interedges", interedges, INTEREDGES, ", or give an Interedges")
    if names is not None and (isinstance(names, str) or not all(name and isinstance(name, str) for name in names)
                              or len(set(names)) < len(names)
                              or (len(sources) > 1 and len(names) != len(sources))):
        raise ConfigError(f"names: needs {_some(max(len(sources), len(names)))} different names, got {tuple(names)}")
    _check_arrays(load, coupled_weights)
    meeting = meeting or Meeting()
    tell = progress or silent
    read: dict[str, Mesh] = {}
    chosen = all_zones(sources[0], read, tell) if len(sources) == 1 else list(sources)
    found, made = all_opened(chosen, read, tell, load, threads)
    there = [one for one in found if isinstance(one, Opened)]
    opened = [one if isinstance(one, Opened) else None for one in found]
    meshes = [one and one.mesh for one in opened]
    called = tuple(names) if names is not None else _names(opened)
    if len(called) != len(found):
        raise ConfigError(f"names: needs {_some(len(found))} different names, got {called}")
    meeting = meeting.named(called)
    interfaces: dict[Pair, Interface] = {}
    if isinstance(interedges, str):
        if any(mesh is None for mesh in meshes):
            raise CouplingError(f"interedges: {interedges!r} is found from two meshes; with graphs give an Interedges")
        tell("finding the interedges", 0, 0)
        pairs, interfaces = _search(dict(zip(called, meshes, strict=True)), interedges, meeting, tell,  # type: ignore[arg-type]
                                    threads)
    else:
        pairs = given_interedges(interedges, called)
    cut: list[str] = []
    most = meeting.max_interedges
    if most is not None:
        for (a, b), relation in pairs.items():
            pairs[a, b] = relation.capped(most)
            left = len(relation) - len(pairs[a, b])
            cut += [f"{left} of {len(relation)} interedges of {a} and {b} are left out: more than {most} "
                    f"per cell"] if left else []
    graphs = dict(zip(called, made, strict=True))
    known = {name: mesh for name, mesh in zip(called, meshes, strict=True) if mesh is not None}
    own = weighed(coupled_weights, graphs, pairs, known)
    problem = CoupledProblem(graphs, pairs, own.weights)
    _log.info("%r", problem)
    lost = [f"{name}: {remark}" for name, mesh in zip(called, meshes, strict=True) if mesh is not None
            for remark in mesh.remarks]
    return Coupled(problem, own.meshes, interfaces, (*dict.fromkeys(lost), *others(there), *cut),
                   {name: os.fspath(source) for name, source in zip(called, chosen, strict=True)
                    if isinstance(source, str | os.PathLike)}, meeting, own.setting, own.unit)


def _check_arrays(load: str | None, coupled_weights: CoupledWeights | None) -> None:
    """Refuse numbers in place of a name, and cell arrays whose names are those of what a plan writes beside them."""
    if load is not None and not isinstance(load, str):
        raise ConfigError(f"load: needs the name of a cell array, got {type(load).__name__}; numbers are given as "
                          f"cell_data of a mesh, or as vwgt of a graph")
    arrays = [("load", load), ("coupled_weights", coupled_weights if isinstance(coupled_weights, str) else None)]
    written = {*WRITTEN, ARRAY} if isinstance(coupled_weights, Mapping) else {*WRITTEN}
    for what, array in arrays:
        if array in written:
            raise ConfigError(f"{what}: the folder of a plan has a cell array {array!r} of its own, which would take "
                              f"the place of that of the mesh; give the array of the mesh another name")


# ---- interedges
def given_interedges(interedges: Any, names: Sequence[str]) -> dict[Pair, Interedges]:
    """Interedges by pair of names, from one relation of two components or a mapping."""
    def relation(given: Any) -> Interedges:
        return given if isinstance(given, Interedges) else Interedges.from_scipy(given)

    if isinstance(interedges, Mapping) and not hasattr(interedges, "tocoo"):
        found: dict[Pair, Interedges] = {}
        rank = {name: i for i, name in enumerate(names)}
        for pair, given in interedges.items():
            if not (isinstance(pair, tuple) and len(pair) == 2 and set(pair) <= set(names)):
                raise ConfigError(f"interedges: needs two of the names {', '.join(names)} as key, got {pair!r}")
            ordered = rank[pair[0]] <= rank[pair[1]]
            key = pair if ordered else (pair[1], pair[0])
            if key in found:
                raise ConfigError(f"interedges: the pair {key} is given twice")
            found[key] = relation(given) if ordered else relation(given).transposed
        return found
    if len(names) != 2:
        raise ConfigError(f"interedges: of {len(names)} components are given as a mapping from pairs of names")
    return {(names[0], names[1]): relation(interedges)}


def _search(meshes: Mapping[str, Mesh], kind: InteredgeKind, meeting: Meeting,
            tell: Progress, threads: int) -> tuple[dict[Pair, Interedges], dict[Pair, Interface]]:
    """The interedges of every two meshes that meet."""
    from ..mesh import find_interface
    from ..mesh.dual import called
    from ..mesh.transform import Transform

    names, where = list(meshes), meeting.transforms(list(meshes))
    # messages name what they advise to scale or to move as the options do
    meshes = {name: called(mesh, name) for name, mesh in meshes.items()}
    reach: dict[str, Any] = {"tolerance": meeting.tolerance, "gap": meeting.gap, "several": bool(meeting.several),
                             "threads": threads}
    placed = {name: where[name].apply(mesh) for name, mesh in meshes.items()}
    if len(names) == 2:
        a, b = names
        last = replace(where[b], period=_common_period(where, a, b))
        relation, interface = find_interface(placed[a], meshes[b], kind, transform=last, **reach)
        return {(a, b): relation}, {(a, b): _told_where(interface, last, where, a, b)}
    relations: dict[Pair, Interedges] = {}
    interfaces: dict[Pair, Interface] = {}
    nothing: dict[Pair, NoInterfaceError] = {}
    pairs = list(combinations(names, 2))
    for i, (a, b) in enumerate(pairs):
        tell(f"finding the interedges of {a} and {b}", i, len(pairs))
        try:
            last = Transform(period=_common_period(where, a, b))
            relation, interface = find_interface(placed[a], placed[b], kind, **reach, transform=last)
        except NoInterfaceError as error:
            nothing[a, b] = error
            continue
        except MeshError as error:
            raise type(error)(f"{a} and {b}: {error}") from None
        relations[a, b] = relation
        interfaces[a, b] = _told_where(interface, last, where, a, b)
    _connected(placed, relations, nothing)
    return relations, interfaces


def _told_where(interface: Interface, last: Transform, where: Mapping[str, Transform], a: str, b: str) -> Interface:
    """An interface with what was asked for of either component, in place of what was done to B."""
    found = interface.remarks[:len(interface.remarks) - len(last.remarks(b))]
    return replace(interface, remarks=(*where[a].remarks(a), *found, *where[b].remarks(b)))


def _common_period(where: Mapping[str, Transform], a: str, b: str) -> tuple[float, float, float] | None:
    """The period of two components: to repeat one of them by a vector is to repeat the other by its reverse."""
    found = {where[name].period for name in (a, b)} - {None}
    if len(found) > 1:
        raise ConfigError(f"periodic: {a} and {b} meet and have different periods; give one of them")
    return found.pop() if found else None


def _connected(meshes: Mapping[str, Mesh], found: Mapping[Pair, Interedges],
               nothing: Mapping[Pair, NoInterfaceError]) -> None:
    """Refuse components that do not meet the others; what is told is of the two that are nearest."""
    names = list(meshes)
    reached = {names[0]}
    while more := {name for pair in found for name in pair if set(pair) & reached} - reached:
        reached |= more
    apart = [name for name in names if name not in reached]
    if apart:
        nearest = min((pair for pair in nothing if (pair[0] in reached) != (pair[1] in reached)),
                      key=lambda pair: _distance(meshes[pair[0]], meshes[pair[1]]))
        raise NoInterfaceError(f"components: {', '.join(apart)} meet{'s' * (len(apart) == 1)} none of "
                               f"{', '.join(n for n in names if n in reached)}; {nothing[nearest]}")


def _distance(one: Mesh, other: Mesh) -> float:
    """How far apart the bounding boxes of two meshes are."""
    gaps = (max(0.0, one.bounds[0][k] - other.bounds[1][k], other.bounds[0][k] - one.bounds[1][k]) for k in range(3))
    return math.hypot(*gaps)


def only_interface(interfaces: Mapping[Pair, Interface]) -> Interface | None:
    """The interface where there is one; None where there is none or several."""
    return next(iter(interfaces.values())) if len(interfaces) == 1 else None


def interfaces_dict(problem: CoupledProblem, interfaces: Mapping[Pair, Interface]) -> dict[str, Any]:
    """Where components meet, as plain JSON types: ``interface`` of two, the list ``interfaces`` of more."""
    found = [interface.to_dict() for interface in interfaces.values()]
    return {"interface": found[0] if found else None} if len(problem.names) == 2 else {"interfaces": found}


def interfaces_of(summary: Mapping[str, Any]) -> dict[Pair, Interface]:
    """What :func:`interfaces_dict` made, from a ``metrics.json``; those that are whole."""
    from ..mesh.interfaces.detection import Interface

    listed = summary["interfaces"] if "interfaces" in summary else [summary.get("interface")]
    found = [Interface.from_dict(one) for one in listed if one is not None]
    return {(one.a.name, one.b.name): one for one in found if one is not None}


def _names(opened: Sequence[Opened | None]) -> tuple[str, ...]:
    """Names from the meshes where they have different ones, else a, b, c, ..."""
    letters = [letter_of(i) for i in range(len(opened))]
    paths = [one.path for one in opened if one is not None]
    found = [(_short(one) if one.path is not None and paths.count(one.path) > 1 else one.mesh.name)
             if one is not None and (one.mesh.name if one.path is not None else one.mesh.name not in ("", NAMELESS))
             else letter
             for one, letter in zip(opened, letters, strict=True)]
    found = [_readable(name) for name in found]
    told = [name if found.count(name) == 1 else f"{name}-{letter}" for name, letter in zip(found, letters, strict=True)]
    return tuple(told if len(set(told)) == len(told) else letters)


def _readable(name: str) -> str:
    """A name for pages and files of plans: bytes of names of files that are no UTF-8 are written as underscores."""
    strange = [c for c in name if "\udc80" <= c <= "\udcff"]
    if strange:
        try:
            os.fsencode(name).decode()  # a system that is told of ASCII alone has all others as such bytes
        except UnicodeDecodeError:
            return "".join("_" if c in strange else c for c in name)
    return name


def _short(one: Opened) -> str:
    """The name of a mesh that is one of several from a file: ``zone2``, without the name of the file."""
    value = one.mesh.name.removeprefix(f"{one.whole.name}-")
    if value == one.mesh.name or not one.regions:
        return one.mesh.name
    array = one.regions[0].partition("=")[0].rpartition(":")[2]
    return f"{array}{value}"


def _some(count: int) -> str:
    return "two" if count == 2 else str(count)


__all__ = ["INTEREDGES", "Coupled", "Progress", "coupled_problem", "given_interedges", "interfaces_dict",
           "interfaces_of", "only_interface", "silent"]
