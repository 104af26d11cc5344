"""Files: graphs and hypergraphs in, parts and exchange schedules out (``docs/formats.md``)."""

from __future__ import annotations

import os
from collections.abc import Iterable

from ..errors import FormatError
from ..graph import Graph
from ..hypergraph import Hypergraph
from .coupling_file import SCHEMA, VERSION, coupling_schedule, read_coupling, write_coupling
from .hgr import read_hgr, write_hgr
from .matrix_market import read_matrix_hypergraph, read_matrix_market
from .metis import read_metis, write_metis
from .openfoam import write_decomposition
from .output import prepare_folder, write_json, write_text_atomic
from .parts import count_in_name, read_part, write_part
from .patoh import read_patoh, write_patoh
from .points import POINT_SUFFIXES, is_points, read_points
from .precice import precice_hints, write_precice
from .scotch import read_scotch, write_scotch
from .text import PathLike, read_json

#: Reader of each suffix of a graph file; every one also with ``.gz``.
GRAPH_READERS = {
    ".graph": read_metis,
    ".mgraph": read_metis,
    ".metis": read_metis,
    ".grf": read_scotch,
    ".mtx": read_matrix_market,
    ".mm": read_matrix_market,
}

#: Reader of each suffix of a hypergraph file; every one also with ``.gz``.
HYPERGRAPH_READERS = {
    ".hgr": read_hgr,
    ".patoh": read_patoh,
    ".u": read_patoh,
    ".mtx": read_matrix_hypergraph,
    ".mm": read_matrix_hypergraph,
}


def graph_suffix(path: PathLike) -> str | None:
    """The suffix in :data:`GRAPH_READERS` that `path` ends with, None where it is no graph file."""
    return _suffix(path, GRAPH_READERS)


def hypergraph_suffix(path: PathLike) -> str | None:
    """The suffix in :data:`HYPERGRAPH_READERS` that `path` ends with, None where it is no hypergraph file."""
    return _suffix(path, HYPERGRAPH_READERS)


def _suffix(path: PathLike, known: Iterable[str]) -> str | None:
    name = os.path.basename(os.fspath(path)).lower().removesuffix(".gz")
    return next((suffix for suffix in known if name.endswith(suffix)), None)


def read_graph(path: PathLike) -> Graph:
    """Read a graph file by its suffix: METIS, SCOTCH or Matrix Market, also packed with gzip.

    Parameters
    ----------
    path : path-like

    Raises
    ------
    FormatError
        The suffix is unknown, or the file is unreadable or ill-formed.
    """
    suffix = graph_suffix(path)
    if suffix is None:
        raise FormatError(path, f"is no known graph format; known suffixes: {', '.join(GRAPH_READERS)} "
                                f"(each also with .gz)")
    return GRAPH_READERS[suffix](path)


def read_hypergraph(path: PathLike) -> Hypergraph:
    """Read a hypergraph file by its suffix: hMETIS, PaToH or Matrix Market, or a graph file, also packed with gzip.

    A matrix and a graph are read as their column-net models: net j holds vertex j, its source, and who needs it.

    Parameters
    ----------
    path : path-like

    Raises
    ------
    FormatError
        The suffix is unknown, or the file is unreadable or ill-formed.
    """
    suffix = hypergraph_suffix(path)
    if suffix is not None:
        return HYPERGRAPH_READERS[suffix](path)
    if graph_suffix(path) is not None:
        return Hypergraph.column_net(read_graph(path))
    known = ", ".join(dict.fromkeys([*HYPERGRAPH_READERS, *GRAPH_READERS]))
    raise FormatError(path, f"is no known hypergraph format; known suffixes: {known} (each also with .gz)")


def write_hypergraph(path: PathLike, hypergraph: Hypergraph) -> None:
    """Write a hypergraph file by its suffix: hMETIS (``.hgr``) or PaToH (``.patoh``, ``.u``).

    Parameters
    ----------
    path : path-like
    hypergraph : Hypergraph

    Raises
    ------
    FormatError
        The suffix is another one.
    GraphError
        A vertex has several weights, for which hMETIS has no place.
    """
    suffix = _suffix(path, (".hgr", ".patoh", ".u"))
    if suffix is None or os.fspath(path).endswith(".gz"):
        raise FormatError(path, "is no name of a hypergraph file that can be written; needs .hgr, .patoh or .u")
    (write_hgr if suffix == ".hgr" else write_patoh)(path, hypergraph)


def write_graph(path: PathLike, graph: Graph) -> None:
    """Write a graph file: SCOTCH's where the name ends with ``.grf``, else METIS'.

    Parameters
    ----------
    path : path-like
    graph : Graph
        Of SCOTCH's files, with one weight per vertex, and without sizes.

    Raises
    ------
    FormatError
        The name is one of Matrix Market's.
    GraphError
        A vertex has several weights, for which SCOTCH has no place.
    """
    if graph_suffix(path) == ".mtx":
        raise FormatError(path, "Matrix Market files are read, not written; needs .graph or .grf")
    (write_scotch if graph_suffix(path) == ".grf" else write_metis)(path, graph)


__all__ = ["GRAPH_READERS", "HYPERGRAPH_READERS", "POINT_SUFFIXES", "SCHEMA", "VERSION", "count_in_name",
           "coupling_schedule", "graph_suffix", "hypergraph_suffix", "is_points", "precice_hints", "prepare_folder",
           "read_coupling", "read_graph", "read_hgr", "read_hypergraph", "read_json", "read_matrix_hypergraph",
           "read_matrix_market", "read_metis", "read_part", "read_patoh", "read_points", "read_scotch",
           "write_coupling", "write_decomposition", "write_graph", "write_hgr", "write_hypergraph", "write_json",
           "write_metis", "write_part", "write_patoh", "write_precice", "write_scotch",
           "write_text_atomic"]
