"""The last refinement: coupled cells stay, balance holds, the cut does not rise."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
from hypothesis import given, settings
from hypothesis import strategies as st

from copart.graph import Graph
from copart.kgggp_ml import partition
from copart.metrics import edge_cut, max_part_weights
from copart.options import PRESETS
from copart.partitioner.affinity import finest
from copart.partitioner.refinement import cut_of
from copart.partitioner.rounds import Team
from copart.partitioner.shape import look_at
from copart.schemes.joint.finish import finish, held

from ...helpers import grid


@settings(max_examples=20, deadline=None)
@given(st.integers(0, 2**16), st.integers(2, 9))
def test_held_cells_stay_and_nothing_gets_worse(seed, k):
    rng = np.random.default_rng(seed)
    graph = grid(25, 25, vwgt=rng.integers(1, 4, 625))
    limit = max_part_weights(graph.total_weight, k, 0.1)
    start = partition(graph, k, eps=0.1, seed=1, preset="fast")
    cells = np.sort(rng.choice(625, 40, replace=False)).astype(np.int32)
    level, pull = finest(graph, k, None, None)
    part = start.copy()
    with Team(1) as team:
        left = finish(held(level, cells, start[cells]), pull, part, limit, cut_of(level, part), PRESETS["default"], 1,
                      team, look_at(level))
    assert left == 0
    assert (part[cells] == start[cells]).all()
    assert np.bincount(part, graph.weights, k).max() <= limit[0]
    assert edge_cut(graph, part) <= edge_cut(graph, start)


def test_a_ragged_border_is_straightened():
    """Zigzag between two halves, held at one end: k-way FM finds the straight one."""
    graph, rows = grid(20, 20), np.arange(400) // 20
    part = (np.arange(400) % 20 + (rows % 2) * 2 - 1 >= 10).astype(np.int32)
    before = edge_cut(graph, part)
    level, pull = finest(graph, 2, None, None)
    cells = np.arange(0, 400, 20, dtype=np.int32)
    with Team(1) as team:
        assert finish(held(level, cells, part[cells]), pull, part, np.array([210, 210]), before, PRESETS["default"], 1,
                      team, look_at(level)) == 0
    assert edge_cut(graph, part) == 20 < before


def test_minimum_cuts_find_a_short_wall_out_of_reach_of_single_moves():
    """Three columns away edges weigh a third; both ends of a row are held."""
    n = 24
    u, v, _ = grid(n, n).edges()
    row, column = u // n, np.maximum(u % n, v % n)
    graph = Graph.from_edges(n * n, u, v, ewgt=np.where((row == v // n) & (column == n // 2 + 3), 1, 3))
    start = (np.arange(n * n) % n >= n // 2).astype(np.int32)
    level, pull = finest(graph, 2, None, None)
    cells, limit = np.array([0, n - 1], np.int32), np.array([370, 370])
    found = []
    for reach in (0, 6):
        part, config = start.copy(), replace(PRESETS["default"], reach=reach, share=0.5)
        with Team(1) as team:
            assert finish(held(level, cells, start[cells]), pull, part, limit, cut_of(level, part), config, 1, team,
                          look_at(level)) == 0
        assert part[cells].tolist() == [0, 1]
        found.append(edge_cut(graph, part))
    assert found[1] == n < found[0]
