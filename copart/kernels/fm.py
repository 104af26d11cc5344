"""A max-heap of vertices with their places, for FM: any entry can be raised, lowered or taken out."""

from . import kernel


@kernel
def sift_up(heap, pos, key, i):
    """Restore the max-heap upwards from place i."""
    v = heap[i]
    a = key[v]
    while i > 0:
        up = (i - 1) >> 1
        u = heap[up]
        if key[u] >= a:
            break
        heap[i] = u
        pos[u] = i
        i = up
    heap[i] = v
    pos[v] = i


@kernel
def sift_down(heap, pos, key, size, i):
    """Restore the max-heap downwards from place i."""
    v = heap[i]
    a = key[v]
    while True:
        child = 2 * i + 1
        if child >= size:
            break
        if child + 1 < size and key[heap[child + 1]] > key[heap[child]]:
            child += 1
        u = heap[child]
        if a >= key[u]:
            break
        heap[i] = u
        pos[u] = i
        i = child
    heap[i] = v
    pos[v] = i


@kernel
def remove(heap, pos, key, size, v):
    """Take vertex v out of the heap; returns the new size."""
    i = pos[v]
    pos[v] = -1
    size -= 1
    if i == size:
        return size
    u = heap[size]
    heap[i] = u
    pos[u] = i
    if i > 0 and key[heap[(i - 1) >> 1]] < key[u]:
        sift_up(heap, pos, key, i)
    else:
        sift_down(heap, pos, key, size, i)
    return size
