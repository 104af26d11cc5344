"""Grids: how far they are coarsened before they are bisected, and the flat walls that come of it."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest
from scipy.ndimage import gaussian_filter
from scipy.sparse.csgraph import connected_components

from benchmarks.unstructured import octree, quadrangulated
from copart.graph import Graph
from copart.kgggp_ml import partition
from copart.mesh import dual_graph
from copart.metrics import edge_cut, max_part_weights
from copart.options import PRESETS, Config
from copart.partitioner import coarsening
from copart.partitioner import shape as shapes
from copart.partitioner.coarsening import coarsest_size, first_size
from copart.partitioner.flows import cooling_at, flow_settings
from copart.partitioner.shape import Shape, look_at

from ..conftest import NO_JIT
from ..helpers import grid
from ..partition_reference import level

GRID, OTHER = Shape(grid=True, dense=False, far=False), Shape(grid=False, dense=True, far=False)


@pytest.mark.parametrize("preset", PRESETS)
def test_grids_are_left_finer(preset):
    config = PRESETS[preset]
    for nvtxs, k in ((1000, 4), (10**6, 16), (10**7, 64), (10**6, 10**5)):
        plain = coarsest_size(config, k)
        assert first_size(config, nvtxs, k, OTHER) == plain
        assert first_size(config, nvtxs, k, GRID) == max(plain, config.grid_least, nvtxs // 8)
        for other, fewer in ((GRID._replace(flat=True), 2), (GRID._replace(uneven=True), 4)):
            assert first_size(config, nvtxs, k, other) == max(plain, config.grid_least // fewer, nvtxs // 8 // fewer)


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


@pytest.mark.skipif(NO_JIT, reason="minutes without compiled kernels")
@pytest.mark.parametrize("preset", ["fast", "default"])
def test_threads_make_no_difference_on_bodies_with_steps(preset):
    graph = _masked(_ball(60))
    one = partition(graph, 9, preset=preset)
    for threads in (2, 3):
        assert partition(graph, 9, preset=preset, threads=threads).tobytes() == one.tobytes()


def _weighted(dims, by=None, vwgt=None):
    """A grid whose edges weigh what `by` says of the places of their first ends and of their direction."""
    u, v, _ = grid(*dims).edges()
    at = np.stack(np.unravel_index(u, dims))
    return Graph.from_edges(int(np.prod(dims)), u, v, None if by is None else by(at, v - u), vwgt=vwgt)


@pytest.mark.parametrize("dims", [(60, 50), (20, 18, 16)])
def test_grids_whose_weights_differ_from_cell_to_cell_are_none(dims):
    rng, n = np.random.default_rng(3), int(np.prod(dims))
    stretched = [_weighted(dims, lambda at, step: np.where(step == 1, 100, 1)),
                 _weighted(dims, lambda at, step: (1000 * 1.3 ** -at[-1]).astype(int) + 1),
                 _weighted(dims, lambda at, step: np.where(at[0] < 9, 10, 1)),
                 _weighted(dims, vwgt=(1000 * 1.3 ** -(np.arange(n) % dims[-1])).astype(int) + 1)]
    other = [_weighted(dims, lambda at, step: rng.integers(1, 4, len(step))),
             _weighted(dims, lambda at, step: np.where(rng.random(len(step)) < 0.1, 100, 1)),
             _weighted(dims, vwgt=rng.integers(1, 4, n))]
    assert [look_at(level(graph)).grid for graph in stretched + other] == [True] * 4 + [False] * 3


@pytest.mark.skipif(NO_JIT, reason="minutes without compiled kernels")
@pytest.mark.parametrize("dims", [(120, 100), (26, 24, 22)])
@pytest.mark.parametrize("preset", ["fast", "default"])
def test_heavy_edges_of_a_grid_are_not_cut(dims, preset):
    """As boxes, whose walls cross one heavy edge in ten, it would cost 10 times as much as without."""
    rng = np.random.default_rng(3)
    graph = _weighted(dims, lambda at, step: np.where(rng.random(len(step)) < 0.1, 100, 1))
    plain = grid(*dims)
    assert edge_cut(graph, partition(graph, 8, preset=preset)) < 3 * edge_cut(plain, partition(plain, 8, preset=preset))


SPACE, OCTREE = OTHER._replace(dense=False), GRID._replace(uneven=True)
FLAT = SPACE._replace(flat=True)


@pytest.mark.parametrize(("preset", "shape", "reach", "levels", "rounds"), [
    ("fast", FLAT, 3, 1, 1), ("fast", GRID, None, 0, None), ("fast", OCTREE, None, 0, None),
    ("default", FLAT, 4, 1, 2), ("default", GRID, None, 0, None), ("default", OCTREE, 2, 1, 1),
    ("default", SPACE, 4, 1, 1), ("strong", FLAT, 8, 2, 3), ("strong", GRID, 5, 2, 2), ("strong", OCTREE, 4, 2, 2),
    ("strong", SPACE, 5, 2, 2), ("strong", OTHER, 4, 2, 2),
    ("strong", OTHER._replace(grows_flat=True), 8, 2, 2)])
def test_minimum_cuts_are_sought_where_they_pay(preset, shape, reach, levels, rounds):
    graph = level(grid(6, 6, 6))
    made = flow_settings(graph, PRESETS[preset], shape, 8)
    assert made.flow_levels == levels
    if levels:
        assert (made.reach, made.rounds) == (reach, rounds)


@pytest.mark.parametrize("preset", PRESETS)
def test_wide_parts_are_cooled_more_slowly_and_looked_at_farther(preset):
    graph, config = level(grid(6, 6, 6))._replace(vwgt=np.ones(64_000, np.int64)), PRESETS[preset]
    cooling = {"fast": 10}.get(preset, 24)
    wide, narrow = (flow_settings(graph, config, FLAT, nparts) for nparts in (8, 9))
    reach, rounds = {"fast": (10, 3), "default": (11, 4)}.get(preset, (13, 4))
    assert wide == replace(narrow, reach=reach, rounds=rounds, cooling=cooling)
    wide, narrow = (flow_settings(graph, config, SPACE, nparts) for nparts in (8, 9))
    assert wide == replace(narrow, cooling=cooling, cooling_fine=max(config.cooling_fine, 6))
    thorough = replace(config, reach=20, rounds=9)
    wide = flow_settings(graph, thorough, FLAT, 8)
    assert (wide.reach, wide.rounds) == (20, 10)
    none = replace(config, flow_degree=0.0)
    assert flow_settings(graph, none, SPACE, 8).flow_levels == 0


def test_fast_seeks_minimum_cuts_in_space_between_parts_that_are_not_small():
    graph, fast = level(grid(6, 6, 6))._replace(vwgt=np.ones(40_000, np.int64)), PRESETS["fast"]
    assert flow_settings(graph, fast, SPACE, 9).flow_levels == 0
    assert flow_settings(graph, fast, SPACE, 8) == replace(fast, rounds=1)
    assert flow_settings(graph, replace(fast, flow_width=0), SPACE, 8).flow_levels == 0
    assert flow_settings(graph, fast, FLAT, 8) == replace(fast, rounds=1)


@pytest.mark.parametrize("preset", PRESETS)
def test_narrow_parts_cool_on_the_finest_levels(preset):
    config = PRESETS[preset]
    graph = level(grid(6, 6, 6))._replace(vwgt=np.ones(8000, np.int64))
    for shape in (FLAT, SPACE):
        usual, narrow = (flow_settings(graph, config, shape, nparts) for nparts in (8, 9))
        if usual.flow_levels:
            assert narrow == replace(usual, cooling_fine=max(config.cooling_fine, min(config.cooling, 6)))
        else:
            assert narrow == usual
        assert flow_settings(graph, replace(config, cooling=0), shape, 9).cooling_fine == config.cooling_fine


@pytest.mark.parametrize("preset", ["fast", "default"])
def test_minimum_cuts_lower_the_cut_of_meshes_in_the_plane(preset):
    graph = dual_graph(quadrangulated(200 if NO_JIT else 9000))
    k = 3 if NO_JIT else 12
    without: Config = replace(PRESETS[preset], reach=0)
    cuts = [np.mean([edge_cut(graph, partition(graph, k, preset=one, seed=seed)) for seed in (1, 2, 3)])
            for one in (preset, without)]
    assert cuts[0] < cuts[1] * (1 if NO_JIT else 0.97)


@pytest.mark.skipif(NO_JIT, reason="too small to win")
def test_minimum_cuts_lower_the_cut_of_octrees():
    graph = octree(12, 2, lambda x, y, z: np.sqrt((x - 0.5)**2 + (y - 0.4)**2 + z**2) - 0.5)
    cuts = [np.mean([edge_cut(graph, partition(graph, 12, preset=one, seed=seed)) for seed in (1, 2, 3)])
            for one in ("default", replace(PRESETS["default"], reach=0))]
    assert cuts[0] < 0.99 * cuts[1]


def _sea(side: int, seed: int = 1, share: float = 0.7) -> np.ndarray:
    """Where a smoothed noise is under one of its quantiles: coasts and islands at all scales above four cells."""
    noise = gaussian_filter(np.random.default_rng(seed).normal(size=(side, side)), 4)
    return np.asarray(noise < np.quantile(noise, share))


def _masked(inside: np.ndarray) -> Graph:
    """The largest component of the cells of a grid that are inside."""
    graph = grid(*inside.shape)
    graph = graph.subgraph(np.flatnonzero(inside.ravel()))
    label = connected_components(graph.to_scipy())[1]
    return graph.subgraph(np.flatnonzero(label == np.bincount(label).argmax()))


def _sheets(side: int, height: int, apart: int) -> Graph:
    """Two families of sheets of squares that cross."""
    x, y = np.indices((side, side, height))[:2]
    return _masked((x % apart == 0) | (y % apart == 0))


def _disc(side: int) -> np.ndarray:
    x = np.arange(side) - side / 2
    return np.asarray(np.hypot(x[:, None], x) < side / 2)


def _foam(side: int, balls: int, seed: int) -> np.ndarray:
    """What many balls leave of a cube: ridges and tips where they meet."""
    rng = np.random.default_rng(seed)
    at = np.indices((side, side, side)).transpose(1, 2, 3, 0)
    inside = np.ones((side, side, side), bool)
    for _ in range(balls):
        inside &= np.linalg.norm(at - rng.integers(0, side, 3), axis=-1) >= rng.integers(5, 11)
    return inside


def test_grids_are_rough_where_hardly_a_row_is_long():
    pores = gaussian_filter(np.random.default_rng(2).normal(size=(24, 24, 24)), 1.1) > 0
    rough = [_masked(_sea(110)), _sheets(60, 8, 12), _masked(pores), _masked(_foam(30, 15, 1))]
    ball = np.linalg.norm(np.indices((24, 24, 24)).transpose(1, 2, 3, 0) - 11.5, axis=-1) < 12
    even = [grid(70, 80), grid(4, 900), grid(4, 4, 300), grid(14, 15, 16), _masked(_disc(90)), _masked(ball),
            grid(3, 3, 200), grid(4, 4, 4)]
    assert [look_at(level(graph)).grid for graph in rough] == [False] * 4
    # balls in seas, sheets and these pores grow as in the plane
    assert [look_at(level(graph)).rough for graph in rough + even] == [False] * 3 + [True] + [False] * 8
    assert [look_at(level(graph)).grid for graph in even] == [True] * 8


def _ball(side: int) -> np.ndarray:
    middle = (side - 1) / 2
    return np.asarray(np.linalg.norm(np.indices((side,) * 3).transpose(1, 2, 3, 0) - middle, axis=-1) < side / 2)


def test_grids_with_a_surface_of_steps_are_told_from_boxes():
    side = 30
    oblique = np.abs(np.subtract(*np.indices((side, side)))) < 9
    stepped = [_masked(_ball(26)), _layers(_disc(side), 20), _layers(oblique, 12), _masked(_ball(40)[:, :, :9])]
    corner = np.ones((24, 24, 20), bool)
    corner[12:, 12:] = False
    boxes = [grid(8, 8, 8), grid(30, 30, 30), grid(40, 30, 4), _masked(corner), grid(90, 80)]
    assert [look_at(level(graph)).stepped for graph in stepped + boxes] == [True] * 4 + [False] * 5


@pytest.mark.skipif(NO_JIT, reason="minutes without compiled kernels")
@pytest.mark.parametrize("preset", ["fast", "default"])
def test_oblique_walls_of_bodies_with_steps_are_found_by_minimum_cuts(monkeypatch, preset):
    hollow = _ball(50)
    hollow[12:38, 12:38, 12:38] &= ~_ball(26)
    graphs = [_masked(hollow), _layers(_disc(40), 40)]

    def cut(graph: Graph) -> int:
        return sum(edge_cut(graph, partition(graph, 7, preset=preset, seed=seed)) for seed in (1, 2))

    now = sum(map(cut, graphs))
    monkeypatch.setattr(shapes, "_STEPPED", np.inf)
    assert now < 0.97 * sum(cut(graph.replace()) for graph in graphs)


@pytest.mark.parametrize("preset", PRESETS)
def test_rough_bodies_are_coarsened_far(preset):
    config, rough = PRESETS[preset], OTHER._replace(dense=False, rough=True)
    assert first_size(config, 10**5, 4, rough) == 200
    assert first_size(config, 10**5, 100, rough) == coarsest_size(config, 100)
    assert first_size(replace(config, coarse_least=99), 10**5, 2, rough) == 99


@pytest.mark.skipif(NO_JIT, reason="minutes without compiled kernels")
@pytest.mark.parametrize("preset", ["fast", "default"])
def test_narrow_places_of_foams_are_found_by_coarsening_far(monkeypatch, preset):
    graphs = [_masked(_foam(40, 60, seed)) for seed in range(1, 9)]

    def cut() -> int:
        return sum(edge_cut(graph, partition(graph, k, preset=preset, seed=seed))
                   for graph in graphs for k in (3, 4, 6, 8) for seed in (1, 2))

    now = cut()
    monkeypatch.setattr(coarsening, "_LEAST_OF_ROUGH", 1000)
    assert now < 0.98 * cut()


@pytest.mark.skipif(NO_JIT, reason="minutes without compiled kernels")
@pytest.mark.parametrize("preset", ["fast", "default"])
def test_seas_with_coasts_and_islands_are_cut_less_by_clusters(monkeypatch, preset):
    graphs = [_masked(_sea(150, seed)) for seed in (1, 2, 3)]

    def cut(graph: Graph) -> int:
        return sum(edge_cut(graph, partition(graph, 12, preset=preset, seed=seed)) for seed in (1, 2))

    now = sum(map(cut, graphs))
    monkeypatch.setattr(shapes, "_ROUGH", np.inf)
    assert now < 0.97 * sum(cut(graph.replace()) for graph in graphs)


@pytest.mark.skipif(NO_JIT, reason="minutes without compiled kernels")
def test_foams_are_cut_less_by_clusters(monkeypatch):
    """They have few corners, but tips."""
    graphs = [_masked(_foam(40, 30, seed)) for seed in range(1, 7)]

    def cut(graph: Graph) -> int:
        return sum(edge_cut(graph, partition(graph, 8, seed=seed)) for seed in (1, 2))

    now = sum(map(cut, graphs))
    monkeypatch.setattr(shapes, "_TIPS", np.inf)
    assert all(look_at(level(graph)).grid for graph in graphs)
    assert now < 0.97 * sum(cut(graph.replace()) for graph in graphs)


def _layers(plane: np.ndarray, count: int) -> Graph:
    return _masked(np.repeat(plane[None], count, axis=0))


def test_large_blocks_of_rows_stay_in_their_order():
    """However few layers there are; but not small ones, cylinders, those in the plane and those in another order."""
    side = 120
    square = np.ones((side, side), bool)
    corner = square.copy()
    corner[side // 2:, side // 2:] = False
    assert [look_at(level(_layers(plane, 12))).far for plane in (square, corner)] == [False, False]
    slab = grid(12, side, side)
    place = np.random.default_rng(1).permutation(slab.nvtxs)
    rows = np.repeat(place, np.diff(slab.xadj))
    shuffled = Graph.from_edges(slab.nvtxs, rows, place[slab.adjncy])
    others = [_layers(square, 5), _layers(_disc(side), 12), grid(40, 6000), shuffled]
    assert [look_at(level(graph)).far for graph in others] == [True] * 4


@pytest.mark.skipif(NO_JIT, reason="minutes without compiled kernels")
def test_large_blocks_of_rows_are_cut_no_worse_than_in_breadth_first_order(monkeypatch):
    graphs = [grid(*shape) for shape in ((110, 80, 20), (16, 90, 75), (60, 55, 48))]
    cuts = [[edge_cut(graph, partition(graph, 24, seed=seed)) for graph in graphs for seed in range(1, 5)]]
    shapes._SEEN.clear()
    monkeypatch.setattr(shapes, "_IN_BLOCKS", 2.0)
    cuts.append([edge_cut(graph, partition(graph, 24, seed=seed)) for graph in graphs for seed in range(1, 5)])
    shapes._SEEN.clear()
    assert cuts[0] != cuts[1]
    assert np.mean(cuts[0]) < 1.015 * np.mean(cuts[1])


def test_the_finest_levels_cool_less_where_minimum_cuts_follow():
    config = replace(PRESETS["strong"], cooling=24, cooling_fine=12, flow_levels=2)
    assert [cooling_at(depth, config) for depth in range(5)] == [12, 12, 12, 24, 24]
    assert [cooling_at(depth, replace(config, flow_levels=0)) for depth in range(5)] == [24] * 5
