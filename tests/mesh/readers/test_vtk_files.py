"""VTKHDF files and surfaces of VTK in XML."""

from __future__ import annotations

import base64
import itertools
import lzma
import zlib
from functools import partial

import numpy as np
import pytest

from copart.errors import FormatError
from copart.mesh import Mesh, cube, dual_graph, read_mesh
from copart.mesh.readers.same_places import without_twins

POINTS = np.array([[0, 0, 0], [1, 0, 0], [1, 1, 0], [0, 1, 0], [2, 0, 0], [2, 1, 0], [3, 0, 0]], float)
FACES = [[0, 1, 2, 3], [1, 4, 5, 2], [4, 6, 5]]


def bad(path, match):
    with pytest.raises(FormatError, match=match) as caught:
        read_mesh(path)
    assert str(path) in str(caught.value)
    assert "\n" not in str(caught.value)


def hdf(path, kind="UnstructuredGrid", points=POINTS, pieces=((FACES, [9, 9, 5]),), steps=None, group=None,
        apart=10.0, **cell_data):
    """Pieces that have all points each; rows of nodes and, for grids, their types."""
    h5py = pytest.importorskip("h5py")
    with h5py.File(path, "w") as data:
        root = data.create_group("VTKHDF")
        root.attrs["Version"] = [2, 1]
        root.attrs["Type"] = np.bytes_(kind)
        root["NumberOfPoints"] = [len(points)] * len(pieces)
        root["Points"] = np.concatenate([points + np.array([apart * i, 0, 0]) for i in range(len(pieces))])
        cells = root.create_group(group) if group else root
        cells["NumberOfCells"] = [len(rows) for rows, _ in pieces]
        cells["NumberOfConnectivityIds"] = [sum(map(len, rows)) for rows, _ in pieces]
        cells["Connectivity"] = np.array([n for rows, _ in pieces for row in rows for n in row], np.int64)
        cells["Offsets"] = np.concatenate([[0, *np.cumsum([len(row) for row in rows])] for rows, _ in pieces])
        if not group:
            root["Types"] = np.array([t for _, types in pieces for t in types], np.uint8)
        for name, values in cell_data.items():
            root[f"CellData/{name}"] = values
        if steps:
            root["Steps/NumberOfParts"] = steps
    return path


def vtp(path, form="ascii", verts="", extra="", polygons=FACES):
    """Polygons with a value each, in ascii, base64 or bytes that are appended."""
    flat, ends = [n for f in polygons for n in f], np.cumsum([len(f) for f in polygons])
    arrays = {"Points": (POINTS.ravel(), "Float64"), "connectivity": (np.array(flat), "Int64"),
              "offsets": (ends, "Int64"), "load": (np.arange(len(polygons)) + 5, "Int64"),
              "empty": (np.zeros(0, int), "Int64")}
    appended, tags = b"", {}
    for name in ("Points", "load", "empty", "connectivity", "offsets"):
        values, kind = arrays[name]
        raw = values.astype(kind.lower()).tobytes()
        head = f'<DataArray type="{kind}" Name="{name}" NumberOfComponents="{3 if name == "Points" else 1}"'
        block = np.uint32(len(raw)).tobytes() + raw
        if form == "raw":
            tags[name] = f'{head} format="appended" offset="{len(appended)}"/>'
            appended += block
        else:
            text = base64.b64encode(block).decode() if form == "binary" else " ".join(map(str, values.tolist()))
            tags[name] = f'{head} format="{form}">{text}</DataArray>'
    lines = f"<Lines>{tags['empty']}</Lines>" if form == "raw" else "<Lines></Lines>"
    text = (f'<?xml version="1.0"?>\n<VTKFile type="PolyData" version="0.1" byte_order="LittleEndian" '
            f'header_type="UInt32"><PolyData>'
            f'<Piece NumberOfPoints="7" {verts} NumberOfLines="0" NumberOfPolys="{len(polygons)}">'
            f'<CellData>{tags["load"]}</CellData><Points>{tags["Points"]}</Points><Verts/>{lines}'
            f'<Polys>{tags["connectivity"]}{tags["offsets"]}</Polys></Piece>{extra}</PolyData>')
    more = b'<AppendedData encoding="raw">_' + appended + b"\n</AppendedData>" if form == "raw" else b""
    path.write_bytes(text.encode() + more + b"</VTKFile>")
    return path


