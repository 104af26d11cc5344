"""Where the numbers of Cartesian reordering end: weights, positions, dimensions, means."""

from __future__ import annotations

import itertools
import math
from fractions import Fraction

import numpy as np
import pytest

from copart.errors import ConfigError, MappingError
from copart.mapping.cartesian import (
    METHODS,
    Cart,
    Grid,
    Hyperplane,
    Nodecart,
    Stencil,
    factorize,
    improvement,
    internode,
    mean_improvement,
    reorder_grid,
    stencil,
)


# ---- weights
def test_what_is_sent_is_exact_or_refused():
    """Sums beyond 64 bits were negative, and the best was chosen by them."""
    grid = Grid((4, 4))
    most = stencil("five-point", 2, weights=[2**63 // 24 // 2, 2**63 // 24 // 2, 1, 1])
    assert grid.edge_weight(most) == 24 * (2**63 // 24 // 2) + 24 < 2**63
    assert internode(grid, most, range(16)).total == grid.edge_weight(most)
    # two rows on each node, and nothing heavy across: never more than the columns
    assert reorder_grid(grid, most, 4, "best").cost.total == 24
    huge = stencil("five-point", 2, weights=[2**58, 2**58, 1, 1])
    wide = Grid((100, 100))
    assert wide.edge_weight(huge) == 19_800 * (2**58 + 1)
    for method in ("best", "cart"):
        with pytest.raises(MappingError, match=r"5.71e.21 sent in one exchange do not fit in 64 bits"):
            reorder_grid(wide, huge, 100, method)


# ---- positions
@pytest.mark.parametrize("number", [-1, 16, 2.5, True])
def test_ranks_that_are_none_have_no_position(number):
    """They got the position of another one: 1 to 16 instead of 0 to 15 gave two processes one place."""
    grid = Grid((4, 4))
    for rule in (Cart(grid), Nodecart(grid, 4), Hyperplane(grid, stencil("five-point", 2), 4)):
        for find in (rule.vertex, rule.slot):
            with pytest.raises(ConfigError, match=r"^(slot|vertex): (must be at|needs an integer)"):
                find(number)
    with pytest.raises(ConfigError, match=r"^slot: "):
        factorize((4, 4), [4, 4]).vertex(number)


# ---- means
def test_a_mean_with_a_grid_where_nothing_was_sent_before():
    """Rows that lie on one node each, and are cut by boxes: the logarithm of 0 was an error."""
    grid, row = Grid((4, 4)), Stencil([(0, 1)])
    costs = [reorder_grid(grid, row, 4, method).cost.total for method in ("cart", "nodecart")]
    assert costs == [0, 4]
    assert improvement(*costs) == 0
    assert mean_improvement([improvement(*costs), 2.0, None]) == (0.0, 1)


# ---- dimensions
def test_many_dimensions_of_which_few_are_wide():
    """Two axes per dimension were more than numpy has, from 33 on."""
    few, many = Grid((4, 2)), Grid((*[1] * 30, 4, *[1] * 30, 2))
    offsets = np.zeros((2, 62), int)
    offsets[0, 30] = offsets[1, 61] = 1
    for method in ("best", *METHODS):
        expected = reorder_grid(few, Stencil([(1, 0), (0, 1)]), 2, method)
        found = reorder_grid(many, Stencil(offsets), 2, method)
        assert np.array_equal(found.node_of_vertex, expected.node_of_vertex)
        assert found.cost[:2] == expected.cost[:2]
    with pytest.raises(MappingError, match="at most 64 dimensions, got 65"):
        Grid([1] * 65)
    with pytest.raises(MappingError, match=r"65536x32768 has 2.31 positions or more"):
        Grid((2**16, 2**15))


# ---- factorization
@pytest.mark.parametrize("undivided", [True, False])
def test_factors_are_the_cheapest_and_the_first_of_equal_ones(undivided):
    for cells, count in itertools.product([(12, 12, 12), (30, 10, 7), (8, 8)], [1, 6, 8, 12, 36]):
        d = len(cells)

        def cost(n, cells=cells, d=d):
            own = [Fraction(g, k) for g, k in zip(cells, n, strict=True)]
            return 2 * sum(math.prod(own[:i] + own[i + 1:], start=Fraction(1))
                           for i in range(d) if undivided or n[i] > 1)

        every = [n for n in itertools.product(range(1, count + 1), repeat=d) if math.prod(n) == count]
        best = min(every, key=lambda n, cost=cost: (cost(n), n))
        made = factorize(cells, [count], undivided=undivided)
        assert (made.levels, made.costs) == ((best,), (float(cost(best)),))


def test_factors_of_a_number_with_many_divisors():
    """All ways to share 720,720 among five dimensions were priced, which took more than a minute."""
    assert factorize([1000] * 5, [720_720]).dims == (11, 13, 14, 18, 20)
