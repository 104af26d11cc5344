"""OpenFOAM's tutorial multiRegionHeater with decompositions of ours, beside OpenFOAM's own.

    python -m benchmarks.openfoam FOLDER [--cells 24000 192000] [--ranks 2 4] [--steps 20] [--write]

Five regions, one executable: rank k computes part k of every region.  Prepares the case as its Allrun does, runs it
serially, then once for each decomposition: those of OpenFOAM that need no other library (``simple``, ``hierarchical``),
and plans of copart.  Prints the faces between processors of each region as OpenFOAM made them beside the cut that
copart announced, cells of the busiest rank, the largest difference of a temperature from the serial run, and the time
of a step; with ``--write`` they go into ``docs/gain.md``.

Needs Debian's ``openfoam`` and ``openfoam-examples`` (v1912 was tried), or another OpenFOAM of openfoam.com with
its environment set and ``--tutorial FOLDER``.
"""

from __future__ import annotations

import argparse
import os
import re
import shutil
import statistics
import subprocess
import sys
from collections.abc import Sequence
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

import copart
from copart.formats.openfoam import decomposition

REGIONS = ("bottomWater", "heater", "leftSolid", "rightSolid", "topAir")
FLUIDS = ("bottomWater", "topAir")
TUTORIAL = "heatTransfer/chtMultiRegionFoam/multiRegionHeater"
#: Where Debian has them.
EXAMPLES, ETC = Path("/usr/share/doc/openfoam-examples/examples"), Path("/usr/share/openfoam")
SOLVER = "chtMultiRegionFoam"
#: Cells of the tutorial's blocks, along x, y and z.
BLOCKS = (30, 10, 10)
OWN = ("simple", "hierarchical")
SCHEMES: dict[str, dict[str, Any]] = {
    "monolithic": {"scheme": "monolithic"},
    "monolithic, each region": {"scheme": "monolithic", "scheme_options": {"balance": "each"}},
    "naive": {"scheme": "naive"}, "joint": {"scheme": "joint"}}
MARKS = ("<!-- openfoam -->", "<!-- end openfoam -->")

CONTROL = """FoamFile {{ version 2.0; format ascii; class dictionary; object controlDict; }}
application {solver}; startFrom startTime; startTime 0; stopAt endTime; endTime {end}; deltaT {dt};
writeControl timeStep; writeInterval {steps}; writeFormat ascii; writePrecision 12; timePrecision 8;
adjustTimeStep no; runTimeModifiable no; maxCo 0.6; maxDi 10;
"""
#: Solved until nothing changes, so that a decomposition shows in the last digits only.
SOLVERS = """solvers
{
    "(rho|p_rgh|h)(Final)?" { solver PCG; preconditioner DIC; tolerance 1e-11; relTol 0; maxIter 2000; }
    "(U|k|epsilon|R)(Final)?" { solver PBiCGStab; preconditioner DILU; tolerance 1e-11; relTol 0; }
}
"""
FLUID = SOLVERS.replace("rho|p_rgh|h", "rho|p_rgh").replace("U|k", "U|h|k")
DICTIONARY = "FoamFile {{ version 2.0; format ascii; class dictionary; object {name}; }}\n{body}"


class Row(NamedTuple):
    """What was measured of a decomposition."""

    cells: int
    ranks: int
    name: str
    faces: tuple[int, ...]
    cut: tuple[int, ...] | None
    busiest: float
    difference: float
    seconds: float


def missing(tutorial: Path) -> str | None:
    """What is not there and how it comes; None where all is."""
    tools = [tool for tool in ("blockMesh", "topoSet", "splitMeshRegions", "changeDictionary", "decomposePar",
                               "reconstructPar", SOLVER, "mpirun") if shutil.which(tool) is None]
    if tools:
        return f"{tools[0]} is not there: apt-get install openfoam (or set the environment of another OpenFOAM)"
    if not tutorial.is_dir():
        return f"{tutorial} is not there: apt-get install openfoam-examples, or --tutorial FOLDER"
    return None


def run(case: Path, *command: str) -> str:
    """Output of a command in the case; ends the program with its last lines where it fails."""
    env = dict(os.environ, OMPI_MCA_rmaps_base_oversubscribe="1", OMPI_ALLOW_RUN_AS_ROOT="1",
               OMPI_ALLOW_RUN_AS_ROOT_CONFIRM="1")
    if "WM_PROJECT_DIR" not in env and ETC.is_dir():  # Debian has no script that sets it
        env["WM_PROJECT_DIR"] = str(ETC)
    done = subprocess.run(command, cwd=case, capture_output=True, text=True, check=False, env=env)
    if done.returncode:
        sys.exit(f"{' '.join(command)} ended with {done.returncode}:\n"
                 + "\n".join((done.stdout + done.stderr).splitlines()[-15:]))
    return done.stdout


