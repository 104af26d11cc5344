"""Every kernel is compiled for one signature only, whatever the public functions are called with.

A second signature would double compile time and cache; it creeps in through read-only
arrays, other dtypes or layouts, or a float where another caller has an int.
"""

from __future__ import annotations

import ast
import json
import re
import subprocess
import sys
from functools import cache

import pytest

from .conftest import NO_JIT
from .helpers import ROOT

if NO_JIT:
    pytest.skip("kernels are not compiled in this run", allow_module_level=True)

RUNS = """
import importlib, json, pkgutil
import numpy as np
import copart.kernels
from copart.schemes.registry import SCHEMES, run_scheme
from copart.partitioner.affinity import Affinity
from copart.coupling import CoupledProblem, Interedges
from copart.schemes.corepartition import corepartition
from copart.graph import Graph
from copart.kgggp_ml import partition, refine
from copart.options import Config
from copart.warm.steps import steps
from copart.mapping.cartesian import METHODS, Grid, as_stencil, reorder_grid
from copart.mapping.ranks.partitioners import PARTITIONERS, partition_exactly
from copart.mapping.architectures.deco2 import MultilevelDecomposition
from copart.metrics import evaluate, pieces
from copart.partitioner.multiconstraint import partition_multiconstraint, refine_multiconstraint
from copart.operators import ext, part, proj, repart, rest
from tests.helpers import grid, triangulated

rng = np.random.default_rng(1)
g = grid(60, 60)
n = g.nvtxs
u, v, _ = g.edges()
weighted = Graph.from_edges(n, u, v, rng.integers(0, 9, len(u)), vwgt=rng.integers(0, 5, n),
                            vsize=rng.integers(0, 4, n))
fixed = np.where(rng.random(n) < 0.05, rng.integers(0, 6, n), -1)
table = Affinity(np.arange(n) * 4 // n, rng.integers(0, 3, (4, 6)))
partition(triangulated(60, 60), 6)
for graph in (g, weighted):
    for preset in ("fast", "default", "strong", "best"):
        partition(graph, 6, preset=preset, contiguous=preset == "fast")
    for options in ({"fixed": fixed}, {"fixed": fixed.astype(np.int32)}, {"affinity": table},
                    {"fixed": fixed, "affinity": table}, {"tpwgts": [1, 2, 3, 4, 5, 6]}, {"threads": 2},
                    {"eps": 0.0}, {"eps": 0.99}, {"seed": np.int64(5)}):
        partition(graph, 6, **{"eps": 0.1, **options})
    partition(graph, np.int32(40), strict=False, eps=0.0)
    refine(graph, rng.integers(0, 6, n), 6, eps=0.1)
    for method in ("mxn", "scratch-remap", "diffusive"):
        repart(graph, np.arange(n) * 5 // n, 5, 7, method=method)
    for method in set(PARTITIONERS) - {"metis"}:
        partition_exactly(graph.replace(vwgt=None), [1800, 900, 900], method)
# machines: links of equal and of different cost, all or some vertices taking processes
for graph in (g, Graph.from_edges(n, u, v, 1 + np.arange(len(u)) % 3)):
    for vertices in (None, np.arange(0, n, 7)):
        machine = MultilevelDecomposition(graph, vertices)
        machine.domain_distances(machine.root, [machine.terminal(3)])
# input of every kind: other dtypes, unsorted rows, the caller's read-only or strided memory
m = g.to_scipy()
partition(m, 6)
partition((m.indptr.astype(np.int32), m.indices.astype(np.int64)), 6)
partition((np.repeat(m.indptr, 2)[::2], m.indices[::-1][::-1]), 6)
locked = Graph(np.frombuffer(g.xadj.tobytes(), np.int64), np.frombuffer(g.adjncy.tobytes(), np.int32))
partition(locked, 6)
Graph.from_metis([0, 2, 3, 4], [2, 1, 0, 0])
# heavy weights: settling, packing, exchanges
heavy = grid(12, 12, vwgt=np.minimum(np.random.default_rng(3).zipf(1.6, 144), 300))
for k in (3, 20, 60):
    partition(heavy, k, eps=0.0, strict=False)
refine(Graph.from_edges(9, [], []), np.zeros(9, int), 3)
refine(Graph.from_edges(4, [], [], vwgt=[4, 4, 3, 2]), [0, 0, 1, 1], 2, eps=0.0)
# several constraints
several = rng.integers(0, 5, (n, 3))
for graph in (g, weighted):
    for options in ({}, {"fixed": fixed}, {"threads": 2, "preset": "strong"}):
        partition_multiconstraint(graph, 6, several, strict=False, **options)
    refine_multiconstraint(graph, rng.integers(0, 6, n), several, np.full((3, 6), 3000))
partition_multiconstraint(Graph.from_edges(3, [0, 1], [1, 2]), 2, [[3, 1]] * 3, limits=[[5] * 2, [3] * 2],
                          strict=False)
# the odd ones
star = Graph.from_edges(2000, np.zeros(1999, int), np.arange(1, 2000))
new = rng.permutation(n)
placed = g.replace(coords=np.indices((60, 60)).reshape(2, -1).T)
for graph in (Graph.from_edges(40, [], []), star, grid(1, 9), Graph.from_edges(n, new[u], new[v]), placed,
              Graph.from_edges(n, new[u], new[v], coords=rng.random((n, 3)))):
    partition(graph, 3)
    partition(graph, 3, contiguous=True, strict=False)
# as a large grid is coarsened
partition(placed, 3, preset=Config(grid_least=0))
sub, keep = rest(g, np.flatnonzero(np.arange(n) % 60 > 40))
ext(g, keep, part(sub, 3), 3, 9)
side = np.arange(60)
problem = CoupledProblem.of_two(g, weighted, Interedges.from_pairs(n, n, side * 60 + 59, side * 60))
proj(g, weighted, problem.interedges, part(g, 6), 6)
dict(steps())["processes that share a graph"]()
for scheme in SCHEMES.values():
    evaluate(problem, scheme.run(problem, (4, 6), (2, 3), eps=0.1))
for counts in ((4, 6), (5, 9), (7, 3)):
    SCHEMES["joint"].run(problem, counts, eps=0.02)
SCHEMES["joint"].run(problem, (4, 6), (2, 3), eps=0.1, price=(1, 8, 200, 1, 1))
for name in SCHEMES:
    corepartition(problem, SCHEMES[name].run(problem, (4, 6), (2, 3), eps=0.1), scheme=name, eps=0.1)
# an interface whose cells share no facets
alone = np.arange(0, n, 7)
scattered = CoupledProblem.of_two(g, g, Interedges.from_pairs(n, n, alone, alone))
SCHEMES["aware"].run(scattered, (4, 6), (2, 3))
run_scheme("aware", scattered, (4, 6), (2, 3), contiguous=True)
pieces(g, part(g, 6), 6)
# grids of processes: with weights and periods, nodes of equal and of unequal sizes
box = Grid((4, 6), (True, False))
for stencil in (as_stencil("nine-point", 2), as_stencil([[1, 0], [0, -1]], 2, [3, 5])):
    for method in METHODS:
        reorder_grid(box, stencil, 4, method)
    for method in ("central-greedy", "central-greedy-once", "distributed-greedy"):
        reorder_grid(box, stencil, [5, 12, 7], method)

# mapping onto machines: small and large ones, weights, fixed vertices, old mappings, one to one
from copart.mapping import map_graph, place_processes
from copart.mapping.one_to_one import METHODS, exchange, heider, swap_gain
from copart.mapping.architectures.regular import Grid as Mesh, Torus
from copart.mapping.architectures.tree import TreeLeaf
for graph in (grid(40, 40), Graph.from_edges(n, u, v, rng.integers(1, 9, len(u)))):
    for options in ({}, {"fixed": np.where(np.arange(graph.nvtxs) < 5, 2, -1)}, {"old": np.arange(graph.nvtxs) % 9},
                    {"preset": "strong", "seed": 3}, {"eps": 0.0, "strict": False}):
        map_graph(graph, Mesh([3, 3]), **options)
    map_graph(graph, Torus((60, 60)), eps=0.5, old=np.arange(graph.nvtxs))
map_graph(grid(8, 8, vwgt=1 + np.arange(64) % 9), Mesh([4, 4]), eps=0.0, strict=False)
for machine in (TreeLeaf([2, 2, 4], [9, 3, 1]), Mesh([4, 4])):
    for name in METHODS:
        if name != "treematch" or machine.name == "tleaf":
            place_processes(grid(4, 4), machine, method=name)
    place_processes(grid(4, 4), machine)
    exchange(grid(4, 4), machine, np.arange(16), neighbourhood="N^2")
    swap_gain(grid(4, 4), machine, np.arange(16), 1, 2)

# points: by selection, by search, by the other methods, boxes
from copart.partitioner.geometric.boxes import box_graph
from copart.partitioner.geometric.methods import METHODS as BY_COORDINATES, partition_points
from copart.partitioner.multijagged import multijagged
for points in (rng.random((20_000, 3)), rng.integers(0, 3, (9000, 2))):
    for load in (None, rng.random(len(points))):
        for threads in (1, 2):
            for method in BY_COORDINATES:
                partition_points(points, 7, method, weights=load, threads=threads)
            multijagged(points, 7, weights=load, eps=0.01, threads=threads)
box_graph(multijagged(points, 7).boxes)
# points of several processes, as threads; tests/mpi has real ones
from tests.partitioner import test_multijagged_pooled as pooled
for load in (np.zeros(0, np.int64), np.ones(9000, np.int64)):
    for threads in (1, 2):
        pooled.both(rng.random((9000, 2)), load, [0, 9000], [3], [0], [False], np.arange(9000) % 2, 2, threads)
box_graph(np.array([[[0, 0], [1, 1]], [[1, 0], [2, 1]]]))
# hypergraphs: directed and not, with costs, of one thread and of several
from copart.hypergraph import Hypergraph
from copart.metrics import evaluate_hypergraph
from copart.partitioner.hypergraphs import METHODS as CLUSTERINGS, cluster, contract, remove_similar_nets, sparsify
from copart.partitioner.hypergraphs import remove_identical_nets, remove_identical_vertices
nets = Hypergraph.from_nets(9000, [rng.choice(9000, 5, False) for _ in range(9000)], cost=rng.integers(0, 9, 9000))
for h in (Hypergraph.column_net(g), Hypergraph.column_net(weighted), Hypergraph.from_scipy(m, "fine-grain"), nets):
    for method in CLUSTERINGS:
        for order in ("natural", "random", "degree", np.arange(h.nvtxs)):
            clusters = cluster(h, method, order=order, threads=2)
            clusters.quality(h)
            small = contract(h, clusters.rep)
            cluster(small.hypergraph, method)
    cluster(h, max_weight=np.int32(9), similarity="absorption-per-weight")
    for threads in (1, 2):
        sparsify(h, permutations=2, threads=threads)
        sparsify(h, permutations=2, directed=False, threads=threads)
        for way in ("hash", "sort"):
            for checksum in ("cs1", "cs2", "cs3", "murmur"):
                remove_identical_nets(h, way=way, checksum=checksum, directed=threads == 1, threads=threads)
                remove_identical_vertices(h, way=way, checksum=checksum, threads=threads)
        for keep in ("largest", "important", "union"):
            remove_similar_nets(h, keep=keep, threads=threads)
    evaluate_hypergraph(h, rng.integers(0, 6, h.nvtxs), 6)
    evaluate_hypergraph(h, np.zeros(h.nvtxs, np.int32), 6)

# what parts send, and tasks on the nodes of a job
steps = importlib.import_module("copart.warm.steps")
steps._exchange()
steps._jobs()

found = {}
for info in pkgutil.iter_modules(copart.kernels.__path__):
    module = importlib.import_module("copart.kernels." + info.name)
    for name, kernel in vars(module).items():
        if hasattr(kernel, "nopython_signatures") and kernel.__module__ == module.__name__:
            found[info.name + "." + name] = [str(s) for s in kernel.nopython_signatures]
print(json.dumps(found))
"""


