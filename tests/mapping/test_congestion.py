"""Routes through networks, hops and congestion: against brute force, and the identities between the figures."""

from __future__ import annotations

from itertools import pairwise

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from copart.errors import MappingError
from copart.graph import Graph
from copart.hypergraph import Hypergraph
from copart.mapping.architectures.regular import Grid, Hypercube, Torus
from copart.mapping.architectures.subset import subset
from copart.mapping.architectures.tree import TreeLeaf
from copart.mapping.congestion import (
    Dragonfly,
    FatTree,
    MeshNetwork,
    TorusNetwork,
    evaluate_congestion,
    link_loads,
    network_of,
)
from copart.mapping.tasks import TaskGraph
from copart.metrics.hypergraph import evaluate_hypergraph

from ..helpers import grid

NETWORKS = [
    lambda directed=True, **k: TorusNetwork([5, 2, 4], directed=directed, **k),
    lambda directed=True, **k: MeshNetwork([4, 3, 2], directed=directed, **k),
    lambda directed=True, **k: FatTree([3, 2, 4], [2, 3, 1], directed=directed, **k),
    lambda directed=True, **k: FatTree([2, 3], directed=directed, **k),
    lambda directed=True, **k: Dragonfly(7, 3, 2, directed=directed, **k),
    lambda directed=True, **k: Dragonfly(3, 4, 2, directed=directed, **k),
]
IDS = ["torus", "mesh", "fat tree", "tree", "dragonfly", "dragonfly with spare ports"]


def neighbour(network, link: int) -> tuple[int, int]:
    """The two ends of a directed link of a torus or mesh, by its number."""
    at, down = divmod(link, 2)
    router, axis = divmod(at, len(network.dims))
    x = network.coordinates(router)
    x[axis] = (x[axis] + (-1 if down else 1)) % network.dims[axis]
    return router, int(network.point(x))


def traffic(n: int, seed: int, many: int = 60) -> TaskGraph:
    rng = np.random.default_rng(seed)
    return TaskGraph(n, rng.integers(0, n, many), rng.integers(0, n, many), rng.integers(1, 9, many))


# ---- hops and routes
def test_torus_hops():
    network = TorusNetwork([5, 4, 7])
    p = np.arange(network.npoints)
    hops = network.hops(p[:, None], p[None, :])
    assert (hops == hops.T).all()
    assert not np.diag(hops).any()
    assert hops.max() == network.longest == 5 // 2 + 4 // 2 + 7 // 2
    assert (hops == Torus([5, 4, 7]).distances(p[:, None], p[None, :])).all()
    some = np.random.default_rng(1).integers(0, network.npoints, (3, 4000))
    assert (hops[some[0], some[1]] + hops[some[1], some[2]] >= hops[some[0], some[2]]).all()
    assert network.hops(0, network.point([1, 1, 1])) == 3