@pytest.mark.parametrize("form", ["ascii", "binary", "raw"])
def test_surfaces_in_xml(tmp_path, form):
    mesh = read_mesh(vtp(tmp_path / "s.vtp", form))
    assert [(t, c.tolist()) for t, c in mesh.blocks] == [("quad", FACES[:2]), ("triangle", FACES[2:])]
    assert mesh.cell_data["load"].ravel().tolist() == [5, 6, 7]
    assert mesh.name == "s"
    assert dual_graph(mesh).nedges == 2


def test_surfaces_that_are_refused(tmp_path):
    path = tmp_path / "s.vtp"
    bad(vtp(path, verts='NumberOfVerts="2"'), "has Verts; of surfaces polygons alone are read")
    bad(vtp(path, extra="<Piece NumberOfPolys=\"1\"/>"), "has several pieces")
    path.write_bytes(vtp(path).read_bytes().replace(b'NumberOfPolys="3"', b'NumberOfPolys="99999999"'))
    bad(path, "announces 99999999 polygons, more than the file can hold")
    path.write_text("<VTKFile/>")
    bad(path, "holds no piece of PolyData")


def test_grids_in_vtkhdf(tmp_path):
    mesh = read_mesh(hdf(tmp_path / "m.vtkhdf", load=[3, 4, 5]))
    assert [(t, c.tolist()) for t, c in mesh.blocks] == [("quad", FACES[:2]), ("triangle", FACES[2:])]
    assert mesh.cell_data["load"].tolist() == [3, 4, 5]
    solid = cube("hexa", 2)
    nodes = solid.blocks[0][1][:, [0, 1, 3, 2, 4, 5, 7, 6]]
    mesh = read_mesh(hdf(tmp_path / "m.vtkhdf", points=solid.points, pieces=[(nodes.tolist(), [11] * 8)]))
    assert (mesh.blocks[0][1] == solid.blocks[0][1]).all(), "voxels list their corners row by row"


def test_pieces_and_states(tmp_path):
    pieces = [(FACES, [9, 9, 5]), (FACES[1:], [9, 5])]
    mesh = read_mesh(hdf(tmp_path / "m.vtkhdf", pieces=pieces, load=range(5)))
    assert mesh.ncells == 5
    assert mesh.npoints == 14
    assert mesh.blocks[2][1].tolist() == [[8, 11, 12, 9]]
    mesh = read_mesh(hdf(tmp_path / "m.vtkhdf", pieces=pieces, steps=[1, 1], load=range(5)))
    assert mesh.ncells == 3
    assert mesh.npoints == 7
    assert mesh.cell_data["load"].tolist() == [0, 1, 2]
    assert mesh.remarks == ("1 later states are left out",)


def test_pieces_that_share_points_and_cells(tmp_path):
    """Four quads in a row in two pieces, each with a copy of the first cell of the other."""
    points = np.array([[x, y, 0] for x in range(4) for y in range(2)], float)
    row = [[0, 2, 3, 1], [2, 4, 5, 3], [4, 6, 7, 5]]
    path = tmp_path / "m.vtkhdf"
    ghosts = np.array([0, 0, 1, 1, 0, 0], np.uint8)
    mesh = read_mesh(hdf(path, points=points, pieces=[(row, [9] * 3)] * 2, apart=1.0, vtkGhostType=ghosts,
                         load=[1, 2, 9, 9, 3, 4]))
    assert (mesh.ncells, mesh.npoints, dual_graph(mesh).nedges) == (4, 10, 3)
    assert mesh.cell_data["load"].tolist() == [1, 2, 3, 4]
    assert list(mesh.cell_data) == ["load"]
    # without the copies: the wall between both is one
    mesh = read_mesh(hdf(path, points=points, pieces=[(row, [9] * 3)] * 2, apart=3.0))
    assert (mesh.ncells, mesh.npoints, dual_graph(mesh).nedges) == (6, 14, 5)
    mesh = read_mesh(hdf(path, "PolyData", group="Polygons", points=points, pieces=[(row, [])] * 2, apart=3.0))
    assert (mesh.ncells, mesh.npoints, dual_graph(mesh).nedges) == (6, 14, 5)


