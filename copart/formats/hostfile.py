"""Lists of hosts as batch systems and launchers write them, and their short forms with ranges."""

from __future__ import annotations

import os
import re
from collections.abc import Sequence
from itertools import product

from ..errors import FormatError, MappingError
from .text import PathLike, read_bytes

#: More hosts than this are taken for a mistake in a range.
MOST = 2**20

#: Names that end like this are those of files.
_ENDINGS = (".conf", ".csv", ".dat", ".gz", ".graph", ".grf", ".hosts", ".json", ".tgt", ".txt", ".xml", ".yaml",
            ".yml")

#: Numbers of more digits are a mistake, and Python takes none of thousands.
_DIGITS = 40

_WORD = re.compile(r"(?:[^,\[\]\s]|\[[^\[\]]*\])+|[\[\]]")
_BRACKET = re.compile(r"\[([^\[\]]*)\]")
_NAME = re.compile(r"[A-Za-z0-9_.%-]+$")
#: Open MPI and Slurm take blanks beside the equals sign.
AROUND = re.compile(r"\s*=\s*")
#: What stands before it; in a rankfile, which is no list of hosts, it would be the number of a rank.
_KEY = re.compile(r"[A-Za-z_-]+$")


def expand(text: str) -> list[str]:
    """Names of hosts written with ranges, in their order.

    Raises
    ------
    MappingError
        A bracket or range is ill-formed, or they stand for more than a million hosts.

    Examples
    --------
    >>> expand("n[001-003,7],login")
    ['n001', 'n002', 'n003', 'n7', 'login']
    >>> expand("r[0-1]n[08-09]")
    ['r0n08', 'r0n09', 'r1n08', 'r1n09']
    """
    out: list[str] = []
    for word in _WORD.findall(text):
        out += _expanded(word)
        if len(out) > MOST:
            raise MappingError(f"node list: stands for more than {MOST} hosts")
    return out


def _expanded(word: str) -> list[str]:
    pieces = _BRACKET.split(word)
    if any(mark in piece for piece in pieces for mark in "[]"):
        raise MappingError(f"node list: brackets do not match in {word[:60]!r}")
    choices = [_range(piece) if i % 2 else [piece] for i, piece in enumerate(pieces)]
    count = 1
    for choice in choices:
        count *= len(choice)
    if count > MOST:
        raise MappingError(f"node list: {word[:60]!r} stands for more than {MOST} hosts")
    names = ["".join(choice) for choice in product(*choices)]
    if not _NAME.match(names[0]):
        raise MappingError(f"node list: {names[0][:60]!r} is no name of a host")
    return names


def _range(text: str) -> list[str]:
    """``001-003,7`` as its members, leading zeros kept."""
    out: list[str] = []
    for item in text.split(","):
        low, dash, high = item.strip().partition("-")
        if not low.isdecimal() or (dash and not high.isdecimal()) or len(low + high) > _DIGITS:
            raise MappingError(f"node list: [{text[:60]}] must hold numbers and ranges like 001-004,7")
        first, last = int(low), int(high or low)
        if last < first or last - first >= MOST:
            raise MappingError(f"node list: range {item[:60]} must rise, and hold at most {MOST} hosts")
        out += [f"{i:0{len(low)}}" for i in range(first, last + 1)]
    return out


def read_hosts(source: PathLike | Sequence[str]) -> list[tuple[str, int | None]]:
    """Hosts and how many processes each takes, in the order of their first mention.

    Parameters
    ----------
    source : path-like, str or sequence of str
        A file, or the names themselves, also with ranges: ``"n[001-004,7]"``, or a line with numbers of slots between
        them.  Lines of a file may be

        - ``host slots=4 max_slots=8`` (Open MPI, also with blanks beside ``=``),
        - ``host:4`` (MPICH, Hydra, Slurm's ``srun``),
        - ``host 4 queue undefined`` (Grid Engine), ``hostA 4 hostB 2`` (LSF),
        - ``host``, where a repeated name is one more slot (PBS, ``SLURM_HOSTFILE``),

        each also with ranges; ``#`` begins a comment.

    Returns
    -------
    list of (str, int or None)
        None where a number of slots is nowhere said.

    Raises
    ------
    FormatError, MappingError
        A line is of none of these forms, a number of slots is below 1, or there is no host.
    """
    found: dict[str, int | None] = {}
    if is_file(source):
        entries = _lines(source)  # type: ignore[arg-type]
    else:
        texts = [source] if isinstance(source, str) else list(source)  # type: ignore[arg-type]
        entries = [entry for text in texts for entry in _written(text)]
    repeated = len({name for name, _ in entries}) < len(entries)
    for name, slots in entries:
        more = slots if slots is not None else 1 if repeated else None
        found[name] = more if name not in found else (found[name] or 0) + (more or 0)
    if not found:
        raise MappingError("node list: names no host")
    return list(found.items())


def is_file(source: PathLike | Sequence[str]) -> bool:
    """Whether `source` is the name of a file, which need not exist, rather than names of hosts."""
    return isinstance(source, os.PathLike) or (isinstance(source, str) and (
        os.path.sep in source or source.lower().endswith(_ENDINGS) or os.path.exists(source)))


def _written(text: str) -> list[tuple[str, int | None]]:
    """The hosts of names with blanks or commas between them, or of one line of LSF or Grid Engine."""
    words = _WORD.findall(text)
    if len(words) > 1 and words[1].isdecimal() and "," not in _BRACKET.sub("", text):
        return _entry(words)  # as in $LSB_MCPU_HOSTS
    return [entry for word in words for entry in _entry([word])]


def _lines(path: PathLike) -> list[tuple[str, int | None]]:
    try:
        lines = read_bytes(path).decode("utf-8-sig").splitlines()
    except UnicodeDecodeError:
        raise FormatError(path, "is no text file") from None
    out: list[tuple[str, int | None]] = []
    for i, line in enumerate(lines, 1):
        words = AROUND.sub("=", line.split("#")[0]).split()
        try:
            out += _entry(words) if words else []
        except MappingError as error:
            raise FormatError(path, str(error), i) from None
        if len(out) > MOST:
            raise FormatError(path, f"stands for more than {MOST} hosts", i)
    if not out:
        raise FormatError(path, "names no host")
    return out


def _entry(words: list[str]) -> list[tuple[str, int | None]]:
    """The hosts of one line."""
    slots: int | None = None
    rest = words[1:]
    if len(words) % 2 == 0 and all(word.isdecimal() for word in words[1::2]):
        return [(name, _slots(n)) for host, n in zip(words[::2], words[1::2], strict=True) for name in expand(host)]
    host, colon, number = words[0].partition(":")
    if colon:
        slots = _slots(number)
    if rest and rest[0].isdecimal():
        # Grid Engine: host, slots, queue, processors
        slots, rest = _slots(rest[0]), []
    for word in rest:
        key, equals, value = word.partition("=")
        if not equals or not _KEY.match(key):
            raise MappingError(f"node list: {word[:40]!r} behind host {host[:40]} is not understood; known are "
                               f"slots=N, host:N and a plain number")
        if key.lower() in ("slots", "cpu", "count"):
            slots = _slots(value)
    return [(name, slots) for name in expand(host)]


def _slots(text: str) -> int:
    if not text.isdecimal() or len(text) > _DIGITS or not 1 <= int(text) <= MOST:
        raise MappingError(f"node list: a number of slots must be at least 1, is {text[:40]!r}")
    return int(text)
