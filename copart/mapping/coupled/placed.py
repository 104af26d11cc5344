"""What a placement of the processes of a coupled run costs: what leaves hosts, how far it goes, over which links."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from functools import cached_property
from types import MappingProxyType
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ...arrays import WEIGHT, frozen, integers
from ...errors import MappingError, NotApplicableError
from ..congestion.figures import CongestionFigures, LinkLoads, evaluate_at_once, link_loads
from ..machine import Machine
from ..sites import Sites
from .processes import PHASES, Processes


@dataclass(frozen=True)
class PhaseTraffic:
    """Figures of one phase of a placement, a coupling step; the fields are the keys of :meth:`Placed.to_dict`."""

    volume: int
    """Data sent in all."""
    messages: int
    """Messages sent in all."""
    inter_node_volume: int
    """Data that leaves its host."""
    inter_node_messages: int
    """Messages that leave their host."""
    hops: float
    """Sum of data times distance."""
    max_node_volume: int
    """Data that the busiest host sends to others and receives from them."""
    by_distance: Mapping[float, int]
    """Data by the distance it goes."""


@dataclass(frozen=True, eq=False, repr=False)
class Placed:
    """Processes on a machine.

    Attributes
    ----------
    processes : Processes
    machine : Machine
    processor : (nprocs,) int32
        Processor of each rank.
    phases : mapping of str to PhaseTraffic
        ``regular`` and ``coupling``.
    name : str
        Which of the placements it is.
    method : str
        By which method of :func:`copart.mapping.topology.map_tasks` it was made; empty where by none of them.
    """

    processes: Processes
    machine: Machine
    processor: NDArray[np.int32]
    phases: Mapping[str, PhaseTraffic]
    name: str
    method: str = ""

    @property
    def label(self) -> str:
        """Name, and method where there is one."""
        return f"{self.name}, {self.method}" if self.method else self.name

    @cached_property
    def sites(self) -> Sites:
        """The hosts, and the network between them where it is known."""
        return Sites(self.machine)

    @cached_property
    def site(self) -> NDArray[np.int64]:
        """(nprocs,) int64 site of each rank, a host at a place in the network."""
        return self.sites.site_of(self.processor)

    @cached_property
    def routes(self) -> Mapping[str, CongestionFigures] | None:
        """Hops and congestion of ``regular``, ``coupling`` and ``both`` by static routes; None without routes.

        Data of the regular phase is that of all its iterations in a coupling step, messages are those of one; in
        ``both``, all of it is sent at once.
        """
        if self.sites.network is None:
            return None
        tasks = {phase: self.processes.tasks(phase) for phase in PHASES}
        kinds = {**{phase: [one] for phase, one in tasks.items()}, "both": list(tasks.values())}
        point = self.sites.point[self.site]
        return MappingProxyType({kind: evaluate_at_once(several, self.sites.network, point, self.site)
                                 for kind, several in kinds.items()})

    def loads(self, phase: str) -> LinkLoads:
        """What every link carries in a phase.

        Parameters
        ----------
        phase : {"regular", "coupling"}

        Raises
        ------
        NotApplicableError
            The machine has no static routes.
        """
        if self.sites.network is None:
            raise NotApplicableError(f"machine: {self.sites.no_routes}")
        return link_loads(self.processes.tasks(phase), self.sites.network, self.sites.point[self.site], self.site)

    @property
    def host(self) -> NDArray[np.int32]:
        """(nprocs,) int32 host of each rank; the processor itself where the machine names no hosts."""
        return self.machine.host[self.processor] if self.machine.hosts else self.processor

    @property
    def max_node_volume(self) -> int:
        """Data that the busiest host sends and receives in both phases; each phase may have another busiest host."""
        busy = [_busy(self.processes.traffic[phase].tocoo(), self.host) for phase in PHASES]
        return int(np.sum(busy, axis=0).max(initial=0))

    def to_dict(self) -> dict[str, Any]:
        """The figures and the processors as plain JSON types."""
        return {"placement": self.name, **({"method": self.method} if self.method else {}),
                "processors": self.processor.tolist(),
                "hosts": [self.machine.hosts[h] for h in self.host] if self.machine.hosts else None,
                "phases": {phase: {**{k: v for k, v in vars(f).items() if k != "by_distance"},
                                   "by_distance": [[d, v] for d, v in f.by_distance.items()]}
                           for phase, f in self.phases.items()},
                **({} if self.routes is None else {"routes": {kind: f.to_dict() for kind, f in self.routes.items()}})}

    def __repr__(self) -> str:
        return "\n".join(f"{self.label}, {phase}: {f.inter_node_volume} of {f.volume} between hosts in "
                         f"{f.inter_node_messages} of {f.messages} messages, {f.hops:.0f} data x distance"
                         for phase, f in self.phases.items())


def placed(processes: Processes, machine: Machine, processor: Any, name: str = "given", method: str = "") -> Placed:
    """The figures of a placement, computed from scratch.

    Parameters
    ----------
    processes : Processes
    machine : Machine
    processor : (nprocs,) array_like of int
        Processor of each process.
    name : str
        What the placement is called.
    method : str
        By which method it was made, where by one.

    Raises
    ------
    MappingError
        Fewer slots than processes, a processor that is not there, or two processes on one.
    """
    check_room(processes.nprocs, machine)
    where = integers("processor", processor, np.int32, MappingError, low=0, high=machine.nprocs, size=processes.nprocs)
    if len(np.unique(where)) < len(where):
        raise MappingError("processor: two processes have the same one")
    host = machine.host[where] if machine.hosts else where
    phases = {}
    for phase in PHASES:
        m = processes.traffic[phase].tocoo()
        far = machine.architecture.distances(where[m.row], where[m.col]) if m.nnz else np.zeros(0)
        leaves = host[m.row] != host[m.col]
        at, inverse = np.unique(far, return_inverse=True)
        volume = np.zeros(len(at), WEIGHT)
        np.add.at(volume, inverse, m.data)
        phases[phase] = PhaseTraffic(
            volume=int(m.data.sum()), messages=int(m.nnz), inter_node_volume=int(m.data[leaves].sum()),
            inter_node_messages=int(leaves.sum()), hops=float(far @ m.data),
            max_node_volume=int(_busy(m, host).max(initial=0)),
            by_distance=dict(zip(at.tolist(), volume.tolist(), strict=True)))
    return Placed(processes, machine, frozen(where), MappingProxyType(phases), name, method)


def _busy(m: Any, host: NDArray[np.int32]) -> NDArray[np.int64]:
    """Data that every host sends and receives of the traffic `m`, between hosts."""
    leaves = host[m.row] != host[m.col]
    node = np.zeros(int(host.max(initial=0)) + 1, WEIGHT)
    np.add.at(node, host[m.row[leaves]], m.data[leaves])
    np.add.at(node, host[m.col[leaves]], m.data[leaves])
    return node


def check_room(nprocs: int, machine: Machine) -> None:
    """MappingError where the machine has fewer slots than there are processes."""
    if nprocs > machine.nprocs:
        raise MappingError(f"machine: has {machine.nprocs} slots for {nprocs} processes; name more hosts "
                           f"(or more sons in --hierarchy), or ask for fewer parts")
