"""VTU and PVTU files and the pieces of ASTE, read by a reader of the tests' own and by meshio."""

from __future__ import annotations

import json
from itertools import pairwise

import meshio
import numpy as np
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from copart.errors import FormatError, MeshError
from copart.formats.vtu import Faces, Grid, write_grid
from copart.mesh import Mesh, cube, find_interedges, read_mesh, write_mesh, write_vtu
from copart.mesh.polyhedra import Polyhedra
from copart.mesh.writing.pieces import coupling_surface, triangulated, write_aste, write_pieces

from ...file_readers import read_pvtu, read_vtu

HEXA = [[0, 3, 2, 1], [4, 5, 6, 7], [0, 1, 5, 4], [1, 2, 6, 5], [2, 3, 7, 6], [3, 0, 4, 7]]


def as_polyhedra(mesh: Mesh) -> Mesh:
    """A mesh of hexahedra told by their faces."""
    cells = [[cell[face] for face in HEXA] for cell in mesh.blocks[0][1]]
    return Mesh(mesh.points, polyhedra=Polyhedra.from_cells(cells), name=mesh.name)


def mixed() -> Mesh:
    """All linear cells of 3D in one mesh, types in turn."""
    points = np.random.default_rng(4).random((12, 3))
    return Mesh(points, [("tetra", [[0, 1, 2, 3]]), ("wedge", [[0, 1, 2, 3, 4, 5]]), ("hexahedron", [list(range(8))]),
                         ("tetra", [[8, 9, 10, 11], [3, 4, 5, 6]]), ("pyramid", [[7, 8, 9, 10, 11]])],
                {"id": np.arange(6) * 10})


# ---- one file
def test_every_kind_of_array_is_read_back(tmp_path):
    rng = np.random.default_rng(2)
    mesh = mixed()
    kinds = ["i1", "u1", "i2", "u2", "i4", "u4", "i8", "u8", "f4", "f8", ">f8", ">i4"]
    arrays = {kind: (rng.random(6) * 100).astype(kind) for kind in kinds}
    arrays |= {"flag": np.arange(6) % 2 == 0, "vector": rng.random((6, 3)), 'odd "name" <&>': np.arange(6)}
    write_vtu(tmp_path / "m.vtu", mesh, arrays)
    found, raw = read_vtu(tmp_path / "m.vtu"), meshio.read(tmp_path / "m.vtu")
    for name, values in {**arrays, "id": mesh.cell_data["id"]}.items():
        assert np.array_equal(found["CellData"][name], values), name
        assert np.array_equal(np.concatenate(raw.cell_data[name]), values), name
    assert np.array_equal(found["points"], mesh.points)


def test_cells_keep_their_order_and_nodes(tmp_path):
    mesh = mixed()
    write_vtu(tmp_path / "m.vtu", mesh)
    found = read_vtu(tmp_path / "m.vtu")["cells"]
    assert [t for t, _ in found] == [10, 13, 12, 10, 10, 14]
    # VTK's wedge has the normal of its first triangle outside, the others' has it inside
    assert found[1][1] == [0, 2, 1, 3, 5, 4]
    assert found[3][1] == [8, 9, 10, 11]
    again = read_mesh(tmp_path / "m.vtu")
    assert [t for t, _ in again.blocks] == [t for t, _ in mesh.blocks]
    assert all(np.array_equal(a[1], b[1]) for a, b in zip(again.blocks, mesh.blocks, strict=True))


def test_arrays_of_several_blocks(tmp_path):
    """More than 1 MiB, and exactly 1 MiB, so that the last block is partial and is not."""
    for n in (200_000, 2**17, 2**17 + 1):
        points = np.random.default_rng(n).random((n, 3))
        grid = Grid(points, np.array([0, 1]), np.array([n - 1]), np.array([1], np.uint8))
        write_grid(tmp_path / "m.vtu", grid, {}, {"x": points[:, 0]})
        assert np.array_equal(read_vtu(tmp_path / "m.vtu")["PointData"]["x"], points[:, 0])
        assert np.array_equal(meshio.read(tmp_path / "m.vtu").points, points)


