"""``copart mesh`` and what the commands say of two meshes that meet."""

from __future__ import annotations

import json

import meshio
import numpy as np
import pytest

from copart.cli import main
from copart.coupling import Interedges
from copart.errors import FormatError
from copart.formats.interedges_file import read_interedges, write_interedges
from copart.mesh import cube, read_mesh, write_vtu

from ..helpers import shared


def run(*words):
    return main([str(w) for w in words])


# ---- mesh
def test_info_lists_what_can_be_named(capsys):
    path = shared("data/coupled/steady-fsi/mesh_channel.su2")
    assert run("mesh", "info", path) == 0
    out = capsys.readouterr().out.splitlines()
    assert out[0] == "mesh_channel: 15292 triangle, 2D, 7912 points"
    assert "  flowbound  210 facets" in out
    assert run("mesh", "info", path, "--json") == 0
    found = json.loads(capsys.readouterr().out)
    assert (found["cells"], found["dimension"]) == ({"triangle": 15292}, 2)
    assert found["facet_groups"] == {"flowbound": 210, "upperwall": 112, "lowerwall": 192, "inlet": 8, "outlet": 8}
    assert found["bounds"][1][:2] == [0.16, 0.04]


def test_info_of_a_zone_and_of_polyhedra(capsys):
    zones = shared("data/coupled/cht-3cyl-4zones/mesh_cht_3cyl.su2")
    assert run("mesh", "info", zones) == 0
    assert "  zone  1, 2, 3, 4" in capsys.readouterr().out.splitlines()
    assert run("mesh", "info", f"{zones}:zone=2", "--json") == 0
    found = json.loads(capsys.readouterr().out)
    assert found["facet_groups"] == {"core1": 40, "cylinder_inner1": 400}
    assert run("mesh", "info", shared("data/coupled/elastic-tube-3d/fluid-polyMesh"), "--json") == 0
    found = json.loads(capsys.readouterr().out)
    assert found["facet_groups"]["interface"] == 3658
    assert sum(found["cells"].values()) == 32691


def test_info_of_arrays(tmp_path, capsys):
    mesh = cube("hexa", 3)
    write_vtu(tmp_path / "m.vtu", mesh, {"load": np.arange(27), "velocity": np.zeros((27, 3)), "one": np.ones(27, int)})
    assert run("mesh", "info", tmp_path / "m.vtu") == 0
    out = capsys.readouterr().out
    assert "27 values from 0 to 26" in out
    assert "3 values per cell" in out
    assert "  one       1" in out.splitlines()


def test_info_of_what_is_no_mesh(tmp_path, capsys):
    assert run("mesh", "info", tmp_path / "nothing.vtu") == 2
    assert "no such file" in capsys.readouterr().err


def test_tube_and_cylinder_fit(tmp_path, capsys):
    assert run("mesh", "tube", "--cells", 1, 24, 6, "--length", 2, "-o", tmp_path / "wall.vtu", "-q") == 0
    assert run("mesh", "cylinder", "--cells", 6, 8, "--length", 2, "-o", tmp_path / "fluid.vtu", "-q") == 0
    assert (read_mesh(tmp_path / "wall.vtu").ncells, read_mesh(tmp_path / "fluid.vtu").ncells) == (144, 288)
    assert run("plan", tmp_path / "wall.vtu", tmp_path / "fluid.vtu", "--parts", 2, 4, "-o", tmp_path / "out") == 0
    out = capsys.readouterr().out
    assert "interface: wall: 144 of 336 facets match" in out
    assert run("mesh", "tube", "--inner", 1, "--outer", 0.5, "-o", tmp_path / "x.vtu") == 2
    assert "outer: must be larger than inner" in capsys.readouterr().err
    assert not (tmp_path / "x.vtu").exists()


# ---- how meshes are brought together
@pytest.fixture
def apart(tmp_path):
    """Two cubes that meet once B is in metres and 3 further left."""
    write_vtu(tmp_path / "a.vtu", cube("hexa", 4))
    write_vtu(tmp_path / "b.vtu", cube("hexa", 5, offset=(4, 0, 0)).scaled(1000))
    return tmp_path


