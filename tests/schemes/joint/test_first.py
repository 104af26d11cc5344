"""Which parts own the coupled cells."""

from __future__ import annotations

import numpy as np
import pytest

from copart.schemes.joint.first import coupled_first, misplaced

from ...helpers import grid


def test_missing_and_surplus_coupled_parts():
    ids = np.arange(64).reshape(8, 8)
    part = (ids // 16).ravel().astype(np.int32)
    cells = ids[0].astype(np.int32)
    out = coupled_first(grid(8, 8), cells, part, 4, 2)
    assert sorted(np.bincount(out[cells], minlength=4).tolist()) == [0, 0, 1, 7]
    assert set(out[ids[2]].tolist()) == set(out[cells].tolist()) - {int(np.bincount(out[cells]).argmax())}
    columns = np.tile(np.repeat(np.arange(4), 2), 8).astype(np.int32)
    out = coupled_first(grid(8, 8), cells, columns, 4, 2)
    assert set(out[cells].tolist()) == {0, 1}


@pytest.mark.parametrize(("load", "k", "eps", "share"), [
    ([4, 0, 4], 2, 0.0, 0.0),
    ([2, 2, 4, 0], 2, 0.0, 0.25),  # one part of two is given up
    ([6, 2, 0], 2, 0.0, 0.25),  # the heavy one hands two over
    ([6, 2, 0], 2, 0.25, 0.125),
    ([3, 3, 2], 2, 0.5, 0.25),  # room for them is no reason to keep a third
    ([0, 0, 0], 2, 0.0, 0.0),
])
def test_misplaced_is_what_has_to_change_parts(load, k, eps, share):
    assert misplaced(np.array(load), k, eps) == pytest.approx(share)
