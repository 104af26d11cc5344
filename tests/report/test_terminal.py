"""Tables on terminals of any width: nothing is cut, nothing is lost."""

from __future__ import annotations

import io
from collections import Counter

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from rich.console import Console

from copart.report.tables import Table
from copart.report.terminal import fitting, turned

NAMES = st.text("abcdefgh", min_size=1, max_size=12)
FIGURES = st.from_regex(r"[0-9]{1,7}(\.[0-9]{1,2})?", fullmatch=True)


@st.composite
def tables(draw):
    """Names, then figures, under headings of one to four words."""
    columns = draw(st.integers(1, 12))
    rows = draw(st.lists(st.tuples(NAMES, *[FIGURES] * columns), min_size=1, max_size=9))
    header = ["what", *(" ".join(draw(st.lists(NAMES, min_size=1, max_size=4))) for _ in range(columns))]
    best = draw(st.sets(st.tuples(st.integers(0, len(rows) - 1), st.integers(1, columns))))
    return Table(header, rows, frozenset(best))


def lines(table: Table, width: int) -> list[str]:
    """What a terminal of this width shows of a table."""
    out = io.StringIO()
    for piece in fitting(table, width):
        Console(file=out, width=width).print(piece)
    return out.getvalue().splitlines()


def words(text: str) -> Counter[str]:
    return Counter(text.translate(dict.fromkeys(map(ord, "│┃"), " ")).split())


@settings(max_examples=60, deadline=None)
@given(tables(), st.integers(40, 200))
def test_every_word_is_shown_whole(table, width):
    shown = lines(table, width)
    assert max(map(len, shown)) <= width
    found = words(" ".join(shown))
    assert "…" not in "".join(shown)
    wanted = words(" ".join([*table.header, *(cell for row in table.rows for cell in row)]))
    assert not wanted - found, f"not shown: {wanted - found}"
    # the names alone may be repeated
    repeated = set(words(" ".join(["what", *(row[0] for row in table.rows)])))
    assert {word for word in found - wanted if word.strip("━─┏┳┓┡╇┩└┴┘")} <= repeated


@given(tables())
def test_turned_twice_is_the_same(table):
    again = turned(turned(table))
    assert (list(again.header), [list(row) for row in again.rows]) == (list(table.header), [*map(list, table.rows)])
    assert again.best == table.best
    assert all(turned(table).rows[i - 1][r + 1] == table.rows[r][i] for r, i in table.best)


SCHEMES = Table(["scheme", "max W^cpl", "waits % of a step"], [["NAIVE", "1000", "33.25"], ["AWARE", "999", "7.00"]],
                frozenset({(1, 1)}), "a title")


@pytest.mark.parametrize(("width", "last"), [
    (40, "│AWARE  │       999 │              7.00│"), (24, "│AWARE  │   999 │  7.00│"), (22, "AWARE    999  7.00"),
    (16, "AWARE   7.00")])
def test_what_gives_way_first(width, last):
    """Headings on one line, then lines between columns, then columns beside one another."""
    shown = [line.rstrip() for line in lines(SCHEMES, width)]
    assert shown[0] == "a title"
    assert last in shown


def test_many_columns_and_few_rows_are_turned():
    table = Table(["what", *(f"figure-{i}" for i in range(9))], [["x", *"123456789"]], frozenset({(0, 4)}))
    assert "│figure-3 │ 4│" in lines(table, 40)


def test_what_is_wider_than_the_terminal_is_folded():
    shown = "".join(lines(Table(["n", "figure"], [["a", "123456789"]]), 6))
    assert "…" not in shown
    assert [mark for mark in shown if mark.isdigit()] == list("123456789")


@pytest.mark.parametrize("width", [1, 2, 3, 10])
def test_no_width_is_too_small(width):
    assert lines(SCHEMES, width)
