"""Coarsening: shrink a graph level by level, keeping its shape, its fixed vertices and its balance.

Vertices are clustered (:mod:`copart.partitioner.clustering`), and contraction merges parallel edges.
"""

from __future__ import annotations

from bisect import bisect_left
from collections.abc import Sequence
from dataclasses import replace
from itertools import accumulate
from typing import Any, NamedTuple

import numpy as np

from ..arrays import VERTEX, WEIGHT
from ..kernels import Level, contraction
from ..kernels.memory import pages, reuse, shortened
from ..kernels.multiconstraint import sum_rows
from ..kernels.weights import type_of, type_unpacked
from ..options import Config
from .clustering import cluster, heaviest_cluster
from .rounds import Team
from .shape import Shape

Array = np.ndarray[Any, Any]

#: Edges, counted twice, from which on a level that is not at work is packed by one thread, and by several: their time
#: goes by what they move in memory, and packing took them a fifteenth of it.
_LARGE, _HUGE = 1 << 20, 1 << 25

#: Entries are moved in so many steps, at most; and so many blocks per thread tell where the entries of a level are cut
#: into equal pieces.
_STEPS, _BLOCKS = 64, 4

#: Coarsening stops when a level keeps more than this share of its vertices.
_STALLED = 0.95

#: Grids are coarsened to an eighth: cells of two by two by two keep their shape.  In the plane parts are more cells
#: wide, and so many times fewer do: the same cut in a tenth to a fifth less time.  Where rows end inside, walls
#: are not flat anyway, and still fewer do: more bisections are made in the same time, and cuts of 4 parts are 4 %, of
#: 8 parts 1 % lower (`fast`, `default`), and those of more parts the same in a tenth less time.
_FINE, _FEWER, _FEWER_UNEVEN = 8, 2, 4


class Levels(NamedTuple):
    """Graphs from fine to coarse, and what goes with them.

    levels, the graphs; maps, from the vertices of each to those of the next; rows, the weight vectors (nvtxs, ncon) of
    each, none where there are none.
    """

    levels: list[Level]
    maps: list[Array]
    rows: list[Array]


#: Neighbours, on average, of a vertex of a planar graph are fewer than 6.  Of those, the coarsest has so many times
#: fewer vertices per part, and at least; see :func:`coarsen_planar`.
_PLANAR, _PER_PART, _LEAST = 6.5, 2, 5

#: So many parts are partitioned with less effort, if they are small; see :func:`fitted`.
_THOUSANDS = 5000

#: Graphs of so many times as many vertices as the coarsest has are large.  Effort on that costs little beside the rest
#: then, and ample settings are so many times as large: 2 % less cut in a tenth more time on meshes (`fast`).
_TIMES_COARSEST = 200
_AMPLE = {"coarse_per_part": 1.5, "coarse_least": 2.0, "halving_least": 2.0, "warmth": 1.2, "cooling": 4 / 3}

#: In rough bodies the narrow places decide, which initial partitions of few vertices find: cuts of 2 to 8 parts are
#: 2 to 7 % lower than with three times as many.
_LEAST_OF_ROUGH = 200

#: Parts of so many vertices on average are wide: effort at their borders, which are short, costs little.
WIDE = 8000

#: Settings, at most, of small meshes in space where parts are not wide: those are cut .5 to 1 % better without, in 3 to
#: 6 % more time.
_OF_SMALL = {"reach": 3, "cooling": 6, "patience": 1, "halving_least": 40, "halving_passes": 2}


def coarsest_size(config: Config, nparts: int) -> int:
    """Vertices at which coarsening for `nparts` parts stops."""
    return max(config.coarse_per_part * nparts, config.coarse_least)


