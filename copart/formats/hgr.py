"""hMETIS hypergraph files (``.hgr``): one line per net, its cost and its pins counted from 1.

The header is ``nnets nvtxs [fmt]``; fmt 1 and 11 put a cost before the pins of each net, 10 and 11 add one line per
vertex with its weight.  A net has at least one pin, so empty lines mean nothing and are skipped.  The first pin of a
net is read as its source.  (hMETIS manual, section on the input file.)
"""

from __future__ import annotations

import logging

import numpy as np
from numpy.typing import NDArray

from ..arrays import VERTEX
from ..errors import FormatError, GraphError
from ..hypergraph import Hypergraph
from .output import write_text_atomic
from .text import Numbers, PathLike, read_numbers

log = logging.getLogger(__name__)


def read_hgr(path: PathLike) -> Hypergraph:
    """Read an hMETIS hypergraph file (``.hgr``, ``.hgr.gz``).

    A vertex that a net lists more than once is kept once, where it comes first; how many were left out is logged as a
    warning.

    Parameters
    ----------
    path : path-like

    Raises
    ------
    FormatError
        The first rule the file breaks, with its line.
    """
    numbers = read_numbers(path)
    rows = filled_lines(numbers)
    line = int(numbers.number[rows[0]])
    nnets, nvtxs, has_cost, has_vwgt = _header(numbers, int(rows[0]))
    rows = rows[1:]
    _count_lines(numbers, rows, nnets, nvtxs if has_vwgt else 0, line)
    nets = rows[:nnets]
    return assembled(numbers, nets, has_cost, nvtxs, 1, _vertex_weights(numbers, rows[nnets:]) if has_vwgt else None)


def write_hgr(path: PathLike, hypergraph: Hypergraph) -> None:
    """Write an hMETIS file, the source of each net first; costs and weights only where some are not 1.

    Raises
    ------
    GraphError
        A vertex has several weights, for which the format has no place.
    """
    vwgt = hypergraph.weights
    has_cost, has_vwgt = bool((hypergraph.cost != 1).any()), bool((vwgt != 1).any())
    fmt = f" {10 * has_vwgt + has_cost}" if has_cost or has_vwgt else ""
    out = [f"{hypergraph.nnets} {hypergraph.nvtxs}{fmt}", *lines_of_nets(hypergraph, 1, has_cost)]
    if has_vwgt:
        out += map(str, vwgt.tolist())
    write_text_atomic(path, "\n".join(out) + "\n")


# ---- shared with the other formats of one line per net


def filled_lines(numbers: Numbers) -> NDArray[np.int64]:
    """Lines that hold numbers, the header first; FormatError where there is none."""
    rows = np.flatnonzero(np.diff(numbers.first))
    if len(rows) == 0:
        raise numbers.error("is empty, needs a header line", line=1)
    return rows


def assembled(numbers: Numbers, rows: NDArray[np.int64], has_cost: bool, nvtxs: int, base: int,
              vwgt: NDArray[np.int64] | None) -> Hypergraph:
    """The hypergraph whose nets stand on the lines `rows`, with vertices counted from `base`."""
    nnets = len(rows)
    if nvtxs > 1000 * len(numbers.values):
        # weights are stored for each; a vertex may be in no net, but hardly a thousand for every number
        raise numbers.error(f"{nvtxs} vertices do not fit a file of {len(numbers.values)} numbers",
                            line=int(numbers.number[filled_lines(numbers)[0]]))
    start, end = numbers.first[rows], numbers.first[rows + 1]
    cost = None
    if has_cost:
        cost = numbers.values[start]
        not_negative(numbers, cost, start, "net cost")
        start = start + 1
        if (start == end).any():
            e = int(np.argmax(start == end))
            raise numbers.error(f"net {e + base} has a cost and no pin", token=int(start[e]) - 1)
    count = end - start
    xpins = np.concatenate([[0], np.cumsum(count)])
    token = np.arange(int(xpins[-1])) + np.repeat(start - xpins[:-1], count)
    pin = numbers.values[token]
    outside = (pin < base) | (pin >= base + nvtxs)
    if outside.any():
        i = int(np.argmax(outside))
        raise numbers.error(f"pin {pin[i]} is outside {base}..{base + nvtxs - 1}", token=int(token[i]))
    net = np.repeat(np.arange(nnets), count)
    _, keep = np.unique(net * (nvtxs + 1) + pin, return_index=True)
    merged = len(pin) - len(keep)
    if merged:
        log.warning("%s: %d repeated pins are left out", numbers.path, merged)
        keep.sort()
        pin = pin[keep]
        xpins = np.concatenate([[0], np.cumsum(np.bincount(net[keep], minlength=nnets))])
    try:
        return Hypergraph(nvtxs, xpins, (pin - base).astype(VERTEX), cost, vwgt)  # type: ignore[arg-type]
    except GraphError as e:
        raise FormatError(numbers.path, str(e)) from None


