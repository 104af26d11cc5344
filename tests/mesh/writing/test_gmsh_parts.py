"""Gmsh files with partition tags, read by a reader of the tests' own, by meshio and by gmsh itself."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import numpy as np
import pytest

from copart.errors import MeshError
from copart.mesh import Mesh, cube, read_mesh, write_gmsh
from copart.mesh.cells import shape_of
from copart.mesh.polyhedra import Polyhedra
from copart.mesh.readers.plain_cells import plain_blocks

from ...file_readers import read_msh2

#: gmsh's number, nodes and meshio's name of the cells whose middles the two order differently
SECOND_ORDER = {11: (10, "tetra10"), 17: (20, "hexahedron20"), 18: (15, "wedge15"), 19: (13, "pyramid13"),
                9: (6, "triangle6"), 16: (8, "quad8"), 8: (3, "line3"), 10: (9, "quad9")}


@pytest.fixture
def gmsh() -> Iterator[Any]:
    try:
        import gmsh as library
    except (ImportError, OSError) as reason:
        pytest.skip(f"gmsh is not usable: {reason}")
    library.initialize(interruptible=False)
    library.option.setNumber("General.Terminal", 0)
    yield library
    library.finalize()


def named_cube() -> Mesh:
    """Eight cells, two regions with a name, one without; two boundaries, one of them with a number only."""
    return cube("hexa", 2).replace(cell_groups={"core": [0, 1, 2], "7": [5]},
                                   facet_groups={"wall \"a\"": [[0, 1, 4, 3]], "3": [[18, 19, 22, 21]]})


def test_cells_keep_their_order_and_carry_their_part(tmp_path):
    points = np.random.default_rng(1).random((12, 3))
    mesh = Mesh(points, [("tetra", [[0, 1, 2, 3]]), ("hexahedron", [list(range(8))]),
                         ("tetra", [[8, 9, 10, 11], [3, 4, 5, 6]])])
    write_gmsh(tmp_path / "m.msh", mesh, np.array([2, 0, 1, 2], np.int32))
    found = read_msh2(tmp_path / "m.msh")
    assert np.array_equal(found["nodes"], points), "17 digits keep every bit"
    assert [(t, tags[2:], [n - 1 for n in nodes]) for t, tags, nodes in found["elements"]] == [
        (4, [1, 3], [0, 1, 2, 3]), (5, [1, 1], list(range(8))), (4, [1, 2], [8, 9, 10, 11]), (4, [1, 3], [3, 4, 5, 6])]
    again = read_mesh(tmp_path / "m.msh")
    assert [t for t, _ in again.blocks] == ["tetra", "hexahedron", "tetra"]
    assert all(np.array_equal(a[1], b[1]) for a, b in zip(again.blocks, mesh.blocks, strict=True))


def test_groups_become_physical_groups(tmp_path):
    mesh = named_cube()
    part = np.array([0, 0, 0, 0, 1, 1, 1, 1], np.int32)
    write_gmsh(tmp_path / "m.msh", mesh, part)
    found = read_msh2(tmp_path / "m.msh")
    assert found["names"] == {(2, 1): "wall 'a'", (3, 1): "core"}
    tags = [tags for _, tags, _ in found["elements"]]
    assert [t[0] for t in tags] == [1, 1, 1, 0, 0, 7, 0, 0, 1, 3]
    assert [t[3] - 1 for t in tags[:8]] == part.tolist()
    for (kind, (_, _, _, p), nodes) in found["elements"][8:]:
        (cell,) = [c for c, row in enumerate(mesh.blocks[0][1]) if {n - 1 for n in nodes} <= set(row.tolist())]
        assert kind == 3
        assert p - 1 == part[cell], "a facet is in the part of its cell"
    # one elementary entity has one physical group
    assert len({(t[0], t[1]) for t in tags[:8]}) == len({t[1] for t in tags[:8]}) == 3
    again = read_mesh(tmp_path / "m.msh")
    assert again.cell_groups["core"].tolist() == [0, 1, 2]
    assert again.cell_groups["7"].tolist() == [5]
    assert again.facet_groups["wall 'a'"].tolist() == [[0, 1, 4, 3]]


def test_the_files_own_entities_stay(tmp_path):
    mesh = cube("hexa", 2).replace(cell_data={"gmsh:geometrical": np.array([4, 4, 9, 9, 9, 9, 9, 9])})
    write_gmsh(tmp_path / "m.msh", mesh, np.zeros(8, np.int32))
    assert [tags[1] for _, tags, _ in read_msh2(tmp_path / "m.msh")["elements"]] == [4, 4] + [9] * 6


def test_what_gmsh_cannot_hold_is_refused(tmp_path):
    faces = [[0, 2, 1], [0, 1, 3], [1, 2, 3], [2, 0, 3]]
    solid = Mesh(np.eye(4)[:, :3], polyhedra=Polyhedra.from_cells([faces]))
    flat = Mesh([[0, 0], [1, 0], [2, 1], [1, 2], [0, 1]], [("polygon", [[0, 1, 2, 3, 4]])])
    for mesh, message in ((solid, "gmsh has no polyhedra"), (flat, "cells polygon: cannot be written for gmsh")):
        with pytest.raises(MeshError, match=message):
            write_gmsh(tmp_path / "m.msh", mesh, np.zeros(1, np.int32))
    assert list(tmp_path.iterdir()) == []


# ---- gmsh itself
def test_gmsh_sees_the_parts_and_groups(gmsh, tmp_path):
    mesh = named_cube()
    part = np.array([0, 1, 2, 0, 1, 2, 0, 1], np.int32)
    write_gmsh(tmp_path / "m.msh", mesh, part)
    gmsh.open(str(tmp_path / "m.msh"))
    assert gmsh.model.getNumberOfPartitions() == 3
    assert {(d, t, gmsh.model.getPhysicalName(d, t)) for d, t in gmsh.model.getPhysicalGroups()} == {
        (2, 1, "wall 'a'"), (2, 3, ""), (3, 1, "core"), (3, 7, "")}
    seen = {}
    for entity in gmsh.model.getEntities(3):
        owners = gmsh.model.getPartitions(*entity)
        for tag in np.concatenate([np.zeros(0), *gmsh.model.mesh.getElements(*entity)[1]]).astype(int).tolist():
            assert len(owners) == 1
            seen[tag - 1] = int(owners[0]) - 1
    assert [seen[c] for c in range(8)] == part.tolist()
    tag, points, _ = gmsh.model.mesh.getNodes()
    assert np.array_equal(points.reshape(-1, 3)[np.argsort(tag)], mesh.points)


def test_no_cell_is_turned_inside_out(gmsh, tmp_path):
    """Cells of every linear type, recognised among polyhedra whose faces turn outwards, have positive volume."""
    points = [[0, 0, 0], [1, 0, 0], [1, 1, 0], [0, 1, 0], [0, 0, 1], [1, 0, 1], [1, 1, 1], [0, 1, 1], [.5, .5, 2],
              [2, .5, 2], [2, 0, 0], [2, 0, 1]]
    cells = [("hexahedron", [0, 1, 2, 3, 4, 5, 6, 7]), ("pyramid", [4, 5, 6, 7, 8]), ("tetra", [5, 6, 8, 9]),
             ("wedge", [1, 10, 2, 5, 11, 6])]
    outward = [[[nodes[i] for i in facet if i >= 0] for facet in shape_of(kind, len(nodes)).facets.tolist()]
               for kind, nodes in cells]
    blocks = plain_blocks(Polyhedra.from_cells(outward))
    assert [name for name, _ in blocks] == [kind for kind, _ in cells]
    write_gmsh(tmp_path / "m.msh", Mesh(points, blocks), np.zeros(4, np.int32))
    gmsh.open(str(tmp_path / "m.msh"))
    assert np.allclose(gmsh.model.mesh.getElementQualities([1, 2, 3, 4], "volume"), [1, 1 / 3, 1 / 4, 1 / 2])


@pytest.mark.parametrize("number", SECOND_ORDER)
def test_nodes_of_second_order_cells(gmsh, tmp_path, number):
    """Each node of a reference cell lies where gmsh expects it: its Jacobian is that of the straight cell."""
    width, name = SECOND_ORDER[number]
    title, dim, order, count, local, corners = gmsh.model.mesh.getElementProperties(number)
    assert (order, count) == (2, width)
    theirs = np.zeros((width, 3))
    theirs[:, :dim] = np.array(local).reshape(width, dim)
    # the middles in VTK's order, from its documents
    edges = {"tetra10": "01 12 20 03 13 23", "hexahedron20": "01 12 23 30 45 56 67 74 04 15 26 37",
             "wedge15": "01 12 20 34 45 53 03 14 25", "pyramid13": "01 12 23 30 04 14 24 34", "triangle6": "01 12 20",
             "quad8": "01 12 23 30", "line3": "01", "quad9": "01 12 23 30"}[name].split()
    rows = [theirs[i] for i in range(corners)] + [(theirs[int(e[0])] + theirs[int(e[1])]) / 2 for e in edges]
    if name == "quad9":
        rows.append(theirs[:4].mean(axis=0))
    mesh = Mesh(np.array(rows), [(name, [list(range(width))])])
    write_gmsh(tmp_path / "m.msh", mesh, np.zeros(1, np.int32))
    (element,) = read_msh2(tmp_path / "m.msh")["elements"]
    assert element[0] == number, title
    assert np.allclose(mesh.points[np.array(element[2]) - 1], theirs)
