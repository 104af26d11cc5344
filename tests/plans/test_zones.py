"""One file alone for all its volumes, blocks, families or element sets, and names of what came from it."""

from __future__ import annotations

import json

import meshio
import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import copart
from copart.cli import main
from copart.errors import ConfigError
from copart.mesh import Mesh, cube, write_vtu
from copart.plans.zones import shared_out, typed

from ..mesh.readers.test_exodus import write as write_exodus

#: A bar of two bodies of 2 x 2 x 2 cells side by side.
LEFT = cube("hexa", 2)
POINTS, PLACE = np.unique(np.round(np.concatenate([LEFT.points, LEFT.translated((1, 0, 0)).points]), 6), axis=0,
                          return_inverse=True)
CELLS = PLACE.reshape(-1)[np.concatenate([LEFT.blocks[0][1], LEFT.blocks[0][1] + LEFT.npoints])]
BODY = np.repeat([0, 1], 8)
NAMES = ("fluid", "solid")


def lines(rows, between=" "):
    return "".join(between.join(map(str, row)) + "\n" for row in rows)


def gmsh(path, names=NAMES):
    nodes = lines([i, *p] for i, p in enumerate(POINTS.tolist(), 1))
    cells = lines([i, 5, 2, BODY[i - 1] + 1, BODY[i - 1] + 1, *(c + 1).tolist()] for i, c in enumerate(CELLS, 1))
    path.write_text(f"$MeshFormat\n2.2 0 8\n$EndMeshFormat\n$PhysicalNames\n2\n3 1 \"{names[0]}\"\n3 2 \"{names[1]}\"\n"
                    f"$EndPhysicalNames\n$Nodes\n{len(POINTS)}\n{nodes}$EndNodes\n$Elements\n16\n{cells}$EndElements\n")


def abaqus(path):
    nodes = lines(([i, *p] for i, p in enumerate(POINTS.tolist(), 1)), ", ")
    cells = lines(([i, *(c + 1).tolist()] for i, c in enumerate(CELLS, 1)), ", ")
    path.write_text(f"*NODE\n{nodes}*ELEMENT, TYPE=C3D8, ELSET=Eall\n{cells}*ELSET, ELSET=fluid, GENERATE\n1, 8\n"
                    "*ELSET, ELSET=solid, GENERATE\n9, 16\n*ELSET, ELSET=probe\n8, 9\n")


def exodus(path):
    write_exodus(path, POINTS, [(name, "HEX8", CELLS[i == BODY]) for i, name in enumerate(NAMES)])


def med(path):
    pytest.importorskip("h5py")
    mesh = meshio.Mesh(POINTS, [("hexahedron", CELLS)], cell_data={"cell_tags": [-1 - BODY]})
    mesh.cell_tags = {-1: ["fluid", "all"], -2: ["solid", "all"]}
    meshio.write(path, mesh)


def kratos(path):
    nodes = lines([i, *p] for i, p in enumerate(POINTS.tolist(), 1))
    cells = lines([i, 1, *(c + 1).tolist()] for i, c in enumerate(CELLS, 1))
    parts = "".join(f"Begin SubModelPart {name}\nBegin SubModelPartElements\n"
                    f"{lines([i + 1] for i in np.flatnonzero(k == BODY))}End SubModelPartElements\nEnd SubModelPart\n"
                    for k, name in enumerate(NAMES))
    path.write_text(f"Begin Nodes\n{nodes}End Nodes\nBegin Elements Element3D8N\n{cells}End Elements\n{parts}")


@pytest.mark.parametrize(("write", "name"), [(gmsh, "m.msh"), (abaqus, "m.inp"), (exodus, "m.e"), (med, "m.med"),
                                             (kratos, "m.mdpa")])
def test_a_file_stands_for_its_volumes(tmp_path, write, name):
    write(tmp_path / name)
    made = copart.plan(tmp_path / name, parts=(2, 2))
    assert (list(made.meshes), [m.ncells for m in made.meshes.values()]) == (list(NAMES), [8, 8])
    assert made.interface.overlap == pytest.approx(1)
    assert made.interface.a.matched == 4


def test_info_says_what_a_file_stands_for(tmp_path, capsys):
    gmsh(tmp_path / "m.msh")
    assert main(["mesh", "info", str(tmp_path / "m.msh")]) == 0
    assert "the file alone stands for 2 components: fluid, solid" in capsys.readouterr().out.splitlines()
    assert main(["mesh", "info", f"{tmp_path / 'm.msh'}:fluid", "--json"]) == 0
    assert json.loads(capsys.readouterr().out)["alone"] == []


