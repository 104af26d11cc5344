"""One end of an exchange on one process: which of its cells meet which of the other component, and what is made of
their values."""

from __future__ import annotations

import zlib
from collections.abc import Mapping
from functools import cached_property
from typing import Any, NamedTuple, get_args

import numpy as np
from numpy.typing import NDArray

from ..names import FieldMapping

#: What can be made of the values of the other component.
MAPPINGS: tuple[FieldMapping, ...] = get_args(FieldMapping)


class Overlaps(NamedTuple):
    """The interedges of a process, one entry each: own cell, ghost (as rows of their lists) and weight.

    cell : (n,) int64, into the coupled cells; ghost : (n,) int64, into the ghosts; weight : (n,) float64, overlap.
    """

    cell: NDArray[np.int64]
    ghost: NDArray[np.int64]
    weight: NDArray[np.float64]


class Side:
    """The coupled cells of one component on this process.

    Parameters
    ----------
    lists : mapping of int to structured (n,) array
        The interedges with each part of the other component.
    mine, other : {"a", "b"}
        Which column of interedges has the cells of this component, and which those of the other.

    Attributes
    ----------
    cells : (ncells,) int32
        Own cells with an interedge, ascending.
    send : dict of int to (n,) int64
        By part of the other component, which of `cells` it needs.
    ghosts : (nghosts,) int32
        Cells of the other component that meet one of these, part by part, ascending in each part.
    counts : dict of int to int
        How many of them each part has.
    overlaps : Overlaps
        Own interedges, ascending by own cell and then by the number of the other.
    checksum : uint64
        Sum over the lists of their checksums.
    """

    def __init__(self, lists: Mapping[int, NDArray[Any]], mine: str, other: str):
        rows = [lists[part] for part in sorted(lists)]
        self.checksum = np.array([zlib.crc32(one.tobytes()) for one in rows], np.uint64).sum(dtype=np.uint64)
        met = [np.unique(one[other]) for one in rows]
        self.counts = dict(zip(sorted(lists), map(len, met), strict=True))
        self.ghosts = np.concatenate([np.zeros(0, np.int32), *met]).astype(np.int32)
        every = np.concatenate([np.zeros(0, np.int32), *(one[mine] for one in rows)])
        self.cells, row = np.unique(every, return_inverse=True)
        self.send = {part: np.searchsorted(self.cells, np.unique(one[mine]))
                     for part, one in zip(sorted(lists), rows, strict=True)}
        first = np.concatenate([[0], np.cumsum([len(one) for one in met])]).astype(np.int64)
        column = np.concatenate([np.zeros(0, np.int64), *(start + np.searchsorted(ids, one[other])
                                 for start, ids, one in zip(first[:-1], met, rows, strict=True))])
        weight = np.concatenate([np.zeros(0), *(one["weight"] for one in rows)])
        # by own cell, then by the other's: sums do not depend on the parts
        order = np.lexsort((self.ghosts[column], row))
        self.overlaps = Overlaps(row[order], column[order], weight[order])
        self._row, self._column, self._weight = self.overlaps
        self._indptr = np.concatenate([[0], np.cumsum(np.bincount(row, minlength=len(self.cells)))]).astype(np.int64)
        self._share = np.zeros(0)

    @cached_property
    def totals(self) -> tuple[NDArray[np.float64], NDArray[np.int64]]:
        """(ncells,) sum of the weights, and number, of the interedges of each own cell."""
        sums: NDArray[np.float64] = np.bincount(self._row, self._weight, len(self.cells)).astype(np.float64)
        return sums, np.diff(self._indptr).astype(np.int64)

    def learn(self, sums: NDArray[np.float64], numbers: NDArray[np.int64]) -> None:
        """Take the :attr:`totals` of the ghosts, which their owners know."""
        self._share = _shares(self._weight, sums[self._column], numbers[self._column])

    def mapped(self, mapping: str, received: NDArray[Any]) -> NDArray[Any]:
        """Values of the own cells from those of the ghosts.

        Parameters
        ----------
        mapping : {"consistent", "nearest", "conservative", "raw"}
        received : (nghosts,) or (nghosts, ncomp) array

        Returns
        -------
        (ncells,) or (ncells, ncomp) array; of ``raw`` what came
        """
        if mapping == "raw":
            return received
        out: NDArray[Any]
        if mapping == "nearest":
            out = received[self.nearest]
            return out
        received = received.astype(made_of(mapping, received.dtype), copy=False)
        if mapping == "conservative":
            out = (self._spread @ received).astype(received.dtype, copy=False)
            return out
        first: NDArray[Any] = received[self._column[self._indptr[:-1]]]
        if len(self._column) == len(self.cells):
            return first
        # differences from the first value: an average of equal values is that value, to the last bit
        base = np.where(np.isfinite(first), first, first.dtype.type(0))
        apart = received[self._column] - base[self._row]
        out = (base + self._average @ apart).astype(received.dtype, copy=False)
        return out

    @cached_property
    def nearest(self) -> NDArray[np.int64]:
        """Ghost with the largest overlap with each own cell; of equal ones the first."""
        order = np.lexsort((self._weight * -1.0, self._row))
        return self._column[order[self._indptr[:-1]]]

    @cached_property
    def _average(self) -> Any:
        """(ncells, ninteredges) share of each interedge in its own cell."""
        from scipy.sparse import csr_array

        sums, numbers = self.totals
        shares = _shares(self._weight, sums[self._row], numbers[self._row])
        return csr_array((shares, np.arange(len(shares)), self._indptr), shape=(len(self.cells), len(shares)))

    @cached_property
    def _spread(self) -> Any:
        """(ncells, nghosts) share of each ghost that goes to each own cell."""
        from scipy.sparse import csr_array

        return csr_array((self._share, self._column, self._indptr), shape=(len(self.cells), len(self.ghosts)))


def made_of(mapping: str, dtype: np.dtype[Any]) -> np.dtype[Any]:
    """The type of what :meth:`Side.mapped` makes of values: integers are averaged and shared out in float64."""
    return np.dtype(np.float64) if mapping in ("consistent", "conservative") and dtype.kind in "biu" else dtype


def _shares(weight: NDArray[np.float64], sums: NDArray[np.float64], numbers: NDArray[np.int64]) -> NDArray[np.float64]:
    """Weights over their sum; equal shares where all are 0."""
    none = sums == 0
    out: NDArray[np.float64] = np.where(none, 1.0, weight) / np.where(none, numbers, sums)
    return out


__all__ = ["MAPPINGS", "Overlaps", "Side", "made_of"]
