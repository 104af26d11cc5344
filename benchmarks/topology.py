"""Mappings onto scattered nodes, measured: ``python -m benchmarks.topology [NAME ...]``, of all below or of some.

Stencils of 4,096 to 65,536 tasks on nodes of a torus in use, by coordinates and by the task graph; parts of meshes as
tasks on three allocations; coupled plans of 1,024 processes on these, by phase; times of single methods, warm; and
SCOTCH on the same nodes (`benchmarks.mapping` says how it is called).  Figures are hops and congestion by the static
routes of the torus, no times of runs.  docs/allocations.md shows the results.
"""

from __future__ import annotations

import sys
import time
from collections.abc import Callable
from functools import partial
from itertools import permutations

import numpy as np

from copart.graph import Graph
from copart.kgggp_ml import partition
from copart.mapping.allocations import scattered, sparsity
from copart.mapping.congestion import TorusNetwork
from copart.mapping.coupled.placed import Placed, placed
from copart.mapping.coupled.placements import place
from copart.mapping.coupled.processes import PHASES, Processes
from copart.mapping.machine import Machine
from copart.mapping.one_to_one import place_processes
from copart.mapping.sites import Sites
from copart.mapping.tasks import TaskGraph
from copart.mapping.topology import BOUNDS, blocks, evaluate_tasks, map_tasks
from copart.mesh import cube
from copart.mesh.generated.tubes import cylinder, tube
from copart.names import TaskMethod
from copart.plans.plan import Plan, plan
from copart.plans.requests import Site

#: As of Gemini: two nodes to a router, 16 processes to a node; half of the machine is busy.
NODE = {"nodes_per_point": 2, "slots": 16}
SEEDS = (1, 2, 3)
STENCILS = ((16, 16, 16), (32, 16, 32), (32, 64, 32))
#: One machine for jobs of all sizes, half of it busy; and, by job, machines that grow with it, more of them busy.
MACHINE = (16, 12, 24)
GROWING = ((12, 12, 12), (16, 12, 24), (24, 24, 24))
GRAPH_METHODS = ("ug", "uwh", "uwh-th", "umc", "ummc", "tmap", "search", "search-mc")
COUPLED_METHODS: tuple[TaskMethod, ...] = ("uwh", "umc", "search", "search-mc", "geometric")
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


