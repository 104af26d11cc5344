"""Mappings onto scattered nodes, measured: ``python -m benchmarks.topology [stencil] [parts] [time]``.

Stencils of 4,096 to 65,536 tasks on nodes of a torus in use, by coordinates and by the task graph; parts of meshes as
tasks on three allocations; and times of single methods, warm.  Figures are hops and congestion by the static routes of
the torus, no times of runs.  docs/allocations.md shows the results.
"""

from __future__ import annotations

import sys
import time

import numpy as np

from copart.graph import Graph
from copart.kgggp_ml import partition
from copart.mapping.allocations import scattered, sparsity
from copart.mapping.congestion import TorusNetwork
from copart.mapping.machine import Machine
from copart.mapping.tasks import TaskGraph
from copart.mapping.topology import blocks, evaluate_tasks, map_tasks

#: As of Gemini: two nodes to a router, 16 processes to a node; half of the machine is busy.
NODE = {"nodes_per_point": 2, "slots": 16}
SEEDS = (1, 2, 3)
STENCILS = {(16, 16, 16): (12, 12, 12), (32, 16, 32): (16, 12, 24), (32, 64, 32): (24, 24, 24)}
GRAPH_METHODS = ("ug", "uwh", "uwh-th", "umc", "ummc", "tmap", "search", "search-mc")
SHOWN = ("weighted_hops", "total_hops", "max_congestion", "max_message_congestion")


def stencil(*dims: int) -> tuple[TaskGraph, np.ndarray]:
    """A grid of tasks that write to their nearest neighbours, as MiniGhost's; and their coordinates."""
    ids = np.arange(int(np.prod(dims))).reshape(dims, order="F")
    u = np.concatenate([np.delete(ids, -1, axis).ravel() for axis in range(len(dims))])
    v = np.concatenate([np.delete(ids, 0, axis).ravel() for axis in range(len(dims))])
    tasks = TaskGraph(ids.size, np.concatenate([u, v]), np.concatenate([v, u]))
    return tasks, np.stack(np.unravel_index(np.arange(ids.size), dims, order="F"), 1).astype(float)


def grid(*shape: int) -> Graph:
    """A grid of cells, with their coordinates."""
    ids = np.arange(int(np.prod(shape))).reshape(shape)
    u = np.concatenate([np.delete(ids, -1, axis).ravel() for axis in range(len(shape))])
    v = np.concatenate([np.delete(ids, 0, axis).ravel() for axis in range(len(shape))])
    return Graph.from_edges(ids.size, u, v).replace(coords=np.stack(np.unravel_index(ids.ravel(), shape), 1) * 1.0)


def cloud(n: int, dim: int, seed: int) -> Graph:
    """The Delaunay mesh of random points."""
    return triangulated(np.random.default_rng(seed).random((n, dim)))


def triangulated(points: np.ndarray) -> Graph:
    """The Delaunay mesh of points (n, dim), with their coordinates."""
    from scipy.spatial import Delaunay

    n, dim = points.shape
    simplices = Delaunay(points).simplices
    pairs = [simplices[:, [i, j]] for i in range(dim + 1) for j in range(i)]
    edges = np.unique(np.sort(np.concatenate(pairs), axis=1), axis=0)
    # one edge each, however many simplices share it
    return Graph.from_edges(n, edges[:, 0], edges[:, 1]).replace(coords=points)


def meshes() -> dict[str, Graph]:
    """Five meshes: in the plane and in space, regular and not."""
    return {"grid 2D": grid(400, 400), "grid 3D": grid(60, 60, 50), "long box": grid(200, 40, 20),
            "Delaunay 2D": cloud(160_000, 2, 1), "Delaunay 3D": cloud(60_000, 3, 2)}


def stencils() -> None:
    """Average hops of stencils as jobs and machines grow."""
    print("tasks,method,average hops,over default,messages on worst link,unseen share,seconds")
    for dims, torus in STENCILS.items():
        tasks, coords = stencil(*dims)
        nhosts = tasks.ntasks // 16
        rows: dict[str, list[tuple[float, ...]]] = {}
        for seed in SEEDS:
            job = scattered(TorusNetwork(torus), nhosts, fill=0.6, run=32, seed=seed, **NODE)
            default = 0.0
            for method in ("default", "group", "geometric-plain", "geometric-rotated", "geometric"):
                begin = time.perf_counter()
                place = blocks(dims) if method == "group" else map_tasks(tasks, job, method, coords=coords, threads=2)
                took = time.perf_counter() - begin
                found = evaluate_tasks(tasks, job, place)
                default = default or found.average_hops
                rows.setdefault(method, []).append((found.average_hops, found.average_hops / default,
                                                    found.max_message_congestion,
                                                    found.unseen_messages / found.messages, took))
        for method, values in rows.items():
            mean = np.mean(values, axis=0)
            print(f"{tasks.ntasks},{method},{mean[0]:.3f},{mean[1]:.3f},{mean[2]:.0f},{mean[3]:.3f},{mean[4]:.2f}",
                  flush=True)


def allocations(nhosts: int) -> list[Machine]:
    """Three allocations on tori of which half is busy."""
    torus = (10, 8, 8) if nhosts <= 64 else (17, 8, 24)
    return [scattered(TorusNetwork(torus), nhosts, fill=0.5, seed=seed, **NODE) for seed in SEEDS]


def parts() -> None:
    """Parts of meshes as tasks: every metric over that of DEF, geometric means."""
    for ntasks in (1024, 4096):
        ratios: dict[tuple[str, str], list[float]] = {}
        seconds: dict[str, list[float]] = {}
        for graph in meshes().values():
            tasks = TaskGraph.from_partition(graph, partition(graph, ntasks, preset="fast", strict=False), ntasks)
            for job in allocations(ntasks // 16):
                before = evaluate_tasks(tasks, job, map_tasks(tasks, job, "default")).to_dict()
                for method in GRAPH_METHODS:
                    begin = time.perf_counter()
                    place = map_tasks(tasks, job, method)
                    seconds.setdefault(method, []).append(time.perf_counter() - begin)
                    after = evaluate_tasks(tasks, job, place).to_dict()
                    for key in SHOWN:
                        ratios.setdefault((method, key), []).append(after[key] / before[key])
        mean = np.mean([sparsity(job) for job in allocations(ntasks // 16)])
        print(f"{ntasks} tasks on {ntasks // 16} nodes, sparsity {mean:.2f}, over default:")
        print("method,WH,TH,MC,MMC,seconds (median)")
        for method in GRAPH_METHODS:
            shown = [f"{np.exp(np.mean(np.log(ratios[method, key]))):.3f}" for key in SHOWN]
            print(f"{method},{','.join(shown)},{np.median(seconds[method]):.2f}", flush=True)


def times() -> None:
    """Seconds of single methods for 4,096 tasks on 256 nodes of 16, and on 4,096 nodes of one; the second call."""
    tasks = TaskGraph.from_graph(grid(16, 16, 16))
    for nhosts, slots in ((256, 16), (4096, 1)):
        for method in ("uwh", "umc", "ummc", "tmap", "search"):
            took = 0.0
            for _ in range(2):
                job = scattered(TorusNetwork((17, 8, 24)), nhosts, fill=0.3, nodes_per_point=2, slots=slots)
                begin = time.perf_counter()
                map_tasks(tasks, job, method)
                took = time.perf_counter() - begin
            print(f"{nhosts} nodes of {slots},{method},{took:.2f} s", flush=True)


if __name__ == "__main__":
    WHAT = {"stencil": stencils, "parts": parts, "time": times}
    for name in sys.argv[1:] or WHAT:
        WHAT[name]()
