"""CGNS files: structured and unstructured zones, element sections, boundary conditions, families, connections."""

from __future__ import annotations

import numpy as np
import pytest

from copart.errors import FormatError
from copart.mesh import cube, dual_graph, read_mesh
from copart.mesh.interfaces.surface import boundary_surface
from copart.plans.sources import open_mesh, zones

from ... import cgns
from ...cgns import base, condition, conditions, grid, mixed, polyhedra, save, section, two_grids, zone

pytest.importorskip("h5py")


def bad(path, match):
    with pytest.raises(FormatError, match=match) as caught:
        read_mesh(path)
    assert str(path) in str(caught.value)
    assert "\n" not in str(caught.value)


def area(mesh, name):
    """Area of a boundary, its lowest and its highest coordinates, in one list."""
    surface = boundary_surface(mesh.select(name))
    corners = surface.corners
    crossed = np.cross(corners[:, 2] - corners[:, 0], corners[:, -1] - corners[:, 1])
    flat = corners.reshape(-1, 3)
    return [np.linalg.norm(crossed, axis=1).sum() / 2, *flat.min(axis=0), *flat.max(axis=0)]


def hexahedra():
    """Points and the nodes, from 1, of a cube of 2 x 2 x 2."""
    mesh = cube("hexa", 2)
    return mesh.points, mesh.blocks[0][1] + 1


# ---- structured
def test_structured_zones_are_groups_and_boundaries_have_names(tmp_path):
    mesh = read_mesh(save(tmp_path / "m.cgns", two_grids()))
    assert mesh.ncells == 16
    assert mesh.dimension == 3
    assert list(mesh.cell_groups) == ["left", "right"]
    assert zones(str(tmp_path / "m.cgns"), mesh) == ["left", "right"]
    assert area(mesh, "inlet") == area(mesh, "hot") == area(mesh, "in") == pytest.approx([1, 0, 0, 0, 0, 1, 1])
    assert area(mesh, "wall") == pytest.approx([2, 0, 0, 0, 2, 1, 0])
    right = open_mesh(f"{tmp_path}/m.cgns:right")
    assert right.ncells == 8
    assert "inlet" not in right.facet_groups
    assert area(right, "wall") == pytest.approx([1, 1, 0, 0, 2, 1, 0])


@pytest.mark.parametrize("turned", [False, True])
def test_zones_that_a_connection_joins_share_points(tmp_path, turned):
    mesh = read_mesh(save(tmp_path / "m.cgns", two_grids(turned=turned)))
    assert mesh.npoints == 2 * 27 - 9
    # 12 neighbours in each brick, 4 across
    assert dual_graph(mesh).nedges == 28
    assert mesh.bounds.tolist() == [[0, 0, 0], [2, 1, 1]]


def test_points_that_are_not_at_one_place_stay_apart(tmp_path):
    """As those of periodic boundaries."""
    mesh = read_mesh(save(tmp_path / "m.cgns", two_grids(shift=0.5)))
    assert mesh.npoints == 54
    assert dual_graph(mesh).nedges == 24


def test_unstructured_connections_join_by_lists(tmp_path):
    points, nodes = hexahedra()
    right = np.flatnonzero(points[:, 0] == points[:, 0].max()) + 1
    left = np.flatnonzero(points[:, 0] == points[:, 0].min()) + 1
    joint = cgns.Node("to b", "GridConnectivity_t", "b", (
        cgns.Node("GridConnectivityType", "GridConnectivityType_t", "Abutting1to1"),
        cgns.Node("PointList", "IndexArray_t", right.astype(np.int32)[:, None]),
        cgns.Node("PointListDonor", "IndexArray_t", left.astype(np.int32)[:, None])))
    some = cgns.Node("ZoneGridConnectivity", "ZoneGridConnectivity_t", None, (joint,))
    a = zone("a", points, 8, section("s", cgns.HEXA, 1, 8, nodes), some)
    b = zone("b", points + np.array([1, 0, 0]), 8, section("s", cgns.HEXA, 1, 8, nodes))
    mesh = read_mesh(save(tmp_path / "m.cgns", base("x", a, b)))
    assert mesh.npoints == 45
    assert dual_graph(mesh).nedges == 28
    assert mesh.remarks == ()
    faces = joint._replace(below=(*joint.below, cgns.Node("GridLocation", "GridLocation_t", "FaceCenter")))
    a = a._replace(below=(*a.below[:-1], some._replace(below=(faces,))))
    mesh = read_mesh(save(tmp_path / "m.cgns", base("x", a, b)))
    assert mesh.npoints == 54
    assert mesh.remarks == ("a: connection to b does not match node by node, zones stay apart there",)


