"""Meshes out: VTU with cell arrays for viewers, and any format meshio writes."""

from __future__ import annotations

import contextlib
import io
import os
import re
import shutil
import tempfile
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ...errors import CopartError, FormatError, MeshError
from ...formats.output import place_of
from ...formats.vtu import POLYHEDRON, Faces, Grid, write_grid
from ..named import group_fields
from ..polyhedra import spans
from ..value import Mesh
from ..vtk_cells import BY_ROWS, TYPES

#: VTK's numbers of the cell types; where it has two for a shape, the one with its corners in cyclic order.
_VTK = {**{name: number for number, name in TYPES.items() if number not in BY_ROWS}, "line4": 35,
        "VTK_LAGRANGE_CURVE": 68, "VTK_LAGRANGE_TRIANGLE": 69, "VTK_LAGRANGE_QUADRILATERAL": 70,
        "VTK_LAGRANGE_TETRAHEDRON": 71, "VTK_LAGRANGE_HEXAHEDRON": 72, "VTK_LAGRANGE_WEDGE": 73,
        "VTK_LAGRANGE_PYRAMID": 74}
#: Local numbers in VTK's order, where meshio's differs: VTK turns the first triangle of a wedge outwards.
_ORDER = {"wedge": [0, 2, 1, 3, 5, 4]}


def write_vtu(path: str | os.PathLike[str], mesh: Mesh, cell_data: Mapping[str, Any] | None = None,
              threads: int = 1) -> Path:
    """Write `mesh` as VTU, with its own cell arrays and those given, and its named groups as field data.

    The file appears complete or not at all.

    Parameters
    ----------
    path : path-like
        Ends in ``.vtu``.
    mesh : Mesh
    cell_data : mapping of str to (ncells,) array, optional
        Such as ``{"part": part}``; replaces the mesh's own array of that name.
    threads : int
        With 2 or more, that many pieces of arrays are packed at once; the file is the same.

    Returns
    -------
    Path
        The file.

    Raises
    ------
    MeshError
        An array has not one entry per cell, or VTK has no such cells.
    FormatError
        The file cannot be written.
    """
    target = _checked(path)
    if target.suffix.lower() != ".vtu":
        raise FormatError(path, "the name of a VTU file must end in .vtu")
    write_grid(target, vtk_grid(mesh), cell_arrays(mesh, cell_data), {}, group_fields(mesh), threads)
    return target


def write_mesh(path: str | os.PathLike[str], mesh: Mesh, cell_data: Mapping[str, Any] | None = None) -> Path:
    """Write `mesh` in the format of the file name's suffix; see :func:`write_vtu`.

    Formats other than VTU take cells and cell arrays, not the named groups.

    Parameters
    ----------
    path : path-like
    mesh : Mesh
    cell_data : mapping of str to (ncells, ...) array_like, optional
        More cell arrays by name.
    """
    if Path(path).suffix.lower() == ".vtu":
        return write_vtu(path, mesh, cell_data)
    import meshio

    from ..readers.reading import suffix_formats

    target = _checked(path)
    file_format = suffix_formats(target)[-1]
    if mesh.polyhedra is not None:
        raise MeshError(f"format {file_format} cannot hold polyhedra; use .vtu")
    sizes = np.cumsum([len(c) for _, c in mesh.blocks])
    data = {name: np.split(array, sizes[:-1]) for name, array in cell_arrays(mesh, cell_data).items()}
    out = meshio.Mesh(mesh.points, list(mesh.blocks), cell_data=data)
    place, console = place_of(target), io.StringIO()
    folder = _folder(place)
    # the name that it will have: meshio goes by its suffixes, and calls the other file of XDMF and TetGen after it
    temporary = os.path.join(folder, place.name)
    try:
        with contextlib.redirect_stdout(console), contextlib.redirect_stderr(console), _plain_numbers():
            out.write(temporary, file_format=file_format)
        _check_complete(temporary, mesh, file_format)
        for name in sorted(os.listdir(folder), key=lambda name: name == place.name):
            os.replace(os.path.join(folder, name), place.parent / name)
    except CopartError as error:
        raise FormatError(path, str(error).replace(temporary, "what was written")) from None
    except (Exception, SystemExit) as error:
        reason = " ".join(f"{error} {console.getvalue()}".split()) or type(error).__name__
        raise FormatError(path, f"cannot write {file_format}: {reason}") from error
    finally:
        shutil.rmtree(folder, ignore_errors=True)
    return target


