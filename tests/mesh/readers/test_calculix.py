"""CalculiX and Abaqus input: elements by name, faces by number, sets, surfaces and side files."""

from __future__ import annotations

import numpy as np
import pytest

from copart.errors import FormatError
from copart.mesh import dual_graph, read_mesh
from copart.mesh.cells import shape_of
from copart.mesh.interfaces.surface import boundary_surface
from copart.mesh.readers.element_names import FACES, element, face

DECK = """** two bricks and a tetrahedron on them; numbers with gaps
*HEADING
*Node, nset=Nall
 1, 0., 0., 0.
 2, 1., 0., 0.
 3, 1., 1., 0.
 4, 0., 1., 0.
 11, 0., 0., 1.
 12, 1., 0., 1.
 13, 1., 1., 1.0D+00
 14, 0., 1., 1.
 21, 0., 0., 2
 22, 1., 0., 2
 23, 1., 1., 2
 24, 0., 1., 2
 30, .5, .5, 3
*ELEMENT, TYPE=C3D8R,
 ELSET=bricks
 100, 1, 2, 3, 4, 11, 12, 13, 14
 200, 11, 12, 13, 14,
 21, 22, 23, 24
*Element, Elset=cap, Type=C3D4
 300, 21, 22, 23, 30
*NSET, NSET=bottom, GENERATE
 1, 4, 1
*NSET, nset=both
 Bottom, 11
*ELSET, ELSET=all
 bricks, cap
*ELSET, ELSET=odd, GENERATE
 100, 300, 200
*SURFACE, NAME=wet, TYPE=ELEMENT
 100, S1
 cap, S3
*SURFACE, NAME=nodes, TYPE=NODE
 bottom,
*MATERIAL, NAME=EL
*ELASTIC
 1., .3
"""


def read(tmp_path, text, name="m.inp"):
    (tmp_path / name).write_text(text)
    return read_mesh(tmp_path / name)


def test_everything_a_deck_says(tmp_path):
    mesh = read(tmp_path, DECK)
    assert [(t, len(c)) for t, c in mesh.blocks] == [("hexahedron", 2), ("tetra", 1)]
    assert mesh.blocks[0][1].tolist() == [[0, 1, 2, 3, 4, 5, 6, 7], [4, 5, 6, 7, 8, 9, 10, 11]]
    assert mesh.points[6].tolist() == [1, 1, 1]
    assert {k: v.tolist() for k, v in mesh.cell_groups.items()} == {
        "bricks": [0, 1], "cap": [2], "all": [0, 1, 2], "odd": [0, 2]}
    assert {k: v.tolist() for k, v in mesh.point_groups.items()} == {
        "Nall": list(range(13)), "bottom": [0, 1, 2, 3], "both": [0, 1, 2, 3, 4], "nodes": [0, 1, 2, 3]}
    assert [sorted(r) for r in mesh.facet_groups["wet"].tolist()] == [[0, 1, 2, 3], [-1, 9, 10, 12]]
    assert boundary_surface(mesh.select("wet")).cell.tolist() == [0, 2]
    assert boundary_surface(mesh.select("bottom")).cell.tolist() == [0]
    assert mesh.remarks == ()


@pytest.mark.parametrize(("name", "kind", "nnodes", "shell"), [
    ("C3D4", "tetra", 4, False), ("C3D8I", "hexahedron", 8, False), ("C3D20R", "hexahedron20", 20, False),
    ("c3d10", "tetra10", 10, False), ("C3D15", "wedge15", 15, False), ("DC3D6", "wedge", 6, False),
    ("C3D5", "pyramid", 5, False), ("SC8R", "hexahedron", 8, False), ("C3D10HS", "tetra10", 10, False),
    ("S4R5", "quad", 4, True), ("S3", "triangle", 3, True), ("S8R", "quad8", 8, True), ("STRI65", "triangle6", 6, True),
    ("M3D4R", "quad", 4, True), ("CPS3", "triangle", 3, False), ("CPE8R", "quad8", 8, False),
    ("CAX4", "quad", 4, False), ("DC2D4", "quad", 4, False), ("T3D2", "line", 2, False), ("B31", "line", 2, False),
    ("B32R", "line3", 3, False),
])
def test_names_of_elements(name, kind, nnodes, shell):
    assert element(name) == (kind, nnodes, shell)


