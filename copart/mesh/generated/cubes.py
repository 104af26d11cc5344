"""Generated meshes of the unit cube, the components of the published experiments.

``hexa``: a regular grid.  ``tetra``: see :mod:`copart.mesh.generated.delaunay`.  With
``offset=(1, 0, 0)`` a cube shares the face x = 1 with one at the origin.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from ...arrays import whole
from ...errors import ConfigError
from ...names import CellShape, known_name
from ..value import Mesh

DEFAULT_SIZE = {"hexa": 25, "tetra": 40630}


def cube(cells: CellShape = "hexa", size: int | None = None, offset: Sequence[float] = (0.0, 0.0, 0.0), seed: int = 1,
         name: str | None = None) -> Mesh:
    """A mesh of the unit cube.

    Parameters
    ----------
    cells : {"hexa", "tetra"}
        Regular hexahedra, or the Delaunay tetrahedra of spread points.
    size : int, optional
        ``hexa``: cells per side, so ``size**3`` cells, x fastest; 25 where not given.
        ``tetra``: number of cells wanted, met within 1 %; 40630 where not given.
    offset : 3 floats
        Where the corner (0, 0, 0) goes.
    seed : int
        Of the spread points; ``hexa`` ignores it.
    name : str, optional

    Raises
    ------
    ConfigError
        An unknown kind of cells or an impossible size.

    Examples
    --------
    >>> cube("hexa", 2, offset=(1, 0, 0))
    Mesh('cube-hexa-2x2x2': 8 hexahedron in 3D, 27 points)
    """
    known_name("cells", cells, DEFAULT_SIZE)
    n = DEFAULT_SIZE[cells] if size is None else whole("size", size, low=1)
    if cells == "hexa":
        if n > 1000:
            raise ConfigError(f"size: at most 1000 hexahedra per side, got {n}")
        points, nodes = _grid_points(n, n, n), grid_cells(n, n, n)
        mesh = Mesh(points / n, [("hexahedron", nodes)], name=name or f"cube-hexa-{n}x{n}x{n}")
    else:
        from .delaunay import tetra_cube

        points, nodes = tetra_cube(n, whole("seed", seed, low=0))
        mesh = Mesh(points, [("tetra", nodes)], name=name or f"cube-tetra-{len(nodes)}")
    return mesh.translated(offset)


def _grid_points(nx: int, ny: int, nz: int) -> NDArray[np.float64]:
    """The integer points of a grid, x fastest."""
    z, y, x = np.meshgrid(np.arange(nz + 1.0), np.arange(ny + 1.0), np.arange(nx + 1.0), indexing="ij")
    return np.stack([x.ravel(), y.ravel(), z.ravel()], axis=1)


def grid_cells(nx: int, ny: int, nz: int) -> NDArray[np.int64]:
    """(nx * ny * nz, 8) nodes of the hexahedra of a grid, x fastest."""
    k, j, i = np.meshgrid(np.arange(nz), np.arange(ny), np.arange(nx), indexing="ij")
    row, layer = nx + 1, (nx + 1) * (ny + 1)
    first = (i + row * j + layer * k).ravel().astype(np.int64)
    around = np.array([0, 1, row + 1, row], np.int64)
    return np.asarray(first[:, None] + np.concatenate([around, around + layer]))
