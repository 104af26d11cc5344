"""Components as graphs, and meshes where they have some, from whatever a caller has; see :mod:`.components`."""

from __future__ import annotations

import os
from collections.abc import Mapping
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any

from ..errors import ConfigError
from ..graph import Graph, as_graph
from ..parallel import Background
from ..partitioner.rounds import Progress
from .sources import MAX_LISTED, Opened, looks_like_arrays, open_source, split_region, zones
from .zones import why_not

if TYPE_CHECKING:
    from ..mesh import Mesh


def all_opened(chosen: list[Any], read: dict[str, Mesh], tell: Progress, load: str | None, threads: int,
               ) -> tuple[list[Graph | Opened], list[Graph]]:
    """What the components are, and their graphs, in their order; `read` has the meshes of files, and gets more.

    With several threads graphs of small components are made while larger ones are read, and all threads make the
    graph of the largest.
    """
    order = sorted(range(len(chosen)), key=lambda i: _bytes(chosen[i])) if threads > 1 else range(len(chosen))
    found: dict[int, Graph | Opened] = {}
    with Background(threads) as graphs:
        for i in order:  # one after the other: meshio redirects what the process prints
            if isinstance(chosen[i], str | os.PathLike):
                tell(f"reading {chosen[i]}", 0, 0)
            one = found[i] = _opened(chosen[i], read, threads)
            if isinstance(one, Opened) and one.path is not None:
                read[one.path] = one.whole
            graphs.begin(partial(_graph, one, load, threads))
        tell("building the graphs", 0, 0)
        made: dict[int, Graph] = dict(zip(order, graphs.results(), strict=True))
    return [found[i] for i in range(len(chosen))], [made[i] for i in range(len(chosen))]


def component(source: Any, load: str | None = None, threads: int = 1) -> tuple[Graph, Mesh | None]:
    """The graph of a component, and its mesh if it has one.

    Parameters
    ----------
    source : path, mesh or graph
        See :mod:`copart.plans.components`.
    load : str, optional
        Cell array with the load of each cell; graphs bring their own.
    threads : int
        The graph is the same on any number of them.
    """
    found = _opened(source, {}, threads)
    return _graph(found, load, threads), found.mesh if isinstance(found, Opened) else None


def single(source: Any, load: str | None = None, threads: int = 1) -> tuple[Graph, Mesh | None]:
    """As :func:`component`, for work on one graph or mesh alone, where a load that is of no use is an error.

    Raises
    ------
    ConfigError
        `load` is given for a graph.
    """
    graph, mesh = component(source, load, threads)
    if load is not None and mesh is None:
        raise ConfigError(f"--load: has no effect on {source}, a graph, which brings the weights of its vertices")
    return graph, mesh


def _opened(source: Any, read: Mapping[str, Mesh], threads: int = 1) -> Graph | Opened:
    """The graph, or the mesh with its origin; files in `read` are not read again."""
    if not looks_like_arrays(source) and (
            isinstance(source, Graph | tuple | list) or hasattr(source, "tocoo")
            or (hasattr(source, "nodes") and hasattr(source, "edges"))):
        return as_graph(source)
    if isinstance(source, str | os.PathLike):
        from ..formats import graph_suffix, read_graph

        if graph_suffix(source) is not None:
            return read_graph(source)
    return open_source(source, read, threads)


def _bytes(source: Any) -> int:
    """Size of the file that a component is in; 0 where it is no single file."""
    path = Path(split_region(os.fspath(source))[0]) if isinstance(source, str | os.PathLike) else None
    return path.stat().st_size if path is not None and path.is_file() else 0


def _graph(found: Graph | Opened, load: str | None, threads: int = 1) -> Graph:
    from ..kernels.stages import stage
    from ..mesh import dual_graph

    if isinstance(found, Graph):
        return found
    with stage("dual graph"):
        return dual_graph(found.mesh, load, threads)


def all_zones(source: Any, read: dict[str, Mesh], tell: Progress) -> list[Any]:
    """A single file as the list of its zones or regions; what is read is put into `read`."""
    if not isinstance(source, str | os.PathLike):
        raise ConfigError("components: needs two or more, or one file with several zones")
    path, region = split_region(os.fspath(source))
    if region is None:
        tell(f"reading {path}", 0, 0)
        read[path] = open_source(path).whole
    found = zones(path, read[path]) if region is None else []
    if len(found) < 2:
        why = why_not(read[path], MAX_LISTED) if region is None else ""
        raise ConfigError(f"components: {os.fspath(source)} is one component{why}; give two or more, or one file with "
                          f"several zones or regions")
    return [f"{path}:{zone}" for zone in found]
