"""When Multi-Jagged moves points to other processes, and where to: the figures of the source, and small cases."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from copart.errors import PartitionError
from copart.partitioner.geometric.methods import partition_points
from copart.partitioner.geometric.migration import (
    assign,
    calls_ahead,
    decide,
    destinations,
    new_owners,
    placement_imbalance,
    simulate,
    simulate_bisection,
)
from copart.partitioner.multijagged import multijagged


def even(nprocs: int, nparts: int, points: float):
    """Every process has the same share of every part."""
    return np.full((nprocs, nparts), points / nprocs / nparts)


def test_number_of_calls():
    assert calls_ahead([32, 32, 32]) == 1057
    points = np.random.default_rng(1).random((5000, 3))
    assert multijagged(points, counts=[4, 4, 4], eps=0.05).counters.calls == calls_ahead([4, 4, 4]) == 21
    assert multijagged(points, counts=[4, 4, 4]).counters.calls == 21


def test_uneven_placement_migrates():
    rng = np.random.default_rng(2)
    points = rng.random((200_000, 2))
    made = multijagged(points, counts=[8, 8])
    at_random = simulate(made.part, [8, 8], rng.integers(0, 16, len(points)), 16)
    (_, found), = at_random.decisions
    assert found.imbalance < 0.05
    assert at_random.moved == []
    by_region = simulate(made.part, [8, 8], multijagged(points, 16).part, 16)
    (_, found), *_ = by_region.decisions
    assert found.imbalance > 0.30
    assert len(by_region.moved) >= 1


@pytest.mark.parametrize(("counts", "nprocs", "migrates"), [
    ([256, 256], 1536, False), ([256, 256], 6144, True), ([32, 32, 32], 384, False), ([32, 32, 32], 1536, True)])
def test_waiting_migrates(counts, nprocs, migrates):
    """Four million points per process, at random."""
    found = decide(even(nprocs, counts[0], 4e6 * nprocs), counts, 1)
    assert (found.imbalance, found.points > 1000) == (0, True)
    assert found.migrate is migrates


@pytest.mark.parametrize(("counts", "nprocs", "migrates"), [
    ([256, 256], 96, False), ([256, 256], 384, True), ([32, 32, 32], 24, False), ([32, 32, 32], 96, True)])
def test_few_points_migrate(counts, nprocs, migrates):
    """Fifty million points in all, at random."""
    found = decide(even(nprocs, counts[0], 5e7), counts, 1)
    assert found.waiting < 1_500_000
    assert found.migrate is migrates


@pytest.mark.parametrize(("nparts", "taken"), [(256, [11] * 16 + [10] * 8), (32, [2] * 8 + [1] * 16)])
def test_parts_are_shared_out_evenly(nparts, taken):
    owned = np.random.default_rng(3).integers(0, 50, (24, nparts))
    groups = assign(owned)
    assert all(len(group) == 1 for group in groups)
    each = np.bincount([group[0] for group in groups], minlength=24)
    assert sorted(each.tolist(), reverse=True) == taken
    kept = sum(owned[group[0], part] for part, group in enumerate(groups))
    by_chance = np.random.default_rng(4).permutation([group[0] for group in groups])
    assert kept > 1.5 * owned[by_chance, np.arange(nparts)].sum()


@settings(max_examples=60, deadline=None)
@given(st.integers(1, 12), st.integers(1, 12), st.integers(0, 9))
def test_every_process_has_work_and_every_part_processes(nprocs, nparts, seed):
    owned = np.random.default_rng(seed).integers(0, 9, (nprocs, nparts))
    groups, nearby = assign(owned), assign(owned, near=True)
    flat = [process for group in nearby for process in group]
    assert flat == sorted(flat)
    assert set(flat) == set(range(nprocs))
    if nprocs >= nparts:
        assert list(map(len, nearby)) == list(map(len, groups))
    else:
        assert np.ptp(np.bincount(flat)) <= 1
    everyone = [process for group in groups for process in group]
    assert min(map(len, groups)) >= 1
    if nprocs >= nparts:
        assert sorted(everyone) == list(range(nprocs))
    else:
        each = np.bincount(everyone, minlength=nprocs)
        assert set(each.tolist()) <= {nparts // nprocs, -(-nparts // nprocs)}


@settings(max_examples=60, deadline=None)
@given(st.integers(1, 9), st.integers(1, 9), st.integers(0, 200), st.integers(0, 9))
def test_points_go_to_the_processes_of_their_part_evenly(nprocs, nparts, n, seed):
    rng = np.random.default_rng(seed)
    part, owner = rng.integers(0, nparts, n), np.sort(rng.integers(0, nprocs, n))
    table = np.bincount(owner * nparts + part, minlength=nprocs * nparts).reshape(nprocs, nparts)
    groups = assign(table)
    moved = new_owners(part, owner, groups)
    assert moved.tolist() == [to for process in range(nprocs)
                              for to in destinations(table, groups, process, part[owner == process])]
    for number, group in enumerate(groups):
        here = np.bincount(moved[part == number], minlength=nprocs)
        assert here.sum() == here[group].sum()
        assert np.ptp(here[group]) <= 1


def test_destinations_of_many_parts():
    """Each of which was a pass over all points."""
    nparts = 4000
    part = np.random.default_rng(1).permutation(np.arange(400_000) % nparts)
    table = np.stack([np.bincount(part, minlength=nparts)] * 2)
    groups = [[number % 2] for number in range(nparts)]
    assert (destinations(table, groups, 0, part) == part % 2).all()


def test_more_processes_join_larger_parts():
    groups = assign([[600, 0], [100, 20], [0, 300], [100, 0], [0, 180], [100, 0]])
    assert [len(group) for group in groups] == [4, 2]
    assert groups[1] == [2, 4]


def test_bisection_moves_half_of_all_points_at_every_level():
    rng = np.random.default_rng(5)
    points, owner = rng.random((64_000, 2)), rng.integers(0, 16, 64_000)
    rcb = simulate_bisection(partition_points(points, 16, "rcb").part, owner, 16)
    assert len(rcb.moved) == 4
    assert all(abs(moved - 32_000) < 1000 for moved in rcb.moved)
    ours = simulate(multijagged(points, counts=[4, 4]).part, [4, 4], owner, 16)
    assert len(ours.moved) <= 1
    assert sum(ours.moved) <= 64_000
    # forced to: too few points per process and part
    few = simulate(multijagged(points, counts=[16, 16]).part, [16, 16], owner, 16)
    assert len(few.moved) == 1
    assert few.moved[0] <= 64_000 < sum(rcb.moved)


def test_after_migration_groups_go_on_by_themselves():
    rng = np.random.default_rng(6)
    points = rng.random((4000, 3))
    made = multijagged(points, counts=[2, 3, 4])
    trace = simulate(made.part, [2, 3, 4], rng.integers(0, 6, 4000), 6)
    # one search of six, then two groups of three, one search each, then nobody shares a part
    assert (trace.calls, trace.participants) == (3, 6 + 2 * 3)
    assert len(trace.moved) == 3
    # every point is cut once per level, by somebody
    assert trace.work.sum() == 3 * 4000
    alone = simulate(made.part, [2, 3, 4], np.zeros(4000, int), 1)
    assert (alone.calls, alone.moved, alone.decisions, alone.work.tolist()) == (0, [], [], [12_000])


def test_processes_near_each_other_move_more_points():
    rng = np.random.default_rng(7)
    points = rng.random((4000, 2))
    made = multijagged(points, counts=[4, 4])
    owner = rng.permutation(16)[made.part]  # a region each, in no order
    most, nearby = (simulate(made.part, [4, 4], owner, 16, near=near) for near in (False, True))
    assert most.moved[0] < 0.3 * nearby.moved[0]
    assert (most.calls, most.participants) == (nearby.calls, nearby.participants)
    assert most.work.tolist() == [500] * 16 == nearby.work.tolist()


def test_empty_parts_do_not_count():
    assert placement_imbalance([[2, 0], [2, 0]]) == 0
    assert placement_imbalance([[0, 0]]) == 0


def test_owners_are_checked():
    with pytest.raises(PartitionError, match=r"owner: 1 of 2 entries are outside 0\.\.1"):
        simulate([0, 1], [2], [0, 2], 2)
    with pytest.raises(PartitionError, match="part: "):
        simulate([0, 2], [2], [0, 1], 2)
