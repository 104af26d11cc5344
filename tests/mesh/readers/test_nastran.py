"""Nastran bulk data: forms of fields, fields that are no nodes, includes, and what is refused."""

from __future__ import annotations

import meshio
import numpy as np
import pytest

from copart.errors import FormatError
from copart.mesh import dual_graph, read_mesh

POINTS = {1: "0.0 0.0 0.0", 2: "1. 0. 0.", 3: "1.0+0 1.0E+0 .0", 7: "0. 1.0D+00 0.", 40: "2. 0. 0.", 41: "20.-1 1. 0."}
HEAD = "SOL 101 $ static\nCEND\nBEGIN BULK\n"


def small(*fields):
    """An entry in fields of 8 columns."""
    return "".join(f"{field!s:<8}" for field in fields).rstrip() + "\n"


GRID = "".join(small("GRID", number, "", *where.split()) for number, where in POINTS.items())
LEFT = small("CQUAD4", 5, 1, 1, 2, 3, 7)
RIGHT = small("CQUAD4", 9, 2, 2, 40, 41, 3)


def read(tmp_path, text, name="plate.bdf"):
    (tmp_path / name).write_text(text)
    return read_mesh(tmp_path / name)


@pytest.mark.parametrize("right", [
    RIGHT, f"{RIGHT.strip()} $ a comment\n", RIGHT.lower(), "CQUAD4,9,2,2,40,41,3\n", "CQUAD4\t9\t2\t2\t40\t41\t3\n",
    f"CQUAD4* {9:<16}{2:<16}{2:<16}{40:<16}\n*       {41:<16}{3:<16}\n", "CQUAD4*,9,2,2,40\n*,41,3\n",
    small("CQUAD4", 9, 2, 2, 40, 41, 3, "0.0"), small("CQUAD4", 9, 2, 2, 40, 41, 3, 0, "0.5"),
    small("CQUAD8", 9, 2, 2, 40, 41, 3, "", "", "+a") + small("+a", "", ""),
    small("CQUADR", 9, 2, 2, 40, 41, 3) + "\n$ nothing\n"])
def test_an_element_in_any_form_is_read(tmp_path, right):
    mesh = read(tmp_path, HEAD + GRID + LEFT + right + "ENDDATA\n")
    assert mesh.points[:, :2].tolist() == [[0, 0], [1, 0], [1, 1], [0, 1], [2, 0], [2, 1]]
    assert [nodes.tolist() for _, nodes in mesh.blocks] == [[[0, 1, 2, 3], [1, 4, 5, 2]]]
    assert mesh.cell_data["nastran:ref"].tolist() == [1, 2]
    assert dual_graph(mesh).nedges == 1
    assert not mesh.remarks


@pytest.mark.parametrize("text", [GRID + LEFT + RIGHT, HEAD.lower() + GRID + LEFT + RIGHT + "enddata\nrubbish\n",
                                  (HEAD + GRID + LEFT + RIGHT).replace("\n", "\r\n")])
def test_head_and_end_may_be_missing_or_small(tmp_path, text):
    assert read(tmp_path, text, "plate.nas").ncells == 2


def test_points_in_long_fields_and_with_fields_left_out(tmp_path):
    grid = f"GRID*   {1:<16}{'':<16}{'1.23456789012':<16}{'':<16}\n*       {'-2.5D-1':<16}\n" \
        "GRID,2,,1.\nGRID,3,,,1.\n"
    mesh = read(tmp_path, grid + small("CTRIA3", 1, 1, 1, 2, 3, "", 0.5))
    assert mesh.points.tolist() == [[1.23456789012, 0, -0.25], [1, 0, 0], [0, 1, 0]]


