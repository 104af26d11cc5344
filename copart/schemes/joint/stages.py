"""The coupled vertices of all components on levels of their coarsening, as one problem for the same kernels."""

from __future__ import annotations

from collections.abc import Collection, Mapping
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ...arrays import VERTEX, sums
from ...kernels.coupled import Cells
from .cells import CoupledCells, contracted, offsets
from .levels import CoupledLevels

Array = np.ndarray[Any, Any]
Components = Mapping[str, CoupledLevels]

GROWTH = 2.5
"""There is a stage for every so many times more coupled vertices."""


class Stage:
    """The coupled vertices of all components on certain levels.

    Attributes
    ----------
    base : CoupledCells
        The coupled cells themselves.
    at : dict of str to int
        Level of each component.
    blocks : Cells
        Weights and interedges of the coupled vertices, numbered through; edges as they are between cells.
    first, count : dict of str to int
        Number of the first of each component, and how many there are.
    size : float
        Edge of a block, in cells: the square root of their mean number.
    """

    def __init__(self, base: CoupledCells, at: Mapping[str, int], blocks: Cells, count: Mapping[str, int]):
        self.base, self.at, self.blocks, self.count = base, dict(at), blocks, count
        starts = np.concatenate([[0], np.cumsum(list(count.values()))]).tolist()
        self.first = dict(zip(count, starts, strict=False))
        self.size = float(np.sqrt(max(1.0, base.n / max(1, len(blocks.weight)))))

    def span(self, name: str) -> slice:
        """Where the blocks of component `name` are."""
        return slice(self.first[name], self.first[name] + self.count[name])

    def loosened(self, limit: NDArray[np.int64]) -> NDArray[np.int64]:
        """`limit` with room for blocks; see :meth:`CoupledCells.loosened`."""
        kind = np.repeat(np.arange(len(self.count)), list(self.count.values()))
        return self.base.loosened(limit, self.blocks, kind) if any(self.at.values()) else limit

    def parts(self, components: Components) -> NDArray[np.int32]:
        """The parts that the blocks are in, numbered through."""
        return np.concatenate([components[name].labels + self.base.offset[name] for name in self.count])

    def give_back(self, components: Components, part: Array, names: Collection[str] | None = None) -> None:
        """Put the blocks of all components, or of those in `names`, into their parts."""
        for name in self.count if names is None else names:
            components[name].labels = part[self.span(name)] - self.base.offset[name]

    def cells(self, components: Components, loose: Collection[str] = ()) -> Cells:
        """The blocks with the edges between them, and to what surrounds them as it is now.

        Components in `loose` have no partition yet: nothing surrounds their blocks.
        """
        g, k = self.blocks, self.base.k
        if any(self.at.values()):
            g = g._replace(**dict(zip(("xadj", "adjncy", "ewgt"), self._edges(components), strict=True)))
        key, weight = [np.zeros(0, np.int64)], [np.zeros(0, np.int64)]
        for name, component in components.items():
            if name not in loose:
                row, part, w = component.pulls()
                key.append((row + self.first[name]) * k + part + self.base.offset[name])
                weight.append(w)
        keys, where = np.unique(np.concatenate(key), return_inverse=True)
        pull = sums(where, np.concatenate(weight), len(keys))
        return g._replace(bptr=offsets(len(g.weight), keys // k), bidx=(keys % k).astype(VERTEX), bval=pull)

    def _edges(self, components: Components) -> tuple[Array, Array, Array]:
        rows, columns, weights = [], [], []
        fine = self.base.cells
        for name, component in components.items():
            if component.at:
                row, other, weight = component.edges()
            else:  # those between cells may join what only lies near
                mine, first = self.base.span(name), self.base.first[name]
                row = np.repeat(np.arange(mine.stop - first), np.diff(fine.xadj[first : mine.stop + 1]))
                entries = slice(fine.xadj[first], fine.xadj[mine.stop])
                other, weight = fine.adjncy[entries] - first, fine.ewgt[entries]
            rows.append(row + self.first[name])
            columns.append(other + self.first[name])
            weights.append(weight)
        return (offsets(len(self.blocks.weight), np.concatenate(rows)), np.concatenate(columns).astype(VERTEX),
                np.concatenate(weights))


def stages(base: CoupledCells, components: Components) -> tuple[list[str], dict[tuple[int, ...], Stage]]:
    """The way from the coarsest levels to the finest, and the stages on it.

    Returns
    -------
    list of str
        Whose level is refined next: always one with the fewest coupled vertices.
    dict
        Stages by the levels of the components, coarsest first; the last is that of the cells.
    """
    at = dict.fromkeys(components, 0)
    way: list[str] = []
    while any(at[name] < component.at for name, component in components.items()):
        coarser = [name for name, component in components.items() if at[name] < component.at]
        way.append(max(coarser, key=lambda name: len(components[name].coupled[at[name]])))
        at[way[-1]] += 1
    way.reverse()

    def total(levels: Mapping[str, int]) -> int:
        return sum(len(component.coupled[levels[name]]) for name, component in components.items())

    wanted, last = [dict(at)], total(at)
    for name in way:
        at[name] -= 1
        if total(at) >= GROWTH * last and any(at.values()):
            wanted.append(dict(at))
            last = total(at)
    if any(wanted[-1].values()):
        if len(wanted) > 1 and total(at) < GROWTH * last:
            wanted.pop()
        wanted.append(at)

    out: dict[tuple[int, ...], Stage] = {}
    blocks, low = base.cells, at
    for levels in reversed(wanted):
        count = {name: len(component.coupled[levels[name]]) for name, component in components.items()}
        maps, first = [], 0
        for name, component in components.items():
            block: Array = np.arange(len(component.coupled[low[name]]))
            for level in range(low[name], levels[name]):
                block = component.up[level][block]
            maps.append(block + first)
            first += count[name]
        if first < len(blocks.weight):
            blocks = contracted(blocks, np.concatenate(maps).astype(VERTEX))
        low = levels
        out[tuple(levels.values())] = Stage(base, levels, blocks, count)
    return way, dict(reversed(out.items()))


__all__ = ["Stage", "stages"]
