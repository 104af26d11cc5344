"""Tables and pictures: what they mark, how interfaces are laid flat, that every kind of mesh can be drawn."""

from __future__ import annotations

from itertools import pairwise

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from matplotlib.figure import Figure

import copart
from copart.coupling import CoPartition, CoupledProblem, Interedges
from copart.errors import ConfigError
from copart.mesh import Mesh, cube, cylinder, tube
from copart.report import COMPARISON_COLUMNS, Table, comparison_table, component_table, pair_table
from copart.report.palette import COLOURS, RGB, colour_numbers, part_colours
from copart.report.pictures import _rows, draw_coupled
from copart.report.projection import Chart, Line, interface, mean_normal
from copart.report.scene import cut_scene, mesh_scene, whole_boundary
from copart.report.terminal import drawn

from ..helpers import grid


def rows(**changes):
    row = dict.fromkeys((c.key for c in COMPARISON_COLUMNS), 1.0)
    return [{"scheme": "one", **row}, {"scheme": "two", **row, **changes}]


# ---- tables
def test_the_smallest_of_a_column_is_marked_and_a_tie_of_all_is_not():
    table = comparison_table(rows(totZ=0.5, cut_a=7, ncoupled_a=0))
    header = list(table.header)
    assert table.best == {(1, header.index("totZ")), (0, header.index("cut_A"))}
    assert "0.5*" in table.text()
    assert "**0.5**" in table.markdown()


def test_what_looks_equal_is_marked_alike():
    third = [{"scheme": "three", **rows()[0], "totV": 99.0}]
    third[0]["scheme"] = "three"
    table = comparison_table(rows(totV=1.004) + third)
    column = list(table.header).index("totV")
    assert {r for r, c in table.best if c == column} == {0, 1}


def test_plain_text_is_aligned():
    table = Table(["name", "x"], [["a", "1"], ["longer", "1000"]], frozenset({(0, 1)}), "title", ["note"])
    title, header, rule, first, second, *notes = table.text().splitlines()
    assert title == "title"
    assert notes == ["note", "* best of its column"]
    # ends of the figures stand below each other, the mark behind them
    assert header.index("x") == first.index("1") == len(second) - 1 == len(first) - 2 == len(rule) - 2


def test_rich_form_has_every_row():
    assert drawn(comparison_table(rows())).row_count == 2


def test_tables_of_a_plan():
    plan = copart.plan(cube("hexa", 4), cube("hexa", 6, offset=(1, 0, 0)), parts=(2, 4))
    assert [row[1] for row in component_table(plan.metrics).rows] == ["64", "216"]
    assert pair_table(plan.metrics).rows[0][4] == str(plan.metrics.pair.totZ)


# ---- colours
def test_neighbours_have_different_colours_and_all_are_used():
    graph = grid(8, 8)
    u, v, _ = graph.edges()
    colour = part_colours(graph, np.arange(64, dtype=np.int32), 64)
    assert (colour[u] != colour[v]).all()
    assert len(np.unique(colour)) == len(COLOURS) == len(np.unique(RGB, axis=0))
    assert len(np.unique(colour_numbers(20, [(i, j) for i in range(20) for j in range(i)]))) == len(COLOURS)


# ---- geometry
def test_a_cube_shows_three_faces_the_interface_first():
    mesh = cube("hexa", 4)
    scene = mesh_scene(mesh, whole_boundary(mesh), np.array([1.0, 0.0, 0.0]))
    middle = mesh.centres()[np.unique(scene.cell[scene.cell >= 0])]
    assert len(middle) == 64 - 27
    assert (middle[:, 0] > 0.8).sum() == 16
    # the face that matters most has most room
    facing = mesh.centres()[scene.cell[scene.cell >= 0]]
    assert (facing[:, 0] > 0.8).mean() > 0.5


def test_the_interface_of_two_cubes_is_their_common_face():
    a, b = cube("hexa", 4), cube("hexa", 6, offset=(1, 0, 0))
    at_a, at_b = np.flatnonzero(a.centres()[:, 0] > 0.8), np.flatnonzero(b.centres()[:, 0] < 1.1)
    facets = interface(a, b, at_a, at_b)
    assert len(facets.cell) == 16
    assert np.allclose(facets.corners[..., 0], 1.0)
    assert np.allclose(mean_normal(facets, 3), [1, 0, 0])
    flat = Chart.of(facets, 3).flat(facets)
    assert np.ptp(flat[..., 0]) == pytest.approx(1.0)
    assert np.ptp(flat[..., 1]) == pytest.approx(1.0)


