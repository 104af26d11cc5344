"""Coupled steps at scale on simulated networks: which plan is fastest, and does the step cost say so?

    python -m benchmarks.simulated                              64 and 256 processes, half an hour
    python -m benchmarks.simulated --processes 1024 --cases rod-in-block --platforms torus
    python -m benchmarks.simulated --table --write              what has been measured, into docs/gain.md

Every scheme's plan of a shape becomes one step of a coupled run: work of each process by its weights, halos, messages
across the interface, and the work there.  SimGrid moves the messages through a fat tree, a torus and a dragonfly whose
links they share (Debian: ``python3-simgrid``; its folder on ``PYTHONPATH``, or told by ``--simgrid``).  Rows are kept
in ``simulated_runs.csv`` as soon as they are measured.
"""

from __future__ import annotations

import argparse
import csv
import json
import re
import subprocess
import sys
import tempfile
from collections import defaultdict
from collections.abc import Iterator
from functools import cache
from math import prod
from pathlib import Path
from typing import Any

import numpy as np
from scipy.stats import spearmanr

from copart.coupling import CoPartition, CoupledProblem
from copart.errors import CopartError
from copart.mapping.coupled.placements import place
from copart.mapping.coupled.processes import process_graph
from copart.mapping.machine import machine
from copart.metrics.components import coupled_weights, part_weights
from copart.metrics.step import StepCost, step_cost
from copart.schemes.registry import run_scheme

from .shape_cases import CASES, HELD_OUT, problem

RUNS = Path(__file__).resolve().parent / "simulated_runs.csv"
PAGE = RUNS.parent.parent / "docs" / "gain.md"
SCHEMES = ("naive", "aware", "projrepart", "multiconstraint", "joint")
SHAPES = ("rod-in-block", "tubes-7", "patch-on-box", "ball-in-shell", "torus-in-box", "comb", "balls-in-box",
          "journal-bearing")
#: Of these nothing was looked at while settings were chosen.
UNSEEN = tuple(name for name in SHAPES if name in HELD_OUT)
FIELDS = ("case", "processes", "cells", "platform", "placement", "scheme", "seconds", "T_step")
CELLS = 1000
"""Cells per process."""

#: Seconds of a cell, own or coupled; bytes of a cell's datum (five numbers); seconds that a message keeps a process
#: busy at either end; latency and bandwidth of a link.
CELL, DATUM, OVERHEAD, LATENCY, BANDWIDTH = 1e-6, 40, 4e-6, 5e-7, 4e9
SLOTS = 8
"""Processes of a node; they share its link to the network."""

#: A Python, and the folder in which SimGrid's module for it is.
PYTHON = "/usr/bin/python3", "/usr/lib/python3/dist-packages"

#: The step cost that is compared: the usual constants, of which those above are made.
COST = StepCost()


# ---- platforms
def platform(name: str, nodes: int) -> tuple[str, str]:
    """SimGrid's description of a network of so many nodes, and the machine that processes are placed on."""
    link = (f'bw="{BANDWIDTH:.0f}Bps" lat="{LATENCY}s" loopback_bw="{5 * BANDWIDTH:.0f}Bps" '
            f'loopback_lat="{LATENCY / 5}s"')
    shape, hierarchy = {"fat tree": _fat_tree, "torus": _torus, "dragonfly": _dragonfly}[name](nodes)
    text = (f'<?xml version="1.0"?><!DOCTYPE platform SYSTEM "https://simgrid.org/simgrid.dtd"><platform version="4.1">'
            f'<cluster id="all" prefix="node" suffix="" radical="0-{nodes - 1}" speed="1Gf" {link} {shape} '
            f'sharing_policy="SPLITDUPLEX"/></platform>')
    return text, hierarchy


def _fat_tree(nodes: int) -> tuple[str, str]:
    low = 4
    high = nodes // low
    # two switches above every four nodes: half the bandwidth between them
    return f'topology="FAT_TREE" topo_parameters="2;{low},{high};1,2;1,1"', f"{SLOTS}:{low}:{high}"


