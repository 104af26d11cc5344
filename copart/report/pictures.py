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
from .drawing import palette, parts_seen, shaded
from .palette import part_colours
from .pictures_interface import draw_interface, draw_outline, draw_strip
from .pictures_matrix import draw_matrix
from .pictures_style import INK, title
from .projection import Chart, interface, mean_normal
from .scene import mesh_scene, whole_boundary


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
        draw_matrix(figure.add_subplot(below[0, i]), problem, made, scheme, colours)
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
    """Numbers of the colours of the parts of a component, by scheme."""
    graph = problem.components[name]
    return {scheme: part_colours(graph, made[name], made.nparts[name]) for scheme, made in copartitions.items()}


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
        title(axes, f"{'AB'[i]}: {name}", f"by part, {scheme}{turned}")
    if len(facets[0].cell) == 0 or len(facets[1].cell) == 0:
        return
    if facets[0].corners.shape[1] == 2 and facets[1].corners.shape[1] == 2:
        draw_strip(figure.add_subplot(grid[0, 2:]), facets, made, sides)
        return
    chart = Chart.of(facets[0], meshes[a].dimension)
    flat = [chart.flat(f) for f in facets]
    for i, (name, _, colour) in enumerate(sides):
        axes = figure.add_subplot(grid[0, 2 + i])
        draw_interface(axes, flat[i], made[name][facets[i].cell], colour)
        note = "parts of A"
        if i == 1:
            draw_outline(axes, flat[0], made[a][facets[0].cell])
            note = "parts of B; black: borders between parts of A"
        how = "face-on" if chart.around is None else "unrolled"
        title(axes, f"interface {how}, side {'AB'[i]}", note)


def _draw_mesh(axes: Any, mesh: Mesh, part: NDArray[np.int32], colour: NDArray[np.int64], toward: Any) -> None:
    scene = mesh_scene(mesh, whole_boundary(mesh), toward)
    pixels = shaded(scene, parts_seen(scene, part), colour)
    axes.imshow(np.dstack([palette()[pixels], np.where(pixels, 255, 0).astype(np.uint8)]))


__all__ = ["draw_coupled", "need_matplotlib"]
