"""The page ``docs/shapes.md``, from the rows of :mod:`benchmarks.shapes`, and its pictures.

    python -m benchmarks.shapes_page                  to the screen
    python -m benchmarks.shapes_page --write          the page
    python -m benchmarks.shapes_page --write --draw   the page, and its pictures anew
"""

from __future__ import annotations

import argparse
import re
from collections import Counter, defaultdict
from collections.abc import Callable, Iterable, Sequence
from pathlib import Path
from typing import Any

import numpy as np

from copart.metrics.promise import CUT_SLACK, FEW_EDGES, SMALL_CUT
from copart.report import Table
from copart.schemes.registry import DEFAULT, SCHEMES

from .shape_cases import CASES, HELD_OUT
from .shapes import EPS, EVERY, LEAST_CELLS, MEASURED, RUNS, TOTALS, Row, read
from .shapes_pictures import FOLDER, SHEETS, draw

DOCUMENT = FOLDER.parent.parent / "shapes.md"
LARGE = 50_000
"""Cells above which a problem is a large one."""

WORST = 25
"""Runs that are listed one by one, at most."""

#: A goal beyond what is owed in every run: cuts of all components in the mean.
MEAN_CUT = 1.03
#: Goals for the time of large problems, in units of NAIVE's.
MEAN_TIME, WORST_TIME = 1.6, 2.0
SETS = {"Shapes that settings were chosen on": CASES, "Other shapes": HELD_OUT}
#: Figures of the promise, as they begin the lines that are broken.
LINES = ("cut", "extra pieces", "coupled weight of the busiest process", "totV both ways", "totZ", "maxV", "maxZ")


# ---- figures of several rows
def mean(values: Iterable[float]) -> float:
    """Geometric mean of those that are above 0 and finite, nan where there are none."""
    x = np.array([v for v in values if 0 < v < np.inf])
    return float(np.exp(np.log(x).mean())) if len(x) else float("nan")


def each(rows: Iterable[Row], key: str) -> list[float]:
    """The values of a column by component, of all components of all rows."""
    return [x for row in rows for x in row[key]]


def worst_cut(rows: Iterable[Row]) -> float:
    """Largest cut of a component over NAIVE's where that is no small number of edges."""
    return max((r for row in rows for x, r in zip(row["cut"], row["cut/naive"], strict=True) if x >= SMALL_CUT * r),
               default=float("nan"))


def balanced(row: Row) -> bool:
    """Whether the coupled weight of every component is within the tolerance of its natural mean."""
    return max(row["busiest/natural"]) <= 1 + EPS + 1e-4


def winners(rows: Sequence[Row], key: str) -> Counter[str]:
    """By scheme, in how many problems none that keeps the promise has less; of equal ones each counts."""
    by_problem = defaultdict(list)
    for row in rows:
        if not row["broken"]:
            by_problem[_problem(row)].append(row)
    won: Counter[str] = Counter()
    for some in by_problem.values():
        least = min(row[key] for row in some)
        won.update(row["scheme"] for row in some if row[key] <= least * (1 + 1e-9))
    return won


def over_the_lowest_other(rows: Sequence[Row], scheme: str, key: str) -> dict[tuple[Any, ...], float]:
    """By problem, a figure of a scheme over the lowest of all others, whether they keep the promise or not."""
    others: dict[tuple[Any, ...], float] = {}
    for row in rows:
        if row["scheme"] != scheme and not SCHEMES[row["scheme"]].chooses:
            others[_problem(row)] = min(row[key], others.get(_problem(row), np.inf))
    return {_problem(row): row[key] / others[_problem(row)] for row in rows
            if row["scheme"] == scheme and others.get(_problem(row))}


def _problem(row: Row) -> tuple[Any, ...]:
    return tuple(row[key] for key in ("case", "cells", "kind", "counts", "seed"))


