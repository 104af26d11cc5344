"""The four published experiments: two cubes that share a face, 16 parts against 16 to 128.

    python -m benchmarks.hipc2014 --write              all of it, into docs/benchmarks.md
    python -m benchmarks.hipc2014 --exp 1 --nb 128     one row of it, to the screen

Meshes, numbers of parts, tolerance and columns are those of M. Predari and
A. Esnard, "Coupling-Aware Graph Partitioning Algorithms: Preliminary Study",
HiPC 2014.  Interedges join cells that share at least a point, as the published
figures imply (``--interedges facet``: cells whose faces overlap).  For experiment
4 the published figures stand beside ours (``hipc2014_table6.csv``).
"""

from __future__ import annotations

import argparse
import csv
import os
import platform
import subprocess
import sys
import time
from collections import defaultdict
from collections.abc import Sequence
from functools import lru_cache
from pathlib import Path
from statistics import fmean
from typing import Any

import copart
from copart import Graph, Interedges
from copart.mesh import cube, dual_graph, find_interedges
from copart.report import COMPARISON_COLUMNS, Table, comparison_table
from copart.schemes import registry

HERE = Path(__file__).resolve().parent
RUNS = HERE / "hipc2014_runs.csv"
PUBLISHED = HERE / "hipc2014_table6.csv"
DOCUMENT = HERE.parent / "docs" / "benchmarks.md"
BEGIN, END = "<!-- hipc2014: begin -->", "<!-- hipc2014: end -->"

NA = 16
NB = (16, 24, 32, 48, 64, 96, 128)
SCHEMES = ("naive", "aware", "projrepart", "joint")
PUBLISHED_SCHEMES = SCHEMES[:3]
EXPERIMENTS: dict[int, tuple[tuple[str, int], tuple[str, int], str]] = {
    1: (("hexa", 25), ("hexa", 100), "nested: each face of A covers 4 x 4 faces of B"),
    2: (("hexa", 25), ("hexa", 70), "alike, not nested"),
    3: (("tetra", 40_630), ("hexa", 100), "misaligned"),
    4: (("tetra", 40_630), ("tetra", 486_719), "misaligned"),
}
"""Meshes of A and B, and how they lie on each other."""
KEYS = [column.key for column in COMPARISON_COLUMNS]
FIELDS = ["exp", "nb", "scheme", "seed", *KEYS, "preset", "threads", "commit", "machine"]


def problem(number: int, interedges: str, shrink: float = 1.0) -> tuple[Graph, Graph, Interedges]:
    """Graphs and interedges of an experiment; `shrink` scales the cells along an edge."""
    meshes = []
    for i, (cells, size) in enumerate(EXPERIMENTS[number][:2]):
        smaller = round(size * shrink) if cells == "hexa" else round(size * shrink**3)
        meshes.append(cube(cells, smaller, offset=(float(i), 0.0, 0.0), seed=i + 1))
    a, b = meshes
    return dual_graph(a), dual_graph(b), find_interedges(a, b, interedges)


def measure(number: int, nbs: Sequence[int], seeds: int, schemes: Sequence[str], preset: str, threads: int,
            kind: str = "touch", shrink: float = 1.0) -> list[dict[str, Any]]:
    """One record per run: experiment, N_B, scheme, seed and the published columns."""
    begin = time.perf_counter()
    a, b, relation = problem(number, kind, shrink)
    print(f"\nexp{number}: A {a.nvtxs:,} cells, {a.nedges:,} edges; B {b.nvtxs:,} cells, {b.nedges:,} edges; "
          f"{relation!r} by {kind}; made in {time.perf_counter() - begin:.1f} s", flush=True)
    records = []
    for nb in nbs:
        made = copart.compare(a, b, parts=(NA, nb), coupled="paper", seeds=seeds, schemes=schemes, interedges=relation,
                              preset=preset, threads=threads, progress=_progress)
        _progress("", 0, 0)
        title = f"exp{number}, N_A = {NA}, N_B = {nb}, mean of {seeds} seeds"
        print("\n" + comparison_table(made.rows(), title).text(), flush=True)
        records += [{"exp": number, "nb": nb, "scheme": run.scheme, "seed": run.seed,
                     **{key: found[key] for key in KEYS}, "preset": preset, "threads": threads, "commit": commit(),
                     "machine": machine()} for run in made.runs for found in [run.figures()]]
    return records


