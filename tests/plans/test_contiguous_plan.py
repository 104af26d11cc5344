"""`contiguous` in plans and comparisons, on the command line, in the folder of a plan and when that is checked."""

from __future__ import annotations

import json
from dataclasses import replace

import numpy as np
import pytest

import copart
from benchmarks.shape_cases import CASES
from copart.cli import main
from copart.coupling import CoPartition
from copart.errors import FormatError
from copart.mesh import cube, write_vtu
from copart.metrics import evaluate, loose_pieces, pieces
from copart.plans.replan import replan
from copart.plans.verify import check_plan
from copart.schemes.registry import SCHEMES

A, B = cube("hexa", 6, name="left"), cube("hexa", 8, offset=(1, 0, 0), name="right")


@pytest.fixture(scope="module")
def tubes():
    """Seven tubes in a block: the tubes are seven bodies."""
    return list(CASES["tubes-7"].build(2000).values())


def test_a_plan_is_connected_and_says_which_bodies_share_parts(tubes):
    made = copart.plan(*tubes, parts=(8, 24), scheme="projrepart", names=("block", "tubes"), contiguous=True,
                       meeting=copart.Meeting(several=True))
    assert made.settings["contiguous"] is True
    for name, graph in made.problem.components.items():
        assert not loose_pieces(graph, made.copartition[name], made.copartition.nparts[name]).any()
    assert (pieces(made.problem.components["block"], made.copartition["block"], 8) == 1).all()
    # 24 parts within 5 % do not fit seven equal bodies
    assert [line for line in made.remarks if line.startswith("tubes consists of 7 bodies: ")]


def test_every_scheme_of_a_comparison(tubes):
    made = copart.compare(*tubes, parts=(8, 24), schemes=list(SCHEMES), seeds=1, contiguous=True,
                          meeting=copart.Meeting(several=True))
    assert made.settings["contiguous"] is True
    assert set(made.schemes) == set(SCHEMES)
    for one in made.copartitions.values():
        for name, graph in made.problem.components.items():
            assert not loose_pieces(graph, one[name], one.nparts[name]).any()


@pytest.fixture
def files(tmp_path):
    for mesh in (A, B):
        write_vtu(tmp_path / f"{mesh.name}.vtu", mesh)
    return [str(tmp_path / f"{mesh.name}.vtu") for mesh in (A, B)]


def test_on_the_command_line(files, tmp_path, capsys):
    out = tmp_path / "out"
    assert main(["plan", *files, "--parts", "4", "8", "--scheme", "aware", "--contiguous", "-o", str(out), "-q"]) == 0
    assert json.loads((out / "metrics.json").read_text())["settings"]["contiguous"] is True
    assert main(["check", str(out)]) == 0
    capsys.readouterr()
    line = ["compare", *files, "--parts", "4", "8", "--schemes", "naive", "aware", "--seeds", "1", "--json"]
    assert main([*line, "--contiguous"]) == 0
    told = json.loads(capsys.readouterr().out)
    assert told["settings"]["contiguous"] is True
    assert [row["extra_pieces"] for row in told["mean"]] == [0, 0]
    assert main(line) == 0
    assert "contiguous" not in json.loads(capsys.readouterr().out)["settings"]


def test_a_plan_made_anew_stays_connected(tmp_path):
    copart.plan(A, B, parts=(4, 8), scheme="naive", contiguous=True, output=tmp_path / "one")
    again = replan(tmp_path / "one", parts=(5, 7), output=tmp_path / "two")
    assert again.plan.settings["contiguous"] is True
    assert check_plan(tmp_path / "two").ok


def test_check_finds_parts_that_are_not_connected(tmp_path):
    """Two far cells change places, and every figure says so: only the claim is wrong."""
    made = copart.plan(A, B, parts=(4, 8), scheme="naive")
    parts = {name: part.copy() for name, part in made.copartition.parts.items()}
    part = parts["left"]
    inside = [i for i in range(4) if i != part[0]]
    other = np.flatnonzero(np.isin(part, inside))[-1]
    part[0], part[other] = part[other], part[0]
    apart = CoPartition(parts, made.copartition.nparts)
    wrong = replace(made, copartition=apart, metrics=evaluate(made.problem, apart),
                    settings={**made.settings, "coupled": [None, None]})
    wrong.write(tmp_path / "silent")
    assert check_plan(tmp_path / "silent").ok
    replace(wrong, settings={**wrong.settings, "contiguous": True}).write(tmp_path / "claimed")
    findings = [str(one) for one in check_plan(tmp_path / "claimed").findings]
    assert len(findings) == 1
    assert findings[0].startswith("contiguous: parts of left: are connected as far as the mesh is, found part ")


@pytest.mark.parametrize("value", [False, None, 1, "yes"])
def test_the_setting_is_true_or_not_there(tmp_path, value):
    made = copart.plan(A, B, parts=(2, 2), scheme="naive")
    replace(made, settings={**made.settings, "contiguous": value}).write(tmp_path / "out")
    with pytest.raises(FormatError, match="contiguous must be true, or not there"):
        check_plan(tmp_path / "out")
