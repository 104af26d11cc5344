"""Interedges: the weighted relation between the cells of two components that exchange data."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from .arrays import OFFSET, VERTEX, Frozen, frozen, integers, own, places, reals, whole
from .errors import CouplingError


@dataclass(frozen=True, eq=False, repr=False)
class Interedges(Frozen):
    """A weighted relation between the cells of component A (rows) and B (columns).

    Parameters
    ----------
    shape : (int, int)
        Numbers of vertices of A and of B.
    indptr : (n_a + 1,) array_like of int
        Row offsets, kept as int64.
    indices : (ninteredges,) array_like of int
        B-vertices, ascending in a row, kept as int32.
    weights : (ninteredges,) array_like of float, optional
        Overlap area or length, finite and >= 0; 1 where not given.

    Raises
    ------
    CouplingError
        An index is outside the components, repeated, or a weight is unusable.
    """

    shape: tuple[int, int]
    indptr: NDArray[np.int64]
    indices: NDArray[np.int32]
    weights: NDArray[np.float64] | None = None

    def __post_init__(self) -> None:
        na, nb = _sizes(self.shape)
        indptr = own(integers("interedges indptr", self.indptr, OFFSET, CouplingError, low=0, size=na + 1), self.indptr)
        if indptr[0] != 0 or (np.diff(indptr) < 0).any():
            raise CouplingError("interedges indptr: must start with 0 and not decrease")
        indices = integers("interedges indices", self.indices, VERTEX, CouplingError, low=0, high=nb,
                           size=int(indptr[-1]))
        w = np.ones(len(indices)) if self.weights is None else reals("interedges weights", self.weights,
                                                                     CouplingError)
        if w.shape != indices.shape:
            raise CouplingError(f"interedges weights: needs {len(indices)} entries, has shape {w.shape}")
        _check_weights(w)
        row = np.repeat(np.arange(na), np.diff(indptr))
        order = np.lexsort((indices, row))
        if not (order[:-1] < order[1:]).all():
            indices, w = indices[order], w[order]
        same = (row[1:] == row[:-1]) & (indices[1:] == indices[:-1])
        if same.any():
            i = int(np.argmax(same))
            raise CouplingError(f"interedges: pair ({row[i]}, {indices[i]}) is listed more than once")
        put = object.__setattr__
        put(self, "shape", (na, nb))
        put(self, "indptr", indptr)
        put(self, "indices", own(indices, self.indices))
        put(self, "weights", own(w, self.weights))

    @classmethod
    def from_pairs(cls, na: int, nb: int, u: ArrayLike, v: ArrayLike, weights: ArrayLike | None = None) -> Interedges:
        """From pairs (u of A, v of B); repeated pairs are merged and their weights added.

        Parameters
        ----------
        na, nb : int
            Number of cells of A and of B.
        u : (npairs,) array_like of int
            Cell of A of each pair.
        v : (npairs,) array_like of int
            Cell of B of each pair.
        weights : (npairs,) array_like of float, optional
            Not negative; 1 each where not given.

        Raises
        ------
        CouplingError
            A cell number is outside its component, or a weight is unusable.
        """
        na, nb = _sizes((na, nb))
        a = places("interedges to A", u, VERTEX, CouplingError, high=na)
        b = places("interedges to B", v, VERTEX, CouplingError, high=nb, size=len(a))
        w = np.ones(len(a)) if weights is None else reals("interedges weights", weights, CouplingError)
        if w.shape != a.shape:
            raise CouplingError(f"interedges weights: needs {len(a)} entries, has shape {w.shape}")
        _check_weights(w)  # before they are added up, where one may hide another
        key = a.astype(np.int64) * max(nb, 1) + b
        unique, inverse = np.unique(key, return_inverse=True)
        # without weights every interedge weighs 1, repeated or not
        total = None if weights is None else np.bincount(inverse, w, len(unique)).astype(np.float64)
        indptr = np.zeros(na + 1, OFFSET)
        np.cumsum(np.bincount(unique // max(nb, 1), minlength=na), out=indptr[1:])
        columns = (unique % max(nb, 1)).astype(VERTEX)
        return cls((na, nb), frozen(indptr), frozen(columns), None if total is None else frozen(total))

    @classmethod
    def from_scipy(cls, matrix: Any) -> Interedges:
        """From an n_a x n_b ``scipy.sparse`` matrix of weights.

        Parameters
        ----------
        matrix : scipy.sparse matrix or array, (na, nb)
            Cells of A by cells of B.

        Raises
        ------
        CouplingError
            It is no such matrix, or a weight is unusable.
        """
        if not hasattr(matrix, "tocoo") or len(matrix.shape) != 2:
            raise CouplingError(f"matrix: needs a scipy.sparse matrix of two dimensions, got {type(matrix).__name__}; "
                                f"scipy.sparse.coo_array makes one of an array")
        m = matrix.tocoo()
        return cls.from_pairs(m.shape[0], m.shape[1], m.row, m.col, m.data)

    def to_scipy(self) -> Any:
        """As ``scipy.sparse.csr_array`` of float64 weights."""
        from scipy.sparse import csr_array

        return csr_array((self.weights.copy(), self.indices.copy(), self.indptr.copy()), shape=self.shape)  # type: ignore[union-attr]

    def __len__(self) -> int:
        return len(self.indices)

    def __repr__(self) -> str:
        return (f"Interedges({len(self)} between {len(self.coupled_a)} of {self.shape[0]} and "
                f"{len(self.coupled_b)} of {self.shape[1]} cells)")

    @cached_property
    def transposed(self) -> Interedges:
        """The same relation seen from B."""
        u, v, w = self.pairs()
        return Interedges.from_pairs(self.shape[1], self.shape[0], v, u, w)

    def pairs(self) -> tuple[NDArray[np.int32], NDArray[np.int32], NDArray[np.float64]]:
        """One entry an interedge: A-vertex, B-vertex, weight; ordered by A then B."""
        return self._rows, self.indices, self.weights  # type: ignore[return-value]

    @cached_property
    def _rows(self) -> NDArray[np.int32]:
        """The A-vertex of each interedge."""
        return frozen(np.repeat(np.arange(self.shape[0], dtype=VERTEX), np.diff(self.indptr)))

    @cached_property
    def coupled_a(self) -> NDArray[np.int32]:
        """Vertices of A with an interedge, ascending: ``Dom(I)``."""
        return frozen(np.flatnonzero(np.diff(self.indptr)).astype(VERTEX))

    @cached_property
    def coupled_b(self) -> NDArray[np.int32]:
        """Vertices of B with an interedge, ascending: ``Dom(I^-1)``."""
        return frozen(np.unique(self.indices))

    def capped(self, most: int) -> Interedges:
        """At most `most` interedges per cell, the heaviest, ties to the smaller numbers.

        Every cell keeps its heaviest one, so that none loses its coupling; a cell that is the heaviest of more
        than `most` others keeps these all.

        Parameters
        ----------
        most : int
            At least 1.

        Raises
        ------
        ConfigError
            It is no such number.
        """
        most = whole("most", most, low=1)
        u, v, w = self.pairs()
        first, keep = np.zeros(len(w), np.bool_), np.ones(len(w), np.bool_)
        for mine, other in ((u, v), (v, u)):
            order = np.lexsort((other, -w, mine))
            start = np.flatnonzero(np.diff(mine[order], prepend=-1))
            rank = np.empty(len(w), np.int64)
            rank[order] = np.arange(len(w)) - np.repeat(start, np.diff(start, append=len(w)))
            first |= rank == 0
            keep &= rank < most
        keep |= first
        return self if keep.all() else Interedges.from_pairs(*self.shape, u[keep], v[keep], w[keep])

    def restricted(self, rows: NDArray[np.int32], columns: NDArray[np.int32]) -> Interedges:
        """Between the ascending vertices `rows` of A and `columns` of B, renumbered.

        Parameters
        ----------
        rows : (n,) int32
            Vertices of A that stay.
        columns : (m,) int32
            Vertices of B that stay.
        """
        new_a = np.full(self.shape[0], -1, VERTEX)
        new_b = np.full(self.shape[1], -1, VERTEX)
        new_a[rows] = np.arange(len(rows), dtype=VERTEX)
        new_b[columns] = np.arange(len(columns), dtype=VERTEX)
        u, v, w = self.pairs()
        keep = (new_a[u] >= 0) & (new_b[v] >= 0)
        return Interedges.from_pairs(len(rows), len(columns), new_a[u[keep]], new_b[v[keep]], w[keep])


def _sizes(shape: Any) -> tuple[int, int]:
    """Numbers of cells of A and of B, as plain numbers: those of numpy would turn others into floats, or overflow."""
    try:
        na, nb = shape
    except (TypeError, ValueError):
        raise CouplingError(f"interedges shape: needs the numbers of cells of A and of B, got {shape!r:.60}") from None
    a, b = (whole("interedges shape", s, low=0, high=2**31 - 1) for s in (na, nb))
    return a, b


def _check_weights(w: NDArray[np.float64]) -> None:
    """CouplingError where a weight is negative or not finite."""
    bad = ~np.isfinite(w) | (w < 0)
    if bad.any():
        i = int(np.argmax(bad))
        raise CouplingError(f"interedges weights: {int(bad.sum())} are negative or not finite, "
                            f"first at index {i}: {w[i]}")


__all__ = ["Interedges"]
