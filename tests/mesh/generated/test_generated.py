"""Generated meshes: the published cubes, tubes and cylinders, and the bundled files."""

from __future__ import annotations

import runpy

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from copart.errors import ConfigError, CopartError
from copart.mesh import cube, cylinder, dual_graph, find_interedges, read_mesh, tube
from copart.mesh.dual import all_facets
from copart.mesh.generated.delaunay import MIN_QUALITY, delaunay_cells, quality, surface_triangles
from copart.mesh.interfaces.surface import _nodes

from ...helpers import ROOT


def hexa_volumes(mesh):
    """Volume of each hexahedron, by six tetrahedra about its first corner's diagonal."""
    p = mesh.points[mesh.blocks[0][1]]
    total = np.zeros(mesh.ncells)
    for a, b in ((1, 2), (2, 3), (3, 7), (7, 4), (4, 5), (5, 1)):
        total += np.einsum("ci,ci->c", p[:, 6] - p[:, 0], np.cross(p[:, a] - p[:, 0], p[:, b] - p[:, 0])) / 6
    return total


def assert_good_tetra(mesh):
    cells = mesh.blocks[0][1]
    volume, shape = quality(mesh.points, cells)
    assert volume.min() > 0
    assert shape.min() >= MIN_QUALITY
    assert volume.sum() == pytest.approx(1, abs=1e-12)
    facets = all_facets(mesh)
    keys = np.sort(_nodes(mesh, *facets[:2]), axis=1)
    boundary = keys[facets.alone][:, 1:]  # -1 stands before three corners
    on = [(mesh.points[boundary, axis] == side).all(axis=1) for axis in range(3) for side in (0.0, 1.0)]
    # every boundary triangle lies exactly on one face of the cube, and each face is covered once
    assert (np.sum(on, axis=0) == 1).all()
    p = mesh.points[boundary]
    area = np.linalg.norm(np.cross(p[:, 1] - p[:, 0], p[:, 2] - p[:, 0]), axis=1) / 2
    assert [area[face].sum() for face in on] == pytest.approx([1] * 6, abs=1e-12)
    # no face is shared by more than two cells
    count = np.unique(keys, axis=0, return_counts=True)[1]
    assert (count <= 2).all()
    assert np.count_nonzero(count == 1) == len(boundary)
    assert len(np.unique(cells)) == mesh.npoints


def test_hexa_cells_are_ordered_x_fastest():
    mesh = cube("hexa", 3)
    assert np.allclose(mesh.centres()[:4], [[1 / 6, 1 / 6, 1 / 6], [.5, 1 / 6, 1 / 6], [5 / 6, 1 / 6, 1 / 6],
                                            [1 / 6, .5, 1 / 6]])
    assert np.allclose(hexa_volumes(mesh), 1 / 27)


def test_defaults_are_the_published_small_cubes():
    assert cube().ncells == 15_625
    assert abs(cube("tetra").ncells - 40_630) < 406


@pytest.mark.parametrize("size", [100, 137, 200, 500, 1234, 5000])
def test_tetra_sizes_are_met_within_a_percent(size):
    mesh = cube("tetra", size, seed=size)
    assert abs(mesh.ncells - size) <= 0.01 * size
    assert_good_tetra(mesh)


@pytest.mark.parametrize("seed", [1, 2])
def test_small_published_tetra_cube(seed):
    mesh = cube("tetra", 40_630, seed=seed)
    assert abs(mesh.ncells / 40_630 - 1) < 0.01
    assert abs(dual_graph(mesh).nedges / 78_131 - 1) < 0.01
    assert_good_tetra(mesh)


@pytest.mark.slow
def test_a_larger_tetra_cube():
    """Benchmarks make the published one of 486,719 cells, which takes a quarter of a minute."""
    mesh = cube("tetra", 120_000)
    assert abs(mesh.ncells / 120_000 - 1) < 0.01
    assert abs(dual_graph(mesh).nedges / (2 * 120_000 - surface_triangles(120_000) / 2) - 1) < 0.01
    assert_good_tetra(mesh)


def test_boundary_triangles_of_the_published_meshes():
    assert surface_triangles(40_630) == pytest.approx(4 * 40_630 - 2 * 78_131)
    assert surface_triangles(486_719) == pytest.approx(4 * 486_719 - 2 * 953_488)


def test_same_seed_same_mesh():
    a, b, other = cube("tetra", 800, seed=5), cube("tetra", 800, seed=5), cube("tetra", 800, seed=6)
    assert a.points.tobytes() == b.points.tobytes()
    assert a.blocks[0][1].tobytes() == b.blocks[0][1].tobytes()
    assert a.points.shape != other.points.shape or not np.allclose(a.points, other.points)