@pytest.mark.parametrize("name", ["SPRINGA", "MASS", "DCOUP3D", "GAPUNI", "U1", "C3D7", "", "S", "XYZ4"])
def test_names_that_are_no_cells(name):
    assert element(name) is None


@pytest.mark.parametrize("kind", ["B32", "B32R", "T3D3", "DC1D3"])
def test_lines_list_their_middle_between_their_ends(tmp_path, kind):
    deck = f"*NODE\n1,0\n2,.5\n3,1\n4,1.5\n5,2\n*ELEMENT, TYPE={kind}\n1,1,2,3\n2,3,4,5\n"
    (tmp_path / "beam.inp").write_text(deck)
    mesh = read_mesh(tmp_path / "beam.inp")
    assert mesh.points[mesh.blocks[0][1], 0].tolist() == [[0, 1, 0.5], [1, 2, 1.5]]
    assert len(dual_graph(mesh).adjncy) == 2


def test_sides_of_second_order_in_the_plane_as_gmsh_writes_them(tmp_path):
    (tmp_path / "plane.inp").write_text(
        "*NODE\n1,0,0\n2,1,0\n3,0,1\n4,.5,0\n5,.5,.5\n6,0,.5\n"
        "*ELEMENT, type=T3D3, ELSET=low\n1,1,4,2\n*ELEMENT, type=CPS6, ELSET=all\n2,1,2,3,4,5,6\n")
    mesh = read_mesh(tmp_path / "plane.inp")
    assert mesh.facet_groups["low"].tolist() == [[0, 1]]


@pytest.mark.parametrize("shape", ["tetra", "pyramid", "wedge", "hexahedron", "triangle", "quad"])
def test_numbered_faces_are_the_facets(shape):
    facets = {frozenset(int(i) for i in row if i >= 0)
              for row in shape_of(shape, max(max(f) for f in FACES[shape]) + 1).facets}
    assert {frozenset(f) for f in FACES[shape]} == facets
    assert face(shape, "S1", False) == FACES[shape][0]
    assert face(shape, "S9", False) is None


def test_sides_and_edges_of_shells(tmp_path):
    text = ("*NODE\n1,0,0,0\n2,1,0,0\n3,1,1,0\n4,0,1,0\n5,2,0,0\n6,2,1,0\n"
            "*ELEMENT,TYPE=S4,ELSET=E\n1,1,2,3,4\n2,2,5,6,3\n"
            "*SURFACE,NAME=top\n1,SPOS\n*SURFACE,NAME=edge\n2,E2\n*SURFACE,NAME=same\n2,S4\n")
    mesh = read(tmp_path, text)
    assert mesh.cell_groups["top"].tolist() == [0]
    assert mesh.facet_groups["edge"].tolist() == mesh.facet_groups["same"].tolist() == [[4, 5]]


def test_skins_of_plane_elements_are_facets(tmp_path):
    skin = DECK.replace("*NSET, NSET=bottom", "*ELEMENT, TYPE=S4, ELSET=skin\n900,1,2,3,4\n*NSET, NSET=bottom")
    mesh = read(tmp_path, skin)
    assert mesh.ncells == 3
    assert mesh.facet_groups["skin"].tolist() == [[0, 1, 2, 3]]


