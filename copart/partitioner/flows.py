"""Refinement of pairs of parts by minimum cuts: what local search cannot see.

Rounds over the pairs of neighbouring parts, heaviest cut first, in batches of disjoint pairs, which
all threads share; a pair is looked at again while one of its parts has changed
(active block scheduling of Holtgrewe, Sanders & Schulz 2010).
"""

from __future__ import annotations

from typing import Any

import numpy as np

from ..kernels import Level
from ..kernels.balancing import group_by_part
from ..kernels.flow_network import FlowArena
from ..kernels.flow_pairs import Batch, cut_pairs, refine_batch
from ..kernels.refinement import find_boundary, weigh
from .refinement import listed_vertices
from .rounds import Team

Array = np.ndarray[Any, Any]

#: Pairs that a thread takes at a time.
_CHUNK = 4


def refine_pairs(g: Level, part: Array, limit: Array, team: Team, rounds: int, reach: int, share: float) -> int:
    """Lower the cut by minimum cuts between pairs of parts; returns by how much.

    Parameters
    ----------
    part : (nvtxs,) int32
        A partition within the limits; changed in place, and stays within them.
    limit : (nparts,) int64
    rounds : int
        Times that a pair is looked at, at most.
    reach : int
        Vertices take part up to so many edges from the border,
    share : float
        and up to this share of a part's weight.
    """
    k = len(limit)
    pwgt, population = np.zeros((2, k), np.int64)
    weigh(part, g.vwgt, pwgt, population)
    arenas = [_arena(g) for _ in range(team.threads)]
    chunk = _CHUNK if team.threads > 1 else k
    active = np.ones(k, bool)
    total = 0
    for _ in range(rounds):
        listed = np.empty(len(part), np.uint8)
        team.run(find_boundary, len(part), g._replace(origin=part[:0], fixed=part[:0]), part, listed)
        border = listed_vertices(listed)
        waiting = [(int(a), int(b)) for a, b in _pairs(g, part, k, border) if active[a] or active[b]]
        active[:] = False
        while waiting:
            pairs, waiting = _disjoint(waiting)
            start, order = _by_part(part, border, k)
            batch = Batch(pairs=np.array(pairs, np.int32), room=np.empty((len(pairs), 2), np.int64),
                          won=np.zeros(len(pairs), np.int64), start=start, order=order, listed=listed)

            def refine(i: int, arena: FlowArena, batch: Batch = batch) -> None:
                last = min((i + 1) * chunk, len(batch.pairs))
                refine_batch(i * chunk, last, g, part, pwgt, population, limit, batch, reach, share, arena)

            team.spread(refine, -(-len(pairs) // chunk), arenas)
            total += int(batch.won.sum())
            active[batch.pairs[batch.won > 0]] = True
            border = _grown(border, arenas)
        if not active.any():
            break
    return total


def _disjoint(pairs: list[tuple[int, int]]) -> tuple[list[tuple[int, int]], list[tuple[int, int]]]:
    """A maximal set of pairs without a part in common, taken in order, and the others."""
    taken: set[int] = set()
    batch, rest = [], []
    for pair in pairs:
        if taken.isdisjoint(pair):
            taken.update(pair)
            batch.append(pair)
        else:
            rest.append(pair)
    return batch, rest


def _grown(border: Array, arenas: list[FlowArena]) -> Array:
    """The border (nborder,), ascending, with what is new there; it is no longer new."""
    fresh = [arena.fresh[: arena.nfresh[0]].copy() for arena in arenas if arena.nfresh[0]]
    for arena in arenas:
        arena.nfresh[0] = 0
    # the same whichever thread found what
    return np.sort(np.concatenate([border, *fresh]), kind="stable") if fresh else border


def _by_part(part: Array, border: Array, nparts: int) -> tuple[Array, Array]:
    """The vertices of the border by part (nborder,), and where those of each part begin (nparts + 1,)."""
    start, order = np.empty(nparts + 1, np.int64), np.empty(len(border), np.int32)
    group_by_part(part, border, len(border), start, order)
    return start, order


def _pairs(g: Level, part: Array, nparts: int, border: Array) -> Array:
    """Pairs of neighbouring parts (npairs, 2), heaviest cut first."""
    arcs = int((g.xadj[border + 1] - g.xadj[border]).sum())
    key, weight = np.empty(arcs, np.int64), np.empty(arcs, np.int64)
    count = cut_pairs(g, part, border, nparts, key, weight)
    if nparts * nparts <= arcs:  # counted in a table of all pairs, without putting the edges in order
        pair = np.flatnonzero(np.bincount(key[:count]))
        total = np.bincount(key[:count], weights=weight[:count])[pair]
    else:
        pair, inverse = np.unique(key[:count], return_inverse=True)
        total = np.bincount(inverse, weights=weight[:count])
    heavy = np.argsort(-total, kind="stable")
    return np.stack([pair[heavy] // nparts, pair[heavy] % nparts], axis=1)


def _arena(g: Level) -> FlowArena:
    """Memory for one pair after the other; untouched pages cost nothing."""
    # the region of a pair may be the whole graph; one more, for the end of offsets, and so that nothing is empty
    n, m = len(g.vwgt) + 1, len(g.adjncy) + 1
    i32, i64 = np.int32, np.int64
    return FlowArena(
        local=np.full(n, -1, i32),
        vertex=np.empty(n, i32),
        hops=np.empty(n, i32),
        level=np.empty(n, i32),
        queue=np.empty(n, i32),
        path=np.empty(n, i32),
        back=np.empty(n, i32),
        term=np.empty(n, np.uint8),
        first=np.empty(n, i64),
        cursor=np.empty(n, i64),
        head=np.empty(m, i32),
        rev=np.empty(m, i64),
        cap=np.empty(m, i64),
        fresh=np.empty(n, i32),
        nfresh=np.zeros(1, i64),
    )
