"""Colours for many parts, told apart with any kind of colour vision.

No palette has 64 colours that the eye can tell apart, so parts are coloured
like countries on a map: parts that meet get different colours out of a few safe
ones, used evenly; numbers name the parts where it matters.
"""

from __future__ import annotations

from collections.abc import Iterable

import numpy as np
from numpy.typing import NDArray

from ..coupling import CoPartition, CoupledProblem
from ..graph import Graph

#: After Okabe & Ito, with a dark and a light one more; they differ in lightness too.
COLOURS = ("#0072B2", "#E69F00", "#009E73", "#CC79A7", "#56B4E9", "#D55E00", "#F0E442", "#8C8C8C", "#44355B", "#B7E4C7")


#: (ncolours, 3) float64, the same from 0 to 1.
RGB = np.array([[int(c[i:i + 2], 16) / 255 for i in (1, 3, 5)] for c in COLOURS])


def part_colours(graph: Graph, part: NDArray[np.int32], nparts: int) -> NDArray[np.int64]:
    """(nparts,) int64 number of the colour of each part of a partition, different where parts meet."""
    u, v, _ = graph.quotient(part, nparts).edges()
    return colour_numbers(nparts, zip(u.tolist(), v.tolist(), strict=True))


def component_colours(problem: CoupledProblem, made: CoPartition) -> dict[str, NDArray[np.int64]]:
    """Colours of the parts of each component, by name; in a shared pool a process has one colour in all of them."""
    if not made.shared:
        return {name: part_colours(graph, made[name], made.nparts[name])
                for name, graph in problem.components.items()}
    meets: set[tuple[int, int]] = set()
    for name, graph in problem.components.items():
        u, v, _ = graph.quotient(made[name], made.nprocs).edges()
        meets.update(zip(u.tolist(), v.tolist(), strict=True))
    return dict.fromkeys(problem.names, colour_numbers(made.nprocs, sorted(meets)))


def colour_numbers(nparts: int, meets: Iterable[tuple[int, int]]) -> NDArray[np.int64]:
    """(nparts,) int64 place in :data:`COLOURS` of the colour of each part, different where parts meet.

    Parameters
    ----------
    nparts : int
    meets : iterable of (int, int)
        Pairs of parts that have a common border.

    Notes
    -----
    Greedy, parts with most neighbours first; of the colours no neighbour has,
    the least used.  Where all are taken by neighbours, the least used of all.
    """
    neighbours: list[set[int]] = [set() for _ in range(nparts)]
    for a, b in meets:
        if a != b:
            neighbours[a].add(b)
            neighbours[b].add(a)
    chosen = np.full(nparts, -1, np.int64)
    used = np.zeros(len(COLOURS), int)
    for part in sorted(range(nparts), key=lambda p: (-len(neighbours[p]), p)):
        taken = {chosen[q] for q in neighbours[part]}
        free = [c for c in range(len(COLOURS)) if c not in taken] or list(range(len(COLOURS)))
        best = min(free, key=lambda c: (used[c], c))
        chosen[part] = best
        used[best] += 1
    return chosen


__all__ = ["COLOURS", "RGB", "colour_numbers", "component_colours", "part_colours"]
