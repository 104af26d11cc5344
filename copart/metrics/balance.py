"""What a part may weigh: the one place where a tolerance meets a weight.

Partitioners count on whole averages, ``floor((1 + eps) * ceil(W / K))`` (:func:`max_part_weight`); a co-partition is
defined by ``(1 + eps) W / K`` itself (:func:`part_room`, :func:`copartition_limit`; Predari & Esnard 2014, Section
III).  `eps` counts as the decimal number that is written: 0.15 is 15/100 and not the binary number just below.
"""

from __future__ import annotations

from fractions import Fraction
from math import ceil, floor

import numpy as np
from numpy.typing import ArrayLike, NDArray

from ..arrays import WEIGHT, fraction, reals, whole
from ..errors import ConfigError

#: What a share of a weight may be above a whole number by rounding alone, at most.
_NEARLY = 1e-3

#: No part can weigh this much; larger limits, from a huge eps, are cut to it.
UNLIMITED = 2**62


def allowed_weight(share: int | Fraction, eps: float) -> int:
    """Largest whole weight within `eps` above `share`: ``floor((1 + eps) * share)``.

    Raises
    ------
    ConfigError
        `eps` is no finite number from 0 up.
    """
    return floor((1 + Fraction(repr(fraction("eps", eps)))) * share)


def max_part_weight(total: int, nparts: int, eps: float) -> int:
    """Largest weight that a part may have: ``floor((1 + eps) * ceil(total / nparts))``.

    Parameters
    ----------
    total : int
        Weight of all vertices.
    nparts : int
        Number of parts.
    eps : float
        Tolerance, a fraction.

    Examples
    --------
    >>> max_part_weight(100, 1, 0.15), max_part_weight(10, 3, 0)
    (115, 4)
    """
    return allowed_weight(-(-int(total) // whole("nparts", nparts, low=1)), eps)


def max_part_weights(total: int, nparts: int, eps: float, tpwgts: ArrayLike | None = None) -> NDArray[np.int64]:
    """(nparts,) int64 largest weight of each part; ``total / nparts`` gives way to ``total * t_k``.

    Parameters
    ----------
    total : int
        Sum of all vertex weights.
    nparts : int
    eps : float
        Imbalance tolerance, a fraction.
    tpwgts : (nparts,) array_like of float, optional
        Share of each part, positive; scaled to a sum of 1.

    Raises
    ------
    ConfigError
        A share is not positive and finite, or their number is not `nparts`.
    """
    k = whole("nparts", nparts, low=1)
    if tpwgts is None:
        return np.full(k, min(max_part_weight(total, k, eps), UNLIMITED), WEIGHT)
    # a share such as 1/3 is no exact float: a product that misses a whole number by rounding is that number
    exact = int(total) * target_shares(tpwgts, k)
    goals = [ceil(x - min(1e-12 * x, _NEARLY)) for x in exact]
    lacking = int(total) - sum(goals)  # all of it has to fit
    for i in np.argsort(goals - exact, kind="stable")[:max(lacking, 0)]:
        goals[i] += -(-lacking // k)
    return np.array([min(allowed_weight(goal, eps), UNLIMITED) for goal in goals], WEIGHT)


def part_room(total: int, nparts: int, eps: float) -> int:
    """``floor((1 + eps) total / nparts)``, the definition of a co-partition; below the average of whole weights if
    `eps` allows less than one of them.

    Parameters
    ----------
    total : int
        Weight of all vertices.
    nparts : int
        Number of parts.
    eps : float
        Tolerance, a fraction.

    Examples
    --------
    >>> part_room(100, 16, 0.05), copartition_limit(100, 16, 0.05)
    (6, 7)
    """
    return min(allowed_weight(Fraction(int(total), whole("nparts", nparts, low=1)), eps), UNLIMITED)


def copartition_limit(total: int, nparts: int, eps: float) -> int:
    """Largest weight of a part of a co-partition: :func:`part_room`, or the average rounded up if that is more.

    Parameters
    ----------
    total : int
        Weight of all vertices.
    nparts : int
        Number of parts.
    eps : float
        Tolerance, a fraction.
    """
    return max(part_room(total, nparts, eps), -(-int(total) // int(nparts)))


def target_shares(tpwgts: ArrayLike | None, nparts: int) -> NDArray[np.float64]:
    """(nparts,) float64 share of the weight wanted in each part, with sum 1; equal where `tpwgts` is None.

    Parameters
    ----------
    tpwgts : (nparts,) array_like of float, optional
        Positive, in any unit.
    nparts : int
        Number of parts.
    """
    if tpwgts is None:
        return np.full(nparts, 1.0 / nparts)
    t = reals("tpwgts", tpwgts, ConfigError)
    if t.shape != (nparts,):
        raise ConfigError(f"tpwgts: needs {nparts} entries, has shape {t.shape}")
    bad = ~(np.isfinite(t) & (t > 0))
    if bad.any():
        i = int(np.argmax(bad))
        raise ConfigError(f"tpwgts: {int(bad.sum())} shares are not positive, first at index {i}: {t[i]}")
    t = t / t.max()  # so that the sum cannot overflow
    return np.asarray(t / t.sum())


__all__ = ["UNLIMITED", "allowed_weight", "copartition_limit", "max_part_weight", "max_part_weights", "part_room",
           "target_shares"]
