"""Exodus and MED files: blocks, side sets, node sets and families as groups; what is said when a package is missing."""

from __future__ import annotations

import sys

import meshio
import numpy as np
import pytest

from copart.errors import FormatError
from copart.mesh import cube, read_mesh
from copart.mesh.cells import shape_of
from copart.mesh.interfaces.surface import boundary_surface
from copart.mesh.readers.exodus import _SIDES


def write(path, points, blocks, side_sets=(), node_sets=(), names=True, form="NETCDF4", split=True):
    """An Exodus file: blocks of (name, type, nodes from 0), side sets of (name, elements, sides from 1)."""
    netcdf = pytest.importorskip("netCDF4")
    points = np.asarray(points, float)
    with netcdf.Dataset(path, "w", format=form) as data:
        for name, size in (("len_string", 33), ("num_dim", points.shape[1]), ("num_nodes", len(points)),
                           ("num_el_blk", len(blocks)), ("num_side_sets", len(side_sets)),
                           ("num_node_sets", len(node_sets))):
            if size:
                data.createDimension(name, size)
        if split:
            for k in range(points.shape[1]):
                data.createVariable("coord" + "xyz"[k], "f8", ("num_nodes",))[:] = points[:, k]
        else:
            data.createVariable("coord", "f8", ("num_dim", "num_nodes"))[:] = points.T
        for prefix, dimension, sets in (("eb", "num_el_blk", blocks), ("ss", "num_side_sets", side_sets),
                                        ("ns", "num_node_sets", node_sets)):
            if not sets:
                continue
            data.createVariable(f"{prefix}_prop1", "i4", (dimension,))[:] = 10 * np.arange(1, len(sets) + 1)
            if names:
                table = np.zeros((len(sets), 33), "S1")
                for i, (name, *_) in enumerate(sets):
                    table[i, :len(name)] = list(name)
                data.createVariable(f"{prefix}_names", "S1", (dimension, "len_string"))[:] = table
        for i, (_, kind, nodes) in enumerate(blocks, start=1):
            nodes = np.asarray(nodes)
            data.createDimension(f"num_el_in_blk{i}", len(nodes))
            data.createDimension(f"num_nod_per_el{i}", nodes.shape[1])
            connect = data.createVariable(f"connect{i}", "i4", (f"num_el_in_blk{i}", f"num_nod_per_el{i}"))
            connect.elem_type = kind
            connect[:] = nodes + 1
        for i, (_, elements, sides) in enumerate(side_sets, start=1):
            data.createDimension(f"num_side_ss{i}", len(elements))
            data.createVariable(f"elem_ss{i}", "i4", (f"num_side_ss{i}",))[:] = np.asarray(elements)
            data.createVariable(f"side_ss{i}", "i4", (f"num_side_ss{i}",))[:] = np.asarray(sides)
        for i, (_, nodes) in enumerate(node_sets, start=1):
            data.createDimension(f"num_nod_ns{i}", len(nodes))
            data.createVariable(f"node_ns{i}", "i4", (f"num_nod_ns{i}",))[:] = np.asarray(nodes) + 1
    return path


def case(tmp_path, **options):
    """Eight hexahedra in two blocks, the sides at x = 1 and the nodes at x = 0."""
    mesh = cube("hexa", 2)
    cells = mesh.blocks[0][1]
    right = [i for i in range(8) if mesh.centres()[i, 0] > 0.5]
    # which side of each faces x = 1
    sides = [next(s for s, corners in enumerate(_SIDES["hexahedron"], start=1)
                  if (mesh.points[cells[i][list(corners)], 0] == 1).all()) for i in right]
    left = np.flatnonzero(mesh.points[:, 0] == 0)
    return mesh, write(tmp_path / "m.e", mesh.points, [("solid", "HEX8", cells[:5]), ("hot", "hex", cells[5:])],
                       [("wet", np.array(right) + 1, sides)], [("fixed", left)], **options)


@pytest.mark.parametrize("options", [{}, {"form": "NETCDF3_CLASSIC"}, {"split": False}], ids=str)
def test_blocks_and_sets(tmp_path, options):
    mesh, path = case(tmp_path, **options)
    found = read_mesh(path)
    assert np.concatenate([c for _, c in found.blocks]).tolist() == mesh.blocks[0][1].tolist()
    assert {k: v.tolist() for k, v in found.cell_groups.items()} == {"solid": [0, 1, 2, 3, 4], "hot": [5, 6, 7]}
    wet = boundary_surface(found.select("wet"))
    assert len(wet.cell) == 4
    assert (wet.corners[:, :, 0] == 1).all()
    assert len(boundary_surface(found.select("fixed")).cell) == 4
    assert found.remarks == ()


def test_numbers_where_there_are_no_names(tmp_path):
    found = read_mesh(case(tmp_path, names=False)[1])
    assert list(found.cell_groups) == ["block_10", "block_20"]
    assert (list(found.facet_groups), list(found.point_groups)) == (["sideset_10"], ["nodeset_10"])


@pytest.mark.parametrize("kind", list(_SIDES))
def test_sides_are_the_facets(kind):
    width = 1 + max(max(s) for s in _SIDES[kind])
    facets = {frozenset(int(i) for i in row if i >= 0) for row in shape_of(kind, width).facets}
    assert {frozenset(s) for s in _SIDES[kind]} == facets