def vtk_grid(mesh: Mesh) -> Grid:
    """The cells of `mesh` as VTK has them.

    Raises
    ------
    MeshError
        VTK has no such cells.
    """
    if mesh.polyhedra is not None:
        solid = mesh.polyhedra
        first, faces = solid.sides
        size = np.diff(solid.start)[faces]
        nodes = solid.nodes[spans(solid.start[faces], size)]
        start = np.concatenate([[0], np.cumsum(size)])
        return Grid(mesh.points, *solid.corners, np.full(mesh.ncells, POLYHEDRON, np.uint8), Faces(first, start, nodes))
    types, flat, sizes = [], [], []
    for name, cells in mesh.blocks:
        kind = "polygon" if re.fullmatch(r"polygon\d*", name) else name
        if kind not in _VTK:
            raise MeshError(f"cells {name}: VTU files have no such cells")
        types.append(np.full(len(cells), _VTK[kind], np.uint8))
        sizes.append(np.full(len(cells), cells.shape[1], np.int64))
        flat.append(cells[:, _ORDER[kind]].ravel() if kind in _ORDER else cells.ravel())
    start = np.concatenate([[0], np.cumsum(np.concatenate(sizes))])
    return Grid(mesh.points, start, np.concatenate(flat), np.concatenate(types))


def cell_arrays(mesh: Mesh, more: Mapping[str, Any] | None = None) -> dict[str, NDArray[Any]]:
    """The cell arrays of `mesh` and those given, with booleans as 0 and 1.

    Raises
    ------
    MeshError
        An array has not one entry per cell.
    """
    out = {}
    for name, values in {**mesh.cell_data, **(more or {})}.items():
        array = np.asarray(values)
        if array.ndim == 0 or len(array) != mesh.ncells:
            raise MeshError(f"cell data {name!r}: needs {mesh.ncells} entries, one per cell, has shape {array.shape}")
        out[name] = array.astype(np.int8) if array.dtype == bool else array
    return out


def _checked(path: str | os.PathLike[str]) -> Path:
    """A file that can be written as far as its name and folder go."""
    target = Path(path)
    if target.is_dir():
        raise FormatError(path, "is a folder")
    if not target.parent.is_dir():
        raise FormatError(path, "the folder does not exist")
    return target


def _check_complete(path: str, mesh: Mesh, file_format: str) -> None:
    """Read the file back: some formats drop the cells they cannot hold without a word."""
    from ..readers.reading import read_mesh

    kinds = ", ".join(dict.fromkeys(t for t, _ in mesh.blocks))
    try:
        found = read_mesh(path).ncells
    except CopartError as error:
        said = str(error).removeprefix(f"{path}: ")
        raise MeshError(f"format {file_format} cannot hold these cells, {kinds}: what is written cannot be read back "
                        f"({said}); use .vtu") from None
    if found != mesh.ncells:
        raise MeshError(f"format {file_format} cannot hold these cells, {kinds}; use .vtu")


def _folder(target: Path) -> str:
    """A new folder beside `target`, so that renaming does not cross file systems."""
    try:
        return tempfile.mkdtemp(prefix=f".{target.stem}.", dir=target.parent)
    except OSError as error:
        raise FormatError(target, f"the folder is not writable: {error.strerror}") from None


def _plain_numbers() -> contextlib.AbstractContextManager[Any]:
    """Lets meshio write numbers, and no ``np.float64(1.0)`` as NumPy 2 has them for those who read."""
    return np.printoptions(legacy="1.25") if int(np.__version__.split(".")[0]) > 1 else contextlib.nullcontext()
