"""Kratos ``.mdpa`` files: nodes and entities by their numbers, SubModelParts as groups.

Everything is in blocks, ``Begin Nodes`` ... ``End Nodes``.  Elements, conditions and geometries have numbers each of
their own kind, and name nodes by number, which may come in any order.  A SubModelPart inside another is called
``OUTER.INNER``, as in Kratos, and what it has belongs to the outer one, too.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, NamedTuple, NoReturn

import numpy as np
from numpy.typing import NDArray

from ...errors import CopartError, FormatError
from ..polyhedra import Ints
from ..value import Mesh
from .mdpa_groups import Part, Run, grouped_mesh
from .mdpa_names import ORDER, cell_of, nodes_told
from .numbers import NotANumberError, numbers

_COMMENT = re.compile(rb"//[^\n]*|/\*(?s:.*?)(?:\*/|\Z)")
_EDGE = re.compile(rb"^[ \t]*(Begin|End)\b[ \t]*([^\n]*)", re.MULTILINE)
_ENTITIES = ("Elements", "Conditions", "Geometries")
_LISTED = tuple(f"{prefix}{kind}" for prefix in ("SubModelPart", "Mesh") for kind in ("Nodes", *_ENTITIES))
_VALUES = ("NodalData", "ElementalData", "ConditionalData")
_DEEPEST = 50


class _Block(NamedTuple):
    """One block without blocks in it, or the beginning of a SubModelPart."""

    path: Path
    kind: str
    words: list[str]
    """What follows the kind in the first line."""
    line: int
    data: bytes
    parts: tuple[str, ...]
    """The SubModelParts it is in, the outermost first."""

    def fail(self, rule: str, at: int | None = None) -> NoReturn:
        """Raise a `FormatError` at the beginning of the block, or at a place in its data."""
        line = self.line if at is None else self.line + self.data.count(b"\n", 0, at)
        raise FormatError(self.path, rule, line)

    def line_of_row(self, row: int) -> int:
        """Where in the data row `row` begins, empty lines not counted."""
        at = 0
        for line in self.data.split(b"\n"):
            row -= bool(line.strip())
            if row < 0:
                break
            at += len(line) + 1
        return at


@dataclass
class _File:
    """What the blocks say, by number."""

    numbers: list[Ints] = field(default_factory=list)
    points: list[NDArray[np.float64]] = field(default_factory=list)
    runs: dict[str, list[Run]] = field(default_factory=lambda: {kind: [] for kind in _ENTITIES})
    parts: dict[str, Part] = field(default_factory=dict)
    values: set[str] = field(default_factory=set)
    remarks: list[str] = field(default_factory=list)


def read_mdpa(path: Path) -> Mesh:
    """Read a Kratos file; its SubModelParts are groups.

    Raises
    ------
    FormatError
        With the line where it breaks the format.
    """
    try:
        text = path.read_bytes().removeprefix(b"\xef\xbb\xbf")  # as editors of Windows begin files
    except OSError as error:
        raise FormatError(path, f"cannot be opened: {error.strerror}") from None
    if b"\r" in text:
        text = text.replace(b"\r\n", b"\n").replace(b"\r", b"\n")
    if b"//" in text or b"/*" in text:
        text = _COMMENT.sub(lambda found: b"\n" * found[0].count(b"\n"), text)
    file = _File()
    for block in _blocks(path, text):
        _take(block, file)
    if file.values:
        file.remarks.append(f"values on nodes and cells are left out: {', '.join(sorted(file.values))}")
    if not file.numbers or not sum(map(len, file.numbers)):
        raise FormatError(path, "no nodes (Begin Nodes)")
    try:
        return grouped_mesh(path, np.concatenate(file.numbers), np.concatenate(file.points), file.runs, file.parts,
                            file.remarks)
    except FormatError:
        raise
    except CopartError as error:
        raise FormatError(path, str(error)) from None


def _blocks(path: Path, text: bytes) -> Iterator[_Block]:
    """The blocks that hold no others, and the beginnings of SubModelParts."""
    open_: list[tuple[str, list[str], int, int]] = []  # kind, words, line, where its data begin
    line, at, after = 1, 0, 0
    for found in _EDGE.finditer(text):
        line += text.count(b"\n", at, found.start())
        at = found.start()
        if not open_:
            _nothing(path, text, after, at, line)
        kind, *words = found[2].decode("utf-8", "replace").split() or [""]
        inner = open_[-1][0] if open_ else ""
        if found[1] == b"Begin":
            if inner == "Nodes" or inner in _ENTITIES or inner in _LISTED:
                raise FormatError(path, f"expected End {inner}, found Begin {kind[:40]}", line)
            if not kind or (kind == "SubModelPart" and not words) or len(open_) > _DEEPEST:
                raise FormatError(path, f"Begin {kind} needs a name" if len(open_) <= _DEEPEST else
                                  f"blocks are nested more than {_DEEPEST} deep", line)
            open_.append((kind, words, line, found.end()))
            if kind in ("SubModelPart", "Mesh"):
                yield _Block(path, kind, words, line, b"", _around(open_))
        else:
            if not open_ or kind != inner:
                raise FormatError(path, f"expected {f'End {inner}' if open_ else 'Begin'}, found End {kind[:40]}", line)
            kind, words, first, begin = open_.pop()
            if kind not in ("SubModelPart", "Mesh"):
                yield _Block(path, kind, words, first, text[begin:found.start()], _around(open_))
        after = found.end()
    if open_:
        raise FormatError(path, f"the file ends inside Begin {open_[-1][0]}", open_[-1][2])
    _nothing(path, text, after, len(text), line + text.count(b"\n", at))


def _around(open_: list[tuple[str, list[str], int, int]]) -> tuple[str, ...]:
    """Names of the SubModelParts that are open; an old ``Mesh 1`` counts as one called ``Mesh1``."""
    return tuple(words[0] if kind == "SubModelPart" else kind + "".join(words[:1])
                 for kind, words, *_ in open_ if kind in ("SubModelPart", "Mesh"))


def _nothing(path: Path, text: bytes, start: int, stop: int, line: int) -> None:
    """No text between two blocks."""
    between = text[start:stop].split()
    if between:
        before = text.count(b"\n", text.find(between[0], start), stop)
        raise FormatError(path, f"expected Begin, found {between[0][:40].decode('latin-1')!r}", line - before)


def _take(block: _Block, file: _File) -> None:
    """Add what one block says."""
    if block.kind == "Nodes":
        table = _table(block, 4, np.float64)
        bad = ~(np.abs(table[:, 0]) < 2**53) | (table[:, 0] != np.floor(table[:, 0])) | (table[:, 0] < 1)
        if bad.any():
            row = int(np.argmax(bad))
            block.fail(f"node number {table[row, 0]:g} is not a whole number above 0", block.line_of_row(row))
        file.numbers.append(table[:, 0].astype(np.int64))
        file.points.append(table[:, 1:])
    elif block.kind in _ENTITIES:
        run = _run(block, file)
        if run is not None:
            file.runs[block.kind].append(run)
    elif block.kind in ("SubModelPart", "Mesh"):
        file.parts.setdefault(".".join(block.parts), Part(block.line))
    elif block.kind in _LISTED and block.parts:
        members = _numbers(block, np.int64)
        kind = block.kind.removeprefix("SubModelPart").removeprefix("Mesh")
        for depth in range(len(block.parts)):
            part = file.parts.setdefault(".".join(block.parts[:depth + 1]), Part(block.line))
            part.members.setdefault(kind, []).append(members)
    elif block.kind in _VALUES:
        file.values.add(block.words[0] if block.words else block.kind)


def _run(block: _Block, file: _File) -> Run | None:
    """The entities of a block; None where there are none, or conditions of no shape that is known."""
    ahead = 1 if block.kind == "Geometries" else 2
    name = block.words[0] if block.words else ""
    first = re.match(rb"\s*([^\n]*)", block.data)
    words = len(first[1].split()) if first is not None else 0
    if words == 0:
        return None
    width = nodes_told(name) or words - ahead
    cell = cell_of(block.kind, name, width) if width > 0 else None
    if cell is None and block.kind == "Conditions":
        file.remarks.append(f"conditions {name} are left out: the name does not tell their shape")
        return None
    if cell is None:
        block.fail(f"the name {name[:60]!r} does not tell the shape of {block.kind.lower()} of {width} nodes, such as "
                   f"Element2D3N and Tetrahedra3D4 do; convert the mesh to .vtu")
    table = _table(block, ahead + width, np.int64)
    nodes = table[:, ahead:]
    return Run(cell, block.line, name, table[:, 0], nodes[:, ORDER[cell]] if cell in ORDER else nodes,
               table[:, 1] if ahead == 2 else np.zeros(len(table), np.int64))


def _table(block: _Block, width: int, dtype: type) -> NDArray[Any]:
    """All rows of a block."""
    flat = _numbers(block, dtype)
    if len(flat) % width:
        at, what = 0, f"{block.kind.lower()} {' '.join(block.words)[:60]}".strip()
        for line in block.data.split(b"\n"):
            if line.strip() and len(line.split()) != width:
                block.fail(f"{what} need {width} numbers each, found {len(line.split())}", at)
            at += len(line) + 1
        block.fail(f"{what} need {width} numbers each, {len(flat)} are no multiple of it")
    return flat.reshape(-1, width)


def _numbers(block: _Block, dtype: type) -> NDArray[Any]:
    """All numbers of a block."""
    try:
        return numbers(block.data, dtype)
    except NotANumberError as error:
        block.fail(f"not a {'whole ' if dtype is np.int64 else ''}number: {error.word!r}", error.at)
