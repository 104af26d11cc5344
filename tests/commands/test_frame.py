"""The command line, in process: exit status, what is printed, and files that ``copart check`` accepts."""

from __future__ import annotations

import json
import logging
import os
import re
import subprocess
import sys
import time

import numpy as np
import pytest

from copart.cli import COMMANDS, main, parser
from copart.commands import console, plan
from copart.formats import read_part, write_metis, write_part
from copart.mesh import read_mesh
from copart.schemes.registry import SCHEMES

from ..helpers import ROOT, grid, shared


@pytest.fixture(scope="module")
def cubes(tmp_path_factory):
    """Two mesh files that share a face."""
    folder = tmp_path_factory.mktemp("cubes")
    assert main(["mesh", "cube", "--cells", "hexa", "6", "-o", str(folder / "a.vtu"), "-q"]) == 0
    assert main(["mesh", "cube", "8", "--offset", "1", "0", "0", "-o", str(folder / "b.vtu"), "-q"]) == 0
    return str(folder / "a.vtu"), str(folder / "b.vtu")


@pytest.fixture
def graph_file(tmp_path):
    write_metis(tmp_path / "g.graph", grid(12, 12))
    return str(tmp_path / "g.graph")


def copart(*arguments: object) -> int:
    return main([str(a) for a in arguments])


def failure(capsys: pytest.CaptureFixture[str], *arguments: object) -> str:
    """The one line on stderr of a command that must end with status 2 and print nothing else."""
    try:
        status = copart(*arguments)
    except SystemExit as stop:
        status = stop.code
    out, err = capsys.readouterr()
    assert status == 2
    assert out == ""
    assert err.count("\n") == 1, err
    assert "Traceback" not in err
    return err


# ---- the frame
def test_help_names_every_command_and_is_fast():
    before = os.times()
    command = [sys.executable, "-m", "copart", "--help"]
    done = subprocess.run(command, capture_output=True, text=True, cwd=ROOT, check=True)
    after = os.times()
    seconds = after.children_user + after.children_system - before.children_user - before.children_system
    for name in COMMANDS:
        assert name in done.stdout
    # 0.08 s when it was written; numpy alone would take longer than that
    assert seconds < 1.0, f"{seconds:.2f} s"


@pytest.mark.parametrize("name", sorted(COMMANDS))
def test_every_command_explains_itself(name, capsys):
    with pytest.raises(SystemExit) as stop:
        main([name, "--help"])
    assert stop.value.code == 0
    assert f"usage: copart {name}" in capsys.readouterr().out


@pytest.mark.parametrize("words", [[], ["help"], ["--help"]], ids=str)
def test_copart_alone_shows_the_commands(capsys, words):
    with pytest.raises(SystemExit) as stop:
        main(words)
    assert stop.value.code == 0
    out, err = capsys.readouterr()
    assert err == ""
    assert all(f"\n    {name}" in out for name in COMMANDS)


@pytest.mark.parametrize("words", [["plan"], ["mesh", "cube"]], ids=" ".join)
def test_help_before_the_command_is_help_behind_it(capsys, words):
    shown = []
    for line in (["help", *words], [*words, "--help"]):
        with pytest.raises(SystemExit) as stop:
            main(line)
        assert stop.value.code == 0
        shown.append(capsys.readouterr().out)
    assert shown[0] == shown[1]
    assert f"usage: copart {' '.join(words)}" in shown[0]


def test_version(capsys):
    from copart import __version__

    with pytest.raises(SystemExit):
        main(["--version"])
    assert capsys.readouterr().out.strip() == f"copart {__version__}"


