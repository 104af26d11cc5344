"""The working state of one level, and UMPa's own passes on it."""

from __future__ import annotations

from typing import Any

import numpy as np

from ...kernels import umpa_gains, umpa_pairs, umpa_passes, umpa_state
from ...kernels.umpa_state import Flow, Nets
from ..shuffling import visiting_order
from .objectives import METRICS, Objective

Array = np.ndarray[Any, Any]

#: The next pass is worth it where the last one has lowered the primary metric by this share.
_WORTH = 1e-3


class Search:
    """Working state of one level.

    Parameters
    ----------
    h : Nets
    part : (nvtxs,) int32
        The partition; changed in place.
    limit : (nparts,) int64
        Largest weight of each part.
    objective : Objective
    salt : int
        Seed of the hashes.
    """

    def __init__(self, h: Nets, part: Array, limit: Array, objective: Objective, salt: int):
        k = len(limit)
        self.h, self.objective, self.salt = h, objective, salt
        self.metrics = np.array([METRICS[name] for name in objective.metrics])
        size = np.diff(h.xpins)
        xslot = np.zeros(len(size) + 1, np.int64)
        np.cumsum(np.minimum(size, k), out=xslot[1:])
        # one move adds a pair per net, and those from its own nets to all their parts
        most = np.diff(h.xnets).astype(np.int64)
        np.add.at(most, h.pins[h.xpins[:-1]], np.minimum(size, k))
        spare = int(most.max(initial=0))
        i64, i32 = np.int64, np.int32
        none = np.zeros(0)
        self.state = Flow(
            part=part, load=np.zeros(k, i64), population=np.zeros(k, i64), limit=limit, xslot=xslot,
            slot=np.empty(xslot[-1], i32), held=np.empty(xslot[-1], i32), spread=np.zeros(len(size), i32),
            send=np.zeros(k, i64), receive=np.zeros(k, i64), messages=np.zeros(k, i64), key=np.zeros(0, i64),
            count=np.zeros(0, i64), total=np.array([0, 0, 0, spare]), worth=none, soft=np.zeros(k),
            change=np.zeros(k), who=np.zeros(k + 1, i32), least=np.zeros(0, i64),
        )
        self.trial = umpa_gains.Trial(
            gain_send=np.zeros(k, i64), loss_send=np.zeros(k, i64), gain_messages=np.zeros(k, i64),
            loss_messages=np.zeros(k, i64), conn=np.zeros(k, i64), touched=np.zeros(k, i32),
            mark=np.zeros(k, np.uint8), near=np.zeros(k, i32), senders=np.zeros(k, i32), receivers=np.zeros(k, i32),
            role=np.zeros(k, np.uint8), at=np.zeros(10, i64),
        )
        if objective.messages:
            pairs = min(int((np.minimum(size, k) - 1).sum()), k * (k - 1))
            self._table(pairs)
        umpa_state.count_parts(h, self.state)

    def _table(self, pairs: int) -> None:
        """A free hash table for so many pairs, and those that moves leave behind."""
        k = len(self.state.load)
        room = min(4 * (pairs + int(self.state.total[3])), 2 * k * k) + 64
        size = 1 << int(room - 1).bit_length()
        self.state = self.state._replace(key=np.full(size, -1, np.int64), count=np.zeros(size, np.int64))

    def tidy(self) -> None:
        """Drop the pairs that no net flows between any more, where the hash table is half full of pairs."""
        s = self.state
        if 2 * int(s.total[2]) > len(s.key):
            self._table(int(np.count_nonzero(s.count)))
            s.total[2] = umpa_pairs.rehash(s.key, s.count, self.state.key, self.state.count)

    @property
    def excess(self) -> int:
        """Weight above the limits."""
        return int(np.maximum(self.state.load - self.state.limit, 0).sum())

    def values(self) -> tuple[int, ...]:
        """The metrics of the objective, first things first."""
        return tuple(int(umpa_gains.value_now(self.state, m)) for m in self.metrics)

    def passes(self, most: int) -> int:
        """UMPa's passes, at most so many; returns the moves."""
        n = len(self.state.part)
        moves = 0
        scratch = np.empty((2, len(self.metrics)), np.int64)
        listed, there = np.empty(n, np.int32), np.empty(n, np.uint8)
        for turn in range(most):
            before = self.values()
            count = int(umpa_state.list_border(self.h, self.state, listed, there))
            queue = np.empty(n, np.int32)
            queue[:count] = listed[:count][visiting_order(count, self.salt + turn)]
            waiting = umpa_passes.Waiting(queue, there, np.zeros(n, np.uint8), np.array([0, count]))
            done = 0
            while waiting.at[1] > 0:
                self.tidy()
                made = int(umpa_passes.refine_pass(self.h, self.state, self.metrics, self.objective.by_load, waiting,
                                                   scratch, self.trial))
                done += made
            moves += done
            after = self.values()
            if not done or before[0] - after[0] <= _WORTH * before[0]:
                break
        return moves


__all__ = ["Search"]
