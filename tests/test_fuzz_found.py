"""Inputs that were once not read or refused as they must be, found by damaging sound files."""

from __future__ import annotations

import gzip
import re

import meshio
import numpy as np
import pytest

from copart.errors import FormatError
from copart.formats import launch, read_graph
from copart.formats.interedges_file import read_interedges
from copart.formats.points import read_points
from copart.formats.profiles import read_profile
from copart.formats.text import read_bytes
from copart.mesh import cube, read_mesh
from copart.mesh.writing.gmsh_parts import write_gmsh

from . import foam
from .helpers import ends_soon

TIN = "TIN (((0 0 0, 1 0 0, 0 1e-1 0, 0 0 0)), ((1 0 0, 1 1 0, 0 1e-1 0, 1 0 0)))"


def refused(path, message, read=read_mesh):
    with ends_soon(), pytest.raises(FormatError, match=message) as error:
        read(path)
    assert str(path.name) in str(error.value)


def test_well_known_text(tmp_path):
    (tmp_path / "m.wkt").write_text(TIN)
    mesh = read_mesh(tmp_path / "m.wkt")
    assert mesh.points.tolist() == [[0, 0, 0], [0, 0.1, 0], [1, 0, 0], [1, 1, 0]]
    assert [mesh.points[t].tolist() for t in mesh.blocks[0][1]] == [[[0, 0, 0], [1, 0, 0], [0, 0.1, 0]],
                                                                    [[1, 0, 0], [1, 1, 0], [0, 0.1, 0]]]
    (tmp_path / "flat.wkt").write_text(" tin(((0 0,1 0,0 1,0 0)))\n")
    assert read_mesh(tmp_path / "flat.wkt").ncells == 1


def test_well_known_text_as_meshio_writes_it(tmp_path):
    block = cube("tetra", 100)
    skin = block.blocks[0][1][:, :3]
    meshio.write(tmp_path / "m.wkt", meshio.Mesh(block.points, [("triangle", skin)]))
    found = read_mesh(tmp_path / "m.wkt")
    assert np.array_equal(found.points[found.blocks[0][1]], block.points[skin])


@pytest.mark.parametrize(("text", "message"), [
    (TIN[:-1], "is not closed"),
    (TIN[:-2], "is not closed"),
    (TIN.replace("1 1 0", "1 1"), "triangle 1: needs four points of 2 or 3 coordinates each"),
    (TIN.replace("1 1 0", "1 1 x"), "triangle 1: not a number: 'x'"),
    (TIN.replace("0 0 0))", "0 0 1))"), "triangle 0: its last point must be its first"),
    (TIN.replace(")), ((", ")) (("), "expected the next triangle, found ''"),
    ("TIN ()", "is not closed"),
    ("POINT (1 2)", "no other kind"),
])
def test_ill_formed_well_known_text(tmp_path, text, message):
    (tmp_path / "m.wkt").write_text(text)
    refused(tmp_path / "m.wkt", message)


def test_well_known_text_that_ends_early_takes_no_time(tmp_path):
    # each triangle doubled the time meshio took
    (tmp_path / "m.wkt").write_text("TIN (" + ", ".join(["((0 0 0, 10 0 0, 0 10 0, 0 0 0))"] * 5000))
    refused(tmp_path / "m.wkt", "is not closed")


def test_an_ansys_file_that_ends_inside_a_section(tmp_path):
    mesh = meshio.Mesh(np.eye(4)[:, :3], [("tetra", [[0, 1, 2, 3]])])
    meshio.write(tmp_path / "m.msh", mesh, file_format="ansys", binary=False)
    text = (tmp_path / "m.msh").read_text()
    (tmp_path / "m.msh").write_text(text.rstrip().removesuffix("))"))
    refused(tmp_path / "m.msh", "the file ends too early")


@pytest.mark.parametrize("suffix", ["e", "med"])
def test_a_heap_of_strings_that_goes_round(tmp_path, suffix):
    h5py = pytest.importorskip("h5py")
    path = tmp_path / f"m.{suffix}"
    with h5py.File(path, "w") as data:
        data.attrs["names"] = np.array(["one", "two"], dtype=h5py.string_dtype())
    data = bytearray(path.read_bytes())
    heap = data.index(b"GCOL")
    data[heap + 16:heap + 64] = bytes(48)
    path.write_bytes(data)
    refused(path, f"heap of strings at byte {heap} has an object without a size at byte {heap + 16}")