WRONG = [
    (["plna"], "; did you mean plan? (see copart --help)"),
    (["help", "plna"], "did you mean plan?"),
    (["mesh"], "required: WHAT (see copart mesh --help)"),
    (["mesh", "cbue"], "did you mean cube? (see copart mesh --help)"),
    (["plan", "a.vtu", "b.vtu", "--prats", "4", "4"], "--prats 4 4; did you mean --parts? (see copart plan --help)"),
    (["mesh", "cube", "3", "-o", "x.vtu", "--ofset=1"], "did you mean --offset? (see copart mesh cube --help)"),
    (["plan", "a.vtu", "b.vtu", "--parts", "4", "4", "--scheme", "projerpart"], "did you mean projrepart?"),
    (["compare", "a.vtu", "b.vtu", "--parts", "4", "4", "--schemes", "tuch,aware"], "invalid choice: 'tuch'"),
    (["plan", "a.vtu", "b.vtu", "--parts", "4", "4", "--interedges", "tuch"], "did you mean touch?"),
    (["plan", "a.vtu", "b.vtu", "--parts", "4", "4", "-o", "{tmp}/o", "--write", "openfaom"], "did you mean openfoam?"),
    (["grid", "--dims", "4x3", "--nodes", "3", "--method", "hyperplan"], "did you mean hyperplane?"),
    (["plot"], "invalid choice: 'plot'"),
    (["plan", "a.vtu", "b.vtu"], "needs --parts, or --total"),
    (["plan", "a.vtu", "b.vtu", "--parts", "4"], "parts: needs two integers"),
    (["plan", "a.vtu", "b.vtu", "--parts", "4", "x"], "parts: needs 3 integers"),
    (["plan", "a.vtu", "b.vtu", "--parts", "x"], "--parts: needs whole numbers"),
    (["plan", "nowhere.vtu", "b.vtu", "--parts", "4", "4", "-o", "{tmp}/o"], "nowhere.vtu: no such file"),
    (["plan", "{tmp}/text.vtu", "{tmp}/text.vtu", "--parts", "4", "4", "-o", "{tmp}/o"], "text.vtu"),
    (["part", "nowhere.graph", "4"], "nowhere.graph"),
    (["part", "{graph}", "0"], "K: must be at least 1"),
    (["part", "{graph}", "145"], "145 parts of 144 vertices"),
    (["part", "{graph}", "4", "--eps", "-1"], "eps: must be at least 0"),
    (["part", "{graph}", "4", "--seed", "-1"], "seed: must be at least 0"),
    (["part", "{graph}", "4", "-o", "{tmp}"], "is a folder"),
    (["part", "{graph}", "4", "-o", "{tmp}/x.vtu"], "the input is a graph"),
    (["part", "{graph}", "4", "-o", ""], "output: the name is empty"),
    (["part", "", "4"], "GRAPH_OR_MESH: the name is empty"),
    (["plan", "a.vtu", "", "--parts", "4", "4"], "A B: the name is empty"),
    (["plan", "a.vtu", "b.vtu", "--parts", "4", "4", "-o", "{tmp}/o", "--report", ""], "--report: the name is empty"),
    (["part", "{graph}", "4", "--fixed", "{tmp}/text.vtu"], "text.vtu"),
    (["part", "{graph}", "4", "--tpwgts", "{tmp}/text.vtu"], "text.vtu:1: needs one number per line"),
    (["part", "{tmp}/text.vtu", "4"], "text.vtu"),
    (["repart", "{graph}", "nowhere.part.4", "5"], "nowhere.part.4"),
    (["check", "{graph}", "nowhere.part.4"], "nowhere.part.4"),
    (["check", "{tmp}"], "has no metrics.json"),
    (["check", "a", "b", "c"], "got 3 files"),
    (["mesh", "cube", "0", "-o", "{tmp}/c.vtu"], "size: must be at least 1"),
    (["mesh", "cube", "3", "-o", "{tmp}/no/c.vtu"], "c.vtu"),
    (["compare", "nowhere.vtu", "b.vtu", "--parts", "2", "2"], "nowhere.vtu"),
]


