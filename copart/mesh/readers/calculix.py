"""CalculiX and Abaqus meshes: nodes, elements, sets and surfaces, also from side files.

Cards begin with ``*``, their data follow line by line.  CalculiX users keep node
sets and surfaces in files of their own beside the mesh (``interface.nam``,
``interface.sur``); where the file includes nothing itself, those are read too.
"""

from __future__ import annotations

import os
import re
from collections.abc import Iterator
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from ...errors import FormatError
from ...formats.text import refuse_pointer
from ..polyhedra import Ints
from ..value import Mesh
from .calculix_assembly import Assembly, Frame
from .calculix_deck import Card, Deck, Named
from .calculix_groups import grouped_mesh
from .element_names import element
from .elsewhere import said_gone
from .numbers import NotANumberError, numbers

SIDE_FILES = (".nam", ".sur")
_CARD = re.compile(rb"^[ \t]*\*(?!\*)[^\n]*", re.MULTILINE)
_COMMENT = re.compile(rb"^[ \t]*\*\*[^\n]*", re.MULTILINE)
_EMPTY_FIELD = re.compile(rb",[ \t\r]*,")
_COMMAS = bytes.maketrans(b",", b" ")
_FORTRAN = bytes.maketrans(b"dD", b"ee")
_GENERATES = ("NGEN", "NFILL", "NCOPY", "NMAP", "ELGEN", "ELCOPY", "SYSTEM")
_DEEPEST = 10
_WHOLE = Frame()
_INCLUDED = re.compile(rb"^[ \t]*\*[ \t]*INCLUDE\b[^\n\r=]*INPUT[ \t]*=([^\n\r,]+)", re.IGNORECASE | re.MULTILINE)


def read_calculix(path: Path) -> Mesh:
    """Read a CalculiX or Abaqus mesh with its sets and surfaces as groups.

    Raises
    ------
    FormatError
        With the file and line where it breaks the format, or uses what copart does not read.
    """
    deck = Deck()
    seen: list[Path] = []
    assembly = Assembly()
    _read(path, deck, seen, 0, "", assembly)
    if len(seen) == 1:
        for side in sorted(p for p in path.parent.iterdir() if p.suffix.lower() in SIDE_FILES and p.is_file()):
            _read(side, deck, seen, 1, side.name, assembly)
    for instance, card, frame in assembly.placed():
        _take(card, deck, "", frame, instance)
    gone = f"; {said_gone(deck.gone)}" if deck.gone else ""
    if deck.gone:
        deck.remarks.append(f"{said_gone(deck.gone)}: left out")
    if not deck.ids:
        raise FormatError(path, f"no nodes (*NODE){gone}")
    if not deck.elements:
        kinds = f"; of types that are no cells: {', '.join(deck.skipped)}" if deck.skipped else ""
        raise FormatError(path, f"no elements (*ELEMENT){kinds}{gone}")
    if deck.skipped:
        deck.remarks.append("elements that are no cells are left out: "
                            + ", ".join(f"{n} {kind}" for kind, n in deck.skipped.items()))
    return grouped_mesh(path, deck)


def deck_files(path: Path, depth: int = 0) -> list[Path]:
    """The files that reading a deck opens, itself first: those that it includes, or else its side files."""
    out = [path]
    try:
        named = _INCLUDED.findall(_in_utf8(path.read_bytes())) if depth <= _DEEPEST else []
    except OSError:
        return out
    for name in named:
        out += deck_files(path.parent / name.decode().strip().strip("\"'"), depth + 1)
    if depth == 0 and len(out) == 1:
        out += sorted(p for p in path.parent.iterdir() if p.suffix.lower() in SIDE_FILES)
    return out


def _in_utf8(text: bytes) -> bytes:
    """The text of a deck in UTF-8, where older programs, and those of Windows, write Latin-1."""
    if not text.isascii():  # mostly it is, which is known without a copy
        try:
            text.decode()
        except UnicodeDecodeError:
            return text.decode("latin-1").encode()
    return text


def _read(path: Path, deck: Deck, seen: list[Path], depth: int, side: str, assembly: Assembly) -> None:
    """Take the cards of a file, and of those that it includes."""
    seen.append(path)
    if depth > _DEEPEST or len(seen) > 1000:
        raise FormatError(path, f"includes files more than {_DEEPEST} deep, perhaps itself")
    for card in cards(path):
        if card.keyword == "INCLUDE":
            name = card.given.get("INPUT", "")
            # a damaged name may be longer than the system takes, which isfile passes over
            other = path.parent / name
            if name and os.path.isfile(other):
                _read(other, deck, seen, depth + 1, side, assembly)
            else:
                deck.gone.setdefault(name or "(no name)")
        elif not assembly.keeps(card):
            _take(card, deck, side)


