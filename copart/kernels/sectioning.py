"""Sections of points along one coordinate, exactly: histograms that are made finer around the cuts alone.

A *goal* is twice the weight wanted at the left of a cut.  In the order of the points (by coordinate, those on one value
by the next coordinates in turn, at last by number) a point with weight `a` before it and `b` up to its end is left of
the cut where ``a + b <= goal``: the cut is where the weight at its left is nearest to what is wanted.  A group of
points with weights `A` before and `B` after it is all on one side of a cut unless ``2 A <= goal < 2 B``; so each cut
has one group that has to be looked into, and the others are dealt out as a whole.
"""

from typing import Any, NamedTuple

import numpy as np

from . import inner, kernel
from .clouds import gather, measure, update_permutation, weight_at

#: Groups of so many points are sorted; those that histograms narrowed so often in vain, too.
SMALL, ROUNDS = 48, 4

#: Columns of a task: range of `order`, range of goals, weight before it, axes that its points tie on, histograms made.
COLUMNS = 7


class Desk(NamedTuple):
    """What one thread works on.

    tasks (goals + 1, COLUMNS) int64, task (COLUMNS,) int64 the one at hand, count, weight (buckets,) int64, table
    (buckets,) int32 section of each bucket or -1, goals (goals,) int64 of the points at hand.
    """

    tasks: Any
    task: Any
    count: Any
    weight: Any
    table: Any
    goals: Any


@kernel
def steps_between(least, most, buckets):
    """Buckets per unit of length; 0 where equal buckets cannot tell the values apart.

    least, most : float
    buckets : int
    """
    # by halves, or the distance of huge numbers would overflow
    half = 0.5 * most - 0.5 * least
    if not half > 0.0:
        return 0.0
    scale = 0.5 * buckets / half
    if not np.isfinite(scale) or half > 1e300:
        return 0.0
    return scale


@kernel
def tally(lo, hi, values, load, order, least, scale, count, weight):
    """Add points to buckets.

    lo, hi : int                    range of `order`
    values : (n,) float64, in
    load : (n,) int64, in           or empty where every point weighs 1
    order : (n,) int32, in
    least, scale : float            bucket of x: (x - least) * scale
    count : (buckets,) int64, in and out
    weight : (buckets,) int64, in and out   used where there are weights
    """
    last = len(count) - 1
    if len(load) == 0:
        for i in range(lo, hi):
            count[min(int((values[order[i]] - least) * scale), last)] += 1
        return
    for i in range(lo, hi):
        p = order[i]
        b = min(int((values[p] - least) * scale), last)
        count[b] += 1
        weight[b] += load[p]


@kernel
def deal(lo, hi, values, order, least, scale, table, cursor, other, section):
    """Give the points of whole buckets their section, and put those of the others into groups.

    lo, hi : int                    range of `order`
    values : (n,) float64, in
    order : (n,) int32, in
    least, scale : float            as for :func:`tally`
    table : (buckets,) int32, in    section, -1 for a bucket that a cut runs through
    cursor : (buckets,) int64, in and out   where the next point of such a bucket goes
    other : (n,) int32, out         groups of positions
    section : (n,) int32, out
    """
    last = len(table) - 1
    for i in range(lo, hi):
        p = order[i]
        b = min(int((values[p] - least) * scale), last)
        if table[b] >= 0:
            section[p] = table[b]
        else:
            other[cursor[b]] = p
            cursor[b] += 1


@inner
def _push(tasks, top, start, end, first, last, base, ties, rounds):
    """Put a task on the stack; returns its new height.

    tasks : (goals + 1, COLUMNS) int64, in and out
    top, start, end, first, last, base, ties, rounds : int
    """
    row = tasks[top]
    row[0], row[1], row[2], row[3], row[4], row[5], row[6] = start, end, first, last, base, ties, rounds
    return top + 1


@kernel
def open_buckets(task, goals, unit, count, weight, table, tasks, top):
    """Sections of whole buckets, and a task for each bucket that cuts run through.

    task : (COLUMNS,) int64, in             what is cut into buckets
    goals : (goals,) int64, in
    unit : bool                             weights are counts
    count : (buckets,) int64, in and out    then where the points of a bucket with a task go
    weight : (buckets,) int64, in
    table : (buckets,) int32, out
    tasks : (goals + 1, COLUMNS) int64, in and out
    top : int                               height of the stack
    Returns the height of the stack and how many points are in tasks.
    """
    start, k, last, before, ties, rounds = task[0], task[2], task[3], task[4], task[5], task[6]
    at = start
    for b in range(len(count)):
        n = count[b]
        after = before + (n if unit else weight[b])
        while k < last and goals[k] < 2 * before:
            k += 1
        through = k
        while through < last and goals[through] < 2 * after:
            through += 1
        table[b] = k
        if through > k and n > 0:
            table[b] = -1
            count[b] = at
            top = _push(tasks, top, at, at + n, k, through, before, ties, rounds + 1)
            at += n
        before = after
    return top, at - start


@inner
def _sort(order, other, lo, hi, values):
    """Sort positions by value, those of one value as they were: by insertion, then merging.

    order : (n,) int32, in and out
    other : (n,) int32, scratch
    lo, hi : int
    values : (n,) float64, in
    """
    run = 16
    for start in range(lo, hi, run):
        for i in range(start + 1, min(start + run, hi)):
            p = order[i]
            x = values[p]
            j = i - 1
            while j >= start and values[order[j]] > x:
                order[j + 1] = order[j]
                j -= 1
            order[j + 1] = p
    while run < hi - lo:
        for start in range(lo, hi, 2 * run):
            middle = min(start + run, hi)
            end = min(start + 2 * run, hi)
            i, j = start, middle
            for at in range(start, end):
                if j >= end or (i < middle and values[order[i]] <= values[order[j]]):
                    other[at] = order[i]
                    i += 1
                else:
                    other[at] = order[j]
                    j += 1
        for at in range(lo, hi):
            order[at] = other[at]
        run *= 2


