"""The lists in ``exchange/``: derived again from graphs, interedges and parts, and compared row by row."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ..coupling import CoPartition, CoupledProblem
from .report import Finding, Notes

Columns = Sequence[NDArray[Any]]


def check_interedge_lists(problem: CoupledProblem, copartition: CoPartition, pair: tuple[str, str],
                          index: NDArray[Any], rows: NDArray[Any]) -> list[Finding]:
    """Interedges by part of A and part of B: as many rows as interedges, each in the list of its parts."""
    a, b = pair
    u, v, w = problem.pairs[pair].pairs()
    true = _ascending([copartition.parts[a][u], copartition.parts[b][v], u, v, w])
    return _compare(f"interedges of {a} and {b}", index, [rows["a"], rows["b"], rows["weight"]], true)


def check_halo_lists(problem: CoupledProblem, copartition: CoPartition, name: str, index: NDArray[Any],
                     rows: NDArray[Any]) -> list[Finding]:
    """Cells that a part needs of its neighbours: each once, in the list of its owner and of who needs it."""
    graph, part = problem.components[name], copartition.parts[name]
    needs = {(int(part[v]), int(part[u]), v) for v in range(graph.nvtxs)
             for u in graph.adjncy[graph.xadj[v]:graph.xadj[v + 1]].tolist() if part[u] != part[v]}
    table = np.array(sorted(needs), np.int64).reshape(-1, 3)
    return _compare(f"halo of {name}", index, [rows], list(table.T))


def check_owned_lists(copartition: CoPartition, name: str, index: NDArray[Any], rows: NDArray[Any]) -> list[Finding]:
    """Cells of each part."""
    part = copartition.parts[name]
    return _compare(f"cells of {name}", index, [rows], _ascending([part, part, np.arange(len(part))]))


def _ascending(columns: Columns) -> Columns:
    order = np.lexsort(list(columns)[::-1])
    return [column[order] for column in columns]


def _compare(where: str, index: NDArray[Any], rows: Columns, true: Columns) -> list[Finding]:
    """Keys and rows as told against the true ones, which ascend."""
    notes = Notes(f"exchange: {where}")
    told = [np.repeat(index[:, 0], index[:, 2]), np.repeat(index[:, 1], index[:, 2]), *rows]
    if len(told[0]) != len(true[0]):
        notes.add("rows", f"are {len(true[0])}", str(len(told[0])))
        return notes.list
    wrong = np.flatnonzero(np.any([one != other for one, other in zip(told, true, strict=True)], axis=0))
    if len(wrong):
        i = int(wrong[0])
        said, is_ = (", ".join(f"{column[i]}" for column in columns) for columns in (told, true))
        notes.add(f"row {i}", f"is {is_} (parts, then cells)", f"{said} ({len(wrong) - 1} more)")
    return notes.list


__all__ = ["check_halo_lists", "check_interedge_lists", "check_owned_lists"]
