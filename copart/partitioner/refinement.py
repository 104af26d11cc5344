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
from ..kernels.crew import PER_THREAD
from ..kernels.csr import edge_cut
from ..kernels.memory import pages
from ..kernels.refinement import State
from ..options import Config
from .rounds import Team

Array = np.ndarray[Any, Any]

#: Warmth at the end of cooling and after it.
_COOL = 0.25

#: Where parts over their limits, times all parts, are more than these, they look for room together.
_MANY = 400_000

#: On skewed graphs the rounds of cooling are so many times fewer, and so many at most: twice as many take a fifth more
#: time for .1 % of the cut (`strong`).
_FEWER, _AROUND_HUBS = 2, 6

#: The log gets room for so many rounds at once.
_ROUNDS = 4

#: There is memory for evictions from a border of twice as many vertices as at first, and so many more.
_LEAST = 64


def cut_of(g: Level, part: Array) -> int:
    """Weight of the edges between different parts, each counted once."""
    return int(edge_cut(frozen(g.xadj), frozen(g.adjncy), frozen(g.ewgt), frozen(part)))


def excess_of(g: Level, part: Array, limit: Array) -> int:
    """Weight above the limits, summed over the parts."""
    return int(np.maximum(sums(part, g.vwgt, len(limit)) - limit, 0).sum())


def loosened(limit: Array, vwgt: Array) -> Array:
    """Limits for a coarse level: room for one of its vertices at least, or balance would be bought there with cut."""
    slack = (int(limit.sum()) - int(vwgt.sum())) // len(limit)
    return limit + max(0, int(vwgt.max()) - slack)


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
    listed, moved_in = pages(n, np.uint8), pages(n, np.int32)

    def look(lo: int, hi: int) -> tuple[Array, Array]:
        dest[lo:hi], moved_in[lo:hi] = -1, 0
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
    border, active = pages(n, np.int32), pages(n, np.int32)
    border[: len(first)] = active[: len(first)] = first
    return State(
        part=part,
        pwgt=pwgt,
        population=population,
        active=active,
        border=border,
        listed=listed,
        moved_in=moved_in,
        # grown by `with_room`
        log=np.empty((2, 2 * len(first) + 64), np.int32),
        count=np.array([len(first), len(first), 0]),
        room=limit[:0],
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
        threads = team.crew_size(n)
        self.memory = jet.Memory(
            dest=dest, gain=pages(n, np.int64), live=pages(n, np.uint8), go=pages(n, np.uint8),
            key=np.empty(0), vertex=np.empty(0, np.int32),
            words=self.state.listed[: n // 8 * 8].view(np.int64),
            conn=np.empty((threads, k), np.int64), touched=np.empty((threads, k), np.int32),
            change=np.zeros((threads, 2, k), np.int64), found=np.empty((threads * PER_THREAD, 2), np.int64),
            at=np.zeros(12, np.int64), long=jet.LONG,
        )
        self.memory.at[jet.LISTED], self.memory.at[jet.IN_ORDER] = self.state.count[:2]
        self.place = pages(n, np.int32)
        self._make_room(min(n, 2 * int(self.state.count[1]) + _LEAST))

    def _make_room(self, most: int) -> None:
        """Memory of evictions from a border of so many vertices."""
        k = len(self.limit)
        key = np.empty(most)
        self.memory = self.memory._replace(key=key, vertex=np.empty(most, np.int32))
        self.waiting = eviction.Waiting(
            rank=key.view(np.int64), heap=np.empty(most, np.int32), pos=np.empty(most, np.int32),
            tie=np.empty(most, np.int64),
            start=np.empty(k + 1, np.int64), size=np.empty(k, np.int64), parts=np.empty(k, np.int32),
            place=np.empty(k, np.int32), best=np.empty(k, np.int64), best_tie=np.empty(k, np.int64),
        )

    @property
    def now(self) -> int:
        """Rounds done, evictions included."""
        return int(self.memory.at[jet.NOW])

    @property
    def excess(self) -> int:
        """Weight above the limits, summed over the parts."""
        return int(np.maximum(self.state.pwgt - self.limit, 0).sum())

    def rebalance(self) -> int:
        """Evict until no part is over its limit or nothing helps; returns the decrease of the cut (mostly negative)."""
        self._rounds(np.full(1, _COOL), 0, 0)
        return int(self.memory.at[jet.TOTAL])

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
            cooling = min(-(-cooling // _FEWER), _AROUND_HUBS)
            self.state = self.state._replace(room=self.limit.copy())  # each round its own
        warmth = np.full(cooling + 1, _COOL)
        warmth[:cooling] = np.maximum(_COOL, config.warmth * (1 - np.arange(cooling) / max(cooling, 1)))
        self._rounds(warmth, config.patience, cut)
        moves.undo_moves(self.g, self.state)
        return int(self.memory.at[jet.BEST])

    def _rounds(self, warmth: Array, patience: int, cut: int) -> None:
        """Rounds of :func:`jet.jet_rounds`, from restoring balance on, until they are over."""
        at = self.memory.at
        # the first state is better than none
        at[: jet.IN_ORDER] = jet.BALANCE, self.now, 0, -1, 0, 0, eviction.BELOW_SIGN
        while True:
            stage = self.team.together(jet.jet_rounds, len(self.state.part), self.g, self.pull, self.state, self.limit,
                                       self.salt, cut, warmth, patience, self.memory, self.waiting)
            if stage == jet.OVER:
                return
            if stage == jet.WALLED:
                # hand weight on from part to part
                before = self.excess
                at[jet.TOTAL] += self.shift_round()
                at[jet.STAGE] = jet.JUDGE if self.excess == before else jet.BALANCE
                continue
            count = int(self.state.count[1 if stage == jet.BALANCE else 0])
            if stage == jet.BALANCE and count > len(self.memory.vertex):
                self._make_room(min(2 * count, len(self.state.part)))
            self.state = with_room(self.state, _ROUNDS * count)
