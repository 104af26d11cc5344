"""`joint` run again: its annealing counts what moves, and what it gives is never dearer than without it."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from copart.algorithms import projrepart
from copart.checks import check_copartition
from copart.coupling import CoPartition, CoupledProblem, Interedges
from copart.dynamic.adaptive import adaptive_repartition
from copart.dynamic.rerun import Rerun
from copart.errors import PartitionError
from copart.graph import Graph
from copart.interface.price import PRICE
from copart.kernels import coupled as kernels
from copart.mesh import cube
from copart.metrics import evaluate
from copart.migration.plan import MigrationPlan
from copart.options import Options
from copart.plans.components import coupled_problem
from copart.schemes.corepartition import corepartition, objective
from copart.schemes.joint import joint
from copart.schemes.joint.again import _drawn, reanneal
from copart.schemes.joint.cells import CoupledCells
from tests.schemes.test_corepartition import chain, heavy

from ...helpers import grid


@pytest.fixture(scope="module")
def cubes() -> tuple[CoupledProblem, CoupledProblem]:
    """Two cubes that do not match, with a heavy corner at one end of the interface, and then at the other."""
    plain = coupled_problem(cube("hexa", 12), cube("hexa", 15, offset=(1, 0, 0)), names=("left", "right")).problem

    def loaded(y: float) -> CoupledProblem:
        graphs = {}
        for name, graph in plain.components.items():
            near = ((graph.coords - np.array([1, y, 0.5])) ** 2).sum(axis=1) < 0.09
            graphs[name] = graph.replace(vwgt=np.where(near, 6, 1), vsize=np.where(near, 3, 1))
        return CoupledProblem(graphs, dict(plain.pairs))

    return loaded(0.3), loaded(0.6)


def test_better_than_without_annealing(cubes):
    before, after = cubes
    former = joint(before, (12, 16))
    made = {scheme: corepartition(after, former, scheme=scheme) for scheme in ("projrepart", "joint")}
    cost = {scheme: objective(after, former, one) for scheme, one in made.items()}
    figures = {scheme: evaluate(after, one) for scheme, one in made.items()}
    assert cost["joint"] < 0.97 * cost["projrepart"], cost
    assert figures["joint"].pair.totZ < figures["projrepart"].pair.totZ
    found = check_copartition(after, made["joint"], 0.05)
    assert found.ok, found.findings
    # far less moves than from scratch, for the same traffic
    scratch = joint(after, (12, 16))
    volume = {name: MigrationPlan.between(former, one, after).volume
              for name, one in (("again", made["joint"]), ("scratch", scratch))}
    assert 2 * volume["again"] < volume["scratch"], volume


def test_same_bytes_on_two_threads(cubes):
    before, after = cubes
    former = joint(before, (6, 8))
    one, two = (corepartition(after, former, scheme="joint", threads=threads, seed=3) for threads in (1, 2))
    assert {name: part.tobytes() for name, part in one.parts.items()} \
        == {name: part.tobytes() for name, part in two.parts.items()}


@settings(max_examples=12)
@given(st.integers(2, 3), st.integers(0, 8), st.sampled_from([0.2, 5, 200]), st.sampled_from([(6, 8, 4), (5, 9, 5)]),
       st.integers(1, 9), st.sampled_from([PRICE, (3, 1, 0), (0.5, 0, 20)]))
def test_never_dearer_than_projrepart(n, row, alpha, counts, seed, price):
    before, after = chain(n, 14, heavy(0, 14)), chain(n, 14, heavy(row, 14))
    former = projrepart(before, (6, 8, 4)[:n], eps=0.1)
    options = {"nparts": counts[:n], "alpha": alpha, "price": price, "seed": seed, "eps": 0.1}
    plain, made = (corepartition(after, former, scheme=scheme, **options) for scheme in ("projrepart", "joint"))
    assert objective(after, former, made, alpha, price) <= objective(after, former, plain, alpha, price)
    found, other = (check_copartition(after, one, 0.1) for one in (made, plain))
    assert found.ok or not other.ok, found.findings
    assert dict(made.ncoupled) == dict(plain.ncoupled)


def test_where_data_stays_is_what_counts_at_small_alpha(cubes):
    before, _ = cubes
    former = joint(before, (12, 16), "paper")
    same = reanneal(Rerun(before, former, None, None, 1e-3, PRICE, Options()), former)
    assert same is not None
    for name, part in same.items():
        assert part.tolist() == former[name][before.coupled(name)].tolist()
    moved = []
    for alpha in (0.01, 0.3, 30):
        cells = reanneal(Rerun(before, former, None, None, alpha, (1, 0, 0), Options()), former)
        assert cells is not None
        moved.append(sum(int((part != former[name][before.coupled(name)]).sum()) for name, part in cells.items()))
    assert moved[0] <= moved[1] < moved[2], moved


@given(st.integers(0, 10**6), st.sampled_from([0.25, 1, 3, 12.5]))
def test_what_is_annealed_differs_as_the_objective_does(seed, alpha):
    """The kernels' totals against the figures of whole co-partitions."""
    rng = np.random.default_rng(seed)
    side, ids = 5, np.arange(25).reshape(5, 5)
    graphs = {name: grid(side, side, vsize=rng.integers(1, 5, 25)) for name in "ab"}
    problem = CoupledProblem.of_two(graphs["a"], graphs["b"], Interedges.from_pairs(
        25, 25, ids[:, 0].repeat(2), rng.integers(0, 25, 10)))
    former = CoPartition({name: rng.integers(0, 4, 25) for name in "ab"}, {"a": 4, "b": 4})
    k, price = 3, (2.0, 1.0, 7.0)
    start = {name: rng.integers(0, 4, 25).astype(np.int32) for name in "ab"}
    for name in "ab":
        cells = problem.coupled(name)
        start[name][cells] = rng.integers(0, k, len(cells))
    cells = CoupledCells(problem, start, {"a": k, "b": k}, True)
    edge, datum = (round(8 * alpha * price[0]), 8)
    g = _drawn(cells, {name: former[name] for name in "ab"}, edge, datum)
    totals, costs = [], []
    for _ in range(2):
        part = np.concatenate([rng.integers(0, k, len(cells.members[name])) + cells.offset[name] for name in "ab"])
        s = cells.shares(part.astype(np.int32), np.zeros(cells.k, np.int64), g)
        assert kernels.share_out(g, s) == s.total[2]
        totals.append(s.total @ np.array([price[0] / edge, price[1] / 2, price[2]]))
        made = CoPartition(cells.scatter(s.part), former.nparts)
        costs.append(objective(problem, former, made, alpha, price) / alpha)
    assert totals[1] - totals[0] == pytest.approx(costs[1] - costs[0])


