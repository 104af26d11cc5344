"""Points, their weights and the weights wanted in the parts, checked and as whole numbers."""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
from numpy.typing import ArrayLike, NDArray

from ...arrays import WEIGHT, frozen, reals, whole
from ...errors import PartitionError
from ...metrics import target_shares

#: Sums of weights below this are exact as doubles as well, in which they may be given.
MAX_WEIGHT = 2**53
#: Largest weights beyond this, or below its inverse, have no room for sums and units among doubles.
_RANGE = 1e290
#: Weights that are no whole numbers are counted in units that make their sum at most this.
_UNITS = 2**52


class Points(NamedTuple):
    """What is partitioned.

    coords (n, d) float64, frozen; weights (n,) int64, empty where every point weighs 1; unit : float, what a weight of
    1 in `weights` stands for.
    """

    coords: NDArray[np.float64]
    weights: NDArray[np.int64]
    unit: float

    @property
    def total(self) -> int:
        """Weight of all points."""
        return int(self.weights.sum()) if len(self.weights) else len(self.coords)


def checked_coords(points: ArrayLike, name: str = "points") -> NDArray[np.float64]:
    """(n, d) float64 coordinates, contiguous and frozen.

    Raises
    ------
    PartitionError
        The shape is another, there are no coordinates, or some are not finite.
    """
    coords = reals(name, points, PartitionError)
    if coords.ndim != 2 or coords.shape[1] == 0:
        raise PartitionError(f"{name}: needs one row per point and one column per coordinate, has shape "
                             f"{coords.shape}")
    if len(coords) >= 2**31:
        raise PartitionError(f"{name}: {len(coords)} points are more than the 2^31 - 1 that 32-bit numbers count")
    # the sum of finite numbers may overflow, which only costs a closer look
    with np.errstate(over="ignore", invalid="ignore"):
        suspect = not np.isfinite(coords.sum())
    if suspect:
        bad = ~np.isfinite(coords).all(axis=1)
        if bad.any():
            i = int(np.argmax(bad))
            raise PartitionError(f"{name}: {int(bad.sum())} of {len(coords)} points are not finite, first at index "
                                 f"{i}: {coords[i].tolist()}; leave them out")
    return frozen(coords)


def real_weights(weights: ArrayLike, size: int) -> NDArray[np.float64]:
    """(size,) float64 weights, finite and not negative.

    Raises
    ------
    PartitionError
        They are not, or there are not so many.
    """
    given = reals("weights", weights, PartitionError)
    if given.shape != (size,):
        raise PartitionError(f"weights: needs one number per point, {size} in all, has shape {given.shape}")
    bad = ~(np.isfinite(given) & (given >= 0))
    if bad.any():
        i = int(np.argmax(bad))
        raise PartitionError(f"weights: {int(bad.sum())} of {size} are negative or not finite, first at index {i}: "
                             f"{given[i]}")
    most = float(given.max(initial=0.0))
    if most > _RANGE or 0 < most < 1 / _RANGE:
        raise PartitionError(f"weights: the largest is {most:g}, and must be 0 or between {1 / _RANGE:g} and "
                             f"{_RANGE:g}; scale them")
    return given


def whole_weights(given: NDArray[np.float64], unit: float) -> NDArray[np.int64]:
    """Weights in units, rounded: sums of these do not depend on the order of summation."""
    return np.rint(given / unit).astype(WEIGHT)


def checked_points(points: ArrayLike, weights: ArrayLike | None) -> Points:
    """Check points and weights.

    Weights that are no whole numbers are rounded to a unit (a power of two) that makes their sum about 2^52.

    Raises
    ------
    PartitionError
        A shape is wrong, a value is not finite, a weight is negative, or whole weights add up to 2^53 or more.
    """
    coords = checked_coords(points)
    if weights is None:
        return Points(coords, np.zeros(0, WEIGHT), 1.0)
    given = real_weights(weights, len(coords))
    unit = common_unit(bool((given != np.floor(given)).any()), float(given.max(initial=0)), float(given.sum()),
                       len(given))
    return Points(coords, whole_weights(given, unit), unit)


def common_unit(fractions: bool, largest: float, total: float, count: int) -> float:
    """The unit in which weights are counted: 1, or a power of two where some are no whole numbers.

    Parameters
    ----------
    fractions : bool
        Some are no whole numbers.
    largest, total : float
    count : int
        Number of weights.

    Raises
    ------
    PartitionError
        Whole weights add up to 2^53 or more.
    """
    if fractions:
        return float(2.0 ** (int(np.frexp(largest * count)[1]) - 52))
    if total >= MAX_WEIGHT:
        raise PartitionError(f"weights: add up to {total:.6g}, where sums from 2^53 on are not exact; divide them by a "
                             f"common factor")
    return 1.0


def checked_nparts(nparts: Any, n: int) -> int:
    """A number of parts that `n` points can fill.

    Raises
    ------
    PartitionError
        There are fewer points than parts.
    """
    k = whole("nparts", nparts, low=1)
    if k > n:
        raise PartitionError(f"nparts: {k} parts of {n} points would leave parts empty; ask for at most {n}")
    return k


def goals(total: int, nparts: int, tpwgts: ArrayLike | None) -> NDArray[np.int64]:
    """(nparts + 1,) int64: twice the weight wanted in all parts before each, and at last in all.

    Twice, since a cut is where the weight at its left is nearest to what is wanted: half weights decide.
    """
    if tpwgts is None:
        each, rest = divmod(2 * total, nparts)
        numbers = np.arange(nparts + 1, dtype=WEIGHT)
        return each * numbers + rest * numbers // nparts
    shares = target_shares(tpwgts, nparts)
    upto = [0, *np.cumsum([max(1, round(share * _UNITS)) for share in shares / shares.max()], dtype=object)]
    return np.array([2 * total * part // upto[-1] for part in upto], WEIGHT)


__all__ = ["MAX_WEIGHT", "Points", "checked_coords", "checked_nparts", "checked_points", "common_unit",
           "goals", "real_weights", "whole_weights"]