def _torus(nodes: int) -> tuple[str, str]:
    x = max(d for d in range(1, nodes) if nodes % d == 0 and d**3 <= nodes)
    y = max(d for d in range(1, nodes) if (nodes // x) % d == 0 and d**2 <= nodes // x)
    return f'topology="TORUS" topo_parameters="{nodes // x // y},{y},{x}"', f"{SLOTS}:{x}:{y}:{nodes // x // y}"


def _dragonfly(nodes: int) -> tuple[str, str]:
    # as many routers in a group as groups, or more: each has a link to one other group
    groups = max(d for d in range(1, nodes) if nodes % (d * 4) == 0 and 2 * d * d <= nodes)
    routers = nodes // groups // 2
    return f'topology="DRAGONFLY" topo_parameters="{groups},1;1,1;{routers},1;2"', f"{SLOTS}:2:{routers}:{groups}"


# ---- one run
def step(made_of: CoupledProblem, made: CoPartition, network: str, placement: str, python: tuple[str, str]) -> float:
    """Seconds of a simulated step."""
    graph = process_graph(made_of, made)
    nodes = max(8, 1 << ((graph.nprocs - 1) // SLOTS).bit_length())  # a power of two makes all three networks
    text, hierarchy = platform(network, nodes)
    assert prod(map(int, hierarchy.split(":"))) == nodes * SLOTS
    where = place(graph, machine(hierarchy), placement).processor
    own, coupled = [], []
    for name, component in made_of.components.items():
        own += part_weights(component, made[name], made.nparts[name]).tolist()
        coupled += coupled_weights(made_of.coupled_load(name), made[name], made.nparts[name],
                                   made_of.coupled(name))[0].tolist()
    processes: list[dict[str, Any]] = [
        {"node": int(where[k]) // SLOTS, "own": own[k] * CELL, "coupled": coupled[k] * CELL, "halo_to": [],
         "halo_from": [], "coupling_to": [], "coupling_from": []} for k in range(graph.nprocs)]
    for phase, key in (("regular", "halo"), ("coupling", "coupling")):
        matrix = graph.traffic[phase].tocoo()
        for a, b, data in zip(matrix.row.tolist(), matrix.col.tolist(), matrix.data.tolist(), strict=True):
            processes[a][f"{key}_to"].append([b, data * DATUM])
            processes[b][f"{key}_from"].append(a)
    return float(simulated(text, {"processes": processes, "overhead": OVERHEAD}, python))


def simulated(text: str, run: dict[str, Any], python: tuple[str, str]) -> Any:
    """What the job says of a run on a platform, in a Python that has SimGrid: seconds, or the routes it asks for."""
    program, folder = python
    if not list(Path(folder).glob("simgrid*")):
        raise SystemExit(f"no Python module of SimGrid in {folder} (Debian: apt install python3-simgrid; else "
                         f"--simgrid FOLDER --python PYTHON)")
    with tempfile.NamedTemporaryFile("w", suffix=".xml") as file:
        file.write(text)
        file.flush()
        done = subprocess.run([program, str(Path(__file__).with_name("simulated_job.py"))], text=True,
                              input=json.dumps({"platform": file.name, **run}), capture_output=True, check=False,
                              env={"PYTHONPATH": folder, "PATH": "/usr/bin:/bin"})
    if done.returncode:
        raise SystemExit(f"the simulation failed: {done.stderr[-600:]}")
    return json.loads(done.stdout.splitlines()[-1])


def rows(args: argparse.Namespace) -> Iterator[dict[str, Any]]:
    """What is not there yet."""
    there = {tuple(row[key] for key in FIELDS[:6]) for row in read()}
    for case in args.cases:
        for n in args.processes:
            counts = (n // 4, n - n // 4)

            @cache
            def made_of(case: str = case, n: int = n) -> CoupledProblem:
                return problem({**CASES, **HELD_OUT}[case], n * args.cells, "facet")

            for scheme in args.schemes:
                made = None
                for network in args.platforms:
                    for placement in args.placements:
                        key = case, str(n), str(args.cells), network, placement, scheme
                        if key in there:
                            continue
                        of = made_of()
                        if made is None:
                            parts = {name: counts[i % 2] for i, name in enumerate(of.names)}
                            try:
                                made = run_scheme(scheme, of, parts)
                            except CopartError as error:
                                print(f"{case} {n} {scheme}: {error}", file=sys.stderr)
                                break
                        seconds = step(of, made, network, placement, (args.python, args.simgrid))
                        yield {**dict(zip(FIELDS, key, strict=False)), "seconds": f"{seconds:.9f}",
                               "T_step": f"{step_cost(of, made, COST).T_step:.3f}"}


# ---- what came of it
def read() -> list[dict[str, str]]:
    if not RUNS.exists():
        return []
    with RUNS.open(newline="") as file:
        return list(csv.DictReader(file))


def complete() -> dict[tuple[str, ...], dict[str, tuple[float, float]]]:
    """Simulated seconds and T_step by scheme, by network, placement, processes and shape, where all were measured."""
    groups: dict[tuple[str, ...], dict[str, tuple[float, float]]] = defaultdict(dict)
    for row in read():
        groups[row["platform"], row["placement"], row["processes"], row["case"]][row["scheme"]] = \
            float(row["seconds"]), float(row["T_step"])
    return {key: found for key, found in groups.items() if set(found) >= set(SCHEMES)}


def by_shape() -> str:
    """Simulated step over NAIVE's by shape, means over networks, placements and numbers of processes."""
    shapes: dict[str, list[dict[str, tuple[float, float]]]] = defaultdict(list)
    for (*_, case), found in complete().items():
        shapes[case].append(found)
    lines = [f"| shape | {' | '.join(SCHEMES[1:])} |", "| --- " * len(SCHEMES) + "|"]
    for case, several in shapes.items():
        ratio = [np.exp(np.mean([np.log(one[scheme][0] / one["naive"][0]) for one in several]))
                 for scheme in SCHEMES[1:]]
        lines.append(f"| {case} | {' | '.join(f'{x:.3f}' for x in ratio)} |")
    return "\n".join(lines)


def table() -> str:
    """By network, placement and number of processes: simulated step over NAIVE's, how often each is lowest."""
    every: dict[tuple[str, ...], list[dict[str, tuple[float, float]]]] = defaultdict(list)
    for (network, placement, n, case), found in complete().items():
        every[network, placement, n].append(found)
        every["all", "", ""].append(found)
        every["unseen shapes" if case in UNSEEN else "shapes seen", "", ""].append(found)
    lines = [f"| network | placement | processes | cases | {' | '.join(SCHEMES[1:])} | joint ≤ NAIVE | joint lowest | "
             "rank correlation |", "| --- " * (len(SCHEMES) + 6) + "|"]
    for (network, placement, n), found in sorted(every.items(), key=lambda one: (one[0][1] == "", one[0])):
        ratio = {scheme: np.exp(np.mean([np.log(one[scheme][0] / one["naive"][0]) for one in found]))
                 for scheme in SCHEMES[1:]}
        least = np.mean([one["joint"][0] <= min(x for x, _ in one.values()) * (1 + 1e-9) for one in found])
        never = sum(one["joint"][0] <= one["naive"][0] * (1 + 1e-9) for one in found)
        same = np.mean([spearmanr(*zip(*(one[scheme] for scheme in SCHEMES), strict=True)).statistic for one in found])
        said = " | ".join(f"{x:.3f}" for x in ratio.values())
        lines.append(f"| {network} | {placement} | {n} | {len(found)} | {said} | {never} of {len(found)} | "
                     f"{least:.0%} | {same:.2f} |")
    return "\n".join(lines)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0] if __doc__ else None)
    parser.add_argument("--processes", type=int, nargs="+", default=[64, 256])
    parser.add_argument("--cases", nargs="+", default=SHAPES)
    parser.add_argument("--platforms", nargs="+", default=["fat tree", "torus", "dragonfly"])
    parser.add_argument("--placements", nargs="+", default=["linear", "shared"])
    parser.add_argument("--schemes", nargs="+", default=SCHEMES)
    parser.add_argument("--cells", type=int, default=CELLS, help="per process")
    parser.add_argument("--python", default=PYTHON[0], help="a Python that SimGrid's module was made for")
    parser.add_argument("--simgrid", default=PYTHON[1], help="the folder of the module")
    parser.add_argument("--table", action="store_true", help="show what has been measured")
    parser.add_argument("--write", action="store_true", help="put the tables into docs/gain.md")
    args = parser.parse_args()
    if not args.table:
        for row in rows(args):
            new = not RUNS.exists()
            with RUNS.open("a", newline="") as file:
                writer = csv.DictWriter(file, FIELDS, lineterminator="\n")
                if new:
                    writer.writeheader()
                writer.writerow(row)
            print(*row.values(), flush=True)
    print(table(), by_shape(), sep="\n\n")
    if args.write:
        text = PAGE.read_text(encoding="utf-8")
        for mark, block in (("table", table()), ("shapes", by_shape())):
            text = re.sub(rf"(?s)(<!-- {mark} -->\n).*?(\n<!-- end -->)", rf"\g<1>{block}\g<2>", text)
        PAGE.write_text(text, encoding="utf-8")


if __name__ == "__main__":
    main()
