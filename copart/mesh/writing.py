"""Meshes out: VTU with cell arrays for viewers, and any format meshio writes."""

from __future__ import annotations

import contextlib
import io
import os
import tempfile
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import numpy as np

from ..errors import CopartError, FormatError, MeshError
from .value import Mesh


def write_vtu(path: str | os.PathLike[str], mesh: Mesh, cell_data: Mapping[str, Any] | None = None) -> Path:
    """Write `mesh` as VTU, with its own cell arrays and those given.

    The file appears complete or not at all.

    Parameters
    ----------
    path : path-like
        Ends in ``.vtu``.
    mesh : Mesh
    cell_data : mapping of str to (ncells,) array, optional
        Such as ``{"part": part}``; replaces the mesh's own array of that name.

    Returns
    -------
    Path
        The file.

    Raises
    ------
    MeshError
        An array has not one entry a cell.
    FormatError
        The file cannot be written.
    """
    if Path(path).suffix.lower() != ".vtu":
        raise FormatError(path, "the name of a VTU file must end in .vtu")
    return write_mesh(path, mesh, cell_data)


def write_mesh(path: str | os.PathLike[str], mesh: Mesh, cell_data: Mapping[str, Any] | None = None) -> Path:
    """Write `mesh` in the format of the file name's suffix; see :func:`write_vtu`."""
    import meshio

    from .reading import suffix_formats

    target = Path(path)
    if target.is_dir():
        raise FormatError(path, "is a folder")
    if not target.parent.is_dir():
        raise FormatError(path, "the folder does not exist")
    file_format = suffix_formats(target)[-1]
    arrays = {**mesh.cell_data, **(cell_data or {})}
    sizes = np.cumsum([len(c) for _, c in mesh.blocks])
    data = {}
    for name, values in arrays.items():
        array = np.asarray(values)
        if array.ndim == 0 or len(array) != mesh.ncells:
            raise MeshError(f"cell data {name!r}: needs {mesh.ncells} entries, one a cell, has shape {array.shape}")
        if array.dtype == bool:
            array = array.astype(np.int8)
        data[name] = np.split(array, sizes[:-1])
    out = meshio.Mesh(mesh.points, list(mesh.blocks), cell_data=data)
    # same folder, so that the rename cannot cross file systems; same suffix, because meshio goes by it
    handle, temporary = _temporary(target)
    os.close(handle)
    console = io.StringIO()
    try:
        with contextlib.redirect_stdout(console), contextlib.redirect_stderr(console):
            out.write(temporary, file_format=file_format)
        if file_format != "vtu":
            _check_complete(temporary, mesh, file_format)
        os.chmod(temporary, 0o666 & ~_umask())
        os.replace(temporary, target)
    except CopartError as error:
        raise FormatError(path, str(error).replace(temporary, "what was written")) from None
    except (Exception, SystemExit) as error:
        reason = " ".join(f"{error} {console.getvalue()}".split()) or type(error).__name__
        raise FormatError(path, f"cannot write {file_format}: {reason}") from error
    finally:
        with contextlib.suppress(FileNotFoundError):
            os.unlink(temporary)
    return target


def _check_complete(path: str, mesh: Mesh, file_format: str) -> None:
    """Read the file back: some formats drop the cells they cannot hold without a word."""
    from .reading import read_mesh

    kinds = ", ".join(dict.fromkeys(t for t, _ in mesh.blocks))
    try:
        found = read_mesh(path).ncells
    except CopartError:
        found = 0
    if found != mesh.ncells:
        raise MeshError(f"format {file_format} cannot hold these cells, {kinds}; use .vtu")


def _temporary(target: Path) -> tuple[int, str]:
    """A new file beside `target`, with its suffix."""
    try:
        return tempfile.mkstemp(prefix=f".{target.stem}.", suffix=target.suffix, dir=target.parent)
    except OSError as error:
        raise FormatError(target, f"the folder is not writable: {error.strerror}") from None


def _umask() -> int:
    """The process' file mode mask; mkstemp files are private, finished ones should not be."""
    mask = os.umask(0)
    os.umask(mask)
    return mask


