"""Into how many sections every box is cut, level by level: any number of parts at any depth of recursion."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ...arrays import whole
from ...errors import ConfigError


def sections(nparts: int, depth: int) -> int:
    """Sections of a box that holds `nparts` parts, `depth` levels before the last: the least s with s**depth >= nparts.

    Examples
    --------
    >>> sections(23, 2), sections(64, 3), sections(65, 3)
    (5, 4, 5)
    """
    s = max(1, int(float(nparts) ** (1 / depth)))
    while s**depth < nparts:
        s += 1
    while s > 1 and (s - 1) ** depth >= nparts:
        s -= 1
    return s


def futures(nparts: int, nsections: int) -> list[int]:
    """Future parts of each section, the larger ones first.

    Examples
    --------
    >>> futures(23, 5)
    [5, 5, 5, 4, 4]
    """
    each, more = divmod(nparts, nsections)
    return [each + (i < more) for i in range(nsections)]


def bisection_depth(nparts: int) -> int:
    """Levels after which halving has made `nparts` parts."""
    return max(1, (nparts - 1).bit_length())


def shape(nparts: Any, depth: Any, counts: Sequence[int] | None, dim: int) -> tuple[int, int, tuple[int, ...] | None]:
    """Number of parts, depth, and the sections per level if they are the same in all boxes of a level.

    Parameters
    ----------
    nparts, depth : int, optional
    counts : sequence of int, optional
        Sections per level.
    dim : int
        Coordinates of a point: the depth where nothing else is said.

    Raises
    ------
    ConfigError
        They do not fit together.
    """
    if counts is None:
        if nparts is None:
            raise ConfigError("nparts: is needed where counts are not given")
        return whole("nparts", nparts, low=1), dim if depth is None else whole("depth", depth, low=1, high=64), None
    try:
        each = tuple(counts)
    except TypeError:
        raise ConfigError(f"counts: needs the sections per level, got {counts!r:.40}") from None
    each = tuple(whole("counts", count, low=1) for count in each)
    if not each:
        raise ConfigError("counts: needs the sections of at least one level")
    product = int(np.prod(each, dtype=object))
    if nparts is not None and whole("nparts", nparts, low=1) != product:
        raise ConfigError(f"counts: {' x '.join(map(str, each))} are {product} parts, not {nparts}; leave out nparts")
    if depth is not None and whole("depth", depth, low=1) != len(each):
        raise ConfigError(f"depth: is {depth}, but counts has {len(each)} levels; leave it out")
    return product, len(each), each


def next_level(parts: NDArray[np.int64], depth: int, count: int | None) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
    """Cut every box of a level.

    Parameters
    ----------
    parts : (nodes + 1,) int64
        First part of each box, and that behind the last.
    depth : int
        Levels left, this one included.
    count : int, optional
        Sections of every box; chosen by the number of its parts where not given.

    Returns
    -------
    (nodes,) int64
        Sections of each box.
    (sections + 1,) int64
        First part of each section, and that behind the last.
    """
    held = np.diff(parts)
    sizes, which = np.unique(held, return_inverse=True)
    made = np.array([sections(int(f), depth) if count is None else count for f in sizes], np.int64)[which]
    node = np.repeat(np.arange(len(held)), made)
    number = np.arange(len(node)) - np.repeat(np.cumsum(made) - made, made)
    each = held[node] // made[node] + (number < held[node] % made[node])
    return made, parts[0] + np.concatenate([[0], np.cumsum(each)])


__all__ = ["bisection_depth", "futures", "next_level", "sections", "shape"]
