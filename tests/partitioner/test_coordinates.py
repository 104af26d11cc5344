"""Recursive coordinate bisection of a coarse graph, and the centres it is fed."""

from __future__ import annotations

import numpy as np

from copart.kernels import Level
from copart.partitioner.coordinates import centroids, recursive_coordinate_bisection

NONE = np.zeros(0, np.int32)


def level(vwgt: list[int]) -> Level:
    n = len(vwgt)
    return Level(np.zeros(n + 1, np.int64), NONE, np.zeros(0, np.int64), np.array(vwgt, np.int64), NONE, NONE,
                 np.zeros(0, np.int64))


def test_centroids_are_weighted_through_all_levels():
    rng = np.random.default_rng(1)
    vwgt, coords = rng.integers(1, 9, 40), rng.random((40, 3))
    first, second = rng.permutation(np.arange(40) % 12), rng.permutation(np.arange(12) % 5)
    middle = np.bincount(first, weights=vwgt).astype(int)
    last = np.bincount(second, weights=middle).astype(int)
    levels = [level(list(w)) for w in (vwgt, middle, last)]
    got = centroids(coords, levels, [first, second])
    top = second[first]
    for c in range(5):
        assert np.allclose(got[c], np.average(coords[top == c], axis=0, weights=vwgt[top == c]))


def test_a_vertex_without_weight_is_where_it_is():
    got = centroids(np.array([[3.0, 4.0], [5.0, 4.0]]), [level([0, 0]), level([0])], [np.array([0, 0])])
    assert got.tolist() == [[4.0, 4.0]]


def test_centroids_are_those_of_sums_in_the_order_of_the_vertices():
    """To the last bit: partitions depend on it."""
    rng = np.random.default_rng(4)
    vwgt, coords = rng.integers(0, 9, 5000), rng.normal(size=(5000, 3)) * [1, 1e6, 1e-6]
    cmap = rng.permutation(np.arange(5000) % 700).astype(np.int32)
    weight = np.maximum(vwgt, 1).astype(float)
    total = np.bincount(cmap, weights=weight)
    got = centroids(coords, [level(list(vwgt)), level([1])], [cmap])
    for axis in range(3):
        assert (got[:, axis] == np.bincount(cmap, weights=weight * coords[:, axis]) / total).all()


def test_no_levels_no_change():
    coords = np.arange(6.0).reshape(3, 2)
    assert centroids(coords, [level([1, 1, 1])], []) is coords


def test_boxes_of_a_grid():
    x = np.stack(np.unravel_index(np.arange(512), (16, 8, 4)), axis=1).astype(float)
    part = recursive_coordinate_bisection(x, np.ones(512, np.int64), np.full(8, 64))
    assert (np.bincount(part) == 64).all()
    for p in range(8):
        here = x[part == p]
        assert np.prod(np.ptp(here, axis=0) + 1) == 64, "a part is no box"


def test_weights_follow_the_limits():
    rng = np.random.default_rng(2)
    x, w = rng.random((3000, 2)), rng.integers(1, 5, 3000)
    limit = np.array([100, 300, 200, 50, 350])
    part = recursive_coordinate_bisection(x, w, limit)
    share = np.bincount(part, weights=w) / w.sum()
    assert np.abs(share - limit / limit.sum()).max() < 5 / w.sum() * 3


def test_more_parts_than_vertices_and_no_weight_at_all():
    assert set(recursive_coordinate_bisection(np.zeros((2, 3)), np.array([1, 1]), np.ones(4, np.int64))) <= {0, 1, 2, 3}
    part = recursive_coordinate_bisection(np.arange(4.0)[:, None], np.zeros(4, np.int64), np.zeros(3, np.int64))
    assert part.shape == (4,)
