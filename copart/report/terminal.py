"""Tables for terminals of any width: no figure is ever cut; where there is no room it goes below or to the side."""

from __future__ import annotations

import textwrap
from collections.abc import Iterator
from dataclasses import replace
from typing import Any

from .tables import Table


def fitting(table: Table, width: int) -> list[Any]:
    """The ``rich`` tables that show `table` in `width` columns, one below another; the best entries are bold green.

    The first of these that fits: as it is; with headings of several lines; the same without lines between the columns;
    turned, so that every figure has a line; several tables that repeat the names.

    Parameters
    ----------
    table : Table
    width : int
        Columns of the terminal, from 1 up. What is wider than it even alone is folded, not cut.
    """
    for layout in (drawn(table), drawn(table, folded=True), drawn(table, folded=True, lines=False),
                   drawn(turned(table)), drawn(turned(table), lines=False)):
        if _wide(layout) <= width:
            return [layout]
    return [drawn(one, folded=True, lines=False) for one in _pieces(table, width)]


def turned(table: Table) -> Table:
    """Rows and columns exchanged; the first heading stays where it is."""
    rows = [[name, *(row[i] for row in table.rows)] for i, name in enumerate(table.header) if i]
    return replace(table, header=[table.header[0], *(row[0] for row in table.rows)], rows=rows,
                   best=frozenset((i - 1, r + 1) for r, i in table.best))


def drawn(table: Table, *, folded: bool = False, lines: bool = True) -> Any:
    """A ``rich.table.Table``.

    Parameters
    ----------
    folded : bool
        Headings in lines no longer than what is below them, as far as words allow.
    lines : bool
        Lines around the columns; else they are a space apart.
    """
    from rich import box
    from rich.table import Table as RichTable
    from rich.text import Text

    title = Text(table.title) if table.title else None
    out = RichTable(title=title, title_justify="left", header_style="bold", pad_edge=False,
                    box=box.HEAVY_HEAD if lines else box.SIMPLE_HEAD, show_edge=lines, padding=(0, 1) if lines else 0)
    for i, name in enumerate(table.header):
        heading = _folded(name, [row[i] for row in table.rows]) if folded else name
        # what cannot be shown in one line goes on in the next: cut figures would be wrong figures
        out.add_column(Text(heading), justify="left" if i == 0 else "right", overflow="fold", vertical="top")
    for r, row in enumerate(table.rows):
        out.add_row(*(Text(c, style="bold green" if (r, i) in table.best else "") for i, c in enumerate(row)))
    return out


def _folded(heading: str, cells: list[str]) -> str:
    """A heading in lines as wide as its longest word, or as the cells where these are wider."""
    from rich.cells import cell_len

    least = max((len(word) for word in heading.split()), default=1)
    return textwrap.fill(heading, max(least, *map(cell_len, cells), 1), break_long_words=False, break_on_hyphens=False)


def _pieces(table: Table, width: int) -> Iterator[Table]:
    """As many columns at a time as fit, at least one, with the names before them."""
    first, count = 1, len(table.header)
    while first < count:
        last = first + 1
        while last < count and _wide(drawn(_columns(table, first, last + 1), folded=True, lines=False)) <= width:
            last += 1
        yield _columns(table, first, last)
        first = last


def _columns(table: Table, first: int, last: int) -> Table:
    """The names and these columns; the title stands above the first."""
    return replace(table, header=[table.header[0], *table.header[first:last]],
                   rows=[[row[0], *row[first:last]] for row in table.rows],
                   best=frozenset((r, i - first + 1) for r, i in table.best if first <= i < last),
                   title=table.title if first == 1 else "")


def _wide(layout: Any) -> int:
    """The columns that a table takes where nothing of it is folded."""
    from rich.console import Console

    wide: int = Console(width=100_000).measure(layout).maximum
    return wide


__all__ = ["drawn", "fitting", "turned"]
