"""OpenFOAM meshes: every form of the files, any shape of cell, zones, regions, and files that lie."""

from __future__ import annotations

import numpy as np
import pytest

from copart.errors import FormatError
from copart.mesh import Mesh, cube, dual_graph, find_interedges, read_mesh, regions
from copart.mesh.cells import shape_of
from copart.mesh.interfaces.surface import boundary_surface
from copart.mesh.polyhedra import Polyhedra
from copart.plans.sources import open_mesh
from copart.plans.writers import openfoam_regions

from ...foam import brick, header, write
from ...helpers import ends_soon

FORMS = [{}, {"zipped": True}, {"binary": True}, {"binary": True, "label": 64}, {"binary": True, "scalar": 32},
         {"binary": True, "order": "MSB", "label": 64}, {"binary": True, "compact": False}, {"compact": True},
         {"binary": True, "arch": False}, {"binary": True, "label": 64, "scalar": 32, "arch": False},
         {"binary": True, "zipped": True}]


def edge_set(mesh):
    u, v, _ = dual_graph(mesh).edges()
    return set(zip(u.tolist(), v.tolist(), strict=True))


@pytest.mark.parametrize("form", FORMS, ids=lambda f: "-".join(f"{k}={v}" for k, v in f.items()) or "ascii")
def test_every_form_is_the_same_mesh(tmp_path, form):
    points, faces, owner, neighbour, patches = brick(4, 3, 2)
    write(tmp_path / "case/constant/polyMesh", points, faces, owner, neighbour, patches, **form,
          cell_zones={"heater": [3, 4, 23], "none": []})
    mesh = read_mesh(tmp_path / "case")
    assert mesh.name == "case"
    assert np.allclose(mesh.points, points, atol=1e-6)
    assert [(t, c.shape) for t, c in mesh.blocks] == [("hexahedron", (24, 8))]
    assert edge_set(mesh) == set(zip(owner[:len(neighbour)].tolist(), neighbour.tolist(), strict=True))
    assert {k: len(v) for k, v in mesh.facet_groups.items()} == {n: c for n, _, _, c in patches}
    assert mesh.cell_groups["heater"].tolist() == [3, 4, 23]
    assert mesh.remarks == ()
    # the cells are numbered along x, then y, then z
    assert np.allclose(mesh.centres()[[0, 1, 4, 12]] * [4, 3, 2] + 0.5, [[1, 1, 1], [2, 1, 1], [1, 2, 1], [1, 1, 2]])


def test_every_way_to_say_where_it_is(tmp_path):
    write(tmp_path / "case/constant/polyMesh", *brick(2, 1, 1))
    (tmp_path / "case" / "case.foam").touch()
    for path in ("case", "case/constant", "case/constant/polyMesh", "case/constant/polyMesh/faces", "case/case.foam"):
        assert read_mesh(tmp_path / path).ncells == 2
    (tmp_path / "case/constant/polyMesh").rename(tmp_path / "fluid-mesh")
    assert read_mesh(tmp_path / "fluid-mesh").name == "fluid-mesh"


def test_a_patch_is_what_is_coupled(tmp_path):
    write(tmp_path / "a/constant/polyMesh", *brick(3, 2, 2))
    mesh = read_mesh(tmp_path / "a", "xMax")
    surface = boundary_surface(mesh)
    assert sorted(surface.cell.tolist()) == [2, 5, 8, 11]
    assert np.allclose(surface.normal, [1, 0, 0])
    inter = find_interedges(mesh, cube("hexa", 2, offset=(1, 0, 0)))
    assert inter.coupled_a.tolist() == [2, 5, 8, 11]