def test_units_and_moves(apart, capsys):
    files = apart / "a.vtu", apart / "b.vtu"
    assert run("plan", *files, "--parts", 2, 3, "-o", apart / "out") == 2
    assert "no cells meet" in capsys.readouterr().err
    assert not (apart / "out").exists()
    move = ("--scale", "b=0.001", "--shift", "b=-3,0,0")
    assert run("plan", *files, "--parts", 2, 3, "-o", apart / "out", *move) == 0
    out = capsys.readouterr().out
    assert "interface: 'b' is scaled by 0.001" in out
    assert "interface: 'b' is moved by (-3, 0, 0)" in out
    summary = json.loads((apart / "out" / "metrics.json").read_text())
    assert summary["interface"]["overlap"] == pytest.approx(1)
    assert (summary["settings"]["scale"], summary["settings"]["shift"]) == ({"b": 0.001}, {"b": [-3, 0, 0]})
    assert meshio.read(apart / "out" / "b.vtu").points.max() == pytest.approx(5000)
    assert run("check", apart / "out", "-q") == 0
    assert run("check", files[0], apart / "out" / "a.part.2", files[1], apart / "out" / "b.part.3", *move, "-q") == 0
    assert run("compare", *files, "--parts", 2, 3, "--seeds", 1, *move) == 0
    assert "common area 1" in capsys.readouterr().out


@pytest.mark.parametrize(("words", "message"), [
    (("--scale", "b=0"), "scale: must be above 0"), (("--gap", -1), "gap: must be at least 0"),
    (("--gap", 1, "--tolerance", 1), "give one of the two"), (("--periodic", "b=0,0,0"), "period: must not be zero"),
    (("--shift", "b=nan,0,0"), "shift: needs three finite numbers"),
])
def test_unusable_options(apart, capsys, words, message):
    assert run("plan", apart / "a.vtu", apart / "b.vtu", "--parts", 2, 3, "-o", apart / "out", *words) == 2
    assert message in capsys.readouterr().err
    assert not (apart / "out").exists()


def test_periodic_and_overlap(apart, capsys):
    write_vtu(apart / "c.vtu", cube("hexa", 5, offset=(1, 0, 0)))
    words = ("--parts", 2, 3, "-o", apart / "out", "--json")
    assert run("plan", apart / "a.vtu", apart / "c.vtu", *words, "--periodic", "b=2,0,0") == 0
    assert json.loads(capsys.readouterr().out)["interface"]["overlap"] == pytest.approx(2)
    over = ("--shift", "b=-0.5,-1e-9,0", "--interedges", "overlap")
    assert run("plan", apart / "a.vtu", apart / "c.vtu", *words, *over) == 0
    found = json.loads(capsys.readouterr().out)["interface"]
    assert (found["measure"], found["overlap"]) == ("volume", pytest.approx(0.5, abs=1e-6))
    assert run("check", apart / "out", "-q") == 0


def test_pictures_show_both_meshes_in_place(apart, monkeypatch):
    pytest.importorskip("matplotlib")
    from copart.report import pictures

    seen = {}

    def draw(target, problem, meshes, *rest):
        seen.update(meshes)
        return target
    monkeypatch.setattr(pictures, "draw_coupled", draw)
    assert run("plan", apart / "a.vtu", apart / "b.vtu", "--parts", 2, 3, "-o", apart / "out", "--scale", "b=0.001",
               "--shift", "b=-3,0,0", "--picture", "-q") == 0
    assert seen["b"].bounds[:, 0] == pytest.approx([1, 2])


