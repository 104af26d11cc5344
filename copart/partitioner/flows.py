"""Refinement of pairs of parts by minimum cuts: what local search cannot see.

Rounds over the pairs of neighbouring parts, heaviest cut first, in batches of disjoint pairs, which
all threads share; a pair is looked at again while one of its parts has changed
(active block scheduling of Holtgrewe, Sanders & Schulz 2010).
"""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import numpy as np

from ..kernels import Level
from ..kernels.flow_network import FlowArena
from ..kernels.flow_pairs import NONE, Batch, cut_pairs, find_facing, next_batch, refine_batch
from ..kernels.memory import pages, seldom_filled
from ..kernels.refinement import State
from ..options import Config
from .coarsening import WIDE
from .refinement import weights_of
from .rounds import Team
from .shape import Shape

Array = np.ndarray[Any, Any]

#: The finest levels, which are not warmed where minimum cuts follow.
_FINE = 3

#: On grids with a surface of steps minimum cuts are sought on so many levels at least: walls that fit the surface lie
#: oblique to the rows.  Cuts of balls, pipes and oblique plates are 4 % lower, in few parts up to 12 %, in 1.3 times
#: (`fast`) and 1.5 times (`default`) the time; on one level alone 3 % in 1.2 times.  Of octrees and prisms 2 and 1 %.
_STEPPED_LEVELS = 2

#: On grids in rows vertices may have that share of the neighbours up to which minimum cuts are sought.  On others they
#: are sought so many times nearer to the border: most is found there, in half the time.
_ON_GRIDS, _NEARER = 0.6, 2

#: In space the networks of minimum cuts grow with the cube of their reach, and what is farther from the border than so
#: many edges changes next to nothing: .1 % of the cut for up to half of the time with a reach of 8 (`strong`).  An edge
#: leads farther where neighbours have neighbours in common: the second is for such graphs, but for those that grow as
#: in the plane, whose cuts would be 1 % higher.
_REACH_IN_SPACE = 5, 4

#: In the plane networks grow with their reach alone: around wide parts it is so much greater, up to so many edges, and
#: pairs are looked at so many times more, up to so often.  On meshes of half a million cells cuts are 3 to 7 % lower
#: for it, in a fifth to a third more time.  Small parts would pay a fifth more time for 1 to 2 %.
_FARTHER, _FARTHEST = 7, 13
_AGAIN, _OFTEN = 2, 4

#: Wide parts cool over twice as many rounds, up to so many, and over so many on the finest levels in space: .5 to
#: 1 % less cut of tetrahedra in a sixth more time (`default`).
_COOLING, _COOLING_FINE = 24, 6

#: Parts of fewer vertices on average are narrow, and cool over as many rounds on the finest levels, in the plane, too:
#: 1 to 2 % less cut in a tenth more time, of which hundreds of parts leave enough.
_NARROW = 1000

#: Pairs that a thread takes at a time, at most; and of those that are left its share, divided by this.
_CHUNK, _PORTION = 4, 2


def flow_settings(finest: Level, config: Config, shape: Shape, nparts: int) -> Config:
    """`config` with those minimum cuts that pay on such a graph; its `flow_levels` are 0 where none do.

    Borders in the plane are short and cuts there cheap: they are always sought, once more, and farther from those of
    wide parts.  In space `fast` seeks them between parts that are not small, whose borders are short beside them.
    Between hexahedra in rows warm rounds find the same walls in less time, unless their surface is one of steps, and
    between others it is enough to look near the border, as it is in space.
    """
    # the networks know nothing of affinities, and would trade them for cut; around hubs they win nothing
    if not config.reach or len(finest.origin) or shape.skewed:
        return replace(config, flow_levels=0)
    width = len(finest.vwgt) / nparts
    if not config.rounds and not shape.flat and 0 < config.flow_width <= width:
        config = replace(config, rounds=1)
    most, made = config.flow_degree, config
    if shape.grid and not (shape.uneven or shape.stepped):
        most *= _ON_GRIDS
    if shape.flat:
        made = replace(config, rounds=config.rounds + 1)
    elif not config.rounds or len(finest.adjncy) > most * len(finest.vwgt):
        return replace(config, flow_levels=0)
    elif shape.uneven and not shape.rough:
        made = replace(config, reach=-(-config.reach // _NEARER))
    elif not shape.grows_flat:
        made = replace(config, reach=min(config.reach, _REACH_IN_SPACE[shape.dense]))
    if shape.stepped:
        made = replace(made, flow_levels=max(made.flow_levels, _STEPPED_LEVELS))
    if width >= WIDE:
        return _for_wide_parts(made, shape.flat)
    if width < _NARROW:
        # thousands of parts do not cool at all
        return replace(made, cooling_fine=max(made.cooling_fine, min(made.cooling, _COOLING_FINE)))
    return made


def _for_wide_parts(config: Config, flat: bool) -> Config:
    """`config` with the effort that pays where parts are wide."""
    cooling = max(config.cooling, min(2 * config.cooling, _COOLING))
    if flat:
        return replace(config, cooling=cooling,
                       rounds=max(config.rounds, min(config.rounds + _AGAIN, _OFTEN)),
                       reach=max(config.reach, min(config.reach + _FARTHER, _FARTHEST)))
    return replace(config, cooling=cooling, cooling_fine=max(config.cooling_fine, _COOLING_FINE))


def cooling_at(depth: int, config: Config) -> int:
    """Rounds of cooling on a level, where `config` is what :func:`flow_settings` made of it; the input graph is 0."""
    return config.cooling_fine if config.flow_levels and depth < _FINE else config.cooling


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
