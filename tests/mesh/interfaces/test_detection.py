"""What is found where two meshes meet: reports, rival surfaces, units, copies, flat against thick."""

from __future__ import annotations

import json

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from copart.errors import ConfigError, MeshError
from copart.mesh import Mesh, cube, cylinder, extract, find_interedges, find_interface, tube
from copart.mesh.interfaces.offers import plane_of
from copart.mesh.transform import Transform
from copart.partitioner import rounds


def joined(*meshes, name="both", **groups):
    """Several meshes as one, of hexahedra or quads."""
    points, cells, first = [], [], 0
    for mesh in meshes:
        points.append(mesh.points)
        cells.append(mesh.blocks[0][1] + first)
        first += mesh.npoints
    return Mesh(np.concatenate(points), [(meshes[0].blocks[0][0], np.concatenate(cells))], name=name, **groups)


def square(n, corner=(0.0, 0.0), name="square", size=1.0):
    """n x n quads in the plane z = 0."""
    x, y = np.meshgrid(np.linspace(0, size, n + 1), np.linspace(0, size, n + 1))
    points = np.stack([x.ravel() + corner[0], y.ravel() + corner[1]], axis=1)
    at = (np.arange(n)[:, None] * (n + 1) + np.arange(n)).ravel()
    return Mesh(points, [("quad", at[:, None] + [0, 1, n + 2, n + 1])], name=name)


def extruded(flat, layers, height):
    """Hexahedra over the quads of a flat mesh."""
    base = flat.blocks[0][1]
    points = np.concatenate([flat.translated((0, 0, z)).points for z in np.linspace(0, height, layers + 1)])
    cells = [np.hstack([base + k * flat.npoints, base + (k + 1) * flat.npoints]) for k in range(layers)]
    return Mesh(points, [("hexahedron", np.concatenate(cells))], name="thick")


#: Facets on the sides x = 0 and x = 1 of the unit cube of 4 x 4 x 4 cells, by name.
def named_cube():
    mesh = cube("hexa", 4, name="middle")
    grid = np.arange(125).reshape(5, 5, 5)  # z, y, x
    groups = {}
    for name, plane in (("left", grid[:, :, 0]), ("right", grid[:, :, -1])):
        groups[name] = np.stack([plane[:-1, :-1], plane[:-1, 1:], plane[1:, 1:], plane[1:, :-1]], -1).reshape(-1, 4)
    return mesh.replace(facet_groups=groups, point_groups={"right points": grid[:, :, -1].ravel()})


# ---- the report
def test_figures_of_a_shared_face():
    inter, found = find_interface(cube("hexa", 4, name="a"), cube("hexa", 6, offset=(1, 0.25, 0), name="b"))
    # three quarters of each face lie on the other: 3 of 4 columns of a, and of b 5 of 6, the last by half
    assert (found.a.offered, found.a.matched, found.a.points, found.a.cells) == (96, 12, 20, 12)
    assert (found.b.offered, found.b.matched, found.b.points) == (216, 30, 42)
    assert (found.measure, found.kind, found.gap, found.pieces) == ("area", "facet", 0, 1)
    assert found.overlap == pytest.approx(0.75)
    assert (found.a.size, found.b.size) == pytest.approx((0.75, 30 / 36))
    assert (found.a.unmatched, found.b.unmatched) == pytest.approx((0, 1 - 0.75 * 36 / 30))
    # every second node along z, and in y where 0.25 i = 0.25 + j / 6: i = 1, 3 (j = 0, 3)
    assert found.shared_points == 3 * 2
    assert inter.weights.sum() == pytest.approx(0.75)


def test_the_report_is_plain_and_reads_well():
    _, found = find_interface(named_cube(), cube("hexa", 4, offset=(1, 0, 0), name="b"))
    assert json.loads(json.dumps(found.to_dict()))["a"]["groups"] == ["right", "right points"]
    assert str(found).splitlines()[0] == \
        "middle: 16 of 96 facets match, area 1, 25 points, 16 cells; on right, right points"
    assert "25 points shared" in str(found)