def test_a_sound_heap_is_no_reason(tmp_path):
    h5py = pytest.importorskip("h5py")
    pytest.importorskip("netCDF4")
    with h5py.File(tmp_path / "m.e", "w") as data:
        # many heaps, and a text that looks like one
        data.attrs["names"] = np.array(["x" * n for n in range(300)], dtype=h5py.string_dtype())
        data.create_dataset("text", data=np.frombuffer(b"GCOL\1\0\0\0" + bytes(16), np.uint8))
    refused(tmp_path / "m.e", "has no coordinates")


@pytest.mark.parametrize(("end", "message"), [
    (b"\0\0\1", "g.mtx:3: is no text, has the byte 0"),
    (b"x", None),
    (b" 5\x8a", None),
    (b"\x8a", None),
])
def test_a_matrix_whose_last_line_has_no_end(tmp_path, end, message):
    path = tmp_path / "g.mtx"
    path.write_bytes(b"%%MatrixMarket matrix coordinate integer symmetric\n3 3 1\n2 1 4" + end)
    if message:
        refused(path, message, read_graph)
    else:
        # what follows a value is passed over, or an error: scipy decides; it must not crash
        assert read_graph(path).nedges == 1


def test_more_interedges_than_a_file_can_be_about(tmp_path):
    path = tmp_path / "interedges.mtx"
    path.write_text("%%MatrixMarket matrix coordinate real general\n2000000000 5 1\n1 1 1.0\n")
    refused(path, "2000000000 x 5 cells do not fit a file of", read_interedges)


@pytest.mark.parametrize(("name", "old", "new", "options"), [
    ("cellZones", rb"2\n\(\n0\n1\n\)", b"2000000000{0}", {}),
    ("faces", rb"\n\d+\n\(\n0\n4\n.*", b"\n2000000000{0}\n3(0 1 2)\n", {"compact": True}),
])
def test_openfoam_lists_of_equal_numbers_are_as_long_as_they_can_be(tmp_path, name, old, new, options):
    foam.write(tmp_path / "polyMesh", *foam.brick(2, 2, 2), cell_zones={"a": [0, 1]}, **options)
    path = tmp_path / "polyMesh" / name
    path.write_bytes(re.sub(old, new, path.read_bytes(), count=1, flags=re.DOTALL))
    with pytest.raises(FormatError, match=rf"{name}:\d+: 2000000000 equal entries announced"):
        read_mesh(tmp_path)


def test_what_does_not_fit_in_memory(tmp_path, monkeypatch):
    def full(*_):
        raise MemoryError

    (tmp_path / "m.su2").write_text("NDIME= 2\n")
    monkeypatch.setitem(read_mesh.__globals__["OWN_READERS"], "su2", full)
    refused(tmp_path / "m.su2", "more data than fits in memory")
    (tmp_path / "g.graph.gz").write_bytes(gzip.compress(b"1 0\n\n"))
    monkeypatch.setattr(gzip, "decompress", full)
    refused(tmp_path / "g.graph.gz", "too large for the memory", read_bytes)


@pytest.mark.parametrize(("read", "text", "message"), [
    (launch.read_hydra_hostfile, "a:99999999999999\n", ":1: 99999999999999 is more than"),
    (launch.read_hydra_hostfile, "a:16000000\nb:16000000\n", ":2: 32000000 is more than"),
    (launch.read_rank_order, "0-99999999999\n", ":1: 99999999999 is more than"),
    (launch.read_rank_order, "0-9000000\n0-9000000\n", ":2: 18000002 is more than"),
    (launch.read_permutation, "3\n2147483648\n", ":2: 2147483648 is more than"),
    (launch.read_multi_prog, "0-1 a\n2-" + 30 * "9" + " b\n", ":2: 9+ is more than"),
    (launch.read_rankfile, "rank 0=a slot=" + 25 * "7" + "\n", ":1: 7+ is more than"),
    (read_profile, "E\t0\t1\t1012 bytes\t" + 30 * "9" + " msgs sent\n", "has number of messages"),
    (read_profile, "E\t0\t99999999999\t1012 bytes\t1 msgs sent\n", "has rank 99999999999"),
    (read_profile, 300_000 * "\n" + "x\n", "holds no messages"),
])
def test_numbers_beyond_any_job(tmp_path, read, text, message):
    (tmp_path / "job").write_text(text)
    refused(tmp_path / "job", message, read)


