"""Figures of problems whose coupled weights are not those of the cells, against loops over the cells."""

from __future__ import annotations

import numpy as np
import pytest

from copart.checks import check_copartition
from copart.coupling import CoPartition, CoupledProblem, Interedges
from copart.errors import CouplingError
from copart.metrics import StepCost, evaluate
from copart.metrics.parts import part_metrics
from copart.metrics.promise import promised

from ..helpers import grid
from .test_step import random_case


def weighed_case(seed):
    """A random case in which some components have coupled weights, and may have the one number of coupled parts."""
    problem, made, cost = random_case(seed)
    rng = np.random.default_rng(seed + 1000)
    own = {name: rng.integers(1, 50, graph.nvtxs) for name, graph in problem.components.items() if rng.random() < 0.7}
    own.setdefault("a", rng.integers(1, 50, problem.a.nvtxs))
    return CoupledProblem(problem.components, problem.pairs, own), made, cost, own


@pytest.mark.parametrize("seed", range(40))
def test_figures_are_sums_of_coupled_weights(seed):
    problem, made, cost, own = weighed_case(seed)
    metrics, parts, paid = evaluate(problem, made, cost), part_metrics(problem, made), promised(problem, made)
    coupling = [0.0] * made.nprocs
    for name, graph in problem.components.items():
        weight = own.get(name, graph.weights).tolist()
        load = [0] * made.nparts[name]
        for v in problem.coupled(name).tolist():
            load[made[name][v]] += weight[v]
        assert parts[name].coupled_load.tolist() == load
        assert metrics.components[name].max_coupled == max(load) == paid.max_coupled[name]
        assert paid.coupled_weight[name] == sum(load)
        owners = len({int(made[name][v]) for v in problem.coupled(name)})
        if owners:
            assert metrics.components[name].ub_cpl == pytest.approx(max(load) * owners / sum(load) - 1)
        for k, x in enumerate(load):
            coupling[made.offset(name) + k] += x
        # the work of the own phase is that of the cells
        assert metrics.components[name].max_weight == max(
            graph.weights[made[name] == k].sum() for k in range(made.nparts[name]))
    only_work = StepCost(alpha=0, beta=0)
    assert evaluate(problem, made, only_work).step.T_cpl == pytest.approx(max(coupling))
    told = metrics.to_dict()
    report = check_copartition(problem, made, claimed=told, whole=True)
    assert not [f for f in report.findings if f.what == "claimed figures"]
    plain = CoupledProblem(problem.components, problem.pairs)
    if told != evaluate(plain, made, cost).to_dict():
        report = check_copartition(plain, made, claimed=told, whole=True)
        assert [f for f in report.findings if f.what == "claimed figures"]


def facing(own=None):
    """Two squares that share a side, cell by cell."""
    square, ids = grid(4, 4), np.arange(16).reshape(4, 4)
    return CoupledProblem.of_two(square, square, Interedges.from_pairs(16, 16, ids[:, -1], ids[:, 0]),
                                 coupled_weights=own)


def test_check_judges_balance_by_coupled_weight():
    ones = np.ones(16, int)
    heavy = ones.copy()
    heavy[[3, 7]] = 9
    made = CoPartition({"a": np.repeat([0, 1], 8), "b": np.repeat([0, 1], 8)}, {"a": 2, "b": 2}, {"a": 2, "b": 2})
    assert check_copartition(facing(), made, 0.05).ok
    assert check_copartition(facing({"a": ones}), made, 0.05).ok
    findings = check_copartition(facing({"a": heavy}), made, 0.05).findings
    assert len(findings) == 1
    assert "coupled weight at most 10" in str(findings[0])
    assert "18" in str(findings[0])


def test_the_load_of_coupled_cells():
    problem = facing({"b": np.arange(16)})
    assert problem.coupled_load("a").tolist() == [1, 1, 1, 1]
    assert problem.coupled_load("b").tolist() == [0, 4, 8, 12]
    assert (problem.own_weights("a"), problem.own_weights("b")) == (False, True)


@pytest.mark.parametrize(("own", "message"), [
    ({"c": np.ones(16, int)}, "no component 'c'; known: a, b"),
    ({"a": np.ones(15, int)}, "coupled weights of a: needs 16"),
    ({"a": np.r_[-1, np.ones(15, int)]}, "coupled weights of a: 1 of 16 entries are negative"),
    ({"a": np.full(16, 0.5)}, "coupled weights of a: 16 of 16 entries are not whole numbers"),
    ({"a": np.arange(16) % 4 != 3}, "coupled weights of a: are 0 in all 4 coupled cells"),
    ([1, 2], "coupled weights: need a mapping"),
])
def test_unusable_ones_are_refused(own, message):
    with pytest.raises(CouplingError, match=message):
        facing(own)
