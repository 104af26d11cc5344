"""Reading and writing: formats, regions, and the traps of unusable files."""

from __future__ import annotations

import os
from pathlib import Path

import meshio
import numpy as np
import pytest

from copart.errors import FormatError, MeshError
from copart.mesh import Mesh, cube, dual_graph, from_meshio, read_mesh, regions, write_mesh, write_vtu
from copart.mesh.interfaces.surface import boundary_surface
from copart.mesh.readers.reading import suffix_formats

from ...helpers import ROOT, ends_soon


@pytest.fixture
def small():
    return cube("hexa", 3).replace(cell_data={"load": np.arange(27)})


@pytest.mark.parametrize("suffix", ["vtu", "vtk", "msh", "mesh", "inp", "xdmf", "med"])
def test_round_trip(small, tmp_path, suffix):
    pytest.importorskip("h5py") if suffix in ("xdmf", "med") else None
    path = write_mesh(tmp_path / f"m.{suffix}", small)
    again = read_mesh(path)
    assert again.name == "m"
    assert np.allclose(again.points, small.points)
    assert (again.blocks[0][1] == small.blocks[0][1]).all()
    assert dual_graph(again).nedges == 54


def test_vtu_keeps_given_and_own_arrays(small, tmp_path):
    write_vtu(tmp_path / "a.vtu", small, {"part": np.arange(27) % 4, "coupled": np.arange(27) < 9})
    raw = meshio.read(tmp_path / "a.vtu")
    assert raw.cell_data["part"][0].tolist() == [i % 4 for i in range(27)]
    assert raw.cell_data["coupled"][0].tolist() == [int(i < 9) for i in range(27)]
    assert raw.cell_data["load"][0].tolist() == list(range(27))


def test_arrays_follow_their_cells_through_mixed_blocks(tmp_path):
    points = np.random.default_rng(0).random((6, 2))
    mesh = Mesh(points, [("triangle", [[0, 1, 2]]), ("quad", [[0, 1, 2, 3]]), ("triangle", [[2, 3, 4], [3, 4, 5]])])
    write_vtu(tmp_path / "mixed.vtu", mesh, {"id": [10, 11, 12, 13]})
    assert read_mesh(tmp_path / "mixed.vtu").cell_data["id"].tolist() == [10, 11, 12, 13]


def test_meshio_objects_and_meshes_are_taken(small):
    raw = meshio.Mesh(small.points, [("hexahedron", small.blocks[0][1])], cell_data={"load": [np.arange(27)]})
    mesh = read_mesh(raw)
    assert mesh.ncells == 27
    assert mesh.cell_data["load"].tolist() == list(range(27))
    assert read_mesh(small) is small
    with pytest.raises(MeshError, match="got int"):
        read_mesh(3)


def test_meshio_objects_are_not_modified(small):
    points, cells = np.array(small.points), np.array(small.blocks[0][1])
    read_mesh(meshio.Mesh(points, [("hexahedron", cells)])).translated((1, 1, 1))
    assert (points == small.points).all()
    points[0] = 9
    cells[0] = 0


# ---- files that are no meshes
def bad(path, match):
    with pytest.raises(FormatError, match=match) as caught:
        read_mesh(path)
    assert str(path) in str(caught.value)
    assert "\n" not in str(caught.value)


def test_paths_that_are_no_mesh_files(tmp_path):
    bad(tmp_path / "nowhere.vtu", "no such file")
    bad(tmp_path, "is a folder")
    (tmp_path / "mesh.xyz").write_text("1 2 3")
    bad(tmp_path / "mesh.xyz", r"unknown mesh format \.xyz; known: .*\.su2.*\.vtu")
    (tmp_path / "mesh").write_text("1 2 3")
    bad(tmp_path / "mesh", "no suffix")
    for name in ("a.vtu", "a.su2", "a.msh", "a.vtk"):
        (tmp_path / name).write_text(" \n")
        bad(tmp_path / name, "the file is empty")


@pytest.mark.parametrize("suffix", ["vtu", "vtk", "msh", "mesh", "su2", "ugrid", "stl", "off", "obj", "bdf", "vol"])
def test_nonsense_is_one_error_and_silence(tmp_path, capsys, suffix):
    path = tmp_path / f"nonsense.{suffix}"
    path.write_bytes(b"this is not a mesh\n\x00\x01\x02 at all\n" * 20)
    bad(path, None)
    out, err = capsys.readouterr()
    assert out == err == ""


