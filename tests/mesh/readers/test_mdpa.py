"""Kratos files: numbers, shapes by names, SubModelParts."""

from __future__ import annotations

import re

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from copart.errors import FormatError
from copart.mesh import cube, dual_graph, read_mesh
from copart.mesh.interfaces.surface import boundary_surface
from copart.mesh.readers.mdpa_names import ORDER, cell_of

MDPA = """Begin ModelPartData
//  VARIABLE_NAME value
End ModelPartData
Begin Properties 1 /* of the
  fluid */
  DENSITY 2.0
  Begin Table TEMPERATURE VISCOSITY
  200. 2e-6
  End Table
End Properties
Begin Properties 2
End Properties

Begin Nodes
 40 1.0 1.0 0.0
 7 0.0 0.0 0.0   // numbers need not ascend
 12 1.0 0.0 0.0
 3 0.0 1.0 0.0
 99 2.0 1.0 0.0
End Nodes

Begin Elements Element2D3N// GUI group identifier: Parts
 8 1 7 12 3
 2 2 12 40 3
End Elements
Begin Elements VMS2D
 5 2 12 99 40
End Elements

Begin Conditions WallCondition2D2N
 1 0 7 12
 2 0 12 99
 8 0 3 7
End Conditions

Begin NodalData DISPLACEMENT_X
 7 1 0.1
End NodalData

Begin SubModelPart Parts
  Begin SubModelPartData
  End SubModelPartData
  Begin SubModelPartNodes
  7
  12
  3
  40
  End SubModelPartNodes
  Begin SubModelPartElements
  2
  8
  End SubModelPartElements
End SubModelPart
Begin SubModelPart Walls
  Begin SubModelPart Lower
    Begin SubModelPartNodes
    7
    12
    99
    End SubModelPartNodes
    Begin SubModelPartConditions
    1
    2
    End SubModelPartConditions
  End SubModelPart
  Begin SubModelPart Left
    Begin SubModelPartConditions
    8
    End SubModelPartConditions
  End SubModelPart
End SubModelPart
Begin SubModelPart Fixed
  Begin SubModelPartNodes
  3
  7
  End SubModelPartNodes
End SubModelPart
Begin Mesh 1
  Begin MeshElements
  5
  End MeshElements
End Mesh
"""


def read(tmp_path, text):
    (tmp_path / "m.mdpa").write_text(text)
    return read_mesh(tmp_path / "m.mdpa")


def coordinates(mesh, nodes):
    return sorted(mesh.points[n, :2].tolist() for n in np.asarray(nodes).ravel())


def test_nodes_and_elements_are_found_by_number(tmp_path):
    mesh = read(tmp_path, MDPA)
    assert repr(mesh).startswith("Mesh('m': 3 triangle in 2D, 5 points")
    assert [mesh.points[c, :2].tolist() for _, block in mesh.blocks for c in block] == [
        [[0, 0], [1, 0], [0, 1]], [[1, 0], [1, 1], [0, 1]], [[1, 0], [2, 1], [1, 1]]]
    assert dual_graph(mesh).nedges == 2
    assert mesh.cell_data["properties"].tolist() == [1, 2, 2]
    assert mesh.remarks == ("values on nodes and cells are left out: DISPLACEMENT_X",)


def test_submodelparts_are_groups_and_belong_to_what_they_are_in(tmp_path):
    mesh = read(tmp_path, MDPA)
    assert {k: v.tolist() for k, v in mesh.cell_groups.items()} == {"Parts": [0, 1], "Mesh1": [2]}
    assert list(mesh.facet_groups) == ["Walls", "Walls.Lower", "Walls.Left"]
    assert len(mesh.facet_groups["Walls"]) == 3
    assert coordinates(mesh, mesh.facet_groups["Walls.Left"]) == [[0, 0], [0, 1]]
    # the nodes of a part with cells or boundaries are known from these
    assert list(mesh.point_groups) == ["Fixed"]
    assert coordinates(mesh, mesh.point_groups["Fixed"]) == [[0, 0], [0, 1]]
    assert boundary_surface(mesh.select("Walls.Lower")).cell.tolist() == [0, 2]
    assert boundary_surface(mesh.select("Fixed")).cell.tolist() == [0]


def test_geometries_are_cells_where_there_are_no_elements(tmp_path):
    text = MDPA.replace("Elements", "Geometries").replace("Element2D3N", "Triangle2D3").replace("VMS2D", "Triangle2D3")
    for number in ("8 1 7", "2 2 12", "5 2 12"):
        text = text.replace(f" {number} ", f" {number[0]} {number[4:]} ")
    mesh = read(tmp_path, text)
    whole = read(tmp_path, MDPA)
    assert [c.tolist() for _, c in mesh.blocks] == [c.tolist() for _, c in whole.blocks]
    assert {k: v.tolist() for k, v in mesh.cell_groups.items()} == {"Parts": [0, 1], "Mesh1": [2]}
    assert "properties" not in mesh.cell_data


