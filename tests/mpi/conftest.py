"""Set-up of the tests that start MPI jobs."""

from __future__ import annotations

import pytest

from copart.mapping.cartesian import Grid, reorder_grid, stencil
from copart.mapping.ranks.communication import Messages, communication_graph
from copart.mapping.ranks.reorder import reorder_ranks


@pytest.fixture(scope="session")
def compiled() -> None:
    """Kernels are compiled here once: ranks that wait for one that compiles keep the processors from it."""
    pairs = communication_graph(Messages(4, [0, 1, 2, 3], [2, 3, 0, 1], [2.0**22] * 4))
    for method in ("greedy", "best"):
        reorder_ranks(pairs, [0, 0, 1, 1], method=method)
    for method in ("central-greedy", "distributed-greedy"):
        reorder_grid(Grid((3, 2)), stencil("five-point", 2), 2, method)
