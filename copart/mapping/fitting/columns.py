"""Columns of a table of runs: checked, standardised, and told apart."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from ...errors import MappingError

DEPENDENT = 1e-6
"""What may be left of a column, as a share of it, that is made of others."""


def telling(metrics: Mapping[str, ArrayLike], case: Sequence[Any] | None = None,
            ) -> tuple[dict[str, NDArray[np.float64]], dict[str, tuple[str, ...]]]:
    """Metrics that can tell something in these runs; and those that cannot, as ``left_out`` of :class:`TimesFit`.

    Parameters
    ----------
    metrics, case
        As of :func:`fit_times`; of metrics that say the same the first stays.
    """
    kept: dict[str, NDArray[np.float64]] = {}
    made: dict[str, NDArray[np.float64]] = {}
    left_out: dict[str, tuple[str, ...]] = {}
    for name, values in metrics.items():
        column = numbers(name, values, None)
        one = standard(column, groups(case, len(column)))
        alike = () if one is None else same(made, one)
        if one is None or alike:
            left_out[name] = alike
        else:
            kept[name], made[name] = column, one
    return kept, left_out


def numbers(name: str, values: ArrayLike, size: int | None) -> NDArray[np.float64]:
    """Numbers of at least 0, one per run."""
    try:
        found = np.asarray(values, np.float64)
    except (TypeError, ValueError):
        raise MappingError(f"{name}: needs a number for each run") from None
    if found.ndim != 1 or (size is not None and len(found) != size):
        raise MappingError(f"{name}: needs a number for each {'run' if size is None else f'of {size} runs'}, has shape "
                           f"{found.shape}")
    if (bad := ~(np.isfinite(found) & (found >= 0))).any():
        run = int(np.argmax(bad))
        raise MappingError(f"{name}: needs numbers of at least 0, has {found[run]} for run {run + 1} of {len(found)}")
    return found


def groups(case: Sequence[Any] | None, size: int) -> NDArray[np.intp]:
    """(nruns,) number of the case of each run."""
    if case is None:
        return np.zeros(size, np.intp)
    if len(case) != size:
        raise MappingError(f"case: needs one for each of {size} runs, has {len(case)}")
    return np.unique([str(one) for one in case], return_inverse=True)[1]


def standard(values: NDArray[np.float64], group: NDArray[np.intp]) -> NDArray[np.float64] | None:
    """Less the mean and over the standard deviation of each group, 0 where a group has one value; None if all do."""
    count = np.bincount(group)
    rest = values - (np.bincount(group, values) / count)[group]
    spread = np.sqrt(np.bincount(group, rest**2) / count)
    varies = spread > 1e-12 * np.sqrt(np.bincount(group, values**2) / count)
    if not varies.any():
        return None
    return np.where(varies[group], rest / np.where(varies, spread, 1.0)[group], 0.0)


def same(made: Mapping[str, NDArray[np.float64]], column: NDArray[np.float64]) -> tuple[str, ...]:
    """The columns that a column is a sum of multiples of; none where it is not, or is the opposite of one.

    No metric has a coefficient below 0, so that of two that are opposites each says what the other cannot.
    """
    before: dict[str, NDArray[np.float64]] = {}
    for name, values in made.items():
        if _near(column, values):
            return (name,)
        if not any(_near(-values, other) for other in before.values()):
            before[name] = values
    if not before or any(_near(-column, values) for values in before.values()):
        return ()
    matrix = np.stack([*before.values()], axis=1)
    multiples = np.linalg.lstsq(matrix, column, rcond=None)[0]
    if not _near(column, matrix @ multiples):
        return ()
    return tuple(name for name, x in zip(before, multiples, strict=True) if abs(x) > 1e-4)


def _near(column: NDArray[np.float64], other: NDArray[np.float64]) -> bool:
    """Whether nothing of a column is left without the other one."""
    return bool(np.linalg.norm(column - other) < DEPENDENT * np.linalg.norm(column))


def as_others(same: Sequence[str]) -> str:
    """What a column is that these determine, for people."""
    return f"says just what {same[0]} says" if len(same) == 1 else f"says just what {' and '.join(same)} say together"


__all__ = ["as_others", "groups", "numbers", "same", "standard", "telling"]
