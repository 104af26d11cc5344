"""Grids whose cells are numbered in several ways, beside METIS k-way: ``python -m benchmarks.numbering``.

Matching in the order of the vertices keeps boxes only where these are numbered along the rows of a grid.  Meshes come
in other orders, too: nearby cells in any order, as an octree or a renumbering leaves them, layer by layer, or part by
part of an earlier decomposition.  All graphs of a shape are the same grid, and METIS hardly sees a difference.  Prints
a table of cut and time over those of METIS, means over the seeds.
"""

from __future__ import annotations

import argparse
import time
from collections.abc import Sequence
from pathlib import Path

import numpy as np
from numpy.typing import NDArray
from scipy.sparse.csgraph import reverse_cuthill_mckee

from copart.graph import Graph
from copart.metrics import edge_cut

from .graphs import BenchmarkGraph
from .peers import TOOLS, Task
from .topology import grid

SHAPES = {(73, 51, 40): 28, (640, 333): 50, (120, 100, 80): 64, (60, 60, 60): 32}
"""Grids and numbers of parts."""

METIS, OURS = "metis-kway", ("copart-fast", "copart-default", "copart-strong")


def orders(graph: Graph, shape: tuple[int, ...]) -> dict[str, NDArray[np.int64]]:
    """The cells in the orders in which they are numbered."""
    n, rng = graph.nvtxs, np.random.default_rng(11)
    place = np.arange(n)
    index = np.unravel_index(place, shape)
    block = np.ravel_multi_index([i // -(-side // 3) for i, side in zip(index, shape, strict=True)], (3,) * len(shape))
    leaf = np.ravel_multi_index([i // 8 for i in index], [-(-side // 8) for side in shape])
    task = Task(_named(graph, "parts"), 200, 0.05, 1, 1)
    return {
        "along the rows": place,
        "27 blocks" if len(shape) == 3 else "9 blocks": np.lexsort((place, block)),
        "reverse Cuthill-McKee": reverse_cuthill_mckee(graph.to_scipy(), symmetric_mode=True).astype(np.int64),
        "nearby cells (50) in any order": np.argsort(place + rng.uniform(0, 50, n)),
        "nearby cells (5,000) in any order": np.argsort(place + rng.uniform(0, 5000, n)),
        "layer by layer, in any order": np.lexsort((rng.random(n), index[0])),
        "leaves of 8 x 8 (x 8), in any order": np.lexsort((rng.random(n), leaf)),
        "part by part of 200": np.lexsort((place, np.asarray(TOOLS[METIS].adapter(task)()))),
        "any order": rng.permutation(n),
    }


def renumbered(graph: Graph, order: NDArray[np.int64]) -> Graph:
    """The same graph, numbered in this order."""
    new = np.empty(graph.nvtxs, np.int64)
    new[order] = np.arange(graph.nvtxs)
    u, v, _ = graph.edges()
    return Graph.from_edges(graph.nvtxs, new[u], new[v])


def _named(graph: Graph, name: str) -> BenchmarkGraph:
    return BenchmarkGraph(name, graph.xadj.astype(np.int32), graph.adjncy, Path())


def measured(graph: Graph, tool: str, k: int, seeds: Sequence[int]) -> tuple[float, float]:
    """Mean cut and seconds of a tool."""
    cuts, seconds = [], []
    for seed in seeds:
        call = TOOLS[tool].adapter(Task(_named(graph, "grid"), k, 0.05, seed, 1))
        begin = time.perf_counter()
        part = np.asarray(call())
        seconds.append(time.perf_counter() - begin)
        cuts.append(edge_cut(graph, part))
    return float(np.mean(cuts)), float(np.mean(seconds))


def beside_metis(graph: Graph, k: int, seeds: Sequence[int]) -> str:
    """The cells of a row: cut and time of each of our presets over those of METIS."""
    cut, seconds = measured(graph, METIS, k, seeds)
    ours = (measured(graph, one, k, seeds) for one in OURS)
    return " | ".join(f"{c / cut:.3f} / {s / seconds:.2f}" for c, s in ours)


def main() -> None:
    """Print the table."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--seeds", type=int, default=3)
    seeds = range(1, parser.parse_args().seeds + 1)
    print(f"| grid | parts | order | {' | '.join(OURS)} |\n| --- | ---: | --- |{' ---: |' * len(OURS)}")
    for shape, k in SHAPES.items():
        rows = grid(*shape)
        for name, order in orders(rows, shape).items():
            graph = renumbered(rows, order)
            print(f"| {' x '.join(map(str, shape))} | {k} | {name} | {beside_metis(graph, k, seeds)} |", flush=True)


if __name__ == "__main__":
    main()