def test_cells_are_delaunay():
    # no point inside the circumsphere of any cell
    mesh = cube("tetra", 400)
    p = mesh.points[mesh.blocks[0][1]]
    sides = 2 * (p[:, 1:] - p[:, :1])
    squares = (p**2).sum(axis=2)
    centre = np.linalg.solve(sides, (squares[:, 1:] - squares[:, :1])[..., None])[..., 0]
    radius = np.linalg.norm(p[:, 0] - centre, axis=1)
    distance = np.linalg.norm(mesh.points[None] - centre[:, None], axis=2)
    assert (distance.min(axis=1) >= radius * (1 - 1e-3)).all()


def test_coplanar_points_leave_no_flat_cell_on_a_face():
    # the eight corners and the centre: each face is two triangles, so the cells are twelve pyramids' halves
    points = np.array([[x, y, z] for x in (0, 1) for y in (0, 1) for z in (0, 1)] + [[.5, .5, .45]], float)
    cells = delaunay_cells(points)
    volume, _ = quality(points, cells)
    assert len(cells) == 12
    assert volume.min() > 0.05
    assert volume.sum() == pytest.approx(1)


def test_cubes_share_exactly_one_face():
    a, b = cube("tetra", 600), cube("tetra", 900, offset=(1, 0, 0))
    assert a.bounds.tolist() == [[0, 0, 0], [1, 1, 1]]
    assert b.bounds.tolist() == [[1, 0, 0], [2, 1, 1]]
    assert find_interedges(a, b).weights.sum() == pytest.approx(1, abs=1e-9)


@pytest.mark.parametrize(("args", "message"), [
    (("prism", 3), "'prism' is not known; choose one of hexa, tetra"), (("hexa", 0), "at least 1"),
    (("hexa", 2.5), "integer"),
    (("hexa", 1001), "at most 1000"), (("tetra", 99), "at least 100"),
])
def test_impossible_cubes(args, message):
    with pytest.raises(ConfigError, match=message):
        cube(*args)


@given(st.integers(1, 4), st.integers(3, 30), st.integers(1, 8))
def test_tubes(across, around, along):
    mesh = tube(0.5, 0.75, 2.0, (across, around, along))
    graph = dual_graph(mesh) if mesh.ncells > 1 else None
    assert mesh.ncells == across * around * along
    assert graph.nedges == around * ((across - 1) * along + across * along + across * (along - 1))
    volume = hexa_volumes(mesh)
    assert volume.min() > 0
    polygon = around * np.sin(2 * np.pi / around) / 2
    assert volume.sum() == pytest.approx(polygon * (0.75**2 - 0.5**2) * 2.0)


@given(st.integers(1, 12), st.integers(1, 6))
def test_cylinders(across, along):
    mesh = cylinder(0.5, 2.0, (across, along), offset=(1, 2, 3))
    volume = hexa_volumes(mesh)
    assert volume.min() > 0
    n = 4 * across
    assert volume.sum() == pytest.approx(n * np.sin(2 * np.pi / n) / 2 * 0.25 * 2.0)
    assert np.allclose(mesh.bounds[:, 2], [3, 5])
    wall = np.hypot(mesh.points[:, 0] - 1, mesh.points[:, 1] - 2)
    assert np.isclose(wall, 0.5).sum() == n * (along + 1)


@pytest.mark.parametrize("call", [
    lambda: tube(0.5, 0.5), lambda: tube(-1, 1), lambda: tube(cells=(1, 2, 1)), lambda: tube(cells=(1, 2)),
    lambda: tube(cells=3), lambda: cube(offset=5),
    lambda: tube(length=np.inf), lambda: cylinder(0), lambda: cylinder(cells=(0, 1)), lambda: cylinder(length=-1),
])
def test_impossible_tubes(call):
    with pytest.raises(CopartError):
        call()


def test_bundled_meshes_are_what_their_script_makes(tmp_path):
    script = runpy.run_path(str(ROOT / "meshes" / "make_meshes.py"))
    script["main"](tmp_path)
    names = sorted(p.name for p in tmp_path.iterdir())
    kept = sorted(p.name for p in (ROOT / "meshes").iterdir() if p.suffix in (".vtu", ".msh"))
    assert names == kept
    for name in names:
        made, bundled = read_mesh(tmp_path / name), read_mesh(ROOT / "meshes" / name)
        assert [(t, c.shape) for t, c in made.blocks] == [(t, c.shape) for t, c in bundled.blocks]
        assert np.allclose(made.points, bundled.points)


@pytest.mark.parametrize(("a", "b", "area"), [
    (("block-tetra.vtu", None), ("block-hexa.vtu", None), 1.0),
    (("channel-plate.msh", "fluid"), ("channel-plate.msh", "solid"), 2.0),
])
def test_bundled_pairs_couple(a, b, area):
    meshes = [read_mesh(ROOT / "meshes" / name, region) for name, region in (a, b)]
    assert find_interedges(*meshes).weights.sum() == pytest.approx(area, abs=1e-9)
