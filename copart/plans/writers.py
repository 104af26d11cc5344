"""The files that solvers, couplers and viewers take, beside what every plan leaves behind.

============  =============================================================================================
``pvtu``      ``NAME.K.pvtu`` and ``NAME.K/NAME.K_P.vtu``: a file per part, with one layer of ghosts
``gmsh``      ``NAME.K.msh``: MSH 2.2 with partition tags
``openfoam``  ``NAME.K.openfoam``: ``constant/cellDecomposition`` and ``system/decomposeParDict``
``aste``      ``NAME.K.aste``: the coupling surface in pieces ``NAME_P.vtu``, with ``NAME_recovery.json``
``precice``   ``precice.xml``: the m2n lines of a preCICE configuration, with reasons
============  =============================================================================================

K is the number of parts.  Cells keep the order of the mesh.
"""

from __future__ import annotations

import os
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from ..errors import ConfigError, FormatError, did_you_mean
from ..formats.openfoam import write_decomposition
from .overwriting import file_of

if TYPE_CHECKING:
    from ..mesh import Mesh


@dataclass(frozen=True, eq=False)
class Parted:
    """One component that is cut into parts.

    Attributes
    ----------
    name : str
        As a file name.
    part : (ncells,) int32
    nparts : int
    mesh : Mesh or None
        None where the component came as a graph.
    cell_data : mapping of str to (ncells,) array
        To be written with the mesh.
    coupled : (n,) int32
        The coupled cells, ascending.
    placed : Mesh or None
        The mesh where it meets the others, if it had to be scaled or moved.
    others : sequence of Mesh
        The meshes that it is coupled with, placed.
    source : str or None
        What it was read from, as given.
    search : mapping or None
        Tolerance and gap with which facets were found to couple the cells, if they were.
    """

    name: str
    part: NDArray[np.int32]
    nparts: int
    mesh: Mesh | None
    cell_data: Mapping[str, Any] = field(default_factory=dict)
    coupled: NDArray[np.int32] = field(default_factory=lambda: np.zeros(0, np.int32))
    placed: Mesh | None = None
    others: Sequence[Mesh] = ()
    source: str | None = None
    search: Mapping[str, Any] | None = None

    @property
    def base(self) -> str:
        """Beginning of the names of its files."""
        return f"{self.name}.{self.nparts}"


def _pvtu(folder: Path, c: Parted, mesh: Mesh) -> list[str]:
    from ..mesh.writing.pieces import write_pieces

    return write_pieces(folder / f"{c.base}.pvtu", mesh, c.part, c.nparts, c.cell_data)


def _gmsh(folder: Path, c: Parted, mesh: Mesh) -> list[str]:
    from ..mesh.writing.gmsh_parts import write_gmsh

    write_gmsh(folder / f"{c.base}.msh", mesh, c.part)
    return [f"{c.base}.msh"]


def _aste(folder: Path, c: Parted, mesh: Mesh) -> list[str]:
    from ..mesh.writing.pieces import write_aste

    inner = f"{c.base}.aste"
    files = write_aste(folder / inner, c.name, c.placed or mesh, c.part, c.nparts, c.coupled, c.others, c.search)
    return [f"{inner}/{file}" for file in files]


#: What writes each kind of file of one component with a mesh into a folder; returns the names, relative to it.
MESH_WRITERS: dict[str, Callable[[Path, Parted, Mesh], list[str]]] = {"pvtu": _pvtu, "gmsh": _gmsh, "aste": _aste}
#: All kinds that a plan can be asked for; ``copart part`` knows those of one component without a coupling.
KINDS = ("pvtu", "gmsh", "openfoam", "aste", "precice")
#: What a plan can be asked for beside, by the names of the files: neither replaces the kinds that go with the sources.
PAGES = {"picture": "plan.png", "report": "report.html"}
SINGLE_KINDS = ("pvtu", "gmsh", "openfoam")


def checked_kinds(kinds: str | Iterable[str] | None, known: Sequence[str] = KINDS) -> tuple[str, ...] | None:
    """Kinds of files, in the order of `known`, from a sequence or from names with commas between; None stays.

    The name ``none`` stands for no kind at all.

    Raises
    ------
    ConfigError
        A name is not known.
    """
    if kinds is None:
        return None
    names = [name.strip() for name in (kinds.split(",") if isinstance(kinds, str) else kinds)]
    alone = all(name in (*PAGES, "none") for name in names)
    wrong = [name for name in names if name not in known and not (name == "none" and alone)]
    if wrong:
        raise ConfigError(f"write: {wrong[0]!r} is not known; choose from {', '.join(known)}, or none"
                          + did_you_mean(wrong[0], known))
    return tuple(kind for kind in known if kind in names)


