"""Placements on the machine: table, traffic by distance, and what processes exchange in the order of the slots."""

from __future__ import annotations

import base64
from collections.abc import Sequence
from html import escape
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ..mapping.coupled.placed import Placed
from ..mapping.coupled.placements import PLACEMENTS
from ..mapping.coupled.processes import PHASES
from ..metrics.columns import Column, count, tenth
from .charts import share_bars
from .drawing import png
from .machine_picture import machine_figures
from .page import Section, figure, table, views, words
from .tables import Table

#: Side of the pictures of the traffic, about, in pixels.
_SIDE = 640
#: Tones of each phase, and the ends of their scales: little and much.
_TONES = 24
_SCALES = {"regular": ((205, 222, 236), (24, 78, 128)), "coupling": ((250, 214, 178), (196, 84, 10))}

PLACEMENT_COLUMNS = (
    Column("placement", "placement", str, "linear: rank r on slot r; disjoint: every code on hosts of its own; shared: "
           "all processes placed together", ranked=False),
    Column("regular_inter_node_volume", "regular, between hosts", count, "data of the halos that leaves its host in a "
           "coupling step"),
    Column("regular_inter_node_messages", "messages", count, "messages of the halos that leave their host"),
    Column("regular_hops", "x distance", count, "data of the halos times the distance it goes"),
    Column("coupling_inter_node_volume", "coupling, between hosts", count, "data across the interfaces that leaves its "
           "host in a coupling step"),
    Column("coupling_inter_node_messages", "messages", count, "messages across the interfaces that leave their host"),
    Column("coupling_hops", "x distance", count, "data across the interfaces times the distance it goes"),
    Column("max_node_volume", "busiest host", count, "data that the busiest host sends and receives, both phases"),
)

#: Hops and congestion by static routes, a row a phase.
ROUTE_COLUMNS = (
    Column("placement", "placement", str, "as above", ranked=False),
    Column("phase", "phase", str, "regular: halos; coupling: data across interfaces; both: all sent at once",
           ranked=False),
    Column("total_hops", "TH", count, "links that messages take, each message once however often it is sent"),
    Column("weighted_hops", "WH", count, "links times data in a coupling step"),
    Column("max_message_congestion", "MMC", count, "messages on the busiest link"),
    Column("max_congestion", "MC", "{:g}".format, "data over bandwidth on the busiest link"),
    Column("average_message_congestion", "AMC", tenth, "messages on a link that is used, mean"),
    Column("average_congestion", "AC", tenth, "data over bandwidth on a link that is used, mean"),
    Column("used_links", "links", count, "links that are used", ranked=False),
)


def placement_rows(placements: Sequence[Placed]) -> list[dict[str, Any]]:
    """One row a placement with the keys of :data:`PLACEMENT_COLUMNS`."""
    rows = []
    for one in placements:
        row: dict[str, Any] = {"placement": one.label}
        for phase in PHASES:
            figures = one.phases[phase]
            row |= {f"{phase}_inter_node_volume": figures.inter_node_volume,
                    f"{phase}_inter_node_messages": figures.inter_node_messages, f"{phase}_hops": figures.hops}
        row["max_node_volume"] = one.max_node_volume
        rows.append(row)
    return rows


def placement_table(placements: Sequence[Placed]) -> Table:
    """The figures of placements for terminals."""
    rows = [[c.show(row[c.key]) for c in PLACEMENT_COLUMNS] for row in placement_rows(placements)]
    return Table([c.title for c in PLACEMENT_COLUMNS], rows)


def route_rows(placements: Sequence[Placed]) -> list[dict[str, Any]]:
    """A row for each phase of each placement with the keys of :data:`ROUTE_COLUMNS`; none without routes."""
    return [{"placement": one.label, "phase": kind, **figures.to_dict()}
            for one in placements if one.routes is not None for kind, figures in one.routes.items()]


def route_table(placements: Sequence[Placed]) -> Table | None:
    """Hops and congestion of placements for terminals; None without routes."""
    rows = [[c.show(row[c.key]) for c in ROUTE_COLUMNS] for row in route_rows(placements)]
    return Table([c.title for c in ROUTE_COLUMNS], rows) if rows else None


def placement_words(placements: Sequence[Placed], chosen: str | None = None) -> list[str]:
    """What the chosen placement saves against the first, in sentences; the last one where none is told."""
    first = placements[0]
    last = next((one for one in placements if one.name == chosen), placements[-1])
    used, hosts = len(set(last.host.tolist())), len(last.machine.hosts)
    said = [f"{last.processes.nprocs:,} processes on {used:,} " + (f"of {hosts:,} hosts." if hosts else "processors.")]
    for phase in PHASES:
        a, b = first.phases[phase], last.phases[phase]
        if last is not first and (a.inter_node_volume or b.inter_node_volume):
            said.append(f"{phase.capitalize()} phase: {b.inter_node_volume:,} data between hosts a coupling step, "
                        f"{a.inter_node_volume:,} in {first.name} order "
                        f"({_change(a.inter_node_volume, b.inter_node_volume)})"
                        f"{_busiest(first, last, phase)}.")
    return said


