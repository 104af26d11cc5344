"""Whatever is wrong, one clear line says so, with exit status 2; nothing reaches the last resort of ``main``."""

from __future__ import annotations

import json
import os
from pathlib import Path

import pytest

from copart.cli import main

from .lines import line_of, told

HUGE = "100000000000000000000"


# ---- numbers
GRAPH = ["part", "g.graph", 2, "-o", "o"]
PLAN = ["plan", "a.vtu", "b.vtu", "--parts", 2, 2, "-o", "o"]
CHECK = ["check", "g.graph", "g.part.2"]
RANKS = ["ranks", "p.txt", "--kind", "list", "--nodes", 2, "--slots", 3]
EVERY_EPS = [GRAPH, PLAN, CHECK, ["repart", "g.graph", "g.part.2", 3], ["replan", "plan", "-o", "o"],
             ["compare", "a.vtu", "b.vtu", "--parts", 2, 2], ["map", "g.graph", "--hierarchy", "2:2", "-o", "o"]]


@pytest.mark.parametrize("value", ["nan", "inf", "-inf", "1e308", "-1", "1", "100%", "%", "x%"])
@pytest.mark.parametrize("command", EVERY_EPS, ids=lambda c: c[0])
def test_a_tolerance_is_a_number_in_range(folder, capsys, command, value):
    assert "argument --eps: " in line_of(capsys, *command, f"--eps={value}")


@pytest.mark.parametrize("command", EVERY_EPS, ids=lambda c: c[0])
def test_who_thinks_in_per_cent_is_told(folder, capsys, command):
    assert "argument --eps: must be below 1, a fraction or in per cent (0.05 or 5%), got 5; did you mean 0.05" in \
        line_of(capsys, *command, "--eps", 5)


def test_per_cent_is_the_fraction(planned, capsys):
    for name, command in (("part", GRAPH[:3]), ("repart", ["repart", "g.graph", "g.part.2", 3])):
        for value in ("0.2", "20%"):
            assert main([*map(str, command), "--eps", value, "-o", f"{name}-{value}", "-q"]) == 0
        assert Path(f"{name}-0.2").read_bytes() == Path(f"{name}-20%").read_bytes()
    assert main(["plan", "a.vtu", "b.vtu", "--parts", "2", "2", "--eps", "20%", "-o", "o", "-q"]) == 0
    assert json.loads(Path("o/metrics.json").read_text())["settings"]["eps"] == 0.2


