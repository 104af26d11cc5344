"""The heap of the kernels: entries by key and tie, pushed, raised, lowered and taken out."""

from __future__ import annotations

import numpy as np
from hypothesis import given
from hypothesis import strategies as st

from copart.kernels import heap as kernels


def arrays(n: int):
    return np.empty(n, np.int32), np.full(n, -1, np.int32)


@given(st.lists(st.tuples(st.integers(-9, 9), st.integers(-2, 2)), min_size=1, max_size=50), st.booleans(),
       st.integers(0, 2**32 - 1))
def test_entries_leave_the_heap_by_key_and_tie(keys, tied, seed):
    rng = np.random.default_rng(seed)
    n = len(keys)
    key = np.array([k for k, _ in keys], np.int64)
    tie = np.array([t for _, t in keys], np.int64) if tied else key
    heap, pos = arrays(n)
    size = 0
    for v in range(n):
        size = kernels.push(heap, pos, key, tie, size, v)
    assert size == n
    for v in rng.choice(n, n // 3, replace=False).tolist():
        # removed from anywhere, or with another key
        if rng.random() < 0.5:
            size = kernels.remove(heap, pos, key, tie, size, v)
            assert pos[v] == -1
        else:
            key[v] += int(rng.integers(-9, 10))
            kernels.sift_up(heap, pos, key, tie, pos[v])
            kernels.sift_down(heap, pos, key, tie, size, pos[v])
        assert all(pos[heap[i]] == i for i in range(size))
    left = sorted(((int(key[v]), int(tie[v])) for v in range(n) if pos[v] >= 0), reverse=True)
    order = []
    while size:
        order.append((int(key[heap[0]]), int(tie[heap[0]])))
        size = kernels.remove(heap, pos, key, tie, size, heap[0])
    assert order == left


@given(st.lists(st.tuples(st.integers(-5, 5), st.integers(-5, 5)), max_size=60), st.integers(0, 2**32 - 1))
def test_heap_pops_in_order(keys, seed):
    """Pushes and pops mixed; every pop takes the largest (key, tie) there is."""
    rng = np.random.default_rng(seed)
    key, tie = (np.array([pair[i] for pair in keys] + [0], np.int64) for i in range(2))
    heap, pos = arrays(len(keys) + 1)
    size, inside, popped = 0, [], 0
    for i in range(len(keys)):
        size = kernels.push(heap, pos, key, tie, size, i)
        inside.append(keys[i])
        while size and rng.random() < 0.3:
            assert keys[heap[0]] == max(inside)
            inside.remove(keys[heap[0]])
            size = kernels.remove(heap, pos, key, tie, size, heap[0])
            popped += 1
    order = []
    while size:
        order.append(keys[heap[0]])
        size = kernels.remove(heap, pos, key, tie, size, heap[0])
    assert order == sorted(inside, reverse=True)
    assert popped + len(order) == len(keys)
