"""Rank reordering beside METIS: grids and FLUPS in parts of 128, cut, balance and time; the cuts of FLUPS by the model.

``python -m benchmarks.reorder grids``, ``flups``, ``reordered``, ``balance`` or ``objectives``. Times are of the
processor, and both partitioners run in turn in one process; ``*`` marks cuts of partitions that are out of balance.
"""

from __future__ import annotations

import argparse
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np

from benchmarks.rank_workloads import FLUPS_GRIDS, flups, flups_columns, halos
from copart.errors import ConfigError
from copart.graph import Graph
from copart.kgggp_ml import partition
from copart.mapping.ranks.communication import CommunicationGraph, communication_graph
from copart.mapping.ranks.kgg import grow
from copart.mapping.ranks.negative_cycles import refine
from copart.mapping.ranks.partitioners import PARTITIONERS, partition_exactly
from copart.mapping.ranks.reorder import OBJECTIVES, reorder_ranks
from copart.mesh import cube, dual_graph
from copart.metrics import edge_cut
from copart.plans.opening import single

#: Sides of the grids, and the cut of a tiling with 8 x 16 rectangles.
GRIDS = {(16, 16): 16, (16, 32): 48, (32, 32): 128, (32, 64): 288, (64, 64): 640, (64, 128): 1344, (128, 128): 2816}
METHODS = ("greedy", "rhem", "louvain", "louvain-queue", "bisection", "kgggp", "best")


def grid(rows: int, columns: int) -> Graph:
    """A grid with edges between horizontal and vertical neighbours."""
    ids = np.arange(rows * columns).reshape(rows, columns)
    return Graph.from_edges(ids.size, np.r_[ids[:-1].ravel(), ids[:, :-1].ravel()],
                            np.r_[ids[1:].ravel(), ids[:, 1:].ravel()])


def measure(graph: Graph, run: Callable[[int], Any], runs: int) -> tuple[float, float, int]:
    """Mean cut, mean seconds and number of perfectly balanced results over seeds 1, 2, ..."""
    k = graph.nvtxs // 128
    cuts, seconds, balanced = [], [], 0
    for seed in range(1, runs + 1):
        begin = time.process_time()
        part = run(seed)
        seconds.append(time.process_time() - begin)
        cuts.append(edge_cut(graph, part))
        balanced += bool((np.bincount(part, minlength=k) == 128).all())
    return float(np.mean(cuts)), float(np.mean(seconds)), balanced


