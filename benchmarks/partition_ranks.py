"""Distributed graphs: the cut of `copart.mpi.partition` beside Multi-Jagged alone and the partitioner of one process.

    mpiexec -n RANKS python -m benchmarks.partition_ranks [GRAPH ...] [--k 16 64] [--eps 0.05] [--serial]

A graph is hexa-SIDE, tetra-CELLS or delaunay-POINTS (a unit cube of hexahedra or tetrahedra, Delaunay triangles of
random points); each rank takes as many rows of it.  Seconds are processor seconds of all ranks and those of the clock,
of the second call for a graph; ``--serial`` adds what rank 0 finds alone, by `multijagged+refine` and by k-way.
"""

from __future__ import annotations

import argparse
import time
from collections.abc import Callable
from typing import Any

import numpy as np
from mpi4py import MPI
from scipy.spatial import Delaunay

from copart.graph import Graph
from copart.kgggp_ml import partition as kway
from copart.kgggp_ml import refine
from copart.mesh import cube, dual_graph
from copart.metrics import edge_cut
from copart.mpi import partition
from copart.partitioner.multijagged import multijagged


def triangles(points: int) -> Graph:
    """Cells of the Delaunay triangulation of random points in a unit square."""
    at = np.random.default_rng(1).random((points, 2))
    cells = Delaunay(at)
    u, v = np.repeat(np.arange(len(cells.neighbors)), 3), cells.neighbors.ravel()
    graph = Graph.from_edges(len(cells.neighbors), u[v > u], v[v > u])
    return graph.replace(coords=at[cells.simplices].mean(axis=1))


def make(name: str) -> Graph:
    """A graph by its name."""
    kind, _, size = name.partition("-")
    number = int(size.replace("k", "000"))
    return triangles(number) if kind == "delaunay" else dual_graph(cube(kind, number))


def timed(call: Callable[[], Any]) -> tuple[Any, float, float]:
    """What a call returns, its processor seconds and those by the clock."""
    cpu, wall = time.process_time(), time.perf_counter()
    got = call()
    return got, time.process_time() - cpu, time.perf_counter() - wall


def main(arguments: list[str] | None = None) -> None:
    """Measure, and print a line of a Markdown table per graph and number of parts."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("graphs", nargs="*", default=["hexa-40", "tetra-200k", "delaunay-50k"])
    parser.add_argument("--k", nargs="+", type=int, default=[16, 64])
    parser.add_argument("--eps", type=float, default=0.05)
    parser.add_argument("--serial", action="store_true")
    args = parser.parse_args(arguments)
    comm = MPI.COMM_WORLD
    for name in args.graphs:
        graph = make(name)
        ends = np.arange(comm.size + 1) * graph.nvtxs // comm.size
        a, b = ends[comm.rank], ends[comm.rank + 1]
        first, last = graph.xadj[a], graph.xadj[b]
        rows = graph.xadj[a:b + 1] - first, graph.adjncy[first:last], graph.coords[a:b]
        for k in args.k:
            partition(comm, *rows, k, eps=args.eps)
            comm.Barrier()
            mine, cpu, wall = timed(lambda k=k, rows=rows: partition(comm, *rows, k, eps=args.eps))
            part, cpu = np.concatenate(comm.allgather(mine)), sum(comm.allgather(cpu))
            if comm.rank:
                continue
            boxes, alone, _ = timed(lambda k=k, graph=graph: multijagged(graph.coords, k).part)
            least = edge_cut(graph, boxes)
            line = [name, k, comm.size, least, f"{alone:.2f} s", f"{edge_cut(graph, part) / least:.3f}", f"{cpu:.2f} s",
                    f"{wall:.2f} s"]
            if args.serial:
                for call in (lambda k=k, graph=graph, boxes=boxes: refine(graph, boxes, k, eps=args.eps),
                             lambda k=k, graph=graph: kway(graph, k, eps=args.eps)):
                    found, seconds, _ = timed(call)
                    line += [f"{edge_cut(graph, found) / least:.3f}", f"{seconds:.2f} s"]
            print("| " + " | ".join(map(str, line)) + " |", flush=True)


if __name__ == "__main__":
    main()
