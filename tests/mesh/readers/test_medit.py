"""Medit files of text: layouts, keywords that are passed over, digits, and what is refused."""

from __future__ import annotations

import pytest

from copart.errors import FormatError
from copart.mesh import read_mesh

HEAD = "MeshVersionFormatted 1\nDimension 3\n"
VERTICES = "Vertices\n4\n0.123456789012 0 0 1\n1 0 0 1\n0 1 0 1\n0 0 1 1\n"
CELLS = "Triangles\n2\n1 2 3 5\n1 2 4 16777217\nTetrahedra\n1\n1 2 3 4 7\n"
PASSED = "Corners\n1\n1\nRequiredVertices\n1\n2\nRequiredTriangles\n1\n1\nRidges\n0\nNormals\n1\n0 0 1\n" \
    "AngleOfCornerBound\n10\nTetrahedraP2\n0\nIdentifier\n\"a b\"\n"


def read(tmp_path, text):
    (tmp_path / "a.mesh").write_text(text)
    return read_mesh(tmp_path / "a.mesh")


@pytest.mark.parametrize("text", [
    HEAD + VERTICES + CELLS + "End\n", HEAD + PASSED + VERTICES + CELLS,
    (HEAD + VERTICES + CELLS).replace("\n", "\r\n"),
    "# by hand\n MeshVersionFormatted\n2\n\nDimension\n3\n\nVertices 4\n" + VERTICES[11:]
    + CELLS.replace("\n2\n", " 2\n"),
    (HEAD + VERTICES + CELLS).replace("Vertices", "# all\nVertices\n# their number").replace("1\n1", "1 # one\n  1")])
def test_every_layout_is_the_same_mesh(tmp_path, text):
    mesh = read(tmp_path, text)
    assert mesh.points[:, 0].tolist() == [0.123456789012, 1, 0, 0]
    assert [(kind, nodes.tolist()) for kind, nodes in mesh.blocks] == [("tetra", [[0, 1, 2, 3]])]
    assert {name: rows.tolist() for name, rows in mesh.facet_groups.items()} == {
        "5": [[0, 1, 2]], "16777217": [[0, 1, 3]]}
    assert list(mesh.cell_groups) == ["7"]
    assert not mesh.remarks


def test_a_mesh_of_two_dimensions(tmp_path):
    mesh = read(tmp_path, "MeshVersionFormatted 2\nDimension 2\nVertices\n4\n0 0 1\n1 0 1\n1 1 1\n0 1 1\n"
                          "Edges\n1\n1 2 3\nQuadrilaterals\n1\n1 2 3 4 0\nEnd\n")
    assert (mesh.dimension, mesh.ncells, list(mesh.facet_groups)) == (2, 1, ["3"])


@pytest.mark.parametrize(("text", "said"), [
    (HEAD + VERTICES.replace("4\n", "5\n", 1) + CELLS, ":3: Vertices: 5 announced of 4 numbers each, 16 numbers found"),
    (HEAD + VERTICES + CELLS.replace("1 2 3 4 7", "1 2 3 4.5 7"), ":13: Tetrahedra: needs whole numbers"),
    (HEAD + VERTICES + CELLS.replace("4 7", "9 7"), "outside the 4 points"),
    (HEAD + VERTICES.replace("1 0 0 1", "1 0 0,1"), ":6: Vertices: not a number: '0,1'"),
    (HEAD + VERTICES + "TrianglesP2\n1\n1 2 3 4 1 2 0\n", ":9: TrianglesP2: cells of higher order are not read"),
    (HEAD.replace("3", "4") + VERTICES, ":2: Dimension: must be 2 or 3"), (HEAD + CELLS, "has no Vertices"),
    ("mesh3d\n", "expected MeshVersionFormatted first")])
def test_what_breaks_the_format_is_named(tmp_path, text, said):
    with pytest.raises(FormatError, match=said):
        read(tmp_path, text)
