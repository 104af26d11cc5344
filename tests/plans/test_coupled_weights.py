"""Coupled weights of plans: by area, by partners, from arrays and from numbers, kept and taken up again."""

from __future__ import annotations

import json

import numpy as np
import pytest

import copart
from copart.cli import main
from copart.errors import ConfigError, CouplingError, MeshError
from copart.mesh import cube, write_vtu
from copart.plans.components import coupled_problem
from copart.plans.replan import read_plan, replan
from copart.plans.verify import check_plan
from copart.plans.weighing import ARRAY


def two():
    """Two cubes whose facets do not match: 4 x 4 against 6 x 6."""
    return cube("hexa", 4), cube("hexa", 6, offset=(1, 0, 0))


def of(word, *meshes, **more):
    return coupled_problem(*meshes, names=("left", "right"), coupled_weights=word, **more)


def test_partners_are_counted():
    problem = of("partners", *two()).problem
    u, v, _ = problem.interedges.pairs()
    assert problem.coupled_load("left").tolist() == [4] * 16
    assert problem.coupled_load("right").tolist() == np.bincount(v)[problem.coupled("right")].tolist()
    assert set(problem.coupled_load("right").tolist()) == {1, 2, 4}
    assert len(u) == problem.coupled_load("right").sum()


def test_area_is_the_overlap_of_each_cell():
    left, right = two()
    # the right one only reaches half way up, and its cells there are of unequal height
    points = right.points.copy()
    points[:, 2] = 0.5 * points[:, 2] ** 2
    found = of("area", left, right.replace(points=points))
    u, v, w = found.problem.interedges.pairs()
    for name, mine in (("left", u), ("right", v)):
        area = np.bincount(mine, w, found.problem.components[name].nvtxs)
        cells = found.problem.coupled(name)
        share = found.problem.coupled_load(name) / found.unit[name]
        assert share == pytest.approx(area[cells] / area[cells].mean(), abs=0.01)
        assert len(set(found.problem.coupled_load(name).tolist())) > 1 or name == "left"


def test_cells_of_equal_area_weigh_one_each():
    found = of("area", *two())
    for name in ("left", "right"):
        assert set(found.problem.coupled_load(name).tolist()) == {1}
        assert found.unit[name] == 1


def test_a_coupled_step_costs_the_same_whatever_the_scale_is():
    left, right = two()
    points = right.points.copy()
    points[:, 2] **= 2
    right = right.replace(points=points)
    cost = copart.Site(cost=copart.metrics.StepCost(t_m=3.0, alpha=0, beta=0))
    by_area = copart.plan(left, right, parts=(1, 1), coupled_weights="area", site=cost)
    by_cells = copart.plan(left, right, parts=(1, 1), site=cost)
    assert by_area.metrics.b.max_coupled > 100 * by_cells.metrics.b.max_coupled
    assert by_area.metrics.step.T_cpl == pytest.approx(by_cells.metrics.step.T_cpl, rel=0.01)


@pytest.mark.parametrize("source", ["area", "partners", "work", "numbers"])
def test_kept_checked_and_taken_up_again(tmp_path, source, capsys):
    left, right = (m.replace(cell_data={"work": 1 + np.arange(m.ncells) % 5}) for m in two())
    own = {"right": 1 + np.arange(right.ncells) % 7} if source == "numbers" else source
    made = copart.plan(left, right, parts=(3, 4), coupled=(2, 3), scheme="aware", names=("left", "right"),
                       coupled_weights=own, output=tmp_path / "out", seed=2)
    assert made.settings["coupled_weights"] == (ARRAY if source == "numbers" else source)
    assert check_plan(tmp_path / "out").ok
    again = read_plan(tmp_path / "out")
    for name in made.problem.names:
        assert again.problem.coupled_load(name).tolist() == made.problem.coupled_load(name).tolist()
    assert main(["replan", str(tmp_path / "out"), "--parts", "4", "3", "-o", str(tmp_path / "next"), "-q"]) == 0
    assert main(["check", str(tmp_path / "next")]) == 0
    assert read_plan(tmp_path / "next").settings["coupled_weights"] == made.settings["coupled_weights"]
    # other weights than those of the plan are not what it states
    path = tmp_path / "out" / "metrics.json"
    summary = json.loads(path.read_text())
    summary["settings"]["coupled_weights"] = "partners" if source != "partners" else "work"
    path.write_text(json.dumps(summary))
    found = check_plan(tmp_path / "out").findings
    assert any("max_coupled" in str(f) for f in found)


