"""Coupling matrices for pictures by themselves."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from ..coupling import CoPartition, CoupledProblem
from ..metrics import evaluate
from .ordering import nearly_diagonal
from .palette import RGB
from .pictures_style import FAINT, INK, caption


def draw_matrix(axes: Any, problem: CoupledProblem, made: CoPartition, scheme: str,
                 colours: list[dict[str, Any]]) -> None:
    """The coupling matrix between the parts that own coupled cells, nearly diagonal where it can be."""
    from matplotlib.colors import LogNorm

    figures = evaluate(problem, made)
    pair = figures.pair
    rows, columns = nearly_diagonal(pair.matrix)
    dense = pair.matrix.toarray()[np.ix_(rows, columns)].astype(float)
    shown = np.ma.masked_equal(dense, 0)
    axes.imshow(shown, cmap=_blues(), norm=LogNorm(vmin=1, vmax=max(2.0, dense.max(initial=1.0))), aspect="auto",
                interpolation="nearest", extent=(-0.5, len(columns) - 0.5, len(rows) - 0.5, -0.5))
    axes.set_xticks(np.arange(len(columns)), [str(c) for c in columns], fontsize=_small(len(columns)), color=INK)
    axes.set_yticks(np.arange(len(rows)), [str(r) for r in rows], fontsize=_small(len(rows)), color=INK)
    axes.set_xticks(np.arange(len(columns) + 1) - 0.5, minor=True)
    axes.set_yticks(np.arange(len(rows) + 1) - 0.5, minor=True)
    axes.grid(which="minor", color="#E3E8EC", linewidth=0.6)
    axes.tick_params(which="both", length=0, pad=11)
    for spine in axes.spines.values():
        spine.set_visible(False)
    _chips(axes, colours[0][scheme][rows], vertical=True)
    _chips(axes, colours[1][scheme][columns], vertical=False)
    if dense.size <= 260:
        for (i, j), value in np.ndenumerate(dense):
            if value:
                dark = np.log(value) > 0.6 * np.log(max(2.0, dense.max()))
                axes.text(j, i, f"{value:.0f}", ha="center", va="center", fontsize=7.5,
                          color="white" if dark else INK)
    a, b = figures.a, figures.b
    axes.set_ylabel(f"part of {a.name}", fontsize=9.5, color=FAINT)
    axes.set_xlabel(f"part of {b.name}", fontsize=9.5, color=FAINT)
    caption(axes, scheme.upper(),
             f"totV {pair.totV_ab:,}, totZ {pair.totZ}; coupled imbalance {a.ub_cpl:.0%} and {b.ub_cpl:.0%}")


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


def _small(count: int) -> float:
    return 9.0 if count <= 24 else 7.5 if count <= 40 else 5.0


def _blues() -> Any:
    from matplotlib.colors import LinearSegmentedColormap

    return LinearSegmentedColormap.from_list("volume", ["#DCEAF5", "#7FB2D9", "#2E6FA7", "#12395B"])


__all__ = ["draw_matrix"]
