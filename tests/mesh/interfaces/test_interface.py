"""Interedges from geometry: overlap of facets and touch of cells."""

from __future__ import annotations

import itertools

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy.optimize import linprog

from copart.errors import ConfigError, MeshError
from copart.mesh import Mesh, cube, cylinder, extract, find_interedges, tube
from copart.mesh.cells import shape_of
from copart.mesh.search import overlapping_pairs

from ...helpers import ends_soon


def pair_set(inter):
    u, v, _ = inter.pairs()
    return set(zip(u.tolist(), v.tolist(), strict=True))


def box_grid(xs, ys, zs):
    """Hexahedra between the given planes, x fastest."""
    nx, ny, nz = len(xs) - 1, len(ys) - 1, len(zs) - 1
    points = [[x, y, z] for z in zs for y in ys for x in xs]
    def node(i, j, k):
        return i + (nx + 1) * (j + (ny + 1) * k)
    cells = [[node(i + a, j + b, k + c) for a, b, c in ((0, 0, 0), (1, 0, 0), (1, 1, 0), (0, 1, 0), (0, 0, 1),
                                                        (1, 0, 1), (1, 1, 1), (0, 1, 1))]
             for k in range(nz) for j in range(ny) for i in range(nx)]
    return Mesh(points, [("hexahedron", cells)])


def turned(mesh, seed):
    """The mesh in another orientation and place."""
    rng = np.random.default_rng(seed)
    q, _ = np.linalg.qr(rng.normal(size=(3, 3)))
    return mesh.replace(points=mesh.points @ q + rng.normal(size=3))


# ---- overlap against hand-computed areas
def column(base, height, name="column"):
    """A prism over a convex polygon in the plane z = 0, as a wedge or hexahedron; height may be negative."""
    base = np.asarray(base, float)
    n = len(base)
    low, high = np.column_stack([base, np.zeros(n)]), np.column_stack([base, np.full(n, height)])
    kind = {3: "wedge", 4: "hexahedron"}[n]
    return Mesh(np.vstack([low, high]), [(kind, [list(range(2 * n))])], name=name)


UNIT = [[0, 0], [1, 0], [1, 1], [0, 1]]


@pytest.mark.parametrize(("other", "area"), [
    (UNIT, 1.0),
    ([[0.5, 0.5], [2, 0.5], [2, 2], [0.5, 2]], 0.25),
    ([[-1, -1], [3, -1], [3, 3], [-1, 3]], 1.0),
    ([[0.25, 0.25], [0.5, 0.25], [0.5, 0.5], [0.25, 0.5]], 0.0625),
    ([[0, 0], [1, 0], [0, 1]], 0.5),
    ([[0.5, -0.5], [1.5, 0.5], [0.5, 1.5], [-0.5, 0.5]], 1.0),  # a diamond through the corners
    ([[0.5, 0], [1, 0.5], [0.5, 1], [0, 0.5]], 0.5),
    ([[0.5, 0.5], [2, 0.5], [0.5, 2]], 0.25),  # the long side passes by the corner (1, 1)
    ([[0.5, 0.5], [1.25, 0.5], [0.5, 1.25]], 0.21875),  # and here cuts a quarter off it
])
@pytest.mark.parametrize("seed", range(3))
def test_overlap_areas(other, area, seed):
    below, above = turned(column(UNIT, -1.0), seed), turned(column(other, 2.0), seed)
    inter = find_interedges(below, above)
    assert inter.weights == pytest.approx([area], abs=1e-12)
    assert find_interedges(above, below).weights == pytest.approx([area], abs=1e-12)
    # the order in which the corners are listed does not matter
    mirrored = find_interedges(below, turned(column(other[::-1], 2.0), seed))
    assert mirrored.weights == pytest.approx([area], abs=1e-12)


@pytest.mark.parametrize("other", [[[1, 0], [2, 0], [2, 1], [1, 1]], [[1, 1], [2, 1], [2, 2], [1, 2]],
                                   [[1 - 1e-7, 0], [2, 0], [2, 1], [1 - 1e-7, 1]]])
def test_facets_that_share_an_edge_or_a_corner_do_not_overlap(other):
    with pytest.raises(MeshError, match="no cells meet"):
        find_interedges(column(UNIT, -1.0), column(other, 2.0))


