"""What comes first: the order of rows and columns in which a coupling matrix is easy to look at, the scheme to show."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ..coupling import CoPartition


def best_shown(copartitions: Mapping[str, CoPartition]) -> str:
    """The scheme to show first: joint, else projrepart, else the last one."""
    return next((scheme for scheme in ("joint", "projrepart") if scheme in copartitions), list(copartitions)[-1])


def nearly_diagonal(matrix: Any) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
    """Rows and columns of `matrix` that are not empty, ordered so that large entries lie near the diagonal.

    All rows and columns as they are where every entry is 0.
    """
    dense = matrix.toarray().astype(float)
    rows, columns = np.flatnonzero(dense.sum(axis=1)), np.flatnonzero(dense.sum(axis=0))
    if len(rows) == 0:
        return np.arange(matrix.shape[0]), np.arange(matrix.shape[1])
    m = dense[np.ix_(rows, columns)]
    # the second singular vectors of the normalised matrix sort both sides at once
    scaled = m / np.sqrt(np.outer(m.sum(axis=1), m.sum(axis=0)))
    if min(m.shape) > 1:
        left, _, right = np.linalg.svd(scaled, full_matrices=False)
        by_row = left[:, 1] / np.sqrt(m.sum(axis=1))
        by_column = right[1] / np.sqrt(m.sum(axis=0))
        sign = -1.0 if by_row[0] > by_row[-1] else 1.0
        rows = rows[np.argsort(sign * by_row, kind="stable")]
        columns = columns[np.argsort(sign * by_column, kind="stable")]
    return rows, columns


__all__ = ["best_shown", "nearly_diagonal"]
