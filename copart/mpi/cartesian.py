"""Cartesian communicators whose neighbours share compute nodes."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import ArrayLike, NDArray

from ..arrays import VERTEX, whole
from ..errors import MappingError
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
from ..mapping.cartesian.measures import check_total
from ..mapping.cartesian.methods import OBJECTIVES, key
from ..names import GridMethod, GridObjective, known_name
from .agreement import agree, collective, together
from .arguments import argument
from .seats import MOST_NODES, Seat, leaders_of, node_comm, take_seat


class Position(NamedTuple):
    """The position that a process takes, and by which algorithm.

    vertex : int, its rank in the Cartesian communicator; method : str; seat : Seat, where the process runs.
    """

    vertex: int
    method: str
    seat: Seat


@collective
def cart_create(comm: Any, dims: Sequence[int], periods: Sequence[bool] | None = None,
                stencil: Stencil | str | ArrayLike = "five-point", *, weights: ArrayLike | None = None,
                method: GridMethod = "best", objective: GridObjective = "total", node: int | None = None) -> Any:
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
    MappingError, ConfigError, TypeError
        On all processes alike, before any communicator is made: of the first process with a wrong argument; or an
        argument other than `node` differs between processes.

    Notes
    -----
    With ``nodecart``, ``hyperplane``, ``hyperplane-cut`` and ``best`` on nodes of one size no process holds anything
    that grows with the number of processes, and all that is sent is to agree on the arguments (200 bytes) and to
    learn which node it is on (and a sum for every candidate of ``best``).  ``central-greedy`` is computed by one
    process and sent to all; of ``distributed-greedy`` every node computes its share.
    """
    def checked() -> tuple[_Request, dict[str, Any]]:
        grid = _grid(comm, dims, periods)
        with argument("stencil, weights"):
            kind = as_stencil(stencil, grid.ndims, weights)
        request = _checked(comm, grid, kind, method, objective, node)
        return request, {"dims": grid.dims, "periods": grid.periods, **request.same()}

    request = agree(comm, "cart_create", checked)
    ordered = comm.Split(0, _position(comm, request).vertex)
    try:
        return ordered.Create_cart(list(request.grid.dims), list(request.grid.periods), reorder=False)
    finally:
        ordered.Free()


@collective
def cart_position(comm: Any, grid: Grid, stencil: Stencil, *, method: GridMethod = "best",
                  objective: GridObjective = "total", node: int | None = None) -> Position:
    """The position that :func:`cart_create` gives the calling process, without making the communicator.

    Called by all processes of `comm`; `grid` has a position for each.

    Parameters
    ----------
    comm : mpi4py.MPI.Intracomm
    grid : Grid
    stencil : Stencil
    method : str
        One of :data:`copart.mapping.cartesian.METHODS`, or ``best``.
    objective : {"total", "max"}
        What ``best`` chooses by.
    node : int, optional
        Any number that names the compute node of the calling process.
    """
    def checked() -> tuple[_Request, dict[str, Any]]:
        for name, value, kind in (("grid", grid, Grid), ("stencil", stencil, Stencil)):
            if not isinstance(value, kind):
                raise TypeError(f"{name}: needs a {kind.__name__}, got {type(value).__name__}")
        request = _checked(comm, grid, stencil, method, objective, node)
        return request, {"grid": (grid.dims, grid.periods), **request.same()}

    return _position(comm, agree(comm, "cart_position", checked))


class _Request(NamedTuple):
    """What is asked for, once it was found right on this process."""

    grid: Grid
    stencil: Stencil
    method: GridMethod
    objective: GridObjective
    node: int | None

    def same(self) -> dict[str, Any]:
        """What, next to the grid, all processes must ask for alike."""
        return {"stencil": self.stencil.offsets, "stencil weights": self.stencil.weights, "method": self.method,
                "objective": self.objective,
                # else one would ask MPI for the nodes and another would not
                "node (given or not)": "left out" if self.node is None else "given"}


def _grid(comm: Any, dims: Sequence[int], periods: Sequence[bool] | None) -> Grid:
    with argument("dims"):
        wanted = list(dims)
        sizes = dims_create(comm.size, wanted) if 0 in wanted else wanted
        Grid(sizes)
    with argument("periods"):
        return Grid(sizes, periods)


