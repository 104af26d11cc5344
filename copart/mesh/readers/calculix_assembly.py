"""Abaqus assemblies: parts, and the instances of them that an assembly puts into place."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from .calculix_deck import Card
from .numbers import NotANumberError, numbers

_SETS = ("NSET", "ELSET", "SURFACE")
_LAST = 2**53
"""Largest number of a node or an element."""
_FARTHEST = 1e60


class Frame(NamedTuple):
    """How the numbers, names and points of an instance become those of the whole mesh."""

    shift: int = 0
    prefix: str = ""
    """Before the names of its sets, with a dot; empty where there is one instance alone."""
    turn: NDArray[np.float64] | None = None
    """(3, 4) rotation and shift of its points; None where they stay."""

    def moved(self, points: NDArray[np.float64]) -> NDArray[np.float64]:
        """(n, 3) points where the assembly has them."""
        if self.turn is None:
            return points
        with np.errstate(invalid="ignore", over="ignore"):  # what is not finite is refused with the mesh
            return points @ self.turn[:, :3].T + self.turn[:, 3]

    def told(self, card: Card) -> Card:
        """A card of a set or surface with the numbers and names of the whole mesh."""
        if card.keyword not in _SETS or not (self.shift or self.prefix):
            return card
        if "GENERATE" in card.given:
            lines = [[w.strip() for w in line.split(b",")] for line in card.data.split(b"\n") if line.strip()]
            shifted = [b",".join([*(self._word(w) for w in words[:2]), *words[2:]]) for words in lines]
            return card._replace(data=b"\n".join(shifted))
        if card.keyword == "SURFACE":
            rows = [line.partition(b",") for line in card.data.split(b"\n")]
            return card._replace(data=b"\n".join(self._word(a.strip()) + b + c for a, b, c in rows))
        return card._replace(data=re.sub(rb"[^\s,]+", lambda found: self._word(found[0]), card.data))

    def _word(self, word: bytes) -> bytes:
        """A number, or the name of a set."""
        if word.isdigit() and len(word) < 19:
            return str(int(word) + self.shift).encode()
        return self.prefix.encode() + word if word else word


@dataclass
class Instance:
    """A part where the assembly puts it, and what is said of the instance alone."""

    name: str
    card: Card | None
    """With the part's name and the position; None for a part without an assembly."""
    cards: list[Card]


@dataclass
class Assembly:
    """The cards between *PART and *END PART and in the assembly, kept until all are there."""

    parts: dict[str, list[Card]] = field(default_factory=dict)
    instances: list[Instance] = field(default_factory=list)
    own: list[Card] = field(default_factory=list)
    scope: list[Card] | None = None

    def keeps(self, card: Card) -> bool:
        """Whether a card belongs to the assembly or one of its parts, and is kept here."""
        if card.keyword == "PART":
            name = card.given.get("NAME", "")
            if name.upper() in self.parts:
                card.fail(f"the part {name!r} is given twice")
            self.scope = self.parts.setdefault(name.upper(), [card])
        elif card.keyword == "ASSEMBLY" or (card.keyword == "END INSTANCE" and self.scope is not None):
            self.scope = self.own
        elif card.keyword in ("END PART", "END ASSEMBLY"):
            self.scope = None
        elif card.keyword == "INSTANCE":
            made = Instance(card.given.get("NAME", "") or f"instance-{len(self.instances) + 1}", card, [])
            if made.name.upper() in (other.name.upper() for other in self.instances):
                card.fail(f"the instance {made.name!r} is given twice")
            self.instances.append(made)
            self.scope = made.cards
        elif self.scope is not None:
            self.scope.append(card)
        else:
            return False
        return True

    def placed(self) -> Iterator[tuple[str, Card, Frame]]:
        """The cards of all instances, then of the assembly, with the instance and the frame of each.

        The frame of an instance begins behind the largest number so far.
        """
        instances = self.instances or [Instance(cards[0].given.get("NAME", ""), None, []) for cards in
                                       self.parts.values()]
        alone = len(instances) == 1
        frames: dict[str, Frame] = {}
        largest = 0
        for one in instances:
            part = one.name if one.card is None else one.card.given.get("PART", "")
            cards = self.parts.get(part.upper())
            if cards is None:
                if one.card is not None and not one.cards:
                    one.card.fail(f"the instance {one.name!r} is of the part {part!r}, which is not there")
                cards = []
            frame = Frame(0 if alone else largest, "" if alone else f"{one.name}.",
                          None if one.card is None else _turn(one.card))
            frames[one.name.upper()] = frame
            for card in (*cards[1:], *one.cards):
                if card.keyword in ("NODE", "ELEMENT"):
                    largest = max(largest, frame.shift + _largest(card))
                yield "" if alone else one.name, frame.told(card), frame
            if largest > _LAST:
                (one.card or cards[0]).fail(f"numbers of nodes and elements go beyond {_LAST}")
        own = Frame(0 if alone else largest)
        for card in self.own:
            name = card.given.get("INSTANCE", "")
            if name and name.upper() not in frames:
                card.fail(f"names the instance {name!r}, which is not there")
            frame = frames[name.upper()]._replace(prefix="") if name else own
            if alone:
                # its sets are called without the name of the instance
                before = re.escape(f"{instances[0].name}.".encode())
                card = card._replace(data=re.sub(rb"(?i)(?<![^\s,])" + before, b"", card.data))
            yield "", frame.told(card) if name else card, frame._replace(turn=None)


def _largest(card: Card) -> int:
    """The largest number of a node or an element after a card; all its numbers are looked at."""
    found = 0
    for line in card.data.split(b"\n"):
        first = line.partition(b",")[0].strip()
        if first.isdigit():
            found = max(found, int(first[:19]))
    return found


def _turn(card: Card) -> NDArray[np.float64] | None:
    """The position of an instance: a shift, and after that a turn about the axis through two points."""
    try:
        rows = [numbers(line.replace(b",", b" "), np.float64) for line in card.data.split(b"\n") if line.strip()]
    except NotANumberError as error:
        card.fail(f"not a number: {error.word!r}")
    if not rows:
        return None
    if len(rows[0]) > 3 or len(rows) > 2 or (len(rows) == 2 and len(rows[1]) != 7):
        card.fail("the position of an instance needs a shift of 3 numbers, and for a turn 7 more in the next line")
    if not all((np.abs(row) < _FARTHEST).all() for row in rows):
        card.fail(f"the position of an instance needs finite numbers below {_FARTHEST:g}")
    shift = np.concatenate([rows[0], np.zeros(3 - len(rows[0]))])
    out = np.column_stack([np.eye(3), shift])
    if len(rows) == 2:
        from scipy.spatial.transform import Rotation

        a, axis = rows[1][:3], rows[1][3:6] - rows[1][:3]
        length = float(np.linalg.norm(axis))
        if length == 0:
            card.fail("the axis of the turn needs two different points")
        turn = Rotation.from_rotvec(axis / length * np.deg2rad(rows[1][6])).as_matrix()
        out = np.column_stack([turn, turn @ (shift - a) + a])
    return out


__all__ = ["Assembly", "Frame"]
