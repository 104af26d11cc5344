"""``--write``: the files appear with a plan, hold its parts, and nothing that was read is written over."""

from __future__ import annotations

import json

import numpy as np
import pytest

import copart
from copart.cli import main
from copart.errors import ConfigError, FormatError, MeshError
from copart.formats import read_part, write_metis
from copart.mesh import Mesh, cube, read_mesh, write_vtu
from copart.mesh.writing.gmsh_parts import write_gmsh
from copart.plans.verify import check_plan
from copart.plans.writers import KINDS, checked_kinds, native_kinds, openfoam_regions

from ..file_readers import read_foam, read_msh2, read_pvtu, read_vtu
from ..helpers import grid, shared

A, B = cube("hexa", 4).replace(name="left"), cube("hexa", 5, offset=(1, 0, 0)).replace(name="right")
EVERYTHING = ",".join(KINDS)


def names(folder):
    return sorted(str(p.relative_to(folder)) for p in folder.rglob("*") if p.is_file())


# ---- with a plan
def test_every_file_holds_the_plan(tmp_path):
    plan = copart.plan(A, B, parts=(3, 5), output=tmp_path / "out", write=EVERYTHING)
    out = tmp_path / "out"
    assert names(out) == sorted(str(p.relative_to(out)) for p in plan.files)
    assert {p.name for p in out.iterdir()} == {
        "left.vtu", "right.vtu", "left.part.3", "right.part.5", "left.3", "left.3.pvtu", "left.3.msh", "left.3.aste",
        "left.3.openfoam", "right.5", "right.5.pvtu", "right.5.msh", "right.5.aste", "right.5.openfoam", "precice.xml",
        "interedges.mtx", "coupling.json", "exchange", "launch", "metrics.json"}
    for name, mesh, k in (("left", A, 3), ("right", B, 5)):
        part = plan.copartition[name]
        assert np.array_equal(read_vtu(out / f"{name}.vtu")["CellData"]["part"], part)
        assert read_part(out / f"{name}.part.{k}", mesh.ncells, k).tolist() == part.tolist()
        case = out / f"{name}.{k}.openfoam"
        header, labels = read_foam(case / "constant" / "cellDecomposition")
        assert (header["class"], labels) == ("labelList", part.tolist())
        assert read_foam(case / "system" / "decomposeParDict")[1]["numberOfSubdomains"] == str(k)
        assert [tags[3] - 1 for _, tags, _ in read_msh2(out / f"{name}.{k}.msh")["elements"]] == part.tolist()
        coupled = np.isin(np.arange(mesh.ncells), plan.problem.coupled(name))
        pieces, _ = read_pvtu(out / f"{name}.{k}.pvtu")
        for p, piece in enumerate(pieces):
            ids = piece["CellData"]["GlobalCellIds"]
            assert np.array_equal(ids[piece["CellData"]["vtkGhostType"] == 0], np.flatnonzero(part == p))
            assert np.array_equal(piece["CellData"]["coupled"], coupled[ids])
        surface = read_vtu(out / f"{name}.{k}.aste" / f"{name}.vtu")
        assert set(surface["CellData"]["GlobalCellIds"].tolist()) == set(plan.problem.coupled(name).tolist())
        rank = [len(read_vtu(out / f"{name}.{k}.aste" / f"{name}_{p}.vtu")["points"]) for p in range(k)]
        assert sum(rank) == len(surface["points"]) == (k == 3) * 25 + (k == 5) * 36
        owners = set(np.unique(part[coupled]).tolist())
        assert {p for p in range(k) if rank[p]} <= owners, "only coupled parts have points"
    assert main(["check", str(out), "-q"]) == 0


def test_nothing_appears_where_one_file_cannot_be_made(tmp_path, monkeypatch):
    out = tmp_path / "out"
    copart.plan(A, B, parts=(2, 2), output=out)
    before = {name: (out / name).read_bytes() for name in names(out)}

    def broken(*_):
        raise OSError(28, "No space left on device")

    monkeypatch.setattr("copart.plans.output.write_precice", broken)
    with pytest.raises(FormatError, match="no space left on device"):
        copart.plan(A, B, parts=(2, 2), seed=2, output=out, write=EVERYTHING)
    assert {name: (out / name).read_bytes() for name in names(out)} == before
    with pytest.raises(FormatError, match="no space left on device"):
        copart.plan(A, B, parts=(2, 2), output=tmp_path / "fresh", write="precice")
    assert not (tmp_path / "fresh").exists()


