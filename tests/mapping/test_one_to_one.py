"""One process per processor: objective, constructions, local search."""

from __future__ import annotations

import numpy as np
import pytest
from scipy.optimize import quadratic_assignment

from copart.errors import ConfigError, MappingError
from copart.graph import Graph
from copart.mapping.architectures.architecture import Complete, WeightedComplete
from copart.mapping.architectures.deco1 import decompose
from copart.mapping.architectures.regular import Grid, Torus
from copart.mapping.architectures.subset import subset
from copart.mapping.architectures.tree import TreeLeaf
from copart.mapping.machine import Machine
from copart.mapping.one_to_one import (
    METHODS,
    as_processes,
    bottom_up,
    dense_objective,
    exchange,
    greedy,
    hatazaki,
    heider,
    host_tree,
    mueller_merbach,
    multisection,
    objective,
    place_processes,
    swap_gain,
    symmetrised,
    traeff,
    treematch,
)
from copart.mapping.one_to_one.sections import exact_partition, lower_bottleneck
from copart.mapping.topology import map_tasks

from ..helpers import grid

UNEQUAL = {
    "weighted": lambda: WeightedComplete([1, 1, 1, 9]),
    "subset": lambda: subset(WeightedComplete([1, 9, 1, 1, 5]), [0, 1, 4, 2]),
    "decomposed": lambda: decompose(Graph.from_edges(6, [0, 1, 2, 3, 4], [1, 2, 3, 4, 5], vwgt=[1, 7, 1, 1, 30, 2]))}
"""Processors of different compute power, each with room for one process."""
NODES = TreeLeaf([4, 4], [1, 0])
"""Four nodes of four processors, VieM's ``s = 4:4, c = 0:1``."""
CORES = TreeLeaf([3, 2, 4], [100, 10, 1])
"""``s = 4:2:3``, three levels."""


def traffic(n: int, seed: int, density: float = 0.2) -> np.ndarray:
    rng = np.random.default_rng(seed)
    flow = rng.integers(1, 9, (n, n)) * (rng.random((n, n)) < density)
    np.fill_diagonal(flow, 0)
    return flow


def is_placement(place, n, nprocs):
    return place.dtype == np.int32 and len(place) == n and len(set(place.tolist())) == n and place.max() < nprocs


# ---- the objective
def test_hierarchical_distances():
    """s = 4:2:3: cores 0 and 3 share the lowest level, 0 and 4 the next, 0 and 8 only the machine."""
    assert CORES.distances(0, [3, 4, 8]).tolist() == [1, 10, 100]


def test_dense_and_sparse_objective():
    for seed in range(5):
        flow = traffic(24, seed)
        place = np.random.default_rng(seed).permutation(24)
        dense = dense_objective(flow, CORES.matrix(), place)
        assert objective(flow, CORES, place) == dense
        rows, columns = np.nonzero(flow)
        assert dense == sum(flow[i, j] * float(CORES.distances(place[i], place[j]))
                            for i, j in zip(rows, columns, strict=True))
        skew = np.random.default_rng(seed).integers(0, 9, (24, 24)) * (1 - np.eye(24, dtype=int))
        assert dense_objective(flow, (skew + skew.T) / 2, place) == pytest.approx(
            dense_objective(symmetrised(flow), skew, place))


