"""Tetrahedra in the unit cube: the Delaunay tetrahedralisation of spread points.

Inside, a jittered body-centred cubic lattice in a random direction, whose
Delaunay cells are all well shaped; on each face a jittered triangular lattice;
equidistant points on the edges.  The number of surface points follows the
published meshes (a surface somewhat finer than the inside), the lattice constant
is adjusted until the number of cells is right, and points of the few nearly flat
cells are moved until there is none.

Points of a face are exactly coplanar, which costs Qhull both time (15 s against
3 s for half a million cells) and certainty.  So it is given the cube with its
faces bulged outward a little; whatever lies between the bulged and the plane
face has no volume and is dropped, which leaves exactly the cube.
"""

from __future__ import annotations

import logging
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from ...arrays import whole
from ...errors import MeshError
from ..search import morton

log = logging.getLogger(__name__)

MIN_QUALITY = 2e-3
"""Smallest volume / (longest edge)^3 of a cell; a regular tetrahedron has 0.118."""
SMALLEST = 100
_BULGE = 1e-5
_JITTER = 0.12
_KEEP_OFF = 0.45
"""Distance of the inner points to the faces, in lattice constants."""
_MOVE = 0.15
"""Farthest move of a point of a flat cell, in spacings; points keep their order along edges."""


class _Spread(NamedTuple):
    """Points and how far each may move along each axis."""

    points: NDArray[np.float64]
    room: NDArray[np.float64]


def surface_triangles(ncells: int) -> float:
    """Number of boundary triangles that goes with `ncells` tetrahedra.

    With T cells and E dual edges there are B = 4 T - 2 E boundary triangles: 6,258
    and 39,900 in the published meshes.  The power law through both.
    """
    exponent = float(np.log(39900 / 6258) / np.log(486719 / 40630))
    return float(6258 * (ncells / 40630) ** exponent)


def tetra_cube(size: int, seed: int) -> tuple[NDArray[np.float64], NDArray[np.int64]]:
    """Points (npoints, 3) and tetrahedra (ncells, 4) of the unit cube, ncells within 1 % of `size`.

    No cell is flat (:data:`MIN_QUALITY`), all have positive orientation.  Same seed, same mesh.
    """
    want = whole("size", size, low=SMALLEST)
    spacing = float(np.sqrt(24 / np.sqrt(3) / surface_triangles(want)))
    # T = 6 inner + 3.1 surface points, within 1 % for 10^3 to 10^6 cells
    inner = -1.0
    for attempt in range(400):
        rng = np.random.default_rng([seed, attempt])
        surface = _surface_points(spacing, rng)
        if inner < 0:
            inner = max(1.0, (want - 3.1 * len(surface.points)) / 6)
        lattice = _inner_points(inner, rng)
        spread = _Spread(*(np.concatenate(pair) for pair in zip(surface, lattice, strict=True)))
        cells = delaunay_cells(spread.points)
        found = len(cells)
        if abs(found - want) <= 0.008 * want:
            points, cells = _without_flat(spread, cells, rng)
            if len(cells) and abs(len(cells) - want) <= 0.01 * want:
                log.debug("tetra cube: %d cells for %d at attempt %d", len(cells), want, attempt)
                return _sorted_along_curve(points, cells)
        inner = max(1.0, inner + 0.9 * (want - found) / 6)
    raise MeshError(f"cube: no tetrahedralisation with {want} cells found (seed {seed}); try another size or seed")


def delaunay_cells(points: NDArray[np.float64]) -> NDArray[np.int64]:
    """Delaunay tetrahedra of points in the unit cube whose hull is the cube, without flat ones on the faces."""
    from scipy.spatial import Delaunay

    centred = 2 * points - 1
    bulged = points.copy()
    for axis in range(3):
        on = np.abs(centred[:, axis]) == 1
        u, v = centred[on, (axis + 1) % 3], centred[on, (axis + 2) % 3]
        bulged[on, axis] += _BULGE * centred[on, axis] * (2 - u * u - v * v)
    cells: NDArray[np.int64] = Delaunay(bulged).simplices.astype(np.int64)
    on_face = np.zeros(len(cells), bool)
    for axis in range(3):
        for side in (0.0, 1.0):
            on_face |= (points[cells, axis] == side).all(axis=1)
    cells = cells[~on_face]
    volume, _ = quality(points, cells)
    turned = volume < 0
    cells[turned, 2:] = cells[turned][:, [3, 2]]
    return cells


