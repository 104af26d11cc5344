"""The Mesh value: what it accepts, keeps and refuses."""

from __future__ import annotations

import doctest
import importlib
import subprocess
import sys

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from copart.errors import MeshError
from copart.mesh import Mesh, Polyhedra, cube, dual_graph, extract
from copart.mesh.cells import shape_of

from ..helpers import ROOT

SQUARE = [[0, 0], [1, 0], [1, 1], [0, 1]]


def test_points_get_three_columns_and_are_frozen():
    mesh = Mesh(SQUARE, [("quad", [[0, 1, 2, 3]])])
    assert mesh.points.shape == (4, 3)
    assert mesh.points.dtype == np.float64
    assert not mesh.points[:, 2].any()
    with pytest.raises(ValueError, match="read-only"):
        mesh.points[0, 0] = 5
    with pytest.raises(ValueError, match="read-only"):
        mesh.blocks[0][1][0, 0] = 5


def test_input_arrays_stay_writable():
    points = np.zeros((3, 3))
    points[1, 0] = points[2, 1] = 1
    Mesh(points, [("triangle", np.array([[0, 1, 2]]))])
    points[0, 0] = 7
    assert points[0, 0] == 7


def test_only_cells_of_the_largest_dimension_count():
    mesh = Mesh(SQUARE, [("line", [[0, 1], [1, 2]]), ("triangle", [[0, 1, 2]]), ("vertex", [[3]]),
                         ("triangle", [[0, 2, 3]])], {"tag": [1, 2, 3, 4, 5]})
    assert mesh.ncells == 2
    assert mesh.dimension == 2
    assert mesh.cell_data["tag"].tolist() == [3, 5]
    assert [t for t, _ in mesh.blocks] == ["triangle", "triangle"]


def test_replace_keeps_data_and_groups():
    mesh = Mesh(SQUARE, [("line", [[0, 1]]), ("quad", [[0, 1, 2, 3]])], {"tag": [7, 8]}, facet_groups={"low": [[0, 1]]})
    mesh = mesh.select("low").translated((1, 2, 3))
    assert mesh.cell_data["tag"].tolist() == [8]
    assert mesh.facet_groups["low"].tolist() == [[0, 1]]
    assert mesh.interface == "low"
    assert mesh.bounds.tolist() == [[1, 2, 3], [2, 3, 3]]
    assert mesh.scaled(2).bounds.tolist() == [[2, 4, 6], [4, 6, 6]]


def test_empty_blocks_vanish():
    mesh = Mesh(SQUARE, [("tetra", np.zeros((0, 4), int)), ("quad", [[0, 1, 2, 3]]), ("triangle", [])])
    assert [t for t, _ in mesh.blocks] == ["quad"]


def test_centres_use_corners_only():
    # the mid-side nodes are placed far away on purpose
    points = [[0, 0], [3, 0], [0, 3], [90, 90], [90, 90], [90, 90]]
    mesh = Mesh(points, [("triangle6", [[0, 1, 2, 3, 4, 5]])])
    assert mesh.centres().tolist() == [[1, 1, 0]]
    assert mesh.bounds[1].tolist() == [3, 3, 0]


@pytest.mark.parametrize(("points", "blocks", "message"), [
    ([[0, 0], [1, np.nan], [np.inf, 0]], [("line", [[0, 1]])], "2 of 3 are not finite, first at index 1"),
    (SQUARE, [("triangle", [[0, 1, 2], [0, 1, 9], [-1, 0, 1]])],
     "2 of 3 point outside the 4 points, first cell 1: node 9"),
    (SQUARE, [("triangle", [[0, 1, -1]])], "first cell 0: node -1"),
    (SQUARE, [], "points only, no cells"),
    (SQUARE, [("vertex", [[0], [1]])], "points only, no cells"),
    ([], [], "empty"),
    (SQUARE, [("triangle", [[0, 1]])], "at least 3 nodes"),
    (SQUARE, [("triangle", [[0, 1, 1.5]])], "whole numbers"),
    (SQUARE, [("blob", [[0, 1, 2]])], "not a supported cell type"),
    (SQUARE, [("polyhedron6", [[0, 1, 2, 3]])], "not a supported cell type"),
    (SQUARE, [("triangle", [0, 1, 2])], "one row of nodes per cell"),
    ([0, 1, 2], [("line", [[0, 1]])], "shape"),
    ([["a", "b"]], [("line", [[0, 0]])], "numbers"),
])
def test_unusable_meshes_are_refused(points, blocks, message):
    with pytest.raises(MeshError, match=message):
        Mesh(points, blocks)


