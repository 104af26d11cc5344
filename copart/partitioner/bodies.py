"""Parts that are filled by whole components of a graph: bodies that do not touch, such as rods, tubes and plates.

A bisection whose border runs through a body seldom finds out that nothing would be cut if every body were whole.
"""

from __future__ import annotations

import heapq
from typing import Any

import numpy as np

from ..arrays import VERTEX, sums
from ..kernels import Level
from .contiguity import pieces_of

Array = np.ndarray[Any, Any]

#: So many of the heaviest bodies are placed one by one, per part where all parts are packed at once; of two sides the
#: others are poured into one until that is full.
_PLACED = 200

#: Parts are halved in so many ways, at most, beginning in the middle.
_WAYS = 9


def separated(g: Level, limit: Array) -> list[tuple[Array, Array]]:
    """Vertices, ascending, and the parts to be made of them; one pair where no whole bodies fill some of the parts.

    Parts are halved as in recursive bisection, though not always in the middle, as long as whole bodies fill both
    sides, or all parts at once.

    Parameters
    ----------
    g : Level
        Without fixed vertices.
    limit : (nparts,) int64
    """
    n, k = len(g.vwgt), len(limit)
    body, nbodies = pieces_of(g, np.zeros(n, VERTEX))
    if nbodies < 2:
        return [(np.arange(n, dtype=VERTEX), np.arange(k))]
    weight, size = sums(body, g.vwgt, nbodies), np.bincount(body, minlength=nbodies)
    # pairs of bodies and parts, first those to look at
    todo, done = [(np.arange(nbodies), np.arange(k))], []
    while todo:
        bodies, parts = todo.pop()
        apart = _shared_out(weight[bodies], size[bodies], limit[parts])
        if apart is None:
            done.append((bodies, parts))
            continue
        side, sides = apart
        todo += [(bodies[side == s], parts[mine]) for s, mine in enumerate(sides)]
    group = np.empty(nbodies, VERTEX)
    for at, (bodies, _) in enumerate(done):
        group[bodies] = at
    return [(np.flatnonzero(group[body] == at).astype(VERTEX), parts) for at, (_, parts) in enumerate(done)]


def _shared_out(weight: Array, size: Array, limit: Array) -> tuple[Array, list[Array]] | None:
    """The share of each body and the parts of each share; None where bodies cannot stay whole.

    Parameters
    ----------
    weight, size : (nbodies,) int64
        Weight of each body and number of its vertices.
    limit : (nparts,) int64
    """
    k = len(limit)
    if min(k, len(weight)) == 1:
        return None
    part = _packed(weight, limit)
    if part is not None:
        return part, list(np.arange(k)[:, None])
    for left in sorted(range(1, k), key=lambda at: abs(at - k // 2))[:_WAYS]:
        side = _halves(weight, limit, left)
        if side is not None and (np.bincount(side, size, 2) >= [left, k - left]).all():
            return side, np.split(np.arange(k), [left])
    return None


def _packed(weight: Array, limit: Array) -> Array | None:
    """Parts of all bodies, (nbodies,) int32, none of them empty; None where they are not found within the limits.

    Heaviest first, each where there is most room (Graham 1969).
    """
    k = len(limit)
    if len(weight) < k or len(weight) > _PLACED * k or weight.max() > limit.max():
        return None
    part = np.empty(len(weight), VERTEX)
    rooms = [(-int(room), p) for p, room in enumerate(limit)]
    heapq.heapify(rooms)
    for b in np.argsort(-weight, kind="stable"):
        room, p = rooms[0]
        if room + weight[b] > 0:
            return None
        part[b] = p
        heapq.heapreplace(rooms, (room + int(weight[b]), p))
    return part if np.bincount(part, minlength=k).all() else None


def _halves(weight: Array, limit: Array, left: int) -> Array | None:
    """Which bodies the parts from `left` on get, (nbodies,) int32, 1 for those; None where that does not fit.

    Heaviest first, each where there is more room.  The slack is spread evenly over the splits still to come.
    """
    whole = max(float(weight.sum()), 1.0)
    most = np.array([half.sum() for half in np.split(limit.astype(np.float64), [left])])
    slack = max(most.sum() / whole, 1.0) ** (1 / np.ceil(np.log2(len(limit))))
    share = most / max(most.sum(), 1.0)
    room = np.minimum(slack * whole * share, most)
    side = np.empty(len(weight), VERTEX)
    order = np.argsort(-weight, kind="stable")
    for b in order[:_PLACED]:
        side[b] = room[1] > room[0]
        room[side[b]] -= weight[b]
    rest = order[_PLACED:]
    if len(rest):
        poured = np.cumsum(weight[rest])
        # what is left over is shared as the limits are
        side[rest] = poured > room[0] - (room.sum() - poured[-1]) * share[0]
        room -= np.bincount(side[rest], weight[rest], 2)
    return side if room.min() >= 0 else None
