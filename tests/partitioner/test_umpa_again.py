"""A partition improved, pairs that change places, pieces that are joined: what each keeps and what it lowers."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from copart.errors import ConfigError, PartitionError
from copart.hypergraph import Hypergraph
from copart.kgggp_ml import partition
from copart.metrics import max_part_weight, pieces
from copart.partitioner.umpa import OBJECTIVES, partition_hypergraph
from copart.partitioner.umpa.again import improve_partition
from copart.partitioner.umpa.levels import finest
from copart.partitioner.umpa.pieces import join_pieces
from copart.partitioner.umpa.search import Search
from copart.partitioner.umpa.start import graph_of
from copart.partitioner.umpa.swaps import swap

from ..helpers import grid
from .umpa_helpers import agrees, figures, free, problems, searching


def ordered(h, part, k, objective):
    found = figures(h, part, k)
    return tuple(found[name] for name in OBJECTIVES[objective].metrics)


@given(problems(), st.sampled_from(list(OBJECTIVES)), st.data())
def test_an_improved_partition_is_no_worse_and_holds_what_is_held(problem, objective, data):
    h, part, k = problem
    held = np.array(data.draw(st.lists(st.booleans(), min_size=h.nvtxs, max_size=h.nvtxs)), int)
    found = improve_partition(h, part, k, objective=objective, held=held, preset="fast")
    assert (found[held == 1] == part[held == 1]).all()
    assert ordered(h, found, k, objective) <= ordered(h, part, k, objective)
    load, before = (np.bincount(p, weights=h.weights, minlength=k) for p in (found, part))
    assert (load <= np.maximum(before, max_part_weight(h.total_weight, k, 0.05))).all()


@pytest.mark.parametrize("objective", list(OBJECTIVES))
def test_the_partition_of_least_cut_gets_much_better(objective):
    g = grid(13, 13, 13)
    h = Hypergraph.column_net(g)
    part = partition(g, 16)
    found = [ordered(h, improve_partition(h, part, 16, objective=objective, seed=seed), 16, objective)[0]
             for seed in range(6)]
    before = ordered(h, part, 16, objective)[0]
    assert np.mean(found) <= 0.95 * before
    assert max(found) < before, "where annealing melts the partition, it is begun cooler"


def test_arguments_of_another_length_are_refused():
    h = Hypergraph.column_net(grid(3, 3))
    with pytest.raises(PartitionError, match=r"^part: "):
        improve_partition(h, [0, 1], 2)
    with pytest.raises(PartitionError, match=r"^held: "):
        improve_partition(h, np.arange(9) % 2, 2, held=[1])
    for limits in ([9], [9, np.nan], [9, -1], [4.5, 9], "many"):
        with pytest.raises(PartitionError, match=r"^limits: "):
            improve_partition(h, np.arange(9) % 2, 2, limits=limits)
    with pytest.raises(ConfigError, match="needs a copart Hypergraph, got Graph"):
        improve_partition(grid(3, 3), np.arange(9) % 2, 2)


@given(problems(), st.sampled_from([one.metrics for one in OBJECTIVES.values()]))
def test_swaps_keep_the_sizes_and_the_state(problem, metrics):
    h, part, k = free(problem[0]), *problem[1:]
    search = searching(h, part, k, metrics)
    swap(search, 5)
    agrees(search, h)
    assert (np.bincount(search.state.part, minlength=k) == np.bincount(part, minlength=k)).all()


@pytest.mark.parametrize("objective", list(OBJECTIVES))
def test_swaps_alone_lower_every_objective_at_exact_sizes(objective):
    h = Hypergraph.column_net(grid(12, 12))
    part = np.random.default_rng(1).permutation(np.arange(144) % 9).astype(np.int32)
    search = searching(h, part, 9, OBJECTIVES[objective].metrics)
    swap(search, 40)
    assert (np.bincount(search.state.part) == 16).all()
    assert search.values()[0] == ordered(h, search.state.part, 9, objective)[0]
    assert search.values()[0] <= 0.75 * ordered(h, part, 9, objective)[0]


@given(problems(), st.sampled_from([one.metrics for one in OBJECTIVES.values()]))
def test_joining_pieces_never_costs_what_comes_first(problem, metrics):
    h, part, k = free(problem[0]), *problem[1:]
    search = searching(h, part, k, metrics)
    before = search.values()
    join_pieces(search, graph_of(search.h, 0))
    agrees(search, h)
    assert search.values()[0] <= before[0]
    assert all(b <= 1.005 * a for a, b in zip(before, search.values(), strict=True))


def test_a_cell_that_nothing_holds_apart_is_joined():
    g = grid(10, 10)
    h = Hypergraph.column_net(g)
    ids = np.arange(100).reshape(10, 10)
    part = (ids[:, :] % 10 >= 5).astype(np.int32).ravel()
    part[ids[5, 2]] = 1
    search = Search(finest(h, None), part, np.full(2, 60), OBJECTIVES["volume"], 1)
    assert join_pieces(search, graph_of(search.h, 0)) == 1
    assert pieces(g, search.state.part, 2).tolist() == [1, 1]
    full = Search(finest(h, None), np.where(np.arange(100) == ids[5, 2], 1, search.state.part).astype(np.int32),
                  np.array([49, 60]), OBJECTIVES["volume"], 1)
    assert join_pieces(full, graph_of(full.h, 0)) == 0, "there is no room"


def test_many_loose_pieces():
    """A star in two parts: every other leaf is a piece of its own, and there is room for one. All of them were gone
    through for each.
    """
    n = 40_000
    star = Hypergraph.from_nets(n, [[0, v] for v in range(1, n)])
    part = np.arange(n, dtype=np.int32) % 2
    search = Search(finest(star, None), part, np.full(2, n // 2 + 1), OBJECTIVES["volume"], 1)
    assert join_pieces(search, graph_of(search.h, 0)) == 1
    assert np.bincount(search.state.part).tolist() == [n // 2 + 1, n // 2 - 1]


def test_partitions_by_volume_are_in_one_piece_each():
    g = grid(20, 20, 8)
    assert pieces(g, partition_hypergraph(Hypergraph.column_net(g), 24, objective="volume"), 24).sum() == 24
