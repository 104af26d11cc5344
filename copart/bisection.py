"""Initial partitions by recursive bisection: KGGGP with two parts, then FM with rollback.

One more way to start where no vertex is fixed.  With fixed vertices it would
separate parts that should be neighbours, and is not used.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from .arrays import sums
from .kernels import Level, Pull
from .kernels.csr import count_induced, edge_cut, fill_induced
from .kernels.fm import fm_pass
from .kernels.growing import grow, spread_seeds
from .kernels.refinement import find_boundary

Array = np.ndarray[Any, Any]

#: Bisections tried at every split, and FM passes on each.
_TRIES, _PASSES = 4, 4


def recursive_bisection(g: Level, pull: Pull, limit: Array, salt: int) -> Array:
    """A partition into ``len(limit)`` parts by halving the parts again and again.

    Parameters
    ----------
    limit : (nparts,) int64
        Largest weight of each part; the slack is spread over the splits.

    Returns
    -------
    (nvtxs,) int32
        Parts; may exceed the limits where coarse vertices are heavy.
    """
    part = np.zeros(len(g.vwgt), np.int32)
    stack = [(np.arange(len(part), dtype=np.int32), 0, len(limit))]
    while stack:
        vertices, first, last = stack.pop()
        if last - first == 1:
            part[vertices] = first
            continue
        middle = (first + last) // 2
        sub = g if len(vertices) == len(part) else _induced(g, vertices)
        side = bisect(sub, pull, _side_limits(sub, limit, first, middle, last), salt * 8191 + first * 64 + last)
        stack.append((vertices[side == 0], first, middle))
        stack.append((vertices[side == 1], middle, last))
    return part


def _side_limits(g: Level, limit: Array, first: int, middle: int, last: int) -> Array:
    """Limits of the two sides: the slack left, spread evenly over the splits still to come."""
    weight = int(g.vwgt.sum())
    left, both = int(limit[first:middle].sum()), int(limit[first:last].sum())
    splits = np.ceil(np.log2(last - first))
    slack = max(both / max(weight, 1), 1.0) ** (1 / splits)
    share = left / max(both, 1)
    return np.array([min(np.ceil(slack * weight * share), left), min(np.ceil(slack * weight * (1 - share)), both - left)], np.int64)


def bisect(g: Level, pull: Pull, limit: Array, salt: int) -> Array:
    """The best of several grown and FM-refined bisections: least excess, then least cut."""
    n = len(g.vwgt)
    key, dest, heap = np.empty(n, np.int64), np.empty(n, np.int32), np.empty(n, np.int32)
    pos, state, log = np.full(n, -1, np.int32), np.zeros(n, np.uint8), np.empty((2, n), np.int32)
    conn, touched, result = np.empty(2, np.int64), np.empty(2, np.int32), np.zeros(4, np.int64)
    entries = len(g.adjncy) + n + 1
    gain, tie = np.empty(entries, np.int64), np.empty(entries, np.int64)
    who, where = np.empty(entries, np.int32), np.empty(entries, np.int32)
    boundary = np.empty(n, np.uint8)
    best: tuple[int, int] | None = None
    kept = np.zeros(n, np.int32)
    for t in range(_TRIES):
        part = np.full(n, -1, np.int32)
        pwgt, population = np.zeros(2, np.int64), np.zeros(2, np.int64)
        spread_seeds(g, part, pwgt, population, dest, heap, salt + t)
        grow(g, pull, part, pwgt, limit, salt + t, gain, tie, who, where)
        population = np.bincount(part, minlength=2).astype(np.int64)
        for i in range(_PASSES):
            find_boundary(0, n, g, part, boundary)
            seeds = np.flatnonzero(boundary).astype(np.int32)
            won = fm_pass(g, pull, part, pwgt, population, limit, seeds, max(50, n // 10), salt + i, heap, pos, key, dest, state,
                          log, conn, touched, result)
            if won <= 0:
                break
        found = (int(np.maximum(sums(part, g.vwgt, 2) - limit, 0).sum()), int(edge_cut(g.xadj, g.adjncy, g.ewgt, part)))
        if best is None or found < best:
            best, kept = found, part
    return kept


def _induced(g: Level, vertices: Array) -> Level:
    """The level restricted to ascending `vertices`, without fixed vertices and affinities."""
    new = np.full(len(g.vwgt), -1, np.int32)
    new[vertices] = np.arange(len(vertices), dtype=np.int32)
    xadj = np.zeros(len(vertices) + 1, np.int64)
    count = count_induced(g.xadj, g.adjncy, vertices, new, xadj)
    adjncy, ewgt = np.empty(count, np.int32), np.empty(count if len(g.ewgt) else 0, np.int64)
    fill_induced(g.xadj, g.adjncy, g.ewgt, vertices, new, adjncy, ewgt)
    none = np.zeros(0, np.int32)
    return Level(xadj, adjncy, ewgt, g.vwgt[vertices], none, none, np.zeros(0, np.int64))