def unavoidable(dims: tuple[int, ...], block: tuple[int, ...]) -> float:
    """Share of the messages of a stencil that leave blocks of tasks: average hops if all of these took a single one."""
    cut, every = (sum(int(np.prod(dims)) // d * (d // b - 1) for d, b in zip(dims, size, strict=True))
                  for size in (block, (1,) * len(dims)))
    return cut / every


def stencils() -> None:
    """Average hops of stencils as jobs grow: on one machine, and on machines that grow with them."""
    # the tasks of a router, and the blocks of them that send least
    blocks_of_router = set(permutations((2, 4, 4)))
    print("machine,tasks,method,average hops,over default,over one hop per message that must leave its router,"
          "messages on worst link,unseen share,seconds")
    for dims, growing in zip(STENCILS, GROWING, strict=True):
        tasks, coords = stencil(*dims)
        least = min(unavoidable(dims, block) for block in blocks_of_router)
        for torus, fill in ((MACHINE, 0.5), (growing, 0.6)):
            rows: dict[str, list[tuple[float, ...]]] = {}
            for seed in SEEDS:
                job = scattered(TorusNetwork(torus), tasks.ntasks // 16, fill=fill, run=32, seed=seed, **NODE)
                default = 0.0
                for method in ("default", "group", "geometric-plain", "geometric-rotated", "geometric-shifted",
                               "geometric"):
                    begin = time.perf_counter()
                    place = blocks(dims) if method == "group" else map_tasks(tasks, job, method, coords=coords,
                                                                             threads=2)
                    took = time.perf_counter() - begin
                    found = evaluate_tasks(tasks, job, place)
                    default = default or found.average_hops
                    rows.setdefault(method, []).append((found.average_hops, found.average_hops / default,
                                                        found.average_hops / least, found.max_message_congestion,
                                                        found.unseen_messages / found.messages, took))
            for method, values in rows.items():
                mean = np.mean(values, axis=0)
                print(f"{'x'.join(map(str, torus))},{tasks.ntasks},{method},{mean[0]:.3f},{mean[1]:.3f},{mean[2]:.2f},"
                      f"{mean[3]:.0f},{mean[4]:.3f},{mean[5]:.2f}", flush=True)


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
                    begin = time.process_time()
                    place = map_tasks(tasks, job, method)
                    seconds.setdefault(method, []).append(time.process_time() - begin)
                    after = evaluate_tasks(tasks, job, place).to_dict()
                    for key in SHOWN:
                        ratios.setdefault((method, key), []).append(after[key] / before[key])
        mean = np.mean([sparsity(job) for job in allocations(ntasks // 16)])
        print(f"{ntasks} tasks on {ntasks // 16} nodes, sparsity {mean:.2f}, over default:")
        print("method,WH,TH,MC,MMC,processor seconds (median)")
        for method in GRAPH_METHODS:
            shown = [f"{np.exp(np.mean(np.log(ratios[method, key]))):.3f}" for key in SHOWN]
            print(f"{method},{','.join(shown)},{np.median(seconds[method]):.2f}", flush=True)


def coupled_plans() -> dict[str, Plan]:
    """Plans of 1,024 processes: on a face, around a pipe, three in a row, and in all of a common volume."""
    row = [cube("hexa", n, offset=(i, 0, 0)) for i, n in enumerate((24, 20, 24))]
    where = Site(allocations(64)[0], "linear")
    return {"cubes": plan(cube("hexa", 24), cube("hexa", 32, offset=(1, 0, 0)), parts=(384, 640), site=where),
            "pipe": plan(cylinder(cells=(16, 80)), tube(cells=(4, 64, 80)), parts=(512, 512), site=where),
            "three cubes": plan(*row, parts=(384, 256, 384), site=where),
            "volume": plan(cube("hexa", 24), cube("hexa", 28), parts=(448, 576), interedges="overlap", site=where)}


def along_tree(of: Processes, job: Machine) -> Placed:
    """Along the tree of hosts alone."""
    graph = of.graph(of.equal_weights())
    return placed(of, job, place_processes(graph, job, method="multisection", seed=1))


#: Ways to place coupled plans.
COUPLED: dict[str, Callable[[Processes, Machine], Placed]] = {
    "tree": along_tree, "usual": place, **{name: partial(place, method=name) for name in COUPLED_METHODS},
    **{f"auto {bound}": partial(place, method="auto", bound=bound) for bound in BOUNDS}}


def coupled() -> None:
    """Every metric of every phase of coupled plans over that of the linear order: means, and the worst MC."""
    print("plan,placement,phase,WH,TH,MC,MMC,worst MC,seconds")
    for name, made in coupled_plans().items():
        of = made.placements[0].processes
        found: dict[tuple[str, str], list[list[float]]] = {}
        for job in allocations(64):
            before = place(of, job, "linear").routes
            assert before is not None
            for label, make in COUPLED.items():
                begin = time.perf_counter()
                after = make(of, job).routes
                took = time.perf_counter() - begin
                assert after is not None
                for phase in (*PHASES, "both"):
                    a, b = before[phase].to_dict(), after[phase].to_dict()
                    found.setdefault((label, phase), []).append([*(b[key] / a[key] for key in SHOWN), took])
        for (label, phase), rows in found.items():
            mean, worst = np.mean(rows, axis=0), max(row[2] for row in rows)
            shown = ",".join(f"{x:.3f}" for x in (*mean[:-1], worst))
            print(f"{name},{label},{phase},{shown},{np.median([row[-1] for row in rows]):.2f}", flush=True)


def times() -> None:
    """Processor seconds of methods for 4,096 tasks on 256 nodes of 16, and on 4,096 nodes of one; the second call."""
    tasks = TaskGraph.from_graph(grid(16, 16, 16))
    for nhosts, slots in ((256, 16), (4096, 1)):
        for method in ("uwh", "umc", "ummc", "tmap", "search"):
            took = 0.0
            for _ in range(2):
                job = scattered(TorusNetwork((17, 8, 24)), nhosts, fill=0.3, nodes_per_point=2, slots=slots)
                begin = time.process_time()
                map_tasks(tasks, job, method)
                took = time.process_time() - begin
            print(f"{nhosts} nodes of {slots},{method},{took:.2f} s", flush=True)


def beside_scotch() -> None:
    """Data times hops over SCOTCH's: 256 parts of meshes on as many routers of a torus, a process each.

    SCOTCH may put several tasks on a router, within 5 % of imbalance where that is possible; more is shown.
    ``auto`` goes by data times hops and has no coordinates.
    """
    from copart.mapping.architectures.regular import Torus
    from copart.mapping.architectures.subset import subset

    from .mapping import Scotch

    scotch = Scotch()
    methods: tuple[TaskMethod, ...] = ("uwh", "search", "auto")
    print(f"mesh,allocation,SCOTCH's largest load,{','.join(methods)}")
    ratios: dict[str, list[float]] = {}
    for name, graph in meshes().items():
        for nparts, torus in ((256, (12, 8, 8)), (1024, (17, 8, 24))):
            tasks = TaskGraph.from_partition(graph, partition(graph, nparts, preset="fast", strict=False), nparts)
            for seed in SEEDS:
                job = scattered(TorusNetwork(torus), nparts, fill=0.5, seed=seed)
                at = Sites(job).point
                bare = subset(Torus(torus), at)
                part = scotch.call(tasks.graph, scotch.architecture(bare), nparts, seed)()
                u, v, w = tasks.graph.edges()
                cost = float((w * bare.distances(part[u], part[v])).sum())
                shown = []
                for method in methods:
                    place = map_tasks(tasks, job, method, bound="volume")
                    ratio = evaluate_tasks(tasks, job, place).weighted_hops / cost
                    ratios.setdefault(method, []).append(ratio)
                    shown.append(f"{ratio:.3f}")
                print(f"{name},{nparts} parts {seed},{np.bincount(part).max()},{','.join(shown)}", flush=True)
    for method, values in ratios.items():
        print(f"{method}: geometric mean {np.exp(np.mean(np.log(values))):.3f}, at most {max(values):.3f}")


if __name__ == "__main__":
    WHAT = {"stencil": stencils, "parts": parts, "coupled": coupled, "time": times, "scotch": beside_scotch}
    for name in sys.argv[1:] or WHAT:
        WHAT[name]()
