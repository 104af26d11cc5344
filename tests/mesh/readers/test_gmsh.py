"""gmsh files of both versions, text and binary: the same mesh as meshio reads, physical groups, files that lie."""

from __future__ import annotations

import re
import struct

import meshio
import numpy as np
import pytest

from copart.errors import FormatError
from copart.mesh import cube, read_mesh
from copart.mesh.interfaces.surface import boundary_surface

from ...helpers import ROOT

# two triangles of two surfaces, the edges of three curves; node numbers with gaps
OLD = """$MeshFormat
2.2 0 8
$EndMeshFormat
$PhysicalNames
3
1 7 "wall"
2 3 "fluid"
2 4 "a b"
$EndPhysicalNames
$Nodes
4
10 0 0 0
2 1 0 0
30 1 1 0
4 0 1 0
$EndNodes
$Elements
5
1 15 2 9 1 10
2 1 2 7 1 10 2
3 1 0 2 30
8 2 2 3 1 10 2 30
9 2 4 4 2 1 1 10 30 4
$EndElements
$Comments
anything = at all
$EndComments
"""
NEW = """$MeshFormat
4.1 0 8
$EndMeshFormat
$PhysicalNames
3
1 7 "wall"
2 3 "fluid"
2 4 "a b"
$EndPhysicalNames
$Entities
1 2 2 0
1 0 0 0 1 9
1 0 0 0 1 0 0 1 -7 2 1 -2
2 1 0 0 1 1 0 0 2 2 -3
1 0 0 0 1 1 0 1 3 2 1 2
2 0 0 0 1 1 0 2 4 3 0
$EndEntities
$Nodes
2 4 2 30
0 1 0 2
10
2
0 0 0
1 0 0
1 2 1 2
30
4
1 1 0 0.5
0 1 0 0.75
$EndNodes
$Elements
5 5 1 9
0 1 15 1
1 10
1 1 1 1
2 10 2
1 2 1 1
3 2 30
2 1 2 1
8 10 2 30
2 2 2 1
9 10 30 4
$EndElements
"""


#: The same as version 4.0: boxes of points, tags before dimensions, a node with its number in a line.
FIRST = NEW.replace("4.1 0 8", "4 0 8").replace("1 0 0 0 1 9\n", "1 0 0 0 0 0 0 1 9\n").replace(
    "2 4 2 30\n0 1 0 2\n10\n2\n0 0 0\n1 0 0\n1 2 1 2\n30\n4\n1 1 0 0.5\n0 1 0 0.75\n",
    "2 4\n1 0 0 2\n10 0 0 0\n2 1 0 0\n2 1 1 2\n30 1 1 0 0.5\n4 0 1 0 0.75\n").replace(
    "5 5 1 9\n0 1 15 1\n1 10\n1 1 1 1\n2 10 2\n1 2 1 1\n3 2 30\n2 1 2 1\n8 10 2 30\n2 2 2 1\n",
    "5 5\n1 0 15 1\n1 10\n1 1 1 1\n2 10 2\n2 1 1 1\n3 2 30\n1 2 2 1\n8 10 2 30\n2 2 2 1\n")


def test_version_4_0_says_the_same_as_4_1(tmp_path):
    meshes = []
    for name, text in (("first.msh", FIRST), ("new.msh", NEW)):
        (tmp_path / name).write_text(text)
        meshes.append(read_mesh(tmp_path / name))
    first, new = meshes
    assert first.points.tolist() == new.points.tolist()
    assert [(t, c.tolist()) for t, c in first.blocks] == [(t, c.tolist()) for t, c in new.blocks]
    for groups in ("cell_groups", "facet_groups", "point_groups", "cell_data"):
        kept = [{k: v.tolist() for k, v in getattr(m, groups).items()} for m in (first, new)]
        assert kept[0] == kept[1]
    assert first.cell_groups


