"""The check-up of the distributed greedy: duplicates replaced one by one, as the description has it, in little time."""

from __future__ import annotations

import numpy as np
from hypothesis import given, settings
from hypothesis import strategies as st

from copart.mapping.cartesian import Grid, check_up, distributed_greedy, greedy_fill, greedy_seeds, stencil

from .test_algorithms import grids_with_stencils


def by_the_book(grid, kind, sizes, order):
    """All copies of all repeated vertices for every missing one, from sets."""
    table, weight = grid.neighbours(kind)
    order, node_at = list(order), np.repeat(np.arange(len(sizes)), sizes)

    def leaving(v, node):
        held = {order[p] for p in np.flatnonzero(node_at == node)}
        return sum(w for u, w in zip(table[v].tolist(), weight.tolist(), strict=True) if u >= 0 and u not in held)

    for u in sorted(set(range(grid.size)) - set(order)):
        gains = {(d, p): leaving(d, node_at[p]) - leaving(u, node_at[p])
                 for p, d in enumerate(order) if order.count(d) > 1}
        order[min(gains, key=lambda at: (-gains[at], at))[1]] = u
    return order


@settings(max_examples=60, deadline=None)
@given(grids_with_stencils(), st.integers(1, 5), st.data())
def test_mending_by_the_book(made, count, data):
    grid, kind = made
    sizes = np.diff(np.linspace(0, grid.size, min(count, grid.size) + 1).astype(int)).tolist()
    order = data.draw(st.lists(st.integers(0, grid.size - 1), min_size=grid.size, max_size=grid.size))
    assert check_up(grid, kind, sizes, np.array(order)).tolist() == by_the_book(grid, kind, sizes, order)


def test_the_distributed_order_is_what_the_nodes_find_each_for_itself():
    grid, kind, sizes = Grid((9, 8)), stencil("crank-nicolson", 2), [7, 1, 30, 34]
    seeds = greedy_seeds(grid, kind, 4).tolist()
    found = np.concatenate([greedy_fill(grid, kind, seed, size) for seed, size in zip(seeds, sizes, strict=True)])
    assert distributed_greedy(grid, kind, sizes).tolist() == check_up(grid, kind, sizes, found).tolist()


def test_pieces_smaller_than_the_nodes_are_mended_at_once():
    """Every node takes the smallest vertices beside its own piece, which took half a minute."""
    order = distributed_greedy(Grid((4, 2048)), stencil("component", 2), 1024)
    assert (np.bincount(order) == 1).all()
