"""The max-heap of all kernels: numbers with a key and a tie, each of which knows its place.

An entry a leaves before an entry b where ``(key[a], tie[a]) > (key[b], tie[b])``; which of two equal ones leaves first
follows from the order in which they came.  Where ties need no rule, `key` is passed as `tie`, too: on equal keys
that compares a number in the cache once more.
"""

import numpy as np

from . import inlined, inner, kernel


@inlined
def before(key, tie, a, b):
    """Whether entry a leaves the heap before entry b.

    key, tie : (nentries,) int64, in
    a, b : int
    """
    return key[a] > key[b] or (key[a] == key[b] and tie[a] > tie[b])


@inner
def sift_up(heap, pos, key, tie, i):
    """Restore the heap upwards from place i.

    heap : (capacity,) int32, in and out    entries by place
    pos : (nentries,) int32, in and out     place of each entry
    key, tie : (nentries,) int64, in
    i : int
    """
    v = heap[i]
    # kept out of the arrays: the compiler cannot know that the loop does not write there
    a, b = key[v], tie[v]
    while i > 0:
        up = (i - 1) >> 1
        u = heap[up]
        c = key[u]
        if c > a or (c == a and tie[u] >= b):
            break
        heap[i] = u
        pos[u] = i
        i = up
    heap[i] = v
    pos[v] = i


@inner
def sift_down(heap, pos, key, tie, size, i):
    """Restore the heap downwards from place i.

    heap : (capacity,) int32, in and out    entries by place
    pos : (nentries,) int32, in and out     place of each entry
    key, tie : (nentries,) int64, in
    size : int                              number of entries in the heap
    i : int
    """
    v = heap[i]
    a, b = key[v], tie[v]
    while True:
        child = 2 * i + 1
        if child >= size:
            break
        u = heap[child]
        c = key[u]
        if child + 1 < size:
            # chosen without a branch, which could not be predicted
            right = heap[child + 1]
            d = key[right]
            later = (d > c) | ((d == c) & (tie[right] > tie[u]))
            u = right if later else u
            c = d if later else c
            child += np.int64(later)
        if a > c or (a == c and b >= tie[u]):
            break
        heap[i] = u
        pos[u] = i
        i = child
    heap[i] = v
    pos[v] = i


@inlined
def push(heap, pos, key, tie, size, v):
    """Put entry v into the heap; returns the new size.

    heap : (capacity,) int32, in and out    entries by place
    pos : (nentries,) int32, in and out     place of each entry
    key, tie : (nentries,) int64, in
    size : int                              number of entries in the heap
    v : int
    """
    heap[size] = v
    sift_up(heap, pos, key, tie, size)
    return size + 1


@inlined
def put(heap, pos, key, tie, size, v, value):
    """Give entry v this key, and put it into the heap, or where it now belongs there; returns the new size.

    heap : (capacity,) int32, in and out    entries by place
    pos : (nentries,) int32, in and out     place of each entry, -1 for one that is not in the heap
    key : (nentries,) int64, in and out
    tie : (nentries,) int64, in
    size : int                              number of entries in the heap
    v, value : int
    """
    former = key[v]
    key[v] = value
    if pos[v] < 0:
        return push(heap, pos, key, tie, size, v)
    if value > former:
        sift_up(heap, pos, key, tie, pos[v])
    else:
        sift_down(heap, pos, key, tie, size, pos[v])
    return size


@kernel
def remove(heap, pos, key, tie, size, v):
    """Take entry v out of the heap, from wherever it is; returns the new size.

    heap : (capacity,) int32, in and out    entries by place
    pos : (nentries,) int32, in and out     place of each entry, -1 for v afterwards
    key, tie : (nentries,) int64, in
    size : int                              number of entries in the heap
    v : int
    """
    i = pos[v]
    pos[v] = -1
    size -= 1
    if i == size:
        return size
    u = heap[size]
    heap[i] = u
    if i > 0 and before(key, tie, u, heap[(i - 1) >> 1]):
        sift_up(heap, pos, key, tie, i)
    else:
        sift_down(heap, pos, key, tie, size, i)
    return size
