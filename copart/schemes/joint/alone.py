"""Where a V-cycle begins, and what it must not make worse: the partition of each component alone, in figures."""

from __future__ import annotations

from collections.abc import Mapping
from contextlib import suppress
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from ...arrays import VERTEX, WEIGHT, frozen
from ...coupling import CoupledProblem
from ...kernels.csr import part_pieces
from ...kernels.walls import Walls, edge_cuts, touch_coupled
from ...metrics.balance import copartition_limit, max_part_weight
from ...metrics.natural import natural_count
from ...metrics.promise import VOLUME_SLACK, allowed_cut
from ...metrics.traffic import CouplingTraffic
from ...options import Options
from ...partitioner.coarsening import carry
from .cells import PartArrays
from .stack import Stack, walls_of

#: Cuts up to so many times the largest allowed are brought back.
NEAR = 1.01

#: No limit.
NONE = np.int64(2**60)


class Figures(NamedTuple):
    """What a user pays for, of a partition of C components into K parts in all.

    cut : (C,) int64, of each component
    volume : (C, C) int64, data from one component to another
    most : (C, C) int64, data from one component to another that the busiest process sends or receives
    most_messages : (C, C) int64, messages of the busiest process of two components, symmetric
    process : (3,) int64, of all pairs and both ways: most data that one process sends, or receives, and its messages
    messages : int, in all
    busiest : (C,) int64, coupled weight of the part that has most
    heavy, wet : int, weight and coupled weight above the limits
    load, share : (K,) int64, weight and coupled weight of every part
    traffic : CouplingTraffic, of every part
    """

    cut: NDArray[np.int64]
    volume: NDArray[np.int64]
    most: NDArray[np.int64]
    most_messages: NDArray[np.int64]
    process: NDArray[np.int64]
    messages: int
    busiest: NDArray[np.int64]
    heavy: int
    wet: int
    load: NDArray[np.int64]
    share: NDArray[np.int64]
    traffic: CouplingTraffic


def figures(s: Walls) -> Figures:
    """The figures of what `s` is kept up to date with."""
    first = np.searchsorted(s.owner, np.arange(len(s.cut)))  # no component is without parts
    sent, got, crowd, busiest = (np.maximum.reduceat(x, first) for x in (s.sent, s.got, s.messages, s.share))
    out, into, met = (x.sum(axis=1) for x in (s.sent, s.got, s.messages))
    process = np.array([out.max(), into.max(), met.max()], WEIGHT)
    return Figures(s.cut.copy(), s.volume.copy(), np.maximum(sent, got.T), np.maximum(crowd, crowd.T), process,
                   int(s.total[0]), busiest, int(np.maximum(s.load - s.room, 0).sum()),
                   int(np.maximum(s.share - s.bound, 0).sum()), s.load.copy(), s.share.copy(),
                   CouplingTraffic(out, into, met, met))


def most_cut(cut: NDArray[np.int64]) -> NDArray[np.int64]:
    """The largest cuts that a plan may have where those alone are `cut`."""
    return np.array([allowed_cut(int(x)) for x in cut], WEIGHT)


def coarse_parts(stack: Stack, part: NDArray[np.int32]) -> list[NDArray[np.int32]]:
    """Part of every vertex of each level; that of each of the finest is `part`, inside which the stack is coarsened."""
    found = [part]
    for cmap, kind in zip(stack.maps, stack.kinds[1:], strict=True):
        found.append(carry(found[-1], cmap, len(kind)))
    return found