def test_side_files_and_includes(tmp_path):
    mesh_only, sets = DECK.split("*NSET, NSET=bottom")[0], "*NSET, NSET=bottom" + DECK.split("*NSET, NSET=bottom")[1]
    (tmp_path / "wet.nam").write_text("** by hand\n*NSET,NSET=Nwet\n1,\n2,\n3,\n4,\n")
    (tmp_path / "wet.SUR").write_text("*SURFACE,NAME=Swet\n100,S1\n")
    (tmp_path / "other.nam").write_text("*NSET,NSET=Nother\n1, 2, 999\n")
    beside = read(tmp_path, mesh_only, "all.msh")
    assert beside.point_groups["Nwet"].tolist() == [0, 1, 2, 3]
    assert boundary_surface(beside.select("Swet")).cell.tolist() == [0]
    assert beside.remarks == ("node set Nother of other.nam is left out: 1 of 3 members are not in the mesh, "
                              "first 999",)
    # a file that includes others says itself what belongs to it
    (tmp_path / "sets.inc").write_text(sets)
    whole = read(tmp_path, "*INCLUDE, INPUT=all.msh\n*INCLUDE,INPUT=sets.inc\n*INCLUDE, INPUT=gone.nam\n", "run.inp")
    assert "Nwet" not in whole.point_groups
    assert whole.remarks == ("the included file gone.nam is not there: left out",)
    assert {k: v.tolist() for k, v in whole.facet_groups.items()} == \
        {k: v.tolist() for k, v in read(tmp_path, DECK).facet_groups.items() if k != "Swet"}


def test_coordinates_left_out_are_zero(tmp_path):
    for nodes in ("1\n2,1\n3,1,1\n4,,1\n", "1,0,0\n2,1,0\n3,1,1\n4,0,1\n", "1,,\n2,1,,\n3,1.,1.,\n4,0,1.\n"):
        mesh = read(tmp_path, f"*NODE\n{nodes}*ELEMENT,TYPE=CPS4\n7,1,2,3,4\n")
        assert mesh.points.tolist() == [[0, 0, 0], [1, 0, 0], [1, 1, 0], [0, 1, 0]]


def test_what_is_left_out_is_said(tmp_path):
    text = DECK.replace("*NSET, NSET=bottom", "*ELEMENT, TYPE=MASS, ELSET=M\n900,1\n901,2\n*NSET, NSET=bottom")
    text += "*SURFACE, NAME=free\n bricks,\n*SURFACE, NAME=wrong\n cap, S5\n*NSET, NSET=loop\n loop\n"
    text += "*NODE\n1, 0., 0., 0.\n"
    remarks = read(tmp_path, text).remarks
    for said in ("elements that are no cells are left out: 2 MASS", "1 nodes are given more than once",
                 "surface free is left out: bricks has no face label", "node set loop is left out: it names itself",
                 "surface wrong is left out: tetra elements have no face S5"):
        assert any(said in r for r in remarks), said


@pytest.mark.parametrize(("old", "new", "message"), [
    ("** two", "two", "m.inp:1: expected a card such as"),
    ("1.0D+00", "one", "m.inp:10: not a number: 'on[ed]'"),
    (" 2, 1., 0., 0.", " 2.5, 1., 0., 0.", "m.inp:3: node number 2.5 is not a whole number above 0"),
    (" 2, 1., 0., 0.", " -2, 1., 0., 0.", "node number -2 is not"),
    (" 2, 1., 0., 0.", " 2, 1., nan, 0.", "1 of 13 are not finite"),
    (" 2, 1., 0., 0.", " 1e300, 1., 0., 0.", "node number 1e[+]300"),
    ("23, 30", "23, 31", "element 300 has node 31, which is not defined"),
    ("23, 30", "23", "elements C3D4 need a number and 4 nodes each; 4 numbers"),
    ("23, 30", "23, x", "m.inp:23: not a whole number: 'x'"),
    (" 300, 21", " 200, 21", "element 200 is given more than once"),
    (" 300, 21", " -300, 21", "element number -300 is not above 0"),
    ("Elset=cap, Type=C3D4", "Elset=cap", "m.inp:22: .ELEMENT needs TYPE="),
    (" 1, 4, 1", " 4, 1, 1", "GENERATE needs first <= last"),
    (" 1, 4, 1", " 1, 4, 0", "a step above 0"),
    ("*NSET, NSET=bottom, GENERATE", "*NSET", "m.inp:24: .NSET needs NSET=NAME"),
    ("*NSET, NSET=bottom, GENERATE", "*NGEN", "m.inp:24: .NGEN is not supported"),
    ("*HEADING", "*PART, NAME=a\n*END PART\n*PART, NAME=A", "m.inp:4: the part 'A' is given twice"),
    ("*HEADING", "*INSTANCE, NAME=i, PART=b\n*END INSTANCE", "m.inp:2: the instance 'i' is of the part 'b', which is"),
])
def test_ill_formed(tmp_path, old, new, message):
    assert old in DECK
    with pytest.raises(FormatError, match=message) as caught:
        read(tmp_path, DECK.replace(old, new, 1))
    assert "\n" not in str(caught.value)


