"""Tables of figures: made once, shown as plain text, by rich on a terminal, or as Markdown.

A `Table` holds finished strings and the places of its best entries; every form
marks the best ones (bold on a terminal and in Markdown, a star in plain text).
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from ..metrics import CoupledMetrics


@dataclass(frozen=True)
class Column:
    """One column of the schemes' table.

    Parameters
    ----------
    key : str
        Key of the figure in a row.
    title : str
        What stands above it.
    show : callable
        Turns the figure into text.
    meaning : str
        One line for the legend.
    ranked : bool
        Whether the smallest value of the column is marked.
    """

    key: str
    title: str
    show: Callable[[float], str]
    meaning: str
    ranked: bool = True


def _percent(x: float) -> str:
    return f"{100 * x:.2f}"


def _count(x: float) -> str:
    return f"{x:.0f}"


def _tenth(x: float) -> str:
    return f"{x:.1f}"


def _seconds(x: float) -> str:
    return f"{x:.2f}" if x < 100 else f"{x:.0f}"


#: The columns of the published tables, in their order; ub are per cent.
COMPARISON_COLUMNS = (
    Column("ub_a", "ub_A %", _percent, "imbalance of A: heaviest part over the mean, less one"),
    Column("ub_b", "ub_B %", _percent, "imbalance of B"),
    Column("ub_cpl_a", "ub_A^cpl %", _percent, "imbalance of A's coupled cells over the parts that own some"),
    Column("ub_cpl_b", "ub_B^cpl %", _percent, "imbalance of B's coupled cells"),
    Column("cut_a", "cut_A", _count, "edges of A between different parts, by weight"),
    Column("cut_b", "cut_B", _count, "edges of B between different parts"),
    Column("cut_cpl_a", "cut_A^cpl", _count, "the same among A's coupled cells"),
    Column("cut_cpl_b", "cut_B^cpl", _count, "the same among B's coupled cells"),
    Column("totV", "totV", _count, "data sent from A to B in a coupling phase: each cell once a destination part"),
    Column("totZ", "totZ", _tenth, "messages from A to B in a coupling phase"),
    Column("ncoupled_a", "N_A^cpl", _tenth, "parts of A that own coupled cells", ranked=False),
    Column("ncoupled_b", "N_B^cpl", _tenth, "parts of B that own coupled cells", ranked=False),
    Column("seconds", "time s", _seconds, "time to partition"),
)


@dataclass(frozen=True)
class Table:
    """Finished text by rows, and which entries are the best of their column.

    Parameters
    ----------
    header : sequence of str
    rows : sequence of sequence of str
        As long as `header` each; the first column is a name, the others are figures.
    best : set of (int, int)
        Row and column of the marked entries.
    title : str, optional
    notes : sequence of str, optional
        Lines below the table.
    """

    header: Sequence[str]
    rows: Sequence[Sequence[str]]
    best: frozenset[tuple[int, int]] = frozenset()
    title: str = ""
    notes: Sequence[str] = field(default_factory=tuple)

    def text(self) -> str:
        """Plain text; a star follows the best entries."""
        cells = [list(self.header)] + [[c + ("*" if (r, i) in self.best else " ") for i, c in enumerate(row)]
                                       for r, row in enumerate(self.rows)]
        cells[0] = [h + " " for h in cells[0]]
        width = [max(len(row[i]) for row in cells) for i in range(len(self.header))]
        lines = [" ".join(c.ljust(w) if i == 0 else c.rjust(w) for i, (c, w) in enumerate(zip(row, width, strict=True)))
                 for row in cells]
        lines.insert(1, " ".join("-" * w for w in width))
        notes = list(self.notes) + (["* best of its column"] if self.best else [])
        return "\n".join(line.rstrip() for line in ([self.title] if self.title else []) + lines + notes)

    def markdown(self) -> str:
        """A Markdown table; the best entries are bold."""
        rows = [[f"**{c}**" if (r, i) in self.best else c for i, c in enumerate(row)]
                for r, row in enumerate(self.rows)]
        rule = ["---"] + ["---:"] * (len(self.header) - 1)
        return "\n".join("| " + " | ".join(row) + " |" for row in [list(self.header), rule, *rows])

    def rich(self) -> Any:
        """A ``rich.table.Table``; the best entries are bold green."""
        from rich.table import Table as RichTable
        from rich.text import Text

        out = RichTable(title=self.title or None, title_justify="left", header_style="bold", pad_edge=False)
        for i, name in enumerate(self.header):
            out.add_column(name, justify="left" if i == 0 else "right", no_wrap=True)
        for r, row in enumerate(self.rows):
            out.add_row(*(Text(c, style="bold green" if (r, i) in self.best else "") for i, c in enumerate(row)))
        return out


def comparison_table(rows: Sequence[Mapping[str, Any]], title: str = "", notes: Sequence[str] = ()) -> Table:
    """The schemes' table: one row a scheme, the published columns, the smallest entries marked.

    Parameters
    ----------
    rows : sequence of mapping
        Key ``scheme`` and the keys of :data:`COMPARISON_COLUMNS`; ub as fractions.
    """
    shown = [[c.show(row[c.key]) for c in COMPARISON_COLUMNS] for row in rows]
    best = set()
    for i, column in enumerate(COMPARISON_COLUMNS):
        values = [float(cells[i]) for cells in shown]
        # a tie of all says nothing
        if column.ranked and values and min(values) < max(values):
            best |= {(r, i + 1) for r, v in enumerate(values) if v == min(values)}
    header = ["scheme", *(c.title for c in COMPARISON_COLUMNS)]
    return Table(header, [[str(row["scheme"]).upper(), *cells] for row, cells in zip(rows, shown, strict=True)],
                 frozenset(best), title, tuple(notes))


def component_table(metrics: CoupledMetrics, title: str = "") -> Table:
    """One row a component: size, parts, imbalance and cut of the whole and of the coupled cells."""
    header = ["component", "cells", "parts", "ub %", "cut", "pieces", "coupled cells", "N^cpl", "ub^cpl %", "cut^cpl"]
    rows = [[c.name, str(c.cells), str(c.parts), _percent(c.ub), str(c.cut), str(c.pieces), str(c.coupled_cells),
             str(c.ncoupled), _percent(c.ub_cpl), str(c.cut_cpl)] for c in metrics.components.values()]
    return Table(header, rows, title=title)


def pair_table(metrics: CoupledMetrics, title: str = "") -> Table:
    """One row a coupled pair: interedges, volumes and messages."""
    header = ["pair", "interedges", "totV there", "totV back", "totZ", "maxV", "maxZ"]
    rows = [[f"{p.a} - {p.b}", str(p.interedges), str(p.totV_ab), str(p.totV_ba), str(p.totZ), str(p.maxV), str(p.maxZ)]
            for p in metrics.pairs.values()]
    return Table(header, rows, title=title)


__all__ = ["COMPARISON_COLUMNS", "Column", "Table", "comparison_table", "component_table", "pair_table"]
