"""Every figure against its slow twin, the published example, and hand-made cases."""

from __future__ import annotations

import doctest
import importlib
import json

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from copart.coupling import CoPartition, CoupledProblem, Interedges
from copart.errors import ConfigError, CouplingError, GraphError
from copart.graph import Graph
from copart.metrics import (
    boundary,
    coupling_matrix,
    coupling_weights,
    edge_cut,
    evaluate,
    imbalance,
    max_part_weight,
    max_part_weights,
    migration_matrix,
    migration_messages,
    migration_volume,
    part_weights,
    pieces,
    step_cost,
    target_shares,
)

from .. import reference
from ..helpers import ends_soon, grid
from ..reference import four_by_three, graphs


def test_the_published_four_by_three_example():
    problem, cop = four_by_three()
    m = evaluate(problem, cop)
    assert (m.a.cut, m.b.cut, m.a.cut_cpl, m.b.cut_cpl) == (8, 12, 1, 2)
    assert (m.a.ub, m.b.ub, m.a.ub_cpl, m.b.ub_cpl) == (0, 0, 0, 0)
    assert (m.a.ncoupled, m.b.ncoupled, m.a.coupled_cells, m.b.coupled_cells) == (2, 3, 4, 3)
    assert (m.pair.totV_ab, m.pair.totV_ba, m.pair.totZ, m.pair.interedges) == (4, 4, 4, 4)
    assert (m.pair.maxV, m.pair.maxZ, m.pair.totV_weight) == (2, 2, 4.0)
    # processes of one world, counted from 1 as published: parts of A are 1..4, of B 5..7
    world = {(p + 1 + cop.offset("a"), q + 1 + cop.offset("b")) for p, q in reference.as_dict(m.pair.matrix)}
    assert world == {(2, 5), (2, 6), (4, 6), (4, 7)}
    assert repr(m).splitlines()[2] == ("a-b: 4 interedges, totV 4 there and 4 back, totZ 4, maxV 2, maxZ 2")
    assert m.components["a"].pieces == 4


# ---- balance
@pytest.mark.parametrize(("total", "nparts", "eps", "limit"), [
    (100, 1, 0.15, 115),  # in binary, (1 + 0.15) * 100 falls just short of 115
    (10, 3, 0.0, 4),
    (10, 3, 0.3, 5),
    (0, 4, 0.05, 0),
    (2**60 + 1, 2, 0.0, 2**59 + 1),  # no float could tell
    (7, 7, 0.99, 1),
])
def test_max_part_weight(total, nparts, eps, limit):
    assert max_part_weight(total, nparts, eps) == limit
    assert max_part_weights(total, nparts, eps).tolist() == [limit] * nparts


def test_max_part_weights_of_unequal_targets():
    assert max_part_weights(75, 3, 0.0, [1, 1, 1]).tolist() == [25, 25, 25]
    assert max_part_weights(100, 3, 0.1, [0.5, 0.25, 0.25]).tolist() == [55, 27, 27]
    assert max_part_weights(10, 2, 0.0, [2, 1]).tolist() == [7, 4]
    assert target_shares([3, 1], 2).tolist() == [0.75, 0.25]


@given(st.integers(0, 10**6), st.integers(1, 40), st.floats(0, 1))
def test_equal_targets_are_the_default(total, nparts, eps):
    assert max_part_weights(total, nparts, eps, np.ones(nparts)).tolist() == \
        max_part_weights(total, nparts, eps).tolist()


@pytest.mark.parametrize(("bad", "message"), [
    ([1, 0], "tpwgts: 1 shares are not positive, first at index 1: 0.0"),
    ([1, np.nan], "tpwgts: 1 shares are not positive, first at index 1: nan"),
    ([1], r"tpwgts: needs 2 entries, has shape \(1,\)"),
    ("ab", "tpwgts: needs an array or a list, got str"),
])
def test_bad_targets(bad, message):
    with pytest.raises(ConfigError, match=message):
        max_part_weights(10, 2, 0.05, bad)


