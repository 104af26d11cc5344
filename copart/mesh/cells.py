"""What copart knows of each cell type: dimension, corners, facets.

A cell is described by its corner nodes alone, which meshio (like VTK) stores
first; the mid-side nodes of second-order cells do not matter to who neighbours
whom.  So ``tetra`` and ``tetra10`` have the same shape here.  Facets are the
faces of a 3D cell, the edges of a 2D cell, the ends of a line.
"""

from __future__ import annotations

import re
from functools import lru_cache
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from ..errors import MeshError

MAX_CORNERS = 4
"""Corners of the largest facet; facet rows are padded with -1 to this width."""


class CellShape(NamedTuple):
    """Dimension, number of corners and facets of a cell type."""

    dimension: int
    ncorners: int
    facets: NDArray[np.int64]
    """(nfacets, 4) local corner numbers in cyclic order, padded with -1."""


# name: dimension, corners, facets in cyclic order
_SHAPES: dict[str, tuple[int, int, tuple[tuple[int, ...], ...]]] = {
    "vertex": (0, 1, ()),
    "line": (1, 2, ((0,), (1,))),
    "triangle": (2, 3, ((0, 1), (1, 2), (2, 0))),
    "quad": (2, 4, ((0, 1), (1, 2), (2, 3), (3, 0))),
    "tetra": (3, 4, ((0, 2, 1), (0, 1, 3), (1, 2, 3), (0, 3, 2))),
    "pyramid": (3, 5, ((0, 3, 2, 1), (0, 1, 4), (1, 2, 4), (2, 3, 4), (3, 0, 4))),
    "wedge": (3, 6, ((0, 2, 1), (3, 4, 5), (0, 1, 4, 3), (1, 2, 5, 4), (2, 0, 3, 5))),
    "hexahedron": (3, 8, ((0, 3, 2, 1), (4, 5, 6, 7), (0, 1, 5, 4), (1, 2, 6, 5), (2, 3, 7, 6), (3, 0, 4, 7))),
}
_LAGRANGE = {"CURVE": "line", "TRIANGLE": "triangle", "QUADRILATERAL": "quad", "TETRAHEDRON": "tetra",
             "HEXAHEDRON": "hexahedron", "WEDGE": "wedge", "PYRAMID": "pyramid"}


@lru_cache(maxsize=256)
def shape_of(cell_type: str, width: int) -> CellShape:
    """Shape of a meshio cell type whose cells list `width` nodes.

    Parameters
    ----------
    cell_type : str
        Such as ``"tetra"``, ``"hexahedron20"``, ``"polygon"``, ``"VTK_LAGRANGE_WEDGE"``.
    width : int
        Nodes a cell; only polygons need it.

    Raises
    ------
    MeshError
        An unknown type, or fewer nodes than the type has corners.
    """
    if re.fullmatch(r"polygon\d*", cell_type):
        if width < 3:
            raise MeshError(f"cells {cell_type}: a polygon needs at least 3 nodes, these have {width}")
        edges = tuple((i, (i + 1) % width) for i in range(width))
        return CellShape(2, width, _padded(edges))
    name = re.sub(r"\d+$", "", cell_type)
    if cell_type.startswith("VTK_LAGRANGE_"):
        name = _LAGRANGE.get(cell_type.removeprefix("VTK_LAGRANGE_"), cell_type)
    if name not in _SHAPES:
        raise MeshError(f"cells {cell_type}: not a supported cell type; known are polygon, {', '.join(_SHAPES)}, "
                        f"also of higher order")
    dimension, ncorners, facets = _SHAPES[name]
    if width < ncorners:
        raise MeshError(f"cells {cell_type}: need at least {ncorners} nodes per cell, these have {width}")
    return CellShape(dimension, ncorners, _padded(facets))


def _padded(facets: tuple[tuple[int, ...], ...]) -> NDArray[np.int64]:
    """Facets of differing size as one array."""
    table = np.full((len(facets), MAX_CORNERS), -1, np.int64)
    for i, facet in enumerate(facets):
        table[i, :len(facet)] = facet
    return table
