"""Kernels of the greedy orders of a grid: nodes filled one by one, seeds far apart, duplicates mended.

The graph is a table: ``targets[v, i]`` is the neighbour of v at the i-th offset of the stencil, -1 outside the
grid, and ``weights[i]`` what goes there.
"""

from typing import Any, NamedTuple

import numpy as np

from . import inner, kernel
from .heap import push, remove, sift_up

#: States of a vertex: free, seen first with the vertex that is being placed, queued, on this node, on another one.
FREE, NEW, QUEUED, HERE, TAKEN = 0, 1, 2, 3, 4


class Queue(NamedTuple):
    """The queue of a node that is filled, for a grid of n vertices; clean means all vertices FREE or TAKEN, prio 0.

    state : (n,) uint8, as above
    prio : (n,) int64, priority of each vertex
    tie : (n,) int64, what decides between equal ones: -v, for the smaller vertex
    heap : (n,) int32, the queued vertices
    place : (n,) int32, where each of them is in `heap`
    touched : (n,) int32, vertices whose entries are to be put back
    """

    state: Any
    prio: Any
    tie: Any
    heap: Any
    place: Any
    touched: Any


@kernel
def fill_node(targets, weights, start, once, lowest, queue, out):
    """Fill one node from `start`: writes its vertices to `out`, returns the first that may be free.

    Always the queued vertex of the highest priority, ties to the smaller one; where none is queued, the smallest that
    is free.  An edge adds to the priority of a vertex when it brings the vertex into the queue; then the vertex looks
    at its other edges, and each that ends on the node or in the queue adds to both ends.  So an edge between two that
    enter together adds twice to either.  With `once` every edge adds once, and once more when its other end is on
    the node.

    targets : (n, noffsets) int32, in
    weights : (noffsets,) int64, in
    start : int
    once : bool
    lowest : int                    where to look for the smallest free vertex
    queue : Queue, in and out       clean before; afterwards the vertices placed are HERE
    out : (capacity,) int32, out
    """
    state, prio, tie, heap, place, touched = queue
    k = targets.shape[1]
    held = 0
    ntouched = 0
    for done in range(len(out)):
        b = start
        if done > 0 and held > 0:
            b = heap[0]
            held = remove(heap, place, prio, tie, held, b)
        elif done > 0:
            while state[lowest] != FREE:
                lowest += 1
            b = lowest
        if state[b] == FREE:
            touched[ntouched] = b
            ntouched += 1
        # out of the queue, and not yet on the node, while its neighbours are looked at
        state[b] = TAKEN
        first = ntouched
        for i in range(k):
            u = targets[b, i]
            if u >= 0 and state[u] == FREE:
                state[u] = NEW
                touched[ntouched] = u
                ntouched += 1
                prio[u] = 2 * weights[i] if once else weights[i]
            elif u >= 0 and once and state[u] == QUEUED:
                prio[u] += weights[i]
                sift_up(heap, place, prio, tie, place[u])
        for t in range(first, ntouched):
            u = touched[t]
            for i in range(k):
                w = targets[u, i]
                if w < 0 or state[w] == FREE or state[w] == TAKEN:
                    continue
                if once and state[w] == HERE:
                    prio[u] += 2 * weights[i]
                    continue
                prio[u] += weights[i]
                if once and state[w] == NEW:
                    continue
                prio[w] += weights[i]
                if state[w] == QUEUED:
                    sift_up(heap, place, prio, tie, place[w])
        for t in range(first, ntouched):
            u = touched[t]
            state[u] = QUEUED
            held = push(heap, place, prio, tie, held, u)
        state[b] = HERE
        out[done] = b
    for t in range(ntouched):
        u = touched[t]
        prio[u] = 0
        if state[u] == QUEUED:
            state[u] = FREE
    return lowest


@kernel
def fill_nodes(targets, weights, first, once, queue, order):
    """Fill all nodes in turn, each from the smallest vertex that is left; returns the number of vertices.

    targets : (n, noffsets) int32, in
    weights : (noffsets,) int64, in
    first : (nnodes + 1,) int64, in     node i gets order[first[i]:first[i + 1]]
    once : bool                         as in `fill_node`
    queue : Queue, scratch              clean before
    order : (n,) int32, out
    """
    lowest = 0
    for node in range(len(first) - 1):
        while queue.state[lowest] != FREE:
            lowest += 1
        out = order[first[node]:first[node + 1]]
        lowest = fill_node(targets, weights, lowest, once, lowest, queue, out)
        for i in range(len(out)):
            queue.state[out[i]] = TAKEN
    return len(order)


@kernel
def find_seeds(targets, seen, queue, seeds):
    """Vertices far from one another: each the last that a search from all before it reaches, the first is 0.

    Where a search does not reach all, the smallest that it leaves is the next.  Returns how many there are.

    targets : (n, noffsets) int32, in
    seen : (n,) uint8, scratch
    queue : (n,) int32, scratch
    seeds : (nseeds,) int32, out
    """
    n, k = targets.shape
    seeds[0] = 0
    for count in range(1, len(seeds)):
        seen[:] = 0
        for i in range(count):
            queue[i] = seeds[i]
            seen[seeds[i]] = 1
        head = 0
        tail = count
        while head < tail:
            v = queue[head]
            head += 1
            for i in range(k):
                u = targets[v, i]
                if u >= 0 and seen[u] == 0:
                    seen[u] = 1
                    queue[tail] = u
                    tail += 1
        seeds[count] = queue[tail - 1]
        if tail < n:
            v = 0
            while seen[v] != 0:
                v += 1
            seeds[count] = v
    return len(seeds)


