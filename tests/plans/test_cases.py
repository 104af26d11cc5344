"""Decompositions in the OpenFOAM cases themselves: what is written, what is kept, and by OpenFOAM where it is there."""

import os
import re
import shutil
import subprocess
from pathlib import Path

import numpy as np
import pytest

import copart
from copart.cli import main
from copart.errors import ConfigError
from copart.mesh import cube, write_vtu
from copart.mesh.generated.cases import write_cases

from ..file_readers import read_foam
from ..foam import brick, write


@pytest.fixture
def case(tmp_path):
    """Two bricks side by side as regions, with a dictionary of the user's and a link to it."""
    for i, name in enumerate(("gas", "wall")):
        points, *rest = brick(4, 4, 4)
        write(tmp_path / f"case/constant/{name}/polyMesh", points + np.array([i, 0, 0]), *rest)
        (tmp_path / f"case/system/{name}").mkdir(parents=True)
    mine = tmp_path / "case/system/decomposeParDict"
    mine.write_text("numberOfSubdomains 7; method scotch;\n")
    (tmp_path / "case/system/gas/decomposeParDict").symlink_to("../decomposeParDict")
    return tmp_path / "case"


def test_every_file_that_decomposepar_reads(case, tmp_path):
    plan = copart.plan(case, parts=4, scheme="monolithic", scheme_options={"balance": "each"})
    made = [path.relative_to(case).as_posix() for path in plan.write_into_cases()]
    assert sorted(made) == ["constant/gas/cellDecomposition", "constant/wall/cellDecomposition",
                            "system/decomposeParDict", "system/gas/decomposeParDict", "system/wall/decomposeParDict"]
    for name in ("gas", "wall"):
        assert read_foam(case / f"constant/{name}/cellDecomposition")[1] == plan.copartition[name].tolist()
        assert re.search(r"numberOfSubdomains 4;\s+method\s+manual;",
                         (case / f"system/{name}/decomposeParDict").read_text())
    assert "numberOfSubdomains 4;" in (case / "system/decomposeParDict").read_text()
    kept = case / "system/decomposeParDict.before"
    assert kept.read_text() == "numberOfSubdomains 7; method scotch;\n"
    assert not (case / "system/gas/decomposeParDict").is_symlink()
    # again: what copart wrote is no dictionary to keep
    copart.plan(case, parts=2, scheme="monolithic").write_into_cases()
    assert "numberOfSubdomains 2;" in (case / "system/gas/decomposeParDict").read_text()
    assert kept.read_text() == "numberOfSubdomains 7; method scotch;\n"
    assert len(list(case.rglob("*.before"))) == 1


def test_a_manual_decomposition_of_the_user_is_kept(case):
    mine = case / "system/gas/decomposeParDict"
    mine.unlink()
    mine.write_text('numberOfSubdomains 7; method manual; manualCoeffs { dataFile "cellDecomposition"; } // mine\n')
    (case / "constant/gas/cellDecomposition").write_text("my list")
    for turn in ("", "2"):
        copart.plan(case, parts=2, scheme="monolithic").write_into_cases()
        copart.plan(case, parts=3, scheme="monolithic").write_into_cases()
        assert (case / "constant/gas/cellDecomposition.before").read_text() == "my list"
        assert "// mine" in (case / f"system/gas/decomposeParDict.before{turn}").read_text()
        assert not (case / "system/gas/decomposeParDict.before3").exists()
        mine.write_text("numberOfSubdomains 9; method scotch; // mine again\n")


