"""Balance of parts in one piece."""

from __future__ import annotations

import numpy as np

from copart.partitioner import contiguity
from copart.partitioner.contiguity import Pieces, _Mender

from ..helpers import grid
from ..partition_reference import NO_PULL, level


def test_much_weight_is_handed_on_in_few_looks_at_the_border(monkeypatch):
    """Two hundred cells from part 0 through part 1, which is full, to part 2."""
    graph, looks = grid(20, 60), []
    part = np.digitize(np.arange(1200) % 60, (30, 45)).astype(np.int32)
    limit = np.array([400, 300, 500])
    mender = _Mender(level(graph), NO_PULL, part, limit)
    assert mender.excess == 200

    def counted(*arguments):
        looks.append(arguments)
        return find_boundary(*arguments)
    find_boundary = contiguity.find_boundary
    monkeypatch.setattr(contiguity, "find_boundary", counted)
    mender.relieve()
    assert mender.excess == 0
    assert np.bincount(part).tolist() == mender.pwgt.tolist() == [400, 300, 500]
    assert not Pieces.of(level(graph), part, 3).loose.any()
    assert len(looks) < 60, "a few for each layer of twenty cells, not some for every cell"