def test_one_of_a_kind_is_told_in_the_singular():
    one, other = cube("hexa", 1, name="a"), cube("hexa", 1, offset=(1, 0, 0), name="b")
    assert find_interface(one, other)[1].lines()[0] == "a: 1 of 6 facets match, area 1, 4 points, 1 cell"
    _, within = find_interface(one, other.translated((-0.5, 0, 0)), "overlap")
    assert within.lines()[1].startswith("b: 1 of 1 cell matches")


def test_a_named_boundary_that_is_covered_in_part():
    mesh = named_cube().select("right")
    _, found = find_interface(mesh, cube("hexa", 4, offset=(1, 0.5, 0), name="b"))
    assert (found.a.group, found.a.offered, found.a.matched) == ("right", 16, 8)
    assert found.a.unmatched == pytest.approx(0.5)
    assert "50.0% without counterpart" in str(found)


def test_largest_gap_on_a_curved_wall():
    around = 12
    _, found = find_interface(tube(0.5, 0.6, 2.0, (1, around, 6)), cylinder(0.5, 2.0, (around, 6)))
    # 48 chords inside 12: the middle of a long one is 0.5 (1 - cos(pi / 12)) inside the circle
    assert found.gap == pytest.approx(0.5 * (1 - np.cos(np.pi / 12)), rel=0.01)


# ---- which surface
def test_two_candidates_are_named_and_refused():
    middle, outer = named_cube(), joined(cube("hexa", 2, offset=(-1, 0, 0)), cube("hexa", 3, offset=(1, 0, 0)))
    with pytest.raises(MeshError) as error:
        find_interface(middle, outer)
    text = str(error.value)
    for word in ("2 separate surfaces", "16 facets of 'middle' on left", "on right, right points", "--several",
                 "in [1, 1] x [0, 1]", "'both' has no named groups"):
        assert word in text, word
    both, found = find_interface(middle, outer, several=True)
    assert found.pieces == 2
    assert found.overlap == pytest.approx(2)
    for name, cells in (("left", 4), ("right", 9), ("right points", 9)):
        one, found = find_interface(middle.select(name), outer)
        assert (found.pieces, found.b.matched) == (1, cells)
        assert len(one) < len(both)
    # the relation itself takes whatever meets
    assert len(find_interedges(middle, outer)) == len(both)


def test_touching_cells_of_two_candidates_are_refused_too():
    middle, outer = named_cube(), joined(cube("hexa", 2, offset=(-1, 0, 0)), cube("hexa", 3, offset=(1, 0, 0)))
    with pytest.raises(MeshError, match="2 separate surfaces"):
        find_interface(middle, outer, "touch")
    inter, _ = find_interface(middle.select("right"), outer, "touch")
    # the layer x = 1 of the second cube, behind 8 cells of the first
    assert set(inter.coupled_b) == set(range(8, 35, 3))


def test_a_small_second_surface_is_no_rival():
    # a fin of 1/64 of the large face, far from it
    other = joined(cube("hexa", 8, offset=(1, 0, 0)), cube("hexa", 1).scaled(0.125).translated((-0.125, 0.5, 0.5)))
    inter, found = find_interface(cube("hexa", 8), other)
    assert (found.pieces, found.a.matched) == (2, 65)
    assert inter.weights.sum() == pytest.approx(1 + 1 / 64)


def test_both_sides_of_a_thin_plate_are_one_surface():
    fluid = cube("hexa", 8)
    keep = ~((np.abs(fluid.centres()[:, 0] - 0.5625) < 0.06) & (fluid.centres()[:, 2] < 0.9))
    hole = extract(fluid, keep, name="fluid")
    plate = extract(fluid, ~keep, name="plate")
    _, found = find_interface(hole, plate)
    assert found.pieces == 1
    assert found.overlap == pytest.approx(2 * 0.875 + 0.125)


# ---- named boundaries and touching
def test_only_corners_on_the_named_boundary_touch():
    inter, found = find_interface(named_cube().select("right"), cube("hexa", 4, offset=(1, 0, 0)), "touch")
    assert found.a.group == "right"
    assert inter.coupled_a.tolist() == list(range(3, 64, 4))
    # every cell of the face with each neighbour round it
    assert len(inter) == (3 * 4 - 2) ** 2


