"""What vertices gain by being in certain parts, beside the cut: fixed vertices of an enriched graph, never built.

`finest` makes of it and of the graph what kernels work on.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ..arrays import MAX_TOTAL, VERTEX, WEIGHT, frozen, integers, writable
from ..errors import ConfigError, PartitionError
from ..graph import Graph
from ..kernels import Level, Pull
from ..kernels.memory import pages

Array = np.ndarray[Any, Any]


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


def finest(graph: Graph, nparts: int, pinned: Array | None, affinity: Affinity | None, *,
           own: bool = False) -> tuple[Level, Pull]:
    """The input as kernels see it; weights that are all 1 are `own`, or kept with the graph for others to use."""
    if affinity is not None:
        _check_affinity(affinity, graph, nparts)
    none = np.zeros(0, VERTEX)
    if affinity is None:
        origin, size = none, np.zeros(0, np.int64)
        pull = Pull(ptr=np.zeros(1, np.int64), idx=none, val=np.zeros(0, np.int64))
    else:
        origin, size, pull = affinity.origin, graph.sizes, affinity.rows()
    fixed = none if pinned is None or (pinned < 0).all() else pinned
    if own and graph.vwgt is None:
        vwgt = pages(graph.nvtxs, WEIGHT)
        vwgt[:] = 1
    else:
        vwgt = graph.weights
    level = Level(xadj=graph.xadj, adjncy=graph.adjncy, ewgt=graph.kernel_ewgt, vwgt=vwgt, fixed=fixed,
                  origin=origin, size=size)
    return Level._make(writable(a) for a in level), pull


def _check_affinity(affinity: Affinity, graph: Graph, nparts: int) -> None:
    if affinity.table.shape[1] != nparts:
        raise ConfigError(f"affinity table: needs {nparts} columns, has {affinity.table.shape[1]}")
    if len(affinity.origin) != graph.nvtxs:
        raise ConfigError(f"affinity origin: needs {graph.nvtxs} entries, has {len(affinity.origin)}")
    if (
        float(affinity.table.sum(axis=1, dtype=np.float64).max(initial=0)) * float(graph.sizes.sum(dtype=np.float64))
        >= MAX_TOTAL
    ):
        raise ConfigError(
            f"affinity table: its entries (up to {affinity.table.max()}) times the vertex sizes "
            f"overflow; scale them down"
        )


__all__ = ["Affinity", "finest"]
