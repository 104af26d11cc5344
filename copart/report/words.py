"""Totals in words: what the figures of a result mean for a run."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np

from ..interface.counts import COUPLED_RULES
from ..metrics import ComponentMetrics, CoupledMetrics, PairMetrics
from ..metrics.columns import letter_of, plural, spans


def times(ub: float) -> str:
    """How much the heaviest holds against the mean, from an imbalance: ``1.9 x the mean``.

    Examples
    --------
    >>> times(0.9), times(0.047), times(0)
    ('1.9 x the mean', '1.05 x the mean', '1.00 x the mean')
    """
    ratio = 1 + ub
    if abs(ub) < 5e-3:
        return "1.00 x the mean"
    digits = 2 if ratio < 1.895 else 1 if ratio < 10 else 0
    text = f"{ratio:.{digits}f}"
    return f"{text.rstrip('0').rstrip('.') if '.' in text else text} x the mean"


def number(x: float) -> str:
    """A count with thousands set apart; one decimal where it is a mean."""
    return f"{x:,.0f}" if float(x).is_integer() else f"{x:,.1f}"


def some(count: float, noun: str) -> str:
    """``1 message``, ``2 messages``, ``2 processes``."""
    return f"{number(count)} {plural(count, noun)}"


def component_words(c: ComponentMetrics) -> list[str]:
    """What waits in a component's own phase and in a coupling phase."""
    if c.parts == 1:
        return [f"{c.name} runs as one process with {some(c.cells, 'cell')}."]
    out = [f"{c.name}: {some(c.cells, 'cell')} in {some(c.parts, 'part')}. In its own phase the slowest process holds "
           f"{times(c.ub)}; {some(c.cut, 'edge')} between parts (by weight)."]
    if c.empty:
        out[0] += f" {some(c.empty, 'part')} without a cell."
    if c.pieces > c.parts - c.empty:
        out[0] += f" Its parts are in {c.pieces} connected pieces."
    if c.coupled_cells == 0:
        return [*out, f"{c.name} has no coupled cells."]
    who = f"All {c.parts}" if c.ncoupled == c.parts else f"{c.ncoupled} of {c.parts}"
    over = "" if c.ncoupled_requested in (None, c.ncoupled) else f" over the {c.ncoupled_requested} asked for"
    out.append(f"{who} processes of {c.name} exchange{'s' * (c.ncoupled == 1)} data. In a coupling phase the slowest "
               f"coupled process of {c.name} holds {times(c.ub_cpl)}{over}.")
    return out


def uncoupled_words(parts: Mapping[str, Sequence[int]], nparts: Mapping[str, int]) -> list[str]:
    """Which parts have nothing to do in a coupling phase, a line per component; nothing where all take part.

    Examples
    --------
    >>> uncoupled_words({"water": [2, 3, 4], "wall": []}, {"water": 5, "wall": 2})
    ['without interface: parts 2-4 of water, 3 of 5']
    """
    return [f"without interface: part{'s' * (len(idle) > 1)} {spans(idle)} of {name}, {len(idle)} of {nparts[name]}"
            for name, idle in parts.items() if idle]


def rule_words(rule: str | None, metrics: CoupledMetrics | None = None, natural: Sequence[int] | None = None
               ) -> list[str]:
    """How many parts own coupled cells, and by which rule; nothing where a scheme leaves it to chance.

    Parameters
    ----------
    rule : str, optional
    metrics : CoupledMetrics, optional
        Without them only the rule is told.
    natural : sequence of int, optional
        The natural number of each component, told where another number of parts owns coupled cells.

    Examples
    --------
    >>> rule_words("gather")
    ['N^cpl: gather (as few parts as can hold the coupled cells)']
    """
    if rule is None:
        return []
    why = COUPLED_RULES[rule]
    if metrics is None:
        return [f"N^cpl: {rule} ({why})"]
    each = [f"{c.name} {c.ncoupled} of {c.parts}" for c in metrics.components.values()]
    for i, c in enumerate(metrics.components.values()):
        if natural is not None and natural[i] != c.ncoupled:
            each[i] += f" where {natural[i]} would be natural"
    return [f"N^cpl: {', '.join(each)} ({rule}: {why})"]