# ---- tables
def summary(rows: Sequence[Row]) -> Table:
    """A row for each scheme."""
    problems = len({_problem(row) for row in rows})
    lowest = {key: winners(rows, key) for key in ("totZ", "T_step")}
    lines = []
    for scheme in MEASURED:
        some = [row for row in rows if row["scheme"] == scheme]
        if not some:
            continue
        kept = sum(not row["broken"] for row in some)
        line = [scheme, f"{kept} of {len(some)}", _two(mean(each(some, "cut/naive")), 3), _two(worst_cut(some)),
                _two(mean(each(some, "busiest/naive"))), _two(mean(each(some, "busiest/natural"))),
                _percent(sum(map(balanced, some)), len(some)),
                *(_two(mean(row[f"{key}/naive"] for row in some)) for key in TOTALS),
                f"{sum(each(some, 'extra')):.0f} ({sum(each(some, 'extra of naive')):.0f})",
                _two(mean(row["T_step/naive"] for row in some), 3), _two(mean(row["seconds/naive"] for row in some))]
        lines.append([*line, *(_percent(lowest[key][scheme], problems) for key in ("totZ", "T_step"))])
    header = ["scheme", "promise kept", "cut", "worst cut", "busiest", "busiest / natural", "balanced", *TOTALS,
              "extra pieces (NAIVE)", "T_step", "time", "lowest totZ", "lowest T_step"]
    return Table(header, lines)


def by_shape(rows: Sequence[Row], scheme: str = DEFAULT) -> Table:
    """A row for each shape, of one scheme."""
    lines = []
    others = over_the_lowest_other(rows, scheme, "totZ")
    for name in EVERY:
        some = [row for row in rows if row["case"] == name and row["scheme"] == scheme]
        if some:
            kept = sum(not row["broken"] for row in some)
            lines.append([name, EVERY[name].meaning, f"{kept} of {len(some)}",
                          _two(mean(each(some, "cut/naive")), 3), _two(worst_cut(some)),
                          _two(mean(each(some, "busiest/naive"))), _two(mean(each(some, "busiest/natural"))),
                          *(_two(mean(row[f"{key}/naive"] for row in some)) for key in TOTALS),
                          _two(mean(x for key, x in others.items() if key[0] == name)),
                          f"{sum(each(some, 'extra')):.0f} ({sum(each(some, 'extra of naive')):.0f})",
                          _two(mean(row["T_step/naive"] for row in some), 3),
                          _two(mean(row["seconds/naive"] for row in some))])
    return Table(["shape", "what it is", "promise kept", "cut", "worst cut", "busiest", "busiest / natural", *TOTALS,
                  "totZ / lowest other", "extra pieces (NAIVE)", "T_step", "time"], lines)


def compared(rows: Sequence[Row]) -> list[Row]:
    """The rows of problems that every scheme was run on, without those that choose among others."""
    rows = [row for row in rows if not SCHEMES[row["scheme"]].chooses]
    schemes = defaultdict(set)
    for row in rows:
        schemes[_problem(row)].add(row["scheme"])
    most = max(map(len, schemes.values()), default=0)
    return [row for row in rows if len(schemes[_problem(row)]) == most]


def choosers(rows: Sequence[Row]) -> list[Row]:
    """The rows of schemes that choose among others, and of the default on the same problems."""
    theirs = [row for row in rows if SCHEMES[row["scheme"]].chooses]
    there = {_problem(row) for row in theirs}
    return theirs + [row for row in rows if row["scheme"] == DEFAULT and _problem(row) in there]


def by_set(rows: Sequence[Row], scheme: str = DEFAULT) -> Table:
    """A row for each set of shapes and size, of one scheme."""
    lines = []
    mine = [row for row in rows if row["scheme"] == scheme]
    for large in (False, True):
        for title, cases in SETS.items():
            some = [row for row in mine if row["case"] in cases and (row["size"] > LARGE) == large]
            if some:
                time = [row["seconds/naive"] for row in some]
                lines.append([f"{title.lower()}, {'more than' if large else 'up to'} {LARGE:,} cells",
                              f"{len({_problem(row)[:-1] for row in some})}", f"{len(some)}",
                              _percent(sum(not row["broken"] for row in some), len(some)),
                              _two(mean(each(some, "cut/naive")), 3), _two(worst_cut(some)),
                              *(_two(mean(row[f"{key}/naive"] for row in some)) for key in TOTALS),
                              _two(mean(row["T_step/naive"] for row in some), 3),
                              _percent(sum(row["T_step/naive"] <= 1 for row in some), len(some)),
                              _two(mean(time)), _two(max(time))])
    return Table(["shapes", "problems", "runs", "promise kept", "cut", "worst cut", *TOTALS, "T_step",
                  "T_step at most NAIVE's", "time", "worst time"], lines)


