"""Partitions refined beside one another: who goes on, what they cost, and the same bytes on any number of threads."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

from copart.graph import Graph
from copart.kgggp_ml import partition
from copart.options import PRESETS
from copart.partitioner import rivals
from copart.partitioner.coarsening import coarsen
from copart.partitioner.flows import cooling_at
from copart.partitioner.growing import affinity_gain, best_growths
from copart.partitioner.refinement import cut_of, excess_of, loosened
from copart.partitioner.rivals import Rival, contest, refine_rivals
from copart.partitioner.rounds import Team
from copart.partitioner.shape import look_at

from ..helpers import grid
from ..partition_reference import NO_PULL, level, pull_of

STRONG = PRESETS["strong"]
PARTS = 6


def random_rivals(n: int, count: int, g=None) -> list[Rival]:
    rng = np.random.default_rng(3)
    parts = [rng.integers(0, PARTS, n).astype(np.int32) for _ in range(count)]
    return [Rival(0, cut_of(g, part) if g else 0, i, part) for i, part in enumerate(parts)]


@pytest.fixture(scope="module")
def triangles():
    """A plate of triangles: neighbours have neighbours in common."""
    rows, columns = 60, 70
    v = np.arange(rows * columns).reshape(rows, columns)
    ends = [(v[:, :-1], v[:, 1:]), (v[:-1], v[1:]), (v[:-1, :-1], v[1:, 1:])]
    return Graph.from_edges(v.size, *(np.concatenate([pair[i].ravel() for pair in ends]) for i in (0, 1)))


def test_costs_are_those_of_the_refined_and_the_best_comes_first(triangles):
    g, limit = level(triangles), np.full(PARTS, 735)
    with Team(1) as team:
        found = refine_rivals(random_rivals(triangles.nvtxs, 5, g), g, NO_PULL, limit, STRONG, 6, [7] * 5, team)
    assert [one[:3] for one in found] == sorted(one[:3] for one in found)
    assert sorted(one.found for one in found) == [0, 1, 2, 3, 4]
    for one in found:
        assert (one.excess, one.cost) == (excess_of(g, one.part, limit), cut_of(g, one.part))
    assert len({one.cost for one in found}) > 1, "else their order tells nothing"


def test_costs_know_what_is_gained_by_affinity():
    graph, rng = grid(20, 20), np.random.default_rng(1)
    table = rng.integers(0, 9, (4, PARTS))
    g, pull = level(graph, origin=rng.integers(0, 4, 400)), pull_of(table)
    begun = [one._replace(cost=cut_of(g, one.part) - affinity_gain(g, pull, one.part))
             for one in random_rivals(400, 3)]
    with Team(1) as team:
        for one in refine_rivals(begun, g, pull, np.full(PARTS, 70), STRONG, 6, [1, 2, 3], team):
            assert one.cost == cut_of(g, one.part) - affinity_gain(g, pull, one.part)


@pytest.mark.parametrize("side", [12, 70])
def test_rivals_are_the_same_whether_side_by_side_or_one_after_the_other(side):
    """Small levels have one thread per rival, large ones all threads per rival."""
    graph = grid(side, side)
    g, n = level(graph), side * side
    seen = []
    for threads in (1, 2, 3):
        with Team(threads) as team:
            found = refine_rivals(random_rivals(n, 4, g), g, NO_PULL, np.full(PARTS, n // 5), STRONG, 6, [5] * 4, team)
        seen.append([(one[:3], one.part.tobytes()) for one in found])
    assert seen[0] == seen[1] == seen[2]


def contested(graph, rivals_at_most: int, monkeypatch=None, **changes):
    """The part that wins, its level, and (vertices of a level, rivals there) from level to level."""
    config = replace(STRONG, **{"flow_levels": 0, "coarse_least": 60, "coarse_per_part": 1, "bisections": 8, **changes})
    whole, limit, seen = level(graph), np.full(PARTS, graph.nvtxs // PARTS + graph.nvtxs // 50), []
    if monkeypatch:
        refine = rivals.refine_rivals

        def watched(some, g, *args):
            seen.append((len(g.vwgt), len(some)))
            return refine(some, g, *args)

        monkeypatch.setattr(rivals, "refine_rivals", watched)
    with Team(1) as team:
        shape = look_at(whole)
        levels, maps, _ = coarsen(whole, 60, shape, team, least=PARTS, pack=True)
        found = best_growths(levels[-1], NO_PULL, loosened(limit, levels[-1].vwgt), config, graph.nvtxs, 1, team, None,
                             shape, most=rivals_at_most)
        sizes = [len(one.vwgt) for one in levels]
        part = contest(found, levels, maps, NO_PULL, limit, config, 1, team)
    assert len(part) == len(levels[-1].vwgt)
    assert len(maps) == len(levels) - 1
    return part, levels[-1], seen, sizes


def test_the_number_of_rivals_falls_as_levels_grow(triangles, monkeypatch):
    part, left, seen, sizes = contested(triangles, 8, monkeypatch)
    assert seen
    assert seen[0][1] > seen[-1][1] >= 2
    for n, count in seen:
        assert count <= max(1, triangles.nvtxs // (4 * n))
    # the next would have had one
    assert sizes[len(sizes) - len(seen) - 2] * 8 > triangles.nvtxs
    assert len(left.vwgt) == seen[-1][0]
    assert set(part.tolist()) == set(range(PARTS))


def test_levels_of_minimum_cuts_are_left_to_one(triangles, monkeypatch):
    _, _, seen, sizes = contested(triangles, 8, monkeypatch, flow_levels=len(contested(triangles, 1)[3]) - 2)
    assert [n for n, _ in seen] == [sizes[-2]]


def test_one_rival_stays_as_it_is(triangles, monkeypatch):
    part, left, seen, sizes = contested(triangles, 1, monkeypatch)
    assert not seen
    assert len(part) == sizes[-1] == len(left.vwgt)


def test_the_winner_cuts_least_of_the_last_level(triangles, monkeypatch):
    costs = []
    refine = rivals.refine_rivals

    def watched(*args):
        made = refine(*args)
        costs[:] = [(one.excess, one.cost) for one in made]
        return made

    monkeypatch.setattr(rivals, "refine_rivals", watched)
    part, left, _, _ = contested(triangles, 8)
    assert len(costs) > 1
    assert cut_of(left, part) == min(costs)[1]


def test_the_finest_levels_cool_less_where_minimum_cuts_follow():
    config = replace(STRONG, cooling=24, cooling_fine=12, flow_levels=2)
    assert [cooling_at(depth, config) for depth in range(5)] == [12, 12, 12, 24, 24]
    assert [cooling_at(depth, replace(config, flow_levels=0)) for depth in range(5)] == [24] * 5


@pytest.mark.parametrize("threads", [2, 3])
def test_partitions_with_rivals_are_the_same_with_more_threads(triangles, threads):
    fixed = np.full(triangles.nvtxs, -1)
    fixed[::400] = np.arange(len(fixed[::400])) % PARTS
    for pinned in (None, fixed):
        one, other = (partition(triangles, PARTS, preset="strong", fixed=pinned, threads=t) for t in (1, threads))
        assert one.tobytes() == other.tobytes()
        assert np.bincount(one, minlength=PARTS).max() <= 1.05 * triangles.nvtxs / PARTS + 1
