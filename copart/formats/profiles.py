"""Communication profiles: who sent how many bytes to whom, as tools write it.

==================== ==============================================================================
Open MPI monitoring  lines ``E 0 1 1012 bytes 30 msgs sent``, also among other output of a job
Matrix Market        coordinate form, entry (i, j) is what rank i - 1 sent to rank j - 1
matrix               one row a sender, numbers separated by blanks, commas or semicolons
list                 lines ``source target bytes [messages]``, separated in the same way, from 0
==================== ==============================================================================

Empty lines and those that begin with # or % do not count; a first line without numbers is a heading, and a matrix may
have its ranks as first row and column.  Any of them may be packed with gzip.

Of Open MPI's lines, E and I are messages of the application and of its collectives, S and R one-sided data sent and
fetched; C repeats collectives that I has in detail, and is left out.
"""

from __future__ import annotations

import io
import re
from typing import Any, get_args

import numpy as np
from numpy.typing import NDArray

from ..errors import ConfigError, FormatError, MappingError
from ..mapping.ranks.communication import Messages
from ..names import ProfileKind, known_name
from .matrix_market import check_header
from .text import PathLike, read_bytes

KINDS: tuple[ProfileKind, ...] = get_args(ProfileKind)
_MONITORING = re.compile(r"^[ \t]*([EISR])[ \t]+(\d+)[ \t]+(\d+)[ \t]+(\d+) bytes[ \t]+(\d+) msgs", re.MULTILINE)
_SEPARATORS = re.compile(r"\s*[,;]\s*|\s+")

#: Rows (source, target, bytes in all, messages) of a profile, and its number of ranks where the form tells.
_Rows = tuple[NDArray[np.float64], int | None]


def read_profile(path: PathLike, *, counts: PathLike | None = None, nranks: int | None = None,
                 kind: ProfileKind = "auto") -> Messages:
    """Read a communication profile.

    Parameters
    ----------
    path : path-like
    counts : path-like, optional
        A second profile whose values are numbers of messages, for tools that
        write bytes and messages apart; one message each where nothing tells.
    nranks : int, optional
        Number of ranks, at least those that occur; default the side of the
        matrix, or the largest rank + 1.
    kind : {"auto", "matrix", "list"}
        What rows of numbers are. Only three rows of three numbers and four of
        four can be either.

    Returns
    -------
    Messages
        Each pair's bytes spread evenly over its messages.

    Raises
    ------
    FormatError
        The file is unreadable or in no such form, or a value is impossible.
    """
    known_name("kind", kind, KINDS)
    if kind != "auto" and all(map(_says_itself, [path] if counts is None else [path, counts])):
        raise ConfigError(f"kind: has no effect on {path}, which says itself what it holds")
    rows, side = _read(path, kind)
    if counts is not None:
        found, other = _read(counts, kind)
        if side is not None and other is not None and side != other:
            raise FormatError(counts, f"is about {other} ranks, {path} about {side}")
        rows = _each_pair_once(rows)
        part = found[:, 2] != np.floor(found[:, 2])
        if part.any():
            raise FormatError(counts, f"the number of messages must be whole, found {found[part, 2][0]:g}")
        number = {(int(s), int(t)): c for s, t, c, _ in _each_pair_once(found)}
        rows[:, 3] = [number.get((int(s), int(t)), 1) for s, t in rows[:, :2]]
        # messages of no bytes take their latencies, too; a matrix of bytes does not list them
        listed = {(int(s), int(t)) for s, t in rows[:, :2]}
        empty = [(*pair, 0.0, c) for pair, c in number.items() if c > 0 and pair not in listed]
        rows = np.concatenate([rows, np.array(empty, np.float64).reshape(-1, 4)])
    # bytes take a message at least, whatever was counted
    rows[:, 3] = np.maximum(rows[:, 3], rows[:, 2] > 0)
    for column, what, most in ((0, "rank", 2**31 - 1), (1, "rank", 2**31 - 1), (3, "number of messages", 2**53)):
        largest = rows[:, column].max(initial=0)
        if largest > most:
            raise FormatError(path, f"has {what} {largest:.0f}, at most {most} is supported")
    n = side if side is not None else int(rows[:, :2].max(initial=0)) + 1
    if nranks is not None:
        if nranks < n:
            raise FormatError(path, f"has rank {n - 1}, but the job is said to have {nranks} ranks")
        n = nranks
    keep = rows[:, 3] > 0
    try:
        return Messages(n, rows[keep, 0].astype(np.int64), rows[keep, 1].astype(np.int64),
                        rows[keep, 2] / rows[keep, 3], rows[keep, 3].astype(np.int64))
    except MappingError as error:
        raise FormatError(path, str(error)) from None


def _each_pair_once(rows: NDArray[np.float64]) -> NDArray[np.float64]:
    """Rows with their bytes and messages added up by pair, in ascending order."""
    pairs, which = np.unique(rows[:, :2], axis=0, return_inverse=True)
    sums = [np.bincount(which.reshape(-1), weights=rows[:, column], minlength=len(pairs)) for column in (2, 3)]
    return np.column_stack([pairs, *sums])