def test_surfaces_in_vtkhdf(tmp_path):
    mesh = read_mesh(hdf(tmp_path / "m.vtkhdf", "PolyData", group="Polygons", load=[1, 2, 3]))
    assert [(t, c.tolist()) for t, c in mesh.blocks] == [("quad", FACES[:2]), ("triangle", FACES[2:])]
    bad(hdf(tmp_path / "m.vtkhdf", "PolyData", group="Strips"), "has strips of triangles, which are not read")


def test_what_of_vtkhdf_is_refused(tmp_path):
    import h5py

    path = tmp_path / "m.vtkhdf"
    bad(hdf(path, "ImageData"), "of type 'ImageData', only UnstructuredGrid and PolyData are read; ParaView's")
    bad(hdf(path, pieces=[(FACES, [42, 9, 5])]), "VTK type 42 is not supported, first at cell 0")
    for name, values, said in [("Offsets", [0, 4, 99, 11], "Offsets of a piece must rise from 0 to its 11 entries"),
                               ("NumberOfCells", [7], "the numbers of cells and nodes do not fit the arrays"),
                               ("Connectivity", [99] * 11, "point outside the 7 points")]:
        with h5py.File(hdf(path), "a") as data:
            data["VTKHDF"][name][...] = values
        bad(path, said)
    with h5py.File(path, "w") as data:
        data["x"] = 1
    bad(path, "has no group VTKHDF")


def grid_file(folder, blocks, npoints, name):
    """A mesh with a value per cell."""
    meshio = pytest.importorskip("meshio")
    points = np.random.default_rng(0).random((npoints, 3))
    count = np.cumsum([0] + [len(rows) for _, rows in blocks])
    data = {"load": [np.arange(a, b) for a, b in itertools.pairwise(count)]}
    meshio.Mesh(points, blocks, cell_data=data).write(folder / name)
    return folder / name


@pytest.mark.parametrize(("kinds", "direct"), [
    (["hexahedron"], True), (["tetra", "wedge", "hexahedron", "tetra"], True), (["wedge"], True),
    (["quad", "triangle"] * 40, False),  # too many runs to be looked at one by one
    (["polygon"], False), (["triangle", "polygon", "triangle"], False)])
def test_rows_are_the_cells_that_meshio_reads(tmp_path, kinds, direct, monkeypatch):
    from copart.mesh.readers import vtk_rows

    meshio = pytest.importorskip("meshio")
    width = {"hexahedron": 8, "tetra": 4, "wedge": 6, "quad": 4, "triangle": 3, "polygon": 5}
    rng = np.random.default_rng(1)
    blocks = [(kind, np.array([rng.permutation(20)[:width[kind]] for _ in range(rng.integers(1, 6))]))
              for kind in kinds]
    taken = []
    rows = vtk_rows._rows
    monkeypatch.setattr(vtk_rows, "_rows", lambda *given: (taken.append(rows(*given)), taken[-1])[1])
    path = grid_file(tmp_path, blocks, 20, "grid.vtk")
    plain = meshio.read(path)
    with vtk_rows.rows_as_they_are():
        found = meshio.read(path)
    assert [(a.type, a.data.tolist()) for a in found.cells] == [(b.type, b.data.tolist()) for b in plain.cells]
    assert [a.tolist() for a in found.cell_data["load"]] == [b.tolist() for b in plain.cell_data["load"]]
    assert [one is not None for one in taken] == [direct]
    # and from XML, which meshio is not asked for
    mesh = read_mesh(grid_file(tmp_path, blocks, 20, "grid.vtu"))
    of_polygons = {3: "triangle", 4: "quad"}
    wanted = [(of_polygons.get(b.data.shape[1], b.type) if b.type == "polygon" else b.type, b.data.tolist())
              for b in plain.cells]
    assert [(kind, nodes.tolist()) for kind, nodes in mesh.blocks] == wanted
    assert mesh.cell_data["load"].tolist() == np.concatenate(plain.cell_data["load"]).tolist()


