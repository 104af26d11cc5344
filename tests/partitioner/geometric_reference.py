"""Multi-Jagged written down once more, to compare with: sorted in full, box by box."""

from __future__ import annotations

import numpy as np


def smallest_root(nparts: int, depth: int) -> int:
    return next(s for s in range(1, nparts + 1) if s**depth >= nparts)


def reference(points, nparts, weights=None, depth=None, counts=None, axis_of=None):
    """Parts by sorting every box along its axis; `axis_of` gives it for the level and the points of the box."""
    points = np.asarray(points, float)
    n, dim = points.shape
    w = np.ones(n, object) if weights is None else np.array([int(x) for x in weights], object)
    total = sum(w)
    depth = depth or (len(counts) if counts else dim)
    part = np.empty(n, int)

    def share(mine, first, held, level, before):
        if level == depth:
            part[mine] = first
            return
        sections = counts[level] if counts else smallest_root(held, depth - level)
        axis = level % dim if axis_of is None else axis_of(level, points[mine])
        plain = sum(w[mine]) == 0
        key = [mine, *(points[mine, (axis + turn) % dim] for turn in range(dim - 1, -1, -1))]
        mine = mine[np.lexsort(key)]
        each = [held // sections + (s < held % sections) for s in range(sections)]
        at, done = 0, 0
        for s, own in enumerate(each):
            done += own
            end, weight = at, before + sum(w[mine[:at]])
            while s < sections - 1 and end < len(mine):
                if plain:
                    stays = (2 * end + 1) * held <= 2 * len(mine) * done
                else:
                    stays = (2 * weight + w[mine[end]]) * nparts <= 2 * total * (first + done)
                if not stays:
                    break
                weight += w[mine[end]]
                end += 1
            end = len(mine) if s == sections - 1 else end
            share(np.sort(mine[at:end]), first + done - own, own, level + 1, before + sum(w[mine[:at]]))
            at = end

    share(np.arange(n), 0, nparts, 0, 0)
    return part


CLOUDS = {
    "uniform": lambda rng, n, dim: rng.random((n, dim)),
    "few values": lambda rng, n, dim: rng.integers(0, 4, (n, dim)).astype(float),
    "one place": lambda rng, n, dim: np.full((n, dim), 0.25),
    "scales": lambda rng, n, dim: np.exp(40 * rng.standard_normal((n, dim))),
    "hole": lambda rng, n, dim: np.where(rng.random((n, 1)) < 0.5, 0, 1e9) + rng.random((n, dim)),
    "huge": lambda rng, n, dim: (2 * rng.random((n, dim)) - 1) * 1.7e308,
    "tiny": lambda rng, n, dim: rng.integers(0, 50, (n, dim)) * 5e-324,
}
