"""Text files of whole numbers: bytes to tokens and lines with numpy, errors with their line.

All readers of this folder share :func:`read_numbers`.  It looks at the whole
file a few times with vectorised operations; what a line number is gets worked
out only where something is wrong.  Nothing is allocated from a number that a
file claims, only from its size.
"""

from __future__ import annotations

import gzip
import json
import os
import zlib
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ..errors import FormatError

PathLike = str | os.PathLike[str]

_LFS = b"version https://git-lfs.github.com/spec/"

#: Longest token that surely fits in 64 bits, sign included.
_LONGEST = 18


@dataclass(frozen=True, eq=False)
class Numbers:
    """The whole numbers of a text file, with the lines they stand on.

    Comment lines are gone; every other line counts, also an empty one.

    Parameters
    ----------
    path : path-like
        The file, for messages.
    values : (ntokens,) int64
        All numbers in order.
    first : (nlines + 1,) int64
        ``values[first[i]:first[i + 1]]`` are the numbers of line i.
    number : (nlines,) int64
        Line i's number in the file, counted from 1, comments included.
    open_end : bool
        The file ends with a line end, so that an empty line without one follows.
    """

    path: PathLike
    values: NDArray[np.int64]
    first: NDArray[np.int64]
    number: NDArray[np.int64]
    open_end: bool

    @property
    def nlines(self) -> int:
        """Number of lines that are no comments."""
        return len(self.number)

    def line(self, i: int) -> NDArray[np.int64]:
        """The numbers of line `i`."""
        return self.values[self.first[i]:self.first[i + 1]]

    def line_of(self, token: int) -> int:
        """Line number in the file of ``values[token]``."""
        return int(self.number[np.searchsorted(self.first, token, side="right") - 1])

    def last_line(self) -> int:
        """Line number of the end of the file."""
        return int(self.number[-1]) if self.nlines else 1

    def error(self, rule: str, *, line: int | None = None, token: int | None = None) -> FormatError:
        """A FormatError at the file's line `line`, or where ``values[token]`` stands."""
        return FormatError(self.path, rule, self.line_of(token) if token is not None else line)


def refuse_pointer(path: PathLike, head: bytes) -> None:
    """Refuse what git-lfs leaves in place of a file that was not fetched.

    Raises
    ------
    FormatError
        The file begins as such a pointer.
    """
    if head.startswith(_LFS):
        raise FormatError(path, f"is a pointer of git-lfs, the file itself was not fetched: git lfs pull --include "
                                f"{Path(path).name}")


def read_bytes(path: PathLike) -> bytes:
    """Content of a file, unpacked where its name ends in ``.gz``; FormatError when that fails."""
    try:
        data = Path(path).read_bytes()
    except (OSError, ValueError) as e:
        # no name of a file holds a null byte
        raise FormatError(path, f"cannot be read: {(getattr(e, 'strerror', None) or str(e)).lower()}") from None
    refuse_pointer(path, data)
    if os.fspath(path).endswith(".gz"):
        try:
            data = gzip.decompress(data)
        except (OSError, EOFError, zlib.error) as e:
            raise FormatError(path, f"is no complete gzip file: {str(e).lower()}") from None
        except MemoryError:
            raise FormatError(path, "is too large for the memory when unpacked") from None
    return data


def read_json(path: PathLike) -> Any:
    """Content of a JSON file.

    Raises
    ------
    FormatError
        It is none (with the line), or an object has a key twice.
    """
    def unique(entries: list[tuple[str, Any]]) -> dict[str, Any]:
        out = dict(entries)
        if len(out) < len(entries):
            twice = next(key for i, (key, _) in enumerate(entries) if key in dict(entries[:i]))
            raise FormatError(path, f"holds the key {twice!r:.40} twice in one object")
        return out

    try:
        return json.loads(read_bytes(path).decode("utf-8-sig"), object_pairs_hook=unique)
    except FormatError:
        raise
    except json.JSONDecodeError as e:
        raise FormatError(path, f"is no JSON: {e.msg.lower()}", e.lineno) from None
    except (UnicodeDecodeError, RecursionError) as e:
        raise FormatError(path, f"is no JSON: {e}") from None
    except ValueError:
        # Python does not convert numbers of thousands of digits
        raise FormatError(path, "holds a number with too many digits") from None


