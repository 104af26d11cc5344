"""Rows of a graph: their normal form, checked and sorted where they are not, and those of subgraphs."""

from __future__ import annotations

from functools import partial
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ..arrays import OFFSET, VERTEX, WEIGHT, frozen
from ..errors import GraphError

#: Entries of rows from which on several threads check them, as fewer take less than a millisecond; and how many do at
#: most, as each needs 8 bytes per vertex, and more would be done hardly sooner.
_LARGE, _CHECKING = 1 << 19, 4


def induced_rows(xadj: NDArray[np.int64], adjncy: NDArray[np.int32], ewgt: NDArray[Any],
                 vertices: NDArray[np.int32]) -> tuple[NDArray[np.int64], NDArray[np.int32], NDArray[Any]]:
    """Offsets, neighbours and edge weights of the subgraph induced by ascending `vertices` (nsub,).

    Parameters and result are as kernels see them: `ewgt` is empty where every edge weighs 1.
    """
    from ..kernels.csr import count_induced, fill_induced

    new = np.full(len(xadj) - 1, -1, VERTEX)
    new[vertices] = np.arange(len(vertices), dtype=VERTEX)
    rows, keep = (frozen(xadj), frozen(adjncy)), frozen(vertices)
    offsets = np.zeros(len(keep) + 1, OFFSET)
    count = count_induced(*rows, keep, new, offsets)
    neighbours, written = np.empty(count, VERTEX), np.empty(count if len(ewgt) else 0, ewgt.dtype)
    fill_induced(*rows, frozen(ewgt), keep, new, neighbours, written)
    return offsets, neighbours, written


def normal_form(xadj: NDArray[np.int64], adjncy: NDArray[np.int32], ewgt: NDArray[np.int64] | None,
                threads: int) -> tuple[NDArray[np.int32], NDArray[np.int64] | None]:
    """Neighbours and edge weights with rows sorted; GraphError on loops, duplicates and asymmetry.

    Parameters
    ----------
    xadj : (nvtxs + 1,) int64
        Offsets that do not decrease, from 0 to the number of entries.
    adjncy : (nentries,) int32
        Vertices.
    ewgt : (nentries,) int64, optional
    threads : int
        Threads that look.
    """
    n = len(xadj) - 1
    if n == 0 or len(adjncy) == 0:
        return adjncy, ewgt
    # read-only from here on, so that kernels are compiled once and not for both kinds of arrays
    xadj, adjncy = frozen(xadj), frozen(adjncy)
    none = np.zeros(0, WEIGHT)
    loop, disorder, lonely = _first_faults((xadj, adjncy, frozen(none if ewgt is None else ewgt)), threads)
    if loop >= 0:
        raise GraphError(f"adjncy: vertex {loop} has an edge to itself, loops are not allowed")
    if disorder >= 0:
        from scipy.sparse import csr_array

        index = np.arange(len(adjncy), dtype=OFFSET)
        m = csr_array((index, adjncy.copy(), xadj.copy()), shape=(n, n))
        m.sort_indices()
        adjncy = frozen(m.indices.astype(VERTEX, copy=False))
        ewgt = None if ewgt is None else ewgt[m.data]
        _, v, lonely = _first_faults((xadj, adjncy, frozen(none if ewgt is None else ewgt)), threads)
        if v >= 0:
            row = adjncy[xadj[v]:xadj[v + 1]]
            twice = int(row[1:][row[1:] == row[:-1]][0])
            raise GraphError(f"adjncy: vertex {v} lists neighbour {twice} more than once")
    if lonely >= 0:
        raise GraphError(_describe_asymmetry(xadj, adjncy, ewgt))
    return adjncy, ewgt


def _first_faults(rows: tuple[NDArray[Any], ...], threads: int) -> list[int]:
    """The first vertices with a loop, with a row that is not ascending, and with one that its neighbours' do not match;
    each -1 where there is none.  Behind a loop nothing is looked for, nor is the last where rows are not ascending.
    """
    from ..kernels.csr import first_asymmetry, first_faults
    from ..kernels.memory import pages
    from ..parallel import side_by_side

    n, pieces = len(rows[0]) - 1, min(threads, _CHECKING) if len(rows[1]) >= _LARGE else 1

    def look(i: int) -> list[int]:
        lo, hi = i * n // pieces, (i + 1) * n // pieces
        loop, disorder = first_faults(lo, hi, *rows[:2])
        lonely = -1 if max(loop, disorder) >= 0 else first_asymmetry(lo, hi, *rows, pages(n, OFFSET))
        return [int(loop), int(disorder), int(lonely)]

    found = side_by_side([partial(look, i) for i in range(pieces)], pieces)
    return [next((v for v in of if v >= 0), -1) for of in zip(*found, strict=True)]


def _describe_asymmetry(xadj: NDArray[np.int64], adjncy: NDArray[np.int32], ewgt: NDArray[np.int64] | None) -> str:
    """Say which is the first edge that lacks its reverse or has another weight there."""
    n = len(xadj) - 1
    u = np.repeat(np.arange(n), np.diff(xadj))
    there, back = u * n + adjncy, adjncy.astype(np.int64) * n + u
    at = np.minimum(np.searchsorted(there, back), len(there) - 1)  # rows are sorted, and so is `there`
    lonely = there[at] != back
    if lonely.any():
        e = int(np.argmax(lonely))
        return f"adjncy: edge {u[e]}-{adjncy[e]} is listed by vertex {u[e]} but not by vertex {adjncy[e]}"
    weight = np.ones(len(adjncy), WEIGHT) if ewgt is None else ewgt
    e = int(np.argmax(weight[at] != weight))
    return f"ewgt: edge {u[e]}-{adjncy[e]} weighs {weight[e]} one way and {weight[at[e]]} the other"


__all__ = ["induced_rows", "normal_form"]
