"""Matching, absorption, two-hop pairs and contraction, against their definitions."""

from __future__ import annotations

from itertools import pairwise

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from copart.coarsening import cluster, contract
from copart.graph import Graph
from copart.kernels import coarsening as kernels
from copart.rounds import Team

from ..helpers import grid
from ..partition_reference import contracted, graph_of, level, path, scale_free, star
from ..reference import edge_cut, graphs, rows


def matched(graph: Graph, heaviest: int = 10**9, fixed=None, origin=None) -> tuple[np.ndarray, int]:
    match = np.full(graph.nvtxs, -1, np.int32)
    count = kernels.match_in_order(level(graph, fixed, origin), heaviest, match)
    return match, int(count)


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


def test_match_of_a_numbered_grid_makes_boxes():
    """Neighbours along one axis pair up, all of them: what keeps cuts straight on coarse levels."""
    match, count = matched(grid(4, 6))
    assert count == 24
    assert (np.abs(match - np.arange(24)) == 6).all() or (np.abs(match - np.arange(24)) == 1).all()


# ---- absorption
def absorbed(graph: Graph, match, heaviest: int = 10**9, fixed=None):
    n = graph.nvtxs
    leader = np.where((match >= 0) & (match < np.arange(n)), match, np.arange(n)).astype(np.int32)
    cwgt = graph.weights.copy()
    for v in range(n):
        if leader[v] != v:
            cwgt[leader[v]] += graph.weights[v]
    joined = kernels.absorb_singles(level(graph, fixed), match, heaviest, leader, cwgt)
    return leader, cwgt, int(joined)


def test_singles_join_the_cluster_they_are_tied_to_most():
    # clusters {0, 1} and {2, 3}; vertex 4 hangs on both, more on the second
    graph = Graph.from_edges(5, [0, 2, 4, 4], [1, 3, 1, 2], [9, 9, 1, 2])
    match = np.array([1, 0, 3, 2, -1], np.int32)
    leader, cwgt, joined = absorbed(graph, match)
    assert leader.tolist() == [0, 0, 2, 2, 2]
    assert cwgt[2] == 3
    assert joined == 1
    assert match[4] >= 0


def test_singles_respect_weight_and_fixed_parts():
    graph = Graph.from_edges(5, [0, 2, 4, 4], [1, 3, 1, 2], [9, 9, 1, 2])
    leader, _, joined = absorbed(graph, np.array([1, 0, 3, 2, -1], np.int32), fixed=[0, 0, 1, 1, 0])
    assert (leader[4], joined) == (0, 1)
    leader, _, joined = absorbed(graph, np.array([1, 0, 3, 2, -1], np.int32), heaviest=2)
    assert (leader[4], joined) == (4, 0)


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
    assert kernels.number_clusters(np.array([3, 1, 3, 3, 5, 5], np.int32), cmap) == 3
    assert cmap.tolist() == [0, 1, 0, 0, 2, 2]


@given(st.lists(st.integers(0, 6), min_size=1, max_size=30))
def test_members_are_listed_in_order(labels):
    cmap = np.unique(labels, return_inverse=True)[1].astype(np.int32)
    count = int(cmap.max()) + 1
    start, members = np.empty(count + 1, np.int64), np.empty(len(cmap), np.int32)
    kernels.list_members(cmap, start, members)
    for c in range(count):
        assert members[start[c]:start[c + 1]].tolist() == np.flatnonzero(cmap == c).tolist()
    assert (start[0], start[-1]) == (0, len(cmap))


# ---- the driver: clusters
@given(graphs(), st.integers(0, 2**32 - 1), st.integers(1, 12))
def test_clusters_keep_weight_fixed_parts_and_origins(graph, seed, heaviest):
    rng = np.random.default_rng(seed)
    fixed, origin = rng.integers(-1, 2, graph.nvtxs), rng.integers(0, 2, graph.nvtxs)
    cmap, count = cluster(level(graph, fixed, origin), heaviest)
    assert set(cmap.tolist()) == set(range(count))
    for c in range(count):
        members = np.flatnonzero(cmap == c).tolist()
        assert_alike(members, fixed, origin)
        assert len(members) == 1 or sum(int(graph.weights[v]) for v in members) <= heaviest


@pytest.mark.parametrize("name", ["path", "star", "grid", "scale-free", "no edges"])
def test_every_level_shrinks_enough(name):
    """By more than 1.6 as designed; a star and isolated vertices through their two-hop pairs."""
    rng = np.random.default_rng(2)
    graph = {"path": path(999), "star": star(999), "grid": grid(30, 30), "scale-free": scale_free(900, rng),
             "no edges": Graph.from_edges(999, [], [])}[name]
    _, count = cluster(level(graph), 4)
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
    cmap, count = cluster(level(graph), 6)
    with Team(1) as team:
        coarse = contract(level(graph), cmap, count, team)
    part = rng.integers(0, 3, count).astype(np.int32)
    fine = np.full(graph.nvtxs, -1, np.int32)
    kernels.pull_down(0, graph.nvtxs, cmap, part, fine)
    assert fine.tolist() == [part[c] for c in cmap]
    assert edge_cut(graph, fine) == edge_cut(graph_of(coarse), part)
    assert coarse.vwgt.sum() == graph.total_weight


def test_contraction_does_not_depend_on_the_pieces():
    """Cut by hand at places of every kind, empty pieces included."""
    graph = scale_free(300, np.random.default_rng(1))
    g = level(graph)
    cmap, count = cluster(g, 5)
    start, members = np.empty(count + 1, np.int64), np.empty(300, np.int32)
    kernels.list_members(cmap, start, members)
    begin = np.empty(count + 1, np.int64)
    kernels.row_bounds(g, start, members, begin)
    degree = np.diff(graph.xadj)
    assert begin.tolist() == [0, *np.cumsum([degree[cmap == c].sum() for c in range(count)])]

    def contracted_in(bounds):
        adjncy, ewgt = np.empty(len(g.adjncy), np.int32), np.empty(len(g.adjncy), np.int64)
        length = np.empty(count, np.int64)
        found = []
        for lo, hi in pairwise(bounds):
            mark = np.empty(count, np.int64)
            k = kernels.contract_rows(lo, hi, g, cmap, start, members, begin, length, adjncy, ewgt, mark)
            found.append((adjncy[begin[lo]:begin[lo] + k], ewgt[begin[lo]:begin[lo] + k]))
        return [np.concatenate(x).tolist() for x in zip(*found, strict=True)], length.tolist()

    whole = contracted_in([0, count])
    for bounds in ([0, 1, count], [0, count // 2, count], [0, 7, 7, count - 1, count]):
        assert contracted_in(bounds) == whole
