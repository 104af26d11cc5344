"""What a placement of tasks costs a network: hops, messages and data that share links, traffic of nodes."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import asdict, dataclass
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from ...arrays import exact_sum, frozen, integers, sums
from ...errors import MappingError
from ...kernels.routes import load_links
from ..tasks import TaskGraph, as_tasks
from .networks import Network


@dataclass(frozen=True)
class LinkLoads:
    """What every link carries.

    Attributes
    ----------
    network : Network
    volume, messages : (nlinks,) int64
        Data and number of messages.
    """

    network: Network
    volume: NDArray[np.int64]
    messages: NDArray[np.int64]

    @property
    def congestion(self) -> NDArray[np.float64]:
        """(nlinks,) float64 volume over bandwidth, VC."""
        found: NDArray[np.float64] = self.volume / self.network.bandwidth
        return found

    def busiest(self, count: int = 10) -> list[tuple[int, float, int]]:
        """(link, congestion, messages) of the links of most congestion, in descending order, then by number."""
        vc = self.congestion
        top = np.lexsort((np.arange(len(vc)), -vc))[:count]
        return [(int(i), float(vc[i]), int(self.messages[i])) for i in top if self.messages[i]]


@dataclass(frozen=True)
class CongestionFigures:
    """Figures of one placement; all sums run over ordered pairs of tasks that communicate.

    Attributes
    ----------
    messages, volume : int
        Number of messages and data in all (TM, TV).
    total_hops, weighted_hops : float
        Links that messages take (TH), and times their volume (WH).
    average_hops : float
        Mean over all messages, also those that stay on a node.
    max_message_congestion, average_message_congestion : float
        Messages on the busiest link (MMC), and mean over links that carry any (AMC).
    max_congestion, average_congestion : float
        The same of volume over bandwidth (MC, AC).
    used_links : int
    internode_volume, internode_messages : int
        What leaves its node (ICV, ICM).
    max_received_volume, max_received_messages : int
        Of the node that receives most from others (MNRV, MNRM).
    unseen_messages : int
        Messages between different nodes at one point, which take no link: invisible to hops.
    """

    messages: int
    volume: int
    total_hops: int
    weighted_hops: int
    average_hops: float
    max_message_congestion: int
    average_message_congestion: float
    max_congestion: float
    average_congestion: float
    used_links: int
    internode_volume: int
    internode_messages: int
    max_received_volume: int
    max_received_messages: int
    unseen_messages: int

    @property
    def unseen_share(self) -> float:
        """Share of all messages that is unseen: the intra-Gemini fraction of the source."""
        return self.unseen_messages / max(self.messages, 1)

    def to_dict(self) -> dict[str, Any]:
        """Plain JSON types."""
        return asdict(self)

    def text(self) -> str:
        """Lines for people."""
        return "\n".join([
            f"hops        total {self.total_hops}  average {self.average_hops:.4f}  weighted {self.weighted_hops}",
            f"congestion  messages max {self.max_message_congestion}  avg {self.average_message_congestion:.4g}  "
            f"volume max {self.max_congestion:g}  avg {self.average_congestion:.4g}  on {self.used_links} links",
            f"nodes       {self.internode_messages} of {self.messages} messages and {self.internode_volume} of "
            f"{self.volume} data leave them, received max {self.max_received_messages} messages "
            f"{self.max_received_volume} data"])


def link_loads(tasks: Any, network: Network, point: ArrayLike, node: ArrayLike | None = None) -> LinkLoads:
    """What every link carries; errors as of :func:`evaluate_congestion`.

    Parameters
    ----------
    tasks : TaskGraph or graph-like
    network : Network
    point : (ntasks,) array_like of int
        Where in the network each task is.
    node : (ntasks,) array_like of int, optional
        Node of each task, the point where not given; what stays in a node uses no link.
    """
    graph = as_tasks(tasks)
    at, on = _checked(graph.ntasks, network, point, node)
    p, q = graph.source, graph.target
    out = on[p] != on[q]
    return _loads(network, at[p][out], at[q][out], graph.volume[out])


def evaluate_congestion(tasks: Any, network: Network, point: ArrayLike, node: ArrayLike | None = None,
                        ) -> CongestionFigures:
    """Hops, congestion and traffic of nodes of a placement.

    Parameters
    ----------
    tasks : TaskGraph, matrix of traffic or graph-like
        Of a graph, the weight of an edge is sent each way.
    network : Network
    point : (ntasks,) array_like of int
        Point of the network of each task.
    node : (ntasks,) array_like of int, optional
        Node of each task; the point itself where not given.  All tasks of a node are at one point.

    Raises
    ------
    MappingError
        A point is not there, or a node is at two points.

    Examples
    --------
    Three routers in a line: the message from end to end shares both links.

    >>> from copart.mapping.congestion import MeshNetwork
    >>> from copart.mapping.tasks import TaskGraph
    >>> tasks = TaskGraph(3, [0, 0, 1], [1, 2, 2], [5, 2, 1])
    >>> found = evaluate_congestion(tasks, MeshNetwork([3]), [0, 1, 2])
    >>> found.total_hops, found.weighted_hops, found.max_message_congestion, found.max_congestion
    (4, 10, 2, 7.0)
    """
    return evaluate_at_once([as_tasks(tasks)], network, point, node)


def evaluate_at_once(several: Sequence[TaskGraph], network: Network, point: ArrayLike, node: ArrayLike | None = None,
                     ) -> CongestionFigures:
    """Figures of several kinds of traffic of the same tasks together, as if all messages were sent at once.

    Messages of different kinds stay messages of their own, so that sums, such as hops, are the sums over the kinds.

    Parameters
    ----------
    several : sequence of TaskGraph
        At least one; all of as many tasks.
    network, point, node
        As of :func:`evaluate_congestion`; errors, too.
    """
    at, on = _checked(several[0].ntasks, network, point, node)
    p, q, data = (np.concatenate([getattr(one, name) for one in several]) for name in ("source", "target", "volume"))
    out = on[p] != on[q]
    volume, to = data[out], on[q][out]
    loads = _loads(network, at[p][out], at[q][out], volume)
    vc, used = loads.congestion, int((loads.messages > 0).sum())
    nnodes = int(on.max(initial=0)) + 1
    hops, weighted = int(loads.messages.sum()), exact_sum(loads.volume)
    return CongestionFigures(
        messages=len(data), volume=int(data.sum()), total_hops=hops, weighted_hops=weighted,
        average_hops=hops / max(len(data), 1), max_message_congestion=int(loads.messages.max(initial=0)),
        average_message_congestion=hops / max(used, 1), max_congestion=float(vc.max(initial=0)),
        average_congestion=float(vc.sum()) / max(used, 1), used_links=used, internode_volume=int(volume.sum()),
        internode_messages=int(out.sum()), max_received_volume=int(sums(to, volume, nnodes).max(initial=0)),
        max_received_messages=int(np.bincount(to, minlength=nnodes).max(initial=0)),
        unseen_messages=int((at[p][out] == at[q][out]).sum()))


def _checked(ntasks: int, network: Network, point: ArrayLike, node: ArrayLike | None,
             ) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
    at = integers("point", point, np.int64, MappingError, low=0, high=network.npoints, size=ntasks)
    if node is None:
        return at, at
    on = integers("node", node, np.int64, MappingError, low=0, size=ntasks)
    _, first, which = np.unique(on, return_index=True, return_inverse=True)
    if (astray := at != at[first][which]).any():
        task = int(np.argmax(astray))
        raise MappingError(f"node: {on[task]} is at two points of the network, {at[first][which][task]} and {at[task]}")
    return at, which


def _loads(network: Network, source: NDArray[np.int64], target: NDArray[np.int64],
           volume: NDArray[np.int64]) -> LinkLoads:
    carried, count = np.zeros(network.nlinks, np.int64), np.zeros(network.nlinks, np.int64)
    # many messages of tasks go between the same two points
    key, pair = np.unique(source * network.npoints + target, return_inverse=True)
    load_links(network.code, key // network.npoints, key % network.npoints, sums(pair, volume, len(key)),
               np.bincount(pair, minlength=len(key)), carried, count, network.scratch())
    return LinkLoads(network, frozen(carried), frozen(count))
