"""Components as callers name them: chains of regions, arrays, grids of other packages."""

from __future__ import annotations

from types import SimpleNamespace

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import copart
from copart.errors import MeshError
from copart.mesh import Mesh, cube, write_vtu
from copart.mesh.interfaces.surface import boundary_surface
from copart.plans.components import coupled_problem
from copart.plans.sources import choose, from_arrays, from_pyvista, looks_like_arrays, open_mesh, open_source, others
from copart.plans.verify import check_plan

from ..helpers import shared

A, B = cube("hexa", 4, name="left"), cube("hexa", 5, offset=(1, 0, 0), name="right")


def regions():
    """Four quads in a row; groups and arrays whose names hold what separates names."""
    points = [[x, y] for x in range(5) for y in range(2)]
    cells = [[2 * i, 2 * i + 2, 2 * i + 3, 2 * i + 1] for i in range(4)]
    return Mesh(points, [("quad", cells)], {"zone": [1, 1, 2, 2], "a:b": [3, 4, 4, 4], "kind": np.array(list("xxyy"))},
                "row", facet_groups={"low": [[0, 2], [2, 4], [4, 6], [6, 8]], "both": [[0, 1]]},
                cell_groups={"one:two": [0, 1], "p=1": [3], "both": [1, 2, 3]}, point_groups={"end": [8, 9]})


@pytest.mark.parametrize(("text", "cells", "interface"), [
    ("zone=2", 2, None), ("low", 4, "low"), ("zone=2:low", 2, "low"), ("low:zone=2", 2, "low"), ("a:b=4", 3, None),
    ("a:b=4:zone=1", 1, None), ("one:two", 2, None), ("one:two:low", 2, "low"), ("p=1", 1, None),
    ("kind=y:end", 2, "end"), ("facets=both", 4, "both"), ("cells=both:low", 3, "low"), ("both:zone=2", None, None),
])
def test_chains_of_regions(text, cells, interface):
    if cells is None:
        with pytest.raises(MeshError, match="say cells=both or facets=both"):
            choose(regions(), text)
        return
    mesh, chosen = choose(regions(), text)
    assert (mesh.ncells, mesh.interface) == (cells, interface)
    assert ":".join(chosen) == text


def walls():
    """A square of four quads with a boundary on each side, of edges or of points, and two regions."""
    points = [[x, y] for y in range(3) for x in range(3)]
    cells = [[0, 1, 4, 3], [1, 2, 5, 4], [3, 4, 7, 6], [4, 5, 8, 7]]
    return Mesh(points, [("quad", cells)], {"zone": [1, 1, 2, 3]}, "square",
                facet_groups={"wall-low": [[0, 1], [1, 2]], "wall-left": [[0, 3], [3, 6]], "a,b": [[2, 5], [5, 8]]},
                point_groups={"high": [6, 7, 8], "wall-left": [0]},
                cell_groups={"one": [0], "two": [1], "three": [2, 3], "wall": [0]})


@pytest.mark.parametrize(("text", "offered", "cells"), [
    ("wall-low:wall-left", ("wall-low", "wall-left"), 4), ("wall-low,wall-left", ("wall-low", "wall-left"), 4),
    ("wall-*", ("wall-low", "wall-left"), 4), ("wall-l???", ("wall-left",), 4), ("a,b,high", ("a,b", "high"), 4),
    ("high,a,b:wall-low", ("high", "a,b", "wall-low"), 4), ("facets=wall*", ("wall-low", "wall-left"), 4),
    ("one,two", (), 2), ("t*", (), 3), ("zone=1,zone=3", (), 3), ("one,three:wall-left", ("wall-left",), 3),
    ("cells=one,two:wall-low:wall-left", ("wall-low", "wall-left"), 2), ("one,zone=3", (), 2),
])
def test_several_names_at_once(text, offered, cells):
    mesh, chosen = choose(walls(), text)
    assert (mesh.offered, mesh.ncells) == (offered, cells)
    assert ":".join(chosen) == text


@pytest.mark.parametrize("offered", [("wall-left", "a,b"), ("a,b", "wall-left"), ("a,b",)])
def test_interedges_at_several_boundaries_are_checked(tmp_path, offered):
    beside = Mesh([[2, 0], [2, 1], [2, 2], [3, 0], [3, 1], [3, 2]], [("quad", [[0, 3, 4, 1], [1, 4, 5, 2]])])
    square = walls().replace(interface=offered)
    copart.plan(square, beside, names=("square", "beside"), parts=(2, 2), output=tmp_path / "out")
    report = check_plan(tmp_path / "out")
    assert report.ok
    assert not any("interedges" in line for line in report.unchecked)


