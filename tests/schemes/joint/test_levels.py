"""One component on the levels of its coarsening: what is kept up to date, what holds, what comes back."""

from __future__ import annotations

import numpy as np
import pytest

from copart.errors import PartitionError
from copart.graph import Graph
from copart.metrics import copartition_limit, edge_cut
from copart.options import Options
from copart.partitioner.refinement import cut_of
from copart.partitioner.rounds import Team
from copart.schemes.joint import levels
from copart.schemes.joint.levels import CoupledLevels, filled

from ...helpers import grid

SIDE = 60
FACE = np.arange(SIDE, dtype=np.int32) * SIDE
"""The cells of the first column."""


@pytest.fixture
def team():
    with Team(1) as one:
        yield one


def begun(team: Team, graph: Graph | None = None, cells: np.ndarray = FACE) -> CoupledLevels:
    made = CoupledLevels(grid(SIDE, SIDE) if graph is None else graph, cells, 9, 4, team, Options(seed=3))
    made.start()
    return made


def test_blocks_hold_all_coupled_cells_on_every_level(team):
    weights = np.arange(SIDE * SIDE) % 5 + 1
    made = begun(team, grid(SIDE, SIDE, vwgt=weights))
    assert made.at >= 1, "large enough to be coarsened"
    for level, (blocks, loads) in enumerate(zip(made.coupled, made.loads, strict=True)):
        assert loads.sum() == weights[FACE].sum()
        assert (np.diff(blocks) > 0).all()
        if level < made.at:
            up = made.up[level]
            assert (made.coupled[level + 1][up] == made.maps[level][blocks]).all()
    assert made.coupled_load.sum() == weights[FACE].sum()


def test_the_cut_is_kept_up_to_date_and_the_same_on_all_levels(team):
    made, rng = begun(team), np.random.default_rng(1)
    while True:
        assert made.cut == cut_of(made.level, made.part)
        made.labels = rng.integers(0, made.ncoupled, len(made.cells)).astype(np.int32)
        assert made.cut == cut_of(made.level, made.part), "after labels were set"
        made.refine(hold=True)
        assert made.cut == cut_of(made.level, made.part), "after refinement"
        made.refine(hold=False)
        assert made.cut == cut_of(made.level, made.part), "after free refinement"
        if made.at == 0:
            break
        before = made.cut
        made.finer()
        assert made.cut == before


def test_coupled_vertices_stay_where_they_are_held(team):
    made = begun(team)
    part, any_two = made.part.copy(), np.isin(made.part, (5, 6))
    part[any_two] = np.random.default_rng(5).permutation(part[any_two])
    made.part = part
    made.labels = np.roll(made.labels, 3)
    kept, cut = made.labels, made.cut
    made.refine(hold=True)
    assert made.labels.tolist() == kept.tolist()
    assert made.cut < cut, "the rest was free to follow"
    made.refine(hold=False)
    assert set(made.labels.tolist()) == {0, 1, 2, 3}, "coupled parts only, and none of them empty"
    made.grow(kept)
    assert made.labels.tolist() == kept.tolist()


def test_surroundings_are_all_edges_of_coupled_vertices(team):
    made = begun(team)
    while made.at:
        made.finer()
    row, column, weight = made.edges()
    assert len(row) == 2 * (SIDE - 1), "along the column, each edge from both ends"
    assert (np.abs(row - column) == 1).all()
    assert weight.sum() == 2 * (SIDE - 1)
    row, part, weight = made.pulls()
    second = made.result()[FACE + 1]
    assert row.tolist() == np.flatnonzero(second < made.ncoupled).tolist()
    assert part.tolist() == second[second < made.ncoupled].tolist()
    assert (weight == 1).all()


