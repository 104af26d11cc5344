"""Every scheme shares out coupled weights where these are not the weights of the cells, and keeps its promises."""

from __future__ import annotations

from functools import cache

import numpy as np
import pytest

from copart.algorithms import aware, naive, projrepart
from copart.checks import check_copartition
from copart.coupling import CoupledProblem
from copart.errors import PartitionError
from copart.interface.counts import choices_of, coupled_counts
from copart.interface.room import within_room
from copart.mesh import cube, dual_graph, find_interedges
from copart.metrics import copartition_limit, evaluate
from copart.metrics.promise import promised
from copart.options import Options
from copart.schemes.corepartition import corepartition
from copart.schemes.registry import run_scheme

PARTS = {"a": 6, "b": 8}
COUPLED = {"a": 3, "b": 4}


@cache
def cubes():
    """Two cubes that share a face, 6^3 and 8^3 cells."""
    a, b = cube("hexa", 6), cube("hexa", 8, offset=(1, 0, 0))
    return dual_graph(a), dual_graph(b), find_interedges(a, b)


def weighed(seed: int, loads: bool = False) -> CoupledProblem:
    """The cubes with random coupled weights; they grow ninefold from one side of the interface to the other."""
    a, b, meet = cubes()
    rng = np.random.default_rng(seed)
    if loads:
        a, b = (g.replace(vwgt=rng.integers(1, 5, g.nvtxs)) for g in (a, b))
    own = {name: (10 + 80 * g.coords[:, 1]).astype(int) + rng.integers(0, 9, g.nvtxs)
           for name, g in (("a", a), ("b", b))}
    return CoupledProblem.of_two(a, b, meet, coupled_weights=own)


@pytest.mark.parametrize("scheme", ["aware", "projrepart", "joint"])
@pytest.mark.parametrize("seed", [1, 2])
def test_asked_for_counts_are_kept_and_balanced(scheme, seed):
    problem = weighed(seed, loads=seed == 2)
    made = run_scheme(scheme, problem, PARTS, COUPLED, seed=seed)
    report = check_copartition(problem, made, 0.05, evaluate(problem, made).to_dict(), whole=True)
    assert report.ok, report.findings
    assert dict(made.ncoupled) == COUPLED
    # the same scheme does something else for the weights of the cells
    plain = CoupledProblem(problem.components, problem.pairs)
    other = run_scheme(scheme, plain, PARTS, COUPLED, seed=seed)
    assert evaluate(problem, other).a.ub_cpl > 0.05


def test_multiconstraint_balances_both():
    problem = weighed(3)
    made = run_scheme("multiconstraint", problem, PARTS, seed=1)
    for name, graph in problem.components.items():
        metrics = evaluate(problem, made).components[name]
        total, n = int(problem.coupled_load(name).sum()), PARTS[name]
        assert metrics.max_weight <= copartition_limit(graph.nvtxs, n, 0.05)
        # cells of unequal weight may need the heaviest one more
        assert metrics.max_coupled < copartition_limit(total, n, 0.05) + problem.coupled_load(name).max()


def test_joint_is_no_worse_than_alone():
    problem = weighed(4)
    made, alone = (run_scheme(name, problem, PARTS, seed=2) for name in ("joint", "naive"))
    mine, theirs = promised(problem, made), promised(problem, alone)
    for name in PARTS:
        assert mine.max_coupled[name] <= theirs.max_coupled[name]
    assert mine.totZ <= theirs.totZ
    assert mine.coupled_weight == {name: problem.coupled_load(name).sum() for name in PARTS}


@pytest.mark.parametrize("scheme", ["aware", "projrepart", "joint", "multiconstraint"])
def test_run_again(scheme):
    problem = weighed(5)
    before = CoupledProblem(problem.components, problem.pairs)
    former = run_scheme("aware", before, PARTS, COUPLED, seed=1)
    made = corepartition(problem, former, scheme=scheme, seed=1)
    assert evaluate(problem, made).a.ub_cpl < 0.5 * evaluate(problem, former).a.ub_cpl
    if scheme != "multiconstraint":
        assert check_copartition(problem, made, 0.05).ok


def test_natural_counts_are_those_of_the_coupled_weight():
    problem = weighed(6)
    plain = CoupledProblem(problem.components, problem.pairs)
    lonely = np.zeros(problem.a.nvtxs, int)
    lonely[problem.coupled("a")[0]] = 100
    one = CoupledProblem(problem.components, problem.pairs, {"a": lonely})
    assert coupled_counts(plain, PARTS, None)["a"] > 1
    # all work is in one cell: no second part can have an equal share
    assert choices_of(one, "a", 6, None, Options()) == [1]


def test_where_room_is_scarce_both_limits_hold():
    """A third of the interface has all the work: equal shares of work would crowd the rest into one part."""
    a, b, meet = cubes()
    coords, coupled = a.coords, np.zeros(a.nvtxs, bool)
    coupled[meet.coupled_a] = True
    graph = a.replace(vwgt=np.where(coupled, 3, 1))
    own = np.where(coords[:, 1] < 1 / 3, 20, 1)
    problem = CoupledProblem.of_two(graph, b, meet, coupled_weights={"a": own})
    for scheme in (aware, projrepart):
        made = scheme(problem, PARTS, COUPLED, seed=1)
        assert check_copartition(problem, made, 0.05).ok
    # work alone in three bands: the widest of them outweighs a part
    cells = problem.coupled("a")
    bands = np.searchsorted([1 / 6, 1 / 3], coords[cells, 1]).astype(np.int32)
    room = copartition_limit(graph.total_weight, 6, 0.05)
    assert graph.weights[cells][bands == 2].sum() > room
    found = within_room(problem, "a", graph.subgraph(cells), bands, 3, 6, Options())
    assert max(graph.weights[cells][found == k].sum() for k in range(3)) <= room
    load = problem.coupled_load("a")
    assert max(load[found == k].sum() for k in range(3)) <= copartition_limit(int(load.sum()), 3, 0.05)


def test_what_cannot_be_shared_evenly_is_refused():
    a, b, meet = cubes()
    heavy = np.ones(a.nvtxs, int)
    heavy[meet.coupled_a[0]] = 1000
    problem = CoupledProblem.of_two(a, b, meet, coupled_weights={"a": heavy})
    with pytest.raises(PartitionError, match="component a"):
        aware(problem, PARTS, COUPLED)
    # nobody has asked for a number: one part gets all
    made = aware(problem, PARTS)
    assert made.ncoupled["a"] == 1
    assert check_copartition(problem, made, 0.05).ok
    assert naive(problem, PARTS).parts["a"].tolist() == naive(CoupledProblem.of_two(a, b, meet), PARTS).a.tolist()
