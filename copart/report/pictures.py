"""One picture of a coupled problem: meshes, interfaces, coupling matrices.

Above, all meshes coloured by part, each turned so that its largest interface shows,
and each interface seen face-on from its first component with the parts of
either side; below, the coupling matrix of every scheme.  A part has one
colour throughout, and its number where it owns coupled cells.
"""

from __future__ import annotations

import os
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ..coupling import CoPartition, CoupledProblem
from ..errors import ConfigError
from ..formats import prepare_folder
from ..mesh import Mesh
from ..mesh.interfaces.surface import Surface
from ..metrics.columns import letter_of, plural
from .drawing import palette, parts_seen, shaded
from .palette import component_colours
from .pictures_interface import draw_interface, draw_outline, draw_strip
from .pictures_matrix import draw_matrix
from .pictures_style import INK, title, write_picture
from .projection import Chart, interface, mean_normal
from .scene import mesh_scene, whole_boundary

_WIDTH = 17.0
#: Inches: of one row of meshes or interfaces with its titles, of lines laid straight, of matrices, and above them all.
_VIEW, _STRIP, _MATRIX, _HEAD = 5.1, 3.4, 4.5, 0.8
#: Panels side by side.
_VIEWS, _MATRICES = 4, 3

Colours = Mapping[str, Mapping[str, NDArray[np.int64]]]
"""Number of the colour of each part, by scheme and component."""
Panel = tuple[int, Callable[[Any], None]]
"""How many columns a panel takes, and what draws it on its axes."""


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
    meshes : mapping of str to Mesh
        By component; unless all have one, only the matrices are drawn.
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
    colours = {scheme: component_colours(problem, made) for scheme, made in copartitions.items()}
    views: list[list[Panel]] = []
    if all(name in meshes for name in problem.names):
        surfaces = {name: whole_boundary(meshes[name]) for name in problem.names}
        drawn = [_mesh_panel(problem, meshes, surfaces, name, chosen, shown, colours[shown]) for name in problem.names]
        faces = [_interface_panels(problem, meshes, surfaces, pair, chosen, colours[shown]) for pair in problem.pairs]
        # two meshes and their interface stand in one row
        views = _rows([drawn, *faces]) if len(drawn) == 2 else [*_rows([[one] for one in drawn]), *_rows(faces)]
    schemes = list(copartitions.items())
    across = min(len(schemes), _MATRICES) if len(schemes) != 4 else 2
    matrices = [schemes[i:i + across] for i in range(0, len(schemes), across)]
    tall = [_STRIP if all(size == 2 for size, _ in row) else _VIEW for row in views]
    height = _HEAD + sum(tall) + _MATRIX * len(matrices)
    figure = Figure(figsize=(_WIDTH, height), dpi=110, facecolor="white")
    _headline(figure, problem, chosen, height)
    at = height - _HEAD
    for row, inches in zip(views, tall, strict=True):
        grid = figure.add_gridspec(1, sum(size for size, _ in row), left=0.03, right=0.98, top=(at - 0.6) / height,
                                   bottom=(at - inches + 0.3) / height, wspace=0.10)
        column = 0
        for size, draw in row:
            draw(figure.add_subplot(grid[0, column:column + size]))
            column += size
        at -= inches
    for some in matrices:
        grid = figure.add_gridspec(1, len(some), left=0.06, right=0.985, top=(at - 0.5) / height,
                                   bottom=(at - _MATRIX + 0.75) / height, wspace=0.2)
        for i, (scheme, made) in enumerate(some):
            draw_matrix(figure.add_subplot(grid[0, i]), problem, made, scheme, colours[scheme])
        at -= _MATRIX
    return write_picture(figure, path)


def _rows(units: Sequence[Sequence[Panel]]) -> list[list[Panel]]:
    """Panels in as few rows as their columns allow, about as many in each; those of a unit stay side by side."""
    few = len(_filled(units, _VIEWS))
    return next(rows for most in range(1, _VIEWS + 1) if len(rows := _filled(units, most)) == few)


def _filled(units: Sequence[Sequence[Panel]], most: int) -> list[list[Panel]]:
    """Rows of at most so many columns, or of one unit that has more."""
    out: list[list[Panel]] = []
    room = 0
    for unit in units:
        size = sum(columns for columns, _ in unit)
        if size > room:
            out.append([])
            room = most
        out[-1] += unit
        room -= size
    return out