def _checked(comm: Any, grid: Grid, stencil: Stencil, method: GridMethod, objective: GridObjective,
             node: int | None) -> _Request:
    grid.check(stencil)
    if grid.size != comm.size:
        raise MappingError(f"dims: {'x'.join(map(str, grid.dims))} has {grid.size} positions for {comm.size} processes")
    known_name("method", method, ("best", *METHODS))
    known_name("objective", objective, OBJECTIVES)
    if method == "best":
        check_total(grid, stencil)
    return _Request(grid, stencil, method, objective,
                    None if node is None else whole("node", node, low=0, high=MOST_NODES - 1))


def _position(comm: Any, request: _Request) -> Position:
    grid, stencil, method, objective, node = request
    neighbours = node_comm(comm, node)
    leaders = None
    try:
        leaders = leaders_of(comm, neighbours)
        seat = take_seat(neighbours, leaders)
        if method == "best":
            return _best(comm, neighbours, grid, stencil, seat, objective)
        if method == "distributed-greedy":
            return Position(_distributed(comm, neighbours, leaders, grid, stencil, seat), method, seat)
        if method.startswith("central-greedy"):
            return Position(_central(comm, grid, stencil, seat, method), method, seat)
        return Position(_alone(comm, grid, stencil, seat, method), method, seat)
    finally:
        neighbours.Free()
        if leaders is not None:
            leaders.Free()


def _alone(comm: Any, grid: Grid, stencil: Stencil, seat: Seat, method: str) -> int:
    """Every process follows the rule by itself."""
    def vertex() -> int:
        rules = rank_local(grid, stencil, seat.sizes)
        name = "cart" if method == "cart-reorder" else method
        if name not in rules:
            raise MappingError(f"{name}: needs nodes of one size, has {min(seat.sizes)} to {max(seat.sizes)} processes")
        return rules[name]().vertex(seat.slot)

    return together(comm, method, vertex)


def _best(comm: Any, neighbours: Any, grid: Grid, stencil: Stencil, seat: Seat, objective: GridObjective) -> Position:
    """Every process adds up what it would send itself under each rule; sums over nodes and all of them decide."""
    from mpi4py import MPI

    def candidates() -> tuple[list[tuple[str, int]], NDArray[np.int64]]:
        rules = {name: make() for name, make in rank_local(grid, stencil, seat.sizes).items()}
        return ([(name, rule.vertex(seat.slot)) for name, rule in rules.items()],
                np.array([_leaving(rule, grid, stencil, seat) for rule in rules.values()], np.int64))

    found, sent = together(comm, "best", candidates)
    of_node = np.empty_like(sent)
    neighbours.Allreduce(sent, of_node)
    total, most = np.empty_like(sent), np.empty_like(sent)
    comm.Allreduce(sent, total)
    comm.Allreduce(of_node, most, MPI.MAX)
    best = min(range(len(found)), key=lambda i: key((int(total[i]), int(most[i])), objective))
    name, vertex = found[best]
    return Position(vertex, name, seat)


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


def _distributed(comm: Any, neighbours: Any, leaders: Any, grid: Grid, stencil: Stencil, seat: Seat) -> int:
    """The first process of every node fills it from its seed; all of them mend what came together alike."""
    sizes = seat.all_sizes

    def filled() -> tuple[NDArray[np.int32], NDArray[np.int32]] | None:
        if leaders is None:
            return None
        seeds = greedy_seeds(grid, stencil, seat.nodes)
        return greedy_fill(grid, stencil, int(seeds[seat.node]), neighbours.size), np.empty(grid.size, VERTEX)

    own = together(comm, "distributed-greedy, fill", filled)
    if own is not None:
        leaders.Allgatherv(own[0], [own[1], list(sizes)])

    def mended() -> Sequence[int] | None:
        if own is None:
            return None
        order = check_up(grid, stencil, sizes, own[1])
        return list(map(int, order[seat.first:seat.first + neighbours.size]))

    return int(neighbours.scatter(together(comm, "distributed-greedy, mend", mended)))


def _central(comm: Any, grid: Grid, stencil: Stencil, seat: Seat, method: str) -> int:
    """The first process computes the order, all take theirs from it."""
    def computed() -> NDArray[np.int32]:
        if comm.rank:
            return np.empty(grid.size, VERTEX)
        return central_greedy(grid, stencil, seat.all_sizes, "once" if method.endswith("once") else "source")

    order = together(comm, method, computed)
    comm.Bcast(order)
    return int(order[seat.slot])


__all__ = ["Position", "Seat", "cart_create", "cart_position"]
