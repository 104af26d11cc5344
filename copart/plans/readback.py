"""What a plan wrote for other programs, read again and compared with its parts.

``.vtu`` arrays, ``.pvtu`` files and their pieces, gmsh's partition tags, OpenFOAM's decomposition, programs and their
ranks in the launch files, and ``migration.json``.  Placements, preCICE's lines and ASTE's pieces are not read again.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Any
from xml.etree import ElementTree

import numpy as np
from numpy.typing import NDArray

from ..checks import Finding
from ..coupling import CoPartition, CoupledProblem
from ..errors import CopartError, FormatError
from ..formats.launch import Program, read_multi_prog
from ..formats.migration_file import read_migration
from ..formats.openfoam import DATA_FILE
from ..formats.output import file_name
from ..formats.text import read_bytes, read_json
from ..formats.vtu import CELL_IDS, GHOST
from .folder import WRITTEN, listed
from .output import MIGRATION, programs_of
from .sources import open_mesh

if TYPE_CHECKING:
    from ..mesh import Mesh

Checked = tuple[list[Finding], list[str]]
"""What is wrong, and what was not checked."""
_GMSH_PART = 6
"""Place of the part in an element line of MSH 2.2: number, type, four tags, the last of which counts from 1."""


def check_arrays(name: str, mesh: Mesh, part: NDArray[Any], coupled: NDArray[Any]) -> list[Finding]:
    """The arrays ``part`` and ``coupled`` in a component's file."""
    flags = np.zeros(len(part), np.int64)
    flags[coupled] = 1
    out = []
    for array, true in zip(WRITTEN, (part, flags), strict=True):
        told = mesh.cell_data.get(array)
        if told is None:
            out.append(Finding(name, f"cell array {array}", "must be there", "no such array"))
        elif not np.array_equal(told, true):
            wrong = np.flatnonzero(np.asarray(told).reshape(len(true), -1)[:, 0] != true)
            out.append(Finding(name, f"cell array {array}", "must agree with the part file and the interedges",
                               f"{len(wrong)} other cells, the first {wrong[:1].tolist()}"))
    return out


def check_native(folder: Path, made: CoPartition, meshes: Mapping[str, Mesh]) -> Checked:
    """The files for solvers and viewers that ``metrics.json`` lists."""
    files = listed(folder)
    findings: list[Finding] = []
    left, regions = set(files), False
    for name, mesh in meshes.items():
        base, part, nparts = f"{file_name(name)}.{made.nparts[name]}", made[name], made.nparts[name]
        decomposed = [file for file in files if file.startswith(f"{base}.openfoam/")
                      and file.endswith(f"/{DATA_FILE}")]
        for file in sorted(files):
            try:
                if file == f"{base}.msh":
                    _compare(findings, file, _gmsh_parts(folder / file, mesh.ncells), part)
                elif file in decomposed:
                    # each of several regions has some of the cells, and which is not in the folder
                    findings += _decomposition(file, folder / file, part, nparts, whole=len(decomposed) == 1)
                    regions |= len(decomposed) > 1
                elif file == f"{base}.pvtu":
                    findings += _listed_pieces(file, folder / file, [f"{base}/{base}_{p}.vtu" for p in range(nparts)])
                    _compare(findings, file, _pieces(folder, base, len(part), nparts), part)
                    left -= {f"{base}/{base}_{p}.vtu" for p in range(nparts)}
                else:
                    continue
            except (CopartError, OSError, ValueError, IndexError) as error:
                findings.append(Finding(file, "content", "can be read", str(error)))
            left.discard(file)
    for file in ("launch/launch.txt", "launch/programs.slurm"):
        if file in files and (folder / file).is_file():
            findings += _programs(file, folder / file, made)
        else:
            findings.append(Finding(file, "file", "must be there, and in the list of files", "no such file or entry"))
        left.discard(file)
    kinds = {"placement in launch/": "launch/", "precice.xml": "precice.xml", "pieces for ASTE": ".aste/",
             "decomposeParDict": "decomposeParDict", "report.html": "report.html", "plan.png": "plan.png"}
    unread = [what for what, mark in kinds.items() if any(mark in file for file in left)]
    # of these, only the part of each cell is read
    shapes = [suffix for suffix in (".msh", ".pvtu") if any(file.endswith(suffix) for file in files)]
    if shapes:
        unread.append(f"points and shapes of cells in {' and '.join(shapes)} files")
    if regions:
        unread.append("which cells the regions of OpenFOAM cases have")
    return findings, unread


def _programs(file: str, path: Path, made: CoPartition) -> list[Finding]:
    """The programs and how many ranks each gets, in each command and each list of a launch file."""
    wanted = programs_of(made)
    try:
        told = _told_programs(path)
    except (CopartError, OSError, ValueError) as error:
        return [Finding(file, "content", "can be read", str(error))]
    for key, what in (("ranks", "ranks of the programs"), ("command", "programs")):
        true = [getattr(program, key) for program in wanted]
        each = [[getattr(program, key) for program in one] for one in told]
        if not each or any(one != true for one in each):
            return [Finding(file, what, f"are {true}", str(next((one for one in each if one != true), [])))]
    if path.suffix == ".slurm":
        return []
    # of all programs together, which programs.slurm tells apart
    counts = re.findall(r"srun -n (\d+) .*--multi-prog", _commands(path))
    return [] if counts and all(int(count) == made.nprocs for count in counts) else \
        [Finding(file, "ranks of srun", f"are {made.nprocs}", ", ".join(counts) or "none")]


