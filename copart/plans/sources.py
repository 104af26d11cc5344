"""Meshes as callers name them: files with regions and boundaries, arrays, objects of other packages.

``FILE``, ``FILE:NAME``, ``FILE:ARRAY=VALUE``, and several of these one after the
other, applied from left to right: ``case.su2:zone=2:wall`` is the boundary
``wall`` of the second zone, ``case.su2:low:high`` and ``case.su2:low,high`` offer
both boundaries, ``case.msh:fluid,inlet`` is two volumes as one mesh, and
``case.su2:wall*`` all boundaries whose names begin so.
"""

from __future__ import annotations

import os
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from ..errors import MeshError
from .zones import shared_out, typed

if TYPE_CHECKING:
    from ..mesh import Mesh

KINDS = ("cells", "facets", "points")
"""Before ``=``, the kind of a group whose name alone does not tell."""
MAX_LISTED = 20
"""More values than this in a cell array are no components."""
_NUMBER = "copart:number"
_NODES = {2: "line", 3: "triangle", 5: "pyramid", 6: "wedge", 8: "hexahedron"}


class Opened(NamedTuple):
    """A mesh and where it comes from."""

    mesh: Mesh
    path: str | None
    whole: Mesh
    """All that the file holds."""
    regions: tuple[str, ...]
    """What was chosen of it, as typed."""


def split_region(text: str) -> tuple[str, str | None]:
    """File and region of ``FILE`` or ``FILE:REGION``; a file that exists under the whole name is taken as it is.

    Examples
    --------
    >>> split_region("case.msh:gmsh:physical=3")
    ('case.msh', 'gmsh:physical=3')
    >>> split_region("case.msh")
    ('case.msh', None)
    """
    text = text.rstrip("/") if text != "/" else text
    folder, base = os.path.split(text)
    if os.path.exists(text) or ":" not in base:
        return text, None
    name, region = base.split(":", 1)
    return os.path.join(folder, name), region


def open_mesh(source: Any) -> Mesh:
    """A mesh from what :func:`open_source` takes."""
    return open_source(source).mesh


def open_source(source: Any, known: Mapping[str, Mesh] | None = None, threads: int = 1) -> Opened:
    """A mesh from a path, a mesh of another package, arrays, or a `Mesh`.

    Parameters
    ----------
    source : path-like, Mesh, meshio.Mesh, pyvista grid, or (points, cells)
        A path may end in ``:NAME`` or ``:ARRAY=VALUE``, see the module's description.  A pyvista grid is
        recognised by its ``celltypes`` (a structured one can be cast to such a grid) or, a surface, by its ``faces``.
        Cells as an array are all of one type, told by their number of nodes; as a mapping of str to array,
        or a list of (str, array), they have meshio's names.
    known : mapping of str to Mesh, optional
        Files that have been read already.
    threads : int
        Threads to read with.
    """
    from ..mesh import Mesh, read_mesh

    if isinstance(source, str | os.PathLike):
        path, text = split_region(os.fspath(source))
        whole = known[path] if known and path in known else read_mesh(path, threads=threads)
        mesh, chosen = (whole, []) if text is None else choose(whole, text)
        return Opened(mesh, path, whole, tuple(chosen))
    if isinstance(source, Mesh):
        mesh = source
    elif looks_like_arrays(source):
        mesh = from_arrays(*source)
    elif _like_pyvista(source):
        mesh = from_pyvista(source)
    else:
        mesh = read_mesh(source)
    return Opened(mesh, None, mesh, ())


