"""Multi-Jagged: balance, ties, numbers of parts, threads; every result is compared with full sorting."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from copart.errors import ConfigError, PartitionError
from copart.partitioner.geometric.tree import futures, next_level, sections
from copart.partitioner.multijagged import multijagged

from .geometric_reference import CLOUDS, reference


def cloud(kind="uniform", n=1000, dim=2, seed=1):
    return CLOUDS[kind](np.random.default_rng(seed), n, dim)


# ---- balance
@settings(max_examples=60, deadline=None)
@given(st.sampled_from(sorted(CLOUDS)), st.integers(1, 400), st.integers(1, 3), st.integers(1, 60), st.integers(0, 9),
       st.sampled_from([None, 1, 2, 5]))
def test_unit_weights_give_floor_or_ceil_and_the_parts_of_full_sorting(kind, n, dim, nparts, seed, depth):
    nparts = min(nparts, n)
    points = cloud(kind, n, dim, seed)
    made = multijagged(points, nparts, depth=depth)
    assert set(made.sizes.tolist()) <= {n // nparts, -(-n // nparts)}
    assert made.sizes.sum() == n
    assert made.part.tolist() == reference(points, nparts, depth=depth).tolist()


@settings(max_examples=60, deadline=None)
@given(st.sampled_from(sorted(CLOUDS)), st.integers(1, 300), st.integers(1, 3), st.integers(1, 40), st.integers(0, 9),
       st.sampled_from([1, 3, 1000]))
def test_no_part_is_off_its_target_by_more_than_the_heaviest_point(kind, n, dim, nparts, seed, most):
    nparts = min(nparts, n)
    rng = np.random.default_rng(seed)
    weights = rng.integers(0, most + 1, n)
    points = cloud(kind, n, dim, seed)
    made = multijagged(points, nparts, weights=weights)
    assert made.part.tolist() == reference(points, nparts, weights).tolist()
    assert made.weights.tolist() == np.bincount(made.part, weights, nparts).tolist()
    assert (abs(made.weights - weights.sum() / nparts) <= weights.max()).all()


def test_parts_of_large_clouds_are_those_of_full_sorting():
    """Large enough for histograms of histograms, and for all ways to share the work."""
    for kind in CLOUDS:
        points = cloud(kind, 30_000, 3)
        for weights in (None, np.random.default_rng(2).integers(0, 9, len(points))):
            assert (multijagged(points, 30, weights=weights, threads=2).part
                    == reference(points, 30, weights)).all(), kind


@settings(max_examples=30, deadline=None)
@given(st.lists(st.integers(1, 50), min_size=1, max_size=30), st.integers(0, 9))
def test_unequal_targets_are_met_within_one_point(targets, seed):
    points = cloud(n=500, seed=seed)
    made = multijagged(points, len(targets), tpwgts=targets)
    wanted = 500 * np.array(targets) / sum(targets)
    assert (abs(made.sizes - wanted) < 1 + 1e-9).all()


def test_random_weights_stay_within_a_tolerance_where_points_are_small():
    points, weights = cloud(n=20_000), np.random.default_rng(3).random(20_000)
    made = multijagged(points, 64, weights=weights)
    assert made.weights.max() <= 1.01 * weights.sum() / 64
    assert made.weights.sum() == pytest.approx(weights.sum())


@pytest.mark.parametrize("nparts", [p for p in range(2, 98) if all(p % q for q in range(2, p))])
def test_primes_are_balanced(nparts):
    sizes = multijagged(cloud(n=1200), nparts, depth=2).sizes
    assert sizes.max() - sizes.min() <= 1


# ---- ties
def test_points_in_one_place_are_shared_out():
    assert multijagged(np.ones((1000, 2)), 4).sizes.tolist() == [250] * 4
    assert multijagged(np.ones((1000, 2)), counts=[4]).part.tolist() == np.repeat(range(4), 250).tolist()


def test_ties_go_by_the_next_coordinate_and_then_by_number():
    y = np.random.default_rng(1).permutation(100).astype(float)
    made = multijagged(np.column_stack([np.zeros(100), y]), counts=[4])
    assert made.part.tolist() == (y // 25).astype(int).tolist()


def test_a_box_without_weight_is_cut_by_the_number_of_its_points():
    points = cloud("uniform", 1000, 1)
    weights = np.where(points[:, 0] > np.median(points[:, 0]), 0.0, 1.0)
    halves = multijagged(np.column_stack([points, points]), counts=[2, 4], weights=np.zeros(1000))
    assert halves.sizes.tolist() == [125] * 8
    made = multijagged(points, 4, weights=weights)
    assert made.weights.tolist() == [125] * 4


# ---- the recursion
def test_any_number_of_parts_at_any_depth():
    assert (sections(23, 2), futures(23, 5)) == (5, [5, 5, 5, 4, 4])
    made, parts = next_level(np.array([0, 23]), 2, None)
    assert (made.tolist(), parts.tolist()) == ([5], [0, 5, 10, 15, 19, 23])
    made, parts = next_level(parts, 1, None)
    assert (made.tolist(), parts.tolist()) == ([5, 5, 5, 4, 4], list(range(24)))
    points = cloud(n=460)
    outer = multijagged(points, 5, tpwgts=[5, 5, 5, 4, 4], depth=1)
    assert outer.sizes.tolist() == [100, 100, 100, 80, 80]
    assert multijagged(points, 23, depth=2).sizes.tolist() == [20] * 23


@given(st.integers(1, 10**9), st.integers(1, 40))
def test_roots_are_exact(nparts, depth):
    s = sections(nparts, depth)
    assert s**depth >= nparts
    assert s == 1 or (s - 1) ** depth < nparts


def test_coordinates_are_cut_in_turn():
    grid = np.stack(np.meshgrid(np.arange(16.0), np.arange(16.0), indexing="ij"), -1).reshape(-1, 2)
    made = multijagged(grid, counts=[4, 4])
    assert (made.part == (grid[:, 0] // 4) * 4 + grid[:, 1] // 4).all()


def test_an_array_of_counts_is_the_depth_that_makes_it():
    points = cloud(dim=3)
    assert (multijagged(points, counts=[4, 4, 4]).part == multijagged(points, 64).part).all()
    assert (multijagged(points, counts=[2] * 6).part == multijagged(points, 64, depth=6).part).all()
    assert (multijagged(points, counts=[3, 1, 5]).part == reference(points, 15, counts=[3, 1, 5])).all()


# ---- boxes
@pytest.mark.parametrize("kind", ["uniform", "few values", "scales"])
@pytest.mark.parametrize("dim", [1, 2, 3])
def test_boxes_hold_their_points_and_fill_the_whole(kind, dim):
    points = cloud(kind, 500, dim)
    made = multijagged(points, 23)
    low, high = made.boxes[:, 0], made.boxes[:, 1]
    assert (low[made.part] <= points).all()
    assert (points <= high[made.part]).all()
    assert (low <= high).all()
    whole = np.ptp(points, axis=0)
    assert np.prod((high - low) / whole, axis=1).sum() == pytest.approx(1)


# ---- the same on any number of threads, nothing given is changed
@pytest.mark.parametrize("kind", sorted(CLOUDS))
@pytest.mark.parametrize("weighted", [False, True])
def test_threads_do_not_change_a_byte(kind, weighted):
    points = cloud(kind, 40_000, 2)
    weights = np.random.default_rng(1).random(len(points)) if weighted else None
    one, *others = [multijagged(points, counts=[3, 7, 5], weights=weights, threads=threads) for threads in (1, 2, 3, 8)]
    for other in others:
        assert other.part.tobytes() == one.part.tobytes()
        assert other.boxes.tobytes() == one.boxes.tobytes()
        assert other.weights.tobytes() == one.weights.tobytes()


def test_memory_of_the_caller_stays_as_it_is():
    points, weights = cloud(n=5000), np.ones(5000)
    points.flags.writeable = weights.flags.writeable = False
    strided = np.asfortranarray(points)
    assert (multijagged(points, 7, weights=weights).part == multijagged(strided, 7).part).all()
    with pytest.raises(ValueError, match="read-only"):
        multijagged(points, 7).part[0] = 3


# ---- what cannot be done
NAN, INF = np.array([[0.0, 1], [np.nan, 2]]), np.array([[0.0, 1], [3, -np.inf]])


@pytest.mark.parametrize(("points", "options", "error", "said"), [
    (NAN, {"nparts": 2}, PartitionError, "1 of 2 points are not finite, first at index 1"),
    (INF, {"nparts": 2}, PartitionError, "first at index 1: [3.0, -inf]; leave them out"),
    (np.ones(5), {"nparts": 2}, PartitionError, "one row per point and one column per coordinate, has shape (5,)"),
    (np.ones((5, 0)), {"nparts": 2}, PartitionError, "has shape (5, 0)"),
    ([["a"]], {"nparts": 1}, PartitionError, "points: needs numbers, has dtype <U1"),
    (np.ones((3, 2)), {"nparts": 4}, PartitionError, "4 parts of 3 points would leave parts empty; ask for at most 3"),
    (np.ones((3, 2)), {"nparts": 2, "weights": [1, -1, 2]}, PartitionError, "first at index 1: -1.0"),
    (np.ones((3, 2)), {"nparts": 2, "weights": [1, np.nan, 2]}, PartitionError, "negative or not finite"),
    (np.ones((3, 2)), {"nparts": 2, "weights": [1, 2]}, PartitionError, "3 in all, has shape (2,)"),
    (np.ones((3, 2)), {"nparts": 2, "weights": [2**53, 1, 1]}, PartitionError, "sums from 2^53 on are not exact"),
    (np.ones((3, 2)), {"nparts": 2, "weights": "abc"}, PartitionError, "weights: needs an array or a list, got str"),
    (np.ones((3, 2)), {"nparts": 0}, ConfigError, "nparts: must be at least 1"),
    (np.ones((3, 2)), {}, ConfigError, "nparts: is needed where counts are not given"),
    (np.ones((3, 2)), {"nparts": 2, "tpwgts": [1, 0]}, ConfigError, "tpwgts: 1 shares are not positive"),
    (np.ones((9, 2)), {"nparts": 5, "counts": [2, 2]}, ConfigError, "counts: 2 x 2 are 4 parts, not 5"),
    (np.ones((9, 2)), {"depth": 3, "counts": [2, 2]}, ConfigError, "depth: is 3, but counts has 2 levels"),
    (np.ones((9, 2)), {"counts": []}, ConfigError, "at least one level"),
    (np.ones((9, 2)), {"counts": 4}, ConfigError, "counts: needs the sections per level, got 4"),
    (np.ones((9, 2)), {"nparts": 2, "depth": 0}, ConfigError, "depth: must be at least 1"),
    (np.ones((9, 2)), {"nparts": 2, "threads": 0}, ConfigError, "threads: must be at least 1"),
])
def test_what_cannot_be_done_is_told(points, options, error, said):
    with pytest.raises(error) as caught:
        multijagged(points, **options)
    assert said in str(caught.value)


def test_weights_of_any_size_count_by_their_proportions():
    points = cloud(n=400)
    weights = np.random.default_rng(5).random(400)
    one = multijagged(points, 9, weights=weights).part
    assert (multijagged(points, 9, weights=weights * 2.0**-20).part == one).all()
    assert (multijagged(points, 9, weights=weights * 2.0**-900).part == one).all()


def test_one_part_and_as_many_as_points():
    points = cloud(n=50)
    assert (multijagged(points, 1).part == 0).all()
    assert sorted(multijagged(points, 50).part.tolist()) == list(range(50))