def test_without_them_nothing_of_it_is_kept():
    assert "coupled_weights" not in copart.plan(*two(), parts=(2, 2)).settings


def test_commands(tmp_path, capsys):
    left, right = (m.replace(cell_data={"work": 1 + np.arange(m.ncells) % 5}) for m in two())
    write_vtu(tmp_path / "left.vtu", left)
    write_vtu(tmp_path / "right.vtu", right)
    files = [str(tmp_path / "left.vtu"), str(tmp_path / "right.vtu")]
    out = str(tmp_path / "out")
    assert main(["plan", *files, "--parts", "3", "4", "--coupled-weights", "work", "-o", out, "--json"]) == 0
    said = json.loads(capsys.readouterr().out)
    assert said["settings"]["coupled_weights"] == "work"
    assert main(["check", out, "-q"]) == 0
    parts = [files[0], f"{out}/left.part.3", files[1], f"{out}/right.part.4", "--metrics", f"{out}/metrics.json"]
    assert main(["check", *parts, "--coupled-weights", "work", "-q"]) == 0
    assert main(["check", *parts, "-q"]) == 1
    assert main(["compare", *files, "--parts", "3", "4", "--coupled-weights", "partners", "--seeds", "1", "--schemes",
                 "naive", "aware", "--json"]) == 0
    told = json.loads(capsys.readouterr().out)
    assert told["settings"]["coupled_weights"] == "partners"
    assert max(run["max_coupled_a"] for run in told["runs"]) % 4 == 0
    assert main(["plan", *files, "--parts", "3", "4", "--coupled-weights", "nothing", "-o", out]) == 2
    assert "coupled weights: mesh 'left' has no cell array 'nothing'; it has: work" in capsys.readouterr().err


def test_graphs_have_them_given_once_more(tmp_path):
    made = coupled_problem(*two(), names=("a", "b"))
    graphs, meet = made.problem.components, made.problem.interedges
    own = {"b": 1 + np.arange(graphs["b"].nvtxs) % 7}
    copart.plan(graphs["a"], graphs["b"], parts=(2, 3), interedges=meet, scheme="aware", coupled_weights=own,
                output=tmp_path / "out")
    with pytest.raises(CouplingError, match="component a is a graph, which has no cell array 'given'"):
        replan(tmp_path / "out", sources=graphs)
    again = replan(tmp_path / "out", sources=graphs, coupled_weights=own, parts=(3, 3))
    assert again.plan.problem.coupled_load("b").tolist() == own["b"][meet.coupled_b].tolist()
    assert copart.plan(graphs["a"], graphs["b"], parts=(2, 3), interedges=meet, coupled_weights="partners",
                       scheme="naive").metrics.a.max_coupled % 4 == 0


@pytest.mark.parametrize(("own", "error", "message"), [
    ({"middle": [1]}, CouplingError, "no component 'middle'; known: left, right"),
    ({"left": [1, 2]}, CouplingError, "coupled weights of left: needs 64"),
    ({"left": np.full(64, -1)}, CouplingError, "coupled weights of left: 64 of 64 entries are negative"),
    ({"left": np.zeros(64, int)}, CouplingError, "are 0 in all 16 coupled cells"),
    (5, ConfigError, "needs area, partners, the name of a cell array"),
    ("half", MeshError, "cell array 'half' of left: 64 of 64 entries are not whole numbers"),
    ("none", MeshError, "mesh .* has no cell array 'none'"),
])
def test_refusals(own, error, message):
    left, right = (m.replace(cell_data={"half": np.full(m.ncells, 0.5)}) for m in two())
    with pytest.raises(error, match=message):
        of(own, left, right)


def test_new_interedges_are_new_areas(tmp_path):
    copart.plan(*two(), parts=(2, 3), names=("left", "right"), coupled_weights="partners", output=tmp_path / "out",
                scheme="aware")
    meet = copart.Interedges.from_pairs(64, 216, [0, 0, 5], [7, 8, 9])
    again = replan(tmp_path / "out", interedges={("left", "right"): meet}, output=tmp_path / "next")
    assert again.plan.problem.coupled_load("left").tolist() == [2, 1]
    assert check_plan(tmp_path / "next").ok
