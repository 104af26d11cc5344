"""Several vertices moved at once under a directed hypergraph, such as a loose piece of a part."""

import numpy as np

from . import kernel
from .umpa_pairs import has_room
from .umpa_state import arrive, depart, shift


@kernel
def move_all(h, s, vertices, b):
    """Move vertices to part b, one after the other; returns how many, fewer where the hash table of pairs is full.

    h : Nets, in
    s : Flow, in and out
    vertices : (m,) int32, in
    b : int
    """
    moved = np.int64(0)
    for u in vertices:
        if len(s.key):
            if not has_room(s):
                break
            depart(h, s, u, -1)
            arrive(h, s, u, b, 1)
        shift(h, s, u, b)
        moved += 1
    return moved