def test_only_some_of_a_file(tmp_path, capsys):
    three = cube("hexa", 3).replace(cell_data={"zone": np.repeat([1, 2, 3], 9)}, name="three")
    write_vtu(tmp_path / "three.vtu", three)
    source, out = str(tmp_path / "three.vtu"), str(tmp_path / "out")
    assert main(["plan", source, "--only", "zone=1", "zone=2", "--parts", "2", "2", "-o", out, "--json"]) == 0
    assert json.loads(capsys.readouterr().out)["settings"]["names"] == ["zone1", "zone2"]
    assert main(["plan", source, "--only", "zone=2,zone=3", "zone=1", "--parts", "2", "2", "-o", out, "--json"]) == 0
    assert json.loads(capsys.readouterr().out)["settings"]["names"] == ["zone2+3", "zone1"]
    assert main(["compare", source, "--only", "zone=1", "zone=2", "--parts", "2", "2"]) == 0
    capsys.readouterr()
    assert main(["plan", source, source, "--only", "zone=1", "--parts", "2", "2", "-o", out]) == 2
    assert "--only: names zones or regions of one file, got 2 files" in capsys.readouterr().err
    assert main(["plan", source, "--only", "zone=1", "zone=1", "--parts", "2", "2", "-o", out]) == 2
    assert "--only: names zone=1 twice" in capsys.readouterr().err


def test_names_of_zones_of_several_files(tmp_path):
    one = cube("hexa", 3).replace(cell_data={"zone": np.repeat([1, 2, 3], 9), "a:kind": np.repeat([7, 8, 8], 9)})
    write_vtu(tmp_path / "one.vtu", one)
    write_vtu(tmp_path / "two.vtu", one.translated((0, 0, 1)))
    path = tmp_path / "one.vtu"

    def names(*sources):
        return list(copart.plan(*sources, total=6).meshes)

    assert names(path) == ["zone1", "zone2", "zone3"]
    assert names(f"{path}:a:kind=7", f"{path}:zone=2") == ["kind7", "zone2"]
    # of a file each the name of the file tells them apart
    assert names(f"{path}:zone=3", f"{tmp_path / 'two.vtu'}:zone=1") == ["one-3", "two-1"]


def regions(**groups):
    return cube("hexa", 2).replace(cell_groups=groups)


def test_which_groups_share_out_the_cells():
    halves = {"low": range(4), "high": range(4, 8)}
    assert shared_out(regions(**halves)) == ["low", "high"]
    assert shared_out(regions(all=range(8), **halves, again=range(4))) == ["low", "high"]
    # of groups made of others the small ones
    quarters = {"a": [0, 1], "b": [2, 3]}
    assert shared_out(regions(**halves, **quarters)) == ["high", "a", "b"]
    # of groups that some mark the large ones
    assert shared_out(regions(**halves, mark=[3, 4])) == ["low", "high"]
    for none in ({}, {"all": range(8)}, {"low": range(4)}, {"low": range(5), "high": range(4, 8)}):
        assert shared_out(regions(**none)) == []
    mesh = regions(**halves).replace(point_groups={"low": [0]})
    assert shared_out(mesh) == ["cells=low", "high"]
    assert mesh.select(("cells", "low")).ncells == 4
    assert typed(mesh, "high") == "high"


@given(st.lists(st.lists(st.integers(0, 7), max_size=8), max_size=6))
def test_what_is_found_has_every_cell_once(groups):
    mesh = regions(**{f"g{i}": cells for i, cells in enumerate(groups)})
    found = shared_out(mesh)
    if found:
        assert len(found) > 1
        assert sorted(c for name in found for c in mesh.cell_groups[name].tolist()) == list(range(8))


def test_regions_that_do_not_share_out_are_named(tmp_path):
    mesh = regions(low=range(5), high=range(4, 7))
    write_vtu(tmp_path / "m.vtu", mesh)
    with pytest.raises(ConfigError, match=r"is one component \(its regions do not share out its cells, 1 of its 8 "
                                          r"cells are in none and 1 in several; say which with --only: low, high\)"):
        copart.plan(tmp_path / "m.vtu", parts=(1, 1))


def test_other_regions_are_mentioned_by_their_cells(tmp_path):
    mesh = Mesh([[x, y] for x in range(5) for y in range(2)],
                [("quad", [[2 * i, 2 * i + 2, 2 * i + 3, 2 * i + 1] for i in range(4)])], name="m",
                cell_groups={"a": [0], "b": [1], "ab": [0, 1], "c": [2], "d": [3], "cd": [2, 3]},
                point_groups={"d": [8]})
    write_vtu(tmp_path / "m.vtu", mesh)
    made = copart.plan(f"{tmp_path / 'm.vtu'}:a", f"{tmp_path / 'm.vtu'}:b,c", parts=(1, 1))
    assert "m.vtu also has cells=d; give them as well to couple all" in made.remarks
