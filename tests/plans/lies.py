"""Every single change of the JSON files of a plan: entries changed, removed, added, doubled, in another order."""

from __future__ import annotations

import copy
import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from copart.plans.seal import SUM, sealed

Step = str | int
Lie = tuple[str, Any]
"""What was done where, and the document after it."""


def other_values(value: Any) -> list[Any]:
    """What else might stand there."""
    if isinstance(value, bool):
        return [not value, None, int(value)]
    if isinstance(value, int):
        return [value + 1, -1, float(value) + 0.5, True, None, str(value)]
    if isinstance(value, float):
        return [value * 1.01 + 0.01, -1.0, True, None, str(value)]
    if isinstance(value, str):
        return [value + "x", "", None, 1]
    if value is None:
        return [0, "x", False, 1.5]
    return [None, 0, "x"]


def lies(document: Any, values: int | None = None) -> Iterator[Lie]:
    """All documents that differ from this one at a single place, each value changed in `values` ways (None: in all)."""
    for i, (path, value) in enumerate(_places(document)):
        where = ".".join(map(str, path))
        if path:
            others = other_values(value)
            for other in others if values is None else {j % len(others): others[j % len(others)]
                                                        for j in range(i, i + values)}.values():
                yield f"{where} = {other!r}", _with(document, path, other)
            yield f"{where} removed", _without(document, path)
        if isinstance(value, dict):
            yield f"{where} + unknown", _with(document, (*path, "unknown"), 1)
            if value:
                key = next(iter(value))
                yield f"{where}.{key} under another name", _with(_without(document, (*path, key)),
                                                                (*path, f"{key}2"), value[key])
        elif isinstance(value, list):
            if value:
                yield f"{where}: the first twice", _with(document, path, [value[0], *value])
            if value != value[::-1]:
                yield f"{where}: in another order", _with(document, path, value[::-1])


def _places(value: Any, path: tuple[Step, ...] = ()) -> Iterator[tuple[tuple[Step, ...], Any]]:
    yield path, value
    inner = value.items() if isinstance(value, dict) else enumerate(value) if isinstance(value, list) else ()
    for key, entry in inner:
        yield from _places(entry, (*path, key))


def _with(document: Any, path: tuple[Step, ...], value: Any) -> Any:
    out = copy.deepcopy(document)
    inner = out
    for key in path[:-1]:
        inner = inner[key]
    if not path:
        return value
    inner[path[-1]] = value
    return out


def _without(document: Any, path: tuple[Step, ...]) -> Any:
    out = copy.deepcopy(document)
    inner = out
    for key in path[:-1]:
        inner = inner[key]
    del inner[path[-1]]
    return out


def reseal(folder: Path) -> None:
    """Make the checksums fit what is there, as a liar would who knows of them."""
    path = folder / "metrics.json"
    summary = json.loads(path.read_text())
    if not isinstance(summary, dict) or not isinstance(summary.get("files"), dict):
        return
    names = [name for name in summary["files"] if (folder / name).is_file()]
    inner = {key: value for key, value in summary.items() if key not in ("files", SUM)}
    path.write_text(json.dumps(sealed(inner, folder, names)))
