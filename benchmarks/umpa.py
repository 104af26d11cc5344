"""UMPa beside Mt-KaHyPar and METIS on the column-net hypergraphs of meshes: what the parts send, and the time it takes.

    python -m benchmarks.umpa [--graphs hexa-25 tetra-40k ...] [--k 16 64 128] [--seeds 3] [--eps 0.05]
                              [--preset default] [--threads 2] [--csv umpa_runs.csv]

Rows go to the CSV as they are measured; the means over the seeds are printed at the end, and what each objective is
for over Mt-KaHyPar's figure, with the volume over Mt-KaHyPar's in brackets. Peers are measured where they
import (``mtkahypar``, ``pymetis``): Mt-KaHyPar with its objective km1, which is the volume, and METIS minimising the
volume. Seconds and CPU seconds are of the call that partitions, the input in the tool's own form; ours are compiled
before. All figures are counted by `copart.metrics.evaluate_hypergraph`.
"""

from __future__ import annotations

import argparse
import csv
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import numpy as np

from copart.formats import read_graph, read_hypergraph
from copart.graph import Graph
from copart.hypergraph import Hypergraph
from copart.mesh import cube, dual_graph
from copart.metrics import evaluate_hypergraph
from copart.partitioner.umpa import OBJECTIVES, partition_hypergraph

FIELDS = ["graph", "k", "eps", "tool", "seed", "volume", "max_volume", "messages", "max_messages", "imbalance",
          "seconds", "cpu_s"]
#: What each objective has least of.
OWN = {"volume": "volume", "max-volume": "max_volume", "messages": "messages", "max-messages": "max_messages"}
#: A partition, the seconds and the CPU seconds of making it, from a seed.
Run = Callable[[int], tuple[Any, float, float]]


def timed(call: Callable[[], Any]) -> tuple[Any, float, float]:
    """What a call returns, and the seconds and CPU seconds it takes."""
    wall, cpu = time.perf_counter(), time.process_time()
    got = call()
    return got, time.perf_counter() - wall, time.process_time() - cpu


def ours(h: Hypergraph, k: int, eps: float, threads: int, preset: str) -> Iterator[tuple[str, Run]]:
    """Every objective."""
    for name in OBJECTIVES:
        def run(seed: int, name: str = name) -> tuple[Any, float, float]:
            return timed(lambda: partition_hypergraph(h, k, objective=name, eps=eps, seed=seed, threads=threads,
                                                      preset=preset))
        yield f"copart {name}", run


def mtkahypar(h: Hypergraph, k: int, eps: float, threads: int) -> Iterator[tuple[str, Run]]:
    """Mt-KaHyPar's default preset, where it is installed."""
    try:
        import mtkahypar as kahypar
    except ImportError:
        return
    mtk = kahypar.initialize(threads)
    nets = [h.net(e).tolist() for e in range(h.nnets)]
    weights, costs = h.weights.tolist(), h.cost.tolist()

    def run(seed: int) -> tuple[Any, float, float]:
        context = mtk.context_from_preset(kahypar.PresetType.DEFAULT)
        context.set_partitioning_parameters(k, eps, kahypar.Objective.KM1)
        context.logging = False
        kahypar.set_seed(seed)
        made = mtk.create_hypergraph(context, h.nvtxs, h.nnets, nets, weights, costs)
        found, wall, cpu = timed(lambda: made.partition(context))
        return [found.block_id(v) for v in range(h.nvtxs)], wall, cpu
    yield "Mt-KaHyPar default", run


def metis(graph: Graph, k: int, eps: float) -> Iterator[tuple[str, Run]]:
    """METIS k-way minimising the volume, where pymetis is installed."""
    try:
        import pymetis
    except ImportError:
        return
    adjacency = pymetis.CSRAdjacency(graph.xadj.astype(np.int64), graph.adjncy.astype(np.int64))

    def run(seed: int) -> tuple[Any, float, float]:
        asked = pymetis.Options(seed=seed, objtype=pymetis.ObjType.VOL, ufactor=round(1000 * eps))
        (_, part), wall, cpu = timed(lambda: pymetis.part_graph(k, adjacency, recursive=False, options=asked))
        return part, wall, cpu
    yield "METIS volume", run


def delaunay(points: int) -> Graph:
    """Tetrahedra of the Delaunay triangulation of points in a cube that are denser towards one corner."""
    from scipy.spatial import Delaunay

    cells = Delaunay(np.random.default_rng(1).random((points, 3)) ** 1.5)
    u = np.repeat(np.arange(len(cells.neighbors)), 4)
    v = cells.neighbors.ravel()
    return Graph.from_edges(len(cells.neighbors), u[v > u], v[v > u])


def power_law(n: int, each: int = 4) -> Graph:
    """Preferential attachment: a new vertex is tied to `each` ends of edges drawn at random."""
    rng = np.random.default_rng(1)
    ends = list(range(each))
    edges = set()
    for v in range(each, n):
        for u in {ends[i] for i in rng.integers(0, len(ends), each)}:
            edges.add((u, v))
            ends += [u, v]
    u, v = np.array(sorted(edges)).T
    return Graph.from_edges(n, u, v)