def choose(mesh: Mesh, text: str) -> tuple[Mesh, list[str]]:
    """What ``NAME``, ``ARRAY=VALUE`` or several of them with colons or commas between leave of a mesh.

    Names may hold colons, commas and equals signs: the longest beginning that the mesh knows is taken.

    Raises
    ------
    MeshError
        No such group, array or value, the message lists those there are; or a name that is given twice.
    """
    listed: list[str] = []
    words = text.split(":")
    chosen: list[str] = []
    while words:
        lengths = [n for n in range(len(words), 0, -1) if _items(mesh, ":".join(words[:n]))]
        # unknown: up to the first equals sign, so that the message names the array
        n = lengths[0] if lengths else next((i for i, w in enumerate(words, 1) if "=" in w), 1)
        name = ":".join(words[:n])
        items = _items(mesh, name) or name.split(",")
        listed += items
        twice = next((item for item in items if listed.count(item) > 1), None)
        if twice is not None:
            raise MeshError(f"region: {twice!r} is named twice in {text!r}")
        mesh = mesh.select([_region(mesh, item) for item in items])
        chosen.append(name)
        words = words[n:]
    return mesh, chosen


def zones(path: str, mesh: Mesh) -> list[str]:
    """The zones or regions that a file with several holds, each as it is named behind a colon; else none.

    Zones of SU2 are values of the cell array ``zone``, regions of OpenFOAM, volumes, blocks and sets of elements are
    groups of cells (:mod:`.zones`).
    """
    if "zone" in mesh.cell_data:
        values = np.unique(np.asarray(mesh.cell_data["zone"]))
        return [f"zone={value}" for value in values] if len(values) <= MAX_LISTED else []
    from ..mesh.readers.openfoam import is_openfoam, mesh_folders

    if os.path.isdir(path) or is_openfoam(Path(path)):
        return [name for name, _ in mesh_folders(Path(path)) if name in mesh.cell_groups]
    return shared_out(mesh)


def others(opened: list[Opened]) -> list[str]:
    """What the files hold beside the components chosen, a sentence each; nothing where no region was chosen."""
    out = []
    for path in dict.fromkeys(o.path for o in opened if o.path and o.mesh is not o.whole):
        mine = [o for o in opened if o.path == path]
        if any(o.mesh.ncells == o.whole.ncells for o in mine):
            continue
        whole = mine[0].whole
        arrays = dict.fromkeys(r.rpartition("=")[0] for o in mine for r in o.regions if _is_value(o.whole, r))
        named = [r for o in mine for r in o.regions]
        left: list[str] = []
        for array in arrays:
            values = np.unique(np.asarray(whole.cell_data[array]))
            if len(values) <= MAX_LISTED:
                left += [f"{array}={v}" for v in values if f"{array}={v}" not in named]
        if not arrays:
            used = np.zeros(whole.ncells, bool)
            for o in mine:
                used |= _cells_of(whole, o.regions)
            left = [typed(whole, name) for name, cells in whole.cell_groups.items()
                    if len(cells) and not used[cells].any()]
        if left:
            some = ", ".join(left[:MAX_LISTED]) + (", ..." if len(left) > MAX_LISTED else "")
            out.append(f"{os.path.basename(path)} also has {some}; give them as well to couple all")
    return out


def from_arrays(points: Any, cells: Any) -> Mesh:
    """A mesh from points and cells.

    Raises
    ------
    MeshError
        Cells of four nodes in space, which may be tetrahedra or quadrilaterals, or another number of no single type.
    """
    from ..mesh import Mesh

    if isinstance(cells, Mapping):
        return Mesh(points, list(cells.items()))
    if isinstance(cells, list | tuple) and cells and isinstance(cells[0], list | tuple) and len(cells[0]) == 2 \
            and isinstance(cells[0][0], str):
        return Mesh(points, cells)
    array = np.asarray(cells)
    if array.ndim != 2:
        raise MeshError(f"cells: need one row of nodes per cell, have shape {array.shape}")
    nodes = array.shape[1]
    if nodes == 4 and np.shape(points)[1] == 2:
        return Mesh(points, [("quad", array)])
    if nodes not in _NODES:
        what = "are tetrahedra or quadrilaterals" if nodes == 4 else "have no type of their own"
        raise MeshError(f'cells: cells of {nodes} nodes {what}; give {{"tetra": cells}} or {{"quad": cells}}')
    return Mesh(points, [(_NODES[nodes], array)])