def test_shells_have_two_faces_and_edges(tmp_path):
    points = [[0, 0, 0], [1, 0, 0], [1, 1, 0], [0, 1, 0], [2, 0, 0], [2, 1, 0]]
    path = write(tmp_path / "s.exo", points, [("plate", "SHELL4", [[0, 1, 2, 3], [1, 4, 5, 2]])],
                 [("top", [1, 2], [1, 1]), ("end", [2], [4])])
    found = read_mesh(path)
    assert found.cell_groups["top"].tolist() == [0, 1]
    assert found.facet_groups["end"].tolist() == [[4, 5]]


def test_second_order_in_vtk_order(tmp_path):
    # mid-side nodes of a hexahedron: bottom, vertical, top in Exodus; bottom, top, vertical in VTK
    path = write(tmp_path / "h.e", np.random.default_rng(0).random((20, 3)), [("b", "HEX20", [list(range(20))])])
    assert read_mesh(path).blocks[0][1][0].tolist() == [*range(12), 16, 17, 18, 19, 12, 13, 14, 15]


def test_as_meshio_writes_it(tmp_path):
    pytest.importorskip("netCDF4")
    mesh = cube("tetra", 200)
    meshio.write(tmp_path / "m.e", meshio.Mesh(mesh.points, mesh.blocks, point_sets={"some": np.arange(7)}))
    found = read_mesh(tmp_path / "m.e")
    assert np.array_equal(found.points, mesh.points)
    assert np.array_equal(found.blocks[0][1], mesh.blocks[0][1])
    assert found.point_groups["some"].tolist() == list(range(7))


@pytest.mark.parametrize(("change", "message"), [
    ({"blocks": [("a", "NSIDED", [[0, 1, 2]])]}, "block a: elements of type 'NSIDED' are not supported"),
    ({"blocks": [("a", "TRI3", [[0, 1, 9]])]}, "point outside the 4 points"),
    ({"blocks": [("a", "TRI3", [[0, 1, -1]])]}, "point outside the 4 points"),
    ({"side_sets": [("w", [3], [1])]}, "side set w: an element is outside 1..2"),
    ({"side_sets": [("w", [1], [4])]}, "side set w: a triangle has no side 4"),
    ({"node_sets": [("w", [7])]}, "point group 'w': 1 of 1 entries are outside 0..3"),
    ({"points": [[0, 0], [1, 0], [np.nan, 1], [0, 1]]}, "1 of 4 are not finite"),
])
def test_ill_formed(tmp_path, change, message):
    given = {"points": [[0, 0], [1, 0], [1, 1], [0, 1]], "blocks": [("a", "TRI3", [[0, 1, 2], [0, 2, 3]])], **change}
    with pytest.raises(FormatError, match=message):
        read_mesh(write(tmp_path / "m.e", **given))


def test_truncated(tmp_path):
    path = case(tmp_path)[1]
    whole = path.read_bytes()
    for share in (0.1, 0.5, 0.9):
        path.write_bytes(whole[:int(share * len(whole))])
        with pytest.raises(FormatError):
            read_mesh(path)


@pytest.mark.parametrize(("package", "suffix"), [("netCDF4", "e"), ("h5py", "med")])
def test_a_missing_package_is_named(tmp_path, monkeypatch, package, suffix):
    (tmp_path / f"m.{suffix}").write_bytes(b"\x89HDF")
    monkeypatch.setitem(sys.modules, package, None)
    with pytest.raises(FormatError, match=rf"need the package {package}: pip install 'copart\[mesh\]'"):
        read_mesh(tmp_path / f"m.{suffix}")


def test_arrays_larger_than_their_file_are_not_read(tmp_path):
    h5py = pytest.importorskip("h5py")
    mesh = cube("hexa", 1)
    meshio.write(tmp_path / "m.med", meshio.Mesh(mesh.points, mesh.blocks))
    with h5py.File(tmp_path / "m.med", "a") as data:
        data.create_dataset("huge", (10**11,), "f8", chunks=(1000,))
    with pytest.raises(FormatError, match=r"array huge of shape \(100000000000,\) is larger than the file can hold"):
        read_mesh(tmp_path / "m.med")
    path = write(tmp_path / "m.e", np.eye(4)[:, :3], [("a", "TET4", [[0, 1, 2, 3]])])
    with pytest.importorskip("netCDF4").Dataset(path, "a") as data:
        data.createDimension("num_nod_ns1", 10**11)
        data.createDimension("num_node_sets", 1)
        data.createVariable("node_ns1", "i4", ("num_nod_ns1",), chunksizes=(1000,))
    with pytest.raises(FormatError, match=r"variable node_ns1 of shape .* is larger than the file can hold"):
        read_mesh(path)


def test_families_of_med(tmp_path):
    pytest.importorskip("h5py")
    mesh = cube("hexa", 3)
    cells = mesh.blocks[0][1]
    raw = meshio.Mesh(mesh.points, [("hexahedron", cells), ("quad", cells[:4, :4])],
                      cell_data={"cell_tags": [np.repeat([-1, -2], [20, 7]), np.full(4, -3)]},
                      point_data={"point_tags": np.repeat([1, 0], [10, 54])})
    # a family is the cells that are in the same groups
    raw.cell_tags, raw.point_tags = {-1: ["fluid"], -2: ["fluid", "hot"], -3: ["wall"]}, {1: ["corner"]}
    meshio.write(tmp_path / "m.med", raw)
    found = read_mesh(tmp_path / "m.med")
    assert {k: v.tolist() for k, v in found.cell_groups.items()} == {"fluid": list(range(27)),
                                                                     "hot": list(range(20, 27))}
    assert found.facet_groups["wall"].tolist() == cells[:4, :4].tolist()
    assert found.point_groups["corner"].tolist() == list(range(10))
