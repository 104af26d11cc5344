"""Allocations: hosts at points of networks, schedulers along curves, and machines as placing by nodes sees them."""

from __future__ import annotations

import numpy as np
import pytest

from copart.errors import ConfigError, MappingError
from copart.formats.machines import read_machine
from copart.kernels.sites import list_nearest
from copart.mapping import evaluate_mapping, map_graph
from copart.mapping.allocations import curve_order, hilbert, scattered, sparsity
from copart.mapping.architectures.architecture import Complete
from copart.mapping.architectures.deco2 import MultilevelDecomposition
from copart.mapping.architectures.regular import Hypercube, Torus
from copart.mapping.architectures.subset import seats, subset
from copart.mapping.congestion import Dragonfly, FatTree, MeshNetwork, TorusNetwork
from copart.mapping.machine import Machine, attached, machine
from copart.mapping.sites import Sites

from ..helpers import grid


def table_of(sites):
    """The distances of all pairs, as kernels see them."""
    return sites.code().table


# ---- several processors at one vertex
@pytest.mark.parametrize("each", [1, 2, 3, 24, 32])
def test_seats_of_a_vertex_are_halved_last(each):
    torus = Torus([4, 4])
    several = seats(torus, np.repeat([5, 0, 9], each))
    assert several.nprocs == 3 * each
    assert several.distances(0, 3 * each - 1) == torus.distances(5, 9)
    todo, depths = [several.root], {}
    while todo:
        domain = todo.pop()
        low, high = domain
        vertices = set(several.vertices[several.order[low:high]])
        if several.size(domain) == 1:
            continue
        for son in several.sons(domain):
            inside = set(several.vertices[several.order[son[0]:son[1]]])
            assert len(inside) < len(vertices) or len(vertices) == 1
            depths[son] = depths.get(domain, 0) + 1
            todo.append(son)
    assert max(depths.values()) <= 2 + each.bit_length()


def test_seats_of_single_vertices_are_a_subset():
    torus, chosen = Torus([5, 3]), [7, 0, 14, 3]
    a, b = seats(torus, chosen), subset(torus, chosen)
    assert np.array_equal(a.order, b.order)
    assert [a.sons(d) for d in [a.root, a.sons(a.root)[1]]] == [b.sons(d) for d in [b.root, b.sons(b.root)[1]]]
    with pytest.raises(MappingError, match="empty"):
        seats(torus, [])


def test_a_graph_is_mapped_onto_an_allocation():
    job = attached(TorusNetwork([8, 8]), [0, 0, 9, 63], 4)
    place = map_graph(grid(16, 16), job)
    assert np.bincount(place).max() <= 17
    assert evaluate_mapping(grid(16, 16), job, place).dilation_max <= 4


@pytest.mark.parametrize(("made", "message"), [
    (lambda net: attached(net, [64]), "point"),
    (lambda net: attached(net, [3], 0), "slots"),
    (lambda net: attached(net, [3, 4], [1]), "slots"),
    (lambda net: attached(net, [3, 4], 1, ["a"]), "hosts: needs 2 names"),
    (lambda net: attached(net, [3, 4], 1, ["a", "a"]), "a is named more than once"),
])
def test_refused_allocations(made, message):
    with pytest.raises(MappingError, match=message):
        made(TorusNetwork([8, 8]))


# ---- schedulers
@pytest.mark.parametrize("dims", [(8, 8), (4, 4, 4), (2, 2, 2, 2), (16, 16)])
def test_the_hilbert_curve_steps_to_neighbours(dims):
    network = MeshNetwork(dims)
    order = curve_order(network)
    assert sorted(order) == list(range(network.npoints))
    assert (network.hops(order[:-1], order[1:]) == 1).all()


@pytest.mark.parametrize("dims", [(5, 3), (4, 3, 2), (3, 5, 2, 3), (7,)])
def test_the_snake_steps_to_neighbours(dims):
    network = MeshNetwork(dims)
    order = curve_order(network, "snake")
    assert sorted(order) == list(range(network.npoints))
    assert (network.hops(order[:-1], order[1:]) == 1).all()