@pytest.mark.parametrize("kind", ["triangle", "quad", "polygon"])
def test_lengths_in_two_dimensions(kind):
    lower = {"triangle": [[0, 0], [2, 0], [1, -1]], "quad": [[0, 0], [2, 0], [2, -1], [0, -1]],
             "polygon": [[0, 0], [2, 0], [2, -1], [1, -2], [0, -1]]}[kind]
    a = Mesh(lower, [(kind, [list(range(len(lower)))])])
    b = Mesh([[1.5, 0], [3, 0], [3, 1], [1.5, 1]], [("quad", [[0, 1, 2, 3]])])
    for seed in range(3):
        assert find_interedges(turned(a, seed), turned(b, seed)).weights == pytest.approx([0.5], abs=1e-12)


def test_lines_meet_at_their_ends():
    a = Mesh([[0.0], [1.0], [2.0]], [("line", [[0, 1], [1, 2]])])
    b = Mesh([[2.0], [4.0]], [("line", [[0, 1]])])
    for kind in ("facet", "touch"):
        assert pair_set(find_interedges(a, b, kind)) == {(1, 0)}


def test_shell_on_a_volume():
    shell = Mesh([[0, 0, 0], [0.5, 0, 0], [0.5, 1, 0], [0, 1, 0], [1, 0, 0]],
                 [("quad", [[0, 1, 2, 3]]), ("triangle", [[1, 4, 2]])])
    inter = find_interedges(shell, column(UNIT, 1.0))
    assert inter.weights == pytest.approx([0.5, 0.25])
    assert find_interedges(column(UNIT, 1.0), shell).weights == pytest.approx([0.5, 0.25])
    with pytest.raises(MeshError, match="3D and a 1D"):
        find_interedges(column(UNIT, 1.0), Mesh([[0.0], [1.0]], [("line", [[0, 1]])]))


# ---- conservation on meshes that do not match
cuts = st.lists(st.floats(0.02, 0.98), max_size=6, unique_by=lambda x: round(x, 2)
                ).map(lambda c: [0.0, *sorted(c), 1.0])


@given(cuts, cuts, cuts, cuts, st.integers(0, 2**31))
def test_rectangular_faces_overlap_as_products_of_intervals(ya, za, yb, zb, seed):
    a, b = box_grid([-1.0, 0.0], ya, za), box_grid([0.0, 1.0, 2.0], yb, zb)
    inter = find_interedges(turned(a, seed), turned(b, seed))

    def common(p, q):
        return np.array([[max(0.0, min(p[i + 1], q[j + 1]) - max(p[i], q[j])) for j in range(len(q) - 1)]
                         for i in range(len(p) - 1)])
    # A-cell (j, k), B-cell (0, j, k)
    area = np.einsum("km,jl->kjml", common(za, zb), common(ya, yb))
    expected = np.zeros((a.ncells, b.ncells))
    expected[:, 0::2] = area.reshape(a.ncells, -1)
    found = inter.to_scipy().toarray()
    assert np.allclose(found, expected, atol=1e-6)
    assert inter.weights.sum() == pytest.approx(1, abs=1e-5)


@pytest.mark.parametrize(("a", "b"), [
    (("hexa", 5), ("hexa", 20)), (("hexa", 7), ("hexa", 9)), (("tetra", 900), ("hexa", 11)),
    (("tetra", 900), ("tetra", 2500)), (("hexa", 1), ("tetra", 2500)),
])
def test_the_shared_face_is_covered_exactly(a, b):
    inter = find_interedges(cube(*a), cube(*b, offset=(1, 0, 0)))
    assert inter.weights.sum() == pytest.approx(1, abs=1e-9)
    back = find_interedges(cube(*b, offset=(1, 0, 0)), cube(*a))
    assert pair_set(back) == {(v, u) for u, v in pair_set(inter)}


def test_nested_faces_match_four_by_four():
    inter = find_interedges(cube("hexa", 5), cube("hexa", 20, offset=(1, 0, 0)))
    assert (len(inter), len(inter.coupled_a), len(inter.coupled_b)) == (400, 25, 400)
    assert np.allclose(inter.weights, 1 / 400)