def faces_of(cells):
    """Faces of ordinary cells as OpenFOAM lists them, by dictionaries: (faces, owner, neighbour)."""
    where: dict[frozenset, list] = {}
    for i, (kind, nodes) in enumerate(cells):
        for facet in shape_of(kind, len(nodes)).facets.tolist():
            row = [nodes[j] for j in facet if j >= 0]
            where.setdefault(frozenset(row), [row]).append(i)
    inner = sorted((v for v in where.values() if len(v) == 3), key=lambda v: v[1:])
    outer = [v for v in where.values() if len(v) == 2]
    return ([v[0] for v in inner + outer], [v[1] for v in inner + outer], [v[2] for v in inner])


def test_plain_cells_of_all_types_become_blocks(tmp_path):
    points = np.array([[0, 0, 0], [1, 0, 0], [1, 1, 0], [0, 1, 0], [0, 0, 1], [1, 0, 1], [1, 1, 1], [0, 1, 1],
                       [.5, .5, 2], [2, 0.5, 2], [2, 0, 0], [2, 0, 1]], float)
    cells = [("hexahedron", [0, 1, 2, 3, 4, 5, 6, 7]), ("pyramid", [4, 5, 6, 7, 8]), ("tetra", [5, 6, 8, 9]),
             ("wedge", [1, 10, 2, 5, 11, 6])]
    # facets of our shapes turn outwards, as OpenFOAM's faces do from their owner
    faces, owner, neighbour = faces_of(cells)
    inner = len(neighbour)
    write(tmp_path / "m", points, faces, owner, neighbour, [("all", "wall", inner, len(faces) - inner)])
    mesh = read_mesh(tmp_path / "m")
    assert [t for t, _ in mesh.blocks] == [t for t, _ in cells]
    for (_, rows), (_, nodes) in zip(mesh.blocks, cells, strict=True):
        assert sorted(rows[0].tolist()) == sorted(nodes)
    plain = Mesh(points, [(t, [n]) for t, n in cells])
    assert edge_set(mesh) == edge_set(plain) == {(0, 1), (1, 2), (0, 3)}
    assert len(boundary_surface(mesh).cell) == len(boundary_surface(plain).cell) == len(faces) - len(neighbour)


def polyhedral(n=4):
    """A brick in which pairs of hexahedra along x are one cell of ten faces each."""
    points, faces, owner, neighbour, patches = brick(2 * n, 3, 2)
    other = np.full(len(faces), -1)
    other[:len(neighbour)] = neighbour // 2
    owner = owner // 2
    keep = owner != other
    faces, owner, other = faces[keep], owner[keep], other[keep]
    gone = int((~keep).sum())
    return points, faces, owner, other[other >= 0], [(name, k, s - gone, c) for name, k, s, c in patches]


@pytest.mark.parametrize("form", [{}, {"binary": True}])
def test_polyhedra(tmp_path, form):
    points, faces, owner, neighbour, patches = polyhedral()
    write(tmp_path / "m", points, faces, owner, neighbour, patches, **form)
    mesh = read_mesh(tmp_path / "m")
    assert mesh.polyhedra is not None
    assert repr(mesh).startswith("Mesh('m': 24 polyhedron in 3D, 108 points")
    whole = cube("hexa", 1)  # twelve nodes per cell: the corners of two hexahedra
    assert (np.diff(mesh.corners[0]) == 12).all()
    assert len(whole.corners[1]) == 8
    assert edge_set(mesh) == edge_set(read_mesh(brick_mesh(4, 3, 2)))
    assert np.allclose(mesh.centres(), brick_mesh(4, 3, 2).centres())
    surface = boundary_surface(mesh.select("yMin"))
    assert len(surface.cell) == 16
    assert np.allclose(surface.normal, [0, -1, 0])
    assert len(boundary_surface(mesh).cell) == sum(c for *_, c in patches)


def brick_mesh(nx, ny, nz):
    """The same brick of hexahedra, made without OpenFOAM's files."""
    points, *_ = brick(nx, ny, nz)
    i, j, k = (a.ravel() for a in np.meshgrid(range(nx), range(ny), range(nz), indexing="ij"))
    order = np.lexsort((i, j, k))
    i, j, k = i[order], j[order], k[order]

    def node(di, dj, dk):
        return ((k + dk) * (ny + 1) + j + dj) * (nx + 1) + i + di

    corners = [(0, 0, 0), (1, 0, 0), (1, 1, 0), (0, 1, 0), (0, 0, 1), (1, 0, 1), (1, 1, 1), (0, 1, 1)]
    return Mesh(points, [("hexahedron", np.column_stack([node(*c) for c in corners]))])