def _progress(step: str, done: int, total: int) -> None:
    if sys.stderr.isatty():
        print(f"\r{step:<40} {done:3d}/{total:<3d}", end="", file=sys.stderr, flush=True)


def means(records: Sequence[dict[str, Any]], number: int, nb: int) -> list[dict[str, Any]]:
    """Rows of the schemes' table of one experiment and N_B."""
    rows = []
    for scheme in SCHEMES:
        runs = [r for r in records if (r["exp"], r["nb"], r["scheme"]) == (number, nb, scheme)]
        if runs:
            rows.append({"scheme": scheme, **{key: sum(r[key] for r in runs) / len(runs) for key in KEYS}})
    return rows


def published() -> dict[tuple[str, int], dict[str, str]]:
    """The published figures of experiment 4 by scheme and N_B."""
    with open(PUBLISHED, encoding="utf-8") as file:
        rows = csv.DictReader(line for line in file if not line.startswith("#"))
        return {(row["scheme"], int(row["nb"])): row for row in rows}


def claims(records: Sequence[dict[str, Any]]) -> Table:
    """What the source claims, and the worst of our means over the seeds that bears on it."""
    seen: dict[str, list[float]] = defaultdict(list)
    for number, nb in sorted({(r["exp"], r["nb"]) for r in records}):
        row = {r["scheme"]: r for r in means(records, number, nb)}
        if not set(PUBLISHED_SCHEMES) <= set(row):
            continue
        naive, aware, proj = others = [row[s] for s in PUBLISHED_SCHEMES]
        seen["ub"] += [r[key] for r in row.values() for key in ("ub_a", "ub_b")]
        if "joint" in row:
            ours = row["joint"]
            seen["joint cpl"] += [ours["ub_cpl_a"], ours["ub_cpl_b"]]
            seen["joint cut"].append((ours["cut_a"] + ours["cut_b"]) / (naive["cut_a"] + naive["cut_b"]) - 1)
            seen["joint time"].append(ours["seconds"] / naive["seconds"] - 1)
            for key in ("totV", "totZ"):
                seen[f"joint {key}"].append(ours[key] / min(r[key] for r in others) - 1)
                seen[f"balanced {key}"].append(ours[key] / min(aware[key], proj[key]) - 1)
        seen["cpl"] += [r[key] for r in (aware, proj) for key in ("ub_cpl_a", "ub_cpl_b")]
        seen["naive"] += [max(naive["ub_cpl_a"], naive["ub_cpl_b"])]
        seen["aware cut"].append(aware["cut_b"] / naive["cut_b"] - 1)
        seen["proj cut"].append(proj["cut_b"] / naive["cut_b"] - 1)
        seen["same"] += [abs(aware[key] - proj[key]) for key in ("ub_a", "ub_cpl_a", "cut_a", "cut_cpl_a")]
        seen["aware time"].append(aware["seconds"] / naive["seconds"] - 1)
        seen["proj time"].append(proj["seconds"] / naive["seconds"] - 1)
        if number in (1, 2):
            for key in ("totV", "totZ"):
                seen[key].append(proj[key] / min(naive[key], aware[key]) - 1)
    lines = [("ub_A, ub_B of every scheme, largest", "ub", max, "at most 5 %"),
             ("coupled ub of AWARE and PROJREPART, largest", "cpl", max, "below 5 %"),
             ("coupled ub of NAIVE (worse side), smallest", "naive", min, "50 to 78 % (exp4)"),
             ("cut_B of AWARE over NAIVE's, largest", "aware cut", max, "1 to 4 % more"),
             ("cut_B of PROJREPART over NAIVE's, largest", "proj cut", max, "1 to 4 % more"),
             ("A-side figures of AWARE and PROJREPART, largest difference", "same", max, "equal"),
             ("totV of PROJREPART over the better other, exp1 and exp2, largest", "totV", max, "always lower"),
             ("totZ of PROJREPART over the better other, exp1 and exp2, largest", "totZ", max, "always lower"),
             ("time of AWARE over NAIVE's, largest", "aware time", max, "about equal"),
             ("time of PROJREPART over NAIVE's, largest", "proj time", max, "mostly below 5 % more"),
             ("coupled ub of JOINT, largest", "joint cpl", max, "-"),
             ("totV of JOINT over the lowest other, mean", "joint totV", fmean, "-"),
             ("totV of JOINT over the lowest other, largest", "joint totV", max, "-"),
             ("totZ of JOINT over the lowest other, mean", "joint totZ", fmean, "-"),
             ("totZ of JOINT over the lowest other, largest", "joint totZ", max, "-"),
             ("totV of JOINT over the lower of AWARE and PROJREPART, largest", "balanced totV", max, "-"),
             ("totZ of JOINT over the lower of AWARE and PROJREPART, largest", "balanced totZ", max, "-"),
             ("cut_A + cut_B of JOINT over NAIVE's, mean", "joint cut", fmean, "-"),
             ("cut_A + cut_B of JOINT over NAIVE's, largest", "joint cut", max, "-"),
             ("time of JOINT over NAIVE's, mean", "joint time", fmean, "-")]

    def shown(key: str, pick: Any) -> str:
        if not seen[key]:
            return "-"
        return f"{pick(seen[key]):g}" if key == "same" else f"{100 * pick(seen[key]):.2f} %"

    rows = [[text, shown(key, pick), said] for text, key, pick, said in lines]
    return Table(["claim", "measured here", "published"], rows)