@pytest.mark.parametrize("suffix", ["vtu", "vtk", "msh", "mesh"])
@pytest.mark.parametrize("share", [0.15, 0.5, 0.9])
def test_truncated_files(small, tmp_path, capsys, suffix, share):
    path = write_mesh(tmp_path / f"m.{suffix}", small)
    whole = path.read_bytes()
    path.write_bytes(whole[:int(share * len(whole))])
    bad(path, None)
    assert capsys.readouterr().out == ""


@pytest.mark.parametrize(("suffix", "text"), [
    ("off", "OFF\n# nothing\n"), ("ply", "ply\nformat ascii 1.0\ncomment\n"), ("tec", 'TITLE = "x"\n'),
    ("mdpa", "Begin Nodes\n1 0 0 0\n"), ("node", "# nothing\n"), ("nas", "$ nothing\n"),
])
def test_readers_that_look_for_more_find_the_end(tmp_path, suffix, text):
    (tmp_path / f"m.{suffix}").write_text(text)
    (tmp_path / "m.ele").write_text("# nothing\n")
    with ends_soon():
        bad(tmp_path / f"m.{suffix}", None)


@pytest.mark.parametrize("suffix", ["off", "ply", "obj", "stl", "avs", "nas", "dat", "mdpa", "dato"])
def test_triangles_in_formats_of_surfaces(tmp_path, suffix):
    points = np.array([[0, 0, 0], [1, 0, 0], [0, 1, 0], [1, 1, 0]], float)
    meshio.write(tmp_path / f"t.{suffix}", meshio.Mesh(points, [("triangle", np.array([[0, 1, 2], [1, 3, 2]]))]))
    mesh = read_mesh(tmp_path / f"t.{suffix}")
    assert (mesh.ncells, mesh.dimension) == (2, 2)
    assert sorted(mesh.points.tolist()) == sorted(points.tolist())


def test_points_only(tmp_path):
    meshio.write_points_cells(tmp_path / "p.vtk", np.random.default_rng(0).random((5, 3)), [("vertex", [[0], [1]])])
    bad(tmp_path / "p.vtk", "points only, no cells")


def test_nan_coordinates(tmp_path):
    points = np.array(cube("hexa", 1).points)
    points[3, 1] = np.nan
    meshio.write_points_cells(tmp_path / "n.vtu", points, [("hexahedron", [list(range(8))])], binary=False)
    bad(tmp_path / "n.vtu", "1 of 8 are not finite, first at index 3")


def test_cells_that_point_nowhere(tmp_path):
    (tmp_path / "far.off").write_text("OFF\n3 1 0\n0 0 0\n1 0 0\n0 1 0\n3 0 1 7\n")
    bad(tmp_path / "far.off", "1 of 1 point outside the 3 points, first cell 0: node 7")


def test_unsupported_cells(tmp_path):
    text = """<VTKFile type="UnstructuredGrid" version="0.1" byte_order="LittleEndian"><UnstructuredGrid>
<Piece NumberOfPoints="3" NumberOfCells="1"><Points><DataArray type="Float64" NumberOfComponents="3" format="ascii">
0 0 0 1 0 0 0 1 0</DataArray></Points><Cells><DataArray type="Int32" Name="connectivity" format="ascii">0 1 2
</DataArray><DataArray type="Int32" Name="offsets" format="ascii">3</DataArray>
<DataArray type="Int32" Name="types" format="ascii">%d</DataArray></Cells></Piece></UnstructuredGrid></VTKFile>"""
    (tmp_path / "good.vtu").write_text(text % 5)
    assert read_mesh(tmp_path / "good.vtu").ncells == 1
    (tmp_path / "bad.vtu").write_text(text % 99)
    bad(tmp_path / "bad.vtu", None)


