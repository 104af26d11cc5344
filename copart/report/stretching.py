"""Very long and very thin domains, drawn wider than they are, with the factors said beside them."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

LONG = 6.0
"""A domain this many times as long as wide is stretched ..."""
SHOWN = 2.5
"""... until it is so many times as long as wide."""
THIN = 25.0
"""What is thinner than this fraction of its width is stretched until it is not."""


def factors(extent: NDArray[np.float64]) -> NDArray[np.float64]:
    """(n,) by what each of 2 or 3 directions is stretched, 1 where the domain is neither long nor thin.

    Both directions across a long domain are stretched alike, so that a pipe stays round.

    Parameters
    ----------
    extent : (n,) NDArray of float64
        Size in each direction.

    Examples
    --------
    >>> factors(np.array([60.0, 1.0, 1.0])).tolist()
    [1.0, 24.0, 24.0]
    >>> factors(np.array([2.0, 1.0, 0.001])).tolist()
    [1.0, 1.0, 40.0]
    """
    order = np.argsort(-extent, kind="stable")
    size = extent[order]
    out = np.ones(len(extent))
    if 0 < size[1] < size[0] / LONG:
        out[order[1:]] = _two_digits(size[0] / SHOWN / size[1])
    if len(size) == 3 and 0 < size[2] < size[1] / THIN:
        out[order[2]] *= _two_digits(size[1] / THIN / size[2])
    return np.where(np.isfinite(out), out, 1.0)


def told(stretch: NDArray[np.float64], names: Sequence[str]) -> str:
    """The factors in words, after a semicolon; empty where nothing is stretched.

    Examples
    --------
    >>> told(np.array([1.0, 12.0, 12.0]), "xyz")
    '; y, z stretched 12 times'
    """
    by: dict[float, list[str]] = {}
    for name, factor in zip(names, stretch.tolist(), strict=True):
        if factor != 1:
            by.setdefault(factor, []).append(name)
    return "".join(f"; {', '.join(some)} stretched {factor:g} times" for factor, some in by.items())


def _two_digits(factor: float) -> float:
    return float(f"{factor:.2g}")


__all__ = ["factors", "told"]