class Mending(NamedTuple):
    """What is known of an order while it is mended, for n vertices on nnodes nodes; all scratch.

    top : (n,) int32, a place of each vertex, the first of all, -1 for none
    below : (n,) int32, the next place of the same vertex, -1 for none
    copies : (n,) int32, places of each vertex
    here : (n,) int32, the node for which each vertex was marked last, -1 for none
    leaves : (n,) int64, weight that leaves the node of each place from it, where its vertex repeats
    best : (nnodes,) int32, place of each node to be given away first, -1 for none
    near : (nnodes,) int64, zero between vertices
    """

    top: Any
    below: Any
    copies: Any
    here: Any
    leaves: Any
    best: Any
    near: Any


@inner
def best_place(targets, weights, first, node, order, m):
    """The place of a node whose vertex repeats and sends most to other nodes: of equal ones the smallest vertex.

    targets : (n, noffsets) int32, in
    weights : (noffsets,) int64, in
    first : (nnodes + 1,) int64, in     places of node i are first[i] to first[i + 1]
    node : int
    order : (n,) int32, in
    m : Mending, in and out
    """
    for p in range(first[node], first[node + 1]):
        m.here[order[p]] = node
    best = np.int64(-1)
    for p in range(first[node], first[node + 1]):
        d = order[p]
        if m.copies[d] < 2:
            continue
        total = 0
        for i in range(targets.shape[1]):
            w = targets[d, i]
            if w >= 0 and m.here[w] != node:
                total += weights[i]
        m.leaves[p] = total
        if best < 0 or total > m.leaves[best] or (total == m.leaves[best] and d < order[best]):
            best = np.int64(p)
    return best


@inner
def best_of_all(targets, weights, u, node_at, order, m):
    """The place that u takes: where least leaves the node afterwards, compared with before; clears `near`.

    targets : (n, noffsets) int32, in
    weights : (noffsets,) int64, in
    u : int
    node_at : (n,) int32, in
    order : (n,) int32, in
    m : Mending, in and out
    """
    for i in range(targets.shape[1]):
        w = targets[u, i]
        if w < 0:
            continue
        last = -1
        p = m.top[w]
        while p >= 0:
            # places of a vertex ascend: those on the same node follow one another
            if node_at[p] != last:
                last = node_at[p]
                m.near[last] += weights[i]
            p = m.below[p]
    best = np.int64(-1)
    most = 0
    for node in range(len(m.best)):
        p = np.int64(m.best[node])
        if p >= 0:
            gain = m.leaves[p] + m.near[node]
            if best < 0 or gain > most or (gain == most and (order[p], p) < (order[best], best)):
                best, most = p, gain
        m.near[node] = 0
    return best


@inner
def replace(order, p, u, m):
    """Put the vertex u, which has no place, where another one is that has several.

    order : (n,) int32, in and out
    p, u : int
    m : Mending, in and out
    """
    d = order[p]
    if m.top[d] == p:
        m.top[d] = m.below[p]
    else:
        q = m.top[d]
        while m.below[q] != p:
            q = m.below[q]
        m.below[q] = m.below[p]
    m.copies[d] -= 1
    m.here[d] = -1
    order[p] = u
    m.top[u] = p
    m.below[p] = -1
    m.copies[u] = 1


@kernel
def mend(targets, weights, first, node_at, order, m):
    """Make `order`, in which vertices repeat, a permutation; returns how many places changed.

    Every missing vertex, ascending, takes the place of a copy of a repeated one: where the edges that leave the
    node become fewest; of equal places that of the smallest vertex, then the first.  Of each node only the best place
    is looked at: how much of the missing vertex stays there is the same for all its places.

    targets : (n, noffsets) int32, in
    weights : (noffsets,) int64, in
    first : (nnodes + 1,) int64, in     places of node i are first[i] to first[i + 1]
    node_at : (n,) int32, in            node of each place
    order : (n,) int32, in and out      vertex of each place
    m : Mending, scratch
    """
    n = len(order)
    m.top[:] = -1
    m.here[:] = -1
    m.copies[:] = 0
    m.near[:] = 0
    for p in range(n - 1, -1, -1):
        m.below[p] = m.top[order[p]]
        m.top[order[p]] = p
        m.copies[order[p]] += 1
    for node in range(len(m.best)):
        m.best[node] = best_place(targets, weights, first, node, order, m)
    changed = 0
    for u in range(n):
        if m.top[u] >= 0:
            continue
        p = best_of_all(targets, weights, u, node_at, order, m)
        d = order[p]
        replace(order, p, u, m)
        changed += 1
        m.best[node_at[p]] = best_place(targets, weights, first, node_at[p], order, m)
        if m.copies[d] == 1:
            other = node_at[m.top[d]]
            m.best[other] = best_place(targets, weights, first, other, order, m)
    return changed