def test_a_tube_is_unrolled():
    shell, core = tube(0.5, 0.6, 2.0, (1, 32, 8)), cylinder(0.5, 2.0, (8, 8))
    facets = interface(shell, core, np.arange(shell.ncells), np.arange(core.ncells))
    assert len(facets.cell) == 32 * 8
    assert mean_normal(facets, 3) is None
    flat = Chart.of(facets, 3).flat(facets)
    assert np.ptp(flat[..., 1]) == pytest.approx(2.0)
    assert np.ptp(flat[..., 0].mean(axis=1)) == pytest.approx(2 * np.pi * 0.5 * 31 / 32, rel=0.01)


def test_what_lies_over_itself_once_it_is_flat_says_so():
    pipe = tube(0.5, 2.0, 3.0, (3, 32, 16))
    surface = whole_boundary(pipe)
    inside = np.linalg.norm(surface.centre[:, :2], axis=1) < 0.6
    ends = np.abs(surface.centre[:, 2] - 1.5) > 1.499
    assert Chart.of(surface.taken(inside & ~ends), 3).how == "unrolled"
    # inner and outer wall, one behind the other
    assert Chart.of(surface.taken(~ends), 3).how == "unrolled; parts of it lie over one another"


# ---- long and thin
def test_long_domains_are_stretched_and_say_so():
    pipe, plate = tube(0.5, 0.6, 60.0, (1, 12, 40)), cube("hexa", 4)
    plate = plate.replace(points=plate.points * [2.0, 1.0, 0.001])
    scene = mesh_scene(pipe, whole_boundary(pipe), None)
    assert scene.note == "; x, y stretched 20 times"
    assert (scene.cell >= 0).mean() > 0.25, "it fills its picture"
    assert mesh_scene(plate, whole_boundary(plate), None).note == "; z stretched 40 times"
    assert cut_scene(pipe, whole_boundary(pipe), None).note == scene.note
    for mesh in (cube("hexa", 4), tube(0.5, 0.6, 3.0, (1, 12, 8))):
        assert mesh_scene(mesh, whole_boundary(mesh), None).note == ""
    strip = square(30, 0, 0.01)
    assert mesh_scene(strip, whole_boundary(strip), None).note == "; y stretched 40 times"


def test_a_cut_of_a_stretched_mesh_is_a_cut_of_the_mesh():
    pipe = tube(0.5, 0.6, 60.0, (1, 12, 40))
    short = pipe.replace(points=pipe.points * [20.0, 20.0, 1.0])
    for toward in (None, np.array([1.0, 0.0, 0.0])):
        scenes = [cut_scene(mesh, whole_boundary(mesh), toward) for mesh in (pipe, short)]
        assert (scenes[0].cell == scenes[1].cell).mean() > 0.999


def test_long_interfaces_are_stretched_and_say_so():
    shell, core = tube(0.5, 0.6, 60.0, (1, 32, 8)), cylinder(0.5, 60.0, (8, 8))
    facets = interface(shell, core, np.arange(shell.ncells), np.arange(core.ncells))
    chart = Chart.of(facets, 3)
    assert chart.how.startswith("unrolled; width stretched ")
    high, wide = np.ptp(chart.flat(facets), axis=(0, 1))[::-1]
    assert high / wide == pytest.approx(2.5, rel=0.1)
    a, b = cube("hexa", 4), cube("hexa", 6, offset=(1, 0, 0))
    assert Chart.of(interface(a, b, np.arange(64), np.arange(216)), 3).how == "face-on"


@given(st.lists(st.integers(1, 2), min_size=1, max_size=12))
def test_panels_stand_in_few_rows_that_are_about_as_long(sizes):
    """Those of a unit stay side by side, in the order given."""
    units = [[(1, (i, k)) for k in range(size)] for i, size in enumerate(sizes)]
    rows = _rows(units)
    assert [panel for row in rows for panel in row] == [panel for unit in units for panel in unit]
    assert all(len(row) <= 4 for row in rows)
    for unit in units:
        assert any(set(unit) <= set(row) for row in rows)
    longest, room, least = max(map(len, rows)), 0, 0
    for size in sizes:
        least, room = (least, room - size) if size <= room else (least + 1, 4 - size)
    assert len(rows) == least
    if longest > max(sizes):
        # with a column less there would be more rows
        count, room = 0, 0
        for size in sizes:
            count, room = (count, room - size) if size <= room else (count + 1, longest - 1 - size)
        assert count > least


