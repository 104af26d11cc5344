"""Formats that meshio reads: what it would get wrong without a word."""

from __future__ import annotations

import struct

import meshio
import numpy as np
import pytest

from copart.errors import FormatError
from copart.mesh import read_mesh

SQUARE = "0 0 0\n1 0 0\n1 1 0\n0 1 0\n"


def read(tmp_path, name, text):
    (tmp_path / name).write_text(text)
    return read_mesh(tmp_path / name)


@pytest.mark.parametrize("body", [" (", "\n("])
def test_cells_by_their_faces_in_fluent_files_are_refused(tmp_path, body):
    head = '(0 "grid")\n(2 2)\n(10 (0 1 4 0 2))\n(10 (1 1 4 1 2)(\n0 0\n1 0\n1 1\n0 1\n))\n(12 (0 1 1 0))\n'
    with pytest.raises(FormatError, match=r"a mesh of Fluent by its faces.*fluentMeshToFoam"):
        read(tmp_path, "a.msh", f"{head}(13 (0 1 4 0))\n(13 (3 1 4 3 2){body}\n1 2 1 0\n2 3 1 0\n3 4 1 0\n4 1 1 0))")


def test_coordinates_in_ugrid_texts_keep_their_digits(tmp_path):
    points = np.array([[1000.0001, 0, 0], [1000.0002, 0, 0], [1000.0001, 1e-4, 0], [1000.0001, 0, 1e-4]])
    text = "\n".join(" ".join(map(repr, row)) for row in points.tolist())
    mesh = read(tmp_path, "a.ugrid", f"4 0 0 1 0 0 0\n{text}\n1 2 3 4\n")
    assert mesh.points.tolist() == points.tolist()
    assert meshio.ugrid._ugrid.file_types["ascii"]["float_type"] == "f"  # for others as it was


@pytest.mark.parametrize(("more", "said"), [(0, ()), (1, ("1 zone after the first is left out",)),
                                            (2, ("2 zones after the first are left out",))])
def test_zones_of_tecplot_files_that_are_left_out_are_told(tmp_path, more, said):
    zone = f'ZONE T="a", N=4, E=1, DATAPACKING=POINT, ZONETYPE=FEQUADRILATERAL\n{SQUARE}1 2 3 4\n'
    mesh = read(tmp_path, "a.dat", 'VARIABLES = "X", "Y", "Z"\n' + zone + zone.lower() * more)
    assert mesh.ncells == 1
    assert mesh.remarks == said


def test_values_on_cells_of_several_types_in_avs_files(tmp_path):
    text = "5 3 0 1 0\n3 0 0 0\n4 1 0 0\n5 1 1 0\n9 0 1 0\n7 2 0 0\n" \
        "1 1 quad 3 4 5 9\n4 2 tri 4 7 5\n6 1 line 3 9\n1 1\nload, kg\n4 2.5\n1 1.5\n6 9\n"
    mesh = read(tmp_path, "a.avs", text)
    assert mesh.cell_data["load"].tolist() == [1.5, 2.5]
    assert [nodes.tolist() for _, nodes in mesh.blocks] == [[[0, 1, 2, 3]], [[1, 4, 2]]]
    with pytest.raises(TypeError):
        meshio.CellBlock("line", [[0, 1]])[0]  # for others as it was


def test_xdmf_that_counts_from_one_is_refused(tmp_path):
    items = '<DataItem Format="XML" Dimensions="5 3">0 0 0 1 0 0 1 1 0 0 1 0 9 9 9</DataItem></Geometry>' \
        '<Topology TopologyType="Quadrilateral" NumberOfElements="1" BaseOffset="{}">' \
        '<DataItem Format="XML" Dimensions="1 4" NumberType="Int">1 2 3 4</DataItem></Topology>'
    text = f'<Xdmf Version="3.0"><Domain><Grid><Geometry GeometryType="XYZ">{items}</Grid></Domain></Xdmf>'
    assert read(tmp_path, "a.xdmf", text.format(0)).ncells == 1
    with pytest.raises(FormatError, match=r"counts nodes from 1 \(BaseOffset\)"):
        read(tmp_path, "a.xdmf", text.format(1))


def test_vtk_files_that_are_not_read_name_the_way(tmp_path):
    with pytest.raises(FormatError, match=r"not POLYDATA.*ParaView reads more of such files, and saves them as \.vtu"):
        read(tmp_path, "a.vtk", "# vtk DataFile Version 3.0\nt\nASCII\nDATASET POLYDATA\nPOINTS 0 float\n")


@pytest.mark.parametrize("head", [b"made by hand", b"solid made by hand"])
def test_binary_stl_of_another_length_is_refused(tmp_path, head):
    triangle = struct.pack("<12fH", 0, 0, 1, 0, 0, 0, 1, 0, 0, 0, 1, 0, 0)
    data = head.ljust(80) + struct.pack("<I", 2) + 2 * triangle
    (tmp_path / "a.stl").write_bytes(data)
    assert read_mesh(tmp_path / "a.stl").ncells == 2
    for wrong in (data[:-20], data + b"more"):
        (tmp_path / "a.stl").write_bytes(wrong)
        with pytest.raises(FormatError, match=f"2 triangles take 184 bytes, the file has {len(wrong)}; it is "):
            read_mesh(tmp_path / "a.stl")
