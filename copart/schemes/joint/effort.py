"""How a V-cycle goes about it, and what it pays for cut, data and messages."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Any

import numpy as np

Array = np.ndarray[Any, Any]


@dataclass(frozen=True)
class Effort:
    """How a V-cycle goes about it.

    Attributes
    ----------
    data, messages : float
        What all data and all messages of a component are worth together, in units of its cut alone.
    budget : float
        How many times the cut alone a cut may be on the coarsest level.
    sweeps, few : int
        Sweeps of the coarsest level, and of each other one at least.
    heat : float
        The temperature at first: on the coarsest level, or on the only one; 0 for nothing that raises the price.
    mend : int
        Rounds on the finest level that raise the price of what is still worse than alone, at most.
    most : float
        Data of a part count as too many from this share of the most that one has alone.
    everywhere : bool
        Anneal all walls, not only those of parts at the interface.
    finest : bool
        On the finest level only.
    yielding : bool
        Where a cut stays above the budget, coupled weight may be as uneven as it is alone: fewer messages for less
        balance of the coupling phase.
    along : bool
        Visit vertices as they lie in memory, which takes half the time where much is coupled.
    rare : float
        Messages of so many interedges are given up, in units of a mean one.
    excess : float
        What a unit of excess costs then, in edges.
    seed : int
        Added to the seed of the options.
    """

    data: float = 0.5
    messages: float = 3.0
    budget: float = 1.08
    sweeps: int = 60
    few: int = 6
    heat: float = 1.5
    mend: int = 4
    most: float = 0.8
    everywhere: bool = False
    finest: bool = False
    yielding: bool = True
    along: bool = False
    rare: float = 0.3
    excess: float = 2.0
    seed: int = 0


@dataclass
class Prices:
    """What is paid in edges, of C components.

    Attributes
    ----------
    datum : (C, C) float64
        For a datum that component [0] gets from [1].
    message : (C,) float64
    bound : (C,) int64
        Largest coupled weight of a part.
    ease : (C,) float64
        What data and messages are worth at the moment, as a share of that: less while a cut is too large.
    most : float
        See :class:`Effort`.
    over : float
        For a datum beyond what a part should have.
    """

    datum: Array
    message: Array
    bound: Array
    ease: Array
    most: float
    over: float = 1.0

    def eased(self, where: Array, by: float) -> Prices:
        """The same with data and messages of the components `where` worth `by` times as much."""
        factor = np.where(where, by, 1.0)
        return replace(self, datum=self.datum * factor[:, None], message=self.message * factor)


__all__ = ["Effort", "Prices"]
