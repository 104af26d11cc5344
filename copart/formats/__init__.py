"""Files: graphs in, parts and exchange schedules out (``docs/formats.md``)."""

from __future__ import annotations

import os

from ..errors import FormatError
from ..graph import Graph
from .coupling_file import SCHEMA, VERSION, coupling_schedule, read_coupling, write_coupling
from .hgr import Nets, read_hgr
from .matrix_market import read_matrix_market
from .metis import read_metis, write_metis
from .openfoam import write_decomposition
from .output import prepare_folder, write_json, write_text_atomic
from .parts import count_in_name, read_part, write_part
from .points import POINT_SUFFIXES, is_points, read_points
from .precice import precice_hints, write_precice
from .scotch import read_scotch
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


def graph_suffix(path: PathLike) -> str | None:
    """The suffix in :data:`GRAPH_READERS` that `path` ends with, None where it is no graph file."""
    name = os.path.basename(os.fspath(path)).lower().removesuffix(".gz")
    return next((suffix for suffix in GRAPH_READERS if name.endswith(suffix)), None)


def read_graph(path: PathLike) -> Graph:
    """Read a graph file by its suffix: METIS, SCOTCH or Matrix Market, also packed with gzip.

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


write_graph = write_metis

__all__ = ["GRAPH_READERS", "POINT_SUFFIXES", "SCHEMA", "VERSION", "Nets", "count_in_name", "coupling_schedule",
           "graph_suffix", "is_points", "precice_hints", "prepare_folder", "read_coupling", "read_graph", "read_hgr",
           "read_json", "read_matrix_market", "read_metis", "read_part", "read_points", "read_scotch", "write_coupling",
           "write_decomposition", "write_graph", "write_json", "write_metis", "write_part", "write_precice",
           "write_text_atomic"]
