"""Kernels of the greedy orders of a grid: nodes filled one by one, seeds far apart, duplicates mended.

The graph is a table: ``targets[v, i]`` is the neighbour of v at the i-th offset of the stencil, -1 outside the
grid, and ``weights[i]`` what goes there.
"""

from typing import Any, NamedTuple

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


@inner
def leaving(targets, weights, v, node, node_at, top, below):
    """Weight of the edges of v that end outside `node`.

    targets : (n, noffsets) int32, in
    weights : (noffsets,) int64, in
    v, node : int
    node_at : (n,) int32, in        node of each place
    top, below : (n,) int32, in     chains of the places of each vertex, as of `mend`
    """
    total = 0
    for i in range(targets.shape[1]):
        w = targets[v, i]
        if w >= 0:
            p = top[w]
            while p >= 0 and node_at[p] != node:
                p = below[p]
            if p < 0:
                total += weights[i]
    return total


@kernel
def mend(targets, weights, node_at, order, top, below):
    """Make `order`, in which vertices repeat, a permutation; returns how many places changed.

    Every missing vertex, ascending, takes the place of a copy of a repeated one: where the edges that leave the
    node become fewest, the first of equal places.

    targets : (n, noffsets) int32, in
    weights : (noffsets,) int64, in
    node_at : (n,) int32, in        node of each place
    order : (n,) int32, in and out  vertex of each place
    top : (n,) int32, scratch       a place of each vertex, -1 for none
    below : (n,) int32, scratch     the next place of the same vertex, -1 for none
    """
    n = len(order)
    top[:] = -1
    for p in range(n - 1, -1, -1):
        below[p] = top[order[p]]
        top[order[p]] = p
    changed = 0
    for u in range(n):
        if top[u] >= 0:
            continue
        best = -1
        best_gain = 0
        for d in range(n):
            if top[d] < 0 or below[top[d]] < 0:
                continue
            p = top[d]
            while p >= 0:
                node = node_at[p]
                gain = (leaving(targets, weights, d, node, node_at, top, below)
                        - leaving(targets, weights, u, node, node_at, top, below))
                if best < 0 or gain > best_gain:
                    best, best_gain = p, gain
                p = below[p]
        d = order[best]
        if top[d] == best:
            top[d] = below[best]
        else:
            p = top[d]
            while below[p] != best:
                p = below[p]
            below[p] = below[best]
        order[best] = u
        top[u] = best
        below[best] = -1
        changed += 1
    return changed
