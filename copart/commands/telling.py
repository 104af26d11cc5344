"""What several commands say about a coupled problem."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any

from .console import Console

if TYPE_CHECKING:
    from ..plans.plan import Plan


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


def tell_placements(console: Console, plan: Plan) -> None:
    """Where the processes go on the machine, in every way that was measured; nothing without one."""
    if not plan.placements:
        return
    from ..report.placement import placement_table, placement_words, route_table

    console.table(placement_table(plan.placements))
    routes = route_table(plan.placements)
    if routes is not None:
        console.say()
        console.table(routes)
    for line in placement_words(plan.placements, plan.settings.get("placement")):
        console.say(line)
    console.say()


__all__ = ["tell_interfaces", "tell_placements"]
