"""A partition whose coupled parts are columns of vertices behind the interface."""

from __future__ import annotations

from typing import Any

import numpy as np

from ...arrays import VERTEX, WEIGHT
from ...graph import Graph
from ...kernels import Level
from ...kgggp_ml import partition
from ...options import Loose
from ...partitioner.affinity import finest
from ...partitioner.bisection import recursive_bisection
from ...partitioner.rounds import Team
from .first import nearest

Array = np.ndarray[Any, Any]


def columns(g: Level, cells: Array, load: Array, k: int, limit: Array, eps: float, salt: int, team: Team, grid: bool, coords: Array | None) -> Array:
    """The coupled vertices `cells` in `k` parts, the layers behind them in the same, and all others in the rest."""
    graph = Graph(g.xadj, g.adjncy, ewgt=g.ewgt if len(g.ewgt) else None, vwgt=g.vwgt)
    label, away = nearest(graph, cells, len(g.vwgt))
    total, nparts = int(g.vwgt.sum()), len(limit)
    layer = np.cumsum(np.bincount(away, weights=g.vwgt)).astype(WEIGHT)
    low, high = total - int(limit[k:].sum()), int(limit[:k].sum())
    aim = total * k / nparts
    deep = int(np.argmin(np.abs(layer - aim)))
    if not low <= layer[deep] <= high:
        order = np.argsort(away, kind="stable")
        front = np.zeros(len(away), bool)
        front[order[:int(np.searchsorted(np.cumsum(g.vwgt[order]), aim))]] = True
    else: front = away <= deep
    face = graph.subgraph(cells)
    face = Graph(face.xadj, face.adjncy, ewgt=face.ewgt, vwgt=load)
    part = np.empty(len(g.vwgt), VERTEX)
    best=[]
    import time
    t0=time.process_time()
    from ...metrics import edge_cut
    for s in range(FACES):
        f = partition(face, k, Loose(eps, salt+s), strict=False)
        best.append((edge_cut(face,f),s,f))
    f=min(best,key=lambda b:b[:2])[2]
    if VERB: print("faces",sorted(b[0] for b in best),"%.3f"%(time.process_time()-t0))
    part[front] = f[label[front]]
    back = np.flatnonzero(~front).astype(VERTEX)
    if len(back):
        sub = graph.subgraph(back)
        level, pull = finest(sub, nparts - k, None, None)
        t0=time.process_time()
        from ...partitioner.coordinates import recursive_coordinate_bisection
        found = [recursive_coordinate_bisection(coords[back], level.vwgt, limit[k:])] if coords is not None and CO else recursive_bisection(level, limit[k:], [salt+s for s in range(BACKS)], team, grid=grid)
        from ...partitioner.refinement import cut_of
        cuts=[cut_of(level,x) for x in found]
        if VERB: print("backs",cuts,"%.3f"%(time.process_time()-t0))
        part[back] = k + found[int(np.argmin(cuts))]
    return part
import os
FACES,BACKS,VERB,CO=3,1,0,int(os.environ.get('CO','1'))
