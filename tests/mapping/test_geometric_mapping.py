"""Geometric mapping: tasks and cores partitioned alike; shift, rotations, reflections, ties, and the method Group."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from copart.errors import ConfigError, MappingError
from copart.mapping.allocations import scattered
from copart.mapping.congestion import FatTree, MeshNetwork, TorusNetwork
from copart.mapping.machine import attached
from copart.mapping.sites import Sites
from copart.mapping.tasks import TaskGraph
from copart.mapping.topology import blocks, evaluate_tasks, map_tasks
from copart.mapping.topology.geometric import VARIANTS, Side, Trials, candidates, map_points, nearest_cores, shifted


def stencil(*dims: int) -> tuple[TaskGraph, np.ndarray]:
    """Nearest neighbours of a grid of tasks, numbered fastest along the first axis; and their coordinates."""
    ids = np.arange(int(np.prod(dims))).reshape(dims, order="F")
    u = np.concatenate([np.delete(ids, -1, axis).ravel() for axis in range(len(dims))])
    v = np.concatenate([np.delete(ids, 0, axis).ravel() for axis in range(len(dims))])
    tasks = TaskGraph(ids.size, np.concatenate([u, v]), np.concatenate([v, u]))
    return tasks, np.stack(np.unravel_index(np.arange(ids.size), dims, order="F"), 1).astype(float)


def hops(tasks, sites, site) -> int:
    return int(sites.network.hops(sites.point[site[tasks.source]], sites.point[site[tasks.target]]).sum())


def test_the_stencil_has_the_messages_of_the_formula():
    tasks, _ = stencil(4, 5, 6)
    assert tasks.nmessages == 2 * (3 * 120 - 4 * 5 - 5 * 6 - 4 * 6)


@pytest.mark.parametrize("k", [1, 2, 3])
def test_tasks_on_the_same_full_grid_are_one_hop_apart(k):
    tasks, coords = stencil(*[2**k] * 3)
    full = Sites(attached(MeshNetwork([2**k] * 3), np.arange(8**k)))
    site = map_points(tasks, coords, full)
    assert sorted(site) == list(range(8**k))
    assert hops(tasks, full, site) == tasks.nmessages


@settings(max_examples=40, deadline=None)
@given(st.integers(0, 2**31), st.integers(1, 80), st.integers(1, 3), st.integers(1, 3))
def test_every_task_has_a_core_of_its_own(seed, ntasks, tdim, pdim):
    rng = np.random.default_rng(seed)
    network = TorusNetwork([7, 5, 6][:pdim])
    nhosts = ntasks // 3 + 1 + int(rng.integers(0, 4))
    sites = Sites(attached(network, rng.integers(0, network.npoints, nhosts), 3))
    m = 3 * ntasks
    tasks = TaskGraph(ntasks, rng.integers(0, ntasks, m), rng.integers(0, ntasks, m))
    coords = rng.integers(0, 4, (ntasks, tdim)).astype(float)
    site = map_points(tasks, coords, sites)
    assert (np.bincount(site, minlength=nhosts) <= sites.slots).all()
    assert np.array_equal(site, map_points(tasks, coords, sites, threads=3))
    # best of many: no worse than without rotations, or without the shift
    for less in ({"rotations": "aspect"}, {"shift": False}, {"rotations": "aspect", "shift": False}):
        assert hops(tasks, sites, site) <= hops(tasks, sites, map_points(tasks, coords, sites, **less))
    assert hops(tasks, sites, map_points(tasks, coords, sites, reflections=True)) <= hops(tasks, sites, site)


def test_more_tasks_than_cores():
    """Several tasks to a core, as equally many as can be."""
    tasks, coords = stencil(6, 6)
    sites = Sites(attached(MeshNetwork([4, 4]), np.arange(16)))
    count = np.bincount(map_points(tasks, coords, sites), minlength=16)
    assert count.max() <= -(-36 // 16)
    assert count.min() >= 36 // 16


@pytest.mark.parametrize("method", VARIANTS)
def test_more_tasks_than_slots_in_one_call(method):
    """Nodes of one, two and three slots: as equally many tasks on each slot as can be, and fewer hops than in order."""
    tasks, coords = stencil(6, 6)
    job = attached(TorusNetwork([4, 4]), [0, 1, 4, 5, 9, 10], [1, 2, 3, 1, 2, 3])
    place = map_tasks(tasks, job, method, coords=coords)
    assert set(np.bincount(place, minlength=12).tolist()) == {3}
    assert np.array_equal(map_tasks(tasks, job, method, coords=coords), place)
    assert evaluate_tasks(tasks, job, place).total_hops < evaluate_tasks(tasks, job, np.arange(36) % 12).total_hops
    five = map_tasks(TaskGraph(25, [], []), job, method, coords=coords[:25])
    assert sorted(np.bincount(five, minlength=12)) == [2] * 11 + [3]
    with pytest.raises(MappingError, match=r"36 tasks need a slot each.*geometric"):
        map_tasks(tasks, job, "auto", coords=coords)


def test_fewer_tasks_than_cores_take_those_around_one_centre():
    line = np.arange(20.0)[:, None]
    assert nearest_cores(line, 20).tolist() == list(range(20))
    chosen = nearest_cores(np.concatenate([line, [[100.0]], [[101.0]]]), 5)
    assert np.ptp(chosen) == 4
    tasks, coords = stencil(3, 3)
    network = MeshNetwork([9, 9])
    site = map_points(tasks, coords, Sites(attached(network, np.arange(81))))
    at = network.coordinates(site)
    # nine of the middle, not strung out
    assert np.abs(at - 4).max() <= 2
    assert len(set(site.tolist())) == 9


# ---- shift
def example(xs):
    """Eight tasks in a 4 x 2 grid on a torus of 17 x 8; nodes at `xs`, in two rows whose y differ by 3."""
    network = TorusNetwork([17, 8])
    tasks, coords = stencil(4, 2)
    points = network.point([[x, y] for y in (1, 4) for x in xs])
    return tasks, coords, Sites(attached(network, points))


def test_the_example_of_the_shift():
    tasks, coords, sites = example([0, 3, 14, 16])

    def mean_hops(**options):
        at = sites.coordinates[map_points(tasks, coords, sites, rotations="aspect", **options)]
        apart = np.abs(at[tasks.source] - at[tasks.target])
        apart = np.minimum(apart, [17, 8] - apart)
        along = coords[tasks.source, 1] == coords[tasks.target, 1]
        return apart[along, 0].mean(), apart[~along, 1].mean(), apart[along, 1].max()

    assert mean_hops(shift=False) == pytest.approx((22 / 6, 3, 0))
    assert mean_hops(shift=True) == pytest.approx((2, 3, 0))


@pytest.mark.parametrize(("xs", "length", "moved"), [
    ([0, 3, 14, 16], 17, [17, 20, 14, 16]),
    ([0, 1, 2, 3], 17, [0, 1, 2, 3]),             # no gap
    ([5, 7, 9], 17, [5, 7, 9]),                   # the widest is around the end
    ([0, 4, 8, 12], 13, [13, 17, 8, 12]),         # of equal ones, the one in the middle
    ([0, 5, 10], 11, [11, 5, 10]),                # and the lower of those
    ([2], 9, [2]),
])
def test_shifts(xs, length, moved):
    assert shifted(np.array(xs, float)[:, None], [length]).ravel().tolist() == moved


# ---- rotations, reflections, aspect ratio
def test_candidates():
    three, two = np.zeros((4, 3)), np.zeros((4, 2))

    def count(*args, **options):
        left, right = candidates(*args, **options)
        return len(left) * len(right)

    assert count(three, three) == 36
    assert count(two, three) == 2 * 6
    assert count(three, three, reflections=True) == 288
    assert count(three, three, "aspect") == 1
    assert count(three, three, shift=True) == 72


def test_elongated_axes_are_paired():
    tasks, coords = stencil(2, 16, 4)
    cores = MeshNetwork([16, 4, 2])
    sites = Sites(attached(cores, np.arange(128)))
    left, right = candidates(coords, cores.coordinates(np.arange(128)).astype(float), "aspect")
    assert (left, right) == ([Side((1, 2, 0))], [Side((0, 1, 2))])
    assert hops(tasks, sites, map_points(tasks, coords, sites, rotations="aspect")) == tasks.nmessages


def test_rotations_win_where_extents_mislead():
    """Nodes scattered so that extents say nothing: some pairing is strictly better."""
    tasks, coords = stencil(16, 4, 2)
    sites = Sites(attached(TorusNetwork([12, 12, 12]), scattered_points(3), 1))
    one, all_ = (hops(tasks, sites, map_points(tasks, coords, sites, rotations=r, shift=False))
                 for r in ("aspect", "all"))
    assert all_ < one


@pytest.mark.parametrize(("dims", "count"), [((4, 6, 4), 36), ((12, 8), 12)])
def test_no_candidate_is_better_than_the_one_that_is_taken(dims, count):
    tasks, coords = stencil(*dims)
    sites = Sites(attached(TorusNetwork([12, 12, 12]), scattered_points(5)[:96]))
    trials = Trials(tasks, coords, sites, shift=False)
    each = [trials.best(range(i, i + 1)) for i in range(len(trials))]
    assert len(each) == count
    assert len({one.hops for one in each}) > 1
    assert all(one.hops == hops(tasks, sites, one.site) for one in each)
    best = trials.best(range(count))
    assert best.hops == min(one.hops for one in each) == hops(tasks, sites, map_points(tasks, coords, sites,
                                                                                      shift=False))
    assert best.candidate == [one.hops for one in each].index(best.hops)


def scattered_points(seed):
    return Sites(scattered(TorusNetwork([12, 12, 12]), 128, fill=0.7, seed=seed)).point


def test_ordered_ties_keep_neighbours_on_a_node():
    """Messages between the nodes of a router are unseen by hops; ordered ties leave fewer of them."""
    tasks, coords = stencil(16, 16, 8)
    job = scattered(TorusNetwork([8, 8, 8]), 128, fill=0.6, nodes_per_point=2, slots=16)
    sites = Sites(job)
    share = []
    for ordered in (False, True):
        site = map_points(tasks, coords, sites, ordered=ordered)
        share.append(evaluate_tasks(tasks, job, sites.seated(site)).unseen_messages)
    assert share[1] < 0.6 * share[0]


# ---- Group, and the shape of the growth
def test_blocks_keep_28_edges_on_a_node():
    tasks, _ = stencil(4, 4, 8)
    job = attached(TorusNetwork([8]), np.arange(8), 16)
    inside = []
    for place in (blocks([4, 4, 8]), np.arange(128)):
        found = evaluate_tasks(tasks, job, place)
        inside.append((found.messages - found.internode_messages) / 2 / 8)
    assert sorted(blocks([4, 4, 8])) == list(range(128))
    assert inside[0] == 28
    long, _ = stencil(16, 4, 2)
    assert evaluate_tasks(long, job, np.arange(128)).internode_messages == long.nmessages - 2 * 15 * 8
    assert sorted(blocks([5, 3, 7], [2, 2, 4])) == list(range(105))
    with pytest.raises(ConfigError, match="block: needs 2"):
        blocks([4, 4])


def test_hops_stay_flat_as_jobs_grow():
    """Nodes times eight: the others grow by more; some growth is of the rim, where tasks send fewer messages."""
    mean = {"default": [], "group": [], "geometric": []}
    for extent, side in ((8, 8), (16, 16)):
        network = TorusNetwork([side, side, side])
        tasks, coords = stencil(*[2 * extent] * 3)
        job = scattered(network, (2 * extent)**3 // 16, fill=0.6, nodes_per_point=2, slots=16)
        for method, values in mean.items():
            place = blocks([2 * extent] * 3) if method == "group" else map_tasks(tasks, job, method, coords=coords)
            values.append(evaluate_tasks(tasks, job, place).average_hops)
    assert mean["geometric"][1] < mean["group"][1] < mean["default"][1]
    growth = {method: values[1] / values[0] for method, values in mean.items()}
    assert growth["geometric"] < 0.85 * growth["group"], growth
    assert growth["geometric"] < 0.8 * growth["default"], growth


@pytest.mark.parametrize("method", VARIANTS)
def test_no_tasks(method):
    job = attached(TorusNetwork([4, 4]), [0, 1, 2])
    assert map_tasks(TaskGraph(0, [], []), job, method, coords=np.zeros((0, 2))).tolist() == []


@pytest.mark.parametrize(("options", "error", "message"), [
    ({"rotations": "some"}, ConfigError, "rotations"),
    ({"threads": 0}, ConfigError, "threads"),
])
def test_refused(options, error, message):
    tasks, coords = stencil(2, 2)
    with pytest.raises(error, match=message):
        map_points(tasks, coords, Sites(attached(TorusNetwork([4, 4]), [0, 1, 2, 3])), **options)
    with pytest.raises(MappingError, match="coordinates"):
        map_points(tasks, coords, Sites(attached(FatTree([4]), [0, 1, 2, 3])))
