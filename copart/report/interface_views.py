"""The interface of a coupled pair: either side with its parts, and the interedges between them."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from html import escape
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ..arrays import PartArray
from ..coupling import Interedges
from ..mesh import Mesh
from ..mesh.interfaces.surface import Surface
from .drawing import NOTHING, STRONG, WEAK, borders, numbers, part_areas, parts_seen, picture, shaded
from .palette import COLOURS
from .projection import Chart, Line, interface
from .scene import FINE, Scene, flat_scene, frame_of

Points = NDArray[np.float64]
Tell = Callable[[int], str]

#: More interedges than these are thinned out evenly.
MOST_LINES = 10_000


@dataclass(frozen=True)
class Side:
    """One component of the pair as it is drawn."""

    key: str
    """Prefix of the parts' keys on the page."""
    name: str
    part: PartArray
    colour: NDArray[np.int64]
    """(nparts,) number of the colour of each part."""
    tell: Tell


@dataclass(frozen=True)
class FaceOn:
    """An interface that is a surface, laid flat; serves every partition."""

    scenes: tuple[Scene, Scene]
    lines: Points
    """(n, 2, 2) ends of interedges on the page."""
    cells: NDArray[np.int32]
    """(n,) cell of A of each."""
    how: str
    """How it was laid flat: face-on or unrolled."""
    shown: float
    """Share of the interedges that are drawn."""

    def views(self, a: Side, b: Side) -> list[tuple[str, str, str]]:
        """Title, note and SVG of the pictures."""
        seen = [parts_seen(scene, side.part) for scene, side in zip(self.scenes, (a, b), strict=True)]
        out = []
        for i, (side, scene, note) in enumerate(zip((a, b), self.scenes, (
                f"the parts of {a.name}", f"the parts of {b.name}; black: borders between parts of {a.name}"),
                strict=True)):
            pixels = shaded(scene, seen[i], side.colour, None if i == 0 else seen[0])
            over = ['<g class="areas">', part_areas(seen[i], side.key, side.tell), "</g>", numbers(seen[i])]
            out.append((f"{side.name}'s side, {self.how}", note,
                        picture(pixels, over, f"interface {self.how}, {note}")))
        thin = _thinned(self.shown, "of them")
        note = f"a line per pair of cells that exchange data, in the colour of {a.name}'s part{thin}"
        out.append(("interedges", note, self._fabric(seen, a, note)))
        return out

    def _fabric(self, seen: list[PartArray], a: Side, note: str) -> str:
        pixels = np.full(seen[0].shape, NOTHING, np.uint8)
        pixels[borders(seen[1])] = WEAK
        pixels[borders(seen[0], 2)] = STRONG
        return picture(pixels, _strands(self.lines, a.part[self.cells], a), note)


def _thinned(shown: float, what: str) -> str:
    return "" if shown == 1 else f"; {shown:.0%} {what} are drawn"


def _strands(lines: Points, part: PartArray, a: Side) -> list[str]:
    """Lines as one path per part of A."""
    out = ['<g class="strands">']
    for p in np.unique(part).tolist():
        d = "".join(f"M{x:.1f} {y:.1f}L{u:.1f} {v:.1f}" for (x, y), (u, v) in lines[part == p].tolist())
        out.append(f'<path data-part="{a.key}{p}" d="{d}" style="--part:{COLOURS[a.colour[p]]}">'
                   f"<title>{escape(a.tell(p))}</title></path>")
    return [*out, "</g>"]