def test_every_interface_of_many_components_is_drawn(tmp_path, monkeypatch):
    row = [cube("hexa", n, offset=(i, 0, 0)) for i, n in enumerate((4, 5, 4, 3))]
    made = copart.compare(*row, parts=(2, 3, 2, 2), seeds=1, names=tuple("abcd"))
    shown = []
    monkeypatch.setattr("copart.report.pictures.title", lambda axes, text, note: shown.append(text))
    draw_coupled(tmp_path / "p.png", made.problem, made.meshes, made.copartitions, "joint")
    assert shown == ["A: a", "B: b", "C: c", "D: d", *(f"interface {p} - {q} face-on, side {s}"
                                                       for p, q in ("AB", "BC", "CD") for s in (p, q))]


def square(n, bottom, top, rows=1):
    x, y = np.meshgrid(np.linspace(0, 1, n + 1), np.linspace(bottom, top, rows + 1))
    first = (np.arange(rows)[:, None] * (n + 1) + np.arange(n)).ravel()
    return Mesh(np.column_stack([x.ravel(), y.ravel()]),
                [("quad", np.column_stack([first, first + 1, first + n + 2, first + n + 1]))])


def test_a_line_is_laid_straight():
    a, b = square(5, 0, 1), square(8, -1, 0)
    sides = [interface(a, b, np.arange(5), np.arange(8)), interface(b, a, np.arange(8), np.arange(5))]
    line = Line.of(sides[0])
    assert line.length == pytest.approx(1.0)
    for side, n in zip(sides, (5, 8), strict=True):
        middle, half = line.place(side)
        x = side.centre[:, 0]
        assert np.allclose(half, 0.5 / n)
        # the walk may start at either end
        assert np.abs(middle - x).max() <= 0.051 or np.abs(1 - middle - x).max() <= 0.051


# ---- pictures
def pixels(path):
    from matplotlib.image import imread

    return imread(path)[..., :3]


CASES = {
    "cubes": lambda: (cube("hexa", 4), cube("tetra", 300, offset=(1, 0, 0))),
    "tube": lambda: (tube(0.5, 0.6, 2.0, (3, 16, 4)), cylinder(0.5, 2.0, (8, 6))),
    "plane": lambda: (square(12, 0, 1, 6), square(7, -1, 0, 5)),
}


@pytest.mark.parametrize("case", CASES)
def test_every_kind_of_pair_can_be_drawn(tmp_path, case):
    a, b = CASES[case]()
    made = copart.compare(a, b, parts=(4, 3), coupled=(2, 2), seeds=1, names=("a", "b"), interedges="touch")
    path = draw_coupled(tmp_path / "new" / "p.png", made.problem, made.meshes, made.copartitions, "aware")
    image = pixels(path)
    colours = np.unique((image.reshape(-1, 3) * 255).round().astype(int) @ (1 << 16, 1 << 8, 1))
    assert image.shape[1] == 1870
    assert len(colours) > 50
    assert [p.name for p in path.parent.iterdir()] == ["p.png"]


def test_graphs_have_their_matrices_drawn(tmp_path):
    side = np.arange(10)
    made = copart.compare(grid(10, 10), grid(10, 10), parts=(4, 4), seeds=1, schemes=["naive", "projrepart"],
                          interedges=Interedges.from_pairs(100, 100, 90 + side, side))
    path = draw_coupled(tmp_path / "p.png", made.problem, {}, made.copartitions, "naive")
    assert pixels(path).shape[0] == 583


def test_a_picture_needs_a_known_format(tmp_path):
    with pytest.raises(ConfigError, match="no known format"):
        draw_coupled(tmp_path / "p.mesh", None, {}, {}, "naive")  # type: ignore[arg-type]


@pytest.mark.parametrize("nparts", [(16, 64), (150, 24), (65, 130)])
def test_labels_of_many_parts_do_not_touch(tmp_path, monkeypatch, nparts):
    n, figures, real = 200, [], Figure.savefig
    monkeypatch.setattr(Figure, "savefig", lambda self, *a, **k: (figures.append(self), real(self, *a, **k)))
    rng = np.random.default_rng(1)
    every = np.arange(n)
    problem = CoupledProblem({"a": grid(n), "b": grid(n)}, {("a", "b"): Interedges.from_pairs(n, n, every, every)})
    parts = [rng.permutation(every % k) for k in nparts]
    made = CoPartition(dict(zip("ab", parts, strict=True)), dict(zip("ab", nparts, strict=True)))
    draw_coupled(tmp_path / "x.png", problem, {}, {"joint": made, "naive": made, "aware": made}, "joint")
    for axes in figures[0].axes:
        for axis in (axes.xaxis, axes.yaxis):
            boxes = [label.get_window_extent() for label in axis.get_ticklabels() if label.get_text()]
            assert not any(one.overlaps(other) for one, other in pairwise(boxes))