def test_bad_counts():
    with pytest.raises(ConfigError, match="nparts: must be at least 1, got 0"):
        max_part_weight(10, 0, 0.05)
    with pytest.raises(ConfigError, match=r"eps: must be at least 0, got -0\.1"):
        max_part_weight(10, 2, -0.1)


def test_imbalance():
    g = Graph.from_edges(4, [], [], vwgt=[3, 1, 1, 1])
    assert imbalance(g, [0, 1, 1, 1], 2) == 0.0
    assert imbalance(g, [0, 0, 1, 1], 2) == pytest.approx(1 / 3)
    assert imbalance(g, [0, 0, 1, 1], 2, [2, 1]) == pytest.approx(0.0)
    assert imbalance(g, [0, 0, 1, 1], 4) == pytest.approx(5 / 3)
    assert imbalance(g.replace(vwgt=[0] * 4), [0, 0, 0, 1], 2) == 0.0


def test_sums_beyond_the_floats_are_exact():
    g = Graph.from_edges(3, [], [], vwgt=[2**58, 1, 2**58])
    assert part_weights(g, [0, 0, 1], 2).tolist() == [2**58 + 1, 2**58]


# ---- against the twins
@given(graphs(), st.integers(1, 6), st.integers(0, 2**32 - 1))
def test_one_partition_against_the_twins(g, nparts, seed):
    part = np.random.default_rng(seed).integers(0, nparts, g.nvtxs)
    assert edge_cut(g, part) == reference.edge_cut(g, part)
    assert part_weights(g, part, nparts).tolist() == reference.part_weights(g, part, nparts)
    assert pieces(g, part, nparts).tolist() == reference.pieces(g, part, nparts)
    assert boundary(g, part).tolist() == reference.boundary(g, part)


@given(st.integers(0, 2**32 - 1), st.integers(1, 5), st.integers(1, 5), st.booleans())
def test_one_pair_against_the_twin(seed, na, nb, sized):
    rng = np.random.default_rng(seed)
    n_a, n_b = rng.integers(1, 12, 2)
    pairs = sorted({(int(u), int(v)) for u, v in zip(rng.integers(0, n_a, 20), rng.integers(0, n_b, 20), strict=True)})
    inter = Interedges.from_pairs(n_a, n_b, *np.array(pairs).T, rng.random(len(pairs)))
    pa, pb = rng.integers(0, na, n_a), rng.integers(0, nb, n_b)
    sizes = rng.integers(0, 4, n_a) if sized else None
    matrix = coupling_matrix(inter, pa, pb, na, nb, sizes)
    assert matrix.shape == (na, nb)
    assert matrix.dtype == np.int64
    assert reference.as_dict(matrix) == reference.coupling_matrix(
        pairs, pa, pb, [1] * n_a if sizes is None else sizes)
    assert (matrix.data > 0).all()
    weighted = coupling_weights(inter, pa, pb, na, nb)
    want = np.zeros((na, nb))
    for u, v, w in zip(*inter.pairs(), strict=True):
        want[pa[u], pb[v]] += w
    np.testing.assert_allclose(weighted.toarray(), want)


@given(st.integers(0, 2**32 - 1))
def test_figures_survive_renumbering(seed):
    """Other numbers for vertices and parts change no figure."""
    rng = np.random.default_rng(seed)
    problem, cop = four_by_three()
    order, names = rng.permutation(16), rng.permutation(4)  # old vertex i becomes order[i]
    u, v, w = problem.a.edges()
    a = Graph.from_edges(16, order[u], order[v], w)
    part = np.empty(16, int)
    part[order] = names[cop.a]
    i, j, _ = problem.interedges.pairs()
    other = CoupledProblem.of_two(a, problem.b, Interedges.from_pairs(16, 18, order[i], j))
    m = evaluate(other, CoPartition({"a": part, "b": cop.b}, cop.nparts, cop.ncoupled))
    assert m.to_dict() == evaluate(problem, cop).to_dict()


