"""Hard promises made good on the input graph: no empty part, no part over its limit.

Refinement keeps both almost always.  What it leaves is settled here by means
that look at balance first: vertices handed on along paths of parts, placed in
any part with room, exchanged for lighter ones, packed anew, and at last, where
they are few, looked for by exhaustive search.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from ..kernels import Level, Pull, balancing
from .refinement import Refiner, excess_of, weights_of
from .rounds import Team

Array = np.ndarray[Any, Any]


def settle(g: Level, pull: Pull, part: Array, limit: Array, team: Team, salt: int) -> int:
    """Fill empty parts and remove excess, in place; returns the weight left above the limits."""
    pwgt, population = weights_of(g, part, len(limit), team)
    if not population.all():
        fill_empty(g, part, population)
        pwgt, _ = weights_of(g, part, len(limit), team)
    if (pwgt <= limit).all():
        return 0
    refiner = Refiner(g, pull, part, limit, team, salt)
    refiner.rebalance()
    state = refiner.state
    free = np.arange(len(part), dtype=np.int32) if not len(g.fixed) else np.flatnonzero(g.fixed < 0).astype(np.int32)
    heavy_first = free[np.argsort(-g.vwgt[free], kind="stable")]
    conn, touched = np.empty(len(limit), np.int64), np.empty(len(limit), np.int32)
    for _ in range(8):
        before = refiner.excess
        if before == 0:
            return 0
        balancing.jump(g, pull, part, state.pwgt, state.population, limit, heavy_first, conn, touched)
        if refiner.excess:
            balancing.swap_down(g, part, state.pwgt, limit, heavy_first)
        if refiner.excess == before:
            break
    excess = refiner.excess
    for rule in PACKING if excess else ():
        packed = pack(g, part, limit, heavy_first, rule)
        left = excess_of(g, packed, limit)
        if left < excess and len(np.unique(packed)) == len(limit):
            part[:], excess = packed, left
    if excess and len(heavy_first) <= FEW:
        found = exhaustive_search(g, part, limit, heavy_first)
        if found is not None:
            part[:], excess = found, 0
    return excess


def fill_empty(g: Level, part: Array, population: Array) -> None:
    """Give every empty part a free vertex of a part that has others, the lightest that can be had.

    `population` (nparts,) are the vertices of each part; it is changed with `part`.
    """
    empty = np.flatnonzero(population == 0)
    free = np.ones(len(part), bool) if not len(g.fixed) else g.fixed < 0
    candidates = np.flatnonzero(free)
    candidates = candidates[np.argsort(g.vwgt[candidates], kind="stable")]
    i = 0
    for p in empty:
        while population[part[candidates[i]]] <= 1:
            i += 1
        v = candidates[i]
        population[part[v]] -= 1
        part[v] = p
        population[p] = 1
        i += 1


PACKING = ("home", "best", "first", "worst")
"""Rules of `pack`: where a vertex goes among the parts it fits."""


def pack(g: Level, part: Array, limit: Array, heavy_first: Array, rule: str) -> Array:
    """Bin packing without regard to the cut, heaviest vertex first.

    Among the parts with room a vertex takes: "home" its own, else the one with most room; "best" the
    one with least room; "first" the first; "worst" the one with most room.  Empty parts come before others.
    A vertex that fits nowhere goes where most room is left.
    """
    packed, room = part.copy(), limit.copy()
    placed = np.ones(len(part), bool)
    placed[heavy_first] = False
    np.subtract.at(room, part[placed], g.vwgt[placed])
    empty = np.bincount(part[placed], minlength=len(limit)) == 0
    for v in heavy_first:
        w = g.vwgt[v]
        fits = np.flatnonzero(room >= w)
        if rule == "home" and room[part[v]] >= w and not empty.any():
            p = part[v]
        elif len(fits):
            if empty[fits].any():
                fits = fits[empty[fits]]
            score = {"best": -room[fits], "first": -fits}.get(rule, room[fits])
            p = fits[np.argmax(score)]
        else:
            p = np.argmax(room)
        packed[v] = p
        room[p] -= w
        empty[p] = False
    return packed


FEW, STEPS = 40, 20_000
"""Exhaustive search is for up to so many free vertices, and takes so many steps at most."""


def exhaustive_search(g: Level, part: Array, limit: Array, heavy_first: Array) -> Array | None:
    """A partition within the limits and without an empty part, by depth-first search over the vertices, the heaviest
    first; None where none is found in :data:`STEPS` steps.
    """
    found = part.copy()
    placed = np.ones(len(part), bool)
    placed[heavy_first] = False
    free, order = limit.copy(), heavy_first.tolist()
    np.subtract.at(free, part[placed], g.vwgt[placed])
    room, members = free.tolist(), np.bincount(part[placed], minlength=len(limit)).tolist()
    weight = g.vwgt[heavy_first].tolist()
    steps = STEPS

    def place(i: int, empty: int) -> bool:
        nonlocal steps
        if i == len(order):
            return True
        v, w = order[i], weight[i]
        tried = set()
        for p in sorted(range(len(room)), key=lambda p: (p != part[v], room[p])):
            fills = members[p] == 0
            alike = room[p], fills
            if room[p] < w or alike in tried or len(order) - i - 1 < empty - fills:
                continue
            steps -= 1
            if steps < 0:
                return False
            tried.add(alike)  # another part with as much room comes to the same
            found[v] = p
            room[p] -= w
            members[p] += 1
            if place(i + 1, empty - fills):
                return True
            room[p] += w
            members[p] -= 1
        return False

    return found if sum(room) >= sum(weight) and place(0, members.count(0)) else None
