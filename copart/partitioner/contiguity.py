"""Parts in one piece: loose pieces join their neighbours, then balance and cut are mended by moves that keep it so."""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np

from ..arrays import frozen, sums
from ..kernels import Level, Pull, contiguity
from ..kernels.csr import part_pieces
from ..kernels.paths import find_path, group_by_part
from ..kernels.refinement import find_boundary
from ..kernels.rng import mix_each
from ..options import Config
from .refinement import Refiner, cut_of, listed_vertices
from .rounds import Team

Array = np.ndarray[Any, Any]

#: Sweeps of moves that lower the cut.
_SWEEPS = 8

#: Times that pieces are joined and the balance is restored by refinement.
_TURNS = 6


def make_contiguous(g: Level, pull: Pull, part: Array, limit: Array, config: Config, team: Team, salt: int, *,
                    ways: Array | None = None, group: Array | None = None, most: float = 1.0, turns: int = _TURNS
                    ) -> int:
    """Join loose pieces to neighbouring parts, in place; returns the weight left above the limits.

    Of every part the heaviest piece stays, and all pieces with fixed vertices; so does a piece without
    neighbours in other parts, that is, a whole component of the graph.  The balance that joining upsets is first
    restored by the usual refinement, which may leave a few loose pieces again, at last by moves that leave none.

    Parameters
    ----------
    part : (nvtxs,) int32
    limit : (nparts,) int64
    salt : int
        Seed of the order in which moves are tried.
    ways : (nvtxs,) int32, optional
        Vertices that stay in their parts, too, until no piece is loose; -1 elsewhere.
    group : (nvtxs,) int32, optional
        The heaviest piece of a part stays in each group of vertices by itself.  No edge joins two groups.
    most : float
        Loose pieces that weigh more than this share of a part's limit stay.  With 0, those stay for which no
        neighbouring part has room.
    turns : int
        How often pieces are joined and the balance is restored by refinement.
    """
    held = g if ways is None else g._replace(fixed=ways)
    for turn in range(turns):
        mender = _Mender(held, pull, part, limit, group, most)
        # a piece may hang on other loose pieces only: then on them, once they have joined
        while mender.join_pieces():
            pass
        if mender.excess == 0 or turn == turns - 1:
            break
        refiner = Refiner(held, pull, part, limit, team, salt + turn)
        refiner.improve(config, cut_of(g, part), rounds=0)
    mender.relieve()
    mender.g = g
    for sweep in range(_SWEEPS):
        border = mender.border()
        rank = np.empty(len(border), np.int64)
        mix_each(border, salt + sweep, rank)
        if mender.moves(border[np.argsort(rank, kind="stable")], False) == 0:
            break
    return mender.excess


def pieces_of(g: Level, part: Array) -> tuple[Array, int]:
    """The connected piece of its part that each vertex is in, (nvtxs,) int32 from 0 on, and their number."""
    piece, queue = np.empty(len(part), np.int32), np.empty(len(part), np.int32)
    return piece, int(part_pieces(frozen(g.xadj), frozen(g.adjncy), frozen(part), piece, queue))


class Pieces(NamedTuple):
    """The connected pieces of the parts of a graph."""

    piece: Array
    """(nvtxs,) int32 piece of each vertex."""
    part: Array
    """(npieces,) int64 part of each piece."""
    weight: Array
    """(npieces,) int64 weight of each."""
    loose: Array
    """(npieces,) bool, which may join another part."""

    @classmethod
    def of(cls, g: Level, part: Array, nparts: int, group: Array | None = None) -> Pieces:
        """The pieces of a partition; `group` as for :func:`make_contiguous`."""
        piece, count = pieces_of(g, part)
        weight, of_part = sums(piece, g.vwgt, count), np.empty(count, np.int64)
        of_part[piece] = part
        # what keeps its heaviest piece
        share = of_part.copy()
        if group is not None:
            share[piece] += nparts * group.astype(np.int64)
        order = np.lexsort((-np.arange(count), np.bincount(piece, minlength=count), weight, share))
        loose, last = np.ones(count, bool), np.ones(count, bool)
        last[:-1] = np.diff(share[order]) != 0
        loose[order[last]] = False
        if len(g.fixed):
            held = piece[g.fixed >= 0]
            # what has fixed vertices keeps their pieces instead of its heaviest
            loose[np.isin(share, share[held])] = True
            loose[held] = False
        return cls(piece, of_part, weight, loose)


