"""Figures and exchange schedules that somebody claims, against the derived ones."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ..coupling import CoPartition
from .report import Finding, Notes, first_of

#: Claimed fractions are compared up to this difference: files may round them.
FRACTION_TOLERANCE = 1e-6


@dataclass
class Exchange:
    """What two parts share."""

    a_cells: set[int] = field(default_factory=set)
    b_cells: set[int] = field(default_factory=set)
    interedges: int = 0
    weight: float = 0.0


def compare_figures(claimed: Mapping[str, Any], found: Mapping[str, Any], whole: bool = False) -> list[Finding]:
    """Compare the figures of ``metrics.json`` with the derived ones, key by key.

    What nobody derived (another component, pair or figure) is a finding; a figure that is missing only where `whole`.
    """
    notes = Notes("claimed figures")
    told = claimed.get("components")
    told = told if isinstance(told, Mapping) else {}
    for name, figures in found["components"].items():
        if not isinstance(told.get(name), Mapping):
            notes.add(f"component {name}", "has figures", "none")
        else:
            _compare(notes, f"component {name}", told[name], figures, whole)
    for name in [name for name in told if name not in found["components"]]:
        notes.add(f"component {name}", "is of the co-partition", "no such component")
    _listed_once(notes, claimed.get("pairs"), [(p["a"], p["b"]) for p in found["pairs"]])
    for figures in found["pairs"]:
        pair = _entry(claimed.get("pairs"), figures)
        if pair is None:
            notes.add(f"pair {figures['a']}-{figures['b']}", "has figures", "none")
        else:
            _compare(notes, f"pair {figures['a']}-{figures['b']}", pair, figures, whole)
    step = claimed.get("step")
    if isinstance(step, Mapping):
        _compare(notes, "coupled step", step, found["step"], whole)
    elif whole or "step" in claimed:
        notes.add("coupled step", "has figures", "none")
    others = ("components", "pairs", "step")
    _compare(notes, "co-partition", {key: x for key, x in claimed.items() if key not in others},
             {key: x for key, x in found.items() if key not in others}, whole)
    return notes.list


def _entry(pairs: Any, figures: Mapping[str, Any]) -> Mapping[str, Any] | None:
    """The entry of a pair in a list of pairs."""
    listed = [p for p in pairs if isinstance(p, Mapping)] if isinstance(pairs, list) else []
    return next((p for p in listed if (p.get("a"), p.get("b")) == (figures["a"], figures["b"])), None)


def _listed_once(notes: Notes, pairs: Any, known: list[tuple[str, str]]) -> None:
    """Pairs are those of the problem, each once, in its order."""
    listed = pairs if isinstance(pairs, list) else []
    told = [(p.get("a"), p.get("b")) if isinstance(p, Mapping) else p for p in listed]
    if [pair for pair in told if pair in known] != told:
        notes.add("pairs", f"are {_names(known)}", _names([pair for pair in told if pair not in known]))
    elif told != [pair for pair in known if pair in told]:
        notes.add("pairs", f"are listed once, in the order {_names(known)}", _names(told))


def _names(pairs: list[Any]) -> str:
    return ", ".join("-".join(map(str, pair)) if isinstance(pair, tuple) else f"{pair!r:.40}" for pair in pairs)


def same(told: Any, true: Any) -> bool:
    """Whether a JSON value states the true one: fractions nearly, everything else exactly, a truth value no number."""
    if isinstance(true, Mapping):
        return isinstance(told, Mapping) and set(told) == set(true) and all(same(told[k], x) for k, x in true.items())
    if isinstance(true, list | tuple):
        return isinstance(told, list) and len(told) == len(true) and all(map(same, told, true))
    if isinstance(told, bool) or isinstance(true, bool) or told is None or true is None:
        return told is true
    # a whole number of JSON may be too large for a float
    if isinstance(true, float) and isinstance(told, int | float) and abs(told) < 1e300:
        return abs(told - true) <= FRACTION_TOLERANCE * max(1.0, abs(true))
    return isinstance(told, str) == isinstance(true, str) and bool(told == true) \
        and (isinstance(true, float) or not isinstance(told, float))


def _compare(notes: Notes, where: str, told: Mapping[str, Any], figures: Mapping[str, Any],
             whole: bool = False) -> None:
    for key, value in figures.items():
        if key not in told:
            if whole:
                notes.add(f"{where}: {key}", f"is {value}", "nothing")
        elif not same(told[key], value):
            notes.add(f"{where}: {key}", f"is {value}", f"the claim {told[key]!s:.200}")
    for key in [key for key in told if key not in figures] if whole else ():
        notes.add(f"{where}: {key}", "is no figure", f"the claim {told[key]!r:.60}")


def compare_pairs(coupling: Mapping[str, Any], known: list[tuple[str, str]]) -> list[Finding]:
    """Compare which pairs ``coupling.json`` lists with those that meet."""
    notes = Notes("exchange schedule")
    _listed_once(notes, coupling["pairs"], known)
    return notes.list


def compare_components(coupling: Mapping[str, Any], copartition: CoPartition, components: Mapping[str, Any],
                       touching: Mapping[str, NDArray[np.bool_]]) -> list[Finding]:
    """Compare the components of ``coupling.json`` with the derived ones."""
    notes = Notes("exchange schedule")
    told = {c["name"]: c for c in coupling["components"]}
    if [name for name in told if name in copartition.names] != [name for name in copartition.names if name in told] \
            or not set(told) <= set(copartition.names):
        notes.add("components", f"are {', '.join(copartition.names)}", ", ".join(told))
    rank = 0
    for name in copartition.names:
        owners = sorted(set(copartition.parts[name][touching[name]].tolist()))
        figures = components[name]
        true = {"cells": figures["cells"], "parts": figures["parts"],
                "rank_offset": 0 if copartition.shared else rank,
                "coupled_cells": figures["coupled_cells"], "coupled_parts": owners}
        rank += figures["parts"]
        if name not in told:
            notes.add(f"component {name}", "is listed", "nothing")
        else:
            _compare(notes, f"component {name}", told[name], true)
    return notes.list


def compare_schedule(coupling: Mapping[str, Any], figures: Mapping[str, Any],
                     exchanges: Mapping[tuple[int, int], Exchange],
                     matrices: Mapping[str, Mapping[tuple[int, int], int]]) -> list[Finding]:
    """Compare totals, matrices and exchange lists of one pair in ``coupling.json`` with the derived ones."""
    notes = Notes("exchange schedule")
    a, b = figures["a"], figures["b"]
    told = _entry(coupling["pairs"], figures)
    if told is None:
        notes.add(f"pair {a}-{b}", "is listed", "nothing")
        return notes.list
    _compare(notes, f"pair {a}-{b}", told, {key: x for key, x in figures.items() if key in told})
    for key, matrix in matrices.items():
        claim = {(t[0], t[1]): t[2] for t in told[key]}
        if len(claim) != len(told[key]):
            notes.add(f"{a}-{b}: {key}", "lists each pair of parts once", "a repeated pair")
        elif list(claim) != sorted(claim):
            notes.add(f"{a}-{b}: {key}", "is in the order of parts", "another order")
        elif 0 in claim.values():
            notes.add(f"{a}-{b}: {key}", "lists what is sent", "an entry of 0")
        first_of(notes, [(f"{a}-{b}: {key}[{p}, {q}]", f"is {matrix.get((p, q), 0)}", claim.get((p, q), 0))
                         for p, q in sorted(set(matrix) | set(claim)) if matrix.get((p, q), 0) != claim.get((p, q), 0)])
    wrong = []
    seen: set[tuple[int, int]] = set()
    for x in told["exchanges"]:
        met = (x["part_a"], x["part_b"])
        where = f"{a}-{b}: exchange of parts {met[0]} and {met[1]}"
        true = exchanges.get(met)
        if met in seen or true is None:
            wrong.append((where, "is listed once" if met in seen else "shares interedges", "a repeated entry"
                          if met in seen else "no interedge"))
            continue
        seen.add(met)
        if x["interedges"] != true.interedges:
            wrong.append((where, f"has {true.interedges} interedges", x["interedges"]))
        for side, cells in (("a_cells", true.a_cells), ("b_cells", true.b_cells)):
            if set(x[side]) != cells or len(x[side]) != len(cells):
                wrong.append((f"{where}: {side}", f"are {len(cells)} cells",
                              f"{len(cells - set(x[side]))} missing and {len(set(x[side]) - cells)} too many"))
    met_order = [(x["part_a"], x["part_b"]) for x in told["exchanges"]]
    if len(seen) == len(met_order) and met_order != sorted(met_order):
        wrong.append((f"{a}-{b}: exchanges", "are in the order of their parts", "another order"))
    wrong += [(f"{a}-{b}: exchange of parts {p} and {q}", "is listed", "nothing")
              for p, q in sorted(set(exchanges) - seen)]
    first_of(notes, wrong)
    return notes.list
