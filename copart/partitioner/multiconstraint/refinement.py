"""Refinement of a partition on one level under several constraints: FM, rebalancing, and what settles at last."""

from __future__ import annotations

import logging
from typing import Any

import numpy as np

from ...arrays import VERTEX, WEIGHT
from ...errors import PartitionError
from ...kernels import Level
from ...kernels import multiconstraint as kernels
from ...kernels import multiconstraint_balancing as balancing
from ...kernels.multiconstraint import Loads
from ..refinement import cut_of, scratch_for
from .limits import excess_units

logger = logging.getLogger(__name__)

Array = np.ndarray[Any, Any]

#: FM passes per level, at most; a pass that wins less than this share of the cut is the last.
_PASSES, _LEAST_GAIN = 8, 0.002

#: FM passes after a round under looser limits, at most.
_PASSES_AFTER = 2

#: How much looser limits are in the first of several rounds, and in a single one, as a share of them.
_LOOSE, _LOOSE_ONCE = 0.3, 0.05

#: A pass ends after so many moves without success, the vertices over this, where nothing else is said.
_STALL = 50

#: Pairs of vertices that the exchange of last resort looks at.
_PAIRS = 5_000_000


class Refiner:
    """Working state of one level: `part` is refined in place.

    Parameters
    ----------
    g : Level
    vwgts : (nvtxs, ncon) int64
    limits : (nparts, ncon) int64
    part : (nvtxs,) int32
    stall : int
        A pass ends after so many moves without success, the vertices over this.
    """

    def __init__(self, g: Level, vwgts: Array, limits: Array, part: Array, stall: int = _STALL):
        n, k = len(part), len(limits)
        self.stall = max(100, n // stall)
        self.g, self.part = g, part
        self.loads = Loads(vwgts=vwgts, limits=limits, scale=excess_units(vwgts), pwgts=np.empty_like(limits),
                           population=np.empty(k, WEIGHT))
        self.scratch = scratch_for(n, k)
        if len(g.fixed):
            self.scratch.state[g.fixed >= 0] = kernels.PINNED
        kernels.weigh(part, self.loads)

    @property
    def excess(self) -> int:
        """What the parts hold above their limits, in units of :func:`excess_units`."""
        return int(kernels.total_excess(self.loads))

    def rebalance(self, anywhere: bool = False) -> int:
        """Move vertices out of parts with excess, to neighbouring parts or to any; returns the excess left."""
        before = self.excess
        while before > 0:
            after = int(balancing.rebalance(self.g, self.loads, self.part, anywhere, self.scratch))
            if after == before:
                break
            before = after
        return before

    def improve(self, rounds: int = 0, loose: float | None = None) -> None:
        """Rebalance and lower the cut by FM; `rounds` more times under looser limits first, each kept if better.

        Tight limits bar most of the moves that lead out of an optimum of k-way FM.  Limits looser by a share, which
        falls from `loose` from round to round, let them pass; then balance is restored, and the limits hold again.
        """
        loose = (_LOOSE if rounds > 1 else _LOOSE_ONCE) if loose is None else loose
        self.rebalance()
        cut = cut_of(self.g, self.part)
        cut -= self._passes(cut, _PASSES)
        best = (self.excess, cut, self.part.copy())
        for i in range(rounds):
            looser = self.loads.limits * (1 + loose * (1 - i / rounds))
            loads = self.loads._replace(limits=looser.astype(WEIGHT))
            kernels.kway_pass(self.g, loads, self.part, self.stall, self.scratch)
            if self.rebalance():
                self.rebalance(anywhere=True)
            self._passes(cut, _PASSES_AFTER)
            found = (self.excess, cut_of(self.g, self.part))
            if found < best[:2]:
                best = (*found, self.part.copy())
            else:
                self._restore(best[2])

    def _passes(self, cut: int, most: int) -> int:
        """At most so many FM passes, until one brings next to nothing of `cut`; returns the decrease of the cut."""
        total = 0
        for _ in range(most):
            before = self.excess
            won = int(kernels.kway_pass(self.g, self.loads, self.part, self.stall, self.scratch))
            total += won
            if (self.excess == 0 or self.rebalance() >= before) and won <= _LEAST_GAIN * (cut - total):
                break
        return total

    def _restore(self, part: Array) -> None:
        self.part[:] = part
        kernels.weigh(self.part, self.loads)

    def settle(self) -> int:
        """Fill empty parts and remove excess by whatever helps, at any cut; returns the excess left."""
        self._fill_empty()
        if self.rebalance() == 0 or self.rebalance(anywhere=True) == 0:
            return 0
        free = np.flatnonzero(self.scratch.state != kernels.PINNED)
        load = (self.loads.vwgts[free] * self.loads.scale.astype(np.float64)).max(axis=1)
        order = free[np.argsort(-load, kind="stable")].astype(VERTEX)
        before = self.excess
        after = int(balancing.swap_excess(self.loads, self.part, order, _PAIRS))
        while 0 < after < before:
            before = after
            self.rebalance(anywhere=True)
            after = int(balancing.swap_excess(self.loads, self.part, order, _PAIRS))
        if after:
            packed = self.part.copy()
            left = int(balancing.pack(self.loads, packed, order))
            if left < after:
                self.part[:] = packed
                after = left
            else:
                kernels.weigh(self.part, self.loads)
        return after

    def _fill_empty(self) -> None:
        """Give every empty part a free vertex of a part that has others: what adds least excess, then the lightest."""
        population = self.loads.population
        if population.all():
            return
        scale = self.loads.scale.astype(np.float64)
        movable = self.scratch.state != kernels.PINNED
        for p in np.flatnonzero(population == 0):
            rest = np.flatnonzero(movable & (population[self.part] > 1))
            vectors = self.loads.vwgts[rest]
            over = np.maximum(vectors - self.loads.limits[p], 0) @ scale
            lightest = rest[np.lexsort((vectors @ scale, over))[0]]
            self.part[lightest] = p
            kernels.weigh(self.part, self.loads)

    def complain(self, strict: bool) -> None:
        """Raise, or log where not `strict`, which limit the best partition found breaks most."""
        loads = self.loads
        over = (loads.pwgts - loads.limits) * loads.scale.astype(np.float64)
        p, c = (int(i) for i in np.unravel_index(np.argmax(over), over.shape))
        others = int((over > 0).sum()) - 1
        more = "" if others == 0 else f" (and {others} more limits are broken)"
        message = (f"balance: no partition within the limits was found; part {p} weighs {loads.pwgts[p, c]} in "
                   f"constraint {c} where {loads.limits[p, c]} is allowed{more}")
        if strict:
            raise PartitionError(message, ways=["raise eps"], best=True)
        logger.warning("%s", message)
