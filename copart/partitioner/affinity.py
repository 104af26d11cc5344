"""What vertices gain by being in certain parts, beside the cut: fixed vertices of an enriched graph, never built."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from ..arrays import VERTEX, WEIGHT, frozen, integers
from ..errors import PartitionError
from ..kernels import Pull


@dataclass(frozen=True, eq=False)
class Affinity:
    """What a vertex gains by being in a part, by rows of a small table.

    Vertex v in part k adds ``table[origin[v], k] * vsize[v]`` to what the
    partitioner keeps uncut.  It is the gain of one fixed vertex per part, joined
    to all vertices of some origins, without ever building those edges
    (the enriched graph of Predari & Esnard 2014, Section III-C, Fig. 5).

    Parameters
    ----------
    origin : (nvtxs,) array_like of int
        Row of the table of every vertex; only vertices of one row are merged when coarsening.
    table : (M, nparts) array_like of int
        Non-negative edge weights to the implicit fixed vertices.
    """

    origin: NDArray[np.int32]
    table: NDArray[np.int64]

    def __post_init__(self) -> None:
        table = np.asarray(self.table)
        if table.ndim != 2:
            raise PartitionError(f"affinity table: needs two dimensions, has shape {table.shape}")
        flat = integers("affinity table", table.ravel(), WEIGHT, PartitionError, low=0)
        origin = integers("affinity origin", self.origin, VERTEX, PartitionError, low=0, high=table.shape[0])
        object.__setattr__(self, "origin", frozen(origin))
        object.__setattr__(self, "table", frozen(flat.reshape(table.shape)))

    def rows(self) -> Pull:
        """The table in compressed rows, as kernels see it."""
        where = self.table > 0
        ptr = np.zeros(len(self.table) + 1, np.int64)
        np.cumsum(where.sum(axis=1), out=ptr[1:])
        return Pull(ptr=ptr, idx=np.nonzero(where)[1].astype(np.int32), val=self.table[where])


__all__ = ["Affinity"]
