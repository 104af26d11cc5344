"""Ink and titles that pictures by themselves share."""

from __future__ import annotations

from typing import Any

INK = "#22303C"
FAINT = "#6B7885"


def title(axes: Any, text: str, note: str) -> None:
    """Name axes that have no frame."""
    axes.set_axis_off()
    axes.set_anchor("N")
    caption(axes, text, note)


def caption(axes: Any, text: str, note: str) -> None:
    """A title with a note below, at the left end above the axes."""
    axes.annotate(text, (0, 1), (0, 24), "axes fraction", "offset points", fontsize=13, color=INK, fontweight="bold")
    axes.annotate(note, (0, 1), (0, 8), "axes fraction", "offset points", fontsize=9.5, color=FAINT)


__all__ = ["FAINT", "INK", "caption", "title"]
