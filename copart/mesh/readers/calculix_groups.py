"""From numbers to indices: the nodes, elements, sets and surfaces of a CalculiX deck as one `Mesh`."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np

from ...errors import CopartError, FormatError
from ..cells import shape_of
from ..fields import Block
from ..polyhedra import Ints
from ..value import Mesh
from .assembling import Members, assembled
from .calculix_deck import Card, Deck, Named
from .element_names import face

_DEEPEST = 20


class _DoesNotFit(Exception):
    """A set names what the mesh does not have."""


def grouped_mesh(path: Path, deck: Deck) -> Mesh:
    """The mesh of a deck."""
    return _Groups(path, deck).mesh()


class _Groups:
    """Where each node and element is, and what the names stand for."""

    def __init__(self, path: Path, deck: Deck) -> None:
        self.path, self.deck = path, deck
        self.remarks = list(deck.remarks)
        self.known: dict[Named, Ints] = {}
        ids = np.concatenate(deck.ids)
        # of a node that is given twice the last counts, as in CalculiX
        self.node_ids, last = np.unique(ids[::-1], return_index=True)
        self.points = np.concatenate(deck.points)[::-1][last]
        if len(ids) > len(self.node_ids):
            self.remarks.append(f"{len(ids) - len(self.node_ids)} nodes are given more than once; the last one counts")
        numbers = np.concatenate([e for _, e, _ in deck.elements])
        self.order = np.argsort(numbers, kind="stable")
        self.element_ids = numbers[self.order]
        twice = self.element_ids[1:] == self.element_ids[:-1]
        if twice.any():
            raise FormatError(path, f"element {int(self.element_ids[1:][twice][0])} is given more than once")
        if len(numbers) and int(self.element_ids[0]) < 1:
            raise FormatError(path, f"element number {int(self.element_ids[0])} is not above 0")
        self.blocks: list[Block] = []
        for kind, elements, nodes in deck.elements:
            index, there = _places(self.node_ids, nodes.ravel())
            if not there.all():
                i = int(np.argmin(there))
                raise FormatError(path, f"element {int(elements[i // kind.nnodes])} has node {int(nodes.ravel()[i])}, "
                                        f"which is not defined")
            self.blocks.append((kind.kind, index.reshape(nodes.shape)))
        self.first = np.concatenate([[0], np.cumsum([len(c) for _, c in self.blocks])])
        self.top = max(shape_of(t, c.shape[1]).dimension for t, c in self.blocks if len(c)) if len(numbers) else 0

    def mesh(self) -> Mesh:
        """Everything in one mesh."""
        sets: list[tuple[str, Members]] = []
        nodes: dict[str, Ints] = {}
        facets: dict[str, list[Any]] = {}
        for found in self.deck.node_sets.values():
            members = self._fitting("node set", found, self.deck.node_sets, self.node_ids)
            if members is not None and len(members):
                nodes[found.name] = members
        for found in self.deck.element_sets.values():
            members = self._fitting("element set", found, self.deck.element_sets, self.element_ids)
            if members is not None and len(members):
                sets.append((found.name, self._members(self.order[members])))
        for found in self.deck.surfaces.values():
            try:
                self._surface(found, sets, nodes, facets)
            except _DoesNotFit as error:
                self._not_fitting("surface", found, str(error))
        try:
            return assembled(self.points, self.blocks, self.path.stem, sets, facets=facets, nodes=nodes,
                             remarks=self.remarks)
        except CopartError as error:
            raise FormatError(self.path, str(error)) from None

    def _members(self, elements: Ints) -> Members:
        """Elements, numbered over the blocks, by block."""
        block = np.searchsorted(self.first, elements, side="right") - 1
        return {int(b): elements[block == b] - self.first[b] for b in np.unique(block)}

    def _fitting(self, what: str, found: Named, sets: dict[str, Named], ids: Ints) -> Ints | None:
        """Places in `ids` of the members of a set; None, with a remark, where it does not fit the mesh."""
        try:
            return self._resolved(found, sets, ids, 0)
        except _DoesNotFit as error:
            self._not_fitting(what, found, str(error))
            return None

    def _not_fitting(self, what: str, found: Named, why: str) -> None:
        where = f" of {found.side}" if found.side else ""
        self.remarks.append(f"{what} {found.name}{where} is left out: {why}")

    def _resolved(self, found: Named, sets: dict[str, Named], ids: Ints, depth: int) -> Ints:
        """Places in `ids`, ascending."""
        if found in self.known:
            return self.known[found]
        if depth > _DEEPEST:
            raise _DoesNotFit("it names itself, or sets of sets too deep")
        parts = []
        for card, known in found.parts:
            if known is not None:
                parts.append(_places(ids, known)[0])
                continue
            words = card.data.replace(b",", b" ").split()
            if "GENERATE" in card.given:
                parts.extend(self._generated(card, ids))
                continue
            given = np.array([int(w) for w in words if w.isdigit() and len(w) < 19], np.int64)
            index, there = _places(ids, given)
            if not there.all():
                raise _DoesNotFit(f"{int((~there).sum())} of {len(given)} members are not in the mesh, "
                                  f"first {int(given[np.argmin(there)])}")
            parts.append(index)
            for word in words:
                if not word.isdigit() or len(word) >= 19:
                    name = word.decode().upper()
                    if name not in sets:
                        raise _DoesNotFit(f"it names {name}, which is not defined")
                    parts.append(self._resolved(sets[name], sets, ids, depth + 1))
        out = np.unique(np.concatenate(parts)) if parts else np.zeros(0, np.int64)
        self.known[found] = out
        return out

    def _generated(self, card: Card, ids: Ints) -> list[Ints]:
        """Ranges ``first, last, step`` among the numbers that there are."""
        out = []
        for line in card.data.split(b"\n"):
            words = line.replace(b",", b" ").split()
            if not words:
                continue
            if len(words) not in (2, 3) or not all(w.isdigit() and len(w) < 19 for w in words):
                card.fail("GENERATE needs first, last and step")
            first, last, step = (int(w) for w in [*words, b"1"][:3])
            if step < 1 or last < first:
                card.fail(f"GENERATE needs first <= last and a step above 0, has {first}, {last}, {step}")
            out.append(np.flatnonzero((ids >= first) & (ids <= last) & ((ids - first) % step == 0)))
        return out

    def _surface(self, found: Named, sets: list[tuple[str, Members]], nodes: dict[str, Ints],
                 facets: dict[str, list[Any]]) -> None:
        """Put a surface where it belongs: nodes, facets, or the elements themselves (shells)."""
        for card, _ in found.parts:
            of_nodes = card.given.get("TYPE", "ELEMENT").upper() == "NODE"
            lines: dict[str, list[bytes]] = {}  # numbers and sets by face
            for at, line in enumerate(card.data.split(b"\n")):
                what, _, rest = line.partition(b",")
                if what.strip():
                    lines.setdefault(rest.split(b",")[0].strip().decode(), []).append(what.strip())
                    if not of_nodes and not rest.strip():
                        raise _DoesNotFit(f"{what.decode().strip()} has no face label, "
                                          f"in line {card.line + 1 + at}")
            for label, members in lines.items():
                named = Named(found.name, found.side, [(card._replace(given={}, data=b"\n".join(members)), None)])
                if of_nodes:
                    index = self._resolved(named, self.deck.node_sets, self.node_ids, 0)
                    nodes[found.name] = np.union1d(nodes.get(found.name, index), index)
                else:
                    index = self._resolved(named, self.deck.element_sets, self.element_ids, 0)
                    self._faces(found.name, self._members(self.order[index]), label, sets, facets)

    def _faces(self, name: str, members: Members, label: str, sets: list[tuple[str, Members]],
               facets: dict[str, list[Any]]) -> None:
        """The faces of that label of some elements."""
        for b, index in members.items():
            kind = self.deck.elements[b][0]
            corners = face(kind.kind.rstrip("0123456789"), label, kind.shell)
            if corners is None:
                raise _DoesNotFit(f"{kind.kind} elements have no face {label}")
            if not corners:
                sets.append((name, {b: index}))
            elif shape_of(kind.kind, kind.nnodes).dimension == self.top:
                facets.setdefault(name, []).append(self.blocks[b][1][index][:, list(corners)])
            else:
                raise _DoesNotFit(f"it has edges of {kind.kind} elements, which are no cells here")


def _places(ids: Ints, wanted: Ints) -> tuple[Ints, Any]:
    """Where each number is in the ascending `ids`, and whether it is there."""
    if len(ids) == 0:
        return np.zeros(len(wanted), np.int64), np.zeros(len(wanted), bool)
    place = np.minimum(np.searchsorted(ids, wanted), len(ids) - 1)
    return place, ids[place] == wanted
