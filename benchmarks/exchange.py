"""What an exchange costs: set-up from a plan's folder, and a step beside the same messages sent by hand.

``python -m benchmarks.exchange [--side 720 700] [--ranks 4 4] [--write]`` makes two square interfaces of quadrilaterals
that lie on one another, with parts in blocks, starts the ranks and prints, as medians over the slowest rank of each
repetition: set-up, a step of :class:`copart.mpi.Exchange` (``raw`` and with averages), the same messages by Isend and
Irecv, and by a neighbourhood collective.
"""

from __future__ import annotations

import argparse
import json
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

REPETITIONS = 60


def interface(sides: tuple[int, int], parts: tuple[int, int]) -> Any:
    """Two squares of `sides` cells a side with their interedges, in `parts` blocks: problem and co-partition."""
    from copart import CoPartition, CoupledProblem, Graph, Interedges

    made = {}
    for name, side, count in zip(("a", "b"), sides, parts, strict=True):
        rows = max(d for d in range(1, count + 1) if count % d == 0 and d * d <= count)
        y, x = np.divmod(np.arange(side * side), side)
        made[name] = (y * rows // side) * (count // rows) + x * (count // rows) // side
    a, b = sides
    cut = np.unique(np.concatenate([np.arange(a + 1) / a, np.arange(b + 1) / b]))
    middle, length = (cut[1:] + cut[:-1]) / 2, np.diff(cut)
    u, v = (middle * a).astype(int), (middle * b).astype(int)
    inter = Interedges.from_pairs(a * a, b * b, (u[:, None] * a + u).ravel(), (v[:, None] * b + v).ravel(),
                                  np.outer(length, length).ravel())
    none = [Graph.from_edges(side * side, [], []) for side in sides]
    problem = CoupledProblem.of_two(*none, inter)
    return problem, CoPartition(made, dict(zip(("a", "b"), parts, strict=True)))


def job(folder: str) -> None:
    """One rank."""
    from mpi4py import MPI

    from copart.mpi import Exchange

    comm = MPI.COMM_WORLD
    times: dict[str, list[float]] = {}

    def timed(name: str, work: Callable[[], Any], repetitions: int) -> Any:
        for _ in range(repetitions):
            comm.Barrier()
            start = time.perf_counter()
            out = work()
            times.setdefault(name, []).append(comm.allreduce(time.perf_counter() - start, MPI.MAX))
        return out

    exchange = timed("set-up", lambda: Exchange(comm, folder), 3)
    a, _ = exchange.pair
    sends = a in exchange.cells
    values = np.random.default_rng(comm.rank).random(len(exchange.cells[a])) if sends else None
    hand = by_hand(comm, exchange, values)
    collective = neighbourhood(comm, exchange, values)
    raw = exchange.forward(values, mapping="raw")
    for other in (hand(), collective()):
        assert sends or np.array_equal(raw, other)
    ways = {"Exchange, raw": lambda: exchange.forward(values, mapping="raw"), "Isend and Irecv by hand": hand,
            "neighbourhood collective": collective}
    for turn in range(REPETITIONS):
        # each comes first, second and last equally often: what ran before leaves other data in the caches
        for i in range(len(ways)):
            name = list(ways)[(i + turn) % len(ways)]
            ways[name]()
            timed(name, ways[name], 3)
    timed("Exchange, averages", lambda: exchange.forward(values), REPETITIONS)
    if comm.rank == 0:
        print(json.dumps({name: float(np.median(each)) for name, each in times.items()}))


def by_hand(comm: Any, exchange: Any, values: Any) -> Callable[[], Any]:
    """The messages as one writes them without a library."""
    from mpi4py import MPI

    route = exchange._routes["forward"]
    send = [(rank, route.index[lo:hi]) for rank, lo, hi in route.sends]
    count = len(exchange.ghosts.get(exchange.pair[1], ()))

    def step() -> NDArray[Any]:
        out = np.empty(count)
        requests = [comm.Irecv(out[lo:hi], rank, 7) for rank, lo, hi in route.receives]
        requests += [comm.Isend(values[index], rank, 7) for rank, index in send]
        MPI.Request.Waitall(requests)
        return out

    return step


def neighbourhood(comm: Any, exchange: Any, values: Any) -> Callable[[], Any]:
    """The messages by MPI_Neighbor_alltoallv on a distributed graph."""
    route = exchange._routes["forward"]
    graph = comm.Create_dist_graph_adjacent([rank for rank, _, _ in route.receives],
                                               [rank for rank, _, _ in route.sends])
    sent, come = ([hi - lo for _, lo, hi in side] for side in (route.sends, route.receives))

    def step() -> NDArray[Any]:
        out = np.empty(sum(come))
        packed = np.zeros(0) if values is None else values[route.index]
        graph.Neighbor_alltoallv([packed, sent], [out, come])
        return out

    return step


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0] if __doc__ else None)
    parser.add_argument("--side", type=int, nargs=2, default=(720, 700), help="cells a side of A and of B")
    parser.add_argument("--ranks", type=int, nargs=2, default=(4, 4), help="parts of A and of B")
    parser.add_argument("--job", help=argparse.SUPPRESS)
    given = parser.parse_args()
    if given.job:
        return job(given.job)
    from copart import evaluate
    from copart.doctor import launcher
    from copart.formats import write_json
    from copart.formats.exchange_files import write_exchange
    from copart.plans.seal import sealed

    problem, made = interface(tuple(given.side), tuple(given.ranks))
    with tempfile.TemporaryDirectory() as folder:
        files = write_exchange(folder, problem, made)
        summary = {"settings": {"names": list(made.names), "parts": list(given.ranks), "shared": False},
                   "metrics": {"pairs": [{"a": "a", "b": "b"}]}}
        write_json(Path(folder) / "metrics.json", sealed(summary, Path(folder), files))
        done = subprocess.run([launcher() or "mpiexec", "-n", str(sum(given.ranks)), sys.executable, "-m",
                               "benchmarks.exchange", "--job", folder], capture_output=True, text=True, check=False)
    if done.returncode:
        sys.exit(done.stderr)
    pair = evaluate(problem, made).pair
    times = json.loads(done.stdout.splitlines()[-1])
    hand = times["Isend and Irecv by hand"]
    print(f"{sum(g.nvtxs for g in problem.components.values())} coupled cells, {len(problem.interedges)} interedges, "
          f"{given.ranks[0]} + {given.ranks[1]} ranks; a step forward: {pair.totZ} messages, {pair.totV_ab} values")
    for name, seconds in times.items():
        print(f"{name:28s} {seconds * 1e3:9.3f} ms" + ("" if name == "set-up" else f"  {seconds / hand:5.2f}"))
    return None


if __name__ == "__main__":
    main()