def large_problems(rows: Sequence[Row], scheme: str = DEFAULT) -> Table:
    """A row for each problem of many cells, means over its seeds, of one scheme."""
    by_problem = defaultdict(list)
    for row in rows:
        if row["scheme"] == scheme and row["size"] > LARGE:
            by_problem[row["size"], *_problem(row)[:-1]].append(row)
    lines = []
    for (size, case, _, kind, counts), some in sorted(by_problem.items()):
        seconds = float(np.mean([row["seconds"] for row in some]))
        lines.append([case, f"{size:,}", kind, counts, str(len(some)), _two(mean(each(some, "cut/naive")), 3),
                      _two(worst_cut(some)), *(_two(mean(row[f"{key}/naive"] for row in some)) for key in TOTALS),
                      _two(mean(row["T_step/naive"] for row in some), 3), _two(seconds),
                      _two(mean(row["seconds/naive"] for row in some))])
    return Table(["shape", "cells", "kind", "parts", "seeds", "cut", "worst cut", *TOTALS, "T_step", "seconds",
                  "time"], lines)


def lines_broken(rows: Sequence[Row]) -> Table:
    """By scheme, in how many of its runs each figure is worse than it may be."""
    lines = []
    for scheme in MEASURED:
        some = [row for row in rows if row["scheme"] == scheme]
        if some:
            seen = Counter(figure for row in some for figure in {_figure(line) for line in row["broken"]})
            lines.append([scheme, str(len(some)), *(str(seen[figure]) for figure in LINES)])
    return Table(["scheme", "runs", *LINES], lines)


def worst_runs(rows: Sequence[Row], scheme: str = DEFAULT) -> Table:
    """The runs of a scheme in which a line is broken, those with most of them first."""
    some = sorted((row for row in rows if row["scheme"] == scheme and row["broken"]),
                  key=lambda row: -len(row["broken"]))
    return Table(["shape", "cells", "kind", "parts", "seed", "what is worse"],
                 [[row["case"], str(row["size"]), row["kind"], row["counts"], str(row["seed"]),
                   ", ".join(row["broken"])] for row in some[:WORST]])


def _figure(line: str) -> str:
    """What a broken line is about, whatever component it names."""
    said = re.sub(r" \d+ \(.*$", "", line)
    return next(figure for figure in LINES if said == figure or said.startswith(f"{figure} of "))


def _two(value: float, digits: int = 2) -> str:
    return "-" if np.isnan(value) else f"{value:.{digits}f}"


def _percent(count: int, total: int) -> str:
    return f"{100 * count / total:.0f} %" if total else "-"


