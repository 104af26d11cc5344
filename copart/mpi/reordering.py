"""Rank reordering of a running MPI job: from everyone's messages to a communicator with better numbers.

Everyone turns its messages into times; one rank gathers them, partitions the graph and sends back to every rank its
slot, a node and a position there. The new rank is found by an all-gather of these slots or, where processes are
placed block-cyclically, by one message per rank (:mod:`copart.mapping.ranks.isomorphism`).
(N. Tihon, Graph Partitioning and its application to MPI, 2024, Sections 3.3 and 5.1.)
"""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from ..arrays import VERTEX
from ..errors import ConfigError, CopartError, MappingError
from ..mapping.ranks.communication import DUPLEX, Messages, Times, join_directions, message_times
from ..mapping.ranks.isomorphism import block_of, positions, process_in_slot
from ..mapping.ranks.partitioners import METHODS
from ..mapping.ranks.reorder import Reordering, reorder_ranks

EXCHANGES = ("auto", "allgather", "messages")


def reorder(comm: Any, neighbours: ArrayLike, nbytes: ArrayLike, *, model: Any = "lucia-network",
            duplex: str = "full", method: str = "best", seed: int = 1, root: int = 0, node: int | None = None,
            exchange: str = "auto") -> Any:
    """A communicator of the same processes with ranks that keep most communication within nodes. Collective.

    Load or distribute data after this call: what a rank held before belongs to
    another rank now.

    Parameters
    ----------
    comm : mpi4py.MPI.Intracomm
    neighbours : (m,) array_like of int
        Target of each message that this rank sends, in terms of the ranks of
        the new communicator; targets may repeat, one's own rank is ignored.
    nbytes : (m,) array_like of float
        Size of each message.
    model, duplex, method, seed, root, node, exchange
        As for :func:`new_rank`.

    Returns
    -------
    mpi4py.MPI.Intracomm

    Raises
    ------
    CopartError
        On all ranks alike, if the input of one is wrong.
    """
    rank, _ = new_rank(comm, neighbours, nbytes, model=model, duplex=duplex, method=method, seed=seed, root=root,
                       node=node, exchange=exchange)
    return comm.Split(0, rank)


def new_rank(comm: Any, neighbours: ArrayLike, nbytes: ArrayLike, *, model: Any = "lucia-network",
             duplex: str = "full", method: str = "best", seed: int = 1, root: int = 0, node: int | None = None,
             exchange: str = "auto") -> tuple[int, Reordering | None]:
    """The rank that this process shall have. Collective.

    Parameters
    ----------
    comm, neighbours, nbytes
        As for :func:`reorder`.
    model : CostModel, str or (float, float)
        Time of a message: a table, the name of one, or latency (µs) and bandwidth (MB/s).
    duplex : {"full", "half"}
    method : str
        One of :data:`copart.mapping.ranks.partitioners.METHODS`.
    seed : int
    root : int
        The rank that partitions.
    node : int, optional
        Number of the node on which this process runs, not negative, any numbers; where not given, processes
        that can share memory share a node.
    exchange : {"auto", "allgather", "messages"}
        How the new rank is found. "messages" needs a block-cyclic placement with
        equally full nodes, and "auto" uses it there.

    Returns
    -------
    rank : int
    found : Reordering or None
        The whole of it on `root`, None elsewhere.
    """
    ours = comm.Dup()
    try:
        times = _agreed(ours, lambda: _check(comm.size, comm.rank, neighbours, nbytes, model, duplex, method, root,
                                             node, exchange))
        placement = _placement(ours, node, root)
        everyone = _gather(ours, times, root)
        found: Reordering | None = None
        slots, block, nodes, status = None, 0, 0, None
        if everyone is not None and placement is not None:
            try:
                found = reorder_ranks(join_directions(comm.size, everyone, duplex), placement, method=method, seed=seed)
                block, nodes = block_of(placement) or 0, int(placement.max()) + 1
                if exchange == "messages" and not block:
                    raise MappingError("exchange: messages need a block-cyclic placement; use allgather")
                slots = np.stack([found.node, positions(found.node), placement, positions(placement)], axis=1)
            except CopartError as error:
                status = error
        status, block, nodes = ours.bcast((status, block, nodes), root)
        if status is not None:
            raise status
        mine = np.empty(4, VERTEX)
        ours.Scatter(None if slots is None else np.ascontiguousarray(slots, VERTEX), mine, root)
        if block and exchange != "allgather":
            return _by_message(ours, mine, nodes, block), found
        return _by_table(ours, mine), found
    finally:
        ours.Free()