@pytest.mark.parametrize(("types", "offsets", "nodes"), [
    ([10, 10], [4, 8], range(7)),  # too few nodes
    ([10, 10], [4, 9], range(9)),  # a hole between two cells
    ([10], [4, 8], range(8)),
    ([42], [4], range(4)), ([99], [4], range(4)), ([], [], [])])
def test_cells_that_are_no_rows_are_left_to_meshio(types, offsets, nodes):
    from copart.mesh.readers.vtk_rows import _rows

    pytest.importorskip("meshio")
    assert _rows(np.array(nodes, int), np.array(offsets, int), np.array(types, np.uint8), {}) is None


def vtu(path, mesh, form="raw", method="ZLib", order="<", header="UInt32", block=1000, change=None):
    """A mesh of one type of cells, its arrays appended as bytes or base64, or in their elements, as VTK writes them."""
    (kind, nodes), = mesh.blocks
    arrays = {"Points": (mesh.points, "Float64"), "connectivity": (nodes, "Int64"),
              "offsets": (np.arange(1, len(nodes) + 1) * nodes.shape[1], "Int64"),
              "types": (np.full(len(nodes), {"hexahedron": 12, "tetra": 10}[kind]), "UInt8"),
              "load": (np.arange(len(nodes)) % 9, "Int32")}
    if method == "LZ4":
        lz4 = pytest.importorskip("lz4.block")
        pack = partial(lz4.compress, store_size=False)
    else:
        pack = {"ZLib": zlib.compress, "LZMA": lzma.compress}.get(method)
    size = np.dtype(order + {"UInt32": "u4", "UInt64": "u8"}[header])
    tags, appended = {}, b""
    for name, (values, what) in arrays.items():
        raw = values.astype(np.dtype(what.lower()).newbyteorder(order)).tobytes()
        if pack is None:
            head, body = np.array([len(raw)], size), raw
        else:
            blocks = [pack(raw[i:i + block]) for i in range(0, len(raw), block)]
            head = np.array([len(blocks), block, len(raw) % block, *map(len, blocks)], size)
            body = b"".join(blocks)
        if change is not None and name == "connectivity":
            head, body = change(head.copy(), body)
        tag = f'<DataArray type="{what}" Name="{name}" NumberOfComponents="{3 if name == "Points" else 1}"'
        text = base64.b64encode(head.tobytes()) + base64.b64encode(body)
        if pack is None:
            text = base64.b64encode(head.tobytes() + body)
        if form == "inline":
            tags[name] = f'{tag} format="binary">{text.decode()}</DataArray>'
        else:
            tags[name] = f'{tag} format="appended" offset="{len(appended)}"/>'
            appended += head.tobytes() + body if form == "raw" else text
    compressor = f' compressor="vtk{method}DataCompressor"' if pack else ""
    ending = b"" if form == "inline" else b'<AppendedData encoding="%b">\n _%b\n</AppendedData>' % (
        form.encode(), appended)
    path.write_bytes(
        (f'<?xml version="1.0"?><VTKFile type="UnstructuredGrid" version="1.0" header_type="{header}"{compressor} '
         f'byte_order="{"Little" if order == "<" else "Big"}Endian"><UnstructuredGrid>'
         f'<Piece NumberOfPoints="{mesh.npoints}" NumberOfCells="{mesh.ncells}"><CellData>{tags["load"]}</CellData>'
         f'<Points>{tags["Points"]}</Points><Cells>{tags["connectivity"]}{tags["offsets"]}{tags["types"]}</Cells>'
         f"</Piece></UnstructuredGrid>").encode() + ending + b"</VTKFile>")
    return path


