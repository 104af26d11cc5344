"""Parts of a mesh by name: regions as meshes of their own, boundaries for coupling."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Mapping, Sequence
from fnmatch import fnmatchcase
from typing import Any, NamedTuple, Self, TypeVar

import numpy as np
from numpy.typing import NDArray

from ..errors import MeshError
from .fields import Block, Groups
from .polyhedra import Polyhedra


class Grouped(ABC):
    """What is asked of a mesh whose parts have names: fields of :class:`copart.mesh.Mesh`, which inherits this."""

    points: NDArray[np.float64]
    blocks: Sequence[Block]
    cell_data: Mapping[str, NDArray[Any]]
    name: str
    facet_groups: Groups
    point_groups: Groups
    cell_groups: Groups
    interface: str | tuple[str, ...] | None
    polyhedra: Polyhedra | None

    @property
    @abstractmethod
    def ncells(self) -> int:
        """Number of cells."""

    @property
    def offered(self) -> tuple[str, ...]:
        """Names of the facet and point groups that are offered for coupling; none where the whole boundary is."""
        return () if self.interface is None else \
            (self.interface,) if isinstance(self.interface, str) else tuple(self.interface)

    @property
    def boundary(self) -> str | None:
        """The names that are offered, as they are typed: with commas between."""
        return ",".join(self.offered) or None

    @abstractmethod
    def replace(self, **changes: Any) -> Self:
        """A copy with other fields."""


M = TypeVar("M", bound=Grouped)


def regions(mesh: M, array: str | None = None) -> dict[str, M]:
    """One mesh for each cell group, or for each value of a cell array.

    Parameters
    ----------
    mesh : Mesh
    array : str, optional
        Name of a cell array; the cell groups where not given.

    Returns
    -------
    dict of str to Mesh
        By the name of the group, or by the value in ascending order.
    """
    if array is None:
        return {name: extract(mesh, _mask(mesh, _Found("cells", name)), name=name)
                for name, cells in mesh.cell_groups.items() if len(cells)}
    values = cell_array(mesh, array, "region")
    return {str(value): extract(mesh, values == value, name=str(value)) for value in np.unique(values)}


def select(mesh: M, region: Any) -> M:
    """Regions or boundaries of `mesh`; see :meth:`Mesh.select`.

    Parameters
    ----------
    mesh : Mesh
    region : str or sequence of str
        As in a file's name, ``NAME`` or ``ARRAY=VALUE``; several one after the other.
    """
    wanted = region if isinstance(region, list) else [region]
    found = [one for each in wanted for one in _found(mesh, each)]
    if not found:
        raise MeshError("region: the list of names is empty")
    cells = [one for one in found if one.kind not in ("facets", "points")]
    if not cells:
        for kind, name in found:
            mesh = _offering(mesh, kind, str(name))
        return mesh
    if len(cells) < len(found):
        other = next(one for one in found if one.kind in ("facets", "points"))
        raise MeshError(f"region: {cells[0].name} of mesh {mesh.name!r} is a region, {other.name} a boundary; name one "
                        f"after the other, as in REGION:BOUNDARY, or say cells=NAME or facets=NAME")
    keep = np.zeros(mesh.ncells, bool)
    for one in cells:
        mine = _mask(mesh, one)
        if not mine.any():
            raise MeshError(f"region: cell group {one.name!r} of mesh {mesh.name!r} is empty")
        keep |= mine
    names = dict.fromkeys(str(one.name) for one in cells)
    if cells[0].kind != "cells":
        return extract(mesh, keep, name=f"{mesh.name}-{'+'.join(names)}")
    return extract(mesh, keep, name="+".join(names))


class _Found(NamedTuple):
    """A group, or the cells where an array has a value."""

    kind: str
    """``cells``, ``facets``, ``points``, or the name of a cell array."""
    name: Any
    """Of the group, or the value."""


def kinds_of(mesh: Grouped) -> dict[str, Groups]:
    """The groups of a mesh by their kind, under the words that stand before names."""
    return {"cells": mesh.cell_groups, "facets": mesh.facet_groups, "points": mesh.point_groups}


def _found(mesh: Grouped, region: Any) -> list[_Found]:
    """What a name, a pattern or (cell array, value) stands for."""
    kinds = kinds_of(mesh)
    if isinstance(region, str):
        found = [_Found(kind, region) for kind, groups in kinds.items() if region in groups] or matching(mesh, region)
        if not found:
            listed = [f"{kind[:-1]} groups {', '.join(groups)}" for kind, groups in kinds.items() if groups]
            raise MeshError(f"region: mesh {mesh.name!r} has no group {region!r}; "
                            f"it has: {'; '.join(listed) or 'no named groups'}")
        there = list(dict.fromkeys(one.kind for one in found))
        if there[0] == "cells" and len(there) > 1:
            raise MeshError(f"region: mesh {mesh.name!r} has groups of {' and '.join(there)} called {region!r}; "
                            f"say {' or '.join(f'{kind}={region}' for kind in there)}")
        # facets come before points of the same name
        return list({one.name: one for one in reversed(found)}.values())[::-1]
    try:
        array, value = region
    except (TypeError, ValueError):
        raise MeshError(f"region: needs the name of a group, or (cell array, value), got {region!r}") from None
    if array in kinds and array not in mesh.cell_data:
        name = str(value)
        out = [_Found(array, name)] if name in kinds[array] else matching(mesh, name, array)
        if not out:
            raise MeshError(f"region: mesh {mesh.name!r} has no {array[:-1]} group {name!r}; "
                            f"it has: {', '.join(kinds[array]) or 'none'}")
        return out
    values = cell_array(mesh, array, "region")
    if isinstance(value, str) and values.dtype.kind in "iuf":
        try:
            value = _number(value)  # typed on a command line
        except ValueError:
            raise MeshError(f"region: {array} is numeric, got {value!r}") from None
    if not _mask(mesh, _Found(array, value)).any():
        present = np.unique(values)
        some = ", ".join(f"{array}={v}" for v in present[:12]) + (", ..." if len(present) > 12 else "")
        raise MeshError(f"region: no cell of mesh {mesh.name!r} has {array}={value}; it has: {some}")
    return [_Found(array, value)]


def _number(text: str) -> int | float:
    """A number as it is typed; a whole one is exact."""
    try:
        return int(text)
    except ValueError:
        value = float(text)
        return int(value) if value.is_integer() else value


def matching(mesh: Grouped, pattern: str, kind: str | None = None) -> list[_Found]:
    """The groups, but for empty ones, whose names fit a pattern with ``*`` and ``?``; none where it has neither."""
    if "*" not in pattern and "?" not in pattern:
        return []
    plain = pattern.replace("[", "[[]")  # brackets are part of names
    return [_Found(each, name) for each, groups in kinds_of(mesh).items() if kind in (None, each)
            for name, members in groups.items() if len(members) and fnmatchcase(name, plain)]


def _offering(mesh: M, kind: str, name: str) -> M:
    """The mesh with one more boundary offered."""
    groups = kinds_of(mesh)[kind]
    if len(groups[name]) == 0:
        raise MeshError(f"region: {kind[:-1]} group {name!r} of mesh {mesh.name!r} is empty")
    if kind == "points" and name in mesh.facet_groups:
        mesh = mesh.replace(facet_groups={k: v for k, v in mesh.facet_groups.items() if k != name})
    return mesh.replace(interface=(*mesh.offered, name))


def _mask(mesh: Grouped, found: _Found) -> NDArray[np.bool_]:
    """(ncells,) which cells a region has."""
    keep = np.zeros(mesh.ncells, bool)
    if found.kind == "cells" and "cells" not in mesh.cell_data:
        keep[mesh.cell_groups[found.name]] = True
        return keep
    same = np.asarray(cell_array(mesh, found.kind, "region") == found.name)
    return same if same.shape == keep.shape else keep


def extract(mesh: M, mask: NDArray[np.bool_], name: str | None = None) -> M:
    """The cells where `mask` (ncells,) bool is true, as a mesh of its own.

    Cells keep their order and data; unused points are dropped.  Groups keep what is left of them: facets whose
    nodes are all there, nodes and cells that are; a group of which nothing is left goes.

    Raises
    ------
    MeshError
        A mask of the wrong kind, no cell left, or nothing left of the group chosen for coupling.
    """
    keep = np.asarray(mask)
    if keep.dtype != bool or keep.shape != (mesh.ncells,):
        raise MeshError(f"mask: needs ({mesh.ncells},) bool, has shape {keep.shape} and dtype {keep.dtype}")
    if not keep.any():
        raise MeshError(f"mask: no cell of mesh {mesh.name!r} is left")
    blocks = _masked(mesh, keep)
    used = np.zeros(len(mesh.points), bool)
    for _, cells in blocks:
        used[cells] = True
    solid = mesh.polyhedra
    if solid is not None:
        other = np.where(solid.neighbour >= 0, solid.neighbour, solid.owner)
        used[solid.nodes[np.repeat(keep[solid.owner] | keep[other], np.diff(solid.start))]] = True
    new = np.cumsum(used) - 1
    facets, points, cell_groups = {}, {}, {}
    number = np.cumsum(keep) - 1
    for label, rows in mesh.facet_groups.items():
        rows = rows[(used[rows] | (rows < 0)).all(axis=1)]
        facets[label] = np.where(rows >= 0, new[rows], -1)
    for label, nodes in mesh.point_groups.items():
        points[label] = new[nodes[used[nodes]]]
    for label, members in mesh.cell_groups.items():
        cell_groups[label] = number[members[keep[members]]]
    left = [{k: v for k, v in groups.items() if len(v)} for groups in (facets, points, cell_groups)]
    called = mesh.name if name is None else name
    lost = [label for label in mesh.offered if label not in left[0] and label not in left[1]]
    if lost:
        raise MeshError(f"region: nothing of {lost[0]!r} is on the cells {called!r} of mesh {mesh.name!r}")
    return mesh.replace(points=mesh.points[used], blocks=[(t, new[c]) for t, c in blocks],
                        cell_data={k: v[keep] for k, v in mesh.cell_data.items()}, name=called, facet_groups=left[0],
                        point_groups=left[1], cell_groups=left[2],
                        polyhedra=None if solid is None else solid.taken(keep, new))


def _masked(mesh: Grouped, keep: NDArray[np.bool_]) -> list[Block]:
    """The chosen cells of each block; empty blocks vanish."""
    out, at = [], 0
    for cell_type, cells in mesh.blocks:
        part = cells[keep[at:at + len(cells)]]
        at += len(cells)
        if len(part):
            out.append((cell_type, part))
    return out


def cell_array(mesh: Grouped, name: Any, what: str) -> NDArray[Any]:
    """A cell array with one value per cell; `what` begins the message where there is none.

    Raises
    ------
    MeshError
    """
    if name not in mesh.cell_data:
        known = ", ".join(mesh.cell_data) or "none"
        raise MeshError(f"{what}: mesh {mesh.name!r} has no cell array {name!r}; it has: {known}")
    values = np.asarray(mesh.cell_data[name])
    if values.ndim == 2 and values.shape[1] == 1:
        values = values[:, 0]
    if values.ndim != 1:
        raise MeshError(f"{what}: cell array {name!r} has several values per cell, shape {values.shape}")
    return values
