"""CGNS files in HDF5: zones, structured or not, families and boundary conditions by name."""

from __future__ import annotations

import contextlib
from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from ...errors import FormatError
from ..cells import shape_of
from ..fields import Block
from ..polyhedra import Ints, Polyhedra
from ..value import Mesh
from .assembling import SOLID, Members, assembled
from .cgns_boundaries import Place, in_elements, in_grid, node_numbers, of_section
from .cgns_elements import Elements, Run, elements_of
from .cgns_joints import Side, joined
from .cgns_nodes import Node
from .hdf5 import DAMAGED, read_hdf5

_MOST_ZONES = 100_000


def of_meshio(path: Path) -> bool:
    """Whether it is a file of meshio, which does not say of its nodes what they are."""
    with contextlib.suppress(ImportError, FormatError, *DAMAGED):
        import h5py

        with h5py.File(path, "r") as data:
            nodes = list(Node(path, data))
            return bool(nodes) and not any(node.label for node in nodes)
    return False


def read_cgns(path: Path) -> Mesh:
    """Read a CGNS file: all zones of all bases in one mesh, each a group of cells.

    Raises
    ------
    FormatError
        The package h5py is missing, or the file is not a usable mesh.
    """
    return read_hdf5(path, "CGNS", lambda data: _Reader(path, Node(path, data)).mesh())


@dataclass
class _Parts:
    """What is read of all zones; nodes are numbered over all of them."""

    points: list[NDArray[np.float64]] = field(default_factory=list)
    blocks: list[Block] = field(default_factory=list)
    sets: list[tuple[str, Members]] = field(default_factory=list)
    facets: dict[str, list[Ints]] = field(default_factory=dict)
    nodes: dict[str, list[Ints]] = field(default_factory=dict)
    solids: list[tuple[Polyhedra, int]] = field(default_factory=list)
    remarks: list[str] = field(default_factory=list)