@pytest.mark.parametrize("form", ["raw", "base64", "inline"])
@pytest.mark.parametrize("header", ["UInt32", "UInt64"])
@pytest.mark.parametrize("ncells", [1, 2, 3, 4, 5])
def test_arrays_of_a_few_bytes(tmp_path, form, header, ncells):
    """In base64 a size and a byte end in one =, as a size by itself does in two."""
    mesh = cube("tetra", 100)
    few = Mesh(mesh.points, [("tetra", mesh.blocks[0][1][:ncells])])
    found = read_mesh(vtu(tmp_path / "m.vtu", few, form, None, header=header))
    assert found.blocks[0][1].tolist() == few.blocks[0][1].tolist()


@pytest.mark.parametrize("form", ["raw", "base64", "inline"])
@pytest.mark.parametrize(("method", "block"), [("ZLib", 1000), ("ZLib", 800), ("ZLib", 10**6), ("LZMA", 4096),
                                               ("LZ4", 1000), (None, 1)])
@pytest.mark.parametrize("order", ["<", ">"])
def test_arrays_of_grids_in_all_the_ways_of_vtk(tmp_path, form, method, block, order):
    solid = cube("hexa", 5)
    for header, threads in (("UInt32", 1), ("UInt64", 3)):
        mesh = read_mesh(vtu(tmp_path / "m.vtu", solid, form, method, order, header, block), threads=threads)
        assert mesh.blocks[0][0] == "hexahedron"
        assert (mesh.blocks[0][1] == solid.blocks[0][1]).all()
        assert (mesh.points == solid.points).all()
        assert mesh.cell_data["load"].ravel().tolist() == [i % 9 for i in range(125)]
        assert dual_graph(mesh).nedges == 300


def more_blocks(head, body):
    head[0] += 10**6
    return head, body


def larger_blocks(head, body):
    head[1] *= 2
    return head, body


def cut_short(head, body):
    head[-1] -= 5
    return head, body


def torn(head, body):
    return head, body[:20] + b"????" + body[24:]


@pytest.mark.parametrize(("change", "said"), [
    (more_blocks, "announces"), (larger_blocks, None), (cut_short, "Error -3|announces|incomplete"),
    (torn, "Error -3|incomplete")])
@pytest.mark.parametrize("form", ["raw", "inline"])
def test_arrays_whose_head_is_wrong(tmp_path, form, change, said):
    path = vtu(tmp_path / "m.vtu", cube("hexa", 5), form, change=change)
    if said is None:  # sizes that nothing depends on
        assert (read_mesh(path).blocks[0][1] == cube("hexa", 5).blocks[0][1]).all()
    else:
        bad(path, f"cannot be read: .*({said})")
    bad(vtu(tmp_path / "n.vtu", cube("hexa", 5), form, None, change=lambda head, body: (head * 99, body)),
        "an array announces 792000 bytes|an array announces 79200[48] bytes")


