"""`copart plan --machine`: figures, launch files, report, and what it refuses."""

from __future__ import annotations

import json

import numpy as np
import pytest

from copart.cli import main
from copart.coupling import CoPartition, CoupledProblem, Interedges
from copart.errors import ConfigError, MappingError
from copart.formats import write_metis
from copart.formats.launch import READERS
from copart.formats.machines import read_machine
from copart.graph import Graph
from copart.mapping.congestion import TorusNetwork
from copart.mapping.coupled.placed import placed
from copart.mapping.coupled.placements import place
from copart.mapping.coupled.processes import process_graph
from copart.mapping.machine import attached
from copart.mesh import cube, write_vtu
from copart.plans.placements_check import check_placements
from copart.plans.plan import plan
from copart.plans.requests import Meeting, Site
from copart.report.placement import placement_words


@pytest.fixture(scope="module")
def meshes(tmp_path_factory):
    folder = tmp_path_factory.mktemp("meshes")
    write_vtu(folder / "a.vtu", cube("hexa", 8))
    write_vtu(folder / "b.vtu", cube("hexa", 12, offset=(1, 0, 0)))
    return folder


def run(meshes, *words):
    return main(["plan", str(meshes / "a.vtu"), str(meshes / "b.vtu"), "--parts", "4", "12", *map(str, words)])


def test_cores_that_are_numbered_anew_in_every_package(meshes, tmp_path):
    """Slots of a rankfile are cores as they lie, not by the numbers of the operating system."""
    unit = 0
    packages = []
    for package in range(2):
        cores = ""
        for core in range(8):
            cores += (f'<object type="Core" os_index="{core}"><object type="PU" os_index="{unit}"/></object>')
            unit += 1
        packages.append(f'<object type="Package" os_index="{package}">{cores}</object>')
    (tmp_path / "node.xml").write_text(
        '<?xml version="1.0"?><topology version="2.0"><object type="Machine" os_index="0">'
        f'<info name="HostName" value="n1"/>{"".join(packages)}</object></topology>')
    for unit in ("core", "pu"):
        assert run(meshes, "--machine", tmp_path / "node.xml", "--unit", unit, "-o", tmp_path / unit, "-q") == 0
        seats = READERS["rankfile"](tmp_path / unit / "launch" / "rankfile")
        assert sorted(seat.slot for seat in seats) == list(range(16))
        assert (":hwtcpus" in (tmp_path / unit / "launch" / "launch.txt").read_text()) == (unit == "pu")
        assert main(["check", str(tmp_path / unit), "-q"]) == 0


@pytest.mark.parametrize("placement", ["linear", "disjoint", "shared"])
def test_words_are_of_the_chosen_placement(meshes, tmp_path, capsys, placement):
    assert run(meshes, "--machine", "n[1-4]:6", "--placement", placement, "-o", tmp_path, "--json") == 0
    told = json.loads(capsys.readouterr().out)
    one = next(p for p in told["placements"] if p["placement"] == placement)
    assert run(meshes, "--machine", "n[1-4]:6", "--placement", placement, "-o", tmp_path) == 0
    said = capsys.readouterr().out
    sentence = f"Regular phase: {one['phases']['regular']['inter_node_volume']:,} data between hosts"
    assert (sentence in said) == (placement != "linear")


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
    (["--hierarchy", "4:3"], "has 12 slots for 16 processes; name more hosts (or more sons in --hierarchy)"),
    (["--hierarchy", "4:4", "--iterations", "1", "2", "3"], "iterations: needs two integers"),
    (["--hierarchy", "8:2", "--scheme", "monolithic", "--placement", "disjoint"], "take turns on the same processes"),
    (["--hierarchy", "16", "--placement", "disjoint"], "1 host cannot give every code hosts of its own; name more"),
    (["--hierarchy", "16", "--method", "umc"], "tori, meshes, trees and dragonflies; one host has no links; use uwh"),
    (["--hierarchy", "16", "--machine-picture", "m.svg"], "picture: one host has no links; leave it out"),
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


