"""From the coarsest levels to the cells: who leads whom, and what comes out."""

from __future__ import annotations

import numpy as np
import pytest

from copart.coupling import CoPartition, CoupledProblem, Interedges
from copart.metrics import edge_cut
from copart.options import Options
from copart.partitioner.rounds import Team
from copart.schemes.joint.annealing import Annealing
from copart.schemes.joint.descent import Descent, _following, _majority

from ...helpers import grid
from .cases import chain, keeps_its_promises

PRICE = np.array([1.0, 16.0, 120.0, 0.0, 0.0])


def task(problem, nparts, ncoupled, **options):
    return Annealing(problem, dict(zip(problem.names, nparts, strict=True)),
                     dict(zip(problem.names, ncoupled, strict=True)), False, PRICE, Options(**options))


def large_and_small():
    """A large grid beside a small one, cell by cell."""
    face = np.arange(20)
    return CoupledProblem.of_two(grid(80, 20), grid(4, 20), Interedges.from_pairs(1600, 80, 79 * 20 + face, face))


@pytest.mark.parametrize(("ncoupled", "led"), [((4, 2), {"b": "a"}), ((2, 4), {})])
def test_small_components_are_led_by_large_ones_with_as_many_coupled_parts(ncoupled, led):
    with Team(1) as team:
        assert Descent(task(large_and_small(), (8, 5), ncoupled), team).led == led


def test_nobody_is_led_where_all_are_alike():
    with Team(1) as team:
        assert Descent(task(chain(), (6, 6, 6), (3, 3, 3)), team).led == {}


@pytest.mark.parametrize("problem", [chain(), large_and_small()], ids=["chain", "led"])
@pytest.mark.parametrize("seed", [1, 2, 3])
def test_what_comes_out_keeps_both_balances(problem, seed):
    counts = [6, 4, 5][:len(problem.names)]
    ncoupled = [3, 2, 2][:len(problem.names)]
    job = task(problem, counts, ncoupled, seed=seed)
    with Team(1) as team:
        parts = Descent(job, team).parts()
    keeps_its_promises(problem, CoPartition(parts, job.nparts, job.ncoupled), 0.05)
    for name, graph in problem.components.items():
        # 140 seen where four of eight parts share the short side, 100 elsewhere
        assert edge_cut(graph, parts[name]) <= 160


def test_followers_take_the_part_that_they_face():
    problem = large_and_small()
    with Team(1) as team:
        descent = Descent(task(problem, (8, 5), (4, 2)), team)
        stage = descent.stages[0, 0]
        part = np.empty(descent.base.n, np.int32)
        part[stage.span("a")] = np.arange(20) // 5
        part[stage.span("b")] = descent.base.offset["b"]
        follows = _following(stage, part, "b", "a", 1)
    assert sorted(np.bincount(follows).tolist()) == [10, 10], "two groups of two neighbouring parts each"
    assert len(np.flatnonzero(np.diff(follows))) == 1


def test_the_majority_decides_and_no_part_is_left_without_a_row():
    votes = np.array([[5, 1, 0], [4, 0, 0], [3, 2, 0], [0, 9, 1]])
    assert _majority(votes[:, :2]).tolist() == [0, 0, 0, 1]
    # part 2 has a vote in the last row only, which is the only one of part 1
    assert _majority(votes).tolist() == [0, 0, 0, 1]
    votes[1, 2] = 3
    assert _majority(votes).tolist() == [0, 2, 0, 1]
