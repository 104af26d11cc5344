"""The figures that tables show: title, form and meaning of each, said once for every table, page and legend."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from html import escape
from typing import Any


@dataclass(frozen=True)
class Column:
    """One column of a table.

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
    show: Callable[[Any], str]
    meaning: str
    ranked: bool = True


def percent(x: float) -> str:
    """A fraction as per cent with two decimals."""
    return f"{100 * x:.2f}"


def count(x: float) -> str:
    """A whole number."""
    return f"{x:.0f}"


def tenth(x: float) -> str:
    """One decimal."""
    return f"{x:.1f}"


def plural(count: float, noun: str) -> str:
    """``part`` of one, ``parts`` of several, ``processes`` after an s."""
    return noun if count == 1 else f"{noun}{'es' if noun.endswith('s') else 's'}"


def step_time(x: float) -> str:
    """A time of the step cost, in whatever unit: three digits where it is below 100, unless it is whole.

    Examples
    --------
    >>> step_time(686.4), step_time(67.96), step_time(0.00123), step_time(0)
    ('686', '68.0', '0.00123', '0')
    """
    return f"{x:.0f}" if x >= 99.95 or float(x).is_integer() else f"{x:#.3g}"


def seconds(x: float) -> str:
    """A time with two decimals while they matter."""
    return f"{x:.2f}" if x < 100 else f"{x:.0f}"


#: The columns of the published tables, in their order; ub are per cent.
COMPARISON_COLUMNS = (
    Column("ub_a", "ub_A %", percent, "imbalance of A: heaviest part over the mean, less one"),
    Column("ub_b", "ub_B %", percent, "imbalance of B"),
    Column("ub_cpl_a", "ub_A^cpl %", percent, "imbalance of A's coupled cells over the parts that own some"),
    Column("ub_cpl_b", "ub_B^cpl %", percent, "imbalance of B's coupled cells"),
    Column("cut_a", "cut_A", count, "edges of A between different parts, by weight"),
    Column("cut_b", "cut_B", count, "edges of B between different parts"),
    Column("cut_cpl_a", "cut_A^cpl", count, "the same among A's coupled cells"),
    Column("cut_cpl_b", "cut_B^cpl", count, "the same among B's coupled cells"),
    Column("totV", "totV", count, "data sent from A to B in a coupling phase: each cell once per destination part"),
    Column("totZ", "totZ", tenth, "messages from A to B in a coupling phase"),
    Column("ncoupled_a", "N_A^cpl", tenth, "parts of A that own coupled cells: only these work in a coupling phase",
           ranked=False),
    Column("ncoupled_b", "N_B^cpl", tenth, "parts of B that own coupled cells: only these work in a coupling phase",
           ranked=False),
    Column("seconds", "time s", seconds, "time to partition"),
)

#: The same of more than two components: the largest imbalance of one, and the sums of all.
MANY_COLUMNS = (
    Column("ub", "ub %", percent, "largest imbalance of a component: heaviest part over the mean, less one"),
    Column("ub_cpl", "ub^cpl %", percent, "largest imbalance of a component's coupled cells"),
    Column("cut", "cut", count, "edges between different parts, by weight, of all components"),
    Column("cut_cpl", "cut^cpl", count, "the same among the coupled cells"),
    Column("totV", "totV", count, "data sent in a coupling phase from the first to the second of every pair"),
    Column("totZ", "totZ", tenth, "messages in a coupling phase from the first to the second of every pair"),
    Column("ncoupled", "N^cpl", tenth, "parts of all components that own coupled cells: only these work in a coupling "
                                       "phase", ranked=False),
    Column("seconds", "time s", seconds, "time to partition"),
)


_OWNERS = "parts of {} that own coupled cells: only these work in a coupling phase"
_MOST = "coupled weight of the part of {} that has most of it"
_STEP = (
    Column("T_step", "T_step", step_time, "time of a coupled step: the slowest own phase, then the slowest coupling "
           "phase"),
    Column("T_reg", "T_reg", step_time, "of that the slowest own phase; in a pool the sum over the components"),
    Column("T_cpl", "T_cpl", step_time, "of that the coupling phase of the slowest process"),
    Column("waits", "waits %", percent, "share of the time of all processes in which they wait for the slowest"),
)
_MAXV = "most data that one process sends in a coupling phase, or that one receives, over all pairs"
_MAXZ = "most messages that one process sends in a coupling phase, or that one receives, over all pairs"
_EXTRA = Column("extra_pieces", "pieces +", tenth, "connected pieces beyond one per part, of all components")
_EXCHANGED = (Column("maxV", "maxV", count, _MAXV), Column("maxZ", "maxZ", tenth, _MAXZ))