@pytest.mark.parametrize(("arguments", "message"), WRONG, ids=[" ".join(a) for a, _ in WRONG])
def test_wrong_input_is_one_line_and_status_2(capsys, tmp_path, graph_file, arguments, message):
    (tmp_path / "text.vtu").write_text("this is no mesh\n")
    before = sorted(p.name for p in tmp_path.iterdir())
    line = failure(capsys, *[a.format(tmp=tmp_path, graph=graph_file) for a in arguments])
    assert message in line
    assert sorted(p.name for p in tmp_path.iterdir()) == before, "a failed command left files"


def test_a_missing_interface_says_how_far_apart_the_meshes_are(capsys, cubes, tmp_path):
    copart("mesh", "cube", 3, "--offset", 4, 0, 0, "-o", tmp_path / "far.vtu", "-q")
    line = failure(capsys, "plan", cubes[0], tmp_path / "far.vtu", "--parts", 2, 2, "-o", tmp_path / "out")
    assert "3 apart" in line
    assert not (tmp_path / "out").exists()


# ---- plan, check, compare
@pytest.mark.parametrize("scheme", ["naive", "aware", "projrepart"])
@pytest.mark.parametrize("kind", ["facet", "touch"])
def test_plan_is_accepted_by_check(capsys, cubes, tmp_path, scheme, kind):
    out = tmp_path / "out"
    assert copart("plan", *cubes, "--parts", 4, 8, "--scheme", scheme, "--interedges", kind, "-o", out) == 0
    shown = capsys.readouterr().out
    assert f"wrote {out}/coupling.json" in shown
    assert copart("check", out) == 0
    assert "accepted" in capsys.readouterr().out
    coupled = json.loads((out / "metrics.json").read_text())["settings"]["coupled"]
    more = ["--coupled", *coupled] if scheme != "naive" else []
    parts = [cubes[0], out / "a.part.4", cubes[1], out / "b.part.8", "--interedges", kind, "--eps", 0.05,
             "--coupling", out / "coupling.json", "--metrics", out / "metrics.json"]
    assert copart("check", *parts, *more) == 0
    # without them, as the figures say
    assert copart("check", *parts) == 0
    assert scheme == "naive" or copart("check", *parts, "--coupled", coupled[0] + 1, coupled[1]) == 1


def test_plan_as_json(capsys, cubes, tmp_path):
    assert copart("plan", *cubes, "--parts", 4, 8, "--coupled", 2, 4, "-o", tmp_path / "out", "--json") == 0
    result = json.loads(capsys.readouterr().out)
    assert result["metrics"]["components"]["a"]["ncoupled"] == 2
    assert result["files"][-1].endswith("metrics.json")


def test_quiet_prints_nothing(capfd, cubes, tmp_path):
    assert copart("plan", *cubes, "--parts", 4, 8, "-o", tmp_path / "out", "-q") == 0
    assert capfd.readouterr() == ("", "")


def test_a_quiet_comparison_is_the_tables_alone(capfd, cubes):
    assert copart("compare", *cubes, "--parts", 4, 8, "--seeds", 1, "--schemes", "naive,aware", "-q") == 0
    out, err = capfd.readouterr()
    assert err == ""
    assert out.count("NAIVE") == out.count("AWARE") == 3
    assert "note:" not in out
    assert "interface" not in out


def test_verbose_says_what_it_found(cubes, tmp_path):
    command = [sys.executable, "-m", "copart", "plan", *cubes, "--parts", "4", "8", "-o", str(tmp_path / "out"), "-v"]
    done = subprocess.run(command, capture_output=True, text=True, cwd=ROOT, check=True)
    # 6 and 8 intervals of one length overlap in 6 + 8 - 2 places, along both sides of the face
    assert "a-b: 144" in done.stderr


