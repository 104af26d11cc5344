"""Meshes in: files, ``meshio.Mesh`` objects and regions of a mesh, behind one door.

meshio may end the process, print to the console, or hand back a mesh whose
cells point nowhere; here each of these becomes one :class:`FormatError` or
:class:`MeshError`.
"""

from __future__ import annotations

import contextlib
import io
import logging
import os
import tempfile
import warnings
from collections.abc import Callable
from functools import partial
from pathlib import Path
from typing import Any

from ...errors import CopartError, FormatError, MeshError
from ...formats.text import refuse_pointer
from ..groups import select
from ..value import Mesh
from .calculix import read_calculix
from .cgns import of_meshio, read_cgns
from .earth_grids import read_netcdf
from .elsewhere import refuse_elmer, refuse_faces, refuse_foreign, way
from .ending import check_hdf5, check_stl, mended, opened, plain_messages, says_something, zones_left
from .exodus import read_exodus
from .foreign import from_meshio
from .gmsh import read_gmsh
from .mdpa import read_mdpa
from .med import read_med
from .medit import read_medit
from .nastran import read_nastran
from .openfoam import is_openfoam, read_openfoam
from .ply import read_ply
from .safely import limits, read_in_child
from .su2 import read_su2
from .surfaces import read_obj, read_off
from .vtk_rows import rows_as_they_are
from .vtkhdf import read_vtkhdf
from .vtu import read_vtu
from .wkt import read_wkt
from .xdmf import with_own_files

OWN_READERS: dict[str, Callable[[Path], Mesh]] = {"su2": read_su2, "abaqus": read_calculix, "gmsh": read_gmsh,
                                                  "exodus": read_exodus, "mdpa": read_mdpa, "wkt": read_wkt,
                                                  "cgns": read_cgns, "med": read_med, "netcdf": read_netcdf,
                                                  "vtkhdf": read_vtkhdf, "vtu": read_vtu, "nastran": read_nastran,
                                                  "ply": read_ply, "obj": read_obj, "off": read_off,
                                                  "medit": read_medit}
"""Readers of copart's own, by meshio's name of the format."""

MORE_SUFFIXES = {".mmed": ["med"], ".rmed": ["med"], ".vtkhdf": ["vtkhdf"], ".vtp": ["vtu"], ".pvtu": ["vtu"],
                 ".vtu": ["vtu"], ".nc": ["netcdf"], ".nc4": ["netcdf"], ".ug": ["netcdf"]}
"""Suffixes that meshio does not know, those of MED by Code_Aster's names among them; and VTU, which is read without it.
"""

log = logging.getLogger(__name__)


def read_mesh(source: Any, region: tuple[str, Any] | str | None = None, *, threads: int = 1) -> Mesh:
    """A `Mesh` from a file, a ``meshio.Mesh`` or a `Mesh`.

    SU2, OpenFOAM, CalculiX and Abaqus, gmsh, CGNS, MED, Exodus, Kratos, VTKHDF and netCDF files are read with all their
    names, Nastran's without, all others by meshio.  A ``.msh`` file that is neither gmsh's nor Ansys' is read as
    Abaqus/CalculiX input when it looks like it, as CalculiX users name their meshes so.  `Mesh.remarks` says what was
    left out.

    Parameters
    ----------
    source : path-like, meshio.Mesh or Mesh
        A file, or the folder of an OpenFOAM case, of a region in it, or a polyMesh.
    region : (str, value) or str, optional
        A region or boundary; see :meth:`Mesh.select`.
    threads : int
        Threads that unpack compressed arrays of VTU files.

    Returns
    -------
    Mesh
        Named after the file.

    Raises
    ------
    FormatError
        The file is missing, unreadable, truncated, of an unknown format, or describes no usable mesh.
    MeshError
        A mesh object is unusable, or has no such region.
    """
    if isinstance(source, Mesh):
        mesh = source
    elif hasattr(source, "points") and hasattr(source, "cells"):
        mesh = from_meshio(source)
    elif isinstance(source, (str, os.PathLike)):
        within = limits()
        mesh = _read_file(Path(source), threads) if within is None else read_in_child(Path(source), within)
    else:
        raise MeshError(f"mesh: expected a path, a meshio.Mesh or a Mesh, got {type(source).__name__}")
    return mesh if region is None else select(mesh, region)


def suffix_formats(path: Path) -> list[str]:
    """meshio's names of the formats for a file name, in the order to try.

    Raises
    ------
    FormatError
        No format has this suffix; the message lists the known ones.
    """
    name = path.name.lower()
    for suffix, formats in MORE_SUFFIXES.items():
        if name.endswith(suffix):
            return list(formats)
    import meshio

    known: dict[str, list[str]] = {**meshio.extension_to_filetypes, **MORE_SUFFIXES}
    for suffix in sorted(known, key=len, reverse=True):
        if name.endswith(suffix):
            return list(known[suffix])
    told = way(path)
    raise FormatError(path, f"unknown mesh format {path.suffix or '(no suffix)'!s}; {told + '; ' if told else ''}"
                            f"known: {' '.join(sorted(known))}")