def test_units_do_not_matter():
    a, b = cube("hexa", 4), cube("hexa", 7, offset=(1, 0, 0))
    for kind in ("facet", "touch"):
        plain = pair_set(find_interedges(a, b, kind))
        for factor in (1e-6, 1e6):
            assert pair_set(find_interedges(a.scaled(factor), b.scaled(factor), kind)) == plain
        far = (1e4, -1e4, 1e4)
        assert pair_set(find_interedges(a.translated(far), b.translated(far), kind)) == plain


def test_one_large_facet_over_a_thousand_small():
    inter = find_interedges(cube("hexa", 1), cube("hexa", 32, offset=(1, 0, 0)))
    assert len(inter) == 1024
    assert inter.weights.sum() == pytest.approx(1, abs=1e-9)


# ---- tolerance, orientation, curvature
def test_gap_within_and_beyond_the_tolerance():
    a = cube("hexa", 4)
    diameter = np.sqrt(2) / 4
    assert len(find_interedges(a, cube("hexa", 4, offset=(1 + 0.09 * diameter, 0, 0)))) == 16
    apart = cube("hexa", 4, offset=(1 + 0.11 * diameter, 0, 0))
    with pytest.raises(MeshError, match=r"are 0\.0389 apart.*raise tolerance \(0\.1 now\)"):
        find_interedges(a, apart)
    assert len(find_interedges(a, apart, tolerance=0.12)) == 16
    with pytest.raises(MeshError, match="no cells meet"):
        find_interedges(a, cube("hexa", 4, offset=(1 + 1e-5, 0, 0)), tolerance=1e-6)


def test_thin_plate_is_coupled_on_the_side_that_faces():
    # thinner than the tolerance: its far side is near enough, but faces away
    plate = box_grid([1.0, 1.01, 1.02], [0.0, 1.0], [0.0, 1.0])
    assert pair_set(find_interedges(cube("hexa", 1), plate)) == {(0, 0)}


def test_facets_of_one_body_inside_the_other():
    # volumes overlap and share the face x = 0, on the same side of both
    inside = box_grid([0.0, 0.3], [0.2, 0.4], [0.2, 0.4])
    inter = find_interedges(cube("hexa", 1), inside)
    assert inter.weights == pytest.approx([0.04])


def test_perpendicular_facets_do_not_couple():
    corner = box_grid([1.0, 2.0], [1.0, 2.0], [0.0, 1.0])
    with pytest.raises(MeshError, match="no cells meet"):
        find_interedges(cube("hexa", 2), corner)
    assert len(find_interedges(cube("hexa", 2), corner, "touch")) == 2


@pytest.mark.parametrize(("around", "across"), [(12, 10), (24, 4), (40, 17), (9, 30)])
def test_curved_walls_of_different_resolution(around, across):
    wall, fluid = tube(0.5, 0.6, 2.0, (2, around, 10)), cylinder(0.5, 2.0, (across, 13))
    inter = find_interedges(wall, fluid)
    assert len(inter.coupled_a) == around * 10  # the inner layer, and no end ring
    assert len(inter.coupled_b) == 4 * (across - 1) * 13 if across > 1 else 13
    area = 2 * np.pi * 0.5 * 2
    # chords are shorter than arcs, by (pi / n)^2 / 6 of their length for n of them
    lost = (np.pi / min(around, 4 * across)) ** 2
    assert area * (1 - lost) < inter.weights.sum() < area


# ---- touch
def hulls_meet(p, q):
    """Is some convex combination of p one of q? By linear programming, independent of any geometry code."""
    n, m = len(p), len(q)
    equal = np.zeros((5, n + m))
    equal[:3, :n], equal[:3, n:] = p.T, -q.T
    equal[3, :n] = equal[4, n:] = 1
    return linprog(np.zeros(n + m), A_eq=equal, b_eq=[0, 0, 0, 1, 1], bounds=(0, None)).status == 0


def cell_corners(mesh):
    return [mesh.points[row[:shape_of(t, c.shape[1]).ncorners]] for t, c in mesh.blocks for row in c]


def touch_twin(a, b):
    return {(i, j) for (i, p), (j, q) in itertools.product(enumerate(cell_corners(a)), enumerate(cell_corners(b)))
            if hulls_meet(p, q)}