def _headline(figure: Any, problem: CoupledProblem, made: CoPartition, height: float) -> None:
    said = [f"{name}: {graph.nvtxs:,} {plural(graph.nvtxs, 'cell')} in {made.nparts[name]} "
            + plural(made.nparts[name], "part")
            for name, graph in problem.components.items()]
    text = "      ".join(said)
    # long ones, of many components, in smaller letters
    figure.suptitle(text, x=0.03, y=1 - 0.27 / height, ha="left", fontsize=min(17.0, 17 * 115 / len(text)), color=INK,
                    fontweight="bold")


# ---- meshes and interfaces
def _mesh_panel(problem: CoupledProblem, meshes: Mapping[str, Mesh], surfaces: Mapping[str, Surface], name: str,
                made: CoPartition, scheme: str, colours: Mapping[str, NDArray[np.int64]]) -> Panel:
    """A mesh, turned so that its largest interface shows."""
    mesh, toward = meshes[name], None
    mine = sorted((pair for pair in problem.pairs if name in pair), key=lambda pair: -len(problem.pairs[pair]))
    if mine:
        other = mine[0][1] if mine[0][0] == name else mine[0][0]
        toward = mean_normal(_facets(problem, meshes, surfaces, name, other), mesh.dimension)

    def draw(axes: Any) -> None:
        scene = mesh_scene(mesh, surfaces[name], toward)
        pixels = shaded(scene, parts_seen(scene, made[name]), colours[name])
        axes.imshow(np.dstack([palette()[pixels], np.where(pixels, 255, 0).astype(np.uint8)]))
        turned = "" if mesh.dimension < 3 or toward is None else "; an interface faces you" if len(mine) > 1 else \
            "; the interface faces you"
        title(axes, f"{_letter(problem, name)}: {name}", f"by part, {scheme}{turned}{_own_line(scene.note)}")

    return 1, draw


def _own_line(note: str) -> str:
    """A note after a semicolon on a line of its own."""
    return note.replace("; ", "\n", 1)


def _interface_panels(problem: CoupledProblem, meshes: Mapping[str, Mesh], surfaces: Mapping[str, Surface],
                      pair: tuple[str, str], made: CoPartition,
                      colours: Mapping[str, NDArray[np.int64]]) -> list[Panel]:
    """Both sides of an interface face-on, or one that is a line laid straight; nothing where there is no surface."""
    a, b = pair
    facets = [_facets(problem, meshes, surfaces, a, b), _facets(problem, meshes, surfaces, b, a)]
    if len(facets[0].cell) == 0 or len(facets[1].cell) == 0 or \
            (facets[0].corners.shape[1] == 2) != (facets[1].corners.shape[1] == 2):  # a line in a volume
        return []
    sides = [_letter(problem, name) for name in pair]
    which = "interface" if len(problem.names) == 2 else f"interface {sides[0]} - {sides[1]}"
    if facets[0].corners.shape[1] == 2 and facets[1].corners.shape[1] == 2:
        ends = [(name, meshes[name], colours[name]) for name in pair]
        return [(2, lambda axes: draw_strip(axes, facets, made, ends, which, sides))]
    chart = Chart.of(facets[0], meshes[a].dimension)
    flat = [chart.flat(f) for f in facets]
    how, _, stretch = chart.how.partition("; ")

    def side(axes: Any, i: int) -> None:
        draw_interface(axes, flat[i], made[pair[i]][facets[i].cell], colours[pair[i]])
        note = f"parts of {sides[i]}"
        if i == 1:
            draw_outline(axes, flat[0], made[a][facets[0].cell])
            note += f"; black: borders between parts of {sides[0]}"
        title(axes, f"{which} {how}, side {sides[i]}", "\n".join(filter(None, (note, stretch))))

    return [(1, lambda axes: side(axes, 0)), (1, lambda axes: side(axes, 1))]


def _facets(problem: CoupledProblem, meshes: Mapping[str, Mesh], surfaces: Mapping[str, Surface], name: str,
            other: str) -> Surface:
    """The facets of a component at its interface with another."""
    relation = problem.facing(name, other)
    assert relation is not None
    return interface(meshes[name], meshes[other], relation.coupled_a, relation.coupled_b,
                     (surfaces[name], surfaces[other]))


def _letter(problem: CoupledProblem, name: str) -> str:
    return letter_of(problem.names.index(name)).upper()


__all__ = ["draw_coupled", "need_matplotlib"]