def test_two_levels_count_directed_edges_between_nodes():
    """4 x 4 grid, p = 4: 24 directed edges leave a node in the default order, 16 at best; on 33 x 32 processes 2416."""
    assert 2 * objective(grid(4, 4), NODES, np.arange(16)) == 24
    many, machine = grid(12, 11, 8), TreeLeaf([33, 32], [1, 0])
    assert 2 * objective(many, machine, np.arange(1056)) == 2416
    place = multisection(many, machine)
    assert is_placement(place, 1056, 1056)
    u, v, _ = many.edges()
    assert objective(many, machine, place) == (place[u] // 32 != place[v] // 32).sum()
    # the hyperplane algorithm reaches 1552 directed edges; boxes cannot be had everywhere
    assert 2 * objective(many, machine, place) <= 1.1 * 1552


# ---- constructions
@pytest.mark.parametrize("method", [multisection, bottom_up, hatazaki, traeff, treematch, greedy])
def test_grid_on_four_nodes(method):
    place = method(grid(4, 4), NODES)
    assert is_placement(place, 16, 16)
    assert 2 * objective(grid(4, 4), NODES, place) == 16


@pytest.mark.parametrize("name", METHODS)
@pytest.mark.parametrize("machine", [CORES, TreeLeaf([5, 6], [9, 2]), TreeLeaf([24], [1])], ids=repr)
def test_every_method_places_one_to_one(name, machine):
    flow = traffic(24, 3)
    place = place_processes(flow, machine, method=name)
    assert is_placement(place, 24, machine.nprocs)
    assert np.array_equal(place, place_processes(flow, machine, method=name))


def test_host_tree():
    assert host_tree(CORES).arities() == [3, 2, 4]
    assert host_tree(Complete(5)).arities() == [5]
    assert host_tree(Grid([2, 2])).arities() == [2, 2]
    assert host_tree(Grid([3])).arities() is None
    assert [len(group) for group in host_tree(CORES).groups()] == [4] * 6
    with pytest.raises(MappingError, match="treematch"):
        treematch(grid(1, 3), Grid([3]))


def test_capacities_at_every_level():
    rng = np.random.default_rng(5)
    new = rng.permutation(24)
    u, v, w = grid(4, 6).edges()
    graph = Graph.from_edges(24, new[u], new[v], w)
    for sizes in ([8, 8, 8], [3, 9, 12], [1, 23], [6, 6, 6, 6]):
        assert np.bincount(exact_partition(graph, sizes, 1, "fast")).tolist() == sizes


def test_ring_of_rings():
    """8 rings of 8 whose leaders form a ring, in cyclic order: each ring belongs on a node of its own."""
    u = np.concatenate([np.repeat(np.arange(8), 8) + 8 * np.tile(np.arange(8), 8), np.arange(8)])
    v = np.concatenate([np.repeat(np.arange(8), 8) + 8 * ((np.tile(np.arange(8), 8) + 1) % 8), (np.arange(8) + 1) % 8])
    graph = Graph.from_edges(64, u, v, np.where(np.arange(72) < 64, 2, 1))
    machine = TreeLeaf([8, 8], [1, 0])
    for method in (multisection, bottom_up, treematch):
        assert objective(graph, machine, method(graph, machine)) == 8, method


def test_mueller_merbach_first_pair():
    """The process with most traffic goes to the processor with the least distance sum, then both greedily by hand."""
    flow = np.zeros((5, 5), int)
    for i, j, w in ((0, 1, 1), (1, 2, 5), (2, 3, 4), (3, 4, 1)):
        flow[i, j] = w
    place = mueller_merbach(flow, Grid([5]))
    # 2 has load 9 and goes to the middle of five in a row; 1 has most traffic to it and takes the lower of its
    # neighbours; for 3, processors 0 and 3 are equally near to those taken
    assert place.tolist() == [3, 1, 2, 0, 4]
    full, distance = flow + flow.T, Grid([5]).matrix()
    assert (int(np.argmax(full.sum(1))), int(np.argmin(distance.sum(1)))) == (2, 2)


def test_the_largest_cut_may_only_fall():
    graph = grid(6, 6)
    part = np.arange(36) % 4

    def cuts(where):
        u, v, w = graph.edges()
        apart = where[u] != where[v]
        return np.bincount(where[u][apart], w[apart], 4) + np.bincount(where[v][apart], w[apart], 4)

    found = lower_bottleneck(graph, part, 4)
    assert np.bincount(found).tolist() == [9] * 4
    assert cuts(found).max() <= cuts(part).max()
    assert cuts(found).sum() < 0.7 * cuts(part).sum()


# ---- local search
@pytest.mark.parametrize("machine", [CORES, Torus((4, 6))], ids=repr)
def test_swap_gain_is_the_difference(machine):
    flow = traffic(24, 9)
    rng = np.random.default_rng(1)
    for _ in range(40):
        place = rng.permutation(24)
        u, v = rng.choice(24, 2, replace=False)
        other = place.copy()
        other[[u, v]] = place[[v, u]]
        assert swap_gain(flow, machine, place, u, v) == pytest.approx(
            objective(flow, machine, place) - objective(flow, machine, other))


@pytest.mark.parametrize("pair", [(0, 24), (-1, 3), (1e9, 0), (0.5, 1)])
def test_a_swap_of_processes_that_are_none(pair):
    """Numbers beyond the processes made the kernel read elsewhere in memory."""
    with pytest.raises(ConfigError, match=r"^[uv]: (must be at|needs an integer)"):
        swap_gain(traffic(24, 9), CORES, np.arange(24), *pair)


@pytest.mark.parametrize("neighbourhood", ["N^2", "N_p:8", "N_1", "N_2", "N_10"])
def test_exchanges_stop_at_a_local_optimum(neighbourhood):
    flow, machine = traffic(24, 2, 0.1), Torus((4, 6))
    start = np.random.default_rng(3).permutation(24)
    place = exchange(flow, machine, start, neighbourhood=neighbourhood)
    assert is_placement(place, 24, 24)
    assert objective(flow, machine, place) < objective(flow, machine, start)
    graph = as_processes(flow)
    hops = np.full((24, 24), 99)
    for s in range(24):
        hops[s, s] = 0
        front = {s}
        for d in range(1, 24):
            front = {int(y) for x in front for y in graph.neighbours(x) if hops[s, y] == 99}
            hops[s, list(front)] = d
    for u in range(24):
        for v in range(u):
            inside = {"N^2": True, "N_p:8": u // 8 == v // 8}.get(
                neighbourhood, hops[u, v] <= int(neighbourhood[2:].lstrip("p:") or 0))
            if inside:
                assert swap_gain(flow, machine, place, u, v) <= 1e-9


def test_heider():
    flow, machine = traffic(24, 6), CORES
    start = mueller_merbach(flow, machine)
    place = heider(flow, machine, start)
    assert objective(flow, machine, place) <= objective(flow, machine, start)
    for i in range(24):
        assert swap_gain(flow, machine, place, i, (i + 1) % 24) <= 1e-9
    with pytest.raises(MappingError, match="neighbourhood"):
        exchange(flow, machine, start, neighbourhood="all")


def test_all_pairs_against_another_search():
    """scipy's 2-exchange search from the same start, both local optima of all pairs."""
    flow, machine = traffic(16, 4), Grid([4, 4])
    ours = min(objective(flow, machine, exchange(flow, machine, np.random.default_rng(s).permutation(16),
                                                 neighbourhood="N^2")) for s in range(5))
    theirs = min(quadratic_assignment(flow, machine.matrix(), method="2opt",
                                      options={"rng": np.random.default_rng(s)}).fun for s in range(5))
    assert ours <= 1.03 * theirs


# ---- the portfolio
@pytest.mark.parametrize("machine", [CORES, Torus((4, 6)), Complete(30)], ids=repr)
def test_best_is_never_worse_than_the_identity(machine):
    for graph in (grid(4, 6), as_processes(traffic(24, 1)), Graph.from_edges(24, [], [])):
        place = place_processes(graph, machine)
        assert is_placement(place, 24, machine.nprocs)
        assert objective(graph, machine, place) <= objective(graph, machine, np.arange(24))
    start = place_processes(grid(4, 6), machine)
    again = place_processes(grid(4, 6), machine, start=start, seed=7)
    assert objective(grid(4, 6), machine, again) <= objective(grid(4, 6), machine, start)


@pytest.mark.parametrize(("call", "error", "message"), [
    (lambda: place_processes(grid(5, 5), CORES), MappingError, "25 processes need a slot each, the machine has 24"),
    (lambda: place_processes(grid(2, 2), CORES, method="random"), ConfigError, "method"),
    (lambda: place_processes(grid(2, 2), CORES, start=[0, 0, 1, 2]), MappingError, "more than one process"),
    (lambda: place_processes(np.zeros((2, 3)), CORES), MappingError, "square"),
])
def test_errors(call, error, message):
    with pytest.raises(error, match=message):
        call()


@pytest.mark.parametrize("kind", UNEQUAL)
def test_compute_power_is_no_room(kind):
    target = UNEQUAL[kind]()
    ring = Graph.from_edges(4, [0, 1, 2, 3], [1, 2, 3, 0])
    for method in ("best", *(name for name in METHODS if name != "treematch")):
        assert len(set(place_processes(ring, target, method=method).tolist())) == 4, method
    for method in ("smap", "tmap", "search", "auto"):
        assert len(set(map_tasks(ring, Machine(target), method).tolist())) == 4, method
    assert target.of_equal_power().weights.tolist() == [1] * target.nprocs
    assert (target.of_equal_power().matrix() == target.matrix()).all()
