"""Clustering and sparsification of hypergraphs, measured: ``python -m benchmarks.hypergraphs``.

Prints the tables of docs/clustering.md: clusters by two threads beside the sequential ones, identical nets found by
hashing beside sorting, partitions of a hypergraph with and without sparsification, and what faster clustering is worth
in a whole partition beside Amdahl's bound.  Ways are measured in turn, so that what else the machine does meets all of
them alike.  Where other programs run, a thread has no core of its own: the last column of the first table tells how
much faster two threads are by the processor time that was taken, which would be their gain if each had one.
"""

from __future__ import annotations

import argparse
import os
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from statistics import median
from typing import Any, NamedTuple

import numpy as np
from scipy.sparse import csr_array, kron

from copart.formats import read_hypergraph
from copart.hypergraph import Hypergraph
from copart.mesh import cube, dual_graph
from copart.metrics import evaluate_hypergraph
from copart.partitioner.hypergraphs import Reduction, cluster, sparsify
from copart.partitioner.hypergraphs.classes import CHECKSUMS, WAYS, identical
from copart.partitioner.hypergraphs.sparsification import ascending
from copart.partitioner.umpa import levels, partition_hypergraph

#: Methods by threads, and the sequential one that each stands beside.
BESIDE = {"locks": "hcm", "resolution": "hcm", "parallel-hcc": "hcc"}


class Runs(NamedTuple):
    """Seconds on the wall and of the processor, and the results, of all runs of one way."""

    wall: list[float]
    cpu: list[float]
    results: list[Any]


def stencil(side: int) -> Hypergraph:
    """Column nets of a grid of side^3 nodes, each with the up to 27 around it."""
    line = csr_array(np.abs(np.subtract.outer(np.arange(side), np.arange(side))) <= 1)
    return Hypergraph.from_scipy(kron(kron(line, line), line, format="csr"))


def blocks(cells: int, size: int) -> Hypergraph:
    """Column nets of a matrix with `size` unknowns in each of so many tetrahedra, coupled within and to neighbours."""
    graph = dual_graph(cube("tetra", cells))
    structure = graph.to_scipy() + csr_array((np.ones(graph.nvtxs), (range(graph.nvtxs),) * 2))
    return Hypergraph.from_scipy(kron(structure, np.ones((size, size)), format="csr"))


def instances(folder: Path | None) -> dict[str, Hypergraph]:
    """Hypergraphs of a million pins and more, and those of a folder of files."""
    made = {"cube of hexahedra, 60^3": Hypergraph.column_net(dual_graph(cube("hexa", 60))),
            "cube of 250,000 tetrahedra": Hypergraph.column_net(dual_graph(cube("tetra", 250_000))),
            "27-point stencil, 45^3": stencil(45),
            "5 unknowns in 12,000 tetrahedra": blocks(12_000, 5)}
    files = sorted([*folder.glob("*.hgr"), *folder.glob("*.graph")]) if folder else []
    return made | {path.name: read_hypergraph(path) for path in files}


def in_turn(ways: dict[str, Callable[[], Any]], repeats: int) -> dict[str, Runs]:
    """Runs of each way, one after the other, `repeats` times over; one round before is left out."""
    out = {name: Runs([], [], []) for name in ways}
    for count in range(repeats + 1):
        for name, way in ways.items():
            wall, cpu = time.perf_counter(), time.process_time()
            made = way()
            if count:
                out[name].cpu.append(time.process_time() - cpu)
                out[name].wall.append(time.perf_counter() - wall)
                out[name].results.append(made)
    return out


def clustering(hypergraphs: dict[str, Hypergraph], repeats: int) -> list[str]:
    """Rows of the first table."""
    out = ["| hypergraph | pins | method | sequential | two threads | quality | cardinality | conflicts | faster | "
           "by processor time |", "| --- | --- | --- | --- | --- | --- | --- | --- | --- | --- |"]
    for name, h in hypergraphs.items():
        if h.npins < 1_000_000:
            continue
        _ = h.nets
        for method, alone in BESIDE.items():
            limit: dict[str, Any] = {"max_weight": 32} if alone == "hcc" else {}

            def way(which: str, threads: int, h: Hypergraph = h, limit: dict[str, Any] = limit) -> Callable[[], Any]:
                return lambda: cluster(h, which, threads=threads, **limit)

            runs = in_turn({"one": way(alone, 1), "two": way(method, 2)}, repeats)
            one, two = runs["one"], runs["two"]
            first = one.results[0]
            quality = median(r.quality(h) for r in two.results) / first.quality(h)
            cardinality = median(r.cardinality for r in two.results) / first.cardinality
            fastest, other = min(one.wall), min(two.wall)
            out.append(f"| {name} | {h.npins:,} | `{method}` | `{alone}` {fastest:.3f} s | {other:.3f} s |"
                       f" {quality:.3f} | {cardinality:.3f} | {max(r.conflicts for r in two.results)} |"
                       f" {fastest / other:.2f} x | {2 * median(one.cpu) / median(two.cpu):.2f} x |")
    return out


