"""``copart map`` and SCOTCH's mapping and coordinate files."""

from __future__ import annotations

import gzip
import json

import numpy as np
import pytest

from copart.cli import main
from copart.errors import FormatError
from copart.formats import write_metis
from copart.formats.machines import read_machine
from copart.formats.scotch_mapping import read_map, read_xyz, write_map, write_xyz
from copart.mapping import dilation_cost
from copart.mapping.architectures.regular import Torus
from copart.mapping.architectures.tree import TreeLeaf
from copart.mapping.tasks import TaskGraph
from copart.mapping.topology import evaluate_tasks, map_tasks
from copart.mesh import dual_graph, read_mesh

from ..helpers import grid, shared


@pytest.fixture
def files(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    write_metis(tmp_path / "g.graph", grid(12, 12))
    (tmp_path / "t.tgt").write_text("torus3D 2 2 2\n")
    return tmp_path


def run(capsys, *argv: str):
    assert main([*argv, "--json"]) == 0
    return json.loads(capsys.readouterr().out)


def test_map_then_evaluate(files, capsys):
    made = run(capsys, "map", "g.graph", "--machine", "t.tgt")
    place = read_map("g.graph.map", 144, 8)
    assert made["dilation_cost"] == dilation_cost(grid(12, 12), Torus((2, 2, 2)), place)
    again = run(capsys, "map", "g.graph", "--machine", "t.tgt", "--eval", "g.graph.map")
    assert {key: made[key] for key in again} == again
    assert main(["map", "g.graph", "--machine", "t.tgt", "--eval", "g.graph.map"]) == 0
    out = capsys.readouterr().out
    assert f"cost {made['dilation_cost']:g}" in out
    assert {"imbalance", "neighbours", "dilation"} <= set(out.split())
    assert "distance 0:" in out
    assert not (files / "g.graph.map.map").exists()


def test_hierarchy_part_files_and_one_to_one(files, capsys):
    made = run(capsys, "map", "g.graph", "--hierarchy", "4:2:3", "--distance", "1:10:100", "-o", "g.part.24")
    place = np.loadtxt("g.part.24", int)
    assert made["dilation_cost"] == dilation_cost(grid(12, 12), TreeLeaf([3, 2, 4], [100, 10, 1]), place)
    run(capsys, "map", "g.graph", "--hierarchy", "12:12", "--distance", "1:9", "--one-to-one")
    assert sorted(read_map("g.graph.map").tolist()) == list(range(144))


def test_fixed_and_remapping(files, capsys):
    fixed = np.full(144, -1)
    fixed[[0, 143]] = [5, 2]
    write_map("fixed.map", fixed)
    run(capsys, "map", "g.graph", "--machine", "t.tgt", "--fixed", "fixed.map", "-o", "a.map")
    assert read_map("a.map")[[0, 143]].tolist() == [5, 2]
    kept = run(capsys, "map", "g.graph", "--machine", "t.tgt", "--from", "a.map", "--migration-cost", "1000",
               "-o", "b.map")
    assert kept["moved"] == 0
    assert np.array_equal(read_map("a.map"), read_map("b.map"))


@pytest.mark.parametrize(("argv", "message"), [
    (["--machine", "t.tgt", "--one-to-one"], "--one-to-one: each of 144 vertices needs a slot, the machine has 8"),
    (["--machine", "t.tgt", "--eval", "g.graph"], "part"),
    (["--machine", "t.tgt", "--eval", "x.map", "-o", "y.map"], "--eval, which makes no mapping"),
    (["--machine", "t.tgt", "--one-to-one", "--from", "x.map"], "--from: has no effect with --one-to-one"),
    (["--machine", "t.tgt", "-o", "g.graph"], "g.graph"),
    ([], "machine"),
])
def test_errors_write_nothing(files, capsys, argv, message):
    before = sorted(files.iterdir())
    assert main(["map", "g.graph", *argv]) == 2
    err = capsys.readouterr().err
    assert message in err
    assert err.count("\n") == 1
    assert sorted(files.iterdir()) == before


# ---- files
def test_map_files(tmp_path):
    path = tmp_path / "a.map"
    write_map(path, [2, 0, 1])
    assert path.read_text() == "3\n0\t2\n1\t0\n2\t1\n"
    assert read_map(path).tolist() == [2, 0, 1]
    path.write_text("3\n3 1\n1 2\n2 0\n")  # counted from 1, in any order
    assert read_map(path, 3, 3).tolist() == [2, 0, 1]
    path.write_text("0\n")
    assert read_map(path).tolist() == []
    old = read_map(shared("data/graphs/bump_old.map"))
    assert (len(old), old[0], old[2]) == (9800, 24, 0)


@pytest.mark.parametrize(("base", "flags", "names"), [(0, "000", [0, 1, 2, 3]), (1, "000", [1, 2, 3, 4]),
                                                      (0, "100", [2, 0, 3, 1]), (1, "100", [70, 8, 9, 40]),
                                                      (0, "100", [5, 6, 7, 8])])
def test_vertices_go_by_what_the_graph_calls_them(tmp_path, monkeypatch, capsys, base, flags, names):
    """A path; gmtst 7.0.3 took mappings counted from 0 for others where the graph has labels or counts from 1."""
    monkeypatch.chdir(tmp_path)
    rows = [[1], [0, 2], [1, 3], [2]]
    lines = [" ".join(map(str, [*([names[v]] if flags == "100" else []), len(row), *(names[u] for u in row)]))
             for v, row in enumerate(rows)]
    (tmp_path / "g.grf").write_text("\n".join(["0", "4 6", f"{base} {flags}", *lines]) + "\n")
    (tmp_path / "t.tgt").write_text("mesh2D 2 1\n")
    made = run(capsys, "map", "g.grf", "--machine", "t.tgt", "-o", "out.map")
    assert made["cut"] == 1
    place = [line.split() for line in (tmp_path / "out.map").read_text().splitlines()[1:]]
    assert [int(v) for v, _ in place] == names
    (tmp_path / "in.map").write_text("4\n" + "".join(f"{v} {p}\n" for v, p in reversed(place)))
    assert run(capsys, "map", "g.grf", "--machine", "t.tgt", "--eval", "in.map")["cut"] == 1
    kept = run(capsys, "map", "g.grf", "--machine", "t.tgt", "--fixed", "in.map", "-o", "again.map")
    assert kept["cut"] == 1
    assert (tmp_path / "again.map").read_text() == (tmp_path / "out.map").read_text()
    (tmp_path / "in.map").write_text("4\n" + "".join(f"{10 * int(v) + 200} {p}\n" for v, p in place))
    assert main(["map", "g.grf", "--machine", "t.tgt", "--eval", "in.map"]) == 2
    assert "in.map:2: vertex" in capsys.readouterr().err


@pytest.mark.parametrize(("text", "message"), [
    ("", "empty"), ("2\n0 1\n", "2 lines"), ("2\n0 1\n0 1\n", "given twice"), ("2\n0 1\n2 1\n", "outside"),
    ("2\n0 -2\n1 0\n", "processor -2"), ("2\n0 1\n1 4\n", "processor 4"), ("3\n0 1\n1 1\n2 1\n", "needs 2"),
])
def test_map_errors(tmp_path, text, message):
    path = tmp_path / "a.map"
    path.write_text(text)
    with pytest.raises(FormatError, match=message):
        read_map(path, 2 if text else None, 4)


def test_coordinates(tmp_path):
    points = np.random.default_rng(1).normal(size=(20, 3))
    for d in (1, 2, 3):
        write_xyz(tmp_path / "a.xyz", points[:, :d])
        assert np.array_equal(read_xyz(tmp_path / "a.xyz", 20), points[:, :d])
    path = shared("data/graphs/bump.xyz.gz")
    found = read_xyz(path)
    assert found.shape == (9800, 2)
    with gzip.open(path, "rt") as file:
        assert np.array_equal(found, np.loadtxt(file, skiprows=2)[:, 1:])


@pytest.mark.parametrize(("text", "message"), [
    ("2\n", "needs the number"), ("4\n0\n", "not 4"), ("2\n1\n0 1\n", "announced"), ("1\n2\n0 1\n0 2\n", "gaps"),
    ("1\n1\n0 nan\n", "finite"), ("1\n1\n0 x\n", "numbers only"),
])
def test_coordinate_errors(tmp_path, text, message):
    (tmp_path / "a.xyz").write_text(text)
    with pytest.raises(FormatError, match=message):
        read_xyz(tmp_path / "a.xyz")


# ---- processes of a job on scattered nodes
NODES = "torus 6 4 5\n" + "".join(f"n{i} {3 * i % 6} {i % 4} {2 * i % 5} 4\n" for i in range(8))


@pytest.fixture
def job(files):
    (files / "nodes.csv").write_text(NODES)
    write_metis(files / "t.graph", grid(8, 4))
    return files


@pytest.mark.parametrize("method", ["default", "ug", "uwh", "umc", "ummc", "search", "auto"])
def test_methods_for_jobs(job, capsys, method):
    made = run(capsys, "map", "t.graph", "--machine", "nodes.csv", "--method", method)
    place = read_map("t.graph.map", 32, 32)
    assert sorted(place) == list(range(32))
    assert np.array_equal(place, map_tasks(grid(8, 4), read_machine("nodes.csv"), method))
    again = run(capsys, "map", "t.graph", "--machine", "nodes.csv", "--eval", "t.graph.map")
    assert again["routes"] == made["routes"]
    wanted = evaluate_tasks(grid(8, 4), read_machine("nodes.csv"), place).to_dict()
    assert {key: made["routes"][key] for key in wanted} == wanted
    assert made["routes"]["busiest"][0]["congestion"] == wanted["max_congestion"]
    assert main(["map", "t.graph", "--machine", "nodes.csv", "--method", method]) == 0
    assert f"total {wanted['total_hops']} " in capsys.readouterr().out


def test_more_parts_than_slots_by_coordinates_alone(job, capsys):
    assert main(["mesh", "cube", "--cells", "hexa", "6", "-o", "cube.vtu"]) == 0
    assert main(["part", "cube.vtu", "48"]) == 0
    arguments = ["--part", "cube.vtu.part.48", "--machine", "nodes.csv", "--method"]
    capsys.readouterr()
    run(capsys, "map", "cube.vtu", *arguments, "geometric", "-o", "several.map")
    assert np.bincount(read_map("several.map", 48, 32), minlength=32).max() == 2
    for refused in ([*arguments, "uwh"], ["--machine", "nodes.csv", "--method", "geometric"]):
        assert main(["map", "cube.vtu", *refused]) == 2
        assert "needs a slot, the machine has 32" in capsys.readouterr().err


def test_parts_of_a_mesh_as_processes(job, capsys):
    assert main(["mesh", "cube", "--cells", "hexa", "6", "-o", "cube.vtu"]) == 0
    assert main(["part", "cube.vtu", "24"]) == 0
    capsys.readouterr()
    part = np.loadtxt("cube.vtu.part.24", int)
    figures = {}
    for method in ("default", "uwh", "geometric"):
        made = run(capsys, "map", "cube.vtu", "--part", "cube.vtu.part.24", "--machine", "nodes.csv",
                   "--method", method, "-o", f"{method}.map")
        place = read_map(f"{method}.map", 24, 32)
        assert len(set(place.tolist())) == 24
        figures[method] = made["routes"]["weighted_hops"]
        mesh = dual_graph(read_mesh("cube.vtu"))
        tasks = TaskGraph.from_partition(mesh, part, 24)
        assert made["routes"]["volume"] == tasks.total_volume
        assert figures[method] == evaluate_tasks(tasks, read_machine("nodes.csv"), place).weighted_hops
    assert figures["uwh"] < figures["default"]


def test_parts_of_a_hypergraph_as_processes(job, capsys):
    """Two nets cross: 5 from part 0 to 1 and 2, 2 from 2 to 0."""
    (job / "n.hgr").write_text("3 6 1\n5 1 3 5\n2 6 2\n9 3 4\n")
    (job / "p").write_text("0\n0\n1\n1\n2\n2\n")
    made = run(capsys, "map", "n.hgr", "--part", "p", "--machine", "nodes.csv", "--method", "uwh", "-o", "n.map")
    assert (made["routes"]["messages"], made["routes"]["volume"], made["routes"]["total_hops"]) == (3, 12, 0)
    assert main(["map", "n.hgr", "--machine", "nodes.csv", "--method", "uwh"]) == 2
    assert "--part: is needed for n.hgr" in capsys.readouterr().err


def test_wrong_methods(job, capsys):
    assert main(["map", "t.graph", "--machine", "nodes.csv", "--method", "uhw"]) == 2
    assert "did you mean uwh" in capsys.readouterr().err
    assert main(["map", "t.graph", "--machine", "nodes.csv", "--method", "geometric"]) == 2
    assert "needs the coordinates of the tasks" in capsys.readouterr().err
    assert main(["map", "g.graph", "--machine", "nodes.csv", "--method", "uwh"]) == 2
    assert "--method: each of 144 vertices needs a slot, the machine has " in capsys.readouterr().err
    assert not list(job.glob("*.map"))


@pytest.mark.parametrize("name", ["g.map.gz", "g.part.8.gz"])
def test_mappings_packed(files, capsys, name):
    made = run(capsys, "map", "g.graph", "--machine", "t.tgt", "-o", name)
    again = run(capsys, "map", "g.graph", "--machine", "t.tgt", "--eval", name)
    assert {key: made[key] for key in again} == again
    assert gzip.decompress((files / name).read_bytes()).startswith(b"144\n") == name.endswith(".map.gz")
    assert main(["part", "g.graph", "3", "-o", "p.part.3.gz", "-q"]) == main(["check", "g.graph", "p.part.3.gz"]) == 0


def test_the_former_mapping_is_read_once(files, capsys, monkeypatch):
    from copart.plans import mapped

    (files / "old").write_text("0\n" * 144)
    read = []
    monkeypatch.setattr(mapped, "read_part", lambda path, *rest, **more: read.append(path) or np.zeros(144, int))
    run(capsys, "map", "g.graph", "--machine", "t.tgt", "--from", "old")
    assert read == ["old"]


def test_a_part_beyond_all_vertices(files, capsys):
    (files / "big.part").write_text("0\n" * 143 + "2000000000\n")
    assert main(["map", "g.graph", "--part", "big.part", "--hierarchy", "4:2"]) == 2
    assert "big.part: part 2000000000 is outside 0..143" in capsys.readouterr().err