def test_polyhedra_are_read_back(tmp_path):
    mesh = as_polyhedra(cube("hexa", 3))
    write_vtu(tmp_path / "p.vtu", mesh, {"part": np.arange(27)})
    found = read_vtu(tmp_path / "p.vtu")
    solid = mesh.polyhedra
    for c in (0, 13, 26):
        mine = np.flatnonzero((solid.owner == c) | (solid.neighbour == c))
        want = {frozenset(solid.nodes[solid.start[f]:solid.start[f + 1]].tolist()) for f in mine}
        assert {frozenset(face) for face in found["faces"][c]} == want
        assert found["cells"][c][0] == 42
        assert sorted(found["cells"][c][1]) == sorted(set().union(*want))
    again = read_mesh(tmp_path / "p.vtu")
    assert np.array_equal(again.centres(), mesh.centres())
    assert again.polyhedra.nfaces == solid.nfaces
    assert again.cell_data["part"].tolist() == list(range(27))


@given(st.lists(st.lists(st.integers(3, 6), max_size=4), max_size=6))
def test_the_stream_of_faces_against_its_definition(sizes):
    rng = np.random.default_rng(0)
    faces = [[rng.integers(0, 99, n).tolist() for n in cell] for cell in sizes]
    flat = [face for cell in faces for face in cell]
    first = np.cumsum([0, *map(len, faces)])
    start = np.cumsum([0, *map(len, flat)])
    stream, ends = Faces(first, start, np.array([x for f in flat for x in f], np.int64)).stream()
    want, want_ends = [], []
    for cell in faces:
        if cell:
            want.append(len(cell))
            for face in cell:
                want += [len(face), *face]
        want_ends.append(len(want) if cell else -1)
    assert stream.tolist() == want
    assert ends.tolist() == want_ends


def test_named_groups_and_the_chosen_one_are_read_back(tmp_path):
    mesh = cube("hexa", 2).replace(
        facet_groups={"left wall": [[0, 1, 2, 3], [4, 5, 6, -1]], "empty": np.zeros((0, 4), np.int64)},
        point_groups={"a:b=c": [0, 3, 5]}, cell_groups={"zone": [1, 2]}, cell_data={"gmsh:physical": np.arange(8)})
    for interface in (None, "left wall", "a:b=c"):
        write_vtu(tmp_path / "m.vtu", mesh.replace(interface=interface))
        again = read_mesh(tmp_path / "m.vtu")
        assert again.interface == interface
        assert list(again.facet_groups) == ["left wall"]
        assert np.array_equal(again.facet_groups["left wall"], mesh.facet_groups["left wall"])
        assert again.point_groups["a:b=c"].tolist() == [0, 3, 5]
        assert {k: v.tolist() for k, v in again.cell_groups.items()} == {"zone": [1, 2]}


def test_what_vtu_cannot_hold_is_said_and_not_written(tmp_path):
    mesh = cube("hexa", 1)
    with pytest.raises(FormatError, match="array 'x': VTU files hold whole numbers and floats, not"):
        write_vtu(tmp_path / "m.vtu", mesh, {"x": np.array(["text"])})
    (tmp_path / "d" / "m.vtu").mkdir(parents=True)
    with pytest.raises(FormatError, match=r"m\.vtu: is a folder"):
        write_vtu(tmp_path / "d" / "m.vtu", mesh)
    with pytest.raises(MeshError, match=r"format stl cannot hold polyhedra; use \.vtu"):
        write_mesh(tmp_path / "m.stl", as_polyhedra(mesh))
    assert sorted(p.name for p in tmp_path.iterdir()) == ["d"]


