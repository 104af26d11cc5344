"""Real shapes: every scheme on bodies in bodies, tubes, plates, blades, flaps and patches, beside NAIVE.

    python -m benchmarks.shapes                                        all of it, hours
    python -m benchmarks.shapes --cells 20000 --seeds 1                a quarter of an hour
    python -m benchmarks.shapes --cases rod-in-block --counts 8,24     a part of it
    python -m benchmarks.shapes --preset strong --csv strong.csv       with another preset, not for the page

A row is written as soon as it is measured, and rows that are there are not measured again, so that a run which was
broken off goes on where it was.  ``python -m benchmarks.shapes_page`` makes the page ``docs/shapes.md`` of the rows.
"""

from __future__ import annotations

import argparse
import csv
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from copart.coupling import CoPartition, CoupledProblem
from copart.errors import CopartError
from copart.metrics import imbalance
from copart.metrics.balance import max_part_weight
from copart.metrics.components import boundary, coupled_weights
from copart.metrics.natural import natural_count
from copart.metrics.promise import PromiseFigures, broken, promised
from copart.metrics.step import StepFigures, step_cost
from copart.names import PresetName
from copart.options import PRESETS
from copart.schemes.registry import SCHEMES, run_scheme

from .hipc2014 import commit
from .shape_cases import CASES, HELD_OUT, ShapeCase, coupled, problem

RUNS = Path(__file__).resolve().parent / "shapes_runs.csv"
EVERY: dict[str, ShapeCase] = {**CASES, **HELD_OUT}
MEASURED = tuple(name for name, scheme in SCHEMES.items() if not scheme.shares_pool)
"""A shared pool of processes has other counts, and no partition by NAIVE to stand beside."""

COUNTS = ((8, 24), (24, 72), (64, 64), (2, 32))
EPS = 0.05
LEAST_CELLS = 4
"""Cells that a part has on average, at least, where a count is measured."""

TOTALS = ("totV", "totZ", "maxV", "maxZ")
KEY = ("case", "cells", "kind", "counts", "seed", "scheme")
#: One number for each component, in the order of `names`.
EACH = ("ub", "cut", "cut/naive", "busiest", "busiest/naive", "busiest/natural", "extra", "extra of naive", "boundary")
#: One number.
ONE = (*(key + of for key in TOTALS for of in ("", "/naive")), "seconds", "seconds/naive", "T_step", "T_step/naive",
       "T_own", "T_cpl")
FIELDS = (*KEY, "size", "names", *EACH, *ONE, "broken", "status", "commit")
Row = dict[str, Any]


# ---- one run
@dataclass(frozen=True)
class Alone:
    """What NAIVE makes of a problem: what all others are measured by."""

    made: CoPartition
    seconds: float
    figures: PromiseFigures
    step: StepFigures
    mean: Mapping[str, int]
    """Coupled weight of a process where it is shared by the natural number of parts, rounded up."""
    preset: PresetName