def coarsen_planar(found: Levels, config: Config, nparts: int, shape: Shape, team: Team) -> Levels:
    """Levels by :func:`coarsen`, with further ones where the coarsest graph is about planar.

    Parts of the plane have short borders: initial partitions of a smaller graph are better there, and cheaper (cut of
    meshes of triangles 2 to 6 % lower).  In space they are worse, and grids have a size of their own.
    """
    g = found.levels[-1]
    if shape.grid or len(g.adjncy) > _PLANAR * len(g.vwgt):
        return found
    stop = max(config.coarse_per_part * nparts // _PER_PART, config.coarse_least // _LEAST)
    more = coarsen(g, stop, shape, team, least=nparts)
    return Levels(found.levels[:-1] + more.levels, found.maps + more.maps, found.rows)


def first_size(config: Config, nvtxs: int, nparts: int, shape: Shape) -> int:
    """Vertices at which coarsening for an initial partition stops.

    The cells of a grid stay small beside its parts: flat walls lie between two layers of cells.  Parts of thirty cells
    have three layers, and balance is not found without steps in the walls, which refinement does not remove; bisections
    of a fine grid are cheap and flat.
    """
    stop = coarsest_size(config, nparts)
    if shape.rough:
        return coarsest_size(replace(config, coarse_least=min(config.coarse_least, _LEAST_OF_ROUGH)), nparts)
    if not shape.grid:
        return stop
    fewer = _FEWER_UNEVEN if shape.uneven else _FEWER if shape.flat else 1
    return max(stop, max(config.grid_least, nvtxs // _FINE) // fewer)


def fitted(config: Config, nvtxs: int, nparts: int) -> Config:
    """`config`, with more effort on large graphs where it is ample, and less in thousands of parts.

    With few vertices in each of those there is nothing to coarsen, and every warm round overloads so many parts that
    restoring balance costs more than all the rest; without them a grid of 10^6 in 50,000 parts is cut 2 % better in a
    third of the time.
    """
    coarsest = coarsest_size(config, nparts)
    if config.ample and nvtxs >= _TIMES_COARSEST * coarsest:
        return replace(config, **{name: type(getattr(config, name))(times * getattr(config, name))
                                  for name, times in _AMPLE.items()})
    if nparts < _THOUSANDS or nvtxs > coarsest:
        return config
    return replace(config, bisections=1, cooling=0, patience=min(config.patience, 2))


def fitted_to_small(config: Config, nvtxs: int, nparts: int, shape: Shape) -> Config:
    """`config`, with less effort on small meshes in space where it says so: a fifth less time for 1 % of the cut.

    Parts that are wide have short borders: there pairs are looked at twice, 1.5 % less cut in a tenth more time.
    Grids gain little by either: their cut is that of the first bisections.  Where neighbours have neighbours in common,
    cuts would be 2 % higher, and 3 % in rough bodies.
    """
    if nvtxs >= config.brief_below or shape.flat or shape.skewed or shape.grid or shape.dense or shape.rough:
        return config
    if nvtxs >= WIDE * nparts:
        return replace(config, rounds=2 * config.rounds)
    return replace(config, **{name: min(most, getattr(config, name)) for name, most in _OF_SMALL.items()})


@reuse
def coarsen(level: Level, stop: int, shape: Shape, team: Team, *, least: int = 1, within: Array | None = None,
            rows: Array | None = None, pack: bool = False) -> Levels:
    """Shrink a graph until it has at most `stop` vertices, or stops shrinking.

    Parameters
    ----------
    least : int
        No level has fewer vertices.
    within : (nvtxs,) int32, optional
        Classes that clusters stay inside.
    rows : (nvtxs, ncon) int64, optional
        Weight vectors, added up over the clusters.
    pack : bool
        Store the levels between the given and the coarsest one as :func:`packed` does; the given one, whose vertex
        weights may be of another type, is the caller's.
    """
    heaviest = heaviest_cluster(level, stop)
    found = Levels([level], [], [] if rows is None else [rows])
    while len(found.levels[-1].vwgt) > stop:
        team.grow()
        g = unpacked(found.levels[-1], team)
        team.tell("coarsening", len(g.vwgt))
        cmap, count = cluster(_apart(g, within), heaviest, shape, team)
        if count > _STALLED * len(cmap) or count < least:
            break
        found.levels.append(contract(g, cmap, count, team, alike=shape.grid and not shape.uneven))
        if pack and len(found.levels) > 2:
            found.levels[-2] = packed(g, team)
        found.maps.append(cmap)
        if rows is not None:
            found.rows.append(np.zeros((count, rows.shape[1]), WEIGHT))
            sum_rows(cmap, found.rows[-2], found.rows[-1])
        if within is not None:
            within = carry(within, cmap, count)
    return found


def pays_to_pack(entries: int, team: Team) -> bool:
    """Whether a level with so many edges, counted twice, is large enough to be packed while it is not at work."""
    return entries >= (_LARGE if team.threads == 1 else _HUGE)


def packed(g: Level, team: Team) -> Level:
    """The level of a large graph with offsets and weights in the smallest types that hold them."""
    if not pays_to_pack(len(g.ewgt), team):
        return g
    most = np.max(team.each(_largest, (g.ewgt, g.vwgt)), axis=0)
    types = [min(a.dtype, np.min_scalar_type(one), key=lambda kind: kind.itemsize)
             for a, one in zip((g.xadj, g.ewgt, g.vwgt), (g.xadj[-1], *most), strict=True)]
    return _of_types(g, types, team)


def unpacked(g: Level, team: Team) -> Level:
    """The level as kernels take it."""
    return _of_types(g, [WEIGHT, type_unpacked(g.ewgt.dtype), WEIGHT], team)


def _largest(*arrays: Array) -> list[int]:
    return [int(a.max(initial=0)) for a in arrays]


def _copy_pairs(*pairs: Array) -> None:
    """Fill the first array with the second, the third with the fourth, ..."""
    for to, a in zip(pairs[::2], pairs[1::2], strict=True):
        to[:] = a


def _of_types(g: Level, types: list[Any], team: Team) -> Level:
    """The level with offsets, weights of edges and of vertices of these types; copied where they are of others."""
    old = g.xadj, g.ewgt, g.vwgt
    new = [a if a.dtype == kind else pages(len(a), kind) for a, kind in zip(old, types, strict=True)]
    pairs = [pair for pair in zip(new, old, strict=True) if pair[0] is not pair[1]]
    if pairs:
        team.each(_copy_pairs, [a for pair in pairs for a in pair])
    return g._replace(xadj=new[0], ewgt=new[1], vwgt=new[2])


def carry(values: Array, cmap: Array, count: int) -> Array:
    """Values that all vertices of a cluster share, (nvtxs,) int32, for the clusters."""
    coarse = np.empty(count, VERTEX)
    contraction.push_up(cmap, values, coarse)
    return coarse


def carry_down(values: Array, cmap: Array) -> Array:
    """Values of the clusters, (ncoarse,) int32, for their vertices."""
    fine = np.empty(len(cmap), VERTEX)
    contraction.pull_down(0, len(cmap), cmap, values, fine)
    return fine


def _apart(g: Level, within: Array | None) -> Level:
    """`g` with origins that also tell the classes apart, so that clusters stay inside one."""
    if within is None:
        return g
    if len(g.origin):
        both = g.origin.astype(np.int64) * (int(within.max()) + 1) + within
        within = np.unique(both, return_inverse=True)[1].astype(VERTEX)
    return g._replace(origin=within)


def contract(g: Level, cmap: Array, ncoarse: int, team: Team, *, alike: bool = False) -> Level:
    """The graph of the clusters; edge weights between two clusters are added.

    Where rows are `alike`, as in grids, edges are looked at in another way: the graph is the same.
    """
    n = len(g.vwgt)
    # what stays is made first, so that the memory of the rest is in one piece again
    vwgt, xadj = pages(ncoarse, np.int64), pages(ncoarse + 1, np.int64)
    members = contraction.Members(pages(ncoarse, np.int32), pages(n, np.int32))
    contraction.link_members(cmap, members)
    fixed = np.empty(ncoarse if len(g.fixed) else 0, np.int32)
    origin = np.empty(ncoarse if len(g.origin) else 0, np.int32)
    size = np.empty(ncoarse if len(g.origin) else 0, np.int64)
    # as many as the fine vertices are worth: those of dense graphs form few clusters
    pieces = min(team.pieces(n), max(ncoarse, 1))
    blocks = pieces * (_BLOCKS if pieces > 1 else 1)
    ends = [i * ncoarse // blocks for i in range(blocks + 1)]
    most, entries = zip(*team.run(contraction.contract_vertices, ncoarse, g, members, vwgt, fixed, origin, size,
                                  bounds=ends), strict=True)
    bounds, begin = _evenly(ends, entries, pieces)
    at = dict(zip(bounds, begin, strict=True))

    # untouched memory of these buffers is never resident: their true length is known only afterwards
    adjncy = pages(begin[-1], np.int32)
    xadj[0] = 0

    def merged(kind: Any) -> tuple[Array, list[int]]:
        ewgt = pages(begin[-1], kind)

        def rows(lo: int, hi: int, mark: Array) -> int:
            return int(contraction.contract_rows(lo, hi, at[lo], g, cmap, members, alike, xadj[1:], adjncy, ewgt,
                                                 max(most), mark))

        places = min(ncoarse, 8 * max(most) + 64)
        return ewgt, team.run(rows, ncoarse, scratch=lambda: (np.empty(places, np.int64),), bounds=bounds)

    ewgt, counts = merged(type_of(g))
    if min(counts) < 0:
        ewgt, counts = merged(WEIGHT)

    def close_up(which: int, _: int) -> None:
        """Move what was written behind the first piece down in one of the arrays."""
        top = counts[0]
        for lo, hi, count in zip(bounds[1:-1], bounds[2:], counts[1:], strict=True):
            if which == 2:
                xadj[lo + 1 : hi + 1] -= at[lo] - top
            else:
                _move((adjncy, ewgt)[which], at[lo], top, count)
            top += count

    if pieces > 1:
        team.run(close_up, 3, bounds=np.arange(4))
    adjncy, ewgt = shortened(adjncy, xadj[-1]), shortened(ewgt, xadj[-1])
    return Level(xadj=xadj, adjncy=adjncy, ewgt=ewgt, vwgt=vwgt, fixed=fixed, origin=origin, size=size)


def _evenly(ends: list[int], entries: Sequence[int], pieces: int) -> tuple[list[int], list[int]]:
    """Those of the ends of blocks that cut them into pieces of about as many entries, and how many are before each."""
    before, blocks = [0, *accumulate(entries)], len(entries)
    middle = [bisect_left(before, i * before[-1] // pieces, 1, blocks) for i in range(1, pieces)]
    cuts = [0, *middle, blocks]
    return [ends[i] for i in cuts], [before[i] for i in cuts]


def _move(values: Array, at: int, to: int, count: int) -> None:
    """Move `count` entries down in their array, in steps that do not overlap: numpy would copy others twice."""
    step = max(at - to, -(-count // _STEPS), 1)
    for i in range(0, count, step):
        last = min(i + step, count)
        values[to + i : to + last] = values[at + i : at + last]
