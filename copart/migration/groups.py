"""Groups of former parts that together fill a whole number of new parts.

A grouping is a list of ``(rows, count)``: the former parts `rows`, connected to
each other, are replaced by `count` new parts among themselves.  The fewer messages
the groups need, the better: r former parts, k of which keep their number, and n
new ones need ``r + n - 1`` non-zeros, of which ``min(n, k)`` are on the diagonal.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np

Group = tuple[list[int], int]
Near = list[dict[int, int]]
"""Of every former part, its neighbours and the weight of the edges to them."""


@dataclass(frozen=True)
class Supply:
    """The former parts with weight, and what equal new parts may weigh.

    Attributes
    ----------
    weight : list of int
        Weight of each former part, positive.
    kept : list of bool
        Does a new part have the same number?
    near : list of dict, or None
        Neighbours of each former part, as one connected graph; None: all are neighbours.
    count : int
        Number of new parts.
    low, high : int
        Range of the weight of a new part, from 1 up; ``count * low <= total <= count * high``.
    stay : bool
        May a new part be lighter than `low` where it is the former part, or more?
        (As many new parts as former ones: only what is too much has to move.)
    """

    weight: list[int]
    kept: list[bool]
    near: Near | None
    count: int
    low: int
    high: int
    stay: bool

    def around(self, group: set[int], left: set[int]) -> set[int]:
        """Members of `left` next to `group`."""
        if self.near is None:
            return left - group
        found: set[int] = set()
        for r in group:
            found |= self.near[r].keys()
        return (found & left) - group

    def counts(self, nrows: int, weight: int) -> list[int]:
        """In how many new parts former parts of this number and total weight can be turned."""
        first = max(1, -(-weight // self.high))
        last = min(self.count, weight // self.low)
        out = list(range(first, last + 1))
        if self.stay and last < nrows <= self.count and weight <= nrows * self.high:
            out.append(nrows)
        return out


def exact_groups(s: Supply) -> list[Group]:
    """The grouping with fewest messages, then least volume; ``3 ** len(s.weight) / 2`` steps."""
    m, n = len(s.weight), s.count
    choices = _choices(s)
    cost = np.full((1 << m, n + 1), np.inf)
    cost[0, 0] = 0.0
    taken = np.zeros((1 << m, n + 1), np.int64)
    number = np.zeros((1 << m, n + 1), np.int64)
    for mask in range(1, 1 << m):
        lowest = mask & -mask
        rest = mask ^ lowest
        sub = rest
        while True:  # all subsets of mask that hold its lowest member
            group = sub | lowest
            for k, price in choices[group]:
                offer = cost[mask ^ group, :n + 1 - k] + price
                better = offer < cost[mask, k:]
                cost[mask, k:][better] = offer[better]
                taken[mask, k:][better] = group
                number[mask, k:][better] = k
            if sub == 0:
                break
            sub = (sub - 1) & rest
    out: list[Group] = []
    mask = (1 << m) - 1
    while mask:
        group, k = int(taken[mask, n]), int(number[mask, n])
        out.append(([r for r in range(m) if group >> r & 1], k))
        mask, n = mask ^ group, n - k
    return out


def _choices(s: Supply) -> list[list[tuple[int, float]]]:
    """For every set of former parts (a bit mask), the numbers of new parts it fills and their price.

    The price is the messages, and a fraction below 1 that grows with the volume.
    """
    m = len(s.weight)
    scale = float(sum(s.weight)) + 1.0
    out: list[list[tuple[int, float]]] = [[] for _ in range(1 << m)]
    for mask in range(1, 1 << m):
        rows = [r for r in range(m) if mask >> r & 1]
        left = set(rows[1:])
        reached = {rows[0]}
        while new := s.around(reached, left):
            reached |= new
            left -= new
        if left:
            continue
        weight = sum(s.weight[r] for r in rows)
        stays = sorted((min(s.weight[r], s.high) for r in rows if s.kept[r]), reverse=True)
        for k in s.counts(len(rows), weight):
            messages = len(rows) + k - 1 - min(k, len(stays))
            out[mask].append((k, messages + (weight - sum(stays[:k])) / scale))
    return out


class Tally(NamedTuple):
    """Number, total weight and number of kept ones of some former parts."""

    rows: int
    weight: int
    kept: int

    def plus(self, s: Supply, r: int) -> Tally:
        """With former part `r` added."""
        return Tally(self.rows + 1, self.weight + s.weight[r], self.kept + s.kept[r])


def greedy_groups(s: Supply, attempt: int) -> list[Group]:
    """Grow one group after another until it fills a number of new parts and the rest still can.

    `attempt` 0 begins each group at the heaviest former part that is left, 1 at the one
    with the fewest neighbours left (so from the border inwards), others at random.
    """
    m = len(s.weight)
    shuffled = np.random.default_rng(attempt).permutation(m).tolist()
    left, count = set(range(m)), s.count
    first: Callable[[int], Any] = {
        0: lambda r: (-s.weight[r], r),
        1: lambda r: (len(s.around({r}, left)), r),
    }.get(attempt, lambda r: shuffled[r])
    out: list[Group] = []
    while left:
        rows, k = _grow(s, min(left, key=first), left, count)
        out.append((sorted(rows), k))
        left -= rows
        count -= k
    return out


def _grow(s: Supply, seed: int, left: set[int], count: int) -> tuple[set[int], int]:
    """The group around `seed`, and its number of new parts out of `count`."""
    whole = Tally(len(left), sum(s.weight[r] for r in left), sum(s.kept[r] for r in left))
    group, inside = {seed}, Tally(0, 0, 0).plus(s, seed)
    border = s.around(group, left)
    while len(group) < len(left):
        k = _closing(s, inside, whole, count)
        if k:
            return group, k
        # as many kept ones in the group as among all, and the lightest has most room for what is too much here
        wanted = inside.kept * whole.rows <= whole.kept * inside.rows
        nearby = sorted(border, key=lambda r: (s.kept[r] != wanted, s.weight[r], r))
        nearby = nearby or [min(left - group)]
        # what is too light for one new part, whoever is added, need not be looked at
        heavy = s.stay or inside.weight + max(s.weight[r] for r in nearby) >= s.low
        closing = (r for r in nearby if heavy and _closing(s, inside.plus(s, r), whole, count))
        chosen = next(closing, nearby[0])
        group.add(chosen)
        inside = inside.plus(s, chosen)
        border |= s.around({chosen}, left)
        border -= group
    return group, count


def _closing(s: Supply, inside: Tally, whole: Tally, count: int) -> int:
    """Number of new parts for the group `inside` so that the rest of `whole` can be grouped too; 0 if none.

    Every former part that keeps its number gets a new part inside its group.
    """
    nleft, weight, kept = whole.rows - inside.rows, whole.weight - inside.weight, whole.kept - inside.kept
    for k in s.counts(inside.rows, inside.weight):
        rest = count - k
        low = 0 if s.stay and rest == nleft else s.low
        if k >= inside.kept and rest >= max(1, kept) and rest * low <= weight <= rest * s.high:
            return k
    return 0


def reached(members: set[int], near: Near) -> set[int]:
    """Those of `members` that are connected to the smallest one."""
    stack = [min(members)] if members else []
    out = set(stack)
    while stack:
        new = (near[stack.pop()].keys() & members) - out
        out |= new
        stack.extend(new)
    return out


def linked_up(near: Near) -> Near:
    """The same neighbours, with a chain of weight 0 through the components so that all is connected."""
    out = [dict(around) for around in near]
    left = set(range(len(near)))
    before = -1
    while left:
        first = min(left)
        if before >= 0:
            out[before][first] = out[first][before] = 0
        left -= reached(left, near)
        before = first
    return out
