"""Graphs onto trees by multisection, and what the search over several mappings promises."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from copart.graph import Graph
from copart.mapping import dilation_cost, map_graph
from copart.mapping.architectures.architecture import Complete
from copart.mapping.architectures.regular import Grid, Hypercube, Torus
from copart.mapping.architectures.subset import subset
from copart.mapping.architectures.tree import TreeLeaf
from copart.mapping.host_tree import host_tree
from copart.mapping.kway import Search, settings
from copart.mapping.mapper import _level, _limits
from copart.mapping.multisection import map_by_sections, sections_of
from copart.metrics import max_part_weights
from copart.partitioner.rounds import Team
from copart.partitioner.shape import look_at

from ..helpers import grid

NODES = TreeLeaf([3, 4], [10, 1])


def uneven() -> object:
    """A tree whose nodes have 4, 3 and 1 processors."""
    return subset(NODES, [0, 1, 2, 3, 4, 5, 6, 8])


@pytest.mark.parametrize(("machine", "wanted"), [
    (NODES, True), (Complete(5), True), (uneven(), True), (TreeLeaf([2, 2, 2], [9, 3, 1]), False),
    (Grid([4, 3]), False), (Torus((4, 4)), False), (Hypercube(4), False),
])
def test_trees_of_more_than_two_sons(machine, wanted):
    level = _level(grid(20, 20), None, None, machine.nprocs, 1)
    assert (sections_of(level, machine) is not None) == wanted


def test_no_sections_of_few_vertices_or_with_an_old_mapping():
    assert sections_of(_level(grid(5, 5), None, None, 12, 1), NODES) is None
    assert sections_of(_level(grid(20, 20), None, np.zeros(400, int), 12, 1), NODES) is None


def test_every_level_is_cut_where_it_is_cheapest():
    """Three squares joined by single edges, for three nodes: only these edges are paid at the price of the root."""
    side = 12
    square = grid(side, side)
    u, v, _ = square.edges()
    n = square.nvtxs
    graph = Graph.from_edges(3 * n, np.concatenate([u + i * n for i in range(3)] + [[n - 1, 2 * n - 1]]),
                             np.concatenate([v + i * n for i in range(3)] + [[n, 2 * n]]))
    place = map_graph(graph, NODES, eps=0.0)
    node = place // 4
    assert all(len(set(node[i * n:(i + 1) * n])) == 1 for i in range(3))
    within = dilation_cost(graph, NODES, place) - 2 * 10
    assert within <= 3 * 2 * side  # four quarters of a square


@given(st.integers(0, 10**6), st.integers(0, 60))
def test_limits_and_fixed_vertices(seed, count):
    rng = np.random.default_rng(seed)
    rows, columns = (int(x) for x in rng.integers(12, 30, 2))
    graph = grid(rows, columns)
    machine = [NODES, Complete(5), uneven()][seed % 3]
    fixed = np.full(graph.nvtxs, -1, np.int32)
    held = rng.permutation(graph.nvtxs)[:count]
    fixed[held] = rng.integers(0, machine.nprocs, count)
    place = map_graph(graph, machine, eps=0.1, fixed=fixed, seed=seed % 1000)
    assert (place[held] == fixed[held]).all()
    limit = max_part_weights(graph.nvtxs, machine.nprocs, 0.1, None)
    assert (np.bincount(place, minlength=machine.nprocs) <= np.maximum(
        limit, np.bincount(fixed[held], minlength=machine.nprocs))).all()


@given(st.integers(0, 10**6), st.integers(0, 60), st.integers(1, 3))
def test_nodes_of_processors_are_halved(seed, count, runs):
    """The lowest level by bipartitions: fixed vertices stay, and nodes get what the partitioner gave them."""
    rng = np.random.default_rng(seed)
    graph = grid(*(int(x) for x in rng.integers(14, 30, 2)))
    machine = [NODES, uneven()][seed % 2]
    fixed = np.full(graph.nvtxs, -1, np.int32)
    held = rng.permutation(graph.nvtxs)[:count]
    fixed[held] = rng.integers(0, machine.nprocs, count)
    limit = np.full(machine.nprocs, int(1.2 * graph.nvtxs / machine.nprocs) + count)
    level, tree = _level(graph, fixed, None, machine.nprocs, 1), host_tree(machine)
    part, other = (map_by_sections(level, tree, limit, ("fast",), seed % 1000, runs=r) for r in (runs, 0))
    assert part is not None
    assert other is not None
    assert (part[held] == fixed[held]).all()
    assert (np.bincount(part, minlength=machine.nprocs) <= limit).all()
    for node in tree.sons:
        assert np.array_equal(np.isin(part, node.processors), np.isin(other, node.processors))


def test_unequal_powers():
    """Each node gets what its processors may hold."""
    graph = grid(30, 30)
    machine = uneven()
    tree = host_tree(machine)
    limit = np.array([200, 50, 100, 100, 150, 100, 100, 150])
    part = map_by_sections(_level(graph, None, None, 8, 1), tree, limit, ("default",), 1)
    assert part is not None
    assert (np.bincount(part, minlength=8) <= limit * 1.05).all()


def test_no_partition_on_some_level_is_no_mapping():
    """A star of three heavy vertices has none for the four processors of a node."""
    graph = Graph.from_edges(3, [0, 0], [1, 2])
    assert map_by_sections(_level(graph, None, None, 12, 1), host_tree(NODES), np.full(12, 3), ("fast",), 1) is None


def test_cycles_never_lose():
    graph, machine = grid(20, 22, 24), Torus((4, 4, 4))
    level = _level(graph, None, None, 64, 1)
    config = replace(settings("default"), coarse_least=1600)
    limit = _limits(graph, machine, 0.05, None, True)
    with Team(1) as team:
        search = Search(level, machine, limit, config, 1, look_at(level), team)
        bad = search.settled(level, search.recursively(level, 0))
        worth = [bad.worth]
        for _ in range(4):
            bad = search.cycle(bad)
            worth.append(bad.worth)
    assert worth == sorted(worth, reverse=True)
    assert worth[-1] < worth[0], "none of them has won anything"
    assert worth[-1][1] == dilation_cost(graph, machine, bad.part)


def test_more_starts_are_never_worse():
    graph, machine = grid(50, 50), Grid([4, 4])
    config = replace(settings("default"), coarse_least=500, cycles=0, whole=0)
    cost = [dilation_cost(graph, machine, map_graph(graph, machine, preset=replace(config, starts=n)))
            for n in (1, 4)]
    assert cost[1] <= 1.02 * cost[0]
