"""AUTO takes the cheapest step of the schemes that share coupled weight evenly and are no worse than NAIVE."""

from __future__ import annotations

from dataclasses import replace

import pytest

from benchmarks.shape_cases import CASES, problem
from copart.algorithms import naive
from copart.errors import PartitionError
from copart.metrics.promise import broken, promised
from copart.metrics.step import StepCost, step_cost
from copart.plans import plan as plans
from copart.schemes.auto import CHOICES, auto
from copart.schemes.joint import joint
from copart.schemes.registry import run_scheme

from ..helpers import grid


@pytest.mark.parametrize("name", ["rod-in-block", "wavy-wall-2d"])
@pytest.mark.parametrize("cost", [StepCost(), StepCost(alpha=200.0)])
def test_the_cheapest_that_keeps_the_promise(name, cost):
    one = problem(CASES[name], 3000, "facet")
    before = naive(one, (4, 6))
    against = promised(one, before)
    tried = {scheme: run_scheme(scheme, one, (4, 6)) for scheme in CHOICES}
    tried["naive"] = replace(before, alone=before.parts)
    lines = {scheme: broken(promised(one, made), against, 0.05) for scheme, made in tried.items()}
    kept = [scheme for scheme, found in lines.items() if all(line.measure != "naive" for line in found)]
    even = [scheme for scheme in kept if not lines[scheme]] or kept
    took = auto(one, (4, 6), cost=cost)
    assert took.scheme in even
    assert step_cost(one, took, cost).T_step == min(step_cost(one, tried[scheme], cost).T_step for scheme in even)


def test_an_even_coupling_phase_goes_before_a_shorter_step():
    one = problem(CASES["overlap-discs-2d"], 2000, "overlap")
    counts = dict.fromkeys(one.names, 12)
    took, shortest = auto(one, counts, preset="fast"), joint(one, counts, preset="fast")
    against = promised(one, naive(one, counts, preset="fast"))
    assert broken(promised(one, took), against, 0.05) == []
    assert {line.measure for line in broken(promised(one, shortest), against, 0.05)} == {"mean"}
    assert step_cost(one, shortest).T_step < step_cost(one, took).T_step


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