# ---- text
def page(rows: Sequence[Row]) -> str:
    """The whole page; every figure in it is from the rows."""
    done = [row for row in rows if row["status"] == "done"]
    text = ["# Real shapes", "",
            "*Made by `make bench-shapes` from `benchmarks/shapes_runs.csv`; not written by hand.*", "",
            _how(done), "", "## What falls short", "", *(f"- {line}" for line in short(rows)), "",
            "Number of runs of each scheme in which a figure is worse than the promise allows:", "",
            lines_broken(done).markdown(), ""]
    listed = worst_runs(done)
    if listed.rows:
        text += [f"Runs of `{DEFAULT}` in which one is"
                 + (f", the first {WORST} of them" if len(listed.rows) == WORST else "") + ":", "",
                 listed.markdown(), ""]
    some = compared(done)
    text += ["## All shapes", "", f"The {len({_problem(row) for row in some})} problems that all schemes were run on "
             "but those that choose:", "", summary(some).markdown(), "", *_columns(), "",
             f"All runs of the default scheme, `{DEFAULT}`, with all seeds:", "", by_set(done).markdown(), ""]
    some = choosers(done)
    if some:
        text += [f"The scheme that chooses beside `{DEFAULT}`, on the {len({_problem(row) for row in some})} problems "
                 "that both were run on; its time is that of all schemes it runs:", "", summary(some).markdown(), ""]
    large = large_problems(done)
    if large.rows:
        text += ["## Large problems", "", f"More than {LARGE:,} cells, `{DEFAULT}`; ratios to NAIVE, seconds of "
                 "processor time.", "", large.markdown(), ""]
    for title, cases in SETS.items():
        some = [row for row in done if row["case"] in cases]
        if not some:
            continue
        text += [f"## {title}", "", summary(compared(some)).markdown(), "", f"The default scheme, `{DEFAULT}`, by "
                 f"shape, up to {LARGE:,} cells, all seeds:", "",
                 by_shape([row for row in some if row["size"] <= LARGE]).markdown(), ""]
        for sheet, (what, names) in SHEETS.items():
            if set(names) <= set(cases) and (FOLDER / sheet).exists():
                text += [f"![{what}: a plan of each shape](pictures/shapes/{sheet})", ""]
    if any((FOLDER / sheet).exists() for sheet in SHEETS):
        text += ["Each picture shows two views of a plan for 8 and 24 parts: all components (those in 3D cut open), "
                 "and the smallest component alone (in 2D with its surroundings). Thick lines separate components; "
                 "parts that touch have different colours."]
    return "\n".join(text).rstrip() + "\n"


def _how(rows: Sequence[Row]) -> str:
    def all_of(key: str) -> str:
        return ", ".join(str(x) for x in sorted({row[key] for row in rows}))

    shapes = {row["case"] for row in rows}
    return (f"{len(rows)} runs: {len(shapes & set(CASES))} shapes that settings were tuned on and "
            f"{len(shapes & set(HELD_OUT))} others, with about {all_of('cells')} cells in total "
            f"({min(row['size'] for row in rows):,} to {max(row['size'] for row in rows):,}), interedges by "
            f"{all_of('kind')}; parts {all_of('counts')}, alternating where there are more than two components; counts "
            f"with fewer than {LEAST_CELLS} cells per part are left out. Seeds {all_of('seed')}: beyond the first, and "
            f"on more than {LARGE:,} cells, only NAIVE and `{DEFAULT}` are run, on a part of the problems. Imbalance "
            f"{100 * EPS:g} %, one thread, commit {all_of('commit')}. Everything is compared with NAIVE, which "
            "partitions each component alone, with the same counts and seed. The default plan promises that no figure "
            "in the next table is worse than NAIVE's, with some room: a cut may be "
            f"{100 * CUT_SLACK:g} % larger, or {FEW_EDGES} edges where it is below {SMALL_CUT}; totV, both ways, 1 %.")


def _columns() -> list[str]:
    told = {"cut": "edge cut of each component", "worst cut": f"the largest, where NAIVE's is {SMALL_CUT} or more",
            "busiest": "largest coupled weight of any process of a component",
            "busiest / natural": "the same, divided by the mean over the natural number of parts (rounded up)",
            "balanced": f"runs in which that is at most {1 + EPS:g} in every component",
            "totV, totZ": "data (both ways) and messages (from the first to the second of every pair) of a coupling "
            "phase", "maxV, maxZ": "most data, most messages that one process sends or receives",
            "extra pieces": "connected pieces beyond one per part, summed over all runs",
            "T_step": "cost of a coupled step ([metrics](metrics.md))",
            "time": "CPU time divided by that of NAIVE in the same process; that of `joint` includes NAIVE, from which "
            "it starts",
            "lowest": "share of the problems in which no scheme that keeps the promise has a lower value; ties count "
            "for each scheme, and NAIVE always keeps the promise"}
    return ["All figures except pieces and shares are geometric means of ratios to NAIVE.", "", "| column | meaning |",
            "| --- | --- |", *(f"| {key} | {said} |" for key, said in told.items())]