def pair_words(p: PairMetrics, pool: bool = False) -> list[str]:
    """How many messages of what size go between two components; in a `pool` what stays on a process is none."""
    if p.totZ == 0:
        why = "what they exchange stays on its process" if p.interedges else "they have no interedges"
        return [f"Nothing goes between {p.a} and {p.b}: {why}."]
    sizes = p.matrix.data
    least = 0 if pool else max(len(np.unique(index)) for index in p.matrix.nonzero())
    few = f"; the minimum for the processes that face each other is {least}" if least else ""
    mean, largest = number(round(float(sizes.mean()), 1)), number(int(sizes.max()))
    carry = "carries" if p.totZ == 1 else "carry"
    go = "goes" if p.totV_ba == 1 else "go"
    return [f"{some(p.totZ, 'message')} {carry} {some(p.totV_ab, 'value')} from {p.a} to {p.b} in a coupling phase, "
            f"{mean} on average and {largest} at most{few}. "
            f"{some(p.totV_ba, 'value')} {go} back. The busiest process has a part in {some(p.maxZ, 'message')}."]


def coupled_words(metrics: CoupledMetrics) -> list[str]:
    """Everything about one co-partition."""
    out = [line for c in metrics.components.values() for line in component_words(c)]
    for pair in metrics.pairs.values():
        out += pair_words(pair, metrics.step.pool)
    return out


def comparison_words(rows: Sequence[Mapping[str, Any]], names: Sequence[str]) -> list[str]:
    """Who is best at what, of the schemes' table.

    Parameters
    ----------
    rows : sequence of mapping
        As from ``Comparison.rows()``.
    names : sequence of str
        The components, in order.
    """
    if len(rows) < 2:
        return []
    out = []
    letters = [letter_of(i) for i in range(len(names))]
    for letter, name in zip(letters, names, strict=True):
        key = f"ub_cpl_{letter}"
        said = {row["scheme"]: times(row[key]) for row in rows}
        out.append(f"The slowest coupled process of {name} holds " + _ranked(rows, key, said) + ".")
    ways = "from A to B" if len(names) == 2 else "from the first to the second of every pair"
    for key, what in (("totZ", f"messages {ways}"), ("totV", f"values sent {ways}")):
        said = {row["scheme"]: number(round(float(row[key]), 1)) for row in rows}
        out.append(f"{what[0].upper()}{what[1:]} in a coupling phase: " + _ranked(rows, key, said) + ".")
    summed = [{**row, "cut": sum(row[f"cut_{letter}"] for letter in letters)} for row in rows]
    said = {row["scheme"]: number(round(float(row["cut"]))) for row in summed}
    every = "both" if len(names) == 2 else "all"
    out.append(f"Edges cut in {every} components, what their own phases pay: " + _ranked(summed, "cut", said) + ".")
    return out


def _ranked(rows: Sequence[Mapping[str, Any]], key: str, said: Mapping[str, str]) -> str:
    """``1.05 x the mean with aware, 1.4 x the mean with naive``, best first; equal ones together."""
    order = sorted(rows, key=lambda row: float(row[key]))
    together: dict[str, list[str]] = {}
    for row in order:
        together.setdefault(said[row["scheme"]], []).append(row["scheme"])
    return ", ".join(f"{text} with {listed(schemes)}" for text, schemes in together.items())


def listed(names: Sequence[str]) -> str:
    """``a``, ``a and b``, ``a, b and c``.

    Parameters
    ----------
    names : sequence of str
    """
    return " and ".join([", ".join(names[:-1]), names[-1]] if len(names) > 1 else names)


def repartition_words(figures: Mapping[str, Any], moves: Any, ub_before: float) -> list[str]:
    """What a repartitioning moves and what it gains.

    Parameters
    ----------
    figures : mapping
        With the keys of ``REPARTITION_COLUMNS``.
    moves : (M, N) sparse matrix
        The migration matrix.
    ub_before : float
        Imbalance of the former parts.
    """
    total = int(moves.sum())
    volume, messages = figures["migration_volume"], figures["migration_messages"]
    share = f", {volume / total:.1%} of all" if total else ""
    gain = f"From {some(figures['former_parts'], 'part')} to {figures['parts']}: the slowest process held " \
           f"{times(ub_before)} before and holds {times(figures['ub'])} now."
    if messages == 0:
        return [gain, "No data moves."]
    return [gain, f"{number(volume)} of {some(total, 'unit')} of data move{share}, in {some(messages, 'message')} of "
            f"{number(round(volume / messages, 1))} on average."]


__all__ = ["comparison_words", "component_words", "coupled_words", "listed", "number", "pair_words",
           "repartition_words", "rule_words", "some", "times", "uncoupled_words"]