@cache
def signatures() -> dict[str, list[str]]:
    """Signatures of every kernel after typical runs in a process of their own."""
    done = subprocess.run([sys.executable, "-c", RUNS], capture_output=True, text=True, cwd=ROOT, timeout=280,
                          check=False)
    assert done.returncode == 0, done.stderr
    return json.loads(done.stdout.splitlines()[-1])


def arrays_only(signature: str) -> str:
    """The signature with all numbers alike, and all truths."""
    number = r"Literal\[int\]\(-?\d+\)|Literal\[bool\]\(\w+\)|int(32|64)(?=[,)])(?!, \d)"
    return re.sub(number, "int", signature.split(" -> ")[0])


@cache
def helpers() -> set[str]:
    """Kernels that other kernels call, with numbers of several kinds: such copies are made once, inside the callers."""
    folder = ROOT / "copart" / "kernels"
    files = {path.stem: ast.parse(path.read_text(encoding="utf-8")) for path in folder.glob("*.py")}
    called = {node.func.id for tree in files.values() for node in ast.walk(tree)
              if isinstance(node, ast.Call) and isinstance(node.func, ast.Name)}
    return {f"{stem}.{node.name}" for stem, tree in files.items() for node in tree.body
            if isinstance(node, ast.FunctionDef) and node.name in called}