def _busiest(first: Placed, last: Placed, phase: str) -> str:
    """What the busiest link carries, where there are routes."""
    if first.routes is None or last.routes is None or not first.routes[phase].max_congestion:
        return ""
    a, b = first.routes[phase].max_congestion, last.routes[phase].max_congestion
    return f"; on the busiest link {b:,.6g}, {a:,.6g} in {first.name} order ({_change(a, b)})"


def _change(before: float, after: float) -> str:
    if not before:
        return "more"
    change = 1 - after / before
    return f"{abs(change):.0%} {'less' if change >= 0 else 'more'}"


def placement_section(placements: Sequence[Placed], chosen: str | None = None) -> Section:
    """The section of the page about the machine; empty without placements.

    Parameters
    ----------
    placements : sequence of Placed
    chosen : str, optional
        Name of the one that the files are of; the machine is drawn with the first and with it.
    """
    if not placements:
        return Section("machine", "On the machine", "")
    bars = []
    for phase in PHASES:
        distances = sorted({d for one in placements for d in one.phases[phase].by_distance})
        shares = [[one.phases[phase].by_distance.get(d, 0) for d in distances] for one in placements]
        bars.append(figure(f"{phase.capitalize()} phase by distance", " Share of the data that goes so far.",
                           share_bars([one.label for one in placements], shares, [f"{d:g}" for d in distances],
                                      f"data of the {phase} phase by distance")))
    # of every scheme of a comparison, tables and bars are enough
    alone = len(placements) <= len(PLACEMENTS)
    pictures = [figure(one.label, " Rows send to columns, both in the order of the slots; blue: halos, orange: across "
                       "interfaces; lines: hosts.", traffic_picture(one)) for one in placements if alone]
    figures = table(PLACEMENT_COLUMNS, placement_rows(placements), "placements")
    routed = route_rows(placements)
    routes = "<h3>Hops and congestion by routes</h3>" + table(ROUTE_COLUMNS, routed) if routed else ""
    machine = machine_figures(before_and_after(placements, chosen)) if alone else ""
    body = words(placement_words(placements, chosen) if alone else []) + figures + routes + machine + views(bars, 2) + \
        views(pictures)
    return Section("machine", "On the machine", body)


def before_and_after(placements: Sequence[Placed], chosen: str | None = None) -> list[Placed]:
    """The first placement, and the one that was chosen; the last where that is the first or not known."""
    last = next((one for one in placements[1:] if one.name == chosen), placements[-1])
    return [placements[0], last] if len(placements) > 1 else [placements[0]]


def traffic_picture(one: Placed) -> str:
    """What processes send one another as an SVG picture, processes in the order of their slots."""
    n = one.processes.nprocs
    order = np.argsort(one.processor, kind="stable")
    place = np.empty(n, np.int64)
    place[order] = np.arange(n)
    side = min(n, _SIDE)
    pixels = np.zeros((side, side), np.uint8)
    for i, phase in enumerate(PHASES):
        m = one.processes.traffic[phase].tocoo()
        if not m.nnz:
            continue
        total = np.zeros((side, side), np.int64)
        np.add.at(total, (place[m.row] * side // n, place[m.col] * side // n), m.data)
        there = total > 0
        tone = np.log1p(total[there]) / np.log1p(total.max())
        pixels[there] = (1 + i * _TONES + (tone * (_TONES - 1)).round()).astype(np.uint8)
    scale = max(1, _SIDE // side)
    data = base64.b64encode(png(np.kron(pixels, np.ones((scale, scale), np.uint8)), _palette())).decode()
    host = one.host[order]
    cuts = np.flatnonzero(np.diff(host)) + 1
    lines = "".join(f'<path class="rule" d="M{c / n * 100:.2f} 0V100M0 {c / n * 100:.2f}H100"/>' for c in cuts.tolist()
                    ) if len(cuts) <= 128 else ""
    alt = f"traffic between {n} processes in the order of the slots, {one.label}"
    return (f'<svg class="picture traffic" viewBox="0 0 100 100" role="img" aria-label="{escape(alt)}">'
            f'<image href="data:image/png;base64,{data}" width="100" height="100"/>{lines}</svg>')


def _palette() -> NDArray[np.uint8]:
    """(1 + 2 tones, 3) colours: nothing, then the tones of each phase."""
    tones = [np.linspace(low, high, _TONES) for low, high in (_SCALES[phase] for phase in PHASES)]
    return np.concatenate([np.full((1, 3), 255), *tones]).round().astype(np.uint8)


__all__ = ["PLACEMENT_COLUMNS", "ROUTE_COLUMNS", "before_and_after", "placement_rows", "placement_section",
           "placement_table", "placement_words", "route_rows", "route_table", "traffic_picture"]