SHELL = """Begin Nodes
1 0 0 0
2 1 0 0
3 1 1 0
4 0 1 0
5 2 0 0
6 2 1 0
End Nodes
Begin Elements ShellThinElement3D4N
1 1 1 2 3 4
2 1 2 5 6 3
End Elements
Begin Conditions SurfaceLoadCondition3D4N
7 1 3 2 5 6
8 1 1 2 6 4
End Conditions
Begin SubModelPart load
 Begin SubModelPartConditions
 7
 8
 End SubModelPartConditions
End SubModelPart
"""


def test_conditions_on_shells_are_the_shells(tmp_path):
    mesh = read(tmp_path, SHELL)
    assert (mesh.ncells, mesh.dimension) == (2, 2)
    assert {k: v.tolist() for k, v in mesh.cell_groups.items()} == {"load": [1]}
    assert mesh.remarks == ("1 conditions of as many dimensions as the elements are left out: they are none of them",)


def test_conditions_alone_are_cells(tmp_path):
    text = SHELL.split("Begin Conditions")[0].replace("Elements ShellThinElement3D4N", "Conditions RigidFace3D4N")
    assert read(tmp_path, text.replace("End Elements", "End Conditions")).ncells == 2


@pytest.mark.parametrize(("kind", "name", "nnodes", "cell"), [
    ("Elements", "Element3D4N", 4, "tetra"), ("Elements", "ShellThinElement3D4N", 4, "quad"),
    ("Elements", "ShellThinElement3D3N", 3, "triangle"), ("Elements", "CrLinearBeamElement3D2N", 2, "line"),
    ("Elements", "SmallDisplacementLinearElement3D4N", 4, "tetra"), ("Elements", "CableElement3D3N", 3, "line3"),
    ("Elements", "SolidShellElementSprism3D6N", 6, "wedge"), ("Elements", "VMS3D", 4, "tetra"),
    ("Elements", "MonolithicPFEM22D", 3, "triangle"), ("Elements", "SphericParticle3D", 1, "vertex"),
    ("Elements", "UPwSmallStrainInterfaceElement2D4N", 4, "quad"), ("Elements", "Element3D5N", 5, "pyramid"),
    ("Conditions", "SurfaceCondition3D4N", 4, "quad"), ("Conditions", "PointLoadCondition3D1N", 1, "vertex"),
    ("Conditions", "LineCondition3D3N", 3, "line3"), ("Conditions", "WallCondition3D", 3, "triangle"),
    ("Conditions", "SurfaceCondition3D6N", 6, "triangle6"), ("Elements", "SmallDisplacementElement3D20N", 20,
                                                               "hexahedron20"),
    ("Geometries", "Tetrahedra3D10", 10, "tetra10"), ("Geometries", "Quadrilateral3D4", 4, "quad"),
    ("Geometries", "Line2D2", 2, "line"), ("Geometries", "HexahedraInterface3D8", 8, "hexahedron"),
    ("Elements", "Triangle2D3", 3, "triangle"), ("Geometries", "NurbsSurface3D", 16, None),
    ("Elements", "Fluid", 3, None), ("Elements", "Element3D7N", 7, None),
])
def test_names_tell_shapes(kind, name, nnodes, cell):
    assert cell_of(kind, name, nnodes) == cell


@pytest.mark.parametrize(("cell", "name"), [("hexahedron20", "Element3D20N"), ("hexahedron27", "Element3D27N"),
                                            ("wedge15", "Element3D15N"), ("tetra10", "Element3D10N")])
def test_second_order_nodes_are_between_their_corners(tmp_path, cell, name):
    corners = {"h": [[0, 0, 0], [1, 0, 0], [1, 1, 0], [0, 1, 0], [0, 0, 1], [1, 0, 1], [1, 1, 1], [0, 1, 1]],
               "w": [[0, 0, 0], [1, 0, 0], [0, 1, 0], [0, 0, 1], [1, 0, 1], [0, 1, 1]],
               "t": [[0, 0, 0], [1, 0, 0], [0, 1, 0], [0, 0, 1]]}[cell[0]]
    # Kratos: edges below, upright, above; faces below, in front, right, behind, left, above; the middle
    edges = {"h": ["01", "12", "23", "30", "04", "15", "26", "37", "45", "56", "67", "74"],
             "w": ["01", "12", "20", "03", "14", "25", "34", "45", "53"],
             "t": ["01", "12", "20", "03", "13", "23"]}[cell[0]]
    if cell == "hexahedron27":
        edges += ["0123", "0154", "1265", "2376", "3047", "4567", "01234567"]
    points = np.array([*corners, *(np.mean([corners[int(c)] for c in e], axis=0) for e in edges)])
    rows = "".join(f"{i} {x} {y} {z}\n" for i, (x, y, z) in enumerate(points.tolist(), 1))
    numbers = " ".join(str(i + 1) for i in range(len(points)))
    mesh = read(tmp_path, f"Begin Nodes\n{rows}End Nodes\nBegin Elements {name}\n1 1 {numbers}\nEnd Elements\n")
    (kind, nodes), = mesh.blocks
    assert kind == cell
    # VTK: edges below, above, upright; faces left, right, in front, behind, below, above
    vtk = {"h": ["01", "12", "23", "30", "45", "56", "67", "74", "04", "15", "26", "37"],
           "w": ["01", "12", "20", "34", "45", "53", "03", "14", "25"], "t": edges}[cell[0]]
    if cell == "hexahedron27":
        vtk = [*vtk, "0473", "1265", "0154", "2376", "0123", "4567", "01234567"]
    wanted = [np.mean([corners[int(c)] for c in e], axis=0).tolist() for e in vtk]
    assert mesh.points[nodes[0, len(corners):]].tolist() == wanted
    assert cell not in ORDER or sorted(ORDER[cell]) == list(range(len(points)))