def _told_programs(path: Path) -> list[list[Program]]:
    """The programs in the order of their ranks, once for each command of ``launch.txt``."""
    if path.suffix == ".slurm":
        return [read_multi_prog(path)]
    return [[Program(command, int(ranks)) for ranks, command in re.findall(r"-n (\d+) (\./\S*)", line)]
            for line in _commands(path).splitlines() if "./" in line]


def _commands(path: Path) -> str:
    """A launch file without its comments."""
    return re.sub(r"(?m)^#.*", "", read_bytes(path).decode(errors="replace"))


def _compare(findings: list[Finding], file: str, told: NDArray[Any], part: NDArray[Any]) -> None:
    if len(told) != len(part):
        findings.append(Finding(file, "cells", f"are {len(part)}", str(len(told))))
    elif (told != part).any():
        wrong = np.flatnonzero(told != part)
        findings.append(Finding(file, f"cell {wrong[0]}", f"is of part {part[wrong[0]]}",
                                f"part {told[wrong[0]]} ({len(wrong) - 1} more)"))


def _gmsh_parts(path: Path, ncells: int) -> NDArray[np.int64]:
    """The parts in the lines of the first `ncells` elements, which are the cells."""
    lines = read_bytes(path).split(b"$Elements\n", 1)[1].split(b"\n", ncells + 1)[1:ncells + 1]
    return np.array([int(line.split()[_GMSH_PART]) - 1 for line in lines], np.int64)


def _decomposition(file: str, path: Path, part: NDArray[Any], nparts: int, whole: bool) -> list[Finding]:
    """A list of processors, of all cells where it is `whole`."""
    head, _, body = read_bytes(path).partition(b"\n(\n")
    body, end, _ = body.partition(b"\n)\n") if not body.startswith(b")\n") else (b"", b")", b"")
    told, count = np.array(body.split(), np.int64), head.rsplit(b"\n", 1)[-1]
    if not end or int(count) != len(told):
        return [Finding(file, "list", f"has as many processors as it says, {count.decode(errors='replace'):.40}, and "
                        f"an end", f"{len(told)}{'' if end else ', no end'}")]
    findings: list[Finding] = []
    if whole or len(told) == len(part):
        _compare(findings, file, told, part)
    elif len(told) > len(part) or (len(told) and not 0 <= told.min() <= told.max() < nparts):
        rule = f"are 0..{nparts - 1} of at most {len(part)} cells"
        findings.append(Finding(file, "processors", rule, str(len(told))))
    return findings


def _listed_pieces(file: str, path: Path, wanted: list[str]) -> list[Finding]:
    """The pieces that a ``.pvtu`` names, which are those of the parts in their order."""
    try:
        told = [piece.get("Source") for piece in ElementTree.fromstring(read_bytes(path)).iter("Piece")]
    except ElementTree.ParseError as error:
        raise FormatError(path, f"is no XML: {error}") from None
    if told == wanted:
        return []
    i = next((i for i, (one, other) in enumerate(zip(told, wanted, strict=False)) if one != other),
             min(len(told), len(wanted)))
    return [Finding(file, f"piece {i}", f"is {wanted[i] if i < len(wanted) else 'no more'}",
                    f"{told[i] if i < len(told) else 'none'}")]


def _pieces(folder: Path, base: str, ncells: int, nparts: int) -> NDArray[np.int64]:
    """The part of each cell as the pieces have it; -1 where none has."""
    out = np.full(ncells, -1, np.int64)
    for p in range(nparts):
        path = folder / base / f"{base}_{p}.vtu"
        if b'NumberOfCells="0"' in read_bytes(path)[:4096]:
            continue
        data = open_mesh(path).cell_data
        if CELL_IDS not in data or GHOST not in data:
            raise FormatError(path, f"has no arrays {CELL_IDS} and {GHOST}")
        own = np.asarray(data[CELL_IDS])[np.asarray(data[GHOST]) == 0]
        if (out[own] >= 0).any():
            raise FormatError(path, "has a cell of another piece")
        out[own] = p
    return out


def check_migration(folder: Path, summary: Mapping[str, Any], made: CoPartition, problem: CoupledProblem) -> Checked:
    """The way from the former plan, as far as the new one shows it: who has each cell now."""
    path = folder / MIGRATION
    if not path.exists():
        return [], []
    moves, value = read_migration(path).moves, read_json(path)
    findings: list[Finding] = []
    if list(moves) != list(made.names):
        return [Finding(MIGRATION, "components", f"are {', '.join(made.names)}", ", ".join(moves))], []
    for name, entry in zip(moves, value["components"], strict=True):
        m, size = moves[name], problem.components[name].sizes
        true = {"cells": len(made[name]), "parts": made.nparts[name]}
        findings += [Finding(MIGRATION, f"{name}: {key}", f"is {x}", str(entry[key])) for key, x in true.items()
                     if entry[key] != x]
        if findings:
            continue
        volume = [int(size[cells].sum()) for cells in m.lists()]
        totals = {"volume": sum(volume), "messages": len(volume)}
        findings += [Finding(MIGRATION, f"{name}: {key}", f"is {x}", f"{entry.get(key)!r:.40}")
                     for key, x in totals.items() if entry.get(key) != x or isinstance(entry.get(key), bool)]
        for j, cells in enumerate(m.lists()):
            at = f"{name}: move {j}"
            if (made[name][cells] != m.target[j]).any():
                findings.append(Finding(MIGRATION, at, f"brings cells to part {m.target[j]}", "cells of other parts"))
            if m.volume[j] != volume[j]:
                findings.append(Finding(MIGRATION, at, f"has volume {volume[j]}", str(m.volume[j])))
            if m.source[j] == m.target[j]:
                findings.append(Finding(MIGRATION, at, "is to another part", "the same part"))
    return findings, ["who had each cell before (migration.json)"]


__all__ = ["check_arrays", "check_migration", "check_native"]
