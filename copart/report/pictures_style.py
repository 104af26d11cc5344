"""What pictures by themselves share: ink, titles, and how they are written."""

from __future__ import annotations

import os
from pathlib import Path
from typing import Any

from ..errors import FormatError
from ..formats.output import is_stream, place_of

INK = "#22303C"
FAINT = "#6B7885"


def title(axes: Any, text: str, note: str) -> None:
    """Name axes that have no frame; what is narrow stands below the beginning of its title."""
    axes.set_axis_off()
    axes.set_anchor("NW")
    caption(axes, text, note)


def caption(axes: Any, text: str, note: str) -> None:
    """A title with a note of one or two lines below, at the left end above the axes."""
    above = 24 + 12 * note.count("\n")
    axes.annotate(text, (0, 1), (0, above), "axes fraction", "offset points", fontsize=13, color=INK, fontweight="bold")
    axes.annotate(note, (0, 1), (0, 8), "axes fraction", "offset points", fontsize=9.5, color=FAINT)


def write_picture(figure: Any, path: str | os.PathLike[str], **options: Any) -> Path:
    """Write a figure of matplotlib so that the file is either complete or untouched; returns its path.

    The folder is made where it does not exist.  `options` are those of ``Figure.savefig``.
    """
    target = place_of(Path(path))
    if is_stream(target):
        raise FormatError(path, "is a device or a pipe; name a file")
    target.parent.mkdir(parents=True, exist_ok=True)
    scratch = target.with_name(f".{os.getpid()}-{target.name}")
    try:
        figure.savefig(scratch, **options)
        os.replace(scratch, target)
    finally:
        scratch.unlink(missing_ok=True)
    return Path(path)


__all__ = ["FAINT", "INK", "caption", "title", "write_picture"]
