"""Element sections of CGNS zones: of one type, mixed, and polygons and polyhedra by their faces."""

from __future__ import annotations

from dataclasses import dataclass, field
from itertools import pairwise
from typing import NamedTuple

import numpy as np

from ...errors import FormatError
from ..polyhedra import Ints, Polyhedra, spans
from .assembling import by_size
from .cgns_nodes import Node
from .plain_cells import MAX_BLOCKS

# by the number of the type: shape, its corners, its nodes
_BY_SHAPE = {
    "vertex": (1, {2: 1}),
    "line": (2, {3: 2, 4: 3, 24: 4, 40: 5}),
    "triangle": (3, {5: 3, 6: 6, 25: 9, 26: 10, 41: 12, 42: 15}),
    "quad": (4, {7: 4, 8: 8, 9: 9, 27: 12, 28: 16, 43: 16, 44: 25}),
    "tetra": (4, {10: 4, 11: 10, 29: 16, 30: 20, 45: 22, 46: 34, 47: 35}),
    "pyramid": (5, {12: 5, 21: 13, 13: 14, 31: 21, 32: 29, 33: 30, 48: 29, 49: 50, 50: 55}),
    "wedge": (6, {14: 6, 15: 15, 16: 18, 34: 24, 35: 38, 36: 40, 51: 33, 52: 66, 53: 75}),
    "hexahedron": (8, {17: 8, 18: 20, 19: 27, 37: 32, 38: 56, 39: 64, 54: 44, 55: 98, 56: 125}),
}
_TYPES = {code: (shape, corners, size) for shape, (corners, codes) in _BY_SHAPE.items()
          for code, size in codes.items()}
_MIXED, _FACES, _CELLS = 20, 22, 23
_TOGETHER = "elements of a type are put together, as types alternate: cells are in another order than in the file"
_KEPT = ("line3", "triangle6", "quad8", "quad9", "tetra10", "pyramid13", "wedge15", "wedge18", "hexahedron20",
         "hexahedron27")
"""Second-order types; of others the corners are kept."""
# CGNS numbers the nodes on vertical edges before those of the top, and faces in another order than VTK; a pyramid with
# a node amid its base is unknown to meshio
_ORDER = {"hexahedron20": [*range(12), *range(16, 20), *range(12, 16)],
          "hexahedron27": [*range(12), *range(16, 20), *range(12, 16), 24, 22, 21, 23, 20, 25, 26],
          "pyramid14": [*range(13)],
          "wedge15": [*range(9), 12, 13, 14, 9, 10, 11],
          "wedge18": [*range(9), 12, 13, 14, 9, 10, 11, 15, 16, 17]}


class Run(NamedTuple):
    """Elements of one type."""

    kind: str
    nodes: Ints
    """(n, k), from 0."""
    number: Ints
    """(n,) number of each element in its zone."""


@dataclass
class Elements:
    """All elements of a zone; polygons of three-dimensional zones are the faces of its polyhedra."""

    runs: list[Run] = field(default_factory=list)
    solid: Polyhedra | None = None
    solid_number: Ints = field(default_factory=lambda: np.zeros(0, np.int64))
    """Number of each polyhedron."""
    faces: tuple[Ints, Ints, Ints] | None = None
    """Offsets, nodes and numbers of the faces."""
    remarks: list[str] = field(default_factory=list)
    sections: list[tuple[str, int, int]] = field(default_factory=list)
    """Name, first and last number of each section."""