def test_nothing_at_the_named_boundary():
    with pytest.raises(MeshError, match=r"'left' of 'middle' spans \[0, 0\] .*leave out the names"):
        find_interface(named_cube().select("left"), cube("hexa", 4, offset=(1, 0, 0)))


@pytest.mark.parametrize("around", [12, 24, 40])
def test_cells_on_a_curved_wall_touch_without_a_tolerance(around):
    wall, fluid = tube(0.5, 0.6, 2.0, (2, around, 10)), cylinder(0.5, 2.0, (10, 13))
    facet, touch = (find_interedges(wall, fluid, kind) for kind in ("facet", "touch"))
    pairs = [set(zip(*(x.tolist() for x in inter.pairs()[:2]), strict=True)) for inter in (facet, touch)]
    assert pairs[0] <= pairs[1]
    assert len(touch.coupled_a) == around * 10, "the inner layer, whole, and nothing else"
    assert len(touch.coupled_b) == (4 * 10 - 4) * 13


def test_flat_walls_touch_as_strictly_as_before():
    a, b = cube("hexa", 5), cube("hexa", 7, offset=(1, 0, 0))
    assert len(find_interedges(a, b, "touch")) == len(find_interedges(a, b, "touch", tolerance=1e-3))


# ---- gaps and units
@pytest.mark.parametrize("shift", [0.04, -0.04])
def test_a_gap_or_an_overlap_in_the_unit_of_the_mesh(shift):
    a, b = cube("hexa", 4), cube("hexa", 9, offset=(1 + shift, 0, 0))
    for kind in ("facet", "touch"):
        inter, found = find_interface(a, b, kind, gap=0.05)
        assert found.gap == pytest.approx(0.04)
        assert len(inter.coupled_a) == 16
    with pytest.raises(MeshError, match=r"raise gap \(0\.03 now\)"):
        find_interface(a, b.translated((max(shift, 0), 0, 0)) if shift > 0 else cube("hexa", 9, offset=(1.04, 0, 0)),
                       gap=0.03)


def test_gap_and_tolerance_exclude_one_another():
    a = cube("hexa", 1)
    with pytest.raises(ConfigError, match="not both"):
        find_interface(a, a, tolerance=0.1, gap=0.1)
    for gap in (-1, np.inf, "x"):
        with pytest.raises(ConfigError, match="gap"):
            find_interface(a, a, gap=gap)


@pytest.mark.parametrize("factor", [1000.0, 0.001, 25.4, 100.0])
def test_a_wrong_unit_is_recognised(factor):
    a, b = cube("hexa", 4).translated((3, 1, 2)), cube("hexa", 6, offset=(4, 1, 2), name="b").scaled(factor)
    with pytest.raises(MeshError, match=rf"with 'b' times .*\(--scale b={1 / factor:g}\) 36 of its facets match"):
        find_interface(a, b)
    _, found = find_interface(a, b, transform=Transform(scale=1 / factor))
    assert found.overlap == pytest.approx(1)
    assert found.remarks == (f"'b' is scaled by {1 / factor:g}",)


def test_facets_that_face_the_same_way_are_no_interface():
    inside = cube("hexa", 2, name="inside").scaled(0.3)
    with pytest.raises(MeshError, match=r"8 of 'inside', but face the same way.*use --interedges overlap"):
        find_interface(extract(cube("hexa", 3), cube("hexa", 3).centres()[:, 2] > 0.5),
                       inside.translated((0.2, 0.2, 0.7)))
    _, found = find_interface(cube("hexa", 3), inside, several=True)
    assert "face the same way" in found.remarks[0]
    _, found = find_interface(cube("hexa", 3), cube("hexa", 3, offset=(1, 0, 0)))
    assert found.remarks == ()


