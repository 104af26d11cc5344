"""What a plan says of its worth, and by which constants its coupled step is measured."""

from __future__ import annotations

import json

import numpy as np
import pytest

import copart
from copart.cli import main
from copart.errors import ConfigError
from copart.mesh import cube, write_vtu
from copart.metrics import StepCost, step_cost
from copart.metrics.promise import promised, remarks_on
from copart.plans.replan import replan
from copart.plans.requests import Site
from copart.plans.verify import check_plan

A, B = cube("hexa", 6, name="left"), cube("hexa", 8, offset=(1, 0, 0), name="right")
COST = StepCost(t={"left": 2}, t_m=3, alpha=7, beta=0.5, substeps={"right": 4})


def about_worth(remarks):
    return [line for line in remarks if "partitioning each component alone" in line or "more pieces than parts" in line]


def test_a_plan_worse_than_naive_says_so_once():
    made = copart.plan(A, B, parts=(4, 8), scheme="multiconstraint")
    alone = copart.plan(A, B, parts=(4, 8), scheme="naive")
    said = about_worth(made.remarks)
    assert said == remarks_on(*(promised(one.problem, one.copartition) for one in (made, alone)), 0.05)
    assert len(said) == 1
    assert made.metrics.pair.totZ > alone.metrics.pair.totZ
    assert about_worth(alone.remarks) == []
    assert about_worth(copart.plan(A, B, parts=8, scheme="monolithic").remarks) == []


def test_a_comparison_takes_the_run_of_the_same_seed():
    made = copart.compare(A, B, parts=(4, 8), schemes=["naive", "multiconstraint"], seeds=[2, 3])
    said = about_worth(made.remarks)
    alone = copart.plan(A, B, parts=(4, 8), scheme="multiconstraint", seed=2)
    assert said == [f"multiconstraint, seed 2 and 1 more: {line}" for line in about_worth(alone.remarks)]
    assert about_worth(copart.compare(A, B, parts=(4, 8), schemes=["multiconstraint"], seeds=1).remarks) == []


def test_the_constants_that_are_given_are_used_and_kept(tmp_path):
    out = tmp_path / "out"
    made = copart.plan(A, B, parts=(4, 8), site=Site(cost=COST), output=out)
    want = step_cost(made.problem, made.copartition, COST)
    assert made.metrics.step.to_dict() == want.to_dict()
    assert made.metrics.step.T_step != copart.evaluate(made.problem, made.copartition).step.T_step
    kept = json.loads((out / "metrics.json").read_text())["metrics"]
    assert kept["step"]["cost"] == COST.named(["left", "right"]).to_dict()
    assert check_plan(out).ok
    # a plan that is taken up again is measured by the same
    again = replan(out, parts=(4, 6)).plan
    assert again.metrics.step.cost == made.metrics.step.cost
    rows = copart.compare(A, B, parts=(4, 8), schemes=["joint"], seeds=1, site=Site(cost=COST))
    assert rows.rows()[0]["T_step"] == want.T_step
    assert rows.to_dict()["step_cost"] == COST.named(["left", "right"]).to_dict()


def test_a_damaged_constant_is_refused(tmp_path):
    out = tmp_path / "out"
    copart.plan(A, B, parts=(4, 8), output=out)
    summary = json.loads((out / "metrics.json").read_text())
    for wrong in ({"t": 1}, {**summary["metrics"]["step"]["cost"], "alpha": -1}, [], {"gamma": 1}):
        summary["metrics"]["step"]["cost"] = wrong
        (out / "metrics.json").write_text(json.dumps(summary))
        assert not check_plan(out).ok
        if wrong != {"t": 1}:  # a plan made elsewhere may leave some out
            with pytest.raises(copart.FormatError, match="metrics: step cost"):
                replan(out, parts=(4, 6))


def test_iterations_are_the_sub_steps():
    assert Site(iterations=(3, 4)).priced(["x", "y"]).substeps == {"x": 3, "y": 4}
    assert Site(cost=COST).times(["left", "right"]) == {"left": 1, "right": 4}
    with pytest.raises(ConfigError, match="iterations: needs an integer"):
        Site(cost=StepCost(substeps=2.5)).times(["left"])


@pytest.mark.parametrize(("words", "want"), [
    ("alpha=7,beta=0.5,t.left=2", StepCost(alpha=7, beta=0.5, t={"left": 2})),
    ("t.b=2", StepCost(t={"right": 2})),
    ("costs.csv", StepCost(t={"left": 2, "right": 5}, t_m={"left": 2, "right": 9}, substeps={"left": 10, "right": 1})),
])
def test_the_option(tmp_path, monkeypatch, capsys, words, want):
    monkeypatch.chdir(tmp_path)
    write_vtu("left.vtu", A)
    write_vtu("right.vtu", B)
    (tmp_path / "costs.csv").write_text("component,cells,cost,iterations,coupled_cost\n"
                                        "left,,2e-6,10,\nright,,5e-6,,9e-6\n")
    for command in ("plan", "compare"):
        more = [] if command == "plan" else ["--schemes", "naive", "--seeds", "1"]
        assert main([command, "left.vtu", "right.vtu", "--parts", "4", "8", "--step-cost", words, "--json", *more]) == 0
        told = json.loads(capsys.readouterr().out)
        cost = told["metrics"]["step"]["cost"] if command == "plan" else told["step_cost"]
        named = want.named(["left", "right"]).to_dict()
        for key, value in named.items():
            each = value if isinstance(value, dict) else {"": value}
            got = cost[key] if isinstance(value, dict) else {"": cost[key]}
            assert list(got) == list(each)
            assert np.allclose(list(got.values()), list(each.values()), rtol=1e-12)


@pytest.mark.parametrize(("words", "message"), [
    ("2,3", "--step-cost: is no file, nor constants"), ("alpha=x", "--step-cost: is no file"),
    ("alpha=-1", "alpha: must be at least 0"), ("gamma=1", "step cost: needs constants by their names"),
    ("t=1,t.left=2", "--step-cost: t is given for all components and for left"),
    ("t.middle=1", "no component 'middle'; known: left, right"), ("alpha.left=1", "alpha is one number"),
    ("times.csv", "has measured times"),
])
def test_wrong_options_are_refused_in_one_line(tmp_path, monkeypatch, capsys, words, message):
    monkeypatch.chdir(tmp_path)
    write_vtu("left.vtu", A)
    write_vtu("right.vtu", B)
    (tmp_path / "times.csv").write_text("component,processes,seconds\nleft,4,1\nright,4,1\n")
    assert main(["plan", "left.vtu", "right.vtu", "--parts", "4", "8", "--step-cost", words]) == 2
    said = capsys.readouterr().err.strip()
    assert message in said
    assert "\n" not in said


def test_tables_fit_a_terminal_of_120_columns(tmp_path, monkeypatch, capsys):
    monkeypatch.chdir(tmp_path)
    write_vtu("left.vtu", A)
    write_vtu("right.vtu", B)
    assert main(["compare", "left.vtu", "right.vtu", "--parts", "4", "8", "--seeds", "1", "--legend"]) == 0
    lines = capsys.readouterr().out.splitlines()
    tables = [line for line in lines if line.startswith(("scheme", "-----", "NAIVE", "JOINT", "MULTI"))]
    assert len(tables) == 15
    assert max(map(len, tables)) <= 120
    assert "T in microseconds, at t 1, t_m 1, alpha 5, beta 0.01, substeps 1" in lines
    for title in ("N_A^cpl", "maxV", "T_step", "waits %", "pieces +"):
        assert [line for line in lines if line.startswith(f"{title:<12} ")], title
