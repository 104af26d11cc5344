"""The heap of FM: vertices by key, raised, lowered and taken out."""

from __future__ import annotations

import numpy as np
from hypothesis import given
from hypothesis import strategies as st

from copart.kernels import fm as kernels


@given(st.lists(st.integers(-9, 9), min_size=1, max_size=50), st.integers(0, 2**32 - 1))
def test_vertices_leave_the_heap_by_key(keys, seed):
    rng = np.random.default_rng(seed)
    n = len(keys)
    key = np.array(keys, np.int64)
    heap, pos = np.empty(n, np.int32), np.full(n, -1, np.int32)
    for v in range(n):
        heap[v] = v
        pos[v] = v
        kernels.sift_up(heap, pos, key, v)
    size = n
    for v in rng.choice(n, n // 3, replace=False).tolist():
        # removed from anywhere, or with another key
        if rng.random() < 0.5:
            size = kernels.remove(heap, pos, key, size, v)
            assert pos[v] == -1
        else:
            key[v] += int(rng.integers(-9, 10))
            kernels.sift_up(heap, pos, key, pos[v])
            kernels.sift_down(heap, pos, key, size, pos[v])
        assert all(pos[heap[i]] == i for i in range(size))
    left = sorted((int(key[v]) for v in range(n) if pos[v] >= 0), reverse=True)
    order = []
    while size:
        order.append(int(key[heap[0]]))
        size = kernels.remove(heap, pos, key, size, heap[0])
    assert order == left
