"""METIS graph files: one line per vertex, its size, weight, and neighbours counted from 1.

The header is ``nvtxs nedges [fmt [ncon]]``; the digits of ``fmt`` say whether
vertex sizes, vertex weights and edge weights are present, ``ncon`` how many weights
a vertex has.  An empty line is a vertex without neighbours, a line that starts with
``%`` a comment.  (METIS manual, section 4.1.1.)
"""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
from numpy.typing import NDArray

from ..arrays import VERTEX, frozen
from ..errors import FormatError, GraphError
from ..graph import Graph
from .output import write_text_atomic
from .text import Numbers, PathLike, read_numbers


def read_metis(path: PathLike) -> Graph:
    """Read a METIS graph file (``.graph``, ``.metis``, also with ``.gz``).

    Windows line ends, comments and a missing last line end are fine.

    Parameters
    ----------
    path : path-like

    Raises
    ------
    FormatError
        The first rule the file breaks, with its line.
    """
    numbers = read_numbers(path)
    head = header_line(numbers)
    nvtxs, nedges, has_size, ncon, has_ewgt = _header(numbers, head)
    line = int(numbers.number[head])
    present = numbers.nlines - head - 1
    if present < nvtxs - int(numbers.open_end):
        raise numbers.error(f"{nvtxs} vertices are announced in line {line}, only {present} lines follow",
                            line=numbers.last_line())
    rows = np.arange(head + 1, head + 1 + nvtxs)
    start = numbers.first[np.minimum(rows, numbers.nlines)]
    end = numbers.first[np.minimum(rows + 1, numbers.nlines)]
    body_end = int(end[-1]) if nvtxs else int(numbers.first[head + 1])
    if body_end < len(numbers.values):
        raise numbers.error(f"only {nvtxs} vertices are announced in line {line}, here is one more", token=body_end)

    prefix = int(has_size) + ncon
    count = end - start - prefix
    if (count < 0).any():
        v = int(np.argmax(count < 0))
        what = "no size" if has_size and end[v] == start[v] else "no weight" if ncon == 1 else f"not {ncon} weights"
        raise numbers.error(f"vertex {v + 1} has {what}, as fmt in line {line} demands",
                            line=_line(numbers, head, v))
    odd = count % 2 == 1
    if has_ewgt and odd.any():
        v = int(np.argmax(odd))
        raise numbers.error(f"vertex {v + 1}: needs pairs of neighbour and edge weight, has {count[v]} numbers",
                            line=_line(numbers, head, v))
    _no_negatives(numbers, int(numbers.first[head]))
    columns = [numbers.values[start + k] for k in range(prefix)]
    loads = columns[int(has_size):]
    is_edge = np.ones(body_end, np.bool_)
    is_edge[:int(numbers.first[head + 1])] = False
    for k in range(prefix):
        is_edge[start + k] = False
    token = np.flatnonzero(is_edge)
    ewgt = numbers.values[token[1::2]] if has_ewgt else None
    token = token[::2] if has_ewgt else token
    xadj = np.zeros(nvtxs + 1, np.int64)
    np.cumsum(count // 2 if has_ewgt else count, out=xadj[1:])
    neighbour = numbers.values[token]
    outside = (neighbour < 1) | (neighbour > nvtxs)
    if outside.any():
        e = int(np.argmax(outside))
        raise numbers.error(f"neighbour {neighbour[e]} is outside 1..{nvtxs}", token=int(token[e]))
    adjncy = (neighbour - 1).astype(VERTEX)
    try:
        graph = Graph(frozen(xadj), frozen(adjncy), ewgt, vwgt=np.stack(loads, axis=1) if loads else None,
                      vsize=columns[0] if has_size else None)
    except GraphError as e:
        raise explain(numbers, xadj, adjncy, ewgt, e, lambda v: _line(numbers, head, v), base=1) from None
    if graph.nedges != nedges:
        raise numbers.error(f"{nedges} edges are announced, the file has {graph.nedges}", line=line)
    return graph


def write_metis(path: PathLike, graph: Graph) -> None:
    """Write `graph` as a METIS graph file; weights and sizes only where the graph has them.

    Parameters
    ----------
    path : path-like
    graph : Graph
    """
    has = (graph.vsize is not None, graph.vwgt is not None, graph.ewgt is not None)
    fmt = "".join("01"[h] for h in has)
    ncon = f" {graph.ncon}" if graph.ncon > 1 else ""
    out = [f"{graph.nvtxs} {graph.nedges}" + (f" {fmt}{ncon}" if any(has) else "")]
    edges = [str(u) for u in (graph.adjncy.astype(np.int64) + 1).tolist()]
    if graph.ewgt is not None:
        edges = [f"{u} {w}" for u, w in zip(edges, graph.ewgt.tolist(), strict=True)]
    vwgts = () if graph.vwgt is None else graph.weight_vectors.T
    fronts = [x.tolist() for x in (graph.vsize, *vwgts) if x is not None]
    offsets = graph.xadj.tolist()
    for v in range(graph.nvtxs):
        out.append(" ".join([str(f[v]) for f in fronts] + edges[offsets[v]:offsets[v + 1]]))
    write_text_atomic(path, "\n".join(out) + "\n")


def header_line(numbers: Numbers) -> int:
    """Index of the first line with numbers; FormatError where there is none."""
    if len(numbers.values) == 0:
        raise numbers.error("is empty, needs a header line", line=1)
    return int(np.searchsorted(numbers.first, 0, side="right")) - 1


def _header(numbers: Numbers, head: int) -> tuple[int, int, bool, int, bool]:
    """nvtxs, nedges, whether sizes are present, the number of vertex weights, and whether edge weights are present."""
    line = int(numbers.number[head])
    given = [int(x) for x in numbers.line(head)]
    if not 2 <= len(given) <= 4:
        raise numbers.error(f"the header needs 2 to 4 numbers (vertices, edges, fmt, ncon), has {len(given)}",
                            line=line)
    nvtxs, nedges, fmt, ncon = given + [0] * (4 - len(given))
    if nvtxs < 0 or nedges < 0:
        raise numbers.error(f"the header announces {nvtxs} vertices and {nedges} edges, needs numbers >= 0",
                            line=line)
    if fmt not in (0, 1, 10, 11, 100, 101, 110, 111):
        raise numbers.error(f"fmt must be three digits 0 or 1 (sizes, vertex weights, edge weights), is {fmt}",
                            line=line)
    has_size, has_vwgt, has_ewgt = bool(fmt // 100), bool(fmt // 10 % 10), bool(fmt % 10)
    if not 0 <= ncon <= 64:
        raise numbers.error(f"ncon, the number of vertex weights per vertex, must be 0 to 64, is {ncon}", line=line)
    if ncon and not has_vwgt:
        raise numbers.error(f"ncon is {ncon}, fmt {fmt} says that there are no vertex weights", line=line)
    return nvtxs, nedges, has_size, max(ncon, 1) if has_vwgt else 0, has_ewgt


def _no_negatives(numbers: Numbers, since: int) -> None:
    negative = numbers.values[since:] < 0
    if negative.any():
        t = since + int(np.argmax(negative))
        raise numbers.error(f"numbers must not be negative, found {numbers.values[t]}", token=t)


def _line(numbers: Numbers, head: int, v: int) -> int:
    """Line number in the file of vertex `v`."""
    i = head + 1 + v
    return int(numbers.number[i]) if i < numbers.nlines else numbers.last_line() + 1


def explain(numbers: Numbers, xadj: NDArray[np.int64], adjncy: NDArray[np.int32], ewgt: NDArray[np.int64] | None,
            error: GraphError, line_of_vertex: Callable[[int], int], base: int) -> FormatError:
    """Turn the GraphError of edges read from a file into a FormatError with the line of a vertex.

    `adjncy` counts from 0; the message counts from `base`, as the file does.
    """
    n = len(xadj) - 1
    u = np.repeat(np.arange(n), np.diff(xadj))
    key = u * n + adjncy
    order = np.argsort(key, kind="stable")
    ranked = key[order]

    def found(e: int, rule: str) -> FormatError:
        return FormatError(numbers.path, rule, line_of_vertex(int(u[e])))

    loop = u == adjncy
    if loop.any():
        e = int(np.argmax(loop))
        return found(e, f"vertex {u[e] + base} has an edge to itself, loops are not allowed")
    twice = np.flatnonzero(ranked[1:] == ranked[:-1])
    if len(twice):
        e = int(order[twice + 1].min())
        return found(e, f"vertex {u[e] + base} lists neighbour {adjncy[e] + base} more than once")
    back = adjncy.astype(np.int64) * n + u
    at = np.minimum(np.searchsorted(ranked, back), len(key) - 1)
    lonely = ranked[at] != back
    if lonely.any():
        e = int(np.argmax(lonely))
        return found(e, f"vertex {u[e] + base} lists neighbour {adjncy[e] + base}, which does not list it")
    if ewgt is not None:
        other = ewgt[order[at]]
        if (other != ewgt).any():
            e = int(np.argmax(other != ewgt))
            return found(e, f"edge {u[e] + base}-{adjncy[e] + base} weighs {ewgt[e]} here "
                            f"and {other[e]} at its other end")
    return FormatError(numbers.path, str(error))
