"""Exact laws: they hold for every input, with no tolerance and no luck."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from copart import metrics
from copart.algorithms import aware, naive
from copart.coupling import CoPartition, CoupledProblem, Interedges
from copart.graph import Graph
from copart.kgggp_ml import partition
from copart.operators import ext, part, proj, repart, rest

from .conftest import NO_JIT
from .helpers import grid
from .partition_reference import Case, cases, excuses
from .reference import random_graph

EXAMPLES = 6 if NO_JIT else 40


def drawn(seed: int, most: int = 40) -> tuple[np.random.Generator, Graph]:
    rng = np.random.default_rng(seed)
    n = int(rng.integers(4, most))
    return rng, random_graph(rng, n, 2 * n, weighted=False)


seeds = st.integers(0, 2**32 - 1)


@settings(max_examples=EXAMPLES)
@given(seeds)
def test_ext_of_rest_keeps_the_parts(seed):
    """Ext keeps the parts it was given on the subgraph that Rest cut out."""
    rng, g = drawn(seed)
    sub, keep = rest(g, rng.permutation(g.nvtxs)[:g.nvtxs // 2])
    k = int(rng.integers(1, sub.nvtxs + 1))
    inner = part(sub, k)
    whole = ext(g, keep, inner, k, k, eps=0.99)
    assert (rest(g, keep)[1] == keep).all()
    assert (whole[keep] == inner).all()


@settings(max_examples=EXAMPLES)
@given(seeds)
def test_ext_with_everything_given_changes_nothing(seed):
    _, g = drawn(seed)
    p = part(g, 3)
    assert (ext(g, np.arange(g.nvtxs), p, 3, 3) == p).all()


@settings(max_examples=EXAMPLES)
@given(seeds)
def test_rest_of_everything_is_the_graph(seed):
    _, g = drawn(seed)
    same, keep = rest(g, np.arange(g.nvtxs))
    assert (keep == np.arange(g.nvtxs)).all()
    assert (same.xadj == g.xadj).all()
    assert (same.adjncy == g.adjncy).all()


@settings(max_examples=EXAMPLES)
@given(seeds)
def test_rest_of_rest_is_one_rest(seed):
    rng, g = drawn(seed)
    sub, outer = rest(g, rng.permutation(g.nvtxs)[:3 * g.nvtxs // 4])
    sub_sub, inner = rest(sub, rng.permutation(sub.nvtxs)[:sub.nvtxs // 2])
    direct, keep = rest(g, outer[inner])
    assert (keep == outer[inner]).all()
    assert (direct.xadj == sub_sub.xadj).all()
    assert (direct.adjncy == sub_sub.adjncy).all()
    assert (direct.edge_weights == sub_sub.edge_weights).all()


@settings(max_examples=EXAMPLES)
@given(seeds)
def test_proj_there_and_back_is_the_identity(seed):
    rng, g = drawn(seed)
    n = g.nvtxs
    inter = Interedges.from_pairs(n, n, np.arange(n), rng.permutation(n))
    p = part(g, 3)
    assert (proj(g, g, inter.transposed, proj(g, g, inter, p, 3), 3) == p).all()


@settings(max_examples=EXAMPLES)
@given(cases(weights=("unit", "zero or one")))
def test_no_fixed_vertex_moves(case: Case):
    if excuses(case) or case.fixed is None:
        return
    p = partition(case.graph, case.nparts, **case.options)
    assert (p[case.fixed >= 0] == case.fixed[case.fixed >= 0]).all()


@settings(max_examples=EXAMPLES)
@given(seeds, st.integers(1, 4), st.integers(1, 4))
def test_migration_volume_is_0_only_where_nothing_moved(seed, m, n):
    rng, g = drawn(seed)
    old = rng.integers(0, m, g.nvtxs)
    new = repart(g, old, m, n)
    matrix = metrics.migration_matrix(old, new, m, n)
    moved = int((old != new).sum())
    assert metrics.migration_volume(matrix) == moved
    assert (matrix.sum(axis=1) == np.bincount(old, minlength=m)).all()
    assert (matrix.sum(axis=0) == np.bincount(new, minlength=n)).all()


@settings(max_examples=EXAMPLES)
@given(seeds)
def test_repart_of_a_balanced_partition_moves_nothing(seed):
    rng, g = drawn(seed)
    k = int(rng.integers(1, g.nvtxs + 1))
    p = part(g, k, seed=seed % 100)
    assert (repart(g, p, k, k, seed=seed % 77) == p).all()


@settings(max_examples=EXAMPLES)
@given(seeds)
def test_metrics_survive_relabelling(seed):
    """Other numbers for vertices and for parts, same figures."""
    rng, g = drawn(seed)
    n, k = g.nvtxs, 3
    p = rng.integers(0, k, n)
    vertex, number = rng.permutation(n), rng.permutation(k)
    u, v, w = g.edges()
    h = Graph.from_edges(n, vertex[u], vertex[v], w)
    q = np.empty(n, int)
    q[vertex] = number[p]
    assert metrics.edge_cut(g, p) == metrics.edge_cut(h, q)
    assert (metrics.part_weights(g, p, k) == metrics.part_weights(h, q, k)[number]).all()
    assert (metrics.pieces(g, p, k) == metrics.pieces(h, q, k)[number]).all()
    assert metrics.imbalance(g, p, k) == metrics.imbalance(h, q, k)
    other = rng.integers(0, 4, n)
    inter = Interedges.from_pairs(n, n, *rng.integers(0, n, (2, 2 * n)))
    a, b, _ = inter.pairs()
    turned = Interedges.from_pairs(n, n, vertex[a], b)
    one = metrics.coupling_matrix(inter, p, other, k, 4).toarray()
    two = metrics.coupling_matrix(turned, q, other, k, 4).toarray()
    assert (one == two[number]).all()


@settings(max_examples=EXAMPLES)
@given(seeds, st.integers(2, 5))
def test_merging_two_parts_saves_the_weight_between_them(seed, k):
    """Merging two parts lowers the cut by exactly the weight between them."""
    rng, g = drawn(seed)
    p = rng.integers(0, k, g.nvtxs)
    between = g.quotient(p, k)
    u, v, w = between.edges()
    assert int(w.sum()) == metrics.edge_cut(g, p)
    for a, b, weight in zip(u, v, w, strict=True):
        assert metrics.edge_cut(g, np.where(p == b, a, p)) == metrics.edge_cut(g, p) - weight


def test_schemes_treat_components_alike():
    """Exchanging A and B exchanges the parts, for the schemes that look at each component by itself."""
    side = np.arange(12)
    a, b = grid(12, 10), grid(12, 14)
    there = CoupledProblem.of_two(a, b, Interedges.from_pairs(120, 168, side * 10 + 9, side * 14))
    back = CoupledProblem.of_two(b, a, Interedges.from_pairs(168, 120, side * 14, side * 10 + 9))
    for run in (naive, aware):
        one, two = run(there, (4, 6), (2, 3)), run(back, (6, 4), (3, 2))
        assert (one.a == two.b).all()
        assert (one.b == two.a).all()


@pytest.mark.parametrize("k", [1, 4])
def test_results_are_the_callers_to_change(k):
    """A partition is writable and shares no memory with the graph or another result; a co-partition is frozen."""
    g = grid(6, 6)
    p = partition(g, k)
    p[:] = 0
    assert partition(g, k).max() == k - 1
    made = CoPartition({"a": p}, {"a": k})
    p[0] = k - 1
    assert made.a[0] == 0
    with pytest.raises(ValueError, match="read-only"):
        made.a[0] = 1
