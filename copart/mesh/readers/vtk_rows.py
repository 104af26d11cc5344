"""Cells of VTK files for meshio without a detour: an index of every corner takes half of its time for large files.

And the cells of VTU files without a copy of all their nodes, and from all pieces of a file: meshio 5.3 takes the cells
of the last one alone.
"""

from __future__ import annotations

import contextlib
import itertools
from collections.abc import Iterator, Mapping
from typing import Any

import numpy as np
from numpy.typing import NDArray

_POLYHEDRON = 42

MOST_RUNS = 64
"""Runs of cells of one type that are looked at one by one."""


@contextlib.contextmanager
def rows_as_they_are() -> Iterator[None]:
    """Lets meshio's readers of VTK take cells that lie in the file as rows of one length for what they are."""
    from meshio.vtk import _vtk_51
    from meshio.vtu import _vtu

    places = (_vtk_51, _vtu)
    before = [place.vtk_cells_from_data for place in places]

    def cells(connectivity: Any, offsets: Any, types: Any, data: Any) -> Any:
        return _rows(connectivity, offsets, types, data) or before[0](connectivity, offsets, types, data)

    organized = _vtu._organize_cells

    def of_pieces(starts: Any, pieces: Any, data: Any) -> Any:
        if len(pieces) != len(starts) or any((piece["types"] == _POLYHEDRON).any() for piece in pieces):
            return organized(starts, pieces, data)
        blocks: list[Any] = []
        arrays: dict[str, list[NDArray[Any]]] = {}
        for start, piece, given in zip(starts.tolist(), pieces, data, strict=True):
            nodes, ends, types = (piece[name].ravel() for name in ("connectivity", "offsets", "types"))
            more, of_cells = cells(nodes, ends, types, given)
            blocks += [type(one)(one.type, one.data + start) if start else one for one in more]
            for name, values in of_cells.items():
                arrays.setdefault(name, []).extend(values)
        return blocks, arrays

    for place in places:
        place.vtk_cells_from_data = cells
    _vtu._organize_cells = of_pieces
    try:
        yield
    finally:
        _vtu._organize_cells = organized
        for place, was in zip(places, before, strict=True):
            place.vtk_cells_from_data = was


def _rows(connectivity: NDArray[Any], offsets: NDArray[Any], types: NDArray[Any],
          data: Mapping[str, NDArray[Any]]) -> tuple[list[Any], dict[str, list[NDArray[Any]]]] | None:
    """The blocks of cells and the data of each; None where meshio has to look at each cell, or to refuse the file."""
    from meshio import CellBlock, _common, _vtk_common

    if len(types) == 0 or len(offsets) != len(types):
        return None
    ends = np.append(np.flatnonzero(types[1:] != types[:-1]) + 1, len(types))
    if len(ends) > MOST_RUNS:
        return None
    blocks, start, node = [], 0, 0
    for end in ends.tolist():
        kind = _vtk_common.vtk_to_meshio_type.get(int(types[start]))
        size = _common.num_nodes_per_cell.get(kind)
        if size is None or not np.array_equal(offsets[start:end],
                                              np.arange(node + size, node + size * (end - start) + 1, size)):
            return None
        upto = node + size * (end - start)
        if upto > len(connectivity):
            return None
        rows = connectivity[node:upto].reshape(-1, size)
        order = _vtk_common.vtk_to_meshio_order(types[start])
        blocks.append(CellBlock(kind, rows if order is None else rows[:, order]))
        start, node = end, upto
    cuts = [0, *ends.tolist()]
    return blocks, {name: [values[a:b] for a, b in itertools.pairwise(cuts)] for name, values in data.items()}


__all__ = ["rows_as_they_are"]