def test_huge_ranges_cost_nothing(tmp_path):
    mesh = read(tmp_path, DECK.replace(" 1, 4, 1", " 1, 999999999999999999, 1"))
    assert len(mesh.point_groups["bottom"]) == 13


@pytest.mark.parametrize("text", ["*NODE\n", "*NODE\n1,0,0,0\n", "*INCLUDE, INPUT=m.inp\n",
                                  "*INCLUDE, INPUT=/dev/zero\n",
                                  "*ELEMENT, TYPE=C3D4\n", "*" * 1000, "*NODE\n1,0,0\n*ELEMENT,TYPE=C3D4\n"])
def test_decks_without_a_mesh(tmp_path, text):
    with pytest.raises(FormatError):
        read(tmp_path, text)


def test_truncated_anywhere(tmp_path):
    for size in range(0, len(DECK), 3):
        try:
            mesh = read(tmp_path, DECK[:size])
        except FormatError:
            continue
        # only the cards after the elements can be missing
        assert mesh.ncells >= 1
        assert np.isfinite(mesh.points).all()


ASSEMBLY = """*HEADING
*PART, NAME=Block
*NODE
 1, 0., 0., 0.
 2, 1., 0., 0.
 3, 1., 1., 0.
 4, 0., 1., 0.
 5, 0., 0., 1.
 6, 1., 0., 1.
 7, 1., 1., 1.
 8, 0., 1., 1.
*ELEMENT, TYPE=C3D8, ELSET=Body
 1, 1, 2, 3, 4, 5, 6, 7, 8
*NSET, NSET=Low, GENERATE
 1, 4, 1
*NSET, NSET=Both
 Low, 5
*SURFACE, NAME=Top, TYPE=ELEMENT
 Body, S2
*END PART
*PART, NAME=Cap
*NODE
 1, 0., 0., 0.
 2, 1., 0., 0.
 3, 0., 1., 0.
 4, 0., 0., 1.
*ELEMENT, TYPE=C3D4
 1, 1, 2, 3, 4
*END PART
*ASSEMBLY, NAME=All
*INSTANCE, NAME=First, PART=Block
*END INSTANCE
*INSTANCE, NAME=Second, PART=BLOCK
 2., 0., 0.
 2., 0., 0., 2., 0., 1., 90.
*END INSTANCE
*INSTANCE, NAME=Third, PART=Cap
 0., 0., 1.
*END INSTANCE
*NSET, NSET=Mixed, INSTANCE=Second
 1, 2
*NSET, NSET=Mixed, INSTANCE=Third
 4,
*ELSET, ELSET=_wet_S1, INSTANCE=Second
 1,
*SURFACE, NAME=Wet, TYPE=ELEMENT
 _wet_S1, S1
 First.Body, S1
*END ASSEMBLY
*STEP
"""


