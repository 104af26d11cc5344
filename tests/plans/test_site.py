"""`copart plan --machine`: figures, launch files, report, and what it refuses."""

from __future__ import annotations

import json

import numpy as np
import pytest

from copart.cli import main
from copart.coupling import CoPartition
from copart.errors import ConfigError, MappingError
from copart.formats.launch import READERS
from copart.formats.machines import read_machine
from copart.mapping.coupled.placed import placed
from copart.mapping.coupled.processes import process_graph
from copart.mesh import cube, write_vtu
from copart.plans.plan import plan
from copart.plans.requests import Site


@pytest.fixture(scope="module")
def meshes(tmp_path_factory):
    folder = tmp_path_factory.mktemp("meshes")
    write_vtu(folder / "a.vtu", cube("hexa", 8))
    write_vtu(folder / "b.vtu", cube("hexa", 12, offset=(1, 0, 0)))
    return folder


def run(meshes, *words):
    return main(["plan", str(meshes / "a.vtu"), str(meshes / "b.vtu"), "--parts", "4", "12", *map(str, words)])


def test_launch_files_are_of_the_placement(meshes, tmp_path, capsys):
    assert run(meshes, "--machine", "n[1-4]", "--slots", 5, "-o", tmp_path, "--report", "--json") == 0
    told = json.loads(capsys.readouterr().out)
    names = [one["placement"] for one in told["placements"]]
    assert names == ["linear", "disjoint", "shared"]
    shared = told["placements"][2]
    files = {name: reader(tmp_path / "launch" / name) for name, reader in READERS.items()}
    assert files["processors.txt"].tolist() == shared["processors"]
    assert files["hosts.mpich"] == files["hosts.slurm"] == [s.host for s in files["rankfile"]] == shared["hosts"]
    assert [(p.command, p.ranks) for p in files["programs.slurm"]] == [("./a", 4), ("./b", 12)]
    page = (tmp_path / "report.html").read_text()
    assert "On the machine" in page
    assert page.count('class="picture traffic"') == 3
    # the figures again, from the files alone
    parts = {name: np.loadtxt(tmp_path / f"{name}.part.{k}", int) for name, k in (("a", 4), ("b", 12))}
    made = plan(meshes / "a.vtu", meshes / "b.vtu", parts=(4, 12))
    of = process_graph(made.problem, CoPartition(parts, {"a": 4, "b": 12}))
    again = placed(of, read_machine("n[1-4]", slots=5), files["processors.txt"])
    for phase, figures in shared["phases"].items():
        assert again.phases[phase].inter_node_volume == figures["inter_node_volume"]


@pytest.mark.parametrize("placement", ["linear", "disjoint"])
def test_the_placement_asked_for_is_written(meshes, tmp_path, placement):
    assert run(meshes, "--hierarchy", "4:5", "--placement", placement, "-o", tmp_path, "-q") == 0
    got = READERS["processors.txt"](tmp_path / "launch" / "processors.txt")
    assert (got.tolist() == list(range(16))) == (placement == "linear")


def test_one_program_of_a_shared_pool(meshes, tmp_path):
    assert run(meshes, "--scheme", "monolithic", "--hierarchy", "4:4", "-o", tmp_path, "-q") == 0
    assert [p.ranks for p in READERS["programs.slurm"](tmp_path / "launch" / "programs.slurm")] == [16]


def test_a_bare_architecture_has_processors_only(meshes, tmp_path):
    (tmp_path / "t.tgt").write_text("torus2D 4 4\n")
    assert run(meshes, "--machine", tmp_path / "t.tgt", "-o", tmp_path / "out", "-q") == 0
    assert sorted(p.name for p in (tmp_path / "out" / "launch").iterdir()) == ["launch.txt", "processors.txt",
                                                                               "programs.slurm"]


def test_how_to_start_is_said_without_a_machine(meshes, tmp_path, capsys):
    assert run(meshes, "-o", tmp_path / "out", "-q") == 0
    text = (tmp_path / "out" / "launch" / "launch.txt").read_text()
    assert "mpirun -n 4 ./a : -n 12 ./b\n" in text
    assert "# ranks 4 to 15: parts 0 to 11 of ./b\n" in text
    got = READERS["programs.slurm"](tmp_path / "out" / "launch" / "programs.slurm")
    assert [(p.command, p.ranks) for p in got] == [("./a", 4), ("./b", 12)]
    assert main(["check", str(tmp_path / "out"), "-q"]) == 0
    (tmp_path / "out" / "launch" / "launch.txt").write_text(text.replace("-n 12", "-n 11"))
    assert main(["check", str(tmp_path / "out")]) == 1
    assert "launch.txt: ranks of the programs: are [4, 12], found [4, 11]" in capsys.readouterr().out


@pytest.mark.parametrize(("words", "error"), [
    (["--hierarchy", "4:3"], "has 12 slots for 16 processes"),
    (["--hierarchy", "4:4", "--iterations", "1", "2", "3"], "iterations: needs two integers"),
    (["--hierarchy", "8:2", "--scheme", "monolithic", "--placement", "disjoint"], "hosts of its own"),
])
def test_what_cannot_be_placed(meshes, tmp_path, capsys, words, error):
    assert run(meshes, *words, "-o", tmp_path / "out") == 2
    assert error in capsys.readouterr().err
    assert not (tmp_path / "out").exists()


def test_unknown_placement(meshes):
    with pytest.raises(ConfigError, match="placement: 'near' is not known"):
        plan(meshes / "a.vtu", meshes / "b.vtu", parts=(2, 2), site=Site(read_machine(hierarchy="4"), "near"))
    with pytest.raises(MappingError, match="3 slots for 4 processes"):
        plan(meshes / "a.vtu", meshes / "b.vtu", parts=(2, 2), site=Site(read_machine(hierarchy="3")))


def test_compare_shows_every_scheme_in_order_and_placed(meshes, tmp_path, capsys):
    words = ["compare", meshes / "a.vtu", meshes / "b.vtu", "--parts", 4, 12, "--seeds", 1, "--hierarchy", "4:4",
             "--schemes", "naive", "monolithic", "--report", tmp_path / "c.html"]
    assert main([*map(str, words), "--json"]) == 0
    placements = json.loads(capsys.readouterr().out)["placements"]
    assert [one["placement"] for one in placements] == ["naive, linear", "naive, shared", "monolithic, linear",
                                                        "monolithic, shared"]
    hops = [sum(phase["hops"] / max(phase["volume"], 1) for phase in one["phases"].values()) for one in placements]
    assert hops[1] <= hops[0]
    assert hops[3] <= hops[2]
    page = (tmp_path / "c.html").read_text()
    assert "naive, shared" in page
    assert "picture traffic" not in page
