"""AUTO takes the cheapest step of the schemes that are in no figure worse than NAIVE."""

from __future__ import annotations

import pytest

from benchmarks.shape_cases import CASES, problem
from copart.algorithms import naive
from copart.errors import PartitionError
from copart.metrics.promise import broken, promised
from copart.metrics.step import StepCost, step_cost
from copart.plans import plan as plans
from copart.schemes.auto import CHOICES, auto
from copart.schemes.registry import run_scheme

from ..helpers import grid


@pytest.mark.parametrize("name", ["rod-in-block", "wavy-wall-2d"])
@pytest.mark.parametrize("cost", [StepCost(), StepCost(alpha=200.0)])
def test_the_cheapest_that_keeps_the_promise(name, cost):
    one = problem(CASES[name], 3000, "facet")
    before = naive(one, (4, 6))
    against = promised(one, before)
    price = {"naive": step_cost(one, before, cost).T_step}
    for scheme in CHOICES:
        made = run_scheme(scheme, one, (4, 6))
        if not broken(promised(one, made), against):
            price[scheme] = step_cost(one, made, cost).T_step
    took = auto(one, (4, 6), cost=cost)
    assert took.scheme in price
    assert step_cost(one, took, cost).T_step == pytest.approx(min(price.values()))


def test_a_plan_says_which():
    one = problem(CASES["rod-in-block"], 1000, "facet")
    made = plans.plan(*one.components.values(), parts=(2, 3), interedges=one.interedges, scheme="auto")
    assert made.remarks[0].startswith("auto took ")
    assert made.copartition.scheme in {"naive", *CHOICES}


def test_what_no_scheme_can_do_is_said():
    heavy = grid(3, 1, vwgt=[9, 1, 1])
    from copart.coupling import CoupledProblem, Interedges

    one = CoupledProblem.of_two(heavy, heavy, Interedges.from_pairs(3, 3, [0], [0]))
    with pytest.raises(PartitionError):
        auto(one, (3, 3), eps=0.0)
