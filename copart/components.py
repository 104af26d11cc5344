"""Two components and their interedges, from whatever a caller has.

A component is a mesh (a file, ``FILE:ARRAY=VALUE`` or ``FILE:NAME`` for a
region of it, a ``meshio.Mesh``, a `Mesh`) or a graph (a graph file, a `Graph`,
a scipy.sparse matrix, a networkx graph, ``(xadj, adjncy)``).
"""

from __future__ import annotations

import logging
import os
from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, Any

from .arrays import fraction
from .coupling import CoupledProblem, Interedges
from .errors import ConfigError, CouplingError
from .graph import Graph, as_graph

if TYPE_CHECKING:
    from .mesh import Mesh

_log = logging.getLogger(__name__)

Progress = Callable[[str, int, int], None]
"""Called as ``progress(step, done, total)`` when a step begins; total is 0 where it is unknown."""

INTEREDGES = ("facet", "touch")


def silent(step: str, done: int, total: int) -> None:
    """The progress of a caller who does not want to hear any."""


def coupled_problem(source_a: Any, source_b: Any, *, interedges: str | Interedges = "facet",
                    names: Sequence[str] | None = None, weights: str | None = None, tolerance: float | None = None,
                    progress: Progress | None = None) -> tuple[CoupledProblem, dict[str, Mesh]]:
    """The two components with their interedges, and the meshes among them by name.

    Parameters are those of :func:`plan`.
    """
    kind = interedges
    if isinstance(kind, str) and kind not in INTEREDGES:
        raise ConfigError(f"interedges: {kind!r} is not known; choose one of {', '.join(INTEREDGES)}, "
                          f"or give an Interedges")
    if names is not None and (len(names) != 2 or names[0] == names[1] or not all(names)):
        raise ConfigError(f"names: needs two different names, got {tuple(names)}")
    if tolerance is not None:
        fraction("tolerance", tolerance)
    tell = progress or silent
    found = []
    for source in (source_a, source_b):
        tell(f"reading {source}" if isinstance(source, str | os.PathLike) else "building the graphs", 0, 0)
        found.append(component(source, weights))
    called = tuple(names) if names is not None else _names([mesh for _, mesh in found])
    (graph_a, a), (graph_b, b) = found
    if isinstance(kind, str):
        if a is None or b is None:
            raise CouplingError(f"interedges: {kind!r} is found from two meshes; with graphs give an Interedges")
        from .mesh import find_interedges

        tell("finding the interedges", 0, 0)
        relation = find_interedges(a, b, kind, **({} if tolerance is None else {"tolerance": tolerance}))
    else:
        relation = kind if isinstance(kind, Interedges) else Interedges.from_scipy(kind)
    problem = CoupledProblem.of_two(graph_a, graph_b, relation, (called[0], called[1]))
    _log.info("%r", problem)
    return problem, {name: mesh for name, (_, mesh) in zip(called, found, strict=True) if mesh is not None}


def component(source: Any, weights: str | None = None) -> tuple[Graph, Mesh | None]:
    """The graph of a component, and its mesh if it has one.

    Parameters
    ----------
    source : path, mesh or graph
        See the module's description.
    weights : str, optional
        Cell array with the load of each cell; graphs bring their own.
    """
    if isinstance(source, Graph | tuple | list) or hasattr(source, "tocoo") \
            or (hasattr(source, "nodes") and hasattr(source, "edges")):
        return as_graph(source), None
    if isinstance(source, str | os.PathLike):
        from .formats import graph_suffix, read_graph

        if graph_suffix(source) is not None:
            return read_graph(source), None
    from .mesh import dual_graph

    mesh = open_mesh(source)
    return dual_graph(mesh, weights), mesh


def open_mesh(source: Any) -> Mesh:
    """A mesh from a path (with ``:ARRAY=VALUE`` or ``:NAME`` for a region of it), a meshio mesh, or a `Mesh`."""
    from .mesh import read_mesh

    if isinstance(source, str | os.PathLike):
        path, region = split_region(os.fspath(source))
        return read_mesh(path, region=region)
    return read_mesh(source)


def split_region(text: str) -> tuple[str, tuple[str, int | float | str] | str | None]:
    """File and region of ``FILE``, ``FILE:ARRAY=VALUE`` or ``FILE:NAME``.

    A file that exists under the whole name is taken as it is.  Array names may hold colons.

    Examples
    --------
    >>> split_region("case.msh:gmsh:physical=3")
    ('case.msh', ('gmsh:physical', 3))
    >>> split_region("case.msh:solid")
    ('case.msh', 'solid')
    """
    folder, base = os.path.split(text)
    if os.path.exists(text) or ":" not in base:
        return text, None
    name, region = base.split(":", 1)
    path = os.path.join(folder, name)
    if "=" not in region:
        return path, region
    array, value = region.rsplit("=", 1)
    return path, (array, _number(value))


def _number(text: str) -> int | float | str:
    for kind in (int, float):
        try:
            return kind(text)
        except ValueError:
            continue
    return text


def _names(meshes: Sequence[Mesh | None]) -> tuple[str, str]:
    """Names from the meshes where they have different ones, else a and b."""
    found = [mesh.name if mesh is not None and mesh.name else letter for mesh, letter in zip(meshes, "ab", strict=True)]
    if found[0] == found[1]:
        found = [f"{name}-{letter}" for name, letter in zip(found, "ab", strict=True)]
    return found[0], found[1]


__all__ = ["INTEREDGES", "Progress", "component", "coupled_problem", "open_mesh", "silent", "split_region"]