def test_rectangles_and_rind_planes(tmp_path):
    edge = conditions(condition("low", "PointRange", [[1, 1], [4, 1]]),
                      condition("right", "PointRange", [[4, 1], [4, 2]], "IFaceCenter"),
                      condition("top", "PointList", [[1, 3], [2, 3], [3, 3]], "JFaceCenter"),
                      condition("corner", "PointList", [[1, 1], [2, 1]]))
    mesh = read_mesh(save(tmp_path / "m.cgns", base("x", grid("g", (0, 0), (3, 2), (3, 2), edge, rind=[1, 0, 2, 1]),
                                                    dimension=2)))
    assert mesh.dimension == 2
    assert mesh.ncells == 6
    assert mesh.bounds.tolist() == [[0, 0, 0], [3, 2, 0]]
    for name, axis, value, count in (("low", 1, 0, 3), ("right", 0, 3, 2), ("top", 1, 2, 3), ("corner", 1, 0, 1)):
        corners = boundary_surface(mesh.select(name)).corners
        assert len(corners) == count
        assert (corners[..., axis] == value).all()


@pytest.mark.parametrize("axis", range(3))
@pytest.mark.parametrize("far", [False, True])
@pytest.mark.parametrize("form", ["vertices", "faces", "faces of an axis", "listed"])
def test_every_side_of_a_brick_in_every_form(tmp_path, axis, far, form):
    cells = np.array([2, 3, 4])
    low, high = np.ones(3, int), cells + 1
    low[axis] = high[axis] = (cells + 1)[axis] if far else 1
    if form != "vertices":
        high = np.where(np.arange(3) == axis, high, high - 1)
    location = {"vertices": None, "faces": "FaceCenter", "faces of an axis": f"{'IJK'[axis]}FaceCenter",
                "listed": f"{'IJK'[axis]}FaceCenter"}[form]
    values = [low, high]
    if form == "listed":
        values = np.stack(np.meshgrid(*(np.arange(a, b + 1) for a, b in zip(low, high, strict=True))),
                          axis=-1).reshape(-1, 3)
    where = conditions(condition("side", "PointList" if form == "listed" else "PointRange", values, location))
    mesh = read_mesh(save(tmp_path / "m.cgns", base("x", grid("g", (0, 0, 0), cells, cells, where))))
    expected = [0, 0, 0], cells.tolist()
    expected[0][axis] = expected[1][axis] = int(cells[axis]) if far else 0
    assert area(mesh, "side") == pytest.approx([np.prod(np.delete(cells, axis)), *expected[0], *expected[1]])
    assert len(mesh.facet_groups["side"]) == np.prod(np.delete(cells, axis))


# ---- unstructured
@pytest.mark.parametrize("offsets", [False, True])
def test_mixed_sections(tmp_path, offsets):
    mesh = read_mesh(save(tmp_path / "m.cgns", base("x", mixed(offsets=offsets))))
    assert [(t, len(c)) for t, c in mesh.blocks] == [("hexahedron", 1), ("pyramid", 1)]
    assert dual_graph(mesh).nedges == 1
    assert mesh.facet_groups["low"].tolist() == [[0, 1, 2, 3]]
    assert mesh.facet_groups["slope"].tolist() == [[4, 5, 8]]
    assert list(mesh.facet_groups) == ["low", "slope"], "a section that is named already is no group of its own"


def test_many_runs_of_types_are_put_together(tmp_path):
    mesh = read_mesh(save(tmp_path / "m.cgns", base("x", mixed(alternate=True))))
    assert [(t, len(c)) for t, c in mesh.blocks] == [("hexahedron", 50), ("pyramid", 50)]
    assert mesh.facet_groups["low"].tolist() == [[0, 1, 2, 3]]
    assert mesh.remarks[0].startswith("z: elements of a type are put together")
    assert len(mesh.remarks) == 1


