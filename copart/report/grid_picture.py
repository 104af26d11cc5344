"""A grid of processes, coloured by compute node.

One and two dimensions are drawn as they are; of more, every plane of the last two dimensions is one panel, the
first dimensions by rows and columns of panels.  Nodes that meet have different colours; borders between nodes are
lines; where there is room, every process carries the number of its node.
"""

from __future__ import annotations

import math
import os
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from ..arrays import VERTEX, integers
from ..errors import MappingError
from .palette import RGB, colour_numbers
from .pictures import need_matplotlib
from .pictures_style import FAINT, INK, write_picture

#: More positions than these are pixels without numbers.
NUMBERED = 4096


def panels(dims: Sequence[int], node_of_vertex: ArrayLike) -> list[tuple[str, NDArray[np.int32]]]:
    """The planes of a grid: for each its name and the (rows, columns) int32 compute nodes of its processes.

    Parameters
    ----------
    dims : sequence of int
        Sizes of the grid.
    node_of_vertex : (size,) array_like of int
        Compute node of the process at each position, row-major.

    Examples
    --------
    >>> [(name, plane.tolist()) for name, plane in panels((2, 1, 2), [0, 0, 1, 1])]
    [('0, :, :', [[0, 0]]), ('1, :, :', [[1, 1]])]
    """
    node = integers("node_of_vertex", node_of_vertex, VERTEX, MappingError, low=0, size=math.prod(dims))
    shape = (1, *dims) if len(dims) == 1 else tuple(dims)
    box = node.reshape(shape)
    outer = list(np.ndindex(*shape[:-2]))
    return [(", ".join([*map(str, where), ":", ":"]) if where else "", box[where]) for where in outer]


def node_colours(dims: Sequence[int], node_of_vertex: ArrayLike) -> NDArray[np.int64]:
    """(nnodes,) int64 place in the palette of the colour of each node, different where nodes meet in the grid."""
    node = np.asarray(node_of_vertex)
    box = node.reshape(tuple(dims))
    meets = set()
    for axis in range(box.ndim):
        a, b = np.delete(box, -1, axis).ravel(), np.delete(box, 0, axis).ravel()
        meets |= set(zip(a[a != b].tolist(), b[a != b].tolist(), strict=True))
    return colour_numbers(int(node.max()) + 1, sorted(meets))


def draw_grid(path: str | os.PathLike[str], dims: Sequence[int],
              placements: Sequence[tuple[str, ArrayLike]]) -> Path:
    """Draw placements of the same grid, beside one another where there is room, else below.

    Parameters
    ----------
    path : path
        Where to; the suffix chooses the format.
    dims : sequence of int
        Sizes of the grid.
    placements : sequence of (str, (size,) array_like of int)
        Name, and compute node of the process at each position.

    Returns
    -------
    Path
        The file.
    """
    need_matplotlib(path)
    from matplotlib.figure import Figure

    planes = [panels(dims, node) for _, node in placements]
    across = min(len(planes[0]), 6)
    rows = math.ceil(len(planes[0]) / across)
    height, width = planes[0][0][1].shape
    # inches: of a position, a gap between panels, a heading
    unit, gap, heading = min(2.6 / max(width, height), 0.5), 0.3, 0.45
    tall = heading + rows * (height * unit + gap)
    wide = max(across * (width * unit + gap) + gap, 4.0)
    beside = rows == 1 and len(placements) * across <= 6
    figure = Figure(figsize=(wide * len(placements), tall) if beside else (wide, tall * len(placements)), dpi=110,
                    facecolor="white")
    bands = figure.subfigures(1 if beside else len(placements), len(placements) if beside else 1, squeeze=False).ravel()
    for band, (name, node), drawn in zip(bands, placements, planes, strict=True):
        band.suptitle(name, x=0.02, ha="left", fontsize=11, color=INK, fontweight="bold")
        colour = node_colours(dims, node)
        axes = band.subplots(rows, across, squeeze=False)
        band.subplots_adjust(left=gap / wide, right=(across * (width * unit + gap)) / wide, top=1 - heading / tall,
                             bottom=gap / tall, wspace=gap / (width * unit), hspace=gap / (height * unit))
        for spare in axes.ravel()[len(drawn):]:
            spare.set_axis_off()
        for ax, (where, plane) in zip(axes.ravel(), drawn, strict=False):
            _draw_plane(ax, plane, colour, where, numbered=math.prod(dims) <= NUMBERED, size=unit)
    return write_picture(figure, path, bbox_inches="tight")


def _draw_plane(axes: Any, plane: NDArray[np.int32], colour: NDArray[np.int64], where: str, numbered: bool,
                size: float) -> None:
    axes.imshow(RGB[colour[plane]], interpolation="nearest")
    axes.set_xticks([])
    axes.set_yticks([])
    for spine in axes.spines.values():
        spine.set_edgecolor(INK)
    axes.set_xlabel(where, fontsize=7, color=FAINT, labelpad=2)
    down, right = np.nonzero(plane[1:] != plane[:-1]), np.nonzero(plane[:, 1:] != plane[:, :-1])
    lines = [[(x - 0.5, y + 0.5), (x + 0.5, y + 0.5)] for y, x in zip(*down, strict=True)]
    lines += [[(x + 0.5, y - 0.5), (x + 0.5, y + 0.5)] for y, x in zip(*right, strict=True)]
    from matplotlib.collections import LineCollection

    axes.add_collection(LineCollection(lines, colors=INK, linewidths=1.2 if numbered else 0.4))
    letters = min(11.0, 72 * size * 0.45)
    if numbered and letters >= 3.5:
        for (y, x), node in np.ndenumerate(plane):
            dark = RGB[colour[node]] @ (0.299, 0.587, 0.114) < 0.5
            axes.text(x, y, str(node), ha="center", va="center", fontsize=letters, color="white" if dark else INK)


__all__ = ["draw_grid", "node_colours", "panels"]
