"""Cartesian communicators whose neighbours share compute nodes."""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Sequence
from itertools import accumulate
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import ArrayLike

from ..arrays import VERTEX, whole
from ..errors import ConfigError, MappingError
from ..mapping.cartesian import (
    METHODS,
    Grid,
    RankLocal,
    Stencil,
    as_stencil,
    central_greedy,
    check_up,
    dims_create,
    greedy_fill,
    greedy_seeds,
    rank_local,
)
from ..mapping.cartesian.methods import OBJECTIVES, key


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

    def node_of(self, slot: int) -> int:
        """Compute node of a slot."""
        if len(self.sizes) == 1:
            return slot // self.sizes[0]
        return bisect_right(list(accumulate(self.sizes)), slot)


class Position(NamedTuple):
    """The position that a process takes, and by which algorithm.

    vertex : int, its rank in the Cartesian communicator; method : str; seat : Seat, where the process runs.
    """

    vertex: int
    method: str
    seat: Seat


def cart_create(comm: Any, dims: Sequence[int], periods: Sequence[bool] | None = None,
                stencil: Stencil | str | ArrayLike = "five-point", *, weights: ArrayLike | None = None,
                method: str = "best", objective: str = "total", node: int | None = None) -> Any:
    """``MPI_Cart_create`` with a reorder flag that keeps its promise: called by all processes of a communicator.

    Parameters
    ----------
    comm : mpi4py.MPI.Intracomm
    dims : sequence of int
        Sizes of the grid; their product is the number of processes.  Zeros are chosen, see
        :func:`copart.mapping.cartesian.dims_create`.
    periods : sequence of bool, optional
        Which dimensions wrap around; none where not given.
    stencil : str or array_like of int
        With whom every process exchanges data: a kind, one row per offset, or a flat list; see
        :func:`copart.mapping.cartesian.as_stencil`.
    weights : (k,) array_like of int, optional
        How much is sent along each offset.
    method : str
        One of :data:`copart.mapping.cartesian.METHODS`, or ``best``: of those that every process computes for itself
        the one with the least traffic, never worse than the order of the nodes.
    objective : {"total", "max"}
        What ``best`` chooses by: traffic between all compute nodes, or of the busiest one.
    node : int, optional
        Any number that names the compute node of the calling process, where nodes are to be something else than the
        processes that share memory: sockets, blades, or nodes for a trial.

    Returns
    -------
    mpi4py.MPI.Cartcomm
        Its rank and ``Get_coords`` are the new position.

    Raises
    ------
    MappingError, ConfigError
        On all processes, before any communicator is made.

    Notes
    -----
    With ``nodecart``, ``hyperplane``, ``hyperplane-cut`` and ``best`` on nodes of one size no process holds anything
    that grows with the number of processes, and all that is sent is to learn which node it is on (and a sum for
    every candidate of ``best``).  ``central-greedy`` is computed by one process and sent to all; of
    ``distributed-greedy`` every node computes its share.
    """
    grid = _grid(comm, dims, periods)
    here = cart_position(comm, grid, as_stencil(stencil, grid.ndims, weights), method=method, objective=objective,
                         node=node)
    ordered = comm.Split(0, here.vertex)
    try:
        return ordered.Create_cart(list(grid.dims), list(grid.periods), reorder=False)
    finally:
        ordered.Free()


def cart_position(comm: Any, grid: Grid, stencil: Stencil, *, method: str = "best", objective: str = "total",
                  node: int | None = None) -> Position:
    """The position that :func:`cart_create` gives the calling process, without making the communicator.

    Called by all processes of `comm`; `grid` has a position for each.
    """
    grid.check(stencil)
    if grid.size != comm.size:
        raise MappingError(f"dims: {'x'.join(map(str, grid.dims))} has {grid.size} positions for {comm.size} processes")
    if method != "best" and method not in METHODS:
        raise ConfigError(f"method: {method!r} is none of best, {', '.join(METHODS)}")
    if objective not in OBJECTIVES:
        raise ConfigError(f"objective: {objective!r} is none of {', '.join(OBJECTIVES)}")
    neighbours = _node_comm(comm, node)
    leaders = _leaders(comm, neighbours)
    try:
        seat = take_seat(neighbours, leaders)
        if method == "best":
            return _best(comm, neighbours, grid, stencil, seat, objective)
        if method == "distributed-greedy":
            return Position(_distributed(neighbours, leaders, grid, stencil, seat), method, seat)
        if method.startswith("central-greedy"):
            return Position(_central(comm, grid, stencil, seat, method), method, seat)
        rules = rank_local(grid, stencil, seat.sizes)
        name = "cart" if method == "cart-reorder" else method
        if name not in rules:
            raise MappingError(f"{name}: needs nodes of one size, has {min(seat.sizes)} to {max(seat.sizes)} processes")
        return Position(rules[name]().vertex(seat.slot), method, seat)
    finally:
        neighbours.Free()
        if leaders is not None:
            leaders.Free()


