"""Corridors: fixed vertices of one part are joined where their surroundings meet, and nothing else changes."""

from __future__ import annotations

import numpy as np
from hypothesis import given, settings
from hypothesis import strategies as st

from copart.arrays import FREE
from copart.graph import Graph
from copart.kgggp_ml import extend
from copart.metrics import copartition_limit, part_weights, pieces
from copart.options import Options
from copart.partitioner.affinity import finest
from copart.partitioner.corridors import with_corridors

from ..helpers import grid
from ..reference import random_graph


def corridors(graph: Graph, fixed: np.ndarray, limit: int) -> np.ndarray:
    level, _ = finest(graph, int(fixed.max()) + 1, fixed.astype(np.int32), None)
    return with_corridors(level, np.full(int(fixed.max()) + 1, limit))


def test_a_way_of_least_length_is_fixed():
    """Two ends of a row in one part: the row joins them, in a grid where other ways are longer."""
    fixed = np.full(25, FREE)
    fixed[[10, 14]] = 0
    assert np.flatnonzero(corridors(grid(5, 5), fixed, 25) == 0).tolist() == [10, 11, 12, 13, 14]


def test_no_way_crosses_the_surroundings_of_another_part():
    fixed = np.full(25, FREE)
    fixed[[10, 14]] = 0
    fixed[[2, 7, 12, 17, 22]] = 1
    assert (corridors(grid(5, 5), fixed, 25) == fixed).all()


def test_a_part_without_room_gets_no_way():
    fixed = np.full(25, FREE)
    fixed[[10, 14]] = 0
    assert (corridors(grid(5, 5), fixed, 4) == fixed).all()
    assert (corridors(grid(5, 5), fixed, 5) == 0).sum() == 5


@settings(max_examples=60)
@given(st.integers(0, 2**32 - 1), st.integers(1, 5), st.integers(5, 60))
def test_what_holds_for_any_graph(seed, k, limit):
    """Fixed vertices stay, only free ones are added and within the limit, and no part is in more pieces."""
    rng = np.random.default_rng(seed)
    graph = random_graph(rng, 60, 80, weighted=True)
    fixed = np.where(rng.random(60) < 0.3, rng.integers(0, k, 60), FREE)
    fixed[:k] = np.arange(k)
    made = corridors(graph, fixed, limit)
    assert (made[fixed >= 0] == fixed[fixed >= 0]).all()

    def of(part: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        inside = np.flatnonzero(part >= 0)
        sub = graph.subgraph(inside)
        return part_weights(sub, part[inside], k), pieces(sub, part[inside], k)

    (before, apart), (after, joined) = of(fixed), of(made)
    assert (after <= np.maximum(before, limit)).all()
    assert (joined <= apart).all()
    assert (joined < apart)[after > before].all(), "nothing is taken for nothing"


def test_scattered_vertices_of_a_surface_are_joined():
    """Every other vertex along a side, in four runs: an extension that knew only these would strand some."""
    graph = grid(20, 20)
    fixed = np.full(400, FREE, np.int32)
    fixed[:20:2] = np.arange(10) * 4 // 10
    made = extend(graph, 8, fixed, Options(eps=0.05))
    assert (made[fixed >= 0] == fixed[fixed >= 0]).all()
    assert part_weights(graph, made, 8).max() <= copartition_limit(400, 8, 0.05) + 1
    assert pieces(graph, made, 8).tolist() == [1] * 8
