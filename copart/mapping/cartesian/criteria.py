"""Which dimension a box of processes is best cut across.

The source's criterion asks how much the stencil points along a dimension, once for the whole grid
(von Kirchbach, Lehr, Hunold, Schulz & Träff).  The cut itself asks how many edges a certain cut of a certain box
would sever, which is what is paid in the end.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from fractions import Fraction

import numpy as np

from ...errors import MappingError
from .grid import Grid
from .stencils import Stencil

#: (box sizes, dimension, position of the cut) -> key; the dimension with the smallest key is cut.
Preference = Callable[[Sequence[int], int, int], "tuple[int, int, int]"]


def cosines(stencil: Stencil) -> tuple[Fraction, ...]:
    """How much the stencil points along each dimension: sum of the squared cosines of the angles.

    ``a_j = sum_i w_i r_ij^2 / |r_i|^2``, exact: in floating point, dimensions that are equal differ by noise, and
    that noise decides where the grid is cut.  The sum over the dimensions is the sum of the weights.

    Parameters
    ----------
    stencil : Stencil

    Returns
    -------
    tuple of Fraction

    Examples
    --------
    >>> from copart.mapping.cartesian import as_stencil
    >>> [float(a) for a in cosines(as_stencil([(1, 0), (-1, 0), (1, 1)], 2))]
    [2.5, 0.5]
    """
    total = [Fraction(0)] * stencil.ndims
    squares = stencil.offsets.astype(object) ** 2
    length = squares.sum(axis=1)
    for each in set(length.tolist()):
        rows = length == each
        for j, value in enumerate((squares[rows] * stencil.weights[rows, None].astype(object)).sum(axis=0)):
            total[j] += Fraction(value, each)
    return tuple(total)


def cosines_by_length(stencil: Stencil) -> tuple[float, ...]:
    """:func:`cosines` with each term times the length of its offset: far neighbours count more; rounded to 9 digits.

    Parameters
    ----------
    stencil : Stencil

    Returns
    -------
    tuple of float
    """
    rows = stencil.offsets.astype(float)
    values = (rows**2 / np.linalg.norm(rows, axis=1)[:, None] * stencil.weights[:, None]).sum(axis=0)
    return tuple(float(f"{v:.9g}") for v in values)


def fixed_preference(values: Sequence[float | Fraction]) -> Preference:
    """Smallest value first; of equal ones the widest dimension, then the first."""
    place = {v: i for i, v in enumerate(sorted(set(values)))}
    rank = [place[v] for v in values]
    return lambda box, j, a: (rank[j], -box[j], j)


class CutWeight:
    """Weight of the directed edges that a cut of a box severs, exactly, also where dimensions wrap around.

    Parameters
    ----------
    grid : Grid
    stencil : Stencil

    Examples
    --------
    >>> from copart.mapping.cartesian import stencil
    >>> CutWeight(Grid((4, 4)), stencil("five-point", 2))([4, 4], 0, 2)
    8
    """

    def __init__(self, grid: Grid, stencil: Stencil):
        rows, weight = grid.reduced(stencil)
        self.dims, self.periods = grid.dims, grid.periods
        # only distances count: both directions of an offset are one entry
        found: dict[tuple[int, ...], int] = {}
        for row, w in zip(rows.tolist(), weight.tolist(), strict=True):
            key = tuple(min(r, d - r) if wraps else abs(r)
                        for r, d, wraps in zip(row, self.dims, self.periods, strict=True))
            found[key] = found.get(key, 0) + w
        self.along: list[list[tuple[tuple[int, ...], int]]] = \
            [[entry for entry in found.items() if entry[0][j]] for j in range(grid.ndims)]

    def __call__(self, box: Sequence[int], j: int, a: int) -> int:
        """For a cut of `box` (sizes) across dimension `j` with `a` layers on one side."""
        total = 0
        for row, w in self.along[j]:
            count = w * self._crossing(box[j], a, row[j], j)
            if count:
                for i, r in enumerate(row):
                    if i != j:
                        count *= self._inside(box[i], r, i)
            total += count
        return total

    def _crossing(self, size: int, a: int, r: int, j: int) -> int:
        """Positions along dimension j whose step of r goes from one side to the other."""
        count = max(0, min(a, size - r) - max(0, a - r))
        if self.periods[j]:
            back = self.dims[j] - r
            count += max(0, min(a, size - back) - max(0, a - back))
        return count

    def _inside(self, size: int, r: int, i: int) -> int:
        """Positions along dimension i whose step of r stays in the box."""
        if not r:
            return size
        count = max(0, size - r)
        if self.periods[i]:
            count += max(0, size - (self.dims[i] - r))
        return count


def preference(grid: Grid, stencil: Stencil, criterion: str | Sequence[float]) -> Preference:
    """Resolve a criterion of :class:`copart.mapping.cartesian.Hyperplane`."""
    grid.check(stencil)
    if criterion == "cosine":
        return fixed_preference(cosines(stencil))
    if criterion == "cosine-length":
        return fixed_preference(cosines_by_length(stencil))
    if criterion == "cut":
        severed = CutWeight(grid, stencil)
        return lambda box, j, a: (severed(box, j, a), -box[j], j)
    if isinstance(criterion, str):
        raise MappingError(f"criterion: {criterion!r} is none of cosine, cosine-length, cut, and no list of numbers")
    values = [float(v) for v in criterion]
    if len(values) != grid.ndims or not all(map(math.isfinite, values)):
        raise MappingError(f"criterion: needs {grid.ndims} finite numbers, one per dimension, got {values}")
    return fixed_preference(values)


__all__ = ["CutWeight", "Preference", "cosines", "cosines_by_length", "preference"]