@pytest.mark.parametrize(("text", "message"), [
    ("high:high", "'high' is named twice in 'high:high'"), ("wall-low,high,wall-low", "'wall-low' is named twice"),
    ("high,nothing", "no group 'nothing'"), ("one,high", "one of mesh 'square' is a region, high a boundary"),
    ("wall*", "groups of cells and facets and points called 'wall\\*'; say cells=wall"), ("x*", "no group 'x\\*'"),
    ("one,", "no group ''"), ("zone=1,2", "no group '2'"),
])
def test_names_that_do_not_go_together(text, message):
    with pytest.raises(MeshError, match=message):
        choose(walls(), text)


def test_several_boundaries_offer_the_facets_of_each():
    mesh = walls()
    each = [boundary_surface(mesh.select(name)) for name in ("wall-low", "a,b", "high")]
    both = boundary_surface(mesh.select(["wall-low", "a,b", "high"]))
    assert sorted(map(str, both.corners.tolist())) == sorted(str(c) for s in each for c in s.corners.tolist())
    assert len(both.cell) == 6
    # an edge from one to the other belongs to none
    low = mesh.replace(point_groups={"p": [0, 1], "q": [2, 5]})
    assert len(boundary_surface(low.select(["p", "q"])).cell) == 2
    assert mesh.select("high").select("wall-low").offered == ("high", "wall-low")
    assert mesh.select("high").select("high").interface == "high"


def test_both_sides_of_a_body_are_coupled(tmp_path):
    middle = cube("hexa", 3, name="middle")
    cells = middle.blocks[0][1]
    face = {"left": cells[middle.centres()[:, 0] < 1 / 3][:, [0, 3, 7, 4]],
            "right": cells[middle.centres()[:, 0] > 2 / 3][:, [1, 2, 6, 5]]}
    write_vtu(tmp_path / "middle.vtu", middle.replace(facet_groups=face))
    around = Mesh(np.concatenate([A.translated((-1, 0, 0)).points, A.translated((1, 0, 0)).points]),
                  [("hexahedron", np.concatenate([A.blocks[0][1], A.blocks[0][1] + A.npoints]))], name="around")
    for text in ("left:right", "left,right", "*"):
        made = copart.plan(f"{tmp_path / 'middle.vtu'}:{text}", around, parts=(2, 2), output=tmp_path / "out")
        side = made.interfaces["middle", "around"].a
        assert (side.group, side.offered, side.matched) == ("left,right", 18, 18)
        assert check_plan(tmp_path / "out").ok
    one = copart.plan(f"{tmp_path / 'middle.vtu'}:right", around, parts=(2, 2))
    assert one.interfaces["middle", "around"].a.cells == 9


@pytest.mark.parametrize(("text", "message"), [
    ("walls", "no group 'walls'; it has: cells groups|cell groups"), ("zone=7", "has zone=7; it has: zone=1, zone=2"),
    ("zone=x", "zone is numeric"), ("zon=1", "no cell array 'zon'"), ("zone=1:end", "nothing of 'end'|no group 'end'"),
    ("", "no group ''"),
])
def test_unknown_regions_say_what_there_is(text, message):
    with pytest.raises(MeshError, match=message):
        choose(regions(), text)


def test_other_components_of_the_files(tmp_path):
    opened = [open_source(f"{shared('data/coupled/cht-3cyl-4zones/mesh_cht_3cyl.su2')}:zone={n}") for n in (1, 4)]
    assert others(opened) == ["mesh_cht_3cyl.su2 also has zone=2, zone=3; give them as well to couple all"]
    row = regions().replace(cell_data={"zone": [1, 1, 2, 2]})
    write_vtu(tmp_path / "row.vtu", row)
    assert others([open_source(tmp_path / "row.vtu")]) == []
    both = [open_source(f"{tmp_path / 'row.vtu'}:zone={n}") for n in (1, 2)]
    assert others(both) == []


