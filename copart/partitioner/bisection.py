"""Initial partitions by recursive multilevel bisection: KGGGP with two parts, FM with rollback.

On meshes it starts refinement better than growing all parts at once (cut of a
70^3 grid in 16 parts on the coarsest graph: 27,000 against 37,000).
"""

from __future__ import annotations

from dataclasses import replace
from typing import Any, NamedTuple

import numpy as np

from ..kernels import Level
from ..kernels.bisection import LEVELS, TRIES, Arena
from ..kernels.fm import Queues
from ..kernels.growing import Frontier
from ..kernels.recursive_bisection import bisect_recursively
from ..kernels.weights import type_for_sums
from ..options import Config
from .bodies import separated
from .coarsening import contract
from .cores import induced
from .memory import pages, seldom_filled
from .rounds import Team
from .shape import Shape, look_at
from .shuffling import visiting_order

Array = np.ndarray[Any, Any]

#: So many times the vertices and the entries of a graph an arena has room for, and some entries more.
_ROOM, _MORE = 4, 16

#: Room of halves, by what the whole has taken.
_SPARE = 1.25

#: Halvings after which the sets of parts are shared out among the threads for good.
_SHARED = 2

#: On grids in space bisections coarsen to so many vertices, at most: of 64 bodies of blocks 1 % less cut in a twentieth
#: less time (`default`) than with 80, and the boxes of a cube are found.  On others as many bring nothing.
_LEAST_OF_GRIDS = 48

#: What bisections are told where no preset is asked for.
_USUAL = Config()


def recursive_bisection(g: Level, limit: Array, salts: list[int], team: Team, starts: int = 0, *,
                        shape: Shape | None = None, config: Config = _USUAL) -> list[Array]:
    """Partitions into ``len(limit)`` parts, one per salt, by halving the set of parts again and again.

    The first is made in the order of the vertices, later ones in others, but on grids whose rows go through.

    The fixed vertices of each part are collapsed into one, which may go to either side: a
    bisection itself decides which fixed parts stay together, so that neighbours are not
    separated by their numbers.  Where whole bodies fill some of the parts, without fixed vertices, nothing is cut
    between these and the others (:func:`copart.partitioner.bodies.separated`).

    Parameters
    ----------
    limit : (nparts,) int64
        Largest weight of each part; the slack is spread over the splits.
    salts : list of int
        Seed of each partition.
    starts : int
        Above 0 where the graph has hubs: so many more sides of each bisection are grown from one vertex, and it is
        coarsened without pairs: every vertex joins the cluster it is tied to most.
    shape : Shape, optional
        Whether it is a grid, in which limits are looser at first, and whose order is kept where its rows go through;
        looked at where not given.
    config : Config, optional
        halving_least, halving_passes.

    Returns
    -------
    list of (nvtxs,) int32
        Parts; may exceed the limits where coarse vertices are heavy.
    """
    shape = shape or look_at(g)
    sets = [] if len(g.fixed) else separated(g, limit)
    if len(sets) < 2:
        return _halved(g, limit, salts, team, starts, shape, config)
    found = np.empty((len(salts), len(g.vwgt)), np.int32)
    for vertices, parts in sets:
        halved = _halved(induced(g, vertices), limit[parts], salts, team, starts, shape, config)
        found[:, vertices] = parts[np.stack(halved)]
    return list(found)


