"""SCOTCH graph files (``.grf``, version 0): a stream of numbers, one vertex after the other.

``0``, then ``nvtxs narcs``, then ``base flags`` with three flag digits for
vertex labels, edge loads and vertex loads; each vertex is ``[label] [load]
degree`` and ``degree`` times ``[edge load] neighbour``.  (SCOTCH user's guide,
section on graph files.)
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from ..arrays import VERTEX, frozen
from ..errors import GraphError
from ..graph import Graph
from .metis import explain
from .output import write_text_atomic
from .text import Numbers, PathLike, read_numbers


def read_scotch(path: PathLike) -> Graph:
    """Read a SCOTCH graph file (``.grf``, ``.grf.gz``); vertices keep the order of the file.

    Parameters
    ----------
    path : path-like

    Raises
    ------
    FormatError
        The first rule the file breaks, with its line.
    """
    return read_labelled(path)[0]


def read_labelled(path: PathLike) -> tuple[Graph, NDArray[np.int64]]:
    """As :func:`read_scotch`, and what SCOTCH's other files call the vertices.

    Parameters
    ----------
    path : path-like

    Returns
    -------
    graph : Graph
    labels : (nvtxs,) int64
        The labels of the vertices, or their numbers from the base of the file.
    """
    numbers = read_numbers(path, comment="")
    values = numbers.values
    if len(values) < 5:
        raise numbers.error("needs a header of five numbers: version, vertices, arcs, base, flags",
                            line=numbers.last_line())
    version, nvtxs, narcs, base, flags = (int(x) for x in values[:5])
    if version != 0:
        raise numbers.error(f"version must be 0, is {version}", token=0)
    if nvtxs < 0 or narcs < 0:
        raise numbers.error(f"the header announces {nvtxs} vertices and {narcs} arcs, needs numbers >= 0", token=1)
    if base not in (0, 1):
        raise numbers.error(f"vertices are counted from 0 or 1, not from {base}", token=3)
    if flags not in (0, 1, 10, 11, 100, 101, 110, 111):
        raise numbers.error(f"flags must be three digits 0 or 1 (labels, edge loads, vertex loads), are {flags}",
                            token=4)
    has_label, has_ewgt, has_vwgt = bool(flags // 100), bool(flags // 10 % 10), bool(flags % 10)
    prefix = int(has_label) + int(has_vwgt)
    start, degree = _rows(numbers, nvtxs, prefix, 1 + int(has_ewgt))

    xadj = np.zeros(nvtxs + 1, np.int64)
    np.cumsum(degree, out=xadj[1:])
    if xadj[-1] != narcs:
        raise numbers.error(f"{narcs} arcs are announced, the file has {xadj[-1]}", token=2)
    step = 1 + int(has_ewgt)
    within = np.arange(int(xadj[-1])) - np.repeat(xadj[:-1], degree)
    token = np.repeat(start + prefix + 1, degree) + step * within
    ewgt = values[token] if has_ewgt else None
    token = token + int(has_ewgt)
    label = values[start] if has_label else None
    vwgt = values[start + int(has_label)] if has_vwgt else None
    adjncy = _neighbours(numbers, token, label, nvtxs, base, start)
    for name, load, where in (("edge load", ewgt, token - 1), ("vertex load", vwgt, start + int(has_label))):
        if load is not None and (load < 0).any():
            i = int(np.argmax(load < 0))
            raise numbers.error(f"{name} must not be negative, is {load[i]}", token=int(where[i]))
    try:
        graph = Graph(frozen(xadj), frozen(adjncy), ewgt, vwgt=vwgt)
    except GraphError as e:
        raise explain(numbers, xadj, adjncy, ewgt, e, lambda v: numbers.line_of(int(start[v])), base) from None
    return graph, np.arange(base, nvtxs + base) if label is None else label.astype(np.int64)


def write_scotch(path: PathLike, graph: Graph) -> None:
    """Write `graph` as a SCOTCH graph file, counted from 0; loads only where the graph has them.

    Parameters
    ----------
    path : path-like
    graph : Graph
        Sizes of vertices (`vsize`) have no place in the file and are left out.

    Raises
    ------
    GraphError
        A vertex has several weights.
    """
    load = [] if graph.vwgt is None else [f"{w} " for w in graph.weights.tolist()]
    arcs = graph.adjncy.tolist()
    if graph.ewgt is not None:
        arcs = [f"{w} {u}" for w, u in zip(graph.ewgt.tolist(), arcs, strict=True)]
    out = ["0", f"{graph.nvtxs} {len(arcs)}", f"0 0{int(graph.ewgt is not None)}{int(graph.vwgt is not None)}"]
    offsets = graph.xadj.tolist()
    for v in range(graph.nvtxs):
        lo, hi = offsets[v], offsets[v + 1]
        out.append(" ".join([f"{load[v] if load else ''}{hi - lo}", *map(str, arcs[lo:hi])]))
    write_text_atomic(path, "\n".join(out) + "\n")


def _rows(numbers: Numbers, nvtxs: int, prefix: int, step: int) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
    """Where each vertex starts in the stream, and its degree."""
    values = numbers.values.tolist()
    if nvtxs * (prefix + 1) > len(values) - 5:
        raise numbers.error(f"{nvtxs} vertices are announced, the file ends too early", line=numbers.last_line())
    start, degree = np.empty(nvtxs, np.int64), np.empty(nvtxs, np.int64)
    at = 5
    for v in range(nvtxs):
        if at + prefix >= len(values):
            raise numbers.error(f"{nvtxs} vertices are announced, the file ends after {v}", line=numbers.last_line())
        d = values[at + prefix]
        if d < 0 or at + prefix + 1 + d * step > len(values):
            raise numbers.error(f"degree {d} is negative or more than the file has numbers left", token=at + prefix)
        start[v], degree[v] = at, d
        at += prefix + 1 + d * step
    if at < len(values):
        raise numbers.error(f"only {nvtxs} vertices are announced, here are more numbers", token=at)
    return start, degree


def _neighbours(numbers: Numbers, token: NDArray[np.int64], label: NDArray[np.int64] | None, nvtxs: int, base: int,
                start: NDArray[np.int64]) -> NDArray[np.int32]:
    """Vertex numbers from 0 of the arcs at `token`, through the labels where there are some."""
    name = numbers.values[token]
    if label is None:
        outside = (name < base) | (name >= nvtxs + base)
        if outside.any():
            e = int(np.argmax(outside))
            raise numbers.error(f"neighbour {name[e]} is outside {base}..{nvtxs + base - 1}", token=int(token[e]))
        return (name - base).astype(VERTEX)
    order = np.argsort(label, kind="stable")
    ranked = label[order]
    twice = np.flatnonzero(ranked[1:] == ranked[:-1])
    if len(twice):
        v = int(order[twice + 1].min())
        raise numbers.error(f"label {label[v]} is given to more than one vertex", token=int(start[v]))
    at = np.minimum(np.searchsorted(ranked, name), max(nvtxs - 1, 0))
    unknown = ranked[at] != name
    if unknown.any():
        e = int(np.argmax(unknown))
        raise numbers.error(f"neighbour {name[e]} is no vertex label", token=int(token[e]))
    return order[at].astype(VERTEX)
