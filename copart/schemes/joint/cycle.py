"""A V-cycle over all components together, inside the partition of each alone.

Every level anneals the walls between parts for cut, data and messages of the interface at once, with weight and
coupled weight in balance and every part in one piece (:mod:`copart.kernels.wall_annealing`).  What a datum and a
message cost is taken from the problem: all data, and all messages, of a component are worth as much as its cut is
alone (times a factor), so that thin bodies are not heated by large ones.  A component whose cut grows beyond the
budget has its prices lowered.
"""

from __future__ import annotations

import logging
from dataclasses import replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ...arrays import VERTEX, WEIGHT
from ...kernels.handing import Chains, hand_over
from ...kernels.paths import group_by_part
from ...kernels.wall_annealing import Border, Cooling, anneal_walls, find_walls, list_walls
from ...kernels.wall_dissolving import TARGETS, Group, dissolve_messages
from ...kernels.walls import Joined, Walls, edge_cuts
from ...partitioner.coarsening import carry_down
from ...partitioner.rounds import Team
from .alone import NONE, Alone, Figures, figures
from .effort import Effort, Prices
from .stack import Stack, walls_of

logger = logging.getLogger(__name__)

Array = np.ndarray[Any, Any]

Result = tuple[NDArray[np.int32], Figures]
"""The part of every vertex, numbered through, and its figures."""

SEARCH = 200
"""How far a search for another way between the neighbours of a vertex goes."""

TURNS = 4
"""How often the coarsest level is annealed, at most, until no cut is above the budget."""

LOST = 1.15
"""A component whose cut is still so many times what it is alone goes on from its partition alone."""

REFERENCE = 2500
"""Levels of up to so many vertices get all sweeps; larger ones fewer, in proportion."""

DISSOLVE = 2
"""How often messages of few interedges are given up."""

GROUP, WORTH = 32, 0.3
"""The most vertices that move together then, and what a message is worth, as a share of its price."""

CHAINS, MOST_PARTS = 150, 2000
"""Chains of parts that hand weight on, at most; and parts of a component up to which they are looked for."""


ALL_WALLS = np.zeros(0, VERTEX)
"""No former parts: all walls are looked at."""

ANYWHERE = np.zeros(0, VERTEX)
"""No vertices to look near."""