def _halved(g: Level, limit: Array, salts: list[int], team: Team, starts: int, shape: Shape,
            config: Config) -> list[Array]:
    """Partitions as :func:`recursive_bisection` makes them, of bodies that are divided."""
    whole, cmap = _collapse(g, len(limit))
    if shape.grid and not shape.flat and not shape.uneven:
        config = replace(config, halving_least=min(config.halving_least, _LEAST_OF_GRIDS))
    n, k = len(whole.vwgt), len(limit)
    arenas = [arena_for(whole, k, config, 2**_SHARED) for _ in range(min(team.threads, len(salts)))]
    degree = np.diff(whole.xadj)
    vertices = np.tile(np.arange(n, dtype=np.int32), (len(salts), 1))
    if not shape.grid or shape.uneven:
        # what is matched in another order is cut in other places; boxes of a grid are kept
        for run in range(1, len(salts)):
            vertices[run] = visiting_order(n, salts[run])
    labels = np.tile(np.arange(k, dtype=np.int32), (len(salts), 1))
    part = np.empty((len(salts), n), np.int32)

    def bisect(one: _Set) -> list[_Set]:
        """Halve the set, or make all of its parts; the sets that are left."""
        run, lo, first = one.run, one.lo, one.first
        once = one.halvings > 0 and one.last - first > 1 and one.hi - lo > 1
        arena = _cut_out(arenas[run % len(arenas)], one)
        at, left = bisect_recursively(whole, limit, vertices[run, lo : one.hi], labels[run, first : one.last],
                                      salts[run], starts, shape.grid, once, part[run], arena)
        if not once:
            return []
        room = _room_needed(arena, n, len(whole.adjncy)) if one.hi - lo == n else one.room
        middle = lo + int(at)
        return one.halves(middle, first + int(left), int(degree[vertices[run, lo:middle]].sum()), room)

    # runs that share an arena are made one after the other
    for begin in range(0, len(salts), len(arenas)):
        team.unfold(bisect, [_Set(run, 0, n, 0, k, 0, len(whole.adjncy), 0, _SHARED, (_ROOM, _ROOM))
                             for run in range(begin, min(begin + len(arenas), len(salts)))])
    return [one if cmap is None else one[cmap] for one in part]


class _Set(NamedTuple):
    """Vertices lo..hi of a run, in its own order, which are to be the parts first..last of its labels; and where memory
    for them is.

    begin, end : their rows among those of the run; place : sets of the run before this one; halvings : how often it is
    still to be halved, so that there are places for all halves; room : offsets per vertex, and entries per entry of
    their rows, that there is memory for.
    """

    run: int
    lo: int
    hi: int
    first: int
    last: int
    begin: int
    end: int
    place: int
    halvings: int
    room: tuple[float, float]

    def halves(self, middle: int, label: int, entries: int, room: tuple[float, float]) -> list[_Set]:
        """Those before `middle`, with so many entries in their rows, and the others; labels up to `label`, and from
        there."""
        less = self.halvings - 1
        return [self._replace(hi=middle, last=label, end=self.begin + entries, halvings=less, room=room),
                self._replace(lo=middle, first=label, begin=self.begin + entries, place=self.place + 2**less,
                              halvings=less, room=room)]

    @property
    def rows(self) -> slice:
        """Of arrays for all levels, by vertex."""
        per, place = self.room[0], self.place
        return slice(int(per * self.lo) + place * LEVELS, int(per * self.hi) + (place + 1) * LEVELS)

    @property
    def entries(self) -> slice:
        """Of arrays for all levels, by entry."""
        per, place = self.room[1], self.place
        return slice(int(per * self.begin) + place * _MORE, int(per * self.end) + (place + 1) * _MORE)

    @property
    def vertices(self) -> slice:
        """Of arrays for one level."""
        return slice(self.lo + self.place, self.hi + self.place + 1)


def _collapse(g: Level, nparts: int) -> tuple[Level, Array | None]:
    """The level without affinities, one vertex for the fixed vertices of each part, and the map to it, if any are."""
    none = np.zeros(0, np.int32)
    if len(g.fixed):
        label = np.where(g.fixed >= 0, g.fixed, nparts + np.arange(len(g.fixed)))
        cmap = np.unique(label, return_inverse=True)[1].astype(np.int32)
        with Team(1) as alone:
            return contract(g, cmap, int(cmap.max()) + 1, alone), cmap
    return g._replace(fixed=none, origin=none, size=np.zeros(0, np.int64)), None


