"""Graphs of several components: bodies that stay whole where they fill parts."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from copart.graph import Graph
from copart.kgggp_ml import partition
from copart.metrics import edge_cut, max_part_weights
from copart.partitioner import bisection, bodies
from copart.partitioner.affinity import finest
from copart.partitioner.bodies import separated

Pairs = list[tuple[np.ndarray, np.ndarray]]


def apart(*sides: tuple[int, int]) -> Graph:
    """Grids of quadrilaterals side by side that do not touch."""
    u, v, n = [], [], 0
    for rows, columns in sides:
        at = n + np.arange(rows * columns).reshape(rows, columns)
        u += [at[:-1].ravel(), at[:, :-1].ravel()]
        v += [at[1:].ravel(), at[:, 1:].ravel()]
        n += rows * columns
    return Graph.from_edges(n, np.concatenate(u), np.concatenate(v))


def shared_out(graph: Graph, k: int, eps: float = 0.05) -> Pairs:
    return separated(finest(graph, k, None, None)[0], max_part_weights(graph.total_weight, k, eps))


@settings(deadline=None, max_examples=150)
@given(st.lists(st.tuples(st.integers(1, 6), st.integers(1, 8)), min_size=1, max_size=20), st.integers(1, 12),
       st.floats(0.0, 0.5), st.integers(0, 10**6))
def test_bodies_stay_whole_and_find_room(sides: list[tuple[int, int]], k: int, eps: float, seed: int) -> None:
    graph = apart(*sides)
    if k > graph.nvtxs:
        return
    vwgt = np.random.default_rng(seed).integers(1, 9, graph.nvtxs) if seed % 2 else None
    graph = Graph.from_edges(graph.nvtxs, *graph.edges(), vwgt=vwgt)
    limit = max_part_weights(graph.total_weight, k, eps)
    pairs = shared_out(graph, k, eps)
    assert sorted(np.concatenate([vertices for vertices, _ in pairs]).tolist()) == list(range(graph.nvtxs))
    assert sorted(np.concatenate([parts for _, parts in pairs]).tolist()) == list(range(k))
    group = np.empty(graph.nvtxs, np.int32)
    for at, (vertices, parts) in enumerate(pairs):
        group[vertices] = at
        assert (np.diff(vertices) > 0).all()
        assert len(vertices) >= len(parts)
        assert len(pairs) == 1 or graph.weights[vertices].sum() <= limit[parts].sum()
    u, v, _ = graph.edges()
    assert (group[u] == group[v]).all()


@pytest.mark.parametrize("preset", ["fast", "default", "strong"])
@pytest.mark.parametrize(("nbodies", "k"), [(12, 4), (12, 6), (12, 12), (30, 10), (5, 5)])
def test_nothing_is_cut_where_equal_bodies_fill_all_parts(nbodies: int, k: int, preset: str) -> None:
    graph = apart(*[(5, 40)] * nbodies)
    part = partition(graph, k, preset=preset)  # type: ignore[arg-type]
    assert edge_cut(graph, part) == 0
    assert (np.bincount(part, minlength=k) == graph.nvtxs // k).all()


def test_bodies_of_all_sizes_are_packed() -> None:
    rng = np.random.default_rng(3)
    graph = apart(*[(int(a), int(b)) for a, b in rng.integers(3, 20, (60, 2))])
    part = partition(graph, 8)
    assert edge_cut(graph, part) == 0
    assert (np.bincount(part, minlength=8) <= max_part_weights(graph.nvtxs, 8, 0.05)).all()


def test_three_parts_are_made_of_two_bodies_each() -> None:
    graph = apart(*[(20, 40)] * 10)
    pairs = shared_out(graph, 15)
    assert sorted((len(vertices), len(parts)) for vertices, parts in pairs) == [(1600, 3)] * 5
    assert edge_cut(graph, partition(graph, 15)) == 5 * 40, "two short walls of 20 faces in each"


def test_all_parts_are_packed_at_once_where_halves_leave_too_little_slack() -> None:
    weights = [92, 102, 105, 56, 50]
    limit = max_part_weights(405, 4, 0.05)
    assert all(bodies._halves(np.array(weights), limit, left) is None for left in (1, 2, 3))
    pairs = shared_out(apart(*[(weight, 1) for weight in weights]), 4)
    assert sorted(len(vertices) for vertices, _ in pairs) == [92, 102, 105, 106]


def test_no_part_is_left_empty_by_packing() -> None:
    assert bodies._packed(np.array([10, 10, 10]), np.array([20, 20, 1])) is None


def test_a_body_heavier_than_a_part_is_cut_and_others_stay_whole() -> None:
    graph = apart((30, 40), (20, 20), (20, 20))
    pairs = shared_out(graph, 5)
    assert sorted((len(vertices), len(parts)) for vertices, parts in pairs) == [(400, 1), (400, 1), (1200, 3)]


def test_crumbs_fill_what_large_bodies_leave(monkeypatch: pytest.MonkeyPatch) -> None:
    # more than are placed one by one
    monkeypatch.setattr(bodies, "_PLACED", 3)
    graph = apart((30, 20), (20, 20), (11, 30), *[(1, 1)] * 670)
    limit = max_part_weights(2000, 2, 0.05)
    side = bodies._halves(np.array([600, 400, 330] + [1] * 670), limit, 1)
    assert side is not None
    assert np.bincount(side, [600, 400, 330] + [1] * 670).tolist() == [1000, 1000]
    assert edge_cut(graph, partition(graph, 2)) == 0


def test_bodies_that_fit_only_divided_are_not_kept() -> None:
    assert len(shared_out(apart((10, 10), (10, 10), (10, 10)), 2)) == 1
    assert len(shared_out(apart((10, 10)), 4)) == 1
    # two heavy vertices and a heap of light ones: not enough vertices for the parts of one side
    graph = Graph.from_edges(6, [0, 2, 3, 4], [1, 3, 4, 5], vwgt=[50, 50, 25, 25, 25, 25])
    assert all(len(vertices) >= len(parts) for vertices, parts in shared_out(graph, 6, 2.0))


def test_a_graph_without_vertices_has_no_bodies() -> None:
    level = finest(Graph.from_edges(0, [], []), 1, None, None)[0]
    (vertices, parts), = separated(level, np.array([3, 3]))
    assert (len(vertices), parts.tolist()) == (0, [0, 1])


def test_fixed_vertices_go_before_bodies(monkeypatch: pytest.MonkeyPatch) -> None:
    graph = apart(*[(10, 10)] * 4)
    monkeypatch.setattr(bisection, "separated", None)
    fixed = np.full(400, -1)
    fixed[[0, 99]] = [0, 1]
    assert partition(graph, 2, fixed=fixed)[[0, 99]].tolist() == [0, 1]


def test_threads_change_nothing() -> None:
    graph = apart(*[(25, 40)] * 7, (50, 90), (60, 60))
    assert len(shared_out(graph, 12)) > 1
    first = partition(graph, 12)
    assert all((partition(graph, 12, threads=threads) == first).all() for threads in (2, 3))
