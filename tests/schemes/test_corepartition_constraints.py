"""Repartitioning under several constraints, and the schemes that need it: `multiconstraint` and `monolithic`."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from copart.checks import check_copartition
from copart.coupling import CoPartition, CoupledProblem, Interedges
from copart.dynamic.adaptive import keep_numbers
from copart.dynamic.adaptive_multiconstraint import adaptive_repartition_multiconstraint
from copart.errors import ConfigError, PartitionError
from copart.graph import Graph
from copart.mesh import cube
from copart.metrics import edge_cut, evaluate, migration_matrix, migration_volume
from copart.migration.plan import MigrationPlan
from copart.options import Options
from copart.partitioner.multiconstraint import partition_multiconstraint
from copart.plans.components import coupled_problem
from copart.schemes.contiguous import contiguous
from copart.schemes.corepartition import corepartition, objective
from copart.schemes.monolithic import monolithic
from copart.schemes.multiconstraint import multiconstraint
from copart.schemes.registry import run_scheme
from tests.schemes.test_corepartition import chain, heavy

from ..helpers import grid


def cost(graph, old, new, m, n, alpha):
    return alpha * edge_cut(graph, new) + migration_volume(migration_matrix(old, new, m, n, graph.sizes))


# ---- one graph
@settings(max_examples=15)
@given(st.integers(0, 10**6), st.integers(2, 5), st.integers(2, 5), st.sampled_from([0.3, 1, 10]))
def test_within_both_limits_and_never_dearer_than_scratch(seed, m, n, alpha):
    rng = np.random.default_rng(seed)
    graph = grid(9, 11, vsize=rng.integers(0, 4, 99))
    vectors = np.stack([rng.integers(1, 4, 99), rng.random(99) < 0.3], axis=1).astype(int)
    limits = np.repeat([[int(1.1 * w / n) + 2] for w in vectors.sum(axis=0)], n, axis=1)
    old = partition_multiconstraint(grid(9, 11), m)
    new = adaptive_repartition_multiconstraint(graph, old, m, n, vectors, limits, alpha=alpha)
    held = np.zeros((2, n), int)
    for v, p in enumerate(new.tolist()):
        held[:, p] += vectors[v]
    assert (held <= limits).all()
    assert set(new.tolist()) == set(range(n))
    again = adaptive_repartition_multiconstraint(graph, old, m, n, vectors, limits, alpha=alpha)
    assert new.tolist() == again.tolist()
    remapped = keep_numbers(partition_multiconstraint(graph, n, vectors, limits=limits), old, m, n, graph.sizes)
    assert cost(graph, old, new, m, n, alpha) <= cost(graph, old, remapped, m, n, alpha) + 1e-9


def test_as_good_as_the_best_of_all_partitions():
    """Every partition of a small grid within both limits, by brute force."""
    graph = grid(3, 4, vsize=[2, 1, 1, 1, 1, 3, 1, 1, 1, 1, 3, 1])
    vectors = np.stack([np.ones(12, int), [1, 0, 1, 0, 1, 0, 1, 0, 1, 0, 1, 0]], axis=1)
    old = np.array([0, 0, 0, 1] * 3)
    splits = (np.arange(2**12)[:, None] >> np.arange(12)) & 1
    load = splits @ vectors
    fits = splits[(load == [6, 3]).all(axis=1)]
    for alpha in (0.5, 1, 5, 50):
        best = min(cost(graph, old, s, 2, 2, alpha) for s in fits)
        new = adaptive_repartition_multiconstraint(graph, old, 2, 2, vectors, [[6, 6], [3, 3]], alpha=alpha)
        assert cost(graph, old, new, 2, 2, alpha) == best


def test_small_alpha_leaves_all_where_it_is():
    graph = grid(20, 20)
    vectors = np.stack([np.ones(400, int), np.arange(400) % 20 == 0], axis=1).astype(int)
    limits = [[110] * 4, [6] * 4]
    old = partition_multiconstraint(graph, 4, vectors, limits=limits)
    for preset in ("fast", "default"):
        new = adaptive_repartition_multiconstraint(graph, old, 4, 4, vectors, limits, alpha=0.01, preset=preset)
        assert new.tolist() == old.tolist()


def test_what_cannot_be():
    graph = grid(2, 2)
    with pytest.raises(PartitionError, match="limits: constraint 1 weighs 4 in all"):
        adaptive_repartition_multiconstraint(graph, [0, 0, 1, 1], 2, 2, np.ones((4, 2), int), [[2, 2], [1, 1]])
    with pytest.raises(PartitionError, match="n: 5 parts of 4 vertices"):
        adaptive_repartition_multiconstraint(graph, [0, 0, 1, 1], 2, 5, np.ones((4, 1), int), [[1] * 5])
    with pytest.raises(ConfigError, match="alpha: must be above 0"):
        adaptive_repartition_multiconstraint(graph, [0, 0, 1, 1], 2, 2, np.ones((4, 1), int), [[2, 2]], alpha=0)


# ---- the schemes
@pytest.fixture(scope="module")
def cubes() -> tuple[CoupledProblem, CoupledProblem]:
    """Two cubes whose load lies at one end, and then a bit further on."""
    plain = coupled_problem(cube("hexa", 16), cube("hexa", 20, offset=(1, 0, 0)), names=("left", "right")).problem

    def loaded(y: float) -> CoupledProblem:
        graphs = {name: graph.replace(vwgt=np.where(abs(graph.coords[:, 1] - y) < 0.15, 3, 1))
                  for name, graph in plain.components.items()}
        return CoupledProblem(graphs, dict(plain.pairs))

    return loaded(0.3), loaded(0.4)


def scratch_remap(scheme, problem, former):
    """The parts of all processes at once, as in a shared pool, or of each component."""
    if not former.shared:
        made = scheme(problem, former.nparts)
        return CoPartition({name: keep_numbers(made[name], former[name], made.nparts[name], made.nparts[name])
                            for name in made.names}, made.nparts)
    made, n = scheme(problem, processes=former.nprocs), former.nprocs
    old, new = (np.concatenate([one[name] for name in made.names]) for one in (former, made))
    kept = keep_numbers(new, old, n, n)
    return CoPartition({"left": kept[:len(made.a)], "right": kept[len(made.a):]}, made.nparts, shared=True)


@pytest.mark.parametrize(("name", "scheme", "parts"), [("multiconstraint", multiconstraint, {"nparts": (6, 9)}),
                                                       ("monolithic", monolithic, {"processes": 12})])
def test_much_less_moves_than_from_scratch(cubes, name, scheme, parts):
    before, after = cubes
    former = scheme(before, **parts)
    assert not check_copartition(after, former, 0.05).ok
    # where a message costs as much as a thousand cells that move, that is what counts
    made = corepartition(after, former, scheme=name, price=(1, 1, 1))
    found = check_copartition(after, made, 0.05)
    assert found.ok, found.findings
    assert (made.shared, dict(made.nparts)) == (former.shared, dict(former.nparts))
    remapped = scratch_remap(scheme, after, former)
    moved = [MigrationPlan.between(former, one, after).volume for one in (made, remapped)]
    # 4 and 9 times less seen
    assert 3 * moved[0] < moved[1], moved
    cuts = [sum(c.cut for c in evaluate(after, one).components.values()) for one in (made, remapped)]
    assert cuts[0] <= 1.1 * cuts[1], cuts
    costs = [objective(after, former, one, price=(1, 1, 1)) for one in (made, remapped)]
    assert costs[0] < costs[1], costs


def test_coupled_parts_are_told_only_where_they_share_evenly():
    """One heavy coupled cell: the limit of coupled weight gives way, and nothing is promised of it."""
    load = np.ones(125, int)
    load[124] = 15
    heavy_one = cube("hexa", 5)
    problem = coupled_problem(heavy_one, cube("hexa", 6, offset=(1, 0, 0))).problem
    first, second = problem.names
    components = {first: problem.components[first].replace(vwgt=load), second: problem.components[second]}
    uneven = CoupledProblem(components, problem.pairs)
    for one, told in ((problem, True), (uneven, False)):
        made = multiconstraint(one, (4, 6))
        assert (made.ncoupled[first] is not None) == told
        assert made.ncoupled[second] == 6
        assert not check_copartition(one, made, 0.05).findings


def test_multiconstraint_of_three_components_with_other_counts():
    before, after = chain(weight=heavy(0)), chain(weight=heavy(3))
    former = multiconstraint(before, (4, 3, 2), eps=0.1)
    made = corepartition(after, former, {"a": 3, "b": 4, "c": 2}, scheme="multiconstraint", eps=0.1)
    found = check_copartition(after, made, 0.1)
    # coupled cells weigh 1 or 5, and their limit is one heavy cell higher where nothing else is found
    assert {f.what for f in found.findings} <= {"coupled weight"}, found.findings
    assert dict(made.nparts) == {"a": 3, "b": 4, "c": 2}
    assert all(made.ncoupled.values())


@pytest.mark.parametrize("balance", ["total", "each"])
def test_a_pool_grows_and_shrinks(cubes, balance):
    _, problem = cubes
    former = monolithic(problem, processes=8, balance=balance)
    for pool in (10, 6):
        made = corepartition(problem, former, pool, scheme="monolithic",
                             scheme_options={"balance": balance})
        assert (made.shared, made.nprocs) == (True, pool)
        found = check_copartition(problem, made, 0.05)
        assert found.ok, found.findings
        if balance == "each":
            assert max(c.ub for c in evaluate(problem, made).components.values()) <= 0.05
    # several numbers add up to the size of the pool, as where one is made
    assert corepartition(problem, former, (4, 5), scheme="monolithic", preset="fast").nprocs == 9


def few_heavy_cells() -> CoupledProblem:
    """A grid of 36 cells beside two cells of weight 2, which no five processes can share evenly."""
    two = Graph.from_edges(2, [0], [1]).replace(vwgt=[2, 2])
    return CoupledProblem({"a": grid(6, 6), "b": two}, {("a", "b"): Interedges.from_pairs(36, 2, [0, 1], [0, 1])})


def test_a_component_of_few_heavy_cells_in_a_pool():
    """Balanced over as many processes as it has cells: so it is made, checked, and taken up again."""
    problem = few_heavy_cells()
    made = monolithic(problem, processes=5, balance="each")
    for one in (made, corepartition(problem, made, scheme="monolithic", scheme_options={"balance": "each"})):
        found = check_copartition(problem, one, 0.05, each_alone=True)
        assert found.ok, found.findings
    off = CoPartition({"a": made.a, "b": [0, 0]}, made.nparts, shared=True)
    assert "component b: part 0: weight at most 2" in str(check_copartition(problem, off, 0.05, each_alone=True))


def test_a_pool_of_more_processes_than_any_component_has_cells():
    """Components that are balanced each by itself may leave a process idle, one of them that fills the pool not."""
    one = Graph.from_edges(1, [], [])
    problem = CoupledProblem({"a": one, "b": one}, {("a", "b"): Interedges.from_pairs(1, 1, [0], [0])})
    made = monolithic(problem, processes=2, balance="each")
    assert check_copartition(problem, made, 0.05, each_alone=True).ok
    assert not check_copartition(problem, made, 0.05).ok


def test_connected_parts_of_a_pool_beside_few_heavy_cells():
    problem = few_heavy_cells()
    made = run_scheme("monolithic", problem, 5, scheme_options={"balance": "each"})
    apart = np.array(made.a)
    apart[[0, 35]] = apart[[35, 0]]
    scattered = CoPartition({"a": apart, "b": made.b}, made.nparts, shared=True)
    mended = contiguous(problem, scattered, Options(), balance="each")
    assert mended.b.tolist() == made.b.tolist()
    assert check_copartition(problem, mended, 0.05, each_alone=True).ok
