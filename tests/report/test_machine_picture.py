"""The machine drawn: every load has its line, nodes are where the network says, and share what they hold."""

from __future__ import annotations

import re

import numpy as np
import pytest

from copart import CoPartition, CoupledProblem, Interedges
from copart.errors import NotApplicableError
from copart.mapping.allocations import scattered
from copart.mapping.architectures.architecture import Complete
from copart.mapping.congestion import Dragonfly, FatTree, MeshNetwork, TorusNetwork
from copart.mapping.coupled.placed import placed
from copart.mapping.coupled.processes import process_graph
from copart.mapping.machine import Machine, attached, machine
from copart.mapping.sites import Sites
from copart.report.machine_layout import MOST_ALONE, cable_loads, layout_of, need_drawable, shares
from copart.report.machine_picture import TONES, draw_machine, drawn, machine_figures

from ..helpers import grid

NETWORKS = [TorusNetwork([5]), TorusNetwork([4, 3]), MeshNetwork([4, 3, 2]), TorusNetwork([3, 4, 2], directed=False),
            TorusNetwork([2, 3, 2, 2]), FatTree([3, 4], [2, 1]), FatTree([2, 2, 3], directed=False),
            Dragonfly(5, 3, 2), Dragonfly(5, 3, 2, directed=False)]


def run_on(job, seed=1, cells=6):
    """Two grids of six processes each in some order on a machine, and in linear order."""
    a = grid(cells, cells)
    inter = Interedges.from_pairs(cells**2, cells**2, np.arange(cells), np.arange(cells))
    part = np.arange(cells**2) * 6 // cells**2
    of = process_graph(CoupledProblem.of_two(a, a, inter, names=("hot", "cold")),
                       CoPartition({"hot": part, "cold": part}, {"hot": 6, "cold": 6}))
    order = np.random.default_rng(seed).permutation(job.nprocs)[:12]
    return [placed(of, job, np.arange(12), "linear"), placed(of, job, order, "shared", "random")]


@pytest.mark.parametrize("network", NETWORKS, ids=repr)
def test_every_load_is_seen_and_nothing_else(network):
    job = scattered(network, 4, fill=0.1, slots=4, run=1)
    pair = run_on(job)
    for one in pair:
        for phase in ("regular", "coupling"):
            loads = one.loads(phase)
            cables = cable_loads(network, loads.congestion)
            layout = layout_of(one.sites, [cables])
            assert layout is not None
            assert cables.max() == loads.congestion.max()
            # all cables with a load have a line, at least one
            assert set(np.flatnonzero(cables).tolist()) <= set(layout.cable.tolist())
            assert layout.cable.max(initial=0) < len(cables)
            width, height = layout.size
            assert (layout.at >= 0).all()
            assert (layout.at <= [width, height]).all()
            assert (layout.line >= 0).all()
            assert (layout.line.reshape(-1, 2) <= [width, height]).all()
            assert set(one.sites.point.tolist()) <= set(layout.point.tolist())
            apart = np.abs(layout.at[:, None] - layout.at[None]).max(axis=2)
            assert apart[~np.eye(len(apart), dtype=bool)].min(initial=9) > 0.99, "nodes on one another"


def test_lines_of_a_plane_join_the_nodes_that_the_link_joins():
    network = TorusNetwork([4, 3])
    load = np.zeros(network.nlinks)
    for p, q in ((0, 1), (5, 9), (7, 4)):  # right, down, and around the end
        load[network.route(p, q)[0]] = p + 1
    sites = Sites(attached(network, range(12), 1))
    cables = cable_loads(network, load)
    layout = layout_of(sites, [cables])
    shown = {float(cables[c]): [] for c in layout.cable if cables[c]}
    for line, c in zip(layout.line, layout.cable, strict=True):
        if cables[c]:
            shown[float(cables[c])].append(line.reshape(2, 2).mean(axis=0))
    where = {int(p): at for p, at in zip(layout.point, layout.at, strict=True)}
    assert np.allclose(shown[1.0], [(where[0] + where[1]) / 2])
    assert np.allclose(shown[6.0], [(where[5] + where[9]) / 2])
    right, left = shown[8.0]
    assert right[0] > where[7][0]
    assert left[0] < where[4][0]
    assert right[1] == left[1] == where[7][1]


def test_loads_of_both_directions_and_of_ways_side_by_side():
    tree = FatTree([2, 2], [2, 1])
    load = np.arange(1.0, tree.nlinks + 1)
    cables = cable_loads(tree, load)
    assert cables.tolist() == [2, 4, 6, 8, 12, 16]  # four hosts, then two switches with two ways up and down
    fly = Dragonfly(3, 2, 1)
    load = np.zeros(fly.nlinks)
    load[fly.route(0, 1)] = 3
    load[fly.route(1, 2)] += 5
    cables = cable_loads(fly, load)
    assert cables[:2].max() >= 3
    assert (cables[6:] > 0).sum() == 2, "the group that sends, and the one that receives"


def test_shares_of_nodes():
    job = attached(TorusNetwork([3, 3]), [0, 0, 4], [2, 4, 8])
    found = shares(run_on(job)[0])
    assert found[0].tolist() == [1, 0, 0]
    assert found[4].tolist() == [0, 6 / 8, 2 / 8]
    assert not found[[1, 2, 3, 5, 6, 7, 8]].any()


def test_tones_of_a_phase_are_comparable():
    pair = run_on(attached(TorusNetwork([4, 4]), [0, 3, 9], 4))
    found = drawn(pair)
    assert [one.title for one in found] == ["Regular phase, linear", "Regular phase, shared, random",
                                            "Coupling phase, linear", "Coupling phase, shared, random"]
    for i, phase in ((0, "regular"), (2, "coupling")):
        most = [one.loads(phase).congestion.max() for one in pair]
        for one, mine in zip(found[i:i + 2], most, strict=True):
            assert one.tone.max() == np.ceil(mine / max(most) * TONES)
    html = machine_figures(pair)
    assert html.count("<svg") == html.count("<figure") == 4
    assert set(re.findall(r"link (tone\d)", html)) == {f"tone{t}" for one in found for t in one.tone.tolist() if t}
    assert "hot" in html
    assert "cold" in html


def test_what_is_not_drawn(tmp_path):
    bare = Machine(Complete(16))
    assert machine_figures(run_on(bare)) == ""
    with pytest.raises(NotApplicableError, match="has no static routes; give the machine as"):
        draw_machine(tmp_path / "m.png", run_on(bare))
    large = TorusNetwork([70, 70])
    assert drawn(run_on(attached(large, [0, 70 * 69, 35], 4))) == []
    assert drawn(run_on(attached(large, [0, 70 * 69, 35], 4)), MOST_ALONE) != []
    with pytest.raises(NotApplicableError, match="nodes and routers are more than the"):
        need_drawable(Sites(attached(TorusNetwork([1024, 512]), [0], 1)))


def test_planes_without_hosts_and_loads_are_left_out():
    job = attached(MeshNetwork([3, 3, 40, 12]), [0, 1, 2], 4)
    layout = drawn(run_on(job))[0].layout
    assert len(layout.frame) == 1
    assert layout.names == ("0, 0",)


@pytest.mark.parametrize("job", [attached(TorusNetwork([4, 3, 2]), [0, 3, 9], 4), machine("4:2:2")], ids=repr)
def test_a_picture_by_itself(tmp_path, job):
    pytest.importorskip("matplotlib")
    for name, begin in (("m.png", b"\x89PNG"), ("m.svg", b"<?xml")):
        assert draw_machine(tmp_path / name, run_on(job)).read_bytes().startswith(begin)
