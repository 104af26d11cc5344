"""Mappings of tasks onto scattered nodes, ranked by a simulator: which is fastest, which metric says so, is it auto's?

    python -m benchmarks.simulated_tasks                     what has not been measured yet, an hour
    python -m benchmarks.simulated_tasks --again             auto anew, after a change of what it goes by
    python -m benchmarks.simulated_tasks --table --write     what has been measured, into docs/fitting.md

Every process sends all its messages at once to those that it writes to and waits for what it gets; SimGrid moves them
along our routes through links that they share (``tests/test_benchmarks.py`` compares these with its own).  Messages are
small, middle or large in the mean.  Each table of ``simulated_tasks_runs``, of cases to tune by or held-out ones and of
one size, is one that ``copart machine fit`` reads.
"""

from __future__ import annotations

import argparse
import csv
import re
from collections import defaultdict
from collections.abc import Iterator
from functools import cache
from pathlib import Path
from typing import Any

import numpy as np

from copart.errors import NotApplicableError
from copart.mapping.fitting import METRICS, fit_times, metrics_of
from copart.mapping.machine import Machine
from copart.mapping.sites import Sites
from copart.mapping.tasks import TaskGraph
from copart.mapping.topology import METHODS, map_tasks

from .simulated import PYTHON, simulated
from .simulated_cases import HELD_OUT, TUNING

RUNS = Path(__file__).resolve().parent / "simulated_tasks_runs"
PAGE = RUNS.parent.parent / "docs" / "fitting.md"
#: Seconds that a message keeps a process busy at either end; latency of a link, and of a node's way to the network;
#: bytes per second of that way, and of memory.  (A Cray XE6 has 1.27 to 3.88 us between nodes.)
OVERHEAD, LATENCY, NODE_LATENCY, NODE_BANDWIDTH, MEMORY = 1e-6, 1e-7, 5e-7, 8e9, 2e10
#: Mean bytes of a message, and what `map_tasks` is told that such runs are bound by.
SIZES = {64: "latency", 4096: "bandwidth", 262144: "bandwidth"}
#: What a mapping changes.
SHOWN = tuple(name for name in METRICS if name not in ("TM", "TV", "MSM", "MSV"))
FIELDS = ("case", "run", "seconds", *SHOWN)
Row = dict[str, str]


def platform(sites: Sites) -> str:
    """SimGrid's description of the nodes of a job and of our routes between them.

    Link ``l3`` is link 3 of the network.  Where several nodes may share a point, ``out`` and ``in`` join a node to it;
    the links of a fat tree begin at the nodes.
    """
    network = sites.network
    if network is None:
        raise ValueError("the machine has no routes")
    hosts = range(sites.nsites)
    own = network.name != "fat tree"
    point = sites.point.tolist()
    # nodes at one point have the same routes
    way = {(p, q): [f"l{link}" for link in network.route(p, q)] for p in set(point) for q in set(point)}
    used = sorted({link for links in way.values() for link in links}, key=lambda link: int(link[1:]))
    lines = [f'<host id="node{a}" speed="1Gf"/>' for a in hosts]
    lines += [_link(f"memory{a}", MEMORY, NODE_LATENCY / 5, "FATPIPE") for a in hosts]
    lines += [_link(f"{side}{a}", NODE_BANDWIDTH, NODE_LATENCY) for a in hosts for side in ("out", "in") if own]
    lines += [_link(link, 1e9 * float(network.bandwidth[int(link[1:])]), LATENCY) for link in used]
    for a in hosts:
        for b in hosts:
            links = [f"memory{a}"] if a == b else way[point[a], point[b]]
            if own and a != b:
                links = [f"out{a}", *links, f"in{b}"]
            within = "".join(f'<link_ctn id="{link}"/>' for link in links)
            lines.append(f'<route src="node{a}" dst="node{b}" symmetrical="NO">{within}</route>')
    return ('<?xml version="1.0"?><!DOCTYPE platform SYSTEM "https://simgrid.org/simgrid.dtd"><platform version="4.1">'
            f'<zone id="all" routing="Full">{"".join(lines)}</zone></platform>')


