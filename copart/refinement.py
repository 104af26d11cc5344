"""Refinement of a partition on one level: unconstrained local search, rebalancing, best kept.

`Refiner` owns the working state of one level.  Rounds of Jet (moves decided
together from the frozen state) lower the cut and may overload parts; eviction
rounds bring the parts back below their limits.  The best balanced state seen is
returned to, by taking back the moves logged since.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from .arrays import frozen, sums
from .kernels import Level, Pull, balancing
from .kernels import refinement as kernels
from .kernels.csr import edge_cut
from .rounds import Team

Array = np.ndarray[Any, Any]

#: Part weights never pass this: a limit for moves that may overload.
_NO_LIMIT = 2**62


def cut_of(g: Level, part: Array) -> int:
    """Weight of the edges between different parts, each counted once."""
    return int(edge_cut(frozen(g.xadj), frozen(g.adjncy), frozen(g.ewgt), frozen(part)))


class Refiner:
    """Working state of one level.

    Parameters
    ----------
    g, pull : Level, Pull
        The level and the affinity table.
    part : (nvtxs,) int32
        The partition; changed in place.
    limit : (nparts,) int64
        Largest weight of each part.
    team : Team
    salt : int
        Seed of the hashes.
    """

    def __init__(self, g: Level, pull: Pull, part: Array, limit: Array, team: Team, salt: int):
        n, k = len(part), len(limit)
        self.g, self.pull, self.part, self.limit, self.team, self.salt = g, pull, part, limit, team, salt
        self.pwgt = sums(part, g.vwgt, k)
        self.population = np.bincount(part, minlength=k).astype(np.int64)
        boundary = np.empty(n, np.uint8)
        team.run(kernels.find_boundary, n, g, part, boundary)
        self.active = np.empty(n, np.int32)
        first = np.flatnonzero(boundary)
        self.count = len(first)
        self.active[:self.count] = first
        self.listed = boundary
        if len(g.fixed):
            self.listed = boundary | (g.fixed >= 0)  # fixed vertices are never activated
        self.dest = np.full(n, -1, np.int32)
        self.gain = np.empty(n, np.int64)
        self.moved_in = np.full(n, -9, np.int32)
        self.live = np.empty(n, np.uint8)
        self.go = np.empty(n, np.uint8)
        self.log = np.empty((2, 2 * self.count + 64), np.int32)
        self.logged = 0
        self.now = 0
        self.result = np.zeros(3, np.int64)
        self.nolimit = np.full(k, _NO_LIMIT, np.int64)

    def _scratch(self) -> tuple[Array, Array]:
        k = len(self.limit)
        return np.empty(k, np.int64), np.empty(k, np.int32)

    def _reserve(self, moves: int) -> None:
        """Make room in the log for so many more moves."""
        if self.logged + moves > self.log.shape[1]:
            longer = np.empty((2, 2 * (self.logged + moves)), np.int32)
            longer[:, :self.logged] = self.log[:, :self.logged]
            self.log = longer

    @property
    def excess(self) -> int:
        """Weight above the limits, summed over the parts."""
        return int(np.maximum(self.pwgt - self.limit, 0).sum())

    def jet_round(self, warmth: float, limit: Array) -> int:
        """One round of moves; returns the decrease of the cut."""
        self.now += 1
        self._reserve(self.count)
        t, g = self.team, self.g
        t.run(kernels.propose, self.count, self.active, g, self.pull, self.part, self.pwgt, limit, self.moved_in,
              self.now, warmth, self.dest, self.gain, self.live, scratch=self._scratch)
        t.run(kernels.afterburn, self.count, self.active, g, self.pull, self.part, self.dest, self.gain, self.go)
        # entries that move are kept: apply_moves runs before the list is compacted
        kernels.apply_moves(self.active, self.count, self.go, g, self.pull, self.part, self.pwgt, self.population,
                            self.dest, self.moved_in, self.now, self.listed, self.log, self.logged, self.result)
        fresh = int(self.result[1])
        self.live[self.count:fresh] = 1
        self.count = int(kernels.compact(self.active, fresh, self.live, self.listed))
        self.logged = int(self.result[2])
        return int(self.result[0])

    def evict_round(self) -> int:
        """One round of moves out of overloaded parts; returns the decrease of the cut."""
        self.now += 1
        self._reserve(self.count)
        key = np.empty(self.count)
        self.team.run(kernels.propose_evictions, self.count, self.active, self.g, self.pull, self.part, self.pwgt,
                      self.limit, self.salt + self.now, self.dest, key, scratch=self._scratch)
        order = np.argsort(key, kind="stable")
        order = order[:int(np.count_nonzero(np.isfinite(key)))]
        kernels.evict(order, self.active, self.count, self.g, self.pull, self.part, self.pwgt, self.population, self.limit,
                      self.moved_in, self.now, self.listed, self.log, self.logged, *self._scratch(), self.result)
        self.count = int(self.result[1])
        self.logged = int(self.result[2])
        return int(self.result[0])

    def rebalance(self) -> int:
        """Evict until no part is over its limit or nothing helps; returns the decrease of the cut (mostly negative)."""
        total, before = 0, self.excess
        while before > 0:
            total += self.evict_round()
            after = self.excess
            if after == before:
                # walled in: hand weight on from part to part
                total += self.shift_round()
                after = self.excess
                if after == before:
                    break
            before = after
        return total

    def shift_round(self) -> int:
        """Hand weight from every overloaded part along paths to parts with room; returns the decrease of the cut."""
        total = 0
        k = len(self.limit)
        start, order = np.empty(k + 1, np.int64), np.empty(self.count, np.int32)
        balancing.group_by_part(self.part, self.active, self.count, start, order)
        parent, queue = np.empty(k, np.int32), np.empty(k, np.int32)
        for source in np.flatnonzero(self.pwgt > self.limit):
            over = int(self.pwgt[source] - self.limit[source])
            for need in (over, 1):
                target = balancing.find_path(self.g, self.part, self.pwgt, self.limit, source, need, start, order, parent,
                                             queue)
                if target >= 0:
                    break
            if target < 0:
                continue
            self._reserve(self.count + k)
            balancing.shift_path(self.g, self.pull, self.part, self.pwgt, self.population, self.limit, source, target,
                                 parent, start, order, self.active, self.count, self.listed, self.moved_in, self.now,
                                 self.log, self.logged, *self._scratch(), self.result)
            total += int(self.result[0])
            self.count, self.logged = int(self.result[1]), int(self.result[2])
        return total

    def improve(self, patience: int, warmth: float, cut: int) -> int:
        """Jet with rebalancing until `patience` rounds bring next to nothing.

        Parameters
        ----------
        patience : int
            Rounds without a gain of at least 0.05 % of the cut.
        warmth : float
            Share of its own connectivity a vertex may lose in a tentative move.
        cut : int
            The cut now, only to tell what is next to nothing.

        Returns
        -------
        int
            Decrease of the cut between the partition given and the one left behind.
        """
        total = self.rebalance()
        best, best_excess = total, self.excess
        self.logged = 0
        waited = 0
        while waited < patience:
            before = self.logged
            total += self.jet_round(warmth, self.nolimit)
            if self.logged == before:
                break
            total += self.rebalance()
            excess = self.excess
            waited += 1
            if excess < best_excess or (excess == best_excess and total > best):
                if excess < best_excess or (total - best) * 2000 > cut - best:
                    waited = 0
                best, best_excess = total, excess
                self.logged = 0
        kernels.undo_moves(self.g, self.part, self.pwgt, self.population, self.log, self.logged)
        self.logged = 0
        return best
