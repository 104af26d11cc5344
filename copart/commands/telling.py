"""What several commands say about a coupled problem."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from .console import Console


def tell_interfaces(console: Console, interfaces: Mapping[tuple[str, str], Any], remarks: Sequence[str]) -> None:
    """Remarks on the files, and where the components meet."""
    for remark in remarks:
        console.say(f"note: {remark}")
    for (a, b), interface in interfaces.items():
        label = "interface" if len(interfaces) == 1 else f"interface {a} - {b}"
        for line in interface.lines():
            console.say(f"{label}: {line}")
    if interfaces:
        console.say()


__all__ = ["tell_interfaces"]
