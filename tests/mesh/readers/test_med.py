"""MED files: polygons, polyhedra, several meshes, values, old versions."""

from __future__ import annotations

import numpy as np
import pytest

from copart.errors import FormatError
from copart.mesh import dual_graph, read_mesh
from copart.mesh.interfaces.surface import boundary_surface
from copart.plans.sources import open_mesh, zones

from ... import med

pytest.importorskip("h5py")


def bad(path, match):
    with pytest.raises(FormatError, match=match) as caught:
        read_mesh(path)
    assert str(path) in str(caught.value)
    assert "\n" not in str(caught.value)


def test_polyhedra_meet_ordinary_cells(tmp_path):
    mesh = read_mesh(med.save(tmp_path / "m.med", {"m": med.solid()}))
    assert mesh.polyhedra is not None
    assert mesh.ncells == 2
    assert dual_graph(mesh).nedges == 1
    assert {k: v.tolist() for k, v in mesh.cell_groups.items()} == {"hot zone": [1], "other": [1]}
    assert mesh.cell_data["cell_tags"].tolist() == [0, -2]
    assert mesh.facet_groups["wall"].tolist() == [[0, 3, 9, 6]]
    assert mesh.point_groups["left"].tolist() == [0, 3, 6, 9]
    for name in ("wall", "left"):
        surface = boundary_surface(mesh.select(name))
        assert surface.cell.tolist() == [0]
        assert (surface.corners[..., 0] == 0).all()
    assert mesh.remarks == ("cells of lower dimension that belong to no named group are left out: 1 quad",)


def test_polyhedra_of_ordinary_shapes_are_blocks(tmp_path):
    cube = [[1, 2, 5, 4], [7, 8, 11, 10], [1, 2, 8, 7], [2, 5, 11, 8], [5, 4, 10, 11], [4, 1, 7, 10]]
    mesh = read_mesh(med.save(tmp_path / "m.med", {"m": (3, med.POINTS, {"POE": ([cube], [0])}, {})}))
    assert [(t, sorted(c[0].tolist())) for t, c in mesh.blocks] == [("hexahedron", [0, 1, 3, 4, 6, 7, 9, 10])]


def test_several_meshes_are_chosen_by_name(tmp_path):
    line = (1, med.POINTS[:2, :1], {"SE2": ([[1, 2]], [0])}, {})
    path = med.save(tmp_path / "m.mmed", {"first mesh": med.solid(), "second": med.solid(5.0), "axis": line})
    mesh = read_mesh(path)
    assert zones(str(path), mesh) == ["first mesh", "second"]
    assert "meshes of less dimension are left out: axis" in mesh.remarks
    second = open_mesh(f"{path}:second")
    assert second.ncells == 2
    assert second.bounds[0].tolist() == [0, 5, 0]
    assert dual_graph(second).nedges == 1
    assert open_mesh(f"{path}:first mesh:wall").bounds[0].tolist() == [0, 0, 0]


def test_polygons_in_the_plane_and_values(tmp_path):
    points = np.array([[0, 0], [1, 0], [2, 0], [2, 1], [1, 1], [0, 1], [1, 2]], float)
    elements = {"POG": ([[2, 3, 4, 7, 5]], [-1]), "QU4": ([[1, 2, 5, 6]], [0]), "SE2": ([[1, 2]], [-2])}
    mesh = read_mesh(med.save(tmp_path / "m.med", {"m": (2, points, elements, {-1: ["hot"], -2: ["low"]})}))
    assert sorted((t, c.shape) for t, c in mesh.blocks) == [("polygon", (1, 5)), ("quad", (1, 4))]
    assert dual_graph(mesh).nedges == 1
    assert mesh.facet_groups["low"].tolist() == [[0, 1]]
    del elements["POG"]
    elements["QU4"] = [[1, 2, 5, 6], [2, 3, 4, 5]], [0, -1]
    fields = [("load", "m", {"MAI.QU4": [3, 5], "NOE": range(7)}), ("flow", "m", {"MAI.QU4": [1, 2, 3, 4]}),
              ("heat", "m", {"NOE": range(7)}), ("strange", "other", {"MAI.QU4": [1, 2]})]
    mesh = read_mesh(med.save(tmp_path / "m.rmed", {"m": (2, points, elements, {-1: ["hot"]})}, fields=fields))
    assert mesh.cell_data["load"].tolist() == [3, 5]
    assert mesh.cell_data["flow"].tolist() == [[1, 3], [2, 4]]
    assert "strange" not in mesh.cell_data
    assert any(r.endswith("are left out: heat") for r in mesh.remarks)


def test_what_is_refused(tmp_path):
    import h5py

    path = tmp_path / "m.med"
    bad(med.save(path, {}, version=(2, 1, 5)), r"holds no mesh \(ENS_MAA\) \(MED 2.1; medimport m.med NEW.med makes a")
    for change, said in [
        (lambda step: step["MAI/HE8"].move("NOD", "DES"), r"mesh m: elements HE8 are given by their faces \(DES\)"),
        (lambda step: step["MAI"].move("HE8", "XX9"), "mesh m: elements of type 'XX9' are not supported"),
        (lambda step: step["MAI/POE/INN"].write_direct(np.arange(10)), r"mesh m: POE: INN must rise from 1 to 33"),
        (lambda step: step["MAI/HE8/NOD"].write_direct(np.full(8, 99)), "elements HE8 name node 99, it has 13"),
        (lambda step: step.parent.attrs.__setitem__("TYP", 1), "mesh m is a structured grid"),
        (lambda step: step.pop("MAI"), r"mesh m has no elements \(MAI\) \(MED 4.1\)"),
        (lambda step: step.pop("NOE"), r"mesh m has no nodes \(NOE\)"),
    ]:
        med.save(path, {"m": med.solid()})
        with h5py.File(path, "a") as data:
            change(data[f"ENS_MAA/m/{med.STEP}"])
        bad(path, said)