#: The second table of the schemes: what a user pays for.
PAID_COLUMNS = (
    _EXTRA,
    Column("ncoupled_a", "N_A^cpl", tenth, _OWNERS.format("A"), ranked=False),
    Column("ncoupled_b", "N_B^cpl", tenth, _OWNERS.format("B"), ranked=False),
    Column("max_coupled_a", "max W_A^cpl", count, _MOST.format("A")),
    Column("max_coupled_b", "max W_B^cpl", count, _MOST.format("B")),
    *_EXCHANGED,
    *_STEP,
)

#: The same of more than two components.
MANY_PAID_COLUMNS = (
    _EXTRA,
    Column("ncoupled", "N^cpl", tenth, _OWNERS.format("all components"), ranked=False),
    Column("max_coupled", "max W^cpl", count, _MOST.format("any component")),
    *_EXCHANGED,
    *_STEP,
)

_MSV = "data that the part of {} sends which sends most in a halo exchange: each cell once per neighbouring part"
_TM = "messages of a halo exchange of {}, of all parts together"
_MSM = "messages of the part of {} that sends most of them in a halo exchange"

#: The third table of the schemes: what parts send their neighbours in the own phase.
HALO_COLUMNS = (
    Column("MSV_a", "MSV_A", count, _MSV.format("A")),
    Column("MSV_b", "MSV_B", count, _MSV.format("B")),
    Column("TM_a", "TM_A", tenth, _TM.format("A")),
    Column("TM_b", "TM_B", tenth, _TM.format("B")),
    Column("MSM_a", "MSM_A", tenth, _MSM.format("A")),
    Column("MSM_b", "MSM_B", tenth, _MSM.format("B")),
)

#: The same of more than two components.
MANY_HALO_COLUMNS = (
    Column("MSV", "MSV", count, _MSV.format("any component")),
    Column("TM", "TM", tenth, _TM.format("every component")),
    Column("MSM", "MSM", tenth, _MSM.format("any component")),
)

#: Of one co-partition, one row.
STEP_COLUMNS = (*_STEP, Column("maxV", "maxV", count, _MAXV), Column("maxZ", "maxZ", count, _MAXZ))


def paid_columns(rows: Sequence[Mapping[str, Any]]) -> tuple[Column, ...]:
    """What a user pays for, the second table of the schemes: the columns of two components, or of more."""
    return MANY_PAID_COLUMNS if rows and "cut" in rows[0] else PAID_COLUMNS


def halo_columns(rows: Sequence[Mapping[str, Any]]) -> tuple[Column, ...]:
    """What parts send their neighbours, the third table of the schemes: the columns of two components, or of more."""
    return MANY_HALO_COLUMNS if rows and "cut" in rows[0] else HALO_COLUMNS


def comparison_columns(rows: Sequence[Mapping[str, Any]]) -> tuple[Column, ...]:
    """The columns for rows of the schemes' table: those of two components, or of more.

    What the second table shows is left out where the rows have that.
    """
    columns = MANY_COLUMNS if rows and "cut" in rows[0] else COMPARISON_COLUMNS
    shown = {c.key for c in paid_columns(rows)} if rows and "T_step" in rows[0] else set()
    return tuple(c for c in columns if c.key not in shown)


#: Of `ComponentMetrics`, one row per component.
COMPONENT_COLUMNS = (
    Column("name", "component", str, "the mesh or graph of one code"),
    Column("cells", "cells", count, "cells of the component"),
    Column("parts", "parts", count, "parts, one per process"),
    Column("ub", "ub %", percent, "imbalance: heaviest part over the mean, less one"),
    Column("cut", "cut", count, "edges between different parts, by weight"),
    Column("pieces", "pieces", count, "connected pieces of all parts together; as many as parts where each is in one"),
    Column("coupled_cells", "coupled cells", count, "cells that exchange data with another component"),
    Column("ncoupled", "N^cpl", count, "parts that own coupled cells: only these work in a coupling phase"),
    Column("max_coupled", "max W^cpl", count, "coupled weight of the part that has most of it"),
    Column("ub_cpl", "ub^cpl %", percent, "imbalance of the coupled cells: who waits in a coupling phase"),
    Column("cut_cpl", "cut^cpl", count, "edges between different parts among the coupled cells"),
)

#: Of `PairMetrics`, one row per coupled pair; "there" is from the first to the second.
PAIR_COLUMNS = (
    Column("pair", "pair", str, "two components that exchange data; \"there\" is from the first to the second"),
    Column("interedges", "interedges", count, "pairs of cells that exchange data"),
    Column("totV_ab", "totV there", count, "data sent there in a coupling phase: each cell once per destination part"),
    Column("totV_ba", "totV back", count, "data sent back"),
    Column("totZ", "totZ", count, "messages there in a coupling phase"),
    Column("maxV", "maxV there", count, "data sent or received there by the busiest process"),
    Column("maxZ", "maxZ there", count, "messages sent or received there by the busiest process"),
)

