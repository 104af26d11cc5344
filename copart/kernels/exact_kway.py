"""Parts of exactly given sizes: k-way greedy growing, and the moves that negative-cycle refinement chooses from.

``conn[v, j]`` is the weight of the edges between vertex v and part j, so that the gain of moving v from part i to
part j is ``conn[v, j] - conn[v, i]``: a move changes two columns of the rows of its neighbours and nothing else.
"""

from . import inlined, kernel
from .rng import mix


@inlined
def before(key, tie, a, b):
    """Whether vertex a leaves the heap before vertex b."""
    return key[a] > key[b] or (key[a] == key[b] and tie[a] > tie[b])


@kernel
def raise_in_heap(heap, pos, key, tie, i):
    """Restore the max-heap upwards from place i."""
    v = heap[i]
    while i > 0:
        up = (i - 1) >> 1
        u = heap[up]
        if not before(key, tie, v, u):
            break
        heap[i] = u
        pos[u] = i
        i = up
    heap[i] = v
    pos[v] = i


@kernel
def lower_in_heap(heap, pos, key, tie, size, i):
    """Restore the max-heap downwards from place i."""
    v = heap[i]
    while True:
        child = 2 * i + 1
        if child >= size:
            break
        if child + 1 < size and before(key, tie, heap[child + 1], heap[child]):
            child += 1
        u = heap[child]
        if not before(key, tie, u, v):
            break
        heap[i] = u
        pos[u] = i
        i = child
    heap[i] = v
    pos[v] = i


@kernel
def best_open_part(conn, cap, size, weight, v):
    """The part with room for vertex v that it is connected to most, among equals the emptiest; -1 for none."""
    best = -1
    for j in range(len(cap)):
        if size[j] + weight <= cap[j] and (best < 0 or conn[v, j] > conn[v, best]
                                           or (conn[v, j] == conn[v, best] and size[j] < size[best])):
            best = j
    return best


@kernel
def roomiest_part(cap, size):
    """The part with the most room left, or the least excess."""
    best = 0
    for j in range(1, len(cap)):
        if cap[j] - size[j] > cap[best] - size[best]:
            best = j
    return best


@kernel
def grow_parts(xadj, adjncy, ewgt, vwgt, cap, start, full, salt, part, size, conn, free, best, key, tie, heap, pos,
               order):
    """Assign every vertex by largest gain, k parts at once; returns how many vertices found no part with room.

    A vertex without part is in the imaginary part -1: its gain for part j is conn[v, j] - free[v], where free[v] is
    the weight of its edges to others without part.  `start` lists the vertices in the order in which they are taken
    up where nothing else is left; with `full`, all of them are candidates from the beginning, else its first k are
    placed, one a part, and only neighbours of placed vertices are candidates.  Reads part = pos = best = -1 and
    size = conn = 0; writes part, size, conn and the order of placement.
    """
    n, k = len(vwgt), len(cap)
    for v in range(n):
        free[v] = 0
        for e in range(xadj[v], xadj[v + 1]):
            free[v] += ewgt[e]
        key[v] = -free[v]
        tie[v] = mix(v, salt)
    inside = 0
    if full:
        for v in start:
            heap[inside] = v
            pos[v] = inside
            raise_in_heap(heap, pos, key, tie, inside)
            inside += 1
    placed = nxt = homeless = 0
    while placed < n:
        if not full and placed < k:
            v = start[placed]
            j = placed
            if size[j] + vwgt[v] > cap[j]:
                j = best_open_part(conn, cap, size, vwgt[v], v)
        else:
            if inside == 0:
                while part[start[nxt]] >= 0:
                    nxt += 1
                heap[0] = start[nxt]
                pos[start[nxt]] = 0
                inside = 1
            v = heap[0]
            j = best[v]
            if j < 0 or size[j] + vwgt[v] > cap[j]:
                # the gain kept for a part that has been closed is too large: file the vertex anew
                j = best_open_part(conn, cap, size, vwgt[v], v)
                if j >= 0:
                    best[v] = j
                    if key[v] != conn[v, j] - free[v]:
                        key[v] = conn[v, j] - free[v]
                        lower_in_heap(heap, pos, key, tie, inside, 0)
                        continue
        if j < 0:
            j = roomiest_part(cap, size)
            homeless += 1
        i = pos[v]
        if i >= 0:
            inside -= 1
            pos[v] = -1
            if i < inside:
                heap[i] = heap[inside]
                pos[heap[i]] = i
                raise_in_heap(heap, pos, key, tie, i)
                lower_in_heap(heap, pos, key, tie, inside, pos[heap[i]])
        part[v] = j
        size[j] += vwgt[v]
        order[placed] = v
        placed += 1
        for e in range(xadj[v], xadj[v + 1]):
            u = adjncy[e]
            conn[u, j] += ewgt[e]
            if part[u] >= 0:
                continue
            free[u] -= ewgt[e]
            if best[u] < 0 or conn[u, j] > conn[u, best[u]]:
                best[u] = j
            key[u] = conn[u, best[u]] - free[u]
            if pos[u] < 0:
                heap[inside] = u
                pos[u] = inside
                inside += 1
            raise_in_heap(heap, pos, key, tie, pos[u])
    return homeless