@settings(max_examples=30, deadline=None)
@given(st.randoms(use_true_random=False))
def test_any_numbers_in_any_order_give_the_same_mesh(tmp_path_factory, random):
    block = cube("hexa", 2)
    node = random.sample(range(1, 10_000), block.npoints)
    cell = random.sample(range(1, 10_000), block.ncells)
    lines = [f"{node[i]} {' '.join(map(repr, p))}" for i, p in enumerate(block.points.tolist())]
    rows = [f"{cell[i]} 1 {' '.join(str(node[n]) for n in c)}" for i, c in enumerate(block.blocks[0][1].tolist())]
    part = [str(cell[i]) for i in (1, 4, 5)]
    random.shuffle(lines)
    random.shuffle(part)
    listed = "\n".join
    mesh = read(tmp_path_factory.mktemp("any"), f"""Begin Nodes
{listed(lines)}
End Nodes
Begin Elements Element3D8N
{listed(rows)}
End Elements
Begin SubModelPart some
Begin SubModelPartElements
{listed(part)}
End SubModelPartElements
End SubModelPart""")
    assert mesh.points[mesh.blocks[0][1]].tolist() == block.points[block.blocks[0][1]].tolist()
    assert mesh.cell_groups["some"].tolist() == [1, 4, 5]


@pytest.mark.parametrize(("old", "new", "said"), [
    ("Element2D3N//", "Fluid//", r"m.mdpa:22: the name 'Fluid' does not tell the shape of elements of 3 nodes"),
    ("Element2D3N//", "Element3D7N//", r"m.mdpa:22: the name 'Element3D7N'"),
    (" 8 1 7 12 3", " 8 1 7 12", r"m.mdpa:23: elements Element2D3N need 5 numbers each, found 4"),
    (" 8 1 7 12 3", " 8 1 7 x 3", r"m.mdpa:23: not a whole number: 'x'"),
    (" 8 1 7 12 3", " 8 1 7 12 4", r"m.mdpa:22: elements Element2D3N names node 4, which is not defined"),
    (" 40 1.0 1.0 0.0", " 40 1.0 1.0", r"m.mdpa:15: nodes need 4 numbers each, found 3"),
    (" 40 1.0 1.0 0.0", " 4.5 1.0 1.0 0", r"m.mdpa:15: node number 4.5 is not a whole number above 0"),
    (" 99 2.0", " 7 2.0", r"m.mdpa: node 7 is given more than once"),
    (" 5 2 12", " 8 2 12", r"m.mdpa: element 8 is given more than once"),
    ("End Nodes", "End Node", r"m.mdpa:20: expected End Nodes, found End Node"),
    ("Begin Conditions", "Begn Conditions", r"m.mdpa:30: expected Begin, found 'Begn'"),
    ("  5\n  End MeshElements\nEnd Mesh", "5\n", r"m.mdpa:\d+: the file ends inside Begin MeshElements"),
    ("  8\n    End", "  77\n    End", None), ("  3\n  7", "  3\n  77", r"SubModelPart Fixed names node 77"),
    ("Begin SubModelPart Walls", "Begin SubModelPart", r"Begin SubModelPart needs a name"),
    ("\nBegin Elements VMS2D", "\nBegin Nodes\nBegin Elements VMS2D", r"expected End Nodes, found Begin Elements"),
])
def test_what_breaks_the_format(tmp_path, old, new, said):
    assert old in MDPA or said is None
    text = MDPA.replace(old, new, 1) if said else MDPA.replace("    8\n", "    77\n")
    with pytest.raises(FormatError, match=said or "SubModelPart Walls names condition 77, which is not defined"):
        read(tmp_path, text)


@pytest.mark.parametrize(("text", "said"), [
    ("Begin Properties 0\nEnd Properties\n", "no nodes"),
    ("Begin Nodes\n1 0 0 0\nEnd Nodes\n", "points only, no cells"),
    ("Begin " * 200, "needs a name|ends inside"), ("Begin X\n" * 200, "nested more than 50 deep"),
])
def test_files_without_a_mesh(tmp_path, text, said):
    with pytest.raises(FormatError, match=said):
        read(tmp_path, text)


def test_conditions_of_unknown_shape_are_left_out(tmp_path):
    mesh = read(tmp_path, re.sub("WallCondition2D2N", "Wall", MDPA).split("Begin SubModelPart Walls")[0])
    assert mesh.remarks[0] == "conditions Wall are left out: the name does not tell their shape"
