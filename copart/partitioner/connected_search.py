"""Connected parts of few vertices, by exhaustive search: the last resort before a refusal."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ..arrays import VERTEX
from ..graph import Graph

FEW, STEPS = 24, 5_000
"""Parts of so many vertices at most are looked for, and so many of them tried: less than half a second."""


def connected_search(graph: Graph, nparts: int, limit: int, body: NDArray[np.int32], *, several: bool = False
                     ) -> NDArray[np.int32] | None:
    """A partition whose parts are connected and within the limit, none empty; None where none is found.

    Parameters
    ----------
    graph : Graph
        With one weight per vertex; of more than :data:`FEW` vertices nothing is looked for.
    nparts, limit : int
        Number of parts, and the largest weight of one.
    body : (nvtxs,) int32
        Connected piece of the graph that each vertex is in.
    several : bool
        Whether a part may own vertices of several bodies, connected in each.
    """
    if not nparts <= graph.nvtxs <= FEW:
        return None
    made = _Search(graph, limit, body, several).parts((1 << graph.nvtxs) - 1, nparts)
    if made is None:
        return None
    found = np.empty(graph.nvtxs, VERTEX)
    for k, part in enumerate(made):
        found[_vertices(part)] = k
    return found


class _Search:
    """Depth-first: a part is grown around the first vertex that is left, then the next one; sets are bits of a number.

    At most :data:`STEPS` parts are tried.
    """

    def __init__(self, graph: Graph, limit: int, body: NDArray[np.int32], several: bool):
        self.limit, self.several, self.steps = limit, several, STEPS
        self.weight = graph.weights.tolist()
        self.near = [_bits(graph.adjncy[a:b]) for a, b in zip(graph.xadj[:-1], graph.xadj[1:], strict=True)]
        self.bodies = [_bits(np.flatnonzero(body == b)) for b in range(int(body.max(initial=-1)) + 1)]

    def parts(self, left: int, count: int) -> list[int] | None:
        """`count` parts of the vertices `left`."""
        if count == 1:
            one = all(self.pieces(left & body) <= 1 for body in self.bodies) and self.heavy(left) <= self.limit
            return [left] if one and (self.several or self.pieces(left) == 1) else None
        for part in self.grown(left, self.limit):
            self.steps -= 1
            if self.steps < 0:
                return None
            rest = left & ~part
            if self.hopeful(rest, count - 1) and (more := self.parts(rest, count - 1)) is not None:
                return [part, *more]
        return None

    def hopeful(self, left: int, count: int) -> bool:
        """Whether `count` parts can have the vertices `left`, for all that is easily seen."""
        if left.bit_count() < count or self.heavy(left) > count * self.limit:
            return False
        pieces = [self.pieces(left & body) for body in self.bodies]
        return (max(pieces) if self.several else sum(pieces)) <= count

    def grown(self, left: int, room: int) -> Iterator[int]:
        """Parts that have the first vertex of `left`, those of one body first."""
        home = next(body for body in self.bodies if body & left & -left)
        for piece in self.sets(left & -left, left & home, room):
            yield piece
            others = left & ~home if self.several else 0
            while others:
                # whatever of the other bodies begins with this vertex
                yield from (piece | more for more in self.grown(others, room - self.heavy(piece)))
                others &= others - 1

    def sets(self, found: int, allowed: int, room: int, banned: int = 0) -> Iterator[int]:
        """Connected sets within `room` that grow from `found` in `allowed`, each once."""
        if self.heavy(found) > room:
            return
        yield found
        fringe = self.around(found) & allowed & ~found & ~banned
        while fringe:
            vertex = fringe & -fringe
            yield from self.sets(found | vertex, allowed, room, banned)
            banned |= vertex
            fringe ^= vertex

    def pieces(self, left: int) -> int:
        """Connected pieces of the vertices `left`."""
        count = 0
        while left:
            piece, grown = 0, left & -left
            while grown != piece:
                piece = grown
                grown |= self.around(piece) & left
            left &= ~piece
            count += 1
        return count

    def around(self, found: int) -> int:
        """The neighbours of a set."""
        out = 0
        for v in _vertices(found):
            out |= self.near[v]
        return out

    def heavy(self, found: int) -> int:
        """The weight of a set."""
        return sum(self.weight[v] for v in _vertices(found))


def _bits(vertices: NDArray[Any]) -> int:
    return sum(1 << int(v) for v in vertices)


def _vertices(found: int) -> list[int]:
    out = []
    while found:
        out.append((found & -found).bit_length() - 1)
        found &= found - 1
    return out


__all__ = ["connected_search"]