def put(path: Path, body: str) -> None:
    """Write a dictionary in place of what is there, be it a link."""
    path.unlink(missing_ok=True)
    path.write_text(DICTIONARY.format(name=path.name, body=body))


def prepare(tutorial: Path, case: Path, refine: int, steps: int) -> None:
    """The case with its regions, as the tutorial's own script makes it, `refine` times finer each way."""
    shutil.rmtree(case, ignore_errors=True)
    shutil.copytree(tutorial, case, symlinks=True)
    mesh = case / "system" / "blockMeshDict"
    sizes = " ".join(str(refine * n) for n in BLOCKS)
    text, found = re.subn(r"\(30\s+10\s+10\)", f"({sizes})", mesh.read_text())
    if found != 1:
        sys.exit(f"{mesh} is not the one that is known: no block of 30 x 10 x 10 cells")
    mesh.write_text(text)
    # the same Courant number on all meshes
    dt = 1e-3 / refine
    (case / "system" / "controlDict").write_text(CONTROL.format(solver=SOLVER, end=f"{dt * steps:.8g}", dt=dt,
                                                                steps=steps))
    for region in REGIONS:
        path = case / "system" / region / "fvSolution"
        rest = path.read_text()
        put(path, (FLUID if region in FLUIDS else SOLVERS) + rest[rest.index("PIMPLE"):])
    run(case, "blockMesh")
    run(case, "topoSet")
    shutil.copytree(case / "0.orig", case / "0")
    run(case, "splitMeshRegions", "-cellZones", "-overwrite")
    for region in REGIONS:
        if region not in FLUIDS:
            for field in ("nut", "alphat", "epsilon", "k", "U", "p_rgh"):
                (case / "0" / region / field).unlink(missing_ok=True)
        run(case, "changeDictionary", "-region", region)


def step_time(log: str) -> float:
    """Seconds of a time step: the median of all but the first."""
    ends = [float(t) for t in re.findall(r"ExecutionTime = ([\d.]+) s", log)]
    return float(statistics.median(np.diff(ends)))


def temperatures(case: Path) -> dict[str, NDArray[np.float64]]:
    """Of each region at the last time, by cell."""
    last = max((p for p in case.iterdir() if re.fullmatch(r"[\d.e-]+", p.name)), key=lambda p: float(p.name))
    out = {}
    for region in REGIONS:
        text = (last / region / "T").read_text()
        found = re.search(r"internalField\s+nonuniform\s+List<scalar>\s+\d+\s*\(([^)]*)\)", text)
        single = re.search(r"internalField\s+uniform\s+(\S+);", text)
        out[region] = np.array(found[1].split(), float) if found else np.array([float(single[1])] if single else [])
    return out


def processor_faces(case: Path, region: str) -> int:
    """Faces between processors, as decomposePar made them; each is in two of their meshes."""
    total = 0
    for path in case.glob(f"processor*/constant/{region}/polyMesh/boundary"):
        for patch in re.findall(r"\{([^{}]*)\}", path.read_text()):
            if re.search(r"type\s+processor;", patch):
                total += int(re.search(r"nFaces\s+(\d+)", patch)[1])  # type: ignore[index]
    return total // 2


def cells_of(case: Path, rank: int) -> int:
    """Cells of all regions on a rank."""
    total = 0
    for region in REGIONS:
        note = re.search(rb"nCells:\s*(\d+)", (case / f"processor{rank}/constant/{region}/polyMesh/owner").read_bytes())
        total += int(note[1]) if note else 0
    return total


def decompose(case: Path, name: str, ranks: int) -> tuple[int, ...] | None:
    """Write the files that decomposePar reads; the cut of each region where it is known."""
    put(case / "system" / "decomposeParDict", decomposition(ranks))  # for the number that the solver looks up
    if name in OWN:
        n = {2: "2 1 1", 4: "2 2 1", 8: "2 2 2"}.get(ranks, f"{ranks} 1 1")
        for region in REGIONS:
            put(case / "system" / region / "decomposeParDict",
                f"numberOfSubdomains {ranks};\nmethod {name};\ncoeffs {{ n ({n}); order xyz; }}\n")
        return None
    asked = SCHEMES[name]
    parts = ranks if asked["scheme"] == "monolithic" else [ranks] * len(REGIONS)
    folder = case / "plan"
    shutil.rmtree(folder, ignore_errors=True)
    plan = copart.plan(*(f"{case}:{region}" for region in REGIONS), parts=parts, output=folder, write="openfoam",
                       **asked)
    for region in REGIONS:
        made, = folder.glob(f"{region}.*.openfoam")
        for file in (f"constant/{region}/cellDecomposition", f"system/{region}/decomposeParDict"):
            (case / file).unlink(missing_ok=True)
            shutil.copy(made / file, case / file)
    return tuple(plan.metrics.components[region].cut for region in REGIONS)


