"""What a partition of a large graph takes: levels that are not at work are packed, levels left are freed."""

from __future__ import annotations

import gc
import json
import os
import subprocess
import sys
import tracemalloc
import weakref

import numpy as np
import pytest

from copart.graph import Graph
from copart.kernels.weights import EDGE_WEIGHT
from copart.kgggp_ml import partition
from copart.partitioner import coarsening, multilevel
from copart.partitioner.coarsening import coarsen, packed, unpacked
from copart.partitioner.refinement import Refiner
from copart.partitioner.rounds import Team
from copart.partitioner.shape import look_at

from ..helpers import ROOT, grid, triangulated
from ..partition_reference import level

NO_JIT = os.environ.get("NUMBA_DISABLE_JIT") == "1"


@pytest.mark.parametrize(("heaviest", "kind"), [(255, np.uint8), (256, np.uint16), (70_000, np.int32),
                                                (2**31, np.uint32), (2**33, np.int64)])
def test_packing_loses_nothing(monkeypatch, heaviest, kind):
    monkeypatch.setattr(coarsening, "_LARGE", 4)
    graph = Graph.from_edges(3, [0, 1], [1, 2], [heaviest, 1])
    g = level(graph)
    monkeypatch.setattr(coarsening, "_HUGE", 4)
    with Team(2) as team:
        small = packed(g, team)
    assert (small.ewgt.dtype, small.vwgt.dtype, small.xadj.dtype) == (kind, np.uint8, np.uint8)
    with Team(1) as team:
        again = unpacked(small, team)
    assert [one.dtype for one in again] == [one.dtype for one in g]
    for one, other in zip(again, g, strict=True):
        assert (one == other).all()


@pytest.mark.parametrize(("at", "to", "count"), [(10, 0, 300), (300, 20, 90), (7, 6, 500), (5, 5, 40), (400, 3, 0)])
def test_entries_are_moved_down(at, to, count):
    values = np.arange(600)
    expected = values.copy()
    expected[to:to + count] = values[at:at + count]
    coarsening._move(values, at, to, count)
    assert (values == expected).all()


def test_only_levels_at_rest_are_packed(monkeypatch):
    monkeypatch.setattr(coarsening, "_LARGE", 64)
    g = level(grid(40, 40))
    with Team(1) as team:
        plain = coarsen(g, 100, look_at(g), team)
        small = coarsen(g, 100, look_at(g), team, pack=True)
    assert len(plain.levels) == len(small.levels) > 3
    assert all(one.ewgt.dtype == np.uint8 for one in small.levels[1:-1])
    assert all(one.vwgt.dtype == np.uint8 for one in small.levels[1:-1])
    assert (small.levels[-1].ewgt.dtype, small.levels[-1].vwgt.dtype) == (EDGE_WEIGHT, np.int64)
    for a, b in zip(plain.levels, small.levels, strict=True):
        assert all((one == other).all() for one, other in zip(a, b, strict=True))


def test_levels_keep_no_memory_beyond_their_neighbours():
    """Room for all entries of the finer level is taken at first; what had been touched before would stay in memory."""
    g = level(grid(40, 40))
    with Team(2) as team:
        for one in coarsen(g, 100, look_at(g), team).levels[1:]:
            assert one.adjncy.base is None
            assert one.ewgt.base is None
            assert len(one.adjncy) == len(one.ewgt) == one.xadj[-1]


def test_packing_changes_no_part(monkeypatch):
    graph = grid(60, 50)
    expected = partition(graph, 7, preset="strong")
    monkeypatch.setattr(coarsening, "_LARGE", 1)
    assert (partition(graph, 7, preset="strong") == expected).all()


def test_levels_that_were_left_are_freed(monkeypatch):
    left: list[weakref.ref] = []

    class Watched(Refiner):
        def __init__(self, g, *args):
            assert all(one() is None for one in left), "the refiner of a finer level is made beside a coarser level"
            super().__init__(g, *args)
            left.append(weakref.ref(g.xadj))

    monkeypatch.setattr(multilevel, "Refiner", Watched)
    partition(triangulated(90, 90), 3)
    assert len(left) > 2


def test_weights_that_are_all_one_are_not_kept():
    graph = grid(40, 30)
    expected = partition(graph.replace(vwgt=np.ones(graph.nvtxs, np.int64)), 7, preset="best")
    assert (partition(graph, 7, preset="best") == expected).all()
    assert "weights" not in vars(graph)


@pytest.mark.slow
@pytest.mark.skipif(NO_JIT, reason="a million cells take hours without the JIT")
@pytest.mark.skipif(not os.access("/proc/self/clear_refs", os.W_OK), reason="the system does not tell peaks of memory")
@pytest.mark.parametrize("preset", ["default", "strong"])
def test_a_million_cells_take_80_megabytes(preset):
    """Beside the graph, with one thread; kernels are compiled by a first run."""
    job = json.dumps({"side": 100, "k": 64, "preset": preset, "threads": 1, "run": 1})
    said = [subprocess.run([sys.executable, "-m", "benchmarks.growth", job], cwd=ROOT, text=True, check=True,
                           stdout=subprocess.PIPE).stdout for _ in range(2)]
    assert json.loads(said[-1].splitlines()[-1])["peak_mb"] <= 80


@pytest.mark.slow
@pytest.mark.parametrize("preset", ["fast", "default"])
def test_what_a_grid_allocates_per_cell(preset):
    """Beside the graph itself; what is allocated and never written to counts here, but takes no memory."""
    partition(grid(30, 30), 4, preset=preset)
    graph = cube_graph(64)
    gc.collect()
    tracemalloc.start()
    try:
        partition(graph, 16, preset=preset)
        most = tracemalloc.get_traced_memory()[1]
    finally:
        tracemalloc.stop()
    assert most < 250 * graph.nvtxs, f"{most / graph.nvtxs:.0f} bytes per cell"


def cube_graph(side: int) -> Graph:
    """A grid of side^3 cells."""
    number = np.arange(side**3).reshape(side, side, side)
    ends = [(number[1:], number[:-1]), (number[:, 1:], number[:, :-1]), (number[..., 1:], number[..., :-1])]
    return Graph.from_edges(side**3, np.concatenate([u.ravel() for u, _ in ends]),
                            np.concatenate([v.ravel() for _, v in ends]))
