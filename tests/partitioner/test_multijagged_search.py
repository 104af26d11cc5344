"""Algorithms 2 to 4 of Multi-Jagged: cuts by trial and correction, and what they cost."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from copart.kernels.multisection import PATIENCE
from copart.partitioner.geometric.points import goals
from copart.partitioner.geometric.search import Line, alone, one_d_part
from copart.partitioner.multijagged import multijagged, slack
from copart.partitioner.rounds import Team

from .geometric_reference import CLOUDS


def line(values, load=()):
    """A line whose ties go by position."""
    values = np.asarray(values, float)
    return Line(values, np.asarray(load, np.int64), lambda mine: Line(mine.astype(float), np.zeros(0, np.int64), None))


def cut(values, parts, *, load=(), slack=0, **options):
    total = int(np.sum(load)) if len(load) else len(values)
    goals = 2 * total * np.arange(1, parts) // parts
    with Team(1) as team:
        return one_d_part(line(values, load), goals, slack, alone, team, **options)


def test_cuts_of_a_sorted_sample_are_its_quantiles():
    values = np.sort(np.random.default_rng(1).normal(size=1000))
    made = cut(values, 8)
    assert made.section.tolist() == np.repeat(range(8), 125).tolist()
    for k, at in enumerate(made.cuts):
        assert values[125 * (k + 1) - 1] <= at < values[125 * (k + 1)]


def test_goals_beyond_all_weight_are_met_at_the_end():
    """Cuts that are done before points are counted: those at the end lie left of all of them."""
    with Team(1) as team:
        made = one_d_part(line([0, 1, 2], [1, 1, 1]), np.array([5, 7]), 0, alone, team)
    assert made.section.tolist() == [0, 0, 0]
    places = [2, 0, 2, 1, 0, 0, 2, 0, 2, 2, 2, 1, 1, 2, 1, 0, 0, 0, 0]
    heavy = [40, 2, 1, 1, 2, 11, 1, 4, 1, 16, 1, 6, 1, 47, 379, 1, 1, 1, 1]
    found, selected = (multijagged(np.array(places, float)[:, None], 19, weights=heavy, depth=3, eps=eps)
                       for eps in (0, None))
    assert found.part.tolist() == selected.part.tolist()


def test_a_reduction_to_begin_with_and_one_per_trial():
    made = cut(np.random.default_rng(1).random(5000), 16)
    counters = made.trace.counters
    assert counters.iterations == len(made.trace.comparisons) > 1
    assert (counters.calls, counters.reductions) == (1, 1 + counters.iterations)
    assert counters.comparisons == sum(made.trace.comparisons)
    calls = []
    with Team(1) as team:
        one_d_part(line(np.arange(100.0)), np.array([100]), 0, lambda found: calls.append(len(found.weight)), team)
    # extent and weight first, then both sides of the cut
    assert calls == [2] + [2] * (len(calls) - 1)


def test_a_hole_is_jumped_over():
    rng = np.random.default_rng(2)
    values = np.concatenate([rng.random(5000), 1e12 + rng.random(5000)])
    made = cut(values, 8)
    assert np.bincount(made.section).tolist() == [1250] * 8
    assert made.trace.counters.iterations <= 16


@pytest.mark.parametrize("kind", sorted(CLOUDS))
def test_every_search_ends(kind):
    values = CLOUDS[kind](np.random.default_rng(3), 3000, 1)[:, 0]
    made = cut(values, 6)
    assert np.bincount(made.section).tolist() == [500] * 6
    assert len(made.trace.comparisons) <= PATIENCE + 64


def test_points_on_a_cut_are_left_of_it_and_ties_are_split():
    made = cut([1.0, 2, 2, 2, 2, 3], 2)
    assert made.section.tolist() == [0, 0, 0, 1, 1, 1]
    assert made.trace.counters.tied == 1
    assert cut(np.full(1000, 7.0), 4).section.tolist() == np.repeat(range(4), 250).tolist()
    # a cut between values takes the point it is nearest to
    assert cut([1.0, 2, 3], 2, load=[1, 2, 5]).section.tolist() == [0, 0, 1]
    assert cut([1.0, 2, 3], 2, load=[2, 5, 1]).section.tolist() == [0, 1, 1]


def test_warm_start_and_skipping_save_comparisons():
    values = np.random.default_rng(4).random(20_000)
    warm, cold = cut(values, 64), cut(values, 64, warm=False)
    assert warm.section.tobytes() == cold.section.tobytes()
    assert warm.trace.counters.iterations == cold.trace.counters.iterations
    # six comparisons to find one of 64 parts
    assert cold.trace.comparisons[0] >= 5.5 * 20_000
    assert warm.trace.comparisons[0] < 0.6 * cold.trace.comparisons[0]
    # parts with both cuts done are skipped
    assert cold.trace.comparisons[-1] < 0.5 * cold.trace.comparisons[0]
    assert warm.trace.comparisons[-1] < 0.5 * warm.trace.comparisons[0]


def test_a_tolerance_saves_trials():
    values = np.random.default_rng(5).random(20_000)
    rough = cut(values, 16, slack=200)
    assert rough.trace.counters.iterations < cut(values, 16).trace.counters.iterations
    assert (abs(np.cumsum(np.bincount(rough.section))[:-1] - 1250 * np.arange(1, 16)) <= 100).all()


def test_a_cut_that_is_put_aside_is_counted_once_more():
    """Points right of it belong to the part behind it, whose other cut is still searched."""
    rng = np.random.default_rng(7)
    for n, dim, nparts, eps in [(8, 1, 7, 0), *((int(n), 1 + n % 3, int(n) // 2, 0.05 * (n % 2)) for n in
                                                rng.integers(10, 400, 60))]:
        points = rng.random((n, dim))
        made = multijagged(points, nparts, eps=eps)
        assert len(np.unique(made.part)) == nparts
        if eps == 0:
            assert made.part.tobytes() == multijagged(points, nparts).part.tobytes()


@settings(max_examples=50, deadline=None)
@given(st.sampled_from(sorted(CLOUDS)), st.integers(1, 300), st.integers(1, 3), st.integers(1, 40), st.integers(0, 9),
       st.sampled_from([None, 0, 1, 7]))
def test_search_and_selection_find_the_same_cuts(kind, n, dim, nparts, seed, most):
    rng = np.random.default_rng(seed)
    points, nparts = CLOUDS[kind](rng, n, dim), min(nparts, n)
    weights = None if most is None else rng.integers(0, most + 1, n)
    found, selected = (multijagged(points, nparts, weights=weights, eps=eps) for eps in (0, None))
    assert found.part.tobytes() == selected.part.tobytes()
    assert found.boxes.tobytes() == selected.boxes.tobytes()


@settings(max_examples=40, deadline=None)
@given(st.integers(1, 40), st.integers(1, 3), st.sampled_from([0.01, 0.1, "20%"]), st.integers(0, 9))
def test_parts_are_within_a_tolerance_where_points_permit(nparts, dim, eps, seed):
    rng = np.random.default_rng(seed)
    weights = rng.integers(1, 10, 4000)
    made = multijagged(rng.random((4000, dim)), nparts, weights=weights, eps=eps)
    share = 0.2 if eps == "20%" else eps
    assert made.weights.max() <= (1 + share) * weights.sum() / nparts + weights.max()


def test_many_cuts_through_points():
    """Targets that are no whole numbers: hardly a cut is without a point on it, each of which was a pass over all."""
    points = np.random.default_rng(7).random((160_000, 1))
    found, selected = (multijagged(points, 19_999, eps=eps) for eps in (0, None))
    assert (found.part == selected.part).all()
    assert set(np.bincount(found.part)) == {8, 9}


@pytest.mark.parametrize(("n", "nparts", "eps"), [(369, 35, 0.1), (184, 32, 0.2), (152, 40, 0.3), (153, 40, 0.3)])
def test_a_tolerance_holds_where_targets_are_no_whole_numbers(n, nparts, eps):
    made = multijagged(np.random.default_rng(n).random((n, 1)), nparts, eps=eps)
    assert made.sizes.max() <= (1 + eps) * n / nparts


def test_a_tolerance_is_shared_out_to_both_cuts_of_a_part():
    assert [slack(goals(400, 10, None), eps) for eps in (0, 0.05, 0.1)] == [0, 2, 4]
    assert slack(goals(400, 3, [1, 1, 2]), 0.05, [1, 1, 2]) == 5
    # 10.5 points each: the goal of every second one is a half too far
    assert slack(goals(105, 10, None), 0.1) == 1
    assert slack(goals(369, 35, None), 0.1) == 0


def test_threads_and_tolerances_do_not_meet():
    points = np.random.default_rng(6).random((30_000, 2))
    for eps in (0, 0.05):
        one, two, five = (multijagged(points, 30, eps=eps, threads=threads) for threads in (1, 2, 5))
        assert one.part.tobytes() == two.part.tobytes() == five.part.tobytes()
        assert one.counters == two.counters == five.counters