class Cycle:
    """V-cycles over the same levels.

    Parameters
    ----------
    stack : Stack
    alone : Alone
    seed : int
    begin : list of (n,) int32
        Parts that cycles begin from, on each level; the stack is coarsened inside them.
    team : Team, optional
        Threads that look for walls.
    """

    def __init__(self, stack: Stack, alone: Alone, seed: int, begin: list[NDArray[np.int32]], team: Team | None = None):
        self.stack, self.alone, self.seed, self.begin = stack, alone, seed, begin
        self._team = team or Team(1)
        self.cut = np.zeros(len(alone.room), WEIGHT)  # clusters are within parts: it is the same on all levels
        edge_cuts(stack.levels[-1], stack.kinds[-1], self.begin[-1], self.cut)
        self._known: dict[int, tuple[Array, Array, Array, Array, float]] = {}
        self._borders: dict[int, Border] = {}
        components = len(alone.room)
        finest = stack.levels[0]
        self.cells = np.bincount(stack.kinds[0][np.flatnonzero(finest.coupled)], minlength=components)
        self.meeting = np.flatnonzero(finest.iptr[1:] > finest.iptr[:-1]).astype(VERTEX)

    def another(self) -> Cycle:
        """One with memory of its own, for another thread."""
        return Cycle(self.stack, self.alone, self.seed, self.begin)

    def run(self, effort: Effort, start: Result | None = None) -> Result:
        """The part of every vertex, numbered through, and the figures.

        Efforts on the finest level only begin from `start`, or else from the components alone.
        """
        top = len(self.stack.levels) - 1
        prices = self._prices(effort)
        if effort.finest:  # nothing is worse in the beginning, and balance of coupled weight would be
            prices.bound = self.alone.figures.busiest.copy()
            if start is not None:
                return self._finest(effort, self._mended(prices, start[1]), start[0], start[1].cut,
                                    self.alone.broken(start[1]))
            return self._finest(effort, prices, self.alone.part, self.alone.figures.cut)
        part, cut, prices = self._coarsest(effort, prices) if top else (self.begin[0], self.cut, prices)
        for d in range(top - 1, 0, -1):
            s, border = self._at(d, carry_down(part, self.stack.maps[d]), prices, cut)
            count = max(effort.few, int(effort.sweeps * min(1.0, REFERENCE / len(s.part))))
            self._anneal(d, s, border, self._live(s, effort), prices, count, (0.6, 0.15), effort)
            prices = self._adapted(prices, s)
            part, cut = s.part, s.cut
        return self._finest(effort, prices, carry_down(part, self.stack.maps[0]) if top else part, cut)

    def _prices(self, effort: Effort) -> Prices:
        alone = self.alone.figures
        components = len(alone.cut)
        datum, message = np.zeros((components, components)), np.zeros(components)
        for i in range(components):
            partners = np.flatnonzero(alone.volume[:, i])
            datum[i, partners] = effort.data * alone.cut[i] / len(partners) / alone.volume[partners, i] \
                if len(partners) else 0.0
            message[i] = effort.messages * alone.cut[i] / max(1, int(self.alone.met[i]))
        return Prices(datum, message, self.alone.bound.copy(), np.ones(components), effort.most)

    # ---- levels
    def _at(self, d: int, part: Array, prices: Prices, cut: Array) -> tuple[Walls, Border]:
        g = self.stack.levels[d]
        room, bound = self.alone.room, prices.bound
        if d:  # room for half a vertex
            unit = self._means(d)
            room, bound = room + (unit[1] / 2).astype(WEIGHT), bound + (unit[2] / 2).astype(WEIGHT)
        owner = self.alone.owner
        begun = self.alone.walls(part) if d == 0 else None  # to look at all cells anew takes as long as a sweep
        if begun is not None:
            return begun._replace(room=room[owner], bound=bound[owner]), self._border(d)
        s = walls_of(g, part.copy(), owner, self.alone.slot, room[owner], bound[owner], cut)
        return s, self._border(d)

    def _border(self, d: int) -> Border:
        """Memory for a level, as if new."""
        if d not in self._borders:
            n = len(self.stack.kinds[d])
            self._borders[d] = Border(np.empty(n, VERTEX), np.zeros(n, np.uint8), np.zeros(n, VERTEX),
                                      np.empty(SEARCH, VERTEX), np.empty(n, VERTEX), np.zeros(n, np.uint8),
                                      np.zeros(2, WEIGHT))
        border = self._borders[d]
        border.known[border.pool[:border.stamp[1]]] = 0
        border.stamp[1] = 0
        return border

    def _means(self, d: int) -> tuple[Array, Array, Array, Array, float]:
        """A mean edge, weight, coupled weight of a coupled vertex, and how many are coupled, of each component.

        At last how many interedges one of them stands for in the mean.
        """
        if d not in self._known:
            g, kind, components = self.stack.levels[d], self.stack.kinds[d], len(self.alone.room)
            ends = np.searchsorted(kind, np.arange(components + 1, dtype=kind.dtype))
            entries = g.xadj[ends]
            unit, heavy, wet = np.ones((3, components))
            coupled = np.ones(components)
            for i in range(components):
                if len(g.ewgt) and entries[i + 1] > entries[i]:
                    unit[i] = g.ewgt[entries[i]:entries[i + 1]].mean()
                heavy[i] = max(float(g.weight[ends[i]:ends[i + 1]].mean()), 1e-9)
                mine = g.coupled[ends[i]:ends[i + 1]]
                coupled[i] = max(1, int(np.count_nonzero(mine)))
                wet[i] = max(float(mine.sum() / coupled[i]), 1e-9)
            self._known[d] = unit, heavy, wet, coupled, float(g.imul.mean()) if len(g.imul) else 1.0
        return self._known[d]

    def _live(self, s: Walls, effort: Effort) -> Array:
        return np.ones(len(s.load), np.uint8) if effort.everywhere else (s.share > 0).astype(np.uint8)

    def _cooling(self, d: int, prices: Prices, heat: tuple[float, float], press: tuple[float, float]) -> Cooling:
        alone = self.alone
        unit, heavy, wet, coupled, many = self._means(d)
        # a coarse vertex brings more data than its cells will
        share = np.sqrt(coupled / np.maximum(self.cells, 1))
        blur = 3.0 * max(1.0, many) if heat[0] else 0.1
        return Cooling(heat=np.array(heat), blur=np.array([blur, 0.1]), press=np.array(press),
                       squeeze=2.0 * np.array(press) if heat[0] else np.array(press), unit=unit, heavy=heavy, wet=wet,
                       datum=prices.datum * share[None, :], message=prices.message,
                       over=0.0 if d else prices.over * float(unit.mean()),
                       most=(prices.most * alone.figures.most).astype(WEIGHT),
                       most_messages=alone.figures.most_messages, ease=prices.ease,
                       most_cut=np.full_like(alone.most_cut, NONE) if d else alone.most_cut, least=alone.owners,
                       islands=alone.islands)

    def _anneal(self, d: int, s: Walls, border: Border, live: Array, prices: Prices, sweeps: int,
                heat: tuple[float, float], effort: Effort, hard: bool = False, turn: int = 0,
                near: Array = ANYWHERE) -> None:
        press = (0.5, 8.0) if heat[0] else (20.0, 20.0)
        g = self.stack.levels[d]
        former = ALL_WALLS if effort.everywhere or d == len(self.stack.levels) - 1 else self.begin[d]
        count = self._list_walls(g, s, live, former, near, bool(border.stamp[1]), border)
        salt = (self.seed + effort.seed) * 1000 + 20 * d + turn
        anneal_walls(g, s, sweeps, self._cooling(d, prices, heat, press), salt, hard, effort.along, live, count, border)

    def _list_walls(self, g: Joined, s: Walls, live: Array, former: Array, near: Array, again: bool, border: Border,
                    ) -> int:
        """List the vertices at walls: of those `near`, or where none are, of those listed before if `again`, or of all;
        how many they are.
        """
        again = again and not len(near)
        if not again and not len(near):
            n, found = len(s.part), border.listed
            cuts = self._team.cuts(n)
            counts = self._team.run(find_walls, n, g, s, live, former, found)
            near = np.concatenate([found[lo : lo + count] for lo, count in zip(cuts, counts, strict=False)])
        return int(list_walls(g, s, live, near, again, border))

    def _ratios(self, s: Walls) -> Array:
        return np.asarray(s.cut / np.maximum(self.alone.figures.cut, 1))

    def _adapted(self, prices: Prices, s: Walls) -> Prices:
        """Prices after a level: less for components above the budget."""
        factor = np.clip(1 - 8 * (self._ratios(s) - 1.03), 0.1, 1.0)
        return replace(prices, datum=prices.datum * factor[:, None], message=prices.message * factor)

    def _coarsest(self, effort: Effort, prices: Prices) -> tuple[Array, Array, Prices]:
        d = len(self.stack.levels) - 1
        s, border = self._at(d, self.begin[d], prices, self.cut)
        live = self._live(s, effort)
        for turn in range(TURNS):
            sweeps, heat = (effort.sweeps, (effort.heat, 0.15)) if turn == 0 else (effort.sweeps // 3, (0.8, 0.15))
            self._anneal(d, s, border, live, prices, sweeps, heat, effort, turn=turn)
            above = self._ratios(s) > effort.budget
            if not above.any():
                break
            prices = prices.eased(above, 0.5)
            if turn and effort.yielding:  # balance of the coupled weight is what costs
                loose = self.alone.figures.busiest
                prices.bound = np.where(above, loose if turn > 1 else (prices.bound + loose) // 2, prices.bound)
                s.bound[:] = (prices.bound + (self._means(d)[2] / 2).astype(WEIGHT))[self.alone.owner]
        adapted = self._adapted(prices, s)
        for i in np.flatnonzero(self._ratios(s) > LOST):  # no price brings its cut back: begin anew
            mine = self.stack.kinds[d] == i
            s.part[mine] = self.begin[d][mine]
            s.cut[i] = self.cut[i]
        return s.part, s.cut, adapted

    # ---- the cells
    def _finest(self, effort: Effort, prices: Prices, part: Array, cut: Array, worse: float = np.inf) -> Result:
        """On the level of the cells, until no line is broken or a round mends nothing; so much is broken: `worse`."""
        s, border = self._at(0, part, prices, cut)
        live = self._live(s, effort)
        if not effort.finest:
            self._anneal(0, s, border, live, prices, effort.few, (0.5, 0.1), effort, turn=1)
            prices = self._mended(prices, figures(s))
        best: tuple[tuple[float, int], Array, Figures] | None = None
        for turn in range(effort.mend):
            if turn:
                prices = self._mended(prices, figures(s))
                if effort.yielding:
                    prices.bound = np.where(s.cut > self.alone.most_cut, self.alone.figures.busiest, prices.bound)
            self._narrow(s, prices)
            if turn:
                self._anneal(0, s, border, live, prices, 3, (0.22, 0.1), effort, hard=True, turn=3 + turn)
            elif effort.finest and effort.heat:
                self._anneal(0, s, border, live, prices, effort.few, (effort.heat, 0.1), effort, hard=True, turn=3)
            self._anneal(0, s, border, live, prices, 4, (0.0, 0.0), effort, hard=True, turn=10 + turn)
            settled = s.part.copy()
            self._hand_over(s, border, prices)
            best = self._better(best, s)
            if turn + 1 == effort.mend and best[0][0] > 0 and not self.alone.mendable(best[2]):
                break  # fewer messages do not save it
            for _ in range(DISSOLVE):
                if not self._dissolve(s, border, prices, effort):
                    break
                self._anneal(0, s, border, live, prices, 2, (0.0, 0.0), effort, hard=True, turn=20 + turn,
                             near=_around(self.stack.levels[0], np.flatnonzero(s.part != settled)))
                settled = s.part.copy()
                self._hand_over(s, border, prices)
                best = self._better(best, s)
            if best[0][0] == 0 or best[0][0] >= worse:
                break
            worse = best[0][0]
        assert best is not None
        return best[1], best[2]

    def lower(self, effort: Effort, part: Array, cut: Array, by: float) -> Result:
        """`part` with less for the busiest processes, which hand coupled cells on.

        They keep `by` times the most data, and of coupled weight `by` times the most of their component, or an even
        share if that is more.

        What that costs in other figures is for the caller to judge.
        """
        prices = replace(self._prices(effort), bound=self.alone.figures.busiest)
        s, border = self._at(0, part, prices, cut)
        live = self._live(s, effort)
        data = np.maximum(s.sent.sum(axis=1), s.got.sum(axis=1))
        room = by * data.max() / np.maximum(data, 1)
        most = np.maximum.reduceat(s.share, self.alone.first[:-1])
        even = np.maximum(self.alone.bound, (by * most).astype(WEIGHT))
        s.bound[:] = np.minimum(s.bound, even[self.alone.owner])
        s.bound[:] = np.where(s.share > 0, np.minimum(s.bound, s.share * room), s.bound)
        for _ in range(effort.mend):
            before = s.part.copy()
            self._hand_over(s, border, prices)
            near = _around(self.stack.levels[0], np.flatnonzero(s.part != before))
            if not len(near):
                break
            self._anneal(0, s, border, live, prices, 3, (0.0, 0.0), effort, hard=True, turn=30, near=near)
        if self._dissolve(s, border, prices, effort):
            self._hand_over(s, border, prices)
        return s.part, figures(s)

    def _narrow(self, s: Walls, prices: Prices) -> None:
        """Limits of coupled weight: lower ones for parts that send or get more data than the busiest one alone.

        Data go with coupled cells, so that what such a part hands on brings it below that limit.
        """
        out, into = self.alone.figures.process[:2]
        above = np.maximum(s.sent.sum(axis=1) / max(1, out), s.got.sum(axis=1) / max(1, into))
        s.bound[:] = np.minimum(prices.bound[self.alone.owner], s.share / np.maximum(above, 1.0))
        s.bound[above <= 1] = prices.bound[self.alone.owner[above <= 1]]

    def _better(self, best: tuple[tuple[float, int], Array, Figures] | None, s: Walls
                ) -> tuple[tuple[float, int], Array, Figures]:
        """The better of the best so far and what there is now: fewer lines broken, then fewer messages."""
        found = figures(s)
        key = (self.alone.broken(found), found.messages)
        return (key, s.part.copy(), found) if best is None or key < best[0] else best

    def _dissolve(self, s: Walls, border: Border, prices: Prices, effort: Effort) -> int:
        """Give up messages of few interedges; how many groups of vertices were moved."""
        g = self.stack.levels[0]
        if not len(g.iadj):
            return 0
        cells = self.meeting
        start, order = np.empty(len(s.load) + 1, WEIGHT), np.empty(len(cells), VERTEX)
        group_by_part(s.part, cells, len(cells), start, order)
        cooling = self._cooling(0, prices, (0.0, 0.0), (effort.excess, effort.excess))
        k, entries = len(s.load), len(g.iadj)
        group = Group(*(np.empty(size, VERTEX) for size in (GROUP, GROUP, TARGETS, k, k, entries, entries, entries)))
        few = int(effort.rare * len(g.iadj) / max(1, 2 * int(s.total[0])))
        return int(dissolve_messages(g, s, cooling, WORTH, few, start, order, group, border))

    def _mended(self, prices: Prices, found: Figures) -> Prices:
        """Higher prices for what is worse than alone, lower ones where a cut is near its limit."""
        alone = self.alone.figures
        most = self.alone.most_cut
        near, above = found.cut > 0.98 * most, found.cut > most
        dear = (found.volume > 1.004 * alone.volume).T
        datum = prices.datum * np.where(dear, 2.0, np.where(near, 0.4, 1.0)[:, None])
        message = prices.message * np.where(near, 0.4, 1.0)
        if found.messages > alone.messages:
            message = message * 1.5
        elif dear.any():  # there are messages to give for data
            message = message * 0.5
        prices = replace(prices, datum=datum, message=message)
        if (found.most > alone.most).any() or (found.process > alone.process)[:2].any():
            prices = replace(prices, over=prices.over * 3)
        return prices.eased(above, 0.2)

    def _hand_over(self, s: Walls, border: Border, prices: Prices) -> None:
        """Bring parts below their limits by chains of parts."""
        g, alone = self.stack.levels[0], self.alone
        cooling = self._cooling(0, prices, (0.0, 0.0), (20.0, 20.0))
        for i in range(len(alone.room)):
            first, last = int(alone.first[i]), int(alone.first[i + 1])
            k = last - first
            if k > MOST_PARTS:
                continue
            for coupled, load, limit in ((True, s.share, s.bound), (False, s.load, s.room)):
                if not (load[first:last] > limit[first:last]).any():
                    continue
                mine = self.stack.kinds[0] == i
                if coupled:
                    cells = np.flatnonzero(mine & (g.coupled > 0)).astype(VERTEX)
                else:
                    everywhere = np.ones(len(s.load), np.uint8)
                    count = self._list_walls(g, s, everywhere, ALL_WALLS, ANYWHERE, False, border)
                    cells = border.listed[:count].copy()
                    border.there[cells] = 0
                    cells = cells[mine[cells]]
                memory = Chains(np.empty((k, k)), np.empty((k, k), VERTEX), np.empty((k, k), VERTEX), np.empty(k),
                                np.empty(k, VERTEX), np.empty(k, np.uint8), np.empty(k, VERTEX),
                                np.empty(len(cells), VERTEX), np.empty(len(cells), VERTEX))
                hand_over(g, s, cooling, coupled, cells, first, last, memory, border, CHAINS)


def _around(g: Joined, vertices: Array) -> NDArray[np.int32]:
    """`vertices`, their neighbours and those that they exchange data with."""
    found = [vertices]
    for start, other in ((g.xadj, g.adjncy), (g.iptr, g.iadj)):
        count = start[vertices + 1] - start[vertices]
        entry = np.repeat(start[vertices] - (np.cumsum(count) - count), count) + np.arange(int(count.sum()))
        found.append(other[entry])
    return np.unique(np.concatenate(found)).astype(VERTEX)


__all__ = ["Cycle", "Result"]