def test_a_msh_file_of_calculix(tmp_path):
    (tmp_path / "all.msh").write_text(
        "*NODE, NSET=Nall\n1,0,0,0\n2,1,0,0\n3,0,1,0\n4,0,0,1\n5,1,1,1\n"
        "*ELEMENT, TYPE=C3D4, ELSET=Eall\n1,1,2,3,4\n2,2,3,4,5\n")
    mesh = read_mesh(tmp_path / "all.msh")
    assert repr(mesh) == "Mesh('all': 2 tetra in 3D, 5 points, cell group Eall, point group Nall)"
    assert dual_graph(mesh).nedges == 1


# ---- regions
def test_regions_by_physical_group():
    path = ROOT / "meshes" / "channel-plate.msh"
    parts = regions(read_mesh(path))
    assert list(parts) == ["fluid", "solid"]
    assert (parts["fluid"].ncells, parts["solid"].ncells) == (800, 92)
    assert read_mesh(path, "solid").ncells == 92
    assert read_mesh(path, ("gmsh:physical", 1)).npoints == 451
    assert read_mesh(path, ("gmsh:physical", "1")).ncells == 800
    with pytest.raises(MeshError, match=r"no group 'air'; it has: cell groups fluid, solid$"):
        read_mesh(path, "air")
    with pytest.raises(MeshError, match=r"gmsh:physical=3; it has: gmsh:physical=1, gmsh:physical=2"):
        read_mesh(path, ("gmsh:physical", 3))
    with pytest.raises(MeshError, match="numeric, got 'x'"):
        read_mesh(path, ("gmsh:physical", "x"))
    with pytest.raises(MeshError, match=r"no cell array 'zone'; it has: gmsh:physical"):
        read_mesh(path, ("zone", 3))


def test_regions_cover_the_mesh_and_keep_data(small):
    mesh = small.replace(cell_data={"load": np.arange(27), "mat": np.arange(27) % 3})
    parts = regions(mesh, "mat")
    assert list(parts) == ["0", "1", "2"]
    assert sorted(x for p in parts.values() for x in p.cell_data["load"]) == list(range(27))


# ---- writing
def test_nothing_half_written(small, tmp_path):
    with pytest.raises(MeshError, match="'part': needs 27 entries"):
        write_vtu(tmp_path / "a.vtu", small, {"part": [1, 2]})
    with pytest.raises(FormatError, match=r"end in \.vtu"):
        write_vtu(tmp_path / "a.txt", small)
    with pytest.raises(FormatError, match="folder does not exist"):
        write_vtu(tmp_path / "no" / "a.vtu", small)
    with pytest.raises(FormatError, match="unknown mesh format"):
        write_mesh(tmp_path / "a.xyz", small)
    (tmp_path / "old.stl").write_text("kept")
    with pytest.raises(FormatError, match="stl cannot hold these cells, hexahedron"):
        write_mesh(tmp_path / "old.stl", small)
    assert (tmp_path / "old.stl").read_text() == "kept"
    assert os.listdir(tmp_path) == ["old.stl"]


def test_written_files_are_readable_by_others(small, tmp_path):
    mask = os.umask(0o022)
    try:
        path = write_vtu(tmp_path / "a.vtu", small)
    finally:
        os.umask(mask)
    assert path.stat().st_mode & 0o777 == 0o644


def test_formats_by_suffix():
    assert suffix_formats(Path("a.VTU")) == ["vtu"]
    assert suffix_formats(Path("a.dato.gz")) == ["permas"]


def test_arrays_on_points_are_left_out_and_said(tmp_path):
    mesh = cube("hexa", 1)
    meshio.write(tmp_path / "p.vtu", meshio.Mesh(mesh.points, mesh.blocks, point_data={"p": np.zeros(8)}))
    assert read_mesh(tmp_path / "p.vtu").remarks == ("arrays on points are left out: p",)


def test_named_sets_of_meshio():
    mesh = cube("hexa", 2)
    cells = mesh.blocks[0][1]
    raw = meshio.Mesh(mesh.points, [("hexahedron", cells), ("quad", cells[:2, :4])],
                      cell_sets={"half": [np.arange(4), np.zeros(0, int)], "face": [None, np.array([1])]},
                      point_sets={"few": np.array([3, 1])})
    found = from_meshio(raw)
    assert found.cell_groups["half"].tolist() == [0, 1, 2, 3]
    assert found.facet_groups["face"].tolist() == [cells[1, :4].tolist()]
    assert found.point_groups["few"].tolist() == [1, 3]
    assert found.remarks == ("cells of lower dimension that belong to no named group are left out: 1 quad",)
    raw.cell_sets["half"][0] = np.array([8])
    with pytest.raises(MeshError, match=r"set 'half': needs whole numbers in 0\.\.7"):
        from_meshio(raw)


