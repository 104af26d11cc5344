"""Refinement of parts of exactly given sizes by negative cycles of moves.

A local search records at most one move for each ordered pair of parts, of vertices none of which are equal or
adjacent; the gains of such moves add up, whichever of them are applied.  The moves are the edges of a quotient graph
with weight -gain.  A negative cycle in it lowers the cut and keeps every size; where parts are too large, a shortest
path from one of them to one that is too small balances the sizes at the least cost.  Nothing else is ever applied, so
that the result has the sizes asked for, whatever it started from.
(N. Tihon, Graph Partitioning and its application to MPI, 2024, Section 4.1.3; P. Sanders and C. Schulz, Think Locally,
Act Globally, 2013.)
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import ArrayLike, NDArray

from ...arrays import OFFSET, VERTEX, WEIGHT, integers, part_array, sums
from ...errors import MappingError
from ...graph import Graph
from .kgg import check_capacities, kernel_level

#: Local searches without a usable move, each over all vertices, after which refinement ends.
PATIENCE = 3
_FAR = 2**62


class Moves(NamedTuple):
    """Moves of vertices none of which are equal or adjacent: edges of the quotient graph, all (m,).

    tail int32 and head int32 are the part left and the part entered, vertex int32 moves, gain int64 is what the cut
    falls by.
    """

    tail: NDArray[np.int32]
    head: NDArray[np.int32]
    vertex: NDArray[np.int32]
    gain: NDArray[np.int64]


class Refinement:
    """A partition under refinement: parts, their weights, and every vertex' connections to them.

    Parameters
    ----------
    graph : Graph
    part : (n,) array_like of int
        Is copied.
    capacities : (k,) array_like of int
        Weight each part is to have.
    """

    def __init__(self, graph: Graph, part: ArrayLike, capacities: ArrayLike):
        from ...kernels.negative_cycles import Members, connect

        self.graph, self.cap = graph, integers("capacities", capacities, WEIGHT, MappingError, low=0)
        n, k = graph.nvtxs, len(self.cap)
        self.part = part_array("part", part, n, k, MappingError).copy()
        self.size = sums(self.part, graph.weights, k)
        self.conn = np.zeros((n, k), WEIGHT)
        self._level = kernel_level(graph)
        connect(self._level, self.part, self.conn)
        # at most one move per ordered pair of parts, and per vertex
        rows = min(k * max(k - 1, 0), n)
        self._moves = Moves(tail=np.empty(rows, VERTEX), head=np.empty(rows, VERTEX), vertex=np.empty(rows, VERTEX),
                            gain=np.empty(rows, WEIGHT))
        self._members = Members(first=np.empty(k + 1, OFFSET), vertices=np.empty(n, VERTEX),
                                eligible=np.empty(n, np.bool_))

    @property
    def excess(self) -> int:
        """Weight above the capacities, summed over the parts."""
        return int(np.maximum(self.size - self.cap, 0).sum())

    def best_gains(self) -> tuple[NDArray[np.int64], NDArray[np.bool_]]:
        """(k, k) int64 largest gain of a move from part i to part j, and (k, k) bool whether any edge joins them."""
        from ...kernels.negative_cycles import best_gains

        k = len(self.cap)
        best, adjacent = np.full((k, k), -_FAR, WEIGHT), np.zeros((k, k), np.bool_)
        best_gains(self.part, self.conn, best, adjacent)
        return best, adjacent

    def search(self, pairs: NDArray[np.int64], barred: NDArray[np.bool_], salt: int) -> Moves:
        """One local search: at most one move for each of the ordered `pairs` ``i * k + j``, served in their order.

        Vertices that are `barred`, (n,) bool, and their neighbours stay.
        """
        from ...kernels.negative_cycles import choose_moves

        count = choose_moves(self._level, self.part, self.conn, barred, pairs, salt, self._members, self._moves)
        tail, head, vertex, gain = self._moves
        return Moves(tail[:count].copy(), head[:count].copy(), vertex[:count].copy(), gain[:count].copy())

    def apply(self, moves: Moves, chosen: Any) -> int:
        """Apply the `chosen` of the moves; returns their gain."""
        from ...kernels.negative_cycles import move

        return sum(int(move(self._level, self.part, self.size, self.conn, moves.vertex[e], moves.head[e]))
                   for e in chosen)


class Quotient:
    """The quotient graph of a set of moves, with s before the overloaded parts and t behind the underloaded ones.

    Vertices 0..k-1 are the parts, k is s and k + 1 is t; the edges are the moves with weight -gain, followed by those
    of s and t with weight 0.

    Parameters
    ----------
    moves : Moves
    size, cap : (k,) int64
        Weights of the parts, and what they are to be.
    """

    def __init__(self, moves: Moves, size: NDArray[np.int64], cap: NDArray[np.int64]):
        k = len(cap)
        over, under = np.flatnonzero(size > cap), np.flatnonzero(size < cap)
        self.nmoves, self.s, self.t = len(moves.tail), k, k + 1
        self.tail = np.concatenate([moves.tail, np.full(len(over), k), under]).astype(VERTEX)
        self.head = np.concatenate([moves.head, over, np.full(len(under), k + 1)]).astype(VERTEX)
        self.weight = np.concatenate([-moves.gain, np.zeros(len(over) + len(under), WEIGHT)])
        self.used = np.zeros(len(self.tail), np.bool_)

    def negative_cycle(self) -> list[int]:
        """The edges of a negative cycle of unused moves, empty where there is none."""
        # every distance 0 is a start at all vertices at once: no cycle is out of reach
        found, pred = self._relax(np.zeros(self.t + 1, WEIGHT))
        edges: list[int] = []
        v = found
        while found >= 0 and (v != found or not edges):
            edges.append(int(pred[v]))
            v = int(self.tail[pred[v]])
        return edges

    def shortest_path(self) -> list[int]:
        """The moves on a shortest path from s to t, empty where there is none; there must be no negative cycle."""
        dist = np.full(self.t + 1, _FAR, WEIGHT)
        dist[self.s] = 0
        _, pred = self._relax(dist)
        edges: list[int] = []
        v = self.t
        while pred[v] >= 0:
            if pred[v] < self.nmoves:
                edges.append(int(pred[v]))
            v = int(self.tail[pred[v]])
        return edges

    def _relax(self, dist: NDArray[np.int64]) -> tuple[int, NDArray[np.int32]]:
        from ...kernels.negative_cycles import relax_edges

        pred, seen = np.full(len(dist), -1, VERTEX), np.empty(len(dist), VERTEX)
        return int(relax_edges(self.tail, self.head, self.weight, self.used, dist, pred, seen)), pred


@dataclass(frozen=True, eq=False)
class Refined:
    """What refinement made: part (n,) int32, the cycles and paths applied, and by how much the cut fell."""

    part: NDArray[np.int32]
    cycles: int
    paths: int
    gain: int


def refine(graph: Graph, part: ArrayLike, capacities: ArrayLike, *, seed: int = 1, patience: int = PATIENCE,
           all_pairs: bool = False) -> Refined:
    """Give every part its capacity and lower the cut, by negative cycles and shortest paths of moves.

    Parameters
    ----------
    graph : Graph
        With vertex weights other than 1 (a coarse graph) only cycles are applied, and none that adds to the excess.
    part : (n,) array_like of int
        Any parts, balanced or not.
    capacities : (k,) array_like of int
    seed : int
        Order in which pairs of parts are served.
    patience : int
        Local searches over all vertices in a row that may fail before the end.
    all_pairs : bool
        Serve all ordered pairs of parts instead of those that an edge joins.

    Raises
    ------
    MappingError
        The capacities do not add up to the weight of the graph.
    """
    cap = check_capacities(graph, capacities)
    unit = graph.vwgt is None or bool((graph.vwgt == 1).all())
    state = Refinement(graph, part, cap)
    rng = np.random.default_rng([seed, 2])
    n, k = graph.nvtxs, len(cap)
    barred = np.zeros(n, np.bool_)
    cycles = paths = gain = failed = 0
    while k > 1 and failed < patience:
        unbalanced = unit and state.excess > 0
        if unbalanced:
            barred[:] = False
        pairs = _pairs(state, rng, unbalanced, all_pairs, by_gain=failed == 0)
        moves = state.search(pairs, barred, int(rng.integers(2**31)))
        quotient = Quotient(moves, state.size, cap)
        applied: list[int] = []
        while cycle := quotient.negative_cycle():
            quotient.used[cycle] = True
            if not unit and _excess_after(state, moves, cycle) > state.excess:
                continue
            gain += state.apply(moves, cycle)
            cycles += 1
            applied += cycle
        while unbalanced and (path := quotient.shortest_path()):
            gain += state.apply(moves, path)
            paths += 1
            applied += path
            used = quotient.used[:quotient.nmoves]
            used[path] = True
            quotient = Quotient(moves, state.size, cap)
            quotient.used[:quotient.nmoves] = used
        if applied:
            barred[moves.vertex[applied]] = True
            failed = 0
        elif barred.any():
            barred[:] = False
        else:
            failed += 1
    if unit and state.excess:
        raise AssertionError(f"parts of sizes {state.size.tolist()}, capacities {cap.tolist()}")
    return Refined(state.part, cycles, paths, gain)


def _pairs(state: Refinement, rng: np.random.Generator, unbalanced: bool, all_pairs: bool,
           by_gain: bool) -> NDArray[np.int64]:
    """Ordered pairs of parts in random order, or those of largest gain first.

    A move from i to j can take away the vertex that a move from i elsewhere needs for a cycle, so the good ones come
    first, until that leads nowhere. Where parts are unbalanced, a pair of an overloaded and an underloaded one leads.
    """
    k = len(state.cap)
    best, wanted = state.best_gains()
    if all_pairs:
        wanted = ~np.eye(k, dtype=np.bool_)
    elif unbalanced:
        wanted |= np.logical_and.outer(state.size > state.cap, state.size < state.cap)
    pairs = rng.permutation(np.flatnonzero(wanted)).astype(OFFSET)
    if by_gain:
        pairs = pairs[np.argsort(-best.ravel()[pairs], kind="stable")]
    if unbalanced:
        # the moves of other pairs can take all vertices out of the game, but not before the first pair is served
        room = state.cap - state.size
        first = int(np.argmin(room)) * k + int(np.argmax(room))
        pairs = np.concatenate([[first], pairs[pairs != first]]).astype(OFFSET)
    return pairs


def _excess_after(state: Refinement, moves: Moves, chosen: list[int]) -> int:
    size = state.size.copy()
    weight = state.graph.weights[moves.vertex[chosen]]
    np.add.at(size, moves.head[chosen], weight)
    np.subtract.at(size, moves.tail[chosen], weight)
    return int(np.maximum(size - state.cap, 0).sum())
