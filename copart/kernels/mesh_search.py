"""Kernels that find overlapping boxes: a bounding-volume tree over sorted boxes.

Boxes come sorted along a space-filling curve; `leaf` consecutive ones form a
leaf of a complete binary tree, so sizes may differ by any factor.  Node 1 is the
root, node i has the children 2i and 2i + 1.
"""

from . import kernel


@kernel
def build_tree(order, low, high, leaf, tree_low, tree_high):
    """Boxes of the tree's nodes; a node without boxes has low = inf.

    order : (n,) int64, in                                  the boxes along the curve
    low, high : (n, 3) float64, in
    leaf : int                                              boxes per leaf
    tree_low, tree_high : (2 * nleaves, 3) float64, out     nleaves a power of two, nleaves * leaf >= n
    """
    nleaves = len(tree_low) // 2
    n = len(order)
    for i in range(nleaves):
        node = nleaves + i
        for d in range(3):
            tree_low[node, d] = float("inf")
            tree_high[node, d] = -float("inf")
        for e in range(i * leaf, min((i + 1) * leaf, n)):
            b = order[e]
            for d in range(3):
                tree_low[node, d] = min(tree_low[node, d], low[b, d])
                tree_high[node, d] = max(tree_high[node, d], high[b, d])
    for node in range(nleaves - 1, 0, -1):
        for d in range(3):
            tree_low[node, d] = min(tree_low[2 * node, d], tree_low[2 * node + 1, d])
            tree_high[node, d] = max(tree_high[2 * node, d], tree_high[2 * node + 1, d])


@kernel
def box_pairs(low_a, high_a, low_b, high_b, order, leaf, tree_low, tree_high, limit, stack, pair_a, pair_b):
    """All pairs of boxes of A and B whose closed boxes meet; returns how many.

    Pairs beyond the room in pair_a and pair_b are counted and not written; the count ends soon after `limit`.

    low_a, high_a : (na, 3) float64, in
    low_b, high_b : (nb, 3) float64, in
    order : (nb,) int64, in                             the boxes of B along the curve
    leaf : int                                          boxes per leaf
    tree_low, tree_high : (2 * nleaves, 3) float64, in  as of `build_tree`
    limit : int
    stack : (64,) int64, scratch
    pair_a, pair_b : (room,) int32, out
    """
    nleaves = len(tree_low) // 2
    room = len(pair_a)
    n = len(order)
    count = 0
    for a in range(len(low_a)):
        if count > limit:
            return count
        top = 0
        stack[0] = 1
        while top >= 0:
            node = stack[top]
            top -= 1
            if (tree_low[node, 0] > high_a[a, 0] or tree_high[node, 0] < low_a[a, 0]
                    or tree_low[node, 1] > high_a[a, 1] or tree_high[node, 1] < low_a[a, 1]
                    or tree_low[node, 2] > high_a[a, 2] or tree_high[node, 2] < low_a[a, 2]):
                continue
            if node < nleaves:
                stack[top + 1] = 2 * node + 1
                stack[top + 2] = 2 * node
                top += 2
                continue
            first = (node - nleaves) * leaf
            for e in range(first, min(first + leaf, n)):
                b = order[e]
                if (low_b[b, 0] <= high_a[a, 0] and high_b[b, 0] >= low_a[a, 0]
                        and low_b[b, 1] <= high_a[a, 1] and high_b[b, 1] >= low_a[a, 1]
                        and low_b[b, 2] <= high_a[a, 2] and high_b[b, 2] >= low_a[a, 2]):
                    if count < room:
                        pair_a[count] = a
                        pair_b[count] = b
                    count += 1
    return count