def kinds_and_pages(write: str | Iterable[str] | None) -> tuple[tuple[str, ...] | None, tuple[str, ...]]:
    """What a plan is asked to write, checked: kinds of files (None: those that go with the sources), and pages."""
    asked = checked_kinds(write, (*KINDS, *PAGES))
    if asked is None:
        return None, ()
    kinds, pages = (tuple(kind for kind in asked if (kind in PAGES) is page) for page in (False, True))
    names = [name.strip() for name in (write.split(",") if isinstance(write, str) else write or ())]
    return kinds if kinds or not pages or "none" in names else None, pages


def native_kinds(source: str | os.PathLike[str] | None, mesh: Mesh | None) -> tuple[str, ...]:
    """The kind of files that goes with the kind of file a component was read from; none for most.

    None as well where it would be of no use: gmsh does not know the cells, or the mesh is only a zone of a case.
    """
    if source is None or mesh is None:
        return ()
    path = Path(file_of(source))
    if _is_case(path):
        return ("openfoam",) if _is_whole(path, mesh) else ()
    if path.suffix.lower() == ".msh":
        from ..mesh.writing.gmsh_parts import gmsh_holds

        try:
            with open(path, "rb") as stream:
                return ("gmsh",) if stream.read(64).lstrip().startswith(b"$MeshFormat") and gmsh_holds(mesh) else ()
        except OSError:
            return ()
    return ()


def _is_whole(path: Path, mesh: Mesh) -> bool:
    """Whether `mesh` has all cells of an OpenFOAM case, or of those regions of which it has some, as far as the case
    says how many there are.
    """
    from ..mesh.readers.foam_file import count_cells
    from ..mesh.readers.openfoam import mesh_folders

    try:
        folders = mesh_folders(path)
    except FormatError:
        return True
    for region, folder in folders:
        mine = mesh.ncells if len(folders) == 1 else len(mesh.cell_groups.get(str(region), ()))
        if mine and count_cells(folder) not in (None, mine):
            return False
    return True


def _is_case(path: Path) -> bool:
    from ..mesh.readers.openfoam import is_openfoam

    return path.is_dir() or is_openfoam(path)


def openfoam_regions(source: str | None, mesh: Mesh | None) -> dict[str | None, NDArray[np.int64] | None]:
    """The cells of each region of the OpenFOAM case that a mesh was read from.

    None stands for the case's only mesh, as region, and for all cells.
    """
    if source is None or mesh is None or not _is_case(Path(file_of(source))):
        return {None: None}
    from ..mesh.readers.openfoam import DEFAULT_REGION, mesh_folders

    try:
        folders = mesh_folders(Path(file_of(source)))
    except FormatError:
        return {None: None}
    if len(folders) > 1:
        return {None if name == DEFAULT_REGION else name: mesh.cell_groups[name]
                for name, _ in folders if name in mesh.cell_groups}
    up = folders[0][1].resolve().parent
    return {up.name if up.parent.name == "constant" else None: None}


def check_meshes(kinds: Iterable[str], meshes: Mapping[str, Any], names: Iterable[str]) -> None:
    """Refuse kinds of files that need the mesh of a component which came as a graph.

    Raises
    ------
    ConfigError
        Names the component and the kind.
    """
    for kind in kinds:
        for name in names:
            if kind in MESH_WRITERS and meshes.get(name) is None:
                raise ConfigError(f"write: {kind} needs a mesh, component {name!r} is a graph")


def write_parted(folder: Path, component: Parted, kinds: Iterable[str]) -> list[str]:
    """Write the files of one component; returns their names relative to `folder`.

    Raises
    ------
    ConfigError, MeshError, FormatError
        There is no mesh, the format cannot hold its cells, or a file cannot be written.
    """
    made: list[str] = []
    for kind in kinds:
        if kind == "openfoam":
            inner = f"{component.base}.openfoam"
            for region, cells in openfoam_regions(component.source, component.mesh).items():
                part = component.part if cells is None else component.part[cells]
                files = write_decomposition(folder / inner, part, component.nparts, region)
                made += [f"{inner}/{file}" for file in files]
        elif kind in MESH_WRITERS:
            check_meshes([kind], {component.name: component.mesh}, [component.name])
            assert component.mesh is not None
            made += MESH_WRITERS[kind](folder, component, component.mesh)
    return made


__all__ = ["KINDS", "PAGES", "SINGLE_KINDS", "Parted", "check_meshes", "checked_kinds", "kinds_and_pages",
           "native_kinds", "openfoam_regions", "write_parted"]