def test_numbered_boundaries_of_medit(tmp_path):
    mesh = cube("hexa", 2)
    cells = mesh.blocks[0][1]
    raw = meshio.Mesh(mesh.points, [("hexahedron", cells), ("quad", cells[:3, :4])],
                      cell_data={"medit:ref": [np.repeat([4, 5], 4), np.array([7, 7, 0])]})
    meshio.write(tmp_path / "m.mesh", raw)
    found = read_mesh(tmp_path / "m.mesh")
    assert {k: v.tolist() for k, v in found.cell_groups.items()} == {"4": [0, 1, 2, 3], "5": [4, 5, 6, 7]}
    assert found.facet_groups["7"].tolist() == cells[:2, :4].tolist()
    assert found.remarks == ("cells of lower dimension that belong to no named group are left out: 1 quad",)


# ---- SU2
SU2 = """NZONE= 2
IZONE= 1
NDIME= 2
NELEM= 2  % a comment
5 0 1 2 0

5 0 2 3 1
NPOIN= 4
0 0 0
1 0 1
1 1 2
0 1 3
NMARK= 1
MARKER_TAG= right
MARKER_ELEMS= 1
3 1 2
IZONE= 2
NDIME= 2
NELEM= 1
9 0 1 2 3
NPOIN= 4
1 0
2 0
2 1
1 1
NMARK= 1
MARKER_TAG= left
MARKER_ELEMS= 1
3 3 0
"""


def test_su2_zones_and_markers(tmp_path):
    (tmp_path / "m.su2").write_text(SU2)
    mesh = read_mesh(tmp_path / "m.su2")
    assert mesh.cell_data["zone"].tolist() == [1, 1, 2]
    assert {name: rows.tolist() for name, rows in mesh.facet_groups.items()} == {"right": [[1, 2]], "left": [[7, 4]]}
    zones = regions(mesh, "zone")
    assert zones["2"].bounds.tolist() == [[1, 0, 0], [2, 1, 0]]
    assert read_mesh(tmp_path / "m.su2", ("zone", 1)).ncells == 2


def test_su2_markers_are_boundaries_of_their_zone(tmp_path):
    (tmp_path / "m.su2").write_text(SU2)
    left = read_mesh(tmp_path / "m.su2").select(("zone", 2)).select("left")
    assert boundary_surface(left).corners[0, :, 0].tolist() == [1, 1]
    with pytest.raises(MeshError, match="no group 'right'; it has: facet groups left"):
        left.select("right")


# as SU2 wrote periodic meshes once: copied points last, with their number in the header, and who sends to whom
OLD_SU2 = """NDIME= 2
NELEM= 2 2
9 0 1 3 2 0
9 2 3 5 4 1
NPOIN= 6 4
0 0 0 0
1 0 1 1
0 1 2 2
1 1 3 3
0 2 4 4
1 2 5 5
NMARK= 3
MARKER_TAG= wall
MARKER_ELEMS= 1
3 1 3
MARKER_TAG= SEND_RECEIVE
MARKER_ELEMS= 2
SEND_TO= 1
1 0 1
1 1 1
MARKER_TAG= SEND_RECEIVE
MARKER_ELEMS= 2
SEND_TO= -1
1 4 1
1 5 1
NPERIODIC= 1
PERIODIC_INDEX= 0
0.0 0.0 0.0
0.0 0.0 0.0
0.0 0.0 0.0
"""


@pytest.mark.parametrize(("zones", "announced", "kept", "lacking"), [(1, 3, 3, 0), (1, 4, 3, 1), (1, 3, 2, 1),
                                                                     (2, 5, 3, 4), (1, 2, 3, 0)])
