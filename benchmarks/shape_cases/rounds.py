"""Round things of quadrilaterals and hexahedra: discs, rings, tiles with a round hole, balls and shells.

A closed line or surface has points in a fixed order, so that layers can be laid
between any two of them: a circle and the sides of a square, a sphere and a cube.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from copart.mesh import Mesh

from .building import Points, between, grid, joined

_CORE = 0.55
"""How far the core of a disc or ball reaches, in radii."""


# ---- in the plane
def loop(count: int) -> Mesh:
    """A closed line of `count` edges; its points have no place yet."""
    i = np.arange(count)
    return Mesh(np.zeros((count, 3)), [("line", np.stack([i, (i + 1) % count], axis=1))])


def circle(count: int, radius: float, centre: Sequence[float] = (0.0, 0.0), turn: float = 0.0) -> Points:
    """(count, 3) points round a circle, the first in the direction (-1, -1) turned by `turn` (radians)."""
    angle = -0.75 * np.pi + turn + 2 * np.pi * np.arange(count) / count
    return np.stack([centre[0] + radius * np.cos(angle), centre[1] + radius * np.sin(angle), 0 * angle], axis=1)


def outline(corners: Sequence[Sequence[float]], count: int) -> Points:
    """(count, 3) points round a quadrilateral, the same number on each side, from the first corner on."""
    c = np.asarray(corners, float)
    share = (np.arange(count // 4) / (count // 4))[:, None]
    flat = np.concatenate([(1 - share) * c[i] + share * c[(i + 1) % 4] for i in range(4)])
    return np.pad(flat, ((0, 0), (0, 1)))


def ring(inner: Points, outer: Points, layers: int) -> Mesh:
    """Quadrilaterals between two closed lines of as many points."""
    return between(loop(len(inner)), inner, outer, layers)


def disc(side: int, layers: int, radius: float = 1.0, centre: Sequence[float] = (0.0, 0.0), turn: float = 0.0) -> Mesh:
    """Quadrilaterals of a full disc: a core of `side` x `side` cells and `layers` rings of ``4 * side`` round it."""
    line = np.linspace(-1, 1, side + 1)
    core = grid(line, line)
    x, y = core.points[:, 0], core.points[:, 1]
    # the sides of the core bulge half way to a circle
    bulge = _CORE / np.sqrt(2) * np.stack([x * (1.25 - 0.25 * y * y), y * (1.25 - 0.25 * x * x)], axis=1)
    c, s = np.cos(turn), np.sin(turn)
    flat = radius * bulge @ np.array([[c, s], [-s, c]]) + np.asarray(centre, float)
    core = core.replace(points=np.pad(flat, ((0, 0), (0, 1))))
    rim = core.points[_rim(side)]
    return joined(core, ring(rim, circle(4 * side, radius, centre, turn), layers))


def _rim(side: int) -> np.ndarray:
    """The points on the rim of a square grid, against the clock from its first corner."""
    n, i = side + 1, np.arange(side)
    return np.concatenate([i, i * n + side, n * n - 1 - i, (side - i) * n])


def tile(corners: Sequence[Sequence[float]], side: int, layers: int, radius: float, turn: float = 0.0) -> Mesh:
    """A quadrilateral with a round hole in its middle, `side` cells along each side."""
    centre = np.asarray(corners, float).mean(axis=0)
    return ring(circle(4 * side, radius, centre, turn), outline(corners, 4 * side), layers)


def patch(corners: Sequence[Sequence[float]], side: int) -> Mesh:
    """A quadrilateral of `side` x `side` cells."""
    c = np.asarray(corners, float)
    line = np.linspace(0, 1, side + 1)
    flat = grid(line, line)
    s, t = flat.points[:, :1], flat.points[:, 1:2]
    points = (1 - s) * (1 - t) * c[0] + s * (1 - t) * c[1] + s * t * c[2] + (1 - s) * t * c[3]
    return flat.replace(points=np.pad(points, ((0, 0), (0, 1))))


def annulus(around: int, across: int, inner: float, outer: float, part: tuple[float, float] | None = None) -> Mesh:
    """Quadrilaterals between two circles; only between two angles (radians) where given."""
    if part is None:
        return ring(circle(around, inner), circle(around, outer), across)
    flat = grid(np.linspace(inner, outer, across + 1), np.linspace(*part, around + 1))
    r, angle, _ = flat.points.T
    return flat.replace(points=np.stack([r * np.cos(angle), r * np.sin(angle), 0 * r], axis=1))


# ---- in space
def cube_surface(side: int) -> Mesh:
    """The surface of [-1, 1]^3: `side` x `side` quadrilaterals on each of six faces."""
    line = np.linspace(-1, 1, side + 1)
    flat = grid(line, line)
    u, v, _ = flat.points.T
    one = np.ones_like(u)
    return joined(*(flat.replace(points=np.stack(np.roll([s * one, u, v], axis, axis=0), axis=1))
                    for axis in range(3) for s in (-1.0, 1.0)))


def on_sphere(surface: Mesh, radius: float = 1.0) -> Points:
    """Where the points of :func:`cube_surface` are on a sphere, at equal angles."""
    p = np.tan(np.pi / 4 * surface.points)
    return np.asarray(radius * p / np.linalg.norm(p, axis=1)[:, None])


def shell(side: int, layers: int, inner: float, outer: float) -> Mesh:
    """Hexahedra between two spheres."""
    surface = cube_surface(side)
    return between(surface, on_sphere(surface, inner), on_sphere(surface, outer), layers)


def ball(side: int, layers: int, radius: float = 1.0) -> Mesh:
    """Hexahedra of a full ball: a core of ``side**3`` cells and `layers` round it."""
    line = np.linspace(-1, 1, side + 1)
    core = grid(line, line, line)
    core = core.replace(points=radius * _rounded(core.points))
    surface = cube_surface(side)
    return joined(core, between(surface, radius * _rounded(surface.points), on_sphere(surface, radius), layers))


def _rounded(points: Points) -> Points:
    """A cube with bulging sides, as large as the core of a ball."""
    squared = points**2
    others = np.roll(squared, 1, axis=1) + np.roll(squared, 2, axis=1)
    return np.asarray(_CORE / np.sqrt(3) * points * (1.4 - 0.2 * others))


def box_with_ball(side: int, layers: int, radius: float, half: float) -> Mesh:
    """Hexahedra of the cube [-half, half]^3 outside of a ball in its middle."""
    surface = cube_surface(side)
    return between(surface, on_sphere(surface, radius), half * surface.points, layers)


def twisted(mesh: Mesh, per_length: float) -> Mesh:
    """The mesh turned round the z axis by an angle that grows with z."""
    x, y, z = mesh.points.T
    c, s = np.cos(per_length * z), np.sin(per_length * z)
    return mesh.replace(points=np.stack([c * x - s * y, s * x + c * y, z], axis=1))


def square_to_disc(x: Points, y: Points) -> tuple[Points, Points]:
    """The square [-1, 1]^2 on the unit disc, smooth in the inside."""
    return x * np.sqrt(1 - y * y / 2), y * np.sqrt(1 - x * x / 2)