def lines_of_nets(hypergraph: Hypergraph, base: int, has_cost: bool) -> list[str]:
    """One line per net: its cost where asked for, and its pins counted from `base`."""
    pins = [str(v) for v in (hypergraph.pins.astype(np.int64) + base).tolist()]
    ends = hypergraph.xpins.tolist()
    fronts = [[str(c)] for c in hypergraph.cost.tolist()] if has_cost else [[]] * hypergraph.nnets
    return [" ".join(fronts[e] + pins[ends[e]:ends[e + 1]]) for e in range(hypergraph.nnets)]


def not_negative(numbers: Numbers, values: NDArray[np.int64], token: NDArray[np.int64], name: str) -> None:
    """FormatError at the first of `values` below 0, each of which stands at its `token`."""
    if (values < 0).any():
        i = int(np.argmax(values < 0))
        raise numbers.error(f"{name} must not be negative, is {values[i]}", token=int(token[i]))


def _header(numbers: Numbers, head: int) -> tuple[int, int, bool, bool]:
    line = int(numbers.number[head])
    given = [int(x) for x in numbers.line(head)]
    if len(given) not in (2, 3):
        raise numbers.error(f"the header needs 2 or 3 numbers (nets, vertices, fmt), has {len(given)}", line=line)
    nnets, nvtxs, fmt = (*given, 0)[:3]
    if nnets < 0 or not 0 <= nvtxs < 2**31:
        raise numbers.error(f"the header announces {nnets} nets on {nvtxs} vertices, needs numbers >= 0, "
                            f"fewer than 2^31 vertices", line=line)
    if fmt not in (0, 1, 10, 11):
        raise numbers.error(f"fmt must be 0, 1 (net costs), 10 (vertex weights) or 11 (both), is {fmt}", line=line)
    return nnets, nvtxs, bool(fmt % 10), bool(fmt // 10)


def _count_lines(numbers: Numbers, rows: NDArray[np.int64], nnets: int, weights: int, line: int) -> None:
    """Check that exactly the announced lines follow the header."""
    if len(rows) < nnets:
        raise numbers.error(f"{nnets} nets are announced in line {line}, only {len(rows)} follow",
                            line=numbers.last_line())
    if len(rows) < nnets + weights:
        raise numbers.error(f"fmt in line {line} demands {weights} vertex weights, only {len(rows) - nnets} follow "
                            f"the nets", line=numbers.last_line())
    if len(rows) > nnets + weights:
        what = f"{nnets} nets" + (f" and {weights} vertex weights" if weights else "")
        raise numbers.error(f"only {what} are announced in line {line}, here is one more line",
                            line=int(numbers.number[rows[nnets + weights]]))


def _vertex_weights(numbers: Numbers, rows: NDArray[np.int64]) -> NDArray[np.int64]:
    start = numbers.first[rows]
    many = numbers.first[rows + 1] - start > 1
    if many.any():
        v = int(np.argmax(many))
        raise numbers.error(f"vertex {v + 1} needs one weight, the line has more numbers", token=int(start[v]))
    vwgt = numbers.values[start]
    not_negative(numbers, vwgt, start, "vertex weight")
    return vwgt
