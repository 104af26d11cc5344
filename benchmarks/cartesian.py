"""Reordering of Cartesian grids: edges between nodes, time to make a communicator, time of exchanges.

    python -m benchmarks.cartesian quality                      the 331 published grids, means as in the source
    mpiexec -n P python -m benchmarks.cartesian exchange        measured on the nodes that the job runs on

Exchanges are measured as published: 3 runs to warm up, then 1,500 neighbourhood all-to-alls, each after a barrier; the
shortest of the longest times of the processes, and the mean of their mean times.  Instantiation: 50 runs, of each the
longest time of a process.  ``--node-size S`` makes nodes of S processes up, for trials on one machine; there it
shows what it costs to make a communicator, while exchanges between the made-up nodes are as fast as inside them.
"""

from __future__ import annotations

import argparse
import time
from collections.abc import Callable, Sequence
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from copart.mapping.cartesian import (
    METHODS,
    STENCILS,
    Grid,
    Stencil,
    dims_create,
    improvement,
    mean_improvement,
    reorder_grid,
    stencil,
)
from copart.report.tables import Table

from .cartesian_instances import instances

WARM_UPS, EXCHANGES, INSTANTIATIONS = 3, 1500, 50
#: Methods of both parts, the base first.
COMPARED = [name for name in METHODS if name != "cart-reorder"]
#: Offsets of the largest stencil of which means are taken: nine-point in 6 dimensions, as published.
MOST = 3**6 - 1
#: Bytes to each neighbour: as published, 80 B to 104,000 B.
SIZES = (80, 800, 8000, 40_000, 104_000)


class Exchange(NamedTuple):
    """Times of exchanges in seconds: the shortest of the longest a process took, and the mean of the means."""

    min_max: float
    mean: float

    @classmethod
    def of(cls, times: NDArray[np.float64]) -> Exchange:
        """From (exchanges, processes) seconds."""
        return cls(float(times.max(axis=1).min()), float(times.mean(axis=1).mean()))


def timed(comm: Any, action: Callable[[], object], runs: int, warm_ups: int = WARM_UPS,
          clock: Callable[[], float] = time.perf_counter) -> NDArray[np.float64]:
    """(runs,) seconds of this process: after `warm_ups` runs that do not count, each behind a barrier."""
    times = np.empty(runs)
    for run in range(-warm_ups, runs):
        comm.Barrier()
        begin = clock()
        action()
        if run >= 0:
            times[run] = clock() - begin
    return times


def gathered(comm: Any, times: NDArray[np.float64]) -> NDArray[np.float64] | None:
    """(runs, processes) seconds on the first process."""
    rows = comm.gather(times)
    return None if rows is None else np.stack(rows, axis=1)


def graph_comm(cart: Any, grid: Grid, kind: Stencil) -> Any:
    """A communicator in which every process has the neighbours of the stencil."""
    def neighbours(sign: int) -> list[int]:
        rows, _ = grid.reduced(kind)
        x = grid.coordinates(cart.rank) + sign * rows
        sizes = np.array(grid.dims)
        x = np.where(np.array(grid.periods), x % sizes, x)
        inside = ((x >= 0) & (x < sizes)).all(axis=1)
        found: list[int] = grid.vertex(x[inside]).tolist()
        return found

    return cart.Create_dist_graph_adjacent(neighbours(-1), neighbours(1))


