"""Refinement of a distributed partition: synchronous rounds of all ranks, rebalancing, best kept.

A round is one of Jet (:mod:`copart.kernels.refinement`): border vertices name their best other part, and keep to it
where that pays once all better-ranked neighbours have moved; what vertices want is told to the ranks that neighbour
them.  Which of the moves are made is settled by sums over all ranks: those with the best gains fill a part up to its
limit, ties by a hash of the global number.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from ..arrays import VERTEX, WEIGHT, sums
from ..kernels import Pull, distributed, moves
from ..kernels import refinement as kernels
from ..kernels.csr import edge_cut
from ..kernels.refinement import State
from ..kernels.rng import mix_each
from ..options import Config
from ..partitioner.refinement import first_state, with_room
from ..partitioner.rounds import Team
from .regions import Region

Array = np.ndarray[Any, Any]

#: Warmth at first, at the end of cooling and after it. A vertex must not leave behind two of its three neighbours.
_WARM, _COOL = 0.65, 0.25

#: Times as many rounds of cooling as on each of many levels: there is only one.
_MORE = 4

#: What is next to nothing: less than one in so many edges of the cut.
_NOTHING = 500

#: A round that no vertex has moved just before.
_LATER = 1 << 30

#: Bits of a place in the order of moves that are told apart at a time, and how often.
_DIGIT, _DIGITS = 8, 3


class Rounds:
    """Working state of all ranks.  Collective, as all of its methods.

    Parameters
    ----------
    comm : mpi4py.MPI.Intracomm
    region : Region
    limit : (nparts,) int64
        Largest weight of each part.
    team : Team
    salt : int
        Seed of the hashes.
    """

    def __init__(self, comm: Any, region: Region, limit: Array, team: Team, salt: int):
        n, k = len(region.ids), len(limit)
        self.comm, self.region, self.limit, self.team = comm, region, limit, team
        self.g = region.level
        self.pull = Pull(np.zeros(1, np.int64), np.zeros(0, VERTEX), np.zeros(0, WEIGHT))
        self.others = np.flatnonzero(~region.own)
        # numbers beyond 32 bits are folded: equal hashes stay without order, which costs nothing but a round
        self.tie = np.empty(n, np.int64)
        mix_each((region.ids ^ (region.ids >> 31)).astype(VERTEX), salt, self.tie)
        self.dest, self.gain = np.empty(n, VERTEX), np.zeros(n, WEIGHT)
        self.state = first_state(self.g, region.part, limit, team, self.dest)
        self.state.pwgt[:] = self.state.population[:] = 0  # those of all ranks follow
        self.live, self.go = np.empty(n, np.uint8), np.empty(n, np.uint8)
        self.now = 0
        own = region.part[region.own]
        self._local = int(edge_cut(self.g.xadj, self.g.adjncy, self.g.ewgt, region.part))
        self.cut = self._told(sums(own, self.g.vwgt[region.own], k), np.bincount(own, minlength=k))

    # ---- what all ranks have
    def _total(self, mine: Array) -> Array:
        """The sum over all ranks."""
        from mpi4py import MPI

        self.comm.Allreduce(MPI.IN_PLACE, mine, MPI.SUM)
        return mine

    def _told(self, weight: Array, number: Array) -> int:
        """Add what parts of all ranks have won; returns the cut."""
        k, (u, v, w) = len(weight), self.region.across
        # the rank at either end counts an edge between two of them
        twice = 2 * self._local - int(w[self.state.part[u] != self.state.part[v]].sum())
        all_ = self._total(np.concatenate([weight, number, [twice]]))
        self.state.pwgt[:] += all_[:k]
        self.state.population[:] += all_[k:-1]
        return int(all_[-1]) // 2

    @property
    def excess(self) -> int:
        """Weight above the limits, summed over the parts."""
        return int(np.maximum(self.state.pwgt - self.limit, 0).sum())

    # ---- rounds
    def jet_round(self, warmth: float) -> int:
        """One round of moves that fill no part above its limit; returns how many all ranks have made."""
        self.now += 1
        count = int(self.state.count[0])
        s = self.state._replace(room=self.limit)
        self._propose(s, count, warmth, self.now)
        self.region.bring(self.gain)
        self.region.bring(self.dest)
        self.team.run(distributed.afterburn_among_processes, count, self.g, self.pull, s, self.dest, self.gain, self.go)
        v = s.active[:count][self.go[:count] == 1]
        self.dest[self.others] = -1
        return self._move(self._fitting(v, self.gain[v]))

    def evict_round(self) -> int:
        """One round of moves out of parts above their limits, the cheapest; returns how many all ranks have made."""
        self.now += 1
        s, count = self.state, int(self.state.count[1])
        v = s.border[:count]
        v = v[(s.pwgt > self.limit)[s.part[v]] & (self.g.vwgt[v] > 0)]
        # all of them may go at any loss, those that have just moved as well
        self._propose(s._replace(active=v, room=self.limit), len(v), 2.0, _LATER)
        # the list of the next round keeps what is in it
        self.live[:s.count[0]] = 1
        v = v[self.dest[v] >= 0]
        gain, weight = self.gain[v], self.g.vwgt[v]
        worth = np.where(gain < 0, gain / weight, gain * weight)
        needed = self._selected(worth, v, s.part[v], s.pwgt - self.limit, True)
        self.dest[v[~needed]] = -1
        v = v[needed]
        return self._move(self._fitting(v, self.gain[v]))

    def _propose(self, s: State, count: int, warmth: float, now: int) -> None:
        """Let the active vertices name their best other parts."""
        k = len(self.limit)
        self.team.run(distributed.propose_among_processes, count, self.g, self.pull, s, now, warmth, self.dest,
                      self.gain, self.live, scratch=lambda: (np.empty(k, np.int64), np.empty(k, VERTEX)))

    def _fitting(self, v: Array, gain: Array) -> Array:
        """Those of the vertices whose moves fill no part above its limit, and leave none empty."""
        s, k = self.state, len(self.limit)
        to = self.dest[v]
        leaving = self._total(np.bincount(s.part[v], minlength=k))
        stay = leaving >= s.population
        go = self._selected(gain.astype(float), v, to, self.limit - s.pwgt, False) & ~stay[s.part[v]]
        self.dest[v[~go]] = -1
        going: Array = v[go]
        return going

    def _selected(self, value: Array, v: Array, group: Array, room: Array, over: bool) -> Array:
        """Which of the candidates of all ranks to take: of each group the best, until `room` is filled.

        Ties go by the hash.  Where the two do not tell them apart, all are taken if room may be filled `over`, else
        none.
        """
        weight, k = self.g.vwgt[v], len(room)
        room = np.maximum(room, 0)
        tight = self._total(sums(group, weight, k)) > room
        number = np.cumsum(tight) - 1
        left = room[tight]
        # order of floats as unsigned integers, without the last digits, and the hash behind
        bits = np.ascontiguousarray(value + 0.0, np.float64).view(np.int64) >> 48
        rank = np.where(bits < 0, ~bits & 0x7FFF, bits | 0x8000)
        key = (rank << 8) | (self.tie[v] >> 24)
        taken = ~tight[group]
        open_ = ~taken
        rows, cells = int(tight.sum()), 1 << _DIGIT
        for turn in reversed(range(_DIGITS)):
            if rows == 0:
                break
            digit = (cells - 1) - ((key >> (turn * _DIGIT)) & (cells - 1))
            row = number[group]
            table = sums((row * cells + digit)[open_], weight[open_], rows * cells)
            table = np.cumsum(self._total(table).reshape(rows, cells), axis=1)
            edge = (table <= left[:, None]).sum(axis=1)
            taken |= open_ & (digit < edge[row])
            open_ &= digit == edge[row]
            left = left - np.where(edge > 0, np.take_along_axis(table, np.maximum(edge - 1, 0)[:, None], 1)[:, 0], 0)
        return taken | open_ if over else taken

    def _move(self, v: Array) -> int:
        """Move own vertices to where they are to go, on all ranks; returns how many."""
        s, k = self.state, len(self.limit)
        after = s.part.copy()
        after[v] = self.dest[v]
        self.region.bring(after)
        came = self.others[after[self.others] != s.part[self.others]]
        self.dest[came] = after[came]
        moved = np.concatenate([v, came])
        count = int(s.count[0])
        fresh = moved[s.listed[moved] & kernels.ACTIVE == 0]
        s.active[count:count + len(fresh)] = fresh
        s.listed[fresh] |= kernels.ACTIVE
        self.live[count:count + len(fresh)] = 1
        s.count[0] = count = count + len(fresh)
        going = np.zeros(len(after), np.uint8)
        going[moved] = 1
        self.go[:count] = going[s.active[:count]]
        self.state = s = with_room(s, len(moved))
        weight, pwgt, population = self.g.vwgt[v], s.pwgt.copy(), s.population.copy()
        before = s.part[v]
        won = distributed.apply_moves(self.g, self.pull, self.state, self.dest, self.go, self.live, self.now,
                                      np.empty((2, 0), WEIGHT))
        self._local -= int(won)
        # those of others are theirs to look at
        s.listed[self.others] = kernels.PINNED
        kept = s.active[:s.count[0]]
        kept = kept[self.region.own[kept]]
        s.active[:len(kept)] = kept
        s.count[0] = len(kept)
        s.pwgt[:], s.population[:] = pwgt, population
        self.cut = self._told(sums(after[v], weight, k) - sums(before, weight, k),
                              np.bincount(after[v], minlength=k) - np.bincount(before, minlength=k))
        return int(self._total(np.array([len(v)]))[0])

    def rebalance(self) -> None:
        """Evict until no part is over its limit, or nothing helps."""
        before = self.excess
        while before > 0:
            self.evict_round()
            after = self.excess
            if after >= before:
                break
            before = after

    def improve(self, config: Config) -> None:
        """Rounds while it cools, and then until `patience` of them bring next to nothing; the best state stays.

        Parameters
        ----------
        config : Config
            cooling, patience.
        """
        self.rebalance()
        best = (self.excess, self.cut)
        kept = self.state.pwgt.copy()
        self.state.count[2] = 0
        cooling = _MORE * config.cooling
        waited = done = 0
        while waited < config.patience or done < cooling:
            moved = self.jet_round(max(_COOL, _WARM * (1 - done / cooling)) if done < cooling else _COOL)
            done += 1
            waited += 1
            if not moved and not self._total(self.state.count[:1].copy())[0]:
                break
            found = (self.excess, self.cut)
            if found < best:
                if (best[1] - found[1]) * _NOTHING > best[1]:
                    waited = 0
                best = found
                kept = self.state.pwgt.copy()
                self.state.count[2] = 0
        moves.undo_moves(self.g, self.state)
        self.state.pwgt[:] = kept
        self.cut = best[1]


__all__ = ["Rounds"]