@pytest.mark.parametrize("text", [OLD, NEW], ids=["2.2", "4.1"])
def test_groups_of_every_dimension(tmp_path, text):
    (tmp_path / "m.msh").write_text(text)
    mesh = read_mesh(tmp_path / "m.msh")
    assert mesh.points[:, :2].tolist() == [[0, 0], [1, 0], [1, 1], [0, 1]]
    assert np.concatenate([c for _, c in mesh.blocks]).tolist() == [[0, 1, 2], [0, 2, 3]]
    expected = {"fluid": [0], "a b": [1]} if text is OLD else {"fluid": [0], "a b": [1], "3": [1]}
    if text is NEW:  # the second surface belongs to 4 and 3, and 3 is the fluid
        expected = {"fluid": [0, 1], "a b": [1]}
    assert {k: v.tolist() for k, v in mesh.cell_groups.items()} == expected
    assert {k: v.tolist() for k, v in mesh.facet_groups.items()} == {"wall": [[0, 1]]}
    assert {k: v.tolist() for k, v in mesh.point_groups.items()} == {"9": [0]}
    assert mesh.remarks == ("cells of lower dimension that belong to no named group are left out: 1 line",)
    assert mesh.cell_data["gmsh:physical"].tolist() == [3, 4]
    assert boundary_surface(mesh.select("wall")).cell.tolist() == [0]


@pytest.mark.parametrize("binary", [True, False])
@pytest.mark.parametrize("together", [True, False])
def test_a_cell_in_several_groups_is_one_cell(tmp_path, binary, together):
    """Version 2 has a line for each group of a cell; a second cell of the same nodes and group is one more."""
    cells = [(3, 1, (1, 2, 3)), (4, 1, (1, 2, 3)), (5, 1, (1, 2, 3)), (3, 2, (1, 3, 4)), (5, 2, (1, 3, 4)),
             (3, 1, (2, 5, 3)), (3, 1, (2, 5, 3)), (4, 9, (2, 5, 3))]
    if not together:  # in the order of their groups
        cells = sorted(cells, key=lambda cell: cell[0])
    corners = ((0, 0, 0), (1, 0, 0), (1, 1, 0), (0, 1, 0), (2, 0, 0))
    if binary:
        head = b"2.2 1 8\n" + struct.pack("<i", 1) + b"\n"
        nodes = b"".join(struct.pack("<i3d", i, *x) for i, x in enumerate(corners, 1))
        rows = b"".join(struct.pack("<9i", 2, 1, 2, i, group, entity, *at)
                        for i, (group, entity, at) in enumerate(cells, 11))
    else:
        head = b"2.2 0 8\n"
        nodes = "".join(f"{i} {x} {y} {z}\n" for i, (x, y, z) in enumerate(corners, 1)).encode()
        rows = "".join(f"{i} 2 2 {group} {entity} {' '.join(map(str, at))}\n"
                       for i, (group, entity, at) in enumerate(cells, 11)).encode()
    (tmp_path / "m.msh").write_bytes(b"$MeshFormat\n" + head + b"$EndMeshFormat\n$Nodes\n5\n" + nodes
                                     + b"\n$EndNodes\n$Elements\n8\n" + rows + b"\n$EndElements\n")
    mesh = read_mesh(tmp_path / "m.msh")
    found = [(tuple(nodes), int(entity), {name for name, own in mesh.cell_groups.items() if i in own})
             for i, (nodes, entity) in enumerate(zip(mesh.blocks[0][1].tolist(), mesh.cell_data["gmsh:geometrical"],
                                                     strict=True))]
    assert sorted(found) == sorted([((0, 1, 2), 1, {"3", "4", "5"}), ((0, 2, 3), 2, {"3", "5"}),
                                    ((1, 4, 2), 1, {"3"}), ((1, 4, 2), 1, {"3"}), ((1, 4, 2), 9, {"4"})])