def test_a_mesh_that_a_format_cannot_hold_leaves_nothing(tmp_path):
    flat = Mesh([[0, 0], [1, 0], [1, 1], [.5, 1.5], [0, 1], [2, 0], [2, 1]],
                [("polygon", [[0, 1, 2, 3, 4]]), ("quad", [[1, 5, 6, 2]])], name="odd")
    other = Mesh([[0, -1], [2, -1], [2, 0], [0, 0]], [("quad", [[0, 1, 2, 3]])], name="other")
    with pytest.raises(MeshError, match="cells polygon: cannot be written for gmsh"):
        copart.plan(flat, other, parts=(1, 1), output=tmp_path / "out", write="gmsh")
    assert not (tmp_path / "out").exists()
    copart.plan(flat, other, parts=(1, 1), output=tmp_path / "out", write="pvtu")
    assert len(read_pvtu(tmp_path / "out" / "odd.1.pvtu")[0]) == 1


def test_a_chosen_interface_is_checked_again(tmp_path):
    """Two walls of A face B's copies; only the named one is coupled, and the files remember it."""
    facets = [[n + i for i in (0, 1, 6, 5)] for n in (100, 101, 102, 103)]
    assert (A.points[np.array(facets)][:, :, 2] == 1).all()
    above = cube("hexa", 4, offset=(0, 0, 1)).replace(name="above")
    named = A.replace(facet_groups={"strip": facets}).select("strip")
    plan = copart.plan(named, above, parts=(2, 2), output=tmp_path)
    assert len(plan.problem.interedges) == 4
    assert read_mesh(tmp_path / "left.vtu").interface == "strip"
    assert main(["check", str(tmp_path), "-q"]) == 0


# ---- which files
def test_kinds_are_checked_before_the_work(tmp_path):
    with pytest.raises(ConfigError, match="write: 'vtk' is not known; choose from pvtu, gmsh, openfoam, aste, precice"):
        copart.plan("nowhere.vtu", B, parts=(2, 2), output=tmp_path, write="gmsh,vtk")
    inter = copart.Interedges.from_pairs(4, 4, [3], [0])
    with pytest.raises(ConfigError, match="write: aste needs a mesh, component 'a' is a graph"):
        copart.plan(grid(4), grid(4), parts=(2, 2), interedges=inter, output=tmp_path, write=["precice", "aste"])
    assert names(tmp_path) == []
    files = copart.plan(grid(4), grid(4), parts=(2, 2), interedges=inter, output=tmp_path,
                        write="openfoam,precice").files
    assert [p.name for p in files if p.suffix not in (".json", ".mtx", ".npy")] == [
        "a.part.2", "b.part.2", *["cellDecomposition", "decomposeParDict"] * 2, "precice.xml", "programs.slurm",
        "launch.txt"]
    assert checked_kinds(None) is None
    assert checked_kinds("none") == checked_kinds([]) == ()
    assert checked_kinds(" aste , pvtu,pvtu") == ("pvtu", "aste")


def test_files_that_go_with_what_was_read(tmp_path):
    write_gmsh(tmp_path / "fluid.msh", A, np.zeros(64, np.int32))
    write_vtu(tmp_path / "solid.vtu", B)
    (tmp_path / "beam.msh").write_text("*NODE\n1,0,0,0\n")
    (tmp_path / "case").mkdir()
    told = {"fluid.msh": ("gmsh",), "solid.vtu": (), "beam.msh": (), "absent.msh": (), "case": ("openfoam",),
            "fluid.msh:zone=1": ("gmsh",)}
    assert {name: native_kinds(tmp_path / name, A) for name in told} == told
    assert native_kinds(None, A) == native_kinds(tmp_path / "fluid.msh", None) == ()
    full = Mesh(np.random.default_rng(0).random((27, 3)), [("hexahedron27", [list(range(27))])])
    assert native_kinds(tmp_path / "fluid.msh", full) == (), "gmsh cells that are not written yet"
    plan = copart.plan(tmp_path / "fluid.msh", tmp_path / "solid.vtu", parts=(2, 3), output=tmp_path / "out")
    usual = {p.name for p in copart.plan(A, B, parts=(2, 3), names=("fluid", "solid"), output=tmp_path / "one").files}
    assert {p.name for p in plan.files} == usual | {"fluid.2.msh"}
    assert {p.name for p in plan.write(tmp_path / "two", "none")} == usual
    assert {p.name for p in plan.write(tmp_path / "three", "precice")} == usual | {"precice.xml"}


