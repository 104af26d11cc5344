"""Loose pieces of parts joined to their neighbours, where that costs nothing of what is asked for first."""

from __future__ import annotations

from typing import Any

import numpy as np

from ...arrays import VERTEX
from ...kernels import Level, contiguity, umpa_pieces
from ..contiguity import Pieces
from .search import Search

Array = np.ndarray[Any, Any]

#: Rounds, for pieces that hang on other loose ones only.
_ROUNDS = 3

#: By what share all metrics but the first may grow, in all rounds together.
_DEARER = 0.005


def join_pieces(search: Search, graph: Level) -> int:
    """Let loose pieces join the parts of their neighbours, in place; returns how many have.

    A part keeps its heaviest piece, and those with fixed vertices. Of the parts with room next to it a piece joins the
    one after which the metrics are least, if the first of them grows by nothing and the others by little.

    Parameters
    ----------
    search : Search
        A state without excess.
    graph : Level
        Says which vertices are next to each other.
    """
    k = len(search.state.load)
    most = [search.values()[0], *(v + int(_DEARER * v) for v in search.values()[1:])]
    joined = 0
    for _ in range(_ROUNDS):
        part = search.state.part
        piece, of_part, weight, loose = Pieces.of(graph, part, k)
        if not loose.any():
            break
        count = int(contiguity.piece_ties(graph, part, piece, loose, np.empty((0, 3), np.int64)))
        ties = np.empty((count, 3), np.int64)
        contiguity.piece_ties(graph, part, piece, loose, ties)
        pairs = np.unique(ties[:, :2], axis=0)
        tied = np.unique(pairs[:, 0])
        start, end = (np.searchsorted(pairs[:, 0], tied, side) for side in ("left", "right"))
        near = {p: pairs[i:j, 1] for p, i, j in zip(tied.tolist(), start, end, strict=True)}
        order = np.argsort(piece, kind="stable").astype(VERTEX)
        first = np.searchsorted(piece[order], np.arange(len(weight) + 1))
        before = joined
        for p in sorted(near, key=lambda p: (weight[p], p)):
            joined += _join(search, order[first[p] : first[p + 1]], int(of_part[p]), int(weight[p]), near[p], most)
        if joined == before:
            break
    return joined


def _join(search: Search, vertices: Array, a: int, weight: int, near: Array, most: list[int]) -> bool:
    """Move the vertices of part a to the best of the parts in `near`, if that is within bounds."""
    found: tuple[tuple[int, ...], int] | None = None
    for q in near.tolist():
        if search.state.load[q] + weight > search.state.limit[q] or search.state.part[vertices[0]] != a:
            continue
        if _moved(search, vertices, q):
            values = search.values()
            if all(v <= m for v, m in zip(values, most, strict=True)) and (found is None or (values, q) < found):
                found = values, q
        _moved(search, vertices, a)
    return found is not None and _moved(search, vertices, found[1])


def _moved(search: Search, vertices: Array, b: int) -> bool:
    """Move all of the vertices that are not in part b yet; whether all are there."""
    search.tidy()
    there = vertices[search.state.part[vertices] != b]
    return int(umpa_pieces.move_all(search.h, search.state, there, b)) == len(there)


__all__ = ["join_pieces"]