def test_part_of_a_polyhedral_mesh(tmp_path):
    points, faces, owner, neighbour, patches = polyhedral()
    write(tmp_path / "m", points, faces, owner, neighbour, patches, cell_zones={"left": [0, 4, 8, 12, 16, 20, 1]})
    part = read_mesh(tmp_path / "m", "left")
    assert part.ncells == 7
    chosen = [0, 1, 4, 8, 12, 16, 20]
    assert edge_set(part) == {(chosen.index(a), chosen.index(b)) for a, b in edge_set(read_mesh(tmp_path / "m"))
                              if a in chosen and b in chosen}
    assert len(part.facet_groups["xMin"]) == 6
    assert "xMax" not in part.facet_groups
    # every face turns its back on its owner, those too whose owner is not in the part
    solid = part.polyhedra
    corners = part.points[solid.padded(np.arange(solid.nfaces))]
    normal = np.cross(corners[:, 1] - corners[:, 0], corners[:, 2] - corners[:, 0])
    assert (np.einsum("fd,fd->f", normal, corners.mean(axis=1) - part.centres()[solid.owner]) > 0).all()


def test_faces_of_cells_say_the_same_as_owner_and_neighbour():
    hexa = brick_mesh(3, 2, 1)
    cells = [[[row[j] for j in facet if j >= 0] for facet in shape_of("hexahedron", 8).facets.tolist()]
             for row in hexa.blocks[0][1].tolist()]
    mesh = Mesh(hexa.points, polyhedra=Polyhedra.from_cells(cells))
    assert edge_set(mesh) == edge_set(hexa)
    assert np.allclose(mesh.centres(), hexa.centres())
    assert mesh.bounds.tolist() == hexa.bounds.tolist()


def test_regions_are_components(tmp_path):
    write(tmp_path / "case/constant/fluid/polyMesh", *brick(2, 2, 2))
    points, *rest = brick(3, 3, 3)
    write(tmp_path / "case/constant/solid/polyMesh", points + np.array([1, 0, 0]), *rest)
    mesh = read_mesh(tmp_path / "case")
    assert {k: len(v) for k, v in mesh.cell_groups.items()} == {"fluid": 8, "solid": 27}
    parts = regions(mesh)
    assert len(parts["solid"].facet_groups["xMin"]) == 9
    assert len(find_interedges(parts["fluid"].select("xMax"), parts["solid"].select("xMin"))) == 16
    assert read_mesh(tmp_path / "case/constant/solid").name == "solid"
    # a mesh beside the regions is one of them, as for films on walls, ...
    write(tmp_path / "case/constant/polyMesh", *brick(1, 1, 1))
    both = read_mesh(tmp_path / "case")
    assert {k: len(v) for k, v in both.cell_groups.items()} == {"region0": 1, "fluid": 8, "solid": 27}
    assert read_mesh(tmp_path / "case/constant/polyMesh").ncells == 1
    assert openfoam_regions(str(tmp_path / "case"), both)[None].tolist() == [0]


