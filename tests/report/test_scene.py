"""What pictures show: which polygon is in front, where a plane cuts, how much is drawn of a large mesh."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from copart.mesh import Mesh, cube, tube
from copart.mesh.polyhedra import Polyhedra
from copart.report.raster import Canvas, Frame
from copart.report.scene import cut_scene, mesh_scene, near_scene, whole_boundary
from copart.report.section import section
from tests.report.test_pictures import square


def areas(surface):
    """Area of planar polygons, padded with their first corner."""
    relative = surface.corners - surface.corners[:, :1]
    total = np.cross(relative[:, 1:-1], relative[:, 2:]).sum(axis=1)
    return np.linalg.norm(total, axis=1) / 2


# ---- pixels
def flat(points, depth):
    return np.array([points], float), np.full((1, len(points)), float(depth))


def test_the_nearest_polygon_is_seen_in_whatever_order_they_are_drawn():
    frame = Frame(np.zeros(2), 1.0, 20, 10)
    far, near = flat([[0, 0], [20, 0], [20, 10], [0, 10]], 1), flat([[5, 2], [15, 2], [15, 8], [5, 8]], 2)
    seen = []
    for first, second in ((0, 1), (1, 0)):
        canvas = Canvas(frame)
        for i in (first, second):
            canvas.draw(*(far, near)[i], np.array([i], np.int32))
        seen.append(canvas.item)
    assert (seen[0] == seen[1]).all()
    assert (seen[0][2:8, 5:15] == 1).all()
    assert (seen[0] == 1).sum() == 60
    assert (seen[0] == 0).sum() == 140


@given(st.lists(st.tuples(st.integers(-4, 24), st.integers(-4, 24)), min_size=3, max_size=3, unique=True))
def test_triangles_cover_the_pixels_whose_middle_they_hold(points):
    canvas = Canvas(Frame(np.zeros(2), 1.0, 20, 20))
    canvas.draw(*flat(points, 0), np.array([0], np.int32))
    (ax, ay), (bx, by), (cx, cy) = points
    x, y = np.meshgrid(np.arange(20) + 0.5, 20 - (np.arange(20) + 0.5))
    sides = [(qx - px) * (y - py) - (qy - py) * (x - px) for (px, py), (qx, qy) in
             (((ax, ay), (bx, by)), ((bx, by), (cx, cy)), ((cx, cy), (ax, ay)))]
    if (bx - ax) * (cy - ay) == (by - ay) * (cx - ax):
        assert (canvas.item == -1).all()
        return
    inside = np.all([s > 1e-6 for s in sides], axis=0) | np.all([s < -1e-6 for s in sides], axis=0)
    outside = np.any([s > 1e-6 for s in sides], axis=0) & np.any([s < -1e-6 for s in sides], axis=0)
    assert (canvas.item[inside] == 0).all()
    assert (canvas.item[outside] == -1).all()


def test_a_grid_of_cells_leaves_no_gap():
    mesh = square(37, 0, 1, 23)
    scene = mesh_scene(mesh, whole_boundary(mesh), None)
    rows, columns = np.nonzero(scene.cell >= 0)
    box = scene.cell[rows.min():rows.max() + 1, columns.min():columns.max() + 1]
    assert (box >= 0).all()
    assert len(np.unique(box)) == mesh.ncells


def test_what_lies_beyond_is_not_drawn():
    canvas = Canvas(Frame(np.zeros(2), 1.0, 10, 4))
    corners, depth = flat([[0, 0], [10, 0], [10, 4], [0, 4]], 0)
    canvas.draw(corners, depth, np.array([0], np.int32), corners[..., 0] - 6)
    assert (canvas.item[:, :6] == 0).all()
    assert (canvas.item[:, 6:] == -1).all()


# ---- cuts
NORMALS = [np.array(n) / np.linalg.norm(n) for n in ([1.0, 0, 0], [1.0, 1, 0], [0.3, -0.5, 0.9])]


def as_polyhedra(mesh):
    """The same hexahedra as polyhedra."""
    cells = mesh.blocks[0][1]
    faces = [[0, 3, 2, 1], [4, 5, 6, 7], [0, 1, 5, 4], [1, 2, 6, 5], [2, 3, 7, 6], [3, 0, 4, 7]]
    return Mesh(mesh.points, [], polyhedra=Polyhedra.from_cells([[c[f].tolist() for f in faces] for c in cells]))


@pytest.mark.parametrize("normal", NORMALS, ids=["along", "corner", "oblique"])
def test_cuts_of_different_cells_have_the_same_area(normal):
    origin = np.full(3, 0.47)
    meshes = [cube("hexa", 5), cube("tetra", 600), as_polyhedra(cube("hexa", 4))]
    total = [areas(section(mesh, origin, normal)).sum() for mesh in meshes]
    assert np.allclose(total, total[0], rtol=1e-9)
    assert 0.9 < total[0] < 1.5


@pytest.mark.parametrize("make", [lambda: cube("tetra", 600), lambda: as_polyhedra(cube("hexa", 4))])
def test_a_cut_meets_just_the_cells_on_both_sides(make):
    mesh = make()
    origin, normal = np.full(3, 0.44), NORMALS[2]
    cut = section(mesh, origin, normal)
    start, node = mesh.corners
    height = (mesh.points[node] - origin) @ normal
    both = (np.minimum.reduceat(height, start[:-1]) < 0) & (np.maximum.reduceat(height, start[:-1]) > 0)
    assert sorted(cut.cell.tolist()) == np.flatnonzero(both).tolist()
    assert np.allclose((cut.corners - origin) @ normal, 0, atol=1e-12)
    assert (areas(cut) > 0).all()


def test_a_cut_through_nodes_and_one_beside_the_mesh():
    mesh = cube("hexa", 4)
    assert areas(section(mesh, np.full(3, 0.5), NORMALS[0])).sum() == pytest.approx(1.0)
    assert len(section(mesh, np.full(3, 1.5), NORMALS[0]).cell) == 0


def test_a_cut_shows_the_inside():
    mesh = cube("hexa", 9)
    surface, toward = whole_boundary(mesh), np.array([1.0, 0, 0])
    outer, inner = mesh_scene(mesh, surface, toward), cut_scene(mesh, surface, toward)
    middle = mesh.centres() - 0.5
    deep = np.abs(middle).max(axis=1) < 0.38
    assert not deep[outer.cell[outer.cell >= 0]].any()
    assert deep[inner.cell[inner.cell >= 0]].mean() > 0.3


def test_a_hollow_mesh_is_cut_along_its_axis():
    mesh = tube(0.5, 0.6, 4.0, (2, 24, 10))
    surface = whole_boundary(mesh)
    outside, cut = mesh_scene(mesh, surface, None), cut_scene(mesh, surface, None)
    # it lies, because it is long
    assert cut.cell.shape[1] > 1.5 * cut.cell.shape[0]
    radius = np.linalg.norm(mesh.centres()[:, :2], axis=1)
    inner = radius < 0.55
    # of the inner layer the cut shows much, the outside little
    share = [inner[s.cell[s.cell >= 0]].mean() for s in (outside, cut)]
    assert share[1] > 0.5 > share[0]


# ---- large meshes
@pytest.mark.parametrize("n", [6, 24])
def test_only_the_boundary_and_the_cut_cells_are_drawn(n):
    mesh = cube("hexa", n)
    assert len(whole_boundary(mesh).cell) == 6 * n * n
    assert len(section(mesh, np.full(3, 0.5 + 1e-3), NORMALS[0]).cell) == n * n


def test_an_interface_offered_by_name_does_not_hide_the_mesh():
    mesh = cube("hexa", 3)
    wall = whole_boundary(mesh)
    face = np.array([[0, 1, 5, 4]])
    named = mesh.replace(facet_groups={"wall": face}, interface="wall")
    assert len(whole_boundary(named).cell) == len(wall.cell) == 54


def test_a_small_interface_is_shown_larger():
    mesh = square(40, 0, 1, 40)
    cells = whole_boundary(mesh)
    spot = cells.taken((np.abs(cells.centre[:, :2] - 0.5) < 0.06).all(axis=1))
    near = near_scene(cells, spot)
    assert near is not None
    seen = np.unique(near.cell[near.cell >= 0])
    assert set(spot.cell.tolist()) <= set(seen.tolist())
    assert len(seen) < 0.1 * mesh.ncells
    assert near_scene(cells, cells) is None