def test_a_file_is_read_once(tmp_path, monkeypatch):
    row = regions().replace(cell_data={"zone": [1, 1, 2, 2]})
    write_vtu(tmp_path / "row.vtu", row)
    import copart.mesh

    calls = []
    real = copart.mesh.read_mesh
    monkeypatch.setattr(copart.mesh, "read_mesh", lambda *a, **k: calls.append(a) or real(*a, **k))
    copart.plan(f"{tmp_path}/row.vtu:zone=1", f"{tmp_path}/row.vtu:zone=2", parts=(1, 1))
    assert len(calls) == 1


# ---- arrays
@pytest.mark.parametrize("cells", [
    {"hexahedron": A.blocks[0][1]}, [("hexahedron", A.blocks[0][1])], A.blocks[0][1], A.blocks[0][1].tolist()])
def test_plan_of_points_and_cells(cells):
    want = copart.plan(A, B, parts=(2, 3)).copartition
    got = copart.plan((A.points, cells), (B.points.tolist(), B.blocks[0][1]), parts=(2, 3))
    assert np.array_equal(got.copartition.a, want.a)
    assert np.array_equal(got.copartition.b, want.b)


@pytest.mark.parametrize(("width", "dimension", "kind"), [(2, 1, "line"), (3, 2, "triangle"), (4, 2, "quad"),
                                                          (6, 3, "wedge"), (5, 3, "pyramid"), (8, 3, "hexahedron")])
def test_the_type_of_cells_by_their_nodes(width, dimension, kind):
    points = np.random.default_rng(1).random((9, max(dimension, 2)))
    assert from_arrays(points, [list(range(width))]).blocks[0][0] == kind


def test_cells_whose_type_is_not_clear():
    with pytest.raises(MeshError, match=r'tetrahedra or quadrilaterals; give \{"tetra": cells\}'):
        from_arrays(A.points, A.blocks[0][1][:, :4])
    with pytest.raises(MeshError, match="7 nodes have no type"):
        from_arrays(A.points, A.blocks[0][1][:, :7])
    with pytest.raises(MeshError, match="one row of nodes per cell"):
        from_arrays(A.points, [1, 2, 3])


def test_graphs_in_arrays_are_no_meshes():
    assert not looks_like_arrays(([0, 1, 2], [1, 0]))
    assert not looks_like_arrays([1, 2, 3])
    assert looks_like_arrays((A.points, {}))


# ---- pyvista
def grid(mesh, types, **fields):
    """What a pyvista grid has."""
    start, nodes = mesh.corners
    cells = np.insert(nodes, start[:-1], np.diff(start))
    return SimpleNamespace(points=mesh.points, cells=cells, celltypes=np.array(types, np.uint8), **fields)


def test_a_grid_of_another_package_is_planned():
    load = np.arange(A.ncells)
    one = grid(A, [12] * A.ncells, cell_data={"load": load, "odd": load[:3]}, point_data={})
    mesh = open_mesh(one)
    assert np.array_equal(mesh.blocks[0][1], A.blocks[0][1])
    assert list(mesh.cell_data) == ["load"]
    got = copart.plan(one, grid(B, [12] * B.ncells), parts=(2, 3))
    assert np.array_equal(got.copartition.b, copart.plan(A, B, parts=(2, 3)).copartition.b)


def test_structured_grids_are_cast():
    image = SimpleNamespace(points=A.points, cast_to_unstructured_grid=lambda: grid(A, [12] * A.ncells))
    assert open_mesh(image).ncells == A.ncells


def test_mixed_grids_keep_the_order_of_their_cells():
    points = np.random.default_rng(2).random((9, 3))
    cells = [4, 0, 1, 2, 3, 5, 0, 1, 2, 3, 4, 4, 5, 6, 7, 8, 8, 0, 1, 2, 3, 4, 5, 6, 7]
    mesh = from_pyvista(SimpleNamespace(points=points, cells=np.array(cells), celltypes=np.array([10, 14, 10, 11])))
    assert [kind for kind, _ in mesh.blocks] == ["tetra", "pyramid", "tetra", "hexahedron"]
    assert mesh.blocks[2][1].tolist() == [[5, 6, 7, 8]]
    assert mesh.blocks[3][1].tolist() == [[0, 1, 3, 2, 4, 5, 7, 6]], "a voxel lists its corners row by row"


