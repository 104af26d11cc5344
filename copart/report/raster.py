"""Polygons to pixels: which polygon the viewer sees where, by comparing depths.

Vectorised over triangles of like size; what a picture costs depends on its
pixels and on the number of polygons, not on how they lie.  Colours come later:
the same pixels serve every scheme.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

Points = NDArray[np.float64]

#: Pixels looked at in one step; bounds the memory.
_STEP = 1 << 19


@dataclass(frozen=True)
class Frame:
    """From the plane to pixels: x right, y down, the whole picture with a small margin."""

    low: Points
    """(2,) the plane's coordinates of the left and lower edge."""
    scale: float
    """Pixels a unit of length."""
    width: int
    height: int

    @classmethod
    def around(cls, corners: Points, width: int, height: int, margin: float = 0.02) -> Frame:
        """The frame, at most `width` x `height` pixels, that fits all `corners` (..., 2)."""
        flat = corners.reshape(-1, 2)
        low, high = flat.min(axis=0), flat.max(axis=0)
        room = margin * max(float((high - low).max()), 1e-300)
        low, high = low - room, high + room
        scale = float(min(width / (high - low)[0], height / (high - low)[1]))
        size = np.maximum(np.ceil((high - low) * scale).astype(int), 1)
        return cls(low, scale, min(int(size[0]), width), min(int(size[1]), height))

    def pixels(self, points: Points) -> Points:
        """(..., 2) pixel coordinates of points of the plane; the centre of the first pixel is (0.5, 0.5)."""
        x = (points[..., 0] - self.low[0]) * self.scale
        y = self.height - (points[..., 1] - self.low[1]) * self.scale
        return np.stack([x, y], axis=-1)


class Canvas:
    """Pixels that know the nearest polygon drawn there so far.

    Attributes
    ----------
    item : (height, width) int32
        Number given with the polygon that is seen, -1 where there is none.
    depth : (height, width) float64
        Its depth, larger is nearer.
    """

    def __init__(self, frame: Frame):
        self.frame = frame
        self.item = np.full((frame.height, frame.width), -1, np.int32)
        self.depth = np.full((frame.height, frame.width), -np.inf)

    def draw(self, corners: Points, depth: Points, item: NDArray[np.int32], beyond: Points | None = None) -> None:
        """Draw convex polygons.

        Parameters
        ----------
        corners : (npolygons, width, 2) float
            In the plane; rows beyond the last corner repeat an earlier one.
        depth : (npolygons, width) float
            Larger is nearer to the viewer.
        item : (npolygons,) int
            Numbers of the polygons, not negative.
        beyond : (npolygons, width) float, optional
            Only where this, interpolated, is not above 0 is anything drawn.
        """
        p = self.frame.pixels(corners)
        more = [depth] if beyond is None else [depth, beyond]
        values = np.stack(more, axis=-1)
        fan = [(0, i, i + 1) for i in range(1, corners.shape[1] - 1)]
        if not fan or len(p) == 0:
            return
        triangle = np.concatenate([p[:, list(t)] for t in fan])
        value = np.concatenate([values[:, list(t)] for t in fan])
        number = np.tile(np.asarray(item, np.int32), len(fan))
        a, b, c = triangle[:, 0], triangle[:, 1], triangle[:, 2]
        area = (b[:, 0] - a[:, 0]) * (c[:, 1] - a[:, 1]) - (b[:, 1] - a[:, 1]) * (c[:, 0] - a[:, 0])
        first = np.maximum(np.ceil(triangle.min(axis=1) - 0.5), 0).astype(np.int64)
        limit = np.array([self.frame.width, self.frame.height])
        last = np.minimum(np.floor(triangle.max(axis=1) - 0.5).astype(np.int64) + 1, limit)
        extent = (last - first).max(axis=1)
        good = ((last - first) > 0).all(axis=1) & (np.abs(area) > 1e-12)
        size = 1
        while good.any():
            mine = np.flatnonzero(good & (extent <= size))
            good[mine] = False
            step = max(1, _STEP // (size * size))
            for i in range(0, len(mine), step):
                t = mine[i:i + step]
                self._fill(triangle[t], area[t], value[t], number[t], first[t], last[t])
            size *= 2

    def _fill(self, triangle: Points, area: Points, value: Points, number: NDArray[np.int32],
              first: NDArray[np.int64], last: NDArray[np.int64]) -> None:
        """Triangles whose boxes are about as large; all are looked at as the largest."""
        wide, high = (last - first).max(axis=0)
        column, row = first[:, 0, None] + np.arange(wide), first[:, 1, None] + np.arange(high)
        x, y = column + 0.5, row + 0.5
        # weights of the corners, as planes over the box
        weight = []
        for k in range(3):
            p, q = triangle[:, (k + 1) % 3], triangle[:, (k + 2) % 3]
            run, rise = (q - p).T / area
            weight.append((run[:, None] * (y - p[:, 1, None]))[:, :, None]
                          - (rise[:, None] * (x - p[:, 0, None]))[:, None, :])
        inside = (weight[0] >= -1e-9) & (weight[1] >= -1e-9) & (weight[2] >= -1e-9)
        inside &= (column < last[:, 0, None])[:, None, :] & (row < last[:, 1, None])[:, :, None]
        t, i, j = np.nonzero(inside)
        share = np.stack([w[t, i, j] for w in weight], axis=1)
        at: Points = np.einsum("nk,nkv->nv", share, value[t])
        pixel = row[t, i] * self.frame.width + column[t, j]
        z, flat = at[:, 0], self.depth.ravel()
        keep = z > flat[pixel]
        if at.shape[1] > 1:
            keep &= at[:, 1] <= 0
        t, z, pixel = t[keep], z[keep], pixel[keep]
        # nearest last: of several values for one pixel the last one stays
        order = np.argsort(z, kind="stable")
        flat[pixel[order]] = z[order]
        self.item.ravel()[pixel[order]] = number[t[order]]


__all__ = ["Canvas", "Frame"]
