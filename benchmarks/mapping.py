"""The mapper beside SCOTCH, and one-to-one placement beside KaHIP.

    python -m benchmarks.mapping FOLDER [--seeds 3] [--only bump,wing] [--preset default] [--csv FILE]
    python -m benchmarks.mapping --shapes comb,blade-3d --cells 100000

FOLDER holds ``bump.grf.gz``, ``4elt.graph`` and ``wing.graph`` (those absent are left out); a grid of 25^3 cells and
the process graph of two coupled cubes on 1,024 processes are made.  Targets are the torus 4 x 4 x 4, the mesh
16 x 16, the hypercube of 1,024 processors, the tree 4:8:6 with distances 1:10:100, and a random half of the
torus 8 x 8 x 8.
With ``--shapes``, the largest components of coupled cases (`benchmarks.shape_cases`; ``all``, or ``held-out`` for
those that no setting was chosen with), or graphs of `benchmarks.mapping_shapes` (``fresh``, and ``small`` with few
cells to a processor), are mapped onto tori, a mesh, a hypercube and trees. Costs are recomputed here from the mapping;
both tools may use 5 % of imbalance, and copart as much as SCOTCH where that takes more. Times are CPU seconds of the
call alone, machine and graph being built before.
SCOTCH is called through ctypes (``SCOTCH_LIB``, default ``libscotch-7.0.so``).  KaHIP serves by its exactly balanced
partitioner, applied level by level.
"""

from __future__ import annotations

import argparse
import csv
import ctypes as C
import os
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
from scipy.sparse.csgraph import connected_components

from copart.formats import read_graph
from copart.graph import Graph
from copart.mapping import dilation_cost, map_graph, place_processes
from copart.mapping.architectures.architecture import Architecture
from copart.mapping.architectures.regular import Grid, Hypercube, Torus
from copart.mapping.architectures.subset import Subset, subset
from copart.mapping.architectures.tree import TreeLeaf

from .graphs import grid
from .mapping_shapes import FRESH, SMALL
from .shape_cases import CASES, HELD_OUT, problem

Array = np.ndarray[Any, Any]

EPS = 0.05
HALF = np.sort(np.random.default_rng(5).permutation(512)[:256])
FILES = ("bump.grf.gz", "4elt.graph", "wing.graph")
TREES = {"4:8:6": ((6, 8, 4), (100, 10, 1)), "4:4:16": ((16, 4, 4), (100, 10, 1)),
         "2:8:8:8": ((8, 8, 8, 2), (100, 10, 5, 1))}


def targets() -> dict[str, Architecture]:
    """The machines, root first where they are trees."""
    found = {"t4x4x4": Torus((4, 4, 4)), "m16x16": Grid((16, 16)), "h10": Hypercube(10),
             "tree 4:8:6": TreeLeaf(*TREES["4:8:6"]), "half of t8x8x8": subset(Torus((8, 8, 8)), HALF)}
    return found  # type: ignore[return-value]


def shape_targets() -> dict[str, Architecture]:
    """The machines for meshes of other shapes."""
    return {"t4x4x4": Torus((4, 4, 4)), "t8x8x8": Torus((8, 8, 8)), "m16x16": Grid((16, 16)),  # type: ignore[dict-item]
            "h7": Hypercube(7), **{f"tree {name}": TreeLeaf(*TREES[name]) for name in ("4:8:6", "4:4:16")}}