@pytest.mark.parametrize("told", [True, False])
def test_a_zone_is_not_taken_for_its_region(case, told):
    points, *rest = brick(4, 4, 4)
    write(case / "constant/gas/polyMesh", points, *rest, cell_zones={"heater": np.arange(40, 64)})
    if told:
        owner = case / "constant/gas/polyMesh/owner"
        note = b'note "nPoints: 125 nCells: 64 nFaces: 240";\nclass'
        owner.write_bytes(owner.read_bytes().replace(b"class", note, 1))
    plan = copart.plan(f"{case}:gas:heater", f"{case}:wall", parts=(2, 2))
    with pytest.raises(ConfigError, match="is no whole mesh or region"):
        plan.write_into_cases()
    made = copart.plan(f"{case}:gas", f"{case}:wall", parts=(2, 2)).write_into_cases()
    assert case / "constant/gas/cellDecomposition" in made


def test_a_case_with_one_mesh(tmp_path):
    for i, name in enumerate(("air", "plate")):
        points, *rest = brick(3, 3, 3)
        write(tmp_path / name / "constant/polyMesh", points + np.array([i, 0, 0]), *rest)
    plan = copart.plan(tmp_path / "air", tmp_path / "plate", parts=(3, 2))
    assert plan.remarks == (), "two cases are two programs"
    made = {path.relative_to(tmp_path).as_posix() for path in plan.write_into_cases()}
    assert made == {f"{name}/{file}" for name in ("air", "plate")
                    for file in ("constant/cellDecomposition", "system/decomposeParDict")}
    assert "numberOfSubdomains 3;" in (tmp_path / "air/system/decomposeParDict").read_text()


def test_other_meshes_are_refused_before_anything_is_written(case, tmp_path, capsys):
    write_vtu(tmp_path / "other.vtu", cube("hexa", 4, offset=(-1, 0, 0)))
    plan = copart.plan(f"{case}:gas", tmp_path / "other.vtu", parts=(2, 2))
    with pytest.raises(ConfigError, match="'other' is no whole mesh or region of an OpenFOAM case"):
        plan.write_into_cases()
    assert not list(case.rglob("cellDecomposition"))
    assert main(["plan", f"{case}:gas", str(tmp_path / "other.vtu"), "--parts", "2", "2", "--into-case", "-o",
                 str(tmp_path / "out")]) == 2
    assert "into case" in capsys.readouterr().err
    assert not (tmp_path / "out").exists()


def test_regions_with_different_counts_are_remarked(case):
    def said(**more):
        return [r for r in copart.plan(case, **more).remarks if "one solver for all regions" in r]

    assert "have 3, 2 parts" in said(parts=(3, 2))[0]
    assert "--pool 3 --balance each" in said(parts=(3, 2))[0]
    assert said(parts=(2, 2)) == said(parts=3, scheme="monolithic") == []


@pytest.mark.skipif(shutil.which("decomposePar") is None, reason="needs OpenFOAM (Debian: apt-get install openfoam)")
def test_openfoam_makes_the_cut_that_was_announced(tmp_path):
    """The tutorial's case: faces between processors are the cut, region by region, and its solver runs."""
    write_cases(tmp_path)
    case = tmp_path / "plate"
    env = dict(os.environ)
    if Path("/usr/share/openfoam").is_dir():
        env.setdefault("WM_PROJECT_DIR", "/usr/share/openfoam")
    plan = copart.plan(case, parts=4, scheme="monolithic", scheme_options={"balance": "each"})
    plan.write_into_cases()
    subprocess.run(["decomposePar", "-allRegions"], cwd=case, env=env, check=True, capture_output=True)
    for region in ("air", "metal"):
        faces = 0
        for path in case.glob(f"processor*/constant/{region}/polyMesh/boundary"):
            faces += sum(int(n) for n in re.findall(r"type\s+processor;[^}]*?nFaces\s+(\d+)", path.read_text()))
        assert faces == 2 * plan.metrics.components[region].cut
    # one step, serially: dictionaries, fields and coupled patches are complete
    control = case / "system/controlDict"
    control.write_text(control.read_text().replace("0.05;", "0.005;"))
    done = subprocess.run(["chtMultiRegionFoam"], cwd=case, env=env, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr[-500:]
    assert done.stdout.rstrip().endswith("End")