# ---- by methods, on a torus
NODES = "torus 4 4 2\n" + "".join(f"n{i} {x} {y} {z} 4\n" for i, (x, y, z) in enumerate(
    [(0, 0, 0), (3, 0, 0), (1, 2, 0), (2, 2, 1), (0, 3, 1)]))


@pytest.fixture
def nodes(tmp_path):
    (tmp_path / "nodes.csv").write_text(NODES)
    return tmp_path / "nodes.csv"


def test_a_plan_by_a_method(meshes, nodes, tmp_path, capsys):
    out = tmp_path / "out"
    words = ["--machine", nodes, "--iterations", 2, 3, "--method", "auto", "-o", out]
    assert run(meshes, *words, "--report", "--machine-picture", tmp_path / "machine.png") == 0
    said = capsys.readouterr().out
    told = json.loads((out / "metrics.json").read_text())
    assert {key: told["settings"][key] for key in ("placement", "method", "bound")} == {
        "placement": "shared", "method": "auto", "bound": "bandwidth"}
    linear, shared = told["placements"][0], told["placements"][-1]
    mc = [sum(one["routes"][phase]["max_congestion"] / one["phases"][phase]["volume"] for phase in one["phases"])
          for one in (linear, shared)]
    assert mc[1] < mc[0]
    row = next(line for line in said.splitlines() if line.startswith("shared") and " both " in line)
    both = shared["routes"]["both"]
    assert row.split()[-8:-5] == ["both", str(both["total_hops"]), str(both["weighted_hops"])]
    assert f"on the busiest link {shared['routes']['coupling']['max_congestion']:,.6g}, " in said
    page = (out / "report.html").read_text()
    assert page.count('class="picture machine"') == 4  # each phase in linear order and as placed
    assert "Hops and congestion by routes" in page
    assert (tmp_path / "machine.png").read_bytes()[:4] == b"\x89PNG"
    assert main(["check", str(out), "-q"]) == 0


def test_the_centres_of_moved_meshes_are_where_they_meet(meshes):
    """A mesh in another unit is placed by coordinates in the unit of the other."""
    site = Site(attached(TorusNetwork([4, 4]), [0, 3, 5, 6], 4), method="geometric")
    a, b = cube("hexa", 8), cube("hexa", 12, offset=(1, 0, 0))
    small = b.replace(points=(b.points - (1, 0, 0)) * 1000)
    meeting = Meeting(scale={"b": 0.001}, shift={"b": (1, 0, 0)})
    made = plan(a, small, parts=(4, 12), names=("a", "b"), site=site, meeting=meeting)
    at = {"a": a.centres(), "b": b.centres()}
    of = process_graph(made.problem, made.copartition, coords=at)
    assert np.allclose(made.placement.processes.centres, of.centres)
    assert (place(of, site.machine, method="geometric").processor == made.placement.processor).all()


