"""Annealing of coupled cells: schedules and prices, messages given up, and coupled parts brought below their limits."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ...arrays import VERTEX, WEIGHT
from ...coupling import CoupledProblem
from ...errors import of_component
from ...interface.room import loaded, within_room
from ...kernels import bottleneck
from ...kernels.coupled import Cells, Shares, relieve
from ...kernels.coupled_annealing import Rates, Traffic, anneal
from ...kernels.dissolving import dissolve
from ...kernels.paths import group_by_part
from ...operators import part, rest_joined
from ...options import Options
from .cells import CoupledCells, main_partners

MOVES = 48
"""By how many moves at most a message is given up."""


@dataclass(frozen=True)
class Schedule:
    """How annealing cools down: number of sweeps; temperature, blur of the messages, price of excess at both ends.

    Prices and temperatures are in units of a mean cut edge; temperature and blur of blocks grow with their edge.
    """

    sweeps: int
    heat: tuple[float, float]
    blur: tuple[float, float]
    press: tuple[float, float]


@dataclass(frozen=True)
class Annealing:
    """What annealing of a coupled problem has to know.

    Attributes
    ----------
    problem : CoupledProblem
    nparts, ncoupled : mapping of str to int
        Parts of each component, and those that own coupled cells.
    both : bool
        Volume counts both ways.
    price : (5,) float64
        Of a cut edge, a datum and a message; of a datum and a message of the busiest process.
    options : Options
    """

    problem: CoupledProblem
    nparts: Mapping[str, int]
    ncoupled: Mapping[str, int]
    both: bool
    price: NDArray[np.float64]
    options: Options

    @cached_property
    def unit(self) -> float:
        """What a mean edge costs when it is cut: temperatures and the price of excess are in units of it."""
        graphs = self.problem.components.values()
        total = sum(len(graph.adjncy) if graph.ewgt is None else int(graph.ewgt.sum()) for graph in graphs)
        entries = sum(len(graph.adjncy) for graph in graphs)
        return (float(self.price[0]) or 1.0) * (total / entries if total else 1.0)

    def cool(self, g: Cells, s: Shares, schedule: Schedule, size: float = 1.0, price: Any = None,
             fair: bool = False) -> None:
        """Anneal blocks of an edge of `size` cells, then give up messages that are not worth their price.

        Blocks may move together with their main partners.

        Parameters
        ----------
        price : (3,) float64, optional
            Instead of the usual one.
        fair : bool
            With the busiest process in view, if that has a price.
        """
        unit, k = self.unit, len(s.load) if fair and self.price[3:].any() else 0
        volume, messages = np.zeros(k, WEIGHT), np.zeros(k, WEIGHT)
        if k:
            bottleneck.tally(g, s, volume, messages)
        alone = k or size == 1  # a cell of the finer mesh does not stand for its partner
        traffic = Traffic(volume=volume, messages=messages, more=np.zeros(k, WEIGHT), extra=np.zeros(k, WEIGHT))
        rates = Rates(heat=unit * size * np.array(schedule.heat), blur=size * np.array(schedule.blur),
                      press=unit * np.array(schedule.press))
        anneal(
            g, s, schedule.sweeps, self.price if price is None else price, rates, self.options.seed,
            np.zeros(0, VERTEX) if alone else main_partners(g, g.imul), np.empty(len(g.weight), VERTEX), traffic,
        )
        if not k and price is None:  # what the busiest process pays is not in view there
            give_up_messages(g, s, self.price[:3], unit * schedule.press[1])

    def relieved(self, cells: CoupledCells, g: Cells, s: Shares) -> NDArray[np.int32]:
        """The parts of the cells with all coupled parts below their limits, and with room for them.

        Where heavy cells keep a component above them, its coupled subgraph is partitioned alone.
        """
        now = s.part
        if relieve(g, s, cells.owner, self.price[:3]):
            now = s.part.copy()
            for name, graph in self.problem.components.items():
                first, k = cells.offset[name], self.ncoupled[name]
                rows = slice(first, first + k)
                if (s.load[rows] > s.limit[rows]).any():
                    sub, _ = rest_joined(graph, cells.members[name])
                    with of_component(name, cells.members[name].item):
                        now[cells.span(name)] = part(loaded(self.problem, name, sub), k, self.options) + first
        for name in filter(self.problem.own_weights, self.problem.names):
            first, k = cells.offset[name], self.ncoupled[name]
            sub, _ = rest_joined(self.problem.components[name], cells.members[name])
            with of_component(name, cells.members[name].item):
                fitted = within_room(self.problem, name, sub, now[cells.span(name)] - np.int32(first), k,
                                     self.nparts[name], self.options)
            now = now.copy()
            now[cells.span(name)] = fitted + np.int32(first)
        return np.asarray(now)


def give_up_messages(g: Cells, s: Shares, price: NDArray[np.float64], press: float) -> int:
    """Move all cells that cause a message wherever that pays; see :mod:`copart.kernels.dissolving`.

    Parameters
    ----------
    price : (3,) float64
    press : float
        Price of a unit of excess.

    Returns
    -------
    int
        Number of moves made.
    """
    n, k = len(s.part), len(s.load)
    start, order = np.empty(k + 1, np.int64), np.empty(n, VERTEX)
    group_by_part(s.part, np.arange(n, dtype=VERTEX), n, start, order)
    return int(dissolve(g, s, start, order, price, press, np.empty(MOVES, VERTEX), np.empty(MOVES, VERTEX),
                        np.empty(k, np.uint8), np.empty(2, WEIGHT)))


__all__ = ["Annealing", "Schedule", "give_up_messages"]
