"""Cells of any shape, known by their faces, as OpenFOAM keeps them."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ..arrays import Frozen, frozen, integers, own
from ..errors import MeshError
from .cells import shape_of

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
            put(self, name, own(array, getattr(self, name)))
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
        from scipy.sparse import csr_array

        from ..kernels.mesh_dual import list_corners

        first, faces = self.sides
        width, begin = int(self.nodes.max()) + 1, np.zeros(self.ncells + 1, np.int64)
        given = (frozen(first), frozen(faces), self.start, self.nodes)
        list_corners(*given, np.full(width, -1, np.int64), begin, np.empty(0, np.int64))
        np.cumsum(begin, out=begin)
        node = np.empty(begin[-1], np.int64)
        list_corners(*given, np.full(width, -1, np.int64), begin, node)
        rows = csr_array((np.ones(len(node), np.int8), node, begin), shape=(self.ncells, width))
        rows.sort_indices()
        return begin, rows.indices.astype(np.int64, copy=False)

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
        # a face whose owner goes turns round
        start, nodes = self._around(faces, flip, new)
        owner = np.where(flip, number[other[faces]], number[self.owner[faces]])
        neighbour = np.where(mine[faces] & theirs[faces], number[other[faces]], -1)
        return Polyhedra(start, nodes, owner, neighbour)

    def renumbered(self, new: Ints) -> Polyhedra:
        """With node i called ``new[i]``; faces that have the same nodes then are one."""
        first, faces = self.sides
        cell = np.repeat(np.arange(self.ncells), np.diff(first))
        return Polyhedra.of_faces(*self._around(faces, self.owner[faces] != cell, new), cell)

    def _around(self, faces: Ints, turned: NDArray[np.bool_], new: Ints | None = None) -> Rows:
        """Offsets and nodes of some faces, round the other way where `turned`."""
        size = np.diff(self.start)[faces]
        start = np.concatenate([[0], np.cumsum(size)])
        nodes = self.nodes[spans(self.start[faces], size)]
        back = np.repeat(start[:-1] + start[1:] - 1, size) - np.arange(len(nodes))
        nodes = np.where(np.repeat(turned, size), nodes[back], nodes)
        return start, nodes if new is None else new[nodes]

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
        rows = [[int(n) for n in face] for cell in cells for face in cell]
        start = np.concatenate([[0], np.cumsum([len(row) for row in rows], dtype=np.int64)])
        cell = np.repeat(np.arange(len(cells)), [len(faces) for faces in cells])
        return cls.of_faces(start, np.array([n for row in rows for n in row], np.int64), cell)

    @classmethod
    def side_by_side(cls, solids: Sequence[tuple[Polyhedra, int]]) -> Polyhedra:
        """Several in one, their cells one after the other; each with the number of its first node."""
        size = np.concatenate([np.diff(s.start) for s, _ in solids])
        first = np.cumsum([0, *(s.ncells for s, _ in solids)])
        return cls(np.concatenate([[0], np.cumsum(size)]), np.concatenate([s.nodes + p for s, p in solids]),
                   np.concatenate([s.owner + c for (s, _), c in zip(solids, first, strict=False)]),
                   np.concatenate([np.where(s.neighbour >= 0, s.neighbour + c, -1)
                                   for (s, _), c in zip(solids, first, strict=False)]))

    @classmethod
    def beside(cls, blocks: Sequence[tuple[str, Ints]], solid: Polyhedra | None) -> Polyhedra:
        """Cells of ordinary shapes and, after them, polyhedra, which meet where they have the same nodes.

        Parameters
        ----------
        blocks : sequence of (str, (n, k) NDArray of int64)
            Type and nodes, as of a `Mesh`; all of dimension 3.
        solid : Polyhedra, optional

        Raises
        ------
        MeshError
            As for `of_faces`.
        """
        sizes, lists, cells = [], [], []
        first = 0
        for kind, nodes in blocks:
            for corners in shape_of(kind, nodes.shape[1]).facets:
                own = corners[corners >= 0]
                sizes.append(np.full(len(nodes), len(own)))
                lists.append(nodes[:, own].ravel())
                cells.append(first + np.arange(len(nodes)))
            first += len(nodes)
        if solid is not None:
            begin, faces = solid.sides
            cell = np.repeat(np.arange(solid.ncells), np.diff(begin))
            around, theirs = solid._around(faces, solid.owner[faces] != cell)
            sizes.append(np.diff(around))
            lists.append(theirs)
            cells.append(first + cell)
        start = np.concatenate([[0], np.cumsum(np.concatenate(sizes))])
        return cls.of_faces(start, np.concatenate(lists), np.concatenate(cells))

    @classmethod
    def of_faces(cls, start: Ints, nodes: Ints, cell: Ints) -> Polyhedra:
        """From the faces of all cells, those inside listed twice and recognised by their nodes.

        Parameters
        ----------
        start, nodes : NDArray of int64
            Nodes of face f, as for the value itself; faces look out of their cells.
        cell : (nfaces,) NDArray of int64
            The cell that lists each face.

        Raises
        ------
        MeshError
            A face of more than two cells, or twice of one.
        """
        size = np.diff(start)
        alike = np.arange(len(size))
        for n in np.unique(size[size > 0]).tolist():
            rows = np.flatnonzero(size == n)
            keys = np.sort(nodes[start[rows, None] + np.arange(n)], axis=1)
            first, which = np.unique(keys, axis=0, return_index=True, return_inverse=True)[1:]
            alike[rows] = rows[first][which.reshape(-1)]
        order, face = np.unique(alike, return_inverse=True)
        size = size[order]
        kept = np.concatenate([[0], np.cumsum(size)])
        return cls.of_sides(kept, nodes[spans(start[order], size)], face.reshape(-1), cell,
                            np.arange(len(alike)) == alike)

    @classmethod
    def of_sides(cls, start: Ints, nodes: Ints, face: Ints, cell: Ints, outward: NDArray[np.bool_]) -> Polyhedra:
        """From faces, and which of them each cell has; faces that no cell has go.

        Parameters
        ----------
        start, nodes : NDArray of int64
            Nodes of face f, as for the value itself.
        face, cell, outward : (n,) arrays
            A face of a cell, and whether its nodes go round so that it looks out of it.

        Raises
        ------
        MeshError
            A face of more than two cells, or twice of one.
        """
        order = np.lexsort((~outward, face))
        face, cell, outward = face[order], cell[order], outward[order]
        first = np.flatnonzero(np.diff(face, prepend=-1))
        count = np.diff(first, append=len(face))
        two = first[count > 1]
        bad = np.concatenate([first[count > 2], two[cell[two] == cell[two + 1]]])
        if len(bad):
            f = int(face[bad[0]])
            raise MeshError(f"cells polyhedron: more than two cells, or one twice, have the face "
                            f"{nodes[start[f]:start[f + 1]].tolist()}")
        used = face[first]
        size = np.diff(start)[used]
        begin = np.concatenate([[0], np.cumsum(size)])
        at = spans(start[used], size)
        back = np.repeat(start[used + 1] - 1 + begin[:-1], size) - np.arange(len(at))
        neighbour = np.full(len(used), -1)
        neighbour[count > 1] = cell[two + 1]
        return cls(begin, nodes[np.where(np.repeat(outward[first], size), at, back)], cell[first], neighbour)


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
