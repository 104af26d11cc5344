"""What a CalculiX deck says, card by card, before numbers become indices."""

from __future__ import annotations

from dataclasses import dataclass, field
from pathlib import Path
from typing import NamedTuple, NoReturn

import numpy as np
from numpy.typing import NDArray

from ...errors import FormatError
from ..polyhedra import Ints
from .element_names import Element


class Card(NamedTuple):
    """One card: its keyword, its parameters and the lines after it."""

    path: Path
    line: int
    keyword: str
    given: dict[str, str]
    data: bytes

    def fail(self, rule: str, at: int | None = None) -> NoReturn:
        """Raise a `FormatError` at the card, or at a place in its data."""
        line = self.line if at is None else self.line + 1 + self.data.count(b"\n", 0, at)
        raise FormatError(self.path, rule, line)


@dataclass
class Deck:
    """What the cards say of the mesh."""

    ids: list[Ints] = field(default_factory=list)
    points: list[NDArray[np.float64]] = field(default_factory=list)
    elements: list[tuple[Element, Ints, Ints]] = field(default_factory=list)
    """Type, numbers and (n, nnodes) node numbers of the elements of each card."""
    node_sets: dict[str, Named] = field(default_factory=dict)
    element_sets: dict[str, Named] = field(default_factory=dict)
    surfaces: dict[str, Named] = field(default_factory=dict)
    remarks: list[str] = field(default_factory=list)
    skipped: dict[str, int] = field(default_factory=dict)
    gone: dict[str, None] = field(default_factory=dict)
    """Files that are included and not there."""


@dataclass(frozen=True, eq=False)
class Named:
    """A set or surface as the cards list it."""

    name: str
    side: str
    """The side file that names it first; empty for the mesh itself."""
    parts: list[tuple[Card, Ints | None]]
    """The cards, with the members where they are known already."""