def test_pieces_of_a_grid(tmp_path):
    piece = ('<Piece NumberOfPoints="4" NumberOfCells="{n}"><CellData>'
             '<DataArray type="Int32" Name="load" format="ascii">{load}</DataArray></CellData><Points>'
             '<DataArray type="Float64" NumberOfComponents="3" format="ascii">'
             '{x} 0 0 {y} 0 0 {y} 1 0 {x} 1 0</DataArray></Points><Cells>'
             '<DataArray type="Int32" Name="connectivity" format="ascii">{nodes}</DataArray>'
             '<DataArray type="Int32" Name="offsets" format="ascii">{ends}</DataArray>'
             '<DataArray type="UInt8" Name="types" format="ascii">{types}</DataArray></Cells></Piece>')
    pieces = [piece.format(n=2, x=0, y=1, nodes="0 1 2 0 2 3", ends="3 6", types="5 5", load="1 2"),
              piece.format(n=1, x=5, y=6, nodes="0 1 2 3", ends="4", types="9", load="3")]
    path = tmp_path / "m.vtu"
    path.write_text('<VTKFile type="UnstructuredGrid" version="0.1" byte_order="LittleEndian"><UnstructuredGrid>'
                    + "".join(pieces) + "</UnstructuredGrid></VTKFile>")
    mesh = read_mesh(path)
    assert [(kind, nodes.tolist()) for kind, nodes in mesh.blocks] == [
        ("triangle", [[0, 1, 2], [0, 2, 3]]), ("quad", [[4, 5, 6, 7]])]
    assert mesh.cell_data["load"].tolist() == [1, 2, 3]
    assert mesh.npoints == 8
    # side by side, they share two points
    pieces[1] = piece.format(n=1, x=1, y=2, nodes="0 1 2 3", ends="4", types="9", load="3")
    path.write_text('<VTKFile type="UnstructuredGrid" version="0.1" byte_order="LittleEndian"><UnstructuredGrid>'
                    + "".join(pieces) + "</UnstructuredGrid></VTKFile>")
    mesh = read_mesh(path)
    assert mesh.npoints == 6
    assert mesh.blocks[1][1].tolist() == [[1, 4, 5, 2]]
    assert dual_graph(mesh).nedges == 2
    # an empty piece need not have the arrays; the nodes of a piece are its own
    empty = '<Piece NumberOfPoints="0" NumberOfCells="0"><Points/><Cells/></Piece>'
    text = path.read_text()
    path.write_text(text.replace("<Piece", f"{empty}<Piece", 1))
    assert read_mesh(path).cell_data["load"].tolist() == [1, 2, 3]
    for old, new in (("0 1 2 0 2 3", "0 1 2 0 2 4"), ("0 1 2 3<", "-1 1 2 3<")):
        assert old in text
        path.write_text(text.replace(old, new))
        bad(path, "cells point outside the 4 points of their piece")


HEXA = [[0, 3, 2, 1], [4, 5, 6, 7], [0, 1, 5, 4], [2, 3, 7, 6], [1, 2, 6, 5], [0, 4, 7, 3]]


def row_of_cells(path, kinds, table, more="", version="2.3", at=0):
    """Cubes in a row: "h" a hexahedron, "v" a voxel, "w" two wedges, "p" a polyhedron, "q" one side of it alone."""
    n = len(kinds)
    points = [[at + x, y, z] for x in range(n + 1) for z in (0, 1) for y in (0, 1)]
    nodes, ends, types, faces, face_ends = [], [], [], [], []
    face_nodes, face_start, of_cells, cell_ends = [], [], [], []
    for x, kind in enumerate(kinds):
        a, b = 4 * x, 4 * (x + 1)
        corners = [a, b, b + 1, a + 1, a + 2, b + 2, b + 3, a + 3]
        cells = {"h": [(12, range(8))], "v": [(11, (0, 1, 3, 2, 4, 5, 7, 6))], "p": [(42, range(8))],
                 "q": [(9, range(4))], "w": [(13, (0, 1, 3, 4, 5, 7)), (13, (1, 2, 3, 5, 6, 7))]}[kind]
        for code, order in cells:
            nodes += [corners[i] for i in order]
            ends.append(len(nodes))
            types.append(code)
            if kind == "p":
                faces.append(6)
                for face in HEXA:
                    row = [corners[i] for i in face]
                    faces += [4, *row]
                    face_nodes += row
                    of_cells.append(len(face_start))
                    face_start.append(len(face_nodes))
            face_ends.append(len(faces) if kind == "p" else -1)
            cell_ends.append(len(of_cells))
    arrays = {"connectivity": nodes, "offsets": ends, "types": types}
    if table:
        arrays |= {"face_connectivity": face_nodes, "face_offsets": face_start, "polyhedron_to_faces": of_cells,
                   "polyhedron_offsets": cell_ends}
    else:
        arrays |= {"faces": faces, "faceoffsets": face_ends}

    def array(name, values, kind="Int64", width=1):
        return (f'<DataArray type="{kind}" Name="{name}" NumberOfComponents="{width}" format="ascii">'
                f'{" ".join(map(str, np.ravel(values).tolist()))}</DataArray>')

    path.write_text(
        f'<VTKFile type="UnstructuredGrid" version="{version}" byte_order="LittleEndian"><UnstructuredGrid>{more}'
        f'<Piece NumberOfPoints="{len(points)}" NumberOfCells="{len(types)}"><PointData>{array("T", [0] * len(points))}'
        f'</PointData><CellData>{array("load", range(5, 5 + len(types)))}</CellData>'
        f'<Points>{array("Points", points, "Float64", 3)}</Points>'
        f'<Cells>{"".join(array(name, values) for name, values in arrays.items())}</Cells></Piece></UnstructuredGrid>'
        f'</VTKFile>')
    return path


