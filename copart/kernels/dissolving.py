"""Small messages given up as a whole: all cells of one part that cause a message move, or none does.

Annealing moves one cell at a time, and the last cells of a message gain nothing until all of them have moved.
"""

import numpy as np

from . import inlined, inner, kernel
from .coupled import change_of_cut, change_of_excess, change_of_messages, change_of_volume, move


@inlined
def cost_of(total, weights):
    """Cut, volume and messages at their prices.

    total : (3,) int64, in
    weights : (3,) float64, in
    """
    return weights[0] * total[0] + weights[1] * total[1] + weights[2] * total[2]


@inner
def list_causes(g, s, start, order, p, q, cells):
    """Write the cells of part p with an interedge to part q; returns how many, or -1 where there is no room for them.

    g : Cells, in
    s : Shares, in
    start : (K + 1,) int64, in      where the cells of each part start in `order`
    order : (n,) int32, in          the cells by part, as they were before the first move
    p, q : int
    cells : (m,) int32, out
    """
    count = 0
    for j in range(start[p], start[p + 1]):
        v = order[j]
        if s.part[v] != p:
            continue
        for i in range(g.iptr[v], g.iptr[v] + s.used[v]):
            if s.where[i] == q:
                if count == len(cells):
                    return -1
                cells[count] = v
                count += 1
                break
    return count


@inner
def mark_neighbours(g, s, cells, count, near):
    """Mark the parts that some cells have neighbours in.

    g : Cells, in
    s : Shares, in
    cells : (m,) int32, in
    count : int                     so many of `cells`, from the first on
    near : (K,) uint8, out          1 for such a part, else 0
    """
    near[:] = 0
    for j in range(count):
        v = cells[j]
        for e in range(g.xadj[v], g.xadj[v + 1]):
            near[s.part[g.adjncy[e]]] = 1
        for e in range(g.bptr[v], g.bptr[v + 1]):
            near[g.bidx[e]] = 1


@inner
def cheapest_way_out(g, s, start, order, a, weights, best):
    """Which cell of part a costs least in a neighbour's part with room, for each unit of excess that leaves.

    Cells that came to part a after the first move are not asked.

    g : Cells, in
    s : Shares, in
    start : (K + 1,) int64, in      where the cells of each part start in `order`
    order : (n,) int32, in          the cells by part, as they were before the first move
    a : int
    weights : (3,) float64, in      prices of cut, volume and messages
    best : (2,) int64, out          the cell, or -1, and the part
    """
    xadj, adjncy, ewgt, bptr, bidx, bval = g.xadj, g.adjncy, g.ewgt, g.bptr, g.bidx, g.bval
    iptr, iadj, imul, take, weight = g.iptr, g.iadj, g.imul, g.take, g.weight
    part, load, limit = s.part, s.load, s.limit
    where, many, used, pairs = s.where, s.many, s.used, s.pairs
    best[0] = -1
    least = 0.0
    for j in range(start[a], start[a + 1]):
        v = order[j]
        if part[v] != a or weight[v] == 0:
            continue
        inner = xadj[v + 1] - xadj[v]
        for e in range(inner + bptr[v + 1] - bptr[v]):
            b = np.int64(part[adjncy[xadj[v] + e]] if e < inner else bidx[bptr[v] + e - inner])
            if b == a or load[b] + weight[v] > limit[b]:
                continue
            change = weights[0] * change_of_cut(xadj, adjncy, ewgt, bptr, bidx, bval, part, v, a, b)
            change += weights[1] * change_of_volume(iptr, iadj, imul, take, where, many, used, v, a, b)
            change += weights[2] * change_of_messages(iptr, where, many, used, pairs, v, a, b, 0.0)
            change /= min(weight[v], load[a] - limit[a])
            if best[0] < 0 or change < least:
                best[0] = v
                best[1] = b
                least = change


@kernel
def shift(g, s, v, b):
    """Move cell v to part b; returns the increase of the price of excess.

    g : Cells, in
    s : Shares, in and out
    v, b : int
    """
    a = np.int64(s.part[v])
    over = change_of_excess(s.load, s.limit, g.weight[v], a, b)
    s.total[0] += change_of_cut(g.xadj, g.adjncy, g.ewgt, g.bptr, g.bidx, g.bval, s.part, v, a, b)
    move(g, s, v, a, b)
    return over


@kernel
def dissolve(g, s, start, order, weights, press, cells, home, near, best):
    """Give up messages wherever that pays; returns how many moves were made for it.

    All cells of a part p with interedges to a part q go to a part next to them that has a message to q already; out
    of that part, where it is too heavy now, cells move on to others with room.  All of it is made and, unless cut,
    volume, messages and excess at their prices are less then, taken back.  What takes more than m moves is not tried.

    g : Cells, in
    s : Shares, in and out
    start : (K + 1,) int64, in          where the cells of each part start in `order`
    order : (n,) int32, in              the cells by part
    weights : (3,) float64, in          prices of cut, volume and messages
    press : float                       price of a unit of excess
    cells, home : (m,) int32, scratch   cells moved, and the parts they came from
    near : (K,) uint8, scratch
    best : (2,) int64, scratch
    """
    made = 0
    k = len(s.load)
    for p in range(k):
        for q in range(k):
            if s.pairs[p, q] == 0:
                continue
            count = list_causes(g, s, start, order, p, q, cells)
            if count <= 0 or count >= s.population[p]:
                continue
            mark_neighbours(g, s, cells, count, near)
            for b in range(k):
                if near[b] == 0 or b == p or s.pairs[b, q] == 0:
                    continue
                before = cost_of(s.total, weights)
                over = 0.0
                moves = 0
                while moves < count:
                    home[moves] = p
                    over += shift(g, s, np.int64(cells[moves]), np.int64(b))
                    moves += 1
                while s.load[b] > s.limit[b] and moves < len(cells) and cost_of(s.total, weights) < before:
                    cheapest_way_out(g, s, start, order, np.int64(b), weights, best)
                    if best[0] < 0:
                        break
                    cells[moves] = best[0]
                    home[moves] = b
                    over += shift(g, s, best[0], best[1])
                    moves += 1
                if cost_of(s.total, weights) + press * over < before - 1e-9:
                    made += moves
                    break
                while moves > 0:
                    moves -= 1
                    shift(g, s, np.int64(cells[moves]), np.int64(home[moves]))
    return made


__all__ = ["cheapest_way_out", "dissolve", "list_causes", "mark_neighbours", "shift"]
