"""What nodes hold is exchanged after the geometric mapping: fewer hops, the same loads, the same for every call."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from copart.kernels.site_annealing import Seats, Units, change_of_hops
from copart.mapping.allocations import scattered
from copart.mapping.congestion import MeshNetwork, TorusNetwork
from copart.mapping.machine import attached
from copart.mapping.sites import Sites
from copart.mapping.tasks import TaskGraph
from copart.mapping.topology import evaluate_tasks, map_tasks
from copart.mapping.topology.annealing import exchanged, units_of

from .test_geometric_mapping import hops, stencil


@settings(max_examples=30, deadline=None)
@given(st.integers(0, 2**31), st.integers(1, 90), st.booleans())
def test_hops_never_rise_and_loads_stay(seed, ntasks, around):
    """Sites of different sizes, some with no task or fewer than slots, several on a router; tasks that send nothing."""
    rng = np.random.default_rng(seed)
    network = (TorusNetwork if around else MeshNetwork)([5, 3, 4])
    slots = rng.integers(1, 7, 60)
    sites = Sites(attached(network, rng.integers(0, network.npoints, 60), slots))
    site = rng.permutation(np.repeat(np.arange(60), sites.slots))[:ntasks]
    m = int(rng.integers(0, 3 * ntasks))
    tasks = TaskGraph(ntasks, rng.integers(0, ntasks, m), rng.integers(0, ntasks, m))
    part = rng.permutation(ntasks).astype(np.int32)
    found = exchanged(tasks, sites, site, part)
    assert hops(tasks, sites, found) <= hops(tasks, sites, site)
    assert np.array_equal(np.bincount(found, minlength=60), np.bincount(site, minlength=60))
    assert np.array_equal(found, exchanged(tasks, sites, site, part))


@settings(max_examples=40, deadline=None)
@given(st.integers(0, 2**31), st.integers(2, 12))
def test_the_change_of_an_exchange_is_what_recomputing_gives(seed, n):
    rng = np.random.default_rng(seed)
    network = TorusNetwork([6, 5])
    m = 3 * n
    tasks = TaskGraph(n, rng.integers(0, n, m), rng.integers(0, n, m), rng.integers(1, 9, m))
    graph, point = tasks.graph, rng.integers(0, 30, n)

    def total() -> int:
        return int((tasks.volume * network.hops(point[tasks.source], point[tasks.target])).sum())

    none = np.zeros(0, np.int64)
    a, b = rng.permutation(n)[:2].tolist()
    weight = np.ones(len(graph.adjncy), np.int64) if graph.ewgt is None else graph.ewgt
    units = Units(graph.xadj, graph.adjncy, weight, np.ones(n, np.int64))
    seats = Seats(none, none[:, None], np.array([6, 5]), network.coordinates(point).astype(np.int64), none, none, none)
    before = total()
    change = change_of_hops(units, seats, a, b) + change_of_hops(units, seats, b, a)
    point[a], point[b] = point[b], point[a]
    assert total() - before == change


def test_units_are_boxes_of_one_site():
    rng = np.random.default_rng(2)
    site, part = rng.integers(0, 7, 50), rng.permutation(50).astype(np.int32)
    unit = units_of(site, part, 3)
    for u in range(unit.max() + 1):
        assert len(set(site[unit == u])) == 1
        assert 1 <= (unit == u).sum() <= 3
    for s in range(7):
        # consecutive boxes together, and but for the last unit of a site all are full
        inside = unit[site == s][np.argsort(part[site == s])]
        assert (np.diff(inside) >= 0).all()
        assert (np.bincount(inside)[np.unique(inside)][:-1] == 3).all()


def test_nothing_gets_better_where_nothing_can():
    tasks, coords = stencil(4, 4, 4)
    full = attached(MeshNetwork([4, 4, 4]), np.arange(64))
    assert evaluate_tasks(tasks, full, map_tasks(tasks, full, "geometric", coords=coords)).total_hops == tasks.nmessages
    alone = TaskGraph(64, [], [])
    assert np.array_equal(*(map_tasks(alone, full, method, coords=coords)
                            for method in ("geometric", "geometric-shifted")))


@pytest.mark.parametrize("fill", [0.3, 0.6])
def test_hops_of_stencils_fall_by_a_tenth(fill):
    tasks, coords = stencil(16, 16, 16)
    job = scattered(TorusNetwork([10, 10, 12]), 256, fill=fill, seed=21, nodes_per_point=2, slots=16)
    before, after = (evaluate_tasks(tasks, job, map_tasks(tasks, job, method, coords=coords)).total_hops
                     for method in ("geometric-shifted", "geometric"))
    assert after <= 0.9 * before
