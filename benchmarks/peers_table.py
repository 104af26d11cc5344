"""Rows measured by ``benchmarks.partitioner`` (or another harness with its columns) as tables."""

from __future__ import annotations

import csv
import math
from collections import defaultdict
from collections.abc import Iterable, Sequence
from pathlib import Path
from statistics import median, mode
from typing import Any

from copart.report import Table

from .graphs import MESHES

HERE = Path(__file__).resolve().parent
RUNS = HERE / "partitioner_runs.csv"
FIELDS = ("graph", "n", "m", "k", "tool", "threads", "seed", "eps", "fixed", "cut", "imbalance", "ok", "maxload",
          "empty", "comps", "fixed_bad", "seconds", "cpu_s", "build_s", "whole_s", "rss_mb", "base_mb", "load1",
          "status")
REFERENCE = ("metis-kway", 1)
KS = (16, 32, 64, 128)
"""The numbers of parts that means are taken over."""
BOXES = {16: 50_000, 64: 90_000, 128: 130_000}
"""Cut of cube-hexa-100 into equal boxes, by number of parts."""

Row = dict[str, Any]
Entry = tuple[str, int]
"""A tool and its number of threads."""
Instance = tuple[str, int]
"""A graph and a number of parts."""

_WHOLE = {"n", "m", "k", "threads", "seed", "fixed", "cut", "ok", "maxload", "empty", "comps", "fixed_bad"}
_REAL = {"eps", "imbalance", "seconds", "cpu_s", "build_s", "whole_s", "rss_mb", "base_mb", "load1"}


def read(path: Path) -> list[Row]:
    """The rows of a CSV, empty fields ``None``; nothing where there is no file. Of a repeated row, the last."""
    if not path.exists():
        return []
    rows: dict[tuple[Any, ...], Row] = {}
    with open(path, encoding="utf-8", newline="") as file:
        for line in csv.DictReader(file):
            row: Row = {}
            for field, text in line.items():
                number = int if field in _WHOLE else float if field in _REAL else None
                row[field] = text if number is None else number(text) if text else None
            rows[tuple(row[f] for f in ("graph", "k", "tool", "threads", "seed", "fixed", "eps"))] = row
    return list(rows.values())


def keep(path: Path, record: Path) -> None:
    """Copy the rows of a CSV, without what tools said when they failed: it names folders of the machine."""
    with open(path, encoding="utf-8", newline="") as file:
        rows = [row | {"status": row["status"].split(":")[0]} for row in csv.DictReader(file)]
    with open(record, "w", encoding="utf-8", newline="") as file:
        writer = csv.DictWriter(file, FIELDS, extrasaction="ignore", lineterminator="\n")
        writer.writeheader()
        writer.writerows(rows)


def geometric_mean(values: Iterable[float]) -> float:
    """NaN where there are none."""
    logs = [math.log(v) for v in values if v > 0]
    return math.exp(sum(logs) / len(logs)) if logs else math.nan


def is_ours(entry: Entry) -> bool:
    return entry[0].startswith("copart")


def shown(entry: Entry) -> str:
    name = f"**{entry[0]}**" if is_ours(entry) else entry[0]
    return f"{name}, {entry[1]} threads" if entry[1] > 1 else name


class Results:
    """The rows that have a result at the usual tolerance, by tool and instance, and medians over their seeds."""

    def __init__(self, rows: Sequence[Row]) -> None:
        self.failed = [r for r in rows if r["status"] != "done"]
        self.ours = [r for r in rows if r["status"] == "done" and r["tool"].startswith("copart")]
        """All our rows, whatever their tolerance and number of parts."""
        usual = mode(r["eps"] for r in rows)
        self.free: dict[Entry, dict[Instance, list[Row]]] = {}
        self.fixed: dict[tuple[int, Entry], list[Row]] = defaultdict(list)
        for r in rows:
            # programs measured as a whole process, which some harnesses have, are another matter
            if r["status"] == "done" and r["eps"] == usual and not r["tool"].startswith("cli-"):
                entry = (r["tool"], r["threads"])
                if r["fixed"]:
                    self.fixed[r["fixed"], entry].append(r)
                else:
                    self.free.setdefault(entry, {}).setdefault((r["graph"], r["k"]), []).append(r)
        time = {e: self.ratio(e, "seconds") for e in self.free}
        self.entries = sorted(self.free, key=lambda e: (not is_ours(e), math.isnan(time[e]), time[e], e))

    def median(self, entry: Entry, instance: Instance, what: str) -> float:
        return median(_figure(r, what) for r in self.free[entry][instance])

    def shared(self, *entries: Entry, graphs: Sequence[str] = MESHES) -> list[Instance]:
        """Instances on which all of the entries have a result."""
        common = set.intersection(*(set(self.free.get(e, ())) for e in entries))
        return sorted((i for i in common if i[0] in graphs and i[1] in KS), key=lambda i: (graphs.index(i[0]), i[1]))

    def ratio(self, entry: Entry, what: str, to: Entry = REFERENCE, graphs: Sequence[str] = MESHES) -> float:
        """Geometric mean over the shared instances of the ratios of the medians."""
        return geometric_mean(self.median(entry, i, what) / max(self.median(to, i, what), 1e-9)
                              for i in self.shared(entry, to, graphs=graphs))


