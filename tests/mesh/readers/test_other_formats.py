"""Formats that meshio reads: what it would get wrong without a word."""

from __future__ import annotations

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
