"""XDMF files name other files: only those beside them are opened."""

import numpy as np
import pytest

from copart.errors import FormatError
from copart.mesh import cube, read_mesh

h5py = pytest.importorskip("h5py")
meshio = pytest.importorskip("meshio")


@pytest.fixture
def file(tmp_path):
    mesh = cube("hexa", 2)
    home = tmp_path / "home"
    home.mkdir()
    path = home / "mesh.xdmf"
    meshio.write(path, meshio.Mesh(mesh.points, [("hexahedron", mesh.blocks[0][1])]))
    assert read_mesh(path).ncells == 8
    return path


def renamed(path, name):
    path.write_text(path.read_text().replace("mesh.h5:", f"{name}:"))


@pytest.mark.parametrize("way", ["absolute", "above", "link"])
def test_files_elsewhere_are_not_opened(file, tmp_path, monkeypatch, way):
    outside = tmp_path / "secret.h5"
    (file.parent / "mesh.h5").rename(outside)
    if way == "link":
        (file.parent / "mesh.h5").symlink_to(outside)
    else:
        renamed(file, str(outside) if way == "absolute" else "../secret.h5")
    with pytest.raises(FormatError, match=r"is not beside it.*COPART_OUTSIDE_FILES"):
        read_mesh(file)
    monkeypatch.setenv("COPART_OUTSIDE_FILES", "1")
    assert read_mesh(file).ncells == 8


def test_files_below_are(file):
    (file.parent / "data").mkdir()
    (file.parent / "mesh.h5").rename(file.parent / "data" / "mesh.h5")
    renamed(file, "data/mesh.h5")
    assert read_mesh(file).ncells == 8


def test_binary_items_elsewhere_are_not_opened(file, tmp_path):
    np.zeros(81).tofile(tmp_path / "points.bin")
    text = file.read_text()
    start = text.index(">", text.index("<DataItem")) + 1
    end = text.index("</DataItem>")
    file.write_text(text[:start].replace('Format="HDF"', 'Format="Binary"', 1) + f"{tmp_path}/points.bin" + text[end:])
    with pytest.raises(FormatError, match="is not beside it"):
        read_mesh(file)