def _figure(row: Row, what: str) -> float:
    if what == "memory":  # above what was resident before the call; a megabyte is below what can be told
        return max(1.0, (row["rss_mb"] or 0.0) - (row["base_mb"] or 0.0))
    return float(row[what])


def summary(results: Results) -> Table:
    """One line a tool: ratios to METIS, and what it promises and breaks."""
    lines = []
    for entry in results.entries:
        instances = results.shared(entry, REFERENCE)
        rows = [r for i in instances for r in results.free[entry][i]]
        if not rows:
            continue
        big = [_figure(r, "memory") for i, rs in results.free[entry].items() if i[0] == "cube-hexa-100" for r in rs]
        cut, seconds, memory = (results.ratio(entry, what) for what in ("cut", "seconds", "memory"))
        lines.append([shown(entry), f"{len(instances)}", f"{len(rows)}", f"{cut:.3f}", f"{seconds:.2f}",
                      f"{100 * max(r['imbalance'] for r in rows):.1f} %", f"{sum(not r['ok'] for r in rows)}",
                      f"{sum(r['empty'] for r in rows)}", f"{memory:.2f}", f"{median(big):.0f}" if big else ""])
    header = ["tool", "instances", "rows", "cut", "time", "worst imbalance", "over the limit", "empty parts", "memory",
              "MB, cube-hexa-100"]
    return Table(header, lines)


def by_graph(results: Results) -> Table:
    """Cut / time by graph, geometric means over the numbers of parts."""
    graphs = [*MESHES, *sorted({i[0] for e in results.free.values() for i in e} - set(MESHES))]
    lines = []
    for entry in results.entries:
        cells = []
        for graph in graphs:
            ks = [k for _, k in results.shared(entry, REFERENCE, graphs=[graph])]
            every = {k for g, k in results.free.get(REFERENCE, ()) if g == graph and k in KS}
            some = "" if set(ks) == every else f" (k = {', '.join(map(str, ks))})"
            cells.append(f"{results.ratio(entry, 'cut', graphs=[graph]):.3f} / "
                         f"{results.ratio(entry, 'seconds', graphs=[graph]):.2f}{some}" if ks else "")
        if any(cells):
            lines.append([shown(entry), *cells])
    return Table(["tool", *graphs], lines)


def passes(results: Results) -> Table:
    """For every peer, the fastest of ours with a lower cut in less time, on the instances of both."""
    ours = [e for e in results.entries if is_ours(e)]
    lines = []
    for peer in results.entries:
        found = [(results.ratio(e, "cut", to=peer), results.ratio(e, "seconds", to=peer), e)
                 for e in ours if results.shared(e, peer)]
        if is_ours(peer) or not found:
            continue
        lower = [f for f in found if f[0] < 1]
        cut, seconds, entry = min(lower, key=lambda f: f[1]) if lower else min(found)
        name = shown(entry) if cut < 1 and seconds < 1 else f"not passed; nearest {shown(entry)}"
        lines.append([shown(peer), name, f"{cut:.3f}", f"{seconds:.2f}", f"{len(results.shared(entry, peer))}"])
    return Table(["peer", "passed by", "cut to the peer's", "time to the peer's", "instances"], lines)


def boxes(results: Results) -> Table:
    """Cuts of cube-hexa-100 over those of equal boxes."""
    lines = []
    for entry in results.entries:
        have = {k for g, k in results.free[entry] if g == "cube-hexa-100"}
        if have & set(BOXES):
            lines.append([shown(entry), *(f"{results.median(entry, ('cube-hexa-100', k), 'cut') / cut:.3f}"
                                          if k in have else "" for k, cut in BOXES.items())])
    return Table(["tool", *(f"k = {k} ({cut:,})" for k, cut in BOXES.items())], lines)