def test_cells_do_not_touch_over_the_distance_of_facets_that_face_the_same_way():
    outer, inner = cube("hexa", 4), cube("hexa", 4, name="inner")
    inner = inner.replace(points=inner.points * 0.4 + [0.01, 0.255, 0.255])
    inter, found = find_interface(outer, inner, "touch", several=True)
    assert found.gap == pytest.approx(0.01)
    # their boxes overlap: nothing is as near as 0.01 to a cell that it is not in
    assert len(inter) == len(find_interedges(outer, inner, "touch", gap=0))


def test_cells_of_flat_walls_touch_over_their_gap():
    inter = find_interedges(cube("hexa", 2), cube("hexa", 2, offset=(1.01, 0, 0)), "touch")
    assert len(inter) == 16
    with pytest.raises(MeshError, match="no cells meet"):
        find_interedges(cube("hexa", 2), cube("hexa", 2, offset=(1.01, 0, 0)), "touch", tolerance=1e-3)


# ---- moved and repeated
@given(st.integers(-3, 3), st.integers(1, 4), st.integers(2, 5))
def test_periodic_copies_meet_where_multiples_put_them(start, n, m):
    """A row of two cubes, B anywhere on the lattice of the other places."""
    a = cube("hexa", n)
    b = cube("hexa", m, offset=(1 + 2 * start, 0, 0), name="b")
    inter, found = find_interface(a, b, transform=Transform(period=(2, 0, 0)))
    assert inter.weights.sum() == pytest.approx(2)
    assert len(inter.coupled_a) == (2 if n > 1 else 1) * n * n
    assert found.shared_points == 2 * len({i / n for i in range(n + 1)} & {j / m for j in range(m + 1)}) ** 2


def test_copies_in_a_slanted_direction():
    a = cube("hexa", 3)
    b = cube("hexa", 3, offset=(11, 10, 0), name="b")
    inter, _ = find_interface(a, b, transform=Transform(period=(5, 5, 0)))
    assert inter.weights.sum() == pytest.approx(1)
    with pytest.raises(MeshError, match="no cells meet"):
        find_interface(a, b, transform=Transform(period=(5, 4, 0)))


def test_copies_within_reach_of_the_larger_mesh():
    """The facet of the large cell allows for a gap that is wide beside the small mesh."""
    small = cube("hexa", 2)
    large = cube("hexa", 1, offset=(1.4 - 20, -2, -2), name="b")
    large = large.replace(points=(large.points - large.bounds[0]) * 5 + large.bounds[0])
    for a, b in ((small, large), (large, small)):
        inter, _ = find_interface(a, b, transform=Transform(period=(20, 0, 0)))
        assert len(inter) == 4


@pytest.mark.parametrize(("given_", "message"), [
    ({"scale": 0}, "scale: must be above 0"), ({"scale": -1}, "scale"), ({"scale": np.nan}, "scale"),
    ({"shift": (1, 2)}, "shift: needs three numbers"), ({"shift": (1, 2, np.inf)}, "three finite numbers"),
    ({"period": (0, 0, 0)}, "period: must not be zero"), ({"period": "abc"}, "period: needs three numbers"),
])
def test_unusable_placements(given_, message):
    with pytest.raises(ConfigError, match=message):
        Transform(**given_)


def test_a_period_far_too_short():
    with pytest.raises(ConfigError, match="copies"):
        find_interface(cube("hexa", 2), cube("hexa", 2, name="b"), transform=Transform(period=(1e-4, 0, 0)))


# ---- a flat mesh and a thick one
@pytest.mark.parametrize("turn", [False, True])
@pytest.mark.parametrize("layers", [1, 3])
def test_a_flat_mesh_meets_a_thick_one_along_edges(layers, turn):
    flat, thick = square(4), extruded(square(6, (1.0, 0.0)), layers, 0.7)
    if turn:
        q, _ = np.linalg.qr(np.random.default_rng(4).normal(size=(3, 3)))
        flat, thick = (m.replace(points=m.points @ q + [1, 2, 3]) for m in (flat, thick))
    for a, b in ((flat, thick), (thick, flat)):
        inter, found = find_interface(a, b)
        thin = inter if a is flat else inter.transposed
        assert found.measure == "length"
        assert inter.weights.sum() == pytest.approx(1)
        assert len(thin.coupled_a) == 4
        assert len(thin.coupled_b) == 6 * layers
        # nine pairs of edges, each with every layer
        assert len(inter) == 8 * layers
        assert "is flattened along" in found.remarks[0]
    touch = find_interedges(flat, thick, "touch")
    assert len(touch.coupled_b) == 6 * layers, "in every layer"