def is_document(value: Any, schema: str, version: int) -> bool:
    """Whether a JSON value is a document of one of copart's own kinds."""
    return isinstance(value, dict) and value.get("schema") == schema and value.get("version") is not True \
        and value.get("version") == version


def read_numbers(path: PathLike, comment: str = "%") -> Numbers:
    """Read a file of whole numbers separated by blanks, in lines.

    Parameters
    ----------
    path : path-like
        A name that ends in ``.gz`` is unpacked.
    comment : str
        A line whose first mark is this character is left out; "" for none.

    Raises
    ------
    FormatError
        The file is unreadable, or holds something that is no 64-bit whole number.
    """
    data = read_bytes(path)
    if b"\n" not in data:
        data = data.replace(b"\r", b"\n")
    text = np.frombuffer(data, np.uint8)
    breaks = np.flatnonzero(text == 10)
    begin = np.concatenate([[0], breaks + 1])
    keep = np.ones(len(begin), np.bool_)
    if len(text) == 0 or text[-1] == 10:
        keep[-1] = False  # what follows the last line end is no line yet
    if comment and comment.encode() in data:
        text = text.copy()
        keep &= ~_blank_comments(text, begin, ord(comment))
        data = text.tobytes()
    digit = (text >= 48) & (text <= 57)
    part = digit | (text == 45)
    head = part.copy()
    head[1:] &= ~part[:-1]
    starts = np.flatnonzero(head)
    tail = part
    tail[:-1] &= ~part[1:]
    lengths = np.flatnonzero(tail) - starts + 1
    _refuse_other_marks(path, text, digit, starts, lengths, breaks)
    values = np.fromstring(data, np.int64, sep=" ") if len(starts) else np.zeros(0, np.int64)
    if len(values) != len(starts):
        raise FormatError(path, "holds something that is no whole number")
    first = np.concatenate([np.searchsorted(starts, begin[keep]), [len(starts)]])
    return Numbers(path, values, first, np.flatnonzero(keep) + 1, bool(len(text)) and not keep[-1] and text[-1] == 10)


def _blank_comments(text: NDArray[np.uint8], begin: NDArray[np.int64], mark: int) -> NDArray[np.bool_]:
    """Overwrite the comment lines in `text` with spaces; say which lines they are."""
    found = np.zeros(len(begin), np.bool_)
    at = np.flatnonzero(text == mark)
    lines, which = np.unique(np.searchsorted(begin, at, side="right") - 1, return_index=True)
    for line, where in zip(lines.tolist(), at[which].tolist(), strict=True):
        start = int(begin[line])
        end = int(begin[line + 1]) - 1 if line + 1 < len(begin) else len(text)
        if not bytes(text[start:where]).strip():
            text[start:end] = 32
            found[line] = True
    return found


def _refuse_other_marks(path: PathLike, text: NDArray[np.uint8], digit: NDArray[np.bool_],
                        starts: NDArray[np.int64], lengths: NDArray[np.int64], breaks: NDArray[np.int64]) -> None:
    """Raise FormatError for the first token that is no whole number of at most 18 digits."""
    blank = (text == 32) | ((text >= 9) & (text <= 13))
    bad = ~(digit | blank)
    minus = np.flatnonzero(text == 45)
    if len(minus):
        after = np.append(digit[1:], False)[minus]
        before = np.concatenate([[True], blank[:-1]])[minus]
        bad[minus[after & before]] = False
    place = [int(np.argmax(bad))] if bad.any() else []
    place += starts[lengths > _LONGEST][:1].tolist()
    if not place:
        return
    at = min(place)
    left, right = at, at
    while left > 0 and not blank[left - 1]:
        left -= 1
    while right < len(text) and not blank[right] and right - left < 40:
        right += 1
    word = bytes(text[left:right]).decode("ascii", "replace")
    rule = f"needs whole numbers, found {word!r}" if bad[left:right].any() else f"number {word} is too large"
    raise FormatError(path, rule, int(np.searchsorted(breaks, at)) + 1)
