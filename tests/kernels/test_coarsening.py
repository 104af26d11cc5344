"""Matching, label propagation, absorption, two-hop pairs and contraction, against their definitions."""

from __future__ import annotations

from fractions import Fraction
from itertools import pairwise

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy.sparse.csgraph import dijkstra

from benchmarks.numbering import renumbered
from benchmarks.shape_cases.building import extruded
from benchmarks.unstructured import octree, quadrangulated
from copart.graph import Graph
from copart.kernels import Level, contraction, label_propagation, survey
from copart.kernels import coarsening as kernels
from copart.kernels.label_propagation import _tie
from copart.kernels.weights import EDGE_WEIGHT
from copart.kgggp_ml import partition
from copart.mesh import Mesh, cube, dual_graph
from copart.partitioner import rounds
from copart.partitioner.clustering import cluster, heaviest_cluster, match_layers
from copart.partitioner.coarsening import _evenly, carry, carry_down, contract
from copart.partitioner.numbering import renumber
from copart.partitioner.rounds import Team
from copart.partitioner.shape import Shape, look_at

from ..conftest import NO_JIT
from ..helpers import grid, triangulated
from ..partition_reference import complete, contracted, graph_of, level, path, scale_free, star, tree
from ..reference import edge_cut, graphs, rows


def matched(graph: Graph, heaviest: int = 10**9, fixed=None, origin=None) -> tuple[np.ndarray, int]:
    n, match = graph.nvtxs, np.full(graph.nvtxs, -1, np.int32)
    assert kernels.match_in_order(0, n, n, level(graph, fixed, origin), heaviest, match) == n
    return match, int((match >= 0).sum())


def clustered(g: Level, heaviest: int, *, is_grid: bool = False, scattered: bool = False) -> tuple[np.ndarray, int]:
    with Team(1) as team:
        return cluster(g, heaviest, Shape(is_grid, scattered, False), team)


def assert_alike(members: list[int], fixed, origin) -> None:
    """One fixed part (or all free) and one origin."""
    assert len({int(fixed[v]) for v in members}) == 1
    assert len({int(origin[v]) for v in members}) == 1


# ---- matching
@given(graphs(), st.integers(0, 2**32 - 1), st.integers(1, 9))
def test_match_is_a_matching(graph, seed, heaviest):
    rng = np.random.default_rng(seed)
    fixed, origin = rng.integers(-1, 2, graph.nvtxs), rng.integers(0, 2, graph.nvtxs)
    match, count = matched(graph, heaviest, fixed, origin)
    near = rows(graph)
    assert count == (match >= 0).sum()
    for v, u in enumerate(match.tolist()):
        if u >= 0:
            assert u != v
            assert match[u] == v
            assert u in near[v]
            assert graph.weights[u] + graph.weights[v] <= heaviest
            assert_alike([u, v], fixed, origin)


@given(graphs(), st.integers(0, 2**32 - 1), st.integers(1, 9))
def test_match_is_maximal(graph, seed, heaviest):
    """No two neighbours that might merge are both left over."""
    fixed = np.random.default_rng(seed).integers(-1, 2, graph.nvtxs)
    match, _ = matched(graph, heaviest, fixed)
    for v, row in rows(graph).items():
        for u in row:
            if match[u] < 0 and match[v] < 0:
                assert fixed[u] != fixed[v] or graph.weights[u] + graph.weights[v] > heaviest


def test_match_takes_the_heaviest_edge():
    match, count = matched(path(4, ewgt=[1, 5, 1]))
    assert (match.tolist(), count) == ([1, 0, 3, 2], 4), "vertex 0 comes first and has one neighbour"
    match, count = matched(Graph.from_edges(4, [0, 0, 0], [1, 2, 3], [2, 7, 3]))
    assert (match.tolist(), count) == ([2, -1, 0, -1], 2)


def test_match_prefers_light_neighbours_and_small_numbers():
    match, _ = matched(star(4, vwgt=[1, 3, 2, 2]))
    assert match.tolist() == [2, -1, 0, -1]


@given(graphs(), st.integers(1, 6), st.data())
def test_match_of_a_piece_is_that_of_the_whole_up_to_the_first_pair_across(graph, heaviest, data):
    n = graph.nvtxs
    hi = data.draw(st.integers(0, n))
    whole, _ = matched(graph, heaviest=heaviest)
    ahead = np.full(n, -1, np.int32)
    ahead[hi:] = 7777  # of another thread
    at = kernels.match_in_order(0, hi, n, level(graph), heaviest, ahead)
    across = [v for v in range(hi) if whole[v] >= hi]
    assert at == min(across, default=hi)
    assert (ahead[hi:] == 7777).all()
    for v in range(hi):
        # what the first pair across keeps from being matched is left over
        assert ahead[v] == (whole[v] if v < at or 0 <= whole[v] < at else -1)
    if not across:
        # what is behind does not depend on it
        ahead[hi:] = -1
        assert kernels.match_in_order(hi, n, n, level(graph), heaviest, ahead) == n
        assert ahead.tolist() == whole.tolist()