def test_surfaces_and_lines_of_another_package():
    points = np.random.default_rng(3).random((6, 3))
    surface = SimpleNamespace(points=points, n_points=6, faces=np.array([3, 0, 1, 2, 4, 0, 2, 3, 4, 5, 0, 1, 2, 3, 4]))
    assert [kind for kind, _ in from_pyvista(surface).blocks] == ["triangle", "quad", "polygon"]
    lines = SimpleNamespace(points=points, n_points=6, faces=np.array([], int), lines=np.array([3, 0, 1, 2, 2, 4, 5]))
    assert from_pyvista(lines).blocks[0][1].tolist() == [[0, 1], [1, 2], [4, 5]]


@pytest.mark.parametrize(("cells", "types", "message"), [
    ([4, 0, 1, 2], [10], "announces 4 nodes, 3 are left"), ([4, 0, 1, 2, 3], [10, 10], "celltypes has 2"),
    ([4, 0, 1, 2, 3], [99], "VTK type 99"), ([4, 0, 1, 2, 9], [10], "outside"), ([-1], [10], "announces -1"),
])
def test_broken_grids(cells, types, message):
    with pytest.raises(MeshError, match=message):
        from_pyvista(SimpleNamespace(points=np.zeros((4, 3)), cells=np.array(cells), celltypes=np.array(types)))


def test_what_is_no_mesh():
    with pytest.raises(MeshError, match="expected a path"):
        open_mesh(object())


@given(st.text(":=abcdefgoznlw12", max_size=14))
def test_any_text_chooses_or_says_why_not(text):
    try:
        mesh, chosen = choose(regions(), text)
    except copart.CopartError:
        return
    assert ":".join(chosen) == text
    assert mesh.ncells >= 1


# ---- the order in which files are read
@pytest.mark.parametrize("threads", [1, 2])
def test_small_files_are_read_first_by_several_threads_and_components_keep_their_order(tmp_path, threads):
    large, small = cube("hexa", 8, name="large"), cube("hexa", 3, offset=(1, 0, 0), name="small")
    files = [tmp_path / "large.vtu", tmp_path / "small.vtu"]
    for mesh, file in zip((large, small), files, strict=True):
        write_vtu(file, mesh)
    assert files[0].stat().st_size > files[1].stat().st_size
    said: list[str] = []
    found = coupled_problem(*files, progress=lambda step, *_: said.append(step), threads=threads)
    read = [step for step in said if step.startswith("reading")]
    assert read == [f"reading {file}" for file in (files if threads == 1 else files[::-1])]
    assert [(name, graph.nvtxs) for name, graph in found.problem.components.items()] == [("large", 512), ("small", 27)]
    pairs = found.problem.interedges
    assert (pairs.shape, len(pairs)) == ((512, 27), 100)


@pytest.mark.parametrize(("names", "option"), [(None, "all-b=0.001"), (["wall", "two words"], "'two words=0.001'")])
def test_what_is_advised_names_components_as_the_options_do(tmp_path, names, option):
    places = tmp_path / "one" / "all.vtu", tmp_path / "two" / "all.vtu"  # two meshes of one name
    for place, mesh in zip(places, (A, B.scaled(1000)), strict=True):
        place.parent.mkdir()
        write_vtu(place, mesh)
    with pytest.raises(MeshError, match="check the units") as error:
        copart.plan(*places, parts=(2, 2), names=names)
    assert f"(--scale {option}) 25 of its facets match" in str(error.value)
    found = copart.plan(*places, parts=(2, 2), names=names,
                        meeting=copart.Meeting(scale={option.strip("'").partition("=")[0]: 0.001}))
    assert found.interface.b.matched == 25


def test_nameless_meshes_are_a_and_b_in_messages_too():
    one, other = ((mesh.points, mesh.blocks) for mesh in (A, A))
    with pytest.raises(MeshError, match="96 facets of 'a' match 96 of 'b', but face the same way"):
        copart.plan(one, other, parts=(2, 2))


def test_arrays_and_files_are_read_in_any_order_with_the_same_result(tmp_path):
    file = tmp_path / "solid.vtu"
    write_vtu(file, cube("hexa", 4, name="solid"))
    fluid = cube("hexa", 5, offset=(1, 0, 0), name="fluid")
    one, two = (coupled_problem(file, fluid, threads=threads).problem for threads in (1, 2))
    assert one.names == two.names == ("solid", "fluid")
    assert [np.array_equal(one.components[n].adjncy, two.components[n].adjncy) for n in one.names] == [True, True]