def sparsification(hypergraphs: dict[str, Hypergraph], repeats: int) -> list[str]:
    """Rows of the second table."""
    out = ["| hypergraph | nets | left | checksum | sorting | hashing | ratio | occupancy | false positives |",
           "| --- | --- | --- | --- | --- | --- | --- | --- | --- |"]
    for name, h in hypergraphs.items():
        pins = ascending(h)
        for checksum in CHECKSUMS:
            ways = {way: (lambda way=way, c=checksum, h=h, pins=pins: identical(h.xpins, pins, way, c, -1, 1))
                    for way in WAYS}
            runs = in_turn(ways, repeats)  # type: ignore[arg-type]
            sort, hash_ = (1e3 * median(runs[way].cpu) for way in ("sort", "hash"))
            found = runs["hash"].results[0]
            out.append(f"| {name} | {h.nnets:,} | {len(found.first):,} | {checksum} | {sort:.2f} ms | {hash_:.2f} ms |"
                       f" {hash_ / sort:.2f} | {found.occupancy:.3f} | {found.false_positives:,} |")
    return out


def partitions(repeats: int) -> list[str]:
    """Rows of the third table: partitions of least volume of a matrix with blocks, seconds of the processor."""
    h = blocks(2_500, 5)
    ways: dict[str, Callable[[], Reduction | None]] = {
        "none": lambda: None, "identical": lambda: sparsify(h, directed=False),
        "similar, 4 orders": lambda: sparsify(h, directed=False, permutations=4)}
    out = [f"{h}", "| parts | merged | processor time | volume | imbalance |", "| --- | --- | --- | --- | --- |"]
    for nparts in (4, 16, 64):
        found: dict[str, list[tuple[float, int, float]]] = {name: [] for name in ways}
        for seed in range(repeats + 1):
            for name, make in ways.items():
                begin = time.process_time()
                small = make()
                part = partition_hypergraph(small.hypergraph if small else h, nparts, preset="fast", seed=seed)
                part = small.lift(part) if small else part
                taken = time.process_time() - begin
                m = evaluate_hypergraph(h, part, nparts)
                if seed:
                    found[name].append((taken, m.total_volume, m.imbalance))
        for name, rows in found.items():
            taken, volume, imbalance = (median(column) for column in zip(*rows, strict=True))
            out.append(f"| {nparts} | {name} | {taken:.3f} s | {volume:,.0f} | {100 * imbalance:.1f} % |")
    return out


def ideal_gain(share: float, gain: float) -> float:
    """Amdahl's bound: how much faster the whole is if a share of its time gets so many times faster.

    With as many threads as `gain` this is the ideal of section 5.1.3 of the source (Deveci 2015).
    """
    return 1 / ((1 - share) + share / gain)


@contextmanager
def clustering_timed() -> Iterator[list[float]]:
    """Seconds on the wall of every clustering that a partitioner makes meanwhile."""
    found: list[float] = []
    usual = levels.cluster_by

    def timed(*given: Any, **more: Any) -> Any:
        begin = time.perf_counter()
        made = usual(*given, **more)
        found.append(time.perf_counter() - begin)
        return made

    levels.cluster_by = timed
    try:
        yield found
    finally:
        levels.cluster_by = usual


def integrated(hypergraphs: dict[str, Hypergraph], repeats: int, nparts: int = 64) -> list[str]:
    """Rows of the fourth table: what clustering by two threads is worth in a whole partition, beside Amdahl's bound."""
    out = ["| hypergraph | method | share of clustering | its gain | bound of the whole | of two threads at best |",
           "| --- | --- | --- | --- | --- | --- |"]

    def run(h: Hypergraph, method: str, threads: int) -> tuple[float, float]:
        begin = time.perf_counter()
        with clustering_timed() as each:
            partition_hypergraph(h, nparts, coarsening=method, threads=threads, preset="fast")
        return sum(each), time.perf_counter() - begin

    for name, h in hypergraphs.items():
        for method, alone in BESIDE.items():
            ways = {"one": lambda h=h, m=alone: run(h, m, 1), "two": lambda h=h, m=method: run(h, m, 2)}
            runs = in_turn(ways, repeats)  # type: ignore[arg-type]
            one, two = (np.median(runs[way].results, axis=0) for way in ways)
            share, gain = one[0] / one[1], one[0] / two[0]
            out.append(f"| {name} | `{method}` | {share:.3f} | {gain:.2f} x | {ideal_gain(share, gain):.2f} x |"
                       f" {ideal_gain(share, 2):.2f} x |")
    return out


def main() -> None:
    """Print what is asked for."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("--repeats", type=int, default=15)
    parser.add_argument("--folder", type=Path, help="of hypergraph and graph files (.hgr, .graph)")
    parser.add_argument("--only", choices=("clustering", "sparsification", "partitions", "integrated"))
    given = parser.parse_args()
    before = os.getloadavg()[0]
    made = instances(given.folder) if given.only != "partitions" else {}
    tables = {"clustering": lambda: clustering(made, given.repeats),
              "sparsification": lambda: sparsification(made, given.repeats),
              "partitions": lambda: partitions(given.repeats),
              "integrated": lambda: integrated(made, max(1, given.repeats // 5))}
    for name, table in tables.items():
        if given.only in (None, name):
            print("\n".join(table()))
    print(f"load of the machine before and after: {before:.1f}, {os.getloadavg()[0]:.1f} on {os.cpu_count()} cores")


if __name__ == "__main__":
    main()