@pytest.mark.parametrize("trace", ["regionProperties", "fluid/polyMesh/cellRegionAddressing"])
def test_regions_stand_for_the_mesh_that_they_were_made_of(tmp_path, trace):
    """... unless splitMeshRegions made them: the zones of the whole mesh are left in each, most of them empty."""
    for i, name in enumerate(("fluid", "solid")):
        points, *rest = brick(2, 2, 1)
        write(tmp_path / f"constant/{name}/polyMesh", points + np.array([i, 0, 0]), *rest)
        zones = "".join(f"{zone}\n{{\n type cellZone;\n cellLabels List<label> {cells};\n}}\n"
                        for zone, cells in (("fluid", "0()"), ("solid", "4(0 1 2 3)"), ("hot", "2(1 3)")))
        (tmp_path / f"constant/{name}/polyMesh/cellZones").write_text(
            f"FoamFile {{ version 2.0; format ascii; class regIOobject; object cellZones; }}\n3\n(\n{zones})\n")
    write(tmp_path / "constant/polyMesh", *brick(4, 2, 1))
    (tmp_path / "constant" / trace).write_text("")
    for path in (tmp_path, tmp_path / "constant"):
        mesh = read_mesh(path)
        assert {k: len(v) for k, v in mesh.cell_groups.items()} == {"fluid": 4, "hot": 4, "solid": 4}
        assert mesh.cell_groups["solid"].tolist() == [4, 5, 6, 7]
    assert read_mesh(tmp_path / "constant/polyMesh").ncells == 8
    assert open_mesh(f"{tmp_path}:solid:xMin").facet_groups["xMin"].shape[0] == 2


def test_patches_that_join_cells_are_remarked(tmp_path):
    points, faces, owner, neighbour, patches = brick(2, 2, 1)
    kinds = ["cyclic", "cyclic", "wall", "wall", "empty", "patch"]
    write(tmp_path, points, faces, owner, neighbour,
          [(n, kind, s, c) for (n, _, s, c), kind in zip(patches, kinds, strict=True)])
    remarks = " ".join(read_mesh(tmp_path).remarks)
    assert "across the patches xMin, xMax (cyclic)" in remarks
    assert "zMin are of type empty" in remarks


def test_headers_with_macros_and_comments(tmp_path):
    write(tmp_path, *brick(2, 1, 1))
    path = tmp_path / "boundary"
    text = path.read_text().replace("ascii;", "$mode;").replace("    format", "    mode ascii;\n    format")
    path.write_text(text.replace("\n6\n(", "\nn 1; // of x\n6\n(", 1).replace("nFaces 1;", "nFaces $n;"))
    assert len(read_mesh(tmp_path).facet_groups["xMin"]) == 1


# ---- files that lie
@pytest.mark.parametrize(("name", "old", "new", "message"), [
    ("points", "FoamFile", "NotFoam", "points:4: not an OpenFOAM file"),
    ("points", "format      ascii", "format      excel", "format must be ascii or binary"),
    ("points", "format      ascii", "format      $mode", r"macro \$mode is not defined"),
    ("points", "\n12\n(", "\n13\n(", "points:15: 13 announced, 12 entries found"),
    ("points", "\n12\n(", "\n999999999\n(", "points:14: 999999999 entries announced, which a file of"),
    ("points", "(0.5 0.0 0.0)", "(0.5 x 0.0)", "points:17: an entry is not a number: 'x'"),
    ("points", "(0.5 0.0 0.0)", "(0.5 nan 0.0)", "1 of 12 are not finite, first at index 1"),
    ("points", "(0.5 0.0 0.0)", "(0.5 0.0)", "36 numbers announced, 35 found"),
    ("points", "\n12\n(\n(0.0", "\n(\n(", "36 numbers announced, 35 found"),
    ("faces", "4(", "3(", "do not add up"),
    ("faces", "4(1 4 10 7)", "4(1 4 10 12)", "faces: entry 3 is node 12, outside the 12 points"),
    ("faces", "4(1 4 10 7)", "4(1 4 10 -7)", "is node -7, outside"),
    ("faces", "4(1 4 10 7)", "2(1 4)", "at least 3 nodes"),
    ("owner", "\n11\n(", "\n12\n(", "owner:15: 12 numbers announced, 11 found"),
    ("owner", "(\n0\n", "(\n", "11 numbers announced, 10 found"),
    ("owner", "(\n0\n", "(\n99999999999999999999\n", "cell 9223372036854775807, outside"),
    ("owner", "(\n0\n", "(\n-1\n", "cell -1, outside"),
    ("owner", "(\n0\n", "(\n20\n", "20 of 21 cells have no face|cells have no face"),
    ("neighbour", "(\n1\n", "(\n0\n", "one cell on both sides, first at index 0: cell 0"),
    ("neighbour", "(\n1\n)", "(\n1\n", "is not closed: the file is truncated"),
    ("boundary", "nFaces 1;", "nFaces -1;", "patch xMin: nFaces needs a whole number, has '-1'"),
    ("boundary", "nFaces 1;", "nFaces 11;", r"faces 1..11 are outside the 11 faces"),
    ("boundary", "startFace 1;", "startFace 0;", "face 0 is not on the boundary"),
    ("boundary", "\n6\n(", "\n7\n(", "7 patches announced, 6 found"),
    ("boundary", "    xMax\n    {", "    xMax\n", "expected { after the name of patch 'xMax'"),
    ("boundary", "    xMax\n", "    #include \"more\"\n", "directive #include is not supported"),
])
def test_ill_formed(tmp_path, name, old, new, message):
    write(tmp_path, *brick(2, 1, 1))
    path = tmp_path / name
    text = path.read_text()
    assert old in text
    path.write_text(text.replace(old, new, 1))
    with pytest.raises(FormatError, match=message) as caught:
        read_mesh(tmp_path)
    assert "\n" not in str(caught.value)