NUMBERS = [
    ([*GRAPH, "--seed", 2**63], "--seed: must be at most 9223372036854775807"),
    (["map", "g.graph", "--hierarchy", "2:2", "--seed", 2**63, "-o", "o"], "--seed: must be at most"),
    ([*RANKS, "--seed", 2**63, "--method", "bisection"], "--seed: must be at most"),
    ([*RANKS, "--seed", 2**63 - 1, "--method", "bisection"], "seed: must be at most 2147483647"),
    ([*RANKS, "--seed", -1], "seed: must be at least 0"),
    ([*GRAPH[:2], HUGE], "K: must be at most"),
    ([*GRAPH, "--threads", HUGE], "--threads: must be at most"),
    (["repart", "g.graph", "g.part.2", HUGE], "N: must be at most"),
    (["repart", "g.graph", "g.part.2", 3, "--from", HUGE], "--from: must be at most"),
    (["repart", "g.graph", "g.part.2", 3, "--from", 2**62], "--from: must be at most 2147483647"),
    (["repart", "g.graph", "g.part.2", 3, "--migration-cost", HUGE], "--migration-cost: must be at most"),
    (["repart", "g.graph", "g.part.2", 3, "--migration-cost", 2**62], "migration_cost: must be at most 2147483647"),
    ([*PLAN, "--coupled", HUGE, 2], "--coupled: must be at most"),
    ([*PLAN[:4], HUGE, 2], "--parts: must be at most"),
    ([*PLAN, "--hierarchy", 4, "--iterations", HUGE], "--iterations: must be at most"),
    ([*PLAN, "--hierarchy", 4, "--iterations", 2**62], "iterations of a: must be at most 2147483647"),
    ([*PLAN, "--max-interedges", HUGE], "--max-interedges: must be at most"),
    ([*PLAN, "--gap", "nan"], "--gap: needs a finite number"),
    ([*PLAN, "--periodic", "a=1e-308,0,0"], "period: (1e-308, 0.0, 0.0) is too short"),
    (["compare", "a.vtu", "b.vtu", "--parts", 2, 2, "--seeds", HUGE], "--seeds: must be at most"),
    (["compare", "a.vtu", "b.vtu", "--parts", 2, 2, "--seeds", 2**62], "seeds: must be at most 1000000"),
    (["advise", "--total", HUGE, "--component", "x", 9, 1, 1, "--component", "y", 9, 1, 1], "--total: must be at most"),
    (["advise", "--total", 2**62, "--component", "x", 9, 1, 1, "--component", "y", 9, 1, 1],
     "total: must be at most 10000000"),
    ([*CHECK, "--nparts", HUGE], "--nparts: must be at most"),
    ([*CHECK, "--nparts", 2**62], "--nparts: must be at most 2147483647"),
    (["check", "a.vtu", "g.part.2", "b.vtu", "g.part.2", "--parts", 2**62, 2], "--parts: must be at most 2147483647"),
    ([*RANKS[:5], HUGE, *RANKS[6:]], "--nodes: must be at most"),
    ([*RANKS, "--placement", "cyclic:²"], "cyclic:²: cannot be read"),
    ([*RANKS, "--placement", f"cyclic:{HUGE}"], "--placement: must be at most"),
    (["grid", "--procs", 16, "--ndims", HUGE, "--nodes", 4], "--ndims: must be at most"),
    (["grid", "--procs", 16, "--ndims", 2**40, "--nodes", 4], "--ndims: must be at most 62"),
    (["machine", "info", "n1", "--slots", HUGE], "--slots: must be at most"),
    (["machine", "info", "n1", "--slots", 2**62], "slots: must be at most 1048576"),
    (["mesh", "cube", HUGE, "-o", "o.vtu"], "SIZE: must be at most"),
    (["mesh", "tube", "--inner", "nan", "-o", "o.vtu"], "--inner: needs a finite number"),
]


@pytest.mark.parametrize(("arguments", "message"), NUMBERS, ids=[" ".join(map(str, a)) for a, _ in NUMBERS])
def test_numbers_out_of_range(folder, capsys, arguments, message):
    assert message in line_of(capsys, *arguments)
    assert not any(Path(name).exists() for name in ("o", "o.vtu"))


@pytest.mark.parametrize("eps", [[], ["--eps", 0.05]], ids=["", "eps"])
@pytest.mark.parametrize(("shares", "message"), [
    ("nan\n0.5\n", "that of part 0 is nan"), ("0\n0\n", "that of part 0 is 0"), ("1\n0\n", "that of part 1 is 0"),
    ("1\n-1\n", "that of part 1 is -1"), ("inf\n1\n", "that of part 0 is inf"),
    ("0.5\n", "needs 2 shares, one per part, has 1"), ("", "has 0"), ("1\n1\n1\n", "has 3")])
def test_shares_that_nothing_can_be_judged_by(folder, capsys, shares, message, eps):
    Path("shares").write_text(shares)
    line = line_of(capsys, *CHECK, "--tpwgts", "shares", *eps)
    assert line.startswith("copart check: tpwgts: ")
    assert message in line


def test_very_large_shares_are_shares(folder, capsys):
    Path("shares").write_text("1e308\n1e308\n")
    assert main([*CHECK, "--tpwgts", "shares", "--eps", "0", "-q"]) == 0
    assert capsys.readouterr().err == ""


def test_a_machine_of_one_processor(folder, capsys):
    assert main(["machine", "info", "n1"]) == 0
    out, err = capsys.readouterr()
    assert out.startswith("1 processor on 1 host")
    assert err == ""


@pytest.mark.parametrize("target", ["hcub 62", "hcub 40", "cmplt 4611686018427387903", "mesh2D 2147483648 2147483647",
                                    "tleaf 1 4611686018427387903 1"])
def test_nothing_is_mapped_onto_more_processors_than_are_counted(folder, capsys, target):
    Path("m.tgt").write_text(target)
    for more in ([], ["--one-to-one"]):
        line = line_of(capsys, "map", "g.graph", "--machine", "m.tgt", "-o", "o", *more)
        assert "machine: graphs are mapped onto at most 2147483647 processors" in line
    assert main(["machine", "info", "m.tgt", "-q"]) == 0


