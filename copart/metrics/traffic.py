"""What processes send: halos inside a component, and data across the interfaces, by process.

A cell's datum goes once to each other part that needs it, in a halo as in a coupling phase.  Processes are
numbered component by component; in a shared pool part k of every component is process k, and what stays on it is
not sent.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ..arrays import VERTEX, WEIGHT, frozen, part_array, whole
from ..coupling import CoPartition, CoupledProblem
from ..errors import GraphError
from ..graph import Graph
from .pairs import pair_matrices

Counts = NDArray[np.int64]
Halo = tuple[Counts, Counts, Counts]
"""Owner, part that holds a neighbour, and cell of all that halos consist of; see :func:`halo_cells`."""

_TABLE = 65536
"""Pairs of parts for which there is a table at least, however few cells there are."""


def halo_volumes(graph: Graph, part: NDArray[np.int32], nparts: int, halo: Halo | None = None
                 ) -> tuple[Counts, Counts, Counts]:
    """What parts of one component send their neighbours: sender, receiver and data, one entry per message.

    A cell's datum goes once to each other part that holds a neighbour of it.

    Parameters
    ----------
    graph : Graph
    part : (nvtxs,) array_like of int
        Part of every vertex, ``0..nparts-1``.
    nparts : int
        Number of parts.
    halo : three arrays, optional
        By :func:`halo_cells`, where they are known.

    Examples
    --------
    >>> line = Graph.from_edges(3, [0, 1], [1, 2])
    >>> [x.tolist() for x in halo_volumes(line, np.array([0, 0, 1], np.int32), 2)]
    [[0, 1], [1, 0], [1, 1]]
    """
    nparts = whole("nparts", nparts, low=1)
    sender, receiver, cell = halo or halo_cells(graph, part_array("part", part, graph.nvtxs, nparts, GraphError))
    key = sender * np.int64(nparts) + receiver
    if nparts**2 <= max(graph.nvtxs, _TABLE):  # a table of all pairs spares sorting them
        pair = np.flatnonzero(np.bincount(key, minlength=nparts**2))
        place = key
        volume = np.zeros(nparts**2, WEIGHT)
    else:
        pair, place = np.unique(key, return_inverse=True)
        volume = np.zeros(len(pair), WEIGHT)
    np.add.at(volume, place, graph.sizes[cell])
    return pair // nparts, pair % nparts, volume[pair] if place is key else volume


def halo_cells(graph: Graph, part: NDArray[np.int32]) -> Halo:
    """What halos consist of: owner, part that holds a neighbour, and cell, ascending by cell and then by that part."""
    from ..kernels.csr import list_halo

    cell, there = np.empty((2, len(graph.adjncy)), VERTEX)  # memory that stays untouched is never resident
    count = list_halo(graph.xadj, graph.adjncy, frozen(np.asarray(part, VERTEX)), cell, there)
    return part[cell[:count]].astype(np.int64), there[:count].astype(np.int64), cell[:count].astype(np.int64)


@dataclass(frozen=True, eq=False, repr=False)
class CouplingTraffic:
    """What every process sends and receives in a coupling phase, over all pairs and both ways; (nprocs,) int64."""

    sent: Counts
    """Data that it sends."""
    received: Counts
    """Data that it receives."""
    messages_sent: Counts
    """Messages that it sends: one to each process of each other component that needs data of it."""
    messages_received: Counts
    """Messages that it receives."""

    @property
    def maxV(self) -> int:
        """Most data that one process sends, or that one receives."""
        return int(max(self.sent.max(initial=0), self.received.max(initial=0)))

    @property
    def maxZ(self) -> int:
        """Most messages that one process sends, or that one receives."""
        return int(max(self.messages_sent.max(initial=0), self.messages_received.max(initial=0)))


def coupling_traffic(copartition: CoPartition,
                     matrices: Mapping[tuple[str, str], tuple[Any, Any]]) -> CouplingTraffic:
    """Sums over the coupling matrices of all pairs, by process.

    Parameters
    ----------
    copartition : CoPartition
    matrices : mapping of (str, str) to (csr_array, csr_array)
        By pair, what its components send there and back, see :func:`copart.metrics.pairs.pair_matrices`.
    """
    sent, received, messages_sent, messages_received = (np.zeros(copartition.nprocs, WEIGHT) for _ in range(4))
    for (a, b), (there, back) in matrices.items():
        for sender, receiver, matrix in ((a, b, there), (b, a, back)):
            rows = _ranks(copartition, sender)
            columns = _ranks(copartition, receiver)
            sent[rows] += np.asarray(matrix.sum(axis=1)).ravel()
            received[columns] += np.asarray(matrix.sum(axis=0)).ravel()
            messages_sent[rows] += np.diff(matrix.indptr)
            messages_received[columns] += np.bincount(matrix.indices, minlength=matrix.shape[1])
    return CouplingTraffic(sent, received, messages_sent, messages_received)


def all_matrices(problem: CoupledProblem, copartition: CoPartition) -> dict[tuple[str, str], tuple[Any, Any]]:
    """The coupling matrices of all pairs, there and back."""
    return {(a, b): pair_matrices(a, b, problem, copartition) for a, b in problem.pairs}


def _ranks(copartition: CoPartition, name: str) -> slice:
    """Where the processes of a component stand."""
    first = copartition.offset(name)
    return slice(first, first + copartition.nparts[name])


__all__ = ["CouplingTraffic", "all_matrices", "coupling_traffic", "halo_cells", "halo_volumes"]
