"""The page ``docs/partitioner-benchmarks.md`` and its pictures, made from measured rows."""

from __future__ import annotations

import json
import shutil
from pathlib import Path
from typing import Any

from copart.report import Table

from . import growth, peers_table
from .partitioner_pictures import draw, draw_growth
from .peers_table import RUNS, Results, read

DOCUMENT = RUNS.parent.parent / "docs" / "partitioner-benchmarks.md"

GROWTH_PER_EDGE = "time for the edges, to the smallest"


def report(path: Path, write: bool) -> None:
    """Print the page, or write it with its pictures and keep the rows it comes from."""
    rows = read(path)
    if not rows:
        raise SystemExit(f"{path}: no rows; python -m benchmarks.partitioner run measures some")
    results = Results(rows)
    sidecar = path.with_suffix(".machine.json")
    noted = json.loads(sidecar.read_text(encoding="utf-8")) if sidecar.exists() else {}
    text = page(results, noted, growth.read())
    if not write:
        print(text)
        return
    draw(results, DOCUMENT.parent / "pareto.png")
    if len(growth.read()) > 1:
        draw_growth(growth.read(), DOCUMENT.parent / "growth.png")
    DOCUMENT.write_text(text, encoding="utf-8")
    peers_table.keep(path, RUNS)
    if noted and path.resolve() != RUNS:
        shutil.copyfile(sidecar, RUNS.with_suffix(".machine.json"))
    print(f"wrote {DOCUMENT.relative_to(RUNS.parent.parent)} from {len(rows)} rows")


def page(results: Results, noted: dict[str, Any], lines: list[dict[str, Any]]) -> str:
    """The text, with a section for everything that was measured."""
    text = ["# The partitioner beside others", "",
            "*Made by `make bench-partitioner` from `benchmarks/partitioner_runs.csv`; not written by hand.*", "",
            _how(results, noted), "", "![cut against time, one point per tool](pareto.png)", "",
            "Hollow points have results on some of the graphs only and do not compare with the others; the table of "
            "who passes whom compares any two on the graphs of both.", ""]

    def section(title: str, say: str, table: Table) -> None:
        if table.rows:
            text.extend([f"## {title}", "", *([say, ""] if say else []), table.markdown(), ""])

    section("Ratios to METIS k-way",
            "Geometric means over graphs and numbers of parts of the medians over the seeds, on the seven mesh graphs; "
            "less is better. *Instances* says on how many pairs of graph and k both have results. *Memory* is the peak "
            "during the call above what was resident before it; the last column says it in MB.",
            peers_table.summary(results))
    section("Who passes whom", "For every peer the fastest of our presets with a lower cut in less time.",
            peers_table.passes(results))
    section("By graph", "Cut / time to METIS k-way, geometric means over k.", peers_table.by_graph(results))
    section("Distance to boxes", "Cut of cube-hexa-100 over that of equal boxes, which is near the optimum.",
            peers_table.boxes(results))
    section("Fixed vertices",
            "cube-hexa-70 in 32 parts, of which 8 are given on a face: kind 1 as 4 x 2 rectangles, kind 2 as METIS' "
            "own partition of the face. METIS has no fixed vertices: `metis-contracted` makes one heavy vertex of each "
            "given part, which is no answer where *fixed broken* is not 0.", peers_table.fixed_table(results))
    section("Promises",
            "Every run of copart. The limit is (1 + tolerance) * ceil(n / k), which on small graphs is more than "
            "the tolerance over n / k.", peers_table.promises(results))
    section("Cuts", "Medians over the seeds.", peers_table.cuts(results))
    if lines:
        section("Growth", _growth_text(lines), growth_table(lines))
        if len(lines) > 1:
            text.extend(["![time against edges](growth.png)", ""])
    section("Rows without a result", "", peers_table.failures(results))
    return "\n".join(text)


def _how(results: Results, noted: dict[str, Any]) -> str:
    rows = [r for e in results.entries for rows in results.free[e].values() for r in rows] or \
        [r for rows in results.fixed.values() for r in rows]
    seeds, eps = sorted({r["seed"] for r in rows}), sorted({r["eps"] for r in rows})
    said = [f"{len(rows)} runs, seeds {', '.join(map(str, seeds))}, "
            f"imbalance at most {' and '.join(f'{100 * e:g} %' for e in eps)}."]
    if noted:
        said.append(f"Measured on {noted['machine']}, copart at {noted['copart']}, with "
                    + ", ".join(f"{name} {version}" for name, version in noted["versions"].items()) + ".")
    said.append("One process per run; runs may come from several passes, one after the other, on this machine; "
                "the time is that of the call, on a graph in the tool's "
                "own form.")
    repeated, same = peers_table.same_on_all_threads(results)
    if repeated:
        said.append(f"Of {repeated} runs of copart that were repeated with another number of threads, "
                    f"{same} had the same cut.")
    return " ".join(said)


def growth_table(lines: list[dict[str, Any]]) -> Table:
    """One line a size and number of threads."""
    first: dict[Any, dict[str, Any]] = {}
    out = []
    for x in lines:
        begin = first.setdefault((x["k"], x["preset"], x["threads"]), x)
        relative = x["seconds"] / begin["seconds"] / (x["m"] / begin["m"])
        out.append([f"{x['n']:,}", f"{x['m']:,}", x["preset"], f"{x['threads']}", f"{x['k']}", f"{x['seconds']:.2f}",
                    f"{relative:.2f}", f"{x['graph_mb']:.0f}", f"{x['peak_mb']:.0f}", f"{x['cut']:.0f}"])
    return Table(["cells", "edges", "preset", "threads", "k", "time s", GROWTH_PER_EDGE, "graph MB",
                  "peak above it MB", "cut"], out)


def _growth_text(lines: list[dict[str, Any]]) -> str:
    said = "Cubes of hexahedra."
    if len(lines) > 2:
        said += f" Fitted: time grows with the edges to the power {growth.exponent(lines):.3f}."
    return said
