"""The last refinement of a component whose coupled cells stay where they are."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import numpy as np

from ...arrays import FREE, VERTEX
from ...kernels import Level, Pull
from ...kernels.multiconstraint import kway_pass
from ...options import Config
from ...partitioner.flows import flow_settings, refine_pairs
from ...partitioner.multiconstraint.refinement import Refiner as KwayRefiner
from ...partitioner.refinement import Refiner
from ...partitioner.rounds import Team
from ...partitioner.settling import settle
from ...partitioner.shape import Shape

Array = np.ndarray[Any, Any]

PASSES = 2
"""Passes of k-way FM, at most.

On the published experiments the second one lowers the mean cut from 1.017 to 1.016 of NAIVE's, for 0.12 of its time.
"""

LEAST_GAIN = 0.0005
"""A pass that wins less than this share of the cut is the last."""

STALL = 100
"""Of how many vertices one may be moved in vain before a pass ends."""


def held(g: Level, cells: Array, labels: Array) -> Level:
    """`g` with the vertices `cells` fixed in the parts `labels`."""
    fixed = np.full(len(g.vwgt), FREE, VERTEX)
    fixed[cells] = labels
    return g._replace(fixed=fixed)


def finish(g: Level, pull: Pull, part: Array, limit: Array, cut: int, config: Config, seed: int, team: Team,
           shape: Shape) -> int:
    """Refine `part` in place: few rounds balance it, then passes of k-way FM gain more in less time, then minimum cuts.

    These are sought where KGGGP-ML seeks them; see :func:`copart.partitioner.flows.flow_settings`.

    Parameters
    ----------
    g, pull : Level, Pull
        The component; its coupled cells are fixed.
    part : (nvtxs,) int32
    limit : (nparts,) int64
    cut : int
        Edge cut of `part`.
    shape : Shape

    Returns
    -------
    int
        Weight left above the limits.
    """
    few = replace(config, patience=1)
    cut -= Refiner(g, pull, part, limit, team, seed).improve(few, cut, rounds=0)
    fm = KwayRefiner(g, g.vwgt[:, None].copy(), limit[:, None], part)
    for _ in range(PASSES):
        won = int(kway_pass(fm.g, fm.loads, part, max(100, len(part) // STALL), fm.scratch))
        cut -= won
        if won <= LEAST_GAIN * cut:
            break
    left = settle(g, pull, part, limit, team, seed)
    how = flow_settings(g, config, shape, len(limit))
    if left == 0 and how.flow_levels:
        refine_pairs(g, part, limit, team, how.rounds, how.reach, how.share)
    return left


__all__ = ["finish", "held"]
