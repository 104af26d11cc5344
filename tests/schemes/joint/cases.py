"""What the tests of joint share: a chain of three components, what is promised, a state to move cells in."""

from __future__ import annotations

from itertools import pairwise

import numpy as np

from copart.algorithms import naive
from copart.coupling import CoPartition, CoupledProblem, Interedges
from copart.metrics import copartition_limit, part_weights
from copart.schemes.joint.cells import CoupledCells
from copart.schemes.joint.first import coupled_first

from ...helpers import grid


def chain() -> CoupledProblem:
    """Three grids, each beside the next."""
    ids = np.arange(400).reshape(20, 20)
    side = Interedges.from_pairs(400, 400, ids[:, -1], ids[:, 0])
    return CoupledProblem({name: grid(20, 20) for name in "abc"}, dict.fromkeys(pairwise("abc"), side))


def keeps_its_promises(problem: CoupledProblem, made: CoPartition, eps: float) -> None:
    for name, graph in problem.components.items():
        n, k, cells = made.nparts[name], made.ncoupled[name], problem.coupled(name)
        assert set(made[name].tolist()) == set(range(n))
        assert set(made[name][cells].tolist()) == set(range(k))
        total, load = graph.total_weight, int(graph.weights[cells].sum())
        assert part_weights(graph, made[name], n).max() <= copartition_limit(total, n, eps)
        coupled = np.bincount(made[name][cells], graph.weights[cells], k)
        assert coupled.max() <= copartition_limit(load, k, eps)


def state(problem: CoupledProblem, nparts: int, k: int, both: bool):
    count, coupled = dict.fromkeys(problem.names, nparts), dict.fromkeys(problem.names, k)
    alone = naive(problem, nparts)
    parts = {name: coupled_first(graph, problem.coupled(name), alone[name].copy(), nparts, k)
             for name, graph in problem.components.items()}
    cells = CoupledCells(problem, parts, coupled, both)
    return cells, cells.shares(cells.start(), np.full(cells.k, 10**6)), count
