"""Boxes cut by several processes together: the sections that one process finds, whoever has the points."""

from __future__ import annotations

from itertools import chain

import numpy as np
from hypothesis import given, settings
from hypothesis import strategies as st

from copart.arrays import frozen
from copart.kernels.clouds import Nodes
from copart.partitioner.geometric.cutting import Selecting, cloud_of
from copart.partitioner.geometric.points import Points
from copart.partitioner.geometric.pooled import Pooling
from copart.partitioner.rounds import Team

from .geometric_reference import CLOUDS
from .peers import with_peers


def ask(start, cuts, axes, plain):
    first = np.concatenate([[0], np.cumsum(cuts)])
    return Nodes(np.asarray(start, np.int64), first, np.asarray(axes, np.int32), np.full((len(cuts), 2), 0.5),
                 np.asarray(plain))


def sections(cloud, made, ids):
    """The numbers of the points of each section."""
    return [sorted(ids[cloud.perm[rows]].tolist()) for rows in
            (slice(end - size, end) for size, end in zip(made.size, np.cumsum(made.size), strict=True))]


def both(points, weights, start, cuts, axes, plain, owner, ranks, threads=1):
    """Sections, weights, largest coordinates and numbers of points by selection, and of several processes."""
    goals = []
    for node, count in enumerate(cuts):
        rows = slice(start[node], start[node + 1])
        heavy = len(weights) > 0 and not plain[node]
        total = int(weights[rows].sum()) if heavy else start[node + 1] - start[node]
        goals += [2 * total * k // (count + 1) for k in range(1, count + 1)]
    goals = np.array(goals, np.int64)
    cloud = cloud_of(Points(frozen(points), weights, 1.0))
    with Team(1) as team:
        made = Selecting()(cloud, ask(start, cuts, axes, plain), goals, team)
    alone = [sections(cloud, made, np.arange(len(points))), made.weight, made.most, made.size]

    def work(peers):
        ids = np.flatnonzero(owner == peers.rank)
        mine = cloud_of(Points(frozen(points[ids]), weights[ids] if len(weights) else weights, 1.0))
        cutter = Pooling(ids, peers, len(weights) > 0)
        with Team(threads) as team:
            found = cutter(mine, ask(np.searchsorted(ids, start), cuts, axes, plain), goals, team)
        return sections(mine, found, ids), found, cutter.counters

    return alone, with_peers(ranks, work)


def same(alone, found):
    held = [sorted(chain.from_iterable(each)) for each in zip(*(one for one, _, _ in found), strict=True)]
    return held == alone[0] and all(np.array_equal(cut.weight, alone[1]) and np.array_equal(cut.most, alone[2])
                                    and np.array_equal(cut.total, alone[3]) for _, cut, _ in found)


@settings(max_examples=60)
@given(seed=st.integers(0, 10**6), kind=st.sampled_from(sorted(CLOUDS)), n=st.integers(0, 400),
       cuts=st.lists(st.integers(0, 6), min_size=1, max_size=4), weighted=st.booleans(), ranks=st.integers(1, 3))
def test_sections_do_not_depend_on_who_has_the_points(seed, kind, n, cuts, weighted, ranks):
    rng = np.random.default_rng(seed)
    points = CLOUDS[kind](rng, n, 2)
    start = np.concatenate([[0], np.sort(rng.integers(0, n + 1, len(cuts) - 1)), [n]])
    weights = rng.integers(0, 4, n) if weighted else np.zeros(0, np.int64)
    axes = rng.integers(-1, 2, len(cuts))
    if kind == "huge":
        axes = np.abs(axes)  # a projection would overflow
    plain = (rng.random(len(cuts)) < 0.2) & weighted
    alone, found = both(points, weights, start, cuts, axes, plain, rng.integers(0, ranks, n), ranks)
    assert same(alone, found)


def test_few_points_are_pooled_and_many_ties_searched():
    rng = np.random.default_rng(1)
    points = rng.random((60_000, 2))
    weights, owner = rng.integers(1, 9, len(points)), rng.integers(0, 2, len(points))
    whole = ([0, 25_000, 60_000], [3, 4], [0, 1], [False, False], owner, 2, 2)
    alone, found = both(points, weights, *whole)
    assert same(alone, found)
    for _, _, counters in found:
        assert counters._asdict() == {"calls": 2, "tied": 0, "iterations": 0, "reductions": 4, "comparisons": 0}
    points = points.copy()
    # most of a box in one place: its cuts end there, and the other coordinate decides
    points[:25_000, 0] = np.where(rng.random(25_000) < 0.9, 0.5, points[:25_000, 0])
    alone, found = both(points, weights, *whole)
    assert same(alone, found)
    assert found[0][2].tied == 1
    # not those of the box alone that could be pooled
    assert found[0][2].iterations > 0