def _read_file(path: Path, threads: int) -> Mesh:
    """Read and convert, turning whatever happens into one FormatError."""
    try:
        return _read_kind(path, threads)
    except MemoryError:
        raise FormatError(path, "holds or announces more data than fits in memory") from None


def _read_kind(path: Path, threads: int) -> Mesh:
    """Read by the kind of the file."""
    if path.is_dir():
        refuse_elmer(path)
    if path.is_dir() or is_openfoam(path):
        return read_openfoam(path)
    if not path.exists():
        raise FormatError(path, "no such file")
    if not path.is_file():
        raise FormatError(path, "is no regular file")
    formats = suffix_formats(path)
    try:
        with open(path, "rb") as stream:
            head = stream.read(4096)
    except OSError as error:
        raise FormatError(path, f"cannot be opened: {error.strerror}") from None
    if not head.strip():
        raise FormatError(path, "the file is empty")
    refuse_pointer(path, head)
    refuse_foreign(path, head)
    if path.suffix.lower() == ".msh":
        formats = _msh_formats(head)
        if formats == ["ansys"]:
            refuse_faces(path)
    own = OWN_READERS.get(formats[0])
    if own is read_medit and path.suffix.lower() != ".mesh":
        own = None  # binary
    if own is read_vtu:
        own = partial(read_vtu, threads=threads)
    if own is not None and not (own is read_cgns and of_meshio(path)):
        try:
            return own(path)
        except MeshError as error:
            raise FormatError(path, str(error)) from None
    reasons = []
    for file_format in formats:
        raw, reason = _try_format(path, file_format)
        if raw is None:
            reasons.append(f"{reason} (read as {file_format})")
            continue
        try:
            mesh = from_meshio(raw, path.stem)
            return mesh if file_format != "tecplot" else _with_zones_told(mesh, path)
        except CopartError as error:
            raise FormatError(path, str(error)) from None
    raise FormatError(path, "; ".join(reasons))


def _with_zones_told(mesh: Mesh, path: Path) -> Mesh:
    """A mesh from a Tecplot file, with a remark on the zones that are not in it."""
    left = zones_left(path)
    said = f"{left} zone{'s' * (left != 1)} after the first {'are' if left != 1 else 'is'} left out"
    return mesh.replace(remarks=[*mesh.remarks, said]) if left else mesh


def _msh_formats(head: bytes) -> list[str]:
    """Whose ``.msh`` this is, by its first bytes."""
    text = head.lstrip().upper()
    if text.startswith(b"$"):
        return ["gmsh"]
    if text.startswith(b"*"):
        return ["abaqus"]
    if text.startswith(b"("):
        return ["ansys"]
    return ["gmsh", "ansys"]


def _try_format(path: Path, file_format: str) -> tuple[Any, str]:
    """What meshio makes of the file, or None and the reason why not."""
    console = io.StringIO()
    try:
        with (contextlib.redirect_stdout(console), contextlib.redirect_stderr(console),
              warnings.catch_warnings(action="ignore"), plain_messages(), rows_as_they_are(), mended()):
            raw = _read_with_meshio(path, file_format)
    except FormatError:
        raise
    except MemoryError:
        return None, "the file announces more data than fits in memory"
    except ImportError as error:
        return None, f"{file_format} files need the package {error.name}: pip install 'copart[mesh]'"
    except (Exception, SystemExit) as error:
        said = " ".join(console.getvalue().split())
        what = "" if isinstance(error, SystemExit) else " ".join(str(error).split())
        if not what and not said:
            what = type(error).__name__
        elif what and isinstance(error, (IndexError, KeyError, AssertionError, EOFError, TypeError, AttributeError)):
            what = f"ill-formed or truncated ({type(error).__name__}: {what})"
        if file_format in ("vtk", "xdmf"):
            said += "; ParaView reads more of such files, and saves them as .vtu"
        return None, f"cannot be read: {'; '.join(x for x in (what, said.removeprefix('; ')) if x)}"
    if console.getvalue().strip():
        log.info("%s: %s", path, " ".join(console.getvalue().split()))
    return raw, ""


def _read_with_meshio(path: Path, file_format: str) -> Any:
    """A ``meshio.Mesh``."""
    import meshio

    if file_format == "tetgen":
        for other in (path.with_suffix(".node"), path.with_suffix(".ele")):
            if other.is_file() and not says_something(other):
                raise FormatError(other, "the file has no data")
    if file_format in ("h5m", "cgns", "hmf"):
        check_hdf5(path)
    elif file_format == "stl":
        check_stl(path)
    elif file_format == "xdmf":
        if path.with_suffix(".h5").is_file():
            check_hdf5(path.with_suffix(".h5"))
        with tempfile.TemporaryDirectory() as folder:
            own = with_own_files(path, Path(folder))
            if own != path:
                return meshio.read(own, file_format=file_format)
    stream = opened(path, file_format)
    if stream is None:
        return meshio.read(path, file_format=file_format)
    with stream:
        return meshio.read(stream, file_format=file_format)
