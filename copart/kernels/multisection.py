"""Algorithms 3 and 4 of Multi-Jagged: all cuts along a coordinate searched at once, by trial and correction.

Weights are whole numbers and every trial is judged by sums of them alone, so the cuts do not depend on how points are
spread over threads or processes.  A *goal* is twice the weight wanted at the left of a cut.
(M. Deveci, Load-Balancing and Task Mapping for Exascale Systems, 2015, Chapter 3.)
"""

from typing import Any, NamedTuple

import numpy as np

from . import inlined, inner, kernel

#: Trials of a cut by interpolation or halving; later ones halve the numbers that lie between instead, at most 64 times.
PATIENCE = 40


class Found(NamedTuple):
    """The points in each part, as far as the present cuts tell; summed over threads or processes.

    weight, count (parts,) int64, least, most (parts,) float64 coordinates, inf and -inf where there are no points.
    """

    weight: Any
    count: Any
    least: Any
    most: Any


class Search(NamedTuple):
    """What is known of each cut.

    cuts (cuts,) float64 trials, ascending, a point on one is left of it; trial (cuts,) float64 copy of these; goals
    (cuts,) int64; done (cuts,) uint8 0, 1 where no point has to be looked at any more, 2 where those at `high` have;
    low, high (cuts,) float64 the least and the largest coordinate of a point that may be on either side; below, upto
    (cuts,) int64 weight left of `low`, and up to `high`; left, points (cuts,) int64 number of points, likewise; slow,
    trials (cuts,) int64 trials in a row that told little, and all; bits (1,) float64 and, of the same memory, rank (1,)
    int64.
    """

    cuts: Any
    trial: Any
    goals: Any
    done: Any
    low: Any
    high: Any
    below: Any
    upto: Any
    left: Any
    points: Any
    slow: Any
    trials: Any
    bits: Any
    rank: Any


@kernel
def guess_parts(lo, hi, values, least, most, parts, part):
    """The part of every point where points are spread evenly.

    lo, hi : int
    values : (n,) float64, in
    least, most : float
    parts : int
    part : (n,) int32, out
    """
    half = 0.5 * most - 0.5 * least
    for j in range(lo, hi):
        f = (0.5 * values[j] - 0.5 * least) / half if half > 0.0 else 0.0
        part[j] = min(int(f * parts), parts - 1)


@inlined
def settled(search, k):
    """Whether cut k is done, and where it was when points were last counted: a cut that gets done is put aside.

    search : Search, in
    k : int
    """
    return search.done[k] != 0 and search.cuts[k] == search.trial[k]


@kernel
def reset_parts(search, found):
    """Forget what is known of the parts at cuts that are not settled; the others keep it.

    search : Search, in
    found : Found, in and out
    """
    cuts = len(search.done)
    for k in range(cuts + 1):
        if (k < cuts and not settled(search, k)) or (k > 0 and not settled(search, k - 1)):
            found.weight[k] = 0
            found.count[k] = 0
            found.least[k] = np.inf
            found.most[k] = -np.inf


@kernel
def get_part_weights(lo, hi, values, load, search, part, found, warm):
    """GETPARTWEIGHTS (Algorithm 3) for points lo..hi; returns the number of comparisons.

    lo, hi : int
    values : (n,) float64, in
    load : (n,) int64, in           or empty where every point weighs 1
    search : Search, in             `cuts`, `trial` and `done`
    part : (n,) int32, in and out   cuts[part - 1] < x <= cuts[part]
    found : Found, in and out       of the parts at undone cuts
    warm : bool                     begin the search of a point at its part of the trial before
    """
    cuts = search.cuts
    last = len(cuts)
    compared = np.int64(0)
    for j in range(lo, hi):
        k = part[j]
        if (k == last or settled(search, k)) and (k == 0 or settled(search, k - 1)):
            continue
        x = values[j]
        # the part is in first..end
        first, end = np.int64(0), np.int64(last)
        if warm:
            if k < last:
                compared += 1
                if x > cuts[k]:
                    first = k + 1
                else:
                    end = k
            if k > 0 and first <= k:
                compared += 1
                if x > cuts[k - 1]:
                    first = k
                else:
                    end = k - 1
        while first < end:
            middle = (first + end) // 2
            compared += 1
            if x > cuts[middle]:
                first = middle + 1
            else:
                end = middle
        part[j] = first
        found.weight[first] += load[j] if len(load) > 0 else 1
        found.count[first] += 1
        found.least[first] = min(found.least[first], x)
        found.most[first] = max(found.most[first], x)
    return compared


@inner
def _ordinal(x, bits, view):
    """The rank of a number among all floating-point numbers.

    x : float
    bits : (1,) float64, scratch
    view : (1,) int64, scratch      the same memory
    """
    bits[0] = x + 0.0
    i = view[0]
    return i if i >= 0 else -(i & 0x7FFFFFFFFFFFFFFF)


