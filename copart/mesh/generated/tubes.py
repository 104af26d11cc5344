"""Generated round meshes along z: a tube (a pipe's wall) and the cylinder inside it."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from ...arrays import whole
from ...errors import ConfigError
from ..value import Mesh
from .cubes import grid_cells


def tube(inner: float = 0.5, outer: float = 0.6, length: float = 5.0, cells: tuple[int, int, int] = (2, 24, 40),
         offset: Sequence[float] = (0.0, 0.0, 0.0), name: str = "tube") -> Mesh:
    """Hexahedra between two coaxial cylinders, the axis from `offset` along z.

    Parameters
    ----------
    inner, outer : float
        Radii, 0 < inner < outer.
    length : float
    cells : (int, int, int)
        Cells across the wall, around (at least 3), and along.
    offset : 3 floats
        Where the axis starts.
    name : str
        Of the mesh.

    Examples
    --------
    >>> tube(cells=(1, 8, 4))
    Mesh('tube': 32 hexahedron in 3D, 80 points)
    """
    across, around, along = _counts(cells, ("across", "around", "along"), (1, 3, 1))
    _positive(inner=inner, length=length)
    if not (np.isfinite(outer) and outer > inner):
        raise ConfigError(f"outer: must be larger than inner, {inner:g}, got {outer!r}")
    z, angle, radius = np.meshgrid(np.linspace(0, length, along + 1), np.arange(around) * (2 * np.pi / around),
                                   np.linspace(inner, outer, across + 1), indexing="ij")
    points = np.stack([radius * np.cos(angle), radius * np.sin(angle), z], axis=-1).reshape(-1, 3)
    # the grid closes on itself: its last ring of nodes is the first
    nodes = grid_cells(across, around, along)
    i, rest = nodes % (across + 1), nodes // (across + 1)
    j, k = rest % (around + 1), rest // (around + 1)
    nodes = i + (across + 1) * (j % around + around * k)
    return Mesh(points, [("hexahedron", nodes)], name=name).translated(offset)


def cylinder(radius: float = 0.5, length: float = 5.0, cells: tuple[int, int] = (8, 40),
             offset: Sequence[float] = (0.0, 0.0, 0.0), name: str = "cylinder") -> Mesh:
    """Hexahedra in a full cylinder, the axis from `offset` along z.

    A square grid is bent to the disc: concentric squares become concentric circles,
    so ``4 * cells[0]`` cells lie on the wall.

    Parameters
    ----------
    radius, length : float
    cells : (int, int)
        Cells across the diameter, and along.
    offset : 3 floats
        Where the axis starts.
    name : str
        Of the mesh.
    """
    across, along = _counts(cells, ("across", "along"), (1, 1))
    _positive(radius=radius, length=length)
    z, y, x = np.meshgrid(np.linspace(0, length, along + 1), np.linspace(-1, 1, across + 1),
                          np.linspace(-1, 1, across + 1), indexing="ij")
    disc = radius * _disc(np.stack([x.ravel(), y.ravel()], axis=1))
    points = np.column_stack([disc, z.ravel()])
    return Mesh(points, [("hexahedron", grid_cells(across, across, along))], name=name).translated(offset)


def _disc(square: NDArray[np.float64]) -> NDArray[np.float64]:
    """Points of the square [-1, 1]^2 on the unit disc, squares to circles at equal angles."""
    x, y = square.T
    radius = np.maximum(np.abs(x), np.abs(y))
    wide = np.abs(x) >= np.abs(y)
    lead = np.where(wide, x, y)
    ratio = np.divide(np.where(wide, y, x), lead, out=np.zeros_like(lead), where=lead != 0)
    angle = np.pi / 4 * ratio
    # signed by the leading coordinate, so that all four quarters come out right
    near, far = lead * np.cos(angle), lead * np.sin(angle)
    out = np.where(wide[:, None], np.column_stack([near, far]), np.column_stack([far, near]))
    out[radius == 0] = 0
    return out


def _counts(cells: Sequence[int], names: tuple[str, ...], low: tuple[int, ...]) -> list[int]:
    """Cell counts, each at least its minimum."""
    if not isinstance(cells, (tuple, list)) or len(cells) != len(names):
        raise ConfigError(f"cells: needs {len(names)} numbers ({', '.join(names)}), got {cells!r}")
    return [whole(f"cells {n}", c, low=l, high=100_000) for n, c, l in zip(names, cells, low, strict=True)]


def _positive(**values: float) -> None:
    """Each value is a finite positive number."""
    for name, value in values.items():
        if not (np.isfinite(value) and value > 0):
            raise ConfigError(f"{name}: must be a positive number, got {value!r}")