def read(name: str) -> tuple[Graph | None, Hypergraph]:
    """A hypergraph, and the graph that it is the column-net hypergraph of, if any."""
    if name.endswith(".hgr"):
        return None, read_hypergraph(name)
    kind, _, size = name.partition("-")
    makers: dict[str, Callable[[int], Graph]] = {"delaunay": delaunay, "powerlaw": power_law}
    if kind in ("hexa", "tetra"):
        graph = dual_graph(cube(kind, int(size.replace("k", "000"))))
    elif kind in makers and size:
        graph = makers[kind](int(size.replace("k", "000")))
    else:
        graph = read_graph(name)
    return graph, Hypergraph.column_net(graph)


def measure(graphs: list[str], counts: list[int], seeds: int, eps: float, threads: int,
            preset: str) -> Iterator[dict[str, Any]]:
    """One row per graph, number of parts, seed and tool; the tools are interleaved."""
    for name in graphs:
        graph, h = read(name)
        for k in counts:
            tools = [*ours(h, k, eps, threads, preset), *mtkahypar(h, k, eps, threads),
                     *(metis(graph, k, eps) if graph is not None else ())]
            for seed in range(1, seeds + 1):
                for tool, run in tools:
                    part, wall, cpu = run(seed)
                    found = evaluate_hypergraph(h, part, k)
                    figures = [found.total_volume, found.max_send, found.total_messages, found.max_messages,
                               round(found.imbalance, 4), round(wall, 3), round(cpu, 3)]
                    yield dict(zip(FIELDS, [Path(name).name, k, eps, tool, seed, *figures], strict=True))


def warm(preset: str, threads: int) -> None:
    """Compile everything before it is timed."""
    h = Hypergraph.column_net(dual_graph(cube("hexa", 12)))
    for name in OBJECTIVES:
        partition_hypergraph(h, 8, objective=name, preset=preset, threads=threads)


def table(rows: list[dict[str, Any]]) -> list[str]:
    """Means over the seeds as lines of a Markdown table."""
    lines = ["| " + " | ".join(f for f in FIELDS if f != "seed") + " |", "|---" * (len(FIELDS) - 1) + "|"]
    for key in dict.fromkeys((r["graph"], r["k"], r["eps"], r["tool"]) for r in rows):
        same = [r for r in rows if (r["graph"], r["k"], r["eps"], r["tool"]) == key]
        means = [float(np.mean([r[f] for r in same])) for f in FIELDS[5:]]
        said = [f"{x:.0f}" if x > 100 else f"{x:.3g}" for x in means]
        lines.append("| " + " | ".join([*map(str, key), *said]) + " |")
    return lines


def relative(rows: list[dict[str, Any]], peer: str = "Mt-KaHyPar default") -> list[str]:
    """What each objective has least of, and its volume, over the peer's: lines of a Markdown table, of means."""
    lines = ["| graph | k | " + " | ".join(f"{name}, {OWN[name]}" for name in OBJECTIVES) + " |",
             "|---" * (2 + len(OBJECTIVES)) + "|"]
    for graph, k in dict.fromkeys((r["graph"], r["k"]) for r in rows):
        def mean(tool: str, field: str, graph: str = graph, k: int = k) -> float:
            return float(np.mean([r[field] for r in rows if (r["graph"], r["k"], r["tool"]) == (graph, k, tool)]))
        if not any((r["graph"], r["k"], r["tool"]) == (graph, k, peer) for r in rows):
            continue
        cells = []
        for name in OBJECTIVES:
            own, volume = (mean(f"copart {name}", f) / mean(peer, f) for f in (OWN[name], "volume"))
            cells.append(f"{own:.2f}" if name == "volume" else f"{own:.2f} ({volume:.2f})")
        lines.append(f"| {graph} | {k} | " + " | ".join(cells) + " |")
    return lines


def main(arguments: list[str] | None = None) -> None:
    """Measure, write rows, print means."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--graphs", nargs="+", default=["hexa-25", "hexa-70", "tetra-40k", "tetra-487k"],
                        metavar="KIND-SIZE", help="hexa-SIDE, tetra-CELLS, delaunay-POINTS, powerlaw-VERTICES, "
                             "or a file of a graph or hypergraph")
    parser.add_argument("--k", nargs="+", type=int, default=[16, 64, 128])
    parser.add_argument("--seeds", type=int, default=3)
    parser.add_argument("--eps", type=float, default=0.05)
    parser.add_argument("--threads", type=int, default=2)
    parser.add_argument("--preset", default="default")
    parser.add_argument("--csv", default="umpa_runs.csv")
    args = parser.parse_args(arguments)
    warm(args.preset, args.threads)
    rows = []
    with open(args.csv, "w", newline="", encoding="utf-8") as file:
        writer = csv.DictWriter(file, FIELDS)
        writer.writeheader()
        for row in measure(args.graphs, args.k, args.seeds, args.eps, args.threads, args.preset):
            writer.writerow(row)
            file.flush()
            rows.append(row)
    print("\n".join([*table(rows), "", *relative(rows)]))


if __name__ == "__main__":
    main()
