"""``copart part`` by coordinates: points, meshes, and what does not go together."""

from __future__ import annotations

import json

import numpy as np
import pytest

from copart.cli import main
from copart.errors import FormatError
from copart.formats import read_part, read_points
from copart.kgggp_ml import partition
from copart.mesh import cube, dual_graph, write_vtu
from copart.metrics import edge_cut, imbalance
from copart.partitioner.geometric.methods import METHODS, partition_points

from ..helpers import grid
from .lines import line_of

POINTS = np.random.default_rng(1).random((500, 3))


@pytest.fixture
def place(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    np.save("p.npy", POINTS)
    np.savetxt("p.csv", POINTS, delimiter=",", header="x,y,z", comments="", fmt="%.17g")
    np.savetxt("w.txt", np.arange(500) / 3)
    return tmp_path


@pytest.mark.parametrize("method", METHODS)
@pytest.mark.parametrize("file", ["p.npy", "p.csv"])
def test_points(place, capsys, method, file):
    assert main(["part", file, "7", "--method", method, "--weights", "w.txt", "--json"]) == 0
    said = json.loads(capsys.readouterr().out)
    made = partition_points(POINTS, 7, method, weights=np.arange(500) / 3)
    assert (read_part(f"{file}.part.7", 500) == made.part).all()
    assert (said["points"], said["parts"], said["empty"], said["method"]) == (500, 7, 0, method)
    assert said["ub"] == pytest.approx(made.weights.max() / made.weights.mean() - 1)
    assert ("messages" in said) == (method in ("multijagged", "rcb"))


def test_meshes_by_the_centres_of_their_cells(place, capsys):
    mesh = cube("hexa", 8)
    write_vtu("m.vtu", mesh)
    graph = dual_graph(mesh)
    assert main(["part", "m.vtu", "12", "--method", "multijagged", "-o", "parts.vtu"]) == 0
    assert "512 vertices in 12 parts: cut" in capsys.readouterr().out
    assert main(["part", "m.vtu", "12", "--method", "rcb", "-o", "b"]) == 0
    assert (read_part("b", 512) == partition_points(graph.coords, 12, "rcb").part).all()
    assert main(["part", "m.vtu", "12", "--method", "multijagged+refine", "--eps", "3%", "-o", "c"]) == 0
    refined, start = read_part("c", 512), partition_points(graph.coords, 12).part
    assert edge_cut(graph, refined) < edge_cut(graph, start)
    assert imbalance(graph, refined, 12) <= 0.04
    assert edge_cut(graph, refined) <= 1.25 * edge_cut(graph, partition(graph, 12))


def test_refinement_leaves_fixed_cells_where_they_are(place):
    write_vtu("m.vtu", cube("hexa", 6))
    pinned = np.where(np.arange(216) % 50 == 0, 3, -1)
    np.savetxt("f.txt", pinned, fmt="%d")
    assert main(["part", "m.vtu", "4", "--method", "multijagged+refine", "--fixed", "f.txt", "-o", "b", "-q"]) == 0
    assert (read_part("b", 216)[pinned == 3] == 3).all()


@pytest.mark.parametrize(("line", "said"), [
    ("part p.npy 7", "method: graph needs neighbours, which the points in p.npy have not; take --method multijagged"),
    ("part p.npy 7 --method multijagged+refine", "needs neighbours"),
    ("part g.graph 2 --method rcb", "method: rcb needs coordinates, which g.graph has not"),
    ("part p.npy 501 --method rcb", "501 parts of 500 points would leave parts empty"),
    ("part p.npy 7 --method rcb -o x.vtu", "x.vtu is a mesh file, but the input is"),
    ("part p.npy 7 --method rcb --weights heavy.txt", "single points are too heavy"),
    ("part none.npy 7 --method rcb", "none.npy: cannot be read"),
    ("part p.npy 7 --method rcb --write gmsh", "p.npy"),
    ("part two.graph 2 --method multijagged", "needs coordinates"),
])
def test_what_does_not_go_together(place, capsys, line, said):
    from copart.formats import write_metis

    write_metis("g.graph", grid(4, 4))
    write_metis("two.graph", grid(4, 4).replace(vwgt=np.ones((16, 2), int)))
    np.savetxt("heavy.txt", np.where(np.arange(500) == 3, 10_000, 1))
    assert said in line_of(capsys, *line.split())
    assert not list(place.glob("*.part.*"))


@pytest.mark.parametrize("times", [1, 100, 1e-3])
def test_balance_does_not_depend_on_the_unit_of_weights(place, capsys, times):
    np.save("four.npy", np.arange(4.0)[:, None])
    np.savetxt("w.txt", times * np.array([10.4, 9.8, 9.8, 9.84]))
    np.savetxt("heavy.txt", times * np.array([0.7, 0.04, 0.04, 0.2]))
    assert main(["part", "four.npy", "4", "--method", "rcb", "--weights", "w.txt", "-q"]) == 0  # 4.42 %
    assert "part 0 weighs" in line_of(capsys, "part", "four.npy", "2", "--method", "rcb", "--weights", "heavy.txt")


def test_points_that_weigh_alike_are_counted(place):
    np.savetxt("w.txt", np.full(500, 0.3))
    assert main(["part", "p.npy", "400", "--method", "rcb", "--weights", "w.txt", "-q"]) == 0  # one or two points each


def test_points_without_weight_are_in_balance(place, capsys):
    np.savetxt("w.txt", np.zeros(500))
    assert main(["part", "p.npy", "4", "--method", "multijagged", "--weights", "w.txt"]) == 0
    assert "imbalance 0.00%" in capsys.readouterr().out
    assert np.bincount(read_part("p.npy.part.4", 500)).tolist() == [125] * 4


def test_an_empty_part_is_refused(place, capsys):
    np.savetxt("four.txt", [[0.47, 0.01], [0.21, 0.46], [0.12, 0.51], [0.35, 0.6]])
    np.savetxt("w.txt", [2, 3, 3, 1])
    line = "part four.txt 4 --method morton --weights w.txt"
    assert "part 2 has no point" in line_of(capsys, *line.split())
    assert main([*line.split(), "--best-balance", "-q"]) == 0


def test_the_best_balance_may_be_taken(place):
    np.savetxt("heavy.txt", np.where(np.arange(500) == 3, 10_000, 1))
    assert main(["part", "p.npy", "7", "--method", "rcb", "--weights", "heavy.txt", "--best-balance", "-q"]) == 0
    assert len(read_part("p.npy.part.7")) == 500


@pytest.mark.parametrize(("text", "points"), [
    ("1 2\n3,4 # remark\n\n5;6\n", [[1, 2], [3, 4], [5, 6]]), ("x y\n1 2\n", [[1, 2]]), ("# x\n-1e-3\n", [[-0.001]])])
def test_text_with_points(tmp_path, text, points):
    (tmp_path / "p.txt").write_text(text)
    assert read_points(tmp_path / "p.txt").tolist() == points


@pytest.mark.parametrize(("name", "content", "said"), [
    ("p.txt", b"1 2\n3\n", "p.txt:2: needs 2 coordinates as on the lines before, found 1"),
    ("p.txt", b"1 2\nx y\n", "p.txt:2: needs numbers, found 'x y'"), ("p.txt", b"a b\nc d\n", "p.txt:2: needs numbers"),
    ("p.txt", b"# no\n", "holds no points"), ("p.csv", b"\xff\xfe", "is no text file"),
    ("p.npy", b"no array", "is no array in NumPy's format"), ("p.npy", b"", "is no array in NumPy's format"),
    ("p.npy", b"PK\x03\x04", "p.npy")])
def test_files_of_points_are_checked(tmp_path, name, content, said):
    (tmp_path / name).write_bytes(content)
    with pytest.raises(FormatError, match=said.replace("(", r"\(")):
        read_points(tmp_path / name)


def test_arrays_of_the_wrong_kind(tmp_path):
    for array, said in ((np.zeros((2, 2, 2)), "needs one row per point"),
                        (np.array(["a"]), "holds no array of numbers")):
        np.save(tmp_path / "p.npy", array)
        with pytest.raises(FormatError, match=said):
            read_points(tmp_path / "p.npy")
    np.save(tmp_path / "p.npy", np.arange(3))
    assert read_points(tmp_path / "p.npy").tolist() == [[0], [1], [2]]
