"""Natural counts: how many parts of a component its interface meets where it is partitioned alone."""

from __future__ import annotations

import numpy as np
from numpy.typing import ArrayLike


def exposure(share: ArrayLike) -> float:
    """Participation ratio ``(sum x)^2 / sum x^2`` of the coupled weights of the parts; 0 where there are none.

    Parameters
    ----------
    share : (nparts,) array_like of float
        Coupled weight of each part.

    Examples
    --------
    >>> exposure([5, 5, 0, 0]), exposure([8, 1, 1])
    (2.0, 1.5151515151515151)
    """
    x = np.asarray(share, np.float64)
    square = float((x * x).sum())
    return float(x.sum()) ** 2 / square if square else 0.0


def natural_count(share: ArrayLike, cells: int, room: int, weight: int | None = None) -> int:
    """The exposure rounded, at least what balance needs, at most the parts and the coupled cells.

    Parameters
    ----------
    share : (nparts,) array_like of int
        Coupled weight of each part of the component partitioned alone.
    cells : int
        Number of coupled cells.
    room : int
        Largest weight of a part; 0 where any part has room.
    weight : int, optional
        What the coupled cells weigh among all cells, where their coupled weights are others.

    Examples
    --------
    >>> natural_count([9, 8, 3, 0], 20, 10), natural_count([9, 8, 3, 0], 20, 5)
    (3, 4)
    """
    x = np.asarray(share)
    total = int(x.sum()) if weight is None else weight
    least = -(-total // room) if room else 1
    return max(0, min(max(round(exposure(x)), least, 1), len(x), cells))


__all__ = ["exposure", "natural_count"]
