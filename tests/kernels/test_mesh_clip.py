"""Common volumes of convex cells against qhull, which goes about it in another way."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy.optimize import linprog
from scipy.spatial import ConvexHull, HalfspaceIntersection, QhullError

from copart.kernels.mesh_clip import cut_simplex, simplex_size
from copart.kernels.mesh_overlap import clip_polygon
from copart.mesh import Mesh, Polyhedra
from copart.mesh.interfaces.matching import Reach
from copart.mesh.interfaces.overlapping import overlapping_cells

CELLS = {
    "tetra": [[0, 0, 0], [1, 0, 0], [0, 1, 0], [0, 0, 1]],
    "pyramid": [[0, 0, 0], [1, 0, 0], [1, 1, 0], [0, 1, 0], [.5, .5, 1]],
    "wedge": [[0, 0, 0], [1, 0, 0], [0, 1, 0], [0, 0, 1], [1, 0, 1], [0, 1, 1]],
    "hexahedron": [[0, 0, 0], [1, 0, 0], [1, 1, 0], [0, 1, 0], [0, 0, 1], [1, 0, 1], [1, 1, 1], [0, 1, 1]],
}


def cell(kind, rng):
    """A random affine image of a reference cell."""
    return np.array(CELLS[kind], float) @ rng.normal(size=(3, 3)) + rng.uniform(-0.7, 0.7, 3)


def common_volume(p, q):
    """Volume of the intersection of two hulls: half-spaces of both, a point inside all, qhull."""
    planes = np.concatenate([ConvexHull(p).equations, ConvexHull(q).equations])
    norm = np.linalg.norm(planes[:, :3], axis=1)
    # the centre of the largest ball inside
    ball = linprog([0, 0, 0, -1], A_ub=np.column_stack([planes[:, :3], norm]), b_ub=-planes[:, 3],
                   bounds=[(None, None)] * 3 + [(0, None)])
    if ball.status != 0 or ball.x[3] < 1e-6:
        return 0.0
    try:
        return float(ConvexHull(HalfspaceIntersection(planes, ball.x[:3]).intersections).volume)
    except QhullError:
        return 0.0


def measured(p, a, q, b):
    """By copart: one cell each."""
    cover = overlapping_cells(Mesh(p, [(a, [list(range(len(p)))])]), Mesh(q, [(b, [list(range(len(q)))])]),
                              Reach(0.1), np.zeros((1, 3)))
    return float(cover.size.sum())


@pytest.mark.parametrize("a", CELLS)
@pytest.mark.parametrize("b", CELLS)
@given(seed=st.integers(0, 2**31))
def test_common_volume_of_two_cells(a, b, seed):
    rng = np.random.default_rng(seed)
    p, q = cell(a, rng), cell(b, rng)
    smaller = min(ConvexHull(p).volume, ConvexHull(q).volume)
    assert measured(p, a, q, b) == pytest.approx(common_volume(p, q), abs=5e-6 * max(smaller, 1e-3)), f"seed {seed}"


@given(seed=st.integers(0, 2**31), k=st.integers(2, 4))
def test_the_two_sides_of_a_cut_add_up(seed, k):
    rng = np.random.default_rng(seed)
    simplex, plane = np.zeros((4, 3)), np.array([*rng.normal(size=3), rng.normal() * 0.3])
    simplex[:k] = rng.normal(size=(k, 3))
    total = 0.0
    for sign in (1.0, -1.0):
        out = np.zeros((3, 4, 3))
        count = cut_simplex(simplex, k, sign * plane, np.empty(4), np.empty(4, np.int64), out, 0)
        for piece in out[:count]:
            assert (sign * (piece[:k] @ plane[:3] - plane[3]) <= 1e-9).all()
            total += simplex_size(piece, k)
    assert total == pytest.approx(simplex_size(simplex, k))


def test_polyhedra_overlap_like_the_cells_they_are():
    """A cube cut into two polyhedra, against hexahedra."""
    rng = np.random.default_rng(5)
    points = np.array(CELLS["hexahedron"], float)
    faces = [[0, 3, 2, 1], [4, 5, 6, 7], [0, 1, 5, 4], [1, 2, 6, 5], [2, 3, 7, 6], [3, 0, 4, 7]]
    solid = Mesh(points, polyhedra=Polyhedra.from_cells([faces]))
    for _ in range(20):
        q = cell("hexahedron", rng)
        other = Mesh(q, [("hexahedron", [list(range(8))])])
        want = common_volume(points, q)
        for pair in ((solid, other), (other, solid)):
            assert overlapping_cells(*pair, Reach(0.1), np.zeros((1, 3))).size.sum() == pytest.approx(want, abs=1e-6)


def prism(ring, height):
    """A polyhedron upright on a polygon."""
    n = len(ring)
    points = np.column_stack([np.tile(ring, (2, 1)), np.repeat([0.0, height], n)])
    sides = [[i, (i + 1) % n, (i + 1) % n + n, i + n] for i in range(n)]
    return Mesh(points, polyhedra=Polyhedra.from_cells([[[*range(n)][::-1], [*range(n, 2 * n)], *sides]]))


def box(low, high):
    """One hexahedron."""
    low, high = np.array(low, float), np.array(high, float)
    return Mesh(low + CELLS["hexahedron"] * (high - low), [("hexahedron", [list(range(8))])])


@given(seed=st.integers(0, 2**31))
def test_concave_cells_share_what_is_inside_them(seed):
    """Stars in the plane made upright, against boxes, a plate and a line: what a polygon has in a rectangle tells."""
    rng = np.random.default_rng(seed)
    n = int(rng.integers(5, 12))
    angle = 2 * np.pi * (np.arange(n) + rng.uniform(0, 0.8, n)) / n
    ring = np.column_stack([np.cos(angle), np.sin(angle)]) * rng.uniform(0.2, 2.0, (n, 1)) + rng.uniform(-5, 5, 2)
    low = ring.min(axis=0) + rng.uniform(-0.2, 0.6, 2) * np.ptp(ring, axis=0)
    high = low + rng.uniform(0.2, 0.9, 2) * np.ptp(ring, axis=0)
    corners = np.array([low, [high[0], low[1]], high, [low[0], high[1]]])
    polygon, spare = np.zeros((60, 2)), np.zeros((60, 2))
    polygon[:n] = ring
    left = polygon[:clip_polygon(polygon, n, corners, 4, spare)]
    # Sutherland and Hodgman join pieces that are apart by sides that cancel
    after = np.roll(left, -1, axis=0)
    area = 0.5 * float((left[:, 0] * after[:, 1] - after[:, 0] * left[:, 1]).sum())
    solid, block = prism(ring, 2.0), box([*low, 0.5], [*high, 3.0])
    # what bulges less than a thousandth of its size counts as convex
    near = {"abs": 2e-3 * float(np.ptp(ring)) ** 2}
    for pair in ((solid, block), (block, solid)):
        cover = overlapping_cells(*pair, Reach(0.1), np.zeros((1, 3)))
        assert cover.size.sum() == pytest.approx(1.5 * area, **near), f"seed {seed}"
    plate = Mesh(np.column_stack([corners, np.full(4, 0.7)]), [("quad", [[0, 1, 2, 3]])])
    assert overlapping_cells(plate, solid, Reach(0.1), np.zeros((1, 3))).size.sum() == pytest.approx(area, **near)
    mine = overlapping_cells(solid, solid, Reach(0.1), np.zeros((1, 3)))
    assert mine.size == pytest.approx(mine.sizes_a, **near)


def test_a_line_in_a_concave_polygon_counts_where_it_is_inside():
    ring = np.array([[0, 0, 1], [3, 0, 1], [3, 1, 1], [1, 1, 1], [1, 3, 1], [0, 3, 1]], float)
    ell = Mesh(ring, [("polygon6", [list(range(6))])])
    line = Mesh(np.array([[-1, 2, 1.0], [4, 2, 1.0]]), [("line", [[0, 1]])])
    for other in (ell, prism(ring[:, :2], 2.0)):
        assert overlapping_cells(line, other, Reach(0.1), np.zeros((1, 3))).size.sum() == pytest.approx(1.0, abs=1e-6)


def test_flat_and_collapsed_cells_hold_nothing():
    box = np.array(CELLS["hexahedron"], float)
    flat = box * [1, 1, 0] + [0, 0, 0.5]
    point = np.zeros((4, 3)) + 0.5
    sliver = np.array([[0, 0, 0.5], [1, 0, 0.5], [0, 1, 0.5], [1, 1, 0.5]])
    for p, kind in ((flat, "hexahedron"), (point, "tetra"), (sliver, "tetra")):
        assert measured(p, kind, box, "hexahedron") == 0
        assert measured(box, "hexahedron", p, kind) == 0


@pytest.mark.parametrize(("room", "left"), [(200, 63), (60, 0)])
def test_a_comb_that_crosses_an_edge_many_times(room, left):
    """A polygon that is not convex has more corners after a cut than before: none are written beyond the room."""
    teeth = [[x, 2.0 if i % 2 else -1.0] for i, x in enumerate(np.linspace(-0.9, 0.9, 41))]
    polygon = np.full((room, 2), 7.0)
    polygon[:43] = [*teeth, [0.9, -2.0], [-0.9, -2.0]]
    square = np.array([[-1.0, -3.0], [1.0, -3.0], [1.0, 1.0], [-1.0, 1.0]])
    spare = np.full((room + 1, 2), 7.0)
    count = clip_polygon(polygon, 43, square, 4, spare[:room])
    # twenty tips above y = 1 become two corners each
    assert count == left
    assert (spare[room] == 7).all()
    assert (polygon[:count, 1] <= 1).all()
