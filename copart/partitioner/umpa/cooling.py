"""Annealing of the border of one level: how it cools down, and what each metric of an objective costs meanwhile."""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np

from ...kernels import umpa_annealing as kernels
from ...kernels import umpa_pairs, umpa_state
from ...kernels.umpa_state import Flow, Nets
from .search import Search

Array = np.ndarray[Any, Any]

#: First and last temperature, as shares of the mean cost of the cut nets of a vertex at the border.
HOT, COLD = 0.2, 0.05

#: Price of a unit of volume that a part sends above `_AIM` times the average, beside its own.
_SENT = 2.0

#: Largest figure of a part that is free of charge, times the average.
_AIM_SENT, _AIM_MESSAGES = 1.05, 1.1

#: Price of a message, and where those of the busiest part count first, of one above `_AIM_MESSAGES` times the average,
#: beside that; in mean volumes of a message.
_MESSAGE, _OVER = 1.0, 0.8

#: Nets at which a message counts half, first and last; the first in mean nets of a message.
_BLUR_FIRST, _BLUR_LAST = 0.2, 0.1

#: Price of a mean vertex above the limit of its part, first and last, in the first temperature; and when none may go
#: above it any more.
_PRESS_FIRST, _PRESS_LAST, _HARD = 0.33, 5.3, 0.7

#: Sweeps downhill at the end.
_FROZEN = 4

#: Sweeps after which vertices that have left the border are dropped.
_TRIM = 4

#: Entries of the table of what messages are worth, at most.
_TABLE = 1 << 16


class Slope(NamedTuple):
    """Prices that do not change while it cools, in the units of the metrics themselves."""

    sent: float
    message: float
    over_message: float


def slope_of(search: Search) -> Slope:
    """The prices of an objective on a level, by what its messages carry."""
    objective, s = search.objective, search.state
    each = float(s.total[0]) / max(float(s.total[1]), 1.0)
    if objective.primary == "TM":
        return Slope(0.0, _MESSAGE * each, 0.0)
    if objective.primary == "MSM":
        return Slope(0.0, _MESSAGE * each, _OVER * each)
    return Slope(_SENT if objective.primary in ("MSV", "MSRV") else 0.0, 0.0, 0.0)


def anneal(search: Search, sweeps: int, warmth: float = 1.0, *, hard: bool = False, freeze: bool = False) -> int:
    """Sweeps over the border while it cools down; returns the moves.

    Parameters
    ----------
    sweeps : int
    warmth : float
        Times the usual temperature. What weight above the limits costs does not cool down with it: vertices of costly
        nets would stay where there is no room for them, and what is made room for later is dearer.
    hard : bool
        Whether no part may get above its limit at any time.
    freeze : bool
        Whether sweeps follow in which nothing may get worse.
    """
    n = len(search.state.part)
    listed, there = np.empty(n, np.int32), np.empty(n, np.uint8)
    count = int(umpa_state.list_border(search.h, search.state, listed, there))
    if sweeps == 0 or count == 0:
        return 0
    border = kernels.Border(listed, there, np.array([count, 0]))
    weight = max(float(search.h.vwgt.mean()), 1e-9)
    slope = slope_of(search)
    search.state = search.state._replace(least=np.empty(n, np.int64))
    umpa_state.count_least(search.h, search.state)
    hot = warmth * HOT * cut_cost_of_a_vertex(search.h, search.state, count)
    moves = 0
    for turn in range(sweeps + (_FROZEN if freeze else 0)):
        x = min(turn / max(sweeps - 1, 1), 1.0)
        heat = hot * (COLD / HOT) ** x if turn < sweeps else 0.0
        press = _PRESS_FIRST + (_PRESS_LAST - _PRESS_FIRST) * x
        if slope.message > 0.0:
            count_softly(search, x)
        price = prices_of(search, slope, heat, press * (1.0 + slope.sent) * hot / (warmth * weight), hard or x > _HARD)
        s = search.state
        moves += int(kernels.sweep(search.h, s, price, search.salt + turn, border, search.trial))
        if turn % _TRIM == _TRIM - 1:
            kernels.trim(search.h, search.state, border)
    search.state = search.state._replace(worth=np.zeros(0), least=np.zeros(0, np.int64))
    return moves


def prices_of(search: Search, slope: Slope, heat: float, press: float, hard: bool) -> kernels.Prices:
    """The prices of a sweep, by what parts send on average now; `heat`, `press` and `hard` as kernels take them."""
    s = search.state
    # without a price of it nobody asks for the average, which takes longer than a sweep of a small level
    sent = _AIM_SENT * float(s.send.mean()) if slope.sent > 0.0 else 0.0
    messages = _AIM_MESSAGES * float(s.soft.mean()) if slope.over_message > 0.0 else 0.0
    return kernels.Prices(heat=heat, press=press, hard=hard, most_sent=sent, over_sent=slope.sent,
                          message=slope.message, most_messages=messages, over_message=slope.over_message)


def cut_cost_of_a_vertex(h: Nets, s: Flow, count: int) -> float:
    """The mean cost of the cut nets of a vertex, of `count` vertices at the border.

    It is right on every level, for nets of very unequal costs too: those that cost most are hardly ever cut.
    """
    cut = s.spread > 1
    cost = float((h.cost[cut] * np.diff(h.xpins)[cut].astype(np.float64)).sum())
    return cost / count


def evenness(search: Search) -> float:
    """Geometric over arithmetic mean of the costs of the cut nets: 1 where all cost the same."""
    cost = search.h.cost[search.state.spread > 1].astype(np.float64)
    return float(np.exp(np.log(cost).mean()) / cost.mean()) if len(cost) else 1.0


def count_softly(search: Search, x: float) -> None:
    """Count messages softly: let each net of one count, less and less where there are many, as x goes from 0 to 1."""
    search.tidy()
    s = search.state
    each = float(s.count.sum()) / max(float(s.total[1]), 1.0)
    first = max(_BLUR_FIRST * each, _BLUR_LAST)
    blur = first * (_BLUR_LAST / first) ** x
    nets = np.arange(int(min(max(64.0 * blur, 4.0), _TABLE)), dtype=np.float64)
    worth = nets / (nets + blur)
    search.state = s._replace(worth=worth / worth[-1])
    umpa_pairs.count_softly(search.state)


__all__ = ["anneal", "count_softly", "cut_cost_of_a_vertex", "evenness", "prices_of", "slope_of"]