class _Mender:
    """State of the moves: weights and numbers of vertices by part, and scratch."""

    def __init__(self, g: Level, pull: Pull, part: Array, limit: Array, group: Array | None = None,
                 most: float = 1.0):
        n, k = len(part), len(limit)
        degree = int(np.diff(g.xadj).max(initial=0))
        self.g, self.pull, self.part, self.limit, self.group = g, pull, part, limit, group
        self.most = most
        self.pwgt, self.population = sums(part, g.vwgt, k), np.bincount(part, minlength=k).astype(np.int64)
        self.scratch = contiguity.Scratch(conn=np.empty(k, np.int64), touched=np.empty(k, np.int32),
                                          mark=np.zeros(n, np.int64), behind=np.empty(n, np.int32),
                                          search=np.empty((4, degree), np.int32), held=np.zeros(n, np.bool_))
        self.stamp = 0

    @property
    def excess(self) -> int:
        return int(np.maximum(self.pwgt - self.limit, 0).sum())

    def border(self) -> Array:
        """Vertices with a neighbour in another part."""
        listed = np.empty(len(self.part), np.uint8)
        none = self.part[:0]
        find_boundary(0, len(self.part), self.g._replace(fixed=none, origin=none), self.part, none, listed[:0], listed)
        return listed_vertices(listed)

    def join_pieces(self) -> bool:
        """Let every loose piece join the part that it is tied to most; parts with room come first."""
        g, part, k = self.g, self.part, len(self.limit)
        piece, of_part, weight, loose = Pieces.of(g, part, k, self.group)
        if self.most:
            loose &= weight <= self.most * self.limit[of_part]
        if not loose.any():
            return False
        count, size = len(weight), np.bincount(piece)
        ties = np.empty((int(contiguity.piece_ties(g, part, piece, loose, np.empty((0, 3), np.int64))), 3), np.int64)
        contiguity.piece_ties(g, part, piece, loose, ties)
        if not len(ties):
            return False
        pair, inverse = np.unique(ties[:, 0] * k + ties[:, 1], return_inverse=True)
        strength = np.bincount(inverse, weights=ties[:, 2])
        target = np.full(count, -1, np.int32)
        for p in sorted(set(pair // k), key=lambda p: (weight[p], p)):
            here = pair // k == p
            parts, tied = pair[here] % k, strength[here]
            fits = self.pwgt[parts] + weight[p] <= self.limit[parts]
            if self.most == 0 and not fits.any():
                continue
            best = int(parts[np.lexsort((parts, -tied, ~fits))[0]])
            target[p] = best
            self.pwgt[of_part[p]] -= weight[p]
            self.pwgt[best] += weight[p]
            self.population[of_part[p]] -= size[p]
            self.population[best] += size[p]
        moved = target[piece] >= 0
        part[moved] = target[piece][moved]
        return bool(moved.any())

    def moves(self, order: Array, relieve: bool) -> int:
        """Moves of the vertices in order; returns how many."""
        _, count, self.stamp = contiguity.contiguous_moves(
            order, relieve, self.g, self.pull, self.part, self.pwgt, self.population, self.limit, self.stamp,
            self.scratch,
        )
        return int(count)

    def relieve(self) -> None:
        """Bring parts below their limits: to a neighbour with room, else along a path of parts."""
        while self.excess:
            before = self.excess
            # twice the same border: first for what costs nothing
            border = self.border()
            self.moves(border, False)
            self.moves(border, True)
            if self.excess == before and not self._shift():
                break

    def _shift(self) -> bool:
        """Hand vertices on along the shortest paths from overweight parts to ones with room; whether it helped."""
        part, k = self.part, len(self.limit)
        border = self.border()
        start, order = np.empty(k + 1, np.int64), np.empty(len(border), np.int32)
        group_by_part(part, border, len(border), start, order)
        parent, queue = np.empty(k, np.int32), np.empty(k, np.int32)
        before = self.excess
        for source in np.flatnonzero(self.pwgt > self.limit).tolist():
            while self.pwgt[source] > self.limit[source]:
                # what held a part together may not do so any more after moves along the last path
                self.scratch.held[border] = False
                there = find_path(self.g, part, self.pwgt, self.limit, source, 1, start, order, parent, queue)
                if there < 0 or not self._hand_on(source, there, parent, start, order):
                    break
                # as many as there is room for: each look for a path goes through the whole border
                while (self.pwgt[source] > self.limit[source] and self.pwgt[there] < self.limit[there]
                       and self._hand_on(source, there, parent, start, order)):
                    pass
        return self.excess < before

    def _hand_on(self, source: int, there: int, parent: Array, start: Array, order: Array) -> bool:
        """Move one vertex per step of the path to part `there`, the last step first; whether all of them could be."""
        while there != source:
            here = int(parent[there])
            v, self.stamp = contiguity.contiguous_hop(
                self.g, self.pull, self.part, self.population, here, there, self.limit[there] - self.pwgt[there],
                order[start[here] : start[here + 1]], self.stamp, self.scratch,
            )
            if v < 0:
                return False
            w = self.g.vwgt[v]
            self.part[v] = there
            self.pwgt[here] -= w
            self.pwgt[there] += w
            self.population[here] -= 1
            self.population[there] += 1
            there = here
        return True
