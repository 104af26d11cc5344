"""Rank reordering of a running MPI job: from everyone's messages to a communicator with better numbers.

All ranks agree on the arguments and turn their messages into times; one rank gathers them, partitions the graph and
sends back to every rank its slot, a node and a position there. The new rank is found by an all-gather of these slots
or, where processes are placed block-cyclically, by one message per rank (:mod:`copart.mapping.ranks.isomorphism`).
(N. Tihon, Graph Partitioning and its application to MPI, 2024, Sections 3.3 and 5.1.)
"""

from __future__ import annotations

from typing import Any, NamedTuple, get_args

import numpy as np
from numpy.typing import ArrayLike, NDArray

from ..arrays import VERTEX, integers, plain, reals, whole
from ..errors import ConfigError, MappingError
from ..mapping.ranks.communication import DUPLEX, Messages, Times, join_directions, message_times
from ..mapping.ranks.isomorphism import block_of, positions, process_in_slot
from ..mapping.ranks.message_costs import as_cost_model
from ..mapping.ranks.partitioners import METHODS, Partitioner
from ..mapping.ranks.reorder import Reordering, reorder_ranks
from ..names import Duplex, Gathering, RankMethod, known_name
from .agreement import agree, collective, together
from .arguments import argument

EXCHANGES: tuple[Gathering, ...] = get_args(Gathering)


