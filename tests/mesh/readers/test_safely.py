"""``--safe``: files of unknown origin are read in a process of their own."""

import pickle
import time

import numpy as np
import pytest

from copart.cli import main
from copart.errors import FormatError
from copart.mesh import cube, read_mesh, reading_safely, write_vtu
from copart.mesh.readers import safely


@pytest.fixture
def file(tmp_path):
    write_vtu(tmp_path / "mesh.vtu", cube("hexa", 2).replace(cell_groups={"low": np.arange(4)}))
    return tmp_path / "mesh.vtu"


def test_the_same_mesh(file):
    here = read_mesh(file)
    with reading_safely():
        there = read_mesh(file)
    assert (there.points == here.points).all()
    assert all((x == y).all() for (_, x), (_, y) in zip(here.blocks, there.blocks, strict=True))
    assert there.cell_groups.keys() == here.cell_groups.keys()
    assert there.name == here.name


def test_the_same_errors(file):
    file.write_bytes(file.read_bytes()[:300])
    with pytest.raises(FormatError) as here:
        read_mesh(file)
    with reading_safely(), pytest.raises(FormatError) as there:
        read_mesh(file)
    assert str(there.value) == str(here.value)


@pytest.mark.parametrize(("does", "says"), [
    ("import time; time.sleep(60)", "within 2 seconds"),
    ("import os; os.kill(os.getpid(), 11)", "SIGSEGV"),
    ("x = bytearray(10**10)", "more (than|data)"),
])
def test_what_hangs_crashes_or_takes_all_memory_is_one_error(file, tmp_path, monkeypatch, does, says):
    """The child imports a module of this name first, which stands for a library that goes wrong."""
    (tmp_path / "lib").mkdir()
    (tmp_path / "lib" / "meshio.py").write_text(does)
    path = file.rename(tmp_path / "mesh.vtk")  # which is read by it
    monkeypatch.syspath_prepend(str(tmp_path / "lib"))
    begin = time.monotonic()
    with reading_safely(seconds=2, gigabytes=2.0), pytest.raises(FormatError, match=says):
        read_mesh(path)
    assert time.monotonic() - begin < 30


def test_the_command_line_asks_for_it(file, tmp_path, monkeypatch):
    read = []
    real = safely.read_in_child

    def noted(path, within):
        read.append(path.name)
        return real(path, within)
    monkeypatch.setattr("copart.mesh.readers.reading.read_in_child", noted)
    assert main(["mesh", "info", str(file), "--safe", "-q"]) == 0
    assert read == ["mesh.vtu"]
    assert main(["mesh", "info", str(file), "-q"]) == 0
    assert read == ["mesh.vtu"]


def test_errors_of_files_travel_between_processes():
    error = pickle.loads(pickle.dumps(FormatError("mesh.vtu", "is bad", 3)))
    assert (str(error), error.path, error.line) == ("mesh.vtu:3: is bad", "mesh.vtu", 3)
