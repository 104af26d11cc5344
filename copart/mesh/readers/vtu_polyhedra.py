"""Polyhedra as VTU files list them: in one stream of numbers, or, since version 2.3 of the format, in four arrays."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ...errors import MeshError
from ..cells import shape_of
from ..polyhedra import Ints, Polyhedra, spans
from ..vtk_cells import POLYHEDRON, blocks_of_types

_TABLE = ("face_connectivity", "face_offsets", "polyhedron_to_faces", "polyhedron_offsets")


def solid_of(types: Ints, start: Ints, nodes: Ints, arrays: Mapping[str, NDArray[Any]]) -> Polyhedra:
    """All cells of a grid as polyhedra, in their order.

    Parameters
    ----------
    types, start, nodes : arrays
        VTK's type of each cell, and offsets and nodes of the cells.
    arrays : mapping of str to array
        ``faces`` and ``faceoffsets``, or ``face_connectivity``, ``face_offsets``, ``polyhedron_to_faces`` and
        ``polyhedron_offsets``.

    Raises
    ------
    ValueError
        The arrays do not fit together.
    MeshError
        A cell is no solid, or a face has more than two cells.
    """
    mine, others = (np.flatnonzero(one) for one in (types == POLYHEDRON, types != POLYHEDRON))
    solid = Polyhedra.of_faces(*_faces(mine, arrays)) if len(mine) else None
    if solid is not None and solid.ncells != len(mine):
        raise ValueError("polyhedra without faces")
    if solid is not None and not len(others):
        return solid
    size = np.diff(start)[others]
    blocks = blocks_of_types(types[others], np.concatenate([[0], np.cumsum(size)]), nodes[spans(start[others], size)])
    for kind, rows in blocks:
        if shape_of(kind, rows.shape[1]).dimension < 3:
            raise MeshError(f"cells: polyhedra beside cells of type {kind} are not supported")
    mixed = Polyhedra.beside(blocks, solid)
    order = np.concatenate([others, mine])
    return Polyhedra(mixed.start, mixed.nodes, order[mixed.owner],
                     np.where(mixed.neighbour >= 0, order[mixed.neighbour], -1))


def _faces(cells: Ints, arrays: Mapping[str, NDArray[Any]]) -> tuple[Ints, Ints, Ints]:
    """Offsets and nodes of the faces of some cells, one after the other, and the place of the cell of each."""
    if all(name in arrays for name in _TABLE):
        nodes, ends, faces, last = (arrays[name].reshape(-1).astype(np.int64) for name in _TABLE)
        begin, first = (np.concatenate([[0], one]) for one in (ends, last))
        if (np.diff(begin) < 0).any() or (np.diff(first) < 0).any() or begin[-1] > len(nodes) \
                or first[-1] > len(faces) or (len(cells) and cells[-1] >= len(last)):
            raise ValueError("arrays of the faces of polyhedra do not fit together")
        count = np.diff(first)[cells]
        listed = faces[spans(first[cells], count)]
        if len(listed) and not 0 <= listed.min() <= listed.max() < len(ends):
            raise ValueError(f"faces of polyhedra must be 0 to {len(ends) - 1}")
        size = np.diff(begin)[listed]
        at = begin[listed]
    else:
        nodes, last = (arrays[name].reshape(-1).astype(np.int64) if name in arrays else np.zeros(0, np.int64)
                       for name in ("faces", "faceoffsets"))
        at, size, count = _streamed(nodes, last, cells)
    return np.concatenate([[0], np.cumsum(size)]), nodes[spans(at, size)], np.repeat(np.arange(len(cells)), count)


def _streamed(stream: Ints, last: Ints, cells: Ints) -> tuple[Ints, Ints, Ints]:
    """Where the nodes of each face begin in the stream, how many there are, and how many faces each cell has.

    For each cell there is the number of its faces, and for each face the number of its nodes and they themselves;
    `last` is where each cell ends.
    """
    if len(cells) and cells[-1] >= len(last):
        raise ValueError("polyhedra without faces")
    ends = last[cells]
    begin = np.concatenate([[0], ends[:-1]])
    if len(cells) and ((begin >= ends).any() or begin.min() < 0 or ends.max() > len(stream)):
        raise ValueError(f"faceoffsets must rise to the {len(stream)} entries of faces")
    count, at = stream[begin], begin + 1
    if (count < 1).any() or (count > ends - begin).any():
        raise ValueError("faces: a polyhedron has no faces, or more than there are")
    starts, sizes, owners = [], [], []
    # the faces of all cells with the same number, side by side
    for number in range(int(count.max(initial=0))):
        one = np.flatnonzero(count > number)
        size = stream[np.minimum(at[one], len(stream) - 1)]
        if (size < 1).any() or (at[one] + size >= ends[one]).any():
            raise ValueError("faces and faceoffsets do not fit together")
        starts.append(at[one] + 1)
        sizes.append(size)
        owners.append(one)
        at[one] += size + 1
    if (at != ends).any():
        raise ValueError("faces and faceoffsets do not fit together")
    order = np.argsort(np.concatenate([*owners, np.zeros(0, np.int64)]), kind="stable")
    return np.concatenate(starts)[order], np.concatenate(sizes)[order], count


__all__ = ["solid_of"]
