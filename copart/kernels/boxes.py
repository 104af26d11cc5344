"""Which boxes share a part of a face."""

from . import kernel


@kernel
def facing(lo, hi, low, high, order, second, reach, boxes, pairs):
    """Pairs of boxes of which one ends where the other begins, along one axis; returns how many.

    lo, hi : int                        which of the boxes that begin on a plane to look at, a range of `low`
    low : (m,) int32, in                boxes that begin on the plane
    high : (k,) int32, in               boxes that end there
    order : int                         the axis that `high` is sorted by: where its boxes begin
    second : int                        the axis across the plane
    reach : (k,) float64, in            the largest end, along `order`, of the boxes of `high` so far
    boxes : (nboxes, 2, d) float64, in
    pairs : (room, 2) int32, out        filled as far as there is room
    """
    dim = boxes.shape[2]
    found = 0
    for i in range(lo, hi):
        a = low[i]
        # the first box of `high` that may reach beyond the begin of this one
        first, last = 0, len(high)
        while first < last:
            middle = (first + last) // 2
            if reach[middle] > boxes[a, 0, order]:
                last = middle
            else:
                first = middle + 1
        for j in range(first, len(high)):
            b = high[j]
            if boxes[b, 0, order] >= boxes[a, 1, order] and order != second:
                break
            if a == b:
                continue
            apart = False
            for c in range(dim):
                if c != second and not (min(boxes[a, 1, c], boxes[b, 1, c]) > max(boxes[a, 0, c], boxes[b, 0, c])):
                    apart = True
                    break
            if not apart:
                if found < len(pairs):
                    pairs[found, 0] = a
                    pairs[found, 1] = b
                found += 1
    return found
