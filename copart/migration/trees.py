"""Inside one group: carry weight along a tree from the former parts to the new ones.

A former part hosts its own new part and, where enough weight has gathered, some of
the additional ones; the flow on the tree edge to its parent follows.  Weight
travels in parcels that remember the former part they come from.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Callable, Iterator
from heapq import heappop, heappush
from itertools import pairwise

import numpy as np

from .groups import Near

Entry = tuple[int, int, int]
"""Former part, new part, amount."""


Tree = list[tuple[int, int]]
"""(row, parent) pairs from the root (parent -1) outwards."""


def trees(nrows: int, near: Near | None, count: int) -> Iterator[Tree]:
    """`count` spanning trees of the former parts ``0..nrows-1``, from different roots and in different orders.

    In turn: breadth first, depth first, along the longest boundaries, at random.
    """
    if nrows == 1:
        yield [(0, -1)]
        return
    for i in range(count):
        yield _tree(i // 4 % nrows, nrows, near, _ORDERS[i % 4], np.random.default_rng(i) if i % 4 == 3 else None)


_ORDERS: list[Callable[[int, int], float]] = [
    lambda step, boundary: step,
    lambda step, boundary: -step,
    lambda step, boundary: -boundary,
    lambda step, boundary: 0.0,
]


def _tree(root: int, nrows: int, near: Near | None, key: Callable[[int, int], float],
          noise: np.random.Generator | None) -> Tree:
    """The tree that always takes the edge with the smallest ``key(step of discovery, boundary)``; any, with `noise`."""
    out: Tree = []
    left = set(range(nrows))
    heap = [(0.0, 0, root, -1)]
    step = 0
    while heap:
        _, _, r, parent = heappop(heap)
        if r not in left:
            continue
        left.discard(r)
        out.append((r, parent))
        for u in sorted(left if near is None else near[r].keys() & left):
            step += 1
            order = noise.random() if noise else key(step, 0 if near is None else near[r][u])
            heappush(heap, (order, step, u, r))
    return out


def spread(weight: list[int], tree: Tree, own: dict[int, int], target: dict[int, int],
           own_first: bool) -> list[Entry]:
    """One way to fill the new parts `target` (number: weight) from the former parts of `tree`.

    Parameters
    ----------
    weight : list of int
        Weights of all former parts.
    tree : list of (row, parent)
        From the root outwards; the weights of its rows sum up to those of the targets.
    own : dict
        New part that a former part hosts in any case.
    own_first : bool
        What a former part sends on is its own weight before that of others: connected
        new parts for a larger volume.
    """
    hosted, flow = _host(weight, tree, own, target)
    pool = {r: {r: weight[r]} for r, _ in tree}
    for r, parent in reversed(tree):
        if parent >= 0 and flow[r] > 0:
            if flow[r] == sum(pool[r].values()):
                pool[parent], pool[r] = _merged(pool[parent], pool[r]), {}
            else:
                _send(pool[r], pool[parent], flow[r], r, own_first)
    for r, parent in tree:
        if parent >= 0 and flow[r] < 0:
            _send(pool[parent], pool[r], -flow[r], parent, own_first)
    entries: list[Entry] = []
    for r, _ in tree:
        entries += _pour(r, pool[r], hosted[r], own.get(r, -1), target)
    return break_cycles(entries, set(own.items()))


def _host(weight: list[int], tree: Tree, own: dict[int, int],
          target: dict[int, int]) -> tuple[dict[int, list[int]], dict[int, int]]:
    """New parts that each former part hosts, and the flow from it to its parent."""
    taken = set(own.values())
    extra = deque(j for j in target if j not in taken)
    hosted = {r: [own[r]] if r in own else [] for r, _ in tree}
    above = dict(tree)
    flow = {r: weight[r] - sum(target[j] for j in hosted[r]) for r in hosted}
    for r, parent in reversed(tree):
        while extra and (parent < 0 or 2 * flow[r] >= target[extra[0]]):
            j = extra.popleft()
            hosted[r].append(j)
            flow[r] -= target[j]
        if above[r] >= 0:
            flow[above[r]] += flow[r]
    return hosted, flow


def _merged(a: dict[int, int], b: dict[int, int]) -> dict[int, int]:
    """Two pools of parcels as one; the smaller is poured into the larger, which is changed."""
    more, less = (a, b) if len(a) >= len(b) else (b, a)
    for origin, amount in less.items():
        more[origin] = more.get(origin, 0) + amount
    return more


def _send(source: dict[int, int], sink: dict[int, int], amount: int, sender: int, own_first: bool) -> None:
    """Move `amount` from one pool of parcels to another."""
    for origin in sorted(source, key=lambda o: ((o != sender) == own_first, source[o], o)):
        part = min(amount, source[origin])
        if part:
            sink[origin] = sink.get(origin, 0) + part
            amount -= part
            if source[origin] == part:  # parcels of nothing would be looked at again on the whole way
                del source[origin]
            else:
                source[origin] -= part
        if amount == 0:
            return


def _pour(r: int, pool: dict[int, int], hosted: list[int], own: int, target: dict[int, int]) -> list[Entry]:
    """Fill the new parts hosted by `r`: others' parcels whole where they fit, its own weight in what is left."""
    mine = pool.pop(r, 0)
    room = {j: target[j] for j in hosted}
    reserve = min(mine, room.get(own, 0))
    entries: list[Entry] = []
    for origin in sorted(pool, key=lambda o: (-pool[o], o)):
        amount = pool[origin]
        while amount:
            j = max(hosted, key=lambda j: (room[j] - (reserve if j == own else 0), -j))
            part = min(amount, room[j] - (reserve if j == own else 0))
            entries.append((origin, j, part))
            room[j] -= part
            amount -= part
    return entries + [(r, j, free) for j, free in room.items() if free]


