"""The process graph of a coupled run, the figures of a placement and the placements themselves, by brute force."""

from __future__ import annotations

from itertools import product

import numpy as np
import pytest

from copart.algorithms import projrepart
from copart.coupling import CoPartition, CoupledProblem, Interedges
from copart.errors import ConfigError, MappingError
from copart.mapping.coupled.placed import placed
from copart.mapping.coupled.placements import place, placements
from copart.mapping.coupled.processes import PHASES, process_graph
from copart.mapping.machine import machine
from copart.mapping.one_to_one import objective

from ..helpers import grid


def coupled_grids(n: int = 24, parts: tuple[int, int] = (8, 24)) -> tuple[CoupledProblem, CoPartition]:
    """Two square grids that meet along one side, the second twice as fine."""
    a, b = grid(n, n), grid(2 * n, 2 * n)
    last = (n - 1) * n + np.arange(n)
    inter = Interedges.from_pairs(n * n, 4 * n * n, np.repeat(last, 2), np.arange(2 * n))
    problem = CoupledProblem.of_two(a, b, inter)
    return problem, projrepart(problem, parts)


def test_traffic_is_what_cells_send():
    problem, made = coupled_grids(8, (3, 5))
    of = process_graph(problem, made, iterations={"a": 3, "b": 2}, exchanges=4)
    want = {phase: np.zeros((8, 8), int) for phase in PHASES}
    for name, times in (("a", 3), ("b", 2)):
        graph, part, off = problem.components[name], made[name], made.offset(name)
        for v in range(graph.nvtxs):
            around = graph.adjncy[graph.xadj[v]:graph.xadj[v + 1]]
            for q in {int(part[u]) for u in around} - {int(part[v])}:
                want["regular"][part[v] + off, q + off] += times
    seen = set()
    for u, v in zip(*problem.interedges.pairs()[:2], strict=True):
        for key in ((0, u, made.b[v]), (1, v, made.a[u])):
            if key not in seen:
                seen.add(key)
                p, q = int(made.a[u]), int(made.b[v]) + 3
                want["coupling"][(p, q) if key[0] == 0 else (q, p)] += 4
    for phase in PHASES:
        assert (of.traffic[phase].toarray() == want[phase]).all()
    assert of.load.sum() == problem.a.nvtxs + problem.b.nvtxs
    both = sum(want.values())
    undirected = np.zeros((8, 8), int)
    u, v, w = of.graph().edges()
    undirected[u, v] = undirected[v, u] = w
    assert (undirected == both + both.T).all()


def test_figures_of_a_placement():
    problem, made = coupled_grids(10, (4, 6))
    of, on = process_graph(problem, made), machine("2:2:3", "1:5:30")
    where = np.random.default_rng(4).permutation(12)[:10]
    got = placed(of, on, where)
    for phase in PHASES:
        m, figures = of.traffic[phase].toarray(), got.phases[phase]
        far = {p: {q: 0 if p == q else 1 if p // 2 == q // 2 else 5 if p // 4 == q // 4 else 30 for q in range(12)}
               for p in range(12)}
        pairs = [(p, q) for p, q in product(range(10), range(10)) if m[p, q]]
        leave = [(p, q) for p, q in pairs if where[p] // 4 != where[q] // 4]
        assert (figures.volume, figures.messages) == (m.sum(), len(pairs))
        assert (figures.inter_node_volume, figures.inter_node_messages) == (sum(m[e] for e in leave), len(leave))
        assert figures.hops == sum(m[p, q] * far[where[p]][where[q]] for p, q in pairs)
        by = {d: sum(int(m[p, q]) for p, q in pairs if far[where[p]][where[q]] == d) for d in (1, 5, 30)}
        assert figures.by_distance == {d: v for d, v in by.items() if v}
        busy = [sum(m[e] for e in leave if h in (where[e[0]] // 4, where[e[1]] // 4)) for h in range(3)]
        assert figures.max_node_volume == max(busy)


def test_placements_and_their_promises():
    problem, made = coupled_grids()
    of, on = process_graph(problem, made, iterations=2), machine("4:2:5", "1:5:30")
    linear, disjoint, shared = placements(of, on)
    assert [p.name for p in (linear, disjoint, shared)] == ["linear", "disjoint", "shared"]
    assert linear.processor.tolist() == list(range(32))
    hosts = [set(disjoint.host[lo:hi].tolist()) for lo, hi in of.ranges.values()]
    assert not hosts[0] & hosts[1], "codes share a host"
    weighed = of.graph(of.equal_weights())
    costs = [objective(weighed, on, p.processor) for p in (linear, disjoint, shared)]
    assert costs[2] == min(costs), costs
    # with both phases weighed the same, coupled parts meet on hosts (observed 0.15 of the linear order)
    assert shared.phases["coupling"].inter_node_volume <= 0.6 * linear.phases["coupling"].inter_node_volume
    by_traffic = place(of, on, phase_weights="traffic")
    assert objective(of.graph(), on, by_traffic.processor) <= objective(of.graph(), on, shared.processor)
    again = place(of, on)
    assert (again.processor == shared.processor).all()


def test_a_shared_pool_has_no_hosts_apart():
    problem, _ = coupled_grids(6, (2, 2))
    pool = CoPartition({"a": np.arange(36) % 4, "b": np.arange(144) % 4}, {"a": 4, "b": 4}, shared=True)
    of, on = process_graph(problem, pool), machine("2:2")
    assert (of.nprocs, of.load.sum()) == (4, 180)
    assert [p.name for p in placements(of, on)] == ["linear", "shared"]
    with pytest.raises(MappingError, match="hosts of its own"):
        place(of, on, "disjoint")


@pytest.mark.parametrize(("args", "error", "rule"), [
    (("2:3",), MappingError, "has 6 slots for 32 processes"),
    (("4:8", None, "somewhere"), ConfigError, "choose one of linear, disjoint, shared"),
    (("4:8", "strange"), ConfigError, "choose one of equal, traffic, or two numbers"),
    (("4:8", (0, 0)), ConfigError, "not negative nor both 0"),
    (("4:8", (1, -1)), ConfigError, "not negative"),
])
def test_bad_requests(args, error, rule):
    of = process_graph(*coupled_grids(12))
    hierarchy, weights, kind = (*args, *(None, "shared")[len(args) - 1:])
    with pytest.raises(error, match=rule):
        place(of, machine(hierarchy), kind or "shared", phase_weights=weights or "equal")


def test_processors_twice():
    of = process_graph(*coupled_grids(12))
    with pytest.raises(MappingError, match="two processes have the same one"):
        placed(of, machine("4:8"), np.zeros(32, int))