def cards(path: Path) -> Iterator[Card]:
    """The cards of a file."""
    try:
        text = path.read_bytes().removeprefix(b"\xef\xbb\xbf")  # as editors of Windows begin files
    except OSError as error:
        raise FormatError(path, f"cannot be opened: {error.strerror}") from None
    refuse_pointer(path, text)
    text = _in_utf8(text)
    if b"\r" in text:
        text = text.replace(b"\r\n", b"\n").replace(b"\r", b"\n")
    if b"**" in text:
        text = _COMMENT.sub(b"", text)
    found = list(_CARD.finditer(text))
    head = text[:found[0].start()] if found else text
    if head.strip():
        raise FormatError(path, "expected a card such as *NODE", head[:len(head) - len(head.lstrip())].count(b"\n") + 1)
    line, at = 1, 0
    for i, match in enumerate(found):
        line += text.count(b"\n", at, match.start())
        at = match.start()
        stop = found[i + 1].start() if i + 1 < len(found) else len(text)
        said, body, first = match[0].decode(), match.end() + 1, line
        while said.rstrip().endswith(","):  # the card goes on in the next line
            end = text.find(b"\n", body, stop)
            end = stop if end < 0 else end
            more = text[body:end].decode()
            if not more.strip() or "=" not in more:
                break
            said, body, first = said + more, end + 1, first + 1
        keyword, *rest = (part.strip() for part in said.strip()[1:].split(","))
        given = {}
        for part in rest:
            key, _, value = part.partition("=")
            given[key.strip().upper()] = value.strip().strip("\"'")
        yield Card(path, first, " ".join(keyword.upper().split()), given, text[body:stop])


def _take(card: Card, deck: Deck, side: str, frame: Frame = _WHOLE, instance: str = "") -> None:
    """Add what one card says; elements of an instance belong to a set of its name."""
    given = card.given
    if card.keyword in _GENERATES:
        card.fail(f"*{card.keyword} is not supported; write out the nodes and elements it makes")
    if card.keyword == "NODE":
        ids, points = _nodes(card)
        ids = ids + frame.shift
        deck.ids.append(ids)
        deck.points.append(frame.moved(points))
        if given.get("NSET"):
            _named(deck.node_sets, frame.prefix + given["NSET"], side).parts.append((card, ids))
    elif card.keyword == "ELEMENT":
        kind = element(given.get("TYPE", ""))
        if kind is None:
            if not given.get("TYPE"):
                card.fail("*ELEMENT needs TYPE=")
            deck.skipped[given["TYPE"]] = deck.skipped.get(given["TYPE"], 0) + card.data.strip().count(b"\n") + 1
            return
        rows = _integers(card)
        if len(rows) % (kind.nnodes + 1):
            card.fail(f"elements {given['TYPE']} need a number and {kind.nnodes} nodes each; "
                      f"{len(rows)} numbers are no multiple of {kind.nnodes + 1}")
        rows = rows.reshape(-1, kind.nnodes + 1) + frame.shift
        # a line of second order lists its middle between its ends, others list corners first
        nodes = rows[:, [1, 3, 2]] if kind.kind == "line3" else rows[:, 1:]
        deck.elements.append((kind, rows[:, 0], nodes))
        for name in (instance, frame.prefix + given["ELSET"] if given.get("ELSET") else ""):
            if name:
                _named(deck.element_sets, name, side).parts.append((card, rows[:, 0]))
    elif card.keyword in ("NSET", "ELSET"):
        name = given.get(card.keyword, "")
        if not name:
            card.fail(f"*{card.keyword} needs {card.keyword}=NAME")
        sets = deck.node_sets if card.keyword == "NSET" else deck.element_sets
        _named(sets, frame.prefix + name, side).parts.append((card, None))
    elif card.keyword == "SURFACE":
        if not given.get("NAME"):
            card.fail("*SURFACE needs NAME=")
        _named(deck.surfaces, frame.prefix + given["NAME"], side).parts.append((card, None))


def _named(sets: dict[str, Named], name: str, side: str) -> Named:
    """The entry of a name, whatever its case; spelt as it came first."""
    return sets.setdefault(name.upper(), Named(name, side, []))


def _integers(card: Card) -> Ints:
    """All numbers after a card."""
    try:
        return numbers(card.data.translate(_COMMAS), np.int64)
    except NotANumberError as error:
        card.fail(f"not a whole number: {error.word!r}", error.at)


def _nodes(card: Card) -> tuple[Ints, NDArray[np.float64]]:
    """Numbers and (n, 3) coordinates after a *NODE card; coordinates left out are 0."""
    if card.given.get("SYSTEM", "R").upper() != "R":
        card.fail("*NODE in a system other than rectangular is not supported")
    data = card.data.translate(_FORTRAN)
    lines = [line for line in data.split(b"\n") if line.strip()]
    width = 4
    if any(line.count(b",") != lines[0].count(b",") for line in lines) or _EMPTY_FIELD.search(data):
        rows = []
        for line in lines:
            fields = [f.strip() or b"0" for f in line.strip().rstrip(b",").split(b",")]
            rows.append(b" ".join([*fields, b"0", b"0", b"0"][:4]))
        data = b"\n".join(rows)
    try:
        flat = numbers(data.translate(_COMMAS), np.float64)
    except NotANumberError as error:
        card.fail(f"not a number: {error.word!r}", error.at)
    if lines and len(flat) % len(lines) == 0:
        width = len(flat) // len(lines)
    if len(flat) != width * len(lines) or not 2 <= width <= 7:
        card.fail("*NODE needs a number and up to three coordinates per line")
    table = flat.reshape(-1, width)
    bad = ~(np.abs(table[:, 0]) < 2**53) | (table[:, 0] != np.floor(table[:, 0])) | (table[:, 0] < 1)
    if bad.any():
        i = int(np.argmax(bad))
        card.fail(f"node number {table[i, 0]:g} is not a whole number above 0 (node {i} after the card)")
    points = np.zeros((len(table), 3))
    points[:, :min(3, width - 1)] = table[:, 1:4]
    return table[:, 0].astype(np.int64), points
