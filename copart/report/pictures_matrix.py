"""Coupling matrices for pictures by themselves."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ..coupling import CoPartition, CoupledProblem
from ..metrics import CoupledMetrics, evaluate
from .ordering import nearly_diagonal
from .palette import RGB
from .pictures_style import FAINT, INK, caption

#: Rows, and columns, that have room for a label each.
_ROOM = 40, 64


def draw_matrix(axes: Any, problem: CoupledProblem, made: CoPartition, scheme: str,
                 colours: Mapping[str, NDArray[np.int64]]) -> None:
    """The coupling matrix between the parts that own coupled cells, nearly diagonal where it can be.

    Of several pairs all are in one matrix: the first component of a pair in its rows, the second in its columns.

    Parameters
    ----------
    colours : mapping of str to (nparts,) int64
        Of the parts of each component.
    """
    from matplotlib.colors import LogNorm

    figures = evaluate(problem, made)
    pairs = figures.pairs
    sides = [[name for name in problem.names if any(name == pair[i] for pair in pairs)] for i in (0, 1)]
    matrix = _together(figures, made, sides)
    owners = [np.concatenate([np.full(made.nparts[name], i) for i, name in enumerate(side)]) for side in sides]
    parts = [np.concatenate([np.arange(made.nparts[name]) for name in side]) for side in sides]
    rows, columns = (order[np.argsort(owner[order], kind="stable")]
                     for order, owner in zip(nearly_diagonal(matrix), owners, strict=True))
    dense = matrix.toarray()[np.ix_(rows, columns)].astype(float)
    shown = np.ma.masked_equal(dense, 0)
    axes.imshow(shown, cmap=_blues(), norm=LogNorm(vmin=1, vmax=max(2.0, dense.max(initial=1.0))), aspect="auto",
                interpolation="nearest", extent=(-0.5, len(columns) - 0.5, len(rows) - 0.5, -0.5))
    for ticks, labels, room in zip((axes.set_yticks, axes.set_xticks), (parts[0][rows], parts[1][columns]), _ROOM,
                                   strict=True):
        at = np.arange(0, len(labels), max(-(-len(labels) // room), 1))
        ticks(at, [str(labels[i]) for i in at], fontsize=_small(len(labels), room), color=INK)
    if len(columns) > 24:
        # side by side they would run into one another
        axes.tick_params(axis="x", labelrotation=90)
    axes.set_xticks(np.arange(len(columns) + 1) - 0.5, minor=True)
    axes.set_yticks(np.arange(len(rows) + 1) - 0.5, minor=True)
    axes.grid(which="minor", color="#E3E8EC", linewidth=0.6)
    axes.tick_params(which="both", length=0, pad=11)
    for spine in axes.spines.values():
        spine.set_visible(False)
    for order, owner, side, vertical in zip((rows, columns), owners, sides, (True, False), strict=True):
        _chips(axes, np.concatenate([colours[name] for name in side])[order], vertical)
        for cut in np.flatnonzero(np.diff(owner[order])) + 0.5:
            (axes.axhline if vertical else axes.axvline)(cut, color=INK, linewidth=1.0)
    if dense.size <= 260:
        for (i, j), value in np.ndenumerate(dense):
            if value:
                dark = np.log(value) > 0.6 * np.log(max(2.0, dense.max()))
                axes.text(j, i, f"{value:.0f}", ha="center", va="center", fontsize=7.5,
                          color="white" if dark else INK)
    axes.set_ylabel(f"part of {', '.join(sides[0])}", fontsize=9.5, color=FAINT)
    axes.set_xlabel(f"part of {', '.join(sides[1])}", fontsize=9.5, color=FAINT)
    volume, messages = sum(p.totV_ab for p in pairs.values()), sum(p.totZ for p in pairs.values())
    uneven = [f"{c.ub_cpl:.0%}" for c in figures.components.values()]
    caption(axes, scheme.upper(), f"totV {volume:,}, totZ {messages}; coupled imbalance "
            f"{' and '.join(filter(None, [', '.join(uneven[:-1]), uneven[-1]]))}")


def _together(figures: CoupledMetrics, made: CoPartition, sides: Sequence[Sequence[str]]) -> Any:
    """The coupling matrices of all pairs as blocks of one."""
    from scipy.sparse import block_array, csr_array

    blocks = [[figures.pairs[a, b].matrix if (a, b) in figures.pairs else
               csr_array((made.nparts[a], made.nparts[b]), dtype=np.int64) for b in sides[1]] for a in sides[0]]
    return block_array(blocks, format="csr")


def _chips(axes: Any, colours: NDArray[np.int64], vertical: bool) -> None:
    """The colour of each part between the matrix and its number."""
    from matplotlib.patches import Rectangle

    box = axes.get_position()
    width, height = axes.figure.get_size_inches() * 72
    # as fractions of the axes, so that chips are equally thick (in points) on every matrix
    x, y = 1 / (box.width * width), 1 / (box.height * height)
    share = 1.0 / max(len(colours), 1)
    for i, colour in enumerate(colours):
        corner = (-8 * x, 1 - (i + 1) * share) if vertical else (i * share, -8 * y)
        size = (6 * x, share) if vertical else (share, 6 * y)
        axes.add_patch(Rectangle(corner, *size, transform=axes.transAxes, facecolor=RGB[colour], edgecolor="white",
                                 linewidth=0.6, clip_on=False))


def _small(count: int, room: int) -> float:
    """Size of the labels of so many rows or columns."""
    return 9.0 if count <= 24 else 7.5 if count <= 0.6 * room else 5.0


def _blues() -> Any:
    from matplotlib.colors import LinearSegmentedColormap

    return LinearSegmentedColormap.from_list("volume", ["#DCEAF5", "#7FB2D9", "#2E6FA7", "#12395B"])


__all__ = ["draw_matrix"]