def test_a_datum_counts_once_a_destination():
    inter = Interedges.from_pairs(2, 3, [0, 0, 0, 1], [0, 1, 2, 2])
    m = coupling_matrix(inter, [0, 0], [0, 0, 1], 1, 2, [5, 7])
    assert reference.as_dict(m) == {(0, 0): 5, (0, 1): 12}
    back = coupling_matrix(inter.transposed, [0, 0, 1], [0, 0], 2, 1)
    assert reference.as_dict(back) == {(0, 0): 2, (1, 0): 1}
    # a datum without size is no message
    assert reference.as_dict(coupling_matrix(inter, [0, 0], [0, 0, 1], 1, 2, [0, 7])) == {(0, 1): 7}


def test_migration():
    m = migration_matrix([0, 0, 1, 1, 2], [0, 1, 1, 3, 0], 3, 4, [1, 2, 4, 8, 16])
    assert m.shape == (3, 4)
    assert reference.as_dict(m) == {(0, 0): 1, (0, 1): 2, (1, 1): 4, (1, 3): 8, (2, 0): 16}
    assert (migration_volume(m), migration_messages(m)) == (2 + 8 + 16, 3)
    still = migration_matrix([0, 1, 1], [0, 1, 1], 2, 2)
    assert (migration_volume(still), migration_messages(still)) == (0, 0)
    with pytest.raises(GraphError, match=r"new: 1 of 1 entries are outside 0\.\.1"):
        migration_matrix([0], [2], 2, 2)


# ---- evaluate
def test_coupled_imbalance_is_over_the_requested_parts():
    problem, cop = four_by_three()
    lopsided = np.where(cop.a == 3, 1, cop.a)
    one = evaluate(problem, CoPartition({"a": lopsided, "b": cop.b}, cop.nparts, {"a": 2, "b": 3}))
    assert (one.a.ncoupled, one.a.ub_cpl) == (1, 1.0)  # 4 cells in one part where 2 were to share them
    free = evaluate(problem, CoPartition({"a": lopsided, "b": cop.b}, cop.nparts))
    assert (free.a.ncoupled, free.a.ub_cpl, free.a.ncoupled_requested) == (1, 0.0, None)
    assert (free.a.cut_cpl, free.a.empty, free.a.max_weight, free.a.min_weight) == (0, 1, 8, 0)
    wide = evaluate(problem, CoPartition(cop.parts, cop.nparts, {"a": 1, "b": 3}))
    assert wide.a.ub_cpl == -0.5  # more parts than requested share the load


def test_sizes_and_weights_of_the_components_count():
    problem, cop = four_by_three()
    a = problem.a.replace(vsize=np.arange(16), vwgt=[1] * 15 + [10])
    b = problem.b.replace(vsize=np.full(18, 3))
    inter = Interedges.from_pairs(16, 18, [3, 7, 11, 15], [0, 6, 6, 12], [0.5, 1, 1, 2])
    m = evaluate(CoupledProblem.of_two(a, b, inter), cop)
    assert (m.pair.totV_ab, m.pair.totV_ba, m.pair.totV_weight) == (3 + 7 + 11 + 15, 12, 4.5)
    assert (m.pair.maxV, m.pair.maxV_weight) == (26, 3.0)
    assert m.a.ub_cpl == pytest.approx(11 / 6.5 - 1)


def test_three_components():
    g = grid(6)
    pairs = {("x", "y"): Interedges.from_pairs(6, 6, [0, 1], [0, 1]),
             ("y", "z"): Interedges.from_pairs(6, 6, [5], [5])}
    problem = CoupledProblem({"x": g, "y": g, "z": g}, pairs)
    part = [0, 0, 0, 1, 1, 1]
    m = evaluate(problem, CoPartition(dict.fromkeys("xyz", part), dict.fromkeys("xyz", 2)))
    assert [c.ncoupled for c in m.components.values()] == [1, 2, 1]
    assert [p.totV_ab for p in m.pairs.values()] == [2, 1]
    with pytest.raises(CouplingError, match="there are 2 coupled pairs"):
        _ = m.pair