def _check(size: int, rank: int, neighbours: ArrayLike, nbytes: ArrayLike, model: Any, duplex: str, method: str,
           root: int, node: int | None, exchange: str) -> Times:
    """Times of this rank's messages, the other arguments checked as well."""
    for name, value, allowed in (("duplex", duplex, DUPLEX), ("exchange", exchange, EXCHANGES),
                                 ("method", method, METHODS)):
        if value not in allowed:
            raise ConfigError(f"{name}: must be one of {', '.join(allowed)}, got {value!r}")
    if not 0 <= root < size:
        raise ConfigError(f"root: must be a rank below {size}, got {root}")
    if node is not None and not 0 <= node < 2**31:
        raise ConfigError(f"node: must be at least 0 and below 2^31, got {node}")
    target = np.atleast_1d(np.asarray(neighbours))
    return message_times(Messages(size, np.full(target.shape, rank), target, np.atleast_1d(np.asarray(nbytes, float))),
                         model)


def _agreed(comm: Any, work: Any) -> Any:
    """What `work` returns; where it fails on any rank, all raise the error of the first of them."""
    result, error = None, None
    try:
        result = work()
    except (CopartError, TypeError, ValueError) as caught:
        error = caught if isinstance(caught, CopartError) else MappingError(str(caught))
    for rank, other in enumerate(comm.allgather(error)):
        if other is not None:
            raise type(other)(f"rank {rank}: {other}") from None
    return result


def _placement(comm: Any, node: int | None, root: int) -> NDArray[np.int32] | None:
    """Node of every rank on `root`, numbered in the order of their first ranks; None elsewhere."""
    from mpi4py import MPI

    given = comm.allreduce(int(node is not None))
    if given not in (0, comm.size):
        raise MappingError(f"node: must be given by all {comm.size} ranks or by none, was given by {given}")
    if node is None:
        shared = comm.Split_type(MPI.COMM_TYPE_SHARED)
        node = shared.bcast(comm.rank, 0)
        shared.Free()
    everyone = comm.gather(node, root)
    if everyone is None:
        return None
    _, first, number = np.unique(everyone, return_index=True, return_inverse=True)
    return np.argsort(np.argsort(first))[number].astype(VERTEX)


def _gather(comm: Any, times: Times, root: int) -> Times | None:
    """The times of all ranks on `root`, in rank order; None elsewhere."""
    counts = comm.gather(len(times.time), root)
    here = counts is not None
    target = np.empty(sum(counts) if here else 0, VERTEX)
    time = np.empty(sum(counts) if here else 0, np.float64)
    comm.Gatherv(times.target, [target, counts] if here else None, root)
    comm.Gatherv(times.time, [time, counts] if here else None, root)
    if not here:
        return None
    return Times(np.repeat(np.arange(comm.size, dtype=VERTEX), counts), target, time)


def _by_table(comm: Any, mine: NDArray[np.int32]) -> int:
    """The rank whose wanted slot is where this process runs, among the slots of all."""
    slots = np.empty((comm.size, 2), VERTEX)
    comm.Allgather(mine[:2].copy(), slots)
    return int(np.flatnonzero((slots == mine[2:]).all(axis=1))[0])


def _by_message(comm: Any, mine: NDArray[np.int32], nodes: int, block: int) -> int:
    """The same by one message: its own number to the process in its wanted slot; the number received is the answer."""
    from mpi4py import MPI

    sent, received = np.array([comm.rank], VERTEX), np.empty(1, VERTEX)
    request = comm.Isend(sent, process_in_slot(int(mine[0]), int(mine[1]), nodes, block))
    comm.Recv(received, MPI.ANY_SOURCE)
    request.Wait()
    return int(received[0])


__all__ = ["EXCHANGES", "new_rank", "reorder"]
