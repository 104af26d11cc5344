"""1DPART (Algorithm 2): all cuts along one coordinate by trial and correction, one sum over all processes per trial.

Every process holds some of the points and calls the same functions; a *reduction* adds up what each of them counted.
Weights are whole numbers, so the cuts are the same on any number of processes and threads, and with a tolerance of
zero they are those of :mod:`copart.partitioner.geometric.cutting`.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any, NamedTuple

import numpy as np

from ...arrays import VERTEX
from ...kernels import multisection as kernels
from ...kernels.clouds import Cloud, Nodes
from ...kernels.multisection import Found, Search
from ..rounds import Team
from .cutting import Cut, Share, gather, put_together
from .result import Counters

Array = np.ndarray[Any, Any]

#: Adds up weights and counts, and takes the least and the largest coordinates, over all processes, in place.
Reduction = Callable[[Found], None]


def alone(found: Found) -> None:
    """The reduction of a single process."""


class Line(NamedTuple):
    """The points of this process to be cut along a coordinate.

    values (n,) float64; load (n,) int64, empty where every point weighs 1; ties : gives, for tied points by their
    positions, the next coordinate that orders them, and the line after it; None behind the last.
    """

    values: Array
    load: Array
    ties: Callable[[Array], Line] | None


class Trace(NamedTuple):
    """What a search did: comparisons of every trial (of this process), and the counters."""

    comparisons: list[int]
    counters: Counters


class Sections(NamedTuple):
    """Section of every point (n,) int32, trial or tied coordinate of every cut (cuts,) float64, and what was done."""

    section: Array
    cuts: Array
    trace: Trace


def one_d_part(line: Line, goals: Array, slack: int, reduce: Reduction, team: Team, *, warm: bool = True) -> Sections:
    """Search all cuts along a line.  Collective.

    Parameters
    ----------
    line : Line
    goals : (cuts,) int64
        Ascending: twice the weight wanted at the left of each cut.
    slack : int
        A cut is good enough where twice the weight at its left is off its goal by this; 0 for the best.
    reduce : callable
        The sum over all processes.
    team : Team
        Threads of this process.
    warm : bool
        Begin the search of a point's part at its part of the trial before; the result does not depend on it.

    Returns
    -------
    Sections
        With ``reductions = 1 + iterations``, and those of the searches among tied points.
    """
    n, cuts = len(line.values), len(goals)
    part = np.zeros(n, VERTEX)
    ends = team.cuts(n)
    total = _initial(line, reduce)
    positive = bool(total.count[0] == 0)
    counters, compared = Counters(calls=1, reductions=1), []
    search = _search(goals, total, cuts)
    team.run(kernels.guess_parts, n, line.values, total.least[0], total.most[0], cuts + 1, part)
    mine = [_found(cuts + 1) for _ in ends[:-1]]
    row = {lo: i for i, lo in enumerate(ends[:-1])}
    undone = int((search.done == 0).sum())
    np.minimum(part, undone, out=part)  # points lie left of the cuts that are at the end from the start
    sums = _found(cuts)
    while undone:
        for found in mine:
            kernels.reset_parts(search, found)
        compared.append(sum(team.run(
            lambda lo, hi: kernels.get_part_weights(lo, hi, line.values, line.load, search, part, mine[row[lo]], warm),
            n)))
        found = _joined(mine)
        reduce(found)
        undone = kernels.get_new_cuts(search, found, sums, positive, slack)
        counters = counters.plus(iterations=1, reductions=1)
    section = np.searchsorted(search.cuts, line.values, side="left").astype(VERTEX)
    counters = counters.plus(comparisons=sum(compared))
    return _split_ties(line, search, section, Trace(compared, counters), reduce, team)


def _initial(line: Line, reduce: Reduction) -> Found:
    """GETINITIAL: weight and number of points, their extent, and how many weigh nothing."""
    found = _found(2)
    n = len(line.values)
    found.weight[:] = line.load.sum() if len(line.load) else n, n
    found.count[0] = (line.load == 0).sum()
    found.least[0] = line.values.min(initial=np.inf)
    found.most[0] = line.values.max(initial=-np.inf)
    reduce(found)
    return found


def _found(parts: int) -> Found:
    return Found(np.zeros(parts, np.int64), np.zeros(parts, np.int64), np.full(parts, np.inf), np.full(parts, -np.inf))


def _joined(mine: list[Found]) -> Found:
    """What the threads found, together."""
    return Found(np.sum([f.weight for f in mine], axis=0), np.sum([f.count for f in mine], axis=0),
                 np.min([f.least for f in mine], axis=0), np.max([f.most for f in mine], axis=0))


def _search(goals: Array, total: Found, cuts: int) -> Search:
    """Equally spaced cuts, nothing known; goals beyond all weight are met at the end, and without points anywhere."""
    least, most, weight = float(total.least[0]), float(total.most[0]), int(total.weight[0])
    share = np.arange(1, cuts + 1) / (cuts + 1)
    bits = np.zeros(1)
    empty = not least <= most
    trial = np.zeros(cuts) if empty else np.clip(least * (1 - share) + most * share, least, most)
    done = np.where((goals >= 2 * weight) | empty, 1, 2 * (least == most)).astype(np.uint8)
    trial[done == 1] = 0.0 if empty else most
    trial[done == 2] = np.nextafter(least, -np.inf)
    return Search(trial, trial.copy(), np.ascontiguousarray(goals, np.int64), done, np.full(cuts, least),
                  np.full(cuts, most), np.zeros(cuts, np.int64), np.full(cuts, weight), np.zeros(cuts, np.int64),
                  np.full(cuts, total.weight[1]), np.zeros(cuts, np.int64), np.zeros(cuts, np.int64), bits,
                  bits.view(np.int64))


def _split_ties(line: Line, search: Search, section: Array, trace: Trace, reduce: Reduction, team: Team) -> Sections:
    """Send points on a cut to its left until its goal is reached, in the order of their other coordinates."""
    counters = trace.counters
    tied = np.flatnonzero(search.done == 2)
    cuts = search.cuts.copy()
    cuts[tied] = search.high[tied]
    for here, mine in _by_value(search.high[tied], line.values):
        here = tied[here]
        first = int(here[0])
        below, upto = int(search.below[first]), int(search.upto[first])
        count = int(search.points[first] - search.left[first])
        if count == 1 or line.ties is None:
            # one point, left of a cut whose goal is at least the middle of its weight
            section[mine] = first + int(np.searchsorted(search.goals[here], below + upto))
            continue
        load = line.load[mine] if len(line.load) else line.load
        deeper = line.ties(mine)
        found = one_d_part(deeper._replace(load=load), search.goals[here] - 2 * below, 0, reduce, team)
        section[mine] = first + found.section
        more = found.trace.counters
        counters = counters.plus(tied=more.calls + more.tied, iterations=more.iterations, reductions=more.reductions,
                                 comparisons=more.comparisons)
    return Sections(section, cuts, Trace(trace.comparisons, counters))


def _by_value(high: Array, values: Array) -> Iterator[tuple[Array, Array]]:
    """By tied value, ascending: the cuts and the points there, each in their order."""
    cuts = np.argsort(high, kind="stable")
    at, first = np.unique(high[cuts], return_index=True)
    if not len(at):
        return
    which = np.searchsorted(at, values)
    there = np.flatnonzero(at[np.minimum(which, len(at) - 1)] == values)
    there = there[np.argsort(which[there], kind="stable")]
    begin = np.searchsorted(which[there], np.arange(len(at) + 1))
    last = np.append(first[1:], len(high))
    for i in range(len(at)):
        yield cuts[first[i]:last[i]], there[begin[i]:begin[i + 1]]


class Searching:
    """Cuts the boxes of a level by trial and correction, one box after another, all processes together.

    Parameters
    ----------
    slack : int
        As for :func:`one_d_part`.
    ids : (n,) int64
        Numbers of the points among those of all processes, which order points in one place.
    reduce : callable
        The sum over all processes.

    Attributes
    ----------
    counters : Counters
        What was done so far.
    """

    def __init__(self, slack: int, ids: Array, reduce: Reduction = alone):
        self.slack, self.ids, self.reduce = slack, ids, reduce
        self.counters = Counters()

    def __call__(self, cloud: Cloud, nodes: Nodes, goals: Array, team: Team) -> Cut:
        count = len(nodes.axis)
        made = Cut.empty(len(goals) + count)
        for node in range(count):
            first, last = int(nodes.first[node]), int(nodes.first[node + 1])
            share = Share(int(nodes.start[node]), int(nodes.start[node + 1]), team)
            gather(node, cloud, nodes, share)
            if last > first:
                line = line_of(cloud, self.ids, slice(share.start, share.end), int(nodes.axis[node]))
                found = one_d_part(line, goals[first:last], self.slack, self.reduce, team)
                cloud.section[share.start:share.end] = found.section
                done = found.trace.counters
                self.counters = self.counters.plus(**done._asdict())
            else:
                cloud.section[share.start:share.end] = 0
            put_together(first + node, last - first + 1, cloud, made, share)
        everywhere = Found(made.weight, made.size.copy(), np.full(len(made.size), np.inf), made.most)
        self.reduce(everywhere)
        self.counters = self.counters.plus(reductions=1)
        return made._replace(total=everywhere.count)


def line_of(cloud: Cloud, ids: Array, where: slice | Array, axis: int) -> Line:
    """Some points of one box, and what orders those that tie.

    Parameters
    ----------
    cloud : Cloud
        With coordinates and weights side by side.
    ids : (n,) int64
        Numbers of the points among those of all processes.
    where : slice or (m,) int
        Positions.
    axis : int
        Whose coordinates are in ``cloud.values``; negative where it is none.
    """
    dim = cloud.coords.shape[1]
    # after a coordinate come the others in turn, after a projection all of them, at last the numbers
    order = [(max(axis, -1) + turn) % dim for turn in range(1, dim if axis >= 0 else dim + 1)]

    def tied(depth: int, mine: Array) -> Callable[[Array], Line]:
        def line(positions: Array) -> Line:
            own = mine[positions]
            if depth == len(order):
                return Line(ids[own].astype(np.float64), cloud.load, None)
            return Line(cloud.coords[own, order[depth]], cloud.load, tied(depth + 1, own))
        return line

    load = cloud.load[where] if len(cloud.load) else cloud.load
    return Line(cloud.values[where], load, tied(0, cloud.perm[where]))


__all__ = ["Line", "Reduction", "Searching", "Sections", "Trace", "alone", "line_of", "one_d_part"]
