"""The page of a plan or of a comparison: figures, pictures and charts of one or several co-partitions."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import date
from functools import partial
from html import escape
from typing import Any

import numpy as np

from .. import __version__
from ..coupling import CoPartition, CoupledProblem
from ..mapping.coupled.placed import Placed
from ..mesh import Interface, Mesh
from ..mesh.interfaces.surface import Surface
from ..metrics import CoupledMetrics, StepCost, evaluate, loose_pieces
from ..metrics.columns import (
    COMPONENT_COLUMNS,
    PAIR_COLUMNS,
    PART_COLUMNS,
    STEP_COLUMNS,
    halo_columns,
    letter_of,
    paid_columns,
    plural,
)
from ..metrics.parts import PartMetrics, part_metrics
from .charts import bar_chart, histogram, histogram_edges, matrix_chart
from .drawing import numbers, part_areas, parts_seen, picture, shaded
from .interface_views import FaceOn, LaidStraight, Side, interface_views
from .ordering import best_shown, nearly_diagonal
from .page import Section, command_line, document, figure, panel, table, tiles, views, words
from .palette import component_colours
from .placement import placement_section
from .projection import interface, mean_normal
from .scene import Scene, cut_scene, mesh_scene, near_scene, whole_boundary
from .tables import HALO_WORDS, best_entries, cost_words, scheme_columns
from .verdict import verdict_html
from .words import comparison_words, coupled_words, listed, number, rule_words, some, times, uncoupled_words

#: Of components with more parts, the table of all parts is left out.
_MOST_ROWS = 600
_SHARED_VOLUME = "<p>The meshes share a volume and not a surface: cells are coupled where they overlap.</p>"


@dataclass(frozen=True)
class Shown:
    """One co-partition with what the page says of it."""

    scheme: str
    made: CoPartition
    metrics: CoupledMetrics
    parts: Mapping[str, PartMetrics]
    sides: Mapping[str, Side]


def coupled_page(problem: CoupledProblem, meshes: Mapping[str, Mesh], copartitions: Mapping[str, CoPartition],
                 settings: Mapping[str, Any], *, rows: Sequence[Mapping[str, Any]] = (), shown: str | None = None,
                 seconds: float | None = None, notes: Sequence[str] = (), remarks: Sequence[str] = (),
                 placements: Sequence[Placed] = (), cost: StepCost | None = None,
                 interfaces: Mapping[tuple[str, str], Interface] | None = None) -> str:
    """The page, as HTML.

    Parameters
    ----------
    problem : CoupledProblem
    meshes : mapping of str to Mesh
        By component, of those that have one; the others have no pictures.
    copartitions : mapping of str to CoPartition
        By scheme; where there are several, the reader chooses whose parts are shown.
    settings : mapping
        As of a plan or a comparison.
    rows : sequence of mapping, optional
        The rows of the schemes' table.
    shown : str, optional
        The scheme that shows first; see :func:`.ordering.best_shown` where not given.
    seconds : float, optional
        Time to partition, of a single scheme.
    notes : sequence of str, optional
        What else a reader should know: how the interface was found, what files have lost.
    remarks : sequence of str, optional
        Remarks of a plan, for its verdict.
    placements : sequence of Placed, optional
        The processes on a machine.
    cost : StepCost, optional
        By which a coupled step is measured.
    interfaces : mapping of (str, str) to Interface, optional
        Where the meshes meet, for the verdict.
    """
    first = shown or best_shown(copartitions)
    all_shown = [_shown(problem, scheme, made, cost) for scheme, made in copartitions.items()]
    chosen = next(s for s in all_shown if s.scheme == first)
    names = listed(problem.names)
    cells = ", ".join(f"{name}: {some(g.nvtxs, 'cell')} in {some(chosen.made.nparts[name], 'part')}"
                      for name, g in problem.components.items())
    volume = settings.get("interedges") == "overlap"
    pictures = _Pictures.of(problem, meshes, volume)
    eps = settings.get("eps")
    sections = [
        Section("words", "In words", _verdicts(problem, all_shown, eps, remarks, interfaces)
                + _summary(chosen, rows, problem, notes)),
        Section("figures", "Schemes" if rows else "Figures", _tables(chosen, rows, settings)),
        Section("meshes", "Meshes", _panels(all_shown, pictures.mesh_views)),
        Section("interface", "Interface", _SHARED_VOLUME if volume else _panels(all_shown, pictures.interface_views)),
        Section("matrices", "Coupling matrices", _matrices(all_shown)),
        Section("load", "Load of every part", _panels(all_shown, lambda s: _load(s, eps))),
        Section("messages", "Message sizes", _messages(all_shown)),
        placement_section(placements, settings.get("placement")),
    ]
    return document(f"{names}, coupled", cells, sections, _about(settings, seconds), list(copartitions), first)


def page_of(made: Any) -> str:
    """The page of a :class:`copart.plans.plan.Plan` or :class:`copart.plans.compare.Comparison`, as HTML."""
    notes = [*(f"{'Interface' if len(made.interfaces) == 1 else f'Interface {a} - {b}'}: {line}"
               for (a, b), interface in made.interfaces.items() for line in interface.lines()),
             *(f"Note: {remark}" for remark in made.remarks),
             *(f"{line}." for line in rule_words(made.settings.get("coupled_rule"), getattr(made, "metrics", None),
                                                  made.settings.get("natural")))]
    if hasattr(made, "copartitions"):
        return coupled_page(made.problem, made.placed(), made.copartitions, made.settings, rows=made.rows(),
                            notes=notes, placements=made.placements, cost=made.cost, interfaces=made.interfaces)
    return coupled_page(made.problem, made.placed(), {made.settings["scheme"]: made.copartition}, made.settings,
                        seconds=made.seconds, notes=notes, remarks=made.remarks, placements=made.placements,
                        cost=made.metrics.step.cost, interfaces=made.interfaces)


def _shown(problem: CoupledProblem, scheme: str, made: CoPartition, cost: StepCost | None) -> Shown:
    parts = part_metrics(problem, made)
    sides = {}
    for i, (name, colour) in enumerate(component_colours(problem, made).items()):
        sides[name] = Side(letter_of(i), name, made[name], colour, _teller(parts[name]))
    return Shown(scheme, made, evaluate(problem, made, cost), parts, sides)


def _teller(parts: PartMetrics) -> Any:
    def tell(p: int) -> str:
        text = f"part {p} of {parts.name}: {some(parts.cells[p], 'cell')}"
        if parts.coupled_cells[p]:
            text += f", {parts.coupled_cells[p]:,} coupled, sends {parts.sends[p]:,} to "
            text += some(parts.partners[p], "part")
        return text

    return tell


# ---- words and tables
def _verdicts(problem: CoupledProblem, all_shown: Sequence[Shown], eps: float | None, remarks: Sequence[str],
              interfaces: Mapping[tuple[str, str], Interface] | None) -> str:
    def of(shown: Shown) -> str:
        loose = {name: int(loose_pieces(graph, shown.made[name], shown.made.nparts[name]).sum())
                 for name, graph in problem.components.items()}
        return verdict_html(shown.metrics, eps, remarks, interfaces, loose)

    return _panels(all_shown, of)


def _summary(shown: Shown, rows: Sequence[Mapping[str, Any]], problem: CoupledProblem,
             notes: Sequence[str]) -> str:
    entries = []
    for c in shown.metrics.components.values():
        if c.coupled_cells:
            entries.append((times(c.ub_cpl).removesuffix(" x the mean") + " ×",
                            f"the mean: the slowest coupled process of {c.name}"))
    pairs = shown.metrics.pairs.values()
    between = "from {0.a} to {0.b}".format(*pairs) if len(pairs) == 1 else "from the first to the second of every pair"
    if pairs:
        messages, values = sum(p.totZ for p in pairs), sum(p.totV_ab for p in pairs)
        entries.append((number(messages), f"{plural(messages, 'message')} {between}"))
        entries.append((number(values), f"{plural(values, 'value')} {between}, each cell once per destination"))
    lead = ""
    if len(rows) > 1:
        lead = words(comparison_words(rows, problem.names)) + f"<h3>{escape(shown.scheme)}</h3>"
    idle = {name: np.flatnonzero(parts.coupled_cells == 0).tolist() for name, parts in shown.parts.items()}
    waiting = [f"{line[0].upper()}{line[1:]}." for line in uncoupled_words(idle, shown.made.nparts)]
    return lead + tiles(entries) + words([*coupled_words(shown.metrics), *waiting, *notes])


def _tables(shown: Shown, rows: Sequence[Mapping[str, Any]], settings: Mapping[str, Any]) -> str:
    out = []
    if rows:
        seeds = settings.get("seeds") or []
        mean = f"Means of {len(seeds)} seeds; b" if len(seeds) > 1 else "B"
        caption = f"{mean}old: best of its column."
        out.append(table(scheme_columns(rows), rows, caption, best_entries(rows)))
        if "T_step" in rows[0]:  # rows of a comparison; a table of the published figures alone has none
            paid, halos = scheme_columns(rows, paid_columns), scheme_columns(rows, halo_columns)
            out.append("<h3>What is paid for</h3>" + table(paid, rows, cost_words(shown.metrics.step.cost),
                                                           best_entries(rows, paid[1:])))
            out.append("<h3>Halos</h3>" + table(halos, rows, HALO_WORDS, best_entries(rows, halos[1:])))
        out.append(f"<h3>{escape(shown.scheme)}{f', seed {seeds[0]}' if seeds else ''}</h3>")
    out.append(table(COMPONENT_COLUMNS, shown.metrics.to_dicts()))
    if shown.metrics.pairs:
        out.append("<h3>Exchange</h3>" + table(PAIR_COLUMNS, shown.metrics.to_dicts("pairs")))
    out.append("<h3>Coupled step</h3>" + table(STEP_COLUMNS, shown.metrics.to_dicts("step"),
                                               cost_words(shown.metrics.step.cost)))
    return "".join(out)


def _about(settings: Mapping[str, Any], seconds: float | None) -> str:
    # what was not asked for is not worth a word
    asked = {key: value for key, value in settings.items()
             if value is not None and value is not False and value != {}}
    said = ", ".join(f"{key} {_plain(value)}" for key, value in asked.items())
    took = "" if seconds is None else f"; partitioned in {seconds:.2f} s"
    command = command_line()
    return f"copart {__version__}, {date.today().isoformat()}: {said}{took}." + (f" {command}" if command else "")


def _plain(value: Any) -> str:
    if isinstance(value, Mapping):
        return ", ".join(f"{key} {_plain(one)}" for key, one in value.items())
    return " ".join(str(v) for v in value) if isinstance(value, list | tuple) else str(value)


# ---- pictures
def _panels(all_shown: Sequence[Shown], body: Any) -> str:
    """One panel per scheme; nothing where there is nothing to show."""
    bodies = [(s.scheme, body(s)) for s in all_shown]
    return "".join(panel(scheme, html) for scheme, html in bodies) if all(html for _, html in bodies) else ""


@dataclass(frozen=True)
class _Pictures:
    """What is seen where, the same for every co-partition."""

    meshes: Mapping[str, list[tuple[str, Scene]]]
    interfaces: Mapping[tuple[str, str], FaceOn | LaidStraight | None]

    @classmethod
    def of(cls, problem: CoupledProblem, meshes: Mapping[str, Mesh], volume: bool = False) -> _Pictures:
        """With a shared `volume` there is no surface to be laid flat."""
        surfaces = {name: whole_boundary(mesh) for name, mesh in meshes.items()}
        pairs = {} if volume else {p: inter for p, inter in problem.pairs.items()
                                   if p[0] in meshes and p[1] in meshes and len(inter)}
        scenes = {}
        for name, mesh in meshes.items():
            facets = _first_interface(name, meshes, surfaces, pairs)
            toward = None if facets is None else mean_normal(facets, mesh.dimension)
            seen = "" if toward is None or mesh.dimension < 3 else "; the interface faces you"
            whole = mesh_scene(mesh, surfaces[name], toward)
            scenes[name] = [(f"by part{seen}{whole.note}", whole)]
            if mesh.dimension == 3:
                cut = cut_scene(mesh, surfaces[name], toward)
                scenes[name].append((f"cut through the middle, by part{cut.note}", cut))
            elif facets is not None and np.ptp(mesh.points[:, 2]) == 0:
                near = near_scene(surfaces[name], facets)
                scenes[name] += [] if near is None else [("around the interface, by part", near)]
        return cls(scenes, {(a, b): interface_views((meshes[a], meshes[b]), (surfaces[a], surfaces[b]), inter)
                            for (a, b), inter in pairs.items()})

    def mesh_views(self, shown: Shown) -> str:
        """All meshes in their parts."""
        return views([mesh_figure(scene, shown.sides[name], name, note)
                      for name, scenes in self.meshes.items() for note, scene in scenes], 2)

    def interface_views(self, shown: Shown) -> str:
        """All interfaces with the parts of either side."""
        out = []
        for (a, b), drawn in self.interfaces.items():
            if drawn is not None:
                single = isinstance(drawn, LaidStraight)
                out.append(views([figure(title, note, svg, single)
                                  for title, note, svg in drawn.views(shown.sides[a], shown.sides[b])],
                                 1 if single else 3))
        return "".join(out)


def mesh_figure(scene: Scene, side: Side, title: str, note: str) -> str:
    """A scene coloured by parts, with its title."""
    seen = parts_seen(scene, side.part)
    over = ['<g class="areas">', part_areas(seen, side.key, side.tell), "</g>", numbers(seen)]
    return figure(title, note, picture(shaded(scene, seen, side.colour), over, f"{side.name}, {note}"))


def _first_interface(name: str, meshes: Mapping[str, Mesh], surfaces: Mapping[str, Surface],
                     pairs: Mapping[tuple[str, str], Any]) -> Surface | None:
    """The facets of the first interface of a component."""
    for (a, b), inter in pairs.items():
        if name in (a, b):
            other, mine, theirs = (b, inter.coupled_a, inter.coupled_b) if name == a else \
                (a, inter.coupled_b, inter.coupled_a)
            return interface(meshes[name], meshes[other], mine, theirs, (surfaces[name], surfaces[other]))
    return None


# ---- charts
def _matrices(all_shown: Sequence[Shown]) -> str:
    out = []
    for s in all_shown:
        for (a, b), pair in s.metrics.pairs.items():
            rows, columns = nearly_diagonal(pair.matrix)
            svg = matrix_chart(pair.matrix, rows, columns, (f"part of {a}", f"part of {b}"),
                               (s.sides[a].key, s.sides[b].key), (s.sides[a].colour, s.sides[b].colour),
                               partial(_tell_message, a, b))
            note = f"{some(pair.totZ, 'message')}, {some(pair.totV_ab, 'value')} from {a} to {b}"
            title = s.scheme if len(s.metrics.pairs) == 1 else f"{s.scheme}, {a} - {b}"
            out.append(f'<div data-scheme="{escape(s.scheme)}">{figure(title, note, svg, True)}</div>')
    return views(out, 3 if len(out) > 1 else 1)


def _tell_message(a: str, b: str, i: int, j: int, size: int) -> str:
    return f"part {i} of {a} sends {some(size, 'value')} to part {j} of {b}"


def _load(s: Shown, eps: float | None) -> str:
    out = []
    for name, c in s.metrics.components.items():
        side, parts = s.sides[name], s.parts[name]
        mean = parts.load.sum() / max(c.parts, 1)
        out.append(figure(f"{name}, own phase", f"cells of each part by weight; the slowest holds {times(c.ub)}",
                          bar_chart(parts.load, mean, side.key, side.colour, side.tell, f"load of the parts of {name}",
                                    eps), True))
        if c.coupled_cells:
            over = c.ncoupled_requested or c.ncoupled
            note = (f"coupled cells of each part by weight; the slowest holds {times(c.ub_cpl)} over "
                    f"{some(over, 'part')}")
            out.append(figure(f"{name}, coupling phase", note,
                              bar_chart(parts.coupled_load, parts.coupled_load.sum() / over, side.key, side.colour,
                                        side.tell, f"coupled load of the parts of {name}", eps), True))
    return views(out, 1) + "".join(_every_part(parts) for parts in s.parts.values())


def _every_part(parts: PartMetrics) -> str:
    if parts.nparts > _MOST_ROWS:
        return ""
    return (f"<details><summary>Figures of every part of {escape(parts.name)}</summary>"
            f"{table(PART_COLUMNS, parts.to_dicts())}</details>")


def _messages(all_shown: Sequence[Shown]) -> str:
    sizes = [(s.scheme, pair) for s in all_shown for pair in s.metrics.pairs.values() if pair.totZ]
    if not sizes:
        return ""
    edges = histogram_edges([pair.matrix.data for _, pair in sizes])
    tallest = max(int(np.histogram(pair.matrix.data, edges)[0].max()) for _, pair in sizes)
    out = []
    for scheme, pair in sizes:
        note = f"{some(pair.totZ, 'message')} from {pair.a} to {pair.b}, by the values they carry"
        out.append(figure(scheme, note, histogram(pair.matrix.data, edges, tallest, f"histogram: {scheme}, {note}")))
    return views(out)


__all__ = ["coupled_page", "mesh_figure", "page_of"]
