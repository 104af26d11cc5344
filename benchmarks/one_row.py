"""One row, in a process that has loaded nothing but what the tool needs: ``python -m benchmarks.one_row JOB``."""

from __future__ import annotations

import json
import os
import sys
import time
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from . import growth, peers
from .graphs import BenchmarkGraph, fixed_face, load

MARK = "copart. "
"""Begins the line with the row."""


def figures(graph: BenchmarkGraph, labels: ArrayLike, k: int, eps: float, pieces: bool = False,
            fixed: Any = None) -> dict[str, Any]:
    """The figures of a partition, computed from nothing but the graph and the labels."""
    part = np.asarray(labels)
    n = graph.nvtxs
    if part.shape != (n,) or part.min() < 0 or part.max() >= k:
        raise ValueError(f"not {k} parts of {n} vertices")
    u = np.repeat(np.arange(n, dtype=np.int32), np.diff(graph.xadj))
    inside = part[u] == part[graph.adjncy]
    weight = np.bincount(part, minlength=k)
    limit = int((1 + eps) * -(-n // k) + 1e-9)
    row = {"n": n, "m": graph.nedges, "cut": int((~inside).sum()) // 2, "maxload": int(weight.max()),
           "imbalance": round(float(weight.max() * k / n - 1), 6), "ok": int(weight.max() <= limit),
           "empty": int((weight == 0).sum())}
    if pieces:
        from scipy.sparse import csr_array
        from scipy.sparse.csgraph import connected_components

        kept = csr_array((np.ones(int(inside.sum()), np.int8), (u[inside], graph.adjncy[inside])), shape=(n, n))
        row["comps"] = int(connected_components(kept, directed=False, return_labels=False))
    if fixed is not None:
        row["fixed_bad"] = int((part[fixed >= 0] != fixed[fixed >= 0]).sum())
    return row


def child(job: dict[str, Any]) -> None:
    """Measure one row in this process and print it."""
    graph = load(Path(job["graphs"]), job["graph"])
    scratch = Path(job["scratch"])
    if not graph.metis_file.exists():
        graph = BenchmarkGraph(graph.name, graph.xadj, graph.adjncy, scratch / f"{graph.name}.graph")
    fixed = fixed_face(graph, job["fixed"]) if job["fixed"] else None
    begin = time.perf_counter()
    call = peers.TOOLS[job["tool"]].adapter(
        peers.Task(graph, job["k"], job["eps"], job["seed"], job["threads"], fixed))
    built = time.perf_counter() - begin
    growth.forget_peak()
    base = growth.memory("VmRSS")
    cpu, begin = time.process_time(), time.perf_counter()
    labels = call()
    seconds, cpu = time.perf_counter() - begin, time.process_time() - cpu
    peak = growth.memory("VmHWM")
    begin = time.perf_counter()
    row = figures(graph, labels, job["k"], job["eps"], job["pieces"], fixed)
    row |= {"seconds": round(seconds, 5), "cpu_s": round(cpu, 5), "build_s": round(built, 4),
            "rss_mb": round(peak, 1), "base_mb": round(base, 1), "judged": time.perf_counter() - begin}
    print("\n" + MARK + json.dumps(row), flush=True)
    os._exit(0)  # some thread pools do not come down by themselves


if __name__ == "__main__":
    child(json.loads(sys.argv[1]))