@dataclass(frozen=True)
class LaidStraight:
    """An interface that is a line, by arc length: A above, B below, the interedges between them."""

    sides: tuple[tuple[Points, Points, NDArray[np.int32]], tuple[Points, Points, NDArray[np.int32]]]
    """Middle and half the length of the facets on the page, and their cells, for A and B."""
    lines: Points
    cells: NDArray[np.int32]
    shown: float

    def views(self, a: Side, b: Side) -> list[tuple[str, str, str]]:
        """Title, note and SVG of the picture."""
        thin = _thinned(self.shown, "of the interedges")
        note = f"parts of {a.name} above, of {b.name} below; a line per pair of cells that exchange data{thin}"
        over = _strands(self.lines, a.part[self.cells], a)
        for side, (middle, half, cell), top in zip((a, b), self.sides, (_TOP, _BOTTOM), strict=True):
            over.append(f'<text class="name" x="0" y="{top - 6 if top == _TOP else top + _BAR + 17}">'
                        f"{escape(side.name)}</text>")
            over.extend(self._runs(side, middle, half, side.part[cell], top))
        body = "".join(over)
        return [("laid straight", note, f'<svg class="picture wide" viewBox="0 0 {_LENGTH} {_BOTTOM + _BAR + 26}" '
                 f'role="img" aria-label="{escape(note)}">{body}</svg>')]

    def _runs(self, side: Side, middle: Points, half: Points, part: PartArray, top: float) -> list[str]:
        out = []
        order = np.argsort(middle, kind="stable")
        ends = np.flatnonzero(np.diff(part[order])) + 1
        for run in np.split(order, ends):
            p = int(part[run[0]])
            x, w = float((middle[run] - half[run]).min()), float((middle[run] + half[run]).max())
            out.append(f'<rect data-part="{side.key}{p}" x="{x:.1f}" y="{top}" width="{w - x:.1f}" height="{_BAR}" '
                       f'fill="{COLOURS[side.colour[p]]}"><title>{escape(side.tell(p))}</title></rect>')
            if w - x >= 18:
                out.append(f'<g class="number"><text x="{(x + w) / 2:.1f}" y="{top + _BAR / 2}">{p}</text></g>')
        return out


_LENGTH, _TOP, _BAR, _BOTTOM = 1080, 26, 46, 190


def interface_views(meshes: tuple[Mesh, Mesh], surfaces: tuple[Surface, Surface], inter: Interedges,
                    ) -> FaceOn | LaidStraight | None:
    """The interface of two meshes as it can be drawn; None where it has no facets."""
    a, b = meshes
    facets = [interface(a, b, inter.coupled_a, inter.coupled_b, surfaces),
              interface(b, a, inter.coupled_b, inter.coupled_a, surfaces[::-1])]
    if len(facets[0].cell) == 0 or len(facets[1].cell) == 0:
        return None
    u, v, _ = inter.pairs()
    thin = np.linspace(0, len(u) - 1, min(len(u), MOST_LINES)).round().astype(np.int64)
    u, v = u[thin], v[thin]
    shown = min(1.0, len(u) / max(len(inter), 1))
    if min(f.corners.shape[1] for f in facets) == 2:
        if max(f.corners.shape[1] for f in facets) > 2:
            return None
        return _straight(facets, u, v, shown)
    chart = Chart.of(facets[0], a.dimension)
    flat = [chart.flat(f) for f in facets]
    frame = frame_of(np.concatenate([f.reshape(-1, 2) for f in flat]))
    centres = _places(a, facets[0])[u], _places(b, facets[1])[v]
    ends = np.stack([chart.flat_points(c[:, None], centres[0])[:, 0] for c in centres], axis=1)
    scenes = (flat_scene(flat[0], facets[0].cell, frame), flat_scene(flat[1], facets[1].cell, frame))
    return FaceOn(scenes, frame.pixels(ends) / FINE, u, chart.how, shown)


def _places(mesh: Mesh, facets: Surface) -> Points:
    """(ncells, 3) where the interedges of a cell end: the middle of its facets there, or of the cell."""
    out = mesh.centres()
    total, number = np.zeros_like(out), np.zeros(len(out))
    np.add.at(total, facets.cell, facets.centre)
    np.add.at(number, facets.cell, 1)
    there = number > 0
    out[there] = total[there] / number[there, None]
    return out


def _straight(facets: list[Surface], u: NDArray[np.int32], v: NDArray[np.int32], shown: float) -> LaidStraight:
    line = Line.of(facets[0])
    scale = _LENGTH / max(line.length, 1e-300)
    sides: list[Any] = []
    at: list[Mapping[int, float]] = []
    for f in facets:
        middle, half = line.place(f)
        sides.append((middle * scale, half * scale, f.cell))
        at.append(dict(zip(f.cell.tolist(), (middle * scale).tolist(), strict=True)))
    # a cell that touches in a corner only has no facet to start from
    pairs = [(p, q) for p, q in zip(u.tolist(), v.tolist(), strict=True) if p in at[0] and q in at[1]]
    ends = [[[at[0][p], _TOP + _BAR], [at[1][q], _BOTTOM]] for p, q in pairs]
    return LaidStraight((sides[0], sides[1]), np.array(ends, float).reshape(-1, 2, 2),
                        np.array([p for p, _ in pairs], np.int32), shown)


__all__ = ["FaceOn", "LaidStraight", "Side", "interface_views"]
