"""Refinement of a partition on one level: unconstrained local search, rebalancing, best kept.

`Refiner` owns the working state of one level.  Rounds of Jet (moves decided
together from the frozen state) lower the cut and may overload parts; eviction
rounds bring the parts back below their limits.  The best balanced state seen is
returned to, by taking back the moves logged since.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from ..arrays import frozen, sums
from ..kernels import Level, Pull, eviction, jet, moves, shifting
from ..kernels import refinement as kernels
from ..kernels.connectivity import Scratch
from ..kernels.csr import edge_cut
from ..kernels.refinement import State
from ..options import Config
from .memory import pages
from .rounds import Team

Array = np.ndarray[Any, Any]

#: Warmth at the end of cooling and after it.
_COOL = 0.25

#: Where parts over their limits, times all parts, are more than these, they look for room together.
_MANY = 400_000

#: On skewed graphs: how far parts may be filled above their limits in the first round, as a share of them; and how many
#: times fewer the rounds of cooling are.
_ABOVE, _FEWER = 0.2, 2

#: Up to so many vertices one thread does rounds on lists of any length without coming back; on more, calls take no time
#: to speak of.
_WHOLE = 1 << 19

#: The log gets room for so many rounds at once.
_ROUNDS = 4


def cut_of(g: Level, part: Array) -> int:
    """Weight of the edges between different parts, each counted once."""
    return int(edge_cut(frozen(g.xadj), frozen(g.adjncy), frozen(g.ewgt), frozen(part)))


def excess_of(g: Level, part: Array, limit: Array) -> int:
    """Weight above the limits, summed over the parts."""
    return int(np.maximum(sums(part, g.vwgt, len(limit)) - limit, 0).sum())


def weights_of(g: Level, part: Array, nparts: int, team: Team) -> Array:
    """Weight and number of vertices of each part (2, nparts) int64."""
    total: Array = np.sum(team.run(_weigh, len(part), g, part, nparts), axis=0)
    return total


def _weigh(lo: int, hi: int, g: Level, part: Array, nparts: int) -> Array:
    """The same of the vertices lo..hi alone."""
    mine = np.zeros((2, nparts), np.int64)
    kernels.weigh(lo, hi, part, g.vwgt, *mine)
    return mine


def scratch_for(n: int, k: int) -> Scratch:
    """Memory of k-way FM on `n` vertices and `k` parts, clean as kernels expect it."""
    return Scratch(key=np.empty(n, np.int64), heap=np.empty(n, np.int32), pos=np.full(n, -1, np.int32),
                   state=np.zeros(n, np.uint8),
                   log=np.empty((2, n), np.int32),  # a vertex moves once in a pass
                   conn=np.full(k, -1, np.int64),
                   touched=np.empty(k + 1, np.int32))  # all parts, and the old place of a vertex


def listed_vertices(listed: Array) -> Array:
    """The vertices where `listed` (n,) uint8 is 1, ascending, (nlisted,) int32."""
    # numpy finds bools several times as fast as bytes
    return np.flatnonzero(listed.view(bool)).astype(np.int32)


def first_state(g: Level, part: Array, limit: Array, team: Team, dest: Array,
                above: tuple[Array, Array] | None = None) -> State:
    """The state of a partition before the first round: border vertices are active, and none has a proposal, -1 in
    `dest` (nvtxs,) int32; `above` as for :class:`Refiner`.
    """
    n, k = len(part), len(limit)
    cmap, coarse = above or (part[:0], np.empty(0, np.uint8))
    listed = pages(n, np.uint8)

    def look(lo: int, hi: int) -> tuple[Array, Array]:
        dest[lo:hi] = -1
        kernels.find_boundary(lo, hi, g, part, cmap, coarse, listed)
        here = listed[lo:hi]
        found = listed_vertices(here)
        found += lo
        here *= kernels.ACTIVE | kernels.BORDER
        if len(g.fixed):
            here[g.fixed[lo:hi] >= 0] = kernels.PINNED
        return found, _weigh(lo, hi, g, part, k)

    borders, weights = zip(*team.run(look, n), strict=True)
    first = np.concatenate(borders)
    pwgt, population = np.sum(weights, axis=0)
    border, active = np.empty(n, np.int32), np.empty(n, np.int32)
    border[: len(first)] = active[: len(first)] = first
    return State(
        part=part,
        pwgt=pwgt,
        population=population,
        active=active,
        border=border,
        listed=listed,
        moved_in=np.zeros(n, np.int32),
        # grown by `with_room`
        log=np.empty((2, 2 * len(first) + 64), np.int32),
        count=np.array([len(first), len(first), 0]),
        room=limit[:0],
    )


def _waiting(most: int, nparts: int) -> eviction.Waiting:
    """Memory of so many candidates for evictions."""
    return eviction.Waiting(
        heap=np.empty(most, np.int32), pos=np.empty(most, np.int32), tie=np.empty(most, np.int64),
        start=np.empty(nparts + 1, np.int64), size=np.empty(nparts, np.int64), parts=np.empty(nparts, np.int32),
        place=np.empty(nparts, np.int32), best=np.empty(nparts, np.int64), best_tie=np.empty(nparts, np.int64),
    )


def with_room(state: State, more: int) -> State:
    """The state with room in the log for so many more moves."""
    log, logged = state.log, int(state.count[2])
    if logged + more <= log.shape[1]:
        return state
    longer = np.empty((2, 2 * (logged + more)), np.int32)
    longer[:, :logged] = log[:, :logged]
    return state._replace(log=longer)


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
    skewed : bool
        The graph has hubs (:class:`copart.partitioner.shape.Shape`).
    above : tuple of arrays, optional
        Where the partition comes from a coarser level: coarse vertex of each vertex (nvtxs,) int32, and
        `State.listed` there, of which 0 says that all neighbours are in the same part.
    """

    def __init__(self, g: Level, pull: Pull, part: Array, limit: Array, team: Team, salt: int, skewed: bool = False,
                 above: tuple[Array, Array] | None = None):
        n, k = len(part), len(limit)
        self.g, self.pull, self.limit, self.team, self.salt = g, pull, limit, team, salt
        self.skewed = skewed
        dest = pages(n, np.int32)
        self.state = first_state(g, part, limit, team, dest, above)
        most = n if team.threads == 1 and n <= _WHOLE else min(n, jet.LONG)
        key = np.empty(most)
        self.memory = jet.Memory(
            dest=dest, gain=pages(n, np.int64), live=pages(n, np.uint8),
            go=pages(n, np.uint8), key=key, rank=key.view(np.int64), vertex=np.empty(most, np.int32),
            words=self.state.listed[: n // 8 * 8].view(np.int64),
            waiting=_waiting(most, k), conn=np.empty(k, np.int64), touched=np.empty(k, np.int32),
            at=np.zeros(8, np.int64),
        )
        self.memory.at[jet.IN_ORDER] = self.state.count[0]
        self.place = pages(n, np.int32)

    @property
    def now(self) -> int:
        """Rounds done, evictions included."""
        return int(self.memory.at[jet.NOW])

    def _scratch(self) -> tuple[Array, Array]:
        k = len(self.limit)
        return np.empty(k, np.int64), np.empty(k, np.int32)

    @property
    def excess(self) -> int:
        """Weight above the limits, summed over the parts."""
        return int(np.maximum(self.state.pwgt - self.limit, 0).sum())

    def jet_round(self, warmth: float) -> int:
        """One round of moves, which may overload parts; returns the decrease of the cut."""
        m = self.memory
        m.at[jet.NOW] += 1
        count = int(self.state.count[0])
        self.state = with_room(self.state, count)
        t, g, s = self.team, self.g, self.state
        if count > jet.LONG:
            kernels.list_marked(s.listed, m.words, kernels.ACTIVE, s.active)
        t.run(kernels.propose, count, g, self.pull, s, self.now, warmth, m.dest, m.gain, m.live, scratch=self._scratch)
        t.run(kernels.afterburn, count, g, self.pull, s, m.dest, m.gain, m.go)
        return int(moves.apply_moves(g, self.pull, s, m.dest, m.go, m.live, self.now))

    def evict_round(self) -> int:
        """One round of moves out of overloaded parts; returns the decrease of the cut."""
        self.memory.at[jet.NOW] += 1
        count = int(self.state.count[1])
        self.state = with_room(self.state, count)
        if count > max(jet.LONG, jet.GROWN * self.memory.at[jet.IN_ORDER]):
            kernels.list_marked(self.state.listed, self.memory.words, kernels.BORDER, self.state.border)
            self.memory.at[jet.IN_ORDER] = count
        key, vertex = np.empty(count), np.empty(count, np.int32)
        found = self.team.run(
            eviction.propose_evictions, count, self.g, self.pull, self.state, self.limit, self.salt + self.now, key,
            vertex, scratch=self._scratch,
        )
        top = found[0]
        for at, more in zip(self.team.cuts(count)[1:], found[1:], strict=False):
            key[top : top + more], vertex[top : top + more] = key[at : at + more], vertex[at : at + more]
            top += more
        return int(
            eviction.evict(top, key[:top].view(np.int64), vertex, self.g, self.pull, self.state, self.limit, self.now,
                           _waiting(top, len(self.limit)), *self._scratch())
        )

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
        k, count = len(self.limit), int(self.state.count[1])
        ways = shifting.Ways(start=np.empty(k + 1, np.int64), order=np.empty(count, np.int32),
                             sources=np.empty(k, np.int32), parent=np.empty(k, np.int32), queue=np.empty(k, np.int32),
                             toward=np.empty(k, np.int32))
        hops = shifting.Hops(onward=np.empty(k, np.int32), place=self.place, value=np.empty(count, np.int64),
                             ties=np.empty(count, np.int32))
        # a vertex is handed on once in a round: those listed under a part leave it for good
        self.state = with_room(self.state, count + k)
        return int(shifting.shift_round(self.g, self.pull, self.state, self.limit, self.now, _MANY, ways, hops))

    def improve(self, config: Config, cut: int, rounds: int | None = None) -> int:
        """Jet with rebalancing while it cools, and then until `patience` rounds bring next to nothing.

        The first rounds are warm: a vertex may lose up to ``warmth`` of its own connectivity, less
        and less over ``cooling`` rounds, which leads out of shallow optima as annealing does.

        On skewed graphs most vertices are at the border, and would follow the hubs into the same few parts, only to be
        evicted again: there a round fills parts only so far above their limits, less and less while it cools.  The
        first rounds bring nearly all then, and half of the rounds of cooling do.

        Parameters
        ----------
        config : Config
            cooling, warmth, patience.
        cut : int
            The cut now, to tell what is next to nothing (0.2 % of it).
        rounds : int, optional
            Rounds of cooling instead of the configured.

        Returns
        -------
        int
            Decrease of the cut between the partition given and the one left behind.
        """
        cooling = config.cooling if rounds is None else rounds
        if self.skewed:
            cooling = -(-cooling // _FEWER)
            self.state = self.state._replace(room=self.limit)  # each round its own
        warmth = np.full(cooling + 1, _COOL)
        warmth[:cooling] = np.maximum(_COOL, config.warmth * (1 - np.arange(cooling) / max(cooling, 1)))
        at, now, most = self.memory.at, self.now, len(self.memory.vertex)
        # the first state is better than none
        at[: jet.IN_ORDER] = jet.BALANCE, now, 0, -1, 0, 0, eviction.BELOW_SIGN
        while True:
            stage = jet.jet_rounds(self.g, self.pull, self.state, self.limit, self.salt, cut, warmth, config.patience,
                                   self.memory)
            if stage == jet.OVER:
                break
            if stage == jet.WALLED:
                # hand weight on from part to part
                before = self.excess
                at[jet.TOTAL] += self.shift_round()
                at[jet.STAGE] = jet.JUDGE if self.excess == before else jet.BALANCE
                continue
            count = int(self.state.count[1 if stage == jet.BALANCE else 0])
            if stage == jet.BALANCE and count > most:
                at[jet.TOTAL] += self.rebalance()
                at[jet.STAGE] = jet.JUDGE
            elif stage == jet.ROUND and (count > most or self.skewed):
                self._warm_round(warmth, cooling)
            else:
                # the log is short
                self.state = with_room(self.state, _ROUNDS * count)
        moves.undo_moves(self.g, self.state)
        return int(at[jet.BEST])

    def _warm_round(self, warmth: Array, cooling: int) -> None:
        """One round on a long list, or on a skewed graph, between calls of :func:`jet.jet_rounds`."""
        at = self.memory.at
        done, before = int(at[jet.DONE]), int(self.state.count[2])
        if self.skewed:
            above = _ABOVE * max(0.0, 1 - done / cooling) if cooling else 0.0
            self.state = self.state._replace(room=self.limit + (self.limit * above).astype(np.int64))
        at[jet.TOTAL] += self.jet_round(float(warmth[min(done, cooling)]))
        idle = self.state.count[2] == before and not self.state.count[0]
        at[jet.STAGE] = jet.OVER if idle else jet.COUNT