def measure_exchange(comm: Any, grid: Grid, kind: Stencil, method: str, sizes: Sequence[int], node: int | None,
                     exchanges: int) -> dict[int, Exchange] | None:
    """Times by message size on the first process, None on the others."""
    from copart.mpi import cart_create

    cart = cart_create(comm, grid.dims, grid.periods, kind, method=method, node=node)
    near = graph_comm(cart, grid, kind)
    found = {}
    for size in sizes:
        count = max(size // 8, 1)
        sent = np.zeros(near.outdegree * count)
        received = np.zeros(near.indegree * count)
        rows = gathered(comm, timed(comm, lambda s=sent, r=received: near.Neighbor_alltoall(s, r), exchanges))
        found[size] = None if rows is None else Exchange.of(rows)
    near.Free()
    cart.Free()
    return found if comm.rank == 0 else None


def measure_instantiation(comm: Any, grid: Grid, kind: Stencil, method: str | None, node: int | None,
                          runs: int) -> NDArray[np.float64] | None:
    """(runs,) seconds of the slowest process to make a communicator; `method` None for plain MPI."""
    from copart.mpi import cart_create

    def make() -> None:
        if method is None:
            cart = comm.Create_cart(list(grid.dims), list(grid.periods), reorder=False)
        else:
            cart = cart_create(comm, grid.dims, grid.periods, kind, method=method, node=node)
        cart.Free()

    rows = gathered(comm, timed(comm, make, runs))
    return None if rows is None else rows.max(axis=1)


# ---- the tables
def quality(kinds: Sequence[str], methods: Sequence[str], most: int) -> Table:
    """Geometric means of the improvement over the order of the nodes, in the 331 grids."""
    rows = []
    for kind in kinds:
        factors: dict[str, list[tuple[float | None, float | None]]] = {m: [] for m in methods}
        for grid, nodes, _ in instances():
            made = stencil(kind, grid.ndims)
            if len(made) > most:
                continue
            base = reorder_grid(grid, made, nodes, "cart").cost
            for method in methods:
                cost = reorder_grid(grid, made, nodes, method).cost
                factors[method].append((improvement(base.total, cost.total), improvement(base.max, cost.max)))
        for method, pairs in factors.items():
            total, highest = (mean_improvement(column) for column in zip(*pairs, strict=True))
            worse = sum(f is not None and f < 1 for f, _ in pairs)
            rows.append([f"{kind}, {method}", f"{total.mean:.4f}", f"{highest.mean:.4f}", str(total.zeros), str(worse),
                         str(len(pairs))])
    return Table(["stencil, method", "less in total", "less of the busiest", "zero", "worse", "grids"], rows)


def exchange(comm: Any, grid: Grid, kind: Stencil, node: int | None, runs: tuple[int, int],
             sizes: Sequence[int]) -> list[Table]:
    """What the first process has to show; no tables on the others."""
    plain = measure_instantiation(comm, grid, kind, None, node, runs[1])
    made, moved = [], []
    for method in ("best", *COMPARED):
        seconds = measure_instantiation(comm, grid, kind, method, node, runs[1])
        times = measure_exchange(comm, grid, kind, method, sizes, node, runs[0])
        if seconds is None or plain is None or times is None:
            continue
        made.append([method, f"{1e3 * seconds.mean():.3f}", f"{1e3 * seconds.std():.3f}",
                     f"{1e3 * (seconds.mean() - plain.mean()):.3f}"])
        moved += [[f"{method}, {size} B", f"{1e6 * t.min_max:.1f}", f"{1e6 * t.mean:.1f}", f"{size / t.min_max:.3g}",
                   f"{size / t.mean:.3g}"] for size, t in times.items()]
    if comm.rank:
        return []
    return [Table(["instantiation", "ms", "deviation", "over plain MPI"], made),
            Table(["exchange", "min max us", "mean us", "B/s (min max)", "B/s (mean)"], moved)]


def main(argv: Sequence[str] | None = None) -> int:
    """Run one of the two parts."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("part", choices=["quality", "exchange"])
    parser.add_argument("--stencil", nargs="+", choices=list(STENCILS), help="kinds (default: all, or five-point)")
    parser.add_argument("--method", nargs="+", choices=["best", *METHODS], help="of quality (default: all)")
    parser.add_argument("--most", type=int, default=MOST, metavar="K", help=f"of quality: no larger stencils ({MOST})")
    parser.add_argument("--ndims", type=int, default=3, help="of exchange: dimensions of the grid (3)")
    parser.add_argument("--node-size", type=int, metavar="S", help="of exchange: make up nodes of S processes")
    parser.add_argument("--exchanges", type=int, default=EXCHANGES)
    parser.add_argument("--instantiations", type=int, default=INSTANTIATIONS)
    parser.add_argument("--bytes", type=int, nargs="+", default=SIZES)
    args = parser.parse_args(argv)
    if args.part == "quality":
        tables = [quality(args.stencil or list(STENCILS), args.method or ["best", *COMPARED[1:]], args.most)]
    else:
        from mpi4py import MPI

        comm = MPI.COMM_WORLD
        grid = Grid(dims_create(comm.size, args.ndims))
        node = None if args.node_size is None else comm.rank // args.node_size
        tables = []
        for kind in args.stencil or ["five-point"]:
            tables += exchange(comm, grid, stencil(kind, args.ndims), node, (args.exchanges, args.instantiations),
                               args.bytes)
    for table in tables:
        print(table.text() + "\n")
    return 0


if __name__ == "__main__":
    raise SystemExit(main())
