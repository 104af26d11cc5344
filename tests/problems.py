"""Random problems of every kind, answered soundly or refused in one error: ``python -m tests.problems --count 5000``.

Problem number i is the same for a given seed.  What comes back is judged by :mod:`copart.checks`, which shares no code
with what made it.  With ``NUMBA_BOUNDSCHECK=1`` and a kernel cache of its own every access of the compiled kernels to
an array is checked as well (``make test-bounds``).
"""

from __future__ import annotations

import argparse
import logging
import time
import traceback
from collections import Counter
from collections.abc import Callable
from itertools import pairwise
from typing import Any

import numpy as np

import copart
from copart import CoPartition, CoupledProblem, Graph, Interedges
from copart.checks import Report, check_copartition, check_partition
from copart.errors import CopartError
from copart.kgggp_ml import refine
from copart.mapping import map_graph
from copart.mapping.architectures.architecture import Complete
from copart.mapping.architectures.regular import Grid, Hypercube, Torus
from copart.mapping.architectures.tree import TreeLeaf
from copart.repart import METHODS, repartition
from copart.schemes.registry import SCHEMES, run_scheme

from .partition_reference import SHAPES, drawn_weights, scale_free, shaped

Random = np.random.Generator
PRESETS = ("fast", "default", "strong", "best")
WEIGHTS = ("unit", "zero or one", "zero", "small", "heavy")
MACHINES = (Hypercube(3), Torus([3, 4]), Grid([2, 2, 3]), Complete(7), TreeLeaf([3, 2], [4, 1]))
TOLERANCES = (0.0, 0.01, 0.03, 0.05, 0.1, 0.3, 0.6, 0.99)


def graph(rng: Random, most: int = 300) -> Graph:
    """Any graph of up to `most` vertices; every fourth is dense."""
    n = int(rng.integers(1, max(2, int(most ** rng.random()) + 2)))
    kind = rng.random()
    if kind < 0.15:
        u, v = np.triu_indices(min(n, 40), 1)
        g = Graph.from_edges(min(n, 40), u, v, rng.integers(0, 9, len(u)))
    elif kind < 0.25:
        n = min(n, 60)
        keep = rng.random((n, n)) < 0.4
        g = Graph.from_edges(n, *np.nonzero(np.triu(keep, 1)))
    elif kind < 0.35:
        g = scale_free(max(n, 3), rng)
    else:
        g = shaped(str(rng.choice(SHAPES)), n, rng)
    if rng.random() < 0.3 and g.nedges:
        u, v, _ = g.edges()
        g = Graph.from_edges(g.nvtxs, u, v, rng.integers(0, 6, len(u)) if rng.random() < 0.7 else
                             np.minimum(rng.zipf(1.5, len(u)), 10**7))
    weights = drawn_weights(str(rng.choice(WEIGHTS)), g.nvtxs, rng)
    return g if weights is None else g.replace(vwgt=weights)


def effort(rng: Random, g: Graph) -> dict[str, Any]:
    """Preset, seed and threads; the dearest preset for small graphs only."""
    preset = str(rng.choice(PRESETS[:3 if g.nvtxs > 40 or rng.random() < 0.7 else 4]))
    return {"preset": preset, "seed": int(rng.integers(0, 2**31 - 1)), "threads": int(rng.integers(1, 4))}


def fixed_vertices(rng: Random, n: int, k: int) -> np.ndarray:
    """Some vertices, few or most, each in a part of its own choice."""
    out = np.full(n, -1)
    held = rng.random(n) < rng.choice([0.05, 0.3, 0.9])
    out[held] = rng.integers(0, k, int(held.sum()))
    return out


def of_one(rng: Random) -> Report:
    """A partition: fixed vertices, shares, several weights, connected parts."""
    g = graph(rng)
    k = int(rng.integers(1, min(g.nvtxs, 24) + 1)) if rng.random() < 0.9 else g.nvtxs
    eps = float(rng.choice(TOLERANCES))
    given: dict[str, Any] = effort(rng, g)
    kind = rng.random()
    if kind < 0.35:
        given["fixed"] = fixed_vertices(rng, g.nvtxs, k)
    elif kind < 0.5:
        given["tpwgts"] = rng.random(k) + 0.05
    elif kind < 0.65:
        given["contiguous"] = True
    elif kind < 0.8:
        g = g.replace(vwgt=rng.integers(0, 5, (g.nvtxs, int(rng.integers(2, 4)))))
    part = copart.part(g, k, eps=eps, **given)
    report = check_partition(g, part, k, eps, given.get("fixed"), given.get("tpwgts"))
    if given.get("contiguous") and report.figures["max_pieces"] > 1 \
            and check_partition(g, np.zeros(g.nvtxs, int), 1).figures["pieces"] == 1:
        raise AssertionError(f"a part of {report.figures['max_pieces']} pieces of a connected graph")
    return report