def test_sections_of_a_boundary_are_groups_where_nothing_else_names_them(tmp_path):
    points, nodes = hexahedra()
    top = np.array([[5, 6, 7, 8]])
    made = zone("z", points, 8, section("body", cgns.HEXA, 1, 8, nodes), section("skin", cgns.QUAD, 9, 1, top))
    mesh = read_mesh(save(tmp_path / "m.cgns", base("x", made)))
    assert mesh.facet_groups["skin"].tolist() == [[4, 5, 6, 7]]
    assert list(mesh.cell_groups) == ["z"]


def test_nodes_of_a_boundary(tmp_path):
    points, nodes = hexahedra()
    low = np.flatnonzero(points[:, 2] == 0) + 1
    made = zone("z", points, 8, section("body", cgns.HEXA, 1, 8, nodes), conditions(condition("low", "PointList", low)))
    mesh = read_mesh(save(tmp_path / "m.cgns", base("x", made)))
    assert (mesh.point_groups["low"] == low - 1).all()
    assert area(mesh, "low") == pytest.approx([1, 0, 0, 0, 1, 1, 0])


@pytest.mark.parametrize(("code", "kind", "size", "kept"), [
    (18, "hexahedron20", 20, 20), (19, "hexahedron27", 27, 27), (13, "pyramid13", 14, 13), (39, "hexahedron", 64, 8)])
def test_second_order_and_higher(tmp_path, code, kind, size, kept):
    points = np.arange(3.0 * size).reshape(-1, 3)
    made = zone("z", points, 1, section("s", code, 1, 1, np.arange(1, size + 1)))
    mesh = read_mesh(save(tmp_path / "m.cgns", base("x", made)))
    assert mesh.blocks[0][0] == kind
    assert mesh.blocks[0][1].shape == (1, kept)
    assert sorted(mesh.blocks[0][1][0].tolist()) == list(range(kept))
    assert bool(mesh.remarks) == (code == 39)


def test_nodes_of_second_order_stand_where_vtk_has_them(tmp_path):
    """Mid nodes of CGNS by its own figure of HEXA_27, held against the geometry that VTK's order means."""
    corner = np.array([[0, 0, 0], [2, 0, 0], [2, 2, 0], [0, 2, 0], [0, 0, 2], [2, 0, 2], [2, 2, 2], [0, 2, 2]], float)
    edges = [(0, 1), (1, 2), (2, 3), (3, 0), (0, 4), (1, 5), (2, 6), (3, 7), (4, 5), (5, 6), (6, 7), (7, 4)]
    faces = [(0, 1, 2, 3), (0, 1, 5, 4), (1, 2, 6, 5), (2, 3, 7, 6), (3, 0, 4, 7), (4, 5, 6, 7)]
    points = np.array([*corner, *(corner[list(e)].mean(0) for e in edges), *(corner[list(f)].mean(0) for f in faces),
                       corner.mean(0)])
    mesh = read_mesh(save(tmp_path / "m.cgns", base("x", zone("z", points, 1, section("s", 19, 1, 1, range(1, 28))))))
    nodes = mesh.points[mesh.blocks[0][1][0]]
    order = [(0, 1), (1, 2), (2, 3), (3, 0), (4, 5), (5, 6), (6, 7), (7, 4), (0, 4), (1, 5), (2, 6), (3, 7)]
    assert all((nodes[8 + i] == nodes[list(e)].mean(0)).all() for i, e in enumerate(order))
    assert nodes[20:].tolist() == [[0, 1, 1], [2, 1, 1], [1, 0, 1], [1, 2, 1], [1, 1, 0], [1, 1, 2], [1, 1, 1]]


# ---- polygons and polyhedra
@pytest.mark.parametrize("form", [{}, {"old": True}, {"parents": True}])
def test_polyhedra_by_their_faces(tmp_path, form):
    mesh = read_mesh(save(tmp_path / "m.cgns", base("x", polyhedra("p", **form))))
    assert mesh.ncells == 8
    assert dual_graph(mesh).nedges == 12
    assert mesh.polyhedra is None, "hexahedra are read as such"
    assert area(mesh, "xMin") == pytest.approx([1, 0, 0, 0, 0, 1, 1])


