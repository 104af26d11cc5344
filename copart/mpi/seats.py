"""Where processes sit: on which compute node, and which of its processes each of them is."""

from __future__ import annotations

from bisect import bisect_right
from itertools import accumulate
from typing import Any, NamedTuple

#: Colours of ``MPI_Comm_split`` are C integers.
MOST_NODES = 2**31


class Seat(NamedTuple):
    """Where a process sits: `place` of `size` on compute node `node` of `nodes`.

    first : int, slot of the first process of the node; sizes : tuple of int, of all nodes where they differ, else the
    one size.
    """

    node: int
    nodes: int
    place: int
    first: int
    sizes: tuple[int, ...]

    @property
    def slot(self) -> int:
        """Number of the process, counted node by node."""
        return self.first + self.place

    @property
    def all_sizes(self) -> tuple[int, ...]:
        """Number of processes of every node."""
        return self.sizes if len(self.sizes) > 1 else self.sizes * self.nodes

    def node_of(self, slot: int) -> int:
        """Compute node of a slot."""
        if len(self.sizes) == 1:
            return slot // self.sizes[0]
        return bisect_right(list(accumulate(self.sizes)), slot)


def node_comm(comm: Any, node: int | None) -> Any:
    """The processes on this compute node: those that share memory, or that give the same number."""
    from mpi4py import MPI

    if node is None:
        return comm.Split_type(MPI.COMM_TYPE_SHARED, comm.rank)
    return comm.Split(node, comm.rank)


def leaders_of(comm: Any, neighbours: Any) -> Any:
    """A communicator of the first process of every node; None on the others."""
    from mpi4py import MPI

    made = comm.Split(0 if neighbours.rank == 0 else MPI.UNDEFINED, comm.rank)
    return None if made == MPI.COMM_NULL else made


def take_seat(neighbours: Any, leaders: Any) -> Seat:
    """Count processes node by node, nodes by the rank of their first process."""
    from mpi4py import MPI

    share = None
    if leaders is not None:
        size = neighbours.size
        first = leaders.exscan(size) or 0
        least, most = leaders.allreduce(size, MPI.MIN), leaders.allreduce(size, MPI.MAX)
        # one size is known to all without a list of them
        sizes = (size,) if least == most else tuple(leaders.allgather(size))
        share = leaders.rank, leaders.size, first, sizes
    node, nodes, first, sizes = neighbours.bcast(share)
    return Seat(node, nodes, neighbours.rank, first, sizes)


__all__ = ["MOST_NODES", "Seat", "leaders_of", "node_comm", "take_seat"]
