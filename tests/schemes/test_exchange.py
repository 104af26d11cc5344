"""Parts that send little, whatever the scheme: nothing of the coupling changes, and what is asked for gets less."""

from __future__ import annotations

from typing import get_args

import numpy as np
import pytest

import copart
from copart.checks import check_copartition
from copart.coupling import CoupledProblem, Interedges
from copart.errors import ConfigError, NotApplicableError
from copart.hypergraph import Hypergraph
from copart.metrics import evaluate, evaluate_hypergraph
from copart.names import ExchangeObjective
from copart.options import Options
from copart.partitioner.umpa import OBJECTIVES
from copart.plans.verify import check_plan
from copart.schemes.exchange import less_exchange
from copart.schemes.registry import SCHEMES, run_scheme

from ..helpers import grid

NAMES = get_args(ExchangeObjective)


@pytest.fixture(scope="module")
def problem() -> CoupledProblem:
    ids = np.arange(12**3).reshape(12, 12, 12)
    side = Interedges.from_pairs(12**3, 12**3, ids[:, :, -1].ravel(), ids[:, :, 0].ravel())
    return CoupledProblem.of_two(grid(12, 12, 12), grid(12, 12, 12), side)


def metrics_of(problem, made, objective):
    """The metrics of an objective in each component, first things first."""
    found = [evaluate_hypergraph(Hypergraph.column_net(g), made[n], made.nparts[n]).to_dict()
             for n, g in problem.components.items()]
    return [tuple(one[name] for name in OBJECTIVES[objective].metrics) for one in found]


@pytest.mark.parametrize("objective", NAMES)
@pytest.mark.parametrize("scheme", [name for name, one in SCHEMES.items() if not one.shares_pool])
def test_the_coupling_stays_and_the_objective_gets_less(problem, scheme, objective):
    plain = run_scheme(scheme, problem, (12, 16), preset="fast")
    made = run_scheme(scheme, problem, (12, 16), scheme_options={"objective": objective}, preset="fast")
    for name in problem.names:
        cells = problem.coupled(name)
        assert (made[name][cells] == plain[name][cells]).all()
    assert evaluate(problem, made).pair.to_dict() == evaluate(problem, plain).pair.to_dict()
    assert check_copartition(problem, made, 0.05).ok
    before, after = metrics_of(problem, plain, objective), metrics_of(problem, made, objective)
    assert all(b <= a for a, b in zip(before, after, strict=True))
    # of these cubes only a face is held
    assert after != before


def test_a_pool_and_connected_parts_are_refused(problem):
    with pytest.raises(NotApplicableError, match=r"^objective: is for components on processes of their own"):
        run_scheme("monolithic", problem, 8, scheme_options={"objective": "volume"})
    with pytest.raises(ConfigError, match=r"^objective: is not available with contiguous"):
        run_scheme("naive", problem, (4, 4), scheme_options={"objective": "volume"}, contiguous=True)
    with pytest.raises(ConfigError, match="objective: 'speed' is not known"):
        run_scheme("naive", problem, (4, 4), scheme_options={"objective": "speed"})


def test_the_same_for_the_same_seed_on_any_threads(problem):
    plain = run_scheme("joint", problem, (12, 16))
    one, two = (less_exchange(problem, plain, "messages", Options(threads=t)) for t in (1, 2))
    assert all((one[name] == two[name]).all() for name in problem.names)


def test_a_written_plan_with_an_objective_is_found_good(tmp_path):
    blocks = [copart.mesh.cube("hexa", 8, offset=(dx, 0, 0)) for dx in (0, 1)]
    made = copart.plan(*blocks, parts=(6, 6), scheme_options={"objective": "messages"}, output=tmp_path / "out")
    assert made.settings["scheme_options"] == {"objective": "messages"}
    assert check_plan(tmp_path / "out").ok