@kernel
def connect(xadj, adjncy, ewgt, part, conn):
    """Fill `conn`, which is 0 before, from the parts."""
    for v in range(len(part)):
        for e in range(xadj[v], xadj[v + 1]):
            conn[v, part[adjncy[e]]] += ewgt[e]


@kernel
def move(xadj, adjncy, ewgt, vwgt, part, size, conn, v, to):
    """Move vertex v to a part; returns the gain, by which the cut falls."""
    old = part[v]
    gain = conn[v, to] - conn[v, old]
    part[v] = to
    size[old] -= vwgt[v]
    size[to] += vwgt[v]
    for e in range(xadj[v], xadj[v + 1]):
        u = adjncy[e]
        conn[u, old] -= ewgt[e]
        conn[u, to] += ewgt[e]
    return gain


@kernel
def choose_moves(xadj, adjncy, part, conn, barred, pairs, salt, first, members, eligible, tail, head, vertex, gain):
    """One local search: for each ordered pair of parts at most one move, no two moved vertices equal or adjacent.

    `pairs` holds i * k + j in the order in which they are served; a vertex that is `barred` or next to one stays.
    Ties go to the first vertex found, from a place that depends on `salt`.  Writes tail = i, head = j, vertex and
    gain of every move; returns their number.  first (k+1,) and members (n,) are scratch for the vertices by part,
    eligible (n,) for the vertices that are left.
    """
    n, k = len(part), conn.shape[1]
    first[:] = 0
    for v in range(n):
        first[part[v] + 1] += 1
        eligible[v] = True
    for i in range(k):
        first[i + 1] += first[i]
    for v in range(n):
        members[first[part[v]]] = v
        first[part[v]] += 1
        if barred[v]:
            eligible[v] = False
            for e in range(xadj[v], xadj[v + 1]):
                eligible[adjncy[e]] = False
    for i in range(k, 0, -1):
        first[i] = first[i - 1]
    first[0] = 0
    count = 0
    for pair in pairs:
        i = pair // k
        j = pair - i * k
        lo = first[i]
        # vertices that are out of the game go to the end of their part
        width = 0
        for at in range(lo, first[i + 1]):
            v = members[at]
            if v < 0:
                break
            if eligible[v]:
                members[lo + width] = v
                width += 1
        if lo + width < first[i + 1]:
            members[lo + width] = -1
        if width == 0:
            continue
        turn = mix(pair, salt) % width
        found = -1
        for step in range(width):
            at = turn + step
            v = members[lo + (at if at < width else at - width)]
            if found < 0 or conn[v, j] - conn[v, i] > conn[found, j] - conn[found, i]:
                found = v
        tail[count] = i
        head[count] = j
        vertex[count] = found
        gain[count] = conn[found, j] - conn[found, i]
        count += 1
        eligible[found] = False
        for e in range(xadj[found], xadj[found + 1]):
            eligible[adjncy[e]] = False
    return count


@kernel
def relax_edges(tail, head, weight, used, dist, pred, seen):
    """Bellman-Ford on a list of directed edges, those that are `used` left out, from the distances given.

    Writes dist and pred, the last edge on the way to each vertex; returns a vertex on a negative cycle of pred, -1
    where there is none.  A cycle of predecessors is a negative one, so it is looked for after every round.
    """
    n = len(dist)
    far = 4611686018427387904  # 2^62: not reached
    while True:
        changed = False
        for e in range(len(tail)):
            if not used[e] and dist[tail[e]] < far and dist[tail[e]] + weight[e] < dist[head[e]]:
                dist[head[e]] = dist[tail[e]] + weight[e]
                pred[head[e]] = e
                changed = True
        if not changed:
            return -1
        seen[:] = -1
        for start in range(n):
            v = start
            while seen[v] < 0:
                seen[v] = start
                if pred[v] < 0:
                    break
                v = tail[pred[v]]
            if seen[v] == start and pred[v] >= 0:
                return v


@kernel
def best_gains(part, conn, best, adjacent):
    """Largest gain of a move from part i to part j, and whether any edge joins them; best is least, adjacent false."""
    k = conn.shape[1]
    for v in range(len(part)):
        i = part[v]
        inside = conn[v, i]
        for j in range(k):
            if conn[v, j] - inside > best[i, j]:
                best[i, j] = conn[v, j] - inside
            if conn[v, j] > 0 and j != i:
                adjacent[i, j] = True
