"""By which rule a plan has chosen how many parts own coupled cells: kept, said, and held by ``copart check``."""

from __future__ import annotations

import json

import numpy as np
import pytest

import copart
from copart import Sharing
from copart.cli import main
from copart.errors import ConfigError
from copart.interface.counts import COUPLED_RULES, coupled_counts
from copart.mesh import cube, write_vtu
from copart.plans.replan import replan
from copart.plans.verify import check_plan
from copart.report.words import rule_words

from .lies import reseal

A, B = cube("hexa", 6), cube("hexa", 8, offset=(1, 0, 0))
NAMES = ("left", "right")
PARTS = (6, 12)


@pytest.fixture
def meshes(tmp_path, monkeypatch):
    """A folder with two meshes, and the work in it."""
    monkeypatch.chdir(tmp_path)
    write_vtu("left.vtu", A)
    write_vtu("right.vtu", B)
    return ["left.vtu", "right.vtu", "--parts", "6", "12"]


@pytest.mark.parametrize(("scheme", "given", "rule"), [
    ("aware", {}, "natural"), ("joint", {}, "natural"), ("projrepart", {"coupled": "paper"}, "paper"),
    ("aware", {"coupled": (3, 4)}, "given"), ("aware", {"interface": "gather"}, "gather"),
    ("aware", {"interface": "uncut"}, "uncut"), ("aware", {"interface": "gather", "coupled": "paper"}, "paper"),
    ("naive", {}, None), ("multiconstraint", {"coupled": "paper"}, None), ("monolithic", {}, None)])
def test_a_plan_keeps_its_rule(tmp_path, scheme, given, rule):
    made = copart.plan(A, B, parts=PARTS, names=NAMES, scheme=scheme, output=tmp_path / "out", **given)
    assert made.settings["coupled_rule"] == rule
    assert check_plan(tmp_path / "out").ok
    found = [made.copartition.ncoupled[name] for name in NAMES]
    if rule == "paper":
        assert found == [3, 5]
    if rule == "natural" and scheme == "aware":
        assert found == list(coupled_counts(made.problem, made.copartition.nparts, None).values())


def test_a_plan_tells_the_natural_number_where_another_number_of_parts_is_coupled(tmp_path):
    """By default `joint` balances coupled weight over the natural number, and more parts may own some."""
    other = cube("hexa", 12, offset=(1, 0, 0))
    made = copart.plan(cube("tetra", 2000), other, parts=(6, 12), names=NAMES, interedges="touch",
                       output=tmp_path / "out")
    natural = []
    for name in NAMES:
        x = np.bincount(made.copartition.alone[name][made.problem.coupled(name)])
        natural.append(round(x.sum() ** 2 / (x * x).sum()))
    assert made.settings["natural"] == natural
    assert check_plan(tmp_path / "out").ok
    left, right = (made.metrics.components[name] for name in NAMES)
    assert rule_words("natural", made.metrics, [left.ncoupled - 1, right.ncoupled])[0].startswith(
        f"N^cpl: left {left.ncoupled} of 6 where {left.ncoupled - 1} would be natural, right {right.ncoupled} of 12 (")
    assert "natural" not in replan(tmp_path / "out", seed=2).plan.settings


@pytest.mark.parametrize("other", ["gather", "uncut", "none", None, 3])
def test_check_holds_a_rule_to_scheme_and_interface(tmp_path, other):
    out = tmp_path / "out"
    copart.plan(A, B, parts=PARTS, names=NAMES, scheme="aware", output=out)
    path = out / "metrics.json"
    summary = json.loads(path.read_text())
    summary["settings"]["coupled_rule"] = other
    path.write_text(json.dumps(summary))
    reseal(out)
    if other in (None, "gather", "uncut"):
        assert [f.where for f in check_plan(out).findings] == ["settings.coupled_rule"]
    else:
        with pytest.raises(copart.FormatError, match="settings: coupled_rule must be one of natural, paper"):
            check_plan(out)


def test_processes_that_were_advised(tmp_path):
    costs = tmp_path / "costs.csv"
    costs.write_text("component,cost,iterations,coupled_cost\nleft,2e-6,50,1e-9\nright,1e-6,50,1e-9\n")
    options = {"names": NAMES, "scheme": "aware"}
    assert copart.plan(A, B, total=Sharing(16, costs), **options).settings["coupled_rule"] == "advised"
    assert copart.plan(A, B, total=Sharing(16, costs), coupled="paper", **options).settings["coupled_rule"] == "paper"
    assert copart.plan(A, B, total=16, **options).settings["coupled_rule"] == "natural", "nothing to advise from"