def document(records: Sequence[dict[str, Any]]) -> str:
    """The section of ``docs/benchmarks.md``."""
    def each(key: str) -> str:
        return ", ".join(sorted({str(r[key]) for r in records}))

    seeds = sorted({r["seed"] for r in records})
    lines = [BEGIN, "## Coupled cubes (HiPC 2014)", "",
             f"Made by `make bench` on {each('machine')}; commit {each('commit')}; preset {each('preset')}; "
             f"threads: {each('threads')}; imbalance 5 %; "
             f"means of {len(seeds)} seeds. Two unit cubes share a face. Interedges join cells that share at least "
             "a point, as the published exp4 figures imply. "
             "Times are of the partitioning alone, kernels compiled. "
             "Single runs: `benchmarks/hipc2014_runs.csv`. The source is M. Predari and A. Esnard, "
             "\"Coupling-Aware Graph Partitioning Algorithms: Preliminary Study\", HiPC 2014.", "",
             "### What the source claims, and what is measured here", "", claims(records).markdown(), ""]
    theirs = published()
    for number in sorted({r["exp"] for r in records}):
        (a, na), (b, nb_), how = EXPERIMENTS[number]
        lines += [f"### exp{number}: {a} {na:,} against {b} {nb_:,} ({how})", ""]
        header = ["N_B", "scheme", *(c.title for c in COMPARISON_COLUMNS)]
        rows, best = [], set()
        for nb in sorted({r["nb"] for r in records if r["exp"] == number}):
            table = comparison_table(means(records, number, nb))
            for i, row in enumerate(table.rows):
                best |= {(len(rows), j + 1) for r, j in table.best if r == i}
                rows.append([str(nb), *row])
                if number == 4 and (row[0].lower(), nb) in theirs:
                    rows.append([str(nb), f"{row[0]} published", *_published_row(theirs[row[0].lower(), nb])])
        lines += [Table(header, rows, frozenset(best)).markdown(), ""]
    return "\n".join([*lines, END])


def _published_row(row: dict[str, str]) -> list[str]:
    shown = []
    for column in COMPARISON_COLUMNS:
        if column.key == "seconds":
            shown.append(column.show(float(row["ms"]) / 1000))
        elif not row[column.key]:
            shown.append("-")
        elif column.key.startswith("ub"):
            shown.append(f"{float(row[column.key]):.2f}")
        else:
            shown.append(column.show(float(row[column.key])))
    return shown


