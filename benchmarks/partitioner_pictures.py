"""Pictures for the page of the partitioner's benchmarks."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from .peers_table import REFERENCE, Entry, Results, is_ours

OURS, OTHERS, FRONT = "#0072B2", "#8C8C8C", "#D55E00"


def draw(results: Results, path: Path) -> None:
    """The Pareto picture: cut against time, both over METIS k-way, and the front of the filled points."""
    from matplotlib.backends.backend_agg import FigureCanvasAgg
    from matplotlib.figure import Figure
    from matplotlib.ticker import LogLocator, NullFormatter, StrMethodFormatter

    count = {e: len(results.shared(e, REFERENCE)) for e in results.entries}
    most = max(count.values(), default=0)
    points = sorted((results.ratio(e, "seconds"), results.ratio(e, "cut"), e) for e in results.entries if count[e])
    figure = Figure(figsize=(9, 6), layout="constrained")
    FigureCanvasAgg(figure)  # the sizes of texts are needed before saving
    axes = figure.add_subplot()
    for ours, colour, marker, size in ((False, OTHERS, "o", 30), (True, OURS, "D", 55)):
        for everywhere in (True, False):
            some = [p for p in points if is_ours(p[2]) == ours and (count[p[2]] == most) == everywhere]
            if some:
                axes.scatter([p[0] for p in some], [p[1] for p in some], size, marker=marker, edgecolors=colour,
                             facecolors=colour if everywhere else "none", zorder=3,
                             label=("copart" if ours else "others") + ("" if everywhere else ", some graphs only"))
    front: list[tuple[float, float, Entry]] = []
    for p in points:
        if count[p[2]] == most and (not front or p[1] < front[-1][1]):
            front.append(p)
    if front:
        axes.step([p[0] for p in front], [p[1] for p in front], where="post", color=FRONT, linewidth=1, zorder=1,
                  label="front: no filled point has less of both")
    axes.set_xscale("log")
    axes.margins(x=0.12)
    axes.xaxis.set_major_locator(LogLocator(subs=(1.0, 2.0, 5.0)))
    axes.xaxis.set_major_formatter(StrMethodFormatter("{x:g}"))
    axes.xaxis.set_minor_formatter(NullFormatter())
    axes.set_xlabel("time over METIS k-way; (2): two threads")
    axes.set_ylabel("cut over METIS k-way")
    axes.grid(alpha=0.25)
    if points:
        axes.legend(frameon=False, fontsize=8)
    _name(figure, axes, points)
    path.parent.mkdir(exist_ok=True)
    figure.savefig(path, dpi=110, metadata={"Software": None})


def _name(figure: Any, axes: Any, points: list[tuple[float, float, Entry]]) -> None:
    """A name beside every point, ours first, each at the first place that is still empty."""
    figure.draw_without_rendering()
    renderer = figure.canvas.get_renderer()
    marks = axes.transData.transform([(x, y) for x, y, _ in points])
    taken = [(x - 5, y - 5, x + 5, y + 5) for x, y in marks]
    places = [(side, dy) for dy in (0, 8, -8, 16, -16, 24, -24, 32, -32, 40, -40) for side in (1, -1)]
    for x, y, entry in sorted(points, key=lambda p: not is_ours(p[2])):
        text = f"{entry[0]} ({entry[1]})" if entry[1] > 1 else entry[0]
        ours = is_ours(entry)
        for side, dy in places:
            label = axes.annotate(text, (x, y), xytext=(7 * side, dy), textcoords="offset points", fontsize=7,
                                  va="center", ha="left" if side > 0 else "right", color=OURS if ours else "#555555",
                                  fontweight="bold" if ours else "normal",
                                  arrowprops={"arrowstyle": "-", "lw": 0.4, "color": OTHERS} if abs(dy) > 8 else None)
            box = label.get_window_extent(renderer)
            own = (box.x0, box.y0, box.x1, box.y1)
            inside = axes.bbox.x0 < own[0] and own[2] < axes.bbox.x1
            if inside and not any(a[0] < own[2] and own[0] < a[2] and a[1] < own[3] and own[1] < a[3] for a in taken):
                break
            if (side, dy) != places[-1]:
                label.remove()
        taken.append(own)


def draw_growth(lines: list[dict[str, Any]], path: Path) -> None:
    """Time against edges, both logarithmic, beside times linear in the edges."""
    from matplotlib.figure import Figure

    figure = Figure(figsize=(6, 4), layout="constrained")
    axes = figure.add_subplot()
    for preset, threads in sorted({(x["preset"], x["threads"]) for x in lines}):
        some = [x for x in lines if (x["preset"], x["threads"]) == (preset, threads)]
        edges = [x["m"] for x in some]
        own, = axes.loglog(edges, [x["seconds"] for x in some], "D-",
                           label=f"{preset}, {threads} thread{'s' if threads > 1 else ''}")
        axes.loglog(edges, [some[0]["seconds"] * m / edges[0] for m in edges], ":", color=own.get_color())
    axes.plot([], [], ":", color=OTHERS, label="linear in the edges")
    axes.set_xlabel("edges")
    axes.set_ylabel("time s")
    axes.grid(alpha=0.25, which="both")
    axes.legend(frameon=False)
    figure.savefig(path, dpi=110, metadata={"Software": None})