def two_cells(folder, x):
    """A polyMesh of two hexahedra along x, the second before the first."""
    folder.mkdir(parents=True)
    points = [(x + i, j, k) for i in range(3) for j in range(2) for k in range(2)]
    around = [(0, 4, 5, 1), (2, 3, 7, 6), (0, 2, 6, 4), (1, 5, 7, 3)]
    faces = [(4, 5, 7, 6), (0, 1, 3, 2), (8, 10, 11, 9), *around, *([n + 4 for n in face] for face in around)]
    owner = [0, 1, 0, 1, 1, 1, 1, 0, 0, 0, 0]
    bodies = {"points": ("vectorField", [f"({a} {b} {c})" for a, b, c in points]),
              "faces": ("faceList", [f"4({' '.join(map(str, f))})" for f in faces]),
              "owner": ("labelList", owner), "neighbour": ("labelList", [1])}
    for name, (kind, rows) in bodies.items():
        text = "\n".join(map(str, rows))
        (folder / name).write_text(f"FoamFile\n{{\n format ascii;\n class {kind};\n object {name};\n}}\n"
                                   f"{len(rows)}\n(\n{text}\n)\n")
    (folder / "boundary").write_text("FoamFile\n{\n format ascii;\n class polyBoundaryMesh;\n object boundary;\n}\n"
                                     "1\n(\n walls\n {\n  type wall;\n  nFaces 10;\n  startFace 1;\n }\n)\n")


def test_regions_of_an_openfoam_case_get_their_own_files(tmp_path):
    case = tmp_path / "case"
    two_cells(case / "constant" / "gas" / "polyMesh", 0)
    two_cells(case / "constant" / "wall" / "polyMesh", 2)
    two_cells(tmp_path / "alone" / "constant" / "polyMesh", 4)
    plan = copart.plan(f"{case}:gas", f"{case}:wall", parts=(2, 2), output=tmp_path / "out")
    for name in ("gas", "wall"):
        base = tmp_path / "out" / f"{name}.2.openfoam"
        assert names(base) == [f"constant/{name}/cellDecomposition", f"system/{name}/decomposeParDict"]
        header, labels = read_foam(base / "constant" / name / "cellDecomposition")
        assert header["location"] == f"constant/{name}"
        assert labels == plan.copartition[name].tolist()
    owner = tmp_path / "alone" / "constant" / "polyMesh" / "owner"
    owner.write_text(owner.read_text().replace(" object", ' note "nPoints: 12 nCells: 2 nFaces: 11";\n object'))
    whole = read_mesh(tmp_path / "alone")
    assert native_kinds(tmp_path / "alone", whole) == ("openfoam",)
    zone = whole.replace(cell_groups={"one": [1]}).select("one")
    assert native_kinds(f"{tmp_path / 'alone'}:one", zone) == (), "decomposePar needs the whole mesh"
    # one component that is all regions: each region its own list, in its own order
    plan = copart.plan(case, tmp_path / "alone", parts=(4, 2), names=("both", "alone"), output=tmp_path / "all")
    base = tmp_path / "all" / "both.4.openfoam"
    found = {name: read_foam(base / "constant" / name / "cellDecomposition")[1] for name in ("gas", "wall")}
    cells = plan.meshes["both"].cell_groups
    assert found == {name: plan.copartition["both"][cells[name]].tolist() for name in ("gas", "wall")}
    assert names(tmp_path / "all" / "alone.2.openfoam") == ["constant/cellDecomposition", "system/decomposeParDict"]
    # the cells of one region are not known, and check says so
    assert "which cells the regions of OpenFOAM cases have" in check_plan(tmp_path / "all").unchecked
    cut = base.relative_to(tmp_path / "all") / "constant" / "gas" / "cellDecomposition"
    text = (tmp_path / "all" / cut).read_text()
    (tmp_path / "all" / cut).write_text(text.replace("\n2\n(", "\n3\n("))
    found = [str(one) for one in check_plan(tmp_path / "all").findings]
    assert any(line.startswith(f"{cut}: list: has as many processors as it says, 3") for line in found), found
    # a path to the region itself, and what is no case
    mesh = read_mesh(case / "constant" / "gas")
    assert openfoam_regions(str(case / "constant" / "gas"), mesh) == {"gas": None}
    assert openfoam_regions(str(case / "constant" / "gas" / "polyMesh" / "owner"), mesh) == {"gas": None}
    assert openfoam_regions("solid.vtu", mesh) == openfoam_regions(None, mesh) == {None: None}


