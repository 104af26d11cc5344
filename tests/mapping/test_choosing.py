"""What the method "auto" chooses from, and that it takes the best of it."""

from __future__ import annotations

import numpy as np
import pytest

from copart.kgggp_ml import partition
from copart.mapping.allocations import scattered
from copart.mapping.architectures.regular import Hypercube
from copart.mapping.congestion import Dragonfly, MeshNetwork, TorusNetwork
from copart.mapping.machine import attached
from copart.mapping.tasks import TaskGraph
from copart.mapping.topology import BOUNDS, choosing, evaluate_tasks, map_tasks
from copart.mapping.topology.choosing import candidates
from copart.mapping.topology.greedy import relieve
from copart.mapping.topology.grouping import Grouped
from copart.mapping.topology.methods import job_of, relieved

from ..helpers import grid

TORUS, GROUPS = TorusNetwork([6, 4, 6], (4.0, 2.0, 4.0)), Dragonfly(9, 4, 2)
BY_HOPS = ["default", "uwh", "search", "smap", "geometric"]
PLACES = np.stack(np.unravel_index(np.arange(128), (8, 4, 4)), 1)


def parts(seed: int) -> TaskGraph:
    mesh = grid(16, 16, 8 + seed)
    return TaskGraph.from_partition(mesh, partition(mesh, 128, preset="fast", strict=False), 128)


def nodes(network, seed: int = 1):
    return scattered(network, 16, fill=0.4, run=2.0, slots=8, seed=seed)


def names(*args, **options) -> list[str]:
    return [name for name, _ in candidates(*args, **options)]


@pytest.mark.parametrize("network", [TORUS, GROUPS], ids=repr)
@pytest.mark.parametrize("bound", BOUNDS)
@pytest.mark.parametrize("seed", [1, 2])
def test_auto_is_the_best_of_all_it_tries(network, bound, seed):
    tasks, job = parts(seed), nodes(network, seed)
    given = tasks.unit() if bound == "latency" else tasks
    coords = PLACES if network is TORUS else None
    where = dict(candidates(given, job, bound, coords=coords))
    found = {name: evaluate_tasks(given, job, one) for name, one in where.items()}
    worth = {name: getattr(one, BOUNDS[bound]) for name, one in found.items()}
    if bound == "bandwidth":
        worth = {name: worth[name] * one.max_received_volume**0.5 for name, one in found.items()}
    most = min(worth.values()) * (1.02 if bound == "bandwidth" else 1.0)
    best = min((name for name in found if worth[name] <= most), key=lambda name: found[name].weighted_hops)
    assert np.array_equal(map_tasks(tasks, job, "auto", bound=bound, coords=coords), where[best])
    assert len(set(worth.values())) > 2  # there is something to choose from
    for name in BY_HOPS if coords is not None else BY_HOPS[:-1]:
        assert np.array_equal(where[name], map_tasks(given, job, name, coords=coords))


@pytest.mark.parametrize("order", [1, -1])
@pytest.mark.parametrize(("bound", "hops", "received"), [("bandwidth", 15, 5), ("volume", 10, 10)])
def test_what_a_node_receives_decides_where_links_carry_alike(monkeypatch, order, bound, hops, received):
    """On a line of nodes: two receivers between two senders, or the senders together and a receiver farther away."""
    tasks = TaskGraph(4, [0, 1], [2, 3], [5, 5])
    job = attached(MeshNetwork([4]), [0, 1, 2, 3], [2, 2, 2, 2])
    for name, site in (("between", [0, 2, 1, 1]), ("together", [1, 1, 0, 3])):
        monkeypatch.setitem(choosing.METHODS, name, lambda job, site=tuple(site): np.array(site))
    monkeypatch.setattr(choosing, "_TRIED", ("between", "together")[::order])
    monkeypatch.setattr(choosing, "_TRIED_BY_LINKS", ())
    monkeypatch.setattr(choosing, "relieved", lambda job, site: site)
    found = evaluate_tasks(tasks, job, map_tasks(tasks, job, "auto", bound=bound))
    assert (found.max_congestion, found.weighted_hops, found.max_received_volume) == (5, hops, received)


def test_links_are_relieved_where_they_decide():
    """Each mapping is followed by one that is never worse by MC, and mostly better."""
    tasks, job = parts(1), nodes(TORUS)
    found = list(candidates(tasks, job, "bandwidth", coords=PLACES))
    assert [name for name, _ in found[::2]] == [*BY_HOPS, "umc", "ummc", "geometric-shifted"]
    assert [name for name, _ in found[1::2]] == [f"{name}-mc" for name, _ in found[::2]]
    worst = [evaluate_tasks(tasks, job, where).max_congestion for _, where in found]
    assert all(after <= before for before, after in zip(worst[::2], worst[1::2], strict=True))
    assert sum(after < 0.95 * before for before, after in zip(worst[::2], worst[1::2], strict=True)) >= 3
    by_name = dict(found)
    assert np.array_equal(by_name["search-mc"], map_tasks(tasks, job, "search-mc"))
    for bound in ("latency", "volume"):
        assert names(tasks, job, bound, coords=PLACES) == BY_HOPS


def test_what_does_not_apply_is_not_tried(monkeypatch):
    tasks = parts(1)
    assert names(tasks, nodes(TORUS), "volume") == BY_HOPS[:-1]
    assert names(tasks, nodes(GROUPS), "volume", coords=PLACES) == BY_HOPS[:-1]
    # no routes: distances, whatever the bound
    assert names(tasks, Hypercube(7), "bandwidth") == BY_HOPS[:-1]
    monkeypatch.setattr(choosing, "_FEW", 127)
    assert names(tasks, nodes(GROUPS), "volume") == ["default", "uwh", "search"]


def test_relieving_takes_the_better_of_two_ways():
    better = set()
    for seed in range(1, 7):
        job = job_of(parts(seed % 3), nodes(TORUS, seed), None, 1, 1)
        site = job.mapping("default")
        groups = Grouped(site.astype(np.int32), *job.tasks.grouped(site, 16), np.full(16, 8), job.sites.slots)
        start = np.arange(16, dtype=np.int32)
        ways = [relieve(groups, job.sites, one) for one in (start, relieve(groups, job.sites, start, messages=True))]
        worst = [job.figures(where[site].astype(np.int64)).max_congestion for where in ways]
        assert job.figures(relieved(job, site)).max_congestion == min(worst) <= job.figures(site).max_congestion
        better.add(np.sign(worst[0] - worst[1]))
    assert {-1, 1} <= better


def test_the_same_method_is_asked_once(monkeypatch):
    calls = []
    job = job_of(parts(1), nodes(TORUS), None, 1, 1)
    monkeypatch.setitem(choosing.METHODS, "default", lambda job: calls.append(job) or np.repeat(np.arange(16), 8))
    assert np.array_equal(job.mapping("default"), job.mapping("default"))
    assert len(calls) == 1


@pytest.mark.parametrize("bound", ["bandwidth", "latency", "volume"])
def test_two_nodes_of_one_router(bound):
    """No mapping sends anything over a link; the ranks of a ring still belong together."""
    around = np.random.default_rng(0).permutation(16)
    ring = TaskGraph(16, around, np.roll(around, 1), np.full(16, 100))
    job = attached(TorusNetwork([4, 4]), [5, 5], 8)
    found = evaluate_tasks(ring, job, map_tasks(ring, job, "auto", bound=bound))
    assert (found.weighted_hops, found.internode_volume) == (0, 200)
