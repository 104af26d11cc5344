"""Same seed same bytes: on any number of threads, in any process, with and without compiled kernels."""

from __future__ import annotations

import hashlib
import json
import os
import subprocess
import sys
from dataclasses import replace
from itertools import pairwise
from typing import Any

import numpy as np
import pytest

from copart.coupling import CoupledProblem, Interedges
from copart.kgggp_ml import partition
from copart.operators import part, proj, repart
from copart.options import PRESETS
from copart.partitioner import rounds
from copart.partitioner.affinity import Affinity
from copart.schemes.registry import SCHEMES

from .conftest import NO_JIT
from .helpers import ROOT, grid
from .partition_reference import scale_free, tree


def digest(*arrays: np.ndarray) -> str:
    return hashlib.sha256(b"".join(np.ascontiguousarray(a).tobytes() for a in arrays)).hexdigest()[:16]


# ---- compiled and plain
def small_results() -> dict[str, str]:
    """One digest a use of the partitioner, on graphs of a few hundred vertices."""
    rng = np.random.default_rng(11)
    g = grid(14, 16)
    n = g.nvtxs
    u, v, _ = g.edges()
    weighted = grid(14, 16, vwgt=rng.integers(0, 5, n), vsize=rng.integers(0, 4, n))
    edges = type(g).from_edges(n, u, v, rng.integers(0, 9, len(u)))
    fixed = np.where(rng.random(n) < 0.1, rng.integers(0, 5, n), -1)
    table = Affinity(np.arange(n) * 3 // n, rng.integers(0, 3, (3, 5)))
    out = {}
    for preset in ("fast", "default"):
        out[f"plain {preset}"] = digest(partition(g, 5, preset=preset))
        out[f"fixed {preset}"] = digest(partition(g, 5, preset=preset, fixed=fixed))
        out[f"affinity {preset}"] = digest(partition(weighted, 5, preset=preset, affinity=table))
    # several levels, flows, children
    deep = replace(PRESETS["strong"], coarse_per_part=3, coarse_least=16, cooling=6, members=2, generations=1)
    out["deep"] = digest(partition(edges, 4, preset=deep), partition(g, 5, preset=deep, fixed=fixed))
    out["edge weights"] = digest(partition(edges, 4, eps=0.01, seed=5))
    out["shares"] = digest(partition(weighted, 3, tpwgts=[1, 2, 4], eps=0.1))
    out["exact"] = digest(partition(tree(300, np.random.default_rng(3)), 7, eps=0.0))
    new = rng.permutation(n)
    out["shuffled"] = digest(partition(type(g).from_edges(n, new[u], new[v]), 5, preset=deep))
    out["hubs"] = digest(partition(scale_free(200, np.random.default_rng(3)), 4))
    old = np.arange(n) * 5 // n
    for method in ("mxn", "scratch-remap", "diffusive"):
        out[f"repart {method}"] = digest(repart(g, old, 5, 7, method=method))
    other = grid(12, 13)
    inter = Interedges.from_pairs(n, 156, np.arange(14) * 16 + 15, np.arange(14) * 12 // 14 * 13)
    out["proj"] = digest(proj(g, other, inter, part(g, 4), 4))
    problem = CoupledProblem.of_two(g, other, inter)
    for name, scheme in SCHEMES.items():
        made = scheme.run(problem, (4, 5), (2, 3))
        out[name] = digest(made.a, made.b)
    return out


@pytest.fixture(scope="module")
def here_and_there() -> tuple[dict[str, str], dict[str, str]]:
    """The digests of this process, and of one with the opposite setting."""
    other = dict(os.environ)
    other["NUMBA_DISABLE_JIT"] = "0" if NO_JIT else "1"
    code = "import json; from tests.test_determinism import small_results; print(json.dumps(small_results()))"
    command = [sys.executable, "-c", code]
    done = subprocess.run(command, capture_output=True, text=True, cwd=ROOT, env=other, check=False, timeout=240)
    assert done.returncode == 0, done.stderr
    return small_results(), json.loads(done.stdout.splitlines()[-1])


@pytest.mark.parametrize("use", ["plain", "fixed", "affinity", "deep", "edge weights", "shares", "exact",
                                 "shuffled", "hubs", "repart", "proj", *SCHEMES])
def test_compiled_and_plain_kernels_agree(here_and_there, use):
    here, there = here_and_there
    names = [name for name in here if name.startswith(use)]
    assert names
    assert {name: here[name] for name in names} == {name: there[name] for name in names}


def test_uses_differ(here_and_there):
    """Digests that are all alike would prove nothing."""
    here, _ = here_and_there
    alone = [name for name in here if not name.endswith(("default", "fast"))]
    assert len({here[name] for name in alone}) >= len(alone) - 2, here
    assert len({here["plain default"], here["fixed default"], here["affinity default"]}) == 3


# ---- threads
def large() -> dict[str, tuple[Any, int, dict[str, Any]]]:
    """Graphs whose first levels are all cut into pieces: more than two grains of vertices."""
    rng = np.random.default_rng(2)
    n = 200 * 200
    fixed = np.full(n, -1)
    fixed[:200] = np.arange(200) // 50
    hubs = scale_free(12_000, rng)
    u, v, _ = grid(200, 200).edges()
    new, keep = rng.permutation(n), rng.random(len(u)) < 0.9
    holes = type(hubs).from_edges(n, new[u[keep]], new[v[keep]])
    return {
        "grid": (grid(200, 200), 12, {}),
        "grid with weights": (grid(200, 200, vwgt=rng.integers(0, 4, n)), 7, {"eps": 0.02}),
        "fixed": (grid(200, 200), 8, {"fixed": fixed}),
        "affinity": (grid(200, 200), 6, {"affinity": Affinity(np.arange(n) * 4 // n, rng.integers(0, 3, (4, 6)))}),
        "hubs": (hubs, 5, {}),
        "fast": (grid(200, 200), 12, {"preset": "fast"}),
        "holes, shuffled": (holes, 9, {}),
        "flows": (grid(100, 100), 9, {"preset": replace(PRESETS["default"], reach=8, members=2, generations=1)}),
    }


if not NO_JIT:
    LARGE = large()
else:  # plain Python cannot split work and would take minutes
    LARGE = {}


@pytest.mark.parametrize("name", LARGE)
def test_threads_make_no_difference(name, monkeypatch):
    graph, k, options = LARGE[name]
    split = []
    run = rounds.Team.run

    def watched(self, kernel, n, *args, **more):
        split.append(self.pieces(n))
        return run(self, kernel, n, *args, **more)

    one = partition(graph, k, **options)
    monkeypatch.setattr(rounds.Team, "run", watched)
    for threads in (2, 3):
        split.clear()
        other = partition(graph, k, threads=threads, **options)
        assert other.tobytes() == one.tobytes(), f"{threads} threads differ from 1"
        assert max(split) == min(threads, graph.nvtxs // rounds.GRAIN), "the work was not split, so nothing was tested"


@pytest.mark.parametrize("threads", [2, 3])
def test_small_pieces_make_no_difference(threads, monkeypatch):
    """A grain of 16 vertices splits every level and every list, down to the coarsest graph."""
    rng = np.random.default_rng(6)
    g = grid(60, 60, vwgt=rng.integers(0, 5, 3600))
    fixed = np.where(rng.random(3600) < 0.05, rng.integers(0, 6, 3600), -1)
    uses = [{"fixed": fixed}, {"affinity": Affinity(np.arange(3600) // 900, rng.integers(0, 3, (4, 6)))},
            {"preset": "strong"}, {}]
    want = [partition(g, 6, eps=0.03, **u) for u in uses]
    monkeypatch.setattr(rounds, "GRAIN", 16)
    for use, one in zip(uses, want, strict=True):
        assert (partition(g, 6, eps=0.03, threads=threads, **use) == one).all(), sorted(use)


def test_schemes_on_threads():
    face = np.arange(100)
    a, b = grid(100, 100), grid(100, 120)
    problem = CoupledProblem.of_two(a, b, Interedges.from_pairs(10_000, 12_000, face * 100 + 99, face * 120))
    for scheme in SCHEMES.values():
        one, two = (scheme.run(problem, (6, 8), (3, 4), threads=t) for t in (1, 2))
        assert one.a.tobytes() == two.a.tobytes()
        assert one.b.tobytes() == two.b.tobytes()


# ---- the team
def test_team_cuts_a_range_once_and_in_order():
    for threads in (1, 2, 3, 5):
        with rounds.Team(threads) as team:
            got = team.run(lambda lo, hi: (lo, hi), 50_000)
            assert len(got) == threads == team.pieces(50_000)
            assert got[0][0] == 0
            assert got[-1][1] == 50_000
            assert all(a[1] == b[0] for a, b in pairwise(got))
            assert team.run(lambda lo, hi: (lo, hi), 10) == [(0, 10)]
            assert team.run(lambda lo, hi, extra: (lo, hi, extra), 9, bounds=np.array([0, 2, 9]),
                            scratch=lambda: ("mine",)) == [(0, 2, "mine"), (2, 9, "mine")]


def test_errors_on_threads_are_raised():
    def fail(lo, hi):
        if lo:
            raise ZeroDivisionError("in a thread")

    with rounds.Team(2) as team, pytest.raises(ZeroDivisionError, match="in a thread"):
        team.run(fail, 50_000)


# ---- seeds
def test_same_seed_same_bytes_other_seed_other_partition():
    g = grid(60, 60)
    first = partition(g, 9, seed=3)
    assert partition(g, 9, seed=3).tobytes() == first.tobytes()
    assert len({partition(g, 9, seed=s).tobytes() for s in range(1, 7)}) >= 5, "seeds give different partitions"


def test_results_do_not_depend_on_what_ran_before():
    g = grid(30, 30)
    fresh = partition(g, 5)
    np.random.seed(99)  # noqa: NPY002 -- the global generator must not matter
    partition(grid(50, 60), 11, seed=77)
    np.random.rand(3)  # noqa: NPY002
    assert (partition(g, 5) == fresh).all()
