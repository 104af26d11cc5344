"""Arrays of all kinds at the public face: what is refused by name, and what is kept of them."""

from __future__ import annotations

import numpy as np
import pytest

import copart
from copart import Graph, Hypergraph, Interedges, Mesh
from copart.mapping.ranks.communication import Messages
from copart.mpi import fields
from copart.partitioner.multijagged import multijagged

SQUARE = np.array([[0.0, 0], [1, 0], [0, 1], [1, 1]])
TRIANGLES = [("triangle", [[0, 1, 2], [1, 3, 2]])]
PATH = Graph.from_edges(4, range(3), range(1, 4))

#: What takes an array of four numbers, and what it calls them.
TAKES = {
    "vwgt": lambda x: PATH.replace(vwgt=x),
    "coords": lambda x: PATH.replace(coords=np.ma.stack([x, x], axis=1)),
    "interedges weights": lambda x: Interedges.from_pairs(4, 4, range(4), range(4), x),
    "interedges to A": lambda x: Interedges.from_pairs(9, 9, x, range(4)),
    "cost": lambda x: Hypergraph.from_nets(4, [[0, 1]] * 4, cost=x),
    "points": lambda x: Mesh(np.ma.stack([x, x], axis=1), TRIANGLES),
    "cell data 'load'": lambda x: Mesh(SQUARE, [("vertex", []), ("line", [[0, 1]] * 4)], {"load": x}),
    "tpwgts": lambda x: copart.part(PATH, 4, tpwgts=x),
    "weights": lambda x: multijagged(SQUARE, 2, weights=x),
    "bytes": lambda x: Messages(4, range(4), range(4), x),
    "values": lambda x: fields.given(x, 4, "cells"),
}


@pytest.mark.parametrize("name", TAKES)
def test_masked_entries_are_refused_and_not_read(name):
    TAKES[name](np.ma.array([1, 1, 1, 1]))
    with pytest.raises(copart.CopartError, match=rf"^{name}: \d of \d entries are masked; fill them in"):
        TAKES[name](np.ma.array([1, 1, 1, 1], mask=[0, 1, 0, 0]))