@pytest.mark.parametrize(("old", "new", "message"), [
    (b"(40, 3)", b"(2147483647, 3)", "51539607528 bytes are announced, 960 are there"),
    (b"(40, 3)", b"(-1, 3)", "less than nothing"), (b"(40, 3)", b"[[[[[[", "its head is damaged"),
    (b"'descr'", b"\0desc'", "its head is damaged"), (b"NUMPY\1", b"NUMPY\7", "version 7.0 is not known"),
    (b"<f8", b"|O8", "it holds objects"), (b"\x93NUMPY", b"\x93numpy", "is no array in NumPy's format"),
])
def test_damaged_arrays(tmp_path, old, new, message):
    path = tmp_path / "p.npy"
    np.save(path, np.zeros((40, 3)))
    data = path.read_bytes()
    changed = data.replace(old, new)
    # the head keeps its length
    cut = changed.index(b"}") + 1
    more = len(changed) - len(data)
    path.write_bytes(changed[:cut] + (changed[cut + more:] if more > 0 else b" " * -more + changed[cut:]))
    refused(path, message, read_points)


def test_an_array_that_python_2_has_described(tmp_path, recwarn):
    path = tmp_path / "p.npy"
    np.save(path, np.ones((40, 3)))
    path.write_bytes(path.read_bytes().replace(b"(40, 3), }", b"(40L, 3)} "))
    assert read_points(path).shape == (40, 3)
    assert not recwarn.list


@pytest.mark.parametrize("inside", [100_000 * "<a>", f"<{'a' * 300_000}/>", f"<a b='{100_000 * '['}'/>"])
def test_messages_of_meshio_that_are_many_or_long(tmp_path, inside):
    path = tmp_path / "m.xml"
    path.write_text('<dolfin><mesh celltype="tetrahedron" dim="3">' + inside)
    refused(path, "cannot be read")


def test_messages_of_meshio_are_told_as_they_are(tmp_path, caplog):
    path = tmp_path / "m.xml"
    meshio.write(path, meshio.Mesh(np.eye(4)[:, :3], [("tetra", [[0, 1, 2, 3]])]), file_format="dolfin-xml")
    path.write_text(path.read_text().replace("</mesh>", "<odd/><other/></mesh>"))
    with caplog.at_level("INFO"):
        assert read_mesh(path).ncells == 1
    assert "Warning: Unknown entry odd. Ignoring. Warning: Unknown entry other. Ignoring." in caplog.text


def test_a_deck_that_includes_many_files_that_are_gone(tmp_path):
    path = tmp_path / "deck.inp"
    path.write_text("".join(f"*INCLUDE,INPUT={name}\n" for name in ["a", "a", *"bcde", 5000 * "x"]))
    with pytest.raises(FormatError) as error:
        read_mesh(path)
    assert str(error.value) == f"{path}: no nodes (*NODE); the included files a, b, c and 3 more are not there"


def test_no_error_quotes_half_a_file(tmp_path):
    path = tmp_path / "hosts"
    path.write_text("a:" + 9000 * "2b:" + "\n")
    with pytest.raises(FormatError) as error:
        launch.read_hydra_hostfile(path)
    assert len(error.value.rule) < 1500
    assert error.value.rule.startswith("needs HOST or HOST:COUNT, got 'a:2b:2b")
    assert error.value.rule.endswith("2b:2b:'")


@pytest.mark.parametrize(("name", "text"), [
    ("m.su2", "NDIME= 2\nNELEM= 1\n5 0 1 2 0\nNPOIN= 3\n0 0 0\n1 0 1\n0 1 2\nNMARK= 0\n"),
    ("m.inp", "*NODE\n1,0,0,0\n2,1,0,0\n3,0,1,0\n4,0,0,1\n*ELEMENT, TYPE=C3D4\n1,1,2,3,4\n"),
    ("m.mdpa", "Begin Nodes\n1 0 0 0\n2 1 0 0\n3 0 1 0\nEnd Nodes\nBegin Elements Element2D3N\n1 0 1 2 3\n"
               "End Elements\n")])
def test_files_that_an_editor_of_windows_has_saved(tmp_path, name, text):
    (tmp_path / name).write_bytes(text.replace("\n", "\r\n").encode("utf-8-sig"))
    assert read_mesh(tmp_path / name).ncells == 1


def test_a_digit_that_is_no_number(tmp_path):
    (tmp_path / "m.su2").write_text("NDIME= 2\nNELEM= \u00b2\n", encoding="utf-8")
    refused(tmp_path / "m.su2", "NELEM needs a whole number")
    write_gmsh(tmp_path / "m.msh", cube("hexa", 1).replace(cell_groups={"\u00b2": [0]}), np.zeros(1, int))
    assert read_mesh(tmp_path / "m.msh").cell_groups["\u00b2"].tolist() == [0]