def shapes(names: str, cells: int) -> dict[str, Graph]:
    """The largest connected component of each coupled case of about so many cells, or graphs of `mapping_shapes`."""
    if names in ("fresh", "small"):
        return {name: make(cells // 2) for name, make in (FRESH if names == "fresh" else SMALL).items()}
    every = {**CASES, **HELD_OUT}
    chosen = every if names == "all" else HELD_OUT if names == "held-out" else {n: every[n] for n in names.split(",")}
    found = {}
    for name, case in chosen.items():
        graph = max(problem(case, cells, "facet").components.values(), key=lambda one: one.nvtxs)
        where = connected_components(graph.to_scipy(), directed=False)[1]
        found[name] = graph.subgraph(np.flatnonzero(where == np.bincount(where).argmax()))
    return found


def process_graph(nparts: tuple[int, int]) -> Graph:
    """Two cubes that share a face, co-partitioned: cells exchanged inside each code and between them."""
    from copart.coupling import CoupledProblem, Interedges
    from copart.kgggp_ml import partition

    side = 25
    one = Graph(*grid(side))
    face = np.arange(side * side)
    n = one.nvtxs
    problem = CoupledProblem.of_two(one, one, Interedges.from_pairs(n, n, face + n - side * side, face))
    parts = [partition(one, k) for k in nparts]
    a, b = (one.quotient(p, k).edges() for p, k in zip(parts, nparts, strict=True))
    inter = problem.interedges
    rows = np.repeat(np.arange(n), np.diff(inter.indptr))
    u = np.concatenate([a[0], b[0] + nparts[0], parts[0][rows]])
    v = np.concatenate([a[1], b[1] + nparts[0], parts[1][inter.indices] + nparts[0]])
    w = np.concatenate([a[2], b[2], np.ones(len(rows), np.int64)])
    return Graph.from_edges(sum(nparts), u, v, w)


def graphs(folder: Path) -> dict[str, Graph]:
    """The graphs to map."""
    found = {name.split(".")[0]: read_graph(folder / name) for name in FILES if (folder / name).exists()}
    return {**found, "cube-hexa-25": Graph(*grid(25)), "processes-1024": process_graph((512, 512))}


class Scotch:
    """SCOTCH through ctypes, one thread."""

    def __init__(self) -> None:
        os.environ["SCOTCH_PTHREAD_NUMBER"] = "1"
        self.library = library = C.CDLL(os.environ.get("SCOTCH_LIB", "libscotch-7.0.so"))
        void, number, numbers = C.c_void_p, C.c_int, C.POINTER(C.c_int)
        for name in ("graphAlloc", "stratAlloc", "archAlloc"):
            getattr(library, f"SCOTCH_{name}").restype = void
        for name in ("graphInit", "stratInit", "archInit"):
            getattr(library, f"SCOTCH_{name}").argtypes = [void]
        library.SCOTCH_graphBuild.argtypes = [void, number, number, *[numbers] * 4, number, numbers, numbers]
        library.SCOTCH_stratGraphMapBuild.argtypes = [void, number, number, C.c_double]
        library.SCOTCH_graphMap.argtypes = [void, void, void, numbers]
        library.SCOTCH_archTorusX.argtypes = library.SCOTCH_archMeshX.argtypes = [void, number, numbers]
        library.SCOTCH_archHcub.argtypes = [void, number]
        library.SCOTCH_archTleaf.argtypes = [void, number, numbers, numbers]
        library.SCOTCH_archSub.argtypes = [void, void, number, numbers]
        self.kept: list[Array] = []

    def pointer(self, values: Any) -> Any:
        """A pointer to int32 values that stay alive."""
        array = np.ascontiguousarray(values, np.int32)
        self.kept.append(array)
        return array.ctypes.data_as(C.POINTER(C.c_int))

    def architecture(self, machine: Architecture) -> Any:
        """The same machine."""
        library = self.library
        made = library.SCOTCH_archAlloc()
        library.SCOTCH_archInit(made)
        if isinstance(machine, Torus):
            library.SCOTCH_archTorusX(made, len(machine.dims), self.pointer(machine.dims))
        elif isinstance(machine, Grid):
            library.SCOTCH_archMeshX(made, len(machine.dims), self.pointer(machine.dims))
        elif isinstance(machine, Hypercube):
            library.SCOTCH_archHcub(made, machine.dimension)
        elif isinstance(machine, TreeLeaf):
            costs = self.pointer([int(cost) for cost in machine.costs])
            library.SCOTCH_archTleaf(made, len(machine.arities), self.pointer(machine.arities), costs)
        elif isinstance(machine, Subset):
            some = self.pointer(machine.vertices)
            library.SCOTCH_archSub(made, self.architecture(machine.base), machine.nprocs, some)
        else:
            raise TypeError(f"SCOTCH is not told of {machine!r}")
        return made

    def call(self, graph: Graph, machine: Any, nprocs: int, seed: int) -> Callable[[], Array]:
        """A call that maps, everything else being done before."""
        library = self.library
        built, strategy = library.SCOTCH_graphAlloc(), library.SCOTCH_stratAlloc()
        library.SCOTCH_graphInit(built)
        library.SCOTCH_stratInit(strategy)
        loads = None if graph.vwgt is None else self.pointer(graph.vwgt)
        weights = None if graph.ewgt is None else self.pointer(graph.ewgt)
        failed = library.SCOTCH_graphBuild(built, 0, graph.nvtxs, self.pointer(graph.xadj), None, loads, None,
                                           2 * graph.nedges, self.pointer(graph.adjncy), weights)
        if failed or library.SCOTCH_stratGraphMapBuild(strategy, 0, nprocs, EPS):
            raise RuntimeError("SCOTCH does not take the graph or the strategy")
        part = np.full(graph.nvtxs, -1, np.int32)

        def call() -> Array:
            library.SCOTCH_randomSeed(C.c_int(2 * seed - 1))
            library.SCOTCH_randomReset()
            if library.SCOTCH_graphMap(built, machine, strategy, part.ctypes.data_as(C.POINTER(C.c_int))):
                raise RuntimeError("SCOTCH failed")
            return part

        return call


def timed(call: Callable[[], Array]) -> tuple[Array, float]:
    """The result, and CPU seconds."""
    begin = time.process_time()
    found = call()
    return found, time.process_time() - begin


def beside_scotch(graph: Graph, machine: Architecture, seeds: int, preset: str, scotch: Scotch) -> dict[str, float]:
    """Means over the seeds, and their ratios."""
    theirs = scotch.architecture(machine)
    map_graph(graph, machine, eps=EPS, preset=preset)  # loads kernels, and the tables of the machine
    sums: dict[str, float] = {"cost": 0, "seconds": 0, "scotch cost": 0, "scotch seconds": 0, "imbalance": 0,
                              "scotch imbalance": 0}
    for seed in range(1, seeds + 1):
        eps = EPS

        def ours(seed: int = seed) -> Array:
            return map_graph(graph, machine, eps=eps, seed=seed, preset=preset)  # noqa: B023

        for prefix, call in (("scotch ", scotch.call(graph, theirs, machine.nprocs, seed)), ("", ours)):
            part, seconds = timed(call)
            load = np.bincount(part, graph.weights, machine.nprocs)
            sums[f"{prefix}cost"] += dilation_cost(graph, machine, part) / seeds
            sums[f"{prefix}seconds"] += seconds / seeds
            imbalance = load.max() / load.mean() - 1
            sums[f"{prefix}imbalance"] += imbalance / seeds
            eps = max(eps, float(np.round(imbalance, 6)))
    return {**sums, "cost ratio": sums["cost"] / sums["scotch cost"],
            "time ratio": sums["seconds"] / sums["scotch seconds"]}


def kahip_sections(graph: Graph, arities: tuple[int, ...], seed: int) -> Array:
    """Multisection by KaHIP's partitioner, preset strong, exactly balanced."""
    import kahip.kahip as module

    library = C.CDLL(module.__file__)
    place = np.zeros(graph.nvtxs, np.int64)

    def halve(some: Graph, vertices: Array, level: int) -> None:
        if level == len(arities) or len(vertices) == 1:
            return
        k = arities[level]
        below = int(np.prod(arities[level + 1:]))
        part = np.zeros(some.nvtxs, np.int32)
        if below > 1:
            xadj, adjncy = some.xadj.astype(np.int32), some.adjncy.copy()
            ewgt, vwgt = some.edge_weights.astype(np.int32), np.ones(some.nvtxs, np.int32)
            pointers = [a.ctypes.data_as(C.POINTER(C.c_int)) for a in (vwgt, xadj, ewgt, adjncy, part)]
            cut = C.c_int(0)
            library.kaffpa_balance(C.byref(C.c_int(some.nvtxs)), *pointers[:4], C.byref(C.c_int(k)),
                                   C.byref(C.c_double(0.0)), C.c_bool(True), C.c_bool(True), C.c_int(seed), C.c_int(2),
                                   C.byref(cut), pointers[4])
            if (np.bincount(part, minlength=k) != below).any():
                raise RuntimeError("KaHIP's parts are not equal")
        else:
            part[:] = np.arange(some.nvtxs)
        place[vertices] += part * below
        for p in range(k):
            mine = np.flatnonzero(part == p)
            halve(some.subgraph(mine), vertices[mine], level + 1)

    halve(graph, np.arange(graph.nvtxs), 0)
    return place


def main(arguments: list[str] | None = None) -> None:
    """Print the tables."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("folder", type=Path, nargs="?")
    parser.add_argument("--shapes", metavar="NAMES",
                        help="coupled cases with commas between, all, held-out, fresh or small")
    parser.add_argument("--cells", type=int, default=100_000, help="of each shape (default 100000)")
    parser.add_argument("--seeds", type=int, default=3)
    parser.add_argument("--only", help="names of graphs, with commas between")
    parser.add_argument("--preset", default="default")
    parser.add_argument("--csv", type=Path, help="also write the rows here")
    parser.add_argument("--one-to-one", action="store_true", help="the comparison with KaHIP instead")
    args = parser.parse_args(arguments)
    if (args.folder is None) == (args.shapes is None):
        parser.error("needs either a folder of graphs or --shapes")
    chosen = graphs(args.folder) if args.shapes is None else shapes(args.shapes, args.cells)
    chosen = {name: g for name, g in chosen.items() if args.only is None or name in args.only.split(",")}
    machines = targets() if args.shapes is None else shape_targets()
    rows = list(one_to_one(chosen) if args.one_to_one else with_scotch(chosen, machines, args.seeds, args.preset))
    for key in ("cost ratio", "time ratio"):
        print(f"geometric mean of the {key}: {np.exp(np.mean(np.log([row[key] for row in rows]))):.3f}")
    if args.csv is not None:
        with open(args.csv, "w", newline="") as file:
            writer = csv.DictWriter(file, rows[0])
            writer.writeheader()
            writer.writerows(rows)


def with_scotch(chosen: dict[str, Graph], machines: dict[str, Architecture], seeds: int, preset: str) -> Any:
    """Rows of the comparison with SCOTCH."""
    scotch = Scotch()
    for graph_name, graph in chosen.items():
        for name, machine in machines.items():
            row = beside_scotch(graph, machine, seeds, preset, scotch)
            print(f"{graph_name:15} {name:15} cost {row['cost']:10.0f} ({row['cost ratio']:.3f})  "
                  f"{row['seconds']:.3f} s ({row['time ratio']:.2f})  imbalance {row['imbalance']:.3f} against "
                  f"{row['scotch imbalance']:.3f}", flush=True)
            yield {"graph": graph_name, "target": name, **row}


def one_to_one(chosen: dict[str, Graph]) -> Any:
    """Rows of the comparison with KaHIP, on quotient graphs."""
    from copart.kgggp_ml import partition

    for graph_name, graph in chosen.items():
        for name, (arities, costs) in TREES.items():
            k = int(np.prod(arities))
            bare = graph if graph.nvtxs == k else graph.quotient(partition(graph, k), k)
            machine = TreeLeaf(arities, costs)
            place, seconds = timed(lambda bare=bare, machine=machine: place_processes(bare, machine))  # type: ignore[misc]
            theirs, spent = timed(lambda bare=bare, arities=arities: kahip_sections(bare, arities, 1))  # type: ignore[misc]
            row = {"cost": dilation_cost(bare, machine, place), "kahip cost": dilation_cost(bare, machine, theirs)}
            print(f"{graph_name:15} {name:10} cost {row['cost']:10.0f} ({row['cost'] / row['kahip cost']:.3f})  "
                  f"{seconds:.2f} s against {spent:.2f} s", flush=True)
            yield {"graph": graph_name, "tree": name, **row, "cost ratio": row["cost"] / row["kahip cost"],
                   "time ratio": seconds / spent}


if __name__ == "__main__":
    main()