# ---- PVTU
@settings(max_examples=15, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(st.integers(0, 2**32 - 1), st.sampled_from(["tetra", "hexa", "poly"]))
def test_pieces_make_up_the_mesh(tmp_path, seed, kind):
    rng = np.random.default_rng(seed)
    mesh = cube("tetra", 100, seed=1) if kind == "tetra" else cube("hexa", 3)
    mesh = as_polyhedra(mesh) if kind == "poly" else mesh
    k = int(rng.integers(1, 5))
    part = rng.integers(0, k, mesh.ncells).astype(np.int32)
    load = rng.random(mesh.ncells)
    files = write_pieces(tmp_path / "m.pvtu", mesh.replace(cell_data={"load": load}), part, k, {"part": part})
    assert files == ["m.pvtu", *(f"m/m_{p}.vtu" for p in range(k))]
    pieces, told = read_pvtu(tmp_path / "m.pvtu")
    assert len(pieces) == k
    start, nodes = mesh.corners
    corner = [set(nodes[a:b].tolist()) for a, b in pairwise(start.tolist())]
    owners = np.full(mesh.npoints, -1)
    for p, piece in enumerate(pieces):
        for tag, arrays in told.items():
            assert set(arrays) == set(piece[tag])
        cells, points = piece["CellData"], piece["PointData"]
        ids, ghost = cells["GlobalCellIds"], cells["vtkGhostType"]
        assert piece["ids"] == {"PointData": "GlobalPointIds", "CellData": "GlobalCellIds"}
        own = np.flatnonzero(part == p)
        assert ids[ghost == 0].tolist() == own.tolist(), "own cells in their order"
        assert ghost.tolist() == sorted(ghost.tolist()), "ghosts behind"
        touched = set().union(*(corner[c] for c in own))
        assert set(ids.tolist()) == {c for c in range(mesh.ncells) if corner[c] & touched}, "one layer round them"
        assert np.array_equal(cells["part"], part[ids])
        assert np.array_equal(cells["load"], load[ids])
        new = points["GlobalPointIds"]
        assert np.array_equal(piece["points"], mesh.points[new])
        for (_, local), c in zip(piece["cells"], ids, strict=True):
            assert set(new[local].tolist()) >= corner[c]
        if kind == "poly":
            for faces, c in zip(piece["faces"], ids, strict=True):
                assert set().union(*(set(new[f].tolist()) for f in faces)) == corner[c]
        mine = new[points["vtkGhostType"] == 0]
        assert (owners[mine] == -1).all(), "a point has one owner"
        owners[mine] = p
    used = np.unique(nodes)
    assert all(owners[n] == min(part[c] for c in range(mesh.ncells) if n in corner[c]) for n in used.tolist())


def test_a_part_without_cells_has_an_empty_piece(tmp_path):
    write_pieces(tmp_path / "m.pvtu", cube("hexa", 2), np.zeros(8, np.int32), 3)
    pieces, _ = read_pvtu(tmp_path / "m.pvtu")
    assert [len(piece["cells"]) for piece in pieces] == [8, 0, 0]


# ---- ASTE
A, B = cube("hexa", 4), cube("tetra", 300, offset=(1, 0, 0))


def joined(folder, name, nparts):
    """What precice-aste-join makes of the pieces: all points in their order, and the set of facets."""
    recovery = json.loads((folder / f"{name}_recovery.json").read_text())
    assert set(recovery) == {"size", "cells", "cell_types"}
    points = np.full((recovery["size"], 3), np.nan)
    cells = [(t, tuple(c)) for t, c in zip(recovery["cell_types"], recovery["cells"], strict=True)]
    for p in range(nparts):
        piece = read_vtu(folder / f"{name}_{p}.vtu")
        ids = piece["PointData"]["GlobalIDs"]
        assert ids.dtype == np.float64
        ids = ids.astype(int)
        assert np.isnan(points[ids]).all(), "no point in two pieces"
        points[ids] = piece["points"]
        cells += [(t, tuple(ids[c].tolist())) for t, c in piece["cells"]]
    return points, sorted(cells)


@pytest.mark.parametrize(("mesh", "other", "side"), [(A, B, "coupled_a"), (B, A, "coupled_b"),
                                                    (as_polyhedra(A), B, "coupled_a")])
@pytest.mark.parametrize("nparts", [1, 5])
def test_aste_pieces_join_to_the_coupling_surface(tmp_path, mesh, other, side, nparts):
    inter = find_interedges(A, B)
    coupled = getattr(inter, side)
    part = (np.arange(mesh.ncells) % nparts).astype(np.int32)
    files = write_aste(tmp_path, "fluid", mesh, part, nparts, coupled, [other])
    assert sorted(files) == sorted(p.name for p in tmp_path.iterdir())
    points, cells = joined(tmp_path, "fluid", nparts)
    whole = read_vtu(tmp_path / "fluid.vtu")
    assert np.array_equal(points, whole["points"])
    assert cells == sorted((t, tuple(c)) for t, c in whole["cells"])
    assert {t for t, _ in cells} == ({5} if mesh is B else {9})
    assert np.allclose(points[:, 0], 1), "the shared face and nothing else"
    assert np.array_equal(points, mesh.points[whole["PointData"]["GlobalPointIds"]])
    area = sum(np.linalg.norm(np.cross(p[1] - p[0], p[2] - p[0]) + (np.cross(p[2] - p[0], p[3] - p[0])
               if len(p) == 4 else 0)) / 2 for p in (points[list(c)] for _, c in cells))
    assert np.isclose(area, 1), "all of it"
    assert set(whole["CellData"]["GlobalCellIds"].tolist()) <= set(coupled.tolist())
    assert np.array_equal(whole["CellData"]["part"], part[whole["CellData"]["GlobalCellIds"]])


def test_a_point_goes_to_the_part_with_most_facets_at_it(tmp_path):
    mesh = cube("hexa", 2).replace(facet_groups={"top": [[0, 1, 2, 3]]})
    other = cube("hexa", 2, offset=(1, 0, 0))
    coupled = find_interedges(mesh, other).coupled_a
    part = np.full(8, 1, np.int32)
    part[coupled[0]] = 0
    write_aste(tmp_path, "m", mesh, part, 2, coupled, [other])
    whole = read_vtu(tmp_path / "m.vtu")
    facets = [set(c) for _, c in whole["cells"]]
    for n, owner in enumerate(whole["PointData"]["part"].tolist()):
        at = [int(whole["CellData"]["part"][f]) for f, c in enumerate(facets) if n in c]
        assert at.count(owner) == max(at.count(p) for p in set(at))
        assert owner == min(p for p in set(at) if at.count(p) == at.count(owner))


def test_a_named_interface_is_the_coupling_surface(tmp_path):
    square = Mesh([[0, 0], [1, 0], [2, 0], [0, 1], [1, 1], [2, 1]], [("quad", [[0, 1, 4, 3], [1, 2, 5, 4]])],
                  facet_groups={"low": [[0, 1], [1, 2]], "high": [[3, 4]]})
    owner, nodes = coupling_surface(square.select("low"), np.array([0, 1], np.int32), [])
    assert {frozenset(row) for row in nodes.tolist()} == {frozenset((0, 1)), frozenset((1, 2))}
    assert sorted(owner.tolist()) == [0, 1]
    assert write_aste(tmp_path, "s", square.select("low"), np.array([0, 1], np.int32), 2, owner, [])[0] == "s.vtu"
    assert [t for t, _ in read_vtu(tmp_path / "s.vtu")["cells"]] == [3, 3]


def test_the_tolerance_of_the_search_decides_what_is_met():
    """B is 0.2 facets away: nothing is met by default, the face is with a larger tolerance or gap."""
    mesh, other = cube("hexa", 4), cube("hexa", 4, offset=(1.07, 0, 0))
    corner = np.flatnonzero(mesh.centres()[:, 0] > .8).astype(np.int32)
    for search, count in ((None, 16 + 4 * 4), ({"tolerance": .4, "gap": None}, 16), ({"gap": .1}, 16)):
        owner, facets = coupling_surface(mesh, corner, [other], search)
        assert len(owner) == count, search
        assert np.allclose(mesh.points[facets][:, :, 0], 1) == (count == 16)
    # where the other mesh is met in a copy only, every cell keeps what it has
    owner, _ = coupling_surface(mesh, corner, [other], {"tolerance": None, "gap": None})
    assert len(owner) == 32


def test_a_shell_on_a_body_is_coupled_through_its_cells():
    y, z = np.meshgrid(np.arange(4), np.arange(4))
    shell = Mesh(np.column_stack([np.ones(16), y.ravel() / 3, z.ravel() / 3]),
                 [("quad", [[i, i + 1, i + 5, i + 4] for i in (0, 1, 2, 4, 5, 6, 8, 9, 10)])])
    coupled = find_interedges(shell, A).coupled_a
    owner, nodes = coupling_surface(shell, coupled, [A])
    assert owner.tolist() == list(range(9))
    assert nodes[4].tolist() == [5, 6, 10, 9]


def test_a_flat_mesh_beside_a_body_is_coupled_through_its_edges():
    flat = Mesh([[1, 0], [2, 0], [1, 1], [2, 1]], [("quad", [[0, 1, 3, 2]])], facet_groups={"left": [[0, 2]]})
    owner, nodes = coupling_surface(flat.select("left"), np.array([0], np.int32), [A])
    assert (owner.tolist(), nodes.tolist()) in (([0], [[0, 2]]), ([0], [[2, 0]]))


def test_cells_inside_have_no_coupling_surface():
    with pytest.raises(MeshError, match="no coupled cell has a facet on the boundary"):
        coupling_surface(cube("hexa", 3), np.array([13], np.int32), [])


def test_large_facets_are_cut_into_triangles():
    facets = np.array([[0, 1, 2, -1, -1, -1], [3, 4, 5, 6, 7, 8], [0, 1, 2, 3, -1, -1], [5, 6, 7, 8, 9, -1]])
    owner, cut = triangulated(np.array([4, 5, 6, 7], np.int32), facets)
    assert owner.tolist() == [4, 5, 5, 5, 5, 6, 7, 7, 7]
    assert cut.tolist() == [[0, 1, 2, -1], [3, 4, 5, -1], [3, 5, 6, -1], [3, 6, 7, -1], [3, 7, 8, -1], [0, 1, 2, 3],
                            [5, 6, 7, -1], [5, 7, 8, -1], [5, 8, 9, -1]]


def test_blocks_packed_side_by_side_are_the_same_file(tmp_path):
    mesh = cube("hexa", 36)  # 3 MB of nodes, and blocks have 1 MB
    x = mesh.centres()
    one, many = (write_vtu(tmp_path / f"{n}.vtu", mesh, {"x": x}, threads=n) for n in (1, 3))
    assert one.read_bytes() == many.read_bytes()
    again = read_mesh(many)
    assert np.array_equal(again.blocks[0][1], mesh.blocks[0][1])
    assert np.array_equal(again.cell_data["x"], x)


# ---- other formats
@pytest.mark.parametrize("suffix", ["ugrid", "b8.ugrid", "lr4.ugrid", "ele", "node", "xdmf", "avs", "vol.gz"])
def test_formats_of_two_files_or_suffixes_are_complete(tmp_path, suffix):
    pytest.importorskip("h5py") if suffix == "xdmf" else None
    mesh = cube("tetra", 120)
    (tmp_path / "new").mkdir()
    path = write_mesh(tmp_path / "new" / f"m.v1.{suffix}", mesh)
    others = {"ele": ["m.v1.node"], "node": ["m.v1.ele"], "xdmf": ["m.v1.h5"]}.get(suffix, [])
    assert sorted(p.name for p in (tmp_path / "new").iterdir()) == sorted([path.name, *others])
    (tmp_path / "new").rename(tmp_path / "moved")
    again = read_mesh(tmp_path / "moved" / path.name)
    assert np.allclose(again.points, mesh.points, atol=1e-6)
    assert (again.blocks[0][1] == mesh.blocks[0][1]).all()


def test_what_a_format_does_not_keep_is_said(tmp_path):
    with pytest.raises(FormatError, match=r"cannot be read back \(has no faces\); use \.vtu"):
        write_mesh(tmp_path / "m.off", cube("hexa", 2))
    assert not list(tmp_path.iterdir())


def test_the_piece_of_a_part_without_cells(tmp_path):
    mesh = cube("hexa", 10)
    write_pieces(str(tmp_path / "m.pvtu"), mesh, np.zeros(1000, int), 2)
    assert read_mesh(tmp_path / "m.pvtu").ncells == 1000
    with pytest.raises(FormatError, match="neither points nor cells"):
        read_mesh(tmp_path / "m" / "m_1.vtu")
