"""Tables with a heading, as CSV: the entries of each line by the words of the heading."""

from __future__ import annotations

import csv
import io
from collections.abc import Callable

from ..errors import FormatError
from .text import PathLike, read_bytes

Rows = list[tuple[int, dict[str, str]]]


def read_table(path: PathLike, example: str, check: Callable[[list[str], int], None]) -> tuple[list[str], Rows]:
    """The heading of a table, in lower case, and its lines with their numbers; empty ones and remarks (#) left out.

    Parameters
    ----------
    path : path-like
    example : str
        A heading, for the error about an empty file.
    check : callable
        Takes the heading and the number of its line, and refuses what it does not know.

    Raises
    ------
    FormatError
        The file is no table, has no lines, or one of another length than the heading.
    """
    text = read_bytes(path).decode("utf-8-sig", "replace")
    table = csv.reader(io.StringIO(text))
    try:
        lines = [(table.line_num, row) for row in table
                 if any(entry.strip() for entry in row) and not row[0].lstrip().startswith("#")]
    except csv.Error as error:
        raise FormatError(path, f"is no table: {error}", table.line_num) from None
    if not lines:
        raise FormatError(path, f"is empty; needs a heading such as {example}")
    heading = [entry.strip().lower() for entry in lines[0][1]]
    check(heading, lines[0][0])
    if len(lines) == 1:
        raise FormatError(path, "has a heading only", lines[0][0])
    for number, entries in lines[1:]:
        if len(entries) != len(heading):
            raise FormatError(path, f"needs {len(heading)} entries, has {len(entries)}", number)
    return heading, [(number, dict(zip(heading, (entry.strip() for entry in entries), strict=True)))
                     for number, entries in lines[1:]]


__all__ = ["Rows", "read_table"]
