"""No command writes over a file that it reads: every input against every output, by name and by link."""

from __future__ import annotations

import argparse
import os
from collections.abc import Iterator
from pathlib import Path

import numpy as np
import pytest

import copart
from copart.cli import COMMANDS, main, parser
from copart.errors import ConfigError
from copart.formats import write_metis
from copart.formats.machines import read_machine
from copart.mesh import cube, read_mesh, write_vtu
from copart.mesh.writing.gmsh_parts import write_gmsh
from copart.mesh.writing.pieces import write_pieces

from ..helpers import grid

MACHINE = "--machine {source} --nodes {nodes} --host {host} --vertices {vertices}"
#: Every option of every command that reads, and what is written; files that are compared are not opened before.
CALLS = {
    "plan": f"{{meshes}} b.vtu --parts 2 {{behind}} --costs {{costs}} --step-cost {{step_cost}} {MACHINE} "
            "-o {output} --picture {picture} --report {report} --machine-picture {machine_picture}",
    "compare": f"{{meshes}} b.vtu --parts 2 {{behind}} --costs {{costs}} --step-cost {{step_cost}} {MACHINE} "
               "--picture {picture} --report {report}",
    "advise": "{costs} --total 4 --picture {picture}",
    "part": "{source} 2 --fixed {fixed} --tpwgts {tpwgts} --weights {weights} -o {output}",
    "repart": "{source} {partfile} 2 -o {output} --report {report}",
    "replan": "{folder} --load a={load} --source a={sources} --new-interedges a,b={interedges} -o {output} "
              f"--step-cost {{step_cost}} {MACHINE} --picture {{picture}} --report {{report}} "
              "--machine-picture {machine_picture}",
    "machine": "info {source} --nodes {nodes} --host {host} --vertices {vertices} --tgt {tgt}",
    "map": "{graph} --fixed {fixed} --from {old} --part {part} -o {output} " + MACHINE,
    "ranks": "{profile} --counts {counts} --placement {placement} --model {model} --nodes {nodes} --slots 2 "
             "-o {output}",
    "grid": "--dims 3x2 --nodes {nodes} -o {output} --picture {picture}",
}
#: What plans write under names of their own into their folder.
INSIDE = {"plan": ("coupling.json", "metrics.json"), "replan": ("coupling.json", "metrics.json", "migration.json")}
#: What they write there for options that name no file.
PAGES = {"picture": "plan.png", "report": "report.html"}
#: Options that read where nothing is written.
HARMLESS = {"map": {"eval"}, "machine": {"times"}}
LINKS = ("name", "symlink", "hard link")


def leaves(of: argparse.ArgumentParser) -> Iterator[argparse.ArgumentParser]:
    """The parsers that have no commands of their own."""
    subs = [action for action in of._actions if isinstance(action, argparse._SubParsersAction)]
    if not subs:
        yield of
    for action in subs:
        for sub in action.choices.values():
            yield from leaves(sub)


def texts(of: argparse.ArgumentParser) -> dict[str, argparse.Action]:
    """The arguments of a parser that take any text."""
    return {action.dest: action for action in of._actions
            if action.nargs != 0 and action.type in (None, str) and action.choices is None}


@pytest.mark.parametrize("leaf", list(leaves(parser())), ids=lambda p: p.prog)
def test_every_option_is_declared(leaf):
    declared = COMMANDS[leaf.prog.split()[1]][0].PATHS
    for name, action in texts(leaf).items():
        places = [name in declared.reads, name in declared.writes, name in declared.words]
        assert sum(places) == 1, f"{leaf.prog}: is {name} a file that is read, one that is written, or a word?"
        if name in declared.words:
            words = f"{action.metavar} {action.help}"
            assert "FILE" not in words or "NAME=F" in words, f"{leaf.prog}: {name} looks like a path"


@pytest.mark.parametrize("name", sorted(COMMANDS))
def test_nothing_else_is_declared(name):
    declared = COMMANDS[name][0].PATHS
    known = {dest for leaf in leaves(parser()) if leaf.prog.split()[1] == name for dest in texts(leaf)}
    assert {*declared.reads, *declared.writes, *declared.words} <= {*known, "behind"}


def test_every_command_that_reads_and_writes_is_tried():
    for name, (module, _) in COMMANDS.items():
        declared = module.PATHS
        if declared.reads and declared.writes and name != "mesh":  # mesh writes what it has not read
            assert name in CALLS
            for option in {*declared.reads, *declared.writes} - HARMLESS.get(name, set()):
                assert f"{{{option}}}" in CALLS[name], (name, option)


def pairs() -> Iterator[tuple[str, str, str, str]]:
    for name in CALLS:
        declared = COMMANDS[name][0].PATHS
        for read in sorted(set(declared.reads) - HARMLESS.get(name, set())):
            for written in sorted(declared.writes):
                own = ("", PAGES[written]) if written in PAGES else INSIDE.get(name, ("",))
                for inside in own if name in INSIDE else ("",):
                    yield name, read, written, inside