# ---- interedges.mtx
def test_interedges_survive_their_file(tmp_path):
    inter = Interedges.from_pairs(5, 4, [0, 0, 3, 4], [1, 3, 0, 3], [0.1, 1 / 3, 1e-300, 2.0])
    write_interedges(tmp_path / "i.mtx", inter)
    back = read_interedges(tmp_path / "i.mtx")
    assert back.shape == inter.shape
    assert all(np.array_equal(x, y) for x, y in zip(back.pairs(), inter.pairs(), strict=True))
    from scipy.io import mmread

    assert np.array_equal(mmread(tmp_path / "i.mtx").toarray(), inter.to_scipy().toarray())
    empty = Interedges.from_pairs(2, 2, [], [])
    write_interedges(tmp_path / "e.mtx", empty)
    assert len(read_interedges(tmp_path / "e.mtx")) == 0


@pytest.mark.parametrize(("text", "message"), [
    ("", "first line"), ("%%MatrixMarket matrix array real general\n1 1\n1", "first line"),
    ("B\n", "ends before"), ("B\n2 2\n", "three whole numbers"), ("B\n2 2 2\n1 1 1\n", "with 2 entries, 1 follow"),
    ("B\n2 2 1\n1 3 1\n", r"outside 0\.\.1"), ("B\n2 2 1\n0 1 1\n", "outside"),
    ("B\n2 2 1\n1 x 1\n", "two cells and a weight"),
    ("B\n2 2 1\n1 1 nan\n", "not finite"), ("B\n2 2 1\n1 1\n", "two cells and a weight|cannot reshape"),
    ("B\n99999999999 2 0\n", "announces"), ("B\n2 2 1\n1.5 1 1\n", "whole numbers"),
])
def test_broken_interedges(tmp_path, text, message):
    (tmp_path / "i.mtx").write_text(text.replace("B", "%%MatrixMarket matrix coordinate real general", 1)
                                    if text.startswith("B") else text)
    with pytest.raises(FormatError, match=message):
        read_interedges(tmp_path / "i.mtx")


def test_a_folder_whose_interedges_were_changed_is_found_out(apart, capsys):
    assert run("plan", apart / "a.vtu", apart / "b.vtu", "--parts", 2, 3, "-o", apart / "out", "-q",
               "--scale", "b=0.001", "--shift", "b=-3,0,0") == 0
    path = apart / "out" / "interedges.mtx"
    lines = path.read_text().splitlines()
    rows, columns, count = lines[1].split()
    path.write_text("\n".join([lines[0], f"{rows} {columns} {int(count) - 1}", *lines[3:]]) + "\n")
    assert run("check", apart / "out") == 1
    assert "interedges.mtx: must be those of the meshes" in capsys.readouterr().out


def test_a_plan_at_named_boundaries_is_checked_by_a_search_of_its_own(tmp_path, capsys):
    folder = shared("data/coupled/contact-resistance-3codes")
    assert run("plan", f"{folder}/fluid_mesh.su2:cht_interface_3_1", folder / "solid_mesh_1.su2", "--parts", 4, 2,
               "-o", tmp_path, "-q") == 0
    assert run("check", tmp_path) == 0
    # a boundary elsewhere is claimed to have been meant
    text = (tmp_path / "metrics.json").read_text()
    (tmp_path / "metrics.json").write_text(text.replace('"cht_interface_3_1"', '"cht_interface_3_2"'))
    assert run("check", tmp_path) == 2
    assert "no cells meet" in capsys.readouterr().err


@pytest.mark.parametrize("files", [("coupling",), ("metrics",), ("coupling", "metrics")])
def test_a_pool_is_known_by_the_files_of_its_plan(apart, capsys, files):
    assert run("plan", apart / "a.vtu", apart / "b.vtu", "--pool", 3, "-o", apart / "out", "-q",
               "--scale", "b=0.001", "--shift", "b=-3,0,0") == 0
    words = ["check", *(apart / "out" / name for name in ("a.vtu", "a.part.3", "b.vtu", "b.part.3")),
             "--scale", "b=0.001", "--shift", "b=-3,0,0", "--eps", 0.05]
    for name in files:
        words += [f"--{name}", apart / "out" / f"{name}.json"]
    assert run(*words) == 0, capsys.readouterr().out
