"""Tasks onto scattered nodes by the task graph: grouping, U_G, U_WH, U_MC, U_MMC, comparators."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from copart.errors import ConfigError, MappingError, NotApplicableError
from copart.kernels import congestion as link_kernels
from copart.kernels.site_swapping import swap_change
from copart.kgggp_ml import partition
from copart.mapping.allocations import scattered
from copart.mapping.architectures.regular import Hypercube
from copart.mapping.congestion import Dragonfly, FatTree, MeshNetwork, TorusNetwork, link_loads
from copart.mapping.machine import attached, machine
from copart.mapping.sites import Sites
from copart.mapping.tasks import TaskGraph
from copart.mapping.topology import METHODS, evaluate_tasks, loads_of_links, map_tasks
from copart.mapping.topology.greedy import (
    first_sites,
    grow,
    grow_several,
    owners,
    relieve,
    shorten,
    shortest,
    weighted_distance,
)
from copart.mapping.topology.grouping import (
    Grouped,
    as_groups,
    group_sizes,
    group_tasks,
    walk_for,
)

from ..helpers import grid

TORUS = TorusNetwork([8, 6, 8])


def traffic(n: int, seed: int, many: int | None = None) -> TaskGraph:
    rng = np.random.default_rng(seed)
    many = 3 * n if many is None else many
    return TaskGraph(n, rng.integers(0, n, many), rng.integers(0, n, many), rng.integers(1, 9, many))


def alone(tasks: TaskGraph, size=None, wanted=None) -> Grouped:
    """Every task a group of its own."""
    ones = np.ones(tasks.ntasks, np.int64)
    return Grouped(np.arange(tasks.ntasks, dtype=np.int32), tasks, np.ones(tasks.nmessages, np.int64),
                   ones if size is None else size, ones if wanted is None else wanted)


def grow_best(grouped: Grouped, sites: Sites):
    return shortest(grouped, sites, grow_several(grouped, sites))


def is_mapping(place, machine, ntasks):
    return (place.dtype == np.int32 and len(place) == ntasks and len(set(place.tolist())) == ntasks
            and place.min() >= 0 and place.max() < machine.nprocs)


# ---- grouping
@pytest.mark.parametrize(("slots", "ntasks"), [([4, 4, 4], 12), ([4, 4, 4], 9), ([1, 5, 2, 5], 13), ([1, 5, 2, 5], 6),
                                               ([3], 2)])
def test_groups_have_the_sizes_of_nodes(slots, ntasks):
    sites = Sites(attached(TORUS, np.arange(len(slots)), slots))
    size, wanted = group_sizes(ntasks, sites)
    assert size.sum() == ntasks
    assert (size <= wanted).all()
    assert (size[:-1] == wanted[:-1]).all()
    for kind in set(wanted.tolist()):
        assert (wanted == kind).sum() <= (np.array(slots) == kind).sum()
    grouped = group_tasks(traffic(ntasks, 1), sites)
    assert np.array_equal(np.bincount(grouped.group, minlength=len(size)), size)


def test_grouping_cuts_no_more_than_blocks_of_ranks():
    sites = Sites(attached(TORUS, np.arange(16), 16))
    tasks = TaskGraph.from_graph(grid(16, 16))
    cut = group_tasks(tasks, sites).tasks.total_volume
    # 4 x 4 squares, the best there is, cut 192; lines of 16 cut 480
    assert cut <= 1.2 * 192
    shuffled = np.random.default_rng(1).permutation(256)
    mixed = TaskGraph(256, shuffled[tasks.source], shuffled[tasks.target])
    assert group_tasks(mixed, sites).tasks.total_volume <= 1.15 * cut
    with pytest.raises(MappingError, match="257 tasks need a slot each"):
        group_tasks(traffic(257, 1), sites)


# ---- U_G
def reference(grouped, sites, seeds):
    """U_G as its description reads, exhaustive: the level of a site is its distance to the nearest neighbour."""
    tasks, n = grouped.tasks, grouped.tasks.ntasks
    everyone = np.arange(sites.nsites)
    apart = sites.distances(everyone[:, None], everyone)
    c = np.zeros((n, n))
    np.add.at(c, (tasks.source, tasks.target), tasks.volume)
    c = c + c.T
    volume = c.sum(1)
    site, used = np.full(n, -1), []
    for step in range(n):
        free = [m for m in range(sites.nsites) if m not in used]
        left = np.flatnonzero(site < 0)
        tied = c[:, site >= 0].sum(1)
        if step == 0:
            t = max(left, key=lambda v: (volume[v], 0))
            m = min(range(sites.nsites), key=lambda s: (apart[s].sum(), s))
            if (volume[left] == volume[t]).sum() > 1:
                return None
        else:
            if step <= seeds:
                level = dict.fromkeys(np.flatnonzero(site >= 0), 0)
                edge = list(level)
                while edge:
                    edge = [u for v in edge for u in np.flatnonzero(c[v]) if u not in level
                            and not level.update({u: level[v] + 1})]
                rank = [(level.get(v, n), volume[v]) for v in left]
            else:
                rank = [(tied[v], volume[v]) for v in left]
            if rank.count(max(rank)) > 1:
                return None
            t = left[rank.index(max(rank))]
            near = [site[v] for v in np.flatnonzero(c[t]) if site[v] >= 0]
            if near:
                level = min(min(apart[s, m] for s in near) for m in free)
                at = [m for m in free if min(apart[s, m] for s in near) == level]
                m = min(at, key=lambda m: (sum(c[t, v] * apart[m, site[v]] for v in np.flatnonzero(site >= 0)), m))
            else:
                m = max(free, key=lambda m: (min(apart[s, m] for s in used), -m))
        site[t] = m
        used.append(m)
    return site


def test_growing_is_what_its_description_says():
    compared = 0
    for seed in range(120):
        rng = np.random.default_rng(seed)
        n = int(rng.integers(2, 14))
        # volumes that differ: no ties that the description leaves open
        many = int(rng.integers(n // 2, 3 * n))
        tasks = TaskGraph(n, rng.integers(0, n, many), rng.integers(0, n, many), rng.integers(1, 10**6, many))
        sites = Sites(attached(TORUS, rng.choice(TORUS.npoints, n + 3, replace=False)))
        for seeds in (0, 1):
            wanted = reference(alone(tasks), sites, seeds)
            if wanted is not None:
                assert grow(alone(tasks), sites, seeds).tolist() == wanted.tolist()
                compared += 1
    assert compared > 100


def test_a_seed_far_away_helps_or_is_not_taken():
    """Two chains that do not talk to one another, two clusters of nodes."""
    tasks = TaskGraph(8, [0, 1, 2, 4, 5, 6], [1, 2, 3, 5, 6, 7], [9, 9, 9, 5, 5, 5])
    sites = Sites(attached(TorusNetwork([32]), [0, 1, 2, 3, 14, 15, 16, 17]))
    found = [grow(alone(tasks), sites, seeds) for seeds in (0, 1)]
    assert not np.array_equal(*found)
    cost = [weighted_distance(alone(tasks), sites, site) for site in found]
    assert weighted_distance(alone(tasks), sites, grow_best(alone(tasks), sites)) <= min(cost)


def test_growing_starts_at_sites_in_the_middle_and_farther_out():
    rng = np.random.default_rng(2)
    sites = Sites(attached(TORUS, rng.choice(TORUS.npoints, 40, replace=False), 1 + (np.arange(40) % 4 == 0)))
    grouped = group_tasks(traffic(50, 3), sites)
    firsts = first_sites(grouped, sites, 5)
    # groups of the rare size come first: two slots, of which there are ten
    assert len(set(firsts)) == 5
    assert (sites.slots[firsts] == 2).all()
    apart = sites.remoteness()[firsts]
    assert apart.tolist() == sorted(apart)
    assert apart[0] == sites.remoteness()[sites.slots == 2].min()
    assert len(first_sites(grouped, sites, 99)) == 10
    found = grow_several(grouped, sites)
    assert len(found) == 16
    assert len({site.tobytes() for site in found}) > 8
    for first in firsts:
        assert first in grow(grouped, sites, first=first)
    cost = [weighted_distance(grouped, sites, site) for site in found]
    assert weighted_distance(grouped, sites, grow_best(grouped, sites)) == min(cost) < cost[0]
    # one start of each kind where there are thousands of sites
    many = Sites(attached(TorusNetwork([20, 20, 10]), np.arange(2049)))
    assert len(grow_several(group_tasks(traffic(9, 1), many), many)) == 2


def test_sizes_that_are_rare_are_placed_first():
    slots = [4, 4, 4, 2, 4, 7]
    sites = Sites(attached(TORUS, [0, 1, 2, 3, 4, 5], slots))
    for seed in range(10):
        tasks = traffic(25, seed)
        for method in ("ug", "uwh", "umc", "ummc", "search", "tmap"):
            place = map_tasks(tasks, sites.machine, method)
            assert is_mapping(place, sites.machine, 25)
    size, wanted = group_sizes(20, sites)
    grouped = group_tasks(traffic(20, 1), sites)
    site = grow_best(grouped, sites)
    assert (sites.slots[site] == wanted).all()
    assert (size <= sites.slots[shorten(grouped, sites, site)]).all()


@settings(max_examples=40, deadline=None)
@given(st.integers(0, 2**31), st.integers(1, 60), st.sampled_from(sorted(METHODS)))
def test_every_method_gives_every_task_a_slot_of_its_own(seed, ntasks, method):
    rng = np.random.default_rng(seed)
    slots = rng.integers(1, 9, 30)
    nhosts = int(np.searchsorted(np.cumsum(slots), ntasks)) + 1 + int(rng.integers(0, 3))
    job = attached(TORUS, rng.integers(0, TORUS.npoints, nhosts), slots[:nhosts])
    tasks = traffic(ntasks, seed)
    place = map_tasks(tasks, job, method, coords=rng.random((ntasks, 1 + seed % 3)), seed=3)
    assert is_mapping(place, job, ntasks)
    assert np.array_equal(place, map_tasks(tasks, job, method, coords=rng.random((ntasks, 1 + seed % 3)), seed=3)) \
        or method.startswith("geometric")


# ---- U_WH
@settings(max_examples=40, deadline=None)
@given(st.integers(0, 2**31), st.integers(2, 30))
def test_the_change_of_a_swap_is_what_recomputing_gives(seed, n):
    rng = np.random.default_rng(seed)
    grouped = alone(traffic(n, seed))
    sites = Sites(attached(TORUS, rng.integers(0, TORUS.npoints, n + 2)))
    groups, places = as_groups(grouped), sites.places()
    site = rng.permutation(n + 2)[:n].astype(np.int32)
    owner = owners(site, sites)
    before = weighted_distance(grouped, sites, site)
    a, m = int(rng.integers(0, n)), int(rng.integers(0, n + 2))
    b = int(owner[m])
    if b == a:
        return
    change = swap_change(groups, places, site, a, b, m)
    after = site.copy()
    after[a] = m
    if b >= 0:
        after[b] = site[a]
    assert weighted_distance(grouped, sites, after) - before == pytest.approx(change, abs=1e-6)


@settings(max_examples=30, deadline=None)
@given(st.integers(0, 2**31), st.integers(1, 60))
def test_swaps_never_lengthen(seed, n):
    rng = np.random.default_rng(seed)
    grouped = alone(traffic(n, seed))
    sites = Sites(attached(TORUS, rng.choice(TORUS.npoints, n + 5, replace=False)))
    site = rng.permutation(n + 5)[:n].astype(np.int32)
    cost = [weighted_distance(grouped, sites, site)]
    for candidates in (1, 8, 64):
        site = shorten(grouped, sites, site, candidates=candidates)
        assert len(set(site.tolist())) == n
        cost.append(weighted_distance(grouped, sites, site))
    assert cost == sorted(cost, reverse=True)
    # nothing is left of one swap away when all are tried
    site = shorten(grouped, sites, site, candidates=n + 5, enough=0.0)
    groups, places, owner = as_groups(grouped), sites.places(), owners(site, sites)
    tied = np.diff(groups.xadj) > 0
    assert all(swap_change(groups, places, site, t, int(owner[m]), m) > -1e-6
               for t in np.flatnonzero(tied) for m in range(n + 5) if owner[m] != t)


@pytest.mark.parametrize(("candidates", "moved"), [(7, False), (8, True)])
def test_so_many_sites_are_tried_for_each_group(candidates, moved):
    """A line: the free site that helps the last group is the eighth that a walk from its only neighbour meets."""
    near = [10, 9, 11, 8, 12, 7, 13]
    points = [*near, 30, 6]
    # six groups around the first, whose places none of them would leave; the last is far away
    tasks = TaskGraph(8, list(range(1, 8)), [0] * 7, [100] * 6 + [1])
    sites = Sites(attached(MeshNetwork([40]), points))
    place = shorten(alone(tasks), sites, np.arange(8, dtype=np.int32), candidates=candidates)
    assert [points[at] for at in place] == [*near, 6 if moved else 30]


def test_passes_end_where_little_is_won():
    """The last pass is the first that lowers the sum by at most a two-hundredth."""
    several, ended = 0, 0
    for seed in range(20):
        grouped = alone(traffic(60, seed))
        sites = Sites(attached(TORUS, np.random.default_rng(seed).choice(TORUS.npoints, 64, replace=False)))
        site, passes = np.arange(60, dtype=np.int32), 0
        while True:
            before = weighted_distance(grouped, sites, site)
            site, passes = shorten(grouped, sites, site, enough=1.0), passes + 1
            if before - weighted_distance(grouped, sites, site) <= 0.005 * before:
                break
        assert np.array_equal(site, shorten(grouped, sites, np.arange(60, dtype=np.int32)))
        several += passes > 2
        ended += not np.array_equal(site, shorten(grouped, sites, site, enough=0.0))
    assert several > 10
    assert ended > 0, "no pass was left out"


# ---- U_MC, U_MMC
@settings(max_examples=40, deadline=None)
@given(st.integers(0, 2**31), st.integers(2, 40), st.booleans(), st.booleans(), st.integers(0, 2))
def test_relief_never_raises_the_maximum(seed, n, messages, directed, kind):
    rng = np.random.default_rng(seed)
    network = [lambda **k: TorusNetwork([4, 5, 3], **k), lambda **k: FatTree([4, 3, 5], [2, 1, 1], **k),
               lambda **k: Dragonfly(9, 6, 2, **k)][kind](directed=directed)
    bandwidth = rng.integers(1, 4, network.nlinks) / 2
    network = [lambda **k: TorusNetwork([4, 5, 3], **k), lambda **k: FatTree([4, 3, 5], [2, 1, 1], **k),
               lambda **k: Dragonfly(9, 6, 2, **k)][kind](directed=directed, bandwidth=bandwidth)
    tasks, grouped = traffic(n, seed), alone(traffic(n, seed))
    sites = Sites(attached(network, rng.integers(0, network.npoints, n + 3)))
    site = rng.permutation(n + 3)[:n].astype(np.int32)
    after = relieve(grouped, sites, site, messages=messages)
    assert len(set(after.tolist())) == n
    loads = [link_loads(tasks, network, sites.point[s], s) for s in (site, after)]
    worst = [load.messages if messages else load.congestion for load in loads]
    assert worst[1].max() <= worst[0].max()


@pytest.mark.parametrize("bandwidth", [1.0, [1.0, 0.7, 0.3]])
def test_what_links_carry_is_kept_through_swaps(bandwidth):
    """One swap after the other, accepted or not: links carry what counting anew says."""
    network = TorusNetwork([4, 4, 4], bandwidth)
    tasks = traffic(40, 5)
    grouped = alone(tasks)
    sites = Sites(attached(network, np.arange(43)))
    groups, places = as_groups(grouped), sites.places()
    site = np.random.default_rng(1).permutation(43)[:40].astype(np.int32)
    owner = owners(site, sites)
    links = link_kernels.Links(np.zeros(network.nlinks, np.int64), network.scratch(), np.zeros(4),
                               np.zeros(40, np.int64))
    link_kernels.load_routes(network.code, links, groups, places, site)
    taken = 0
    for a in range(40):
        for m in range(0, 43, 7):
            if owner[m] == a:
                continue
            link = link_kernels.survey_links(network.code, links)
            top = links.carried[link] / network.bandwidth[link]
            kept = site.copy()
            took = link_kernels.swap_relieves(network.code, links, groups, places, site, owner, top, a, m)
            now = link_loads(tasks, network, sites.point[site], site)
            assert np.array_equal(now.volume, links.carried)
            assert links.state[2] == pytest.approx(now.congestion.sum())
            assert links.state[3] == (now.messages > 0).sum()
            assert np.array_equal(owner, owners(site, sites))
            assert took != np.array_equal(kept, site)
            assert now.congestion.max() <= top
            taken += took
    assert 0 < taken < 40


def test_swaps_relieve_from_the_start_on():
    grouped = alone(traffic(60, 2))
    sites = Sites(attached(TORUS, np.arange(0, 120, 2)))
    site = np.arange(60, dtype=np.int32)
    again = relieve(grouped, sites, relieve(grouped, sites, site))
    assert np.array_equal(again, relieve(grouped, sites, site))
    walk = walk_for(as_groups(grouped), sites.nsites)
    assert len(walk.source) > np.diff(as_groups(grouped).xadj).max()


# ---- how good, and the variants
def cubes(seed: int):
    """A stencil and the parts of a mesh, on a torus that is half full."""
    job = scattered(TORUS, 64, fill=0.5, nodes_per_point=2, slots=8, seed=seed)
    mesh = grid(32, 32, 16)
    parts = partition(mesh, 512, preset="fast", strict=False)
    return job, [TaskGraph.from_graph(grid(8, 8, 8)), TaskGraph.from_partition(mesh, parts, 512)]


@pytest.fixture(scope="module")
def found():
    """Figures over those of DEF, mean of all cases, by method."""
    ratios = {}
    for seed in (1, 2, 3):
        job, cases = cubes(seed)
        for tasks in cases:
            before = evaluate_tasks(tasks, job, map_tasks(tasks, job, "default")).to_dict()
            for method in ("random", "ug", "uwh", "umc", "ummc", "uwh-th", "search", "search-mc", "tmap", "smap"):
                after = evaluate_tasks(tasks, job, map_tasks(tasks, job, method)).to_dict()
                for key, value in after.items():
                    ratios.setdefault((method, key), []).append(value / max(before[key], 1))
    return {key: float(np.exp(np.mean(np.log(values)))) for key, values in ratios.items() if min(values) > 0}


def test_methods_by_what_they_are_for(found):
    assert found["ug", "weighted_hops"] < 0.5 * found["random", "weighted_hops"]
    # parts of a mesh are numbered so well that U_G alone hardly beats the order of the ranks there
    assert found["ug", "weighted_hops"] < 1.0
    assert found["uwh", "weighted_hops"] < 0.85
    assert found["uwh", "weighted_hops"] < 0.95 * found["ug", "weighted_hops"]
    assert found["umc", "max_congestion"] < 0.7
    assert found["ummc", "max_message_congestion"] < 0.7
    # what relieves links still does not lengthen routes
    assert found["umc", "weighted_hops"] < 1.0
    assert found["search", "weighted_hops"] < 0.8 * found["uwh", "weighted_hops"]
    assert found["search-mc", "max_congestion"] < found["umc", "max_congestion"]
    assert found["uwh-th", "total_hops"] < 0.9
    assert found["tmap", "max_congestion"] <= 1.0
    assert found["smap", "weighted_hops"] < found["random", "weighted_hops"]


def test_hop_variants_are_those_of_unit_costs():
    job, (stencil, parts) = cubes(1)
    for method in ("ug", "uwh"):
        assert np.array_equal(map_tasks(parts, job, f"{method}-th"), map_tasks(parts.unit(), job, method))
        assert np.array_equal(map_tasks(stencil, job, f"{method}-th"), map_tasks(stencil, job, method))


def test_default_and_random():
    job = attached(TORUS, [5, 5, 9], [2, 3, 1])
    tasks = traffic(5, 1)
    assert map_tasks(tasks, job, "default").tolist() == [0, 1, 2, 3, 4]
    assert is_mapping(map_tasks(tasks, job, "random"), job, 5)
    assert map_tasks(tasks, job, "random", seed=1).tolist() != map_tasks(tasks, job, "random", seed=2).tolist()


def test_machines_without_routes():
    """Distances are enough for U_G and U_WH."""
    cube = Hypercube(5)
    tasks = TaskGraph.from_graph(grid(4, 8))
    place = map_tasks(tasks, cube, "uwh")
    u, v, w = tasks.graph.edges()
    assert sorted(place) == list(range(32))
    assert (w * cube.distances(place[u], place[v])).sum() <= 1.3 * w.sum()
    assert is_mapping(map_tasks(tasks, cube, "auto"), machine("32"), 32)
    for method in ("umc", "ummc", "geometric"):
        with pytest.raises(NotApplicableError, match="method"):
            map_tasks(tasks, cube, method, coords=np.zeros((32, 2)))
    with pytest.raises(NotApplicableError, match="no static routes"):
        evaluate_tasks(tasks, cube, place)


def test_trees_of_hosts():
    job = machine("4:4:4", "1:10:100")
    tasks = TaskGraph.from_graph(grid(4, 16))
    for method in ("uwh", "umc", "search"):
        assert is_mapping(map_tasks(tasks, job, method), job, 64)
    assert evaluate_tasks(tasks, job, map_tasks(tasks, job, "uwh")).internode_messages <= 24
    assert loads_of_links(tasks, job, np.arange(64)).messages.sum() == evaluate_tasks(tasks, job,
                                                                                     np.arange(64)).total_hops


@pytest.mark.parametrize(("options", "error", "message"), [
    ({"method": "uhw"}, ConfigError, "did you mean uwh"),
    ({"method": "geometric"}, ConfigError, "coords"),
    ({"method": "geometric", "coords": np.zeros((4, 2))}, MappingError, "coords: needs finite numbers, a row for each"),
    ({"bound": "speed"}, ConfigError, "bound"),
    ({"seed": -1}, ConfigError, "seed"),
])
def test_refused(options, error, message):
    with pytest.raises(error, match=message):
        map_tasks(traffic(5, 1), attached(TORUS, [0, 1, 2], 2), **options)


def test_no_and_single_tasks():
    job = attached(TORUS, [0, 1, 2], 2)
    for ntasks in (0, 1):
        for method in ("default", "ug", "uwh", "umc", "search", "tmap"):
            assert len(map_tasks(TaskGraph(ntasks, [], []), job, method)) == ntasks


@pytest.mark.parametrize("arities", [[1], [1, 1], [1, 1, 1]])
def test_hosts_at_one_point(arities):
    job = attached(FatTree(arities), [0, 0, 0], 2)
    sites = Sites(job)
    assert sites.remoteness().tolist() == [0, 0, 0]
    assert not sites.code().table.any()
    for method in METHODS:
        if "geometric" not in method:
            place = map_tasks(traffic(5, 1), job, method)
            assert len(set(place.tolist())) == 5, method


def test_distances_beyond_all_reason_end():
    job = machine("4:4", "1e300:1e300")
    tasks = TaskGraph(16, np.arange(16), (np.arange(16) * 7 + 3) % 16, np.full(16, 2**50))
    for method in ("search", "uwh"):
        assert len(set(map_tasks(tasks, job, method).tolist())) == 16
