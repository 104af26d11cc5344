"""Matchings in forests: as heavy as any, and of those with the most edges."""

from __future__ import annotations

from itertools import combinations

import numpy as np
from hypothesis import given
from hypothesis import strategies as st
from scipy.optimize import linear_sum_assignment

from copart.migration.matching import heaviest_matching


@st.composite
def forests(draw, most: int, heaviest: int):
    """Edges of a random forest between rows and columns, in any order."""
    columns = draw(st.integers(1, most))
    edges, joined = [], {("row", 0): 0}
    for at in range(1, draw(st.integers(1, 2 * most))):
        side, number = ("column", at % columns) if at % 2 else ("row", at // 2)
        others = [n for s, n in joined if s != side]
        if (side, number) in joined or not others:
            continue
        joined[side, number] = at
        other = draw(st.sampled_from(others))
        if draw(st.integers(0, 5)):
            ends = (other, number) if side == "column" else (number, other)
            edges.append((*ends, draw(st.integers(1, heaviest))))
    return draw(st.permutations(edges))


def is_matching(edges) -> bool:
    return all(len({edge[side] for edge in edges}) == len(edges) for side in (0, 1))


@given(forests(5, 3))
def test_as_heavy_as_any_with_the_most_edges(edges):
    taken = [edges[i] for i in heaviest_matching(edges)]
    assert is_matching(taken)
    best = max((sum(edge[2] for edge in some), count) for count in range(len(edges) + 1)
               for some in combinations(edges, count) if is_matching(some))
    assert (sum(edge[2] for edge in taken), len(taken)) == best


@given(forests(40, 10**9))
def test_as_heavy_as_an_assignment(edges):
    table = np.zeros((80, 80))
    for row, column, weight in edges:
        table[row, column] = weight
    best = table[linear_sum_assignment(table, maximize=True)].sum()
    assert sum(edges[i][2] for i in heaviest_matching(edges)) == best


def test_a_path_of_thousands():
    edges = [(i // 2, (i + 1) // 2, 1 + (i % 3 == 1)) for i in range(100_000)]
    taken = [edges[i] for i in heaviest_matching(edges)]
    assert is_matching(taken)
    assert sum(edge[2] for edge in taken) == 66_667
