"""What ``metrics.json`` says of the other files of a plan, and of itself: which there are, and their checksums.

Checksums tell that something was changed, by accident or by hand; whether what a plan states is true is derived again,
from the meshes and the parts (:mod:`copart.plans.verify`).
"""

from __future__ import annotations

import hashlib
import json
from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import Any

from ..checks import Finding

SUM = "sha256"


def sealed(summary: Mapping[str, Any], folder: Path, names: Iterable[str]) -> dict[str, Any]:
    """`summary` with the checksums of the files `names` in `folder` (``files``) and of all of this (``sha256``)."""
    out = {**summary, "files": {name: _of_file(folder / name) for name in names}}
    return {**out, SUM: _of_value(out)}


def check_seals(summary: Mapping[str, Any], folder: Path) -> list[Finding]:
    """What has changed since the plan was written.

    Parameters
    ----------
    summary : mapping
        Content of ``metrics.json``.
    folder : Path
    """
    files = summary.get("files")
    if not isinstance(files, dict) or SUM not in summary:
        return [Finding("metrics.json", "files", "must list the plan's files with their checksums", "no list")]
    out = []
    if summary[SUM] != _of_value({key: value for key, value in summary.items() if key != SUM}):
        out.append(Finding("metrics.json", SUM, "must be the checksum of the other entries",
                           "another one: something in the file has been changed"))
    for name, said in files.items():
        try:
            same = _of_file(folder / name) == said
        except (OSError, ValueError):
            out.append(Finding("files", name, "must be there, as metrics.json lists it", "no such file"))
            continue
        if not same:
            out.append(Finding("files", name, "must have the checksum in metrics.json",
                               "another one: the file has been changed"))
    return out


def _of_file(path: Path) -> str:
    with open(path, "rb") as file:
        return hashlib.file_digest(file, SUM).hexdigest()


def _of_value(value: Any) -> str:
    """Of plain JSON types, however they are laid out in the file."""
    return hashlib.sha256(json.dumps(value, sort_keys=True, separators=(",", ":")).encode()).hexdigest()


__all__ = ["SUM", "check_seals", "sealed"]
