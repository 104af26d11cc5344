"""The folder a plan leaves behind: written all together, and opened again to be checked.

===================  ====================================================================
``NAME.vtu``         the mesh of a component with cell arrays ``part`` and ``coupled``
``NAME.part.K``      part of every cell, one number a line
``coupling.json``    who sends which cells to whom in a coupling phase
``metrics.json``     settings and figures
===================  ====================================================================
"""

from __future__ import annotations

import os
import re
import shutil
import tempfile
from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from .coupling import CoPartition, CoupledProblem
from .errors import ConfigError, FormatError
from .formats import prepare_folder, write_coupling, write_json, write_part

if TYPE_CHECKING:
    from .mesh import Mesh

SCHEMA = "copart-metrics"
VERSION = 1


def file_name(component: str) -> str:
    """The name of a component as a file name: everything unusual becomes an underscore."""
    return re.sub(r"[^\w.+-]", "_", component).lstrip(".") or "_"


def check_file_names(components: Iterable[str]) -> None:
    """Refuse names of components that would share their files.

    Raises
    ------
    ConfigError
        Two names are the same as file names (also where only capitals differ).
    """
    seen: dict[str, str] = {}
    for name in components:
        other = seen.setdefault(file_name(name).lower(), name)
        if other != name:
            raise ConfigError(f"names: {other!r} and {name!r} would be written to the same file; choose other names")


def write_plan(folder: Path, problem: CoupledProblem, copartition: CoPartition, meshes: Mapping[str, Mesh],
               summary: Mapping[str, Any]) -> tuple[Path, ...]:
    """Write all files of a plan; they appear together, after the last of them is complete.

    Parameters
    ----------
    folder : Path
        Made where it does not exist.
    problem, copartition
    meshes : mapping of str to Mesh
        Components without one get no VTU file.
    summary : mapping
        The content of ``metrics.json``, plain JSON types.

    Returns
    -------
    tuple of Path
        The files: meshes, part files, ``coupling.json``, ``metrics.json``.

    Raises
    ------
    ConfigError, FormatError
        The folder cannot be written to; it is then as it was.
    """
    check_file_names(problem.names)
    prepare_folder(folder)
    fresh = not folder.exists()
    try:
        folder.mkdir(parents=True, exist_ok=True)
        with tempfile.TemporaryDirectory(prefix=".copart-", dir=folder) as scratch:
            made = _write_all(Path(scratch), problem, copartition, meshes, summary)
            for name in made:
                os.replace(Path(scratch) / name, folder / name)
    except OSError as error:
        raise FormatError(folder, f"cannot be written: {(error.strerror or str(error)).lower()}") from None
    finally:
        if fresh and folder.exists() and not any(folder.iterdir()):
            shutil.rmtree(folder)
    return tuple(folder / name for name in made)


def _write_all(scratch: Path, problem: CoupledProblem, copartition: CoPartition, meshes: Mapping[str, Mesh],
               summary: Mapping[str, Any]) -> list[str]:
    from .mesh import write_vtu

    made = []
    for name, mesh in meshes.items():
        coupled = np.zeros(mesh.ncells, np.int8)
        coupled[problem.coupled(name)] = 1
        made.append(f"{file_name(name)}.vtu")
        write_vtu(scratch / made[-1], mesh, {"part": copartition[name], "coupled": coupled})
    for name in problem.names:
        made.append(f"{file_name(name)}.part.{copartition.nparts[name]}")
        write_part(scratch / made[-1], copartition[name])
    write_coupling(scratch / "coupling.json", problem, copartition)
    write_json(scratch / "metrics.json", summary)
    return [*made, "coupling.json", "metrics.json"]


def read_summary(folder: Path) -> dict[str, Any]:
    """Content of the ``metrics.json`` of a plan's folder.

    Raises
    ------
    FormatError
        There is none, or it is not of a plan.
    """
    from .formats.coupling_file import read_json

    path = folder / "metrics.json"
    if not folder.is_dir():
        raise FormatError(folder, "is no folder")
    if not path.exists():
        raise FormatError(folder, "has no metrics.json, so it is not the output folder of copart plan")
    summary = read_json(path)
    good = isinstance(summary, dict) and summary.get("schema") == SCHEMA and summary.get("version") == VERSION \
        and isinstance(summary.get("settings"), dict)
    if not good:
        raise FormatError(path, f"is no {SCHEMA} document of version {VERSION}")
    keys = ("names", "parts", "coupled", "interedges", "eps")
    missing = [key for key in keys if key not in summary["settings"]]
    if missing:
        raise FormatError(path, f"settings: has no {missing[0]!r}")
    return dict(summary)


__all__ = ["SCHEMA", "VERSION", "check_file_names", "file_name", "read_summary", "write_plan"]
