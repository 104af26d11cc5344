"""Compile every kernel once, by running small problems through every stage.

That needs no list of signatures: it is how the table of them is made, and what is done where the table fails.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from contextlib import suppress
from dataclasses import replace
from functools import cache
from typing import Any, get_args

import numpy as np

from ..arrays import frozen
from ..coupling import CoupledProblem, Interedges
from ..errors import PartitionError
from ..graph import Graph
from ..names import ClusteringMethod, GeometricMethod, SchemeName
from ..options import PRESETS, Options

Step = tuple[str, Callable[[], None]]


def steps() -> list[Step]:
    """Named steps in the order of a run; each compiles what its stage uses."""
    return [("graphs", _graphs), ("meshes", _meshes), ("interedges", _interedges), ("partitioner", _partitioner),
            ("fixed vertices", _fixed), ("processes that share a graph", _processes),
            ("several constraints", _multiconstraint), ("schemes", schemes),
            ("busiest processes", _bottleneck),
            ("repartitioning", _repartitioning), ("machines", _machines), ("mapping", _mapping),
            ("metrics", _metrics), ("rank reordering", _ranks), ("grids of processes", _grids), ("points", _points),
            ("hypergraphs", _hypergraphs), ("what parts send", _exchange)]


def schemes(names: Sequence[SchemeName] | None = None, options: Options | None = None) -> None:
    """Run co-partitioning schemes on two 60 x 60 grids, which are large enough to be coarsened.

    Parameters
    ----------
    names : sequence of str, optional
        All where not given.
    options : Options, optional
    """
    from ..metrics import evaluate
    from ..operators import connected, ext, rest_joined
    from ..schemes.joint import joint
    from ..schemes.registry import SCHEMES

    problem, grid, ids = _facing_grids()
    n = len(ids)
    for name in names or SCHEMES:
        evaluate(problem, SCHEMES[name].run(problem, (4, 6), (2, 3), options))
    # another way than with counts; where weights differ, it is harder to balance
    for grids in (problem, _facing_grids(1 + np.arange(n * n) % 7)[0]):
        joint(grids, (7, 11), None, options)
    # every other cell of a line: a coupled subgraph that falls apart
    rest_joined(grid, ids[0, ::2])
    # fixed cells of a part that lie apart, and parts of single cells
    scattered = np.arange(grid.nvtxs, dtype=np.int32) % 7 % 4
    ext(grid, ids[0, ::2], np.arange(n // 2) * 3 // (n // 2), 3, 4)
    connected(grid, scattered, 4, Options())


@cache
def schemes_once(names: tuple[SchemeName, ...], options: Options) -> None:
    """:func:`schemes`, but not again in the same process: what it compiles or loads is there from then on."""
    schemes(names, options)


def _facing_grids(vwgt: Any = None) -> tuple[CoupledProblem, Graph, Any]:
    n = 60
    ids = np.arange(n * n).reshape(n, n)
    grid = _grid(n, n, vwgt=vwgt)
    interedges = Interedges.from_pairs(n * n, n * n, ids[:, -1], ids[:, 0])
    return CoupledProblem.of_two(grid, grid, interedges), grid, ids


def _bottleneck() -> None:
    from ..interface.price import PRICE
    from ..schemes.joint import joint

    joint(_facing_grids()[0], (4, 6), (2, 3), price=(*PRICE, 1.0, 1.0))


def _grid(rows: int, columns: int, **fields: Any) -> Graph:
    ids = np.arange(rows * columns).reshape(rows, columns)
    u = np.concatenate([ids[:-1].ravel(), ids[:, :-1].ravel()])
    v = np.concatenate([ids[1:].ravel(), ids[:, 1:].ravel()])
    return Graph.from_edges(rows * columns, u, v, **fields)


def _graphs() -> None:
    grid = _grid(4, 4)
    grid.subgraph([0, 1, 5])
    # rows out of order take the path that sorts them
    Graph.from_metis([0, 2, 3, 4], [2, 1, 0, 0])


def _meshes() -> None:
    from ..mesh import Mesh, cube, dual_graph
    from ..mesh.polyhedra import Polyhedra

    dual_graph(cube("hexa", 3))
    dual_graph(cube("tetra", 300))
    solid = Polyhedra.from_cells([[[0, 1, 2], [0, 3, 1], [0, 2, 3], [1, 3, 2]]])
    dual_graph(Mesh(np.eye(4)[:, :3], (), polyhedra=solid))


def _interedges() -> None:
    from ..mesh import Mesh, cube, find_interedges

    a, b = cube("hexa", 2), cube("tetra", 300, offset=(1, 0, 0))
    corners = np.array([[0.0, 0.0], [1.0, 0.0], [1.0, 1.0], [0.0, 1.0]])
    flat = Mesh(corners, [("quad", np.array([[0, 1, 2, 3]]))])
    for kind in ("facet", "touch"):
        find_interedges(a, b, kind)
        find_interedges(flat, flat.translated((1, 0, 0)), kind)
    find_interedges(a, a.translated((0.5, 0, 0)), "overlap")


def _partitioner() -> None:
    from ..kgggp_ml import partition

    grid = _grid(60, 60, coords=np.indices((60, 60)).reshape(2, -1).T)
    # coarsened as a large one is
    partition(grid, 6, preset=replace(PRESETS["strong"], grid_least=0))
    # a path numbered far from its shape is renumbered and clustered, where a grid is matched
    far = np.arange(3600) * 1009 % 3600
    partition(Graph.from_edges(3600, far[:-1], far[1:]), 6)
    # with diagonals vertices have too many neighbours to be matched
    ids = np.arange(3600).reshape(60, 60)
    across = Graph.from_edges(3600, np.concatenate([ids[1:, 1:].ravel(), ids[1:].ravel(), ids[:, 1:].ravel()]),
                              np.concatenate([ids[:-1, :-1].ravel(), ids[:-1].ravel(), ids[:, :-1].ravel()]))
    partition(across, 6)
    # a graph with a hub is clustered as a whole
    partition(Graph.from_edges(3600, np.zeros(3599, int), np.arange(1, 3600)), 6)
    # three equal weights have no balanced halves, and a star has no parts in one piece each: every means of
    # repair is tried before that is said
    with suppress(PartitionError):
        partition(Graph.from_edges(3, [0, 1], [1, 2], vwgt=[3, 3, 3]), 2, eps=0.0)
    with suppress(PartitionError):
        partition(Graph.from_edges(40, np.zeros(39, int), np.arange(1, 40)), 3, contiguous=True)
    u, v, w = grid.edges()
    partition(Graph.from_edges(grid.nvtxs, u, v, w + 1, vwgt=1 + np.arange(grid.nvtxs) % 3), 40, eps=0.0, threads=2)


def _processes() -> None:
    from ..kernels import distributed
    from ..partitioner.affinity import finest
    from ..partitioner.refinement import first_state, with_room
    from ..partitioner.rounds import Team

    n = 3600
    g, pull = finest(_grid(60, 60), 2, None, None)
    dest, limit = np.empty(n, np.int32), np.full(2, n)
    with Team(1) as team:
        s = first_state(g, np.arange(n, dtype=np.int32) // 2 % 2, limit, team, dest)
    count = int(s.count[0])
    s = with_room(s._replace(room=limit), count)
    gain, live, go = np.zeros(n, np.int64), np.empty(n, np.uint8), np.empty(n, np.uint8)
    distributed.propose_among_processes(0, count, g, pull, s, 1, 0.5, dest, gain, live, np.empty(2, np.int64),
                                        np.empty(2, np.int32))
    distributed.afterburn_among_processes(0, count, g, pull, s, dest, gain, go)
    distributed.apply_moves(g, pull, s, dest, go, live, 1, np.empty((2, 0), np.int64))


def _fixed() -> None:
    from ..kgggp_ml import partition

    fixed = np.full(3600, -1, np.int32)
    fixed[:60] = np.arange(60) // 20
    partition(_grid(60, 60), 6, fixed=fixed)


def _multiconstraint() -> None:
    from ..partitioner.multiconstraint import partition_multiconstraint

    grid = _grid(60, 60)
    both = np.stack([np.ones(3600, np.int64), np.arange(3600) % 3 // 2], axis=1)
    partition_multiconstraint(grid, 6, both)
    # weights that no two parts can share: every means of repair is tried before that is said
    with suppress(PartitionError):
        partition_multiconstraint(Graph.from_edges(3, [0, 1], [1, 2]), 2, [[3, 1]] * 3, limits=[[5] * 2, [3] * 2])


def _repartitioning() -> None:
    from ..operators import part, repart

    grid = _grid(40, 40)
    old = part(grid, 5)
    for method in ("mxn", "scratch-remap", "diffusive"):
        repart(grid, old, 5, 7, method=method)


def _machines() -> None:
    from ..mapping.architectures.deco2 import MultilevelDecomposition

    machine = MultilevelDecomposition(_grid(4, 4))
    machine.domain_distances(machine.root, [machine.terminal(3)])


def _mapping() -> None:
    from ..mapping import map_graph, place_processes
    from ..mapping.architectures.regular import Grid, Torus
    from ..mapping.one_to_one import heider, mueller_merbach

    graph, machine = _grid(30, 30), Grid([4, 4])
    fixed = np.full(900, -1)
    fixed[0] = 3
    map_graph(graph, machine, preset="strong")
    # large machines are asked for their own distances
    map_graph(_grid(5, 5), Torus((100, 100)), fixed=fixed[:25])
    map_graph(graph, machine, old=np.arange(900) * 16 // 900, fixed=fixed)
    map_graph(_grid(8, 8, vwgt=1 + np.arange(64) % 7), machine, eps=0.0, strict=False)
    place_processes(_grid(4, 4), machine)
    heider(_grid(4, 4), machine, mueller_merbach(_grid(4, 4), machine))
    _jobs()


def _jobs() -> None:
    from ..mapping.allocations import scattered
    from ..mapping.congestion import FatTree, TorusNetwork
    from ..mapping.topology import evaluate_tasks, map_tasks

    tasks = _grid(8, 8)
    coords = np.stack(np.divmod(np.arange(64), 8), axis=1)
    job = scattered(TorusNetwork([6, 6]), 16, slots=4)
    for method in ("uwh", "umc", "search", "geometric"):
        evaluate_tasks(tasks, job, map_tasks(tasks, job, method, coords=coords))
    map_tasks(tasks, scattered(FatTree([4, 8]), 16, slots=4), "uwh")


def _metrics() -> None:
    from ..metrics import edge_cut, pieces

    grid = _grid(4, 4)
    part = np.arange(16, dtype=np.int32) // 4
    edge_cut(grid, part)
    pieces(grid, part, 4)


def _ranks() -> None:
    from ..mapping.ranks.negative_cycles import refine
    from ..mapping.ranks.partitioners import PARTITIONERS, partition_exactly

    grid = _grid(24, 24)
    for method in PARTITIONERS:
        if method != "metis":
            partition_exactly(grid, [288, 144, 144], method)
    refine(grid, np.zeros(576, np.int32), [288, 144, 144])


def _grids() -> None:
    from ..mapping.cartesian import Grid, reorder_grid, stencil

    for method in ("central-greedy", "distributed-greedy"):
        reorder_grid(Grid((4, 4)), stencil("five-point", 2), 4, method)


def _points() -> None:
    from ..partitioner.geometric.boxes import box_graph
    from ..partitioner.geometric.methods import partition_points
    from ..partitioner.multijagged import multijagged

    rng = np.random.default_rng(1)
    points = rng.random((500, 3))
    for load in (None, rng.random(500), rng.integers(1, 9, 500)):
        for method in get_args(GeometricMethod):
            partition_points(points, 7, method, weights=load)
        multijagged(points, 7, weights=load, eps=0.01)
    boxes = multijagged(points, 7).boxes
    assert boxes is not None
    box_graph(boxes)
    _pooled()


class _Alone:
    """One process, as several are to the cutting of boxes on MPI."""

    size, rank = 1, 0

    def reduce(self, *_: Any) -> None:
        """Nothing to join."""

    add_up = least = reduce

    def gathered(self, mine: Any) -> list[Any]:
        """What there is."""
        return [mine]


def _pooled() -> None:
    from ..kernels.clouds import Nodes
    from ..partitioner.geometric.cutting import cloud_of
    from ..partitioner.geometric.points import Points
    from ..partitioner.geometric.pooled import Pooling
    from ..partitioner.rounds import Team

    n = 5000
    nodes = Nodes(np.array([0, n]), np.array([0, 1]), np.zeros(1, np.int32), np.zeros((1, 2)), np.zeros(1, np.bool_))
    for load in (np.zeros(0, np.int64), np.ones(n, np.int64)):
        with Team(1) as team:
            points = Points(frozen(np.random.default_rng(1).random((n, 2))), load, 1.0)
            Pooling(np.arange(n), _Alone(), len(load) > 0)(cloud_of(points), nodes, np.array([n]), team)


def _hypergraphs() -> None:
    from ..hypergraph import Hypergraph
    from ..metrics import evaluate_hypergraph
    from ..partitioner.hypergraphs import cluster, contract, remove_identical_nets, sparsify

    h = Hypergraph.column_net(_grid(30, 30))
    for method in get_args(ClusteringMethod):
        found = cluster(h, method, threads=2)
        found.quality(h)
        contract(h, found.rep)
    # threads share what is large
    for threads, some in ((1, h), (2, Hypergraph.column_net(_grid(100, 100)))):
        sparsify(some, permutations=2, threads=threads)
        for way, checksum in (("hash", "cs2"), ("sort", "murmur")):
            remove_identical_nets(h, way=way, checksum=checksum, threads=threads)
    evaluate_hypergraph(h, np.arange(h.nvtxs) % 6, 6)


def _exchange() -> None:
    from ..hypergraph import Hypergraph
    from ..kernels import umpa_pairs, umpa_pieces
    from ..partitioner.umpa import OBJECTIVES, partition_hypergraph
    from ..partitioner.umpa.again import improve_partition
    from ..partitioner.umpa.driver import Pace
    from ..partitioner.umpa.levels import finest
    from ..partitioner.umpa.search import Search
    from ..partitioner.umpa.swaps import swap

    none, count = np.full(64, -1), np.zeros(64, np.int64)
    umpa_pairs.rehash(none, count, none.copy(), count.copy())
    h = Hypergraph.column_net(_grid(40, 40))
    fixed = np.full(h.nvtxs, -1)
    fixed[:3] = 2
    for name in OBJECTIVES.values():
        partition_hypergraph(h, 9, objective=name, preset="fast")
        part = partition_hypergraph(h, 9, objective=name, pace=Pace(0, 0), fixed=fixed)
        improve_partition(h, part, 9, objective=name, held=fixed >= 0, preset="fast")
        state = Search(finest(h, None), part, np.full(9, h.nvtxs), name, 1)
        swap(state, 2)
        # a piece of a part
        umpa_pieces.move_all(state.h, state.state, part[:1] * 0, 1)


__all__ = ["schemes", "schemes_once", "steps"]
