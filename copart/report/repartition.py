"""The page of a repartitioning: what moves, and the parts before and after."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np
from numpy.typing import NDArray

from .. import __version__
from ..arrays import PartArray
from ..graph import Graph
from ..mesh import Mesh
from ..metrics import imbalance, migration_matrix, part_weights
from ..metrics.columns import REPARTITION_COLUMNS, plural
from .charts import bar_chart, histogram, histogram_edges, matrix_chart
from .coupled import mesh_figure
from .interface_views import Side
from .page import Section, document, figure, table, tiles, views, words
from .palette import colour_numbers
from .scene import cut_scene, mesh_scene, whole_boundary
from .words import number, repartition_words, some, times


def repartition_page(graph: Graph, old: PartArray, new: PartArray, m: int, n: int, figures: Mapping[str, Any],
                     mesh: Mesh | None = None, *, eps: float | None = None, name: str = "graph") -> str:
    """The page, as HTML.

    Parameters
    ----------
    graph : Graph
    old, new : (nvtxs,) int32
        PartArray before, ``0..m-1``, and after, ``0..n-1``; equal numbers are the same process.
    m, n : int
    figures : mapping
        With the keys of ``REPARTITION_COLUMNS``.
    mesh : Mesh, optional
        Without one there are no pictures.
    eps : float, optional
        Imbalance allowed.
    name : str
        What to call the graph or mesh.
    """
    moves = migration_matrix(old, new, m, n, graph.sizes)
    before, after = part_weights(graph, old, m), part_weights(graph, new, n)
    ub_before = float(imbalance(graph, old, m))
    sides = _sides(graph, old, new, m, n, moves)
    away = moves.tocoo()
    sizes = away.data[away.row != away.col]
    messages = figures["migration_messages"]
    lead = tiles([(f"{figures['migration_volume'] / max(int(moves.sum()), 1):.1%}", "of the data moves"),
                  (number(messages), f"{plural(messages, 'message')} of migration"),
                  (times(ub_before).removesuffix(" the mean"), "the mean: the slowest process before"),
                  (times(figures["ub"]).removesuffix(" the mean"), "the mean: the slowest process now")])
    sections = [
        Section("words", "In words", lead + words(repartition_words(figures, moves, ub_before))),
        Section("figures", "Figures", table(REPARTITION_COLUMNS, [figures])),
        Section("meshes", "Before and after", _pictures(mesh, sides)),
        Section("migration", "Migration matrix", _migration(moves, m, n, sides)),
        Section("load", "Load of every part", _loads(before, after, sides, eps)),
        Section("messages", "Message sizes", _messages(sizes)),
    ]
    return document(f"{name}, from {m} to {some(n, 'part')}", f"{graph.nvtxs:,} vertices, {graph.nedges:,} edges",
                    sections, f"copart {__version__}: method {figures['method']}, {figures['seconds']:.2f} s.")


def _sides(graph: Graph, old: PartArray, new: PartArray, m: int, n: int, moves: Any) -> tuple[Side, Side]:
    """Former and new parts; one colour per process, so that what keeps its colour has stayed."""
    most = max(m, n)
    meets: set[tuple[int, int]] = set()
    for part, count in ((old, m), (new, n)):
        u, v, _ = graph.quotient(part, count).edges()
        meets |= set(zip(u.tolist(), v.tolist(), strict=True))
    colour = colour_numbers(most, sorted(meets))
    out, into = np.asarray(moves.sum(axis=1)).ravel(), np.asarray(moves.sum(axis=0)).ravel()
    stay = np.zeros(most, np.int64)
    stay[:min(m, n)] = moves.diagonal()
    return (Side("a", "before", old, colour[:m], lambda p: f"former part {p}: {out[p]:,}, of which {stay[p]:,} stay"),
            Side("a", "after", new, colour[:n], lambda p: f"part {p}: {into[p]:,}, of which {stay[p]:,} were there"))


def _pictures(mesh: Mesh | None, sides: tuple[Side, Side]) -> str:
    if mesh is None:
        return ""
    surface = whole_boundary(mesh)
    scenes = [("by part", mesh_scene(mesh, surface, None))]
    if mesh.dimension == 3:
        scenes.append(("cut through the middle, by part", cut_scene(mesh, surface, None)))
    return views([mesh_figure(scene, side, side.name, note + scene.note)
                  for note, scene in scenes for side in sides], 2)


def _migration(moves: Any, m: int, n: int, sides: tuple[Side, Side]) -> str:
    svg = matrix_chart(moves, np.arange(m), np.arange(n), ("former part", "new part"), ("a", "a"),
                       (sides[0].colour, sides[1].colour), _tell_move, stays=True)
    note = "row: former part, column: new part; grey stays where it is"
    return views([figure("what goes where", note, svg, True)], 1)


def _tell_move(i: int, j: int, size: int) -> str:
    return f"{size:,} stay in part {i}" if i == j else f"{size:,} go from former part {i} to part {j}"


def _loads(before: NDArray[np.int64], after: NDArray[np.int64], sides: tuple[Side, Side], eps: float | None) -> str:
    out = []
    for load, side in zip((before, after), sides, strict=True):
        mean = float(load.sum()) / len(load)
        ub = float(load.max()) / mean - 1 if mean else 0.0
        out.append(figure(side.name, f"weight of each part; the slowest holds {times(ub)}",
                          bar_chart(load, mean, side.key, side.colour, side.tell, f"load of the parts {side.name}",
                                    eps), True))
    return views(out, 1)


def _messages(sizes: NDArray[np.int64]) -> str:
    if len(sizes) == 0:
        return ""
    edges = histogram_edges([sizes])
    svg = histogram(sizes, edges, int(np.histogram(sizes, edges)[0].max()), "histogram of the messages of migration")
    return views([figure("migration", "messages by the data they carry", svg)])


__all__ = ["repartition_page"]