def test_the_plane_may_lie_beside_the_thick_mesh():
    flat, thick = square(3), extruded(square(3, (1.0, 0.0)), 2, 0.5).translated((0, 0, 7))
    _, found = find_interface(flat, thick)
    assert found.remarks == ("'thick' is flattened along z, where it spans [7, 7.5]",)
    assert found.overlap == pytest.approx(1)


@pytest.mark.parametrize("digits", [9, 7, 6])
@pytest.mark.parametrize("kind", ["facet", "touch"])
def test_a_flat_mesh_beside_a_thick_one_with_few_digits(kind, digits):
    """Corners of a column, which are a little apart in the plane then, are no edge."""
    meshes = square(4), extruded(square(6, (1.0, 0.0)), 2, 0.7)
    q, _ = np.linalg.qr(np.random.default_rng(4).normal(size=(3, 3)))
    flat, thick = (m.replace(points=np.round(m.points @ q, digits)) for m in meshes)
    for tolerance in (None, 0.01):
        inter = find_interedges(flat, thick, kind, tolerance)
        exact = find_interedges(*meshes, kind, tolerance)
        assert inter.weights.sum() == pytest.approx(exact.weights.sum(), abs=1e-4)
        assert set(zip(*inter.pairs()[:2], strict=True)) == set(zip(*exact.pairs()[:2], strict=True))


@pytest.mark.parametrize(("away", "bent", "flat"), [
    (0, 0, True), (1e9, 0, True), (0, 5e-7, True), (0, 1e-4, False), (1e5, 1e-4, False),
])
def test_what_is_flat(away, bent, flat):
    """With the digits that coordinates have, but not where a mesh is curved."""
    mesh = square(8)
    q, _ = np.linalg.qr(np.random.default_rng(4).normal(size=(3, 3)))
    points = (mesh.points + np.outer(mesh.points[:, 0] ** 2, [0, 0, 4 * bent])) @ q + [away, -away, away]
    assert (plane_of(mesh.replace(points=points)) is not None) == flat


def test_a_shell_is_not_flattened():
    inter, found = find_interface(square(4, name="shell"), cube("hexa", 4))
    assert found.measure == "area"
    assert len(inter) == 16
    assert found.remarks == ("the cells of 'shell' are taken as facets, as of a shell",)


# ---- cells that cover the same space
@given(st.tuples(*[st.floats(-0.9, 0.9)] * 3), st.integers(1, 3), st.integers(1, 4))
def test_overlap_of_boxes_is_the_product_of_their_intervals(offset, n, m):
    a, b = cube("hexa", n), cube("hexa", m, offset=offset)
    inter, found = find_interface(a, b, "overlap")

    def boxes(mesh):
        corners = mesh.points[mesh.blocks[0][1]]
        return corners.min(axis=1), corners.max(axis=1)
    (la, ha), (lb, hb) = boxes(a), boxes(b)
    sides = np.minimum(ha[:, None], hb) - np.maximum(la[:, None], lb)
    expected = np.prod(np.maximum(sides, 0), axis=2)
    assert np.allclose(inter.to_scipy().toarray(), expected, atol=2e-6 / max(n, m) ** 3)
    assert found.overlap == pytest.approx(np.prod(1 - np.abs(offset)), abs=1e-5)


def test_overlap_has_no_surfaces_to_choose_from():
    with pytest.raises(ConfigError, match="several: has no effect on interedges by overlap"):
        find_interface(cube("hexa", 2), cube("hexa", 3), "overlap", several=True)


@pytest.mark.parametrize(("a", "b"), [(("tetra", 300), ("hexa", 4)), (("tetra", 300), ("tetra", 700))])
def test_overlap_of_the_same_space_is_all_of_it(a, b):
    inter, found = find_interface(cube(*a), cube(*b), "overlap")
    assert found.overlap == pytest.approx(1, abs=1e-6)
    assert (len(inter.coupled_a), len(inter.coupled_b)) == inter.shape
    assert (found.a.unmatched, found.b.unmatched) == pytest.approx((0, 0), abs=1e-5)