def convex_cell(kind, rng):
    """A random affine image of a reference cell."""
    reference = {
        "triangle": [[0, 0, 0], [1, 0, 0], [0, 1, 0]], "quad": [[0, 0, 0], [1, 0, 0], [1, 1, 0], [0, 1, 0]],
        "line": [[0, 0, 0], [1, 0, 0]],
        "tetra": [[0, 0, 0], [1, 0, 0], [0, 1, 0], [0, 0, 1]],
        "pyramid": [[0, 0, 0], [1, 0, 0], [1, 1, 0], [0, 1, 0], [.5, .5, 1]],
        "wedge": [[0, 0, 0], [1, 0, 0], [0, 1, 0], [0, 0, 1], [1, 0, 1], [0, 1, 1]],
        "hexahedron": [[0, 0, 0], [1, 0, 0], [1, 1, 0], [0, 1, 0], [0, 0, 1], [1, 0, 1], [1, 1, 1], [0, 1, 1]],
    }[kind]
    return np.array(reference, float) @ rng.normal(size=(3, 3)) + rng.uniform(-1, 1, 3)


KINDS = ["line", "triangle", "quad", "tetra", "pyramid", "wedge", "hexahedron"]


@pytest.mark.parametrize("kind", KINDS)
@given(st.sampled_from(KINDS), st.integers(0, 2**31))
def test_touch_of_two_cells_matches_linear_programming(kind, other, seed):
    rng = np.random.default_rng(seed)
    p, q = convex_cell(kind, rng), convex_cell(other, rng)
    a, b = Mesh(p, [(kind, [list(range(len(p)))])]), Mesh(q, [(other, [list(range(len(q)))])])
    try:
        met = len(find_interedges(a, b, "touch", tolerance=1e-6)) == 1
    except MeshError:
        met = False
    assert met == hulls_meet(p, q), f"seed {seed}"


@pytest.mark.parametrize("offset", [(1, 0, 0), (1, 0.5, 0.25), (1, 1, 0), (1, 1, 1), (0.3, 0.2, 0.6), (0, 0, 0)])
def test_touch_of_boxes_matches_their_intervals(offset):
    third = np.linspace(0, 1, 4)
    a, b = cube("hexa", 2), box_grid(third, third, np.linspace(0, 1, 3)).translated(offset)
    inter = find_interedges(a, b, "touch")
    boxes = [[(c.min(axis=0), c.max(axis=0)) for c in cell_corners(m)] for m in (a, b)]
    expected = {(i, j) for (i, p), (j, q) in itertools.product(*map(enumerate, boxes))
                if (p[0] <= q[1] + 1e-9).all() and (q[0] <= p[1] + 1e-9).all()}
    assert pair_set(inter) == expected
    assert set(inter.weights) == {1.0}
    back = find_interedges(b, a, "touch")
    assert pair_set(back) == {(v, u) for u, v in expected}


@pytest.mark.slow
@pytest.mark.parametrize("seed", range(2))
def test_touch_of_tetrahedra_in_overlapping_volumes(seed):
    a = turned(cube("tetra", 100, seed=seed % 3), seed)
    b = turned(cube("hexa", 2), seed + 1)
    b = b.translated(a.bounds.mean(axis=0) - b.bounds.mean(axis=0))
    found = pair_set(find_interedges(a, b, "touch", tolerance=1e-7))
    assert found == touch_twin(a, b), f"seed {seed}"


def test_cells_of_the_shared_face_and_the_ring_around():
    # each face of A covers 4 x 4 of B; with the ring 6 x 6, less at the rim: (6 n - 2)^2 in all
    inter = find_interedges(cube("hexa", 5), cube("hexa", 20, offset=(1, 0, 0)), "touch")
    assert len(inter) == 28**2
    assert (len(inter.coupled_a), len(inter.coupled_b)) == (25, 400)


def test_touch_contains_facet():
    a, b = cube("tetra", 1500), cube("hexa", 8, offset=(1, 0, 0))
    facet, touch = (find_interedges(a, b, kind) for kind in ("facet", "touch"))
    assert pair_set(facet) < pair_set(touch)
    # the cells that touch are exactly those with a corner on the plane
    on_plane = (a.points[a.blocks[0][1], 0] == 1).any(axis=1)
    assert touch.coupled_a.tolist() == np.flatnonzero(on_plane).tolist()