def test_ragged_cells_are_refused():
    with pytest.raises(MeshError, match="its rows have different lengths"):
        Mesh(SQUARE, [("polygon", [[0, 1, 2], [0, 1, 2, 3]])])


@pytest.mark.parametrize(("fields", "said"), [
    ({"blocks": {"quad": [[0, 1, 2, 3]]}}, "blocks: need pairs of a cell type and the nodes of its cells, got {'quad'"),
    ({"blocks": [("quad",)]}, "blocks: need pairs"),
    ({"blocks": None}, "blocks: need pairs"),
    ({"cell_data": [1]}, r"cell_data: need a mapping from names, got \[1\]"),
    ({"cell_data": {"x": [[1], [2, 3]]}}, "cell data 'x': is no array: its rows have different lengths"),
    ({"facet_groups": {"left": [[0, 1], [2]]}}, "facet group 'left': is no array: its rows have different lengths"),
    ({"point_groups": None}, "point_groups: need a mapping from names, got None"),
    ({"name": 3}, "name: needs text, got 3"),
    ({"interface": 3}, "interface: needs text, or several, got 3"),
    ({"points": np.array(SQUARE, complex)}, "points: needs real numbers, has dtype complex128"),
])
def test_arguments_of_another_kind_are_named(fields, said):
    with pytest.raises(MeshError, match=said):
        Mesh(**{"points": SQUARE, "blocks": [("quad", [[0, 1, 2, 3]])], **fields})


def test_one_remark_and_names_that_are_numbers():
    made = Mesh(SQUARE, [("quad", [[0, 1, 2, 3]])], {4: [1]}, cell_groups={4: [0]}, remarks="lost a field")
    assert made.remarks == ("lost a field",)
    assert list(made.cell_data) == list(made.cell_groups) == ["4"]


def test_data_of_the_wrong_length_is_refused():
    with pytest.raises(MeshError, match="'load': needs 1 entries"):
        Mesh(SQUARE, [("quad", [[0, 1, 2, 3]])], {"load": [1, 2]})


def test_a_nan_in_an_offset_is_refused():
    with pytest.raises(MeshError, match="offset"):
        cube("hexa", 1, offset=(np.nan, 0, 0))
    with pytest.raises(MeshError, match="factor"):
        cube("hexa", 1).scaled(0)


FACES = ([0, 3, 6, 9, 12], [0, 2, 1, 0, 1, 3, 1, 2, 3, 2, 0, 3])


@pytest.mark.parametrize(("start", "nodes", "owner", "neighbour", "message"), [
    ([0, 3, 6, 9], FACES[1], [0] * 3, [-1] * 3, "must run from 0 to the 12 nodes"),
    ([0, 2, 6, 9, 12], FACES[1], [0] * 4, [-1] * 4, "1 of 4 have less than 3 nodes, first at index 0"),
    ([0, 6, 3, 9, 12], FACES[1], [0] * 4, [-1] * 4, "have less than 3 nodes, first at index 1"),
    (*FACES, [0] * 3, [-1] * 4, "owner: needs 4 entries, has 3"),
    (*FACES, [0, 0, 0, -1], [-1] * 4, "owner: 1 of 4 entries are outside"),
    (*FACES, [0, 0, 0, 7], [-1] * 4, "7 of 8 cells have no face, first cell 1|6 of 8 cells have no face"),
    (*FACES, [0, 0, 0, 2**30], [-1] * 4, "name cell 1073741824, more than 4 faces can enclose"),
    (*FACES, [0] * 4, [-1, -1, -1, 0], "one cell on both sides, first at index 3: cell 0"),
    (*FACES, [0] * 4, [-1, -1, -1, -2], "neighbour: 1 of 4 entries are outside"),
])
def test_unusable_polyhedra_are_refused(start, nodes, owner, neighbour, message):
    with pytest.raises(MeshError, match=message):
        Polyhedra(start, nodes, owner, neighbour)


