"""Tables of figures: made once, shown as plain text, as Markdown, or on a terminal (:mod:`.terminal`).

A `Table` holds finished strings and the places of its best entries; every form
marks the best ones (bold on a terminal and in Markdown, a star in plain text).
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from ..metrics import CoupledMetrics, StepCost
from ..metrics.columns import (
    COMPARISON_COLUMNS,
    COMPONENT_COLUMNS,
    PAIR_COLUMNS,
    STEP_COLUMNS,
    Column,
    comparison_columns,
    halo_columns,
    html_table,
    paid_columns,
)

#: Below the third table of the schemes.
HALO_WORDS = "halos: MSV most data sent by a part, TM all messages, MSM most of one part"

_SCHEME = Column("scheme", "scheme", str, "how the components are partitioned")


@dataclass(frozen=True, repr=False)
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

    def to_dicts(self) -> list[dict[str, str]]:
        """One row per dict of finished strings by heading: ready for ``pandas.DataFrame``."""
        return [dict(zip(self.header, row, strict=True)) for row in self.rows]

    def __repr__(self) -> str:
        return self.text()

    def _repr_html_(self) -> str:
        """The table, for notebooks."""
        columns = [Column(name, name, str, name) for name in self.header]
        return html_table(columns, self.to_dicts(), self.best, self.title)


def comparison_table(rows: Sequence[Mapping[str, Any]], title: str = "", notes: Sequence[str] = ()) -> Table:
    """The schemes' table: one row per scheme, the published columns, the smallest entries marked.

    Parameters
    ----------
    rows : sequence of mapping
        Key ``scheme`` and the keys of :func:`copart.metrics.columns.comparison_columns`; ub as fractions.
    """
    columns = comparison_columns(rows)
    shown = [[c.show(row[c.key]) for c in columns] for row in rows]
    header = ["scheme", *(c.title for c in columns)]
    return Table(header, [[str(row["scheme"]).upper(), *cells] for row, cells in zip(rows, shown, strict=True)],
                 best_entries(rows), title, tuple(notes))


def paid_table(rows: Sequence[Mapping[str, Any]], cost: StepCost, title: str = "") -> Table:
    """The second table of the schemes: what a user pays for, the smallest entries marked.

    Parameters
    ----------
    rows : sequence of mapping
        Key ``scheme`` and the keys of :func:`copart.metrics.columns.paid_columns`.
    cost : StepCost
        By which a coupled step is measured.
    """
    columns = paid_columns(rows)
    shown = [[str(row["scheme"]).upper(), *(c.show(row[c.key]) for c in columns)] for row in rows]
    return Table(["scheme", *(c.title for c in columns)], shown, best_entries(rows, columns), title,
                 (cost_words(cost),))


def paid_html(rows: Sequence[Mapping[str, Any]], caption: str = "") -> str:
    """The second table of the schemes as HTML."""
    columns = paid_columns(rows)
    return html_table((_SCHEME, *columns), rows, best_entries(rows, columns), caption)


def halo_table(rows: Sequence[Mapping[str, Any]], title: str = "") -> Table:
    """The third table of the schemes: what parts send their neighbours, the smallest entries marked.

    Parameters
    ----------
    rows : sequence of mapping
        Key ``scheme`` and the keys of :func:`copart.metrics.columns.halo_columns`.
    """
    columns = halo_columns(rows)
    shown = [[str(row["scheme"]).upper(), *(c.show(row[c.key]) for c in columns)] for row in rows]
    return Table(["scheme", *(c.title for c in columns)], shown, best_entries(rows, columns), title, (HALO_WORDS,))


def halo_html(rows: Sequence[Mapping[str, Any]]) -> str:
    """The third table of the schemes as HTML."""
    columns = halo_columns(rows)
    return html_table((_SCHEME, *columns), rows, best_entries(rows, columns), HALO_WORDS)


def cost_words(cost: StepCost) -> str:
    """In what unit the times of a coupled step are, and by which constants."""
    return f"T in microseconds, at {cost}"


def best_entries(rows: Sequence[Mapping[str, Any]],
                 columns: Sequence[Column] | None = None) -> frozenset[tuple[int, int]]:
    """Row and column (0 is the scheme) of the smallest entries of a table of schemes, as they are shown.

    Schemes that are not within the limits of balance have no part in it.
    """
    best = set()
    for i, column in enumerate(comparison_columns(rows) if columns is None else columns):
        values = [float(column.show(row[column.key])) if row.get("kept", True) else np.inf for row in rows]
        # a tie of all says nothing
        if column.ranked and values and min(values) < max(values):
            best |= {(r, i + 1) for r, v in enumerate(values) if v == min(values)}
    return frozenset(best)


def scheme_columns(rows: Sequence[Mapping[str, Any]],
                   of: Callable[[Sequence[Mapping[str, Any]]], Sequence[Column]] = comparison_columns
                   ) -> tuple[Column, ...]:
    """The columns of a table of the schemes, the first included.

    Parameters
    ----------
    rows : sequence of mapping
    of : callable
        Which table: ``comparison_columns``, ``paid_columns`` or ``halo_columns``.
    """
    return (_SCHEME, *of(rows))


def scheme_table(rows: Sequence[Mapping[str, Any]], caption: str = "") -> str:
    """The schemes' table as HTML."""
    return html_table(scheme_columns(rows), rows, best_entries(rows), caption)


def component_table(metrics: CoupledMetrics, title: str = "") -> Table:
    """One row per component: size, parts, imbalance and cut of the whole and of the coupled cells."""
    rows = [[c.show(row[c.key]) for c in COMPONENT_COLUMNS] for row in metrics.to_dicts()]
    return Table([c.title for c in COMPONENT_COLUMNS], rows, title=title)


def pair_table(metrics: CoupledMetrics, title: str = "") -> Table:
    """One row per coupled pair: interedges, volumes and messages."""
    rows = [[c.show(row[c.key]) for c in PAIR_COLUMNS] for row in metrics.to_dicts("pairs")]
    return Table([c.title for c in PAIR_COLUMNS], rows, title=title)


def step_table(metrics: CoupledMetrics, title: str = "") -> Table:
    """One row: what a coupled step costs, and what the busiest process exchanges."""
    row = metrics.to_dicts("step")[0]
    return Table([c.title for c in STEP_COLUMNS], [[c.show(row[c.key]) for c in STEP_COLUMNS]], title=title,
                 notes=(cost_words(metrics.step.cost),))


__all__ = ["COMPARISON_COLUMNS", "HALO_WORDS", "Column", "Table", "best_entries", "comparison_table",
           "component_table", "cost_words", "halo_html", "halo_table", "paid_html", "paid_table",
           "pair_table", "scheme_columns", "scheme_table", "step_table"]