@pytest.mark.parametrize(("change", "what"), [
    (lambda one: one["phases"]["coupling"].update(volume=1), "placements[2].phases.coupling.volume: is "),
    (lambda one: one["phases"]["regular"].update(inter_node_messages=0), "phases.regular.inter_node_messages: is "),
    (lambda one: one["phases"]["regular"].update(hops=0.5), "phases.regular.by_distance: adds up"),
    (lambda one: one.update(hosts=["n0"] * 16), "phases.regular.inter_node_volume: is 0"),
    (lambda one: one.update(processors=one["processors"][::-1]), "processors: are those of placements[2], found"),
    (lambda one: one["processors"].__setitem__(0, one["processors"][1]), "placements[2].processors: are 16 different"),
    (lambda one: one["routes"]["both"].update(total_hops=7), "routes.both.total_hops: is the sum over the phases"),
    (lambda one: one["routes"]["regular"].update(internode_volume=7), "routes.regular.internode_volume: is "),
    (lambda one: one["routes"]["coupling"].update(used_links=999), "routes.coupling: has congestion that fits"),
    (lambda one: one["routes"]["regular"].update(max_received_volume=7), "routes.regular.max_received_volume: is "),
    (lambda one: one["routes"]["both"].update(max_received_messages=7), "routes.both.max_received_messages: is "),
    (lambda one: one.update(placement="near"), "placements: hold shared, found no such placement"),
    (lambda one: one.pop("hosts"), "placements[2]: is a placement"),
])
def test_placements_are_checked_from_the_parts(meshes, nodes, tmp_path, change, what):
    made = plan(meshes / "a.vtu", meshes / "b.vtu", parts=(4, 12), output=tmp_path / "out",
                site=Site(read_machine(nodes), method="uwh"))
    told = json.loads(json.dumps(made.to_dict()))
    assert check_placements(tmp_path / "out", told, made.problem, made.copartition) == []
    change(told["placements"][-1])
    found = [str(one) for one in check_placements(tmp_path / "out", told, made.problem, made.copartition)]
    assert any(what in line for line in found), found


def test_placements_are_checked_whatever_was_removed(meshes, nodes, tmp_path):
    made = plan(meshes / "a.vtu", meshes / "b.vtu", parts=(4, 12), output=tmp_path, site=Site(read_machine(nodes)))
    for change, what in ((lambda told: told["settings"].pop("iterations"),
                          "settings.iterations: has a number for each component, found None"),
                         (lambda told: told.pop("placements"),
                          "placements: say why there is launch/processors.txt, found no placements")):
        told = json.loads(json.dumps(made.to_dict()))
        change(told)
        found = [str(one) for one in check_placements(tmp_path, told, made.problem, made.copartition)]
        assert found == [f"metrics.json: {what}"]


def test_a_phase_that_stayed_on_hosts_in_linear_order_is_told():
    line = Graph.from_edges(4, range(3), range(1, 4))
    problem = CoupledProblem.of_two(line, line, Interedges.from_pairs(4, 4, [0], [0]))
    of = process_graph(problem, CoPartition({"a": np.arange(4) // 2, "b": np.arange(4) // 2}, {"a": 2, "b": 2}))
    on = attached(TorusNetwork([4]), [0, 1], 2)
    said = placement_words([placed(of, on, range(4), "linear"), placed(of, on, [0, 2, 1, 3], "shared")])
    assert said == [
        "4 processes on 2 of 2 hosts.",
        "Regular phase: 4 data between hosts a coupling step, 0 in linear order (more).",
        "Coupling phase: 0 data between hosts a coupling step, 2 in linear order (100% less); on the busiest link "
        "0, 1 in linear order (100% less)."]


def test_methods_that_do_not_apply_leave_nothing_behind(meshes, tmp_path, capsys):
    write_metis(tmp_path / "ring.graph", Graph.from_edges(16, range(16), [*range(1, 16), 0]))
    words = ["--machine", tmp_path / "ring.graph", "-o", tmp_path / "out"]
    assert run(meshes, *words, "--method", "umc") == 2
    assert "umc needs static routes" in capsys.readouterr().err
    assert run(meshes, *words, "--machine-picture", tmp_path / "m.png") == 2
    assert "has no static routes; give the machine as coordinates" in capsys.readouterr().err
    assert not (tmp_path / "out").exists()
    assert run(meshes, *words, "--method", "uwh", "-q") == 0
    with pytest.raises(ConfigError, match="method: is how placement shared is made, not linear"):
        Site(read_machine(tmp_path / "ring.graph"), "linear", method="ug")
    bare = plan(meshes / "a.vtu", meshes / "b.vtu", parts=(2, 2))
    with pytest.raises(ConfigError, match="the plan was made without a machine"):
        bare.machine_picture(tmp_path / "m.png")
