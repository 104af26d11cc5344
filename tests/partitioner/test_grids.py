"""Grids: how far they are coarsened before they are bisected, and the flat walls that come of it."""

from __future__ import annotations

import numpy as np
import pytest

from copart.kgggp_ml import partition
from copart.metrics import edge_cut, max_part_weights
from copart.options import PRESETS
from copart.partitioner.coarsening import Shape, coarsest_size, first_size

from ..conftest import NO_JIT
from ..helpers import grid

GRID, OTHER = Shape(grid=True, dense=False, far=False), Shape(grid=False, dense=True, far=False)


@pytest.mark.parametrize("preset", PRESETS)
def test_grids_are_left_finer(preset):
    config = PRESETS[preset]
    for nvtxs, k in ((1000, 4), (10**6, 16), (10**7, 64), (10**6, 10**5)):
        plain = coarsest_size(config, k)
        assert first_size(config, nvtxs, k, OTHER) == plain
        assert first_size(config, nvtxs, k, GRID) == max(plain, config.grid_least, nvtxs // 8)


@pytest.mark.skipif(NO_JIT, reason="minutes without compiled kernels")
@pytest.mark.parametrize(("shape", "k", "boxes"), [
    ((36, 36, 36), 64, 9 * 36**2),
    ((60, 40, 20), 16, 60 * 20 + 3 * 40 * 20 + 60 * 40),
    ((160, 120), 16, 3 * 120 + 3 * 160),
])
def test_parts_of_a_grid_are_nearly_boxes(shape, k, boxes):
    graph = grid(*shape)
    parts = [partition(graph, k, seed=seed) for seed in (1, 2, 3)]
    for part in parts:
        assert (np.bincount(part, minlength=k) <= max_part_weights(graph.nvtxs, k, 0.05, None)).all()
    assert np.mean([edge_cut(graph, part) for part in parts]) <= 1.05 * boxes


@pytest.mark.parametrize("preset", ["fast", "default", "strong"])
def test_threads_make_no_difference_on_grids(preset):
    """Large enough that coarsening, bisections and refinement all share their work."""
    graph = grid(9, 8, 7) if NO_JIT else grid(75, 62, 50)
    one = partition(graph, 7, preset=preset)
    for threads in (2, 3):
        assert partition(graph, 7, preset=preset, threads=threads).tobytes() == one.tobytes()