def test_a_surface_and_a_line_inside_a_volume():
    box = cube("hexa", 4, name="box")
    membrane = square(10, name="membrane").replace(points=square(10).points[:, [0, 2, 1]] + [0, 0.3, 0])
    for a, b in ((membrane, box), (box, membrane)):
        inter, found = find_interface(a, b, "overlap")
        assert found.measure == "area"
        assert found.overlap == pytest.approx(1)
        assert inter.shape == (a.ncells, b.ncells)
        assert len(inter.coupled_a if b is membrane else inter.coupled_b) == 16
        assert (found.a.size, found.b.size) == pytest.approx((1, 1)), "the volume has what it holds of the surface"
    line = Mesh([[0.1, 0.1, 0.1], [0.6, 0.1, 0.1], [1.6, 0.1, 0.1]], [("line", [[0, 1], [1, 2]])])
    inter, found = find_interface(line, box, "overlap")
    assert inter.to_scipy().toarray()[:, :4] == pytest.approx(np.array([[.15, .25, .1, 0], [0, 0, .15, .25]]))
    assert found.measure == "length"
    assert (found.a.size, found.b.size) == pytest.approx((1.5, 0.9))


def test_a_surface_between_two_layers_of_cells_has_both():
    wall = square(2, name="wall").translated((0, 0, 0.5))
    inter, _ = find_interface(wall, cube("hexa", 2), "overlap")
    assert len(inter) == 8
    assert inter.weights == pytest.approx(0.25)


def test_overlap_in_the_plane_and_of_lines_on_it():
    a, b = square(2), square(3, (0.5, 0.25))
    inter, found = find_interface(a, b, "overlap")
    assert found.measure == "area"
    assert found.overlap == pytest.approx(0.5 * 0.75)
    line = Mesh([[-1.0, 0.1], [2.0, 0.1]], [("line", [[0, 1]])])
    inter, _ = find_interface(line, a, "overlap")
    assert inter.weights == pytest.approx([0.5, 0.5])
    lines = [Mesh([[x] for x in xs], [("line", [[i, i + 1] for i in range(len(xs) - 1)])])
             for xs in ((0, 1, 2), (0.5, 3))]
    assert find_interedges(*lines, "overlap").weights == pytest.approx([0.5, 1])


def test_overlap_of_meshes_that_only_touch_or_are_named():
    with pytest.raises(MeshError, match="no cells meet"):
        find_interface(cube("hexa", 2), cube("hexa", 2, offset=(1, 0, 0)), "overlap")
    with pytest.raises(MeshError, match="whole cells, not at a boundary such as 'right'"):
        find_interface(named_cube().select("right"), cube("hexa", 2), "overlap")


# ---- what must not matter
@given(st.integers(0, 2**31), st.floats(-3, 3), st.sampled_from(["facet", "touch", "overlap"]))
def test_place_unit_and_order_do_not_matter(seed, power, kind):
    rng = np.random.default_rng(seed)
    q, _ = np.linalg.qr(rng.normal(size=(3, 3)))
    a, b = named_cube(), cube("hexa", 3, offset=(0.6 if kind == "overlap" else 1, 0.3, -0.2), name="b")
    one, found = find_interface(a, b, kind)
    scale, shift = 10.0**power, rng.normal(size=3) * 10.0**power

    def elsewhere(mesh):
        return mesh.replace(points=mesh.points @ q * scale + shift)
    other, again = find_interface(elsewhere(a), elsewhere(b), kind)
    dimension = {"facet": 2, "touch": 2, "overlap": 3}[kind]
    assert np.array_equal(other.indices, one.indices)
    assert (again.a.matched, again.b.matched, again.a.groups) == (found.a.matched, found.b.matched, found.a.groups)
    assert again.overlap == pytest.approx(found.overlap * scale**dimension)
    back, turned = find_interface(b, a, kind)
    assert (turned.a.matched, turned.b.matched, turned.shared_points) == (
        found.b.matched, found.a.matched, found.shared_points)
    assert np.array_equal(back.transposed.indices, one.indices)
    assert back.transposed.weights == pytest.approx(one.weights)


