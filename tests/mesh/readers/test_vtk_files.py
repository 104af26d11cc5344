"""VTKHDF files and surfaces of VTK in XML."""

from __future__ import annotations

import base64
import itertools
import lzma
import zlib

import numpy as np
import pytest

from copart.errors import FormatError
from copart.mesh import cube, dual_graph, read_mesh

POINTS = np.array([[0, 0, 0], [1, 0, 0], [1, 1, 0], [0, 1, 0], [2, 0, 0], [2, 1, 0], [3, 0, 0]], float)
FACES = [[0, 1, 2, 3], [1, 4, 5, 2], [4, 6, 5]]


def bad(path, match):
    with pytest.raises(FormatError, match=match) as caught:
        read_mesh(path)
    assert str(path) in str(caught.value)
    assert "\n" not in str(caught.value)


def hdf(path, kind="UnstructuredGrid", points=POINTS, pieces=((FACES, [9, 9, 5]),), steps=None, group=None,
        **cell_data):
    """Pieces that have all points each; rows of nodes and, for grids, their types."""
    h5py = pytest.importorskip("h5py")
    with h5py.File(path, "w") as data:
        root = data.create_group("VTKHDF")
        root.attrs["Version"] = [2, 1]
        root.attrs["Type"] = np.bytes_(kind)
        root["NumberOfPoints"] = [len(points)] * len(pieces)
        root["Points"] = np.concatenate([points + np.array([10.0 * i, 0, 0]) for i in range(len(pieces))])
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


def grid_files(folder, blocks, npoints):
    """The same mesh in both of VTK's formats, with a value per cell."""
    meshio = pytest.importorskip("meshio")
    points = np.random.default_rng(0).random((npoints, 3))
    count = np.cumsum([0] + [len(rows) for _, rows in blocks])
    data = {"load": [np.arange(a, b) for a, b in itertools.pairwise(count)]}
    for name in ("grid.vtu", "grid.vtk"):
        meshio.Mesh(points, blocks, cell_data=data).write(folder / name)
        yield folder / name


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
    for path in grid_files(tmp_path, blocks, 20):
        plain = meshio.read(path)
        with vtk_rows.rows_as_they_are():
            found = meshio.read(path)
        assert [(a.type, a.data.tolist()) for a in found.cells] == [(b.type, b.data.tolist()) for b in plain.cells]
        assert [a.tolist() for a in found.cell_data["load"]] == [b.tolist() for b in plain.cell_data["load"]]
    assert [one is not None for one in taken] == [direct, direct]


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
@pytest.mark.parametrize(("method", "block"), [("ZLib", 1000), ("ZLib", 800), ("ZLib", 10**6), ("LZMA", 4096),
                                               (None, 1)])
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


def test_arrays_are_what_meshio_makes_of_them(tmp_path):
    from copart.mesh.readers.vtu_arrays import arrays_in_place

    meshio = pytest.importorskip("meshio")
    for form in ("raw", "inline"):
        path = vtu(tmp_path / "m.vtu", cube("tetra", 300), form)
        plain = meshio.read(path)
        with arrays_in_place(2):
            found = meshio.read(path)
        again = meshio.read(path)
        for one in (found, again):
            assert one.points.tolist() == plain.points.tolist()
            assert [b.data.tolist() for b in one.cells] == [b.data.tolist() for b in plain.cells]
            assert one.cell_data["load"][0].tolist() == plain.cell_data["load"][0].tolist()


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


@pytest.mark.parametrize("change", [more_blocks, larger_blocks, cut_short, torn])
@pytest.mark.parametrize("form", ["raw", "inline"])
def test_arrays_whose_head_is_wrong(tmp_path, form, change):
    path = vtu(tmp_path / "m.vtu", cube("hexa", 5), form, change=change)
    if (form, change) == ("inline", larger_blocks):  # which meshio does not look at
        assert read_mesh(path).ncells == 125
    else:
        bad(path, "cannot be read")
    bad(vtu(tmp_path / "n.vtu", cube("hexa", 5), "raw", None, change=lambda head, body: (head * 99, body)),
        "ends behind the file")


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
