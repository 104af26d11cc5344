"""Faces that are not convex: they are cut into triangles, since another face is cut only by convex ones."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from .surface import Surface

TURN = 1e-3
"""A corner turns inwards where the sine of its angle is below minus this; less comes from warped faces and rounding."""


def in_pieces(surface: Surface) -> tuple[Surface, NDArray[np.int64]]:
    """The faces with those that are concave as triangles, and the face of each piece, ascending.

    A piece keeps the normal, centre and diameter of its face.
    """
    concave = np.flatnonzero(_concave(surface))
    if len(concave) == 0:
        return surface, np.arange(len(surface.cell))
    whole = np.ones(len(surface.cell), bool)
    whole[concave] = False
    face, corners = [np.flatnonzero(whole)], [surface.corners[whole]]
    for f in concave.tolist():
        ring = surface.corners[f, :surface.size[f]]
        rows = np.array(triangles(_in_plane(ring, surface.normal[f])))
        face.append(np.full(len(rows), f))
        # beyond its three corners a row repeats the first
        corners.append(ring[rows[:, [0, 1, 2, *[0] * (surface.corners.shape[1] - 3)]]])
    of = np.concatenate(face)
    order = np.argsort(of, kind="stable")
    pieces = surface.taken(of[order])
    size = np.where(whole, surface.size, 3)[of[order]]
    out = Surface(np.concatenate(corners)[order], size, pieces.cell, pieces.outward)
    for name in ("normal", "centre", "diameter"):
        vars(out)[name] = getattr(surface, name)[of[order]]
    return out, of[order]


def _concave(surface: Surface) -> NDArray[np.bool_]:
    """(nfaces,) which faces have a corner that turns inwards."""
    out = np.zeros(len(surface.cell), bool)
    for n in (np.flatnonzero(np.bincount(surface.size)[4:]) + 4).tolist():
        mine = np.flatnonzero(surface.size == n)
        # a row a coordinate: numpy is slow along rows as short as those of corners
        corners = np.ascontiguousarray(surface.corners[mine, :n].transpose(1, 2, 0))
        side = np.roll(corners, -1, axis=0) - corners
        length = np.sqrt((side * side).sum(axis=1))
        (nx, ny, nz), turns = surface.normal[mine].T, np.zeros((2, len(mine)), bool)
        for k in range(n):
            (ax, ay, az), (bx, by, bz) = side[k - 1], side[k]
            turn = (ay * bz - az * by) * nx + (az * bx - ax * bz) * ny + (ax * by - ay * bx) * nz
            least = TURN * length[k - 1] * length[k]
            turns[0] |= turn > least
            turns[1] |= turn < -least
        # which way round the corners are does not matter
        out[mine] = turns.all(axis=0)
    return out


def _in_plane(ring: NDArray[np.float64], normal: NDArray[np.float64]) -> NDArray[np.float64]:
    """(n, 2) coordinates of a ring in the plane across `normal`, counter-clockwise."""
    first = np.cross(normal, np.eye(3)[np.argmin(np.abs(normal))])
    first /= np.linalg.norm(first)
    flat = (ring - ring[0]) @ np.stack([first, np.cross(normal, first)], axis=1)
    after = np.roll(flat, -1, axis=0)
    twice = float((flat[:, 0] * after[:, 1] - after[:, 0] * flat[:, 1]).sum())
    return np.asarray(flat if twice > 0 else flat * [1.0, -1.0])


def triangles(ring: NDArray[np.float64]) -> list[tuple[int, int, int]]:
    """A simple polygon, counter-clockwise in the plane, as triangles of its corners: ears are cut off one by one."""
    left = list(range(len(ring)))
    out = []
    while len(left) > 3:
        ear = next((k for k in range(len(left)) if _is_ear(ring, left, k)), 0)
        out.append((left[ear - 1], left[ear], left[(ear + 1) % len(left)]))
        del left[ear]
    return [*out, (left[0], left[1], left[2])]


def _is_ear(ring: NDArray[np.float64], left: list[int], k: int) -> bool:
    """Whether corner k of those left turns outwards, and no other corner is within its triangle."""
    ends = [left[k - 1], left[k], left[(k + 1) % len(left)]]
    corners = ring[ends]
    sides = np.roll(corners, -1, axis=0) - corners
    if sides[0, 0] * sides[1, 1] - sides[0, 1] * sides[1, 0] <= 0:
        return False
    # those in the same place as an end do not count: a ring may come back to a point
    other = np.array([ring[i] for i in left if not (ring[i] == corners).all(axis=1).any()]).reshape(-1, 2)
    to = other[:, None] - corners
    return not ((sides[:, 0] * to[..., 1] - sides[:, 1] * to[..., 0]) >= 0).all(axis=1).any()


__all__ = ["in_pieces", "triangles"]
