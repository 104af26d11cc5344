"""Matchings of most weight in forests, in linear time: which former part keeps its number for which new part."""

from __future__ import annotations

from collections.abc import Sequence

Edge = tuple[int, int, int]


def heaviest_matching(edges: Sequence[Edge]) -> list[int]:
    """Edges that have no end in common, of most weight in all, and of those the most edges.

    A matching of a tree is put together from those of its branches: for every vertex the best one that leaves it free,
    and the best one at all.

    Parameters
    ----------
    edges : sequence of (row, column, weight)
        Of a forest between rows and columns, whose numbers may be the same; weights are at least 1.

    Returns
    -------
    list of int
        Positions in `edges`, ascending.

    Examples
    --------
    >>> heaviest_matching([(0, 0, 2), (0, 1, 3), (1, 1, 2)])
    [0, 2]
    """
    ends = {(side, edge[side]) for edge in edges for side in (0, 1)}
    place = {end: i for i, end in enumerate(sorted(ends))}
    beside: list[list[tuple[int, int]]] = [[] for _ in place]
    worth = [weight * (len(edges) + 1) + 1 for _, _, weight in edges]
    for e, (row, column, _) in enumerate(edges):
        u, v = place[0, row], place[1, column]
        beside[u].append((v, e))
        beside[v].append((u, e))

    above = [-1] * len(place)  # the edge towards the root
    order: list[int] = []
    seen = [False] * len(place)
    for root in range(len(place)):
        if seen[root]:
            continue
        seen[root], stack = True, [root]
        while stack:
            u = stack.pop()
            order.append(u)
            for v, e in beside[u]:
                if not seen[v]:
                    seen[v], above[v] = True, e
                    stack.append(v)

    free, best, down = [0] * len(place), [0] * len(place), [-1] * len(place)
    for u in reversed(order):
        branches = [(v, e) for v, e in beside[u] if e != above[u]]
        free[u] = best[u] = sum(best[v] for v, _ in branches)
        for v, e in branches:
            with_it = free[u] - best[v] + free[v] + worth[e]
            if with_it > best[u]:
                best[u], down[u] = with_it, e

    taken: list[int] = []
    held = [False] * len(place)
    for u in order:
        e = down[u]
        if e >= 0 and not held[u]:
            taken.append(e)
            row, column, _ = edges[e]
            held[place[0, row]] = held[place[1, column]] = True
    return sorted(taken)


__all__ = ["Edge", "heaviest_matching"]
