"""Slow twins of the partitioner's kernels, hard instances, and packings that prove that a balanced partition exists."""

from __future__ import annotations

from collections import defaultdict
from dataclasses import dataclass
from typing import Any

import numpy as np
from hypothesis import strategies as st

from copart.graph import Graph
from copart.kernels import Level, Pull
from copart.metrics import max_part_weights

from .helpers import grid
from .reference import rows

NONE = np.zeros(0, np.int32)
NO_PULL = Pull(np.zeros(1, np.int64), NONE, np.zeros(0, np.int64))


# ---- graphs
def path(n: int, **fields: Any) -> Graph:
    return Graph.from_edges(n, np.arange(n - 1), np.arange(1, n), **fields)


def star(n: int, **fields: Any) -> Graph:
    """Vertex 0 joined to all others."""
    return Graph.from_edges(n, np.zeros(n - 1, int), np.arange(1, n), **fields)


def complete(n: int, **fields: Any) -> Graph:
    return Graph.from_edges(n, *np.triu_indices(n, 1), **fields)


def tree(n: int, rng: np.random.Generator, **fields: Any) -> Graph:
    """Every vertex joined to a random earlier one."""
    return Graph.from_edges(n, [int(rng.integers(0, v)) for v in range(1, n)], np.arange(1, n), **fields)


def scale_free(n: int, rng: np.random.Generator, each: int = 3) -> Graph:
    """Every vertex joined to `each` ends of earlier edges: few hubs of large degree."""
    ends = [0, 1]
    u, v = [0], [1]
    for x in range(2, n):
        for y in {ends[int(i)] for i in rng.integers(0, len(ends), each)}:
            u.append(x)
            v.append(y)
            ends += [x, y]
    return Graph.from_edges(n, u, v)


def random_edges(n: int, m: int, rng: np.random.Generator) -> tuple[np.ndarray, np.ndarray]:
    u, v = rng.integers(0, max(n, 1), (2, m if n > 1 else 0))
    return u[u != v], v[u != v]