def quality(points: NDArray[np.float64], cells: NDArray[np.int64]) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
    """Signed volume of each tetrahedron, and |volume| / (longest edge)^3; (ncells,) each."""
    p = points[cells]
    volume = np.einsum("ci,ci->c", p[:, 1] - p[:, 0], np.cross(p[:, 2] - p[:, 0], p[:, 3] - p[:, 0])) / 6
    longest = np.zeros(len(cells))
    for i in range(4):
        for j in range(i):
            d = p[:, i] - p[:, j]
            np.maximum(longest, np.einsum("ci,ci->c", d, d), out=longest)
    return volume, np.abs(volume) / longest**1.5


def _without_flat(spread: _Spread, cells: NDArray[np.int64], rng: np.random.Generator,
                  ) -> tuple[NDArray[np.float64], NDArray[np.int64]]:
    """Move the points of flat cells until there are none; no cells when that fails."""
    points = spread.points.copy()
    for _ in range(25):
        flat = quality(points, cells)[1] < MIN_QUALITY
        if not flat.any():
            return points, cells
        move = np.unique(cells[flat])
        points[move] = spread.points[move] + rng.uniform(-_MOVE, _MOVE, (len(move), 3)) * spread.room[move]
        cells = delaunay_cells(points)
    return points, cells[:0]


def _surface_points(spacing: float, rng: np.random.Generator) -> _Spread:
    """Corners, edge points and face points, about `spacing` apart."""
    corners = np.stack(np.meshgrid([0.0, 1.0], [0.0, 1.0], [0.0, 1.0], indexing="ij"), axis=-1).reshape(-1, 3)
    points, room = [corners], [np.zeros((8, 3))]
    n = max(1, round(1 / spacing))
    nrows = max(1, round(2 / np.sqrt(3) / spacing) - 1)
    for axis in range(3):
        u, v = (axis + 1) % 3, (axis + 2) % 3
        free = np.zeros(3)
        free[axis] = 1 / n
        for at_u in (0.0, 1.0):
            for at_v in (0.0, 1.0):
                edge = np.empty((n - 1, 3))
                edge[:, axis] = (np.arange(1, n) + rng.uniform(-_JITTER, _JITTER, n - 1)) / n
                edge[:, u], edge[:, v] = at_u, at_v
                points.append(edge)
                room.append(np.tile(free, (n - 1, 1)))
        free = np.full(3, spacing)
        free[axis] = 0
        for side in (0.0, 1.0):
            plane = _face_points(n, nrows, spacing)
            face = np.empty((len(plane), 3))
            face[:, [u, v]] = plane + rng.uniform(-_JITTER, _JITTER, plane.shape) * spacing
            face[:, axis] = side
            points.append(face)
            room.append(np.tile(free, (len(face), 1)))
    return _Spread(np.concatenate(points), np.concatenate(room))


def _face_points(n: int, nrows: int, spacing: float) -> NDArray[np.float64]:
    """Triangular lattice inside the unit square: rows of n points, every other row shifted by half."""
    rows = []
    for r in range(nrows):
        x = (np.arange(n) + (0.25 if r % 2 else 0.75)) / n
        x = x[(x > 0.4 * spacing) & (x < 1 - 0.4 * spacing)]
        rows.append(np.stack([x, np.full(len(x), (r + 1) / (nrows + 1))], axis=1))
    return np.concatenate(rows)


def _inner_points(count: float, rng: np.random.Generator) -> _Spread:
    """About `count` points of a jittered body-centred lattice in a random direction, off the faces."""
    # 2 (1 - 2 k a)^3 / a^3 = count, with k the distance kept from the faces
    a = 1 / ((count / 2) ** (1 / 3) + 2 * _KEEP_OFF)
    reach = int(np.sqrt(3) / 2 / a) + 2
    axis = np.arange(-reach, reach + 1.0)
    grid = np.stack(np.meshgrid(axis, axis, axis, indexing="ij"), axis=-1).reshape(-1, 3)
    turn, _ = np.linalg.qr(rng.normal(size=(3, 3)))
    p = np.concatenate([grid, grid + 0.5]) @ turn * a + 0.5 + rng.uniform(-0.5, 0.5, 3) * a
    p = p[((p > _KEEP_OFF * a) & (p < 1 - _KEEP_OFF * a)).all(axis=1)]
    p += rng.uniform(-0.5 * _JITTER, 0.5 * _JITTER, p.shape) * a
    return _Spread(p, np.full(p.shape, a))


def _sorted_along_curve(points: NDArray[np.float64], cells: NDArray[np.int64],
                        ) -> tuple[NDArray[np.float64], NDArray[np.int64]]:
    """Renumber points and cells along a space-filling curve, so that neighbours are near in memory."""
    order = np.argsort(morton(points), kind="stable")
    new = np.empty(len(points), np.int64)
    new[order] = np.arange(len(points))
    cells = new[cells]
    points = points[order]
    return points, cells[np.argsort(morton(points[cells].mean(axis=1)), kind="stable")]