def test_subsets_of_subsets_end_somewhere(folder, capsys):
    Path("m.tgt").write_text("sub 1 0 " * 2000 + "cmplt 1")
    assert "m.tgt:1: nests more than 100 subsets" in line_of(capsys, "machine", "info", "m.tgt")


# ---- what a plan's folder says of itself
NOT_A_NUMBER, ENDLESS = float("nan"), float("inf")
SETTINGS = [("names", None), ("names", "ab"), ("names", ["a", 1]), ("names", ["a", "a"]), ("names", ["a", ["b"]]),
            ("names", ["a"]), ("names", {"a": 1}), ("names", []), ("parts", None), ("parts", 2), ("parts", [2]),
            ("parts", [2, -2]), ("parts", [2, 0]), ("parts", ["2", "2"]), ("parts", [2, 10**20]), ("parts", [[2], [2]]),
            ("parts", [2.5, 2]), ("parts", [True, 2]), ("coupled", None), ("coupled", 7), ("coupled", [1]),
            ("coupled", [1, "1"]), ("coupled", [-1, 1]), ("coupled", [1, 10**30]), ("eps", None), ("eps", "0.05"),
            ("eps", -1), ("eps", 1), ("eps", 3.0), ("eps", NOT_A_NUMBER), ("eps", ENDLESS), ("eps", 10**400),
            ("eps", [0.05]), ("eps", 1e308), ("interedges", None), ("interedges", 3), ("interedges", ["facet"]),
            ("interedges", {}),
            ("interedges", "none"), ("load", 3), ("load", []), ("scale", 3), ("scale", {"a": "x"}), ("scale", {"a": 0}),
            ("scale", {"q": 1}), ("shift", {"a": 1}), ("shift", {"a": [1, 2]}), ("periodic", {"a": [0, 0]}),
            ("tolerance", "x"), ("tolerance", -1), ("gap", {}), ("several", 3), ("shared", "yes"),
            ("max_interedges", 0), ("max_interedges", 1.5), ("scheme", 3), ("scheme_options", []),
            ("coupled_rule", "some"), ("coupled_rule", ["paper"])]


def rewritten(change) -> None:
    """The plan's ``metrics.json`` after a change."""
    path = Path("plan/metrics.json")
    value = json.loads(path.read_text())
    change(value)
    path.write_text(json.dumps(value))


@pytest.mark.parametrize(("key", "value"), SETTINGS, ids=[f"{k}={v!r:.25}" for k, v in SETTINGS])
def test_ill_typed_settings(planned, capsys, key, value):
    rewritten(lambda document: document["settings"].update({key: value}))
    for command in (["check", "plan"], ["replan", "plan", "-o", "next"]):
        assert f"{os.path.join('plan', 'metrics.json')}: settings: {key}" in line_of(capsys, *command)


@pytest.mark.parametrize("value", [3, "x", [], {"a": 1, "b": 2}, {"a": {"name": "a"}}, {"a": {"name": ["a"]}}], ids=str)
def test_ill_typed_interfaces(planned, capsys, value):
    rewritten(lambda document: document.update(interface=value))
    assert "metrics.json: interface" in line_of(capsys, "check", "plan")


@pytest.mark.parametrize("change", [
    lambda m: m["components"]["a"].update(ub=10**400), lambda m: m["pairs"].__setitem__(0, {"a": [1], "b": "b"})])
def test_ill_typed_figures_are_findings(planned, capsys, change):
    rewritten(lambda document: change(document["metrics"]))
    assert main(["check", "plan"]) == 1
    out, err = capsys.readouterr()
    assert "findings" in out
    assert told(err) == ""


def test_names_are_those_of_the_schedule(planned, capsys):
    rewritten(lambda document: document["settings"].update(names=["x", "b"]))
    assert "components: must be x, b, as in metrics.json" in line_of(capsys, "replan", "plan", "-o", "next")


@pytest.mark.parametrize("name", ["metrics.json", "coupling.json"])
def test_json_numbers_of_thousands_of_digits(planned, capsys, name):
    path = Path("plan", name)
    path.write_text(path.read_text().replace('"version": 1', f'"version": {"9" * 5000}'))
    assert f"{name}: holds a number with too many digits" in line_of(capsys, "check", "plan")
