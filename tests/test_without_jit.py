"""Kernels give the same bytes compiled and as plain Python."""

from __future__ import annotations

import hashlib
import json
import os
import subprocess
import sys

import numpy as np
import pytest

from .helpers import ROOT, grid


def digest(*arrays: np.ndarray) -> str:
    return hashlib.sha256(b"".join(np.ascontiguousarray(a).tobytes() for a in arrays)).hexdigest()[:16]


def results() -> dict[str, str]:
    """One short digest a stage, on small inputs."""
    from copart.coupling import CoupledProblem, Interedges
    from copart.kgggp_ml import partition
    from copart.mesh import cube, dual_graph, find_interedges
    from copart.operators import repart
    from copart.partitioner.geometric.methods import METHODS, partition_points
    from copart.partitioner.multijagged import multijagged
    from copart.schemes.registry import SCHEMES

    out = {}
    g = grid(9, 10)
    weighted = grid(9, 10, vwgt=1 + np.arange(90) % 4)
    fixed = np.full(90, -1)
    fixed[:10] = np.arange(10) // 5
    for preset in ("fast", "default", "strong", "best"):
        out[f"part {preset}"] = digest(partition(g, 4, preset=preset))
    out["part weighted"] = digest(partition(weighted, 5, eps=0.1, seed=3))
    out["part fixed"] = digest(partition(g, 4, fixed=fixed))
    for method in ("mxn", "scratch-remap", "diffusive"):
        out[f"repart {method}"] = digest(repart(g, np.arange(90) * 5 // 90, 5, 7, method=method))
    side = np.arange(10)
    problem = CoupledProblem.of_two(g, grid(10, 10), Interedges.from_pairs(90, 100, 80 + side, side))
    for name, scheme in SCHEMES.items():
        made = scheme.run(problem, (3, 4), (2, 2))
        out[name] = digest(made.a, made.b)
    points = np.random.default_rng(1).integers(0, 40, (300, 3)) * np.array([1, 0.3, 7])
    for method in METHODS:
        out[method] = digest(partition_points(points, 7, method, weights=np.arange(300) % 5).part)
    out["multijagged searched"] = digest(multijagged(points, 7, eps=0.0).part, multijagged(points, 7, eps=0.1).boxes)
    a, b = cube("hexa", 3), cube("tetra", 120, offset=(1, 0, 0))
    out["dual"] = digest(dual_graph(b).xadj, dual_graph(b).adjncy)
    for kind in ("facet", "touch"):
        found = find_interedges(a, b, kind)
        # areas are sums of products, which a compiler may contract; ten digits are asked for
        out[f"interedges {kind}"] = digest(found.indptr, found.indices, np.round(found.weights, 10) + 0.0)
    return out


@pytest.fixture(scope="module")
def both() -> tuple[dict[str, str], dict[str, str]]:
    """The digests of this process, and of one with the opposite setting."""
    here = results()
    other = dict(os.environ)
    if other.get("NUMBA_DISABLE_JIT") == "1":
        del other["NUMBA_DISABLE_JIT"]
    else:
        other["NUMBA_DISABLE_JIT"] = "1"
    code = "import json; from tests.test_without_jit import results; print(json.dumps(results()))"
    command = [sys.executable, "-c", code]
    done = subprocess.run(command, capture_output=True, text=True, cwd=ROOT, env=other, check=False)
    assert done.returncode == 0, done.stderr
    return here, json.loads(done.stdout.splitlines()[-1])


def test_compiled_and_plain_agree(both):
    here, there = both
    assert len(here) >= 14
    assert here == there


def test_digests_tell_results_apart(both):
    here, _ = both
    assert here["part default"] != here["part fixed"]
    assert here["repart mxn"] != here["repart diffusive"]
