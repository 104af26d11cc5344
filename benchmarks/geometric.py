"""Geometric partitioners on points: ``python -m benchmarks.geometric [--zoltan2 PROGRAM]``.

Every method of copart, with one thread and with two, and Zoltan2's where a program is given that is called as
``PROGRAM N K METHOD FILE`` with raw coordinates of N points in 3D, and prints ``wall=`` and ``cpu_sum=``.  Runs take
turns, so that what else the machine does falls on all of them; medians are printed.  Processor time is the fairer
figure on a machine that is shared.
"""

from __future__ import annotations

import argparse
import re
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable
from functools import partial
from pathlib import Path
from statistics import median
from typing import NamedTuple

import numpy as np

from copart.partitioner.geometric.methods import METHODS, partition_points


class Run(NamedTuple):
    """Seconds of the clock and of processors, and how much the largest part is above the average."""

    wall: float
    cpu: float
    imbalance: float


def ours(points: np.ndarray, nparts: int, method: str, threads: int) -> Run:
    wall, cpu = time.perf_counter(), time.process_time()
    made = partition_points(points, nparts, method, threads=threads)
    wall, cpu = time.perf_counter() - wall, time.process_time() - cpu
    return Run(wall, cpu, float(made.sizes.max()) * nparts / len(points) - 1)


def theirs(program: str, file: Path, n: int, nparts: int, method: str) -> Run:
    done = subprocess.run([program, str(n), str(nparts), method, str(file)], capture_output=True, text=True, check=True)
    return printed(done.stdout)


def printed(text: str) -> Run:
    """What a program printed of its run."""
    found = dict(re.findall(r"(wall|cpu_sum|imb)=([-\d.e]+)", text))
    return Run(float(found["wall"]), float(found["cpu_sum"]), float(found["imb"]))


def measure(n: int, parts: list[int], repeats: int, program: str | None, methods: list[str]) -> None:
    """A table of one number of points."""
    points = np.random.default_rng(1).random((n, 3))
    with tempfile.TemporaryDirectory() as folder:
        file = Path(folder) / "points"
        if program:
            points.tofile(file)
        for nparts in parts:
            lines: dict[str, Callable[[], Run]] = {}
            for method in methods:
                for threads in (1, 2):
                    lines[f"{method}, {threads} thread{'s' * (threads > 1)}"] = partial(
                        ours, points, nparts, method, threads)
                if program and method in ("multijagged", "rcb", "rib", "hsfc"):
                    lines[f"{method}, Zoltan2"] = partial(theirs, program, file, n, nparts, method)
            runs: dict[str, list[Run]] = {name: [] for name in lines}
            for _ in range(repeats):
                for name, run in lines.items():
                    runs[name].append(run())
            for name, found in runs.items():
                wall, cpu, imbalance = (median(column) for column in zip(*found, strict=True))
                print(f"| {n} | {nparts} | {name} | {wall:.3f} | {cpu:.3f} | {imbalance:.4%} |", flush=True)


def main(words: list[str] | None = None) -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--points", type=int, nargs="+", default=[10**6, 10**7], metavar="N")
    parser.add_argument("--parts", type=int, nargs="+", default=[64, 1024], metavar="K")
    parser.add_argument("--methods", nargs="+", default=list(METHODS), choices=METHODS)
    parser.add_argument("--repeats", type=int, default=5)
    parser.add_argument("--zoltan2", metavar="PROGRAM")
    args = parser.parse_args(words)
    for method in args.methods:
        for threads in (1, 2):
            ours(np.random.default_rng(2).random((20_000, 3)), 8, method, threads)  # compiles
    print("| points | parts | method | wall, s | processors, s | imbalance |\n| --- | --- | --- | --- | --- | --- |")
    for n in args.points:
        measure(n, args.parts, args.repeats, args.zoltan2, args.methods)
    return 0


if __name__ == "__main__":
    sys.exit(main())