def elements_of(zone: Node, dimension: int) -> Elements:
    """The elements of an unstructured zone.

    Raises
    ------
    FormatError
        Says which section breaks which rule.
    """
    out = Elements()
    faces: list[tuple[Ints, Ints, Ints]] = []
    parents: list[Ints | None] = []
    cells: list[tuple[Ints, Ints, Ints]] = []
    ranges: list[tuple[int, int, Node, int]] = []
    for section in zone.all("Elements_t"):
        limits, said = section.numbers("ElementRange"), section.integers().ravel().tolist()
        low, high = (0, 0) if limits is None or limits.size != 2 else limits.ravel().tolist()
        if not 1 <= low <= high + 1 <= 2**31:
            raise FormatError(section.path, f"{section.where}: needs an ElementRange, the first and the last number")
        if low <= high:
            ranges.append((low, high, section, said[0] if said else 0))
            out.sections.append((section.name, low, high))
    ranges.sort(key=lambda r: r[:2])
    for (_, end, one, _), (begin, _, other, _) in pairwise(ranges):
        if begin <= end:
            raise FormatError(one.path, f"{other.where}: its elements begin with {begin}, but {one.name} has the "
                                        f"numbers up to {end}")
    for first, last, section, code in ranges:
        number = np.arange(first, last + 1) if last - first < _most(section) else np.zeros(0, np.int64)
        if code in (_FACES, _CELLS):
            listed = (*_rows(section, last - first + 1), number)
            if code == _CELLS:
                cells.append(listed)
            elif dimension == 3:
                faces.append(listed)
                parents.append(section.numbers("ParentElements"))
            else:
                out.runs += [Run(kind, nodes - 1, number[rows]) for kind, nodes, rows in by_size(*listed[:2])]
        else:
            out.runs += _plain(section, code, last - first + 1, first, out.remarks)
    if faces:
        _polyhedra(zone, out, faces, parents, cells)
    elif cells:
        raise FormatError(zone.path, f"{zone.where}: has polyhedra (NFACE_n), but no faces (NGON_n)")
    if len(out.runs) > MAX_BLOCKS:
        out.runs = _sorted(out.runs)
        out.remarks.append(_TOGETHER)
    return out


def _most(section: Node) -> int:
    """Elements that a section can hold: each has a number at least."""
    return len(_connectivity(section))


def _connectivity(section: Node) -> Ints:
    """The nodes of the elements, and what stands between them."""
    values = section.numbers("ElementConnectivity")
    if values is None:
        raise FormatError(section.path, f"{section.where}: has no ElementConnectivity")
    return values.ravel()


def _offsets(section: Node, count: int, total: int) -> Ints | None:
    """Where each element begins, as newer files have it."""
    start = section.numbers("ElementStartOffset")
    if start is None:
        return None
    start = start.ravel()
    if len(start) != count + 1 or start[0] != 0 or start[-1] != total or (np.diff(start) < 1).any():
        raise FormatError(section.path, f"{section.where}: ElementStartOffset must rise from 0 to the {total} entries "
                                        f"of ElementConnectivity, one entry more than its {count} elements")
    return start


def _short(section: Node, count: int, found: object) -> FormatError:
    return FormatError(section.path, f"{section.where}: announces {count} elements, but ElementConnectivity {found}")


def _rows(section: Node, count: int) -> tuple[Ints, Ints]:
    """Lists of differing length: offsets and what they hold; old files have the length before each list."""
    flat = _connectivity(section)
    start = _offsets(section, count, len(flat))
    if start is not None:
        return start, flat
    at, sizes, values = 0, [], flat.tolist()
    for _ in range(count):
        if at >= len(values) or not 1 <= values[at] < len(values) - at:
            raise _short(section, count, f"breaks off at entry {at + 1}")
        sizes.append(values[at])
        at += 1 + values[at]
    if at != len(values):
        raise _short(section, count, f"has {len(values) - at} entries more")
    size = np.array(sizes, np.int64)
    start = np.concatenate([[0], np.cumsum(size)])
    return start, flat[spans(start[:-1] + np.arange(1, count + 1), size)]


