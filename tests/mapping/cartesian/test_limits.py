"""Where the numbers of Cartesian reordering end: weights, positions, dimensions, means."""

from __future__ import annotations

import pytest

from copart.errors import MappingError
from copart.mapping.cartesian import Grid, internode, reorder_grid, stencil


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
        with pytest.raises(MappingError, match="5.71e.21 sent in one exchange do not fit in 64 bits"):
            reorder_grid(wide, huge, 100, method)
