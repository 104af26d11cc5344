"""Whether a plan is good, in one line, or what to look at first, each with the next step."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from html import escape
from typing import TYPE_CHECKING

from ..metrics import ComponentMetrics, CoupledMetrics
from .words import some, times

if TYPE_CHECKING:
    from ..mesh import Interface

#: Share of waiting, and of coupled work above the mean, from which a plan is worth another look.
WAITS, UNEVEN = 0.3, 0.25
#: Share of the facets of *both* sides over which the other has nothing, from which the meshes hardly meet.  Of one side
#: it may be as large where its cells are, around a small patch of the other.
ASTRAY = 0.5


def findings(metrics: CoupledMetrics, eps: float | None, remarks: Sequence[str] = (),
             interfaces: Mapping[tuple[str, str], Interface] | None = None,
             loose: Mapping[str, int] | None = None) -> list[str]:
    """What to look at, worst first, each with the next step; empty for a good plan.

    Parameters
    ----------
    metrics : CoupledMetrics
    eps : float or None
        The imbalance that was allowed.
    remarks : sequence of str
        Of the plan: those that compare it with each component alone are repeated.
    interfaces : mapping of (str, str) to Interface, optional
        Where the meshes meet.
    loose : mapping of str to int, optional
        Pieces of the parts of each component beyond one in each body of its mesh, which cannot be joined; where not
        given, beyond one per part.
    """
    out = _astray(interfaces or {})
    each = list(metrics.components.values())
    pool = metrics.step.pool
    for c in each:
        # whole cells: a part may hold one more than its share
        room = (1 + (0.05 if eps is None else eps)) + c.parts / max(c.cells, 1)
        if pool and 1 + c.ub > room:
            out.append(f"Processes wait in the own phase of {c.name}, where one holds {times(c.ub)}: balance each "
                       f"component over the pool (--balance each).")
        elif c.empty:
            out.append(_empty_words(c, pool))
        elif 1 + c.ub > room:
            out.append(f"The heaviest part of {c.name} holds {times(c.ub)}: its cells are too coarse for "
                       f"{some(c.parts, 'part')}; take fewer, or allow more (--eps).")
    for c in each:
        extra = c.pieces - c.parts + c.empty if loose is None else loose[c.name]
        if extra > 0:
            out.append(f"Parts of {c.name} are in {some(extra, 'piece')} more than they need be: --contiguous joins "
                       f"them, at the price of some cut.")
        if c.coupled_cells and c.ub_cpl > UNEVEN:
            out.append(f"In a coupling phase one process of {c.name} holds {times(c.ub_cpl)}: fewer coupled parts "
                       f"(--coupled, with the schemes that choose them) share the work more evenly; copart "
                       f"compare shows what that costs.")
    small = [] if pool else [c for c in each if c.parts > 1 and _mostly_messages(c, metrics)]
    if small:
        least = min(small, key=lambda c: c.cells / c.parts)
        out.append(f"{least.name} has {some(round(least.cells / least.parts), 'cell')} per process: less work than "
                   f"messages; give it fewer parts (copart advise).")
    if metrics.step.waits > WAITS and len(each) > 1 and not pool:
        out.append(_waiting_words(metrics))
    out += [f"{line[0].upper()}{line[1:]}." for line in remarks if line.startswith("worse than partitioning each")]
    return out


def _astray(interfaces: Mapping[tuple[str, str], Interface]) -> list[str]:
    """Interfaces of which most faces nothing, on either side: figures about them mean little."""
    return [f"Most of the interface of {a} and {b} faces nothing: {found.a.unmatched:.1%} of {a} and "
            f"{found.b.unmatched:.1%} of {b} are without counterpart; check unit and place (--scale, --shift), name "
            f"the boundaries (FILE:NAME), or use --interedges overlap for meshes that cover one another."
            for (a, b), found in interfaces.items()
            if found.kind != "overlap" and min(found.a.unmatched, found.b.unmatched) > ASTRAY]


def _empty_words(c: ComponentMetrics, pool: bool) -> str:
    """That parts of a component have no cell; of a pool no component can have fewer parts than the others."""
    if not pool:
        return f"{some(c.empty, 'part')} of {c.name} without a cell: give it fewer parts."
    step = "take a smaller pool (--pool)" if c.cells < c.parts else "balance each component over it (--balance each)"
    return (f"{some(c.empty, 'process')} of the pool without a cell of {c.name}, which has {some(c.cells, 'cell')}: "
            f"{step}.")


def _waiting_words(metrics: CoupledMetrics) -> str:
    """For whom processes wait: for a component that is slower than the others, or otherwise."""
    times_of, counts = metrics.step.T_reg, {c.name: c.parts for c in metrics.components.values()}
    slow = max(times_of, key=lambda name: times_of[name])
    said = f"Processes wait {metrics.step.waits:.0%} of the time"
    lost = sum(n * (times_of[slow] - times_of[name]) for name, n in counts.items())
    if 2 * lost > metrics.step.waits * metrics.step.T_step * sum(counts.values()):
        return (f"{said}, for {slow} most of all: copart advise shares processes out so that all components take "
                f"equally long.")
    return (f"{said}, less than half of it for a slower component: the load of every part below shows which of them "
            f"have least to do in each phase.")


def _mostly_messages(c: ComponentMetrics, metrics: CoupledMetrics) -> bool:
    """Whether processes of a component send longer in its own phase than the one with most work computes."""
    cost = metrics.step.cost
    work = cost.substeps[c.name] * cost.t[c.name] * c.max_weight  # type: ignore[index]
    return bool(metrics.step.T_reg[c.name] > 2 * work)


def verdict_html(metrics: CoupledMetrics, eps: float | None, remarks: Sequence[str] = (),
                 interfaces: Mapping[tuple[str, str], Interface] | None = None,
                 loose: Mapping[str, int] | None = None) -> str:
    """The verdict of a page."""
    found = findings(metrics, eps, remarks, interfaces, loose)
    if not found:
        most = max((c.ub_cpl for c in metrics.components.values() if c.coupled_cells), default=0.0)
        said = (f"Every component is in balance in its own phase, its parts are connected, and the slowest coupled "
                f"process holds {times(most)}.")
        return f'<p class="verdict good"><b>Good plan.</b> {escape(said)}</p>'
    lines = "".join(f"<li>{escape(line)}</li>" for line in found)
    return f'<div class="verdict look"><b>Look at</b><ul>{lines}</ul></div>'


__all__ = ["findings", "verdict_html"]
