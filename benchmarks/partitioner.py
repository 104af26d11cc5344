"""copart's partitioner beside others: cut, imbalance, time and memory on one machine.

    python -m benchmarks.partitioner run [--graphs FOLDER] [--fixed]   measure; goes on where it was stopped
    python -m benchmarks.partitioner report [CSV] [--write]            tables and pictures
    python -m benchmarks.partitioner growth [--largest]                time against size, 10^5 to 10^7 cells
    python -m benchmarks.partitioner versions                          versions and machine beside a CSV

Every peer that imports is measured: ``pip install -e ".[peers]"``, and SCOTCH where its
library is.  Graphs are ``.npz`` files with ``xadj`` and ``adjncy``; without ``--graphs`` they are made.
One process per row.  The tools are interleaved, all on one graph and k before the next, and all
graphs before the next seed, so that a slow spell of the machine hits all alike.  A row:

    seconds, cpu_s      the partitioning call alone, its graph in the tool's own form
    build_s, whole_s    making that form; the whole process without our evaluation
    rss_mb, base_mb     resident memory: peak during the call, and before it
    imbalance, ok       heaviest part over n / k, less 1; whether it is at most (1 + eps) * ceil(n / k)
    comps               connected pieces, summed over the parts (first seed only)
"""

from __future__ import annotations

import argparse
import csv
import json
import os
import signal
import subprocess
import sys
import time
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any

from . import growth, partitioner_page, peers, peers_table
from .graphs import MAKERS, make
from .one_row import MARK
from .peers_table import FIELDS

ROOT = Path(__file__).resolve().parent.parent


def measure(job: dict[str, Any], timeout: float) -> dict[str, Any]:
    """One row, from a process of its own; what went wrong is its status."""
    row = {field: job[field] for field in ("graph", "k", "tool", "threads", "seed", "eps", "fixed")}
    row["load1"] = round(os.getloadavg()[0], 2)
    begin = time.perf_counter()
    process = subprocess.Popen([sys.executable, "-m", "benchmarks.one_row", json.dumps(job)],
                               cwd=ROOT, env=dict(os.environ, OMP_NUM_THREADS=str(job["threads"])), text=True,
                               stdout=subprocess.PIPE, stderr=subprocess.PIPE, start_new_session=True)
    try:
        said, complaint = process.communicate(timeout=timeout)
    except subprocess.TimeoutExpired:
        os.killpg(process.pid, signal.SIGKILL)
        process.communicate()
        return row | {"status": f"timeout {timeout:g}s"}
    whole = time.perf_counter() - begin
    if MARK not in said:
        why = (complaint.strip().splitlines() or [f"exit {process.returncode}"])[-1][:120]
        return row | {"status": f"failed: {why}" if process.returncode >= 0 else f"signal {-process.returncode}"}
    found = json.loads(said[said.rindex(MARK) + len(MARK):])
    return row | {"whole_s": round(whole - found.pop("judged"), 4), "status": "done", **found}


def jobs(args: argparse.Namespace, names: Sequence[str]) -> Iterator[dict[str, Any]]:
    """What is to be measured, in order."""
    free = [(graph, k, 0) for graph in names for k in args.k]
    pinned = [(graph, 32, kind) for graph in names if graph == "cube-hexa-70" for kind in (1, 2)]
    for seed in args.seed:
        for graph, k, kind in pinned if args.fixed else free:
            for name in args.tool:
                tool = peers.TOOLS[name]
                if tool.only_fixed if not kind else not tool.fixes:
                    continue
                for threads in args.threads or tool.threads:
                    yield {"graphs": str(args.graphs.resolve()), "graph": graph, "k": k, "tool": name, "seed": seed,
                           "threads": threads, "eps": args.eps, "fixed": kind, "pieces": seed == args.seed[0]}


def run(args: argparse.Namespace) -> None:
    """Measure what is not in the CSV yet."""
    import tempfile

    names = args.graph or list(MAKERS)
    make(args.graphs, names)
    key = ("graph", "k", "tool", "threads", "seed", "fixed", "eps")
    done = {tuple(row[field] for field in key) for row in peers_table.read(args.csv)}
    todo = [job for job in jobs(args, names) if tuple(job[field] for field in key) not in done]
    note_machine(args.csv)
    new = not args.csv.exists()
    with open(args.csv, "a", encoding="utf-8", newline="") as file, tempfile.TemporaryDirectory() as scratch:
        writer = csv.DictWriter(file, FIELDS, lineterminator="\n")
        if new:
            writer.writeheader()
        for i, job in enumerate(todo):
            row = measure(job | {"scratch": scratch}, args.timeout)
            writer.writerow(row)
            file.flush()
            print(f"[{i + 1}/{len(todo)}] {row['graph']} k={row['k']} {row['tool']} t{row['threads']} s{row['seed']}: "
                  f"{row['status']} cut={row.get('cut')} {row.get('seconds')} s", flush=True)


def note_machine(path: Path) -> None:
    """Write the versions and the machine beside a CSV of rows measured here."""
    from .hipc2014 import commit, machine

    noted = {"machine": machine(), "copart": commit(), "versions": peers.versions()}
    path.with_suffix(".machine.json").write_text(json.dumps(noted, indent=1) + "\n", encoding="utf-8")


def main(argv: Sequence[str] | None = None) -> None:
    """The command line."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    commands = parser.add_subparsers(dest="command", required=True)
    here = peers.available()
    p = commands.add_parser("run", help="measure")
    p.add_argument("--graphs", type=Path, default=ROOT / "build" / "benchmark-graphs")
    p.add_argument("--csv", type=Path, default=peers_table.RUNS)
    p.add_argument("--graph", nargs="+", help="names of graphs; all where not given")
    p.add_argument("--k", nargs="+", type=int, default=[16, 32, 64, 128])
    p.add_argument("--tool", nargs="+", choices=here, default=here, metavar="TOOL", help=", ".join(here))
    p.add_argument("--threads", nargs="+", type=int, help="where not given, what each tool is usually measured with")
    p.add_argument("--seed", nargs="+", type=int, default=[1, 2, 3])
    p.add_argument("--eps", type=float, default=0.05)
    p.add_argument("--fixed", action="store_true", help="cube-hexa-70 in 32 parts, 8 of them given on a face")
    p.add_argument("--timeout", type=float, default=300.0, help="seconds per row")
    p = commands.add_parser("report", help="tables and pictures")
    p.add_argument("csv", type=Path, nargs="?", default=peers_table.RUNS)
    p.add_argument("--write", action="store_true", help="keep the rows and write docs/partitioner-benchmarks.md")
    p = commands.add_parser("growth", help="time against size")
    growth.add_arguments(p)
    p = commands.add_parser("versions", help="note versions and machine beside a CSV")
    p.add_argument("csv", type=Path, nargs="?", default=peers_table.RUNS)
    args = parser.parse_args(argv)
    if args.command == "run":
        run(args)
    elif args.command == "report":
        partitioner_page.report(args.csv, args.write)
    elif args.command == "growth":
        growth.run(args)
    else:
        note_machine(args.csv)


if __name__ == "__main__":
    main()
