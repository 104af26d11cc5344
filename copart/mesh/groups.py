"""Parts of a mesh by name: regions as meshes of their own, boundaries for coupling."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Mapping, Sequence
from typing import Any, Self, TypeVar

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
    interface: str | None
    polyhedra: Polyhedra | None

    @property
    @abstractmethod
    def ncells(self) -> int:
        """Number of cells."""

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
        return {name: _cells(mesh, cells, name) for name, cells in mesh.cell_groups.items() if len(cells)}
    values = cell_array(mesh, array, "region")
    return {str(value): extract(mesh, values == value, name=str(value)) for value in np.unique(values)}


def select(mesh: M, region: Any) -> M:
    """One region or boundary of `mesh`; see :meth:`Mesh.select`."""
    kinds = {"cells": mesh.cell_groups, "facets": mesh.facet_groups, "points": mesh.point_groups}
    if isinstance(region, str):
        found = [kind for kind, groups in kinds.items() if region in groups]
        if not found:
            listed = [f"{kind[:-1]} groups {', '.join(groups)}" for kind, groups in kinds.items() if groups]
            raise MeshError(f"region: mesh {mesh.name!r} has no group {region!r}; "
                            f"it has: {'; '.join(listed) or 'no named groups'}")
        if found[0] == "cells" and len(found) > 1:
            raise MeshError(f"region: mesh {mesh.name!r} has groups of {' and '.join(found)} called {region!r}; "
                            f"say {' or '.join(f'{kind}={region}' for kind in found)}")
        return _of_kind(mesh, found[0], region)
    try:
        array, value = region
    except (TypeError, ValueError):
        raise MeshError(f"region: needs the name of a group, or (cell array, value), got {region!r}") from None
    if array in kinds and array not in mesh.cell_data:
        if str(value) not in kinds[array]:
            raise MeshError(f"region: mesh {mesh.name!r} has no {array[:-1]} group {str(value)!r}; "
                            f"it has: {', '.join(kinds[array]) or 'none'}")
        return _of_kind(mesh, array, str(value))
    return _with_value(mesh, array, value)


def _of_kind(mesh: M, kind: str, name: str) -> M:
    """The named group of a kind it is known to have."""
    if kind == "cells":
        return _cells(mesh, mesh.cell_groups[name], name)
    groups = mesh.facet_groups if kind == "facets" else mesh.point_groups
    if len(groups[name]) == 0:
        raise MeshError(f"region: {kind[:-1]} group {name!r} of mesh {mesh.name!r} is empty")
    if kind == "points" and name in mesh.facet_groups:
        mesh = mesh.replace(facet_groups={k: v for k, v in mesh.facet_groups.items() if k != name})
    return mesh.replace(interface=name)


def _cells(mesh: M, cells: NDArray[np.int64], name: str) -> M:
    """The cells of one group."""
    if len(cells) == 0:
        raise MeshError(f"region: cell group {name!r} of mesh {mesh.name!r} is empty")
    keep = np.zeros(mesh.ncells, bool)
    keep[cells] = True
    return extract(mesh, keep, name=name)


def _with_value(mesh: M, array: Any, value: Any) -> M:
    """The cells where a cell array has a value."""
    values = cell_array(mesh, array, "region")
    if isinstance(value, str) and values.dtype.kind in "iuf":
        try:
            value = float(value)  # a number typed on a command line
        except ValueError:
            raise MeshError(f"region: {array} is numeric, got {value!r}") from None
        value = int(value) if value.is_integer() else value
    mask = np.asarray(values == value)
    if mask.shape != values.shape or not mask.any():
        present = np.unique(values)
        some = ", ".join(str(v) for v in present[:12]) + (", ..." if len(present) > 12 else "")
        raise MeshError(f"region: no cell of mesh {mesh.name!r} has {array} = {value!r}; values there: {some}")
    return extract(mesh, mask, name=f"{mesh.name}-{value}")


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
    if mesh.interface is not None and mesh.interface not in left[0] and mesh.interface not in left[1]:
        raise MeshError(f"region: nothing of {mesh.interface!r} is on the cells {called!r} of mesh {mesh.name!r}")
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
