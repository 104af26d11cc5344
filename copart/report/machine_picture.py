"""The machine with a coupled run on it: nodes by component, links by load, before and after; for pages and as PNG."""

from __future__ import annotations

import os
from collections.abc import Sequence
from dataclasses import dataclass
from html import escape
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from ..mapping.coupled.placed import Placed
from ..mapping.coupled.processes import PHASES
from .machine_layout import MOST, MOST_ALONE, SIDE, Layout, cable_loads, layout_of, need_drawable, shares
from .page import figure, views
from .palette import COLOURS
from .pictures_style import FAINT, INK, caption, write_picture

#: Tones of links: none, then from little to the most of the phase.
TONES = 8
#: The same in a picture by itself.
_RAMP = ((222, 214, 206), (165, 15, 21))


@dataclass(frozen=True, eq=False)
class Drawn:
    """One placement in one phase, ready to be drawn.

    Attributes
    ----------
    title, note : str
    layout : Layout
    share : (n, ncomponents + 1) float64
        Of the nodes drawn, by component, and free.
    tone : (m,) int64
        0 to :data:`TONES` for each line.
    """

    title: str
    note: str
    layout: Layout
    share: NDArray[np.float64]
    tone: NDArray[np.int64]


def drawn(placements: Sequence[Placed], most: int = MOST) -> list[Drawn]:
    """Each phase of each placement; tones of a phase are comparable.  Empty without routes, or where too large.

    Parameters
    ----------
    placements : sequence of Placed
        On one machine.
    most : int
        Nodes and routers that are drawn at most.
    """
    network = placements[0].sites.network if placements else None
    if network is None:
        return []
    loads = {phase: [cable_loads(network, one.loads(phase).congestion) for one in placements] for phase in PHASES}
    layout = layout_of(placements[0].sites, [load for some in loads.values() for load in some], most)
    if layout is None:
        return []
    out = []
    for phase, some in loads.items():
        top = max(float(load.max(initial=0)) for load in some) or 1.0
        for one, load in zip(placements, some, strict=True):
            tone = np.ceil(load[layout.cable] / top * TONES).astype(np.int64)
            note = (f" Busiest link: {float(load.max(initial=0)):,.6g} data over bandwidth; the thickest stand for "
                    f"{top * (TONES - 1) / TONES:,.6g} to {top:,.6g}.")
            title = f"{phase.capitalize()} phase, {one.label}"
            out.append(Drawn(title, note, layout, shares(one)[layout.point], tone))
    return out


def machine_figures(placements: Sequence[Placed]) -> str:
    """The pictures for the page, with a legend; empty where there is nothing to draw."""
    found = drawn(placements)
    if not found:
        return ""
    names = list(placements[0].processes.ranges)
    chips = " ".join(f'<span class="chip" style="--part:{COLOURS[i % len(COLOURS)]}"></span>{escape(name)}'
                    for i, name in enumerate(names))
    said = f"<p>Nodes: {chips}, as much of each as it has of the slots. {escape(_how(found[0].layout))}</p>"
    return "<h3>Links by load</h3>" + said + views([figure(one.title, one.note, _svg(one)) for one in found], 2)


def _how(layout: Layout) -> str:
    """What lines are."""
    if len(layout.frame) and layout.names:
        return ("Each frame is a plane of the network, its number below. The busier a link, the thicker and stronger "
                "its line; a stub at a corner stands for links to the next plane, one at the rim for the way around.")
    return ("The busier a link, the thicker and stronger its line; at the top of a box is what leads out of it." if
            len(layout.frame) > 1 else
            "The busier a link, the thicker and stronger its line; a stub at the rim stands for the way around.")


def _svg(one: Drawn) -> str:
    at, half = one.layout.at, SIDE / 2
    out = [f'<rect class="frame" x="{x:.2f}" y="{y:.2f}" width="{w:.2f}" height="{h:.2f}"/>'
           for x, y, w, h in one.layout.frame.tolist()]
    if one.layout.names:
        out += [f'<text class="plane" x="{x + w / 2:.2f}" y="{y + h + 0.4:.2f}">{escape(name)}</text>'
                for (x, y, w, h), name in zip(one.layout.frame.tolist(), one.layout.names, strict=True)]
    for tone in range(1, TONES + 1):
        mine = one.layout.line[one.tone == tone]
        if len(mine):
            path = "".join(f"M{a:.2f} {b:.2f}L{c:.2f} {d:.2f}" for a, b, c, d in mine.tolist())
            out.append(f'<path class="link tone{tone}" d="{path}"/>')
    there = one.share.sum(axis=1) > 0
    dots = "".join(f"M{x:.2f} {y:.2f}h0" for x, y in at[~there].tolist())
    out.append(f'<path class="router" d="{dots}"/>' if dots else "")
    left = np.cumsum(one.share, axis=1) - one.share
    for i in range(one.share.shape[1]):
        mine = np.flatnonzero(one.share[:, i] > 0)
        free = i == one.share.shape[1] - 1
        path = "".join(f"M{at[p, 0] - half + SIDE * left[p, i]:.2f} {at[p, 1] - half:.2f}h{SIDE * one.share[p, i]:.2f}"
                       f"v{SIDE:.2f}h-{SIDE * one.share[p, i]:.2f}z" for p in mine)
        colour = 'class="free"' if free else f'fill="{COLOURS[i % len(COLOURS)]}"'
        out.append(f'<path {colour} d="{path}"/>' if path else "")
    width, height = one.layout.size
    return (f'<svg class="picture machine" viewBox="0 0 {width:.2f} {height:.2f}" role="img" '
            f'aria-label="{escape(one.title)}:{escape(one.note)}">{"".join(out)}</svg>')


