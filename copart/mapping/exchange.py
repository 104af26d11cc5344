"""Pair exchanges: local search for one-to-one placements (quadratic assignment)."""

from __future__ import annotations

from typing import Any

import numpy as np

from ..kernels import placement as kernels
from ..kernels.distances import DistanceCode

Array = np.ndarray[Any, Any]

#: Near processes of one process that are tried as partners, at most.
_PARTNERS = 256


def exchange_pairs(
    xadj: Array, adjncy: Array, ewgt: Array, code: DistanceCode, place: Array, load: Array, limit: Array,
    pinned: Array, *, reach: int = 0, block: int = 0, cycles: int = 1000,
) -> float:
    """Exchange the processors of pairs, in place, until no pair of the neighbourhood improves.

    Parameters
    ----------
    xadj, adjncy, ewgt : arrays
        Communication graph; `ewgt` is empty where every edge weighs 1.
    place : (n,) int32
        Processor of each process.
    load, limit : (n,), (nprocs,) int64
        What a process needs and a processor has.
    pinned : (n,) uint8
        1 for processes that stay.
    reach : int
        Pairs at most so many edges apart (N_d of VieM), of each process with the nearest 256; 0: all pairs of a block.
    block : int
        Pairs of the same block of so many consecutive processes (N_p); 0: all pairs (N^2).

    Returns
    -------
    float
        What the sum of weight times distance has fallen by.
    """
    n = len(place)
    ptr, near = np.zeros(n + 1, np.int64), np.zeros(0, np.int32)
    if reach:
        seen, queue = np.full(n, -1, np.int32), np.empty(n, np.int32)
        count = kernels.list_near(xadj, adjncy, reach, _PARTNERS, ptr, near, seen, queue)
        if count == 0:
            return 0.0
        near = np.empty(count, np.int32)
        seen[:] = -1
        kernels.list_near(xadj, adjncy, reach, _PARTNERS, ptr, near, seen, queue)
    return float(kernels.exchange(xadj, adjncy, ewgt, code, place, load, limit, pinned, ptr, near, block or n,
                                  cycles))
