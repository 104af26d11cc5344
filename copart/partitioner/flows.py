"""Refinement of pairs of parts by minimum cuts: what local search cannot see.

Rounds over the pairs of neighbouring parts, heaviest cut first, in batches of disjoint pairs, which
all threads share; a pair is looked at again while one of its parts has changed
(active block scheduling of Holtgrewe, Sanders & Schulz 2010).
"""

from __future__ import annotations

from typing import Any

import numpy as np

from ..kernels import Level
from ..kernels.flow_network import FlowArena
from ..kernels.flow_pairs import NONE, Batch, cut_pairs, find_facing, next_batch, refine_batch
from ..kernels.memory import pages, seldom_filled
from ..kernels.refinement import State
from .refinement import weights_of
from .rounds import Team

Array = np.ndarray[Any, Any]

#: Pairs that a thread takes at a time, at most; and of those that are left its share, divided by this.
_CHUNK, _PORTION = 4, 2


def refine_pairs(g: Level, part: Array, limit: Array, team: Team, rounds: int, reach: int, share: float,
                 state: State | None = None) -> int:
    """Lower the cut by minimum cuts between pairs of parts; returns by how much.

    Parameters
    ----------
    part : (nvtxs,) int32
        A partition within the limits; changed in place, and stays within them.
    limit : (nparts,) int64
    rounds : int
        Times that a pair is looked at, at most.
    reach : int
        What is so many edges from the border, or more, stays where it is,
    share : float
        and so does what is beyond this share of a part's weight.
    state : State, optional
        What is known of `part` where only rounds of refinement have moved vertices: its `pwgt` and `population` are
        changed with it.
    """
    n, k = len(part), len(limit)
    if state is None:
        listed, (pwgt, population) = np.empty(0, np.uint8), weights_of(g, part, k, team)
    else:
        listed, pwgt, population = state.listed, state.pwgt, state.population
    # each thread makes its own: to touch new memory takes longer than to find the border
    arenas = team.spread(lambda _, __: _arena(g), team.threads, [None] * team.threads)
    batch = empty_batch(n, k)

    def at_border(lo: int, hi: int) -> Array:
        find_facing(lo, hi, g, part, listed, batch.facing)
        return (np.flatnonzero(batch.facing[lo:hi] != NONE) + lo).astype(np.int32)

    for _ in range(rounds):
        first = np.concatenate(team.run(at_border, n))
        listed = listed[:0]  # minimum cuts move vertices that are not listed
        batch.border[: len(first)], batch.count[0] = first, len(first)
        waiting = _pairs(g, part, k, first)
        waiting = waiting[(batch.changed[waiting] > 0).any(axis=1)]
        batch.changed[:] = 0
        left = len(waiting)
        while left:
            taken, left = next_batch(part, _fresh(arenas), waiting, left, batch)

            ends = _chunks(taken, team.threads)

            def refine(i: int, arena: FlowArena, ends: list[int] = ends) -> None:
                refine_batch(ends[i], ends[i + 1], g, part, pwgt, population, limit, batch, reach, share, arena)

            team.spread(refine, len(ends) - 1, arenas)
        _fresh(arenas)
        if not batch.changed.any():
            break
    return int(batch.won.sum())


def _chunks(count: int, threads: int) -> list[int]:
    """Where so many pairs, the heaviest first, are cut for threads that take what comes next as they get free.

    >>> _chunks(20, 2), _chunks(20, 1)
    ([0, 4, 8, 11, 13, 14, 15, 16, 17, 18, 19, 20], [0, 20])
    """
    ends = [0]
    while ends[-1] < count:
        left = count - ends[-1]
        ends.append(ends[-1] + (left if threads == 1 else min(max(left // (threads * _PORTION), 1), _CHUNK)))
    return ends


def _fresh(arenas: list[FlowArena]) -> Array:
    """What is new at the border (nfresh,), ascending, the same whichever thread found what; it is no longer new."""
    found = np.concatenate([arena.fresh[: arena.nfresh[0]] for arena in arenas])
    found.sort()
    for arena in arenas:
        arena.nfresh[0] = 0
    return found


def _pairs(g: Level, part: Array, nparts: int, border: Array) -> Array:
    """Pairs of neighbouring parts (npairs, 2) int32, heaviest cut first."""
    arcs = int((g.xadj[border + 1] - g.xadj[border]).sum())
    none = np.empty(0, np.int64)
    if nparts * nparts <= arcs:  # a table of all pairs, without putting the edges in order
        table = np.zeros(nparts * nparts, np.int64)
        cut_pairs(g, part, border, nparts, none, none, table)
        pair = np.flatnonzero(table)
        total = table[pair]
    else:
        key, weight = np.empty(arcs, np.int64), np.empty(arcs, np.int64)
        count = cut_pairs(g, part, border, nparts, key, weight, none)
        pair, inverse = np.unique(key[:count], return_inverse=True)
        total = np.bincount(inverse, weights=weight[:count])
    pair = pair[np.argsort(-total, kind="stable")]
    return np.stack([pair // nparts, pair % nparts], axis=1).astype(np.int32)


def empty_batch(nvtxs: int, nparts: int) -> Batch:
    """Memory for one batch of pairs after the other; all parts count as changed."""
    i32, i64 = np.int32, np.int64
    return Batch(
        pairs=np.empty((nparts // 2, 2), i32),
        room=np.empty((nparts // 2, 2), i64),
        won=np.zeros(nparts, i64),
        changed=np.ones(nparts, np.uint8),
        start=np.empty(nparts + 1, i64),
        order=pages(nvtxs, i32),
        border=pages(nvtxs, i32),
        count=np.zeros(1, i64),
        facing=pages(nvtxs, i32),
    )


def _arena(g: Level) -> FlowArena:
    """Memory for one pair after the other; untouched pages cost nothing."""
    # the region of a pair may be the whole graph; one more, for the end of offsets, and so that nothing is empty
    n, m = len(g.vwgt) + 1, len(g.adjncy) + 1
    i32, i64 = np.int32, np.int64
    local = pages(n, i32)
    local.fill(-1)
    return FlowArena(
        local=local,
        vertex=seldom_filled(n, i32),
        hops=seldom_filled(n, i32),
        level=seldom_filled(n, i32),
        queue=seldom_filled(n, i32),
        path=seldom_filled(n, i32),
        back=seldom_filled(n, i32),
        source=seldom_filled(n, i64),
        sink=seldom_filled(n, i64),
        tied=seldom_filled(n, np.uint8),
        term=seldom_filled(n, np.uint8),
        first=seldom_filled(n, i64),
        cursor=seldom_filled(n, i64),
        head=seldom_filled(m, i32),
        rev=seldom_filled(m, i64),
        cap=seldom_filled(m, i64),
        fresh=seldom_filled(n, i32),
        nfresh=np.zeros(1, i64),
    )