@pytest.mark.parametrize("kind", [TorusNetwork, MeshNetwork])
def test_routes_walk_one_dimension_after_the_other(kind):
    network = kind([4, 5, 2])
    for a in range(network.npoints):
        for b in range(network.npoints):
            links = network.route(a, b).tolist()
            assert len(links) == network.hops(a, b)
            at = a
            for link in links:
                start, end = neighbour(network, link)
                assert start == at
                assert network.hops(start, end) == 1
                at = end
            assert at == b
            axes = [link // 2 % 3 for link in links]
            assert axes == sorted(axes)
            # the shorter way round never turns, and goes up where both are as long
            assert all(x % 2 == y % 2 for x, y in pairwise(links) if x // 2 % 3 == y // 2 % 3)
    if kind is TorusNetwork:
        assert all(link % 2 == 0 for link in network.route(0, 2))
        assert all(link % 2 == 0 for link in network.route(2, 0))


def test_undirected_links_are_the_same_cables():
    both, one = TorusNetwork([3, 2, 4]), TorusNetwork([3, 2, 4], directed=False)
    for a in range(24):
        for b in range(24):
            ends = [frozenset(neighbour(both, link)) for link in both.route(a, b)]
            cables = [frozenset(neighbour(one, 2 * link)) for link in one.route(a, b)]
            assert ends == cables


def test_fat_tree_routes_lead_up_and_down_by_d_mod_k():
    """XGFT(2; 4, 3; 2, 3): every link of a route starts where the one before ended, as switches are joined."""
    network = FatTree([3, 4], [3, 2])
    ways = [1, 2, 6]
    below = [1, 4, 12]

    def ends(link):
        cable, down = divmod(link, 2)
        level = 0 if cable < 24 else 1
        block, way = divmod(cable - (0, 24)[level], ways[level + 1])
        low, high = (level, block, way % ways[level]), (level + 1, block * below[level] // below[level + 1], way)
        return (high, low) if down else (low, high)

    for a in range(12):
        for b in range(12):
            links = network.route(a, b).tolist()
            assert len(links) == network.hops(a, b) == (0 if a == b else 2 if a // 4 == b // 4 else 4)
            at = (0, a, 0)
            for link in links:
                assert ends(link)[0] == at
                at = ends(link)[1]
            assert at == (0, b, 0)
    # down to one host messages come the same way whoever sends; hosts side by side are reached by other ways
    assert len({tuple(network.route(a, 11)[2:].tolist()) for a in range(4)}) == 1
    tops = {int(network.route(0, b)[1]) for b in range(4, 10)}
    assert len(tops) == 6


def test_dragonfly_routes_are_minimal():
    for network in (Dragonfly(7, 3, 2), Dragonfly(3, 4, 2)):
        size, groups = network.routers, network.groups
        local = network.npoints * size
        joined = {}
        for a in range(network.npoints):
            for b in range(network.npoints):
                at, kinds = a, []
                for link in network.route(a, b).tolist():
                    kinds.append("local" if link < local else "global")
                    if link < local:
                        start, position = divmod(link, size)
                        end = start - start % size + position
                    else:
                        g, channel = divmod(link - local, groups - 1)
                        start = g * size + channel // network.ports
                        h = (g + channel + 1) % groups
                        end = h * size + (groups - 2 - channel) // network.ports
                        joined.setdefault((g, h), set()).add(link)
                    assert start == at
                    at = end
                assert at == b
                assert kinds.count("global") == (a // size != b // size)
                assert len(kinds) <= 3
        assert all(len(links) == 1 for links in joined.values())
        assert len(joined) == groups * (groups - 1)


@pytest.mark.parametrize("make", NETWORKS, ids=IDS)
def test_undirected_networks_have_the_same_routes_on_fewer_links(make):
    both = directed, undirected = make(), make(directed=False)
    n = directed.npoints
    p = np.arange(n)
    assert (directed.hops(p[:, None], p) == undirected.hops(p[:, None], p)).all()
    used = [{int(link) for a in range(n) for b in range(n) for link in net.route(a, b)} for net in both]
    assert len(used[1]) <= len(used[0]) <= 2 * len(used[1])
    for network, links in zip(both, used, strict=True):
        assert all(0 <= link < network.nlinks for link in links)
        assert len({network.link_name(link) for link in links}) == len(links)


# ---- figures
def brute(tasks, network, point, node):
    """All figures by their formulas, one message after the other."""
    count, carried, hops, icv, icm, unseen = {}, {}, [], 0, 0, 0
    received, got = {}, {}
    for p, q, c in zip(tasks.source.tolist(), tasks.target.tolist(), tasks.volume.tolist(), strict=True):
        links = network.route(point[p], point[q]).tolist() if node[p] != node[q] else []
        hops.append((len(links), c))
        if node[p] != node[q]:
            icv, icm, unseen = icv + c, icm + 1, unseen + (not links)
            received[node[q]] = received.get(node[q], 0) + c
            got[node[q]] = got.get(node[q], 0) + 1
        for link in links:
            count[link] = count.get(link, 0) + 1
            carried[link] = carried.get(link, 0) + c / network.bandwidth[link]
    used = max(len(count), 1)
    return {"messages": len(hops), "volume": sum(c for _, c in hops), "total_hops": sum(h for h, _ in hops),
            "weighted_hops": sum(h * c for h, c in hops), "average_hops": sum(h for h, _ in hops) / max(len(hops), 1),
            "max_message_congestion": max(count.values(), default=0),
            "average_message_congestion": sum(count.values()) / used,
            "max_congestion": max(carried.values(), default=0), "average_congestion": sum(carried.values()) / used,
            "used_links": len(count), "internode_volume": icv, "internode_messages": icm,
            "max_received_volume": max(received.values(), default=0),
            "max_received_messages": max(got.values(), default=0), "unseen_messages": unseen}


@settings(max_examples=60, deadline=None)
@given(st.sampled_from(range(len(NETWORKS))), st.booleans(), st.integers(0, 2**31), st.integers(1, 40), st.booleans())
def test_figures_are_those_of_brute_force(which, directed, seed, ntasks, uneven):
    network = NETWORKS[which](directed=directed)
    rng = np.random.default_rng(seed)
    if uneven:
        network = NETWORKS[which](directed=directed, bandwidth=rng.integers(1, 5, network.nlinks) / 2)
    host_point = rng.integers(0, network.npoints, 12)
    node = rng.integers(0, 12, ntasks)
    tasks, point = traffic(ntasks, seed), host_point[node]
    figures = evaluate_congestion(tasks, network, point, node)
    found = figures.to_dict()
    assert figures.unseen_share * found["messages"] == pytest.approx(found["unseen_messages"])
    assert found == pytest.approx(brute(tasks, network, point.tolist(), node.tolist()))
    loads = link_loads(tasks, network, point, node)
    assert found["total_hops"] == loads.messages.sum()
    assert found["average_message_congestion"] * found["used_links"] == pytest.approx(found["total_hops"])
    if not uneven:
        assert found["weighted_hops"] == loads.congestion.sum()
        assert found["average_congestion"] * found["used_links"] == pytest.approx(found["weighted_hops"])
    # without nodes at one point, where the points are the nodes
    alone = evaluate_congestion(tasks, network, point)
    assert (alone.total_hops, alone.unseen_messages) == (found["total_hops"], 0)


def test_a_line_by_hand():
    """Four routers; 0 -> 3 of 4, 1 -> 2 of 1 and 3 -> 2 of 6: link 1-2 carries 5, the way back 6."""
    tasks = TaskGraph(4, [0, 1, 3], [3, 2, 2], [4, 1, 6])
    found = evaluate_congestion(tasks, MeshNetwork([4]), [0, 1, 2, 3])
    assert (found.total_hops, found.weighted_hops, found.average_hops) == (5, 19, 5 / 3)
    assert (found.max_message_congestion, found.max_congestion, found.used_links) == (2, 6.0, 4)
    assert (found.average_message_congestion, found.average_congestion) == (5 / 4, 19 / 4)
    assert (found.max_received_volume, found.max_received_messages) == (7, 2)
    cables = evaluate_congestion(tasks, MeshNetwork([4], directed=False), [0, 1, 2, 3])
    assert (cables.max_congestion, cables.used_links, cables.total_hops) == (10.0, 3, 5)
    slow = evaluate_congestion(tasks, MeshNetwork([4], 0.5), [0, 1, 2, 3])
    assert slow.max_congestion == 12.0
    assert slow.weighted_hops == 19
    loads = link_loads(tasks, MeshNetwork([4]), [0, 1, 2, 3])
    assert loads.busiest(2) == [(7, 6.0, 1), (2, 5.0, 2)]
    assert MeshNetwork([4]).link_name(7) == "router (3) down dimension 0"
    assert "max 2" in found.text()


def test_bandwidth_by_dimension_and_level():
    torus = TorusNetwork([3, 3, 3], [1, 2, 4])
    assert torus.bandwidth[torus.route(0, 13)].tolist() == [1, 2, 4]
    tree = FatTree([2, 2, 2], [2, 1, 1], [8, 4, 2])
    assert tree.bandwidth[tree.route(0, 7)].tolist() == [2, 4, 8, 8, 4, 2]
    fly = Dragonfly(5, 4, 1, [3, 7])
    assert set(fly.bandwidth[fly.route(0, 19)]) == {3, 7}


@pytest.mark.parametrize(("made", "message"), [
    (lambda: TorusNetwork([3, 3], [1, 2, 3]), "bandwidth: needs one number, 2"),
    (lambda: TorusNetwork([3, 3], 0), "bandwidth: must be positive"),
    (lambda: TorusNetwork([3, 3], np.nan), "bandwidth: must be positive"),
    (lambda: FatTree([2, 2], [1]), "uplinks: needs one per level"),
    (lambda: FatTree([], []), "uplinks: needs one per level"),
    (lambda: Dragonfly(9, 2, 2), "reach 4 groups"),
    (lambda: TorusNetwork([1000] * 3), "links are more than"),
    (lambda: TorusNetwork([3]).route(0, 3), "point: 3 is none"),
    (lambda: evaluate_congestion(TaskGraph(2, [0], [1]), TorusNetwork([3]), [0, 3]), "point"),
    (lambda: evaluate_congestion(TaskGraph(2, [0], [1]), TorusNetwork([3]), [0, 1], [4, 4]), "4 is at two points"),
])
def test_what_is_refused(made, message):
    with pytest.raises(MappingError, match=message):
        made()


# ---- networks of machines, task graphs
def test_the_network_of_a_machine():
    torus = network_of(subset(Torus([4, 3]), [5, 1, 7]))
    assert isinstance(torus, TorusNetwork)
    assert torus.dims == (4, 3)
    assert isinstance(network_of(Grid([4, 3])), MeshNetwork)
    assert network_of(Torus([4, 3]), directed=False).nlinks == 24
    assert network_of(TreeLeaf([3, 4], [9, 1])).arities == (3, 4)
    assert network_of(Hypercube(3)) is None


@settings(max_examples=30, deadline=None)
@given(st.integers(0, 2**31), st.integers(1, 9))
def test_tasks_of_a_partition_send_its_messages_and_volume(seed, nparts):
    """Edges and data are TM and TV of the column nets; what each part sends and receives, too."""
    rng = np.random.default_rng(seed)
    u, v = rng.integers(0, 40, (2, 90))
    graph = Graph.from_edges(40, u[u != v], v[u != v])
    part = rng.integers(0, nparts, 40).astype(np.int32)
    tasks, wanted = TaskGraph.from_partition(graph, part, nparts), evaluate_hypergraph(Hypergraph.column_net(graph),
                                                                                       part, nparts)
    assert (tasks.nmessages, tasks.total_volume) == (wanted.total_messages, wanted.total_volume)
    assert np.bincount(tasks.source, tasks.volume, nparts).tolist() == wanted.send.tolist()
    assert np.bincount(tasks.target, tasks.volume, nparts).tolist() == wanted.receive.tolist()


@settings(max_examples=30, deadline=None)
@given(st.integers(0, 2**31), st.integers(1, 9))
def test_tasks_of_nets(seed, nparts):
    """A net is one message to each other part that it reaches, as the formula has it, whatever its source."""
    rng = np.random.default_rng(seed)
    nets = [rng.choice(30, rng.integers(1, 6), replace=False) for _ in range(40)]
    h = Hypergraph.from_nets(30, nets, cost=rng.integers(1, 9, 40))
    part = rng.integers(0, nparts, 30).astype(np.int32)
    wanted: dict[tuple[int, int], int] = {}
    for net, cost in zip(nets, h.cost.tolist(), strict=True):
        for q in set(part[net].tolist()) - {int(part[net[0]])}:
            wanted[int(part[net[0]]), q] = wanted.get((int(part[net[0]]), q), 0) + cost
    tasks, figures = TaskGraph.from_partition(h, part, nparts), evaluate_hypergraph(h, part, nparts)
    assert dict(zip(zip(tasks.source.tolist(), tasks.target.tolist(), strict=True), tasks.volume.tolist(),
                    strict=True)) == wanted
    assert (tasks.nmessages, tasks.total_volume) == (figures.total_messages, figures.total_volume)
    with pytest.raises(MappingError, match="part"):
        TaskGraph.from_partition(h, np.full(30, nparts), nparts)


def test_task_graphs():
    graph = grid(6, 6)
    part = (np.arange(36) // 12).astype(np.int32)
    tasks = TaskGraph.from_partition(graph, part, 3)
    # bands of two rows: each sends the six cells at its border to each neighbour
    assert (tasks.nmessages, tasks.total_volume) == (4, 24)
    assert tasks.graph.edges()[2].tolist() == [12, 12]
    assert tasks.unit().total_volume == tasks.nmessages
    dense = np.array([[7, 2], [0, 0]])
    assert TaskGraph.from_matrix(dense).volume.tolist() == [2]
    assert TaskGraph.from_graph(graph).nmessages == 2 * graph.nedges
    some = traffic(20, 3)
    coarse, stand_for = some.grouped(np.arange(20) // 5, 4)
    assert stand_for.sum() == (some.source // 5 != some.target // 5).sum()
    assert coarse.total_volume == some.volume[some.source // 5 != some.target // 5].sum()
    with pytest.raises(MappingError, match="square"):
        TaskGraph.from_matrix(np.ones((2, 3)))
    with pytest.raises(MappingError, match="source"):
        TaskGraph(2, [2], [0])
    assert TaskGraph(0, [], []).nmessages == 0


def test_weighted_hops_beyond_64_bits():
    """Data may add up to 2^61, and each of it takes many hops."""
    far = TaskGraph(3, [0, 1, 2], [1, 0, 1], [2**59, 2**59, 3])
    found = evaluate_congestion(far, TorusNetwork([64]), [0, 32, 31])
    assert (found.weighted_hops, found.max_congestion) == (2**65 + 3, 2.0**59)
    assert found.average_congestion == pytest.approx(found.weighted_hops / found.used_links)
