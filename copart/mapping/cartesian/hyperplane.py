"""The hyperplane algorithm: cut the grid into two boxes until every box is one compute node.

A cut runs across one dimension and leaves whole numbers of nodes on both sides; where the stencil has least along a
dimension, it is cut first.  Such a cut always exists, both sides hold at least a third, and so every
process finds its own position with a few numbers, without a message, in time that grows with the logarithm
of the number of nodes (von Kirchbach, Lehr, Hunold, Schulz & Träff 2020; theorems 5.2.1-5.2.10 of the
thesis by von Kirchbach, University of Vienna 2019).
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from ...arrays import VERTEX, whole
from ...errors import MappingError
from .criteria import preference
from .grid import Grid
from .nodecart import decode, encode
from .stencils import Stencil


class Split(NamedTuple):
    """A cut across dimension `j`: `a` layers on the low side, found after `shifts` steps from the middle."""

    j: int
    a: int
    shifts: int


class Hyperplane:
    """Positions of all processes; a rank's own position needs neither memory nor messages.

    Parameters
    ----------
    grid : Grid
    stencil : Stencil
    size : int
        Processes in each box, those of a compute node; divides the size of the grid.
    criterion : {"cosine", "cosine-length", "cut"} or sequence of float
        Which dimension is cut: the one that the stencil points along least (the source), the same with far
        neighbours counting more, the one whose cut severs fewest edges, or the one with the smallest of these
        numbers.  Ties go to the widest dimension, then to the first.

    Raises
    ------
    MappingError
        `size` does not divide the grid, or the criterion is none.

    Examples
    --------
    >>> from copart.mapping.cartesian import stencil
    >>> rule = Hyperplane(Grid((4, 3)), stencil("five-point", 2), 4)
    >>> [rule.vertex(slot) for slot in range(12)]
    [0, 3, 6, 9, 1, 4, 2, 5, 7, 10, 8, 11]
    """

    def __init__(self, grid: Grid, stencil: Stencil, size: int, criterion: str | Sequence[float] = "cosine"):
        self.grid, self.size = grid, whole("processes per node", size, low=1)
        if grid.size % self.size:
            raise MappingError(f"hyperplane: {grid.size} positions are no multiple of {size} processes per node")
        self._prefer = preference(grid, stencil, criterion)

    def split(self, box: Sequence[int]) -> Split:
        """The cut of a box (sizes) that holds at least two nodes.

        The low side gets ``a = q (m // 2)`` of ``s = q m`` layers, where q layers are the fewest that make whole
        nodes: the cut next to the middle.  A dimension with m = 1 cannot be cut.
        """
        layer = math.prod(box)
        choices = []
        for j, s in enumerate(box):
            q = self.size // math.gcd(self.size, layer // s)
            a = q * (s // q // 2)
            choices.append((self._prefer(box, j, a), j, a))
        shifts = 0
        for _, j, a in sorted(choices):
            # a walk from the middle down to where the cut is allowed, or to the border in vain
            shifts += box[j] // 2 - a if a else max(box[j] // 2 - 1, 0)
            if a:
                return Split(j, a, shifts)
        raise MappingError(f"hyperplane: a box {'x'.join(map(str, box))} is not cut into nodes of {self.size}")

    def vertex(self, slot: int) -> int:
        """Vertex of the process in `slot`."""
        slot = whole("slot", slot, low=0, high=self.grid.size - 1)
        low, box, first, held = [0] * self.grid.ndims, list(self.grid.dims), 0, self.grid.size
        while held > self.size:
            j, a, _ = self.split(box)
            left = held // box[j] * a
            if slot - first < left:
                box[j], held = a, left
            else:
                low[j] += a
                box[j] -= a
                first, held = first + left, held - left
        # inside the box the first dimension is fastest
        place = slot - first
        for i, s in enumerate(box):
            place, x = divmod(place, s)
            low[i] += x
        return encode(low, self.grid.dims)

    def slot(self, vertex: int) -> int:
        """Slot of the process at `vertex`."""
        at = whole("vertex", vertex, low=0, high=self.grid.size - 1)
        x, box, first, held = decode(at, self.grid.dims), list(self.grid.dims), 0, self.grid.size
        while held > self.size:
            j, a, _ = self.split(box)
            left = held // box[j] * a
            if x[j] < a:
                box[j], held = a, left
            else:
                x[j] -= a
                box[j] -= a
                first, held = first + left, held - left
        return first + encode(x[::-1], box[::-1])

    def order(self) -> NDArray[np.int32]:
        """(size,) int32 vertex of every slot; boxes of equal sizes are cut once."""
        strides = self.grid.strides
        known: dict[tuple[int, ...], NDArray[np.int32]] = {}

        def fill(box: tuple[int, ...]) -> NDArray[np.int32]:
            if box not in known:
                if math.prod(box) == self.size:
                    index = sum(np.ix_(*(np.arange(s, dtype=VERTEX) * t for s, t in zip(box, strides, strict=True))))
                    known[box] = np.asarray(index, VERTEX).ravel(order="F")
                else:
                    j, a, _ = self.split(box)
                    known[box] = np.concatenate([fill(_with(box, j, a)),
                                                 fill(_with(box, j, box[j] - a)) + VERTEX(a * strides[j])])
            return known[box]

        return fill(self.grid.dims)

    def boxes(self) -> dict[tuple[int, ...], Split]:
        """The cut of every kind of box that is met."""
        found: dict[tuple[int, ...], Split] = {}
        todo = [self.grid.dims]
        while todo:
            box = todo.pop()
            if math.prod(box) > self.size and box not in found:
                cut = found[box] = self.split(box)
                todo += [_with(box, cut.j, cut.a), _with(box, cut.j, box[cut.j] - cut.a)]
        return found

    def depth(self) -> int:
        """Most cuts on the way of any process."""
        return self._longest(0)[0]

    def shift_ratio(self) -> float:
        """Most shifts on the way of any process, as a share of ``log_{3/2}(nodes) * sum of half the sizes``."""
        nodes = self.grid.size // self.size
        return self._longest(1)[1] / (math.log(nodes, 1.5) * sum(self.grid.dims) / 2) if nodes > 1 else 0.0

    def _longest(self, key: int) -> tuple[int, int]:
        """Cuts and shifts, each of the way on which there are most."""
        cuts = self.boxes()
        known: dict[tuple[int, ...], tuple[int, int]] = {}
        for box in sorted(cuts, key=math.prod):
            j, a, shifts = cuts[box]
            ends = [known.get(_with(box, j, s), (0, 0)) for s in (a, box[j] - a)]
            known[box] = 1 + max(e[0] for e in ends), shifts + max(e[1] for e in ends)
        return known.get(self.grid.dims, (0, 0))


def _with(box: Sequence[int], j: int, size: int) -> tuple[int, ...]:
    return (*box[:j], size, *box[j + 1:])


__all__ = ["Hyperplane", "Split"]
