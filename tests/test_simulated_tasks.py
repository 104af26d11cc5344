"""Task graphs on simulated networks: routes, times by hand, and what the measured tables say of `auto`."""

from __future__ import annotations

import numpy as np
import pytest

from copart.mapping.allocations import scattered
from copart.mapping.congestion import Dragonfly, FatTree, MeshNetwork, TorusNetwork
from copart.mapping.machine import attached
from copart.mapping.sites import Sites
from copart.mapping.tasks import TaskGraph

from .helpers import simgrid_or_skip


def routed_by_simgrid(text: str, npoints: int) -> dict[tuple[int, int], list[str]]:
    """SimGrid's routes between all pairs of nodes of a platform."""
    from benchmarks.simulated import PYTHON, simulated

    pairs = [(a, b) for a in range(npoints) for b in range(npoints) if a != b]
    return dict(zip(pairs, simulated(text, {"routes": pairs}, PYTHON), strict=True))


def pairs_by_link(routes: dict) -> list[list]:
    """Pairs that share each link, whatever the link is called."""
    over: dict = {}
    for pair, links in routes.items():
        for link in links:
            over.setdefault(link, []).append(pair)
    return sorted(map(sorted, over.values()))


@pytest.mark.parametrize("network", [TorusNetwork((5, 3)), TorusNetwork((3, 5, 3)), FatTree((4, 4)),
                                     FatTree((4, 4), (2, 1)), FatTree((3, 4, 2), (2, 2, 1))], ids=repr)
def test_simgrid_takes_our_routes_by_its_own_rules(network):
    """Dimension-ordered and D-mod-k, link by link; no ties half way round even tori, which SimGrid breaks otherwise."""
    simgrid_or_skip()
    n = network.npoints
    if network.name == "torus":
        shape = f'topology="TORUS" topo_parameters="{",".join(map(str, network.dims))}"'
    else:
        levels = len(network.arities)
        down, up = (",".join(map(str, reversed(one))) for one in (network.arities, network.uplinks))
        shape = f'topology="FAT_TREE" topo_parameters="{levels};{down};{up};{",".join(["1"] * levels)}"'
    text = ('<?xml version="1.0"?><!DOCTYPE platform SYSTEM "https://simgrid.org/simgrid.dtd"><platform version="4.1">'
            f'<cluster id="all" prefix="node" suffix="" radical="0-{n - 1}" speed="1Gf" bw="1GBps" lat="1us" {shape} '
            'sharing_policy="SPLITDUPLEX"/></platform>')
    theirs = routed_by_simgrid(text, n)
    assert pairs_by_link({pair: network.route(*pair).tolist() for pair in theirs}) == pairs_by_link(theirs)


@pytest.mark.parametrize("network", [TorusNetwork((4, 3, 2), (4, 2, 3)), MeshNetwork((4, 4)), FatTree((4, 4), (2, 1)),
                                     Dragonfly(5, 4, 1), TorusNetwork((4, 4), directed=False)], ids=repr)
def test_simulated_nodes_of_a_job_have_the_routes_of_its_machine(network):
    from benchmarks.simulated_tasks import platform

    simgrid_or_skip()
    several = 1 if network.name == "fat tree" else 2
    sites = Sites(scattered(network, 8, fill=0.3, run=2.0, nodes_per_point=several, slots=2))
    for (a, b), links in routed_by_simgrid(platform(sites), sites.nsites).items():
        ours = [f"l{link}" for link in network.route(int(sites.point[a]), int(sites.point[b]))]
        assert links == (ours if network.name == "fat tree" else [f"out{a}", *ours, f"in{b}"])


def test_a_simulated_exchange_takes_what_its_busiest_link_does():
    """By hand: three messages over one link of a line, at 1 GB/s, and one to a process of the same node."""
    from benchmarks.simulated_tasks import LATENCY, MEMORY, NODE_LATENCY, OVERHEAD, exchange, platform

    simgrid_or_skip()
    tasks = TaskGraph(6, [0, 1, 2], [3, 4, 5], [1, 1, 1])
    sites = Sites(attached(MeshNetwork([3]), [0, 1, 2], [2, 2, 2]))
    text = platform(sites)
    # the link from the middle to the end is taken by all
    taken = exchange(tasks, np.array([0, 0, 1, 2, 2, 1]), text, 1e6)
    assert taken == pytest.approx(2 * OVERHEAD - OVERHEAD + 2 * NODE_LATENCY + 2 * LATENCY + 2e-3, rel=1e-3)
    taken = exchange(tasks, np.array([0, 0, 1, 2, 2, 2]), text, 1e6)
    assert taken == pytest.approx(OVERHEAD + 2 * NODE_LATENCY + 2 * LATENCY + 3e-3, rel=1e-3)
    taken = exchange(TaskGraph(2, [0], [1]), np.array([1, 1]), text, 1e6)
    assert taken == pytest.approx(OVERHEAD + NODE_LATENCY / 5 + 1e6 / MEMORY, rel=1e-3)


def test_simulated_cases_have_room_and_differ():
    from benchmarks.simulated_cases import HELD_OUT, TUNING, full_stencil, long_range, near

    assert (len(TUNING), len(HELD_OUT), set(TUNING) & set(HELD_OUT)) == (8, 10, set())
    kinds = set()
    for case in {**TUNING, **HELD_OUT}.values():
        job = case.machine()
        assert job.nprocs == case.nhosts * case.slots
        kinds.add((repr(case.network), case.seed))
    assert len(kinds) == 18
    for made, n in ((full_stencil(3, 3, 3), 27), (near(60, 1, 0.3), 60), (long_range(40, 1), 40)):
        assert made[0].ntasks == n == len(made[1])
    # faces, edges and corners of the middle of a cube
    tasks = full_stencil(3, 3, 3)[0]
    assert sorted(tasks.volume[tasks.source == 13].tolist()) == [1] * 8 + [8] * 12 + [64] * 6


def test_measured_tables_are_what_machine_fit_reads():
    from benchmarks.simulated_tasks import SIZES, chosen, file, fitted, ratios, read
    from copart.plans.measured import fit_file

    for size in SIZES:
        path = file(True, size)
        assert {row["case"] for row in read(path)}
        if size > 64:
            assert fit_file(path).leading == "MC"
    assert f"{min(SIZES)} bytes" in fitted()
    # the acceptance of the choice: within 5 % of the fastest
    for size in SIZES:
        assert all(found["auto"] <= 1.05 for found in ratios(False, size).values())
    assert chosen().count("\n") == 11
