"""Parts of components that face one another get the same number: data between them then stay on one process."""

from __future__ import annotations

from collections.abc import Mapping

import numpy as np
from numpy.typing import NDArray

from ..arrays import VERTEX
from ..coupling import CoupledProblem


def facing_numbers(problem: CoupledProblem, parts: Mapping[str, NDArray[np.int32]], pool: int
                   ) -> dict[str, NDArray[np.int32]]:
    """The same parts with other numbers, so that many interedges join parts of one number.

    Components follow one another, the one that shares most interedges with those before it first; each is assigned
    to the numbers of those as a linear assignment problem.

    Parameters
    ----------
    problem : CoupledProblem
    parts : mapping of str to (n,) int32 array
        At most `pool` parts of each component.
    pool : int

    Returns
    -------
    dict of str to (n,) int32 array
        In ``0..pool-1``.
    """
    # as slow to import as numba, and the usual schemes do without
    from scipy.optimize import linear_sum_assignment

    left = list(problem.names)
    out: dict[str, NDArray[np.int32]] = {}
    while left:
        shared = {name: _shared(problem, parts, out, name, pool) for name in left}
        name = max(left, key=lambda one: (shared[one].sum(), problem.components[one].nvtxs))
        rows, columns = linear_sum_assignment(shared[name], maximize=True)
        number = np.empty(len(rows), VERTEX)
        number[rows] = columns
        out[name] = number[parts[name]]
        left.remove(name)
    return {name: out[name] for name in problem.names}


def _shared(problem: CoupledProblem, parts: Mapping[str, NDArray[np.int32]], placed: Mapping[str, NDArray[np.int32]],
            name: str, pool: int) -> NDArray[np.int64]:
    """(parts, pool) interedges between each part of a component and each number of those that have theirs."""
    count = int(parts[name].max()) + 1
    out = np.zeros(count * pool, np.int64)
    for (a, b), interedges in problem.pairs.items():
        u, v, _ = interedges.pairs()
        if name == a and b in placed:
            out += np.bincount(parts[a][u].astype(np.int64) * pool + placed[b][v], minlength=count * pool)
        elif name == b and a in placed:
            out += np.bincount(parts[b][v].astype(np.int64) * pool + placed[a][u], minlength=count * pool)
    return out.reshape(count, pool)


__all__ = ["facing_numbers"]
