"""The partitioner behind the calling convention of a comparison harness.

``FUNCTION(xadj, adjncy, k, eps=, seed=, threads=, fixed=None) -> labels``, one
function a preset.  ``best`` takes ``COPART_TIME_LIMIT`` seconds (60).

A harness calls once on a tiny graph before the clock starts.  That call also loads the
kernels that only larger graphs need, about 0.1 s a process, which is no part of partitioning.
"""

from __future__ import annotations

import os
from functools import partial
from typing import Any

import numpy as np

from copart.graph import Graph
from copart.kgggp_ml import partition

TINY = 2000
"""Vertices below which a graph is taken for the harness' first call."""


def _load_kernels(preset: str, threads: int) -> None:
    """Partition small graphs of all kinds: grid and mesh, numbered near and far, fixed and free, of long borders."""
    side = 14
    at = np.arange(side**3).reshape(side, side, side)
    u = np.concatenate([at[:-1].ravel(), at[:, :-1].ravel(), at[:, :, :-1].ravel()])
    v = np.concatenate([at[1:].ravel(), at[:, 1:].ravel(), at[:, :, 1:].ravel()])
    fixed = np.full(side**3, -1)
    fixed[at[0].ravel()] = np.arange(side * side) * 4 // (side * side)
    far = np.random.default_rng(1).permutation(side**3)
    ring = np.arange(side**3)
    for a, b in ((u, v), (far[u], far[v]), (ring[:-1], ring[1:])):
        graph = Graph.from_edges(side**3, a, b)
        partition(graph, 8, preset=preset, threads=threads)
        partition(graph, 8, preset=preset, threads=threads, fixed=fixed)
    # more vertices at borders than are refined in one call: edges a random distance along a ring
    n, away = 12_000, np.random.default_rng(1).integers(2, 3000, 24_000)
    near = np.arange(24_000) % n
    partition(Graph.from_edges(n, near, (near + away) % n), 64, preset=preset, threads=threads)


def _run(preset: str, xadj: Any, adjncy: Any, k: int, *, eps: float, seed: int, threads: int, fixed: Any = None) -> Any:
    more: dict[str, Any] = {}
    if len(xadj) <= TINY:
        _load_kernels("strong" if preset == "best" else preset, threads)
    if preset == "best":
        more["time_limit"] = float(os.environ.get("COPART_TIME_LIMIT", "60")) if len(xadj) > TINY else 1.0
    return partition((xadj, adjncy), k, eps=eps, seed=seed, threads=threads, preset=preset, fixed=fixed, **more)


fast = partial(_run, "fast")
default = partial(_run, "default")
strong = partial(_run, "strong")
best = partial(_run, "best")