def test_none_where_heavy_cells_cannot_be_balanced():
    square = grid(6, 6, vwgt=[5 if i in (0, 6, 12) else 1 for i in range(36)])
    problem = CoupledProblem.of_two(square, square, Interedges.from_pairs(36, 36, [0, 6, 12], [0, 6, 12]))
    former = CoPartition({name: [0 if i in (0, 6) else 1 if i == 12 else i % 4 for i in range(36)] for name in "ab"},
                         {"a": 4, "b": 4}, {"a": 2, "b": 2})
    # 15 over two parts: 8 at most, but two of three cells are in one of them
    assert reanneal(Rerun(problem, former, None, None, 5, PRICE, Options()), former) is None


def test_one_coupled_part_and_data_without_size():
    line = Graph.from_edges(6, range(5), range(1, 6), vsize=np.zeros(6, int))
    problem = CoupledProblem.of_two(line, line, Interedges.from_pairs(6, 6, [5], [0]))
    former = CoPartition({"a": [0, 0, 0, 1, 1, 1], "b": [1, 1, 1, 0, 0, 0]}, {"a": 2, "b": 2}, {"a": 1, "b": 1})
    made = corepartition(problem, former, scheme="joint", eps=0)
    assert (made.a.tolist(), made.b.tolist()) == (former.a.tolist(), former.b.tolist())