def break_cycles(entries: list[Entry], keep: set[tuple[int, int]]) -> list[Entry]:
    """Shift weight round the cycles of the pattern until none is left; all sums stay.

    Every shift removes an entry.  Of its two directions the one is taken that adds to the
    entries in `keep`.
    """
    amount: dict[tuple[int, int], int] = {}
    for r, j, a in entries:
        amount[r, j] = amount.get((r, j), 0) + a
    # Nodes are former parts r and new parts ~j; `root` joins what has ever been linked, so that the
    # search for a cycle is only made where there may be one.
    links: dict[int, set[int]] = {x: set() for r, j in amount for x in (r, ~j)}
    root = {x: x for x in links}

    def find(x: int) -> int:
        while root[x] != x:
            root[x] = root[root[x]]
            x = root[x]
        return x

    # the entries to keep go first, so that the cycles are closed by others
    for r, j in sorted(amount, key=lambda e: (e not in keep, -amount[e], e)):
        path = _path(links, ~j, r) if find(r) == find(~j) else []
        root[find(r)] = find(~j)
        links[r].add(~j)
        links[~j].add(r)
        if path:
            nodes = [r, *path]  # r, ~j, ..., r: every second edge gains what the others lose
            cycle = [(max(a, b), ~min(a, b)) for a, b in pairwise(nodes)]
            plus, minus = cycle[0::2], cycle[1::2]
            favour = len(keep & set(plus)) - len(keep & set(minus))
            least, most = min(amount[e] for e in minus), min(amount[e] for e in plus)
            shift = least if favour > 0 or (favour == 0 and least < most) else -most
            for e in plus:
                amount[e] += shift
            for e in minus:
                amount[e] -= shift
            for a, b in cycle:
                if amount[a, b] == 0:
                    links[a].discard(~b)
                    links[~b].discard(a)
    return [(r, j, a) for (r, j), a in sorted(amount.items()) if a]


def _path(links: dict[int, set[int]], start: int, goal: int) -> list[int]:
    """Nodes on the way from `start` to `goal`, both included; empty if there is none."""
    came = {start: start}
    stack = [start]
    while stack and goal not in came:
        x = stack.pop()
        for y in links[x]:
            if y not in came:
                came[y] = x
                stack.append(y)
    if goal not in came:
        return []
    path = [goal]
    while path[-1] != start:
        path.append(came[path[-1]])
    return path[::-1]
