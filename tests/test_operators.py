"""The five operators: what each means, and the balance of a co-partition, which is the strict one."""

from __future__ import annotations

import re
from fractions import Fraction
from itertools import product

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from copart.coupling import Interedges
from copart.errors import ConfigError, CouplingError, PartitionError
from copart.graph import Graph
from copart.metrics import edge_cut, migration_matrix, migration_volume, part_weights
from copart.operators import ext, part, proj, repart, rest, rest_joined

from .conftest import NO_JIT
from .helpers import grid
from .partition_reference import path, star, tree
from .reference import graphs, random_graph, rows

EXAMPLES = 8 if NO_JIT else 60


def assert_balanced(graph: Graph, p: np.ndarray, k: int, eps: float) -> None:
    """``W_k <= (1 + eps) W / K`` where whole weights allow it: unit weights need ``ceil(W / K)`` at least."""
    load = [int(w) for w in part_weights(graph, p, k)]
    average = Fraction(graph.total_weight, k)
    assert max(load) <= max((1 + Fraction(str(eps))) * average, -(-graph.total_weight // k)), (load, float(average))
    assert (np.bincount(p, minlength=k) > 0).all()


# ---- Part
@settings(max_examples=EXAMPLES)
@given(st.integers(2, 80), st.integers(1, 20), st.sampled_from([0.0, 0.01, 0.05, 0.1, 0.3]), st.integers(0, 99))
def test_part_keeps_the_balance_of_the_definition(n, k, eps, seed):
    k = min(k, n)
    graph = tree(n, np.random.default_rng(seed))
    assert_balanced(graph, part(graph, k, eps=eps, seed=seed), k, eps)


@pytest.mark.parametrize(("vwgt", "nparts", "tpwgts"), [
    ([100, 1, 1, 1], 2, None), ([119, 65, 84, 38, 40], 4, None), ([5, 3, 4, 4], 4, None),
    ([60, 8, 8, 8, 8, 8], 3, [2, 1, 1]), ([47, 9, 9, 9, 9, 9, 8], 3, [0.4, 0.3, 0.3]),
])
def test_the_eps_that_is_advised_is_enough(vwgt, nparts, tpwgts):
    g = path(len(vwgt), vwgt=vwgt)
    with pytest.raises(PartitionError, match="raise eps to at least that") as error:
        part(g, nparts, eps=0.01, tpwgts=tpwgts)
    eps = float(re.search(r"than ([\d.]+) % over", str(error.value))[1]) / 100
    largest = max(tpwgts) / sum(tpwgts) if tpwgts else 1 / nparts
    assert -1e-9 < eps - (max(vwgt) / (sum(vwgt) * largest) - 1) < 0.0011
    assert part_weights(g, part(g, nparts, eps=eps, tpwgts=tpwgts), nparts).max() == max(vwgt)


def test_part_is_stricter_than_the_partitioner():
    """25 cells in 4 parts of 6.25: the partitioner would allow floor(1.2 * 7) = 8, the definition allows 7."""
    graph = grid(5, 5)
    assert part_weights(graph, part(graph, 4, eps=0.2), 4).max() <= 7
    graph = grid(10, 10)
    assert part_weights(graph, part(graph, 3, eps=0.05), 3).max() <= 35, "floor(1.05 * 34) = 35 and 1.05 * 33.3 = 35"


@pytest.mark.parametrize("eps", [0.0, 0.03, 0.05, 0.07, 0.1])
@pytest.mark.parametrize("k", [3, 7, 16, 31])
def test_part_of_weighted_cells(k, eps):
    rng = np.random.default_rng(k)
    graph = grid(20, 20, vwgt=rng.integers(1, 4, 400))
    assert_balanced(graph, part(graph, k, eps=eps), k, eps)


def test_options_reach_the_partitioner():
    graph = grid(12, 12)
    assert (part(graph, 4, seed=1) == part(graph, 4, seed=1, threads=2)).all()
    load = np.bincount(part(graph, 3, tpwgts=[1, 2, 3]))
    assert (load <= [26, 51, 76]).all()
    with pytest.raises(ConfigError, match="preset: 'quick' is not known"):
        part(graph, 4, preset="quick")
    with pytest.raises(TypeError):
        part(graph, 4, seeds=3)


@pytest.mark.parametrize("eps", ["x", float("nan"), float("inf"), -0.1])
def test_bad_tolerances_are_config_errors(eps):
    with pytest.raises(ConfigError, match="eps"):
        part(grid(4, 4), 2, eps=eps)


def test_tolerances_of_several_weights_are_one_or_one_each():
    graph = grid(4, 4).replace(vwgt=np.ones((16, 2), int))
    assert len(part(graph, 2, eps=[0.1, 0.2])) == len(part(graph, 2, eps=0.1)) == 16
    for eps in ([0.1, 0.2, 0.3], [[0.1, 0.2]]):
        with pytest.raises(ConfigError, match="eps: needs one number, or one for each of 2 weights per vertex"):
            part(graph, 2, eps=eps)


def test_part_of_nothing():
    with pytest.raises(PartitionError, match="2 parts of 0 vertices"):
        part(Graph.from_edges(0, [], []), 2)


# ---- Rest
@given(graphs(), st.integers(0, 2**32 - 1))
def test_rest_is_the_induced_subgraph(graph, seed):
    rng = np.random.default_rng(seed)
    chosen = rng.permutation(graph.nvtxs)[:graph.nvtxs // 2]
    sub, keep = rest(graph, np.concatenate([chosen, chosen[:1]]))
    assert keep.dtype == np.int32
    assert keep.tolist() == sorted(set(chosen.tolist())), "ascending, each vertex once"
    place = {int(v): i for i, v in enumerate(keep)}
    near = rows(graph)
    assert rows(sub) == {place[v]: {place[u]: w for u, w in near[v].items() if u in place} for v in place}
    assert (sub.weights == graph.weights[keep]).all()
    assert (sub.sizes == graph.sizes[keep]).all()


def test_rest_errors():
    with pytest.raises(CouplingError, match=r"vertices: 1 of 2 entries are outside 0\.\.8"):
        rest(grid(3, 3), [3, 9])
    sub, keep = rest(grid(3, 3), [])
    assert (sub.nvtxs, len(keep)) == (0, 0)


# ---- Rest where the surface falls apart
def test_a_connected_surface_is_left_as_it_is():
    graph = grid(20, 20)
    sub, keep = rest_joined(graph, np.arange(20))
    want, same = rest(graph, np.arange(20))
    assert (keep == same).all()
    assert rows(sub) == rows(want)


def test_scattered_vertices_are_joined_where_their_surroundings_meet():
    """Every third vertex of a path: no two are neighbours, each is joined to the next; a far one stays alone."""
    graph = path(60)
    chosen = [0, 3, 6, 9, 59]
    sub, keep = rest_joined(graph, chosen)
    assert keep.tolist() == chosen
    assert rows(sub) == {0: {1: 1}, 1: {0: 1, 2: 1}, 2: {1: 1, 3: 1}, 3: {2: 1}, 4: {}}


def test_true_edges_weigh_three_times_as_much():
    sub, _ = rest_joined(path(9), [0, 1, 4, 8])
    assert rows(sub) == {0: {1: 3}, 1: {0: 3, 2: 1}, 2: {1: 1, 3: 1}, 3: {2: 1}}


def test_what_is_far_is_joined_where_the_graph_is():
    """Two runs at the ends of a path are joined once; a graph of two paths stays in two pieces."""
    sub, _ = rest_joined(path(60), [0, 1, 58, 59], far=True)
    assert rows(sub) == {0: {1: 3}, 1: {0: 3, 2: 1}, 2: {1: 1, 3: 3}, 3: {2: 3}}
    apart = Graph.from_edges(8, [0, 1, 2, 4, 5, 6], [1, 2, 3, 5, 6, 7])
    sub, _ = rest_joined(apart, [0, 3, 4, 7], far=True)
    assert rows(sub) == {0: {1: 1}, 1: {0: 1}, 2: {3: 1}, 3: {2: 1}}


# ---- Ext
@settings(max_examples=EXAMPLES)
@given(st.integers(0, 2**32 - 1), st.integers(2, 6), st.integers(0, 4), st.booleans())
def test_ext_keeps_the_parts_it_was_given(seed, k, more, connected):
    rng = np.random.default_rng(seed)
    n = 60
    graph = tree(n, rng) if connected else random_graph(rng, n, 60, weighted=False)
    sub, keep = rest(graph, rng.permutation(n)[:20])
    inner = part(sub, k, seed=seed % 99)
    whole = ext(graph, keep, inner, k, k + more, seed=seed % 99, eps=0.05)
    assert (whole[keep] == inner).all()
    assert_balanced(graph, whole, k + more, 0.05)


def test_ext_takes_vertices_in_any_order():
    graph = grid(6, 6)
    assert ext(graph, [35, 0, 17], [1, 0, 2], 3, 4)[[35, 0, 17]].tolist() == [1, 0, 2]


def test_ext_errors():
    graph = grid(6, 6)
    with pytest.raises(PartitionError, match="fixed: the vertices fixed to part 0 weigh 20, more than its limit"):
        ext(graph, np.arange(20), np.zeros(20, int), 1, 4)
    with pytest.raises(ConfigError, match="l: must be at least 3, got 2"):
        ext(graph, [0, 1, 2], [0, 1, 2], 3, 2)
    with pytest.raises(CouplingError, match=r"sub_part: 1 of 2 entries are outside 0\.\.1"):
        ext(graph, [0, 1], [0, 2], 2, 4)
    with pytest.raises(CouplingError, match="sub_part: needs 2 entries, has 1"):
        ext(graph, [0, 1], [0], 2, 4)
    with pytest.raises(CouplingError, match="vertices: 1 of 1 entries are outside"):
        ext(graph, [36], [0], 2, 4)
    with pytest.raises(CouplingError, match="vertices: 7 stands there more than once"):
        ext(graph, [7, 3, 7], [0, 0, 1], 2, 4)


# ---- Proj
def mirrored(n: int) -> Interedges:
    return Interedges.from_pairs(n, n, np.arange(n), np.arange(n))


@given(graphs(), st.integers(0, 2**32 - 1), st.integers(1, 4))
def test_proj_through_a_bijection_and_back_is_the_identity(graph, seed, k):
    rng = np.random.default_rng(seed)
    n = graph.nvtxs
    p = rng.integers(0, k, n).astype(np.int32)
    turn = rng.permutation(n)
    inter = Interedges.from_pairs(n, n, np.arange(n), turn)
    there = proj(graph, graph, inter, p, k)
    assert (there[turn] == p).all()
    assert (proj(graph, graph, inter.transposed, there, k) == p).all()


def test_proj_follows_one_voice_against_any_cut():
    """All votes of a vertex agree: it takes that part even where each neighbour is in another."""
    p = np.array([0, 1, 0, 1, 0])
    assert proj(path(5), path(5, ewgt=[9, 9, 9, 9]), mirrored(5), p, 2).tolist() == p.tolist()


def test_proj_of_a_nested_mesh():
    """Each cell of a coarse row covers 4 x 4 fine cells: each fine cell has one voice."""
    fine = np.arange(64).reshape(8, 8)
    coarse = np.repeat(np.repeat(np.arange(4).reshape(2, 2), 4, 0), 4, 1)
    inter = Interedges.from_pairs(4, 64, coarse.ravel(), fine.ravel())
    p = [2, 0, 1, 1]
    got = proj(grid(2, 2), grid(8, 8), inter, p, 3)
    assert got.tolist() == [p[c] for c in coarse.ravel()]


def enriched_cut(graph: Graph, votes: dict[int, dict[int, int]], p) -> int:
    """What Proj minimises: edges between parts, and votes that are not followed."""
    near = rows(graph)
    cut = sum(w for v, row in near.items() for u, w in row.items() if v < u and p[u] != p[v])
    return cut + sum(n for v, for_part in votes.items() for q, n in for_part.items() if q != p[v])


@settings(max_examples=EXAMPLES)
@given(st.integers(0, 2**32 - 1), st.integers(2, 3), st.integers(2, 9))
def test_proj_of_disputed_vertices_is_near_the_best_of_all(seed, k, n):
    """Against every assignment of the disputed and the silent vertices, one by one."""
    rng = np.random.default_rng(seed)
    a = random_graph(rng, 6, 8, weighted=False)
    b = random_graph(rng, n, 2 * n, weighted=False)
    u, v = rng.integers(0, 6, 2 * n), rng.integers(0, n, 2 * n)
    inter = Interedges.from_pairs(6, n, u, v)
    p = rng.integers(0, k, 6)
    votes: dict[int, dict[int, int]] = {}
    for x, y in {(int(x), int(y)) for x, y in zip(u, v, strict=True)}:
        votes.setdefault(y, {}).setdefault(int(p[x]), 0)
        votes[y][int(p[x])] += 1
    got = proj(a, b, inter, p, k, seed=seed % 99)
    sole = {y: next(iter(q)) for y, q in votes.items() if len(q) == 1}
    assert all(got[y] == q for y, q in sole.items())
    open_ones = [y for y in range(n) if y not in sole]
    best = min(enriched_cut(b, votes, [sole[y] if y in sole else choice[open_ones.index(y)] for y in range(n)])
               for choice in product(range(k), repeat=len(open_ones)))
    mine = enriched_cut(b, votes, got)
    assert best <= mine <= best + 1 + best // 4, f"seed {seed}: {mine} against {best}"


def test_proj_counts_votes():
    """The only vertex has two interedges to part 1 and one to part 0."""
    inter = Interedges.from_pairs(3, 1, [0, 1, 2], [0, 0, 0])
    one = Graph.from_edges(1, [], [])
    assert proj(path(3), one, inter, [1, 0, 1], 2).tolist() == [1]
    assert proj(path(3), one, inter, [1, 0, 0], 2).tolist() == [0]


def test_proj_of_silent_vertices_follows_their_neighbours():
    """Only the ends of the row are coupled; the silent middle costs one edge, no more."""
    inter = Interedges.from_pairs(2, 7, [0, 1], [0, 6])
    got = proj(path(2), path(7), inter, [0, 1], 2)
    assert (got[0], got[6]) == (0, 1)
    assert edge_cut(path(7), got) == 1


def test_proj_is_not_balanced():
    inter = Interedges.from_pairs(2, 9, [0] * 8 + [1], np.arange(9))
    assert np.bincount(proj(path(2), star(9), inter, [0, 1], 2)).tolist() == [8, 1]


def test_proj_errors():
    with pytest.raises(CouplingError, match=r"interedges: have shape \(9, 9\), the graphs have \(9, 4\)"):
        proj(grid(3, 3), grid(2, 2), mirrored(9), np.zeros(9, int), 2)
    with pytest.raises(CouplingError, match=r"part: 1 of 9 entries are outside 0\.\.1"):
        proj(grid(3, 3), grid(3, 3), mirrored(9), [0] * 8 + [2], 2)
    with pytest.raises(ConfigError, match="k: must be at least 1"):
        proj(grid(3, 3), grid(3, 3), mirrored(9), np.zeros(9, int), 0)


# ---- Repart
@pytest.mark.parametrize(("m", "n"), [(4, 4), (4, 6), (6, 4), (1, 5), (5, 1)])
def test_repart_is_balanced_and_moves_little(m, n):
    graph = grid(24, 24)
    old = part(graph, m)
    new = repart(graph, old, m, n)
    assert_balanced(graph, new, n, 0.05)
    kept = graph.nvtxs - migration_volume(migration_matrix(old, new, m, n))
    # the most that can stay is what min(m, n) parts hold in both; where parts vanish, those between two others
    # should, but few messages come first: observed 1.00, 1.02, 0.75, 1.04, 1.02 of
    # an even share of the most (2026-11)
    assert kept >= 0.7 * graph.nvtxs * min(m, n) / max(m, n), f"{kept} of {graph.nvtxs} stay"


def test_repart_from_an_unbalanced_partition():
    graph = grid(20, 20)
    old = np.where(np.arange(400) < 300, 0, 1 + np.arange(400) % 2)
    new = repart(graph, old, 3, 4)
    assert_balanced(graph, new, 4, 0.05)


@pytest.mark.parametrize("method", ["mxn", "scratch-remap", "diffusive"])
def test_repart_methods_keep_the_balance_of_the_definition(method):
    graph = grid(9, 11)
    new = repart(graph, np.arange(99) * 5 // 99, 5, 7, method=method, eps=0.1)
    assert_balanced(graph, new, 7, 0.1)


def test_repart_errors():
    graph = grid(4, 4)
    with pytest.raises(ConfigError, match="method: 'best' is not known"):
        repart(graph, np.zeros(16, int), 1, 2, method="best")
    with pytest.raises(PartitionError, match=r"part: 1 of 16 entries are outside 0\.\.1"):
        repart(graph, [2] + [0] * 15, 2, 2)
    with pytest.raises(PartitionError, match="17 parts of 16 vertices"):
        repart(graph, np.zeros(16, int), 1, 17)
    with pytest.raises(ConfigError, match=r"^n: must be at least 1, got 0"):
        repart(graph, np.zeros(16, int), 1, 0)