@pytest.mark.parametrize("table", [True, False])
@pytest.mark.parametrize("kinds", ["pppp", "php", "hvwp", "wpwphv", "hhh", "hvw"])
def test_cells_keep_the_order_of_the_file(tmp_path, kinds, table):
    mesh = read_mesh(row_of_cells(tmp_path / "m.vtu", kinds, table))
    centre = mesh.centres()[:, 0]
    wanted = np.concatenate([[x + 1 / 3, x + 2 / 3] if kind == "w" else [x + 0.5] for x, kind in enumerate(kinds)])
    assert centre == pytest.approx(wanted, abs=1e-9)
    assert mesh.cell_data["load"].tolist() == list(range(5, 5 + len(wanted)))
    assert (mesh.polyhedra is not None) == ("p" in kinds)
    assert dual_graph(mesh).nedges == len(wanted) - 1
    assert mesh.remarks == ("arrays on points are left out: T",)


def test_pieces_with_and_without_polyhedra(tmp_path):
    texts = [row_of_cells(tmp_path / "m.vtu", kinds, True, at=at).read_text()
             for kinds, at in (("hw", 0), ("hp", 2), ("p", 4))]
    pieces = [text[text.index("<Piece"):text.index("</UnstructuredGrid>")] for text in texts]
    (tmp_path / "m.vtu").write_text(texts[0].replace(pieces[0], "".join(pieces)))
    mesh = read_mesh(tmp_path / "m.vtu")
    assert mesh.centres()[:, 0] == pytest.approx([0.5, 4 / 3, 5 / 3, 2.5, 3.5, 4.5])
    assert mesh.cell_data["load"].tolist() == [5, 6, 7, 5, 6, 5]
    assert mesh.npoints == 24
    assert dual_graph(mesh).nedges == 5
    whole = (tmp_path / "m.vtu").read_text()
    (tmp_path / "m.vtu").write_text(whole.replace('"face_connectivity" NumberOfComponents="1" format="ascii">4',
                                                  '"face_connectivity" NumberOfComponents="1" format="ascii">12'))
    bad(tmp_path / "m.vtu", "cells point outside the 12 points of their piece")


def test_points_of_one_piece_stay_apart():
    """As on the two sides of a crack."""
    points = np.array([[0.0, 0, 0], [1, 0, 0], [1, 0, 0], [0, 0, 0], [1, 0, 0], [2, 0, 0], [0, 0, 0]])
    left, same = without_twins(points, np.array([0, 0, 0, 1, 1, 1, 2]))
    assert same.tolist() == [0, 1, 2, 0, 3, 4, 0]
    assert left.tolist() == points[[0, 1, 2, 4, 5]].tolist()
    assert [len(x) for x in without_twins(points[:0], np.zeros(0, np.int64))] == [0, 0]


@pytest.mark.parametrize("solid", [cube("hexa", 6), cube("tetra", 400)])
def test_pieces_in_files_of_their_own(tmp_path, solid):
    """As copart writes them, with a layer of ghosts each."""
    from copart.kgggp_ml import partition
    from copart.mesh import write_pieces

    graph = dual_graph(solid)
    part = partition(graph, 3)
    path = tmp_path / "m.pvtu"
    write_pieces(path, solid, part, 3)
    mesh = read_mesh(path)
    order = mesh.cell_data["GlobalCellIds"].ravel()
    assert sorted(order) == list(range(solid.ncells))
    assert mesh.centres() == pytest.approx(solid.centres()[order])
    assert mesh.npoints == solid.npoints
    again = dual_graph(mesh)
    assert again.nedges == graph.nedges
    assert "vtkGhostType" not in mesh.cell_data
    (tmp_path / "m" / "m_1.vtu").unlink()
    with pytest.raises(FormatError, match=r"m_\d.vtu: no such file"):
        read_mesh(path)
    path.write_text(path.read_text().replace("PUnstructuredGrid", "PPolyData"))
    bad(path, "holds PPolyData, and no PUnstructuredGrid of VTK")


