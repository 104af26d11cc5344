"""Partitions of a graph that is distributed over the ranks of a communicator.

Multi-Jagged gives the first layout.  Rows move to the ranks that own their parts, so that most neighbours are local,
and synchronous rounds over all ranks lower the cut (:mod:`copart.mpi.refining`).  Vertices decide from the frozen state
of the round before, and which of them move is settled by sums over all ranks: parts do not depend on their number.
"""

from __future__ import annotations

from typing import Any, NamedTuple, Unpack

import numpy as np
from numpy.typing import ArrayLike, NDArray

from ..arrays import OFFSET, VERTEX, WEIGHT, frozen, integers, weights, whole
from ..errors import GraphError, PartitionError
from ..metrics import max_part_weights
from ..options import Options, Settings
from ..partitioner.geometric.points import MAX_WEIGHT, checked_coords
from ..partitioner.rounds import Team
from .agreement import agree, collective, together
from .cutting import multijagged
from .refining import Rounds
from .regions import Block, Region

Array = np.ndarray[Any, Any]


@collective
def partition(comm: Any, xadj: ArrayLike, adjncy: ArrayLike, coords: ArrayLike, nparts: int,
              options: Options | None = None, *, ewgt: ArrayLike | None = None, vwgt: ArrayLike | None = None,
              tpwgts: ArrayLike | None = None, **settings: Unpack[Settings]) -> NDArray[np.int32]:
    """Partition a distributed graph with coordinates into balanced parts of small edge cut.  Collective.

    Parameters
    ----------
    comm : mpi4py.MPI.Intracomm
    xadj : (n + 1,) array_like of int
        Offsets of the rows of this rank, starting with 0; vertices are numbered one rank after the other.  A rank may
        have none, with offsets ``[0]``.
    adjncy : (nentries,) array_like of int
        Neighbours by their numbers on all ranks.  Each edge is given by both of its ends.
    coords : (n, d) array_like of float
        Of the vertices of this rank.
    nparts : int
        Number of parts, 1 to the number of vertices of all ranks.
    options : Options, optional
        eps, seed, threads and preset (:class:`copart.options.Options`); each also by its own name, as in ``seed=2``.
        No part weighs more than ``floor((1 + eps) * ceil(W / nparts))``. Of a preset its rounds of refinement count.
    ewgt : (nentries,) array_like of int, optional
        Edge weights, the same from both ends; on all ranks or on none.
    vwgt : (n,) array_like of int, optional
        Vertex weights, not negative, of a sum below 2^53; on all ranks or on none.
    tpwgts : (nparts,) array_like of float, optional
        Target share of each part; equal where not given.

    Returns
    -------
    (n,) int32
        Part of every vertex of this rank: the same for the same graph, on any number of ranks and threads.  The cut is
        at most that of Multi-Jagged's boxes, where these are within the limits.

    Raises
    ------
    CopartError, TypeError
        On all ranks alike: of the first rank with a wrong argument; there are more parts than vertices, or one is
        heavier than a part may be; an edge is not given by both ends alike; no partition within the limits is found
        that leaves no part empty; or an argument other than `xadj`, `adjncy`, `coords`, `ewgt`, `vwgt` and threads
        differs between ranks.

    Examples
    --------
    ::

        mine = copart.mpi.partition(comm, xadj, adjncy, centres, 64)
    """
    request = agree(comm, "partition", lambda: _checked(xadj, adjncy, coords, nparts, ewgt, vwgt, tpwgts,
                                                        Options.of(options, settings)))
    ours = comm.Dup()
    try:
        return _partitioned(ours, request)
    finally:
        ours.Free()


class _Request(NamedTuple):
    """What is asked for, once it was found right on this rank; `vwgt` is None where all weigh 1."""

    xadj: Array
    adjncy: Array
    coords: Array
    nparts: int
    ewgt: Array
    vwgt: Array | None
    tpwgts: ArrayLike | None
    options: Options

    @property
    def loads(self) -> Array:
        """(n,) int64 vertex weights."""
        return np.ones(len(self.coords), WEIGHT) if self.vwgt is None else self.vwgt


def _checked(xadj: ArrayLike, adjncy: ArrayLike, coords: ArrayLike, nparts: Any, ewgt: ArrayLike | None,
             vwgt: ArrayLike | None, tpwgts: ArrayLike | None, options: Options) -> tuple[_Request, dict[str, Any]]:
    """The request of this rank, and what must be the same on all ranks."""
    ends = integers("xadj", xadj, OFFSET, GraphError, low=0)
    if len(ends) == 0 or ends[0] != 0 or (np.diff(ends) < 0).any():
        raise GraphError("xadj: must start with 0, and offsets must not decrease")
    entries = integers("adjncy", adjncy, OFFSET, GraphError, low=0, size=int(ends[-1]))
    points = checked_coords(coords, "coords")
    if len(points) != len(ends) - 1:
        raise GraphError(f"coords: needs a point for each of {len(ends) - 1} rows, has {len(points)}")
    k = whole("nparts", nparts, low=1)
    max_part_weights(1, k, options.eps, tpwgts)
    request = _Request(ends, entries, points, k,
                       np.zeros(0, WEIGHT) if ewgt is None else weights("ewgt", ewgt, len(entries), GraphError),
                       None if vwgt is None else weights("vwgt", vwgt, len(points), GraphError), tpwgts, options)
    told = ["left out" if one is None else "given" for one in (ewgt, vwgt)]
    config = options.config
    preset = options.preset if isinstance(options.preset, str) else [config.cooling, config.patience]
    return request, {"number of coordinates": points.shape[1], "nparts": k, "eps": options.eps, "seed": options.seed,
                     "preset": preset,
                     "tpwgts": None if tpwgts is None else np.asarray(tpwgts, float),
                     "ewgt (given or not)": told[0], "vwgt (given or not)": told[1]}


