"""Processes that are threads, to cut points together without MPI."""

from __future__ import annotations

import threading
from concurrent.futures import ThreadPoolExecutor

import numpy as np


class Peers:
    """One of several threads that meet in every call; see :class:`copart.partitioner.geometric.pooled.Peers`."""

    def __init__(self, rank: int, table: list, barrier: threading.Barrier):
        self.rank, self.size, self._table, self._barrier = rank, len(table), table, barrier

    def gathered(self, mine):
        self._table[self.rank] = np.array(mine)
        self._barrier.wait()
        found = [np.array(one) for one in self._table]
        self._barrier.wait()
        return found

    def add_up(self, mine):
        mine[:] = np.sum(self.gathered(mine), axis=0)

    def least(self, mine):
        mine[:] = np.min(self.gathered(mine), axis=0)

    def reduce(self, found):
        self.add_up(found.weight)
        self.add_up(found.count)
        self.least(found.least)
        most = -found.most
        self.least(most)
        found.most[:] = -most


def with_peers(size, work):
    """``[work(peers) for each of them]``, all at the same time."""
    table, barrier = [None] * size, threading.Barrier(size, timeout=60)

    def one(rank):
        try:
            return work(Peers(rank, table, barrier))
        except BaseException:
            # the others would wait for this one
            barrier.abort()
            raise

    with ThreadPoolExecutor(size) as pool:
        return list(pool.map(one, range(size)))