# ---- what was read stays
def test_a_plan_does_not_write_over_its_input(tmp_path, capsys):
    write_vtu(tmp_path / "left.vtu", A)
    write_vtu(tmp_path / "right.vtu", B)
    before = {p.name: p.read_bytes() for p in tmp_path.iterdir()}
    with pytest.raises(ConfigError, match=r"left\.vtu is also read \(component left\); name another one"):
        copart.plan(tmp_path / "left.vtu", tmp_path / "right.vtu", parts=(2, 2), output=tmp_path)
    assert {p.name: p.read_bytes() for p in tmp_path.iterdir()} == before
    assert main(["plan", str(tmp_path / "left.vtu"), str(tmp_path / "right.vtu"), "--parts", "2", "2", "--names", "a",
                 "b", "-o", str(tmp_path), "--write", "precice", "-q"]) == 0
    assert {name: (tmp_path / name).read_bytes() for name in before} == before
    # also through a link, and in a later call
    (tmp_path / "out").mkdir()
    (tmp_path / "out" / "left.vtu").symlink_to(tmp_path / "left.vtu")
    plan = copart.plan(tmp_path / "left.vtu", tmp_path / "right.vtu", parts=(2, 2))
    with pytest.raises(ConfigError, match="is also read"):
        plan.write(tmp_path / "out")
    assert names(tmp_path / "out") == ["left.vtu"]


@pytest.mark.parametrize("target", ["box.vtu", "old.txt"])
def test_repart_does_not_write_over_its_input(tmp_path, capsys, monkeypatch, target):
    monkeypatch.chdir(tmp_path)
    write_vtu(tmp_path / "box.vtu", A)
    (tmp_path / "old.txt").write_text("0\n" * 64)
    before = {name: (tmp_path / name).read_bytes() for name in names(tmp_path)}
    assert main(["repart", "box.vtu", "old.txt", "2", "--from", "1", "-o", target]) == 2
    assert f"output: {target}" in capsys.readouterr().err
    assert {name: (tmp_path / name).read_bytes() for name in names(tmp_path)} == before


def test_a_folder_in_the_way_is_said_before_anything_moves(tmp_path):
    (tmp_path / "right.part.2").mkdir()
    with pytest.raises(ConfigError, match=r"output: .*right\.part\.2 is a folder"):
        copart.plan(A, B, parts=(2, 2), output=tmp_path)
    assert [p.name for p in tmp_path.iterdir()] == ["right.part.2"]


# ---- copart part
def test_part_writes_for_solvers(tmp_path, capsys):
    write_gmsh(tmp_path / "box.msh", A, np.zeros(64, np.int32))
    assert main(["part", str(tmp_path / "box.msh"), "4", "--write", "openfoam,gmsh,pvtu", "--json"]) == 0
    told = json.loads(capsys.readouterr().out)
    part = read_part(tmp_path / "box.msh.part.4", 64, 4)
    assert sorted(told["more"]) == sorted(str(tmp_path / name) for name in names(tmp_path)
                                          if name not in ("box.msh", "box.msh.part.4"))
    assert read_foam(tmp_path / "box.4.openfoam" / "constant" / "cellDecomposition")[1] == part.tolist()
    assert [tags[3] - 1 for _, tags, _ in read_msh2(tmp_path / "box.4.msh")["elements"]] == part.tolist()
    pieces, _ = read_pvtu(tmp_path / "box.4.pvtu")
    assert [int((p["CellData"]["vtkGhostType"] == 0).sum()) for p in pieces] == np.bincount(part).tolist()


