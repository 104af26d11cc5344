"""One picture of a coupled problem: meshes, interface, coupling matrices.

Above, both meshes coloured by part, each turned so that its side of the
interface shows, and the interface seen face-on from A with the parts of
either side; below, the coupling matrix of every scheme.  A part has one
colour throughout, and its number where it owns coupled cells.
"""

from __future__ import annotations

import os
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ..coupling import CoPartition, CoupledProblem
from ..errors import ConfigError
from ..formats import prepare_folder
from ..mesh import Mesh
from ..mesh.surface import Surface
from ..metrics import evaluate
from .ordering import nearly_diagonal
from .palette import colour_parts
from .projection import Chart, Line, interface, mean_normal, visible

INK = "#22303C"
FAINT = "#6B7885"


def need_matplotlib(path: str | os.PathLike[str] = "picture.png") -> None:
    """Refuse a picture that cannot be drawn, before the work.

    Raises
    ------
    ConfigError
        matplotlib is not installed, or `path` cannot be written or has no picture format.
    """
    try:
        from matplotlib.figure import Figure
    except ImportError:
        raise ConfigError("picture: needs matplotlib; install copart[plot]") from None
    known = Figure().canvas.get_supported_filetypes()
    if Path(path).suffix.lower().lstrip(".") not in known:
        raise ConfigError(f"picture: {os.fspath(path)!r} has no known format; use one of {', '.join(sorted(known))}")
    prepare_folder(Path(path).parent)


def draw_coupled(path: str | os.PathLike[str], problem: CoupledProblem, meshes: Mapping[str, Mesh],
                 copartitions: Mapping[str, CoPartition], shown: str) -> Path:
    """Draw the picture of a coupled problem and its co-partitions.

    Parameters
    ----------
    path : path
        Where to; the suffix chooses the format.
    problem : CoupledProblem
        Of two components.
    meshes : mapping of str to Mesh
        By component; without both of them only the matrices are drawn.
    copartitions : mapping of str to CoPartition
        By scheme, in the order of the matrices.
    shown : str
        The scheme whose parts colour the meshes.

    Returns
    -------
    Path
        The file.
    """
    need_matplotlib(path)
    from matplotlib.figure import Figure

    chosen = copartitions[shown]
    solid = all(name in meshes for name in problem.names[:2])
    colours = [_colours(problem, copartitions, name) for name in problem.names[:2]]
    columns = max(2, len(copartitions))
    figure = Figure(figsize=(17, 10.6 if solid else 5.6), dpi=110, facecolor="white")
    figure.suptitle(_headline(problem, chosen), x=0.03, y=0.975 if solid else 0.96, ha="left", fontsize=17, color=INK,
                    fontweight="bold")
    if solid:
        _draw_meshes(figure.add_gridspec(1, 4, left=0.03, right=0.98, top=0.86, bottom=0.46, wspace=0.10), figure,
                     problem, meshes, chosen, shown, colours)
    below = figure.add_gridspec(1, columns, left=0.06, right=0.985, top=0.355 if solid else 0.80,
                                bottom=0.055 if solid else 0.09, wspace=0.2)
    for i, (scheme, made) in enumerate(copartitions.items()):
        _draw_matrix(figure.add_subplot(below[0, i]), problem, made, scheme, colours)
    # a picture is complete or not there
    target = Path(path)
    target.parent.mkdir(parents=True, exist_ok=True)
    scratch = target.with_name(f".{os.getpid()}-{target.name}")
    try:
        figure.savefig(scratch)
        os.replace(scratch, target)
    finally:
        scratch.unlink(missing_ok=True)
    return target


def _headline(problem: CoupledProblem, made: CoPartition) -> str:
    a, b = problem.names[:2]
    return (f"{a}: {problem.components[a].nvtxs:,} cells in {made.nparts[a]} parts      "
            f"{b}: {problem.components[b].nvtxs:,} cells in {made.nparts[b]} parts")


def _colours(problem: CoupledProblem, copartitions: Mapping[str, CoPartition], name: str) -> dict[str, Any]:
    """Colours of the parts of a component, by scheme."""
    graph = problem.components[name]
    out = {}
    for scheme, made in copartitions.items():
        u, v, _ = graph.quotient(made[name], made.nparts[name]).edges()
        out[scheme] = colour_parts(made.nparts[name], zip(u.tolist(), v.tolist(), strict=True))
    return out


# ---- meshes and interface
def _draw_meshes(grid: Any, figure: Any, problem: CoupledProblem, meshes: Mapping[str, Mesh], made: CoPartition,
                 scheme: str, colours: list[dict[str, Any]]) -> None:
    a, b = problem.names[:2]
    sides = [(a, meshes[a], colours[0][scheme]), (b, meshes[b], colours[1][scheme])]
    coupled = {name: problem.coupled(name) for name in (a, b)}
    facets = [interface(meshes[a], meshes[b], coupled[a], coupled[b]),
              interface(meshes[b], meshes[a], coupled[b], coupled[a])]
    for i, (name, mesh, colour) in enumerate(sides):
        axes = figure.add_subplot(grid[0, i])
        toward = mean_normal(facets[i], mesh.dimension)
        _draw_mesh(axes, mesh, made[name], colour, toward)
        turned = "; the interface faces you" if mesh.dimension == 3 and toward is not None else ""
        _title(axes, f"{'AB'[i]}: {name}", f"by part, {scheme}{turned}")
    if len(facets[0].cell) == 0 or len(facets[1].cell) == 0:
        return
    if facets[0].corners.shape[1] == 2 and facets[1].corners.shape[1] == 2:
        _draw_strip(figure.add_subplot(grid[0, 2:]), facets, made, sides)
        return
    chart = Chart.of(facets[0], meshes[a].dimension)
    flat = [chart.flat(f) for f in facets]
    for i, (name, _, colour) in enumerate(sides):
        axes = figure.add_subplot(grid[0, 2 + i])
        _draw_interface(axes, flat[i], made[name][facets[i].cell], colour)
        note = "parts of A"
        if i == 1:
            _outline(axes, flat[0], made[a][facets[0].cell])
            note = "parts of B; black: borders between parts of A"
        how = "face-on" if chart.around is None else "unrolled"
        _title(axes, f"interface {how}, side {'AB'[i]}", note)