class Alone:
    """The components partitioned alone.

    Attributes
    ----------
    first : (C + 1,) int64
        Number of the first part of each component.
    owner, slot : (K,) int32
        Component of each part, and its row in the table of messages: -1 for parts far from the interface.
    part : (n,) int32
        Part of every vertex, numbered through.
    begin : list of (n,) int32
        The same on each level.
    room : (C,) int64
        The largest weight of a part.
    bound : (C,) int64
        Largest coupled weight of a part that is aimed at: within eps of a natural share, and not more than alone.
    natural : (C,) int64
        How many parts the interface naturally meets.
    owners : (C,) int64
        Parts that own coupled weight, at least.
    met : (C,) int64
        Messages of the parts of each component.
    islands : (C,) uint8
        Whether the graph of each component is in several pieces.
    most_cut : (C,) int64
        The largest cuts that are allowed.
    figures : Figures
    """

    def __init__(self, problem: CoupledProblem, nparts: Mapping[str, int], parts: PartArrays, stack: Stack,
                 options: Options):
        names = problem.names
        counts = [nparts[name] for name in names]
        self.first = np.cumsum([0, *counts])
        self.owner = np.repeat(np.arange(len(names), dtype=VERTEX), counts)
        self.part = np.concatenate([parts[name] + np.int32(self.first[i]) for i, name in enumerate(names)])
        self.part = self.part.astype(VERTEX)
        self.begin = coarse_parts(stack, self.part)
        coarse = self.begin[-1]
        self.room = np.array([copartition_limit(graph.total_weight, nparts[name], options.eps)
                              for name, graph in problem.components.items()], WEIGHT)
        self.slot = _slots(stack, coarse, len(self.owner))
        everywhere = np.full(len(self.owner), NONE)
        cut = np.zeros(len(names), WEIGHT)  # clusters are within parts: it is the same on all levels
        edge_cuts(stack.levels[-1], stack.kinds[-1], coarse, cut)
        s = walls_of(stack.levels[0], self.part.copy(), self.owner, self.slot, self.room[self.owner], everywhere, cut)
        self.figures = figures(s)
        self.most_cut = most_cut(self.figures.cut)
        self.met = np.array([s.messages[self.owner == i].sum() for i in range(len(names))], WEIGHT)
        self.natural, self.bound = np.zeros((2, len(names)), WEIGHT)
        for i, name in enumerate(names):
            share = s.share[self.first[i]:self.first[i + 1]]
            own, cells = problem.own_weights(name), problem.coupled(name)
            weight = int(problem.components[name].weights[cells].sum()) if own else None
            natural = natural_count(share, len(cells), int(self.room[i]), weight)
            self.natural[i] = natural
            aim = max_part_weight(int(share.sum()), max(natural, 1), options.eps)
            self.bound[i] = min(aim, share.max()) if own else min(self.room[i], aim, share.max())
        self.islands = _in_pieces(stack)
        self.owners = np.minimum(self.natural, s.owners)
        self._walls = [s]

    def walls(self, part: NDArray[np.int32]) -> Walls | None:
        """Where moves begin if `part` is the partition of each component alone; once, as moves change it."""
        with suppress(IndexError):  # they are taken, perhaps by another thread
            return self._walls.pop() if part is self.part else None
        return None

    def broken(self, found: Figures) -> float:
        """In how many lines `found` is worse than alone; a fraction more for each part of a line above."""
        mine = self.figures
        over = [found.heavy / max(1, int(self.room.max()))]
        for value, limit in ((found.cut, self.most_cut), (found.busiest, mine.busiest),
                             (_volumes(found), (_volumes(mine) * (1 + VOLUME_SLACK)).astype(WEIGHT)),
                             (np.triu(found.most), np.triu(mine.most)), (found.most_messages, mine.most_messages),
                             (found.process, mine.process),
                             (np.array([found.messages]), np.array([mine.messages]))):
            above = np.maximum(value - limit, 0) / np.maximum(limit, 1)
            over.append(float(above.max()))
        return float(sum(1 + x for x in over if x > 0))

    def mendable(self, found: Figures) -> bool:
        """Whether `found` is worse than alone in lines that are mended where it is, and not only by beginning anew.

        Walls that have to go back far, for cut or for the coupled weight of the busiest process, get stuck on the way.
        """
        far = (found.cut > NEAR * self.most_cut).any() or (found.busiest > self.figures.busiest).any()
        return self.broken(found) > 0 and not far

    def split(self, part: NDArray[np.int32], names: tuple[str, ...]) -> dict[str, NDArray[np.int32]]:
        """The parts of each component, numbered from 0 in each, of all vertices in `part`."""
        kind = self.owner[part]
        ends = np.searchsorted(kind, np.arange(len(names) + 1))
        return {name: (part[ends[i]:ends[i + 1]] - np.int32(self.first[i])).astype(VERTEX)
                for i, name in enumerate(names)}


def _in_pieces(stack: Stack) -> NDArray[np.uint8]:
    """Whether the graph of each component is not connected, seen on the coarsest level."""
    g: Any = stack.levels[-1]
    kind = stack.kinds[-1]
    piece, root = np.empty((2, len(kind)), VERTEX)
    count = part_pieces(frozen(g.xadj.view()), frozen(g.adjncy.view()), frozen(kind), piece, root)
    owner = np.empty(count, VERTEX)
    owner[piece] = kind
    return (np.bincount(owner) > 1).astype(np.uint8)


def _volumes(found: Figures) -> NDArray[np.int64]:
    """Data to later components, and all."""
    return np.array([np.triu(found.volume).sum(), found.volume.sum()])


def _slots(stack: Stack, part: NDArray[np.int32], k: int) -> NDArray[np.int32]:
    """A row for each part that owns coupled vertices, or touches one that does."""
    g: Any = stack.levels[-1]
    wet, near = np.zeros((2, k), np.uint8)
    touch_coupled(g, part, wet, near)
    slot = np.full(k, -1, VERTEX)
    slot[near > 0] = np.arange(np.count_nonzero(near), dtype=VERTEX)
    return slot


__all__ = ["Alone", "Figures", "coarse_parts", "figures", "most_cut"]
