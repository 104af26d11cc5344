"""Options with one name mean one thing in all commands; former spellings work or name the present one."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from copart.cli import main

from .lines import line_of


@pytest.fixture
def place(planned):
    Path("t.csv").write_text("component,cells,cost\nx,100,1e-6\ny,200,1e-6\n")
    Path("p.txt").write_text("0 1 900\n1 2 900\n2 3 900\n3 4 900\n4 5 900\n")
    Path("hosts").write_text("n1 slots=2\nn2 slots=4\n")
    return planned


def shown(capsys, *words: object) -> dict:
    assert main([*map(str, words), "--json"]) == 0
    return json.loads(capsys.readouterr().out)


# ---- --nodes: the nodes of the job
@pytest.mark.parametrize("nodes", ["n[1-2]:3", "2"])
def test_ranks_take_nodes_by_number_and_by_name(place, capsys, nodes):
    slots = [] if ":" in nodes else ["--slots", 3]
    assert shown(capsys, "ranks", "p.txt", "--nodes", nodes, *slots)["nodes"] == 2


def test_a_hostfile_says_what_nodes_run(place, capsys):
    assert shown(capsys, "ranks", "p.txt", "--nodes", "hosts", "-o", "a")["cut_before_us"] == \
        shown(capsys, "ranks", "p.txt", "--nodes", 2, "--slots", "2,4", "-o", "b")["cut_before_us"]
    assert shown(capsys, "grid", "--dims", "3x2", "--nodes", "hosts")["node_sizes"] == [2, 4]
    assert shown(capsys, "grid", "--dims", "3x2", "--nodes", "n[1-3]")["node_sizes"] == [2, 2, 2]
    assert shown(capsys, "grid", "--dims", "3x2", "--nodes", 3)["node_sizes"] == [2, 2, 2]


@pytest.mark.parametrize(("line", "words"), [
    ("ranks p.txt --nodes n[1-2]", "--slots: are missing"), ("ranks p.txt --nodes 2", "--slots: are missing"),
    ("ranks p.txt --nodes n[1-2]:3 --slots 3", "--slots: has no effect beside --nodes that say"),
    ("ranks p.txt --nodes 0 --slots 3", "--nodes: must be at least 1"),
    ("grid --dims 3x2 --nodes n1:2,n2", "--nodes: says of some nodes"),
    ("grid --dims 3x2 --nodes -1", "--nodes: must be at least 1"),
    ("machine info t.tgt --nodes 4", "--nodes: needs names or a hostfile here, got the number 4"),
    ("map g.graph --machine t.tgt --nodes 4", "are told as --hierarchy SLOTS:4"),
    ("plan a.vtu b.vtu --parts 2 2 --machine t.tgt --nodes 4", "needs names or a hostfile here")])
def test_nodes_that_do_not_do(place, capsys, line, words):
    assert words in line_of(capsys, *line.split())


# ---- --serial, --coupling
def test_advise_and_plan_say_serial_alike(place, capsys):
    serial = shown(capsys, "advise", "t.csv", "--total", 9, "--serial")
    assert serial == shown(capsys, "advise", "t.csv", "--total", 9, "--coupling", "serial")
    assert serial != shown(capsys, "advise", "t.csv", "--total", 9)
    with pytest.raises(SystemExit):
        main(["advise", "--help"])
    said = capsys.readouterr().out
    assert "--serial" in said
    assert "--coupling" not in said


# ---- --interedges: how they are found; files of new ones have a name of their own
def test_new_interedges_under_both_names(place, capsys):
    found = [shown(capsys, "replan", "plan", option, "a,b=plan/interedges.mtx", "-o", f"next{i}")["metrics"]
             for i, option in enumerate(("--new-interedges", "--interedges"))]
    assert found[0] == found[1]
    assert "--new-interedges: needs NAME=VALUE" in line_of(capsys, "replan", "plan", "--interedges", "touch")


# ---- the sizes of a cube
def test_sizes_of_a_cube(place, capsys):
    assert shown(capsys, "mesh", "cube", 3, "-o", "c.vtu")["cells"] == 27
    assert 300 < shown(capsys, "mesh", "cube", "--cells", "tetra", "--about", 400, "-o", "d.vtu")["cells"] < 500
    tetra = ("mesh", "cube", "--cells", "tetra", "-o", "e")
    assert "for about 400 in all give --about 400" in line_of(capsys, *tetra, 400)
    assert "--about: is missing" in line_of(capsys, *tetra)
    assert "SIZE: is missing" in line_of(capsys, "mesh", "cube", "-o", "e")
    assert "--about: has no effect" in line_of(capsys, "mesh", "cube", 3, "--about", 400, "-o", "e")


# ---- the order of a hierarchy: innermost first, in every command
def test_a_hierarchy_begins_inside(place, capsys):
    machine = ("--hierarchy", "2:3", "--distance", "1:10")
    assert shown(capsys, "machine", "info", *machine)["hosts"] == [{"name": f"node{i}", "slots": 2} for i in range(3)]
    # three hosts of two slots are what has room for six processes, two on each
    shown(capsys, "plan", "a.vtu", "b.vtu", "--parts", 3, 3, *machine, "--placement", "linear", "-o", "out")
    assert Path("out/launch/hosts.mpich").read_text().split() == ["node0:2", "node1:2", "node2:2"]
    shown(capsys, "map", "g.graph", *machine, "-o", "m.map")
    assert len(set(Path("m.map").read_text().split()[2::2])) <= 6


# ---- errors after the line was read
@pytest.mark.parametrize(("line", "command"), [
    ("plan a.vtu b.vtu --parts 2", "plan"), ("plan a.vtu b.vtu", "plan"),
    ("compare a.vtu b.vtu --parts 2 2 2", "compare"),
    ("part g.graph 2 --time-limit 3", "part"), ("mesh cube --cells tetra 4 -o e", "mesh cube"),
    ("plan a.vtu b.vtu --parts 2 2 --names x x", "plan"), ("grid --nodes 4", "grid")])
def test_errors_about_options_say_where_these_are_told(place, capsys, line, command):
    said = line_of(capsys, *line.split())
    assert said.endswith(f"(see copart {command} --help)\n"), said


@pytest.mark.parametrize("line", ["plan a.vtu none.vtu --parts 2 2", "part none.graph 2", "check none"])
def test_errors_about_files_do_not(place, capsys, line):
    assert "--help" not in line_of(capsys, *line.split())


# ---- --coupled on plans whose scheme leaves the coupled cells to chance
def test_coupled_on_a_naive_plan_is_refused(place, capsys):
    assert main(["plan", "a.vtu", "b.vtu", "--parts", "2", "2", "--scheme", "naive", "-o", "alone", "-q"]) == 0
    said = line_of(capsys, "replan", "alone", "--coupled", 1, 1, "-o", "next")
    assert "--coupled: has no effect on a plan of naive" in said
    assert not Path("next").exists()
    assert main(["replan", "alone", "--coupled", "1", "1", "--scheme", "aware", "-o", "next", "-q"]) == 0