def test_solids_of_second_order_have_the_nodes_where_vtk_has_them(tmp_path):
    cube = np.array([[0, 0, 0], [2, 0, 0], [2, 2, 0], [0, 2, 0], [0, 0, 2], [2, 0, 2], [2, 2, 2], [0, 2, 2]])
    edges = ["01", "12", "23", "30", "04", "15", "26", "37", "45", "56", "67", "74"]  # as Nastran numbers them
    points = [*cube, *(cube[[int(a), int(b)]].mean(axis=0) for a, b in edges)]
    text = "".join(f"GRID,{i},,{x:g}.,{y:g}.,{z:g}.\n" for i, (x, y, z) in enumerate(points, start=1))
    solid = small("CHEXA", 1, 1, *range(1, 7)) + small("+", *range(7, 15)) + small("", *range(15, 21))
    mesh = read(tmp_path, text + solid)
    (kind, nodes), = mesh.blocks
    assert kind == "hexahedron20"
    upright = mesh.points[nodes[0, 16:]]
    assert (upright[:, 2] == 1).all()  # VTK has the edges of the top before these
    kept = read(tmp_path, text + solid.replace("20", "  "))
    assert kept.blocks[0][0] == "hexahedron"
    assert "1 element lacks nodes" in kept.remarks[0]
    assert [n.tolist() for _, n in read(tmp_path, text + small("CTRIAX6", 1, 1, 1, 9, 2, 10, 3, 11)).blocks] \
        == [[[0, 1, 2, 8, 9, 10]]]


@pytest.mark.parametrize(("kind", "size"), [("quad8", 8), ("tetra10", 10), ("hexahedron20", 20), ("wedge", 6)])
def test_what_meshio_writes_is_read_as_it_was(tmp_path, kind, size):
    rng = np.random.default_rng(3)
    raw = meshio.Mesh(rng.random((30, 3)), [(kind, np.array([rng.permutation(30)[:size] for _ in range(4)]))])
    meshio.nastran.write(tmp_path / "a.bdf", raw, point_format="free")
    mesh = read_mesh(tmp_path / "a.bdf")
    assert np.allclose(mesh.points, raw.points)
    assert [(name, nodes.tolist()) for name, nodes in mesh.blocks] == [(kind, raw.cells[0].data.tolist())]
    assert not mesh.cell_data


def test_included_files_are_read_or_named(tmp_path):
    (tmp_path / "part two.bdf").write_text(RIGHT)
    text = HEAD + GRID + LEFT + "INCLUDE 'part two\n.bdf'\n" + "include gone.bdf\n" + "ENDDATA\n"
    mesh = read(tmp_path, text)
    assert mesh.ncells == 2
    assert mesh.remarks == ("the included file gone.bdf is not there: left out",)
    (tmp_path / "round.bdf").write_text("INCLUDE 'round.bdf'\n")
    with pytest.raises(FormatError, match="more than 10 deep"):
        read_mesh(tmp_path / "round.bdf")


def test_what_is_no_cell_is_passed_over_and_what_is_unknown_named(tmp_path):
    more = small("CONM2", 30, 1, 0, 1.5) + small("RBE2", 31, 1, 123, 2)
    mesh = read(tmp_path, HEAD + GRID + LEFT + more + small("CBUSH", 32, 1, 1) + small("CBEAM3", 33, 1) + RIGHT)
    assert mesh.ncells == 2
    assert mesh.remarks == ("elements that are not known are left out: 1 CBUSH, 1 CBEAM3",)


@pytest.mark.parametrize(("text", "said"), [
    (GRID.replace("41      ", "41      3") + LEFT, ":6: GRID: the coordinates are in coordinate system 3"),
    (GRID + LEFT.replace("7", "x"), ":7: CQUAD4: field 7 must be a whole number, is 'x'"),
    (GRID.replace("1.0E+0", "1.0E+ "), ":3: GRID: field 5 must be a number, is '1.0E\\+'"),
    (GRID + small("CQUAD4", 5, 1, 1, 2, 3), ":7: CQUAD4: needs 4 grid points at least, has 3"),
    (GRID + small("CQUAD4", 5, 1, 1, 2, 3, 8), "a quad names grid point 8, which is not defined"),
    (GRID + "INCLUDE 'x.bdf'\n", "holds no elements; the included file x.bdf is not there"),
    (LEFT, "holds no grid points"), (GRID + GRID + LEFT, "grid point 1 is given more than once")])
def test_what_breaks_the_format_is_named(tmp_path, text, said):
    with pytest.raises(FormatError, match=said):
        read(tmp_path, text)