def test_where_all_cells_are_coupled_loads_are_held_to_their_limits():
    weights = [1, 0, 2, 2, 5, 3, 0, 2]
    graphs = [Graph.from_edges(8, range(7), range(1, 8), vwgt=load)
              for load in ([3, 4, 3, 4, 1, 4, 1, 3], [2, 1, 3, 2, 3, 2, 1, 3])]
    problem = CoupledProblem(dict(zip("ab", graphs, strict=True)),
                             {("a", "b"): Interedges.from_pairs(8, 8, range(8), range(8))},
                             {"a": weights, "b": weights})
    half = [0] * 4 + [1] * 4
    former = CoPartition({"a": half, "b": half}, {"a": 2, "b": 2})
    assert check_copartition(problem, corepartition(problem, former, scheme="joint", eps=0.2), 0.2).ok
    with pytest.raises(PartitionError, match="fixed"):
        adaptive_repartition(graphs[1], half, 2, 2, fixed=[0] * 7 + [1], eps=0)


@pytest.mark.parametrize("left", [0, 1])
def test_components_that_meet_no_other_any_more(left):
    """A body has slid off, or all have: what is still coupled is annealed, the rest stays."""
    before = chain(3)
    former = joint(before, (4, 4, 2))
    after = CoupledProblem({name: graph.replace(vwgt=heavy(4)(0)) for name, graph in before.components.items()},
                           {pair: relation if i < left else Interedges.from_pairs(144, 144, [], [])
                            for i, (pair, relation) in enumerate(before.pairs.items())})
    made = corepartition(after, former, scheme="joint", eps=0.1)
    assert check_copartition(after, made, 0.1).ok
    alone = corepartition(after, former, scheme="naive", eps=0.1)
    assert objective(after, former, made) <= objective(after, former, alone)
    again = reanneal(Rerun(after, former, None, None, 5.0, PRICE, Options(eps=0.1)), made)
    assert again is None if left == 0 else set(again) == {"a", "b"}


def test_what_cannot_be_coupled_in_balance_is_partitioned_alone():
    """One part cannot hold the coupled cells, two cannot share them evenly; each component alone has a partition."""
    problem = CoupledProblem({"a": Graph.from_edges(6, range(5), range(1, 6), vwgt=[1, 4, 5, 1, 4, 5]),
                              "b": Graph.from_edges(4, range(3), range(1, 4))},
                             {("a", "b"): Interedges.from_pairs(6, 4, [0, 2], [1, 3])})
    former = CoPartition({"a": [1, 1, 0, 2, 2, 3], "b": [1, 1, 0, 0]}, {"a": 4, "b": 2})
    assert check_copartition(problem, corepartition(problem, former, scheme="joint", eps=0.1), 0.1).ok
    with pytest.raises(PartitionError):
        corepartition(problem, former, scheme="projrepart", eps=0.1)


@pytest.mark.parametrize("pairs", [{}, {("a", "b"): Interedges.from_pairs(12, 12, [10, 11], [0, 1])}])
@pytest.mark.parametrize("asked", [{}, {"a": 1, "b": 1}])
def test_components_that_are_coupled_with_no_other(pairs, asked):
    """As where interfaces have moved apart: `joint` makes such plans, and takes them up again."""
    problem = CoupledProblem({name: grid(4, 3) for name in "abc"}, pairs)
    former = CoPartition(joint(problem, (2, 3, 2)).parts, {"a": 2, "b": 3, "c": 2}, asked)
    for scheme in ("joint", "auto"):
        made = corepartition(problem, former, scheme=scheme)
        assert check_copartition(problem, made, 0.05).ok
        assert corepartition(problem, former, (3, 2, 2), scheme=scheme).nparts["a"] == 3
