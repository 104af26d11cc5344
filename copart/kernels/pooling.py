"""Cutting all boxes of a level at once, in passes over points that threads and processes share.

What is counted in buckets is added up over all of them; then each deals out its points of whole buckets, and the few in
buckets that cuts run through are pooled.  Goals, tasks and buckets are those of :mod:`copart.kernels.sectioning`.
"""

from typing import Any, NamedTuple

import numpy as np

from . import kernel
from .clouds import gather, measure, update_permutation
from .sectioning import COLUMNS, deal, open_buckets, settle, tally


class Grid(NamedTuple):
    """The buckets of all boxes.

    at (nodes + 1,) int64 where those of each box begin, least, scale (nodes,) float64 bucket of x: (x - least) * scale.
    """

    at: Any
    least: Any
    scale: Any


@kernel
def gather_boxes(lo, hi, cloud, nodes, ends):
    """Coordinates and weights of positions lo..hi, side by side.

    lo, hi : int
    cloud : Cloud, in and out       writes `values`, `load` and `order`
    nodes : Nodes, in
    ends : (nodes, 2) float64, out  least coordinate of these points in each box, and the largest with its sign changed
    """
    for node in range(len(nodes.axis)):
        start, end = max(lo, nodes.start[node]), min(hi, nodes.start[node + 1])
        least, most = gather(start, end, cloud, nodes.axis[node], nodes.direction[node], nodes.plain[node])
        ends[node, 0], ends[node, 1] = least, -most


@kernel
def tally_boxes(lo, hi, cloud, nodes, grid, count, weight):
    """Add the points at positions lo..hi to the buckets of their boxes.

    lo, hi : int
    cloud : Cloud, in
    nodes : Nodes, in
    grid : Grid, in
    count, weight : (buckets,) int64, in and out    `weight` is used where there are weights
    """
    for node in range(len(nodes.axis)):
        start, end = max(lo, nodes.start[node]), min(hi, nodes.start[node + 1])
        rows = slice(grid.at[node], grid.at[node + 1])
        tally(start, end, cloud.values, cloud.load, cloud.order, grid.least[node], grid.scale[node], count[rows],
              weight[rows])


@kernel
def open_boxes(nodes, goals, grid, count, weight, table, tasks, tops):
    """Sections of whole buckets, and a task for each bucket that cuts run through; returns the points in these.

    nodes : Nodes, in
    goals : (goals,) int64, in          of all boxes
    grid : Grid, in
    count : (buckets,) int64, in and out    of all points; then where those of a bucket with a task begin in the pool
    weight : (buckets,) int64, in
    table : (buckets,) int32, out       section, -1 for a bucket with a task
    tasks : (goals + nodes, COLUMNS) int64, out     those of a box begin at its goals and the number of boxes before
    tops : (nodes,) int64, out          how many each box has
    """
    pooled = np.int64(0)
    for node in range(len(nodes.axis)):
        first, last = nodes.first[node], nodes.first[node + 1]
        mine = tasks[first + node:last + node + 1]
        # the last row is not needed for a task: a box has no more of them than cuts
        whole = mine[last - first]
        for column in range(COLUMNS):
            whole[column] = 0
        whole[0], whole[3] = pooled, last - first
        rows = slice(grid.at[node], grid.at[node + 1])
        tops[node], opened = open_buckets(whole, goals[first:last], False, count[rows], weight[rows], table[rows],
                                          mine, 0)
        pooled += opened
    return pooled


@kernel
def deal_boxes(lo, hi, cloud, nodes, grid, table, cursor):
    """Give the points of whole buckets their section, and put those of the others together.

    lo, hi : int
    cloud : Cloud, in and out           writes `section` and `other`
    nodes : Nodes, in
    grid : Grid, in
    table : (buckets,) int32, in        from :func:`open_boxes`
    cursor : (buckets,) int64, in and out   where the next point of a bucket with a task goes
    """
    for node in range(len(nodes.axis)):
        start, end = max(lo, nodes.start[node]), min(hi, nodes.start[node + 1])
        rows = slice(grid.at[node], grid.at[node + 1])
        deal(start, end, cloud.values, cloud.order, grid.least[node], grid.scale[node], table[rows], cursor[rows],
             cloud.other, cloud.section)


@kernel
def settle_boxes(pool, desk, nodes, goals, tasks, tops):
    """Sections of the pooled points.

    pool : Cloud, in and out            points in the order of the tasks
    desk : Desk, scratch
    nodes : Nodes, in
    goals : (goals,) int64, in          of all boxes
    tasks : (rows, COLUMNS) int64, in   from :func:`open_boxes`
    tops : (boxes,) int64, in           from :func:`open_boxes`
    """
    for node in range(len(nodes.axis)):
        first = nodes.first[node]
        for k in range(nodes.first[node + 1] - first):
            desk.goals[k] = goals[first + k]
        for row in range(tops[node]):
            for column in range(COLUMNS):
                desk.tasks[row, column] = tasks[first + node + row, column]
        settle(pool, desk, nodes.axis[node], tops[node])


@kernel
def measure_boxes(lo, hi, cloud, nodes, count, weight, most):
    """Points, weight and largest coordinate of every section of every box among positions lo..hi.

    lo, hi : int
    cloud : Cloud, in
    nodes : Nodes, in
    count, weight : (sections,) int64, out
    most : (sections,) float64, out     -inf where there are no points
    """
    for node in range(len(nodes.axis)):
        start, end = max(lo, nodes.start[node]), min(hi, nodes.start[node + 1])
        rows = slice(nodes.first[node] + node, nodes.first[node + 1] + node + 1)
        measure(start, end, cloud, count[rows], weight[rows], most[rows])


@kernel
def reorder_boxes(lo, hi, cloud, nodes, cursor):
    """Put the points of every section together, in the order that they had; into `other`.

    lo, hi : int
    cloud : Cloud, in and out
    nodes : Nodes, in
    cursor : (sections,) int64, in and out      where the next point of a section goes
    """
    for node in range(len(nodes.axis)):
        start, end = max(lo, nodes.start[node]), min(hi, nodes.start[node + 1])
        update_permutation(start, end, cloud, cursor[nodes.first[node] + node:nodes.first[node + 1] + node + 1])
