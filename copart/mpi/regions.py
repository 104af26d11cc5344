"""The rows of a distributed graph on the ranks that own their regions, and what these know of one another.

Rows come in blocks of global numbers, go to the ranks that own their parts, and their results go back.  A rank numbers
its own vertices and their neighbours on other ranks together, in the order of their global numbers: so what is decided
by the smaller number is decided alike on all ranks.
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
from scipy.sparse import csr_array

from ..arrays import OFFSET, VERTEX, WEIGHT
from ..kernels import Level
from ..kernels.weights import narrowed
from .rows import exchange

Array = np.ndarray[Any, Any]


class Block(NamedTuple):
    """The rows of a graph that one rank gave.

    xadj (n + 1,) int64, adjncy (nentries,) int64 global numbers, ewgt (nentries,) int64 or empty where every edge
    weighs 1, vwgt (n,) int64; offsets (nranks + 1,) int64, where the global numbers of each rank begin.
    """

    xadj: Array
    adjncy: Array
    ewgt: Array
    vwgt: Array
    offsets: Array


class Region:
    """The rows that a rank owns after they have moved, and their neighbours.  Collective.

    Parameters
    ----------
    comm : mpi4py.MPI.Intracomm
    block : Block
    part : (n,) int32
        Part of every row of the block.
    nparts : int

    Attributes
    ----------
    ids : (nlocal,) int64
        Global numbers of own vertices and of their neighbours elsewhere, ascending.
    own : (nlocal,) bool
    level : Level
        The edges with an own end, in both directions; vertices of others are fixed.
    part : (nlocal,) int32
        Given part of each of them.
    """

    def __init__(self, comm: Any, block: Block, part: Array, nparts: int):
        self._comm, self._block = comm, block
        owner = owners(comm, part, nparts)
        self._order = np.argsort(owner, kind="stable")
        self._sent, self._came = _counts(comm, owner)
        rows, adjncy, ewgt = self._moved(part)
        mine, degree, vwgt = rows[:, 0], rows[:, 1], rows[:, 2]
        self.ids = np.unique(np.concatenate([mine, adjncy]))
        self.own = np.zeros(len(self.ids), bool)
        at = np.searchsorted(self.ids, mine)
        self.own[at] = True
        others = np.flatnonzero(~self.own)
        self.part = np.empty(len(self.ids), VERTEX)
        self.part[at] = rows[:, 3]
        whose = self._introduce(others, owner, part)
        # who sends which of its own to whom, now and again
        order = np.argsort(whose, kind="stable")
        self._take = others[order]
        self._taken, self._given = _counts(comm, whose)
        self._give = np.searchsorted(self.ids, exchange(comm, self.ids[self._take], self._taken, self._given))
        weights = np.zeros(len(self.ids), WEIGHT)
        weights[at] = vwgt
        self.level = self._level(np.repeat(at, degree), np.searchsorted(self.ids, adjncy), ewgt, weights)

    def _moved(self, part: Array) -> tuple[Array, Array, Array]:
        """Rows that came, as (nown, 4) number, degree, weight and part, ascending; their entries and edge weights."""
        block, comm, order = self._block, self._comm, self._order
        degree = np.diff(block.xadj)
        ids = np.arange(len(degree)) + block.offsets[comm.rank]
        rows = exchange(comm, np.stack([ids, degree, block.vwgt, part], axis=1)[order], self._sent, self._came)
        ends = np.cumsum(degree[order])
        entry = np.repeat(block.xadj[:-1][order] - (ends - degree[order]), degree[order])
        entry += np.arange(len(entry))
        sent, came = (_by_rank(counts, of) for counts, of in ((self._sent, degree[order]), (self._came, rows[:, 1])))
        adjncy = exchange(comm, block.adjncy[entry], sent, came)
        # a rank without rows does not know of weights, and takes part in sending them all the same
        weighted = max(comm.allgather(len(block.ewgt))) > 0
        return rows, adjncy, exchange(comm, block.ewgt[entry], sent, came) if weighted else block.ewgt

    def _introduce(self, others: Array, owner: Array, part: Array) -> Array:
        """Learn the parts of vertices elsewhere from the ranks that gave them; returns the ranks that own them."""
        home = np.searchsorted(self._block.offsets, self.ids[others], side="right") - 1
        asked, answered = _counts(self._comm, home)
        rows = exchange(self._comm, self.ids[others], asked, answered) - self._block.offsets[self._comm.rank]
        told = exchange(self._comm, np.stack([owner, part], axis=1)[rows], answered, asked)
        self.part[others] = told[:, 1]
        whose: Array = told[:, 0]
        return whose

    def _level(self, u: Array, v: Array, ewgt: Array, vwgt: Array) -> Level:
        """The local graph of edges from own vertices u to any v."""
        n, across = len(self.ids), ~self.own[v]
        unit = len(ewgt) == 0
        weight = np.ones(len(u), WEIGHT) if unit else ewgt
        self.across = (u[across], v[across], weight[across])
        both = (np.concatenate([weight, weight[across]]),
                (np.concatenate([u, v[across]]), np.concatenate([v, u[across]])))
        made = csr_array(both, shape=(n, n))
        made.sort_indices()
        fixed = np.where(self.own, -1, 0).astype(VERTEX)
        none = np.zeros(0, WEIGHT)
        return Level(made.indptr.astype(OFFSET), made.indices.astype(VERTEX), narrowed(none if unit else made.data),
                     vwgt, fixed, none.astype(VERTEX), none)

    def bring(self, values: Array) -> None:
        """Put the owners' values in the places of vertices elsewhere, in place.  Collective."""
        values[self._take] = exchange(self._comm, values[self._give], self._given, self._taken)

    def sent_home(self, part: Array) -> Array:
        """(n,) parts of the rows that this rank gave, from `part` of all local vertices.  Collective."""
        out = np.empty(len(self._order), part.dtype)
        # rows went in the order of their numbers, and come back in it
        out[self._order] = exchange(self._comm, part[self.own], self._came, self._sent)
        return out


def owners(comm: Any, part: Array, nparts: int) -> Array:
    """(n,) rank that goes on with each row: parts in their order, as many rows of a part for each rank that shares it.

    Collective.
    """
    from mpi4py import MPI

    mine = np.bincount(part, minlength=nparts)
    before, total = np.zeros_like(mine), np.empty_like(mine)
    comm.Exscan(mine, before, MPI.SUM)
    if comm.rank == 0:
        before[:] = 0  # not defined there
    comm.Allreduce(mine, total, MPI.SUM)
    order = np.argsort(part, kind="stable")
    place = np.empty(len(part), OFFSET)
    place[order] = np.arange(len(part)) + np.repeat(before - (np.cumsum(mine) - mine), mine)
    rank: Array = (part * total[part] + place) * comm.size // (nparts * total[part])
    return rank


def _counts(comm: Any, to: Array) -> tuple[Array, Array]:
    """How many rows go to, and come from, each rank, by the rank that each goes to."""
    sent = np.bincount(to, minlength=comm.size)
    came = np.empty_like(sent)
    comm.Alltoall(sent, came)
    return sent, came


def _by_rank(rows: Array, size: Array) -> Array:
    """How many entries the rows to or from each rank have, of `size` each."""
    ends = np.concatenate([[0], np.cumsum(size)])
    at = np.concatenate([[0], np.cumsum(rows)])
    return np.diff(ends[at])


__all__ = ["Block", "Region", "owners"]