def test_su2_markers_that_are_announced_and_do_not_follow(tmp_path, zones, announced, kept, lacking):
    one = OLD_SU2.replace("NMARK= 3", f"NMARK= {announced}").partition("NPERIODIC")[0]
    if kept == 2:  # a file that ends after a marker is well-formed but for the number
        one = one[:one.rindex("MARKER_TAG")]
    (tmp_path / "m.su2").write_text("".join(f"IZONE= {zone + 1}\n{one}" for zone in range(zones)))
    mesh = read_mesh(tmp_path / "m.su2")
    said = f"markers are announced (NMARK=) that do not follow: {lacking}; is all of the file there?"
    assert mesh.remarks[1:] == ((said,) if lacking else ())


def test_su2_copies_across_old_periodic_boundaries(tmp_path):
    (tmp_path / "m.su2").write_text(OLD_SU2)
    mesh = read_mesh(tmp_path / "m.su2")
    assert (mesh.ncells, mesh.npoints, list(mesh.facet_groups)) == (2, 6, ["wall"])
    assert mesh.remarks == ("markers SEND_RECEIVE are left out, and the cells at 2 copied points kept: copies across "
                            "old periodic boundaries",)
    (tmp_path / "m.su2").write_text(OLD_SU2.replace("NPOIN= 6 4", "NPOIN= 6"))
    assert read_mesh(tmp_path / "m.su2").remarks == ("markers SEND_RECEIVE are left out",)
    (tmp_path / "m.su2").write_text(OLD_SU2.replace("1 1 1\n", ""))
    bad(tmp_path / "m.su2", "m.su2:20: 2 lines announced, 1 found")


def test_su2_mixed_cells_in_space(tmp_path):
    # a hexahedron, a pyramid on it, a tetrahedron beside that, a wedge at its foot; no index after the cells
    (tmp_path / "m.su2").write_text("""NDIME=3
NELEM=4
12 0 1 2 3 4 5 6 7
14 4 5 6 7 8
10 5 6 8 9
13 1 10 5 2 11 6
NPOIN= 12 12
0 0 0
1 0 0
1 1 0
0 1 0
0 0 1
1 0 1
1 1 1
0 1 1
.5 .5 2
2 .5 2
2 0 0
2 1 0
NMARK= 2
MARKER_TAG= foot
MARKER_ELEMS= 2
9 0 3 2 1
9 1 2 11 10
MARKER_TAG= side
MARKER_ELEMS= 1
5 2 11 6
FFD_NBOX= 1
FFD_CORNER_POINTS= 2
0 0 0
1 1 1
""")
    mesh = read_mesh(tmp_path / "m.su2")
    assert [t for t, _ in mesh.blocks] == ["hexahedron", "pyramid", "tetra", "wedge"]
    assert dual_graph(mesh).nedges == 3
    assert boundary_surface(mesh.select("foot")).cell.tolist() == [0, 3]
    assert boundary_surface(mesh.select("side")).size.tolist() == [3]


@pytest.mark.slow
def test_a_million_numbers_of_su2(tmp_path):
    mesh = cube("hexa", 50)
    cells = np.column_stack([np.full(125_000, 12), mesh.blocks[0][1]])
    with open(tmp_path / "m.su2", "w") as out:
        out.write("NDIME= 3\nNELEM= 125000\n")
        np.savetxt(out, cells, "%d")
        out.write(f"NPOIN= {mesh.npoints}\n")
        np.savetxt(out, mesh.points)
    with ends_soon():
        assert read_mesh(tmp_path / "m.su2").ncells == 125_000