def contents(folder: Path) -> dict[str, bytes]:
    return {str(p.relative_to(folder)): p.read_bytes() for p in folder.rglob("*") if p.is_file()}


@pytest.mark.parametrize("link", LINKS)
@pytest.mark.parametrize(("name", "read", "written", "inside"), list(pairs()))
def test_an_input_is_not_written_over(tmp_path, monkeypatch, capsys, name, read, written, inside, link):
    monkeypatch.chdir(tmp_path)
    places = {option: f"{option}.{'html' if option == 'report' else 'png' if option == 'picture' else 'txt'}"
              for option in (*COMMANDS[name][0].PATHS.reads, *COMMANDS[name][0].PATHS.writes)}
    line = CALLS[name]
    if inside:
        if written in PAGES:
            line = line.replace(f"{{{written}}}", "")
        places["output"] = "out"
        Path("out").mkdir()
    target = Path("out", inside) if inside else Path(places[written])
    target.write_text("precious\n")
    if link == "name":
        places[read] = f"./{target}"
    else:
        places[read] = "linked.txt"
        (os.symlink if link == "symlink" else os.link)(target, "linked.txt")
    if read == "folder":
        # a folder is read with all that it holds
        Path("former").mkdir()
        Path("former", "metrics.json").write_text("{}")
        os.link(target, "former/linked.txt")
        places[read] = "former"
    before = contents(tmp_path)
    arguments = [word.format(**places) for word in line.split()]
    assert main([name, *arguments]) == 2
    out, err = capsys.readouterr()
    assert out == ""
    assert err.count("\n") == 1
    assert f"{target} is also read (" in err
    assert contents(tmp_path) == before


# ---- names that are only known when the files have been read
A, B = cube("hexa", 3), cube("hexa", 3, offset=(1.0, 0.0, 0.0))


@pytest.fixture
def folder(tmp_path, monkeypatch):
    """A folder with two meshes and their plan, in which the test runs."""
    monkeypatch.chdir(tmp_path)
    write_vtu("a.vtu", A)
    write_vtu("b.vtu", B)
    copart.plan("a.vtu", "b.vtu", parts=(2, 2), output="plan")
    return tmp_path


def refused(capsys, folder, *arguments):
    """The error of a command that must leave everything as it is."""
    before = contents(folder)
    assert main([*arguments]) == 2
    err = capsys.readouterr().err
    assert err.splitlines()[-1].endswith("name another one"), err
    assert contents(folder) == before
    return err


@pytest.mark.parametrize("name", ["a.part.2", "b.vtu", "launch/*host*", "launch/*rank*"])
def test_a_plan_does_not_write_over_its_machine(folder, capsys, name):
    copart.plan("a.vtu", "b.vtu", parts=(2, 2), output="try", site=copart.Site(read_machine("n1:4")))
    hosts = Path("out", next(Path("try").glob(name)).relative_to("try"))
    hosts.parent.mkdir(parents=True)
    hosts.write_text("n1:4\n")
    for option in (["--machine", str(hosts)], ["--hierarchy", "4", "--nodes", str(hosts)]):
        assert "is also read (--" in refused(capsys, folder, "plan", "a.vtu", "b.vtu", "--parts", "2", "2", *option,
                                             "-o", "out")


@pytest.mark.parametrize(("option", "file", "told"), [
    ("--load", "a=next/a.part.2", "--load"), ("--source", "a=next/a.vtu", "component a"),
    ("--new-interedges", "a,b=next/interedges.mtx", "--new-interedges")])
def test_a_new_plan_does_not_write_over_what_has_changed(folder, capsys, option, file, told):
    copart.plan("a.vtu", "b.vtu", parts=(2, 2), output="next")
    for parts in ([], ["--parts", "2", "2"]):
        assert f"is also read ({told})" in refused(capsys, folder, "replan", "plan", option, file, "-o", "next", *parts)


def test_a_call_from_python_knows_its_files_too(folder):
    copart.plan("a.vtu", "b.vtu", parts=(2, 2), output="next")
    os.link("plan/metrics.json", "next/linked")
    before = contents(folder)
    with pytest.raises(ConfigError, match=r"next/a\.vtu is also read \(component a\)"):
        copart.replan("plan", sources={"a": "next/a.vtu"}, output="next")
    os.remove("next/coupling.json")
    os.link("plan/coupling.json", "next/coupling.json")
    with pytest.raises(ConfigError, match=r"next/coupling\.json is also read \(the former plan\)"):
        copart.replan("plan", output="next")
    assert contents(folder) == before


def test_files_for_solvers_are_refused_before_the_parts_are_written(folder, capsys):
    write_gmsh("box.msh", read_mesh("a.vtu"), np.zeros(27, np.int32))
    Path("box.2.msh").write_text("-1\n" * 27)
    assert "box.2.msh is also read (--fixed)" in refused(
        capsys, folder, "part", "box.msh", "2", "--write", "gmsh", "--fixed", "box.2.msh")


