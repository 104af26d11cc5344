"""Vertices of rank graphs count one each: weights of 1 are as none, others are refused where sizes are promised."""

from __future__ import annotations

import numpy as np
import pytest

from copart.errors import MappingError
from copart.mapping.ranks.bisection import recursive_bisection
from copart.mapping.ranks.multilevel import multilevel
from copart.mapping.ranks.negative_cycles import refine

from ...helpers import grid


def test_weights_of_one_are_as_none():
    bare, weighted = grid(8, 8), grid(8, 8, vwgt=np.ones(64, int))
    for start in (np.zeros(64, int), np.arange(64) % 2):
        found = refine(weighted, start, [40, 24])
        assert np.bincount(found.part).tolist() == [40, 24]
        assert (found.part == refine(bare, start, [40, 24]).part).all()


@pytest.mark.parametrize("method", [multilevel, recursive_bisection])
def test_weighted_vertices_are_refused(method):
    """Parts would miss their capacities: whole vertices need not add up to them."""
    for row in ([2] * 4, [1, 2, 3, 2]):
        with pytest.raises(MappingError, match="vertex weights other than 1 are not supported"):
            method(grid(1, 4, vwgt=row), [5, 3])
    assert np.bincount(method(grid(1, 4, vwgt=[1] * 4), [1, 3])).tolist() == [1, 3]