@pytest.mark.parametrize("damage", ["part", "coupling", "metrics"])
def test_check_finds_tampering(capsys, cubes, tmp_path, damage):
    out = tmp_path / "out"
    copart("plan", *cubes, "--parts", 4, 8, "-o", out, "-q")
    if damage == "part":
        part = read_part(out / "b.part.8")
        part[part == 3] = 2
        write_part(out / "b.part.8", part)
    else:
        path = out / f"{damage}.json"
        value = json.loads(path.read_text())
        if damage == "coupling":
            value["pairs"][0]["exchanges"][0]["a_cells"].pop()
        else:
            value["metrics"]["components"]["a"]["cut"] += 1
        path.write_text(json.dumps(value))
    assert copart("check", out, "--json") == 1
    result = json.loads(capsys.readouterr().out)
    assert result["ok"] is False
    assert len(result["findings"]) >= 1


def test_compare_shows_the_published_columns(capsys, cubes):
    assert copart("compare", *cubes, "--parts", 4, 8, "--seeds", 2, "--legend") == 0
    out = capsys.readouterr().out
    head, paid, halos = (line.split() for line in out.splitlines() if line.startswith("scheme"))
    assert head[-7:] == ["cut_B", "cut_A^cpl", "cut_B^cpl", "totV", "totZ", "time", "s"]
    assert paid[:5] == ["scheme", "pieces", "+", "N_A^cpl", "N_B^cpl"]
    assert paid[-7:] == ["maxV", "maxZ", "T_step", "T_reg", "T_cpl", "waits", "%"]
    assert halos == ["scheme", *(f"{figure}_{x}" for figure in ("MSV", "TM", "MSM") for x in "AB")]
    for scheme in ("NAIVE", "AWARE", "PROJREPART"):
        assert sum(line.startswith(scheme) for line in out.splitlines()) == 3
    assert "*" in out
    assert "messages from A to B" in out


def test_compare_as_json_and_picture(capsys, cubes, tmp_path):
    picture = tmp_path / "c.png"
    assert copart("compare", *cubes, "--parts", 4, 8, "--seeds", 1, "--json", "--picture", picture) == 0
    result = json.loads(capsys.readouterr().out)
    assert [row["scheme"] for row in result["mean"]] == [name for name in SCHEMES if name != "auto"]
    assert picture.read_bytes()[:8] == b"\x89PNG\r\n\x1a\n"
    assert [p.name for p in tmp_path.iterdir()] == ["c.png"]


def test_a_picture_of_unknown_format_is_refused_before_the_work(capsys, cubes, tmp_path):
    assert "no known format" in failure(capsys, "compare", *cubes, "--parts", 4, 8, "--picture", tmp_path / "c.bmpx")


# ---- one graph
def test_part_writes_what_check_accepts(capsys, graph_file):
    assert copart("part", graph_file, 6, "--eps", 0.03) == 0
    assert "144 vertices in 6 parts: cut" in capsys.readouterr().out
    part = read_part(f"{graph_file}.part.6", 144, 6)
    assert np.bincount(part).max() <= 24  # floor(1.03 * 24)
    assert copart("check", graph_file, f"{graph_file}.part.6", "--eps", 0.03) == 0


def test_part_keeps_fixed_vertices_and_shares(capsys, graph_file, tmp_path):
    fixed = np.full(144, -1)
    fixed[[0, 11, 132, 143]] = [2, 1, 0, 2]
    np.savetxt(tmp_path / "fixed.txt", fixed, "%d")
    (tmp_path / "shares.txt").write_text("0.5\n0.25\n\n0.25\n")
    out = tmp_path / "p.txt"
    assert copart("part", graph_file, 3, "--fixed", tmp_path / "fixed.txt", "--tpwgts", tmp_path / "shares.txt",
                  "-o", out, "--json") == 0
    part = read_part(out, 144, 3)
    assert np.array_equal(part[[0, 11, 132, 143]], [2, 1, 0, 2])
    assert np.all(np.bincount(part) <= [75, 37, 37])  # floor(1.05 * (72, 36, 36))
    assert json.loads(capsys.readouterr().out)["file"] == str(out)
    more = ["--fixed", tmp_path / "fixed.txt", "--tpwgts", tmp_path / "shares.txt", "--eps", 0.05]
    assert copart("check", graph_file, out, *more) == 0
    part[0] = 0
    write_part(out, part)
    assert copart("check", graph_file, out, *more) == 1