def _partitioned(comm: Any, request: _Request) -> NDArray[np.int32]:
    from mpi4py import MPI

    k, options = request.nparts, request.options
    sizes = comm.allgather(len(request.coords))
    block = Block(request.xadj, request.adjncy, request.ewgt, request.loads, np.concatenate([[0], np.cumsum(sizes)]))
    together(comm, "partition: its graph", lambda: _check_rows(comm, block))
    _check_symmetry(comm, block)
    about = comm.allreduce(float(block.vwgt.sum()))
    if about >= MAX_WEIGHT:
        raise PartitionError(f"vwgt: adds up to {about:.6g}, where sums from 2^53 on are not exact; divide the weights "
                             f"by a common factor")
    heaviest, total = np.array([block.vwgt.max(initial=0)]), np.array([block.vwgt.sum()])
    comm.Allreduce(MPI.IN_PLACE, heaviest, MPI.MAX)
    comm.Allreduce(MPI.IN_PLACE, total, MPI.SUM)
    limit = np.minimum(max_part_weights(int(total[0]), k, options.eps, request.tpwgts), total[0])
    if heaviest[0] > limit.max():
        raise PartitionError(f"vwgt: the heaviest vertex weighs {heaviest[0]}, more than a part may ({limit.max()})",
                             ways=["raise eps", "use fewer parts"])
    start = multijagged(comm, request.coords, k, weights=request.vwgt, tpwgts=request.tpwgts,
                        threads=options.threads).part
    if k == 1:
        return start
    region = Region(comm, block, start, k)
    with Team(options.threads) as team:
        rounds = Rounds(comm, region, limit, team, options.seed)
        rounds.improve(options.config)
    over = np.flatnonzero(rounds.state.pwgt > limit)
    if len(over):
        p = int(over[0])
        raise PartitionError(f"balance: no partition within the limits was found; part {p} weighs "
                             f"{rounds.state.pwgt[p]} where {limit[p]} is allowed", ways=["raise eps"])
    empty = np.flatnonzero(rounds.state.population == 0)
    if len(empty):
        raise PartitionError(f"balance: no partition was found in which part {empty[0]} has a vertex",
                             ways=["use fewer parts"])
    return frozen(region.sent_home(rounds.state.part).astype(VERTEX, copy=False))


def _check_rows(comm: Any, block: Block) -> None:
    """What one rank can see of its rows.

    Raises
    ------
    GraphError
    """
    n = int(block.offsets[-1])
    first = block.offsets[comm.rank]
    row = np.repeat(np.arange(len(block.vwgt)), np.diff(block.xadj))
    if len(block.adjncy) and block.adjncy.max() >= n:
        raise GraphError(f"adjncy: {block.adjncy.max()} is none of the {n} vertices of all ranks")
    loops = np.flatnonzero(block.adjncy == row + first)
    if len(loops):
        raise GraphError(f"adjncy: vertex {block.adjncy[loops[0]]} has an edge to itself, loops are not allowed")
    order = np.lexsort((block.adjncy, row))
    again = np.flatnonzero((np.diff(block.adjncy[order]) == 0) & (np.diff(row[order]) == 0))
    if len(again):
        e = order[again[0]]
        raise GraphError(f"adjncy: vertex {row[e] + first} lists neighbour {block.adjncy[e]} more than once")


def _check_symmetry(comm: Any, block: Block) -> None:
    """See that both ends of every edge tell the same of it: sums of hashes over either direction are equal.

    Raises
    ------
    GraphError
        On all ranks alike.
    """
    from mpi4py import MPI

    u = np.repeat(np.arange(len(block.vwgt)) + block.offsets[comm.rank], np.diff(block.xadj)).astype(np.uint64)
    v = block.adjncy.astype(np.uint64)
    low, high = np.minimum(u, v), np.maximum(u, v)
    found = (low + np.uint64(1)) * np.uint64(0x9E3779B97F4A7C15) ^ high * np.uint64(0xC2B2AE3D27D4EB4F)
    if len(block.ewgt):
        found += block.ewgt.astype(np.uint64) * np.uint64(0x165667B19E3779F9)
    found ^= found >> np.uint64(29)
    found *= np.uint64(0xBF58476D1CE4E5B9)
    found ^= found >> np.uint64(32)
    mine = np.array([found[u < v].sum(dtype=np.uint64), found[u > v].sum(dtype=np.uint64)], np.uint64)
    comm.Allreduce(MPI.IN_PLACE, mine, MPI.SUM)
    if mine[0] != mine[1]:
        raise GraphError("adjncy: an edge is given by one of its ends only, or with different weights; each row lists "
                         "all neighbours of its vertex")


__all__ = ["partition"]
