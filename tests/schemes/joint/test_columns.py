"""Partitions whose coupled parts are columns behind the interface."""

from __future__ import annotations

import numpy as np
import pytest

from copart.graph import Graph
from copart.metrics import max_part_weights
from copart.options import Config
from copart.partitioner.affinity import finest
from copart.partitioner.rounds import Team
from copart.partitioner.shape import Shape, look_at
from copart.schemes.joint.columns import columns

from ...helpers import grid

SIDE, DEEP = 12, 20
FACE = np.arange(SIDE * SIDE, dtype=np.int32)
"""The cells of the first layer of a grid of DEEP layers, which are numbered one after the other."""


def made(graph: Graph, nparts: int, ncoupled: int, cells: np.ndarray = FACE, coords: np.ndarray | None = None,
         load: np.ndarray | None = None) -> np.ndarray:
    limit = max_part_weights(graph.total_weight, nparts, 0.05)
    level, _ = finest(graph, nparts, None, None)
    load = np.ones(len(cells), np.int64) if load is None else load
    bound = max_part_weights(int(load.sum()), ncoupled, 0.05)
    with Team(1) as team:
        return columns(level, cells, load, limit, bound, Config(), 3, team, Shape(True, False, False), coords)


@pytest.mark.parametrize("known", [False, True])
def test_coupled_parts_go_on_behind_the_interface_and_both_balances_hold(known):
    graph = grid(DEEP, SIDE, SIDE)
    coords = np.stack(np.unravel_index(np.arange(graph.nvtxs), (DEEP, SIDE, SIDE)), axis=1).astype(float)
    layers = made(graph, 10, 3, coords=coords if known else None).reshape(DEEP, -1)
    assert layers.dtype == np.int32
    assert np.unique(layers[0]).tolist() == [0, 1, 2]
    assert np.bincount(layers[0]).max() <= 0.35 * SIDE * SIDE, "within 5 %"
    assert (layers[:6] == layers[0]).all(), "six layers of twenty are what three parts of ten hold"
    assert np.unique(layers[6:]).tolist() == list(range(3, 10))
    weight = np.bincount(layers.ravel())
    assert weight.max() <= 1.05 * weight.mean() + SIDE, "about a row of cells above, where a face of two rows is halved"


def test_layers_that_do_not_fit_are_shared():
    """A third of seven layers is between two and three, and both are too far off."""
    graph = grid(7, SIDE, SIDE)
    layers = made(graph, 6, 2).reshape(7, -1)
    coupled = layers < 2
    assert coupled[:2].all()
    assert not coupled[3:].any()
    assert coupled.sum() == graph.nvtxs // 3


def test_coupled_vertices_may_come_in_any_order():
    graph = grid(DEEP, SIDE, SIDE)
    order = np.random.default_rng(1).permutation(len(FACE))
    load = np.arange(len(FACE)) % 7 + 1
    assert made(graph, 10, 3, FACE[order], load=load[order]).tolist() == made(graph, 10, 3, load=load).tolist()


def test_all_parts_may_be_coupled():
    layers = made(grid(DEEP, SIDE, SIDE), 6, 6).reshape(DEEP, -1)
    assert (layers == layers[0]).all()
    assert np.unique(layers).tolist() == list(range(6))


@pytest.mark.parametrize("known", [False, True])
def test_one_part_may_be_all_that_is_not_coupled(known):
    coords = np.stack(np.unravel_index(np.arange(DEEP * SIDE * SIDE), (DEEP, SIDE, SIDE)), axis=1).astype(float)
    layers = made(grid(DEEP, SIDE, SIDE), 5, 4, coords=coords if known else None).reshape(DEEP, -1)
    assert (layers[:16] == layers[0]).all()
    assert (layers[16:] == 4).all()


def test_nothing_may_be_left_for_the_parts_that_are_not_coupled():
    """A vertex as heavy as a part may be, on its interface: limits are loose, and all fits into the coupled parts."""
    graph = grid(3, 3, vwgt=np.array([1, 1, 1, 1, 20, 1, 1, 1, 1]))
    level, _ = finest(graph, 9, None, None)
    every, bound = np.arange(9, dtype=np.int32), np.full(4, 20)
    with Team(1) as team:
        part = columns(level, every, graph.weights, np.full(9, 20), bound, Config(), 3, team, look_at(level), None)
    assert part.max() < 4


def test_coupled_weights_are_balanced_and_not_the_weights_of_the_vertices():
    load = np.ones(SIDE * SIDE, np.int64)
    load[:SIDE] = 10
    layers = made(grid(DEEP, SIDE, SIDE), 8, 2, load=load).reshape(DEEP, -1)
    share = np.bincount(layers[0], weights=load)
    assert share.max() <= 1.05 * share.mean() + 10


def test_vertices_that_no_way_leads_to_are_far_away():
    u, v, _ = grid(DEEP, SIDE, SIDE).edges()
    n = DEEP * SIDE * SIDE
    loose = Graph.from_edges(n + 1000, np.append(u, n + np.arange(999)), np.append(v, n + np.arange(1, 1000)))
    part = made(loose, 10, 3)
    assert part[n:].min() >= 3
    assert np.unique(part[FACE]).tolist() == [0, 1, 2]