def _plain(section: Node, code: int, count: int, first: int, remarks: list[str]) -> list[Run]:
    """A section of one type, or mixed."""
    flat = _connectivity(section)
    if code == _MIXED:
        start = _offsets(section, count, len(flat))
        if start is None:
            start = _walked(section, flat, count)
        codes, begin = flat[start[:-1]], start[:-1] + 1
        room = np.diff(start) - 1
    else:
        size = _type(section, code)[2]
        if len(flat) != count * size:
            raise _short(section, count, f"has {len(flat)} entries instead of {count * size}")
        codes, begin, room = np.full(count, code), np.arange(count) * size, np.full(count, size)
    change = [0, *(np.flatnonzero(np.diff(codes)) + 1).tolist(), count]
    if len(change) > MAX_BLOCKS:
        whole = [(int(c), np.flatnonzero(codes == c))
                 for c in codes[np.sort(np.unique(codes, return_index=True)[1])]]
        remarks.append(_TOGETHER)
    else:
        whole = [(int(codes[a]), np.arange(a, b)) for a, b in pairwise(change)]
    runs = []
    for kind, rows in whole:
        shape, corners, size = _type(section, kind)
        if (room[rows] != size).any():
            raise FormatError(section.path, f"{section.where}: an element of type {kind} has not its {size} nodes")
        nodes = flat[begin[rows, None] + np.arange(size)] - 1
        name = shape if size == corners else f"{shape}{size}"
        if name in _ORDER:
            name, nodes = (name if name in _KEPT else "pyramid13"), nodes[:, _ORDER[name]]
        elif size != corners and name not in _KEPT:
            name, said = shape, f"of {shape}s of higher than second order the corners are kept"
            remarks += [said] if said not in remarks else []
            nodes = nodes[:, :corners]
        runs.append(Run(name, nodes, first + rows))
    return runs


def _type(section: Node, code: int) -> tuple[str, int, int]:
    if code not in _TYPES:
        raise FormatError(section.path, f"{section.where}: elements of type {code} are not supported")
    return _TYPES[code]


def _walked(section: Node, flat: Ints, count: int) -> Ints:
    """Where each element of a mixed section begins, from type to type."""
    at, start, values = 0, [0], flat.tolist()
    for _ in range(count):
        if at >= len(values):
            raise _short(section, count, f"ends after {len(start) - 1}")
        at += 1 + _type(section, values[at])[2]
        start.append(at)
    if at != len(values):
        raise _short(section, count, f"has {len(values)} entries instead of {at}")
    return np.array(start)


def _sorted(runs: list[Run]) -> list[Run]:
    """Runs of the same type put together."""
    kinds: dict[tuple[str, int], list[Run]] = {}
    for run in runs:
        kinds.setdefault((run.kind, run.nodes.shape[1]), []).append(run)
    return [Run(kind, np.concatenate([r.nodes for r in mine]), np.concatenate([r.number for r in mine]))
            for (kind, _), mine in kinds.items()]


def _joined(lists: list[tuple[Ints, Ints, Ints]]) -> tuple[Ints, Ints, Ints]:
    """Lists of several sections one after the other."""
    size = np.concatenate([np.diff(start) for start, _, _ in lists])
    return (np.concatenate([[0], np.cumsum(size)]), np.concatenate([n for _, n, _ in lists]),
            np.concatenate([n for _, _, n in lists]))


def _polyhedra(zone: Node, out: Elements, faces: list[tuple[Ints, Ints, Ints]], parents: list[Ints | None],
               cells: list[tuple[Ints, Ints, Ints]]) -> None:
    """Polyhedra from the faces that each lists, or else from the two cells of each face."""
    start, nodes, number = _joined(faces)
    nodes = nodes - 1
    out.faces = start, nodes, number
    if cells:
        first, listed, out.solid_number = _joined(cells)
        cell = np.repeat(np.arange(len(first) - 1), np.diff(first))
        face = np.searchsorted(number, np.abs(listed))
        if not np.isin(np.abs(listed), number).all():
            raise FormatError(zone.path, f"{zone.where}: a polyhedron names a face that is none")
        outward = listed > 0
    else:
        given = [p for p in parents if p is not None]
        if len(given) < len(parents) or [p.shape for p in given] != [(2, len(n)) for _, _, n in faces]:
            raise FormatError(zone.path, f"{zone.where}: has faces (NGON_n), but neither polyhedra (NFACE_n) nor the "
                                         f"two cells of each face (ParentElements)")
        both = np.concatenate(given, axis=1)
        side, face = np.nonzero(both)
        out.solid_number, cell = np.unique(both[side, face], return_inverse=True)
        outward = side == 0
    if len(face) == 0:
        raise FormatError(zone.path, f"{zone.where}: has faces, but no cells of them")
    out.solid = Polyhedra.of_sides(start, nodes, face, cell.reshape(-1), outward)


__all__ = ["Elements", "Run", "elements_of"]
