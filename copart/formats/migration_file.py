"""``migration.json``: who sends which cells to whom, for the code that moves its data.

The schema is described in ``docs/dynamic.md``.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from ..errors import CopartError, FormatError
from ..migration.plan import MigrationPlan, Moves
from .output import write_json
from .text import PathLike, is_document, read_json

SCHEMA = "copart-migration"
VERSION = 1

_COUNTS = ("cells", "former_parts", "parts")
_MOVE = ("from", "to", "volume")
_COMPONENT = {"name", *_COUNTS, "volume", "messages", "moves"}


def write_migration(path: PathLike, plan: MigrationPlan) -> dict[str, Any]:
    """Write ``migration.json`` atomically; returns what was written.

    Parameters
    ----------
    path : path-like
    plan : MigrationPlan
    """
    value = migration_lists(plan)
    write_json(path, value)
    return value


def migration_lists(plan: MigrationPlan) -> dict[str, Any]:
    """A migration plan as plain JSON types.

    Parameters
    ----------
    plan : MigrationPlan
    """
    components = []
    for name, m in plan.moves.items():
        moves = [{"from": source, "to": target, "volume": volume, "cells": cells} for source, target, volume, cells in
                 zip(m.source.tolist(), m.target.tolist(), m.volume.tolist(), m.lists(), strict=True)]
        components.append({"name": name, "cells": m.ncells, "former_parts": m.former_parts, "parts": m.nparts,
                           "volume": int(m.volume.sum()), "messages": len(moves), "moves": moves})
    return {"schema": SCHEMA, "version": VERSION, "components": components}


def read_migration(path: PathLike) -> MigrationPlan:
    """Read what :func:`write_migration` writes.

    Parameters
    ----------
    path : path-like

    Raises
    ------
    FormatError
        The first rule the file breaks, with the place in the document.
    """
    value = read_json(path)
    if not is_document(value, SCHEMA, VERSION):
        raise FormatError(path, f"is no {SCHEMA} document of version {VERSION}")
    _known(path, "document", value, {"schema", "version", "components"})
    entries = value.get("components")
    if not isinstance(entries, list):
        raise FormatError(path, "components: needs a list")
    found: dict[str, Moves] = {}
    for i, entry in enumerate(entries):
        where = f"components[{i}]"
        name = entry.get("name") if isinstance(entry, dict) else None
        if not isinstance(name, str) or name in found:
            raise FormatError(path, f"{where}: needs an object with a name of its own")
        ncells, m, n = (_whole(path, f"{where}.{key}", entry.get(key)) for key in _COUNTS)
        moves = entry.get("moves")
        if not isinstance(moves, list) or not all(isinstance(move, dict) for move in moves):
            raise FormatError(path, f"{where}.moves: needs a list of objects")
        _known(path, where, entry, _COMPONENT)
        for j, move in enumerate(moves):
            _known(path, f"{where}.moves[{j}]", move, {*_MOVE, "cells"})
        columns = [[_whole(path, f"{where}.moves[{j}].{key}", move.get(key)) for j, move in enumerate(moves)]
                   for key in _MOVE]
        lists = [_cells(path, f"{where}.moves[{j}].cells", move.get("cells")) for j, move in enumerate(moves)]
        indptr = np.cumsum([0, *map(len, lists)])
        cells = np.array([cell for part in lists for cell in part], np.int64)
        try:
            found[name] = Moves(ncells, m, n, columns[0], columns[1], indptr, cells, columns[2])  # type: ignore[arg-type]
        except CopartError as error:
            raise FormatError(path, f"{where}: {error}") from None
    return MigrationPlan(found)


def _known(path: PathLike, where: str, thing: dict[str, Any], keys: set[str]) -> None:
    unknown = [key for key in thing if key not in keys]
    if unknown:
        raise FormatError(path, f"{where}: has an unknown entry {unknown[0]!r:.40}")


def _whole(path: PathLike, where: str, value: Any) -> int:
    if not isinstance(value, int) or isinstance(value, bool) or not 0 <= value < 2**62:
        raise FormatError(path, f"{where}: needs a whole number >= 0, has {value!r:.40}")
    return value


def _cells(path: PathLike, where: str, value: Any) -> list[int]:
    if not isinstance(value, list):
        raise FormatError(path, f"{where}: needs a list of cells")
    return [_whole(path, f"{where}[{i}]", cell) for i, cell in enumerate(value)]


__all__ = ["SCHEMA", "VERSION", "migration_lists", "read_migration", "write_migration"]