def test_curves_of_boxes_and_other_networks():
    network = MeshNetwork([17, 8, 5])
    order = curve_order(network)
    assert sorted(order) == list(range(network.npoints))
    assert network.hops(order[:-1], order[1:]).mean() < 1.3
    assert curve_order(FatTree([3, 4])).tolist() == list(range(12))
    with pytest.raises(ConfigError, match="curve"):
        curve_order(network, "peano")
    with pytest.raises(MappingError, match="62"):
        hilbert(np.full((1, 8), 1000))


@pytest.mark.parametrize("fill", [0, 0.1, 0.3, 0.5, 0.7, 0.9])
@pytest.mark.parametrize("seed", [1, 2])
def test_scattered_nodes_are_free_ones_in_order(fill, seed):
    network = TorusNetwork([8, 8, 8])
    job = scattered(network, 100, fill=fill, nodes_per_point=2, slots=16, run=5, seed=seed)
    number = [int(name[1:]) for name in job.hosts]
    assert number == sorted(set(number))
    assert len(number) == 100
    assert (job.slots == 16).all()
    assert np.array_equal(Sites(job).point, curve_order(network)[np.array(number) // 2])
    assert 0 <= sparsity(job) < 1
    if fill == 0:
        assert sparsity(job) == 0
    again = scattered(network, 100, fill=fill, nodes_per_point=2, slots=16, run=5, seed=seed)
    assert again.hosts == job.hosts


def test_fuller_machines_scatter_more():
    means = [np.mean([sparsity(scattered(TorusNetwork([12, 12, 12]), 128, fill=fill, seed=seed)) for seed in range(8)])
             for fill in (0.1, 0.5, 0.9)]
    assert means[0] < means[1] < means[2]
    for fill, mean in zip((0.1, 0.5, 0.9), means, strict=True):
        assert abs(mean - fill) < 0.25


def test_sparsity_goes_by_numbers_at_the_end_of_names():
    network = TorusNetwork([8])
    assert sparsity(attached(network, [0, 3, 5])) == 0, "node0 to node2"
    assert sparsity(attached(network, [0, 3], hosts=["nid00007", "nid00014"])) == 0.75
    for one, message in ((attached(network, [0, 1], hosts=["n1", "login"]), "login has none"),
                         (Machine(Torus([8])), "there are no hosts")):
        with pytest.raises(MappingError, match=message):
            sparsity(one)


def test_every_free_node_can_be_taken_and_none_more():
    network = TorusNetwork([4, 4, 4])
    assert len(scattered(network, 32, fill=0.5).hosts) == 32
    with pytest.raises(MappingError, match="33 nodes are asked for, 32 of 64 are free"):
        scattered(network, 33, fill=0.5)
    for kind in (FatTree([4, 4, 4], [2, 1, 1]), Dragonfly(9, 8, 1)):
        assert Sites(scattered(kind, 20, fill=0.3)).network is kind


# ---- sites
def test_sites_of_machines():
    sites = Sites(attached(TorusNetwork([4, 4]), [5, 5, 0], [2, 1, 3]))
    assert (sites.nsites, sites.slots.tolist(), sites.point.tolist()) == (3, [2, 1, 3], [5, 5, 0])
    assert sites.coordinates.tolist() == [[1, 1], [1, 1], [0, 0]]
    assert table_of(sites).tolist() == [[0, 0, 2], [0, 0, 2], [2, 2, 0]]
    assert sites.seated(np.array([2, 0, 2, 1, 0])).tolist() == [3, 0, 4, 2, 1]
    assert sites.site_of(np.array([3, 0, 4, 2, 1])).tolist() == [2, 0, 2, 1, 0]
    with pytest.raises(MappingError, match="node1 is to take 2 processes but has 1"):
        sites.seated(np.array([1, 1]))


def test_sites_of_bare_architectures_and_trees():
    bare = Sites(Torus([3, 3]))
    assert (bare.nsites, bare.network.npoints) == (9, 9)
    assert Sites(Hypercube(3)).network is None
    tree = Sites(machine("4:2:3:5", "1:2:10:100"))
    # hosts are the outermost level: five of them below one switch
    assert (tree.nsites, tree.network.arities, tree.point.tolist()) == (5, (5,), [0, 1, 2, 3, 4])
    assert set(table_of(tree)[0]) == {0, 100}
    whole = Machine(machine("4:2:3", "1:10:100").architecture, ["all"], np.zeros(24))
    assert Sites(whole).network is None


def test_a_node_list_below_slurms_switches(tmp_path):
    (tmp_path / "topology.conf").write_text("SwitchName=s1 Nodes=n[1-4]\nSwitchName=s2 Nodes=n[5-8]\n"
                                            "SwitchName=top Switches=s[1-2]\n")
    job = read_machine(tmp_path / "topology.conf", nodes="n[2,7,3]", slots=2)
    sites = Sites(job)
    assert sites.names == ("n2", "n7", "n3")
    assert isinstance(sites.network, FatTree)
    assert sites.network.hops(sites.point[0], sites.point).tolist() == [0, 4, 2]
    assert table_of(sites)[0].tolist() == [0, 20, 10]


KINDS = {
    "torus": lambda: attached(TorusNetwork([7, 3, 5]), np.random.default_rng(1).integers(0, 105, 80)),
    "mesh": lambda: attached(MeshNetwork([7, 3, 5]), np.random.default_rng(2).integers(0, 105, 80)),
    "fat tree": lambda: attached(FatTree([4, 3, 5], [2, 1, 1]), np.random.default_rng(3).permutation(60)[:50]),
    "dragonfly": lambda: attached(Dragonfly(9, 6, 2), np.random.default_rng(4).permutation(54)[:40]),
    "hosts of a tree": lambda: machine("2:3:4:5", "0.1:1:10.7:70000"),
    "subset of a hypercube": lambda: subset(Hypercube(6), np.random.default_rng(5).permutation(64)[:30]),
    "complete": lambda: Complete(9),
    "decomposed": lambda: MultilevelDecomposition(grid(5, 6)),
}


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("width", [1, 7, 1000])
def test_nearest_sites_are_those_of_a_sorted_row(kind, width):
    """By distance, then by number, whatever says the distances."""
    sites = Sites(KINDS[kind]())
    n = sites.nsites
    everyone = np.arange(n)
    apart = sites.distances(everyone[:, None], everyone)
    places = sites.places(width)
    for s in range(n):
        list_nearest(places, s)
    order = np.argsort(table_of(sites), axis=1, kind="stable")[:, :width]
    assert np.array_equal(places.near, order)
    assert np.array_equal(places.gap, np.take_along_axis(table_of(sites), order, 1))
    assert (places.known == min(width, n)).all()
    assert np.allclose(table_of(sites), apart, rtol=1e-6)
    assert np.allclose(sites.remoteness(), apart.sum(1), rtol=1e-6)
    assert apart.max() <= sites.diameter() * (1 + 1e-6)
    # lists are kept
    assert (sites.places(width).known > 0).all()


def test_thousands_of_sites_need_no_table():
    """And what has no formula for its distances says so."""
    n = 5000
    rng = np.random.default_rng(1)
    for network in (TorusNetwork([40, 20, 20]), FatTree([20, 20, 20])):
        sites = Sites(attached(network, rng.permutation(network.npoints)[:n]))
        places = sites.places()
        list_nearest(places, 9)
        assert sum(array.nbytes for array in places) < 1000 * n
        assert places.gap[9].tolist() == np.sort(sites.distances(9, np.arange(n)))[:64].tolist()
        with pytest.raises(MappingError, match="up to 4096, there are 5000; use method uwh"):
            sites.code()
    with pytest.raises(MappingError, match=r"Dragonfly.*there are 5000; use method default"):
        Sites(attached(Dragonfly(100, 100, 1), np.arange(n))).places()
