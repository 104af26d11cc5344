"""Recursive coordinate bisection: one more initial partition where vertices have coordinates."""

from __future__ import annotations

from typing import Any

import numpy as np

from ..arrays import WEIGHT, frozen, spanned
from ..kernels import Level
from ..kernels.contraction import centre

Array = np.ndarray[Any, Any]


def centroids(coords: Array, levels: list[Level], maps: list[Array]) -> Array:
    """Centres of gravity of the vertices of the coarsest level, (ncoarsest, d) float64.

    Parameters
    ----------
    coords : (nvtxs, d) float64
        Of the vertices of the finest level.
    levels, maps : list of Level, list of (nvtxs,) int32
        From fine to coarse; the maps lead from each to the next.
    """
    for fine, cmap in zip(levels, maps, strict=False):
        ncoarse = int(cmap.max(initial=-1)) + 1
        centres = np.empty((ncoarse, coords.shape[1]))
        # vertices without weight count a little, or theirs would be the origin
        centre(cmap, fine.vwgt.astype(WEIGHT, copy=False), frozen(coords), np.empty(ncoarse), centres)
        coords = centres
    return coords


def recursive_coordinate_bisection(coords: Array, vwgt: Array, limit: Array) -> Array:
    """Halve the set of parts again and again, across the longest side of what a half holds (Berger & Bokhari 1987).

    Parameters
    ----------
    coords : (nvtxs, d) float64
    vwgt : (nvtxs,) int64
    limit : (nparts,) int64
        Largest weight of each part; weights are shared out in proportion.

    Returns
    -------
    (nvtxs,) int32
        Parts; a limit may be exceeded by about one vertex.
    """
    part = np.zeros(len(vwgt), np.int32)
    jobs = [(np.arange(len(vwgt)), 0, len(limit))]
    while jobs:
        vertices, lo, hi = jobs.pop()
        if hi - lo == 1:
            part[vertices] = lo
            continue
        mid = (lo + hi) // 2
        here = coords[vertices]
        axis = int(np.argmax(np.diff(spanned(here), axis=0))) if len(here) else 0
        vertices = vertices[np.argsort(here[:, axis], kind="stable")]
        weight = np.cumsum(vwgt[vertices])
        goal = (weight[-1] if len(weight) else 0) * (int(limit[lo:mid].sum()) / max(int(limit[lo:hi].sum()), 1))
        cut = int(np.searchsorted(weight - vwgt[vertices] / 2, goal))
        jobs += [(vertices[:cut], lo, mid), (vertices[cut:], mid, hi)]
    return part