def alone(problem: CoupledProblem, counts: Mapping[str, int], seed: int, preset: PresetName) -> Alone:
    """NAIVE, timed."""
    made, seconds = timed(lambda: run_scheme("naive", problem, counts, eps=EPS, seed=seed, threads=1, preset=preset))
    mean = {}
    for name, graph in problem.components.items():
        cells = problem.coupled(name)
        share, _ = coupled_weights(problem.coupled_load(name), made[name], counts[name], cells)
        room = max_part_weight(graph.total_weight, counts[name], EPS)
        mean[name] = -(-int(share.sum()) // max(1, natural_count(share, len(cells), room)))
    return Alone(made, seconds, promised(problem, made), step_cost(problem, made), mean, preset)


def timed(call: Callable[[], CoPartition]) -> tuple[CoPartition, float]:
    """What a call makes, and the CPU time of this process in it."""
    begin = time.process_time()
    made = call()
    return made, time.process_time() - begin


def figures(problem: CoupledProblem, made: CoPartition, seconds: float, before: Alone) -> Row:
    """The columns of a run."""
    mine, theirs, step = promised(problem, made), before.figures, step_cost(problem, made)
    names = problem.names
    row: Row = {"names": names, "seconds": seconds, "seconds/naive": ratio(seconds, before.seconds),
                "ub": [imbalance(g, made[c], made.nparts[c]) for c, g in problem.components.items()],
                "cut": [mine.cut[c] for c in names],
                "cut/naive": [ratio(mine.cut[c], theirs.cut[c]) for c in names],
                "busiest": [mine.max_coupled[c] for c in names],
                "busiest/naive": [ratio(mine.max_coupled[c], theirs.max_coupled[c]) for c in names],
                "busiest/natural": [ratio(mine.max_coupled[c], before.mean[c]) for c in names],
                "extra": [mine.extra_pieces[c] for c in names],
                "extra of naive": [theirs.extra_pieces[c] for c in names],
                "boundary": [int(boundary(g, made[c]).sum()) for c, g in problem.components.items()],
                "T_step": step.T_step, "T_step/naive": ratio(step.T_step, before.step.T_step),
                "T_own": step.regular, "T_cpl": step.T_cpl}
    for key in TOTALS:
        row[key] = getattr(mine, key)
        row[f"{key}/naive"] = ratio(getattr(mine, key), getattr(theirs, key))
    return row | {"broken": "; ".join(str(line) for line in broken(mine, theirs)), "status": "done"}


def ratio(value: float, reference: float) -> float:
    """Of two figures, 1 where both are nothing."""
    return 1.0 if value == reference else value / reference if reference else float("inf")


# ---- all runs
def rows_of(name: str, args: argparse.Namespace, there: set[tuple[str, ...]]) -> Iterator[Row]:
    """The rows of a case that are not `there` yet, as they are measured."""
    case = EVERY[name]
    kinds = [kind for kind in case.kinds if not args.kinds or kind in args.kinds]
    asked = [(kind, pair, seed) for kind in kinds for pair in args.counts for seed in range(1, args.seeds + 1)]
    left = {one: [s for s in args.schemes if _key(name, args.cells, *one, s) not in there] for one in asked}
    if not any(left.values()):
        return
    try:
        meshes = case.build(args.cells)
    except ImportError as error:
        print(f"{name} is left out: {error}", flush=True)
        return
    for kind in kinds:
        if not any(schemes for one, schemes in left.items() if one[0] == kind):
            continue
        made = coupled(case, meshes, kind)
        size = sum(graph.nvtxs for graph in made.components.values())
        for _, pair, seed in (one for one in asked if one[0] == kind and left[one]):
            counts = {c: pair[i % len(pair)] for i, c in enumerate(made.names)}
            if any(graph.nvtxs < LEAST_CELLS * counts[c] for c, graph in made.components.items()):
                continue
            before = alone(made, counts, seed, args.preset)
            for scheme in left[kind, pair, seed]:
                key = dict(zip(KEY, _key(name, args.cells, kind, pair, seed, scheme), strict=True))
                yield {**key, "size": size, "commit": commit(), **one_run(made, scheme, counts, seed, before)}


def one_run(made: CoupledProblem, scheme: str, counts: Mapping[str, int], seed: int, before: Alone) -> Row:
    """The columns of a scheme, or why it gives nothing."""
    if scheme == "naive":
        return figures(made, before.made, before.seconds, before)
    try:
        found, seconds = timed(lambda: run_scheme(scheme, made, counts, eps=EPS, seed=seed, threads=1,
                                                  preset=before.preset))
    except CopartError as error:
        return {"names": made.names, "status": f"{type(error).__name__}: {' '.join(str(error).split())}"}
    return figures(made, found, seconds, before)


def _key(name: str, cells: int, kind: str, pair: tuple[int, ...], seed: int, scheme: str) -> tuple[str, ...]:
    return name, str(cells), kind, "+".join(map(str, pair)), str(seed), scheme


def warm_up(schemes: Sequence[str]) -> None:
    """Run every scheme once, so that no kernel is compiled or loaded while something is timed."""
    for name, kind in (("rod-in-block", "facet"), ("hot-spot", "facet"), ("pipe-5", "touch"),
                       ("overlap-discs-2d", "overlap")):
        small = problem(CASES[name], 2000, kind)
        for scheme in ("naive", *schemes):
            for counts in ((4, 12), (16, 16)):
                run_scheme(scheme, small, {c: counts[i % 2] for i, c in enumerate(small.names)}, threads=1)


# ---- the record
def read(path: Path = RUNS) -> list[Row]:
    """The rows that are there, with numbers as numbers; none where there is no file."""
    if not path.exists():
        return []
    with open(path, encoding="utf-8", newline="") as file:
        rows: list[Row] = list(csv.DictReader(file))
    for row in rows:
        row["names"] = row["names"].split()
        if row["status"] == "done":
            row |= {key: [float(x) for x in row[key].split()] for key in EACH}
            row |= {key: float(row[key]) for key in ONE}
        row |= {key: int(row[key]) for key in ("cells", "seed", "size")}
        row["broken"] = row["broken"].split("; ") if row["broken"] else []
    return rows


def _written(value: Any) -> str:
    if isinstance(value, list | tuple):
        return " ".join(_written(x) for x in value)
    return f"{value:.5g}" if isinstance(value, float) else str(value)


def measure(args: argparse.Namespace) -> int:
    """Measure what is asked for and not there; returns the number of new rows."""
    there = {tuple(str(row[key]) for key in KEY) for row in read(args.csv)}
    new, begin = 0, time.perf_counter()
    warm_up(args.schemes)
    # lines are written as a whole, so that two runs of different cases may share the file
    with open(args.csv, "a", encoding="utf-8", newline="", buffering=1) as file:
        writer = csv.DictWriter(file, FIELDS, restval="", lineterminator="\n")
        if file.tell() == 0:
            writer.writeheader()
        for name in args.cases:
            for row in rows_of(name, args, there):
                writer.writerow({key: _written(value) for key, value in row.items()})
                new += 1
            print(f"{time.perf_counter() - begin:7.1f} s  {name}: {new} rows", flush=True)
    return new


def main(argv: Sequence[str] | None = None) -> int:
    """Measure what is asked for; returns the number of new rows."""
    parser = argparse.ArgumentParser(description="Every scheme on real shapes, beside NAIVE.")
    parser.add_argument("--cells", type=int, default=30_000, help="about how many in all")
    parser.add_argument("--seeds", type=int, default=3)
    parser.add_argument("--cases", nargs="+", choices=list(EVERY), default=list(EVERY), metavar="CASE")
    parser.add_argument("--kinds", nargs="+", choices=["facet", "touch", "overlap"], help="all that a case has")
    parser.add_argument("--counts", nargs="+", type=_pair, default=list(COUNTS), metavar="N,N",
                        help="parts; more than two components have them by turns")
    parser.add_argument("--schemes", nargs="+", choices=MEASURED, default=list(MEASURED))
    parser.add_argument("--preset", choices=list(PRESETS), default="default", help="of any other give --csv, too")
    parser.add_argument("--csv", type=Path, default=RUNS, help="where the rows are and go")
    args = parser.parse_args(argv)
    if args.preset != "default" and args.csv == RUNS:
        parser.error("--preset: the record is of the default one; give another file with --csv")
    return measure(args)


def _pair(text: str) -> tuple[int, ...]:
    pair = tuple(int(n) for n in text.split(","))
    if len(pair) != 2 or min(pair) < 1:
        raise argparse.ArgumentTypeError(f"two numbers from 1 up with a comma between them, got {text!r}")
    return pair


if __name__ == "__main__":
    main()
