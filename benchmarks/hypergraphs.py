"""Clustering and sparsification of hypergraphs, measured: ``python -m benchmarks.hypergraphs``.

Prints two tables for docs/clustering.md: clusters by two threads beside the sequential ones, and identical nets found
by hashing beside sorting.  Ways are measured in turn, so that what else the machine does meets all of them alike; the
tables show medians.
"""

from __future__ import annotations

import argparse
import os
import time
from collections.abc import Callable
from statistics import median
from typing import Any

import numpy as np
from scipy.sparse import csr_array, kron

from copart.graph import Graph
from copart.hypergraph import Hypergraph
from copart.mesh import cube, dual_graph
from copart.partitioner.hypergraphs import cluster, remove_identical_nets

#: Methods by threads, and the sequential one that each stands beside.
BESIDE = {"locks": "hcm", "resolution": "hcm", "parallel-hcc": "hcc"}


def boxes(side: int, reach: int = 1) -> Hypergraph:
    """Column nets of a grid of side^3 boxes, each with its 27 neighbours (reach 1, at the border fewer)."""
    line = csr_array(sum(np.eye(side, k=k, dtype=np.int8) for k in range(-reach, reach + 1)))
    return Hypergraph.from_scipy(kron(kron(line, line), line, format="csr"))


def blocks(graph: Graph, size: int) -> Hypergraph:
    """Column nets of a matrix with a dense block of `size` unknowns for each vertex and edge of a graph."""
    structure = graph.to_scipy() + csr_array(np.eye(1)) if graph.nvtxs == 1 else graph.to_scipy()
    structure = structure + csr_array((np.ones(graph.nvtxs), (range(graph.nvtxs),) * 2), shape=structure.shape)
    return Hypergraph.from_scipy(kron(structure, np.ones((size, size)), format="csr"))


def instances() -> dict[str, Hypergraph]:
    """Hypergraphs of a million pins and more."""
    tetra = dual_graph(cube("tetra", 250_000))
    return {"cube of hexahedra, 60^3 cells": Hypergraph.column_net(dual_graph(cube("hexa", 60))),
            "cube of tetrahedra, 250 000 cells": Hypergraph.column_net(tetra),
            "grid with 27-point stencil, 45^3": boxes(45),
            "shell-like matrix, 5 x 5 blocks": blocks(dual_graph(cube("tetra", 12_000)), 5)}


def in_turn(ways: dict[str, Callable[[], Any]], repeats: int) -> tuple[dict[str, list[float]], dict[str, list[Any]]]:
    """Seconds and results of each way, one after the other, `repeats` times over; the first round is left out."""
    seconds: dict[str, list[float]] = {name: [] for name in ways}
    results: dict[str, list[Any]] = {name: [] for name in ways}
    for round_ in range(repeats + 1):
        for name, way in ways.items():
            begin = time.perf_counter()
            made = way()
            if round_:
                seconds[name].append(time.perf_counter() - begin)
                results[name].append(made)
    return seconds, results


def clustering(repeats: int, order: str) -> list[str]:
    """Rows of the first table."""
    out = ["| hypergraph | pins | method | sequential | 1 thread | 2 threads | faster | quality | cardinality |"
           " conflicts |", "| --- | --- | --- | --- | --- | --- | --- | --- | --- | --- |"]
    for name, h in instances().items():
        _ = h.nets
        bound = max(int(h.vwgt.max()) * 2, 32)
        for method, alone in BESIDE.items():
            limit = {"max_weight": bound} if alone == "hcc" else {}

            def way(which: str, threads: int, h: Hypergraph = h, limit: dict[str, int] = limit) -> Callable[[], Any]:
                return lambda: cluster(h, which, order=order, threads=threads, **limit)  # type: ignore[arg-type]

            seconds, made = in_turn({"alone": way(alone, 1), "1": way(method, 1), "2": way(method, 2)}, repeats)
            t = {key: median(values) for key, values in seconds.items()}
            faster = median(a / b for a, b in zip(seconds["alone"], seconds["2"], strict=True))
            first = made["alone"][0]
            quality = median(one.quality(h) for one in made["2"]) / first.quality(h)
            cardinality = median(one.cardinality for one in made["2"]) / first.cardinality
            out.append(f"| {name} | {h.npins:,} | {method} | {alone} {t['alone']:.3f} s | {t['1']:.3f} s |"
                       f" {t['2']:.3f} s | {faster:.2f} x | {quality:.3f} | {cardinality:.3f} |"
                       f" {max(one.conflicts for one in made['2'])} |")
    return out


def sparsification(repeats: int) -> list[str]:
    """Rows of the second table."""
    out = ["| hypergraph | nets | left | checksum | sorting | hashing | hashing / sorting | occupancy |"
           " false positives: sorting, hashing |", "| --- | --- | --- | --- | --- | --- | --- | --- | --- |"]
    for name, h in instances().items():
        _ = h.nets
        for checksum in ("cs1", "cs2", "cs3", "murmur"):
            ways = {way: (lambda way=way, c=checksum, h=h: remove_identical_nets(h, way=way, checksum=c, directed=False))
                    for way in ("sort", "hash")}
            seconds, made = in_turn(ways, repeats)
            t = {key: median(values) for key, values in seconds.items()}
            found = made["hash"][0]
            out.append(f"| {name} | {h.nnets:,} | {found.hypergraph.nnets:,} | {checksum} | {t['sort']:.3f} s |"
                       f" {t['hash']:.3f} s | {t['hash'] / t['sort']:.2f} | {found.occupancy:.3f} |"
                       f" {made['sort'][0].false_positives:,}, {found.false_positives:,} |")
    return out


def main() -> None:
    """Print what is asked for."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("--repeats", type=int, default=9)
    parser.add_argument("--order", default="random")
    parser.add_argument("--only", choices=("clustering", "sparsification"))
    given = parser.parse_args()
    before = os.getloadavg()[0]
    if given.only != "sparsification":
        print("\n".join(clustering(given.repeats, given.order)))
    if given.only != "clustering":
        print("\n".join(sparsification(given.repeats)))
    print(f"load of the machine before and after: {before:.1f}, {os.getloadavg()[0]:.1f} on {os.cpu_count()} cores")


if __name__ == "__main__":
    main()
