"""Initial partitions by recursive multilevel bisection: KGGGP with two parts, FM with rollback.

On meshes it starts refinement better than growing all parts at once (cut of a
70^3 grid in 16 parts on the coarsest graph: 27,000 against 37,000).
"""

from __future__ import annotations

from typing import Any

import numpy as np

from ..kernels import Level
from ..kernels.bisection import LEVELS, Arena
from ..kernels.fm import Queues
from ..kernels.growing import Frontier
from ..kernels.recursive_bisection import bisect_recursively
from ..options import Config
from .coarsening import contract
from .memory import pages
from .rounds import Team
from .shape import look_at

Array = np.ndarray[Any, Any]

#: Halvings after which the sets of parts are shared out among the threads for good.
_SHARED = 2

#: What bisections are told where no preset is asked for.
_USUAL = Config()


def recursive_bisection(g: Level, limit: Array, salts: list[int], team: Team, starts: int = 0, *,
                        grid: bool | None = None, config: Config = _USUAL) -> list[Array]:
    """Partitions into ``len(limit)`` parts, one per salt, by halving the set of parts again and again.

    The fixed vertices of each part are collapsed into one, which may go to either side: a
    bisection itself decides which fixed parts stay together, so that neighbours are not
    separated by their numbers.

    Parameters
    ----------
    limit : (nparts,) int64
        Largest weight of each part; the slack is spread over the splits.
    salts : list of int
        Seed of each partition.
    starts : int
        Above 0 where the graph has hubs: so many more sides of each bisection are grown from one vertex, and it is
        coarsened without pairs: every vertex joins the cluster it is tied to most.
    grid : bool, optional
        Whether it is a grid, in which limits are looser at first; looked at where not given.
    config : Config, optional
        halving_least, halving_passes.

    Returns
    -------
    list of (nvtxs,) int32
        Parts; may exceed the limits where coarse vertices are heavy.
    """
    whole, cmap = _collapse(g, len(limit))
    n, k = len(whole.vwgt), len(limit)
    grid = look_at(whole).grid if grid is None else grid
    arenas = [arena_for(whole, k, config) for _ in range(min(team.threads, 2**_SHARED * len(salts)))]
    vertices = np.tile(np.arange(n, dtype=np.int32), (len(salts), 1))
    labels = np.tile(np.arange(k, dtype=np.int32), (len(salts), 1))
    part = np.empty((len(salts), n), np.int32)

    # run, first and last vertex and label of each set, which threads share: quarters take about the same time
    sets = [(run, 0, n, 0, k) for run in range(len(salts))]

    def bisect(one: tuple[int, int, int, int, int], once: bool, arena: Arena) -> tuple[int, int]:
        run, lo, hi, first, last = one
        at, left = bisect_recursively(whole, limit, vertices[run, lo:hi], labels[run, first:last], salts[run], starts,
                                      grid, once, part[run], arena)
        return int(at), int(left)

    def halve(job: int, arena: Arena) -> list[tuple[int, int, int, int, int]]:
        run, lo, hi, first, last = sets[job]
        if last - first < 2 or hi - lo < 2:
            return [sets[job]]
        at, left = bisect(sets[job], True, arena)
        return [(run, lo, lo + at, first, first + left), (run, lo + at, hi, first + left, last)]

    def finish(job: int, arena: Arena) -> None:
        bisect(sets[job], False, arena)

    for _ in range(_SHARED):
        sets = [half for halves in team.spread(halve, len(sets), arenas) for half in halves]
    team.spread(finish, len(sets), arenas)
    return [one if cmap is None else one[cmap] for one in part]


def _collapse(g: Level, nparts: int) -> tuple[Level, Array | None]:
    """The level without affinities, one vertex for the fixed vertices of each part, and the map to it, if any are."""
    none = np.zeros(0, np.int32)
    if len(g.fixed):
        label = np.where(g.fixed >= 0, g.fixed, nparts + np.arange(len(g.fixed)))
        cmap = np.unique(label, return_inverse=True)[1].astype(np.int32)
        with Team(1) as alone:
            return contract(g, cmap, int(cmap.max()) + 1, alone), cmap
    return g._replace(fixed=none, origin=none, size=np.zeros(0, np.int64)), None


def arena_for(g: Level, nlabels: int = 0, config: Config = _USUAL) -> Arena:
    """Memory for one bisection after the other of subgraphs of `g` for `nlabels` parts; untouched pages cost nothing.

    A level keeps at most nine tenths of the vertices of the one before, and no more edges; a bisection that does not
    fit into four times the graph stops coarsening there.
    """
    n, m = len(g.vwgt), len(g.adjncy)
    rows, entries = 4 * n + LEVELS, 4 * m + 16
    i32, i64 = np.int32, np.int64
    return Arena(
        xadj=pages(rows, i64),
        vwgt=pages(rows, i64),
        adjncy=pages(entries, i32),
        ewgt=pages(entries, i64),
        cmap=np.empty(rows, i32),
        pin=np.empty(rows if len(g.fixed) else 0, i32),
        # one more: two-hop matching waits for vertices without neighbours in a last entry, -1 between its calls
        new=np.full(n + 1, -1, i32),
        side=np.empty(n + 1, i32),
        tried=np.empty(n + 1, i32),
        match=np.empty(n + 1, i32),
        leader=np.empty(n + 1, i32),
        members=np.empty(n + 1, i32),
        cwgt=np.empty(n + 1, i64),
        start=np.empty(n + 1, i64),
        mark=np.empty(n + 1, i64),
        gains=np.empty(2 * n, i64),
        at=np.empty((3, LEVELS), i64),
        load=np.empty((3, 2), i64),
        # there may be more parts than vertices, where fixed vertices hold most of the weight
        labels=np.empty(nlabels, i32),
        # each split takes one set of labels off and puts two back
        stack=np.empty((64 + 2 * nlabels, 4), i64),
        queues=queues_for(n),
        frontier=frontier_for(m),
        least=config.halving_least,
        passes=config.halving_passes,
    )


def frontier_for(pairs: int) -> Frontier:
    """The memory of KGGGP for `pairs` offers: one per end of an edge and per pair of the affinity table, at most."""
    return Frontier(
        key=np.empty(pairs, np.int64),
        tie=np.empty(pairs, np.int64),
        who=np.empty(pairs, np.int32),
        where=np.empty(pairs, np.int32),
        heap=np.empty(pairs, np.int32),
        pos=np.empty(pairs, np.int32),
    )


def queues_for(n: int, ncon: int = 0) -> Queues:
    """The queues of FM for `n` vertices, any of which may be in any of them; clean, as a pass expects them.

    Two queues, or `ncon` per side where there are several constraints.
    """
    return Queues(
        key=np.empty(n, np.int64),
        degree=np.empty(0 if ncon else n, np.int64),
        heap=np.empty((2 * max(ncon, 1), n), np.int32),
        size=np.zeros(2 * max(ncon, 1), np.int64),
        pos=np.full(n, -1, np.int32),
        state=np.zeros(n, np.uint8),
        log=np.empty(n, np.int32),  # a vertex moves once in a pass
        dominant=np.zeros(n if ncon else 0, np.uint8),
    )