def of_change(rng: Random) -> Report:
    """A partition that is refined, or made anew near a former one."""
    g = graph(rng)
    m, n = (int(rng.integers(1, min(g.nvtxs, 16) + 1)) for _ in range(2))
    former = rng.integers(0, m, g.nvtxs) if rng.random() < 0.5 else np.sort(rng.integers(0, m, g.nvtxs))
    eps, run = float(rng.choice(TOLERANCES)), effort(rng, g)
    if rng.random() < 0.3:
        part, n = refine(g, former, m, eps=eps, **run), m
    else:
        method = str(rng.choice(sorted(METHODS)))
        part = repartition(g, former, m, n, eps=eps, method=method, **run)
    return check_partition(g, part, n, eps)


def coupled(rng: Random) -> CoupledProblem:
    """Two or three components, chained by random interedges, few or dense."""
    graphs = {name: graph(rng, 80) for name in "abc"[:2 + (rng.random() < 0.3)]}
    names = list(graphs)
    pairs = {}
    for a, b in pairwise(names):
        n, m = graphs[a].nvtxs, graphs[b].nvtxs
        count = int(rng.integers(1, 2 + int(rng.choice([3, n, n * m // 2 + 1]))))
        u, v = rng.integers(0, n, count), rng.integers(0, m, count)
        pairs[a, b] = Interedges.from_pairs(n, m, u, v, rng.random(count) + 0.1 if rng.random() < 0.5 else None)
    return CoupledProblem(graphs, pairs)


def of_several(rng: Random) -> Report:
    """A co-partition by any scheme, and another near it after a change of loads."""
    problem = coupled(rng)
    scheme = str(rng.choice(list(SCHEMES)))
    eps, run = float(rng.choice(TOLERANCES)), {"seed": int(rng.integers(0, 99)), "preset": str(rng.choice(PRESETS[:3]))}
    counts = {name: int(rng.integers(1, min(g.nvtxs, 12) + 1)) for name, g in problem.components.items()}
    pool = scheme == "monolithic"
    made = run_scheme(scheme, problem, max(counts.values()) if pool else counts, eps=eps, **run)
    report = judged(problem, made, scheme, eps)
    if report.ok and rng.random() < 0.3:
        loads = {name: g.replace(vwgt=rng.integers(1, 4, g.nvtxs)) for name, g in problem.components.items()}
        problem = CoupledProblem(loads, problem.pairs)
        made = copart.corepartition(problem, made, scheme=scheme, eps=eps, **run)
        report = judged(problem, made, scheme, eps)
    return report


def judged(problem: CoupledProblem, made: CoPartition, scheme: str, eps: float) -> Report:
    """`multiconstraint` may exceed the limit of coupled cells of unequal weight, by the heaviest of them (its text)."""
    if "multiconstraint" in (scheme, made.scheme):
        made = CoPartition(made.parts, made.nparts, dict.fromkeys(made.names))
    return check_copartition(problem, made, eps)


def of_machine(rng: Random) -> Report:
    """A mapping onto a machine."""
    g = graph(rng)
    machine = MACHINES[int(rng.integers(len(MACHINES)))]
    part = map_graph(g, machine, eps=float(rng.choice(TOLERANCES)), seed=int(rng.integers(0, 99)))
    return check_partition(g, part, machine.nprocs, may_be_empty=True)


#: As many as have no divisor with `--step` in common, so that every third problem is still of every kind.
KINDS: tuple[Callable[[Random], Report], ...] = (of_one, of_one, of_change, of_several, of_machine)


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--count", type=int, default=2000)
    parser.add_argument("--first", type=int, default=0, help="number of the first problem")
    parser.add_argument("--step", type=int, default=1, help="take every so many")
    parser.add_argument("--seed", type=int, default=1)
    args = parser.parse_args()
    logging.getLogger("copart").setLevel(logging.CRITICAL)
    seen: Counter[str] = Counter()
    begin, wrong = time.perf_counter(), 0
    for i in range(args.first, args.count, args.step):
        kind = KINDS[i % len(KINDS)]
        try:
            report = kind(np.random.default_rng([args.seed, i]))
        except CopartError as error:
            seen[f"{kind.__name__} refused ({type(error).__name__})"] += 1
        except Exception:
            wrong += 1
            print(f"problem {i} ({kind.__name__}): {traceback.format_exc()}", flush=True)
        else:
            seen[kind.__name__] += 1
            if not report.ok:
                wrong += 1
                print(f"problem {i} ({kind.__name__}): {report}", flush=True)
    for what, count in sorted(seen.items()):
        print(f"{count:6d} {what}")
    print(f"{sum(seen.values())} problems in {time.perf_counter() - begin:.0f} s, {wrong} wrong")
    return 1 if wrong else 0


if __name__ == "__main__":
    raise SystemExit(main())