def test_many_pieces_are_told_in_one_line(tmp_path, capsys):
    write_vtu(tmp_path / "box.vtu", A)
    assert main(["part", str(tmp_path / "box.vtu"), "32", "--write", "pvtu,openfoam", "--preset", "fast"]) == 0
    told = [line for line in capsys.readouterr().out.splitlines() if line.startswith("wrote ")]
    assert told == [f"wrote {tmp_path / name}" for name in ("box.vtu.part.32", "box.32.pvtu")] + [
        f"wrote {tmp_path / 'box.32'}/ with 32 files",
        *(f"wrote {tmp_path / 'box.32.openfoam' / name}" for name in ("constant/cellDecomposition",
                                                                      "system/decomposeParDict"))]


@pytest.mark.parametrize(("arguments", "message"), [
    (["box.vtu", "4", "--write", "aste"], "write: 'aste' is not known; choose from pvtu, gmsh, openfoam, or none"),
    (["g.graph", "4", "--write", "pvtu"], "write: pvtu needs a mesh, component"),
    (["box.vtu", "4", "-o", "box.vtu"], "box.vtu is also read (GRAPH_OR_MESH)"),
    (["box.vtu", "2", "--fixed", "fixed.txt", "-o", "fixed.txt"], "fixed.txt is also read (--fixed)"),
])
def test_part_refuses_before_the_work(tmp_path, capsys, monkeypatch, arguments, message):
    monkeypatch.chdir(tmp_path)
    write_vtu(tmp_path / "box.vtu", A)
    write_metis(tmp_path / "g.graph", grid(4, 4))
    (tmp_path / "fixed.txt").write_text("-1\n" * 64)
    before = {name: (tmp_path / name).read_bytes() for name in names(tmp_path)}
    assert main(["part", *arguments]) == 2
    out, err = capsys.readouterr()
    assert out == ""
    assert err.count("\n") == 1
    assert message in err
    assert {name: (tmp_path / name).read_bytes() for name in names(tmp_path)} == before


# ---- real meshes
def test_real_meshes_in_all_formats(tmp_path):
    folder = shared("data/coupled/steady-fsi")
    plan = copart.plan(f"{folder / 'mesh_channel.su2'}:flowbound", f"{folder / 'mesh_cantilever.su2'}:feabound",
                       parts=(6, 2), output=tmp_path, write=EVERYTHING)
    fluid, solid = plan.problem.names
    for name, k in ((fluid, 6), (solid, 2)):
        pieces, _ = read_pvtu(tmp_path / f"{name}.{k}.pvtu")
        assert sum(int((p["CellData"]["vtkGhostType"] == 0).sum()) for p in pieces) == plan.meshes[name].ncells
        surface = read_vtu(tmp_path / f"{name}.{k}.aste" / f"{name}.vtu")
        assert len(surface["points"]) == 211, "the points of the interface"
        elements = read_msh2(tmp_path / f"{name}.{k}.msh")["elements"]
        assert [tags[3] - 1 for _, tags, _ in elements[:plan.meshes[name].ncells]] == plan.copartition[name].tolist()
    assert main(["check", str(tmp_path), "-q"]) == 0


def test_a_real_openfoam_mesh(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    source = shared("data/coupled/elastic-tube-3d/fluid-polyMesh")
    before = {p.name: p.stat().st_mtime_ns for p in source.iterdir()}
    assert main(["part", str(source), "8", "--write", "openfoam", "--preset", "fast", "-o", "fluid.part.8", "-q"]) == 0
    header, labels = read_foam(tmp_path / "fluid-polyMesh.8.openfoam" / "constant" / "cellDecomposition")
    assert header["note"] == "nCells: 32691 nParts: 8"
    assert labels == read_part("fluid.part.8", 32_691, 8).tolist()
    assert {p.name: p.stat().st_mtime_ns for p in source.iterdir()} == before