def test_part_of_a_mesh_as_vtu(cubes, tmp_path):
    assert copart("part", cubes[0], 4, "-o", tmp_path / "p.vtu", "-q") == 0
    assert np.array_equal(np.unique(read_mesh(tmp_path / "p.vtu").cell_data["part"]), [0, 1, 2, 3])


def test_part_does_not_depend_on_threads(graph_file, tmp_path):
    for threads in (1, 2):
        copart("part", graph_file, 6, "--threads", threads, "-o", tmp_path / f"{threads}", "-q")
    assert (tmp_path / "1").read_bytes() == (tmp_path / "2").read_bytes()


def test_best_balance_is_for_those_who_ask(capsys, tmp_path):
    write_metis(tmp_path / "heavy.graph", grid(3, 3, vwgt=[50, 1, 1, 1, 1, 1, 1, 1, 1]))
    assert "50" in failure(capsys, "part", tmp_path / "heavy.graph", 3, "-o", tmp_path / "p")
    assert copart("part", tmp_path / "heavy.graph", 3, "-o", tmp_path / "p", "--best-balance", "-q") == 0
    part = read_part(tmp_path / "p", 9, 3)
    assert np.bincount(part)[part[0]] == 1, "the heavy vertex shares its part with nobody"


@pytest.mark.parametrize("method", ["mxn", "scratch-remap", "diffusive"])
def test_repart_says_what_moves(capsys, graph_file, method):
    copart("part", graph_file, 6, "-q")
    capsys.readouterr()
    assert copart("repart", graph_file, f"{graph_file}.part.6", 8, "--method", method, "--json") == 0
    result = json.loads(capsys.readouterr().out)
    old, new = read_part(f"{graph_file}.part.6"), read_part(f"{graph_file}.part.8", 144, 8)
    assert result["migration_volume"] == np.count_nonzero(old != new)
    assert result["migration_messages"] == len({(a, b) for a, b in zip(old, new, strict=True) if a != b})
    assert copart("check", graph_file, f"{graph_file}.part.8", "--eps", 0.05) == 0


def test_repart_does_not_overwrite_its_input(capsys, graph_file):
    copart("part", graph_file, 6, "-q")
    assert "is also read (PARTFILE)" in failure(capsys, "repart", graph_file, f"{graph_file}.part.6", 6)


def test_graphs_made_elsewhere(capsys, tmp_path):
    source = shared("data/graphs/3elt.grf.gz")
    assert copart("part", source, 8, "-o", tmp_path / "p", "--json") == 0
    assert json.loads(capsys.readouterr().out)["empty"] == 0
    assert copart("check", source, tmp_path / "p", "--eps", 0.05, "--nparts", 8) == 0


def test_ill_formed_graphs_give_one_line_each(capsys, tmp_path):
    good = {"graph_empty_lines", "graph_no_newline", "graph_no_newline_windows", "graph_with_edge_weights",
            "graph_with_node_and_edge_weights", "graph_with_node_weights", "unweighted_graph"}
    files = sorted(shared("data/malformed").glob("*.graph"))
    assert len(files) > len(good)
    for path in files:
        status = copart("part", path, 2, "--eps", 0.99, "-o", tmp_path / "p", "-q")
        out, err = capsys.readouterr()
        assert out == ""
        if path.stem in good:
            assert (status, err) == (0, ""), path.name
        else:
            assert status == 2, path.name
            assert err.count("\n") == 1, (path.name, err)
            assert f"{path.name}:" in err, "names file, line and rule"


# ---- doctor and progress
def test_doctor_reports(capsys):
    assert copart("doctor", "--json") == 0
    report = json.loads(capsys.readouterr().out)
    assert report["versions"]["numpy"] == np.__version__
    assert report["processors"] >= 1
    assert report["cache"]["kernels"] >= 20
    assert report["mpi"]["problem"] is None or isinstance(report["mpi"]["problem"], str)
    assert copart("doctor") == 0
    assert "kernels" in capsys.readouterr().out


