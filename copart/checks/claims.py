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


def compare_figures(claimed: Mapping[str, Any], found: Mapping[str, Any]) -> list[Finding]:
    """Compare the figures of ``metrics.json`` with the derived ones, key by key."""
    notes = Notes("claimed figures")
    told = claimed.get("components")
    told = told if isinstance(told, Mapping) else {}
    for name, figures in found["components"].items():
        if not isinstance(told.get(name), Mapping):
            notes.add(f"component {name}", "has figures", "none")
        else:
            _compare(notes, f"component {name}", told[name], figures)
    pairs = claimed.get("pairs")
    listed = [p for p in pairs if isinstance(p, Mapping)] if isinstance(pairs, list) else []
    by_names = {(p["a"], p["b"]): p for p in listed if isinstance(p.get("a"), str) and isinstance(p.get("b"), str)}
    for figures in found["pairs"]:
        names = (figures["a"], figures["b"])
        if names not in by_names:
            notes.add(f"pair {names[0]}-{names[1]}", "has figures", "none")
        else:
            _compare(notes, f"pair {names[0]}-{names[1]}", by_names[names], figures)
    _compare(notes, "shared pool", claimed, {key: found[key] for key in ("pool_ub",) if key in found})
    return notes.list


def _compare(notes: Notes, where: str, told: Mapping[str, Any], figures: Mapping[str, Any]) -> None:
    for key, value in figures.items():
        if key not in told:
            continue
        said = told[key]
        # a whole number of JSON may be too large for a float
        if isinstance(value, float) and isinstance(said, int | float) and abs(said) < 1e300:
            same = abs(said - value) <= FRACTION_TOLERANCE * max(1.0, abs(value))
        else:
            same = said == value
        if not same:
            notes.add(f"{where}: {key}", f"is {value}", f"the claim {said}")


def compare_components(coupling: Mapping[str, Any], copartition: CoPartition, components: Mapping[str, Any],
                       touching: Mapping[str, NDArray[np.bool_]]) -> list[Finding]:
    """Compare the components of ``coupling.json`` with the derived ones."""
    notes = Notes("exchange schedule")
    told = {c["name"]: c for c in coupling["components"]}
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
    told = next((p for p in coupling["pairs"] if (p["a"], p["b"]) == (a, b)), None)
    if told is None:
        notes.add(f"pair {a}-{b}", "is listed", "nothing")
        return notes.list
    _compare(notes, f"pair {a}-{b}", told, figures)
    for key, matrix in matrices.items():
        claim = {(t[0], t[1]): t[2] for t in told[key]}
        if len(claim) != len(told[key]):
            notes.add(f"{a}-{b}: {key}", "lists each pair of parts once", "a repeated pair")
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
    wrong += [(f"{a}-{b}: exchange of parts {p} and {q}", "is listed", "nothing")
              for p, q in sorted(set(exchanges) - seen)]
    first_of(notes, wrong)
    return notes.list
