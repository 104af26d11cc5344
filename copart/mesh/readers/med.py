"""MED files, as Salome, Code_Aster and gmsh write them: meshes, families, polygons and polyhedra."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ...errors import FormatError
from ..cells import shape_of
from ..fields import Block
from ..polyhedra import Ints, Polyhedra
from ..value import Mesh
from .assembling import SOLID, Members, assembled, by_size
from .hdf5 import read_hdf5

_TYPES = {"PO1": ("vertex", 1), "SE2": ("line", 2), "SE3": ("line3", 3), "SE4": ("line4", 4), "TR3": ("triangle", 3),
          "TR6": ("triangle6", 6), "TR7": ("triangle7", 7), "QU4": ("quad", 4), "QU8": ("quad8", 8),
          "QU9": ("quad9", 9), "TE4": ("tetra", 4), "T10": ("tetra10", 10), "PY5": ("pyramid", 5),
          "P13": ("pyramid13", 13), "PE6": ("wedge", 6), "P15": ("wedge15", 15), "P18": ("wedge18", 18),
          "HE8": ("hexahedron", 8), "H20": ("hexahedron20", 20), "H27": ("hexahedron27", 27)}
_POLYGONS, _POLYHEDRA = "POG", "POE"
_FULL = "MED_NO_PROFILE_INTERNAL"
_TAGS = "cell_tags"
"""Cell array with the number of the family of each cell."""


def read_med(path: Path) -> Mesh:
    """Read a MED file; of several meshes those of the largest dimension, each a group of cells.

    Raises
    ------
    FormatError
        The package h5py is missing, or the file is not a usable mesh.
    """
    return read_hdf5(path, "MED", lambda data: _Reader(path, data).mesh())


class _Reader:
    """The meshes of one file."""

    def __init__(self, path: Path, data: Any) -> None:
        self.path, self.data = path, data
        self.remarks: list[str] = []
        self.points: list[NDArray[np.float64]] = []
        self.blocks: list[Block] = []
        self.tags: list[Ints] = []
        self.sets: list[tuple[str, Members]] = []
        self.meshes: list[tuple[str, Members]] = []
        self.nodes: dict[str, list[Ints]] = {}
        self.solids: list[tuple[Polyhedra, int]] = []
        self.solid_tags: list[Ints] = []
        self.fields: dict[str, NDArray[Any]] = {}

    def mesh(self) -> Mesh:
        """The whole mesh."""
        if "ENS_MAA" not in self.data or len(self.data["ENS_MAA"]) == 0:
            raise FormatError(self.path, f"holds no mesh (ENS_MAA){self._version()}")
        meshes = {str(name): group for name, group in self.data["ENS_MAA"].items()}
        sizes = {name: int(group.attrs.get("DIM", 0)) for name, group in meshes.items()}
        top = max(sizes.values())
        kept = [name for name, size in sizes.items() if size == top]
        left = [name for name in meshes if name not in kept]
        if left:
            self.remarks.append(f"meshes of less dimension are left out: {', '.join(left)}")
        for name in kept:
            self._mesh(name, meshes[name], len(meshes) > 1, len(kept) == 1)
        solid = Polyhedra.side_by_side(self.solids) if self.solids else None
        tags = [*self.tags, *self.solid_tags]
        data = {_TAGS: np.concatenate(tags)} if any(t.any() for t in tags) else {}
        return assembled(np.concatenate(self.points), self.blocks, self.path.stem, [*self.meshes, *self.sets],
                         cell_data={**data, **self.fields},
                         nodes={k: np.concatenate(v) for k, v in self.nodes.items()},
                         remarks=list(dict.fromkeys(self.remarks)), polyhedra=solid)

    def _version(self) -> str:
        """The version of the file, in brackets, and how to make a newer one of an old one."""
        attrs = self.data["INFOS_GENERALES"].attrs if "INFOS_GENERALES" in self.data else {}
        major, minor = (int(attrs.get(key, 0)) for key in ("MAJ", "MIN"))
        if major == 0:
            return ""
        return f" (MED {major}.{minor}" + (f"; medimport {self.path.name} NEW.med makes a newer file)"
                                           if major < 3 else ")")

    # ---- one mesh
    def _mesh(self, name: str, group: Any, several: bool, alone: bool) -> None:
        """Take one mesh in."""
        if int(group.attrs.get("TYP", 0)) == 1:
            raise FormatError(self.path, f"mesh {name} is a structured grid, which is not read; write it unstructured, "
                                         f"as with MEDCoupling's buildUnstructured")
        step = group
        if "NOE" not in group:
            steps = sorted(k for k in group if "NOE" in group[k])
            if not steps:
                raise FormatError(self.path, f"mesh {name} has no nodes (NOE){self._version()}")
            step = group[steps[0]]
            if len(steps) > 1:
                self.remarks.append(f"mesh {name}: {len(steps) - 1} later states of it are left out")
        first = sum(map(len, self.points))
        points = self._points(step["NOE"], int(group.attrs["ESP"]), name)
        families = group["FAS"] if "FAS" in group else self.data.get("FAS", {}).get(name, {})
        self._node_groups(step["NOE"], families, first, len(points))
        self.points.append(points)
        if "MAI" not in step:
            raise FormatError(self.path, f"mesh {name} has no elements (MAI){self._version()}")
        called = _families(families, "ELEME")
        mine: dict[int, list[Ints]] = {}
        top: list[tuple[str, int]] = []
        dimension = int(group.attrs.get("DIM", 0))
        for kind in sorted(step["MAI"], key=lambda k: k == _POLYHEDRA):
            for number, rows, tags in self._elements(str(kind), step["MAI"][kind], first, len(points), name):
                for tag, labels in called.items():
                    here = rows[tags == tag]
                    for label in labels if len(here) else ():
                        self.sets.append((label, {number: here}))
                if number == SOLID or _dimension(self.blocks[number]) == dimension:
                    mine.setdefault(number, []).append(rows)
                    top.append((str(kind), len(rows)))
        if several:
            self.meshes.append((name, {i: np.concatenate(v) for i, v in mine.items()}))
        if alone and "CHA" in self.data:
            self._fields(name, top)

    def _points(self, nodes: Any, dimension: int, name: str) -> NDArray[np.float64]:
        """(npoints, d) coordinates, kept one direction after the other."""
        values = np.asarray(nodes["COO"][()], np.float64).ravel()
        if dimension not in (1, 2, 3) or len(values) % dimension:
            raise FormatError(self.path, f"mesh {name}: {len(values)} coordinates are no points of dimension "
                                         f"{dimension}")
        out = np.zeros((len(values) // dimension, 3))
        out[:, :dimension] = values.reshape(dimension, -1).T
        return out

    def _node_groups(self, nodes: Any, families: Any, first: int, npoints: int) -> None:
        tags = _integers(nodes["FAM"]) if "FAM" in nodes else np.zeros(npoints, np.int64)
        for tag, labels in _families(families, "NOEUD").items():
            here = np.flatnonzero(tags[:npoints] == tag)
            for label in labels if len(here) else ():
                self.nodes.setdefault(label, []).append(here + first)

    def _elements(self, kind: str, group: Any, first: int, npoints: int,
                  name: str) -> Iterator[tuple[int, Ints, Ints]]:
        """Add elements of a type; yields the block, or `SOLID`, its rows and the families of these."""
        if "NOD" not in group:
            raise FormatError(self.path, f"mesh {name}: elements {kind} are given by their faces (DES), which is not "
                                         f"read; write them by their nodes")
        flat = _integers(group["NOD"]) - 1
        if len(flat) and (flat.min() < 0 or flat.max() >= npoints):
            raise FormatError(self.path, f"mesh {name}: elements {kind} name node "
                                         f"{int(flat.min() if flat.min() < 0 else flat.max()) + 1}, it has {npoints}")
        flat = flat + first
        if kind in (_POLYGONS, _POLYHEDRA):
            start = self._index(group, "INN", len(flat), f"{name}: {kind}")
            count = len(start) - 1
            if kind == _POLYHEDRA:
                cells = self._index(group, "IFN", count, f"{name}: {kind}")
                count = len(cells) - 1
                solid = Polyhedra.of_faces(start, flat, np.repeat(np.arange(count), np.diff(cells)))
            tags = self._tags(group, count)
            if kind == _POLYHEDRA:
                rows = sum(s.ncells for s, _ in self.solids) + np.arange(count)
                self.solids.append((solid, 0))
                self.solid_tags.append(tags)
                yield SOLID, rows, tags
                return
            blocks = [(shape, nodes, tags[rows]) for shape, nodes, rows in by_size(start, flat)]
        elif kind in _TYPES:
            shape, size = _TYPES[kind]
            if len(flat) % size:
                raise FormatError(self.path, f"mesh {name}: {len(flat)} nodes are no elements {kind} of {size} each")
            blocks = [(shape, flat.reshape(size, -1).T, self._tags(group, len(flat) // size))]
        else:
            raise FormatError(self.path, f"mesh {name}: elements of type {kind!r:.20} are not supported")
        for shape, nodes, tags in blocks:
            self.blocks.append((shape, nodes))
            self.tags.append(tags)
            yield len(self.blocks) - 1, np.arange(len(nodes)), tags

    def _tags(self, group: Any, count: int) -> Ints:
        """(count,) family of each element."""
        tags = _integers(group["FAM"]) if "FAM" in group else np.zeros(count, np.int64)
        if len(tags) != count:
            raise FormatError(self.path, f"{len(tags)} families for {count} elements {group.name}")
        return tags

    def _index(self, group: Any, key: str, total: int, where: str) -> Ints:
        """Offsets from 0."""
        start = _integers(group[key]) - 1
        if len(start) < 2 or start[0] != 0 or start[-1] != total or (np.diff(start) < 1).any():
            raise FormatError(self.path, f"mesh {where}: {key} must rise from 1 to {total + 1}")
        return start

    # ---- values
    def _fields(self, name: str, top: list[tuple[str, int]]) -> None:
        """Values on cells, where each cell has its own; of several moments each under its time."""
        lost = []
        for field, group in self.data["CHA"].items():
            if _text(group.attrs.get("MAI", name)) != name:
                continue
            steps = sorted(group)
            for i, key in enumerate(steps):
                label = str(field) if len(steps) == 1 else f"{field}[{i}] - {float(group[key].attrs['PDT']):g}"
                parts = [_values(group[key], kind, count) for kind, count in top if kind != _POLYGONS]
                whole = [p for p in parts if p is not None]
                if len(whole) == len(top) and len({p.shape[1:] for p in whole}) == 1:
                    self.fields[label] = np.concatenate(whole)
                else:
                    lost.append(label)
        if lost:
            self.remarks.append(f"values on nodes, or on some of the cells only, are left out: {', '.join(lost)}")


def _values(step: Any, kind: str, count: int) -> NDArray[Any] | None:
    """(count,) or (count, n) values on the elements of a type; None where there is not one for each."""
    group = step.get(f"MAI.{kind}")
    if group is None or _text(group.attrs.get("PFL", b"")) != _FULL or int(group[_FULL].attrs.get("NGA", 1)) != 1:
        return None
    values = np.asarray(group[_FULL]["CO"][()]).ravel()
    if len(values) == 0 or len(values) % count:
        return None
    return values if len(values) == count else values.reshape(-1, count).T


def _families(families: Any, kind: str) -> dict[int, list[str]]:
    """The groups of each family of nodes or elements; old files keep both in one place."""
    out: dict[int, list[str]] = {}
    for family in families.get(kind, families).values():
        if "NUM" not in family.attrs or "GRO" not in family:
            continue
        rows = np.atleast_1d(np.asarray(family["GRO"]["NOM"][()]))
        names = [bytes(row.astype(np.uint8)) if row.dtype.kind in "iu" else bytes(row) for row in rows]
        listed = [n.split(b"\0")[0].decode("utf-8", "replace").strip() for n in names]
        out[int(family.attrs["NUM"])] = [n for n in listed if n]
    return out


def _integers(item: Any) -> Ints:
    values = np.asarray(item[()]).ravel()
    if values.dtype.kind not in "iu":
        raise TypeError(f"{item.name}: needs whole numbers, has {values.dtype}")
    return values.astype(np.int64)


def _text(value: Any) -> str:
    """An attribute as text."""
    return value.split(b"\0")[0].decode("utf-8", "replace").strip() if isinstance(value, bytes) else str(value)


def _dimension(block: Block) -> int:
    """Dimension of the cells of a block."""
    return shape_of(block[0], block[1].shape[1]).dimension if len(block[1]) else 0


__all__ = ["read_med"]
