"""Grids of processes and their Cartesian graphs."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from ...arrays import VERTEX, whole
from ...errors import MappingError
from .stencils import Offset, Stencil


@dataclass(frozen=True)
class Grid:
    """Positions for processes in a box of any number of dimensions.

    A position is its coordinates, or its number in row-major order (the last dimension fastest, as MPI counts),
    called *vertex*: the vertices of the Cartesian graph.

    Parameters
    ----------
    dims : sequence of int
        Sizes, at least 1 each, of at most 64 dimensions; fewer than 2^31 positions.
    periods : sequence of bool, optional
        Which dimensions wrap around; none where not given.
    """

    dims: tuple[int, ...]
    periods: tuple[bool, ...] = ()

    def __init__(self, dims: Sequence[int], periods: Sequence[bool] | None = None):
        sizes = tuple(whole("dims", d, low=1) for d in dims)
        if not sizes:
            raise MappingError("dims: a grid needs at least one dimension")
        if len(sizes) > 64:  # numpy has no more
            raise MappingError(f"dims: a grid has at most 64 dimensions, got {len(sizes)}; leave out those of size 1")
        if math.prod(sizes) >= 2**31:
            raise MappingError(f"dims: {'x'.join(map(str, sizes))} has 2^31 positions or more")
        given = (False,) * len(sizes) if periods is None else tuple(periods)
        for one in given:
            if one not in (0, 1):  # the word "no" would be true
                raise MappingError(f"periods: needs True or False for each dimension, got {one!r:.40}")
        wraps = tuple(map(bool, given))
        if len(wraps) != len(sizes):
            raise MappingError(f"periods: needs one for each of {len(sizes)} dimensions, has {len(wraps)}")
        object.__setattr__(self, "dims", sizes)
        object.__setattr__(self, "periods", wraps)

    @property
    def ndims(self) -> int:
        """Number of dimensions."""
        return len(self.dims)

    @property
    def size(self) -> int:
        """Number of positions."""
        return math.prod(self.dims)

    @property
    def strides(self) -> tuple[int, ...]:
        """By how much the vertex grows with each coordinate."""
        out = [1] * self.ndims
        for i in range(self.ndims - 2, -1, -1):
            out[i] = out[i + 1] * self.dims[i + 1]
        return tuple(out)

    def coordinates(self, vertex: ArrayLike) -> NDArray[np.int64]:
        """(..., ndims) int64 coordinates of vertices."""
        return np.stack(np.unravel_index(np.asarray(vertex), self.dims), axis=-1)

    def vertex(self, coordinates: ArrayLike) -> NDArray[np.int64]:
        """(...) int64 vertices of (..., ndims) coordinates."""
        rows = np.asarray(coordinates)
        return np.asarray(np.ravel_multi_index(tuple(np.moveaxis(rows, -1, 0)), self.dims))

    def reduced(self, stencil: Stencil) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
        """The stencil as this grid sees it: (m, ndims) int64 offsets and (m,) int64 weights.

        In periodic dimensions offsets count from 0 to the size less one; offsets that come to the same
        neighbour are one, with their weights added (both steps along a ring of two), those that lead back to the
        process itself and those that leave the grid from everywhere are dropped.  The first of equal ones
        keeps its place.
        """
        self.check(stencil)
        wraps, sizes = np.array(self.periods), np.array(self.dims)
        rows = np.where(wraps, stencil.offsets % sizes, stencil.offsets)
        useful = rows.any(axis=1) & (np.abs(rows) < sizes).all(axis=1)
        rows, weight = rows[useful], stencil.weights[useful]
        if not wraps.any():
            return rows, weight
        found: dict[Offset, int] = {}
        for row, w in zip(map(tuple, rows.tolist()), weight.tolist(), strict=True):
            found[row] = found.get(row, 0) + w
        return np.array(list(found), np.int64).reshape(-1, self.ndims), np.array(list(found.values()), np.int64)

    def check(self, stencil: Stencil) -> None:
        """Raise where the stencil has another number of dimensions."""
        if stencil.ndims != self.ndims:
            raise MappingError(f"stencil: has {stencil.ndims} dimensions, the grid {self.ndims}")

    def edge_weight(self, stencil: Stencil) -> int:
        """Sum of the weights of all directed edges of the Cartesian graph, their number where weights are 1."""
        rows, weight = self.reduced(stencil)
        sizes = np.array(self.dims)
        ends = np.where(np.array(self.periods), sizes, sizes - np.abs(rows)).prod(axis=1)
        # one by one: numbers of edges times weights need not fit in 64 bits
        return sum(n * w for n, w in zip(ends.tolist(), weight.tolist(), strict=True))

    def neighbours(self, stencil: Stencil) -> tuple[NDArray[np.int32], NDArray[np.int64]]:
        """The Cartesian graph: neighbours of all vertices.

        Returns
        -------
        targets : (size, m) int32
            Vertex at each offset of :meth:`reduced`, -1 outside the grid.
        weights : (m,) int64
            Of the offsets.
        """
        rows, weight = self.reduced(stencil)
        table = np.full((self.size, len(rows)), -1, VERTEX)
        ids = np.arange(self.size, dtype=VERTEX).reshape(self.dims)
        for i, row in enumerate(rows.tolist()):
            column = np.full(self.dims, -1, VERTEX)
            for source, target in self.shifts(row):
                column[source] = ids[target]
            table[:, i] = column.ravel()
        return table, weight

    def shifts(self, offset: Sequence[int]) -> list[tuple[Any, Any]]:
        """Pairs of index expressions of ``(dims)`` arrays: where an edge of this offset begins, and where it ends.

        More than one pair where a periodic dimension wraps around.
        """
        pairs: list[tuple[tuple[slice, ...], tuple[slice, ...]]] = [((), ())]
        for r, d, wraps in zip(offset, self.dims, self.periods, strict=True):
            if wraps:
                cuts = [(slice(0, d - r), slice(r, d)), (slice(d - r, d), slice(0, r))] if r else [(slice(None),) * 2]
            else:
                cuts = [(slice(max(0, -r), d - max(0, r)), slice(max(0, r), d - max(0, -r)))]
            pairs = [((*a, x), (*b, y)) for a, b in pairs for x, y in cuts]
        return pairs


__all__ = ["Grid"]