@pytest.mark.parametrize(("old", "new", "message"), [
    ("5 0 1 2 0", "77 0 1 2 0", "m.su2:5: unknown element type '77'"),
    ("5 0 1 2 0", "305 0 1 2 0", r"m.su2:5: element type 305 is a triangle of degree 4: .* high-order \(DG\) solver"),
    ("NELEM= 2", "NELEM= 2 x", "m.su2:4: NELEM needs a whole number, has '2 x'"),
    ("5 0 1 2 0", "5 0 1", "m.su2:5: triangle needs 3 nodes, has 2"),
    ("5 0 1 2 0", "5 0 1 x 0", "not a whole number"),
    ("5 0 1 2 0", "5 0 1 4 0", "zone 1: cells triangle point outside its 4 points, first cell 0"),
    ("NELEM= 2", "NELEM= 3", "m.su2:8: 3 lines announced, 2 found"),
    ("NELEM= 2", "NELEM= many", "m.su2:4: NELEM needs a whole number, has 'many'"),
    ("NELEM= 2", "NELEM= -2", "NELEM needs a whole number"),
    ("NDIME= 2", "NDIME= 4", "NDIME must be 2 or 3"),
    ("NZONE= 2", "NZONE= 3", "announces 3 zones, the file has 2"),
    ("1 1 2\n", "1 q 2\n", "not a number"),
    ("1 1 2\n", "1\n", "needs 2 coordinates, has 1"),
    ("1 1 2\n", "nan 1 2\n", "not finite, first at index 2"),
    ("3 1 2\n", "3 1 9\n", "marker right: cells line point outside"),
    ("NMARK= 1\nMARKER_TAG= left\nMARKER_ELEMS= 1\n3 3 0\n", "5 5 5\n", "expected KEYWORD= value"),
    ("1 1\nNMARK= 1\nMARKER_TAG= left\nMARKER_ELEMS= 1\n3 3 0\n", "", "ends 1 lines too early"),
])
def test_ill_formed_su2(tmp_path, old, new, message):
    assert old in SU2
    # change the last occurrence where the text occurs in both zones at the end, the first elsewhere
    (tmp_path / "m.su2").write_text(SU2.replace(old, new, 1))
    bad(tmp_path / "m.su2", message)


# ---- files that are not the mesh, or not of a format that is read
POINTER = "version https://git-lfs.github.com/spec/v1\noid sha256:4d7a2146\nsize 12345\n"


@pytest.mark.parametrize("name", ["m.su2", "m.msh", "m.vtu", "m.e", "m.med", "m.inp", "m.mdpa"])
def test_pointers_of_git_lfs(tmp_path, name):
    (tmp_path / name).write_text(POINTER)
    bad(tmp_path / name, f"{name}: is a pointer of git-lfs, the file .* not fetched: git lfs pull --include {name}")


def test_pointers_of_git_lfs_among_included_files(tmp_path):
    (tmp_path / "run.inp").write_text("*INCLUDE, INPUT=all.msh\n")
    (tmp_path / "all.msh").write_text(POINTER)
    with pytest.raises(FormatError, match=r"all\.msh: is a pointer of git-lfs"):
        read_mesh(tmp_path / "run.inp")


def test_an_included_file_that_is_not_there_is_named(tmp_path):
    (tmp_path / "run.inp").write_text("*INCLUDE, INPUT=all.msh\n*STEP\n")
    bad(tmp_path / "run.inp", r"no nodes \(\*NODE\); the included file all.msh is not there")
    (tmp_path / "run.inp").write_text("*NODE\n1, 0, 0, 0\n*INCLUDE, INPUT=elements.inp\n")
    bad(tmp_path / "run.inp", r"no elements \(\*ELEMENT\); the included file elements.inp is not there")


@pytest.mark.parametrize(("name", "said"), [
    ("wing.vts", r"unknown mesh format \.vts; pyvista.read\('wing.vts'\).*known: "),
    ("wing.STEP", r"a CAD file, no mesh: mesh it first, as with gmsh -3 wing.STEP -o NEW.msh; known: "),
    ("all.pvtp", r"a list of files with the pieces"), ("old.unv", r"gmsh old.unv -save -format msh41"),
])
def test_formats_that_are_not_read_say_how_to_convert(tmp_path, name, said):
    (tmp_path / name).write_text("x")
    bad(tmp_path / name, said)


def test_meshes_of_other_programs_are_named(tmp_path):
    (tmp_path / "star.mesh").write_text("MFEM mesh v1.0\n\ndimension\n2\n")
    bad(tmp_path / "star.mesh", "star.mesh: is a mesh of MFEM, which is not read; Mesh::PrintVTU")
    (tmp_path / "old.cgns").write_bytes(b"@(#)ADF Database Version A02011>" + bytes(200))
    bad(tmp_path / "old.cgns", "is CGNS in the old form ADF, which is not read; adf2hdf old.cgns converts it")
    (tmp_path / "elmer").mkdir()
    (tmp_path / "elmer/mesh.header").write_text("4 1 4\n")
    bad(tmp_path / "elmer", "is a mesh of Elmer, which is not read; ElmerGrid 2 5 elmer writes .vtu")