def test_polyhedra_beside_other_zones_that_they_meet(tmp_path):
    """A zone of real polyhedra makes all cells polyhedra, and connections still hold."""
    beside = grid("g", (1, 0, 0), (2, 1, 1), (1, 1, 1))
    one = polyhedra("p", cells=(1, 1, 1))
    faces, cells = one.below[2], one.below[3]
    # the upper face is halved: a cell of seven faces
    flat = faces.below[1].data.reshape(-1, 4)
    split = [[*row] for row in flat[:-1]] + [flat[-1, :3].tolist(), flat[-1, [0, 2, 3]].tolist()]
    one = one._replace(below=(*one.below[:2], cgns._lists("Faces", cgns.NGON, 1, split, False),
                              cgns._lists("Cells", cgns.NFACE, 8, [[*range(1, 8)]], False)))
    points = one.below[1]
    x = next(node for node in points.below if node.name == "CoordinateX").data
    y, z = (next(node for node in points.below if node.name == f"Coordinate{k}").data for k in "YZ")
    at = np.flatnonzero(x == 1) + 1
    other = [1 + 2 * int(y[i - 1]) + 4 * int(z[i - 1]) for i in at]
    joint = cgns.Node("to g", "GridConnectivity_t", "g", (
        cgns.Node("GridConnectivityType", "GridConnectivityType_t", "Abutting1to1"),
        cgns.Node("PointList", "IndexArray_t", at.astype(np.int32)[:, None]),
        cgns.Node("PointListDonor", "IndexArray_t",
                  np.array([[1, 1 + (o - 1) // 2 % 2, 1 + (o - 1) // 4] for o in other], np.int32))))
    one = one._replace(below=(*one.below, cgns.Node("ZoneGridConnectivity", "ZoneGridConnectivity_t", None, (joint,))))
    mesh = read_mesh(save(tmp_path / "m.cgns", base("x", one, beside)))
    assert mesh.polyhedra is not None
    assert mesh.ncells == 2
    assert dual_graph(mesh).nedges == 1
    assert {name: cells.tolist() for name, cells in mesh.cell_groups.items()} == {"p": [1], "g": [0]}
    assert cells.label == "Elements_t"


def test_polygons_in_the_plane(tmp_path):
    points = np.array([[0, 0], [1, 0], [2, 0], [2, 1], [1, 1], [0, 1], [1, 2]], float)
    rows = [[1, 2, 5, 6], [2, 3, 4, 7, 5]]
    made = zone("z", points, 2, cgns._lists("cells", cgns.NGON, 1, rows, False),
                section("edges", cgns.BAR, 3, 2, [1, 2, 2, 3]),
                conditions(condition("low", "PointRange", [3, 4], "EdgeCenter")))
    mesh = read_mesh(save(tmp_path / "m.cgns", base("x", made, dimension=2)))
    assert [(t, c.shape) for t, c in mesh.blocks] == [("quad", (1, 4)), ("polygon", (1, 5))]
    assert dual_graph(mesh).nedges == 1
    assert mesh.facet_groups["low"].tolist() == [[0, 1], [1, 2]]


def test_files_of_gmsh(tmp_path):
    gmsh = pytest.importorskip("gmsh")
    gmsh.initialize()
    try:
        gmsh.option.setNumber("General.Terminal", 0)
        boxes = [(3, gmsh.model.occ.addBox(x, 0, 0, 1, 1, 1)) for x in (0, 1)]
        gmsh.model.occ.fragment(boxes[:1], boxes[1:])
        gmsh.model.occ.synchronize()
        for number, name in ((1, "fluid"), (2, "solid")):
            gmsh.model.addPhysicalGroup(3, [number], number, name)
        both = [{tag for _, tag in gmsh.model.getBoundary([(3, n)], oriented=False)} for n in (1, 2)]
        gmsh.model.addPhysicalGroup(2, list(both[0] & both[1]), 3, "wall")
        gmsh.model.mesh.generate(3)
        for suffix in ("cgns", "msh"):
            gmsh.write(str(tmp_path / f"m.{suffix}"))
    finally:
        gmsh.finalize()
    mesh, same = read_mesh(tmp_path / "m.cgns"), read_mesh(tmp_path / "m.msh")
    assert mesh.ncells == same.ncells
    assert dual_graph(mesh).nedges == dual_graph(same).nedges
    for name in ("fluid", "solid"):
        assert len(mesh.cell_groups[name]) == len(same.cell_groups[name])
    assert area(mesh, "wall") == pytest.approx(area(same, "wall"))


# ---- bases, links, what is refused
def test_zones_of_the_same_name_in_two_bases(tmp_path):
    path = save(tmp_path / "m.cgns", base("fluid", grid("Zone 1", (0, 0, 0), (1, 1, 1), (2, 2, 2))),
                base("solid", grid("Zone 1", (1, 0, 0), (2, 1, 1), (1, 1, 1))))
    mesh = read_mesh(path)
    assert {name: len(cells) for name, cells in mesh.cell_groups.items()} == {"fluid.Zone 1": 8, "solid.Zone 1": 1}
    assert open_mesh(f"{path}:solid.Zone 1").ncells == 1


def test_links_within_the_file_are_followed_and_others_named(tmp_path):
    made = grid("a", (0, 0, 0), (1, 1, 1), (2, 2, 2))
    empty = made._replace(name="b", below=made.below[:1])
    path = save(tmp_path / "m.cgns", base("x", made, empty), links=[("x/b/GridCoordinates", "/x/a/GridCoordinates")])
    assert read_mesh(path).ncells == 16
    path = save(tmp_path / "m.cgns", base("x", empty), links=[("x/b/GridCoordinates", ("grid.cgns", "/x/a/Grid"))])
    bad(path, r"x/b/GridCoordinates is in another file, 'grid.cgns': give that one")
    path = save(tmp_path / "m.cgns", base("x", empty), links=[("x/b/GridCoordinates", "/x/nowhere")])
    bad(path, "x/b/GridCoordinates is a link to a node that is not there")


def test_what_is_refused(tmp_path):
    points, nodes = hexahedra()
    body = section("body", cgns.HEXA, 1, 8, nodes)
    path = tmp_path / "m.cgns"
    for zones_of, said in [
        ([], "holds 0 zones"),
        ([zone("z", points, 8, section("body", cgns.HEXA, 1, 9, nodes))],
         "x/z/body: announces 9 elements, but ElementConnectivity has 64 entries instead of 72"),
        ([zone("z", points, 8, section("body", cgns.HEXA, 1, 8, nodes + 20))],
         "zone z: hexahedron name node 47, it has 27"),
        ([zone("z", points, 8, section("body", 99, 1, 8, nodes))], "x/z/body: elements of type 99 are not supported"),
        ([zone("z", points, 8, body, section("more", cgns.QUAD, 8, 1, [1, 2, 3, 4]))],
         "x/z/more: its elements begin with 8, but body has the numbers up to 8"),
        ([zone("z", points, 8, body, conditions(condition("low", "PointList", [99])))],
         "x/z/ZoneBC/low: numbers 99 to 99 are outside 1 to 27"),
        ([zone("z", points[:-1], 8, body)._replace(data=np.array([[27], [8], [0]], np.int32))],
         "zone z: CoordinateX has 26 values for 27 vertices"),
        ([zone("z", points, 8, cgns._lists("c", cgns.NFACE, 1, [[1, 2]], False))],
         r"has polyhedra \(NFACE_n\), but no faces"),
        ([zone("z", points, 8, cgns._lists("f", cgns.NGON, 1, [[1, 2, 3]], False))], "neither polyhedra"),
        ([grid("z", (0, 0, 0), (1, 1, 1), (2, 2, 2), conditions(condition("w", "PointRange", [[1, 1, 1], [9, 9, 1]])))],
         r"points \[1, 1, 1\] to \[9, 9, 1\] are outside the zone's 3 x 3 x 3 vertices"),
    ]:
        save(path, base("x", *zones_of))
        bad(path, said)
    bad(save(path), r"holds no base of CGNS")


def test_boundaries_that_lie_on_no_plane_are_left_out_with_a_note(tmp_path):
    some = conditions(condition("box", "PointRange", [[1, 1, 1], [3, 3, 3]]),
                      condition("line", "PointRange", [[1, 1, 1], [1, 1, 3]]))
    mesh = read_mesh(save(tmp_path / "m.cgns", base("x", grid("g", (0, 0, 0), (1, 1, 1), (2, 2, 2), some))))
    assert mesh.remarks == ("g: boundary condition box at Vertex is on no plane of the grid, left out",
                            "g: boundary condition line is no surface, left out")
