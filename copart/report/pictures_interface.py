"""Interfaces for pictures by themselves: face-on with the parts of a side, or a line laid straight."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ..coupling import CoPartition
from ..mesh.interfaces.surface import Surface
from .palette import RGB
from .pictures_style import FAINT, INK, title
from .projection import Line


def draw_interface(axes: Any, flat: NDArray[np.float64], part: NDArray[np.int32], colour: NDArray[np.int64]) -> None:
    from matplotlib.collections import PolyCollection

    fill = RGB[colour[part]]
    axes.add_collection(PolyCollection(list(flat), facecolors=fill, edgecolors=fill * 0.86, linewidths=0.35))
    _fit(axes, flat)
    # a part in several pieces has its number on each of some size
    centre, piece = flat.mean(axis=1), _pieces(flat, part)
    for k, count in zip(*np.unique(piece, return_counts=True), strict=True):
        if count >= 0.004 * len(flat):
            x, y = _roomiest(centre, piece == k)
            _label(axes, x, y, int(part[piece == k][0]))


def _shared_edges(flat: NDArray[np.float64]) -> list[tuple[int, int, int, int]]:
    """Pairs of facets with a common edge: facet, its corners at both ends of the edge, the other facet."""
    step = max(np.ptp(flat[..., 0]), np.ptp(flat[..., 1])) * 1e-6 or 1.0
    corner = [[tuple(c) for c in row] for row in np.round(flat / step).astype(np.int64).tolist()]
    first: dict[Any, int] = {}
    shared = []
    for f, row in enumerate(corner):
        for i, p in enumerate(row):
            j = (i + 1) % len(row)
            if p != row[j]:
                other = first.setdefault((min(p, row[j]), max(p, row[j])), f)
                if other != f:
                    shared.append((f, i, j, other))
    return shared


def _pieces(flat: NDArray[np.float64], part: NDArray[np.int32]) -> NDArray[np.int32]:
    """(nfacets,) number of the connected piece of its part that each facet is in."""
    from scipy.sparse import coo_array
    from scipy.sparse.csgraph import connected_components

    joined = [(f, g) for f, _, _, g in _shared_edges(flat) if part[f] == part[g]]
    row, column = np.array(joined, int).reshape(-1, 2).T
    link = coo_array((np.ones(len(row)), (row, column)), shape=(len(part),) * 2)
    return np.asarray(connected_components(link, directed=False)[1])


def _roomiest(centre: NDArray[np.float64], mine: NDArray[np.bool_]) -> tuple[float, float]:
    """The facet of a part that is farthest from other parts and from the rim: room for a label."""
    from scipy.spatial import cKDTree

    inside = centre[mine]
    room = np.minimum(inside - centre.min(axis=0), centre.max(axis=0) - inside).min(axis=1)
    if not mine.all():
        room = np.minimum(room, cKDTree(centre[~mine]).query(inside)[0])
    x, y = inside[np.argmax(room)]
    return float(x), float(y)


def _label(axes: Any, x: float, y: float, part: int) -> None:
    from matplotlib.patheffects import withStroke

    axes.text(x, y, str(part), ha="center", va="center", fontsize=9.5, color=INK, fontweight="bold",
              path_effects=[withStroke(linewidth=2.6, foreground="white", alpha=0.9)], zorder=5, clip_on=True)


def draw_outline(axes: Any, flat: NDArray[np.float64], part: NDArray[np.int32]) -> None:
    """Draw the borders between parts."""
    from matplotlib.collections import LineCollection

    borders = [(flat[f, i], flat[f, j]) for f, i, j, other in _shared_edges(flat) if part[f] != part[other]]
    axes.add_collection(LineCollection(borders, colors="black", linewidths=1.7, capstyle="round", zorder=4))


def draw_strip(axes: Any, facets: list[Surface], made: CoPartition, sides: list[Any], name: str = "interface",
               letters: Sequence[str] = ("A", "B")) -> None:
    """A one-dimensional interface by arc length along A: the parts of A above, those of B below."""
    from matplotlib.collections import PolyCollection

    line = Line.of(facets[0])
    for (component, _, colour), f, bottom in zip(sides, facets, (0.58, 0.12), strict=True):
        middle, half = line.place(f)
        part = made[component][f.cell]
        x = np.stack([middle - half, middle + half, middle + half, middle - half], axis=1)
        y = np.broadcast_to([bottom, bottom, bottom + 0.28, bottom + 0.28], x.shape)
        # white lines between cells only as long as they leave room for the colours
        rule = "white" if len(part) < 250 else "face"
        axes.add_collection(PolyCollection(list(np.stack([x, y], axis=-1)), facecolors=RGB[colour[part]],
                                           edgecolors=rule, linewidths=0.3))
        order = np.argsort(middle, kind="stable")
        for run in np.split(order, np.flatnonzero(np.diff(part[order])) + 1):
            if 2 * half[run].sum() >= 0.02 * line.length:
                _label(axes, float(middle[run].mean()), bottom + 0.14, int(part[run[0]]))
        axes.text(0, bottom + 0.3, component, fontsize=9.5, color=FAINT, va="bottom")
    axes.set_xlim(0, line.length)
    axes.set_ylim(0, 1)
    title(axes, name, f"laid straight: parts of {letters[0]} above, of {letters[1]} below")


def _fit(axes: Any, corners: NDArray[np.float64]) -> None:
    low, high = corners.min(axis=(0, 1)), corners.max(axis=(0, 1))
    room = 0.02 * max(high - low)
    axes.set_xlim(low[0] - room, high[0] + room)
    axes.set_ylim(low[1] - room, high[1] + room)
    axes.set_aspect("equal")


__all__ = ["draw_interface", "draw_outline", "draw_strip"]