@inner
def _next_axis(cloud, lo, hi, axis):
    """The coordinate that orders tied points, by position.

    cloud : Cloud, in and out       writes `tie`
    lo, hi : int                    range of `order`
    axis : int
    """
    for i in range(lo, hi):
        p = cloud.order[i]
        cloud.tie[p] = cloud.coords[cloud.perm[p], axis]


@inner
def _one_by_one(cloud, goals, start, end, k, last, before):
    """Sections of points that have the same place, in the order of their numbers.

    cloud : Cloud, in and out
    goals : (goals,) int64, in
    start, end, k, last, before : int   of the task
    """
    for i in range(start, end):
        p = cloud.order[i]
        after = before + weight_at(cloud.load, p)
        while k < last and goals[k] < before + after:
            k += 1
        cloud.section[p] = k
        before = after


@inner
def _sorted_sections(cloud, desk, values, top):
    """Sections of a few points by sorting them; values that cuts run through become tasks.

    cloud : Cloud, in and out
    desk : Desk, in and out
    values : (n,) float64, in
    top : int                       height of the stack
    Returns its new height.
    """
    goals, task = desk.goals, desk.task
    i, end, k, last, before, ties = task[0], task[1], task[2], task[3], task[4], task[5]
    _sort(cloud.order, cloud.other, i, end, values)
    while i < end:
        j = i
        after = before
        while j < end and values[cloud.order[j]] == values[cloud.order[i]]:
            after += weight_at(cloud.load, cloud.order[j])
            j += 1
        while k < last and goals[k] < 2 * before:
            k += 1
        through = k
        while through < last and goals[through] < 2 * after:
            through += 1
        if j - i == 1 or through == k:
            _one_by_one(cloud, goals, i, j, k, last, before)
        else:
            top = _push(desk.tasks, top, i, j, k, through, before, ties + 1, 0)
        i, before = j, after
    return top


@kernel
def settle(cloud, desk, axis, top):
    """Work through the tasks on the stack until every point has its section.

    cloud : Cloud, in and out
    desk : Desk, in and out
    axis : int                      whose coordinates are in `values`; negative where it is none
    top : int                       height of the stack
    """
    dim = cloud.coords.shape[1]
    # after a coordinate come the others in turn, after a projection all of them
    deepest = dim - 1 if axis >= 0 else dim
    unit = len(cloud.load) == 0
    while top > 0:
        top -= 1
        task = desk.task
        for column in range(COLUMNS):
            task[column] = desk.tasks[top, column]
        start, end, first, last, before, ties, rounds = (task[0], task[1], task[2], task[3], task[4], task[5],
                                                         task[6])
        if first == last or ties > deepest:
            _one_by_one(cloud, desk.goals, start, end, first, last, before)
            continue
        values = cloud.values
        if ties > 0:
            values = cloud.tie
            if rounds == 0:
                _next_axis(cloud, start, end, (max(axis, -1) + ties) % dim)
        least = np.inf
        most = -np.inf
        for i in range(start, end):
            x = values[cloud.order[i]]
            least = min(least, x)
            most = max(most, x)
        if least == most:
            top = _push(desk.tasks, top, start, end, first, last, before, ties + 1, 0)
            continue
        buckets = min(len(desk.count), max((end - start) // 16, 4 * (last - first)))
        scale = steps_between(least, most, buckets)
        if end - start <= SMALL or rounds >= ROUNDS or scale == 0.0:
            top = _sorted_sections(cloud, desk, values, top)
            continue
        count, weight, table = desk.count[:buckets], desk.weight[:buckets], desk.table[:buckets]
        for b in range(buckets):
            count[b] = 0
            weight[b] = 0
        tally(start, end, values, cloud.load, cloud.order, least, scale, count, weight)
        top, n = open_buckets(task, desk.goals, unit, count, weight, table, desk.tasks, top)
        deal(start, end, values, cloud.order, least, scale, table, count, cloud.other, cloud.section)
        for i in range(start, start + n):
            cloud.order[i] = cloud.other[i]


@kernel
def section_nodes(lo, hi, cloud, desk, nodes, goals, count, weight, most):
    """All of it for the nodes lo..hi, one after another; afterwards `perm` is in the order of the sections.

    lo, hi : int
    cloud : Cloud, in and out
    desk : Desk, scratch
    nodes : Nodes, in
    goals : (goals,) int64, in          of all nodes
    count, weight : (sections,) int64, out      of all nodes
    most : (sections,) float64, out
    """
    for node in range(lo, hi):
        start, end, first, last = nodes.start[node], nodes.start[node + 1], nodes.first[node], nodes.first[node + 1]
        cuts = last - first
        # node 0 has sections 0..cuts, one more than cuts
        at = first + node
        axis = nodes.axis[node]
        gather(start, end, cloud, axis, nodes.direction[node], nodes.plain[node])
        for k in range(cuts):
            desk.goals[k] = goals[first + k]
        top = _push(desk.tasks, 0, start, end, 0, cuts, 0, 0, 0)
        settle(cloud, desk, axis, top)
        rows = slice(at, at + cuts + 1)
        measure(start, end, cloud, count[rows], weight[rows], most[rows])
        cursor = desk.count
        next_at = start
        for s in range(cuts + 1):
            cursor[s] = next_at
            next_at += count[at + s]
        update_permutation(start, end, cloud, cursor)
        for j in range(start, end):
            cloud.perm[j] = cloud.other[j]
