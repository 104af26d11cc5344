"""OBJ, OFF and PLY: polygons in every form that programs write them in."""

from __future__ import annotations

import struct

import numpy as np
import pytest

from copart.errors import FormatError
from copart.mesh import Mesh, dual_graph, read_mesh

POINTS = [[0, 0, 0], [1, 0, 0], [1, 1, 0], [0, 1, 0], [2, 0, 0.1], [2, 1, 0]]
FACES = [[0, 1, 2, 3], [1, 4, 2], [4, 5, 2]]
VERTICES = "".join(f"v {x} {y} {z}\n" for x, y, z in POINTS)


def read(tmp_path, name, data):
    (tmp_path / name).write_bytes(data if isinstance(data, bytes) else data.encode())
    return read_mesh(tmp_path / name)


def same(mesh, faces=FACES):
    assert np.allclose(mesh.points, POINTS)
    assert [row for _, nodes in mesh.blocks for row in nodes.tolist()] == faces
    assert dual_graph(mesh).nedges == 2
    return mesh


@pytest.mark.parametrize("text", [
    VERTICES + "f 1 2 3 4\nf 2 5 3\nf 5 6 3\n",
    VERTICES + "f -6 -5 -4 -3\nf -5 -2 -4\nf 5 -1 3\n",
    VERTICES + "vn 0 0 1\nvt 0 0\nf 1/1/1 2/1/1 3//1 4/1\nf 2//1 5//1 3//1\nf 5 6 3\n",
    VERTICES.replace("\n", " 1.0\n") + "o part\nusemtl steel\nf 1 2 3 4\ns off\nf 2 5 3\nf 5 6 3\n",
    VERTICES.replace("\n", " 0.2 0.3 0.4\r\n") + "f 1 2 \\\r\n 3 4 # first\r\nf 2 5 3\r\nf 5 6 3\r\n"])
def test_obj(tmp_path, text):
    same(read(tmp_path, "a.obj", text))


def test_groups_of_obj(tmp_path):
    mesh = same(read(tmp_path, "a.obj", VERTICES + "f 1 2 3 4\ng one\ng two\nf 2 5 3\nf 5 6 3\nl 1 2\n"))
    assert mesh.cell_data["obj:group_ids"].tolist() == [-1, 1, 1]
    assert mesh.remarks == ("lines that begin with l are left out",)


OFF = "".join(f"{x} {y}  {z}\n" for x, y, z in POINTS) + "4 0 1 2 3\n3  1 4 2\n3 4 5 2\n"


@pytest.mark.parametrize("text", [
    "OFF\n6 3 0\n" + OFF, "OFF 6  3\n" + OFF, "# by hand\nOFF # surface\n\n6 3 7\n" + OFF.replace("\n", " # x\n\n"),
    "COFF\n6 3 0\n" + OFF.replace("\n", " 255 0 0 255\n"), ("OFF\n6 3 0\n" + OFF).replace("\n", "\r\n")])
def test_off(tmp_path, text):
    same(read(tmp_path, "a.off", text))


def ply(order, name="vertex_indices", extra=True, faces=FACES):
    """A file with elements and arrays beside the vertices and faces."""
    kind = {"": "ascii", "<": "binary_little_endian", ">": "binary_big_endian"}[order]
    head = f"ply\nformat {kind} 1.0\ncomment x\nelement camera 1\nproperty list uchar short at\n" \
        f"element vertex 6\nproperty float x\nproperty double y\nproperty float z\nproperty uchar red\n" \
        f"element face {len(faces)}\nproperty list uchar int {name}\n" \
        + ("property ushort load\nproperty list uchar float tex\n" if extra else "") + "end_header\n"

    def pack(form, *values):
        return struct.pack(order + form, *values) if order else (" ".join(map(str, values)) + "\n").encode()

    out = head.encode() + pack("B2h", 2, 7, 8)
    out += b"".join(pack("fdfB", *point, 200) for point in POINTS)
    for i, face in enumerate(faces):
        out += pack(f"B{len(face)}i", len(face), *face) + (pack("HB2f", 300 + i, 2, 0.5, 0.5) if extra else b"")
    return out


@pytest.mark.parametrize("order", ["", "<", ">"])
@pytest.mark.parametrize("name", ["vertex_indices", "vertex_index"])
def test_ply(tmp_path, order, name):
    mesh = same(read(tmp_path, "a.ply", ply(order, name)))
    assert mesh.cell_data["load"].tolist() == [300, 301, 302]
    assert mesh.remarks == ("arrays on points are left out: red",)
    triangles = [[0, 1, 2], [1, 4, 2], [0, 2, 3]]
    assert not same(read(tmp_path, "b.ply", ply(order, name, False, triangles)), triangles).cell_data
    with pytest.raises(FormatError, match="3 elements face announced, the file ends too early"):
        read(tmp_path, "c.ply", ply(order, name)[:-3 if order else -9])


@pytest.mark.parametrize(("name", "text", "said"), [
    ("a.obj", VERTICES + "f 1 2 x\n", ":7: not a whole number: 'x'"),
    ("a.obj", "v 0 0\nf 1 1 1\n", ":1: a point needs 3"),
    ("a.obj", VERTICES, "has no faces"), ("a.obj", VERTICES + "f 1 2 9\n", "outside the 6 points"),
    ("a.off", "OFF\n6 4 0\n" + OFF, "6 points and 4 faces announced, 9 lines found"),
    ("a.off", "OFF\n6 3 0\n" + OFF.replace("4 0 1 2 3", "5 0 1 2 3"), ":9: a face of 5 corners has 4 numbers"),
    ("a.off", "OF\n", "must begin with OFF"),
    ("a.ply", "ply\nformat ascii 1.0\nelement face x\nend_header\n", ":3: 'element face x' is no line of a head"),
    ("a.ply", "ply\nformat ascii 1.0\nend_header\n", "has no points")])
def test_what_breaks_the_format_is_named(tmp_path, name, text, said):
    with pytest.raises(FormatError, match=said):
        read(tmp_path, name, text)


def test_one_point_cells_and_edges_beside_polygons_are_no_cells(tmp_path):
    mesh = read(tmp_path, "a.obj", VERTICES + "f 1\nf 1 2\nf 1 2 3 4\n")
    assert isinstance(mesh, Mesh)
    assert (mesh.ncells, mesh.cell_data["obj:group_ids"].tolist()) == (1, [-1])
