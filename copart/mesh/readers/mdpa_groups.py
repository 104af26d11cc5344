"""From numbers to indices: the nodes, entities and SubModelParts of a Kratos file as one `Mesh`.

The cells are the elements; where there are none, as in files that are to be given their physics later, the
geometries, and where there is nothing else the conditions.  Conditions and geometries beside elements are no cells,
even where they are as large: the load on a shell has the nodes of the shell.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from ..cells import shape_of
from ..fields import Block
from ..polyhedra import Ints
from ..value import Mesh
from .assembling import Members, assembled
from .numbered import Numbered

PROPERTIES = "properties"
"""Cell array with the number of the properties of each element, where there are several."""


class Run(NamedTuple):
    """Entities of one block."""

    cell: str
    """meshio cell type."""
    line: int
    name: str
    numbers: Ints
    nodes: Ints
    """(n, k) numbers of nodes, in VTK's order."""
    properties: Ints

    @property
    def dimension(self) -> int:
        """Of the cells."""
        return shape_of(self.cell, self.nodes.shape[1]).dimension

    @property
    def corners(self) -> Ints:
        """(n, ncorners) numbers of nodes."""
        return self.nodes[:, :shape_of(self.cell, self.nodes.shape[1]).ncorners]


@dataclass
class Part:
    """A SubModelPart: the line it begins at, and numbers by kind."""

    line: int
    members: dict[str, list[Ints]] = field(default_factory=dict)


def grouped_mesh(path: Path, node_numbers: Ints, points: NDArray[np.float64], runs: Mapping[str, Sequence[Run]],
                 parts: Mapping[str, Part], remarks: list[str]) -> Mesh:
    """The mesh of a file.

    Parameters
    ----------
    path : Path
    node_numbers : (npoints,) int64
    points : (npoints, 3) float64
    runs : mapping of str to sequence of Run
        By kind: "Elements", "Conditions", "Geometries".
    parts : mapping of str to Part
        By name.
    remarks : list of str

    Raises
    ------
    FormatError
        A number is given twice or not defined.
    """
    return _Groups(path, node_numbers, points, runs, parts, remarks).mesh()


class _Groups:
    """Where each node and entity is."""

    def __init__(self, path: Path, node_numbers: Ints, points: NDArray[np.float64], runs: Mapping[str, Sequence[Run]],
                 parts: Mapping[str, Part], remarks: list[str]) -> None:
        self.path, self.points, self.parts, self.remarks = path, points, parts, remarks
        self.nodes = Numbered(path, "node", node_numbers)
        self.main = next((kind for kind in ("Elements", "Geometries", "Conditions")
                          if any(run.dimension for run in runs[kind])), "Elements")
        self.top = max((run.dimension for run in runs[self.main]), default=0)
        self.blocks: list[Block] = []
        self.properties: list[Ints] = []
        self.where: dict[str, tuple[Numbered, Ints, Ints]] = {}
        """By kind: the numbers, and for each entity its block and place there, -1 where it is no cell."""
        for kind in (self.main, *(k for k in runs if k != self.main)):
            self._add(kind, runs[kind])

    def _add(self, kind: str, runs: Sequence[Run]) -> None:
        """Entities of a kind as blocks; those as large as the cells beside them are looked for among the cells."""
        block, place, lost = [], [], 0
        for run in runs:
            index = self.nodes.places(run.nodes.ravel(), f"{kind.lower()} {run.name}", run.line)
            if kind == self.main or run.dimension < self.top:
                block.append(np.full(len(run.numbers), len(self.blocks)))
                place.append(np.arange(len(run.numbers)))
                self.blocks.append((run.cell, index.reshape(run.nodes.shape)))
                self.properties.append(run.properties)
            else:
                found = self._cells_with(index.reshape(run.nodes.shape)[:, :run.corners.shape[1]])
                block.append(found[0])
                place.append(found[1])
                lost += int((found[0] < 0).sum())
        if lost:
            self.remarks.append(f"{lost} {kind.lower()} of as many dimensions as the {self.main.lower()} are left out: "
                                f"they are none of them")
        known = np.concatenate([run.numbers for run in runs]) if runs else np.zeros(0, np.int64)
        self.where[kind] = (Numbered(self.path, {"Geometries": "geometry"}.get(kind, kind[:-1].lower()), known),
                            np.concatenate(block) if block else known, np.concatenate(place) if place else known)

    def _cells_with(self, corners: Ints) -> tuple[Ints, Ints]:
        """Block and place of the cells that have these corners, in any order; -1 where there is none."""
        block, place = np.full(len(corners), -1), np.full(len(corners), -1)
        wanted = np.sort(corners, axis=1)
        for b, (cell, nodes) in enumerate(self.blocks):
            shape = shape_of(cell, nodes.shape[1])
            if shape.dimension != self.top or shape.ncorners != corners.shape[1]:
                continue
            both = np.concatenate([np.sort(nodes[:, :shape.ncorners], axis=1), wanted])
            row = np.unique(both, axis=0, return_inverse=True)[1].reshape(-1)
            first = np.full(int(row.max(initial=0)) + 1, -1)
            first[row[:len(nodes)]] = np.arange(len(nodes))
            found = first[row[len(nodes):]]
            block[found >= 0], place[found >= 0] = b, found[found >= 0]
        return block, place

    def mesh(self) -> Mesh:
        """Everything in one mesh."""
        sets: list[tuple[str, Members]] = []
        nodes: dict[str, Ints] = {}
        for name, part in self.parts.items():
            members = self._members(name, part)
            high = [(b, index) for b, index in members if self._dimension(b) >= self.top - 1]
            sets += [(name, {b: index}) for b, index in high]
            if high:
                continue
            # of cells and boundaries the nodes are known; where there are none, nodes are what the part stands for
            listed = [self.nodes.places(n, f"SubModelPart {name}", part.line) for n in part.members.get("Nodes", [])]
            listed += [self.blocks[b][1][index].ravel() for b, index in members]
            if sum(map(len, listed)):
                nodes[name] = np.unique(np.concatenate(listed))
                sets += [(name, {b: index}) for b, index in members]
        properties = np.concatenate(self.properties) if self.properties else np.zeros(0, np.int64)
        mine = [p for p, (cell, c) in zip(self.properties, self.blocks, strict=True)
                if len(c) and shape_of(cell, c.shape[1]).dimension == self.top]
        several = len(mine) > 0 and len(np.unique(np.concatenate(mine))) > 1
        return assembled(self.points, self.blocks, self.path.stem, sets, nodes=nodes, remarks=self.remarks,
                         cell_data={PROPERTIES: properties} if several else None)

    def _dimension(self, block: int) -> int:
        cell, nodes = self.blocks[block]
        return shape_of(cell, nodes.shape[1]).dimension

    def _members(self, name: str, part: Part) -> list[tuple[int, Ints]]:
        """The entities of a part: blocks and places in them."""
        out: dict[int, list[Ints]] = {}
        for kind, (known, block, place) in self.where.items():
            for wanted in part.members.get(kind, []):
                at = known.places(wanted, f"SubModelPart {name}", part.line)
                for b in np.unique(block[at]):
                    if b >= 0:
                        out.setdefault(int(b), []).append(place[at[block[at] == b]])
        return [(b, np.unique(np.concatenate(index))) for b, index in sorted(out.items())]
