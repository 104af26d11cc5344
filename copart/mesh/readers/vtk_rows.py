"""Cells of VTK files for meshio without a detour: an index of every corner takes half of its time for large files."""

from __future__ import annotations

import contextlib
import itertools
from collections.abc import Iterator, Mapping
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ..vtk_cells import POLYHEDRON

MOST_RUNS = 64
"""Runs of cells of one type that are looked at one by one."""


@contextlib.contextmanager
def rows_as_they_are() -> Iterator[None]:
    """Lets meshio's reader of VTK's legacy files take cells that lie there as rows of one length for what they are."""
    from meshio.vtk import _vtk_51

    before = _vtk_51.vtk_cells_from_data

    def cells(connectivity: Any, offsets: Any, types: Any, data: Any) -> Any:
        if (types == POLYHEDRON).any():
            raise ValueError("polyhedra in VTK's legacy files are not read; ParaView saves them as .vtu")
        return _rows(connectivity, offsets, types, data) or before(connectivity, offsets, types, data)

    _vtk_51.vtk_cells_from_data = cells
    try:
        yield
    finally:
        _vtk_51.vtk_cells_from_data = before


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
