"""VTU files read without meshio: the same meshes, and nothing that meshio would not read."""

from __future__ import annotations

import base64

import meshio
import numpy as np
import pytest

from copart.errors import CopartError
from copart.mesh import Mesh, cube, read_mesh, write_vtu
from copart.mesh.readers import reading
from copart.mesh.readers.plain_vtu import plain_vtu
from copart.plans.plan import plan


def flat() -> Mesh:
    """Triangles and quadrilaterals in turn, with groups and arrays of several kinds."""
    points = np.random.default_rng(3).random((9, 2))
    return Mesh(points, [("triangle", [[0, 1, 3]]), ("quad", [[1, 2, 5, 4]]), ("triangle", [[3, 4, 6], [4, 7, 6]])],
                {"id": np.arange(4, dtype=np.int16), "vector": np.arange(12.0).reshape(4, 3)},
                facet_groups={"low": [[0, 1]]}, cell_groups={"some": [1, 3]}, interface="low")


def by_meshio(path, monkeypatch) -> Mesh:
    with monkeypatch.context() as patch:
        patch.setattr(reading, "plain_vtu", lambda path: None)
        return read_mesh(path)


def same(one: Mesh, other: Mesh) -> bool:
    return (repr(one) == repr(other) and one.remarks == other.remarks and np.array_equal(one.points, other.points)
            and all(a[0] == b[0] and np.array_equal(a[1], b[1]) for a, b in zip(one.blocks, other.blocks, strict=True))
            and all(np.array_equal(values, other.cell_data[name]) and values.dtype == other.cell_data[name].dtype
                    for name, values in one.cell_data.items())
            and all(np.array_equal(mine[name], theirs[name]) for mine, theirs in (
                (one.facet_groups, other.facet_groups), (one.cell_groups, other.cell_groups)) for name in mine))


@pytest.mark.parametrize("mesh", [flat(), cube("hexa", 4), cube("tetra", 200), cube("hexa", 3).translated((0, 1e9, 0))],
                         ids=["flat", "hexa", "tetra", "far"])
@pytest.mark.parametrize("compression", ["own", "zlib", None])
@pytest.mark.parametrize("header", ["UInt32", "UInt64"])
def test_the_mesh_is_that_of_meshio(mesh, compression, header, tmp_path, monkeypatch):
    path = tmp_path / "m.vtu"
    if compression == "own":
        write_vtu(path, mesh)
    else:
        arrays = {k: np.split(v, np.cumsum([len(c) for _, c in mesh.blocks])[:-1]) for k, v in mesh.cell_data.items()}
        meshio.vtu.write(path, meshio.Mesh(mesh.points, list(mesh.blocks), {"p": mesh.points[:, 0]}, arrays),
                         compression=compression, header_type=header)
    assert plain_vtu(path) is not None
    assert same(read_mesh(path), by_meshio(path, monkeypatch))


def test_arrays_of_several_blocks_are_read_whole(tmp_path, monkeypatch):
    mesh = cube("hexa", 36)  # 3 MB of nodes, blocks have 1 MB
    write_vtu(tmp_path / "m.vtu", mesh, {"x": mesh.centres()})
    assert same(read_mesh(tmp_path / "m.vtu"), by_meshio(tmp_path / "m.vtu", monkeypatch))
    write_vtu(tmp_path / "n.vtu", mesh, {"x": mesh.centres()}, threads=3)
    assert (tmp_path / "m.vtu").read_bytes() == (tmp_path / "n.vtu").read_bytes()


def test_files_of_other_forms_are_left_to_meshio(tmp_path):
    path = tmp_path / "m.vtu"
    meshio.vtu.write(path, meshio.Mesh(cube("hexa", 2).points, list(cube("hexa", 2).blocks)), binary=False)
    assert plain_vtu(path) is None
    assert read_mesh(path).ncells == 8
    wedge = Mesh(np.random.default_rng(1).random((6, 3)), [("wedge", [[0, 1, 2, 3, 4, 5]])])
    write_vtu(path, wedge)
    assert plain_vtu(path) is None
    assert np.array_equal(read_mesh(path).blocks[0][1], wedge.blocks[0][1])
    text = write_vtu(path, flat()).read_text()
    for old, new in (("LittleEndian", "BigEndian"), ("UnstructuredGrid", "PolyData"), ("vtkZLib", "vtkLZ4"),
                     ('Name="types"', 'Name="kinds"'), ('NumberOfCells="4"', 'NumberOfCells="5"'),
                     ("</Points>", "</Point>"), ('Name="id"', 'Name="a>b"'), ("<Cells>", "<Cells><Cells/>")):
        assert old in text
        path.write_text(text.replace(old, new))
        assert plain_vtu(path) is None, new


@pytest.mark.parametrize("word", range(4))
@pytest.mark.parametrize("value", [0, 1, 7, 2**31, 2**62])
def test_sizes_that_are_wrong_fill_no_memory(word, value, tmp_path):
    text = write_vtu(tmp_path / "m.vtu", cube("hexa", 2)).read_text()
    begin = text.index("\n", text.index('Name="connectivity"')) + 1
    head = np.frombuffer(base64.b64decode(text[begin:begin + 44])[:32], np.uint64).copy()
    if head[word] == value:
        return
    head[word] = value
    (tmp_path / "m.vtu").write_text(text[:begin] + base64.b64encode(head.tobytes()).decode() + text[begin + 44:])
    # a single block is no longer than what is left, whatever a full one would be
    assert plain_vtu(tmp_path / "m.vtu") is None or word == 1


def test_no_file_that_ends_early_is_read(tmp_path):
    raw = write_vtu(tmp_path / "m.vtu", flat()).read_bytes()
    for end in range(0, len(raw) - 12, 13):
        (tmp_path / "m.vtu").write_bytes(raw[:end])
        assert plain_vtu(tmp_path / "m.vtu") is None


@pytest.mark.parametrize("threads", [1, 2])
def test_the_error_of_the_first_file_is_told(threads, tmp_path):
    good, bad = write_vtu(tmp_path / "good.vtu", cube("hexa", 3)), tmp_path / "bad.vtu"
    bad.write_bytes(good.read_bytes()[:900])
    worse = tmp_path / "worse.vtu"
    worse.write_bytes(good.read_bytes()[:700])
    with pytest.raises(CopartError, match=r"no cell group or array 'no'|'no'"):
        plan(f"{good}:no", bad, parts=(2, 2), threads=threads)
    with pytest.raises(CopartError, match=r"bad\.vtu"):
        plan(bad, worse, parts=(2, 2), threads=threads)
    with pytest.raises(CopartError, match=r"bad\.vtu"):
        plan(good, bad, parts=(2, 2), threads=threads)


def test_two_files_are_read_once_each(tmp_path, monkeypatch):
    write_vtu(tmp_path / "a.vtu", cube("hexa", 4))
    write_vtu(tmp_path / "b.vtu", cube("hexa", 3, offset=(1, 0, 0)))
    asked: list[str] = []

    def counted(path):
        asked.append(path.name)
        return plain_vtu(path)

    monkeypatch.setattr(reading, "plain_vtu", counted)
    plan(tmp_path / "a.vtu", tmp_path / "b.vtu", parts=(2, 2), threads=2)
    assert sorted(asked) == ["a.vtu", "b.vtu"]
