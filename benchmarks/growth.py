"""How time and memory grow with the size of the graph: cubes of 10^5 to 10^7 hexahedra in 64 parts."""

from __future__ import annotations

import argparse
import csv
import json
import subprocess
import sys
import time
from collections import defaultdict
from contextlib import suppress
from pathlib import Path
from statistics import median
from typing import Any

import numpy as np

HERE = Path(__file__).resolve().parent
RECORD = HERE / "partitioner_growth.csv"
SIDES = (47, 68, 100, 147)
LARGEST = 215
FIELDS = ("side", "n", "m", "k", "preset", "threads", "run", "cut", "imbalance", "seconds", "graph_mb", "peak_mb")


def memory(key: str) -> float:
    """Resident memory of this process in MB: ``VmRSS`` now, ``VmHWM`` at its peak; 0 where the system does not say."""
    with suppress(OSError), open("/proc/self/status", encoding="ascii", errors="replace") as file:
        for line in file:
            if line.startswith(key):
                return int(line.split()[1]) / 1024
    return 0.0


def forget_peak() -> None:
    """Start the peak of :func:`memory` anew, where the system can."""
    with suppress(OSError):
        Path("/proc/self/clear_refs").write_text("5", encoding="ascii")


def child(job: dict[str, Any]) -> dict[str, Any]:
    """Partition one cube in this process; time and memory of the call, its graph made before."""
    from copart.graph import Graph, as_graph
    from copart.kgggp_ml import partition

    from .graphs import grid

    def call(graph: Graph) -> Any:
        return partition(graph, job["k"], eps=0.05, seed=job["run"], threads=job["threads"], preset=job["preset"])

    call(as_graph(grid(20)))  # the kernels are there before the clock starts
    graph = as_graph(grid(job["side"]))
    forget_peak()
    base = memory("VmRSS")
    begin = time.perf_counter()
    part = call(graph)
    seconds = time.perf_counter() - begin
    peak = memory("VmHWM") - base
    u = np.repeat(np.arange(graph.nvtxs, dtype=np.int32), np.diff(graph.xadj))
    return {**job, "n": graph.nvtxs, "m": graph.nedges, "seconds": round(seconds, 4),
            "cut": int((part[u] != part[graph.adjncy]).sum()) // 2,
            "imbalance": round(float(np.bincount(part).max() * job["k"] / graph.nvtxs - 1), 5),
            "graph_mb": round((graph.xadj.nbytes + graph.adjncy.nbytes) / 2**20, 1), "peak_mb": round(peak, 1)}


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """What ``growth`` takes."""
    parser.add_argument("--largest", action="store_true", help=f"only the cube of side {LARGEST}: 10^7 cells, 2 GB")
    parser.add_argument("--sides", type=int, nargs="+", default=list(SIDES))
    parser.add_argument("--k", type=int, default=64)
    parser.add_argument("--preset", default="default")
    parser.add_argument("--threads", type=int, default=2)
    parser.add_argument("--runs", type=int, default=3, help="runs a side, with seeds 1, 2, ...; one of the largest")
    parser.add_argument("--csv", type=Path, default=RECORD, help="where the runs are added")


def run(args: argparse.Namespace) -> None:
    """Measure every side in processes of their own and add the rows to the CSV."""
    tasks = [(LARGEST, 1)] if args.largest else [(side, i) for i in range(1, args.runs + 1) for side in args.sides]
    for side, i in tasks:
        job = {"side": side, "k": args.k, "preset": args.preset, "threads": args.threads, "run": i}
        done = subprocess.run([sys.executable, "-m", "benchmarks.growth", json.dumps(job)], cwd=HERE.parent, text=True,
                              stdout=subprocess.PIPE, check=True)
        row = json.loads(done.stdout.splitlines()[-1])
        new = not args.csv.exists()
        with open(args.csv, "a", encoding="utf-8", newline="") as file:
            writer = csv.DictWriter(file, FIELDS, lineterminator="\n")
            if new:
                writer.writeheader()
            writer.writerow(row)
        print(", ".join(f"{field} {row[field]}" for field in FIELDS), flush=True)


def read(path: Path = RECORD) -> list[dict[str, Any]]:
    """One line per side, the median of the last measured runs; nothing where there is no record."""
    if not path.exists():
        return []
    last: dict[tuple[str, ...], dict[str, str]] = {}
    with open(path, encoding="utf-8", newline="") as file:
        for row in csv.DictReader(file):
            last[tuple(row[f] for f in ("side", "k", "preset", "threads", "run"))] = row
    sides: dict[tuple[str, ...], list[dict[str, str]]] = defaultdict(list)
    for key, row in last.items():
        sides[key[:4]].append(row)
    lines = [{"preset": rows[0]["preset"], "runs": len(rows),
              **{f: int(rows[0][f]) for f in ("side", "n", "m", "k", "threads")},
              **{f: median(float(r[f]) for r in rows) for f in ("cut", "imbalance", "seconds", "graph_mb", "peak_mb")}}
             for rows in sides.values()]
    return sorted(lines, key=lambda line: line["n"])


def exponent(lines: list[dict[str, Any]]) -> float:
    """The slope b of time = a * edges^b, fitted to the logarithms."""
    return float(np.polyfit(np.log([x["m"] for x in lines]), np.log([x["seconds"] for x in lines]), 1)[0])


if __name__ == "__main__":
    print(json.dumps(child(json.loads(sys.argv[1]))))