# ---- errors
def test_nothing_found_says_how_far_and_what_to_do():
    a = cube("hexa", 3, name="wing")
    with pytest.raises(MeshError, match=r"bounding boxes are 2 apart, the nearest points 2; 'wing' spans \[0, 1\] x "
                                        r".*move or scale one mesh .*, or raise tolerance"):
        find_interedges(a, cube("hexa", 3, offset=(3, 0, 0)))
    with pytest.raises(MeshError, match=r"check the units: .* \(--scale \S+=0\.001\) 9 of its facets match"):
        find_interedges(a, cube("hexa", 3, offset=(1, 0, 0)).scaled(1000), "touch")
    with pytest.raises(MeshError, match="try --interedges touch"):
        find_interedges(a, cube("hexa", 3, offset=(0.55, 0.5, 0.5)))


def test_unusable_options():
    a = cube("hexa", 1)
    with pytest.raises(ConfigError, match="'near' is not known; choose one of facet, touch, overlap"):
        find_interedges(a, a, "near")
    for tolerance in (-1, np.nan, "x"):
        with pytest.raises(ConfigError, match="tolerance"):
            find_interedges(a, a, tolerance=tolerance)


def test_cells_without_volume_are_no_obstacle():
    point = Mesh(np.zeros((8, 3)), [("hexahedron", [list(range(8))])])
    assert len(find_interedges(point, cube("hexa", 2), "touch")) == 1
    with pytest.raises(MeshError, match="no cells meet"):
        find_interedges(point, cube("hexa", 2))


def test_closed_surfaces_have_no_facets():
    ball = Mesh(np.eye(4)[:, :3], [("triangle", [[0, 1, 2], [0, 1, 3], [0, 2, 3], [1, 2, 3]])])
    with pytest.raises(MeshError, match="no boundary facet; use --interedges overlap"):
        find_interedges(ball, ball)
    assert len(find_interedges(ball, ball, "touch")) == 16


# ---- the spatial index
@given(st.integers(0, 2**31), st.integers(0, 40), st.integers(0, 60))
def test_box_pairs_match_all_against_all(seed, na, nb):
    rng = np.random.default_rng(seed)

    def boxes(n):
        # sizes over four orders of magnitude, coordinates on a grid so that faces coincide
        low = rng.integers(0, 20, (n, 3)) / 4
        return low, low + rng.integers(0, 3, (n, 3)) * 4.0 ** rng.integers(-3, 2, (n, 1))
    (la, ha), (lb, hb) = boxes(na), boxes(nb)
    a, b = overlapping_pairs(la, ha, lb, hb)
    expected = [(i, j) for i in range(na) for j in range(nb) if (la[i] <= hb[j]).all() and (lb[j] <= ha[i]).all()]
    assert sorted(zip(a.tolist(), b.tolist(), strict=True)) == expected, f"seed {seed}"


# ---- size
@pytest.mark.slow
def test_ten_thousand_facets_each():
    a, b = (box_grid_layer(100, side) for side in (-1, 1))
    find_interedges(cube("hexa", 1), cube("hexa", 1, offset=(1, 0, 0)))  # compiled and loaded
    with ends_soon():
        inter = find_interedges(a, b)
    assert len(inter.coupled_a) == len(inter.coupled_b) == 10_000
    assert inter.weights.sum() == pytest.approx(1, abs=1e-9)


def box_grid_layer(n, side):
    """One layer of n x n cells on the plane z = 0; the planes between them differ from one side to the other."""
    plane = np.linspace(0, 1, n + 1)
    inner = plane[1:-1] + (0.3 / n if side > 0 else 0)
    mesh = cube("hexa", n)
    keep = mesh.centres()[:, 2] < 1 / n
    layer = extract(mesh, keep)
    points = np.array(layer.points)
    planes = np.concatenate([[0], inner, [1]])
    for axis in (0, 1):
        points[:, axis] = planes[np.rint(points[:, axis] * n).astype(int)]
    points[:, 2] *= side
    return layer.replace(points=points)


def test_a_tolerance_out_of_proportion_ends_early(monkeypatch):
    monkeypatch.setattr("copart.mesh.search.MAX_PAIRS", 10_000)
    a, b = cube("hexa", 20), cube("hexa", 20, offset=(1, 0, 0))
    assert len(find_interedges(a, b)) == 400
    with pytest.raises(MeshError, match=r"more than 10000 pairs .* smaller tolerance or gap"):
        find_interedges(a, b, gap=5.0)