def looks_like_arrays(source: Any) -> bool:
    """Whether `source` is (points, cells) and not a graph's (xadj, adjncy)."""
    if not (isinstance(source, tuple | list) and len(source) == 2):
        return False
    try:
        return np.ndim(source[0]) == 2
    except ValueError:
        return False


def from_pyvista(source: Any) -> Mesh:
    """A mesh from a pyvista grid or ``PolyData``, or what has their fields; cells keep their order."""
    from ..mesh import Mesh
    from ..mesh.vtk_cells import blocks_of_faces, blocks_of_grid

    if not hasattr(source, "celltypes") and not hasattr(source, "faces"):
        # structured grids and images
        source = source.cast_to_unstructured_grid()
    blocks = blocks_of_grid(source) if hasattr(source, "celltypes") else blocks_of_faces(source)
    ncells = sum(len(nodes) for _, nodes in blocks)
    data = {}
    for name in list(source.cell_data.keys()) if hasattr(source, "cell_data") else []:
        values = np.asarray(source.cell_data[name])
        if len(values) == ncells:
            data[str(name)] = values
    return Mesh(np.asarray(source.points), blocks, data)


def _like_pyvista(source: Any) -> bool:
    """Whether `source` has the fields of a pyvista grid or surface."""
    surface = hasattr(source, "faces") and hasattr(source, "n_points")
    return hasattr(source, "points") and (hasattr(source, "celltypes") or surface
                                          or hasattr(source, "cast_to_unstructured_grid"))


def _items(mesh: Mesh, text: str) -> list[str]:
    """The names between the commas of a text, none where one of them is unknown."""
    words, out = text.split(","), []
    while words:
        n = next((n for n in range(len(words), 0, -1) if _known(mesh, ",".join(words[:n]))), 0)
        if n == 0:
            return []
        out.append(",".join(words[:n]))
        words = words[n:]
    return out


def _known(mesh: Mesh, name: str) -> bool:
    """Whether a mesh has the group or array of ``NAME`` or ``ARRAY=VALUE``, or groups that fit a pattern."""
    if _is_named(mesh, name):
        return True
    array, equals, value = name.rpartition("=")
    if not equals or (array not in mesh.cell_data and array not in KINDS):
        return False
    if ":" not in value and "," not in value:
        return True
    # they are part of a value only where there is such a value
    if array in mesh.cell_data:
        values = np.asarray(mesh.cell_data[array])
        return values.dtype.kind in "US" and bool((values == value).any())
    from ..mesh.groups import kinds_of

    return value in kinds_of(mesh)[array]


def _is_named(mesh: Mesh, name: str) -> bool:
    """Whether groups have that name, or fit it as a pattern."""
    from ..mesh.groups import kinds_of, matching

    return any(name in groups for groups in kinds_of(mesh).values()) or bool(matching(mesh, name))


def _cells_of(mesh: Mesh, regions: Sequence[str]) -> NDArray[np.bool_]:
    """(ncells,) which cells the names leave of a mesh, those of boundaries leaving all."""
    numbered = mesh.replace(cell_data={**mesh.cell_data, _NUMBER: np.arange(mesh.ncells)})
    out = np.zeros(mesh.ncells, bool)
    out[choose(numbered, ":".join(regions))[0].cell_data[_NUMBER]] = True
    return out


def _is_value(mesh: Mesh, name: str) -> bool:
    """Whether it is ``ARRAY=VALUE`` of an array of that mesh."""
    return "=" in name and name.rpartition("=")[0] in mesh.cell_data


def _region(mesh: Mesh, name: str) -> Any:
    """A region as :meth:`Mesh.select` takes it."""
    if "=" not in name or _is_named(mesh, name):
        return name
    array, _, value = name.rpartition("=")
    return array, value


__all__ = ["Opened", "choose", "from_arrays", "from_pyvista", "looks_like_arrays", "open_mesh", "open_source", "others",
           "split_region", "zones"]
