"""What the tests of UMPa share: random states, and their figures computed from scratch."""

from __future__ import annotations

import numpy as np
from hypothesis import strategies as st

from copart.hypergraph import Hypergraph
from copart.metrics import HypergraphMetrics, evaluate_hypergraph
from copart.partitioner.umpa import Objective
from copart.partitioner.umpa.levels import finest
from copart.partitioner.umpa.search import Search

from ..test_hypergraph import hypergraphs

ALL = ("TV", "MSV", "MSRV", "TM", "MSM")


@st.composite
def problems(draw: st.DrawFn, most: int = 12) -> tuple[Hypergraph, np.ndarray, int]:
    """A small hypergraph, parts of its vertices, and how many parts there are."""
    h = draw(hypergraphs(most))
    k = draw(st.integers(1, 5))
    part = draw(st.lists(st.integers(0, k - 1), min_size=h.nvtxs, max_size=h.nvtxs))
    return h, np.array(part, np.int32), k


def searching(h: Hypergraph, part: np.ndarray, k: int, metrics: tuple[str, ...] = ("MSM", "TM", "TV"), *,
              limit: np.ndarray | None = None, fixed: np.ndarray | None = None, by_load: bool = True) -> Search:
    """The working state of the input, with room for everything in every part if not said otherwise."""
    room = np.full(k, h.total_weight, np.int64) if limit is None else np.asarray(limit, np.int64)
    return Search(finest(h, fixed), part.copy(), room, Objective(metrics, by_load), 1)


def figures(h: Hypergraph, part: np.ndarray, k: int) -> dict[str, int]:
    """All metrics, from scratch."""
    found = evaluate_hypergraph(h, part, k).to_dict()
    return {name: int(found[name]) for name in ALL}


def flows(h: Hypergraph, part: np.ndarray) -> dict[tuple[int, int], int]:
    """Nets that flow from part to part (netComm), from scratch; those without costs never do."""
    found: dict[tuple[int, int], int] = {}
    for e in np.flatnonzero(h.cost > 0):
        pins = part[h.net(e)]
        for q in set(pins.tolist()) - {int(pins[0])}:
            found[int(pins[0]), q] = found.get((int(pins[0]), q), 0) + 1
    return found


def free(h: Hypergraph) -> Hypergraph:
    """The hypergraph without nets that cost nothing, which UMPa drops."""
    kept = np.flatnonzero(h.cost > 0)
    return Hypergraph.from_nets(h.nvtxs, [h.net(e) for e in kept], cost=h.cost[kept], vwgt=h.vwgt)


def table(search: Search) -> dict[tuple[int, int], int]:
    """Nets that flow from part to part, as the state has them."""
    s = search.state
    at = np.flatnonzero((s.key >= 0) & (s.count > 0))
    return {divmod(int(s.key[i]), len(s.load)): int(s.count[i]) for i in at}


def agrees(search: Search, h: Hypergraph) -> None:
    """Everything that the state has counted is what its partition makes of the hypergraph."""
    s = search.state
    k = len(s.load)
    truth: HypergraphMetrics = evaluate_hypergraph(h, s.part, k)
    assert s.send.tolist() == truth.send.tolist()
    assert s.receive.tolist() == truth.receive.tolist()
    assert s.load.tolist() == truth.load.tolist()
    assert s.population.tolist() == np.bincount(s.part, minlength=k).tolist()
    assert s.total[0] == truth.total_volume
    if len(s.key):
        assert table(search) == flows(h, s.part)
        assert s.messages.tolist() == truth.messages.tolist()
        assert s.total[1] == truth.total_messages