#: Of a repartitioning, one row.
REPARTITION_COLUMNS = (
    Column("method", "method", str, "how the new parts were found"),
    Column("former_parts", "from", count, "former number of parts"),
    Column("parts", "to", count, "new number of parts"),
    Column("ub", "ub %", percent, "imbalance of the new parts: heaviest over the mean, less one"),
    Column("cut", "cut", count, "edges between different new parts, by weight"),
    Column("pieces", "pieces", count, "connected pieces of all new parts together"),
    Column("migration_volume", "moved", count, "data that changes its process"),
    Column("migration_messages", "messages", count, "pairs of processes with something to move"),
    Column("seconds", "time s", seconds, "time to repartition"),
)


#: Of `PartMetrics`, one row per part.
PART_COLUMNS = (
    Column("part", "part", count, "number of the part, from 0"),
    Column("cells", "cells", count, "cells of the part"),
    Column("load", "load", count, "weight of its cells: work in the component's own phase"),
    Column("coupled_cells", "coupled cells", count, "cells that exchange data with another component"),
    Column("coupled_load", "coupled load", count, "weight of its coupled cells: work in a coupling phase"),
    Column("partners", "sends to", count, "parts of other components that it sends to"),
    Column("sends", "sends", count, "data it sends in a coupling phase: each cell once per destination part"),
)


def letter_of(component: int) -> str:
    """What the figures of a component are called by: a, b, c, ..., aa, ...

    Examples
    --------
    >>> [letter_of(i) for i in (0, 2, 25, 26)]
    ['a', 'c', 'z', 'aa']
    """
    return chr(ord("a") + component % 26) * (1 + component // 26)


def spans(numbers: Sequence[int]) -> str:
    """Ascending numbers with runs drawn together.

    Examples
    --------
    >>> spans([0, 1, 2, 5])
    '0-2, 5'
    """
    runs: list[list[int]] = []
    for x in numbers:
        if runs and x == runs[-1][1] + 1:
            runs[-1][1] = x
        else:
            runs.append([x, x])
    return ", ".join(str(i) if i == j else f"{i}-{j}" for i, j in runs)


def html_table(columns: Sequence[Column], rows: Sequence[Mapping[str, Any]],
               best: frozenset[tuple[int, int]] = frozenset(), caption: str = "") -> str:
    """An HTML table whose headings tell their meaning when pointed at; the first column is a name.

    Parameters
    ----------
    columns : sequence of Column
    rows : sequence of mapping
        With a figure for the key of every column.
    best : set of (int, int)
        Row and column of the entries to mark.
    caption : str, optional
    """
    head = "".join(f'<th scope="col" title="{escape(c.meaning)}">{title_html(c.title)}</th>' for c in columns)
    body = []
    for r, row in enumerate(rows):
        entries = []
        for i, column in enumerate(columns):
            text = escape(column.show(row[column.key]))
            text = f"<strong>{text}</strong>" if (r, i) in best else text
            entries.append(f'<th scope="row">{text}</th>' if i == 0 else
                           f'<td style="text-align:right">{text}</td>')
        body.append(f"<tr>{''.join(entries)}</tr>")
    over = f"<caption>{escape(caption)}</caption>" if caption else ""
    return f"<table>{over}<thead><tr>{head}</tr></thead><tbody>{''.join(body)}</tbody></table>"


def title_html(title: str) -> str:
    """A column's title with its indices set as such: ``ub_A^cpl`` has A below and cpl above.

    Examples
    --------
    >>> title_html("ub_A^cpl %")
    'ub<sub>A</sub><sup>cpl</sup> %'
    """
    out = []
    for word in escape(title).split(" "):
        base, _, above = word.partition("^")
        base, _, below = base.partition("_")
        out.append(base + (f"<sub>{below}</sub>" if below else "") + (f"<sup>{above}</sup>" if above else ""))
    return " ".join(out)


__all__ = ["COMPARISON_COLUMNS", "COMPONENT_COLUMNS", "HALO_COLUMNS", "MANY_COLUMNS", "MANY_HALO_COLUMNS",
           "MANY_PAID_COLUMNS", "PAID_COLUMNS", "PAIR_COLUMNS", "PART_COLUMNS", "REPARTITION_COLUMNS", "STEP_COLUMNS",
           "Column", "comparison_columns", "count", "halo_columns", "html_table", "letter_of", "paid_columns",
           "percent", "plural", "seconds", "spans", "step_time", "tenth", "title_html"]
