"""Meshes of other packages: ``meshio.Mesh`` and what has its fields, with the names they keep."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ...errors import MeshError
from ...names import NAMELESS
from ..cells import shape_of
from ..named import is_group_field, with_group_fields
from ..polyhedra import Polyhedra
from ..value import Mesh
from .assembling import Members, assembled

PHYSICAL = "gmsh:physical"
"""The cell array in which gmsh files keep the numbers of physical groups."""
NUMBERED = (PHYSICAL, "medit:ref", "netgen:index")
"""Cell arrays whose numbers are groups, 0 for none; called by their number where they have no name."""
_FAMILIES = "cell_tags"
"""Where meshio keeps MED families: on the cells, and by number with the groups each belongs to on the mesh."""


class Solid:
    """Cells of a block that are polyhedra already."""

    def __init__(self, polyhedra: Polyhedra):
        self.polyhedra = polyhedra

    def __len__(self) -> int:
        return self.polyhedra.ncells


def from_meshio(source: Any, name: str = NAMELESS) -> Mesh:
    """A `Mesh` from a ``meshio.Mesh`` (or an object with its fields).

    Groups come from its ``cell_sets`` and ``point_sets``, from gmsh's physical groups, from MED families and from
    the field data of VTU files that copart wrote.

    Raises
    ------
    MeshError
        Its arrays do not fit together, or describe no usable mesh.
    """
    given = [(_plain(str(block.type), block.data), block.data) for block in source.cells]
    solid = [i for i, (t, _) in enumerate(given) if t.startswith("polyhedron")]
    blocks = [(t, np.zeros((0, 1), np.int64) if i in solid else data) for i, (t, data) in enumerate(given)]
    sizes = [len(data) for _, data in given]
    data: dict[str, NDArray[Any]] = {}
    for key, parts in (getattr(source, "cell_data", None) or {}).items():
        arrays = [np.asarray(p) for p in parts]
        if not any(sizes) and not any(a.size for a in arrays):
            continue  # as of a part without cells
        if len(arrays) != len(sizes) or any(a.ndim == 0 or len(a) != n for a, n in zip(arrays, sizes, strict=True)):
            raise MeshError(f"cell data {key!r}: does not have one entry per cell")
        full = [a for a in arrays if len(a)]
        if full and len({a.shape[1:] for a in full}) == 1:
            data[str(key)] = np.concatenate(full)
    remarks = []
    known = (*NUMBERED, "gmsh:dim_tags", "point_tags")
    lost = [str(k) for k in getattr(source, "point_data", None) or {} if k not in known]
    if lost:
        remarks.append(f"arrays on points are left out: {', '.join(lost)}")
    if solid:
        if len(solid) < sum(n > 0 for n in sizes):
            raise MeshError("cells: polyhedra beside cells of other types are not supported")
        made = [cells.polyhedra for _, cells in given if isinstance(cells, Solid)]
        found = made[0] if made else Polyhedra.from_cells([cell for i in solid for cell in given[i][1]])
        mesh = Mesh(source.points, (), data, name, remarks=remarks, polyhedra=found)
    else:
        mesh = assembled(source.points, blocks, name, _sets(source, blocks, data), cell_data=data,
                         nodes=_point_sets(source), remarks=remarks)
    return with_group_fields(mesh, getattr(source, "field_data", None) or {})


def _plain(kind: str, nodes: Any) -> str:
    """The type of a block; that of polygons with three or four corners is triangle or quad."""
    width = nodes.shape[1] if kind.startswith("polygon") and getattr(nodes, "ndim", 0) == 2 else 0
    return {3: "triangle", 4: "quad"}.get(width, kind)


def _sets(source: Any, blocks: list[tuple[str, Any]],
          data: Mapping[str, NDArray[Any]]) -> Iterator[tuple[str, Members]]:
    """Named sets of cells of all dimensions."""
    sets = getattr(source, "cell_sets", None) or {}
    for key, parts in sets.items():
        if not str(key).startswith("gmsh:"):
            yield str(key), {i: _index(key, p, len(blocks[i][1])) for i, p in enumerate(parts) if p is not None}
    start = np.concatenate([[0], np.cumsum([len(c) for _, c in blocks])])
    if any(is_group_field(str(key)) for key in getattr(source, "field_data", None) or {}):
        return  # physical groups are among them, by name
    for array in NUMBERED:
        if array not in data or data[array].ndim != 1 or data[array].dtype.kind not in "iu" \
                or len(data[array]) != start[-1]:
            continue
        called = {}
        for key, value in (getattr(source, "field_data", None) or {}).items():
            pair = np.asarray(value).reshape(-1)
            if len(pair) == 2 and pair.dtype.kind in "iu":
                called[int(pair[0]), int(pair[1])] = str(key)
        for i, (kind, cells) in enumerate(blocks):
            if len(cells) == 0:
                continue
            tags = data[array][start[i]:start[i + 1]]
            dimension = shape_of(kind, np.asarray(cells).shape[1]).dimension
            for number in np.unique(tags):
                label = called.get((int(number), dimension), str(int(number)))
                if number != 0 and label not in sets:
                    yield label, {i: np.flatnonzero(tags == number)}
    families = getattr(source, _FAMILIES, None)
    if isinstance(families, Mapping) and _FAMILIES in data and len(data[_FAMILIES]) == start[-1]:
        for i in range(len(blocks)):
            tags = data[_FAMILIES][start[i]:start[i + 1]]
            for number, labels in families.items():
                for label in labels:
                    yield str(label), {i: np.flatnonzero(tags == number)}


def _point_sets(source: Any) -> dict[str, Any]:
    """Named sets of nodes."""
    out = {str(k): _index(k, v, len(source.points)) for k, v in (getattr(source, "point_sets", None) or {}).items()}
    families, tags = getattr(source, "point_tags", None), (getattr(source, "point_data", None) or {}).get("point_tags")
    if isinstance(families, Mapping) and tags is not None:
        for number, labels in families.items():
            for label in labels:
                mine = np.flatnonzero(np.asarray(tags) == number)
                out[str(label)] = np.union1d(out.get(str(label), mine[:0]), mine)
    return {k: v for k, v in out.items() if len(v)}


def _index(label: Any, values: Any, size: int) -> NDArray[np.int64]:
    """Members of a set, checked."""
    index = np.asarray(values)
    if index.size == 0:
        return np.zeros(0, np.int64)
    if index.ndim != 1 or index.dtype.kind not in "iu" or int(index.min()) < 0 or int(index.max()) >= size:
        raise MeshError(f"set {label!r}: needs whole numbers in 0..{size - 1}")
    return index.astype(np.int64)