def _says_itself(path: PathLike) -> bool:
    """Is this Matrix Market or Open MPI's monitoring?"""
    data = read_bytes(path)
    return data[:14].lower() == b"%%matrixmarket" or _MONITORING.search(data.decode("latin-1")) is not None


def _read(path: PathLike, kind: str) -> _Rows:
    data = read_bytes(path)
    if data[:14].lower() == b"%%matrixmarket":
        return _matrix_market(path, data)
    try:
        text = data.decode("utf-8-sig")
    except UnicodeDecodeError:
        raise FormatError(path, "is no text file") from None
    if _MONITORING.search(text):
        return _monitoring(text)
    return _table(path, text, kind)


def _monitoring(text: str) -> _Rows:
    rows = []
    for tag, first, second, nbytes, messages in _MONITORING.findall(text):
        # R is what the first rank has received from the second
        pair = (second, first) if tag == "R" else (first, second)
        rows.append((*map(float, pair), float(nbytes), float(messages)))
    return np.array(rows), None


def _matrix_market(path: PathLike, data: bytes) -> _Rows:
    from scipy.io import mmread
    from scipy.sparse import coo_array

    check_header(path, data)
    try:
        matrix = coo_array(mmread(io.BytesIO(data + b"\n")))
    except (ValueError, OverflowError, TypeError) as error:
        raise FormatError(path, str(error).strip().lower()) from None
    values = np.ones(matrix.nnz) if data[:200].lower().split()[3:4] == [b"pattern"] else matrix.data
    if np.iscomplexobj(values) or not (np.isfinite(values) & (values >= 0)).all():
        raise FormatError(path, "bytes must be at least 0 and finite")
    rows = np.stack([matrix.row, matrix.col, values, values > 0], axis=1).astype(np.float64)
    return rows, int(matrix.shape[0])


def _table(path: PathLike, text: str, kind: str) -> _Rows:
    lines = [(i, line.strip().rstrip(",;")) for i, line in enumerate(text.splitlines(), 1)]
    lines = [(i, line) for i, line in lines if line and line[0] not in "#%"]
    labelled = bool(lines) and lines[0][1][0] in ",;"
    if lines and (labelled or not _number(_SEPARATORS.split(lines[0][1])[0])):
        lines = lines[1:]
    if not lines:
        raise FormatError(path, "holds no messages")
    rows = [_numbers(path, i, line) for i, line in lines]
    if labelled:
        rows = [row[1:] for row in rows]
    width = len(rows[0])
    for (i, _), row in zip(lines, rows, strict=True):
        if len(row) != width and (len(row) not in (3, 4) or width not in (3, 4)):
            raise FormatError(path, f"has {len(row)} numbers where the lines before have {width}", i)
    even = all(len(row) == width for row in rows)
    square = even and len(rows) == width
    table = [[*row, 1.0] if len(row) == 3 else row for row in rows]
    if kind == "auto" and square and width in (3, 4) and not labelled and _may_be_list(table):
        raise FormatError(path, f"can be a matrix of {width} ranks or a list of {width} pairs; say which (--kind)")
    if labelled or kind == "matrix" or (kind == "auto" and square):
        if not square:
            raise FormatError(path, f"a matrix needs as many columns as rows, has {len(rows)} rows of {width}")
        matrix = np.array(rows)
        source, target = np.nonzero(matrix)
        return np.stack([source, target, matrix[source, target], np.ones(len(source))], axis=1), width
    if width not in (3, 4):
        raise FormatError(path, f"is neither a square matrix nor lines 'source target bytes [messages]': "
                                f"{len(rows)} lines, the first with {width} numbers", lines[0][0])
    for (i, _), row in zip(lines, table, strict=True):
        if row[0] != int(row[0]) or row[1] != int(row[1]) or max(row[:2]) >= 2**31:
            raise FormatError(path, f"ranks must be whole numbers from 0, found {row[0]:g} and {row[1]:g}", i)
        if row[3] != int(row[3]) or row[3] >= 2**60:
            raise FormatError(path, f"the number of messages must be whole, found {row[3]:g}", i)
    return np.array(table), None


def _may_be_list(table: list[list[float]]) -> bool:
    return all(row[0] == int(row[0]) and row[1] == int(row[1]) for row in table)


def _number(word: str) -> bool:
    try:
        float(word)
    except ValueError:
        return False
    return True


def _numbers(path: PathLike, line: int, text: str) -> list[Any]:
    words = _SEPARATORS.split(text)
    try:
        row = [float(word) for word in words]
    except ValueError:
        wrong = next(word for word in words if not _number(word))
        raise FormatError(path, f"needs numbers, found {wrong!r:.40}", line) from None
    if not all(0 <= value < float("inf") for value in row):
        raise FormatError(path, "numbers must be at least 0 and finite", line)
    return row


__all__ = ["KINDS", "read_profile"]