@pytest.mark.parametrize("dims", [(24, 20, 22), (25, 21, 23), (120, 90), (7, 1500)])
def test_grids_are_matched_by_threads_as_by_one(dims, monkeypatch):
    """On all levels, in pieces of whole layers, odd ones too, and where rows end inside."""
    monkeypatch.setattr(rounds, "GRAIN", 64)
    shape, heaviest = Shape(True, False, False), 60
    g = level(grid(*(dims if not NO_JIT else [max(side // 4, 3) for side in dims])))
    keep = np.random.default_rng(1).random(len(g.vwgt)) < 0.9
    holes = level(graph_of(g).subgraph(np.flatnonzero(keep)))
    for now in (g, holes):
        for _ in range(4):
            whole = np.full(len(now.vwgt), -1, np.int32)
            kernels.match_in_order(0, len(whole), len(whole), now, heaviest, whole)
            for threads in (1, 2, 3, 8):
                with Team(threads) as team:
                    found = np.empty_like(whole)
                    match_layers(now, heaviest, found, team)
                    assert found.tolist() == whole.tolist()
            with Team(1) as team:
                now = contract(now, *cluster(now, heaviest, shape, team), team)


def test_match_of_a_numbered_grid_makes_boxes():
    """Neighbours along one axis pair up, all of them: what keeps cuts straight on coarse levels."""
    match, count = matched(grid(4, 6))
    assert count == 24
    assert (np.abs(match - np.arange(24)) == 6).all() or (np.abs(match - np.arange(24)) == 1).all()


@given(graphs(), st.integers(0, 2**32 - 1))
def test_match_stays_inside_its_range(graph, seed):
    """Ranges matched one after the other, in any order, are matched as each alone."""
    n = graph.nvtxs
    cut = int(np.random.default_rng(seed).integers(0, n + 1))
    whole = np.full(n, -1, np.int32)
    for lo, hi in ((cut, n), (0, cut)):
        kernels.match_in_order(lo, hi, hi, level(graph), 10**9, whole)
    # maximal inside each: what is left over has no neighbour left over on its side
    for v in range(n):
        if whole[v] >= 0:
            assert (v < cut) == (whole[v] < cut)
            assert whole[whole[v]] == v
        else:
            assert not any(whole[u] < 0 and (u < cut) == (v < cut) for u in rows(graph)[v])


@given(graphs(), st.integers(0, 2**32 - 1))
def test_pairs_are_led_by_their_smaller_vertex(graph, seed):
    match, _ = matched(graph, 6)
    n = graph.nvtxs
    leader, cwgt = np.full(n, -9, np.int32), np.full(n, -9, np.int64)
    cut = int(np.random.default_rng(seed).integers(0, n + 1))
    for lo, hi in ((0, cut), (cut, n)):
        kernels.lead_pairs(lo, hi, level(graph), match, leader, cwgt)
    for v in range(n):
        pair = {v} if match[v] < 0 else {v, int(match[v])}
        assert leader[v] == min(pair)
        assert cwgt[v] == (sum(int(graph.weights[u]) for u in pair) if v == min(pair) else 0)


# ---- label propagation
def propagated(graph: Graph, lo: int, hi: int, heaviest: int, *, rounds: int = 3, scattered: bool = False,
               fixed=None, origin=None):
    n = graph.nvtxs
    match, leader, cwgt = np.full(n, -9, np.int32), np.full(n, -9, np.int32), np.full(n, -9, np.int64)
    label_propagation.propagate_labels(lo, hi, level(graph, fixed, origin), heaviest, rounds, scattered, match, leader,
                                       cwgt, *propagation_scratch(hi - lo))
    for a in (match, leader, cwgt):
        assert (np.delete(a, np.s_[lo:hi]) == -9).all(), "nothing is written outside the range"
    return match, leader, cwgt


def around_hubs(graph: Graph, heaviest: int, rounds: int, fixed=None, origin=None):
    n = graph.nvtxs
    match, leader, cwgt = np.full(n, -9, np.int32), np.full(n, -9, np.int32), np.full(n, -9, np.int64)
    order = np.argsort(np.diff(graph.xadj), kind="stable").astype(np.int32)
    label_propagation.propagate_around_hubs(level(graph, fixed, origin), order, heaviest, rounds, match, leader, cwgt,
                                            *propagation_scratch(n))
    return match, leader, cwgt


def led(graph: Graph, vertices: range, heaviest: int, leader, cwgt, fixed, origin) -> list[list[int]]:
    """The clusters: light enough, of one kind, led by the smallest member, which alone has their weight."""
    clusters: dict[int, list[int]] = {}
    for v in vertices:
        clusters.setdefault(int(leader[v]), []).append(v)
    for c, members in clusters.items():
        assert c == members[0]
        weight = sum(int(graph.weights[v]) for v in members)
        assert cwgt[c] == weight
        assert len(members) == 1 or weight <= heaviest
        assert_alike(members, fixed, origin)
        assert all(cwgt[v] == 0 for v in members[1:])
    return list(clusters.values())


@given(graphs(), st.integers(0, 2**32 - 1), st.integers(1, 12), st.integers(0, 4))
def test_clusters_around_hubs_keep_all_their_rules(graph, seed, heaviest, rounds):
    """Light enough, of one kind, led by the smallest member, the books right."""
    rng = np.random.default_rng(seed)
    n = graph.nvtxs
    fixed, origin = rng.integers(-1, 2, n), rng.integers(0, 2, n)
    match, leader, cwgt = around_hubs(graph, heaviest, rounds, fixed, origin)
    for members in led(graph, range(n), heaviest, leader, cwgt, fixed, origin):
        assert all(match[v] == (-1 if len(members) == 1 else v) for v in members)


def test_clusters_around_hubs_are_found_however_far_their_members_are_numbered():
    """Complete graphs of 8 vertices, the members of each 64 numbers apart, and a hub tied to all."""
    u, v = np.triu_indices(8, 1)
    u, v = ((a[:, None] * 64 + np.arange(64)).ravel() for a in (u, v))
    graph = Graph.from_edges(513, np.concatenate([u, np.full(512, 512)]), np.concatenate([v, np.arange(512)]))
    assert look_at(level(graph)).skewed
    with Team(1) as team:
        cmap, _ = cluster(level(graph), 8, look_at(level(graph)), team)
    whole = (cmap[:512].reshape(8, 64) == cmap[:64]).all(axis=0)
    assert whole.sum() >= 48, "the hub may draw some apart"


@pytest.mark.parametrize(("graph", "skewed"), [
    (grid(30, 40), False), (path(100), False), (complete(30), False), (tree(500, np.random.default_rng(1)), False),
    (star(100), True), (scale_free(2000, np.random.default_rng(1)), True), (Graph.from_edges(4, [], []), False),
])
def test_graphs_with_hubs_are_skewed(graph, skewed):
    assert look_at(level(graph)).skewed == skewed


def propagation_scratch(size: int):
    return np.empty(size, np.int64), np.empty(size, np.int32), np.empty(size, np.int32)


@given(graphs(), st.integers(0, 2**32 - 1), st.integers(1, 12), st.integers(0, 4))
def test_propagated_clusters_keep_all_their_rules(graph, seed, heaviest, rounds):
    """Inside the range, light enough, of one kind, led by the smallest member, the books right."""
    rng = np.random.default_rng(seed)
    n = graph.nvtxs
    lo, hi = sorted(rng.integers(0, n + 1, 2).tolist())
    fixed, origin = rng.integers(-1, 2, n), rng.integers(0, 2, n)
    match, leader, cwgt = propagated(graph, lo, hi, heaviest, rounds=rounds, fixed=fixed, origin=origin)
    clusters = led(graph, range(lo, hi), heaviest, leader, cwgt, fixed, origin)
    for members in clusters:
        assert all((match[v] < 0) == (len(members) == 1) for v in members)
    if rounds == 0:
        assert all(len(members) == 1 for members in clusters)


def twin(graph: Graph, heaviest: int, rounds: int) -> list[int]:
    """Label propagation from its definition; the tie between clusters of equal rate is the kernel's own."""
    near = rows(graph)
    n = graph.nvtxs
    label = list(range(n))
    weight = [int(w) for w in graph.weights]
    for _ in range(rounds):
        moved = 0
        for v in range(n):
            w = int(graph.weights[v])
            tied: dict[int, int] = {}
            for u, x in near[v].items():
                tied[label[u]] = tied.get(label[u], 0) + x

            def rate(c: int, w: int = w, v: int = v, tied: dict[int, int] = tied) -> Fraction:
                rest = weight[c] - w if c == label[v] else weight[c]
                return Fraction(tied.get(c, 0) ** 4, max(rest, 1))

            own = label[v]
            best, most = own, rate(own) if label.count(own) > 1 else Fraction(0)
            for c in tied:
                if c == own or weight[c] + w > heaviest:
                    continue
                if rate(c) > most or (rate(c) == most and best != own and _tie(c, v) > _tie(best, v)):
                    best, most = c, rate(c)
            if best != own:
                label[v] = best
                weight[own] -= w
                weight[best] += w
                moved += 1
        if moved * 50 < n:
            break
    return [label.index(c) for c in label]


@given(graphs(), st.integers(1, 12), st.integers(1, 4))
def test_propagation_equals_its_twin(graph, heaviest, rounds):
    _, leader, _ = propagated(graph, 0, graph.nvtxs, heaviest, rounds=rounds)
    assert leader.tolist() == twin(graph, heaviest, rounds)


@given(graphs(), st.integers(0, 2**32 - 1))
def test_a_range_is_clustered_as_if_it_were_alone(graph, seed):
    """What makes clusters independent of the number of threads; weights differ, so that ties do not decide."""
    rng = np.random.default_rng(seed)
    n = graph.nvtxs
    u, v, _ = graph.edges()
    graph = Graph.from_edges(n, u, v, rng.permutation(len(u)) + 1, vwgt=graph.weights)
    hi = int(rng.integers(0, n + 1))
    _, leader, cwgt = propagated(graph, 0, hi, 7)
    _, alone, weight = propagated(graph.subgraph(np.arange(hi)), 0, hi, 7)
    assert leader[:hi].tolist() == alone.tolist()
    assert cwgt[:hi].tolist() == weight.tolist()


def test_scattered_visits_see_every_vertex_once():
    """A window of odd stride: one round on pairs, far apart, joins them all."""
    n = 2 * label_propagation.WINDOW + 10 if not NO_JIT else label_propagation.WINDOW + 10
    graph = Graph.from_edges(n, np.arange(0, n - 1, 2), np.arange(1, n, 2))
    match, leader, _ = propagated(graph, 0, n, 2, rounds=1, scattered=True)
    assert leader.tolist() == (np.arange(n) // 2 * 2).tolist()
    assert (match >= 0).all()


def test_scattered_visits_make_other_clusters():
    graph = grid(70, 70)
    a, b = (propagated(graph, 0, 4900, 12, scattered=s)[1].tolist() for s in (False, True))
    assert a != b


# ---- absorption
def absorbed(graph: Graph, match, heaviest: int = 10**9, fixed=None):
    n = graph.nvtxs
    leader = np.where((match >= 0) & (match < np.arange(n)), match, np.arange(n)).astype(np.int32)
    cwgt = graph.weights.copy()
    for v in range(n):
        if leader[v] != v:
            cwgt[leader[v]] += graph.weights[v]
    singles = np.flatnonzero(match < 0).astype(np.int32)
    left = kernels.absorb_singles(0, n, singles, level(graph, fixed), match, heaviest, leader, cwgt)
    assert singles[:left].tolist() == np.flatnonzero(match < 0).tolist()
    return leader, cwgt, int(left)


@given(st.lists(st.booleans(), max_size=40), st.integers(0, 2**32 - 1))
def test_singles_are_listed_by_range(alone, seed):
    match = np.where(alone, -1, 0).astype(np.int32)
    n, singles = len(match), np.full(len(match) + 1, -9, np.int32)
    cut = int(np.random.default_rng(seed).integers(0, n + 1))
    for lo, hi in ((cut, n), (0, cut)):
        count = kernels.list_singles(lo, hi, match, singles)
        assert singles[lo : lo + count].tolist() == [v for v in range(lo, hi) if alone[v]]
    assert singles[n] == -9


def test_who_others_have_joined_keeps_its_cluster():
    # both are alone and tied to each other alone: the first joins the second, which stays and counts as left
    graph = Graph.from_edges(2, [0], [1])
    match = np.full(2, -1, np.int32)
    leader, cwgt, left = absorbed(graph, match)
    assert (leader.tolist(), cwgt[1], left) == ([1, 1], 2, 1)


def test_singles_join_the_cluster_they_are_tied_to_most():
    # clusters {0, 1} and {2, 3}; vertex 4 hangs on both, more on the second
    graph = Graph.from_edges(5, [0, 2, 4, 4], [1, 3, 1, 2], [9, 9, 1, 2])
    match = np.array([1, 0, 3, 2, -1], np.int32)
    leader, cwgt, left = absorbed(graph, match)
    assert leader.tolist() == [0, 0, 2, 2, 2]
    assert cwgt[2] == 3
    assert left == 0
    assert match[4] >= 0


def test_singles_respect_weight_and_fixed_parts():
    graph = Graph.from_edges(5, [0, 2, 4, 4], [1, 3, 1, 2], [9, 9, 1, 2])
    leader, _, left = absorbed(graph, np.array([1, 0, 3, 2, -1], np.int32), fixed=[0, 0, 1, 1, 0])
    assert (leader[4], left) == (0, 0)
    leader, _, left = absorbed(graph, np.array([1, 0, 3, 2, -1], np.int32), heaviest=2)
    assert (leader[4], left) == (4, 1)


# ---- two hops
def test_leaves_of_a_star_pair_up():
    graph = star(10)
    g = level(graph)
    match, leader, cwgt = np.full(10, -1, np.int32), np.arange(10, dtype=np.int32), graph.weights.copy()
    match[0] = 0
    waiting = np.full(11, -1, np.int32)
    joined = kernels.pair_two_hop(g, match, 2, leader, cwgt, waiting)
    assert joined == 4
    assert np.bincount(np.bincount(leader)).tolist() == [4, 2, 4], "the hub and one leaf stay alone, four pairs"
    assert (waiting == -1).all()


def test_isolated_vertices_cluster_up_to_the_weight():
    graph = Graph.from_edges(9, [], [])
    match, leader, cwgt = np.full(9, -1, np.int32), np.arange(9, dtype=np.int32), graph.weights.copy()
    kernels.pair_two_hop(level(graph), match, 3, leader, cwgt, np.full(10, -1, np.int32))
    sizes = np.bincount(leader)
    assert sizes.max() <= 3
    assert (sizes > 0).sum() <= 5
    assert cwgt[sizes > 0].sum() == 9


def test_two_hop_pairs_keep_fixed_parts_apart():
    graph = star(7)
    fixed = np.array([-1, 0, 1, 0, 1, 0, 1])
    match, leader, cwgt = np.full(7, -1, np.int32), np.arange(7, dtype=np.int32), graph.weights.copy()
    kernels.pair_two_hop(level(graph, fixed), match, 2, leader, cwgt, np.full(8, -1, np.int32))
    for c in set(leader.tolist()):
        assert_alike(np.flatnonzero(leader == c).tolist(), fixed, np.zeros(7))


# ---- numbering
def test_clusters_are_numbered_by_their_first_member():
    cmap = np.empty(6, np.int32)
    assert contraction.number_clusters(np.array([3, 1, 3, 3, 5, 5], np.int32), cmap) == 3
    assert cmap.tolist() == [0, 1, 0, 0, 2, 2]


@given(st.lists(st.integers(0, 6), min_size=1, max_size=30))
def test_members_are_linked_in_order(labels):
    cmap = np.array(labels, np.int32)
    first, following = linked = contraction.Members(np.empty(8, np.int32), np.empty(len(cmap), np.int32))
    contraction.link_members(cmap, linked)
    for c in range(8):
        members, v = [], int(first[c])
        while v >= 0:
            members.append(v)
            v = int(following[v])
        assert members == np.flatnonzero(cmap == c).tolist()


# ---- the driver: clusters
@pytest.mark.parametrize("is_grid", [False, True])
@given(graphs(), st.integers(0, 2**32 - 1), st.integers(1, 12))
def test_clusters_keep_weight_fixed_parts_and_origins(is_grid, graph, seed, heaviest):
    rng = np.random.default_rng(seed)
    fixed, origin = rng.integers(-1, 2, graph.nvtxs), rng.integers(0, 2, graph.nvtxs)
    cmap, count = clustered(level(graph, fixed, origin), heaviest, is_grid=is_grid)
    assert set(cmap.tolist()) == set(range(count))
    for c in range(count):
        members = np.flatnonzero(cmap == c).tolist()
        assert_alike(members, fixed, origin)
        assert len(members) == 1 or sum(int(graph.weights[v]) for v in members) <= heaviest


@pytest.mark.parametrize("is_grid", [False, True])
@pytest.mark.parametrize("name", ["path", "star", "grid", "scale-free", "no edges"])
def test_every_level_shrinks_enough(name, is_grid):
    """By more than 1.6 as designed; a star and isolated vertices through their two-hop pairs."""
    rng = np.random.default_rng(2)
    graph = {"path": path(999), "star": star(999), "grid": grid(30, 30), "scale-free": scale_free(900, rng),
             "no edges": Graph.from_edges(999, [], [])}[name]
    _, count = clustered(level(graph), 4, is_grid=is_grid)
    assert graph.nvtxs / count > 1.6, f"{name}: {graph.nvtxs} to {count}"


# ---- contraction
@given(graphs(), st.integers(0, 2**32 - 1), st.integers(1, 8))
def test_contraction_equals_its_twin(graph, seed, many):
    rng = np.random.default_rng(seed)
    n = graph.nvtxs
    cmap = np.unique(rng.integers(0, many, n), return_inverse=True)[1].astype(np.int32) if n else np.zeros(0, np.int32)
    count = int(cmap.max()) + 1 if n else 0
    origin = cmap % 2
    fixed = np.where(cmap % 3 == 0, 5, -1)
    with Team(1) as team:
        coarse = contract(level(graph, fixed, origin), cmap, count, team)
        again = contract(level(graph, fixed, origin), cmap, count, team, alike=True)
    for one, other in zip(coarse, again, strict=True):
        assert one.tolist() == other.tolist()
    weight, between = contracted(graph, cmap)
    assert {c: int(w) for c, w in enumerate(coarse.vwgt)} == weight
    back = graph_of(coarse)  # validates: symmetric, no loops, no edge twice
    u, v, w = back.edges()
    assert {(int(a), int(b)): int(x) for a, b, x in zip(u, v, w, strict=True)} == between
    for c in range(count):
        members = np.flatnonzero(cmap == c)
        assert coarse.fixed[c] == fixed[members[0]]
        assert coarse.origin[c] == origin[members[0]]
        assert coarse.size[c] == graph.sizes[members].sum()


@given(graphs(), st.integers(0, 2**32 - 1))
def test_a_coarse_partition_has_the_same_cut_and_weights_below(graph, seed):
    rng = np.random.default_rng(seed)
    if not graph.nvtxs:
        return
    cmap, count = clustered(level(graph), 6)
    with Team(1) as team:
        coarse = contract(level(graph), cmap, count, team)
    part = rng.integers(0, 3, count).astype(np.int32)
    fine = np.full(graph.nvtxs, -1, np.int32)
    contraction.pull_down(0, graph.nvtxs, cmap, part, fine)
    assert fine.tolist() == [part[c] for c in cmap]
    assert edge_cut(graph, fine) == edge_cut(graph_of(coarse), part)
    assert coarse.vwgt.sum() == graph.total_weight


def test_contraction_does_not_depend_on_the_pieces():
    """Cut by hand at places of every kind, empty pieces included."""
    graph = scale_free(300, np.random.default_rng(1))
    g = level(graph)
    cmap, count = clustered(g, 5)
    members = contraction.Members(np.empty(count, np.int32), np.empty(300, np.int32))
    contraction.link_members(cmap, members)
    none = np.zeros(0, np.int32)
    found = [contraction.contract_vertices(lo, hi, g, members, np.empty(count, np.int64), none, none,
                                           np.zeros(0, np.int64)) for lo, hi in ((0, 7), (7, count))]
    degree = np.diff(graph.xadj)
    entries = [degree[cmap == c].sum() for c in range(count)]
    assert found == [(max(of), sum(of)) for of in (entries[:7], entries[7:])]
    begin, most = np.append(0, np.cumsum(entries)), max(entries)

    def contracted_in(bounds, alike=False):
        adjncy, ewgt = np.empty(len(g.adjncy), np.int32), np.empty(len(g.adjncy), EDGE_WEIGHT)
        end = np.empty(count, np.int64)
        found = []
        for lo, hi in pairwise(bounds):
            mark = np.empty(count, np.int64)
            at = begin[lo]
            k = contraction.contract_rows(lo, hi, at, g, cmap, members, alike, end, adjncy, ewgt, most, mark)
            length = np.diff(end[lo:hi], prepend=at)
            assert length.sum() == k
            found.append((adjncy[at:at + k], ewgt[at:at + k], length))
        return [np.concatenate(x).tolist() for x in zip(*found, strict=True)]

    whole = contracted_in([0, count])
    for bounds in ([0, 1, count], [0, count // 2, count], [0, 7, 7, count - 1, count]):
        assert contracted_in(bounds) == contracted_in(bounds, alike=True) == whole


@given(graphs(), st.integers(0, 2**32 - 1), st.integers(1, 30), st.integers(2, 5))
def test_contraction_does_not_depend_on_the_threads(graph, seed, many, threads):
    """Also where clusters are fewer than pieces, or blocks of these, and where rows are of very different lengths."""
    n = graph.nvtxs
    labels = np.random.default_rng(seed).integers(0, many, n)
    cmap = np.unique(labels, return_inverse=True)[1].astype(np.int32) if n else np.zeros(0, np.int32)
    count, made = int(cmap.max(initial=-1)) + 1, []
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(rounds, "GRAIN", 1)
        for number in (1, threads):
            with Team(number) as team:
                made.append(contract(level(graph), cmap, count, team))
    for one, other in zip(*made, strict=True):
        assert one.dtype == other.dtype
        assert one.tolist() == other.tolist()


@given(st.lists(st.integers(0, 9), min_size=1, max_size=40), st.integers(1, 9))
def test_blocks_are_cut_evenly(entries, pieces):
    """No piece has more entries than its share and the largest block."""
    ends = [3 * i for i in range(len(entries) + 1)]
    bounds, begin = _evenly(ends, entries, pieces)
    assert len(bounds) == len(begin) == pieces + 1
    assert (bounds[0], bounds[-1], begin[0], begin[-1]) == (0, ends[-1], 0, sum(entries))
    assert bounds == sorted(bounds)
    assert [sum(entries[:bound // 3]) for bound in bounds] == begin
    assert max(np.diff(begin)) <= sum(entries) / pieces + max(entries) + 1


@pytest.mark.parametrize("graph", [grid(60, 60), triangulated(50, 50), scale_free(300, np.random.default_rng(1)),
                                   Graph.from_edges(3000, np.zeros(2999, int), np.arange(1, 3000))])
def test_contraction_in_a_small_table_is_that_with_a_place_for_each_vertex(graph):
    g = level(graph)
    cmap, count = clustered(g, 3)
    members = contraction.Members(np.empty(count, np.int32), np.empty(graph.nvtxs, np.int32))
    contraction.link_members(cmap, members)
    none = np.zeros(0, np.int32)
    most, room = contraction.contract_vertices(0, count, g, members, np.empty(count, np.int64), none, none,
                                               np.zeros(0, np.int64))

    def contracted(most, places):
        adjncy, ewgt, end = np.empty(room, np.int32), np.empty(room, EDGE_WEIGHT), np.empty(count, np.int64)
        k = contraction.contract_rows(0, count, 0, g, cmap, members, False, end, adjncy, ewgt, most,
                                      np.empty(places, np.int64))
        return adjncy[:k].tolist(), ewgt[:k].tolist(), end.tolist()

    assert contracted(most, 8 * most + 64) == contracted(2**40, count)
    assert contracted(most, min(count, 8 * most + 64)) == contracted(2**40, count)


def test_clusters_do_not_depend_on_the_threads():
    """Enough vertices for several blocks."""
    n = 3 * 16384
    if NO_JIT:
        return
    side = int(n**0.5)
    g = level(grid(side, n // side))
    for shape in (Shape(True, False, False), Shape(False, False, False), Shape(False, True, False)):
        found = []
        for threads in (1, 2, 3):
            with Team(threads) as team:
                cmap, count = cluster(g, 30, shape, team)
                found.append((cmap.tobytes(), count))
        assert len(set(found)) == 1


# ---- a look at the graph
def triangulated(a: int, b: int) -> Graph:
    """A grid with one diagonal in every square."""
    ids = np.arange(a * b).reshape(a, b)
    u, v, _ = grid(a, b).edges()
    return Graph.from_edges(a * b, np.concatenate([u, ids[:-1, :-1].ravel()]),
                            np.concatenate([v, ids[1:, 1:].ravel()]))


@pytest.mark.parametrize(("name", "is_grid", "dense"), [
    ("quadrilaterals", True, False), ("hexahedra", True, False), ("nodes of triangles", False, True),
    ("complete", False, True), ("path", False, False), ("tree", False, False), ("star", False, False),
    ("hexagons", False, False), ("no edges", False, False), ("one vertex", False, False)])
def test_shapes_are_recognized(name, is_grid, dense):
    rng = np.random.default_rng(4)
    brick = grid(40, 40)  # a wall of bricks: every other vertical edge, cycles of six
    u, v, _ = brick.edges()
    wall = (v - u == 1) | ((u // 40 + u % 40) % 2 == 0)
    graph = {"quadrilaterals": grid(40, 40), "hexahedra": grid(12, 12, 12), "nodes of triangles": triangulated(40, 40),
             "complete": complete(30), "path": path(500), "tree": tree(500, rng), "star": star(500),
             "hexagons": Graph.from_edges(1600, u[wall], v[wall]),
             "no edges": Graph.from_edges(50, [], []), "one vertex": Graph.from_edges(1, [], [])}[name]
    found = look_at(level(graph))
    assert found.dense == dense
    if name not in ("path", "tree", "star", "hexagons"):
        assert found.grid == is_grid
    else:
        assert not found.grid


def random_cubic(half: int) -> Graph:
    """Three neighbours each, in the other half, at random."""
    u = np.tile(np.arange(half), 3)
    v = np.concatenate([np.random.default_rng(seed).permutation(half) for seed in range(3)])
    return Graph.from_edges(2 * half, u, v + half)


def divided(mesh: Mesh, rows: int) -> Mesh:
    """Quadrilaterals divided into so many rows and columns each, which meet other ones at their corners only."""
    x, y = np.meshgrid(*[np.linspace(0, 1, rows + 1)] * 2)
    share = np.stack([(1 - x) * (1 - y), x * (1 - y), x * y, (1 - x) * y])
    points = np.einsum("cpd,pyx->cyxd", mesh.points[mesh.blocks[0][1]], share)
    points, number = np.unique(points.reshape(-1, points.shape[-1]).round(9), axis=0, return_inverse=True)
    number = number.reshape(-1, rows + 1, rows + 1)
    cells = np.stack([number[:, :-1, :-1], number[:, :-1, 1:], number[:, 1:, 1:], number[:, 1:, :-1]], axis=-1)
    return Mesh(points, [("quad", cells.reshape(-1, 4))])


@pytest.mark.parametrize(("name", "is_grid", "flat", "uneven"), [
    ("rows that end at many points", False, True, True), ("rows that end at one point", True, True, False),
    ("rows of quadrilaterals", True, True, False), ("rows of hexahedra", True, False, False),
    ("quadrilaterals in triangles", False, True, False), ("quadtree", False, True, True),
    ("layers of such quadrilaterals", True, False, True), ("octree", True, False, True),
    ("triangles", False, True, False), ("tetrahedra", False, False, False), ("nodes of triangles", False, True, False),
    ("edges at random", False, False, False), ("path", False, True, False)])
def test_meshes_in_the_plane_and_rows_that_end_are_recognized(name, is_grid, flat, uneven):
    brick = grid(40, 40)  # three neighbours each, as triangles have
    u, v, _ = brick.edges()
    wall = (v - u == 1) | ((u // 40 + u % 40) % 2 == 0)
    made = {"rows of quadrilaterals": lambda: grid(40, 40), "rows of hexahedra": lambda: grid(12, 12, 12),
             "quadrilaterals in triangles": lambda: dual_graph(quadrangulated(500)),
             "rows that end at many points": lambda: dual_graph(divided(quadrangulated(100), 4)),
             "rows that end at one point": lambda: dual_graph(divided(quadrangulated(3), 30)),
             "quadtree": lambda: octree(12, 3, lambda x, y: np.hypot(x - 0.4, y - 0.5) - 0.3, dimension=2),
             "layers of such quadrilaterals": lambda: dual_graph(extruded(quadrangulated(100), np.arange(9.0))),
             "octree": lambda: octree(6, 2, lambda x, y, z: np.sqrt((x - 0.5)**2 + (y - 0.4)**2 + z**2) - 0.5),
             "triangles": lambda: Graph.from_edges(1600, u[wall], v[wall]),
             "tetrahedra": lambda: dual_graph(cube("tetra", 2000)),
             "nodes of triangles": lambda: triangulated(40, 40), "path": lambda: path(500),
             "edges at random": lambda: random_cubic(1500)}
    graph = made[name]()
    found = look_at(level(graph))
    assert (found.grid, found.flat, found.uneven) == (is_grid, flat, uneven)


def test_far_numbers_are_recognized():
    graph = grid(70, 70)
    assert not look_at(level(graph)).far
    u, v, _ = graph.edges()
    new = np.random.default_rng(1).permutation(4900)
    assert look_at(level(Graph.from_edges(4900, new[u], new[v]))).far


@pytest.mark.parametrize(("name", "along"), [("rows", True), ("blocks", True), ("any order nearby", False),
                                             ("any order in a layer", False), ("parts", False)])
def test_grids_numbered_across_their_rows_are_recognized(name, along):
    shape = (90, 24, 26)
    graph, n = grid(*shape), int(np.prod(shape))
    rng = np.random.default_rng(2)
    x, y, z = np.unravel_index(np.arange(n), shape)
    inside = (x % 30 - 15) ** 2 + (y - 12) ** 2 + (z - 13) ** 2 < 120
    order = {"rows": np.arange(n), "blocks": np.lexsort((z, y, x, y // 12, x // 30)),
             "any order nearby": np.argsort(np.arange(n) + rng.uniform(0, 60, n)),
             "any order in a layer": np.lexsort((rng.random(n), x)),
             "parts": np.lexsort((np.arange(n), inside, (x + y + z) // 20))}[name]
    found = look_at(level(renumbered(graph, order)))
    assert found.grid
    assert found.far == (not along)


@pytest.mark.slow
def test_the_cut_of_a_grid_does_not_depend_on_the_order_of_its_cells():
    graph, n = grid(60, 60, 60), 216_000
    rng = np.random.default_rng(2)
    cut = edge_cut(graph, partition(graph, 32))
    place = np.arange(n)
    nearby, in_a_layer = np.argsort(place + rng.uniform(0, 5000, n)), np.lexsort((rng.random(n), place // 3600))
    for order in (nearby, in_a_layer):
        other = renumbered(graph, order)
        assert edge_cut(other, partition(other, 32)) <= 1.05 * cut


@given(graphs(), st.integers(0, 2**32 - 1), st.booleans())
def test_degrees_are_counted_over_the_free_vertices(graph, seed, some_fixed):
    n = graph.nvtxs
    fixed = np.random.default_rng(seed).integers(-1, 2, n).astype(np.int32)
    g = level(graph, fixed) if some_fixed else level(graph)
    degree = np.diff(g.xadj)[g.fixed < 0] if len(g.fixed) else np.diff(g.xadj)
    found = np.full(7, -1, np.int64)
    survey.count_degrees(g, found)
    assert found.tolist() == [(degree <= 2).sum(), (degree <= 3).sum(), (degree > 4).sum(), (degree > 6).sum(),
                              len(degree), degree.sum(), (degree**2).sum()]


@given(graphs())
def test_looking_counts_what_is_there(graph):
    """On a small graph, sampled with replacement: no triangle or square is seen where there is none."""
    n = graph.nvtxs
    if not n:
        return
    found = np.full(6, -1, np.int64)
    survey.sample_shape(level(graph), 200, found)
    near = rows(graph)
    triangles = any(set(near[v]) & set(near[u]) for v in near for u in near[v])
    squares = any(len((set(near[a]) & set(near[b])) - {a, b}) >= 2 for a in near for b in near if a < b)
    assert (found >= 0).all()
    assert triangles or found[0] == 0
    assert squares or found[1] == 0
    assert found[4] <= found[1]
    assert found[5] <= 200
    assert found[5] == 0 or len(set(graph.weights.tolist())) > 1


@given(graphs(), st.data())
def test_vertices_are_counted_by_their_distance_and_in_its_order(graph, data):
    n = graph.nvtxs
    if not n:
        return
    first, most = data.draw(st.integers(0, n - 1)), data.draw(st.integers(1, n))
    order, seen, within = np.full(most, -1, np.int32), np.zeros(n, np.uint8), np.empty(5, np.int64)
    survey.breadth_first(level(graph), first, order, seen, within)
    away = dijkstra(graph.to_scipy(), unweighted=True, indices=first)
    assert within.tolist() == [min(most, int((away <= radius).sum())) for radius in range(5)]
    assert sorted(set(order.tolist())) == np.flatnonzero(seen).tolist()
    assert (np.diff(away[order][np.isfinite(away[order])]) >= 0).all()


# ---- numbering for locality
@given(graphs(), st.integers(0, 2**32 - 1), st.booleans())
def test_a_renumbered_graph_is_the_same_graph(graph, seed, rich):
    rng = np.random.default_rng(seed)
    n = graph.nvtxs
    g = level(graph, rng.integers(-1, 3, n), rng.integers(0, 4, n)) if rich else level(graph)
    new, order, place = renumber(g, Shape(rich, False, True))
    assert sorted(order.tolist()) == list(range(n))
    assert place[order].tolist() == list(range(n))
    near, back = rows(graph), {int(v): i for i, v in enumerate(order)}
    for i, v in enumerate(order.tolist()):
        span = slice(new.xadj[i], new.xadj[i + 1])
        weights = new.ewgt[span].tolist() if len(new.ewgt) else [1] * len(new.adjncy[span])
        row = dict(zip(new.adjncy[span].tolist(), weights, strict=True))
        assert row == {back[u]: w for u, w in near[v].items()}
    for a, b in ((new.vwgt, g.vwgt), (new.fixed, g.fixed), (new.origin, g.origin), (new.size, g.size)):
        assert a.tolist() == (b[order].tolist() if len(b) else [])
        assert a.dtype == b.dtype
    for a, b in zip(new, g, strict=True):
        assert a.dtype == b.dtype


@given(graphs(), st.integers(0, 2**32 - 1))
def test_breadth_first_order(graph, seed):
    """Piece after piece, the given vertex first; inside a piece the distance from its first vertex never falls."""
    n = graph.nvtxs
    if not n:
        return
    order, first = np.full(n, -1, np.int32), seed % n
    survey.breadth_first(level(graph), first, order, np.zeros(n, np.uint8), np.empty(0, np.int64))
    assert sorted(order.tolist()) == list(range(n))
    near, away = rows(graph), {}
    for piece, root in enumerate([first, *range(n)]):
        if root not in away:
            away[root] = (piece, 0)
            queue = [root]
            for v in queue:
                for u in near[v]:
                    if u not in away:
                        away[u] = (piece, away[v][1] + 1)
                        queue.append(u)
    assert order[0] == first
    assert [away[v] for v in order.tolist()] == sorted(away.values())
    g, at = level(graph), np.array([0, 0, -1])
    numbered, place = np.empty(n + 1, np.int32), np.empty(n, np.int32)
    xadj, adjncy = np.empty(n + 1, np.int64), np.empty_like(g.adjncy)
    wanted = [np.argsort(order)[g.adjncy[g.xadj[v] : g.xadj[v + 1]]].tolist() for v in order]
    for upto in (*np.sort(np.random.default_rng(seed).integers(0, n + 1, 3)), n):
        survey.number_breadth_first(g, first, upto, at, numbered, place, xadj, adjncy, np.empty_like(g.ewgt))
        assert at[0] == upto
        assert numbered[: at[1]].tolist() == order[: at[1]].tolist()
        assert [adjncy[xadj[i] : xadj[i + 1]].tolist() for i in range(upto)] == wanted[:upto]
    assert place[order].tolist() == list(range(n))


@pytest.mark.parametrize("name", ["tetrahedra", "weights", "fixed", "hexahedra"])
def test_pairs_made_while_a_graph_is_renumbered_are_those_made_afterwards(name):
    """By the same clusters, and the team has none left."""
    if NO_JIT:
        return
    rng = np.random.default_rng(5)
    cells = dual_graph(cube("hexa", 41) if name == "hexahedra" else cube("tetra", 70_000))
    graph, n = renumbered(cells, rng.permutation(cells.nvtxs)), cells.nvtxs
    g = level(graph, np.where(rng.random(n) < 0.1, 1, -1) if name == "fixed" else None)
    if name == "weights":
        g = g._replace(vwgt=rng.integers(1, 9, n))
    shape = look_at(g)._replace(far=True)
    found, stop = [], n // 2
    heaviest = heaviest_cluster(g, stop)
    for threads in (1, 2, 3):
        with Team(threads) as team:
            new, order, place = renumber(g, shape, team, stop)
            begun = team._ahead
            assert (begun is not None) == (threads > 1 and name == "tetrahedra")
            cmap, count = cluster(new, heaviest, shape, team)
            assert team._ahead is None
            found.append([a.tobytes() for a in (*new, order, place, cmap)] + [count])
    assert found[0] == found[1] == found[2]


def test_pairs_of_other_clusters_are_not_taken():
    """What was made ahead for clusters of other weights, or for classes."""
    cells = dual_graph(cube("tetra", 2000))
    g, shape = level(cells), Shape(False, False, True)
    within = np.arange(cells.nvtxs, dtype=np.int32) % 2
    with Team(2) as team:
        for heaviest, origin in ((1, g.origin), (heaviest_cluster(g, cells.nvtxs // 2), within)):
            new, _, _ = renumber(g, shape, team, cells.nvtxs // 2)
            new = new._replace(origin=origin)
            assert team._ahead is not None
            cmap, count = cluster(new, heaviest, shape, team)
            with Team(1) as alone:
                again, same = cluster(new, heaviest, shape, alone)
            assert (count, cmap.tolist()) == (same, again.tolist())


def test_small_graphs_of_cells_keep_their_numbers(monkeypatch):
    """All of them is in the caches; where neighbours have neighbours in common, clusters would suffer."""
    cells = dual_graph(cube("tetra", 2000))
    u, v, _ = cells.edges()
    new = np.random.default_rng(1).permutation(cells.nvtxs)
    g = level(Graph.from_edges(cells.nvtxs, new[u], new[v]))
    assert not look_at(g).far
    monkeypatch.setattr("copart.partitioner.shape._SMALL", 0)
    assert look_at(g).far
    assert not look_at(level(cells)).far


def test_a_graph_is_looked_at_once(monkeypatch):
    from copart.partitioner import shape

    graph, seen = grid(30, 30), []
    monkeypatch.setattr(shape, "look_at", lambda g: seen.append(g) or look_at(g))
    first = shape.known_shape(graph, level(graph))
    assert shape.known_shape(graph, level(graph)) is first
    assert first == look_at(level(graph))
    assert len(seen) == 1
    shape.known_shape(grid(30, 30), level(graph))
    assert len(seen) == 2, "an equal graph is another one"


@given(st.lists(st.integers(0, 6), min_size=1, max_size=40))
def test_values_go_up_and_down(cmap):
    """What all members of a cluster share comes back; clusters without members are not read."""
    used = np.array(cmap, np.int32)
    values = np.arange(100, 107, dtype=np.int32)
    fine = carry_down(values, used)
    assert fine.tolist() == [100 + c for c in cmap]
    assert carry(fine, used, 7)[used].tolist() == fine.tolist()


def test_renumbering_brings_neighbours_together():
    u, v, _ = grid(20, 400).edges()
    new = np.random.default_rng(1).permutation(8000)
    g = level(Graph.from_edges(8000, new[u], new[v]))
    near, _, _ = renumber(g, look_at(g))
    rows_of = np.repeat(np.arange(8000), np.diff(near.xadj))
    assert np.abs(rows_of - near.adjncy).max() <= 2 * 20 + 2, "fronts of a strip of 20 run both ways"
    assert look_at(g).far
    assert not look_at(near).far
