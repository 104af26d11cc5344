"""The names that arguments take, as types: an editor completes them and a type checker finds ``kind="tuch"``.

Each is a ``Literal``; the tuples and tables that the package itself looks names up in are made of these or tested to
hold the same names.  :func:`known_name` is how a call refuses another one.
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any, Literal, get_args

from .errors import ConfigError, did_you_mean

SchemeName = Literal["naive", "aware", "projrepart", "multiconstraint", "monolithic", "joint", "auto"]
"""Schemes of :func:`copart.plan`; described in :mod:`copart.schemes`."""
PresetName = Literal["fast", "default", "strong", "best"]
"""How much time to spend on a partition."""
MappingPresetName = Literal["fast", "default", "strong"]
"""How much time to spend on a mapping."""
InteredgeKind = Literal["facet", "touch", "overlap"]
"""Which cells of two meshes are coupled."""
InterfaceRule = Literal["spread", "gather", "uncut"]
"""How the interface is laid on processes."""
Balance = Literal["total", "each"]
"""What `monolithic` balances over its pool."""
Directions = Literal["forward", "both"]
"""Whose data count in `joint`."""
Fix = Literal["hard", "soft"]
"""What the last refinement of `joint` does with the coupled cells."""
PlacementName = Literal["linear", "disjoint", "shared"]
"""How the processes of a coupled run are placed on a machine."""
PhaseWeights = Literal["equal", "traffic"]
"""What data of the regular and of the coupling phase weigh when processes are placed."""
CouplingOrder = Literal["concurrent", "serial"]
"""Whether components compute at once or one after the other."""
FigureTable = Literal["components", "pairs", "step"]
"""Tables of :meth:`copart.metrics.CoupledMetrics.to_dicts`."""
RepartMethod = Literal["mxn", "scratch-remap", "diffusive"]
"""How to repartition."""
CellShape = Literal["hexa", "tetra"]
"""Cells of :func:`copart.mesh.cube`."""
PlacingMethod = Literal["best", "identity", "multisection", "bottom-up", "drb", "mueller-merbach", "greedy", "hatazaki",
                        "traeff", "treematch"]
"""How processes are placed one to one."""
BipartitioningOrder = Literal["largest", "breadth-first", "depth-first"]
"""Which job of a dual recursive bipartitioning is next."""
GridMethod = Literal["best", "cart", "cart-reorder", "nodecart", "central-greedy", "central-greedy-once",
                     "distributed-greedy", "hyperplane", "hyperplane-cut"]
"""How positions of a grid of processes are dealt out."""
GridObjective = Literal["total", "max"]
"""What the best of them is chosen by."""
GridSizes = Literal["open-mpi", "balanced"]
"""How the sizes of a grid are chosen."""
EdgeCounting = Literal["source", "once"]
"""How edges count towards the priority of a vertex in the greedy orders of a grid."""
RankMethod = Literal["greedy", "greedy-seeds", "rhem", "louvain", "louvain-queue", "label-propagation", "bisection",
                     "spectral", "kgggp", "metis", "best"]
"""How ranks are partitioned into nodes of given sizes."""
Bisector = Literal["greedy", "spectral"]
"""How ranks are bisected."""
Duplex = Literal["full", "half"]
"""Whether a link carries both directions at once."""
ProfileKind = Literal["auto", "matrix", "list"]
"""What the rows of a communication profile are."""
SlotUnit = Literal["core", "pu"]
"""What takes a process: a core or a hardware thread."""
Gathering = Literal["auto", "allgather", "messages"]
"""How the traffic of all ranks is collected."""
FieldMapping = Literal["consistent", "nearest", "conservative", "raw"]
"""What an exchange makes of the values of the other component."""
Reduction = Literal["sum", "min", "max"]
"""How values of several processes for one cell are put together."""

GeometricMethod = Literal["multijagged", "rcb", "rib", "hsfc", "morton"]
"""How points are partitioned."""
ExchangeObjective = Literal["volume", "messages", "max-volume", "max-messages"]
"""What a partition of a hypergraph has least of."""
RankObjective = Literal["time", "volume", "messages", "max-volume", "max-messages"]
"""What ranks are grouped into nodes for."""
ClusteringMethod = Literal["hcm", "hcc", "locks", "resolution", "parallel-hcc"]
"""How vertices of a hypergraph are clustered."""
TaskMethod = Literal["auto", "default", "random", "smap", "tmap", "ug", "uwh", "umc", "ummc", "ug-th", "uwh-th",
                     "search", "search-mc", "geometric", "geometric-plain", "geometric-rotated", "geometric-shifted",
                     "geometric-reflected"]
"""How tasks are mapped onto an allocation."""
GeometricTaskMethod = Literal["geometric", "geometric-plain", "geometric-rotated", "geometric-shifted",
                              "geometric-reflected"]
"""Those of them that go by coordinates."""
Bound = Literal["latency", "bandwidth", "volume"]
"""What the time of a run depends on, for `TaskMethod` auto."""
MappingMetric = Literal["TH", "WH", "MMC", "MC", "AMC", "AC", "ICM", "ICV", "MNRM", "MNRV", "TM", "TV", "MSM", "MSV"]
"""What may explain the time of a run, for :func:`copart.plans.measured.fit_file`."""

NAMELESS = "mesh"
"""What a mesh is called that was given no name: as components such meshes are a, b, c."""


def known_name(label: str, value: Any, known: Iterable[str], more: str = "") -> None:
    """Refuse a name that is none of those known.

    Parameters
    ----------
    label : str
        What the argument is called.
    value : object
        What it is.
    known : iterable of str
    more : str
        What else would do, behind the names: ", or give an Interedges".

    Raises
    ------
    ConfigError
        Lists the names, and suggests one that is near.

    Examples
    --------
    >>> from typing import get_args
    >>> known_name("kind", "tuch", get_args(InteredgeKind))
    Traceback (most recent call last):
    copart.errors.ConfigError: kind: 'tuch' is not known; choose one of facet, touch, overlap; did you mean touch?
    """
    names = [*known]
    if not isinstance(value, str) or value not in names:
        raise ConfigError(f"{label}: {value!r:.60} is not known; choose one of {', '.join(names)}{more}"
                          + did_you_mean(str(value), names))


def check_method(method: str | None, bound: str) -> None:
    """Refuse a :data:`TaskMethod`, or what "auto" goes by, that is not known.

    Parameters
    ----------
    method : str or None
    bound : str

    Raises
    ------
    ConfigError
        It is not known.
    """
    if method is not None:
        known_name("method", method, get_args(TaskMethod))
    known_name("bound", bound, get_args(Bound))


__all__ = ["NAMELESS", "Balance", "BipartitioningOrder", "Bisector", "CellShape", "CouplingOrder", "Directions",
           "Duplex", "EdgeCounting", "FieldMapping", "FigureTable", "Fix", "Gathering", "GridMethod",
           "GridObjective", "GridSizes", "InteredgeKind", "InterfaceRule", "MappingPresetName",
           "PhaseWeights", "PlacementName", "PlacingMethod", "PresetName", "ProfileKind", "RankMethod",
           "RankObjective", "Reduction", "RepartMethod", "SchemeName", "SlotUnit", "check_method", "known_name"]