def test_ghosts_among_polyhedra(tmp_path):
    from copart.mesh import write_pieces

    solid = read_mesh(row_of_cells(tmp_path / "row.vtu", "pphpw", True))
    write_pieces(tmp_path / "m.pvtu", solid, np.array([0, 1, 1, 0, 2, 2], np.int32), 3)
    mesh = read_mesh(tmp_path / "m.pvtu")
    assert mesh.centres()[:, 0] == pytest.approx([0.5, 3.5, 1.5, 2.5, 4 + 1 / 3, 4 + 2 / 3])
    assert mesh.cell_data["load"].tolist() == [5, 8, 6, 7, 9, 10]
    assert mesh.npoints == 24
    assert dual_graph(mesh).nedges == 5


def test_polyhedra_whose_arrays_do_not_fit(tmp_path):
    for table, old, new, said in [
            (False, 'Name="faces" NumberOfComponents="1" format="ascii">6', 'Name="faces" format="ascii">7',
             "faces and faceoffsets do not fit"),
            (False, 'format="ascii">6 4 ', 'format="ascii">5 4 ', "faces and faceoffsets do not fit"),
            (False, 'format="ascii">6 4 ', 'format="ascii">6 5 ', "faces: 1 of 11 have less than 3 nodes"),
            (False, 'Name="faceoffsets"', 'Name="other"', "polyhedra without faces"),
            (False, '"ascii">31 62<', '"ascii">62 31<', "faceoffsets must rise"),
            (True, '"ascii">4 8 12 ', '"ascii">4 8 1 ', "do not fit together"),
            (True, '"ascii">0 1 2 3 ', '"ascii">0 99 2 3 ', "faces of polyhedra must be 0 to 11")]:
        path = row_of_cells(tmp_path / "m.vtu", "pp", table)
        text = path.read_text()
        assert old in text
        path.write_text(text.replace(old, new))
        bad(path, said)
    bad(row_of_cells(tmp_path / "m.vtu", "pq", True), "polyhedra beside cells of type quad are not supported")


def test_heads_of_vtu_files(tmp_path):
    text = '<FieldData><DataArray type="String" Name="notes" format="ascii">65 0</DataArray></FieldData>'
    path = row_of_cells(tmp_path / "m.vtu", "hh", True, text, version="2.2")
    assert read_mesh(path).ncells == 2, "text in the data of the field is passed over"
    whole = path.read_text()
    for old, new, said in [("</VTKFile>", "", "no well-formed XML"),
                           ("VTKFile", "Other", "holds <Other>, and no UnstructuredGrid of VTK"),
                           ('type="UnstructuredGrid"', 'type="ImageData"', "holds ImageData, and no UnstructuredGrid"),
                           ('NumberOfCells="2"', 'NumberOfCells="3"', "3 cells, but 2 offsets and 2 types"),
                           ('NumberOfPoints="12"', 'NumberOfPoints="11"', "cannot be read: cannot reshape"),
                           ('byte_order="LittleEndian"', 'compressor="vtkOther"', "arrays are packed by vtkOther; "),
                           ('"ascii">8 16<', '"ascii">8 99<', "offsets of cells must rise to the 16 entries"),
                           ('"ascii">12 12<', '"ascii">12 99<', "VTK type 99 is not supported, first at cell 1"),
                           ("<Piece ", "<Part ", "has no piece|no well-formed XML")]:
        assert old in whole
        path.write_text(whole.replace(old, new))
        bad(path, said)
