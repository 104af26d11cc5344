"""Memory of bisections: for one after the other, or for several sets of vertices side by side."""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np

from ..kernels import Level
from ..kernels.bisection import LEVELS, TRIES, Arena
from ..kernels.fm import Queues
from ..kernels.growing import Frontier
from ..kernels.memory import pages, seldom_filled
from ..kernels.weights import type_for_sums
from ..options import Config

Array = np.ndarray[Any, Any]

#: So many times the vertices and the entries of a graph an arena has room for, and some entries more.
ROOM, _MORE = 4, 16

#: Room of halves, by what the whole has taken.
_SPARE = 1.25

#: What bisections are told where no preset is asked for.
USUAL = Config()


class VertexSet(NamedTuple):
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

    def halves(self, middle: int, label: int, entries: int, room: tuple[float, float]) -> list[VertexSet]:
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


def arena_for(g: Level, nlabels: int = 0, config: Config = USUAL, sets: int = 1) -> Arena:
    """Memory for bisections of subgraphs of `g` for `nlabels` parts; untouched pages cost nothing.

    It serves one after the other, or so many `sets` of vertices at the same time, each on a slice of it: threads
    share what was touched before, where the first touch of a page costs more than a bisection that fits there.

    A level keeps at most nine tenths of the vertices of the one before, and no more edges; a bisection that does not
    fit into four times the graph stops coarsening there.
    """
    n, m = len(g.vwgt), len(g.adjncy)
    rows, entries, most = ROOM * n + sets * LEVELS, ROOM * m + sets * _MORE, n + sets
    i32, i64 = np.int32, np.int64
    return Arena(
        xadj=pages(rows, i64),
        vwgt=pages(rows, i64),
        adjncy=pages(entries, i32),
        ewgt=pages(entries, type_for_sums(g)),
        cmap=pages(rows, i32),
        pin=np.empty(rows if len(g.fixed) else 0, i32),
        new=pages(n, i32),
        side=pages(most, i32),
        tried=pages(most, i32),
        match=pages(most, i32),
        leader=pages(most, i32),
        following=pages(most, i32),
        cwgt=pages(most, i64),
        first=pages(most, i32),
        mark=pages(most, i64),
        gains=pages(2 * n, i64),
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


def room_needed(arena: Arena, nvtxs: int, entries: int) -> tuple[float, float]:
    """The room of a set per vertex and entry: what the bisection just made in the arena has taken, and a quarter more.

    Both halves need about as much together as the whole did, and find it in memory that has been touched.
    """
    first, count, edge = arena.at
    rows = int((first + count).max()) + 1
    used = int((edge + arena.xadj[first + count])[count > 0].max())
    return min(ROOM, _SPARE * rows / nvtxs), min(ROOM, _SPARE * used / max(entries, 1))


def cut_out(arena: Arena, one: VertexSet) -> Arena:
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


__all__ = ["ROOM", "USUAL", "VertexSet", "arena_for", "cut_out", "frontier_for", "queues_for", "room_needed"]
