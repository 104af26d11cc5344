"""Parts of a mesh by name: cells, facets and points, what is offered for coupling, what stays of groups."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from copart.errors import MeshError
from copart.mesh import Mesh, cube, extract, find_interedges, regions
from copart.mesh.dual import all_facets
from copart.mesh.interfaces.surface import _nodes, boundary_surface, cell_surface

SQUARES = [[0, 0], [1, 0], [2, 0], [0, 1], [1, 1], [2, 1]]


def two():
    """Two squares side by side with groups of every kind."""
    return Mesh(SQUARES, [("quad", [[0, 1, 4, 3], [1, 2, 5, 4]])], {"mat": [7, 8]},
                facet_groups={"middle": [[4, 1]], "bottom": [[0, 1], [1, 2]], "both": [[0, 3]]},
                point_groups={"low": [2, 1, 0, 1], "corner": [5]},
                cell_groups={"left": [0], "all": [1, 0], "both": [1]})


def test_groups_are_kept_sorted_and_frozen():
    mesh = two()
    assert mesh.point_groups["low"].tolist() == [0, 1, 2]
    assert mesh.cell_groups["all"].tolist() == [0, 1]
    assert mesh.facet_groups["middle"].tolist() == [[4, 1]]
    with pytest.raises(ValueError, match="read-only"):
        mesh.facet_groups["middle"][0, 0] = 0
    with pytest.raises(TypeError):
        mesh.facet_groups["new"] = []
    assert "cell groups left, all, both, facet groups middle, bottom, both, point groups low, corner" in repr(mesh)


def test_a_cell_group_is_a_mesh_of_its_own():
    left = two().select("left")
    assert (left.ncells, left.npoints, left.name) == (1, 4, "left")
    assert left.cell_data["mat"].tolist() == [7]
    # points 0, 1, 3, 4 are now 0..3
    assert {k: v.tolist() for k, v in left.facet_groups.items()} == {"middle": [[3, 1]], "bottom": [[0, 1]],
                                                                     "both": [[0, 2]]}
    assert {k: v.tolist() for k, v in left.point_groups.items()} == {"low": [0, 1]}
    assert {k: v.tolist() for k, v in left.cell_groups.items()} == {"left": [0], "all": [0]}


def test_a_boundary_is_what_is_offered():
    mesh = two()
    assert len(boundary_surface(mesh).cell) == 6
    bottom = mesh.select("bottom")
    assert bottom.interface == "bottom"
    assert bottom.ncells == 2
    surface = boundary_surface(bottom)
    assert surface.cell.tolist() == [0, 1]
    assert not surface.corners[:, :, 1].any()
    # a facet between two cells is one of each
    middle = boundary_surface(mesh.select("middle"))
    assert sorted(middle.cell.tolist()) == [0, 1]
    assert middle.outward[:, 0].tolist() == [0.5, -0.5]
    # of a point group, the facets on the boundary all of whose corners belong to it
    assert boundary_surface(mesh.select("low")).cell.tolist() == [0, 1]
    with pytest.raises(MeshError, match="no cell of mesh 'mesh' has a facet in the group 'corner'"):
        boundary_surface(mesh.select("corner"))


def test_region_then_boundary():
    right = two().select(("mat", 8)).select("bottom")
    assert right.ncells == 1
    assert boundary_surface(right).corners[0, :, 0].tolist() == [1, 2]
    # and the other way round
    assert boundary_surface(two().select("bottom").select(("mat", "8"))).cell.tolist() == [0]
    # the left cell has all nodes of this one, the right one has not
    with pytest.raises(MeshError, match="nothing of 'low2' is on the cells"):
        two().replace(facet_groups={"low2": [[0, 3]]}).select("low2").select(("mat", 8))


def test_whole_numbers_are_told_apart_however_large():
    mesh = two().replace(cell_data={"id": np.array([2**53, 2**53 + 1])})
    for i, value in enumerate((2**53, 2**53 + 1)):
        assert mesh.select(("id", str(value))).points.min(axis=0)[0] == i
    assert two().select(("mat", "8.0")).ncells == 1


def test_names_of_two_kinds_must_be_told_apart():
    mesh = two()
    with pytest.raises(MeshError, match="groups of cells and facets called 'both'; say cells=both or facets=both"):
        mesh.select("both")
    assert mesh.select(("cells", "both")).ncells == 1
    assert mesh.select(("facets", "both")).interface == "both"
    twice = mesh.replace(facet_groups={"low": [[0, 3]]})
    assert boundary_surface(twice.select("low")).corners[0, :, 0].tolist() == [0, 0]
    assert boundary_surface(twice.select(("points", "low"))).cell.tolist() == [0, 1]


@pytest.mark.parametrize(("region", "message"), [
    ("nothing", "no group 'nothing'; it has: cell groups left, all, both; facet groups middle, bottom, both; "
                "point groups low, corner"),
    (("facets", "left"), "no facet group 'left'; it has: middle, bottom, both"),
    (("zone", 1), "no cell array 'zone'; it has: mat"),
    (("mat", 9), "has mat=9; it has: mat=7, mat=8"),
    (3, "needs the name of a group"),
])
def test_unknown_names_list_the_known(region, message):
    with pytest.raises(MeshError, match=message):
        two().select(region)


@pytest.mark.parametrize(("groups", "message"), [
    ({"facet_groups": {"g": [[0, 6]]}}, "facet group 'g': 1 of 2 entries are outside -1..5"),
    ({"facet_groups": {"g": [[0, -2]]}}, "outside -1..5"),
    ({"facet_groups": {"g": [[0, -1]]}}, "1 of 1 facets are not at least 2 nodes"),
    ({"facet_groups": {"g": [[0, -1, 1]]}}, "padded with -1 at the end"),
    ({"facet_groups": {"g": [0, 1]}}, "one row of nodes per facet"),
    ({"point_groups": {"g": [6]}}, "point group 'g': 1 of 1 entries are outside 0..5"),
    ({"cell_groups": {"g": [-1]}}, "cell group 'g': 1 of 1 entries are outside 0..1"),
    ({"cell_groups": {"g": [0.5]}}, "not whole numbers"),
    ({"interface": "g"}, "no facet or point group 'g'; it has: middle"),
])
def test_groups_that_do_not_fit(groups, message):
    with pytest.raises(MeshError, match=message):
        two().replace(**groups)


def test_regions_by_group():
    parts = regions(two())
    assert {k: v.ncells for k, v in parts.items()} == {"left": 1, "all": 2, "both": 1}


def test_an_empty_group_cannot_be_chosen():
    mesh = two().replace(facet_groups={"none": []}, cell_groups={"void": []})
    for name in ("none", "void"):
        with pytest.raises(MeshError, match="is empty"):
            mesh.select(name)


def test_a_surface_inside_a_volume():
    mesh = cube("hexa", 2)
    inside = [n for n in range(mesh.npoints) if mesh.points[n, 0] == 0.5]
    mesh = mesh.replace(facet_groups={"membrane": square_rows(mesh, inside)})
    surface = boundary_surface(mesh.select("membrane"))
    assert len(surface.cell) == 8  # four faces, seen from both sides
    assert sorted(surface.cell.tolist()) == list(range(8))


def square_rows(mesh, nodes):
    """The faces of cells whose nodes are all given."""
    out = set()
    for row in mesh.blocks[0][1].tolist():
        mine = tuple(sorted(n for n in row if n in nodes))
        if len(mine) == 4:
            out.add((mine[0], mine[1], mine[3], mine[2]))
    return sorted(out)


def test_a_shell_is_narrowed_by_its_points():
    shell = Mesh(np.array(SQUARES), [("quad", [[0, 1, 4, 3], [1, 2, 5, 4]])], point_groups={"left": [0, 1, 3, 4]})
    assert cell_surface(shell).cell.tolist() == [0, 1]
    assert cell_surface(shell.select("left")).cell.tolist() == [0]


@pytest.mark.parametrize("kind", ["tetra", "hexa"])
def test_a_boundary_named_whole_is_the_boundary_found(kind):
    a, b = cube(kind, 300 if kind == "tetra" else 4), cube("hexa", 3, offset=(1, 0, 0))
    facets = all_facets(a)
    named = a.replace(facet_groups={"skin": _nodes(a, *facets[:2])[facets.alone]}).select("skin")
    assert len(find_interedges(named, b)) == len(find_interedges(a, b))
    assert np.isclose(find_interedges(named, b).weights.sum(), 1)
    face = [n for n in range(a.npoints) if a.points[n, 0] == 1]
    assert len(find_interedges(a.replace(point_groups={"end": face}).select("end"), b)) == len(find_interedges(a, b))


@given(st.integers(0, 2**32 - 1))
def test_what_is_left_of_groups_is_what_the_definition_says(seed):
    rng = np.random.default_rng(seed)
    mesh = cube("hexa", 3)
    facets = all_facets(mesh)
    chosen = rng.choice(len(facets.owner), 20, replace=False)
    mesh = mesh.replace(cell_data={"id": np.arange(27)}, facet_groups={"f": _nodes(mesh, *facets[:2])[chosen]},
                        point_groups={"p": rng.choice(64, 9)}, cell_groups={"c": rng.choice(27, 9)})
    keep = rng.random(27) < 0.4
    if not keep.any():
        return
    part = extract(mesh, keep)
    assert part.cell_data["id"].tolist() == np.flatnonzero(keep).tolist()
    used = {n for row in mesh.blocks[0][1][keep].tolist() for n in row}

    def at(m, rows):
        return sorted(sorted(map(tuple, m.points[row])) for row in rows)

    left = [row for row in mesh.facet_groups["f"].tolist() if used.issuperset(row)]
    assert at(part, part.facet_groups.get("f", [])) == at(mesh, left)
    points = [n for n in mesh.point_groups["p"].tolist() if n in used]
    assert np.allclose(part.points[part.point_groups.get("p", np.zeros(0, int))], mesh.points[points])
    cells = [c for c in mesh.cell_groups["c"].tolist() if keep[c]]
    assert part.cell_data["id"][part.cell_groups.get("c", np.zeros(0, int))].tolist() == cells