@kernel
def _number(i, bits, view):
    """The floating-point number of a rank.

    i : int
    bits : (1,) float64, scratch
    view : (1,) int64, scratch      the same memory
    """
    if i >= 0:
        view[0] = i
        return bits[0]
    view[0] = -i
    return -bits[0]


@inner
def _trial(search, k):
    """The next trial of a cut: low <= trial < high.

    search : Search, in and out
    k : int
    """
    low, high = search.low[k], search.high[k]
    search.trials[k] += 1
    rank_low, rank_high = _ordinal(low, search.bits, search.rank), _ordinal(high, search.bits, search.rank)
    if search.trials[k] > PATIENCE:
        # their mean, rounded down; their sum might overflow
        rank = (rank_low >> 1) + (rank_high >> 1) + (rank_low & rank_high & 1)
        return _number(rank, search.bits, search.rank)
    share = 0.5
    if search.slow[k] < 2:
        share = (0.5 * search.goals[k] - search.below[k]) / max(search.upto[k] - search.below[k], 1)
        share = min(max(share, 0.0), 1.0)
    new = low * (1.0 - share) + high * share
    return min(max(new, low), _number(rank_high - 1, search.bits, search.rank))


@kernel
def add_up(found, sums):
    """What the present cuts have at both sides.

    found : Found, in               of all threads and processes
    sums : Found, out               up to each cut: weight, count, the largest coordinate; behind it: the least
    """
    cuts = len(found.weight) - 1
    weight = np.int64(0)
    count = np.int64(0)
    most = -np.inf
    for k in range(cuts):
        weight += found.weight[k]
        count += found.count[k]
        most = max(most, found.most[k])
        sums.weight[k], sums.count[k], sums.most[k] = weight, count, most
    least = np.inf
    for k in range(cuts - 1, -1, -1):
        least = min(least, found.least[k + 1])
        sums.least[k] = least


@inner
def narrow(search, sums, k, positive, slack):
    """What the trials tell about a cut, those of its neighbours included; returns whether it is done.

    search : Search, in and out
    sums : Found, in                from :func:`add_up`
    k : int
    positive : bool                 no point has weight 0
    slack : int                     a cut is good enough if twice the weight at its left is off its goal by this
    """
    cuts, goal = len(search.cuts), search.goals[k]
    if slack > 0 and abs(2 * sums.weight[k] - goal) <= slack:
        search.done[k] = 1
        return True
    # the last trial with no more weight than wanted at its left, and the first with more: scan towards the goal
    under, over = k, k
    if 2 * sums.weight[k] <= goal:
        over = k + 1
        while over < cuts and 2 * sums.weight[over] <= goal:
            over += 1
        under = over - 1
    else:
        under = k - 1
        while under >= 0 and 2 * sums.weight[under] > goal:
            under -= 1
        over = under + 1
    if under >= 0 and positive and 2 * sums.weight[under] == goal:
        search.done[k] = 1
        search.cuts[k] = search.trial[under]
        return True
    # the nearest points jump over empty intervals
    width = 0.5 * search.high[k] - 0.5 * search.low[k]
    if under >= 0 and sums.least[under] >= search.low[k]:
        search.low[k], search.below[k], search.left[k] = sums.least[under], sums.weight[under], sums.count[under]
    if over < cuts and sums.most[over] <= search.high[k]:
        search.high[k], search.upto[k], search.points[k] = sums.most[over], sums.weight[over], sums.count[over]
    if search.low[k] == search.high[k]:
        # all points in question lie on one value
        search.done[k] = 2
        rank = _ordinal(search.high[k], search.bits, search.rank)
        search.cuts[k] = _number(rank - 1, search.bits, search.rank)
        return True
    told = 0.5 * search.high[k] - 0.5 * search.low[k] <= 0.75 * width
    search.slow[k] = 0 if told else search.slow[k] + 1
    return False


@kernel
def get_new_cuts(search, found, sums, positive, slack):
    """GETNEWCUTS (Algorithm 4): judge all trials, then place the next ones; returns how many cuts are undone.

    search : Search, in and out
    found : Found, in               of all threads and processes
    sums : Found, scratch
    positive : bool                 no point has weight 0
    slack : int                     as for :func:`narrow`
    """
    add_up(found, sums)
    cuts = len(search.cuts)
    undone = 0
    # a cut that is done may end at the trial of another one
    for k in range(cuts):
        search.trial[k] = search.cuts[k]
    for k in range(cuts):
        if search.done[k] == 0 and not narrow(search, sums, k, positive, slack):
            undone += 1
    before = -np.inf
    for k in range(cuts):
        if search.done[k] == 0:
            # brackets are in order, trials within them need not be
            search.cuts[k] = max(_trial(search, k), before)
        before = max(before, search.cuts[k])
    return undone