def _title(axes: Any, text: str, note: str) -> None:
    axes.set_axis_off()
    axes.set_anchor("N")
    _caption(axes, text, note)


def _caption(axes: Any, text: str, note: str) -> None:
    axes.annotate(text, (0, 1), (0, 24), "axes fraction", "offset points", fontsize=13, color=INK, fontweight="bold")
    axes.annotate(note, (0, 1), (0, 8), "axes fraction", "offset points", fontsize=9.5, color=FAINT)


def _draw_mesh(axes: Any, mesh: Mesh, part: NDArray[np.int32], colour: NDArray[np.float64], toward: Any) -> None:
    from matplotlib.collections import PolyCollection

    seen = visible(mesh, toward)
    fill = colour[part[seen.cell]] * seen.shade[:, None]
    # thin lines show the cells as long as there is room for them
    few = len(seen.cell) < 12_000
    edge = np.clip(fill * 0.72, 0, 1) if few else fill
    axes.add_collection(PolyCollection(list(seen.corners), facecolors=fill, edgecolors=edge,
                                       linewidths=0.3 if few else 0.15))
    _fit(axes, seen.corners)


def _fit(axes: Any, corners: NDArray[np.float64]) -> None:
    low, high = corners.min(axis=(0, 1)), corners.max(axis=(0, 1))
    room = 0.02 * max(high - low)
    axes.set_xlim(low[0] - room, high[0] + room)
    axes.set_ylim(low[1] - room, high[1] + room)
    axes.set_aspect("equal")


def _draw_interface(axes: Any, flat: NDArray[np.float64], part: NDArray[np.int32], colour: NDArray[np.float64]) -> None:
    from matplotlib.collections import PolyCollection

    fill = colour[part]
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


def _outline(axes: Any, flat: NDArray[np.float64], part: NDArray[np.int32]) -> None:
    """Draw the borders between parts."""
    from matplotlib.collections import LineCollection

    borders = [(flat[f, i], flat[f, j]) for f, i, j, other in _shared_edges(flat) if part[f] != part[other]]
    axes.add_collection(LineCollection(borders, colors="black", linewidths=1.7, capstyle="round", zorder=4))


def _draw_strip(axes: Any, facets: list[Surface], made: CoPartition, sides: list[Any]) -> None:
    """A one-dimensional interface by arc length along A: the parts of A above, those of B below."""
    from matplotlib.collections import PolyCollection

    line = Line.of(facets[0])
    for (name, _, colour), f, bottom in zip(sides, facets, (0.53, 0.15), strict=True):
        middle, half = line.place(f)
        part = made[name][f.cell]
        x = np.stack([middle - half, middle + half, middle + half, middle - half], axis=1)
        y = np.broadcast_to([bottom, bottom, bottom + 0.32, bottom + 0.32], x.shape)
        # white lines between cells only as long as they leave room for the colours
        rule = "white" if len(part) < 250 else "face"
        axes.add_collection(PolyCollection(list(np.stack([x, y], axis=-1)), facecolors=colour[part], edgecolors=rule,
                                           linewidths=0.3))
        order = np.argsort(middle, kind="stable")
        for run in np.split(order, np.flatnonzero(np.diff(part[order])) + 1):
            if 2 * half[run].sum() >= 0.02 * line.length:
                _label(axes, float(middle[run].mean()), bottom + 0.16, int(part[run[0]]))
        axes.text(0, bottom + 0.335, name, fontsize=9.5, color=FAINT, va="bottom")
    axes.set_xlim(0, line.length)
    axes.set_ylim(0, 1)
    _title(axes, "interface", "laid straight: parts of A above, of B below")


# ---- matrices
def _draw_matrix(axes: Any, problem: CoupledProblem, made: CoPartition, scheme: str,
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
    _caption(axes, scheme.upper(),
             f"totV {pair.totV_ab:,}, totZ {pair.totZ}; coupled imbalance {a.ub_cpl:.0%} and {b.ub_cpl:.0%}")


def _chips(axes: Any, colours: NDArray[np.float64], vertical: bool) -> None:
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
        axes.add_patch(Rectangle(corner, *size, transform=axes.transAxes, facecolor=colour, edgecolor="white",
                                 linewidth=0.6, clip_on=False))


def _small(count: int) -> float:
    return 9.0 if count <= 24 else 7.5 if count <= 40 else 5.0


def _blues() -> Any:
    from matplotlib.colors import LinearSegmentedColormap

    return LinearSegmentedColormap.from_list("volume", ["#DCEAF5", "#7FB2D9", "#2E6FA7", "#12395B"])


__all__ = ["draw_coupled", "need_matplotlib"]