@collective
def reorder(comm: Any, neighbours: ArrayLike, nbytes: ArrayLike, *, model: Any = "lucia-network",
            duplex: Duplex = "full", method: RankMethod | Partitioner = "best", seed: int = 1, root: int = 0,
            node: int | None = None, exchange: Gathering = "auto") -> Any:
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
    CopartError, TypeError
        On all ranks alike: of the first rank with a wrong argument; or an argument
        other than `neighbours`, `nbytes` and `node` differs between ranks.
    """
    request = agree(comm, "reorder", lambda: _checked(comm, neighbours, nbytes, model, duplex, method, seed, root, node,
                                                      exchange))
    rank, _ = _new_rank(comm, request)
    return comm.Split(0, rank)


@collective
def new_rank(comm: Any, neighbours: ArrayLike, nbytes: ArrayLike, *, model: Any = "lucia-network",
             duplex: Duplex = "full", method: RankMethod | Partitioner = "best", seed: int = 1, root: int = 0,
             node: int | None = None, exchange: Gathering = "auto") -> tuple[int, Reordering | None]:
    """The rank that this process shall have. Collective.

    Parameters
    ----------
    comm, neighbours, nbytes
        As for :func:`reorder`.
    model : CostModel, str or (float, float)
        Time of a message: a table, the name of one, or latency (µs) and bandwidth (MB/s).
    duplex : {"full", "half"}
    method : str or callable
        One of :data:`copart.mapping.ranks.partitioners.METHODS`, or on all ranks a function, of which the one of
        `root` is called; see :func:`copart.mapping.ranks.partitioners.partition_exactly`.
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

    Raises
    ------
    CopartError, TypeError
        As :func:`reorder`.
    """
    request = agree(comm, "new_rank", lambda: _checked(comm, neighbours, nbytes, model, duplex, method, seed, root,
                                                       node, exchange))
    return _new_rank(comm, request)


class _Request(NamedTuple):
    """What is asked for, once it was found right on this rank: the times of its messages, and the options."""

    times: Times
    duplex: Duplex
    method: RankMethod | Partitioner
    seed: int
    root: int
    node: int | None
    exchange: Gathering


def _checked(comm: Any, neighbours: ArrayLike, nbytes: ArrayLike, model: Any, duplex: Duplex,
             method: RankMethod | Partitioner, seed: int, root: int, node: int | None, exchange: Gathering,
             ) -> tuple[_Request, dict[str, Any]]:
    """The request of this rank, and what must be the same on all ranks."""
    known_name("duplex", duplex, DUPLEX)
    known_name("exchange", exchange, EXCHANGES)
    if not callable(method):
        known_name("method", method, METHODS)
    seed = whole("seed", seed, low=0)
    root = whole("root", root)
    if not 0 <= root < comm.size:
        raise ConfigError(f"root: must be a rank below {comm.size}, got {root}")
    if node is not None:
        node = whole("node", node)
        if not 0 <= node < 2**31:
            raise ConfigError(f"node: must be at least 0 and below 2^31, got {node}")
    with argument("model"):
        costs = as_cost_model(model)
    with argument("neighbours"):
        given = np.atleast_1d(plain("neighbours", neighbours, MappingError))
        target = integers("neighbours", given, VERTEX, MappingError, low=0, high=comm.size)
    with argument("nbytes"):
        size = np.atleast_1d(reals("nbytes", nbytes, ConfigError))
    if size.shape != target.shape:
        raise MappingError(f"nbytes: needs {len(target)} entries, one for each neighbour, has shape {size.shape}")
    bad = ~(np.isfinite(size) & (size >= 0))
    if bad.any():
        raise ConfigError(f"nbytes: must be finite and at least 0, got {size[bad][0]}")
    with argument("neighbours, nbytes"):
        times = message_times(Messages(comm.size, np.full(target.shape, comm.rank), target, size), costs)
    same = {"model": [column.tolist() for column in (costs.latency, costs.bandwidth, costs.sizes)], "duplex": duplex,
            "method": "a function" if callable(method) else method, "seed": seed, "root": root, "exchange": exchange,
            # else one would ask MPI for the nodes and another would not
            "node (given or not)": "left out" if node is None else "given"}
    return _Request(times, duplex, method, seed, root, node, exchange), same


def _new_rank(comm: Any, request: _Request) -> tuple[int, Reordering | None]:
    ours = comm.Dup()
    try:
        placement = _placement(ours, request.node, request.root)
        everyone = _gather(ours, request.times, request.root)
        found, slots, block, nodes = together(ours, "partition", lambda: _partition(ours.size, request, everyone,
                                                                                    placement))
        block, nodes = ours.bcast((block, nodes), request.root)
        mine = np.empty(4, VERTEX)
        ours.Scatter(slots, mine, request.root)
        if block and request.exchange != "allgather":
            return _by_message(ours, mine, nodes, block), found
        return _by_table(ours, mine), found
    finally:
        ours.Free()


def _partition(size: int, request: _Request, everyone: Times | None, placement: NDArray[np.int32] | None,
               ) -> tuple[Reordering | None, NDArray[np.int32] | None, int, int]:
    """On the root the new order, four numbers per rank for its wanted and its own slot, size of blocks or 0, nodes."""
    if everyone is None or placement is None:
        return None, None, 0, 0
    found = reorder_ranks(join_directions(size, everyone, request.duplex), placement, method=request.method,
                          seed=request.seed)
    block = block_of(placement) or 0
    if request.exchange == "messages" and not block:
        raise MappingError("exchange: messages need a block-cyclic placement; use allgather")
    slots = np.stack([found.node, positions(found.node), placement, positions(placement)], axis=1)
    return found, np.ascontiguousarray(slots, VERTEX), block, int(placement.max()) + 1


def _placement(comm: Any, node: int | None, root: int) -> NDArray[np.int32] | None:
    """Node of every rank on `root`, numbered in the order of their first ranks; None elsewhere."""
    from mpi4py import MPI

    if node is None:
        shared = comm.Split_type(MPI.COMM_TYPE_SHARED)
        try:
            node = shared.bcast(comm.rank, 0)
        finally:
            shared.Free()
    everyone = comm.gather(node, root)
    if everyone is None:
        return None
    _, first, number = np.unique(everyone, return_index=True, return_inverse=True)
    return np.argsort(np.argsort(first))[number].astype(VERTEX)


def _gather(comm: Any, times: Times, root: int) -> Times | None:
    """The times of all ranks on `root`, in rank order; None elsewhere."""
    counts = comm.gather(len(times.time), root)
    target, time = together(comm, "gather", lambda: _room(0 if counts is None else sum(counts)))
    comm.Gatherv(times.target, None if counts is None else [target, counts], root)
    comm.Gatherv(times.time, None if counts is None else [time, counts], root)
    if counts is None:
        return None
    return Times(np.repeat(np.arange(comm.size, dtype=VERTEX), counts), target, time)


def _room(size: int) -> tuple[NDArray[np.int32], NDArray[np.float64]]:
    """Memory for the messages of all ranks: where it is short, the root alone notices."""
    return np.empty(size, VERTEX), np.empty(size, np.float64)


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
