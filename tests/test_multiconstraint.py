"""Several balance constraints: promises, against brute force and other partitioners."""

from __future__ import annotations

from itertools import product

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from copart.errors import PartitionError
from copart.graph import Graph
from copart.metrics import edge_cut
from copart.multiconstraint import refine_multiconstraint

from .helpers import grid


def loads(vwgts, part, nparts):
    """(ncon, nparts) sums, by definition."""
    return np.array([np.bincount(part, column, nparts) for column in np.asarray(vwgts).T])


@st.composite
def cases(draw):
    """A small graph with weights, limits that some hidden partition meets, and a start."""
    n, k, ncon = draw(st.integers(2, 12)), draw(st.integers(2, 4)), draw(st.integers(1, 3))
    k = min(n, k)
    rng = np.random.default_rng(draw(st.integers(0, 10**6)))
    edges = [(u, v) for u in range(n) for v in range(u) if rng.random() < 0.4]
    u, v = np.array(edges, int).reshape(-1, 2).T
    vwgts = rng.integers(0, draw(st.sampled_from([2, 4, 50])), (n, ncon))
    hidden = rng.permutation(np.concatenate([np.arange(k), rng.integers(0, k, n - k)]))
    limits = loads(vwgts, hidden, k).astype(int) + rng.integers(0, 3, (ncon, k))
    fixed = np.where(rng.random(n) < draw(st.sampled_from([0.0, 0.2])), hidden, -1)
    return Graph.from_edges(n, u, v, rng.integers(0, 5, len(u))), vwgts, limits, fixed, rng.integers(0, k, n)


@settings(max_examples=150, deadline=None)
@given(cases())
def test_refinement_keeps_its_promises(case):
    graph, vwgts, limits, fixed, start = case
    k = limits.shape[1]
    found = refine_multiconstraint(graph, start, vwgts, limits, fixed=fixed, strict=False)
    assert (found[fixed >= 0] == fixed[fixed >= 0]).all()
    assert (np.bincount(found, minlength=k) > 0).all()
    within = (loads(vwgts, found, k) <= limits).all()
    try:
        again = refine_multiconstraint(graph, start, vwgts, limits, fixed=fixed)
        assert within
        assert (again == found).all()
    except PartitionError:
        assert not within
    if within:
        better = refine_multiconstraint(graph, found, vwgts, limits, fixed=fixed)
        assert edge_cut(graph, better) <= edge_cut(graph, found)


def test_infeasible_starts_are_brought_below_their_limits_almost_always():
    """Feasibility is NP-hard to tell; on small cases with a known answer it is found nearly always."""
    rng = np.random.default_rng(5)
    found = 0
    for _ in range(100):
        graph = grid(6, 6)
        vwgts = np.stack([np.ones(36, int), rng.integers(0, 3, 36)], axis=1)
        limits = np.ceil(1.1 * vwgts.sum(axis=0)[:, None] / 4) * np.ones((1, 4))
        start = rng.integers(0, 4, 36)
        try:
            part = refine_multiconstraint(graph, start, vwgts, limits)
            assert (loads(vwgts, part, 4) <= limits).all()
            found += 1
        except PartitionError:
            pass
    assert found >= 98


def test_a_limit_of_zero_keeps_weights_out():
    graph = grid(12, 12)
    face = (np.arange(144) % 12 == 11).astype(int)
    vwgts = np.stack([np.ones(144, int), face], axis=1)
    limits = [[38] * 4, [6, 6, 0, 0]]
    part = refine_multiconstraint(graph, np.arange(144) * 4 // 144, vwgts, limits)
    assert set(part[face == 1]) == {0, 1}
    assert (loads(vwgts, part, 4) <= limits).all()


def test_tiny_refinement_reaches_the_optimum_from_nearby():
    """Against all partitions of a ladder whose best halves are known by enumeration."""
    graph = grid(2, 5)
    vwgts = np.stack([np.ones(10, int), np.arange(10) % 2], axis=1)
    limits = np.array([[6, 6], [3, 3]])
    best = min(edge_cut(graph, np.array(p)) for p in product((0, 1), repeat=10)
               if (loads(vwgts, np.array(p), 2) <= limits).all())
    start = np.repeat([[0, 0, 0, 1, 1]], 2, axis=0).ravel()
    start[[0, 4]] = 1, 0
    assert edge_cut(graph, refine_multiconstraint(graph, start, vwgts, limits)) == best


@pytest.mark.parametrize(("limits", "fixed", "message"), [
    ([[2, 1], [4, 4]], None, "constraint 0 weighs 4 in all"),
    ([[4, 4], [3, 3]], None, "vertex 3 weighs 4 in constraint 1"),
    ([[4, 0], [2, 6]], None, "fits in no part"),
    ([[1, 4], [9, 9]], [0, 0, -1, -1], "fixed to part 0 weigh 2 in constraint 0"),
    ([[4, 4], [9, 9]], [0, 0, 0, 0], "parts would be empty"),
    ([[4, 4, 4, 4, 4], [9, 9, 9, 9, 9]], None, "would leave parts empty"),
    ([[4, 4]], None, r"needs shape \(2, nparts\)"),
])
def test_what_cannot_be_is_told(limits, fixed, message):
    path = Graph.from_edges(4, [0, 1, 2], [1, 2, 3])
    weights = [[1, 1], [1, 0], [1, 0], [1, 4]]
    with pytest.raises(PartitionError, match=message):
        refine_multiconstraint(path, [0, 0, 1, 1], weights, limits, fixed=fixed)
