"""From messages to the communication graph: who talks to whom, and for how long.

Every rank turns its own messages into times and adds up those to the same target (they follow one another, so that n
messages pay n latencies); the union of these lists is a directed graph.  Partitioners, and the MPI standard's advice on
topologies, want a simple undirected one: the two directions of a pair are added where the network is *half* duplex,
and the longer one counts where it is *full* duplex.  Messages to oneself are dropped.
(N. Tihon, Graph Partitioning and its application to MPI, 2024, Sections 3.2 and 3.3.)
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, NamedTuple, get_args

import numpy as np
from numpy.typing import ArrayLike, NDArray

from ...arrays import OFFSET, VERTEX, WEIGHT, frozen, integers, own, reals, whole
from ...errors import MappingError
from ...graph import Graph
from ...metrics import edge_cut
from ...names import Duplex, known_name
from .message_costs import as_cost_model

DUPLEX: tuple[Duplex, ...] = get_args(Duplex)
#: Microseconds that an edge weight of 1 stands for: a picosecond, coarser where weights would grow too large.
RESOLUTION = 1e-6
#: Weights that 32 bits hold, else kernels are compiled once more; one in this many is far below what is known of times.
_LARGEST, _LARGEST_SUM = 2**31 - 1, 2.0**60


@dataclass(frozen=True, eq=False)
class Messages:
    """Messages between ranks, in the order in which they are sent.

    Parameters
    ----------
    nranks : int
    source, target : (m,) array_like of int
        Ranks; pairs may repeat, and a rank may write to itself.
    nbytes : (m,) array_like of float
        Bytes of one message, not negative; a mean over several need not be whole.
    count : (m,) array_like of int, optional
        How many such messages, at least 1; one each where not given.

    Raises
    ------
    MappingError
        A rank does not exist, or the arrays differ in length.
    """

    nranks: int
    source: NDArray[np.int32]
    target: NDArray[np.int32]
    nbytes: NDArray[np.float64]
    count: NDArray[np.int64] | None = None

    def __post_init__(self) -> None:
        put = object.__setattr__
        n = whole("nranks", self.nranks, low=1)
        put(self, "nranks", n)
        put(self, "source", own(integers("source", self.source, VERTEX, MappingError, low=0, high=n), self.source))
        m = len(self.source)
        target = integers("target", self.target, VERTEX, MappingError, low=0, high=n, size=m)
        put(self, "target", own(target, self.target))
        nbytes = reals("bytes", self.nbytes, MappingError).copy()
        if nbytes.shape != (m,):
            raise MappingError(f"bytes: needs {m} entries, one per message, has shape {nbytes.shape}")
        put(self, "nbytes", frozen(nbytes))
        if self.count is not None:
            put(self, "count", own(integers("count", self.count, WEIGHT, MappingError, low=1, size=m), self.count))


class Times(NamedTuple):
    """Times between ranks, one entry a directed pair in ascending order: source, target (m,) int32, time (m,) µs."""

    source: NDArray[np.int32]
    target: NDArray[np.int32]
    time: NDArray[np.float64]


def message_times(messages: Messages, model: Any = "lucia-network") -> Times:
    """Time of all messages of each pair of ranks, one after another; messages to oneself are dropped.

    Parameters
    ----------
    messages : Messages
    model : CostModel, str or (float, float)
        See :func:`copart.mapping.ranks.message_costs.as_cost_model`.
    """
    keep = messages.source != messages.target
    time = as_cost_model(model).times(messages.nbytes)
    if messages.count is not None:
        time = time * messages.count
    n = messages.nranks
    key, group = np.unique(messages.source[keep].astype(OFFSET) * n + messages.target[keep], return_inverse=True)
    # bincount adds in the order of the messages: a rank alone finds the same bits
    return Times((key // n).astype(VERTEX), (key % n).astype(VERTEX),
                 np.bincount(group, weights=time[keep], minlength=len(key)).astype(np.float64))


@dataclass(frozen=True, eq=False)
class CommunicationGraph:
    """Ranks and the time that each two of them spend on their messages.

    Parameters
    ----------
    graph : Graph
        One vertex per rank; edge weights are times in units of `resolution`, at least 1.
    resolution : float
        Microseconds.
    times : Times, optional
        Of each direction by itself, where it is known.
    """

    graph: Graph
    resolution: float = RESOLUTION
    times: Times | None = None

    def cut(self, part: ArrayLike) -> float:
        """Time of all messages between different parts, in microseconds."""
        return edge_cut(self.graph, part) * self.resolution


def join_directions(nranks: int, times: Times, duplex: Duplex = "full") -> CommunicationGraph:
    """The undirected graph of directed times; a direction without messages takes 0.

    Parameters
    ----------
    nranks : int
    times : Times
        No pair more than once, no rank with itself.
    duplex : {"full", "half"}
        The longer direction counts, or both do.

    Raises
    ------
    ConfigError
        `duplex` is neither.
    """
    known_name("duplex", duplex, DUPLEX)
    low, high = np.minimum(times.source, times.target), np.maximum(times.source, times.target)
    key, pair = np.unique(low.astype(OFFSET) * nranks + high, return_inverse=True)
    up = times.source < times.target
    there, back = (np.bincount(pair[way], weights=times.time[way], minlength=len(key)) for way in (up, ~up))
    time = there + back if duplex == "half" else np.maximum(there, back)
    resolution = RESOLUTION
    while time.max(initial=0) / resolution > _LARGEST or time.sum() / resolution + len(time) > _LARGEST_SUM:
        resolution *= 10
    ewgt = np.maximum(np.rint(time / resolution), 1).astype(WEIGHT)
    return CommunicationGraph(Graph.from_edges(nranks, key // nranks, key % nranks, ewgt), resolution, times)


def communication_graph(messages: Messages, model: Any = "lucia-network",
                        duplex: Duplex = "full") -> CommunicationGraph:
    """The communication graph of `messages`: :func:`message_times`, then :func:`join_directions`.

    Parameters
    ----------
    messages : Messages
    model : CostModel, str or (float, float)
        Time of a message: a table, the name of one, or latency (µs) and bandwidth (MB/s).
    duplex : {"full", "half"}
        Whether a link carries both directions at once.

    Examples
    --------
    >>> messages = Messages(2, [0, 0, 1, 1], [1, 1, 0, 1], [4, 4, 2**22, 8])
    >>> [round(communication_graph(messages, "meluxina-network", d).cut([0, 1]), 4) for d in ("full", "half")]
    [353.0371, 355.8338]
    """
    return join_directions(messages.nranks, message_times(messages, model), duplex)


__all__ = ["DUPLEX", "RESOLUTION", "CommunicationGraph", "Messages", "Times", "communication_graph", "join_directions",
           "message_times"]
