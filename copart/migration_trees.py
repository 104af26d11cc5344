"""Inside one group: carry weight along a tree from the former parts to the new ones.

A former part hosts its own new part and, where enough weight has gathered, some of
the additional ones; the flow on the tree edge to its parent follows.  Weight
travels in parcels that remember the former part they come from.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Iterator

Entry = tuple[int, int, int]
"""Former part, new part, amount."""


def trees(rows: list[int], near: list[set[int]] | None, roots: int) -> Iterator[list[tuple[int, int]]]:
    """Spanning trees of `rows`: (row, parent) pairs from the root (parent -1) outwards.

    One breadth-first and one depth-first tree from each of `roots` former parts.
    """
    if len(rows) == 1:
        yield [(rows[0], -1)]
        return
    step = -(-len(rows) // roots)
    for root in rows[::step]:
        for depth_first in (False, True):
            yield _tree(root, set(rows), near, depth_first)


def _tree(root: int, left: set[int], near: list[set[int]] | None, depth_first: bool) -> list[tuple[int, int]]:
    out: list[tuple[int, int]] = []
    queue = deque([(root, -1)])
    seen: set[int] = set()
    while queue:
        r, parent = queue.pop() if depth_first else queue.popleft()
        if r in seen:
            continue
        seen.add(r)
        out.append((r, parent))
        around = sorted((left if near is None else near[r] & left) - seen, reverse=depth_first)
        queue.extend((u, r) for u in around)
    return out


def spread(weight: list[int], tree: list[tuple[int, int]], own: dict[int, int], target: dict[int, int],
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
            _send(pool[r], pool[parent], flow[r], r, own_first)
    for r, parent in tree:
        if parent >= 0 and flow[r] < 0:
            _send(pool[parent], pool[r], -flow[r], parent, own_first)
    entries: list[Entry] = []
    for r, _ in tree:
        entries += _pour(r, pool[r], hosted[r], own.get(r, -1), target)
    return break_cycles(entries, set(own.items()))


def _host(weight: list[int], tree: list[tuple[int, int]], own: dict[int, int],
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


def _send(source: dict[int, int], sink: dict[int, int], amount: int, sender: int, own_first: bool) -> None:
    """Move `amount` from one pool of parcels to another."""
    for origin in sorted(source, key=lambda o: ((o != sender) == own_first, source[o], o)):
        part = min(amount, source[origin])
        if part:
            sink[origin] = sink.get(origin, 0) + part
            source[origin] -= part
            amount -= part
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
    forest: dict[tuple[int, int], None] = {}
    # the entries to keep go first, so that the cycles are closed by others
    for edge in sorted(amount, key=lambda e: (e not in keep, -amount[e], e)):
        path = _path(forest, edge)
        forest[edge] = None
        if path:
            cycle = [edge, *path]
            plus, minus = cycle[0::2], cycle[1::2]
            favour = len(keep & set(plus)) - len(keep & set(minus))
            least, most = min(amount[e] for e in minus), min(amount[e] for e in plus)
            shift = least if favour > 0 or (favour == 0 and least < most) else -most
            for e in plus:
                amount[e] += shift
            for e in minus:
                amount[e] -= shift
            for e in cycle:
                if amount[e] == 0:
                    forest.pop(e, None)
    return [(r, j, amount[r, j]) for r, j in sorted(forest)]


def _path(forest: dict[tuple[int, int], None], edge: tuple[int, int]) -> list[tuple[int, int]]:
    """Edges of `forest` from the new part of `edge` back to its former part; empty if they are not joined."""
    by_row: dict[int, list[int]] = {}
    by_column: dict[int, list[int]] = {}
    for r, j in forest:
        by_row.setdefault(r, []).append(j)
        by_column.setdefault(j, []).append(r)
    row, column = edge
    came: dict[int, tuple[int, int]] = {}  # former part: (new part before it, former part before that)
    start = -1
    stack = [(column, start)]
    seen = {column}
    while stack:
        j, before = stack.pop()
        for r in by_column.get(j, ()):
            if r in came or r == before:
                continue
            came[r] = (j, before)
            if r == row:
                path, at = [], r
                while at != start:
                    j, before = came[at]
                    path.append((at, j))
                    if before != start:
                        path.append((before, j))
                    at = before
                return path[::-1]
            for k in by_row[r]:
                if k not in seen:
                    seen.add(k)
                    stack.append((k, r))
    return []
