r"""What the nets of a partitioned hypergraph send, each figure defined once.

::

    lambda_n = parts with a pin of net n
    SV[p]    = sum of c[n] (lambda_n - 1) over the nets whose source is in p      send volume
    RV[p]    = sum of c[n] over the nets with a pin in p and their source elsewhere    receive volume
    SM[p]    = parts other than p that some net with its source in p touches      messages sent
    TV       = sum SV = sum RV = sum of c[n] (lambda_n - 1), connectivity-1
    MSV = max SV,  MSRV = max (SV + RV),  TM = sum SM,  MSM = max SM

(Deveci 2015, chapters 2 and 4.)
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from ..arrays import OFFSET, WEIGHT, Frozen, frozen, part_array, sums, whole
from ..errors import GraphError
from ..hypergraph import Hypergraph
from .components import imbalance_of


@dataclass(frozen=True, eq=False)
class HypergraphMetrics(Frozen):
    """Figures of a partition of a hypergraph.

    Attributes
    ----------
    cut_net : int
        Cost of the nets with pins in more than one part.
    send, receive : (nparts,) int64
        SV and RV: data that each part sends and receives.
    messages : (nparts,) int64
        SM: parts that each part sends to.
    load : (nparts,) or (nparts, ncon) int64
        Vertex weight of each part.
    connectivity : (nnets,) int64
        Number of parts that each net touches.
    """

    cut_net: int
    send: NDArray[np.int64]
    receive: NDArray[np.int64]
    messages: NDArray[np.int64]
    load: NDArray[np.int64]
    connectivity: NDArray[np.int64]

    @property
    def total_volume(self) -> int:
        """TV: all data sent, which is the connectivity-1 metric."""
        return int(self.send.sum())

    @property
    def max_send(self) -> int:
        """MSV: most data that a part sends."""
        return int(self.send.max())

    @property
    def exchanged(self) -> NDArray[np.int64]:
        """(nparts,) int64 SRV: data that each part sends and receives."""
        return self.send + self.receive

    @property
    def max_exchanged(self) -> int:
        """MSRV: most data that a part sends and receives."""
        return int(self.exchanged.max())

    @property
    def total_messages(self) -> int:
        """TM: pairs of a sending and a receiving part."""
        return int(self.messages.sum())

    @property
    def max_messages(self) -> int:
        """MSM: most parts that a part sends to."""
        return int(self.messages.max())

    @property
    def imbalance(self) -> float:
        """Heaviest part over the average, minus 1; the largest of all constraints."""
        columns = self.load if self.load.ndim == 2 else self.load[:, None]
        return max(imbalance_of(one, len(one)) for one in columns.T)

    def to_dict(self) -> dict[str, Any]:
        """The single figures as plain JSON types, by their letters where they have some."""
        return {"TV": self.total_volume, "MSV": self.max_send, "MSRV": self.max_exchanged, "TM": self.total_messages,
                "MSM": self.max_messages, "cut_net": self.cut_net, "imbalance": self.imbalance}


def evaluate_hypergraph(hypergraph: Hypergraph, part: ArrayLike, nparts: int) -> HypergraphMetrics:
    """All figures of a partition of a hypergraph.

    Parameters
    ----------
    hypergraph : Hypergraph
    part : (nvtxs,) array_like of int
        Part of each vertex, 0 to nparts - 1; a part may be empty.
    nparts : int

    Raises
    ------
    GraphError
        A part number is out of range.

    Examples
    --------
    >>> h = Hypergraph.from_nets(4, [[0, 1, 2], [2, 3], [3, 0]], cost=[5, 1, 2])
    >>> evaluate_hypergraph(h, [0, 1, 1, 0], 2).to_dict()
    {'TV': 6, 'MSV': 5, 'MSRV': 6, 'TM': 2, 'MSM': 1, 'cut_net': 6, 'imbalance': 0.0}
    """
    from ..kernels.hypergraph import net_flows

    h, k = hypergraph, whole("nparts", nparts, low=1)
    p = frozen(part_array("part", part, h.nvtxs, k, GraphError))
    connectivity = np.empty(h.nnets, OFFSET)
    send, receive, flow = np.zeros(k, WEIGHT), np.zeros(k, WEIGHT), np.empty(h.npins, OFFSET)
    count = net_flows(h.xpins, h.pins, h.cost, p, k, np.full(k, -1, OFFSET), connectivity, send, receive, flow)
    messages = np.bincount(np.unique(flow[:count]) // k, minlength=k).astype(WEIGHT)
    load = [sums(p, one, k) for one in (h.vwgt[:, None] if h.ncon == 1 else h.vwgt).T]
    return HypergraphMetrics(int(h.cost[connectivity > 1].sum()), frozen(send), frozen(receive), frozen(messages),
                             frozen(load[0] if h.ncon == 1 else np.stack(load, axis=1)), frozen(connectivity))


__all__ = ["HypergraphMetrics", "evaluate_hypergraph"]