def test_a_plan_taken_up_again(tmp_path):
    first = copart.plan(A, B, parts=PARTS, names=NAMES, scheme="aware", output=tmp_path / "first", coupled="paper")
    for given, rule in (({}, "kept"), ({"coupled": (2, 5)}, "given"), ({"coupled": "paper", "parts": (8, 12)}, "paper"),
                        ({"scheme": "naive"}, None)):
        out = tmp_path / f"again-{rule}"
        made = replan(tmp_path / "first", output=out, **given).plan
        assert made.settings["coupled_rule"] == rule
        assert check_plan(out).ok
        if rule == "kept":
            assert dict(made.copartition.ncoupled) == dict(first.copartition.ncoupled)
        if rule == "paper":
            assert dict(made.copartition.ncoupled) == {"left": 4, "right": 5}
    made = replan(tmp_path / "first", parts=(9, 12)).plan
    natural = coupled_counts(made.problem, {"left": 9, "right": 12}, None)
    assert dict(made.copartition.ncoupled) == {"left": natural["left"], "right": 5}, "kept where the parts are"


@pytest.mark.parametrize("call", [copart.plan, copart.compare])
def test_words_are_refused_before_anything_is_read(call):
    with pytest.raises(ConfigError, match="coupled: 'most' is not known; give numbers or 'paper'"):
        call("absent.vtu", "absent.vtu", parts=2, coupled="most")


# ---- the command line
def test_the_lines_of_the_commands(meshes, capsys):
    assert main(["plan", *meshes, "--scheme", "aware", "--coupled", "paper"]) == 0
    assert f"N^cpl: left 3 of 6, right 5 of 12 (paper: {COUPLED_RULES['paper']})" in capsys.readouterr().out
    assert main(["replan", "copart-out", "--coupled", "paper", "--parts", "8", "12"]) == 0
    assert f"N^cpl: left 4 of 8, right 5 of 12 (paper: {COUPLED_RULES['paper']})" in capsys.readouterr().out
    assert main(["plan", *meshes, "--scheme", "aware"]) == 0
    told = capsys.readouterr().out
    assert f"(natural: {COUPLED_RULES['natural']})" in told
    assert main(["plan", *meshes, "--scheme", "naive"]) == 0
    assert "N^cpl:" not in capsys.readouterr().out, "left to chance"
    for more, rule in (([], "natural"), (["--coupled", "paper"], "paper")):
        assert main(["compare", *meshes, "--seeds", "1", "--schemes", "naive", "aware", *more]) == 0
        assert f"\nN^cpl: {rule} ({COUPLED_RULES[rule]})" in capsys.readouterr().out
    assert main(["compare", *meshes, "--seeds", "1", "--schemes", "naive"]) == 0
    assert "N^cpl:" not in capsys.readouterr().out


def test_components_behind_the_word(meshes, capsys):
    assert main(["plan", "--parts", "6", "12", "--scheme", "aware", "--coupled", "paper", "left.vtu", "right.vtu",
                 "--json"]) == 0
    assert json.loads(capsys.readouterr().out)["settings"]["coupled"] == [3, 5]


@pytest.mark.parametrize(("command", "words", "message"), [
    ("plan", ["most"], "--coupled: needs whole numbers or paper, got 'most'"),
    ("replan", ["most"], "--coupled: needs whole numbers or paper, got 'most'"),
    ("replan", ["paper", "3"], "--coupled: needs whole numbers, or paper alone"),
    ("replan", ["3", "paper"], "--coupled: needs whole numbers, or paper alone")])
def test_other_words(meshes, capsys, command, words, message):
    where = meshes if command == "plan" else ["copart-out"]
    try:
        status = main([command, *where, "--coupled", *words])
    except SystemExit as stop:  # of the parser
        status = stop.code
    assert status == 2
    assert message in capsys.readouterr().err


def test_the_report_says_it():
    made = copart.plan(A, B, parts=PARTS, names=NAMES, scheme="aware", coupled="paper")
    from copart.report.coupled import page_of

    assert "N^cpl: left 3 of 6, right 5 of 12 (paper: floor(N^(2/3))" in page_of(made)