@pytest.mark.parametrize("version", ["gmsh22", "gmsh"])
@pytest.mark.parametrize("binary", [True, False])
@pytest.mark.parametrize("kind", ["tetra", "hexa"])
def test_as_meshio_reads_it(tmp_path, version, binary, kind):
    mesh = cube(kind, 500 if kind == "tetra" else 5)
    n, cells = mesh.ncells, mesh.blocks[0][1]
    faces = cells[:9, :3]
    tags = {"gmsh:physical": [1 + np.arange(n) * 2 // n, np.full(9, 5)],
            "gmsh:geometrical": [np.ones(n, int), np.ones(9, int)]}
    blocks, data = [(mesh.blocks[0][0], cells), ("triangle", faces)], {}
    if version == "gmsh":  # of which meshio writes one type of cells, and arrays in binary only
        tags, blocks, data = {}, blocks[:1], {"load": [np.arange(n, dtype=float)]} if binary else {}
    meshio.write(tmp_path / "m.msh", meshio.Mesh(
        mesh.points, blocks, cell_data={**tags, **data},
        field_data={"low": np.array([1, 3]), "skin": np.array([5, 2])}), file_format=version, binary=binary)
    ours, theirs = read_mesh(tmp_path / "m.msh"), meshio.read(tmp_path / "m.msh")
    assert np.array_equal(ours.points, theirs.points)
    assert np.array_equal(ours.blocks[0][1], theirs.cells[0].data)
    if tags:
        assert {k: len(v) for k, v in ours.cell_groups.items()} == {"low": (n + 1) // 2, "2": n // 2}
        assert ours.facet_groups["skin"].tolist() == faces.tolist()
    if data:
        assert ours.cell_data["load"].tolist() == list(range(n))


@pytest.mark.parametrize("kind", ["tetra10", "hexahedron20", "hexahedron27"])
def test_nodes_of_second_order_cells_in_vtk_order(tmp_path, kind):
    width = int(re.sub(r"\D", "", kind))
    points = np.random.default_rng(0).random((width, 3))
    meshio.write(tmp_path / "m.msh", meshio.Mesh(points, [(kind, [list(range(width))])]), file_format="gmsh22")
    ours, theirs = read_mesh(tmp_path / "m.msh"), meshio.read(tmp_path / "m.msh")
    assert ours.blocks[0][1].tolist() == theirs.cells[0].data.tolist()


def test_the_mesh_of_the_examples():
    mesh = read_mesh(ROOT / "meshes" / "channel-plate.msh")
    assert {k: len(v) for k, v in mesh.cell_groups.items()} == {"fluid": 800, "solid": 92}


def test_partitioned_files_of_version_4(tmp_path):
    part = NEW.replace("$EndEntities\n", """$EndEntities
$PartitionedEntities
2
0
0 0 1 0
5 2 1 1 1 0 0 0 1 1 0 1 3 0
$EndPartitionedEntities
""").replace("2 1 2 1\n8 10", "2 5 2 1\n8 10")
    (tmp_path / "m.msh").write_text(part)
    assert read_mesh(tmp_path / "m.msh").cell_groups["fluid"].tolist() == [0, 1]


def bad(path, message):
    with pytest.raises(FormatError, match=message) as caught:
        read_mesh(path)
    assert "\n" not in str(caught.value)


@pytest.mark.parametrize(("text", "old", "new", "message"), [
    (OLD, "2.2 0 8", "3 0 8", "format 3 is not supported; save the mesh as version 4.1 or 2.2: gmsh -save"),
    (FIRST, "$EndEntities", "$EndEntities\n$PartitionedEntities\n$EndPartitionedEntities",
     "format 4, binary or partitioned, is not supported"),
    (FIRST, "10 0 0 0", "1.5 0 0 0", r"\$Nodes: a number must be whole, is 1.5"),
    (FIRST, "2 4\n1 0 0 2", "2 5\n1 0 0 2", "5 nodes announced, 4 found"),
    (OLD, "2.2 0 8", "2.2", "needs a version, 0 or 1, and the size"),
    (OLD, "$EndNodes\n", "", r"m.msh:10: \$Nodes is not closed|not a number"),
    (OLD, "4\n10 0", "5\n10 0", r"m.msh:10: \$Nodes: 5 nodes announced, more than"),
    (OLD, "4\n10 0", "5000000000\n10 0", "5000000000 nodes announced, more than the section holds"),
    (OLD, "2 1 0 0\n", "10 1 0 0\n", "node 10 is given twice"),
    (OLD, "2 1 0 0\n", "2 x 0 0\n", r"m.msh:13: \$Nodes: not a number: 'x'"),
    (OLD, "2 1 0 0\n", "2 nan 0 0\n", "1 of 4 are not finite, first at index 1"),
    (OLD, "2 1 0 0\n", "2.5 1 0 0\n", "must be whole, is 2.5"),
    (OLD, "1 10 2 30\n9", "1 10 2 31\n9", "element 8 has node 31, which is not defined"),
    (OLD, "1 10 2 30\n9", "1 10 -2 30\n9", "node -2, which is not defined"),
    (OLD, "5\n1 15", "6\n1 15", "6 elements announced, 5 found"),
    (OLD, "8 2 2", "8 99 2", "element 8 is of the unknown type 99"),
    (OLD, "8 2 2", "8 2 999", "cannot have 999 tags"),
    (OLD, '1 7 "wall"', "1 7 wall", r"m.msh:6: \$PhysicalNames: expected dimension, number and"),
    (OLD, "3\n1 7", "4\n1 7", "4 names announced, 3 found"),
    (NEW, "2 4 2 30", "2 5 2 30", "5 nodes announced, 4 found"),
    (NEW, "2 4 2 30", "9999999999 4 2 30", "are left: the section is truncated or a count wrong"),
    (NEW, "0 1 0 2\n10", "0 1 0 9999999999999\n10", "numbers announced, 22 are left"),
    (NEW, "0 1 0 2\n10", "0 1 0 -2\n10", "-2 numbers announced"),
    (NEW, "5 5 1 9", "5 6 1 9", "6 elements announced, 5 found"),
    (NEW, "1 2 2 0\n", "99999 2 2 0\n", "are left"),
])
def test_ill_formed(tmp_path, text, old, new, message):
    assert old in text
    (tmp_path / "m.msh").write_text(text.replace(old, new, 1))
    bad(tmp_path / "m.msh", message)


@pytest.mark.parametrize("version", ["gmsh22", "gmsh"])
@pytest.mark.parametrize("binary", [True, False])
def test_truncated_anywhere(tmp_path, version, binary):
    mesh = cube("hexa", 2)
    meshio.write(tmp_path / "m.msh", meshio.Mesh(mesh.points, mesh.blocks), file_format=version, binary=binary)
    whole = (tmp_path / "m.msh").read_bytes()
    stop = whole.index(b"$EndElements")
    for size in range(0, stop, 5):
        (tmp_path / "m.msh").write_bytes(whole[:size])
        bad(tmp_path / "m.msh", None)


def test_binary_of_the_other_byte_order(tmp_path):
    nodes = b"".join(struct.pack(">i3d", i, *x) for i, x in ((1, (0, 0, 0)), (2, (1, 0, 0)), (3, (0, 1, 0))))
    element = struct.pack(">3i6i", 2, 1, 2, 1, 7, 7, 1, 2, 3)
    (tmp_path / "m.msh").write_bytes(
        b"$MeshFormat\n2.2 1 8\n" + struct.pack(">i", 1) + b"\n$EndMeshFormat\n$Nodes\n3\n" + nodes
        + b"\n$EndNodes\n$Elements\n1\n" + element + b"\n$EndElements\n")
    mesh = read_mesh(tmp_path / "m.msh")
    assert mesh.blocks[0][1].tolist() == [[0, 1, 2]]
    assert mesh.cell_groups["7"].tolist() == [0]