def arena_for(g: Level, nlabels: int = 0, config: Config = _USUAL, sets: int = 1) -> Arena:
    """Memory for bisections of subgraphs of `g` for `nlabels` parts; untouched pages cost nothing.

    It serves one after the other, or so many `sets` of vertices at the same time, each on a slice of it: threads
    share what was touched before, where the first touch of a page costs more than a bisection that fits there.

    A level keeps at most nine tenths of the vertices of the one before, and no more edges; a bisection that does not
    fit into four times the graph stops coarsening there.
    """
    n, m = len(g.vwgt), len(g.adjncy)
    rows, entries, most = _ROOM * n + sets * LEVELS, _ROOM * m + sets * _MORE, n + sets
    i32, i64 = np.int32, np.int64
    return Arena(
        xadj=pages(rows, i64),
        vwgt=pages(rows, i64),
        adjncy=pages(entries, i32),
        ewgt=pages(entries, type_for_sums(g)),
        cmap=np.empty(rows, i32),
        pin=np.empty(rows if len(g.fixed) else 0, i32),
        new=np.empty(n, i32),
        side=np.empty(most, i32),
        tried=np.empty(most, i32),
        match=np.empty(most, i32),
        leader=np.empty(most, i32),
        following=np.empty(most, i32),
        cwgt=np.empty(most, i64),
        first=np.empty(most, i32),
        mark=np.empty(most, i64),
        gains=np.empty(2 * n, i64),
        at=np.zeros((3, LEVELS), i64),
        load=np.empty((3, 2), i64),
        # there may be more parts than vertices, where fixed vertices hold most of the weight
        labels=np.empty(nlabels, i32),
        # each split takes one set of labels off and puts two back
        stack=np.empty((64 + 2 * nlabels, 4), i64),
        queues=queues_for(most),
        frontier=frontier_for(m),
        least=config.halving_least,
        passes=config.halving_passes,
        seen=np.empty((TRIES, 2), i64),
    )


def _room_needed(arena: Arena, nvtxs: int, entries: int) -> tuple[float, float]:
    """The room of a set per vertex and entry: what the bisection just made in the arena has taken, and a quarter more.

    Both halves need about as much together as the whole did, and find it in memory that has been touched.
    """
    first, count, edge = arena.at
    rows = int((first + count).max()) + 1
    used = int((edge + arena.xadj[first + count])[count > 0].max())
    return min(_ROOM, _SPARE * rows / nvtxs), min(_ROOM, _SPARE * used / max(entries, 1))


def _cut_out(arena: Arena, one: _Set) -> Arena:
    """The slice of the arena for one of several sets."""
    rows, entries, own, pairs = one.rows, one.entries, one.vertices, slice(one.begin, one.end)
    queues = arena.queues
    return arena._replace(
        xadj=arena.xadj[rows], vwgt=arena.vwgt[rows], adjncy=arena.adjncy[entries], ewgt=arena.ewgt[entries],
        cmap=arena.cmap[rows], pin=arena.pin[rows],
        # the vertices of each set have places of their own in `new`
        side=arena.side[own], tried=arena.tried[own], match=arena.match[own], leader=arena.leader[own],
        following=arena.following[own], cwgt=arena.cwgt[own], first=arena.first[own], mark=arena.mark[own],
        gains=arena.gains[2 * one.lo : 2 * one.hi],
        at=np.zeros_like(arena.at), load=np.empty_like(arena.load), labels=np.empty_like(arena.labels),
        stack=np.empty_like(arena.stack), seen=np.empty_like(arena.seen),
        queues=queues._replace(key=queues.key[own], degree=queues.degree[own], size=np.zeros_like(queues.size),
                               heap=queues.heap.reshape(-1)[2 * own.start : 2 * own.stop].reshape(2, -1),
                               pos=queues.pos[own], state=queues.state[own], log=queues.log[own]),
        frontier=Frontier(*(of[pairs] for of in arena.frontier)),
    )


def frontier_for(pairs: int) -> Frontier:
    """The memory of KGGGP for `pairs` offers: one per end of an edge and per pair of the affinity table, at most."""
    return Frontier(
        key=seldom_filled(pairs, np.int64),
        tie=seldom_filled(pairs, np.int64),
        who=seldom_filled(pairs, np.int32),
        where=seldom_filled(pairs, np.int32),
        heap=seldom_filled(pairs, np.int32),
        pos=seldom_filled(pairs, np.int32),
    )


def queues_for(n: int, ncon: int = 0) -> Queues:
    """The queues of FM for `n` vertices, any of which may be in any of them; clean, as a pass expects them.

    Two queues, or `ncon` per side where there are several constraints.
    """
    return Queues(
        key=np.empty(n, np.int64),
        degree=np.empty(0 if ncon else n, np.int64),
        heap=np.empty((2 * max(ncon, 1), n), np.int32),
        size=np.zeros(2 * max(ncon, 1), np.int64),
        pos=np.full(n, -1, np.int32),
        state=np.zeros(n, np.uint8),
        log=np.empty(n, np.int32),  # a vertex moves once in a pass
        dominant=np.zeros(n if ncon else 0, np.uint8),
    )
