"""Which parts own the coupled cells."""

from __future__ import annotations

import numpy as np

from copart.schemes.joint.first import coupled_first

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
