"""What a coupled step costs, against loops over processes and messages."""

from __future__ import annotations

import numpy as np
import pytest

from copart.checks import check_copartition
from copart.coupling import CoPartition, CoupledProblem, Interedges
from copart.errors import ConfigError
from copart.graph import Graph
from copart.metrics import StepCost, evaluate, step_cost

from ..helpers import grid


def random_case(seed):
    """Two to four components, some pairs of them coupled, weights, sizes of 0 and up; every third one in a pool."""
    rng = np.random.default_rng(seed)
    names = "abcd"[:rng.integers(2, 5)]
    graphs = {}
    for name in names:
        n = int(rng.integers(4, 30))
        u, v = rng.integers(0, n, (2, 3 * n))
        edges = np.unique(np.sort(np.stack([u, v])[:, u != v], axis=0), axis=1)
        graphs[name] = Graph.from_edges(n, *edges)
        if seed % 2:
            graphs[name] = graphs[name].replace(vwgt=rng.integers(1, 9, n), vsize=rng.integers(0, 4, n))
    pairs = {}
    for i, a in enumerate(names):
        for b in names[i + 1:]:
            if rng.random() < 0.7:
                m = int(rng.integers(1, 12))
                pairs[a, b] = Interedges.from_pairs(graphs[a].nvtxs, graphs[b].nvtxs,
                                                    rng.integers(0, graphs[a].nvtxs, m),
                                                    rng.integers(0, graphs[b].nvtxs, m))
    problem = CoupledProblem(graphs, pairs)
    shared = seed % 3 == 0
    count = dict.fromkeys(names, int(rng.integers(1, 5))) if shared else \
        {name: int(rng.integers(1, 5)) for name in names}
    made = CoPartition({name: rng.integers(0, count[name], graphs[name].nvtxs) for name in names}, count, shared=shared)
    cost = StepCost(t={"a": float(rng.integers(0, 4))}, t_m=float(rng.random()), alpha=float(rng.integers(0, 9)),
                    beta=float(rng.random()), substeps={"b": int(rng.integers(1, 20))})
    return problem, made, cost


def by_hand(problem, made, cost):
    """The definitions, cell by cell: T_reg by component, T_cpl, T_step and the share that waits."""
    at = cost.named(problem.names)
    rank = {(name, k): made.offset(name) + k for name in problem.names for k in range(made.nparts[name])}
    busy, coupling = [0.0] * made.nprocs, [0.0] * made.nprocs
    longest = {}
    for name, graph in problem.components.items():
        part, weight, size = made[name].tolist(), graph.weights.tolist(), graph.sizes.tolist()
        near = [graph.adjncy[graph.xadj[u]:graph.xadj[u + 1]].tolist() for u in range(graph.nvtxs)]
        own = []
        for k in range(made.nparts[name]):
            mine = [u for u in range(graph.nvtxs) if part[u] == k]
            neighbours = {part[v] for u in mine for v in near[u]} - {k}
            sends = sum(size[u] * len({part[v] for v in near[u]} - {k}) for u in mine)
            receives = sum(size[v] for v in {v for u in mine for v in near[u] if part[v] != k})
            own.append(at.substeps[name] * (at.t[name] * sum(weight[u] for u in mine) + at.alpha * len(neighbours)
                                            + at.beta * (sends + receives)))
            coupled = set(problem.coupled(name).tolist())
            coupling[rank[name, k]] += at.t_m[name] * sum(weight[u] for u in mine if u in coupled)
            busy[rank[name, k]] += own[-1]
        longest[name] = max(own)
    for pair, inter in problem.pairs.items():
        u, v, _ = (x.tolist() for x in inter.pairs())
        for (one, two), cells in ((pair, set(zip(u, v, strict=True))), (pair[::-1], set(zip(v, u, strict=True)))):
            size = problem.components[one].sizes.tolist()
            messages = {}
            for cell, there in {(x, int(made[two][y])) for x, y in cells}:
                ends = rank[one, int(made[one][cell])], rank[two, there]
                messages[ends] = messages.get(ends, 0) + size[cell]
            for ends, data in messages.items():
                if data and ends[0] != ends[1]:
                    for process in ends:
                        coupling[process] += at.alpha + at.beta * data
    T_step = (sum(longest.values()) if made.shared else max(longest.values())) + max(coupling)
    mean = sum(x + y for x, y in zip(busy, coupling, strict=True)) / made.nprocs
    return longest, max(coupling), T_step, 1 - mean / T_step


@pytest.mark.parametrize("seed", range(60))
def test_the_step_is_that_of_the_definitions(seed):
    problem, made, cost = random_case(seed)
    figures = step_cost(problem, made, cost)
    longest, T_cpl, T_step, waits = by_hand(problem, made, cost)
    assert dict(figures.T_reg) == pytest.approx(longest)
    assert (figures.T_cpl, figures.T_step, figures.waits) == pytest.approx((T_cpl, T_step, waits))
    assert figures.regular + figures.T_cpl == pytest.approx(figures.T_step)
    # and the check, which has code of its own, derives the same
    metrics = evaluate(problem, made, cost)
    told = metrics.to_dict()
    report = check_copartition(problem, made, claimed=told, whole=True)
    assert not [f for f in report.findings if f.what == "claimed figures"]
    assert report.figures["step"]["T_step"] == pytest.approx(T_step)
    told["step"]["waits"] += 0.01
    told["maxZ"] += 1
    wrong = [f for f in check_copartition(problem, made, claimed=told).findings if f.what == "claimed figures"]
    assert len(wrong) == 2


def test_a_pool_computes_one_component_after_the_other():
    line = grid(4, 1)
    problem = CoupledProblem.of_two(line, line, Interedges.from_pairs(4, 4, [0, 3], [0, 3]))
    part = {"a": [0, 0, 1, 1], "b": [0, 0, 1, 1]}
    cost = StepCost(alpha=0, beta=0)
    apart = step_cost(problem, CoPartition(part, {"a": 2, "b": 2}), cost)
    pool = step_cost(problem, CoPartition(part, {"a": 2, "b": 2}, shared=True), cost)
    assert (apart.T_step, apart.T_cpl, apart.waits) == (3.0, 1.0, 0.0)
    assert (pool.T_step, pool.T_cpl, pool.waits) == (6.0, 2.0, 0.0)
    # each exchanges with itself only
    assert step_cost(problem, CoPartition(part, {"a": 2, "b": 2}, shared=True), StepCost(t=0, t_m=0)).T_cpl == 0.0


def test_constants_are_named_and_checked():
    assert StepCost().to_dict() == {"t": 1.0, "t_m": 1.0, "alpha": 5.0, "beta": 0.01, "substeps": 1.0}
    said = str(StepCost(t={"a": 2}).named(["a", "b"]))
    assert said == "t 2 (a) 1 (b), t_m 1, alpha 5, beta 0.01, substeps 1"
    problem, made, _ = random_case(1)
    with pytest.raises(ConfigError, match="step cost: t: no component 'x'; known: a, b"):
        evaluate(problem, made, StepCost(t={"x": 1}))
    for wrong, message in (({"alpha": -1}, "alpha: must be at least 0"), ({"t": {"a": "much"}}, "t of a: needs a num"),
                           ({"beta": {"a": 1}}, "beta is one number")):
        with pytest.raises(ConfigError, match=message):
            StepCost(**wrong)
