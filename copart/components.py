"""Two components and their interedges, from whatever a caller has.

A component is a mesh (a file, ``FILE:ARRAY=VALUE`` or ``FILE:NAME`` for a
region or boundary of it, arrays, a mesh of another package, a `Mesh`; see
:mod:`copart.sources`) or a graph (a graph file, a `Graph`, a scipy.sparse matrix,
a networkx graph, ``(xadj, adjncy)``).
"""

from __future__ import annotations

import logging
import os
from collections.abc import Callable, Mapping, Sequence
from typing import TYPE_CHECKING, Any, NamedTuple

from .arrays import fraction
from .coupling import CoupledProblem, Interedges
from .errors import ConfigError, CouplingError
from .graph import Graph, as_graph
from .sources import Opened, looks_like_arrays, open_mesh, open_source, others, split_region

if TYPE_CHECKING:
    from .mesh import Mesh
    from .mesh.detection import Interface

_log = logging.getLogger(__name__)

Progress = Callable[[str, int, int], None]
"""Called as ``progress(step, done, total)`` when a step begins; total is 0 where it is unknown."""

INTEREDGES = ("facet", "touch", "overlap")


class Coupled(NamedTuple):
    """Two components, ready to be partitioned."""

    problem: CoupledProblem
    meshes: dict[str, Mesh]
    """The components that came as meshes, by name."""
    interface: Interface | None
    """Where they meet, None where the interedges were given."""
    remarks: tuple[str, ...] = ()
    """What else the files hold, and what they lost when they were read."""


def silent(step: str, done: int, total: int) -> None:
    """The progress of a caller who does not want to hear any."""


def coupled_problem(source_a: Any, source_b: Any, *, interedges: str | Interedges = "facet",
                    names: Sequence[str] | None = None, weights: str | None = None, tolerance: float | None = None,
                    gap: float | None = None, scale_b: float = 1.0, shift_b: Sequence[float] | None = None,
                    periodic_b: Sequence[float] | None = None, several: bool = False,
                    progress: Progress | None = None) -> Coupled:
    """The two components with their interedges, and where they meet.

    Parameters are those of :func:`plan`.
    """
    kind = interedges
    if isinstance(kind, str) and kind not in INTEREDGES:
        raise ConfigError(f"interedges: {kind!r} is not known; choose one of {', '.join(INTEREDGES)}, "
                          f"or give an Interedges")
    if names is not None and (len(names) != 2 or names[0] == names[1] or not all(names)):
        raise ConfigError(f"names: needs two different names, got {tuple(names)}")
    for label, value in (("tolerance", tolerance), ("gap", gap)):
        if value is not None:
            fraction(label, value)
    if tolerance is not None and gap is not None:
        raise ConfigError("tolerance, gap: give one of the two, not both")
    from .mesh.transform import Placement

    placement = Placement(scale_b, shift_b or (0.0, 0.0, 0.0), periodic_b)  # type: ignore[arg-type]
    tell = progress or silent
    found: list[tuple[Graph, Opened | None]] = []
    read: dict[str, Mesh] = {}
    for source in (source_a, source_b):
        tell(f"reading {source}" if isinstance(source, str | os.PathLike) else "building the graphs", 0, 0)
        found.append(_component(source, weights, read))
        opened = found[-1][1]
        if opened is not None and opened.path is not None:
            read[opened.path] = opened.whole
    meshes = [opened and opened.mesh for _, opened in found]
    called = (names[0], names[1]) if names is not None else _names(meshes)
    interface = None
    if isinstance(kind, str):
        if meshes[0] is None or meshes[1] is None:
            raise CouplingError(f"interedges: {kind!r} is found from two meshes; with graphs give an Interedges")
        from .mesh import find_interface

        tell("finding the interedges", 0, 0)
        relation, interface = find_interface(meshes[0], meshes[1], kind, tolerance=tolerance, gap=gap,
                                             placement=placement, several=several)
        interface = interface.named(*called)
    else:
        relation = kind if isinstance(kind, Interedges) else Interedges.from_scipy(kind)
    problem = CoupledProblem.of_two(found[0][0], found[1][0], relation, called)
    _log.info("%r", problem)
    there = [opened for _, opened in found if opened is not None]
    lost = [f"{name}: {remark}" for name, mesh in zip(called, meshes, strict=True) if mesh is not None
            for remark in mesh.remarks]
    return Coupled(problem, {name: mesh for name, mesh in zip(called, meshes, strict=True) if mesh is not None},
                   interface, (*dict.fromkeys(lost), *others(there)))


def component(source: Any, weights: str | None = None) -> tuple[Graph, Mesh | None]:
    """The graph of a component, and its mesh if it has one.

    Parameters
    ----------
    source : path, mesh or graph
        See the module's description.
    weights : str, optional
        Cell array with the load of each cell; graphs bring their own.
    """
    graph, opened = _component(source, weights, {})
    return graph, opened and opened.mesh


def _component(source: Any, weights: str | None, read: Mapping[str, Mesh]) -> tuple[Graph, Opened | None]:
    """The graph, and the mesh with its origin; files in `read` are not read again."""
    if not looks_like_arrays(source) and (
            isinstance(source, Graph | tuple | list) or hasattr(source, "tocoo")
            or (hasattr(source, "nodes") and hasattr(source, "edges"))):
        return as_graph(source), None
    if isinstance(source, str | os.PathLike):
        from .formats import graph_suffix, read_graph

        if graph_suffix(source) is not None:
            return read_graph(source), None
    from .mesh import dual_graph

    opened = open_source(source, read)
    return dual_graph(opened.mesh, weights), opened


def _names(meshes: Sequence[Mesh | None]) -> tuple[str, str]:
    """Names from the meshes where they have different ones, else a and b."""
    found = [mesh.name if mesh is not None and mesh.name else letter for mesh, letter in zip(meshes, "ab", strict=True)]
    if found[0] == found[1]:
        found = [f"{name}-{letter}" for name, letter in zip(found, "ab", strict=True)]
    return found[0], found[1]


__all__ = ["INTEREDGES", "Coupled", "Progress", "component", "coupled_problem", "open_mesh", "silent", "split_region"]