def test_progress_is_silent_when_quick_and_one_line_a_step_when_not(capsys, monkeypatch):
    with console.Console().progress() as progress:
        progress("quick")
    assert capsys.readouterr().err == ""
    monkeypatch.setattr(console, "PATIENCE", 0.02)
    with console.Console().progress() as progress:
        progress("first", 0, 3)
        time.sleep(0.3)
        progress("first", 1, 3)
        progress("second")
    assert capsys.readouterr().err == "1 of 3: first ...\nsecond ...\n"
    with console.Console(quiet=True).progress() as progress:
        progress("hidden")
        time.sleep(0.1)
    assert capsys.readouterr().err == ""


def test_compiling_is_counted_with_the_time_left_and_said_now_and_then(capsys, monkeypatch):
    monkeypatch.setattr(console, "PATIENCE", 0.02)
    with console.Console().progress() as progress:
        progress.compiling(0, 0, 0.0)
        progress.compiling(12, 40, 20.4)
        time.sleep(0.3)
        for done in range(13, 41):
            progress.compiling(done, 40, 40.0 - done)
        progress("reading")
    assert capsys.readouterr().err.splitlines() == [
        "compiling kernels, done once: 12 of 40, about 20 s left ...", "reading ..."]


def test_first_use_compiles_ahead_and_says_how_long_it_took(monkeypatch):
    from copart import warm

    asked = []

    def two_of_two(command, tell):
        asked.append(command)
        for done in range(3):
            tell(done, 2, 2.0 - done)
        return True
    monkeypatch.setattr(warm, "compile_ahead", two_of_two)
    with console.Console(quiet=True).progress() as progress:
        console.first_use(progress, "plan")
        assert asked == []
        progress("reading")
        assert re.fullmatch(r", after \d+\.\d s of compiling kernels, done once", progress.remark)
    monkeypatch.setattr(warm, "compile_ahead", lambda command, tell: True)
    with console.Console(quiet=True).progress() as progress:
        console.first_use(progress, "plan")
        progress("reading")
        assert progress.remark == ""
    assert asked == ["plan"]


def test_parser_defaults_are_the_library_defaults():
    import inspect

    import copart as library

    signature = inspect.signature(library.plan).parameters
    defaults = {**library.Options().to_dict(), "interedges": signature["interedges"].default}
    args = parser().parse_args(["plan", "a", "b", "--parts", "1", "1"])
    assert signature["scheme"].default == plan.DEFAULT
    assert [name for name, scheme in SCHEMES.items() if scheme.shares_pool] == [plan.POOLED]
    assert {name: getattr(args, name) for name in defaults} == defaults


def test_quiet_ends_with_the_call(capsys):
    log = logging.getLogger("copart")
    former = log.level
    assert main(["machine", "info", "hcub 2", "--quiet"]) == 0
    assert log.level == former


@pytest.mark.parametrize("words", [["plan", "nowhere.vtu", "nor-here.vtu", "--parts", "2", "2"],
                                   ["compare", "nowhere.vtu", "nor-here.vtu", "--parts", "2", "2"],
                                   ["plan", "a.vtu", "b.vtu"], ["compare", "a.vtu", "b.vtu"],
                                   ["plan", "a.vtu", "b.vtu", "--parts", "4"],
                                   ["part", "nowhere.graph", "4"], ["repart", "nowhere.graph", "old.part.2", "4"],
                                   ["map", "nowhere.graph", "--machine", "hcub 2"]])
def test_mistakes_are_told_before_anything_is_compiled(monkeypatch, capsys, words):
    from copart import warm
    from copart.cli import main

    def compile_ahead(*args):
        raise AssertionError("compiled first")

    monkeypatch.setattr(warm, "compile_ahead", compile_ahead)
    assert main(words) == 2
    assert "copart " + words[0] + ":" in capsys.readouterr().err