def test_the_result_is_balanced_and_in_the_component_s_own_numbering(team):
    new = np.random.default_rng(2).permutation(SIDE * SIDE).astype(np.int32)
    u, v, _ = grid(SIDE, SIDE).edges()
    shuffled = Graph.from_edges(SIDE * SIDE, new[u], new[v])
    cells = np.sort(new[FACE]).astype(np.int32)
    made = begun(team, shuffled, cells)
    assert made.place is not None, "numbered far from its shape, so renumbered inside"
    while made.at:
        made.finer()
    made.finish()
    part = made.result()
    assert edge_cut(shuffled, part) == made.cut <= 420
    assert np.bincount(part).max() <= copartition_limit(SIDE * SIDE, 9, 0.05)
    assert set(part[cells].tolist()) == {0, 1, 2, 3}


def test_a_partition_from_scratch_keeps_the_coupled_cells(team):
    made = begun(team)
    while made.at:
        made.finer()
    made.labels = (np.arange(SIDE) // 15).astype(np.int32)
    made.extend()
    assert made.labels.tolist() == (np.arange(SIDE) // 15).tolist()
    made.finish()
    assert made.labels.tolist() == (np.arange(SIDE) // 15).tolist()


def test_a_cell_heavier_than_a_part_may_be_is_refused(team):
    heavy = np.ones(SIDE * SIDE, int)
    heavy[7] = SIDE * SIDE
    with pytest.raises(PartitionError, match="vertex 7 weighs 3600, more than a part may"):
        begun(team, grid(SIDE, SIDE, vwgt=heavy))


def test_empty_labels_are_filled_from_parts_with_others():
    assert filled(np.array([0, 0, 0, 2], np.int32), 3).tolist() == [1, 0, 0, 2]
    whole = np.array([0, 1, 2], np.int32)
    assert filled(whole, 3) is whole


@pytest.fixture(scope="module")
def box():
    """A grid of 32^3, whose first level to be bisected is finer than the coarsest, and its cells at x = 0."""
    return grid(32, 32, 32), np.arange(32 * 32, dtype=np.int32)


def test_grids_begin_with_flat_walls_and_keep_them_on_coarser_levels(team, box):
    graph, cells = box
    made = CoupledLevels(graph, cells, 8, 4, team, Options(seed=1))
    assert len(made.level.vwgt) <= 1500 < 16_000, "coarsened as far as ever"
    made.start()
    assert made.cut == cut_of(made.level, made.part) == 3 * 32 * 32, "three flat walls"
    assert made.coupled_load.tolist() == [256] * 4


@pytest.mark.parametrize("counts", [(16, 3), (32, 10)])
def test_an_interface_that_flat_walls_meet_with_other_numbers_of_parts_begins_with_columns(team, monkeypatch, counts):
    def begin() -> tuple[int, int]:
        made = CoupledLevels(grid(30, 30, 30), np.arange(900, dtype=np.int32), *counts, team, Options(seed=1))
        return cut_of(made.level, made._first), made._misplaced(made._first)

    cut, moved = begin()
    monkeypatch.setattr(levels, "FLAT", 99)
    flat_cut, flat_moved = begin()
    assert moved < flat_moved / 2
    assert cut + moved < flat_cut + flat_moved


def test_columns_are_left_alone_where_coupled_parts_have_few_vertices(team, monkeypatch):
    def columns(*_: object) -> None:
        raise AssertionError

    monkeypatch.setattr(levels, "columns", columns)
    CoupledLevels(grid(30, 30, 30), np.arange(900, dtype=np.int32), 120, 90, team, Options(seed=1))


def test_columns_that_break_limits_are_not_taken(team, monkeypatch):
    monkeypatch.setattr(levels, "columns", lambda g, *_: np.zeros(len(g.vwgt), np.int32))
    monkeypatch.setattr(levels.Refiner, "improve", lambda *_: 0)
    made = CoupledLevels(grid(30, 30, 30), np.arange(900, dtype=np.int32), 16, 3, team, Options(seed=1))
    assert len(np.unique(made._first)) == 16, "one part would not be cut at all"


def test_what_is_led_is_not_partitioned_by_itself(team, box):
    graph, cells = box
    made = CoupledLevels(graph, cells, 8, 4, team, Options(seed=1), led=True)
    assert made._first is None
    labels = np.arange(len(made.cells), dtype=np.int32) * 4 // len(made.cells)
    made.grow(labels)
    assert made.labels.tolist() == labels.tolist()