@pytest.mark.parametrize("threads", [2, 3])
def test_components_are_looked_at_by_several_threads(threads):
    rng = np.random.default_rng(threads)
    sizes = {"x": 30, "y": 40, "z": 50}
    graphs = {name: grid(n, 7) for name, n in sizes.items()}
    pairs = {("x", "y"): Interedges.from_pairs(210, 280, [0, 1, 9], [0, 1, 30]),
             ("y", "z"): Interedges.from_pairs(280, 350, [5, 7], [5, 300])}
    parts = {name: rng.integers(0, 4, graph.nvtxs) for name, graph in graphs.items()}
    made = CoupledProblem(graphs, pairs), CoPartition(parts, dict.fromkeys("xyz", 4))
    one = evaluate(*made)
    assert evaluate(*made, threads=threads).to_dict() == one.to_dict()
    assert one.step.T_step == step_cost(*made).T_step, "also where nothing is known of halos"
    with pytest.raises(ConfigError, match="threads: must be at least 1, got 0"):
        evaluate(*made, threads=0)


def test_to_dict_is_plain_json_with_the_documented_keys():
    told = evaluate(*four_by_three()).to_dict()
    assert json.loads(json.dumps(told)) == told
    assert set(told["components"]["a"]) >= {"ub", "cut", "ncoupled", "ub_cpl", "cut_cpl", "pieces"}
    assert set(told["pairs"][0]) == {"a", "b", "interedges", "totV_ab", "totV_ba", "totV_weight", "totZ", "maxV",
                                     "maxZ", "maxV_weight"}


@pytest.mark.parametrize("nvtxs", [0, 1])
def test_the_smallest_components(nvtxs):
    g = Graph(np.zeros(nvtxs + 1), [])
    inter = Interedges.from_pairs(nvtxs, nvtxs, [0] * nvtxs, [0] * nvtxs)
    cop = CoPartition({"a": [0] * nvtxs, "b": [0] * nvtxs}, {"a": 1, "b": 2})
    m = evaluate(CoupledProblem.of_two(g, g, inter), cop)
    assert (m.a.cut, m.a.ub, m.b.empty) == (0, 0.0, 2 - nvtxs)
    assert (m.pair.totV_ab, m.pair.totZ, m.pair.maxZ) == (nvtxs, nvtxs, nvtxs)


def test_a_copartition_of_something_else():
    problem, cop = four_by_three()
    with pytest.raises(CouplingError, match="co-partition: is of x, b, the problem has a, b"):
        evaluate(problem, CoPartition({"x": cop.a, "b": cop.b}, {"x": 4, "b": 3}))
    with pytest.raises(CouplingError, match="parts of a: needs 16 entries, has 3"):
        evaluate(problem, CoPartition({"a": [0, 1, 2], "b": cop.b}, cop.nparts))
    with pytest.raises(CouplingError, match="copartition: needs a CoPartition, got NoneType"):
        evaluate(problem, None)
    with pytest.raises(CouplingError, match="problem: needs a CoupledProblem, got CoPartition"):
        evaluate(cop, cop)


def test_part_arrays_are_checked():
    g = grid(3)
    with pytest.raises(GraphError, match="part: needs 3 entries, has 2"):
        edge_cut(g, [0, 1])
    with pytest.raises(GraphError, match=r"part: 1 of 3 entries are outside 0\.\.1, first at index 0: 2"):
        part_weights(g, [2, 0, 1], 2)
    inter = Interedges.from_pairs(3, 3, [0], [0])
    with pytest.raises(CouplingError, match=r"part_b: 1 of 3 entries are outside 0\.\.1"):
        coupling_matrix(inter, [0, 0, 0], [0, 0, 2], 2, 2)


@pytest.mark.parametrize("name", ["metrics.balance", "metrics.components", "metrics.pairs", "coupling", "graph"])
def test_the_examples_in_the_documentation(name):
    found = doctest.testmod(importlib.import_module(f"copart.{name}"))
    assert found.attempted > 0
    assert found.failed == 0


def test_a_million_interedges():
    rng = np.random.default_rng(1)
    n = 10**6
    inter = Interedges.from_pairs(n, n, rng.integers(0, n, n), rng.integers(0, n, n))
    part = rng.integers(0, 128, n)
    with ends_soon():
        m = coupling_matrix(inter, part, part, 128, 128)
    assert m.nnz == 128 * 128
