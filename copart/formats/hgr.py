"""hMETIS hypergraph files (``.hgr``): one line per net, its weight and its pins counted from 1.

The header is ``nnets nvtxs [fmt]``; fmt 1 and 11 put a weight before the pins
of each net, 10 and 11 add one line per vertex with its weight.  A net has at
least one pin, so empty lines mean nothing and are skipped.  (hMETIS manual,
section on the input file.)
"""

from __future__ import annotations

import logging
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from ..arrays import VERTEX, frozen
from .text import Numbers, PathLike, read_numbers

log = logging.getLogger(__name__)


@dataclass(frozen=True, eq=False, repr=False)
class Nets:
    """The content of an hMETIS file, counted from 0.

    Parameters
    ----------
    nvtxs : int
        Number of vertices.
    eptr : (nnets + 1,) int64
        ``eind[eptr[e]:eptr[e + 1]]`` are the pins of net e.
    eind : (npins,) int32
        Vertices, in the order of the file, each once per net.
    nwgt : (nnets,) int64 or None
        Net weights; None is all 1.
    vwgt : (nvtxs,) int64 or None
        Vertex weights; None is all 1.
    merged : int
        Number of repeated pins that were left out.
    """

    nvtxs: int
    eptr: NDArray[np.int64]
    eind: NDArray[np.int32]
    nwgt: NDArray[np.int64] | None = None
    vwgt: NDArray[np.int64] | None = None
    merged: int = 0

    @property
    def nnets(self) -> int:
        """Number of nets."""
        return len(self.eptr) - 1

    def __repr__(self) -> str:
        return f"Nets({self.nnets} nets with {len(self.eind)} pins on {self.nvtxs} vertices)"


def read_hgr(path: PathLike) -> Nets:
    """Read an hMETIS hypergraph file (``.hgr``, ``.hgr.gz``).

    A vertex that a net lists more than once is kept once, where it comes first;
    how many were left out is logged as a warning and told in ``merged``.

    Parameters
    ----------
    path : path-like

    Raises
    ------
    FormatError
        The first rule the file breaks, with its line.
    """
    numbers = read_numbers(path)
    rows = np.flatnonzero(np.diff(numbers.first))
    if len(rows) == 0:
        raise numbers.error("is empty, needs a header line", line=1)
    line = int(numbers.number[rows[0]])
    nnets, nvtxs, has_nwgt, has_vwgt = _header(numbers, int(rows[0]))
    rows = rows[1:]
    _count_lines(numbers, rows, nnets, nvtxs if has_vwgt else 0, line)

    start, end = numbers.first[rows[:nnets]], numbers.first[rows[:nnets] + 1]
    nwgt = None
    if has_nwgt:
        nwgt = numbers.values[start]
        _not_negative(numbers, nwgt, start, "net weight")
        start = start + 1
        if (start == end).any():
            e = int(np.argmax(start == end))
            raise numbers.error(f"net {e + 1} has a weight and no pin", token=int(start[e]) - 1)
    count = end - start
    eptr = np.concatenate([[0], np.cumsum(count)])
    token = np.arange(int(eptr[-1])) + np.repeat(start - eptr[:-1], count)
    pin = numbers.values[token]
    outside = (pin < 1) | (pin > nvtxs)
    if outside.any():
        i = int(np.argmax(outside))
        raise numbers.error(f"pin {pin[i]} is outside 1..{nvtxs}", token=int(token[i]))
    vwgt = _vertex_weights(numbers, rows[nnets:]) if has_vwgt else None

    net = np.repeat(np.arange(nnets), count)
    _, keep = np.unique(net * (nvtxs + 1) + pin, return_index=True)
    merged = len(pin) - len(keep)
    if merged:
        log.warning("%s: %d repeated pins are left out", path, merged)
        keep.sort()
        pin = pin[keep]
        eptr = np.concatenate([[0], np.cumsum(np.bincount(net[keep], minlength=nnets))])
    return Nets(nvtxs, frozen(eptr), frozen((pin - 1).astype(VERTEX)), None if nwgt is None else frozen(nwgt),
                None if vwgt is None else frozen(vwgt), merged)


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
        raise numbers.error(f"fmt must be 0, 1 (net weights), 10 (vertex weights) or 11 (both), is {fmt}", line=line)
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
    _not_negative(numbers, vwgt, start, "vertex weight")
    return vwgt


def _not_negative(numbers: Numbers, values: NDArray[np.int64], token: NDArray[np.int64], name: str) -> None:
    if (values < 0).any():
        i = int(np.argmax(values < 0))
        raise numbers.error(f"{name} must not be negative, is {values[i]}", token=int(token[i]))