def short(rows: Sequence[Row], scheme: str = DEFAULT) -> list[str]:
    """What the default scheme owes or aims at and does not reach, and what could not be measured."""
    done = [row for row in rows if row["status"] == "done"]
    mine = [row for row in done if row["scheme"] == scheme]
    out = []

    def say(count: int, text: str, where: Callable[[Row], bool] | None = None, of: int = 0) -> None:
        names = Counter(row["case"] for row in mine if where is not None and where(row))
        most = ", ".join(f"{name} ({n})" for name, n in names.most_common(6))
        on = f", {'most' if len(names) > 6 else 'all'} of them on {most}" if most else ""
        out.append(f"{text}: {count} of {of or len(mine)} runs{on}.")

    if mine:
        say(sum(bool(row["broken"]) for row in mine), f"`{scheme}` breaks the promise", lambda row: bool(row["broken"]))
        say(sum(not balanced(row) for row in mine), f"The coupled weight of `{scheme}` is not within {100 * EPS:g} % "
            "of its natural mean in some component", lambda row: not balanced(row))
        both = compared(done)
        lower = {key for key, x in over_the_lowest_other(both, scheme, "totZ").items() if x > 1 + 1e-9}
        say(len(lower), f"Another scheme has fewer messages than `{scheme}`, whether it keeps the promise or not",
            lambda row: _problem(row) in lower, sum(row["scheme"] == scheme for row in both))
        same = [row for row in mine if row["totZ/naive"] == row["totV/naive"] == row["T_step/naive"] == 1
                and set(row["cut/naive"]) == {1.0}]
        say(len(same), f"`{scheme}` finds nothing better than NAIVE and returns its figures", lambda row: row in same)
        cut = mean(each(mine, "cut/naive"))
        out.append(f"The cut of `{scheme}` is {cut:.3f} of NAIVE's in the geometric mean, {worst_cut(mine):.2f} in the "
                   f"worst case; the goals are {MEAN_CUT:g} and {1 + CUT_SLACK:g}.")
        big = [row["seconds/naive"] for row in mine if row["size"] > LARGE]
        if not big:
            out.append(f"No problem has more than {LARGE:,} cells.")
        elif mean(big) > MEAN_TIME or max(big) > WORST_TIME:
            out.append(f"On more than {LARGE:,} cells `{scheme}` takes {mean(big):.2f} times NAIVE's time in the "
                       f"geometric mean and {max(big):.2f} times in the worst case; the goals are {MEAN_TIME:g} and "
                       f"{WORST_TIME:g}.")
    failed = [row for row in rows if row["status"] != "done"]
    out.extend(f"{n} runs of `{name}` on {case} end with an error: {status}"
               for (name, case, status), n in Counter((r["scheme"], r["case"], r["status"]) for r in failed).items())
    missing = [name for name in EVERY if name not in {row["case"] for row in rows}]
    missing += [f"`{name}`" for name in MEASURED if name not in {row["scheme"] for row in rows}]
    if missing:
        out.append(f"Not measured: {', '.join(missing)}.")
    return out


def main(argv: Sequence[str] | None = None) -> None:
    """Print the page, or write it."""
    parser = argparse.ArgumentParser(description="The page of the benchmark on real shapes.")
    parser.add_argument("--csv", type=Path, default=RUNS)
    parser.add_argument("--write", action="store_true", help="write docs/shapes.md")
    parser.add_argument("--draw", action="store_true", help="draw its pictures anew")
    args = parser.parse_args(argv)
    if args.draw:
        draw()
    rows = read(args.csv)
    if not any(row["status"] == "done" for row in rows):
        raise SystemExit(f"{args.csv.name}: no rows; python -m benchmarks.shapes measures some")
    if args.write:
        DOCUMENT.write_text(page(rows), encoding="utf-8")
        print(f"wrote docs/{DOCUMENT.name} from {len(rows)} rows")
    else:
        print(page(rows))


if __name__ == "__main__":
    main()
