"""Multi-Jagged on MPI: ``python -m benchmarks.geometric_ranks [--ranks P] [--zoltan2 'mpirun -np P PROGRAM']``.

Points are shared out evenly, in no order.  Zoltan2's program is started by its own launcher and called as in
:mod:`benchmarks.geometric`.  Every run is a job of its own, and the first call for these points in it is timed, kernels
loaded; runs take turns, medians are printed: seconds of the clock, and of processors summed over the ranks.
"""

from __future__ import annotations

import argparse
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable
from functools import partial
from pathlib import Path
from statistics import median

import numpy as np

from copart.doctor import launcher

from .geometric import Run, printed

METHOD = "multijagged"


def job(n: int, nparts: int, file: str) -> None:
    """What every rank does."""
    from mpi4py import MPI

    from copart.mpi import multijagged

    comm = MPI.COMM_WORLD
    ends = np.arange(comm.size + 1) * n // comm.size
    first, end = int(ends[comm.rank]), int(ends[comm.rank + 1])
    points = np.fromfile(file, count=3 * (end - first), offset=24 * first).reshape(-1, 3)
    for few in (400, 20_000):
        multijagged(comm, points[:few], 8)
    comm.Barrier()
    wall, cpu = time.perf_counter(), time.process_time()
    made = multijagged(comm, points, nparts)
    cpu = comm.allreduce(time.process_time() - cpu)
    comm.Barrier()
    wall = time.perf_counter() - wall
    if comm.rank == 0:
        print(f"{METHOD} n={n} k={nparts} np={comm.size} wall={wall:.4f} cpu_sum={cpu:.4f} "
              f"imb={made.weights.max() * nparts / n - 1:.6f}")


def run(words: list[str], n: int, nparts: int, file: Path) -> Run:
    """One job; `words` start it."""
    return printed(subprocess.run([*words, str(n), str(nparts), METHOD, str(file)], capture_output=True, text=True,
                                  check=True).stdout)


def main(words: list[str] | None = None) -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--points", type=int, nargs="+", default=[10**6, 10**7], metavar="N")
    parser.add_argument("--parts", type=int, nargs="+", default=[64, 1024], metavar="K")
    parser.add_argument("--ranks", type=int, default=2, metavar="P")
    parser.add_argument("--repeats", type=int, default=5)
    parser.add_argument("--zoltan2", metavar="COMMAND", help="words that start its ranks")
    parser.add_argument("--job", nargs=4, help=argparse.SUPPRESS)
    args = parser.parse_args(words)
    if args.job:
        n, nparts, _, file = args.job
        job(int(n), int(nparts), file)
        return 0
    starts = {"copart": [launcher() or "mpiexec", "-n", str(args.ranks), sys.executable, "-m",
                         "benchmarks.geometric_ranks", "--job"]}
    if args.zoltan2:
        starts["Zoltan2"] = args.zoltan2.split()
    print("| points | parts | ranks | program | wall, s | processors, s | imbalance |\n"
          "| --- | --- | --- | --- | --- | --- | --- |")
    with tempfile.TemporaryDirectory() as folder:
        file = Path(folder) / "points"
        for n in args.points:
            np.random.default_rng(1).random((n, 3)).tofile(file)
            for nparts in args.parts:
                calls: dict[str, Callable[[], Run]] = {
                    name: partial(run, start, n, nparts, file) for name, start in starts.items()}
                runs: dict[str, list[Run]] = {name: [] for name in calls}
                for _ in range(args.repeats):
                    for name, call in calls.items():
                        runs[name].append(call())
                for name, found in runs.items():
                    wall, cpu, imbalance = (median(column) for column in zip(*found, strict=True))
                    print(f"| {n} | {nparts} | {args.ranks} | {name} | {wall:.3f} | {cpu:.3f} | {imbalance:.4%} |",
                          flush=True)
    return 0


if __name__ == "__main__":
    sys.exit(main())