def test_one_signature_each():
    many = {name: found for name, found in signatures().items() if len(found) > 1 and name not in helpers()}
    assert not many, "\n".join(f"{name}:\n    " + "\n    ".join(found) for name, found in many.items())


def test_helpers_see_one_kind_of_arrays():
    assert "connectivity.gather" in helpers()
    assert "refinement.find_boundary" not in helpers()
    many = {name: kinds for name in helpers() & set(signatures())
            if len(kinds := {arrays_only(s) for s in signatures()[name]}) > 1}
    assert not many, "\n".join(f"{name}:\n    " + "\n    ".join(kinds) for name, kinds in many.items())


def test_every_kernel_of_the_partitioner_was_run():
    """Else the tests above say nothing about it, or it is used nowhere."""
    idle = [name for name, found in signatures().items() if not found and not name.startswith("mesh")
            and name not in helpers()]
    assert not idle, idle
    assert len(signatures()) > 30


def test_arrays_are_contiguous_and_of_the_agreed_types():
    kinds = {kind for found in signatures().values() for signature in found
             for kind in re.findall(r"[Aa]rray\((?:readonly )?(\w+), \d\w*, '?(\w)'?", signature)}
    assert len(kinds) >= 4
    # float32: tables of hops between all pairs of nodes (kernels.sites)
    assert kinds <= {(dtype, "C") for dtype in ("int32", "int64", "uint8", "float64", "float32", "bool")}, kinds