def write(records: Sequence[dict[str, Any]]) -> None:
    """Put new runs in place of old ones in the record, and the section in its place in the document."""
    kept = {(r["exp"], r["nb"], r["scheme"], r["seed"]): r for r in [*read_runs(), *records]}
    merged = [kept[key] for key in sorted(kept, key=lambda k: (k[0], k[1], SCHEMES.index(k[2]), k[3]))]
    with open(RUNS, "w", encoding="utf-8", newline="") as file:
        writer = csv.DictWriter(file, FIELDS, lineterminator="\n")
        writer.writeheader()
        writer.writerows([{k: f"{v:.6g}" if isinstance(v, float) else v for k, v in r.items()} for r in merged])
    old = DOCUMENT.read_text(encoding="utf-8") if DOCUMENT.exists() else "# Benchmarks\n"
    section = document(merged)
    if BEGIN in old and END in old:
        new = old[:old.index(BEGIN)] + section + old[old.index(END) + len(END):]
    else:
        new = old.rstrip() + "\n\n" + section + "\n"
    DOCUMENT.parent.mkdir(exist_ok=True)
    DOCUMENT.write_text(new, encoding="utf-8")
    print(f"\nwrote {RUNS.relative_to(HERE.parent)} and {DOCUMENT.relative_to(HERE.parent)}")


def read_runs() -> list[dict[str, Any]]:
    """The record of runs, empty where there is none yet."""
    if not RUNS.exists():
        return []
    whole = {"exp", "nb", "seed", "threads"}
    with open(RUNS, encoding="utf-8") as file:
        return [{k: int(v) if k in whole else v if k in {"scheme", "preset", "commit", "machine"} else float(v)
                 for k, v in row.items()} for row in csv.DictReader(file)]


def machine() -> str:
    """Processor and number of cores."""
    name = platform.processor() or platform.machine()
    try:
        with open("/proc/cpuinfo", encoding="utf-8") as file:
            name = next(line.split(":", 1)[1].strip() for line in file if line.startswith("model name"))
    except (OSError, StopIteration):
        pass
    return f"{name} ({os.cpu_count()} cores)"


@lru_cache(maxsize=1)
def commit() -> str:
    """The commit that is measured, with a plus where files have been changed since."""
    def git(*arguments: str) -> str:
        done = subprocess.run(["git", *arguments], capture_output=True, text=True, cwd=HERE, check=True)
        return done.stdout.strip()

    try:
        return git("rev-parse", "--short", "HEAD") + "+" * bool(git("status", "--porcelain", "--", "../copart"))
    except (OSError, subprocess.CalledProcessError):
        return "unknown"


def peak_memory() -> float:
    """Largest resident memory of this process so far, in GB."""
    import resource

    peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    return peak * (1 if sys.platform == "darwin" else 1024) / 1e9


def main(argv: Sequence[str] | None = None) -> list[dict[str, Any]]:
    """Run what is asked for, print the tables, return the records."""
    parser = argparse.ArgumentParser(description="The published experiments on coupled cubes.")
    parser.add_argument("--exp", type=int, nargs="+", choices=EXPERIMENTS, default=list(EXPERIMENTS))
    parser.add_argument("--nb", type=int, nargs="+", default=list(NB), help="numbers of parts of B")
    parser.add_argument("--seeds", type=int, default=5)
    parser.add_argument("--schemes", nargs="+", choices=list(registry.SCHEMES), default=list(SCHEMES))
    parser.add_argument("--preset", default="default")
    parser.add_argument("--threads", type=int, default=1)
    parser.add_argument("--interedges", choices=["facet", "touch"], default="touch")
    parser.add_argument("--shrink", type=float, default=1.0, help="scale the cells along an edge, for a quick look")
    parser.add_argument("--write", action="store_true", help="record the runs and write docs/benchmarks.md")
    args = parser.parse_args(argv)
    if args.write and (args.shrink != 1.0 or args.interedges != "touch" or not set(args.schemes) <= set(SCHEMES)):
        parser.error("--write records the published experiments only, not --shrink, other interedges or schemes")
    begin = time.perf_counter()
    records = []
    for number in args.exp:
        records += measure(number, args.nb, args.seeds, args.schemes, args.preset, args.threads, args.interedges,
                           args.shrink)
        if args.write:
            write(records)
    print("\n" + claims(records).text())
    print(f"\n{len(records)} runs in {time.perf_counter() - begin:.0f} s, peak memory {peak_memory():.2f} GB")
    return records


if __name__ == "__main__":
    main()