def shaped(shape: str, n: int, rng: np.random.Generator) -> Graph:
    """A graph of about `n` vertices (at least one) of the named shape."""
    if shape == "path":
        return path(n)
    if shape == "star":
        return star(n)
    if shape == "complete":
        return complete(min(n, 14))
    if shape == "tree":
        return tree(n, rng)
    if shape == "grid":
        side = max(1, int(n**0.5))
        return grid(side, side)
    if shape == "islands":
        u, v = random_edges(n, n // 3, rng)
        return Graph.from_edges(n, u, v)
    if shape == "no edges":
        return Graph.from_edges(n, [], [])
    u, v = random_edges(n, 3 * n, rng)
    return Graph.from_edges(n, u, v)


SHAPES = ("random", "path", "star", "complete", "tree", "grid", "islands", "no edges")


def drawn_weights(kind: str, n: int, rng: np.random.Generator) -> np.ndarray | None:
    """Vertex weights of the named kind; None is all 1."""
    if kind == "unit":
        return None
    if kind == "zero or one":
        return rng.integers(0, 2, n)
    if kind == "zero":
        return np.zeros(n, int)
    if kind == "small":
        return rng.integers(0, 6, n)
    return np.minimum(rng.zipf(1.6, n), 10**6)  # heavy tails


@dataclass(frozen=True)
class Case:
    """A call of the partitioner."""

    graph: Graph
    nparts: int
    eps: float
    seed: int
    fixed: np.ndarray | None = None
    tpwgts: np.ndarray | None = None

    def __repr__(self) -> str:
        return (f"Case({self.graph!r}, nparts={self.nparts}, eps={self.eps}, seed={self.seed}, "
                f"edges={[x.tolist() for x in self.graph.edges()]}, vwgt={self.graph.weights.tolist()}, "
                f"fixed={None if self.fixed is None else self.fixed.tolist()}, "
                f"tpwgts={None if self.tpwgts is None else self.tpwgts.tolist()})")

    @property
    def options(self) -> dict[str, Any]:
        return {"eps": self.eps, "seed": self.seed, "fixed": self.fixed, "tpwgts": self.tpwgts}

    @property
    def limit(self) -> np.ndarray:
        return max_part_weights(self.graph.total_weight, self.nparts, self.eps, self.tpwgts)


@st.composite
def cases(draw: Any, weights: tuple[str, ...] = ("unit", "zero or one", "zero", "small", "heavy"), max_nvtxs: int = 60,
          fixed: bool = True, tpwgts: bool = True) -> Case:
    """Graphs of all shapes, all numbers of parts, tolerances, fixed vertices and target shares."""
    rng = np.random.default_rng(draw(st.integers(0, 2**32 - 1)))
    graph = shaped(draw(st.sampled_from(SHAPES)), draw(st.integers(1, max_nvtxs)), rng)
    n = graph.nvtxs
    u, v, _ = graph.edges()
    ewgt = rng.integers(0, 7, len(u)) if draw(st.booleans()) else None
    graph = Graph.from_edges(n, u, v, ewgt, vwgt=drawn_weights(draw(st.sampled_from(weights)), n, rng))
    k = draw(st.integers(1, n))
    pinned = None
    if fixed and draw(st.booleans()):
        pinned = np.where(rng.random(n) < draw(st.sampled_from([0.1, 0.5, 0.9, 1.0])), rng.integers(0, k, n), -1)
    shares = rng.uniform(0.2, 3.0, k) if tpwgts and draw(st.integers(0, 3)) == 0 else None
    return Case(graph, k, draw(st.sampled_from([0.0, 0.01, 0.05, 0.5])), int(rng.integers(0, 1000)), pinned, shares)


# ---- whether a balanced partition exists
def excuses(case: Case) -> set[str]:
    """Why no balanced partition can exist, by the plain rules: what an error may begin with.  They do not know all."""
    g, limit = case.graph, case.limit
    found = set()
    if case.nparts > g.nvtxs:
        found.add("nparts")
    pinned = np.full(g.nvtxs, -1) if case.fixed is None else case.fixed
    held = [0] * case.nparts
    for v in range(g.nvtxs):
        if pinned[v] >= 0:
            held[pinned[v]] += int(g.weights[v])
        elif g.weights[v] > max(limit):
            found.add("vwgt")
    missing = set(range(case.nparts)) - set(pinned.tolist())
    if any(w > most for w, most in zip(held, limit, strict=True)) or len(missing) > int((pinned < 0).sum()):
        found.add("fixed")
    return found


def packing(case: Case) -> list[int] | None:
    """Parts that keep all limits, with none empty, from first-fit and best-fit decreasing; None where both fail."""
    for best_fit in (False, True):
        part = [-1] * case.graph.nvtxs if case.fixed is None else case.fixed.tolist()
        room = case.limit.tolist()
        members = [0] * case.nparts
        for v, p in enumerate(part):
            if p >= 0:
                room[p] -= int(case.graph.weights[v])
                members[p] += 1
        order = sorted((v for v, p in enumerate(part) if p < 0), key=lambda v: -int(case.graph.weights[v]))
        for v in order:
            w = int(case.graph.weights[v])
            fits = [p for p in range(case.nparts) if room[p] >= w]
            if not fits:
                break
            # an empty part that fits before others, so that none is left empty
            p = min(fits, key=lambda p: (members[p] > 0, room[p] if best_fit else p))
            part[v] = p
            room[p] -= w
            members[p] += 1
        if min(part, default=0) >= 0 and min(members) > 0:
            return part
    return None


def exists(case: Case) -> bool:
    """Whether any partition keeps all limits and leaves no part empty: exhaustive, for tiny cases."""
    g = case.graph
    part = [-1] * g.nvtxs if case.fixed is None else case.fixed.tolist()
    room = case.limit.tolist()
    members = [0] * case.nparts
    for v, p in enumerate(part):
        if p >= 0:
            room[p] -= int(g.weights[v])
            members[p] += 1
    if min(room) < 0:
        return False
    order = sorted((v for v, p in enumerate(part) if p < 0), key=lambda v: -int(g.weights[v]))
    seen: set[tuple[Any, ...]] = set()

    def place(i: int) -> bool:
        if sum(m == 0 for m in members) > len(order) - i:
            return False
        if i == len(order):
            return True
        state = (i, tuple(sorted(zip(room, (m > 0 for m in members), strict=True))))
        if state in seen:
            return False
        seen.add(state)
        w = int(g.weights[order[i]])
        for p in range(case.nparts):
            if room[p] >= w:
                room[p] -= w
                members[p] += 1
                found = place(i + 1)
                room[p] += w
                members[p] -= 1
                if found:
                    return True
        return False

    return place(0)


# ---- kernels' view of a graph, and twins
def level(graph: Graph, fixed: Any = None, origin: Any = None) -> Level:
    """A graph as kernels see it, in memory of its own."""
    none = np.zeros(0, np.int32)
    pinned = none if fixed is None else np.array(fixed, np.int32)
    rows_of = none if origin is None else np.array(origin, np.int32)
    size = np.zeros(0, np.int64) if origin is None else graph.sizes.copy()
    arrays = (graph.xadj, graph.adjncy, graph.kernel_ewgt, graph.weights)
    return Level(*(a.copy() for a in arrays), pinned, rows_of, size)


def graph_of(g: Level) -> Graph:
    """A level as a (validated) graph: rows sorted, both directions equal."""
    return Graph(g.xadj, g.adjncy, g.ewgt if len(g.ewgt) else None, g.vwgt)


def loads(graph: Graph, part: Any, k: int) -> tuple[np.ndarray, np.ndarray]:
    """Weight and population of each part, as kernels keep them."""
    pwgt, population = np.zeros(k, np.int64), np.zeros(k, np.int64)
    for v in range(graph.nvtxs):
        pwgt[part[v]] += int(graph.weights[v])
        population[part[v]] += 1
    return pwgt, population


def contracted(graph: Graph, cmap: Any) -> tuple[dict[int, int], dict[tuple[int, int], int]]:
    """Weights of clusters, and of the edges between them (smaller number first)."""
    weight: dict[int, int] = defaultdict(int)
    between: dict[tuple[int, int], int] = defaultdict(int)
    for v, row in rows(graph).items():
        weight[int(cmap[v])] += int(graph.weights[v])
        for u, w in row.items():
            a, b = int(cmap[v]), int(cmap[u])
            if a < b:
                between[a, b] += w
    return dict(weight), dict(between)


def connectivity(graph: Graph, part: Any, v: int, table: Any = None, origin: Any = None) -> dict[int, int]:
    """Weight that joins v to every part: edges, and what it gains from an affinity table."""
    joined: dict[int, int] = defaultdict(int)
    for u, w in rows(graph)[v].items():
        joined[int(part[u])] += w
    if table is not None:
        for p, gain in enumerate(table[origin[v]]):
            if gain:
                joined[p] += int(gain) * int(graph.sizes[v])
    return dict(joined)


def objective(graph: Graph, part: Any, table: Any = None, origin: Any = None) -> int:
    """Edge cut, minus what all vertices gain from an affinity table."""
    cut = sum(w for v, row in rows(graph).items() for u, w in row.items() if v < u and part[u] != part[v])
    if table is None:
        return cut
    return cut - sum(int(table[origin[v]][part[v]]) * int(graph.sizes[v]) for v in range(graph.nvtxs))


def pull_of(table: Any) -> Pull:
    """An affinity table by rows, for kernels."""
    ptr, idx, val = [0], [], []
    for row in np.asarray(table).tolist():
        for p, gain in enumerate(row):
            if gain:
                idx.append(p)
                val.append(gain)
        ptr.append(len(idx))
    return Pull(np.array(ptr, np.int64), np.array(idx, np.int32), np.array(val, np.int64))


def grown(graph: Graph, k: int, seed: int) -> np.ndarray:
    """The plain baseline: one part after the other, breadth first from a random free vertex, up to its share."""
    rng = np.random.default_rng(seed)
    near = rows(graph)
    part = np.full(graph.nvtxs, -1, np.int32)
    left = graph.nvtxs
    for p in range(k):
        want = -(-left // (k - p))
        left -= want
        queue: list[int] = []
        while want:
            if not queue:
                queue.append(int(rng.choice(np.flatnonzero(part < 0))))
            v = queue.pop(0)
            if part[v] >= 0:
                continue
            part[v] = p
            want -= 1
            queue += [u for u in near[v] if part[u] < 0]
    return part


def scattered(n: int, k: int, seed: int) -> np.ndarray:
    """A random partition into parts of equal size."""
    return np.random.default_rng(seed).permutation(np.arange(n) % k).astype(np.int32)
