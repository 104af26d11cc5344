"""The dual graph: every cell type, mixed meshes, odd meshes, speed."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from copart.errors import MeshError
from copart.mesh import Mesh, cube, dual, dual_graph
from copart.mesh.cells import shape_of
from copart.mesh.dual import all_facets, boundary_facets
from copart.mesh.interfaces.surface import _nodes
from copart.partitioner import rounds

from ..helpers import ends_soon


def edge_set(graph):
    u, v, _ = graph.edges()
    return set(zip(u.tolist(), v.tolist(), strict=True))


def twin(mesh):
    """Shared facets with dictionaries, straight from the definition."""
    where = {}
    cell = 0
    for cell_type, nodes in mesh.blocks:
        shape = shape_of(cell_type, nodes.shape[1])
        for row in nodes.tolist():
            for facet in shape.facets.tolist():
                key = frozenset(row[i] for i in facet if i >= 0)
                if len(key) >= mesh.dimension:
                    where.setdefault(key, set()).add(cell)
            cell += 1
    return {(a, b) for cells in where.values() for a in cells for b in cells if a < b}


# two cells of each linear type that share one facet: corners of each
PAIRS = {
    "line": ([0, 1], [1, 2]),
    "triangle": ([0, 1, 2], [2, 1, 3]),
    "quad": ([0, 1, 2, 3], [1, 4, 5, 2]),
    "tetra": ([0, 1, 2, 3], [1, 2, 3, 4]),
    "pyramid": ([0, 1, 2, 3, 4], [3, 2, 1, 0, 5]),
    "wedge": ([0, 1, 2, 3, 4, 5], [1, 6, 2, 4, 7, 5]),
    "hexahedron": ([0, 1, 2, 3, 4, 5, 6, 7], [1, 8, 9, 2, 5, 10, 11, 6]),
}
TYPES = ["line", "line3", "triangle", "triangle6", "triangle7", "quad", "quad8", "quad9", "tetra", "tetra10",
         "pyramid", "pyramid13", "pyramid14", "wedge", "wedge15", "wedge18",
         "hexahedron", "hexahedron20", "hexahedron24", "hexahedron27"]
LAGRANGE = {"VTK_LAGRANGE_CURVE": ("line", 3), "VTK_LAGRANGE_TRIANGLE": ("triangle", 6),
            "VTK_LAGRANGE_QUADRILATERAL": ("quad", 9), "VTK_LAGRANGE_TETRAHEDRON": ("tetra", 10),
            "VTK_LAGRANGE_HEXAHEDRON": ("hexahedron", 27), "VTK_LAGRANGE_WEDGE": ("wedge", 18),
            "VTK_LAGRANGE_PYRAMID": ("pyramid", 14)}


def pair_mesh(cell_type, linear, width):
    """The pair with `width` nodes per cell; higher-order nodes are not shared, so only corners can match."""
    corners = PAIRS[linear]
    extra = width - len(corners[0])
    first = 1 + max(max(c) for c in corners)
    cells = [c + list(range(first + i * extra, first + (i + 1) * extra)) for i, c in enumerate(corners)]
    points = np.random.default_rng(1).random((1 + max(max(c) for c in cells), 3))
    return Mesh(points, [(cell_type, cells)])


@pytest.mark.parametrize("cell_type", TYPES)
def test_every_cell_type(cell_type):
    linear = cell_type.rstrip("0123456789")
    digits = cell_type[len(linear):]
    graph = dual_graph(pair_mesh(cell_type, linear, int(digits) if digits else len(PAIRS[linear][0])))
    assert edge_set(graph) == {(0, 1)}


@pytest.mark.parametrize("cell_type", LAGRANGE)
def test_lagrange_types(cell_type):
    assert edge_set(dual_graph(pair_mesh(cell_type, *LAGRANGE[cell_type]))) == {(0, 1)}


def test_polygons_of_different_sizes():
    points = [[0, 0], [1, 0], [2, 0], [2, 1], [1, 2], [0, 1], [3, 0], [3, 1]]
    mesh = Mesh(points, [("polygon", [[0, 1, 2, 3, 4, 5]]), ("polygon", [[2, 6, 7, 3]])])
    assert edge_set(dual_graph(mesh)) == {(0, 1)}


def mixed():
    """A hexahedron, a pyramid on it, a tetrahedron on that, a wedge beside the hexahedron and a pyramid beside that."""
    points = np.array([[0, 0, 0], [1, 0, 0], [1, 1, 0], [0, 1, 0], [0, 0, 1], [1, 0, 1], [1, 1, 1], [0, 1, 1],
                       [.5, .5, 2], [2, 0.5, 2], [2, 0, 0], [2, 1, 0.0], [1.5, -1, .5]], float)
    return Mesh(points, [("hexahedron", [[0, 1, 2, 3, 4, 5, 6, 7]]), ("pyramid", [[4, 5, 6, 7, 8]]),
                         ("tetra", [[5, 6, 8, 9]]), ("wedge", [[1, 10, 5, 2, 11, 6]])])


def test_mixed_types_meet_by_corner_nodes():
    assert edge_set(dual_graph(mixed())) == {(0, 1), (1, 2), (0, 3)}
    assert twin(mixed()) == {(0, 1), (1, 2), (0, 3)}


def test_mixed_orders_meet_by_corner_nodes():
    # a quad8 beside a triangle
    points = np.random.default_rng(0).random((9, 2))
    mesh = Mesh(points, [("quad8", [[0, 1, 2, 3, 4, 5, 6, 7]]), ("triangle", [[1, 8, 2]])])
    assert edge_set(dual_graph(mesh)) == {(0, 1)}


def test_facet_of_three_cells_joins_each_pair():
    points = np.random.default_rng(0).random((5, 3))
    mesh = Mesh(points, [("triangle", [[0, 1, 2], [0, 1, 3], [1, 0, 4]])])
    assert edge_set(dual_graph(mesh)) == {(0, 1), (0, 2), (1, 2)}
    assert all_facets(mesh).alone.sum() == 6


def test_two_shared_facets_are_one_edge():
    points = np.random.default_rng(0).random((4, 2))
    mesh = Mesh(points, [("quad", [[0, 1, 2, 3]]), ("triangle", [[0, 1, 2]])])
    graph = dual_graph(mesh)
    assert graph.nedges == 1
    assert graph.ewgt is None


def test_collapsed_cells():
    # a hexahedron with its top folded to a line is a wedge; its collapsed faces are no facets
    points = np.random.default_rng(0).random((10, 3))
    folded = [0, 1, 2, 3, 4, 4, 5, 5]
    wedge_beside = [1, 6, 4, 2, 7, 5]
    mesh = Mesh(points, [("hexahedron", [folded]), ("wedge", [wedge_beside])])
    assert edge_set(dual_graph(mesh)) == {(0, 1)}


def test_no_shared_facets_is_an_error_with_a_hint():
    points = np.random.default_rng(0).random((8, 3))
    with pytest.raises(MeshError, match=r"no two of its 2 cells share a facet.*merge"):
        dual_graph(Mesh(points, [("tetra", [[0, 1, 2, 3], [4, 5, 6, 7]])]))


def test_single_cell():
    graph = dual_graph(cube("hexa", 1))
    assert (graph.nvtxs, graph.nedges) == (1, 0)


def test_coordinates_are_cell_centres():
    mesh = cube("hexa", 4)
    assert np.allclose(dual_graph(mesh).coords, mesh.centres())


def test_centres_by_threads_are_those_of_one(monkeypatch):
    monkeypatch.setattr(rounds, "GRAIN", 5)
    mesh = cube("hexa", 4)
    assert mesh.centres(threads=3).tolist() == mesh.centres().tolist()
    assert mesh.centres()[0].tolist() == [0.125] * 3
    flat = Mesh([[0, 0], [1, 0], [1, 1], [0, 1]], [("triangle", [[0, 1, 2], [0, 2, 3]])])
    assert dual_graph(flat).coords.shape == (2, 2)


@pytest.mark.slow
@pytest.mark.parametrize(("n", "edges"), [(25, 45_000), (70, 1_014_300)])
def test_published_cubes(n, edges):
    graph = dual_graph(cube("hexa", n))
    assert (graph.nvtxs, graph.nedges) == (n**3, edges)


@pytest.mark.slow
def test_a_million_cells():
    graph = dual_graph(cube("hexa", 100))
    assert (graph.nvtxs, graph.nedges) == (1_000_000, 2_970_000)


@pytest.mark.slow
def test_a_fan_about_one_point_stays_linear():
    # every facet contains node 0: to compare all that have one smallest node would be quadratic
    n = 200_000
    angle = np.linspace(0, 2 * np.pi, n, endpoint=False)
    points = np.vstack([[0, 0], np.column_stack([np.cos(angle), np.sin(angle)])])
    rim = np.arange(1, n + 1)
    mesh = Mesh(points, [("triangle", np.column_stack([np.zeros(n, int), rim, np.roll(rim, -1)]))])
    dual_graph(cube("hexa", 2))  # compiled and loaded
    with ends_soon():
        assert dual_graph(mesh).nedges == n


@given(st.integers(0, 2**32 - 1), st.integers(1, 20), st.integers(1, 20))
def test_facets_among_some_nodes_are_those_of_the_whole(seed, ntetra, nhexa):
    """With whether they are on the boundary."""
    rng = np.random.default_rng(seed)
    blocks = [(name, np.array([rng.choice(10, corners, replace=False) for _ in range(count)]))
              for name, corners, count in (("tetra", 4, ntetra), ("hexahedron", 8, nhexa))]
    mesh = Mesh(rng.random((10, 3)), blocks)
    among = rng.random(10) < 0.6

    def asked(facets):
        inside = np.append(among, True)[_nodes(mesh, facets.owner, facets.local)].all(axis=1)
        return {(int(facets.owner[i]), int(facets.local[i])): bool(facets.alone[i]) for i in np.flatnonzero(inside)}

    assert asked(all_facets(mesh, among)) == asked(all_facets(mesh))


@pytest.mark.parametrize("points", [0, 1, 2])
def test_there_are_no_facets_among_too_few_nodes(points):
    mesh = cube("hexa", 2)
    assert len(all_facets(mesh, np.arange(mesh.npoints) < points).owner) == 0


def test_the_boundary_is_looked_for_once(monkeypatch):
    from copart.mesh.interfaces.surface import boundary_surface

    mesh = cube("hexa", 3)
    other = boundary_surface(mesh.replace(name="other"))
    dual_graph(mesh)
    monkeypatch.setattr(dual, "all_facets", None)
    assert (boundary_surface(mesh).corners == other.corners).all()
    assert len(other.corners) == 54


@given(st.integers(0, 2**32 - 1), st.integers(1, 30), st.integers(4, 12))
def test_random_soups_match_the_definition(seed, ncells, npoints):
    rng = np.random.default_rng(seed)
    cells = {"tetra": 4, "pyramid": 5, "wedge": 6, "hexahedron": 8}
    blocks = []
    for name, corners in cells.items():
        rows = [rng.choice(max(npoints, 8), corners, replace=False) for _ in range(rng.integers(0, ncells + 1))]
        if rows:
            blocks.append((name, np.array(rows)))
    if not blocks:
        return
    mesh = Mesh(rng.random((max(npoints, 8), 3)), blocks)
    expected = twin(mesh)
    if not expected and mesh.ncells > 1:
        with pytest.raises(MeshError, match="share a facet"):
            dual_graph(mesh)
    else:
        assert edge_set(dual_graph(mesh)) == expected, f"seed {seed}"


@given(st.integers(0, 2**32 - 1), st.integers(2, 7), st.integers(2, 5))
def test_facets_of_many_cells_and_of_one_cell_twice(seed, npoints, threads):
    """Few points, so that cells come again and again and nearly all have collapsed, on pieces of few cells."""
    rng = np.random.default_rng(seed)
    blocks = [(name, rng.integers(0, npoints, (rng.integers(1, 9), corners)))
              for name, corners in (("quad", 4), ("triangle", 3), ("polygon", 6))]
    mesh = Mesh(rng.random((npoints, 3)), blocks)
    expected = twin(mesh)
    if not expected:
        return
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(dual, "GRAIN", 1)
        graph = dual_graph(mesh, threads=threads)
    assert edge_set(graph) == expected
    assert all((np.diff(graph.adjncy[a:b]) > 0).all() for a, b in zip(graph.xadj, graph.xadj[1:], strict=False))
    cells = {}
    facets = all_facets(mesh)
    for row, owner in zip(_nodes(mesh, *facets[:2]).tolist(), facets.owner.tolist(), strict=True):
        cells.setdefault(frozenset(row), set()).add(owner)
    assert facets.alone.tolist() == [len(cells[frozenset(row)]) == 1 for row in _nodes(mesh, *facets[:2]).tolist()]


@pytest.mark.parametrize("kind", ["hexa", "tetra"])
def test_the_graph_is_the_same_on_any_number_of_threads(kind, monkeypatch):
    mesh = cube(kind, 12 if kind == "hexa" else 900)
    alone = dual_graph(mesh)
    boundary = boundary_facets(mesh)
    monkeypatch.setattr(dual, "GRAIN", 50)
    for threads in (2, 3, 20):
        again = mesh.replace(name=f"on {threads}")
        graph = dual_graph(again, threads=threads)
        assert (graph.xadj == alone.xadj).all()
        assert (graph.adjncy == alone.adjncy).all()
        assert all((a == b).all() for a, b in zip(boundary_facets(again), boundary, strict=True))


@pytest.mark.slow
def test_a_cell_listed_again_and_again_is_refused_at_once():
    mesh = Mesh(np.eye(4)[:, :3], [("tetra", np.tile([0, 1, 2, 3], (200_000, 1)))])
    dual_graph(cube("hexa", 2))
    with ends_soon():
        assert not all_facets(mesh).alone.any()
        with pytest.raises(MeshError, match="so many cells share a facet"):
            dual_graph(mesh)


# ---- weights
def test_weights_by_name_and_by_array():
    mesh = cube("hexa", 2).replace(cell_data={"load": np.arange(8.0), "column": np.ones((8, 1), int)})
    assert dual_graph(mesh, "load").vwgt.tolist() == list(range(8))
    assert dual_graph(mesh, "column").vwgt.tolist() == [1] * 8
    assert dual_graph(mesh, [3] * 8).total_weight == 24
    assert dual_graph(mesh).vwgt is None


@pytest.mark.parametrize(("values", "message"), [
    (np.full(8, 0.5), "not whole numbers"),
    (-np.arange(8), "negative"),
    (np.full(8, np.nan), "not whole numbers"),
    (np.ones((8, 3), int), "several values per cell"),
    (np.full(8, 2**62), "overflow"),
])
def test_unusable_weights(values, message):
    mesh = cube("hexa", 2).replace(cell_data={"load": values})
    with pytest.raises(MeshError, match=message):
        dual_graph(mesh, "load")


def test_unknown_weights_list_what_there_is():
    mesh = cube("hexa", 2).replace(cell_data={"load": np.ones(8), "cost": np.ones(8)})
    with pytest.raises(MeshError, match=r"no cell array 'laod'; it has: load, cost"):
        dual_graph(mesh, "laod")
