"""Files that are no mesh yet, or of programs that can write one of the formats read here: what to do with them."""

from __future__ import annotations

import re
from collections.abc import Collection
from itertools import islice
from pathlib import Path

from ...errors import FormatError

_PYVISTA = "pyvista.read('FILE').cast_to_unstructured_grid().save('NEW.vtu') in Python, or ParaView, save it as .vtu"
_CAD = "a CAD file, no mesh: mesh it first, as with gmsh -3 FILE -o NEW.msh"
_FLUENT = "OpenFOAM's fluentMeshToFoam or fluent3DMeshToFoam make a case of it, or export CGNS"
_GMSH = "gmsh FILE -save -format msh41 -o NEW.msh converts it"
_MERGED = "a list of files with the pieces: give them singly, or merge them to .vtu, as with ParaView's Merge Blocks"
_FACES = re.compile(rb"^\s*\((?:20|30)?13\s*\([^()]*\)\s*\(", re.MULTILINE)
"""A section of faces that are listed; those without a list only say how many there are."""
_WAYS = {
    ".vts": _PYVISTA, ".vtr": _PYVISTA, ".vti": _PYVISTA,
    ".pvtp": _MERGED, ".pvd": _MERGED, ".vtm": _MERGED,
    ".step": _CAD, ".stp": _CAD, ".iges": _CAD, ".igs": _CAD, ".brep": _CAD, ".geo": _CAD, ".cas": _FLUENT,
    ".unv": _GMSH, ".neu": "OpenFOAM's gambitToFoam makes a case of it",
    ".frd": "results of CalculiX: give the .inp or .msh that they were computed on",
    ".ccm": "STAR-CCM+ exports CGNS, and OpenFOAM's ccm26ToFoam makes a case of it",
}


def way(path: Path) -> str:
    """What to do with a file that is not read, by its suffix; empty where that is not known."""
    return _WAYS.get(path.suffix.lower(), "").replace("FILE", path.name)


def refuse_foreign(path: Path, head: bytes) -> None:
    """Refuse meshes of other programs that share a suffix with a format read here.

    Raises
    ------
    FormatError
        Names the program and the way to convert.
    """
    if head.startswith((b"MFEM mesh", b"MFEM NC mesh", b"MFEM NURBS mesh", b"MFEM INLINE mesh")):
        raise FormatError(path, "is a mesh of MFEM, which is not read; Mesh::PrintVTU writes .vtu, Mesh::PrintVTK .vtk")
    if b"ADF Database" in head[:64]:
        raise FormatError(path, f"is CGNS in the old form ADF, which is not read; adf2hdf {path.name} converts it")


def refuse_faces(path: Path) -> None:
    """Refuse a mesh of Fluent whose cells are given by their faces, which meshio takes for the cells.

    Raises
    ------
    FormatError
        The file has a section of faces.
    """
    try:
        data = path.read_bytes()
    except OSError as error:
        raise FormatError(path, f"cannot be opened: {error.strerror}") from None
    if _FACES.search(data):
        raise FormatError(path, f"is a mesh of Fluent by its faces, which is not read; {_FLUENT}")


def refuse_elmer(path: Path) -> None:
    """Refuse the folder of an Elmer mesh.

    Raises
    ------
    FormatError
        The folder has a ``mesh.header``.
    """
    if (path / "mesh.header").is_file():
        raise FormatError(path, f"is a mesh of Elmer, which is not read; ElmerGrid 2 5 {path.name} writes .vtu")


def said_gone(names: Collection[str]) -> str:
    """That files which are included are not there."""
    some = [f"{name:.200}" for name in islice(names, 3)]
    more = f" and {len(names) - 3} more" if len(names) > 3 else ""
    one = len(names) == 1
    return f"the included file{'' if one else 's'} {', '.join(some)}{more} {'is' if one else 'are'} not there"
