"""OpenFOAM cases that components come from: decompositions put into them, and what one solver for all regions needs."""

from __future__ import annotations

import os
from collections.abc import Iterable, Mapping
from itertools import count
from pathlib import Path
from typing import TYPE_CHECKING, NamedTuple

import numpy as np
from numpy.typing import NDArray

from ..coupling import CoPartition
from ..errors import ConfigError, FormatError
from ..formats.openfoam import DATA_FILE, DICTIONARY, is_own, write_decomposition, write_dictionary
from .overwriting import file_of
from .writers import native_kinds, openfoam_regions

if TYPE_CHECKING:
    from ..mesh import Mesh

Sources = Mapping[str, str | None]

#: What a dictionary that copart did not write is renamed to.
KEPT = ".before"


class _Region(NamedTuple):
    """One mesh of a case: its region (None for the only one), the part of each cell and the number of parts."""

    region: str | None
    part: NDArray[np.int32]
    nparts: int


def case_of(source: str | None, mesh: Mesh | None) -> Path | None:
    """The OpenFOAM case that a component is a whole mesh of; None for others."""
    if source is None or mesh is None or native_kinds(source, mesh) != ("openfoam",):
        return None
    from ..mesh.readers.openfoam import mesh_folders

    try:
        inner = mesh_folders(Path(file_of(source)))[0][1]
    except FormatError:
        return None
    # as it was given, where that names it
    every = (*inner.parents, *inner.resolve().parents)
    return next((up.parent for up in every if up.name == "constant"), None)


def check_sources(sources: Iterable[str]) -> None:
    """See that all of them are OpenFOAM cases or regions of such, before they are read.

    Raises
    ------
    ConfigError
        Names one that is not.
    """
    from ..mesh.readers.openfoam import is_openfoam

    for source in sources:
        path = Path(file_of(source))
        if not path.is_dir() and not is_openfoam(path):
            raise ConfigError(f"into case: {source} is no OpenFOAM case; leave the option out, and copy the files of "
                              f"the others")


def write_into_cases(copartition: CoPartition, meshes: Mapping[str, Mesh], sources: Sources) -> list[Path]:
    """Put the decomposition of each component into the OpenFOAM case that it was read from.

    ``constant/REGION/cellDecomposition`` and ``system/REGION/decomposeParDict`` are written, and for cases with
    regions ``system/decomposeParDict``, in which solvers look up the number of processes.  Dictionaries that copart
    did not write are kept as ``decomposeParDict.before`` (``.before2`` where that is there), and with them the
    ``cellDecomposition`` that they name.

    Parameters
    ----------
    copartition : CoPartition
    meshes : mapping of str to Mesh
    sources : mapping of str to str
        What each component was read from.

    Returns
    -------
    list of Path
        The files.

    Raises
    ------
    ConfigError
        A component is no whole mesh of an OpenFOAM case; nothing is written then.
    FormatError
        A file cannot be written.
    """
    cases: dict[Path, list[_Region]] = {}
    for name in copartition.names:
        source, mesh = sources.get(name), meshes.get(name)
        case = case_of(source, mesh)
        if case is None:
            raise ConfigError(f"into case: component {name!r} is no whole mesh or region of an OpenFOAM case; "
                              f"leave the option out, and copy the files of the others")
        for region, cells in openfoam_regions(source, mesh).items():
            part = copartition[name] if cells is None else copartition[name][cells]
            cases.setdefault(case, []).append(_Region(region, part, copartition.nparts[name]))
    made: list[Path] = []
    for case, regions in cases.items():
        for one in regions:
            _keep(case / "system" / (one.region or "") / DICTIONARY, case / "constant" / (one.region or "") / DATA_FILE)
            made += [case / file for file in write_decomposition(case, one.part, one.nparts, one.region)]
        if all(one.region is not None for one in regions):
            _keep(case / "system" / DICTIONARY)
            made.append(case / write_dictionary(case, max(one.nparts for one in regions)))
    return made


def _keep(dictionary: Path, cells: Path | None = None) -> None:
    """Rename a dictionary that copart did not write, and its list of `cells`; a link is only removed, as what it names
    stays.
    """
    if dictionary.is_symlink():
        dictionary.unlink()
    elif dictionary.is_file() and not is_own(dictionary):
        both = cells is not None and cells.is_file() and DATA_FILE in dictionary.read_text(errors="replace")
        for file in [dictionary, cells] if cells is not None and both else [dictionary]:
            free = file.with_name(file.name + KEPT)
            for i in count(2):
                if not free.exists():
                    break
                free = file.with_name(f"{file.name}{KEPT}{i}")
            os.replace(file, free)


def uneven_regions(copartition: CoPartition, meshes: Mapping[str, Mesh], sources: Sources) -> list[str]:
    """A remark where regions of one case have different numbers of parts: one solver runs all of them on all ranks."""
    if copartition.shared:
        return []
    cases: dict[Path, list[str]] = {}
    for name in copartition.names:
        case = case_of(sources.get(name), meshes.get(name))
        if case is not None:
            cases.setdefault(case, []).append(name)
    out = []
    for case, names in cases.items():
        counts = [copartition.nparts[name] for name in names]
        if len(set(counts)) > 1:
            out.append(f"the regions of the case {case.name} have {', '.join(map(str, counts))} parts: one solver for "
                       f"all regions, as chtMultiRegionFoam, needs each region on every process and stops otherwise; "
                       f"for such a solver use --pool {max(counts)} --balance each")
    return out


__all__ = ["case_of", "check_sources", "uneven_regions", "write_into_cases"]