def fixed_table(results: Results) -> Table:
    """Extensions of a partitioned face, by kind and tool."""
    lines = []
    for (kind, entry), rows in sorted(results.fixed.items(), key=lambda x: (x[0][0], not is_ours(x[0][1]), x[0][1])):
        cut, seconds = (median(_figure(r, what) for r in rows) for what in ("cut", "seconds"))
        metis = [r["seconds"] for r in results.fixed.get((kind, ("metis-contracted", 1)), ())]
        pieces = [r["comps"] for r in rows if r["comps"] is not None]
        lines.append([shown(entry), f"{kind}", f"{cut:.0f}", f"{seconds:.2f}",
                      f"{seconds / median(metis):.2f}" if metis else "",
                      f"{100 * max(r['imbalance'] for r in rows):.2f} %",
                      f"{sum(bool(r['ok']) for r in rows)} of {len(rows)}",
                      f"{max(r['fixed_bad'] or 0 for r in rows)}", f"{pieces[0]}" if pieces else ""])
    header = ["tool", "kind", "cut", "time s", "time over METIS", "worst imbalance", "within the limit", "fixed broken",
              "pieces"]
    return Table(header, lines)


def cuts(results: Results) -> Table:
    """Median cuts by graph and k: METIS, ours and the best peer; the smallest is marked."""
    instances = sorted({i for e in results.entries for i in results.free[e]})
    peers = [e for e in results.entries if not is_ours(e)]
    # the presets once each: the number of threads does not change the partition
    ours = {name: max(e for e in results.entries if e[0] == name)
            for name in dict.fromkeys(e[0] for e in results.entries if is_ours(e))}
    lines: list[list[str]] = []
    best: set[tuple[int, int]] = set()
    for instance in instances:
        columns = [results.median(e, instance, "cut") if instance in results.free.get(e, ()) else math.inf
                   for e in (REFERENCE, *ours.values())]
        least, peer = min(((results.median(e, instance, "cut"), e) for e in peers if instance in results.free[e]),
                          default=(math.inf, REFERENCE))
        columns.append(least)
        best.add((len(lines), 2 + columns.index(min(columns))))
        texts = [f"{c:.0f}" if c < math.inf else "" for c in columns]
        lines.append([instance[0], f"{instance[1]}", *texts, shown(peer) if least < math.inf else ""])
    return Table(["graph", "k", "metis-kway", *ours, "best peer", "which"], lines, frozenset(best))


def same_on_all_threads(results: Results) -> tuple[int, int]:
    """How many of our runs were repeated with another number of threads, and how many of those gave the same cut."""
    found: dict[tuple[Any, ...], set[int]] = defaultdict(set)
    times: dict[tuple[Any, ...], int] = defaultdict(int)
    for entry in results.entries:
        # what is cut off by the clock depends on it
        if is_ours(entry) and not entry[0].endswith("best"):
            for instance, rows in results.free[entry].items():
                for r in rows:
                    key = (entry[0], instance, r["seed"], r["eps"])
                    found[key].add(r["cut"])
                    times[key] += 1
    repeated = [key for key in found if times[key] > 1]
    return len(repeated), sum(len(found[key]) == 1 for key in repeated)


def promises(results: Results) -> Table:
    """All of our rows by tolerance: whether the limit held, no part was empty, fixed vertices stayed."""
    groups: dict[tuple[str, float], list[Row]] = defaultdict(list)
    for r in results.ours:
        groups[r["tool"], r["eps"]].append(r)
    lines = [[f"**{tool}**", f"{100 * eps:g} %", f"{len(rows)}", f"{min(r['k'] for r in rows)} to "
              f"{max(r['k'] for r in rows)}", f"{100 * max(r['imbalance'] for r in rows):.2f} %",
              f"{sum(not r['ok'] for r in rows)}", f"{sum(r['empty'] for r in rows)}",
              f"{sum(r['fixed_bad'] or 0 for r in rows)}"] for (tool, eps), rows in sorted(groups.items())]
    header = ["tool", "tolerance", "rows", "parts", "worst imbalance", "over the limit", "empty parts", "fixed broken"]
    return Table(header, lines)


def failures(results: Results) -> Table:
    """Rows that gave no result, counted."""
    count: dict[tuple[str, str], set[str]] = defaultdict(set)
    rows: dict[tuple[str, str], int] = defaultdict(int)
    for r in results.failed:
        key = (shown((r["tool"], r["threads"])), r["status"].split(":")[0])
        rows[key] += 1
        count[key].add(f"{r['graph']} k = {r['k']}" + (" fixed" if r["fixed"] else ""))
    return Table(["tool", "status", "rows", "where"],
                 [[*key, f"{rows[key]}", "; ".join(sorted(where))] for key, where in sorted(count.items())])