def test_instances_of_an_assembly(tmp_path):
    mesh = read(tmp_path, ASSEMBLY)
    assert mesh.remarks == ()
    assert {k: v.tolist() for k, v in mesh.cell_groups.items()} == {
        "First": [0], "First.Body": [0], "Second": [1], "Second.Body": [1], "Third": [2], "_wet_S1": [1]}
    # turned by 90 degrees about the axis through its corner, after it was put there
    second, third = mesh.select("Second"), mesh.select("Third")
    assert np.allclose(second.bounds, [[1, 0, 0], [2, 1, 1]])
    assert np.allclose(third.bounds, [[0, 0, 1], [1, 1, 2]])
    assert np.allclose(mesh.points[mesh.point_groups["Mixed"]], [[2, 0, 0], [2, 1, 0], [0, 0, 2]])
    assert len(mesh.point_groups["First.Both"]) == len(mesh.point_groups["Second.Both"]) == 5
    for name, low, high in (("First.Top", [0, 0, 1], [1, 1, 1]), ("Second.Top", [1, 0, 1], [2, 1, 1]),
                            ("Wet", [0, 0, 0], [2, 1, 0])):
        corners = boundary_surface(mesh.select(name)).corners.reshape(-1, 3)
        assert np.allclose([corners.min(axis=0), corners.max(axis=0)], [low, high])


def test_a_part_alone_keeps_its_names(tmp_path):
    head, tail = ASSEMBLY.split("*PART, NAME=Cap")[0], "*INSTANCE, NAME=One, PART=Block\n 0., 0., 5.\n*END INSTANCE\n"
    wet = "*ELSET, ELSET=e, INSTANCE=one\n 1,\n*SURFACE, NAME=Wet\n e, S1\n*SURFACE, NAME=Over\n One.body, S2\n"
    mesh = read(tmp_path, f"{head}*ASSEMBLY\n{tail}{wet}*END ASSEMBLY\n")
    assert list(mesh.cell_groups) == ["Body", "e"]
    assert set(mesh.facet_groups) == {"Top", "Wet", "Over"}
    assert mesh.remarks == ()
    assert mesh.bounds[0].tolist() == [0, 0, 5]
    assert read(tmp_path, head).bounds[0].tolist() == [0, 0, 0], "no assembly at all"


@pytest.mark.parametrize(("old", "new", "message"), [
    ("PART=Cap\n 0.", "PART=Lid\n 0.", "the instance 'Third' is of the part 'Lid', which is not there"),
    ("NAME=Third, PART", "NAME=first, PART", "the instance 'first' is given twice"),
    ("INSTANCE=Third\n 4,", "INSTANCE=Fourth\n 4,", "names the instance 'Fourth', which is not there"),
    (" 2., 0., 0., 2., 0., 1., 90.", " 2., 0., 0., 2., 0., 0., 90.", "the axis of the turn needs two different points"),
    (" 2., 0., 0., 2., 0., 1., 90.", " 2., 0., 0., 90.", "for a turn 7 more in the next line"),
    (" 0., 0., 1.\n*END", " 0., zero, 1.\n*END", "not a number: 'zero'"),
])
def test_ill_formed_assemblies(tmp_path, old, new, message):
    assert old in ASSEMBLY
    with pytest.raises(FormatError, match=message):
        read(tmp_path, ASSEMBLY.replace(old, new, 1))


@pytest.mark.parametrize("encoding", ["utf-8", "latin-1"])
def test_names_of_other_languages(tmp_path, encoding):
    (tmp_path / "größe.inp").write_text("*NODE\n1,0,0,0\n2,1,0,0\n3,0,1,0\n4,0,0,1\n5,1,1,1\n")
    deck = ("*INCLUDE, INPUT=größe.inp\n*ELEMENT, TYPE=C3D4, ELSET=Festkörper\n1,1,2,3,4\n2,2,3,4,5\n"
            "*ELSET, ELSET=alle\nFestkörper\n")
    (tmp_path / "m.inp").write_bytes(deck.encode(encoding))
    mesh = read_mesh(tmp_path / "m.inp")
    assert mesh.ncells == 2
    assert {name: len(cells) for name, cells in mesh.cell_groups.items()} == {"Festkörper": 2, "alle": 2}