def measure(case: Path, name: str, ranks: int, serial: dict[str, NDArray[np.float64]], size: int) -> Row:
    """Decompose, run, compare."""
    for old in (*case.glob("processor*"), *(p for p in case.iterdir() if re.fullmatch(r"[\d.e-]+", p.name)
                                            and p.name != "0")):
        shutil.rmtree(old)
    cut = decompose(case, name, ranks)
    run(case, "decomposePar", "-allRegions")
    log = run(case, "mpirun", "-n", str(ranks), SOLVER, "-parallel")
    run(case, "reconstructPar", "-allRegions", "-latestTime")
    found = temperatures(case)
    difference = max(float(np.abs(found[region] - serial[region]).max()) for region in REGIONS)
    load = [cells_of(case, rank) for rank in range(ranks)]
    return Row(size, ranks, name, tuple(processor_faces(case, region) for region in REGIONS), cut,
               max(load) / (sum(load) / ranks), difference, step_time(log))


def table(rows: Sequence[Row], serial: dict[int, float]) -> str:
    """All rows in Markdown."""
    out = ["| cells | ranks | decomposition | faces between processors by region | cells on the busiest rank, over the "
           "mean | difference from serial, K | s per step | over serial |", "| --- " * 8 + "|"]
    for r in rows:
        faces = " ".join(map(str, r.faces)) + f" ({sum(r.faces)})"
        out.append(f"| {r.cells} | {r.ranks} | {r.name} | {faces} | {r.busiest:.3f} | {r.difference:.1e} | "
                   f"{r.seconds:.3g} | {r.seconds / serial[r.cells]:.2f} |")
    return "\n".join(out)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0] if __doc__ else None)
    parser.add_argument("folder", type=Path, help="for the cases; emptied")
    parser.add_argument("--cells", type=int, nargs="+", default=[24_000, 192_000], help="how many, nearly")
    parser.add_argument("--ranks", type=int, nargs="+", default=[2, 4])
    parser.add_argument("--steps", type=int, default=20)
    parser.add_argument("--tutorial", type=Path, default=Path(os.environ.get("FOAM_TUTORIALS", EXAMPLES)) / TUTORIAL)
    parser.add_argument("--write", action="store_true", help="put the table into docs/gain.md")
    given = parser.parse_args()
    if (said := missing(given.tutorial)) is not None:
        sys.exit(f"not run with OpenFOAM: {said}")
    rows, seconds, wrong = [], {}, 0
    for asked in given.cells:
        refine = max(1, round((asked / np.prod(BLOCKS)) ** (1 / 3)))
        size = int(np.prod(BLOCKS)) * refine**3
        case = given.folder / f"cells-{size}"
        prepare(given.tutorial, case, refine, given.steps)
        seconds[size] = step_time(run(case, SOLVER))
        serial = temperatures(case)
        print(f"{size} cells, serial: {seconds[size]:.3g} s per step", flush=True)
        for ranks in given.ranks:
            for name in (*OWN, *SCHEMES):
                row = measure(case, name, ranks, serial, size)
                rows.append(row)
                said = "" if row.cut is None else "as announced" if row.cut == row.faces else f"NOT {row.cut}"
                wrong += row.cut is not None and row.cut != row.faces
                print(f"{size} cells, {ranks} ranks, {name}: faces {row.faces} {said}, busiest {row.busiest:.3f}, "
                      f"{row.difference:.1e} K, {row.seconds:.3g} s per step", flush=True)
    print(made := table(rows, seconds))
    if given.write:
        page = Path(__file__).resolve().parents[1] / "docs" / "gain.md"
        text = page.read_text()
        begin, end = text.index(MARKS[0]) + len(MARKS[0]), text.index(MARKS[1])
        page.write_text(f"{text[:begin]}\n{made}\n{text[end:]}")
    if wrong:
        sys.exit(f"{wrong} cuts are not what OpenFOAM made")


if __name__ == "__main__":
    main()
