"""Kernels of the greedy orders of a grid: nodes filled one by one, seeds far apart, duplicates mended.

The graph is a table: ``targets[v, i]`` is the neighbour of v at the i-th offset of the stencil, -1 outside the
grid, and ``weights[i]`` what goes there.
"""

from . import inlined, kernel

#: States of a vertex: free, seen first with the vertex that is being placed, queued, on this node, on another one.
FREE, NEW, QUEUED, HERE, TAKEN = 0, 1, 2, 3, 4


@inlined
def before(prio, u, v):
    """Whether u is placed before v: by larger priority, then by smaller number."""
    return prio[u] > prio[v] or (prio[u] == prio[v] and u < v)


@inlined
def rise(heap, place, prio, v):
    """Restore the order of the heap after the priority of v grew."""
    i = place[v]
    while i > 0 and before(prio, v, heap[(i - 1) // 2]):
        heap[i] = heap[(i - 1) // 2]
        place[heap[i]] = i
        i = (i - 1) // 2
    heap[i] = v
    place[v] = i


@inlined
def sink(heap, place, prio, held, v):
    """Put v at the top of a heap of `held` entries, and restore its order."""
    i = 0
    while 2 * i + 1 < held:
        below = 2 * i + 1
        if below + 1 < held and before(prio, heap[below + 1], heap[below]):
            below += 1
        if before(prio, v, heap[below]):
            break
        heap[i] = heap[below]
        place[heap[i]] = i
        i = below
    heap[i] = v
    place[v] = i


@kernel
def fill_node(targets, weights, start, once, lowest, state, prio, heap, place, touched, out):
    """Fill one node from `start`: writes its vertices to `out`, returns the first that may be free.

    Always the queued vertex of the highest priority, ties to the smaller one; where none is queued, the smallest that
    is free.  An edge adds to the priority of a vertex when it brings the vertex into the queue; then the vertex looks
    at its other edges, and each that ends on the node or in the queue adds to both ends.  So an edge between two that
    enter together adds twice to either.  With `once` every edge adds once, and once more when its other end is on
    the node.

    state (n,) uint8: FREE, or TAKEN by other nodes; those placed are HERE afterwards.  prio (n,) int64 is 0 before and
    after.  heap, place, touched (n,) int32 are scratch.  `lowest` is where to look for the smallest free vertex.
    """
    k = targets.shape[1]
    held = 0
    ntouched = 0
    for done in range(len(out)):
        b = start
        if done > 0 and held > 0:
            b = heap[0]
            held -= 1
            if held > 0:
                sink(heap, place, prio, held, heap[held])
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
                rise(heap, place, prio, u)
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
                    rise(heap, place, prio, w)
        for t in range(first, ntouched):
            u = touched[t]
            state[u] = QUEUED
            heap[held] = u
            place[u] = held
            held += 1
            rise(heap, place, prio, u)
        state[b] = HERE
        out[done] = b
    for t in range(ntouched):
        u = touched[t]
        prio[u] = 0
        if state[u] == QUEUED:
            state[u] = FREE
    return lowest


@kernel
def fill_nodes(targets, weights, first, once, state, prio, heap, place, touched, order):
    """Fill all nodes in turn, each from the smallest vertex that is left; node i gets ``order[first[i]:first[i + 1]]``.

    state and prio are 0; the rest as in `fill_node`.
    """
    lowest = 0
    for node in range(len(first) - 1):
        while state[lowest] != FREE:
            lowest += 1
        out = order[first[node]:first[node + 1]]
        lowest = fill_node(targets, weights, lowest, once, lowest, state, prio, heap, place, touched, out)
        for i in range(len(out)):
            state[out[i]] = TAKEN
    return len(order)


@kernel
def find_seeds(targets, seen, queue, seeds):
    """Vertices far from one another: each the last that a search from all before it reaches, the first is 0.

    Where a search does not reach all, the smallest that it leaves is the next.  seen (n,) uint8 and queue (n,) int32
    are scratch.
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


@kernel
def leaving(targets, weights, v, node, node_at, top, below):
    """Weight of the edges of v that end outside `node`."""
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
    node become fewest, the first of equal places.  node_at (n,) int32 is the node of each place.  top (n,) int32 and
    below (n,) int32 are scratch: chains of the places of each vertex.
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