def _link(name: str, bandwidth: float, latency: float, policy: str = "SHARED") -> str:
    return f'<link id="{name}" bandwidth="{bandwidth:.0f}Bps" latency="{latency}s" sharing_policy="{policy}"/>'


def exchange(tasks: TaskGraph, site: np.ndarray, text: str, size: float, python: tuple[str, str] = PYTHON) -> float:
    """Seconds until every task has sent and got all its messages, of `size` bytes in the mean."""
    unit = size * tasks.nmessages / tasks.total_volume
    processes: list[dict[str, Any]] = [{"node": node, "own": 0, "coupled": 0, "halo_to": [], "halo_from": [],
                                        "coupling_to": [], "coupling_from": []} for node in site.tolist()]
    for a, b, volume in zip(tasks.source.tolist(), tasks.target.tolist(), tasks.volume.tolist(), strict=True):
        processes[a]["halo_to"].append([b, round(volume * unit)])
        processes[b]["halo_from"].append(a)
    return float(simulated(text, {"processes": processes, "overhead": OVERHEAD}, python))


def measure(names: list[str], sizes: list[int], python: tuple[str, str]) -> Iterator[tuple[Path, Row]]:
    """What is not there yet, and the tables that it belongs to."""
    for name, case in {**TUNING, **HELD_OUT}.items():
        table = {size: file(name in TUNING, size) for size in sizes}
        there = {(size, row["run"]) for size in sizes for row in read(table[size]) if row["case"] == name}
        wanted = [(size, method) for method in (*METHODS, "auto") for size in sizes if (size, method) not in there]
        if not wanted or name not in names:
            continue
        tasks, coords = case.tasks()
        machine = case.machine()
        sites = Sites(machine)
        text = platform(sites)

        @cache
        def made(method: Any, bound: str, tasks: TaskGraph = tasks, machine: Machine = machine,
                 coords: np.ndarray = coords) -> Any:
            try:
                return map_tasks(tasks, machine, method, coords=coords, **({"bound": bound} if bound else {}))
            except NotApplicableError:
                return None

        for size, method in wanted:
            mapping = made(method, SIZES[size] if method == "auto" else "")
            if mapping is not None:
                seconds = exchange(tasks, sites.site_of(mapping.astype(np.int64)), text, size, python)
                found = metrics_of(tasks, machine, mapping)
                yield table[size], {"case": name, "run": method, "seconds": f"{seconds:.9f}",
                                    **{key: f"{found[key]:.9g}" for key in SHOWN}}


# ---- what came of it
def file(tuning: bool, size: int) -> Path:
    """The table of one set of cases and one size of messages."""
    return RUNS / f"{'tuning' if tuning else 'held-out'}-{size}.csv"


def read(path: Path) -> list[Row]:
    """The rows of a table that have been measured."""
    if not path.exists():
        return []
    with path.open(newline="") as opened:
        return list(csv.DictReader(opened))


def write(path: Path, rows: list[Row]) -> None:
    """A table anew."""
    with path.open("w", newline="") as opened:
        writer = csv.DictWriter(opened, FIELDS, lineterminator="\n")
        writer.writeheader()
        writer.writerows(rows)


def fitted() -> str:
    """What `fit_times` finds in the cases to tune by, by size of messages."""
    lines = [f"| messages | runs | bound, R² | {' | '.join(SHOWN)} |", "| --- " * (3 + len(SHOWN)) + "|"]
    for size in SIZES:
        rows = [row for row in read(file(True, size)) if row["run"] != "auto"]
        found = fit_times([float(row["seconds"]) for row in rows],
                          {name: [float(row[name]) for row in rows] for name in SHOWN}, [row["case"] for row in rows])
        cells = [f"{r:.2f}{f' (**{d:.2f}**)' if d >= 0.005 else ''}"
                 for d, r in zip(found.coefficients, found.correlation, strict=True)]
        lines.append(f"| {size:,} bytes | {found.nruns} | {found.bound or 'neither'}, {found.r_squared:.2f} | "
                     f"{' | '.join(cells)} |")
    return "\n".join(lines)