def _grid(comm: Any, dims: Sequence[int], periods: Sequence[bool] | None) -> Grid:
    return Grid(dims_create(comm.size, list(dims)) if 0 in list(dims) else dims, periods)


def _node_comm(comm: Any, node: int | None) -> Any:
    from mpi4py import MPI

    if node is None:
        return comm.Split_type(MPI.COMM_TYPE_SHARED, comm.rank)
    return comm.Split(whole("node", node, low=0), comm.rank)


def _leaders(comm: Any, neighbours: Any) -> Any:
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


def _best(comm: Any, neighbours: Any, grid: Grid, stencil: Stencil, seat: Seat, objective: str) -> Position:
    """Every process adds up what it would send itself under each rule; sums over nodes and all of them decide."""
    from mpi4py import MPI

    rules = {name: make() for name, make in rank_local(grid, stencil, seat.sizes).items()}
    sent = np.array([_leaving(rule, grid, stencil, seat) for rule in rules.values()], np.int64)
    of_node = np.empty_like(sent)
    neighbours.Allreduce(sent, of_node)
    total, most = np.empty_like(sent), np.empty_like(sent)
    comm.Allreduce(sent, total)
    comm.Allreduce(of_node, most, MPI.MAX)
    names = list(rules)
    best = min(range(len(names)), key=lambda i: key((int(total[i]), int(most[i])), objective))
    return Position(rules[names[best]].vertex(seat.slot), names[best], seat)


def _leaving(rule: RankLocal, grid: Grid, stencil: Stencil, seat: Seat) -> int:
    """What the process in this seat sends to other nodes."""
    rows, weight = grid.reduced(stencil)
    x = grid.coordinates(rule.vertex(seat.slot)) + rows
    sizes = np.array(grid.dims)
    x = np.where(np.array(grid.periods), x % sizes, x)
    inside = ((x >= 0) & (x < sizes)).all(axis=1)
    targets = grid.vertex(x[inside])
    return sum(w for v, w in zip(targets.tolist(), weight[inside].tolist(), strict=True)
               if seat.node_of(rule.slot(v)) != seat.node)


def _distributed(neighbours: Any, leaders: Any, grid: Grid, stencil: Stencil, seat: Seat) -> int:
    """The first process of every node fills it from its seed; all of them mend what came together alike."""
    part = None
    if leaders is not None:
        seeds = greedy_seeds(grid, stencil, seat.nodes)
        own = greedy_fill(grid, stencil, int(seeds[seat.node]), neighbours.size)
        sizes = seat.sizes if len(seat.sizes) > 1 else seat.sizes * seat.nodes
        order = np.empty(grid.size, VERTEX)
        leaders.Allgatherv(own, [order, list(sizes)])
        mended = check_up(grid, stencil, sizes, order)
        part = mended[seat.first:seat.first + neighbours.size].tolist()
    return int(neighbours.scatter(part))


def _central(comm: Any, grid: Grid, stencil: Stencil, seat: Seat, method: str) -> int:
    """The first process computes the order, all take theirs from it."""
    order = np.empty(grid.size, VERTEX)
    if comm.rank == 0:
        sizes = seat.sizes if len(seat.sizes) > 1 else seat.sizes * seat.nodes
        order = central_greedy(grid, stencil, sizes, "once" if method.endswith("once") else "source")
    comm.Bcast(order)
    return int(order[seat.slot])


__all__ = ["Position", "Seat", "cart_create", "cart_position", "take_seat"]
