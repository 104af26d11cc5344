"""Plans taken up again from their folder: what is written is sound, and can be taken up once more."""

from __future__ import annotations

import json

import numpy as np
import pytest

import copart
from copart.checks import check_copartition
from copart.cli import main
from copart.coupling import CoPartition, Interedges
from copart.errors import ConfigError, CouplingError, FormatError, GraphError, MappingError
from copart.formats import read_part, write_part
from copart.formats.interedges_file import write_interedges
from copart.formats.launch import READERS
from copart.formats.migration_file import read_migration
from copart.mapping.coupled.placements import placements
from copart.mapping.coupled.processes import process_graph
from copart.mapping.machine import machine
from copart.mesh import cube
from copart.metrics import StepCost
from copart.plans.replan import read_plan, replan
from copart.plans.verify import check_plan


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    out = tmp_path_factory.mktemp("plan") / "out"
    copart.plan(cube("hexa", 8), cube("hexa", 10, offset=(1, 0, 0)), parts=(6, 8), names=("left", "right"), output=out)
    return out


def corner(n: int, heavy: int = 6) -> np.ndarray:
    """Loads of the cells of an n x n x n cube that is heavy at one edge of the interface."""
    cell = np.arange(n**3)
    return np.where((cell % n >= n // 2) & (cell // n % n < n // 3), heavy, 1)


def test_read_plan_gives_back_what_was_written(folder):
    problem, made, meshes, settings = read_plan(folder)
    assert (problem.names, dict(made.nparts)) == (("left", "right"), {"left": 6, "right": 8})
    metrics = json.loads((folder / "metrics.json").read_text())["metrics"]
    assert copart.evaluate(problem, made).to_dict() == metrics
    assert set(meshes) == {"left", "right"}
    assert settings["scheme"] == "joint"


def test_command_with_new_loads_and_then_new_counts(folder, tmp_path, capsys):
    loads, out, again = tmp_path / "load.txt", tmp_path / "next", tmp_path / "again"
    loads.write_text("".join(f"{w}\n" for w in corner(8)))
    assert main(["replan", str(folder), "--load", f"left={loads}", "-o", str(out), "--json"]) == 0
    said = json.loads(capsys.readouterr().out)
    before, after = (said[key]["components"]["left"] for key in ("former", "metrics"))
    assert before["ub"] > 0.3 > 0.05 >= after["ub"]
    assert main(["check", str(out)]) == 0
    plan = read_migration(out / "migration.json")
    assert plan.volume == said["migration"]["volume"]
    former = {name: read_part(folder / f"{name}.part.{n}") for name, n in (("left", 6), ("right", 8))}
    for name, part in plan.apply(CoPartition(former, {"left": 6, "right": 8})).items():
        assert part.tolist() == read_part(next(out.glob(f"{name}.part.*"))).tolist()
    # the loads are kept in the meshes of the new folder
    assert main(["replan", str(out), "--parts", "8", "7", "--coupled", "5", "4", "-o", str(again)]) == 0
    assert "from 6 to 8 parts" in capsys.readouterr().out
    assert main(["check", str(again)]) == 0
    problem, made, *_ = read_plan(again)
    assert problem.components["left"].weights.tolist() == corner(8).tolist()
    assert dict(made.ncoupled) == {"left": 5, "right": 4}


def test_new_loads_beside_coupled_weights_of_the_same_name(tmp_path):
    a, b = (cube("hexa", 3, offset=(x, 0, 0)) for x in (0, 1))
    meshes = [mesh.replace(name=name, cell_data={"load": 1 + np.arange(27)})
              for name, mesh in (("a", a), ("b", b))]
    copart.plan(*meshes, parts=(2, 3), coupled_weights="load", output=tmp_path / "out")
    made = replan(tmp_path / "out", loads={"a": np.arange(27) + 5}, output=tmp_path / "next").plan
    assert check_plan(tmp_path / "next").ok
    again = replan(tmp_path / "next", parts=(3, 3)).plan
    for plan in (made, again):
        assert plan.problem.components["a"].weights.tolist() == list(range(5, 32))
        assert plan.problem.coupled_weights["a"].tolist() == list(range(1, 28))


def test_interedges_by_the_names_in_the_other_order(folder):
    kept = read_plan(folder).problem.pairs["left", "right"]
    made = replan(folder, interedges={("right", "left"): kept.transposed}).plan
    assert list(made.problem.pairs) == [("left", "right")]
    assert made.problem.pairs["left", "right"].pairs()[0].tolist() == kept.pairs()[0].tolist()


@pytest.mark.parametrize(("scheme", "parts", "other"), [("joint", [6, 8], [7, 6]), ("multiconstraint", [6, 8], [7, 6]),
                                                       ("monolithic", [9], [11])])
def test_a_plan_goes_on_by_its_own_scheme(scheme, parts, other, tmp_path, capsys):
    loads, first, out, again = (tmp_path / name for name in ("load.txt", "first", "next", "again"))
    copart.plan(cube("hexa", 8), cube("hexa", 10, offset=(1, 0, 0)), parts=parts, names=("left", "right"),
                output=first, scheme=scheme)
    loads.write_text("".join(f"{w}\n" for w in corner(8)))
    assert main(["replan", str(first), "--load", f"left={loads}", "-o", str(out)]) == 0
    said = capsys.readouterr().out
    assert f"repartitioned with {scheme}" in said
    assert ("shared pool: imbalance" in said) == (scheme == "monolithic")
    assert main(["replan", str(out), "--parts", *map(str, other), "-o", str(again), "-q"]) == 0
    for place in (out, again):
        assert main(["check", str(place), "-q"]) == 0
    assert read_plan(again).copartition.shared == (scheme == "monolithic")
    # little moves: less than half of the cells, though a quarter of the load has come where there was none
    assert read_migration(out / "migration.json").volume < (8**3 + 10**3) / 2


def test_interface_and_sources(folder, tmp_path):
    n = 8**3
    upper = Interedges.from_pairs(n, 10**3, np.arange(n)[-64:], np.arange(100)[:64])
    write_interedges(tmp_path / "upper.mtx", upper)
    out = tmp_path / "moved"
    assert main(["replan", str(folder), "--new-interedges", f"left,right={tmp_path / 'upper.mtx'}", "-o", str(out),
                 "-q", "--scheme", "aware", "--preset", "fast"]) == 0
    assert main(["check", str(out), "-q"]) == 0
    problem, _, _, settings = read_plan(out)
    assert problem.coupled("left").tolist() == list(range(n - 64, n))
    assert settings["interedges"] == "given"
    mesh = cube("hexa", 8)
    mesh = mesh.replace(cell_data={"work": corner(8)})
    found = replan(folder, sources={"left": mesh}, loads={"right": corner(10)}, preset="fast")
    assert found.plan.problem.components["right"].total_weight == corner(10).sum()
    assert found.plan.files == ()


def test_three_components_made_of_graphs(tmp_path, caplog):
    side, ids = 12, np.arange(144).reshape(12, 12)
    u, v = (np.concatenate([a.ravel(), b.ravel()]) for a, b in ((ids[:, :-1], ids[:-1]), (ids[:, 1:], ids[1:])))
    square = copart.Graph.from_edges(side**2, u, v)
    meet = Interedges.from_pairs(144, 144, ids[:, -1], ids[:, 0])
    out = tmp_path / "out"
    copart.plan(square, square, square, parts=(4, 6, 3), names=("a", "b", "c"), output=out, scheme="aware",
                interedges={("a", "b"): meet, ("b", "c"): meet})
    with pytest.raises(FormatError, match=r"has no a.vtu: a came as a graph, give it again"):
        replan(out)
    load = np.ones(144, int)
    load[:48] = 4
    again = replan(out, sources=dict.fromkeys("abc", square), loads={"b": load}, output=tmp_path / "next")
    assert max(c.ub for c in again.plan.metrics.components.values()) <= 0.05
    assert again.former.components["b"].ub > 0.5
    assert again.plan.settings["scheme"] == "aware"
    assert (tmp_path / "next" / "a-b.interedges.mtx").exists()
    # the folder cannot keep the loads of a graph
    assert not caplog.messages
    third = replan(tmp_path / "next", sources=dict.fromkeys("abc", square), loads={"b": load})
    assert not caplog.messages
    assert third.migration.volume < again.migration.volume
    replan(tmp_path / "next", sources=dict.fromkeys("abc", square))
    assert [line.split(",")[0] for line in caplog.messages if "loads" in line] == [
        "b: its graph has not the loads that the former plan was made for; loads of a graph are not kept in the folder"]


def test_three_components_of_which_one_pair_meets(tmp_path):
    graph = copart.Graph.from_edges(16, range(15), range(1, 16))
    meet = Interedges.from_pairs(16, 16, range(8, 16), range(8))
    out = tmp_path / "out"
    copart.plan(graph, graph, graph, parts=(4, 6, 3), names=("a", "b", "c"), output=out, scheme="naive",
                interedges={("a", "b"): meet})
    again = replan(out, sources=dict.fromkeys("abc", graph), parts=(4, 5, 3), output=tmp_path / "next")
    assert list(again.plan.problem.pairs) == [("a", "b")]
    assert dict(again.plan.copartition.nparts) == {"a": 4, "b": 5, "c": 3}
    assert [file.name for file in (tmp_path / "next").glob("*.interedges.mtx")] == ["a-b.interedges.mtx"]


def test_a_pair_that_is_new_and_pairs_in_another_order(tmp_path):
    cubes = {name: cube("hexa", 4, offset=(x, 0, 0)) for x, name in enumerate("abc")}
    meet = Interedges.from_pairs(64, 64, [3, 7], [0, 4])
    copart.plan(*cubes.values(), parts=(2, 2, 2), names=tuple(cubes), output=tmp_path / "out",
                interedges={("b", "c"): meet, ("a", "b"): meet})
    assert check_plan(tmp_path / "out").ok
    again = replan(tmp_path / "out", interedges={("a", "c"): meet}, output=tmp_path / "next")
    assert [*again.plan.problem.pairs] == [("a", "b"), ("b", "c"), ("a", "c")]
    assert check_plan(tmp_path / "next").ok
    assert [*again.plan.metrics.pairs] == [("a", "b"), ("a", "c"), ("b", "c")]
    assert check_copartition(again.plan.problem, again.plan.copartition, coupling=copart.formats.coupling_schedule(
        again.plan.problem, again.plan.copartition)).ok


def test_a_plan_of_the_widest_tolerance_can_be_taken_up(tmp_path):
    copart.plan(cube("hexa", 3), cube("hexa", 3, offset=(1, 0, 0)), parts=(2, 2), eps=0.999, output=tmp_path / "out")
    assert replan(tmp_path / "out", parts=(2, 3)).plan.settings["eps"] == 0.999
    assert main(["check", str(tmp_path / "out")]) == 0


def test_processes_on_a_machine_are_said_to_be_placed_no_more(tmp_path, caplog):
    """The machine is not in the folder, and settings that tell of a placement would be of none."""
    out, again, last = tmp_path / "out", tmp_path / "again", tmp_path / "last"
    copart.plan(cube("hexa", 4), cube("hexa", 5, offset=(1, 0, 0)), parts=(2, 2), output=out,
                site=copart.Site(machine("2:2")))
    replan(out, output=again)
    assert "the new ones are not" in caplog.text
    assert not {"placement", "iterations"} & {*json.loads((again / "metrics.json").read_text())["settings"]}
    assert check_plan(again).ok
    caplog.clear()
    replan(again, output=last)
    assert not caplog.records


def test_new_processes_are_placed_on_a_machine_that_is_given_again(tmp_path, capsys):
    out, again = tmp_path / "out", tmp_path / "again"
    cubes = (cube("hexa", 6), cube("hexa", 7, offset=(1, 0, 0)))
    copart.plan(*cubes, parts=(4, 4), names=("a", "b"), output=out,
                site=copart.Site(machine("2:4"), iterations=(3, 2), cost=StepCost(alpha=7.0)))
    made = replan(out, parts=(5, 6), site=copart.Site(machine("3:4")), output=again)
    assert [one.name for one in made.plan.placements] == ["linear", "disjoint", "shared"]
    assert made.plan.placement is made.plan.placements[2]
    kept = json.loads((again / "metrics.json").read_text())
    assert (kept["settings"]["placement"], kept["settings"]["iterations"]) == ("shared", [3, 2])
    assert made.plan.metrics.step.cost.alpha == 7.0
    assert made.plan.metrics.step.cost.substeps == {"a": 3, "b": 2}
    # as if the same parts were of a plan
    graph = process_graph(made.plan.problem, made.plan.copartition, {"a": 3, "b": 2})
    alone = placements(graph, machine("3:4"), seed=1)
    assert [one.processor.tolist() for one in alone] == [one.processor.tolist() for one in made.plan.placements]
    assert READERS["processors.txt"](again / "launch" / "processors.txt").tolist() == alone[2].processor.tolist()
    assert check_plan(again).ok
    words = ["replan", str(out), "--hierarchy", "3:4", "-o", str(tmp_path / "line")]
    assert main([*words, "--placement", "linear", "--iterations", "1", "--step-cost", "alpha=3,t_m=2", "--report"]) == 0
    assert "8 processes on 3 of 4 hosts" in capsys.readouterr().out
    assert "On the machine" in (tmp_path / "line" / "report.html").read_text()
    kept = json.loads((tmp_path / "line" / "metrics.json").read_text())
    assert (kept["settings"]["placement"], kept["settings"]["iterations"]) == ("linear", [1, 1])
    assert kept["metrics"]["step"]["cost"]["alpha"] == 3.0
    assert kept["metrics"]["step"]["cost"]["substeps"] == {"a": 1, "b": 1}
    assert main([*words[:2], "--hierarchy", "2:3", "-o", str(tmp_path / "never")]) == 2
    assert "has 6 slots for 8 processes" in capsys.readouterr().err
    assert not (tmp_path / "never").exists()


def test_a_pool_is_placed_again(tmp_path):
    copart.plan(cube("hexa", 4), cube("hexa", 4, offset=(1, 0, 0)), parts=4, scheme="monolithic",
                output=tmp_path / "out")
    made = replan(tmp_path / "out", parts=6, site=copart.Site(machine("2:3")), output=tmp_path / "again")
    assert sorted(made.plan.placement.processor.tolist()) == [*range(6)]
    with pytest.raises(MappingError, match="has 6 slots for 7 processes"):
        replan(tmp_path / "out", parts=7, site=copart.Site(machine("2:3")))
    assert check_plan(tmp_path / "again").ok


def test_refusals(folder, tmp_path, capsys):
    with pytest.raises(ConfigError, match="holds the former plan"):
        replan(folder, output=folder)
    with pytest.raises(FormatError, match="is no folder"):
        replan(tmp_path / "absent")
    with pytest.raises(ConfigError, match="loads: no component 'middle'; known: left, right"):
        replan(folder, loads={"middle": [1]})
    with pytest.raises(CouplingError, match="loads of left: need 512 numbers"):
        replan(folder, loads={"left": [1, 2]})
    with pytest.raises(GraphError, match="loads of left: 512 of 512 entries are not whole numbers"):
        replan(folder, loads={"left": np.full(512, 0.5)})
    with pytest.raises(ConfigError, match=r"loads: needs a mapping from components, got \[1, 2\]"):
        replan(folder, loads=[1, 2])
    (tmp_path / "there").mkdir()
    with pytest.raises(FormatError, match="absent: is no folder"):
        replan(tmp_path / "absent", output=tmp_path / "there")
    with pytest.raises(ConfigError, match="parts: needs 2 numbers, one per component, got 3"):
        replan(folder, parts=(4, 5, 6))
    with pytest.raises(ConfigError, match="parts of right: is missing"):
        replan(folder, parts={"left": 4})
    with pytest.raises(ConfigError, match="sources: no component 'middle'"):
        replan(folder, sources={"middle": "x"})
    with pytest.raises(CouplingError, match="left: has 27 cells, the plan has 512"):
        replan(folder, sources={"left": cube("hexa", 3)})
    with pytest.raises(TypeError, match=r"site: needs copart.Site, got Machine"):
        replan(folder, site=machine("2:2"))
    with pytest.raises(ConfigError, match="scheme: 'other' cannot be run again"):
        replan(folder, scheme="other")
    with pytest.raises(ConfigError, match="scheme: monolithic shares one pool of processes"):
        replan(folder, scheme="monolithic")
    for arguments, message in ((["--load", "work"], "no cell array 'work'"),
                               (["--load", "one", "--load", "two"], "--load: needs one cell array, got one, two"),
                               (["--load", "=x"], "--load: needs NAME=VALUE"),
                               (["--interedges", "left=x.mtx"], "--new-interedges: needs two names"),
                               (["--load", f"left={tmp_path / 'bad.txt'}"], "bad.txt:2: loads must not be negative")):
        (tmp_path / "bad.txt").write_text("1\n-4\n")
        assert main(["replan", str(folder), *arguments, "-o", str(tmp_path / "never")]) == 2
        assert message in capsys.readouterr().err
    assert not (tmp_path / "never").exists()


def test_damaged_part_file(folder, tmp_path):
    import shutil

    broken = tmp_path / "broken"
    shutil.copytree(folder, broken)
    write_part(broken / "left.part.6", [0] * 5)
    with pytest.raises(FormatError, match="needs 512 part numbers"):
        replan(broken)