def compare(name: str, graph: Graph, runs: int, reference: float, unit: float = 1.0) -> None:
    """One row for each method, METIS as it comes first."""
    cap = np.full(graph.nvtxs // 128, 128)
    columns: dict[str, Callable[[int], Any]] = {"METIS": lambda seed: PARTITIONERS["metis"](graph, cap, seed)}
    for method in METHODS:
        columns[method] = lambda seed, method=method: partition_exactly(graph, cap, method, seed=seed)
    base = None
    for label, run in columns.items():
        try:
            cut, seconds, balanced = measure(graph, run, runs)
        except ConfigError as error:
            print(f"{name} {label}: {error}", flush=True)
            continue
        base = base or (cut, seconds)
        mark = "" if balanced == runs else "*"
        print(f"{name:12} {label:14} cut {cut * unit:12.1f}{mark} ({cut / base[0]:.3f} x METIS, "
              f"{cut * unit / reference:.3f} x reference), balanced {balanced}/{runs}, {seconds * 1e3:8.2f} ms "
              f"({seconds / base[1]:.2f} x METIS)", flush=True)


def flups_graph(nodes: int, side: int, system: str) -> CommunicationGraph:
    """FLUPS on so many nodes, side^3 points a rank."""
    return communication_graph(flups(FLUPS_GRIDS[nodes], side**3 * 8), f"{system}-network")


def reordered(nodes: int, seed: int = 1) -> None:
    """Linear, column, greedy and best cut of FLUPS by the model, for both systems and sizes."""
    for system in ("lucia", "meluxina"):
        for side in (64, 96):
            found = flups_graph(nodes, side, system)
            linear, column = np.arange(128 * nodes) // 128, flups_columns(FLUPS_GRIDS[nodes])
            plain = partition_exactly(found.graph, np.full(nodes, 128), "greedy", seed=seed)
            begin = time.process_time()
            done = reorder_ranks(found, linear, seed=seed)
            seconds = time.process_time() - begin
            print(f"{nodes:4} nodes {system:9} {side}^3: linear {found.cut(linear):.0f}, "
                  f"column {found.cut(column):.0f}, greedy {found.cut(plain):.0f}, reordered {done.cut_after:.0f}"
                  f"{' (kept)' if done.kept else ''}, {seconds:.2f} s", flush=True)


def balance(runs: int) -> None:
    """How many runs of greedy and negative cycles are perfectly balanced, grids and FLUPS from 256 to 16384."""
    graphs = {f"{a}x{b}": grid(a, b) for a, b in GRIDS}
    graphs |= {f"flups {n}": flups_graph(n, 64, "lucia").graph for n in FLUPS_GRIDS if n > 1}
    for name, graph in graphs.items():
        cap = np.full(graph.nvtxs // 128, 128)

        def run(seed: int, graph: Graph = graph, cap: Any = cap) -> Any:
            return refine(graph, grow(graph, cap, seed=seed).part, cap, seed=seed).part

        cut, seconds, balanced = measure(graph, run, runs)
        print(f"{name:12} balanced {balanced}/{runs}, mean cut {cut:.1f}, {seconds * 1e3:.1f} ms", flush=True)


def objectives(sources: list[str]) -> None:
    """What nodes of 16 ranks send, by objective: halos of the 256 parts of a mesh each, and FLUPS."""
    cases = {"flups 8": flups(FLUPS_GRIDS[2], 64**3 * 8)}
    for source in sources:
        kind, _, size = source.partition("-")
        graph = dual_graph(cube(kind, int(size))) if kind in ("hexa", "tetra") else single(source)[0]
        cases[Path(source).name] = halos(graph, partition(graph, 256))
    print("| case | objective | cut, us | sent, us | busiest, us | pairs of nodes | most | CPU s |")
    print("|---" * 8 + "|")
    for name, messages in cases.items():
        pairs, node = communication_graph(messages), np.arange(messages.nranks) // 16
        for objective in OBJECTIVES:
            begin = time.process_time()
            found = reorder_ranks(pairs, node, objective=objective)
            seconds = time.process_time() - begin
            rows = [("(before)", found.cut_before, found.before, "")] if objective == "time" else []
            for what, cut, told, took in [*rows, (objective, found.cut_after, found.after, f"{seconds:.2f}")]:
                assert told is not None
                figures = f"{told.total:.0f} | {told.largest:.0f} | {told.pairs} | {told.most}"
                print(f"| {name} | {what} | {cut:.0f} | {figures} | {took} |", flush=True)


def main() -> None:
    """Run one of the parts."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("what", choices=["grids", "flups", "reordered", "balance", "objectives"])
    parser.add_argument("--meshes", nargs="*", default=["tetra-60000", "hexa-36"],
                        help="of objectives: hexa-SIDE, tetra-CELLS or a file of a mesh or graph")
    parser.add_argument("--runs", type=int, default=50)
    parser.add_argument("--largest", type=int, default=16384, help="most ranks")
    args = parser.parse_args()
    partition_exactly(grid(16, 16), [128, 128])  # the kernels are there before the clock starts
    for method in METHODS:
        partition_exactly(grid(16, 16), [128, 128], method)
    if args.what == "balance":
        balance(args.runs)
    elif args.what == "objectives":
        objectives(args.meshes)
    elif args.what == "grids":
        for (a, b), cut in GRIDS.items():
            if a * b <= args.largest:
                compare(f"{a}x{b}", grid(a, b), args.runs, cut)
    else:
        for nodes in FLUPS_GRIDS:
            if not 1 < nodes <= args.largest // 128:
                continue
            if args.what == "reordered":
                reordered(nodes)
            else:
                found = flups_graph(nodes, 64, "lucia")
                compare(f"flups {nodes}", found.graph, args.runs, found.cut(flups_columns(FLUPS_GRIDS[nodes])),
                        found.resolution)


if __name__ == "__main__":
    main()
