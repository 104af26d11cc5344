"""The partitioner behind the calling convention of a comparison harness.

``FUNCTION(xadj, adjncy, k, eps=, seed=, threads=, fixed=None) -> labels``, one
function a preset.
"""

from __future__ import annotations

from functools import partial
from typing import Any

from copart.graph import Graph
from copart.kgggp_ml import partition


def _run(preset: str, xadj: Any, adjncy: Any, k: int, *, eps: float, seed: int, threads: int, fixed: Any = None) -> Any:
    return partition(Graph(xadj, adjncy), k, eps=eps, seed=seed, threads=threads, preset=preset, fixed=fixed)


fast = partial(_run, "fast")
default = partial(_run, "default")
strong = partial(_run, "strong")