def ratios(tuning: bool, size: int) -> dict[str, dict[str, float]]:
    """Seconds of each run over those of the fastest, by case."""
    cases: dict[str, dict[str, float]] = defaultdict(dict)
    for row in read(file(tuning, size)):
        cases[row["case"]][row["run"]] = float(row["seconds"])
    return {case: {run: x / min(seconds.values()) for run, x in seconds.items()} for case, seconds in cases.items()}


def chosen() -> str:
    """By held-out case and size: what auto, the default and a random mapping take over the fastest, which is named."""
    found = {size: ratios(False, size) for size in SIZES}
    lines = [f"| held-out case | {' | '.join(f'{size:,} bytes, {bound} | fastest' for size, bound in SIZES.items())} |",
             "| --- " * (1 + 2 * len(SIZES)) + "|"]
    for case in HELD_OUT:
        cells = []
        for size in SIZES:
            one = found[size].get(case, {})
            best = min((run for run in one if run != "auto"), key=one.__getitem__, default="")
            cells += [" / ".join(f"{one[run]:.3f}" for run in ("auto", "default", "random") if run in one), f"`{best}`"]
        lines.append(f"| {case} | {' | '.join(cells)} |")
    return "\n".join(lines)


def by_method() -> str:
    """Geometric means over the cases, tuning and held-out, of seconds over those of the fastest; and the largest."""
    lines = ["| method | 256 KiB, tuning | largest | held-out | largest | cases |", "| --- " * 6 + "|"]
    sets = [ratios(tuning, 262144) for tuning in (True, False)]
    for run in (*METHODS, "auto"):
        found = [[one[run] for one in cases.values() if run in one] for cases in sets]
        if all(found):
            cells = [f"{np.exp(np.mean(np.log(one))):.3f} | {max(one):.3f}" for one in found]
            lines.append(f"| `{run}` | {' | '.join(cells)} | {sum(map(len, found))} |")
    return "\n".join(lines)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0] if __doc__ else None)
    parser.add_argument("--cases", nargs="+", default=[*TUNING, *HELD_OUT])
    parser.add_argument("--sizes", nargs="+", type=int, default=[*SIZES])
    parser.add_argument("--again", action="store_true", help="forget what auto did")
    parser.add_argument("--python", default=PYTHON[0], help="a Python that SimGrid's module was made for")
    parser.add_argument("--simgrid", default=PYTHON[1], help="the folder of the module")
    parser.add_argument("--table", action="store_true", help="show what has been measured")
    parser.add_argument("--write", action="store_true", help="put the tables into docs/fitting.md")
    args = parser.parse_args()
    if args.again:
        for path in RUNS.glob("*.csv"):
            write(path, [row for row in read(path) if row["run"] != "auto"])
    if not args.table:
        for path, row in measure(args.cases, args.sizes, (args.python, args.simgrid)):
            write(path, [*read(path), row])
            print(path.stem, *list(row.values())[:3], flush=True)
    blocks = {"fitted": fitted(), "chosen": chosen(), "by method": by_method()}
    print(*blocks.values(), sep="\n\n")
    if args.write:
        text = PAGE.read_text(encoding="utf-8")
        for mark, block in blocks.items():
            text = re.sub(rf"(?s)(<!-- {mark} -->\n).*?(<!-- end -->)", rf"\g<1>{block}\n\g<2>", text)
        PAGE.write_text(text, encoding="utf-8")


if __name__ == "__main__":
    main()
