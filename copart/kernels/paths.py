"""Ways from part to part over the quotient graph, by the vertices at the borders."""

from . import inlined, inner, kernel


@kernel
def group_by_part(part, border, count, start, order):
    """The vertices border[:count] grouped by part.

    part : (nvtxs,) int32, in
    border : (nborder,) int32, in       nborder is at least `count`
    count : int
    start : (nparts + 1,) int64, out    where the vertices of each part begin
    order : (count,) int32, out         vertices by part
    """
    for p in range(len(start)):
        start[p] = 0
    for i in range(count):
        start[part[border[i]] + 1] += 1
    for p in range(len(start) - 1):
        start[p + 1] += start[p]
    for i in range(count):
        p = part[border[i]]
        order[start[p]] = border[i]
        start[p] += 1
    for p in range(len(start) - 1, 0, -1):
        start[p] = start[p - 1]
    start[0] = 0


@inlined
def meet_neighbours(g, part, p, start, order, before, queue, tail):
    """Queue the parts next to part `p` that were not met before; returns the end of the queue.

    g : Level, in
    part : (nvtxs,) int32, in
    p : int
    start : (nparts + 1,) int64, in
    order : (count,) int32, in              vertices by part
    before : (nparts,) int32, in and out    the part from which each was met, -1 where none was
    queue : (nparts,) int32, in and out
    tail : int                              parts in the queue
    """
    for i in range(start[p], start[p + 1]):
        v = order[i]
        if part[v] != p:
            continue
        for e in range(g.xadj[v], g.xadj[v + 1]):
            q = part[g.adjncy[e]]
            if before[q] < 0:
                before[q] = p
                queue[tail] = q
                tail += 1
    return tail


@kernel
def find_path(g, part, pwgt, limit, source, need, start, order, parent, queue):
    """Nearest part from `source` with room for `need`, over the quotient graph; -1 if there is none.

    Breadth first, parts in the order they are met.

    g : Level, in
    part : (nvtxs,) int32, in
    pwgt, limit : (nparts,) int64, in
    source, need : int
    start : (nparts + 1,) int64, in
    order : (count,) int32, in      vertices by part
    parent : (nparts,) int32, out   the part before each on the way, -1 where not reached
    queue : (nparts,) int32, scratch
    """
    for p in range(len(parent)):
        parent[p] = -1
    parent[source] = source
    queue[0] = source
    head = 0
    tail = 1
    while head < tail:
        p = queue[head]
        head += 1
        if p != source and pwgt[p] + need <= limit[p]:
            return p
        tail = meet_neighbours(g, part, p, start, order, parent, queue, tail)
    return -1


@inner
def ways_to_room(g, part, pwgt, limit, start, order, toward, queue):
    """From every part the way to the nearest one with room; returns the number of parts that have one.

    Breadth first from all parts with room at once, over the quotient graph, in the order of their numbers.

    g : Level, in
    part : (nvtxs,) int32, in
    pwgt, limit : (nparts,) int64, in
    start : (nparts + 1,) int64, in
    order : (count,) int32, in          vertices by part
    toward : (nparts,) int32, out       the next part on the way, itself where there is room, -1 without a way
    queue : (nparts,) int32, scratch    parts in the order they are met
    """
    tail = 0
    for p in range(len(toward)):
        toward[p] = -1
        if pwgt[p] < limit[p]:
            toward[p] = p
            queue[tail] = p
            tail += 1
    head = 0
    while head < tail:
        p = queue[head]
        head += 1
        tail = meet_neighbours(g, part, p, start, order, toward, queue, tail)
    return tail
