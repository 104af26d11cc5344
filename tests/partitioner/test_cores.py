"""Graphs with hubs: the core that is peeled out, and partitions around it."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from copart.graph import Graph
from copart.kernels import Level, Pull
from copart.kgggp_ml import partition
from copart.metrics import edge_cut, max_part_weights
from copart.options import Config
from copart.partitioner import multilevel
from copart.partitioner.affinity import finest
from copart.partitioner.cores import find_core, induced
from copart.partitioner.refinement import Refiner, cut_of, excess_of
from copart.partitioner.rounds import Team
from copart.partitioner.shape import known_shape

from ..partition_reference import scale_free


def core_and_leaves(ncore: int, nleaves: int, rng: np.random.Generator) -> Graph:
    """Half of all edges there may be among the first vertices, each of the others joined to two of these."""
    u, v = np.triu_indices(ncore, 1)
    kept = rng.random(len(u)) < 0.5
    leaves = np.repeat(np.arange(ncore, ncore + nleaves), 2)
    return Graph.from_edges(ncore + nleaves, np.concatenate([u[kept], leaves]),
                            np.concatenate([v[kept], rng.integers(0, ncore, len(leaves))]))


@settings(deadline=None, max_examples=60)
@given(n=st.integers(2, 60), seed=st.integers(0, 10**6), share=st.floats(0.05, 1.0), unit=st.booleans())
def test_peeled_core_is_what_it_says(n: int, seed: int, share: float, unit: bool) -> None:
    rng = np.random.default_rng(seed)
    u, v, _ = scale_free(n, rng).edges()
    ewgt, vwgt = (None, None) if unit else (rng.integers(1, 9, len(u)), rng.integers(1, 5, n))
    graph = Graph.from_edges(n, u, v, ewgt, vwgt=vwgt)
    level, _ = finest(graph, 2, None, None)
    most = int(share * graph.total_weight)
    core = find_core(level, most, 0)
    assert core is not None
    assert graph.weights[core].sum() <= most
    edges = int(graph.subgraph(np.flatnonzero(core)).edge_weights.sum()) // 2
    assert find_core(level, most, edges) is not None
    assert find_core(level, most, edges + 1) is None, "it holds no more than it says"
    # no more was taken off than had to be
    assert core.all() or graph.weights[core].sum() + graph.weights[~core].max() > most


def test_peeling_goes_by_degree_for_weight() -> None:
    # a path hanging on a clique; weights make every step the only one
    u, v = np.triu_indices(5, 1)
    graph = Graph.from_edges(8, np.concatenate([u, [4, 5, 6]]), np.concatenate([v, [5, 6, 7]]),
                             np.concatenate([np.full(len(u), 10), [3, 2, 1]]))
    level, _ = finest(graph, 2, None, None)
    core = find_core(level, 5, 0)
    assert core is not None
    assert core.tolist() == [True] * 5 + [False] * 3
    heavy = Graph.from_edges(8, *graph.edges(), vwgt=[50, 1, 1, 1, 1, 1, 1, 1])
    core = find_core(finest(heavy, 2, None, None)[0], 7, 0)
    assert core is not None
    assert core.tolist() == [False] + [True] * 7, "few edges for its weight"


def test_induced_keeps_edges_and_weights() -> None:
    rng = np.random.default_rng(4)
    u, v, _ = scale_free(80, rng).edges()
    graph = Graph.from_edges(80, u, v, rng.integers(1, 9, len(u)), vwgt=rng.integers(1, 5, 80))
    vertices = np.flatnonzero(rng.random(80) < 0.6).astype(np.int32)
    got, wanted = induced(finest(graph, 2, None, None)[0], vertices), graph.subgraph(vertices)
    for name in ("xadj", "adjncy", "ewgt", "vwgt"):
        assert (getattr(got, name) == getattr(wanted, name)).all()


@pytest.mark.parametrize("preset", ["fast", "default"])
@pytest.mark.parametrize("weighted", [False, True])
def test_a_part_is_made_of_the_core(preset: str, weighted: bool, monkeypatch: pytest.MonkeyPatch) -> None:
    rng = np.random.default_rng(1)
    graph = core_and_leaves(150, 2250, rng)
    if weighted:
        graph = Graph.from_edges(graph.nvtxs, *graph.edges(), vwgt=rng.integers(1, 4, graph.nvtxs))
    part = partition(graph, 16, preset=preset)  # type: ignore[arg-type]
    assert (np.bincount(part, weights=graph.weights) <= max_part_weights(graph.total_weight, 16, 0.05)).all()
    assert np.bincount(part[:150]).max() > 0.8 * 150 / (1.3 if weighted else 1.0)
    monkeypatch.setattr(multilevel, "_around_core", lambda *_: None)
    assert edge_cut(graph, part) < 0.9 * edge_cut(graph, partition(graph, 16, preset=preset))  # type: ignore[arg-type]


def test_the_core_goes_to_the_largest_part_and_pins_stay() -> None:
    graph = core_and_leaves(150, 2250, np.random.default_rng(2))
    shares = np.array([0.1, 0.1, 0.4, 0.2, 0.2])
    part = partition(graph, 5, tpwgts=shares)
    assert np.bincount(part[:150]).argmax() == 2
    assert (np.bincount(part, minlength=5) <= max_part_weights(2400, 5, 0.05, shares)).all()
    fixed = np.full(2400, -1)
    fixed[:150] = np.arange(150) % 5
    assert (partition(graph, 5, fixed=fixed)[:150] == fixed[:150]).all()


def test_no_core_is_sought_where_communities_hold_the_edges(monkeypatch: pytest.MonkeyPatch) -> None:
    sought = []
    monkeypatch.setattr(multilevel, "find_core", lambda *_: sought.append(0))
    rng = np.random.default_rng(3)
    u, v, _ = scale_free(300, rng).edges()
    far = 300 * np.arange(8)
    apart = Graph.from_edges(2400, np.concatenate([(far[:, None] + u).ravel(), far]),
                             np.concatenate([(far[:, None] + v).ravel(), np.roll(far, 1)]))
    partition(apart, 8)
    assert not sought
    partition(core_and_leaves(150, 2250, rng), 16)
    assert sought


def test_a_core_over_its_limits_is_balanced_before_it_is_compared(monkeypatch: pytest.MonkeyPatch) -> None:
    graph = core_and_leaves(150, 2250, np.random.default_rng(4))
    level, pull = finest(graph, 16, None, None)
    limit = max_part_weights(2400, 16, 0.05)
    core = partition(graph, 16)
    # one part too many vertices, which have no neighbours in those with room
    over = int(np.bincount(core, minlength=16)[1:].argmax()) + 1
    moved = np.flatnonzero(core != over)[-int(limit[0]):]
    core[moved[: int(limit[0]) // 2]] = over
    monkeypatch.setattr(multilevel, "_around_core", lambda *_: core.copy())
    worse = np.arange(2400, dtype=np.int32) % 16
    with Team(1) as team:
        part = multilevel._better_around_core(level, pull, worse, limit, Config(), 1, team)
    assert cut_of(level, part) < cut_of(level, worse)
    assert excess_of(level, part, limit) == 0


@settings(deadline=None, max_examples=60)
@given(n=st.integers(20, 200), k=st.integers(2, 6), seed=st.integers(0, 10**6), heaviest=st.integers(1, 20))
def test_limits_are_as_tight_as_parts_can_be_held(n: int, k: int, seed: int, heaviest: int) -> None:
    rng = np.random.default_rng(seed)
    u, v, _ = scale_free(n, rng).edges()
    graph = Graph.from_edges(n, u, v, vwgt=rng.integers(1, heaviest + 1, n))
    level, _ = finest(graph, k, None, None)
    part = rng.integers(0, k, n).astype(np.int32)
    limit = max_part_weights(graph.total_weight, k, 0.03)
    before = excess_of(level, part, limit)
    tight = multilevel._tightened(level, part, limit)
    weights = np.bincount(part, weights=graph.weights, minlength=k)
    assert (weights <= tight).all()
    assert (tight >= limit).all()
    assert (tight == np.maximum(limit, weights)).all(), "no wider than what is left over"
    assert excess_of(level, part, limit) <= before


def test_no_level_has_more_room_than_its_parts_need(monkeypatch: pytest.MonkeyPatch) -> None:
    rooms = []

    class Noting(Refiner):
        def __init__(self, g: Level, pull: Pull, part: Any, limit: Any, *rest: Any):
            rooms.append((np.bincount(part, weights=g.vwgt, minlength=len(limit)), limit.copy()))
            super().__init__(g, pull, part, limit, *rest)

    monkeypatch.setattr(multilevel, "Refiner", Noting)
    graph = scale_free(4000, np.random.default_rng(7))
    partition(graph, 64)
    allowed = max_part_weights(4000, 64, 0.05)
    assert len(rooms) > 2
    assert all((limit == np.maximum(allowed, weights)).all() for weights, limit in rooms)


def test_cycles_around_hubs_are_kept_where_they_lower_the_cut(monkeypatch: pytest.MonkeyPatch) -> None:
    graph = scale_free(3000, np.random.default_rng(6))
    without, cycled = (partition(graph, 8, preset=Config(hub_cycles=cycles)) for cycles in (0, 2))
    assert edge_cut(graph, cycled) < edge_cut(graph, without)
    monkeypatch.setattr(multilevel, "cycle", lambda level, *_: np.arange(len(level.vwgt), dtype=np.int32) % 8)
    assert (partition(graph, 8, preset=Config(hub_cycles=2)) == without).all()


def test_rounds_around_hubs_lower_the_cut() -> None:
    graph = scale_free(4000, np.random.default_rng(5))
    cuts = [edge_cut(graph, partition(graph, 8, preset=Config(hub_rounds=rounds))) for rounds in (0, 4)]
    assert cuts[1] < 0.99 * cuts[0]


def test_fixed_vertices_are_no_hubs() -> None:
    side = np.arange(900).reshape(30, 30)
    u = np.concatenate([side[:-1].ravel(), side[:, :-1].ravel()])
    v = np.concatenate([side[1:].ravel(), side[:, 1:].ravel()])
    # a vertex for each of four parts, tied to all that it has
    mesh = Graph.from_edges(904, np.concatenate([u, np.arange(900)]), np.concatenate([v, 900 + np.arange(900) // 225]))
    fixed = np.full(904, -1)
    fixed[900:] = np.arange(4)
    for first in (None, fixed):
        graph = Graph.from_edges(904, *mesh.edges())
        # in any order: shapes are remembered
        shapes = [known_shape(graph, finest(graph, 4, one, None)[0]).skewed for one in (first, None, fixed)]
        assert shapes[1:] == [True, False]
    net = scale_free(900, np.random.default_rng(8))
    few = np.full(900, -1)
    few[-4:] = np.arange(4)
    assert known_shape(net, finest(net, 4, few, None)[0]).skewed
