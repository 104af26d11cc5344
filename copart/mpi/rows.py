"""Rows of an array sent from every rank to every other one."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from typing import Any

import numpy as np

Array = np.ndarray[Any, Any]


@contextmanager
def items(rows: Array) -> Iterator[Any]:
    """Rows as items, so that counts stay small."""
    from mpi4py import MPI

    item = MPI.BYTE.Create_contiguous(rows.dtype.itemsize * int(np.prod(rows.shape[1:]))).Commit()
    try:
        yield item
    finally:
        item.Free()


def exchange(comm: Any, rows: Array, sent: Sequence[int] | Array, came: Sequence[int] | Array) -> Array:
    """Rows from all ranks, in the order of these; `sent` and `came` count those to and from each.  Collective."""
    rows = np.ascontiguousarray(rows)
    out = np.empty((int(np.sum(came)), *rows.shape[1:]), rows.dtype)
    with items(rows) as item:
        comm.Alltoallv([rows, [int(n) for n in sent], item], [out, [int(n) for n in came], item])
    return out


__all__ = ["exchange", "items"]