def draw_machine(path: str | os.PathLike[str], placements: Sequence[Placed]) -> Path:
    """Draw placements side by side, a row a phase (PNG, PDF or SVG); returns the file.

    Parameters
    ----------
    path : path-like
        Its suffix says which of the formats.
    placements : sequence of Placed
        On one machine: before, and after.

    Raises
    ------
    ConfigError
        matplotlib is not installed, or the format is not known.
    NotApplicableError
        The machine has no static routes, or very many nodes.
    """
    from .pictures import need_matplotlib

    need_matplotlib(path)
    from matplotlib.figure import Figure

    need_drawable(placements[0].sites)
    found = drawn(placements, MOST_ALONE)
    width, height = found[0].layout.size
    unit, across = min(7 / width, 6 / height, 0.6), len(placements)
    figure_ = Figure(figsize=(max(width * unit, 3.6) * across + 0.4, (height * unit + 0.75) * len(PHASES) + 0.5),
                     dpi=110, facecolor="white", layout="constrained")
    axes = figure_.subplots(len(PHASES), across, squeeze=False)
    for ax, one in zip(axes.ravel(), found, strict=True):
        _draw(ax, one, 72 * unit)
    from matplotlib.patches import Patch

    names = list(placements[0].processes.ranges)
    figure_.legend(handles=[Patch(color=COLOURS[i % len(COLOURS)], label=name) for i, name in enumerate(names)],
                   loc="outside lower left", frameon=False, ncols=len(names), fontsize=9.5, labelcolor=INK)
    return write_picture(figure_, path)


def _draw(ax: object, one: Drawn, points: float) -> None:
    """One picture; `points` are those of a step between nodes."""
    from typing import Any

    from matplotlib.collections import LineCollection, PatchCollection
    from matplotlib.patches import Rectangle

    axes: Any = ax
    width, height = one.layout.size
    axes.set(xlim=(0, width), ylim=(height, 0), aspect="equal")
    axes.set_axis_off()
    axes.set_anchor("NW")
    caption(axes, one.title, one.note.strip().partition(";")[0])
    axes.add_collection(PatchCollection([Rectangle((x, y), w, h) for x, y, w, h in one.layout.frame.tolist()],
                                        facecolor="none", edgecolor="#D5DCE2", linewidth=0.6))
    for (x, y, w, h), name in zip(one.layout.frame.tolist(), one.layout.names, strict=False):
        axes.text(x + w / 2, y + h + 0.4, name, ha="center", va="center", color=FAINT, fontsize=min(8, 0.5 * points))
    ramp = np.linspace(np.array(_RAMP[0]), np.array(_RAMP[1]), TONES + 1) / 255
    for tone in range(1, TONES + 1):
        lines = one.layout.line[one.tone == tone].reshape(-1, 2, 2)
        axes.add_collection(LineCollection(list(lines), colors=[ramp[tone]],
                                           linewidths=points * (0.04 + 0.02 * tone)))
    at, half = one.layout.at, SIDE / 2
    there = one.share.sum(axis=1) > 0
    axes.plot(*at[~there].T, linestyle="none", marker="o", markersize=0.1 * points, color="#B6C0C9",
              markeredgewidth=0)
    left = np.cumsum(one.share, axis=1) - one.share
    for i in range(one.share.shape[1]):
        boxes = [Rectangle((at[p, 0] - half + SIDE * left[p, i], at[p, 1] - half), SIDE * one.share[p, i], SIDE)
                 for p in np.flatnonzero(one.share[:, i] > 0)]
        colour = "#E4E9ED" if i == one.share.shape[1] - 1 else COLOURS[i % len(COLOURS)]
        axes.add_collection(PatchCollection(boxes, facecolor=colour, edgecolor="none"))


__all__ = ["TONES", "Drawn", "draw_machine", "drawn", "machine_figures"]