def test_coincident_shells_are_told_to_overlap():
    shell = square(3, name="shell").translated((0, 0, 1))
    other = square(4, name="other").translated((0, 0, 1))
    with pytest.raises(MeshError, match="use --interedges overlap"):
        find_interface(shell, other)
    _, found = find_interface(shell, other, "overlap")
    assert (found.measure, found.overlap) == ("area", pytest.approx(1))
    _, found = find_interface(shell, other.translated((0, 0, 0.02)), "overlap", gap=0.05)
    assert found.overlap == pytest.approx(1)


def test_a_named_surface_inside_a_volume_has_cells_on_both_sides():
    box = cube("hexa", 2, name="box")
    plane = np.arange(27).reshape(3, 3, 3)[:, :, 1]  # the nodes x = 1/2
    facets = np.stack([plane[:-1, :-1], plane[:-1, 1:], plane[1:, 1:], plane[1:, :-1]], -1).reshape(-1, 4)
    box = box.replace(facet_groups={"baffle": facets})
    membrane = square(4, name="membrane")
    membrane = membrane.replace(points=membrane.points[:, [2, 0, 1]] + [0.5, 0, 0])
    inter, found = find_interface(box.select("baffle"), membrane)
    assert len(inter.coupled_a) == 8
    assert len(inter) == 2 * 16
    assert (found.a.offered, found.a.matched, found.b.matched) == (8, 8, 16)
    with pytest.raises(MeshError, match="check unit and place, or use --interedges overlap"):
        find_interface(box, membrane)
    inter, _ = find_interface(box, membrane, "overlap")
    assert len(inter) == 2 * 16
    # a box is extruded, too, but the membrane is inside and not beside it
    fine = cube("hexa", 4, name="fine")
    touch = find_interedges(fine, membrane, "touch")
    assert np.array_equal(touch.coupled_a, np.flatnonzero(np.abs(fine.centres()[:, 0] - 0.5) < 0.25))


_SIZES = {"line": 2, "triangle": 3, "quad": 4, "tetra": 4, "pyramid": 5, "wedge": 6, "hexahedron": 8, "polygon": 5}


@pytest.mark.slow
@settings(max_examples=300)
@given(st.integers(0, 2**31), st.sampled_from(sorted(_SIZES)), st.sampled_from(sorted(_SIZES)),
       st.sampled_from(["facet", "touch", "overlap"]), st.booleans())
def test_tangled_meshes_give_a_result_or_a_clear_error(seed, one, other, kind, several):
    """Cells with random nodes among a few points of a lattice: flat, collapsed, turned inside out."""
    rng = np.random.default_rng(seed)

    def tangle(cell):
        points = rng.integers(0, 3, (7, 3)) * rng.choice([0.0, 1.0, 1e-9], 3, p=[0.2, 0.7, 0.1])
        return Mesh(points, [(cell, rng.integers(0, 7, (rng.integers(1, 5), _SIZES[cell])))])
    a, b = tangle(one), tangle(other)
    with np.errstate(all="raise"):
        try:
            inter, found = find_interface(a, b, kind, several=several)
        except (MeshError, ConfigError):
            return
    assert inter.shape == (a.ncells, b.ncells)
    assert np.isfinite([found.overlap, found.gap, found.a.size, found.b.size]).all()
    assert len(str(found)) > 0


def test_overlaps_by_threads_are_those_of_one(monkeypatch):
    monkeypatch.setattr(rounds, "GRAIN", 5)
    meshes = cube("hexa", 4, name="a"), cube("hexa", 6, offset=(1, 0.25, 0), name="b")
    one, three = (find_interface(*meshes, threads=threads)[0] for threads in (1, 3))
    assert len(one.indices) > 20
    for name in ("indptr", "indices", "weights"):
        assert getattr(one, name).tolist() == getattr(three, name).tolist()