@pytest.mark.parametrize("form", [{}, {"binary": True}, {"zipped": True}])
@pytest.mark.parametrize("name", ["points", "faces", "owner", "neighbour", "boundary"])
def test_truncated_anywhere(tmp_path, form, name):
    write(tmp_path, *brick(2, 2, 1), **form)
    path = tmp_path / (f"{name}.gz" if form.get("zipped") else name)
    whole = path.read_bytes()
    assert read_mesh(tmp_path).ncells == 4
    for size in range(0, len(whole.rstrip()), 7):
        path.write_bytes(whole[:size])
        with pytest.raises(FormatError):
            read_mesh(tmp_path)


def test_missing_files_and_folders(tmp_path):
    write(tmp_path / "case/constant/polyMesh", *brick(2, 1, 1))
    (tmp_path / "case/constant/polyMesh/neighbour").unlink()
    with pytest.raises(FormatError, match="neighbour: no such file"):
        read_mesh(tmp_path / "case")
    (tmp_path / "split/processor0").mkdir(parents=True)
    with pytest.raises(FormatError, match="reconstructParMesh"):
        read_mesh(tmp_path / "split")


def test_a_uniform_list(tmp_path):
    points, faces, owner, neighbour, patches = brick(1, 1, 1)
    write(tmp_path, points, faces, owner, neighbour, patches)
    (tmp_path / "owner").write_bytes(header("labelList", "owner") + b"6{0}\n")
    assert read_mesh(tmp_path).ncells == 1


@pytest.mark.slow
def test_many_cells(tmp_path):
    write(tmp_path, *brick(40, 40, 40), binary=True)
    with ends_soon():
        assert read_mesh(tmp_path).ncells == 64_000


@pytest.mark.parametrize("written", ["{}", '"{}"'])
def test_names_of_patches_and_zones_with_parentheses_and_letters_beyond_ascii(tmp_path, written):
    names = ["wall(1)", "größe", "a(b)-(c)", "x"]
    *cells, patches = brick(2, 2, 2)
    named = [(written.format(name), *patch[1:]) for name, patch in zip(names, patches, strict=False)]
    zones = {written.format("zone(2)"): [0, 1]}
    write(tmp_path / "case/constant/polyMesh", *cells, named + patches[4:], cell_zones=zones)
    mesh = read_mesh(tmp_path / "case")
    assert list(mesh.facet_groups)[:4] == names
    assert mesh.cell_groups["zone(2)"].tolist() == [0, 1]
    assert mesh.select("größe").interface == "größe"
