"""Pairs of vertices change places until an objective is met best: for parts whose sizes are given to the vertex."""

from __future__ import annotations

from typing import Any

import numpy as np

from ...kernels import umpa_swaps as kernels
from .cooling import COLD, HOT, count_softly, cut_cost_of_a_vertex, prices_of, slope_of
from .search import Search

Array = np.ndarray[Any, Any]

#: Pairs tried per vertex and temperature, and pairs tried at most in all.
_TRIES, _MOST = 12, 4_000_000

#: What a message costs here, times what it costs in a partition of many vertices: many nets make up each of them.
_MESSAGE = 2.0

#: Sweeps at the end in which only what is better is kept.
_GREEDY = 10


def swap(search: Search, sweeps: int, warmth: float = 1.0) -> int:
    """Anneal a state by swaps, in place, then keep to those that are better; returns the swaps.

    All vertices count as one in balance: parts keep their numbers of vertices. The state may come out worse in the
    metrics than it went in.

    Parameters
    ----------
    search : Search
    sweeps : int
        Temperatures.
    warmth : float
        Times the usual temperature.
    """
    s = search.state
    n, k = len(s.part), len(s.load)
    first = np.zeros(k + 1, np.int64)
    np.cumsum(s.population, out=first[1:])
    member = np.argsort(s.part, kind="stable").astype(np.int32)
    seat = np.empty(n, np.int64)
    seat[member] = np.arange(n)
    seats = kernels.Seats(member, first, seat, np.zeros(2, np.int64))
    border = int(np.unique(search.h.pins[np.repeat(s.spread > 1, np.diff(search.h.xpins))]).size)
    if n < 2 or k < 2 or border == 0:
        return 0
    tries = max(min(_TRIES * n, _MOST // (sweeps + _GREEDY)), 1)
    slope = slope_of(search)
    slope = slope._replace(message=_MESSAGE * slope.message, over_message=_MESSAGE * slope.over_message)
    hot = warmth * HOT * cut_cost_of_a_vertex(search.h, s, border)
    old = np.empty(len(search.metrics), np.int64)
    for turn in range(sweeps + _GREEDY):
        warm = turn < sweeps
        x = turn / max(sweeps - 1, 1)
        if slope.message > 0.0 and warm:
            count_softly(search, x)
        elif not warm:
            search.state = search.state._replace(worth=np.zeros(0))
        price = prices_of(search, slope, hot * (COLD / HOT) ** x if warm else 0.0, 0.0, True)
        left = tries
        while left > 0:
            search.tidy()
            left -= int(kernels.swap_sweep(search.h, search.state, price, search.metrics, search.salt, left, seats,
                                           old))
    return int(seats.at[1])


__all__ = ["swap"]
