"""Moves made by several threads: the same books, lists and bytes as one after the other."""

from __future__ import annotations

import copy

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from copart.partitioner import rounds
from copart.partitioner.refinement import Refiner
from copart.partitioner.rounds import Team

from ..helpers import grid
from ..partition_reference import NO_PULL, level
from .test_refinement import searches


def books(r: Refiner) -> list[np.ndarray]:
    """All that is read again of a state."""
    s = r.state
    active, border, logged = s.count
    return [s.part, s.pwgt, s.population, s.listed, s.moved_in, r.dest, s.count, s.active[:active], s.border[:border],
            s.log[:, :logged]]


def one_by_one(count: int) -> Team:
    """A team whose pieces are as small as can be."""
    team = Team(count)
    team.pieces = lambda n: max(1, min(count, n))  # type: ignore[method-assign]
    return team


@given(searches(most=5), st.integers(2, 4), st.integers(1, 4))
def test_pieces_make_the_same_moves(s, pieces, many):
    alone = s.refiner
    together = copy.deepcopy(alone)
    with one_by_one(pieces) as team:
        together.team = team
        for i in range(many):
            assert together.jet_round(0.5) == alone.jet_round(0.5)
            if i == 1:
                assert together.rebalance() == alone.rebalance()
            for mine, other in zip(books(together), books(alone), strict=True):
                assert (mine == other).all()
        s.check(s.cut(s.before) - s.cut())


def test_a_part_that_might_be_emptied_is_left_to_one_thread(monkeypatch):
    from copart.kernels import moving

    g = level(grid(3, 1))
    seen = []
    real = moving.list_moves
    monkeypatch.setattr(moving, "list_moves", lambda *args: seen.append(real(*args)) or seen[-1])
    part = np.array([0, 1, 0], np.int32)
    with one_by_one(2) as team:
        Refiner(g, NO_PULL, part, np.array([9, 9]), team, 1).jet_round(0.25)
    assert seen == [-1]
    assert part[1] == 1, "the last vertex stays"


@pytest.mark.parametrize("threads", [2, 3])
def test_long_lists_are_put_in_order_and_nothing_else_changes(monkeypatch, threads):
    """Lists of more than some thousand vertices are sorted; so are short ones here, on any number of threads."""
    from copart.partitioner import refinement

    def run(long: int, count: int) -> np.ndarray:
        monkeypatch.setattr(refinement, "_LONG", long)
        monkeypatch.setattr(rounds, "GRAIN", 8)
        graph = grid(24, 24)
        rng = np.random.default_rng(5)
        part = rng.integers(0, 4, graph.nvtxs).astype(np.int32)
        with Team(count) as team:
            r = Refiner(level(graph), NO_PULL, part, np.full(4, 160), team, 3)
            for _ in range(6):
                r.jet_round(0.5)
                r.rebalance()
        return part

    assert (run(10**9, 1) == run(0, threads)).all()
