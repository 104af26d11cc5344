"""CGNS files written for tests, node by node, as the standard lays them out in HDF5; no code of copart's readers."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from . import foam

HEXA, QUAD, TETRA, WEDGE, PYRAMID, TRI, BAR, MIXED, NGON, NFACE = 17, 7, 10, 14, 12, 5, 3, 20, 22, 23


class Node(NamedTuple):
    name: str
    label: str
    data: object = None
    below: tuple = ()


def save(path, *bases, links=(), order=True):
    """Write bases to a file; links are (path of the node that becomes one, what it stands for).

    Without `order` nodes come in that of their names, and HDF5 keeps no checksums.
    """
    import h5py

    with h5py.File(path, "w", track_order=order) as data:
        _label(data, "HDF5 MotherNode", "Root Node of HDF5 File", "MT")
        for node in (Node("CGNSLibraryVersion", "CGNSLibraryVersion_t", np.float32([4.2])), *bases):
            _put(data, node, order)
        for name, target in links:
            above, _, last = name.rpartition("/")
            made = data[above].create_group(last)
            _label(made, last, "", "LK")
            made[" link"] = h5py.ExternalLink(*target) if isinstance(target, tuple) else h5py.SoftLink(target)
    return path


def _label(group, name, label, kind):
    for key, value, size in (("name", name, 33), ("label", label, 33), ("type", kind, 3)):
        group.attrs.create(key, np.bytes_(value), dtype=f"S{size}")


def _put(group, node, order):
    made = group.create_group(node.name, track_order=order)
    data = node.data
    if isinstance(data, str):
        data = np.frombuffer(data.encode(), np.int8)
    kind = "MT" if data is None else {"i1": "C1", "i4": "I4", "i8": "I8", "f4": "R4", "f8": "R8"}[data.dtype.str[1:]]
    _label(made, node.name, node.label, kind)
    if data is not None:
        made.create_dataset(" data", data=data)
    for below in node.below:
        _put(made, below, order)


def whole(*values):
    return np.array(values, np.int32)


def base(name, *zones, dimension=3, families=()):
    made = [Node(family, "Family_t", None, tuple(Node(n, "FamilyName_t", n) for n in names))
            for family, names in dict(families).items()]
    return Node(name, "CGNSBase_t", whole(dimension, 3), (*zones, *made))


def coordinates(points, shape=None, rind=None):
    """Of (npoints, d) points; of a grid those with the first index running fastest."""
    return Node("GridCoordinates", "GridCoordinates_t", None, (
        *(Node(f"Coordinate{'XYZ'[k]}", "DataArray_t", column.reshape(shape[::-1]) if shape else column)
          for k, column in enumerate(np.asarray(points, float).T)),
        *([] if rind is None else [Node("Rind", "Rind_t", whole(*rind))])))


def condition(name, place, values, location=None, family=None, kind="BCWall"):
    """A boundary condition at a PointRange, PointList, ... of (n,) or (n, dimension) numbers."""
    values = np.asarray(values, np.int32)
    below = [Node(place, "IndexRange_t" if place.endswith("Range") else "IndexArray_t",
                  values.reshape(len(values), -1))]
    if location:
        below.append(Node("GridLocation", "GridLocation_t", location))
    if family:
        below.append(Node("FamilyName", "FamilyName_t", family))
    return Node(name, "BC_t", kind, tuple(below))


def conditions(*some):
    return Node("ZoneBC", "ZoneBC_t", None, some)


def grid(name, low, high, cells, *below, rind=None):
    """A structured zone: a brick, or a rectangle; with rind planes, whose coordinates are nonsense."""
    rind = rind or [0] * 2 * len(cells)
    axes = [np.concatenate([np.full(before, -99.0), np.linspace(a, b, n + 1), np.full(after, 99.0)])
            for a, b, n, before, after in zip(low, high, cells, rind[::2], rind[1::2], strict=True)]
    points = np.stack([g.ravel(order="F") for g in np.meshgrid(*axes, indexing="ij")], axis=1)
    sizes = np.array([[n + 1 for n in cells], list(cells), [0] * len(cells)], np.int32)
    return Node(name, "Zone_t", sizes, (
        Node("ZoneType", "ZoneType_t", "Structured"),
        coordinates(points, tuple(len(a) for a in axes), rind if any(rind) else None), *below))


def zone(name, points, ncells, *below):
    """An unstructured zone."""
    return Node(name, "Zone_t", np.array([[len(points)], [ncells], [0]], np.int32), (
        Node("ZoneType", "ZoneType_t", "Unstructured"), coordinates(points), *below))


def section(name, code, first, count, nodes, offsets=None, parents=None):
    """Elements by their flat list of nodes from 1."""
    below = [Node("ElementRange", "IndexRange_t", whole(first, first + count - 1)),
             Node("ElementConnectivity", "DataArray_t", np.asarray(nodes, np.int32).ravel())]
    if offsets is not None:
        below.append(Node("ElementStartOffset", "DataArray_t", np.asarray(offsets, np.int32)))
    if parents is not None:
        below.append(Node("ParentElements", "DataArray_t", np.asarray(parents, np.int32)))
    return Node(name, "Elements_t", whole(code, 0), tuple(below))


def polyhedra(name, *below, cells=(2, 2, 2), low=(0, 0, 0), old=False, parents=False):
    """A brick of polyhedra, each patch of it a boundary condition; `old`: sizes stand before each list."""
    points, faces, owner, neighbour, patches = foam.brick(*cells)
    ncells, nfaces = int(owner.max()) + 1, len(faces)
    both = np.zeros((2, nfaces), int)
    both[0], both[1, :len(neighbour)] = owner + 1 + nfaces, np.asarray(neighbour) + 1 + nfaces
    listed = [[*(np.flatnonzero(owner == c) + 1), *-(np.flatnonzero(neighbour == c) + 1)] for c in range(ncells)]
    made = [_lists("Faces", NGON, 1, (faces + 1).tolist(), old, both if parents else None)]
    if not parents:
        made.append(_lists("Cells", NFACE, nfaces + 1, listed, old))
    walls = [condition(p, "PointRange", [first + 1, first + count], "FaceCenter") for p, _, first, count in patches]
    return zone(name, points + np.array(low), ncells, *made, conditions(*walls), *below)


def _lists(name, code, first, rows, old, parents=None):
    if old:
        return section(name, code, first, len(rows), [n for row in rows for n in (len(row), *row)], None, parents)
    return section(name, code, first, len(rows), [n for row in rows for n in row],
                   np.concatenate([[0], np.cumsum([len(row) for row in rows])]), parents)


def facing(donor, own, other, turn=(1, 2, 3)):
    """A connection of structured zones, node by node."""
    below = (Node("PointRange", "IndexRange_t", np.array(own, np.int32)),
             Node("PointRangeDonor", "IndexRange_t", np.array(other, np.int32)),
             Node("Transform", '"int[IndexDimension]"', whole(*turn)))
    return Node("ZoneGridConnectivity", "ZoneGridConnectivity_t", None,
                (Node(f"to {donor}", "GridConnectivity1to1_t", donor, below),))


def two_grids(*, turned=False, shift=0.0):
    """Two bricks of 2 x 2 x 2 cells side by side with a connection; the second may run along other directions."""
    left = grid("left", (0, 0, 0), (1, 1, 1), (2, 2, 2),
                facing("right", [[3, 1, 1], [3, 3, 3]], [[1, 3, 1], [3, 3, 3]] if turned else [[1, 1, 1], [1, 3, 3]],
                       (-2, 1, 3) if turned else (1, 2, 3)),
                conditions(condition("inlet", "PointRange", [[1, 1, 1], [1, 3, 3]], family="in"),
                           condition("wall", "PointRange", [[1, 1, 1], [2, 2, 1]], "KFaceCenter")))
    low, high = ((1 + shift, 0, 0), (2 + shift, 1, 1))
    right = grid("right", low, high, (2, 2, 2),
                 conditions(condition("wall", "PointRange", [[1, 1, 1], [3, 3, 1]])))
    if turned:
        # i of this zone runs along y, j against x
        points = np.stack([g.ravel(order="F") for g in np.meshgrid(
            np.linspace(0, 1, 3), np.linspace(2, 1, 3), np.linspace(0, 1, 3), indexing="ij")], axis=1)[:, [1, 0, 2]]
        right = right._replace(below=(right.below[0], coordinates(points, (3, 3, 3)), *right.below[2:]))
    return base("flow", left, right, families={"in": ["hot"]})


def mixed(*, offsets=True, alternate=False):
    """A hexahedron with a pyramid on it, a quad and a triangle of their boundary, all in one section."""
    points = [*np.array(np.meshgrid([0, 1], [0, 1], [0, 1], indexing="ij")).reshape(3, -1).T[[0, 4, 6, 2, 1, 5, 7, 3]],
              [0.5, 0.5, 2.0]]
    rows = [(HEXA, *range(1, 9)), (PYRAMID, 5, 6, 7, 8, 9), (QUAD, 1, 2, 3, 4), (TRI, 5, 6, 9)]
    if alternate:
        rows = [rows[i % 2] for i in range(100)] + rows[2:]
    flat = [n for row in rows for n in row]
    start = np.concatenate([[0], np.cumsum([len(row) for row in rows])]) if offsets else None
    n = len(rows)
    return zone("z", np.array(points, float), n - 2, section("all", MIXED, 1, n, flat, start),
                conditions(condition("low", "PointList", [n - 1], "FaceCenter"),
                           condition("slope", "ElementList", [n])))


def samples():
    """A base of each kind of zone."""
    return {"structured": two_grids(turned=True), "mixed": base("x", mixed()),
            "old mixed": base("x", mixed(offsets=False)), "polyhedra": base("x", polyhedra("p")),
            "old polyhedra": base("x", polyhedra("p", old=True, cells=(1, 1, 2))),
            "parents": base("x", polyhedra("p", parents=True), grid("g", (2, 0, 0), (3, 1, 1), (1, 1, 1)))}