class _Reader:
    """The bases of one file."""

    def __init__(self, path: Path, root: Node) -> None:
        self.path, self.root = path, root
        self.all = _Parts()
        self.npoints = self.ncells = 0
        """Points so far, and polyhedra."""
        self.families: dict[str, list[str]] = {}

    def mesh(self) -> Mesh:
        """The whole mesh."""
        bases = self.root.all("CGNSBase_t")
        if not bases:
            raise FormatError(self.path, "holds no base of CGNS (CGNSBase_t)")
        zones = [(base, zone) for base in bases for zone in base.all("Zone_t")]
        if not 1 <= len(zones) <= _MOST_ZONES:
            raise FormatError(self.path, f"holds {len(zones)} zones, 1 to {_MOST_ZONES} are supported")
        called = [zone.name for _, zone in zones]
        sides: dict[str, Side] = {}
        for base, zone in zones:
            sizes = base.integers().ravel()
            if len(sizes) < 2 or sizes[0] not in (1, 2, 3):
                raise FormatError(self.path, f"base {base.name}: needs its dimension, 1, 2 or 3, has {sizes.tolist()}")
            self.families = {f.name: [n.text() or n.name for n in f.all("FamilyName_t")] for f in base.all("Family_t")}
            twice = called.count(zone.name) > 1
            sides[zone.where] = self._zone(zone, int(sizes[0]), f"{base.name}.{zone.name}" if twice else zone.name)
        points = np.concatenate(self.all.points)
        first, said = joined(points, [zone for _, zone in zones], sides)
        return self._assembled(points, first, [*self.all.remarks, *said])

    def _assembled(self, points: NDArray[np.float64], first: Ints, remarks: list[str]) -> Mesh:
        """All zones as one mesh in which points that are the same are one."""
        own = first == np.arange(len(points))
        new = (np.cumsum(own) - 1)[first]
        parts = self.all
        solid = Polyhedra.side_by_side(parts.solids) if parts.solids else None
        if solid is not None and not own.all():
            solid = solid.renumbered(new)
        return assembled(points[own], [(kind, new[nodes]) for kind, nodes in parts.blocks], self.path.stem, parts.sets,
                         facets={k: [new[rows] for rows in v] for k, v in parts.facets.items()},
                         nodes={k: new[np.concatenate(v)] for k, v in parts.nodes.items()},
                         remarks=list(dict.fromkeys(remarks)), polyhedra=solid)

    # ---- one zone
    def _zone(self, zone: Node, dimension: int, name: str) -> Side:
        """Take one zone in."""
        sizes = zone.integers()
        kind = zone.said("ZoneType_t", "Structured")
        if kind not in ("Structured", "Unstructured"):
            raise FormatError(self.path, f"zone {name}: is {kind!r:.40}, neither structured nor unstructured")
        axes = dimension if kind == "Structured" else 1
        if sizes.size not in (2 * axes, 3 * axes) or (sizes.ravel()[:axes] < 1).any():
            raise FormatError(self.path, f"zone {name}: needs its numbers of vertices and cells, has "
                                         f"{sizes.ravel()[:9].tolist()}")
        shape = tuple(sizes.ravel()[:axes].tolist())
        points = self._points(zone, shape, name)
        if kind == "Structured":
            elements = Elements([Run(*_grid(shape), np.arange(0))] if min(shape) > 1 else [])
        else:
            elements = elements_of(zone, dimension)
        self._cells(zone, elements, len(points), dimension, name)
        self._boundaries(zone, elements, shape if kind == "Structured" else None, len(points), dimension)
        side = Side(shape, self.npoints)
        self.all.points.append(points)
        self.all.blocks += [(run.kind, run.nodes + self.npoints) for run in elements.runs]
        if elements.solid is not None:
            self.all.solids.append((elements.solid, self.npoints))
            self.ncells += elements.solid.ncells
        self.npoints += len(points)
        self.all.remarks += [f"{name}: {said}" for said in elements.remarks]
        return side

    def _points(self, zone: Node, shape: tuple[int, ...], name: str) -> NDArray[np.float64]:
        """(npoints, 3) coordinates, those of a structured zone with the first index running fastest."""
        grids = zone.all("GridCoordinates_t")
        grid = next((g for g in grids if g.name == "GridCoordinates"), grids[0] if grids else None)
        if grid is None:
            raise FormatError(self.path, f"zone {name}: has no coordinates (GridCoordinates_t)")
        if len(grids) > 1:
            self.all.remarks.append(f"{name}: coordinates at other times are left out")
        if grid.one("CoordinateR") is not None or grid.one("CoordinateTheta") is not None:
            raise FormatError(self.path, f"zone {name}: has cylindrical or spherical coordinates; write CoordinateX, "
                                         f"CoordinateY and CoordinateZ")
        rind = (node.integers().ravel() if (node := grid.first("Rind_t")) is not None
                else np.zeros(2 * len(shape), np.int64))
        if len(rind) != 2 * len(shape) or (rind < 0).any():
            raise FormatError(self.path, f"zone {name}: Rind needs {2 * len(shape)} numbers of 0 or more")
        full = tuple((np.array(shape) + rind[::2] + rind[1::2]).tolist())
        npoints = int(np.prod(shape, dtype=object))
        out = np.zeros((npoints, 3), order="F") if npoints <= 2**31 else np.zeros((0, 3))
        found = [(k, node) for k in range(3) if (node := grid.one(f"Coordinate{'XYZ'[k]}")) is not None]
        if not found:
            raise FormatError(self.path, f"zone {name}: has no CoordinateX")
        for k, node in found:
            values = node.reals()
            if values.size != np.prod(full, dtype=object):
                raise FormatError(self.path, f"zone {name}: {node.name} has {values.size} values for "
                                             f"{' x '.join(map(str, full))} vertices")
            core = tuple(slice(a, a + n) for a, n in zip(rind[::2].tolist(), shape, strict=True))
            out[:, k] = values.reshape(full[::-1])[core[::-1]].ravel()
        return out

    def _cells(self, zone: Node, elements: Elements, npoints: int, dimension: int, name: str) -> None:
        """The names of the cells: of the zone and its families."""
        first = len(self.all.blocks)
        faces = [] if elements.solid is None else [("faces", elements.solid.nodes[:, None])]
        for kind, nodes in [*((run.kind, run.nodes) for run in elements.runs), *faces]:
            if nodes.size and (nodes.min() < 0 or nodes.max() >= npoints):
                raise FormatError(self.path, f"zone {name}: {kind} name node "
                                             f"{int(nodes.min() if nodes.min() < 0 else nodes.max()) + 1}, it has "
                                             f"{npoints}")
        members = {first + i: np.arange(len(run.nodes)) for i, run in enumerate(elements.runs)
                   if shape_of(run.kind, run.nodes.shape[1]).dimension == dimension}
        if elements.solid is not None:
            members[SOLID] = self.ncells + np.arange(elements.solid.ncells)
        for label in [*self._families(zone), name]:
            self.all.sets.append((label, members))

    def _families(self, node: Node) -> Iterator[str]:
        """The families of a node, and other names of theirs before."""
        for below in node:
            if below.label in ("FamilyName_t", "AdditionalFamilyName_t"):
                family = below.text().rpartition("/")[2]
                yield from dict.fromkeys(n for n in (*self.families.get(family, ()), family) if n)

    # ---- boundaries
    def _boundaries(self, zone: Node, elements: Elements, shape: tuple[int, ...] | None, npoints: int,
                    dimension: int) -> None:
        """Boundary conditions, and sections of the boundary that none of these names."""
        named: dict[int, list[Ints]] = {}
        for bc in (b for all_of in zone.all("ZoneBC_t") for b in all_of.all("BC_t")):
            place = in_elements(bc, elements, npoints) if shape is None else in_grid(bc, shape)
            if place.lost:
                self.all.remarks.append(f"{zone.name}: boundary condition {bc.name} {place.lost}, left out")
            for i, rows in place.members.items():
                named.setdefault(i, []).append(rows)
            for label in dict.fromkeys([*self._families(bc), bc.name]):
                self._put(label, place)
        for label, low, high in elements.sections:
            found = of_section(elements, low, high)
            below = {i: rows for i, rows in found if i != SOLID and shape_of(
                elements.runs[i].kind, elements.runs[i].nodes.shape[1]).dimension == dimension - 1}
            if below and len(below) == len(found) and not any(np.isin(rows, np.concatenate(named[i])).any()
                                                              for i, rows in below.items() if i in named):
                self._put(label, Place(members=below))

    def _put(self, label: str, place: Place) -> None:
        """Give a place a name."""
        first = len(self.all.blocks)
        if place.members:
            self.all.sets.append((label, {SOLID if i == SOLID else i + first: rows + (self.ncells if i == SOLID else 0)
                                          for i, rows in place.members.items()}))
        for rows in place.facets:
            self.all.facets.setdefault(label, []).append(rows + self.npoints)
        if place.nodes is not None:
            self.all.nodes.setdefault(label, []).append(place.nodes + self.npoints)


def _grid(shape: tuple[int, ...]) -> Block:
    """Type and nodes of the cells between the vertices of a structured zone."""
    cells = np.indices([n - 1 for n in reversed(shape)]).reshape(len(shape), -1)[::-1]
    first = node_numbers(cells, shape)[:, None]
    step = np.cumprod([1, *shape])
    if len(shape) == 1:
        return "line", first + np.array([0, 1])
    flat = np.array([0, 1, 1 + step[1], step[1]])
    return ("quad", first + flat) if len(shape) == 2 else ("hexahedron",
                                                           first + np.concatenate([flat, flat + step[2]]))


__all__ = ["of_meshio", "read_cgns"]
