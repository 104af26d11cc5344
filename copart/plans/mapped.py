"""What is mapped, and mappings of it: tasks from a graph, a mesh or its parts, and mapping files."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ..arrays import sums
from ..errors import ConfigError, FormatError
from ..formats import graph_suffix, hypergraph_suffix, read_hypergraph, read_part, write_part
from ..formats.scotch import read_labelled
from ..formats.scotch_mapping import read_map, write_map
from ..graph import Graph
from ..mapping.machine import Machine
from ..mapping.tasks import TaskGraph
from .opening import single

Labels = NDArray[np.int64] | None
"""What SCOTCH's mapping files call the vertices of a graph; None where they count them from 0."""


def read_mapped(source: Any, part: Any = None, load: str | None = None) -> tuple[Graph, TaskGraph | None, Labels]:
    """What is mapped: a graph, with coordinates where there are some; the parts as tasks, if given; labels of vertices.

    Parameters
    ----------
    source
        As of :func:`copart.plans.opening.single`; with `part`, also a file of a hypergraph.
    part : path-like, optional
        A part file: its parts are mapped, whose coordinates are the means of their vertices'.
    load : str, optional
        Cell array with the load of each cell.
    """
    if isinstance(source, str | Path) and hypergraph_suffix(source) and not graph_suffix(source):
        return *_nets(source, part, load), None
    graph, labels = _opened(source, load)
    if part is None:
        return graph, None, labels
    of, nparts = _parts(part, graph.nvtxs)
    whole = graph.quotient(of, nparts)
    if graph.coords is not None:
        size = np.maximum(np.bincount(of, minlength=nparts), 1)
        whole = whole.replace(coords=np.stack([np.bincount(of, weights=axis, minlength=nparts) / size
                                               for axis in graph.coords.T], axis=1))
    return whole, TaskGraph.from_partition(graph, of, nparts), None


def _nets(source: str | Path, part: Any, load: str | None) -> tuple[Graph, TaskGraph]:
    """The parts of a hypergraph as vertices, with the data of both ways between them, and as tasks."""
    if part is None or load is not None:
        raise ConfigError(f"--part: is needed for {source}, a hypergraph: its parts are mapped" if load is None else
                          f"--load: has no effect on {source}, a hypergraph, which brings the weights of its vertices")
    nets = read_hypergraph(source)
    of, nparts = _parts(part, nets.nvtxs)
    tasks = TaskGraph.from_partition(nets, of, nparts)
    return tasks.graph.replace(vwgt=sums(of, nets.weights, nparts)), tasks


def _parts(file: Any, nvtxs: int) -> tuple[NDArray[np.int32], int]:
    """Part of each vertex, and how many parts there are."""
    of = read_part(file, nvtxs)
    nparts = int(of.max(initial=-1)) + 1
    if nparts > nvtxs:
        raise FormatError(file, f"part {nparts - 1} is outside 0..{nvtxs - 1}: no graph has more parts than vertices")
    return of, nparts


def _opened(source: Any, load: str | None) -> tuple[Graph, Labels]:
    if load is None and isinstance(source, str | Path) and graph_suffix(source) == ".grf":
        return read_labelled(source)
    return single(source, load)[0], None


def as_processes(graph: Graph, tasks: TaskGraph | None, machine: Machine, mapping: NDArray[Any],
                 ) -> tuple[TaskGraph, NDArray[Any]]:
    """The processes that a mapping makes, and the processor of each.

    Processes are the parts, if parts were mapped; the vertices, if each has a processor of its own; else the processors
    with the vertices that they were given.
    """
    if tasks is None and len(np.unique(mapping)) == len(mapping):
        tasks = TaskGraph.from_graph(graph)
    if tasks is not None:
        return tasks, mapping
    return TaskGraph.from_partition(graph, mapping, machine.nprocs), np.arange(machine.nprocs)


def read_mapping(path: str, nvtxs: int, nprocs: int, labels: Labels = None, *, free: bool = False) -> NDArray[Any]:
    """A mapping in SCOTCH's form where the name says so, whose vertices go by their labels; else a part file."""
    if path.lower().removesuffix(".gz").endswith(".map"):
        return read_map(path, nvtxs, nprocs, free=free, labels=labels)
    return read_part(path, nvtxs, nprocs, free=free)


def write_mapping(path: Path, mapping: NDArray[Any], labels: Labels = None) -> None:
    """Write a mapping in the form that its name asks for."""
    if path.name.lower().removesuffix(".gz").endswith(".map"):
        write_map(path, mapping, labels)
    else:
        write_part(path, mapping)


__all__ = ["as_processes", "read_mapped", "read_mapping", "write_mapping"]
