"""Where boundary conditions of CGNS are: ranges and lists of nodes, faces or elements."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field

import numpy as np

from ...errors import FormatError
from ..polyhedra import Ints, spans
from .assembling import SOLID, Members
from .cgns_elements import Elements
from .cgns_nodes import Node

_AXES = {"IFaceCenter": 0, "JFaceCenter": 1, "KFaceCenter": 2}


@dataclass
class Place:
    """What a boundary condition names, in one zone."""

    members: Members = field(default_factory=dict)
    """Elements, by the number of their run."""
    facets: list[Ints] = field(default_factory=list)
    nodes: Ints | None = None
    lost: str = ""
    """What cannot be read; empty where nothing is."""


def indices(node: Node, dimension: int, names: Sequence[str]) -> tuple[str, Ints]:
    """Name and (dimension, n) numbers of the first of some nodes that is there; ("", ...) where none is."""
    for name in names:
        values = node.numbers(name)
        if values is None:
            continue
        if values.ndim < 2:
            values = values.reshape(-1, dimension) if values.size % dimension == 0 else values.reshape(-1, 1)
        if values.ndim != 2 or values.shape[1] != dimension or (name.endswith("Range") and len(values) != 2):
            raise FormatError(node.path, f"{node.where}/{name}: needs {dimension} numbers for each point, has shape "
                                         f"{values.shape[::-1]}")
        return name, values.T
    return "", np.zeros((dimension, 0), np.int64)


def in_elements(bc: Node, elements: Elements, npoints: int) -> Place:
    """Where a boundary condition of an unstructured zone is."""
    name, values = indices(bc, 1, ("PointRange", "PointList", "ElementRange", "ElementList"))
    where = "Element" if name.startswith("Element") else bc.said("GridLocation_t", "Vertex")
    numbers = values[0]
    most = npoints if where == "Vertex" else 2**31
    if not name or numbers.size == 0:
        return Place(lost="names no place")
    if numbers.min() < 1 or numbers.max() > most:
        raise FormatError(bc.path, f"{bc.where}: numbers {int(numbers.min())} to {int(numbers.max())} are outside 1 to "
                                   f"{most}")
    low, high = (int(numbers[0]), int(numbers[1])) if name.endswith("Range") else (0, 0)
    if where == "Vertex":
        return Place(nodes=(np.arange(low, high + 1) if high else numbers) - 1)
    out = Place(members=dict(_members(elements, (low, high) if high else numbers)))
    if elements.faces is not None:
        start, nodes, number = elements.faces
        rows = _chosen(number, (low, high) if high else numbers)
        sizes = np.diff(start)[rows]
        for n in np.unique(sizes).tolist():
            out.facets.append(nodes[spans(start[rows[sizes == n]], np.full(int((sizes == n).sum()), n))].reshape(-1, n))
    if not out.members and not out.facets:
        out.lost = "names no element"
    return out


def _chosen(number: Ints, wanted: tuple[int, int] | Ints) -> Ints:
    """Rows whose number is in a range or a list."""
    if isinstance(wanted, tuple):
        return np.flatnonzero((number >= wanted[0]) & (number <= wanted[1]))
    return np.flatnonzero(np.isin(number, wanted))


def _members(elements: Elements, wanted: tuple[int, int] | Ints) -> list[tuple[int, Ints]]:
    """Rows of each run, and polyhedra, whose number is in a range or a list; runs without any are left out."""
    listed = [*enumerate(run.number for run in elements.runs), (SOLID, elements.solid_number)]
    found = [(i, _chosen(number, wanted)) for i, number in listed]
    return [(i, rows) for i, rows in found if len(rows)]


def of_section(elements: Elements, first: int, last: int) -> list[tuple[int, Ints]]:
    """Rows of each run that are in a section, by its first and last number."""
    return _members(elements, (first, last))


def in_grid(bc: Node, shape: Sequence[int]) -> Place:
    """Where a boundary condition of a structured zone is; `shape` counts its vertices."""
    name, values = indices(bc, len(shape), ("PointRange", "PointList", "ElementRange", "ElementList"))
    where = "FaceCenter" if name.startswith("Element") else bc.said("GridLocation_t", "Vertex")
    if not name or values.size == 0:
        return Place(lost="names no place")
    low, high = values.min(axis=1), values.max(axis=1)
    if (low < 1).any() or (high > np.array(shape)).any():
        raise FormatError(bc.path, f"{bc.where}: points {low.tolist()} to {high.tolist()} are outside the zone's "
                                   f"{' x '.join(map(str, shape))} vertices")
    if where == "Vertex" and name.endswith("List"):
        return Place(nodes=node_numbers(values - 1, shape))
    flat = [k for k in range(len(shape)) if low[k] == high[k]]
    axis = _AXES.get(where, _across(flat, low, shape) if where in ("Vertex", "FaceCenter", "EdgeCenter") else -1)
    if axis not in flat or axis >= len(shape):
        return Place(lost=f"at {where} is on no plane of the grid")
    if name.endswith("Range"):
        high = np.where(np.arange(len(shape)) == axis, low, high - 1 if where == "Vertex" else high)
        if (high < low).any():
            return Place(lost="is no surface")
        span = [np.arange(a, b + 1) for a, b in zip(low, high, strict=True)]
        values = np.stack([g.ravel() for g in np.meshgrid(*span, indexing="ij")])
    others = [k for k in range(len(shape)) if k != axis]
    if (values[others].max(axis=1, initial=0) >= np.array(shape)[others]).any():
        raise FormatError(bc.path, f"{bc.where}: names a face beyond the zone's {' x '.join(map(str, shape))} vertices")
    return Place(facets=[facets_of(values - 1, axis, shape)])


def _across(flat: list[int], low: Ints, shape: Sequence[int]) -> int:
    """Which axis a plane is square to: one at whose end it is, -1 where there is none."""
    ends = [k for k in flat if low[k] == shape[k]] + [k for k in flat if low[k] == 1 and shape[k] > 2] + flat
    return ends[0] if ends else -1


def node_numbers(index: Ints, shape: Sequence[int]) -> Ints:
    """Numbers of nodes from their (dimension, n) indices, all from 0; the first index runs fastest."""
    out = np.zeros(index.shape[1], np.int64)
    for k in range(len(shape) - 1, -1, -1):
        out = out * shape[k] + index[k]
    return out


def facets_of(index: Ints, axis: int, shape: Sequence[int]) -> Ints:
    """Corner nodes of the facets square to `axis` whose smallest corners have the (dimension, n) indices, from 0."""
    others = [k for k in range(len(shape)) if k != axis]
    step = np.cumprod([1, *shape])[others]
    corner = {0: [0], 1: [0, step[0] if others else 0], 2: [0, step[0], step.sum(), step[-1]]}[len(others)]
    out: Ints = node_numbers(index, shape)[:, None] + np.array(corner)
    return out


__all__ = ["Place", "facets_of", "in_elements", "in_grid", "indices", "node_numbers", "of_section"]
