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
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ..errors import CopartError, FormatError, MeshError
from .mdpa import named_shapes
from .su2 import read_su2
from .value import Block, Mesh

log = logging.getLogger(__name__)

PHYSICAL = "gmsh:physical"
"""The cell array in which gmsh files keep region numbers."""


def read_mesh(source: Any, region: tuple[str, Any] | str | None = None) -> Mesh:
    """A `Mesh` from a file, a ``meshio.Mesh`` or a `Mesh`.

    A ``.msh`` file that is neither gmsh's nor Ansys' is read as Abaqus/CalculiX
    input when it looks like it, as CalculiX users name their meshes so.

    Parameters
    ----------
    source : path-like, meshio.Mesh or Mesh
    region : (str, value) or str, optional
        Only the cells whose cell array of that name has that value; or the name
        of a physical group of the file.

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
        mesh = _read_file(Path(source))
    else:
        raise MeshError(f"mesh: expected a path, a meshio.Mesh or a Mesh, got {type(source).__name__}")
    return mesh if region is None else select(mesh, region)


def from_meshio(source: Any, name: str = "mesh") -> Mesh:
    """A `Mesh` from a ``meshio.Mesh`` (or an object with its fields)."""
    blocks = [(block.type, block.data) for block in source.cells]
    data: dict[str, NDArray[Any]] = {}
    for key, parts in (getattr(source, "cell_data", None) or {}).items():
        arrays = [np.asarray(p) for p in parts]
        if len(arrays) != len(blocks) or any(len(a) != len(b[1]) for a, b in zip(arrays, blocks, strict=True)):
            raise MeshError(f"cell data {key!r}: does not have one entry a cell")
        full = [a for a in arrays if len(a)]
        if full and len({a.shape[1:] for a in full}) == 1:
            data[str(key)] = np.concatenate(full)
    tags = {}
    for key, value in (getattr(source, "field_data", None) or {}).items():
        pair = np.asarray(value).reshape(-1)
        if len(pair) == 2 and pair.dtype.kind in "iu":
            tags[str(key)] = (int(pair[0]), int(pair[1]))
    return Mesh(source.points, blocks, data, name, tags=tags)


def suffix_formats(path: Path) -> list[str]:
    """meshio's names of the formats for a file name, in the order to try.

    Raises
    ------
    FormatError
        No format has this suffix; the message lists the known ones.
    """
    import meshio

    known: dict[str, list[str]] = meshio.extension_to_filetypes
    name = path.name.lower()
    for suffix in sorted(known, key=len, reverse=True):
        if name.endswith(suffix):
            return list(known[suffix])
    raise FormatError(path, f"unknown mesh format {path.suffix or '(no suffix)'!s}; known: {' '.join(sorted(known))}")


def _read_file(path: Path) -> Mesh:
    """Read and convert, turning whatever happens into one FormatError."""
    if path.is_dir():
        raise FormatError(path, "is a folder, not a mesh file")
    if not path.exists():
        raise FormatError(path, "no such file")
    formats = suffix_formats(path)
    try:
        with open(path, "rb") as stream:
            head = stream.read(4096)
    except OSError as error:
        raise FormatError(path, f"cannot be opened: {error.strerror}") from None
    if not head.strip():
        raise FormatError(path, "the file is empty")
    if path.suffix.lower() == ".msh":
        formats = _msh_formats(head)
    if formats == ["su2"]:
        try:
            return read_su2(path, path.stem)
        except MeshError as error:
            raise FormatError(path, str(error)) from None
    reasons = []
    for file_format in formats:
        raw, reason = _try_format(path, file_format)
        if raw is None:
            reasons.append(f"{reason} (read as {file_format})")
            continue
        try:
            return from_meshio(raw, path.stem)
        except CopartError as error:
            raise FormatError(path, str(error)) from None
    raise FormatError(path, "; ".join(reasons))


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
    import meshio

    console = io.StringIO()
    try:
        with (contextlib.redirect_stdout(console), contextlib.redirect_stderr(console),
              warnings.catch_warnings(action="ignore")):
            raw = _read_mdpa(path) if file_format == "mdpa" else meshio.read(path, file_format=file_format)
    except FormatError:
        raise
    except MemoryError:
        return None, "the file announces more data than fits in memory"
    except (Exception, SystemExit) as error:
        said = " ".join(console.getvalue().split())
        what = "" if isinstance(error, SystemExit) else " ".join(str(error).split())
        if not what and not said:
            what = type(error).__name__
        elif what and isinstance(error, (IndexError, KeyError, AssertionError, EOFError, TypeError, AttributeError)):
            what = f"ill-formed or truncated ({type(error).__name__}: {what})"
        return None, f"cannot be read: {'; '.join(x for x in (what, said) if x)}"
    if console.getvalue().strip():
        log.info("%s: %s", path, " ".join(console.getvalue().split()))
    return raw, ""


def _read_mdpa(path: Path) -> Any:
    """Read a Kratos file with its headers translated; meshio needs a real file."""
    import meshio

    with tempfile.TemporaryDirectory() as folder:
        copy = Path(folder) / path.name
        copy.write_text(named_shapes(path), encoding="utf-8")
        return meshio.read(copy, file_format="mdpa")


# ---- regions of one mesh
def regions(mesh: Mesh, tag: str = PHYSICAL) -> dict[str, Mesh]:
    """One mesh for each value of a cell array; named after the value, or its physical group.

    Parameters
    ----------
    mesh : Mesh
    tag : str
        Name of an integer cell array.

    Returns
    -------
    dict of str to Mesh
        In ascending order of the values.
    """
    values = _tag_array(mesh, tag)
    names = {number: name for name, (number, dim) in mesh.tags.items() if dim == mesh.dimension and tag == PHYSICAL}
    out = {}
    for value in np.unique(values):
        name = names.get(int(value), str(value)) if values.dtype.kind in "iu" else str(value)
        out[name] = extract(mesh, values == value, name=name)
    return out


def select(mesh: Mesh, region: tuple[str, Any] | str) -> Mesh:
    """The cells of one region; see :func:`read_mesh`.

    Raises
    ------
    MeshError
        No such array, value or physical group; the message lists those there are.
    """
    if isinstance(region, str):
        known = {n: v for n, (v, dim) in mesh.tags.items() if dim == mesh.dimension}
        if region not in known:
            raise MeshError(f"region: mesh {mesh.name!r} has no physical group {region!r} of dimension "
                            f"{mesh.dimension}; it has: {', '.join(known) or 'none'}")
        return extract(mesh, _tag_array(mesh, PHYSICAL) == known[region], name=region)
    try:
        tag, value = region
    except (TypeError, ValueError):
        raise MeshError(f"region: needs (cell array, value) or the name of a physical group, got {region!r}") from None
    values = _tag_array(mesh, tag)
    if isinstance(value, str) and values.dtype.kind in "iuf":
        try:
            value = float(value)  # a number typed on a command line
        except ValueError:
            raise MeshError(f"region: {tag} is numeric, got {value!r}") from None
        value = int(value) if value.is_integer() else value
    mask = np.asarray(values == value)
    if not mask.any():
        present = np.unique(values)
        some = ", ".join(str(v) for v in present[:12]) + (", ..." if len(present) > 12 else "")
        raise MeshError(f"region: no cell of mesh {mesh.name!r} has {tag} = {value!r}; values there: {some}")
    return extract(mesh, mask, name=f"{mesh.name}-{value}")


def extract(mesh: Mesh, mask: NDArray[np.bool_], name: str | None = None) -> Mesh:
    """The cells where `mask` (ncells,) bool is true, as a mesh of its own.

    Cells keep their order and data.  Lower cells stay where all their points do; unused points are dropped.
    """
    keep = np.asarray(mask)
    if keep.dtype != bool or keep.shape != (mesh.ncells,):
        raise MeshError(f"mask: needs ({mesh.ncells},) bool, has shape {keep.shape} and dtype {keep.dtype}")
    if not keep.any():
        raise MeshError(f"mask: no cell of mesh {mesh.name!r} is left")
    blocks = _masked(mesh.blocks, keep)
    used = np.zeros(mesh.npoints, bool)
    for _, cells in blocks:
        used[cells] = True
    new = np.cumsum(used) - 1
    low = [used[cells].all(axis=1) for _, cells in mesh.lower]
    low_keep = np.concatenate(low) if low else np.zeros(0, bool)
    return Mesh(mesh.points[used], [(t, new[c]) for t, c in blocks],
                {k: v[keep] for k, v in mesh.cell_data.items()}, mesh.name if name is None else name,
                [(t, new[c]) for t, c in _masked(mesh.lower, low_keep)],
                {k: v[low_keep] for k, v in mesh.lower_data.items()}, mesh.tags)


def _masked(blocks: Sequence[Block], keep: NDArray[np.bool_]) -> list[Block]:
    """The chosen cells of each block; empty blocks vanish."""
    out, at = [], 0
    for cell_type, cells in blocks:
        part = cells[keep[at:at + len(cells)]]
        at += len(cells)
        if len(part):
            out.append((cell_type, part))
    return out


def _tag_array(mesh: Mesh, tag: Any) -> NDArray[Any]:
    """A cell array with one value a cell."""
    if tag not in mesh.cell_data:
        known = ", ".join(mesh.cell_data) or "none"
        raise MeshError(f"region: mesh {mesh.name!r} has no cell array {tag!r}; it has: {known}")
    values = np.asarray(mesh.cell_data[tag])
    if values.ndim == 2 and values.shape[1] == 1:
        values = values[:, 0]
    if values.ndim != 1:
        raise MeshError(f"region: cell array {tag!r} has several values a cell, shape {values.shape}")
    return values