def test_polyhedra_and_their_points():
    solid = Polyhedra(*FACES, [0] * 4, [-1] * 4)
    assert repr(solid) == "Polyhedra(1 cells, 4 faces)"
    mesh = Mesh(np.eye(4)[:, 1:], polyhedra=solid, cell_data={"id": [5]})
    assert (mesh.ncells, mesh.dimension, mesh.cell_data["id"].tolist()) == (1, 3, [5])
    assert mesh.centres().tolist() == [[0.25] * 3]
    assert [a.tolist() for a in mesh.corners] == [[0, 4], [0, 1, 2, 3]]
    with pytest.raises(MeshError, match="have no shape"):
        mesh.shapes()
    with pytest.raises(MeshError, match="faces point outside the 3 points"):
        Mesh(np.eye(3), polyhedra=solid)
    with pytest.raises(MeshError, match="both blocks and polyhedra"):
        Mesh(np.eye(4)[:, 1:], [("tetra", [[0, 1, 2, 3]])], polyhedra=solid)
    with pytest.raises(MeshError, match="more than two cells"):
        Polyhedra.from_cells([[[0, 1, 2]], [[0, 1, 2]], [[2, 1, 0]]])


def test_extract_compacts_points():
    mesh = cube("hexa", 3).replace(cell_data={"id": np.arange(27)})
    corner = extract(mesh, np.arange(27) == 26, "corner")
    assert corner.npoints == 8
    assert corner.cell_data["id"].tolist() == [26]
    assert np.allclose(corner.bounds, [[2 / 3] * 3, [1] * 3])
    with pytest.raises(MeshError, match="no cell"):
        extract(mesh, np.zeros(27, bool))
    with pytest.raises(MeshError, match="bool"):
        extract(mesh, np.arange(27))


def test_facets_have_cyclic_order_and_cover_each_corner():
    for name, width in (("tetra", 4), ("pyramid", 5), ("wedge", 6), ("hexahedron", 8)):
        shape = shape_of(name, width)
        edges = {}
        for facet in shape.facets:
            nodes = [int(i) for i in facet if i >= 0]
            for a, b in zip(nodes, nodes[1:] + nodes[:1], strict=True):
                edges.setdefault(frozenset((a, b)), []).append((a, b))
        # a closed surface, consistently turned: each edge once in each direction (Euler: V - E + F = 2)
        assert all(sorted(uses) == sorted((b, a) for a, b in uses) and len(uses) == 2 for uses in edges.values())
        assert width - len(edges) + len(shape.facets) == 2


@pytest.mark.parametrize("module", ["value", "dual", "interfaces.interface", "generated.cubes", "generated.tubes"])
def test_examples_in_docstrings(module):
    result = doctest.testmod(importlib.import_module(f"copart.mesh.{module}"))
    assert result.attempted > 0
    assert result.failed == 0


def test_importing_meshes_stays_light():
    code = ("import sys, copart.mesh; "
            "print(sorted({m.split('.')[0] for m in sys.modules} & {'meshio', 'numba', 'scipy', 'matplotlib'}))")
    out = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, cwd=ROOT, check=True)
    assert out.stdout.strip() == "[]"


def test_coordinates_whose_squares_overflow_are_refused():
    with pytest.raises(MeshError, match=r"1 of 3 have coordinates beyond 1e\+60, first at index 2"):
        Mesh([[0, 0], [1, 0], [0, 1e200]], [("triangle", [[0, 1, 2]])])


@given(st.integers(2, 4), st.data())
def test_polyhedra_beside_ordinary_cells_are_the_same_mesh(n, data):
    """Whichever cells of a cube are given by their faces: neighbours and boundary stay."""
    mesh = cube("hexa", n)
    nodes = mesh.blocks[0][1]
    split = data.draw(st.integers(1, mesh.ncells - 1))
    facets = shape_of("hexahedron", 8).facets
    faces = nodes[split:][:, facets].reshape(-1, 4)
    start, cell = 4 * np.arange(len(faces) + 1), np.repeat(np.arange(mesh.ncells - split), 6)
    solid = Polyhedra.of_faces(start, faces.ravel(), cell)
    both = Polyhedra.beside([("hexahedron", nodes[:split])], solid)
    found, expected = dual_graph(Mesh(mesh.points, polyhedra=both)), dual_graph(mesh)
    assert np.array_equal(found.xadj, expected.xadj)
    assert np.array_equal(found.adjncy, expected.adjncy)
    assert (both.neighbour < 0).sum() == 6 * n * n
    # owners have their faces looking out
    points = mesh.points[both.padded(np.arange(both.nfaces))]
    normal = np.cross(points[:, 2] - points[:, 0], points[:, 3] - points[:, 1])
    assert (np.einsum("fd,fd->f", normal, points.mean(axis=1) - mesh.centres()[both.owner]) > 0).all()
    # the nodes in another order: the same cells
    turn = np.random.default_rng(split).permutation(mesh.npoints)
    again = dual_graph(Mesh(mesh.points[np.argsort(turn)], polyhedra=both.renumbered(turn)))
    assert np.array_equal(again.adjncy, expected.adjncy)
