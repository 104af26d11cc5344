"""Cells of any shape, known by their faces, as OpenFOAM keeps them."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ..arrays import Frozen, frozen, integers
from ..errors import MeshError

Ints = NDArray[np.int64]
Rows = tuple[Ints, Ints]
"""Lists of differing length: offsets (n + 1,) and what they hold, one after the other."""


@dataclass(frozen=True, eq=False, repr=False)
class Polyhedra(Frozen):
    """Faces, and the cells on either side of each.

    Parameters
    ----------
    start : (nfaces + 1,) array_like of int
        Face f has the nodes ``nodes[start[f]:start[f + 1]]``, in cyclic order.
    nodes : array_like of int
        At least 3 a face.
    owner : (nfaces,) array_like of int
        Cell that the face belongs to; the face turns its back on it.
    neighbour : (nfaces,) array_like of int
        Cell on the other side, -1 on the boundary.

    Raises
    ------
    MeshError
        Arrays that do not fit together, or a cell number that no face has.
    """

    start: Ints
    nodes: Ints
    owner: Ints
    neighbour: Ints

    def __post_init__(self) -> None:
        nodes = integers("nodes of faces", self.nodes, np.int64, MeshError, low=0)
        start = integers("start of faces", self.start, np.int64, MeshError, low=0, high=len(nodes) + 1)
        if len(start) < 2 or start[0] != 0 or start[-1] != len(nodes):
            raise MeshError(f"start of faces: must run from 0 to the {len(nodes)} nodes, one entry more than faces")
        nfaces = len(start) - 1
        short = np.diff(start) < 3
        if short.any():
            raise MeshError(f"faces: {int(short.sum())} of {nfaces} have less than 3 nodes, "
                            f"first at index {int(np.argmax(short))}")
        owner = integers("owner", self.owner, np.int64, MeshError, low=0, high=2**31 - 1, size=nfaces)
        other = integers("neighbour", self.neighbour, np.int64, MeshError, low=-1, high=2**31 - 1, size=nfaces)
        same = owner == other
        if same.any():
            i = int(np.argmax(same))
            raise MeshError(f"faces: {int(same.sum())} of {nfaces} have one cell on both sides, "
                            f"first at index {i}: cell {int(owner[i])}")
        largest = max(int(owner.max()), int(other.max()))
        if largest >= 2 * nfaces:
            raise MeshError(f"owner, neighbour: name cell {largest}, more than {nfaces} faces can enclose")
        count = np.bincount(owner, minlength=largest + 1) + np.bincount(other[other >= 0], minlength=largest + 1)
        if not count.all():
            raise MeshError(f"owner, neighbour: {int((count == 0).sum())} of {largest + 1} cells have no face, "
                            f"first cell {int(np.argmin(count))}")
        put = object.__setattr__
        for name, array in (("start", start), ("nodes", nodes), ("owner", owner), ("neighbour", other)):
            put(self, name, frozen(array))
        put(self, "ncells", largest + 1)

    ncells: int = 0

    @property
    def nfaces(self) -> int:
        """Number of faces."""
        return len(self.owner)

    @cached_property
    def sides(self) -> Rows:
        """Faces of each cell, in ascending order."""
        face = np.arange(self.nfaces)
        inner = np.flatnonzero(self.neighbour >= 0)
        cell = np.concatenate([self.owner, self.neighbour[inner]])
        return grouped(cell, np.concatenate([face, inner]), self.ncells)

    @cached_property
    def corners(self) -> Rows:
        """Nodes of each cell, each once, in ascending order."""
        first, faces = self.sides
        size = np.diff(self.start)[faces]
        cell = np.repeat(np.repeat(np.arange(self.ncells), np.diff(first)), size)
        node = self.nodes[spans(self.start[faces], size)]
        # one number a (cell, node): sorting it sorts by cell, then by node
        width = int(self.nodes.max()) + 1
        if self.ncells * width >= 2**63:
            raise MeshError("faces: too many cells and nodes")
        key = np.unique(cell * width + node)
        cell, node = np.divmod(key, width)
        return np.searchsorted(cell, np.arange(self.ncells + 1)), node

    def padded(self, faces: NDArray[Any]) -> Ints:
        """(n, w) nodes of some faces, padded with -1."""
        size = self.start[faces + 1] - self.start[faces]
        width = int(size.max()) if len(faces) else 3
        out = np.full((len(faces), width), -1, np.int64)
        out[np.arange(width) < size[:, None]] = self.nodes[spans(self.start[faces], size)]
        return out

    def taken(self, keep: NDArray[np.bool_], new: Ints) -> Polyhedra:
        """The cells where `keep` is true, with node i called ``new[i]``; faces between kept and other cells stay."""
        number = np.cumsum(keep) - 1
        mine = keep[self.owner]
        other = np.where(self.neighbour >= 0, self.neighbour, 0)
        theirs = keep[other] & (self.neighbour >= 0)
        faces = np.flatnonzero(mine | theirs)
        flip = ~mine[faces]
        size = np.diff(self.start)[faces]
        start = np.concatenate([[0], np.cumsum(size)])
        nodes = self.nodes[spans(self.start[faces], size)]
        turned = np.repeat(flip, size)
        # a face whose owner goes turns round
        back = np.repeat(start[:-1] + start[1:] - 1, size) - np.arange(len(nodes))
        nodes = np.where(turned, nodes[back], nodes)
        owner = np.where(flip, number[other[faces]], number[self.owner[faces]])
        neighbour = np.where(mine[faces] & theirs[faces], number[other[faces]], -1)
        return Polyhedra(start, new[nodes], owner, neighbour)

    def __repr__(self) -> str:
        return f"Polyhedra({self.ncells} cells, {self.nfaces} faces)"

    @classmethod
    def from_cells(cls, cells: Sequence[Sequence[Any]]) -> Polyhedra:
        """From the faces of each cell, each face a list of nodes; faces of two cells are recognised by their nodes.

        Raises
        ------
        MeshError
            A face of more than two cells.
        """
        seen: dict[tuple[int, ...], int] = {}
        faces: list[list[int]] = []
        owner: list[int] = []
        neighbour: list[int] = []
        for i, cell in enumerate(cells):
            for face in cell:
                row = [int(n) for n in face]
                key = tuple(sorted(row))
                f = seen.setdefault(key, len(faces))
                if f == len(faces):
                    faces.append(row)
                    owner.append(i)
                    neighbour.append(-1)
                elif neighbour[f] < 0 and owner[f] != i:
                    neighbour[f] = i
                else:
                    raise MeshError(f"cells polyhedron: more than two cells, or one twice, have the face {row}")
        start = np.concatenate([[0], np.cumsum([len(f) for f in faces], dtype=np.int64)])
        return cls(start, np.array([n for f in faces for n in f], np.int64), np.array(owner, np.int64),
                   np.array(neighbour, np.int64))


def spans(first: Ints, size: Ints) -> Ints:
    """The numbers ``first[i], ..., first[i] + size[i] - 1`` of every i, one after the other."""
    total = int(size.sum())
    before = np.cumsum(size) - size
    out: Ints = np.arange(total) + np.repeat(first - before, size)
    return out


def grouped(group: Ints, values: Ints, ngroups: int) -> Rows:
    """`values` by group, ascending where they are given so, as offsets and values."""
    order = np.argsort(group, kind="stable")
    start = np.concatenate([[0], np.cumsum(np.bincount(group, minlength=ngroups))])
    return start, values[order]