def test_the_files_of_a_case_count_as_read(tmp_path, monkeypatch, capsys):
    mesh = tmp_path / "case" / "constant" / "polyMesh"
    mesh.mkdir(parents=True)
    for name in ("points", "faces", "owner", "neighbour", "boundary"):
        (mesh / name).write_text("precious\n")
    monkeypatch.chdir(tmp_path)
    assert "owner is also read (GRAPH_OR_MESH)" in refused(
        capsys, tmp_path, "part", "case", "2", "-o", "case/constant/polyMesh/owner")


@pytest.mark.parametrize("arguments", [
    ["repart", "g.graph", "old.txt", "2", "-o", "x.html", "--report", "x.html"],
    ["grid", "--dims", "2x2", "--nodes", "2", "-o", "x.png", "--picture", "./x.png"]])
def test_two_outputs_are_two_files(tmp_path, monkeypatch, capsys, arguments):
    monkeypatch.chdir(tmp_path)
    write_metis("g.graph", grid(2, 2))
    Path("old.txt").write_text("0\n" * 4)
    assert "is also written (output)" in refused(capsys, tmp_path, *arguments)


@pytest.mark.parametrize(("kind", "name"), [("pvtu", "a.2.pvtu"), ("gmsh", "a.2.msh")])
def test_the_part_file_is_none_of_the_others(tmp_path, monkeypatch, capsys, kind, name):
    monkeypatch.chdir(tmp_path)
    write_vtu("a.vtu", cube("hexa", 2))
    said = refused(capsys, tmp_path, "part", "a.vtu", "2", "--write", kind, "-o", f"./{name}")
    assert "would be a list of numbers" in said
    assert main(["part", "a.vtu", "2", "--write", kind, "-q"]) == 0
    assert Path(name).exists()


def test_words_are_no_files(tmp_path, monkeypatch):
    """A file that happens to be called as a word of the option is not read."""
    monkeypatch.chdir(tmp_path)
    Path("cyclic").write_text("old ranks\n")
    Path("p.txt").write_text("0 1 100 1\n1 0 100 1\n")
    assert main(["ranks", "p.txt", "--nodes", "2", "--slots", "1", "--placement", "cyclic", "-o", "cyclic", "-q"]) == 0
    assert sorted(Path("cyclic").read_text().split()) == ["0", "1"]


def test_what_a_deck_includes_is_read(tmp_path, monkeypatch, capsys):
    monkeypatch.chdir(tmp_path)
    Path("nodes.txt").write_text("*NODE\n1,0,0,0\n2,1,0,0\n3,0,1,0\n4,0,0,1\n5,1,1,1\n")
    Path("mesh.inp").write_text("*INCLUDE, INPUT=nodes.txt\n*ELEMENT, TYPE=C3D4\n1,1,2,3,4\n2,2,3,4,5\n")
    Path("hard").hardlink_to("nodes.txt")
    before = Path("nodes.txt").read_bytes()
    for output in ("nodes.txt", "hard"):
        assert main(["part", "mesh.inp", "2", "-o", output]) == 2
        assert f"{output} is also read" in capsys.readouterr().err
    assert Path("nodes.txt").read_bytes() == before
    assert main(["part", "mesh.inp", "2", "-o", "parts"]) == 0


def test_a_folder_that_is_not_there_yet_hides_no_input(tmp_path, monkeypatch, capsys):
    monkeypatch.chdir(tmp_path)
    write_metis("a.graph", grid(4, 4))
    before = Path("a.graph").read_bytes()
    assert main(["part", "a.graph", "2", "-o", "new/../a.graph"]) == 2
    assert "a.graph is also read" in capsys.readouterr().err
    assert Path("a.graph").read_bytes() == before


@pytest.mark.parametrize(("name", "beside"), [("a.xdmf", "data.h5"), ("a.pvtu", "a/a_1.vtu"), ("t.ele", "t.node"),
                                              ("case:air", "case/constant/regionProperties")])
def test_files_that_come_with_the_one_named_are_read_too(tmp_path, monkeypatch, capsys, name, beside):
    import meshio

    monkeypatch.chdir(tmp_path)
    mesh = cube("tetra", 100)
    if name == "a.xdmf":
        meshio.write("data.xdmf", meshio.Mesh(mesh.points, list(mesh.blocks)))
        Path("data.xdmf").rename(name)
    elif name == "a.pvtu":
        write_pieces(Path(name), mesh, np.arange(mesh.ncells) % 2, 2)
    elif name == "t.ele":
        meshio.write("t.node", meshio.Mesh(mesh.points, list(mesh.blocks)), file_format="tetgen")
    else:
        Path("case/constant/air/polyMesh").mkdir(parents=True)
        for file in ("points", "faces", "owner", "neighbour", "boundary"):
            Path("case/constant/air/polyMesh", file).write_text("precious\n")
        Path(beside).write_text("regions ( fluid (air) );\n")
    before = Path(beside).read_bytes()
    assert main(["part", name, "2", "-o", beside]) == 2
    assert f"{beside} is also read" in capsys.readouterr().err
    assert Path(beside).read_bytes() == before
